/* Interpolation along one axis: which elements each place of the result takes, and how
 * much of each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_RESIZE_H
#define IG_IR_SEMANTICS_RESIZE_H

#include "ir/ops.h"

typedef struct ig_resize_axis {
    int64_t in, out;
    double scale;      /* out / in as it was given; 0: not given */
    double first, end; /* crop: the region, in parts of the axis */
    ig_resize_mode mode;
    ig_coordinates coordinates;
    ig_nearest nearest;
    double cubic_a;
    bool has_antialias, excludes_outside;
    bool is_wide;  /* places and weights in f64: of f64 elements that are weighed */
    bool is_exact; /* of integers: weights in f64, and axes in their order, so that all
                    * who round the sum round the same one */
} ig_resize_axis;

/* The op's attributes; in, out, scale and region are the caller's. */
ig_resize_axis ig_resize_axis_of(const ig_op *op);
/* Elements that a place takes at most. */
int64_t ig_resize_tap_count(const ig_resize_axis *axis);
/* Those of place `at`: exactly that many, some with weight 0; element -1: none, which
 * only antialias gives.  False: the place is outside of x and has the value for
 * that (crop). */
bool ig_resize_taps(const ig_resize_axis *axis, int64_t at, int64_t *out_elements,
                    double *out_weights);

#endif
