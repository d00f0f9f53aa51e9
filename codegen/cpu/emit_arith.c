/* Two- and three-operand arithmetic, comparison and selection.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here traps and nothing is left undefined: selects give a value to what LLVM
 * does not define (division by zero, INT_MIN / -1, shifts by the width or more).  They
 * fold away when the second operand is a constant.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>

/* Which of a row's codes holds for `dtype`; 0 when there is none. */
static int row_code(const ig_cpu_row *row, ig_dtype dtype) {
    switch (ig_dtypes[dtype].class) {
    case IG_FLOAT:
        return dtype == IG_DT_f32 || dtype == IG_DT_f64 ? row->real : 0;
    case IG_SINT:
        return row->sint;
    case IG_UINT:
    case IG_BOOL:
        return row->uint;
    case IG_STRING:
        break;
    }
    return 0;
}

static const ig_cpu_row *row_of(const ig_op *op) {
    return &ig_cpu_rows[op->code];
}

static ig_status fail_dtype(ig_cpu_emitter *e, const ig_op *op) {
    return ig_cpu_fail(e, IG_INTERNAL, op, "not defined for this dtype in kernels");
}

/* The operands, scalars put into every lane of the result. */
typedef struct operands {
    LLVMValueRef x, y, z;
    ig_dtype dtype; /* of the first */
} operands;

static operands read_operands(ig_cpu_emitter *e, const ig_op *op) {
    uint32_t lanes = ig_cpu_result_lanes(op);
    operands in = { .dtype = ig_cpu_operand_dtype(op, 0) };
    in.x = ig_cpu_operand_lanes(e, op, 0, lanes);
    in.y = op->operand_count > 1 ? ig_cpu_operand_lanes(e, op, 1, lanes) : NULL;
    in.z = op->operand_count > 2 ? ig_cpu_operand_lanes(e, op, 2, lanes) : NULL;
    return in;
}

LLVMValueRef ig_cpu_select(ig_cpu_emitter *e, LLVMValueRef when, LLVMValueRef then,
                           LLVMValueRef otherwise) {
    assert(LLVMTypeOf(then) == LLVMTypeOf(otherwise) && "both choices are of one type");
    return LLVMBuildSelect(e->builder, when, then, otherwise, L_UNNAMED);
}

ig_status ig_cpu_emit_binary(ig_cpu_emitter *e, const ig_op *op) {
    operands in = read_operands(e, op);
    int code = row_code(row_of(op), in.dtype);
    if (code == 0) {
        return fail_dtype(e, op);
    }
    return ig_cpu_set_result(
        e, op, LLVMBuildBinOp(e->builder, (LLVMOpcode)code, in.x, in.y, L_UNNAMED));
}

/* a * b + c: rounded once where the level has fused arithmetic. */
ig_status ig_cpu_emit_muladd(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    operands in = read_operands(e, op);
    if (!ig_dtype_is_float(in.dtype)) {
        LLVMValueRef product = LLVMBuildMul(b, in.x, in.y, L_UNNAMED);
        return ig_cpu_set_result(e, op, LLVMBuildAdd(b, product, in.z, L_UNNAMED));
    }
    if (!e->level->has_fma) {
        LLVMValueRef product = LLVMBuildFMul(b, in.x, in.y, L_UNNAMED);
        return ig_cpu_set_result(e, op, LLVMBuildFAdd(b, product, in.z, L_UNNAMED));
    }
    LLVMTypeRef type = LLVMTypeOf(in.x);
    LLVMValueRef args[] = { in.x, in.y, in.z };
    return ig_cpu_set_result(e, op, l_intrinsic(b, "llvm.fma", &type, 1, args, 3));
}

/* ---- integers that LLVM leaves undefined ---- */

