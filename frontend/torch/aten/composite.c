/* Operators whose formula is plain Python over other operators: the function of the
 * operator's name in stock/torch/_composites.py.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/eval/control.h"

ig_status ig_ts_op_composite(ig_ts_call *call) {
    ig_ts_value out = { 0 };
    IG_TRY(call->eval->language->composite(call, &out));
    if (call->result_count <= 1) { /* of a check there is none */
        return call->result_count ? ig_ts_give_value(call, 0, out) : IG_OK;
    }
    IG_TRY(ig_ts_use(call->eval, &out));
    if (out.kind != IG_TS_TUPLE || out.as.list->count != call->result_count) {
        return ig_ts_fail(call, IG_INTERNAL, "_composites.py gives other results");
    }
    for (uint32_t i = 0; i < call->result_count; i++) {
        IG_TRY(ig_ts_give_value(call, i, out.as.list->items[i]));
    }
    return IG_OK;
}
