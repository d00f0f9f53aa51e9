/* Types of ops that move elements, with shapes that are numbers, symbols or unknown;
 * and the shape arithmetic that feeds them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

#define XBC "%x: f32[B, C, 4]"

/* ---- shapes as values ---- */

/* The values that are known of the result of `statements`, through an expand. */
static void check_dims(const char *args, const char *statements, const char *expected) {
    char text[1024];
    snprintf(text, sizeof text,
             "%s\n%%one = const {value = f32[] [1]}\n"
             "%%e = expand %%one, %%r\nret %%e",
             statements);
    CHECK_TYPE(args, text, expected);
}

TEST(shape_arithmetic_becomes_expressions) {
    check_dims(XBC, "%r = shape %x", "f32[B, C, 4]");
    check_dims(XBC, "%0 = size %x\n%r = reshape %0 {to = [1]}", "f32[4*B*C]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[2] [2, -3]}\n"
               "%r = gather %0, %1 {axis = 0}",
               "f32[4, B]");
    check_dims(XBC, "%0 = shape %x\n%r = slice %0 {starts = [1], sizes = [2]}",
               "f32[C, 4]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[1] [-1]}\n"
               "%2 = const {value = i64[1] [9223372036854775807]}\n"
               "%r = slice %0, %1, %2",
               "f32[4]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[1] [-1]}\n"
               "%2 = const {value = i64[1] [-9223372036854775808]}\n"
               "%3 = const {value = i64[1] [0]}\n%4 = const {value = i64[1] [-1]}\n"
               "%r = slice %0, %1, %2, %3, %4",
               "f32[4, C, B]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[1] [7]}\n"
               "%r = concat %1, %0, %1 {axis = 0}",
               "f32[7, B, C, 4, 7]");
    check_dims(XBC, "%0 = shape %x\n%r = reduce %0 {op = prod, axes = [0], keep}",
               "f32[4*B*C]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = reduce %0 {op = sum}\n%r = reshape %1 {to = [1]}",
               "f32[B + C + 4]");
    check_dims(XBC, "%0 = shape %x\n%1 = const {value = i64[] [2]}\n%r = mul %0, %1",
               "f32[2*B, 2*C, 8]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[3] [1, 2, 3]}\n%r = add %1, %0",
               "f32[B + 1, C + 2, 7]");
    check_dims(XBC, "%0 = shape %x\n%1 = const {value = i64[] [2]}\n%r = div %0, %1",
               "f32[floor(B / 2), floor(C / 2), 2]");
    check_dims(XBC, "%0 = shape %x\n%1 = const {value = i64[] [3]}\n%r = mod %0, %1",
               "f32[B - 3*floor(B / 3), C - 3*floor(C / 3), 1]");
    check_dims(XBC, "%0 = shape %x\n%1 = const {value = i64[] [6]}\n%r = min %0, %1",
               "f32[min(B, 6), min(C, 6), 4]");
    check_dims(XBC, "%0 = shape %x\n%1 = neg %0\n%r = neg %1", "f32[B, C, 4]");
    check_dims(XBC, "%0 = shape %x\n%1 = cast %0 {to = i32}\n%r = cast %1 {to = i64}",
               "f32[B, C, 4]");
    check_dims("%x: f32[B]",
               "%0 = shape %x\n%1 = const {value = i64[1] [3]}\n"
               "%r = expand %0, %1",
               "f32[B, B, B]");
    check_dims("",
               "%0 = const {value = i64[] [2]}\n%1 = const {value = i64[] [8]}\n"
               "%r = range %0, %1, %0",
               "f32[2, 4, 6]");
    check_dims(XBC,
               "%0 = shape %x\n%1 = const {value = i64[] [4]}\n%2 = eq %0, %0\n"
               "%r = where %2, %0, %1",
               "f32[B, C, 4]");
}

TEST(what_is_not_known_becomes_a_symbol) {
    check_dims("%r: i64[2]", "", "f32[n, n2]");
    check_dims("%n: i64[2], %x: f32[B]", "%0 = shape %x\n%r = add %0, %n",
               "f32[n, n2]");
    check_dims(
        "%r: i64[N]", "",
        "UNSUPPORTED: operand 1 is i64[N]: a shape of unknown length would give a result of unknown rank");
}

TEST(types_stay_the_same_when_inferred_again) {
    fold_case c;
    CHECK(case_start(&c, "", "%r: i64[2], %x: f32[B, C]",
                     "%0 = reshape %x, %r\n%1 = slice %x, %r, %r, %r\nret %0, %1"));
    uint32_t before = ig_symbol_count(c.module);
    for (ig_op *op = c.graph->body.first; op->result_count; op = op->next) {
        const ig_type *again[1];
        CHECK_OK(ig_ops[op->code].infer(op, again));
        CHECK_PTR(again[0], op->results[0].type);
    }
    CHECK_INT(ig_symbol_count(c.module), before);
    case_finish(&c);
}

