/* Types of contractions, gathers, bags and sequences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

TEST(products_of_matrices) {
    CHECK_TYPE("%x: f32[B, 13], %w: f32[13, 64]", "%0 = matmul %x, %w\nret %0",
               "f32[B, 64]");
    CHECK_TYPE("%x: f32[B, 13], %w: f32[64, 13]",
               "%0 = matmul %x, %w {transpose_b}\nret %0", "f32[B, 64]");
    CHECK_TYPE("%x: f32[13, B], %w: f32[13, 64]",
               "%0 = matmul %x, %w {transpose_a}\nret %0", "f32[B, 64]");
    CHECK_TYPE("%x: f32[B, F, D]", "%0 = matmul %x, %x {transpose_b}\nret %0",
               "f32[B, F, F]");
    CHECK_TYPE("%x: f32[5, 1, B, D], %y: f32[7, D, C]", "%0 = matmul %x, %y\nret %0",
               "f32[5, 7, B, C]");
    CHECK_TYPE("%x: f32[D], %y: f32[D]", "%0 = matmul %x, %y\nret %0", "f32[]");
    CHECK_TYPE("%x: f32[B, 4, D], %y: f32[D]", "%0 = matmul %x, %y\nret %0",
               "f32[B, 4]");
    CHECK_TYPE("%x: f32[D], %y: f32[B, D, 4]", "%0 = matmul %x, %y\nret %0",
               "f32[B, 4]");
    CHECK_TYPE(
        "%x: f32[2, 4], %y: f32[5, 2]", "%0 = matmul %x, %y\nret %0",
        "INVALID: operand 1 is f32[5, 2], expected its extent 0 to equal 4, which operand 0 sums over");
    CHECK_TYPE(
        "%x: f32[2, 3, 4], %y: f32[5, 4, 2]", "%0 = matmul %x, %y\nret %0",
        "INVALID: operands are f32[2, 3, 4] and f32[5, 4, 2], whose batch extents do not broadcast");
    CHECK_TYPE(
        "%x: f32[], %y: f32[2]", "%0 = matmul %x, %y\nret %0",
        "INVALID: operands are f32[] and f32[2], expected numbers of rank 1 or more");
}

TEST(products_with_numbers_of_few_bits) {
#define BITS(bits) "%0 = matmul_bits %x, %w, %s {bits = " bits "}\nret %0"
    CHECK_TYPE("%x: f32[B, 64], %w: u8[N, 32], %s: f32[N, 2]", BITS("4"), "f32[B, N]");
    CHECK_TYPE("%x: f32[B, K], %w: u8[7, 8], %s: f32[7, S]", BITS("2"), "f32[B, 7]");
    CHECK_TYPE("%x: f32[B, 0], %w: u8[7, 0], %s: f32[7, 0]", BITS("8"), "f32[B, 7]");
    CHECK_TYPE("%x: f32[B, 64], %w: u8[7, 32], %s: f32[7, 2]", BITS("3"),
               "INVALID: bits is 3, expected 2, 4 or 8");
    CHECK_TYPE("%x: f32[B, 64], %w: i8[7, 32], %s: f32[7, 2]", BITS("4"),
               "INVALID: operand 1 is i8[7, 32], expected elements of type u8");
    CHECK_TYPE(
        "%x: f32[B, 64], %w: u8[7, 32], %s: f32[7, 3]", BITS("4"),
        "INVALID: operand 2 is f32[7, 3], whose rows are not whole blocks of those of operand 1, u8[7, 32]");
    CHECK_TYPE(
        "%x: f32[B, 32], %w: u8[7, 32], %s: f32[7, 2]", BITS("4"),
        "INVALID: operand 0 is f32[B, 32], expected its extent 1 to equal 64, the numbers of a row of operand 1");
    CHECK_TYPE(
        "%x: f32[B, 64], %w: u8[7, 32], %s: f32[6, 2]", BITS("4"),
        "INVALID: operand 2 is f32[6, 2], expected its extent 0 to equal 7, the rows of operand 1");
    CHECK_TYPE(
        "%x: f32[B, 64], %w: u8[7, 32], %s: f32[7, 2], %z: f32[7, 1]",
        "%0 = matmul_bits %x, %w, %s, %z {bits = 4}\nret %0",
        "INVALID: operand 3 is f32[7, 1], expected its extent 1 to equal 2, that of operand 2");
}

/* Forms of convolutions whose channels are the last axis. */
TEST(convolutions_with_channels_last) {
#define WINOGRAD(attrs) "%0 = conv_winograd %x, %w {" attrs "}\nret %0"
    CHECK_TYPE("%x: f32[B, H, 5, 3], %w: f32[2, 48, 16]", WINOGRAD("columns = 17"),
               "f32[B, H - 2, 3, 17]");
    CHECK_TYPE("%x: f32[B, 1, 5, 3], %w: f32[1, 48, 16]",
               WINOGRAD("columns = 16, before = [1, 0], after = [1, 2]"),
               "f32[B, 1, 5, 16]");
    CHECK_TYPE("%x: f32[B, 4, 4, 3], %w: f32[1, 48, 16]", WINOGRAD("columns = 0"),
               "INVALID: columns is 0, expected at least 1");
    CHECK_TYPE(
        "%x: f32[B, 4, 4, 3], %w: f32[1, 48, 16]", WINOGRAD("columns = 17"),
        "INVALID: operand 1 is f32[1, 48, 16], expected its extent 0 to equal 2, panels");
    CHECK_TYPE(
        "%x: f32[B, 4, 4, 3], %w: f32[1, 27, 16]", WINOGRAD("columns = 9"),
        "INVALID: operand 1 is f32[1, 27, 16], expected its extent 1 to equal 48, 16 a channel");
    CHECK_TYPE("%x: f32[B, 4, 3], %w: f32[1, 48, 16]", WINOGRAD("columns = 9"),
               "INVALID: operand 0 is f32[B, 4, 3], expected rank 4");
    CHECK_TYPE(
        "%x: f32[B, 4, 1, 3], %w: f32[1, 48, 16]", WINOGRAD("columns = 9"),
        "INVALID: operand 0 is f32[B, 4, 1, 3]: the windows do not fit its axis 2");
    CHECK_TYPE("%x: f32[B, 4, 4, 3], %w: f32[1, 48, 16]",
               WINOGRAD("columns = 9, before = [1]"),
               "INVALID: before has 1 entries, expected 2, one a spatial axis");
}

