/* All operators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ENTRY_TABLE_H
#define IG_FRONTEND_TORCH_ENTRY_TABLE_H

#include "frontend/torch/eval/op.h"

extern const ig_ts_table ig_ts_operators; /* the rows of families.def */

#endif
