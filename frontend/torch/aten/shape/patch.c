/* A tensor with a part of it replaced, and windows of images.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

#include "ir/infer/slice.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

/* x with y in place of a slice of one axis. */
static ig_value *insert_slice(ig_ts_call *call, ig_value *x, ig_value *y, uint32_t axis,
                              ig_dim start, int64_t step) {
    assert(axis < x->type->rank && "the caller has checked the axis");
    assert(step > 0 && "slices run forward");
    ig_dim starts[IG_TENSOR_RANK] = { 0 };
    int64_t steps[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < x->type->rank; i++) {
        steps[i] = 1;
    }
    starts[axis] = start;
    steps[axis] = step;
    ig_insert_attrs attrs = { .starts = { starts, x->type->rank },
                              .steps = { step != 1 ? steps : NULL, x->type->rank } };
    y = ig_aten_cast(call, y, (ig_dtype)x->type->dtype);
    return ig_build_insert(call->e, x, y, attrs);
}

/* slice_scatter(self, src, dim, start, end, step) */
ig_status ig_ts_op_slice_scatter(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 2, x->type->rank, &axis)) {
        return call->e->status;
    }
    ig_dim start, size, dims[IG_TENSOR_RANK], extent = ig_expr_extent(call->e, x, axis);
    ig_slice_ends ends = { .end = ig_dim_const(call->module, INT64_MAX),
                           .step = ig_aten_int_or(call, 5, 1) };
    ends.start = ig_ts_is_none(call, 3) ? ig_dim_of(0)
                                        : ig_aten_position(call, 3, extent);
    ends.end = ig_ts_is_none(call, 4) ? ends.end : ig_aten_position(call, 4, extent);
    IG_TRY(call->e->status);
    if (ends.step <= 0 ||
        !ig_slice_extent(call->module, &ends, extent, &start, &size)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "whether the slice is within axis %u is not known when the model is compiled",
            axis);
    }
    memcpy(dims, x->type->dims, x->type->rank * sizeof *dims);
    dims[axis] = size;
    y = ig_expr_expand(call->e, y, x->type->rank, dims);
    return ig_aten_give(call,
                        y ? insert_slice(call, x, y, axis, start, ends.step) : NULL);
}

/* select_scatter(self, src, dim, index) */
ig_status ig_ts_op_select_scatter(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    int64_t index = ig_aten_int(call, 3);
    IG_TRY(call->e->status);
    uint32_t axis;
    if (!ig_aten_axis_of_many(call, 2, x->type->rank, &axis)) {
        return call->e->status;
    }
    ig_dim at = ig_dim_const(call->module, index);
    at = index < 0 ? ig_dim_add(call->module, at, ig_expr_extent(call->e, x, axis))
                   : at;
    y = ig_expr_unsqueeze(call->e, y, axis);
    return ig_aten_give(call, y ? insert_slice(call, x, y, axis, at, 1) : NULL);
}

/* diagonal_scatter(self, src, offset, dim1, dim2): src where column - row = offset */
ig_status ig_ts_op_diagonal_scatter(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    int64_t offset = ig_aten_distance(call, 2);
    IG_TRY(call->e->status);
    uint32_t rank = x->type->rank, a = ig_aten_axis(call, 3, rank);
    uint32_t b = ig_aten_axis(call, 4, rank), next = 0;
    IG_TRY(call->e->status);
    if (a == b || rank < 2 || y->type->rank + 1 != rank) {
        return ig_ts_fail(call, IG_INVALID, "a diagonal takes two axes");
    }
    /* src's last axis counts along the diagonal: column minus the one above it. */
    ig_value *row = ig_expr_axis_iota(call->e, rank, a, ig_expr_extent(call->e, x, a));
    ig_value *column = ig_expr_axis_iota(call->e, rank, b,
                                         ig_expr_extent(call->e, x, b));
    ig_value *gap = ig_build_sub(call->e, column, row);
    ig_value *mask = ig_build_eq(call->e, gap,
                                 ig_expr_integer(call->e, IG_DT_i64, offset));
    uint32_t along = offset >= 0 ? a : b;
    ig_dim length = ig_expr_extent(call->e, y, rank - 2);
    ig_dim rest = ig_dim_sub(call->module, ig_expr_extent(call->e, x, along), length);
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    int64_t perm[IG_TENSOR_RANK];
    after[rank - 2] = rest;
    y = ig_expr_pad(call->e, ig_aten_cast(call, y, (ig_dtype)x->type->dtype), before,
                    after, IG_PAD_constant, 0);
    y = y ? ig_expr_unsqueeze(call->e, y, rank - 1) : NULL;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t other = along == a ? b : a;
        perm[i] = i == along ? rank - 2 : i == other ? rank - 1 : next++;
    }
    y = ig_expr_transpose(call->e, y, perm);
    return ig_aten_give(call, ig_build_where(call->e, mask, y, x));
}

