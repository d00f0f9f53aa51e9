/* Products, distances and differences that are made of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/view.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- products ---- */

/* tensordot(self, other, dims_self, dims_other): those axes summed */
ig_status ig_ts_op_tensordot(ig_ts_call *call) {
    ig_value *values[2] = { ig_aten_tensor(call, 0), ig_aten_tensor(call, 1) };
    ig_dim dims[2 * IG_TENSOR_RANK], summed = ig_dim_of(1);
    uint32_t count[2], rank = 0;
    const int64_t *axes[2] = { ig_aten_ints(call, 2, 0, &count[0]),
                               ig_aten_ints(call, 3, 0, &count[1]) };
    IG_TRY(call->e->status);
    if (count[0] != count[1]) {
        return ig_ts_fail(call, IG_INVALID,
                          "dims_self names %u axes and dims_other %u, expected as many",
                          count[0], count[1]);
    }
    for (uint32_t side = 0; side < 2; side++) {
        int64_t perm[IG_TENSOR_RANK];
        uint32_t own = values[side]->type->rank, next = side ? count[1] : 0,
                 first = rank;
        uint64_t seen = 0;
        if (count[side] > own) {
            return ig_ts_fail(call, IG_INVALID, "axes do not fit rank %u", own);
        }
        uint32_t at = side ? 0 : own - count[0];
        summed = ig_dim_of(1);
        for (uint32_t i = 0; i < count[side]; i++) {
            int64_t axis = axes[side][i] + (axes[side][i] < 0 ? own : 0);
            if (axis < 0 || axis >= own || seen >> axis & 1) {
                return ig_ts_fail(call, IG_INVALID, "axes do not fit rank %u", own);
            }
            seen |= (uint64_t)1 << axis;
            perm[at + i] = axis;
            summed = ig_dim_mul(call->module, summed,
                                ig_expr_extent(call->e, values[side], (uint32_t)axis));
        }
        for (uint32_t i = 0; i < own; i++) {
            if (!(seen >> i & 1)) {
                perm[next++] = i;
                dims[rank++] = ig_expr_extent(call->e, values[side], i);
            }
        }
        ig_dim kept = ig_dim_product(call->module, dims + first, rank - first);
        ig_dim matrix[] = { side ? summed : kept, side ? kept : summed };
        values[side] = ig_expr_transpose(call->e, values[side], perm);
        values[side] = ig_expr_reshape(call->e, values[side], 2, matrix);
    }
    if (rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT, "the result has rank %u, expected at most %d",
                          rank, IG_TENSOR_RANK);
    }
    ig_value *value = ig_expr_matmul(call->e, values[0], values[1]);
    return ig_aten_give(call, ig_expr_reshape(call->e, value, rank, dims));
}

/* kron(self, other): [a0, 1, a1, 1 …] times [1, b0, 1, b1 …] */
ig_status ig_ts_op_kron(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    ig_value *x = ig_aten_operand(call, 0, dtype), *y = ig_aten_operand(call, 1, dtype);
    if (!x || !y) {
        return call->e->status;
    }
    uint32_t rank = x->type->rank > y->type->rank ? x->type->rank : y->type->rank;
    ig_dim left[IG_TENSOR_RANK], right[IG_TENSOR_RANK], dims[IG_TENSOR_RANK];
    if (2 * rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT, "operands have rank %u, expected at most %d",
                          rank, IG_TENSOR_RANK / 2);
    }
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t a = i + x->type->rank, b = i + y->type->rank;
        left[2 * i] = a < rank ? ig_dim_of(1) : ig_expr_extent(call->e, x, a - rank);
        right[2 * i + 1] = b < rank ? ig_dim_of(1)
                                    : ig_expr_extent(call->e, y, b - rank);
        left[2 * i + 1] = right[2 * i] = ig_dim_of(1);
        dims[i] = ig_dim_mul(call->module, left[2 * i], right[2 * i + 1]);
    }
    x = ig_expr_reshape(call->e, x, 2 * rank, left);
    y = ig_expr_reshape(call->e, y, 2 * rank, right);
    x = ig_expr_map2(call->e, dtype == IG_DT_bool ? IG_OP_and : IG_OP_mul, x, y);
    return ig_aten_give(call, ig_expr_reshape(call->e, x, rank, dims));
}

/* x[i + 1] y[i + 2] - x[i + 2] y[i + 1] along an axis of three; cross(self, other,
 * dim): None is the first axis of three; variant 1, linalg_cross: dim is known */
