/* A divided table: the parts that a shard op makes of it, and a rank's own ones.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ┌────────┬────┐   part 0: columns 0 … 7, rows on ranks 0 and 2
 *     │ rank 0 │ 1  │   part 1: columns 8 … 11, all rows on rank 1
 *     │ rank 2 │    │
 *     └────────┴────┘
 *
 * A rank has one table of each part that it has rows of: its shards, one after the
 * other; bases[s] is where shard s starts there.
 */
#ifndef IG_PASSES_SHARD_DIVIDED_H
#define IG_PASSES_SHARD_DIVIDED_H

#include "ir/build/expr.h"
#include "ir/shard.h"

typedef struct ig_shard_part {
    int64_t column, columns;
    uint32_t count; /* of shards, by their first row; none is empty */
    int64_t *starts, *rows, *ranks, *bases;
    int64_t rank_count; /* different ones */
    int64_t own;        /* rows that the rank of this program has */
    ig_value *table;    /* with these; NULL where it has none */
} ig_shard_part;

typedef struct ig_divided {
    ig_op *op; /* shard */
    int64_t world, rank, rows;
    int64_t of;       /* the mark's hash of model and plan, or 0 */
    ig_dtype wire;    /* what rows of f32 travel as */
    bool is_distinct; /* an id travels once, and is pooled at home */
    uint32_t count;
    ig_shard_part *parts; /* by their first column; NULL: every rank has it all */
} ig_divided;

/* Reads the op: who has what. */
ig_status ig_divide_parts(ig_op *op, ig_arena *arena, ig_divided *out);
/* Reads the op and makes the tables of its rank, as weights of the module.  Reports
 * shards that are not parts, and tables that cannot be cut. */
ig_status ig_divide(ig_op *op, ig_arena *arena, ig_divided *out);

#endif
