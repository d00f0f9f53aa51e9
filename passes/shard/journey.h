/* The way of bags over divided tables: ids go to the ranks that have the rows, and rows
 * or pooled bags come back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_SHARD_JOURNEY_H
#define IG_PASSES_SHARD_JOURNEY_H

#include "ir/bag.h"
#include "ir/build/expr.h"
#include "passes/shard/divided.h"

/* One feature of a bag op, on its way. */
typedef struct ig_way {
    ig_op *bag;
    uint32_t index;
    ig_bag_feature in;
    ig_bag_attrs attrs; /* of the bag */
    const ig_divided *table;
    uint32_t leg;                      /* of the way back: its chunk, or 0 */
    ig_value *lengths, *ids, *weights; /* as this rank was given them */
} ig_way;

/* Builds the exchanges of all features, and replaces the bags' results by theirs: at
 * the builder's position, or before the first op that needs it where there are several
 * legs, of which exchanges may then overlap with other ops.  Returns the exchange of
 * ids.  The bags are left without uses of these results. */
ig_op *ig_journey_make(ig_builder *builder, ig_arena *arena, ig_way *ways,
                       uint32_t count, uint32_t legs);

#endif
