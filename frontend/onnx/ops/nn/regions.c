/* Regions of images: pooled, and chosen among boxes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * How many pixels or samples a bin has differs from region to region and is data: a
 * loop takes the k-th of every bin at once, as often as the largest bin has some.
 * Where the model says how many, averages are bags over rows of channels.
 */
#include "compose/boxes.h"
#include "compose/rows/pixels.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>

enum { MAX_SAMPLES = 8 }; /* along an axis of a bin that is one bag */

/* The regions of one node. */
typedef struct regions {
    ig_onnx_node *node;
    ig_expr *e;
    ig_value *x;       /* f32 or f64 [N, C, H, W], flattened to [N * C, H * W] */
    ig_value *image;   /* i64 [R] */
    const ig_type *of; /* x's type before */
    ig_dim count, bins[2];
    bool is_max;
    int64_t ratio; /* samples along each axis of a bin, 0: by its size */
    ig_value *start[2], *size[2], *samples[2]; /* by axis; size of a bin; see users */
} regions;

/* A per-region value [R] before the axes of bins: [R, 1, 1]. */
static ig_value *lift_region(ig_expr *e, ig_value *x) {
    return ig_expr_unsqueeze_to(e, x, 3);
}

static ig_value *read_column(const regions *r, ig_value *rois, uint32_t index) {
    return ig_expr_cast(r->e, ig_expr_select(r->e, rois, 1, ig_dim_of(index)),
                        (ig_dtype)r->x->type->dtype);
}

/* Bin numbers along an axis, at position `at` of 3. */
static ig_value *index_bins(const regions *r, uint32_t axis, uint32_t at) {
    ig_value *n = ig_expr_axis_iota(r->e, 3, at, r->bins[axis]);
    return ig_expr_cast(r->e, n, (ig_dtype)r->x->type->dtype);
}

/* Pixels (y, x) of every bin's own image, [R, C, rows, columns]; y and x are i64 [R,
 * rows, columns] and in range. */
static ig_value *take_pixels(const regions *r, ig_value *y, ig_value *x) {
    ig_expr *e = r->e;
    ig_value *width = ig_expr_dim(e, r->of->dims[3], IG_DT_i64);
    ig_value *channels = ig_expr_dim(e, r->of->dims[1], IG_DT_i64);
    ig_value *plane = ig_build_mul(e, r->image, channels);
    plane = ig_expr_unsqueeze_to(e, plane, 4);
    plane = ig_build_add(e, plane, ig_expr_axis_iota(e, 4, 1, r->of->dims[1]));
    ig_value *height = ig_expr_dim(e, r->of->dims[2], IG_DT_i64);
    ig_value *at = ig_build_add(e, ig_build_mul(e, y, width), x);
    at = ig_expr_unsqueeze(e, at, 1);
    plane = ig_build_mul(e, plane, ig_build_mul(e, height, width));
    return ig_expr_gather(e, r->x, ig_build_add(e, plane, at), 0, IG_NEGATIVE_error);
}

static void open_regions(ig_onnx_node *node, regions *r, uint32_t columns) {
    r->node = node;
    r->e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_value *rois = ig_onnx_ranked_input(node, 1, 2);
    (void)ig_onnx_ranked_input(node, 0, 4);
    if (ig_onnx_has_failed(node)) {
        return;
    }
    r->of = x->type;
    ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, rois, 1), ig_dim_of(columns),
                        "a region has another number of coordinates");
    r->count = ig_onnx_extent(node->e, rois, 0);
    r->x = ig_expr_flatten(node->e, ig_expr_widen(node->e, x));
}

/* ---- the loop over the places of a bin ---- */

/* The result of this trip joined with those before; `state` is [R, C, rows,
 * columns]. */
typedef ig_value *(*visit_fn)(const regions *r, ig_value *const at[2], ig_value *is_in,
                              ig_value *state);

