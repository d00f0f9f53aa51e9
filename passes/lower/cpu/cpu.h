/* What the CPU's schedules share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_CPU_H
#define IG_PASSES_LOWER_CPU_CPU_H

#include "passes/lower/lower.h"

/* The one op of the body with this code, or NULL. */
ig_op *ig_cpu_anchor(const ig_lower *lower, ig_opcode code);
/* The launch's input that operand `index` of a body op is, or NULL when it is
 * computed. */
const ig_operand *ig_cpu_input(const ig_lower *lower, const ig_op *op, uint32_t index);
/* Does the body hold an op that expands to many (exp, tanh, integer division …)? */
bool ig_cpu_is_heavy(const ig_block *body);
/* "gemm_add_relu": the family and the body's elementwise ops, for people. */
const char *ig_cpu_name(ig_lower *lower, const char *family);

/* So many floats of a worker's own; lines begin where caches' do. */
ig_value *ig_cpu_scratch(ig_lower *lower, int64_t floats);

/* Loop over this call's tiles around `emit`; `tile` is the tile's number. */
void ig_cpu_each_tile(ig_lower *lower,
                      void (*emit)(void *user, ig_builder *b, ig_value *tile),
                      void *user);

/* A loop over blocks of at most `most` rows of `total`, evenly split, so that the last
 * one is not a thin one.  To be closed by the caller. */
typedef struct ig_cpu_blocks {
    k_loop loop;              /* over the number of the block */
    ig_value *count;          /* of blocks, outside of the loop */
    ig_value *skipped, *rows; /* rows before this block, and of it */
} ig_cpu_blocks;

ig_cpu_blocks ig_cpu_open_blocks(ig_builder *b, ig_value *total, uint32_t most);

/* The schedules. */
ig_status ig_lower_cpu_gemm(ig_lower *lower); /* gemm.c: constant weights in panels */
ig_status ig_lower_cpu_dot(ig_lower *lower);  /* dot.c: few columns, or any strides */
ig_status ig_lower_cpu_bag(ig_lower *lower);  /* bag.c */
ig_status ig_lower_cpu_interact(ig_lower *lower); /* interact.c */
ig_status ig_lower_cpu_map(ig_lower *lower);      /* map.c: elementwise, copies */
ig_status ig_lower_cpu_reduce(ig_lower *lower);   /* reduce.c */
ig_status ig_lower_cpu_softmax(ig_lower *lower);  /* softmax.c; layer_norm: the next */
ig_status ig_lower_cpu_norm(ig_lower *lower);     /* norm.c */
ig_status ig_lower_cpu_pad(ig_lower *lower);      /* pad.c */
ig_status ig_lower_cpu_scan(ig_lower *lower);     /* scan.c: running sums */
ig_status ig_lower_cpu_range(ig_lower *lower);    /* scan.c */
ig_status ig_lower_cpu_cumulate(ig_lower *lower); /* cumulate.c */
ig_status ig_lower_cpu_scatter(ig_lower *lower);  /* scatter.c, scatter_nd.c */
ig_status ig_lower_cpu_random(ig_lower *lower);   /* random.c */
ig_status ig_lower_cpu_arg(ig_lower *lower);      /* arg.c */
ig_status ig_lower_cpu_search(ig_lower *lower);   /* arg.c: bucketize */
ig_status ig_lower_cpu_gather(ig_lower *lower);   /* gather.c */
ig_status ig_lower_cpu_conv(ig_lower *lower);     /* conv.c */
ig_status ig_lower_cpu_pool(ig_lower *lower);     /* pool.c */

#endif