ig_status ig_ts_op_cross(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    ig_value *x = ig_aten_operand(call, 0, dtype), *y = ig_aten_operand(call, 1, dtype);
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0, axis = 0;
    if (!x || !y || !ig_expr_broadcast_dims(call->e, x->type, dims, &rank) ||
        !ig_expr_broadcast_dims(call->e, y->type, dims, &rank)) {
        return call->e->status;
    }
    if (!ig_ts_is_none(call, 2)) {
        axis = ig_aten_axis(call, 2, rank);
    } else {
        while (axis < rank && !ig_dim_is(dims[axis], 3)) {
            axis++;
        }
    }
    if (axis >= rank || ig_dim_equal(call->module, dims[axis], ig_dim_of(3)) == IG_NO) {
        return ig_ts_fail(call, IG_INVALID, "no axis of three elements");
    }
    ig_value *parts[3];
    x = ig_expr_expand(call->e, x, rank, dims);
    y = ig_expr_expand(call->e, y, rank, dims);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        ig_value *plus = ig_build_mul(
            call->e, ig_expr_slice(call->e, x, axis, ig_dim_of(j), ig_dim_of(1), 1),
            ig_expr_slice(call->e, y, axis, ig_dim_of(k), ig_dim_of(1), 1));
        ig_value *minus = ig_build_mul(
            call->e, ig_expr_slice(call->e, x, axis, ig_dim_of(k), ig_dim_of(1), 1),
            ig_expr_slice(call->e, y, axis, ig_dim_of(j), ig_dim_of(1), 1));
        parts[i] = ig_build_sub(call->e, plus, minus);
    }
    return ig_aten_give(call, ig_expr_concat(call->e, axis, parts, 3));
}

/* chain_matmul(matrices), linalg_multi_dot(tensors): from the left */
ig_status ig_ts_op_multi_dot(ig_ts_call *call) {
    uint32_t count;
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID,
                          "multiplies 0 matrices, expected 1 or more");
    }
    for (uint32_t i = 1; i < count; i++) {
        values[0] = ig_expr_matmul(call->e, values[0], values[i]);
    }
    return ig_aten_give(call, values[0]);
}

/* matrix_power(self, n) for n >= 0, by squares */
ig_status ig_ts_op_matrix_power(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *all = NULL;
    int64_t n = ig_aten_int(call, 1);
    IG_TRY(call->e->status);
    if (n < 0 || x->type->rank < 2) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "power %lld of a matrix", (long long)n);
    }
    uint32_t rank = x->type->rank;
    if (n == 0) {
        ig_dim size = ig_expr_extent(call->e, x, rank - 1);
        ig_value *eye = ig_build_eq(call->e, ig_expr_axis_iota(call->e, 2, 0, size),
                                    ig_expr_axis_iota(call->e, 2, 1, size));
        eye = ig_aten_cast(call, eye, (ig_dtype)x->type->dtype);
        return ig_aten_give(call, ig_expr_expand(call->e, eye, rank, x->type->dims));
    }
    for (; n; n >>= 1) {
        if (n & 1) {
            all = all ? ig_expr_matmul(call->e, all, x) : x;
        }
        x = n > 1 ? ig_expr_matmul(call->e, x, x) : x;
    }
    return ig_aten_give(call, all);
}

/* vecdot(x, y, dim) */
ig_status ig_ts_op_vecdot(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_build_mul(e, ig_aten_tensor(call, 0), ig_aten_tensor(call, 1));
    IG_TRY(e->status);
    uint32_t axis = ig_aten_axis(call, 2, x->type->rank);
    return ig_aten_give(call, ig_expr_reduce_axis(e, IG_REDUCE_sum, x, axis, false));
}

/* bilinear(input1, input2, weight [O, I, J], bias) */
ig_status ig_ts_op_bilinear(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    ig_value *weight = ig_aten_tensor(call, 2), *bias = ig_aten_optional(call, 3);
    IG_TRY(call->e->status);
    uint32_t rank = x->type->rank;
    /* [..., 1, 1, I] [O, I, J] -> [..., O, 1, J], times y, summed over J. */
    x = ig_expr_unsqueeze(call->e, ig_expr_unsqueeze(call->e, x, rank - 1), rank - 1);
    y = ig_expr_unsqueeze(call->e, ig_expr_unsqueeze(call->e, y, rank - 1), rank - 1);
    x = ig_expr_matmul(call->e, x, weight);
    x = ig_build_mul(call->e, x, y);
    x = ig_expr_reduce_axis(call->e, IG_REDUCE_sum, x, rank + 1, false);
    x = x ? ig_expr_squeeze(call->e, x, rank) : NULL;
    return ig_aten_give(call, bias ? ig_build_add(call->e, x, bias) : x);
}