/* fill_diagonal_(self, fill_value, wrap): where all indices are the same; of a tall
 * matrix that wraps, again a row below each end */
ig_status ig_ts_op_fill_diagonal(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    bool wraps = ig_aten_bool(call, 2);
    IG_TRY(call->e->status);
    const ig_type *type = x->type;
    uint32_t rank = type->rank;
    if (rank < 2) {
        return ig_ts_fail(call, IG_INVALID, "the diagonal of a tensor of rank %u",
                          rank);
    }
    ig_value *row = ig_expr_axis_iota(call->e, rank, 0, type->dims[0]), *mask = NULL;
    if (rank == 2 && wraps) {
        ig_dim period = ig_dim_add(call->module, type->dims[1], ig_dim_of(1));
        row = ig_build_mod(call->e, row, ig_expr_dim(call->e, period, IG_DT_i64),
                           (ig_mod_attrs){ 0 });
    }
    for (uint32_t i = 1; i < rank; i++) {
        if (rank > 2) {
            ig_expr_guard_equal(call->e, type->dims[0], type->dims[i],
                                "fill_diagonal_ takes a cube");
        }
        ig_value *other = ig_expr_axis_iota(call->e, rank, i, type->dims[i]);
        ig_value *same = ig_build_eq(call->e, row, other);
        mask = mask ? ig_build_and(call->e, mask, same) : same;
    }
    ig_value *fill = ig_aten_operand(call, 1, (ig_dtype)type->dtype);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_write(call, 0, ig_build_where(call->e, mask, fill, x)));
    return ig_ts_give_arg(call, 0, 0);
}

/* put(self, index, source, accumulate): of the flattened tensor */
ig_status ig_ts_op_put(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *index = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    ig_value *source = ig_aten_tensor(call, 2);
    IG_TRY(call->e->status);
    const ig_type *type = x->type;
    ig_scatter kind = ig_aten_bool(call, 3) ? IG_SCATTER_add : IG_SCATTER_none;
    x = ig_build_scatter_elements(
        call->e, ig_expr_flatten(call->e, x), ig_expr_flatten(call->e, index),
        ig_expr_flatten(call->e, source),
        (ig_scatter_elements_attrs){ .axis = 0, .reduce = (int)kind });
    return ig_aten_give(call, ig_expr_reshape(call->e, x, type->rank, type->dims));
}

/* sum_to_size(self, size): over the axes that were broadcast */
ig_status ig_ts_op_sum_to_size(ig_ts_call *call) {
    uint32_t rank;
    ig_value *x = ig_aten_sum_dtype(call, ig_aten_tensor(call, 0));
    const ig_dim *size = ig_aten_dims(call, 1, 0, &rank);
    IG_TRY(call->e->status);
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0, lead = x->type->rank - rank;
    if (rank > x->type->rank) {
        return ig_ts_fail(
            call, IG_INVALID,
            "size has %u items for a tensor of rank %u, expected as many or fewer",
            rank, x->type->rank);
    }
    for (uint32_t i = 0; i < x->type->rank; i++) {
        ig_dim extent = ig_expr_extent(call->e, x, i);
        if (i < lead || (ig_dim_is(size[i - lead], 1) && !ig_dim_is(extent, 1))) {
            axes[count++] = i;
        } else {
            ig_expr_guard_equal(call->e, extent, size[i - lead],
                                "an extent of size that is open is the tensor's own");
        }
    }
    if (count == 0 && lead == 0 && rank > 0) { /* to no axes it is a sum in any case */
        return ig_ts_give_arg(call, 0, 0);
    }
    x = count ? ig_expr_reduce(call->e, IG_REDUCE_sum, x, axes, count, true) : x;
    return ig_aten_give(call, ig_expr_reshape(call->e, x, rank, size));
}

