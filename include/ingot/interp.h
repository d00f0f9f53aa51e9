/* Ingot, interpreters: model code that stays Python, in N interpreters of one process.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     char why[2048];
 *     ig_interp_call how = { .size = sizeof how, .message = why,
 *                            .message_size = sizeof why };
 *     ig_interp_options options = { .size = sizeof options, .count = 4 };
 *     ig_interp_manager *manager = NULL;
 *     ig_interp *interp = NULL;
 *     ig_interp_object *double_it = NULL;
 *     ig_interp_result *result = NULL;
 *     ig_interp_value x = { .kind = IG_INTERP_INTEGER, .as.integer = 21 };
 *     if (ig_interp_create(&options, &how, &manager) == IG_OK &&
 *         ig_interp_acquire(manager, &how, -1, &interp) == IG_OK &&
 *         ig_interp_run(interp, &how, "def f(x): return 2 * x", "f.py") == IG_OK &&
 *         ig_interp_global(interp, &how, "__main__", "f", &double_it) == IG_OK &&
 *         ig_interp_invoke(interp, &how, double_it,
 *                          &(ig_interp_arguments){ .values = &x, .count = 1 },
 *                          &result) == IG_OK)
 *         printf("%lld\n", (long long)ig_interp_result_value(result)->as.integer);
 *     else
 *         fprintf(stderr, "%s\n", why);
 *     ig_interp_result_free(result), ig_interp_object_free(double_it);
 *     ig_interp_release(interp), ig_interp_destroy(manager);
 *
 * Each interpreter is a stock CPython in a link namespace of its own, with a lock (GIL)
 * of its own and one thread that all its code runs in: calls from many threads to many
 * interpreters run at once.  The lock is not held between calls.  Or it is one in a
 * child process, where tensors are copied, and a crash ends no more than its objects:
 * the call is IG_INVALID, and the next one has a new child.
 * Ownership: an object handed out has one free, release or destroy (NULL is allowed);
 * objects, results and replicas before their manager.  Interpreters themselves live
 * until the process ends (CPython cannot be unloaded); a later manager takes them over.
 * Errors: one text in how->message; an exception is IG_INVALID with its traceback.
 * Threads: a manager may be used by any number of threads, an interpreter by the one
 * that acquired it.  Do not use them in a child of fork().
 */
#ifndef INGOT_INTERP_H
#define INGOT_INTERP_H

#include <ingot/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_interp_manager ig_interp_manager;
typedef struct ig_interp ig_interp;
typedef struct ig_interp_object ig_interp_object; /* of one interpreter */
typedef struct ig_interp_result ig_interp_result;
typedef struct ig_interp_replica ig_interp_replica; /* of every interpreter */

/* How one call is to be made.  Extensible: set size; NULL means all defaults. */
typedef struct ig_interp_call {
    size_t size;
    char *message; /* receives a text when the call fails, or NULL */
    size_t message_size;
    int64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none.  Python code is interrupted
                          * between two bytecodes; C code that it calls is not */
} ig_interp_call;

/* Extensible: set size, without which it is refused; other zero
 * fields mean the default. */
typedef struct ig_interp_options {
    size_t size;
    const char *engine;       /* "cpython" (default); "process": one in a child each;
                               * "lua": Lua 5.4, without files and processes */
    uint32_t count;           /* interpreters (2) */
    const char *const *paths; /* appended to sys.path of each */
    size_t path_count;
    int use_numpy; /* tensors reach Python as numpy arrays, not as memoryviews */
    int use_torch; /* or as torch's tensors */
    /* Of "lua": the instructions of a call (10^9; slow ones count for more), and the
     * bytes of an interpreter (256 MiB).  A call over them ends by LIMIT. */
    uint64_t instructions, memory;
    /* Of "process": each child reads files, computes and no more: no sockets, programs,
     * signals to others, or changes of files, and it sees none of the environment.
     * `memory` then bounds the memory that it writes (0: no bound). */
    int is_confined;
} ig_interp_options;

/* ---- managers ---- */

