/* Windows that slide over the spatial axes of x: the geometry of conv and pool.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Along one axis, window number o holds the positions
 *
 *     o * stride + j * dilation - before        j = 0 … kernel - 1
 *
 * of which those in [0, in) are elements of x; the others are padding.  Transposed, the
 * roles are exchanged: result o takes from element i through tap j where
 *
 *     i * stride + j * dilation - before = o
 */
#ifndef IG_IR_SEMANTICS_WINDOW_H
#define IG_IR_SEMANTICS_WINDOW_H

#include "ir/semantics/walk.h"

enum { IG_WINDOW_RANK = 6 };

/* Where an op keeps its geometry. */
#define IG_WINDOW_NO_SLOT UINT32_MAX /* no such attribute: steps of 1, no padding */
typedef struct ig_window_slots {
    uint32_t strides, dilations, before, after;
} ig_window_slots;

/* ---- in dim expressions ---- */

typedef struct ig_window_axis {
    ig_dim in, kernel, before, after;
    int64_t stride, dilation;
} ig_window_axis;

/* Attributes have as many entries as there are spatial axes, strides and dilations are
 * positive; reports. */
ig_status ig_window_check(const ig_op *op, const ig_window_slots *slots, uint32_t rank);
ig_window_axis ig_window_axis_of(const ig_op *op, const ig_window_slots *slots,
                                 uint32_t axis, ig_dim in, ig_dim kernel);
/* Number of windows along the axis. */
ig_dim ig_window_count(ig_module *module, const ig_window_axis *axis, bool ceil_mode);
/* Of x [N, s…, C], operand 0: images and places of the result into dims[0 …].  kernel:
 * one a spatial axis.  Reports windows that do not fit. */
ig_status ig_window_dims(const ig_op *op, const ig_window_slots *slots,
                         const ig_dim *kernel, ig_dim *dims);
/* Extent of a transposed convolution's result. */
ig_dim ig_window_spread(ig_module *module, const ig_window_axis *axis);

/* ---- in numbers ---- */

typedef struct ig_window {
    uint32_t rank;
    bool is_transposed;
    int64_t in[IG_WINDOW_RANK], out[IG_WINDOW_RANK], kernel[IG_WINDOW_RANK];
    int64_t stride[IG_WINDOW_RANK], dilation[IG_WINDOW_RANK];
    int64_t before[IG_WINDOW_RANK], after[IG_WINDOW_RANK];
    int64_t in_count, out_count, tap_count; /* products */
} ig_window;

/* An element of x and the tap that meets it, both counted row-major. */
typedef struct ig_tap {
    int64_t x, tap;
} ig_tap;

typedef struct ig_window_source {
    const ig_window_slots *slots;
    const int64_t *in, *kernel; /* one a spatial axis */
    uint32_t rank;
    bool is_transposed, ceil_mode;
} ig_window_source;

/* Everything known from extents and attributes; reports windows larger than their
 * input. */
ig_status ig_window_eval(ig_eval *eval, const ig_op *op, const ig_window_source *from,
                         ig_window *out);
/* The elements of the window at `index`; writes at most tap_count. */
int64_t ig_window_taps(const ig_window *window, const int64_t *index, ig_tap *out);

#endif
