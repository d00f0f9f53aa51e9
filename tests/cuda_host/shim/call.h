/* What a library made of emitted text shows to those who run its kernels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For C and C++.  Each kernel NAME has a shim_kernel called shim_kernel_NAME, and the
 * library a function shim_run and a string shim_architecture.
 */
#ifndef IG_TESTS_CUDA_HOST_SHIM_CALL_H
#define IG_TESTS_CUDA_HOST_SHIM_CALL_H

#include <stdint.h>

enum { SHIM_ARCHITECTURE_SIZE = 32, SHIM_MAX_THREADS = 1024, SHIM_MAX_PARAMETERS = 64 };

typedef struct shim_kernel {
    void (*run)(void *const *parameters);
    uint32_t max_threads; /* 0: not said */
    uint32_t parameter_count;
    uint32_t sizes[SHIM_MAX_PARAMETERS]; /* of parameters, in bytes */
} shim_kernel;

typedef struct shim_call {
    const shim_kernel *kernel;
    int64_t grid;
    uint32_t threads;
    uint64_t seed; /* of the order of blocks and threads */
    void *const *parameters;
    int64_t *block; /* written: where a fault was */
    uint32_t *thread;
} shim_call;

typedef enum shim_end {
    SHIM_DONE,
    SHIM_DIVERGED, /* threads of a block are at different barriers, or have ended */
    SHIM_STUCK,    /* lanes of a warp wait for others that do not come */
    SHIM_NO_ROOM   /* no memory for stacks */
} shim_end;

typedef int shim_run_fn(const shim_call *call);

#endif
