/* Rows of torch.fft and of short-time transforms (compose/math/fourier.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/complex.h"
#include "ir/build/extent.h"

#include <math.h>
#include <string.h>

/* ---- along one axis ---- */

/* What sums are divided by: 1, the root of their count, or the count (torch's
 * fft_norm_mode). */
typedef enum division { BY_ONE, BY_ROOT, BY_ALL } division;

static division read_norm(ig_ts_call *call, uint32_t index, bool inverse) {
    ig_str norm = ig_ts_is_none(call, index) ? ig_str_of("backward")
                                             : ig_aten_str(call, index);
    bool is_backward = ig_str_is(norm, "backward");
    if (ig_str_is(norm, "ortho")) {
        return BY_ROOT;
    }
    if (!is_backward && !ig_str_is(norm, "forward")) {
        ig_expr_fail(call->e, IG_INVALID, "norm is '%.*s'", IG_STR_ARG(norm));
    }
    return is_backward == inverse ? BY_ALL : BY_ONE;
}

static ig_value *divide_by(ig_expr *e, ig_value *x, ig_dim n, division by) {
    int64_t count;
    if (!x || by == BY_ONE) {
        return x;
    }
    if (ig_dim_constant(e->module, n, &count)) {
        double all = (double)count;
        return ig_expr_with(e, IG_OP_mul, x, 1 / (by == BY_ROOT ? sqrt(all) : all));
    }
    ig_value *all = ig_expr_dim(e, n, (ig_dtype)x->type->dtype);
    return ig_build_div(e, x, by == BY_ROOT ? ig_build_sqrt(e, all) : all);
}

static ig_complex divide_parts(ig_expr *e, ig_complex x, ig_dim n, division by) {
    return (ig_complex){ divide_by(e, x.re, n, by), divide_by(e, x.im, n, by) };
}

/* The axis cut, or filled with zeros, to n elements. */
static ig_value *fit_axis(ig_expr *e, ig_value *x, uint32_t axis, ig_dim n) {
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    if (!x || ig_dim_same(ig_expr_extent(e, x, axis), n)) {
        return x;
    }
    for (uint32_t i = 0; i < x->type->rank; i++) {
        before[i] = after[i] = ig_dim_of(0);
    }
    ig_dim kept = ig_dim_min(e->module, ig_expr_extent(e, x, axis), n);
    after[axis] = ig_dim_sub(e->module, n, kept);
    x = ig_expr_slice(e, x, axis, ig_dim_of(0), kept, 1);
    return ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
}

static ig_complex fit_parts(ig_expr *e, ig_complex x, uint32_t axis, ig_dim n) {
    return (ig_complex){ fit_axis(e, x.re, axis, n), fit_axis(e, x.im, axis, n) };
}

static ig_dim half_of(ig_module *m, ig_dim n) {
    return ig_dim_add(m, ig_dim_floor_div(m, n, ig_dim_of(2)), ig_dim_of(1));
}

static ig_complex move_parts(ig_expr *e, ig_complex x, uint32_t from, uint32_t to) {
    return (ig_complex){ x.re ? ig_expr_move_axis(e, x.re, from, to) : NULL,
                         x.im ? ig_expr_move_axis(e, x.im, from, to) : NULL };
}

/* The first `is_half` or all frequencies of an axis. */
static ig_complex transform_axis(ig_expr *e, ig_complex x, uint32_t axis, bool is_half,
                                 bool inverse) {
    int64_t n;
    if (!x.re) {
        return x;
    }
    ig_dim extent = ig_expr_extent(e, x.re, axis);
    ig_dim count = is_half ? half_of(e->module, extent) : extent;
    if (ig_dim_constant(e->module, extent, &n)) {
        return ig_compose_dft(e, x, axis, is_half ? n / 2 + 1 : 0, inverse);
    }
    uint32_t last = x.re->type->rank - 1u;
    x = ig_compose_dft_open(e, move_parts(e, x, axis, last), count, inverse);
    return move_parts(e, x, last, axis);
}

/* The real x of n elements whose frequencies are along an axis. */
static ig_value *to_real_axis(ig_expr *e, ig_complex x, uint32_t axis, ig_dim n) {
    int64_t known;
    x = fit_parts(e, x, axis, half_of(e->module, n));
    if (!x.re || ig_dim_constant(e->module, n, &known)) {
        return x.re ? ig_compose_dft_to_real(e, x, axis, known) : NULL;
    }
    uint32_t last = x.re->type->rank - 1u;
    ig_value *y = ig_compose_dft_to_real_open(e, move_parts(e, x, axis, last), n);
    return y ? ig_expr_move_axis(e, y, last, axis) : NULL;
}

