/* Reading a shard op, and a collective's lists.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/shard.h"

#include "ir/graph.h"

const char *ig_table_name(const ig_value *table) {
    const ig_op *op = table->def;
    if (op) {
        bool is_weight = op->code == IG_OP_weight || op->code == IG_OP_table;
        return is_weight ? ig_attr_str(op, IG_weight_name) : NULL;
    }
    return ig_graph_is_opened(table->block->graph, table) ? table->name : NULL;
}

uint32_t ig_shard_count(const ig_op *op) {
    bool is_set = ig_attr_is_set(op, IG_shard_parts);
    return is_set ? op->attrs[IG_shard_parts].count / IG_SHARD_NUMBERS : 0;
}

ig_shard ig_shard_at(const ig_op *op, uint32_t index) {
    const int64_t *n = op->attrs[IG_shard_parts].as.ints + index * IG_SHARD_NUMBERS;
    return (ig_shard){ n[0], n[1], n[2], n[3], n[4] };
}

uint32_t ig_list_stride(const ig_op *op) {
    bool is_known = op->code == IG_OP_all_to_all &&
                    ig_attr_int(op, IG_all_to_all_known, 0);
    bool is_whole = op->code == IG_OP_all_reduce || op->code == IG_OP_all_gather;
    return is_whole ? 1 : is_known ? 3 : 2;
}

int64_t ig_op_world(const ig_op *op) {
    return op->code == IG_OP_all_reduce   ? ig_attr_int(op, IG_all_reduce_world, 0)
           : op->code == IG_OP_all_gather ? ig_attr_int(op, IG_all_gather_world, 0)
                                          : 0;
}

uint32_t ig_list_count(const ig_op *op) {
    return op->operand_count / ig_list_stride(op);
}
