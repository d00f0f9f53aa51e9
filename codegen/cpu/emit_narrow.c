/* Narrow floats (f16, bf16, float8) to and from f32, as integer code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A narrow float is its bits:  sign | exponent | M bits of mantissa
 *
 *     widen    shift the bits under f32's fields and multiply by 2^(127 - bias): exact,
 *              and subnormals come out right without a special case
 *     narrow   normal:     rebias the f32 bits and round their tail to nearest even; a
 *                          carry runs into the exponent by itself
 *              subnormal:  add the float whose last place is the narrow format's least
 *                          subnormal; the adder rounds
 *
 * Powers of two (f8e8m0) are an exponent alone, without a sign; 0xff is NaN.
 *
 * Only f16 <-> f32 has instructions (F16C, from v3 on); bf16's flush denormals, and
 * LLVM makes calls into libgcc of everything else.
 */
#include "codegen/cpu/emit_cast.h"

typedef struct narrow_format { /* the columns of narrow.def */
    int8_t mantissa_bits;
    int16_t bias;
    uint32_t largest, infinity, nan;
    bool is_unsigned_zero;
} narrow_format;

static const narrow_format formats[IG_DT_COUNT] = {
#define NARROW(dtype, mantissa, bias, largest, infinity, nan, unsigned_zero) \
    [IG_DT_##dtype] = { mantissa, bias, largest, infinity, nan, unsigned_zero },
#include "ir/semantics/narrow.def"
#undef NARROW
};

bool ig_cpu_is_narrow(ig_dtype dtype) {
    return formats[dtype].nan != 0;
}

static LLVMValueRef build_binary(const ig_cpu_emitter *e, LLVMOpcode code,
                                 LLVMValueRef x, LLVMValueRef y) {
    return LLVMBuildBinOp(e->builder, code, x, y, L_UNNAMED);
}

/* `x` combined with an integer constant in every lane. */
static LLVMValueRef with_int(const ig_cpu_emitter *e, LLVMOpcode code, LLVMValueRef x,
                             int64_t y) {
    return build_binary(e, code, x, l_int(LLVMTypeOf(x), y));
}

static LLVMValueRef is_above(const ig_cpu_emitter *e, LLVMValueRef x, uint32_t than) {
    return LLVMBuildICmp(e->builder, LLVMIntUGT, x, l_int(LLVMTypeOf(x), than),
                         L_UNNAMED);
}

static LLVMValueRef is_equal(const ig_cpu_emitter *e, LLVMValueRef x, uint32_t value) {
    return LLVMBuildICmp(e->builder, LLVMIntEQ, x, l_int(LLVMTypeOf(x), value),
                         L_UNNAMED);
}

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value = 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The same lanes with another element. */
static LLVMTypeRef lanes_of(LLVMTypeRef element, LLVMValueRef like) {
    return l_vector(element, l_lanes(LLVMTypeOf(like)));
}

/* ---- F16C ---- */

/* LLVM would compare and choose the halves themselves, for which there are no
 * instructions, lane by lane; it does not look through the fence. */
static LLVMValueRef widen_f16c(ig_cpu_emitter *e, LLVMValueRef bits, LLVMTypeRef f32) {
    LLVMTypeRef half = lanes_of(LLVMHalfTypeInContext(e->llvm), bits);
    LLVMValueRef value = LLVMBuildBitCast(e->builder, bits, half, L_UNNAMED);
    LLVMValueRef wide = LLVMBuildFPExt(e->builder, value, f32, L_UNNAMED);
    return l_call1(e->builder, "llvm.arithmetic.fence", wide);
}

static LLVMValueRef narrow_f16c(ig_cpu_emitter *e, LLVMValueRef x) {
    LLVMTypeRef half = lanes_of(LLVMHalfTypeInContext(e->llvm), x);
    LLVMTypeRef i16 = lanes_of(LLVMInt16TypeInContext(e->llvm), x);
    LLVMValueRef value = LLVMBuildFPTrunc(e->builder, x, half, L_UNNAMED);
    return LLVMBuildBitCast(e->builder, value, i16, L_UNNAMED);
}

/* ---- powers of two ---- */

static LLVMValueRef widen_power(ig_cpu_emitter *e, LLVMValueRef code, LLVMTypeRef f32) {
    LLVMTypeRef i32 = LLVMTypeOf(code);
    LLVMValueRef min = l_int(i32, 0x00400000); /* f32's subnormal 2^-127 */
    LLVMValueRef value = with_int(e, LLVMShl, code, 23);
    value = ig_cpu_select(e, is_equal(e, code, 0), min, value);
    value = ig_cpu_select(e, is_equal(e, code, 0xff), l_int(i32, 0x7fc00000), value);
    return LLVMBuildBitCast(e->builder, value, f32, L_UNNAMED);
}

/* To the nearest, ties upwards; between the least two the larger one. */
static LLVMValueRef narrow_power(ig_cpu_emitter *e, LLVMValueRef magnitude,
                                 bool saturate) {
    LLVMTypeRef i32 = LLVMTypeOf(magnitude);
    LLVMValueRef is_normal = is_above(e, magnitude, 0x7fffff);
    LLVMValueRef half = LLVMBuildZExt(e->builder, is_normal, i32, L_UNNAMED);
    half = with_int(e, LLVMAdd, half, 0x3fffff);
    LLVMValueRef code = build_binary(e, LLVMAdd, magnitude, half);
    code = with_int(e, LLVMLShr, code, 23);
    LLVMValueRef max = l_int(i32, saturate ? 0xfe : 0xff);
    code = ig_cpu_select(e, is_above(e, code, 0xfe), max, code);
    return ig_cpu_select(e, is_above(e, magnitude, 0x7f7fffff), l_int(i32, 0xff), code);
}

/* ---- to f32 ---- */

/* The f32 bits of a code above the largest finite one: infinity or a quiet NaN. */
static LLVMValueRef special_bits(ig_cpu_emitter *e, const narrow_format *format,
                                 LLVMValueRef magnitude) {
    LLVMTypeRef i32 = LLVMTypeOf(magnitude);
    LLVMValueRef payload = with_int(e, LLVMShl, magnitude, 23 - format->mantissa_bits);
    LLVMValueRef nan = with_int(e, LLVMOr, with_int(e, LLVMAnd, payload, 0x3fffff),
                                0x7fc00000);
    if (format->infinity == format->nan) {
        return nan;
    }
    return ig_cpu_select(e, is_equal(e, magnitude, format->infinity),
                         l_int(i32, 0x7f800000), nan);
}

LLVMValueRef ig_cpu_widen(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef bits) {
    LLVMBuilderRef b = e->builder;
    const narrow_format *format = &formats[dtype];
    LLVMTypeRef f32 = lanes_of(LLVMFloatTypeInContext(e->llvm), bits);
    LLVMTypeRef i32 = l_as_int(f32);
    int width = ig_dtypes[dtype].bits;
    if (dtype == IG_DT_f16 && e->level->has_f16c) {
        return widen_f16c(e, bits, f32);
    }
    LLVMValueRef code = LLVMBuildZExt(b, bits, i32, L_UNNAMED);
    if (dtype == IG_DT_f8e8m0) {
        return widen_power(e, code, f32);
    }
    if (dtype == IG_DT_bf16) {
        return LLVMBuildBitCast(b, with_int(e, LLVMShl, code, 16), f32, L_UNNAMED);
    }
    LLVMValueRef magnitude = with_int(e, LLVMAnd, code, (1 << (width - 1)) - 1);
    LLVMValueRef sign = with_int(e, LLVMShl, with_int(e, LLVMLShr, code, width - 1),
                                 31);
    LLVMValueRef shifted = with_int(e, LLVMShl, magnitude, 23 - format->mantissa_bits);
    LLVMValueRef small = LLVMBuildBitCast(b, shifted, f32, L_UNNAMED);
    LLVMValueRef scale = l_real(f32, power_of_two(127 - format->bias));
    LLVMValueRef scaled = LLVMBuildBitCast(b, LLVMBuildFMul(b, small, scale, L_UNNAMED),
                                           i32, L_UNNAMED);
    LLVMValueRef is_special = format->is_unsigned_zero
                                  ? is_equal(e, code, format->nan)
                                  : is_above(e, magnitude, format->largest);
    LLVMValueRef special = special_bits(e, format, magnitude);
    LLVMValueRef value = ig_cpu_select(e, is_special, special, scaled);
    return LLVMBuildBitCast(b, build_binary(e, LLVMOr, value, sign), f32, L_UNNAMED);
}

/* ---- from f32 ---- */

/* The code of a normal magnitude, given as f32 bits. */
static LLVMValueRef round_normal(ig_cpu_emitter *e, const narrow_format *format,
                                 LLVMValueRef magnitude) {
    int shift = 23 - format->mantissa_bits;
    LLVMValueRef odd = with_int(e, LLVMAnd, with_int(e, LLVMLShr, magnitude, shift), 1);
    int64_t add = (1 << (shift - 1)) - 1 - ((int64_t)(127 - format->bias) << 23);
    LLVMValueRef sum = build_binary(e, LLVMAdd, with_int(e, LLVMAdd, magnitude, add),
                                    odd);
    return with_int(e, LLVMLShr, sum, shift);
}

static LLVMValueRef round_subnormal(ig_cpu_emitter *e, const narrow_format *format,
                                    LLVMValueRef magnitude) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i32 = LLVMTypeOf(magnitude);
    LLVMTypeRef f32 = lanes_of(LLVMFloatTypeInContext(e->llvm), magnitude);
    int exponent = 1 - format->bias - format->mantissa_bits + 23;
    LLVMValueRef step = l_real(f32, power_of_two(exponent));
    LLVMValueRef x = LLVMBuildBitCast(b, magnitude, f32, L_UNNAMED);
    LLVMValueRef sum = LLVMBuildFAdd(b, x, step, L_UNNAMED);
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, i32, L_UNNAMED);
    return with_int(e, LLVMSub, bits, (int64_t)(exponent + 127) << 23);
}

