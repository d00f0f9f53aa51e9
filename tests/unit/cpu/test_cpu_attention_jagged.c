/* Attention of jagged rows in one kernel: against the interpreter at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

/* Offsets; rows of all; from which on a part's are dropped. */
typedef struct parts {
    int64_t offsets[8], count, rows, length;
} parts;

static const parts of_parts[] = {
    { { 0, 0, 5, 41, 41, 44 }, 6, 44, 40 }, /* empty ones */
    { { 3, 73, 80, 81 }, 4, 85, 70 }, /* rows before and after them, several tiles */
    { { 0, 30, 31, 60 }, 4, 60, 9 },  /* longer ones */
    { { 0, 160 }, 2, 160, 170 },      /* several blocks of keys */
    { { 0, 0, 0 }, 3, 6, 8 },         /* no rows at all */
    { { 2 }, 1, 5, 8 },               /* no part */
    { { 0, 0 }, 2, 0, 8 },
    { { 9, 9, 9 }, 3, 4, 8 }, /* empty parts outside */
};

/* %v of 3 heads of 16 columns, %k of 3 of 8. */
static const char joined[] =
    "module @t {\n  graph @main(%q: f32[T, 24], %o: i64[E], %k: f32[T, 24],\n"
    "      %v: f32[T, 48], %m: f32[N, N]) -> (f32[T, 48]) {\n"
    "%q0 = jagged_to_padded %q, %o {length = N} : f32[E - 1, N, 24]\n"
    "%q1 = reshape %q0 {to = [E - 1, N, 3, 8]} : f32[E - 1, N, 3, 8]\n"
    "%q2 = transpose %q1 {perm = [0, 2, 1, 3]} : f32[E - 1, 3, N, 8]\n"
    "%k0 = jagged_to_padded %k, %o {length = N} : f32[E - 1, N, 24]\n"
    "%k1 = reshape %k0 {to = [E - 1, N, 3, 8]} : f32[E - 1, N, 3, 8]\n"
    "%k2 = transpose %k1 {perm = [0, 2, 3, 1]} : f32[E - 1, 3, 8, N]\n"
    "%0 = matmul %q2, %k2 : f32[E - 1, 3, N, N]\n"
    "%1 = sigmoid %0 : f32[E - 1, 3, N, N]\n%2 = mul %0, %1 : f32[E - 1, 3, N, N]\n"
    "%3 = mul %2, %m : f32[E - 1, 3, N, N]\n"
    "%v0 = jagged_to_padded %v, %o {length = N} : f32[E - 1, N, 48]\n"
    "%v1 = reshape %v0 {to = [E - 1, N, 3, 16]} : f32[E - 1, N, 3, 16]\n"
    "%v2 = transpose %v1 {perm = [0, 2, 1, 3]} : f32[E - 1, 3, N, 16]\n"
    "%4 = matmul %3, %v2 : f32[E - 1, 3, N, 16]\n"
    "%5 = transpose %4 {perm = [0, 2, 1, 3]} : f32[E - 1, N, 3, 16]\n"
    "%6 = reshape %5 {to = [E - 1, N, 48]} : f32[E - 1, N, 48]\n"
    "%7 = padded_to_jagged %6, %o {rows = T} : f32[T, 48]\nret %7\n  }\n}\n";

/* Heads stay axes; factors are parts of one matrix; an epilogue; odd widths. */
static const char apart[] =
    "module @t {\n  graph @main(%x: f32[T, 2, 17], %o: i32[E], %m: bool[N, N])\n"
    "      -> (f32[T, 2, 7]) {\n"
    "%q = slice %x {starts = [0, 0, 0], sizes = [T, 2, 5]} : f32[T, 2, 5]\n"
    "%k = slice %x {starts = [0, 0, 5], sizes = [T, 2, 5]} : f32[T, 2, 5]\n"
    "%v = slice %x {starts = [0, 0, 10], sizes = [T, 2, 7]} : f32[T, 2, 7]\n"
    "%q0 = jagged_to_padded %q, %o {length = N} : f32[E - 1, N, 2, 5]\n"
    "%q1 = transpose %q0 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 5]\n"
    "%k0 = jagged_to_padded %k, %o {length = N} : f32[E - 1, N, 2, 5]\n"
    "%k1 = transpose %k0 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 5]\n"
    "%0 = matmul %q1, %k1 {transpose_b} : f32[E - 1, 2, N, N]\n"
    "%c = const {value = 0} : f32[]\n%1 = tanh %0 : f32[E - 1, 2, N, N]\n"
    "%2 = where %m, %1, %c : f32[E - 1, 2, N, N]\n"
    "%v0 = jagged_to_padded %v, %o {length = N} : f32[E - 1, N, 2, 7]\n"
    "%v1 = transpose %v0 {perm = [0, 2, 1, 3]} : f32[E - 1, 2, N, 7]\n"
    "%3 = matmul %2, %v1 : f32[E - 1, 2, N, 7]\n%4 = relu %3 : f32[E - 1, 2, N, 7]\n"
    "%5 = transpose %4 {perm = [0, 2, 1, 3]} : f32[E - 1, N, 2, 7]\n"
    "%6 = padded_to_jagged %5, %o {rows = T} : f32[T, 2, 7]\nret %6\n  }\n}\n";

