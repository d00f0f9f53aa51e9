/* The operands of a bag, feature by feature.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/bag.h"

#include <assert.h>

static int64_t attr_entry(const ig_op *op, uint32_t slot, uint32_t index,
                          int64_t absent) {
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.ints[index] : absent;
}

uint32_t ig_bag_feature_count(const ig_op *op) {
    assert(op->code == IG_OP_bag && "only a bag has features");
    return op->attrs[IG_bag_operands].count;
}

static uint32_t operands_of(const ig_op *op, uint32_t index) {
    int64_t mask = op->attrs[IG_bag_operands].as.ints[index];
    return (uint32_t)attr_entry(op, IG_bag_tables, index, 1) + 1 +
           (uint32_t)__builtin_popcountll((uint64_t)mask);
}

ig_bag_feature ig_bag_feature_at(const ig_op *op, uint32_t index) {
    assert(op->code == IG_OP_bag && index < op->attrs[IG_bag_operands].count &&
           "no such feature");
    uint32_t at = 0;
    for (uint32_t i = 0; i < index; i++) {
        at += operands_of(op, i);
    }
    int64_t mask = op->attrs[IG_bag_operands].as.ints[index];
    uint32_t tables = (uint32_t)attr_entry(op, IG_bag_tables, index, 1);
    ig_bag_feature feature = { .table = at, .tables = tables, .ids = at + tables };
    feature.operands = operands_of(op, index);
    at += tables + 1;
    feature.begins = mask & IG_BAG_BEGINS ? at++ : 0;
    feature.ends = mask & IG_BAG_ENDS ? at++ : 0;
    feature.weights = mask & IG_BAG_WEIGHTS ? at++ : 0;
    feature.pool = (ig_pool)op->attrs[IG_bag_pool].as.ints[index];
    feature.padding = attr_entry(op, IG_bag_padding, index, INT64_MIN);
    feature.last = (ig_bag_last)attr_entry(op, IG_bag_last, index, IG_LAST_ids);
    feature.empty = (ig_empty)attr_entry(op, IG_bag_empty, index, IG_EMPTY_zero);
    return feature;
}

ig_bag_feature ig_bag_ids_feature(const ig_op *op) {
    assert(op->code == IG_OP_bag_ids && "it has one feature");
    int64_t mask = ig_attr_int(op, IG_bag_ids_operands, 0);
    uint32_t at = 1;
    ig_bag_feature feature = { .tables = 1 };
    feature.begins = mask & IG_BAG_BEGINS ? at++ : 0;
    feature.ends = mask & IG_BAG_ENDS ? at++ : 0;
    feature.weights = mask & IG_BAG_WEIGHTS ? at++ : 0;
    feature.operands = at;
    feature.pool = (ig_pool)ig_attr_int(op, IG_bag_ids_pool, IG_POOL_sum);
    feature.padding = ig_attr_int(op, IG_bag_ids_padding, INT64_MIN);
    feature.last = (ig_bag_last)ig_attr_int(op, IG_bag_ids_last, IG_LAST_ids);
    return feature;
}

ig_dim ig_bag_feature_rows(const ig_op *op, const ig_bag_feature *feature) {
    assert(feature->table + feature->tables <= op->operand_count &&
           "a feature of another bag");
    ig_dim rows = ig_dim_of(0);
    for (uint32_t i = 0; i < feature->tables; i++) {
        const ig_type *table = op->operands[feature->table + i].value->type;
        rows = ig_dim_add(ig_op_module(op), rows, table->dims[0]);
    }
    return rows;
}

enum { MAX_STATES = 8 };

bool ig_bag_update_counts_fit(const ig_op *op) {
    int64_t tables = ig_attr_int(op, IG_bag_update_tables, 0);
    int64_t states = ig_attr_int(op, IG_bag_update_states, 0);
    return tables >= 1 && tables <= op->operand_count && states >= 0 &&
           states <= MAX_STATES && op->result_count == tables * (1 + states) &&
           tables * (int64_t)ig_bag_update_operands(op) <= op->operand_count;
}

uint32_t ig_bag_update_states(const ig_op *op) {
    return (uint32_t)ig_attr_int(op, IG_bag_update_states, 0);
}

uint32_t ig_bag_update_tables(const ig_op *op) {
    assert(op->code == IG_OP_bag_update && "only an update has tables");
    return (uint32_t)ig_attr_int(op, IG_bag_update_tables, 0);
}

static bool has_flag(const ig_op *op, uint32_t slot) {
    return ig_attr_int(op, slot, 0) != 0;
}

uint32_t ig_bag_update_operands(const ig_op *op) {
    return 4 + ig_bag_update_states(op) + has_flag(op, IG_bag_update_bags) +
           has_flag(op, IG_bag_update_factors);
}

ig_bag_update_table ig_bag_update_at(const ig_op *op, uint32_t table) {
    assert(table < ig_bag_update_tables(op) && "no such table");
    uint32_t at = table * ig_bag_update_operands(op);
    ig_bag_update_table t = { .weight = at };
    at += 1 + ig_bag_update_states(op);
    t.rows = at++;
    t.positions = at++;
    t.gradients = at++;
    t.bags = has_flag(op, IG_bag_update_bags) ? at++ : 0;
    t.factors = has_flag(op, IG_bag_update_factors) ? at : 0;
    return t;
}

uint32_t ig_bag_update_scalars(const ig_op *op) {
    return ig_bag_update_tables(op) * ig_bag_update_operands(op);
}
