/* The parser of Python source: literals, names and brackets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>
#include <string.h>

bool ig_py_starts_value(const ig_py_parser *parser) {
    static const char puncts[] = "([{-+~*";
    switch ((int)parser->token.kind) {
    case IG_PY_TOKEN_INT:
    case IG_PY_TOKEN_FLOAT:
    case IG_PY_TOKEN_IMAGINARY:
    case IG_PY_TOKEN_STRING:
        return true;
    case IG_PY_TOKEN_PUNCT:
        return ig_py_is_punct(parser, IG_PY_PUNCT3('.', '.', '.')) ||
               (parser->token.text.size == 1 &&
                strchr(puncts, parser->token.text.data[0]));
    case IG_PY_TOKEN_WORD:
        break;
    default:
        return false;
    }
    return !ig_py_is_keyword(parser->token.text) || ig_py_is_word(parser, "None") ||
           ig_py_is_word(parser, "True") || ig_py_is_word(parser, "False") ||
           ig_py_is_word(parser, "not") || ig_py_is_word(parser, "lambda") ||
           ig_py_is_word(parser, "await");
}

/* ---- numbers and words ---- */

static ig_status parse_number(ig_py_parser *parser, ig_ast **out_node) {
    ig_py_token token = parser->token;
    bool is_int = token.kind == IG_PY_TOKEN_INT;
    bool is_negative = parser->negative == token.text.data;
    ig_ast *node = ig_py_node(parser, is_int ? IG_AST_INT : IG_AST_FLOAT, &token);
    /* The minus belongs to the literal only when nothing that binds tighter follows. */
    is_negative = is_negative &&
                  !(parser->ahead.kind == IG_PY_TOKEN_PUNCT &&
                    (parser->ahead.punct == IG_PY_PUNCT2('*', '*') ||
                     parser->ahead.punct == '.' || parser->ahead.punct == '(' ||
                     parser->ahead.punct == '['));
    const char *problem = is_int ? ig_py_token_int(token.text, is_negative, &node->as.i)
                                 : ig_py_token_float(parser->arena, token.text,
                                                     &node->as.f);
    if (problem) {
        return ig_py_error(parser, IG_INVALID, &token, "%s", problem);
    }
    bool is_int_zero = is_int && node->as.i == 0; /* -0 is an operation on 0 */
    if (is_negative && !is_int_zero) {
        parser->negative = NULL;
        node->as.f = is_int ? node->as.f : -node->as.f;
    }
    if (token.kind == IG_PY_TOKEN_IMAGINARY) {
        node->kind = IG_AST_IMAGINARY;
    }
    ig_py_advance(parser);
    *out_node = node;
    return IG_OK;
}

static ig_status parse_word(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *node = ig_py_node(parser, IG_AST_NAME, &parser->token);
    *out_node = node;
    bool is_true = ig_py_is_word(parser, "True");
    if (is_true || ig_py_is_word(parser, "False")) {
        node->kind = IG_AST_BOOL;
        node->as.b = is_true;
        ig_py_advance(parser);
        return IG_OK;
    }
    if (ig_py_accept_word(parser, "None")) {
        node->kind = IG_AST_NONE;
        return IG_OK;
    }
    return ig_py_parse_name(parser, "a value", &node->as.name);
}

/* ---- strings ---- */

static ig_status add_string(ig_py_parser *parser, ig_writer *writer, ig_ast *node) {
    ig_py_token token = parser->token;
    ig_py_string_form form = ig_py_token_string_form(token.text);
    if (form.is_formatted || form.is_bytes) {
        node->kind = form.is_bytes ? IG_AST_BYTES : IG_AST_FORMATTED;
    }
    char *out = ig_arena_alloc(parser->arena, form.body.size + 1);
    size_t size = 0;
    const char *problem = ig_py_token_unescape(&form, parser->source->is_dialect, out,
                                               &size);
    if (problem) {
        return ig_py_error(parser, IG_INVALID, &token, "%s", problem);
    }
    ig_put_bytes(writer, out, size);
    return IG_OK;
}

