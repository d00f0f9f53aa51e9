/* Normalisations over channels, and what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

/* ---- pieces ---- */

static ig_status need_rank(const ig_onnx_node *node, uint32_t least) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    uint32_t rank = node->inputs[0]->type->rank;
    if (rank < least) {
        return ig_onnx_fail(node, IG_INVALID,
                            "input 0 has rank %u, expected %u or more", rank, least);
    }
    return IG_OK;
}

/* Inputs first … last are vectors with an entry a channel. */
static ig_status need_channels(const ig_onnx_node *node, uint32_t first,
                               uint32_t last) {
    for (uint32_t i = first; i <= last; i++) {
        IG_TRY(ig_onnx_float_tensor(node, i));
        if (node->inputs[i]->type->rank != 1) {
            return ig_onnx_fail(node, IG_INVALID, "input %u has rank %u, expected 1", i,
                                node->inputs[i]->type->rank);
        }
        ig_onnx_guard_extents(node, i, 0, 0, 1);
    }
    return IG_OK;
}

/* A vector over the channels as [C, 1, 1 …], to broadcast with input 0. */
static ig_status along_channels(const ig_onnx_node *node, ig_value *x,
                                ig_value **out_value) {
    ig_dim dims[IG_TENSOR_RANK] = { x->type->dims[0] };
    uint32_t rank = node->inputs[0]->type->rank - 1;
    for (uint32_t d = 1; d < rank; d++) {
        dims[d] = ig_dim_of(1);
    }
    return ig_onnx_reshape(node, x, rank, dims, out_value);
}

static ig_status reduce_axes(const ig_onnx_node *node, ig_value *x, ig_reduce op,
                             const int64_t *axes, uint32_t count, ig_value **out) {
    ig_attr attrs[IG_reduce_attr_count] = {
        [IG_reduce_op] = ig_attr_of_enum(op),
        [IG_reduce_axes] = ig_attr_of_ints(node->import->module, axes, count),
        [IG_reduce_keep] = ig_attr_of_bool(true),
    };
    return ig_onnx_build(node, IG_OP_reduce, 1, &x, attrs, out);
}

/* ---- BatchNormalization ---- */

/* kept * momentum + now * (1 - momentum), in the dtype that `kept` has. */
static ig_status blend(ig_onnx_node *node, ig_value *kept, ig_value *now,
                       ig_value **out_value) {
    double momentum = ig_onnx_attr_float(node, "momentum", 0.9f);
    ig_dtype dtype = (ig_dtype)kept->type->dtype;
    ig_value *old;
    now = ig_make_cast(node->builder, now, dtype);
    IG_TRY(ig_onnx_reshape(node, now, 1, kept->type->dims, &now));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, kept, momentum, &old));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, now, 1 - momentum, &now));
    return ig_onnx_build2(node, IG_OP_add, old, now, out_value);
}

/* With the statistics of this very batch; new running ones are further results. */
static ig_status normalise_training(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *mean, *spread, *variance, *factor;
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        axes[count] = d;
        count += d != 1;
    }
    IG_TRY(reduce_axes(node, x, IG_REDUCE_mean, axes, count, &mean));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, x, mean, &x));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, x, &spread));
    IG_TRY(reduce_axes(node, spread, IG_REDUCE_mean, axes, count, &variance));
    double epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5f);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, variance, epsilon, &spread));
    IG_TRY(ig_onnx_build1(node, IG_OP_rsqrt, spread, &spread));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, spread, &x));
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    for (uint32_t i = 1; i < 3; i++) {
        factor = ig_make_cast(node->builder, node->inputs[i], dtype);
        IG_TRY(along_channels(node, factor, &factor));
        IG_TRY(ig_onnx_build2(node, i == 1 ? IG_OP_mul : IG_OP_add, x, factor, &x));
    }
    node->outputs[0] = x;
    ig_value *now[] = { mean, variance };
    for (uint32_t i = 1; i < node->output_count && i < 3; i++) {
        IG_TRY(blend(node, node->inputs[2 + i], now[i - 1], &node->outputs[i]));
    }
    return IG_OK;
}

