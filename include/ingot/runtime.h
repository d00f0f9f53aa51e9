/* Ingot, the runtime: runs compiled models.  Needs libc and nothing else.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_program *program = NULL;
 *     ig_session *session = NULL;
 *     float dense[2][13] = { 0 }, score[2];
 *     ig_view in = { .data = dense, .dtype = IG_F32, .rank = 2, .dims = { 2, 13 } };
 *     ig_view out = { .data = score, .capacity = sizeof score };
 *     if (ig_program_open("model.ingot", NULL, &program) == IG_OK &&
 *         ig_session_create(program, NULL, &session) == IG_OK &&
 *         ig_session_run(session, &in, 1, &out, 1) != IG_OK)
 *         fprintf(stderr, "%s\n", ig_session_error(session));
 *     ig_session_destroy(session), ig_program_close(program);
 *
 * Ownership: an object that an open or create hands out is the caller's and has exactly
 * one close or destroy (NULL is allowed).  A session keeps its program and thread pool
 * alive.  Inputs are read in place, outputs are written to the caller's memory or are
 * in the session's until its next run; nothing else is kept.  Errors: every function
 * that can fail returns ig_status.  Opening and creating put one line of text into
 * options->message; a session keeps its own, ig_session_error.  After an error outputs
 * are unspecified; inputs and session are intact.  Threads: a program and a thread pool
 * may be used by any number of threads, a session by one at a time; ig_session_cancel
 * may be called from anywhere, also from a signal handler.  Bits do not depend on
 * threads, neighbours in the batch, or pool.  In steady state (shapes seen before) a
 * run allocates nothing and takes no lock.
 */
#ifndef INGOT_RUNTIME_H
#define INGOT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/log.h>
#include <ingot/profile.h>
#include <ingot/program.h>
#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_session ig_session;
typedef struct ig_thread_pool ig_thread_pool;
typedef struct ig_ranks ig_ranks; /* the ranks of a group: group.h */

/* ---- thread pools ---- */

typedef struct ig_thread_pool_options {
    size_t size;
    int threads;     /* the caller's among them; 0: as many as there are CPUs */
    int pin;         /* bind each thread to a CPU of its own */
    int64_t spin_ns; /* how long an idle thread spins before it sleeps;
                       * 0: 50 µs; -1: not at all */
    char *message;
    size_t message_size;
    /* Threads of the caller instead of ours: run(user, fn, task, n) calls fn(task, i)
     * once for each i < n, one of them perhaps on the calling thread, and returns when
     * all have returned.  `threads` is the largest n (not 0). */
    void (*run)(void *user, void (*fn)(void *task, int index), void *task, int n);
    void *run_user;
} ig_thread_pool_options;

/* A pool may serve many sessions.  One that finds it busy runs on its own thread. */
IG_API IG_MUST_USE ig_status
ig_thread_pool_create(const ig_thread_pool_options *options, ig_thread_pool **out_pool);
IG_API void ig_thread_pool_destroy(ig_thread_pool *pool);
IG_API int ig_thread_pool_threads(const ig_thread_pool *pool);

/* ---- sessions ---- */

typedef struct ig_session_options {
    size_t size;
    char *message;
    size_t message_size;
    ig_thread_pool *pool; /* shared with other sessions, or NULL: one of its own */
    int threads;          /* of its own pool; 0 and 1: the caller's thread alone */
    /* Memory: all of a session's comes from here.  `release` gets what `allocate` gave;
     * allocate may return NULL.  Both NULL: malloc's. */
    void *(*allocate)(void *user, size_t size, size_t alignment);
    void (*release)(void *user, void *memory, size_t size);
    void *memory_user;
    void *arena;       /* the caller's memory for activations, or NULL */
    size_t arena_size; /* a shape that needs more gives IG_LIMIT */
    /* Bytes that activations, outputs and what loops grow may take together; a run that
     * needs more gives IG_LIMIT.  0: no limit.  The caller's arena does not count. */
    size_t memory_limit;
    /* Bytes for buffers whose size is known at run time only (grown by a loop, selected
     * by data), beyond 64 times the bytes of all others.  0: no limit of their own. */
    size_t late_limit;
    ig_ranks *ranks; /* of a program that is one rank's (shard.h): ig_group_ranks, alive
                      * as long as the session; else NULL */
    void *stream;    /* of a program that a GPU runs: the CUstream into which runs are
                      * put, after its earlier work; of the primary context, alive as
                      * long as the session; NULL: one of the session's own.  A run
                      * ends when the stream is empty. */
    const ig_log *log; /* is told why creating it and its runs fail, or NULL */
} ig_session_options;