/* No heads. */
static const char single[] =
    "module @t {\n  graph @main(%x: f32[T, 16], %o: i64[E], %m: f32[N])\n"
    "      -> (f32[T, 16]) {\n"
    "%q = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%k = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%v = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%0 = matmul %q, %k {transpose_b} : f32[E - 1, N, N]\n"
    "%1 = add %0, %m : f32[E - 1, N, N]\n%2 = exp %1 : f32[E - 1, N, N]\n"
    "%3 = matmul %2, %v : f32[E - 1, N, 16]\n"
    "%4 = padded_to_jagged %3, %o {rows = T} : f32[T, 16]\nret %4\n  }\n}\n";

/* One head: an axis of 1, wherever. */
static const char one[] =
    "module @t {\n  graph @main(%x: f32[T, 12], %o: i64[E], %m: i8[N])\n"
    "      -> (f32[T, 12]) {\n"
    "%q0 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 12]\n"
    "%q1 = reshape %q0 {to = [E - 1, 1, N, 12]} : f32[E - 1, 1, N, 12]\n"
    "%k0 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 12]\n"
    "%k1 = reshape %k0 {to = [E - 1, N, 1, 12]} : f32[E - 1, N, 1, 12]\n"
    "%k2 = transpose %k1 {perm = [0, 2, 3, 1]} : f32[E - 1, 1, 12, N]\n"
    "%0 = matmul %q1, %k2 : f32[E - 1, 1, N, N]\n"
    "%1 = tanh %0 : f32[E - 1, 1, N, N]\n"
    "%v0 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 12]\n"
    "%v1 = reshape %v0 {to = [E - 1, 1, N, 12]} : f32[E - 1, 1, N, 12]\n"
    "%2 = matmul %1, %v1 : f32[E - 1, 1, N, 12]\n"
    "%3 = reshape %2 {to = [E - 1, N, 12]} : f32[E - 1, N, 12]\n"
    "%4 = padded_to_jagged %3, %o {rows = T} : f32[T, 12]\nret %4\n  }\n}\n";

/* Softmax counts the keys that fill a part up: those that a mask does not leave out. */
static const char counted[] =
    "module @t {\n  graph @main(%x: f32[T, 16], %o: i64[E], %m: bool[N, N])\n"
    "      -> (f32[T, 16], f32[T, 16]) {\n"
    "%q = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%k = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%v = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%0 = matmul %q, %k {transpose_b} : f32[E - 1, N, N]\n"
    "%1 = softmax %0 {axis = 2} : f32[E - 1, N, N]\n"
    "%2 = matmul %1, %v : f32[E - 1, N, 16]\n"
    "%3 = padded_to_jagged %2, %o {rows = T} : f32[T, 16]\n"
    "%q1 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%k1 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%v1 = jagged_to_padded %x, %o {length = N} : f32[E - 1, N, 16]\n"
    "%4 = matmul %q1, %k1 {transpose_b} : f32[E - 1, N, N]\n"
    "%c = const {value = -inf} : f32[]\n%5 = where %m, %4, %c : f32[E - 1, N, N]\n"
    "%6 = softmax %5 {axis = 2, empty_zero} : f32[E - 1, N, N]\n"
    "%7 = matmul %6, %v1 : f32[E - 1, N, 16]\n"
    "%8 = padded_to_jagged %7, %o {rows = T} : f32[T, 16]\nret %3, %8\n  }\n}\n";

static void check(const char *text, const parts *p, const char *level) {
    lower_case c;
    lower_open(&c, level, text, EXTENTS(p->rows, p->count, p->length), 2);
    for (int64_t i = 0; i < p->count; i++) {
        ig_tensor_set_i64(&c.inputs[1], i, p->offsets[i]);
    }
    lower_compare(&c, 2e-6);
    CHECK_INT(c.launches, text == counted ? 2 : 1);
    lower_close(&c);
}

static void check_all(const char *text) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        for (size_t k = 0; cpu_level_is_due(i) && k < IG_COUNT_OF(of_parts); k++) {
            check(text, &of_parts[k], cpu_levels[i]);
        }
    }
}

TEST(heads_of_a_row) {
    check_all(joined);
}

TEST(heads_that_are_axes) {
    check_all(apart);
}

TEST(one_head) {
    check_all(one);
}

TEST(keys_that_softmax_counts) {
    check_all(counted);
}

