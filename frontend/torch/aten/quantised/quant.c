/* Rows of quantised tensors: to and fro, and ops that go through real numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"

#include "compose/activation.h"

/* ---- to and fro ---- */

/* Argument `index`: one of the dtypes that have a scale. */
static ig_status read_quantised_dtype(ig_ts_call *call, uint32_t index,
                                      const ig_torch_dtype_info **out) {
    IG_TRY(ig_ts_torch_dtype(call, index, NULL, out));
    return (*out)->is_quantised
               ? IG_OK
               : ig_ts_fail(call, IG_INVALID,
                            "the result is %s, expected a quantised dtype",
                            (*out)->name);
}

/* quantize_per_tensor(self, scale, zero_point, dtype) */
ig_status ig_ts_op_quantize_per_tensor(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_torch_dtype_info *dtype = NULL;
    ig_ts_quant *quant = IG_NEW(call->arena, ig_ts_quant);
    IG_TRY(read_quantised_dtype(call, 3, &dtype));
    quant->scale = ig_aten_operand(call, 1, IG_DT_f64);
    quant->zero_point = ig_aten_operand(call, 2, IG_DT_i64);
    quant->axis = -1;
    IG_TRY(call->e->status);
    quant->scale = ig_expr_reshape(call->e, quant->scale, 0, NULL);
    quant->zero_point = ig_expr_reshape(call->e, quant->zero_point, 0, NULL);
    return ig_aten_give_quantised(call, x, dtype, quant);
}

/* quantize_per_channel(self, scales, zero_points, axis, dtype) */
ig_status ig_ts_op_quantize_per_channel(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_torch_dtype_info *dtype = NULL;
    ig_ts_quant *quant = IG_NEW(call->arena, ig_ts_quant);
    IG_TRY(read_quantised_dtype(call, 4, &dtype));
    quant->scale = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_f64);
    quant->zero_point = ig_aten_tensor(call, 2);
    IG_TRY(call->e->status);
    quant->is_float = ig_expr_is_float(quant->zero_point);
    if (quant->is_float) {
        quant->scale = ig_aten_cast(call, quant->scale, IG_DT_f32);
        quant->zero_point = ig_aten_cast(call, quant->zero_point, IG_DT_f32);
    } else {
        quant->zero_point = ig_aten_cast(call, quant->zero_point, IG_DT_i64);
    }
    quant->axis = ig_aten_axis(call, 3, x->type->rank);
    return ig_aten_give_quantised(call, x, dtype, quant);
}

/* quantize_per_tensor_dynamic(self, dtype, reduce_range) */
ig_status ig_ts_op_quantize_dynamic(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_torch_dtype_info *dtype = NULL;
    IG_TRY(ig_ts_torch_dtype(call, 1, NULL, &dtype));
    if (dtype->code != IG_TORCH_quint8) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "dynamic quantisation to %s",
                          dtype->name);
    }
    double steps = ig_aten_bool(call, 2) ? 127 : 255;
    return ig_aten_give_quantised(call, x, dtype, ig_aten_choose_quant(call, x, steps));
}

ig_status ig_ts_op_dequantize(ig_ts_call *call) {
    ig_aten_quantised q;
    if (!ig_aten_is_quantised(call, 0)) {
        ig_value *x = ig_aten_tensor(call, 0); /* f16 of the weights of embeddings */
        return ig_aten_give(call, ig_aten_cast(call, x, IG_DT_f32));
    }
    return ig_aten_quantised_arg(call, 0, &q)
               ? ig_aten_give(call, ig_aten_dequantise(call, &q))
               : call->e->status;
}

/* dequantize.tensors(tensors) */
ig_status ig_ts_op_dequantize_list(ig_ts_call *call) {
    const ig_ts_list *list = NULL;
    IG_TRY(ig_ts_list_arg(call, 0, &list));
    ig_value **values = IG_NEW_ARRAY(call->arena, ig_value *, list->count + 1);
    for (size_t i = 0; i < list->count; i++) {
        ig_aten_quantised q;
        if (!ig_aten_quantised_of(call, &list->items[i], &q)) {
            return call->e->status;
        }
        values[i] = ig_aten_dequantise(call, &q);
    }
    IG_TRY(call->e->status);
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, values, (uint32_t)list->count);
}

ig_status ig_ts_op_int_repr(ig_ts_call *call) {
    ig_aten_quantised q;
    return ig_aten_quantised_arg(call, 0, &q) ? ig_aten_give(call, q.raw)
                                              : call->e->status;
}

/* q_scale, q_zero_point (variant 1) of the whole tensor; variants 2 and 3: of
 * channels, as tensors */
ig_status ig_ts_op_q_params(ig_ts_call *call) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    bool is_zero = call->row->variant & 1;
    ig_value *value = is_zero ? q.quant->zero_point : q.quant->scale;
    if (call->row->variant & 2) {
        return ig_aten_give(call, value);
    }
    if (value->type->rank) {
        return ig_ts_fail(call, IG_INVALID, "the tensor is quantised by channel");
    }
    return ig_ts_give_number(call, 0, is_zero ? IG_TS_INT : IG_TS_FLOAT, value);
}

