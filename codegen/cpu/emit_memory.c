/* Loads, stores, addresses, stack and scratch memory, prefetch, reports.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Buffers are pointers of unknown alignment beyond their element's, and every vector
 * access says so; an unaligned access within a line costs no more than an aligned one.
 * A bool is a byte in memory and a bit as a value.
 */
#include "codegen/cpu/emit.h"

#include "ingot/kernel.h"

#include <assert.h>

void ig_cpu_mark_invariant(const ig_cpu_emitter *e, LLVMValueRef load) {
    assert(LLVMIsALoadInst(load) && "only loads are invariant");
    static const char name[] = "invariant.load";
    unsigned kind = LLVMGetMDKindIDInContext(e->llvm, name, sizeof(name) - 1);
    LLVMMetadataRef empty = LLVMMDNodeInContext2(e->llvm, NULL, 0);
    LLVMSetMetadata(load, kind, LLVMMetadataAsValue(e->llvm, empty));
}

LLVMValueRef ig_cpu_address(ig_cpu_emitter *e, LLVMTypeRef element, LLVMValueRef base,
                            LLVMValueRef index) {
    assert(LLVMGetTypeKind(LLVMTypeOf(base)) == LLVMPointerTypeKind &&
           "an address is of memory");
    return LLVMBuildGEP2(e->builder, element, base, &index, 1, L_UNNAMED);
}

LLVMValueRef ig_cpu_alloca(ig_cpu_emitter *e, LLVMTypeRef type, uint64_t count,
                           uint32_t alignment) {
    assert(count > 0 && alignment > 0 && "a slot of the stack has a size");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, LLVMGetEntryBasicBlock(e->function));
    LLVMValueRef slot = LLVMBuildAlloca(e->builder, LLVMArrayType2(type, count),
                                        L_UNNAMED);
    LLVMSetAlignment(slot, alignment);
    LLVMPositionBuilderAtEnd(e->builder, here);
    return slot;
}

/* ---- load and store ---- */

ig_status ig_cpu_emit_load(ig_cpu_emitter *e, const ig_op *op) {
    assert(op->operand_count >= 2 && "a load has a buffer and an index");
    const ig_type *type = op->results[0].type;
    ig_dtype dtype = (ig_dtype)type->dtype;
    LLVMTypeRef memory = ig_cpu_memory_type(e, dtype, type->lanes);
    LLVMValueRef address = ig_cpu_element_address(e, op, 0), value = NULL;
    LLVMValueRef chosen = op->operand_count > 2
                              ? ig_cpu_all_or_nothing(e, op, 2, memory, address)
                              : NULL;
    if (op->operand_count > 2 && !chosen) {
        value = ig_cpu_load_tail(e, memory, address, ig_cpu_operand(e, op, 2));
    } else {
        value = LLVMBuildLoad2(e->builder, memory, chosen ? chosen : address,
                               L_UNNAMED);
        LLVMSetAlignment(value, ig_cpu_bytes(dtype));
        if (ig_attr_int(op, IG_load_invariant, 0)) {
            ig_cpu_mark_invariant(e, value);
        }
    }
    if (dtype == IG_DT_bool) {
        value = LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstNull(memory),
                              L_UNNAMED);
    }
    return ig_cpu_set_result(e, op, value);
}

ig_status ig_cpu_emit_store(ig_cpu_emitter *e, const ig_op *op) {
    assert(op->operand_count >= 3 && "a store has a value, a buffer and an index");
    const ig_type *type = op->operands[0].value->type;
    ig_dtype dtype = (ig_dtype)type->dtype;
    LLVMValueRef value = ig_cpu_operand(e, op, 0);
    if (dtype == IG_DT_bool) {
        value = LLVMBuildZExt(e->builder, value,
                              ig_cpu_memory_type(e, dtype, type->lanes), L_UNNAMED);
    }
    LLVMValueRef address = ig_cpu_element_address(e, op, 1);
    LLVMValueRef chosen = op->operand_count > 3
                              ? ig_cpu_all_or_nothing(e, op, 3, LLVMTypeOf(value),
                                                      address)
                              : NULL;
    if (op->operand_count > 3 && !chosen) {
        ig_cpu_store_tail(e, value, address, ig_cpu_operand(e, op, 3));
        return IG_OK;
    }
    LLVMValueRef store = LLVMBuildStore(e->builder, value, chosen ? chosen : address);
    LLVMSetAlignment(store, ig_cpu_bytes(dtype));
    return IG_OK;
}

/* ---- addresses ---- */

ig_status ig_cpu_emit_offset(ig_cpu_emitter *e, const ig_op *op) {
    return ig_cpu_set_result(e, op, ig_cpu_element_address(e, op, 0));
}

ig_status ig_cpu_emit_local(ig_cpu_emitter *e, const ig_op *op) {
    enum { LINE = 64 };
    int64_t count = ig_attr_int(op, IG_local_count, 0);
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    if (count < 0 || count > (1 << 20)) {
        return ig_cpu_fail(e, IG_INTERNAL, op, "too large for the stack");
    }
    LLVMTypeRef type = ig_cpu_memory_type(e, dtype, 1);
    return ig_cpu_set_result(e, op, ig_cpu_alloca(e, type, (uint64_t)count, LINE));
}

