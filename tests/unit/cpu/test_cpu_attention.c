/* Attention in one kernel: against the interpreter at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

typedef struct attention_case {
    const char *args, *body, *out;
    uint32_t launches; /* 1: all of it is one kernel; 0: of no interest */
} attention_case;

typedef void (*prepare_fn)(lower_case *c);

static void check_level(const char *level, const char *text, const attention_case *of,
                        const int64_t *extents, prepare_fn prepare) {
    lower_case c;
    lower_open(&c, level, text, extents, 2);
    c.decomposes = true;
    if (prepare) {
        prepare(&c);
    }
    lower_compare(&c, 2e-6);
    if (of->launches) {
        CHECK_MSG(c.launches == of->launches, "%s: %u launches", of->body, c.launches);
    }
    lower_close(&c);
}

static void check_with(const attention_case *of, const int64_t *extents,
                       prepare_fn prepare) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        ig_arena arena;
        ig_writer text;
        ig_arena_init(&arena, NULL);
        ig_writer_init(&text, &arena);
        ig_put(&text, "module @t {\n  graph @main(%s) -> (%s) {\n%s\n  }\n}\n",
               of->args, of->out, of->body);
        check_level(cpu_levels[i], text.data, of, extents, prepare);
        ig_arena_fini(&arena);
    }
}

static void check(const attention_case *of, const int64_t *extents) {
    check_with(of, extents, NULL);
}

#define SCORES                                          \
    "%half = const {value = 0.5} : f32[]\n"             \
    "%0 = matmul %q, %k {transpose_b} : f32[B, L, S]\n" \
    "%1 = mul %0, %half : f32[B, L, S]\n"

/* One row and several tiles of them, one block of keys and several, vectors that are
 * whole and that are not, no rows, no keys, no depth. */
TEST(extents_of_all_kinds) {
    static const attention_case plain = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[B, S, 19]",
        SCORES "%2 = softmax %1 {axis = 2} : f32[B, L, S]\n"
               "%3 = matmul %2, %v : f32[B, L, 19]\nret %3",
        "f32[B, L, 19]", 1
    };
    static const attention_case mapped = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[B, S, 16]",
        SCORES "%2 = sigmoid %1 : f32[B, L, S]\n%3 = mul %1, %2 : f32[B, L, S]\n"
               "%4 = matmul %3, %v : f32[B, L, 16]\nret %4",
        "f32[B, L, 16]", 1
    };
    static const attention_case turned = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[B, S, 16]",
        "%0 = transpose %k {perm = [0, 2, 1]} : f32[B, E, S]\n"
        "%1 = matmul %q, %0 : f32[B, L, S]\n%2 = tanh %1 : f32[B, L, S]\n"
        "%3 = matmul %2, %v : f32[B, L, 16]\nret %3",
        "f32[B, L, 16]", 1
    };
    static const int64_t extents[][4] = {
        /* B, L, E, S */
        { 2, 1, 9, 17 },   { 1, 3, 32, 129 }, { 2, 8, 4, 16 },   { 1, 65, 5, 40 },
        { 1, 9, 130, 31 }, { 3, 70, 7, 300 }, { 0, 4, 4, 4 },    { 2, 0, 4, 4 },
        { 2, 3, 4, 0 },    { 2, 10, 0, 33 },  { 1, 2, 16, 256 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(extents); i++) {
        check(&plain, extents[i]);
        check(&mapped, extents[i]);
        check(&turned, extents[i]);
    }
}

/* Known extents leave out what they do not need; values of one column, and of as many
 * as the kernel takes; strides of any axis. */
