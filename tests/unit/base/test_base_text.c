/* Strings, UTF-8, numbers, writers and maps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/writer.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static ig_arena arena; /* each test runs in a process of its own */

static ig_writer *fresh_writer(void) {
    static ig_writer writer;
    ig_writer_init(&writer, &arena);
    return &writer;
}

TEST(strings_compare) {
    CHECK(ig_str_equal(IG_STR("ab"), ig_str_of("ab")));
    CHECK(!ig_str_equal(IG_STR("ab"), IG_STR("ac")));
    CHECK(!ig_str_equal(IG_STR("ab"), IG_STR("abc")));
    CHECK(ig_str_equal(ig_str_of(NULL), IG_STR("")));
    CHECK(ig_str_equal((ig_str){ NULL, 0 }, IG_STR("")));
    CHECK(ig_str_is(IG_STR("x"), "x"));
    CHECK(ig_str_starts(IG_STR("name.onnx"), "name"));
    CHECK(!ig_str_starts(IG_STR("na"), "name"));
    CHECK(ig_str_ends(IG_STR("name.onnx"), ".onnx"));
    CHECK(!ig_str_ends(IG_STR("x"), ".onnx"));
    CHECK(ig_str_ends(IG_STR("x"), ""));
    CHECK(ig_str_starts((ig_str){ NULL, 0 }, ""));
}

TEST(hash_is_xxh3) {
    CHECK(ig_hash_bytes(NULL, 0, 0) == 0x2d06800538d394c2u); /* as specified */
    CHECK(ig_hash_bytes("a", 1, 0) != ig_hash_bytes("a", 1, 1));
}

typedef struct utf8_case {
    const char *bytes;
    bool is_valid;
} utf8_case;

TEST(utf8_is_checked_strictly) {
    static const utf8_case cases[] = {
        { "", true },
        { "plain", true },
        { "\xc2\x80 \xdf\xbf", true },
        { "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf", true },
        { "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", true },
        { "\x80", false },
        { "\xc0\x80", false },         /* overlong */
        { "\xc1\xbf", false },         /* overlong */
        { "\xe0\x9f\xbf", false },     /* overlong */
        { "\xf0\x8f\xbf\xbf", false }, /* overlong */
        { "\xed\xa0\x80", false },     /* surrogate */
        { "\xf4\x90\x80\x80", false }, /* above U+10FFFF */
        { "\xf5\x80\x80\x80", false },
        { "\xff", false },
        { "a\xc3", false }, /* cut short */
        { "\xe2\x82", false },
        { "\xf0\x9f\x98", false },
        { "\xc3(", false },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        CHECK_MSG(ig_utf8_is_valid(ig_str_of(cases[i].bytes)) == cases[i].is_valid,
                  "case %zu", i);
    }
    CHECK(ig_utf8_is_valid((ig_str){ "a\0b", 3 }));
}

TEST(code_points_are_written_as_they_are_read) {
    char text[4];
    for (uint32_t point = 0; point <= 0x110000; point++) {
        size_t length = ig_utf8_encode(point, text);
        bool is_one = point < 0xd800 || (point > 0xdfff && point < 0x110000);
        CHECK_MSG((length != 0) == is_one, "%x", point);
        if (length) {
            CHECK_MSG(ig_utf8_length(text, length) == length, "%x", point);
            CHECK_MSG(ig_utf8_decode(text, length) == point, "%x", point);
        }
    }
    CHECK(ig_utf8_encode(UINT32_MAX, text) == 0);
}

TEST(integers_are_read_whole) {
    static const char *const broken[] = {
        "",
        "-",
        "+",
        " 1",
        "1 ",
        "1x",
        "0x1",
        "--1",
        "+-1",
        "1.0",
        "1e3",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999",
    };
    int64_t value = 77;
    for (size_t i = 0; i < IG_COUNT_OF(broken); i++) {
        CHECK_MSG(!ig_str_to_i64(ig_str_of(broken[i]), &value), "%s", broken[i]);
    }
    CHECK(!ig_str_to_i64((ig_str){ "1\0", 2 }, &value));
    CHECK_INT(value, 77);
    CHECK(ig_str_to_i64(IG_STR("9223372036854775807"), &value) && value == INT64_MAX);
    CHECK(ig_str_to_i64(IG_STR("-9223372036854775808"), &value) && value == INT64_MIN);
    CHECK(ig_str_to_i64(IG_STR("+0042"), &value) && value == 42);
    CHECK(ig_str_to_i64((ig_str){ "123", 2 }, &value) && value == 12);
}

