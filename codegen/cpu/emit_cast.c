/* cast and reinterpret.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     integer → integer   keeps the low bits
 *     float → integer     truncates; holds at the ends of the range; NaN is 0
 *     x → bool            x != 0
 *     x → narrow float    one rounding, whatever x is; `saturate` is for float8 only
 *
 * A double rounding on the way to a narrow float (f64 → f32 → f16) is avoided by the
 * classical trick of rounding the middle step to odd: an inexact f32 gets its last bit
 * set, so it never looks like a tie to the next step.
 */
#include "codegen/cpu/emit_cast.h"

#include <math.h>
#include <string.h>

enum { WIDEST = 16 }; /* lanes of f32 in the widest registers */

static LLVMTypeRef scalar_lanes(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef like) {
    return l_vector(ig_cpu_scalar_type(e, dtype), l_lanes(LLVMTypeOf(like)));
}

static bool is_signed(ig_dtype dtype) {
    return ig_dtypes[dtype].class == IG_SINT;
}

/* ---- to integers ---- */

/* LLVM's own conversion is undefined outside the range, so such lanes are set to 0
 * first and to an end of the range afterwards. */
static LLVMValueRef float_to_wide(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype to) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef real = LLVMTypeOf(x), type = scalar_lanes(e, to, x);
    unsigned bits = ig_dtypes[to].bits;
    bool sign = is_signed(to);
    double above = ldexp(1.0, (int)bits - sign); /* first value beyond the range */
    double below = sign ? -above : 0.0;          /* the least within */
    LLVMValueRef too_high = LLVMBuildFCmp(b, LLVMRealOGE, x, l_real(real, above),
                                          L_UNNAMED);
    LLVMValueRef too_low = LLVMBuildFCmp(b, LLVMRealOLT, x, l_real(real, below),
                                         L_UNNAMED);
    LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, L_UNNAMED);
    LLVMValueRef outside = LLVMBuildOr(b, too_high, too_low, L_UNNAMED);
    outside = LLVMBuildOr(b, outside, is_nan, L_UNNAMED);
    LLVMValueRef safe = ig_cpu_select(e, outside, LLVMConstNull(real), x);
    LLVMValueRef value = sign ? LLVMBuildFPToSI(b, safe, type, L_UNNAMED)
                              : LLVMBuildFPToUI(b, safe, type, L_UNNAMED);
    uint64_t max = UINT64_MAX >> (64 - bits + sign);
    LLVMValueRef high = l_int(type, (int64_t)max);
    LLVMValueRef low = l_int(type, sign ? (int64_t)~max : 0);
    value = ig_cpu_select(e, too_high, high, value);
    return ig_cpu_select(e, too_low, low, value);
}

/* Where floats hold both ends of the range, x is put between them first.  x86's min
 * and max give their second operand for a NaN. */
static LLVMValueRef float_to_short(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype to) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef real = LLVMTypeOf(x);
    bool sign = is_signed(to);
    double above = ldexp(1.0, (int)ig_dtypes[to].bits - sign);
    if (sign) { /* the least within is not what NaN is */
        LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, x, x, L_UNNAMED);
        x = ig_cpu_select(e, is_nan, LLVMConstNull(real), x);
    }
    x = ig_cpu_extreme(e, LLVMRealOGT, x, l_real(real, sign ? -above : 0), true);
    x = ig_cpu_extreme(e, LLVMRealOLT, x, l_real(real, above - 1), true);
    LLVMValueRef wide = LLVMBuildFPToSI(b, x, scalar_lanes(e, IG_DT_i32, x), L_UNNAMED);
    return LLVMBuildTrunc(b, wide, scalar_lanes(e, to, x), L_UNNAMED);
}

/* In the widest registers: values beyond u32 become its largest, and values beyond
 * u8 or u16 theirs, as it is narrowed. */
static LLVMValueRef float_to_unsigned(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype to) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef real = LLVMTypeOf(x), wide = scalar_lanes(e, IG_DT_i32, x);
    LLVMTypeRef i16 = LLVMInt16TypeInContext(e->llvm);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    enum { AS_ALWAYS = 4 }; /* how it rounds: it truncates */
    x = ig_cpu_extreme(e, LLVMRealOGT, x, l_real(real, 0), true); /* NaN: 0 */
    LLVMValueRef args[] = { x, LLVMConstNull(wide), LLVMConstAllOnes(i16),
                            LLVMConstInt(i32, AS_ALWAYS, 0) };
    x = l_intrinsic(b, "llvm.x86.avx512.mask.cvttps2udq.512", NULL, 0, args, 4);
    LLVMValueRef max = l_int(wide, ((int64_t)1 << ig_dtypes[to].bits) - 1);
    LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, x, max, L_UNNAMED);
    x = ig_cpu_select(e, is_less, x, max);
    return LLVMBuildTrunc(b, x, scalar_lanes(e, to, x), L_UNNAMED);
}

