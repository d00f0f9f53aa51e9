/* Interpolation: upsample, grid_sampler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/resize.h"
#include "frontend/torch/aten/aten.h"

#include <math.h>
#include <string.h>
#include "frontend/torch/aten/quant.h"
#include "ir/build/extent.h"

enum { SPACE_MAX = 3 };

typedef struct resizing {
    ig_value *x;
    uint32_t space;
    ig_resize_form form;
    bool align_corners, is_exact;
    double scales[2 + SPACE_MAX]; /* as given; 0: not given */
} resizing;

/* The distance of places, and the position of the first. */
static ig_coordinates coordinates_of(const resizing *r) {
    const ig_resize_attrs *attrs = &r->form.attrs;
    if (attrs->mode == IG_RESIZE_nearest) {
        return r->is_exact ? IG_COORD_half_pixel_corner : IG_COORD_asymmetric;
    }
    return r->align_corners && !attrs->antialias ? IG_COORD_align_corners
                                                 : IG_COORD_half_pixel;
}

/* With antialiasing, align_corners changes only the scale in torch; without, the row
 * has an attribute for it. */
static void scale_by_corners(ig_ts_call *call, resizing *r) {
    for (uint32_t d = 2; d < r->space + 2 && r->align_corners; d++) {
        int64_t in, out;
        bool is_known = ig_dim_constant(call->module, ig_expr_extent(call->e, r->x, d),
                                        &in) &&
                        ig_dim_constant(call->module, r->form.sizes[d], &out);
        r->scales[d] = 0;
        if (r->form.attrs.antialias && !is_known) {
            ig_expr_fail(call->e, IG_UNSUPPORTED,
                         "antialias with align_corners and extents that are not known");
        } else if (r->form.attrs.antialias && in > 1 && out > 1) {
            r->scales[d] = (double)(out - 1) / (double)(in - 1);
        }
    }
}

/* f64 elements are scaled in f64. */
static void take_scales(ig_expr *e, resizing *r) {
    int64_t rank = r->space + 2;
    bool is_any = false;
    for (uint32_t d = 2; d < r->space + 2; d++) {
        r->form.scales[d] = (float)r->scales[d];
        is_any = is_any || r->scales[d] > 0;
    }
    if (is_any && r->x->type->dtype == IG_DT_f64) {
        r->form.scales_of_run = ig_expr_constant(e, "scales", IG_DT_f64, 1, &rank,
                                                 r->scales);
    }
}

/* ---- nearest elements ---- */

/* torch multiplies in f32: element i is min(floor(i * step), in - 1), that of the exact
 * form by i + 0.5, where step is 1 / scale, or in / out.  The row divides by the scale:
 * rounded elsewhere, 21 elements made 6 would have the third at 6, not 7. */
static float step_of(double scale, int64_t in, int64_t out) {
    return scale > 0 ? (float)(1 / scale) : (float)in / (float)out;
}

/* Of pictures a size that stays, or doubles, has its own step. */
static bool has_own_step(const resizing *r, int64_t in, int64_t out) {
    return r->space == 2 && !r->is_exact && (out == in || out == 2 * in);
}

static int64_t nearest_of(const resizing *r, int64_t i, int64_t in, float step) {
    float at = floorf(((float)i + (r->is_exact ? 0.5f : 0)) * step);
    return at < (float)in ? (int64_t)at : in - 1;
}

/* Does the row find the same elements? */
static bool is_as_row(const resizing *r, uint32_t d, int64_t in, int64_t out) {
    ig_resize_axis axis = { .in = in,
                            .out = out,
                            .scale = (float)r->scales[d],
                            .mode = IG_RESIZE_nearest,
                            .coordinates = coordinates_of(r),
                            .nearest = IG_NEAREST_floor };
    float step = step_of(r->scales[d], in, out);
    int64_t element = 0;
    double weight = 0;
    bool is_same = true;
    for (int64_t i = 0; i < out && is_same; i++) {
        is_same = ig_resize_taps(&axis, i, &element, &weight) &&
                  element == nearest_of(r, i, in, step);
    }
    return is_same;
}

