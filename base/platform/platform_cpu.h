/* Operations for which each processor has an instruction of its own: waiting, and the
 * floating-point environment of a thread that runs host functions or kernels: round to
 * nearest, denormals kept, exceptions masked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_CPU_H
#define IG_BASE_PLATFORM_PLATFORM_CPU_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)

enum { IG_FLOAT_ENV = 0, IG_FLOAT_ENV_FLAGS = 0 }; /* of FPCR; flags are elsewhere */

static inline uint32_t ig_float_env_read(void) {
    uint64_t env;
    __asm__ volatile("mrs %0, fpcr" : "=r"(env));
    return (uint32_t)env;
}

static inline void ig_float_env_write(uint32_t env) {
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)env));
}

/* Another thread is about to do something. */
static inline void ig_cpu_pause(void) {
    __asm__ volatile("yield");
}

#else

#include <xmmintrin.h>

enum { IG_FLOAT_ENV = 0x1f80, IG_FLOAT_ENV_FLAGS = 0x3f }; /* of MXCSR */

static inline uint32_t ig_float_env_read(void) {
    return _mm_getcsr();
}

static inline void ig_float_env_write(uint32_t env) {
    _mm_setcsr(env);
}

/* Another thread is about to do something. */
static inline void ig_cpu_pause(void) {
    _mm_pause();
}

#endif

static inline bool ig_float_env_is_right(uint32_t env) {
    return (env & ~(uint32_t)IG_FLOAT_ENV_FLAGS) == IG_FLOAT_ENV;
}

/* Sets it and returns the old one. */
static inline uint32_t ig_float_env_enter(void) {
    uint32_t old = ig_float_env_read();
    if (!ig_float_env_is_right(old)) {
        ig_float_env_write(IG_FLOAT_ENV);
    }
    return old;
}

/* Writing it serialises the pipeline, so it is written only when it differs.  Flags
 * stay raised, as after any function that computes. */
static inline void ig_float_env_leave(uint32_t old) {
    if (!ig_float_env_is_right(old)) {
        ig_float_env_write(old);
    }
}

#endif
