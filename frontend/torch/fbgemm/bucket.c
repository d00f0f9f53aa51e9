/* FBGEMM's bucketizers: ids dealt out to the parts of row-wise sharded tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every id gets a bucket and a new number in it (assign); elements are then put in the
 * order bucket, feature, bag, and within a bag in their old order (deal):
 *
 *     key       bucket * bags + bag of the element
 *     lengths'  how many elements have each key
 *     to        stable order of the elements by key
 *
 * Ids are unsigned: one of -1 is the largest there is.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

typedef struct deal {
    ig_fb fb;
    ig_value *lengths, *ids, *weights; /* ids as given */
    ig_value *bag;                     /* of each element */
    ig_value *offsets;
    ig_value *feature;       /* of each element */
    ig_value *bucket, *next; /* of each element; i64 */
    ig_dim bags, features, size;
    bool wants_place, wants_order;
    uint32_t shift; /* of the arguments behind the weights */
} deal;

/* ---- the order of elements ---- */

static void open_deal(deal *d, ig_dim features) {
    ig_fb *fb = &d->fb;
    d->bags = ig_fb_extent(fb, d->lengths, 0);
    d->features = features;
    ig_value *wide = ig_fb_cast(fb, d->lengths, IG_DT_i64);
    d->offsets = ig_fb_cumsum(fb, wide, IG_FB_COMPLETE);
    ig_value *at = ig_fb_range_dim(fb, ig_fb_extent(fb, d->ids, 0));
    d->bag = ig_fb_segment_of(fb, d->offsets, at);
}

static ig_value *sorted_order(ig_fb *fb, ig_value *key) {
    ig_attr attrs[IG_sort_attr_count] = { [IG_sort_axis] = ig_attr_of_int(0) };
    ig_op *op = NULL;
    ig_op_spec spec = { .operands = &key, .operand_count = 1, .attrs = attrs };
    if (!key || fb->status != IG_OK ||
        !ig_fb_try(fb, ig_build(fb->call->builder, IG_OP_sort, &spec, &op))) {
        return NULL;
    }
    return &op->results[1];
}

static ig_status give_or_none(ig_fb *fb, uint32_t result, ig_value *value, bool wants) {
    return wants ? ig_fb_give(fb, result, value) : ig_fb_give_none(fb, result);
}

/* Results 0 … 3 and, where the row has it, 4: lengths, ids, weights, place in the old
 * bag, where each element went. */
static ig_status give_deal(deal *d, bool has_order) {
    ig_fb *fb = &d->fb;
    ig_dim keys = ig_dim_mul(fb->call->module, d->bags, d->size);
    ig_value *base = ig_fb_2(fb, IG_OP_mul, d->bucket, ig_fb_dim(fb, d->bags));
    ig_value *key = ig_fb_2(fb, IG_OP_add, base, d->bag);
    ig_value *one = ig_fb_int(fb, 1), *ones = NULL;
    IG_TRY(fb->status);
    IG_TRY(ig_ts_full(fb->call, one, 1, key->type->dims, &ones));
    ig_value *lengths = ig_fb_add_at(fb, ones, key, keys);
    ig_value *order = sorted_order(fb, key);
    ig_value *ids = ig_fb_gather(fb, ig_fb_like(fb, d->next, d->ids), order, 0);
    IG_TRY(ig_fb_give(fb, 0, ig_fb_like(fb, lengths, d->lengths)));
    IG_TRY(ig_fb_give(fb, 1, ids));
    ig_value *weights = d->weights ? ig_fb_gather(fb, d->weights, order, 0) : NULL;
    IG_TRY(give_or_none(fb, 2, weights, weights != NULL));
    ig_value *place = NULL;
    if (d->wants_place) {
        ig_value *begin = ig_fb_gather(fb, d->offsets, d->bag, 0);
        ig_value *at = ig_fb_range_dim(fb, ig_fb_extent(fb, d->ids, 0));
        place = ig_fb_gather(fb, ig_fb_2(fb, IG_OP_sub, at, begin), order, 0);
        place = ig_fb_like(fb, place, d->ids);
    }
    IG_TRY(give_or_none(fb, 3, place, d->wants_place));
    if (!has_order) {
        return IG_OK;
    }
    ig_value *where = d->wants_order ? sorted_order(fb, order) : NULL;
    return give_or_none(fb, 4, ig_fb_like(fb, where, d->ids), d->wants_order);
}

