/* Activations, built from elementwise ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch computes f16 and bf16 activations in f32 and rounds once, so each formula works
 * on the widened operand and casts at its end. */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/aten.h"

#include <math.h>

/* Operand 0 in the dtype that the formula computes in; its own goes to `out_dtype`. */
static ig_value *widen(ig_ts_call *call, ig_dtype *out_dtype) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    *out_dtype = x ? (ig_dtype)x->type->dtype : IG_DT_f32;
    return ig_aten_wide(call, x);
}

static ig_status give_as(ig_ts_call *call, ig_value *value, ig_dtype dtype) {
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}

/* min(max(x, low), high) */
static ig_value *clip(ig_ts_call *call, ig_value *x, double low, double high) {
    x = ig_expr_with(call->e, IG_OP_max, x, low);
    return ig_expr_with(call->e, IG_OP_min, x, high);
}

ig_status ig_ts_op_relu(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_relu);
    }
    return ig_aten_give(call, ig_build_relu(call->e, ig_aten_tensor(call, 0)));
}

ig_status ig_ts_op_relu6(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_relu6);
    }
    return ig_aten_give(call, clip(call, ig_aten_tensor(call, 0), 0, 6));
}

ig_status ig_ts_op_gelu(ig_ts_call *call) {
    ig_str approximate = ig_aten_str(call, 1);
    ig_value *x = ig_aten_tensor(call, 0);
    ig_attr attrs[IG_gelu_attr_count] = { 0 };
    if (ig_str_is(approximate, "tanh")) {
        attrs[IG_gelu_tanh] = ig_attr_of_bool(true);
    } else if (!ig_str_is(approximate, "none")) {
        ig_expr_fail(call->e, IG_INVALID,
                     "approximate is '%.*s', expected none or tanh",
                     IG_STR_ARG(approximate));
    }
    ig_value *y = ig_expr_make(call->e, IG_OP_gelu, &x, 1, attrs);
    if (y && x->type->dtype == IG_DT_f32 && ig_str_is(approximate, "none")) {
        /* torch's kernel has NaN for both infinities: there x - x is, and 0
         * elsewhere. */
        y = ig_build_add(call->e, y, ig_build_sub(call->e, x, x));
    }
    return ig_aten_give(call, y);
}

ig_status ig_ts_op_silu(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    x = ig_build_mul(call->e, x, ig_build_sigmoid(call->e, x));
    return give_as(call, x, dtype);
}

ig_status ig_ts_op_mish(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    ig_value *gate = ig_build_softplus(call->e, x);
    gate = ig_build_tanh(call->e, gate);
    return give_as(call, ig_build_mul(call->e, x, gate), dtype);
}

/* min(max(x + 3, 0), 6) */
static ig_value *hard_gate(ig_ts_call *call, ig_value *x) {
    return clip(call, ig_expr_with(call->e, IG_OP_add, x, 3), 0, 6);
}

ig_status ig_ts_op_hardsigmoid(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_hardsigmoid);
    }
    ig_dtype dtype;
    ig_value *x = hard_gate(call, widen(call, &dtype));
    return give_as(call, ig_expr_with(call->e, IG_OP_div, x, 6), dtype);
}

ig_status ig_ts_op_hardswish(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_hardswish);
    }
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    x = ig_build_mul(call->e, x, hard_gate(call, x));
    return give_as(call, ig_expr_with(call->e, IG_OP_div, x, 6), dtype);
}

ig_status ig_ts_op_hardtanh(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_hardtanh);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call,
                        clip(call, x, ig_aten_float(call, 1), ig_aten_float(call, 2)));
}

/* where(x > 0, x, below) */
static ig_value *above_zero(ig_ts_call *call, ig_value *x, ig_value *below) {
    ig_value *is_above = ig_expr_with(call->e, IG_OP_gt, x, 0);
    return ig_build_where(call->e, is_above, x, below);
}