static ig_value *known_elements(ig_expr *e, const resizing *r, uint32_t d, int64_t in,
                                int64_t out) {
    int64_t *ids = IG_NEW_ARRAY(&e->module->arena, int64_t, (size_t)out);
    float step = step_of(r->scales[d], in, out);
    for (int64_t i = 0; i < out; i++) {
        ids[i] = nearest_of(r, i, in, step);
    }
    return ig_expr_constant(e, "nearest", IG_DT_i64, 1, &out, ids);
}

/* `step`, or that of a size that stays or doubles. */
static ig_value *choose_step(ig_expr *e, const resizing *r, ig_value *step,
                             ig_value *in, ig_value *out) {
    if (r->space != 2 || r->is_exact) {
        return step;
    }
    ig_value *twice = ig_expr_with(e, IG_OP_mul, in, 2);
    ig_value *half = ig_expr_number(e, IG_DT_f32, 0.5);
    ig_value *one = ig_expr_number(e, IG_DT_f32, 1);
    step = ig_build_where(e, ig_build_eq(e, out, twice), half, step);
    return ig_build_where(e, ig_build_eq(e, out, in), one, step);
}

static ig_value *run_elements(ig_expr *e, const resizing *r, uint32_t d) {
    ig_dim in = r->x->type->dims[d], out = r->form.sizes[d];
    ig_value *from = ig_expr_dim(e, in, IG_DT_f32),
             *to = ig_expr_dim(e, out, IG_DT_f32);
    ig_value *step = ig_build_div(e, from, to), *at = ig_expr_iota(e, IG_DT_f32, out);
    if (r->scales[d] > 0) {
        step = ig_expr_number(e, IG_DT_f32, step_of(r->scales[d], 0, 0));
        step = choose_step(e, r, step, from, to);
    }
    at = r->is_exact ? ig_expr_with(e, IG_OP_add, at, 0.5) : at;
    at = ig_expr_cast(e, ig_build_floor(e, ig_build_mul(e, at, step)), IG_DT_i64);
    ig_value *last = ig_expr_with(e, IG_OP_sub, ig_expr_dim(e, in, IG_DT_i64), 1);
    return ig_build_min(e, at, last);
}

/* The elements of an axis; NULL where the row finds them, of open extents by powers of
 * two. */
static ig_value *find_nearest(ig_expr *e, resizing *r, uint32_t d) {
    enum { ELEMENTS_MAX = 1 << 20 };
    ig_dim in = r->x->type->dims[d], out = r->form.sizes[d];
    int64_t from, to;
    int exponent;
    if (ig_dim_constant(e->module, in, &from) && ig_dim_constant(e->module, out, &to)) {
        r->scales[d] = has_own_step(r, from, to) ? 0 : r->scales[d];
        bool is_row = from < 1 || to < 1 || to > ELEMENTS_MAX ||
                      is_as_row(r, d, from, to);
        return is_row ? NULL : known_elements(e, r, d, from, to);
    }
    bool is_power = frexp(r->scales[d], &exponent) == 0.5;
    bool is_kept = r->scales[d] <= 0 && ig_dim_equal(e->module, in, out) == IG_YES;
    return is_power || is_kept ? NULL : run_elements(e, r, d);
}

/* Along the last axis lines are gathered, as the row does it. */
static void take_nearest(ig_expr *e, resizing *r, uint32_t d, ig_value *elements) {
    uint32_t last = r->x->type->rank - 1u;
    bool is_turned = d == last && !ig_dim_is(r->x->type->dims[last - 1], 1);
    ig_value *x = is_turned ? ig_expr_swap(e, r->x, last - 1, last) : r->x;
    x = ig_expr_gather(e, x, elements, is_turned ? last - 1 : d, IG_NEGATIVE_wrap);
    x = is_turned ? ig_expr_swap(e, x, last - 1, last) : x;
    r->x = x ? x : r->x;
    r->scales[d] = 0;
}

