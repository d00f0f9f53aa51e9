/* Size arithmetic that reports overflow.  Each returns false on overflow.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_CHECKED_H
#define IG_BASE_CHECKED_H

#include "base/status.h"

static inline bool ig_add_i64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool ig_sub_i64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_sub_overflow(a, b, out);
}
static inline bool ig_mul_i64(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool ig_add_size(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool ig_mul_size(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
/* Rounds up to a multiple of `unit`, a power of two. */
static inline size_t ig_align_up(size_t value, size_t unit) {
    return (value + unit - 1) & ~(unit - 1);
}
/* Quotients that round towards minus and plus infinity; the divisor must be
 * positive. */
static inline int64_t ig_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}
static inline int64_t ig_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b > 0);
}

#endif