static LLVMValueRef call_field(ig_cpu_emitter *e, size_t offset) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->llvm, 0);
    LLVMValueRef address = ig_cpu_address(e, LLVMInt8TypeInContext(e->llvm), e->call,
                                          l_i64(e->llvm, (int64_t)offset));
    LLVMValueRef load = LLVMBuildLoad2(e->builder, pointer, address, L_UNNAMED);
    ig_cpu_mark_invariant(e, load);
    return load;
}

ig_status ig_cpu_emit_scratch(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef base = call_field(e, offsetof(ig_kernel_call_v0, scratch));
    LLVMValueRef at = l_i64(e->llvm, ig_attr_int(op, IG_scratch_offset, 0));
    return ig_cpu_set_result(
        e, op, ig_cpu_address(e, LLVMInt8TypeInContext(e->llvm), base, at));
}

/* The number of argument `value` among the buffers, or among the params; -1: none. */
static int64_t argument_index(const ig_cpu_emitter *e, const ig_value *value) {
    int64_t index = 0;
    for (uint32_t i = 0; i < e->kernel->body.arg_count; i++) {
        const ig_value *arg = e->kernel->body.args[i];
        if (arg == value) {
            return index;
        }
        index += (arg->type->kind == IG_BUFFER) == (value->type->kind == IG_BUFFER);
    }
    return -1;
}

/* Element number(operand 0) + operand 1 of `array`. */
static ig_status load_argument(ig_cpu_emitter *e, const ig_op *op, LLVMValueRef array) {
    int64_t argument = argument_index(e, op->operands[0].value);
    if (argument < 0) {
        return ig_cpu_fail(e, IG_INTERNAL, op,
                           "operand 0 is not an argument of the kernel");
    }
    LLVMTypeRef type = ig_cpu_type(e, op->results[0].type);
    LLVMValueRef index = LLVMBuildAdd(e->builder, ig_cpu_operand(e, op, 1),
                                      l_i64(e->llvm, argument), L_UNNAMED);
    LLVMValueRef load = LLVMBuildLoad2(
        e->builder, type, ig_cpu_address(e, type, array, index), L_UNNAMED);
    ig_cpu_mark_invariant(e, load);
    return ig_cpu_set_result(e, op, load);
}

ig_status ig_cpu_emit_buffer_at(ig_cpu_emitter *e, const ig_op *op) {
    return load_argument(e, op, e->buffers);
}

ig_status ig_cpu_emit_param_at(ig_cpu_emitter *e, const ig_op *op) {
    return load_argument(e, op, e->params);
}

/* ---- hints and reports ---- */

/* LLVM's locality runs from 3 (keep in all caches) to 0; ours names the nearest cache
 * the line should reach: 1, 2, 3, and 0 for data that is used once. */
ig_status ig_cpu_emit_prefetch(ig_cpu_emitter *e, const ig_op *op) {
    static const unsigned locality[] = { 0, 3, 2, 1 };
    int64_t level = ig_attr_int(op, IG_prefetch_level, 1);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMValueRef address = ig_cpu_element_address(e, op, 0);
    LLVMTypeRef type = LLVMTypeOf(address);
    LLVMValueRef args[] = { address, LLVMConstInt(i32, 0, 0),
                            LLVMConstInt(i32, locality[level & 3], 0),
                            LLVMConstInt(i32, 1, 0) };
    l_intrinsic(e->builder, "llvm.prefetch", &type, 1, args, 4);
    return IG_OK;
}

/* Keeps the least (operand, position); an operand of -1, none yet, is the greatest when
 * it is read as unsigned. */
ig_status ig_cpu_emit_report(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
    LLVMValueRef record = call_field(e, offsetof(ig_kernel_call_v0, report));
    LLVMValueRef news[] = { ig_cpu_operand(e, op, 0), ig_cpu_operand(e, op, 1),
                            ig_cpu_operand(e, op, 2) };
    LLVMValueRef fields[3], old[3];
    for (int i = 0; i < 3; i++) {
        fields[i] = ig_cpu_address(e, i64, record, l_i64(e->llvm, i));
    }
    old[0] = LLVMBuildLoad2(b, i64, fields[0], L_UNNAMED);
    old[1] = LLVMBuildLoad2(b, i64, fields[1], L_UNNAMED);
    LLVMValueRef less = LLVMBuildICmp(b, LLVMIntULT, news[0], old[0], L_UNNAMED);
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, news[0], old[0], L_UNNAMED);
    LLVMValueRef before = LLVMBuildICmp(b, LLVMIntSLT, news[1], old[1], L_UNNAMED);
    LLVMValueRef tie = LLVMBuildAnd(b, same, before, L_UNNAMED);
    LLVMBasicBlockRef write = l_block(b, "report"), after = l_block(b, "reported");
    LLVMBuildCondBr(b, LLVMBuildOr(b, less, tie, L_UNNAMED), write, after);
    LLVMPositionBuilderAtEnd(b, write);
    for (int i = 0; i < 3; i++) {
        LLVMBuildStore(b, news[i], fields[i]);
    }
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, after);
    return IG_OK;
}
