/* A team of threads that compiles kernels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Jobs are taken one by one from a shared counter, large kernels first.  Worker 0 is
 * the caller's thread with the caller's context: progress and cancelling work as
 * everywhere.  Each other worker has a context of its own (diagnostics, budget and
 * recovery point are per thread), whose messages are handed to the caller's when all
 * have stopped.  Graphs are only read.
 *
 * Exhausted memory unwinds to the worker's own recovery point, so no thread is left.
 * Nothing of LLVM is opened when the cache holds every kernel.
 */
#include "driver/compile/kernels.h"

#include "driver/cache/cache.h"
#include "driver/cache/key.h"
#include "driver/targets.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct worker_message {
    int severity;
    ig_status status;
    const char *text;
} worker_message;

typedef struct opened_backend {
    const ig_target *target;
    const ig_backend *backend;
    void *state;
} opened_backend;

typedef struct worker {
    ig_compile_team *team;
    ig_context own; /* of all but worker 0 */
    ig_context *context;
    ig_arena arena; /* code */
    opened_backend opened[IG_LEVELS];
    size_t opened_count;
    IG_VEC(worker_message) messages;
    ig_arena messages_arena;
    pthread_t thread;
    ig_status status;
} worker;

struct ig_compile_team {
    ig_context *context;
    const char *folder;
    bool wants_debug;
    worker workers[IG_HOST_THREADS];
    size_t worker_count;
    size_t started; /* workers that are not waited for yet, the caller among them */
    ig_kernel_job *jobs;
    size_t job_count;
    atomic_size_t next, done;
    atomic_bool has_failed;
};

/* ---- messages of other threads ---- */

static void keep_message(void *user, const ig_diagnostic *diagnostic) {
    worker *w = user;
    enum { BYTES = 4096 };
    char *text = ig_arena_try_alloc(&w->messages_arena, BYTES);
    size_t wanted = (w->messages.count + 1) * sizeof(worker_message);
    if (!text) {
        return;
    }
    ig_diagnostic_format(diagnostic, text, BYTES);
    worker_message *grown = ig_arena_try_alloc(&w->messages_arena, wanted);
    if (grown) {
        if (w->messages.count) {
            memcpy(grown, w->messages.items, wanted - sizeof *grown);
        }
        grown[w->messages.count++] = (worker_message){ (int)diagnostic->severity,
                                                       diagnostic->status, text };
        w->messages.items = grown;
    }
}

/* ---- one worker ---- */

static ig_status open_backend(worker *w, const ig_target *target,
                              opened_backend **out) {
    for (size_t i = 0; i < w->opened_count; i++) {
        if (w->opened[i].target == target) {
            *out = &w->opened[i];
            return IG_OK;
        }
    }
    if (w->opened_count == IG_LEVELS) {
        return ig_error(&w->context->diag, IG_LIMIT, NULL, "too many targets");
    }
    opened_backend *slot = &w->opened[w->opened_count];
    *slot = (opened_backend){ .target = target };
    ig_status status = ig_driver_backend(w->context, target, &slot->backend);
    if (status == IG_OK) {
        status = slot->backend->open(w->context, target, &slot->state);
    }
    w->opened_count += status == IG_OK;
    *out = slot;
    return status;
}

static void close_backends(worker *w) {
    assert(w->opened_count <= IG_LEVELS && "open_backend checks for room");
    for (size_t i = 0; i < w->opened_count; i++) {
        w->opened[i].backend->close(w->opened[i].state);
    }
    w->opened_count = 0;
}

_Static_assert(sizeof(ig_debug_row) == sizeof(ig_debug_line) &&
                   offsetof(ig_debug_row, line) == offsetof(ig_debug_line, line),
               "lines of a kernel are copied as they are");

static const ig_artifact_debug *take_debug(const ig_kernel_debug *debug,
                                           ig_arena *arena) {
    ig_artifact_debug *taken = IG_NEW(arena, ig_artifact_debug);
    *taken = (ig_artifact_debug){ .file = debug->file,
                                  .text = debug->text,
                                  .object = debug->object,
                                  .folder = { debug->folder, debug->folder_bytes },
                                  .lines = (const void *)debug->rows,
                                  .line_count = debug->row_count };
    return taken;
}

