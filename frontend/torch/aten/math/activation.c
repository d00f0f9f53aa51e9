/* Activations: arguments of the formulas in compose/activation.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/activation.h"
#include "compose/dropout.h"

#include "frontend/torch/aten/aten.h"
#include "frontend/torch/aten/quant.h"

/* Operand 0; integers as f32. */
static ig_value *read_float(ig_ts_call *call) {
    return ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
}

/* ---- those with quantised forms ---- */

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
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call, ig_compose_clip(call->e, x, 0, 6));
}

ig_status ig_ts_op_hardtanh(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_hardtanh);
    }
    ig_value *x = ig_aten_tensor(call, 0);
    double low = ig_aten_float(call, 1), high = ig_aten_float(call, 2);
    return ig_aten_give(call, ig_compose_clip(call->e, x, low, high));
}

static ig_value *compose_hard_sigmoid(ig_ts_call *call, const ig_aten_quantised *q) {
    return ig_compose_hard_sigmoid(call->e, ig_aten_dequantise(call, q), 1.0 / 6, 0.5);
}

ig_status ig_ts_op_hardsigmoid(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        ig_aten_quantised q;
        return ig_aten_quantised_arg(call, 0, &q)
                   ? ig_aten_give_unit(call, compose_hard_sigmoid(call, &q), q.dtype)
                   : call->e->status;
    }
    ig_value *x = read_float(call);
    return ig_aten_give(call, ig_compose_hard_sigmoid(call->e, x, 1.0 / 6, 0.5));
}

ig_status ig_ts_op_hardswish(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_hardswish);
    }
    return ig_aten_give(call, ig_compose_hard_swish(call->e, read_float(call)));
}

ig_status ig_ts_op_leaky_relu(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_leaky_relu);
    }
    double slope = ig_aten_float(call, 1);
    return ig_aten_give(call, ig_compose_leaky_relu(call->e, read_float(call), slope));
}

ig_status ig_ts_op_elu(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_elu);
    }
    double alpha = ig_aten_float(call, 1), scale = ig_aten_float(call, 2);
    double rate = ig_aten_float(call, 3);
    return ig_aten_give(call,
                        ig_compose_elu(call->e, read_float(call), alpha, scale, rate));
}

/* ---- the others ---- */

ig_status ig_ts_op_selu(ig_ts_call *call) {
    static const double alpha = 1.6732632423543772848170429916717;
    static const double scale = 1.0507009873554804934193349852946;
    return ig_aten_give(call,
                        ig_compose_elu(call->e, read_float(call), alpha, scale, 1));
}

ig_status ig_ts_op_celu(ig_ts_call *call) {
    double alpha = ig_aten_float(call, 1);
    return ig_aten_give(call,
                        ig_compose_elu(call->e, read_float(call), alpha, 1, 1 / alpha));
}

ig_status ig_ts_op_gelu(ig_ts_call *call) {
    ig_str approximate = ig_aten_str(call, 1);
    ig_value *x = ig_aten_tensor(call, 0);
    bool by_tanh = ig_str_is(approximate, "tanh");
    if (!by_tanh && !ig_str_is(approximate, "none")) {
        ig_expr_fail(call->e, IG_INVALID,
                     "approximate is '%.*s', expected none or tanh",
                     IG_STR_ARG(approximate));
    }
    ig_gelu_attrs attrs = { .tanh = by_tanh };
    /* oneDNN's, which torch asks for more than one element (use_mkldnn). */
    int64_t count = 0;
    bool is_one = x && ig_dim_known(ig_type_count(call->module, x->type), &count) &&
                  count == 1;
    attrs.finite = x && x->type->dtype == IG_DT_f32 && !by_tanh && !is_one;
    return ig_aten_give(call, ig_build_gelu(call->e, x, attrs));
}

ig_status ig_ts_op_silu(ig_ts_call *call) {
    return ig_aten_give(call, ig_compose_swish(call->e, read_float(call), 1));
}

ig_status ig_ts_op_mish(ig_ts_call *call) {
    return ig_aten_give(call, ig_compose_mish(call->e, read_float(call)));
}

ig_status ig_ts_op_log_sigmoid(ig_ts_call *call) {
    return ig_aten_give(call, ig_compose_log_sigmoid(call->e, read_float(call)));
}

ig_status ig_ts_op_softplus(ig_ts_call *call) {
    double beta = ig_aten_float(call, 1), threshold = ig_aten_float(call, 2);
    return ig_aten_give(
        call, ig_compose_softplus(call->e, read_float(call), beta, threshold));
}