/* Shifting by the width or more gives 0, or the sign. */
ig_status ig_cpu_emit_shift(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    operands in = read_operands(e, op);
    LLVMOpcode code = (LLVMOpcode)row_code(row_of(op), in.dtype);
    if (code == 0 || in.dtype == IG_DT_bool) {
        return fail_dtype(e, op);
    }
    LLVMTypeRef type = LLVMTypeOf(in.x);
    LLVMValueRef max = l_int(type, ig_dtypes[in.dtype].bits - 1);
    if (code == LLVMAShr) {
        LLVMValueRef by = l_call2(b, "llvm.umin", in.y, max);
        return ig_cpu_set_result(e, op, LLVMBuildAShr(b, in.x, by, L_UNNAMED));
    }
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULE, in.y, max, L_UNNAMED);
    LLVMValueRef by = ig_cpu_select(e, fits, in.y, LLVMConstNull(type));
    LLVMValueRef shifted = LLVMBuildBinOp(b, code, in.x, by, L_UNNAMED);
    return ig_cpu_set_result(e, op,
                             ig_cpu_select(e, fits, shifted, LLVMConstNull(type)));
}

/* The divisor, but 1 where it would trap; *is_zero and *is_minus say where. */
static LLVMValueRef safe_divisor(ig_cpu_emitter *e, const operands *in,
                                 LLVMValueRef *is_zero, LLVMValueRef *is_minus) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(in->y);
    *is_zero = LLVMBuildICmp(b, LLVMIntEQ, in->y, LLVMConstNull(type), L_UNNAMED);
    *is_minus = NULL;
    LLVMValueRef bad = *is_zero;
    if (ig_dtypes[in->dtype].class == IG_SINT) {
        *is_minus = LLVMBuildICmp(b, LLVMIntEQ, in->y, l_int(type, -1), L_UNNAMED);
        bad = LLVMBuildOr(b, bad, *is_minus, L_UNNAMED);
    }
    return ig_cpu_select(e, bad, l_int(type, 1), in->y);
}

/* x / 0 is 0 for integers; MIN / -1 wraps to MIN. */
ig_status ig_cpu_emit_divide(ig_cpu_emitter *e, const ig_op *op) {
    if (ig_dtype_is_float(ig_cpu_operand_dtype(op, 0))) {
        return ig_cpu_emit_binary(e, op);
    }
    LLVMBuilderRef b = e->builder;
    operands in = read_operands(e, op);
    LLVMValueRef is_zero = NULL, is_minus = NULL;
    LLVMValueRef divisor = safe_divisor(e, &in, &is_zero, &is_minus);
    LLVMOpcode code = (LLVMOpcode)row_code(row_of(op), in.dtype);
    LLVMValueRef result = LLVMBuildBinOp(b, code, in.x, divisor, L_UNNAMED);
    if (is_minus) {
        LLVMValueRef minus = LLVMBuildNeg(b, in.x, L_UNNAMED);
        result = ig_cpu_select(e, is_minus, minus, result);
    }
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(in.x));
    return ig_cpu_set_result(e, op, ig_cpu_select(e, is_zero, zero, result));
}

/* x mod 0 is 0.  Without `truncate` the result has the sign of the divisor. */
ig_status ig_cpu_emit_modulo(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    operands in = read_operands(e, op);
    LLVMOpcode code = (LLVMOpcode)row_code(row_of(op), in.dtype);
    if (code == 0) {
        return fail_dtype(e, op);
    }
    LLVMTypeRef type = LLVMTypeOf(in.x);
    LLVMValueRef zero = LLVMConstNull(type), is_zero = NULL, is_minus = NULL;
    LLVMValueRef divisor = safe_divisor(e, &in, &is_zero, &is_minus);
    LLVMValueRef rest = LLVMBuildBinOp(b, code, in.x, divisor, L_UNNAMED);
    if (is_minus && !ig_attr_int(op, IG_mod_truncate, 0)) {
        LLVMValueRef mixed = LLVMBuildXor(b, rest, divisor, L_UNNAMED);
        LLVMValueRef differ = LLVMBuildICmp(b, LLVMIntSLT, mixed, zero, L_UNNAMED);
        LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, rest, zero, L_UNNAMED);
        LLVMValueRef moved = LLVMBuildAdd(b, rest, divisor, L_UNNAMED);
        rest = ig_cpu_select(e, LLVMBuildAnd(b, differ, some, L_UNNAMED), moved, rest);
    }
    return ig_cpu_set_result(e, op, ig_cpu_select(e, is_zero, zero, rest));
}

