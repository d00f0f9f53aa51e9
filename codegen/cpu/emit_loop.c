/* Structured control flow: for and if become blocks and phis.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     for                               for with unroll = 4, step s
 *
 *     before ──┐                        before ── wide (4 bodies) while hi - i > 3 s
 *       │      │ lo >= hi                          │
 *     body ──┐ │                                 narrow (1 body) while i < hi
 *       │  ◀─┘ │ i + step < hi                     │
 *     after ◀──┘ phis: carried values            after
 *
 * Each loop tests before its first trip and then at its end, so that LLVM sees rotated
 * loops and need not rotate them itself.
 */
#include "codegen/cpu/emit.h"

#include <assert.h>

/* ---- plain counting loops, for other emitters ---- */

ig_cpu_loop ig_cpu_loop_begin(ig_cpu_emitter *e, LLVMValueRef count) {
    assert(LLVMTypeOf(count) == LLVMInt64TypeInContext(e->llvm) && "a count is an i64");
    LLVMBuilderRef b = e->builder;
    LLVMValueRef zero = l_i64(e->llvm, 0);
    ig_cpu_loop loop = { LLVMGetInsertBlock(b), l_block(b, "each"), l_block(b, "done"),
                         NULL, count };
    LLVMValueRef any = LLVMBuildICmp(b, LLVMIntSGT, count, zero, L_UNNAMED);
    LLVMBuildCondBr(b, any, loop.body, loop.after);
    LLVMPositionBuilderAtEnd(b, loop.body);
    loop.index = l_phi(b, LLVMTypeOf(count), zero, loop.before);
    return loop;
}

void ig_cpu_loop_end(ig_cpu_emitter *e, const ig_cpu_loop *loop) {
    assert(LLVMIsAPHINode(loop->index) && "the loop was begun");
    LLVMBuilderRef b = e->builder;
    LLVMValueRef next = LLVMBuildAdd(b, loop->index, l_i64(e->llvm, 1), L_UNNAMED);
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntSLT, next, loop->count, L_UNNAMED);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    LLVMAddIncoming(loop->index, &next, &latch, 1);
    LLVMBuildCondBr(b, more, loop->body, loop->after);
    LLVMPositionBuilderAtEnd(b, loop->after);
}

/* ---- for ---- */

/* One LLVM loop of `copies` bodies a trip, from `first` with the values `carried` (one
 * an operand beyond the third; replaced by the values after the loop). */
typedef struct for_loop {
    const ig_op *op;
    LLVMValueRef first, high, step; /* i64; first is replaced by the final index */
    LLVMValueRef *carried;
    uint32_t carried_count, copies;
} for_loop;

/* Is there room for all copies from `index` on? */
static LLVMValueRef build_test(ig_cpu_emitter *e, const for_loop *f,
                               LLVMValueRef index) {
    LLVMBuilderRef b = e->builder;
    if (f->copies == 1) {
        return LLVMBuildICmp(b, LLVMIntSLT, index, f->high, L_UNNAMED);
    }
    LLVMValueRef left = LLVMBuildSub(b, f->high, index, L_UNNAMED);
    LLVMValueRef reach = LLVMBuildMul(b, f->step, l_i64(e->llvm, f->copies - 1),
                                      L_UNNAMED);
    return LLVMBuildICmp(b, LLVMIntSGT, left, reach, L_UNNAMED);
}

static bool has_loop(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_for) {
            return true;
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            if (has_loop(op->bodies[i])) {
                return true;
            }
        }
    }
    return false;
}

/* Addresses of a copy are those of the first one and a constant, where the step is one;
 * else it counts as a part of an outer loop. */
static void enter_copy(ig_cpu_emitter *e, const for_loop *f, uint32_t copy) {
    ig_cpu_inner *loop = e->loop;
    loop->index = f->op->bodies[0]->args[0];
    if (copy > 0 && !LLVMIsAConstantInt(f->step)) {
        e->loop = NULL;
        return;
    }
    loop->shift = copy > 0 ? copy * LLVMConstIntGetSExtValue(f->step) : 0;
}

/* The bodies of one trip; afterwards f->carried and f->first are those of the next. */
static ig_status build_trip(ig_cpu_emitter *e, for_loop *f) {
    const ig_block *body = f->op->bodies[0];
    for (uint32_t copy = 0; copy < f->copies; copy++) {
        ig_cpu_set(e, body->args[0], f->first);
        if (e->loop) {
            enter_copy(e, f, copy);
        }
        for (uint32_t i = 0; i < f->carried_count; i++) {
            ig_cpu_set(e, body->args[i + 1], f->carried[i]);
        }
        IG_TRY(ig_cpu_emit_block(e, body));
        for (uint32_t i = 0; i < f->carried_count; i++) {
            f->carried[i] = ig_cpu_operand(e, body->last, i);
        }
        f->first = LLVMBuildAdd(e->builder, f->first, f->step, L_UNNAMED);
    }
    return IG_OK;
}

/* A phi at the head of `block` for each carried value and for the index. */
static void build_phis(ig_cpu_emitter *e, for_loop *f, LLVMBasicBlockRef from) {
    f->first = l_phi(e->builder, LLVMTypeOf(f->first), f->first, from);
    for (uint32_t i = 0; i < f->carried_count; i++) {
        f->carried[i] = l_phi(e->builder, LLVMTypeOf(f->carried[i]), f->carried[i],
                              from);
    }
}

