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
static const ig_dim *read_pair(ig_ts_call *call, uint32_t index, int64_t min) {
    enum { MAX_BITS = 30 };
    uint32_t count;
    int64_t value = min;
    const ig_dim *pair = ig_aten_dims(call, index, 2, &count);
    for (uint32_t i = 0; call->e->status == IG_OK && i < 2; i++) {
        bool is_known = ig_dim_constant(call->module, pair[i], &value);
        if (is_known && (value < min || value > (int64_t)1 << MAX_BITS)) {
            ig_expr_fail(call->e, IG_INVALID,
                         "argument %u holds %lld, expected %lld to 2^%d", index,
                         (long long)value, (long long)min, MAX_BITS);
        }
        ig_expr_guard_less_equal(call->e, ig_dim_const(call->module, min), pair[i],
                                 "a window, its steps or its padding are too small");
    }
    return pair;
}

/* How many windows an axis of `extent` elements has, which `pads` more surround. */
static ig_dim count_windows(ig_module *m, ig_dim extent, ig_dim kernel, ig_dim dilation,
                            ig_dim pads, ig_dim stride) {
    ig_dim room = ig_aten_window_room(m, extent, pads, kernel, dilation);
    return ig_dim_add(m, ig_dim_floor_div(m, room, stride), ig_dim_of(1));
}

/* im2col(self [N, C, H, W], kernel_size, dilation, padding, stride)
 * -> [N, C kh kw, windows] */
ig_status ig_ts_op_im2col(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    const ig_dim *kernel = read_pair(call, 1, 1), *dilation = read_pair(call, 2, 1);
    const ig_dim *pad = read_pair(call, 3, 0), *stride = read_pair(call, 4, 1);
    IG_TRY(call->e->status);
    bool has_batch = x->type->rank == 4;
    if (!has_batch && x->type->rank != 3) {
        return ig_ts_fail(call, IG_INVALID, "the image has rank %u, expected 3 or 4",
                          x->type->rank);
    }
    x = has_batch ? x : ig_expr_unsqueeze(call->e, x, 0);
    ig_module *m = call->module;
    ig_dim zero = ig_dim_of(0);
    ig_dim pads[4] = { zero, zero, pad[0], pad[1] };
    x = ig_expr_pad(call->e, x, pads, pads, IG_PAD_constant, 0);
    for (uint32_t i = 0; x && i < 2; i++) { /* axis 2 + 2 i becomes [kernel, places] */
        uint32_t axis = 2 + 2 * i;
        ig_dim positions = count_windows(m, ig_expr_extent(call->e, x, axis), kernel[i],
                                         dilation[i], ig_dim_of(0), stride[i]);
        ig_value *within = ig_expr_axis_iota(call->e, 2, 0, kernel[i]);
        ig_value *position = ig_expr_axis_iota(call->e, 2, 1, positions);
        within = ig_build_mul(call->e, within,
                              ig_expr_dim(call->e, dilation[i], IG_DT_i64));
        position = ig_build_mul(call->e, position,
                                ig_expr_dim(call->e, stride[i], IG_DT_i64));
        x = ig_expr_gather(call->e, x, ig_build_add(call->e, within, position), axis,
                           IG_NEGATIVE_wrap);
    }
    IG_TRY(call->e->status);
    const ig_dim *d = x->type->dims; /* N, C, kh, h, kw, w */
    ig_dim all[] = { d[0], ig_dim_mul(m, d[1], ig_dim_mul(m, kernel[0], kernel[1])),
                     ig_dim_mul(m, d[3], d[5]) };
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 1, 2, 4, 3, 5 });
    x = ig_expr_reshape(call->e, x, 3, all);
    return ig_aten_give(call, has_batch ? x : ig_expr_squeeze(call->e, x, 0));
}

/* ---- columns added up where they were taken from ---- */

typedef struct folding {
    const ig_dim *size, *kernel, *dilation, *pad, *stride;
    ig_dim positions[2];
} folding;

/* The sums along axis 1 of columns [outer, kernel, positions, inner]: element y has tap
 * k of position (y + pad - k dilation) / stride. */
