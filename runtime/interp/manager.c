/* Managers: interpreters that are started, taken, given back, and asked to work.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An interpreter cannot be unloaded, so those of a manager that is destroyed wait in a
 * list of the process for the next one: it is the one thing here that is not of a
 * handle.  What the manager before put into __main__ or sys.path is still there.
 */
#include "runtime/interp/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ig_interp {
    ig_mailbox box;
    const ig_engine *engine;
    ig_interp_manager *manager;
    uint32_t index;
    bool is_taken;
    pthread_mutex_t post; /* one job at a time */
    ig_interp *next;      /* in the list of those without a manager */
};

struct ig_interp_manager {
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    ig_interp **interps;
    uint32_t count, last; /* last: the one given back last */
    ig_interp_counts counts;
    atomic_ullong calls;
};

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static ig_interp *idle; /* guarded by idle_lock */

enum { DEFAULT_COUNT = 2, COUNT_MAX = 64, REPEAT_NS = 200000000 };

/* ---- calls ---- */

static ig_interp_call call_of(const ig_interp_call *given) {
    ig_interp_call how = { .size = sizeof how };
    if (given) {
        memcpy(&how, given, given->size < sizeof how ? given->size : sizeof how);
    }
    return how;
}

IG_PRINTF(3, 4)
static ig_status fail_call(const ig_interp_call *how, ig_status status,
                           const char *format, ...) {
    if (how->message && how->message_size > 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(how->message, how->message_size, format, args);
        va_end(args);
    }
    return status;
}

static int64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for the job; past the deadline, asks the interpreter to stop, again and again
 * (code may catch the exception).  False: the deadline passed. */
static bool wait_for_job(ig_mailbox *box, int64_t deadline_ns) {
    bool is_in_time = true;
    int64_t until = deadline_ns;
    while (atomic_load(&box->state) == IG_MAIL_POSTED) {
        ig_futex_wait(&box->state, IG_MAIL_POSTED, until);
        if (until != 0 && now_ns() >= until &&
            atomic_load(&box->state) == IG_MAIL_POSTED) {
            is_in_time = false;
            atomic_store(&box->interrupt, 1);
            ig_futex_wake(&box->interrupt);
            until = now_ns() + REPEAT_NS;
        }
    }
    atomic_store(&box->interrupt, 0);
    return is_in_time;
}

static ig_status run_job(ig_interp *interp, const ig_interp_call *given,
                         void (*work)(ig_engine_job *), ig_engine_job *job) {
    ig_interp_call how = call_of(given);
    job->work = work;
    job->interp = interp;
    job->message = how.message;
    job->message_size = how.message_size;
    job->status = IG_OK;
    (void)pthread_mutex_lock(&interp->post);
    interp->box.job = job;
    atomic_store(&interp->box.state, IG_MAIL_POSTED);
    ig_futex_wake(&interp->box.state);
    bool is_in_time = wait_for_job(&interp->box, how.deadline_ns);
    atomic_store(&interp->box.state, IG_MAIL_IDLE);
    (void)pthread_mutex_unlock(&interp->post);
    return is_in_time || job->status == IG_OK ? job->status : IG_LIMIT;
}

/* ---- starting ---- */

enum { PATH_BYTES = 4096 };

static bool engine_path(const char *engine, char path[PATH_BYTES]) {
    Dl_info info;
    const void *here = &idle;
    if (strspn(engine, "abcdefghijklmnopqrstuvwxyz0123456789") != strlen(engine) ||
        dladdr(here, &info) == 0 || !info.dli_fname) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int folder = slash ? (int)(slash - info.dli_fname) : 1;
    int written = snprintf(path, PATH_BYTES, "%.*s/libingot-interp-%s.so", folder,
                           slash ? info.dli_fname : ".", engine);
    return written > 0 && written < PATH_BYTES;
}

