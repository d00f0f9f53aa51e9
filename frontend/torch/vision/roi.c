/* Regions of images, averaged in bins.
 * SPDX-License-Identifier: Apache-2.0
 *
 * roi_align takes a grid of places in every bin and averages their interpolated values;
 * ps_roi_align takes bin (i, j) from channels of its own; ps_roi_pool averages whole
 * pixels, by four corners of running sums over the image.
 *
 *     ids, weights    [rois, rows, columns, grid rows, 2, grid columns, 2]
 *
 * are the pixels of a bag a bin.  Without a sampling ratio a bin has as many places as
 * pixels, rounded up: the largest bin decides about the grid, and weights are 0 beyond
 * a bin's own.
 */
#include "frontend/torch/vision/vision.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

typedef struct regions {
    ig_value *x, *rois; /* [N, C, H, W], [K, 5] */
    ig_dtype dtype;
    double scale;
    ig_dim pooled[2];
    int64_t ratio;
    bool is_aligned, has_own_channels;
} regions;

static ig_value *column_of(ig_expr *e, const regions *r, uint32_t index) {
    assert(index < 5 && "a region is an image and four edges");
    return ig_expr_select(e, r->rois, 1, ig_dim_of(index));
}

static bool open_regions(ig_ts_call *call, regions *r) {
    r->x = ig_aten_tensor(call, 0);
    r->rois = ig_aten_tensor(call, 1);
    r->scale = ig_aten_float(call, 2);
    r->pooled[0] = ig_aten_dim(call, 3);
    r->pooled[1] = ig_aten_dim(call, 4);
    if (call->e->status != IG_OK) {
        return false;
    }
    r->dtype = (ig_dtype)r->x->type->dtype;
    r->x = ig_aten_wide(call, r->x);
    r->rois = ig_aten_cast(call, r->rois, (ig_dtype)r->x->type->dtype);
    if (r->x->type->rank != 4 || r->rois->type->rank != 2) {
        ig_expr_fail(call->e, IG_INVALID, "an image of rank %u, regions of rank %u",
                     r->x->type->rank, r->rois->type->rank);
    }
    return call->e->status == IG_OK;
}

/* ---- places along one axis ---- */

typedef struct axis {
    ig_neighbours at; /* [K, bins, grid, 2] */
    ig_value *grid;   /* places in a bin: float [K] */
} axis;

/* Which of the numbers of a grid each region uses: 1 or 0, [K, 1, grid]. */
static ig_value *in_use(ig_ts_call *call, ig_value *indices, ig_value *grid) {
    ig_value *max = ig_vision_spread(call, grid, 3, (uint32_t[]){ 0 });
    ig_value *is_used = ig_build_lt(call->e, indices, max);
    return grid ? ig_aten_cast(call, is_used, (ig_dtype)grid->type->dtype) : NULL;
}

/* Numbers of the grid's places, float [1, 1, grid]. */
static ig_value *grid_indices(ig_ts_call *call, const regions *r, ig_value *grid) {
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    ig_value *indices;
    if (r->ratio > 0) {
        indices = ig_expr_iota(call->e, IG_DT_i64, ig_dim_of(r->ratio));
    } else {
        ig_dim one = ig_dim_of(1);
        ig_value *min = ig_expr_reshape(call->e, ig_expr_number(call->e, dtype, 1), 1,
                                        &one);
        ig_value *all = ig_expr_concat(call->e, 0, (ig_value *[]){ grid, min }, 2);
        all = ig_expr_reduce_axis(call->e, IG_REDUCE_max, all, 0, false);
        ig_value *range[] = { ig_expr_integer(call->e, IG_DT_i64, 0),
                              ig_aten_cast(call, all, IG_DT_i64),
                              ig_expr_integer(call->e, IG_DT_i64, 1) };
        indices = ig_expr_make(call->e, IG_OP_range, range, 3, NULL);
    }
    return ig_vision_spread(call, ig_aten_cast(call, indices, dtype), 3,
                            (uint32_t[]){ 2 });
}

