/* The verifier: signature and state of a graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/verify/verifier.h"

/* Leaves before and in the result against the graph's arguments and results. */
static void check_signature(ig_verifier *v, uint32_t arg_count, uint32_t result_count) {
    const ig_signature *signature = v->graph->signature;
    uint32_t result = ig_signature_result(signature);
    const ig_node *nodes = signature->nodes.items;
    uint32_t given = ig_node_leaves(nodes, result);
    uint32_t got = ig_node_leaves(nodes + result, signature->nodes.count - result);
    if (given != arg_count) {
        ig_verify_defect(v, NULL, "the signature has %u leaves, the graph %u arguments",
                         given, arg_count);
    }
    if (got != result_count) {
        ig_verify_defect(v, NULL,
                         "the signature's result has %u leaves, the graph %u results",
                         got, result_count);
    }
}

/* Is the position valid for the state?  In a plan the arguments after it are
 * buffers. */
static bool holds_state(const ig_type *type, const ig_type *state) {
    bool is_like = type->kind == state->kind || type->kind == IG_BUFFER;
    return is_like && type->dtype == state->dtype && type->rank == state->rank;
}

/* The weight must fit both types, which may have other extents. */
static void check_state(ig_verifier *v, uint32_t index, const ig_type *before,
                        const ig_type *after) {
    const char *name = v->graph->states[index];
    const ig_weight *weight = ig_module_weight(v->module, name);
    if (!weight) {
        ig_verify_defect(v, NULL, "state %u begins with @%s, which does not exist",
                         index, name);
        return;
    }
    const ig_type *types[] = { before, after };
    for (size_t i = 0; i < 2; i++) {
        if (!holds_state(types[i], weight->type)) {
            ig_verify_defect(v, NULL, "state @%s is %s %s", name,
                             ig_verify_type(v, types[i]), i ? "behind" : "before");
        }
    }
}

/* May the result be written to the argument's memory?  Extents may be known to agree
 * only by guards, which are not searched here. */
static bool may_stand_in(ig_verifier *v, const ig_type *result, const ig_type *arg) {
    if (result->dtype != arg->dtype || result->rank != arg->rank ||
        arg->kind != IG_TENSOR || result->kind != arg->kind) {
        return false;
    }
    for (uint32_t d = 0; d < arg->rank; d++) {
        if (ig_dim_equal(v->module, result->dims[d], arg->dims[d]) == IG_NO) {
            return false;
        }
    }
    return true;
}

static void check_pair(ig_verifier *v, const ig_op *ret, const int64_t *in_place,
                       uint32_t index) {
    const ig_graph *graph = v->graph;
    int64_t arg = in_place[index];
    if (arg == -1) {
        return;
    }
    if (arg < 0 || arg >= graph->body.arg_count - graph->state_count ||
        index >= ret->operand_count - graph->state_count) {
        ig_verify_defect(v, ret,
                         "result %u cannot be written in place of argument %lld", index,
                         (long long)arg);
        return;
    }
    const ig_type *result = ret->operands[index].value->type;
    const ig_type *type = graph->body.args[arg]->type;
    if (!may_stand_in(v, result, type)) {
        ig_verify_defect(v, ret, "result %u is %s, expected %s, in whose place it is",
                         index, ig_verify_type(v, result), ig_verify_type(v, type));
    }
    for (uint32_t i = 0; i < index; i++) {
        if (in_place[i] == arg) {
            ig_verify_defect(
                v, ret, "results %u and %u overlap: both are in place of argument %lld",
                i, index, (long long)arg);
        }
    }
}

static void check_in_place(ig_verifier *v, const ig_op *ret) {
    const ig_attr *in_place = &ret->attrs[IG_ret_in_place];
    if (in_place->kind != IG_ATTR_INTS) {
        return;
    }
    if (in_place->count != ret->operand_count || !v->graph->is_entry) {
        ig_verify_defect(v, ret, "in_place is a number for each result of an entry");
        return;
    }
    for (uint32_t i = 0; i < in_place->count; i++) {
        check_pair(v, ret, in_place->as.ints, i);
    }
}

/* Opened weights are arguments of known extents, which no graph but an entry has. */
static void check_opened(ig_verifier *v) {
    const ig_graph *graph = v->graph;
    uint32_t end = graph->body.arg_count - graph->state_count;
    if (graph->opened_count > end || (graph->opened_count > 0 && !graph->is_entry)) {
        ig_verify_defect(v, NULL, "%u opened weights, but fewer arguments of an entry",
                         graph->opened_count);
        return;
    }
    for (uint32_t i = end - graph->opened_count; i < end; i++) {
        const ig_type *type = graph->body.args[i]->type;
        if (type->kind != IG_TENSOR || !ig_type_is_static(type)) {
            ig_verify_defect(
                v, NULL, "argument %u is %s, which is not the type of an opened weight",
                i, ig_verify_type(v, type));
        }
    }
}

void ig_verify_entry(ig_verifier *verifier) {
    const ig_graph *graph = verifier->graph;
    const ig_op *ret = graph->body.last;
    uint32_t states = graph->state_count;
    if (ret && ret->code == IG_OP_ret && states <= graph->body.arg_count &&
        states <= ret->operand_count) {
        check_in_place(verifier, ret);
        check_opened(verifier);
    }
    if (!ret || ret->code != IG_OP_ret || (!states && !graph->signature)) {
        return;
    }
    if (states > graph->body.arg_count || states > ret->operand_count) {
        ig_verify_defect(verifier, NULL, "%u states, but fewer arguments or results",
                         states);
        return;
    }
    uint32_t args = graph->body.arg_count - states;
    uint32_t results = ret->operand_count - states;
    for (uint32_t i = 0; i < states; i++) {
        check_state(verifier, i, graph->body.args[args + i]->type,
                    ret->operands[results + i].value->type);
    }
    if (graph->signature) {
        check_signature(verifier, args, results);
    }
}
