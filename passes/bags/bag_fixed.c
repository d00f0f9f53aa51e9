/* bag_fixed: look-ups of as many ids in every bag, pooled, become a bag op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = gather @table, %ids {axis = 0} : f32[B, L, 64]          %ids: i64[B, L]
 *     %1 = reshape %weights {to = [B, L, 1]} : f32[B, L, 1]
 *     %2 = mul %0, %1 : f32[B, L, 64]
 *     %3 = reduce %2 {op = sum, axes = [1]} : f32[B, 64]
 *   becomes
 *     %3 = bag @table, %ids, %weights {operands = [4], pool = [sum]} : f32[B, 64]
 *
 * This is what models without EmbeddingBag write; weights may be a mask.  Of ids with
 * more dims the last is pooled.  Views between the look-up and the reduction that keep
 * rows whole are looked through.
 *
 * Keeps the results; where L is 0, those of a reduction of nothing.  Where only the run
 * knows whether there is a weight for each id, that is asked for by a guard, although
 * ONNX would also repeat a single one.
 */
#include "ir/build/expr.h"
#include "passes/bags/bag_look_up.h"
#include "passes/bags/bag_make.h"

/* Dims of the ids that one bag holds, and of the result. */
typedef struct shapes {
    ig_dim ids[2];
    ig_dim result[IG_TENSOR_RANK];
    uint32_t result_rank;
} shapes;

static shapes shapes_of(const ig_op *reduce, const ig_type *rows) {
    ig_module *module = ig_op_module(reduce);
    uint32_t bags = rows->rank - 2;
    shapes s = { .ids = { ig_dim_product(module, rows->dims, bags),
                          rows->dims[bags] } };
    for (uint32_t d = 0; d < bags; d++) {
        s.result[s.result_rank++] = rows->dims[d];
    }
    if (ig_attr_int(reduce, IG_reduce_keep, 0)) {
        s.result[s.result_rank++] = ig_dim_of(1);
    }
    s.result[s.result_rank++] = rows->dims[rows->rank - 1];
    return s;
}

static void match_reduce(ig_recogniser *r, ig_op *reduce) {
    ig_look_up look_up;
    ig_pool pool;
    ig_value *x = reduce->operands[0].value, *result = reduce->results;
    if (!result->uses || x->type->rank < 3 ||
        !ig_pool_of_reduce(reduce, x->type->rank - 2, &pool) ||
        !ig_look_up_read(x, &look_up)) {
        return;
    }
    shapes s = shapes_of(reduce, look_up.rows);
    ig_builder b = ig_builder_before(reduce);
    ig_bag_spec spec = { .table = look_up.table,
                         .ids = ig_look_up_ids(&look_up, &b, 2, s.ids),
                         .weights = ig_look_up_weights(&look_up, &b, 2, s.ids),
                         .pool = pool,
                         .padding = IG_NO_PADDING,
                         .is_zero_if_empty = ig_attr_int(reduce, IG_reduce_empty_zero,
                                                         0) != 0,
                         .negative = look_up.negative };
    ig_value *bags = ig_make_bag(r, &b, &spec);
    ig_expr e = ig_expr_of(&b);
    if (s.result_rank != 2) {
        bags = ig_expr_reshape(&e, bags, s.result_rank, s.result);
    }
    ig_recogniser_replace(r, result, bags);
    ig_recogniser_sweep(r, reduce);
}

ig_status ig_pass_bag_fixed(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_reduce, match_reduce);
}
