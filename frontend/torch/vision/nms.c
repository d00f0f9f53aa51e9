/* Boxes without those that overlap a better one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/vision/vision.h"

#include "compose/boxes.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

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
        dims[axes[i]] = ig_expr_extent(call->e, x, i);
    }
    return ig_expr_reshape(call->e, x, rank, dims);
}

/* ---- non-maximum suppression ---- */

/* The greatest number of the edges' dtype that is no greater: a share of that dtype
 * exceeds both or none. */
static ig_value *share_of(ig_ts_call *call, const ig_value *edges, double max) {
    double narrow = (double)(float)max;
    if (narrow > max) {
        narrow = (double)nextafterf((float)max, -INFINITY);
    }
    ig_dtype dtype = (ig_dtype)edges->type->dtype;
    return ig_expr_number(call->e, dtype, dtype == IG_DT_f32 ? narrow : max);
}

/* Scores [N] as f32 [1, 1, N].  Those that f32 does not hold give way to their ranks,
 * and boxes are in their order; `order`: as numbers of boxes, or NULL. */
static ig_value *read_scores(ig_ts_call *call, ig_value *scores, ig_boxes *boxes,
                             ig_value **order) {
    ig_expr *e = call->e;
    ig_value *sorted[2];
    ig_sort_attrs attrs = { .axis = 0, .descending = true };
    if (scores->type->dtype == IG_DT_f64) {
        if (!ig_expr_results(ig_build_sort(e, scores, attrs), sorted)) {
            return NULL;
        }
        *order = sorted[1];
        boxes->edges = ig_compose_take_rows(e, boxes->edges, sorted[1]);
        scores = ig_build_neg(e,
                              ig_expr_iota(e, IG_DT_i64, ig_expr_extent(e, scores, 0)));
    }
    scores = ig_expr_cast(e, scores, IG_DT_f32);
    return ig_expr_unsqueeze(e, ig_expr_unsqueeze(e, scores, 0), 0);
}

/* nms(dets [n, 4], scores [n], iou_threshold): numbers of the boxes kept, best first */
ig_status ig_ts_op_tv_nms(ig_ts_call *call) {
    ig_value *edges = ig_aten_tensor(call, 0), *scores = ig_aten_tensor(call, 1);
    double max = ig_aten_float(call, 2);
    IG_TRY(call->e->status);
    if (edges->type->rank != 2 || scores->type->rank != 1) {
        return ig_ts_fail(call, IG_INVALID, "boxes of rank %u, scores of rank %u",
                          edges->type->rank, scores->type->rank);
    }
    ig_expr_guard_equal(call->e, ig_expr_extent(call->e, edges, 0),
                        ig_expr_extent(call->e, scores, 0),
                        "each box must have a score");
    ig_value *order = NULL;
    ig_boxes boxes = { .edges = ig_aten_wide(call, edges) };
    IG_TRY(call->e->status);
    boxes.share = share_of(call, boxes.edges, max);
    boxes.scores = read_scores(call, scores, &boxes, &order);
    boxes.edges = ig_expr_unsqueeze(call->e, boxes.edges, 0);
    ig_value *ids = ig_expr_select(call->e, ig_compose_suppress(call->e, &boxes), 1,
                                   ig_dim_of(2));
    return ig_aten_give(call, order ? ig_compose_take_rows(call->e, order, ids) : ids);
}
