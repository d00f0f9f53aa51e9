/* Images moved: affine grids, columns to images, deformed windows, pools undone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

/* Extents that an input holds, known here or bound by the run. */
static bool read_extents(ig_onnx_node *node, uint32_t index, uint32_t count,
                         ig_dim *out) {
    ig_dims_value known;
    ig_value *list = ig_onnx_list_input(node, index, ig_dim_of(count),
                                        "a list of extents has another length");
    if (!list) {
        return false;
    }
    if (ig_onnx_shape(node, index, &known) && known.count == count) {
        for (uint32_t i = 0; i < count; i++) {
            out[i] = known.dims[i];
        }
        return true;
    }
    list = ig_expr_cast(node->e, list, IG_DT_i64);
    ig_expr_bind_dims(node->e, list, count, "an extent that the model computes", out);
    return !ig_onnx_has_failed(node);
}

/* ---- AffineGrid ---- */

/* Centres (or corners) of `extent` pixels between -1 and 1, along `axis` of `rank`. */
static ig_value *spread_positions(const ig_onnx_node *node, ig_dim extent,
                                  uint32_t axis, uint32_t rank, bool aligns) {
    ig_expr *e = node->e;
    ig_value *n = ig_expr_cast(e, ig_expr_axis_iota(e, rank, axis, extent), IG_DT_f64);
    ig_value *count = ig_expr_dim(e, extent, IG_DT_f64);
    if (aligns) {
        ig_value *gaps = ig_expr_with(e, IG_OP_sub, count, 1);
        gaps = ig_expr_with(e, IG_OP_max, gaps, 1);
        n = ig_build_div(e, ig_expr_with(e, IG_OP_mul, n, 2), gaps);
        return ig_expr_with(e, IG_OP_sub, n, 1);
    }
    n = ig_expr_with(e, IG_OP_add, ig_expr_with(e, IG_OP_mul, n, 2), 1);
    return ig_expr_with(e, IG_OP_sub, ig_build_div(e, n, count), 1);
}

/* theta [N, s, s + 1] times (x, y[, z], 1) at every pixel: [N, …, s], the last axis of
 * the image first. */
ig_status ig_onnx_import_affine_grid(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *theta = ig_onnx_ranked_input(node, 0, 3);
    (void)ig_onnx_float_input(node, 0);
    bool aligns = ig_onnx_attr_bool(node, "align_corners", false);
    const ig_type *list = node->inputs[1]->type;
    int64_t length = 0;
    if (list->rank != 1 || !ig_dim_constant(e->module, list->dims[0], &length) ||
        length < 4 || length > 5) {
        return ig_onnx_fail(node, IG_INVALID,
                            "the size must be a list of 4 or 5 extents");
    }
    IG_TRY(e->status);
    uint32_t axes = (uint32_t)length - 2, rank = axes + 2;
    ig_dim size[5], rows = ig_dim_of(axes);
    ig_expr_guard_equal(e, ig_onnx_extent(e, theta, 1), rows,
                        "theta must have a row for each axis of the image");
    ig_expr_guard_equal(
        e, ig_onnx_extent(e, theta, 2), ig_dim_of(axes + 1),
        "theta must have a column for each axis of the image, and one more");
    if (!read_extents(node, 1, axes + 2, size)) {
        return e->status;
    }
    ig_expr_guard_equal(e, size[0], ig_onnx_extent(e, theta, 0),
                        "theta and the size differ in their batch");
    ig_value *sum = NULL;
    for (uint32_t k = 0; k <= axes; k++) {
        ig_value *factor = ig_expr_cast(e, ig_expr_select(e, theta, 2, ig_dim_of(k)),
                                        IG_DT_f64);
        ig_dim dims[5] = { ig_onnx_extent(e, theta, 0) };
        for (uint32_t i = 1; i < rank; i++) {
            dims[i] = i + 1 == rank ? rows : ig_dim_of(1);
        }
        factor = ig_expr_reshape(e, factor, rank, dims);
        if (k < axes) {
            uint32_t axis = axes - k;
            factor = ig_build_mul(
                e, factor, spread_positions(node, size[axis + 1], axis, rank, aligns));
        }
        sum = sum ? ig_build_add(e, sum, factor) : factor;
    }
    return ig_onnx_give(node, ig_expr_like(e, sum, theta));
}

/* ---- Col2Im ---- */

