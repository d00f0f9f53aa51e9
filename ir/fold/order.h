/* The order of elements that sorting and its relatives share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_FOLD_ORDER_H
#define IG_IR_FOLD_ORDER_H

#include "ir/fold/fold.h"

/* Negative: element i sorts before element k; 0: equal.  NaN is the largest. */
int ig_element_compare(const ig_tensor *x, int64_t i, const ig_tensor *y, int64_t k);

/* A block of elements of `x`: `count` of them, `step` apart. */
typedef struct ig_block_of {
    const ig_tensor *x;
    int64_t outer, inner;             /* a block is outer x inner elements … */
    int64_t outer_step, element_step; /* … around the one that names it */
    bool is_descending;
} ig_block_of;
/* Puts block numbers 0 … count - 1 in order, equal ones as they were. `room` holds
 * `count` numbers too. */
void ig_blocks_sort(const ig_block_of *blocks, int64_t start, int64_t count,
                    int64_t *indices, int64_t *room);
int ig_blocks_compare(const ig_block_of *blocks, int64_t start, int64_t i, int64_t k);

#endif
