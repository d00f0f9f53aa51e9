/* Interpolation along one axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With s the scale (given, or out / in), element i of the result is at
 *
 *     half_pixel            (i + 0.5) / s - 0.5
 *     half_pixel_symmetric  the same around the middle, where out is not s * in
 *     pytorch_half_pixel    the same, 0 where out is 1
 *     clamped_half_pixel    the same, never below 0
 *     half_pixel_corner     (i + 0.5) / s
 *     asymmetric            i / s
 *     align_corners         i * (in - 1) / (out - 1), whatever the scale
 *     crop                  from first to end of the region, in parts of in - 1
 *
 * and takes its nearest element, or its 2 (linear) or 4 (cubic, Keys' kernel with
 * parameter a) neighbours; beyond the ends the last element is meant, unless
 * exclude_outside gives it weight 0 and scales the other weights up.  antialias widens
 * the kernel by 1 / s where s < 1 and makes the weights' sum 1.
 *
 * A weight of 0 counts, so that NaN and infinity come through as in ONNX Runtime and
 * torch.  Only elements that antialias leaves out do not: those beyond the widened
 * kernel, and with exclude_outside those beyond the ends.
 *
 * Places are computed in f32: where they are rounded down, that decides.  Weighted f64
 * elements have theirs in f64, as in torch.
 */
#include "ir/semantics/resize.h"

#include <math.h>

ig_resize_axis ig_resize_axis_of(const ig_op *op) {
    ig_dtype dtype = (ig_dtype)op->operands[0].value->type->dtype;
    bool is_weighed = ig_attr_int(op, IG_resize_mode, 0) != IG_RESIZE_nearest;
    return (ig_resize_axis){
        .mode = (ig_resize_mode)ig_attr_int(op, IG_resize_mode, 0),
        .coordinates = (ig_coordinates)ig_attr_int(op, IG_resize_coordinates, 0),
        .nearest = (ig_nearest)ig_attr_int(op, IG_resize_nearest, 0),
        .cubic_a = ig_attr_float(op, IG_resize_cubic_a, -0.75),
        .has_antialias = ig_attr_int(op, IG_resize_antialias, 0) != 0,
        .excludes_outside = ig_attr_int(op, IG_resize_exclude_outside, 0) != 0,
        .is_wide = dtype == IG_DT_f64 && is_weighed,
        .is_exact = !ig_dtype_is_float(dtype) && is_weighed,
    };
}

/* The result of one operation, in the precision of places: f32 operations are f64 ones
 * that are rounded once more. */
static double round_to(const ig_resize_axis *axis, double value) {
    return axis->is_wide ? value : (double)(float)value;
}

static double scale_of(const ig_resize_axis *axis) {
    return axis->scale > 0 ? round_to(axis, axis->scale)
                           : round_to(axis, round_to(axis, (double)axis->out) /
                                                round_to(axis, (double)axis->in));
}

static double align_corners(const ig_resize_axis *axis, double i) {
    double product = round_to(axis, i * round_to(axis, (double)(axis->in - 1)));
    return axis->out == 1
               ? 0
               : round_to(axis, product / round_to(axis, (double)(axis->out - 1)));
}

/* (i + 0.5) / s */
static double corner_of(const ig_resize_axis *axis, double i) {
    return round_to(axis, round_to(axis, i + 0.5) / scale_of(axis));
}

static double symmetric_coordinate(const ig_resize_axis *axis, double i) {
    double in = round_to(axis, (double)axis->in),
           out = round_to(axis, (double)axis->out);
    double adjust = round_to(axis, out / round_to(axis, scale_of(axis) * in));
    double shift = round_to(axis, in / 2 * round_to(axis, 1 - adjust));
    return round_to(axis, round_to(axis, shift + corner_of(axis, i)) - 0.5);
}

static double crop_coordinate(const ig_resize_axis *axis, double i) {
    double last = round_to(axis, (double)(axis->in - 1));
    if (axis->out == 1) {
        double middle = round_to(axis, 0.5 * round_to(axis, axis->first + axis->end));
        return round_to(axis, middle * last);
    }
    double span = round_to(axis, round_to(axis, axis->end - axis->first) * last);
    double step = round_to(axis, span / round_to(axis, (double)(axis->out - 1)));
    return round_to(axis,
                    round_to(axis, axis->first * last) + round_to(axis, i * step));
}

