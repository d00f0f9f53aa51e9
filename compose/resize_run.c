/* Elements and weights of a resized axis whose extents, scale or region the run learns:
 * the rules of ir/semantics/resize.c as ops over 0, 1 … out - 1.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Coordinates are f32 (f64 of f64 elements) and weights f64, as there.  The widened
 * kernel of antialias has as many elements as the scale says: a number, a symbol that a
 * scale of the run gives its value, or as in / out says, and one more a side for
 * roundings; those that it does not reach do not count.
 */
#include "compose/resize.h"

#include <math.h>

typedef struct run_axis {
    ig_expr *e;
    const ig_resize_axis *axis;
    const ig_resize_run *run;
    ig_dtype dtype;            /* of places: f32 or f64 */
    ig_value *in, *out, *last; /* numbers; last: in - 1 */
    ig_value *scale, *i;       /* a number; 0, 1 … out - 1 */
    ig_value *has_scale;       /* bool[], where the scale is data */
    ig_value *is_kept;         /* bool[]: the axis stays as it is; NULL: it does not */
} run_axis;

static ig_value *make_number(const run_axis *r, double value) {
    return ig_expr_number(r->e, r->dtype, value);
}

/* ---- coordinates ---- */

/* (i + 0.5) / s */
static ig_value *find_corner(const run_axis *r) {
    return ig_build_div(r->e, ig_expr_with(r->e, IG_OP_add, r->i, 0.5), r->scale);
}

static ig_value *find_half_pixel(const run_axis *r) {
    return ig_expr_with(r->e, IG_OP_sub, find_corner(r), 0.5);
}

static ig_value *zero_where(const run_axis *r, ig_value *condition, ig_value *x) {
    ig_value *zero = make_number(r, 0);
    return ig_build_where(r->e, condition, zero, x);
}

