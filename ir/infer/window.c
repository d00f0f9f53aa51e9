/* Result types of conv and of the pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/semantics/window.h"

/* ---- conv ---- */

static const ig_window_slots conv_slots = { IG_conv_strides, IG_conv_dilations,
                                            IG_conv_before, IG_conv_after };

static ig_status check_conv_operands(const ig_op *op) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank < 3 || x->dtype == IG_DT_bool || x->dtype == IG_DT_str) {
        return INFER_ERROR(op, "operand 0 is %s, expected numbers of rank 3 or more",
                           ig_operand_text(op, 0));
    }
    IG_TRY(ig_check_same_dtype(op, 0, op->operand_count - 1u));
    return ig_check_rank(op, 1, x->rank);
}

/* Channels of x and w agree with the group; *out_channels are the result's. */
static ig_status check_channels(const ig_op *op, ig_dim *out_channels) {
    ig_module *module = ig_op_module(op);
    int64_t group = ig_attr_int(op, IG_conv_group, 1), count;
    bool is_transposed = ig_attr_int(op, IG_conv_transposed, 0) != 0;
    if (group < 1) {
        return INFER_ERROR(op, "group is %lld", (long long)group);
    }
    ig_dim groups = ig_dim_const(module, group);
    ig_dim first = ig_operand_type(op, 1)->dims[0];
    ig_dim second = ig_operand_type(op, 1)->dims[1];
    ig_dim whole = is_transposed ? first : ig_dim_mul(module, second, groups);
    IG_TRY(ig_check_extent(op, 0, 1, whole, "the channels of the weights", NULL));
    if (ig_dim_constant(module, first, &count) && count % group != 0) {
        return INFER_ERROR(
            op, "operand 1 is %s, whose extent 0 is not a multiple of the group, %lld",
            ig_operand_text(op, 1), (long long)group);
    }
    if (ig_dim_constant(module, ig_operand_type(op, 0)->dims[1], &count) &&
        count % group != 0) {
        return INFER_ERROR(
            op, "operand 0 is %s, whose channels are not a multiple of the group, %lld",
            ig_operand_text(op, 0), (long long)group);
    }
    *out_channels = is_transposed ? ig_dim_mul(module, second, groups) : first;
    if (op->code == IG_OP_conv && op->operand_count > 2) {
        IG_TRY(ig_check_rank(op, 2, 1));
        return ig_check_extent(op, 2, 0, *out_channels, "the result's channels", NULL);
    }
    return IG_OK;
}

static ig_status check_result_extent(const ig_op *op, uint32_t axis, ig_dim dim) {
    int64_t min, max;
    ig_dim_range(ig_op_module(op), dim, &min, &max);
    if (max < 0) {
        return INFER_ERROR(op, "operand 0 is %s: the windows do not fit its axis %u",
                           ig_operand_text(op, 0), axis);
    }
    return IG_OK;
}

ig_status ig_check_conv(const ig_op *op, const ig_type **out_type) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0), *w = ig_operand_type(op, 1);
    bool is_transposed = ig_attr_int(op, IG_conv_transposed, 0) != 0;
    ig_dim dims[IG_WINDOW_RANK + 2] = { x->dims[0] };
    IG_TRY(ig_window_check(op, &conv_slots, x->rank - 2));
    IG_TRY(check_channels(op, &dims[1]));
    for (uint32_t d = 2; d < x->rank; d++) {
        if (ig_dim_is(w->dims[d], 0)) {
            return INFER_ERROR(op, "operand 1 is %s: a kernel without elements",
                               ig_operand_text(op, 1));
        }
        ig_window_axis axis = ig_window_axis_of(op, &conv_slots, d - 2, x->dims[d],
                                                w->dims[d]);
        dims[d] = is_transposed ? ig_window_spread(module, &axis)
                                : ig_window_count(module, &axis, false);
        IG_TRY(check_result_extent(op, d, dims[d]));
    }
    *out_type = ig_type_with_dims(module, x, x->rank, dims);
    return IG_OK;
}

ig_status ig_infer_conv(ig_op *op, const ig_type **out_types) {
    IG_TRY(check_conv_operands(op));
    return ig_check_conv(op, out_types);
}

/* ---- pools ---- */

static const ig_window_slots pool_slots = { IG_pool_strides, IG_pool_dilations,
                                            IG_pool_before, IG_pool_after };
