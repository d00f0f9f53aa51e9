/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/engine/levels.h"

#include <assert.h>

uint32_t ig_level_of(const ig_levels *levels, const ig_op *op) {
    uintptr_t level = (uintptr_t)ig_map_get_id(&levels->map, IG_MAP_PTR(op));
    return level ? (uint32_t)(level - 1) : 0;
}

void ig_level_set(ig_levels *levels, const ig_op *op, uint32_t level) {
    ig_map_set_id(&levels->map, IG_MAP_PTR(op), (void *)(uintptr_t)(level + 1));
}

/* The level at which a value of `block`, or from around it, is there. */
static uint32_t level_of_value(const ig_levels *levels, const ig_value *value,
                               const ig_block *block) {
    const ig_op *op = value->def;
    if (!op || op->block != block) {
        return 0;
    }
    return ig_level_of(levels, op) + (op->code == levels->code);
}

/* Levels that the operands of an op and of its bodies need; recursion is as deep as
 * bodies nest, which readers bound by limits.graph_depth. */
static uint32_t needed_level(const ig_levels *levels, const ig_op *op,
                             const ig_block *block) {
    uint32_t level = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t needed = level_of_value(levels, op->operands[i].value, block);
        level = needed > level ? needed : level;
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            uint32_t needed = needed_level(levels, in, block);
            level = needed > level ? needed : level;
        }
    }
    return level;
}

void ig_levels_find(ig_levels *levels, ig_arena *arena, const ig_block *block,
                    ig_opcode code) {
    levels->code = code;
    ig_map_init(&levels->map, arena);
    for (const ig_op *op = block->first; op; op = op->next) {
        ig_level_set(levels, op, needed_level(levels, op, block));
    }
}

bool ig_levels_make_way(const ig_levels *levels, const ig_op_list *ops,
                        uint32_t level) {
    assert(ops->count > 0 && "there are ops to be put together");
    ig_op *last = IG_LAST(ops), *after = last->next;
    for (const ig_op *op = ops->items[0]; op != last; op = op->next) {
        if (ig_ops[op->code].traits & IG_STATE) {
            return false;
        }
    }
    for (ig_op *op = ops->items[0], *next; op != last; op = next) {
        next = op->next;
        if (ig_level_of(levels, op) > level) {
            ig_op_move(op, last->block, after);
        }
    }
    return true;
}
