/* What a corpus reaches: operators, opcodes, whatever the target counts.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_fuzz_reach_begin(count, name_of)     once: there are `count` things with names
 *     ig_fuzz_reach(i)                        an input got as far as thing i
 *
 * With INGOT_FUZZ_REACH=FILE set, the names and whether each was reached are written
 * there when the program ends.
 */
#ifndef IG_TESTS_FUZZ_REACH_H
#define IG_TESTS_FUZZ_REACH_H

#include <stdbool.h>
#include <stddef.h>

/* Which share of the things (in %) inputs must reach: all, unless a target says
 * less. */
extern unsigned ig_fuzz_reach_min;

/* The name of thing i, or NULL when nothing has to reach it. */
typedef const char *ig_fuzz_reach_name(size_t i);

void ig_fuzz_reach_begin(size_t count, ig_fuzz_reach_name *name_of);
void ig_fuzz_reach(size_t i);
/* Writes "reached NAME" or "missing NAME" for each thing; how many are missing. */
size_t ig_fuzz_reach_report(void *file);

#endif
