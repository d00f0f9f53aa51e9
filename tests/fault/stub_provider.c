/* A provider of code that does nothing: kernels return.  For tests of all around LLVM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/backend.h"
#include "ingot_build_id.h"

#include <stdlib.h>
#include <string.h>

static ig_status open_stub(ig_context *context, const ig_target *target,
                           void **out_state) {
    (void)target;
    *out_state = malloc(1);
    return *out_state ? IG_OK
                      : ig_error(&context->diag, IG_LIMIT, NULL, "out of memory");
}

static ig_status emit_stub(void *state, const ig_graph *kernel, ig_code_form what,
                           ig_writer *text) {
    (void)state, (void)what;
    ig_put(text, "; %s\n", kernel->name);
    return IG_OK;
}

static ig_status compile_stub(void *state, const ig_graph *kernel, bool wants_debug,
                              ig_arena *arena, ig_compiled_kernel *out_kernel) {
    enum { RETURN = 0xc3, SIZE = 64 };
    (void)state, (void)wants_debug;
    char *code = memset(ig_arena_alloc(arena, SIZE), RETURN, SIZE);
    *out_kernel =
        (ig_compiled_kernel){ .name = kernel->name, .bytes = code, .size = SIZE };
    return IG_OK;
}

static void close_stub(void *state) {
    free(state);
}

static const ig_backend stub = {
    .name = "stub",
    .family = IG_FAMILY_CPU,
    .open = open_stub,
    .emit = emit_stub,
    .compile = compile_stub,
    .close = close_stub,
};

IG_API const ig_backend *ig_provider_llvm(const char *build_id);

const ig_backend *ig_provider_llvm(const char *build_id) {
    return strcmp(build_id, INGOT_BUILD_ID) == 0 ? &stub : NULL;
}