TEST(reductions) {
    CHECK_TYPE("%x: f32[B, C, 4]", "%0 = reduce %x {axes = [1]}\nret %0", "f32[B, 4]");
    CHECK_TYPE("%x: f32[B, C, 4]", "%0 = reduce %x {axes = [-1, 0], keep}\nret %0",
               "f32[1, C, 1]");
    CHECK_TYPE("%x: f32[B, C]", "%0 = reduce %x\nret %0", "f32[]");
    CHECK_TYPE("%x: f32[B, C]", "%0 = reduce %x {noop_if_empty}\nret %0", "f32[B, C]");
    CHECK_TYPE("%x: f32[B, C, 4], %a: i64[1]", "%0 = reduce %x, %a\nret %0",
               "f32[n, n2]");
    CHECK_TYPE("%x: f32[B, C], %a: i64[1]", "%0 = reduce %x, %a {keep}\nret %0",
               "f32[n, n2]");
    CHECK_TYPE(
        "%x: f32[B, C], %a: i64[N]", "%0 = reduce %x, %a\nret %0",
        "UNSUPPORTED: operand 1, the axes, is i64[N]: how many there are decides the "
        "rank of the result, so it must be a number from 0 to 2");
    CHECK_TYPE("%x: f32[B, C]", "%0 = reduce %x {axes = [2]}\nret %0",
               "INVALID: axis 2 is outside of a tensor of rank 2");
    CHECK_TYPE("%x: bool[B]", "%0 = reduce %x\nret %0",
               "INVALID: operand 0 is bool[B], whose elements cannot be reduced so");
    CHECK_TYPE("%x: bool[B]", "%0 = reduce %x {op = max}\nret %0", "bool[]");
}

