/* resize rows; and resize as a choice of elements and their weighted sum, axis by axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements and their weights are known when extents and scales are: then an axis is a
 * gather by constant ids, for linear and cubic of several elements per position, which
 * a product with constant weights and a sum bring together.  Where only the run knows
 * the extents, ids and weights are computed (resize_run.c).  Resizes whose scales are
 * data are left alone.
 */
#include "compose/resize.h"

#include "compose/decompose.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- the row ---- */

ig_resize_form ig_compose_resize_form(const ig_value *x) {
    ig_resize_form form = { .attrs.mode = 0 };
    for (uint32_t d = 0; d < x->type->rank; d++) {
        form.sizes[d] = x->type->dims[d];
        form.region[d + x->type->rank] = 1;
    }
    return form;
}

static double scale_extent(int64_t in, double scale, bool is_f32) {
    return floor(is_f32 ? (double)((float)in * (float)scale) : (double)in * scale);
}

/* scale as p / q such that floor(in * p / q) is what the product is rounded to, for
 * every extent that images have. */
static bool as_ratio(double scale, bool is_f32, int64_t *out_p, int64_t *out_q) {
    enum { DENOMINATOR_MAX = 1000, EXTENT_MAX = 8192 };
    for (int64_t q = 1; q <= DENOMINATOR_MAX; q++) {
        int64_t p = (int64_t)rint(scale * (double)q), in = 1;
        while (p > 0 && in <= EXTENT_MAX &&
               (double)(in * p / q) == scale_extent(in, scale, is_f32)) {
            in++;
        }
        if (in > EXTENT_MAX) {
            *out_p = p;
            *out_q = q;
            return true;
        }
    }
    return false;
}

bool ig_compose_scaled_extent(ig_expr *e, ig_dim in, double scale, bool is_f32,
                              ig_dim *out_extent) {
    int64_t extent, p, q;
    bool is_known = ig_dim_constant(e->module, in, &extent);
    bool is_usable = scale > 0 && scale <= 1e6 && (!is_known || extent <= INT32_MAX);
    if (is_usable && is_known) {
        *out_extent = ig_dim_of((int64_t)scale_extent(extent, scale, is_f32));
        return true;
    }
    if (is_usable && as_ratio(scale, is_f32, &p, &q)) {
        ig_dim product = ig_dim_mul(e->module, in, ig_dim_of(p));
        *out_extent = ig_dim_floor_div(e->module, product, ig_dim_of(q));
        return true;
    }
    ig_expr_fail(e, is_usable ? IG_UNSUPPORTED : IG_INVALID,
                 is_usable
                     ? "an extent that is not known before it runs is scaled by %g"
                     : "an extent is scaled by %g",
                 scale);
    return false;
}

/* Only what the mode looks at. */
static ig_resize_attrs tidy_attrs(const ig_resize_attrs *given) {
    ig_resize_attrs attrs = *given;
    if (attrs.mode == IG_RESIZE_nearest) {
        attrs.antialias = attrs.exclude_outside = false;
    } else {
        attrs.nearest = 0;
    }
    if (attrs.mode != IG_RESIZE_cubic) {
        attrs.cubic_a.is_set = false;
    }
    attrs.outside.is_set &= attrs.coordinates == IG_COORD_crop;
    /* Both neighbours of a place below 0 are the first element. */
    bool is_plain = attrs.mode == IG_RESIZE_linear && !attrs.antialias &&
                    !attrs.exclude_outside;
    if (is_plain && attrs.coordinates == IG_COORD_half_pixel) {
        attrs.coordinates = IG_COORD_clamped_half_pixel;
    }
    return attrs;
}

static ig_value *make_floats(ig_expr *e, const float *values, int64_t count) {
    return ig_expr_constant(e, "resize", IG_DT_f32, 1, &count, values);
}

ig_value *ig_compose_resize(ig_expr *e, ig_value *x, const ig_resize_form *form) {
    bool is_crop = form->attrs.coordinates == IG_COORD_crop, has_lists = is_crop;
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        has_lists = has_lists || form->scales[d] > 0;
    }
    ig_resize_attrs attrs = tidy_attrs(&form->attrs);
    attrs.sizes = (ig_dims){ form->sizes, rank };
    ig_value *scales = has_lists ? make_floats(e, form->scales, rank) : NULL;
    ig_value *region = is_crop ? make_floats(e, form->region, 2 * rank) : NULL;
    return ig_build_resize(e, x, scales, region, NULL, attrs);
}

