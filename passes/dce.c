/* dce: removes ops that nobody needs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = relu %x : f32[4]
 *     %1 = neg %0 : f32[4]          (neither is used)
 *     return %x
 *   becomes
 *     return %x
 *
 * Guards and ops that touch state stay, and so does what holds them.  One walk against
 * the order is enough: a use is gone before its definition is reached.
 *
 * Keeps: everything that is left.
 */
#include "passes/dead.h"
#include "passes/pass.h"

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static void sweep(ig_pass_run *run, ig_block *block) {
    for (ig_op *op = block->last, *before; op; op = before) {
        before = op->prev;
        if (ig_op_is_dead(op)) {
            ig_op_erase(op);
            run->changed = true;
            continue;
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            sweep(run, op->bodies[i]);
        }
    }
}

ig_status ig_pass_dce(ig_pass_run *run, ig_graph *graph) {
    sweep(run, &graph->body);
    return IG_OK;
}