TEST(known_extents) {
    static const attention_case cases[] = {
        { "%q: f32[1, 8, 4], %k: f32[1, 16, 4], %v: f32[1, 16, 1]",
          "%0 = matmul %q, %k {transpose_b} : f32[1, 8, 16]\n"
          "%1 = softmax %0 {axis = 2} : f32[1, 8, 16]\n"
          "%2 = matmul %1, %v : f32[1, 8, 1]\nret %2",
          "f32[1, 8, 1]", 1 },
        { "%q: f32[9, 130], %k: f32[130, 130], %v: f32[256, 130]",
          "%0 = matmul %q, %k : f32[9, 130]\n%1 = softmax %0 {axis = 1} : f32[9, 130]\n"
          "%2 = matmul %1, %v {transpose_b} : f32[9, 256]\nret %2",
          "f32[9, 256]", 1 },
        { "%q: f32[2, 50, 3, 8], %k: f32[2, 50, 3, 8], %v: f32[2, 50, 3, 32]",
          "%0 = transpose %q {perm = [0, 2, 1, 3]} : f32[2, 3, 50, 8]\n"
          "%1 = transpose %k {perm = [0, 2, 3, 1]} : f32[2, 3, 8, 50]\n"
          "%2 = transpose %v {perm = [0, 2, 1, 3]} : f32[2, 3, 50, 32]\n"
          "%3 = matmul %0, %1 : f32[2, 3, 50, 50]\n"
          "%4 = softmax %3 {axis = 3} : f32[2, 3, 50, 50]\n"
          "%5 = matmul %4, %2 : f32[2, 3, 50, 32]\n"
          "%6 = transpose %5 {perm = [0, 2, 1, 3]} : f32[2, 50, 3, 32]\nret %6",
          "f32[2, 50, 3, 32]", 0 },
        { "%q: f32[5, 3, 20], %k: f32[1, 3, 70], %v: f32[1, 70, 64]",
          "%0 = matmul %q, %k {transpose_a} : f32[5, 20, 70]\n"
          "%1 = exp %0 : f32[5, 20, 70]\n%2 = matmul %1, %v : f32[5, 20, 64]\nret %2",
          "f32[5, 20, 64]", 1 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check(&cases[i], NULL);
    }
}

/* Rows that are read with keys and values as stored, and one more than these; values of
 * less than a vector, of more vectors than registers, and in columns. */
TEST(few_rows) {
    static const attention_case narrow = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[B, S, 3]",
        SCORES "%2 = softmax %1 {axis = 2} : f32[B, L, S]\n"
               "%3 = matmul %2, %v : f32[B, L, 3]\nret %3",
        "f32[B, L, 3]", 1
    };
    static const attention_case wide = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[1, S, 203]",
        SCORES "%2 = sigmoid %1 : f32[B, L, S]\n"
               "%3 = matmul %2, %v : f32[B, L, 203]\nret %3",
        "f32[B, L, 203]", 1
    };
    static const attention_case columns = {
        "%q: f32[B, L, E], %k: f32[B, S, E], %v: f32[B, 64, S]",
        SCORES "%2 = softmax %1 {axis = 2} : f32[B, L, S]\n"
               "%3 = matmul %2, %v {transpose_b} : f32[B, L, 64]\nret %3",
        "f32[B, L, 64]", 1
    };
    static const int64_t extents[][4] = {
        { 2, 1, 8, 1 }, { 1, 2, 40, 129 }, { 1, 3, 5, 300 }, { 2, 4, 16, 140 }
    };
    for (size_t i = 0; i < IG_COUNT_OF(extents); i++) {
        check(&narrow, extents[i]);
        check(&wide, extents[i]);
        check(&columns, extents[i]);
    }
}

/* ---- masks ---- */

static void set_mask(ig_tensor *mask, int64_t i, bool is_kept) {
    if (mask->dtype == IG_DT_bool) {
        ig_tensor_set_i64(mask, i, is_kept);
    } else {
        ig_tensor_set_f64(mask, i, is_kept ? 1 : 0);
    }
}

