/* One kernel graph as one LLVM function: its frame, its values, its ops by table.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     void k(const ig_kernel_call_v0 *call) {
 *     entry:   arrays of buffers and params, and each argument that has uses
 *              … stack memory of `local` ops …
 *     body:    the ops, block after block
 *     }
 *
 * Arguments are loaded once, in the entry block, which dominates everything.  Values
 * are kept in an array by their dense id; a loop body that is emitted twice (unrolled)
 * simply overwrites them.
 */
#include "codegen/cpu/emit.h"

#include "ingot/kernel.h"

#include <assert.h>

const ig_cpu_row ig_cpu_rows[IG_OP_COUNT] = {
#define EMIT(op, function, ...) \
    [IG_OP_##op] = { .emit = ig_cpu_emit_##function, __VA_ARGS__ },
#include "codegen/cpu/emit.def"
};

/* ---- types ---- */

LLVMTypeRef ig_cpu_scalar_type(const ig_cpu_emitter *e, ig_dtype dtype) {
    assert(dtype < IG_DT_COUNT && "no such element type");
    if (dtype == IG_DT_bool) {
        return LLVMInt1TypeInContext(e->llvm);
    }
    if (dtype == IG_DT_f32) {
        return LLVMFloatTypeInContext(e->llvm);
    }
    if (dtype == IG_DT_f64) {
        return LLVMDoubleTypeInContext(e->llvm);
    }
    /* Integers, and narrow floats as their bits. */
    return LLVMIntTypeInContext(e->llvm, ig_dtypes[dtype].bits);
}

LLVMTypeRef ig_cpu_type(const ig_cpu_emitter *e, const ig_type *type) {
    assert((type->kind == IG_BUFFER || type->kind == IG_VECTOR) &&
           "kernels have buffers and vectors");
    if (type->kind == IG_BUFFER) {
        return LLVMPointerTypeInContext(e->llvm, 0);
    }
    return l_vector(ig_cpu_scalar_type(e, type->dtype), type->lanes);
}

LLVMTypeRef ig_cpu_memory_type(const ig_cpu_emitter *e, ig_dtype dtype,
                               uint32_t lanes) {
    assert(lanes >= 1 && "a vector has a lane");
    LLVMTypeRef element = dtype == IG_DT_bool ? LLVMInt8TypeInContext(e->llvm)
                                              : ig_cpu_scalar_type(e, dtype);
    return l_vector(element, lanes);
}

uint32_t ig_cpu_bytes(ig_dtype dtype) {
    assert(dtype < IG_DT_COUNT && "no such element type");
    return ((uint32_t)ig_dtypes[dtype].bits + 7) / 8;
}

/* ---- values ---- */

LLVMValueRef ig_cpu_value(const ig_cpu_emitter *e, const ig_value *value) {
    assert(e->values[value->id] && "a value is emitted before its uses");
    return e->values[value->id];
}

LLVMValueRef ig_cpu_operand(const ig_cpu_emitter *e, const ig_op *op, uint32_t index) {
    assert(index < op->operand_count && "the op has no such operand");
    return ig_cpu_value(e, op->operands[index].value);
}

LLVMValueRef ig_cpu_operand_lanes(const ig_cpu_emitter *e, const ig_op *op,
                                  uint32_t index, uint32_t lanes) {
    LLVMValueRef value = ig_cpu_operand(e, op, index);
    return l_is_vector(LLVMTypeOf(value)) ? value : l_splat(e->builder, value, lanes);
}

void ig_cpu_set(ig_cpu_emitter *e, const ig_value *value, LLVMValueRef llvm) {
    assert(value && llvm && "an emitted value");
    e->values[value->id] = llvm;
    e->depths[value->id] = e->depth;
}

ig_status ig_cpu_set_result(ig_cpu_emitter *e, const ig_op *op, LLVMValueRef llvm) {
    assert(op->result_count == 1 && "an emitter of one result");
    assert(LLVMTypeOf(llvm) == ig_cpu_type(e, op->results[0].type) &&
           "the emitted value has the type of the op");
    ig_cpu_set(e, &op->results[0], llvm);
    return IG_OK;
}

ig_dtype ig_cpu_operand_dtype(const ig_op *op, uint32_t index) {
    assert(index < op->operand_count && "the op has no such operand");
    return (ig_dtype)op->operands[index].value->type->dtype;
}

uint32_t ig_cpu_result_lanes(const ig_op *op) {
    assert(op->result_count > 0 && "lanes of a result");
    return op->results[0].type->lanes;
}

bool ig_cpu_constant(const ig_op *op, uint32_t index, double *out) {
    assert(index < op->operand_count && "the op has no such operand");
    const ig_op *def = op->operands[index].value->def;
    while (def && def->code == IG_OP_splat) {
        def = def->operands[0].value->def;
    }
    *out = 0;
    if (!def || def->code != IG_OP_const || def->results[0].type->lanes > 1) {
        return false;
    }
    const ig_data *data = def->attrs[IG_const_value].as.data;
    if (data->type->dtype == IG_DT_f32) {
        float value = 0;
        memcpy(&value, data->bytes, sizeof(value));
        *out = (double)value;
    } else if (data->type->dtype == IG_DT_f64) {
        memcpy(out, data->bytes, sizeof(*out));
    } else if (data->type->dtype == IG_DT_i32) {
        int32_t value = 0;
        memcpy(&value, data->bytes, sizeof(value));
        *out = value;
    }
    return true;
}

bool ig_cpu_is_number(const ig_op *op, uint32_t index) {
    double value;
    return ig_cpu_constant(op, index, &value) && value == value;
}

ig_status ig_cpu_fail(const ig_cpu_emitter *e, ig_status status, const ig_op *op,
                      const char *what) {
    assert(status != IG_OK && "a failure has a status");
    return ig_error(&e->context->diag, status, ig_op_location(op),
                    "kernel '%s': %s: %s", e->kernel->name, ig_ops[op->code].name,
                    what);
}

/* ---- the frame ---- */

/* A field of the call, loaded in the entry block. */
static LLVMValueRef load_field(ig_cpu_emitter *e, size_t offset, LLVMTypeRef type) {
    LLVMValueRef at = l_i64(e->llvm, (int64_t)offset);
    LLVMValueRef address = LLVMBuildGEP2(e->builder, LLVMInt8TypeInContext(e->llvm),
                                         e->call, &at, 1, L_UNNAMED);
    LLVMValueRef load = LLVMBuildLoad2(e->builder, type, address, L_UNNAMED);
    ig_cpu_mark_invariant(e, load);
    return load;
}

static void load_arguments(ig_cpu_emitter *e) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->llvm, 0);
    e->buffers = load_field(e, offsetof(ig_kernel_call_v0, buffers), pointer);
    e->params = load_field(e, offsetof(ig_kernel_call_v0, params), pointer);
    int64_t buffer_count = 0, param_count = 0;
    for (uint32_t i = 0; i < e->kernel->body.arg_count; i++) {
        const ig_value *arg = e->kernel->body.args[i];
        bool is_buffer = arg->type->kind == IG_BUFFER;
        LLVMTypeRef type = is_buffer ? pointer : i64;
        int64_t index = is_buffer ? buffer_count++ : param_count++;
        LLVMValueRef address = ig_cpu_address(
            e, type, is_buffer ? e->buffers : e->params, l_i64(e->llvm, index));
        LLVMValueRef load = LLVMBuildLoad2(e->builder, type, address, L_UNNAMED);
        ig_cpu_mark_invariant(e, load);
        ig_cpu_set(e, arg, load);
    }
}

