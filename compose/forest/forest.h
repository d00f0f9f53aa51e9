/* Tree ensembles: what model files say of nodes, as the op `forest`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_FOREST_FOREST_H
#define IG_COMPOSE_FOREST_FOREST_H

#include "ir/build/expr.h"

typedef enum ig_forest_mode { /* of a node: how the feature is held against the value */
                              IG_FOREST_LEQ,
                              IG_FOREST_LT,
                              IG_FOREST_GTE,
                              IG_FOREST_GT,
                              IG_FOREST_EQ,
                              IG_FOREST_NEQ,
                              IG_FOREST_MEMBER, /* of the node's set */
                              IG_FOREST_MODES,
} ig_forest_mode;

typedef enum ig_forest_aggregate {
    IG_FOREST_AVERAGE,
    IG_FOREST_SUM,
    IG_FOREST_MIN,
    IG_FOREST_MAX,
} ig_forest_aggregate;

typedef struct ig_forest_weight { /* a leaf's value for a target */
    uint32_t node, target;
    double weight;
} ig_forest_weight;

typedef struct ig_forest_set { /* numbers, in any order */
    const double *items;
    uint32_t count;
} ig_forest_set;

/* Nodes of all trees by number.  A leaf is its own child on both sides. */
typedef struct ig_forest {
    uint32_t node_count;
    int32_t *features, *yes, *no;
    double *values;
    uint8_t *modes;
    ig_forest_set *sets; /* by node; NULL where none tests for members */
    bool *missing;       /* a feature that is NaN goes the way of `yes` */
    uint32_t tree_count, target_count, weight_count;
    int32_t *roots;
    ig_forest_weight *weights;
    ig_forest_aggregate aggregate;
    /* What ig_forest_measure finds. */
    uint32_t depth;
    uint32_t reached, *order; /* nodes that rows may come to, children first */
    uint32_t *tree_of;        /* by node: the first tree that has it */
    bool shares;              /* several trees have the same node */
} ig_forest;

/* Fills in the last part; false where nodes form a circle or a tree is deeper than
 * `limit`.  Children are nodes of the forest; several nodes may share one. */
bool ig_forest_measure(ig_forest *forest, ig_arena *scratch, uint32_t limit);
/* x [N, F], f32 or f64 -> [N, targets] of its dtype: the weights of the leaves that a
 * row reaches, aggregated over the trees of a measured forest.  A target that no leaf
 * has is 0. */
ig_value *ig_compose_forest(ig_expr *e, ig_value *x, const ig_forest *forest);

#endif