/* Does a vector of so many f32 fill the widest registers there are? */
static bool fills_register(const ig_cpu_emitter *e, unsigned lanes) {
    return lanes == WIDEST && strcmp(e->level->width, "512") == 0;
}

static LLVMValueRef float_to_int(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype to) {
    LLVMTypeRef type = LLVMTypeOf(x);
    bool is_short = ig_dtypes[to].class == IG_UINT && ig_dtypes[to].bits < 32;
    if (is_short && fills_register(e, l_lanes(type)) &&
        l_element(type) == ig_cpu_scalar_type(e, IG_DT_f32)) {
        return float_to_unsigned(e, x, to);
    }
    return (ig_dtypes[to].bits < 32 ? float_to_short : float_to_wide)(e, x, to);
}

static LLVMValueRef to_bool(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from) {
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    return ig_dtype_is_float(from)
               ? LLVMBuildFCmp(e->builder, LLVMRealUNE, x, zero, L_UNNAMED)
               : LLVMBuildICmp(e->builder, LLVMIntNE, x, zero, L_UNNAMED);
}

/* ---- to floats ---- */

static LLVMValueRef int_to_float(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from,
                                 ig_dtype to) {
    LLVMTypeRef type = scalar_lanes(e, to, x);
    return is_signed(from) ? LLVMBuildSIToFP(e->builder, x, type, L_UNNAMED)
                           : LLVMBuildUIToFP(e->builder, x, type, L_UNNAMED);
}

/* A 64-bit integer whose conversion to f64 is exact and rounds on as `x` would: a
 * magnitude of more than 53 bits has its low 11 bits folded into the one above. */
static LLVMValueRef fold_low_bits(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef zero = LLVMConstNull(type), low_mask = l_int(type, 0x7ff);
    LLVMValueRef is_minus = LLVMBuildICmp(b, LLVMIntSLT, x, zero, L_UNNAMED);
    LLVMValueRef size = x;
    if (is_signed(from)) {
        size = ig_cpu_select(e, is_minus, LLVMBuildNeg(b, x, L_UNNAMED), x);
    }
    LLVMValueRef low = LLVMBuildAnd(b, size, low_mask, L_UNNAMED);
    LLVMValueRef rest = LLVMBuildICmp(b, LLVMIntNE, low, zero, L_UNNAMED);
    LLVMValueRef odd = ig_cpu_select(e, rest, l_int(type, 0x800), zero);
    LLVMValueRef high = LLVMBuildAnd(b, size, LLVMBuildNot(b, low_mask, L_UNNAMED),
                                     L_UNNAMED);
    LLVMValueRef folded = LLVMBuildOr(b, high, odd, L_UNNAMED);
    LLVMValueRef large = LLVMBuildICmp(b, LLVMIntUGT, size,
                                       l_int(type, (INT64_C(1) << 53) - 1), L_UNNAMED);
    folded = ig_cpu_select(e, large, folded, size);
    if (!is_signed(from)) {
        return folded;
    }
    return ig_cpu_select(e, is_minus, LLVMBuildNeg(b, folded, L_UNNAMED), folded);
}

/* f64 to f32, rounded to odd: towards zero, then the last bit set when inexact. */
static LLVMValueRef round_to_odd(ig_cpu_emitter *e, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef f32 = scalar_lanes(e, IG_DT_f32, x), i32 = l_as_int(f32);
    LLVMValueRef near = LLVMBuildFPTrunc(b, x, f32, L_UNNAMED);
    LLVMValueRef back = LLVMBuildFPExt(b, near, LLVMTypeOf(x), L_UNNAMED);
    LLVMValueRef bits = LLVMBuildBitCast(b, near, i32, L_UNNAMED);
    LLVMValueRef beyond = LLVMBuildFCmp(b, LLVMRealOGT, l_call1(b, "llvm.fabs", back),
                                        l_call1(b, "llvm.fabs", x), L_UNNAMED);
    LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, x, L_UNNAMED);
    LLVMValueRef less = LLVMBuildSub(b, bits, l_int(i32, 1), L_UNNAMED);
    LLVMValueRef down = ig_cpu_select(e, beyond, less, bits);
    LLVMValueRef odd = LLVMBuildOr(b, down, l_int(i32, 1), L_UNNAMED);
    return LLVMBuildBitCast(b, ig_cpu_select(e, inexact, odd, bits), f32, L_UNNAMED);
}

