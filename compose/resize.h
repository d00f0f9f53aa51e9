/* resize rows, and their parts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_RESIZE_H
#define IG_COMPOSE_RESIZE_H

#include "ir/build/expr.h"
#include "ir/semantics/resize.h"

/* ---- the row ---- */

/* The parameters of a resize, axis by axis. */
typedef struct ig_resize_form {
    ig_resize_attrs attrs; /* but for `sizes` */
    ig_dim sizes[IG_TENSOR_RANK];
    float scales[IG_TENSOR_RANK];     /* 0: not given */
    float region[2 * IG_TENSOR_RANK]; /* crop: where it begins, then where it ends */
    ig_value *scales_of_run,
        *region_of_run; /* lists in place of those, or NULL: f32, f64 too */
} ig_resize_form;

/* All axes as they are. */
ig_resize_form ig_compose_resize_form(const ig_value *x);
/* floor(in * part * scale), where part is how much of the axis is shown; products are
 * rounded to f32 (ONNX) or f64 (torch).  The run computes it where the scale is no
 * quotient of integers.  False: the scale is invalid, and the expression fails. */
bool ig_compose_scaled_extent(ig_expr *e, ig_dim in, double part, double scale,
                              bool is_f32, ig_dim *out_extent);
/* Attributes that change nothing in the mode are left out. */
ig_value *ig_compose_resize(ig_expr *e, ig_value *x, const ig_resize_form *form);
/* The same of bytes as Pillow and torch resize them (torch,
 * ATen/native/cpu/UpSampleKernel .cpp): the last axis first, by weights of 16 bits, and
 * each axis gives bytes. */
ig_value *ig_compose_resize_bytes(ig_expr *e, ig_value *x, const ig_resize_form *form);
/* The form's sizes from its lists of the run: floor(in * (end - first) * scale), `in`
 * where the scale is 0. */
void ig_compose_resize_sizes(ig_expr *e, const ig_value *x, ig_resize_form *form);

/* ---- its parts ---- */

/* One axis, parts of which are known at run time only. */
typedef struct ig_resize_run {
    ig_resize_axis axis;
    ig_value *scale, *first, *end; /* numbers in place of the axis' own, or NULL */
    ig_dim in, out;
} ig_resize_run;

typedef struct ig_resize_elements {
    ig_dim taps;       /* elements per position of the result */
    ig_value *ids;     /* i64 [out * taps] */
    ig_value *weights; /* [out * taps]; NULL: one element, whole */
    ig_value *counts;  /* bool [out * taps]: which take part; NULL: all */
    ig_value *outside; /* bool [out]: which show the value for that; NULL: none */
} ig_resize_elements;

/* The type of weights: f64 also where integers are weighed. */
static inline ig_dtype ig_compose_resize_weights(const ig_resize_axis *axis) {
    return axis->is_wide || axis->is_exact ? IG_DT_f64 : IG_DT_f32;
}

/* Keys' cubic kernel with parameter a, at distances in f64 (Keys 1981, "Cubic
 * convolution interpolation for digital image processing"). */
ig_value *ig_compose_keys_kernel(ig_expr *e, ig_value *distance, double a);
ig_resize_elements ig_compose_resize_elements(ig_expr *e, const ig_resize_run *run);

#endif