static ig_value *fold_axis(ig_ts_call *call, const folding *c, uint32_t i,
                           ig_value *x) {
    ig_expr *e = call->e;
    ig_value *n = ig_expr_dim(e, c->positions[i], IG_DT_i64);
    ig_value *stride = ig_expr_dim(e, c->stride[i], IG_DT_i64);
    ig_value *y = ig_build_add(e, ig_expr_axis_iota(e, 2, 0, c->size[i]),
                               ig_expr_dim(e, c->pad[i], IG_DT_i64));
    ig_value *tap = ig_expr_axis_iota(e, 2, 1, c->kernel[i]);
    ig_value *dilation = ig_expr_dim(e, c->dilation[i], IG_DT_i64);
    ig_value *from = ig_build_sub(e, y, ig_build_mul(e, tap, dilation));
    ig_value *at = ig_build_div(e, from, stride);
    ig_value *is_one = ig_build_eq(e, ig_build_mul(e, at, stride), from);
    is_one = ig_build_and(e, is_one, ig_expr_with(e, IG_OP_ge, from, 0));
    is_one = ig_build_and(e, is_one, ig_build_lt(e, at, n));
    ig_value *id = ig_build_add(e, ig_build_mul(e, tap, n), at);
    id = ig_build_where(e, is_one, id, ig_expr_integer(e, IG_DT_i64, 0));
    x = ig_expr_gather(e, ig_expr_merge_axes(e, x, 1, 2), id, 1, IG_NEGATIVE_wrap);
    is_one = ig_expr_unsqueeze_to(e, is_one, x ? x->type->rank - 1 : 0);
    ig_value *none = x ? ig_expr_number(e, (ig_dtype)x->type->dtype, 0) : NULL;
    x = ig_build_where(e, is_one, x, none);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, x, 2, false);
}

/* Taps that are added up as `count` pieces, each `step` elements after the one before.
 * A piece is one tap of all windows, or where taps are next to each other as many of
 * them as a stride has elements: none of these overlap. */
typedef struct pieces {
    int64_t count, step, taps;
} pieces;

static bool read_pieces(const ig_module *m, const folding *c, uint32_t i, pieces *out) {
    enum { MAX_PIECES = 32 };
    int64_t kernel, dilation, stride;
    if (!ig_dim_constant(m, c->kernel[i], &kernel) ||
        !ig_dim_constant(m, c->dilation[i], &dilation) ||
        !ig_dim_constant(m, c->stride[i], &stride) || (dilation > 1 && stride > 1)) {
        return false;
    }
    out->taps = stride;
    out->step = dilation > 1 ? dilation : stride;
    out->count = (kernel + stride - 1) / stride;
    return out->count <= MAX_PIECES;
}

/* [outer, kernel, positions, inner] -> [outer, count, positions * taps, inner] */
static ig_value *join_taps(ig_ts_call *call, const pieces *p, ig_value *x) {
    ig_module *m = call->module;
    if (!x || p->taps == 1) {
        return x;
    }
    const ig_dim *d = x->type->dims, taps = ig_dim_const(m, p->taps);
    const ig_dim before[4] = { 0 };
    ig_dim after[4] = { 0 };
    ig_dim split[] = { d[0], ig_dim_const(m, p->count), taps, d[2], d[3] };
    ig_dim joined[] = { d[0], split[1], ig_dim_mul(m, d[2], taps), d[3] };
    after[1] = ig_dim_sub(m, ig_dim_mul(m, split[1], taps), d[1]);
    x = ig_expr_pad(call->e, x, before, after, IG_PAD_constant, 0);
    x = ig_expr_reshape(call->e, x, 5, split);
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 1, 3, 2, 4 });
    return ig_expr_reshape(call->e, x, 4, joined);
}

static ig_value *add_pieces(ig_ts_call *call, const folding *c, uint32_t i,
                            const pieces *p, ig_value *x) {
    ig_module *m = call->module;
    ig_value *sum = NULL;
    x = join_taps(call, p, x);
    for (int64_t k = 0; x && k < p->count; k++) {
        ig_dim before[3] = { 0 }, after[3] = { 0 };
        before[1] = ig_dim_sub(m, ig_dim_const(m, k * p->step), c->pad[i]);
        after[1] = ig_dim_sub(m, c->size[i],
                              ig_dim_add(m, before[1], x->type->dims[2]));
        ig_value *piece = ig_expr_select(call->e, x, 1, ig_dim_const(m, k));
        piece = ig_expr_pad(call->e, piece, before, after, IG_PAD_constant, 0);
        sum = sum ? ig_build_add(call->e, sum, piece) : piece;
    }
    return sum;
}

/* Axis by axis, with selected elements alone: what a window does not reach, it does not
 * change either where it is not finite. */
