/* Boxes without those that overlap a better one; sums of picked pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/vision/vision.h"

#include "ir/bag.h"

#include <assert.h>

/* ---- what regions and deformed windows are made of ---- */

ig_value *ig_vision_spread(ig_ts_call *call, ig_value *x, uint32_t rank,
                           const uint32_t *axes) {
    assert(rank <= IG_TENSOR_RANK && "the result is a tensor");
    assert((!x || x->type->rank <= rank) && "each axis has a place in the result");
    ig_dim dims[IG_TENSOR_RANK];
    if (!x) {
        return NULL;
    }
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = ig_dim_of(1);
    }
    for (uint32_t i = 0; i < x->type->rank; i++) {
        dims[axes[i]] = x->type->dims[i];
    }
    return ig_expr_reshape(call->e, x, rank, dims);
}

/* Channels whose number is not known are gathered and added. */
static ig_value *sum_gathered(ig_expr *e, ig_value *table, ig_value *ids,
                              ig_value *weights) {
    ig_value *x = ig_compose_take_rows(e, table, ids);
    x = ig_build_mul(e, x, ig_expr_unsqueeze(e, weights, 2));
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, x, 1, false);
}

ig_value *ig_vision_sum_rows(ig_ts_call *call, ig_value *table, ig_value *ids,
                             ig_value *weights) {
    ig_module *module = call->module;
    int64_t given = 4, pool = IG_POOL_sum, known;
    if (!table || !ids || !weights || call->e->status != IG_OK) {
        return NULL;
    }
    if (!ig_dim_constant(module, table->type->dims[1], &known)) {
        return sum_gathered(call->e, table, ids, weights);
    }
    ig_bag_attrs attrs = { .operands = { &given, 1 },
                           .pool = { &pool, 1 },
                           .negative = IG_NEGATIVE_error };
    return ig_build_bag(call->e, (ig_value *[]){ table, ids, weights }, 3, attrs);
}

/* ---- non-maximum suppression ---- */

/* One edge (0 to 3) of boxes [n, 4], or of one box [4]. */
static ig_value *edge_of(ig_expr *e, ig_value *boxes, uint32_t number) {
    assert(number < 4 && "a box has four edges");
    return boxes ? ig_expr_select(e, boxes, boxes->type->rank - 1u, ig_dim_of(number))
                 : NULL;
}

static ig_value *area_of(ig_expr *e, ig_value *boxes) {
    ig_value *width = ig_build_sub(e, edge_of(e, boxes, 2), edge_of(e, boxes, 0));
    ig_value *height = ig_build_sub(e, edge_of(e, boxes, 3), edge_of(e, boxes, 1));
    return ig_build_mul(e, width, height);
}

/* Overlap of boxes with one box along an axis: 0 at least. */
static ig_value *overlap_of(ig_expr *e, ig_value *boxes, ig_value *box, uint32_t axis) {
    ig_value *low = ig_build_max(e, edge_of(e, boxes, axis), edge_of(e, box, axis));
    ig_value *high = ig_build_min(e, edge_of(e, boxes, axis + 2),
                                  edge_of(e, box, axis + 2));
    return ig_expr_with(e, IG_OP_max, ig_build_sub(e, high, low), 0);
}

/* Which of the boxes after box i overlap it too much. */
static ig_value *find_covered(ig_ts_call *call, ig_value *boxes, ig_value *i,
                              double most) {
    ig_value *box = ig_compose_take_rows(call->e, boxes, i);
    ig_value *common = ig_build_mul(call->e, overlap_of(call->e, boxes, box, 0),
                                    overlap_of(call->e, boxes, box, 1));
    ig_value *both = ig_build_add(call->e, area_of(call->e, boxes),
                                  area_of(call->e, box));
    ig_value *ratio = ig_build_div(call->e, common,
                                   ig_build_sub(call->e, both, common));
    ratio = ig_aten_cast(call, ratio, IG_DT_f64);
    ig_value *numbers = ig_expr_iota(call->e, IG_DT_i64, boxes->type->dims[0]);
    return ig_build_and(call->e, ig_expr_with(call->e, IG_OP_gt, ratio, most),
                        ig_build_gt(call->e, numbers, i));
}

static void fill_body(ig_ts_call *call, ig_block *body, ig_value *boxes, double most) {
    ig_value *i = body->args[0], *keep = body->args[2];
    ig_value *is_kept = ig_compose_take_rows(call->e, keep, i);
    ig_value *lost = find_covered(call, boxes, i, most);
    lost = lost && is_kept ? ig_build_and(call->e, lost, is_kept) : NULL;
    ig_value *left = ig_build_not(call->e, lost);
    left = left ? ig_build_and(call->e, keep, left) : keep;
    ig_value *yields[] = { body->args[1], left };
    ig_make_yield(call->builder, yields, 2);
}

/* bool [n]: box after box, best first, puts out those that it covers. */
static ig_value *suppress_covered(ig_ts_call *call, ig_value *boxes, double most) {
    ig_dim count = boxes->type->dims[0];
    const ig_type *type = ig_type_tensor(call->module, IG_DT_bool, 1, &count);
    ig_value *one = ig_expr_integer(call->e, IG_DT_bool, 1);
    ig_value *operands[] = { ig_expr_dim(call->e, count, IG_DT_i64), one,
                             ig_expr_expand(call->e, one, 1, &count) };
    if (call->e->status != IG_OK) {
        return NULL;
    }
    ig_builder outside = *call->builder;
    ig_op *op = ig_expr_open_loop(call->e, operands, type);
    fill_body(call, op->bodies[0], boxes, most);
    *call->builder = outside;
    return call->e->status == IG_OK ? ig_op_result(op, 0) : NULL;
}

/* nms(dets [n, 4], scores [n], iou_threshold): numbers of the boxes kept, best first */
ig_status ig_ts_op_tv_nms(ig_ts_call *call) {
    ig_value *boxes = ig_aten_tensor(call, 0), *scores = ig_aten_tensor(call, 1);
    double most = ig_aten_float(call, 2);
    IG_TRY(call->e->status);
    if (boxes->type->rank != 2 || scores->type->rank != 1) {
        return ig_ts_fail(call, IG_INVALID, "boxes of rank %u, scores of rank %u",
                          boxes->type->rank, scores->type->rank);
    }
    ig_expr_guard_equal(call->e, boxes->type->dims[0], scores->type->dims[0],
                        "each box has a score");
    IG_TRY(call->e->status);
    ig_value *sorted[2];
    ig_sort_attrs attrs = { .axis = 0, .descending = true };
    if (!ig_expr_results(ig_build_sort(call->e, scores, attrs), sorted)) {
        return call->e->status;
    }
    boxes = ig_compose_take_rows(call->e, ig_aten_wide(call, boxes), sorted[1]);
    ig_value *keep = boxes ? suppress_covered(call, boxes, most) : NULL;
    ig_value *at = ig_expr_flatten(call->e, ig_build_nonzero(call->e, keep));
    return ig_aten_give(call, ig_compose_take_rows(call->e, sorted[1], at));
}
