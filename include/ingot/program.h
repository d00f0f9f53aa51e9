/* Compiled models, opened and asked about; ingot/runtime.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_PROGRAM_H
#define INGOT_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/custom.h>
#include <ingot/log.h>
#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/view.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_program ig_program;

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

/* Extensible: set size to sizeof(the struct), without which it is refused; other zero
 * fields mean the default. */
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
    const void *code; /* the artifact's code in the program's own text (--emit header
                       * gives it), at a multiple of 4096, or NULL */
    size_t code_size;
    const char *device; /* "cpu", "cuda": that runs it; NULL: the first that is here of
                         * those that the artifact was made for, in its own order */
    int ordinal;        /* of a GPU: its number on this machine */
    /* Operators of the user's own that the artifact calls: files (INGOT_OPS=FILE:FILE
     * names some too), and tables, which outlive the program. */
    const char *const *op_files;
    size_t op_file_count;
    const ig_custom_library *const *libraries;
    size_t library_count;
    const ig_log *log;    /* is told why opening fails, or NULL */
    size_t device_memory; /* of a GPU: bytes that constants may take of its memory; the
                           * largest ones stay in the host's, where kernels read them.
                           * 0: all of them are on the GPU */
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

/* The role of an input or output along the batch, for callers that join calls. */
typedef enum ig_port_role {
    IG_ROLE_NONE,        /* not known */
    IG_ROLE_ROWS,        /* the first extent is the batch */
    IG_ROLE_KEY_LENGTHS, /* lengths, key by key: keys x batch of them */
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
    int32_t memory, device;    /* its place unless a view says otherwise */
    int32_t in_place_of;       /* output: the input whose memory it is in, or -1 */
    ig_port_role role;
    int32_t keys;      /* lengths, offsets: how many there are a row; 0: not known */
    int32_t partner;   /* an input, or -1 */
    int32_t is_weight; /* input: an opened weight, the same from run to run until
                            * ig_session_weights_changed */
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
    const char *levels; /* of all code in the artifact: "v3, v4-vnni, cuda-sm_80" */
    size_t kernel_count, step_count, launch_count;
    uint64_t code_bytes, plan_bytes, weight_bytes; /* weights: all constants */
    int is_sanitized;   /* made with `sanitize`: its runs check what kernels touch */
    uint32_t format;    /* the version of the artifact's format: 6 */
    const char *device; /* that runs it: "cpu", "cuda" */
    int ordinal;        /* of a GPU */
} ig_program_facts;

IG_API void ig_program_get_facts(const ig_program *program, ig_program_facts *facts);
/* The machine's best level: "v2", "v3", "v4", "v4-vnni", "v4-amx"; "" for none. */
IG_API const char *ig_runtime_level(void);

/* The artifact's record of tables in stores, *out_size bytes, there as long as the
 * program is: for ingot/lookahead.h, which runs such programs.  NULL: its tables, if
 * any, are its own. */
IG_API const void *ig_program_stored(const ig_program *program, size_t *out_size);

/* What became of each node of the model, and whose work each step does: JSON as
 * docs/inspect.md has it, *out_size bytes without a zero byte, there as long as the
 * program is.  NULL and 0 where the artifact was stripped. */
IG_API const char *ig_program_sources(const ig_program *program, size_t *out_size);

#ifdef __cplusplus
}
#endif
#endif