/* Argument 0 by its parts; real ones have no imaginary part. */
static ig_complex read_parts(ig_ts_call *call) {
    const ig_ts_tensor *self = ig_ts_peek(call, 0);
    ig_complex x = { NULL, NULL };
    if (self && self->dtype->is_complex) {
        x = ig_aten_complex_parts(call, 0, (ig_dtype)self->type->dtype);
    } else {
        x.re = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    }
    if (x.re && x.re->type->rank == 0) {
        ig_expr_fail(call->e, IG_INVALID, "self is one number, without an axis");
        x.re = NULL;
    }
    return x;
}

/* A real tensor as a complex one. */
static ig_complex with_imaginary(ig_expr *e, ig_complex x) {
    if (x.re && !x.im) {
        x.im = ig_expr_with(e, IG_OP_mul, x.re, 0);
    }
    return x;
}

/* Axes that are transformed, in order, and the extents that are asked for. */
typedef struct plan {
    uint32_t axes[IG_TENSOR_RANK], count;
    ig_dim extents[IG_TENSOR_RANK];
    bool has_extent[IG_TENSOR_RANK];
    division by;
    int flags; /* IG_ATEN_FFT_* */
} plan;

/* Last axis first of real data, last of those that become real. */
static ig_status transform_all(ig_ts_call *call, ig_complex x, const plan *p) {
    ig_expr *e = call->e;
    bool inverse = p->flags & IG_ATEN_FFT_INVERSE;
    bool to_real = p->flags & IG_ATEN_FFT_TO_REAL;
    bool from_real = p->flags & IG_ATEN_FFT_FROM_REAL;
    if (from_real && x.im) {
        return ig_ts_fail(call, IG_INVALID, "takes a real tensor");
    }
    for (uint32_t i = p->count; i-- > 0 && x.re;) {
        uint32_t axis = p->axes[i];
        bool is_last = i + 1 == p->count;
        if (to_real && is_last) {
            continue;
        }
        ig_dim n = p->has_extent[i] ? p->extents[i] : ig_expr_extent(e, x.re, axis);
        x = fit_parts(e, x, axis, n);
        x = transform_axis(e, x, axis, from_real && is_last, inverse);
        x = divide_parts(e, x, n, p->by);
    }
    if (!to_real || !x.re) {
        IG_TRY(e->status);
        return ig_aten_give_complex(call, with_imaginary(e, x));
    }
    uint32_t axis = p->axes[p->count - 1];
    ig_dim less = ig_dim_sub(e->module, ig_expr_extent(e, x.re, axis), ig_dim_of(1));
    ig_dim n = p->has_extent[p->count - 1] ? p->extents[p->count - 1]
                                           : ig_dim_mul(e->module, less, ig_dim_of(2));
    ig_value *y = to_real_axis(e, with_imaginary(e, x), axis, n);
    return ig_aten_give(call, divide_by(e, y, n, p->by));
}

/* fft_*(self, n, dim, norm); variant: IG_ATEN_FFT_* */
ig_status ig_ts_op_fft(ig_ts_call *call) {
    ig_complex x = read_parts(call);
    int flags = call->row->variant;
    plan p = { .count = 1,
               .by = read_norm(call, 3, flags & IG_ATEN_FFT_INVERSE),
               .flags = flags };
    IG_TRY(call->e->status);
    p.axes[0] = ig_aten_axis(call, 2, x.re->type->rank);
    p.has_extent[0] = !ig_ts_is_none(call, 1);
    p.extents[0] = p.has_extent[0] ? ig_aten_dim(call, 1) : ig_dim_of(0);
    IG_TRY(call->e->status);
    return transform_all(call, x, &p);
}

