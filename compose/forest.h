/* Tree ensembles: every row of x walks every tree, a level at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_FOREST_H
#define IG_COMPOSE_FOREST_H

#include "ir/expr.h"

typedef enum ig_forest_mode { /* of a node: how the feature is held against the value */
                              IG_FOREST_LEQ,
                              IG_FOREST_LT,
                              IG_FOREST_GTE,
                              IG_FOREST_GT,
                              IG_FOREST_EQ,
                              IG_FOREST_NEQ,
                              IG_FOREST_MODES,
} ig_forest_mode;

typedef enum ig_forest_aggregate {
    IG_FOREST_AVERAGE,
    IG_FOREST_SUM,
    IG_FOREST_MIN,
    IG_FOREST_MAX,
} ig_forest_aggregate;

typedef struct ig_forest_weight { /* what a leaf gives a target */
    uint32_t node, target;
    double weight;
} ig_forest_weight;

/* Nodes of all trees by number.  A leaf is its own child on both sides. */
typedef struct ig_forest {
    uint32_t node_count;
    int32_t *features, *yes, *no;
    double *values;
    uint8_t *modes;
    bool *missing; /* a feature that is NaN goes the way of `yes` */
    uint32_t tree_count, target_count, weight_count;
    uint32_t depth, reached; /* of nodes; ig_forest_measure sets both */
    int32_t *roots;
    ig_forest_weight *weights;
    ig_forest_aggregate aggregate;
} ig_forest;

/* Fills in depth and reached; false where nodes form a circle or a tree is deeper than
 * `limit`.  Children are nodes of the forest; several nodes may share one. */
bool ig_forest_measure(ig_forest *forest, ig_arena *scratch, uint32_t limit);
/* x [N, F] of floats -> [N, targets] of its dtype: the weights of the leaves that a row
 * reaches, aggregated over the trees.  A target that no leaf has is 0. */
ig_value *ig_compose_forest(ig_expr *e, ig_value *x, const ig_forest *forest);

#endif
