/* The elements and weights that a resized axis takes, as values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_RESIZE_H
#define IG_COMPOSE_RESIZE_H

#include "ir/expr.h"
#include "ir/semantics/resize.h"

typedef struct ig_resize_elements {
    int64_t taps;      /* elements per position of the result */
    ig_value *ids;     /* i64 [out * taps] */
    ig_value *weights; /* f32 [out * taps]; NULL: one element, whole */
} ig_resize_elements;

/* For extents that only the run knows; false for the forms that need known ones. */
bool ig_compose_resize_elements(ig_expr *e, const ig_resize_axis *axis, ig_dim in,
                                ig_dim out, ig_resize_elements *out_elements);

#endif
