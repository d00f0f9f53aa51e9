/* Gathers, scatters and sequences: values worked out by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

#define X23 "%0 = const {value = f32[2, 3] [1, 2, 3, 4, 5, 6]}\n"

TEST(gathers) {
    static const fold_row rows[] = {
        { X23
          "%1 = const {value = i64[3] [1, 0, -1]}\n%2 = gather %0, %1 {axis = 0}\nret %2",
          "f32[3, 3] [4, 5, 6, 1, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i32[] [-1]}\n%2 = gather %0, %1 {axis = 1}\nret %2",
          "f32[2] [3, 6]" },
        { X23
          "%1 = const {value = i64[1, 2] [2, 0]}\n%2 = gather %0, %1 {axis = -1}\nret %2",
          "f32[2, 1, 2] [3, 1, 6, 4]" },
        { X23 "%1 = const {value = i64[0] []}\n%2 = gather %0, %1 {axis = 1}\nret %2",
          "f32[2, 0] []" },
        { "%0 = const {value = u4[4] [1, 2, 3, 4]}\n%1 = const {value = i64[2] [3, 1]}\n"
          "%2 = gather %0, %1 {axis = 0}\nret %2",
          "u4[2] [4, 2]" },
        { X23 "%1 = const {value = i64[2] [0, -1]}\n"
              "%2 = gather %0, %1 {axis = 0, negative = skip}\nret %2",
          "f32[2, 3] [1, 2, 3, 0, 0, 0]" },
    };
    CHECK_ROWS(rows);
}

TEST(gathers_out_of_range_name_op_position_and_value) {
    static const fold_row rows[] = {
        { X23
          "%1 = const {value = i64[3] [1, 0, 2]}\n%2 = gather %0, %1 {axis = 0}\nret %2",
          "INVALID: gather: index 2 at position 2 is out of range: the axis has 2 elements" },
        { X23 "%1 = const {value = i64[1] [-3]}\n%2 = gather %0, %1 {axis = 0}\nret %2",
          "INVALID: gather: index -3 at position 0 is out of range: the axis has 2 elements" },
        { X23 "%1 = const {value = i64[1] [-1]}\n"
              "%2 = gather %0, %1 {axis = 0, negative = error}\nret %2",
          "INVALID: gather: index -1 at position 0 is out of range: the axis has 2 elements" },
        { "%0 = const {value = f32[0, 3] []}\n%1 = const {value = i64[1] [0]}\n"
          "%2 = gather %0, %1 {axis = 0}\nret %2",
          "INVALID: gather: index 0 at position 0 is out of range: the axis has 0 elements" },
        { "%0 = const {value = f32[3, 0] []}\n%1 = const {value = i64[1] [3]}\n"
          "%2 = gather %0, %1 {axis = 0}\nret %2",
          "INVALID: gather: index 3 at position 0 is out of range: the axis has 3 elements" },
        { X23 "%1 = const {value = u64[1] [18446744073709551615]}\n"
              "%2 = gather %0, %1 {axis = 0}\nret %2",
          "INVALID: gather: index -1 at position 0 is out of range: the axis has 2 elements" },
    };
    CHECK_ROWS(rows);
}

TEST(gathers_by_tuples) {
    static const fold_row rows[] = {
        { X23
          "%1 = const {value = i64[2, 2] [0, 1, 1, -1]}\n%2 = gather_nd %0, %1\nret %2",
          "f32[2] [2, 6]" },
        { X23 "%1 = const {value = i64[2, 1] [1, 0]}\n%2 = gather_nd %0, %1\nret %2",
          "f32[2, 3] [4, 5, 6, 1, 2, 3]" },
        { X23
          "%1 = const {value = i64[2, 1] [2, 0]}\n%2 = gather_nd %0, %1 {batch = 1}\nret %2",
          "f32[2] [3, 4]" },
        { X23 "%1 = const {value = i64[2, 0] []}\n%2 = gather_nd %0, %1\nret %2",
          "f32[2, 2, 3] [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[1, 2] [0, 3]}\n%2 = gather_nd %0, %1\nret %2",
          "INVALID: gather_nd: index 3 at position 1 is out of range: the axis has 3 elements" },
    };
    CHECK_ROWS(rows);
}

/* Offsets at the ends of i64 have lengths that pass it. */
TEST(rows_of_parts) {
#define PADDED "%2 = jagged_to_padded %0, %1 {length = 2}\nret %2"
#define OFFSETS "%1 = const {value = i64[3] "
#define X24 "%0 = const {value = f32[2, 2] [1, 2, 3, 4]}\n"
    static const fold_row rows[] = {
        { X23 OFFSETS "[0, 1, 2]}\n" PADDED,
          "f32[2, 2, 3] [1, 2, 3, 0, 0, 0, 4, 5, 6, 0, 0, 0]" },
        { X23 OFFSETS "[1, 9223372036854775807, -9223372036854775808]}\n"
                      "%2 = jagged_to_padded %0, %1 {length = 1}\nret %2",
          "f32[2, 1, 3] [4, 5, 6, 0, 0, 0]" },
        { X23 OFFSETS "[-1, 1, 2]}\n" PADDED,
          "INVALID: jagged_to_padded: offset -1 at position 0 is outside of 0..2" },
        { X23 OFFSETS "[0, 1, 3]}\n" PADDED,
          "INVALID: jagged_to_padded: offset 3 at position 2 is outside of 0..2" },
        { X23 OFFSETS "[-9223372036854775808, 9223372036854775807, 0]}\n" PADDED,
          "INVALID: jagged_to_padded: offset -9223372036854775808 at position 0 is outside of 0..2" },
        { X23 OFFSETS "[2, 3, 3]}\n" PADDED,
          "INVALID: jagged_to_padded: offset 3 at position 1 is outside of 0..2" },
        { X24 OFFSETS "[0, 1, 2]}\n%2 = padded_to_jagged %0, %1 {rows = 3}\nret %2",
          "f32[3] [1, 3, 0]" },
        { X24 OFFSETS "[-9223372036854775808, 1, 9223372036854775807]}\n"
                      "%2 = padded_to_jagged %0, %1 {rows = 4}\nret %2",
          "f32[4] [0, 3, 4, 0]" },
        { X24 OFFSETS "[0, 2, 1]}\n%2 = padded_to_jagged %0, %1 {rows = 1}\nret %2",
          "INVALID: padded_to_jagged: offset 1 at position 2 is less than the one before" },
        { X24 OFFSETS "[0, 2, 1]}\n%2 = padded_to_jagged %0, %1 {rows = 0}\nret %2",
          "f32[0] []" },
        { X24 OFFSETS "[0, 1, 2]}\n%3 = const {value = -1} : i64[]\n"
                      "%2 = padded_to_jagged %0, %1, %3\nret %2",
          "f32[0] []" },
    };
    CHECK_ROWS(rows);
}

