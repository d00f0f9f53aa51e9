/* Sessions whose runs are watched.  SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plugin/plugin.h"
#include "runtime/session/session.h"

#include <assert.h>
#include <string.h>

static const ig_watched watched = {
    .session_size = sizeof(ig_session),
    .program_size = sizeof(ig_program),
    .version = INGOT_VERSION,
    .steps = ig_session_steps,
    .run_bound = ig_session_run_bound,
    .walk = ig_session_walk,
    .take_report = ig_session_take_report,
};

static ig_status find_watch(const char *knob, const ig_watch **out_watch,
                            const ig_message *message) {
    void *symbol;
    IG_TRY(
        ig_plugin_find(knob, "libingot-watch.so", "ig_watch_find", &symbol, message));
    ig_watch_find_fn *find;
    memcpy(&find, &symbol, sizeof find);
    *out_watch = find(&watched);
    return *out_watch ? IG_OK
                      : ig_message_set(message, IG_INVALID,
                                       "libingot-watch is of another build than the "
                                       "runtime");
}

ig_status ig_session_begin_watch(ig_session *session, const ig_message *message) {
    assert(!session->watched && "a session begins once");
    session->watched = &watched;
    if (!session->program->is_sanitized) {
        return IG_OK;
    }
    const ig_watch *watch;
    IG_TRY(find_watch("a program that checks its loads and stores", &watch, message));
    session->run_steps = watch->sanitized_steps;
    return IG_OK;
}

ig_status ig_session_trace(ig_session *session, ig_step_profile *steps, size_t count,
                           ig_step_events *events, int64_t *out_ns) {
    const ig_watch *watch;
    *out_ns = 0;
    IG_TRY(ig_session_check_waited(session));
    IG_TRY(find_watch("a profile", &watch, &session->message));
    return watch->profile(session, steps, count, events, out_ns);
}

ig_status ig_session_profile(ig_session *session, ig_step_profile *steps, size_t count,
                             int64_t *out_ns) {
    return ig_session_trace(session, steps, count, NULL, out_ns);
}
