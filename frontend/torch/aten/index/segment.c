/* segment_reduce: sums, products, means and extremes of the segments of one axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * After ATen's native/SegmentReduce.cpp, _segment_reduce_lengths_cpu_kernel1: `initial`
 * joins each segment; without it an empty one is the neutral element, the mean of none
 * NaN.
 */
#include "compose/rows/segments.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <math.h>
#include <string.h>

typedef struct kind {
    const char *name;
    ig_scatter reduce;
    double neutral;
} kind;

static const kind *find_kind(ig_ts_call *call, uint32_t index) {
    static const kind kinds[] = { { "sum", IG_SCATTER_add, 0 },
                                  { "mean", IG_SCATTER_add, 0 },
                                  { "prod", IG_SCATTER_mul, 1 },
                                  { "max", IG_SCATTER_max, -INFINITY },
                                  { "min", IG_SCATTER_min, INFINITY } };
    ig_str name = ig_aten_str(call, index);
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        if (ig_str_is(name, kinds[i].name)) {
            return &kinds[i];
        }
    }
    ig_expr_fail(call->e, IG_INVALID,
                 "reduce is '%.*s', expected sum, mean, prod, max or min",
                 IG_STR_ARG(name));
    return NULL;
}

/* The argument `lengths`, or the differences of `offsets`: i64 [..., segments]. */
static ig_value *read_lengths(ig_ts_call *call, uint32_t lengths, uint32_t offsets) {
    ig_value *given = ig_aten_optional(call, lengths);
    if (given) {
        return ig_aten_cast(call, given, IG_DT_i64);
    }
    given = ig_aten_cast(call, ig_aten_optional(call, offsets), IG_DT_i64);
    if (!given || given->type->rank == 0) {
        ig_expr_fail(call->e, IG_INVALID, "expected lengths or offsets");
        return NULL;
    }
    uint32_t last = given->type->rank - 1;
    ig_dim one = ig_dim_of(1);
    ig_dim segments = ig_dim_sub(call->module, ig_expr_extent(call->e, given, last),
                                 one);
    ig_value *ends = ig_expr_slice(call->e, given, last, one, segments, 1);
    ig_value *starts = ig_expr_slice(call->e, given, last, ig_dim_of(0), segments, 1);
    return ig_build_sub(call->e, ends, starts);
}

/* The run refuses negative lengths, and those that do not add up to the axis. */
static void check_lengths(ig_ts_call *call, ig_value *lengths, ig_dim extent) {
    ig_expr *e = call->e;
    uint32_t last = lengths->type->rank - 1;
    ig_value *sums = ig_expr_reduce_axis(e, IG_REDUCE_sum, lengths, last, false);
    ig_value *over = ig_build_sub(e, sums, ig_expr_dim(e, extent, IG_DT_i64));
    ig_value *below = ig_expr_with(e, IG_OP_min, lengths, 0);
    ig_value *parts[] = { ig_expr_flatten(e, ig_expr_map1(e, IG_OP_abs, over)),
                          ig_expr_flatten(e, ig_expr_map1(e, IG_OP_neg, below)) };
    ig_value *wrong = ig_expr_reduce(e, IG_REDUCE_sum, ig_expr_concat(e, 0, parts, 2),
                                     NULL, 0, false);
    if (!wrong) {
        return;
    }
    ig_dim count = ig_expr_symbol(e, "wrong",
                                  "elements outside of segment_reduce's segments");
    ig_dim one = ig_dim_of(1);
    (void)ig_build_bind(e, ig_expr_reshape(e, wrong, 1, &one),
                        (ig_bind_attrs){ .symbols = { &count, 1 } });
    ig_expr_guard_equal(e, count, ig_dim_of(0),
                        "lengths must be at least 0 and add up to the axis' extent");
}

/* Means of the segments from their sums; of none: `none`. */
static ig_value *divide_by_lengths(ig_ts_call *call, ig_value *sums, ig_value *lengths,
                                   double none) {
    ig_expr *e = call->e;
    if (!sums || !lengths) {
        return NULL;
    }
    ig_value *count = ig_expr_unsqueeze_to(e, lengths, sums->type->rank);
    ig_value *mean = ig_build_div(e, sums, ig_expr_like(e, count, sums));
    ig_value *is_empty = ig_expr_with(e, IG_OP_eq, count, 0);
    return ig_build_where(e, is_empty,
                          ig_expr_number(e, (ig_dtype)sums->type->dtype, none), mean);
}

/* segment_reduce(data, reduce, *, lengths, indices, offsets, axis, unsafe, initial) */
ig_status ig_ts_op_segment_reduce(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *data = ig_aten_tensor(call, 0);
    const kind *k = find_kind(call, 1);
    ig_value *lengths = read_lengths(call, 2, 4);
    if (!ig_ts_is_none(call, 3)) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "segments given by indices are not supported");
    }
    IG_TRY(e->status);
    ig_dtype dtype = (ig_dtype)data->type->dtype;
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 5, data->type->rank, &axis)) {
        return e->status;
    }
    if (!ig_dtype_is_float(dtype) || lengths->type->rank != axis + 1) {
        return ig_ts_fail(
            call, IG_INVALID,
            "axis %u of %s of rank %u cannot be cut by lengths of rank %u", axis,
            ig_dtypes[dtype].name, data->type->rank, lengths->type->rank);
    }
    for (uint32_t i = 0; i < axis; i++) {
        ig_expr_guard_equal(
            e, ig_expr_extent(e, data, i), ig_expr_extent(e, lengths, i),
            "data and lengths must have the same extents before the axis");
    }
    check_lengths(call, lengths, ig_expr_extent(e, data, axis));

    /* Rows of lengths add up to the axis, so all rows are one list of segments. */
    ig_value *rows = ig_expr_merge_axes(e, data, 0, axis);
    ig_value *each = ig_expr_flatten(e, lengths);
    ig_value *offsets = ig_compose_running_sum(e, each, IG_RUNNING_complete);
    IG_TRY(e->status);
    ig_value *at = ig_compose_segment_of(
        e, offsets, ig_expr_iota(e, IG_DT_i64, ig_expr_extent(e, rows, 0)));
    double initial = ig_aten_float_or(call, 7, k->neutral);
    ig_value *result = ig_compose_reduce_rows(e, rows, at, ig_expr_extent(e, each, 0),
                                              initial, k->reduce);
    if (strcmp(k->name, "mean") == 0) {
        result = divide_by_lengths(call, result, each, ig_aten_float_or(call, 7, NAN));
    }
    IG_TRY(e->status);
    ig_dim dims[IG_TENSOR_RANK];
    memcpy(dims, data->type->dims, data->type->rank * sizeof *dims);
    dims[axis] = ig_expr_extent(e, lengths, axis);
    result = ig_expr_reshape(e, result, data->type->rank, dims);
    return ig_aten_give(call, result);
}
