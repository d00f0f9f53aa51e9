/* Rows of parts, to padded ones and back, against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#define EXTENTS(...) ((const int64_t[]){ __VA_ARGS__ })

enum { EDGES = 7 };
/* Empty parts first, between and last; one that is longer than any length below. */
static const int64_t edges[EDGES] = { 0, 0, 5, 41, 41, 44, 44 };

static void set_edges(lower_case *c) {
    for (int64_t i = 0; i < EDGES; i++) {
        ig_tensor_set_i64(&c->inputs[1], i, edges[i]);
    }
}

static void check(const char *signature, const char *body, const int64_t *extents) {
    char text[1024];
    snprintf(text, sizeof text, "module @t {\n  graph @main(%s {\n%s\n  }\n}\n",
             signature, body);
    lower_check_special(text, extents, 0, set_edges);
}

/* ---- rows of all dtypes, of extents that are known or not ---- */

TEST(rows_are_padded) {
    static const char *const dtypes[] = { "bool", "i8",  "u16", "i32",
                                          "i64",  "f16", "f32", "f64" };
    for (size_t i = 0; i < 8 * IG_COUNT_OF(dtypes); i++) {
        char signature[256], body[256];
        const char *dtype = dtypes[i / 8];
        int width = (int)(i % 4) * 12 + 1; /* of the row: 1, 13, 25, 37 */
        bool is_known = i % 8 < 4;
        char row[8] = "W";
        const char *offsets = "i32";
        if (is_known) {
            snprintf(row, sizeof row, "%d", width);
            offsets = "i64";
        }
        snprintf(signature, sizeof signature,
                 "%%x: %s[T, %s], %%o: %s[E]) -> (%s[E - 1, 9, %s] \"o\")", dtype, row,
                 offsets, dtype, row);
        snprintf(body, sizeof body,
                 "%%0 = jagged_to_padded %%x, %%o {length = 9, padding = 1}\nret %%0");
        check(signature, body,
              is_known ? EXTENTS(44, EDGES) : EXTENTS(44, width, EDGES));
    }
}

TEST(rows_are_made_jagged) {
    static const char *const dtypes[] = { "bool", "u8", "i64", "bf16", "f32" };
    for (size_t i = 0; i < 6 * IG_COUNT_OF(dtypes); i++) {
        char signature[256], body[256];
        const char *dtype = dtypes[i / 6];
        static const int64_t rows[] = { 44, 47, 1, 0, 3, 44 };
        static const int64_t widths[] = { 1, 13, 37, 16, 64, 700 };
        snprintf(signature, sizeof signature,
                 "%%x: %s[6, 9, W], %%o: i64[7], %%r: i8[T]) -> (%s[T, W] \"o\")",
                 dtype, dtype);
        snprintf(body, sizeof body,
                 "%%0 = padded_to_jagged %%x, %%o {rows = T}\nret %%0");
        check(signature, body, EXTENTS(widths[i % 6], rows[i % 6]));
    }
}

/* Rows before the first part and after the last, over several tiles, and in one. */
static void set_late(lower_case *c) {
    static const int64_t late[] = { 70, 70, 80, 200 };
    for (int64_t i = 0; i < 4; i++) {
        ig_tensor_set_i64(&c->inputs[1], i, late[i]);
    }
}

TEST(rows_of_no_part_are_zero) {
    static const char text[] =
        "module @t {\n  graph @main(%x: f32[3, 9, W], %o: i32[4], %r: i8[T]) -> (f32[T, W] \"o\") {\n"
        "    %0 = padded_to_jagged %x, %o {rows = T} : f32[T, W]\n    ret %0\n  }\n}\n";
    for (int64_t width = 1; width < 200; width += 99) {
        lower_check_special(text, EXTENTS(width, 300), 0, set_late);
        lower_check_special(text, EXTENTS(width, 60), 0, set_late);
    }
}

/* A part of wide rows, axes in another order, every second row: read where they are. */
TEST(rows_are_read_where_they_are) {
    check(
        "%x: f32[T, 96], %o: i64[E]) -> (f32[E - 1, 9, 32] \"o\")",
        "%0 = slice %x {starts = [0, 33], sizes = [T, 32], steps = [1, 1]} : f32[T, 32]\n"
        "%1 = jagged_to_padded %0, %o {length = 9} : f32[E - 1, 9, 32]\nret %1",
        EXTENTS(44, EDGES));
    check("%x: f32[T, 5, 4], %o: i64[E]) -> (f32[E - 1, 9, 4, 5] \"o\")",
          "%0 = transpose %x {perm = [0, 2, 1]} : f32[T, 4, 5]\n"
          "%1 = jagged_to_padded %0, %o {length = 9} : f32[E - 1, 9, 4, 5]\nret %1",
          EXTENTS(44, EDGES));
    check("%x: i64[88], %o: i64[E]) -> (i64[E - 1, 9] \"o\")",
          "%0 = slice %x {starts = [0], sizes = [44], steps = [2]} : i64[44]\n"
          "%1 = jagged_to_padded %0, %o {length = 9} : i64[E - 1, 9]\nret %1",
          EXTENTS(EDGES));
    check("%x: f32[6, 3, 9, 20], %o: i64[7], %r: i8[T]) -> (f32[T, 3, 20] \"o\")",
          "%0 = transpose %x {perm = [0, 2, 1, 3]} : f32[6, 9, 3, 20]\n"
          "%1 = padded_to_jagged %0, %o {rows = T} : f32[T, 3, 20]\nret %1",
          EXTENTS(44));
    check("%x: f16[6, 9, 2, 3], %o: i64[7], %r: i8[T]) -> (f16[T, 3, 2] \"o\")",
          "%0 = transpose %x {perm = [0, 1, 3, 2]} : f16[6, 9, 3, 2]\n"
          "%1 = padded_to_jagged %0, %o {rows = T} : f16[T, 3, 2]\nret %1",
          EXTENTS(44));
}

