/* Normalisations.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Statistics and formulas are in f32 for f16 and bf16, whatever the weights are in. */
#include "frontend/torch/aten/aten.h"

#include <float.h>
#include <string.h>

static ig_value *vector_of(ig_ts_call *call, const ig_value *x, ig_dim size,
                           double number) {
    return ig_expr_fill(call->e, (ig_dtype)x->type->dtype, 1, &size, number);
}

/* Argument `index` in x's dtype; NULL for None. */
static ig_value *factor(ig_ts_call *call, uint32_t index, const ig_value *x) {
    ig_value *value = ig_aten_optional(call, index);
    return x ? ig_aten_cast(call, value, (ig_dtype)x->type->dtype) : value;
}

/* The same; a vector of `number` for None. */
static ig_value *channels(ig_ts_call *call, uint32_t index, const ig_value *x,
                          double number) {
    ig_value *value = factor(call, index, x);
    return value || call->e->status != IG_OK
               ? value
               : vector_of(call, x, x->type->dims[1], number);
}

/* ---- batch norm ---- */

typedef struct batch_norm {
    ig_value *x, *weight, *bias, *mean, *variance;
    double eps;
    ig_dtype dtype; /* of the result */
} batch_norm;

static bool open_batch_norm(ig_ts_call *call, batch_norm *n) {
    memset(n, 0, sizeof *n);
    n->x = ig_aten_tensor(call, 0);
    if (!n->x) {
        return false;
    }
    if (n->x->type->rank < 2) {
        ig_expr_fail(call->e, IG_INVALID, "an input of rank %u has no channels",
                     n->x->type->rank);
        return false;
    }
    n->dtype = (ig_dtype)n->x->type->dtype;
    n->x = ig_aten_wide(call, n->x);
    n->weight = n->x ? channels(call, 1, n->x, 1) : NULL;
    n->bias = n->x ? channels(call, 2, n->x, 0) : NULL;
    return call->e->status == IG_OK;
}

static ig_value *normalise(ig_ts_call *call, const batch_norm *n) {
    ig_attr attrs[IG_batch_norm_attr_count] = { [IG_batch_norm_epsilon] =
                                                    ig_attr_of_float(n->eps) };
    ig_value *operands[] = { n->x, n->weight, n->bias, n->mean, n->variance };
    ig_value *value = ig_expr_make(call->e, IG_OP_batch_norm, operands, 5, attrs);
    return ig_aten_cast(call, value, n->dtype);
}

/* Mean and biased variance over all axes but the channels'. */
static void batch_statistics(ig_ts_call *call, batch_norm *n) {
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->x->type->rank; i++) {
        if (i != 1) {
            axes[count++] = i;
        }
    }
    ig_value *mean = ig_expr_reduce(call->e, IG_REDUCE_mean, n->x, axes, count, true);
    ig_value *gap = ig_build_sub(call->e, n->x, mean);
    gap = ig_build_mul(call->e, gap, gap);
    n->variance = ig_expr_reduce(call->e, IG_REDUCE_mean, gap, axes, count, false);
    n->mean = ig_expr_reshape(call->e, mean, 1, &n->x->type->dims[1]);
}

/* running = (1 - momentum) running + momentum * new, where there is one to keep. */
static ig_status keep_running(ig_ts_call *call, uint32_t arg, ig_value *fresh,
                              double momentum) {
    ig_value *running = ig_aten_optional(call, arg);
    if (!running || !fresh || momentum == 0) {
        return call->e->status;
    }
    fresh = ig_aten_cast(call, fresh, (ig_dtype)running->type->dtype);
    running = ig_expr_with(call->e, IG_OP_mul, running, 1 - momentum);
    fresh = ig_expr_with(call->e, IG_OP_mul, fresh, momentum);
    fresh = ig_build_add(call->e, running, fresh);
    IG_TRY(call->e->status);
    return ig_ts_write(call, arg, fresh);
}

