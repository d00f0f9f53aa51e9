/* einsum(equation, tensors).
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/math/einsum.h"
#include "frontend/torch/aten/aten.h"

ig_status ig_ts_op_einsum(ig_ts_call *call) {
    uint32_t count;
    ig_str equation = ig_aten_str(call, 0);
    ig_value **tensors = ig_aten_tensors(call, 1, &count);
    ig_value *value;
    const char *why;
    IG_TRY(call->e->status);
    for (uint32_t i = 1; i < count; i++) {
        if (tensors[i]->type->dtype != tensors[0]->type->dtype) {
            return ig_ts_fail(call, IG_INVALID, "tensors of different dtypes");
        }
    }
    ig_einsum_spec spec = { equation, tensors, count, true };
    if (ig_einsum(call->builder, call->arena, &spec, &value, &why) != IG_OK) {
        return ig_ts_fail(call, IG_INVALID, "'%.*s': %s", IG_STR_ARG(equation), why);
    }
    return ig_aten_give(call, value);
}
