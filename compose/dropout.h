/* Dropout.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_DROPOUT_H
#define IG_COMPOSE_DROPOUT_H

#include "ir/build/expr.h"

typedef struct ig_dropout {
    ig_value *ratio; /* f32[]: the chance of an element to become 0 */
    int64_t seed;    /* of the draw; its other keys are the run and `number` */
    int64_t index;   /* of the draw in the graph */
} ig_dropout;

/* Elements of x that a draw keeps, times 1 / (1 - ratio), and 0 for all others; another
 * draw in each run.  *out_kept (or NULL): bool, which ones are kept. */
ig_value *ig_compose_dropout(ig_expr *e, ig_value *x, const ig_dropout *how,
                             ig_value **out_kept);
/* Where `op` draws for a dropout, all elements are kept, as they are. */
void ig_dropout_undo(ig_op *op);

#endif
