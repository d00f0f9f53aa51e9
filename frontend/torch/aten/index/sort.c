/* Order: sort, topk, quantiles, unique, search.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

static ig_value *as_type(ig_expr *e, ig_value *x, const ig_type *type) {
    return ig_expr_reshape(e, x, type->rank, type->dims);
}

/* Values of x sorted along an axis, and their indices in x. */
static bool sort_axis(ig_expr *e, ig_value *x, uint32_t axis, bool descending,
                      ig_value **out) {
    ig_sort_attrs attrs = { .axis = axis, .descending = descending };
    return ig_expr_results(ig_build_sort(e, ig_aten_vector(e, x), attrs), out);
}

/* sort(self, dim, descending), sort.stable(self, *, stable, dim, descending); variant:
 * IG_ATEN_SORT_* */
ig_status ig_ts_op_sort(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *sorted[2];
    uint32_t at = (uint32_t)call->row->variant & IG_ATEN_SORT_DIM, axis = 0;
    bool descending = false;
    if (!x) {
        return call->e->status;
    }
    if (at) {
        axis = ig_aten_axis(call, at, x->type->rank);
        descending = ig_aten_bool(call, at + 1);
    }
    if (!sort_axis(call->e, x, axis, descending, sorted)) {
        return call->e->status;
    }
    ig_value *values = as_type(call->e, sorted[0], x->type);
    ig_value *indices = as_type(call->e, sorted[1], x->type);
    if (call->row->variant & IG_ATEN_SORT_INDICES) {
        return ig_aten_give(call, indices);
    }
    return call->row->variant & IG_ATEN_SORT_VALUES
               ? ig_aten_give(call, values)
               : ig_aten_give2(call, values, indices);
}

/* topk(self, k, dim, largest, sorted) */
ig_status ig_ts_op_topk(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *found[2];
    ig_dim k = ig_aten_dim(call, 1);
    if (!x) {
        return call->e->status;
    }
    uint32_t rank = x->type->rank;
    ig_topk_attrs attrs = { .axis = ig_aten_axis(call, 2, rank),
                            .k = IG_SET(k),
                            .smallest = !ig_aten_bool(call, 3) };
    if (!ig_expr_results(
            ig_build_topk(call->e, ig_aten_vector(call->e, x), NULL, attrs), found)) {
        return call->e->status;
    }
    for (uint32_t i = 0; rank == 0 && i < 2; i++) {
        found[i] = ig_expr_reshape(call->e, found[i], 0, NULL);
    }
    return ig_aten_give2(call, found[0], found[1]);
}

/* One position of the sorted axis: the value and its index in x. */
static ig_status give_position(ig_ts_call *call, ig_value *x, uint32_t axis,
                               ig_value *position, bool keep) {
    ig_value *sorted[2], *found[2] = { NULL, NULL };
    uint32_t rank = x ? x->type->rank : 0;
    if (!x || !sort_axis(call->e, x, axis, false, sorted)) {
        return call->e->status;
    }
    for (uint32_t i = 0; i < 2; i++) {
        found[i] = ig_expr_gather(call->e, sorted[i], position, axis, IG_NEGATIVE_wrap);
        if (keep && rank) {
            found[i] = ig_expr_unsqueeze(call->e, found[i], axis);
        }
    }
    return ig_aten_give2(call, found[0], found[1]);
}

/* kthvalue(self, k, dim, keepdim) */
ig_status ig_ts_op_kthvalue(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_dim k = ig_aten_dim(call, 1);
    if (!x) {
        return call->e->status;
    }
    ig_value *position = ig_expr_dim(call->e, ig_dim_sub(call->module, k, ig_dim_of(1)),
                                     IG_DT_i64);
    return give_position(call, x, ig_aten_axis(call, 2, x->type->rank), position,
                         ig_aten_bool(call, 3));
}

/* NaN is largest in order: a row with one gives NaN when asked for the last, and the
 * median of it is NaN. */
static ig_value *median_position(ig_expr *e, ig_value *x, uint32_t axis) {
    ig_module *module = e->module;
    ig_dim extent = x->type->rank ? ig_expr_extent(e, x, axis) : ig_dim_of(1);
    ig_dim middle = ig_dim_floor_div(module, ig_dim_sub(module, extent, ig_dim_of(1)),
                                     ig_dim_of(2));
    return ig_expr_dim(e, middle, IG_DT_i64);
}