/* fft_*n(self, s, dim, norm): without dim all axes, or as many of the last as s has */
ig_status ig_ts_op_fft_many(ig_ts_call *call) {
    ig_complex x = read_parts(call);
    int flags = call->row->variant;
    plan p = { .by = read_norm(call, 3, flags & IG_ATEN_FFT_INVERSE), .flags = flags };
    uint32_t sizes = 0, count = 0;
    const ig_dim *extents = ig_ts_is_none(call, 1) ? NULL
                                                   : ig_aten_dims(call, 1, 0, &sizes);
    bool has_axes = !ig_ts_is_none(call, 2);
    const int64_t *axes = has_axes ? ig_aten_ints(call, 2, 0, &count) : NULL;
    IG_TRY(call->e->status);
    uint32_t rank = x.re->type->rank;
    p.count = has_axes ? count : extents ? sizes : rank;
    if (p.count == 0 || p.count > rank || (extents && sizes != p.count)) {
        return ig_ts_fail(call, IG_INVALID, "%u axes and %u extents for rank %u",
                          p.count, sizes, rank);
    }
    for (uint32_t i = 0; i < p.count; i++) {
        int64_t axis = axes ? axes[i] : (int64_t)(rank - p.count + i), known;
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank) {
            return ig_ts_fail(call, IG_INVALID, "an axis is outside of rank %u", rank);
        }
        p.axes[i] = (uint32_t)axis;
        bool is_own = extents && ig_dim_constant(call->module, extents[i], &known) &&
                      known == -1;
        p.has_extent[i] = extents && !is_own;
        p.extents[i] = extents ? extents[i] : ig_dim_of(0);
    }
    return transform_all(call, x, &p);
}

/* _fft_*(self, dim, normalization, …), to which torch takes the others apart: last
 * comes the last axis' extent, or whether half of its frequencies are wanted, or the
 * way. */
ig_status ig_ts_op_fft_apart(ig_ts_call *call) {
    ig_complex x = read_parts(call);
    plan p = { .by = (division)ig_aten_int(call, 2), .flags = call->row->variant };
    IG_TRY(call->e->status);
    const int64_t *axes = ig_aten_axes(call, 1, x.re->type->rank, false, &p.count);
    IG_TRY(call->e->status);
    if (p.count == 0 || p.by < BY_ONE || p.by > BY_ALL) {
        return ig_ts_fail(call, IG_INVALID,
                          "takes one axis or more, and a mode of 0 to 2");
    }
    for (uint32_t i = 0; i < p.count; i++) {
        p.axes[i] = (uint32_t)axes[i];
    }
    if (p.flags & IG_ATEN_FFT_TO_REAL) {
        p.has_extent[p.count - 1] = true;
        p.extents[p.count - 1] = ig_aten_dim(call, 3);
    } else if (!ig_aten_bool(call, 3)) {
        p.flags = p.flags & IG_ATEN_FFT_FROM_REAL ? 0 : IG_ATEN_FFT_INVERSE;
    }
    IG_TRY(call->e->status);
    return transform_all(call, x, &p);
}

/* ---- windows along time ---- */

typedef struct windows {
    int64_t size, hop, width; /* of a transform, between two, of the window */
    ig_value *window;         /* [size]; NULL: all 1 */
    bool is_normalized, is_half;
} windows;

/* (…, n_fft, hop_length, win_length, window) from argument 1 on. */
static bool read_windows(ig_ts_call *call, ig_dtype dtype, windows *out) {
    ig_expr *e = call->e;
    out->size = ig_aten_distance(call, 1);
    out->hop = ig_aten_int_or(call, 2, out->size / 4);
    out->width = ig_aten_int_or(call, 3, out->size);
    ig_value *window = ig_aten_optional(call, 4);
    if (e->status == IG_OK &&
        (out->size < 1 || out->hop < 1 || out->width < 1 || out->width > out->size)) {
        ig_expr_fail(e, IG_INVALID, "n_fft is %lld, hop_length %lld, win_length %lld",
                     (long long)out->size, (long long)out->hop, (long long)out->width);
    }
    if (window && window->type->rank != 1) {
        ig_expr_fail(e, IG_INVALID, "the window has %u axes, expected 1",
                     window->type->rank);
    }
    if (e->status != IG_OK) {
        return false;
    }
    ig_dim width = ig_dim_of(out->width);
    if (window) {
        ig_expr_guard_equal(e, ig_expr_extent(e, window, 0), width,
                            "the window must have win_length elements");
        window = ig_aten_cast(call, window, dtype);
    } else if (out->width < out->size) {
        window = ig_expr_fill(e, dtype, 1, &width, 1);
    }
    int64_t left = (out->size - out->width) / 2;
    ig_dim before = ig_dim_of(left), after = ig_dim_of(out->size - out->width - left);
    out->window = window && out->width < out->size
                      ? ig_expr_pad(e, window, &before, &after, IG_PAD_constant, 0)
                      : window;
    return e->status == IG_OK;
}

