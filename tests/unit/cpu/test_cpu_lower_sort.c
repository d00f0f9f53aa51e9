/* sort and topk at every level: numbers of every dtype with a kernel, special values
 * among them, few and many that are kept, along any axis.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

static const char *const dtypes[] = { "f32", "f16", "bf16", "i32", "u32",
                                      "i16", "u16", "i8",   "u8",  "bool" };

static const char *text_of(const char *dtype, const char *op, const char *kept) {
    static char text[512];
    snprintf(text, sizeof text,
             "module @t {\n  graph @main(%%x: %s[A, N, B]) -> (%s[A, %s, B] \"y\", "
             "i64[A, %s, B] \"at\") {\n"
             "    %%0, %%1 = %s : %s[A, %s, B], i64[A, %s, B]\n"
             "    ret %%0, %%1\n  }\n}\n",
             dtype, dtype, kept, kept, op, dtype, kept, kept);
    return text;
}

/* Of special values and of plain ones, many of them equal. */
static void check(const char *text, int64_t extent) {
    int64_t lines[] = { 3, extent, 1 }, apart[] = { 2, extent, 3 };
    lower_check_special(text, lines, 0, NULL);
    lower_check_special(text, apart, 0, NULL);
    lower_check(text, lines, 9);
}

TEST(sorts_of_every_dtype) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        check(text_of(dtypes[i], "sort %x {axis = 1}", "N"), 21);
        check(text_of(dtypes[i], "sort %x {axis = 1, descending}", "N"), 40);
    }
}

TEST(sorts_of_every_size) {
    static const int64_t sizes[] = { 0, 1, 2, 4, 5, 6, 16, 17, 21, 22, 85, 86, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(sizes); i++) {
        check(text_of("f32", "sort %x {axis = 1}", "N"), sizes[i]);
    }
}

TEST(the_first_of_every_dtype) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        check(text_of(dtypes[i], "topk %x {axis = 1, k = 3}", "3"), 50);
        check(text_of(dtypes[i], "topk %x {axis = 1, k = 20, smallest}", "20"), 70);
    }
}

TEST(few_and_many_that_are_kept) {
    static const int64_t kept[] = { 0, 1, 2, 15, 16, 17, 33, 90 };
    for (size_t i = 0; i < IG_COUNT_OF(kept); i++) {
        char op[64], number[16];
        snprintf(number, sizeof number, "%d", (int)kept[i]);
        snprintf(op, sizeof op, "topk %%x {axis = 1, k = %s}", number);
        check(text_of("f32", op, number), 90);
        check(text_of("i8", op, number), 133);
    }
}

/* The first 5 of lines side by side. */
static void check_across(const char *dtype, int width, const char *order) {
    char text[512];
    snprintf(text, sizeof text,
             "module @t {\n  graph @main(%%x: %s[A, N, %d]) -> (%s[A, 5, %d] \"y\", "
             "i64[A, 5, %d] \"at\") {\n"
             "    %%0, %%1 = topk %%x {axis = 1, k = 5%s} : %s[A, 5, %d], "
             "i64[A, 5, %d]\n    ret %%0, %%1\n  }\n}\n",
             dtype, width, dtype, width, width, order, dtype, width, width);
    int64_t many[] = { 2, 40 }, no_more[] = { 1, 5 };
    lower_check_special(text, many, 0, NULL);
    lower_check(text, no_more, 9);
}

/* Widths that fill vectors, do not, or leave a rest. */
TEST(first_of_lines_side_by_side) {
    static const int widths[] = { 2, 4, 8, 64, 67 };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        check_across(dtypes[i], 11, i % 2 ? ", smallest" : "");
    }
    for (size_t w = 0; w < IG_COUNT_OF(widths); w++) {
        check_across("f32", widths[w], w % 2 ? ", smallest" : "");
    }
}

/* Bits of NaN whose sign is set stand where others do. */
static void set_signed_nans(lower_case *c) {
    static const uint32_t bits[] = { 0xffc00000, 0x7fc00000, 0xffc12345, 0x7fc00001,
                                     0xff800000, 0x7f800000, 0x80000000, 0x00000000 };
    ig_tensor *x = &c->inputs[0];
    for (int64_t i = 0; i < x->count; i++) {
        memcpy((char *)x->data + 4 * i, &bits[i * 5 % 8], 4);
    }
}

TEST(nans_of_both_signs) {
    static const int64_t extents[] = { 2, 19, 1 };
    lower_check_with(text_of("f32", "sort %x {axis = 1}", "N"), extents, 1,
                     set_signed_nans);
    lower_check_with(text_of("f32", "topk %x {axis = 1, k = 7}", "7"), extents, 1,
                     set_signed_nans);
}

UNIT_SUITE(cpu_lower_sort, nans_of_both_signs, first_of_lines_side_by_side,
           sorts_of_every_dtype, sorts_of_every_size, the_first_of_every_dtype,
           few_and_many_that_are_kept)
