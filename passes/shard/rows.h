/* Which rows of its operands an op's samples need.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = reshape %x {to = [4 * B, 8]} : f32[4 * B, 8]     %x : f32[B, 32], in chunks
 *
 * A sample of the batch B has 1 row of %x and 4 of %1, one after the other: rows
 * 4 * b … of the result need rows b … of %x and nothing else.
 */
#ifndef IG_PASSES_SHARD_ROWS_H
#define IG_PASSES_SHARD_ROWS_H

#include "base/map.h"
#include "ir/ops.h"

/* Samples, and values of which each has rows of its own. */
typedef struct ig_samples {
    ig_module *module;
    ig_dim count;
    bool has_other; /* a guard says that `other` is the same number */
    ig_dim other;
    ig_map rows; /* value -> rows of a sample */
} ig_samples;

int64_t ig_samples_rows(const ig_samples *samples, const ig_value *value); /* or 0 */
void ig_samples_set(ig_samples *samples, const ig_value *value, int64_t rows);
/* Is its first extent so many rows for each sample? */
bool ig_samples_have(const ig_samples *samples, const ig_value *value, int64_t rows);

/* How to make an op sample by sample. */
typedef struct ig_row_use {
    int64_t rows;      /* of a sample of the result */
    int64_t *operands; /* of each operand; 0: it is needed whole */
    int32_t dims;      /* slot of extents that begin with the result's first, or -1 */
} ig_row_use;

/* False where samples need others' rows, or nobody has said that they do not.  `use`
 * has an entry for each operand. */
bool ig_op_keeps_samples(const ig_samples *samples, const ig_op *op, ig_row_use *use);

#endif
