/* Products by packed parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_ATEN_QUANTISED_PACKED_H
#define IG_FRONTEND_TORCH_ATEN_QUANTISED_PACKED_H

#include "frontend/torch/aten/quant.h"

/* x W^T + b by packed parameters (an object), x quantised at run time. */
ig_value *ig_aten_packed_linear(ig_ts_call *call, ig_value *x,
                                const ig_ts_value *object, bool reduce_range);

#endif
