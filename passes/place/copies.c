/* copies: a launch writes a copied value to both places itself.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     compute %x, @w, %3 {family = "gemm", outs = 1} (…) { …  yield %9 }
 *     compute %3, %8 {family = "copy", outs = 1} …
 *   becomes
 *     compute %x, @w, %3, %8 {family = "gemm", outs = 2} (…) { …  yield %9, %9 }
 *
 * A value has one place (bufferise), so the second of two concats has it copied.  On a
 * device with threads that copy is a launch and a trip through memory.
 *
 * The two are in one block with nothing but computes, buffers and views between them;
 * no compute from the first one on has a part of the copy's destination, and none after
 * it writes a part of the copied value.
 *
 * Plan stage, before order.  Only where the target's kernels are written for threads,
 * whose schedules store each destination by itself.
 */
#include "ir/build/expr.h"
#include "ir/families.h"
#include "passes/engine/pass.h"
#include "passes/place/bufferise.h"
#include "passes/place/part.h"

#include <assert.h>

/* A copy and the destination of a compute that it reads. */
typedef struct pair {
    ig_op *copy, *maker;
    uint32_t index; /* among the destinations of `maker` */
} pair;

static bool has_equal_strides(const ig_part *a, const ig_part *b) {
    for (uint32_t d = 0; d < a->type->rank; d++) {
        if (!ig_dim_same(a->strides[d], b->strides[d]) ||
            !ig_dim_same(a->type->dims[d], b->type->dims[d])) {
            return false;
        }
    }
    return true;
}

static bool is_same_part(const ig_part *a, const ig_part *b) {
    return a->root == b->root && ig_dim_same(a->offset, b->offset) &&
           a->type->rank == b->type->rank && has_equal_strides(a, b);
}

/* Do no operands from index `first` on overlap `part`? */
static bool lies_apart(ig_module *module, const ig_op *compute, uint32_t first,
                       const ig_part *part) {
    for (uint32_t i = first; i < compute->operand_count; i++) {
        ig_part other = ig_part_of(module, compute->operands[i].value);
        if (!ig_parts_lie_apart(module, &other, part)) {
            return false;
        }
    }
    return true;
}

/* The number of the destination that is all of `part`, or UINT32_MAX. */
static uint32_t find_destination(ig_module *module, const ig_op *compute,
                                 const ig_part *part) {
    uint32_t ins = ig_part_in_count(compute);
    for (uint32_t i = ins; i < compute->operand_count; i++) {
        ig_part other = ig_part_of(module, compute->operands[i].value);
        if (is_same_part(&other, part)) {
            return i - ins;
        }
    }
    return UINT32_MAX;
}

static bool stores_elements(const ig_op *compute) {
    ig_kernel_family family = ig_op_family(compute);
    return family == IG_FAMILY_map || family == IG_FAMILY_gemm ||
           family == IG_FAMILY_dot;
}

static bool is_plain(const ig_op *op) {
    return op->code == IG_OP_compute || op->code == IG_OP_alloc ||
           op->code == IG_OP_view;
}

/* Sets p->maker, or returns false. */
static bool find_maker(ig_module *module, pair *p) {
    ig_part from = ig_part_of(module, p->copy->operands[0].value);
    ig_part to = ig_part_of(module, p->copy->operands[1].value);
    for (ig_op *op = p->copy->prev; op && is_plain(op); op = op->prev) {
        if (op->code != IG_OP_compute) {
            continue;
        }
        p->index = find_destination(module, op, &from);
        if (!lies_apart(module, op, 0, &to)) {
            return false;
        }
        if (p->index != UINT32_MAX) {
            p->maker = op;
            return stores_elements(op);
        }
        if (!lies_apart(module, op, ig_part_in_count(op), &from)) {
            return false;
        }
    }
    return false;
}

/* The destination is known before the maker: its sizes are, as nothing between the two
 * gives symbols values. */
static void move_ahead(ig_value *to, ig_op *maker) {
    ig_value *root = ig_part_root(to);
    ig_op *const defs[] = { root->def, root == to ? NULL : to->def };
    for (size_t i = 0; i < IG_COUNT_OF(defs); i++) {
        if (defs[i] && defs[i]->block == maker->block &&
            !ig_op_is_before(defs[i], maker)) {
            ig_op_move(defs[i], maker->block, maker);
        }
    }
}

static void copy_body(ig_arena *arena, const ig_block *from, ig_block *to,
                      uint32_t outs, uint32_t again) {
    ig_value **args = IG_NEW_ARRAY(arena, ig_value *, from->arg_count);
    ig_value **yields = IG_NEW_ARRAY(arena, ig_value *, outs + 1);
    for (uint32_t i = 0; i < from->arg_count; i++) {
        args[i] = ig_block_add_arg(to, from->args[i]->type, NULL);
    }
    ig_block_inline(from, to, NULL, args, yields);
    yields[outs] = yields[again];
    ig_builder end = ig_builder_at_end(to);
    ig_make_yield(&end, yields, outs + 1);
}

/* In place of the maker and the copy. */
static void write_both(ig_arena *arena, const pair *p) {
    const ig_op *maker = p->maker;
    uint32_t count = maker->operand_count, outs = count - ig_part_in_count(maker);
    ig_value **operands = IG_NEW_ARRAY(arena, ig_value *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = maker->operands[i].value;
    }
    operands[count] = p->copy->operands[1].value;
    move_ahead(operands[count], p->maker);
    ig_builder b = ig_builder_before(p->maker);
    ig_op *both = ig_buffers_compute(&b, ig_op_family(maker), operands, count + 1,
                                     outs + 1);
    copy_body(arena, maker->bodies[0], both->bodies[0], outs, p->index);
    ig_op_erase(p->maker);
    ig_op_erase(p->copy);
}

ig_status ig_pass_copies(ig_pass_run *run, ig_graph *graph) {
    if (!run->options->target || !run->options->target->has_threads) {
        return IG_OK;
    }
    ig_op *next;
    for (ig_op *op = graph->body.first; op; op = next) {
        pair p = { .copy = op };
        next = op->next;
        bool is_copy = op->code == IG_OP_compute && op->operand_count == 2 &&
                       ig_op_family(op) == IG_FAMILY_copy;
        if (is_copy && find_maker(graph->module, &p)) {
            write_both(run->scratch, &p);
            run->changed = true;
        }
    }
    return IG_OK;
}