static ig_value *add_windows(ig_ts_call *call, const folding *c, ig_value *x,
                             ig_dim images) {
    ig_module *m = call->module;
    const ig_dim dims[] = { images, c->kernel[0], c->kernel[1], c->positions[0],
                            c->positions[1] };
    ig_dim inner = ig_dim_mul(m, c->kernel[1], c->positions[1]), outer = images;
    x = ig_expr_reshape(call->e, ig_expr_widen(call->e, x), 5, dims);
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 1, 3, 2, 4 });
    for (uint32_t i = 0; i < 2; i++) {
        pieces p;
        x = ig_expr_reshape(call->e, x, 4,
                            (ig_dim[]){ outer, c->kernel[i], c->positions[i], inner });
        x = read_pieces(m, c, i, &p) ? add_pieces(call, c, i, &p, x)
                                     : fold_axis(call, c, i, x);
        outer = ig_dim_mul(m, outer, c->size[i]);
        inner = ig_dim_of(1);
    }
    return x;
}

/* Do the windows cover the result once, side by side? */
static bool are_tiles(const ig_module *m, const folding *c) {
    bool is_so = true;
    for (uint32_t i = 0; i < 2; i++) {
        is_so = is_so && ig_dim_is(c->dilation[i], 1) && ig_dim_is(c->pad[i], 0) &&
                ig_dim_equal(m, c->kernel[i], c->stride[i]) == IG_YES;
    }
    return is_so;
}

/* Tiles are moved: no column is a sum. */
static ig_value *join_tiles(ig_ts_call *call, const folding *c, ig_value *x,
                            ig_dim images) {
    ig_module *m = call->module;
    const ig_dim dims[] = { images, c->kernel[0], c->kernel[1], c->positions[0],
                            c->positions[1] };
    ig_dim tall = ig_dim_mul(m, c->kernel[0], c->positions[0]);
    ig_dim wide = ig_dim_mul(m, c->kernel[1], c->positions[1]);
    x = ig_expr_reshape(call->e, x, 5, dims);
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 0, 3, 1, 4, 2 });
    x = ig_expr_reshape(call->e, x, 3, (ig_dim[]){ images, tall, wide });
    const ig_dim before[3] = { 0 },
                 after[3] = { ig_dim_of(0), ig_dim_sub(m, c->size[0], tall),
                              ig_dim_sub(m, c->size[1], wide) };
    return ig_expr_pad(call->e, x, before, after, IG_PAD_constant, 0);
}

/* col2im(self [N, C kh kw, windows], output_size, kernel_size, dilation, padding,
 * stride) -> [N, C, H, W] */
ig_status ig_ts_op_col2im(ig_ts_call *call) {
    uint32_t count;
    ig_value *x = ig_aten_tensor(call, 0);
    folding c = { .size = ig_aten_dims(call, 1, 2, &count) };
    c.kernel = read_pair(call, 2, 1);
    c.dilation = read_pair(call, 3, 1);
    c.pad = read_pair(call, 4, 0);
    c.stride = read_pair(call, 5, 1);
    IG_TRY(call->e->status);
    bool has_batch = x->type->rank == 3;
    ig_module *m = call->module;
    if (!has_batch && x->type->rank != 2) {
        return ig_ts_fail(call, IG_INVALID,
                          "the columns have rank %u, expected rank 2 or 3",
                          x->type->rank);
    }
    x = has_batch ? x : ig_expr_unsqueeze(call->e, x, 0);
    IG_TRY(call->e->status);
    for (uint32_t i = 0; i < 2; i++) {
        c.positions[i] = count_windows(m, c.size[i], c.kernel[i], c.dilation[i],
                                       ig_dim_mul(m, c.pad[i], ig_dim_of(2)),
                                       c.stride[i]);
    }
    ig_dim each = ig_dim_mul(m, c.kernel[0], c.kernel[1]);
    ig_dim channels = ig_dim_exact_div(m, x->type->dims[1], each);
    ig_dim dims[] = { x->type->dims[0], channels, c.size[0], c.size[1] };
    ig_dim images = ig_dim_mul(m, dims[0], channels);
    ig_value *y = are_tiles(m, &c) ? join_tiles(call, &c, x, images)
                                   : add_windows(call, &c, x, images);
    y = ig_expr_like(call->e, ig_expr_reshape(call->e, y, 4, dims), x);
    return ig_aten_give(call, has_batch ? y : ig_expr_squeeze(call->e, y, 0));
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
