/* Threads of a GPU's block that go over one line together.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     line      x0 x1 x2 … x(T-1) xT x(T+1) …
 *     thread     0  1  2 …  T-1    0   1   …      neighbours read neighbours
 *
 * Each thread combines every T-th element in order, then halves of a warp are combined
 * with halves by exchanges, and warps in order through shared memory: one fixed order
 * for a line, whatever the batch.  A block has
 * one team, and all of it meets each barrier, so that branches around a team's work
 * may depend on the tile only.
 *
 * Without a team (`size` 0: on CPUs, and where lines are short) a line is one worker's,
 * and these functions do nothing.
 */
#ifndef IG_PASSES_LOWER_TEAM_H
#define IG_PASSES_LOWER_TEAM_H

#include "passes/lower/lower.h"

/* This thread's number in its block. */
ig_value *ig_gpu_thread(ig_builder *b);
/* All threads of the block come here before any goes on. */
void ig_gpu_barrier(ig_builder *b);
/* An array that the threads of a block share; at the kernel's head. */
ig_value *ig_gpu_shared(ig_lower *lower, ig_dtype dtype, int64_t count);

/* Threads of a block whose tiles are a thread's each, and the shared memory that every
 * GPU has for one block without asking for more. */
enum { IG_SERIAL_THREADS = 64, IG_GPU_SHARED_BYTES = 48 * 1024 };

/* An array of its own for who has a tile, from element `start` on.  Its elements are
 * found at run time, for which a GPU's thread has no registers: it is shared memory
 * there, a part a thread, as far as that suffices. */
typedef struct ig_own_array {
    ig_value *buffer, *start;
} ig_own_array;
ig_own_array ig_own_array_open(ig_lower *lower, ig_dtype dtype, int64_t count);

/* The values of a warp's 32 threads as one, which each of them gets: halves with
 * halves, without memory.  All threads of the block are there. */
ig_value *ig_warp_combine(ig_builder *b, ig_reduce how, ig_value *x);

typedef struct ig_team {
    int64_t size;               /* a power of two, or 0 */
    ig_value *thread, *partial; /* partial: of several warps */
} ig_team;

/* A team for lines of `length` elements that are combined as `wide`; where there is
 * one, lower->threads becomes its size. */
ig_team ig_team_open(ig_lower *lower, ig_dtype wide, ig_dim length);
/* The values of all threads as one, which each of them gets. */
ig_value *ig_team_combine(const ig_team *team, ig_builder *b, ig_reduce how,
                          ig_value *x);

/* One thread stores the value that all of them have. */
void ig_team_store(const ig_team *team, ig_builder *b, ig_value *x, ig_value *buffer,
                   ig_value *at);

#endif
