/* Items of lists by numbers that are known at run time only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_CONTAINER_PICKED_H
#define IG_FRONTEND_TORCH_CONTAINER_PICKED_H

#include "frontend/torch/builtin/builtin.h"

/* Can a list of these items have an index of the run?  All are tensors of one type,
 * numbers of one kind, or tuples of such. */
bool ig_ts_can_pick(const ig_ts_call *call, const ig_ts_value *items, size_t count);
/* items[index] and, with `value`, items[index] = value.  `index` is an int of the run;
 * one out of range is an error of the run.  The items and the value can be picked. */
ig_status ig_ts_pick_item(ig_ts_call *call, const ig_ts_value *items, size_t count,
                          const ig_ts_value *index, ig_ts_value *out);
ig_status ig_ts_put_item(ig_ts_call *call, ig_ts_list *list, const ig_ts_value *index,
                         const ig_ts_value *value);

#endif
