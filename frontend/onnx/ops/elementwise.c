/* Elementwise operators and the activations that are made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

ig_status ig_onnx_import_map(ig_onnx_node *node) {
    uint32_t count = node->row->max_in;
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        for (uint32_t k = 0; k < i; k++) {
            ig_onnx_guard_broadcast(node, node->inputs[k], node->inputs[i]);
        }
    }
    return ig_onnx_build(node, (ig_opcode)node->row->variant, count, node->inputs, NULL,
                         &node->outputs[0]);
}

/* Min, Max, Sum: pairs from the left. */
ig_status ig_onnx_import_variadic(ig_onnx_node *node) {
    ig_opcode code = (ig_opcode)node->row->variant;
    IG_TRY(ig_onnx_tensor(node, 0));
    ig_value *all = node->inputs[0];
    for (uint32_t i = 1; i < node->input_count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        IG_TRY(ig_onnx_build2(node, code, all, node->inputs[i], &all));
    }
    node->outputs[0] = all;
    return IG_OK;
}

ig_status ig_onnx_import_mean(ig_onnx_node *node) {
    ig_value *sum;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    sum = node->inputs[0];
    for (uint32_t i = 1; i < node->input_count; i++) {
        IG_TRY(ig_onnx_tensor(node, i));
        IG_TRY(ig_onnx_build2(node, IG_OP_add, sum, node->inputs[i], &sum));
    }
    return ig_onnx_build_scalar(node, IG_OP_div, sum, node->input_count,
                                &node->outputs[0]);
}

