/* Jagged tensors of any number of jagged axes, made dense and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values [n, …] have one array of offsets for each jagged axis, i64 [segments + 1],
 * each over the segments of the one before.  Of one axis, jagged_to_padded and
 * padded_to_jagged are ops, whose decompositions these are.
 */
#ifndef IG_COMPOSE_ROWS_JAGGED_H
#define IG_COMPOSE_ROWS_JAGGED_H

#include "ir/build/expr.h"

enum { IG_JAGGED_AXES = 8 };

typedef struct ig_jagged_parts {
    ig_value *offsets[IG_JAGGED_AXES]; /* i64, outermost axis first */
    uint32_t axes;
} ig_jagged_parts;

/* Values [n, …] as [batch, max…, …]; `padding`, of their dtype, where there are
 * none. */
ig_value *ig_compose_jagged_to_padded(ig_expr *e, const ig_jagged_parts *j,
                                      ig_value *values, const ig_dim *max,
                                      ig_value *padding);
/* `count` rows (i64[]) of x [batch, max…, …]; 0 for those it has not, of which
 * `out_is_in`, bool [count], is false. */
ig_value *ig_compose_padded_to_jagged(ig_expr *e, const ig_jagged_parts *j, ig_value *x,
                                      ig_value *count, ig_value **out_is_in);

#endif