TEST(gathers_and_scatters_of_elements) {
    static const fold_row rows[] = {
        { X23 "%1 = const {value = i64[2, 2] [0, 2, -1, 0]}\n"
              "%2 = gather_elements %0, %1 {axis = 1}\nret %2",
          "f32[2, 2] [1, 3, 6, 4]" },
        { X23 "%1 = const {value = i64[1, 3] [1, 0, 1]}\n"
              "%2 = gather_elements %0, %1 {axis = 0}\nret %2",
          "f32[1, 3] [4, 2, 6]" },
        { X23
          "%1 = const {value = i64[2, 1] [2, 0]}\n%2 = const {value = f32[2, 1] [7, 8]}\n"
          "%3 = scatter_elements %0, %1, %2 {axis = 1}\nret %3",
          "f32[2, 3] [1, 2, 7, 8, 5, 6]" },
        { X23
          "%1 = const {value = i64[1, 2] [0, 0]}\n%2 = const {value = f32[1, 2] [7, 8]}\n"
          "%3 = scatter_elements %0, %1, %2 {axis = 1}\nret %3",
          "f32[2, 3] [8, 2, 3, 4, 5, 6]" },
        { X23 "%1 = const {value = i64[1, 1] [5]}\n%2 = const {value = f32[1, 1] [7]}\n"
              "%3 = scatter_elements %0, %1, %2 {axis = 1}\nret %3",
          "INVALID: scatter_elements: index 5 at position 0 is out of range: the axis has 3 elements" },
        { "%0 = const {value = i32[2, 2] [1, -1, -3, 0]}\n"
          "%1 = check_index %0 {extents = [3, 4]}\nret %1",
          "i64[2, 2] [1, 3, 0, 0]" },
        { "%0 = const {value = i32[2, 2] [1, -1, -4, 0]}\n"
          "%1 = check_index %0 {extents = [3, 4]}\nret %1",
          "INVALID: check_index: index -4 at position 2 is out of range: the axis has 3 elements" },
        { "%0 = const {value = i64[1] [-1]}\n"
          "%1 = check_index %0 {extents = [3], negative = error}\nret %1",
          "INVALID: check_index: index -1 at position 0 is out of range: the axis has 3 elements" },
    };
    CHECK_ROWS(rows);
}

