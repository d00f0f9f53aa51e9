/* grid_sample as weighted elements of each image.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rules are those of ir/fold/resize.c, in f64: a point takes 1 (nearest), 2
 * (linear) or 4 (cubic) elements along each spatial axis, and their combinations in
 * all.  Elements outside add nothing, unless their weight is NaN.  Sums are bags over
 * rows of channels (compose/rows/pixels.h), unless the rows cost more than the sampled
 * elements: then elements are gathered channel by channel.
 */
#include "compose/decompose.h"
#include "compose/resize.h"
#include "compose/rows/pixels.h"

#include <assert.h>

enum { AXES = 3, TAPS = 4, ALL_TAPS = TAPS * TAPS * TAPS };

typedef struct tap {
    ig_value *id;        /* i64 [N, P], 0 where it does not count */
    ig_value *weight;    /* f64 [N, P]; NULL: 1 */
    ig_value *is_inside; /* bool [N, P] */
} tap;

typedef struct sampling {
    ig_expr *e;
    ig_resize_mode mode;
    ig_outside outside;
    bool aligns;
    uint32_t axis_count, tap_count;
    tap taps[AXES][TAPS];
    const ig_type *x;
    ig_value *planes; /* [N, C, elements of a plane] */
} sampling;

/* ---- points ---- */

/* From -1 … 1 to elements. */
static ig_value *unscale_positions(const sampling *s, ig_value *at, ig_value *extent) {
    ig_expr *e = s->e;
    at = ig_expr_with(e, IG_OP_add, at, 1);
    if (s->aligns) {
        at = ig_expr_with(e, IG_OP_div, at, 2);
        return ig_build_mul(e, at, ig_expr_with(e, IG_OP_sub, extent, 1));
    }
    at = ig_expr_with(e, IG_OP_sub, ig_build_mul(e, at, extent), 1);
    return ig_expr_with(e, IG_OP_div, at, 2);
}

/* Mirrored at both ends until it is between them. */
static ig_value *reflect_positions(const sampling *s, ig_value *at, ig_value *extent) {
    ig_expr *e = s->e;
    double low = s->aligns ? 0 : -0.5;
    ig_value *range = ig_expr_with(e, IG_OP_sub, extent, s->aligns ? 1 : 0);
    ig_value *twice = ig_expr_with(e, IG_OP_mul, range, 2);
    ig_value *from = ig_build_abs(e, ig_expr_with(e, IG_OP_sub, at, low));
    from = ig_build_mod(e, from, twice, (ig_mod_attrs){ .truncate = true });
    ig_value *back = ig_build_sub(e, twice, from);
    ig_value *is_back = ig_build_gt(e, from, range);
    from = ig_expr_with(e, IG_OP_add, ig_build_where(e, is_back, back, from), low);
    ig_value *is_point = ig_expr_with(e, IG_OP_le, range, 0);
    return ig_build_where(e, is_point, ig_expr_number(e, IG_DT_f64, low), from);
}

static ig_value *bound_positions(const sampling *s, ig_value *at, ig_value *extent) {
    ig_expr *e = s->e;
    if (s->outside == IG_OUTSIDE_zeros) {
        return at;
    }
    if (s->outside == IG_OUTSIDE_reflection) {
        at = reflect_positions(s, at, extent);
    }
    ig_value *last = ig_expr_with(e, IG_OP_sub, extent, 1);
    ig_value *at_nan = s->axis_count > 2 ? last : ig_expr_number(e, IG_DT_f64, 0);
    at = ig_build_where(e, ig_build_isnan(e, at), at_nan, at);
    return ig_expr_with(e, IG_OP_max, ig_build_min(e, at, last), 0);
}

/* ---- weights of distances ---- */

static ig_value *weigh_linear(ig_expr *e, ig_value *distance) {
    return ig_expr_number_with(e, IG_OP_sub, 1, ig_build_abs(e, distance));
}

/* ---- an axis ---- */

static void take_tap(const sampling *s, ig_value *element, ig_value *extent, tap *out) {
    ig_expr *e = s->e;
    ig_value *last = ig_expr_with(e, IG_OP_sub, extent, 1);
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    element = s->mode == IG_RESIZE_cubic ? bound_positions(s, element, extent)
                                         : element;
    ig_value *is_low = ig_expr_with(e, IG_OP_ge, element, 0);
    out->is_inside = ig_build_and(e, is_low, ig_build_le(e, element, last));
    element = ig_build_where(e, out->is_inside, ig_build_round(e, element), zero);
    out->id = ig_expr_cast(e, element, IG_DT_i64);
}

