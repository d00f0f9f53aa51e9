/* Runs beside the caller: one thread of a session's own, which sleeps between runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The caller's thread and this one hand the session to each other by two semaphores,
 * so only one of them touches it at a time; cancelling is atomic and may happen at any.
 */
#include "runtime/session/session.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

struct ig_starter {
    sem_t begins, has_ended;
    pthread_t thread;
    bool stops;
    ig_status status; /* of the run that ended last */
};

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {
        assert(errno == EINTR && "a semaphore of ours is good");
    }
}

static void *starter_main(void *argument) {
    ig_session *session = argument;
    ig_starter *starter = session->starter;
    for (;;) {
        wait_for(&starter->begins);
        if (starter->stops) {
            return NULL;
        }
        starter->status = ig_session_run_now(session);
        atomic_store(&session->state, IG_RUN_IDLE); /* where it did not begin, too */
        sem_post(&starter->has_ended);
    }
}

/* Signals stay with the host's own threads. */
static int start_thread(ig_session *session) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int reason = pthread_create(&session->starter->thread, NULL, starter_main, session);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return reason;
}

static ig_status open_starter(ig_session *session) {
    ig_starter *starter = ig_memory_take(&session->host, sizeof *starter);
    if (!starter) {
        return ig_message_set(&session->message, IG_LIMIT,
                              "out of memory for a thread of the session");
    }
    *starter = (ig_starter){ 0 };
    session->starter = starter;
    int reason = sem_init(&starter->begins, 0, 0) | sem_init(&starter->has_ended, 0, 0);
    if (reason || start_thread(session) != 0) {
        session->starter = NULL;
        ig_memory_give(&session->host, starter, sizeof *starter);
        return ig_message_set(&session->message, IG_LIMIT,
                              "the system starts no more threads");
    }
    return IG_OK;
}

ig_status ig_session_start(ig_session *session, const ig_view *inputs,
                           size_t input_count, ig_view *outputs, size_t output_count) {
    IG_TRY(ig_session_check_waited(session));
    ig_status status = session->starter ? IG_OK : open_starter(session);
    status = status == IG_OK
                 ? ig_session_bind(session, inputs, input_count, outputs, output_count)
                 : status;
    if (status != IG_OK) {
        return ig_session_tell_ranks(session, status);
    }
    atomic_store(&session->state, IG_RUN_ACTIVE); /* it can be cancelled from now on */
    session->is_started = true;
    sem_post(&session->starter->begins);
    return IG_OK;
}

int ig_session_has_ended(const ig_session *session) {
    int count = 1;
    if (session->is_started) {
        (void)sem_getvalue(&session->starter->has_ended, &count);
    }
    return count > 0;
}

ig_status ig_session_wait(ig_session *session) {
    if (!session->is_started) {
        return ig_message_set(&session->message, IG_INVALID, "no run was started");
    }
    wait_for(&session->starter->has_ended);
    session->is_started = false;
    return session->starter->status;
}

void ig_session_close_starter(ig_session *session) {
    ig_starter *starter = session->starter;
    if (!starter) {
        return;
    }
    if (session->is_started) {
        ig_session_cancel(session);
        wait_for(&starter->has_ended);
    }
    starter->stops = true;
    sem_post(&starter->begins);
    pthread_join(starter->thread, NULL);
    sem_destroy(&starter->begins);
    sem_destroy(&starter->has_ended);
    session->starter = NULL;
    ig_memory_give(&session->host, starter, sizeof *starter);
}
