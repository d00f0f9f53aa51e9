/* The parts of libingot-watch.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_WATCH_H
#define IG_RUNTIME_WATCH_H

#include "runtime/plugin/watch.h"
#include "runtime/session/session.h"

/* sanitize.c: ig_session_steps, with memory filled that holds no value. */
extern ig_step_fn *const ig_watch_sanitized_steps[IG_STEP_COUNT];

/* profile.c */
ig_status ig_watch_profile(ig_session *session, ig_step_profile *steps, size_t count,
                           ig_step_events *events, int64_t *out_ns);

/* watch.c */
IG_API ig_watch_find_fn ig_watch_find;

#endif