enum { MAX_AXES = 4 };

/* Windows over an image, axis by axis. */
typedef struct windows {
    ig_onnx_node *node;
    uint32_t axes;
    ig_dim image[MAX_AXES], block[MAX_AXES], count[MAX_AXES];
    ig_ints dilations, pads, strides;
} windows;

/* An attribute with `count` entries from `min` to 2^31, when it is there. */
static ig_ints read_bounded(const ig_onnx_node *node, const char *name, uint32_t count,
                            int64_t min) {
    ig_ints list = ig_onnx_attr_list_of(node, name, count);
    for (uint32_t i = 0; list.items && i < list.count; i++) {
        if (list.items[i] < min || list.items[i] > INT32_MAX) {
            ig_onnx_fail(node, IG_INVALID, "%s has an entry %lld, expected %lld to %d",
                         name, (long long)list.items[i], (long long)min, INT32_MAX);
        }
    }
    return list;
}

static int64_t entry_of(ig_ints list, uint32_t index, int64_t absent) {
    return list.items ? list.items[index] : absent;
}

/* How many windows fit along each axis. */
static void count_windows(windows *w) {
    ig_module *m = w->node->e->module;
    for (uint32_t i = 0; i < w->axes; i++) {
        int64_t pad = entry_of(w->pads, i, 0) + entry_of(w->pads, w->axes + i, 0);
        ig_dim reach = ig_dim_sub(m, w->block[i], ig_dim_of(1));
        reach = ig_dim_mul(m, reach, ig_dim_of(entry_of(w->dilations, i, 1)));
        ig_dim room = ig_dim_add(m, w->image[i], ig_dim_const(m, pad - 1));
        room = ig_dim_sub(m, room, reach);
        ig_dim fits = ig_dim_floor_div(m, room, ig_dim_of(entry_of(w->strides, i, 1)));
        w->count[i] = ig_dim_add(m, fits, ig_dim_of(1));
    }
}

/* The pixel's place along axis i for element k of the block in window l, over the axes
 * [block…, count…], and whether that is in the image. */
static ig_value *place_along(const windows *w, uint32_t i, ig_value **is_in) {
    ig_expr *e = w->node->e;
    uint32_t rank = 2 * w->axes;
    ig_value *k = ig_expr_axis_iota(e, rank, i, w->block[i]);
    ig_value *l = ig_expr_axis_iota(e, rank, w->axes + i, w->count[i]);
    k = ig_expr_with_integer(e, IG_OP_mul, k, entry_of(w->dilations, i, 1));
    l = ig_expr_with_integer(e, IG_OP_mul, l, entry_of(w->strides, i, 1));
    ig_value *at = ig_build_add(e, k, l);
    at = ig_expr_with_integer(e, IG_OP_sub, at, entry_of(w->pads, i, 0));
    ig_value *inside =
        ig_build_and(e, ig_expr_with_integer(e, IG_OP_ge, at, 0),
                     ig_build_lt(e, at, ig_expr_dim(e, w->image[i], IG_DT_i64)));
    *is_in = *is_in ? ig_build_and(e, *is_in, inside) : inside;
    return at;
}

/* Columns [planes, block elements * windows] added up at their places; outliers go to
 * an element after the image. */
static ig_value *add_columns(const windows *w, ig_value *columns, ig_dim planes) {
    ig_expr *e = w->node->e;
    ig_value *at = NULL, *is_in = NULL;
    for (uint32_t i = 0; i < w->axes; i++) {
        ig_value *own = place_along(w, i, &is_in);
        ig_value *extent = ig_expr_dim(e, w->image[i], IG_DT_i64);
        at = at ? ig_build_add(e, ig_build_mul(e, at, extent), own) : own;
    }
    ig_dim pixels = ig_dim_product(e->module, w->image, w->axes);
    at = ig_build_where(e, is_in, at, ig_expr_dim(e, pixels, IG_DT_i64));
    at = ig_expr_unsqueeze(e, ig_expr_flatten(e, at), 0);
    if (!at || !columns) {
        return NULL;
    }
    at = ig_expr_expand(e, at, 2, columns->type->dims);
    ig_dim all[] = { planes, ig_dim_add(e->module, pixels, ig_dim_of(1)) };
    ig_value *none = ig_expr_fill(e, (ig_dtype)columns->type->dtype, 2, all, 0);
    ig_scatter_elements_attrs attrs = { .axis = 1, .reduce = IG_SCATTER_add };
    ig_value *sums = ig_build_scatter_elements(e, none, at, columns, attrs);
    return ig_expr_slice(e, sums, 1, ig_dim_of(0), pixels, 1);
}

