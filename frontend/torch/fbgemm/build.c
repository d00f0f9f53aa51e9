/* What the functions of the FBGEMM rows are written with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include "ir/interpret/interpret.h"

ig_fb ig_fb_open(ig_ts_call *call) {
    return (ig_fb){ .call = call, .status = IG_OK };
}

bool ig_fb_try(ig_fb *fb, ig_status status) {
    fb->status = fb->status == IG_OK ? status : fb->status;
    return fb->status == IG_OK;
}

ig_status ig_fb_give(ig_fb *fb, uint32_t result, ig_value *value) {
    IG_TRY(fb->status);
    return ig_ts_give(fb->call, result, value);
}

ig_status ig_fb_give_none(ig_fb *fb, uint32_t result) {
    IG_TRY(fb->status);
    return ig_ts_give_value(fb->call, result, ig_ts_none());
}

/* ---- arguments ---- */

ig_value *ig_fb_tensor(ig_fb *fb, uint32_t index) {
    ig_value *value = NULL;
    bool is_good = fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_tensor_arg(fb->call, index, &value));
    return is_good ? value : NULL;
}

ig_value *ig_fb_arg(ig_fb *fb, uint32_t index, ig_dtype dtype) {
    return ig_fb_cast(fb, ig_fb_tensor(fb, index), dtype);
}

ig_value *ig_fb_optional(ig_fb *fb, uint32_t index) {
    bool is_none = fb->status != IG_OK || ig_ts_is_none(fb->call, index);
    return is_none ? NULL : ig_fb_tensor(fb, index);
}

ig_value *ig_fb_size(ig_fb *fb, uint32_t index) {
    ig_value *value = NULL;
    bool is_good = fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_number_value(fb->call, &fb->call->args[index],
                                                    IG_DT_i64, &value));
    return is_good ? value : NULL;
}

const int64_t *ig_fb_maybe_known(ig_fb *fb, const ig_value *value,
                                 uint32_t *out_count) {
    const ig_data *data = value ? ig_constant_of(value) : NULL;
    ig_tensor tensor;
    ig_arena *arena = fb->call->arena;
    if (!data || !ig_type_is_static(data->type) ||
        ig_dtype_is_float((ig_dtype)data->type->dtype) ||
        ig_tensor_of_data(data, arena, fb->call->context, &tensor) != IG_OK ||
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

const int64_t *ig_fb_known(ig_fb *fb, uint32_t index, const char *what,
                           uint32_t *out_count) {
    const int64_t *values = NULL;
    *out_count = 0;
    ig_value *value = ig_fb_tensor(fb, index);
    if (value && !(values = ig_fb_maybe_known(fb, value, out_count))) {
        ig_fb_try(fb, ig_ts_fail(fb->call, IG_UNSUPPORTED,
                                 "%s must be a constant of the archive", what));
    }
    return values;
}

/* ---- expressions ---- */

ig_value *ig_fb_int(ig_fb *fb, int64_t value) {
    return ig_ts_scalar_int(fb->call, IG_DT_i64, value);
}

ig_value *ig_fb_dim(ig_fb *fb, ig_dim dim) {
    int64_t value;
    if (ig_dim_constant(fb->call->module, dim, &value)) {
        return ig_fb_int(fb, value);
    }
    ig_attr attrs[IG_dims_attr_count] = {
        [IG_dims_values] = ig_attr_of_dims(fb->call->module, &dim, 1),
        [IG_dims_scalar] = ig_attr_of_bool(true),
    };
    ig_value *out = NULL;
    ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_dims, 0, NULL, attrs, &out));
    return out;
}

ig_value *ig_fb_number(ig_fb *fb, ig_dtype dtype, double value) {
    return ig_ts_scalar(fb->call, dtype, value);
}

ig_value *ig_fb_ints(ig_fb *fb, const int64_t *values, uint32_t count) {
    int64_t dims[] = { count };
    return ig_ts_constant(fb->call, IG_DT_i64, 1, dims, values);
}

