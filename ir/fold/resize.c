/* resize, axis by axis, and grid_sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/semantics/resize.h"

#include <math.h>
#include <string.h>

/* ---- types ---- */

static ig_status check_lists(const ig_op *op) {
    static const char *const what[] = { "one scale for each axis",
                                        "two positions for each axis" };
    uint32_t rank = ig_operand_type(op, 0)->rank;
    for (uint32_t i = 1; i < op->operand_count; i++) {
        IG_TRY(ig_check_float(op, i));
        IG_TRY(ig_check_rank(op, i, 1));
        ig_dim count = ig_dim_of(i == 2 ? 2 * rank : rank);
        IG_TRY(ig_check_extent(op, i, 0, count, what[i - 1], NULL));
    }
    return IG_OK;
}

ig_status ig_infer_resize(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    const ig_attr *sizes = &op->attrs[IG_resize_sizes];
    bool is_crop = ig_attr_int(op, IG_resize_coordinates, 0) == IG_COORD_crop;
    if (x->dtype == IG_DT_bool || x->dtype == IG_DT_str || sizes->count != x->rank ||
        (is_crop && op->operand_count < 3)) {
        return INFER_ERROR(
            op,
            "operand 0 is %s, expected numbers, one size an axis, and for crop a region",
            ig_operand_text(op, 0));
    }
    IG_TRY(check_lists(op));
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank, sizes->as.dims);
    return IG_OK;
}

ig_status ig_infer_grid_sample(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(ig_check_float(op, 1));
    const ig_type *x = ig_operand_type(op, 0), *grid = ig_operand_type(op, 1);
    if (x->rank < 3 || grid->rank != x->rank || x->dtype == IG_DT_bool ||
        x->dtype == IG_DT_str) {
        return INFER_ERROR(op,
                           "operands are %s and %s, expected equal ranks, 3 or more",
                           ig_operand_text(op, 0), ig_operand_text(op, 1));
    }
    IG_TRY(ig_check_extent(op, 1, grid->rank - 1, ig_dim_of(x->rank - 2),
                           "the number of spatial axes", NULL));
    ig_dim dims[IG_TENSOR_RANK] = { ig_dim_of(0), x->dims[1] };
    IG_TRY(ig_check_extent(op, 1, 0, x->dims[0], "that of operand 0", &dims[0]));
    for (uint32_t d = 2; d < x->rank; d++) {
        dims[d] = grid->dims[d - 1];
    }
    out_types[0] = ig_type_with_dims(ig_op_module(op), x, x->rank, dims);
    return IG_OK;
}

/* ---- resize ---- */

typedef struct resizing {
    ig_eval *eval;
    const ig_op *op;
    double outside;
    uint32_t rank;
    int64_t dims[IG_TENSOR_RANK]; /* of `values`, axis by axis those of the result */
    double *values; /* for the nearest element the places of elements of x */
} resizing;

/* The elements themselves, or their positions: moved values are unchanged, also
 * an integer that no double holds, or a NaN's payload. */
static void read_elements(resizing *r, const ig_tensor *x, bool is_moved) {
    for (int64_t i = 0; i < x->count; i++) {
        r->values[i] = is_moved ? (double)i : ig_tensor_get_f64(x, i);
    }
}

static void write_elements(const resizing *r, const ig_tensor *x, bool is_moved,
                           double outside, ig_tensor *out) {
    bool is_float = ig_dtype_is_float(x->dtype);
    for (int64_t i = 0; i < out->count; i++) {
        double value = r->values[i];
        if (is_moved && value >= 0) {
            ig_span_copy(out, i, x, (int64_t)value, 1);
            continue;
        }
        value = is_moved ? outside : value;
        ig_tensor_set_f64(out, i, is_float ? value : rint(value));
    }
}

static ig_status resize_axis(resizing *r, uint32_t d, const ig_resize_axis *axis) {
    enum { TAPS_MAX = 1 << 26 };
    int64_t outer = 1, inner = 1, taps = ig_resize_tap_count(axis), *elements;
    double *weights, *out;
    for (uint32_t i = 0; i < r->rank; i++) {
        outer *= i < d ? r->dims[i] : 1;
        inner *= i > d ? r->dims[i] : 1;
    }
    int64_t count = outer * inner;
    if (taps > TAPS_MAX || __builtin_mul_overflow(count, axis->out, &count)) {
        return FOLD_FAIL(r->eval, r->op, IG_LIMIT, "resize: the result is too large");
    }
    IG_TRY(ig_eval_scratch(r->eval, r->op, taps, sizeof *elements, &elements));
    IG_TRY(ig_eval_scratch(r->eval, r->op, taps, sizeof *weights, &weights));
    IG_TRY(ig_eval_scratch(r->eval, r->op, count, sizeof *out, &out));
    for (int64_t i = 0; i < axis->out; i++) {
        bool is_inside = ig_resize_taps(axis, i, elements, weights);
        for (int64_t lane = 0; lane < outer * inner; lane++) {
            int64_t from = lane / inner * axis->in * inner + lane % inner;
            double sum = is_inside ? 0 : r->outside;
            for (int64_t t = 0; is_inside && t < taps; t++) {
                bool counts = elements[t] >= 0;
                sum += counts ? weights[t] * r->values[from + elements[t] * inner] : 0;
            }
            out[(lane / inner * axis->out + i) * inner + lane % inner] = sum;
        }
    }
    r->dims[d] = axis->out;
    r->values = out;
    return IG_OK;
}

