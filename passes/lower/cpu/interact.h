/* Between the two ways of the dot interaction on CPUs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_INTERACT_H
#define IG_PASSES_LOWER_CPU_INTERACT_H

#include "passes/lower/cpu/cpu.h"

typedef struct ig_interact {
    ig_lower *lower;
    const ig_lower_operand *x, *out; /* f32 [samples, rows, depth], [samples, pairs] */
    int64_t rows, depth;
    uint32_t lanes;
    const int64_t *pairs; /* i * rows + j */
    uint32_t pair_count;
    bool swaps;         /* a pair's row is its j: so more columns are side by side */
    ig_value *columns;  /* scratch of the lanes' way: [rows][pitch]; or NULL */
    ig_value *products; /* and [pairs up to lanes] of vectors */
} ig_interact;

/* Makes the scratch memory of the lanes' way. */
void ig_interact_plan_lanes(ig_interact *t);

/* One sample, lanes along the depth: no scratch memory. */
void ig_interact_emit_depth(const ig_interact *t, ig_builder *b, ig_value *sample,
                            ig_value *out_row);

/* Samples `first` … first + lanes, which are all there. */
void ig_interact_emit_lanes(const ig_interact *t, ig_builder *b, ig_value *first);

#endif
