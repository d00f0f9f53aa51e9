/* Normalisations: arguments of the rows and formulas in compose/norm.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/norm.h"

#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

static ig_norm read_norm(const ig_onnx_node *node) {
    return (ig_norm){ .scale = ig_onnx_in(node, 1),
                      .bias = ig_onnx_row_has_input(node->row, 2) ? ig_onnx_in(node, 2)
                                                                  : NULL,
                      .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-5f) };
}

/* Input 0 has floats and `min` axes or more, inputs 1 … last an entry per channel. */
static bool check_channels(const ig_onnx_node *node, uint32_t min, uint32_t last) {
    const ig_type *x = ig_onnx_float_input(node, 0)->type;
    if (x->rank < min) {
        ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected %u or more",
                     x->rank, min);
    }
    for (uint32_t i = 1; i <= last && !ig_onnx_has_failed(node); i++) {
        ig_onnx_float_input(node, i);
        ig_value *factor = ig_onnx_ranked_input(node, i, 1);
        if (!ig_onnx_has_failed(node)) {
            ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, factor, 0),
                                ig_onnx_extent_of(node->e, x, 1),
                                "an input must have one entry per channel");
        }
    }
    return !ig_onnx_has_failed(node);
}

/* ---- batches ---- */

/* Of a model that is to be trained, a weight that no other norm changes. */
static bool is_running(const ig_onnx_node *node, const ig_value *kept) {
    const ig_onnx_import *import = node->import;
    bool is_weight = kept->def && kept->def->code == IG_OP_weight &&
                     node->builder->block == &import->graph->body;
    for (size_t i = 0; i < import->running.count; i++) {
        is_weight = is_weight && import->running.items[i].kept != kept;
    }
    return is_weight && import->options && import->options->keeps_weights;
}

/* With the statistics of this very batch; new running ones are further results, and
 * states of a model that is to be trained. */
static ig_status normalise_training(ig_onnx_node *node, const ig_norm *norm) {
    double share = 1 - ig_onnx_attr_float(node, "momentum", 0.9f);
    ig_value *x = node->inputs[0], *fresh[2];
    ig_compose_batch_moments(node->e, x, &fresh[0], &fresh[1]);
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *kept = node->inputs[3 + i];
        bool is_given = i + 1 < node->output_count, is_state = is_running(node, kept);
        ig_value *next = is_given || is_state
                             ? ig_compose_blend(node->e, kept, fresh[i], share)
                             : NULL;
        if (is_given) {
            node->outputs[1 + i] = next;
        }
        if (is_state && next) {
            ig_onnx_running running = { kept, next };
            IG_PUSH(node->import->arena, &node->import->running, running);
        }
    }
    return ig_onnx_give(node,
                        ig_compose_batch_norm(node->e, x, norm, fresh[0], fresh[1]));
}

static ig_status normalise_batch(ig_onnx_node *node) {
    if (!ig_onnx_attr_bool(node, "spatial", true)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "spatial is 0: statistics of each position are not "
                            "supported, only those of channels");
    }
    if (!check_channels(node, 2, 4)) {
        return node->e->status;
    }
    ig_norm norm = read_norm(node);
    if (ig_onnx_row_has_attr(node->row, "training_mode") &&
        ig_onnx_attr_int(node, "training_mode", 0)) {
        return normalise_training(node, &norm);
    }
    if (node->output_count > 1) {
        return ig_onnx_fail(node, IG_INVALID,
                            "has statistics as outputs and is not in training mode");
    }
    return ig_onnx_give(node, ig_compose_batch_norm(node->e, node->inputs[0], &norm,
                                                    node->inputs[3], node->inputs[4]));
}

/* A vector is a batch of one channel. */
ig_status ig_onnx_import_batch_norm(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    bool is_vector = x->type->kind == IG_TENSOR && x->type->rank == 1;
    if (!is_vector) {
        return normalise_batch(node);
    }
    node->inputs[0] = ig_expr_unsqueeze(node->e, x, 1);
    IG_TRY(normalise_batch(node));
    node->outputs[0] = ig_expr_reshape(node->e, node->outputs[0], 1, x->type->dims);
    return node->e->status;
}