static double number_at(const ig_op *op, const ig_tensor *const *in, uint32_t operand,
                        int64_t index) {
    bool is_there = operand < op->operand_count && index < in[operand]->count;
    return is_there ? ig_tensor_get_f64(in[operand], index) : 0;
}

/* An axis that stays as it is needs no work. */
static bool axis_changes(const ig_resize_axis *axis) {
    bool is_same = axis->in == axis->out && (axis->scale == 0 || axis->scale == 1);
    return !is_same || axis->coordinates == IG_COORD_crop;
}

ig_status ig_fold_resize(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0];
    bool is_moved = ig_attr_int(op, IG_resize_mode, 0) == IG_RESIZE_nearest;
    double outside = ig_attr_float(op, IG_resize_outside, 0);
    resizing r = {
        .eval = eval, .op = op, .outside = is_moved ? -1 : outside, .rank = x->rank
    };
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank = x->rank;
    IG_TRY(ig_eval_shape(eval, op, IG_resize_sizes, NULL, &rank, dims));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    if (x->count == 0) {
        return FOLD_ERROR(eval, op, "resize: there is no element to take");
    }
    memcpy(r.dims, x->dims, sizeof r.dims);
    IG_TRY(ig_eval_scratch(eval, op, x->count, sizeof *r.values, &r.values));
    read_elements(&r, x, is_moved);
    for (uint32_t d = 0; d < x->rank; d++) {
        ig_resize_axis axis = ig_resize_axis_of(op);
        axis.in = x->dims[d];
        axis.out = dims[d];
        axis.scale = number_at(op, in, 1, d);
        axis.first = number_at(op, in, 2, d);
        axis.end = number_at(op, in, 2, d + x->rank);
        if (axis_changes(&axis)) {
            IG_TRY(resize_axis(&r, d, &axis));
        }
    }
    write_elements(&r, x, is_moved, outside, out);
    return IG_OK;
}

/* ---- grid_sample ---- */

/* Positions that are not finite are torch's (ATen/native/cpu/GridSamplerKernel.cpp of
 * images, ATen/native/GridSampler.cpp of volumes). */

enum { SPACE = 8, TAPS = 4 };

typedef struct sampling {
    const ig_tensor *x;
    ig_resize_mode mode;
    ig_outside outside;
    bool aligns;
    uint32_t rank; /* spatial axes */
    const ig_tensor *grid;
    ig_tensor *out;
    int64_t positions; /* an image */
} sampling;

/* From -1 … 1 to elements. */
static double unscale_position(const sampling *s, double at, int64_t extent) {
    return s->aligns ? (at + 1) / 2 * (double)(extent - 1)
                     : ((at + 1) * (double)extent - 1) / 2;
}

/* Mirrors x at `low` and `high` until it is between them. */
static double reflect_position(double at, double low, double high) {
    double range = high - low;
    if (range <= 0) {
        return low;
    }
    double from = fmod(fabs(at - low), 2 * range);
    return low + (from > range ? 2 * range - from : from);
}

/* NaN is the first element of an image, the last of a volume. */
static double hold_inside(const sampling *s, double at, int64_t extent) {
    double last = (double)(extent - 1);
    if (isnan(at)) {
        return s->rank > 2 ? last : 0;
    }
    return at < 0 ? 0 : at > last ? last : at;
}

static double bound_position(const sampling *s, double at, int64_t extent) {
    if (s->outside == IG_OUTSIDE_reflection) {
        double half = s->aligns ? 0 : 0.5;
        at = reflect_position(at, -half, (double)extent - 1 + half);
    }
    return s->outside == IG_OUTSIDE_zeros ? at : hold_inside(s, at, extent);
}

