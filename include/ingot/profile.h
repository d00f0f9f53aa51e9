/* The time of a program's steps; ingot/runtime.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_PROFILE_H
#define INGOT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_session ig_session;

/* One step of a profiled run; texts are the program's. */
typedef struct ig_step_profile {
    const char *name; /* "gemm_relu_3" */
    const char *kind; /* "launch", "host", "rows", "copy" … */
    uint32_t depth;   /* of if, loop and rows around it */
    int threads;      /* that had a share of it */
    int64_t calls, tiles;
    int64_t begin_ns, ns;       /* since the run's begin; without the steps inside */
    double flops, bytes, lines; /* of all calls: a multiply-add is two; bytes in
                                      * order; cache lines at random.  0: unknown */
} ig_step_profile;

/* Runs the bound call, with a clock around each kernel.  `count` is that of the
 * program's steps (ig_program_facts).  *out_ns is the whole run; the part beyond the
 * sum of steps is the runtime's own, and the clocks'. */
IG_API IG_MUST_USE ig_status ig_session_profile(ig_session *session,
                                                ig_step_profile *steps, size_t count,
                                                int64_t *out_ns);

/* One call of a kernel, or one step of another kind with the steps inside it. */
typedef struct ig_step_event {
    uint32_t step;            /* number of the step */
    uint32_t thread;          /* 0: the caller's; others are numbered as they come */
    int64_t begin_ns, end_ns; /* since the run's begin */
    int64_t tiles;            /* of a kernel's call */
} ig_step_event;

typedef struct ig_step_events {
    ig_step_event *items; /* the caller's: room for `capacity`, in no order */
    size_t capacity;
    size_t count; /* out: that there were; the first `capacity` of them are kept */
} ig_step_events;

/* The same, and when each of them began and ended, on which thread. */
IG_API IG_MUST_USE ig_status ig_session_trace(ig_session *session,
                                              ig_step_profile *steps, size_t count,
                                              ig_step_events *events, int64_t *out_ns);

#ifdef __cplusplus
}
#endif
#endif
