/* Quantised operators: rows of scales and zero points, and integer products.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A scale is a number, a vector along an axis, or one element for each block of that
 * axis (QuantizeLinear).  ONNX divides by it: round(x / scale) + zero point.
 */
#include "frontend/onnx/ops/nn/window.h"
#include "frontend/onnx/ops/hooks.h"

/* ---- QuantizeLinear and DequantizeLinear ---- */

static void check_zero_point(const ig_onnx_node *node, const ig_value *zero,
                             ig_dtype dtype) {
    if (zero && zero->type->dtype != dtype) {
        ig_onnx_fail(node, IG_INVALID,
                     "the zero point has elements of type %s, expected %s",
                     ig_dtypes[zero->type->dtype].name, ig_dtypes[dtype].name);
    }
}

/* Inputs 1 and 2 with axis and block; `dtype` is that of the zero point. */
static ig_quant_params read_quant(const ig_onnx_node *node, ig_dtype dtype) {
    ig_quant_params q = { .scale = node->inputs[1], .zero_point = ig_onnx_in(node, 2) };
    uint32_t rank = node->inputs[0]->type->rank;
    int64_t axis = ig_onnx_attr_int(node, "axis", 1);
    q.block = ig_onnx_attr_between(node, "block_size", 0, 0, INT32_MAX);
    check_zero_point(node, q.zero_point, dtype);
    q.axis = axis < 0 ? axis + rank : axis;
    if (q.block) {
        q.axis = ig_onnx_axis_of(node, axis, rank);
    } else if (q.axis < 0 || q.axis >= rank) { /* no axis: then it is one number */
        q.axis = -1;
        q.scale = ig_expr_reshape(node->e, q.scale, 0, NULL);
        q.zero_point = ig_expr_reshape(node->e, q.zero_point, 0, NULL);
    }
    return q;
}

/* From opset 23 on the scale's type, or `precision`, is that of the quotient: a narrow
 * one is rounded before it is rounded to an integer.  (Blocks are divided in f32.) */
static ig_value *divide_narrowly(const ig_onnx_node *node, ig_value *x,
                                 ig_quant_params *q) {
    ig_dtype scale = (ig_dtype)q->scale->type->dtype;
    ig_dtype precision = ig_onnx_row_has_attr(node->row, "precision")
                             ? ig_onnx_attr_dtype(node, "precision", scale)
                             : IG_DT_f32;
    if ((precision != IG_DT_f16 && precision != IG_DT_bf16) || q->block) {
        return x;
    }
    ig_expr *e = node->e;
    ig_value *divisor = q->scale;
    if (q->axis >= 0 && divisor->type->rank == 1) {
        divisor = ig_expr_along(e, divisor, (uint32_t)q->axis, x->type->rank);
    }
    divisor = ig_expr_cast(e, divisor, precision);
    q->scale = ig_expr_fill(e, IG_DT_f32, q->scale->type->rank, q->scale->type->dims,
                            1);
    return ig_expr_cast(e, ig_build_div(e, ig_expr_cast(e, x, precision), divisor),
                        IG_DT_f32);
}

/* The attribute output_dtype; com.microsoft's rows have none. */
static ig_dtype read_output_dtype(const ig_onnx_node *node, ig_dtype absent) {
    return ig_onnx_row_has_attr(node->row, "output_dtype")
               ? ig_onnx_attr_dtype(node, "output_dtype", absent)
               : absent;
}

/* QuantizeLinear(x, scale, zero_point?) */
ig_status ig_onnx_import_quantize(ig_onnx_node *node) {
    const ig_value *zero = ig_onnx_in(node, 2);
    ig_dtype absent = zero ? (ig_dtype)zero->type->dtype : IG_DT_u8;
    ig_dtype to = read_output_dtype(node, absent);
    ig_quant_params q = read_quant(node, to);
    ig_value *x = node->inputs[0];
    if (!ig_dtype_is_float(to)) {
        x = ig_onnx_has_failed(node) ? x : divide_narrowly(node, x, &q);
        q.scale = ig_expr_cast(node->e, q.scale, IG_DT_f32);
        return ig_onnx_give(
            node, ig_compose_quantize(node->e, x, &q, to, IG_ROUNDING_divide));
    }
    bool saturate = !ig_onnx_row_has_attr(node->row, "saturate") ||
                    ig_onnx_attr_bool(node, "saturate", true);
    return ig_onnx_give(node, ig_compose_quantize_float(node->e, x, &q, to, saturate));
}

/* DequantizeLinear(x, scale, zero_point?) */
ig_status ig_onnx_import_dequantize(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    ig_dtype narrow = (ig_dtype)node->inputs[1]->type->dtype;
    ig_dtype to = read_output_dtype(node, narrow);
    ig_quant_params q = read_quant(node, (ig_dtype)x->type->dtype);
    if (to == IG_DT_f8e8m0) {
        return ig_onnx_fail(node, IG_INVALID,
                            "the result would have elements of type f8e8m0, as the "
                            "scale: output_dtype must say another one");
    }
    return ig_onnx_give(node, ig_compose_dequantize(node->e, x, &q, to));
}

