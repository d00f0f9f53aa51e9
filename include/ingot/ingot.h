/* Ingot, the compiler: models in, programs out.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     #include <ingot/ingot.h>
 *     #include <ingot/runtime.h>
 *
 *     ig_context *context = ig_context_create(NULL);
 *     ig_module *module = NULL;
 *     ig_program *program = NULL;
 *     if (ig_import(context, "dlrm.onnx", NULL, &module) == IG_OK &&
 *         ig_compile(module, NULL, &program) == IG_OK) {
 *         ... ig_session_create(program, ...), ig_session_run(...): runtime.h ...
 *     } else {
 *         fputs(ig_context_messages(context), stderr);
 *     }
 *     ig_program_close(program);
 *     ig_module_close(module);
 *     ig_context_destroy(context);
 *
 * Ownership: what a create, import, compile or open hands out is the caller's and has
 * exactly one destroy or close.  A module must not outlive its context; a program may
 * outlive both.  Everything else is borrowed and const.
 * Errors: a function that can fail returns ig_status; words are in the context's
 * messages and go to its sink as they are reported.
 * Threads: one context per thread at a time; contexts share nothing.  ig_context_cancel
 * may be called from any thread and from a signal handler.
 */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/status.h>
#include <ingot/tree.h>
#include <ingot/values.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_context ig_context;
typedef struct ig_module ig_module;
typedef struct ig_program ig_program; /* runtime.h */

/* ---- context ---- */

/* Extensible: set size to sizeof(the struct); zero fields mean the default. */
typedef struct ig_context_options {
    size_t size;
    /* Receives each message (one or more lines, no final newline) as it is reported. */
    void (*message)(void *user, int severity,
                    const char *text); /* 0 note 1 warning 2 error */
    void *message_user;
    /* Called on the caller's thread while work goes on; total 0 means unknown. */
    void (*progress)(void *user, const char *stage, uint64_t done, uint64_t total);
    void *progress_user;
    uint64_t memory_limit; /* bytes of compiler memory, weights not counted */
    const char
        *cache_folder;   /* NULL: INGOT_CACHE_DIR, else the user's; "" : no cache */
    int compile_threads; /* 0: as many as there are CPUs */
} ig_context_options;

IG_API ig_context *ig_context_create(const ig_context_options *options);
IG_API void ig_context_destroy(ig_context *context);
/* All messages since the last public call that could fail began; "" when none. */
IG_API const char *ig_context_messages(const ig_context *context);
/* One atomic store.  Running work returns IG_CANCELLED soon; the context stays
 * usable. */
IG_API void ig_context_cancel(ig_context *context);
/* -1 when there is no such limit. */
IG_API int64_t ig_context_limit(const ig_context *context, const char *name);
/* "limit name" as listed by `ingot info`; IG_INVALID when there is no such limit. */
IG_API IG_MUST_USE ig_status ig_context_set_limit(ig_context *context, const char *name,
                                                  int64_t value);

/* ---- modules ---- */

/* One statement about an input: "x=f32[8,13]" fixes its type (a name in place of an
 * extent leaves it symbolic).  Models from Python take trees: "xs=[f32[3], none]",
 * "n=3" (or "n=int": known only at run time), "f=kjt(keys=["a"], values=i64[V],
 * lengths=i64[L], weights=none)"; NAME may also be the place of the argument, "0". */
typedef struct ig_import_options {
    size_t size;
    const char *const *inputs; /* `input_count` statements */
    size_t input_count;
    /* Inputs folded into the graph as constants: names (of models from Python also
     * numbers of leaves), and tensors as .pb or .npy files. */
    const char *const *constant_names, *const *constant_files;
    size_t constant_count;
    const char *entry;      /* the method of a model from Python; NULL: "forward" */
    const char *resource;   /* of a torch.package, "m/m.pkl"; NULL: its one model */
    int rowwise_mean;       /* shards by rows with mean pooling: divide by the whole
                                * bag, where the archive adds the shards' means */
    int inputs_only;        /* of ONNX inputs alone, to make values for (f32[any_rank]
                                * where the file says no rank): not to be compiled */
    const char *checkpoint; /* a folder of torch.distributed.checkpoint, whose tensors
                             * become the weights of their names; or NULL */
} ig_import_options;

/* What a file is, from its content: "onnx", "ir", "artifact", "torchscript", "package",
 * or "" for anything else.  Never reports, but errno says why a file cannot be read. */
IG_API const char *ig_model_format(const char *path);
/* What a torch.package holds: resources, sources, values; "" for any other file.  The
 * text is the context's. */
IG_API IG_MUST_USE ig_status ig_model_describe(ig_context *context, const char *path,
                                               const char **out_text);
/* What a TorchScript archive holds, as JSON, without running its program: its methods
 * with their arguments (an example of --input for each, "needs_types" where neither a
 * trace nor defaults say what they are like), modules, tensors, embedding tables; ""
 * for any other file.  The text is the context's. */
