/* Embeddings and bags of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

#include "ir/bag.h"

/* embedding(weight, indices, …): ids out of range, negative ones too, are errors */
ig_status ig_ts_op_embedding(ig_ts_call *call) {
    ig_value *weight = ig_aten_tensor(call, 0), *ids = ig_aten_tensor(call, 1);
    return ig_aten_give(call,
                        ig_expr_gather(call->e, weight, ids, 0, IG_NEGATIVE_error));
}

/* one_hot(self, num_classes): -1 takes the largest id + 1 */
ig_status ig_ts_op_one_hot(ig_ts_call *call) {
    ig_value *ids = ig_aten_tensor(call, 0);
    int64_t classes = ig_aten_distance(call, 1);
    if (!ids) {
        return call->e->status;
    }
    ig_value *numbers;
    if (classes >= 0) {
        numbers = ig_expr_iota(call->e, IG_DT_i64, ig_dim_of(classes));
    } else {
        ig_value *most = ig_expr_reduce(
            call->e, IG_REDUCE_max, ig_aten_cast(call, ids, IG_DT_i64), NULL, 0, false);
        ig_value *range[] = { ig_expr_integer(call->e, IG_DT_i64, 0),
                              ig_expr_with(call->e, IG_OP_add, most, 1),
                              ig_expr_integer(call->e, IG_DT_i64, 1) };
        numbers = ig_expr_make(call->e, IG_OP_range, range, 3, NULL);
    }
    ids = ig_aten_cast(call, ids, IG_DT_i64);
    ig_value *column = ids ? ig_expr_unsqueeze(call->e, ids, ids->type->rank) : NULL;
    ig_value *hot = ig_build_eq(call->e, column, numbers);
    return ig_aten_give(call, ig_aten_cast(call, hot, IG_DT_i64));
}

/* ---- bags ---- */

enum { WEIGHT, IDS, OFFSETS, SCALE_GRAD, MODE, SPARSE, SAMPLE_WEIGHTS, LAST, PADDING };

/* The row that is left out, INT64_MIN for none.  embedding_bag.padding_idx counts a
 * negative one from the end; in the other forms it means none. */
static int64_t padding_of(ig_ts_call *call, const ig_value *weight) {
    int64_t row, rows;
    if (call->arg_count <= PADDING || ig_ts_is_none(call, PADDING)) {
        return INT64_MIN;
    }
    row = ig_aten_int(call, PADDING);
    if (row >= 0) {
        return row;
    }
    if (call->row->variant == 0) {
        return INT64_MIN;
    }
    if (!ig_dim_constant(call->module, weight->type->dims[0], &rows)) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "padding_idx of a table of unknown size");
        return INT64_MIN;
    }
    return row + rows;
}

static ig_value *build_bag(ig_ts_call *call, ig_value *weight, ig_value *ids,
                           ig_value *offsets) {
    static const ig_pool pools[] = { IG_POOL_sum, IG_POOL_mean, IG_POOL_max };
    ig_value *factors = ig_aten_optional(call, SAMPLE_WEIGHTS);
    int64_t mode = ig_aten_int(call, MODE);
    if (mode < 0 || mode >= (int64_t)IG_COUNT_OF(pools)) {
        return ig_expr_fail(call->e, IG_INVALID, "mode is %lld", (long long)mode);
    }
    int64_t operands = offsets ? 1 : 0, last = 0;
    if (factors) {
        operands |= 4;
        factors = ig_aten_cast(call, factors, IG_DT_f32);
    }
    if (offsets && ig_aten_bool(call, LAST)) {
        last = IG_LAST_offset;
    }
    int64_t pool = pools[mode], padding = padding_of(call, weight);
    int64_t empty = IG_EMPTY_zero;
    ig_bag_attrs attrs = { .operands = { &operands, 1 },
                           .pool = { &pool, 1 },
                           .padding = { &padding, 1 },
                           .last = { &last, 1 },
                           .empty = { &empty, 1 },
                           .negative = IG_NEGATIVE_error };
    ig_value *all[4] = { weight, ids };
    uint32_t count = 2;
    if (offsets) {
        all[count++] = offsets;
    }
    if (factors) {
        all[count++] = factors;
    }
    return ig_build_bag(call->e, all, count, attrs);
}

/* embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
 * per_sample_weights, include_last_offset[, padding_idx]); variant 1: padding_idx may
 * be negative.  Of its four results only the first is ever read. */
ig_status ig_ts_op_embedding_bag(ig_ts_call *call) {
    ig_value *weight = ig_aten_tensor(call, WEIGHT), *ids = ig_aten_tensor(call, IDS);
    ig_value *offsets = ig_aten_tensor(call, OFFSETS);
    IG_TRY(call->e->status);
    if (ids->type->rank != 1) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "ids of rank %u", ids->type->rank);
    }
    ig_value *value = build_bag(call, weight, ids, offsets);
    if (value && weight->type->dtype == IG_DT_f64) {
        value = ig_aten_cast(call, value, IG_DT_f64);
    }
    IG_TRY(ig_aten_give(call, value));
    ig_dim zero = ig_dim_of(0);
    for (uint32_t k = 1; k < call->result_count; k++) {
        ig_value *none = ig_expr_fill(call->e, IG_DT_i64, 1, &zero, 0);
        IG_TRY(ig_ts_give(call, k, none));
    }
    return IG_OK;
}
