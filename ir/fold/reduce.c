/* reduce: sums, means, extremes, products and norms over some axes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each kind is a row: the start, a step an element and a finish, over a state of one
 * wide value.  The start is what reducing nothing gives, but for mean (NaN) and for
 * integer extremes, whose start depends on the dtype.  Floats are kept in double and
 * rounded once, but that a total that f32 does not hold is infinite; integers wrap.
 * logsumexp goes through the elements twice.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

/* ---- floats ---- */

typedef struct float_row {
    double start;
    double (*step)(double total, double x);
    double (*finish)(double total, double count);
} float_row;

static double step_sum(double total, double x) {
    return total + x;
}
static double step_max(double total, double x) {
    return x > total || isnan(x) ? x : total;
}
static double step_min(double total, double x) {
    return x < total || isnan(x) ? x : total;
}
static double step_product(double total, double x) {
    return total * x;
}
static double step_square(double total, double x) {
    return total + x * x;
}
static double step_abs(double total, double x) {
    return total + fabs(x);
}
static double finish_plain(double total, double count) {
    (void)count;
    return total;
}
static double finish_mean(double total, double count) {
    return total / count;
}
static double finish_root(double total, double count) {
    (void)count;
    return sqrt(total);
}
static double finish_log(double total, double count) {
    (void)count;
    return log(total);
}

static const float_row float_rows[] = {
    [IG_REDUCE_sum] = { 0, step_sum, finish_plain },
    [IG_REDUCE_mean] = { 0, step_sum, finish_mean },
    [IG_REDUCE_max] = { -INFINITY, step_max, finish_plain },
    [IG_REDUCE_min] = { INFINITY, step_min, finish_plain },
    [IG_REDUCE_prod] = { 1, step_product, finish_plain },
    [IG_REDUCE_sumsq] = { 0, step_square, finish_plain },
    [IG_REDUCE_l1] = { 0, step_abs, finish_plain },
    [IG_REDUCE_l2] = { 0, step_square, finish_root },
    [IG_REDUCE_logsum] = { 0, step_sum, finish_log },
    [IG_REDUCE_logsumexp] = { -INFINITY, step_max, finish_plain },
};

/* ---- integers ---- */

typedef struct int_row {
    int64_t start;
    int64_t (*step)(int64_t total, int64_t x);
} int_row;

static int64_t int_sum(int64_t total, int64_t x) {
    return (int64_t)((uint64_t)total + (uint64_t)x);
}
static int64_t int_product(int64_t total, int64_t x) {
    return (int64_t)((uint64_t)total * (uint64_t)x);
}
static int64_t int_square(int64_t total, int64_t x) {
    return int_sum(total, int_product(x, x));
}
static int64_t int_abs(int64_t total, int64_t x) {
    return int_sum(total, x < 0 ? (int64_t)(0 - (uint64_t)x) : x);
}
static int64_t int_max(int64_t total, int64_t x) {
    return x > total ? x : total;
}
static int64_t int_min(int64_t total, int64_t x) {
    return x < total ? x : total;
}
static int64_t uint_max(int64_t total, int64_t x) {
    return (uint64_t)x > (uint64_t)total ? x : total;
}
static int64_t uint_min(int64_t total, int64_t x) {
    return (uint64_t)x < (uint64_t)total ? x : total;
}

/* Reductions missing here (means, roots, logarithms) are computed in double. */
static const int_row sint_rows[IG_REDUCE_logsumexp + 1] = {
    [IG_REDUCE_sum] = { 0, int_sum },      [IG_REDUCE_prod] = { 1, int_product },
    [IG_REDUCE_sumsq] = { 0, int_square }, [IG_REDUCE_l1] = { 0, int_abs },
    [IG_REDUCE_max] = { 0, int_max },      [IG_REDUCE_min] = { 0, int_min },
};
static const int_row uint_rows[IG_REDUCE_logsumexp + 1] = {
    [IG_REDUCE_sum] = { 0, int_sum },      [IG_REDUCE_prod] = { 1, int_product },
    [IG_REDUCE_sumsq] = { 0, int_square }, [IG_REDUCE_l1] = { 0, int_sum },
    [IG_REDUCE_max] = { 0, uint_max },     [IG_REDUCE_min] = { 0, uint_min },
};

/* The ends of the dtype's range: the least value for max, the largest for min. */
static int64_t extreme_start(ig_dtype dtype, ig_reduce kind) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_SINT) {
        int64_t max = (int64_t)(UINT64_MAX >> (65 - info->bits));
        return kind == IG_REDUCE_max ? -max - 1 : max;
    }
    uint64_t max = info->class == IG_BOOL ? 1 : UINT64_MAX >> (64 - info->bits);
    return kind == IG_REDUCE_max ? 0 : (int64_t)max;
}

/* ---- one output ---- */

typedef struct reduction {
    ig_reduce kind;
    const ig_tensor *x;
    uint32_t rank; /* of the reduced axes */
    int64_t dims[IG_TENSOR_RANK], strides[IG_TENSOR_RANK];
    int64_t count;
    bool gives_zero; /* the mean of nothing, where that is 0 */
} reduction;

static void start_walk(const reduction *r, int64_t at, ig_walk *walk) {
    *walk = (ig_walk){ .operand_count = 1, .strides = { r->strides }, .at = { at } };
    ig_walk_start(walk, r->rank, r->dims);
}

