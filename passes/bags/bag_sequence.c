/* bag_sequence: a loop that collects pooled rows in a sequence becomes a bag op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %rows = gather @table, %ids {axis = 0} : f32[N, 64]
 *     %none = seq_empty {of = f32} : seq<f32[1, 64]>
 *     %s, %n = loop %endless, %some, %none, %0 (%t, %c, %list, %i) {
 *       %begin = slice %offsets, [%i], [%i + 1]       # and %end
 *       %row = if begin = end { yield @zeros } else { … reduce of %rows[begin : end] }
 *       %list2 = seq_insert %list, %row
 *       yield %i + 1 < B, %list2, %i + 1
 *     }
 *     %bags = seq_concat %s {axis = 0}
 *   becomes
 *     %bags = bag @table, %ids, %off {operands = [1], pool = [sum]} : f32[B, 64]
 *
 * torch's newer exporter writes nn.EmbeddingBag so; with a padding id, the rows come
 * from positions that an inner loop collects (bag_padding.c).  The carried values may
 * be in any order, others may be carried along.  The sequence must start empty, grow by
 * one row a trip at its end, and be used for nothing but joining it.
 *
 * Needs canonicalise and fold.  Keeps the results: an empty bag gives zeros where the
 * graph says so.  A loop without trips is an error in ONNX (nothing to join), and no
 * bags here.
 */
#include "ir/build/expr.h"
#include "passes/bags/bag_make.h"

/* The joins that are all the uses of a sequence; false when there are others. */
static bool is_only_joined(const ig_value *sequence) {
    for (const ig_use *use = sequence->uses; use; use = use->next) {
        const ig_op *join = use->user;
        if (join->code != IG_OP_seq_concat ||
            ig_attr_int(join, IG_seq_concat_axis, 0) != 0) {
            return false;
        }
    }
    return sequence->uses != NULL;
}

/* The row that each trip appends to carried sequence `index`, or NULL. */
static ig_value *row_inserted(const ig_op *loop, uint32_t index) {
    ig_value *start = loop->operands[2 + index].value;
    const ig_value *list = loop->bodies[0]->args[2 + index];
    const ig_op *insert = ig_def(loop->bodies[0]->last->operands[1 + index].value,
                                 IG_OP_seq_insert);
    bool is_grown = insert && insert->operand_count == 2 &&
                    insert->operands[0].value == list && ig_value_has_one_use(list) &&
                    ig_value_has_one_use(&insert->results[0]);
    return is_grown && ig_def(start, IG_OP_seq_empty) ? insert->operands[1].value
                                                      : NULL;
}

/* Rows [1, D] joined, or rows [D] or [1, D] stacked. */
static ig_value *shape_joined(ig_builder *b, ig_value *bags, const ig_op *join,
                              const ig_type *row) {
    bool is_stack = ig_attr_int(join, IG_seq_concat_stack, 0) != 0;
    ig_dim dims[IG_TENSOR_RANK] = { bags->type->dims[0] };
    if (!is_stack) {
        return bags;
    }
    for (uint32_t d = 0; d < row->rank; d++) {
        dims[1 + d] = row->dims[d];
    }
    ig_expr e = ig_expr_of(b);
    return row->rank == 1 ? bags : ig_expr_reshape(&e, bags, row->rank + 1, dims);
}

static bool can_join(const ig_value *sequence, const ig_type *row) {
    for (const ig_use *use = sequence->uses; use; use = use->next) {
        bool is_stack = ig_attr_int(use->user, IG_seq_concat_stack, 0) != 0;
        bool is_line = row->rank == 2 && ig_dim_is(row->dims[0], 1);
        if (!is_stack && !is_line) {
            return false;
        }
    }
    return row->rank < IG_TENSOR_RANK;
}

static void match_sequence(const ig_trips *t, ig_op *loop, uint32_t index) {
    ig_value *sequence = &loop->results[index];
    ig_value *row_value = row_inserted(loop, index);
    ig_bag_row row;
    if (!is_only_joined(sequence) || !row_value ||
        !can_join(sequence, row_value->type) || !ig_bag_row_read(t, row_value, &row)) {
        return;
    }
    ig_builder b = ig_builder_before(loop);
    ig_value *bags = ig_make_bag_of_trips(t, &b, &row);
    while (bags && sequence->uses) {
        ig_op *join = sequence->uses->user;
        ig_recogniser_replace(t->r, join->results,
                              shape_joined(&b, bags, join, row_value->type));
        ig_op_erase(join);
    }
}

static void match_loop(ig_recogniser *r, ig_op *loop) {
    ig_trips t;
    uint32_t scans = (uint32_t)ig_attr_int(loop, IG_loop_scans, 0);
    bool is_read = false;
    for (uint32_t i = 0; i + scans < loop->result_count; i++) {
        if (loop->results[i].type->kind == IG_SEQUENCE && loop->results[i].uses) {
            is_read = is_read || ig_trips_of_loop(r, loop, &t);
            if (!is_read) {
                return;
            }
            match_sequence(&t, loop, i);
        }
    }
    if (is_read) {
        ig_recogniser_drop(r, loop);
    }
}

ig_status ig_pass_bag_sequence(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_loop, match_loop);
}