ig_status ig_ts_op_leaky_relu(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_leaky_relu);
    }
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    ig_value *below = ig_expr_with(call->e, IG_OP_mul, x, ig_aten_float(call, 1));
    return give_as(call, above_zero(call, x, below), dtype);
}

/* scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1)) */
static ig_status elu(ig_ts_call *call, double alpha, double scale, double input_scale) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    ig_value *below = x;
    if (input_scale != 1) {
        below = ig_expr_with(call->e, IG_OP_mul, x, input_scale);
    }
    below = ig_build_expm1(call->e, below);
    if (alpha != 1) {
        below = ig_expr_with(call->e, IG_OP_mul, below, alpha);
    }
    x = above_zero(call, x, below);
    if (scale != 1) {
        x = ig_expr_with(call->e, IG_OP_mul, x, scale);
    }
    return give_as(call, x, dtype);
}

ig_status ig_ts_op_elu(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_elu);
    }
    return elu(call, ig_aten_float(call, 1), ig_aten_float(call, 2),
               ig_aten_float(call, 3));
}

ig_status ig_ts_op_selu(ig_ts_call *call) {
    return elu(call, 1.6732632423543772848170429916717,
               1.0507009873554804934193349852946, 1);
}

ig_status ig_ts_op_celu(ig_ts_call *call) {
    double alpha = ig_aten_float(call, 1);
    return elu(call, alpha, 1, 1 / alpha);
}

/* One slope for all, or one for each channel (axis 1). */
ig_status ig_ts_op_prelu(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    ig_value *slope = ig_aten_wide(call, ig_aten_tensor(call, 1));
    if (x && slope && slope->type->rank == 1 && x->type->rank > 1) {
        ig_dim dims[IG_TENSOR_RANK];
        for (uint32_t i = 0; i < x->type->rank; i++) {
            dims[i] = i == 1 ? slope->type->dims[0] : ig_dim_of(1);
        }
        slope = ig_expr_reshape(call->e, slope, x->type->rank, dims);
    } else if (slope && x && x->type->rank == 0) {
        slope = ig_expr_reshape(call->e, slope, 0, NULL);
    }
    ig_value *below = ig_build_mul(call->e, x, slope);
    return give_as(call, above_zero(call, x, below), dtype);
}

/* In evaluation: the mean of the two slopes. */
ig_status ig_ts_op_rrelu(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    if (ig_aten_bool(call, 3)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "training with random slopes");
    }
    double slope = (ig_aten_float(call, 1) + ig_aten_float(call, 2)) / 2;
    ig_value *below = ig_expr_with(call->e, IG_OP_mul, x, slope);
    return give_as(call, above_zero(call, x, below), dtype);
}

/* Linear where beta * x passes the threshold. */
ig_status ig_ts_op_softplus(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    double beta = ig_aten_float(call, 1), threshold = ig_aten_float(call, 2);
    ig_value *scaled = beta == 1 ? x : ig_expr_with(call->e, IG_OP_mul, x, beta);
    ig_value *y = ig_build_softplus(call->e, scaled);
    if (beta != 1) {
        y = ig_expr_with(call->e, IG_OP_div, y, beta);
    }
    ig_value *is_linear = ig_expr_with(call->e, IG_OP_gt, scaled, threshold);
    return give_as(call, ig_build_where(call->e, is_linear, x, y), dtype);
}

/* -softplus(-x) */
ig_status ig_ts_op_log_sigmoid(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = ig_build_neg(call->e, widen(call, &dtype));
    x = ig_build_softplus(call->e, x);
    return give_as(call, ig_build_neg(call->e, x), dtype);
}

ig_status ig_ts_op_glu(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    if (!x) {
        return call->e->status;
    }
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 1, x->type->rank, &axis)) {
        return call->e->status;
    }
    ig_dim half = ig_dim_floor_div(call->module, x->type->dims[axis], ig_dim_of(2));
    ig_value *gate = ig_expr_slice(call->e, x, axis, half, half, 1);
    x = ig_expr_slice(call->e, x, axis, ig_dim_of(0), half, 1);
    x = ig_build_mul(call->e, x, ig_build_sigmoid(call->e, gate));
    return give_as(call, x, dtype);
}