static ig_value *find_largest(ig_expr *e, ig_value *counts) {
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *max = ig_expr_reduce(e, IG_REDUCE_max, counts, NULL, 0, false);
    return ig_build_max(e, max, zero); /* also where there are no regions */
}

/* Visits place (i, j) of all bins for i below the largest number of samples[0], j
 * below that of samples[1] (i64 [R, rows, columns] or less). */
static ig_value *visit_positions(regions *r, visit_fn visit, double initial) {
    ig_expr *e = r->e;
    ig_value *columns = find_largest(e, r->samples[1]);
    ig_value *trips = ig_build_mul(e, find_largest(e, r->samples[0]), columns);
    ig_dim dims[] = { r->count, r->of->dims[1], r->bins[0], r->bins[1] };
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    ig_value *operands[] = { trips, ig_expr_number(e, IG_DT_bool, 1),
                             ig_expr_fill(e, dtype, 4, dims, initial) };
    ig_builder outside = *e->builder;
    ig_op *op = ig_expr_open_loop(e, operands);
    if (!op) {
        return NULL;
    }
    ig_block *body = op->bodies[0];
    ig_value *some = ig_expr_with_integer(e, IG_OP_max, columns, 1);
    ig_value *at[] = { ig_build_div(e, body->args[0], some),
                       ig_build_mod(e, body->args[0], some, (ig_mod_attrs){ 0 }) };
    ig_value *is_in = ig_build_and(e, ig_build_lt(e, at[0], r->samples[0]),
                                   ig_build_lt(e, at[1], r->samples[1]));
    ig_value *next = visit(r, at, is_in, body->args[2]);
    if (next) {
        ig_make_yield(e->builder, (ig_value *[]){ body->args[1], next }, 2);
    }
    *e->builder = outside;
    return next ? ig_op_result(op, 0) : NULL;
}

/* ---- RoiAlign: averages or maxima of interpolated samples ---- */

typedef struct neighbours {
    ig_value *ids[2], *weights[2], *is_inside;
} neighbours;

/* The two pixels around a place along an axis; a place beyond the edge by more than
 * one pixel is outside. */
static neighbours find_neighbours(const regions *r, ig_value *position, uint32_t axis) {
    ig_expr *e = r->e;
    ig_dim extent = r->of->dims[2 + axis];
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    ig_value *size = ig_expr_dim(e, extent, dtype);
    ig_value *last = ig_expr_with(e, IG_OP_max, ig_expr_with(e, IG_OP_sub, size, 1), 0);
    neighbours n = { .is_inside = ig_build_and(e,
                                               ig_expr_with(e, IG_OP_ge, position, -1),
                                               ig_build_le(e, position, size)) };
    position = ig_build_where(e, n.is_inside, position, ig_expr_number(e, dtype, 0));
    position = ig_build_min(e, ig_expr_with(e, IG_OP_max, position, 0), last);
    ig_value *low = ig_build_floor(e, position);
    ig_value *high = ig_build_min(e, ig_expr_with(e, IG_OP_add, low, 1), last);
    n.weights[1] = ig_build_sub(e, position, low);
    n.weights[0] = ig_expr_number_with(e, IG_OP_sub, 1, n.weights[1]);
    n.ids[0] = ig_expr_cast(e, low, IG_DT_i64);
    n.ids[1] = ig_expr_cast(e, high, IG_DT_i64);
    return n;
}

/* Sample `at` of each bin along an axis, whose bins are `bins`. */
static ig_value *place_sample(const regions *r, uint32_t axis, ig_value *at,
                              ig_value *bins) {
    ig_expr *e = r->e;
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    ig_value *count = ig_expr_cast(e, r->samples[axis], dtype);
    ig_value *half = ig_expr_with(e, IG_OP_add, ig_expr_cast(e, at, dtype), 0.5);
    ig_value *part = ig_build_div(e, ig_build_mul(e, half, r->size[axis]), count);
    ig_value *bin = ig_build_mul(e, bins, r->size[axis]);
    return ig_build_add(e, ig_build_add(e, r->start[axis], bin), part);
}

