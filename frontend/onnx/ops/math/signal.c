/* Windows and transforms of signals; crops to a shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

#include "compose/math/fourier.h"

/* ---- windows: a - b cos(2 pi n / period) + c cos(4 pi n / period) ---- */

typedef struct window {
    double a, b, c;
} window;

static const window windows[] = { { 0.5, 0.5, 0 },
                                  { 25.0 / 46, 21.0 / 46, 0 },
                                  { 0.42, 0.5, 0.08 } };

/* factor cos(n turns) */
static ig_value *make_wave(ig_expr *e, ig_value *n, double turns, double factor) {
    ig_value *angle = ig_expr_with(e, IG_OP_mul, n, turns);
    return ig_expr_with(e, IG_OP_mul, ig_build_cos(e, angle), factor);
}

ig_status ig_onnx_import_window(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const window *w = &windows[node->row->variant];
    const double turn = 6.28318530717958647693;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "output_datatype", IG_DT_f32);
    ig_value *size = ig_onnx_count_input(node, 0);
    ig_value *n = ig_build_range(e, ig_expr_integer(e, IG_DT_i64, 0), size,
                                 ig_expr_integer(e, IG_DT_i64, 1));
    ig_value *period = ig_expr_cast(e, size, IG_DT_f64);
    if (!ig_onnx_attr_bool(node, "periodic", true)) {
        period = ig_expr_with(e, IG_OP_sub, period, 1);
    }
    n = ig_build_div(e, ig_expr_cast(e, n, IG_DT_f64), period);
    ig_value *once = make_wave(e, n, turn, w->b);
    ig_value *twice = make_wave(e, n, 2 * turn, w->c);
    ig_value *y = ig_expr_number_with(e, IG_OP_sub, w->a, once);
    return ig_onnx_give(node, ig_expr_cast(e, ig_build_add(e, y, twice), dtype));
}

/* ---- crops and pads to a shape ---- */

/* Half of the missing elements (or of the surplus, rounded towards 0) goes before. */
ig_status ig_onnx_import_center_crop_pad(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[0]->type;
    ig_ints axes = ig_onnx_attr_list(node, "axes");
    int64_t all[IG_TENSOR_RANK];
    ig_dim extents[IG_TENSOR_RANK];
    uint32_t count = axes.items ? axes.count : type->rank;
    if (count > type->rank || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "axes has %u entries, expected 1 to %u",
                            count, type->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis = ig_onnx_axis_of(node, axes.items ? axes.items[i] : i,
                                        type->rank);
        extents[i] = type->dims[axis];
        all[i] = axis;
    }
    ig_value *wanted = ig_onnx_list_input(node, 1, ig_dim_of(count),
                                          "shape must have as many entries as axes");
    if (!wanted) {
        return e->status;
    }
    wanted = ig_expr_cast(e, wanted, IG_DT_i64);
    ig_value *missing = ig_build_sub(e, wanted, ig_expr_dims(e, extents, count));
    ig_value *before = ig_expr_with(e, IG_OP_div, missing, 2);
    ig_value *after = ig_build_sub(e, missing, before);
    ig_value *pads = ig_expr_concat(e, 0, (ig_value *[]){ before, after }, 2);
    ig_value *zero = ig_expr_number(e, (ig_dtype)type->dtype, 0);
    return ig_onnx_give(node,
                        ig_build_pad(e, node->inputs[0], pads, zero,
                                     ig_expr_ints(e, all, count), (ig_pad_attrs){ 0 }));
}

/* ---- transforms: complex numbers are a last axis of 2 (real ones of 1) ---- */

/* A count of elements: the input's value, or `absent`. */
static ig_dim read_length(ig_onnx_node *node, uint32_t index, ig_dim absent) {
    ig_dims_value known;
    ig_dim length = absent;
    if (!ig_onnx_in(node, index)) {
        return absent;
    }
    if (ig_onnx_dims(node, index, &known) && known.count == 1) {
        return known.dims[0];
    }
    ig_value *value = ig_onnx_count_input(node, index);
    ig_expr_bind_dims(node->e, value, 1, "a length that the model computes", &length);
    return length;
}