static void take_nearest_axes(ig_expr *e, resizing *r) {
    for (uint32_t d = 2; d < r->space + 2 && e->status == IG_OK; d++) {
        ig_value *elements = find_nearest(e, r, d);
        if (elements) {
            take_nearest(e, r, d, elements);
        }
    }
}

/* ---- the row ---- */

static ig_status give_resize(ig_ts_call *call, resizing *r) {
    ig_resize_attrs *attrs = &r->form.attrs;
    attrs->coordinates = (int)coordinates_of(r);
    attrs->nearest = IG_NEAREST_floor;
    attrs->cubic_a = (ig_maybe_float)IG_SET(attrs->antialias ? -0.5 : -0.75);
    attrs->exclude_outside = attrs->antialias;
    scale_by_corners(call, r);
    if (attrs->mode == IG_RESIZE_nearest) {
        take_nearest_axes(call->e, r);
    }
    IG_TRY(call->e->status);
    take_scales(call->e, r);
    bool are_bytes = r->x->type->dtype == IG_DT_u8 && r->space == 2 &&
                     attrs->mode != IG_RESIZE_nearest;
    return ig_aten_give(call, are_bytes
                                  ? ig_compose_resize_bytes(call->e, r->x, &r->form)
                                  : ig_compose_resize(call->e, r->x, &r->form));
}

/* Rows' variants: mode, + 4 align_corners is argument 2, + 8 exact, + 16 antialias,
 * + 32 the form with lists (output_size?, …, scale_factors?). */
enum { ALIGNS = 4, EXACT = 8, ANTIALIAS = 16, LISTS = 32 };

static bool read_lists(ig_ts_call *call, resizing *r, uint32_t scales_arg) {
    uint32_t count;
    if (!ig_ts_is_none(call, 1)) {
        const ig_dim *sizes = ig_aten_dims(call, 1, r->space, &count);
        for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
            r->form.sizes[2 + i] = sizes[i];
        }
        return call->e->status == IG_OK;
    }
    const double *scales = NULL;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_floats(call, scales_arg, r->space, &scales, &count);
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
        r->scales[2 + i] = scales[i];
        ig_compose_scaled_extent(call->e, ig_expr_extent(call->e, r->x, 2 + i), 1,
                                 scales[i], false, &r->form.sizes[2 + i]);
    }
    return call->e->status == IG_OK;
}

static bool read_sizes(ig_ts_call *call, resizing *r, uint32_t scales_arg) {
    uint32_t count;
    const ig_dim *sizes = ig_aten_dims(call, 1, r->space, &count);
    for (uint32_t i = 0; call->e->status == IG_OK && i < r->space; i++) {
        r->form.sizes[2 + i] = sizes[i];
        if (scales_arg + i < call->arg_count) {
            r->scales[2 + i] = ig_aten_float_or(call, scales_arg + i, 0);
        }
    }
    return call->e->status == IG_OK;
}

ig_status ig_ts_op_upsample(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_steps(call, ig_ts_op_upsample);
    }
    int variant = call->row->variant;
    bool aligns = (variant & ALIGNS) != 0;
    resizing r = { .x = ig_aten_tensor(call, 0),
                   .align_corners = aligns && ig_aten_bool(call, 2),
                   .is_exact = (variant & EXACT) != 0 };
    IG_TRY(call->e->status);
    r.form = ig_compose_resize_form(r.x);
    r.form.attrs.mode = variant & 3;
    r.form.attrs.antialias = (variant & ANTIALIAS) != 0;
    if (r.x->type->rank < 3 || r.x->type->rank > SPACE_MAX + 2) {
        return ig_ts_fail(call, IG_INVALID, "an input of rank %u", r.x->type->rank);
    }
    r.space = r.x->type->rank - 2;
    uint32_t scales_arg = aligns ? 3 : 2;
    bool is_read = variant & LISTS ? read_lists(call, &r, scales_arg)
                                   : read_sizes(call, &r, scales_arg);
    return is_read ? give_resize(call, &r) : call->e->status;
}

/* grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners) */
ig_status ig_ts_op_grid_sampler(ig_ts_call *call) {
    static const ig_resize_mode modes[] = { IG_RESIZE_linear, IG_RESIZE_nearest,
                                            IG_RESIZE_cubic };
    ig_value *x = ig_aten_tensor(call, 0), *grid = ig_aten_tensor(call, 1);
    int64_t mode = ig_aten_int(call, 2), outside = ig_aten_int(call, 3);
    IG_TRY(call->e->status);
    if (mode < 0 || mode > 2 || outside < 0 || outside > 2) {
        return ig_ts_fail(call, IG_INVALID, "interpolation %lld, padding %lld",
                          (long long)mode, (long long)outside);
    }
    ig_grid_sample_attrs attrs = { .mode = (int)modes[mode],
                                   .outside = (int)outside,
                                   .align_corners = ig_aten_bool(call, 4) };
    return ig_aten_give(call, ig_build_grid_sample(call->e, x, grid, attrs));
}

/* ---- grids ---- */

/* -1 … 1 along an axis of n points: at their ends, or at the pixels' middles. */
static ig_value *grid_axis(ig_ts_call *call, uint32_t rank, uint32_t axis, ig_dim n,
                           bool align, ig_dtype dtype) {
    ig_expr *e = call->e;
    ig_value *at = ig_aten_cast(call, ig_expr_axis_iota(e, rank, axis, n), dtype);
    ig_value *points = ig_expr_dim(e, n, dtype);
    ig_value *gaps = ig_expr_with(e, IG_OP_sub, points, 1);
    ig_value *low = align ? gaps : ig_expr_with(e, IG_OP_sub, points, 1);
    ig_value *width = align ? ig_expr_with(e, IG_OP_max, gaps, 1) : points;
    at = ig_expr_with(e, IG_OP_mul, at, 2);
    return ig_build_div(e, ig_build_sub(e, at, low), width);
}

/* affine_grid_generator(theta [N, S, S + 1], size [N, C, …], align_corners) -> [N, …,
 * S]: theta's products with every point's coordinates, x first, and 1 */
ig_status ig_ts_op_affine_grid(ig_ts_call *call) {
    uint32_t rank;
    ig_value *theta = ig_aten_tensor(call, 0);
    const ig_dim *size = ig_aten_shape(call, 1, &rank);
    bool align = ig_aten_bool(call, 2);
    IG_TRY(call->e->status);
    uint32_t space = rank - 2;
    if ((rank != 4 && rank != 5) || theta->type->rank != 3 ||
        !ig_expr_is_float(theta)) {
        return ig_ts_fail(call, IG_INVALID,
                          "takes a float theta of rank 3 and a size of 4 or 5 extents");
    }
    ig_dim dims[IG_TENSOR_RANK], count = ig_dim_of(1);
    ig_value *parts[4];
    ig_dtype dtype = (ig_dtype)theta->type->dtype;
    for (uint32_t i = 0; i < space; i++) {
        dims[i] = size[2 + i];
        count = ig_dim_mul(call->module, count, dims[i]);
    }
    dims[space] = ig_dim_of(1);
    for (uint32_t i = 0; i < space; i++) {
        uint32_t axis = space - 1 - i;
        parts[i] = grid_axis(call, space + 1, axis, dims[axis], align, dtype);
        parts[i] = ig_expr_expand(call->e, parts[i], space + 1, dims);
    }
    parts[space] = ig_expr_fill(call->e, dtype, space + 1, dims, 1);
    ig_value *base = ig_expr_concat(call->e, space, parts, space + 1);
    ig_dim flat[] = { ig_dim_of(1), count, ig_dim_of(space + 1) };
    base = ig_expr_reshape(call->e, base, 3, flat);
    ig_value *grid = ig_expr_matmul(call->e, base, ig_expr_swap(call->e, theta, 1, 2));
    IG_TRY(call->e->status);
    ig_dim result[IG_TENSOR_RANK];
    result[0] = size[0];
    memcpy(result + 1, size + 2, space * sizeof *result);
    result[space + 1] = ig_dim_of(space);
    return ig_aten_give(call, ig_expr_reshape(call->e, grid, space + 2, result));
}