/* The pixels around places, which count from the middle of pixels; those more than one
 * pixel outside are 0. */
static ig_neighbours pixels_around(ig_ts_call *call, ig_value *position,
                                   ig_dim extent) {
    ig_expr *e = call->e;
    ig_neighbours none = { NULL, NULL };
    if (!position) {
        return none;
    }
    ig_dtype dtype = (ig_dtype)position->type->dtype;
    uint32_t rank = position->type->rank;
    ig_dim last_dim = ig_dim_sub(call->module, extent, ig_dim_of(1));
    ig_value *last = ig_expr_dim(e, last_dim, dtype);
    ig_value *end = ig_expr_dim(e, extent, dtype);
    ig_value *is_in = ig_build_and(e, ig_expr_with(e, IG_OP_ge, position, -1),
                                   ig_build_le(e, position, end));
    position = ig_build_min(e, ig_expr_with(e, IG_OP_max, position, 0), last);
    ig_value *low = ig_build_floor(e, position);
    ig_value *high = ig_build_min(e, ig_expr_with(e, IG_OP_add, low, 1), last);
    ig_value *part = ig_build_sub(e, position, low);
    ig_value *zero = ig_expr_number(e, dtype, 0);
    ig_value *weights[] = {
        ig_build_where(e, is_in, ig_expr_number_with(e, IG_OP_sub, 1, part), zero),
        ig_build_where(e, is_in, part, zero)
    };
    ig_value *ids[] = { low, high };
    for (uint32_t i = 0; i < 2; i++) {
        ids[i] = ig_expr_unsqueeze(e, ig_aten_cast(call, ids[i], IG_DT_i64), rank);
        weights[i] = ig_expr_unsqueeze(e, weights[i], rank);
    }
    return (ig_neighbours){ ig_expr_concat(e, rank, ids, 2),
                            ig_expr_concat(e, rank, weights, 2) };
}

/* Axis 0: rows, 1: columns. */
static axis sample_points(ig_ts_call *call, const regions *r, uint32_t index) {
    ig_expr *e = call->e;
    assert(index < 2 && "rows and columns");
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    double shift = r->is_aligned ? 0.5 : 0;
    uint32_t first[] = { 0 };
    ig_value *ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = column_of(e, r, 2 - index + 2 * i);
        ends[i] = ig_expr_with(e, IG_OP_mul, ends[i], r->scale);
        ends[i] = ig_expr_with(e, IG_OP_sub, ends[i], shift);
    }
    ig_value *size = ig_build_sub(e, ends[1], ends[0]);
    size = r->is_aligned ? size : ig_expr_with(e, IG_OP_max, size, 1);
    ig_dim bins = r->pooled[index];
    ig_value *bin = ig_build_div(e, size, ig_expr_dim(e, bins, dtype));
    axis a = { .grid = ig_build_ceil(e, bin) };
    if (r->ratio > 0) {
        a.grid = ig_expr_fill(e, dtype, 1, r->rois->type->dims, (double)r->ratio);
    }
    ig_value *indices = grid_indices(call, r, a.grid);
    ig_value *wide = ig_vision_spread(call, bin, 3, first);
    ig_value *begin = ig_aten_cast(call, ig_expr_axis_iota(e, 3, 1, bins), dtype);
    begin = ig_build_mul(e, begin, wide);
    begin = ig_build_add(e, ig_vision_spread(call, ends[0], 3, first), begin);
    ig_value *within = ig_build_mul(e, ig_expr_with(e, IG_OP_add, indices, 0.5), wide);
    within = ig_build_div(e, within, ig_vision_spread(call, a.grid, 3, first));
    a.at = pixels_around(call, ig_build_add(e, begin, within),
                         ig_expr_extent(e, r->x, 2 + index));
    ig_value *used = in_use(call, indices, a.grid);
    used = used ? ig_expr_unsqueeze(e, used, 3) : NULL;
    a.at.weights = ig_build_mul(e, a.at.weights, used);
    return a;
}

