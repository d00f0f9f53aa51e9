/* The target that emits nothing: the functions that every target fills in.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Copy this folder (and runtime/null/), rename, and give each function its work; the
 * comments state the promises that the compiler relies on.  docs/writing-a-target.md
 * tells the whole way.
 */
#include "codegen/null/null.h"

#include <stdlib.h>

/* What lives as long as the backend is open: the tool chain's handles, an arena for one
 * kernel at a time.  Reach foreign memory from here, so that an arena that runs out and
 * unwinds leaves no trace. */
typedef struct state {
    ig_context *context;
} state;

/* One state a thread.  A tool chain that is absent, or a level that it does not know,
 * is IG_UNSUPPORTED, with words; then *out_state is untouched and nothing is closed. */
static ig_status open_null(ig_context *context, const ig_target *target,
                           void **out_state) {
    (void)target;
    state *s = calloc(1, sizeof *s);
    if (!s) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "out of memory");
    }
    s->context = context;
    *out_state = s;
    return IG_OK;
}

/* Prints the kernel as text or assembly.  Here an emitter would walk the blocks and
 * call, for each op, the function that its table has for op->code; an op without one
 * is IG_INTERNAL and names kernel and op. */
static ig_status emit_null(void *opened, const ig_graph *kernel, ig_code_form what,
                           ig_writer *text) {
    (void)opened, (void)kernel, (void)what, (void)text;
    return IG_OK;
}

/* Makes the code of one kernel.  Poll the context and check limits.kernel_ops before
 * the tool chain starts, since it cannot be interrupted.  The bytes are the arena's. */
static ig_status compile_null(void *opened, const ig_graph *kernel, bool wants_debug,
                              ig_arena *arena, ig_compiled_kernel *out_kernel) {
    const state *s = opened;
    (void)wants_debug;
    IG_TRY(ig_context_poll(s->context));
    *out_kernel = (ig_compiled_kernel){ .name = kernel->name,
                                        .bytes = ig_arena_alloc(arena, 0) };
    return IG_OK;
}

static void close_null(void *opened) {
    free(opened);
}

const ig_backend ig_backend_null = {
    .name = "null",
    .family = IG_FAMILY_CPU,
    .open = open_null,
    .emit = emit_null,
    .compile = compile_null,
    .close = close_null,
};