ig_value *ig_compose_resize_by(ig_expr *e, ig_value *x, const ig_resize_form *form,
                               ig_value *const lists[3]) {
    return ig_build_resize(e, x, lists[0], lists[1], lists[2],
                           tidy_attrs(&form->attrs));
}

/* ---- what an axis needs ---- */

enum { TAPS_MAX = 1 << 20 };

/* Everything that decides about one axis. */
typedef struct axis_plan {
    ig_resize_axis axis;
    int64_t taps;
    ig_dim in, out;
    bool changes, is_open; /* open: only the run knows the extents */
} axis_plan;

static bool read_axis(const ig_op *op, uint32_t d, axis_plan *out) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = op->operands[0].value->type;
    double scale = 0, first = 0, end = 0;
    ig_value *scales = op->operand_count > 1 ? op->operands[1].value : NULL;
    ig_value *region = op->operand_count > 2 ? op->operands[2].value : NULL;
    if ((scales && !ig_constant_entry(scales, d, &scale)) ||
        (region && !(ig_constant_entry(region, d, &first) &&
                     ig_constant_entry(region, d + x->rank, &end)))) {
        return false;
    }
    *out = (axis_plan){ .axis = ig_resize_axis_of(op) };
    out->axis.scale = (float)scale;
    out->axis.first = (float)first;
    out->axis.end = (float)end;
    ig_dim in = x->dims[d], size = op->results[0].type->dims[d];
    bool is_kept = scale == 0 || scale == 1;
    if (is_kept && out->axis.coordinates != IG_COORD_crop &&
        ig_dim_equal(module, in, size) == IG_YES) {
        return true;
    }
    out->changes = true;
    out->in = in;
    out->out = size;
    if (!ig_dim_constant(module, in, &out->axis.in) ||
        !ig_dim_constant(module, size, &out->axis.out)) {
        out->is_open = true;
        return !out->axis.has_antialias && out->axis.coordinates != IG_COORD_crop;
    }
    if (out->axis.in == 0) {
        return false;
    }
    out->taps = ig_resize_tap_count(&out->axis);
    return out->axis.out * out->taps <= TAPS_MAX;
}

/* ---- one axis ---- */

typedef struct chosen {
    int64_t *ids;
    float *weights;
    uint8_t *counts;     /* 0 where there is no element */
    uint8_t *is_outside; /* 1 where a position shows the value for that */
    bool has_gaps, has_outside;
} chosen;

static chosen choose_elements(ig_expr *e, const axis_plan *plan) {
    ig_arena *arena = &e->module->arena;
    size_t count = (size_t)(plan->axis.out * plan->taps);
    chosen c = { IG_NEW_ARRAY(arena, int64_t, count + 1),
                 IG_NEW_ARRAY(arena, float, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, (size_t)plan->axis.out + 1),
                 false,
                 false };
    double *weights = IG_NEW_ARRAY(arena, double, (size_t)plan->taps);
    for (int64_t i = 0; i < plan->axis.out; i++) {
        int64_t first = i * plan->taps;
        bool is_inside = ig_resize_taps(&plan->axis, i, c.ids + first, weights);
        for (int64_t t = first; t < first + plan->taps; t++) {
            c.weights[t] = is_inside ? (float)weights[t - first] : 0;
            c.ids[t] = is_inside ? c.ids[t] : 0;
            c.counts[t] = c.ids[t] >= 0;
            c.has_gaps = c.has_gaps || c.ids[t] < 0;
            c.ids[t] = c.ids[t] < 0 ? 0 : c.ids[t];
        }
        c.is_outside[i] = !is_inside;
        c.has_outside = c.has_outside || !is_inside;
    }
    return c;
}

static ig_value *make_constant(ig_expr *e, ig_dtype dtype, int64_t count,
                               const void *bytes) {
    return ig_expr_constant(e, "resize", dtype, 1, &count, bytes);
}

/* `taps` weighted elements per position, side by side along `axis`, summed; those that
 * `counts` (NULL: all do) says. */
