/* Between the ways of softmax (softmax.c, softmax_block.c).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_SOFTMAX_H
#define IG_PASSES_LOWER_SERIAL_SOFTMAX_H

#include "passes/lower/team.h"

typedef struct ig_softmax {
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    uint32_t axis, lanes;
    bool is_log, is_empty_zero, is_along, keeps_exp;
    ig_dtype wide;
    uint32_t kept[IG_TENSOR_RANK], kept_count;
    int64_t lines; /* a tile: of `width` elements of the last kept axis */
    int64_t width;
    ig_team team; /* along */
    /* Blocks; period 0: none. */
    int64_t period;   /* from an element of a line to the next */
    uint32_t phases;  /* vectors after which lanes are of the same lines again */
    uint32_t vectors; /* of a whole block, which stays in registers; 0: it does not */
    ig_dim elements;  /* of a block */
} ig_softmax;

/* One line, or a block of them: where it begins, and the totals of its walks. */
typedef struct ig_softmax_line {
    const ig_softmax *s;
    ig_value *x_at, *out_at;
    ig_value *count; /* lanes that count; NULL: all */
    ig_value *max, *sum, *log_sum;
} ig_softmax_line;

/* The larger one, which is never NaN: a NaN of the line is in its sum. */
ig_value *ig_softmax_larger(ig_builder *b, ig_value *x, ig_value *max);

/* x, and `value` in lanes from `count` on (NULL: none). */
ig_value *ig_softmax_mask(const ig_softmax *s, ig_builder *b, ig_value *x,
                          ig_value *count, double value);

/* With empty_zero a maximum of -inf is 0, and a sum of 0 is 1. */
ig_value *ig_softmax_finish_max(const ig_softmax *s, ig_builder *b, ig_value *max);
ig_value *ig_softmax_finish_sum(const ig_softmax *s, ig_builder *b, ig_value *sum);

/* Are lines made by blocks?  Then lanes, period and kept axes are chosen. */
bool ig_softmax_choose_block(ig_softmax *s);

/* The block that begins where `l` does. */
void ig_softmax_emit_block(const ig_softmax_line *l, ig_builder *b);

#endif
