/* Complex operands: tensors with a trailing axis of (real, imaginary).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ATEN_COMPLEX_H
#define IG_FRONTEND_TORCH_ATEN_COMPLEX_H

#include "compose/math/fourier.h"
#include "frontend/torch/aten/aten.h"

/* One of arguments first … first + count - 1 is complex. */
bool ig_aten_is_complex(ig_ts_call *call, uint32_t first, uint32_t count);
/* Any tensor or number as parts of dtype `part`. */
ig_complex ig_aten_complex_parts(ig_ts_call *call, uint32_t index, ig_dtype part);
/* A complex tensor, also one of a list. */
ig_complex ig_aten_complex_item(ig_ts_call *call, const ig_ts_tensor *tensor);
/* Two parts of one shape as the result; call->status when something failed. */
ig_status ig_aten_give_complex(ig_ts_call *call, ig_complex p);
/* mul, div of arguments 0 and 1. */
ig_status ig_aten_complex_binary(ig_ts_call *call, ig_opcode code);
/* x ± alpha y. */
ig_status ig_aten_complex_add(ig_ts_call *call, ig_opcode code, bool is_swapped);
/* abs, neg, exp and the like of argument 0. */
ig_status ig_aten_complex_unary(ig_ts_call *call, ig_opcode code);
/* sum or mean. */
ig_status ig_aten_complex_sum(ig_ts_call *call, bool is_mean);
ig_status ig_aten_complex_matmul(ig_ts_call *call, bool has_conjugate);
/* The conjugate of the last two axes exchanged. */
ig_status ig_aten_complex_adjoint(ig_ts_call *call);
/* eq, ne. */
ig_status ig_aten_complex_compare(ig_ts_call *call, ig_opcode code);

#endif