/* ---- bags of pixels ---- */

/* [N, C, H, W] as rows of channels, pixel by pixel; with channels of their own bins
 * come before the rows of pixels. */
static ig_value *flatten_pixels(ig_expr *e, const regions *r, ig_dim bins,
                                ig_dim channels) {
    ig_module *m = e->module;
    const ig_dim *d = r->x->type->dims;
    ig_dim apart[] = { d[0], channels, bins, d[2], d[3] };
    ig_dim count = ig_dim_mul(m, ig_dim_mul(m, d[0], bins), ig_dim_mul(m, d[2], d[3]));
    ig_value *x = ig_expr_reshape(e, r->x, 5, apart);
    x = ig_expr_transpose(e, x, (int64_t[]){ 0, 2, 3, 4, 1 });
    return ig_expr_reshape(e, x, 2, (ig_dim[]){ count, channels });
}

/* Each bin's first row of pixels: [K, rows, columns, 1 …] of `rank`. */
static ig_value *first_rows(ig_ts_call *call, const regions *r, uint32_t rank,
                            ig_dim bins) {
    ig_value *image = ig_aten_cast(call, column_of(call->e, r, 0), IG_DT_i64);
    ig_value *first = ig_vision_columns(
        call->e, ig_vision_spread(call, image, rank, (uint32_t[]){ 0 }), bins);
    if (r->has_own_channels) {
        ig_value *i = ig_expr_axis_iota(call->e, rank, 1, r->pooled[0]);
        ig_value *j = ig_expr_axis_iota(call->e, rank, 2, r->pooled[1]);
        i = ig_build_add(call->e, ig_vision_columns(call->e, i, r->pooled[1]), j);
        first = ig_build_add(call->e, first, i);
    }
    return ig_vision_columns(call->e, first, ig_expr_extent(call->e, r->x, 2));
}

/* Bags [K * rows * columns, length] as [K, C, rows, columns]. */
static ig_value *give_bins(ig_ts_call *call, const regions *r, ig_value *y,
                           ig_dim channels) {
    ig_dim dims[] = { ig_expr_extent(call->e, r->rois, 0), r->pooled[0], r->pooled[1],
                      channels };
    y = ig_expr_reshape(call->e, y, 4, dims);
    y = ig_expr_transpose(call->e, y, (int64_t[]){ 0, 3, 1, 2 });
    return ig_aten_cast(call, y, r->dtype);
}

static ig_value *flat_bags(ig_expr *e, const regions *r, ig_value *x) {
    ig_module *m = e->module;
    if (!x) {
        return NULL;
    }
    ig_dim dims[] = { ig_dim_mul(m, ig_expr_extent(e, r->rois, 0),
                                 ig_dim_mul(m, r->pooled[0], r->pooled[1])),
                      ig_dim_product(m, x->type->dims + 3, x->type->rank - 3u) };
    return ig_expr_reshape(e, x, 2, dims);
}

/* Which channel each of the result comes from, i32 [K, C, rows, columns]. */
static ig_value *map_box(ig_expr *e, const regions *r, ig_dim channels) {
    ig_module *m = e->module;
    ig_dim each = ig_dim_mul(m, channels, ig_dim_mul(m, r->pooled[0], r->pooled[1]));
    ig_dim dims[] = { ig_expr_extent(e, r->rois, 0), channels, r->pooled[0],
                      r->pooled[1] };
    ig_value *x = ig_expr_reshape(e, ig_expr_iota(e, IG_DT_i32, each), 3, dims + 1);
    return ig_expr_expand(e, x, 4, dims);
}

/* roi_align(input, rois, spatial_scale, rows, columns, sampling_ratio, aligned);
 * variant 1: ps_roi_align, without the last and with the mapping of channels */