/* log(sum(exp(x))) with the largest element taken out, so that nothing overflows. */
static double log_sum_exp(const reduction *r, int64_t at, double largest) {
    double sum = 0, shift = isinf(largest) ? 0 : largest;
    ig_walk walk;
    for (start_walk(r, at, &walk); walk.is_inside; ig_walk_next(&walk)) {
        sum += exp(ig_tensor_get_f64(r->x, walk.at[0]) - shift);
    }
    return log(sum) + shift;
}

double ig_fold_sum(ig_dtype dtype, double total) {
    return dtype != IG_DT_f64 && isinf((float)total) ? (double)(float)total : total;
}

static double reduce_floats(const reduction *r, int64_t at) {
    const float_row *row = &float_rows[r->kind];
    double total = row->start;
    ig_walk walk;
    for (start_walk(r, at, &walk); walk.is_inside; ig_walk_next(&walk)) {
        total = isnan(total) ? total
                             : row->step(total, ig_tensor_get_f64(r->x, walk.at[0]));
    }
    if (r->kind == IG_REDUCE_logsumexp) {
        return log_sum_exp(r, at, total);
    }
    bool is_float = ig_dtype_is_float(r->x->dtype);
    return row->finish(is_float ? ig_fold_sum(r->x->dtype, total) : total,
                       (double)r->count);
}

static int64_t reduce_ints(const reduction *r, const int_row *row, int64_t at) {
    bool is_extreme = r->kind == IG_REDUCE_max || r->kind == IG_REDUCE_min;
    int64_t total = is_extreme ? extreme_start(r->x->dtype, r->kind) : row->start;
    ig_walk walk;
    for (start_walk(r, at, &walk); walk.is_inside; ig_walk_next(&walk)) {
        total = row->step(total, ig_tensor_get_i64(r->x, walk.at[0]));
    }
    return total;
}

static ig_status reduce_one(ig_eval *eval, const ig_op *op, const reduction *r,
                            int64_t at, ig_tensor *out, int64_t to) {
    ig_dtype_class class = ig_dtypes[r->x->dtype].class;
    const int_row *row = class == IG_SINT ? &sint_rows[r->kind] : &uint_rows[r->kind];
    if (r->gives_zero) {
        ig_tensor_set_f64(out, to, 0);
        return IG_OK;
    }
    if (class == IG_FLOAT || !row->step) {
        if (class != IG_FLOAT && r->kind == IG_REDUCE_mean && r->count == 0) {
            return FOLD_ERROR(eval, op,
                              "reduce: the mean of zero integers is not defined");
        }
        ig_tensor_set_f64(out, to, reduce_floats(r, at));
        return IG_OK;
    }
    ig_tensor_set_i64(out, to, reduce_ints(r, row, at));
    return IG_OK;
}

/* ---- axes ---- */

static ig_status read_axes(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           uint64_t *out_mask) {
    const ig_attr *attr = &op->attrs[IG_reduce_axes];
    bool by_operand = op->operand_count > 1, keep = ig_attr_int(op, IG_reduce_keep, 0);
    int64_t count = by_operand ? in[1]->count : attr->count;
    uint32_t rank = in[0]->rank;
    *out_mask = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = by_operand ? ig_tensor_get_i64(in[1], i) : attr->as.ints[i];
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank) {
            return FOLD_ERROR(eval, op, "axis %lld of %u is not there, or named twice",
                              (long long)axis, rank);
        }
        if (by_operand && !keep && (*out_mask >> axis & 1) &&
            op->results[0].type->rank + count == rank) {
            return FOLD_ERROR(eval, op, "axis %lld of %u is not there, or named twice",
                              (long long)axis, rank);
        }
        *out_mask |= (uint64_t)1 << axis;
    }
    if (count == 0 && !ig_attr_int(op, IG_reduce_noop_if_empty, 0)) {
        *out_mask = ~(uint64_t)0;
    }
    return IG_OK;
}

ig_status ig_fold_reduce(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0];
    reduction r = { .kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, IG_REDUCE_sum),
                    .x = x,
                    .count = 1 };
    bool keep = ig_attr_int(op, IG_reduce_keep, 0);
    int64_t own[IG_TENSOR_RANK], kept[IG_TENSOR_RANK], strides[IG_TENSOR_RANK];
    int64_t dims[IG_TENSOR_RANK], to = 0;
    uint32_t rank = 0, kept_rank = 0;
    uint64_t mask;
    IG_TRY(read_axes(eval, op, in, &mask));
    ig_strides_of(x->rank, x->dims, own);
    for (uint32_t i = 0; i < x->rank; i++) {
        bool is_reduced = mask >> i & 1;
        if (is_reduced) {
            r.dims[r.rank] = x->dims[i];
            r.strides[r.rank++] = own[i];
            r.count = x->count ? r.count * x->dims[i] : 0;
        } else {
            kept[kept_rank] = x->dims[i];
            strides[kept_rank++] = own[i];
        }
        if (keep || !is_reduced) {
            dims[rank++] = is_reduced ? 1 : x->dims[i];
        }
    }
    r.gives_zero = r.count == 0 && ig_attr_int(op, IG_reduce_empty_zero, 0);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, rank, dims, out));
    ig_walk walk = { .operand_count = 1, .strides = { strides } };
    for (ig_walk_start(&walk, kept_rank, kept); walk.is_inside; ig_walk_next(&walk)) {
        IG_TRY(reduce_one(eval, op, &r, walk.at[0], out, to++));
    }
    return IG_OK;
}