/* x where x > threshold (NaN stays), else value. */
ig_status ig_ts_op_threshold(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *is_below = ig_expr_with(call->e, IG_OP_le, x, ig_aten_float(call, 1));
    ig_value *value = x ? ig_expr_number(call->e, (ig_dtype)x->type->dtype,
                                         ig_aten_float(call, 2))
                        : NULL;
    return ig_aten_give(call, ig_build_where(call->e, is_below, value, x));
}

/* 0 between -lambda and lambda. */
ig_status ig_ts_op_hardshrink(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    double lambda = ig_aten_float(call, 1);
    ig_value *is_low = ig_expr_with(call->e, IG_OP_ge, x, -lambda);
    ig_value *is_high = ig_expr_with(call->e, IG_OP_le, x, lambda);
    ig_value *is_between = ig_build_and(call->e, is_low, is_high);
    ig_value *zero = x ? ig_expr_number(call->e, (ig_dtype)x->type->dtype, 0) : NULL;
    return ig_aten_give(call, ig_build_where(call->e, is_between, zero, x));
}

/* x - clip(x, -lambda, lambda); NaN stays. */
ig_status ig_ts_op_softshrink(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    double lambda = ig_aten_float(call, 1);
    return ig_aten_give(call, ig_build_sub(call->e, x, clip(call, x, -lambda, lambda)));
}

/* log(x / (1 - x)), x clipped by eps first. */
ig_status ig_ts_op_logit(ig_ts_call *call) {
    ig_dtype dtype;
    ig_value *x = widen(call, &dtype);
    if (!ig_ts_is_none(call, 1)) {
        double eps = ig_aten_float(call, 1);
        ig_value *low = x ? ig_expr_number(call->e, (ig_dtype)x->type->dtype, eps)
                          : NULL;
        ig_value *is_low = ig_expr_with(call->e, IG_OP_lt, x, eps);
        x = ig_build_where(call->e, is_low, low,
                           ig_expr_with(call->e, IG_OP_min, x, 1 - eps));
    }
    ig_value *rest = ig_expr_number_with(call->e, IG_OP_sub, 1, x);
    x = ig_build_log(call->e, ig_build_div(call->e, x, rest));
    return give_as(call, x, dtype);
}

/* The identity when not training. */
ig_status ig_ts_op_dropout(ig_ts_call *call) {
    if (ig_aten_bool(call, 2) && ig_aten_float(call, 1) > 0) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "dropout in training mode");
    }
    return ig_ts_give_arg(call, 0, 0);
}

/* ---- softmax ---- */

static ig_status softmax(ig_ts_call *call, bool is_log) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    const ig_type *type = x->type;
    uint32_t axis = ig_aten_axis(call, 1, type->rank);
    IG_TRY(call->e->status);
    ig_dtype dtype = (ig_dtype)ig_expr_to_float(call->e, x)->type->dtype;
    x = ig_aten_cast(call, x,
                     call->row->variant ? dtype : ig_aten_dtype(call, 2, dtype));
    if (type->rank == 0) {
        x = ig_expr_reshape(call->e, x, 1, (ig_dim[]){ ig_dim_of(1) });
    }
    ig_attr attrs[IG_softmax_attr_count] = { [IG_softmax_axis] = ig_attr_of_int(axis) };
    if (is_log) {
        attrs[IG_softmax_log] = ig_attr_of_bool(true);
    }
    x = ig_expr_make(call->e, IG_OP_softmax, &x, 1, attrs);
    return ig_aten_give(call, ig_expr_reshape(call->e, x, type->rank, type->dims));
}

/* Variant 1: the argument after the axis is half_to_float, true on GPUs only. */
ig_status ig_ts_op_softmax(ig_ts_call *call) {
    return softmax(call, false);
}

ig_status ig_ts_op_log_softmax(ig_ts_call *call) {
    return softmax(call, true);
}
