/* The verifier: signature and state of a graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/verify/verifier.h"

/* Leaves before and in the result against what the graph takes and gives. */
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

/* May the state lie there?  In a plan what comes behind is a buffer. */
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
        ig_verify_defect(v, NULL, "state %u begins with @%s, which there is not", index,
                         name);
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

void ig_verify_entry(ig_verifier *verifier) {
    const ig_graph *graph = verifier->graph;
    const ig_op *ret = graph->body.last;
    uint32_t states = graph->state_count;
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