ig_status ig_cpu_emit_tiles(ig_cpu_emitter *e, const ig_op *op) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(e->llvm);
    ig_cpu_set(e, &op->results[0],
               load_field(e, offsetof(ig_kernel_call_v0, tile_begin), i64));
    ig_cpu_set(e, &op->results[1],
               load_field(e, offsetof(ig_kernel_call_v0, tile_end), i64));
    return IG_OK;
}

static const LLVMAttributeIndex of_function =
    (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

static void add_attribute(ig_cpu_emitter *e, const char *name, const char *value) {
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(
        e->llvm, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(e->function, of_function, attribute);
}

static void add_flag(ig_cpu_emitter *e, unsigned index, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(e->function, index,
                            LLVMCreateEnumAttribute(e->llvm, kind, 0));
}

static void create_function(ig_cpu_emitter *e) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->llvm, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), &pointer, 1,
                                        false);
    e->function = LLVMAddFunction(e->module, e->debug ? e->debug->name : "k", type);
    LLVMSetVisibility(e->function, LLVMHiddenVisibility);
    e->call = LLVMGetParam(e->function, 0);
    add_flag(e, of_function, "nounwind");
    add_flag(e, 1, "noalias");
    add_attribute(e, "no-builtins", "");
    add_attribute(e, "target-cpu", e->level->cpu);
    add_attribute(e, "target-features", e->level->features);
    add_attribute(e, "prefer-vector-width", e->level->width);
    LLVMPositionBuilderAtEnd(
        e->builder, LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry"));
    if (e->debug) {
        add_attribute(e, "frame-pointer", "all");
        ig_cpu_debug_enter(e);
    }
}

ig_status ig_cpu_emit_block(ig_cpu_emitter *e, const ig_block *block) {
    assert(block->last && (ig_ops[block->last->code].traits & IG_TERMINATOR) &&
           "a block ends");
    LLVMMetadataRef outside = e->debug ? LLVMGetCurrentDebugLocation2(e->builder)
                                       : NULL;
    for (const ig_op *op = block->first; op && op != block->last; op = op->next) {
        const ig_cpu_row *row = &ig_cpu_rows[op->code];
        if (!row->emit) {
            return ig_cpu_fail(e, IG_INTERNAL, op, "no emitter for this op on CPUs");
        }
        if (e->debug) {
            ig_cpu_debug_at(e, op);
        }
        IG_TRY(row->emit(e, op));
    }
    if (e->debug) { /* code from here on is of the op around the block */
        LLVMSetCurrentDebugLocation2(e->builder, outside);
    }
    return IG_OK;
}

ig_status ig_cpu_emit_kernel(ig_cpu_emitter *e) {
    assert(e->kernel->stage == IG_STAGE_KERNEL && "only kernel form has emitters");
    e->values = IG_NEW_ARRAY(e->arena, LLVMValueRef, e->kernel->value_count);
    e->depths = IG_NEW_ARRAY(e->arena, uint32_t, e->kernel->value_count);
    create_function(e);
    load_arguments(e);
    ig_cpu_open_table(e);
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef body = l_block(e->builder, "body");
    LLVMPositionBuilderAtEnd(e->builder, body);
    IG_TRY(ig_cpu_emit_block(e, &e->kernel->body));
    ig_cpu_release_tiles(e);
    ig_cpu_close_table(e);
    LLVMBuildRetVoid(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, entry);
    LLVMBuildBr(e->builder, body);
    if (e->debug) {
        ig_cpu_debug_end(e);
    }
    return IG_OK;
}
