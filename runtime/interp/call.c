/* Calls: an interpreter is asked to work, and waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/host.h"

#include "base/platform/clock.h"
#include "base/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REPEAT_NS = 200000000 };

/* ---- jobs ---- */

ig_status ig_interp_call_take(const ig_interp_call *given, ig_interp_call *out_call) {
    *out_call = (ig_interp_call){ .size = sizeof *out_call };
    return ig_sized_take(out_call, sizeof *out_call, given)
               ? IG_OK
               : ig_interp_fail(given, IG_INVALID, IG_UNSIZED_WORDS, "ig_interp_call");
}

ig_status ig_interp_fail(const ig_interp_call *how, ig_status status,
                         const char *format, ...) {
    if (how->message && how->message_size > 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(how->message, how->message_size, format, args);
        va_end(args);
    }
    return status;
}

/* Waits for the job; past the deadline, asks the interpreter to stop, again and again
 * (code may catch the exception).  False: the deadline passed. */
static bool wait_for_job(ig_mailbox *box, int64_t deadline_ns) {
    bool is_in_time = true;
    int64_t until = deadline_ns;
    while (atomic_load(&box->state) == IG_MAIL_POSTED) {
        ig_futex_wait(&box->state, IG_MAIL_POSTED, until);
        if (until != 0 && ig_clock_ns() >= until &&
            atomic_load(&box->state) == IG_MAIL_POSTED) {
            is_in_time = false;
            atomic_store(&box->interrupt, 1);
            ig_futex_wake(&box->interrupt);
            until = ig_clock_ns() + REPEAT_NS;
        }
    }
    atomic_store(&box->interrupt, 0);
    return is_in_time;
}

/* True as above.  The engine's own thread does the job. */
static bool post_job(ig_interp *interp, ig_engine_job *job) {
    interp->box.job = job;
    atomic_store(&interp->box.state, IG_MAIL_POSTED);
    ig_futex_wake(&interp->box.state);
    bool is_in_time = wait_for_job(&interp->box, job->deadline_ns);
    atomic_store(&interp->box.state, IG_MAIL_IDLE);
    return is_in_time;
}

ig_status ig_interp_do(ig_interp *interp, const ig_interp_call *given,
                       void (*work)(ig_engine_job *), ig_engine_job *job) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    bool is_in_time = true;
    job->work = work;
    job->interp = interp;
    job->state = interp->state;
    job->message = how.message;
    job->message_size = how.message_size;
    job->deadline_ns = how.deadline_ns;
    job->status = IG_OK;
    (void)pthread_mutex_lock(&interp->post);
    if (interp->engine->has_owner) {
        is_in_time = post_job(interp, job);
    } else {
        work(job);
    }
    (void)pthread_mutex_unlock(&interp->post);
    return is_in_time || job->status == IG_OK ? job->status : IG_LIMIT;
}

/* ---- running ---- */

static ig_status check_owner(const ig_interp *interp, const ig_interp_call *given,
                             const ig_interp_object *object) {
    ig_interp_call how;
    IG_TRY(ig_interp_call_take(given, &how));
    if (!object || object->interp != interp) {
        return ig_interp_fail(&how, IG_INVALID,
                              object ? "the object belongs to interpreter %u, not to %u"
                                     : "no object was given",
                              object ? object->interp->index : 0, interp->index);
    }
    return IG_OK;
}

ig_status ig_interp_run(ig_interp *interp, const ig_interp_call *how,
                        const char *source, const char *name) {
    ig_engine_job job = { .source = source, .name = name ? name : "<text>" };
    return ig_interp_do(interp, how, interp->engine->run, &job);
}

ig_status ig_interp_global(ig_interp *interp, const ig_interp_call *how,
                           const char *module, const char *name,
                           ig_interp_object **out_object) {
    ig_engine_job job = { .module = module, .name = name };
    ig_status status = ig_interp_do(interp, how, interp->engine->find_global, &job);
    *out_object = job.made_object;
    return status;
}

ig_status ig_interp_attribute(ig_interp *interp, const ig_interp_call *how,
                              const ig_interp_object *object, const char *name,
                              ig_interp_object **out_object) {
    IG_TRY(check_owner(interp, how, object));
    ig_engine_job job = { .object = object, .name = name };
    ig_status status = ig_interp_do(interp, how, interp->engine->find_attribute, &job);
    *out_object = job.made_object;
    return status;
}

static ig_status check_arguments(const ig_interp *interp, const ig_interp_call *how,
                                 const ig_interp_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i].kind == IG_INTERP_OBJECT) {
            IG_TRY(check_owner(interp, how, values[i].as.object));
        }
    }
    return IG_OK;
}

static ig_status do_call(ig_interp *interp, const ig_interp_call *how,
                         ig_engine_job *job) {
    static const ig_interp_arguments none = { NULL, 0, NULL, NULL, 0 };
    job->arguments = job->arguments ? job->arguments : &none;
    const ig_interp_arguments *arguments = job->arguments;
    IG_TRY(check_owner(interp, how, job->object));
    IG_TRY(check_arguments(interp, how, arguments->values, arguments->count));
    IG_TRY(check_arguments(interp, how, arguments->named, arguments->named_count));
    atomic_fetch_add(&interp->manager->calls, 1);
    return ig_interp_do(interp, how, interp->engine->invoke, job);
}

ig_status ig_interp_invoke(ig_interp *interp, const ig_interp_call *how,
                           const ig_interp_object *object,
                           const ig_interp_arguments *arguments,
                           ig_interp_result **out_result) {
    ig_engine_job job = { .object = object, .arguments = arguments };
    ig_status status = do_call(interp, how, &job);
    *out_result = job.result;
    return status;
}

ig_status ig_interp_make(ig_interp *interp, const ig_interp_call *how,
                         const ig_interp_object *object,
                         const ig_interp_arguments *arguments,
                         ig_interp_object **out_object) {
    ig_engine_job job = { .object = object,
                          .arguments = arguments,
                          .wants_object = true };
    ig_status status = do_call(interp, how, &job);
    *out_object = job.made_object;
    return status;
}

ig_status ig_interp_read(ig_interp *interp, const ig_interp_call *how,
                         const ig_interp_object *object,
                         ig_interp_result **out_result) {
    *out_result = NULL;
    IG_TRY(check_owner(interp, how, object));
    ig_engine_job job = { .object = object };
    ig_status status = ig_interp_do(interp, how, interp->engine->read, &job);
    *out_result = job.result;
    return status;
}

ig_status ig_interp_keep(ig_interp *interp, const ig_interp_call *how,
                         const ig_interp_object *object,
                         ig_interp_object **out_object) {
    *out_object = NULL;
    IG_TRY(check_owner(interp, how, object));
    ig_engine_job job = { .object = object };
    ig_status status = ig_interp_do(interp, how, interp->engine->keep, &job);
    *out_object = job.made_object;
    return status;
}

const ig_interp_value *ig_interp_result_value(const ig_interp_result *result) {
    return &result->value;
}

void ig_interp_result_free(ig_interp_result *result) {
    if (result) {
        ig_engine_job job = { .result = result };
        (void)ig_interp_do(result->interp, NULL, result->interp->engine->free_result,
                           &job);
    }
}

void ig_interp_object_free(ig_interp_object *object) {
    if (object) {
        ig_engine_job job = { .object = object };
        (void)ig_interp_do(object->interp, NULL, object->interp->engine->free_object,
                           &job);
    }
}
