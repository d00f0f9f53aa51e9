/* Arithmetic of slices and ranges, shared by infer, dims and fold hooks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_INFER_SLICE_H
#define IG_IR_INFER_SLICE_H

#include "ir/graph.h"

/* First element and size of `start:end:step` (not 0) over `extent`, positions clamped;
 * false when the sign of a position is not known. */
bool ig_slice_extent(ig_module *module, ig_dim start, ig_dim end, int64_t step,
                     ig_dim extent, ig_dim *out_start, ig_dim *out_size);
/* Number of elements of a range of floats; false when there is none such. */
bool ig_range_count(double start, double limit, double step, int64_t *out_count);

#endif