/* One slope for all, or one for each channel (axis 1); variant 1: broadcast with x. */
ig_status ig_ts_op_prelu(ig_ts_call *call) {
    ig_value *x = read_float(call), *slope = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    if (call->row->variant == 1) {
        return ig_aten_give(call, ig_compose_prelu(call->e, x, slope, false));
    }
    if (slope->type->rank == 1 && x->type->rank > 1) {
        slope = ig_expr_along(call->e, slope, 1, x->type->rank);
    } else if (x->type->rank == 0) {
        slope = ig_expr_reshape(call->e, slope, 0, NULL);
    }
    return ig_aten_give(call, ig_compose_prelu(call->e, x, slope, false));
}

/* In evaluation: the mean of the two slopes. */
ig_status ig_ts_op_rrelu(ig_ts_call *call) {
    double slope = (ig_aten_float(call, 1) + ig_aten_float(call, 2)) / 2;
    if (ig_aten_bool(call, 3)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "training with random slopes");
    }
    return ig_aten_give(call, ig_compose_leaky_relu(call->e, read_float(call), slope));
}

ig_status ig_ts_op_glu(ig_ts_call *call) {
    ig_value *x = read_float(call);
    uint32_t axis;
    if (!x || !ig_aten_axis_of_many(call, 1, x->type->rank, &axis)) {
        return call->e->status;
    }
    return ig_aten_give(call, ig_compose_glu(call->e, x, axis));
}

ig_status ig_ts_op_threshold(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    double threshold = ig_aten_float(call, 1), value = ig_aten_float(call, 2);
    return ig_aten_give(call, ig_compose_threshold(call->e, x, threshold, value));
}

ig_status ig_ts_op_hardshrink(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call,
                        ig_compose_hard_shrink(call->e, x, ig_aten_float(call, 1)));
}

ig_status ig_ts_op_softshrink(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call,
                        ig_compose_soft_shrink(call->e, x, ig_aten_float(call, 1)));
}

ig_status ig_ts_op_logit(ig_ts_call *call) {
    double eps = ig_aten_float_or(call, 1, -1);
    return ig_aten_give(call, ig_compose_logit(call->e, read_float(call), eps));
}

static ig_value *drop_elements(ig_ts_call *call, ig_value **out_kept) {
    ig_value *x = read_float(call);
    ig_value *ratio = ig_expr_number(call->e, IG_DT_f32, ig_aten_float(call, 1));
    ig_dropout how = { .ratio = ratio, .index = call->builder->graph->op_count };
    return ig_compose_dropout(call->e, x, &how, out_kept);
}

/* dropout(input, p, train): the identity when not training; of features (variant 1),
 * and to alpha, where training. */
ig_status ig_ts_op_dropout(ig_ts_call *call) {
    if (!ig_aten_bool(call, 2) || ig_aten_float(call, 1) <= 0) {
        return ig_ts_give_arg(call, 0, 0);
    }
    return call->row->variant == 0
               ? ig_aten_give(call, drop_elements(call, NULL))
               : ig_ts_fail(call, IG_UNSUPPORTED,
                            "dropout of features, or to alpha, in training mode");
}

/* native_dropout(input, p, train): and which elements are kept */
ig_status ig_ts_op_native_dropout(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *kept = NULL;
    IG_TRY(call->e->status);
    bool is_training = ig_ts_is_none(call, 2) || ig_aten_bool(call, 2);
    if (is_training && ig_aten_float(call, 1) > 0) {
        ig_value *y = drop_elements(call, &kept);
        return ig_aten_give2(call, y, kept);
    }
    kept = ig_expr_fill(call->e, IG_DT_bool, x->type->rank, x->type->dims, 1);
    return ig_aten_give2(call, x, kept);
}

/* ---- softmax ---- */

static ig_status give_softmax(ig_ts_call *call, bool is_log) {
    ig_value *x = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    const ig_type *type = x->type;
    uint32_t axis = ig_aten_axis(call, 1, type->rank);
    ig_dtype own = ig_expr_is_float(x) ? (ig_dtype)type->dtype : IG_DT_f32;
    ig_dtype dtype = call->row->variant ? own : ig_aten_dtype(call, 2, own);
    x = ig_aten_cast(call, x, dtype);
    x = type->rank == 0 ? ig_expr_unsqueeze(call->e, x, 0) : x;
    x = ig_build_softmax(call->e, x, (ig_softmax_attrs){ .axis = axis, .log = is_log });
    return ig_aten_give(call, ig_expr_reshape(call->e, x, type->rank, type->dims));
}

/* Variant 1: the argument after the axis is half_to_float, true on GPUs only. */
ig_status ig_ts_op_softmax(ig_ts_call *call) {
    return give_softmax(call, false);
}

ig_status ig_ts_op_log_softmax(ig_ts_call *call) {
    return give_softmax(call, true);
}