ig_status ig_onnx_import_col2im(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_module *m = e->module;
    ig_value *x = ig_onnx_ranked_input(node, 0, 3);
    const ig_type *shape = node->inputs[1]->type;
    int64_t axes = 0;
    IG_TRY(e->status);
    if (shape->rank != 1 || !ig_dim_constant(m, shape->dims[0], &axes) || axes < 1 ||
        axes > MAX_AXES) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "image_shape must be a list of 1 to %d extents", MAX_AXES);
    }
    windows w = { .node = node, .axes = (uint32_t)axes };
    w.dilations = read_bounded(node, "dilations", w.axes, 1);
    w.strides = read_bounded(node, "strides", w.axes, 1);
    w.pads = read_bounded(node, "pads", 2 * w.axes, 0);
    IG_TRY(e->status);
    if (!read_extents(node, 1, w.axes, w.image) ||
        !read_extents(node, 2, w.axes, w.block)) {
        return e->status;
    }
    count_windows(&w);
    ig_dim each = ig_dim_product(m, w.block, w.axes);
    ig_dim number = ig_dim_product(m, w.count, w.axes);
    ig_expr_guard_equal(e, ig_onnx_extent(e, x, 2), number,
                        "there must be as many columns as windows fit");
    ig_dim channels = ig_dim_exact_div(m, ig_onnx_extent(e, x, 1), each);
    ig_dim planes = ig_dim_mul(m, ig_onnx_extent(e, x, 0), channels);
    ig_dim flat[] = { planes, ig_dim_mul(m, each, number) };
    ig_dim dims[2 + MAX_AXES] = { ig_onnx_extent(e, x, 0), channels };
    for (uint32_t i = 0; i < w.axes; i++) {
        dims[2 + i] = w.image[i];
    }
    ig_value *y = add_columns(&w, ig_expr_reshape(e, x, 2, flat), planes);
    return ig_onnx_give(node, ig_expr_reshape(e, y, 2 + w.axes, dims));
}

/* ---- DeformConv ---- */

typedef struct deform {
    ig_onnx_node *node;
    ig_expr *e;
    ig_value *x, *w; /* widened */
    ig_ints dilations, pads, strides;
    int64_t group, offset_group;
    ig_dim out[2], kernel[2], each; /* each: channels of an offset group */
} deform;

/* Places of axis `axis` over [N, offset groups, K, rows, columns]. */
static ig_value *place_windows(const deform *d, uint32_t axis, ig_value *offsets) {
    ig_expr *e = d->e;
    ig_value *k = ig_expr_axis_iota(e, 5, 2,
                                    ig_dim_mul(e->module, d->kernel[0], d->kernel[1]));
    ig_value *width = ig_expr_dim(e, d->kernel[1], IG_DT_i64);
    k = axis ? ig_build_mod(e, k, width, (ig_mod_attrs){ 0 })
             : ig_build_div(e, k, width);
    k = ig_expr_with_integer(e, IG_OP_mul, k, entry_of(d->dilations, axis, 1));
    ig_value *o = ig_expr_axis_iota(e, 5, 3 + axis, d->out[axis]);
    o = ig_expr_with_integer(e, IG_OP_mul, o, entry_of(d->strides, axis, 1));
    o = ig_expr_with_integer(e, IG_OP_sub, o, entry_of(d->pads, axis, 0));
    ig_value *at = ig_expr_like(e, ig_build_add(e, k, o), d->x);
    return ig_build_add(e, at, ig_expr_select(e, offsets, 3, ig_dim_of(axis)));
}