/* UNSUPPORTED: the engine is not installed (Debian: libpython3.11).  Those of "cpython"
 * for which there are no more link namespaces get a process each; there are 9 as a
 * rule, and 15 in a program that is begun with GLIBC_TUNABLES=glibc.rtld.nns=16.  So
 * do all of them where a folder of `paths` holds PyTorch. */
IG_API IG_MUST_USE ig_status ig_interp_create(const ig_interp_options *options,
                                              const ig_interp_call *how,
                                              ig_interp_manager **out_manager);
/* All interpreters must have been released. */
IG_API void ig_interp_destroy(ig_interp_manager *manager);
IG_API uint32_t ig_interp_count(const ig_interp_manager *manager);

/* Makes `import name` find this source in every interpreter. */
IG_API IG_MUST_USE ig_status ig_interp_register_source(ig_interp_manager *manager,
                                                       const ig_interp_call *how,
                                                       const char *name,
                                                       const char *source);

/* Takes an interpreter that nobody has: number `index`, or any (-1; the one given
 * back last, if it can be).  Waits for one up to the deadline: LIMIT. */
IG_API IG_MUST_USE ig_status ig_interp_acquire(ig_interp_manager *manager,
                                               const ig_interp_call *how, int64_t index,
                                               ig_interp **out_interp);
IG_API void ig_interp_release(ig_interp *interp);
IG_API uint32_t ig_interp_index(const ig_interp *interp);

typedef struct ig_interp_counts {
    uint64_t acquired, waited; /* calls of acquire, and those that had to wait */
    uint64_t calls;            /* of all interpreters */
} ig_interp_counts;
IG_API ig_interp_counts ig_interp_describe(ig_interp_manager *manager);

/* ---- values ---- */

typedef enum ig_interp_kind {
    IG_INTERP_NONE,
    IG_INTERP_TRUTH,
    IG_INTERP_INTEGER,
    IG_INTERP_REAL,
    IG_INTERP_TEXT, /* UTF-8 */
    IG_INTERP_BYTES,
    IG_INTERP_LIST,
    IG_INTERP_TUPLE,
    IG_INTERP_DICT,   /* keys and values in turn */
    IG_INTERP_TENSOR, /* an argument's memory is used itself, during the call only */
    IG_INTERP_OBJECT, /* anything else; that of a result is the result's */
} ig_interp_kind;

typedef struct ig_interp_value ig_interp_value;
struct ig_interp_value {
    ig_interp_kind kind;
    union {
        int truth;
        int64_t integer;
        double real;
        struct {
            const char *data;
            size_t size;
        } text; /* bytes too */
        struct {
            ig_interp_value *items;
            size_t count;
        } list; /* tuples and dicts too */
        ig_view tensor;
        ig_interp_object *object;
    } as;
};

typedef struct ig_interp_arguments {
    const ig_interp_value *values;
    size_t count;
    const char *const *names; /* of keyword arguments */
    const ig_interp_value *named;
    size_t named_count;
} ig_interp_arguments;

/* ---- running ---- */

/* Runs statements in the module __main__; `name` is the file that tracebacks show. */
IG_API IG_MUST_USE ig_status ig_interp_run(ig_interp *interp, const ig_interp_call *how,
                                           const char *source, const char *name);
/* `from module import name`. */
IG_API IG_MUST_USE ig_status ig_interp_global(ig_interp *interp,
                                              const ig_interp_call *how,
                                              const char *module, const char *name,
                                              ig_interp_object **out_object);
/* UNSUPPORTED: it has no such attribute. */
IG_API IG_MUST_USE ig_status ig_interp_attribute(ig_interp *interp,
                                                 const ig_interp_call *how,
                                                 const ig_interp_object *object,
                                                 const char *name,
                                                 ig_interp_object **out_object);
/* Calls an object.  The callee must not keep tensors of the arguments: it
 * is an error when it does.  Tensors of the result are views of Python's memory, valid
 * until the result is freed. */
