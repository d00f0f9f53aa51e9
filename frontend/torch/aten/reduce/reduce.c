/* Reductions, moments, norms and running sums.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Variants tell the forms of one name: FULL has no axes, DIM one axis or a list. */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/complex.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

enum { FULL, DIM };

/* Axes to reduce as the row has them. */
typedef struct over {
    const int64_t *axes;
    uint32_t count;
    bool keep;
} over;

/* Of arguments `dim` (a list or an int; None and [] give all) and `dim` + 1,
 * keepdim. */
static over read_over(ig_ts_call *call, const ig_value *x, uint32_t dim) {
    assert(dim + 1 < call->arg_count && "keepdim is the argument after dim");
    over o = { 0 };
    if (x) {
        o.axes = ig_aten_axes(call, dim, x->type->rank, true, &o.count);
        o.keep = ig_aten_bool(call, dim + 1);
    }
    return o;
}

static over read_form(ig_ts_call *call, const ig_value *x) {
    return call->row->variant == FULL ? (over){ 0 } : read_over(call, x, 1);
}

static ig_value *reduce_axes(ig_expr *e, ig_reduce kind, ig_value *x, const over *o) {
    return ig_expr_reduce(e, kind, x, o->axes, o->count, o->keep);
}

/* ---- sums ---- */

/* Operand 0 in the dtype argument's dtype, else in that of a sum. */
static ig_value *as_summed(ig_ts_call *call, uint32_t dtype_arg) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && !ig_ts_is_none(call, dtype_arg)) {
        return ig_aten_cast(call, x, ig_aten_dtype(call, dtype_arg, IG_DT_f32));
    }
    return ig_aten_sum_dtype(call, x);
}

ig_status ig_ts_op_sum(ig_ts_call *call) {
    if (ig_aten_is_complex(call, 0, 1)) {
        return ig_aten_complex_sum(call, false);
    }
    ig_value *x = as_summed(call, call->row->variant == FULL ? 1 : 3);
    over o = read_form(call, x);
    return ig_aten_give(call, reduce_axes(call->e, IG_REDUCE_sum, x, &o));
}

ig_status ig_ts_op_prod(ig_ts_call *call) {
    ig_value *x = as_summed(call, call->row->variant == FULL ? 1 : 3);
    over o = read_form(call, x);
    return ig_aten_give(call, reduce_axes(call->e, IG_REDUCE_prod, x, &o));
}

ig_status ig_ts_op_mean(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_mean);
    }
    if (ig_aten_is_complex(call, 0, 1)) {
        return ig_aten_complex_sum(call, true);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    uint32_t dtype_arg = call->row->variant == FULL ? 1 : 3;
    if (x && !ig_ts_is_none(call, dtype_arg)) {
        x = ig_aten_cast(call, x, ig_aten_dtype(call, dtype_arg, IG_DT_f32));
    }
    if (x && !ig_expr_is_float(x)) {
        return ig_ts_fail(call, IG_INVALID, "the mean of integers has no dtype");
    }
    over o = read_form(call, x);
    return ig_aten_give(call, reduce_axes(call->e, IG_REDUCE_mean, x, &o));
}

/* NaN counts as nothing. */
static ig_value *without_nan(ig_expr *e, ig_value *x) {
    if (!x || !ig_expr_is_float(x)) {
        return x;
    }
    ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
    return ig_build_where(e, ig_build_isnan(e, x), zero, x);
}

ig_status ig_ts_op_nansum(ig_ts_call *call) {
    ig_value *x = without_nan(call->e, as_summed(call, 3));
    over o = read_over(call, x, 1);
    return ig_aten_give(call, reduce_axes(call->e, IG_REDUCE_sum, x, &o));
}

ig_status ig_ts_op_nanmean(ig_ts_call *call) {
    ig_value *x = as_summed(call, 3);
    over o = read_over(call, x, 1);
    ig_value *there = x && ig_expr_is_float(x)
                          ? ig_build_not(call->e, ig_build_isnan(call->e, x))
                          : NULL;
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    ig_value *count = reduce_axes(call->e, IG_REDUCE_sum,
                                  ig_aten_cast(call, there, IG_DT_i64), &o);
    x = reduce_axes(call->e, IG_REDUCE_sum, ig_aten_wide(call, without_nan(call->e, x)),
                    &o);
    if (!x) {
        return call->e->status;
    }
    count = ig_aten_cast(call, count, (ig_dtype)x->type->dtype);
    x = ig_build_div(call->e, x, count);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

static ig_value *is_true(ig_ts_call *call, ig_value *x) {
    return ig_aten_cast(call, x, IG_DT_bool);
}

/* DIM: an axis or a list of axes. */
ig_status ig_ts_op_count_nonzero(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, is_true(call, ig_aten_tensor(call, 0)), IG_DT_i64);
    over o = { 0 };
    if (x) {
        o.axes = ig_aten_axes(call, 1, x->type->rank, true, &o.count);
    }
    return ig_aten_give(call, reduce_axes(call->e, IG_REDUCE_sum, x, &o));
}