static const ig_window_slots index_slots = { IG_pool_indices_strides,
                                             IG_pool_indices_dilations,
                                             IG_pool_indices_before,
                                             IG_pool_indices_after };

static ig_status check_numbers(const ig_op *op) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank < 3 || x->rank > IG_WINDOW_RANK + 2 || x->dtype == IG_DT_bool ||
        x->dtype == IG_DT_str) {
        return INFER_ERROR(op, "operand 0 is %s, expected numbers of rank 3 to %d",
                           ig_operand_text(op, 0), IG_WINDOW_RANK + 2);
    }
    return IG_OK;
}

/* Shape of a pool's result. */
static ig_status pool_dims(const ig_op *op, const ig_window_slots *slots,
                           uint32_t kernel, bool ceil_mode, ig_dim *dims) {
    IG_TRY(check_numbers(op));
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    const ig_attr *sizes = &op->attrs[kernel];
    IG_TRY(ig_window_check(op, slots, x->rank - 2));
    if (sizes->count != x->rank - 2) {
        return INFER_ERROR(op, "kernel has %u entries, expected %u, one a spatial axis",
                           sizes->count, x->rank - 2);
    }
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (uint32_t d = 2; d < x->rank; d++) {
        int64_t size = sizes->as.ints[d - 2];
        if (size < 1 || size > INT32_MAX) {
            return INFER_ERROR(op, "entry %u of kernel is %lld", d - 2,
                               (long long)size);
        }
        ig_window_axis axis = ig_window_axis_of(op, slots, d - 2, x->dims[d],
                                                ig_dim_of(size));
        dims[d] = ig_window_count(module, &axis, ceil_mode);
        IG_TRY(check_result_extent(op, d, dims[d]));
    }
    return IG_OK;
}

ig_status ig_infer_pool(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_WINDOW_RANK + 2];
    bool ceil_mode = ig_attr_int(op, IG_pool_ceil_mode, 0) != 0;
    IG_TRY(pool_dims(op, &pool_slots, IG_pool_kernel, ceil_mode, dims));
    const ig_type *x = ig_operand_type(op, 0);
    if (ig_attr_int(op, IG_pool_op, 0) == IG_WINDOW_average) {
        IG_TRY(ig_check_float(op, 0));
    }
    if (ig_attr_int(op, IG_pool_divisor, 1) == 0) {
        return INFER_ERROR(op, "the divisor is 0");
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank, dims);
    return IG_OK;
}

ig_status ig_infer_pool_indices(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_WINDOW_RANK + 2];
    bool ceil_mode = ig_attr_int(op, IG_pool_indices_ceil_mode, 0) != 0;
    IG_TRY(pool_dims(op, &index_slots, IG_pool_indices_kernel, ceil_mode, dims));
    uint32_t rank = ig_operand_type(op, 0)->rank;
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, rank, dims);
    return IG_OK;
}

static ig_status adaptive_dims(const ig_op *op, uint32_t slot, ig_dim *dims) {
    IG_TRY(check_numbers(op));
    const ig_type *x = ig_operand_type(op, 0);
    const ig_attr *sizes = &op->attrs[slot];
    if (sizes->count != x->rank - 2) {
        return INFER_ERROR(op, "sizes has %u entries, expected %u, one a spatial axis",
                           sizes->count, x->rank - 2);
    }
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (uint32_t d = 2; d < x->rank; d++) {
        dims[d] = sizes->as.dims[d - 2];
        IG_TRY(check_result_extent(op, d, dims[d]));
    }
    return IG_OK;
}

ig_status ig_infer_adaptive_pool(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_WINDOW_RANK + 2];
    IG_TRY(adaptive_dims(op, IG_adaptive_pool_sizes, dims));
    if (ig_attr_int(op, IG_adaptive_pool_op, 0) == IG_ADAPTIVE_average) {
        IG_TRY(ig_check_float(op, 0));
    }
    const ig_type *x = ig_operand_type(op, 0);
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank, dims);
    return IG_OK;
}

ig_status ig_infer_adaptive_pool_indices(ig_op *op, const ig_type **out_types) {
    ig_dim dims[IG_WINDOW_RANK + 2];
    IG_TRY(adaptive_dims(op, IG_adaptive_pool_indices_sizes, dims));
    uint32_t rank = ig_operand_type(op, 0)->rank;
    out_types[0] = ig_type_tensor(ig_op_module(op), IG_DT_i64, rank, dims);
    return IG_OK;
}
