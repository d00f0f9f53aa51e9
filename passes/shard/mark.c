/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/shard/mark.h"

#include "ir/build/build.h"

/* Constants are at the head of the graph: the first op after them. */
static ig_op *after_head(const ig_value *table) {
    ig_op *op = table->def ? table->def->next : table->block->first;
    while (op && (op->code == IG_OP_weight || op->code == IG_OP_table)) {
        op = op->next;
    }
    return op;
}

ig_status ig_mark_table(ig_value *table, const ig_shard_mark *mark) {
    ig_builder b = ig_builder_before(after_head(table));
    ig_module *module = b.graph->module;
    b.loc = table->def ? table->def->loc : b.loc;
    int64_t *numbers = IG_NEW_ARRAY(&module->arena, int64_t,
                                    mark->count * IG_SHARD_NUMBERS);
    for (uint32_t i = 0; i < mark->count; i++) {
        const ig_shard *shard = &mark->shards[i];
        int64_t *n = numbers + i * IG_SHARD_NUMBERS;
        n[0] = shard->rank;
        n[1] = shard->row;
        n[2] = shard->rows;
        n[3] = shard->column;
        n[4] = shard->columns;
    }
    ig_attr attrs[IG_shard_attr_count] = {
        [IG_shard_world] = ig_attr_of_int(mark->world),
        [IG_shard_rank] = ig_attr_of_int(mark->rank)
    };
    if (mark->has_wire) {
        attrs[IG_shard_wire] = ig_attr_of_dtype(mark->wire);
    }
    if (mark->is_distinct) {
        attrs[IG_shard_distinct] = ig_attr_of_bool(true);
    }
    if (mark->chunks > 1) {
        attrs[IG_shard_chunks] = ig_attr_of_int(mark->chunks);
    }
    if (mark->of) {
        attrs[IG_shard_of] = ig_attr_of_int(mark->of);
    }
    if (mark->count) {
        attrs[IG_shard_parts] = ig_attr_of_ints(module, numbers,
                                                mark->count * IG_SHARD_NUMBERS);
    }
    ig_op_spec spec = {
        .operands = &table, .operand_count = 1, .result_count = 1, .attrs = attrs
    };
    ig_op *op;
    IG_TRY(ig_build(&b, IG_OP_shard, &spec, &op));
    for (ig_use *use = table->uses, *next; use; use = next) {
        next = use->next;
        if (use->user != op) {
            ig_use_set(use, op->results);
        }
    }
    return IG_OK;
}
