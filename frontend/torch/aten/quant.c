/* Quantised tensors, as rows of every room read and give them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * real = (element - zero point) * scale, in f32.  Quantising multiplies by 1 / scale,
 * as torch's kernels do, rounds to even, adds the zero point and clamps. */
#include "frontend/torch/aten/quant.h"

#include <string.h>

bool ig_aten_is_quantised(const ig_ts_call *call, uint32_t index) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, index);
    return tensor && tensor->quant;
}

bool ig_aten_quantised_of(ig_ts_call *call, const ig_ts_value *value,
                          ig_aten_quantised *out) {
    memset(out, 0, sizeof *out);
    if (call->e->status != IG_OK) {
        return false;
    }
    if (value->kind != IG_TS_TENSOR || !value->as.tensor->quant) {
        ig_expr_fail(call->e, IG_INVALID, "the operand is not quantised");
        return false;
    }
    out->dtype = value->as.tensor->dtype;
    out->quant = value->as.tensor->quant;
    out->raw = ig_ts_read(call, value);
    return out->raw != NULL;
}

bool ig_aten_quantised_arg(ig_ts_call *call, uint32_t index, ig_aten_quantised *out) {
    return ig_aten_quantised_of(call, &call->args[index], out);
}

ig_quant_params ig_aten_quant_params(ig_ts_call *call, const ig_ts_quant *quant,
                                     const ig_torch_dtype_info *dtype) {
    ig_dtype zero = quant->is_float ? IG_DT_f32 : dtype->ir;
    return (ig_quant_params){ .scale = ig_aten_cast(call, quant->scale, IG_DT_f32),
                              .zero_point = ig_aten_cast(call, quant->zero_point, zero),
                              .axis = quant->axis };
}

ig_value *ig_aten_dequantise(ig_ts_call *call, const ig_aten_quantised *q) {
    ig_quant_params params = ig_aten_quant_params(call, q->quant, q->dtype);
    return ig_compose_dequantize(call->e, q->raw, &params, IG_DT_f32);
}

const ig_ts_quant *ig_aten_quant_of(ig_ts_call *call, double scale,
                                    int64_t zero_point) {
    ig_ts_quant *quant = IG_NEW(call->arena, ig_ts_quant);
    quant->scale = ig_expr_number(call->e, IG_DT_f64, scale);
    quant->zero_point = ig_expr_integer(call->e, IG_DT_i64, zero_point);
    quant->axis = -1;
    return quant;
}

ig_value *ig_aten_quantise(ig_ts_call *call, ig_value *x,
                           const ig_torch_dtype_info *dtype, const ig_ts_quant *quant) {
    ig_quant_params params = ig_aten_quant_params(call, quant, dtype);
    ig_rounding rounding = quant->is_float ? IG_ROUNDING_offset : IG_ROUNDING_multiply;
    return ig_compose_quantize(call->e, x, &params, dtype->ir, rounding);
}

ig_status ig_aten_give_quantised(ig_ts_call *call, ig_value *x,
                                 const ig_torch_dtype_info *dtype,
                                 const ig_ts_quant *quant) {
    ig_value *value = ig_aten_quantise(call, x, dtype, quant);
    return value && call->e->status == IG_OK
               ? ig_ts_give_quantised(call, 0, value, dtype, quant)
               : call->e->status;
}

ig_status ig_aten_give_unit(ig_ts_call *call, ig_value *x,
                            const ig_torch_dtype_info *dtype) {
    int64_t zero = dtype->ir == IG_DT_i8 ? -128 : 0;
    return dtype->ir == IG_DT_i32
               ? ig_ts_fail(call, IG_UNSUPPORTED, "of quantised 32-bit numbers")
               : ig_aten_give_quantised(call, x, dtype,
                                        ig_aten_quant_of(call, 1.0 / 256, zero));
}

/* The function's result, of numbers by `quant`, gets the argument's parameters. */
static ig_status run_through(ig_ts_call *call, ig_ts_op_hook hook,
                             const ig_aten_quantised *q, const ig_ts_quant *quant) {
    ig_aten_quantised numbers = { q->raw, q->dtype, quant };
    ig_value *x = ig_aten_dequantise(call, &numbers);
    IG_TRY(call->e->status);
    call->args[0] = ig_ts_tensor_value(call, x);
    IG_TRY(hook(call));
    x = ig_aten_quantise(call, ig_ts_read(call, &call->results[0]), q->dtype, quant);
    IG_TRY(call->e->status);
    return ig_ts_give_quantised(call, 0, x, q->dtype, q->quant);
}

ig_status ig_aten_through_float(ig_ts_call *call, ig_ts_op_hook hook) {
    ig_aten_quantised q;
    return ig_aten_quantised_arg(call, 0, &q) ? run_through(call, hook, &q, q.quant)
                                              : call->e->status;
}

ig_status ig_aten_through_steps(ig_ts_call *call, ig_ts_op_hook hook) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    ig_ts_quant steps = *q.quant;
    steps.scale = ig_expr_number(call->e, IG_DT_f64, 1);
    return run_through(call, hook, &q, steps.axis < 0 ? &steps : q.quant);
}

static ig_status refuse_channels(ig_ts_call *call, const ig_ts_quant *quant) {
    return quant->axis < 0 ? IG_OK
                           : ig_ts_fail(call, IG_UNSUPPORTED,
                                        "moves elements that are quantised by channel, "
                                        "which is not supported yet");
}

ig_status ig_aten_through_raw(ig_ts_call *call, ig_ts_op_hook hook) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    IG_TRY(refuse_channels(call, q.quant));
    call->args[0] = ig_ts_tensor_value(call, q.raw);
    IG_TRY(hook(call));
    return ig_ts_give_quantised(call, 0, ig_ts_read(call, &call->results[0]), q.dtype,
                                q.quant);
}

bool ig_aten_are_quantised(const ig_ts_call *call) {
    const ig_ts_list *list = ig_ts_items_of(&call->args[0], 1);
    return list && list->items[0].kind == IG_TS_TENSOR &&
           list->items[0].as.tensor->quant;
}

ig_status ig_aten_through_floats(ig_ts_call *call, ig_ts_op_hook hook) {
    const ig_ts_list *list = ig_ts_items_of(&call->args[0], 1);
    ig_ts_list *numbers = ig_ts_list_create(call->eval, list->count);
    ig_aten_quantised first = { 0 };
    for (size_t i = 0; i < list->count; i++) {
        ig_aten_quantised q;
        if (!ig_aten_quantised_of(call, &list->items[i], &q)) {
            return call->e->status;
        }
        first = i ? first : q;
        IG_TRY(refuse_channels(call, q.quant));
        ig_value *x = ig_aten_dequantise(call, &q);
        IG_TRY(call->e->status);
        ig_ts_list_add(call->eval, numbers, ig_ts_tensor_value(call, x));
    }
    call->args[0] = ig_ts_of_list(numbers);
    IG_TRY(hook(call));
    return ig_aten_give_quantised(call, ig_ts_read(call, &call->results[0]),
                                  first.dtype, first.quant);
}

const ig_ts_quant *ig_aten_choose_quant(ig_ts_call *call, ig_value *x, double steps) {
    ig_ts_quant *quant = IG_NEW(call->arena, ig_ts_quant);
    ig_quant_params chosen = ig_compose_choose_quant_torch(call->e, x, steps);
    quant->scale = chosen.scale;
    quant->zero_point = ig_aten_cast(call, chosen.zero_point, IG_DT_i64);
    quant->axis = -1;
    return quant;
}