/* any: max; all: min.  Bytes stay bytes. */
static ig_status truth_of(ig_ts_call *call, ig_reduce kind) {
    ig_value *x = ig_aten_tensor(call, 0);
    bool is_bytes = x && x->type->dtype == IG_DT_u8;
    over o = read_form(call, x);
    x = reduce_axes(call->e, kind, is_true(call, x), &o);
    return ig_aten_give(call, is_bytes ? ig_aten_cast(call, x, IG_DT_u8) : x);
}

ig_status ig_ts_op_any(ig_ts_call *call) {
    return truth_of(call, IG_REDUCE_max);
}

ig_status ig_ts_op_all(ig_ts_call *call) {
    return truth_of(call, IG_REDUCE_min);
}

/* ---- extremes ---- */

/* Torch refuses an axis without elements, also where there are no results. */
static void guard_elements(ig_expr *e, const ig_value *x, const over *o) {
    if (!x || x->type->rank == 0) {
        return;
    }
    ig_dim count = o->axes ? ig_dim_of(1) : ig_type_count(e->module, x->type);
    for (uint32_t i = 0; o->axes && i < o->count; i++) {
        count = ig_dim_mul(e->module, count, x->type->dims[o->axes[i]]);
    }
    ig_expr_guard_less_equal(e, ig_dim_of(1), count,
                             "there is no largest or smallest of no elements");
}

static ig_value *find_extreme(ig_expr *e, ig_reduce kind, ig_value *x, const over *o) {
    guard_elements(e, x, o);
    return reduce_axes(e, kind, x, o);
}

ig_status ig_ts_op_max_all(ig_ts_call *call) {
    over o = { 0 };
    ig_reduce kind = (ig_reduce)call->row->variant;
    return ig_aten_give(call, find_extreme(call->e, kind, ig_aten_tensor(call, 0), &o));
}

ig_status ig_ts_op_amax(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    over o = read_over(call, x, 1);
    return ig_aten_give(call,
                        find_extreme(call->e, (ig_reduce)call->row->variant, x, &o));
}

ig_status ig_ts_op_aminmax(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    over o = { 0 };
    int64_t axis = 0;
    if (x && !ig_ts_is_none(call, 1)) {
        axis = ig_aten_axis(call, 1, x->type->rank);
        o.axes = &axis;
        o.count = 1;
    }
    o.keep = ig_aten_bool(call, 2);
    return ig_aten_give2(call, find_extreme(call->e, IG_REDUCE_min, x, &o),
                         find_extreme(call->e, IG_REDUCE_max, x, &o));
}

static ig_value *arg_reduce(ig_expr *e, ig_reduce kind, ig_value *x, uint32_t axis,
                            bool keep) {
    ig_arg_reduce_attrs attrs = {
        .op = kind == IG_REDUCE_max ? IG_EXTREME_max : IG_EXTREME_min,
        .axis = axis,
        .keep = keep,
    };
    int64_t along = axis;
    guard_elements(e, x, &(over){ .axes = &along, .count = 1 });
    return ig_build_arg_reduce(e, x, attrs);
}

/* Values and indices along one axis. */
ig_status ig_ts_op_max_dim(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_reduce kind = (ig_reduce)call->row->variant;
    if (!x) {
        return call->e->status;
    }
    if (x->type->rank == 0) {
        ig_aten_axis(call, 1, 0);
        return ig_aten_give2(call, x, ig_expr_integer(call->e, IG_DT_i64, 0));
    }
    uint32_t axis = ig_aten_axis(call, 1, x->type->rank);
    bool keep = ig_aten_bool(call, 2);
    return ig_aten_give2(call, ig_expr_reduce_axis(call->e, kind, x, axis, keep),
                         arg_reduce(call->e, kind, x, axis, keep));
}

