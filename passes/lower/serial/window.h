/* What schedules of sliding windows share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_WINDOW_H
#define IG_PASSES_LOWER_SERIAL_WINDOW_H

#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

/* `lanes` elements from `at` on, `stride` apart; those from `count` on (NULL: none) are
 * not needed and nothing after them is touched. */
ig_value *ig_lower_load_apart(ig_builder *b, const ig_lower_operand *x, ig_value *at,
                              ig_value *stride, uint32_t lanes, ig_value *count);
/* Row `number` as indices of all axes of `type` from `first` to the last but one. */
void ig_lower_split_rows(ig_lower *lower, ig_builder *b, const ig_type *type,
                         uint32_t first, ig_value *number, ig_value **index);
/* Product of those axes. */
ig_dim ig_lower_row_count(ig_lower *lower, const ig_type *type, uint32_t first);
/* An entry of an INTS attribute, or 1. */
int64_t ig_lower_entry(const ig_op *op, uint32_t slot, uint32_t axis);

#endif