/* The last axis cut, or filled with zeros, to `n` elements. */
static ig_value *resize_last(ig_expr *e, ig_value *x, ig_dim n) {
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    if (!x) {
        return NULL;
    }
    uint32_t last = x->type->rank - 1;
    for (uint32_t i = 0; i <= last; i++) {
        before[i] = after[i] = ig_dim_of(0);
    }
    after[last] = ig_dim_sub(e->module, n, ig_onnx_extent(e, x, last));
    return ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
}

/* Parts of x [..., n, 1 or 2]. */
static ig_complex part_complex(ig_onnx_node *node, ig_value *x) {
    ig_complex parts = { NULL, NULL };
    static const char what[] =
        "the last axis of input 0 must be 1 (real) or 2 (complex)";
    uint32_t last = x->type->rank - 1;
    ig_dim count = ig_onnx_extent(node->e, x, last);
    ig_expr_guard_less_equal(node->e, ig_dim_of(1), count, what);
    ig_expr_guard_less_equal(node->e, count, ig_dim_of(2), what);
    x = ig_expr_widen(node->e, x);
    parts.re = ig_expr_select(node->e, x, last, ig_dim_of(0));
    if (!ig_dim_is(count, 1)) {
        x = ig_dim_is(count, 2) ? x : resize_last(node->e, x, ig_dim_of(2));
        parts.im = ig_expr_select(node->e, x, last, ig_dim_of(1));
    }
    return parts;
}

static ig_value *join_complex(ig_expr *e, ig_complex x) {
    if (!x.re || !x.im) {
        return NULL;
    }
    uint32_t rank = x.re->type->rank;
    ig_value *parts[] = { ig_expr_unsqueeze(e, x.re, rank),
                          ig_expr_unsqueeze(e, x.im, rank) };
    return ig_expr_concat(e, rank, parts, 2);
}

/* Of real numbers n / 2 + 1 frequencies say all. */
static ig_dim count_half(ig_expr *e, ig_dim n) {
    ig_dim half = ig_dim_floor_div(e->module, n, ig_dim_of(2));
    return ig_dim_add(e->module, half, ig_dim_of(1));
}

static ig_value *divide_by_length(ig_expr *e, ig_value *x, ig_dim n) {
    return x ? ig_build_div(e, x, ig_expr_dim(e, n, (ig_dtype)x->type->dtype)) : NULL;
}

/* From half of a spectrum to real numbers: [..., n, 1]. */
static ig_value *transform_to_real(ig_onnx_node *node, ig_complex x) {
    ig_expr *e = node->e;
    if (!x.re || !x.im) {
        ig_onnx_fail(node, IG_INVALID, "half of a spectrum must be complex");
        return NULL;
    }
    ig_dim bins = ig_onnx_extent(e, x.re, x.re->type->rank - 1);
    ig_dim n = ig_dim_mul(e->module, ig_dim_sub(e->module, bins, ig_dim_of(1)),
                          ig_dim_of(2));
    n = read_length(node, 1, n);
    ig_dim half = count_half(e, n);
    x = (ig_complex){ resize_last(e, x.re, half), resize_last(e, x.im, half) };
    return divide_by_length(e, ig_compose_dft_to_real_open(e, x, n), n);
}

/* Along the axis before the last of x [..., n, 1 or 2]: x' of the same rank. */
static ig_value *transform_inner(ig_onnx_node *node, ig_value *x) {
    ig_expr *e = node->e;
    bool inverse = ig_onnx_attr_bool(node, "inverse", false);
    bool is_half = ig_onnx_attr_bool(node, "onesided", false);
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    ig_complex parts = part_complex(node, x);
    if (inverse && is_half) {
        return ig_expr_unsqueeze(e, transform_to_real(node, parts), rank - 1);
    }
    ig_dim n = read_length(node, 1, ig_onnx_extent(e, x, rank - 2));
    parts.re = resize_last(e, parts.re, n);
    parts.im = resize_last(e, parts.im, n);
    parts = ig_compose_dft_open(e, parts, is_half ? count_half(e, n) : n, inverse);
    if (inverse) {
        parts.re = divide_by_length(e, parts.re, n);
        parts.im = divide_by_length(e, parts.im, n);
    }
    return join_complex(e, parts);
}