static ig_status compile_kernel(worker *w, opened_backend *with, const ig_graph *kernel,
                                ig_artifact_kernel *out) {
    ig_compiled_kernel compiled;
    IG_TRY(with->backend->compile(with->state, kernel, w->team->wants_debug, &w->arena,
                                  &compiled));
    *out = (ig_artifact_kernel){ compiled.bytes, compiled.size,
                                 (uint64_t)compiled.entry, NULL };
    if (compiled.debug) {
        out->debug = take_debug(compiled.debug, &w->arena);
    }
    return IG_OK;
}

/* One module, in which kernels are found by their names. */
static ig_status compile_module(worker *w, opened_backend *with,
                                const ig_kernel_job *job) {
    ig_writer text, image;
    ig_writer_init(&text, &w->arena);
    ig_writer_init(&image, &w->arena);
    for (size_t i = 0; i < job->count; i++) {
        IG_TRY(with->backend->emit(with->state, job->kernels[i], IG_EMIT_TEXT, &text));
    }
    IG_TRY(with->backend->assemble(with->state, ig_writer_str(&text), IG_EMIT_IMAGE,
                                   &image));
    *job->out = (ig_artifact_kernel){ image.data, image.size, 0, NULL };
    return IG_OK;
}

/* Kernels of a module have their names in it. */
static ig_str key_of(const ig_kernel_job *job, ig_arena *arena) {
    if (!job->target->has_modules) {
        return ig_key_of_kernel(job->target, job->kernels[0], arena);
    }
    ig_writer key;
    ig_writer_init(&key, arena);
    for (size_t i = 0; i < job->count; i++) {
        ig_put(&key, "%s ", job->kernels[i]->name);
        ig_put_str(&key, ig_key_of_kernel(job->target, job->kernels[i], arena));
    }
    return ig_writer_str(&key);
}

static ig_status do_job(worker *w, ig_kernel_job *job) {
    assert(job->count > 0 && !job->out->bytes &&
           "a job compiles a kernel that is not compiled yet");
    ig_compile_team *team = w->team;
    if (team->folder) {
        job->key = key_of(job, &w->arena);
    }
    if (team->folder &&
        ig_cache_get_kernel(team->folder, job->key, &w->arena, job->out)) {
        return IG_OK;
    }
    opened_backend *with = NULL;
    IG_TRY(open_backend(w, job->target, &with));
    IG_TRY(job->target->has_modules
               ? compile_module(w, with, job)
               : compile_kernel(w, with, job->kernels[0], job->out));
    if (team->folder) {
        ig_cache_put_kernel(team->folder, job->key, job->out);
    }
    return IG_OK;
}

/* Never inlined: its variables must not live in the frame that is jumped back to. */
__attribute__((noinline)) static ig_status take_jobs(worker *w) {
    ig_compile_team *team = w->team;
    while (!atomic_load(&team->has_failed)) {
        size_t index = atomic_fetch_add(&team->next, 1);
        if (index >= team->job_count) {
            break;
        }
        if (atomic_load(&team->context->cancelled)) {
            return IG_CANCELLED;
        }
        IG_TRY(do_job(w, &team->jobs[index]));
        size_t done = atomic_fetch_add(&team->done, 1) + 1;
        if (w->context == team->context) {
            ig_context_progress(team->context, "kernels", done, team->job_count);
        }
    }
    return IG_OK;
}

static ig_status report_memory(worker *w) {
    return ig_error_hint(&w->context->diag, IG_LIMIT, NULL,
                         "raise the limit memory_bytes",
                         "memory ran out while kernels were compiled");
}

/* Takes jobs with a recovery point of this thread. */
static void run_worker(worker *w) {
    ig_budget *budget = &w->context->budget;
    jmp_buf *outer = budget->recovery;
    jmp_buf recovery;
    if (setjmp(recovery) == 0) {
        budget->recovery = &recovery;
        w->status = take_jobs(w);
    } else {
        budget->foreign_depth = 0;
        if (w->context == w->team->context) {
            ig_driver_of(w->context)->has_unwound = true;
        }
        w->status = budget->is_cancelled ? IG_CANCELLED : report_memory(w);
    }
    budget->recovery = outer;
    if (w->status != IG_OK) {
        atomic_store(&w->team->has_failed, true);
    }
    close_backends(w);
}