/* ---- distances ---- */

/* p-norm over one axis. */
static ig_value *norm_along(ig_ts_call *call, ig_value *x, double p, uint32_t axis,
                            bool keep) {
    assert((!x || axis < x->type->rank) && "the caller has checked the axis");
    if (p == 2) {
        return ig_expr_reduce_axis(call->e, IG_REDUCE_l2, x, axis, keep);
    }
    x = ig_build_abs(call->e, x);
    if (p == 1) {
        return ig_expr_reduce_axis(call->e, IG_REDUCE_sum, x, axis, keep);
    }
    if (isinf(p)) {
        return ig_expr_reduce_axis(call->e, p > 0 ? IG_REDUCE_max : IG_REDUCE_min, x,
                                   axis, keep);
    }
    if (p == 0) {
        ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
        ig_value *there = ig_aten_cast(call, ig_expr_with(call->e, IG_OP_ne, x, 0),
                                       dtype);
        return ig_expr_reduce_axis(call->e, IG_REDUCE_sum, there, axis, keep);
    }
    x = ig_expr_reduce_axis(call->e, IG_REDUCE_sum,
                            ig_expr_with(call->e, IG_OP_pow, x, p), axis, keep);
    return ig_expr_with(call->e, IG_OP_pow, x, 1 / p);
}

/* cdist(x1 [..., P, M], x2 [..., R, M], p, …) -> [..., P, R] */
ig_status ig_ts_op_cdist(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    double p = ig_aten_float(call, 2);
    IG_TRY(call->e->status);
    x = ig_expr_unsqueeze(call->e, x, x->type->rank - 1);
    y = ig_expr_unsqueeze(call->e, y, y->type->rank - 2);
    ig_value *gap = ig_build_sub(call->e, x, y);
    IG_TRY(call->e->status);
    return ig_aten_give(call, norm_along(call, gap, p, gap->type->rank - 1, false));
}

/* pairwise_distance(x1, x2, p, eps, keepdim) */
ig_status ig_ts_op_pairwise_distance(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *gap = ig_build_sub(e, ig_aten_tensor(call, 0), ig_aten_tensor(call, 1));
    gap = ig_expr_with(e, IG_OP_add, ig_expr_to_float(e, gap), ig_aten_float(call, 3));
    IG_TRY(e->status);
    if (gap->type->rank == 0) {
        return ig_ts_fail(call, IG_INVALID,
                          "x1 and x2 have rank 0, expected 1 or more");
    }
    return ig_aten_give(call, norm_along(call, gap, ig_aten_float(call, 2),
                                         gap->type->rank - 1, ig_aten_bool(call, 4)));
}

/* dist(self, other, p): of all elements */
ig_status ig_ts_op_dist(ig_ts_call *call) {
    ig_value *gap = ig_build_sub(call->e, ig_aten_tensor(call, 0),
                                 ig_aten_tensor(call, 1));
    gap = ig_expr_flatten(call->e, gap);
    return ig_aten_give(call, norm_along(call, gap, ig_aten_float(call, 2), 0, false));
}

/* cosine_similarity(x1, x2, dim, eps): each norm at least eps */
ig_status ig_ts_op_cosine_similarity(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    ig_value *x = ig_aten_wide(call, ig_aten_operand(call, 0, dtype));
    ig_value *y = ig_aten_wide(call, ig_aten_operand(call, 1, dtype));
    double eps = ig_aten_float(call, 3);
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    if (!x || !y || !ig_expr_broadcast_dims(call->e, x->type, dims, &rank) ||
        !ig_expr_broadcast_dims(call->e, y->type, dims, &rank)) {
        return call->e->status;
    }
    x = ig_expr_expand(call->e, x, rank, dims);
    y = ig_expr_expand(call->e, y, rank, dims);
    uint32_t axis = ig_aten_axis(call, 2, rank);
    ig_value *a = ig_expr_reduce_axis(call->e, IG_REDUCE_l2, x, axis, true);
    ig_value *b = ig_expr_reduce_axis(call->e, IG_REDUCE_l2, y, axis, true);
    x = ig_build_div(call->e, x, ig_expr_with(call->e, IG_OP_max, a, eps));
    y = ig_build_div(call->e, y, ig_expr_with(call->e, IG_OP_max, b, eps));
    x = ig_build_mul(call->e, x, y);
    x = ig_expr_reduce_axis(call->e, IG_REDUCE_sum, x, axis, false);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

/* renorm(self, p, dim, maxnorm): slices whose norm is larger are scaled down */
ig_status ig_ts_op_renorm(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0);
    double p = ig_aten_float(call, 1), max = ig_aten_float(call, 3);
    IG_TRY(e->status);
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 2, x->type->rank, &axis)) {
        return e->status;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_dim flat[] = { ig_expr_extent(e, x, axis),
                      ig_dim_exact_div(call->module,
                                       ig_type_count(call->module, x->type),
                                       ig_expr_extent(e, x, axis)) };
    ig_dim along[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->type->rank; i++) {
        along[i] = i == axis ? ig_expr_extent(e, x, axis) : ig_dim_of(1);
    }
    ig_value *rows = ig_expr_reshape(e, ig_expr_move_axis(e, x, axis, 0), 2, flat);
    ig_value *norm = norm_along(call, ig_aten_wide(call, rows), p, 1, false);
    ig_value *factor = ig_expr_number_with(e, IG_OP_div, max,
                                           ig_expr_with(e, IG_OP_add, norm, 1e-7));
    IG_TRY(e->status);
    ig_value *one = ig_expr_number(e, (ig_dtype)factor->type->dtype, 1);
    factor = ig_build_where(e, ig_expr_with(e, IG_OP_gt, norm, max), factor, one);
    factor = ig_expr_reshape(e, factor, x->type->rank, along);
    factor = ig_build_mul(e, ig_aten_wide(call, x), factor);
    return ig_aten_give(call, ig_aten_cast(call, factor, dtype));
}

