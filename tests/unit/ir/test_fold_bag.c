/* Bags and interactions: every rule, with values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

/* Row r of the table is [r, 10 r]. */
#define TABLE "%t = const {value = f32[4, 2] [0, 0, 1, 10, 2, 20, 3, 30]}\n"

static void check_bag(const char *ids, const char *offsets, const char *attrs,
                      const char *expected) {
    char text[512];
    snprintf(text, sizeof text,
             "%s%%i = const {value = %s}\n%%o = const {value = %s}\n"
             "%%0 = bag %%t, %%i, %%o {operands = [1], pool = %s}\nret %%0",
             TABLE, ids, offsets, attrs);
    CHECK_VALUE(text, expected);
}

/* ---- pooling ---- */

TEST(offsets_cut_the_ids_into_bags) {
    const char *ids = "i64[5] [1, 2, 3, 3, 0]", *offsets = "i64[3] [0, 2, 2]";
    check_bag(ids, offsets, "[sum]", "f32[3, 2] [3, 30, 0, 0, 6, 60]");
    check_bag(ids, offsets, "[mean]", "f32[3, 2] [1.5, 15, 0, 0, 2, 20]");
    check_bag(ids, offsets, "[max]", "f32[3, 2] [2, 20, 0, 0, 3, 30]");
    check_bag(ids, offsets, "[sum], last = [offset]", "f32[2, 2] [3, 30, 0, 0]");
    check_bag("i32[2] [3, 1]", "i32[1] [0]", "[sum]", "f32[1, 2] [4, 40]");
}

TEST(none_of_something) {
    check_bag("i64[0] []", "i64[0] []", "[sum]", "f32[0, 2] []");
    check_bag("i64[0] []", "i64[2] [0, 0]", "[sum]", "f32[2, 2] [0, 0, 0, 0]");
    check_bag("i64[0] []", "i64[1] [0]", "[sum], last = [offset]", "f32[0, 2] []");
    check_bag("i64[0] []", "i64[0] []", "[sum], last = [offset]",
              "INVALID: operand 2 is i64[0], expected the last end in it");
    CHECK_VALUE(
        "%t = const {value = f32[4, 0] []}\n%i = const {value = i64[2] [3, 0]}\n"
        "%o = const {value = i64[1] [0]}\n"
        "%0 = bag %t, %i, %o {operands = [1], pool = [sum]}\nret %0",
        "f32[1, 0] []");
}

TEST(an_empty_bag_follows_its_rule) {
    const char *ids = "i64[1] [1]", *offsets = "i64[2] [0, 1]";
    check_bag(ids, offsets, "[sum], empty = [zero]", "f32[2, 2] [1, 10, 0, 0]");
    check_bag(ids, offsets, "[max], empty = [neg_inf]",
              "f32[2, 2] [1, 10, -inf, -inf]");
    check_bag(ids, offsets, "[mean], empty = [nan]", "f32[2, 2] [1, 10, nan, nan]");
}

TEST(begins_and_ends_may_leave_gaps) {
    CHECK_VALUE(
        TABLE
        "%i = const {value = i64[4] [1, 2, 3, 0]}\n"
        "%b = const {value = i64[3] [2, 0, 1]}\n%e = const {value = i64[3] [3, 1, 1]}\n"
        "%0 = bag %t, %i, %b, %e {operands = [3], pool = [sum]}\nret %0",
        "f32[3, 2] [3, 30, 1, 10, 0, 0]");
}

TEST(offsets_must_be_in_order) {
    check_bag("i64[2] [1, 2]", "i64[2] [0, 3]", "[sum]",
              "INVALID: bag: feature 0: bag 0 goes from 0 to 3, and there are 2 ids");
    check_bag("i64[2] [1, 2]", "i64[2] [1, 0]", "[sum]",
              "INVALID: bag: feature 0: bag 0 goes from 1 to 0, and there are 2 ids");
    check_bag("i64[2] [1, 2]", "i64[1] [-1]", "[sum]",
              "INVALID: bag: feature 0: bag 0 goes from -1 to 2, and there are 2 ids");
}

TEST(weights_scale_rows) {
    CHECK_VALUE(
        TABLE
        "%i = const {value = i64[3] [1, 2, 3]}\n%o = const {value = i64[2] [0, 2]}\n"
        "%w = const {value = f32[3] [2, -1, 0.5]}\n"
        "%0 = bag %t, %i, %o, %w {operands = [5], pool = [sum]}\n"
        "%1 = bag %t, %i, %o, %w {operands = [5], pool = [max]}\n"
        "%2 = bag %t, %i, %o, %w {operands = [5], pool = [mean]}\nret %0, %1, %2",
        "f32[2, 2] [0, 0, 1.5, 15]; f32[2, 2] [2, 20, 1.5, 15]; f32[2, 2] [0, 0, 1.5, 15]");
}

