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
 * Ownership: what an open or create hands out is the caller's and has exactly one close
 * or destroy (NULL is allowed).  A session keeps its program and thread pool alive.
 * Inputs are read in place, outputs are written to the caller's memory or stand in the
 * session's until its next run; nothing else is kept.
 * Errors: every function that can fail returns ig_status.  Opening and creating put one
 * line of text into options->message; a session keeps its own, ig_session_error.
 * After an error outputs are unspecified; inputs and session are intact.
 * Threads: a program and a thread pool may be used by any number of threads, a session
 * by one at a time; ig_session_cancel may be called from anywhere, also from a signal
 * handler.  Bits do not depend on threads, neighbours in the batch, or pool.
 * In steady state (shapes seen before) a run allocates nothing and takes no lock.
 */
#ifndef INGOT_RUNTIME_H
#define INGOT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/profile.h>
#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_program ig_program;
typedef struct ig_session ig_session;
typedef struct ig_thread_pool ig_thread_pool;
typedef struct ig_ranks ig_ranks; /* the ranks of a group: group.h */

/* ---- programs ---- */

typedef enum ig_load {
    IG_LOAD_MAPPED,   /* weights are paged in from the file as they are touched */
    IG_LOAD_HUGEPAGE, /* weights are copied into 2 MiB pages: faster lookups */
} ig_load;

/* Who is told of a program's kernels.  The environment asks for it too: INGOT_PERF=map,
 * INGOT_PERF=jitdump, INGOT_DEBUG=gdb. */
typedef enum ig_observe {
    IG_OBSERVE_GDB = 1,          /* gdb, which knows kernels compiled with `debug` */
    IG_OBSERVE_PERF_MAP = 2,     /* perf report: /tmp/perf-PID.map */
    IG_OBSERVE_PERF_JITDUMP = 4, /* perf inject --jit: jit-PID.dump */
} ig_observe;

/* A file that the artifact refers to, given in memory instead. */
typedef struct ig_memory_file {
    const char *path; /* as the artifact names it */
    const void *data; /* must outlive the program */
    size_t size;
} ig_memory_file;

/* Extensible: set size to sizeof(the struct); zero fields mean the default. */
typedef struct ig_program_options {
    size_t size;
    char *message; /* receives one line when opening fails, or NULL */
    size_t message_size;
    ig_load load;
    const char *level;        /* "v3": this level and no other; NULL: the best */
    const char *weights_path; /* where the first referenced file is now, or NULL */
    const ig_memory_file *files;
    size_t file_count;
    int check_weights; /* also compare the hash of every constant */
    const char *part;  /* the artifact of this name in the artifact, or NULL: itself */
    unsigned observe; /* ig_observe bits: who is told of the code (docs/debugging.md) */
    const char *observe_folder; /* for the files that these read; NULL: a new one */
} ig_program_options;

/* Opens an artifact.  Every size and offset in it is checked.  IG_INVALID: damaged;
 * IG_UNSUPPORTED: another format version, or no code for this CPU. */
IG_API IG_MUST_USE ig_status ig_program_open(const char *path,
                                             const ig_program_options *options,
                                             ig_program **out_program);
/* The same in memory, which must outlive the program and be aligned to 64 bytes. */
IG_API IG_MUST_USE ig_status ig_program_open_memory(const void *bytes, size_t size,
                                                    const ig_program_options *options,
                                                    ig_program **out_program);
IG_API void ig_program_close(ig_program *program);

/* What an input or output is along the batch, for whoever puts calls together. */
typedef enum ig_port_role {
    IG_ROLE_NONE,        /* not known */
    IG_ROLE_ROWS,        /* `axis` is the batch */
    IG_ROLE_KEY_LENGTHS, /* lengths, key by key; `axis` is keys x batch */
    IG_ROLE_KEY_VALUES,  /* values, key by key, as many as `partner` says */
    IG_ROLE_OFFSETS,     /* positions in `partner`, which move with it */
    IG_ROLE_SHARED,      /* the same for all rows */
    IG_ROLE_COUNT
} ig_port_role;