IG_API IG_MUST_USE ig_status ig_model_inspect(ig_context *context, const char *path,
                                              const char **out_json);
/* What a module holds, as JSON (docs/inspect.md): producer, operators, parameters,
 * symbols, guards, and "refused": all messages why it would not compile so.  The text
 * is the module's until the next call on it. */
typedef struct ig_compile_options ig_compile_options;
IG_API IG_MUST_USE ig_status ig_module_inspect(ig_module *module,
                                               const ig_compile_options *options,
                                               const char **out_json);
/* Reads a model file; the format (.onnx, .pt, .ig) is told from its content. */
IG_API IG_MUST_USE ig_status ig_import(ig_context *context, const char *path,
                                       const ig_import_options *options,
                                       ig_module **out_module);
/* Reads a model in memory.  `bytes` must outlive the module: weights stay in it.
 * External data is looked for beside `path` (NULL: there must be none). */
IG_API IG_MUST_USE ig_status ig_import_memory(ig_context *context, const void *bytes,
                                              size_t size, const char *path,
                                              const ig_import_options *options,
                                              ig_module **out_module);
IG_API void ig_module_close(ig_module *module);
/* Runs a pipeline ("fold,cse,dce").  A module that it fails on is to be closed. */
IG_API IG_MUST_USE ig_status ig_module_run(ig_module *module, const char *pipeline,
                                           const char *target);
typedef enum ig_format {
    IG_FORMAT_TEXT,
    IG_FORMAT_DOT,
    IG_FORMAT_JSON,
    IG_FORMAT_HTML,           /* a page that draws the graph */
    IG_FORMAT_MODEL_EXPLORER, /* JSON for Google's Model Explorer */
    IG_FORMAT_ONNX /* bytes of ONNX, to look at alone: ops in domain "ingot" */
} ig_format;
/* The module's text; the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_module_print(ig_module *module, ig_format format,
                                             const char **out_text, size_t *out_size);
/* Writes the module's text to a file, and constants that are longer than a line and lie
 * in memory or another folder to PATH.weights beside it; each is there when it is
 * whole. */
IG_API IG_MUST_USE ig_status ig_module_write(ig_module *module, const char *path);
/* The call: "forward(x: f32[B, 3]) -> (f32[B],)"; the module's. */
IG_API const char *ig_module_signature(ig_module *module);
/* Its tree (tree.h): node 0 is the call.  Texts are the module's. */
IG_API size_t ig_module_node_count(ig_module *module);
IG_API ig_tree_node ig_module_node(ig_module *module, size_t index);
/* Buffers that a call changes and that outlive it. */
IG_API size_t ig_module_state_count(const ig_module *module);
/* Leaves of the tree: names ("output_0" where the model gives none) and types such as
 * "f32[B, 13]". */
IG_API size_t ig_module_input_count(const ig_module *module);
IG_API size_t ig_module_output_count(const ig_module *module);
IG_API const char *ig_module_input_name(ig_module *module, size_t index);
IG_API const char *ig_module_input_type(ig_module *module, size_t index);
IG_API const char *ig_module_output_name(ig_module *module, size_t index);
IG_API const char *ig_module_output_type(ig_module *module, size_t index);

/* A weight by its name, or by what stands between dots in one alone ("users" of
 * "ebc.users.weight"); data may lie in the model's file.  *out_weight is the module's
 * until its next call that hands something out, *out_name (may be NULL) its name.
 * Errors: IG_INVALID where no weight or more than one is named so. */
IG_API IG_MUST_USE ig_status ig_module_weight_value(ig_module *module, const char *name,
                                                    const ig_argument **out_weight,
                                                    const char **out_name);

/* ---- compiling ---- */

typedef enum ig_weights { IG_WEIGHTS_EMBED, IG_WEIGHTS_REFERENCE } ig_weights;

struct ig_compile_options {
    size_t size;
    const char
        *target; /* "cpu", "cpu:v3,v4-vnni", "interpret"; NULL: the host's best */
    const char *passes; /* pipeline in place of the default, or NULL */
    ig_weights weights;
    int torch_empty; /* an empty bag gives 0 in every pooling mode */
    int clamp_ids;   /* ids out of range are clamped instead of reported */
    int isolate;     /* ig_compile_model(_file): all of it in a process of its own */
    int no_cache;
    /* What ig_compile_file writes: "ingot" (NULL: too), "object" (one symbol and its
     * size), "header" (C functions over that symbol), "shared" (by the system's cc). */
    const char *emit;
    /* Dumps: called after each pass, or NULL. */
    void (*after_pass)(void *user, const char *pass, unsigned number, const char *text);
    void *after_pass_user;
    const char *stop_after; /* dumps: the pipeline ends behind this pass, or NULL */
    /* For finding defects of Ingot, slow: kernels check each load and store, and
     * sessions fill memory that holds no value (docs/debugging.md). */
    int sanitize;
    /* Artifacts hold debug information of their kernels, and programs tell gdb about
     * them (docs/debugging.md).  INGOT_DEBUG=gdb in the environment asks for it too. */
    int debug;
};

