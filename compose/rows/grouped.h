/* Products of groups of rows, each by a matrix of its own: what mixtures of experts are
 * made of.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_ROWS_GROUPED_H
#define IG_COMPOSE_ROWS_GROUPED_H

#include "ir/build/expr.h"

/* x [rows, in], the rows of a group together; weights [groups, in, out]; ends, integers
 * [groups]: where each group ends, none before the one in front of it (the run checks
 * that where the number of groups is known).  [rows, out]; rows after the last group
 * are 0. */
ig_value *ig_compose_grouped_matmul(ig_expr *e, ig_value *x, ig_value *weights,
                                    ig_value *ends);

/* Rows brought together by their group, and the way back. */
typedef struct ig_grouping {
    ig_value *order;  /* i64 [rows]: the row of the source at each place */
    ig_value *groups; /* i64 [rows]: its group */
    ig_value *ends;   /* i64 [count] */
} ig_grouping;

/* `groups`, i64 [rows], names a group below `count` for each row. */
bool ig_compose_group_rows(ig_expr *e, ig_value *groups, ig_dim count,
                           ig_grouping *out);

#endif
