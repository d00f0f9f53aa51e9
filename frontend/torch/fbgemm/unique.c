/* FBGEMM's jagged ids without repetitions, and what is summed over those.
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

typedef struct unique {
    ig_fb fb;
    ig_value *edges, *groups;  /* i64 [features + 1] */
    ig_value *offsets, *ids;   /* i64 [bags + 1], i64 [n] */
    ig_value *numbers, *which; /* i64 [distinct]; i64 [n] */
    ig_dim bags, batch;
} unique;

static void find_numbers(unique *u) {
    ig_fb *fb = &u->fb;
    ig_value *at = ig_fb_range_dim(fb, ig_fb_extent(fb, u->ids, 0));
    ig_value *bag = ig_fb_segment_of(fb, u->offsets, at);
    ig_value *per = ig_fb_with(fb, IG_OP_max, ig_fb_dim(fb, u->batch), 1);
    ig_value *feature = ig_fb_2(fb, IG_OP_div, bag, per);
    ig_value *x = ig_fb_2(fb, IG_OP_add, ig_fb_gather(fb, u->edges, feature, 0),
                          u->ids);
    ig_attr attrs[IG_unique_attr_count] = { { 0 } };
    ig_op_spec spec = { .operands = &x, .operand_count = 1, .attrs = attrs };
    ig_op *op = NULL;
    if (x && fb->status == IG_OK &&
        ig_fb_try(fb, ig_build(fb->call->builder, IG_OP_unique, &spec, &op))) {
        u->numbers = &op->results[0];
        u->which = &op->results[2];
    }
}

/* For each of x the first of rising `edges` that is not below it, or (right) above. */
static ig_value *search(ig_fb *fb, ig_value *x, ig_value *edges, bool right) {
    ig_attr attrs[IG_bucketize_attr_count] = { [IG_bucketize_right] =
                                                   ig_attr_of_bool(right) };
    ig_value *out = NULL, *operands[] = { x, edges };
    bool is_good =
        x && edges && fb->status == IG_OK &&
        ig_fb_try(fb, ig_ts_build(fb->call, IG_OP_bucketize, 2, operands, attrs, &out));
    return is_good ? out : NULL;
}

/* The numbers as ids again. */
static ig_value *ids_of_numbers(unique *u) {
    ig_fb *fb = &u->fb;
    ig_value *feature = search(fb, u->numbers, u->edges, true);
    feature = ig_fb_with(fb, IG_OP_max, ig_fb_with(fb, IG_OP_sub, feature, 1), 0);
    return ig_fb_2(fb, IG_OP_sub, u->numbers, ig_fb_gather(fb, u->edges, feature, 0));
}

/* How many numbers lie below the edge of each of these features. */
static ig_value *count_below(unique *u, ig_value *features) {
    ig_value *edge = ig_fb_gather(&u->fb, u->edges, features, 0);
    return search(&u->fb, edge, u->numbers, false);
}

static ig_value *lengths_of_bags(unique *u) {
    ig_fb *fb = &u->fb;
    ig_value *bag = ig_fb_range_dim(fb, u->bags), *zero = ig_fb_int(fb, 0);
    ig_value *batch = ig_fb_with(fb, IG_OP_max, ig_fb_dim(fb, u->batch), 1);
    ig_value *feature = ig_fb_2(fb, IG_OP_div, bag, batch);
    ig_dim groups = ig_dim_sub(fb->call->module, ig_fb_extent(fb, u->groups, 0),
                               ig_dim_of(1));
    ig_value *group = ig_fb_segment_of(fb, u->groups, feature);
    ig_value *last = ig_fb_dim(fb, ig_dim_sub(fb->call->module, groups, ig_dim_of(1)));
    ig_value *is_in = ig_fb_2(fb, IG_OP_le, group, last);
    group = ig_fb_2(fb, IG_OP_min, group, last);
    ig_value *first = ig_fb_gather(fb, u->groups, group, 0);
    ig_value *next = ig_fb_gather(fb, u->groups, ig_fb_with(fb, IG_OP_add, group, 1),
                                  0);
    is_in = ig_fb_2(fb, IG_OP_and, is_in, ig_fb_2(fb, IG_OP_le, first, feature));
    ig_value *many = ig_fb_2(fb, IG_OP_sub, count_below(u, next),
                             count_below(u, first));
    ig_value *bags = ig_fb_2(fb, IG_OP_mul, ig_fb_2(fb, IG_OP_sub, next, first), batch);
    bags = ig_fb_with(fb, IG_OP_max, bags, 1);
    ig_value *each = ig_fb_2(fb, IG_OP_div, many, bags);
    ig_value *rest = ig_fb_2(fb, IG_OP_sub, many, ig_fb_2(fb, IG_OP_mul, each, bags));
    ig_value *place = ig_fb_2(fb, IG_OP_sub, bag, ig_fb_2(fb, IG_OP_mul, first, batch));
    ig_value *more = ig_fb_cast(fb, ig_fb_2(fb, IG_OP_lt, place, rest), IG_DT_i64);
    return ig_fb_where(fb, is_in, ig_fb_2(fb, IG_OP_add, each, more), zero);
}

