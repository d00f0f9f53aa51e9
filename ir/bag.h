/* Reading the operands of a bag: which operand of the op is what, feature by feature.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For infer, fold, and whoever recognises, merges or lowers bags.
 */
#ifndef IG_IR_BAG_H
#define IG_IR_BAG_H

#include "ir/ops.h"

enum {
    IG_BAG_BEGINS = 1,
    IG_BAG_ENDS = 2,
    IG_BAG_WEIGHTS = 4
}; /* bits of `operands` */

/* Operand numbers; 0 (never an optional operand's) where a feature has none. */
typedef struct ig_bag_feature {
    uint32_t table, ids, begins, ends, weights;
    uint32_t tables;   /* how many, from `table` on; mostly 1 */
    uint32_t operands; /* of all kinds */
    ig_pool pool;
    int64_t padding;  /* INT64_MIN: none */
    ig_bag_last last; /* not IG_LAST_ids: one bag fewer than offsets */
    ig_empty empty;
} ig_bag_feature;

/* A rule of offsets besides those of ops.h: an error too where the first begin is not
 * 0. */
#define IG_OFFSETS_first ((ig_offsets_rule)(IG_OFFSETS_slice + 1))

uint32_t ig_bag_feature_count(const ig_op *op);
ig_bag_feature ig_bag_feature_at(const ig_op *op, uint32_t index);
/* The one of a bag_ids op, which has no table. */
ig_bag_feature ig_bag_ids_feature(const ig_op *op);
/* The bits of an id below the number of its table, where there are several. */
enum { IG_BAG_ROW_BITS = 40 };
/* Rows of all its tables. */
ig_dim ig_bag_feature_rows(const ig_op *op, const ig_bag_feature *feature);

/* Operand numbers of one table of a bag_update; 0 where it has none.  The states follow
 * the weight.  As result, table number t has its weight at t * (1 + states). */
typedef struct ig_bag_update_table {
    uint32_t weight, rows, positions, gradients, bags, factors;
} ig_bag_update_table;

/* Are its numbers of tables, states, operands and results in keeping?  All else takes
 * that for granted. */
bool ig_bag_update_counts_fit(const ig_op *op);
uint32_t ig_bag_update_states(const ig_op *op);   /* of each table */
uint32_t ig_bag_update_operands(const ig_op *op); /* of each table */
uint32_t ig_bag_update_tables(const ig_op *op);
ig_bag_update_table ig_bag_update_at(const ig_op *op, uint32_t table);
/* The first of the scalars, which end the operands. */
uint32_t ig_bag_update_scalars(const ig_op *op);
/* Rows of a table of bag_group are below this, and places below 2^32. */
#define IG_BAG_GROUP_ROWS (INT64_C(1) << 31)

#endif
