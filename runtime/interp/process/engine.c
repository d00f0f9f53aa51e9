/* CPython in a process of its own: the same calls, and a crash that harms nobody else.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tensors are copied into memory that both processes see, and results out of it.  A
 * child that ended is begun anew by the next job, with the paths and sources that it
 * was given; objects that it had are gone, and say so.
 */
#include "runtime/interp/process/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

IG_PRINTF(3, 4)
static void fail_job(ig_engine_job *job, ig_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    job->status = status;
    if (job->message && job->message_size > 0) {
        (void)vsnprintf(job->message, job->message_size, format, args);
    }
    va_end(args);
}

/* An object of the child, and which child it was. */
typedef struct process_object {
    ig_interp_object head; /* reference: its number */
    uint64_t generation;
} process_object;

static int64_t number_of(const ig_interp_object *object) {
    return (int64_t)(intptr_t)object->reference;
}

static int64_t object_id(void *user, const ig_interp_object *object) {
    const process *p = user;
    return ((const process_object *)object)->generation == p->generation
               ? number_of(object)
               : -1;
}

static void put_job(process *p, const ig_engine_job *job, ig_wire_work work,
                    int64_t object) {
    ig_wire_begin(&p->request);
    ig_wire_put_number(&p->request, work);
    ig_wire_put_number(&p->request, job->deadline_ns);
    ig_wire_put_text(&p->request, job->source);
    ig_wire_put_text(&p->request, job->name);
    ig_wire_put_text(&p->request, job->module);
    ig_wire_put_number(&p->request, object);
}

static bool put_arguments(process *p, const ig_interp_arguments *arguments,
                          ig_wire_names *names) {
    bool is_good = true;
    ig_wire_put_number(&p->request, (int64_t)arguments->count);
    for (size_t i = 0; i < arguments->count && is_good; i++) {
        is_good = ig_wire_put_value(&p->request, &arguments->values[i], names);
    }
    ig_wire_put_number(&p->request, (int64_t)arguments->named_count);
    for (size_t i = 0; i < arguments->named_count && is_good; i++) {
        ig_wire_put_text(&p->request, arguments->names[i]);
        is_good = ig_wire_put_value(&p->request, &arguments->named[i], names);
    }
    return is_good;
}

/* ---- results ---- */

typedef struct process_result {
    ig_interp_result head;
    ig_wire_memory *memory;
} process_result;

typedef struct result_maker {
    const ig_engine_job *job;
    const process *p;
    ig_wire_reader *reader;
} result_maker;

static ig_interp_object *make_result_object(void *user, int64_t id) {
    const result_maker *maker = user;
    process_object *made = ig_wire_keep(&maker->reader->memory, sizeof *made);
    if (made) {
        *made = (process_object){ { maker->job->interp, (void *)(intptr_t)id },
                                  maker->p->generation };
    }
    return made ? &made->head : NULL;
}

static void read_result(process *p, ig_engine_job *job, ig_wire_reader *reader) {
    process_result *result = calloc(1, sizeof *result);
    result_maker maker = { job, p, reader };
    ig_wire_finder finder = { .user = &maker,
                              .object = make_result_object,
                              .copies = true };
    if (!result || !ig_wire_get_value(reader, &finder, &result->head.value)) {
        ig_wire_free(reader->memory);
        free(result);
        fail_job(job, IG_LIMIT, "the result cannot be read, or there is no memory");
        return;
    }
    result->head.interp = job->interp;
    result->memory = reader->memory;
    job->result = &result->head;
}

static void read_outcome(process *p, ig_engine_job *job) {
    ig_wire_reader reader = { .data = p->response.data, .size = p->response.size };
    int64_t status = ig_wire_get_number(&reader);
    const char *message = ig_wire_get_text(&reader);
    int64_t made = ig_wire_get_number(&reader);
    bool has_result = ig_wire_get_number(&reader) != 0;
    if (reader.has_failed || !message || status < IG_OK || status > IG_INTERNAL) {
        process_end(p);
        fail_job(job, IG_INTERNAL, "the interpreter's process gave no answer");
        return;
    }
    job->status = (ig_status)status;
    if (status != IG_OK) {
        fail_job(job, job->status, "%s", message);
    }
    if (made >= 0) {
        process_object *object = calloc(1, sizeof *object);
        if (!object) {
            fail_job(job, IG_LIMIT, "no memory for an object");
            return;
        }
        *object = (process_object){ { job->interp, (void *)(intptr_t)made },
                                    p->generation };
        job->made_object = &object->head;
    }
    if (has_result) {
        read_result(p, job, &reader);
    }
}

