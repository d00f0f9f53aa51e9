/* Schedules whose tile is the work of one worker: a thread of a CPU with its vectors,
 * or one thread of a GPU, where a vector has one lane.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_SERIAL_H
#define IG_PASSES_LOWER_SERIAL_SERIAL_H

#include "passes/lower/schedule.h"

/* `space` with neighbours among dims first … end - 1 merged where every operand walks
 * through both as one; the operands' types and strides follow.  `apart`: bits of the
 * first inputs, which do not follow the space's dims and stay as they are. */
const ig_type *ig_lower_merge_dims(ig_lower *lower, const ig_type *space,
                                   uint32_t first, uint32_t end, uint64_t apart);

ig_status ig_lower_serial_reduce(ig_lower *lower);   /* reduce.c */
ig_status ig_lower_serial_softmax(ig_lower *lower);  /* softmax.c; layer_norm: norm.c */
ig_status ig_lower_serial_norm(ig_lower *lower);     /* norm.c */
ig_status ig_lower_serial_pad(ig_lower *lower);      /* pad.c */
ig_status ig_lower_serial_scan(ig_lower *lower);     /* scan.c: running sums */
ig_status ig_lower_serial_range(ig_lower *lower);    /* scan.c */
ig_status ig_lower_serial_cumulate(ig_lower *lower); /* cumulate.c */
ig_status ig_lower_serial_scatter(ig_lower *lower);  /* scatter.c, scatter_nd.c */
ig_status ig_lower_serial_gather(ig_lower *lower);   /* gather.c */
ig_status ig_lower_serial_jagged(ig_lower *lower);   /* jagged.c */
ig_status ig_lower_serial_forest(ig_lower *lower);   /* forest.c */
ig_status ig_lower_serial_arg(ig_lower *lower);      /* arg.c */
ig_status ig_lower_serial_search(ig_lower *lower);   /* arg.c: bucketize */
ig_status ig_lower_serial_sort(ig_lower *lower);     /* sort.c */
ig_status ig_lower_serial_suppress(ig_lower *lower); /* suppress.c */
ig_status ig_lower_serial_conv(ig_lower *lower);     /* conv.c: channels first */
ig_status ig_lower_serial_pool(ig_lower *lower);     /* pool.c */
ig_status ig_lower_serial_random(ig_lower *lower);   /* random.c */

#endif
