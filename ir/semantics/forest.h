/* The records of a tree ensemble, as the op `forest` has them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_SEMANTICS_FOREST_H
#define IG_IR_SEMANTICS_FOREST_H

#include "ir/tensor/tensor.h"

typedef enum ig_forest_operand {
    IG_FOREST_X,
    IG_FOREST_TESTS,
    IG_FOREST_NODES,
    IG_FOREST_TREES,
    IG_FOREST_LEAVES,
    IG_FOREST_WEIGHTS,
    IG_FOREST_OPERANDS,
} ig_forest_operand;

/* The decoded entry of a node. */
static inline int64_t ig_forest_word(int64_t next, bool tracks, int64_t feature) {
    return (int64_t)((uint64_t)next << 32) | (int64_t)tracks << 31 | feature;
}
static inline int64_t ig_forest_next(int64_t word) {
    return word >> 32;
}
static inline bool ig_forest_tracks(int64_t word) {
    return (word >> 31 & 1) != 0;
}
static inline int64_t ig_forest_feature(int64_t word) {
    return word & INT32_MAX;
}

typedef struct ig_forest_facts {
    int64_t features;  /* how many of x the walks may look at */
    int64_t steps;     /* of all trees */
    bool tracks;       /* some record tracks NaN */
    const char *fault; /* in words; NULL: no walk and no leaf leaves the arrays */
} ig_forest_facts;

/* Reads the arrays (by ig_forest_operand; that of x is not looked at), whose types and
 * ranks fit, for a forest of `targets`. */
ig_forest_facts ig_forest_facts_read(const ig_tensor *const *arrays, int64_t targets);

#endif
