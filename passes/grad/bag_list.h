/* Which row of its table each id of a bag reads, and what that row gets of the bags'
 * gradients: for the rule of bags, and for updates of the rows alone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_GRAD_BAG_LIST_H
#define IG_PASSES_GRAD_BAG_LIST_H

#include "ir/bag.h"
#include "ir/build/expr.h"

/* One feature of a bag as a list of ids, bag by bag. */
typedef struct ig_bag_list {
    ig_expr *e;
    const ig_op *op;
    uint32_t index; /* of the feature */
    ig_bag_feature at;
    ig_value *table;
    ig_dim bags, ids, count; /* ids: of the operand; count: in the list */
    ig_value *position;      /* i64 [count]: which of the ids each is; NULL: itself */
    ig_value *id;            /* i64 [count]: rows; anything where is_row is false */
    ig_value *is_row;        /* bool [count]: an id of a row, in a bag; NULL: all are */
    ig_value *counts;        /* the same, and the counts of a mean */
    ig_value *bag;           /* i64 [count]: its bag's number; NULL: its own */
    ig_value *first;         /* i64 [count]: where that bag begins in the list */
    ig_value *begins;        /* i64 [bags], among the ids; NULL: not asked for */
} ig_bag_list;

/* Why gradients of this feature are not made; NULL: they are. */
const char *ig_bag_list_fault(const ig_op *bag, uint32_t index);
/* Can the list be that of the operand's own ids, whose extent is known when shapes are
 * bound?  It is where bags do not overlap. */
bool ig_bag_list_may_be_known(const ig_op *bag, uint32_t index);
/* The bag itself reports ids out of range where that is an error.  is_known:
 * the list is the operand's own ids, and the run reports offsets that fall, where the
 * bag would move them; else the run learns the extent of a list whose bags may
 * overlap. */
void ig_bag_list_open(ig_expr *e, const ig_op *bag, uint32_t index, bool is_known,
                      ig_bag_list *out);
/* x [bags, …] at the bag of each id. */
ig_value *ig_bag_list_of_bag(const ig_bag_list *f, ig_value *x);
/* The weight of each id [count, 1], of the result's dtype; NULL: there are none. */
ig_value *ig_bag_list_weights(const ig_bag_list *f);
/* The table's row of each id, of the result's dtype. */
ig_value *ig_bag_list_rows(const ig_bag_list *f);
/* Gradients of each id's weighted row [count, dim], by `dy`, that of the result. */
ig_value *ig_bag_list_spread(const ig_bag_list *f, ig_value *dy);
/* The same [m, dim], one for all ids of a bag that share it: *out_bag says whose each
 * id takes, NULL for its own. */
ig_value *ig_bag_list_gradients(const ig_bag_list *f, ig_value *dy, ig_value **out_bag);

#endif
