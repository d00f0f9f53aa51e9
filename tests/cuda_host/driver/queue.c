/* Streams, and the order in which their work is done.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is done when it is asked for.  When something waits, pieces of work are drawn
 * among those that may be done, until what it waits for is.
 */
#include "state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STREAMS = 256 };

static uint64_t orders; /* pieces of work so far */
static uint64_t time_now;
static atomic_int holders;

__attribute__((visibility("default"))) void stand_in_hold(int change);
void stand_in_hold(int change) {
    atomic_fetch_add(&holders, change);
}

bool is_held(void) {
    return atomic_load(&holders) > 0;
}

/* ---- streams ---- */

stream *make_stream(context *in, unsigned flags) {
    stream *s = make_object(OBJECT_STREAM, sizeof *s, in);
    if (s) {
        s->flags = flags;
        s->last = &s->first;
    }
    return s;
}

void drop_stream(stream *s) {
    while (s->first) {
        work *w = s->first;
        s->first = w->next;
        free_work(w);
    }
    drop_capture(s);
    free(s->frontier);
    drop_object(s);
}

stream *find_stream(const void *handle) {
    bool is_null = handle == NULL || handle == (const void *)1; /* CU_STREAM_LEGACY */
    return is_null ? current_context()->null_stream : find_ours(OBJECT_STREAM, handle);
}

bool is_idle(const stream *s) {
    return s->first == NULL;
}

int enqueue(stream *s, const work *w) {
    if (s->capture) {
        return capture_work(s, w);
    }
    if (is_capturing() && s == s->base.context->null_stream) {
        break_captures();
        return CAPTURE_IMPLICIT;
    }
    work *kept = malloc(sizeof *kept);
    if (!kept) {
        return OUT_OF_MEMORY;
    }
    *kept = *w;
    kept->next = NULL;
    kept->context = s->base.context;
    kept->order = ++orders;
    *s->last = kept;
    s->last = &kept->next;
    return SUCCESS;
}

void release_event(event *e) {
    if (--e->users == 0) {
        free(e->frontier);
        drop_object(e);
    }
}

void free_work(work *w) {
    if (w->event) {
        release_event(w->event);
    }
    if (w->graph) {
        release_graph(w->graph);
    }
    free(w->staged);
    free(w->arguments);
    free(w->is_done);
    free(w);
}

/* ---- order ---- */

/* The null stream and those that wait for it: what was asked for first is done
 * first. */
static bool is_before_null(const stream *s) {
    const context *c = s->base.context;
    if (s != c->null_stream) {
        const work *first = c->null_stream->first;
        return s->flags & NON_BLOCKING || !first || first->order > s->first->order;
    }
    for (const object *o = objects; o; o = o->next) {
        const stream *other = (const stream *)(const void *)o;
        bool is_other = o->kind == OBJECT_STREAM && o->context == c && other != s &&
                        !(other->flags & NON_BLOCKING);
        if (is_other && other->first && other->first->order < s->first->order) {
            return false;
        }
    }
    return true;
}

static bool is_ready(const stream *s) {
    const work *w = s->first;
    bool waits = w && w->kind == WORK_WAIT && w->event->done < w->turn;
    return w && !waits && is_before_null(s);
}

static void drop_first(stream *s) {
    work *w = s->first;
    s->first = w->next;
    if (!s->first) {
        s->last = &s->first;
    }
    free_work(w);
}

void fail_context(context *c, int error) {
    c->error = error;
    counts.faults++;
    for (object *o = objects; o; o = o->next) {
        if (o->context == c && o->kind == OBJECT_STREAM) {
            while (((stream *)(void *)o)->first) {
                drop_first((stream *)(void *)o);
            }
        }
    }
}

static void do_first(stream *s) {
    work *w = s->first;
    context *c = w->context;
    int error = SUCCESS;
    if (w->kind == WORK_GRAPH && step_graph(w, &error) && !error) {
        return; /* there is more of it */
    }
    if (w->kind == WORK_RECORD) {
        w->event->done = w->turn > w->event->done ? w->turn : w->event->done;
        w->event->time = time_now;
    } else if (w->kind != WORK_WAIT && w->kind != WORK_GRAPH) {
        error = do_work(w);
    }
    drop_first(s);
    if (error) {
        fail_context(c, error);
    }
}

bool step(void) {
    stream *ready[MAX_STREAMS];
    unsigned count = 0;
    if (is_held()) {
        return false;
    }
    for (object *o = objects; o && count < MAX_STREAMS; o = o->next) {
        if (o->kind == OBJECT_STREAM && is_ready((stream *)(void *)o)) {
            ready[count++] = (stream *)(void *)o;
        }
    }
    if (count == 0) {
        return false;
    }
    time_now++;
    do_first(ready[choose(count)]);
    return true;
}

/* ---- waiting ---- */

/* One step further; false where nobody will ever do what is waited for. */
static bool go_on(void) {
    if (step()) {
        return true;
    }
    if (is_held()) {
        usleep(500);
        return true;
    }
    say("what is waited for will never be done");
    return false;
}

int finish_stream(stream *s) {
    while (!is_idle(s)) {
        if (!go_on()) {
            return UNKNOWN;
        }
    }
    while (is_held()) {
        usleep(500);
    }
    return s->base.context->error;
}

int finish_event(const event *e, uint64_t turn) {
    const context *c = e->base.context;
    while (e->done < turn && !c->error) {
        if (!go_on()) {
            return UNKNOWN;
        }
    }
    return c->error;
}

int finish_all(const context *c) {
    for (object *o = objects; o; o = o->next) {
        if (o->kind == OBJECT_STREAM && o->context == c) {
            int error = finish_stream((stream *)(void *)o);
            if (error) {
                return error;
            }
        }
    }
    return c->error;
}