/* Adjacent ones are one. */
static ig_status parse_string(ig_py_parser *parser, ig_ast **out_node) {
    assert(ig_py_is(parser, IG_PY_TOKEN_STRING) && "the caller saw a string");
    ig_ast *node = ig_py_node(parser, IG_AST_STRING, &parser->token);
    ig_writer writer;
    ig_writer_init(&writer, parser->arena);
    while (ig_py_is(parser, IG_PY_TOKEN_STRING)) {
        IG_TRY(add_string(parser, &writer, node));
        ig_py_advance(parser);
    }
    node->as.text = ig_writer_str(&writer);
    *out_node = node;
    return IG_OK;
}

/* ---- brackets ---- */

ig_status ig_py_parse_starred(ig_py_parser *parser,
                              ig_status (*parse)(ig_py_parser *, ig_ast **),
                              ig_ast **out_node) {
    if (!ig_py_is_punct(parser, '*')) {
        return parse(parser, out_node);
    }
    ig_ast *node = ig_py_node(parser, IG_AST_STARRED, &parser->token);
    ig_py_advance(parser);
    IG_TRY(ig_py_parse_operand(parser, &node->as.value));
    *out_node = node;
    return ig_py_finish(parser, node);
}

static ig_status parse_item(ig_py_parser *parser, ig_ast **out_node) {
    return ig_py_parse_starred(parser, ig_py_parse_named, out_node);
}

/* Items up to (without) `end`, the first of which is read; of `node`. */
static ig_status parse_items(ig_py_parser *parser, uint32_t end, ig_ast *first,
                             ig_ast *node) {
    assert(first && "the first item is read");
    ig_py_list list = { 0 };
    for (ig_ast *item = first;;) {
        IG_PUSH(parser->arena, &list.items, item);
        node->flags &= (uint8_t)~IG_AST_COMMA;
        if (!ig_py_accept_punct(parser, ',')) {
            break;
        }
        node->flags |= IG_AST_COMMA;
        if (ig_py_is_punct(parser, end)) {
            break;
        }
        IG_TRY(parse_item(parser, &item));
    }
    node->as.list = ig_py_list_of(&list);
    return IG_OK;
}

static bool starts_clause(const ig_py_parser *parser) {
    return ig_py_is_word(parser, "for") || ig_py_is_word(parser, "async");
}

static ig_status parse_comprehension(ig_py_parser *parser, char bracket, ig_ast *value,
                                     ig_ast *node) {
    node->kind = IG_AST_COMPREHENSION;
    node->as.comprehension.bracket = bracket;
    node->as.comprehension.value = value;
    return ig_py_parse_clauses(parser, node);
}

ig_status ig_py_parse_yield(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *node = ig_py_node(parser, IG_AST_YIELD, &parser->token);
    ig_py_advance(parser);
    ig_py_accept_word(parser, "from");
    *out_node = node;
    if (ig_py_starts_value(parser)) {
        IG_TRY(ig_py_parse_values(parser, false, &node->as.value));
    }
    return ig_py_finish(parser, node);
}

/* (), (a), (a, b), (a for …), (yield a) */
static ig_status parse_parens(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *tuple = ig_py_node(parser, IG_AST_TUPLE, &parser->token);
    ig_py_advance(parser);
    ig_ast *first = tuple;
    if (ig_py_is_word(parser, "yield")) {
        IG_TRY(ig_py_parse_yield(parser, &first));
    } else if (!ig_py_is_punct(parser, ')')) {
        IG_TRY(parse_item(parser, &first));
    }
    if (ig_py_is_punct(parser, ',')) {
        IG_TRY(parse_items(parser, ')', first, tuple));
        first = tuple;
    } else if (starts_clause(parser)) {
        IG_TRY(parse_comprehension(parser, '(', first, tuple));
        first = tuple;
    }
    first->flags |= IG_AST_PARENS;
    *out_node = first;
    return ig_py_expect_punct(parser, ')');
}

