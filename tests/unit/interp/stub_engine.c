/* An engine without a thread of its own: what it is asked is counted and answered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stub {
    int runs;
} stub;

/* How it begins is told by the environment: "none": not at all; "late": it fails. */
static int start(ig_mailbox *box) {
    const char *how = getenv("INGOT_TEST_STUB");
    if (how && strcmp(how, "none") == 0) {
        return -1;
    }
    if (how && strcmp(how, "late") == 0) {
        box->job->status = IG_UNSUPPORTED;
        (void)snprintf(box->job->message, box->job->message_size, "it is late");
        return 0;
    }
    box->job->state = calloc(1, sizeof(stub));
    return box->job->state ? 0 : -1;
}

static void stop(void *state) {
    free(state);
}

static void nothing(ig_engine_job *job) {
    (void)job;
}

/* Tells how many runs this interpreter has seen, and whether there was a deadline. */
static void run(ig_engine_job *job) {
    stub *self = job->state;
    self->runs++;
    job->status = IG_INVALID;
    (void)snprintf(job->message, job->message_size, "%s, run %d%s", job->source,
                   self->runs, job->deadline_ns ? ", in time" : "");
}

static const ig_engine engine = {
    .abi = IG_ENGINE_ABI,
    .name = "stub",
    .start = start,
    .stop = stop,
    .configure = nothing,
    .wrap_tensors = nothing,
    .run = run,
};

IG_API ig_engine_entry ig_interp_engine;

const ig_engine *ig_interp_engine(void) {
    return &engine;
}