TEST(bags_of_fixed_length_and_single_rows) {
    CHECK_VALUE(TABLE "%i = const {value = i64[2, 2] [1, 2, 3, 3]}\n"
                      "%0 = bag %t, %i {operands = [0], pool = [sum]}\nret %0",
                "f32[2, 2] [3, 30, 6, 60]");
    CHECK_VALUE(
        TABLE "%i = const {value = i64[2, 0] []}\n"
              "%0 = bag %t, %i {operands = [0], pool = [mean], empty = [nan]}\nret %0",
        "f32[2, 2] [nan, nan, nan, nan]");
    CHECK_VALUE(TABLE "%i = const {value = i64[1, 3] [3, 0, -1]}\n"
                      "%0 = bag %t, %i {operands = [0], pool = [none]}\nret %0",
                "f32[1, 3, 2] [3, 30, 0, 0, 3, 30]");
    CHECK_VALUE(TABLE "%i = const {value = i64[] [2]}\n"
                      "%0 = bag %t, %i {operands = [0], pool = [none]}\nret %0",
                "f32[2] [2, 20]");
}

/* ---- ids ---- */

TEST(negative_ids_wrap_fail_or_count) {
    const char *ids = "i64[2] [3, -1]", *offset = "i64[1] [0]";
    check_bag(ids, offset, "[sum]", "f32[1, 2] [6, 60]");
    check_bag(
        ids, offset, "[sum], negative = error",
        "INVALID: bag: feature 0: id -1 at position 1 is out of range: the table has 4 rows");
    check_bag(ids, offset, "[sum], negative = skip", "f32[1, 2] [3, 30]");
    check_bag(ids, offset, "[mean], negative = skip", "f32[1, 2] [1.5, 15]");
    check_bag("i64[1] [-1]", offset, "[mean], negative = skip, empty = [nan]",
              "f32[1, 2] [0, 0]");
    check_bag("i64[1] [-1]", offset, "[max], negative = skip, empty = [neg_inf]",
              "f32[1, 2] [-inf, -inf]");
}

TEST(ids_out_of_range_fail_or_clamp) {
    const char *offset = "i64[1] [0]";
    check_bag(
        "i64[2] [0, 4]", offset, "[sum]",
        "INVALID: bag: feature 0: id 4 at position 1 is out of range: the table has 4 rows");
    check_bag(
        "i64[2] [0, -5]", offset, "[sum]",
        "INVALID: bag: feature 0: id -5 at position 1 is out of range: the table has 4 rows");
    check_bag("i64[2] [9, -9]", offset, "[sum], range = clamp", "f32[1, 2] [3, 30]");
    check_bag(
        "i64[1] [-1]", offset, "[sum], range = clamp, negative = error",
        "INVALID: bag: feature 0: id -1 at position 0 is out of range: the table has 4 rows");
    check_bag("i64[1] [9223372036854775807]", offset, "[sum], range = clamp",
              "f32[1, 2] [3, 30]");
    CHECK_VALUE(
        "%t = const {value = f32[0, 2] []}\n%i = const {value = i64[1] [0]}\n"
        "%o = const {value = i64[1] [0]}\n"
        "%0 = bag %t, %i, %o {operands = [1], pool = [sum], range = clamp}\nret %0",
        "INVALID: bag: feature 0: id 0 at position 0 is out of range: the table has 0 rows");
}

TEST(padding_leaves_rows_out_of_sum_and_count) {
    const char *ids = "i64[5] [1, 3, 1, 2, 3]", *offsets = "i64[3] [0, 1, 3]";
    check_bag(ids, offsets, "[sum], padding = [1]", "f32[3, 2] [0, 0, 3, 30, 5, 50]");
    check_bag(ids, offsets, "[mean], padding = [3], empty = [nan]",
              "f32[3, 2] [1, 10, 1, 10, 2, 20]");
    check_bag(ids, offsets, "[mean], padding = [1], empty = [nan]",
              "f32[3, 2] [nan, nan, 3, 30, 2.5, 25]");
    CHECK_VALUE(
        TABLE "%i = const {value = i64[2] [1, 2]}\n"
              "%0 = bag %t, %i {operands = [0], pool = [none], padding = [2]}\nret %0",
        "f32[2, 2] [1, 10, 0, 0]");
}

