/* The parser's hands: looking at tokens, taking them, reporting, going on after errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/parse.h"

#include "base/vec.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_ERRORS = 20, MAX_SHOWN = 40 };

void ig_parser_init(ig_parser *parser, ig_module *module, const char *file,
                    ig_str text) {
    *parser = (ig_parser){ .context = module->context,
                           .module = module,
                           .file = file,
                           .arena = &module->arena };
    ig_lexer_init(&parser->lexer, text);
    parser->token = ig_lexer_next(&parser->lexer);
    parser->last_line = 1;
    ig_map_init(&parser->files, parser->arena);
}

/* ---- taking ---- */

void ig_parse_advance(ig_parser *parser) {
    parser->last_line = parser->token.line;
    parser->token = ig_lexer_next(&parser->lexer);
}

ig_token ig_parse_peek(const ig_parser *parser) {
    ig_lexer copy = parser->lexer;
    return ig_lexer_next(&copy);
}

bool ig_parse_is(const ig_parser *parser, int kind) {
    return parser->token.kind == kind;
}

bool ig_parse_is_word(const ig_parser *parser, const char *word) {
    return parser->token.kind == IG_TOKEN_WORD && ig_str_is(parser->token.text, word);
}

bool ig_parse_accept(ig_parser *parser, int kind) {
    if (parser->token.kind != kind) {
        return false;
    }
    ig_parse_advance(parser);
    return true;
}

bool ig_parse_accept_word(ig_parser *parser, const char *word) {
    if (!ig_parse_is_word(parser, word)) {
        return false;
    }
    ig_parse_advance(parser);
    return true;
}

ig_status ig_parse_expect(ig_parser *parser, int kind, const char *what) {
    return ig_parse_accept(parser, kind) ? IG_OK : ig_parse_expected(parser, what);
}

ig_status ig_parse_quoted(ig_parser *parser, const char *what, const char **out_text) {
    ig_str text;
    if (parser->token.kind != IG_TOKEN_STRING) {
        return ig_parse_expected(parser, what);
    }
    const char *problem = ig_token_string(&parser->token, parser->arena, &text);
    if (problem) {
        return ig_parse_error(parser, &parser->token, "%s", problem);
    }
    if ((int64_t)text.size > parser->context->limits.string_bytes) {
        return ig_parse_error(parser, &parser->token, "this string is too long");
    }
    *out_text = ig_module_string(parser->module, text);
    ig_parse_advance(parser);
    return IG_OK;
}

ig_status ig_parse_item_name(ig_parser *parser, const char *what,
                             const char **out_name) {
    ig_str text;
    if (parser->token.kind != IG_TOKEN_ITEM) {
        return ig_parse_expected(parser, what);
    }
    const char *problem = ig_token_string(&parser->token, parser->arena, &text);
    if (problem) {
        return ig_parse_error(parser, &parser->token, "%s", problem);
    }
    *out_name = ig_module_string(parser->module, text);
    ig_parse_advance(parser);
    return IG_OK;
}

ig_status ig_parse_integer(ig_parser *parser, const char *what, int64_t *out_value) {
    ig_token at = parser->token;
    bool is_negative = ig_parse_accept(parser, '-');
    ig_str digits = parser->token.text;
    if (parser->token.kind != IG_TOKEN_INT) {
        return ig_parse_expected(parser, what);
    }
    /* The digits follow the sign directly, or they are read without it. */
    bool is_signed = is_negative && digits.data == at.text.data + 1;
    if (is_signed) {
        digits = (ig_str){ digits.data - 1, digits.size + 1 };
    }
    if (is_signed != is_negative || !ig_str_to_i64(digits, out_value)) {
        return ig_parse_error(parser, &at, "this is not a 64-bit integer");
    }
    ig_parse_advance(parser);
    return IG_OK;
}

/* ---- reporting ---- */

static ig_location position_of(const ig_parser *parser, const ig_token *at) {
    return (
        ig_location){ .file = parser->file, .line = at->line, .column = at->column };
}

uint32_t ig_parse_location(ig_parser *parser, const ig_token *at) {
    ig_location where = position_of(parser, at);
    return ig_module_location(parser->module, &where);
}

ig_status ig_parse_error(ig_parser *parser, const ig_token *at, const char *format,
                         ...) {
    char message[512];
    ig_location where = position_of(parser, at);
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return ig_error(&parser->context->diag, IG_INVALID, &where, "%s", message);
}

ig_status ig_parse_expected(ig_parser *parser, const char *what) {
    const ig_token *token = &parser->token;
    if (token->kind == IG_TOKEN_END) {
        return ig_parse_error(parser, token, "expected %s, but the text ends here",
                              what);
    }
    if (token->kind == IG_TOKEN_BAD) {
        return ig_parse_error(parser, token, "%.*s", IG_STR_ARG(token->text));
    }
    const char *mark = token->kind == IG_TOKEN_VALUE  ? "%"
                       : token->kind == IG_TOKEN_ITEM ? "@"
                                                      : "";
    bool is_long = token->text.size > MAX_SHOWN;
    return ig_parse_error(parser, token, "expected %s, found '%s%.*s%s'", what, mark,
                          is_long ? MAX_SHOWN : (int)token->text.size, token->text.data,
                          is_long ? "..." : "");
}

/* ---- depth ---- */

ig_status ig_parse_enter(ig_parser *parser) {
    if (parser->depth >= parser->context->limits.graph_depth) {
        ig_location where = position_of(parser, &parser->token);
        return ig_error_limit(&parser->context->diag, &where, &parser->context->limits,
                              IG_LIMIT_graph_depth, "the nesting");
    }
    parser->depth++;
    return IG_OK;
}

void ig_parse_leave(ig_parser *parser) {
    parser->depth--;
}

/* ---- going on ---- */

ig_parse_position ig_parse_here(const ig_parser *parser) {
    return (ig_parse_position){ parser->lexer, parser->token, parser->depth };
}

void ig_parse_return_to(ig_parser *parser, const ig_parse_position *position) {
    parser->lexer = position->lexer;
    parser->token = position->token;
    parser->depth = position->depth;
}

/* The broken thing is skipped from its own first token on, so that the braces it opened
 * are known; it ends with the line on which the error was met. */
static void skip_broken(ig_parser *parser, const ig_parse_position *start) {
    uint32_t error_line = parser->last_line;
    uint32_t open = 0;
    ig_parse_return_to(parser, start);
    for (bool is_first = true; !ig_parse_is(parser, IG_TOKEN_END); is_first = false) {
        const ig_token *token = &parser->token;
        if (open == 0 && !is_first &&
            (token->kind == '}' || (token->starts_line && token->line > error_line))) {
            return;
        }
        open += token->kind == '{';
        open -= token->kind == '}' && open > 0;
        ig_parse_advance(parser);
    }
}

ig_status ig_parse_go_on(ig_parser *parser, ig_status status,
                         const ig_parse_position *start) {
    if (status == IG_OK) {
        return IG_OK;
    }
    parser->error_count++;
    if (status != IG_INVALID || parser->error_count >= MAX_ERRORS) {
        return status;
    }
    skip_broken(parser, start);
    return ig_parse_is(parser, IG_TOKEN_END) ? IG_INVALID : IG_OK;
}