/* The axes before and after one that is known at run time only, as one each. */
typedef struct open_axis {
    ig_value *axis_index, *axis, *extents; /* i64 [axes] 0, 1 ...; []; [axes] */
    ig_dim before, own, after;
    uint32_t axes;
} open_axis;

static open_axis open_dft_axis(ig_onnx_node *node) {
    ig_expr *e = node->e;
    const ig_type *type = node->inputs[0]->type;
    open_axis a = { .axes = type->rank - 1u };
    ig_value *axis = ig_onnx_count_input(node, 2);
    ig_value *from_end = ig_expr_with_integer(e, IG_OP_add, axis, type->rank);
    a.axis = ig_build_where(e, ig_expr_with_integer(e, IG_OP_lt, axis, 0), from_end,
                            axis);
    a.axis_index = ig_expr_iota(e, IG_DT_i64, ig_dim_of(a.axes));
    a.extents = ig_expr_dims(e, type->dims, a.axes);
    static const ig_opcode tests[] = { IG_OP_lt, IG_OP_eq, IG_OP_gt };
    ig_value *one = ig_expr_integer(e, IG_DT_i64, 1), *parts[3];
    for (uint32_t i = 0; i < 3; i++) {
        ig_value *is_own = ig_expr_map2(e, tests[i], a.axis_index, a.axis);
        ig_value *chosen = ig_build_where(e, is_own, a.extents, one);
        parts[i] = ig_expr_reduce(e, IG_REDUCE_prod, chosen, NULL, 0, false);
        parts[i] = ig_expr_unsqueeze(e, parts[i], 0);
    }
    ig_dim dims[3] = { ig_dim_of(1), ig_dim_of(1), ig_dim_of(1) };
    ig_value *all = ig_expr_concat(e, 0, parts, 3);
    ig_expr_bind_dims(e, all, 3, "the extents around an axis that the model computes",
                      dims);
    a.before = dims[0];
    a.own = dims[1];
    a.after = dims[2];
    return a;
}

/* y [before, m, after, parts] in the axes of input 0. */
static ig_value *close_dft_axis(ig_onnx_node *node, const open_axis *a, ig_value *y) {
    ig_expr *e = node->e;
    ig_dim dims[IG_TENSOR_RANK];
    if (!y) {
        return NULL;
    }
    ig_value *extent = ig_expr_dim(e, ig_onnx_extent(e, y, 1), IG_DT_i64);
    ig_value *is_own = ig_build_eq(e, a->axis_index, a->axis);
    ig_value *extents = ig_build_where(e, is_own, extent, a->extents);
    ig_expr_bind_dims(e, extents, a->axes, "an extent of a transform", dims);
    dims[a->axes] = ig_onnx_extent(e, y, 3);
    return ig_expr_reshape(e, y, a->axes + 1, dims);
}

static ig_status transform_open_axis(ig_onnx_node *node) {
    ig_expr *e = node->e;
    open_axis a = open_dft_axis(node);
    IG_TRY(e->status);
    ig_value *x = node->inputs[0];
    ig_dim dims[] = { a.before, a.own, a.after, ig_onnx_extent(e, x, a.axes) };
    ig_value *y = ig_expr_swap(e, ig_expr_reshape(e, x, 4, dims), 1, 2);
    y = transform_inner(node, y);
    y = y ? close_dft_axis(node, &a, ig_expr_swap(e, y, 1, 2)) : NULL;
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}

/* Before opset 20 (variant 1) the axis is an attribute. */
static uint32_t read_dft_axis(ig_onnx_node *node, uint32_t rank) {
    if (node->row->variant == 1) {
        return ig_onnx_axis_attr(node, "axis", 1, rank);
    }
    ig_ints given = ig_onnx_list(node, "axis", 2);
    return ig_onnx_axis_of(node, given.items ? given.items[0] : -2, rank);
}

