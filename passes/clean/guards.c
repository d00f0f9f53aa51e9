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
#include "passes/engine/pass.h"

#include "ir/text/text.h"

static ig_truth truth_of(const ig_module *module, const ig_op *guard) {
    ig_dim left = guard->attrs[IG_guard_left].as.dim;
    ig_dim right = guard->attrs[IG_guard_right].as.dim;
    return ig_attr_int(guard, IG_guard_test, 0) == 0
               ? ig_dim_equal(module, left, right)
               : ig_dim_less_equal(module, left, right);
}

static ig_status never_holds(ig_pass_run *run, ig_module *module, const ig_op *guard) {
    const char *message = ig_attr_str(guard, IG_guard_message);
    ig_writer text;
    ig_writer_init(&text, run->scratch);
    ig_dim_print(module, guard->attrs[IG_guard_left].as.dim, &text);
    ig_put(&text, "%s", ig_attr_int(guard, IG_guard_test, 0) == 0 ? " = " : " <= ");
    ig_dim_print(module, guard->attrs[IG_guard_right].as.dim, &text);
    return ig_error(
        &module->context->diag, IG_INVALID, ig_op_location(guard), "%s: %s never holds",
        message && *message ? message : "extents contradict each other", text.data);
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status prove_guards(ig_pass_run *run, ig_block *block) {
    ig_module *module = block->graph->module;
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(prove_guards(run, op->bodies[i]));
        }
        if (op->code != IG_OP_guard) {
            continue;
        }
        ig_truth truth = truth_of(module, op);
        if (truth == IG_YES) {
            ig_op_erase(op);
            run->changed = true;
        } else if (truth == IG_NO && !block->parent) {
            return never_holds(run, module, op);
        }
    }
    return IG_OK;
}

ig_status ig_pass_guards(ig_pass_run *run, ig_graph *graph) {
    return prove_guards(run, &graph->body);
}
