/* The parser of Python source: arguments, indices, comprehensions, loose tuples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>

/* ---- calls ---- */

typedef IG_VEC(ig_ast_keyword) keyword_list;

static ig_status add_keyword(ig_py_parser *parser, const char *name,
                             keyword_list *keywords) {
    ig_ast_keyword keyword = { .name = name };
    IG_TRY(ig_py_parse_value(parser, &keyword.value));
    IG_PUSH(parser->arena, keywords, keyword);
    return IG_OK;
}

/* a, *a; also a for … when it is alone. */
static ig_status add_positional(ig_py_parser *parser, ig_py_list *list) {
    ig_ast *value, *starred = NULL;
    if (ig_py_is_punct(parser, '*')) {
        starred = ig_py_node(parser, IG_AST_STARRED, &parser->token);
        ig_py_advance(parser);
    }
    IG_TRY(ig_py_parse_named(parser, &value));
    if (starred) {
        starred->as.value = value;
        value = starred;
    } else if (ig_py_is_word(parser, "for") || ig_py_is_word(parser, "async")) {
        ig_ast *node = ig_py_node_like(parser, IG_AST_COMPREHENSION, value);
        node->as.comprehension.bracket = '(';
        node->as.comprehension.value = value;
        IG_TRY(ig_py_parse_clauses(parser, node));
        value = node;
    }
    IG_PUSH(parser->arena, &list->items, value);
    return ig_py_finish(parser, value);
}

static ig_status add_argument(ig_py_parser *parser, ig_py_list *list,
                              keyword_list *keywords) {
    if (ig_py_accept_punct(parser, IG_PY_PUNCT2('*', '*'))) {
        return add_keyword(parser, NULL, keywords);
    }
    bool is_keyword = ig_py_is(parser, IG_PY_TOKEN_WORD) &&
                      parser->ahead.kind == IG_PY_TOKEN_PUNCT &&
                      parser->ahead.punct == '=';
    if (!is_keyword) {
        return add_positional(parser, list);
    }
    const char *name;
    IG_TRY(ig_py_parse_name(parser, "the name of an argument", &name));
    ig_py_advance(parser);
    return add_keyword(parser, name, keywords);
}

ig_status ig_py_parse_arguments(ig_py_parser *parser, ig_ast *call) {
    ig_py_list list = { 0 };
    keyword_list keywords = { 0 };
    while (!ig_py_is_punct(parser, ')')) {
        IG_TRY(add_argument(parser, &list, &keywords));
        call->flags &= (uint8_t)~IG_AST_COMMA;
        if (!ig_py_accept_punct(parser, ',')) {
            break;
        }
        call->flags |= IG_AST_COMMA;
    }
    call->as.call.arguments = ig_py_list_of(&list);
    call->as.call.keywords = keywords.items;
    call->as.call.keyword_count = keywords.count;
    IG_TRY(ig_py_finish(parser, call));
    return ig_py_expect_punct(parser, ')');
}

/* ---- indices ---- */

static ig_status parse_bound(ig_py_parser *parser, ig_ast **out_bound) {
    return ig_py_starts_value(parser) ? ig_py_parse_value(parser, out_bound) : IG_OK;
}

/* a, *a, a:b:c */
static ig_status parse_index_item(ig_py_parser *parser, ig_ast **out_node) {
    ig_py_token at = parser->token;
    *out_node = NULL;
    if (!ig_py_is_punct(parser, ':')) {
        IG_TRY(ig_py_parse_starred(parser, ig_py_parse_named, out_node));
    }
    if (!ig_py_accept_punct(parser, ':')) {
        return IG_OK;
    }
    ig_ast *slice = ig_py_node(parser, IG_AST_SLICE, &at);
    slice->as.slice.start = *out_node;
    IG_TRY(parse_bound(parser, &slice->as.slice.stop));
    if (ig_py_accept_punct(parser, ':')) {
        IG_TRY(parse_bound(parser, &slice->as.slice.step));
    }
    *out_node = slice;
    return ig_py_finish(parser, slice);
}