/* Formats without -0 keep the codes of 0 and NaN as they are. */
static LLVMValueRef put_sign(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef code,
                             LLVMValueRef bits) {
    const narrow_format *format = &formats[dtype];
    LLVMTypeRef i32 = LLVMTypeOf(code);
    LLVMValueRef sign = with_int(e, LLVMShl, with_int(e, LLVMLShr, bits, 31),
                                 ig_dtypes[dtype].bits - 1);
    if (format->is_unsigned_zero) {
        LLVMValueRef plain = LLVMBuildOr(e->builder, is_equal(e, code, 0),
                                         is_equal(e, code, format->nan), L_UNNAMED);
        sign = ig_cpu_select(e, plain, LLVMConstNull(i32), sign);
    }
    return build_binary(e, LLVMOr, code, sign);
}

LLVMValueRef ig_cpu_narrow(ig_cpu_emitter *e, ig_dtype dtype, LLVMValueRef x,
                           bool saturate) {
    LLVMBuilderRef b = e->builder;
    const narrow_format *format = &formats[dtype];
    LLVMTypeRef i32 = l_as_int(LLVMTypeOf(x));
    if (dtype == IG_DT_f16 && e->level->has_f16c && !saturate) {
        return narrow_f16c(e, x);
    }
    LLVMValueRef bits = LLVMBuildBitCast(b, x, i32, L_UNNAMED);
    LLVMValueRef magnitude = with_int(e, LLVMAnd, bits, 0x7fffffff);
    LLVMTypeRef type = lanes_of(LLVMIntTypeInContext(e->llvm, ig_dtypes[dtype].bits),
                                x);
    if (dtype == IG_DT_f8e8m0) {
        return LLVMBuildTrunc(b, narrow_power(e, magnitude, saturate), type, L_UNNAMED);
    }
    LLVMValueRef code = round_normal(e, format, magnitude);
    if (format->bias != 127) { /* bf16's subnormals are f32's */
        uint32_t min = (uint32_t)(128 - format->bias) << 23;
        LLVMValueRef is_normal = is_above(e, magnitude, min - 1);
        code = ig_cpu_select(e, is_normal, code, round_subnormal(e, format, magnitude));
    }
    LLVMValueRef max = l_int(i32, saturate ? format->largest : format->infinity);
    code = ig_cpu_select(e, is_above(e, code, format->largest), max, code);
    code = ig_cpu_select(e, is_above(e, magnitude, 0x7f800000), l_int(i32, format->nan),
                         code);
    return LLVMBuildTrunc(b, put_sign(e, dtype, code, bits), type, L_UNNAMED);
}