/* ---- which bucket, which number ---- */

/* Quotient and remainder of ids seen as unsigned, by i64 numbers above 0. */
typedef struct divided {
    ig_value *quotient, *rest;
} divided;

static divided divide(ig_fb *fb, ig_value *x, ig_value *by) {
    ig_value *u = ig_fb_cast(fb, x, IG_DT_u64), *n = ig_fb_cast(fb, by, IG_DT_u64);
    ig_value *quotient = ig_fb_2(fb, IG_OP_div, u, n);
    ig_value *rest = ig_fb_2(fb, IG_OP_sub, u, ig_fb_2(fb, IG_OP_mul, quotient, n));
    return (divided){ ig_fb_cast(fb, quotient, IG_DT_i64),
                      ig_fb_cast(fb, rest, IG_DT_i64) };
}

/* x as i64 that holds the unsigned value of its dtype. */
static ig_value *unsigned_ids(ig_fb *fb, ig_value *ids) {
    if (!ids || ids->type->dtype != IG_DT_i32) {
        return ig_fb_cast(fb, ids, IG_DT_i64);
    }
    ig_value *wide = ig_fb_cast(fb, ids, IG_DT_i64);
    return ig_fb_2(fb, IG_OP_and, wide, ig_fb_int(fb, 0xffffffff));
}

/* x < y, both seen as unsigned. */
static ig_value *is_below(ig_fb *fb, ig_value *x, ig_value *y) {
    return ig_fb_2(fb, IG_OP_lt, ig_fb_cast(fb, x, IG_DT_u64),
                   ig_fb_cast(fb, y, IG_DT_u64));
}

ig_status ig_ts_op_fb_bucketize(ig_ts_call *call) {
    enum { LENGTHS, IDS, PLACE, SIZE, WEIGHTS };
    deal d = { .fb = ig_fb_open(call) };
    d.lengths = ig_fb_tensor(&d.fb, LENGTHS);
    d.ids = ig_fb_tensor(&d.fb, IDS);
    d.weights = ig_fb_optional(&d.fb, WEIGHTS);
    IG_TRY(ig_ts_bool(call, PLACE, &d.wants_place));
    IG_TRY(ig_ts_dim(call, SIZE, &d.size));
    open_deal(&d, ig_dim_of(1));
    divided by = divide(&d.fb, unsigned_ids(&d.fb, d.ids), ig_fb_dim(&d.fb, d.size));
    d.bucket = by.rest;
    d.next = by.quotient;
    return give_deal(&d, false);
}

/* ---- blocks ---- */

enum {
    B_LENGTHS,
    B_IDS,
    B_PLACE,
    B_SEQUENCE,
    B_SIZES,
    B_SIZE,
    B_WEIGHTS,
    B_BATCHES,
    B_MOST,
    B_EDGES,
    B_REST /* the inference row has return_bucket_mapping here */
};

/* A tensor of one number a feature, as one number an element. */
static ig_value *of_feature(deal *d, ig_value *numbers) {
    ig_value *wide = ig_fb_flat(&d->fb, ig_fb_cast(&d->fb, numbers, IG_DT_i64));
    return ig_fb_gather(&d->fb, wide, d->feature, 0);
}

static void find_features(deal *d, ig_value *sizes, ig_value *batches) {
    ig_fb *fb = &d->fb;
    if (batches) {
        ig_value *wide = ig_fb_cast(fb, ig_fb_flat(fb, batches), IG_DT_i64);
        ig_value *edges = ig_fb_cumsum(fb, wide, IG_FB_COMPLETE);
        d->feature = ig_fb_segment_of(fb, edges, d->bag);
        return;
    }
    ig_dim count = ig_fb_extent(fb, sizes, 0);
    ig_dim batch = ig_dim_exact_div(fb->call->module, d->bags, count);
    ig_value *per = ig_fb_2(fb, IG_OP_max, ig_fb_dim(fb, batch), ig_fb_int(fb, 1));
    d->feature = ig_fb_2(fb, IG_OP_div, d->bag, per);
}