/* Positions that may differ from row to row: [.., 1 on the axis, ..]. */
static ig_status give_positions(ig_ts_call *call, ig_value *x, uint32_t axis,
                                ig_value *positions, bool keep, bool has_index) {
    ig_value *sorted[2], *found[2];
    uint32_t rank = x->type->rank;
    if (!sort_axis(call->e, x, axis, false, sorted)) {
        return call->e->status;
    }
    for (uint32_t i = 0; i < 2; i++) {
        found[i] = ig_build_gather_elements(call->e, sorted[i], positions,
                                            (ig_gather_elements_attrs){ .axis = axis });
        if (!keep || rank == 0) {
            found[i] = ig_expr_squeeze(call->e, found[i], axis);
        }
    }
    return has_index ? ig_aten_give2(call, found[0], found[1])
                     : ig_aten_give(call, found[0]);
}

/* median and nanmedian (IG_ATEN_SKIP_NAN) of all elements, or of an axis
 * (IG_ATEN_BY_AXIS) */
ig_status ig_ts_op_median(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    bool by_axis = (call->row->variant & IG_ATEN_BY_AXIS) != 0;
    bool skips = (call->row->variant & IG_ATEN_SKIP_NAN) != 0;
    if (!x) {
        return call->e->status;
    }
    uint32_t axis = by_axis ? ig_aten_axis(call, 1, x->type->rank) : 0;
    bool keep = by_axis && ig_aten_bool(call, 2);
    bool was_number = x->type->rank == 0;
    x = by_axis ? ig_aten_vector(call->e, x) : ig_expr_flatten(call->e, x);
    if (!x) {
        return call->e->status;
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->type->rank; i++) {
        dims[i] = i == axis ? ig_dim_of(1) : ig_expr_extent(call->e, x, i);
    }
    ig_value *position = ig_expr_expand(call->e, median_position(call->e, x, axis),
                                        x->type->rank, dims);
    if (ig_expr_is_float(x)) {
        ig_value *odd = ig_aten_cast(call, ig_build_isnan(call->e, x), IG_DT_i64);
        odd = ig_expr_reduce_axis(call->e, IG_REDUCE_sum, odd, axis, true);
        ig_dim last = ig_dim_sub(call->module, ig_expr_extent(call->e, x, axis),
                                 ig_dim_of(1));
        ig_value *end = ig_expr_dim(call->e, last, IG_DT_i64);
        if (skips) { /* (values - 1) / 2, at least 0 */
            position = ig_build_sub(call->e, end, odd);
            position = ig_expr_with(call->e, IG_OP_max, position, 0);
            position = ig_expr_with(call->e, IG_OP_div, position, 2);
        } else { /* the first NaN */
            ig_value *first = ig_build_sub(call->e, end, odd);
            first = ig_expr_with(call->e, IG_OP_add, first, 1);
            position = ig_build_where(call->e, ig_expr_with(call->e, IG_OP_gt, odd, 0),
                                      first, position);
        }
    }
    IG_TRY(call->e->status);
    return give_positions(call, x, axis, position, keep && !was_number, by_axis);
}

/* ---- quantiles ---- */

/* Neighbours of rank q (n - 1) and how far between them, by the interpolation asked. */
static ig_value *interpolate_ranks(ig_expr *e, ig_str how, ig_value *low,
                                   ig_value *high, ig_value *weight) {
    if (ig_str_is(how, "lower")) {
        return low;
    }
    if (ig_str_is(how, "higher")) {
        return high;
    }
    if (ig_str_is(how, "midpoint")) {
        weight = ig_build_where(e, ig_expr_with(e, IG_OP_gt, weight, 0),
                                ig_expr_number(e, (ig_dtype)low->type->dtype, 0.5),
                                weight);
    } else if (!ig_str_is(how, "linear")) {
        return ig_expr_fail(e, IG_UNSUPPORTED, "interpolation '%.*s'", IG_STR_ARG(how));
    }
    ig_value *way = ig_build_sub(e, high, low);
    return ig_build_add(e, low, ig_build_mul(e, weight, way));
}

