/* resize rows; and resize as a choice of elements and their weighted sum, axis by axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements and their weights are known when extents and scales are: then an axis is a
 * gather by constant ids, for linear and cubic one for each element of a position,
 * which products with constant weights and sums bring together; where there are many,
 * lines of x are the rows of a bag, or elements are on an axis of their own.  Where
 * only the run knows the extents, scales or region, ids and weights are computed
 * (resize_run.c).
 */
#include "compose/resize.h"

#include "base/checked.h"
#include "compose/decompose.h"
#include "compose/rows/pixels.h"

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

/* scale as p / q such that floor(in * p / q) equals the rounded product, for every
 * extent that images have. */
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

/* Extents that are too large or negative become -1, which is refused when it is
 * bound. */
static ig_value *as_extents(ig_expr *e, ig_value *x) {
    if (!x) {
        return NULL;
    }
    ig_value *minus = ig_expr_integer(e, IG_DT_i64, -1);
    ig_value *is_low = ig_expr_with(e, IG_OP_ge, x, 0);
    ig_value *is_some = ig_build_and(e, is_low, ig_expr_with(e, IG_OP_lt, x, 1e18));
    ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
    x = ig_expr_cast(e, ig_build_where(e, is_some, x, zero), IG_DT_i64);
    return ig_build_where(e, is_some, x, minus);
}

/* floor(in * part * scale) by the run. */
static void bind_scaled_extent(ig_expr *e, ig_dim in, double part, double scale,
                               bool is_f32, ig_dim *out_extent) {
    ig_dim one = ig_dim_of(1);
    ig_value *x = ig_expr_dim(e, in, is_f32 ? IG_DT_f32 : IG_DT_f64);
    x = part == 1 ? x : ig_expr_with(e, IG_OP_mul, x, part);
    x = ig_build_floor(e, ig_expr_with(e, IG_OP_mul, x, scale));
    x = ig_expr_reshape(e, as_extents(e, x), 1, &one);
    ig_expr_bind_dims(e, x, 1, "an extent of a resized tensor", out_extent);
}

bool ig_compose_scaled_extent(ig_expr *e, ig_dim in, double part, double scale,
                              bool is_f32, ig_dim *out_extent) {
    int64_t extent, p, q;
    bool is_known = ig_dim_constant(e->module, in, &extent);
    if (!(scale > 0) || scale > 1e6 || (is_known && extent > INT32_MAX)) {
        ig_expr_fail(e, IG_INVALID, "an extent is scaled by %g", scale);
        return false;
    }
    if (is_known && part == 1) {
        *out_extent = ig_dim_of((int64_t)scale_extent(extent, scale, is_f32));
    } else if (part == 1 && as_ratio(scale, is_f32, &p, &q)) {
        ig_dim product = ig_dim_mul(e->module, in, ig_dim_of(p));
        *out_extent = ig_dim_floor_div(e->module, product, ig_dim_of(q));
    } else {
        bind_scaled_extent(e, in, part, scale, is_f32, out_extent);
    }
    return e->status == IG_OK;
}

/* Only the parameters that the mode reads. */
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
    bool is_crop = form->attrs.coordinates == IG_COORD_crop;
    bool has_lists = is_crop || form->scales_of_run;
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        has_lists = has_lists || form->scales[d] > 0;
    }
    ig_resize_attrs attrs = tidy_attrs(&form->attrs);
    attrs.sizes = (ig_dims){ form->sizes, rank };
    ig_value *scales = form->scales_of_run, *region = form->region_of_run;
    if (has_lists && !scales) {
        scales = make_floats(e, form->scales, rank);
    }
    if (is_crop && !region) {
        region = make_floats(e, form->region, 2 * rank);
    }
    return ig_build_resize(e, x, scales, is_crop ? region : NULL, attrs);
}

