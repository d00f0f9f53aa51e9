/* Makes a bag op of one feature from a recognised pattern.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_BAGS_BAG_MAKE_H
#define IG_PASSES_BAGS_BAG_MAKE_H

#include "ir/bag.h"
#include "passes/bags/bag_rows.h"

typedef struct ig_bag_spec {
    ig_value *table, *ids, *begins, *ends, *weights; /* the last three may be NULL */
    ig_pool pool;
    int64_t padding;
    ig_bag_last last;
    bool is_zero_if_empty; /* else the reduction's result */
    ig_negative negative;  /* the meaning of an id below 0 */
} ig_bag_spec;

/* The bag op's result. */
ig_value *ig_make_bag(const ig_recogniser *r, ig_builder *b, const ig_bag_spec *spec);

/* The bags of all trips: a bag op made at the builder, with what guards it needs, whose
 * result is [count, D]; NULL, and nothing was made, where no bag op says the same. */
ig_value *ig_make_bag_of_trips(const ig_trips *t, ig_builder *b, const ig_bag_row *row);

#endif
