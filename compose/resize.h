/* resize rows, and what they are made of.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_RESIZE_H
#define IG_COMPOSE_RESIZE_H

#include "ir/expr.h"
#include "ir/semantics/resize.h"

/* ---- the row ---- */

/* What a resize is told, axis by axis. */
typedef struct ig_resize_form {
    ig_resize_attrs attrs; /* but for `sizes` */
    ig_dim sizes[IG_TENSOR_RANK];
    float scales[IG_TENSOR_RANK];     /* 0: not given */
    float region[2 * IG_TENSOR_RANK]; /* crop: where it begins, then where it ends */
} ig_resize_form;

/* All axes as they are. */
ig_resize_form ig_compose_resize_form(const ig_value *x);
/* floor(in * scale); the product is rounded to f32 (ONNX) or f64 (torch).  An
 * extent that only the run learns must come to a quotient of integers; else false, and
 * the expression fails. */
bool ig_compose_scaled_extent(ig_expr *e, ig_dim in, double scale, bool is_f32,
                              ig_dim *out_extent);
/* Attributes that change nothing in the mode are left out. */
ig_value *ig_compose_resize(ig_expr *e, ig_value *x, const ig_resize_form *form);
/* The same by lists that the run computes: scales, region, sizes; those at the end may
 * be NULL, and the attributes of `form` alone count. */
ig_value *ig_compose_resize_by(ig_expr *e, ig_value *x, const ig_resize_form *form,
                               ig_value *const lists[3]);

/* ---- its parts ---- */

typedef struct ig_resize_elements {
    int64_t taps;      /* elements per position of the result */
    ig_value *ids;     /* i64 [out * taps] */
    ig_value *weights; /* f32 [out * taps]; NULL: one element, whole */
} ig_resize_elements;

/* For extents that only the run knows; false for the forms that need known ones. */
bool ig_compose_resize_elements(ig_expr *e, const ig_resize_axis *axis, ig_dim in,
                                ig_dim out, ig_resize_elements *out_elements);

#endif
