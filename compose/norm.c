/* Normalisations, and softmax and those over channels in simpler ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/norm.h"

#include "compose/decompose.h"

#include <assert.h>
#include <math.h>

/* ---- decompositions ---- */

static ig_dtype result_dtype(const ig_op *op) {
    return (ig_dtype)op->results[0].type->dtype;
}

/* x where it is not `what`, there `instead`. */
static ig_value *replace_number(ig_expr *e, ig_value *x, double what, double instead) {
    ig_value *is_it = ig_expr_with(e, IG_OP_eq, x, what);
    ig_value *other = ig_expr_number(e, (ig_dtype)x->type->dtype, instead);
    return ig_build_where(e, is_it, other, x);
}

/* exp(x - max) / sum; log: x - max - log(sum). */
bool ig_decompose_softmax(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *x = ig_expr_widen(e, op->operands[0].value);
    int64_t given = ig_attr_int(op, IG_softmax_axis, 0);
    uint32_t axis = (uint32_t)(given < 0 ? given + x->type->rank : given);
    bool is_empty_zero = ig_attr_int(op, IG_softmax_empty_zero, 0) != 0;
    ig_value *max = ig_expr_reduce_axis(e, IG_REDUCE_max, x, axis, true);
    max = is_empty_zero ? replace_number(e, max, -(double)INFINITY, 0) : max;
    x = ig_build_sub(e, x, max);
    ig_value *power = ig_build_exp(e, x);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, power, axis, true);
    sum = is_empty_zero ? replace_number(e, sum, 0, 1) : sum;
    bool is_log = ig_attr_int(op, IG_softmax_log, 0) != 0;
    x = is_log ? ig_build_sub(e, x, ig_build_log(e, sum)) : ig_build_div(e, power, sum);
    *out_results = ig_expr_cast(e, x, result_dtype(op));
    return true;
}

/* x * factor + shift, both [C]. */
static ig_value *scale_channels(ig_expr *e, ig_value *x, ig_value *factor,
                                ig_value *shift) {
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank - 1;
    factor = ig_expr_along(e, factor, 0, rank);
    shift = ig_expr_along(e, shift, 0, rank);
    return ig_build_add(e, ig_build_mul(e, x, factor), shift);
}

bool ig_decompose_batch_norm(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *in[5];
    for (uint32_t i = 0; i < 5; i++) {
        in[i] = ig_expr_widen(e, op->operands[i].value);
    }
    double epsilon = ig_attr_float(op, IG_batch_norm_epsilon, 0);
    ig_value *deviation = ig_build_sqrt(e, ig_expr_with(e, IG_OP_add, in[4], epsilon));
    ig_value *factor = ig_build_div(e, in[1], deviation);
    ig_value *shift = ig_build_sub(e, in[2], ig_build_mul(e, in[3], factor));
    ig_value *y = scale_channels(e, in[0], factor, shift);
    *out_results = ig_expr_cast(e, y, result_dtype(op));
    return true;
}

/* Each group is a row of a layer norm. */
bool ig_decompose_group_norm(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_module *module = e->module;
    const ig_type *type = op->operands[0].value->type;
    ig_dim groups = ig_dim_of(ig_attr_int(op, IG_group_norm_groups, 1));
    ig_dim own = ig_dim_exact_div(module, type->dims[1], groups);
    ig_dim rest = ig_dim_product(module, type->dims + 2, type->rank - 2u);
    ig_dim dims[3] = { type->dims[0], groups, ig_dim_mul(module, own, rest) };
    ig_layer_norm_attrs attrs = {
        .axis = 2, .epsilon = ig_attr_float(op, IG_group_norm_epsilon, 0)
    };
    assert(type->rank >= 2 && "group_norm has batch and channels");
    ig_value *x = ig_expr_widen(e, op->operands[0].value);
    x = ig_build_layer_norm(e, ig_expr_reshape(e, x, 3, dims), NULL, NULL, attrs);
    x = ig_expr_reshape(e, x, type->rank, type->dims);
    if (op->operand_count > 2) {
        ig_value *factor = ig_expr_widen(e, op->operands[1].value);
        ig_value *shift = ig_expr_widen(e, op->operands[2].value);
        x = scale_channels(e, x, factor, shift);
    }
    *out_results = ig_expr_cast(e, x, result_dtype(op));
    return true;
}

bool ig_decompose_group_norm_last(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_group_norm_attrs attrs = {
        .groups = ig_attr_int(op, IG_group_norm_last_groups, 1),
        .epsilon = ig_attr_float(op, IG_group_norm_last_epsilon, 0)
    };
    uint32_t last = op->results->type->rank - 1u;
    ig_value *x = ig_expr_move_axis(e, op->operands[0].value, last, 1);
    x = ig_build_group_norm(e, x, NULL, NULL, attrs);
    out_results[0] = ig_expr_move_axis(e, x, 1, last);
    return true;
}

/* ---- rows ---- */

/* Scale and bias in x's dtype; where one is given, so is the other: `dims` of 1 or 0.
 * How many there are: 0 or 2. */