/* Positions of each window's elements, i64 [count, size]. */
static ig_value *positions_of(ig_expr *e, const windows *w, ig_dim count) {
    ig_value *start = ig_expr_axis_iota(e, 2, 0, count);
    start = ig_expr_with_integer(e, IG_OP_mul, start, w->hop);
    return ig_build_add(e, start, ig_expr_axis_iota(e, 2, 1, ig_dim_of(w->size)));
}

static ig_value *pad_ends(ig_ts_call *call, ig_value *x, int64_t amount, ig_str mode) {
    ig_dim ends[IG_TENSOR_RANK];
    ig_pad_mode kind = ig_str_is(mode, "reflect")     ? IG_PAD_reflect
                       : ig_str_is(mode, "replicate") ? IG_PAD_edge
                       : ig_str_is(mode, "circular")  ? IG_PAD_wrap
                                                      : IG_PAD_constant;
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        ends[i] = ig_dim_of(i + 1u == x->type->rank ? amount : 0);
    }
    return ig_expr_pad(call->e, x, ends, ends, kind, 0);
}

static bool is_wanted(ig_ts_call *call, uint32_t index, bool none) {
    return ig_ts_is_none(call, index) ? none : ig_aten_bool(call, index);
}

/* stft(self, n_fft, hop_length, win_length, window, [center, pad_mode,] normalized,
 * onesided, return_complex): [frequencies, windows]; variant 1: the form with center */
ig_status ig_ts_op_stft(ig_ts_call *call) {
    ig_expr *e = call->e;
    uint32_t at = call->row->variant ? 7 : 5; /* normalized */
    ig_complex x = read_parts(call);
    windows w;
    if (!x.re || !read_windows(call, (ig_dtype)x.re->type->dtype, &w)) {
        return e->status;
    }
    if (x.im || x.re->type->rank > 2) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "a signal of rank %u or of complex numbers",
                          x.re->type->rank);
    }
    if (call->row->variant && ig_aten_bool(call, 5)) {
        x.re = pad_ends(call, x.re, w.size / 2, ig_aten_str(call, 6));
    }
    IG_TRY(e->status);
    uint32_t rank = x.re->type->rank;
    ig_dim length = ig_expr_extent(e, x.re, rank - 1), size = ig_dim_of(w.size);
    ig_expr_guard_less_equal(e, size, length,
                             "the signal must be as long as one window or longer");
    ig_dim count = ig_dim_sub(e->module, length, size);
    count = ig_dim_floor_div(e->module, count, ig_dim_of(w.hop));
    count = ig_dim_add(e->module, count, ig_dim_of(1));
    ig_complex y = { ig_expr_gather(e, x.re, positions_of(e, &w, count), rank - 1,
                                    IG_NEGATIVE_error),
                     NULL };
    y.re = w.window ? ig_build_mul(e, y.re, w.window) : y.re;
    y = transform_axis(e, y, rank, is_wanted(call, at + 1, true), false);
    y = divide_parts(e, y, size, ig_aten_bool(call, at) ? BY_ROOT : BY_ONE);
    y = move_parts(e, y, rank, rank - 1);
    IG_TRY(e->status);
    if (is_wanted(call, at + 2, false)) {
        return ig_aten_give_complex(call, y);
    }
    ig_value *both[] = { ig_expr_unsqueeze(e, y.re, rank + 1),
                         ig_expr_unsqueeze(e, y.im, rank + 1) };
    return ig_aten_give(call, ig_expr_concat(e, rank + 1, both, 2));
}

/* [batch, windows, size] added at the windows' positions: [batch, length]. */
static ig_value *add_windows(ig_expr *e, const windows *w, ig_value *x, ig_dim length) {
    if (!x) {
        return NULL;
    }
    ig_dim count = ig_expr_extent(e, x, 1), batch = ig_expr_extent(e, x, 0);
    ig_dim all = ig_dim_mul(e->module, count, ig_dim_of(w->size));
    ig_dim flat[] = { batch, all }, dims[] = { batch, length };
    ig_value *at = ig_expr_flatten(e, positions_of(e, w, count));
    at = ig_expr_expand(e, at, 2, flat);
    ig_value *none = ig_expr_fill(e, (ig_dtype)x->type->dtype, 2, dims, 0);
    ig_scatter_elements_attrs attrs = { .axis = 1,
                                        .reduce = IG_SCATTER_add,
                                        .negative = IG_NEGATIVE_error };
    return ig_build_scatter_elements(e, none, at, ig_expr_reshape(e, x, 2, flat),
                                     attrs);
}

