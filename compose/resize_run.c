/* Elements and weights of a resized axis whose extents the run learns: the rules of
 * ir/semantics/resize.c as ops over 0, 1 … out - 1.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Coordinates are f32 and weights f64, as there.  The widened kernel of antialias has
 * as many elements as the scale says, and the region of crop is data: both are left
 * alone.
 */
#include "compose/resize.h"

#include <assert.h>

typedef struct run_axis {
    ig_expr *e;
    const ig_resize_axis *axis;
    ig_value *in, *out;  /* f32[] */
    ig_value *scale, *i; /* f32[], f32[out] */
} run_axis;

/* ---- coordinates ---- */

/* (i + 0.5) / s */
static ig_value *find_corner(const run_axis *r) {
    return ig_build_div(r->e, ig_expr_with(r->e, IG_OP_add, r->i, 0.5), r->scale);
}

static ig_value *find_half_pixel(const run_axis *r) {
    return ig_expr_with(r->e, IG_OP_sub, find_corner(r), 0.5);
}

static ig_value *zero_where(const run_axis *r, ig_value *condition, ig_value *x) {
    ig_value *zero = ig_expr_number(r->e, IG_DT_f32, 0);
    return ig_build_where(r->e, condition, zero, x);
}

static ig_value *find_aligned(const run_axis *r) {
    ig_expr *e = r->e;
    bool has_scale = r->axis->scale > 0;
    ig_value *width = has_scale ? ig_build_mul(e, r->scale, r->in) : r->out;
    ig_value *position = ig_build_mul(e, r->i, ig_expr_with(e, IG_OP_sub, r->in, 1));
    position = ig_build_div(e, position, ig_expr_with(e, IG_OP_sub, width, 1));
    return zero_where(r, ig_expr_with(e, IG_OP_eq, width, 1), position);
}

static ig_value *find_symmetric(const run_axis *r) {
    ig_expr *e = r->e;
    ig_value *middle = ig_expr_with(e, IG_OP_div, r->in, 2);
    ig_value *adjust = ig_build_div(e, r->out, ig_build_mul(e, r->scale, r->in));
    ig_value *shift = ig_expr_number_with(e, IG_OP_sub, 1, adjust);
    shift = ig_build_mul(e, middle, shift);
    shift = ig_build_add(e, shift, find_corner(r));
    return ig_expr_with(e, IG_OP_sub, shift, 0.5);
}

static ig_value *find_coordinates(const run_axis *r) {
    switch (r->axis->coordinates) {
    case IG_COORD_half_pixel:
        return find_half_pixel(r);
    case IG_COORD_half_pixel_symmetric:
        return find_symmetric(r);
    case IG_COORD_pytorch_half_pixel: {
        ig_value *is_one = ig_expr_with(r->e, IG_OP_le, r->out, 1);
        return zero_where(r, is_one, find_half_pixel(r));
    }
    case IG_COORD_clamped_half_pixel:
        return ig_expr_with(r->e, IG_OP_max, find_half_pixel(r), 0);
    case IG_COORD_half_pixel_corner:
        return find_corner(r);
    case IG_COORD_align_corners:
        return find_aligned(r);
    case IG_COORD_crop:
    case IG_COORD_asymmetric:
        break;
    }
    return ig_build_div(r->e, r->i, r->scale);
}

static ig_value *round_nearest(const run_axis *r, ig_value *x) {
    switch (r->axis->nearest) {
    case IG_NEAREST_round_prefer_ceil:
        return ig_build_floor(r->e, ig_expr_with(r->e, IG_OP_add, x, 0.5));
    case IG_NEAREST_floor:
        return ig_build_floor(r->e, x);
    case IG_NEAREST_ceil:
        return ig_build_ceil(r->e, x);
    case IG_NEAREST_round_prefer_floor:
        break;
    }
    return ig_build_ceil(r->e, ig_expr_with(r->e, IG_OP_sub, x, 0.5));
}

/* Elements inside of the axis, i64. */
static ig_value *clamp_elements(const run_axis *r, ig_value *x) {
    ig_value *last = ig_expr_with(r->e, IG_OP_sub, r->in, 1);
    x = ig_build_min(r->e, x, ig_expr_like(r->e, last, x));
    return ig_expr_cast(r->e, ig_expr_with(r->e, IG_OP_max, x, 0), IG_DT_i64);
}

/* ---- weights of distances, f64 ---- */