static ig_value *visit_sample(const regions *r, ig_value *const at[2], ig_value *is_in,
                              ig_value *state) {
    ig_expr *e = r->e;
    ig_value *rows = index_bins(r, 0, 1), *columns = index_bins(r, 1, 2);
    neighbours y = find_neighbours(r, place_sample(r, 0, at[0], rows), 0);
    neighbours x = find_neighbours(r, place_sample(r, 1, at[1], columns), 1);
    ig_value *is_inside = ig_build_and(e, y.is_inside, x.is_inside), *sample = NULL;
    for (uint32_t i = 0; i < 4; i++) {
        ig_value *weight = ig_build_mul(e, y.weights[i / 2], x.weights[i % 2]);
        ig_value *part = take_pixels(r, y.ids[i / 2], x.ids[i % 2]);
        part = ig_build_mul(e, part, ig_expr_unsqueeze(e, weight, 1));
        ig_opcode join = r->is_max ? IG_OP_max : IG_OP_add;
        sample = i ? ig_expr_map2(e, join, sample, part) : part;
    }
    ig_value *zero = ig_expr_number(e, (ig_dtype)r->x->type->dtype, 0);
    sample = ig_build_where(e, ig_expr_unsqueeze(e, is_inside, 1), sample, zero);
    sample = ig_expr_map2(e, r->is_max ? IG_OP_max : IG_OP_add, state, sample);
    return ig_build_where(e, ig_expr_unsqueeze(e, is_in, 1), sample, state);
}

/* ---- averages of as many samples in every bin ---- */

/* [R, bins, samples, 2] of an axis as [R, rows, columns, samples, 2, samples, 2]. */
static ig_value *spread_axis(const regions *r, uint32_t axis, ig_value *x) {
    ig_dim dims[7];
    for (uint32_t d = 0; d < 7; d++) {
        dims[d] = ig_dim_of(1);
    }
    dims[0] = r->count;
    dims[1 + axis] = r->bins[axis];
    dims[3 + 2 * axis] = ig_dim_of(r->ratio);
    dims[4 + 2 * axis] = x ? x->type->dims[3] : dims[4];
    return ig_expr_reshape(r->e, x, 7, dims);
}

/* Pixels and weights of all samples along an axis, spread. */
static neighbours find_samples(const regions *r, uint32_t axis) {
    ig_expr *e = r->e;
    ig_value *at = ig_expr_axis_iota(e, 3, 2, ig_dim_of(r->ratio));
    neighbours n = find_neighbours(r, place_sample(r, axis, at, index_bins(r, axis, 1)),
                                   axis);
    ig_value *both[2][2];
    for (uint32_t i = 0; i < 2; i++) {
        both[0][i] = ig_expr_unsqueeze(e, n.ids[i], 3);
        both[1][i] = ig_expr_unsqueeze(e, n.weights[i], 3);
    }
    n.ids[0] = spread_axis(r, axis, ig_expr_concat(e, 3, both[0], 2));
    n.weights[0] = spread_axis(r, axis, ig_expr_concat(e, 3, both[1], 2));
    n.is_inside = spread_axis(r, axis, ig_expr_unsqueeze(e, n.is_inside, 3));
    return n;
}

/* [R, rows, columns, samples…] as bags. */
static ig_value *flatten_bags(const regions *r, ig_value *x, const ig_dim *dims) {
    x = ig_expr_expand(r->e, x, 7, dims);
    return ig_expr_merge_axes(r->e, ig_expr_merge_axes(r->e, x, 3, 6), 0, 2);
}