static ig_status train(ig_ts_call *call, batch_norm *n, double momentum) {
    ig_module *module = call->module;
    batch_statistics(call, n);
    IG_TRY(call->e->status);
    ig_dim count = ig_type_count(module, n->x->type);
    count = ig_dim_exact_div(module, count, n->x->type->dims[1]);
    ig_dtype dtype = (ig_dtype)n->x->type->dtype;
    ig_dim less = ig_dim_max(module, ig_dim_sub(module, count, ig_dim_of(1)),
                             ig_dim_of(1));
    ig_value *unbiased = ig_build_mul(call->e, n->variance,
                                      ig_expr_dim(call->e, count, dtype));
    unbiased = ig_build_div(call->e, unbiased, ig_expr_dim(call->e, less, dtype));
    IG_TRY(keep_running(call, 3, n->mean, momentum));
    return keep_running(call, 4, unbiased, momentum);
}

static ig_value *nothing(ig_ts_call *call, ig_dtype dtype) {
    ig_dim zero = ig_dim_of(0);
    return ig_expr_fill(call->e, dtype, 1, &zero, 0);
}

static ig_status give_three(ig_ts_call *call, ig_value *value, ig_value *second,
                            ig_value *third) {
    IG_TRY(ig_aten_give2(call, value, second));
    return ig_ts_give(call, 2, third);
}

/* (input, weight, bias, running_mean, running_var, training, momentum, eps, …);
 * variant 0: one result; 1: three; 2: three, and no training argument */
ig_status ig_ts_op_batch_norm(ig_ts_call *call) {
    batch_norm n;
    int variant = call->row->variant;
    bool trains = variant != 2 && ig_aten_bool(call, 5);
    uint32_t momentum_arg = variant == 2 ? 5 : 6;
    if (!open_batch_norm(call, &n)) {
        return call->e->status;
    }
    n.eps = ig_aten_float(call, momentum_arg + 1);
    if (trains) {
        IG_TRY(train(call, &n, ig_aten_float_or(call, momentum_arg, 0)));
    } else {
        n.mean = factor(call, 3, n.x);
        n.variance = factor(call, 4, n.x);
        if (!n.mean || !n.variance) {
            return ig_ts_fail(call, IG_INVALID, "no running statistics to apply");
        }
    }
    ig_value *value = normalise(call, &n);
    if (variant == 0) {
        return ig_aten_give(call, value);
    }
    if (!trains) {
        ig_value *empty = nothing(call, (ig_dtype)n.x->type->dtype);
        return give_three(call, value, empty, empty);
    }
    ig_value *spread = ig_expr_with(call->e, IG_OP_add, n.variance, n.eps);
    spread = ig_build_rsqrt(call->e, spread);
    return give_three(call, value, ig_aten_cast(call, n.mean, n.dtype),
                      ig_aten_cast(call, spread, n.dtype));
}

/* ---- layer norm ---- */

typedef struct layer_norm {
    ig_value *x, *weight, *bias;
    uint32_t axis, count; /* of the normalised axes */
    ig_dtype dtype;
    double eps;
    bool rms;
} layer_norm;

/* Argument 1 is normalized_shape. */
static bool open_layer_norm(ig_ts_call *call, layer_norm *n) {
    memset(n, 0, sizeof *n);
    n->x = ig_aten_tensor(call, 0);
    const ig_dim *shape = ig_aten_dims(call, 1, 0, &n->count);
    if (!n->x || call->e->status != IG_OK) {
        return false;
    }
    if (n->count == 0 || n->count > n->x->type->rank) {
        ig_expr_fail(call->e, IG_INVALID, "%u axes to normalise of %u", n->count,
                     n->x->type->rank);
        return false;
    }
    n->axis = n->x->type->rank - n->count;
    for (uint32_t i = 0; i < n->count && call->e->status == IG_OK; i++) {
        ig_expr_guard_equal(call->e, shape[i], n->x->type->dims[n->axis + i],
                            "normalized_shape must be the last extents");
    }
    n->dtype = (ig_dtype)n->x->type->dtype;
    n->x = ig_aten_wide(call, n->x);
    n->weight = factor(call, 2, n->x);
    return call->e->status == IG_OK && n->x;
}