/* ---- reshape, expand, transpose ---- */

TEST(reshapes_keep_the_count) {
    CHECK_TYPE(XBC, "%0 = reshape %x {to = [4*B, C]}\nret %0", "f32[4*B, C]");
    CHECK_TYPE(XBC, "%0 = const {value = i64[2] [-1, 4]}\n%1 = reshape %x, %0\nret %1",
               "f32[B*C, 4]");
    CHECK_TYPE(XBC, "%0 = const {value = i64[2] [-1, 8]}\n%1 = reshape %x, %0\nret %1",
               "f32[exact(B*C / 2), 8]");
    CHECK_TYPE("%x: f32[6]",
               "%0 = const {value = i64[2] [-1, -1]}\n%1 = reshape %x, %0\n"
               "ret %1",
               "INVALID: the shape has -1 at 0 and at 1");
    CHECK_TYPE(
        "%x: f32[6]", "%0 = reshape %x {to = [4]}\nret %0",
        "INVALID: operand 0 is f32[6], which does not have as many elements as the shape asked for");
    CHECK_TYPE("%x: f32[6]", "%0 = reshape %x {to = [-6]}\nret %0",
               "INVALID: extent 0 of the shape is negative");
    CHECK_TYPE("%x: f32[6]", "%0 = reshape %x\nret %0",
               "INVALID: the shape is given by 'to' or by operand 1, one of them");
}

TEST(expansions) {
    CHECK_TYPE("%x: f32[B, 1]", "%0 = expand %x {to = [B, 8]}\nret %0", "f32[B, 8]");
    CHECK_TYPE("%x: f32[3]", "%0 = expand %x {to = [2, 1]}\nret %0", "f32[2, 3]");
    CHECK_TYPE("%x: f32[7, 1, B], %s: i64[2]", "%0 = expand %x, %s\nret %0",
               "f32[7, n, n2]");
    CHECK_TYPE("%x: f32[7, 5], %s: i64[3]", "%0 = expand %x, %s\nret %0",
               "f32[n, 7, 5]");
    CHECK_TYPE("%x: f32[3]", "%0 = expand %x {to = [4]}\nret %0",
               "INVALID: operand 0 is f32[3], which does not broadcast with f32[4]");
}

TEST(transpositions) {
    CHECK_TYPE(XBC, "%0 = transpose %x {perm = [2, 0, 1]}\nret %0", "f32[4, B, C]");
    CHECK_TYPE(XBC, "%0 = transpose %x {perm = [0, 1]}\nret %0",
               "INVALID: operand 0 is f32[B, C, 4], but the permutation has 2 entries");
    CHECK_TYPE(XBC, "%0 = transpose %x {perm = [0, 1, 1]}\nret %0",
               "INVALID: the axes given are not a permutation: entry 2 is 1");
    CHECK_TYPE(XBC, "%0 = transpose %x {perm = [0, 1, 3]}\nret %0",
               "INVALID: the axes given are not a permutation: entry 2 is 3");
}

/* ---- slice, concat, pad, range, tile ---- */

#define ENDS(start, end)                        \
    "%s = const {value = i64[1] [" start "]}\n" \
    "%e = const {value = i64[1] [" end "]}\n%a = const {value = i64[1] [0]}\n"

TEST(slices_clamp_symbolically) {
    CHECK_TYPE("%x: f32[B + 1, 3]",
               ENDS("1", "9223372036854775807") "%0 = slice %x, %s, %e, %a\nret %0",
               "f32[B, 3]");
    CHECK_TYPE("%x: f32[B, 3]",
               ENDS("0", "9223372036854775807") "%0 = slice %x, %s, %e, %a\nret %0",
               "f32[B, 3]");
    CHECK_TYPE("%x: f32[B + 1, 3]", ENDS("0", "-1") "%0 = slice %x, %s, %e, %a\nret %0",
               "f32[B, 3]");
    CHECK_TYPE("%x: f32[B, 3]", ENDS("0", "5") "%0 = slice %x, %s, %e, %a\nret %0",
               "f32[min(B, 5), 3]");
    CHECK_TYPE("%x: f32[B, 9]",
               "%s = dims {values = [B]}\n%0 = slice %x, %s, %s\nret %0", "f32[0, 9]");
    CHECK_TYPE("%x: f32[B, 9], %s: i64[1], %e: i64[1]",
               "%a = const {value = i64[1] [1]}\n"
               "%0 = slice %x, %s, %e, %a\nret %0",
               "f32[B, n]");
    CHECK_TYPE("%x: f32[B, 9], %s: i64[1], %a: i64[1]",
               "%0 = slice %x, %s, %s, %a\nret %0", "f32[n, n2]");
    CHECK_TYPE("%x: f32[B, 9], %s: i64[3]", "%0 = slice %x, %s, %s\nret %0",
               "INVALID: operand 1 is i64[3], more starts than operand 0 has axes");
}

