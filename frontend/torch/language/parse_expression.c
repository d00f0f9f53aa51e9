/* The parser of Python source: operators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Binary operators by precedence climbing: parse_binary(min) reads an operand and
 * then, in a loop, every operator that binds at least so tightly, whose right side it
 * reads with the next precedence.  Comparisons of one chain are one node.
 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>

typedef struct operator_row {
    const char *text;
    ig_ast_operator op;
    int precedence;
} operator_row;

static const operator_row operators[] = {
#define IG_ROW(name, text, precedence) { text, IG_AST_OP_##name, precedence },
    IG_AST_OPERATOR_LIST(IG_ROW)
#undef IG_ROW
};

enum { OR = 1, NOT = 3, COMPARE = 4, BIT_OR = 5, UNARY = 11 };

/* The binary operator here, NULL when there is none.  "not in" and "is not" are two
 * tokens: *out_tokens. */
static const operator_row *find_operator(const ig_py_parser *parser, int *out_tokens) {
    *out_tokens = 1;
    if (!ig_py_is(parser, IG_PY_TOKEN_WORD) && !ig_py_is(parser, IG_PY_TOKEN_PUNCT)) {
        return NULL;
    }
    bool is_word = parser->ahead.kind == IG_PY_TOKEN_WORD;
    if (ig_py_is_word(parser, "not") && is_word &&
        ig_str_is(parser->ahead.text, "in")) {
        *out_tokens = 2;
        return &operators[IG_AST_OP_NOT_IN];
    }
    if (ig_py_is_word(parser, "is") && is_word &&
        ig_str_is(parser->ahead.text, "not")) {
        *out_tokens = 2;
        return &operators[IG_AST_OP_IS_NOT];
    }
    for (size_t i = 0; i < IG_COUNT_OF(operators); i++) {
        bool is_unary = operators[i].precedence == UNARY ||
                        operators[i].op == IG_AST_OP_NOT;
        if (!is_unary && ig_str_is(parser->token.text, operators[i].text)) {
            return &operators[i];
        }
    }
    return NULL;
}

static ig_status parse_binary(ig_py_parser *parser, int min, ig_ast **out_node);

/* ---- postfix ---- */

static ig_status parse_attribute(ig_py_parser *parser, ig_ast **node) {
    ig_ast *attribute = ig_py_node(parser, IG_AST_ATTRIBUTE, &parser->token);
    ig_py_advance(parser);
    IG_TRY(ig_py_parse_name(parser, "the name of an attribute",
                            &attribute->as.attribute.name));
    attribute->as.attribute.object = *node;
    *node = attribute;
    return IG_OK;
}

static ig_status parse_call(ig_py_parser *parser, ig_ast **node) {
    ig_ast *call = ig_py_node_like(parser, IG_AST_CALL, *node);
    ig_py_advance(parser);
    call->as.call.function = *node;
    *node = call;
    return ig_py_parse_arguments(parser, call);
}

static ig_status parse_subscript(ig_py_parser *parser, ig_ast **node) {
    ig_ast *subscript = ig_py_node_like(parser, IG_AST_SUBSCRIPT, *node);
    ig_py_advance(parser);
    subscript->as.subscript.object = *node;
    *node = subscript;
    return ig_py_parse_index(parser, subscript);
}

static ig_status parse_postfix(ig_py_parser *parser, ig_ast **out_node) {
    ig_py_token at = parser->token;
    bool awaits = ig_py_accept_word(parser, "await");
    IG_TRY(ig_py_enter(parser));
    IG_TRY(ig_py_parse_atom(parser, out_node));
    for (;;) {
        if (ig_py_is_punct(parser, '.')) {
            IG_TRY(parse_attribute(parser, out_node));
        } else if (ig_py_is_punct(parser, '(')) {
            IG_TRY(parse_call(parser, out_node));
        } else if (ig_py_is_punct(parser, '[')) {
            IG_TRY(parse_subscript(parser, out_node));
        } else {
            break;
        }
        IG_TRY(ig_py_finish(parser, *out_node));
    }
    ig_py_leave(parser);
    if (!awaits) {
        return IG_OK;
    }
    ig_ast *node = ig_py_node(parser, IG_AST_AWAIT, &at);
    node->as.value = *out_node;
    *out_node = node;
    return ig_py_finish(parser, node);
}

/* ---- prefixes ---- */

static ig_status parse_unary(ig_py_parser *parser, ig_ast **out_node);

