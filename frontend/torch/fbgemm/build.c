/* Readers and shapes shared by the functions of the FBGEMM rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include "ir/data.h"
#include "ir/interpret/interpret.h"
#include "ir/build/extent.h"

#include <assert.h>

ig_status ig_fb_give_none(ig_ts_call *call, uint32_t result) {
    assert(result < call->result_count && "the schema has no such result");
    IG_TRY(call->e->status);
    return ig_ts_give_value(call, result, ig_ts_none());
}

/* ---- arguments ---- */

ig_value *ig_fb_arg(ig_ts_call *call, uint32_t index, ig_dtype dtype) {
    return ig_expr_cast(call->e, ig_aten_tensor(call, index), dtype);
}

ig_value *ig_fb_size(ig_ts_call *call, uint32_t index) {
    return ig_aten_operand(call, index, IG_DT_i64);
}

const int64_t *ig_fb_maybe_known(ig_ts_call *call, const ig_value *value,
                                 uint32_t *out_count) {
    const ig_data *data = value ? ig_constant_of(value) : NULL;
    ig_tensor tensor;
    ig_arena *arena = call->arena;
    if (!data || !ig_type_is_static(data->type) ||
        ig_dtype_is_float((ig_dtype)data->type->dtype) ||
        ig_tensor_of_data(data, arena, call->context, &tensor) != IG_OK ||
        tensor.count > UINT32_MAX) {
        return NULL;
    }
    int64_t *values = IG_NEW_ARRAY(arena, int64_t, (size_t)tensor.count + 1);
    for (int64_t i = 0; i < tensor.count; i++) {
        values[i] = ig_tensor_get_i64(&tensor, i);
    }
    *out_count = (uint32_t)tensor.count;
    return values;
}

const int64_t *ig_fb_known(ig_ts_call *call, uint32_t index, const char *what,
                           uint32_t *out_count) {
    const int64_t *values = NULL;
    *out_count = 0;
    ig_value *value = ig_aten_tensor(call, index);
    if (value && !(values = ig_fb_maybe_known(call, value, out_count))) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "%s must be a constant of the archive",
                     what);
    }
    return values;
}

/* ---- shapes ---- */

ig_dim ig_fb_extent(ig_expr *e, const ig_value *x, uint32_t axis) {
    if (x && axis >= x->type->rank) {
        ig_expr_fail(e, IG_INVALID, "a tensor of rank %u has no axis %u", x->type->rank,
                     axis);
    }
    return x && axis < x->type->rank ? ig_expr_extent(e, x, axis) : ig_dim_of(1);
}

ig_dim ig_fb_segments(ig_expr *e, const ig_value *offsets) {
    return ig_dim_sub(e->module, ig_fb_extent(e, offsets, 0), ig_dim_of(1));
}

ig_value *ig_fb_positions(ig_expr *e, const ig_value *x) {
    return ig_expr_iota(e, IG_DT_i64, ig_fb_extent(e, x, 0));
}

ig_value *ig_fb_column(ig_expr *e, ig_value *x) {
    return x ? ig_expr_unsqueeze(e, x, x->type->rank) : NULL;
}

ig_value *ig_fb_range(ig_expr *e, ig_value *count) {
    return ig_build_range(e, ig_expr_integer(e, IG_DT_i64, 0), count,
                          ig_expr_integer(e, IG_DT_i64, 1));
}
