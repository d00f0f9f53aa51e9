/* guards: takes away guards that are proved.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     guard eq(2*B, B + B)
 *   goes.
 *
 * A guard of the graph's own block that can never hold is an error in the model,
 * reported with the guard's message; inside a branch, which may never run, it stays.
 *
 * Keeps: everything else.
 */
#include "passes/engine/guards.h"

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status prove_guards(ig_pass_run *run, ig_block *block) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(prove_guards(run, op->bodies[i]));
        }
        if (op->code != IG_OP_guard) {
            continue;
        }
        if (ig_guard_truth(op) == IG_YES) {
            ig_op_erase(op);
            run->changed = true;
        }
    }
    return IG_OK;
}

ig_status ig_pass_guards(ig_pass_run *run, ig_graph *graph) {
    IG_TRY(prove_guards(run, &graph->body));
    return ig_guards_check(run, graph);
}