/* `x` as an f32 from which a narrow float is one correct rounding away. */
static LLVMValueRef to_odd_f32(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from) {
    if (from == IG_DT_f32) {
        return x;
    }
    if (from != IG_DT_f64) {
        if (ig_dtypes[from].bits == 64) {
            x = fold_low_bits(e, x, from);
        }
        x = int_to_float(e, x, from, IG_DT_f64);
    }
    return round_to_odd(e, x);
}

static LLVMValueRef to_float(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from,
                             ig_dtype to) {
    if (!ig_dtype_is_float(from)) {
        return int_to_float(e, x, from, to);
    }
    LLVMTypeRef type = scalar_lanes(e, to, x);
    return to == IG_DT_f64 ? LLVMBuildFPExt(e->builder, x, type, L_UNNAMED)
                           : LLVMBuildFPTrunc(e->builder, x, type, L_UNNAMED);
}

static LLVMValueRef convert_lanes(ig_cpu_emitter *e, LLVMValueRef x, ig_dtype from,
                                  ig_dtype to, bool saturate) {
    if (from == to) {
        return x;
    }
    if (ig_cpu_is_narrow(from)) {
        return convert_lanes(e, ig_cpu_widen(e, from, x), IG_DT_f32, to, saturate);
    }
    if (ig_cpu_is_narrow(to)) {
        return ig_cpu_narrow(e, to, to_odd_f32(e, x, from), saturate);
    }
    if (to == IG_DT_bool) {
        return to_bool(e, x, from);
    }
    if (ig_dtype_is_float(to)) {
        return to_float(e, x, from, to);
    }
    if (ig_dtype_is_float(from)) {
        return float_to_int(e, x, to);
    }
    return LLVMBuildIntCast2(e->builder, x, scalar_lanes(e, to, x), is_signed(from),
                             L_UNNAMED);
}

/* ---- a few low bits ---- */

/* Is `op` (x & mask) to f32 where a register of f32 can be indexed by x? */
static bool takes_low_bits(const ig_cpu_emitter *e, const ig_op *op, double *out_mask) {
    const ig_op *def = op->operands[0].value->def;
    return fills_register(e, ig_cpu_result_lanes(op)) && def &&
           def->code == IG_OP_and && ig_cpu_operand_dtype(op, 0) == IG_DT_i32 &&
           op->results[0].type->dtype == IG_DT_f32 &&
           ig_cpu_constant(def, 1, out_mask) && *out_mask >= 0 && *out_mask < WIDEST;
}

/* Lanes chosen by other lanes look at the low four bits of those, so that a register of
 * what four bits mean is mask and conversion in one instruction. */
static LLVMValueRef gather_low_bits(ig_cpu_emitter *e, LLVMValueRef x, unsigned mask) {
    LLVMTypeRef f32 = ig_cpu_scalar_type(e, IG_DT_f32);
    LLVMValueRef meant[WIDEST];
    for (unsigned i = 0; i < WIDEST; i++) {
        meant[i] = LLVMConstReal(f32, i & mask);
    }
    LLVMValueRef args[] = { LLVMConstVector(meant, WIDEST), x };
    return l_intrinsic(e->builder, "llvm.x86.avx512.permvar.sf.512", NULL, 0, args, 2);
}

ig_status ig_cpu_emit_cast(ig_cpu_emitter *e, const ig_op *op) {
    ig_dtype from = ig_cpu_operand_dtype(op, 0);
    ig_dtype to = (ig_dtype)op->results[0].type->dtype;
    double mask;
    if (takes_low_bits(e, op, &mask)) {
        LLVMValueRef whole = ig_cpu_operand(e, op->operands[0].value->def, 0);
        return ig_cpu_set_result(e, op, gather_low_bits(e, whole, (unsigned)mask));
    }
    LLVMValueRef bytes = ig_cpu_quantised(e, op);
    if (bytes) {
        return ig_cpu_set_result(e, op, bytes);
    }
    bool saturate = ig_dtypes[to].bits == 8 && ig_attr_int(op, IG_cast_saturate, 0);
    return ig_cpu_set_result(
        e, op, convert_lanes(e, ig_cpu_operand(e, op, 0), from, to, saturate));
}

/* Buffers are untyped pointers already. */
ig_status ig_cpu_emit_reinterpret(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    if (op->results[0].type->kind == IG_BUFFER) {
        return ig_cpu_set_result(e, op, x);
    }
    LLVMTypeRef type = ig_cpu_type(e, op->results[0].type);
    return ig_cpu_set_result(e, op, LLVMBuildBitCast(e->builder, x, type, L_UNNAMED));
}
