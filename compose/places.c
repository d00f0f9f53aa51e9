/* Places of a resize along an axis whose extents the run learns: the rules of
 * ir/semantics/resize.c as ops over 0, 1 … out - 1.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Places are f32 and weights f64, as there.  The widened kernel of antialias has as
 * many elements as the scale says, and the region of crop is data: both are left alone.
 */
#include "compose/places.h"

/* An axis under way. */
typedef struct places {
    ig_builder *b;
    const ig_resize_axis *axis;
    ig_value *in, *out;  /* f32[] */
    ig_value *scale, *i; /* f32[], f32[out] */
} places;

static ig_value *with(const places *p, ig_opcode code, ig_value *x, double number) {
    return ig_expand_with(p->b, code, x, number);
}

static ig_value *pair(const places *p, ig_opcode code, ig_value *x, ig_value *y) {
    return ig_make2(p->b, code, x, y);
}

static ig_value *extent_of(ig_builder *b, ig_dim extent) {
    ig_value *value = ig_make_reshape(b, ig_make_dims(b, &extent, 1), 0, NULL);
    return ig_make_cast(b, value, IG_DT_f32);
}

static bool is_given(const places *p) {
    return p->axis->scale > 0;
}

/* (i + 0.5) / s */
static ig_value *corner(const places *p) {
    return pair(p, IG_OP_div, with(p, IG_OP_add, p->i, 0.5), p->scale);
}

static ig_value *half_pixel(const places *p) {
    return with(p, IG_OP_sub, corner(p), 0.5);
}

static ig_value *zero_where(const places *p, ig_value *condition, ig_value *x) {
    return ig_make3(p->b, IG_OP_where, condition, ig_make_float(p->b, IG_DT_f32, 0), x);
}

static ig_value *align_corners(const places *p) {
    ig_value *width = is_given(p) ? pair(p, IG_OP_mul, p->scale, p->in) : p->out;
    ig_value *at = pair(p, IG_OP_mul, p->i, with(p, IG_OP_sub, p->in, 1));
    at = pair(p, IG_OP_div, at, with(p, IG_OP_sub, width, 1));
    return zero_where(p, with(p, IG_OP_eq, width, 1), at);
}

static ig_value *symmetric(const places *p) {
    ig_value *middle = with(p, IG_OP_div, p->in, 2);
    ig_value *adjust = pair(p, IG_OP_div, p->out, pair(p, IG_OP_mul, p->scale, p->in));
    ig_value *one = ig_make_float(p->b, IG_DT_f32, 1);
    ig_value *shift = pair(p, IG_OP_mul, middle, pair(p, IG_OP_sub, one, adjust));
    return with(p, IG_OP_sub, pair(p, IG_OP_add, shift, corner(p)), 0.5);
}

static ig_value *place_of(const places *p) {
    switch (p->axis->coordinates) {
    case IG_COORD_half_pixel:
        return half_pixel(p);
    case IG_COORD_half_pixel_symmetric:
        return symmetric(p);
    case IG_COORD_pytorch_half_pixel:
        return zero_where(p, with(p, IG_OP_le, p->out, 1), half_pixel(p));
    case IG_COORD_clamped_half_pixel:
        return with(p, IG_OP_max, half_pixel(p), 0);
    case IG_COORD_half_pixel_corner:
        return corner(p);
    case IG_COORD_align_corners:
        return align_corners(p);
    case IG_COORD_crop:
    case IG_COORD_asymmetric:
        break;
    }
    return pair(p, IG_OP_div, p->i, p->scale);
}

static ig_value *rounded(const places *p, ig_value *place) {
    switch (p->axis->nearest) {
    case IG_NEAREST_round_prefer_ceil:
        return ig_make1(p->b, IG_OP_floor, with(p, IG_OP_add, place, 0.5));
    case IG_NEAREST_floor:
        return ig_make1(p->b, IG_OP_floor, place);
    case IG_NEAREST_ceil:
        return ig_make1(p->b, IG_OP_ceil, place);
    case IG_NEAREST_round_prefer_floor:
        break;
    }
    return ig_make1(p->b, IG_OP_ceil, with(p, IG_OP_sub, place, 0.5));
}

/* Elements inside of the axis, i64. */
static ig_value *clamped(const places *p, ig_value *at) {
    ig_value *last = with(p, IG_OP_sub, p->in, 1);
    at = pair(p, IG_OP_min, at, ig_make_cast(p->b, last, (ig_dtype)at->type->dtype));
    return ig_make_cast(p->b, with(p, IG_OP_max, at, 0), IG_DT_i64);
}

