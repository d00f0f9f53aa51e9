/* mul_exp2: x 2^n, rounded once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * AVX-512 has the instruction.  Elsewhere the powers of two are made of the bits of the
 * operand, whose low ones are n, and multiplied in two halves: 2^n itself may be beyond
 * the range, and only the second product rounds.
 */
#include "codegen/cpu/emit.h"

#include <string.h>

enum { ROUND_BITS = 0x4b400000 }; /* of 0x1.8p23 */

/* The instruction for one type of vectors. */
typedef struct scale_form {
    ig_dtype dtype;
    uint32_t lanes;
    const char *name;
    bool is_widest; /* it says how to round */
} scale_form;

static const scale_form forms[] = {
    { IG_DT_f32, 4, "llvm.x86.avx512.mask.scalef.ps.128", false },
    { IG_DT_f32, 8, "llvm.x86.avx512.mask.scalef.ps.256", false },
    { IG_DT_f32, 16, "llvm.x86.avx512.mask.scalef.ps.512", true },
    { IG_DT_f64, 2, "llvm.x86.avx512.mask.scalef.pd.128", false },
    { IG_DT_f64, 4, "llvm.x86.avx512.mask.scalef.pd.256", false },
    { IG_DT_f64, 8, "llvm.x86.avx512.mask.scalef.pd.512", true },
};

static const scale_form *find_form(const ig_cpu_level *level, ig_dtype dtype,
                                   uint32_t lanes) {
    bool has_it = strcmp(level->width, "512") == 0;
    for (size_t i = 0; has_it && i < IG_COUNT_OF(forms); i++) {
        if (forms[i].dtype == dtype && forms[i].lanes == lanes) {
            return &forms[i];
        }
    }
    return NULL;
}

static LLVMValueRef scale_by_instruction(ig_cpu_emitter *e, const scale_form *form,
                                         LLVMValueRef x, LLVMValueRef n) {
    enum { AS_SET = 4 }; /* rounding: to even, as threads are set */
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMTypeRef mask = LLVMIntTypeInContext(e->llvm, form->lanes > 8 ? 16 : 8);
    LLVMValueRef args[] = { x, n, x, LLVMConstAllOnes(mask),
                            LLVMConstInt(i32, AS_SET, 0) };
    return l_intrinsic(e->builder, form->name, NULL, 0, args, form->is_widest ? 5 : 4);
}

static LLVMValueRef scale_by_halves(ig_cpu_emitter *e, bool is_single, LLVMValueRef x,
                                    LLVMValueRef y) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef real = LLVMTypeOf(x), whole = l_as_int(real);
    LLVMValueRef mantissa = l_int(whole, is_single ? 23 : 52);
    LLVMValueRef one = LLVMBuildBitCast(b, l_real(real, 1), whole, L_UNNAMED);
    LLVMValueRef n = LLVMBuildBitCast(b, y, whole, L_UNNAMED);
    LLVMValueRef half = LLVMBuildLShr(b, n, l_int(whole, 1), L_UNNAMED);
    half = LLVMBuildShl(b, half, mantissa, L_UNNAMED);
    LLVMValueRef rest = LLVMBuildShl(b, n, mantissa, L_UNNAMED);
    LLVMValueRef powers[] = { half, LLVMBuildSub(b, rest, half, L_UNNAMED) };
    for (size_t i = 0; i < IG_COUNT_OF(powers); i++) {
        LLVMValueRef bits = LLVMBuildAdd(b, powers[i], one, L_UNNAMED);
        x = LLVMBuildFMul(b, x, LLVMBuildBitCast(b, bits, real, L_UNNAMED), L_UNNAMED);
    }
    return x;
}

ig_status ig_cpu_emit_mul_exp2(ig_cpu_emitter *e, const ig_op *op) {
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    bool is_single = dtype == IG_DT_f32;
    if (!is_single && dtype != IG_DT_f64) {
        return ig_cpu_fail(e, IG_INTERNAL, op, "kernels compute in f32 or f64");
    }
    uint32_t lanes = ig_cpu_result_lanes(op);
    LLVMValueRef x = ig_cpu_operand_lanes(e, op, 0, lanes);
    LLVMValueRef y = ig_cpu_operand_lanes(e, op, 1, lanes);
    const scale_form *form = find_form(e->level, dtype, lanes);
    if (!form) {
        return ig_cpu_set_result(e, op, scale_by_halves(e, is_single, x, y));
    }
    LLVMValueRef placed = is_single ? ig_cpu_table_word(e, op, ROUND_BITS) : NULL;
    LLVMValueRef round = placed
                             ? placed
                             : l_real(LLVMTypeOf(y), is_single ? 0x1.8p23 : 0x1.8p52);
    LLVMValueRef n = LLVMBuildFSub(e->builder, y, round, L_UNNAMED);
    return ig_cpu_set_result(e, op, scale_by_instruction(e, form, x, n));
}