TEST(floats_are_read_whole) {
    static const char *const broken[] = { "",  " 1",    "1 ",     "1,5",
                                          "x", "1e400", "-1e999", "--1" };
    double value = 7;
    for (size_t i = 0; i < IG_COUNT_OF(broken); i++) {
        CHECK_MSG(!ig_str_to_f64(ig_str_of(broken[i]), &value), "%s", broken[i]);
    }
    CHECK(!ig_str_to_f64((ig_str){ "1\0", 2 }, &value));
    CHECK(value == 7);
    CHECK(ig_str_to_f64(IG_STR("-2.5e-3"), &value) && value == -0.0025);
    CHECK(ig_str_to_f64(IG_STR("1e-400"), &value) && value == 0);
    CHECK(ig_str_to_f64(IG_STR("5e-324"), &value) && value == 5e-324);
    CHECK(ig_str_to_f64(IG_STR("inf"), &value) && isinf(value));
    CHECK(ig_str_to_f64(IG_STR("nan"), &value) && isnan(value));
    CHECK(ig_str_to_f64((ig_str){ "1.25", 3 }, &value) && value == 1.2);
}

TEST(size_arithmetic_reports_overflow) {
    size_t size;
    int64_t value;
    CHECK(!ig_add_size(SIZE_MAX, 1, &size) && ig_add_size(SIZE_MAX - 1, 1, &size));
    CHECK(!ig_mul_size(SIZE_MAX / 2 + 1, 2, &size));
    CHECK(!ig_add_i64(INT64_MAX, 1, &value) && !ig_sub_i64(INT64_MIN, 1, &value));
    CHECK(!ig_mul_i64(INT64_MIN, -1, &value));
    CHECK_INT(ig_align_up(17, 16), 32);
    CHECK_INT(ig_align_up(32, 16), 32);
    CHECK_INT(ig_floor_div(-7, 2), -4);
    CHECK_INT(ig_floor_div(7, 2), 3);
    CHECK_INT(ig_ceil_div(-7, 2), -3);
    CHECK_INT(ig_ceil_div(7, 2), 4);
}

TEST(writers_grow_and_stay_terminated) {
    ig_writer *w = fresh_writer();
    CHECK_STR(ig_writer_str(w), "");
    ig_put(w, "%d", 12);
    ig_put_char(w, ' ');
    ig_put_str(w, IG_STR("abc"));
    ig_put_spaces(w, 2);
    ig_put_spaces(w, -4);
    ig_put_bytes(w, NULL, 0);
    CHECK_TEXT(w->data, "12 abc  ");
    ig_put(w, "%5000d", 1);
    CHECK_INT(w->size, 5008);
    CHECK_INT(strlen(w->data), 5008);
    for (int i = 0; i < 70; i++) { /* every fill of the buffer around a reserve of 64 */
        ig_writer_init(w, &arena);
        ig_put_spaces(w, i);
        ig_put(w, "%s",
               "0123456789012345678901234567890123456789012345678901234567890123");
        CHECK_INT(strlen(w->data), (size_t)i + 64);
    }
}

TEST(writers_align) {
    ig_writer *w = fresh_writer();
    ig_put_char(w, 'x');
    ig_put_align(w, 64);
    CHECK_INT(w->size, 64);
    ig_put_align(w, 64);
    CHECK_INT(w->size, 64);
    CHECK(memcmp(w->data, "x\0\0\0", 4) == 0);
}

TEST(quoting_escapes) {
    ig_writer *w = fresh_writer();
    ig_put_quoted(w, (ig_str){ "a\"b\\\n\t\x01\x7f\xc3\xa9\xff\0", 12 });
    CHECK_TEXT(w->data, "\"a\\\"b\\\\\\n\\t\\x01\\x7f\xc3\xa9\\xff\\x00\"");
    ig_writer_init(w, &arena);
    ig_put_json_string(w, (ig_str){ "a\"\x01\r\xff\0", 6 });
    CHECK_TEXT(w->data, "\"a\\\"\\u0001\\u000d\xef\xbf\xbd\\u0000\"");
}

static const char *text_of_f64(double value) {
    ig_writer *w = fresh_writer();
    ig_put_f64(w, value);
    return w->data;
}

static const char *text_of_f32(float value) {
    ig_writer *w = fresh_writer();
    ig_put_f32(w, value);
    return w->data;
}