static ig_status join_operands(ig_py_parser *parser, ig_ast_operator op, ig_ast *right,
                               ig_ast **left) {
    assert(*left && right && "both operands are read");
    ig_ast *node = ig_py_node_like(parser, IG_AST_BINARY, *left);
    node->op = (uint8_t)op;
    node->as.binary.left = *left;
    node->as.binary.right = right;
    *left = node;
    return ig_py_finish(parser, node);
}

/* a ** b; its right side may have a minus. */
static ig_status parse_power(ig_py_parser *parser, ig_ast **out_node) {
    IG_TRY(parse_postfix(parser, out_node));
    if (!ig_py_accept_punct(parser, IG_PY_PUNCT2('*', '*'))) {
        return IG_OK;
    }
    ig_ast *right;
    IG_TRY(ig_py_enter(parser));
    IG_TRY(parse_unary(parser, &right));
    ig_py_leave(parser);
    return join_operands(parser, IG_AST_OP_POW, right, out_node);
}

/* -1 is a literal, -1 ** 2 is not. */
static bool is_negative_literal(const ig_py_parser *parser) {
    ig_py_token_kind kind = parser->ahead.kind;
    return ig_py_is_punct(parser, '-') &&
           (kind == IG_PY_TOKEN_INT || kind == IG_PY_TOKEN_FLOAT);
}

static ig_status parse_negative(ig_py_parser *parser, ig_ast **out_node) {
    ig_py_token minus = parser->token;
    const char *outer = parser->negative;
    ig_py_advance(parser);
    parser->negative = parser->token.text.data;
    IG_TRY(parse_power(parser, out_node));
    ig_ast *node = *out_node;
    bool is_taken = parser->negative == NULL;
    parser->negative = outer; /* -2 ** -1: the right side's minus is not ours */
    if (is_taken) {           /* by the literal, which is all there is */
        node->line = minus.line;
        node->column = minus.column;
        return IG_OK;
    }
    ig_ast *unary = ig_py_node(parser, IG_AST_UNARY, &minus);
    unary->op = IG_AST_OP_NEG;
    unary->as.value = node;
    *out_node = unary;
    return ig_py_finish(parser, unary);
}

static ig_status parse_prefix(ig_py_parser *parser, ig_ast_operator op,
                              ig_ast **out_node) {
    ig_ast *node = ig_py_node(parser, IG_AST_UNARY, &parser->token);
    node->op = (uint8_t)op;
    ig_py_advance(parser);
    IG_TRY(ig_py_enter(parser));
    if (op == IG_AST_OP_NOT) {
        IG_TRY(parse_binary(parser, NOT, &node->as.value));
    } else {
        IG_TRY(parse_unary(parser, &node->as.value));
    }
    ig_py_leave(parser);
    *out_node = node;
    return ig_py_finish(parser, node);
}

static ig_status parse_unary(ig_py_parser *parser, ig_ast **out_node) {
    if (is_negative_literal(parser)) {
        return parse_negative(parser, out_node);
    }
    if (ig_py_is_punct(parser, '-')) {
        return parse_prefix(parser, IG_AST_OP_NEG, out_node);
    }
    if (ig_py_is_punct(parser, '+')) {
        return parse_prefix(parser, IG_AST_OP_PLUS, out_node);
    }
    if (ig_py_is_punct(parser, '~')) {
        return parse_prefix(parser, IG_AST_OP_INVERT, out_node);
    }
    return parse_power(parser, out_node);
}

/* ---- binary ---- */

/* The operators of a chain a < b < c from the second operand on. */
static ig_status parse_comparison(ig_py_parser *parser, ig_ast **node) {
    IG_VEC(ig_ast *) values = { 0 };
    IG_VEC(uint8_t) ops = { 0 };
    ig_ast *compare = ig_py_node_like(parser, IG_AST_COMPARE, *node);
    compare->as.compare.first = *node;
    int tokens;
    for (;;) {
        const operator_row *row = find_operator(parser, &tokens);
        if (!row || row->precedence != COMPARE) {
            break;
        }
        for (; tokens > 0; tokens--) {
            ig_py_advance(parser);
        }
        ig_ast *value;
        IG_TRY(parse_binary(parser, BIT_OR, &value));
        IG_PUSH(parser->arena, &values, value);
        IG_PUSH(parser->arena, &ops, (uint8_t)row->op);
    }
    assert(values.count > 0 && values.count == ops.count &&
           "a comparison has a second operand, and an operator before each");
    compare->as.compare.values = values.items;
    compare->as.compare.ops = ops.items;
    compare->as.compare.count = values.count;
    *node = compare;
    return ig_py_finish(parser, compare);
}

