/* See boxes.h.  SPDX-License-Identifier: Apache-2.0
 *
 * The number of kept boxes of each list is data: a box of the result finds its list by
 * the end of that list among all kept boxes.
 */
#include "compose/boxes.h"

#include "compose/rows/segments.h"

/* The lists [K] of all kept boxes and their places there, where there are many
 * lists. */
static bool place_boxes(ig_expr *e, ig_value *counts, ig_value **lists,
                        ig_value **positions) {
    ig_dim total;
    ig_value *ends = ig_compose_running_sum(e, ig_expr_flatten(e, counts),
                                            IG_RUNNING_complete);
    ig_value *last = ig_expr_unsqueeze(e, ig_compose_last(e, ends), 0);
    ig_expr_bind_dims(e, last, 1, "boxes that are kept", &total);
    if (e->status != IG_OK) {
        return false;
    }
    ig_value *indices = ig_expr_iota(e, IG_DT_i64, total);
    *lists = ig_compose_segment_of(e, ends, indices);
    *positions = ig_build_sub(e, indices, ig_compose_take_rows(e, ends, *lists));
    return e->status == IG_OK;
}

/* A single list is used as it is. */
static ig_value *give_list(ig_expr *e, ig_value *boxes, ig_value *counts) {
    ig_dim total;
    ig_expr_bind_dims(e, ig_expr_flatten(e, counts), 1, "boxes that are kept", &total);
    if (e->status != IG_OK) {
        return NULL;
    }
    ig_value *ids = ig_expr_slice(e, ig_expr_flatten(e, boxes), 0, ig_dim_of(0), total,
                                  1);
    ig_dim dims[] = { total, ig_dim_of(2) };
    ig_value *zeros = ig_expr_expand(e, ig_expr_integer(e, IG_DT_i64, 0), 2, dims);
    ig_value *parts[] = { zeros, ig_expr_unsqueeze(e, ids, 1) };
    return ig_expr_concat(e, 1, parts, 2);
}

static ig_value *give_lists(ig_expr *e, ig_value *boxes, ig_value *counts) {
    ig_value *lists, *positions;
    if (!place_boxes(e, counts, &lists, &positions)) {
        return NULL;
    }
    const ig_dim *dims = boxes->type->dims;
    ig_value *classes = ig_expr_dim(e, dims[1], IG_DT_i64);
    ig_value *size = ig_expr_dim(e, dims[2], IG_DT_i64);
    ig_value *at = ig_build_add(e, ig_build_mul(e, lists, size), positions);
    ig_value *ids = ig_compose_take_rows(e, ig_expr_flatten(e, boxes), at);
    ig_value *parts[] = { ig_build_div(e, lists, classes),
                          ig_build_mod(e, lists, classes, (ig_mod_attrs){ 0 }), ids };
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = ig_expr_unsqueeze(e, parts[i], 1);
    }
    return ig_expr_concat(e, 1, parts, 3);
}

ig_value *ig_compose_suppress(ig_expr *e, const ig_boxes *boxes) {
    ig_value *max = boxes->max ? boxes->max : ig_expr_integer(e, IG_DT_i64, INT64_MAX);
    ig_value *results[2];
    if (e->status != IG_OK ||
        !ig_expr_results(ig_build_suppress(e, boxes->edges, boxes->scores, boxes->share,
                                           max, boxes->min),
                         results)) {
        return NULL;
    }
    const ig_dim *dims = results[0]->type->dims;
    bool is_one = ig_dim_is(dims[0], 1) && ig_dim_is(dims[1], 1);
    return is_one ? give_list(e, results[0], results[1])
                  : give_lists(e, results[0], results[1]);
}