void ig_compose_resize_sizes(ig_expr *e, const ig_value *x, ig_resize_form *form) {
    ig_value *scales = form->scales_of_run, *region = form->region_of_run;
    if (!x || !scales) {
        return;
    }
    uint32_t rank = x->type->rank;
    ig_dim count = ig_dim_of(rank);
    ig_value *in = ig_expr_dims(e, x->type->dims, rank);
    ig_value *size = ig_expr_cast(e, in, IG_DT_f32);
    if (form->attrs.coordinates == IG_COORD_crop) {
        region = region ? region : make_floats(e, form->region, 2 * rank);
        ig_value *first = ig_expr_slice(e, region, 0, ig_dim_of(0), count, 1);
        ig_value *end = ig_expr_slice(e, region, 0, count, count, 1);
        size = ig_build_mul(e, size, ig_build_sub(e, end, first));
    }
    size = as_extents(e, ig_build_floor(e, ig_build_mul(e, size, scales)));
    size = ig_build_where(e, ig_expr_with(e, IG_OP_eq, scales, 0), in, size);
    ig_expr_bind_dims(e, size, rank, "an extent of a resized tensor", form->sizes);
}

/* ---- parameters of an axis ---- */

enum { TAPS_MAX = 1 << 20, FEW_TAPS = 4 };

/* Everything that decides about one axis. */
typedef struct axis_plan {
    ig_resize_axis axis;
    int64_t taps;
    ig_dim in, out;
    bool changes, is_open;      /* open: only the run knows all of it */
    bool has_scale, has_region; /* those are data */
} axis_plan;

/* Does a list hold a number there?  `out` is 0 where there is no list. */
static bool read_entry(const ig_op *op, uint32_t operand, uint32_t index, double *out) {
    *out = 0;
    return operand >= op->operand_count ||
           ig_constant_entry(op->operands[operand].value, index, out);
}

static bool read_axis(const ig_op *op, uint32_t d, axis_plan *out) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = op->operands[0].value->type;
    *out = (axis_plan){ .axis = ig_resize_axis_of(op),
                        .in = x->dims[d],
                        .out = op->results[0].type->dims[d] };
    ig_resize_axis *axis = &out->axis;
    out->has_scale = !read_entry(op, 1, d, &axis->scale);
    bool has_first = read_entry(op, 2, d, &axis->first);
    out->has_region = !read_entry(op, 2, d + x->rank, &axis->end) || !has_first;
    bool is_kept = !out->has_scale && (axis->scale == 0 || axis->scale == 1);
    if (is_kept && axis->coordinates != IG_COORD_crop &&
        ig_dim_equal(module, out->in, out->out) == IG_YES) {
        return true;
    }
    out->changes = true;
    out->is_open = !ig_dim_constant(module, out->in, &axis->in) ||
                   !ig_dim_constant(module, out->out, &axis->out) || out->has_scale ||
                   out->has_region;
    if (out->is_open) {
        return true;
    }
    if (axis->in == 0) {
        return false;
    }
    out->taps = ig_resize_tap_count(axis);
    return axis->out * out->taps <= TAPS_MAX;
}

/* ---- one axis ---- */

typedef struct chosen {
    int64_t *ids;
    double *weights;
    uint8_t *counts;     /* 0 where there is no element */
    uint8_t *is_outside; /* 1 where a position shows the value for that */
    bool has_gaps, has_outside;
} chosen;

