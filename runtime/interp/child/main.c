/* ingot-interp-child: one interpreter in a process of its own, for libingot-interp.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It reads jobs from descriptors that it is begun with (wire.h), has the engine do
 * them, and answers.  It ends when its parent closes the socket or ends.
 */
#include "base/confine/confine.h"
#include "runtime/interp/host.h"
#include "runtime/interp/wire/wire.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 1 << 14 };

typedef struct child {
    ig_interp_manager manager; /* of the one interpreter */
    ig_interp *interp;
    ig_wire request, response;
    ig_interp_object **objects; /* by number; NULL: freed */
    size_t object_count;
    int files[IG_WIRE_FILES_MAX]; /* of this job's shared memory */
    ig_shared *shared[IG_WIRE_FILES_MAX];
    size_t file_count;
    char message[MESSAGE_BYTES];
} child;

/* A job, and what came of it. */
typedef struct task {
    ig_wire_work work;
    ig_interp_call how;
    const char *source, *name, *module;
    ig_interp_object *object;
    ig_interp_value *values, *named;
    const char **names;
    ig_interp_arguments arguments;
    ig_status status;
    ig_interp_object *made;
    ig_interp_result *result;
} task;

/* ---- objects and memory by number ---- */

static int64_t list_object(child *c, ig_interp_object *object) {
    size_t at = 0;
    while (at < c->object_count && c->objects[at]) {
        at++;
    }
    if (at == c->object_count) {
        size_t count = 2 * c->object_count + 16;
        ig_interp_object **grown = realloc(c->objects, count * sizeof *grown);
        if (!grown) {
            return -1;
        }
        memset(grown + c->object_count, 0, (count - c->object_count) * sizeof *grown);
        c->objects = grown;
        c->object_count = count;
    }
    c->objects[at] = object;
    return (int64_t)at;
}

static ig_interp_object *object_at(void *user, int64_t id) {
    child *c = user;
    return id >= 0 && (size_t)id < c->object_count ? c->objects[id] : NULL;
}

/* Of a result: the number that the parent knows it by, from now on. */
static int64_t number_result(void *user, const ig_interp_object *object) {
    child *c = user;
    ig_interp_object *kept = NULL;
    return ig_interp_keep(c->interp, NULL, object, &kept) == IG_OK
               ? list_object(c, kept)
               : -1;
}

static ig_shared *shared_at(void *user, int64_t index) {
    child *c = user;
    if (index < 0 || (size_t)index >= c->file_count) {
        return NULL;
    }
    if (!c->shared[index] &&
        ig_shared_open(c->files[index], &c->shared[index]) == IG_OK) {
        c->files[index] = -1; /* taken over */
    }
    return c->shared[index];
}

static void drop_shared(child *c) {
    for (size_t i = 0; i < c->file_count; i++) {
        ig_shared_drop(c->shared[i]);
        c->shared[i] = NULL;
        if (c->files[i] >= 0) {
            (void)close(c->files[i]);
        }
    }
    c->file_count = 0;
}

/* ---- reading a job ---- */

static size_t read_count(ig_wire_reader *reader) {
    int64_t count = ig_wire_get_number(reader);
    reader->has_failed |= count < 0 || (size_t)count > reader->size;
    return reader->has_failed ? 0 : (size_t)count;
}

static void read_arguments(child *c, ig_wire_reader *reader, task *t) {
    ig_wire_finder finder = { .user = c, .object = object_at, .shared = shared_at };
    size_t count = read_count(reader);
    t->values = ig_wire_keep(&reader->memory, (count + 1) * sizeof *t->values);
    for (size_t i = 0; t->values && i < count && !reader->has_failed; i++) {
        reader->has_failed = !ig_wire_get_value(reader, &finder, &t->values[i]);
    }
    size_t named = read_count(reader);
    t->named = ig_wire_keep(&reader->memory, (named + 1) * sizeof *t->named);
    t->names = ig_wire_keep(&reader->memory, (named + 1) * sizeof *t->names);
    for (size_t i = 0; t->named && t->names && i < named && !reader->has_failed; i++) {
        t->names[i] = ig_wire_get_text(reader);
        reader->has_failed |= !t->names[i] ||
                              !ig_wire_get_value(reader, &finder, &t->named[i]);
    }
    reader->has_failed |= !t->values || !t->named || !t->names;
    t->arguments = (ig_interp_arguments){ t->values, count, t->names, t->named, named };
}

static bool read_task(child *c, ig_wire_reader *reader, task *t) {
    int64_t work = ig_wire_get_number(reader);
    t->work = (ig_wire_work)work;
    t->how = (ig_interp_call){ .size = sizeof t->how,
                               .message = c->message,
                               .message_size = sizeof c->message };
    t->how.deadline_ns = ig_wire_get_number(reader);
    t->source = ig_wire_get_text(reader);
    t->name = ig_wire_get_text(reader);
    t->module = ig_wire_get_text(reader);
    int64_t id = ig_wire_get_number(reader);
    t->object = object_at(c, id);
    if (t->work == IG_WIRE_INVOKE || t->work == IG_WIRE_MAKE) {
        read_arguments(c, reader, t);
    }
    if (t->work == IG_WIRE_FREE && t->object) {
        c->objects[id] = NULL;
    }
    return !reader->has_failed && work >= 0 && work < IG_WIRE_WORKS;
}

/* ---- doing it ---- */

static ig_status configure_interp(child *c, const task *t,
                                  void (*work)(ig_engine_job *job)) {
    ig_engine_job job = { .source = t->source, .name = t->name, .module = t->module };
    return ig_interp_do(c->interp, &t->how, work, &job);
}

