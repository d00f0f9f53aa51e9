/* order: launches that do not wait for each other become neighbours.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     gemm a -> b; gemm b -> c; bag -> d; interact c, d -> e
 *   becomes
 *     gemm a -> b; bag -> d; gemm b -> c; interact c, d -> e
 *
 * A launch's wave is one more than the latest wave it needs something from; launches
 * are sorted by wave and keep their order within one.  Those of one wave may run at the
 * same time, without a barrier between them (driver/artifact/plan_write.c marks them
 * so): look-ups in tables overlap with the dense layers that do not need them.
 *
 * For who reads, a buffer is one thing: it waits for all who wrote to it before, and
 * who writes waits for all who read it before.  Writers wait for each other unless
 * their places in the buffer are disjoint, as those of a concat are; an insert writes
 * twice to one.
 *
 * Plan stage, before lowering.  Keeps everything but the order of compute ops.
 */
#include "passes/place/part.h"
#include "passes/engine/pass.h"

#include <assert.h>

typedef struct write {
    ig_part to;
    uint32_t wave;
} write;

typedef struct access {
    uint32_t last_read, last_write; /* waves, counted from 1; 0: none yet */
    IG_VEC(write) writes;
} access;

typedef struct orderer {
    ig_arena *arena;
    ig_module *module;
    ig_map access_of; /* root value -> access */
    ig_map wave_of;   /* compute op -> wave */
    uint32_t waves;
} orderer;

static access *access_of(orderer *o, ig_value *value) {
    uint64_t key = IG_MAP_PTR(ig_part_root(value));
    access *known = ig_map_get_id(&o->access_of, key);
    if (!known) {
        known = IG_NEW(o->arena, access);
        ig_map_set_id(&o->access_of, key, known);
    }
    return known;
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* Writers of places that may overlap keep their order. */
static uint32_t wave_of_writers(orderer *o, const access *a, const ig_value *to) {
    uint32_t wave = 0;
    if (a->writes.count > IG_PARTS_COMPARED) {
        return a->last_write;
    }
    ig_part part = ig_part_of(o->module, to);
    for (size_t i = 0; i < a->writes.count; i++) {
        const write *w = &a->writes.items[i];
        if (w->wave > wave && !ig_parts_lie_apart(o->module, &w->to, &part)) {
            wave = w->wave;
        }
    }
    return wave;
}

static void note_access(orderer *o, access *a, const ig_value *value, bool is_in,
                        uint32_t wave) {
    uint32_t *last = is_in ? &a->last_read : &a->last_write;
    *last = max_u32(*last, wave);
    if (!is_in && a->writes.count <= IG_PARTS_COMPARED) {
        IG_PUSH(o->arena, &a->writes, ((write){ ig_part_of(o->module, value), wave }));
    }
}

static void find_wave(orderer *o, const ig_op *compute) {
    uint32_t ins = ig_part_in_count(compute), wave = 1;
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_value *value = compute->operands[i].value;
        const access *a = access_of(o, value);
        bool is_in = i < ins;
        wave = max_u32(wave, 1 + (is_in ? a->last_write : a->last_read));
        wave = max_u32(wave, 1 + (is_in ? 0 : wave_of_writers(o, a, value)));
    }
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_value *value = compute->operands[i].value;
        note_access(o, access_of(o, value), value, i < ins, wave);
    }
    ig_map_set_id(&o->wave_of, IG_MAP_PTR(compute), (void *)(uintptr_t)wave);
    o->waves = max_u32(o->waves, wave);
}

/* Only a block of computes, buffers and views is sorted; anything else is a wall. */
static bool can_sort(const ig_block *block, const ig_op *end) {
    for (const ig_op *op = block->first; op != end; op = op->next) {
        bool is_wall = op->body_count && op->code != IG_OP_compute;
        if (is_wall || (ig_ops[op->code].traits & IG_HOST)) {
            return false;
        }
    }
    return true;
}

static uint32_t wave_of(const orderer *o, const ig_op *compute) {
    return (uint32_t)(uintptr_t)ig_map_get_id(&o->wave_of, IG_MAP_PTR(compute));
}

/* Where the computes of each wave begin among all of them; one more at the end. */
static uint32_t *count_waves(const orderer *o, const ig_block *block,
                             const ig_op *end) {
    uint32_t *begins = IG_NEW_ARRAY(o->arena, uint32_t, (size_t)o->waves + 2);
    for (const ig_op *op = block->first; op != end; op = op->next) {
        if (op->code == IG_OP_compute) {
            begins[wave_of(o, op) + 1]++;
        }
    }
    for (uint32_t wave = 1; wave <= o->waves + 1; wave++) {
        begins[wave] += begins[wave - 1];
    }
    return begins;
}

/* Computes of each wave in turn, in front of `end`; buffers and views stay ahead of all
 * of them. */
static void sort_block(orderer *o, ig_block *block, ig_op *end) {
    uint32_t *next = count_waves(o, block, end);
    uint32_t count = next[o->waves + 1];
    ig_op **sorted = IG_NEW_ARRAY(o->arena, ig_op *, count);
    for (ig_op *op = block->first; op != end; op = op->next) {
        if (op->code == IG_OP_compute) {
            sorted[next[wave_of(o, op)]++] = op;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_op_move(sorted[i], block, end);
    }
}

/* Where the sorted part ends: ops after commit stay as they are. */
static ig_op *find_end(const ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_commit) {
            return op;
        }
    }
    return block->last;
}

ig_status ig_pass_order(ig_pass_run *run, ig_graph *graph) {
    orderer o = { .arena = run->scratch, .module = graph->module };
    ig_map_init(&o.access_of, o.arena);
    ig_map_init(&o.wave_of, o.arena);
    ig_block *block = &graph->body;
    ig_op *end = find_end(block);
    if (!can_sort(block, end)) {
        return IG_OK;
    }
    for (const ig_op *op = block->first; op != end; op = op->next) {
        if (op->code == IG_OP_compute) {
            find_wave(&o, op);
        }
    }
    uint64_t before = ig_graph_hash(graph);
    sort_block(&o, block, end);
    run->changed = ig_graph_hash(graph) != before;
    return IG_OK;
}