ig_status ig_ts_op_fb_jagged_unique(ig_ts_call *call) {
    enum { EDGES, GROUPS, OFFSETS, IDS };
    unique u = { .fb = ig_fb_open(call) };
    ig_fb *fb = &u.fb;
    ig_module *module = call->module;
    ig_value *offsets = ig_fb_tensor(fb, OFFSETS), *ids = ig_fb_tensor(fb, IDS);
    u.edges = ig_fb_arg(fb, EDGES, IG_DT_i64);
    u.groups = ig_fb_arg(fb, GROUPS, IG_DT_i64);
    u.offsets = ig_fb_cast(fb, offsets, IG_DT_i64);
    u.ids = ig_fb_cast(fb, ids, IG_DT_i64);
    IG_TRY(fb->status);
    IG_TRY(ig_ts_guard_equal(call, u.edges->type->dims[0], u.groups->type->dims[0],
                             "each feature has an edge and a group"));
    ig_dim features = ig_dim_sub(module, u.edges->type->dims[0], ig_dim_of(1));
    u.bags = ig_dim_sub(module, u.offsets->type->dims[0], ig_dim_of(1));
    u.batch = ig_dim_exact_div(module, u.bags, features);
    find_numbers(&u);
    ig_value *lengths = ig_fb_like(fb, lengths_of_bags(&u), offsets);
    IG_TRY(ig_fb_give(fb, 0, lengths));
    IG_TRY(ig_fb_give(fb, 1, ig_fb_cumsum(fb, lengths, IG_FB_COMPLETE)));
    IG_TRY(ig_fb_give(fb, 2, ig_fb_like(fb, ids_of_numbers(&u), ids)));
    return ig_fb_give(fb, 3, u.which);
}

/* Edges of features' ranges: one more than the largest id of each; 0 for one without
 * ids.  `batch` bags a feature. */
ig_status ig_ts_op_fb_hash_sizes(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *given = ig_fb_tensor(&fb, 0), *ids = ig_fb_arg(&fb, 1, IG_DT_i64);
    ig_value *offsets = ig_fb_cast(&fb, given, IG_DT_i64), *none = NULL, *sizes = NULL;
    ig_dim batch = ig_dim_of(1), bags = ig_fb_extent(&fb, offsets, 0);
    IG_TRY(fb.status);
    IG_TRY(ig_ts_dim(call, 2, &batch));
    bags = ig_dim_sub(call->module, bags, ig_dim_of(1));
    ig_dim features = ig_dim_exact_div(call->module, bags, batch);
    ig_value *at = ig_fb_range_dim(&fb, ig_fb_extent(&fb, ids, 0));
    ig_value *per = ig_fb_with(&fb, IG_OP_max, ig_fb_dim(&fb, batch), 1);
    ig_value *feature = ig_fb_2(&fb, IG_OP_div, ig_fb_segment_of(&fb, offsets, at),
                                per);
    ids = ig_fb_with(&fb, IG_OP_add, ids, 1);
    IG_TRY(fb.status);
    IG_TRY(ig_ts_full(call, ig_fb_int(&fb, 0), 1, &features, &none));
    ig_attr attrs[IG_scatter_elements_attr_count] = {
        [IG_scatter_elements_axis] = ig_attr_of_int(0),
        [IG_scatter_elements_reduce] = ig_attr_of_enum(IG_SCATTER_max),
        [IG_scatter_elements_fresh] = ig_attr_of_bool(true)
    };
    ig_value *operands[] = { none, feature, ids };
    IG_TRY(ig_ts_build(call, IG_OP_scatter_elements, 3, operands, attrs, &sizes));
    ig_value *edges = ig_fb_cumsum(&fb, sizes, IG_FB_COMPLETE);
    ig_value *groups =
        ig_fb_range_dim(&fb, ig_dim_add(call->module, features, ig_dim_of(1)));
    IG_TRY(ig_fb_give(&fb, 0, ig_fb_like(&fb, edges, given)));
    return ig_fb_give(&fb, 1, ig_fb_like(&fb, groups, given));
}

/* Per distinct id: the sum of its weights, and how often it is there. */
ig_status ig_ts_op_fb_weights_and_counts(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *weights = ig_fb_arg(&fb, 0, IG_DT_f32), *ones = NULL;
    ig_value *which = ig_fb_arg(&fb, 1, IG_DT_i64);
    ig_dim count;
    IG_TRY(ig_ts_dim(call, 2, &count));
    IG_TRY(fb.status);
    ig_value *one = ig_fb_number(&fb, IG_DT_f32, 1);
    IG_TRY(ig_ts_full(call, one, 1, weights->type->dims, &ones));
    ig_value *columns[] = { ig_fb_column(&fb, weights), ig_fb_column(&fb, ones) };
    ig_value *rows = ig_fb_concat(&fb, columns, 2, 1);
    return ig_fb_give(&fb, 0, ig_fb_add_at(&fb, rows, which, count));
}
