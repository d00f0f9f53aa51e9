/* Guards that can never hold.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/guards.h"

#include "ir/text/text.h"

#include <assert.h>

ig_truth ig_guard_truth(const ig_op *guard) {
    assert(guard->code == IG_OP_guard && "a guard");
    const ig_module *module = ig_op_module(guard);
    ig_dim left = guard->attrs[IG_guard_left].as.dim;
    ig_dim right = guard->attrs[IG_guard_right].as.dim;
    return ig_attr_int(guard, IG_guard_test, 0) == 0
               ? ig_dim_equal(module, left, right)
               : ig_dim_less_equal(module, left, right);
}

static ig_status never_holds(ig_pass_run *run, const ig_op *guard) {
    ig_module *module = ig_op_module(guard);
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

ig_status ig_guards_check(ig_pass_run *run, const ig_graph *graph) {
    for (const ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_guard && ig_guard_truth(op) == IG_NO) {
            return never_holds(run, op);
        }
    }
    return IG_OK;
}

/* Its types are not taken: that is `infer`'s. */
static ig_status check_operands(ig_pass_run *run, ig_op *op) {
    ig_infer_hook hook = ig_ops[op->code].infer;
    if (!hook || !op->result_count) {
        return IG_OK;
    }
    return hook(op, IG_NEW_ARRAY(run->scratch, const ig_type *, op->result_count));
}

ig_status ig_learnt_check(ig_pass_run *run, const ig_graph *graph) {
    IG_TRY(ig_guards_check(run, graph));
    for (ig_op *op = graph->body.first; op; op = op->next) {
        IG_TRY(check_operands(run, op));
    }
    return IG_OK;
}
