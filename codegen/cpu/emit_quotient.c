/* div_round: whole quotients, exact at every level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Division is the slowest of all arithmetic, and quantising divides by one scale again
 * and again.  With r = 1 / y rounded, and fused arithmetic,
 *
 *     q = x r,   e = x - q y,   q + e r
 *
 * is x / y rounded once (Markstein 1990), wherever nothing on the way is too large or
 * too small to be normal.  What is beyond 2^22 y is cut before; what is too small to be
 * right rounds to 0 either way.
 */
#include "codegen/cpu/emit.h"

#include <math.h>

enum { MOST_BITS = 22, NORMAL_BITS = 60 };

/* min(max(x, -most), most); NaN stays. */
static LLVMValueRef hold_within(ig_cpu_emitter *e, LLVMValueRef x, double most) {
    LLVMTypeRef type = LLVMTypeOf(x);
    x = ig_cpu_extreme(e, LLVMRealOGT, l_real(type, -most), x, true);
    return ig_cpu_extreme(e, LLVMRealOLT, l_real(type, most), x, true);
}

static LLVMValueRef fused_sum(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y,
                              LLVMValueRef z) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = { x, y, z };
    return l_intrinsic(e->builder, "llvm.fma", &type, 1, args, 3);
}

/* x / y, cut to 2^22, by the reciprocal of y. */
static LLVMValueRef divide_by_constant(ig_cpu_emitter *e, LLVMValueRef x, float y) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef divisor = l_real(type, (double)y);
    LLVMValueRef inverse = l_real(type, (double)(1.0F / y));
    x = hold_within(e, x, ldexp(fabs((double)y), MOST_BITS));
    LLVMValueRef q = LLVMBuildFMul(b, x, inverse, L_UNNAMED);
    LLVMValueRef rest = fused_sum(e, LLVMBuildFNeg(b, q, L_UNNAMED), divisor, x);
    return fused_sum(e, rest, inverse, q);
}

ig_status ig_cpu_emit_div_round(ig_cpu_emitter *e, const ig_op *op) {
    double y;
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    uint32_t lanes = ig_cpu_result_lanes(op);
    LLVMValueRef x = ig_cpu_operand_lanes(e, op, 0, lanes);
    bool is_known = dtype == IG_DT_f32 && ig_cpu_constant(op, 1, &y) &&
                    fabs(y) > ldexp(1, -NORMAL_BITS) && fabs(y) < ldexp(1, NORMAL_BITS);
    if (e->level->has_fma && is_known) {
        x = divide_by_constant(e, x, (float)y);
        return ig_cpu_set_result(e, op, l_call1(e->builder, "llvm.roundeven", x));
    }
    LLVMValueRef divisor = ig_cpu_operand_lanes(e, op, 1, lanes);
    x = l_call1(e->builder, "llvm.roundeven",
                LLVMBuildFDiv(e->builder, x, divisor, L_UNNAMED));
    return ig_cpu_set_result(e, op, hold_within(e, x, ldexp(1, MOST_BITS)));
}
