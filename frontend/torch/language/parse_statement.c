/* The parser of Python source: simple statements and blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>

/* ---- assignments ---- */

static bool is_target(const ig_ast *node) {
    switch ((int)node->kind) {
    case IG_AST_NAME:
    case IG_AST_ATTRIBUTE:
    case IG_AST_SUBSCRIPT:
        return true;
    case IG_AST_STARRED:
        return is_target(node->as.value);
    case IG_AST_TUPLE:
    case IG_AST_LIST:
        for (size_t i = 0; i < node->as.list.count; i++) {
            if (!is_target(node->as.list.items[i])) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

static ig_status check_target(ig_py_parser *parser, const ig_ast *target) {
    ig_py_token at = { .line = target->line, .column = target->column };
    return is_target(target)
               ? IG_OK
               : ig_py_error(parser, IG_INVALID, &at, "a %s cannot be assigned to",
                             ig_ast_kind_words(target->kind));
}

/* = value, = target = value …, after the first target. */
static ig_status parse_assign(ig_py_parser *parser, ig_ast *first, ig_ast **out_node) {
    ig_ast *node = ig_py_node_like(parser, IG_AST_ASSIGN, first);
    ig_py_list targets = { 0 };
    ig_ast *value = first;
    while (ig_py_accept_punct(parser, '=')) {
        IG_TRY(check_target(parser, value));
        IG_PUSH(parser->arena, &targets.items, value);
        IG_TRY(ig_py_parse_values(parser, false, &value));
    }
    assert(targets.items.count > 0 && "the caller saw `=`");
    node->as.assign.targets = ig_py_list_of(&targets);
    node->as.assign.value = value;
    *out_node = node;
    return IG_OK;
}

static ig_status parse_annotated(ig_py_parser *parser, ig_ast *target,
                                 ig_ast **out_node) {
    ig_ast *node = ig_py_node_like(parser, IG_AST_ANNOTATED, target);
    ig_py_advance(parser);
    IG_TRY(check_target(parser, target));
    node->as.annotated.target = target;
    IG_TRY(ig_py_parse_value(parser, &node->as.annotated.type));
    IG_TRY(ig_py_adopt(parser, node, node->as.annotated.type));
    *out_node = node;
    return ig_py_accept_punct(parser, '=')
               ? ig_py_parse_values(parser, false, &node->as.annotated.value)
               : IG_OK;
}

/* The operator of += and the like; false when there is none. */
static bool find_augmented(const ig_py_parser *parser, ig_ast_operator *out_op) {
    static const ig_ast_operator ops[] = {
        IG_AST_OP_ADD,     IG_AST_OP_SUB,    IG_AST_OP_MUL,       IG_AST_OP_DIV,
        IG_AST_OP_MOD,     IG_AST_OP_MATMUL, IG_AST_OP_BIT_AND,   IG_AST_OP_BIT_OR,
        IG_AST_OP_BIT_XOR, IG_AST_OP_POW,    IG_AST_OP_FLOOR_DIV, IG_AST_OP_LEFT,
        IG_AST_OP_RIGHT,
    };
    ig_str text = parser->token.text;
    if (!ig_py_is(parser, IG_PY_TOKEN_PUNCT) || text.size < 2 ||
        text.data[text.size - 1] != '=') {
        return false;
    }
    text.size--;
    for (size_t i = 0; i < IG_COUNT_OF(ops); i++) {
        if (ig_str_is(text, ig_ast_operator_text(ops[i]))) {
            *out_op = ops[i];
            return true;
        }
    }
    return false;
}

static ig_status parse_augmented(ig_py_parser *parser, ig_ast *target,
                                 ig_ast_operator op, ig_ast **out_node) {
    assert(op < IG_AST_OPERATOR_COUNT && "find_augmented set the operator");
    ig_ast *node = ig_py_node_like(parser, IG_AST_AUGMENTED, target);
    node->op = (uint8_t)op;
    ig_py_advance(parser);
    IG_TRY(check_target(parser, target));
    node->as.binary.left = target;
    *out_node = node;
    return ig_py_parse_values(parser, false, &node->as.binary.right);
}

static ig_status parse_expression_statement(ig_py_parser *parser, ig_ast **out_node) {
    ig_ast *value;
    ig_ast_operator op;
    IG_TRY(ig_py_parse_values(parser, false, &value));
    if (ig_py_is_punct(parser, '=')) {
        return parse_assign(parser, value, out_node);
    }
    if (ig_py_is_punct(parser, ':')) {
        return parse_annotated(parser, value, out_node);
    }
    if (find_augmented(parser, &op)) {
        return parse_augmented(parser, value, op, out_node);
    }
    ig_ast *node = ig_py_node_like(parser, IG_AST_EXPRESSION, value);
    node->as.value = value;
    *out_node = node;
    return IG_OK;
}

/* ---- by word; the word is taken ---- */

static ig_status parse_return(ig_py_parser *parser, ig_ast *node) {
    return ig_py_starts_value(parser)
               ? ig_py_parse_values(parser, false, &node->as.value)
               : IG_OK;
}

static ig_status parse_nothing(ig_py_parser *parser, ig_ast *node) {
    (void)parser;
    (void)node;
    return IG_OK;
}

static ig_status parse_raise(ig_py_parser *parser, ig_ast *node) {
    if (!ig_py_starts_value(parser)) {
        return IG_OK;
    }
    IG_TRY(ig_py_parse_value(parser, &node->as.pair.first));
    return ig_py_accept_word(parser, "from")
               ? ig_py_parse_value(parser, &node->as.pair.second)
               : IG_OK;
}

static ig_status parse_assert(ig_py_parser *parser, ig_ast *node) {
    IG_TRY(ig_py_parse_value(parser, &node->as.pair.first));
    return ig_py_accept_punct(parser, ',')
               ? ig_py_parse_value(parser, &node->as.pair.second)
               : IG_OK;
}

static ig_status parse_delete(ig_py_parser *parser, ig_ast *node) {
    ig_py_list list = { 0 };
    do {
        ig_ast *target;
        IG_TRY(ig_py_parse_operand(parser, &target));
        IG_TRY(check_target(parser, target));
        IG_PUSH(parser->arena, &list.items, target);
    } while (ig_py_accept_punct(parser, ',') && ig_py_starts_value(parser));
    node->as.list = ig_py_list_of(&list);
    return IG_OK;
}

static ig_status parse_global(ig_py_parser *parser, ig_ast *node) {
    IG_VEC(const char *) names = { 0 };
    do {
        const char *name;
        IG_TRY(ig_py_parse_name(parser, "a name", &name));
        IG_PUSH(parser->arena, &names, name);
    } while (ig_py_accept_punct(parser, ','));
    node->as.names.items = names.items;
    node->as.names.count = names.count;
    return IG_OK;
}

/* ---- imports ---- */

static ig_status parse_dotted(ig_py_parser *parser, const char **out_name) {
    ig_writer writer;
    const char *part;
    ig_writer_init(&writer, parser->arena);
    IG_TRY(ig_py_parse_name(parser, "the name of a module", &part));
    ig_put(&writer, "%s", part);
    while (ig_py_accept_punct(parser, '.')) {
        IG_TRY(ig_py_parse_name(parser, "the name of a module", &part));
        ig_put(&writer, ".%s", part);
    }
    *out_name = ig_names_intern(parser->source->names, ig_writer_str(&writer));
    return IG_OK;
}

static ig_status parse_aliases(ig_py_parser *parser, bool is_from, ig_ast *node) {
    IG_VEC(ig_ast_alias) aliases = { 0 };
    do {
        ig_ast_alias alias = { 0 };
        if (aliases.count && ig_py_is_punct(parser, ')')) {
            break;
        }
        IG_TRY(is_from ? ig_py_parse_name(parser, "a name", &alias.name)
                       : parse_dotted(parser, &alias.name));
        if (ig_py_accept_word(parser, "as")) {
            IG_TRY(ig_py_parse_name(parser, "a name", &alias.as));
        }
        IG_PUSH(parser->arena, &aliases, alias);
    } while (ig_py_accept_punct(parser, ','));
    node->as.import.aliases = aliases.items;
    node->as.import.count = aliases.count;
    return IG_OK;
}

static ig_status parse_import(ig_py_parser *parser, ig_ast *node) {
    return parse_aliases(parser, false, node);
}

static ig_status parse_from(ig_py_parser *parser, ig_ast *node) {
    for (;;) {
        if (ig_py_accept_punct(parser, '.')) {
            node->as.import.level++;
        } else if (ig_py_accept_punct(parser, IG_PY_PUNCT3('.', '.', '.'))) {
            node->as.import.level += 3;
        } else {
            break;
        }
    }
    node->as.import.module = "";
    if (!node->as.import.level || !ig_py_is_word(parser, "import")) {
        IG_TRY(parse_dotted(parser, &node->as.import.module));
    }
    IG_TRY(ig_py_expect_word(parser, "import"));
    if (ig_py_accept_punct(parser, '*')) {
        ig_ast_alias *all = IG_NEW(parser->arena, ig_ast_alias);
        all->name = "*";
        node->as.import.aliases = all;
        node->as.import.count = 1;
        return IG_OK;
    }
    bool has_parens = ig_py_accept_punct(parser, '(');
    IG_TRY(parse_aliases(parser, true, node));
    return has_parens ? ig_py_expect_punct(parser, ')') : IG_OK;
}

/* ---- lines and blocks ---- */

static ig_status parse_simple(ig_py_parser *parser, ig_ast **out_node) {
    static const struct {
        const char *word;
        ig_ast_kind kind;
        ig_status (*parse)(ig_py_parser *parser, ig_ast *node);
    } rows[] = {
        { "return", IG_AST_RETURN, parse_return },
        { "pass", IG_AST_PASS, parse_nothing },
        { "break", IG_AST_BREAK, parse_nothing },
        { "continue", IG_AST_CONTINUE, parse_nothing },
        { "raise", IG_AST_RAISE, parse_raise },
        { "assert", IG_AST_ASSERT, parse_assert },
        { "del", IG_AST_DELETE, parse_delete },
        { "global", IG_AST_GLOBAL, parse_global },
        { "nonlocal", IG_AST_GLOBAL, parse_global },
        { "import", IG_AST_IMPORT, parse_import },
        { "from", IG_AST_IMPORT, parse_from },
    };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        if (ig_py_is_word(parser, rows[i].word)) {
            *out_node = ig_py_node(parser, rows[i].kind, &parser->token);
            ig_py_advance(parser);
            IG_TRY(rows[i].parse(parser, *out_node));
            return ig_py_finish(parser, *out_node);
        }
    }
    IG_TRY(parse_expression_statement(parser, out_node));
    return ig_py_finish(parser, *out_node);
}

/* a; b; c */
static ig_status parse_line(ig_py_parser *parser, ig_py_list *statements) {
    do {
        ig_ast *node = NULL;
        if (statements->items.count && (ig_py_is(parser, IG_PY_TOKEN_NEWLINE) ||
                                        ig_py_is(parser, IG_PY_TOKEN_END))) {
            break; /* after the last ';' */
        }
        IG_TRY(parse_simple(parser, &node));
        IG_PUSH(parser->arena, &statements->items, node);
    } while (ig_py_accept_punct(parser, ';'));
    return ig_py_expect_newline(parser);
}

ig_status ig_py_parse_statement(ig_py_parser *parser, ig_py_list *statements) {
    bool is_compound;
    IG_TRY(ig_py_parse_compound(parser, statements, &is_compound));
    return is_compound ? ig_py_finish(parser, IG_LAST(&statements->items))
                       : parse_line(parser, statements);
}

ig_status ig_py_parse_body(ig_py_parser *parser, ig_ast_list *out_body) {
    ig_py_list list = { 0 };
    IG_TRY(ig_py_expect_punct(parser, ':'));
    IG_TRY(ig_py_enter(parser));
    if (!ig_py_accept(parser, IG_PY_TOKEN_NEWLINE)) {
        IG_TRY(parse_line(parser, &list));
    } else {
        if (!ig_py_accept(parser, IG_PY_TOKEN_INDENT)) {
            return ig_py_expected(parser, "an indented block");
        }
        while (!ig_py_accept(parser, IG_PY_TOKEN_DEDENT)) {
            IG_TRY(ig_py_parse_statement(parser, &list));
        }
    }
    ig_py_leave(parser);
    *out_body = ig_py_list_of(&list);
    return IG_OK;
}
