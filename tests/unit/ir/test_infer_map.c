/* Types of elementwise ops: broadcasting of numbers and symbols, kernel values, errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

TEST(equal_extents_and_ones) {
    CHECK_TYPE("%x: f32[B, 4], %y: f32[4]", "%0 = add %x, %y\nret %0", "f32[B, 4]");
    CHECK_TYPE("%x: f32[B, 1], %y: f32[1, 5]", "%0 = add %x, %y\nret %0", "f32[B, 5]");
    CHECK_TYPE("%x: f32[B, C], %y: f32[B, C]", "%0 = mul %x, %y\nret %0", "f32[B, C]");
    CHECK_TYPE("%x: i64[], %y: i64[3]", "%0 = max %x, %y\nret %0", "i64[3]");
}

TEST(a_number_that_is_not_one_decides) {
    CHECK_TYPE("%x: f32[B], %y: f32[4]", "%0 = add %x, %y\nret %0", "f32[4]");
    CHECK_TYPE("%x: f32[0], %y: f32[B]", "%0 = add %x, %y\nret %0", "f32[0]");
}

TEST(two_symbols_may_broadcast_either_way) {
    CHECK_TYPE("%x: f32[B], %y: f32[C]", "%0 = add %x, %y\nret %0", "f32[bcast(B, C)]");
    CHECK_TYPE("%x: f32[B, 2*C + 3], %y: f32[B, 3]", "%0 = add %x, %y\nret %0",
               "f32[B, 3]");
}

TEST(what_is_provably_unfit_is_rejected) {
    CHECK_TYPE("%x: f32[3], %y: f32[4]", "%0 = add %x, %y\nret %0",
               "INVALID: operand 1 is f32[4], which does not broadcast with f32[3]");
    CHECK_TYPE("%x: f32[0], %y: f32[4]", "%0 = add %x, %y\nret %0",
               "INVALID: operand 1 is f32[4], which does not broadcast with f32[0]");
    CHECK_TYPE(
        "%x: f32[3], %y: i32[3]", "%0 = add %x, %y\nret %0",
        "INVALID: operand 1 is i32[3], expected the element type of operand 0, which is f32[3]");
    CHECK_TYPE("%x: bool[3]", "%0 = add %x, %x\nret %0",
               "INVALID: operand 1 is bool[3], on whose elements add is not defined");
    CHECK_TYPE("%x: f32[3]", "%0 = and %x, %x\nret %0",
               "INVALID: operand 1 is f32[3], on whose elements and is not defined");
    CHECK_TYPE("%x: i32[3]", "%0 = exp %x\nret %0",
               "INVALID: operand 0 is i32[3], on whose elements exp is not defined");
    CHECK_TYPE("%x: seq<f32[3]>", "%0 = neg %x\nret %0",
               "INVALID: operand 0 is seq<f32[3]>, expected a tensor");
}

TEST(results_have_the_dtype_of_their_rule) {
    CHECK_TYPE("%x: f16[B], %y: f16[B]", "%0 = lt %x, %y\nret %0", "bool[B]");
    CHECK_TYPE("%x: f16[B]", "%0 = isnan %x\nret %0", "bool[B]");
    CHECK_TYPE("%x: i32[B], %y: f32[]", "%0 = pow %x, %y\nret %0", "i32[B]");
    CHECK_TYPE("%x: i32[B]", "%0 = cast %x {to = f8e5m2}\nret %0", "f8e5m2[B]");
    CHECK_TYPE("%c: bool[B, 1], %x: u8[3], %y: u8[]", "%0 = where %c, %x, %y\nret %0",
               "u8[B, 3]");
    CHECK_TYPE("%c: i8[B], %x: u8[3]", "%0 = where %c, %x, %x\nret %0",
               "INVALID: operand 0 is i8[B], expected elements of type bool");
    CHECK_TYPE("%x: i32[B]", "%0 = cast %x {to = str}\nret %0",
               "UNSUPPORTED: casts of strings are not supported");
}

/* ---- constants ---- */

TEST(dims_make_vectors_and_scalars) {
    CHECK_TYPE("%x: f32[B]", "%0 = dims {values = [B, 2, B + 1]}\nret %0", "i64[3]");
    CHECK_TYPE("%x: f32[B]", "%0 = dims {values = [B], scalar}\nret %0", "i64[]");
    CHECK_TYPE("", "%0 = dims {values = [1, 2], scalar}\nret %0",
               "INVALID: a scalar has one value, not 2");
}

UNIT_SUITE(infer_map, equal_extents_and_ones, a_number_that_is_not_one_decides,
           two_symbols_may_broadcast_either_way, what_is_provably_unfit_is_rejected,
           results_have_the_dtype_of_their_rule, dims_make_vectors_and_scalars)
