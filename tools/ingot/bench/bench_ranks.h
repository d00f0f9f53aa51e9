/* Measuring the program of a rank, which all ranks call in step.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_BENCH_BENCH_RANKS_H
#define IG_TOOLS_INGOT_BENCH_BENCH_RANKS_H

#include "tools/ingot/measure/bench_table.h"
#include "tools/ingot/model/call.h"

/* Times calls of one session for given->seconds; all ranks make as many calls as rank 0
 * finds right.  A call takes as long as its slowest rank. */
ig_status bench_ranks(const settings *given, const model *m, const call *with,
                      bench_point *out, message *why);

#endif