static double position_of(const ig_resize_axis *axis, int64_t at) {
    double i = round_to(axis, (double)at);
    double half = round_to(axis, corner_of(axis, i) - 0.5);
    switch (axis->coordinates) {
    case IG_COORD_half_pixel:
        return half;
    case IG_COORD_half_pixel_symmetric:
        return symmetric_coordinate(axis, i);
    case IG_COORD_pytorch_half_pixel:
        return axis->out > 1 ? half : 0;
    case IG_COORD_clamped_half_pixel:
        return half > 0 ? half : 0;
    case IG_COORD_half_pixel_corner:
        return corner_of(axis, i);
    case IG_COORD_align_corners:
        return align_corners(axis, i);
    case IG_COORD_crop:
        return crop_coordinate(axis, i);
    case IG_COORD_asymmetric:
        break;
    }
    return round_to(axis, i / scale_of(axis));
}

/* ---- kernels ---- */

static double weigh_cubic(double distance, double a) {
    double x = fabs(distance);
    if (x <= 1) {
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double weight_at(const ig_resize_axis *axis, double distance) {
    if (axis->mode == IG_RESIZE_cubic) {
        return weigh_cubic(distance, axis->cubic_a);
    }
    double weight = 1 - fabs(distance);
    return weight > 0 ? weight : 0;
}

static double reach_of(const ig_resize_axis *axis) {
    return axis->mode == IG_RESIZE_cubic ? 2 : 1;
}

/* Does the kernel reach as far?  On its upper end it does, as in torch. */
static bool is_reached(const ig_resize_axis *axis, double distance) {
    return distance > -reach_of(axis) && distance <= reach_of(axis);
}

/* 1 / s where the kernel is widened, else 1. */
static double stretch_of(const ig_resize_axis *axis) {
    double scale = axis->in > 0 && axis->out > 0 ? scale_of(axis) : 1;
    return axis->has_antialias && scale < 1 ? 1 / scale : 1;
}

/* Elements on one side of a place. */
static int64_t half_width(const ig_resize_axis *axis) {
    return (int64_t)fmin(ceil(reach_of(axis) * stretch_of(axis)), 1e15);
}

int64_t ig_resize_tap_count(const ig_resize_axis *axis) {
    return axis->mode == IG_RESIZE_nearest ? 1 : 2 * half_width(axis);
}

/* Of the nearest element, whose places are f32. */
static double round_position(ig_nearest rule, float position) {
    switch (rule) {
    case IG_NEAREST_round_prefer_ceil:
        return floorf(position + 0.5f);
    case IG_NEAREST_floor:
        return floorf(position);
    case IG_NEAREST_ceil:
        return ceilf(position);
    case IG_NEAREST_round_prefer_floor:
        break;
    }
    return ceilf(position - 0.5f);
}

static int64_t clamp_index(const ig_resize_axis *axis, double at) {
    double last = (double)(axis->in - 1);
    return at >= 0 ? (int64_t)(at > last ? last : at) : 0; /* NaN: 0 */
}

static void scale_weights(double *weights, int64_t count) {
    double sum = 0;
    for (int64_t t = 0; t < count; t++) {
        sum += weights[t];
    }
    for (int64_t t = 0; t < count && sum != 0; t++) {
        weights[t] /= sum;
    }
}

bool ig_resize_taps(const ig_resize_axis *axis, int64_t at, int64_t *out_elements,
                    double *out_weights) {
    double position = position_of(axis, at);
    if (axis->coordinates == IG_COORD_crop &&
        (position < 0 || position > round_to(axis, (double)(axis->in - 1)))) {
        return false;
    }
    if (axis->mode == IG_RESIZE_nearest) {
        out_elements[0] = clamp_index(axis,
                                      round_position(axis->nearest, (float)position));
        out_weights[0] = 1;
        return true;
    }
    int64_t half = half_width(axis), count = 2 * half;
    double below = floor(position), stretch = stretch_of(axis);
    for (int64_t t = 0; t < count; t++) {
        double element = below + (double)(t + 1 - half);
        bool is_inside = element >= 0 && element <= (double)(axis->in - 1);
        double distance = (element - position) / stretch;
        double weight = weight_at(axis, distance);
        bool is_excluded = axis->excludes_outside && !is_inside;
        bool is_left_out = axis->has_antialias &&
                           (is_excluded || !is_reached(axis, distance));
        out_elements[t] = is_left_out ? -1 : clamp_index(axis, element);
        out_weights[t] = is_excluded || is_left_out ? 0 : weight;
    }
    if (axis->has_antialias || axis->excludes_outside) {
        scale_weights(out_weights, count);
    }
    return true;
}
