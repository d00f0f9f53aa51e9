/* Pooling.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An input without batch gets one of 1, which goes again.  The op `pool` has windows of
 * known sizes.  An axis whose window or stride the run knows is reduced first, by
 * itself: as a whole where the window is the axis, else from windows that are gathered.
 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <assert.h>

enum { SPACE_MAX = 3 };

typedef struct window_axis {
    ig_dim kernel, stride, pad, dilation;
} window_axis;

typedef struct window {
    uint32_t space;
    bool had_batch, ceil_mode, is_max, count_pad;
    int64_t divisor; /* 0: as many elements as there are */
    window_axis axes[SPACE_MAX];
} window;

/* ---- arguments ---- */

/* Argument 0 with a batch axis. */
static ig_value *open_pool(ig_ts_call *call, window *w) {
    ig_value *x = ig_aten_tensor(call, 0);
    assert(w->space > 0 && w->space <= SPACE_MAX && "a variant of the rows");
    if (!x) {
        return NULL;
    }
    w->had_batch = x->type->rank == w->space + 2;
    if (!w->had_batch && x->type->rank != w->space + 1) {
        return ig_expr_fail(call->e, IG_INVALID, "an input of rank %u", x->type->rank);
    }
    return w->had_batch ? x : ig_expr_unsqueeze(call->e, x, 0);
}

/* A list of one number is for all spatial axes; items of `min` or more. */
static const ig_dim *read_list(ig_ts_call *call, uint32_t index, uint32_t space,
                               int64_t min, uint32_t *count) {
    const ig_dim *given = ig_aten_dims(call, index, 0, count);
    if (call->e->status == IG_OK && *count > 1 && *count != space) {
        ig_expr_fail(call->e, IG_INVALID, "%u numbers for %u spatial axes", *count,
                     space);
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < *count; i++) {
        ig_expr_guard_less_equal(call->e, ig_dim_const(call->module, min), given[i],
                                 "a window, its steps or its padding are too small");
    }
    return given;
}

/* kernel_size, stride ([]: the kernel's), padding at 1, 2, 3, dilation at 4 for
 * maxima. */
static bool read_window(ig_ts_call *call, window *w) {
    uint32_t counts[4] = { 0, 0, 0, 1 };
    const ig_dim one = ig_dim_of(1), *lists[4] = { NULL, NULL, NULL, &one };
    for (uint32_t k = 0; k < (w->is_max ? 4 : 3); k++) {
        lists[k] = read_list(call, 1 + k, w->space, k == 2 ? 0 : 1, &counts[k]);
        if (call->e->status == IG_OK && counts[k] == 0 && k != 1) {
            ig_expr_fail(call->e, IG_INVALID, "0 numbers for %u spatial axes",
                         w->space);
        }
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < w->space; i++) {
        ig_dim own[4];
        for (uint32_t k = 0; k < 4; k++) {
            own[k] = lists[counts[k] ? k : 0][counts[counts[k] ? k : 0] > 1 ? i : 0];
        }
        w->axes[i] = (window_axis){ own[0], own[1], own[2], own[3] };
    }
    return call->e->status == IG_OK;
}

static ig_value *squeeze_batch(ig_ts_call *call, const window *w, ig_value *x) {
    return w->had_batch ? x : ig_expr_squeeze(call->e, x, 0);
}

/* ---- windows that the run knows ---- */

static bool is_known(const window_axis *a) {
    return ig_dim_is_static(a->kernel) && ig_dim_is_static(a->stride) &&
           ig_dim_is_static(a->pad) && ig_dim_is_static(a->dilation);
}

/* The windows of an axis of `extent` as [positions, kernel]. */
typedef struct windows {
    ig_dim extent, positions;
    ig_value *start; /* [positions, 1]: of each window, negative in the padding */
    ig_value *step;  /* [1, kernel]: from a window's start */
} windows;