static ig_status parse_list(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *node = ig_py_node(parser, IG_AST_LIST, &parser->token);
    ig_py_advance(parser);
    *out_node = node;
    if (ig_py_accept_punct(parser, ']')) {
        return IG_OK;
    }
    ig_ast *first;
    IG_TRY(parse_item(parser, &first));
    IG_TRY(starts_clause(parser) ? parse_comprehension(parser, '[', first, node)
                                 : parse_items(parser, ']', first, node));
    return ig_py_expect_punct(parser, ']');
}

/* key: value, or **value */
static ig_status parse_pair(ig_py_parser *parser, ig_ast **out_key,
                            ig_ast **out_value) {
    *out_key = NULL;
    if (!ig_py_accept_punct(parser, IG_PY_PUNCT2('*', '*'))) {
        IG_TRY(ig_py_parse_value(parser, out_key));
        IG_TRY(ig_py_expect_punct(parser, ':'));
    }
    return ig_py_parse_value(parser, out_value);
}

/* The rest of a dict whose first key (NULL: none) and value are read. */
static ig_status parse_dict(ig_py_parser *parser, ig_ast *key, ig_ast *value,
                            ig_ast *node) {
    IG_VEC(ig_ast *) keys = { 0 };
    IG_VEC(ig_ast *) values = { 0 };
    node->kind = IG_AST_DICT;
    for (;;) {
        IG_PUSH(parser->arena, &keys, key);
        IG_PUSH(parser->arena, &values, value);
        if (!ig_py_accept_punct(parser, ',') || ig_py_is_punct(parser, '}')) {
            break;
        }
        IG_TRY(parse_pair(parser, &key, &value));
    }
    node->as.dict.keys = keys.items;
    node->as.dict.values = values.items;
    node->as.dict.count = keys.count;
    assert(keys.count == values.count && "every value has a key, or NULL for one");
    return IG_OK;
}

static ig_status parse_filled_braces(ig_py_parser *parser, ig_ast *node) {
    ig_ast *key = NULL, *value;
    if (ig_py_is_punct(parser, IG_PY_PUNCT2('*', '*'))) {
        IG_TRY(parse_pair(parser, &key, &value));
        return parse_dict(parser, key, value, node);
    }
    ig_ast *first;
    IG_TRY(parse_item(parser, &first));
    if (!ig_py_accept_punct(parser, ':')) {
        return starts_clause(parser) ? parse_comprehension(parser, '{', first, node)
                                     : parse_items(parser, '}', first, node);
    }
    IG_TRY(ig_py_parse_value(parser, &value));
    if (!starts_clause(parser)) {
        return parse_dict(parser, first, value, node);
    }
    node->as.comprehension.key = first;
    return parse_comprehension(parser, '{', value, node);
}

static ig_status parse_braces(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *node = ig_py_node(parser, IG_AST_SET, &parser->token);
    ig_py_advance(parser);
    *out_node = node;
    if (ig_py_is_punct(parser, '}')) {
        node->kind = IG_AST_DICT;
    } else {
        IG_TRY(parse_filled_braces(parser, node));
    }
    return ig_py_expect_punct(parser, '}');
}

static ig_status parse_brackets(ig_py_parser *parser, ig_ast **out_node) {
    switch (parser->token.punct) {
    case '(':
        return parse_parens(parser, out_node);
    case '[':
        return parse_list(parser, out_node);
    case '{':
        return parse_braces(parser, out_node);
    case IG_PY_PUNCT3('.', '.', '.'):
        *out_node = ig_py_node(parser, IG_AST_ELLIPSIS, &parser->token);
        ig_py_advance(parser);
        return IG_OK;
    default:
        return ig_py_expected(parser, "a value");
    }
}

ig_status ig_py_parse_atom(ig_py_parser *parser, ig_ast **out_node) {
    switch ((int)parser->token.kind) {
    case IG_PY_TOKEN_INT:
    case IG_PY_TOKEN_FLOAT:
    case IG_PY_TOKEN_IMAGINARY:
        return parse_number(parser, out_node);
    case IG_PY_TOKEN_STRING:
        return parse_string(parser, out_node);
    case IG_PY_TOKEN_WORD:
        return parse_word(parser, out_node);
    default:
        IG_TRY(parse_brackets(parser, out_node));
        return ig_py_finish(parser, *out_node);
    }
}