TEST(rows_without_heads) {
    check_all(single);
}

/* What rows past a part's length hold has no influence: there are none. */
TEST(lengths_are_known) {
    static const char text[] =
        "module @t {\n  graph @main(%x: f32[44, 16], %o: i64[7]) -> (f32[44, 16]) {\n"
        "%q = jagged_to_padded %x, %o {length = 40} : f32[6, 40, 16]\n"
        "%k = jagged_to_padded %x, %o {length = 40} : f32[6, 40, 16]\n"
        "%v = jagged_to_padded %x, %o {length = 40} : f32[6, 40, 16]\n"
        "%0 = matmul %q, %k {transpose_b} : f32[6, 40, 40]\n"
        "%1 = tanh %0 : f32[6, 40, 40]\n%2 = matmul %1, %v : f32[6, 40, 16]\n"
        "%3 = padded_to_jagged %2, %o {rows = 44} : f32[44, 16]\nret %3\n  }\n}\n";
    static const parts p = { { 0, 1, 5, 41, 41, 43, 44 }, 7, 44, 40 };
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (cpu_level_is_due(i)) {
            check(text, &p, cpu_levels[i]);
        }
    }
}

/* ---- offsets that are wrong ---- */

typedef struct wrong {
    int64_t offsets[3], position, value;
} wrong;

static void check_report(const wrong *w) {
    lower_case c;
    lower_open(&c, "v2", single, EXTENTS(4, 3, 8), 2);
    lower_check_offsets(&c, w->offsets, w->position, w->value);
    lower_close(&c);
}

TEST(wrong_offsets_are_reported_and_read_nothing) {
    static const wrong cases[] = {
        { { 0, 2, 5 }, 2, 5 },
        { { -1, 2, 4 }, 0, -1 },
        { { 5, 6, 6 }, 1, 6 },
        { { 0, 3, 1 }, 2, 1 },
        { { 0, -1, 4 }, 1, -1 },
        { { INT64_MIN, INT64_MAX, 0 }, 0, INT64_MIN },
        { { INT64_MAX, INT64_MIN, 4 }, 1, INT64_MIN },
        { { 2, INT64_MAX, INT64_MAX }, 1, INT64_MAX },
        { { INT64_MAX, INT64_MAX, INT64_MAX }, -1, 0 },
        { { INT64_MIN, INT64_MIN, INT64_MIN }, -1, 0 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_report(&cases[i]);
    }
}

/* ---- what is one kernel ---- */

/* Softmax counts keys that fill a part up; other offsets, padding or rows of the
 * result. */
TEST(which_stay_apart) {
    static const struct {
        const char *weights, *offsets, *padding, *rows;
    } cases[] = {
        { "%1 = exp %0 : f32[E - 1, N, N]\n", "%p", "0", "T" },
        { "%1 = exp %0 : f32[E - 1, N, N]\n", "%o", "1", "T" },
        { "%1 = exp %0 : f32[E - 1, N, N]\n", "%o", "0", "R" },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        char text[1400];
        const char *o = cases[i].offsets, *rows = cases[i].rows;
        snprintf(
            text, sizeof text,
            "module @t {\n  graph @main(%%x: f32[T, 16], %%o: i64[E], %%m: i8[N],\n"
            "      %%p: i64[E], %%r: i8[R]) -> (f32[%s, 16]) {\n"
            "%%q = jagged_to_padded %%x, %%o {length = N} : f32[E - 1, N, 16]\n"
            "%%k = jagged_to_padded %%x, %s {length = N} : f32[E - 1, N, 16]\n"
            "%%v = jagged_to_padded %%x, %%o {length = N, padding = %s}\n"
            "    : f32[E - 1, N, 16]\n"
            "%%0 = matmul %%q, %%k {transpose_b} : f32[E - 1, N, N]\n%s"
            "%%2 = matmul %%1, %%v : f32[E - 1, N, 16]\n"
            "%%3 = padded_to_jagged %%2, %%o {rows = %s} : f32[%s, 16]\n"
            "ret %%3\n  }\n}\n",
            rows, o, cases[i].padding, cases[i].weights, rows, rows);
        lower_case c;
        lower_open(&c, "v3", text, EXTENTS(44, 4, 40, 41), 2);
        for (int64_t k = 0; k < 4; k++) {
            ig_tensor_set_i64(&c.inputs[1], k, k * 14);
            ig_tensor_set_i64(&c.inputs[3], k, k * 13);
        }
        lower_compare(&c, 2e-6);
        CHECK_INT(c.launches, 5);
        lower_close(&c);
    }
}

UNIT_SUITE(cpu_attention_jagged, heads_of_a_row, heads_that_are_axes,
           rows_without_heads, one_head, keys_that_softmax_counts, lengths_are_known,
           wrong_offsets_are_reported_and_read_nothing, which_stay_apart)
