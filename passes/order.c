/* order: launches that do not wait for each other stand next to each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     gemm a -> b; gemm b -> c; bag -> d; interact c, d -> e
 *   becomes
 *     gemm a -> b; bag -> d; gemm b -> c; interact c, d -> e
 *
 * A launch's wave is one more than the latest wave it needs something from; launches
 * are sorted by wave and keep their order within one.  Those of one wave may run at the
 * same time, without a barrier between them (driver/plan_write.c marks them so):
 * look-ups in tables overlap with the dense layers that do not need them.
 *
 * A buffer is one thing here: who reads it waits for all who wrote to it before, who
 * writes waits for all who read it before.  Writers do not wait for each other, since
 * bufferise gives them places that do not overlap.
 *
 * Plan stage, before lowering.  Keeps everything but the order of compute ops.
 */
#include "passes/pass.h"

#include <assert.h>

typedef struct access {
    uint32_t last_read, last_write; /* waves, counted from 1; 0: none yet */
} access;

typedef struct orderer {
    ig_arena *arena;
    ig_map    access_of; /* root value -> access */
    ig_map    wave_of;   /* compute op -> wave */
    uint32_t  waves;
} orderer;

static const ig_value *root_of(const ig_value *value) {
    const ig_op *view = ig_def(value, IG_OP_view);
    return view ? view->operands[0].value : value;
}

static access *access_of(orderer *o, const ig_value *value) {
    uint64_t key = IG_MAP_PTR(root_of(value));
    access  *known = ig_map_get_id(&o->access_of, key);
    if (!known) {
        known = IG_NEW(o->arena, access);
        ig_map_set_id(&o->access_of, key, known);
    }
    return known;
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void find_wave(orderer *o, const ig_op *compute) {
    uint32_t outs = (uint32_t)ig_attr_int(compute, IG_compute_outs, 0);
    uint32_t ins = compute->operand_count - outs, wave = 1;
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        const access *a = access_of(o, compute->operands[i].value);
        wave = max_u32(wave, 1 + (i < ins ? a->last_write : a->last_read));
    }
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        access   *a = access_of(o, compute->operands[i].value);
        uint32_t *last = i < ins ? &a->last_read : &a->last_write;
        *last = max_u32(*last, wave);
    }
    ig_map_set_id(&o->wave_of, IG_MAP_PTR(compute), (void *)(uintptr_t)wave);
    o->waves = max_u32(o->waves, wave);
}

/* Only a block of computes, buffers and views is sorted; anything else is a wall. */
static bool can_sort(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        bool is_wall = op->body_count && op->code != IG_OP_compute;
        if (is_wall || (ig_ops[op->code].traits & IG_HOST)) {
            return false;
        }
    }
    return true;
}

/* Computes of each wave in turn, in front of `end`; buffers and views stay ahead of all
 * of them. */
static void sort_block(orderer *o, ig_block *block, ig_op *end) {
    IG_VEC(ig_op *) computes = { 0 };
    for (ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_compute) {
            IG_PUSH(o->arena, &computes, op);
        }
    }
    for (uint32_t wave = 1; wave <= o->waves; wave++) {
        for (size_t i = 0; i < computes.count; i++) {
            ig_op *op = computes.items[i];
            if ((uintptr_t)ig_map_get_id(&o->wave_of, IG_MAP_PTR(op)) == wave) {
                ig_op_move(op, block, end);
            }
        }
    }
}

ig_status ig_pass_order(ig_pass_run *run, ig_graph *graph) {
    orderer o = { .arena = run->scratch };
    ig_map_init(&o.access_of, o.arena);
    ig_map_init(&o.wave_of, o.arena);
    ig_block *block = &graph->body;
    if (!can_sort(block)) {
        return IG_OK;
    }
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_compute) {
            find_wave(&o, op);
        }
    }
    uint64_t before = ig_graph_hash(graph);
    sort_block(&o, block, block->last);
    run->changed = ig_graph_hash(graph) != before;
    return IG_OK;
}