/* quantile(self, q, dim, keepdim, interpolation); variant 1: nanquantile */
ig_status ig_ts_op_quantile(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *sorted[2];
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *q = ig_aten_operand(call, 1, dtype);
    bool is_flat = ig_ts_is_none(call, 2), keep = ig_aten_bool(call, 3);
    uint32_t rank = x->type->rank, axis = is_flat ? 0 : ig_aten_axis(call, 2, rank);
    x = is_flat ? ig_expr_flatten(call->e, x) : ig_aten_vector(call->e, x);
    if (!x || !q || !sort_axis(call->e, x, axis, false, sorted)) {
        return call->e->status;
    }
    uint32_t wide = x->type->rank, q_rank = q->type->rank;
    ig_value *row = ig_expr_move_axis(call->e, sorted[0], axis, wide - 1);
    ig_value *there = ig_build_not(call->e, ig_build_isnan(call->e, row));
    ig_value *count = ig_expr_reduce_axis(
        call->e, IG_REDUCE_sum, ig_aten_cast(call, there, dtype), wide - 1, true);
    ig_value *all = ig_expr_dim(call->e, ig_expr_extent(call->e, x, axis), dtype);
    ig_value *has_nan = ig_build_lt(call->e, count, all);
    ig_value *last = ig_expr_with(call->e, IG_OP_sub, count, 1);
    last = ig_expr_with(call->e, IG_OP_max, last, 0);
    ig_value *rank_of = ig_build_mul(call->e, last, ig_aten_vector(call->e, q));
    ig_str how = ig_aten_str(call, 4);
    if (ig_str_is(how, "nearest")) {
        rank_of = ig_build_round(call->e, rank_of);
        how = ig_str_of("lower");
    }
    ig_value *below = ig_build_floor(call->e, rank_of);
    ig_value *above = ig_aten_cast(call, ig_build_ceil(call->e, rank_of), IG_DT_i64);
    ig_value *weight = ig_build_sub(call->e, rank_of, below);
    ig_value *low =
        ig_build_gather_elements(call->e, row, ig_aten_cast(call, below, IG_DT_i64),
                                 (ig_gather_elements_attrs){ .axis = wide - 1 });
    ig_value *high = ig_build_gather_elements(
        call->e, row, above, (ig_gather_elements_attrs){ .axis = wide - 1 });
    IG_TRY(call->e->status);
    ig_value *value = interpolate_ranks(call->e, how, low, high, weight);
    ig_value *nan = ig_expr_number(call->e, dtype, (double)NAN);
    if (call->row->variant == 0) {
        value = ig_build_where(call->e, has_nan, nan, value);
    } else {
        ig_value *none = ig_expr_with(call->e, IG_OP_eq, count, 0);
        value = ig_build_where(call->e, none, nan, value);
    }
    IG_TRY(call->e->status);
    /* [rest…, q] -> [q, rest…] with the axis kept as 1, or q gone. */
    value = ig_expr_move_axis(call->e, value, wide - 1, 0);
    if (keep) {
        ig_dim dims[IG_TENSOR_RANK + 1];
        uint32_t next = 0;
        if (rank == IG_TENSOR_RANK) {
            return ig_ts_fail(call, IG_LIMIT,
                              "the result has rank %u, expected at most %d", rank + 1,
                              IG_TENSOR_RANK);
        }
        dims[next++] = ig_expr_extent(call->e, value, 0);
        for (uint32_t i = 0, from = 1; i < rank; i++) {
            dims[next++] = is_flat || i == axis
                               ? ig_dim_of(1)
                               : ig_expr_extent(call->e, value, from++);
        }
        value = ig_expr_reshape(call->e, value, next, dims);
    }
    return ig_aten_give(call, q_rank ? value : ig_expr_squeeze(call->e, value, 0));
}

/* ---- unique ---- */

