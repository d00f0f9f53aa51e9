/* Elementwise ops: rows of scalar.def with numpy's broadcasting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"
#include "ir/semantics/scalar.h"

#include <string.h>

static ig_status report_trap(ig_eval *eval, const ig_op *op, int64_t element) {
    return FOLD_ERROR(eval, op, "%s: an integer is divided by zero at element %lld",
                      ig_ops[op->code].name, (long long)element);
}

static bool has_shape_of(const ig_tensor *a, const ig_tensor *b) {
    bool is_equal = a->rank == b->rank;
    for (uint32_t i = 0; is_equal && i < a->rank; i++) {
        is_equal = a->dims[i] == b->dims[i];
    }
    return is_equal;
}

/* Innermost rows, one after the other. */
static ig_status apply_rows(ig_eval *eval, const ig_op *op, ig_scalar_call *call,
                            const ig_tensor *const *in) {
    const ig_tensor *out = call->out;
    uint32_t outer = out->rank - 1;
    int64_t strides[3][IG_TENSOR_RANK];
    ig_walk walk = { .operand_count = call->arity };
    for (uint32_t i = 0; i < call->arity; i++) {
        ig_strides_broadcast(in[i], out->rank, strides[i]);
        walk.strides[i] = strides[i];
    }
    call->count = out->dims[outer];
    for (ig_walk_start(&walk, outer, out->dims); walk.is_inside; ig_walk_next(&walk)) {
        for (uint32_t i = 0; i < call->arity; i++) {
            call->operands[i] = ig_span_of(in[i], walk.at[i], strides[i][outer]);
        }
        int64_t bad = ig_scalar_apply(call);
        if (bad >= 0) {
            return report_trap(eval, op, call->out_index + bad);
        }
        call->out_index += call->count;
    }
    return IG_OK;
}

static ig_status apply_whole(ig_eval *eval, const ig_op *op, ig_scalar_call *call,
                             const ig_tensor *const *in) {
    for (uint32_t i = 0; i < call->arity; i++) {
        call->operands[i] = ig_span_of(in[i], 0, 1);
    }
    call->count = call->out->count;
    int64_t bad = ig_scalar_apply(call);
    return bad < 0 ? IG_OK : report_trap(eval, op, bad);
}

ig_status ig_fold_map(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                      ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!ig_walk_broadcast(in[i], &rank, dims)) {
            return FOLD_ERROR(
                eval, op,
                "%s: the extents of operand %u do not broadcast with those before it",
                ig_ops[op->code].name, i);
        }
    }
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    IG_TRY(ig_eval_alloc(eval, op, dtype, rank, dims, out));
    ig_scalar_call call;
    ig_scalar_call_init(&call, op);
    call.out = out;
    bool is_whole = true;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        is_whole = is_whole && has_shape_of(in[i], out);
    }
    return is_whole ? apply_whole(eval, op, &call, in)
                    : apply_rows(eval, op, &call, in);
}

ig_status ig_fold_bitcast(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_bitcast_to, IG_DT_COUNT);
    IG_TRY(ig_eval_alloc(eval, op, to, in[0]->rank, in[0]->dims, out));
    if (out->count) {
        memcpy(out->data, in[0]->data, (size_t)out->count * (ig_dtypes[to].bits / 8));
    }
    return IG_OK;
}