ig_value *ig_fb_1(ig_fb *fb, ig_opcode code, ig_value *x) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_build1(fb->call, code, x, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_2(ig_fb *fb, ig_opcode code, ig_value *x, ig_value *y) {
    ig_value *out = NULL;
    bool is_good = x && y && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_build2(fb->call, code, x, y, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_where(ig_fb *fb, ig_value *cond, ig_value *x, ig_value *y) {
    ig_value *out = NULL, *operands[] = { cond, x, y };
    bool is_good =
        cond && x && y && fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_where, 3, operands, NULL, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_cast(ig_fb *fb, ig_value *x, ig_dtype dtype) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_cast(fb->call, x, dtype, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_like(ig_fb *fb, ig_value *x, const ig_value *model) {
    return model ? ig_fb_cast(fb, x, (ig_dtype)model->type->dtype) : NULL;
}

ig_value *ig_fb_with(ig_fb *fb, ig_opcode code, ig_value *x, int64_t y) {
    return x ? ig_fb_2(fb, code, x,
                       ig_ts_scalar_int(fb->call, (ig_dtype)x->type->dtype, y))
             : NULL;
}

/* ---- shapes ---- */

ig_dim ig_fb_extent(ig_fb *fb, const ig_value *x, uint32_t axis) {
    if (!x) {
        return ig_dim_of(1);
    }
    if (axis >= x->type->rank) {
        ig_fb_try(fb,
                  ig_ts_fail(fb->call, IG_INVALID, "a tensor of rank %u has no axis %u",
                             x->type->rank, axis));
        return ig_dim_of(1);
    }
    return x->type->dims[axis];
}

ig_value *ig_fb_reshape(ig_fb *fb, ig_value *x, uint32_t rank, const ig_dim *dims) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_reshape(fb->call, x, rank, dims, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_flat(ig_fb *fb, ig_value *x) {
    if (!x || x->type->rank == 1) {
        return x;
    }
    ig_dim count = ig_type_count(fb->call->module, x->type);
    return ig_fb_reshape(fb, x, 1, &count);
}

ig_value *ig_fb_unsqueeze_to(ig_fb *fb, ig_value *x, uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!x || x->type->rank >= rank) {
        return x;
    }
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i < x->type->rank ? x->type->dims[i] : ig_dim_of(1);
    }
    return ig_fb_reshape(fb, x, rank, dims);
}

ig_value *ig_fb_column(ig_fb *fb, ig_value *x) {
    return x ? ig_fb_unsqueeze_to(fb, x, x->type->rank + 1) : NULL;
}

ig_value *ig_fb_expand(ig_fb *fb, ig_value *x, uint32_t rank, const ig_dim *dims) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_expand(fb->call, x, rank, dims, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_slice(ig_fb *fb, ig_value *x, uint32_t axis, ig_dim start,
                      ig_dim size) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb,
                             ig_ts_slice(fb->call, x,
                                         (ig_ts_range){ axis, start, size, 1 }, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_concat(ig_fb *fb, ig_value *const *values, uint32_t count,
                       uint32_t axis) {
    ig_attr attrs[IG_concat_attr_count] = { [IG_concat_axis] = ig_attr_of_int(axis) };
    ig_value *out = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!values[i]) {
            return NULL;
        }
    }
    if (count == 1) {
        return values[0];
    }
    bool is_good =
        fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_concat, count, values, attrs, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_transpose(ig_fb *fb, ig_value *x, const int64_t *perm) {
    ig_value *out = NULL;
    bool is_good = x && fb->status == IG_OK &&
                   ig_fb_try(fb, ig_ts_transpose(fb->call, x, perm, &out));
    return is_good ? out : NULL;
}

/* ---- segments ---- */

ig_value *ig_fb_cumsum(ig_fb *fb, ig_value *x, ig_fb_sum kind) {
    if (!x || x->type->rank == 0) {
        return x;
    }
    ig_attr attrs[IG_cumsum_attr_count] = { [IG_cumsum_axis] =
                                                ig_attr_of_int(x->type->rank - 1) };
    ig_value *out = NULL;
    if (kind == IG_FB_EXCLUSIVE) {
        attrs[IG_cumsum_exclusive] = ig_attr_of_bool(true);
    } else if (kind == IG_FB_COMPLETE) {
        attrs[IG_cumsum_complete] = ig_attr_of_bool(true);
    }
    bool is_good = fb->status == IG_OK &&
                   ig_fb_try(fb,
                             ig_ts_build(fb->call, IG_OP_cumsum, 1, &x, attrs, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_last(ig_fb *fb, ig_value *x) {
    ig_dim extent = ig_fb_extent(fb, x, 0);
    ig_dim at = ig_dim_sub(fb->call->module, extent, ig_dim_of(1));
    ig_value *one = ig_fb_slice(fb, ig_fb_cast(fb, x, IG_DT_i64), 0, at, ig_dim_of(1));
    return ig_fb_reshape(fb, one, 0, NULL);
}

ig_value *ig_fb_range(ig_fb *fb, ig_value *count) {
    ig_value *out = NULL;
    ig_value *operands[] = { ig_fb_int(fb, 0), count, ig_fb_int(fb, 1) };
    bool is_good =
        count && fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_range, 3, operands, NULL, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_range_dim(ig_fb *fb, ig_dim count) {
    return ig_fb_range(fb, ig_fb_dim(fb, count));
}

ig_value *ig_fb_gather(ig_fb *fb, ig_value *x, ig_value *index, uint32_t axis) {
    ig_attr attrs[IG_gather_attr_count] = {
        [IG_gather_axis] = ig_attr_of_int(axis),
        [IG_gather_negative] = ig_attr_of_enum(IG_NEGATIVE_error),
    };
    ig_value *out = NULL, *operands[] = { x, index };
    bool is_good =
        x && index && fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_gather, 2, operands, attrs, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_segment_of(ig_fb *fb, ig_value *offsets, ig_value *positions) {
    ig_dim extent = ig_fb_extent(fb, offsets, 0);
    ig_dim segments = ig_dim_sub(fb->call->module, extent, ig_dim_of(1));
    ig_value *ends = ig_fb_slice(fb, offsets, 0, ig_dim_of(1), segments), *out = NULL;
    ig_value *operands[] = { ig_fb_like(fb, positions, ends), ends };
    ig_attr attrs[IG_bucketize_attr_count] = { [IG_bucketize_right] =
                                                   ig_attr_of_bool(true) };
    bool is_good =
        operands[0] && ends && fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_bucketize, 2, operands, attrs, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_lengths(ig_fb *fb, ig_value *offsets) {
    ig_dim extent = ig_fb_extent(fb, offsets, 0);
    ig_dim segments = ig_dim_sub(fb->call->module, extent, ig_dim_of(1));
    return ig_fb_2(fb, IG_OP_sub, ig_fb_slice(fb, offsets, 0, ig_dim_of(1), segments),
                   ig_fb_slice(fb, offsets, 0, ig_dim_of(0), segments));
}

/* x at rows `target` of [count, …] full of `fill`. */
static ig_value *scatter_rows(ig_fb *fb, ig_value *x, ig_value *target, ig_dim count,
                              ig_value *fill, int64_t reduce) {
    ig_dim dims[IG_TENSOR_RANK];
    ig_value *full = NULL, *out = NULL;
    if (!x || !target || fb->status != IG_OK) {
        return NULL;
    }
    dims[0] = count;
    for (uint32_t i = 1; i < x->type->rank; i++) {
        dims[i] = x->type->dims[i];
    }
    if (!ig_fb_try(fb, ig_ts_full(fb->call, fill, x->type->rank, dims, &full))) {
        return NULL;
    }
    ig_value *operands[] = { full, ig_fb_column(fb, target), x };
    ig_attr attrs[IG_scatter_nd_attr_count] = { [IG_scatter_nd_reduce] =
                                                    ig_attr_of_enum(reduce) };
    bool is_good = operands[1] && ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_scatter_nd,
                                                            3, operands, attrs, &out));
    return is_good ? out : NULL;
}

ig_value *ig_fb_add_at(ig_fb *fb, ig_value *x, ig_value *target, ig_dim count) {
    ig_value *zero = x ? ig_fb_number(fb, (ig_dtype)x->type->dtype, 0) : NULL;
    return scatter_rows(fb, x, target, count, zero, IG_SCATTER_add);
}

ig_value *ig_fb_put_at(ig_fb *fb, ig_value *x, ig_value *target, ig_dim count,
                       ig_value *fill) {
    return scatter_rows(fb, x, target, count, fill, IG_SCATTER_none);
}
