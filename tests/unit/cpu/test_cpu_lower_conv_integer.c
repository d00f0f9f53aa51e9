/* Convolutions of 8-bit integers: exact at every level, whatever their windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* One convolution of B images.  Zero points: "" for none, "outputs" for one each. */
typedef struct convolution {
    const char *x, *w;     /* dtypes */
    const char *in, *out;  /* extents behind the batch */
    const char *kernel;    /* the extents of the weights */
    int64_t outputs, each; /* of the weights: axis 0, and elements behind it */
    const char *attrs, *x_zero, *w_zero;
    bool is_product; /* and no sum of floats */
} convolution;

static void put_weights(ig_writer *text, const convolution *p, int64_t count,
                        int64_t step) {
    int64_t low = p->w[0] == 'i' ? 128 : 0;
    ig_put(text, "[");
    for (int64_t i = 0; i < count; i++) {
        ig_put(text, "%s%lld", i ? ", " : "", (long long)(i * step % 256 - low));
    }
    ig_put(text, "]\n");
}

static void put_convolution(ig_writer *text, const convolution *p) {
    bool has_outputs = strcmp(p->w_zero, "outputs") == 0;
    ig_put(text, "module @t {\n  weight @w : %s[%lld, %s] = ", p->w,
           (long long)p->outputs, p->kernel);
    put_weights(text, p, p->outputs * p->each, 37);
    if (has_outputs) {
        ig_put(text, "  weight @z : %s[%lld] = ", p->w, (long long)p->outputs);
        put_weights(text, p, p->outputs, 29);
    }
    ig_put(text, "  graph @main(%%x: %s[B, %s]) -> (i32[B, %s] \"y\") {\n", p->x, p->in,
           p->out);
    ig_put(text, "    %%0 = const {value = %s} : %s[]\n", *p->x_zero ? p->x_zero : "0",
           p->x);
    if (has_outputs) {
        ig_put(text, "    %%1 = reshape @z {to = [%lld", (long long)p->outputs);
        for (const char *at = p->kernel; at; at = strchr(at + 1, ',')) {
            ig_put(text, ", 1");
        }
        ig_put(text, "]} : %s[%lld", p->w, (long long)p->outputs);
        for (const char *at = p->kernel; at; at = strchr(at + 1, ',')) {
            ig_put(text, ", 1");
        }
        ig_put(text, "]\n");
    } else {
        ig_put(text, "    %%1 = const {value = %s} : %s[]\n",
               *p->w_zero ? p->w_zero : "0", p->w);
    }
    ig_put(text, "    %%2 = conv_integer %%x, @w, %%0, %%1 {%s} : i32[B, %s]\n",
           p->attrs, p->out);
    ig_put(text, "    ret %%2\n  }\n}\n");
}

static void check_level(const convolution *p, const char *text, const char *level,
                        int64_t images) {
    lower_case c;
    lower_open(&c, level, text, &images, 1);
    c.decomposes = true;
    lower_inputs(&c, LOWER_SPECIAL, 0);
    lower_interpret(&c);
    lower_match_each(&c, lower_run(&c), 0);
    bool is_integer = lower_has(&c, IG_OP_dot4) || lower_has(&c, IG_OP_dot4_block);
    CHECK(is_integer == p->is_product);
    lower_close(&c);
}

/* So many images at every level from number `first` on. */
static void check_images(const convolution *p, int64_t images, size_t first) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_convolution(&text, p);
    for (size_t i = first; i < IG_COUNT_OF(cpu_levels); i++) {
        if (first == 0 && !cpu_level_is_due(i)) {
            continue;
        }
        check_level(p, text.data, cpu_levels[i], images);
    }
    ig_arena_fini(&arena);
}

static void check_convolution(const convolution *p) {
    check_images(p, 2, 0);
}

/* None, and several. */
static void check_batches(const convolution *p) {
    check_images(p, 0, IG_COUNT_OF(cpu_levels) - 1);
    check_images(p, 3, IG_COUNT_OF(cpu_levels) - 1);
}

TEST(windows_are_products) {
    static const convolution cases[] = {
        { "u8", "i8", "9, 6, 7", "5, 6, 7", "9, 3, 3", 5, 81,
          "before = [1, 1], after = [1, 1]", "128", "", true },
        { "i8", "u8", "16, 5, 5", "19, 5, 5", "16, 1, 1", 19, 16, "group = 1", "-3",
          "outputs", true },
        { "i8", "i8", "8, 17", "4, 8", "8, 3", 4, 24,
          "strides = [2], dilations = [2], before = [0], after = [3]", "", "outputs",
          true },
        { "u8", "u8", "11, 3, 4, 5", "3, 2, 3, 4", "11, 2, 2, 2", 3, 88, "group = 1",
          "7", "131", true },
        { "u8", "i8", "2, 3, 3", "7, 3, 3", "2, 1, 1", 7, 2, "group = 1", "200", "5",
          true },
        { "u8", "i8", "132, 4, 5", "18, 2, 3", "132, 3, 3", 18, 1188, "group = 1", "9",
          "", true },
        { "u8", "i8", "12, 9, 9", "33, 2, 2", "12, 5, 5", 33, 300,
          "strides = [3, 3], before = [1, 0], after = [0, 1]", "255", "", true },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_convolution(&cases[i]);
    }
    check_batches(&cases[0]);
}

/* Rows of several blocks and tiles, two tiles of columns, and K of two passes, whose
 * border lies within a run. */