/* [R, C, rows, columns] */
static ig_value *average_bags(const regions *r) {
    ig_expr *e = r->e;
    neighbours y = find_samples(r, 0), x = find_samples(r, 1);
    ig_dim ratio = ig_dim_of(r->ratio), two = ig_dim_of(2);
    ig_dim all[] = { r->count, r->bins[0], r->bins[1], ratio, two, ratio, two };
    ig_value *row = ig_build_mul(e, ig_expr_unsqueeze_to(e, r->image, 7),
                                 ig_expr_dim(e, r->of->dims[2], IG_DT_i64));
    row = ig_build_add(e, row, y.ids[0]);
    row = ig_build_mul(e, row, ig_expr_dim(e, r->of->dims[3], IG_DT_i64));
    ig_value *ids = ig_build_add(e, row, x.ids[0]);
    ids = ig_build_where(e, ig_build_and(e, y.is_inside, x.is_inside), ids,
                         ig_expr_integer(e, IG_DT_i64, -1));
    ig_value *weights = ig_build_mul(e, y.weights[0], x.weights[0]);
    weights = ig_expr_with(e, IG_OP_div, weights, (double)(r->ratio * r->ratio));
    ig_value *table = ig_compose_pixel_rows(e,
                                            ig_expr_reshape(e, r->x, 4, r->of->dims));
    ig_value *sums = ig_compose_sum_rows(e, table, flatten_bags(r, ids, all),
                                         flatten_bags(r, weights, all));
    ig_dim apart[] = { r->count, r->bins[0], r->bins[1], r->of->dims[1] };
    return ig_expr_move_axis(e, ig_expr_reshape(e, sums, 4, apart), 3, 1);
}

/* Where a region begins, how large its bins are, and how many samples those have. */
static void read_axis(regions *r, uint32_t axis, double shift, ig_value *rois) {
    ig_expr *e = r->e;
    double scale = ig_onnx_attr_float(r->node, "spatial_scale", 1);
    int64_t given = r->ratio;
    ig_value *ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = ig_expr_with(e, IG_OP_mul, read_column(r, rois, 2 * i + 1 - axis),
                               scale);
        ends[i] = ig_expr_with(e, IG_OP_sub, ends[i], shift);
    }
    ig_value *length = ig_build_sub(e, ends[1], ends[0]);
    if (shift == 0) {
        length = ig_expr_with(e, IG_OP_max, length, 1);
    }
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    length = ig_build_div(e, length, ig_expr_dim(e, r->bins[axis], dtype));
    ig_value *count = given ? ig_expr_integer(e, IG_DT_i64, given)
                            : ig_expr_cast(e, ig_build_ceil(e, length), IG_DT_i64);
    r->start[axis] = lift_region(e, ends[0]);
    r->size[axis] = lift_region(e, length);
    ig_dim ones[] = { r->count, ig_dim_of(1), ig_dim_of(1) };
    r->samples[axis] = given ? ig_expr_expand(e, count, 3, ones)
                             : lift_region(e, count);
}