ig_status ig_onnx_import_isinf(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    ig_attr attrs[IG_isinf_attr_count] = {
        [IG_isinf_skip_positive] =
            ig_attr_of_bool(!ig_onnx_attr_int(node, "detect_positive", 1)),
        [IG_isinf_skip_negative] =
            ig_attr_of_bool(!ig_onnx_attr_int(node, "detect_negative", 1)),
    };
    return ig_onnx_build(node, IG_OP_isinf, 1, node->inputs, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_mod(ig_onnx_node *node) {
    bool truncates = ig_onnx_attr_int(node, "fmod", 0) != 0;
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    if (!truncates && ig_dtype_is_float((ig_dtype)node->inputs[0]->type->dtype)) {
        return ig_onnx_fail(node, IG_INVALID,
                            "on floating-point elements needs fmod = 1");
    }
    ig_onnx_guard_broadcast(node, node->inputs[0], node->inputs[1]);
    ig_attr attrs[IG_mod_attr_count] = { 0 };
    if (truncates) {
        attrs[IG_mod_truncate] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(node, IG_OP_mod, 2, node->inputs, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_bit_shift(ig_onnx_node *node) {
    ig_str direction = ig_onnx_attr_str(node, "direction", "");
    bool is_left = ig_str_is(direction, "LEFT");
    if (!is_left && !ig_str_is(direction, "RIGHT")) {
        return ig_onnx_fail(node, IG_INVALID,
                            "direction is '%.*s', expected LEFT or RIGHT",
                            IG_STR_ARG(direction));
    }
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    return ig_onnx_build2(node, is_left ? IG_OP_shl : IG_OP_shr, node->inputs[0],
                          node->inputs[1], &node->outputs[0]);
}

/* ---- clip: min(max(x, low), high), so that high wins where low > high ---- */

static ig_status clip_between(ig_onnx_node *node, ig_value *low, ig_value *high) {
    ig_value *x = node->inputs[0];
    if (low) {
        IG_TRY(ig_onnx_build2(node, IG_OP_max, x, low, &x));
    }
    if (high) {
        IG_TRY(ig_onnx_build2(node, IG_OP_min, x, high, &x));
    }
    node->outputs[0] = x;
    return IG_OK;
}

ig_status ig_onnx_import_clip_attributes(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_dtype dtype = (ig_dtype)node->inputs[0]->type->dtype;
    ig_value *low = NULL, *high = NULL;
    if (ig_onnx_attr(node, "min", NULL)) {
        low = ig_onnx_scalar(node, dtype, ig_onnx_attr_float(node, "min", 0));
    }
    if (ig_onnx_attr(node, "max", NULL)) {
        high = ig_onnx_scalar(node, dtype, ig_onnx_attr_float(node, "max", 0));
    }
    return clip_between(node, low, high);
}

ig_status ig_onnx_import_clip(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    for (uint32_t i = 1; i < 3; i++) {
        const ig_value *bound = ig_onnx_in(node, i);
        if (bound && (bound->type->kind != IG_TENSOR || bound->type->rank > 0)) {
            const ig_type *type = bound->type;
            bool is_one = type->kind == IG_TENSOR && type->rank == 1 &&
                          ig_dim_is(type->dims[0], 1);
            if (!is_one) {
                return ig_onnx_fail(node, IG_INVALID, "input %u must be a scalar", i);
            }
        }
    }
    return clip_between(node, ig_onnx_in(node, 1), ig_onnx_in(node, 2));
}

/* ---- casts ---- */

static ig_status cast_to(ig_onnx_node *node, ig_dtype to) {
    ig_value *x = node->inputs[0];
    if (x->type->dtype == to) {
        node->outputs[0] = x;
        return IG_OK;
    }
    if (ig_dtypes[to].bits < 8 && ig_dtype_is_float((ig_dtype)x->type->dtype)) {
        x = ig_make_cast(node->builder, x,
                         IG_DT_i32); /* keeps the low bits, as numpy */
    }
    ig_attr attrs[IG_cast_attr_count] = { [IG_cast_to] = ig_attr_of_dtype(to) };
    bool is_float8 = ig_dtypes[to].bits == 8 && ig_dtype_is_float(to);
    if (is_float8) {
        bool saturates = ig_onnx_attr_int(node, "saturate", 1) != 0;
        attrs[IG_cast_saturate] = ig_attr_of_bool(saturates);
    }
    return ig_onnx_build(node, IG_OP_cast, 1, &x, attrs, &node->outputs[0]);
}

ig_status ig_onnx_import_cast(ig_onnx_node *node) {
    ig_dtype to;
    int64_t code = ig_onnx_attr_int(node, "to", 0);
    IG_TRY(ig_onnx_tensor(node, 0));
    if (!ig_dtype_from_onnx(code, &to)) {
        bool is_known = code > 0 && code <= ONNX__TENSOR_PROTO__DATA_TYPE__INT2;
        return ig_onnx_fail(node, is_known ? IG_UNSUPPORTED : IG_INVALID,
                            is_known
                                ? "casts to element type %lld are not supported yet"
                                : "there is no element type %lld to cast to",
                            (long long)code);
    }
    return cast_to(node, to);
}

ig_status ig_onnx_import_cast_like(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    return cast_to(node, (ig_dtype)node->inputs[1]->type->dtype);
}

/* ---- activations ---- */

/* where(x < 0, below, x) */
static ig_status below_zero(ig_onnx_node *node, ig_value *x, ig_value *below) {
    ig_value *is_below;
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_lt, x, 0, &is_below));
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_below, below, x },
                         NULL, &node->outputs[0]);
}

ig_status ig_onnx_import_leaky_relu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *scaled;
    double alpha = ig_onnx_attr_float(node, "alpha", 0.01f);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &scaled));
    return below_zero(node, x, scaled);
}

ig_status ig_onnx_import_prelu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_tensor(node, 0));
    IG_TRY(ig_onnx_tensor(node, 1));
    ig_value *x = node->inputs[0], *scaled;
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, node->inputs[1], &scaled));
    return below_zero(node, x, scaled);
}

ig_status ig_onnx_import_thresholded_relu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *is_above;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_gt, x, alpha, &is_above));
    ig_value *zero = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, 0);
    return ig_onnx_build(node, IG_OP_where, 3, (ig_value *[]){ is_above, x, zero },
                         NULL, &node->outputs[0]);
}

/* alpha * (exp(x / divisor) - 1) */
static ig_status exponential(ig_onnx_node *node, ig_value *x, double alpha,
                             double divisor, ig_value **out_value) {
    if (divisor != 1) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_div, x, divisor, &x));
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_exp, x, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_sub, x, 1, &x));
    return ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, out_value);
}

ig_status ig_onnx_import_elu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    IG_TRY(exponential(node, x, ig_onnx_attr_float(node, "alpha", 1), 1, &below));
    return below_zero(node, x, below);
}

