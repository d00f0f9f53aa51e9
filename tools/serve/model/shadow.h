/* A second version that runs beside the one that answers, to see where they differ.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A share of the runs is copied and given to a thread of low priority, which runs the
 * other version in a session of its own and compares.  While it works, further runs are
 * passed over: a loop copies, and never waits.
 */
#ifndef IG_TOOLS_SERVE_MODEL_SHADOW_H
#define IG_TOOLS_SERVE_MODEL_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ingot/view.h>

typedef struct shadow shadow;
struct served;

/* Counts so far; `passed_over` runs found the thread at work. */
typedef struct shadow_counts {
    uint64_t compared, different, failed, passed_over;
    double max_gap; /* |a - b| / max(1, |b|) of all floats that were compared */
} shadow_counts;

/* Starts the thread; NULL: none could be. */
shadow *shadow_open(void);
/* Ends the thread, after the run that it works on. */
void shadow_close(shadow *of);
/* Whether the thread is free, and this run one of the share: it waits for shadow_give,
 * which must follow. */
bool shadow_wants(shadow *of, double share);
/* Takes copies of a run of `from`, which `with` is held against.  The caller keeps
 * `with` alive during the call; NULL: there is no such version. */
void shadow_give(shadow *of, struct served *from, struct served *with,
                 const ig_view *inputs, const ig_view *outputs);
shadow_counts shadow_count(shadow *of);

#endif
