/* div_round: whole quotients, exact at every level; and their values as bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Division is the slowest of all arithmetic, and quantising divides by one scale again
 * and again.  With r = 1 / y rounded, and fused arithmetic,
 *
 *     q = x r,   e = x - q y,   q + e r
 *
 * is x / y rounded once (Markstein 1990), wherever nothing on the way is too large or
 * too small to be normal.  Values beyond 2^22 y are cut before; values too small to be
 * right rounds to 0 either way.
 *
 * In the widest registers a quotient that becomes u8 is rounded by its conversion to
 * 32 bits, and held between 0 and 255 by narrowing alone.
 */
#include "codegen/cpu/emit_cast.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_BITS = 22, NORMAL_BITS = 60 };

/* min(max(x, -most), most); NaN stays. */
static LLVMValueRef hold_within(ig_cpu_emitter *e, LLVMValueRef x, double max) {
    LLVMTypeRef type = LLVMTypeOf(x);
    x = ig_cpu_extreme(e, LLVMRealOGT, l_real(type, -max), x, true);
    return ig_cpu_extreme(e, LLVMRealOLT, l_real(type, max), x, true);
}

static LLVMValueRef fused_sum(ig_cpu_emitter *e, LLVMValueRef x, LLVMValueRef y,
                              LLVMValueRef z) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = { x, y, z };
    return l_intrinsic(e->builder, "llvm.fma", &type, 1, args, 3);
}

/* Is `op` a quotient by a number whose reciprocal is normal? */
static bool has_inverse(const ig_cpu_emitter *e, const ig_op *op, double *out_y) {
    return ig_cpu_operand_dtype(op, 0) == IG_DT_f32 && e->level->has_fma &&
           ig_cpu_constant(op, 1, out_y) && fabs(*out_y) > ldexp(1, -NORMAL_BITS) &&
           fabs(*out_y) < ldexp(1, NORMAL_BITS);
}

/* x / y by the reciprocal of y, where x / y is within 2^22. */
static LLVMValueRef divide_by_constant(ig_cpu_emitter *e, LLVMValueRef x, float y) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef divisor = l_real(type, (double)y);
    LLVMValueRef inverse = l_real(type, (double)(1.0F / y));
    LLVMValueRef q = LLVMBuildFMul(b, x, inverse, L_UNNAMED);
    LLVMValueRef rest = fused_sum(e, LLVMBuildFNeg(b, q, L_UNNAMED), divisor, x);
    return fused_sum(e, rest, inverse, q);
}

ig_status ig_cpu_emit_div_round(ig_cpu_emitter *e, const ig_op *op) {
    double y;
    uint32_t lanes = ig_cpu_result_lanes(op);
    LLVMValueRef x = ig_cpu_operand_lanes(e, op, 0, lanes);
    if (has_inverse(e, op, &y)) {
        x = hold_within(e, x, ldexp(fabs(y), MAX_BITS));
        x = divide_by_constant(e, x, (float)y);
        return ig_cpu_set_result(e, op, l_call1(e->builder, "llvm.roundeven", x));
    }
    LLVMValueRef divisor = ig_cpu_operand_lanes(e, op, 1, lanes);
    x = l_call1(e->builder, "llvm.roundeven",
                LLVMBuildFDiv(e->builder, x, divisor, L_UNNAMED));
    return ig_cpu_set_result(e, op, hold_within(e, x, ldexp(1, MAX_BITS)));
}

/* ---- quotients that become bytes ---- */

enum { WIDEST = 16, PIECES = 4, NEAREST = 8 /* to even, without exceptions */ };

/* cast(div_round(x, y) + z) to u8: what quantising ends with. */
typedef struct quantised {
    const ig_op *quotient;
    double y, z;
} quantised;

static bool read_quantised(const ig_cpu_emitter *e, const ig_op *op, quantised *out) {
    const ig_op *def = op->operands[0].value->def;
    uint32_t lanes = ig_cpu_result_lanes(op);
    bool fills = strcmp(e->level->width, "512") == 0 &&
                 (lanes == WIDEST || lanes == 2 * WIDEST || lanes == PIECES * WIDEST);
    out->z = 0;
    if (!fills || op->results[0].type->dtype != IG_DT_u8 || !def) {
        return false;
    }
    if (def->code == IG_OP_add) {
        if (!ig_cpu_constant(def, 1, &out->z)) {
            return false;
        }
        def = def->operands[0].value->def;
    }
    out->quotient = def;
    bool is_byte = out->z >= 0 && out->z <= UINT8_MAX && out->z == rint(out->z);
    return is_byte && def && def->code == IG_OP_div_round &&
           has_inverse(e, def, &out->y) && out->y > 0;
}

/* `count` lanes from `first` on. */
static LLVMValueRef lanes_from(ig_cpu_emitter *e, LLVMValueRef x, unsigned first,
                               unsigned count) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMValueRef lanes[PIECES * WIDEST];
    assert(count <= IG_COUNT_OF(lanes) && "a part of what is narrowed at once");
    for (unsigned i = 0; i < count; i++) {
        lanes[i] = LLVMConstInt(i32, first + i, 0);
    }
    return LLVMBuildShuffleVector(e->builder, x, LLVMGetUndef(LLVMTypeOf(x)),
                                  LLVMConstVector(lanes, count), L_UNNAMED);
}