ig_status ig_onnx_import_selu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    double alpha = ig_onnx_attr_float(node, "alpha", 1.67326319217681884765625);
    double gamma = ig_onnx_attr_float(node, "gamma", 1.05070102214813232421875);
    IG_TRY(exponential(node, x, alpha, 1, &below));
    IG_TRY(below_zero(node, x, below));
    return ig_onnx_build_scalar(node, IG_OP_mul, node->outputs[0], gamma,
                                &node->outputs[0]);
}

ig_status ig_onnx_import_celu(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    IG_TRY(exponential(node, x, alpha, alpha, &below));
    return below_zero(node, x, below);
}

/* max(0, min(1, alpha * x + beta)) */
static ig_status hard_sigmoid(ig_onnx_node *node, double alpha, double beta,
                              ig_value **out_value) {
    ig_value *x = node->inputs[0];
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, x, beta, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_min, x, 1, &x));
    return ig_onnx_build_scalar(node, IG_OP_max, x, 0, out_value);
}

ig_status ig_onnx_import_hard_sigmoid(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    return hard_sigmoid(node, ig_onnx_attr_float(node, "alpha", 0.2f),
                        ig_onnx_attr_float(node, "beta", 0.5), &node->outputs[0]);
}

ig_status ig_onnx_import_hard_swish(ig_onnx_node *node) {
    ig_value *gate;
    IG_TRY(ig_onnx_float_tensor(node, 0));
    IG_TRY(hard_sigmoid(node, 1.0 / 6, 0.5, &gate));
    return ig_onnx_build2(node, IG_OP_mul, node->inputs[0], gate, &node->outputs[0]);
}

ig_status ig_onnx_import_softsign(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *below;
    IG_TRY(ig_onnx_build1(node, IG_OP_abs, x, &below));
    IG_TRY(ig_onnx_scalar_build(node, IG_OP_add, 1, below, &below));
    return ig_onnx_build2(node, IG_OP_div, x, below, &node->outputs[0]);
}

ig_status ig_onnx_import_mish(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate;
    IG_TRY(ig_onnx_build1(node, IG_OP_softplus, x, &gate));
    IG_TRY(ig_onnx_build1(node, IG_OP_tanh, gate, &gate));
    return ig_onnx_build2(node, IG_OP_mul, x, gate, &node->outputs[0]);
}

ig_status ig_onnx_import_swish(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate = x;
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    if (alpha != 1) {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, alpha, &gate));
    }
    IG_TRY(ig_onnx_build1(node, IG_OP_sigmoid, gate, &gate));
    return ig_onnx_build2(node, IG_OP_mul, x, gate, &node->outputs[0]);
}

/* sqrt(2 / pi) * (x + 0.044715 * x^3) */
static ig_status gelu_tanh(ig_onnx_node *node, ig_value *x, ig_value **out_value) {
    ig_value *cube;
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, x, &cube));
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, cube, x, &cube));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, cube, 0.044715, &cube));
    IG_TRY(ig_onnx_build2(node, IG_OP_add, x, cube, &cube));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, cube, 0.79788456080286535588, &cube));
    return ig_onnx_build1(node, IG_OP_tanh, cube, out_value);
}

ig_status ig_onnx_import_gelu(ig_onnx_node *node) {
    ig_str approximate = ig_onnx_attr_str(node, "approximate", "none");
    bool is_tanh = ig_str_is(approximate, "tanh");
    if (!is_tanh && !ig_str_is(approximate, "none")) {
        return ig_onnx_fail(node, IG_INVALID,
                            "approximate is '%.*s', expected none or tanh",
                            IG_STR_ARG(approximate));
    }
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *x = node->inputs[0], *gate, *half;
    if (is_tanh) {
        IG_TRY(gelu_tanh(node, x, &gate));
    } else {
        IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, 0.70710678118654752440, &gate));
        IG_TRY(ig_onnx_build1(node, IG_OP_erf, gate, &gate));
    }
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_add, gate, 1, &gate));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_mul, x, 0.5, &half));
    return ig_onnx_build2(node, IG_OP_mul, half, gate, &node->outputs[0]);
}