/* ---- groups of channels ---- */

ig_status ig_onnx_import_instance_norm(ig_onnx_node *node) {
    if (!check_channels(node, 3, 2)) {
        return node->e->status;
    }
    ig_norm norm = read_norm(node);
    return ig_onnx_give(node,
                        ig_compose_instance_norm(node->e, node->inputs[0], &norm));
}

ig_status ig_onnx_import_group_norm(ig_onnx_node *node) {
    int64_t groups = ig_onnx_attr_between(node, "num_groups", 1, 1, INT32_MAX);
    if (!check_channels(node, 2, 2)) {
        return node->e->status;
    }
    ig_norm norm = read_norm(node);
    return ig_onnx_give(node,
                        ig_compose_group_norm(node->e, node->inputs[0], groups, &norm));
}

/* [groups] as [C]: each entry for the channels of its group. */
static ig_value *repeat_entries(const ig_onnx_node *node, ig_value *x, int64_t groups) {
    ig_expr *e = node->e;
    ig_dim channels = ig_onnx_extent(e, node->inputs[0], 1);
    ig_dim all = ig_dim_of(groups);
    ig_dim wide[2] = { all, ig_dim_exact_div(e->module, channels, all) };
    ig_dim column[2] = { all, ig_dim_of(1) };
    x = ig_expr_expand(e, ig_expr_reshape(e, x, 2, column), 2, wide);
    return ig_expr_reshape(e, x, 1, &channels);
}

/* Until opset 20 scale and bias have an entry per group, not per channel. */
ig_status ig_onnx_import_group_norm_by_group(ig_onnx_node *node) {
    int64_t groups = ig_onnx_attr_between(node, "num_groups", 1, 1, INT32_MAX), count;
    if (!check_channels(node, 2, 0)) {
        return node->e->status;
    }
    ig_value *x = node->inputs[0];
    if (ig_dim_constant(node->e->module, ig_onnx_extent(node->e, x, 1), &count) &&
        count % groups != 0) {
        return ig_onnx_fail(node, IG_INVALID,
                            "num_groups is %lld, which does not divide %lld channels",
                            (long long)groups, (long long)count);
    }
    ig_norm norm = read_norm(node);
    norm.scale = repeat_entries(node, norm.scale, groups);
    norm.bias = repeat_entries(node, norm.bias, groups);
    return ig_onnx_give(node, ig_compose_group_norm(node->e, x, groups, &norm));
}

/* ---- layers ---- */

static const char must_fit[] = "scale and bias must fit the last axes of the input";

/* Is a factor over the last axes of x, which it broadcasts to? */
static void guard_factor(const ig_onnx_node *node, const ig_value *factor) {
    const ig_type *x = node->inputs[0]->type;
    for (uint32_t d = 1; factor && d <= factor->type->rank && d <= x->rank; d++) {
        ig_dim own = ig_onnx_extent(node->e, factor, factor->type->rank - d);
        if (!ig_dim_is(own, 1)) {
            ig_expr_guard_equal(node->e, own, x->dims[x->rank - d], must_fit);
        }
    }
}

/* Fails unless a factor broadcasts to x's shape. */
static void check_factor(const ig_onnx_node *node, const ig_value *x,
                         const ig_value *factor) {
    ig_module *module = node->import->module;
    if (factor && factor->type->rank > x->type->rank) {
        ig_onnx_fail(node, IG_INVALID, must_fit);
    }
    for (uint32_t d = 1; factor && d <= factor->type->rank && d <= x->type->rank; d++) {
        ig_dim own = ig_onnx_extent(node->e, factor, factor->type->rank - d);
        ig_dim whole = x->type->dims[x->type->rank - d];
        ig_expr_guard_equal(node->e, ig_dim_bcast(module, own, whole), whole, must_fit);
    }
}

