/* Lists whose length is known at run time only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The list that a loop fills with one tensor a trip, and the parts of a tensor along an
 * open extent, are one tensor in the IR: item i is its index i on axis 0.  Such a list
 * is poisoned, so that whatever does not know it refuses it with words; its length, its
 * items, torch.stack and torch.cat know it.  Items are views of it: those of a list
 * that a loop filled are not to be written to.
 */
#ifndef IG_FRONTEND_TORCH_EVAL_STACKED_H
#define IG_FRONTEND_TORCH_EVAL_STACKED_H

#include "frontend/torch/eval/eval.h"

extern const ig_ts_poison ig_ts_stacked, ig_ts_grows;

/* The content of a list that is `stack`; as it is within the loop that fills it. */
ig_ts_content ig_ts_stacked_content(ig_ts_tensor *stack);
ig_ts_content ig_ts_growing_content(void);
ig_ts_list *ig_ts_stacked_list(ig_ts_eval *eval, ig_ts_tensor *stack);

ig_dim ig_ts_stacked_length(const ig_ts_list *list);
ig_status ig_ts_stacked_item(ig_ts_eval *eval, const ig_ts_list *list,
                             const ig_ts_value *index, ig_ts_value *out_item);
/* The stack of a list argument; NULL for any other argument. */
ig_status ig_ts_stacked_arg(ig_ts_call *call, uint32_t index, ig_value **out_stack);

#endif