ig_status ig_ts_op_arg_max(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_reduce kind = (ig_reduce)call->row->variant;
    bool keep = ig_aten_bool(call, 2);
    if (!x) {
        return call->e->status;
    }
    if (!ig_ts_is_none(call, 1) && x->type->rank > 0) {
        uint32_t axis = ig_aten_axis(call, 1, x->type->rank);
        return ig_aten_give(call, arg_reduce(call->e, kind, x, axis, keep));
    }
    ig_dim ones[IG_TENSOR_RANK];
    uint32_t rank = keep ? x->type->rank : 0;
    for (uint32_t i = 0; i < rank; i++) {
        ones[i] = ig_dim_of(1);
    }
    ig_value *index = arg_reduce(call->e, kind, ig_expr_flatten(call->e, x), 0, false);
    return ig_aten_give(call, ig_expr_reshape(call->e, index, rank, ones));
}

/* ---- moments ---- */

/* Number of elements reduced, less `correction` and not below 0, as a number. */
static ig_value *divisor_of(ig_expr *e, const ig_value *x, const over *o,
                            double correction) {
    assert((o->count <= x->type->rank || x->type->rank == 0) &&
           "an axis is reduced once");
    ig_dim count = o->axes ? ig_dim_of(1) : ig_type_count(e->module, x->type);
    for (uint32_t i = 0; o->axes && i < o->count && x->type->rank > 0; i++) {
        count = ig_dim_mul(e->module, count,
                           ig_expr_extent(e, x, (uint32_t)o->axes[i]));
    }
    ig_value *number = ig_expr_dim(e, count, (ig_dtype)x->type->dtype);
    number = ig_expr_with(e, IG_OP_sub, number, correction);
    return ig_expr_with(e, IG_OP_max, number, 0);
}

static ig_value *variance_of(ig_expr *e, ig_value *x, const over *o,
                             double correction) {
    over kept = { o->axes, o->count, true };
    ig_value *mean = reduce_axes(e, IG_REDUCE_mean, x, &kept);
    ig_value *gap = ig_build_sub(e, x, mean);
    ig_value *sum = reduce_axes(e, IG_REDUCE_sumsq, gap, o);
    return x ? ig_build_div(e, sum, divisor_of(e, x, o, correction)) : NULL;
}

/* var, std, var_mean, std_mean; variant: the form, and the addend */
ig_status ig_ts_op_variance(ig_ts_call *call) {
    int form = call->row->variant & IG_ATEN_MOMENT_FORM;
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && !ig_expr_is_float(x)) {
        return ig_ts_fail(call, IG_INVALID, "the variance of integers has no dtype");
    }
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    over o = { 0 };
    double correction = 1;
    x = ig_aten_wide(call, x);
    if (x && form != IG_ATEN_UNBIASED) {
        o.axes = ig_aten_axes(call, 1, x->type->rank, true, &o.count);
        o.keep = ig_aten_bool(call, 3);
    }
    if (form == IG_ATEN_CORRECTION) {
        correction = ig_aten_float_or(call, 2, 1);
    } else {
        correction = ig_aten_bool(call, form == IG_ATEN_UNBIASED ? 1 : 2);
    }
    ig_value *result = variance_of(call->e, x, &o, correction);
    if (call->row->variant & IG_ATEN_WITH_ROOT) {
        result = ig_build_sqrt(call->e, result);
    }
    result = ig_aten_cast(call, result, dtype);
    if (!(call->row->variant & IG_ATEN_WITH_MEAN)) {
        return ig_aten_give(call, result);
    }
    ig_value *mean = reduce_axes(call->e, IG_REDUCE_mean, x, &o);
    return ig_aten_give2(call, result, ig_aten_cast(call, mean, dtype));
}

/* ---- norms ---- */

static ig_value *p_norm(ig_ts_call *call, ig_value *x, double p, const over *o) {
    if (p == 2) {
        return reduce_axes(call->e, IG_REDUCE_l2, x, o);
    }
    if (p == 1) {
        return reduce_axes(call->e, IG_REDUCE_l1, x, o);
    }
    ig_value *size = ig_build_abs(call->e, x);
    if (isinf(p)) {
        return reduce_axes(call->e, p > 0 ? IG_REDUCE_max : IG_REDUCE_min, size, o);
    }
    if (p == 0) {
        ig_value *there = ig_expr_with(call->e, IG_OP_ne, x, 0);
        there = x ? ig_aten_cast(call, there, (ig_dtype)x->type->dtype) : NULL;
        return reduce_axes(call->e, IG_REDUCE_sum, there, o);
    }
    size = ig_expr_with(call->e, IG_OP_pow, size, p);
    size = reduce_axes(call->e, IG_REDUCE_sum, size, o);
    return ig_expr_with(call->e, IG_OP_pow, size, 1 / p);
}

