/* The interface between the GPU's schedules.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile is the work of one block of threads.  Values have one lane; what lanes are on
 * a CPU, threads are here: number t of T takes elements t, t + T … of the shared work,
 * so that neighbours in memory are read by neighbours.  A schedule says how many
 * threads its blocks have in lower->threads.  All threads of a block meet each barrier:
 * barriers are where control flow depends on the tile alone, never on the thread.
 */
#ifndef IG_PASSES_LOWER_GPU_GPU_H
#define IG_PASSES_LOWER_GPU_GPU_H

#include "passes/lower/schedule.h"
#include "passes/lower/team.h"

/* Loop over from + thread, from + thread + threads … below `to`. */
k_loop ig_gpu_share_out(const ig_lower *lower, ig_builder *b, ig_value *thread,
                        ig_value *from, ig_value *to);

/* The schedules. */
ig_status ig_lower_gpu_gemm(ig_lower *lower);     /* gemm.c */
ig_status ig_lower_gpu_dot(ig_lower *lower);      /* dot.c */
ig_status ig_lower_gpu_bag(ig_lower *lower);      /* bag.c */
ig_status ig_lower_gpu_interact(ig_lower *lower); /* interact.c */
ig_status ig_lower_gpu_map(ig_lower *lower);      /* map.c: elementwise, copies */

/* The schedule of each family; NULL where the targets have none. */
extern const ig_lower_fn ig_lower_gpu[IG_FAMILY_COUNT];

#endif
