/* What schedules of sliding windows share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_WINDOW_H
#define IG_PASSES_LOWER_SERIAL_WINDOW_H

#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

/* The lowest value of a dtype: the maximum of nothing. */
ig_value *ig_lower_lowest(ig_builder *b, ig_dtype dtype, uint32_t lanes);
/* Row `number` as indices of all axes of `type` from `first` to the last but one. */
void ig_lower_split_rows(ig_lower *lower, ig_builder *b, const ig_type *type,
                         uint32_t first, ig_value *number, ig_value **index);
/* Product of those axes. */
ig_dim ig_lower_row_count(ig_lower *lower, const ig_type *type, uint32_t first);
/* An entry of an INTS attribute, or 1. */
int64_t ig_lower_entry(const ig_op *op, uint32_t slot, uint32_t axis);

#endif