/* ---- sequences ---- */

#define ABC                                                                            \
    "%a = const {value = f32[1, 2] [1, 2]}\n"                                          \
    "%b = const {value = f32[2, 2] [3, 4, 5, 6]}\n"                                    \
    "%s = seq_make %a, %b\n%0 = const {value = i64[] [0]}\n%m = const {value = i64[] " \
    "[-1]}\n"

TEST(sequences) {
    static const fold_row rows[] = {
        { ABC "ret %s", "seq(f32[1, 2] [1, 2], f32[2, 2] [3, 4, 5, 6])" },
        { ABC "%1 = seq_insert %s, %a\nret %1",
          "seq(f32[1, 2] [1, 2], f32[2, 2] [3, 4, 5, 6], f32[1, 2] [1, 2])" },
        { ABC
          "%1 = seq_insert %s, %b, %0\n%2 = seq_at %1, %0\n%3 = seq_length %1\nret %2, %3",
          "f32[2, 2] [3, 4, 5, 6]; i64[] [3]" },
        { ABC "%1 = seq_insert %s, %a, %m\n%2 = seq_at %1, %m\nret %2",
          "f32[2, 2] [3, 4, 5, 6]" },
        { ABC "%1 = seq_erase %s\nret %1", "seq(f32[1, 2] [1, 2])" },
        { ABC "%1 = seq_erase %s, %0\nret %1", "seq(f32[2, 2] [3, 4, 5, 6])" },
        { ABC "%1 = seq_concat %s {axis = 0}\nret %1", "f32[3, 2] [1, 2, 3, 4, 5, 6]" },
        { ABC "%1 = seq_make %a, %a\n%2 = seq_concat %1 {axis = 0, stack}\nret %2",
          "f32[2, 1, 2] [1, 2, 1, 2]" },
        { ABC "%1 = seq_make %a, %a\n%2 = seq_concat %1 {axis = -1, stack}\nret %2",
          "f32[1, 2, 2] [1, 1, 2, 2]" },
        { ABC "%1 = seq_make %a, %a\n%2 = seq_concat %1 {axis = 1}\nret %2",
          "f32[1, 4] [1, 2, 1, 2]" },
        { "%0 = seq_empty {of = f32} : seq<f32[s, 2]>\n%1 = seq_length %0\nret %0, %1",
          "seq(); i64[] [0]" },
        { ABC
          "%1 = opt_make %s\n%2 = seq_length %1\n%3 = seq_at %1, %m\nret %1, %2, %3",
          "opt(seq(f32[1, 2] [1, 2], f32[2, 2] [3, 4, 5, 6])); i64[] [1]; seq(f32[1, 2] "
          "[1, 2], f32[2, 2] [3, 4, 5, 6])" },
        { "%x = const {value = f32[] [5]}\n%y = const {value = f32[1] [6]}\n"
          "%s = seq_make %x, %y\n%1 = seq_insert %s, %x\n%2 = seq_length %1\nret %1, %2",
          "seq(f32[] [5], f32[1] [6], f32[] [5]); i64[] [3]" },
        { ABC "%1 = opt_make %a\n%2 = seq_at %1, %0\nret %1, %2",
          "opt(f32[1, 2] [1, 2]); f32[1, 2] [1, 2]" },
        { "%0 = opt_none : opt<seq<f32[s]>>\n%1 = seq_length %0\nret %0, %1",
          "opt(); i64[] [0]" },
    };
    CHECK_ROWS(rows);
}