ig_status ig_onnx_import_batch_norm(ig_onnx_node *node) {
    IG_TRY(need_rank(node, 2));
    IG_TRY(need_channels(node, 1, 4));
    if (ig_onnx_attr_int(node, "training_mode", 0)) {
        return normalise_training(node);
    }
    if (node->output_count > 1) {
        return ig_onnx_fail(node, IG_INVALID,
                            "has statistics as outputs and is not in training mode");
    }
    ig_value *x = node->inputs[0], *operands[5] = { x };
    for (uint32_t i = 1; i < 5; i++) {
        operands[i] = ig_make_cast(node->builder, node->inputs[i],
                                   (ig_dtype)x->type->dtype);
    }
    ig_attr attrs[IG_batch_norm_attr_count] = {
        [IG_batch_norm_epsilon] =
            ig_attr_of_float(ig_onnx_attr_float(node, "epsilon", 1e-5f)),
    };
    return ig_onnx_build(node, IG_OP_batch_norm, 5, operands, attrs, &node->outputs[0]);
}

/* ---- groups of channels ---- */

static ig_status build_group_norm(ig_onnx_node *node, uint32_t count, int64_t groups,
                                  ig_value **out_value) {
    ig_attr attrs[IG_group_norm_attr_count] = {
        [IG_group_norm_groups] = ig_attr_of_int(groups),
        [IG_group_norm_epsilon] =
            ig_attr_of_float(ig_onnx_attr_float(node, "epsilon", 1e-5f)),
    };
    return ig_onnx_build(node, IG_OP_group_norm, count, node->inputs, attrs, out_value);
}

/* As layers of [N, C, rest]: for channels whose number the run learns. */
static ig_status normalise_planes(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *factor;
    const ig_type *type = x->type;
    ig_module *module = node->import->module;
    ig_dim rest = ig_dim_product(module, type->dims + 2, type->rank - 2);
    ig_dim dims[3] = { type->dims[0], type->dims[1], rest };
    double epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5f);
    ig_attr attrs[IG_layer_norm_attr_count] = { { 0 } };
    attrs[IG_layer_norm_axis] = ig_attr_of_int(2);
    attrs[IG_layer_norm_epsilon] = ig_attr_of_float(epsilon);
    IG_TRY(ig_onnx_reshape(node, x, 3, dims, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_layer_norm, 1, &x, attrs, &x));
    IG_TRY(ig_onnx_reshape(node, x, type->rank, type->dims, &x));
    for (uint32_t i = 1; i < 3; i++) {
        IG_TRY(along_channels(node, node->inputs[i], &factor));
        IG_TRY(ig_onnx_build2(node, i == 1 ? IG_OP_mul : IG_OP_add, x, factor, &x));
    }
    node->outputs[0] = x;
    return IG_OK;
}

/* A group for each channel. */
ig_status ig_onnx_import_instance_norm(ig_onnx_node *node) {
    int64_t channels;
    IG_TRY(need_rank(node, 3));
    IG_TRY(need_channels(node, 1, 2));
    if (!ig_dim_constant(node->import->module, node->inputs[0]->type->dims[1],
                         &channels) ||
        channels == 0) {
        return normalise_planes(node);
    }
    return build_group_norm(node, 3, channels, &node->outputs[0]);
}

ig_status ig_onnx_import_group_norm(ig_onnx_node *node) {
    int64_t groups = ig_onnx_attr_int(node, "num_groups", 1);
    IG_TRY(need_rank(node, 2));
    if (groups < 1) {
        return ig_onnx_fail(node, IG_INVALID, "num_groups is %lld", (long long)groups);
    }
    IG_TRY(need_channels(node, 1, 2));
    return build_group_norm(node, 3, groups, &node->outputs[0]);
}

