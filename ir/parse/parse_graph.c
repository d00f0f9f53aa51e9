/* Graphs and blocks from text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     [private | entry] (graph | plan | kernel) @name(%x "user's name": type, …)
 *             [-> (type "user's name", …)] [as signature] { statements }
 *
 * The last arguments of an entry may be state: %name: type = @weight
 */
#include "ir/parse/parse.h"
#include "ir/parse/signature_read.h"

#include <string.h>

/* ---- blocks ---- */

static ig_status check_node_count(ig_parser *p) {
    if (p->graph->op_count <= p->context->limits.node_count) {
        return IG_OK;
    }
    ig_location where = { .file = p->file, .line = p->token.line };
    return ig_error_limit(&p->context->diag, &where, &p->context->limits,
                          IG_LIMIT_node_count, "the number of ops");
}

/* Each statement has a line of its own; one alone may share the line of its braces. */
static ig_status read_statement(ig_parser *p, ig_block *block, bool is_first) {
    if (!is_first && !p->token.starts_line) {
        return ig_parse_expected(p, "the next statement on a line of its own");
    }
    return ig_parse_statement(p, block);
}

ig_status ig_parse_block(ig_parser *parser, ig_block *block) {
    bool is_first = true;
    IG_TRY(ig_parse_expect(parser, '{', "'{'"));
    while (!ig_parse_is(parser, '}') && !ig_parse_is(parser, IG_TOKEN_END)) {
        ig_parse_position start = ig_parse_here(parser);
        IG_TRY(check_node_count(parser));
        IG_TRY(ig_context_poll(parser->context));
        ig_status status = read_statement(parser, block, is_first);
        IG_TRY(ig_parse_go_on(parser, status, &start));
        is_first = false;
    }
    return ig_parse_expect(parser, '}', "'}'");
}

static bool is_number(ig_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return true;
}

/* The user's name: in quotes, else the argument's own; a number is none. */
static ig_status read_user_name(ig_parser *p, const ig_token *name, const char **out) {
    if (ig_parse_is(p, IG_TOKEN_STRING)) {
        return ig_parse_quoted(p, "a quoted name", out);
    }
    *out = is_number(name->text) ? NULL : ig_module_string(p->module, name->text);
    return IG_OK;
}

static ig_status read_arg(ig_parser *p, ig_block *block, const char **out_user) {
    ig_token name = p->token;
    const ig_type *type;
    IG_TRY(ig_parse_expect(p, IG_TOKEN_VALUE, "an argument, %name"));
    IG_TRY(read_user_name(p, &name, out_user));
    IG_TRY(ig_parse_expect(p, ':', "':' and a type"));
    IG_TRY(ig_parse_type_here(p, &type));
    return ig_parse_define(p, &name, ig_block_add_arg(block, type, *out_user));
}

/* "= @weight" after an argument that is state; states are the last ones. */
static ig_status read_state(ig_parser *p, ig_arg_names *names) {
    const char *weight;
    if (!names || (names->states.count == 0 && !ig_parse_is(p, '='))) {
        return IG_OK;
    }
    IG_TRY(ig_parse_expect(p, '=', "'=' and the state's first value"));
    IG_TRY(ig_parse_item_name(p, "a weight, @name", &weight));
    IG_PUSH(p->arena, &names->states, weight);
    return IG_OK;
}

/* "{opened}" after an argument that is a weight; they are the last ones but states. */
static ig_status read_opened(ig_parser *p, ig_arg_names *names) {
    if (!names || (names->opened_count == 0 && !ig_parse_is(p, '{')) ||
        ig_parse_is(p, '=')) {
        return IG_OK;
    }
    IG_TRY(ig_parse_expect(p, '{', "'{opened}'"));
    if (!ig_parse_accept_word(p, "opened")) {
        return ig_parse_expected(p, "opened");
    }
    names->opened_count++;
    return ig_parse_expect(p, '}', "'}'");
}

ig_status ig_parse_args(ig_parser *parser, ig_block *block, ig_arg_names *out_names) {
    IG_TRY(ig_parse_expect(parser, '(', "'('"));
    while (!ig_parse_is(parser, ')')) {
        const char *user;
        IG_TRY(read_arg(parser, block, &user));
        if (out_names) {
            IG_PUSH(parser->arena, &out_names->users, user ? user : "");
        }
        IG_TRY(read_opened(parser, out_names));
        IG_TRY(read_state(parser, out_names));
        if ((int64_t)block->arg_count > parser->context->limits.operand_count) {
            return ig_parse_error(parser, &parser->token, "too many arguments");
        }
        if (!ig_parse_accept(parser, ',')) {
            break;
        }
    }
    return ig_parse_expect(parser, ')', "',' or ')'");
}

