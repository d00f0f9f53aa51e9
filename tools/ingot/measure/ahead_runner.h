/* Calls of an artifact whose tables are in stores, with batches in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MEASURE_AHEAD_RUNNER_H
#define IG_TOOLS_INGOT_MEASURE_AHEAD_RUNNER_H

#include "tools/ingot/model/call.h"

enum { AHEAD_TRACED = 1000 }; /* batches that a trace shows */

typedef struct ahead_runner {
    ig_lookahead *ahead;
    ig_view *inputs, *outputs;
    size_t input_count, output_count, in_flight, depth, answered;
    int64_t deadline;
    ig_lookahead_answer *answers; /* a ring */
} ahead_runner;

ig_status ahead_runner_open(const settings *given, const model *m, const call *with,
                            ahead_runner *out, message *why);
void ahead_runner_close(ahead_runner *runner);
/* Submits until as many batches are in flight as may be, and waits for one. */
ig_status ahead_runner_call(ahead_runner *runner);
/* When the last batches were fetched and computed, for trace viewers. */
ig_status ahead_runner_trace(const ahead_runner *runner, const char *path);

#endif