static ig_status parse_binary(ig_py_parser *parser, int min, ig_ast **out_node) {
    assert(min >= OR && "precedences begin with that of `or`");
    if (min <= NOT && ig_py_is_word(parser, "not")) {
        IG_TRY(parse_prefix(parser, IG_AST_OP_NOT, out_node));
    } else {
        IG_TRY(parse_unary(parser, out_node));
    }
    for (;;) {
        int tokens;
        const operator_row *row = find_operator(parser, &tokens);
        if (!row || row->precedence < min) {
            return IG_OK;
        }
        if (row->precedence == COMPARE) {
            IG_TRY(parse_comparison(parser, out_node));
            continue;
        }
        ig_py_advance(parser);
        ig_ast *right;
        IG_TRY(parse_binary(parser, row->precedence + 1, &right));
        IG_TRY(join_operands(parser, row->op, right, out_node));
    }
}

/* ---- the whole ---- */

static ig_status parse_lambda(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *lambda = ig_py_node(parser, IG_AST_LAMBDA, &parser->token);
    ig_py_advance(parser);
    lambda->as.def = IG_NEW(parser->arena, ig_ast_def);
    lambda->as.def->name = ig_names_intern(parser->source->names, IG_STR("<lambda>"));
    IG_TRY(ig_py_parse_params(parser, ':', lambda));
    IG_TRY(ig_py_expect_punct(parser, ':'));
    ig_ast *result = ig_py_node(parser, IG_AST_RETURN, &parser->token);
    IG_TRY(ig_py_enter(parser));
    IG_TRY(ig_py_parse_value(parser, &result->as.value));
    ig_py_leave(parser);
    IG_TRY(ig_py_finish(parser, result));
    ig_py_list body = { 0 };
    IG_PUSH(parser->arena, &body.items, result);
    lambda->as.def->body = ig_py_list_of(&body);
    *out_node = lambda;
    return ig_py_adopt(parser, lambda, result);
}

/* After the value: if test else other. */
static ig_status parse_conditional(ig_py_parser *parser, ig_ast **node) {
    ig_ast *conditional = ig_py_node_like(parser, IG_AST_CONDITIONAL, *node);
    ig_py_advance(parser);
    conditional->as.conditional.yes = *node;
    IG_TRY(parse_binary(parser, OR, &conditional->as.conditional.test));
    IG_TRY(ig_py_expect_word(parser, "else"));
    IG_TRY(ig_py_enter(parser));
    IG_TRY(ig_py_parse_value(parser, &conditional->as.conditional.no));
    ig_py_leave(parser);
    *node = conditional;
    return ig_py_finish(parser, conditional);
}

ig_status ig_py_parse_value(ig_py_parser *parser, ig_ast **out_node) {
    const char *begin = parser->token.text.data;
    bool is_lambda = ig_py_is_word(parser, "lambda");
    IG_TRY(is_lambda ? parse_lambda(parser, out_node)
                     : parse_binary(parser, OR, out_node));
    if (!is_lambda && ig_py_is_word(parser, "if")) {
        IG_TRY(parse_conditional(parser, out_node));
    }
    (*out_node)->source = (ig_str){ begin, (size_t)(parser->end - begin) };
    return IG_OK;
}

ig_status ig_py_parse_disjunction(ig_py_parser *parser, ig_ast **out_node) {
    return parse_binary(parser, OR, out_node);
}

ig_status ig_py_parse_named(ig_py_parser *parser, ig_ast **out_node) {
    IG_TRY(ig_py_parse_value(parser, out_node));
    if ((*out_node)->kind != IG_AST_NAME ||
        !ig_py_accept_punct(parser, IG_PY_PUNCT2(':', '='))) {
        return IG_OK;
    }
    ig_ast *node = ig_py_node_like(parser, IG_AST_NAMED, *out_node);
    node->as.binary.left = *out_node;
    IG_TRY(ig_py_parse_value(parser, &node->as.binary.right));
    *out_node = node;
    return ig_py_finish(parser, node);
}

ig_status ig_py_parse_operand(ig_py_parser *parser, ig_ast **out_node) {
    return parse_binary(parser, BIT_OR, out_node);
}
