/* ingot bench --interpreters: a package's Python against the compiled model.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_BENCH_BENCH_INTERPRETERS_H
#define IG_TOOLS_INGOT_BENCH_BENCH_INTERPRETERS_H

#include "tools/ingot/measure/bench_table.h"
#include "tools/ingot/model/call.h"

/* The exit status. */
int bench_interpreters(const settings *given);

/* bench.c: measures point->sessions of point->threads into the rest of it. */
ig_status bench_measure(const settings *given, const model *m, const call *with,
                        bench_point *point, message *why);

#endif