static double weigh_keys(double distance) {
    const double a = -0.75;
    double x = fabs(distance);
    return x <= 1   ? ((a + 2) * x - (a + 3)) * x * x + 1
           : x >= 2 ? 0
                    : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* Elements and weights along one axis; -1: outside, which is 0. */
static uint32_t find_taps(const sampling *s, double at, int64_t extent,
                          int64_t *elements, double *weights) {
    bool is_cubic = s->mode == IG_RESIZE_cubic;
    at = unscale_position(s, at, extent);
    at = is_cubic ? at : bound_position(s, at, extent);
    uint32_t count = is_cubic ? 4 : s->mode == IG_RESIZE_linear ? 2 : 1;
    double first = is_cubic ? -1 : 0, below = count == 1 ? rint(at) : floor(at) + first;
    for (uint32_t t = 0; t < count; t++) {
        double element = below + t, distance = first + t - (at - floor(at));
        weights[t] = count == 1 ? 1
                     : is_cubic ? weigh_keys(distance)
                                : 1 - fabs(distance);
        element = is_cubic ? bound_position(s, element, extent) : element;
        bool is_inside = element >= 0 && element <= (double)(extent - 1);
        elements[t] = is_inside ? (int64_t)rint(element) : -1;
    }
    return count;
}

typedef struct axis_taps {
    int64_t elements[TAPS], count;
    double weights[TAPS];
} axis_taps;

/* The element of a plane that a combination of taps means, -1 for one outside, and its
 * weight.  A weight of NaN counts outside too, but not in a volume between zeros. */
static int64_t locate_element(const sampling *s, const axis_taps *axes,
                              const int64_t *picks, double *out_weight) {
    int64_t at = 0;
    bool is_inside = true;
    *out_weight = 1;
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t element = axes[d].elements[picks[d]];
        is_inside = is_inside && element >= 0;
        *out_weight *= axes[d].weights[picks[d]];
        at = at * s->x->dims[2 + d] + (element < 0 ? 0 : element);
    }
    bool spreads = s->rank <= 2 || s->mode == IG_RESIZE_cubic;
    return is_inside || (spreads && isnan(*out_weight)) ? at : -1;
}

/* One result, of the plane that begins at element `plane`.  The nearest element is
 * moved as it is. */
static void sample_plane(const sampling *s, const axis_taps *axes, int64_t plane,
                         int64_t to) {
    int64_t counts[SPACE];
    double sum = 0, weight;
    for (uint32_t d = 0; d < s->rank; d++) {
        counts[d] = axes[d].count;
    }
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, s->rank, counts); walk.is_inside; ig_walk_next(&walk)) {
        int64_t from = locate_element(s, axes, walk.index, &weight);
        if (from >= 0 && s->mode == IG_RESIZE_nearest) {
            ig_span_copy(s->out, to, s->x, plane + from, 1);
        } else if (from >= 0) {
            sum += weight * ig_tensor_get_f64(s->x, plane + from);
        }
    }
    if (s->mode != IG_RESIZE_nearest) {
        ig_tensor_set_f64(s->out, to, sum);
    }
}

/* The results at position `place` of each image's grid: one per channel. */
static void sample_grid(const sampling *s, int64_t position) {
    axis_taps axes[SPACE];
    int64_t plane = 1, channels = s->x->dims[1],
            first = position / s->positions * channels;
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t extent = s->x->dims[2 + d];
        double at = ig_tensor_get_f64(s->grid, position * s->rank + (s->rank - 1 - d));
        axes[d].count = find_taps(s, at, extent, axes[d].elements, axes[d].weights);
        plane *= extent;
    }
    for (int64_t c = first; c < first + channels; c++) {
        sample_plane(s, axes, c * plane, c * s->positions + position % s->positions);
    }
}

ig_status ig_fold_grid_sample(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *x = in[0], *grid = in[1];
    sampling s = { .x = x, .rank = x->rank - 2, .grid = grid, .out = out };
    s.mode = (ig_resize_mode)ig_attr_int(op, IG_grid_sample_mode, 0);
    s.outside = (ig_outside)ig_attr_int(op, IG_grid_sample_outside, 0);
    s.aligns = ig_attr_int(op, IG_grid_sample_align_corners, 0) != 0;
    int64_t dims[IG_TENSOR_RANK] = { x->dims[0], x->dims[1] }, positions = 1;
    if (s.rank > SPACE - 2 || grid->dims[0] != x->dims[0] ||
        grid->dims[grid->rank - 1] != s.rank) {
        return FOLD_ERROR(eval, op, "grid_sample: the grid does not fit x");
    }
    for (uint32_t d = 2; d < x->rank; d++) {
        dims[d] = grid->dims[d - 1];
        positions *= dims[d];
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    s.positions = positions;
    for (int64_t i = 0; i < x->dims[0] * positions; i++) {
        sample_grid(&s, i);
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}