static ig_value *normalise_layer(ig_ts_call *call, layer_norm *n) {
    ig_attr attrs[IG_layer_norm_attr_count] = {
        [IG_layer_norm_axis] = ig_attr_of_int(n->axis),
        [IG_layer_norm_epsilon] = ig_attr_of_float(n->eps),
    };
    if (n->rms) {
        attrs[IG_layer_norm_rms] = ig_attr_of_bool(true);
    }
    if (n->bias && !n->weight) {
        n->weight = ig_expr_fill(call->e, (ig_dtype)n->x->type->dtype, n->count,
                                 n->x->type->dims + n->axis, 1);
    }
    uint32_t count = n->bias ? 3 : n->weight ? 2 : 1;
    ig_value *operands[] = { n->x, n->weight, n->bias };
    ig_value *value = ig_expr_make(call->e, IG_OP_layer_norm, operands, count, attrs);
    return ig_aten_cast(call, value, n->dtype);
}

/* layer_norm(input, normalized_shape, weight, bias, eps, …); variant 1,
 * native_layer_norm: mean and 1 / deviation too */
ig_status ig_ts_op_layer_norm(ig_ts_call *call) {
    layer_norm n;
    if (!open_layer_norm(call, &n)) {
        return call->e->status;
    }
    n.bias = factor(call, 3, n.x);
    n.eps = ig_aten_float(call, 4);
    ig_value *value = normalise_layer(call, &n);
    if (call->row->variant == 0) {
        return ig_aten_give(call, value);
    }
    int64_t axes[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < n.count; i++) {
        axes[i] = n.axis + i;
    }
    ig_value *mean = ig_expr_reduce(call->e, IG_REDUCE_mean, n.x, axes, n.count, true);
    ig_value *gap = ig_build_sub(call->e, n.x, mean);
    gap = ig_build_mul(call->e, gap, gap);
    gap = ig_expr_reduce(call->e, IG_REDUCE_mean, gap, axes, n.count, true);
    gap = ig_expr_with(call->e, IG_OP_add, gap, n.eps);
    gap = ig_build_rsqrt(call->e, gap);
    return give_three(call, value, ig_aten_cast(call, mean, n.dtype),
                      ig_aten_cast(call, gap, n.dtype));
}

/* rms_norm(input, normalized_shape, weight, eps); eps None: the dtype's epsilon */
ig_status ig_ts_op_rms_norm(ig_ts_call *call) {
    layer_norm n;
    if (!open_layer_norm(call, &n)) {
        return call->e->status;
    }
    n.rms = true;
    double least = n.dtype == IG_DT_f64 ? DBL_EPSILON : (double)FLT_EPSILON;
    n.eps = ig_aten_float_or(call, 3, least);
    return ig_aten_give(call, normalise_layer(call, &n));
}

/* ---- groups of channels ---- */

static ig_value *group_norm(ig_ts_call *call, uint32_t weight_arg, int64_t groups,
                            double eps) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x || x->type->rank < 2) {
        return ig_expr_fail(call->e, IG_INVALID, "an input without channels");
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    x = ig_aten_wide(call, x);
    ig_value *weight = factor(call, weight_arg, x),
             *bias = factor(call, weight_arg + 1, x);
    if (!x || call->e->status != IG_OK) {
        return NULL;
    }
    bool is_affine = weight || bias;
    weight = weight ? weight : vector_of(call, x, x->type->dims[1], 1);
    bias = bias ? bias : vector_of(call, x, x->type->dims[1], 0);
    ig_attr attrs[IG_group_norm_attr_count] = {
        [IG_group_norm_groups] = ig_attr_of_int(groups),
        [IG_group_norm_epsilon] = ig_attr_of_float(eps),
    };
    x = ig_expr_make(call->e, IG_OP_group_norm, (ig_value *[]){ x, weight, bias },
                     is_affine ? 3 : 1, attrs);
    return ig_aten_cast(call, x, dtype);
}

/* group_norm(input, num_groups, weight, bias, eps, …) */
ig_status ig_ts_op_group_norm(ig_ts_call *call) {
    return ig_aten_give(
        call, group_norm(call, 2, ig_aten_int(call, 1), ig_aten_float(call, 4)));
}