/* Tokens of a window, none of which row 5 has: softmax gives NaN there. */
static void set_window(lower_case *c) {
    ig_tensor *mask = &c->inputs[3];
    int64_t rows = mask->dims[mask->rank - 2], keys = mask->dims[mask->rank - 1];
    for (int64_t i = 0; i < mask->count; i++) {
        int64_t row = i / keys % rows, key = i % keys;
        set_mask(mask, i, key <= row && key + 40 > row && row != 5);
    }
}

static void set_nothing(lower_case *c) {
    for (int64_t i = 0; i < c->inputs[3].count; i++) {
        set_mask(&c->inputs[3], i, false);
    }
}

static void set_last(lower_case *c) {
    set_nothing(c);
    set_mask(&c->inputs[3], c->inputs[3].count - 1, true);
}

#define MASKED(mask, number, body)                                          \
    {                                                                       \
        "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %m: " mask, \
            "%c = const {value = " number "} : f32[]\n"                     \
            "%0 = matmul %q, %k {transpose_b} : f32[B, L, S]\n" body        \
            "%9 = matmul %8, %v : f32[B, L, 16]\nret %9",                   \
            "f32[B, L, 16]", 0                                              \
    }

TEST(masks) {
    static const attention_case cases[] = {
        MASKED("bool[L, S]", "-inf",
               "%1 = where %m, %0, %c : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2} : f32[B, L, S]\n"),
        MASKED("bool[L, S]", "-inf",
               "%1 = where %m, %c, %0 : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2, empty_zero} : f32[B, L, S]\n"),
        MASKED("bool[B, L, S]", "-1e9",
               "%1 = where %m, %0, %c : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2} : f32[B, L, S]\n"),
        MASKED("bool[B, 1, S]", "0",
               "%1 = sigmoid %0 : f32[B, L, S]\n"
               "%8 = where %m, %1, %c : f32[B, L, S]\n"),
        MASKED("f32[L, S]", "7",
               "%1 = tanh %0 : f32[B, L, S]\n"
               "%2 = mul %1, %m : f32[B, L, S]\n"
               "%8 = div %2, %c : f32[B, L, S]\n"),
        MASKED("f32[L, S]", "0",
               "%1 = mul %0, %m : f32[B, L, S]\n"
               "%8 = exp %1 : f32[B, L, S]\n"),
        MASKED("f32[L, S]", "0",
               "%1 = mul %0, %m : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2} : f32[B, L, S]\n"),
    };
    static const int64_t extents[][3] = {
        /* B, L, S */
        { 2, 70, 70 },
        { 1, 90, 300 },
        { 1, 3, 33 },
    };
    static const prepare_fn fill[] = { NULL, set_window, set_nothing, set_last };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        for (size_t k = i % 2; k < IG_COUNT_OF(extents) * IG_COUNT_OF(fill); k += 2) {
            check_with(&cases[i], extents[k / IG_COUNT_OF(fill)],
                       fill[k % IG_COUNT_OF(fill)]);
        }
    }
}

/* Sums and maxima go on from block to block: the largest score first, last, infinite,
 * NaN; scores so far below it that they have no weight. */
static void set_steep(lower_case *c) {
    static const double values[] = { 300, -300, 0, 1e30, -1e30, 88 };
    for (int64_t i = 0; i < c->inputs[3].count; i++) {
        ig_tensor_set_f64(&c->inputs[3], i,
                          values[(uint64_t)(i / 40) % IG_COUNT_OF(values)]);
    }
}

static void set_special(lower_case *c) {
    uint64_t state = 5;
    lower_fill_special(&c->inputs[3], &state);
}

static void set_infinite(lower_case *c) {
    for (int64_t i = 0; i < c->inputs[3].count; i++) {
        bool is_rare = i % 97 == 0;
        ig_tensor_set_f64(&c->inputs[3], i, is_rare ? 1 : -(double)INFINITY);
    }
}