static void take_taps(sampling *s, uint32_t axis, ig_value *at) {
    ig_expr *e = s->e;
    ig_value *extent = ig_expr_dim(e, s->x->dims[axis + 2], IG_DT_f64);
    bool is_cubic = s->mode == IG_RESIZE_cubic;
    at = unscale_positions(s, at, extent);
    at = is_cubic ? at : bound_positions(s, at, extent);
    ig_value *below = s->tap_count == 1 ? ig_build_round(e, at) : ig_build_floor(e, at);
    ig_value *fraction = ig_build_sub(e, at, below);
    for (uint32_t t = 0; t < s->tap_count; t++) {
        tap *own = &s->taps[axis][t];
        double step = (double)t - (is_cubic ? 1 : 0);
        ig_value *element = step == 0 ? below : ig_expr_with(e, IG_OP_add, below, step);
        if (s->tap_count > 1) {
            ig_value *distance = ig_expr_number_with(e, IG_OP_sub, step, fraction);
            own->weight = is_cubic ? ig_compose_keys_kernel(e, distance, -0.75)
                                   : weigh_linear(e, distance);
        }
        take_tap(s, element, extent, own);
    }
}

/* ---- all axes ---- */

/* Tap `number` in mixed radix: the last axis runs fastest. */
static tap combine_taps(const sampling *s, uint32_t index) {
    ig_expr *e = s->e;
    tap all = { NULL, NULL, NULL };
    uint32_t picks[AXES];
    for (uint32_t axis = s->axis_count; axis-- > 0; index /= s->tap_count) {
        picks[axis] = index % s->tap_count;
    }
    for (uint32_t axis = 0; axis < s->axis_count; axis++) {
        const tap *own = &s->taps[axis][picks[axis]];
        if (axis == 0) {
            all = *own;
            continue;
        }
        ig_value *extent = ig_expr_dim(e, s->x->dims[axis + 2], IG_DT_i64);
        all.id = ig_build_add(e, ig_build_mul(e, all.id, extent), own->id);
        all.weight = own->weight ? ig_build_mul(e, all.weight, own->weight) : NULL;
        all.is_inside = ig_build_and(e, all.is_inside, own->is_inside);
    }
    if (all.weight && (s->axis_count <= 2 || s->mode == IG_RESIZE_cubic)) {
        all.is_inside = ig_build_or(e, all.is_inside, ig_build_isnan(e, all.weight));
    }
    return all;
}

/* [N, C, P]: what one combination adds. */
static ig_value *take_elements(const sampling *s, const tap *all) {
    ig_expr *e = s->e;
    ig_dtype dtype = (ig_dtype)s->planes->type->dtype;
    ig_value *ids = ig_expr_unsqueeze(e, all->id, 1);
    ig_value *is_inside = ig_expr_unsqueeze(e, all->is_inside, 1);
    ig_dim dims[] = { s->x->dims[0], s->x->dims[1], ids->type->dims[2] };
    ids = ig_expr_expand(e, ids, 3, dims);
    ig_value *taken = ig_build_gather_elements(e, s->planes, ids,
                                               (ig_gather_elements_attrs){ .axis = 2 });
    if (all->weight) {
        ig_value *weight = ig_expr_cast(e, all->weight, dtype);
        taken = ig_build_mul(e, taken, ig_expr_unsqueeze(e, weight, 1));
    }
    return ig_build_where(e, is_inside, taken, ig_expr_number(e, dtype, 0));
}

/* ---- sums ---- */

static ig_value *add_gathered(const sampling *s, uint32_t combinations) {
    ig_value *sum = NULL;
    for (uint32_t i = 0; i < combinations; i++) {
        tap all = combine_taps(s, i);
        ig_value *part = take_elements(s, &all);
        sum = sum ? ig_build_add(s->e, sum, part) : part;
    }
    return sum;
}

