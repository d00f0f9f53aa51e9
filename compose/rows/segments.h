/* Segments of one array, told by offsets: the index arithmetic of jagged data.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Indices, lengths and offsets are i64.  Offsets are [segments + 1]; the first is 0 and
 * none is smaller than the one before.
 */
#ifndef IG_COMPOSE_ROWS_SEGMENTS_H
#define IG_COMPOSE_ROWS_SEGMENTS_H

#include "ir/build/expr.h"

typedef enum ig_running {
    IG_RUNNING_inclusive,
    IG_RUNNING_exclusive,
    IG_RUNNING_complete, /* one element longer: 0 first, the whole sum last */
} ig_running;

/* Running sums along the last axis; a scalar is its own. */
ig_value *ig_compose_running_sum(ig_expr *e, ig_value *x, ig_running kind);
/* The last element of [n], n > 0, as i64[]. */
ig_value *ig_compose_last(ig_expr *e, ig_value *x);
/* The segment of each position. */
ig_value *ig_compose_segment_of(ig_expr *e, ig_value *offsets, ig_value *positions);
/* Lengths of the segments, [segments]. */
ig_value *ig_compose_segment_lengths(ig_expr *e, ig_value *offsets);
/* The rows of x [n, …] at `rows` (i64, any rank), which the run checks. */
ig_value *ig_compose_take_rows(ig_expr *e, ig_value *x, ig_value *rows);
/* Sums of the rows of x [n, …] by target (i64 [n], < count): [count, …]. */
ig_value *ig_compose_add_rows(ig_expr *e, ig_value *x, ig_value *target, ig_dim count);
/* The same by another reduction, each beginning with `initial`. */
ig_value *ig_compose_reduce_rows(ig_expr *e, ig_value *x, ig_value *target,
                                 ig_dim count, double initial, ig_scatter reduce);
/* Rows of x [n, …] at the rows `target` of a tensor of `count` rows full of `fill`. */
ig_value *ig_compose_put_rows(ig_expr *e, ig_value *x, ig_value *target, ig_dim count,
                              ig_value *fill);

#endif
