/* The parser of Python source: functions and classes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/language/parse_inside.h"

#include <assert.h>

/* ---- parameters ---- */

typedef struct param_reader {
    ig_ast *def;
    IG_VEC(ig_ast_param) params;
    bool are_keywords; /* after "*" */
} param_reader;

static ig_status read_star(ig_py_parser *parser, param_reader *reader) {
    bool is_double = ig_py_is_punct(parser, IG_PY_PUNCT2('*', '*'));
    ig_ast_param param = { .kind = is_double ? IG_AST_PARAM_STARS : IG_AST_PARAM_STAR };
    ig_py_advance(parser);
    if (!is_double) {
        reader->are_keywords = true;
        if (ig_py_is_punct(parser, ',')) {
            return IG_OK;
        }
    }
    IG_TRY(ig_py_parse_name(parser, "the name of a parameter", &param.name));
    if (reader->def->kind == IG_AST_DEF && ig_py_accept_punct(parser, ':')) {
        IG_TRY(ig_py_parse_value(parser, &param.annotation));
        IG_TRY(ig_py_adopt(parser, reader->def, param.annotation));
    }
    IG_PUSH(parser->arena, &reader->params, param);
    return IG_OK;
}

static ig_status read_param(ig_py_parser *parser, param_reader *reader) {
    if (ig_py_is_punct(parser, '*') || ig_py_is_punct(parser, IG_PY_PUNCT2('*', '*'))) {
        return read_star(parser, reader);
    }
    if (ig_py_accept_punct(parser, '/')) {
        for (size_t i = 0; i < reader->params.count; i++) {
            reader->params.items[i].kind = IG_AST_PARAM_POSITIONAL;
        }
        return IG_OK;
    }
    ig_ast_param param = { .kind = reader->are_keywords ? IG_AST_PARAM_KEYWORD
                                                        : IG_AST_PARAM_NORMAL };
    IG_TRY(ig_py_parse_name(parser, "the name of a parameter", &param.name));
    if (reader->def->kind == IG_AST_DEF && ig_py_accept_punct(parser, ':')) {
        IG_TRY(ig_py_parse_value(parser, &param.annotation));
        IG_TRY(ig_py_adopt(parser, reader->def, param.annotation));
    }
    if (ig_py_accept_punct(parser, '=')) {
        IG_TRY(ig_py_parse_value(parser, &param.value));
        IG_TRY(ig_py_adopt(parser, reader->def, param.value));
    }
    IG_PUSH(parser->arena, &reader->params, param);
    return IG_OK;
}

ig_status ig_py_parse_params(ig_py_parser *parser, uint32_t end, ig_ast *def) {
    assert((def->kind == IG_AST_DEF || def->kind == IG_AST_LAMBDA) &&
           "only these have parameters");
    param_reader reader = { .def = def };
    while (!ig_py_is_punct(parser, end)) {
        IG_TRY(read_param(parser, &reader));
        if (!ig_py_accept_punct(parser, ',')) {
            break;
        }
    }
    def->as.def->params = reader.params.items;
    def->as.def->param_count = reader.params.count;
    return IG_OK;
}

/* ---- functions ---- */

static ig_status parse_def_into(ig_py_parser *parser, ig_ast *node) {
    ig_ast_def *def = node->as.def;
    IG_TRY(ig_py_parse_name(parser, "the name of a function", &def->name));
    IG_TRY(ig_py_expect_punct(parser, '('));
    IG_TRY(ig_py_parse_params(parser, ')', node));
    IG_TRY(ig_py_expect_punct(parser, ')'));
    if (ig_py_accept_punct(parser, IG_PY_PUNCT2('-', '>'))) {
        IG_TRY(ig_py_parse_value(parser, &def->returns));
        IG_TRY(ig_py_adopt(parser, node, def->returns));
    }
    IG_TRY(ig_py_parse_body(parser, &def->body));
    return ig_py_adopt_all(parser, node, &def->body);
}

ig_status ig_py_parse_def(ig_py_parser *parser, const ig_py_list *decorators,
                          ig_py_list *statements) {
    ig_ast *node = ig_py_node(parser, IG_AST_DEF, &parser->token);
    node->as.def = IG_NEW(parser->arena, ig_ast_def);
    node->as.def->is_async = ig_py_accept_word(parser, "async");
    IG_TRY(ig_py_expect_word(parser, "def"));
    if (decorators) {
        node->as.def->decorators = ig_py_list_of(decorators);
        IG_TRY(ig_py_adopt_all(parser, node, &node->as.def->decorators));
    }
    IG_TRY(parse_def_into(parser, node));
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

/* ---- classes ---- */

static ig_status parse_bases(ig_py_parser *parser, ig_ast *node) {
    ig_ast *call = ig_py_node_like(parser, IG_AST_CALL, node);
    IG_TRY(ig_py_parse_arguments(parser, call));
    node->as.class->bases = call->as.call.arguments;
    node->as.class->keywords = call->as.call.keywords;
    node->as.class->keyword_count = call->as.call.keyword_count;
    return ig_py_adopt(parser, node, call);
}

ig_status ig_py_parse_class(ig_py_parser *parser, const ig_py_list *decorators,
                            ig_py_list *statements) {
    ig_ast *node = ig_py_node(parser, IG_AST_CLASS, &parser->token);
    node->as.class = IG_NEW(parser->arena, ig_ast_class);
    ig_py_advance(parser);
    if (decorators) {
        node->as.class->decorators = ig_py_list_of(decorators);
        IG_TRY(ig_py_adopt_all(parser, node, &node->as.class->decorators));
    }
    IG_TRY(ig_py_parse_name(parser, "the name of a class", &node->as.class->name));
    if (ig_py_accept_punct(parser, '(')) {
        IG_TRY(parse_bases(parser, node));
    }
    IG_TRY(ig_py_parse_body(parser, &node->as.class->body));
    IG_TRY(ig_py_adopt_all(parser, node, &node->as.class->body));
    IG_PUSH(parser->arena, &statements->items, node);
    return IG_OK;
}

ig_status ig_py_parse_decorated(ig_py_parser *parser, ig_py_list *statements) {
    ig_py_list decorators = { 0 };
    while (ig_py_accept_punct(parser, '@')) {
        ig_ast *decorator;
        IG_TRY(ig_py_parse_named(parser, &decorator));
        IG_PUSH(parser->arena, &decorators.items, decorator);
        IG_TRY(ig_py_expect_newline(parser));
    }
    if (ig_py_is_word(parser, "class")) {
        return ig_py_parse_class(parser, &decorators, statements);
    }
    return ig_py_parse_def(parser, &decorators, statements);
}