static void do_task(child *c, task *t) {
    const ig_engine *engine = c->interp->engine;
    c->message[0] = '\0';
    switch (t->work) {
    case IG_WIRE_PATH:
        t->status = configure_interp(c, t, engine->configure);
        return;
    case IG_WIRE_WRAP:
        t->status = configure_interp(c, t, engine->wrap_tensors);
        return;
    case IG_WIRE_SOURCE:
        t->status = configure_interp(c, t, engine->add_source);
        return;
    case IG_WIRE_RUN:
        t->status = ig_interp_run(c->interp, &t->how, t->source, t->name);
        return;
    case IG_WIRE_GLOBAL:
        t->status = ig_interp_global(c->interp, &t->how, t->module, t->name, &t->made);
        return;
    case IG_WIRE_ATTRIBUTE:
        t->status = ig_interp_attribute(c->interp, &t->how, t->object, t->name,
                                        &t->made);
        return;
    case IG_WIRE_INVOKE:
        t->status = ig_interp_invoke(c->interp, &t->how, t->object, &t->arguments,
                                     &t->result);
        return;
    case IG_WIRE_MAKE:
        t->status = ig_interp_make(c->interp, &t->how, t->object, &t->arguments,
                                   &t->made);
        return;
    case IG_WIRE_READ:
        t->status = ig_interp_read(c->interp, &t->how, t->object, &t->result);
        return;
    case IG_WIRE_KEEP:
        t->status = ig_interp_keep(c->interp, &t->how, t->object, &t->made);
        return;
    case IG_WIRE_FREE:
        ig_interp_object_free(t->object);
        return;
    case IG_WIRE_WORKS:
        break;
    }
    t->status = IG_INTERNAL;
}

/* ---- answering ---- */

static void put_outcome(child *c, const task *t, int64_t made) {
    ig_wire_begin(&c->response);
    ig_wire_put_number(&c->response, (int64_t)t->status);
    ig_wire_put_text(&c->response, c->message);
    ig_wire_put_number(&c->response, made);
    ig_wire_put_number(&c->response, t->result != NULL);
}

static bool send_answer(child *c, task *t) {
    int64_t made = t->made ? list_object(c, t->made) : -1;
    ig_wire_names names = { .user = c, .id_of = number_result };
    put_outcome(c, t, made);
    bool is_good = !t->result ||
                   ig_wire_put_value(&c->response, ig_interp_result_value(t->result),
                                     &names);
    ig_interp_result_free(t->result);
    if (!is_good || c->response.has_failed) {
        t->result = NULL;
        t->status = IG_LIMIT;
        (void)snprintf(
            c->message, sizeof c->message,
            "the result is nested too deep, or there is no memory to pass it");
        put_outcome(c, t, made);
    }
    return !c->response.has_failed &&
           ig_wire_send(IG_WIRE_SOCKET, c->response.size, NULL, 0);
}

static bool serve_one(child *c) {
    size_t size;
    task t = { .status = IG_OK };
    if (!ig_wire_receive(IG_WIRE_SOCKET, &size, c->files, &c->file_count) ||
        !ig_wire_view(&c->request, size)) {
        return false;
    }
    ig_wire_reader reader = { .data = c->request.data, .size = size };
    if (read_task(c, &reader, &t)) {
        do_task(c, &t);
    } else {
        t.status = IG_INTERNAL;
        (void)snprintf(c->message, sizeof c->message, "a job that cannot be read");
    }
    drop_shared(c);
    bool goes_on = send_answer(c, &t);
    ig_wire_free(reader.memory);
    return goes_on;
}

/* ---- the process ---- */

/* Ends the process with its parent, whatever Python does then. */
static void *watch_parent(void *unused) {
    struct pollfd socket = { .fd = IG_WIRE_SOCKET, .events = POLLRDHUP };
    (void)unused;
    while (poll(&socket, 1, -1) < 0 || (socket.revents & (POLLRDHUP | POLLHUP)) == 0) {
    }
    _exit(0);
}

/* Gives up rights that a confined child never uses; it has no other thread yet. */
static void confine_self(child *c, const char *memory) {
    char why[128];
    task first = { .status = IG_UNSUPPORTED };
    if (!ig_confine_reader(strtoull(memory, NULL, 10), why)) {
        (void)snprintf(c->message, sizeof c->message, "the interpreter's process %s",
                       why);
        (void)send_answer(c, &first);
        _exit(1);
    }
}

static void start_interp(child *c) {
    task first = { .status = IG_OK };
    ig_interp_call how = { .size = sizeof how,
                           .message = c->message,
                           .message_size = sizeof c->message };
    first.status = ig_interp_begin(&how, "cpython", true, &c->interp);
    if (c->interp) {
        c->interp->manager = &c->manager;
    }
    if (!send_answer(c, &first) || first.status != IG_OK) {
        _exit(1);
    }
}

int main(int count, char **arguments) {
    pthread_t watcher;
    child *c = calloc(1, sizeof *c);
    bool is_confined = count == 3;
    if (!c || count < 2 || count > 3 || strcmp(arguments[1], "--serve") != 0) {
        fputs("ingot-interp-child: libingot-interp begins this program\n", stderr);
        return 2;
    }
    (void)signal(SIGINT, SIG_IGN); /* the parent's to decide */
    c->request.file = IG_WIRE_REQUEST;
    c->response.file = IG_WIRE_RESPONSE;
    if (is_confined) {
        confine_self(c, arguments[2]);
    }
    if (pthread_create(&watcher, NULL, watch_parent, NULL) != 0) {
        return 1;
    }
    start_interp(c);
    while (serve_one(c)) {
    }
    _exit(0);
}
