/* dot4, dot2: sums of products of 8-bit integers, exact at every level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * VNNI has the instruction.  Elsewhere bytes are widened to 16 bits, even and odd ones
 * apart, and `pmaddwd` adds the products of two neighbours in 32 bits, where none can
 * overflow:
 *
 *     a   a0 a1 a2 a3        even  a0 a2     odd  a1 a3       (16 bits each)
 *     c + a0 b0 + a2 b2 + a1 b1 + a3 b3
 *
 * `pmaddubsw` would save one instruction of four and saturates: 2 * 255 * 127 > 32767.
 * dot2 is made of it, as its sums are known to fit 16 bits.  A widened part of
 * a factor that meets several others is one value for LLVM.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>
#include <stdlib.h>

/* The intrinsics of one number of sums. */
typedef struct dot_form {
    uint32_t lanes, bits; /* of a vector of sums */
    const char *vnni, *pairs, *bytes;
} dot_form;

static const dot_form forms[] = {
    { 4, 128, "llvm.x86.avx512.vpdpbusd.128", "llvm.x86.sse2.pmadd.wd",
      "llvm.x86.ssse3.pmadd.ub.sw.128" },
    { 8, 256, "llvm.x86.avx512.vpdpbusd.256", "llvm.x86.avx2.pmadd.wd",
      "llvm.x86.avx2.pmadd.ub.sw" },
    { 16, 512, "llvm.x86.avx512.vpdpbusd.512", "llvm.x86.avx512.pmaddw.d.512",
      "llvm.x86.avx512.pmaddubs.w.512" },
};

/* The form of so many sums whose vectors the level has, or NULL. */
static const dot_form *find_form(const ig_cpu_level *level, uint32_t lanes) {
    unsigned long width = strtoul(level->width, NULL, 10);
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        if (forms[i].lanes == lanes && forms[i].bits <= width && !level->is_arm64) {
            return &forms[i];
        }
    }
    return NULL;
}

static LLVMTypeRef vector_of(ig_cpu_emitter *e, ig_dtype dtype, uint32_t lanes) {
    LLVMTypeRef element = ig_cpu_scalar_type(e, dtype);
    return lanes == 1 ? element : LLVMVectorType(element, lanes);
}

/* Bytes 2 i + part of a vector as 16 bits, zero- or sign-extended. */
static LLVMValueRef widen_bytes(ig_cpu_emitter *e, LLVMValueRef x, uint32_t part,
                                bool is_signed) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef eight = l_int(type, 8);
    if (part == 0 && !is_signed) {
        return LLVMBuildAnd(b, x, l_int(type, 255), L_UNNAMED);
    }
    x = part == 0 ? LLVMBuildShl(b, x, eight, L_UNNAMED) : x;
    return is_signed ? LLVMBuildAShr(b, x, eight, L_UNNAMED)
                     : LLVMBuildLShr(b, x, eight, L_UNNAMED);
}

static LLVMValueRef dot_by_pairs(ig_cpu_emitter *e, const dot_form *form,
                                 LLVMValueRef x, LLVMValueRef y, LLVMValueRef sum) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef words = vector_of(e, IG_DT_i16, 2 * form->lanes);
    x = LLVMBuildBitCast(b, x, words, L_UNNAMED);
    y = LLVMBuildBitCast(b, y, words, L_UNNAMED);
    for (uint32_t part = 0; part < 2; part++) {
        LLVMValueRef args[] = { widen_bytes(e, x, part, false),
                                widen_bytes(e, y, part, true) };
        LLVMValueRef products = l_intrinsic(b, form->pairs, NULL, 0, args, 2);
        sum = LLVMBuildAdd(b, sum, products, L_UNNAMED);
    }
    return sum;
}

/* Byte `part` of each group of four, as 32 bits; for any number of sums. */
static LLVMValueRef byte_of_group(ig_cpu_emitter *e, LLVMValueRef x, uint32_t part,
                                  bool is_signed) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    x = LLVMBuildShl(b, x, l_int(type, 24 - 8 * (int64_t)part), L_UNNAMED);
    LLVMValueRef by = l_int(type, 24);
    return is_signed ? LLVMBuildAShr(b, x, by, L_UNNAMED)
                     : LLVMBuildLShr(b, x, by, L_UNNAMED);
}

static LLVMValueRef dot_by_bytes(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y,
                                 LLVMValueRef sum) {
    LLVMBuilderRef b = e->builder;
    x = LLVMBuildBitCast(b, x, LLVMTypeOf(sum), L_UNNAMED);
    y = LLVMBuildBitCast(b, y, LLVMTypeOf(sum), L_UNNAMED);
    for (uint32_t part = 0; part < 4; part++) {
        LLVMValueRef product = LLVMBuildMul(b, byte_of_group(e, x, part, false),
                                            byte_of_group(e, y, part, true), L_UNNAMED);
        sum = LLVMBuildAdd(b, sum, product, L_UNNAMED);
    }
    return sum;
}

/* aarch64 multiplies bytes of one sign: x - 128 is signed, and 128 y, as twice 64 y, is
 * added again.  Sums wrap, so all of it is exact. */
