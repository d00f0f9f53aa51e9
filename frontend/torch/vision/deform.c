/* Convolution over windows whose places are moved by offsets.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Place k of the window at (i, j) is at row i * stride - pad + k' * dilation + offset.
 * The pixels there, interpolated and weighted by the mask, becomes the columns of a
 * product with the weights:
 *
 *     ids, weights    [N, offset groups, K, rows, columns, 2, 2]
 *     picked          [N, offset groups, K, rows * columns, channels of a group]
 *     y               [N, groups, O / groups, (C / groups) K] x [… K, rows * columns]
 */
#include "frontend/torch/vision/vision.h"
#include "ir/build/extent.h"

#include <assert.h>

enum { INPUT, WEIGHT, OFFSET, MASK, BIAS, STRIDE, PAD = 7, DILATION = 9, GROUPS = 11 };

typedef struct deform {
    ig_value *x, *weight, *offset;
    int64_t stride[2], pad[2], dilation[2], groups, offset_groups;
    ig_dim out[2], kernel[2];
    ig_dtype wide;
} deform;

static bool open_deform(ig_ts_call *call, deform *d) {
    d->x = ig_aten_tensor(call, INPUT);
    d->weight = ig_aten_tensor(call, WEIGHT);
    d->offset = ig_aten_tensor(call, OFFSET);
    for (uint32_t i = 0; i < 2; i++) {
        d->stride[i] = ig_aten_int(call, STRIDE + i);
        d->pad[i] = ig_aten_int(call, PAD + i);
        d->dilation[i] = ig_aten_int(call, DILATION + i);
    }
    d->groups = ig_aten_int(call, GROUPS);
    d->offset_groups = ig_aten_int(call, GROUPS + 1);
    if (call->e->status != IG_OK) {
        return false;
    }
    if (d->x->type->rank != 4 || d->weight->type->rank != 4 ||
        d->offset->type->rank != 4 || d->groups < 1 || d->offset_groups < 1) {
        ig_expr_fail(call->e, IG_INVALID,
                     "deform_conv2d of tensors that are not images");
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        d->out[i] = ig_expr_extent(call->e, d->offset, 2 + i);
        d->kernel[i] = ig_expr_extent(call->e, d->weight, 2 + i);
    }
    d->x = ig_aten_wide(call, d->x);
    d->wide = d->x ? (ig_dtype)d->x->type->dtype : IG_DT_f32;
    return d->x != NULL;
}

/* The positions along axis `number` without offsets: [1, 1, K, rows or 1,
 * columns or 1]. */
static ig_value *sample_grid(ig_ts_call *call, const deform *d, uint32_t index) {
    assert(index < 2 && "rows and columns");
    ig_dim count = ig_dim_mul(call->module, d->kernel[0], d->kernel[1]);
    ig_value *k = ig_expr_axis_iota(call->e, 5, 2, count);
    ig_value *columns = ig_expr_dim(call->e, d->kernel[1], IG_DT_i64);
    k = ig_expr_map2(call->e, index ? IG_OP_mod : IG_OP_div, k, columns);
    k = ig_expr_with(call->e, IG_OP_mul, k, (double)d->dilation[index]);
    ig_value *at = ig_expr_axis_iota(call->e, 5, 3 + index, d->out[index]);
    at = ig_expr_with(call->e, IG_OP_mul, at, (double)d->stride[index]);
    at = ig_expr_with(call->e, IG_OP_sub, at, (double)d->pad[index]);
    return ig_aten_cast(call, ig_build_add(call->e, at, k), d->wide);
}

/* Neighbours of places; those outside of the image weigh nothing. */
static ig_neighbours pixels_around(ig_ts_call *call, ig_value *position,
                                   ig_dim extent) {
    ig_value *ids[2], *weights[2];
    uint32_t rank = position ? position->type->rank : 0;
    ig_dim last_dim = ig_dim_sub(call->module, extent, ig_dim_of(1));
    ig_dtype dtype = position ? (ig_dtype)position->type->dtype : IG_DT_f32;
    ig_value *last = ig_expr_dim(call->e, last_dim, dtype);
    ig_value *low = ig_build_floor(call->e, position);
    ig_value *part = ig_build_sub(call->e, position, low);
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *at = ig_expr_with(call->e, IG_OP_add, low, i);
        ig_value *own = i ? part : ig_expr_number_with(call->e, IG_OP_sub, 1, part);
        ig_value *is_in = ig_build_and(call->e, ig_expr_with(call->e, IG_OP_ge, at, 0),
                                       ig_build_le(call->e, at, last));
        own = ig_build_where(call->e, is_in, own, ig_expr_number(call->e, dtype, 0));
        at = ig_build_min(call->e, ig_expr_with(call->e, IG_OP_max, at, 0), last);
        ids[i] = ig_expr_unsqueeze(call->e, ig_aten_cast(call, at, IG_DT_i64), rank);
        weights[i] = ig_expr_unsqueeze(call->e, own, rank);
    }
    return (ig_neighbours){ ig_expr_concat(call->e, rank, ids, 2),
                            ig_expr_concat(call->e, rank, weights, 2) };
}

static ig_neighbours move_points(ig_ts_call *call, const deform *d, ig_value *offsets,
                                 uint32_t index) {
    ig_value *own = ig_expr_select(call->e, offsets, 3, ig_dim_of(index));
    ig_value *at = ig_build_add(call->e, sample_grid(call, d, index), own);
    return pixels_around(call, at, ig_expr_extent(call->e, d->x, 2 + index));
}

