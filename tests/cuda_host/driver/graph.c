/* Captures and graphs.  SPDX-License-Identifier: Apache-2.0
 *
 * A stream in a capture makes nodes instead of work.  Its frontier is the nodes that
 * the next one comes after; an event that is recorded takes it along, and a stream that
 * waits for the event adds it to its own.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OF_ALL_THREADS, OF_THIS_THREAD, RELAXED }; /* CUstreamCaptureMode */

bool is_capturing(void) {
    for (object *o = objects; o; o = o->next) {
        const capture *c = o->kind == OBJECT_STREAM ? ((stream *)(void *)o)->capture
                                                    : NULL;
        bool counts_here = c && (c->mode == OF_ALL_THREADS ||
                                 (c->mode == OF_THIS_THREAD && c->thread == gettid()));
        if (counts_here) {
            return true;
        }
    }
    return false;
}

void break_captures(void) {
    for (object *o = objects; o; o = o->next) {
        if (o->kind == OBJECT_STREAM && ((stream *)(void *)o)->capture) {
            ((stream *)(void *)o)->capture->is_broken = true;
        }
    }
}

/* ---- graphs ---- */

static void *copy_bytes(const void *bytes, size_t size) {
    void *copy = bytes ? malloc(size + 1) : NULL;
    return copy ? memcpy(copy, bytes, size) : NULL;
}

/* Takes what `w` owns. */
static node *add_node(graph *g, const work *w, const bool *after) {
    if (g->count == MAX_NODES) {
        return NULL;
    }
    node *n = make_object(OBJECT_NODE, sizeof *n, NULL);
    n->work = *w;
    n->index = g->count;
    n->after = copy_bytes(after, MAX_NODES);
    g->nodes = realloc(g->nodes, (g->count + 1) * sizeof *g->nodes);
    g->nodes[g->count++] = n;
    return n;
}

static graph *make_graph(void) {
    graph *g = make_object(OBJECT_GRAPH, sizeof *g, NULL);
    g->users = 1;
    return g;
}

static graph *copy_graph(const graph *from) {
    graph *g = make_graph();
    for (unsigned i = 0; i < from->count; i++) {
        work w = from->nodes[i]->work;
        w.arguments = copy_bytes(w.arguments, w.argument_bytes);
        w.staged = copy_bytes(w.staged, w.size);
        add_node(g, &w, from->nodes[i]->after);
    }
    return g;
}

void release_graph(graph *g) {
    if (--g->users > 0) {
        return;
    }
    for (unsigned i = 0; i < g->count; i++) {
        free(g->nodes[i]->work.arguments);
        free(g->nodes[i]->work.staged);
        free(g->nodes[i]->after);
        drop_object(g->nodes[i]);
    }
    free(g->nodes);
    drop_object(g);
}

static bool may_be_done(const work *w, unsigned i) {
    const node *n = w->graph->nodes[i];
    for (unsigned k = 0; k < w->graph->count; k++) {
        if (n->after[k] && !w->is_done[k]) {
            return false;
        }
    }
    return !w->is_done[i];
}

bool step_graph(work *w, int *out_error) {
    unsigned ready[MAX_NODES], count = 0;
    *out_error = SUCCESS;
    for (unsigned i = 0; i < w->graph->count; i++) {
        ready[count] = i;
        count += may_be_done(w, i);
    }
    if (count == 0) {
        return false;
    }
    unsigned chosen = ready[draw(count)];
    w->is_done[chosen] = true;
    *out_error = do_work(&w->graph->nodes[chosen]->work);
    return --w->left > 0;
}

/* ---- captures ---- */

int capture_work(stream *s, const work *w) {
    capture *c = s->capture;
    if (c->is_broken) {
        return CAPTURE_INVALIDATED;
    }
    if (w->kind == WORK_OPEN || w->kind == WORK_CLOSE || w->kind == WORK_GRAPH) {
        c->is_broken = true;
        return CAPTURE_UNSUPPORTED; /* the real one takes some of these */
    }
    const node *n = add_node(c->graph, w, s->frontier);
    if (!n) {
        return OUT_OF_MEMORY;
    }
    memset(s->frontier, 0, MAX_NODES);
    s->frontier[n->index] = true;
    return SUCCESS;
}

int capture_record(stream *s, event *e) {
    free(e->frontier);
    e->capture = s->capture;
    e->frontier = copy_bytes(s->frontier, MAX_NODES);
    return s->capture->is_broken ? CAPTURE_INVALIDATED : SUCCESS;
}

int capture_wait(stream *s, const event *e) {
    if (!e->capture || (s->capture && s->capture != e->capture)) {
        s->capture->is_broken = true;
        return CAPTURE_MERGE;
    }
    if (!s->capture) {
        s->capture = e->capture;
        s->capture->streams++;
        s->frontier = calloc(MAX_NODES, 1);
    }
    for (unsigned i = 0; i < MAX_NODES; i++) {
        s->frontier[i] |= e->frontier[i];
    }
    return SUCCESS;
}

EXPORT_CALL(cuStreamBeginCapture_v2, (void *handle, int mode), (handle, mode),
            IN_CONTEXT) {
    stream *s = find_stream(handle);
    if (!s || mode < 0 || mode > RELAXED) {
        return s ? INVALID_VALUE : INVALID_HANDLE;
    }
    if (s == s->base.context->null_stream || s->capture) {
        return s->capture ? INVALID_VALUE : CAPTURE_UNSUPPORTED;
    }
    counts.captures++;
    s->capture = calloc(1, sizeof *s->capture);
    *s->capture =
        (capture){ .graph = make_graph(), .origin = s, .mode = mode, .streams = 1 };
    s->capture->thread = gettid();
    s->frontier = calloc(MAX_NODES, 1);
    return SUCCESS;
}

