/* FBGEMM's bucketizers: ids partitioned by the shards of row-wise sharded tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every id gets a bucket and a new id in it (assign); elements are then partitioned in
 * the order bucket, feature, bag, and within a bag in their old order:
 *
 *     key       bucket * bags + bag of the element
 *     lengths'  how many elements have each key
 *     to        stable order of the elements by key
 *
 * Ids are unsigned: one of -1 is the largest there is.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

typedef struct partition {
    ig_ts_call *call;
    ig_value *lengths, *ids, *weights; /* ids as given */
    ig_value *bag;                     /* of each element */
    ig_value *offsets;
    ig_value *feature;       /* of each element */
    ig_value *bucket, *next; /* of each element; i64 */
    ig_dim bags, features, size;
    bool wants_position, wants_order;
    uint32_t shift; /* of the arguments after the weights */
} partition;

/* ---- the order of elements ---- */

static void open_partition(partition *p, ig_dim features) {
    ig_expr *e = p->call->e;
    p->bags = ig_fb_extent(e, p->lengths, 0);
    p->features = features;
    ig_value *wide = ig_expr_cast(e, p->lengths, IG_DT_i64);
    p->offsets = ig_compose_running_sum(e, wide, IG_RUNNING_complete);
    ig_value *at = ig_fb_positions(e, p->ids);
    p->bag = ig_compose_segment_of(e, p->offsets, at);
}

static ig_value *sorted_order(ig_expr *e, ig_value *key) {
    ig_value *sorted[2];
    key = ig_build_sort(e, key, (ig_sort_attrs){ .axis = 0 });
    return ig_expr_results(key, sorted) ? sorted[1] : NULL;
}

static ig_status give_or_none(ig_ts_call *call, uint32_t result, ig_value *value,
                              bool wants) {
    return wants ? ig_ts_give(call, result, value) : ig_fb_give_none(call, result);
}

/* Results 0 … 3 and, where the row has it, 4: lengths, ids, weights, position in the
 * old bag, the target of each element. */
static ig_status give_partition(partition *p, bool has_order) {
    ig_ts_call *call = p->call;
    ig_expr *e = call->e;
    ig_dim keys = ig_dim_mul(call->module, p->bags, p->size);
    ig_value *base = ig_build_mul(e, p->bucket, ig_expr_dim(e, p->bags, IG_DT_i64));
    ig_value *key = ig_build_add(e, base, p->bag);
    ig_value *one = ig_expr_integer(e, IG_DT_i64, 1), *ones = NULL;
    IG_TRY(e->status);
    ones = ig_expr_expand(e, one, 1, key->type->dims);
    IG_TRY(e->status);
    ig_value *lengths = ig_compose_add_rows(e, ones, key, keys);
    ig_value *order = sorted_order(e, key);
    ig_value *ids = ig_compose_take_rows(e, ig_expr_like(e, p->next, p->ids), order);
    IG_TRY(ig_ts_give(call, 0, ig_expr_like(e, lengths, p->lengths)));
    IG_TRY(ig_ts_give(call, 1, ids));
    ig_value *weights = p->weights ? ig_compose_take_rows(e, p->weights, order) : NULL;
    IG_TRY(give_or_none(call, 2, weights, weights != NULL));
    ig_value *position = NULL;
    if (p->wants_position) {
        ig_value *begin = ig_compose_take_rows(e, p->offsets, p->bag);
        ig_value *at = ig_fb_positions(e, p->ids);
        position = ig_compose_take_rows(e, ig_build_sub(e, at, begin), order);
        position = ig_expr_like(e, position, p->ids);
    }
    IG_TRY(give_or_none(call, 3, position, p->wants_position));
    if (!has_order) {
        return IG_OK;
    }
    ig_value *where = p->wants_order ? sorted_order(e, order) : NULL;
    return give_or_none(call, 4, ig_expr_like(e, where, p->ids), p->wants_order);
}