/* Versions before opset 16 (variant 1) do not shift by half a pixel. */
ig_status ig_onnx_import_roi_align(ig_onnx_node *node) {
    regions r = { 0 };
    open_regions(node, &r, 4);
    ig_value *image = ig_onnx_ranked_input(node, 2, 1);
    uint32_t mode = ig_onnx_attr_choice(node, "mode", "avg max");
    bool is_shifted = node->row->variant == 0 &&
                      !ig_onnx_attr_choice(node, "coordinate_transformation_mode",
                                           "half_pixel output_half_pixel");
    r.bins[0] = ig_dim_of(ig_onnx_attr_between(node, "output_height", 1, 1, INT32_MAX));
    r.bins[1] = ig_dim_of(ig_onnx_attr_between(node, "output_width", 1, 1, INT32_MAX));
    IG_TRY(node->e->status);
    ig_onnx_guard_extents(node, 1, 0, 2, 0);
    r.image = ig_onnx_index_among(node, image,
                                  ig_onnx_extent(node->e, node->inputs[0], 0));
    r.is_max = mode == 1;
    r.ratio = ig_onnx_attr_between(node, "sampling_ratio", 0, 0, INT32_MAX);
    for (uint32_t axis = 0; axis < 2; axis++) {
        read_axis(&r, axis, is_shifted ? 0.5 : 0, node->inputs[1]);
    }
    if (r.ratio > 0 && r.ratio <= MAX_SAMPLES && !r.is_max) {
        return ig_onnx_give(node,
                            ig_expr_like(node->e, average_bags(&r), node->inputs[0]));
    }
    ig_value *y = visit_positions(&r, visit_sample, r.is_max ? -(double)INFINITY : 0);
    ig_value *count = ig_build_mul(node->e, r.samples[0], r.samples[1]);
    ig_value *has_some = ig_expr_with_integer(node->e, IG_OP_gt, count, 0);
    has_some = ig_expr_unsqueeze(node->e, has_some, 1);
    count = ig_expr_with_integer(node->e, IG_OP_max, count, 1);
    if (!r.is_max && y) {
        count = ig_expr_unsqueeze(node->e, ig_expr_like(node->e, count, y), 1);
        y = ig_build_div(node->e, y, count);
    }
    y = y ? ig_build_where(node->e, has_some, y,
                           ig_expr_number(node->e, (ig_dtype)y->type->dtype, 0))
          : NULL;
    return ig_onnx_give(node, ig_expr_like(node->e, y, node->inputs[0]));
}

/* ---- MaxRoiPool: maxima of whole pixels ---- */

static ig_value *visit_pixel(const regions *r, ig_value *const at[2], ig_value *is_in,
                             ig_value *state) {
    ig_expr *e = r->e;
    ig_value *ids[2];
    for (uint32_t i = 0; i < 2; i++) {
        ig_dim last = ig_dim_sub(e->module, r->of->dims[2 + i], ig_dim_of(1));
        ids[i] = ig_build_add(e, r->start[i], at[i]);
        ids[i] = ig_build_min(e, ids[i], ig_expr_dim(e, last, IG_DT_i64));
    }
    ig_value *pixel = ig_build_max(e, state, take_pixels(r, ids[0], ids[1]));
    return ig_build_where(e, ig_expr_unsqueeze(e, is_in, 1), pixel, state);
}

/* Ties away from 0, as C's round. */
static ig_value *round_away(ig_expr *e, ig_value *x) {
    ig_value *half = ig_expr_with(e, IG_OP_mul, ig_build_sign(e, x), 0.5);
    return ig_build_trunc(e, ig_build_add(e, x, half));
}

/* Where pixels of each bin begin (start) and how many there are (samples), clipped to
 * the image. */
static void read_pool_axis(regions *r, uint32_t axis, ig_value *rois) {
    ig_expr *e = r->e;
    double scale = ig_onnx_attr_float(r->node, "spatial_scale", 1);
    ig_value *ends[2], *edges[2];
    for (uint32_t i = 0; i < 2; i++) {
        ends[i] = ig_expr_with(e, IG_OP_mul, read_column(r, rois, 2 * i + 2 - axis),
                               scale);
        ends[i] = lift_region(e, round_away(e, ends[i]));
    }
    ig_value *length = ig_expr_with(e, IG_OP_add, ig_build_sub(e, ends[1], ends[0]), 1);
    length = ig_expr_with(e, IG_OP_max, length, 1);
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    length = ig_build_div(e, length, ig_expr_dim(e, r->bins[axis], dtype));
    ig_value *extent = ig_expr_dim(e, r->of->dims[2 + axis], dtype);
    ig_value *number = index_bins(r, axis, 1 + axis);
    edges[0] = ig_build_floor(e, ig_build_mul(e, number, length));
    number = ig_expr_with(e, IG_OP_add, number, 1);
    edges[1] = ig_build_ceil(e, ig_build_mul(e, number, length));
    for (uint32_t i = 0; i < 2; i++) {
        edges[i] = ig_build_add(e, edges[i], ends[0]);
        edges[i] = ig_build_min(e, ig_expr_with(e, IG_OP_max, edges[i], 0), extent);
        edges[i] = ig_expr_cast(e, edges[i], IG_DT_i64);
    }
    r->start[axis] = edges[0];
    r->samples[axis] = ig_build_sub(e, edges[1], edges[0]);
}

