/* NVRTC compiles what the CUDA emitter prints: every kernel of a DLRM, for two
 * architectures.  It needs no GPU; where it is absent these tests are skips.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The DLRM is the one in models/onnx/dlrm_onehot below INGOT_CASES (or ../shared), and
 * its twin in tests/models.
 */
#include "codegen/cuda/nvrtc.h"
#include "driver/compile/compile.h"
#include "ingot/ingot.h"
#include "tests/unit/cuda/cuda_case.h"

#include <stdlib.h>

static bool is_skipped(void) {
    ig_context context = { .limits = ig_limits_default };
    ig_nvrtc nvrtc;
    if (ig_nvrtc_open(&context, &nvrtc) == IG_OK) {
        return false;
    }
    unit_skip("PTX and cubin: no NVRTC here");
    return true;
}

/* ---- a model ---- */

typedef struct compile_call {
    ig_context *context;
    ig_module *module;
    const char *target;
    size_t kernels;
} compile_call;

static ig_status check_kernel(const compile_call *call, void *state,
                              const ig_graph *kernel, ig_arena *arena) {
    ig_writer text, cubin, ptx;
    ig_writer_init(&text, arena);
    ig_writer_init(&cubin, arena);
    ig_writer_init(&ptx, arena);
    IG_TRY(ig_backend_cuda.emit(state, kernel, IG_EMIT_TEXT, &text));
    IG_TRY(
        ig_backend_cuda.assemble(state, ig_writer_str(&text), IG_EMIT_IMAGE, &cubin));
    CHECK_MSG(cubin.size > 64 && memcmp(cubin.data, "\177ELF", 4) == 0,
              "'%s' for %s is no cubin", kernel->name, call->target);
    IG_TRY(ig_backend_cuda.emit(state, kernel, IG_EMIT_ASM, &ptx));
    char *entry = ig_arena_printf(arena, ".visible .entry %s(", kernel->name);
    CHECK_MSG(strstr(ptx.data, entry) != NULL, "'%s' in\n%s", entry, ptx.data);
    return IG_OK;
}

static ig_status compile_kernels(compile_call *call, const ig_module *module) {
    void *state = NULL;
    ig_arena arena;
    ig_status status = ig_backend_cuda.open(
        call->context, ig_target_find(ig_str_of(call->target)), &state);
    ig_arena_init(&arena, &call->context->budget);
    for (size_t i = 0; i < module->graphs.count && status == IG_OK; i++) {
        const ig_graph *graph = module->graphs.items[i];
        if (graph->stage == IG_STAGE_KERNEL) {
            status = check_kernel(call, state, graph, &arena);
            call->kernels++;
        }
    }
    ig_arena_fini(&arena);
    ig_backend_cuda.close(state);
    return status;
}

static ig_status lower_and_compile(void *user) {
    compile_call *call = user;
    ig_lowered lowered = { 0 };
    ig_compile_options options = { .size = sizeof options, .target = call->target };
    ig_status status = ig_module_lower(call->module, &options, "kernel", &lowered);
    if (status == IG_OK) {
        status = compile_kernels(call, lowered.modules[0]);
    }
    ig_lowered_fini(&lowered);
    return status;
}

static void check_model(const char *path, const char *target) {
    compile_call call = { .context = ig_context_create(NULL), .target = target };
    CHECK_MSG(ig_import(call.context, path, NULL, &call.module) == IG_OK, "%s",
              ig_context_messages(call.context));
    ig_status status = ig_driver_guard(call.context, lower_and_compile, &call);
    CHECK_MSG(status == IG_OK, "%s for %s: %s", path, target,
              ig_context_messages(call.context));
    CHECK(call.kernels >= 4);
    ig_module_close(call.module);
    ig_context_destroy(call.context);
}

static void check_twin(const char *target) {
    if (!is_skipped()) {
        check_model(INGOT_SOURCE_DIR "/tests/models/dlrm_onehot.ig", target);
    }
}