static ig_value *find_aligned(const run_axis *r) {
    ig_expr *e = r->e;
    ig_value *position = ig_build_mul(e, r->i, r->last);
    position = ig_build_div(e, position, ig_expr_with(e, IG_OP_sub, r->out, 1));
    return zero_where(r, ig_expr_with(e, IG_OP_eq, r->out, 1), position);
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

/* From `first` to `end`, in parts of in - 1; of one place, their middle. */
static ig_value *find_cropped(const run_axis *r) {
    ig_expr *e = r->e;
    const ig_resize_run *run = r->run;
    ig_value *first = run->first ? run->first : make_number(r, r->axis->first);
    ig_value *end = run->end ? run->end : make_number(r, r->axis->end);
    ig_value *middle = ig_expr_with(e, IG_OP_mul, ig_build_add(e, first, end), 0.5);
    middle = ig_build_mul(e, middle, r->last);
    ig_value *steps = ig_expr_with(e, IG_OP_sub, r->out, 1);
    ig_value *step = ig_build_mul(e, ig_build_sub(e, end, first), r->last);
    step = ig_build_mul(e, r->i, ig_build_div(e, step, steps));
    ig_value *position = ig_build_add(e, ig_build_mul(e, first, r->last), step);
    ig_value *is_one = ig_expr_with(e, IG_OP_eq, r->out, 1);
    return ig_build_where(e, is_one, middle, position);
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
        return find_cropped(r);
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

/* Elements inside of the axis, i64; NaN is the first. */
static ig_value *clamp_elements(const run_axis *r, ig_value *x) {
    ig_value *is_low = ig_expr_with(r->e, IG_OP_ge, x, 0);
    ig_value *zero = ig_expr_number(r->e, (ig_dtype)x->type->dtype, 0);
    x = ig_build_min(r->e, x, ig_expr_like(r->e, r->last, x));
    return ig_expr_cast(r->e, ig_build_where(r->e, is_low, x, zero), IG_DT_i64);
}

/* ---- weights of distances, f64 ---- */

ig_value *ig_compose_keys_kernel(ig_expr *e, ig_value *distance, double a) {
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
    far = ig_build_where(e, ig_expr_with(e, IG_OP_ge, x, 2), zero, far); /* NaN stays */
    return ig_build_where(e, ig_expr_with(e, IG_OP_le, x, 1), near, far);
}

static ig_value *weigh_linear(const run_axis *r, ig_value *distance) {
    ig_value *x = ig_build_abs(r->e, distance);
    x = ig_expr_number_with(r->e, IG_OP_sub, 1, x);
    return ig_expr_with(r->e, IG_OP_max, x, 0);
}

static ig_value *weigh_distance(const run_axis *r, ig_value *distance) {
    return r->axis->mode == IG_RESIZE_cubic
               ? ig_compose_keys_kernel(r->e, distance, r->axis->cubic_a)
               : weigh_linear(r, distance);
}

/* Those of elements that do not count are 0; the others are scaled to the sum 1. */
static ig_value *share_weights(const run_axis *r, ig_value *counts, ig_value *weights) {
    ig_expr *e = r->e;
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    weights = counts ? ig_build_where(e, counts, weights, zero) : weights;
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, weights, 1, true);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    sum = ig_build_where(e, ig_expr_with(e, IG_OP_eq, sum, 0), one, sum);
    return ig_build_div(e, weights, sum);
}

static ig_value *join_conditions(ig_expr *e, ig_value *a, ig_value *b) {
    return a && b ? ig_build_and(e, a, b) : a ? a : b;
}

static ig_value *is_inside(const run_axis *r, ig_value *ids) {
    ig_value *last = ig_expr_cast(r->e, r->last, IG_DT_f64);
    ig_value *is_low = ig_expr_with(r->e, IG_OP_ge, ids, 0);
    return ig_build_and(r->e, is_low, ig_build_le(r->e, ids, last));
}

/* ---- antialias ---- */

static int64_t reach_of(const run_axis *r) {
    return r->axis->mode == IG_RESIZE_cubic ? 2 : 1;
}

/* 1 / scale where the kernel is widened, else 1. */
static ig_value *stretch_of(const run_axis *r) {
    ig_expr *e = r->e;
    ig_value *scale = ig_expr_cast(e, r->scale, IG_DT_f64);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    ig_value *is_less = ig_expr_with(e, IG_OP_lt, scale, 1);
    return ig_build_where(e, is_less, ig_build_div(e, one, scale), one);
}

static ig_dim bind_half_width(const run_axis *r) {
    ig_expr *e = r->e;
    ig_dim one = ig_dim_of(1), half = one;
    ig_value *width = ig_expr_with(e, IG_OP_mul, stretch_of(r), (double)reach_of(r));
    width = ig_expr_with(e, IG_OP_min, ig_build_ceil(e, width), 1e15);
    width = ig_expr_reshape(e, ig_expr_cast(e, width, IG_DT_i64), 1, &one);
    ig_expr_bind_dims(e, width, 1, "half of the elements that the scale gives", &half);
    return half;
}

/* Elements on one side of a place. */
static ig_dim half_width(const run_axis *r) {
    ig_module *m = r->e->module;
    int64_t reach = reach_of(r);
    if (!r->axis->has_antialias) {
        return ig_dim_of(reach);
    }
    if (r->run->scale) {
        return bind_half_width(r);
    }
    if (r->axis->scale > 0) {
        double scale = fmin(r->axis->scale, 1);
        return ig_dim_of((int64_t)fmin(ceil((double)reach / scale), 1e15));
    }
    ig_dim taps = ig_dim_mul(m, r->run->in, ig_dim_of(reach));
    ig_dim out = ig_dim_max(m, r->run->out, ig_dim_of(1));
    return ig_dim_add(m, ig_dim_ceil_div(m, taps, out), ig_dim_of(1));
}

/* On its upper end the kernel does reach as far. */
static ig_value *is_reached(const run_axis *r, ig_value *distance) {
    double reach = (double)reach_of(r);
    ig_value *is_low = ig_expr_with(r->e, IG_OP_gt, distance, -reach);
    return ig_build_and(r->e, is_low, ig_expr_with(r->e, IG_OP_le, distance, reach));
}

/* ---- an axis ---- */

/* Equal extents, and no scale but 1. */
static ig_value *find_kept(const run_axis *r) {
    ig_expr *e = r->e;
    double scale = r->axis->scale;
    bool is_crop = r->axis->coordinates == IG_COORD_crop;
    bool is_scaled = !r->run->scale && scale != 0 && scale != 1;
    if (is_crop || is_scaled ||
        ig_dim_equal(e->module, r->run->in, r->run->out) == IG_NO) {
        return NULL;
    }
    ig_value *is_same = ig_build_eq(e, r->in, r->out);
    if (!r->run->scale) {
        return is_same;
    }
    ig_value *is_one = ig_expr_with(e, IG_OP_eq, r->run->scale, 1);
    ig_value *is_none = ig_expr_with(e, IG_OP_eq, r->run->scale, 0);
    return ig_build_and(e, is_same, ig_build_or(e, is_one, is_none));
}

static run_axis open_axis(ig_expr *e, const ig_resize_run *run) {
    run_axis r = { .e = e, .axis = &run->axis, .run = run };
    r.dtype = run->axis.is_wide ? IG_DT_f64 : IG_DT_f32;
    r.in = ig_expr_dim(e, run->in, r.dtype);
    r.out = ig_expr_dim(e, run->out, r.dtype);
    r.last = ig_expr_with(e, IG_OP_sub, r.in, 1);
    r.i = ig_expr_iota(e, r.dtype, run->out);
    bool is_number = run->axis.scale > 0;
    r.scale = is_number ? make_number(&r, run->axis.scale)
                        : ig_build_div(e, r.out, r.in);
    if (run->scale) {
        r.has_scale = ig_expr_with(e, IG_OP_gt, run->scale, 0);
        r.scale = ig_build_where(e, r.has_scale, run->scale, r.scale);
    }
    r.is_kept = find_kept(&r);
    return r;
}

/* Elements around each place, and their weights. */
static void weigh_elements(const run_axis *r, ig_value *position,
                           ig_resize_elements *c) {
    ig_expr *e = r->e;
    const ig_resize_axis *axis = r->axis;
    ig_dim half = half_width(r);
    c->taps = ig_dim_mul(e->module, half, ig_dim_of(2));
    ig_value *below = ig_expr_cast(e, ig_build_floor(e, position), IG_DT_f64);
    ig_value *nth = ig_expr_iota(e, IG_DT_f64, c->taps);
    nth = ig_expr_with(e, IG_OP_add, nth, 1);
    nth = ig_build_sub(e, nth, ig_expr_dim(e, half, IG_DT_f64));
    ig_value *ids = ig_build_add(e, ig_expr_along(e, below, 0, 2), nth);
    ig_value *at = ig_expr_along(e, ig_expr_cast(e, position, IG_DT_f64), 0, 2);
    ig_value *distance = ig_build_sub(e, ids, at), *counts = NULL;
    if (axis->has_antialias) {
        distance = ig_build_div(e, distance, stretch_of(r));
        counts = is_reached(r, distance);
    }
    ig_value *weights = weigh_distance(r, distance), *shares = counts;
    if (axis->excludes_outside) {
        shares = join_conditions(e, counts, is_inside(r, ids));
        counts = axis->has_antialias ? shares : counts;
    }
    if (axis->has_antialias || axis->excludes_outside) {
        weights = share_weights(r, shares, weights);
    }
    if (r->is_kept) { /* 0 times infinity is no number */
        ig_value *is_changed = ig_build_not(e, r->is_kept);
        ig_value *is_itself = ig_expr_with(e, IG_OP_eq, distance, 0);
        counts = join_conditions(e, counts, ig_build_or(e, is_changed, is_itself));
    }
    weights = ig_expr_cast(e, weights, ig_compose_resize_weights(axis));
    c->weights = ig_expr_flatten(e, weights);
    c->ids = ig_expr_flatten(e, clamp_elements(r, ids));
    c->counts = counts ? ig_expr_flatten(e, counts) : NULL;
}

ig_resize_elements ig_compose_resize_elements(ig_expr *e, const ig_resize_run *run) {
    run_axis r = open_axis(e, run);
    ig_resize_elements c = { .taps = ig_dim_of(1) };
    ig_value *position = find_coordinates(&r);
    if (r.is_kept) {
        position = ig_build_where(e, r.is_kept, r.i, position);
    }
    if (run->axis.coordinates == IG_COORD_crop) {
        ig_value *is_before = ig_expr_with(e, IG_OP_lt, position, 0);
        c.outside = ig_build_or(e, is_before, ig_build_gt(e, position, r.last));
    }
    if (run->axis.mode == IG_RESIZE_nearest) {
        c.ids = clamp_elements(&r, round_nearest(&r, position));
    } else {
        weigh_elements(&r, position, &c);
    }
    return c;
}
