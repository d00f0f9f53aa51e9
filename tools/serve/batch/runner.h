/* Runs the requests that a turn of the loop brought.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_BATCH_RUNNER_H
#define IG_TOOLS_SERVE_BATCH_RUNNER_H

#include "tools/serve/batch/lane.h"

typedef struct runner runner;

/* NULL: memory ran out. */
runner *runner_create(lane *of);
void runner_destroy(runner *of);
/* Takes a request, whose `finish` is called in a turn to come, at the latest in this
 * one where nothing asks for more.  It may have failed already. */
void runner_add(runner *to, request *what);
/* Why a request is refused for the others that wait. */
typedef enum refusal {
    REFUSAL_NONE,
    REFUSAL_QUEUE, /* they fill the loop's queue */
    REFUSAL_MODEL, /* they fill the model's */
    REFUSAL_LATE,  /* they take longer than until its deadline */
    REFUSAL_COUNT
} refusal;
/* Whether a request is refused, so that nobody need read more of it.  `model` NULL: not
 * known yet; `deadline` 0: none. */
refusal runner_refusal(const runner *of, const char *model, const char *version,
                       int64_t deadline);
/* What its client is told. */
const char *refusal_words(refusal why);
/* The client left: `finish` is not called any more. */
void runner_forget(runner *from, request *what);
/* Fails and finishes all that wait: the server ends. */
void runner_end(runner *of);
/* Runs the due requests and finishes them; after a while it stops, so that the loop
 * reads what came meanwhile, which is batched with what still waits, or goes before
 * it. */
void runner_turn(runner *of);
/* When the next turn is due at the latest, in ns of the clock; 0: nothing waits. */
int64_t runner_due(const runner *of);

#endif
