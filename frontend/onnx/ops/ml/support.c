/* SVMRegressor: kernels of rows and support vectors, weighed and summed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the standard leaves something open, this is as ONNX Runtime: without support
 * vectors the coefficients are the one vector, and weigh nothing.
 */
#include "frontend/onnx/ops/ml/support.h"

#include "frontend/onnx/ops/hooks.h"

bool ig_onnx_read_kernel(ig_onnx_support *s) {
    const Onnx__AttributeProto *params = ig_onnx_attr(s->node, "kernel_params", NULL);
    s->kind = ig_onnx_attr_choice(s->node, "kernel_type", "LINEAR POLY RBF SIGMOID");
    if (params && params->n_floats > 0 && params->n_floats != 3) {
        ig_onnx_fail(s->node, IG_INVALID, "kernel_params has %zu entries, expected 3",
                     params->n_floats);
    } else if (params && params->n_floats == 3) {
        s->gamma = (double)params->floats[0];
        s->bias = (double)params->floats[1];
        s->degree = (double)params->floats[2];
    }
    return !ig_onnx_has_failed(s->node);
}

ig_value *ig_onnx_support_rows(ig_onnx_support *s, const char *name, int64_t count) {
    ig_value *flat = ig_onnx_take_floats(s->node, name);
    int64_t all = 0;
    if (!flat || !ig_dim_constant(s->e->module, ig_onnx_extent(s->e, flat, 0), &all) ||
        count < 1 || all % count) {
        return ig_expr_fail(s->e, IG_INVALID, "%s has %lld entries, for %lld rows",
                            name, (long long)all, (long long)count);
    }
    ig_dim dims[] = { ig_dim_of(count), ig_dim_of(all / count) };
    return ig_expr_reshape(s->e, flat, 2, dims);
}

/* exp(-gamma |x - v|^2): [N, V] */
static ig_value *measure_distances(const ig_onnx_support *s, ig_value *x) {
    ig_expr *e = s->e;
    ig_value *gap = ig_build_sub(e, ig_expr_unsqueeze(e, x, 1),
                                 ig_expr_unsqueeze(e, s->vectors, 0));
    ig_value *square = ig_build_mul(e, gap, gap);
    square = square ? ig_expr_reduce_axis(e, IG_REDUCE_sum, square, 2, false) : NULL;
    return ig_build_exp(e, ig_expr_with(e, IG_OP_mul, square, -s->gamma));
}

ig_value *ig_onnx_apply_kernel(const ig_onnx_support *s, ig_value *x) {
    ig_expr *e = s->e;
    if (s->kind == IG_ONNX_KERNEL_RBF) {
        return measure_distances(s, x);
    }
    ig_value *y = ig_expr_matmul_transposed(e, x, s->vectors);
    if (s->kind == IG_ONNX_KERNEL_LINEAR) {
        return y;
    }
    y = ig_expr_with(e, IG_OP_mul, y, s->gamma);
    y = ig_expr_with(e, IG_OP_add, y, s->bias);
    return s->kind == IG_ONNX_KERNEL_POLY ? ig_expr_with(e, IG_OP_pow, y, s->degree)
                                          : ig_build_tanh(e, y);
}

ig_status ig_onnx_import_svm_regressor(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_onnx_support s = { .node = node, .e = e };
    int64_t count = ig_onnx_attr_between(node, "n_supports", 0, 0, INT32_MAX);
    uint32_t transform = ig_onnx_attr_choice(node, "post_transform",
                                             IG_ONNX_TRANSFORMS);
    bool is_one_class = ig_onnx_attr_bool(node, "one_class", false);
    ig_value *x = ig_onnx_take_rows(node);
    if (!x || !ig_onnx_read_kernel(&s)) {
        return e->status;
    }
    s.vectors = count ? ig_onnx_support_rows(&s, "support_vectors", count)
                      : ig_onnx_support_rows(&s, "coefficients", 1);
    ig_value *y = ig_onnx_apply_kernel(&s, x);
    if (count) {
        y = ig_expr_matmul_transposed(e, y,
                                      ig_onnx_support_rows(&s, "coefficients", 1));
    }
    ig_value *rho = ig_onnx_take_floats(node, "rho");
    y = rho ? ig_build_add(e, y, ig_expr_select(e, rho, 0, ig_dim_of(0))) : y;
    if (is_one_class) {
        ig_value *is_in = ig_expr_with(e, IG_OP_gt, y, 0);
        return ig_onnx_give(node,
                            ig_build_where(e, is_in, ig_expr_number(e, IG_DT_f32, 1),
                                           ig_expr_number(e, IG_DT_f32, -1)));
    }
    return ig_onnx_give(node, ig_onnx_transform_scores(e, y, transform));
}