static LLVMValueRef dot_of_signed(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y,
                                  LLVMValueRef sum) {
    enum { HALF = 64 };
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef bytes = vector_of(e, IG_DT_i8, 4 * l_lanes(LLVMTypeOf(sum)));
    LLVMTypeRef types[] = { LLVMTypeOf(sum), bytes };
    x = LLVMBuildBitCast(b, x, bytes, L_UNNAMED);
    y = LLVMBuildBitCast(b, y, bytes, L_UNNAMED);
    x = LLVMBuildXor(b, x, l_int(bytes, INT8_MIN), L_UNNAMED);
    LLVMValueRef factors[] = { x, l_int(bytes, HALF), l_int(bytes, HALF) };
    for (size_t i = 0; i < IG_COUNT_OF(factors); i++) {
        LLVMValueRef args[] = { sum, factors[i], y };
        sum = l_intrinsic(b, "llvm.aarch64.neon.sdot", types, 2, args, 3);
    }
    return sum;
}

ig_status ig_cpu_emit_dot4(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0), y = ig_cpu_operand(e, op, 1);
    LLVMValueRef sum = ig_cpu_operand(e, op, 2);
    assert(ig_cpu_operand_dtype(op, 2) == IG_DT_i32 && "sums are of 32 bits");
    uint32_t lanes = ig_cpu_result_lanes(op);
    const dot_form *form = find_form(e->level, lanes);
    if (e->level->is_arm64 && (lanes == 2 || lanes == 4)) {
        return ig_cpu_set_result(e, op, dot_of_signed(e, x, y, sum));
    }
    if (!form) {
        return ig_cpu_set_result(e, op, dot_by_bytes(e, x, y, sum));
    }
    if (!e->level->has_vnni) {
        return ig_cpu_set_result(e, op, dot_by_pairs(e, form, x, y, sum));
    }
    LLVMTypeRef type = LLVMTypeOf(sum);
    LLVMValueRef args[] = { sum, LLVMBuildBitCast(e->builder, x, type, L_UNNAMED),
                            LLVMBuildBitCast(e->builder, y, type, L_UNNAMED) };
    return ig_cpu_set_result(e, op,
                             l_intrinsic(e->builder, form->vnni, NULL, 0, args, 3));
}

/* ---- sums of 16 bits ---- */

ig_status ig_cpu_emit_dot2(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = ig_cpu_operand(e, op, 0), y = ig_cpu_operand(e, op, 1);
    LLVMValueRef sum = ig_cpu_operand(e, op, 2);
    assert(ig_cpu_operand_dtype(op, 2) == IG_DT_i16 && "sums are of 16 bits");
    uint32_t lanes = ig_cpu_result_lanes(op);
    const dot_form *form = find_form(e->level, lanes / 2);
    if (form) {
        LLVMValueRef args[] = { x, y };
        LLVMValueRef pairs = l_intrinsic(b, form->bytes, NULL, 0, args, 2);
        return ig_cpu_set_result(e, op, LLVMBuildAdd(b, sum, pairs, L_UNNAMED));
    }
    LLVMTypeRef words = vector_of(e, IG_DT_i16, lanes);
    x = LLVMBuildBitCast(b, x, words, L_UNNAMED);
    y = LLVMBuildBitCast(b, y, words, L_UNNAMED);
    for (uint32_t part = 0; part < 2; part++) {
        LLVMValueRef wide = widen_bytes(e, x, part, false);
        LLVMValueRef other = widen_bytes(e, y, part, true);
        LLVMValueRef product = LLVMBuildMul(b, wide, other, L_UNNAMED);
        sum = LLVMBuildAdd(b, sum, product, L_UNNAMED);
    }
    return ig_cpu_set_result(e, op, sum);
}

/* `pmaddwd` with ones. */
ig_status ig_cpu_emit_add_pairs(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = ig_cpu_operand(e, op, 0), sum = ig_cpu_operand(e, op, 1);
    const dot_form *form = find_form(e->level, ig_cpu_result_lanes(op));
    if (form) {
        LLVMValueRef args[] = { x, l_int(LLVMTypeOf(x), 1) };
        LLVMValueRef pairs = l_intrinsic(b, form->pairs, NULL, 0, args, 2);
        return ig_cpu_set_result(e, op, LLVMBuildAdd(b, sum, pairs, L_UNNAMED));
    }
    LLVMTypeRef type = LLVMTypeOf(sum);
    LLVMValueRef by = l_int(type, 16);
    x = LLVMBuildBitCast(b, x, type, L_UNNAMED);
    LLVMValueRef low = LLVMBuildShl(b, x, by, L_UNNAMED);
    low = LLVMBuildAShr(b, low, by, L_UNNAMED);
    LLVMValueRef high = LLVMBuildAShr(b, x, by, L_UNNAMED);
    sum = LLVMBuildAdd(b, sum, low, L_UNNAMED);
    return ig_cpu_set_result(e, op, LLVMBuildAdd(b, sum, high, L_UNNAMED));
}