/* One of the two pixels around a place along an axis; outside its weight is 0. */
static void take_side(const deform *d, uint32_t axis, ig_value *at, uint32_t side,
                      ig_value **id, ig_value **weight) {
    ig_expr *e = d->e;
    ig_dtype dtype = (ig_dtype)d->x->type->dtype;
    ig_dim last = ig_dim_sub(e->module, ig_onnx_extent(e, d->x, 2 + axis),
                             ig_dim_of(1));
    ig_value *high = ig_expr_dim(e, last, dtype);
    ig_value *low = ig_build_floor(e, at), *part = ig_build_sub(e, at, low);
    ig_value *pixel = ig_expr_with(e, IG_OP_add, low, side);
    ig_value *own = side ? part : ig_expr_number_with(e, IG_OP_sub, 1, part);
    ig_value *zero = ig_expr_number(e, dtype, 0);
    ig_value *is_in = ig_build_and(e, ig_expr_with(e, IG_OP_ge, pixel, 0),
                                   ig_build_le(e, pixel, high));
    *weight = ig_build_where(e, is_in, own, zero);
    *id = ig_expr_cast(e, ig_build_where(e, is_in, pixel, zero), IG_DT_i64);
}

/* [N, offset groups, channels of one, K * rows * columns] */
static ig_value *take_corners(const deform *d, ig_value *offsets) {
    ig_expr *e = d->e;
    ig_module *m = e->module;
    const ig_dim *dims = d->x->type->dims;
    ig_value *at[] = { place_windows(d, 0, offsets), place_windows(d, 1, offsets) };
    ig_dim planes[] = { dims[0], ig_dim_of(d->offset_group), d->each,
                        ig_dim_mul(m, dims[2], dims[3]) };
    ig_value *x = ig_expr_reshape(e, d->x, 4, planes), *sum = NULL;
    ig_value *width = ig_expr_dim(e, dims[3], IG_DT_i64);
    if (e->status != IG_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < 4; i++) {
        ig_value *ids[2], *weights[2];
        take_side(d, 0, at[0], i / 2, &ids[0], &weights[0]);
        take_side(d, 1, at[1], i % 2, &ids[1], &weights[1]);
        ig_value *id = ig_build_add(e, ig_build_mul(e, ids[0], width), ids[1]);
        ig_value *weight = ig_build_mul(e, weights[0], weights[1]);
        id = ig_expr_unsqueeze(e, ig_expr_merge_axes(e, id, 2, 4), 2);
        weight = ig_expr_unsqueeze(e, ig_expr_merge_axes(e, weight, 2, 4), 2);
        if (e->status != IG_OK) {
            return NULL;
        }
        ig_dim all[] = { dims[0], planes[1], d->each, ig_onnx_extent(e, id, 3) };
        id = ig_expr_expand(e, id, 4, all);
        ig_value *part =
            ig_build_gather_elements(e, x, id, (ig_gather_elements_attrs){ .axis = 3 });
        part = ig_build_mul(e, part, weight);
        sum = sum ? ig_build_add(e, sum, part) : part;
    }
    return sum;
}

static bool open_deform(ig_onnx_node *node, deform *d) {
    d->node = node;
    d->e = node->e;
    for (uint32_t i = 0; i < 3; i++) {
        (void)ig_onnx_float_input(node, i);
        if (ig_onnx_has_failed(node) || node->inputs[i]->type->rank != 4) {
            ig_onnx_fail(node, IG_UNSUPPORTED,
                         "input %u must have rank 4: windows of two axes", i);
            return false;
        }
    }
    d->x = ig_expr_widen(d->e, node->inputs[0]);
    d->w = ig_expr_widen(d->e, node->inputs[1]);
    d->dilations = read_bounded(node, "dilations", 2, 1);
    d->strides = read_bounded(node, "strides", 2, 1);
    d->pads = read_bounded(node, "pads", 4, 0);
    d->group = ig_onnx_attr_between(node, "group", 1, 1, INT32_MAX);
    d->offset_group = ig_onnx_attr_between(node, "offset_group", 1, 1, INT32_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        d->kernel[i] = ig_onnx_extent(node->e, node->inputs[1], 2 + i);
        d->out[i] = ig_onnx_extent(node->e, node->inputs[2], 2 + i);
    }
    d->each = ig_dim_exact_div(d->e->module,
                               ig_onnx_extent(node->e, node->inputs[0], 1),
                               ig_dim_of(d->offset_group));
    return !ig_onnx_has_failed(node);
}

/* Offsets say by how much the places of each window's elements are moved; the pixels
 * there are the columns of a product with the weights. */