/* Keys' kernel of distances, f64. */
static ig_value *cubic(const places *p, ig_value *distance) {
    double a = p->axis->cubic_a;
    ig_value *x = ig_make1(p->b, IG_OP_abs, distance);
    ig_value *near = with(p, IG_OP_sub, with(p, IG_OP_mul, x, a + 2), a + 3);
    near = pair(p, IG_OP_mul, pair(p, IG_OP_mul, near, x), x);
    near = with(p, IG_OP_add, near, 1);
    ig_value *far = with(p, IG_OP_sub, with(p, IG_OP_mul, x, a), 5 * a);
    far = with(p, IG_OP_add, pair(p, IG_OP_mul, far, x), 8 * a);
    far = with(p, IG_OP_sub, pair(p, IG_OP_mul, far, x), 4 * a);
    ig_value *zero = ig_make_float(p->b, IG_DT_f64, 0);
    far = ig_make3(p->b, IG_OP_where, with(p, IG_OP_lt, x, 2), far, zero);
    return ig_make3(p->b, IG_OP_where, with(p, IG_OP_le, x, 1), near, far);
}

static ig_value *linear(const places *p, ig_value *distance) {
    ig_value *x = ig_make1(p->b, IG_OP_abs, distance);
    ig_value *one = ig_make_float(p->b, IG_DT_f64, 1);
    return with(p, IG_OP_max, pair(p, IG_OP_sub, one, x), 0);
}

/* Weights of elements outside are dropped, the others scaled up. */
static ig_value *exclude_outside(const places *p, ig_value *at, ig_value *weights) {
    ig_value *last = ig_make_cast(p->b, with(p, IG_OP_sub, p->in, 1), IG_DT_f64);
    ig_value *is_in = pair(p, IG_OP_and, with(p, IG_OP_ge, at, 0),
                           pair(p, IG_OP_le, at, last));
    weights = ig_make3(p->b, IG_OP_where, is_in, weights,
                       ig_make_float(p->b, IG_DT_f64, 0));
    ig_value *sum = ig_expand_reduce(p->b, IG_REDUCE_sum, weights, 1, 1);
    ig_value *one = ig_make_float(p->b, IG_DT_f64, 1);
    sum = ig_make3(p->b, IG_OP_where, with(p, IG_OP_eq, sum, 0), one, sum);
    return pair(p, IG_OP_div, weights, sum);
}

bool ig_expand_places(ig_builder *b, const ig_resize_axis *axis, ig_dim in, ig_dim out,
                      ig_places *out_places) {
    places p = { .b = b, .axis = axis };
    if (axis->has_antialias || axis->coordinates == IG_COORD_crop) {
        return false;
    }
    int64_t taps = axis->mode == IG_RESIZE_nearest ? 1
                   : axis->mode == IG_RESIZE_cubic ? 4
                                                   : 2;
    ig_dim flat = ig_dim_mul(b->graph->module, out, ig_dim_of(taps));
    p.in = extent_of(b, in);
    p.out = extent_of(b, out);
    p.scale = is_given(&p) ? ig_make_float(b, IG_DT_f32, (double)axis->scale)
                           : pair(&p, IG_OP_div, p.out, p.in);
    p.i = ig_make_cast(b, ig_expand_range(b, out), IG_DT_f32);
    ig_value *place = place_of(&p);
    *out_places = (ig_places){ .taps = taps };
    if (axis->mode == IG_RESIZE_nearest) {
        out_places->ids = clamped(&p, rounded(&p, place));
        return true;
    }
    ig_value *below = ig_make_cast(b, ig_make1(b, IG_OP_floor, place), IG_DT_f64);
    ig_value *nth = ig_make_cast(b, ig_expand_range(b, ig_dim_of(taps)), IG_DT_f64);
    nth = ig_expand_along(b, with(&p, IG_OP_add, nth, 1.0 - (double)taps / 2), 1, 2);
    ig_value *at = pair(&p, IG_OP_add, ig_expand_along(b, below, 0, 2), nth);
    place = ig_expand_along(b, ig_make_cast(b, place, IG_DT_f64), 0, 2);
    ig_value *distance = pair(&p, IG_OP_sub, at, place);
    ig_value *weights = axis->mode == IG_RESIZE_cubic ? cubic(&p, distance)
                                                      : linear(&p, distance);
    weights = axis->excludes_outside ? exclude_outside(&p, at, weights) : weights;
    out_places->ids = ig_make_reshape(b, clamped(&p, at), 1, &flat);
    out_places->weights = ig_make_reshape(b, ig_make_cast(b, weights, IG_DT_f32), 1,
                                          &flat);
    return true;
}