/* Until opset 20 scale and bias have an entry a group, not a channel. */
ig_status ig_onnx_import_group_norm_by_group(ig_onnx_node *node) {
    int64_t groups = ig_onnx_attr_int(node, "num_groups", 1), channels;
    ig_module *module = node->import->module;
    IG_TRY(need_rank(node, 2));
    const ig_type *type = node->inputs[0]->type;
    if (groups < 1 ||
        (ig_dim_constant(module, type->dims[1], &channels) && channels % groups != 0)) {
        return ig_onnx_fail(node, IG_INVALID, "num_groups is %lld", (long long)groups);
    }
    ig_dim own = ig_dim_exact_div(module, type->dims[1], ig_dim_const(module, groups));
    for (uint32_t i = 1; i < 3; i++) {
        IG_TRY(ig_onnx_float_tensor(node, i));
        ig_dim column[2] = { ig_dim_const(module, groups), ig_dim_of(1) };
        ig_dim wide[2] = { ig_dim_const(module, groups), own };
        ig_attr attrs[IG_expand_attr_count] = { { 0 } };
        attrs[IG_expand_to] = ig_attr_of_dims(module, wide, 2);
        ig_value *x;
        IG_TRY(ig_onnx_reshape(node, node->inputs[i], 2, column, &x));
        IG_TRY(ig_onnx_build(node, IG_OP_expand, 1, &x, attrs, &x));
        IG_TRY(ig_onnx_reshape(node, x, 1, &type->dims[1], &node->inputs[i]));
    }
    return build_group_norm(node, 3, groups, &node->outputs[0]);
}

/* ---- RMSNormalization ---- */

ig_status ig_onnx_import_rms_norm(ig_onnx_node *node) {
    uint32_t axis;
    IG_TRY(need_rank(node, 1));
    IG_TRY(ig_onnx_float_tensor(node, 1));
    const ig_type *type = node->inputs[0]->type, *scale = node->inputs[1]->type;
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", -1), type->rank, &axis));
    ig_attr attrs[IG_layer_norm_attr_count] = {
        [IG_layer_norm_axis] = ig_attr_of_int(axis),
        [IG_layer_norm_rms] = ig_attr_of_bool(true),
        [IG_layer_norm_epsilon] =
            ig_attr_of_float(ig_onnx_attr_float(node, "epsilon", 1e-5f)),
    };
    ig_value *x = node->inputs[0];
    bool fits = scale->rank <= type->rank - axis && scale->dtype == type->dtype;
    if (fits) {
        for (uint32_t d = 1; d <= scale->rank; d++) {
            if (!ig_dim_is(scale->dims[scale->rank - d], 1)) {
                ig_onnx_guard_extents(node, 1, scale->rank - d, 0, type->rank - d);
            }
        }
        return ig_onnx_build(node, IG_OP_layer_norm, 2, node->inputs, attrs,
                             &node->outputs[0]);
    }
    IG_TRY(ig_onnx_build(node, IG_OP_layer_norm, 1, &x, attrs, &x));
    x = ig_make_cast(node->builder, x, (ig_dtype)scale->dtype);
    return ig_onnx_build2(node, IG_OP_mul, x, node->inputs[1], &node->outputs[0]);
}

/* ---- LRN: x / (bias + alpha / size * sum of squares of near channels) ^ beta ---- */

