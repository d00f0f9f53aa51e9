/* The host shim: what emitted CUDA C++ needs to run as C++ on a CPU.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Included before the emitted text, in one translation unit; behind the text stands
 * SHIM_KERNEL(name, most threads) for each kernel.  threads.h says how blocks run.
 */
#ifndef IG_TESTS_CUDA_HOST_SHIM_H
#define IG_TESTS_CUDA_HOST_SHIM_H

#include "kernels.h"

#include <math.h>

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
/* One a block, as blocks run one after another; a section, so that it can be
 * spoiled. */
#define __shared__ static __attribute__((section("shim_shared"), aligned(16)))

/* ---- barriers, and what the lanes of a warp tell each other ---- */

/* Barriers are told apart by their lines, as the compiler may copy what is there. */
#define __syncthreads() shim_wait_block(__LINE__)

static inline void __syncwarp(unsigned mask = ~0u) {
    shim_wait_warp(mask);
}

template <class T> static inline T shim_read_lane(unsigned mask, T value, int lane) {
    static_assert(sizeof(T) <= 8, "words of a shuffle");
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    const unsigned long long *all = shim_exchange(mask, bits);
    bool is_given = lane >= 0 && lane < 32 && (mask >> lane & 1);
    memcpy(&value, is_given ? &all[lane] : &shim_spoilt, sizeof value);
    return value;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    int self = (int)shim_lane(), first = self & ~(width - 1);
    return shim_read_lane(mask, value, first + (lane & (width - 1)));
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int other, int width = 32) {
    int self = (int)shim_lane(), from = self ^ other;
    return shim_read_lane(mask, value, from < (self | (width - 1)) + 1 ? from : self);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    int self = (int)shim_lane(), from = self + (int)by;
    return shim_read_lane(mask, value, from <= (self | (width - 1)) ? from : self);
}

template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    int self = (int)shim_lane(), from = self - (int)by;
    return shim_read_lane(mask, value, from >= (self & ~(width - 1)) ? from : self);
}

static inline unsigned __ballot_sync(unsigned mask, int vote) {
    const unsigned long long *all = shim_exchange(mask, vote != 0);
    unsigned votes = 0;
    for (int lane = 0; lane < 32; lane++) {
        votes |= (mask >> lane & 1) && all[lane] ? 1u << lane : 0u;
    }
    return votes;
}

static inline int __any_sync(unsigned mask, int vote) {
    return __ballot_sync(mask, vote) != 0;
}

static inline int __all_sync(unsigned mask, int vote) {
    return __ballot_sync(mask, vote) == mask;
}

/* ---- arithmetic ---- */

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

static inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}

static inline int __ffs(int x) {
    return __builtin_ffs(x);
}

static inline int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}

template <class T> static inline T __ldg(const T *from) {
    return *from;
}

/* ---- atomics: threads give way at barriers only, so all is atomic ---- */

template <class T> static inline T shim_swap(T *at, T value) {
    T before = *at;
    *at = value;
    return before;
}

template <class T> static inline T atomicCAS(T *at, T expected, T value) {
    return shim_swap(at, *at == expected ? value : *at);
}

template <class T> static inline T atomicExch(T *at, T value) {
    return shim_swap(at, value);
}

static inline int atomicAdd(int *at, int value) {
    return shim_swap(at, (int)((unsigned)*at + (unsigned)value));
}

template <class T> static inline T atomicAdd(T *at, T value) {
    return shim_swap(at, (T)(*at + value));
}

template <class T> static inline T atomicMax(T *at, T value) {
    return shim_swap(at, *at < value ? value : *at);
}

template <class T> static inline T atomicMin(T *at, T value) {
    return shim_swap(at, value < *at ? value : *at);
}

template <class T> static inline T atomicOr(T *at, T value) {
    return shim_swap(at, (T)(*at | value));
}

static inline void __threadfence() {
}

static inline void __threadfence_block() {
}

/* ---- copies from global to shared memory that are done later ---- */

