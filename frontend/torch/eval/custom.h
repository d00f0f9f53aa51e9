/* Operators that the user gives as graphs (compose/custom.h), as rows.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_EVAL_CUSTOM_H
#define IG_FRONTEND_TORCH_EVAL_CUSTOM_H

#include "frontend/torch/eval/eval.h"

/* The row of "ns::op" among the user's, or NULL. */
const ig_ts_row *ig_ts_custom_row(ig_ts_eval *eval, const char *name);

#endif
