/* The bulk of a CRC-32, where the processor multiplies polynomials: four times 16 bytes
 * per step.  SPDX-License-Identifier: Apache-2.0
 *
 * 16 bytes are a polynomial of degree 127, low + high * x^64.  Moved on by n bits it is
 * congruent to low * (x^(n+64) mod P) + high * (x^n mod P), which is 16 bytes again and
 * is added to those that are n bits further on (Gopal et al., Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ, 2009).  Bits are reflected.
 */
#ifndef IG_BASE_PLATFORM_PLATFORM_CRC32_H
#define IG_BASE_PLATFORM_PLATFORM_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

enum { IG_CRC32_FOLDED = 16, IG_CRC32_LANES = 4, IG_CRC32_STEP = 4 * 16 };

#if defined(__x86_64__)

/* x86_cpu_active of the C library, whose `1 << 31` is undefined. */
static inline bool ig_crc32_has_product(void) {
    enum { LEAF_BITS = 4 * 32 };
    const uint32_t feature = x86_cpu_PCLMULQDQ;
    const struct cpuid_feature *leaf =
        __x86_get_cpuid_feature_leaf(feature / LEAF_BITS);
    return (leaf->active_array[feature % LEAF_BITS / 32] >> feature % 32 & 1) != 0;
}

static inline __m128i ig_crc32_load(const void *at) {
    return _mm_loadu_si128(at);
}

__attribute__((target("pclmul"))) static inline __m128i ig_crc32_move(__m128i lane,
                                                                      __m128i by,
                                                                      __m128i to) {
    __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), to);
}

__attribute__((target("pclmul"))) static inline void ig_crc32_fold_steps(
    uint32_t rest, const unsigned char *at, size_t steps, void *folded) {
    /* x^(n+64) and x^n modulo P, of n = 512 and n = 128 */
    static const uint64_t by_step[] = { 0x154442bd4, 0x1c6e41596 },
                          by_lane[] = { 0x1751997d0, 0x0ccaa009e };
    const __m128i far = ig_crc32_load(by_step), near = ig_crc32_load(by_lane);
    __m128i lanes[IG_CRC32_LANES];
    for (size_t i = 0; i < IG_CRC32_LANES; i++) {
        lanes[i] = ig_crc32_load(at + i * IG_CRC32_FOLDED);
    }
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)rest));
    for (size_t s = 1; s < steps; s++) {
        at += IG_CRC32_STEP;
        for (size_t i = 0; i < IG_CRC32_LANES; i++) {
            lanes[i] = ig_crc32_move(lanes[i], far,
                                     ig_crc32_load(at + i * IG_CRC32_FOLDED));
        }
    }
    for (size_t i = 1; i < IG_CRC32_LANES; i++) {
        lanes[i] = ig_crc32_move(lanes[i - 1], near, lanes[i]);
    }
    _mm_storeu_si128(folded, lanes[IG_CRC32_LANES - 1]);
}

/* Takes the first bytes, as many as the result says, and puts IG_CRC32_FOLDED others in
 * their place that leave the same remainder from 0 on.  `rest` is the remainder before
 * them.  0: there are too few bytes, or no such instruction. */
static inline size_t ig_crc32_fold(uint32_t rest, const void *bytes, size_t size,
                                   void *folded) {
    if (size < IG_CRC32_STEP || !ig_crc32_has_product()) {
        return 0;
    }
    ig_crc32_fold_steps(rest, bytes, size / IG_CRC32_STEP, folded);
    return size / IG_CRC32_STEP * IG_CRC32_STEP;
}

#else

static inline size_t ig_crc32_fold(uint32_t rest, const void *bytes, size_t size,
                                   void *folded) {
    (void)rest, (void)bytes, (void)size, (void)folded;
    return 0;
}

#endif

#endif