/* ---- tensors that the call changed ---- */

static void copy_changes(const ig_interp_value *now, const ig_interp_value *given) {
    if (now->kind == IG_INTERP_TENSOR) {
        size_t size = now->as.tensor.capacity;
        if (size > 0 && memcmp(given->as.tensor.data, now->as.tensor.data, size) != 0) {
            memcpy(given->as.tensor.data, now->as.tensor.data, size);
        }
    }
    bool is_nested = now->kind == IG_INTERP_LIST || now->kind == IG_INTERP_TUPLE ||
                     now->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_nested && i < now->as.list.count; i++) {
        copy_changes(&now->as.list.items[i], &given->as.list.items[i]);
    }
}

static ig_interp_object *any_object(void *user, int64_t id) {
    (void)id;
    return user;
}

static ig_shared *any_shared(void *user, int64_t index) {
    (void)index;
    return user;
}

/* Written data is read again: the child's Python sees tensors in place. */
static void take_changes(process *p, const ig_interp_arguments *arguments,
                         size_t start) {
    ig_wire_reader reader = { .data = p->request.data,
                              .size = p->request.size,
                              .at = start };
    ig_wire_finder finder = { .user = p, .object = any_object, .shared = any_shared };
    ig_interp_value now;
    (void)ig_wire_get_number(&reader);
    for (size_t i = 0; i < arguments->count; i++) {
        if (ig_wire_get_value(&reader, &finder, &now)) {
            copy_changes(&now, &arguments->values[i]);
        }
    }
    (void)ig_wire_get_number(&reader);
    for (size_t i = 0; i < arguments->named_count; i++) {
        (void)ig_wire_get_text(&reader);
        if (ig_wire_get_value(&reader, &finder, &now)) {
            copy_changes(&now, &arguments->named[i]);
        }
    }
    ig_wire_free(reader.memory);
}

/* ---- jobs ---- */

/* Sends the message that was put, and awaits the answer. */
static void exchange_messages(process *p, ig_engine_job *job,
                              const ig_wire_names *names) {
    char why[160];
    if (p->request.has_failed) {
        fail_job(job, IG_LIMIT, "no memory to pass the arguments");
        return;
    }
    ig_status status = process_ask(p, job->deadline_ns, names, why, sizeof why);
    if (status != IG_OK) {
        fail_job(job, status, "%s", why);
        return;
    }
    read_outcome(p, job);
}

/* Begins a child where there is none, and repeats the last one's settings. */
static bool revive_child(process *p, ig_engine_job *job) {
    if (p->is_up) {
        return true;
    }
    char why[4096];
    ig_status status = process_begin(p, why, sizeof why);
    if (status != IG_OK) {
        fail_job(job, status, "%s", why);
        return false;
    }
    for (const process_fact *fact = p->facts; fact && p->is_up; fact = fact->next) {
        ig_engine_job given = { .source = fact->source,
                                .name = fact->name,
                                .module = fact->module,
                                .message = job->message,
                                .message_size = job->message_size };
        put_job(p, &given, fact->work, -1);
        exchange_messages(p, &given, NULL);
        if (given.status != IG_OK) {
            job->status = given.status;
            return false;
        }
    }
    return p->is_up;
}

static bool has_object(const process *p, ig_engine_job *job) {
    if (!job->object || object_id((void *)(uintptr_t)p, job->object) >= 0) {
        return true;
    }
    fail_job(job, IG_INVALID, "the object is gone: its process has ended");
    return false;
}

static void do_job(ig_engine_job *job, ig_wire_work work) {
    process *p = job->state;
    if (revive_child(p, job) && has_object(p, job)) {
        put_job(p, job, work, job->object ? number_of(job->object) : -1);
        exchange_messages(p, job, NULL);
    }
}

/* The settings for later children, too. */
static void do_and_note(ig_engine_job *job, ig_wire_work work) {
    do_job(job, work);
    if (job->status == IG_OK && !process_note(job->state, work, job)) {
        fail_job(job, IG_LIMIT, "no memory to pass work to an interpreter");
    }
}

static void add_path(ig_engine_job *job) {
    do_and_note(job, IG_WIRE_PATH);
}