static ig_dim count_positions(ig_module *m, const window *w, const window_axis *a,
                              ig_dim extent) {
    ig_dim one = ig_dim_of(1), padded = ig_dim_add(m, extent, a->pad);
    ig_dim pads = ig_dim_add(m, a->pad, a->pad);
    ig_dim room = ig_aten_window_room(m, extent, pads, a->kernel, a->dilation);
    if (!w->ceil_mode) {
        return ig_dim_add(m, ig_dim_floor_div(m, room, a->stride), one);
    }
    ig_dim count = ig_dim_add(m, ig_dim_ceil_div(m, room, a->stride), one);
    /* the last window begins before the padding at the end */
    return ig_dim_min(m, count, ig_dim_ceil_div(m, padded, a->stride));
}

static windows find_windows(ig_ts_call *call, const window *w, const window_axis *a,
                            ig_dim extent) {
    ig_expr *e = call->e;
    windows out = { extent, count_positions(call->module, w, a, extent), NULL, NULL };
    ig_value *stride = ig_expr_dim(e, a->stride, IG_DT_i64);
    ig_value *dilation = ig_expr_dim(e, a->dilation, IG_DT_i64);
    ig_expr_guard_less_equal(e, ig_dim_of(1), out.positions,
                             "the windows do not fit the input");
    out.start = ig_build_mul(e, ig_expr_axis_iota(e, 2, 0, out.positions), stride);
    out.start = ig_build_sub(e, out.start, ig_expr_dim(e, a->pad, IG_DT_i64));
    out.step = ig_build_mul(e, ig_expr_axis_iota(e, 2, 1, a->kernel), dilation);
    return out;
}

/* How many elements there are from `start` on to `end`: [positions, 1]. */
static ig_value *count_taken(ig_ts_call *call, const window *w, const window_axis *a,
                             const windows *s) {
    ig_expr *e = call->e;
    ig_dim past = w->count_pad ? ig_dim_add(call->module, s->extent, a->pad)
                               : s->extent;
    ig_value *end = ig_build_add(e, s->start, ig_expr_dim(e, a->kernel, IG_DT_i64));
    end = ig_build_min(e, end, ig_expr_dim(e, past, IG_DT_i64));
    ig_value *start = w->count_pad ? s->start : ig_expr_with(e, IG_OP_max, s->start, 0);
    return ig_expr_with(e, IG_OP_max, ig_build_sub(e, end, start), 1);
}

/* Sums of windows, of which elements in the padding are none. */
static ig_value *add_windows(ig_ts_call *call, const window *w, const window_axis *a,
                             ig_value *x, uint32_t axis) {
    ig_expr *e = call->e;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rest = x->type->rank - 1 - axis;
    windows s = find_windows(call, w, a, ig_expr_extent(e, x, axis));
    ig_value *last = ig_expr_dim(e, s.extent, IG_DT_i64);
    ig_value *at = ig_build_add(e, s.start, s.step);
    ig_value *is_inside = ig_build_and(e, ig_expr_with(e, IG_OP_ge, at, 0),
                                       ig_build_lt(e, at, last));
    at = ig_build_where(e, is_inside, at, ig_expr_integer(e, IG_DT_i64, 0));
    ig_value *parts = ig_expr_gather(e, x, at, axis, IG_NEGATIVE_wrap);
    is_inside = ig_expr_unsqueeze_to(e, is_inside, 2 + rest);
    parts = ig_build_where(e, is_inside, parts, ig_expr_number(e, dtype, 0));
    parts = ig_expr_reduce_axis(e, IG_REDUCE_sum, parts, axis + 1, false);
    if (w->divisor) {
        return parts;
    }
    ig_value *count = ig_expr_cast(e, count_taken(call, w, a, &s), dtype);
    count = ig_expr_unsqueeze_to(e, ig_expr_squeeze(e, count, 1), 1 + rest);
    return ig_build_div(e, parts, count);
}