/* Scale and bias of more axes than are normalised. */
static ig_value *scale_widely(const ig_onnx_node *node, ig_value *x, uint32_t axis,
                              const ig_norm *norm) {
    ig_norm plain = { .epsilon = norm->epsilon };
    check_factor(node, x, norm->scale);
    check_factor(node, x, norm->bias);
    ig_value *y = ig_compose_layer_norm(node->e, x, axis, &plain);
    y = y ? ig_build_mul(node->e, y, norm->scale) : NULL;
    return y && norm->bias ? ig_build_add(node->e, y, norm->bias) : y;
}

ig_status ig_onnx_import_layer_norm(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank);
    ig_norm norm = read_norm(node);
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    uint32_t inner = x->type->rank - axis;
    bool fits = norm.scale->type->rank <= inner &&
                (!norm.bias || norm.bias->type->rank <= inner);
    if (fits) {
        guard_factor(node, norm.scale);
        guard_factor(node, norm.bias);
    }
    if (node->output_count > 1) { /* Mean and InvStdDev */
        bool is_f32 = ig_onnx_attr_int(node, "stash_type", 1) ==
                      ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
        ig_value *wide = is_f32 ? ig_expr_cast(node->e, x, IG_DT_f32) : x, *found[2];
        ig_compose_moments(node->e, wide, axis, norm.epsilon, &found[0], &found[1]);
        for (uint32_t i = 1; i < node->output_count; i++) {
            node->outputs[i] = found[i - 1];
        }
    }
    return ig_onnx_give(node, fits ? ig_compose_layer_norm(node->e, x, axis, &norm)
                                   : scale_widely(node, x, axis, &norm));
}

ig_status ig_onnx_import_rms_norm(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0), *scale = ig_onnx_float_input(node, 1);
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank);
    ig_norm norm = read_norm(node);
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    bool fits = scale->type->rank <= x->type->rank - axis &&
                scale->type->dtype == x->type->dtype;
    if (fits) {
        guard_factor(node, scale);
        return ig_onnx_give(node, ig_compose_rms_norm(node->e, x, axis, &norm));
    }
    check_factor(node, x, scale);
    norm.scale = NULL;
    x = ig_expr_like(node->e, ig_compose_rms_norm(node->e, x, axis, &norm), scale);
    return ig_onnx_give(node, ig_build_mul(node->e, x, scale));
}

/* ---- others ---- */

ig_status ig_onnx_import_lrn(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    int64_t size = ig_onnx_attr_between(node, "size", 0, 1, INT32_MAX);
    ig_lrn lrn = { .size = size,
                   .alpha = ig_onnx_attr_float(node, "alpha", 0.0001f) / (double)size,
                   .beta = ig_onnx_attr_float(node, "beta", 0.75f),
                   .bias = ig_onnx_attr_float(node, "bias", 1) };
    return ig_onnx_give(node, ig_compose_lrn(node->e, x, &lrn));
}

ig_status ig_onnx_import_lp_norm(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    int64_t p = ig_onnx_attr_between(node, "p", 2, 1, 2);
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank);
    return ig_onnx_give(node, ig_onnx_has_failed(node)
                                  ? NULL
                                  : ig_compose_lp_norm(node->e, x, axis, p));
}

ig_status ig_onnx_import_mean_variance_norm(ig_onnx_node *node) {
    static const int64_t usual[] = { 0, 2, 3 };
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_ints axes = ig_onnx_attr_list(node, "axes");
    axes = axes.items ? axes : (ig_ints){ usual, 3 };
    for (uint32_t i = 0; i < axes.count; i++) {
        ig_onnx_axis_of(node, axes.items[i], x->type->rank);
    }
    return ig_onnx_give(node, ig_onnx_has_failed(node)
                                  ? NULL
                                  : ig_compose_mean_variance_norm(node->e, x, axes));
}