/* Of the children from now on; the one that is up has run nothing yet. */
static void set_budgets(ig_engine_job *job) {
    process *p = job->state;
    if (job->instructions || (job->memory && !job->is_confined)) {
        fail_job(job, IG_UNSUPPORTED,
                 "interpreters of 'process' have no budgets but the memory of those "
                 "that are confined");
    } else if (job->is_confined) {
        process_end(p);
        p->is_confined = true;
        p->memory = job->memory;
    }
}

static void wrap_tensors(ig_engine_job *job) {
    do_and_note(job, IG_WIRE_WRAP);
}

static void add_source(ig_engine_job *job) {
    do_and_note(job, IG_WIRE_SOURCE);
}

static void run_source(ig_engine_job *job) {
    do_job(job, IG_WIRE_RUN);
}

static void find_global(ig_engine_job *job) {
    do_job(job, IG_WIRE_GLOBAL);
}

static void find_attribute(ig_engine_job *job) {
    do_job(job, IG_WIRE_ATTRIBUTE);
}

static void read_object(ig_engine_job *job) {
    do_job(job, IG_WIRE_READ);
}

static void keep_object(ig_engine_job *job) {
    do_job(job, IG_WIRE_KEEP);
}

static void invoke_object(ig_engine_job *job) {
    process *p = job->state;
    int files[IG_WIRE_FILES_MAX];
    ig_wire_names names = { .user = p, .id_of = object_id, .files = files };
    if (!revive_child(p, job) || !has_object(p, job)) {
        return;
    }
    put_job(p, job, job->wants_object ? IG_WIRE_MAKE : IG_WIRE_INVOKE,
            number_of(job->object));
    size_t start = p->request.size;
    if (!put_arguments(p, job->arguments, &names)) {
        fail_job(
            job, IG_INVALID,
            "an argument cannot be passed: an object whose process has ended, a tensor without data, or a value that is nested too deep");
        return;
    }
    exchange_messages(p, job, &names);
    if (p->is_up) {
        take_changes(p, job->arguments, start);
    }
}

/* Nothing is begun for it. */
static void free_id(process *p, const ig_interp_object *object) {
    ig_engine_job job = { .status = IG_OK };
    if (p->is_up && object_id(p, object) >= 0) {
        put_job(p, &job, IG_WIRE_FREE, number_of(object));
        exchange_messages(p, &job, NULL);
    }
}

static void free_object(ig_engine_job *job) {
    free_id(job->state, job->object);
    free((void *)(uintptr_t)job->object);
}

static void free_objects_of(process *p, const ig_interp_value *value) {
    if (value->kind == IG_INTERP_OBJECT) {
        free_id(p, value->as.object);
    }
    bool is_nested = value->kind == IG_INTERP_LIST || value->kind == IG_INTERP_TUPLE ||
                     value->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_nested && i < value->as.list.count; i++) {
        free_objects_of(p, &value->as.list.items[i]);
    }
}

static void free_result(ig_engine_job *job) {
    process_result *result = (process_result *)job->result;
    free_objects_of(job->state, &result->head.value);
    ig_wire_free(result->memory);
    free(result);
}

static bool is_alive(void *state, const ig_interp_object *object) {
    const process *p = state;
    return p->is_up && object_id(state, object) >= 0;
}

/* ---- life cycle ---- */

static void stop_engine(void *state) {
    process_free(state);
}

static int start_engine(ig_mailbox *box) {
    process *made = process_make();
    if (!made) {
        return -1;
    }
    if (!revive_child(made, box->job)) {
        process_free(made);
        return 0;
    }
    box->job->state = made;
    return 0;
}

static const ig_engine engine = {
    .abi = IG_ENGINE_ABI,
    .name = "process",
    .has_packages = true,
    .start = start_engine,
    .stop = stop_engine,
    .configure = add_path,
    .wrap_tensors = wrap_tensors,
    .set_budgets = set_budgets,
    .add_source = add_source,
    .run = run_source,
    .find_global = find_global,
    .find_attribute = find_attribute,
    .invoke = invoke_object,
    .read = read_object,
    .keep = keep_object,
    .is_alive = is_alive,
    .free_object = free_object,
    .free_result = free_result,
};

IG_API ig_engine_entry ig_interp_engine;

const ig_engine *ig_interp_engine(void) {
    return &engine;
}