/* 16 lanes of x / y from `first` on as integers, rounded to even; the least integer for
 * NaN and for values that are too small, which narrowing takes to 0.  Only above must x
 * be held, as larger values would become the least integer too. */
static LLVMValueRef whole_quotient(ig_cpu_emitter *e, const quantised *q,
                                   LLVMValueRef x, unsigned first) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMTypeRef mask = LLVMInt16TypeInContext(e->llvm), wide = l_vector(i32, WIDEST);
    if (l_lanes(LLVMTypeOf(x)) > WIDEST) {
        x = lanes_from(e, x, first, WIDEST);
    }
    LLVMValueRef max = l_real(LLVMTypeOf(x), ldexp(q->y, MAX_BITS));
    x = ig_cpu_extreme(e, LLVMRealOLT, max, x, true);
    x = divide_by_constant(e, x, (float)q->y);
    LLVMValueRef args[] = { x, LLVMConstNull(wide), LLVMConstAllOnes(mask),
                            LLVMConstInt(i32, NEAREST, 0) };
    return l_intrinsic(e->builder, "llvm.x86.avx512.mask.cvtps2dq.512", NULL, 0, args,
                       4);
}

/* 16 integers plus z, from 0 to 255. */
static LLVMValueRef narrow_one(ig_cpu_emitter *e, const quantised *q, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef wide = LLVMTypeOf(x);
    LLVMTypeRef bytes = l_vector(LLVMInt8TypeInContext(e->llvm), WIDEST);
    LLVMValueRef min = LLVMConstNull(wide), max = l_int(wide, UINT8_MAX);
    x = LLVMBuildAdd(b, x, l_int(wide, (int64_t)q->z), L_UNNAMED);
    LLVMValueRef is_low = LLVMBuildICmp(b, LLVMIntSLT, x, min, L_UNNAMED);
    x = ig_cpu_select(e, is_low, min, x);
    LLVMValueRef is_high = LLVMBuildICmp(b, LLVMIntULT, max, x, L_UNNAMED);
    x = ig_cpu_select(e, is_high, max, x);
    return LLVMBuildTrunc(b, x, bytes, L_UNNAMED);
}

/* 32 sums of 16 bits of two times 16 integers and z, which stay within them; of each
 * quarter of the registers one after the other. */
static LLVMValueRef narrow_pair(ig_cpu_emitter *e, const quantised *q, LLVMValueRef x,
                                LLVMValueRef y) {
    LLVMValueRef args[] = { x, y };
    x = l_intrinsic(e->builder, "llvm.x86.avx512.packssdw.512", NULL, 0, args, 2);
    LLVMTypeRef type = LLVMTypeOf(x);
    if (q->z == 0) {
        return x;
    }
    LLVMValueRef sum[] = { x, l_int(type, (int64_t)q->z) };
    return l_intrinsic(e->builder, "llvm.sadd.sat", &type, 1, sum, 2);
}

/* 64 of them.  Packing goes quarter by quarter of the registers: four lanes of each
 * vector are side by side then, and are put into their places. */
static LLVMValueRef narrow_four(ig_cpu_emitter *e, const quantised *q,
                                LLVMValueRef x[PIECES]) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMTypeRef bytes = l_vector(LLVMInt8TypeInContext(e->llvm), PIECES * WIDEST);
    LLVMValueRef positions[WIDEST];
    LLVMValueRef args[] = { narrow_pair(e, q, x[0], x[1]),
                            narrow_pair(e, q, x[2], x[3]) };
    LLVMValueRef all = l_intrinsic(b, "llvm.x86.avx512.packuswb.512", NULL, 0, args, 2);
    all = LLVMBuildBitCast(b, all, l_vector(i32, WIDEST), L_UNNAMED);
    for (unsigned i = 0; i < WIDEST; i++) {
        unsigned from = i % PIECES * PIECES + i / PIECES;
        positions[i] = LLVMConstInt(i32, from, 0);
    }
    all = LLVMBuildShuffleVector(b, all, LLVMGetUndef(LLVMTypeOf(all)),
                                 LLVMConstVector(positions, WIDEST), L_UNNAMED);
    return LLVMBuildBitCast(b, all, bytes, L_UNNAMED);
}

LLVMValueRef ig_cpu_quantised(ig_cpu_emitter *e, const ig_op *op) {
    quantised q;
    if (!read_quantised(e, op, &q)) {
        return NULL;
    }
    uint32_t lanes = ig_cpu_result_lanes(op);
    LLVMValueRef x = ig_cpu_operand_lanes(e, q.quotient, 0, lanes), wide[PIECES];
    for (unsigned i = 0; i < lanes / WIDEST; i++) {
        wide[i] = whole_quotient(e, &q, x, i * WIDEST);
    }
    if (lanes == WIDEST) {
        return narrow_one(e, &q, wide[0]);
    }
    for (unsigned i = lanes / WIDEST; i < PIECES; i++) {
        wide[i] = wide[i - lanes / WIDEST];
    }
    LLVMValueRef bytes = narrow_four(e, &q, wide);
    return lanes < PIECES * WIDEST ? lanes_from(e, bytes, 0, lanes) : bytes;
}