static const char split[] =
    "module @t {\n  graph @main(%x: f32[T, 96], %o: i64[E]) -> (f32[E - 1, 9, 32] \"o\") {\n"
    "    %0 = slice %x {starts = [0, 32], sizes = [T, 32], steps = [1, 1]} : f32[T, 32]\n"
    "    %1 = jagged_to_padded %0, %o {length = 9} : f32[E - 1, 9, 32]\n    ret %1\n  }\n}\n";

TEST(a_part_of_wide_rows_is_not_copied) {
    lower_case c;
    lower_open(&c, "v3", split, EXTENTS(44, EDGES), 2);
    set_edges(&c);
    lower_compare(&c, 0);
    CHECK_INT(c.launches, 1);
    lower_close(&c);
}

/* ---- bits ---- */

/* A NaN's payload and the sign of 0 stay. */
TEST(bits_are_copied) {
    static const uint32_t bits[] = { 0x7fa12345, 0xffc00001, 0x80000000, 0x00000001 };
    lower_case c;
    lower_open(
        &c, "v3",
        "module @t {\n  graph @main(%x: f32[T], %o: i64[2], %y: f32[1, T]) -> "
        "(f32[1, 5] \"o\", f32[T] \"p\") {\n"
        "    %0 = jagged_to_padded %x, %o {length = 5, padding = -0} : f32[1, 5]\n"
        "    %1 = padded_to_jagged %y, %o {rows = T} : f32[T]\n"
        "    ret %0, %1\n  }\n}\n",
        EXTENTS(4), 2);
    memcpy(c.inputs[0].data, bits, sizeof bits);
    memcpy(c.inputs[2].data, bits, sizeof bits);
    ig_tensor_set_i64(&c.inputs[1], 0, 0);
    ig_tensor_set_i64(&c.inputs[1], 1, 4);
    lower_run(&c);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(memcmp(c.got[i].data, bits, sizeof bits) == 0);
        CHECK(memcmp(c.expected[i].data, bits, sizeof bits) == 0);
    }
    CHECK(signbit(((const float *)c.got[0].data)[4]));
    lower_close(&c);
}

/* ---- offsets that are wrong ---- */

typedef struct wrong {
    int64_t offsets[3], position, value;
} wrong;

static void check_report(const char *text, const wrong *w) {
    lower_case c;
    lower_open(&c, "v2", text, EXTENTS(4), 2);
    lower_check_offsets(&c, w->offsets, w->position, w->value);
    lower_close(&c);
}

TEST(wrong_offsets_are_reported_and_read_nothing) {
    static const wrong padded[] = {
        { { 0, 2, 5 }, 2, 5 },
        { { -1, 2, 4 }, 0, -1 },
        { { 5, 6, 6 }, 1, 6 },
        { { INT64_MIN, INT64_MAX, 0 }, 0, INT64_MIN },
        { { INT64_MAX - 1, INT64_MAX, 0 }, 1, INT64_MAX },
        { { 0, 3, 1 }, -1, 0 }, /* falls: there are no rows */
        { { 2, INT64_MAX, INT64_MIN }, 1, INT64_MAX },
        { { INT64_MAX, INT64_MIN, INT64_MIN }, -1, 0 },
    };
    static const wrong jagged[] = {
        { { 0, 3, 1 }, 2, 1 },
        { { 0, -1, 4 }, 1, -1 },
        { { INT64_MAX, INT64_MIN, 4 }, 1, INT64_MIN },
        { { INT64_MIN, INT64_MAX, 0 }, 2, 0 },
        { { INT64_MIN, 0, INT64_MAX }, -1, 0 },
        { { INT64_MAX, INT64_MAX, INT64_MAX }, -1, 0 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(padded); i++) {
        check_report(
            "module @t {\n  graph @main(%x: f32[T, 3], %o: i64[3]) -> (f32[2, 3, 3] \"o\") {\n"
            "    %0 = jagged_to_padded %x, %o {length = 3} : f32[2, 3, 3]\n"
            "    ret %0\n  }\n}\n",
            &padded[i]);
    }
    for (size_t i = 0; i < IG_COUNT_OF(jagged); i++) {
        check_report(
            "module @t {\n  graph @main(%x: f32[2, 3, 3], %o: i64[3], %r: i8[T]) -> (f32[T, 3] \"o\") {\n"
            "    %0 = padded_to_jagged %x, %o {rows = T} : f32[T, 3]\n"
            "    ret %0\n  }\n}\n",
            &jagged[i]);
    }
}

UNIT_SUITE(cpu_lower_jagged, rows_are_padded, rows_are_made_jagged,
           rows_of_no_part_are_zero, rows_are_read_where_they_are,
           a_part_of_wide_rows_is_not_copied, bits_are_copied,
           wrong_offsets_are_reported_and_read_nothing)
