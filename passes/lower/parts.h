/* Parts of jagged rows in a kernel: where they are, and whether their offsets are
 * right.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Part i has the rows offsets[i] to offsets[i + 1] of a tensor.  Offsets are the
 * client's, so no difference of two of them is trusted.
 */
#ifndef IG_PASSES_LOWER_PARTS_H
#define IG_PASSES_LOWER_PARTS_H

#include "passes/lower/lower.h"

typedef struct ig_lower_parts {
    ig_lower *lower;
    const ig_lower_operand *offsets; /* an input of the launch */
    ig_dim row_count;                /* of the tensor */
    ig_dim length;                   /* rows of a part that are taken, at most */
} ig_lower_parts;

/* What offsets say of a part.  Rows that are not all in the tensor are not taken; a
 * part without any is right wherever its offsets are. */
typedef struct ig_lower_part {
    ig_value *begin, *end; /* as they are */
    ig_value *rows;        /* that are taken: they are in the tensor */
    ig_value *is_in;       /* or are there none */
} ig_lower_part;

ig_dim ig_lower_part_count(const ig_lower_parts *p);
ig_value *ig_lower_part_offset(const ig_lower_parts *p, ig_builder *b, ig_value *i);
/* Reports element i of the offsets. */
void ig_lower_report_offset(const ig_lower_parts *p, ig_builder *b, ig_value *i,
                            ig_value *offset);

ig_lower_part ig_lower_find_part(const ig_lower_parts *p, ig_builder *b,
                                 ig_value *number);
/* Reports the offset that makes part `number` wrong. */
void ig_lower_report_part(const ig_lower_parts *p, ig_builder *b, ig_value *number,
                          const ig_lower_part *part);

/* Is x < y (or <=) in u64? */
ig_value *ig_lower_is_below(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y);

#endif
