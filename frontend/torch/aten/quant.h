/* Quantised tensors: integers with a scale and a zero point.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ATEN_QUANT_H
#define IG_FRONTEND_TORCH_ATEN_QUANT_H

#include "compose/quantise.h"
#include "frontend/torch/aten/aten.h"

/* A quantised operand. */
typedef struct ig_aten_quantised {
    ig_value *raw; /* integers */
    const ig_torch_dtype_info *dtype;
    const ig_ts_quant *quant;
} ig_aten_quantised;

/* Argument `index`, or another tensor (an item of a list, of a packed object). */
bool ig_aten_quantised_arg(ig_ts_call *call, uint32_t index, ig_aten_quantised *out);
bool ig_aten_quantised_of(ig_ts_call *call, const ig_ts_value *value,
                          ig_aten_quantised *out);
bool ig_aten_is_quantised(const ig_ts_call *call, uint32_t index);
/* Runs a row's function on argument 0 as real numbers; its result 0 is quantised as the
 * argument was. */
ig_status ig_aten_through_float(ig_ts_call *call, ig_ts_op_hook hook);

/* The same in steps of the scale, for means and weighted sums: these are rounded at
 * ties as torch rounds sums of integers. */
ig_status ig_aten_through_steps(ig_ts_call *call, ig_ts_op_hook hook);

/* Runs a row's function, which moves elements, on the integers of argument 0. */
ig_status ig_aten_through_raw(ig_ts_call *call, ig_ts_op_hook hook);
/* Is the first item of argument 0, a list, quantised?  Runs a row's function on all of
 * them as real numbers; its result 0 is quantised as the first item was. */
bool ig_aten_are_quantised(const ig_ts_call *call);
ig_status ig_aten_through_floats(ig_ts_call *call, ig_ts_op_hook hook);

/* (element - zero point) * scale, f32. */
ig_value *ig_aten_dequantise(ig_ts_call *call, const ig_aten_quantised *q);
/* Scale (f32) and zero point (of the elements' type, or f32) as compose/ takes them. */
ig_quant_params ig_aten_quant_params(ig_ts_call *call, const ig_ts_quant *quant,
                                     const ig_torch_dtype_info *dtype);
/* Parameters known at import. */
const ig_ts_quant *ig_aten_quant_of(ig_ts_call *call, double scale, int64_t zero_point);
/* Those that torch chooses for x at run time, quantised to 0 … steps. */
const ig_ts_quant *ig_aten_choose_quant(ig_ts_call *call, ig_value *x, double steps);
/* Numbers of 0 … 1 in steps of 1 / 256, as sigmoids give them. */
ig_status ig_aten_give_unit(ig_ts_call *call, ig_value *x,
                            const ig_torch_dtype_info *dtype);
/* clamp(rint(x / scale) + zero point) of real numbers; gives it as result 0. */
ig_status ig_aten_give_quantised(ig_ts_call *call, ig_value *x,
                                 const ig_torch_dtype_info *dtype,
                                 const ig_ts_quant *quant);
ig_value *ig_aten_quantise(ig_ts_call *call, ig_value *x,
                           const ig_torch_dtype_info *dtype, const ig_ts_quant *quant);

#endif
