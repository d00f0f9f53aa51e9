/* The floating-point environment of a thread that runs host functions or kernels: round
 * to nearest, denormals kept, exceptions masked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_HOST_FLOAT_ENV_H
#define IG_RUNTIME_HOST_FLOAT_ENV_H

#include <stdbool.h>
#include <stdint.h>
#include <xmmintrin.h>

enum { IG_FLOAT_ENV = 0x1f80, IG_FLOAT_ENV_FLAGS = 0x3f };

static inline bool ig_float_env_is_right(uint32_t env) {
    return (env & ~(uint32_t)IG_FLOAT_ENV_FLAGS) == IG_FLOAT_ENV;
}

/* Sets it and returns the old one. */
static inline uint32_t ig_float_env_enter(void) {
    uint32_t old = _mm_getcsr();
    if (!ig_float_env_is_right(old)) {
        _mm_setcsr(IG_FLOAT_ENV);
    }
    return old;
}

/* Writing MXCSR serialises the pipeline, so write it only when it differs.  Flags stay
 * raised, as after any function that computes. */
static inline void ig_float_env_leave(uint32_t old) {
    if (!ig_float_env_is_right(old)) {
        _mm_setcsr(old);
    }
}

#endif