/* A pair of numbers of windows: `min` or more, and such that products are exact. */
static const int64_t *read_pair(ig_ts_call *call, uint32_t index, int64_t min) {
    enum { MAX_BITS = 30 };
    uint32_t count;
    const int64_t *pair = ig_aten_ints(call, index, 2, &count);
    for (uint32_t i = 0; call->e->status == IG_OK && i < 2; i++) {
        if (pair[i] < min || pair[i] > (int64_t)1 << MAX_BITS) {
            ig_expr_fail(call->e, IG_INVALID,
                         "argument %u holds %lld, expected %lld to 2^%d", index,
                         (long long)pair[i], (long long)min, MAX_BITS);
        }
    }
    return pair;
}

/* im2col(self [N, C, H, W], kernel_size, dilation, padding, stride)
 * -> [N, C kh kw, windows] */
ig_status ig_ts_op_im2col(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    const int64_t *kernel = read_pair(call, 1, 1), *dilation = read_pair(call, 2, 1);
    const int64_t *pad = read_pair(call, 3, 0), *stride = read_pair(call, 4, 1);
    IG_TRY(call->e->status);
    bool has_batch = x->type->rank == 4;
    if (!has_batch && x->type->rank != 3) {
        return ig_ts_fail(call, IG_INVALID, "the image has rank %u, expected 3 or 4",
                          x->type->rank);
    }
    x = has_batch ? x : ig_expr_unsqueeze(call->e, x, 0);
    ig_module *m = call->module;
    ig_dim zero = ig_dim_of(0);
    ig_dim pads[4] = { zero, zero, ig_dim_const(m, pad[0]), ig_dim_const(m, pad[1]) };
    x = ig_expr_pad(call->e, x, pads, pads, IG_PAD_constant, 0);
    for (uint32_t i = 0; x && i < 2; i++) { /* axis 2 + 2 i becomes [kernel, places] */
        uint32_t axis = 2 + 2 * i;
        int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
        ig_dim room = ig_dim_sub(m, ig_expr_extent(call->e, x, axis),
                                 ig_dim_const(m, reach));
        ig_dim steps = ig_dim_floor_div(m, room, ig_dim_const(m, stride[i]));
        ig_dim positions = ig_dim_add(m, steps, ig_dim_of(1));
        ig_value *within = ig_expr_axis_iota(call->e, 2, 0, ig_dim_const(m, kernel[i]));
        ig_value *position = ig_expr_axis_iota(call->e, 2, 1, positions);
        within = ig_expr_with(call->e, IG_OP_mul, within, (double)dilation[i]);
        position = ig_expr_with(call->e, IG_OP_mul, position, (double)stride[i]);
        x = ig_expr_gather(call->e, x, ig_build_add(call->e, within, position), axis,
                           IG_NEGATIVE_wrap);
    }
    IG_TRY(call->e->status);
    const ig_dim *d = x->type->dims; /* N, C, kh, h, kw, w */
    ig_dim all[] = { d[0], ig_dim_mul(m, d[1], ig_dim_const(m, kernel[0] * kernel[1])),
                     ig_dim_mul(m, d[3], d[5]) };
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 1, 2, 4, 3, 5 });
    x = ig_expr_reshape(call->e, x, 3, all);
    return ig_aten_give(call, has_batch ? x : ig_expr_squeeze(call->e, x, 0));
}

/* Filters that fold columns back: filter k of a kernel of `count` positions is 1 at
 * position k. */
static ig_value *unit_filters(ig_ts_call *call, ig_dtype dtype, const int64_t *kernel) {
    ig_module *m = call->module;
    ig_dim count = ig_dim_const(m, kernel[0] * kernel[1]);
    ig_value *row = ig_expr_axis_iota(call->e, 2, 0, count);
    ig_value *column = ig_expr_axis_iota(call->e, 2, 1, count);
    ig_value *is_own = ig_build_eq(call->e, row, column);
    ig_dim dims[] = { count, ig_dim_of(1), ig_dim_const(m, kernel[0]),
                      ig_dim_const(m, kernel[1]) };
    return ig_expr_reshape(call->e, ig_aten_cast(call, is_own, dtype), 4, dims);
}

/* Where columns come from along one axis: the number of places, and the elements that a
 * transposed convolution over them loses at both ends. */
typedef struct fold_axis {
    ig_dim positions, before, after;
} fold_axis;