/* Name and type of an input or output; texts are the program's. */
typedef struct ig_port {
    const char *name;
    const char *type; /* "f32[B, 13]" */
    ig_dtype_code dtype;
    uint32_t rank;
    int64_t dims[IG_MAX_RANK]; /* -1: depends on the call */
    int32_t memory, device;    /* where it stands unless a view says otherwise */
    int32_t in_place_of;       /* output: the input whose memory it stands in, or -1 */
    ig_port_role role;
    int32_t axis, partner; /* partner: an input, or -1 */
} ig_port;

IG_API size_t ig_program_input_count(const ig_program *program);
IG_API size_t ig_program_output_count(const ig_program *program);
/* `index` must be below the count. */
IG_API ig_port ig_program_input(const ig_program *program, size_t index);
IG_API ig_port ig_program_output(const ig_program *program, size_t index);
/* The index of the input or output of that name, or -1. */
IG_API int ig_program_find_input(const ig_program *program, const char *name);
IG_API int ig_program_find_output(const ig_program *program, const char *name);

/* The signature tree (tree.h): node 0 is the call.  Texts are the program's. */
IG_API size_t ig_program_node_count(const ig_program *program);
IG_API ig_tree_node ig_program_node(const ig_program *program, size_t index);
/* State: buffers that a run changes and that its session keeps for the next one. */
IG_API size_t ig_program_state_count(const ig_program *program);
IG_API ig_port ig_program_state(const ig_program *program, size_t index);

/* Contents of a program; texts are the program's.  Set size before the call. */
typedef struct ig_program_facts {
    size_t size;
    const char *model, *build_id;
    const char *level;  /* of the code that runs: "v3" */
    const char *levels; /* of all code in the artifact: "v3, v4-vnni" */
    size_t kernel_count, step_count, launch_count;
    uint64_t code_bytes, plan_bytes, weight_bytes; /* weights: all constants */
    int is_sanitized; /* made with `sanitize`: its runs check what kernels touch */
} ig_program_facts;

IG_API void ig_program_get_facts(const ig_program *program, ig_program_facts *facts);
/* The machine's best level: "v2", "v3", "v4", "v4-vnni", "v4-amx"; "" for none. */
IG_API const char *ig_runtime_level(void);

/* What the artifact says of tables that lie in stores, *out_size bytes, there as long
 * as the program is: for ingot/lookahead.h, which runs such programs.  NULL: its
 * tables, if any, are its own. */
IG_API const void *ig_program_stored(const ig_program *program, size_t *out_size);

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
    /* Bytes for buffers whose size only the run finds out (what a loop grows, what data
     * selects), beyond 64 times what all others have.  0: no limit of their own. */
    size_t late_limit;
    ig_ranks *ranks; /* of a program that is one rank's (shard.h): ig_group_ranks, alive
                      * as long as the session; else NULL */
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
 * and what they point to stay until ig_session_wait gives what the run gave.  Until
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
    int64_t arena_bytes; /* of memory for values between steps */
    int64_t arena_min;   /* most bytes that live at once: no plan has less */
} ig_session_facts;

IG_API void ig_session_get_facts(const ig_session *session, ig_session_facts *facts);

/* What became of each node of the model, and whose work each step does: JSON as
 * docs/inspect.md has it, *out_size bytes without a zero byte, there as long as the
 * program is.  NULL and 0 where the artifact was stripped. */
IG_API const char *ig_program_sources(const ig_program *program, size_t *out_size);

/* ---- about this build ---- */

IG_API const char *ig_runtime_version(void);
/* "INVALID" and the like. */
IG_API const char *ig_status_text(ig_status status);

#ifdef __cplusplus
}
#endif
#endif