/* The words of the loader tell which of its limits was met. */
static ig_status fail_open(const ig_interp_call *how, const char *engine) {
    const char *why = dlerror();
    bool is_limit = why && (strstr(why, "no more namespaces") || strstr(why, "TLS"));
    if (is_limit) {
        return fail_call(how, IG_LIMIT,
                         "no further interpreter: %s; begin the program with "
                         "GLIBC_TUNABLES=glibc.rtld.nns=16, or ask for fewer",
                         why);
    }
    return fail_call(how, IG_UNSUPPORTED, "interpreters of '%s' cannot be had: %s",
                     engine, why ? why : "no such engine");
}

static ig_status start_interp(const ig_interp_call *how, const char *engine,
                              ig_interp **out_interp) {
    char path[PATH_BYTES];
    if (!engine_path(engine, path)) {
        return fail_call(how, IG_UNSUPPORTED, "there is no engine '%s'", engine);
    }
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, IG_ENGINE_SYMBOL) : NULL;
    if (!symbol) {
        return fail_open(how, engine);
    }
    ig_engine_entry *entry;
    memcpy(&entry, &symbol, sizeof entry);
    ig_interp *made = aligned_alloc(64, (sizeof *made + 63) / 64 * 64);
    if (!made || entry()->abi != IG_ENGINE_ABI) {
        free(made);
        return fail_call(how, made ? IG_UNSUPPORTED : IG_LIMIT,
                         "the engine '%s' is of another build, or memory is out",
                         engine);
    }
    memset(made, 0, sizeof *made);
    (void)pthread_mutex_init(&made->post, NULL);
    made->engine = entry();
    ig_engine_job first = { .message = how->message,
                            .message_size = how->message_size };
    made->box.job = &first;
    if (made->engine->start(&made->box) != 0) {
        return fail_call(how, IG_LIMIT, "no thread for an interpreter");
    }
    while (atomic_load(&made->box.state) == IG_MAIL_STARTING) {
        ig_futex_wait(&made->box.state, IG_MAIL_STARTING, 0);
    }
    atomic_store(&made->box.state, IG_MAIL_IDLE);
    *out_interp = made;
    return first.status;
}

static ig_interp *take_idle(const char *engine) {
    (void)pthread_mutex_lock(&idle_lock);
    ig_interp **at = &idle;
    while (*at && strcmp((*at)->engine->name, engine) != 0) {
        at = &(*at)->next;
    }
    ig_interp *found = *at;
    if (found) {
        *at = found->next;
    }
    (void)pthread_mutex_unlock(&idle_lock);
    return found;
}

static void keep_idle(ig_interp *interp) {
    (void)pthread_mutex_lock(&idle_lock);
    interp->manager = NULL;
    interp->next = idle;
    idle = interp;
    (void)pthread_mutex_unlock(&idle_lock);
}

/* ---- life cycle ---- */

static ig_status configure_interp(ig_interp *interp, const ig_interp_call *how,
                                  const ig_interp_options *options) {
    for (size_t i = 0; i < options->path_count; i++) {
        ig_engine_job job = { .source = options->paths[i] };
        IG_TRY(run_job(interp, how, interp->engine->configure, &job));
    }
    ig_engine_job job = { .source = options->use_numpy ? "numpy" : NULL };
    return run_job(interp, how, interp->engine->use_numpy, &job);
}

static ig_status add_interp(ig_interp_manager *manager, const ig_interp_call *how,
                            const ig_interp_options *options) {
    ig_interp *interp = take_idle(options->engine);
    if (!interp) {
        IG_TRY(start_interp(how, options->engine, &interp));
    }
    interp->manager = manager;
    interp->index = manager->count;
    interp->is_taken = false;
    manager->interps[manager->count++] = interp;
    return configure_interp(interp, how, options);
}

