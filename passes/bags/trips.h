/* Integers that the trips of a loop compute.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Exporters write an embedding bag as a loop over bags, and hide in shape arithmetic
 * where a bag begins and ends.  This analysis says it plainly: a number that the body
 * computes in trip i is
 *
 *     base + step * i            base and step are expressions over extents, or
 *     vector[base + step * i]    an element of a vector made before the loop.
 *
 * It looks through reshapes, casts, arithmetic and slices of one element, and is told
 * the same whether an exporter says gather(v, i), v[i : i + 1] or gather(v[1:], i - 1).
 */
#ifndef IG_PASSES_BAGS_TRIPS_H
#define IG_PASSES_BAGS_TRIPS_H

#include "passes/bags/recognise.h"

typedef struct ig_number {
    ig_value *vector; /* of rank 1; NULL: base + step * i itself */
    ig_dim base, step;
} ig_number;

/* a < b, or a <= b. */
typedef struct ig_less {
    ig_value *a, *b;
    bool or_equal;
} ig_less;

/* A number that may be another one in the last trip, traced to where it comes from. */
typedef struct ig_bound {
    ig_number usual, last;
    bool has_last;
    ig_number given; /* as it was before; vector NULL: of no use */
} ig_bound;

enum { IG_TRIP_COUNTERS = 8 };

typedef struct ig_trips {
    ig_recogniser *r;
    ig_module *module;
    ig_block *scope; /* the block of the loop */
    ig_block *body;  /* NULL: no loop, but one trip; every value is outside */
    ig_dim count;
    ig_number counters[IG_TRIP_COUNTERS]; /* of these arguments of the body */
    ig_value *counted[IG_TRIP_COUNTERS];
    uint32_t counter_count;
    uint32_t *visits; /* left, of values; shared by all who read */
} ig_trips;

/* Of a loop that runs a number of times that is known before it, by its trip count or
 * because it ends when a counter reaches a bound.  The number may be an expression that
 * is negative for some inputs, which means no trip. */
bool ig_trips_of_loop(ig_recogniser *r, ig_op *loop, ig_trips *out);
/* Straight-line code seen as one trip. */
ig_trips ig_trips_of_one(ig_recogniser *r, ig_block *block);

/* Takes one visit; false when there is none left.  Readers walk values as trees, and a
 * graph where everything is used twice is a tree without end. */
bool ig_trips_visit(const ig_trips *t);
bool ig_trips_is_outside(const ig_trips *t, const ig_value *value);
/* The number that `value`, of one element, holds.  Its vector may be in the body. */
bool ig_trips_number(const ig_trips *t, ig_value *value, ig_number *out);
/* The same traced further: through slices and joins to vectors from outside.  Of a
 * vector [offsets…, end] the last trip may meet the end. */
bool ig_trips_bound(const ig_trips *t, const ig_number *number, ig_bound *out);

bool ig_number_equal(const ig_module *module, const ig_number *a, const ig_number *b);
/* In every trip. */
bool ig_bound_equal(const ig_trips *t, const ig_bound *a, const ig_bound *b);
/* The value in the last trip; step is 0. */
ig_number ig_bound_at_last(const ig_trips *t, const ig_bound *bound);
/* From any comparison of order, and its contrary. */
bool ig_value_less(ig_value *value, ig_less *out);
/* Is this boolean known? */
bool ig_value_truth(const ig_value *value, bool *out_truth);
/* `value` before views and casts that keep its one element. */
ig_value *ig_value_before_views(ig_value *value);

#endif
