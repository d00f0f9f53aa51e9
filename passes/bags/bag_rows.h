/* Rows of an embedding table: the content of a [n, D] value, and its pooled result.
 * SPDX-License-Identifier: Apache-2.0
 *
 * However an exporter spells it, the rows that one trip pools are
 *
 *     weights[p] * table[ids[p]]      for positions p from begin to end,
 *                                     less those whose id is the padding id
 *
 * and the trip's result is their sum, mean or maximum, or zeros when there are none.
 */
#ifndef IG_PASSES_BAGS_BAG_ROWS_H
#define IG_PASSES_BAGS_BAG_ROWS_H

#include "passes/bags/trips.h"

#define IG_NO_PADDING INT64_MIN

/* The positions from begin to end; all of them when `is_cut` is false. */
typedef struct ig_positions {
    bool is_cut;
    ig_bound begin, end;
    int64_t padding; /* the row whose positions are left out */
    ig_value *cut;   /* a value that has one entry a position, or NULL */
} ig_positions;

typedef struct ig_bag_rows {
    ig_value *table;
    ig_value *ids;     /* of rank 1, from outside */
    ig_value *weights; /* of any rank, from outside; NULL: ones */
    ig_positions at;
    ig_value *weights_cut; /* of the weights, where they were cut on their own */
} ig_bag_rows;

/* What one trip gives. */
typedef struct ig_bag_row {
    ig_bag_rows rows;
    ig_pool pool;
    bool is_zero_if_empty; /* else the result of an empty reduction */
    bool reduces_to_zero;  /* the reduction itself gives 0 for nothing */
    bool is_only_full;     /* says nothing of a trip without positions */
    /* The sum divided by the number of ids from begin on. */
    bool is_over_rest;
    /* That, in the last trip of a mean: IG_LAST_mean. */
    bool is_last_over_rest;
    /* Zeros in the last trip by another end than that of its positions:
     * IG_LAST_rest. */
    bool has_own_end;
} ig_bag_row;

/* The property of a trip that the condition of an if tests. */
typedef enum ig_trip_test_kind {
    IG_TRIP_TEST_OTHER, /* not understood */
    IG_TRIP_TEST_NONE,  /* it is known */
    IG_TRIP_TEST_EMPTY, /* has it no positions? */
    IG_TRIP_TEST_LAST   /* is it the last? */
} ig_trip_test_kind;

typedef struct ig_trip_test {
    ig_trip_test_kind kind;
    bool is_not;     /* the contrary */
    ig_positions at; /* which there may be none of */
} ig_trip_test;

ig_trip_test ig_trip_test_read(const ig_trips *t, ig_value *condition);
/* Result `index` as yielded by the branches for yes and no. */
void ig_trip_test_branches(const ig_trip_test *test, const ig_op *op, uint32_t index,
                           ig_value **out_yes, ig_value **out_no);

/* A value of shape [n, D]. */
bool ig_bag_rows_read(const ig_trips *t, ig_value *value, ig_bag_rows *out);
/* A pooled value of D elements. */
bool ig_bag_row_read(const ig_trips *t, ig_value *value, ig_bag_row *out);

/* The pooling that a reduction along one axis is; false for others. */
bool ig_pool_of_reduce(const ig_op *reduce, uint32_t axis, ig_pool *out);
/* A matrix of floats whose rows a bag may read: a constant, or an input. */
bool ig_value_is_table(const ig_value *value);
/* The same table, ids and weights? */
bool ig_bag_rows_share(const ig_bag_rows *a, const ig_bag_rows *b);

/* Every element is this number; looks through views and casts. */
bool ig_value_is_filled(ig_value *value, double number);
/* The int or float rank-1 values that hold the same elements in the same order. */
ig_value *ig_vector_origin(ig_value *value);

/* The positions from begin to end whose id is not the padding id, as a list that a loop
 * of its own collects (bag_padding.c). */
typedef struct ig_kept {
    ig_positions at;
    ig_value *ids; /* that the positions are of */
    ig_dim rows;   /* a negative id counts from here */
} ig_kept;
bool ig_kept_positions(const ig_trips *t, ig_value *value, ig_kept *out);
bool ig_positions_equal(const ig_trips *t, const ig_positions *a,
                        const ig_positions *b);

#endif
