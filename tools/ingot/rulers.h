/* Rulers: what this machine can do at this moment, on so many threads at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared machines are noisy, so a time alone says little.  Each ruler takes about
 * `seconds`.
 */
#ifndef IG_TOOLS_INGOT_RULERS_H
#define IG_TOOLS_INGOT_RULERS_H

#include <stddef.h>

/* GFLOP/s of independent multiply-adds in registers. */
double ruler_fma(int threads, double seconds);
/* ns per cache line fetched at random from `memory`, many at once. */
double ruler_line(const void *memory, size_t size, int threads, double seconds);
/* GB/s of reading `memory` in order, again and again: of DRAM when it is large, else of
 * the cache that holds it. */
double ruler_stream(const void *memory, size_t size, int threads, double seconds);
/* Touched memory, on 2 MiB pages where the system has them, kept for good; or NULL. */
void *ruler_memory(size_t size);

#endif