/* Are target, passes and stop_after names that this build knows?  IG_INVALID after a
 * message otherwise: tools ask before they read a model. */
IG_API IG_MUST_USE ig_status
ig_compile_options_check(ig_context *context, const ig_compile_options *options);
/* Compiles for this process.  The module is left as it was. */
IG_API IG_MUST_USE ig_status ig_compile(ig_module *module,
                                        const ig_compile_options *options,
                                        ig_program **out_program);
/* Compiles into an artifact file, published by rename. */
IG_API IG_MUST_USE ig_status ig_compile_file(ig_module *module, const char *path,
                                             const ig_compile_options *options);
/* Reads a model file and compiles it, as ig_import and ig_compile(_file) do.  With
 * options->isolate a process of its own does it, for models that nobody trusts: memory
 * and time are bounded (limits isolate_bytes, isolate_seconds) and system calls
 * filtered, and whatever becomes of it is a status and words.  IG_UNSUPPORTED: this
 * system cannot confine a process.  Isolated work uses no cache and embeds weights.  */
IG_API IG_MUST_USE ig_status ig_compile_model(ig_context *context, const char *path,
                                              const ig_import_options *import,
                                              const ig_compile_options *options,
                                              ig_program **out_program);
IG_API IG_MUST_USE ig_status ig_compile_model_file(ig_context *context,
                                                   const char *path,
                                                   const ig_import_options *import,
                                                   const char *artifact,
                                                   const ig_compile_options *options);
/* Writes the artifact `path` to `to` (which may be the same file) without what only
 * people read: what became of the nodes of the model (ig_program_sources), and debug
 * information. */
IG_API IG_MUST_USE ig_status ig_artifact_strip(ig_context *context, const char *path,
                                               const char *to);
/* What an artifact would hold, as text: "tensor", "plan", "kernel", "llvm", "asm",
 * "cuda", "ptx".  The text is the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_dump(ig_module *module, const char *stage,
                                     const ig_compile_options *options,
                                     ig_format format, const char **out_text,
                                     size_t *out_size);
/* Reads a model file and dumps it, in a process of its own (see ig_compile_model).  The
 * text is the context's until its next call. */
typedef struct ig_isolated_dump {
    size_t size;
    const ig_import_options *import;   /* or NULL */
    const ig_compile_options *compile; /* or NULL */
    const char *stage;                 /* as ig_dump */
    ig_format format;
} ig_isolated_dump;
IG_API IG_MUST_USE ig_status ig_dump_isolated(ig_context *context, const char *path,
                                              const ig_isolated_dump *what,
                                              const char **out_text, size_t *out_size);

/* A register tile that a product with constant weights can be made of. */
typedef struct ig_matmul_tile {
    int rows, columns; /* as the attribute `tile` of matmul_panels takes them */
    int block_rows;    /* of the shape's longest block: rows, evenly split */
    int is_pick;       /* what the compiler takes by itself; true for one of them */
} ig_matmul_tile;
/* Writes at most `capacity` tiles for a product of M x K and K x N (shape); the count
 * is that of all.  `target` names one level of a CPU; NULL: the host's best. */
IG_API IG_MUST_USE ig_status ig_matmul_tiles(ig_context *context, const char *target,
                                             const int64_t shape[3],
                                             ig_matmul_tile *tiles, size_t capacity,
                                             size_t *out_count);

/* ---- caches ---- */

/* What the caches hold, as JSON: {"folder", "is_used", "why", "limit_bytes", and
 * "models", "kernels", "files" with "entries" and "bytes"}.  The text is the
 * context's. */
IG_API IG_MUST_USE ig_status ig_cache_describe(ig_context *context,
                                               const char **out_json);
/* Removes every entry.  Programs that are open stay so. */
IG_API IG_MUST_USE ig_status ig_cache_clear(ig_context *context);

/* ---- the reference interpreter ---- */

/* Runs the module's entry graph by the reference interpreter: slow, for checking.
 * Outputs are the module's until the next call on it. */
IG_API IG_MUST_USE ig_status ig_interpret_run(ig_module *module,
                                              const ig_argument *inputs,
                                              size_t input_count,
                                              const ig_argument **out_outputs,
                                              size_t *out_output_count);
/* State of the interpreter's runs begins anew. */
IG_API void ig_interpret_reset(ig_module *module);

/* ---- about this build, and its messages ---- */

/* Blanks, in place, what is secret in the URLs of a text, as in every message of the
 * library: "user:password@" becomes "***@", "?token=abc" "?token=***". */
IG_API void ig_text_hide_secrets(char *text);
IG_API const char *ig_compiler_version(void);
/* JSON: host level, targets, passes, limits, knobs, libraries found. */
IG_API const char *ig_compiler_info(ig_context *context);

#ifdef __cplusplus
}
#endif
#endif