ig_status ig_onnx_import_max_roi_pool(ig_onnx_node *node) {
    regions r = { .is_max = true };
    open_regions(node, &r, 5);
    ig_ints shape = ig_onnx_attr_list_of(node, "pooled_shape", 2);
    IG_TRY(node->e->status);
    for (uint32_t i = 0; i < 2; i++) {
        if (shape.items[i] < 1 || shape.items[i] > INT32_MAX) {
            return ig_onnx_fail(node, IG_INVALID, "pooled_shape has %lld bins",
                                (long long)shape.items[i]);
        }
        r.bins[i] = ig_dim_of(shape.items[i]);
    }
    r.image = ig_onnx_index_among(node, read_column(&r, node->inputs[1], 0),
                                  ig_onnx_extent(node->e, node->inputs[0], 0));
    for (uint32_t axis = 0; axis < 2; axis++) {
        read_pool_axis(&r, axis, node->inputs[1]);
    }
    ig_value *y = visit_positions(&r, visit_pixel, -(double)INFINITY);
    ig_value *has_some =
        ig_build_and(node->e, ig_expr_with_integer(node->e, IG_OP_gt, r.samples[0], 0),
                     ig_expr_with_integer(node->e, IG_OP_gt, r.samples[1], 0));
    has_some = ig_expr_unsqueeze(node->e, has_some, 1);
    IG_TRY(node->e->status);
    ig_value *zero = ig_expr_number(node->e, (ig_dtype)r.x->type->dtype, 0);
    y = ig_build_where(node->e, has_some, y, zero);
    return ig_onnx_give(node, ig_expr_like(node->e, y, node->inputs[0]));
}

/* ---- NonMaxSuppression ---- */

/* Corners in either order, or centre and size, as low and high edges. */
static ig_value *read_edges(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_dim two = ig_dim_of(2);
    ig_value *first = ig_expr_slice(e, node->inputs[0], 2, ig_dim_of(0), two, 1);
    ig_value *second = ig_expr_slice(e, node->inputs[0], 2, two, two, 1);
    if (ig_onnx_attr_bool(node, "center_point_box", false)) {
        ig_value *half = ig_expr_with(e, IG_OP_div, second, 2);
        ig_value *edges[] = { ig_build_sub(e, first, half),
                              ig_build_add(e, first, half) };
        return ig_expr_concat(e, 2, edges, 2);
    }
    ig_value *edges[] = { ig_build_min(e, first, second),
                          ig_build_max(e, first, second) };
    return ig_expr_concat(e, 2, edges, 2);
}

ig_status ig_onnx_import_nms(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_boxes boxes = { .scores = ig_onnx_ranked_input(node, 1, 3) };
    (void)ig_onnx_ranked_input(node, 0, 3);
    IG_TRY(e->status);
    ig_onnx_guard_extents(node, 0, 0, 1, 0);
    ig_onnx_guard_extents(node, 0, 1, 1, 2);
    ig_expr_guard_equal(e, ig_onnx_extent(e, node->inputs[0], 2), ig_dim_of(4),
                        "a box must have four coordinates");
    boxes.edges = read_edges(node);
    boxes.max = ig_onnx_in(node, 2) ? ig_onnx_count_input(node, 2)
                                    : ig_expr_integer(e, IG_DT_i64, 0);
    boxes.share = ig_onnx_in(node, 3) ? ig_onnx_scalar_input(node, 3)
                                      : ig_expr_number(e, IG_DT_f32, 0);
    boxes.min = ig_onnx_in(node, 4) ? ig_onnx_scalar_input(node, 4) : NULL;
    return ig_onnx_give(node, ig_compose_suppress(e, &boxes));
}
