/* Parts of jagged rows in a kernel.  SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/parts.h"

static ig_value *offset_position(const ig_lower_parts *p, ig_builder *b, ig_value *i) {
    return k_mul(b, i, ig_lower_dim(p->lower, p->offsets->strides[0]));
}

ig_dim ig_lower_part_count(const ig_lower_parts *p) {
    return ig_dim_sub(p->lower->module, p->offsets->type->dims[0], ig_dim_of(1));
}

ig_value *ig_lower_part_offset(const ig_lower_parts *p, ig_builder *b, ig_value *i) {
    ig_value *at = offset_position(p, b, i);
    return k_cast(b, k_load(b, p->offsets->buffer, at, 1), IG_DT_i64);
}

void ig_lower_report_offset(const ig_lower_parts *p, ig_builder *b, ig_value *i,
                            ig_value *offset) {
    ig_value *operand = k_i64(b, p->offsets - p->lower->ins);
    k_report(b, operand, offset_position(p, b, i), offset);
}

ig_value *ig_lower_is_below(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y) {
    ig_value *left = k_cast(b, x, IG_DT_u64);
    return k_compare(b, code, left, k_cast(b, y, IG_DT_u64));
}

/* A length that does not fit i64 is right in u64. */
ig_lower_part ig_lower_find_part(const ig_lower_parts *p, ig_builder *b,
                                 ig_value *number) {
    ig_value *next = k_add(b, number, k_i64(b, 1)), *zero = k_i64(b, 0);
    ig_value *begin = ig_lower_part_offset(p, b, number);
    ig_value *end = ig_lower_part_offset(p, b, next);
    ig_value *all = ig_lower_dim(p->lower, p->row_count);
    ig_value *length = ig_lower_dim(p->lower, p->length);
    ig_value *rises = k_compare(b, IG_OP_lt, begin, end);
    ig_value *size = k_where(b, rises, k_sub(b, end, begin), zero);
    ig_value *is_short = ig_lower_is_below(b, IG_OP_lt, size, length);
    ig_value *rows = k_where(b, is_short, size, length);
    ig_value *begins = ig_lower_is_below(b, IG_OP_le, begin, all);
    ig_value *fits = k_compare(b, IG_OP_le, rows, k_sub(b, all, begin));
    ig_value *is_none = k_compare(b, IG_OP_eq, rows, zero);
    ig_value *is_in = k_binary(b, IG_OP_or, is_none,
                               k_binary(b, IG_OP_and, begins, fits));
    return (ig_lower_part){ .begin = begin,
                            .end = end,
                            .rows = k_where(b, is_in, rows, zero),
                            .is_in = is_in };
}

void ig_lower_report_part(const ig_lower_parts *p, ig_builder *b, ig_value *number,
                          const ig_lower_part *part) {
    ig_value *is_begin = k_compare(b, IG_OP_lt, part->begin, k_i64(b, 0));
    ig_value *index = k_where(b, is_begin, number, k_add(b, number, k_i64(b, 1)));
    ig_lower_report_offset(p, b, index, k_where(b, is_begin, part->begin, part->end));
}