ig_status ig_ts_op_tv_roi_align(ig_ts_call *call) {
    ig_expr *e = call->e;
    static const uint32_t rows[] = { 0, 1, 3, 4 }, columns[] = { 0, 2, 5, 6 };
    regions r = { .has_own_channels = call->row->variant == 1 };
    if (!open_regions(call, &r)) {
        return e->status;
    }
    ig_module *m = call->module;
    r.ratio = ig_aten_int(call, 5);
    r.is_aligned = r.has_own_channels || ig_aten_bool(call, 6);
    ig_dim bins = r.has_own_channels ? ig_dim_mul(m, r.pooled[0], r.pooled[1])
                                     : ig_dim_of(1);
    ig_dim channels = ig_dim_exact_div(m, ig_expr_extent(e, r.x, 1), bins);
    axis y = sample_points(call, &r, 0), x = sample_points(call, &r, 1);
    IG_TRY(e->status);
    ig_value *ids = ig_build_add(e, first_rows(call, &r, 7, bins),
                                 ig_vision_spread(call, y.at.ids, 7, rows));
    ids = ig_build_add(e, ig_vision_columns(e, ids, ig_expr_extent(e, r.x, 3)),
                       ig_vision_spread(call, x.at.ids, 7, columns));
    ig_value *count = ig_build_mul(e, y.grid, x.grid);
    count = ig_expr_with(e, IG_OP_max, count, 1);
    count = ig_vision_spread(call, count, 7, rows);
    ig_value *weights = ig_build_mul(e, ig_vision_spread(call, y.at.weights, 7, rows),
                                     ig_vision_spread(call, x.at.weights, 7, columns));
    weights = ig_build_div(e, weights, count);
    IG_TRY(e->status);
    ids = ig_expr_expand(e, ids, 7, weights->type->dims);
    ig_value *sums = ig_compose_sum_rows(e, flatten_pixels(e, &r, bins, channels),
                                         flat_bags(e, &r, ids),
                                         flat_bags(e, &r, weights));
    IG_TRY(ig_aten_give(call, give_bins(call, &r, sums, channels)));
    return r.has_own_channels ? ig_ts_give(call, 1, map_box(e, &r, channels)) : IG_OK;
}

/* ---- whole pixels ---- */

/* Halves away from 0. */
static ig_value *round_away(ig_expr *e, ig_value *x) {
    ig_value *up = ig_build_floor(e, ig_expr_with(e, IG_OP_add, x, 0.5));
    ig_value *down = ig_build_ceil(e, ig_expr_with(e, IG_OP_sub, x, 0.5));
    return ig_build_where(e, ig_expr_with(e, IG_OP_lt, x, 0), down, up);
}

/* Begin and end of each bin along an axis, i64 [K, bins] each. */
static void whole_bins(ig_ts_call *call, const regions *r, uint32_t index,
                       ig_value **out_ends) {
    ig_expr *e = call->e;
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    uint32_t first[] = { 0 };
    ig_value *sides[2];
    for (uint32_t i = 0; i < 2; i++) {
        sides[i] = column_of(e, r, 2 - index + 2 * i);
        sides[i] = round_away(e, ig_expr_with(e, IG_OP_mul, sides[i], r->scale));
    }
    ig_value *size = ig_build_sub(e, sides[1], sides[0]);
    size = ig_expr_with(e, IG_OP_max, size, 1);
    ig_dim bins = r->pooled[index], extent = ig_expr_extent(e, r->x, 2 + index);
    ig_value *bin = ig_build_div(e, size, ig_expr_dim(e, bins, dtype));
    ig_value *last = ig_expr_dim(e, ig_dim_sub(call->module, extent, ig_dim_of(1)),
                                 dtype);
    bin = ig_vision_spread(call, bin, 2, first);
    ig_value *begin = ig_vision_spread(call, sides[0], 2, first);
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *at = ig_aten_cast(call, ig_expr_axis_iota(e, 2, 1, bins), dtype);
        at = ig_build_mul(e, ig_expr_with(e, IG_OP_add, at, i), bin);
        at = ig_expr_map1(e, i ? IG_OP_ceil : IG_OP_floor, at);
        at = ig_expr_with(e, IG_OP_max, ig_build_add(e, at, begin), 0);
        at = ig_build_min(e, at, last);
        out_ends[i] = ig_aten_cast(call, at, IG_DT_i64);
    }
}