static fold_axis fold_axis_of(ig_module *m, ig_dim size, int64_t reach, int64_t pad,
                              int64_t stride) {
    assert(stride > 0 && "the caller has checked the strides");
    ig_dim room = ig_dim_add(m, size, ig_dim_const(m, 2 * pad - reach));
    ig_dim step = ig_dim_of(stride), before = ig_dim_const(m, pad);
    ig_dim positions = ig_dim_add(m, ig_dim_floor_div(m, room, step), ig_dim_of(1));
    ig_dim all = ig_dim_mul(m, ig_dim_sub(m, positions, ig_dim_of(1)), step);
    all = ig_dim_sub(m, ig_dim_add(m, all, ig_dim_const(m, reach)), size);
    return (fold_axis){ positions, before, ig_dim_sub(m, all, before) };
}

/* col2im(self [N, C kh kw, windows], output_size, kernel_size, dilation, padding,
 * stride) -> [N, C, H, W]: a transposed convolution that puts each column where it was
 * taken from */
ig_status ig_ts_op_col2im(ig_ts_call *call) {
    uint32_t count;
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *size = ig_aten_dims(call, 1, 2, &count);
    const int64_t *kernel = read_pair(call, 2, 1), *dilation = read_pair(call, 3, 1);
    const int64_t *pad = read_pair(call, 4, 0), *stride = read_pair(call, 5, 1);
    IG_TRY(call->e->status);
    bool has_batch = x->type->rank == 3;
    ig_module *m = call->module;
    if (!has_batch && x->type->rank != 2) {
        return ig_ts_fail(call, IG_INVALID,
                          "the columns have rank %u, expected rank 2 or 3",
                          x->type->rank);
    }
    x = has_batch ? x : ig_expr_unsqueeze(call->e, x, 0);
    fold_axis axes[2];
    for (uint32_t i = 0; i < 2; i++) {
        axes[i] = fold_axis_of(m, size[i], dilation[i] * (kernel[i] - 1) + 1, pad[i],
                               stride[i]);
    }
    ig_dim each = ig_dim_const(m, kernel[0] * kernel[1]);
    ig_dim channels = ig_dim_exact_div(m, ig_expr_extent(call->e, x, 1), each);
    ig_dim images[] = { ig_dim_mul(m, ig_expr_extent(call->e, x, 0), channels), each,
                        axes[0].positions, axes[1].positions };
    ig_dim dims[] = { ig_expr_extent(call->e, x, 0), channels, size[0], size[1] };
    ig_conv_attrs attrs = {
        .strides = { stride, 2 },
        .dilations = { dilation, 2 },
        .before = { (ig_dim[]){ axes[0].before, axes[1].before }, 2 },
        .after = { (ig_dim[]){ axes[0].after, axes[1].after }, 2 },
        .transposed = true,
    };
    ig_value *filters = unit_filters(call, (ig_dtype)x->type->dtype, kernel);
    x = ig_build_conv(call->e, ig_expr_reshape(call->e, x, 4, images), filters, NULL,
                      attrs);
    x = ig_expr_reshape(call->e, x, 4, dims);
    return ig_aten_give(call, has_batch ? x : ig_expr_squeeze(call->e, x, 0));
}

/* block_diag(tensors) */
ig_status ig_ts_op_block_diag(ig_ts_call *call) {
    uint32_t count;
    ig_dtype dtype = IG_DT_f32;
    ig_dim columns = ig_dim_of(0), left = ig_dim_of(0);
    ig_value **values = ig_aten_tensors(call, 0, &count);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_result_type_of_list(call, 0, &dtype));
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID, "takes 0 tensors, expected 1 or more");
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_value *x = ig_aten_cast(call, values[i], dtype);
        ig_dim n = ig_type_count(call->module, values[i]->type);
        values[i] = x && x->type->rank < 2
                        ? ig_expr_reshape(call->e, x, 2, (ig_dim[]){ ig_dim_of(1), n })
                        : x;
        IG_TRY(call->e->status);
        columns = ig_dim_add(call->module, columns,
                             ig_expr_extent(call->e, values[i], 1));
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_dim width = ig_expr_extent(call->e, values[i], 1),
               before[] = { ig_dim_of(0), left };
        left = ig_dim_add(call->module, left, width);
        ig_dim after[] = { ig_dim_of(0), ig_dim_sub(call->module, columns, left) };
        values[i] = ig_expr_pad(call->e, values[i], before, after, IG_PAD_constant, 0);
    }
    return ig_aten_give(call, ig_expr_concat(call->e, 0, values, count));
}