/* ---- min and max ---- */

/* x86's own instruction gives the second operand when either is NaN, so only a NaN in
 * the first needs a second look; a constant is put there, where it costs nothing.
 * LLVM joins conditions of selects with a common choice, which would hide the
 * instruction; those of the second one here have none. */
LLVMValueRef ig_cpu_extreme(ig_cpu_emitter *e, LLVMRealPredicate wins, LLVMValueRef x,
                            LLVMValueRef y, bool x_is_number) {
    assert(LLVMTypeOf(x) == LLVMTypeOf(y) && "operands of one type");
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x_wins = LLVMBuildFCmp(b, wins, x, y, L_UNNAMED);
    LLVMValueRef result = ig_cpu_select(e, x_wins, x, y);
    if (x_is_number) {
        return result;
    }
    LLVMValueRef is_number = LLVMBuildFCmp(b, LLVMRealORD, x, x, L_UNNAMED);
    return ig_cpu_select(e, is_number, result, x);
}

LLVMValueRef ig_cpu_combine(ig_cpu_emitter *e, const ig_cpu_row *row, ig_dtype dtype,
                            LLVMValueRef x, LLVMValueRef y) {
    assert(LLVMTypeOf(x) == LLVMTypeOf(y) && "operands of one type");
    if (row->sint_name && ig_dtype_is_float(dtype)) {
        return ig_cpu_extreme(e, (LLVMRealPredicate)row->real, x, y, false);
    }
    if (row->sint_name) {
        bool is_signed = ig_dtypes[dtype].class == IG_SINT;
        return l_call2(e->builder, is_signed ? row->sint_name : row->uint_name, x, y);
    }
    return LLVMBuildBinOp(e->builder, (LLVMOpcode)row_code(row, dtype), x, y,
                          L_UNNAMED);
}

ig_status ig_cpu_emit_extreme(ig_cpu_emitter *e, const ig_op *op) {
    operands in = read_operands(e, op);
    if (!ig_dtype_is_float(in.dtype)) {
        return ig_cpu_set_result(e, op,
                                 ig_cpu_combine(e, row_of(op), in.dtype, in.x, in.y));
    }
    if (row_code(row_of(op), in.dtype) == 0) {
        return fail_dtype(e, op);
    }
    bool swap = ig_cpu_is_number(op, 1);
    LLVMValueRef x = swap ? in.y : in.x, y = swap ? in.x : in.y;
    bool is_number = swap || ig_cpu_is_number(op, 0);
    return ig_cpu_set_result(
        e, op, ig_cpu_extreme(e, (LLVMRealPredicate)row_of(op)->real, x, y, is_number));
}

/* ---- comparison and selection ---- */

ig_status ig_cpu_emit_compare(ig_cpu_emitter *e, const ig_op *op) {
    operands in = read_operands(e, op);
    int code = row_code(row_of(op), in.dtype);
    if (code == 0) {
        return fail_dtype(e, op);
    }
    LLVMValueRef result =
        ig_dtype_is_float(in.dtype)
            ? LLVMBuildFCmp(e->builder, (LLVMRealPredicate)code, in.x, in.y, L_UNNAMED)
            : LLVMBuildICmp(e->builder, (LLVMIntPredicate)code, in.x, in.y, L_UNNAMED);
    return ig_cpu_set_result(e, op, result);
}

ig_status ig_cpu_emit_where(ig_cpu_emitter *e, const ig_op *op) {
    operands in = read_operands(e, op);
    return ig_cpu_set_result(e, op, ig_cpu_select(e, in.x, in.y, in.z));
}