IG_API IG_MUST_USE ig_status ig_interp_invoke(ig_interp *interp,
                                              const ig_interp_call *how,
                                              const ig_interp_object *object,
                                              const ig_interp_arguments *arguments,
                                              ig_interp_result **out_result);
IG_API const ig_interp_value *ig_interp_result_value(const ig_interp_result *result);
/* As ig_interp_invoke; the result is an object, also where it could be a value. */
IG_API IG_MUST_USE ig_status ig_interp_make(ig_interp *interp,
                                            const ig_interp_call *how,
                                            const ig_interp_object *object,
                                            const ig_interp_arguments *arguments,
                                            ig_interp_object **out_object);
/* An object as a value. */
IG_API IG_MUST_USE ig_status ig_interp_read(ig_interp *interp,
                                            const ig_interp_call *how,
                                            const ig_interp_object *object,
                                            ig_interp_result **out_result);
/* The same object once more, as that of a result, which it outlives. */
IG_API IG_MUST_USE ig_status ig_interp_keep(ig_interp *interp,
                                            const ig_interp_call *how,
                                            const ig_interp_object *object,
                                            ig_interp_object **out_object);
/* From any thread; waits while its interpreter runs something. */
IG_API void ig_interp_result_free(ig_interp_result *result);
IG_API void ig_interp_object_free(ig_interp_object *object);

/* ---- packages, and objects of every interpreter ----
 *
 * A replica is an object that each interpreter makes for itself when it first needs it.
 * Memory of weights is one for all, and read-only: of the archive, which is mapped, or
 * of the buffers that the pickled object had.  All else diverges: what one interpreter
 * changes in its object, others do not see.  To be freed before its manager. */

/* A torch.package archive: its PackageImporter.  IO: it cannot be read. */
IG_API IG_MUST_USE ig_status ig_interp_load_package(ig_interp_manager *manager,
                                                    const ig_interp_call *how,
                                                    const char *path,
                                                    ig_interp_replica **out_package);
/* An object that the package holds; it may outlive the package's replica. */
IG_API IG_MUST_USE ig_status ig_interp_load_pickle(ig_interp_replica *package,
                                                   const ig_interp_call *how,
                                                   const char *module,
                                                   const char *resource,
                                                   ig_interp_replica **out_replica);
/* A resource as a value: IG_INTERP_TEXT of UTF-8, IG_INTERP_BYTES. */
IG_API IG_MUST_USE ig_status ig_interp_load_text(ig_interp_replica *package,
                                                 const ig_interp_call *how,
                                                 const char *module,
                                                 const char *resource,
                                                 ig_interp_result **out_result);
IG_API IG_MUST_USE ig_status ig_interp_load_binary(ig_interp_replica *package,
                                                   const ig_interp_call *how,
                                                   const char *module,
                                                   const char *resource,
                                                   ig_interp_result **out_result);
/* Pickles an object, once; INVALID: it cannot be pickled. */
IG_API IG_MUST_USE ig_status ig_interp_replicate(ig_interp *interp,
                                                 const ig_interp_call *how,
                                                 const ig_interp_object *object,
                                                 ig_interp_replica **out_replica);
/* The object as this interpreter has it, or makes it now. */
IG_API IG_MUST_USE ig_status ig_interp_replica_in(ig_interp_replica *replica,
                                                  const ig_interp_call *how,
                                                  ig_interp *interp,
                                                  ig_interp_object **out_object);
/* Calls it (method NULL), or a method of it, in any interpreter that is free, as
 * ig_interp_acquire waits for one. */
IG_API IG_MUST_USE ig_status ig_interp_replica_invoke(
    ig_interp_replica *replica, const ig_interp_call *how, const char *method,
    const ig_interp_arguments *arguments, ig_interp_result **out_result);
/* Interpreter `index`, or all (-1), drop the object; the next use makes it anew. */
IG_API void ig_interp_unload(ig_interp_replica *replica, int64_t index);
IG_API void ig_interp_replica_free(ig_interp_replica *replica);

#ifdef __cplusplus
}
#endif
#endif