/* ---- differences along an axis ---- */

static ig_value *subtract_pairs(ig_expr *e, ig_value *x, uint32_t axis) {
    assert(axis < x->type->rank && "the caller has checked the axis");
    ig_dim less = ig_dim_sub(e->module, ig_expr_extent(e, x, axis), ig_dim_of(1));
    less = ig_dim_max(e->module, less, ig_dim_of(0));
    ig_value *next = ig_expr_slice(
        e, x, axis, ig_dim_of(ig_dim_is(ig_expr_extent(e, x, axis), 0) ? 0 : 1), less,
        1);
    ig_value *here = ig_expr_slice(e, x, axis, ig_dim_of(0), less, 1);
    ig_opcode code = x->type->dtype == IG_DT_bool ? IG_OP_xor : IG_OP_sub;
    return ig_expr_map2(e, code, next, here);
}

/* diff(self, n, dim, prepend, append) */
ig_status ig_ts_op_diff(ig_ts_call *call) {
    ig_value *parts[3];
    uint32_t count = 0;
    ig_value *before = ig_aten_optional(call, 3), *x = ig_aten_tensor(call, 0);
    ig_value *after = ig_aten_optional(call, 4);
    int64_t times = ig_aten_int(call, 1);
    IG_TRY(call->e->status);
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 2, x->type->rank, &axis)) {
        return call->e->status;
    }
    if (times == 0) {
        return ig_aten_give(call, x);
    }
    if (before) {
        parts[count++] = before;
    }
    parts[count++] = x;
    if (after) {
        parts[count++] = after;
    }
    x = ig_expr_concat(call->e, axis, parts, count);
    for (int64_t i = 0; x && i < times; i++) {
        x = subtract_pairs(call->e, x, axis);
    }
    return ig_aten_give(call, x);
}

/* Widths between the points of argument 1, shaped to broadcast against y: a vector is
 * along the axis. */
static ig_value *widths_of(ig_ts_call *call, const ig_value *y, uint32_t axis) {
    ig_value *x = ig_aten_tensor(call, 1);
    if (!x) {
        return NULL;
    }
    if (x->type->rank == 1) {
        x = ig_expr_along(call->e, x, axis, y->type->rank);
    }
    for (uint32_t i = x ? x->type->rank : 0; x && i < y->type->rank; i++) {
        x = ig_expr_unsqueeze(call->e, x, 0);
    }
    return subtract_pairs(call->e, x, axis);
}

/* Neighbours along the axis, added. */
static ig_value *add_pairs(ig_expr *e, ig_value *y, uint32_t axis) {
    ig_dim extent = ig_expr_extent(e, y, axis), one = ig_dim_of(1), zero = ig_dim_of(0);
    ig_dim less = ig_dim_max(e->module, ig_dim_sub(e->module, extent, one), zero);
    ig_dim second = ig_dim_min(e->module, extent, one);
    return ig_build_add(e, ig_expr_slice(e, y, axis, second, less, 1),
                        ig_expr_slice(e, y, axis, zero, less, 1));
}