ig_status ig_onnx_import_deform_conv(ig_onnx_node *node) {
    deform d;
    if (!open_deform(node, &d)) {
        return node->e->status;
    }
    ig_expr *e = node->e;
    ig_module *m = e->module;
    const ig_dim *x = d.x->type->dims, *w = d.w->type->dims;
    ig_dim k = ig_dim_mul(m, d.kernel[0], d.kernel[1]);
    ig_dim groups = ig_dim_of(d.offset_group);
    ig_dim apart[] = { x[0], groups, k, ig_dim_of(2), d.out[0], d.out[1] };
    ig_value *offsets = ig_expr_like(e, node->inputs[2], d.x);
    ig_value *columns = take_corners(&d, ig_expr_reshape(e, offsets, 6, apart));
    ig_dim positions = ig_dim_mul(m, d.out[0], d.out[1]);
    if (ig_onnx_in(node, 4)) {
        ig_dim flat[] = { x[0], groups, ig_dim_of(1), ig_dim_mul(m, k, positions) };
        ig_value *mask = ig_expr_like(e, node->inputs[4], d.x);
        columns = ig_build_mul(e, columns, ig_expr_reshape(e, mask, 4, flat));
    }
    ig_dim group = ig_dim_of(d.group);
    ig_dim depth = ig_dim_product(m, w + 1, 3);
    ig_dim sides[] = { x[0], group, depth, positions };
    ig_dim filters[] = { group, ig_dim_exact_div(m, w[0], group), depth };
    ig_dim dims[] = { x[0], w[0], d.out[0], d.out[1] };
    columns = ig_expr_reshape(e, columns, 4, sides);
    ig_value *y = ig_expr_matmul(e, ig_expr_reshape(e, d.w, 3, filters), columns);
    y = ig_expr_reshape(e, y, 4, dims);
    if (ig_onnx_in(node, 3)) {
        ig_value *bias = ig_onnx_ranked_input(node, 3, 1);
        y = ig_build_add(e, y, ig_expr_along(e, ig_expr_like(e, bias, d.x), 1, 4));
    }
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[0]));
}

/* ---- MaxUnpool ---- */

/* Values go where the indices say in the image that the pool had; an output_shape adds
 * zeros at its end. */
ig_status ig_onnx_import_max_unpool(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_module *m = e->module;
    ig_value *x = node->inputs[0], *ids = node->inputs[1];
    uint32_t rank = x->type->rank, axes = rank - 2;
    if (rank < 3 || ids->type->rank != rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "inputs have ranks %u and %u, expected one of 3 or more",
                            rank, ids->type->rank);
    }
    ig_ints kernel = read_bounded(node, "kernel_shape", axes, 1);
    ig_ints strides = read_bounded(node, "strides", axes, 1);
    ig_ints pads = read_bounded(node, "pads", 2 * axes, 0);
    IG_TRY(e->status);
    ig_dim dims[IG_TENSOR_RANK], wanted[IG_TENSOR_RANK], before[IG_TENSOR_RANK],
        after[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        before[i] = ig_dim_of(0);
        dims[i] = ig_onnx_extent(e, x, i);
        ig_onnx_guard_extents(node, 0, i, 1, i);
        if (i < 2) {
            continue;
        }
        int64_t lost = entry_of(pads, i - 2, 0) + entry_of(pads, axes + i - 2, 0);
        ig_dim steps = ig_dim_sub(m, dims[i], ig_dim_of(1));
        steps = ig_dim_mul(m, steps, ig_dim_of(entry_of(strides, i - 2, 1)));
        dims[i] = ig_dim_add(m, steps, ig_dim_const(m, kernel.items[i - 2] - lost));
    }
    ig_dim total = ig_dim_product(m, dims, rank);
    ig_value *none = ig_expr_fill(e, (ig_dtype)x->type->dtype, 1, &total, 0);
    ig_value *y = ig_build_scatter_elements(e, none, ig_expr_flatten(e, ids),
                                            ig_expr_flatten(e, x),
                                            (ig_scatter_elements_attrs){ .axis = 0 });
    y = ig_expr_reshape(e, y, rank, dims);
    if (ig_onnx_in(node, 2)) {
        if (!read_extents(node, 2, rank, wanted)) {
            return e->status;
        }
        for (uint32_t i = 0; i < rank; i++) {
            after[i] = ig_dim_sub(m, wanted[i], dims[i]);
        }
        y = ig_expr_pad(e, y, before, after, IG_PAD_constant, 0);
    }
    return ig_onnx_give(node, y);
}
