/* The interface between the CPU's schedules.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_CPU_H
#define IG_PASSES_LOWER_CPU_CPU_H

#include "passes/lower/schedule.h"
#include "passes/lower/serial/serial.h"

/* So many floats of a worker's own; lines begin where caches' do. */
ig_value *ig_cpu_scratch(ig_lower *lower, int64_t floats);
ig_value *ig_cpu_scratch_of(ig_lower *lower, ig_dtype dtype, int64_t count);

/* `count` zeros of a worker's own, and as many more as fill a vector. */
ig_value *ig_cpu_zeros(ig_lower *lower, int64_t count);

/* A number of things in `parts` parts, which have as many as each other, or one
 * more. */
typedef struct ig_cpu_split {
    ig_value *base, *extra;
} ig_cpu_split;
ig_cpu_split ig_cpu_open_split(ig_builder *b, ig_value *total, ig_value *parts);
/* What is before part number `number`, and how much is in it. */
void ig_cpu_find_part(ig_builder *b, const ig_cpu_split *split, ig_value *number,
                      ig_value **out_skipped, ig_value **out_count);

/* A loop over blocks of at most `max` rows of `total`, evenly split, so that the last
 * one is not a thin one.  To be closed by the caller. */
typedef struct ig_cpu_blocks {
    k_loop loop;              /* over the number of the block */
    ig_value *count;          /* of blocks, outside of the loop */
    ig_value *skipped, *rows; /* rows before this block, and of it */
} ig_cpu_blocks;

ig_cpu_blocks ig_cpu_open_blocks(ig_builder *b, ig_value *total, uint32_t max);

/* Lane j of row i changes places with lane i of row j, of as many rows as lanes; at
 * most IG_CPU_SQUARE of them. */
enum { IG_CPU_SQUARE = 16 };
void ig_cpu_transpose(ig_builder *b, ig_value **rows, uint32_t lanes);

/* The schedules. */
ig_status ig_lower_cpu_gemm(ig_lower *lower); /* gemm.c: constant weights in panels */
ig_status ig_lower_cpu_dot(ig_lower *lower);  /* dot.c: few columns, or any strides */
ig_status ig_lower_cpu_attention(ig_lower *lower); /* attention.c */
ig_status ig_lower_cpu_bag(ig_lower *lower);
ig_status ig_lower_cpu_bag_group(ig_lower *lower);
ig_status ig_lower_cpu_bag_update(ig_lower *lower);  /* bag.c */
ig_status ig_lower_cpu_interact(ig_lower *lower);    /* interact.c */
ig_status ig_lower_cpu_map(ig_lower *lower);         /* map.c: elementwise, copies */
ig_status ig_lower_cpu_pool(ig_lower *lower);        /* pool.c */
ig_status ig_lower_cpu_conv_panels(ig_lower *lower); /* conv_panels.c: channels last */
ig_status ig_lower_cpu_conv_channels(ig_lower *lower); /* conv_channels.c */
ig_status ig_lower_cpu_winograd(ig_lower *lower);      /* winograd.c: of conv_panels */

ig_status ig_lower_cpu_group_norm(ig_lower *lower); /* group_norm.c: channels last */

/* The schedule of each family; NULL where the targets have none. */
extern const ig_lower_fn ig_lower_cpu[IG_FAMILY_COUNT];

#endif
