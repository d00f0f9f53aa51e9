/* Updates of tables by rows: the two schedules, and the body of one row.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_BAG_UPDATE_H
#define IG_PASSES_LOWER_BAG_UPDATE_H

#include "ir/bag.h"
#include "passes/lower/schedule.h"

enum { UPDATE_VECTORS = 16, UPDATE_STATES = 8 };

/* The row of the weight and of each state, and the sum of its gradients. */
typedef struct update_row {
    ig_value *buffers[1 + UPDATE_STATES]; /* of the table's weight and states */
    ig_value *starts[1 + UPDATE_STATES];  /* element where the row begins */
    ig_value *sums[UPDATE_VECTORS];       /* gradients, where they are few vectors */
} update_row;

/* The body of an update, before any row. */
typedef struct update_body {
    ig_lower *lower;
    const ig_op *op;
    const ig_block *block;
    uint32_t states;
    bool is_single[1 + UPDATE_STATES]; /* one number for each row */
    int64_t dim;
    ig_dtype dtype;
    uint32_t lanes, vectors; /* of a row; the last may have lanes too many */
    ig_value *memory;        /* of the sums, where they are many vectors; else NULL */
    ig_map shared;           /* values of the body that are the same for all rows */
} update_body;

/* Reads the op's body; UNSUPPORTED where it holds ops that no row can be made by. */
ig_status update_body_open(ig_lower *lower, const ig_op *op, update_body *out);
/* Computes the values that depend on no row, at the builder. */
void update_body_share(update_body *u, ig_builder *b);
/* Makes the row anew, in place. */
void update_body_emit(const update_body *u, ig_builder *b, const update_row *row);
/* Lanes of the vector that begins at `column` which belong to the row; NULL: all. */
ig_value *update_lanes_at(const update_body *u, ig_builder *b, ig_value *column);

/* The schedules: group.c, update.c. */
ig_status update_lower_group(ig_lower *lower);
ig_status update_lower_tables(ig_lower *lower);

#endif