static ig_value *sum_taps(ig_expr *e, ig_value *x, ig_value *weights, ig_value *counts,
                          uint32_t axis, const axis_plan *plan) {
    ig_dim dims[IG_TENSOR_RANK + 1], ones[IG_TENSOR_RANK + 1];
    uint32_t rank = x->type->rank;
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    memcpy(dims + axis + 2, x->type->dims + axis + 1, (rank - axis - 1) * sizeof *dims);
    dims[axis] = plan->out;
    dims[axis + 1] = ig_dim_of(plan->taps);
    for (uint32_t d = 0; d <= rank; d++) {
        ones[d] = d == axis || d == axis + 1 ? dims[d] : ig_dim_of(1);
    }
    weights = ig_expr_reshape(e, weights, rank + 1, ones);
    weights = ig_expr_like(e, weights, x);
    x = ig_build_mul(e, ig_expr_reshape(e, x, rank + 1, dims), weights);
    if (counts) {
        ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
        counts = ig_expr_reshape(e, counts, rank + 1, ones);
        x = ig_build_where(e, counts, x, zero);
    }
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, x, axis + 1, false);
}

static ig_value *resize_open(ig_expr *e, ig_value *x, uint32_t axis, axis_plan *plan) {
    ig_resize_elements taken;
    bool is_done = ig_compose_resize_elements(e, &plan->axis, plan->in, plan->out,
                                              &taken);
    assert(is_done && "read_axis leaves out what needs known extents");
    (void)is_done;
    plan->taps = taken.taps;
    x = ig_expr_gather(e, x, taken.ids, axis, IG_NEGATIVE_wrap);
    return taken.weights ? sum_taps(e, x, taken.weights, NULL, axis, plan) : x;
}

/* Where a position lies outside of x, the value for that. */
static ig_value *show_outside(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                              const chosen *c) {
    int64_t count = ig_dim_value(x->type->dims[axis]);
    ig_value *outside = make_constant(e, IG_DT_bool, count, c->is_outside);
    ig_value *value = ig_expr_number(e, (ig_dtype)x->type->dtype,
                                     ig_attr_float(op, IG_resize_outside, 0));
    outside = ig_expr_along(e, outside, axis, x->type->rank);
    return ig_build_where(e, outside, value, x);
}

static ig_value *resize_axis(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                             axis_plan *plan) {
    if (plan->is_open) {
        return resize_open(e, x, axis, plan);
    }
    chosen c = choose_elements(e, plan);
    int64_t count = plan->axis.out * plan->taps;
    ig_value *ids = make_constant(e, IG_DT_i64, count, c.ids);
    x = ig_expr_gather(e, x, ids, axis, IG_NEGATIVE_wrap);
    if (plan->taps > 1) {
        ig_value *weights = make_constant(e, IG_DT_f32, count, c.weights);
        ig_value *counts = c.has_gaps ? make_constant(e, IG_DT_bool, count, c.counts)
                                      : NULL;
        x = sum_taps(e, x, weights, counts, axis, plan);
    }
    return c.has_outside ? show_outside(e, op, x, axis, &c) : x;
}

/* Extents that are data are symbols of this op: nothing else says what they are. */
static bool names_extents(const ig_op *op) {
    const ig_type *type = op->results[0].type;
    bool has_open = false;
    for (uint32_t d = 0; d < type->rank; d++) {
        has_open = has_open || !ig_dim_is_static(type->dims[d]);
    }
    return has_open && op->operand_count > 3;
}

bool ig_decompose_resize(ig_expr *e, const ig_op *op, ig_value **out_results) {
    axis_plan plans[IG_TENSOR_RANK];
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rank = x->type->rank;
    if (names_extents(op)) {
        return false;
    }
    for (uint32_t d = 0; d < rank; d++) {
        if (!read_axis(op, d, &plans[d])) {
            return false;
        }
    }
    bool is_weighted = ig_attr_int(op, IG_resize_mode, 0) != IG_RESIZE_nearest;
    if (is_weighted && rank == IG_TENSOR_RANK) {
        return false; /* there is no further axis for the elements of a position */
    }
    bool is_real = is_weighted ||
                   ig_attr_int(op, IG_resize_coordinates, 0) == IG_COORD_crop;
    if (is_real) {
        x = ig_dtype_is_float(dtype) ? ig_expr_widen(e, x)
                                     : ig_expr_cast(e, x, IG_DT_f64);
    }
    for (uint32_t d = 0; d < rank; d++) {
        x = plans[d].changes ? resize_axis(e, op, x, d, &plans[d]) : x;
    }
    if (is_real && !ig_dtype_is_float(dtype)) {
        x = ig_build_round(e, x);
    }
    *out_results = ig_expr_cast(e, x, dtype);
    return true;
}
