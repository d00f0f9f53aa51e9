/* Boxes without those that a better one covers (non-maximum suppression).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_BOXES_H
#define IG_COMPOSE_BOXES_H

#include "ir/build/expr.h"

typedef struct ig_boxes {
    ig_value *edges;  /* f32 or f64 [B, N, 4]: low and low, high and high edge */
    ig_value *scores; /* f32 [B, C, N]; NaN is the best */
    ig_value *share;  /* of the edges' dtype: of the union of two boxes */
    ig_value *max;    /* i64: boxes of a list; NULL: all */
    ig_value *min;    /* f32: score that boxes exceed; NULL: any will do */
} ig_boxes;

/* i64 [K, 3]: batch, class and box of the kept ones, list after list, the best
 * first: none shares more of its union with one before it in its list. */
ig_value *ig_compose_suppress(ig_expr *e, const ig_boxes *boxes);

#endif
