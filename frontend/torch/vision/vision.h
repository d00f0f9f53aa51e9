/* Formulas shared by torchvision's operators.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value between pixels is a weighted sum of four of them, and a bin of a region one
 * of many: rows of channels picked by number and weighted, which is an embedding bag
 * over the image's pixels.
 */
#ifndef IG_FRONTEND_TORCH_VISION_VISION_H
#define IG_FRONTEND_TORCH_VISION_VISION_H

#include "compose/rows/pixels.h"
#include "compose/rows/segments.h"
#include "frontend/torch/aten/aten.h"

/* The two neighbours of places along one axis, on a new last axis of 2. */
typedef struct ig_neighbours {
    ig_value *ids;     /* i64, inside of the axis */
    ig_value *weights; /* the places' dtype */
} ig_neighbours;

/* x [count, …] with its axes at `axes` of `rank`, the others 1. */
ig_value *ig_vision_spread(ig_ts_call *call, ig_value *x, uint32_t rank,
                           const uint32_t *axes);

/* Numbers of rows of `by` columns, as numbers of columns. */
static inline ig_value *ig_vision_columns(ig_expr *e, ig_value *x, ig_dim by) {
    return ig_build_mul(e, x, ig_expr_dim(e, by, IG_DT_i64));
}

#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/vision/vision.def"
#undef OP

#endif