/* Equal blocks: `blocks` of them in all, `local` in each bucket. */
static void assign_blocks(deal *d, ig_value *x, ig_value *block, ig_value *blocks) {
    ig_fb *fb = &d->fb;
    ig_value *size = ig_fb_dim(fb, d->size);
    ig_value *local = ig_fb_2(fb, IG_OP_div, blocks, size);
    ig_value *span = ig_fb_2(fb, IG_OP_mul, block, local);
    ig_value *is_in = is_below(fb, x, ig_fb_2(fb, IG_OP_mul, block, blocks));
    ig_value *safe = ig_fb_2(fb, IG_OP_max, span, ig_fb_int(fb, 1));
    divided inside = divide(fb, x, safe), outside = divide(fb, x, blocks);
    ig_value *far = ig_fb_2(fb, IG_OP_div, outside.rest, local);
    d->bucket = ig_fb_where(fb, is_in, inside.quotient, far);
    d->next = ig_fb_where(fb, is_in, inside.rest, outside.quotient);
}

/* Boundaries of one feature for all of its elements: where x is below the last one, the
 * bucket is that of the last boundary not above it. */
static void assign_edges(deal *d, ig_value *x, ig_value *edges, ig_value *block,
                         ig_value *blocks, divided *out) {
    ig_fb *fb = &d->fb;
    ig_value *wide = ig_fb_cast(fb, ig_fb_flat(fb, edges), IG_DT_i64);
    ig_value *last = ig_fb_last(fb, wide), *zero = ig_fb_int(fb, 0);
    divided hashed = divide(fb, x, blocks),
            outside = divide(fb, x, ig_fb_dim(fb, d->size));
    /* a block size of 0: ids have no bound, and are folded onto the boundaries */
    ig_value *is_open = ig_fb_2(fb, IG_OP_eq, block, zero);
    ig_value *folded = ig_fb_2(fb, IG_OP_div, ig_fb_2(fb, IG_OP_mul, hashed.rest, last),
                               blocks);
    ig_value *look = ig_fb_where(fb, is_open, folded, x);
    ig_value *is_in = is_below(fb, look, last);
    ig_value *safe = ig_fb_where(fb, is_in, look, zero);
    ig_attr right[IG_bucketize_attr_count] = { [IG_bucketize_right] =
                                                   ig_attr_of_bool(true) };
    ig_value *above = NULL, *operands[] = { safe, wide };
    if (!safe || !wide ||
        !ig_fb_try(
            fb, ig_ts_build(fb->call, IG_OP_bucketize, 2, operands, right, &above))) {
        return;
    }
    ig_value *bucket = ig_fb_with(fb, IG_OP_sub, above, 1);
    ig_value *lower = ig_fb_2(fb, IG_OP_max, bucket, zero);
    ig_value *next = ig_fb_2(fb, IG_OP_sub, x, ig_fb_gather(fb, wide, lower, 0));
    next = ig_fb_where(fb, is_open, hashed.quotient, next);
    ig_value *beyond = ig_fb_where(fb, is_open, hashed.quotient, outside.quotient);
    out->quotient = ig_fb_where(fb, is_in, lower, outside.rest);
    out->rest = ig_fb_where(fb, is_in, next, beyond);
}

static ig_status assign_all_edges(deal *d, ig_value *x, ig_value *block,
                                  ig_value *blocks) {
    ig_fb *fb = &d->fb;
    ig_value **edges;
    uint32_t count;
    IG_TRY(ig_ts_tensors(fb->call, B_EDGES + d->shift, &edges, &count));
    for (uint32_t i = 0; i < count; i++) {
        divided by = { NULL, NULL };
        assign_edges(d, x, edges[i], block, blocks, &by);
        ig_value *is_mine = ig_fb_with(fb, IG_OP_eq, d->feature, i);
        d->bucket = i ? ig_fb_where(fb, is_mine, by.quotient, d->bucket) : by.quotient;
        d->next = i ? ig_fb_where(fb, is_mine, by.rest, d->next) : by.rest;
    }
    return count ? fb->status
                 : ig_ts_fail(fb->call, IG_INVALID, "no boundaries of blocks");
}

