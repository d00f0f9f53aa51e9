/* Roofline probes: the rates this machine reaches at this moment, on so many threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared machines are noisy, so a time alone says little.  Each probe takes about
 * `seconds`.
 */
#ifndef IG_TOOLS_INGOT_MEASURE_ROOFLINE_H
#define IG_TOOLS_INGOT_MEASURE_ROOFLINE_H

#include <stddef.h>

/* GFLOP/s of independent multiply-adds in registers. */
double probe_fma(int threads, double seconds);
/* ns per cache line fetched at random from `memory`, many at once. */
double probe_line(const void *memory, size_t size, int threads, double seconds);
/* GB/s of reading `memory` in order, again and again: of DRAM when it is large, else of
 * the cache that holds it. */
double probe_stream(const void *memory, size_t size, int threads, double seconds);
/* Touched memory, on 2 MiB pages where the system has them, kept for good; or NULL. */
void *probe_memory(size_t size);

#endif
