/* Levels of a block: the length of the longest chain of ops of one kind that an op
 * needs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = bag …          level 0
 *     %1 = relu %0        level 1
 *     %2 = bag …, %1      level 1
 *     %3 = bag …          level 0: it may join %0
 *
 * Ops of the kind that are of one level do not need each other, and may become one.
 */
#ifndef IG_PASSES_ENGINE_LEVELS_H
#define IG_PASSES_ENGINE_LEVELS_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/ops.h"

typedef struct ig_levels {
    ig_opcode code;
    ig_map map; /* op of the block -> 1 + its level */
} ig_levels;

typedef IG_VEC(ig_op *) ig_op_list;

/* In time of the block's operands, those of bodies in it included. */
void ig_levels_find(ig_levels *levels, ig_arena *arena, const ig_block *block,
                    ig_opcode code);
uint32_t ig_level_of(const ig_levels *levels, const ig_op *op);
void ig_level_set(ig_levels *levels, const ig_op *op, uint32_t level);

/* For ops of one level, in the order of their block: ops of a higher level between them
 * move after the last, so that they all can move there.  False, and nothing moved, when
 * an op between them is ordered by effects. */
bool ig_levels_make_way(const ig_levels *levels, const ig_op_list *ops, uint32_t level);

#endif