ig_status ig_interp_create(const ig_interp_options *given,
                           const ig_interp_call *given_how,
                           ig_interp_manager **out_manager) {
    ig_interp_call how = call_of(given_how);
    ig_interp_options options = { .size = sizeof options };
    if (given) {
        memcpy(&options, given,
               given->size < sizeof options ? given->size : sizeof options);
    }
    options.engine = options.engine ? options.engine : "cpython";
    options.count = options.count > 0 ? options.count : DEFAULT_COUNT;
    ig_interp_manager *manager = calloc(1, sizeof *manager);
    if (!manager || options.count > COUNT_MAX) {
        free(manager);
        return fail_call(&how, IG_LIMIT, "a manager has 1 to %d interpreters",
                         COUNT_MAX);
    }
    (void)pthread_mutex_init(&manager->lock, NULL);
    pthread_condattr_t clock;
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&manager->given_back, &clock);
    (void)pthread_condattr_destroy(&clock);
    manager->interps = calloc(options.count, sizeof(ig_interp *));
    ig_status status = manager->interps ? IG_OK : IG_LIMIT;
    while (status == IG_OK && manager->count < options.count) {
        status = add_interp(manager, &how, &options);
    }
    if (status != IG_OK) {
        ig_interp_destroy(manager);
        return status;
    }
    *out_manager = manager;
    return IG_OK;
}

void ig_interp_destroy(ig_interp_manager *manager) {
    if (!manager) {
        return;
    }
    for (uint32_t i = 0; i < manager->count; i++) {
        keep_idle(manager->interps[i]);
    }
    (void)pthread_cond_destroy(&manager->given_back);
    (void)pthread_mutex_destroy(&manager->lock);
    free(manager->interps);
    free(manager);
}

uint32_t ig_interp_count(const ig_interp_manager *manager) {
    return manager->count;
}

ig_interp_counts ig_interp_describe(ig_interp_manager *manager) {
    (void)pthread_mutex_lock(&manager->lock);
    ig_interp_counts counts = manager->counts;
    (void)pthread_mutex_unlock(&manager->lock);
    counts.calls = atomic_load(&manager->calls);
    return counts;
}

ig_status ig_interp_register_source(ig_interp_manager *manager,
                                    const ig_interp_call *how, const char *name,
                                    const char *source) {
    for (uint32_t i = 0; i < manager->count; i++) {
        ig_engine_job job = { .name = name, .source = source };
        ig_interp *interp = manager->interps[i];
        IG_TRY(run_job(interp, how, interp->engine->add_source, &job));
    }
    return IG_OK;
}

/* ---- taking and giving back ---- */

/* A free interpreter: the wish, or the one given back last, whose memory is in the
 * caches; NULL: none. */
static ig_interp *find_free(const ig_interp_manager *manager, int64_t index) {
    if (index >= 0) {
        ig_interp *wanted = manager->interps[index];
        return wanted->is_taken ? NULL : wanted;
    }
    for (uint32_t i = 0; i < manager->count; i++) {
        uint32_t at = (manager->last + i) % manager->count;
        if (!manager->interps[at]->is_taken) {
            return manager->interps[at];
        }
    }
    return NULL;
}

static bool wait_for_return(ig_interp_manager *manager, int64_t deadline_ns) {
    struct timespec until = { .tv_sec = (time_t)(deadline_ns / 1000000000),
                              .tv_nsec = (long)(deadline_ns % 1000000000) };
    return deadline_ns == 0
               ? pthread_cond_wait(&manager->given_back, &manager->lock) == 0
               : pthread_cond_timedwait(&manager->given_back, &manager->lock, &until) ==
                     0;
}