static void *run_thread(void *user) {
    run_worker(user);
    return NULL;
}

/* ---- the team ---- */

static size_t count_threads(ig_context *context) {
    int given = ig_driver_of(context)->options.compile_threads;
    int count = given > 0 ? given : ig_cpu_count();
    return count < IG_HOST_THREADS ? (size_t)(count > 0 ? count : 1) : IG_HOST_THREADS;
}

ig_compile_team *ig_compile_team_create(ig_context *context, const char *folder,
                                        bool wants_debug) {
    ig_compile_team *team = calloc(1, sizeof *team);
    if (!team) {
        return NULL;
    }
    team->context = context;
    team->folder = wants_debug ? NULL : folder;
    team->wants_debug = wants_debug;
    team->worker_count = count_threads(context);
    for (size_t i = 0; i < team->worker_count; i++) {
        worker *w = &team->workers[i];
        w->team = team;
        w->own.limits = context->limits;
        w->own.diag = (ig_diag){ .sink = keep_message, .user = w };
        w->context = i ? &w->own : context;
        ig_arena_init(&w->arena, &w->context->budget);
        ig_arena_init(&w->messages_arena, NULL);
    }
    return team;
}

/* Splits the memory that the caller's context may still use. */
static void share_budget(ig_compile_team *team, size_t workers) {
    const ig_budget *budget = &team->context->budget;
    size_t left = budget->limit > budget->used ? budget->limit - budget->used : 1;
    for (size_t i = 1; i < workers; i++) {
        team->workers[i].own.budget.limit = budget->limit ? left / workers + 1 : 0;
    }
}

static uint64_t ops_of(const ig_kernel_job *job) {
    uint64_t ops = 0;
    for (size_t i = 0; i < job->count; i++) {
        ops += job->kernels[i]->op_count;
    }
    return ops;
}

static int larger_first(const void *a, const void *b) {
    uint64_t m = ops_of(a), n = ops_of(b);
    return (m < n) - (m > n);
}

/* Waits for the threads.  A message of several workers (no LLVM, say) is told once. */
static ig_status join_workers(ig_compile_team *team) {
    ig_status status = team->workers[0].status;
    for (size_t i = 1; i < team->started; i++) {
        worker *w = &team->workers[i];
        pthread_join(w->thread, NULL);
        for (size_t m = 0; m < w->messages.count; m++) {
            const worker_message *message = &w->messages.items[m];
            if (!strstr(ig_context_messages(team->context), message->text)) {
                ig_driver_message(team->context, message->severity, message->status,
                                  message->text);
            }
        }
        status = status == IG_OK ? w->status : status;
    }
    team->started = 0;
    return status;
}

void ig_compile_team_start(ig_compile_team *team, ig_kernel_job *jobs, size_t count) {
    assert(!team->jobs && team->worker_count > 0 &&
           "a team runs once, with the caller's thread at least");
    if (count) {
        qsort(jobs, count, sizeof *jobs, larger_first);
    }
    team->jobs = jobs;
    team->job_count = count;
    size_t workers = team->worker_count < count ? team->worker_count : count;
    team->started = 1;
    share_budget(team, workers);
    while (team->started < workers &&
           pthread_create(&team->workers[team->started].thread, NULL, run_thread,
                          &team->workers[team->started]) == 0) {
        team->started++;
    }
}

ig_status ig_compile_team_finish(ig_compile_team *team) {
    assert(team->started > 0 && "the team was started");
    run_worker(&team->workers[0]);
    return join_workers(team);
}

void ig_compile_team_destroy(ig_compile_team *team) {
    if (team && team->started) { /* the caller was unwound, or failed */
        atomic_store(&team->has_failed, true);
        join_workers(team);
    }
    for (size_t i = 0; team && i < team->worker_count; i++) {
        ig_arena_fini(&team->workers[i].arena);
        ig_arena_fini(&team->workers[i].messages_arena);
        ig_budget_sweep(&team->workers[i].own.budget, 0);
    }
    free(team);
}
