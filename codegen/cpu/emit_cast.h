/* Conversions, by the two files that make them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CPU_EMIT_CAST_H
#define IG_CODEGEN_CPU_EMIT_CAST_H

#include "codegen/cpu/emit.h"

bool ig_cpu_is_narrow(ig_dtype dtype); /* f16, bf16, float8: held as bits */
/* Narrow bits to f32, exact. */
LLVMValueRef ig_cpu_widen(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef bits);
/* f32 to narrow bits, to nearest even; beyond the range infinity (NaN where the format
 * has none), or the largest finite value when `saturate`. */
LLVMValueRef ig_cpu_narrow(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef x,
                           bool saturate);

/* emit_quotient.c: a cast of a whole quotient to bytes; NULL where it is none, or has
 * no quicker way than its ops one by one. */
LLVMValueRef ig_cpu_quantised(ig_cpu_emitter *e, const ig_op *op);

#endif