/* values[, inverse[, counts]], with nothing where one is not asked for. */
static ig_status give_unique(ig_ts_call *call, ig_value **found, const ig_type *shape,
                             bool has_inverse, bool has_counts) {
    assert(found[0] && "the op has been built");
    assert(call->result_count >= 2 && "values and inverse");
    ig_dim zero = ig_dim_of(0);
    ig_value *none = ig_expr_fill(call->e, IG_DT_i64, 1, &zero, 0);
    ig_value *inverse = none;
    if (has_inverse) {
        inverse = shape ? ig_expr_reshape(call->e, found[2], shape->rank, shape->dims)
                        : found[2];
    }
    IG_TRY(ig_aten_give2(call, found[0], inverse));
    return call->result_count > 2 ? ig_ts_give(call, 2, has_counts ? found[3] : none)
                                  : IG_OK;
}

/* _unique(self, sorted, return_inverse), _unique2(…, return_counts): variant 0;
 * unique_dim(self, dim, sorted, return_inverse, return_counts): 1;
 * unique_consecutive(self, return_inverse, return_counts, dim): 2;
 * unique_dim_consecutive(self, dim, return_inverse, return_counts): 3 */
ig_status ig_ts_op_unique(ig_ts_call *call) {
    static const struct {
        uint32_t dim, inverse; /* arguments; dim 0: none */
    } forms[] = { { 0, 2 }, { 1, 3 }, { 3, 1 }, { 1, 2 } };
    int form = call->row->variant;
    ig_value *x = ig_aten_tensor(call, 0), *found[4];
    if (!x) {
        return call->e->status;
    }
    bool by_axis = forms[form].dim && !ig_ts_is_none(call, forms[form].dim);
    bool has_inverse = ig_aten_bool(call, forms[form].inverse);
    bool has_counts = call->arg_count > forms[form].inverse + 1 &&
                      ig_aten_bool(call, forms[form].inverse + 1);
    ig_unique_attrs attrs = { .order = form >= 2 ? IG_UNIQUE_runs : IG_UNIQUE_sorted };
    const ig_type *shape = by_axis ? NULL : x->type;
    if (by_axis) {
        attrs.axis.is_set = true;
        attrs.axis.value = ig_aten_axis(call, forms[form].dim, x->type->rank);
        x = ig_aten_vector(call->e, x);
    } else {
        x = ig_expr_flatten(call->e, x);
    }
    if (!ig_expr_results(ig_build_unique(call->e, x, attrs), found)) {
        return call->e->status;
    }
    return give_unique(call, found, shape, has_inverse, has_counts);
}

/* ---- search ---- */

static ig_status give_search(ig_ts_call *call, ig_value *values, ig_value *boundaries,
                             bool right, bool narrow) {
    if (!values || !boundaries) {
        return call->e->status;
    }
    ig_dtype dtype = ig_ts_promote((ig_dtype)values->type->dtype,
                                   (ig_dtype)boundaries->type->dtype);
    ig_value *value = ig_build_bucketize(call->e, ig_aten_cast(call, values, dtype),
                                         ig_aten_cast(call, boundaries, dtype),
                                         (ig_bucketize_attrs){ .right = right });
    return ig_aten_give(call,
                        ig_aten_cast(call, value, narrow ? IG_DT_i32 : IG_DT_i64));
}

/* A tensor argument, or a number in the other's dtype. */
static ig_value *read_searched(ig_ts_call *call, uint32_t index,
                               const ig_value *other) {
    assert(index < call->arg_count && "the schema has no such argument");
    if (call->args[index].kind == IG_TS_TENSOR) {
        return ig_aten_tensor(call, index);
    }
    bool is_whole = call->args[index].kind == IG_TS_INT;
    bool is_float = other && (ig_expr_is_float(other) || !is_whole);
    return ig_aten_operand(call, index,
                           !is_float || !other       ? IG_DT_i64
                           : ig_expr_is_float(other) ? (ig_dtype)other->type->dtype
                                                     : IG_DT_f32);
}

/* bucketize(self, boundaries, *, out_int32, right) */
ig_status ig_ts_op_bucketize(ig_ts_call *call) {
    ig_value *boundaries = ig_aten_tensor(call, 1);
    ig_value *values = read_searched(call, 0, boundaries);
    return give_search(call, values, boundaries, ig_aten_bool(call, 3),
                       ig_aten_bool(call, 2));
}