/* The window over channels as a pool over [N, 1, C, rest]. */
static ig_status sum_near(ig_onnx_node *node, ig_value *x, int64_t size,
                          ig_value **out_value) {
    ig_module *module = node->import->module;
    const ig_type *type = x->type;
    ig_dim rest = ig_dim_product(module, type->dims + 2, type->rank - 2);
    ig_dim flat[4] = { type->dims[0], ig_dim_of(1), type->dims[1], rest };
    ig_dim before[2] = { ig_dim_of((size - 1) / 2), ig_dim_of(0) },
           after[2] = { ig_dim_of(size / 2), ig_dim_of(0) };
    int64_t kernel[2] = { size, 1 };
    ig_attr attrs[IG_pool_attr_count] = {
        [IG_pool_op] = ig_attr_of_enum(IG_WINDOW_sum),
        [IG_pool_kernel] = ig_attr_of_ints(module, kernel, 2),
        [IG_pool_before] = ig_attr_of_dims(module, before, 2),
        [IG_pool_after] = ig_attr_of_dims(module, after, 2),
    };
    IG_TRY(ig_onnx_reshape(node, x, 4, flat, &x));
    IG_TRY(ig_onnx_build(node, IG_OP_pool, 1, &x, attrs, &x));
    return ig_onnx_reshape(node, x, type->rank, type->dims, out_value);
}

ig_status ig_onnx_import_lrn(ig_onnx_node *node) {
    int64_t size = ig_onnx_attr_int(node, "size", 0);
    ig_value *x, *sum;
    IG_TRY(need_rank(node, 2));
    if (size < 1 || size > INT32_MAX) {
        return ig_onnx_fail(node, IG_INVALID, "size is %lld", (long long)size);
    }
    double alpha = ig_onnx_attr_float(node, "alpha", 0.0001f) / (double)size;
    x = node->inputs[0];
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, x, &sum));
    IG_TRY(sum_near(node, sum, size, &sum));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, sum, alpha, &sum));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, sum,
                                ig_onnx_attr_float(node, "bias", 1), &sum));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_pow, sum,
                                ig_onnx_attr_float(node, "beta", 0.75f), &sum));
    return ig_onnx_build2(node, IG_OP_div, x, sum, &node->outputs[0]);
}

/* ---- norms of lines ---- */

ig_status ig_onnx_import_lp_norm(ig_onnx_node *node) {
    int64_t p = ig_onnx_attr_int(node, "p", 2), axes[1];
    uint32_t axis;
    IG_TRY(need_rank(node, 1));
    IG_TRY(ig_onnx_axis(node, ig_onnx_attr_int(node, "axis", -1),
                        node->inputs[0]->type->rank, &axis));
    if (p != 1 && p != 2) {
        return ig_onnx_fail(node, IG_INVALID, "p is %lld, expected 1 or 2",
                            (long long)p);
    }
    ig_value *x = node->inputs[0], *size, *is_zero, *lines;
    axes[0] = axis;
    IG_TRY(reduce_axes(node, x, p == 1 ? IG_REDUCE_l1 : IG_REDUCE_l2, axes, 1, &size));
    IG_TRY(ig_onnx_build2(node, IG_OP_div, x, size, &lines));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_eq, size, 0, &is_zero));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_zero, zero, lines },
                         NULL, &node->outputs[0]);
}

/* (x - mean) / (standard deviation + 1e-9) over some axes. */
ig_status ig_onnx_import_mean_variance_norm(ig_onnx_node *node) {
    static const int64_t usual[] = { 0, 2, 3 };
    uint32_t count, axis;
    const int64_t *axes = ig_onnx_attr_ints(node, "axes", &count);
    ig_value *mean, *spread, *x;
    IG_TRY(need_rank(node, 1));
    x = node->inputs[0];
    count = axes ? count : 3;
    axes = axes ? axes : usual;
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_onnx_axis(node, axes[i], x->type->rank, &axis));
    }
    IG_TRY(reduce_axes(node, x, IG_REDUCE_mean, axes, count, &mean));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, x, mean, &x));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, x, &spread));
    IG_TRY(reduce_axes(node, spread, IG_REDUCE_mean, axes, count, &spread));
    IG_TRY(ig_onnx_build1(node, IG_OP_sqrt, spread, &spread));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, spread, 1e-9, &spread));
    return ig_onnx_build2(node, IG_OP_div, x, spread, &node->outputs[0]);
}