static uint32_t read_factors(ig_expr *e, ig_value *x, const ig_norm *norm, ig_dims dims,
                             ig_value **out_factors) {
    if (!x || (!norm->scale && !norm->bias)) {
        return 0;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *given[] = { norm->scale, norm->bias };
    for (uint32_t i = 0; i < 2; i++) {
        out_factors[i] = given[i]
                             ? ig_expr_cast(e, given[i], dtype)
                             : ig_expr_fill(e, dtype, dims.count, dims.items, i == 0);
    }
    return 2;
}

ig_value *ig_compose_layer_norm(ig_expr *e, ig_value *x, uint32_t axis,
                                const ig_norm *norm) {
    ig_layer_norm_attrs attrs = { .axis = axis, .epsilon = norm->epsilon };
    ig_value *wide = ig_expr_widen(e, x), *factors[2] = { NULL, NULL };
    if (!wide || axis >= wide->type->rank) {
        return NULL;
    }
    ig_dims dims = { wide->type->dims + axis, wide->type->rank - axis };
    if (norm->scale && !norm->bias) {
        factors[0] = ig_expr_like(e, norm->scale, wide);
    } else {
        read_factors(e, wide, norm, dims, factors);
    }
    ig_value *y = ig_build_layer_norm(e, wide, factors[0], factors[1], attrs);
    return ig_expr_like(e, y, x);
}

ig_value *ig_compose_rms_norm(ig_expr *e, ig_value *x, uint32_t axis,
                              const ig_norm *norm) {
    ig_layer_norm_attrs attrs = { .axis = axis, .epsilon = norm->epsilon, .rms = true };
    ig_value *wide = ig_expr_widen(e, x), *scale = NULL;
    if (wide && norm->scale) {
        scale = ig_expr_like(e, norm->scale, wide);
    }
    return ig_expr_like(e, ig_build_layer_norm(e, wide, scale, NULL, attrs), x);
}

/* Has x channels? */
static bool has_channels(ig_expr *e, const ig_value *x) {
    if (x && x->type->rank < 2) {
        ig_expr_fail(e, IG_INVALID, "an input of rank %u has no channels",
                     x->type->rank);
        return false;
    }
    return x != NULL;
}

ig_value *ig_compose_group_norm(ig_expr *e, ig_value *x, int64_t groups,
                                const ig_norm *norm) {
    ig_group_norm_attrs attrs = { .groups = groups, .epsilon = norm->epsilon };
    if (!has_channels(e, x)) {
        return NULL;
    }
    ig_value *wide = ig_expr_widen(e, x), *factors[2] = { NULL, NULL };
    read_factors(e, wide, norm, (ig_dims){ &x->type->dims[1], 1 }, factors);
    ig_value *y = ig_build_group_norm(e, wide, factors[0], factors[1], attrs);
    return ig_expr_like(e, y, x);
}

/* Layers of [N, C, rest]: for channels whose number the run learns. */
static ig_value *normalise_planes(ig_expr *e, ig_value *x, const ig_norm *norm) {
    const ig_type *type = x->type;
    ig_dim rest = ig_dim_product(e->module, type->dims + 2, type->rank - 2u);
    ig_dim dims[3] = { type->dims[0], type->dims[1], rest };
    ig_value *wide = ig_expr_widen(e, x), *factors[2];
    ig_norm plain = { .epsilon = norm->epsilon };
    ig_value *y = ig_expr_reshape(e, wide, 3, dims);
    y = ig_compose_layer_norm(e, y, 2, &plain);
    y = ig_expr_reshape(e, y, type->rank, type->dims);
    if (read_factors(e, wide, norm, (ig_dims){ &type->dims[1], 1 }, factors)) {
        y = scale_channels(e, y, factors[0], factors[1]);
    }
    return ig_expr_like(e, y, x);
}

ig_value *ig_compose_instance_norm(ig_expr *e, ig_value *x, const ig_norm *norm) {
    int64_t channels;
    if (!has_channels(e, x)) {
        return NULL;
    }
    bool is_known = ig_dim_constant(e->module, x->type->dims[1], &channels);
    return is_known && channels > 0 ? ig_compose_group_norm(e, x, channels, norm)
                                    : normalise_planes(e, x, norm);
}

ig_value *ig_compose_batch_norm(ig_expr *e, ig_value *x, const ig_norm *norm,
                                ig_value *mean, ig_value *variance) {
    ig_batch_norm_attrs attrs = { .epsilon = norm->epsilon };
    ig_value *wide = has_channels(e, x) ? ig_expr_widen(e, x) : NULL;
    ig_value *given[] = { norm->scale, norm->bias };
    if (!wide) {
        return NULL;
    }
    ig_dtype dtype = (ig_dtype)wide->type->dtype;
    for (uint32_t i = 0; i < 2; i++) {
        given[i] = given[i] ? ig_expr_cast(e, given[i], dtype)
                            : ig_expr_fill(e, dtype, 1, &x->type->dims[1], i == 0);
    }
    mean = ig_expr_cast(e, mean, dtype);
    variance = ig_expr_cast(e, variance, dtype);
    ig_value *y = ig_build_batch_norm(e, wide, given[0], given[1], mean, variance,
                                      attrs);
    return ig_expr_like(e, y, x);
}

/* ---- statistics ---- */

/* Mean and variance over axes, which are kept as 1; x loses its mean. */
static void take_moments(ig_expr *e, ig_value **x, ig_ints axes, ig_value **out_mean,
                         ig_value **out_variance) {
    *out_mean = ig_expr_reduce(e, IG_REDUCE_mean, *x, axes.items, axes.count, true);
    *x = ig_build_sub(e, *x, *out_mean);
    ig_value *square = ig_build_mul(e, *x, *x);
    *out_variance = ig_expr_reduce(e, IG_REDUCE_mean, square, axes.items, axes.count,
                                   true);
}

void ig_compose_batch_moments(ig_expr *e, ig_value *x, ig_value **out_mean,
                              ig_value **out_variance) {
    int64_t axes[IG_TENSOR_RANK] = { 0 };
    *out_mean = *out_variance = NULL;
    if (!has_channels(e, x)) {
        return;
    }
    for (uint32_t d = 2; d < x->type->rank; d++) {
        axes[d - 1] = d;
    }
    const ig_dim *channels = &x->type->dims[1];
    ig_ints all_but_channels = { axes, x->type->rank - 1 };
    x = ig_expr_widen(e, x);
    take_moments(e, &x, all_but_channels, out_mean, out_variance);
    *out_mean = ig_expr_reshape(e, *out_mean, 1, channels);
    *out_variance = ig_expr_reshape(e, *out_variance, 1, channels);
}

ig_value *ig_compose_blend(ig_expr *e, ig_value *kept, ig_value *fresh, double share) {
    fresh = ig_expr_like(e, fresh, kept);
    kept = ig_expr_with(e, IG_OP_mul, kept, 1 - share);
    return ig_build_add(e, kept, ig_expr_with(e, IG_OP_mul, fresh, share));
}

void ig_compose_moments(ig_expr *e, ig_value *x, uint32_t axis, double epsilon,
                        ig_value **out_mean, ig_value **out_scale) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t d = axis; x && d < x->type->rank; d++) {
        axes[count++] = d;
    }
    take_moments(e, &x, (ig_ints){ axes, count }, out_mean, out_scale);
    *out_scale = ig_build_rsqrt(e, ig_expr_with(e, IG_OP_add, *out_scale, epsilon));
}