IG_API IG_MUST_USE ig_status ig_session_create(ig_program *program,
                                               const ig_session_options *options,
                                               ig_session **out_session);
IG_API void ig_session_destroy(ig_session *session);

/* Binds the views and runs.  Counts must be the program's.  Sets dtype, rank and dims
 * of the outputs, and data where the session's memory is used (capacity 0). */
IG_API IG_MUST_USE ig_status ig_session_run(ig_session *session, const ig_view *inputs,
                                            size_t input_count, ig_view *outputs,
                                            size_t output_count);
/* The two halves of it.  Bound memory, `outputs` too, stays in use by each later
 * ig_session_run_bound until the next bind; contents may change between runs, shapes
 * and addresses may not. */
IG_API IG_MUST_USE ig_status ig_session_bind(ig_session *session, const ig_view *inputs,
                                             size_t input_count, ig_view *outputs,
                                             size_t output_count);
IG_API IG_MUST_USE ig_status ig_session_run_bound(ig_session *session);

/* ig_session_run on a thread of the session's own, which the first call makes.  Views
 * and their memory must stay until ig_session_wait returns the run's status.  Until
 * then other calls of this thread give IG_INVALID, but for ig_session_has_ended,
 * cancelling, and destroying, which cancels the run. */
IG_API IG_MUST_USE ig_status ig_session_start(ig_session *session,
                                              const ig_view *inputs, size_t input_count,
                                              ig_view *outputs, size_t output_count);
IG_API IG_MUST_USE ig_status ig_session_wait(ig_session *session);
/* 1 when ig_session_wait would not wait, also where no run was started. */
IG_API int ig_session_has_ended(const ig_session *session);

/* Gives all state its first values.  A run that fails leaves state as it was. */
IG_API void ig_session_reset(ig_session *session);
/* After a change of bytes of an opened weight (ig_port.is_weight) in memory that stays
 * bound: the next run prepares anew all that it derives from them.  Weights in other
 * memory, and those that runs write in place, are noticed. */
IG_API void ig_session_weights_changed(ig_session *session);
/* The message of the last error of this session; "" when there was none. */
IG_API const char *ig_session_error(const ig_session *session);
/* Stops the run in progress, which returns IG_CANCELLED; else does nothing. */
IG_API void ig_session_cancel(ig_session *session);
/* Every later run stops after so many nanoseconds (IG_CANCELLED); 0: no limit.
 * Like cancelling, it takes effect between launches. */
IG_API void ig_session_set_deadline(ig_session *session, int64_t ns);
/* Bytes of memory that the session holds now. */
IG_API size_t ig_session_memory(const ig_session *session);

/* Of the shapes bound last.  Set size before the call. */
typedef struct ig_session_facts {
    size_t size;
    size_t memory;       /* bytes that the session holds now */
    int threads;         /* that share its work */
    int64_t arena_bytes; /* of memory for values between steps, each thread's own too */
    int64_t arena_min;   /* most bytes that live at once: no plan has less */
    void *stream; /* of the GPU that runs are put into, a CUstream: work that must
                   * precede a run goes there, or has an event there; NULL: none */
} ig_session_facts;

IG_API void ig_session_get_facts(const ig_session *session, ig_session_facts *facts);

/* ---- about this build ---- */

IG_API const char *ig_runtime_version(void);
/* "INVALID" and the like. */
IG_API const char *ig_status_text(ig_status status);

#ifdef __cplusplus
}
#endif
#endif
