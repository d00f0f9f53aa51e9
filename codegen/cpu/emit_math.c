/* One-operand arithmetic that is an instruction or two at every level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything here stays inline: LLVM would turn exp, fmod and their like into calls of
 * libm, which a position-independent image cannot make.
 */
#include "codegen/cpu/emit.h"

static bool is_real(const ig_op *op) {
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    return dtype == IG_DT_f32 || dtype == IG_DT_f64;
}

static ig_status need_real(ig_cpu_emitter *e, const ig_op *op) {
    return is_real(op)
               ? IG_OK
               : ig_cpu_fail(e, IG_INTERNAL, op, "kernels compute in f32 or f64");
}

/* sqrt and the roundings: an SSE4.1 instruction; integers are their own rounding. */
ig_status ig_cpu_emit_rounding(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    if (!ig_dtype_is_float(ig_cpu_operand_dtype(op, 0)) && op->code != IG_OP_sqrt) {
        return ig_cpu_set_result(e, op, x);
    }
    IG_TRY(need_real(e, op));
    return ig_cpu_set_result(e, op, l_call1(e->builder, ig_cpu_rows[op->code].name, x));
}

ig_status ig_cpu_emit_neg(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    if (!ig_dtype_is_float(ig_cpu_operand_dtype(op, 0))) {
        return ig_cpu_set_result(e, op, LLVMBuildNeg(e->builder, x, L_UNNAMED));
    }
    IG_TRY(need_real(e, op));
    return ig_cpu_set_result(e, op, LLVMBuildFNeg(e->builder, x, L_UNNAMED));
}

ig_status ig_cpu_emit_abs(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    LLVMTypeRef type = LLVMTypeOf(x);
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    if (ig_dtypes[dtype].class == IG_SINT) {
        LLVMTypeRef i1 = LLVMInt1TypeInContext(e->llvm);
        LLVMValueRef args[] = { x, LLVMConstInt(i1, 0, 0) };
        return ig_cpu_set_result(e, op, l_intrinsic(b, "llvm.abs", &type, 1, args, 2));
    }
    if (!ig_dtype_is_float(dtype)) {
        return ig_cpu_set_result(e, op, x);
    }
    IG_TRY(need_real(e, op));
    LLVMValueRef mask = dtype == IG_DT_f32 ? ig_cpu_table_word(e, op, INT32_MAX) : NULL;
    if (!mask) {
        return ig_cpu_set_result(e, op, l_call1(b, "llvm.fabs", x));
    }
    LLVMTypeRef whole = l_as_int(type);
    x = LLVMBuildAnd(b, LLVMBuildBitCast(b, x, whole, L_UNNAMED),
                     LLVMBuildBitCast(b, mask, whole, L_UNNAMED), L_UNNAMED);
    return ig_cpu_set_result(e, op, LLVMBuildBitCast(b, x, type, L_UNNAMED));
}

/* -1, 0 or 1; the sign of a NaN is that NaN, of -0 is 0. */
ig_status ig_cpu_emit_sign(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef zero = LLVMConstNull(type);
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    if (is_real(op)) {
        LLVMValueRef above = LLVMBuildFCmp(b, LLVMRealOGT, x, zero, L_UNNAMED);
        LLVMValueRef below = LLVMBuildFCmp(b, LLVMRealOLT, x, zero, L_UNNAMED);
        LLVMValueRef none = LLVMBuildFAdd(b, x, zero, L_UNNAMED); /* -0 + 0 is 0 */
        LLVMValueRef rest = ig_cpu_select(e, below, l_real(type, -1), none);
        return ig_cpu_set_result(e, op, ig_cpu_select(e, above, l_real(type, 1), rest));
    }
    if (ig_dtype_is_float(dtype)) {
        return need_real(e, op);
    }
    LLVMValueRef other = LLVMBuildICmp(b, LLVMIntNE, x, zero, L_UNNAMED);
    LLVMValueRef sign = ig_cpu_select(e, other, l_int(type, 1), zero);
    if (ig_dtypes[dtype].class == IG_SINT) {
        LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, x, zero, L_UNNAMED);
        sign = ig_cpu_select(e, below, l_int(type, -1), sign);
    }
    return ig_cpu_set_result(e, op, sign);
}

ig_status ig_cpu_emit_not(ig_cpu_emitter *e, const ig_op *op) {
    if (ig_dtype_is_float(ig_cpu_operand_dtype(op, 0))) {
        return ig_cpu_fail(e, IG_INTERNAL, op, "not defined for floats");
    }
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    return ig_cpu_set_result(e, op, LLVMBuildNot(e->builder, x, L_UNNAMED));
}

ig_status ig_cpu_emit_isnan(ig_cpu_emitter *e, const ig_op *op) {
    IG_TRY(need_real(e, op));
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    return ig_cpu_set_result(e, op,
                             LLVMBuildFCmp(e->builder, LLVMRealUNO, x, x, L_UNNAMED));
}

/* max(0, x): with the number first, one instruction keeps NaN. */
ig_status ig_cpu_emit_relu(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    if (ig_dtypes[dtype].class == IG_SINT) {
        return ig_cpu_set_result(e, op, l_call2(e->builder, "llvm.smax", x, zero));
    }
    if (!ig_dtype_is_float(dtype)) {
        return ig_cpu_set_result(e, op, x);
    }
    IG_TRY(need_real(e, op));
    return ig_cpu_set_result(e, op, ig_cpu_extreme(e, LLVMRealOGT, zero, x, true));
}

ig_status ig_cpu_emit_recip(ig_cpu_emitter *e, const ig_op *op) {
    IG_TRY(need_real(e, op));
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    LLVMValueRef one = l_real(LLVMTypeOf(x), 1);
    return ig_cpu_set_result(e, op, LLVMBuildFDiv(e->builder, one, x, L_UNNAMED));
}

/* 1 / sqrt(x), each rounded. */
ig_status ig_cpu_emit_rsqrt(ig_cpu_emitter *e, const ig_op *op) {
    IG_TRY(need_real(e, op));
    LLVMValueRef root = l_call1(e->builder, "llvm.sqrt", ig_cpu_operand(e, op, 0));
    LLVMValueRef one = l_real(LLVMTypeOf(root), 1);
    return ig_cpu_set_result(e, op, LLVMBuildFDiv(e->builder, one, root, L_UNNAMED));
}