/* Pixels of each offset group as rows of its channels. */
static ig_value *flatten_pixels(ig_expr *e, const deform *d, ig_dim channels) {
    const ig_dim *dims = d->x->type->dims;
    ig_dim apart[] = { dims[0], ig_dim_of(d->offset_groups), channels, dims[2],
                       dims[3] };
    ig_dim rows[] = { dims[0], ig_dim_of(d->offset_groups), dims[2], dims[3] };
    ig_value *x = ig_expr_reshape(e, d->x, 5, apart);
    x = ig_expr_transpose(e, x, (int64_t[]){ 0, 1, 3, 4, 2 });
    return ig_expr_reshape(e, x, 2,
                           (ig_dim[]){ ig_dim_product(e->module, rows, 4), channels });
}

/* [N, offset groups, K, rows, columns, channels of an offset group] */
static ig_value *pick_corner(ig_ts_call *call, const deform *d, ig_dim channels) {
    assert(d->offset_groups >= 1 && "open_deform has checked the groups");
    static const uint32_t rows[] = { 0, 1, 2, 3, 4, 5 },
                          columns[] = { 0, 1, 2, 3, 4, 6 };
    ig_module *m = call->module;
    ig_dim count = ig_dim_mul(m, d->kernel[0], d->kernel[1]);
    ig_dim images = ig_expr_extent(call->e, d->x, 0),
           groups = ig_dim_of(d->offset_groups);
    ig_dim apart[] = { images, groups, count, ig_dim_of(2), d->out[0], d->out[1] };
    ig_dim flat[] = { images, groups, count, d->out[0], d->out[1] };
    ig_value *offsets = ig_aten_cast(call, d->offset, d->wide);
    offsets = ig_expr_reshape(call->e, offsets, 6, apart);
    ig_neighbours y = move_points(call, d, offsets, 0),
                  x = move_points(call, d, offsets, 1);
    ig_value *weights = ig_build_mul(call->e,
                                     ig_vision_spread(call, y.weights, 7, rows),
                                     ig_vision_spread(call, x.weights, 7, columns));
    if (ig_aten_bool(call, GROUPS + 2)) {
        ig_value *mask = ig_aten_cast(call, ig_aten_tensor(call, MASK), d->wide);
        mask = ig_expr_reshape(call->e, mask, 5, flat);
        weights = ig_build_mul(call->e, weights, ig_vision_spread(call, mask, 7, rows));
    }
    ig_value *first =
        ig_vision_columns(call->e, ig_expr_axis_iota(call->e, 7, 0, images), groups);
    first = ig_build_add(call->e, first, ig_expr_axis_iota(call->e, 7, 1, groups));
    ig_value *ids = ig_build_add(
        call->e, ig_vision_columns(call->e, first, ig_expr_extent(call->e, d->x, 2)),
        ig_vision_spread(call, y.ids, 7, rows));
    ids = ig_build_add(
        call->e, ig_vision_columns(call->e, ids, ig_expr_extent(call->e, d->x, 3)),
        ig_vision_spread(call, x.ids, 7, columns));
    ig_dim bags[] = { ig_dim_product(m, flat, 5), ig_dim_of(4) };
    ig_value *sums = ig_compose_sum_rows(call->e, flatten_pixels(call->e, d, channels),
                                         ig_expr_reshape(call->e, ids, 2, bags),
                                         ig_expr_reshape(call->e, weights, 2, bags));
    ig_dim all[] = { images, groups, count, d->out[0], d->out[1], channels };
    return ig_expr_reshape(call->e, sums, 6, all);
}

/* deform_conv2d(input, weight, offset, mask, bias, strides, pads, dilations, groups,
 * offset_groups, use_mask) */
ig_status ig_ts_op_tv_deform_conv(ig_ts_call *call) {
    deform d;
    if (!open_deform(call, &d)) {
        return call->e->status;
    }
    ig_module *m = call->module;
    const ig_dim *w = d.weight->type->dims;
    ig_dtype dtype = (ig_dtype)d.weight->type->dtype;
    ig_dim images = ig_expr_extent(call->e, d.x, 0),
           positions = ig_dim_mul(m, d.out[0], d.out[1]);
    ig_dim depth = ig_dim_product(m, w + 1, 3);
    ig_dim each = ig_dim_exact_div(m, w[0], ig_dim_of(d.groups));
    ig_dim columns[] = { images, ig_dim_of(d.groups), depth, positions };
    ig_dim filters[] = { ig_dim_of(d.groups), each, depth };
    ig_dim dims[] = { images, w[0], d.out[0], d.out[1] };
    ig_dim channels = ig_dim_exact_div(m, ig_expr_extent(call->e, d.x, 1),
                                       ig_dim_of(d.offset_groups));
    ig_value *x = pick_corner(call, &d, channels);
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 1, 5, 2, 3, 4 });
    x = ig_expr_reshape(call->e, x, 4, columns);
    ig_value *weight = ig_aten_cast(call, d.weight, d.wide);
    weight = ig_expr_reshape(call->e, weight, 3, filters);
    ig_value *y = ig_expr_reshape(call->e, ig_expr_matmul(call->e, weight, x), 4, dims);
    ig_value *bias = ig_aten_cast(call, ig_aten_tensor(call, BIAS), d.wide);
    y = ig_build_add(call->e, y, ig_vision_spread(call, bias, 4, (uint32_t[]){ 1 }));
    return ig_aten_give(call, ig_aten_cast(call, y, dtype));
}
