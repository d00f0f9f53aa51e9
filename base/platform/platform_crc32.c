/* CRC-32 by products of polynomials, four times 16 bytes per step.
 * SPDX-License-Identifier: Apache-2.0
 *
 * 16 bytes are a polynomial of degree 127, low + high * x^64.  Moved on by n bits it is
 * congruent to low * (x^(n+64) mod P) + high * (x^n mod P), which is 16 bytes again and
 * is added to those that are n bits further on (Gopal et al., Fast CRC Computation for
 * Generic Polynomials Using PCLMULQDQ, 2009).  Bits are reflected.
 */
#include "base/platform/platform_crc32.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <sys/platform/x86.h>

enum { LANES = 4, STEP = LANES * IG_CRC32_FOLDED };

/* x^(n+64) and x^n modulo P, of n = 512 and n = 128. */
static const uint64_t by_step[] = { 0x154442bd4, 0x1c6e41596 },
                      by_lane[] = { 0x1751997d0, 0x0ccaa009e };

/* x86_cpu_active of the C library, whose `1 << 31` is undefined. */
static bool has_product(void) {
    enum { LEAF_BITS = 4 * 32 };
    const uint32_t feature = x86_cpu_PCLMULQDQ;
    const struct cpuid_feature *leaf =
        __x86_get_cpuid_feature_leaf(feature / LEAF_BITS);
    return (leaf->active_array[feature % LEAF_BITS / 32] >> feature % 32 & 1) != 0;
}

static inline __m128i load_lane(const void *at) {
    return _mm_loadu_si128(at);
}

__attribute__((target("pclmul"))) static inline __m128i move_on(__m128i lane,
                                                                __m128i by,
                                                                __m128i to) {
    __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), to);
}

__attribute__((target("pclmul"))) static void fold_steps(uint32_t rest,
                                                         const unsigned char *at,
                                                         size_t steps, void *folded) {
    const __m128i far = load_lane(by_step), near = load_lane(by_lane);
    __m128i lanes[LANES];
    for (size_t i = 0; i < LANES; i++) {
        lanes[i] = load_lane(at + i * IG_CRC32_FOLDED);
    }
    lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)rest));
    for (size_t s = 1; s < steps; s++) {
        at += STEP;
        for (size_t i = 0; i < LANES; i++) {
            lanes[i] = move_on(lanes[i], far, load_lane(at + i * IG_CRC32_FOLDED));
        }
    }
    for (size_t i = 1; i < LANES; i++) {
        lanes[i] = move_on(lanes[i - 1], near, lanes[i]);
    }
    _mm_storeu_si128(folded, lanes[LANES - 1]);
}

size_t ig_crc32_fold(uint32_t rest, const void *bytes, size_t size, void *folded) {
    if (size < STEP || !has_product()) {
        return 0;
    }
    fold_steps(rest, bytes, size / STEP, folded);
    return size / STEP * STEP;
}

#else

size_t ig_crc32_fold(uint32_t rest, const void *bytes, size_t size, void *folded) {
    (void)rest, (void)bytes, (void)size, (void)folded;
    return 0;
}

#endif