/* ---- bucket and new id ---- */

/* Quotient and remainder of ids seen as unsigned, by i64 divisors above 0. */
typedef struct divided {
    ig_value *quotient, *rest;
} divided;

static divided divide_unsigned(ig_expr *e, ig_value *x, ig_value *by) {
    ig_value *u = ig_expr_cast(e, x, IG_DT_u64), *n = ig_expr_cast(e, by, IG_DT_u64);
    ig_value *quotient = ig_build_div(e, u, n);
    ig_value *rest = ig_build_sub(e, u, ig_build_mul(e, quotient, n));
    return (divided){ ig_expr_cast(e, quotient, IG_DT_i64),
                      ig_expr_cast(e, rest, IG_DT_i64) };
}

/* x as i64 that holds the unsigned value of its dtype. */
static ig_value *unsigned_ids(ig_expr *e, ig_value *ids) {
    if (!ids || ids->type->dtype != IG_DT_i32) {
        return ig_expr_cast(e, ids, IG_DT_i64);
    }
    ig_value *wide = ig_expr_cast(e, ids, IG_DT_i64);
    return ig_build_and(e, wide, ig_expr_integer(e, IG_DT_i64, 0xffffffff));
}

/* x < y, both seen as unsigned. */
static ig_value *is_below(ig_expr *e, ig_value *x, ig_value *y) {
    return ig_build_lt(e, ig_expr_cast(e, x, IG_DT_u64), ig_expr_cast(e, y, IG_DT_u64));
}

ig_status ig_ts_op_fb_bucketize(ig_ts_call *call) {
    enum { LENGTHS, IDS, POSITION, SIZE, WEIGHTS };
    partition p = { .call = call };
    p.lengths = ig_aten_tensor(call, LENGTHS);
    p.ids = ig_aten_tensor(call, IDS);
    p.weights = ig_aten_optional(call, WEIGHTS);
    p.wants_position = ig_aten_bool(call, POSITION);
    p.size = ig_aten_dim(call, SIZE);
    open_partition(&p, ig_dim_of(1));
    divided by = divide_unsigned(call->e, unsigned_ids(call->e, p.ids),
                                 ig_expr_dim(call->e, p.size, IG_DT_i64));
    p.bucket = by.rest;
    p.next = by.quotient;
    return give_partition(&p, false);
}

/* ---- blocks ---- */

enum {
    B_LENGTHS,
    B_IDS,
    B_POSITION,
    B_SEQUENCE,
    B_SIZES,
    B_SIZE,
    B_WEIGHTS,
    B_BATCHES,
    B_MAX,
    B_EDGES,
    B_REST /* the inference row has return_bucket_mapping here */
};

/* A tensor of one value per feature, as one value per element.  Elements after the
 * last bag, which are in no feature and never read, have that of the last feature. */
static ig_value *spread_over_elements(partition *p, ig_value *values) {
    ig_expr *e = p->call->e;
    ig_value *wide = ig_expr_flatten(e, ig_expr_cast(e, values, IG_DT_i64));
    ig_dim max = ig_dim_sub(e->module, ig_fb_extent(e, wide, 0), ig_dim_of(1));
    ig_value *feature = ig_build_min(e, p->feature, ig_expr_dim(e, max, IG_DT_i64));
    return ig_compose_take_rows(e, wide, feature);
}

static void find_features(partition *p, ig_value *sizes, ig_value *batches) {
    ig_expr *e = p->call->e;
    if (batches) {
        ig_value *wide = ig_expr_cast(e, ig_expr_flatten(e, batches), IG_DT_i64);
        ig_value *edges = ig_compose_running_sum(e, wide, IG_RUNNING_complete);
        p->feature = ig_compose_segment_of(e, edges, p->bag);
        return;
    }
    ig_dim count = ig_fb_extent(e, sizes, 0);
    ig_dim batch = ig_dim_exact_div(e->module, p->bags, count);
    ig_value *per = ig_build_max(e, ig_expr_dim(e, batch, IG_DT_i64),
                                 ig_expr_integer(e, IG_DT_i64, 1));
    p->feature = ig_build_div(e, p->bag, per);
}