/* ---- formulas ---- */

ig_value *ig_compose_mean_variance_norm(ig_expr *e, ig_value *x, ig_ints axes) {
    ig_value *mean, *deviation;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    x = ig_expr_widen(e, x); /* a rounded mean would show where elements cancel */
    take_moments(e, &x, axes, &mean, &deviation);
    deviation = ig_expr_with(e, IG_OP_add, ig_build_sqrt(e, deviation), 1e-9);
    return ig_expr_cast(e, ig_build_div(e, x, deviation), dtype);
}

ig_value *ig_compose_lp_norm(ig_expr *e, ig_value *x, uint32_t axis, int64_t p) {
    ig_reduce kind = p == 1 ? IG_REDUCE_l1 : IG_REDUCE_l2;
    ig_value *size = ig_expr_reduce_axis(e, kind, x, axis, true);
    ig_value *y = ig_build_div(e, x, size),
             *is_zero = ig_expr_with(e, IG_OP_eq, size, 0);
    ig_value *zero = y ? ig_expr_number(e, (ig_dtype)y->type->dtype, 0) : NULL;
    return ig_build_where(e, is_zero, zero, y);
}

/* Near channels are a window of a pool over [N, 1, C, rest]. */
ig_value *ig_compose_lrn(ig_expr *e, ig_value *x, const ig_lrn *lrn) {
    if (!has_channels(e, x)) {
        return NULL;
    }
    const ig_type *type = x->type;
    ig_dim rest = ig_dim_product(e->module, type->dims + 2, type->rank - 2u);
    ig_dim flat[4] = { type->dims[0], ig_dim_of(1), type->dims[1], rest };
    ig_dim before[2] = { ig_dim_of((lrn->size - 1) / 2), ig_dim_of(0) };
    ig_dim after[2] = { ig_dim_of(lrn->size / 2), ig_dim_of(0) };
    ig_pool_attrs attrs = { .op = IG_WINDOW_sum,
                            .kernel = IG_INTS(lrn->size, 1),
                            .before = { before, 2 },
                            .after = { after, 2 } };
    ig_value *sum = ig_expr_reshape(e, ig_build_mul(e, x, x), 4, flat);
    sum = ig_expr_reshape(e, ig_build_pool(e, sum, attrs), type->rank, type->dims);
    sum = ig_expr_with(e, IG_OP_mul, sum, lrn->alpha);
    sum = ig_expr_with(e, IG_OP_add, sum, lrn->bias);
    return ig_build_div(e, x, ig_expr_with(e, IG_OP_pow, sum, lrn->beta));
}
