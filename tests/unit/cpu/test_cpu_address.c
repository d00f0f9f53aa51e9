/* Addresses in loops: indices of all forms, drawn, against their values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A table has its own index, from the middle on, at every place, so that what is loaded
 * is the index that was meant.  The kernel stores it beside the index's value, which is
 * computed without an address.
 */
#include "tests/unit/cpu/cpu_case.h"
#include "tests/unit/cpu/lower_fill.h"

enum { HALF = 20000, KERNELS = 150, OUTS = 2 * 3 * 7, DEPTH = 3 };

static const char *const levels[] = { "v2", "v3", "v4" };

/* Leaves of the expressions: what is known in front of the inner loop, then the
 * rest. */
typedef struct leaves {
    ig_builder *b;
    ig_value *values[6]; /* index, carried; outer index, two params, a sum of them */
    uint64_t *state;
} leaves;

static ig_value *draw_leaf(const leaves *l) {
    uint64_t which = lower_random(l->state) % (IG_COUNT_OF(l->values) + 2);
    return which < IG_COUNT_OF(l->values)
               ? l->values[which]
               : k_i64(l->b, (int64_t)(lower_random(l->state) % 7) - 3);
}

/* At most 5 by itself, and 5^(2^depth) with products. */
static ig_value *draw_index(const leaves *l, uint32_t depth) {
    static const ig_opcode codes[] = { IG_OP_add, IG_OP_sub, IG_OP_mul };
    uint64_t which = lower_random(l->state) % 4;
    if (depth == 0 || which == 3) {
        return draw_leaf(l);
    }
    bool is_product = codes[which] == IG_OP_mul;
    ig_value *x = draw_index(l, is_product ? depth / 2 : depth - 1);
    ig_value *y = draw_index(l, is_product ? depth / 2 : depth - 1);
    return k_binary(l->b, codes[which], x, y);
}

/* What the inner loop does with place `at` of the results: out[at] = table[index], and
 * out[OUTS + at] = index; half of the indices go through an offset. */
static void emit_access(const leaves *l, ig_value *middle, ig_value *out,
                        ig_value *at) {
    ig_builder *b = l->b;
    ig_value *index = draw_index(l, DEPTH), *from = middle, *loaded = index;
    if (lower_random(l->state) % 2) {
        ig_value *more = draw_index(l, DEPTH);
        from = k_offset(b, middle, more);
        index = k_add(b, index, more);
    }
    ig_value *x = k_load(b, from, loaded, 1);
    k_store(b, x, out, at);
    index = k_cast(b, index, (ig_dtype)out->type->dtype);
    k_store(b, index, out, k_add(b, at, k_i64(b, OUTS)));
}

/* The results of trip k of the inner loop, of all, are at k.  params: 2, -3, how far
 * the inner loop goes, HALF; its step is a constant or the first one. */
static ig_graph *build_kernel(cpu_case *c, ig_dtype dtype, uint64_t *state) {
    const ig_dtype buffers[] = { dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "addresses", buffers, 2, 4, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0), *one = k_i64(&b, 1);
    ig_value *middle = k_offset(&b, args[0], args[5]);
    ig_value *step = k_i64(&b, 1 + (int64_t)(lower_random(state) % 2));
    k_loop outer = k_loop_open(&b, k_i64(&b, -1), k_i64(&b, 2), one, &zero, 1);
    ig_value *first[] = { outer.carried[0], k_i64(&outer.b, 2) };
    ig_value *sum = k_add(&outer.b, outer.index, args[2]);
    ig_value *end = k_add(&outer.b, args[4], outer.index);
    step = lower_random(state) % 2 ? args[2] : step;
    k_loop inner = k_loop_open(&outer.b, k_i64(&outer.b, -2), end, step, first, 2);
    inner.op->attrs[IG_for_unroll] =
        ig_attr_of_int(1 + (int64_t)(lower_random(state) % 3));
    ig_builder *in = &inner.b;
    ig_value *at = inner.carried[0], *turn = inner.carried[1];
    leaves l = { in, { inner.index, turn, outer.index, args[2], args[3], sum }, state };
    emit_access(&l, middle, args[1], at);
    ig_value *next[] = { k_add(in, at, k_i64(in, 1)), k_sub(in, k_i64(in, 1), turn) };
    k_loop_close(&inner, next, 2);
    k_loop_close(&outer, inner.results, 1);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void put_element(void *at, ig_dtype dtype, int64_t index, int64_t value) {
    int16_t narrow = (int16_t)value;
    if (dtype == IG_DT_i16) {
        memcpy((char *)at + 2 * index, &narrow, sizeof narrow);
    } else {
        memcpy((char *)at + 8 * index, &value, sizeof value);
    }
}

static void check_kernel(cpu_case *c, ig_dtype dtype, void *table, uint64_t *state) {
    static int64_t out[2 * OUTS];
    size_t half = OUTS * (dtype == IG_DT_i16 ? 2u : 8u);
    int64_t params[] = { 2, -3, 3, HALF };
    void *const pointers[] = { table, out };
    memset(out, 0, sizeof out);
    ig_graph *kernel = build_kernel(c, dtype, state);
    cpu_case_run(c, kernel, pointers, params, 1);
    CHECK_INT(memcmp(out, (char *)out + half, half), 0);
}

static void check_dtype(ig_dtype dtype) {
    static int64_t table[2 * HALF];
    for (int64_t i = 0; i < 2 * HALF; i++) {
        put_element(table, dtype, i, i - HALF);
    }
    for (size_t level = 0; level < IG_COUNT_OF(levels); level++) {
        uint64_t state = 12 + level;
        for (int k = 0; k < KERNELS; k++) {
            cpu_case c;
            cpu_case_open(&c, levels[level]);
            check_kernel(&c, dtype, table, &state);
            cpu_case_close(&c);
        }
    }
}

TEST(addresses_are_the_indices_meant) {
    check_dtype(IG_DT_i64);
}

TEST(addresses_of_narrow_elements_are_the_indices_meant) {
    check_dtype(IG_DT_i16);
}

UNIT_SUITE(cpu_address, addresses_are_the_indices_meant,
           addresses_of_narrow_elements_are_the_indices_meant)