TEST(along_axes) {
    CHECK_TYPE("%x: f32[B, C]", "%0 = softmax %x {axis = -1}\nret %0", "f32[B, C]");
    CHECK_TYPE("%x: i32[B, C]", "%0 = softmax %x {axis = -1}\nret %0",
               "INVALID: operand 0 is i32[B, C], expected floating-point elements");
    CHECK_TYPE("%x: f32[B, C]", "%0 = cumsum %x {axis = -3}\nret %0",
               "INVALID: axis -3 is outside of a tensor of rank 2");
    CHECK_TYPE("%x: f32[B, 4], %s: f32[4]",
               "%0 = layer_norm %x, %s, %s {axis = 1, epsilon = 1e-5}\nret %0",
               "f32[B, 4]");
    CHECK_TYPE(
        "%x: f32[B, 4], %s: f32[B, 4]",
        "%0 = layer_norm %x, %s {axis = 1, epsilon = 1e-5}\nret %0",
        "INVALID: operand 1 is f32[B, 4], which has more axes than are normalised in f32[B, 4]");
}

TEST(rows_of_parts) {
    CHECK_TYPE("%x: f32[T, 8], %o: i32[E]",
               "%0 = jagged_to_padded %x, %o {length = N}\nret %0", "f32[E - 1, N, 8]");
    CHECK_TYPE("%x: f32[T, 8], %o: i64[0]",
               "%0 = jagged_to_padded %x, %o {length = 4}\nret %0",
               "INVALID: operand 1 is i64[0], expected an offset more than parts");
    CHECK_TYPE("%x: f32[T, 8], %o: u8[3]",
               "%0 = jagged_to_padded %x, %o {length = 4}\nret %0",
               "INVALID: operand 1 is u8[3], expected offsets of i32 or i64");
    CHECK_TYPE("%x: f32[], %o: i64[3]",
               "%0 = jagged_to_padded %x, %o {length = 4}\nret %0",
               "INVALID: operand 0 is f32[], expected numbers of rank 1 or more");
    CHECK_TYPE("%x: str[T], %o: i64[3]",
               "%0 = jagged_to_padded %x, %o {length = 4}\nret %0",
               "INVALID: operand 0 is str[T], expected numbers of rank 1 or more");
    CHECK_TYPE("%x: f32[T, 8], %o: i64[3]",
               "%0 = jagged_to_padded %x, %o {length = -1}\nret %0",
               "INVALID: the length of parts is negative");
    CHECK_TYPE("%x: u8[B, N, 8], %o: i64[E]",
               "%0 = padded_to_jagged %x, %o {rows = T}\nret %0", "u8[T, 8]");
    CHECK_TYPE("%x: f32[B, N], %o: i64[E], %n: i64[]",
               "%0 = padded_to_jagged %x, %o, %n\nret %0", "f32[n]");
    CHECK_TYPE("%x: f32[B, N], %o: i64[E]", "%0 = padded_to_jagged %x, %o\nret %0",
               "INVALID: padded_to_jagged has rows, or them as an operand");
    CHECK_TYPE(
        "%x: f32[3, N], %o: i64[3]", "%0 = padded_to_jagged %x, %o {rows = 4}\nret %0",
        "INVALID: operand 0 is f32[3, N], expected its extent 0 to equal 2, the parts of operand 1");
    CHECK_TYPE("%x: f32[B], %o: i64[E]",
               "%0 = padded_to_jagged %x, %o {rows = T}\nret %0",
               "INVALID: operand 0 is f32[B], expected numbers of rank 2 or more");
}