TEST(sequences_report_positions_and_shapes) {
    static const fold_row rows[] = {
        { ABC "%1 = const {value = i64[] [2]}\n%2 = seq_at %s, %1\nret %2",
          "INVALID: seq_at: position 2 is outside of a sequence of 2 items" },
        { "%0 = opt_none : opt<f32[s]>\n%1 = const {value = i64[] [0]}\n"
          "%2 = seq_at %0, %1\nret %2",
          "INVALID: seq_at: position 0 is outside of a sequence of 0 items" },
        { ABC "%1 = seq_concat %s {axis = 1}\nret %1",
          "INVALID: seq_concat: the extents of item 1 do not fit those of item 0" },
        { "%0 = seq_empty {of = f32} : seq<f32[s, 2]>\n%1 = seq_erase %0\nret %1",
          "INVALID: seq_erase: the sequence is empty" },
        { "%0 = seq_empty {of = f32} : seq<f32[s, 2]>\n%1 = seq_concat %0 {axis = 0}\nret %1",
          "INVALID: seq_concat: an empty sequence has no shape to join" },
    };
    CHECK_ROWS(rows);
}

TEST(splits) {
    static const fold_row rows[] = {
        { X23 "%1 = split_to_seq %0 {axis = 1}\nret %1",
          "seq(f32[2] [1, 4], f32[2] [2, 5], f32[2] [3, 6])" },
        { X23 "%1 = split_to_seq %0 {axis = 0, keep}\nret %1",
          "seq(f32[1, 3] [1, 2, 3], f32[1, 3] [4, 5, 6])" },
        { X23
          "%1 = const {value = i64[] [2]}\n%2 = split_to_seq %0, %1 {axis = 1}\nret %2",
          "seq(f32[2, 2] [1, 2, 4, 5], f32[2, 1] [3, 6])" },
        { X23
          "%1 = const {value = i64[3] [1, 0, 2]}\n%2 = split_to_seq %0, %1 {axis = -1}\n"
          "ret %2",
          "seq(f32[2, 1] [1, 4], f32[2, 0] [], f32[2, 2] [2, 3, 5, 6])" },
        { X23
          "%1 = const {value = i64[2] [1, 1]}\n%2 = split_to_seq %0, %1 {axis = 1}\nret %2",
          "INVALID: split_to_seq: the sizes do not add up to 3" },
        { X23
          "%1 = const {value = i64[] [0]}\n%2 = split_to_seq %0, %1 {axis = 1}\nret %2",
          "INVALID: split_to_seq: pieces of 0 elements" },
    };
    CHECK_ROWS(rows);
}

UNIT_SUITE(fold_index, rows_of_parts, gathers,
           gathers_out_of_range_name_op_position_and_value, gathers_by_tuples,
           gathers_and_scatters_of_elements, sequences,
           sequences_report_positions_and_shapes, splits)