TEST(scores_of_all_sizes) {
    static const attention_case added =
        MASKED("f32[L, S]", "0",
               "%1 = add %0, %m : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2} : f32[B, L, S]\n");
    static const attention_case zero =
        MASKED("f32[1, S]", "0",
               "%1 = add %0, %m : f32[B, L, S]\n"
               "%8 = softmax %1 {axis = 2, empty_zero} : f32[B, L, S]\n");
    static const prepare_fn fill[] = { set_steep, set_special, set_infinite };
    for (size_t i = 0; i < IG_COUNT_OF(fill); i++) {
        check_with(&added, EXTENTS(1, 9, 270), fill[i]);
        check_with(&added, EXTENTS(1, 66, 140), fill[i]);
        check_with(&zero, EXTENTS(1, 5, 260), fill[i]);
        check_with(&zero, EXTENTS(1, 20, 64), fill[i]);
    }
}

/* Values of keys that no row of a tile has are not read. */
static void set_hidden(lower_case *c) {
    set_last(c);
    ig_tensor *values = &c->inputs[2];
    for (int64_t i = 0; i < values->count / 2; i++) {
        ig_tensor_set_f64(values, i, (double)NAN);
    }
    for (int64_t row = 0; row < c->inputs[3].dims[0]; row++) {
        ig_tensor_set_i64(&c->inputs[3], (row + 1) * c->inputs[3].dims[1] - 1, 1);
    }
}

TEST(masked_values_are_not_read) {
    static const char text[] =
        "module @t {\n  graph @main(%q: f32[20, 8], %k: f32[300, 8], %v: f32[300, 16],\n"
        "      %m: bool[20, 300]) -> (f32[20, 16]) {\n"
        "%c = const {value = -inf} : f32[]\n"
        "%0 = matmul %q, %k {transpose_b} : f32[20, 300]\n"
        "%1 = where %m, %0, %c : f32[20, 300]\n"
        "%2 = softmax %1 {axis = 1} : f32[20, 300]\n"
        "%3 = matmul %2, %v : f32[20, 16]\nret %3\n  }\n}\n";
    lower_case c;
    lower_open(&c, "v2", text, NULL, 2);
    set_hidden(&c);
    (void)lower_run(&c);
    for (int64_t i = 0; i < c.got[0].count; i++) {
        double last = ig_tensor_get_f64(&c.inputs[2], 299 * 16 + i % 16);
        CHECK_INT(ig_tensor_get_f64(&c.got[0], i) == last, true);
    }
    lower_close(&c);
}

/* ---- what is one kernel ---- */