/* Ids that keep their number: all, or those of some features. */
static ig_status keep_ids(deal *d, uint32_t keep, ig_value *x) {
    bool keeps = false;
    ig_value *some = ig_fb_optional(&d->fb, keep + 2);
    IG_TRY(ig_ts_bool(d->fb.call, keep, &keeps));
    if (some) {
        ig_value *is_kept = ig_fb_with(&d->fb, IG_OP_ne, of_feature(d, some), 0);
        d->next = ig_fb_where(&d->fb, is_kept, x, d->next);
    } else if (keeps) {
        d->next = x;
    }
    return d->fb.status;
}

static ig_status read_blocks(deal *d, ig_ts_call *call) {
    d->lengths = ig_fb_tensor(&d->fb, B_LENGTHS);
    d->ids = ig_fb_tensor(&d->fb, B_IDS);
    d->weights = ig_fb_optional(&d->fb, B_WEIGHTS);
    if (d->shift) { /* so many weights an element */
        ig_dim dims[] = { ig_fb_extent(&d->fb, d->ids, 0), ig_dim_of(1) };
        IG_TRY(ig_ts_dim(call, B_WEIGHTS + 1, &dims[1]));
        d->weights = ig_fb_reshape(&d->fb, d->weights, 2, dims);
    }
    IG_TRY(ig_ts_bool(call, B_PLACE, &d->wants_place));
    IG_TRY(ig_ts_bool(call, B_SEQUENCE, &d->wants_order));
    return ig_ts_dim(call, B_SIZE, &d->size);
}

/* Variant 1 is the inference row: it may also tell each element's bucket.  2: several
 * weights an element. */
ig_status ig_ts_op_fb_block_bucketize(ig_ts_call *call) {
    bool is_inference = call->row->variant == 1, wants_bucket = false;
    deal d = { .fb = ig_fb_open(call), .shift = call->row->variant == 2 };
    uint32_t keep = B_REST + d.shift + is_inference;
    ig_fb *fb = &d.fb;
    IG_TRY(read_blocks(&d, call));
    if (is_inference) {
        IG_TRY(ig_ts_bool(call, B_REST, &wants_bucket));
    }
    ig_value *sizes = ig_fb_tensor(fb, B_SIZES);
    open_deal(&d, ig_fb_extent(fb, sizes, 0));
    find_features(&d, sizes, ig_fb_optional(fb, B_BATCHES + d.shift));
    ig_value *x = unsigned_ids(fb, d.ids), *block = of_feature(&d, sizes);
    ig_value *total = ig_fb_optional(fb, keep + 1);
    ig_value *blocks = total ? of_feature(&d, total) : ig_fb_dim(fb, d.size);
    IG_TRY(fb->status);
    if (ig_ts_is_none(call, B_EDGES + d.shift)) {
        assign_blocks(&d, x, block, blocks);
    } else {
        IG_TRY(assign_all_edges(&d, x, block, blocks));
    }
    IG_TRY(keep_ids(&d, keep, x));
    IG_TRY(give_deal(&d, true));
    return is_inference
               ? give_or_none(fb, 5, ig_fb_like(fb, d.bucket, d.ids), wants_bucket)
               : IG_OK;
}

/* Where each element went, from the bucket of each: the inverse of a deal. */
ig_status ig_ts_op_fb_populate_permute(ig_ts_call *call) {
    deal d = { .fb = ig_fb_open(call) };
    d.lengths = ig_fb_tensor(&d.fb, 0);
    d.ids = ig_fb_tensor(&d.fb, 2);
    open_deal(&d, ig_dim_of(1));
    ig_value *bucket = ig_fb_cast(&d.fb, d.ids, IG_DT_i64);
    ig_value *base = ig_fb_2(&d.fb, IG_OP_mul, bucket, ig_fb_dim(&d.fb, d.bags));
    ig_value *order = sorted_order(&d.fb, ig_fb_2(&d.fb, IG_OP_add, base, d.bag));
    ig_value *where = sorted_order(&d.fb, order);
    return ig_fb_give(&d.fb, 0, ig_fb_like(&d.fb, where, d.ids));
}
