/* A code generator: kernel graphs in, an image out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One const struct per family of targets (cpu, cuda, null); to add one, copy null/ and
 * add a row where the driver lists them.  `emit` and `assemble` are apart, so that the
 * text can be tested without a device or a toolchain.
 */
#ifndef IG_CODEGEN_BACKEND_H
#define IG_CODEGEN_BACKEND_H

#include "base/writer.h"
#include "ir/graph.h"
#include "ir/target.h"

typedef enum ig_emit {
    IG_EMIT_TEXT,  /* LLVM IR, CUDA C */
    IG_EMIT_ASM,   /* assembly, PTX */
    IG_EMIT_IMAGE, /* position-independent image, cubin */
} ig_emit;

/* One compiled kernel: entry is a byte offset into the code bytes (cpu) or a symbol. */
typedef struct ig_compiled_kernel {
    const char *name;
    int64_t entry; /* byte offset of ig_kernel_fn_v0 in `bytes`; -1: look up by name */
    const void *bytes; /* the arena's */
    size_t size; /* cpu: 64-byte aligned code and read-only data, no relocations */
} ig_compiled_kernel;

typedef struct ig_backend {
    const char *name;
    ig_family family;
    /* IG_UNSUPPORTED with a diagnostic when the toolchain is absent; state is the
     * caller's, one per thread, until close. */
    ig_status (*open)(ig_context *context, const ig_target *target, void **out_state);
    /* Prints `kernel` at the wanted stage (never IMAGE). */
    ig_status (*emit)(void *state, const ig_graph *kernel, ig_emit what,
                      ig_writer *text);
    /* The texts of several kernels, one after another, as one unit of `what` (ASM or
     * IMAGE).  NULL: the backend has no text that stands for its kernels. */
    ig_status (*assemble)(void *state, ig_str text, ig_emit what, ig_writer *out);
    /* Compiles one kernel graph; the result lives in `arena`. */
    ig_status (*compile)(void *state, const ig_graph *kernel, ig_arena *arena,
                         ig_compiled_kernel *out_kernel);
    void (*close)(void *state);
} ig_backend;

extern const ig_backend ig_backend_cuda;
extern const ig_backend ig_backend_null;

/* The LLVM provider: a library opened only when something must be compiled.  It exports
 * one function under this name; it refuses a driver of another build by returning
 * NULL. */
#define IG_PROVIDER_ENTRY "ig_provider_llvm"
typedef const ig_backend *ig_provider_fn(const char *build_id);

#endif
