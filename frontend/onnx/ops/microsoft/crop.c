/* CropAndResize: regions of images, each resampled to one size.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a region are `count` positions from start * (H - 1) to end * (H - 1), the one
 * row of a crop of one its middle; columns likewise.  A position outside of the image
 * gives a number.  ONNX Runtime computes positions in f32, as is done here.
 */
#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

typedef struct crop {
    ig_onnx_node *node;
    ig_expr *e;
    ig_value *x, *rois; /* [N, C, H, W]; [R, 4] */
    ig_value *image;    /* i64 [R] */
    ig_dim regions, size[2];
} crop;

/* ---- positions ---- */

/* A column of the regions as [R, 1]. */
static ig_value *region_column(const crop *c, uint32_t column) {
    return ig_expr_unsqueeze(c->e, ig_expr_select(c->e, c->rois, 1, ig_dim_of(column)),
                             1);
}

/* Along an axis, f32 [R, count]. */
static ig_value *find_positions(const crop *c, uint32_t axis) {
    ig_expr *e = c->e;
    ig_dim count = c->size[axis], one = ig_dim_of(1);
    ig_dim gaps = ig_dim_sub(e->module, count, one);
    ig_value *last = ig_expr_dim(
        e, ig_dim_sub(e->module, ig_onnx_extent(e, c->x, 2 + axis), one), IG_DT_f32);
    ig_value *start = region_column(c, axis), *end = region_column(c, 2 + axis);
    ig_value *n = ig_expr_axis_iota(e, 2, 1, count);
    ig_value *step = ig_build_mul(e, ig_build_sub(e, end, start), last);
    step = ig_build_div(e, step,
                        ig_expr_dim(e, ig_dim_max(e->module, gaps, one), IG_DT_f32));
    ig_value *first = ig_build_mul(e, start, last);
    ig_value *at = ig_build_mul(e, ig_expr_cast(e, n, IG_DT_f32), step);
    at = ig_build_add(e, first, at);
    ig_value *is_last = ig_build_eq(e, n, ig_expr_dim(e, gaps, IG_DT_i64));
    at = ig_build_where(e, is_last, ig_build_mul(e, end, last), at);
    at = ig_build_where(e, ig_expr_with(e, IG_OP_eq, n, 0), first, at);
    ig_value *middle = ig_expr_cast(e, ig_build_add(e, start, end), IG_DT_f64);
    middle = ig_build_mul(e, ig_expr_with(e, IG_OP_mul, middle, 0.5),
                          ig_expr_cast(e, last, IG_DT_f64));
    ig_value *is_one = ig_build_eq(e, ig_expr_dim(e, count, IG_DT_i64),
                                   ig_expr_integer(e, IG_DT_i64, 1));
    return ig_build_where(e, is_one, ig_expr_cast(e, middle, IG_DT_f32), at);
}

typedef struct axis_pixels {
    ig_value *is_inside;      /* bool [R, count] */
    ig_value *low, *high;     /* i64 [R, count] */
    ig_value *share, *middle; /* f32: how far from the low one; i64: the nearest */
} axis_pixels;

static axis_pixels find_pixels(const crop *c, uint32_t axis) {
    ig_expr *e = c->e;
    ig_value *at = find_positions(c, axis);
    ig_dim extent = ig_onnx_extent(e, c->x, 2 + axis);
    ig_value *last = ig_expr_dim(e, ig_dim_sub(e->module, extent, ig_dim_of(1)),
                                 IG_DT_f32);
    axis_pixels p = { .is_inside = ig_build_and(e, ig_expr_with(e, IG_OP_ge, at, 0),
                                                ig_build_le(e, at, last)) };
    at = ig_build_where(e, p.is_inside, at, ig_expr_number(e, IG_DT_f32, 0));
    ig_value *low = ig_build_floor(e, at);
    p.share = ig_build_sub(e, at, low);
    ig_value *is_far = ig_expr_with(e, IG_OP_ge, p.share, 0.5);
    p.low = ig_expr_cast(e, low, IG_DT_i64);
    p.high = ig_expr_cast(e, ig_build_ceil(e, at), IG_DT_i64);
    p.middle = ig_build_where(e, is_far, p.high, p.low);
    return p;
}

/* ---- pixels ---- */

/* [R, rows] and [R, columns] as [R, 1, rows, 1] and [R, 1, 1, columns]. */
static ig_value *spread_axis(ig_expr *e, ig_value *x, uint32_t axis) {
    x = ig_expr_unsqueeze(e, x, 1);
    return ig_expr_unsqueeze(e, x, axis == 0 ? 3 : 2);
}

