/* bag_gather: a look-up of rows in an embedding table becomes a bag op without pooling.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = gather @table, %ids {axis = 0} : f32[B, 64]             %ids: i64[B]
 *   becomes
 *     %0 = bag @table, %ids {operands = [0], pool = [none]} : f32[B, 64]
 *
 * One-hot models look one id up in each table; as features of a bag op all of them are
 * served by one launch (bag_merge).  Weights that multiply whole rows come along.  Ids
 * of other ranks are looked up as a list, and the result is shaped as it was.
 *
 * Only tables of constants or inputs, and ids known at run time alone: known ids are
 * folded, or are an index that moves axes.
 */
#include "ir/build/expr.h"
#include "passes/bags/bag_look_up.h"
#include "passes/bags/bag_make.h"

static void replace_look_up(ig_recogniser *r, ig_op *op, const ig_look_up *look_up) {
    const ig_type *rows = look_up->rows;
    ig_dim count = ig_dim_product(r->module, rows->dims, rows->rank - 1);
    ig_builder b = ig_builder_before(op);
    ig_bag_spec spec = { .table = look_up->table,
                         .ids = ig_look_up_ids(look_up, &b, 1, &count),
                         .weights = ig_look_up_weights(look_up, &b, 1, &count),
                         .pool = IG_POOL_none,
                         .padding = IG_NO_PADDING,
                         .negative = look_up->negative };
    ig_value *bags = ig_make_bag(r, &b, &spec);
    ig_expr e = ig_expr_of(&b);
    if (rows->rank != 2) {
        bags = ig_expr_reshape(&e, bags, rows->rank, rows->dims);
    }
    ig_recogniser_replace(r, op->results, bags);
    ig_recogniser_sweep(r, op);
}

static void match_mul(ig_recogniser *r, ig_op *mul) {
    ig_look_up look_up;
    if (mul->results->uses && ig_look_up_read(mul->results, &look_up) &&
        look_up.weights) {
        replace_look_up(r, mul, &look_up);
    }
}

static void match_gather(ig_recogniser *r, ig_op *gather) {
    ig_look_up look_up;
    if (gather->results->uses && ig_look_up_read(gather->results, &look_up)) {
        replace_look_up(r, gather, &look_up);
    }
}

ig_status ig_pass_bag_gather(ig_pass_run *run, ig_graph *graph) {
    IG_TRY(ig_recognise(run, graph, IG_OP_mul, match_mul));
    return ig_recognise(run, graph, IG_OP_gather, match_gather);
}