ig_status ig_interp_acquire(ig_interp_manager *manager, const ig_interp_call *given,
                            int64_t index, ig_interp **out_interp) {
    ig_interp_call how = call_of(given);
    if (index >= (int64_t)manager->count || index < -1) {
        return fail_call(&how, IG_INVALID, "there is no interpreter %lld of %u",
                         (long long)index, manager->count);
    }
    (void)pthread_mutex_lock(&manager->lock);
    ig_interp *found = find_free(manager, index);
    manager->counts.acquired++;
    manager->counts.waited += found == NULL;
    bool goes_on = true;
    while (!found && goes_on) {
        goes_on = wait_for_return(manager, how.deadline_ns);
        found = find_free(manager, index);
    }
    if (found) {
        found->is_taken = true;
    }
    (void)pthread_mutex_unlock(&manager->lock);
    *out_interp = found;
    return found ? IG_OK
                 : fail_call(&how, IG_LIMIT,
                             "no interpreter was given back before the deadline");
}

void ig_interp_release(ig_interp *interp) {
    if (!interp) {
        return;
    }
    ig_interp_manager *manager = interp->manager;
    (void)pthread_mutex_lock(&manager->lock);
    interp->is_taken = false;
    manager->last = interp->index;
    (void)pthread_cond_broadcast(&manager->given_back); /* some wait for one of them */
    (void)pthread_mutex_unlock(&manager->lock);
}

uint32_t ig_interp_index(const ig_interp *interp) {
    return interp->index;
}

/* ---- running ---- */

static ig_status check_owner(const ig_interp *interp, const ig_interp_call *given,
                             const ig_interp_object *object) {
    ig_interp_call how = call_of(given);
    if (!object || object->interp != interp) {
        return fail_call(&how, IG_INVALID,
                         object ? "the object belongs to interpreter %u, not to %u"
                                : "no object was given",
                         object ? object->interp->index : 0, interp->index);
    }
    return IG_OK;
}

ig_status ig_interp_run(ig_interp *interp, const ig_interp_call *how,
                        const char *source, const char *name) {
    ig_engine_job job = { .source = source, .name = name ? name : "<text>" };
    return run_job(interp, how, interp->engine->run, &job);
}

ig_status ig_interp_global(ig_interp *interp, const ig_interp_call *how,
                           const char *module, const char *name,
                           ig_interp_object **out_object) {
    ig_engine_job job = { .module = module, .name = name };
    ig_status status = run_job(interp, how, interp->engine->find_global, &job);
    *out_object = job.made_object;
    return status;
}

ig_status ig_interp_attribute(ig_interp *interp, const ig_interp_call *how,
                              const ig_interp_object *object, const char *name,
                              ig_interp_object **out_object) {
    IG_TRY(check_owner(interp, how, object));
    ig_engine_job job = { .object = object, .name = name };
    ig_status status = run_job(interp, how, interp->engine->find_attribute, &job);
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

ig_status ig_interp_invoke(ig_interp *interp, const ig_interp_call *how,
                           const ig_interp_object *object,
                           const ig_interp_arguments *arguments,
                           ig_interp_result **out_result) {
    static const ig_interp_arguments none = { NULL, 0, NULL, NULL, 0 };
    arguments = arguments ? arguments : &none;
    IG_TRY(check_owner(interp, how, object));
    IG_TRY(check_arguments(interp, how, arguments->values, arguments->count));
    IG_TRY(check_arguments(interp, how, arguments->named, arguments->named_count));
    ig_engine_job job = { .object = object, .arguments = arguments };
    ig_status status = run_job(interp, how, interp->engine->invoke, &job);
    *out_result = job.result;
    atomic_fetch_add(&interp->manager->calls, 1);
    return status;
}

const ig_interp_value *ig_interp_result_value(const ig_interp_result *result) {
    return &result->value;
}

void ig_interp_result_free(ig_interp_result *result) {
    if (result) {
        ig_engine_job job = { .result = result };
        (void)run_job(result->interp, NULL, result->interp->engine->free_result, &job);
    }
}

void ig_interp_object_free(ig_interp_object *object) {
    if (object) {
        ig_engine_job job = { .object = object };
        (void)run_job(object->interp, NULL, object->interp->engine->free_object, &job);
    }
}
