/* Marking a table as divided, for the pass shard.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_SHARD_MARK_H
#define IG_PASSES_SHARD_MARK_H

#include "ir/shard.h"

/* Who is to have what; `count` 0: every rank has the whole table. */
typedef struct ig_shard_mark {
    int64_t world, rank;
    int64_t of;    /* a number of model and plan, which ranks compare; 0: none */
    ig_dtype wire; /* what rows of f32 travel as, where has_wire */
    bool has_wire, is_distinct;
    int64_t chunks; /* of the batch; 0 as 1 */
    const ig_shard *shards;
    uint32_t count;
} ig_shard_mark;

/* Puts a shard op between a weight, a table or an opened weight of the graph and its
 * users.  Reports
 * shards that do not cover the table once. */
ig_status ig_mark_table(ig_value *table, const ig_shard_mark *mark);

#endif