/* Maxima of windows: elements outside are the first or the last one inside. */
static ig_value *find_maxima(ig_ts_call *call, const window *w, const window_axis *a,
                             ig_value *x, uint32_t axis) {
    ig_expr *e = call->e;
    windows s = find_windows(call, w, a, ig_expr_extent(e, x, axis));
    ig_value *dilation = ig_expr_dim(e, a->dilation, IG_DT_i64);
    ig_value *last = ig_expr_dim(e, ig_dim_sub(call->module, s.extent, ig_dim_of(1)),
                                 IG_DT_i64);
    /* steps to the first element that is not negative, and to the last one */
    ig_value *low = ig_build_div(e, ig_build_neg(e, s.start), dilation);
    low = ig_expr_with(e, IG_OP_max, ig_build_mul(e, low, dilation), 0);
    ig_value *is_short = ig_expr_with(e, IG_OP_lt, ig_build_add(e, s.start, low), 0);
    low = ig_build_where(e, is_short, ig_build_add(e, low, dilation), low);
    ig_value *high = ig_build_div(e, ig_build_sub(e, last, s.start), dilation);
    high = ig_build_mul(e, high, dilation);
    ig_value *step = ig_build_max(e, ig_build_min(e, s.step, high), low);
    ig_value *at = ig_build_add(e, s.start, step);
    ig_value *parts = ig_expr_gather(e, x, at, axis, IG_NEGATIVE_error);
    return ig_expr_reduce_axis(e, IG_REDUCE_max, parts, axis + 1, false);
}

static ig_value *pool_axis(ig_ts_call *call, const window *w, const window_axis *a,
                           ig_value *x, uint32_t axis) {
    ig_reduce kind = w->is_max    ? IG_REDUCE_max
                     : w->divisor ? IG_REDUCE_sum
                                  : IG_REDUCE_mean;
    bool is_whole = ig_dim_is(a->pad, 0) && ig_dim_is(a->dilation, 1) &&
                    ig_dim_equal(call->module, a->kernel,
                                 ig_expr_extent(call->e, x, axis)) == IG_YES;
    return is_whole    ? ig_expr_reduce_axis(call->e, kind, x, axis, true)
           : w->is_max ? find_maxima(call, w, a, x, axis)
                       : add_windows(call, w, a, x, axis);
}

/* Reduces the axes whose windows are not known; each of them then has windows of one
 * element.  NULL: the call has failed. */
static ig_value *pool_open_axes(ig_ts_call *call, window *w, ig_value *x) {
    ig_value *wide = w->is_max || !x ? x : ig_expr_widen(call->e, x), *y = wide;
    bool is_open = false;
    for (uint32_t i = 0; y && i < w->space; i++) {
        if (!is_known(&w->axes[i])) {
            is_open = true;
            y = pool_axis(call, w, &w->axes[i], y, 2 + i);
            ig_dim one = ig_dim_of(1);
            w->axes[i] = (window_axis){ one, one, ig_dim_of(0), one };
        }
    }
    return is_open ? y : x;
}

/* ---- pools of known windows ---- */

typedef struct lists {
    int64_t kernel[SPACE_MAX], strides[SPACE_MAX], dilations[SPACE_MAX];
    ig_dim pads[SPACE_MAX];
} lists;

/* The attributes refer to `l`. */
static ig_pool_attrs pool_over(const window *w, lists *l) {
    for (uint32_t i = 0; i < w->space; i++) {
        const window_axis *a = &w->axes[i];
        l->kernel[i] = ig_dim_value(a->kernel);
        l->strides[i] = ig_dim_value(a->stride);
        l->dilations[i] = ig_dim_value(a->dilation);
        l->pads[i] = a->pad;
    }
    return (ig_pool_attrs){ .op = w->is_max ? IG_WINDOW_max : IG_WINDOW_average,
                            .kernel = { l->kernel, w->space },
                            .strides = { l->strides, w->space },
                            .dilations = { l->dilations, w->space },
                            .before = { l->pads, w->space },
                            .after = { l->pads, w->space },
                            .ceil_mode = w->ceil_mode,
                            .count_pad = w->count_pad,
                            .divisor = { w->divisor != 0, w->divisor } };
}