/* Are there points enough to make rows of all elements? */
static bool has_rows(const sampling *s, ig_value *grid) {
    ig_module *m = s->e->module;
    int64_t points, elements, channels;
    bool is_sparse = ig_dim_constant(m, grid->type->dims[1], &points) &&
                     ig_dim_constant(m, s->planes->type->dims[2], &elements) &&
                     points < elements / 4;
    return s->tap_count > 1 && !is_sparse && s->planes->type->dtype == IG_DT_f32 &&
           ig_dim_constant(m, s->x->dims[1], &channels) && channels >= 4;
}

/* [N, C, P] from bags [N * P, combinations] of rows of the images. */
static ig_value *sum_rows(const sampling *s, uint32_t combinations, ig_dim points) {
    ig_expr *e = s->e;
    const ig_dim *dims = s->planes->type->dims;
    ig_value *ids[ALL_TAPS], *weights[ALL_TAPS],
        *none = ig_expr_integer(e, IG_DT_i64, -1);
    ig_value *first = ig_build_mul(e, ig_expr_axis_iota(e, 2, 0, dims[0]),
                                   ig_expr_dim(e, dims[2], IG_DT_i64));
    assert(combinations <= ALL_TAPS && "taps of at most three axes");
    for (uint32_t i = 0; i < combinations; i++) {
        tap all = combine_taps(s, i);
        ids[i] = ig_build_add(e, all.id, first);
        ids[i] = ig_build_where(e, all.is_inside, ids[i], none);
        ids[i] = ig_expr_unsqueeze(e, ids[i], 2);
        weights[i] = ig_expr_cast(e, all.weight, IG_DT_f32);
        weights[i] = ig_expr_unsqueeze(e, weights[i], 2);
    }
    ig_value *bags[] = { ig_expr_concat(e, 2, ids, combinations),
                         ig_expr_concat(e, 2, weights, combinations) };
    ig_value *y = ig_compose_sum_rows(e, ig_compose_pixel_rows(e, s->planes),
                                      ig_expr_merge_axes(e, bags[0], 0, 1),
                                      ig_expr_merge_axes(e, bags[1], 0, 1));
    ig_dim apart[] = { dims[0], points, dims[1] };
    return ig_expr_swap(e, ig_expr_reshape(e, y, 3, apart), 1, 2);
}

/* Coordinate `column` of each point, f64 [N, P]. */
static ig_value *take_column(ig_expr *e, ig_value *grid, uint32_t column) {
    ig_value *at = ig_expr_select(e, grid, 2, ig_dim_of(column));
    return ig_expr_cast(e, at, IG_DT_f64);
}

bool ig_decompose_grid_sample(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *x = op->operands[0].value, *grid = op->operands[1].value;
    sampling s = { .e = e, .x = x->type, .axis_count = x->type->rank - 2 };
    s.mode = (ig_resize_mode)ig_attr_int(op, IG_grid_sample_mode, 0);
    s.outside = (ig_outside)ig_attr_int(op, IG_grid_sample_outside, 0);
    s.aligns = ig_attr_int(op, IG_grid_sample_align_corners, 0) != 0;
    s.tap_count = s.mode == IG_RESIZE_nearest ? 1 : s.mode == IG_RESIZE_linear ? 2 : 4;
    if (s.axis_count > AXES) {
        return false;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    if (s.tap_count > 1) { /* the nearest element is moved as it is */
        x = ig_dtype_is_float(dtype) ? ig_expr_widen(e, x)
                                     : ig_expr_cast(e, x, IG_DT_f64);
    }
    s.planes = ig_expr_merge_axes(e, x, 2, s.axis_count + 1);
    grid = ig_expr_merge_axes(e, grid, 1, s.axis_count);
    uint32_t combinations = 1;
    for (uint32_t axis = 0; axis < s.axis_count; axis++) {
        take_taps(&s, axis, take_column(e, grid, s.axis_count - 1 - axis));
        combinations *= s.tap_count;
    }
    if (e->status != IG_OK) {
        return false;
    }
    ig_value *sum = has_rows(&s, grid) ? sum_rows(&s, combinations, grid->type->dims[1])
                                       : add_gathered(&s, combinations);
    const ig_type *type = op->results[0].type;
    sum = ig_expr_reshape(e, sum, type->rank, type->dims);
    out_results[0] = ig_expr_cast(e, sum, dtype);
    return true;
}