static void check_case(const char *target) {
    const char *cases = getenv("INGOT_CASES");
    char path[600];
    snprintf(path, sizeof path, "%s/models/onnx/dlrm_onehot/model.onnx",
             cases ? cases : INGOT_SOURCE_DIR "/../shared");
    FILE *file = fopen(path, "rb");
    if (!file) {
        unit_skip("no %s", path);
        return;
    }
    fclose(file);
    if (!is_skipped()) {
        check_model(path, target);
    }
}

TEST(dlrm_onehot_for_sm_80) {
    check_case("cuda:sm_80");
}
END_TEST

TEST(dlrm_onehot_for_sm_90a) {
    check_case("cuda:sm_90a");
}
END_TEST

TEST(its_twin_for_sm_80) {
    check_twin("cuda:sm_80");
}
END_TEST

TEST(its_twin_for_sm_90a) {
    check_twin("cuda:sm_90a");
}
END_TEST

/* ---- the rest of the text ---- */

static void compile_case(cuda_case *c) {
    void *state = NULL;
    CHECK_OK(ig_backend_cuda.open(&c->context, c->target, &state));
    for (uint32_t i = 0; i < c->launch_count; i++) {
        ig_writer text, cubin;
        ig_writer_init(&text, &c->arena);
        ig_writer_init(&cubin, &c->arena);
        CHECK_OK(
            ig_backend_cuda.emit(state, c->launches[i].kernel, IG_EMIT_TEXT, &text));
        ig_status status = ig_backend_cuda.assemble(state, ig_writer_str(&text),
                                                    IG_EMIT_IMAGE, &cubin);
        CHECK_MSG(status == IG_OK, "%s", c->last);
    }
    ig_backend_cuda.close(state);
}

static void check_text(const char *text, const int64_t *extents) {
    cuda_case c;
    cuda_case_open(&c, "cuda:sm_90a", text, extents, 10);
    cuda_case_lower(&c);
    compile_case(&c);
    cuda_case_close(&c);
}

TEST(other_dtypes_and_functions) {
    if (is_skipped()) {
        return;
    }
    check_text(
        "module @t {\n"
        "  graph @main(%x: f32[B], %i: i16[B], %w: f64[B]) -> (f16[B], i8[B], bf16[B], u64[B], f32[B], f64[B]) {\n"
        "    %a = cast %x {to = f16} : f16[B]\n    %b = add %a, %a : f16[B]\n"
        "    %c = cast %i {to = i8} : i8[B]\n    %d = shr %c, %c : i8[B]\n"
        "    %e = cast %w {to = bf16} : bf16[B]\n"
        "    %f = cast %w {to = u64} : u64[B]\n    %g = shl %f, %f : u64[B]\n"
        "    %h = tanh %x : f32[B]\n    %j = sin %h : f32[B]\n"
        "    %k = sqrt %w : f64[B]\n    %l = exp %k : f64[B]\n"
        "    ret %b, %d, %e, %g, %j, %l\n  }\n}\n",
        (int64_t[]){ 4 });
}
END_TEST

/* What NVRTC says about bad text reaches the user. */
TEST(a_failure_shows_the_log) {
    if (is_skipped()) {
        return;
    }
    cuda_case c;
    ig_nvrtc nvrtc;
    ig_str result;
    cuda_case_init(&c, "cuda:sm_80");
    CHECK_OK(ig_nvrtc_open(&c.context, &nvrtc));
    ig_nvrtc_job job = { .source = IG_STR("void f() { no_such_thing(); }"),
                         .architecture = "sm_80" };
    CHECK_STATUS(ig_nvrtc_compile(&c.context, &nvrtc, &job, &c.arena, &result),
                 IG_INTERNAL);
    CHECK_MSG(strstr(c.last, "no_such_thing") != NULL, "%s", c.last);
    cuda_case_close(&c);
}
END_TEST

UNIT_SUITE(cuda_nvrtc, dlrm_onehot_for_sm_80, dlrm_onehot_for_sm_90a,
           its_twin_for_sm_80, its_twin_for_sm_90a, other_dtypes_and_functions,
           a_failure_shows_the_log)