TEST(several_features_at_once) {
    CHECK_VALUE(
        TABLE
        "%u = const {value = f64[2, 1] [0.5, 0.25]}\n"
        "%i = const {value = i64[2] [1, 2]}\n%o = const {value = i64[1] [0]}\n"
        "%j = const {value = i32[1, 2] [1, 1]}\n"
        "%0, %1, %2 = bag %t, %i, %o, %u, %j, %t, %i {operands = [1, 0, 0], pool = [sum, mean, none]}\nret %0, %1, %2",
        "f32[1, 2] [3, 30]; f64[1, 1] [0.25]; f32[2, 2] [1, 10, 2, 20]");
    CHECK_VALUE(
        TABLE
        "%i = const {value = i64[1, 1] [1]}\n%j = const {value = i64[1, 1] [7]}\n"
        "%0, %1 = bag %t, %i, %t, %j {operands = [0, 0], pool = [sum, sum]}\nret %0, %1",
        "INVALID: bag: feature 1: id 7 at position 0 is out of range: the table has 4 rows");
}

/* ---- tables ---- */

static void check_table(const char *table, const char *expected) {
    char head[256];
    snprintf(head, sizeof head, "table @t : %s", table);
    CHECK_VALUE_OF(head,
                   "%i = const {value = i64[2, 2] [0, 1, 1, 1]}\n"
                   "%0 = bag @t, %i {operands = [0], pool = [sum]}\nret %0",
                   expected);
}

TEST(tables_of_every_format) {
    check_table("f32<rowwise>[2, 2] = [1, 2, 3, 4]", "f32[2, 2] [4, 6, 6, 8]");
    check_table("f16<rowwise>[2, 2] = [1, 2, 3, 4]", "f16[2, 2] [4, 6, 6, 8]");
    check_table("bf16<rowwise>[2, 1] = [1, 256]", "bf16[2, 1] [256, 512]");
    /* scale 0.5 and bias 1 in f16 in front: rows [1, 1.5] and [3, 128.5] */
    check_table("u8<rowwise f16>[2, 2] = inline(0x0038003c00010038003c04ff)",
                "f32[2, 2] [4, 130, 6, 257]");
    check_table("i8<rowwise f16>[2, 2] = inline(0x0038003c00010038003c04ff)",
                "f32[2, 2] [4, 130, 6, 257]");
    /* scale 0.5 and bias 1 in f32 behind: the same rows */
    check_table(
        "u8<rowwise f32>[2, 2] = inline(0x00010000003f0000803f04ff0000003f0000803f)",
        "f32[2, 2] [4, 130, 6, 257]");
    /* four bits, low first: codes 1, 2, 15 and 3, 0, 1 of scale 1, bias 0 */
    check_table("i4<rowwise f16>[2, 3] = inline(0x003c0000210f003c00000301)",
                "f32[2, 3] [4, 2, 16, 6, 0, 2]");
    check_table("u2<rowwise f16>[2, 4] = inline(0x003c0000e4003c000039)",
                "f32[2, 4] [1, 3, 5, 3, 2, 4, 6, 0]");
}

/* ---- interact ---- */

TEST(interactions_are_dot_products_of_rows) {
    CHECK_VALUE(
        "%x = const {value = f32[2, 3, 2] [1, 2, 3, 4, 5, 6, 1, 0, 0, 1, 1, 1]}\n"
        "%0 = interact %x {pairs = [3, 6, 7, 0]}\nret %0",
        "f32[2, 4] [11, 17, 39, 5, 0, 1, 1, 1]");
    CHECK_VALUE(
        "%x = const {value = f32[0, 3, 2] []}\n%0 = interact %x {pairs = [3]}\nret %0",
        "f32[0, 1] []");
    CHECK_VALUE(
        "%x = const {value = f32[1, 2, 0] []}\n%0 = interact %x {pairs = [1]}\nret %0",
        "f32[1, 1] [0]");
}

UNIT_SUITE(fold_bag, offsets_cut_the_ids_into_bags, none_of_something,
           an_empty_bag_follows_its_rule, begins_and_ends_may_leave_gaps,
           offsets_must_be_in_order, weights_scale_rows,
           bags_of_fixed_length_and_single_rows, negative_ids_wrap_fail_or_count,
           ids_out_of_range_fail_or_clamp, padding_leaves_rows_out_of_sum_and_count,
           several_features_at_once, tables_of_every_format,
           interactions_are_dot_products_of_rows)