TEST(floats_are_written_short) {
    CHECK_TEXT(text_of_f64(0.1), "0.1");
    CHECK_TEXT(text_of_f64(1), "1");
    CHECK_TEXT(text_of_f64(-0.0), "-0");
    CHECK_TEXT(text_of_f64(1e300), "1e+300");
    CHECK_TEXT(text_of_f64(5e-324), "5e-324");
    CHECK_TEXT(text_of_f64(1.0 / 3), "0.3333333333333333");
    CHECK_TEXT(text_of_f64(0.1 + 0.2), "0.30000000000000004");
    CHECK_TEXT(text_of_f64(INFINITY), "inf");
    CHECK_TEXT(text_of_f64(-INFINITY), "-inf");
    CHECK_TEXT(text_of_f64(NAN), "nan");
    CHECK_TEXT(text_of_f32(0.1f), "0.1");
    CHECK_TEXT(text_of_f32(16777216.0f), "16777216");
    CHECK_TEXT(text_of_f32(1e-45f), "1e-45");
    CHECK_TEXT(text_of_f32(FLT_MAX), "3.4028235e+38");
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

TEST(random_floats_read_back) {
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&state);
        double d, back;
        float f;
        memcpy(&d, &bits, sizeof(d));
        memcpy(&f, &bits, sizeof(f));
        if (isfinite(d)) {
            CHECK(ig_str_to_f64(ig_str_of(text_of_f64(d)), &back));
            CHECK(memcmp(&d, &back, sizeof(d)) == 0);
        }
        if (isfinite(f)) {
            const char *text = text_of_f32(f);
            CHECK_MSG(strtof(text, NULL) == f, "%s", text);
            CHECK(strlen(text) <= 15);
        }
    }
}

TEST(numbers_ignore_the_host_s_locale) {
    static const char *const with_comma[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE",
                                              "pl_PL" };
    for (size_t i = 0; i < IG_COUNT_OF(with_comma); i++) {
        setlocale(LC_ALL, with_comma[i]); /* none of them need be installed */
        double value;
        CHECK(ig_str_to_f64(IG_STR("1.5"), &value) && value == 1.5);
        CHECK(!ig_str_to_f64(IG_STR("1,5"), &value));
        CHECK_TEXT(text_of_f64(2.5), "2.5");
    }
}

TEST(maps_by_name) {
    ig_map map;
    ig_map_init(&map, &arena);
    CHECK_PTR(ig_map_get(&map, IG_STR("none")), NULL);
    enum { COUNT = 20000 };
    static int values[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof(name), "name%d", i);
        ig_map_set(&map, ig_str_of(name), &values[i]); /* the key is copied */
    }
    CHECK_INT(map.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ig_str key = ig_str_of(ig_arena_printf(&arena, "name%d", i));
        CHECK_PTR(ig_map_get(&map, key), &values[i]);
        CHECK(ig_str_equal(map.entries[i].key, key)); /* order of insertion */
    }
    CHECK_PTR(ig_map_get(&map, IG_STR("name20000")), NULL);
    ig_map_set(&map, IG_STR("name7"), &values[0]);
    CHECK_PTR(ig_map_get(&map, IG_STR("name7")), &values[0]);
    CHECK_INT(map.count, COUNT);
}

TEST(the_empty_name_is_a_name) {
    ig_map map;
    int value;
    ig_map_init(&map, &arena);
    ig_map_set(&map, (ig_str){ NULL, 0 }, &value);
    CHECK_PTR(ig_map_get(&map, IG_STR("")), &value);
    ig_map_set(&map, (ig_str){ "a\0b", 3 }, &map);
    CHECK_PTR(ig_map_get(&map, (ig_str){ "a\0b", 3 }), &map);
    CHECK_PTR(ig_map_get(&map, IG_STR("a")), NULL);
}

TEST(maps_by_number) {
    ig_map map;
    ig_map_init(&map, &arena);
    CHECK_PTR(ig_map_get_id(&map, 0), NULL);
    static char values[5000];
    for (uint64_t i = 0; i < 5000; i++) {
        ig_map_set_id(&map, i << 40, &values[i]);
    }
    ig_map_set_id(&map, UINT64_MAX, &map);
    for (uint64_t i = 0; i < 5000; i++) {
        CHECK_PTR(ig_map_get_id(&map, i << 40), &values[i]);
    }
    CHECK_PTR(ig_map_get_id(&map, UINT64_MAX), &map);
    CHECK_PTR(ig_map_get_id(&map, 1), NULL);
    ig_map_set_id(&map, IG_MAP_PTR(&map), &values[1]);
    CHECK_PTR(ig_map_get_id(&map, IG_MAP_PTR(&map)), &values[1]);
    CHECK_INT(map.count, 5002);
}

UNIT_SUITE(base_text, strings_compare, hash_is_xxh3, utf8_is_checked_strictly,
           code_points_are_written_as_they_are_read,
           integers_are_read_whole, floats_are_read_whole,
           size_arithmetic_reports_overflow, writers_grow_and_stay_terminated,
           writers_align, quoting_escapes, floats_are_written_short,
           random_floats_read_back, numbers_ignore_the_host_s_locale, maps_by_name,
           the_empty_name_is_a_name, maps_by_number)
