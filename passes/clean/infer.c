/* infer: gives every value the most precise type that its operands allow.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = reshape %x {to = [4, 3]} : f32[A, B]
 *     %1 = relu %0 : f32[A, B]
 *   becomes
 *     %0 = reshape %x {to = [4, 3]} : f32[4, 3]
 *     %1 = relu %0 : f32[4, 3]
 *
 * Runs the infer hooks in order.  An extent that was a number stays one; the value
 * found for a symbol that an op defined replaces it everywhere.  Results of `if` take
 * the type on which both branches agree.  An op in the graph's own block whose operands
 * turn out not to fit is an error in the model; inside a branch, which may never run,
 * it is left as it is.
 *
 * Keeps: the ops; only types change.
 */
#include "passes/engine/pass.h"

#include "ir/verify/verify.h"
#include "base/silence.h"
#include "passes/engine/symbols.h"

#include <assert.h>

typedef struct inferrer {
    ig_pass_run *run;
    ig_module *module;
    ig_symbols symbols;
} inferrer;

/* `fresh`, but with the numbers that `old` knows and it does not. */
static const ig_type *merge_types(inferrer *n, const ig_type *old,
                                  const ig_type *fresh) {
    if (old == fresh || old->rank != fresh->rank || fresh->element) {
        return fresh;
    }
    ig_dim *dims = IG_NEW_ARRAY(n->run->scratch, ig_dim, fresh->rank);
    for (uint32_t i = 0; i < fresh->rank; i++) {
        bool keeps = ig_dim_is_static(old->dims[i]) &&
                     !ig_dim_is_static(fresh->dims[i]);
        dims[i] = keeps ? old->dims[i] : fresh->dims[i];
    }
    return ig_type_with_dims(n->module, fresh, fresh->rank, dims);
}

static void refine_result(inferrer *n, const ig_op *op, uint32_t result,
                          const ig_type *fresh) {
    assert(result < op->result_count && "a result of the op");
    ig_value *value = &op->results[result];
    if (value->type == fresh || !ig_types_agree(n->module, value->type, fresh)) {
        return;
    }
    const ig_type *type = merge_types(n, value->type, fresh);
    if (type != value->type) {
        ig_symbols_learn(&n->symbols, op, value->type, type);
        ig_value_retype(value, type);
        n->run->changed = true;
    }
}

static ig_status infer_op(inferrer *n, ig_op *op) {
    ig_infer_hook hook = ig_ops[op->code].infer;
    if (!hook || !op->result_count) {
        return IG_OK;
    }
    const ig_type **types = IG_NEW_ARRAY(n->run->scratch, const ig_type *,
                                         op->result_count);
    if (op->block->parent) {
        ig_silence silence = ig_silence_begin(n->module->context);
        ig_status status = hook(op, types);
        ig_silence_end(&silence);
        if (status != IG_OK) {
            return IG_OK;
        }
    } else {
        IG_TRY(hook(op, types));
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        refine_result(n, op, i, types[i]);
    }
    return IG_OK;
}

/* Results of `if` and `fused` have the types that their bodies yield. */
static void infer_from_yields(inferrer *n, ig_op *op) {
    const ig_op *first = op->bodies[0]->last;
    const ig_op *last = op->bodies[op->body_count - 1]->last;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = first->operands[i].value->type;
        if (type == last->operands[i].value->type) {
            refine_result(n, op, i, type);
        }
    }
}

/* Recursion is as deep as bodies nest, which readers bound by limits.graph_depth. */
static ig_status infer_block(inferrer *n, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(infer_block(n, op->bodies[i]));
        }
        if (op->code == IG_OP_if) {
            infer_from_yields(n, op);
        }
        IG_TRY(infer_op(n, op));
    }
    return IG_OK;
}

ig_status ig_pass_infer(ig_pass_run *run, ig_graph *graph) {
    inferrer n = { .run = run, .module = graph->module };
    ig_symbols_init(&n.symbols, graph, run->scratch);
    IG_TRY(infer_block(&n, &graph->body));
    return ig_symbols_apply(&n.symbols, run, graph);
}
