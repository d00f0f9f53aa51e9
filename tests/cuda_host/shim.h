/* The host shim: what emitted CUDA C++ needs to run as C++ on a CPU.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Included before the emitted text, in one translation unit.  Blocks run one after
 * another; the threads of a block are real threads, __syncthreads is a barrier of all
 * of them, and a __shared__ array is a static one, of which there is one a block as
 * long as blocks do not overlap.
 */
#ifndef IG_TESTS_CUDA_HOST_SHIM_H
#define IG_TESTS_CUDA_HOST_SHIM_H

#include <math.h>
#include <pthread.h>

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __shared__ static

struct shim_index {
    unsigned x;
};
static thread_local shim_index threadIdx, blockIdx;
static pthread_barrier_t shim_barrier;

static inline void __syncthreads() {
    pthread_barrier_wait(&shim_barrier);
}

/* ---- intrinsics ---- */

static inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}

static inline double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
}

static inline float __fsqrt_rn(float x) {
    return sqrtf(x);
}

static inline double __dsqrt_rn(double x) {
    return sqrt(x);
}

static inline int atomicCAS(int *at, int expected, int value) {
    return __sync_val_compare_and_swap(at, expected, value);
}

static inline int atomicExch(int *at, int value) {
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);
}

static inline void __threadfence() {
    __sync_synchronize();
}

/* ---- launching ---- */

struct ig_kernel_report;
typedef void shim_kernel(void *const *buffers, const long long *params,
                         ig_kernel_report *report);

struct shim_launch {
    shim_kernel *kernel;
    long long grid;
    int threads;
    void *const *buffers;
    const long long *params;
    ig_kernel_report *report;
};

struct shim_thread {
    const shim_launch *launch;
    unsigned number;
    pthread_t handle;
};

static void *shim_run_thread(void *user) {
    const shim_thread *self = (const shim_thread *)user;
    const shim_launch *l = self->launch;
    threadIdx.x = self->number;
    for (long long block = 0; block < l->grid; block++) {
        blockIdx.x = (unsigned)block;
        l->kernel(l->buffers, l->params, l->report);
        __syncthreads();
    }
    return nullptr;
}

/* 0, or the number of the error.  At most 1024 threads. */
extern "C" __attribute__((visibility("default"))) int shim_run(const shim_launch *l) {
    static shim_thread threads[1024];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    int error = pthread_barrier_init(&shim_barrier, nullptr, (unsigned)l->threads);
    int started = 0;
    for (; started < l->threads && !error; started++) {
        shim_thread *thread = &threads[started];
        *thread = shim_thread{ l, (unsigned)started, pthread_t() };
        error = pthread_create(&thread->handle, &small, shim_run_thread, thread);
    }
    if (error) {
        return error; /* those that wait for the missing ones are left behind */
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i].handle, nullptr);
    }
    pthread_barrier_destroy(&shim_barrier);
    pthread_attr_destroy(&small);
    return 0;
}

#endif