/* The sum of y less half of its ends, which are as many as there are. */
static ig_value *sum_inside(ig_ts_call *call, ig_value *y, uint32_t axis) {
    ig_expr *e = call->e;
    ig_dim extent = ig_expr_extent(e, y, axis),
           some = ig_dim_min(e->module, extent, ig_dim_of(1));
    ig_dim last = ig_dim_sub(e->module, extent, some);
    ig_value *ends = ig_build_add(e, ig_expr_slice(e, y, axis, ig_dim_of(0), some, 1),
                                  ig_expr_slice(e, y, axis, last, some, 1));
    ends = ig_expr_reduce_axis(e, IG_REDUCE_sum, ends, axis, false);
    ends = ig_expr_with(e, IG_OP_mul, ig_expr_to_float(e, ends), 0.5);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, ig_aten_sum_dtype(call, y),
                                        axis, false);
    return ig_build_sub(e, ig_expr_to_float(e, sum), ends);
}

/* trapezoid(y, x, dim) (IG_ATEN_BY_POINTS), trapezoid(y, dx, dim); IG_ATEN_RUNNING:
 * running sums.  Integers are added and multiplied in their own dtype, as in torch. */
ig_status ig_ts_op_trapezoid(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *y = ig_aten_tensor(call, 0), *sum;
    IG_TRY(e->status);
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 2, y->type->rank, &axis)) {
        return e->status;
    }
    bool is_running = call->row->variant & IG_ATEN_RUNNING;
    bool has_points = call->row->variant & IG_ATEN_BY_POINTS;
    if (has_points) {
        sum = ig_aten_combine(call, IG_OP_mul, add_pairs(e, y, axis),
                              widths_of(call, y, axis));
        sum = ig_aten_sum_dtype(call, sum);
        sum = is_running ? sum
                         : ig_expr_reduce_axis(e, IG_REDUCE_sum, sum, axis, false);
    } else {
        sum = is_running ? ig_expr_to_float(e, add_pairs(e, y, axis))
                         : sum_inside(call, y, axis);
        ig_dtype dtype = sum ? (ig_dtype)sum->type->dtype : IG_DT_f32;
        sum = ig_build_mul(e, sum, ig_aten_operand(call, 1, dtype));
    }
    if (is_running) {
        sum = ig_build_cumsum(e, sum, (ig_cumsum_attrs){ .axis = axis });
    }
    sum = ig_expr_to_float(e, sum);
    return ig_aten_give(
        call, has_points || is_running ? ig_expr_with(e, IG_OP_div, sum, 2) : sum);
}

/* ---- covariance ---- */

static ig_value *covariance_of(ig_expr *e, ig_value *x, double correction) {
    if (x && x->type->rank < 2) {
        x = ig_expr_unsqueeze(e, ig_expr_flatten(e, x), 0);
    }
    if (!x) {
        return NULL;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *gap = ig_build_sub(e, x,
                                 ig_expr_reduce_axis(e, IG_REDUCE_mean, x, 1, true));
    ig_value *product = ig_expr_matmul(e, gap, gap ? ig_expr_swap(e, gap, 0, 1) : NULL);
    ig_value *count = ig_expr_dim(e, ig_expr_extent(e, x, 1), dtype);
    count = ig_expr_with(e, IG_OP_max, ig_expr_with(e, IG_OP_sub, count, correction),
                         0);
    return ig_build_div(e, product, count);
}

static ig_status give_square(ig_ts_call *call, ig_value *x) {
    bool is_one = x && ig_dim_is(ig_expr_extent(call->e, x, 0), 1);
    return ig_aten_give(call, is_one ? ig_expr_reshape(call->e, x, 0, NULL) : x);
}

/* cov(self, *, correction, fweights, aweights) */
ig_status ig_ts_op_cov(ig_ts_call *call) {
    if (!ig_ts_is_none(call, 2) || !ig_ts_is_none(call, 3)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "weighted covariance");
    }
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    return give_square(call, covariance_of(call->e, x, ig_aten_float(call, 1)));
}

ig_status ig_ts_op_corrcoef(ig_ts_call *call) {
    ig_value *c = covariance_of(call->e,
                                ig_expr_to_float(call->e, ig_aten_tensor(call, 0)), 1);
    if (!c) {
        return call->e->status;
    }
    ig_value *spread = ig_build_sqrt(call->e, ig_aten_diagonal(call, c, 0, 0, 1));
    c = ig_build_div(call->e, c, ig_expr_unsqueeze(call->e, spread, 1));
    c = ig_build_div(call->e, c, spread);
    c = ig_expr_with(call->e, IG_OP_min, ig_expr_with(call->e, IG_OP_max, c, -1), 1);
    return give_square(call, c);
}
