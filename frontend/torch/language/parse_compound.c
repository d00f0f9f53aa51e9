/* The parser of Python source: if, while, for, with, try.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>

/* else: …, of a branch or loop. */
static ig_status parse_else(ig_py_parser *parser, ig_ast_list *out_body) {
    return ig_py_accept_word(parser, "else") ? ig_py_parse_body(parser, out_body)
                                             : IG_OK;
}

/* `while` too, which has no `elif`; that is an IF alone in the `else`. */
static ig_status parse_if(ig_py_parser *parser, ig_py_list *statements) {
    bool is_if = !ig_py_is_word(parser, "while");
    ig_ast *node = ig_py_node(parser, is_if ? IG_AST_IF : IG_AST_WHILE, &parser->token);
    ig_py_advance(parser);
    IG_TRY(ig_py_parse_named(parser, &node->as.branch.test));
    IG_TRY(ig_py_parse_body(parser, &node->as.branch.body));
    if (is_if && ig_py_is_word(parser, "elif")) {
        ig_py_list orelse = { 0 };
        IG_TRY(ig_py_enter(parser));
        IG_TRY(parse_if(parser, &orelse));
        IG_TRY(ig_py_finish(parser, orelse.items.items[0]));
        ig_py_leave(parser);
        node->as.branch.orelse = ig_py_list_of(&orelse);
    } else {
        IG_TRY(parse_else(parser, &node->as.branch.orelse));
    }
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

static ig_status parse_for(ig_py_parser *parser, ig_py_list *statements) {
    ig_ast *node = ig_py_node(parser, IG_AST_FOR, &parser->token);
    ig_py_advance(parser);
    IG_TRY(ig_py_parse_values(parser, true, &node->as.loop.target));
    IG_TRY(ig_py_expect_word(parser, "in"));
    IG_TRY(ig_py_parse_values(parser, false, &node->as.loop.iterable));
    IG_TRY(ig_py_parse_body(parser, &node->as.loop.body));
    IG_TRY(parse_else(parser, &node->as.loop.orelse));
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

static ig_status parse_with(ig_py_parser *parser, ig_py_list *statements) {
    ig_ast *node = ig_py_node(parser, IG_AST_WITH, &parser->token);
    ig_py_list contexts = { 0 }, targets = { 0 };
    ig_py_advance(parser);
    do {
        ig_ast *context, *target = NULL;
        IG_TRY(ig_py_parse_value(parser, &context));
        if (ig_py_accept_word(parser, "as")) {
            IG_TRY(ig_py_parse_operand(parser, &target));
        }
        IG_PUSH(parser->arena, &contexts.items, context);
        IG_PUSH(parser->arena, &targets.items, target);
    } while (ig_py_accept_punct(parser, ','));
    node->as.with.contexts = contexts.items.items;
    node->as.with.targets = targets.items.items;
    node->as.with.count = contexts.items.count;
    assert(contexts.items.count == targets.items.count &&
           "every context has a target, or NULL for one");
    IG_TRY(ig_py_parse_body(parser, &node->as.with.body));
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

static ig_status parse_handler(ig_py_parser *parser, ig_ast *node,
                               ig_ast_handler *handler) {
    ig_py_accept_punct(parser, '*');
    if (!ig_py_is_punct(parser, ':')) {
        IG_TRY(ig_py_parse_values(parser, false, &handler->type));
        IG_TRY(ig_py_adopt(parser, node, handler->type));
    }
    if (ig_py_accept_word(parser, "as")) {
        IG_TRY(ig_py_parse_name(parser, "a name", &handler->name));
    }
    return ig_py_parse_body(parser, &handler->body);
}

static ig_status parse_try(ig_py_parser *parser, ig_py_list *statements) {
    ig_ast *node = ig_py_node(parser, IG_AST_TRY, &parser->token);
    ig_ast_try *try = node->as.try = IG_NEW(parser->arena, ig_ast_try);
    IG_VEC(ig_ast_handler) handlers = { 0 };
    ig_py_advance(parser);
    IG_TRY(ig_py_parse_body(parser, &try->body));
    while (ig_py_accept_word(parser, "except")) {
        ig_ast_handler handler = { 0 };
        IG_TRY(parse_handler(parser, node, &handler));
        IG_PUSH(parser->arena, &handlers, handler);
    }
    IG_TRY(parse_else(parser, &try->orelse));
    if (ig_py_accept_word(parser, "finally")) {
        IG_TRY(ig_py_parse_body(parser, &try->finally));
    } else if (handlers.count == 0) {
        return ig_py_expected(parser, "'except' or 'finally'");
    }
    try->handlers = handlers.items;
    try->handler_count = handlers.count;
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

static ig_status parse_async(ig_py_parser *parser, ig_py_list *statements) {
    if (ig_str_is(parser->ahead.text, "def")) {
        return ig_py_parse_def(parser, NULL, statements);
    }
    ig_py_advance(parser);
    bool is_for = ig_py_is_word(parser, "for");
    if (!is_for && !ig_py_is_word(parser, "with")) {
        return ig_py_expected(parser, "'def', 'for' or 'with'");
    }
    IG_TRY(is_for ? parse_for(parser, statements) : parse_with(parser, statements));
    assert(statements->items.count > 0 && "the loop or block was added");
    IG_LAST(&statements->items)->flags |= IG_AST_ASYNC;
    return IG_OK;
}

static ig_status parse_plain_def(ig_py_parser *parser, ig_py_list *statements) {
    return ig_py_parse_def(parser, NULL, statements);
}

static ig_status parse_plain_class(ig_py_parser *parser, ig_py_list *statements) {
    return ig_py_parse_class(parser, NULL, statements);
}

ig_status ig_py_parse_compound(ig_py_parser *parser, ig_py_list *statements,
                               bool *out_known) {
    static const struct {
        const char *word;
        ig_status (*parse)(ig_py_parser *parser, ig_py_list *statements);
    } rows[] = {
        { "if", parse_if },         { "for", parse_for },
        { "while", parse_if },      { "with", parse_with },
        { "def", parse_plain_def }, { "class", parse_plain_class },
        { "try", parse_try },       { "async", parse_async },
    };
    *out_known = false;
    if (ig_py_is_punct(parser, '@')) {
        *out_known = true;
        return ig_py_parse_decorated(parser, statements);
    }
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (ig_py_is_word(parser, rows[i].word)) {
            *out_known = true;
            return rows[i].parse(parser, statements);
        }
    }
    return IG_OK;
}