/* native_group_norm(input, weight, bias, N, C, HxW, group, eps) */
ig_status ig_ts_op_native_group_norm(ig_ts_call *call) {
    int64_t groups = ig_aten_int(call, 6);
    double eps = ig_aten_float(call, 7);
    ig_value *value = group_norm(call, 1, groups, eps);
    ig_value *x = ig_aten_wide(call, ig_aten_tensor(call, 0));
    if (!x || !value) {
        return call->e->status;
    }
    ig_module *module = call->module;
    ig_dim all = ig_dim_product(module, x->type->dims + 1, x->type->rank - 1);
    ig_dim parts = ig_dim_const(module, groups);
    ig_dim dims[] = { x->type->dims[0], parts, ig_dim_exact_div(module, all, parts) };
    x = ig_expr_reshape(call->e, x, 3, dims);
    ig_value *mean = ig_expr_reduce_axis(call->e, IG_REDUCE_mean, x, 2, true);
    ig_value *gap = ig_build_sub(call->e, x, mean);
    gap = ig_build_mul(call->e, gap, gap);
    gap = ig_expr_reduce_axis(call->e, IG_REDUCE_mean, gap, 2, false);
    gap = ig_build_rsqrt(call->e, ig_expr_with(call->e, IG_OP_add, gap, eps));
    ig_dtype dtype = (ig_dtype)value->type->dtype;
    mean = ig_aten_cast(call, ig_expr_reshape(call->e, mean, 2, dims), dtype);
    return give_three(call, value, mean, ig_aten_cast(call, gap, dtype));
}

/* Each channel of each image alone, as an image of one channel; then scale and shift by
 * the channel: for numbers of channels that are not known. */
static ig_value *instance_norm(ig_ts_call *call, double eps) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_dim apart[IG_TENSOR_RANK], own[IG_TENSOR_RANK];
    if (!x || x->type->rank < 2) {
        return ig_expr_fail(call->e, IG_INVALID, "an input without channels");
    }
    uint32_t rank = x->type->rank;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    memcpy(apart, x->type->dims, rank * sizeof *apart);
    apart[0] = ig_dim_mul(call->module, apart[0], apart[1]);
    apart[1] = ig_dim_of(1);
    for (uint32_t i = 0; i < rank; i++) {
        own[i] = i ? ig_dim_of(1) : x->type->dims[1];
    }
    ig_attr attrs[IG_group_norm_attr_count] = {
        [IG_group_norm_groups] = ig_attr_of_int(1),
        [IG_group_norm_epsilon] = ig_attr_of_float(eps),
    };
    ig_value *y = ig_expr_reshape(call->e, ig_aten_wide(call, x), rank, apart);
    y = ig_expr_make(call->e, IG_OP_group_norm, &y, 1, attrs);
    y = ig_expr_reshape(call->e, y, rank, x->type->dims);
    for (uint32_t i = 1; i < 3; i++) {
        ig_value *by = factor(call, i, y);
        by = by ? ig_expr_reshape(call->e, by, rank - 1, own) : NULL;
        y = by ? ig_expr_map2(call->e, i == 1 ? IG_OP_mul : IG_OP_add, y, by) : y;
    }
    return ig_aten_cast(call, y, dtype);
}

/* instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
 * momentum, eps, …) */
ig_status ig_ts_op_instance_norm(ig_ts_call *call) {
    batch_norm n;
    int64_t count;
    if (ig_aten_bool(call, 5)) {
        const ig_ts_tensor *x = ig_ts_peek(call, 0);
        double eps = ig_aten_float(call, 7);
        bool is_known = x && x->type->rank >= 2 &&
                        ig_dim_constant(call->module, x->type->dims[1], &count);
        return ig_aten_give(call, is_known ? group_norm(call, 1, count, eps)
                                           : instance_norm(call, eps));
    }
    if (!open_batch_norm(call, &n)) {
        return call->e->status;
    }
    n.eps = ig_aten_float(call, 7);
    n.mean = factor(call, 3, n.x);
    n.variance = factor(call, 4, n.x);
    if (!n.mean || !n.variance) {
        return ig_ts_fail(call, IG_INVALID, "no running statistics to apply");
    }
    return ig_aten_give(call, normalise(call, &n));
}
