/* Declarations shared by the two schedules of topk.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_SORT_H
#define IG_PASSES_LOWER_SERIAL_SORT_H

#include "passes/lower/lower.h"

/* Puts `key` among `count` keys in order, of which the last one leaves. */
void ig_sort_put_key(ig_builder *b, ig_value *key, ig_value **keys, uint32_t count);

/* Whether lines of x along `axis`, of which `few` elements are kept (0: many), are
 * neighbours in x and both results, and enough to fill vectors as far as is known. */
bool ig_sort_is_across(ig_lower *lower, const ig_lower_operand *x, uint32_t axis,
                       uint32_t few);
/* Lowers them, a vector of lines at a time. */
ig_status ig_sort_lower_across(ig_lower *lower, const ig_lower_operand *x,
                               uint32_t axis, uint32_t few, bool is_descending);

#endif