TEST(gathering) {
    CHECK_TYPE("%x: f32[100, 8], %i: i64[B, L]",
               "%0 = gather %x, %i {axis = 0}\nret %0", "f32[B, L, 8]");
    CHECK_TYPE("%x: f32[B, 8], %i: i32[]", "%0 = gather %x, %i {axis = 1}\nret %0",
               "f32[B]");
    CHECK_TYPE("%x: f32[B, 8], %i: f32[]", "%0 = gather %x, %i {axis = 1}\nret %0",
               "INVALID: operand 1 is f32[], expected integers");
    CHECK_TYPE("%x: f32[B, C, 8], %i: i64[N, 2]", "%0 = gather_nd %x, %i\nret %0",
               "f32[N, 8]");
    CHECK_TYPE("%x: f32[B, C, 8], %i: i64[B, N, 1]",
               "%0 = gather_nd %x, %i {batch = 1}\n"
               "ret %0",
               "f32[B, N, 8]");
    CHECK_TYPE(
        "%x: f32[B, C], %i: i64[N, 3]", "%0 = gather_nd %x, %i\nret %0",
        "INVALID: operand 1 is i64[N, 3], its last extent passes the 2 axes that it can select in f32[B, C]");
    CHECK_TYPE(
        "%x: f32[B, C], %i: i64[N, K]", "%0 = gather_nd %x, %i\nret %0",
        "UNSUPPORTED: operand 1 is i64[N, K]: with an unknown last extent the result's rank is unknown");
    CHECK_TYPE("%x: f32[B, 4], %i: i64[B, 9]",
               "%0 = gather_elements %x, %i {axis = 1}\n"
               "ret %0",
               "f32[B, 9]");
    CHECK_TYPE(
        "%x: f32[B, 4], %i: i64[B, 9]",
        "%0 = gather_elements %x, %i {axis = 0}\n"
        "ret %0",
        "INVALID: operand 1 is i64[B, 9], its extent 1 passes that of operand 0, which is f32[B, 4]");
    CHECK_TYPE(
        "%x: f32[B, 4], %i: i64[C, 2], %u: f32[C, 3]",
        "%0 = scatter_elements %x, %i, %u {axis = 0}\nret %0",
        "INVALID: operand 2 is f32[C, 3], expected its extent 1 to equal 2, that of operand 1");
    CHECK_TYPE("%i: i32[B, 3]", "%0 = check_index %i {extents = [V]}\nret %0",
               "i64[B, 3]");
    CHECK_TYPE("%i: i64[]", "%0 = check_index %i {extents = [4]}\nret %0", "i64[]");
    CHECK_TYPE("%i: u8[B, 3]", "%0 = check_index %i {extents = [V, B, 4]}\nret %0",
               "i64[B, 3]");
    CHECK_TYPE("%i: i64[B, 3]", "%0 = check_index %i {extents = [V, 4]}\nret %0",
               "INVALID: 2 extents for operand 0, which is i64[B, 3]");
    CHECK_TYPE("%i: f32[B]", "%0 = check_index %i {extents = [V]}\nret %0",
               "INVALID: operand 0 is f32[B], expected integers");
}

#define BAG(operands, attrs, results) \
    results " = bag " operands " {operands = " attrs "}\nret " results

TEST(bags) {
    CHECK_TYPE("%t: f32[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[1], pool = [sum]", "%0"), "f32[B, 8]");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[1], pool = [sum], last = [offset]", "%0"),
               "f32[B - 1, 8]");
    CHECK_TYPE("%t: f16[100, 8], %i: i64[N], %o: i64[B], %e: i64[3]",
               BAG("%t, %i, %o, %e", "[3], pool = [mean]", "%0"), "f16[3, 8]");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[B, L]",
               BAG("%t, %i", "[0], pool = [max]", "%0"), "f32[B, 8]");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[B, L, 2]",
               BAG("%t, %i", "[0], pool = [none]", "%0"), "f32[B, L, 2, 8]");
    CHECK_TYPE(
        "%t: f32[100, 8], %u: f64[9, 2], %i: i64[N], %o: i64[B], %w: f32[N], %j: i32[B, 1]",
        BAG("%t, %i, %o, %w, %u, %j", "[5, 0], pool = [sum, sum]", "%0, %1"),
        "f32[B, 8]; f64[B, 2]");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[1], pool = [none]", "%0"), "f32[N, 8]");
    CHECK_TYPE("%t: u8[100, 8], %i: i64[N]", BAG("%t, %i", "[0], pool = [none]", "%0"),
               "u8[N, 8]");
    CHECK_TYPE("%t: f16[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[1], pool = [sum], to = f32", "%0"), "f32[B, 8]");
    CHECK_TYPE("%t: f16[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[1], pool = [sum], to = i32", "%0"),
               "INVALID: 'to' is not a float type");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[N], %o: i64[B]",
               BAG("%t, %i, %o", "[2], pool = [sum]", "%0"),
               "INVALID: feature 0: pooling and offsets do not fit together");
    CHECK_TYPE(
        "%t: f32[100, 8], %i: i64[N]", BAG("%t, %i", "[1], pool = [sum]", "%0"),
        "INVALID: 1 features need 3 operands and as many results as features, not 2 and 1");
    CHECK_TYPE("%t: i8[100, 8], %i: i64[B, L]",
               BAG("%t, %i", "[0], pool = [sum]", "%0"),
               "INVALID: operand 0 is i8[100, 8], expected floating-point elements");
    CHECK_TYPE("%t: f32[100, 8], %i: i64[N], %o: i64[B], %w: f32[3]",
               BAG("%t, %i, %o, %w", "[5], pool = [sum]", "%0"), "f32[B, 8]");
}