/* searchsorted(sorted_sequence, self, *, out_int32, right, side, sorter) */
ig_status ig_ts_op_searchsorted(ig_ts_call *call) {
    ig_value *boundaries = ig_aten_tensor(call, 0);
    ig_value *values = read_searched(call, 1, boundaries);
    ig_value *sorter = ig_aten_optional(call, 5);
    bool right = ig_aten_bool(call, 3);
    if (!ig_ts_is_none(call, 4)) {
        right = right || ig_str_is(ig_aten_str(call, 4), "right");
    }
    if (sorter && boundaries) {
        boundaries = ig_build_gather_elements(
            call->e, boundaries, sorter,
            (ig_gather_elements_attrs){ .axis = boundaries->type->rank - 1 });
    }
    return give_search(call, values, boundaries, right, ig_aten_bool(call, 2));
}

/* isin(elements, test_elements, *, assume_unique, invert): any equal */
ig_status ig_ts_op_isin(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    ig_value *x = ig_aten_operand(call, 0, dtype);
    ig_value *tests = ig_expr_flatten(call->e, ig_aten_operand(call, 1, dtype));
    if (!x || !tests) {
        return call->e->status;
    }
    ig_value *column = ig_expr_unsqueeze(call->e, x, x->type->rank);
    ig_value *same = ig_build_eq(call->e, column, tests);
    same = ig_expr_reduce_axis(call->e, IG_REDUCE_max, same, x->type->rank, false);
    return ig_aten_give(call,
                        ig_aten_bool(call, 3) ? ig_build_not(call->e, same) : same);
}

/* ---- the most frequent ---- */

/* Of sorted values: how often each occurs; a NaN, which equals nothing, once. */
static ig_value *count_equal(ig_expr *e, ig_value *sorted) {
    uint32_t rank = sorted->type->rank;
    ig_value *same = ig_build_eq(e, ig_expr_unsqueeze(e, sorted, rank),
                                 ig_expr_unsqueeze(e, sorted, rank - 1));
    int64_t last = rank;
    ig_value *count = ig_expr_reduce(e, IG_REDUCE_sum, ig_expr_cast(e, same, IG_DT_i64),
                                     &last, 1, false);
    return ig_expr_with_integer(e, IG_OP_max, count, 1);
}

/* mode(self, dim, keepdim): the smallest of the most frequent values, and where it
 * occurs last */
ig_status ig_ts_op_mode(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *first, *max;
    uint32_t axis;
    bool keep = ig_aten_bool(call, 2);
    IG_TRY(call->e->status);
    if (!ig_aten_axis_of_many(call, 1, x->type->rank, &axis)) {
        return call->e->status;
    }
    uint32_t last = x->type->rank - 1;
    x = ig_expr_move_axis(call->e, x, axis, last);
    ig_ts_value sorted[2], picked[2];
    ig_ts_value args[] = { ig_ts_tensor_value(call, x), ig_ts_of_int(-1),
                           ig_ts_of_bool(false) };
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_invoke(call, "aten::sort", args, 3, sorted, 2));
    args[0] = ig_ts_tensor_value(call,
                                 count_equal(call->e, ig_ts_read(call, &sorted[0])));
    args[2] = ig_ts_of_bool(true);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_invoke(call, "aten::max", args, 3, picked, 2));
    max = ig_ts_read(call, &picked[0]);
    first = ig_ts_read(call, &picked[1]);
    ig_value *at = ig_expr_with_integer(call->e, IG_OP_sub,
                                        ig_build_add(call->e, first, max), 1);
    for (uint32_t i = 0; i < 2; i++) {
        ig_ts_value take[] = { sorted[i], ig_ts_of_int(-1),
                               ig_ts_tensor_value(call, at) };
        IG_TRY(call->e->status);
        IG_TRY(ig_ts_invoke(call, "aten::gather", take, 3, &picked[i], 1));
        ig_value *y = ig_expr_move_axis(call->e, ig_ts_read(call, &picked[i]), last,
                                        axis);
        y = keep ? y : ig_expr_squeeze(call->e, y, axis);
        IG_TRY(call->e->status);
        IG_TRY(ig_ts_give(call, i, y));
    }
    return IG_OK;
}