/* Equal blocks: `blocks` of them in all, `local` in each bucket. */
static void assign_blocks(partition *p, ig_value *x, ig_value *block,
                          ig_value *blocks) {
    ig_expr *e = p->call->e;
    ig_value *size = ig_expr_dim(e, p->size, IG_DT_i64);
    ig_value *local = ig_build_div(e, blocks, size);
    ig_value *span = ig_build_mul(e, block, local);
    ig_value *is_in = is_below(e, x, ig_build_mul(e, block, blocks));
    ig_value *safe = ig_build_max(e, span, ig_expr_integer(e, IG_DT_i64, 1));
    divided inside = divide_unsigned(e, x, safe),
            outside = divide_unsigned(e, x, blocks);
    ig_value *far = ig_build_div(e, outside.rest, local);
    p->bucket = ig_build_where(e, is_in, inside.quotient, far);
    p->next = ig_build_where(e, is_in, inside.rest, outside.quotient);
}

/* Boundaries of one feature for all of its elements: where x is below the last one, the
 * bucket is that of the last boundary not above it. */
static void assign_edges(partition *p, ig_value *x, ig_value *edges, ig_value *block,
                         ig_value *blocks, divided *out) {
    ig_expr *e = p->call->e;
    ig_value *wide = ig_expr_cast(e, ig_expr_flatten(e, edges), IG_DT_i64);
    ig_value *last = ig_compose_last(e, wide), *zero = ig_expr_integer(e, IG_DT_i64, 0);
    divided hashed = divide_unsigned(e, x, blocks),
            outside = divide_unsigned(e, x, ig_expr_dim(e, p->size, IG_DT_i64));
    /* a block size of 0: ids have no bound, and are folded onto the boundaries */
    ig_value *is_open = ig_build_eq(e, block, zero);
    ig_value *folded = ig_build_div(e, ig_build_mul(e, hashed.rest, last), blocks);
    ig_value *target = ig_build_where(e, is_open, folded, x);
    ig_value *is_in = is_below(e, target, last);
    ig_value *safe = ig_build_where(e, is_in, target, zero);
    ig_value *above = ig_build_bucketize(e, safe, wide,
                                         (ig_bucketize_attrs){ .right = true });
    ig_value *bucket = ig_expr_with_integer(e, IG_OP_sub, above, 1);
    ig_value *lower = ig_build_max(e, bucket, zero);
    ig_value *next = ig_build_sub(e, x, ig_compose_take_rows(e, wide, lower));
    next = ig_build_where(e, is_open, hashed.quotient, next);
    ig_value *beyond = ig_build_where(e, is_open, hashed.quotient, outside.quotient);
    out->quotient = ig_build_where(e, is_in, lower, outside.rest);
    out->rest = ig_build_where(e, is_in, next, beyond);
}

static ig_status assign_all_edges(partition *p, ig_value *x, ig_value *block,
                                  ig_value *blocks) {
    ig_ts_call *call = p->call;
    ig_value **edges;
    uint32_t count;
    IG_TRY(ig_ts_tensors(call, B_EDGES + p->shift, &edges, &count));
    for (uint32_t i = 0; i < count; i++) {
        divided by = { NULL, NULL };
        assign_edges(p, x, edges[i], block, blocks, &by);
        ig_value *is_mine = ig_expr_with_integer(call->e, IG_OP_eq, p->feature, i);
        p->bucket = i ? ig_build_where(call->e, is_mine, by.quotient, p->bucket)
                      : by.quotient;
        p->next = i ? ig_build_where(call->e, is_mine, by.rest, p->next) : by.rest;
    }
    return count ? call->e->status
                 : ig_ts_fail(
                       call, IG_INVALID,
                       "block_bucketize_pos has 0 tensors, expected one per feature");
}