ig_status ig_onnx_import_dft(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    uint32_t rank = x->type->rank;
    if (rank < 2) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 2 or more",
                            rank);
    }
    if (node->row->variant == 0 && ig_onnx_in(node, 2) && !ig_onnx_is_known(node, 2)) {
        return transform_open_axis(node);
    }
    uint32_t axis = read_dft_axis(node, rank);
    IG_TRY(e->status);
    if (axis + 1 >= rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "axis %u is that of the real and imaginary parts", axis);
    }
    ig_value *y = transform_inner(node, ig_expr_move_axis(e, x, axis, rank - 2));
    y = y ? ig_expr_move_axis(e, y, rank - 2, axis) : NULL;
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}

/* x [B, L] as frames [B, frames, n] of neighbours, `step` apart. */
static ig_value *cut_frames(ig_expr *e, ig_value *x, ig_dim frames, ig_dim n,
                            ig_dim step) {
    if (!x) {
        return NULL;
    }
    ig_value *at = ig_build_mul(e, ig_expr_axis_iota(e, 2, 0, frames),
                                ig_expr_dim(e, step, IG_DT_i64));
    at = ig_build_add(e, at, ig_expr_axis_iota(e, 2, 1, n));
    return ig_expr_gather(e, x, at, 1, IG_NEGATIVE_error);
}

enum { STEP = 1, WINDOW, LENGTH };

ig_status ig_onnx_import_stft(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_module *m = e->module;
    ig_value *x = ig_onnx_float_input(node, 0), *weights = ig_onnx_in(node, WINDOW);
    bool is_half = ig_onnx_attr_bool(node, "onesided", true);
    if (x->type->rank != 2 && x->type->rank != 3) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3",
                            x->type->rank);
    }
    if (!weights && !ig_onnx_in(node, LENGTH)) {
        return ig_onnx_fail(node, IG_INVALID, "needs a window or a frame_length");
    }
    bool is_complex = x->type->rank == 3 && ig_dim_is(ig_onnx_extent(e, x, 2), 2);
    ig_complex parts = { ig_expr_widen(e, x), NULL };
    if (x->type->rank == 3) {
        parts = part_complex(node, x);
    }
    weights = weights ? ig_onnx_ranked_input(node, WINDOW, 1) : NULL;
    IG_TRY(e->status);
    ig_dim n = weights ? ig_onnx_extent(e, weights, 0) : ig_dim_of(1);
    n = read_length(node, LENGTH, n);
    ig_dim step = read_length(node, STEP, ig_dim_of(1));
    ig_dim length = ig_onnx_extent(e, x, 1);
    ig_expr_guard_less_equal(e, ig_dim_of(1), step, "frame_step must be positive");
    ig_expr_guard_less_equal(e, n, length, "the signal is shorter than a frame");
    ig_dim room = ig_dim_sub(m, length, n);
    ig_dim frames = ig_dim_add(m, ig_dim_floor_div(m, room, step), ig_dim_of(1));
    parts.re = cut_frames(e, parts.re, frames, n, step);
    parts.im = cut_frames(e, parts.im, frames, n, step);
    if (weights && parts.re) {
        ig_expr_guard_equal(e, n, ig_onnx_extent(e, weights, 0),
                            "the window must be as long as a frame");
        weights = ig_expr_like(e, weights, parts.re);
        parts.re = ig_build_mul(e, parts.re, weights);
        parts.im = parts.im ? ig_build_mul(e, parts.im, weights) : NULL;
    }
    is_half = is_half && !is_complex;
    parts = ig_compose_dft_open(e, parts, is_half ? count_half(e, n) : n, false);
    return ig_onnx_give(node, ig_expr_like(e, join_complex(e, parts), x));
}

/* ---- MelWeightMatrix ---- */