/* Keys' kernel. */
static ig_value *weigh_cubic(const run_axis *r, ig_value *distance) {
    ig_expr *e = r->e;
    double a = r->axis->cubic_a;
    ig_value *x = ig_build_abs(e, distance);
    ig_value *near = ig_expr_with(e, IG_OP_mul, x, a + 2);
    near = ig_expr_with(e, IG_OP_sub, near, a + 3);
    near = ig_build_mul(e, ig_build_mul(e, near, x), x);
    near = ig_expr_with(e, IG_OP_add, near, 1);
    ig_value *far = ig_expr_with(e, IG_OP_mul, x, a);
    far = ig_expr_with(e, IG_OP_sub, far, 5 * a);
    far = ig_expr_with(e, IG_OP_add, ig_build_mul(e, far, x), 8 * a);
    far = ig_expr_with(e, IG_OP_sub, ig_build_mul(e, far, x), 4 * a);
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    far = ig_build_where(e, ig_expr_with(e, IG_OP_lt, x, 2), far, zero);
    return ig_build_where(e, ig_expr_with(e, IG_OP_le, x, 1), near, far);
}

static ig_value *weigh_linear(const run_axis *r, ig_value *distance) {
    ig_value *x = ig_build_abs(r->e, distance);
    x = ig_expr_number_with(r->e, IG_OP_sub, 1, x);
    return ig_expr_with(r->e, IG_OP_max, x, 0);
}

/* Weights of elements outside are dropped, the others scaled up. */
static ig_value *exclude_outside(const run_axis *r, ig_value *ids, ig_value *weights) {
    ig_expr *e = r->e;
    ig_value *last = ig_expr_cast(e, ig_expr_with(e, IG_OP_sub, r->in, 1), IG_DT_f64);
    ig_value *is_low = ig_expr_with(e, IG_OP_ge, ids, 0);
    ig_value *is_inside = ig_build_and(e, is_low, ig_build_le(e, ids, last));
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    weights = ig_build_where(e, is_inside, weights, zero);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, weights, 1, true);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    sum = ig_build_where(e, ig_expr_with(e, IG_OP_eq, sum, 0), one, sum);
    return ig_build_div(e, weights, sum);
}

/* ---- an axis ---- */

static bool open_axis(run_axis *r, ig_dim in, ig_dim out) {
    ig_expr *e = r->e;
    if (r->axis->has_antialias || r->axis->coordinates == IG_COORD_crop) {
        return false;
    }
    r->in = ig_expr_dim(e, in, IG_DT_f32);
    r->out = ig_expr_dim(e, out, IG_DT_f32);
    r->scale = r->axis->scale > 0 ? ig_expr_number(e, IG_DT_f32, (double)r->axis->scale)
                                  : ig_build_div(e, r->out, r->in);
    r->i = ig_expr_iota(e, IG_DT_f32, out);
    return true;
}

bool ig_compose_resize_elements(ig_expr *e, const ig_resize_axis *axis, ig_dim in,
                                ig_dim out, ig_resize_elements *out_elements) {
    run_axis r = { .e = e, .axis = axis };
    if (!open_axis(&r, in, out)) {
        return false;
    }
    ig_value *x = find_coordinates(&r);
    if (axis->mode == IG_RESIZE_nearest) {
        ig_value *ids = clamp_elements(&r, round_nearest(&r, x));
        *out_elements = (ig_resize_elements){ .taps = 1, .ids = ids };
        return true;
    }
    int64_t taps = axis->mode == IG_RESIZE_cubic ? 4 : 2;
    ig_value *below = ig_expr_cast(e, ig_build_floor(e, x), IG_DT_f64);
    ig_value *nth = ig_expr_iota(e, IG_DT_f64, ig_dim_of(taps));
    nth = ig_expr_with(e, IG_OP_add, nth, 1.0 - (double)taps / 2);
    ig_value *ids = ig_build_add(e, ig_expr_along(e, below, 0, 2), nth);
    x = ig_expr_along(e, ig_expr_cast(e, x, IG_DT_f64), 0, 2);
    ig_value *distance = ig_build_sub(e, ids, x);
    ig_value *weights = axis->mode == IG_RESIZE_cubic ? weigh_cubic(&r, distance)
                                                      : weigh_linear(&r, distance);
    weights = axis->excludes_outside ? exclude_outside(&r, ids, weights) : weights;
    weights = ig_expr_flatten(e, ig_expr_cast(e, weights, IG_DT_f32));
    ids = ig_expr_flatten(e, clamp_elements(&r, ids));
    *out_elements = (ig_resize_elements){ taps, ids, weights };
    return true;
}
