/* FBGEMM's jagged ids without repetitions, and the sums over those.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each feature t has its own range of numbers from edges[t] on, and features of one
 * table have the same.  Ids are numbers in them, all in one sorted set:
 *
 *     number   edges[t] + id           t: the feature of the id's bag
 *     unique   the distinct numbers, less the last edge that is not above each
 *
 * The set's numbers of one table are dealt out evenly over the bags of its features
 * first … next - 1 (groups[g] and groups[g + 1]; a group of no feature takes no part):
 *
 *     length   many / bags, one more for the first many % bags of them
 */
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>

typedef struct unique {
    ig_ts_call *call;
    ig_value *edges, *groups; /* i64 [features + 1] */
    ig_value *offsets, *ids;  /* i64 [bags + 1], i64 [n] */
    ig_value *values, *which; /* i64 [distinct]; i64 [n] */
    ig_dim bags, batch;
} unique;

static void find_numbers(unique *u) {
    ig_expr *e = u->call->e;
    ig_value *at = ig_fb_positions(e, u->ids);
    ig_value *bag = ig_compose_segment_of(e, u->offsets, at);
    ig_value *per = ig_expr_with_integer(e, IG_OP_max,
                                         ig_expr_dim(e, u->batch, IG_DT_i64), 1);
    ig_value *feature = ig_build_div(e, bag, per);
    ig_value *x = ig_build_add(e, ig_compose_take_rows(e, u->edges, feature), u->ids);
    ig_value *found[4];
    if (ig_expr_results(ig_build_unique(e, x, (ig_unique_attrs){ 0 }), found)) {
        u->values = found[0];
        u->which = found[2];
    }
}

/* For each of x the first of rising `edges` that is not below it, or (right) above. */
static ig_value *search_edges(ig_ts_call *call, ig_value *x, ig_value *edges,
                              bool right) {
    return ig_build_bucketize(call->e, x, edges,
                              (ig_bucketize_attrs){ .right = right });
}

/* The numbers as ids again. */
static ig_value *ids_of_numbers(unique *u) {
    assert((u->values || u->call->e->status != IG_OK) && "find_numbers has run");
    ig_ts_call *call = u->call;
    ig_expr *e = call->e;
    ig_value *feature = search_edges(call, u->values, u->edges, true);
    feature = ig_expr_with_integer(e, IG_OP_max,
                                   ig_expr_with_integer(e, IG_OP_sub, feature, 1), 0);
    return ig_build_sub(e, u->values, ig_compose_take_rows(e, u->edges, feature));
}

/* How many ids are below the edge of each of these features. */
static ig_value *count_below(unique *u, ig_value *features) {
    assert((u->values || u->call->e->status != IG_OK) && "find_numbers has run");
    ig_value *edge = ig_compose_take_rows(u->call->e, u->edges, features);
    return search_edges(u->call, edge, u->values, false);
}

static ig_value *lengths_of_bags(unique *u) {
    ig_expr *e = u->call->e;
    ig_value *bag = ig_expr_iota(e, IG_DT_i64, u->bags),
             *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *batch = ig_expr_with_integer(e, IG_OP_max,
                                           ig_expr_dim(e, u->batch, IG_DT_i64), 1);
    ig_value *feature = ig_build_div(e, bag, batch);
    ig_dim groups = ig_fb_segments(e, u->groups);
    ig_value *group = ig_compose_segment_of(e, u->groups, feature);
    ig_value *last = ig_expr_dim(e, ig_dim_sub(e->module, groups, ig_dim_of(1)),
                                 IG_DT_i64);
    ig_value *is_in = ig_build_le(e, group, last);
    group = ig_build_min(e, group, last);
    ig_value *first = ig_compose_take_rows(e, u->groups, group);
    ig_value *next = ig_compose_take_rows(e, u->groups,
                                          ig_expr_with_integer(e, IG_OP_add, group, 1));
    is_in = ig_build_and(e, is_in, ig_build_le(e, first, feature));
    ig_value *many = ig_build_sub(e, count_below(u, next), count_below(u, first));
    ig_value *bags = ig_build_mul(e, ig_build_sub(e, next, first), batch);
    bags = ig_expr_with_integer(e, IG_OP_max, bags, 1);
    ig_value *each = ig_build_div(e, many, bags);
    ig_value *rest = ig_build_sub(e, many, ig_build_mul(e, each, bags));
    ig_value *position = ig_build_sub(e, bag, ig_build_mul(e, first, batch));
    ig_value *more = ig_expr_cast(e, ig_build_lt(e, position, rest), IG_DT_i64);
    return ig_build_where(e, is_in, ig_build_add(e, each, more), zero);
}

