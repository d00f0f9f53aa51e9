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

typedef enum ig_code_form {
    IG_EMIT_TEXT,  /* LLVM IR, CUDA C */
    IG_EMIT_ASM,   /* assembly, PTX */
    IG_EMIT_IMAGE, /* position-independent image, cubin */
} ig_code_form;

/* The code from `offset` in a kernel's bytes on is of that line of its text. */
typedef struct ig_debug_row {
    uint32_t offset, line;
} ig_debug_row;

/* What debuggers and profilers are told of a kernel. */
typedef struct ig_kernel_debug {
    ig_str file;   /* name of the file that `text` is to be in, without a folder */
    ig_str text;   /* the kernel as it prints */
    ig_str object; /* relocatable ELF; addresses of sections count from `bytes` on */
    uint64_t folder, folder_bytes; /* room in it for the folder, and its zero */
    const ig_debug_row *rows;      /* in the order of the code */
    size_t row_count;
} ig_kernel_debug;

/* One compiled kernel. */
typedef struct ig_compiled_kernel {
    const char *name;
    int64_t entry;     /* byte offset of ig_kernel_fn_v0 in `bytes` */
    const void *bytes; /* the arena's */
    size_t size; /* cpu: 64-byte aligned code and read-only data, no relocations */
    const ig_kernel_debug *debug; /* where it was asked for, or NULL */
} ig_compiled_kernel;

typedef struct ig_backend {
    const char *name;
    ig_family family;
    /* IG_UNSUPPORTED with a diagnostic when the toolchain is absent; state is the
     * caller's, one per thread, until close. */
    ig_status (*open)(ig_context *context, const ig_target *target, void **out_state);
    /* Prints `kernel` at the wanted stage (never IMAGE). */
    ig_status (*emit)(void *state, const ig_graph *kernel, ig_code_form what,
                      ig_writer *text);
    /* The texts of several kernels, one after another, as one unit of `what` (ASM or
     * IMAGE).  NULL: the backend has no text of its kernels. */
    ig_status (*assemble)(void *state, ig_str text, ig_code_form what, ig_writer *out);
    /* Compiles one kernel graph; the result lives in `arena`.  NULL: a program's
     * kernels are assembled together and found by their names (a target that
     * has_modules). */
    ig_status (*compile)(void *state, const ig_graph *kernel, bool wants_debug,
                         ig_arena *arena, ig_compiled_kernel *out_kernel);
    void (*close)(void *state);
} ig_backend;

/* The LLVM provider: a library opened only when something must be compiled.  It exports
 * one function under this name; it refuses a driver of another build by returning
 * NULL. */
#define IG_PROVIDER_ENTRY "ig_provider_llvm"
typedef const ig_backend *ig_provider_fn(const char *build_id);

#endif