TEST(windows_are_copied_for_all_columns) {
    static const convolution cases[] = {
        { "u8", "i8", "4, 20, 19", "33, 20, 19", "4, 3, 3", 33, 36,
          "before = [1, 1], after = [1, 1]", "128", "", true },
        { "u8", "i8", "516, 4, 4", "130, 2, 2", "516, 3, 3", 130, 4644, "group = 1",
          "9", "", true },
        { "u8", "i8", "8, 9, 40", "20, 3, 18", "4, 3, 5", 20, 60,
          "strides = [3, 2], group = 2", "3", "", true },
        { "u8", "i8", "64, 9, 9", "70, 5, 5", "64, 1, 1", 70, 64, "strides = [2, 2]",
          "1", "", true },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_convolution(&cases[i]);
    }
    check_batches(&cases[0]);
    check_batches(&cases[2]);
}

TEST(few_channels_are_quads) {
    static const convolution cases[] = {
        { "u8", "i8", "3, 9, 9", "20, 4, 4", "3, 3, 3", 20, 27, "strides = [2, 2]",
          "114", "", true },
        { "u8", "u8", "3, 9, 9", "20, 9, 9", "3, 3, 3", 20, 27,
          "before = [1, 1], after = [1, 1]", "114", "131", true },
        { "i8", "u8", "6, 7, 9", "3, 3, 3", "6, 3, 4", 3, 72,
          "strides = [2, 3], before = [0, 2], after = [0, 1]", "-114", "outputs",
          true },
        { "u8", "i8", "1, 1, 1", "1, 1, 1", "1, 3, 3", 1, 9,
          "before = [1, 1], after = [1, 1]", "200", "5", true },
        { "i8", "i8", "5, 40", "17, 15", "5, 12", 17, 60, "strides = [2]", "3", "",
          true },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_convolution(&cases[i]);
    }
}

/* Weights near their zero point, which fit i8 less it, while the zeros added to their
 * channels do not; and so many that they are not folded. */
TEST(zeros_that_are_added_fit_too) {
    static const convolution product = { .is_product = true };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n  weight @w : u8[130, 3, 13, 13] = [190");
    for (int64_t i = 1; i < 130 * 3 * 13 * 13; i++) {
        ig_put(&text, ", %lld", (long long)(190 + i * 37 % 66));
    }
    ig_put(&text,
           "]\n"
           "  graph @main(%%x: u8[B, 3, 13, 14]) -> (i32[B, 130, 1, 2] \"y\") {\n"
           "    %%0 = const {value = 77} : u8[]\n"
           "    %%1 = const {value = 230} : u8[]\n"
           "    %%2 = conv_integer %%x, @w, %%0, %%1 : i32[B, 130, 1, 2]\n"
           "    ret %%2\n  }\n}\n");
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        check_level(&product, text.data, cpu_levels[i], 2);
    }
    ig_arena_fini(&arena);
}

/* Groups of whole quads, of parts of one, of more than a panel; all merged; two
 * panels of merged ones.  Weights of another zero point are no such groups. */
TEST(windows_of_groups_are_products) {
    static const convolution cases[] = {
        { "u8", "i8", "8, 6, 7", "24, 6, 7", "4, 3, 3", 24, 36,
          "before = [1, 1], after = [1, 1], group = 2", "128", "", true },
        { "i8", "i8", "4, 5, 5", "6, 5, 5", "2, 1, 1", 6, 2, "group = 2", "1", "",
          true },
        { "u8", "u8", "32, 5, 5", "64, 3, 3", "4, 3, 2", 64, 24,
          "strides = [2, 2], before = [1, 0], after = [1, 1], group = 8", "3", "128",
          true },
        { "u8", "i8", "16, 3, 9", "80, 3, 5", "8, 1, 5", 80, 40, "group = 2", "255", "",
          true },
        { "i8", "i8", "8, 20", "16, 16", "1, 5", 16, 5, "group = 8", "-128", "", true },
        { "u8", "i8", "12, 2, 3, 4", "18, 2, 2, 3", "2, 1, 2, 2", 18, 8, "group = 6",
          "9", "", true },
        { "u8", "i8", "24, 4, 4", "36, 2, 2", "6, 3, 3", 36, 54,
          "dilations = [1, 1], group = 4", "", "", true },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_convolution(&cases[i]);
    }
    check_batches(&cases[0]);
}

TEST(other_windows_of_groups_are_floats) {
    static const convolution cases[] = {
        { "u8", "i8", "9, 6, 7", "9, 6, 7", "1, 3, 3", 9, 9,
          "before = [1, 1], after = [1, 1], group = 9", "128", "outputs", false },
        { "i8", "u8", "17, 12", "17, 4", "1, 5", 17, 5, "strides = [2], group = 17",
          "-128", "9", false },
        { "i8", "i8", "4, 5, 5", "6, 5, 5", "2, 1, 1", 6, 2, "group = 2", "1", "3",
          false },
        { "i8", "i8", "6, 5, 5", "6, 5, 5", "2, 1, 1", 6, 2, "group = 3", "1", "",
          false },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        check_convolution(&cases[i]);
    }
    check_batches(&cases[0]);
}

UNIT_SUITE(cpu_lower_conv_integer, windows_are_products,
           windows_are_copied_for_all_columns, few_channels_are_quads,
           zeros_that_are_added_fit_too, windows_of_groups_are_products,
           other_windows_of_groups_are_floats)
