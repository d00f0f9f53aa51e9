/* Runs that are watched: the interface of a session to libingot-watch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened for a profile and for programs that check their accesses, so
 * that ordinary runs know nothing of either.  It reads the structs of the session and
 * its program, and refuses those of another build. */
#ifndef IG_RUNTIME_PLUGIN_WATCH_H
#define IG_RUNTIME_PLUGIN_WATCH_H

#include "ingot/runtime.h"

typedef ig_status ig_step_fn(ig_session *session, uint32_t index);

/* Functions of the runtime that the library calls. */
typedef struct ig_watched {
    size_t session_size, program_size;
    const char *version;
    ig_step_fn *const *steps; /* ig_session_steps */
    ig_status (*run_bound)(ig_session *session);
    ig_status (*walk)(ig_session *session); /* the steps of a run, one by one */
    ig_status (*take_report)(ig_session *session);
} ig_watched;

typedef struct ig_watch {
    ig_step_fn *const *sanitized_steps; /* by kind, instead of ig_watched.steps */
    /* `events` may be NULL. */
    ig_status (*profile)(ig_session *session, ig_step_profile *steps, size_t count,
                         ig_step_events *events, int64_t *out_ns);
} ig_watch;

/* Of ig_watch_find, the one symbol of the library; NULL: it is of another build than
 * the runtime. */
typedef const ig_watch *ig_watch_find_fn(const ig_watched *watched);

#endif
