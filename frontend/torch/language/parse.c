/* The parser of Python source: tokens, nodes and the whole file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

const char *ig_names_intern(ig_map *names, ig_str name) {
    const char *known = ig_map_get(names, name);
    if (!known) {
        known = ig_arena_copy(names->arena, name.data, name.size);
        ig_map_set(names, name, (void *)(uintptr_t)known);
    }
    return known;
}

bool ig_py_is_keyword(ig_str word) {
    static const char *const keywords[] = {
        "and",      "as",     "assert", "async",    "await", "break",  "class",
        "continue", "def",    "del",    "elif",     "else",  "except", "False",
        "finally",  "for",    "from",   "global",   "if",    "import", "in",
        "is",       "lambda", "None",   "nonlocal", "not",   "or",     "pass",
        "raise",    "return", "True",   "try",      "while", "with",   "yield",
    };
    for (size_t i = 0; i < IG_COUNT_OF(keywords); i++) {
        if (ig_str_is(word, keywords[i])) {
            return true;
        }
    }
    return false;
}

/* ---- errors ---- */

ig_status ig_py_error(ig_py_parser *parser, ig_status status, const ig_py_token *at,
                      const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    ig_location where = { .file = parser->source->file,
                          .line = at->line,
                          .column = at->column };
    return ig_error(&parser->source->context->diag, status, &where, "%s", text);
}

static ig_status report_limit(ig_py_parser *parser, const ig_py_token *at,
                              ig_limit_id id, const char *subject) {
    ig_context *context = parser->source->context;
    ig_location where = { .file = parser->source->file,
                          .line = at->line,
                          .column = at->column };
    return ig_error_limit(&context->diag, &where, &context->limits, id, "%s", subject);
}

/* "'return'", "the end of the line": into `buffer`. */
static const char *describe_token(const ig_py_token *token, char *buffer, size_t size) {
    switch ((int)token->kind) {
    case IG_PY_TOKEN_END:
        return "the end of the file";
    case IG_PY_TOKEN_NEWLINE:
        return "the end of the line";
    case IG_PY_TOKEN_INDENT:
        return "a deeper indentation";
    case IG_PY_TOKEN_DEDENT:
        return "the end of the block";
    default:
        break;
    }
    int max = token->text.size < 40 ? (int)token->text.size : 40;
    snprintf(buffer, size, token->kind == IG_PY_TOKEN_BAD ? "%.*s" : "'%.*s'",
             token->kind == IG_PY_TOKEN_BAD ? (int)token->text.size : max,
             token->text.data);
    return buffer;
}

ig_status ig_py_expected(ig_py_parser *parser, const char *what) {
    char buffer[128];
    return ig_py_error(parser, IG_INVALID, &parser->token, "expected %s, found %s",
                       what, describe_token(&parser->token, buffer, sizeof(buffer)));
}

/* ---- tokens ---- */

void ig_py_advance(ig_py_parser *parser) {
    if (parser->token.text.size) {
        parser->end = parser->token.text.data + parser->token.text.size;
    }
    parser->token = parser->ahead;
    if (parser->token.kind != IG_PY_TOKEN_END &&
        parser->token.kind != IG_PY_TOKEN_BAD) {
        parser->ahead = ig_py_lexer_next(&parser->lexer);
    }
}

bool ig_py_is(const ig_py_parser *parser, ig_py_token_kind kind) {
    return parser->token.kind == kind;
}

bool ig_py_is_punct(const ig_py_parser *parser, uint32_t punct) {
    assert(punct && "0 would match every token that is not punctuation");
    return parser->token.punct == punct; /* 0 for all else */
}

bool ig_py_is_word(const ig_py_parser *parser, const char *word) {
    return parser->token.kind == IG_PY_TOKEN_WORD &&
           ig_str_is(parser->token.text, word);
}

bool ig_py_accept(ig_py_parser *parser, ig_py_token_kind kind) {
    bool is = ig_py_is(parser, kind);
    if (is) {
        ig_py_advance(parser);
    }
    return is;
}

bool ig_py_accept_punct(ig_py_parser *parser, uint32_t punct) {
    bool is = ig_py_is_punct(parser, punct);
    if (is) {
        ig_py_advance(parser);
    }
    return is;
}

bool ig_py_accept_word(ig_py_parser *parser, const char *word) {
    bool is = ig_py_is_word(parser, word);
    if (is) {
        ig_py_advance(parser);
    }
    return is;
}

ig_status ig_py_expect_punct(ig_py_parser *parser, uint32_t punct) {
    assert(punct >> 24 == 0 && "punctuation has at most 3 characters");
    if (ig_py_accept_punct(parser, punct)) {
        return IG_OK;
    }
    char text[6] = { '\'' };
    int size = 1;
    for (; punct; punct >>= 8) {
        text[size++] = (char)(punct & 0xff);
    }
    text[size] = '\'';
    return ig_py_expected(parser, text);
}

ig_status ig_py_expect_word(ig_py_parser *parser, const char *word) {
    if (ig_py_accept_word(parser, word)) {
        return IG_OK;
    }
    char text[32];
    assert(strlen(word) + 3 <= sizeof(text) && "keywords fit between the quotes");
    snprintf(text, sizeof(text), "'%s'", word);
    return ig_py_expected(parser, text);
}

ig_status ig_py_expect_newline(ig_py_parser *parser) {
    if (ig_py_accept(parser, IG_PY_TOKEN_NEWLINE) ||
        ig_py_is(parser, IG_PY_TOKEN_END)) {
        return IG_OK;
    }
    return ig_py_expected(parser, "the end of the line");
}

