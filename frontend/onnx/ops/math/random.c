/* Random numbers: drawn by Philox from the seed, the node's position, and the run;
 * elements that they drop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/dropout.h"
#include "frontend/onnx/ops/hooks.h"

#include <string.h>

/* The attribute is a float; every float is a seed of its own. */
static int64_t read_seed(const ig_onnx_node *node) {
    float seed = (float)ig_onnx_attr_float(node, "seed", 0);
    uint32_t bits;
    memcpy(&bits, &seed, sizeof bits);
    return bits;
}

static ig_value *draw_random(const ig_onnx_node *node, ig_random kind, ig_dtype dtype,
                             ig_dims shape) {
    ig_value *run = ig_build_run_number(node->e);
    ig_random_attrs attrs = { .dtype = dtype,
                              .shape = shape,
                              .kind = (int)kind,
                              .seed = IG_SET(read_seed(node)),
                              .number = IG_SET(node->builder->graph->op_count) };
    return ig_build_random(node->e, run, attrs);
}

/* mean + scale * normal, or low + (high - low) * uniform. */
static ig_value *draw_scaled(const ig_onnx_node *node, ig_dtype dtype, ig_dims shape) {
    bool is_normal = node->row->variant == IG_RANDOM_normal;
    double base = ig_onnx_attr_float(node, is_normal ? "mean" : "low", 0);
    double end = ig_onnx_attr_float(node, is_normal ? "scale" : "high", 1);
    ig_value *x = draw_random(node, (ig_random)node->row->variant, dtype, shape);
    x = ig_expr_with(node->e, IG_OP_mul, x, is_normal ? end : end - base);
    return ig_expr_with(node->e, IG_OP_add, x, base);
}

ig_status ig_onnx_import_random(ig_onnx_node *node) {
    ig_ints shape = ig_onnx_attr_list(node, "shape");
    ig_dim *dims = IG_NEW_ARRAY(node->import->arena, ig_dim, shape.count + 1u);
    for (uint32_t i = 0; i < shape.count; i++) {
        if (!ig_dim_from(shape.items[i], &dims[i])) {
            return ig_onnx_fail(node, IG_INVALID,
                                "entry %u of shape is %lld, expected 0 or more", i,
                                (long long)shape.items[i]);
        }
    }
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", IG_DT_f32);
    return ig_onnx_give(node, draw_scaled(node, dtype, (ig_dims){ dims, shape.count }));
}

ig_status ig_onnx_import_random_like(ig_onnx_node *node) {
    const ig_type *type = node->inputs[0]->type;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", (ig_dtype)type->dtype);
    return ig_onnx_give(node,
                        draw_scaled(node, dtype, (ig_dims){ type->dims, type->rank }));
}

ig_status ig_onnx_import_bernoulli(ig_onnx_node *node) {
    ig_value *p = ig_onnx_float_input(node, 0);
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", (ig_dtype)p->type->dtype);
    ig_value *x = draw_random(node, IG_RANDOM_uniform, (ig_dtype)p->type->dtype,
                              (ig_dims){ p->type->dims, p->type->rank });
    return ig_onnx_give(node, ig_expr_cast(node->e, ig_build_lt(node->e, x, p), dtype));
}

/* Finds a number between 0 and the sum of all weights among their running sums. */
ig_status ig_onnx_import_multinomial(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *logits = ig_onnx_ranked_input(node, 0, 2);
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", IG_DT_i32);
    int64_t count = ig_onnx_attr_between(node, "sample_size", 1, 0, INT32_MAX);
    ig_onnx_float_input(node, 0);
    if (ig_onnx_has_failed(node)) {
        return e->status;
    }
    ig_dim dims[] = { ig_onnx_extent(e, logits, 0), ig_dim_of(count) };
    ig_value *peak = ig_expr_reduce_axis(e, IG_REDUCE_max, logits, 1, true);
    ig_value *weights = ig_build_exp(e, ig_build_sub(e, logits, peak));
    ig_value *total = ig_expr_reduce_axis(e, IG_REDUCE_sum, weights, 1, true);
    ig_value *sums = ig_build_cumsum(e, weights, (ig_cumsum_attrs){ .axis = 1 });
    ig_value *x = draw_random(node, IG_RANDOM_uniform, (ig_dtype)logits->type->dtype,
                              (ig_dims){ dims, 2 });
    x = ig_build_bucketize(e, ig_build_mul(e, x, total), sums,
                           (ig_bucketize_attrs){ .right = true });
    ig_dim last = ig_onnx_extent(e, logits, 1);
    ig_value *classes = ig_expr_dims(e, &last, 1);
    x = ig_build_min(e, x, ig_expr_with(e, IG_OP_sub, classes, 1));
    return ig_onnx_give(node, ig_expr_cast(e, x, dtype));
}

/* ---- Dropout ---- */

/* Elements of x that a draw keeps, which are 1 / (1 - ratio) times as large, and
 * whether each is kept; `training` (bool[] or NULL: true) says whether any are
 * dropped. */
static ig_status drop_elements(ig_onnx_node *node, ig_value *x, ig_value *training) {
    ig_expr *e = node->e;
    ig_value *ratio = ig_onnx_in(node, 1) ? ig_onnx_scalar_input(node, 1)
                                          : ig_expr_number(e, IG_DT_f32, 0.5);
    ratio = ig_expr_cast(e, ratio, IG_DT_f32);
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0), *is_kept = NULL;
    ratio = training ? ig_build_where(e, training, ratio, zero) : ratio;
    ig_dropout how = { .ratio = ratio,
                       .seed = ig_onnx_attr_int(node, "seed", 0),
                       .index = node->builder->graph->op_count };
    ig_value *y = ig_compose_dropout(e, x, &how, &is_kept);
    IG_TRY(e->status);
    if (node->output_count > 1) {
        node->outputs[1] = is_kept;
    }
    return ig_onnx_give(node, y);
}

/* Without training the input as it is; the mask is true everywhere. */
ig_status ig_onnx_import_dropout(ig_onnx_node *node) {
    ig_value *training = ig_onnx_in(node, 2), *x = node->inputs[0];
    double is_training = 0;
    if (training && !ig_constant_f64(training, &is_training)) {
        training = ig_expr_cast(node->e, ig_onnx_scalar_input(node, 2), IG_DT_bool);
        return drop_elements(node, ig_onnx_float_input(node, 0), training);
    }
    if (is_training != 0) {
        return drop_elements(node, ig_onnx_float_input(node, 0), NULL);
    }
    if (node->output_count > 1) {
        node->outputs[1] = ig_expr_fill(node->e, IG_DT_bool, x->type->rank,
                                        x->type->dims, 1);
    }
    return ig_onnx_give(node, x);
}