/* Pixels (y, x) of each region's own image, [R, C, rows, columns]. */
static ig_value *take_pixels(const crop *c, ig_value *y, ig_value *x) {
    ig_expr *e = c->e;
    const ig_dim *dims = c->x->type->dims;
    ig_value *plane = ig_build_mul(e, c->image, ig_expr_dim(e, dims[1], IG_DT_i64));
    plane = ig_build_add(e, ig_expr_unsqueeze_to(e, plane, 4),
                         ig_expr_axis_iota(e, 4, 1, dims[1]));
    ig_value *row = ig_build_mul(e, plane, ig_expr_dim(e, dims[2], IG_DT_i64));
    row = ig_build_add(e, row, spread_axis(e, y, 0));
    row = ig_build_mul(e, row, ig_expr_dim(e, dims[3], IG_DT_i64));
    ig_value *at = ig_build_add(e, row, spread_axis(e, x, 1));
    return ig_expr_gather(e, ig_expr_flatten(e, c->x), at, 0, IG_NEGATIVE_error);
}

/* low + (high - low) * share */
static ig_value *blend_pixels(ig_expr *e, ig_value *low, ig_value *high,
                              ig_value *share) {
    return ig_build_add(e, low, ig_build_mul(e, ig_build_sub(e, high, low), share));
}

static ig_value *sample_crops(const crop *c, bool is_nearest) {
    ig_expr *e = c->e;
    axis_pixels y = find_pixels(c, 0), x = find_pixels(c, 1);
    double outside = ig_onnx_attr_float(c->node, "extrapolation_value", 0);
    ig_value *pixels = NULL;
    if (is_nearest) {
        pixels = take_pixels(c, y.middle, x.middle);
    } else {
        ig_value *share = spread_axis(e, x.share, 1);
        ig_value *top = blend_pixels(e, take_pixels(c, y.low, x.low),
                                     take_pixels(c, y.low, x.high), share);
        ig_value *bottom = blend_pixels(e, take_pixels(c, y.high, x.low),
                                        take_pixels(c, y.high, x.high), share);
        pixels = blend_pixels(e, top, bottom, spread_axis(e, y.share, 0));
    }
    ig_value *is_inside = ig_build_and(e, spread_axis(e, y.is_inside, 0),
                                       spread_axis(e, x.is_inside, 1));
    return ig_build_where(e, is_inside, pixels, ig_expr_number(e, IG_DT_f32, outside));
}

/* ---- the node ---- */

static void read_size(crop *c) {
    ig_dims_value known;
    ig_value *list = ig_onnx_list_input(c->node, 3, ig_dim_of(2),
                                        "a crop has another number of extents than 2");
    if (list && ig_onnx_shape(c->node, 3, &known) && known.count == 2) {
        c->size[0] = known.dims[0];
        c->size[1] = known.dims[1];
    } else if (list) {
        ig_expr_bind_dims(c->e, ig_expr_cast(c->e, list, IG_DT_i64), 2,
                          "an extent that the model computes", c->size);
    }
}

/* X [N, C, H, W], rois [R, 4] as y, x, y, x from 0 to 1, batch_indices [R],
 * crop_size */
ig_status ig_onnx_import_crop_and_resize(ig_onnx_node *node) {
    ig_expr *e = node->e;
    crop c = { .node = node, .e = e, .x = ig_onnx_ranked_input(node, 0, 4) };
    c.rois = ig_onnx_ranked_input(node, 1, 2);
    ig_str mode = ig_onnx_attr_str(node, "mode", "bilinear");
    bool is_nearest = ig_str_equal(mode, ig_str_of("nearest"));
    if (!is_nearest && !ig_str_equal(mode, ig_str_of("bilinear"))) {
        return ig_onnx_fail(node, IG_INVALID,
                            "mode is %.*s, expected bilinear or nearest",
                            (int)mode.size, mode.data);
    }
    (void)ig_onnx_float_input(node, 0);
    (void)ig_onnx_float_input(node, 1);
    IG_TRY(e->status);
    c.regions = ig_onnx_extent(e, c.rois, 0);
    ig_expr_guard_equal(e, ig_onnx_extent(e, c.rois, 1), ig_dim_of(4),
                        "a region has another number of coordinates than 4");
    ig_value *index = ig_onnx_list_input(node, 2, c.regions,
                                         "each region needs the index of its image");
    IG_TRY(e->status);
    c.image = ig_onnx_index_among(node, index, ig_onnx_extent(e, c.x, 0));
    read_size(&c);
    IG_TRY(e->status);
    c.x = ig_expr_cast(e, c.x, IG_DT_f32);
    c.rois = ig_expr_cast(e, c.rois, IG_DT_f32);
    return ig_onnx_give(node,
                        ig_expr_like(e, sample_crops(&c, is_nearest), node->inputs[0]));
}