/* Edge frequencies of the mel bands as bins of the spectrum: 700 (10 ^ (m / 2595) - 1)
 * hertz at mels m at equal distances.  f64, whole numbers, [bands + 2]. */
static ig_value *find_mel_edges(ig_onnx_node *node, ig_dim bands) {
    ig_expr *e = node->e;
    ig_value *mels[2];
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *hertz = ig_expr_cast(e, ig_onnx_scalar_input(node, 3 + i), IG_DT_f64);
        hertz = ig_expr_with(e, IG_OP_add, ig_expr_with(e, IG_OP_div, hertz, 700), 1);
        mels[i] = ig_expr_with(e, IG_OP_mul, ig_build_log10(e, hertz), 2595);
    }
    ig_dim edges = ig_dim_add(e->module, bands, ig_dim_of(2));
    ig_value *step = ig_build_div(e, ig_build_sub(e, mels[1], mels[0]),
                                  ig_expr_dim(e, edges, IG_DT_f64));
    ig_value *at = ig_build_mul(e, ig_expr_iota(e, IG_DT_f64, edges), step);
    at = ig_expr_with(e, IG_OP_div, ig_build_add(e, at, mels[0]), 2595);
    at = ig_build_pow(e, ig_expr_number(e, IG_DT_f64, 10), at);
    at = ig_expr_with(e, IG_OP_mul, ig_expr_with(e, IG_OP_sub, at, 1), 700);
    ig_value *length = ig_expr_cast(e, ig_onnx_scalar_input(node, 1), IG_DT_f64);
    at = ig_build_mul(e, at, ig_expr_with(e, IG_OP_add, length, 1));
    ig_value *rate = ig_expr_cast(e, ig_onnx_scalar_input(node, 2), IG_DT_f64);
    return ig_build_floor(e, ig_build_div(e, at, rate));
}

/* x / y, 0 where y is not positive. */
static ig_value *divide_positive(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *is_good = ig_expr_with(e, IG_OP_gt, y, 0);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    x = ig_build_div(e, x, ig_build_where(e, is_good, y, one));
    return ig_build_where(e, is_good, x, ig_expr_number(e, IG_DT_f64, 0));
}

/* Triangles: a band rises from its lower edge to its centre and falls to the upper. */
ig_status ig_onnx_import_mel_weights(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "output_datatype", IG_DT_f32);
    ig_dim bands = read_length(node, 0, ig_dim_of(0));
    ig_dim bins = count_half(e, read_length(node, 1, ig_dim_of(0)));
    ig_value *edges = find_mel_edges(node, bands), *edge[3];
    ig_value *bin = ig_expr_cast(e, ig_expr_axis_iota(e, 2, 0, bins), IG_DT_f64);
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    for (uint32_t i = 0; i < 3; i++) {
        edge[i] = ig_expr_slice(e, edges, 0, ig_dim_of(i), bands, 1);
        edge[i] = ig_expr_unsqueeze(e, edge[i], 0);
    }
    ig_value *rise = ig_build_sub(e, edge[1], edge[0]);
    ig_value *fall = ig_build_sub(e, edge[2], edge[1]);
    ig_value *up = divide_positive(e, ig_build_sub(e, bin, edge[0]), rise);
    up = ig_build_where(e, ig_build_ge(e, bin, edge[0]), up, zero);
    up = ig_build_where(e, ig_build_le(e, bin, edge[1]), up, zero);
    ig_value *is_peak = ig_build_and(e, ig_expr_with(e, IG_OP_eq, rise, 0),
                                     ig_build_eq(e, bin, edge[1]));
    up = ig_build_where(e, is_peak, ig_expr_number(e, IG_DT_f64, 1), up);
    ig_value *down = divide_positive(e, ig_build_sub(e, edge[2], bin), fall);
    ig_value *falls = ig_build_and(e, ig_build_ge(e, bin, edge[1]),
                                   ig_build_lt(e, bin, edge[2]));
    return ig_onnx_give(node,
                        ig_expr_cast(e, ig_build_where(e, falls, down, up), dtype));
}
