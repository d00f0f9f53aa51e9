/* Index arithmetic of schedules that go through a tensor line by line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_WALK_H
#define IG_PASSES_LOWER_WALK_H

#include "passes/lower/schedule.h"

#include <assert.h>

/* Indices of the axes of `type` other than `axis`, of line number `line`; index[axis]
 * is left alone.  `axis` is the rank: all axes. */
static inline void ig_lower_split(ig_lower *lower, ig_builder *b, const ig_type *type,
                                  uint32_t axis, ig_value *line, ig_value **index) {
    assert(axis <= type->rank && "an axis, or the rank for none");
    uint32_t first = axis == 0 ? 1 : 0; /* which takes the rest */
    for (uint32_t d = type->rank; d-- > first;) {
        if (d == axis) {
            continue;
        }
        ig_value *extent = d > first ? ig_lower_dim(lower, type->dims[d]) : NULL;
        index[d] = extent ? k_mod(b, line, extent) : line;
        line = extent ? k_div(b, line, extent) : NULL;
    }
}

/* The element of `x` at `index`. */
static inline ig_value *ig_lower_at(ig_lower *lower, ig_builder *b,
                                    const ig_lower_operand *x, ig_value *const *index) {
    ig_value *at = k_i64(b, 0);
    for (uint32_t d = 0; d < x->type->rank; d++) {
        ig_value *stride = ig_lower_dim(lower, x->strides[d]);
        at = k_add(b, at, k_mul(b, index[d], stride));
    }
    return at;
}

/* Lines along `axis`: the product of all other extents. */
static inline ig_dim ig_lower_lines(ig_lower *lower, const ig_type *type,
                                    uint32_t axis) {
    assert(axis <= type->rank && "an axis, or the rank for none");
    ig_dim lines = ig_dim_of(1);
    for (uint32_t d = 0; d < type->rank; d++) {
        lines = d == axis ? lines : ig_lower_mul(lower, lines, type->dims[d]);
    }
    return lines;
}

/* The loop over the lines of a tile of `step` lines; closed by the caller. */
static inline k_loop ig_lower_open_lines(ig_builder *b, ig_value *tile, ig_value *lines,
                                         int64_t step) {
    assert(step > 0 && "a tile has lines");
    ig_value *first = k_mul(b, tile, k_i64(b, step));
    ig_value *last = k_min(b, lines, k_add(b, first, k_i64(b, step)));
    return k_loop_open(b, first, last, k_i64(b, 1), NULL, 0);
}

/* What elements are compared and combined as: narrow floats as f32, bools as bytes. */
static inline ig_dtype ig_lower_wide(ig_dtype dtype) {
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    return is_narrow ? IG_DT_f32 : dtype == IG_DT_bool ? IG_DT_u8 : dtype;
}

static inline ig_value *ig_lower_is_nan(ig_builder *b, ig_value *x) {
    return k_compare(b, IG_OP_ne, x, x);
}

/* Bits of a number that is not negative. */
static inline ig_value *ig_lower_count_bits(ig_builder *b, ig_value *x) {
    ig_value *zero = k_i64(b, 0);
    k_loop loop = k_loop_open(b, zero, k_i64(b, 63), k_i64(b, 1), &zero, 1);
    ig_builder *in = &loop.b;
    ig_value *rest = k_binary(in, IG_OP_shr, x, loop.index);
    ig_value *has_more = k_compare(in, IG_OP_gt, rest, zero);
    ig_value *bits = k_add(in, loop.carried[0], k_cast(in, has_more, IG_DT_i64));
    k_loop_close(&loop, &bits, 1);
    return loop.results[0];
}

/* The index `id` along an axis of `extent`, made non-negative where `wraps`; *valid:
 * is it in range? */
static inline ig_value *ig_lower_row(ig_builder *b, ig_value *id, ig_value *extent,
                                     bool wraps, ig_value **valid) {
    assert(id->type == extent->type && "index and extent are i64");
    ig_value *is_below = k_compare(b, IG_OP_lt, id, k_i64(b, 0));
    ig_value *row = wraps ? k_where(b, is_below, k_add(b, id, extent), id) : id;
    *valid = k_compare(b, IG_OP_lt, k_cast(b, row, IG_DT_u64),
                       k_cast(b, extent, IG_DT_u64));
    return row;
}

#endif