/* norm(self, p), norm(self, p, dim, keepdim), the same with dtype after it. */
enum { NORM, NORM_DTYPE, NORM_DIM, NORM_DIM_DTYPE };

ig_status ig_ts_op_norm(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    double p = ig_aten_float_or(call, 1, 2);
    int form = call->row->variant;
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    if (form == NORM_DTYPE || form == NORM_DIM_DTYPE) {
        dtype = ig_aten_dtype(call, form == NORM_DTYPE ? 2 : 4, dtype);
        x = ig_aten_cast(call, x, dtype);
    }
    over o = form >= NORM_DIM ? read_over(call, x, 2) : (over){ 0 };
    x = p_norm(call, ig_aten_wide(call, x), p, &o);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

/* frobenius_norm.dim(self, dim, keepdim) */
ig_status ig_ts_op_frobenius_norm(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    over o = read_over(call, x, 1);
    return ig_aten_give(call, p_norm(call, x, 2, &o));
}

/* linalg_vector_norm(self, ord, dim, keepdim, dtype) */
ig_status ig_ts_op_vector_norm(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    dtype = ig_aten_dtype(call, 4, dtype);
    over o = read_over(call, x, 2);
    x = ig_aten_wide(call, ig_aten_cast(call, x, dtype));
    x = p_norm(call, x, ig_aten_float_or(call, 1, 2), &o);
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

/* Largest (smallest for p < 0) sum of |x| over columns (p = ±1) or rows (±inf). */
static ig_value *matrix_norm(ig_expr *e, ig_value *x, double p, over o) {
    if (o.count != 2) {
        return ig_expr_fail(e, IG_INVALID, "a matrix norm takes two axes");
    }
    if (fabs(p) != 1 && !isinf(p)) {
        return ig_expr_fail(e, IG_UNSUPPORTED, "matrix norm of order %g", p);
    }
    int64_t summed = o.axes[isinf(p) ? 1 : 0], left = o.axes[isinf(p) ? 0 : 1];
    ig_value *sums = ig_expr_reduce_axis(e, IG_REDUCE_l1, x, (uint32_t)summed, true);
    sums = ig_expr_reduce_axis(e, p > 0 ? IG_REDUCE_max : IG_REDUCE_min, sums,
                               (uint32_t)left, true);
    if (o.keep || !sums) {
        return sums;
    }
    uint32_t high = (uint32_t)(summed > left ? summed : left);
    sums = ig_expr_squeeze(e, sums, high);
    return ig_expr_squeeze(e, sums, (uint32_t)(summed < left ? summed : left));
}

/* The axes as they were given, unsorted: rows, then columns. */
static over given_axes(ig_ts_call *call, const ig_value *x, uint32_t dim) {
    assert(dim + 1 < call->arg_count && "keepdim is the argument after dim");
    over o = { .keep = ig_aten_bool(call, dim + 1) };
    uint32_t count;
    const int64_t *given = ig_aten_ints(call, dim, 0, &count);
    int64_t *axes = IG_NEW_ARRAY(call->arena, int64_t, count + 1u);
    uint64_t seen = 0;
    for (uint32_t i = 0; x && i < count; i++) {
        axes[i] = given[i] < 0 ? given[i] + x->type->rank : given[i];
        if (axes[i] < 0 || axes[i] >= x->type->rank) {
            ig_expr_fail(call->e, IG_INVALID, "axis %lld is outside of rank %u",
                         (long long)given[i], x->type->rank);
            return o;
        }
        if (seen >> axes[i] & 1) {
            ig_expr_fail(call->e, IG_INVALID, "axis %lld is given twice",
                         (long long)axes[i]);
            return o;
        }
        seen |= (uint64_t)1 << axes[i];
    }
    o.axes = axes;
    o.count = count;
    return o;
}

/* linalg_norm(self, ord, dim, keepdim, dtype); variant 1: ord is a string;
 * variant 2: linalg_matrix_norm, whose axes have a default. */
ig_status ig_ts_op_linalg_norm(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    dtype = ig_aten_dtype(call, 4, dtype);
    x = ig_aten_wide(call, ig_aten_cast(call, x, dtype));
    bool by_name = call->args[1].kind == IG_TS_STR;
    if (by_name && !ig_str_is(ig_aten_str(call, 1), "fro")) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "norm '%.*s'",
                          IG_STR_ARG(ig_aten_str(call, 1)));
    }
    bool is_plain = ig_ts_is_none(call, 1) || by_name;
    over o = ig_ts_is_none(call, 2) ? read_over(call, x, 2) : given_axes(call, x, 2);
    IG_TRY(call->e->status);
    bool is_matrix = call->row->variant == 2 || o.count == 2;
    if (is_plain || !is_matrix) {
        x = p_norm(call, x, is_plain ? 2 : ig_aten_float(call, 1), &o);
    } else {
        x = matrix_norm(call->e, x, ig_aten_float(call, 1), o);
    }
    return ig_aten_give(call, ig_aten_cast(call, x, dtype));
}

