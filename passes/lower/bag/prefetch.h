/* Prefetches of rows, for look-ups and updates.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_BAG_PREFETCH_H
#define IG_PASSES_LOWER_BAG_PREFETCH_H

#include "passes/lower/schedule.h"

#include <assert.h>

/* The cache lines that `size` bytes touch, at the most, which begin at a multiple of
 * `align` bytes from a line's begin. */
static inline int64_t bag_count_lines(const ig_lower *lower, int64_t size,
                                      int64_t align) {
    int64_t line = lower->target->line_bytes;
    assert(line > 0 && "a target has cache lines");
    int64_t furthest = align < line ? line - align : 0;
    return (furthest + size + line - 1) / line;
}

/* Prefetches them, from byte `start` on (NULL: 0): of bytes that begin anywhere in a
 * line, the last may be in one line more than they fill. */
static inline void bag_prefetch_bytes(const ig_lower *lower, ig_builder *b,
                                      ig_value *bytes, ig_value *start, int64_t size,
                                      int64_t align) {
    int64_t count = bag_count_lines(lower, size, align);
    for (int64_t i = 0; i < count; i++) {
        int64_t position = i * lower->target->line_bytes;
        ig_value *at = k_i64(b, position < size ? position : size - 1);
        k_prefetch(b, bytes, start ? k_add(b, start, at) : at, 1);
    }
}

#endif
