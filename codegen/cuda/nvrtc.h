/* NVRTC, opened at run time: the CUDA toolkit is used when present, never required.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_CODEGEN_CUDA_NVRTC_H
#define IG_CODEGEN_CUDA_NVRTC_H

#include "base/context.h"
#include "base/str.h"

typedef struct ig_nvrtc {
    void *library;
#define NVRTC(name, parameters) int(*name) parameters;
#include "codegen/cuda/nvrtc.def"
#undef NVRTC
} ig_nvrtc;

/* Looks for the library in INGOT_CUDA_DIR alone where that is set, else where the
 * loader looks and in /usr/local/cuda; IG_UNSUPPORTED with a message when it is
 * nowhere.  It stays open until the process ends. */
ig_status ig_nvrtc_open(ig_context *context, ig_nvrtc *out_nvrtc);

typedef struct ig_nvrtc_job {
    ig_str source;            /* CUDA C++ */
    const char *architecture; /* "sm_80" */
    bool wants_ptx;           /* PTX text, else a cubin */
} ig_nvrtc_job;

/* The result lives in `arena`; the log becomes the message of an error. */
ig_status ig_nvrtc_compile(ig_context *context, const ig_nvrtc *nvrtc,
                           const ig_nvrtc_job *job, ig_arena *arena,
                           ig_str *out_result);

#endif
