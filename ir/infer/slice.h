/* Arithmetic of slices and ranges, shared by infer, dims and fold hooks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_INFER_SLICE_H
#define IG_IR_INFER_SLICE_H

#include "ir/graph.h"

/* start:end:step, and step is not 0. */
typedef struct ig_slice_ends {
    ig_dim start, end;
    int64_t step;
} ig_slice_ends;

/* First element and size of a slice of `extent`, positions clamped; false when they are
 * not known, because the sign of a position is not. */
bool ig_slice_extent(ig_module *module, const ig_slice_ends *ends, ig_dim extent,
                     ig_dim *out_start, ig_dim *out_size);
/* The same of numbers. */
void ig_slice_numbers(int64_t start, int64_t end, int64_t step, int64_t extent,
                      int64_t *out_start, int64_t *out_size);
/* Number of elements of a range of integers (step not 0), at most INT64_MAX. */
int64_t ig_range_count_ints(int64_t start, int64_t limit, int64_t step);
/* Number of elements of a range of floats; false when there is none such. */
bool ig_range_count(double start, double limit, double step, int64_t *out_count);

#endif