TEST(interactions) {
    CHECK_TYPE("%x: f32[B, 3, 8]", "%0 = interact %x {pairs = [3, 6, 7]}\nret %0",
               "f32[B, 3]");
    CHECK_TYPE(
        "%x: f32[B, 3, 8]", "%0 = interact %x {pairs = [9]}\nret %0",
        "INVALID: operand 0 is f32[B, 3, 8], and pair 0 is 9, outside of its rows");
}

TEST(sequences_forget_extents_that_are_not_numbers) {
    CHECK_TYPE("%x: f32[B, 4]", "%0 = seq_make %x, %x\nret %0", "seq<f32[B, 4]>");
    CHECK_TYPE("%x: f32[2, 4], %y: f32[3, 4]", "%0 = seq_make %x, %y\nret %0",
               "seq<f32[s, 4]>");
    CHECK_TYPE("%s: seq<f32[k, 4]>, %x: f32[3, 4]", "%0 = seq_insert %s, %x\nret %0",
               "seq<f32[k, 4]>");
    CHECK_TYPE("%s: seq<f32[k, 4]>, %i: i64[]", "%0 = seq_at %s, %i\nret %0",
               "f32[s, 4]");
    CHECK_TYPE("%s: seq<f32[1, 4]>", "%0 = seq_concat %s {axis = 0}\nret %0",
               "f32[n, 4]");
    CHECK_TYPE("%s: seq<f32[1, 4]>", "%0 = seq_concat %s {axis = 1, stack}\nret %0",
               "f32[1, n, 4]");
    CHECK_TYPE("%x: f32[B, 4]", "%0 = opt_make %x\nret %0", "opt<f32[B, 4]>");
    CHECK_TYPE("%x: f32[B, 4], %y: f32[3]", "%0 = seq_make %x, %y, %x\nret %0",
               "seq<f32[*]>");
    CHECK_TYPE("%s: seq<f32[]>, %x: f32[3]",
               "%0 = seq_insert %s, %x\n%1 = seq_erase %0\nret %1", "seq<f32[*]>");
    CHECK_TYPE("%s: seq<f32[*]>, %i: i64[]", "%0 = seq_at %s, %i\nret %0", "f32[*]");
    CHECK_TYPE("%s: seq<f32[3]>, %x: f32[*]", "%0 = seq_insert %s, %x\nret %0",
               "seq<f32[*]>");
    CHECK_TYPE("%x: f32[*]", "%0 = neg %x\nret %0",
               "INVALID: operand 0 is f32[*], expected a tensor");
    CHECK_TYPE(
        "%s: seq<f32[*]>", "%0 = seq_concat %s {axis = 0} : f32[k]\nret %0",
        "UNSUPPORTED: operand 0 is seq<f32[*]>: its items are of different ranks, so that of one is not known");
    CHECK_TYPE("%s: seq<f32[1, k]>, %i: i64[]",
               "%0 = opt_make %s\n%1 = seq_at %0, %i\nret %1", "seq<f32[1, k]>");
    CHECK_TYPE("%o: opt<f32[4]>", "%0 = opt_make %o\nret %0",
               "INVALID: operand 0 is opt<f32[4]>, expected a tensor or a sequence");
    CHECK_TYPE("%s: seq<f32[1, 4]>, %x: f32[4]", "%0 = seq_insert %s, %x\nret %0",
               "seq<f32[*]>");
    CHECK_TYPE("%x: f32[B, 4]", "%0 = split_to_seq %x {axis = 0}\nret %0",
               "seq<f32[4]>");
    CHECK_TYPE("%x: f32[B, 4], %n: i64[]",
               "%0 = split_to_seq %x, %n {axis = 0}\nret %0", "seq<f32[s, 4]>");
    CHECK_TYPE("%x: f32[B, 4]", "%0 = seq_length %x\nret %0",
               "INVALID: operand 0 is f32[B, 4], expected a sequence");
}

UNIT_SUITE(infer_contract, rows_of_parts, products_of_matrices,
           products_with_numbers_of_few_bits, convolutions_with_channels_last,
           reductions, along_axes, gathering, bags, interactions,
           sequences_forget_extents_that_are_not_numbers)