/* Sums of all pixels above and left of each place: [N, C, H + 1, W + 1], f64. */
static ig_value *running_sums(ig_expr *e, ig_value *x) {
    for (int64_t along = 3; along >= 2; along--) {
        ig_cumsum_attrs attrs = { .axis = along, .complete = true };
        x = ig_build_cumsum(e, x, attrs);
    }
    return x;
}

/* Begins and ends on the last axis of [K, bins, 2]; their signs -1 and 1. */
static ig_value *both_ends(ig_expr *e, ig_value **ends) {
    ig_value *parts[] = { ig_expr_unsqueeze(e, ends[0], 2),
                          ig_expr_unsqueeze(e, ends[1], 2) };
    return ig_expr_concat(e, 2, parts, 2);
}

/* ps_roi_pool(input, rois, spatial_scale, rows, columns) */
ig_status ig_ts_op_tv_roi_pool(ig_ts_call *call) {
    ig_expr *e = call->e;
    static const uint32_t rows[] = { 0, 1, 3 }, columns[] = { 0, 2, 4 };
    static const double sign_of[] = { 1, -1, -1, 1 };
    regions r = { .has_own_channels = true };
    ig_value *y[2], *x[2];
    int64_t four = 4;
    if (!open_regions(call, &r)) {
        return e->status;
    }
    ig_module *m = call->module;
    ig_dim bins = ig_dim_mul(m, r.pooled[0], r.pooled[1]);
    ig_dim channels = ig_dim_exact_div(m, ig_expr_extent(e, r.x, 1), bins);
    whole_bins(call, &r, 0, y);
    whole_bins(call, &r, 1, x);
    ig_value *height = ig_build_sub(e, y[1], y[0]);
    ig_value *width = ig_build_sub(e, x[1], x[0]);
    ig_value *area = ig_build_mul(
        e, ig_vision_spread(call, ig_expr_with(e, IG_OP_max, height, 0), 5, rows),
        ig_vision_spread(call, ig_expr_with(e, IG_OP_max, width, 0), 5, columns));
    r.x = running_sums(e, ig_aten_cast(call, r.x, IG_DT_f64));
    IG_TRY(e->status);
    ig_value *ids = ig_build_add(e, first_rows(call, &r, 5, bins),
                                 ig_vision_spread(call, both_ends(e, y), 5, rows));
    ids = ig_build_add(e, ig_vision_columns(e, ids, ig_expr_extent(e, r.x, 3)),
                       ig_vision_spread(call, both_ends(e, x), 5, columns));
    ig_value *signs = ig_expr_reshape(
        e, ig_expr_constant(e, "constant", IG_DT_f64, 1, &four, sign_of), 5,
        (ig_dim[]){ ig_dim_of(1), ig_dim_of(1), ig_dim_of(1), ig_dim_of(2),
                    ig_dim_of(2) });
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    ig_value *weights = ig_build_div(e, signs, ig_aten_cast(call, area, IG_DT_f64));
    weights = ig_build_where(e, ig_expr_with(e, IG_OP_gt, area, 0), weights, zero);
    IG_TRY(e->status);
    ids = ig_expr_expand(e, ids, 5, weights->type->dims);
    ig_value *sums = ig_compose_sum_rows(e, flatten_pixels(e, &r, bins, channels),
                                         flat_bags(e, &r, ids),
                                         flat_bags(e, &r, weights));
    IG_TRY(ig_aten_give(call, give_bins(call, &r, sums, channels)));
    return ig_ts_give(call, 1, map_box(e, &r, channels));
}
