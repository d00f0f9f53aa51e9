/* See heap.h.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/serial/heap.h"

#include "passes/lower/walk.h"

#include <assert.h>

enum { CHILDREN = 4, LEVEL_BITS = 2, VALUE_BITS = 32 };

/* ---- keys ---- */

ig_value *ig_heap_value(ig_builder *b, ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t lanes = x->type->lanes;
    assert(ig_dtypes[dtype].bits <= VALUE_BITS && "a value of 32 bits");
    if (!ig_dtype_is_float(dtype)) {
        bool is_whole = dtype == IG_DT_u32;
        ig_value *bits = is_whole ? k_reinterpret(b, x, IG_DT_i32)
                                  : k_cast(b, x, IG_DT_i32);
        ig_value *sign = k_const_vector(b, IG_DT_i32, lanes, INT32_MIN);
        return is_whole ? k_binary(b, IG_OP_xor, bits, sign) : bits;
    }
    x = k_cast(b, x, IG_DT_f32);
    ig_value *zero = k_const_vector(b, IG_DT_i32, lanes, 0);
    ig_value *bits = k_reinterpret(b, x, IG_DT_i32);
    ig_value *rest = k_const_vector(b, IG_DT_i32, lanes, INT32_MAX);
    ig_value *turned = k_binary(b, IG_OP_xor, bits, rest); /* of numbers below 0 */
    ig_value *value = k_where(b, k_compare(b, IG_OP_lt, bits, zero), turned, bits);
    ig_value *no_number = k_const_vector(b, IG_DT_f32, lanes, 0);
    value = k_where(b, k_compare(b, IG_OP_eq, x, no_number), zero, value);
    return k_where(b, ig_lower_is_nan(b, x), rest, value);
}

ig_value *ig_heap_key(ig_builder *b, ig_value *value, ig_value *number) {
    ig_value *bits = k_splat(b, k_i64(b, VALUE_BITS), value->type->lanes);
    ig_value *high = k_binary(b, IG_OP_shl, k_cast(b, value, IG_DT_i64), bits);
    return k_binary(b, IG_OP_or, high, number);
}

ig_value *ig_heap_number(ig_builder *b, ig_value *key) {
    ig_value *bits = k_splat(b, k_i64(b, UINT32_MAX), key->type->lanes);
    return k_binary(b, IG_OP_and, key, bits);
}

/* ---- the heap ---- */

ig_value *ig_heap_levels(ig_builder *b, ig_value *size) {
    ig_value *children = k_mul(b, size, k_i64(b, CHILDREN - 1));
    return k_ceil_div(b, ig_lower_count_bits(b, children), LEVEL_BITS);
}

static ig_value *position_of(const ig_heap *h, ig_builder *b, ig_value *at) {
    return k_add(b, h->root, k_mul(b, at, h->step));
}

ig_value *ig_heap_load(const ig_heap *h, ig_builder *b, ig_value *at) {
    return k_load(b, h->buffer, position_of(h, b, at), 1);
}

void ig_heap_store(const ig_heap *h, ig_builder *b, ig_value *key, ig_value *at) {
    k_store(b, key, h->buffer, position_of(h, b, at));
}

/* The size of a heap, and the last place that may be looked at. */
typedef struct heap_end {
    ig_value *size, *last;
} heap_end;

static heap_end find_end(ig_builder *b, ig_value *size) {
    return (heap_end){ size, k_max(b, k_sub(b, size, k_i64(b, 1)), k_i64(b, 0)) };
}

/* The greatest of four keys, and its position; the least i64 is that of
 * none. */
static ig_value *greatest_child(const ig_heap *h, ig_builder *b, ig_value *first,
                                const heap_end *end, ig_value **at) {
    ig_value *keys[CHILDREN], *positions[CHILDREN];
    for (uint32_t i = 0; i < CHILDREN; i++) {
        positions[i] = k_add(b, first, k_i64(b, i));
        keys[i] = ig_heap_load(h, b, k_min(b, positions[i], end->last));
        ig_value *is_in = k_compare(b, IG_OP_lt, positions[i], end->size);
        keys[i] = k_where(b, is_in, keys[i], k_i64(b, INT64_MIN));
    }
    for (uint32_t half = CHILDREN / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            ig_value *is_other = k_compare(b, IG_OP_gt, keys[i + half], keys[i]);
            positions[i] = k_where(b, is_other, positions[i + half], positions[i]);
            keys[i] = k_max(b, keys[i], keys[i + half]);
        }
    }
    *at = positions[0];
    return keys[0];
}

/* Every level is taken, so that there is no branch to be guessed: where the key has
 * come to rest, it is written once more. */
void ig_heap_sink(const ig_heap *h, ig_builder *b, ig_value *at, ig_value *size,
                  ig_value *key) {
    heap_end end = find_end(b, size);
    ig_value *one = k_i64(b, 1);
    k_loop level = k_loop_open(b, k_i64(b, 0), h->levels, one, &at, 1);
    ig_builder *in = &level.b;
    ig_value *here = level.carried[0], *child;
    ig_value *first = k_add(in, k_mul(in, here, k_i64(in, CHILDREN)), one);
    ig_value *greatest = greatest_child(h, in, first, &end, &child);
    ig_value *rises = k_compare(in, IG_OP_gt, greatest, key);
    ig_heap_store(h, in, k_max(in, greatest, key), here);
    ig_value *below = k_where(in, rises, child, here);
    k_loop_close(&level, &below, 1);
}

void ig_heap_build(const ig_heap *h, ig_builder *b, ig_value *size) {
    ig_value *one = k_i64(b, 1), *more = k_add(b, size, k_i64(b, CHILDREN - 2));
    ig_value *parents = k_div(b, more, k_i64(b, CHILDREN));
    k_loop loop = k_loop_open(b, k_i64(b, 0), parents, one, NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *at = k_sub(in, k_sub(in, parents, one), loop.index);
    ig_heap_sink(h, in, at, size, ig_heap_load(h, in, at));
    k_loop_close(&loop, NULL, 0);
}