/* Does the origin come after all nodes? */
static bool is_joined(const capture *c) {
    bool reached[MAX_NODES];
    memcpy(reached, c->origin->frontier, MAX_NODES);
    bool is_all = true;
    for (unsigned i = c->graph->count; i-- > 0;) {
        is_all = is_all && reached[i];
        for (unsigned k = 0; k < i && reached[i]; k++) {
            reached[k] |= c->graph->nodes[i]->after[k];
        }
    }
    return is_all;
}

static void leave_capture(capture *c) {
    for (object *o = objects; o; o = o->next) {
        stream *s = (stream *)(void *)o;
        event *e = (event *)(void *)o;
        if (o->kind == OBJECT_STREAM && s->capture == c) {
            s->capture = NULL;
            free(s->frontier);
            s->frontier = NULL;
        } else if (o->kind == OBJECT_EVENT && e->capture == c) {
            e->capture = NULL;
        }
    }
}

void drop_capture(const stream *s) {
    capture *c = s->capture;
    if (c && c->origin == s) {
        leave_capture(c);
        release_graph(c->graph);
        free(c);
    }
}

EXPORT_CALL(cuStreamEndCapture, (void *handle, void **out_graph), (handle, out_graph),
            IN_CONTEXT) {
    stream *s = find_stream(handle);
    capture *c = s ? s->capture : NULL;
    *out_graph = NULL;
    if (!c || c->origin != s) {
        return c ? CAPTURE_UNMATCHED : INVALID_VALUE;
    }
    int error = c->is_broken   ? CAPTURE_INVALIDATED
                : is_joined(c) ? SUCCESS
                               : CAPTURE_UNJOINED;
    leave_capture(c);
    if (error) {
        release_graph(c->graph);
    } else {
        *out_graph = c->graph;
    }
    free(c);
    return error;
}

EXPORT_CALL(cuStreamIsCapturing, (void *handle, int *out_state), (handle, out_state),
            IN_CONTEXT) {
    const stream *s = find_stream(handle);
    *out_state = !s || !s->capture ? 0 : s->capture->is_broken ? 2 : 1;
    return s ? SUCCESS : INVALID_HANDLE;
}

EXPORT_CALL(cuThreadExchangeStreamCaptureMode, (int *mode), (mode), STARTED) {
    static _Thread_local int current;
    int before = current;
    current = *mode;
    *mode = before;
    return SUCCESS;
}

/* ---- graphs of callers ---- */

EXPORT_CALL(cuGraphDestroy, (void *handle), (handle), STARTED) {
    graph *g = find_object(OBJECT_GRAPH, handle);
    if (g) {
        release_graph(g);
    }
    return g ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuGraphGetNodes, (void *handle, void **nodes, size_t *count),
            (handle, nodes, count), STARTED) {
    const graph *g = find_object(OBJECT_GRAPH, handle);
    for (size_t i = 0; g && nodes && i < *count && i < g->count; i++) {
        nodes[i] = g->nodes[i];
    }
    if (g) {
        *count = nodes && *count < g->count ? *count : g->count;
    }
    return g ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuGraphInstantiateWithFlags,
            (void **out_exec, void *handle, unsigned long long flags),
            (out_exec, handle, flags), IN_CONTEXT) {
    const graph *g = find_object(OBJECT_GRAPH, handle);
    (void)flags;
    exec *made = g ? make_object(OBJECT_EXEC, sizeof *made, current_context()) : NULL;
    if (made) {
        counts.instantiations++;
        made->graph = copy_graph(g);
        *out_exec = made;
    }
    return made ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuGraphExecDestroy, (void *handle), (handle), STARTED) {
    exec *e = find_object(OBJECT_EXEC, handle);
    if (e) {
        release_graph(e->graph);
        drop_object(e);
    }
    return e ? SUCCESS : INVALID_VALUE;
}

EXPORT_CALL(cuGraphLaunch, (void *handle, void *on), (handle, on), IN_CONTEXT) {
    exec *e = find_ours(OBJECT_EXEC, handle);
    stream *s = find_stream(on);
    if (!e || !s) {
        return INVALID_HANDLE;
    }
    counts.graph_launches++;
    for (unsigned i = 0; i < e->graph->count; i++) {
        count_work(&e->graph->nodes[i]->work, true);
    }
    work w = { .kind = WORK_GRAPH, .graph = e->graph, .left = e->graph->count };
    w.is_done = calloc(MAX_NODES, 1);
    e->graph->users++;
    int error = enqueue(s, &w);
    if (error) {
        e->graph->users--;
        free(w.is_done);
    }
    return error;
}

static bool is_same_form(const graph *a, const graph *b) {
    bool is_same = a->count == b->count;
    for (unsigned i = 0; is_same && i < a->count; i++) {
        const node *x = a->nodes[i], *y = b->nodes[i];
        is_same = x->work.kind == y->work.kind &&
                  !memcmp(x->after, y->after, MAX_NODES);
    }
    return is_same;
}

/* CUgraphExecUpdateResultInfo: 0 is success, 1 an error. */
typedef struct update_result {
    int result;
    void *node, *from;
} update_result;

EXPORT_CALL(cuGraphExecUpdate_v2, (void *handle, void *by, update_result *out),
            (handle, by, out), IN_CONTEXT) {
    exec *e = find_ours(OBJECT_EXEC, handle);
    const graph *g = find_object(OBJECT_GRAPH, by);
    if (!e || !g) {
        return INVALID_VALUE;
    }
    bool is_same = is_same_form(e->graph, g);
    *out = (update_result){ .result = !is_same };
    if (is_same) {
        release_graph(e->graph);
        e->graph = copy_graph(g);
    }
    return is_same ? SUCCESS : GRAPH_UPDATE_FAILURE;
}
