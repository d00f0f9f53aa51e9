/* Models compiled, into this process or into files; ingot/ingot.h includes this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef INGOT_COMPILE_H
#define INGOT_COMPILE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/module.h>
#include <ingot/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ig_program ig_program; /* runtime.h */

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
    void (*after_pass)(void *user, const char *pass, unsigned index, const char *text);
    void *after_pass_user;
    const char *stop_after; /* dumps: the pipeline ends after this pass, or NULL */
    /* For finding defects of Ingot, slow: kernels check each load and store, and
     * sessions fill memory that holds no value (docs/debugging.md). */
    int sanitize;
    /* Artifacts hold debug information of their kernels, and programs tell gdb about
     * them (docs/debugging.md).  INGOT_DEBUG=gdb in the environment asks for it too. */
    int debug;
    size_t device_memory; /* of a program that is opened here: ig_program_options */
    int tf32; /* products of f32 on GPUs: factors have 10 bits after the point (tf32),
               * where the GPU has instructions for it; sums are f32 */
    int winograd; /* convolutions of 3 x 3 constant taps, of f32 on CPUs, may be made of
                   * fewer products with transformed factors (docs/performance.md) */
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
/* Writes the artifact `path` to `to` (which may be the same file) without the parts
 * that only people read: the fates of the model's nodes (ig_program_sources), and debug
 * information. */
IG_API IG_MUST_USE ig_status ig_artifact_strip(ig_context *context, const char *path,
                                               const char *to);
/* A stage of the compiled model, as text: "tensor", "plan", "kernel", "llvm", "asm",
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
    int is_pick;       /* the compiler's default; true for one of them */
} ig_matmul_tile;
/* Writes at most `capacity` tiles for a product of M x K and K x N (shape); the count
 * is that of all.  `target` names one level of a CPU; NULL: the host's best. */
IG_API IG_MUST_USE ig_status ig_matmul_tiles(ig_context *context, const char *target,
                                             const int64_t shape[3],
                                             ig_matmul_tile *tiles, size_t capacity,
                                             size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
