/* Calls about streams and events.  SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdlib.h>

/* ---- streams ---- */

EXPORT_CALL(cuStreamCreate, (void **out, unsigned flags), (out, flags), IN_CONTEXT) {
    *out = flags <= NON_BLOCKING ? make_stream(current_context(), flags) : NULL;
    return *out ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuStreamCreateWithPriority, (void **out, unsigned flags, int priority),
            (out, flags, priority), IN_CONTEXT) {
    (void)priority;
    return do_cuStreamCreate(out, flags);
}

/* Returns at once in the real driver, which then finishes what is queued. */
EXPORT_CALL(cuStreamDestroy_v2, (void *handle), (handle), IN_CONTEXT) {
    stream *s = find_ours(OBJECT_STREAM, handle);
    if (!s || s == current_context()->null_stream) {
        return INVALID_HANDLE;
    }
    int error = finish_stream(s);
    drop_stream(s);
    return error;
}

EXPORT_CALL(cuStreamGetCtx, (void *handle, void **out), (handle, out), IN_CONTEXT) {
    const stream *s = handle ? find_object(OBJECT_STREAM, handle) : find_stream(NULL);
    *out = s ? s->base.context : NULL;
    return s ? SUCCESS : INVALID_HANDLE;
}

static int check_wait(const stream *s) {
    if (!s) {
        return INVALID_HANDLE;
    }
    if (s->capture) {
        s->capture->is_broken = true;
        return CAPTURE_UNSUPPORTED;
    }
    return SUCCESS;
}

EXPORT_CALL(cuStreamQuery, (void *handle), (handle), IN_CONTEXT | NOT_IN_CAPTURE) {
    stream *s = find_stream(handle);
    int error = check_wait(s);
    counts.queries++;
    if (error) {
        return error;
    }
    if ((!is_idle(s) && !step()) || is_held()) {
        return NOT_READY;
    }
    return s->base.context->error ? s->base.context->error
           : is_idle(s)           ? SUCCESS
                                  : NOT_READY;
}

EXPORT_CALL(cuStreamSynchronize, (void *handle), (handle),
            IN_CONTEXT | NOT_IN_CAPTURE) {
    stream *s = find_stream(handle);
    int error = check_wait(s);
    counts.waits++;
    return error ? error : finish_stream(s);
}

EXPORT_CALL(cuLaunchHostFunc, (void *handle, void (*call)(void *user), void *user),
            (handle, call, user), IN_CONTEXT) {
    stream *s = find_stream(handle);
    work w = { .kind = WORK_CALL, .call = call, .user = user };
    return !s || !call ? INVALID_VALUE : enqueue(s, &w);
}

/* ---- events ---- */

enum { NO_TIMING = 2 };

EXPORT_CALL(cuEventCreate, (void **out, unsigned flags), (out, flags), IN_CONTEXT) {
    event *e = flags <= 7 ? make_object(OBJECT_EVENT, sizeof *e, current_context())
                          : NULL;
    if (e) {
        e->flags = flags;
        e->users = 1;
    }
    *out = e;
    return e ? SUCCESS : INVALID_VALUE;
}

static event *find_event(const void *handle) {
    event *e = find_ours(OBJECT_EVENT, handle);
    return e && !e->is_dropped ? e : NULL;
}

EXPORT_CALL(cuEventDestroy_v2, (void *handle), (handle), IN_CONTEXT) {
    event *e = find_event(handle);
    if (e) {
        e->is_dropped = true;
        release_event(e);
    }
    return e ? SUCCESS : INVALID_HANDLE;
}

static int enqueue_event(stream *s, work_kind kind, event *e, uint64_t turn) {
    int error = enqueue(s, &(work){ .kind = kind, .event = e, .turn = turn });
    e->users += !error;
    return error;
}

EXPORT_CALL(cuEventRecord, (void *handle, void *on), (handle, on), IN_CONTEXT) {
    event *e = find_event(handle);
    stream *s = find_stream(on);
    if (!e || !s) {
        return INVALID_HANDLE;
    }
    if (s->capture) {
        return capture_record(s, e);
    }
    e->capture = NULL;
    return enqueue_event(s, WORK_RECORD, e, ++e->recorded);
}

EXPORT_CALL(cuStreamWaitEvent, (void *on, void *handle, unsigned flags),
            (on, handle, flags), IN_CONTEXT) {
    event *e = find_object(OBJECT_EVENT, handle); /* of any context */
    stream *s = find_stream(on);
    if (!e || !s || flags > 1) {
        return INVALID_HANDLE;
    }
    if (s->capture || e->capture) {
        return capture_wait(s, e);
    }
    return enqueue_event(s, WORK_WAIT, e, e->recorded);
}

EXPORT_CALL(cuEventQuery, (void *handle), (handle), IN_CONTEXT | NOT_IN_CAPTURE) {
    const event *e = find_event(handle);
    counts.queries++;
    if (!e || e->capture) {
        return e ? CAPTURED_EVENT : INVALID_HANDLE;
    }
    if (e->done < e->recorded) {
        step();
    }
    int error = current_context()->error;
    return error ? error : e->done < e->recorded ? NOT_READY : SUCCESS;
}

EXPORT_CALL(cuEventSynchronize, (void *handle), (handle), IN_CONTEXT | NOT_IN_CAPTURE) {
    const event *e = find_event(handle);
    counts.waits++;
    if (!e || e->capture) {
        return e ? CAPTURED_EVENT : INVALID_HANDLE;
    }
    return finish_event(e, e->recorded);
}

/* A microsecond a piece of work: there is no clock to go by. */
EXPORT_CALL(cuEventElapsedTime_v2, (float *out, void *from, void *to), (out, from, to),
            IN_CONTEXT) {
    const event *a = find_event(from), *b = find_event(to);
    bool is_good = a && b && a->recorded && b->recorded &&
                   !((a->flags | b->flags) & NO_TIMING);
    if (!is_good) {
        return INVALID_HANDLE;
    }
    *out = 0.001F * (float)(int64_t)(b->time - a->time);
    return a->done < a->recorded || b->done < b->recorded ? NOT_READY : SUCCESS;
}

EXPORT_CALL(cuEventElapsedTime, (float *out, void *from, void *to), (out, from, to),
            IN_CONTEXT) {
    return do_cuEventElapsedTime_v2(out, from, to);
}
