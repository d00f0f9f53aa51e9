/* The CPU target's backend: kernel graph → LLVM → object → image.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     compile:   emit.c (table by opcode)  →  machine.c (passes, code)  →  image.c
 *
 * The state holds one LLVM context for all kernels of a compilation; a kernel gets a
 * module of its own, which is dropped before the next.
 */
#include "codegen/cpu/provider.h"

#include "codegen/cpu/emit.h"
#include "codegen/cpu/image.h"
#include "codegen/cpu/machine.h"
#include "ingot_build_id.h"

#include <stdlib.h>

typedef struct state {
    ig_context *context;
    ig_arena arena; /* for one emission at a time */
    ig_cpu_machine machine;
} state;

static ig_status open_backend(ig_context *context, const ig_target *target,
                              void **out_state) {
    const ig_cpu_level *level = ig_cpu_level_find(target->level);
    if (!level) {
        return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                        "target '%s': no such level of a CPU", target->name);
    }
    state *s = calloc(1, sizeof(*s));
    if (!s) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "out of memory");
    }
    s->context = context;
    ig_arena_init(&s->arena, &context->budget);
    ig_status status = ig_cpu_machine_open(&s->machine, context, level);
    if (status != IG_OK) {
        free(s);
        return status;
    }
    *out_state = s;
    return IG_OK;
}

static void close_backend(void *opened) {
    state *s = opened;
    ig_cpu_machine_close(&s->machine);
    ig_arena_fini(&s->arena);
    free(s);
}

static ig_status check_size(const state *s, const ig_graph *kernel) {
    if ((int64_t)kernel->op_count <= s->context->limits.kernel_ops) {
        return IG_OK;
    }
    return ig_error_limit(&s->context->diag, NULL, &s->context->limits,
                          IG_LIMIT_kernel_ops, "kernel '%s' of %u ops", kernel->name,
                          kernel->op_count);
}

/* The kernel as an LLVM module in s->machine, not yet optimised; with debug information
 * where `debug` is not NULL. */
static ig_status build_module(state *s, const ig_graph *kernel, ig_cpu_debug *debug) {
    IG_TRY(check_size(s, kernel));
    IG_TRY(ig_context_poll(s->context));
    ig_arena_fini(&s->arena);
    ig_cpu_machine_begin(&s->machine, kernel);
    ig_cpu_emitter emitter = {
        .context = s->context,
        .arena = &s->arena,
        .level = s->machine.level,
        .kernel = kernel,
        .llvm = s->machine.llvm,
        .module = s->machine.module,
        .builder = s->machine.builder,
    };
    if (debug) {
        debug->builder = ig_cpu_machine_debug(&s->machine);
        ig_cpu_debug_begin(&emitter, debug);
    }
    LLVMSetCurrentDebugLocation2(s->machine.builder, NULL);
    IG_TRY(ig_cpu_emit_kernel(&emitter));
#ifndef NDEBUG
    IG_TRY(ig_cpu_machine_verify(&s->machine));
#endif
    return IG_OK;
}

static ig_status emit_text(state *s, ig_writer *text) {
    ig_put(text, "; as emitted, for %s\n%s\n", s->machine.level->name,
           ig_cpu_machine_print(&s->machine));
    IG_TRY(ig_cpu_machine_optimize(&s->machine));
    ig_put(text, "; after passes\n%s", ig_cpu_machine_print(&s->machine));
    return IG_OK;
}

static ig_status emit_kernel(void *opened, const ig_graph *kernel, ig_code_form what,
                             ig_writer *text) {
    state *s = opened;
    IG_TRY(build_module(s, kernel, NULL));
    if (what == IG_EMIT_TEXT) {
        return emit_text(s, text);
    }
    ig_str assembly = { 0 };
    IG_TRY(ig_cpu_machine_optimize(&s->machine));
    IG_TRY(ig_cpu_machine_assemble(&s->machine, LLVMAssemblyFile, &assembly));
    ig_put_str(text, assembly);
    return IG_OK;
}

static ig_status keep_debug(const ig_cpu_debug *debug, const ig_code_image *image,
                            ig_arena *arena, const ig_kernel_debug **out) {
    ig_kernel_debug *kept = IG_NEW(arena, ig_kernel_debug);
    kept->file = ig_str_of(ig_arena_printf(arena, "%s.ig", debug->name));
    kept->text.data = ig_arena_copy(arena, debug->text.data, debug->text.size);
    kept->text.size = debug->text.size;
    IG_TRY(ig_cpu_debug_lines(image->object, arena, kept));
    IG_TRY(ig_cpu_debug_object(image->object, arena, kept));
    *out = kept;
    return IG_OK;
}

static ig_status compile_kernel(void *opened, const ig_graph *kernel, bool wants_debug,
                                ig_arena *arena, ig_compiled_kernel *out_kernel) {
    state *s = opened;
    ig_str object = { 0 };
    ig_code_image image = { 0 };
    ig_cpu_debug debug = { 0 };
    const char *symbol = "k";
    const ig_kernel_debug *kept = NULL;
    IG_TRY(build_module(s, kernel, wants_debug ? &debug : NULL));
    IG_TRY(ig_cpu_machine_optimize(&s->machine));
    IG_TRY(ig_cpu_machine_assemble(&s->machine, LLVMObjectFile, &object));
    symbol = wants_debug ? debug.name : symbol;
    IG_TRY(
        ig_code_image_flatten(s->context, kernel->name, object, symbol, arena, &image));
    if (wants_debug) {
        IG_TRY(keep_debug(&debug, &image, arena, &kept));
    }
    *out_kernel = (ig_compiled_kernel){ .name = kernel->name,
                                        .entry = image.entry,
                                        .bytes = image.bytes,
                                        .size = image.size,
                                        .debug = kept };
    return IG_OK;
}

static const ig_backend backend = {
    .name = "llvm",
    .family = IG_FAMILY_CPU,
    .open = open_backend,
    .emit = emit_kernel,
    .compile = compile_kernel,
    .close = close_backend,
};

const ig_backend *ig_provider_llvm(const char *build_id) {
    return strcmp(build_id, INGOT_BUILD_ID) == 0 ? &backend : NULL;
}