/* Ids that stay as they are: all, or those of some features. */
static ig_status keep_ids(partition *p, uint32_t keep, ig_value *x) {
    ig_value *some = ig_aten_optional(p->call, keep + 2);
    bool keeps = ig_aten_bool(p->call, keep);
    if (some) {
        ig_value *is_kept = ig_expr_with_integer(p->call->e, IG_OP_ne,
                                                 spread_over_elements(p, some), 0);
        p->next = ig_build_where(p->call->e, is_kept, x, p->next);
    } else if (keeps) {
        p->next = x;
    }
    return p->call->e->status;
}

static ig_status read_blocks(partition *p, ig_ts_call *call) {
    p->lengths = ig_aten_tensor(p->call, B_LENGTHS);
    p->ids = ig_aten_tensor(p->call, B_IDS);
    p->weights = ig_aten_optional(p->call, B_WEIGHTS);
    if (p->shift) { /* several weights per element */
        ig_dim dims[] = { ig_fb_extent(p->call->e, p->ids, 0), ig_dim_of(1) };
        dims[1] = ig_aten_dim(call, B_WEIGHTS + 1);
        p->weights = ig_expr_reshape(p->call->e, p->weights, 2, dims);
    }
    p->wants_position = ig_aten_bool(call, B_POSITION);
    p->wants_order = ig_aten_bool(call, B_SEQUENCE);
    return ig_ts_dim(call, B_SIZE, &p->size);
}

/* Variant 1 is the inference row: it may also give each element's bucket.  2: several
 * weights per element. */
ig_status ig_ts_op_fb_block_bucketize(ig_ts_call *call) {
    bool is_inference = call->row->variant == 1, wants_bucket = false;
    partition p = { .call = call, .shift = call->row->variant == 2 };
    uint32_t keep = B_REST + p.shift + is_inference;
    IG_TRY(read_blocks(&p, call));
    if (is_inference) {
        wants_bucket = ig_aten_bool(call, B_REST);
    }
    ig_value *sizes = ig_aten_tensor(call, B_SIZES);
    open_partition(&p, ig_fb_extent(call->e, sizes, 0));
    find_features(&p, sizes, ig_aten_optional(call, B_BATCHES + p.shift));
    ig_value *x = unsigned_ids(call->e, p.ids),
             *block = spread_over_elements(&p, sizes);
    ig_value *total = ig_aten_optional(call, keep + 1);
    ig_value *blocks = total ? spread_over_elements(&p, total)
                             : ig_expr_dim(call->e, p.size, IG_DT_i64);
    IG_TRY(call->e->status);
    if (ig_ts_is_none(call, B_EDGES + p.shift)) {
        assign_blocks(&p, x, block, blocks);
    } else {
        IG_TRY(assign_all_edges(&p, x, block, blocks));
    }
    IG_TRY(keep_ids(&p, keep, x));
    IG_TRY(give_partition(&p, true));
    return is_inference ? give_or_none(call, 5, ig_expr_like(call->e, p.bucket, p.ids),
                                       wants_bucket)
                        : IG_OK;
}

/* The target of each element, from the bucket of each: the inverse of a partition. */
ig_status ig_ts_op_fb_populate_permute(ig_ts_call *call) {
    partition p = { .call = call };
    p.lengths = ig_aten_tensor(call, 0);
    p.ids = ig_aten_tensor(call, 2);
    open_partition(&p, ig_dim_of(1));
    ig_value *bucket = ig_expr_cast(call->e, p.ids, IG_DT_i64);
    ig_value *base = ig_build_mul(call->e, bucket,
                                  ig_expr_dim(call->e, p.bags, IG_DT_i64));
    ig_value *order = sorted_order(call->e, ig_build_add(call->e, base, p.bag));
    ig_value *where = sorted_order(call->e, order);
    return ig_aten_give(call, ig_expr_like(call->e, where, p.ids));
}