ig_status ig_py_parse_index(ig_py_parser *parser, ig_ast *subscript) {
    ig_py_list list = { 0 };
    ig_ast *tuple = ig_py_node(parser, IG_AST_TUPLE, &parser->token);
    do {
        ig_ast *item;
        if (list.items.count && ig_py_is_punct(parser, ']')) {
            tuple->flags |= IG_AST_COMMA;
            break;
        }
        IG_TRY(parse_index_item(parser, &item));
        IG_PUSH(parser->arena, &list.items, item);
    } while (ig_py_accept_punct(parser, ','));
    assert(list.items.count > 0 && "an empty index is not a value, which was reported");
    bool is_one = list.items.count == 1 && !(tuple->flags & IG_AST_COMMA);
    tuple->as.list = ig_py_list_of(&list);
    IG_TRY(ig_py_finish(parser, tuple));
    subscript->as.subscript.index = is_one ? list.items.items[0] : tuple;
    return ig_py_expect_punct(parser, ']');
}

/* ---- comprehensions ---- */

static ig_status parse_conditions(ig_py_parser *parser, ig_ast_list *out_conditions) {
    ig_py_list list = { 0 };
    while (ig_py_accept_word(parser, "if")) {
        ig_ast *condition;
        IG_TRY(ig_py_parse_disjunction(parser, &condition));
        IG_PUSH(parser->arena, &list.items, condition);
    }
    *out_conditions = ig_py_list_of(&list);
    return IG_OK;
}

ig_status ig_py_parse_clauses(ig_py_parser *parser, ig_ast *node) {
    IG_VEC(ig_ast_clause) clauses = { 0 };
    while (ig_py_is_word(parser, "for") || ig_py_is_word(parser, "async")) {
        ig_ast_clause clause = { 0 };
        ig_py_accept_word(parser, "async");
        IG_TRY(ig_py_expect_word(parser, "for"));
        IG_TRY(ig_py_parse_values(parser, true, &clause.target));
        IG_TRY(ig_py_expect_word(parser, "in"));
        IG_TRY(ig_py_parse_disjunction(parser, &clause.iterable));
        IG_TRY(parse_conditions(parser, &clause.conditions));
        IG_PUSH(parser->arena, &clauses, clause);
    }
    assert(clauses.count > 0 && "the caller saw `for`");
    node->as.comprehension.clauses = clauses.items;
    node->as.comprehension.clause_count = (uint32_t)clauses.count;
    return IG_OK;
}

/* ---- loose tuples ---- */

ig_status ig_py_parse_values(ig_py_parser *parser, bool targets, ig_ast **out_node) {
    ig_py_list list = { 0 };
    ig_py_token at = parser->token;
    ig_status (*parse)(ig_py_parser *, ig_ast **) = targets ? ig_py_parse_operand
                                                            : ig_py_parse_named;
    ig_ast *item;
    if (ig_py_is_word(parser, "yield")) {
        return ig_py_parse_yield(parser, out_node);
    }
    IG_TRY(ig_py_parse_starred(parser, parse, &item));
    *out_node = item;
    if (!ig_py_is_punct(parser, ',')) {
        return IG_OK;
    }
    ig_ast *tuple = ig_py_node(parser, IG_AST_TUPLE, &at);
    for (;;) {
        IG_PUSH(parser->arena, &list.items, item);
        if (!ig_py_accept_punct(parser, ',')) {
            break;
        }
        if (!ig_py_starts_value(parser)) {
            tuple->flags |= IG_AST_COMMA;
            break;
        }
        IG_TRY(ig_py_parse_starred(parser, parse, &item));
    }
    tuple->as.list = ig_py_list_of(&list);
    *out_node = tuple;
    return ig_py_finish(parser, tuple);
}