#define BACKWARDS ENDS("-9", "-99") "%t = const {value = i64[1] [-2]}\n"

/* Operators.md: going backwards the start is clamped to 0 … n - 1, the end to -1 … n -
 * 1. */
TEST(a_slice_backwards_starts_at_the_first_element) {
    CHECK_TYPE("%x: f32[5]", BACKWARDS "%0 = slice %x, %s, %e, %a, %t\nret %0",
               "f32[1]");
    CHECK_TYPE("%x: f32[0]", BACKWARDS "%0 = slice %x, %s, %e, %a, %t\nret %0",
               "f32[0]");
    CHECK_TYPE("%x: f32[12]", BACKWARDS "%0 = slice %x, %s, %e, %a, %t\nret %0",
               "f32[2]");
}
END_TEST

TEST(slices_by_size_stay_inside) {
    CHECK_TYPE("%x: f32[B, 9]",
               "%0 = slice %x {starts = [0, 2], sizes = [B, 7]}\nret %0", "f32[B, 7]");
    CHECK_TYPE("%x: f32[B, 9]",
               "%0 = slice %x {starts = [0, 2], sizes = [B, 8]}\nret %0",
               "INVALID: operand 0 is f32[B, 9], and the slice leaves its extent 1");
    CHECK_TYPE(
        "%x: f32[B, 9]", "%0 = slice %x {starts = [0], sizes = [B]}\nret %0",
        "INVALID: operand 0 is f32[B, 9], expected a start, size and step for each of its axes");
}

TEST(concatenations_add_extents) {
    CHECK_TYPE("%x: f32[B, 3], %y: f32[C, 3]",
               "%0 = concat %x, %y, %x {axis = 0}\nret %0", "f32[2*B + C, 3]");
    CHECK_TYPE("%x: f32[B, 3], %y: f32[7, 2]", "%0 = concat %x, %y {axis = 1}\nret %0",
               "f32[7, 5]");
    CHECK_TYPE("%x: f32[B, 3], %y: f32[B]", "%0 = concat %x, %y {axis = 0}\nret %0",
               "INVALID: operand 1 is f32[B], expected rank 2");
    CHECK_TYPE("%x: f32[B, 3]", "%0 = concat %x, %x {axis = 2}\nret %0",
               "INVALID: axis 2 is outside of a tensor of rank 2");
}

TEST(pads_ranges_and_tiles) {
    CHECK_TYPE("%x: f32[B, 3]",
               "%0 = pad %x {before = [1, 0], after = [2, -1]}\nret %0",
               "f32[B + 3, 2]");
    CHECK_TYPE("%x: f32[B, 3], %p: i64[4]", "%0 = pad %x, %p\nret %0", "f32[n, n2]");
    CHECK_TYPE(
        "%x: f32[3]", "%0 = pad %x {before = [-2], after = [-2]}\nret %0",
        "INVALID: operand 0 is f32[3], and padding would make its extent 0 negative");
    CHECK_TYPE("%x: f32[B]",
               "%0 = dims {values = [0], scalar}\n%1 = size %x\n"
               "%2 = dims {values = [2], scalar}\n%3 = range %0, %1, %2\nret %3",
               "i64[ceil(B / 2)]");
    CHECK_TYPE("%n: i64[]", "%0 = range %n, %n, %n\nret %0", "i64[n]");
    CHECK_TYPE("%x: f32[B, 3]",
               "%0 = const {value = i64[2] [2, 3]}\n%1 = tile %x, %0\nret %1",
               "f32[2*B, 9]");
    CHECK_TYPE(
        "%x: f32[B, 3], %r: i64[3]", "%0 = tile %x, %r\nret %0",
        "INVALID: operand 1 is i64[3], expected its extent 0 to equal 2, the rank of operand 0");
}

UNIT_SUITE(infer_shape, shape_arithmetic_becomes_expressions,
           what_is_not_known_becomes_a_symbol, types_stay_the_same_when_inferred_again,
           reshapes_keep_the_count, expansions, transpositions,
           slices_clamp_symbolically, a_slice_backwards_starts_at_the_first_element,
           slices_by_size_stay_inside, concatenations_add_extents,
           pads_ranges_and_tiles)