static chosen choose_elements(ig_expr *e, const axis_plan *plan) {
    ig_arena *arena = &e->module->arena;
    size_t count = (size_t)(plan->axis.out * plan->taps);
    chosen c = { IG_NEW_ARRAY(arena, int64_t, count + 1),
                 IG_NEW_ARRAY(arena, double, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, count + 1),
                 IG_NEW_ARRAY(arena, uint8_t, (size_t)plan->axis.out + 1),
                 false,
                 false };
    double *weights = IG_NEW_ARRAY(arena, double, (size_t)plan->taps);
    for (int64_t i = 0; i < plan->axis.out; i++) {
        int64_t first = i * plan->taps;
        bool is_inside = ig_resize_taps(&plan->axis, i, c.ids + first, weights);
        for (int64_t t = first; t < first + plan->taps; t++) {
            c.weights[t] = is_inside ? weights[t - first] : 0;
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

/* Weighted elements of each position, side by side along `axis`, summed; those that
 * `counts` (NULL: all do) says. */
static ig_value *sum_taps(ig_expr *e, ig_value *x, uint32_t axis, ig_dim out,
                          const ig_resize_elements *c) {
    ig_value *weights = c->weights, *counts = c->counts;
    ig_dim dims[IG_TENSOR_RANK + 1], ones[IG_TENSOR_RANK + 1];
    uint32_t rank = x->type->rank;
    memcpy(dims, x->type->dims, axis * sizeof *dims);
    memcpy(dims + axis + 2, x->type->dims + axis + 1, (rank - axis - 1) * sizeof *dims);
    dims[axis] = out;
    dims[axis + 1] = c->taps;
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

/* Entries of `list` [out * taps] for tap `t` of each position: [out]. */
static ig_value *take_tap(ig_expr *e, ig_value *list, ig_dim out, int64_t taps,
                          int64_t t) {
    ig_dim dims[] = { out, ig_dim_of(taps) };
    return ig_expr_select(e, ig_expr_reshape(e, list, 2, dims), 1, ig_dim_of(t));
}

/* The same sum where a position has few elements: a gather for each, so that lines of
 * x are read whole and summed without a further axis. */
static ig_value *sum_few_taps(ig_expr *e, ig_value *x, uint32_t axis, ig_dim out,
                              const ig_resize_elements *c, int64_t taps) {
    uint32_t rank = x->type->rank;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *sum = NULL;
    for (int64_t t = 0; t < taps; t++) {
        ig_value *ids = take_tap(e, c->ids, out, taps, t);
        ig_value *weights = take_tap(e, c->weights, out, taps, t);
        ig_value *part = ig_expr_gather(e, x, ids, axis, IG_NEGATIVE_wrap);
        weights = ig_expr_cast(e, ig_expr_along(e, weights, axis, rank), dtype);
        part = ig_build_mul(e, part, weights);
        if (c->counts) {
            ig_value *counts = take_tap(e, c->counts, out, taps, t);
            part = ig_build_where(e, ig_expr_along(e, counts, axis, rank), part,
                                  ig_expr_number(e, dtype, 0));
        }
        sum = sum ? ig_build_add(e, sum, part) : part;
    }
    return sum;
}

/* The same sum as a bag of lines: those of x are rows of a table, and a position's are
 * brought together in registers.  False: lines are short, of unknown length, or no
 * floats that a bag adds. */
static bool has_rows(const ig_expr *e, const ig_value *x, uint32_t axis) {
    enum { SHORTEST = 8 };
    int64_t length = 1, extent;
    for (uint32_t d = axis + 1; d < x->type->rank; d++) {
        if (!ig_dim_constant(e->module, x->type->dims[d], &extent) ||
            !ig_mul_i64(length, extent, &length)) {
            return false;
        }
    }
    bool is_real = x->type->dtype == IG_DT_f32 || x->type->dtype == IG_DT_f64;
    return is_real && length >= SHORTEST;
}

static ig_value *sum_rows(ig_expr *e, ig_value *x, uint32_t axis, ig_dim out,
                          const ig_resize_elements *c) {
    uint32_t rank = x->type->rank;
    ig_dim lead = ig_dim_of(1), line = ig_dim_of(1), dims[IG_TENSOR_RANK];
    memcpy(dims, x->type->dims, rank * sizeof *dims);
    for (uint32_t d = 0; d < rank; d++) {
        ig_dim *product = d < axis ? &lead : &line;
        *product = d == axis ? line : ig_dim_mul(e->module, *product, dims[d]);
    }
    ig_dim bags[] = { ig_dim_mul(e->module, lead, out), c->taps };
    ig_dim all[] = { lead, out, c->taps }, own[] = { ig_dim_of(1), out, c->taps };
    ig_dim rows[] = { ig_dim_mul(e->module, lead, dims[axis]), line };
    ig_value *first = ig_build_mul(e, ig_expr_axis_iota(e, 3, 0, lead),
                                   ig_expr_dim(e, dims[axis], IG_DT_i64));
    ig_value *ids = ig_build_add(e, ig_expr_reshape(e, c->ids, 3, own), first);
    if (c->counts) {
        ids = ig_build_where(e, ig_expr_reshape(e, c->counts, 3, own), ids,
                             ig_expr_integer(e, IG_DT_i64, -1));
    }
    ig_value *weights = ig_expr_reshape(e, ig_expr_like(e, c->weights, x), 3, own);
    weights = ig_expr_reshape(e, ig_expr_expand(e, weights, 3, all), 2, bags);
    x = ig_compose_sum_rows(e, ig_expr_reshape(e, x, 2, rows),
                            ig_expr_reshape(e, ids, 2, bags), weights);
    dims[axis] = out;
    return ig_expr_reshape(e, x, rank, dims);
}

static ig_value *weigh_elements(ig_expr *e, ig_value *x, uint32_t axis, ig_dim out,
                                const ig_resize_elements *c) {
    int64_t taps = FEW_TAPS + 1;
    if (ig_dim_constant(e->module, c->taps, &taps) && taps <= FEW_TAPS) {
        return sum_few_taps(e, x, axis, out, c, taps); /* it may become channels last */
    }
    if (x && has_rows(e, x, axis)) {
        return sum_rows(e, x, axis, out, c);
    }
    x = ig_expr_gather(e, x, c->ids, axis, IG_NEGATIVE_wrap);
    return x ? sum_taps(e, x, axis, out, c) : NULL;
}

/* The value of positions outside of x, there. */
static ig_value *show_outside(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                              ig_value *outside) {
    ig_value *value = ig_expr_number(e, (ig_dtype)x->type->dtype,
                                     ig_attr_float(op, IG_resize_outside, 0));
    outside = ig_expr_along(e, outside, axis, x->type->rank);
    return ig_build_where(e, outside, value, x);
}

/* Element `index` of operand `operand`, a number of the type of places. */
static ig_value *take_entry(ig_expr *e, const ig_op *op, uint32_t operand,
                            uint32_t index) {
    ig_value *list = ig_op_operand(op, operand);
    return ig_expr_cast(e, ig_expr_select(e, list, 0, ig_dim_of(index)),
                        ig_resize_axis_of(op).is_wide ? IG_DT_f64 : IG_DT_f32);
}

static ig_resize_elements find_elements(ig_expr *e, const ig_op *op, uint32_t axis,
                                        const axis_plan *plan) {
    uint32_t rank = op->operands[0].value->type->rank;
    ig_resize_run run = { .axis = plan->axis, .in = plan->in, .out = plan->out };
    if (plan->has_scale) {
        run.scale = take_entry(e, op, 1, axis);
    }
    if (plan->has_region) {
        run.first = take_entry(e, op, 2, axis);
        run.end = take_entry(e, op, 2, axis + rank);
    }
    return ig_compose_resize_elements(e, &run);
}

static ig_resize_elements know_elements(ig_expr *e, const axis_plan *plan) {
    chosen c = choose_elements(e, plan);
    int64_t count = plan->axis.out * plan->taps;
    ig_resize_elements known = { .taps = ig_dim_of(plan->taps) };
    known.ids = make_constant(e, IG_DT_i64, count, c.ids);
    if (plan->taps > 1) {
        known.weights = make_constant(e, IG_DT_f64, count, c.weights);
        known.weights = ig_expr_cast(e, known.weights,
                                     ig_compose_resize_weights(&plan->axis));
    }
    if (plan->taps > 1 && c.has_gaps) {
        known.counts = make_constant(e, IG_DT_bool, count, c.counts);
    }
    if (c.has_outside) {
        known.outside = make_constant(e, IG_DT_bool, plan->axis.out, c.is_outside);
    }
    return known;
}

/* How often each element occurs in the result, in order; 0: not all equally often. */
static int64_t count_repeats(ig_expr *e, const axis_plan *plan) {
    const ig_resize_axis *axis = &plan->axis;
    if (plan->is_open || plan->taps != 1 || axis->out % axis->in != 0) {
        return 0;
    }
    int64_t times = axis->out / axis->in;
    chosen c = choose_elements(e, plan);
    for (int64_t i = 0; i < axis->out; i++) {
        if (c.ids[i] != i / times || c.is_outside[i] || !c.counts[i]) {
            return 0;
        }
    }
    return times;
}

/* Every element as often as `times` (0: once) says of its axes, side by side. */
static ig_value *repeat_elements(ig_expr *e, ig_value *x, const int64_t *times) {
    ig_dim narrow[IG_TENSOR_RANK], wide[IG_TENSOR_RANK], dims[IG_TENSOR_RANK];
    uint32_t rank = 0, own = x->type->rank;
    for (uint32_t d = 0; d < own; d++) {
        narrow[rank] = wide[rank] = dims[d] = x->type->dims[d];
        rank++;
        if (times[d] > 0) {
            dims[d] = ig_dim_mul(e->module, dims[d], ig_dim_of(times[d]));
            narrow[rank] = ig_dim_of(1);
            wide[rank++] = ig_dim_of(times[d]);
        }
    }
    x = ig_expr_expand(e, ig_expr_reshape(e, x, rank, narrow), rank, wide);
    return ig_expr_reshape(e, x, own, dims);
}

/* Axis `number` of the op, which is axis `axis` of x. */
static ig_value *resize_axis(ig_expr *e, const ig_op *op, ig_value *x, uint32_t index,
                             uint32_t axis, const axis_plan *plan) {
    ig_resize_elements c = plan->is_open ? find_elements(e, op, index, plan)
                                         : know_elements(e, plan);
    x = c.weights ? weigh_elements(e, x, axis, plan->out, &c)
                  : ig_expr_gather(e, x, c.ids, axis, IG_NEGATIVE_wrap);
    return c.outside ? show_outside(e, op, x, axis, c.outside) : x;
}

/* ---- bytes ---- */

/* The power of two by which weights become integers of 16 bits: the largest p, up to
 * 22, with 2^p * most + 1/2 < 2^15, as f64 2^p. */
static ig_value *weight_unit(ig_expr *e, ig_value *weights) {
    ig_reduce_attrs largest = { .op = IG_REDUCE_max };
    ig_value *max = ig_build_reduce(e, weights, NULL, largest);
    max = ig_expr_with(e, IG_OP_max, max, 0x1p-22);
    ig_value *bits =
        ig_build_log2(e, ig_expr_number_with(e, IG_OP_div, 0x1p15 - 0.5, max));
    bits = ig_expr_with(e, IG_OP_sub, ig_build_ceil(e, bits), 1);
    bits = ig_expr_with(e, IG_OP_min, bits, 22);
    return ig_build_round(e, ig_build_exp2(e, bits));
}

/* What entry t of each row of `values` [out, taps] shares with those before it (or
 * after it, not itself) that are of the same element, summed: [out, taps]. */
static ig_value *sum_alike(ig_expr *e, ig_value *values, ig_value *ids, bool is_after) {
    ig_dim taps = ids ? ids->type->dims[1] : ig_dim_of(0);
    ig_value *alike = ig_build_eq(e, ig_expr_unsqueeze(e, ids, 2),
                                  ig_expr_unsqueeze(e, ids, 1));
    ig_value *own = ig_expr_axis_iota(e, 3, 1, taps);
    ig_value *other = ig_expr_axis_iota(e, 3, 2, taps);
    ig_value *counts = is_after ? ig_build_gt(e, other, own)
                                : ig_build_le(e, other, own);
    ig_value *zero = ig_expr_number(e, IG_DT_f64, 0);
    values = ig_build_where(e, ig_build_and(e, alike, counts),
                            ig_expr_unsqueeze(e, values, 1), zero);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, values, 2, false);
}

/* Weights that fall on one element at a border are added before they are rounded; the
 * last of them has the sum.  *out_unit is of the largest sum on the way. */
static ig_value *merge_weights(ig_expr *e, const axis_plan *plan,
                               const ig_resize_elements *c, ig_value **out_unit) {
    ig_dim table[] = { plan->out, c->taps }, flat;
    ig_value *weights = c->weights;
    if (!plan->axis.has_antialias) { /* else elements outside do not count */
        ig_value *ids = ig_expr_reshape(e, c->ids, 2, table);
        weights = ig_expr_reshape(e, weights, 2, table);
        ig_value *ones = ig_expr_fill(e, IG_DT_f64, 2, table, 1);
        ig_value *sums = sum_alike(e, weights, ids, false);
        ig_value *after = sum_alike(e, ones, ids, true);
        flat = ig_dim_mul(e->module, plan->out, c->taps);
        *out_unit = weight_unit(e, sums);
        ig_value *is_last = ig_expr_with(e, IG_OP_eq, after, 0);
        weights = ig_build_where(e, is_last, sums, ig_expr_number(e, IG_DT_f64, 0));
        return ig_expr_reshape(e, weights, 1, &flat);
    }
    *out_unit = weight_unit(e, weights);
    return weights;
}

/* Halves go away from 0. */
static ig_value *round_weights(ig_expr *e, ig_value *weights) {
    ig_value *sizes = ig_expr_with(e, IG_OP_add, ig_build_abs(e, weights), 0.5);
    return ig_build_mul(e, ig_build_sign(e, weights), ig_build_floor(e, sizes));
}

/* x holds whole numbers of 0 to 255 in f32, in which sums of their products with the
 * weights are exact. */
static ig_value *resize_bytes_axis(ig_expr *e, ig_value *x, uint32_t axis,
                                   const ig_resize_form *form) {
    ig_resize_form own = ig_compose_resize_form(x);
    axis_plan plan;
    own.attrs = form->attrs;
    own.sizes[axis] = form->sizes[axis];
    own.scales[axis] = form->scales[axis];
    ig_value *plain = ig_compose_resize(e, x, &own); /* the parameters of the axis */
    if (!plain || !read_axis(plain->def, axis, &plan) || !plan.changes) {
        return plain;
    }
    plan.axis.is_wide = true;
    ig_resize_elements c = plan.is_open ? find_elements(e, plain->def, axis, &plan)
                                        : know_elements(e, &plan);
    ig_value *unit = NULL;
    c.weights = c.weights ? merge_weights(e, &plan, &c, &unit) : NULL;
    if (!unit) {
        return plain;
    }
    c.weights = round_weights(e, ig_build_mul(e, c.weights, unit));
    x = weigh_elements(e, x, axis, plan.out, &c);
    x = ig_build_div(e, x, ig_expr_cast(e, unit, IG_DT_f32));
    x = ig_build_floor(e, ig_expr_with(e, IG_OP_add, x, 0.5));
    return ig_expr_with(e, IG_OP_min, ig_expr_with(e, IG_OP_max, x, 0), 255);
}

ig_value *ig_compose_resize_bytes(ig_expr *e, ig_value *x, const ig_resize_form *form) {
    x = ig_expr_cast(e, x, IG_DT_f32);
    for (uint32_t d = x ? x->type->rank : 0; x && d-- > 0;) {
        x = resize_bytes_axis(e, x, d, form);
    }
    return ig_expr_cast(e, ig_build_round(e, x), IG_DT_u8);
}

/* Along the last axis elements would be gathered one by one: it goes as the one before
 * it, whose elements are lines. */
static ig_value *resize_lines(ig_expr *e, const ig_op *op, ig_value *x, uint32_t axis,
                              const axis_plan *plan) {
    uint32_t rank = x ? x->type->rank : 0;
    if (!x) {
        return NULL;
    }
    if (axis + 1 < rank || rank < 2 || ig_dim_is(x->type->dims[rank - 2], 1)) {
        return resize_axis(e, op, x, axis, axis, plan);
    }
    x = ig_expr_swap(e, x, rank - 2, rank - 1);
    x = x ? resize_axis(e, op, x, axis, rank - 2, plan) : NULL;
    return x ? ig_expr_swap(e, x, rank - 2, rank - 1) : NULL;
}

static bool is_growing(const axis_plan *plan) {
    return !plan->is_open && !plan->axis.is_exact && plan->axis.out > plan->axis.in;
}

/* Axes that shrink go first, the last of all after the others; then those that grow,
 * the last of all before the others: as little as may be is turned.  Those of integers
 * go in their order. */
static ig_value *resize_axes(ig_expr *e, const ig_op *op, ig_value *x,
                             axis_plan *plans) {
    uint32_t rank = x ? x->type->rank : 0, wide = rank;
    int64_t times[IG_TENSOR_RANK] = { 0 };
    for (uint32_t d = 0; d < rank; d++) {
        times[d] = plans[d].changes && wide < IG_TENSOR_RANK
                       ? count_repeats(e, &plans[d])
                       : 0;
        plans[d].changes = plans[d].changes && times[d] == 0;
        wide += times[d] > 0;
    }
    x = wide > rank ? repeat_elements(e, x, times) : x;
    for (uint32_t d = 0; d < rank; d++) {
        if (plans[d].changes && !is_growing(&plans[d])) {
            x = resize_lines(e, op, x, d, &plans[d]);
        }
    }
    for (uint32_t d = rank; d-- > 0;) {
        if (plans[d].changes && is_growing(&plans[d])) {
            x = resize_lines(e, op, x, d, &plans[d]);
        }
    }
    return x;
}

bool ig_decompose_resize(ig_expr *e, const ig_op *op, ig_value **out_results) {
    axis_plan plans[IG_TENSOR_RANK];
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rank = x->type->rank;
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
    x = resize_axes(e, op, x, plans);
    if (is_real && !ig_dtype_is_float(dtype)) {
        x = ig_build_round(e, x);
    }
    *out_results = ig_expr_cast(e, x, dtype);
    return true;
}