/* ---- graphs ---- */

typedef struct result_list {
    ig_token at;
    bool is_given, has_names;
    IG_VEC(const ig_type *) types;
    IG_VEC(const char *) names;
} result_list;

static ig_status read_results(ig_parser *p, result_list *list) {
    list->at = p->token;
    list->is_given = ig_parse_accept(p, IG_TOKEN_ARROW);
    if (!list->is_given) {
        return IG_OK;
    }
    IG_TRY(ig_parse_expect(p, '(', "'(' and result types"));
    while (!ig_parse_is(p, ')')) {
        const ig_type *type;
        const char *name = "";
        IG_TRY(ig_parse_type_here(p, &type));
        if (ig_parse_is(p, IG_TOKEN_STRING)) {
            IG_TRY(ig_parse_quoted(p, "a quoted name", &name));
            list->has_names = true;
        }
        IG_PUSH(p->arena, &list->types, type);
        IG_PUSH(p->arena, &list->names, name);
        if (!ig_parse_accept(p, ',')) {
            break;
        }
    }
    return ig_parse_expect(p, ')', "',' or ')'");
}

/* A graph without `ret` is the verifier's to report. */
static ig_status check_results(ig_parser *p, const result_list *list) {
    const ig_op *ret = p->graph->body.last;
    if (!list->is_given || !ret || ret->code != IG_OP_ret) {
        return IG_OK;
    }
    if (ret->operand_count != list->types.count) {
        return ig_parse_error(p, &list->at, "%zu result types, but ret has %u operands",
                              list->types.count, ret->operand_count);
    }
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        if (ret->operands[i].value->type != list->types.items[i]) {
            return ig_parse_error(p, &list->at,
                                  "result %u is not of the type that ret returns", i);
        }
    }
    return IG_OK;
}

static ig_status read_stage(ig_parser *p, ig_stage *out_stage) {
    static const struct {
        const char *word;
        ig_stage stage;
    } stages[] = { { "graph", IG_STAGE_TENSOR },
                   { "plan", IG_STAGE_PLAN },
                   { "kernel", IG_STAGE_KERNEL } };
    for (size_t i = 0; i < IG_COUNT_OF(stages); i++) {
        if (ig_parse_accept_word(p, stages[i].word)) {
            *out_stage = stages[i].stage;
            return IG_OK;
        }
    }
    return ig_parse_expected(p, "symbol, weight, table, graph, plan or kernel");
}

static ig_status read_head(ig_parser *p) {
    bool is_private = ig_parse_accept_word(p, "private");
    bool is_entry = !is_private && ig_parse_accept_word(p, "entry");
    ig_stage stage = IG_STAGE_TENSOR;
    const char *name;
    IG_TRY(read_stage(p, &stage));
    ig_token at = p->token;
    IG_TRY(ig_parse_item_name(p, "the graph's name, @name", &name));
    if (ig_module_graph(p->module, name)) {
        return ig_parse_error(p, &at, "there is a graph @%s already", name);
    }
    p->graph = ig_graph_create(p->module, name, stage);
    p->graph->is_entry = is_entry || (!is_private && stage != IG_STAGE_KERNEL);
    return IG_OK;
}

/* "as forward(x: tensor) -> tensor" */
static ig_status read_signature(ig_parser *p) {
    if (!ig_parse_accept_word(p, "as")) {
        return IG_OK;
    }
    ig_signature *signature = IG_NEW(p->arena, ig_signature);
    const char *wrong = ig_signature_read(&p->lexer, &p->token, p->arena, signature);
    if (wrong) {
        return ig_parse_error(p, &p->token, "the signature: %s", wrong);
    }
    p->graph->signature = ig_signature_copy(signature, p->arena);
    return IG_OK;
}

ig_status ig_parse_graph(ig_parser *parser) {
    result_list results = { 0 };
    ig_arg_names names = { 0 };
    IG_TRY(read_head(parser));
    ig_graph *graph = parser->graph;
    ig_map_init(&parser->values, parser->arena);
    parser->scope.count = 0;
    IG_TRY(ig_parse_args(parser, &graph->body, graph->is_entry ? &names : NULL));
    IG_TRY(read_results(parser, &results));
    if (graph->is_entry) {
        IG_TRY(read_signature(parser));
    }
    graph->arg_names = names.users.items;
    graph->states = names.states.items;
    graph->state_count = (uint32_t)names.states.count;
    graph->opened_count = names.opened_count;
    graph->result_names = results.has_names ? results.names.items : NULL;
    IG_TRY(ig_parse_block(parser, &graph->body));
    return check_results(parser, &results);
}