/* The result of one is a factor of a further product, or its scores. */
TEST(chains_of_products) {
    static const attention_case cases[] = {
        { "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %w: f32[B, 16, 24]",
          SCORES "%2 = softmax %1 {axis = 2} : f32[B, L, S]\n"
                 "%3 = matmul %2, %v : f32[B, L, 16]\n"
                 "%4 = matmul %3, %w : f32[B, L, 24]\nret %4",
          "f32[B, L, 24]", 2 },
        { "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %w: f32[B, 16, 24]",
          SCORES "%2 = tanh %1 : f32[B, L, S]\n%3 = matmul %2, %v : f32[B, L, 16]\n"
                 "%4 = relu %3 : f32[B, L, 16]\n"
                 "%5 = matmul %4, %w : f32[B, L, 24]\nret %5",
          "f32[B, L, 24]", 2 },
        { "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %w: f32[B, 16, 24]",
          SCORES "%2 = tanh %1 : f32[B, L, S]\n%3 = matmul %2, %v : f32[B, L, 16]\n"
                 "%4 = softmax %3 {axis = 2} : f32[B, L, 16]\n"
                 "%5 = matmul %4, %w : f32[B, L, 24]\nret %5",
          "f32[B, L, 24]", 0 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check(&cases[i], EXTENTS(2, 9, 40));
        check(&cases[i], EXTENTS(1, 66, 150));
    }
}
END_TEST

TEST(epilogues) {
    static const attention_case cases[] = {
        { "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16], %r: f32[B, L, 16],"
          " %b: f32[16]",
          SCORES
          "%2 = softmax %1 {axis = 2} : f32[B, L, S]\n"
          "%3 = matmul %2, %v : f32[B, L, 16]\n%4 = mul %3, %r : f32[B, L, 16]\n"
          "%5 = add %4, %b : f32[B, L, 16]\n%6 = tanh %5 : f32[B, L, 16]\nret %6",
          "f32[B, L, 16]", 1 },
        { "%q: f32[B, L, 8], %k: f32[B, S, 8], %v: f32[B, S, 16]",
          SCORES "%2 = matmul %1, %v : f32[B, L, 16]\n"
                 "%3 = cast %2 {to = f64} : f64[B, L, 16]\nret %3",
          "f64[B, L, 16]", 1 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check(&cases[i], EXTENTS(2, 9, 40));
        check(&cases[i], EXTENTS(1, 66, 150));
    }
}

/* Few rows or keys, wide values, weights that others use or that are more matrices,
 * f64, softmax along another axis or its logarithm. */
TEST(which_stay_apart) {
    static const attention_case cases[] = {
        { "%q: f32[7, 4], %k: f32[16, 4], %v: f32[16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[7, 16]\n%1 = exp %0 : f32[7, 16]\n"
          "%2 = matmul %1, %v : f32[7, 8]\nret %2",
          "f32[7, 8]", 2 },
        { "%q: f32[8, 4], %k: f32[15, 4], %v: f32[15, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[8, 15]\n%1 = exp %0 : f32[8, 15]\n"
          "%2 = matmul %1, %v : f32[8, 8]\nret %2",
          "f32[8, 8]", 2 },
        { "%q: f32[8, 4], %k: f32[16, 4], %v: f32[16, 257]",
          "%0 = matmul %q, %k {transpose_b} : f32[8, 16]\n"
          "%1 = softmax %0 {axis = 1} : f32[8, 16]\n"
          "%2 = matmul %1, %v : f32[8, 257]\nret %2",
          "f32[8, 257]", 3 },
        { "%q: f32[8, 4], %k: f32[16, 4], %v: f32[16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[8, 16]\n"
          "%1 = softmax %0 {axis = 1} : f32[8, 16]\n"
          "%2 = matmul %1, %v : f32[8, 8]\nret %2, %1",
          "f32[8, 8], f32[8, 16]", 3 },
        { "%q: f32[8, 4], %k: f32[16, 4], %v: f32[3, 16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[8, 16]\n%1 = exp %0 : f32[8, 16]\n"
          "%2 = matmul %1, %v : f32[3, 8, 8]\nret %2",
          "f32[3, 8, 8]", 2 },
        { "%q: f64[8, 4], %k: f64[16, 4], %v: f64[16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f64[8, 16]\n%1 = exp %0 : f64[8, 16]\n"
          "%2 = matmul %1, %v : f64[8, 8]\nret %2",
          "f64[8, 8]", 2 },
        { "%q: f32[16, 4], %k: f32[16, 4], %v: f32[16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[16, 16]\n"
          "%1 = softmax %0 {axis = 0} : f32[16, 16]\n"
          "%2 = matmul %1, %v : f32[16, 8]\nret %2",
          "f32[16, 8]", 3 },
        { "%q: f32[16, 4], %k: f32[16, 4], %v: f32[16, 8]",
          "%0 = matmul %q, %k {transpose_b} : f32[16, 16]\n"
          "%1 = softmax %0 {axis = 1, log} : f32[16, 16]\n"
          "%2 = matmul %1, %v : f32[16, 8]\nret %2",
          "f32[16, 8]", 3 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check(&cases[i], NULL);
    }
}

UNIT_SUITE(cpu_attention, extents_of_all_kinds, known_extents, few_rows, masks,
           scores_of_all_sizes, masked_values_are_not_read, chains_of_products,
           epilogues, which_stay_apart)
