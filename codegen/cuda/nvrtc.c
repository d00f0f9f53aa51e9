/* NVRTC, opened at run time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- opening ---- */

static const char *const sonames[] = { "libnvrtc.so.13", "libnvrtc.so.12",
                                       "libnvrtc.so" };

static void *open_in(const char *folder) {
    char path[4096];
    for (size_t i = 0; i < IG_COUNT_OF(sonames); i++) {
        snprintf(path, sizeof path, "%s%s%s", folder ? folder : "", folder ? "/" : "",
                 sonames[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            return library;
        }
    }
    return NULL;
}

typedef struct symbol {
    const char *name;
    size_t offset;
} symbol;

static const symbol symbols[] = {
#define NVRTC(name, parameters) { #name, offsetof(ig_nvrtc, name) },
#include "codegen/cuda/nvrtc.def"
#undef NVRTC
};

ig_status ig_nvrtc_open(ig_context *context, ig_nvrtc *out_nvrtc) {
    const char *folder = secure_getenv("INGOT_CUDA_DIR");
    void *library = open_in(folder);
    if (!library && !folder) {
        library = open_in("/usr/local/cuda/lib64");
    }
    if (!library) {
        return ig_error_hint(
            &context->diag, IG_UNSUPPORTED, NULL,
            "install the CUDA toolkit, or set INGOT_CUDA_DIR to the folder that holds libnvrtc.so",
            "NVRTC, which compiles CUDA kernels, was not found%s%s",
            folder ? " in INGOT_CUDA_DIR=" : "", folder ? folder : "");
    }
    out_nvrtc->library = library;
    for (size_t i = 0; i < IG_COUNT_OF(symbols); i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address) {
            return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                            "this NVRTC has no %s: CUDA 12 or newer is needed",
                            symbols[i].name);
        }
        *(void **)((char *)out_nvrtc + symbols[i].offset) = address;
    }
    return IG_OK;
}

/* ---- compiling ---- */

static ig_str program_log(const ig_nvrtc *nvrtc, void *program, ig_arena *arena) {
    size_t size = 0;
    if (nvrtc->nvrtcGetProgramLogSize(program, &size) != 0 || size <= 1) {
        return IG_STR("no log");
    }
    char *text = ig_arena_zalloc(arena, size + 1);
    nvrtc->nvrtcGetProgramLog(program, text);
    return ig_str_of(text);
}

static ig_status take_result(const ig_nvrtc *nvrtc, void *program, bool wants_ptx,
                             ig_arena *arena, ig_str *out_result) {
    size_t size = 0;
    int failed = wants_ptx ? nvrtc->nvrtcGetPTXSize(program, &size)
                           : nvrtc->nvrtcGetCUBINSize(program, &size);
    if (failed || size == 0) {
        return IG_INTERNAL;
    }
    char *bytes = ig_arena_zalloc(arena, size + 1);
    failed = wants_ptx ? nvrtc->nvrtcGetPTX(program, bytes)
                       : nvrtc->nvrtcGetCUBIN(program, bytes);
    *out_result = (ig_str){ bytes, wants_ptx ? size - 1 : size };
    return failed ? IG_INTERNAL : IG_OK;
}

ig_status ig_nvrtc_compile(ig_context *context, const ig_nvrtc *nvrtc,
                           const ig_nvrtc_job *job, ig_arena *arena,
                           ig_str *out_result) {
    void *program = NULL;
    const char *target = ig_arena_printf(arena, "--gpu-architecture=%s",
                                         job->architecture);
    const char *options[] = { target, "--std=c++17", "--fmad=false" };
    const char *text = ig_arena_copy(arena, job->source.data, job->source.size);
    if (nvrtc->nvrtcCreateProgram(&program, text, "ingot.cu", 0, NULL, NULL) != 0) {
        return ig_error(&context->diag, IG_INTERNAL, NULL, "NVRTC took no program");
    }
    ig_status status = IG_OK;
    if (nvrtc->nvrtcCompileProgram(program, (int)IG_COUNT_OF(options), options) != 0) {
        status = ig_error(&context->diag, IG_INTERNAL, NULL, "NVRTC for %s: %.*s",
                          job->architecture,
                          IG_STR_ARG(program_log(nvrtc, program, arena)));
    } else {
        status = take_result(nvrtc, program, job->wants_ptx, arena, out_result);
    }
    nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
