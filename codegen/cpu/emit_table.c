/* Constants of loops beside one that has as many sums as there are registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     for k (28 vectors of sums) { … }            a block of a matrix product
 *     for columns { gelu, of 20 constants }       its epilogue
 *
 * LLVM moves constants out of all loops around them, as it can make them anew wherever
 * registers are short; but then it moves sums about instead, at each k.  Numbers of
 * such an epilogue come from a table whose address LLVM cannot know: it is read from
 * the stack anew in each trip.  They are operands in memory, and stay where they are.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>

/* Vector registers of the level. */
static uint32_t count_registers(const ig_cpu_level *level) {
    return level->is_arm64 || level->mask == IG_MASK_ALL ? 32 : 16;
}

/* Does the loop carry half as many vectors as there are registers, or more? */
static bool is_full(const ig_cpu_emitter *e, const ig_op *loop) {
    uint32_t vectors = 0;
    for (uint32_t i = 0; i < loop->result_count; i++) {
        vectors += loop->results[i].type->lanes > 1;
    }
    return vectors >= count_registers(e->level) / 2;
}

/* Recursion is as deep as the schedules nest loops. */
static bool has_full_loop(const ig_cpu_emitter *e, const ig_block *block) {
    bool has_one = false;
    for (const ig_op *op = block->first; op && !has_one; op = op->next) {
        has_one = op->code == IG_OP_for && is_full(e, op);
        for (uint32_t i = 0; i < op->body_count && !has_one; i++) {
            has_one = has_full_loop(e, op->bodies[i]);
        }
    }
    return has_one;
}

/* Does nothing but ands and ors use the value?  Shifts and quotients by a constant are
 * other instructions. */
static bool is_mask(const ig_value *value) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (use->user->code != IG_OP_and && use->user->code != IG_OP_or) {
            return false;
        }
    }
    return true;
}

/* The number of 32 bits that `op` puts into every lane, or NULL. */
static const ig_data *number_of(const ig_op *op) {
    const ig_type *type = op->result_count == 1 ? op->results[0].type : NULL;
    bool is_splat = op->code == IG_OP_splat;
    const ig_op *made = is_splat ? op->operands[0].value->def : op;
    if (!type || type->kind != IG_VECTOR || type->lanes < 2 || !made ||
        made->code != IG_OP_const) {
        return NULL;
    }
    const ig_data *data = made->attrs[IG_const_value].as.data;
    bool is_number = type->dtype == IG_DT_f32 ||
                     (type->dtype == IG_DT_i32 && is_mask(op->results));
    return is_number && (is_splat || data->is_splat) ? data : NULL;
}

/* A loop without others inside, whose constants are more than spare registers hold. */
static bool is_epilogue(const ig_cpu_emitter *e, const ig_block *block) {
    enum { FEW = 6 };
    const ig_op *loop = block->parent;
    uint32_t constants = 0;
    if (!loop || loop->code != IG_OP_for || is_full(e, loop)) {
        return false;
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        constants += number_of(op) != NULL;
        if (op->body_count > 0) {
            return false;
        }
    }
    return constants >= FEW;
}

/* The ops of all epilogues: each needs a word at most. */
static uint32_t count_ops(const ig_cpu_emitter *e, const ig_block *block) {
    bool is_own = is_epilogue(e, block);
    uint32_t count = 0;
    for (const ig_op *op = block->first; op; op = op->next) {
        count += is_own;
        for (uint32_t i = 0; i < op->body_count; i++) {
            count += count_ops(e, op->bodies[i]);
        }
    }
    return count;
}

void ig_cpu_open_table(ig_cpu_emitter *e) {
    assert(!e->table && "a table a kernel");
    const ig_block *body = &e->kernel->body;
    uint32_t room = has_full_loop(e, body) ? count_ops(e, body) : 0;
    if (room == 0) {
        return;
    }
    LLVMTypeRef word = LLVMInt32TypeInContext(e->llvm);
    ig_cpu_table *t = IG_NEW(e->arena, ig_cpu_table);
    *t = (ig_cpu_table){ .room = room };
    t->words = IG_NEW_ARRAY(e->arena, LLVMValueRef, room);
    t->global = LLVMAddGlobal(e->module, LLVMArrayType2(word, room), "constants");
    LLVMSetLinkage(t->global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(t->global, true);
    LLVMSetAlignment(t->global, 64);
    t->address = ig_cpu_alloca(e, LLVMPointerTypeInContext(e->llvm, 0), 1, 8);
    LLVMSetVolatile(LLVMBuildStore(e->builder, t->global, t->address), true);
    e->table = t;
}

void ig_cpu_close_table(ig_cpu_emitter *e) {
    assert(e->kernel->body.last && "the kernel was emitted");
    ig_cpu_table *t = e->table;
    if (!t) {
        return;
    }
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(e->llvm), 0, 0);
    for (uint32_t i = t->count; i < t->room; i++) {
        t->words[i] = zero;
    }
    LLVMSetInitializer(t->global, LLVMConstArray2(LLVMTypeOf(zero), t->words, t->room));
}

/* The place of a word in the table. */
static uint32_t place_word(ig_cpu_table *t, LLVMValueRef word) {
    uint32_t i = 0;
    while (i < t->count && t->words[i] != word) {
        i++;
    }
    assert(i < t->room && "a word an op");
    t->words[i] = word;
    t->count = i < t->count ? t->count : i + 1;
    return i;
}

/* The table's address, once a basic block. */
static void read_base(ig_cpu_emitter *e, ig_cpu_table *t) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    if (t->block != here) {
        LLVMTypeRef pointer = LLVMPointerTypeInContext(e->llvm, 0);
        t->block = here;
        t->base = LLVMBuildLoad2(e->builder, pointer, t->address, L_UNNAMED);
        LLVMSetVolatile(t->base, true);
    }
}

LLVMValueRef ig_cpu_table_word(ig_cpu_emitter *e, const ig_op *op, uint32_t bits) {
    ig_cpu_table *t = e->table;
    if (!t || bits == 0 || !is_epilogue(e, op->block)) {
        return NULL; /* zeros are made of nothing */
    }
    LLVMTypeRef word = LLVMInt32TypeInContext(e->llvm);
    uint32_t index = place_word(t, LLVMConstInt(word, bits, 0));
    read_base(e, t);
    LLVMTypeRef type = ig_cpu_scalar_type(e, (ig_dtype)op->results[0].type->dtype);
    LLVMValueRef at = ig_cpu_address(e, type, t->base, l_i64(e->llvm, index));
    LLVMValueRef x = LLVMBuildLoad2(e->builder, type, at, L_UNNAMED);
    return l_splat(e->builder, x, ig_cpu_result_lanes(op));
}

LLVMValueRef ig_cpu_table_constant(ig_cpu_emitter *e, const ig_op *op) {
    const ig_data *data = e->table ? number_of(op) : NULL;
    uint32_t bits = 0;
    if (data) {
        memcpy(&bits, data->bytes, sizeof bits);
    }
    return ig_cpu_table_word(e, op, bits);
}
