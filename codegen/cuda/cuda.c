/* The CUDA backend: kernel form to CUDA C++, PTX and cubin.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Printing needs nothing but this library; PTX and cubin need NVRTC, which needs no
 * GPU.
 */
#include "codegen/cuda/cuda.h"
#include "codegen/cuda/emit.h"
#include "codegen/cuda/nvrtc.h"

#include <stdlib.h>

typedef struct state {
    ig_context *context;
    const char *architecture; /* "sm_90a", or "compute_90" */
    bool is_tail;             /* its images are PTX */
    ig_nvrtc nvrtc;
    bool is_open; /* NVRTC is looked for when it is first needed */
} state;

static ig_status open_cuda(ig_context *context, const ig_target *target,
                           void **out_state) {
    state *s = calloc(1, sizeof *s);
    if (!s) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "out of memory");
    }
    s->context = context;
    s->architecture = target->level;
    s->is_tail = target->is_tail;
    *out_state = s;
    return IG_OK;
}

static ig_status print_source(const state *s, const ig_graph *kernel, ig_writer *out) {
    if (kernel->op_count > s->context->limits.kernel_ops) {
        return ig_error_limit(&s->context->diag, NULL, &s->context->limits,
                              IG_LIMIT_kernel_ops, "kernel '%s' of %u ops",
                              kernel->name, kernel->op_count);
    }
    ig_cuda_emit_preamble(out);
    return ig_cuda_emit_kernel(kernel, out);
}

/* NVRTC cannot be interrupted: cancelling is looked for before it starts. */
static ig_status assemble_kernel(state *s, ig_str source, bool wants_ptx,
                                 ig_arena *arena, ig_str *out_result) {
    IG_TRY(ig_context_poll(s->context));
    if (!s->is_open) {
        IG_TRY(ig_nvrtc_open(s->context, &s->nvrtc));
        s->is_open = true;
    }
    ig_nvrtc_job job = { .source = source,
                         .architecture = s->architecture,
                         .wants_ptx = wants_ptx };
    return ig_nvrtc_compile(s->context, &s->nvrtc, &job, arena, out_result);
}

static ig_status assemble_cuda(void *opened, ig_str text, ig_code_form what,
                               ig_writer *out) {
    state *s = opened;
    ig_str result = { NULL, 0 };
    IG_TRY(assemble_kernel(s, text, what == IG_EMIT_ASM || s->is_tail, out->arena,
                           &result));
    ig_put_str(out, result);
    return IG_OK;
}

static ig_status emit_cuda(void *opened, const ig_graph *kernel, ig_code_form what,
                           ig_writer *text) {
    if (what == IG_EMIT_TEXT) {
        return print_source(opened, kernel, text);
    }
    ig_writer source;
    ig_writer_init(&source, text->arena);
    IG_TRY(print_source(opened, kernel, &source));
    return assemble_cuda(opened, ig_writer_str(&source), what, text);
}

static void close_cuda(void *opened) {
    free(opened);
}

const ig_backend ig_backend_cuda = {
    .name = "cuda",
    .family = IG_FAMILY_GPU,
    .open = open_cuda,
    .emit = emit_cuda,
    .assemble = assemble_cuda,
    .close = close_cuda,
};
