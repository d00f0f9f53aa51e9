/* Vectors of which only the first `count` lanes exist in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With masks (AVX-512; AVX2 for 32- and 64-bit elements) that is one masked access, and
 * lanes that are masked off touch nothing.  Without, elements go one by one between
 * memory and a small array on the stack, which is read or written whole:
 *
 *     load:   stack[0 .. lanes) = 0;  stack[i] = memory[i] for i < count;  whole vector
 *     store:  stack = vector;  memory[i] = stack[i] for i < count
 *
 * A count that is all lanes or none by a condition (kernels that check their accesses
 * are full of them) chooses an address instead: the memory, or an array on the stack,
 * of zeros for loads and of no use for stores.
 */
#include "codegen/cpu/emit.h"

static unsigned element_bits(LLVMTypeRef type) {
    return LLVMGetIntTypeWidth(l_element(l_as_int(type)));
}

static bool has_masks(const ig_cpu_emitter *e, LLVMTypeRef type) {
    if (l_lanes(type) == 1 || e->level->mask == IG_MASK_NONE) {
        return false;
    }
    return e->level->mask == IG_MASK_ALL || element_bits(type) >= 32;
}

/* `count` held within [0, lanes]. */
static LLVMValueRef clamp_count(ig_cpu_emitter *e, LLVMValueRef count, unsigned lanes) {
    LLVMValueRef positive = l_call2(e->builder, "llvm.smax", count, l_i64(e->llvm, 0));
    return l_call2(e->builder, "llvm.smin", positive, l_i64(e->llvm, lanes));
}

/* Lane i is set when i < count.  Compared in elements as wide as the data's, but at
 * least 32 bits where those are masks of their own width (AVX2). */
static LLVMValueRef build_mask(ig_cpu_emitter *e, LLVMTypeRef type,
                               LLVMValueRef count) {
    LLVMBuilderRef b = e->builder;
    unsigned lanes = l_lanes(type);
    unsigned bits = element_bits(type) < 64 ? 32 : 64;
    LLVMTypeRef scalar = LLVMIntTypeInContext(e->llvm, bits);
    LLVMValueRef held = clamp_count(e, count, lanes);
    LLVMValueRef narrow = LLVMBuildTrunc(b, held, scalar, L_UNNAMED);
    LLVMValueRef *indices = IG_NEW_ARRAY(e->arena, LLVMValueRef, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        indices[i] = LLVMConstInt(scalar, i, 0);
    }
    return LLVMBuildICmp(b, LLVMIntSLT, LLVMConstVector(indices, lanes),
                         l_splat(b, narrow, lanes), L_UNNAMED);
}

static LLVMValueRef alignment_of(ig_cpu_emitter *e, LLVMTypeRef type) {
    return LLVMConstInt(LLVMInt32TypeInContext(e->llvm), element_bits(type) / 8, 0);
}

/* Copies `count` elements of `type` between two addresses, one by one. */
static void copy_elements(ig_cpu_emitter *e, LLVMTypeRef type, LLVMValueRef to,
                          LLVMValueRef from, LLVMValueRef count) {
    LLVMTypeRef element = l_element(type);
    unsigned bytes = element_bits(type) / 8;
    ig_cpu_loop loop = ig_cpu_loop_begin(e, clamp_count(e, count, l_lanes(type)));
    LLVMValueRef load = LLVMBuildLoad2(
        e->builder, element, ig_cpu_address(e, element, from, loop.index), L_UNNAMED);
    LLVMSetAlignment(load, bytes);
    LLVMValueRef store = LLVMBuildStore(e->builder, load,
                                        ig_cpu_address(e, element, to, loop.index));
    LLVMSetAlignment(store, bytes);
    ig_cpu_loop_end(e, &loop);
}

LLVMValueRef ig_cpu_load_tail(ig_cpu_emitter *e, LLVMTypeRef type, LLVMValueRef address,
                              LLVMValueRef count) {
    LLVMBuilderRef b = e->builder;
    if (has_masks(e, type)) {
        LLVMTypeRef types[] = { type, LLVMTypeOf(address) };
        LLVMValueRef args[] = { address, alignment_of(e, type),
                                build_mask(e, type, count), LLVMConstNull(type) };
        return l_intrinsic(b, "llvm.masked.load", types, 2, args, 4);
    }
    LLVMValueRef slot = ig_cpu_alloca(e, type, 1, 64);
    LLVMBuildStore(b, LLVMConstNull(type), slot);
    copy_elements(e, type, slot, address, count);
    return LLVMBuildLoad2(b, type, slot, L_UNNAMED);
}

void ig_cpu_store_tail(ig_cpu_emitter *e, LLVMValueRef value, LLVMValueRef address,
                       LLVMValueRef count) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (has_masks(e, type)) {
        LLVMTypeRef types[] = { type, LLVMTypeOf(address) };
        LLVMValueRef args[] = { value, address, alignment_of(e, type),
                                build_mask(e, type, count) };
        l_intrinsic(b, "llvm.masked.store", types, 2, args, 4);
        return;
    }
    LLVMValueRef slot = ig_cpu_alloca(e, type, 1, 64);
    LLVMBuildStore(b, value, slot);
    copy_elements(e, type, address, slot, count);
}

/* ---- all lanes or none ---- */

enum { WIDEST = 512 }; /* bytes of the arrays that serve as memory */

static bool is_constant(const ig_value *value, int64_t expected) {
    int64_t number = 0;
    const ig_op *def = ig_def(value, IG_OP_const);
    if (!def) {
        return false;
    }
    memcpy(&number, def->attrs[IG_const_value].as.data->bytes, sizeof number);
    return number == expected;
}

/* An array of `WIDEST` bytes; of zeros, written once in the entry block. */
static LLVMValueRef make_array(ig_cpu_emitter *e, bool is_zero) {
    enum { LINE = 64 };
    LLVMTypeRef byte = LLVMInt8TypeInContext(e->llvm);
    LLVMTypeRef line = LLVMVectorType(byte, LINE);
    LLVMValueRef array = ig_cpu_alloca(e, byte, WIDEST, LINE);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, LLVMGetEntryBasicBlock(e->function));
    for (int64_t i = 0; is_zero && i < WIDEST / LINE; i++) {
        LLVMValueRef at = ig_cpu_address(e, line, array, l_i64(e->llvm, i));
        LLVMBuildStore(e->builder, LLVMConstNull(line), at);
    }
    LLVMPositionBuilderAtEnd(e->builder, here);
    return array;
}

LLVMValueRef ig_cpu_all_or_nothing(ig_cpu_emitter *e, const ig_op *op, uint32_t operand,
                                   LLVMTypeRef type, LLVMValueRef address) {
    const ig_op *choice = ig_def(op->operands[operand].value, IG_OP_where);
    unsigned lanes = l_lanes(type);
    if (!choice || lanes * element_bits(type) / 8 > WIDEST ||
        !is_constant(choice->operands[1].value, lanes) ||
        !is_constant(choice->operands[2].value, 0)) {
        return NULL;
    }
    LLVMValueRef *other = op->result_count ? &e->zeros : &e->waste;
    *other = *other ? *other : make_array(e, op->result_count > 0);
    return LLVMBuildSelect(e->builder, ig_cpu_operand(e, choice, 0), address, *other,
                           L_UNNAMED);
}