ig_status ig_ts_op_fb_jagged_unique(ig_ts_call *call) {
    enum { EDGES, GROUPS, OFFSETS, IDS };
    unique u = { .call = call };
    ig_module *module = call->module;
    ig_value *offsets = ig_aten_tensor(call, OFFSETS), *ids = ig_aten_tensor(call, IDS);
    u.edges = ig_fb_arg(call, EDGES, IG_DT_i64);
    u.groups = ig_fb_arg(call, GROUPS, IG_DT_i64);
    u.offsets = ig_expr_cast(call->e, offsets, IG_DT_i64);
    u.ids = ig_expr_cast(call->e, ids, IG_DT_i64);
    IG_TRY(call->e->status);
    ig_expr_guard_equal(call->e, ig_expr_extent(call->e, u.edges, 0),
                        ig_expr_extent(call->e, u.groups, 0),
                        "each feature must have an edge and a group");
    IG_TRY(call->e->status);
    ig_dim features = ig_dim_sub(module, ig_expr_extent(call->e, u.edges, 0),
                                 ig_dim_of(1));
    u.bags = ig_dim_sub(module, ig_expr_extent(call->e, u.offsets, 0), ig_dim_of(1));
    u.batch = ig_dim_exact_div(module, u.bags, features);
    find_numbers(&u);
    ig_value *lengths = ig_expr_like(call->e, lengths_of_bags(&u), offsets);
    IG_TRY(ig_ts_give(call, 0, lengths));
    IG_TRY(ig_ts_give(call, 1,
                      ig_compose_running_sum(call->e, lengths, IG_RUNNING_complete)));
    IG_TRY(ig_ts_give(call, 2, ig_expr_like(call->e, ids_of_numbers(&u), ids)));
    return ig_ts_give(call, 3, u.which);
}

/* Edges of features' ranges: one more than the largest id of each; 0 for one without
 * ids.  `batch` bags a feature. */
ig_status ig_ts_op_fb_hash_sizes(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *given = ig_aten_tensor(call, 0), *ids = ig_fb_arg(call, 1, IG_DT_i64);
    ig_value *offsets = ig_expr_cast(e, given, IG_DT_i64);
    ig_dim batch = ig_aten_dim(call, 2), bags = ig_fb_segments(e, offsets);
    ig_dim features = ig_dim_exact_div(call->module, bags, batch);
    ig_value *at = ig_fb_positions(e, ids);
    ig_value *per = ig_expr_with_integer(e, IG_OP_max, ig_expr_dim(e, batch, IG_DT_i64),
                                         1);
    ig_value *feature = ig_build_div(e, ig_compose_segment_of(e, offsets, at), per);
    ids = ig_expr_with_integer(e, IG_OP_add, ids, 1);
    ig_value *none = ig_expr_expand(e, ig_expr_integer(e, IG_DT_i64, 0), 1, &features);
    ig_scatter_elements_attrs attrs = { .axis = 0,
                                        .reduce = IG_SCATTER_max,
                                        .fresh = true };
    ig_value *sizes = ig_build_scatter_elements(e, none, feature, ids, attrs);
    ig_value *edges = ig_compose_running_sum(e, sizes, IG_RUNNING_complete);
    ig_value *groups = ig_expr_iota(e, IG_DT_i64,
                                    ig_dim_add(call->module, features, ig_dim_of(1)));
    return ig_aten_give2(call, ig_expr_like(e, edges, given),
                         ig_expr_like(e, groups, given));
}

/* Per distinct id: the sum of its weights, and how often it is there. */
ig_status ig_ts_op_fb_weights_and_counts(ig_ts_call *call) {
    ig_value *weights = ig_fb_arg(call, 0, IG_DT_f32), *ones = NULL;
    ig_value *which = ig_fb_arg(call, 1, IG_DT_i64);
    ig_dim count = ig_aten_dim(call, 2);
    IG_TRY(call->e->status);
    ig_value *one = ig_expr_number(call->e, IG_DT_f32, 1);
    ones = ig_expr_expand(call->e, one, 1, weights->type->dims);
    ig_value *columns[] = { ig_fb_column(call->e, weights),
                            ig_fb_column(call->e, ones) };
    ig_value *rows = ig_expr_concat(call->e, 1, columns, 2);
    return ig_aten_give(call, ig_compose_add_rows(call->e, rows, which, count));
}