ig_status ig_ts_op_q_axis(ig_ts_call *call) {
    ig_aten_quantised q;
    return ig_aten_quantised_arg(call, 0, &q) ? ig_ts_give_int(call, 0, q.quant->axis)
                                              : call->e->status;
}

/* 0 per tensor, 1 per channel, affine; 4 per channel with float zero points */
ig_status ig_ts_op_qscheme(ig_ts_call *call) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    return ig_ts_give_int(call, 0, q.quant->is_float ? 4 : q.quant->axis >= 0);
}

/* ---- arithmetic through real numbers ---- */

static ig_value *read_dequantised(ig_ts_call *call, uint32_t index) {
    ig_aten_quantised q;
    return ig_aten_quantised_arg(call, index, &q) ? ig_aten_dequantise(call, &q) : NULL;
}

static ig_status give_at(ig_ts_call *call, ig_value *x, uint32_t scale_arg) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    double scale = ig_aten_float(call, scale_arg);
    int64_t zero = ig_aten_int(call, scale_arg + 1);
    return ig_aten_give_quantised(call, x, q.dtype,
                                  ig_aten_quant_of(call, scale, zero));
}

/* quantized::add, mul(qa, qb, scale, zero_point); variant: opcode, negative with
 * relu */
ig_status ig_ts_op_q_binary(ig_ts_call *call) {
    bool has_relu = call->row->variant < 0;
    ig_opcode code = (ig_opcode)(has_relu ? -call->row->variant : call->row->variant);
    ig_value *x = ig_expr_map2(call->e, code, read_dequantised(call, 0),
                               read_dequantised(call, 1));
    return give_at(call, has_relu ? ig_build_relu(call->e, x) : x, 2);
}

ig_status ig_ts_op_q_matmul(ig_ts_call *call) {
    return give_at(
        call,
        ig_expr_matmul(call->e, read_dequantised(call, 0), read_dequantised(call, 1)),
        2);
}

/* quantized::cat(qx, dim, scale, zero_point): None takes the first's */
ig_status ig_ts_op_q_cat(ig_ts_call *call) {
    const ig_ts_list *list = NULL;
    ig_aten_quantised q, first = { 0 };
    IG_TRY(ig_ts_list_arg(call, 0, &list));
    ig_value **values = IG_NEW_ARRAY(call->arena, ig_value *, list->count + 1);
    if (list->count == 0) {
        return ig_ts_fail(call, IG_INVALID, "nothing to concatenate");
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!ig_aten_quantised_of(call, &list->items[i], &q)) {
            return call->e->status;
        }
        first = i == 0 ? q : first;
        values[i] = ig_aten_dequantise(call, &q);
    }
    uint32_t axis = ig_aten_axis(call, 1, first.raw->type->rank);
    const ig_ts_quant *quant = first.quant;
    if (!ig_ts_is_none(call, 2)) {
        quant = ig_aten_quant_of(call, ig_aten_float(call, 2), ig_aten_int(call, 3));
    }
    ig_value *x = ig_expr_concat(call->e, axis, values, (uint32_t)list->count);
    return ig_aten_give_quantised(
        call, call->row->variant ? ig_build_relu(call->e, x) : x, first.dtype, quant);
}

/* ---- rounded as if quantised ---- */

/* fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max): real
 * numbers that quantisation can hold; variant 1: per channel, with an axis before the
 * bounds */
ig_status ig_ts_op_fake_quantize(ig_ts_call *call) {
    bool by_channel = call->row->variant == 1;
    uint32_t at = by_channel ? 4 : 3, axis = 0;
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *scale = ig_aten_operand(call, 1, IG_DT_f32);
    ig_value *zero = ig_aten_operand(call, 2, IG_DT_f32);
    double low = ig_aten_float(call, at), high = ig_aten_float(call, at + 1);
    IG_TRY(call->e->status);
    if (by_channel) {
        axis = ig_aten_axis(call, 3, x->type->rank);
        scale = ig_expr_along(call->e, scale, axis, x->type->rank);
        zero = ig_expr_along(call->e, zero, axis, x->type->rank);
    } else {
        scale = ig_expr_reshape(call->e, scale, 0, NULL);
        zero = ig_expr_reshape(call->e, zero, 0, NULL);
    }
    ig_value *wide = ig_aten_wide(call, x);
    ig_value *one = ig_expr_number(call->e, IG_DT_f32, 1);
    ig_value *inverse = ig_build_div(call->e, one, scale);
    ig_value *steps = ig_build_round(call->e, ig_build_mul(call->e, wide, inverse));
    steps = ig_build_add(call->e, steps, zero);
    steps = ig_compose_clip(call->e, steps, low, high);
    ig_value *y = ig_build_mul(call->e, ig_build_sub(call->e, steps, zero), scale);
    return ig_aten_give(call, ig_aten_cast(call, y, (ig_dtype)x->type->dtype));
}