/* DynamicQuantizeLinear(x): u8, with the scale and zero point that hold x and 0 */
ig_status ig_onnx_import_quantize_dynamic(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_quant_params q = ig_compose_choose_quant(node->e, x);
    node->outputs[1] = q.scale;
    node->outputs[2] = q.zero_point;
    return ig_onnx_give(
        node, ig_compose_quantize(node->e, x, &q, IG_DT_u8, IG_ROUNDING_divide));
}

/* ---- products ---- */

/* Inputs that hold 8-bit integers and their zero points (NULL: absent, 0). */
static ig_integers read_integers(const ig_onnx_node *node, uint32_t value,
                                 uint32_t zero) {
    ig_integers x = { node->inputs[value], ig_onnx_in(node, zero) };
    ig_dtype dtype = (ig_dtype)x.value->type->dtype;
    if (dtype != IG_DT_i8 && dtype != IG_DT_u8) {
        ig_onnx_fail(node, IG_INVALID,
                     "input %u has elements of type %s, expected i8 or u8", value,
                     ig_dtypes[dtype].name);
    }
    check_zero_point(node, x.zero_point, dtype);
    return x;
}

/* Parameters of rows are along the last axis but one. */
static ig_value *along_rows(const ig_onnx_node *node, ig_value *param) {
    bool is_vector = param && param->type->rank == 1;
    return is_vector ? ig_expr_unsqueeze(node->e, param, 1) : param;
}

/* MatMulInteger(a, b, a_zero_point?, b_zero_point?) */
ig_status ig_onnx_import_matmul_integer(ig_onnx_node *node) {
    ig_integers a = read_integers(node, 0, 2), b = read_integers(node, 1, 3);
    a.zero_point = along_rows(node, a.zero_point);
    return ig_onnx_give(node, ig_compose_matmul_integer(node->e, a, b));
}

/* The result of scale and zero point `inputs[6]` and `inputs[7]`. */
static ig_status give_sums(ig_onnx_node *node, ig_value *sum, ig_value *a_scale,
                           int64_t axis) {
    ig_value **in = node->inputs;
    ig_quant_params y = { .scale = in[6], .zero_point = in[7], .axis = axis };
    ig_dtype to = (ig_dtype)in[7]->type->dtype;
    if (to != IG_DT_i8 && to != IG_DT_u8) {
        bool is_narrow = ig_dtypes[to].bits == 8 && to != IG_DT_bool;
        return ig_onnx_fail(node, is_narrow ? IG_UNSUPPORTED : IG_INVALID,
                            "the result's zero point has elements of type %s, "
                            "expected i8 or u8",
                            ig_dtypes[to].name);
    }
    return ig_onnx_give(node,
                        ig_compose_requantize(node->e, sum, a_scale, in[4], &y, to));
}

/* QLinearMatMul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) */
ig_status ig_onnx_import_qlinear_matmul(ig_onnx_node *node) {
    ig_value **in = node->inputs;
    ig_integers a = read_integers(node, 0, 2), b = read_integers(node, 3, 5);
    a.zero_point = along_rows(node, a.zero_point);
    ig_value *sum = ig_compose_matmul_integer(node->e, a, b);
    int64_t axis = sum ? (int64_t)sum->type->rank - 1 : -1;
    return give_sums(node, sum, along_rows(node, in[1]), axis);
}

/* The zero point of x is a number; one of w for each result channel is along its axis
 * 0. */
static ig_value *convolve_integers(const ig_onnx_node *node, ig_integers x,
                                   ig_integers w) {
    ig_value *zero = w.zero_point;
    if (zero && zero->type->rank == 1 && w.value->type->rank > 0) {
        w.zero_point = ig_expr_along(node->e, zero, 0, w.value->type->rank);
    }
    x.zero_point = ig_expr_reshape(node->e, x.zero_point, 0, NULL);
    return ig_onnx_conv_integer(node, x, w);
}

/* ConvInteger(x, w, x_zero_point?, w_zero_point?) */
ig_status ig_onnx_import_conv_integer(ig_onnx_node *node) {
    ig_integers x = read_integers(node, 0, 2), w = read_integers(node, 1, 3);
    return ig_onnx_give(node, convolve_integers(node, x, w));
}

/* QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?) */
ig_status ig_onnx_import_qlinear_conv(ig_onnx_node *node) {
    ig_value **in = node->inputs, *bias = ig_onnx_in(node, 8);
    ig_integers x = read_integers(node, 0, 2), w = read_integers(node, 3, 5);
    ig_value *sum = convolve_integers(node, x, w);
    if (sum && bias) {
        bias = ig_expr_along(node->e, bias, 0, sum->type->rank - 1);
        sum = ig_build_add(node->e, sum, bias);
    }
    return give_sums(node, sum, in[1], 1);
}