/* The part of [batch, all] that is given: without what center added, `length` long. */
static ig_value *cut_signal(ig_ts_call *call, const windows *w, ig_value *x,
                            bool is_centred) {
    ig_module *m = call->module;
    ig_dim start = ig_dim_of(is_centred ? w->size / 2 : 0),
           all = ig_expr_extent(call->e, x, 1);
    ig_dim rest = ig_dim_sub(m, all, start);
    if (!ig_ts_is_none(call, 8)) {
        ig_dim length = ig_aten_dim(call, 8);
        x = ig_expr_slice(call->e, x, 1, start, rest, 1);
        return fit_axis(call->e, x, 1, length);
    }
    return ig_expr_slice(call->e, x, 1, start, ig_dim_sub(m, rest, start), 1);
}

/* Of [batch, windows, frequencies]: a real signal's other half says the same again. */
static ig_complex first_half(ig_ts_call *call, const windows *w, ig_complex x) {
    ig_expr *e = call->e;
    if (e->status != IG_OK) {
        return x;
    }
    ig_dim all = ig_expr_extent(e, x.re, 2), half = ig_dim_of(w->size / 2 + 1);
    bool is_whole = ig_dim_equal(e->module, all, ig_dim_of(w->size)) == IG_YES;
    if (is_wanted(call, 7, !is_whole)) {
        return x;
    }
    return (ig_complex){ ig_expr_slice(e, x.re, 2, ig_dim_of(0), half, 1),
                         ig_expr_slice(e, x.im, 2, ig_dim_of(0), half, 1) };
}

/* istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided,
 * length, return_complex) */
ig_status ig_ts_op_istft(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_complex x = read_parts(call);
    windows w;
    if (!x.re || !read_windows(call, (ig_dtype)x.re->type->dtype, &w)) {
        return e->status;
    }
    uint32_t rank = x.re->type->rank;
    if (!x.im || rank < 2 || rank > 3 || ig_aten_bool(call, 9)) {
        return ig_ts_fail(call, IG_UNSUPPORTED,
                          "takes a spectrum of rank 2 or 3, and gives a real signal");
    }
    bool is_one = rank == 2, is_centred = ig_aten_bool(call, 5);
    if (is_one) {
        x = (ig_complex){ ig_expr_unsqueeze(e, x.re, 0),
                          ig_expr_unsqueeze(e, x.im, 0) };
    }
    ig_dim size = ig_dim_of(w.size);
    x = first_half(call, &w, move_parts(e, x, 1, 2));
    ig_value *y = to_real_axis(e, x, 2, size);
    y = divide_by(e, y, size, ig_aten_bool(call, 6) ? BY_ROOT : BY_ALL);
    IG_TRY(e->status);
    ig_dim dims[] = { ig_dim_of(1), ig_expr_extent(e, y, 1), size }, last = dims[1];
    last = ig_dim_mul(e->module, ig_dim_sub(e->module, last, ig_dim_of(1)),
                      ig_dim_of(w.hop));
    ig_dim length = ig_dim_add(e->module, last, size);
    ig_value *weight = ig_expr_fill(e, (ig_dtype)y->type->dtype, 3, dims, 1);
    if (w.window) {
        y = ig_build_mul(e, y, w.window);
        weight = ig_build_mul(e, weight, ig_build_mul(e, w.window, w.window));
    }
    y = add_windows(e, &w, y, length);
    weight = add_windows(e, &w, weight, length);
    IG_TRY(e->status);
    ig_value *is_none = ig_expr_with(e, IG_OP_eq, weight, 0);
    ig_value *one = ig_expr_number(e, (ig_dtype)y->type->dtype, 1);
    weight = ig_build_where(e, is_none, one, weight);
    y = cut_signal(call, &w, ig_build_div(e, y, weight), is_centred);
    return ig_aten_give(call, is_one && y ? ig_expr_squeeze(e, y, 0) : y);
}