/* log(sum(exp(x))), shifted by the largest finite value. */
ig_status ig_ts_op_logsumexp(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    ig_dtype dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    over o = read_over(call, x, 1);
    over kept = { o.axes, o.count, true };
    x = ig_aten_wide(call, x);
    if (!x) {
        return call->e->status;
    }
    ig_value *max = reduce_axes(call->e, IG_REDUCE_max, x, &kept);
    ig_value *zero = ig_expr_number(call->e, (ig_dtype)x->type->dtype, 0);
    max = ig_build_where(call->e, ig_expr_map1(call->e, IG_OP_isinf, max), zero, max);
    ig_value *sum = ig_build_exp(call->e, ig_build_sub(call->e, x, max));
    sum = ig_build_log(call->e, reduce_axes(call->e, IG_REDUCE_sum, sum, &o));
    if (sum) {
        max = ig_expr_reshape(call->e, max, sum->type->rank, sum->type->dims);
    }
    sum = ig_build_add(call->e, sum, max);
    return ig_aten_give(call, ig_aten_cast(call, sum, dtype));
}

/* ---- running ---- */

static ig_value *as_before(ig_expr *e, ig_value *x, const ig_type *type) {
    return ig_expr_reshape(e, x, type->rank, type->dims);
}

ig_status ig_ts_op_cumsum(ig_ts_call *call) {
    ig_value *x = as_summed(call, 2);
    if (!x) {
        return call->e->status;
    }
    const ig_type *type = x->type;
    uint32_t axis = ig_aten_axis(call, 1, type->rank);
    x = ig_build_cumsum(call->e, ig_aten_vector(call->e, x),
                        (ig_cumsum_attrs){ .axis = axis });
    return ig_aten_give(call, as_before(call->e, x, type));
}

/* variant: the op of `cumulate`; prod has a dtype argument */
ig_status ig_ts_op_cumulate(ig_ts_call *call) {
    bool is_product = call->row->variant == IG_CUMULATE_prod;
    ig_value *x = is_product ? as_summed(call, 2)
                             : ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    if (!x) {
        return call->e->status;
    }
    const ig_type *type = x->type;
    uint32_t axis = ig_aten_axis(call, 1, type->rank);
    x = ig_build_cumulate(
        call->e, ig_aten_vector(call->e, x),
        (ig_cumulate_attrs){ .op = call->row->variant, .axis = axis });
    return ig_aten_give(call, as_before(call->e, x, type));
}

/* cummax, cummin: values and indices.  variant: the op of `cumulate` */
ig_status ig_ts_op_cumulate_pair(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    const ig_type *type = x->type;
    bool is_max = call->row->variant == IG_CUMULATE_max;
    int64_t axis = ig_aten_axis(call, 1, type->rank);
    ig_cumulate_attrs running = { .op = call->row->variant, .axis = axis };
    ig_cumulate_index_attrs at = { .op = is_max ? IG_EXTREME_max : IG_EXTREME_min,
                                   .axis = axis };
    x = ig_aten_vector(call->e, x);
    ig_value *values = ig_build_cumulate(call->e, x, running);
    ig_value *indices = ig_build_cumulate_index(call->e, x, at);
    ig_value *shaped = as_before(call->e, values, type);
    return ig_aten_give2(call, shaped, as_before(call->e, indices, type));
}