/* cp.async: of 4, 8 or 16 bytes, both ends aligned so; `used` bytes are read, the rest
 * is zero. */
static inline void shim_copy_async(void *shared, const void *global, unsigned bytes,
                                   unsigned used) {
    shim_copy_later(shared, global, bytes, used);
}

/* cp.async.commit_group */
static inline void shim_copy_commit() {
    shim_copy_end_group();
}

/* cp.async.wait_group: all groups but the last `left` are done. */
static inline void shim_copy_wait(unsigned left) {
    shim_copy_finish(left);
}

/* ---- matrix fragments (PTX ISA, mma.m16n8k8 and m16n8k16): D = A B + C ---- */

/* Row and column of C's element i in a lane, as the fragments' layout has it. */
static inline void shim_mma(unsigned k, const float *a, const float *b, float *c) {
    /* A is 16 × k by rows and B k × 8, gathered from all lanes; f32 sums in order. */
    unsigned lane = shim_lane(), group = lane / 4, position = lane % 4;
    for (int i = 0; i < 4; i++) {
        unsigned row = group + (i < 2 ? 0 : 8),
                 column = position * 2 + (unsigned)(i & 1);
        for (unsigned n = 0; n < k; n++) {
            c[i] = fmaf(a[row * k + n], b[n * 8 + column], c[i]);
        }
    }
}

static inline float shim_float(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float shim_half(unsigned bits) {
    _Float16 value;
    unsigned short word = (unsigned short)bits;
    memcpy(&value, &word, sizeof value);
    return (float)value;
}

/* tf32: the low 13 bits of an f32 do not count. */
static inline void ig_mma_tf32(float *c, const unsigned *a, const unsigned *b) {
    float all_a[16 * 8], all_b[8 * 8];
    for (int i = 0; i < 4; i++) {
        const unsigned long long *given = shim_exchange(~0u, a[i] & ~0x1fffu);
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned row = lane / 4 + (i & 1 ? 8 : 0);
            unsigned column = lane % 4 + (i & 2 ? 4 : 0);
            all_a[row * 8 + column] = shim_float((unsigned)given[lane]);
        }
    }
    for (int i = 0; i < 2; i++) {
        const unsigned long long *given = shim_exchange(~0u, b[i] & ~0x1fffu);
        for (unsigned lane = 0; lane < 32; lane++) {
            all_b[(lane % 4 + (i ? 4u : 0u)) * 8 + lane / 4] =
                shim_float((unsigned)given[lane]);
        }
    }
    shim_mma(8, all_a, all_b, c);
}

/* Two elements a register, the lower half first. */
static inline void shim_mma_pairs(float *c, const unsigned *a, const unsigned *b,
                                  float (*widen)(unsigned)) {
    float all_a[16 * 16], all_b[16 * 8];
    for (int i = 0; i < 8; i++) {
        const unsigned long long *given = shim_exchange(~0u, a[i / 2] >> 16 * (i & 1));
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned row = lane / 4 + (i & 2 ? 8 : 0);
            unsigned column = lane % 4 * 2 + (unsigned)(i & 1) + (i & 4 ? 8 : 0);
            all_a[row * 16 + column] = widen((unsigned)given[lane] & 0xffff);
        }
    }
    for (int i = 0; i < 4; i++) {
        const unsigned long long *given = shim_exchange(~0u, b[i / 2] >> 16 * (i & 1));
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned row = lane % 4 * 2 + (unsigned)(i & 1) + (i & 2 ? 8 : 0);
            all_b[row * 8 + lane / 4] = widen((unsigned)given[lane] & 0xffff);
        }
    }
    shim_mma(16, all_a, all_b, c);
}

static inline float shim_brain(unsigned bits) {
    return shim_float(bits << 16);
}

static inline void ig_mma_bf16(float *c, const unsigned *a, const unsigned *b) {
    shim_mma_pairs(c, a, b, shim_brain);
}

static inline void ig_mma_f16(float *c, const unsigned *a, const unsigned *b) {
    shim_mma_pairs(c, a, b, shim_half);
}

#endif
