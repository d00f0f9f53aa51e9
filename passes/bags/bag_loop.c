/* bag_loop: a loop that pools the ids of one bag a trip becomes a bag op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %offsets = concat %off, %len {axis = 0} : i64[B + 1]
 *     %ends = slice %offsets {starts = [1], sizes = [B]} : i64[B]
 *     %0 = loop %count, %true {scans = 1} : f32[B, 64] (%i: i64[], %c: bool[]) {
 *       %1 = gather %offsets, %i {axis = 0}     # and %2 = gather %ends, %i
 *       %3 = slice %ids, [%1], [%2], [0] : i64[n]
 *       %4 = gather @table, %3 {axis = 0} : f32[n, 64]
 *       %5 = reduce %4 {op = sum, axes = [0]} : f32[64]
 *       yield %true, %5
 *     }
 *   becomes
 *     %0 = bag @table, %ids, %off {operands = [1], pool = [sum]} : f32[B, 64]
 *
 * torch's older exporter writes nn.EmbeddingBag so from opset 11 on.  The pass does not
 * depend on the spelling: trips.h finds where a bag begins and ends, bag_rows.h the
 * pooled rows, bag_make.h whether a bag op means the same.  Each stacked result of the
 * loop is matched on its own; when none has uses left, the loop goes.
 *
 * Needs canonicalise and fold, for shape arithmetic.  Keeps the results: an empty bag
 * gives the result of an empty reduction: -inf for a maximum, 0 or NaN for a mean, as
 * the reduction says; with `torch_empty` zero.  ONNX accepts offsets that fall or are
 * outside of the ids; the bag op reports them (docs/decisions.md).
 */
#include "ir/build/expr.h"
#include "passes/bags/bag_make.h"

/* The stacked rows as the loop gives them: a row may have been [1, D]. */
static ig_value *shape_rows(ig_builder *b, ig_value *bags, const ig_type *type) {
    ig_dim dims[IG_TENSOR_RANK];
    if (type->rank == 2) {
        return bags;
    }
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = d == 0 ? bags->type->dims[0] : type->dims[d];
    }
    ig_expr e = ig_expr_of(b);
    return ig_expr_reshape(&e, bags, type->rank, dims);
}

static void match_result(const ig_trips *t, ig_op *loop, uint32_t index) {
    ig_value *result = &loop->results[index];
    ig_value *value = loop->bodies[0]->last->operands[1 + index].value;
    ig_bag_row row;
    if (!result->uses || !ig_bag_row_read(t, value, &row)) {
        return;
    }
    ig_builder b = ig_builder_before(loop);
    ig_value *bags = ig_make_bag_of_trips(t, &b, &row);
    if (bags) {
        ig_recogniser_replace(t->r, result, shape_rows(&b, bags, result->type));
    }
}

static void match_loop(ig_recogniser *r, ig_op *loop) {
    ig_trips t;
    uint32_t scans = (uint32_t)ig_attr_int(loop, IG_loop_scans, 0);
    if (scans == 0 || !ig_trips_of_loop(r, loop, &t)) {
        return;
    }
    for (uint32_t i = loop->result_count - scans; i < loop->result_count; i++) {
        match_result(&t, loop, i);
    }
    ig_recogniser_drop(r, loop);
}

ig_status ig_pass_bag_loop(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_loop, match_loop);
}