static void add_incoming(const for_loop *f, LLVMValueRef index, LLVMValueRef *phis,
                         LLVMBasicBlockRef from) {
    LLVMValueRef next = f->first;
    LLVMAddIncoming(index, &next, &from, 1);
    for (uint32_t i = 0; i < f->carried_count; i++) {
        LLVMAddIncoming(phis[i], &f->carried[i], &from, 1);
    }
}

static LLVMValueRef *copy_values(ig_cpu_emitter *e, LLVMValueRef *from,
                                 uint32_t count) {
    LLVMValueRef *to = IG_NEW_ARRAY(e->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
    }
    return to;
}

static ig_status build_for(ig_cpu_emitter *e, for_loop *f) {
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef body = l_block(b, "loop"), after = l_block(b, "after");
    ig_cpu_inner inner = { .first = f->first, .before = before, .body = body };
    inner.step = LLVMBuildMul(b, f->step, l_i64(e->llvm, f->copies), L_UNNAMED);
    LLVMBuildCondBr(b, build_test(e, f, f->first), body, after);

    /* The values on entry meet those of the last trip in `after`. */
    for_loop end = *f;
    end.carried = copy_values(e, f->carried, f->carried_count);
    LLVMPositionBuilderAtEnd(b, after);
    build_phis(e, &end, before);

    LLVMPositionBuilderAtEnd(b, body);
    build_phis(e, f, before);
    LLVMValueRef index = inner.phi = f->first;
    LLVMValueRef *phis = copy_values(e, f->carried, f->carried_count);
    ig_cpu_inner *outer = e->loop;
    e->loop = has_loop(f->op->bodies[0]) ? NULL : &inner;
    e->depth++;
    IG_TRY(build_trip(e, f));
    e->depth--;
    e->loop = outer;
    LLVMValueRef more = build_test(e, f, f->first);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    ig_cpu_close_products(e, &inner, latch);
    LLVMBuildCondBr(b, more, body, after);
    add_incoming(f, index, phis, latch);
    add_incoming(f, end.first, end.carried, latch);

    LLVMPositionBuilderAtEnd(b, after);
    LLVMMoveBasicBlockAfter(after, latch);
    *f = end;
    return IG_OK;
}

ig_status ig_cpu_emit_for(ig_cpu_emitter *e, const ig_op *op) {
    uint32_t count = op->operand_count - 3u;
    for_loop f = { .op = op,
                   .first = ig_cpu_operand(e, op, 0),
                   .high = ig_cpu_operand(e, op, 1),
                   .step = ig_cpu_operand(e, op, 2),
                   .carried_count = count,
                   .copies = 1 };
    f.carried = IG_NEW_ARRAY(e->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) {
        f.carried[i] = ig_cpu_operand(e, op, i + 3);
    }
    int64_t unroll = ig_attr_int(op, IG_for_unroll, 1);
    if (unroll > 1 && unroll <= 64) {
        f.copies = (uint32_t)unroll;
        IG_TRY(build_for(e, &f));
        f.copies = 1;
    }
    IG_TRY(build_for(e, &f));
    for (uint32_t i = 0; i < count; i++) {
        ig_cpu_set(e, &op->results[i], f.carried[i]);
    }
    return IG_OK;
}

/* ---- if ---- */

static bool has_report(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_report) {
            return true;
        }
    }
    return false;
}

/* A side that reports an error is hardly ever taken: the other one falls through. */
static void mark_likely(ig_cpu_emitter *e, LLVMValueRef branch, const ig_op *op) {
    static const char profile[] = "prof", weights[] = "branch_weights";
    bool is_rare[] = { has_report(op->bodies[0]), has_report(op->bodies[1]) };
    if (is_rare[0] == is_rare[1]) {
        return;
    }
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    LLVMMetadataRef facts[3] = { LLVMMDStringInContext2(e->llvm, weights,
                                                        sizeof(weights) - 1) };
    for (int side = 0; side < 2; side++) {
        LLVMValueRef weight = LLVMConstInt(i32, is_rare[side] ? 1 : 2000, 0);
        facts[1 + side] = LLVMValueAsMetadata(weight);
    }
    unsigned kind = LLVMGetMDKindIDInContext(e->llvm, profile, sizeof(profile) - 1);
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->llvm, facts, 3);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(e->llvm, node));
}

ig_status ig_cpu_emit_if(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef starts[] = { l_block(b, "then"), l_block(b, "else") };
    LLVMBasicBlockRef ends[2];
    LLVMBasicBlockRef join = l_block(b, "join");
    LLVMValueRef *values = IG_NEW_ARRAY(e->arena, LLVMValueRef, 2u * op->result_count);
    mark_likely(e, LLVMBuildCondBr(b, ig_cpu_operand(e, op, 0), starts[0], starts[1]),
                op);
    for (uint32_t side = 0; side < 2; side++) {
        LLVMPositionBuilderAtEnd(b, starts[side]);
        IG_TRY(ig_cpu_emit_block(e, op->bodies[side]));
        for (uint32_t i = 0; i < op->result_count; i++) {
            values[2 * i + side] = ig_cpu_operand(e, op->bodies[side]->last, i);
        }
        ends[side] = LLVMGetInsertBlock(b);
        LLVMBuildBr(b, join);
    }
    LLVMPositionBuilderAtEnd(b, join);
    LLVMMoveBasicBlockAfter(join, ends[1]);
    for (uint32_t i = 0; i < op->result_count; i++) {
        LLVMValueRef phi = LLVMBuildPhi(b, ig_cpu_type(e, op->results[i].type),
                                        L_UNNAMED);
        LLVMAddIncoming(phi, &values[2 * i], ends, 2);
        ig_cpu_set(e, &op->results[i], phi);
    }
    return IG_OK;
}