/* max_poolNd(self, kernel_size, stride, padding, dilation, ceil_mode); variant: N, and
 * + 10 for the form that gives indices too */
ig_status ig_ts_op_max_pool(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_float(call, ig_ts_op_max_pool);
    }
    window w = { .space = (uint32_t)call->row->variant % 10, .is_max = true };
    ig_value *x = open_pool(call, &w);
    if (!x || !read_window(call, &w)) {
        return call->e->status;
    }
    w.ceil_mode = ig_aten_bool(call, 5);
    bool has_indices = call->row->variant >= 10;
    for (uint32_t i = 0; has_indices && i < w.space; i++) {
        if (!is_known(&w.axes[i])) {
            return ig_ts_fail(call, IG_UNSUPPORTED,
                              "gives indices of windows whose size the run knows, "
                              "which is not supported yet");
        }
    }
    ig_value *y = pool_open_axes(call, &w, x);
    IG_TRY(call->e->status); /* windows after the one that failed are not known */
    lists l;
    ig_pool_attrs attrs = pool_over(&w, &l);
    y = squeeze_batch(call, &w, ig_build_pool(call->e, y, attrs));
    if (!has_indices) {
        return ig_aten_give(call, y);
    }
    ig_pool_indices_attrs found = { .kernel = attrs.kernel,
                                    .strides = attrs.strides,
                                    .dilations = attrs.dilations,
                                    .before = attrs.before,
                                    .after = attrs.after,
                                    .ceil_mode = attrs.ceil_mode };
    ig_value *indices = ig_build_pool_indices(call->e, x, found);
    return ig_aten_give2(call, y, squeeze_batch(call, &w, indices));
}

/* avg_poolNd(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
 * divisor_override); variant: N.  avg_pool1d has no divisor. */
ig_status ig_ts_op_avg_pool(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_steps(call, ig_ts_op_avg_pool);
    }
    window w = { .space = (uint32_t)call->row->variant };
    ig_value *x = open_pool(call, &w);
    if (!x || !read_window(call, &w)) {
        return call->e->status;
    }
    w.ceil_mode = ig_aten_bool(call, 4);
    w.count_pad = ig_aten_bool(call, 5);
    w.divisor = call->arg_count > 6 ? ig_aten_int_or(call, 6, 0) : 0;
    ig_value *y = pool_open_axes(call, &w, x);
    IG_TRY(call->e->status);
    lists l;
    y = ig_build_pool(call->e, y, pool_over(&w, &l));
    return ig_aten_give(call, squeeze_batch(call, &w, ig_expr_like(call->e, y, x)));
}

/* adaptive_{avg,max}_poolNd(self, output_size); variant: N, and + 10 for max, which
 * gives indices too */
ig_status ig_ts_op_adaptive_pool(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_steps(call, ig_ts_op_adaptive_pool);
    }
    uint32_t space = (uint32_t)call->row->variant % 10, count;
    bool is_max = call->row->variant >= 10;
    window w = { .space = space };
    ig_value *x = open_pool(call, &w);
    if (!x) {
        return call->e->status;
    }
    const ig_dim *sizes = ig_aten_dims(call, 1, space, &count);
    IG_TRY(call->e->status);
    ig_value *value = ig_build_adaptive_pool(
        call->e, x,
        (ig_adaptive_pool_attrs){ .op = is_max ? IG_ADAPTIVE_max : IG_ADAPTIVE_average,
                                  .sizes = { sizes, space } });
    value = squeeze_batch(call, &w, value);
    if (!is_max) {
        return ig_aten_give(call, value);
    }
    ig_value *indices = ig_build_adaptive_pool_indices(
        call->e, x, (ig_adaptive_pool_indices_attrs){ .sizes = { sizes, space } });
    return ig_aten_give2(call, value, squeeze_batch(call, &w, indices));
}