ig_status ig_py_parse_name(ig_py_parser *parser, const char *what,
                           const char **out_name) {
    ig_str text = parser->token.text;
    if (!ig_py_is(parser, IG_PY_TOKEN_WORD) || ig_py_is_keyword(text)) {
        return ig_py_expected(parser, what);
    }
    if (text.size > (size_t)parser->source->context->limits.string_bytes) {
        return report_limit(parser, &parser->token, IG_LIMIT_string_bytes,
                            "the length of this name");
    }
    *out_name = ig_names_intern(parser->source->names, text);
    ig_py_advance(parser);
    return IG_OK;
}

/* ---- nodes ---- */

static ig_status report_depth(ig_py_parser *parser, uint32_t line, uint32_t column) {
    ig_py_token at = { .line = line, .column = column };
    return report_limit(parser, &at, IG_LIMIT_source_depth, "the nesting");
}

ig_status ig_py_enter(ig_py_parser *parser) {
    int64_t nodes = parser->source->context->limits.node_count;
    if (*parser->source->node_count > (uint64_t)nodes) {
        return report_limit(parser, &parser->token, IG_LIMIT_node_count,
                            "the count of values and statements in the sources");
    }
    if (parser->depth >= (uint64_t)parser->source->context->limits.source_depth) {
        return report_depth(parser, parser->token.line, parser->token.column);
    }
    parser->depth++;
    return IG_OK;
}

void ig_py_leave(ig_py_parser *parser) {
    assert(parser->depth > 0 && "every leave has its enter");
    parser->depth--;
}

ig_ast *ig_py_node(ig_py_parser *parser, ig_ast_kind kind, const ig_py_token *at) {
    assert(kind < IG_AST_KIND_COUNT && "nodes have one of our kinds");
    ig_ast *node = IG_NEW(parser->arena, ig_ast);
    node->kind = kind;
    node->depth = 1;
    node->id = (*parser->source->node_count)++;
    node->line = at->line;
    node->column = at->column;
    return node;
}

ig_ast *ig_py_node_like(ig_py_parser *parser, ig_ast_kind kind, const ig_ast *at) {
    ig_py_token token = { .line = at->line, .column = at->column };
    return ig_py_node(parser, kind, &token);
}

ig_status ig_py_adopt(ig_py_parser *parser, ig_ast *node, const ig_ast *child) {
    assert(node->depth > 0 && node != child &&
           "ig_py_node made the parent, another node");
    if (!child || child->depth < node->depth) {
        return IG_OK;
    }
    if (child->depth >= parser->source->context->limits.source_depth ||
        child->depth == UINT16_MAX) {
        return report_depth(parser, node->line, node->column);
    }
    node->depth = (uint16_t)(child->depth + 1);
    return IG_OK;
}

static void note_depth(void *user, const ig_ast *child) {
    const ig_ast **deepest = user;
    *deepest = *deepest && (*deepest)->depth >= child->depth ? *deepest : child;
}

ig_status ig_py_finish(ig_py_parser *parser, ig_ast *node) {
    const ig_ast *deepest = NULL;
    ig_ast_each_child(node, note_depth, &deepest);
    return ig_py_adopt(parser, node, deepest);
}

ig_status ig_py_adopt_all(ig_py_parser *parser, ig_ast *node, const ig_ast_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        IG_TRY(ig_py_adopt(parser, node, list->items[i]));
    }
    return IG_OK;
}

/* ---- all ---- */

static ig_status refuse_bad_utf8(const ig_script_source *source, ig_str text) {
    ig_location where = { .file = source->file, .line = 1 };
    for (size_t begin = 0; begin < text.size; where.line++) {
        const char *end = memchr(text.data + begin, '\n', text.size - begin);
        size_t size = end ? (size_t)(end - text.data) - begin : text.size - begin;
        if (!ig_utf8_is_valid((ig_str){ text.data + begin, size })) {
            break;
        }
        begin += size + 1;
    }
    return ig_error(&source->context->diag, IG_INVALID, &where, "not UTF-8");
}

static ig_status start_parser(ig_py_parser *parser, const ig_script_source *source,
                              ig_str text) {
    memset(parser, 0, sizeof(*parser));
    parser->source = source;
    parser->arena = source->arena;
    if (!ig_utf8_is_valid(text)) {
        return refuse_bad_utf8(source, text);
    }
    ig_py_lexer_init(&parser->lexer, text);
    parser->lexer.line = source->line ? source->line : 1;
    parser->ahead = ig_py_lexer_next(&parser->lexer);
    ig_py_advance(parser);
    return IG_OK;
}

ig_status ig_parse_source(const ig_script_source *source, ig_str text,
                          ig_ast_list *out_statements) {
    ig_py_parser parser;
    ig_py_list list = { 0 };
    IG_TRY(start_parser(&parser, source, text));
    while (!ig_py_is(&parser, IG_PY_TOKEN_END)) {
        IG_TRY(ig_py_parse_statement(&parser, &list));
    }
    assert(parser.depth == 0 && "every enter has its leave");
    *out_statements = ig_py_list_of(&list);
    return IG_OK;
}

ig_status ig_parse_expression(const ig_script_source *source, ig_str text,
                              ig_ast **out_expression) {
    ig_py_parser parser;
    IG_TRY(start_parser(&parser, source, text));
    IG_TRY(ig_py_parse_value(&parser, out_expression));
    assert(parser.depth == 0 && "every enter has its leave");
    ig_py_accept(&parser, IG_PY_TOKEN_NEWLINE);
    if (!ig_py_is(&parser, IG_PY_TOKEN_END)) {
        return ig_py_expected(&parser, "the end of the text");
    }
    return IG_OK;
}
