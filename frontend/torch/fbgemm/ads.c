/* FBGEMM's reordering of the ads of a batch, calibration, and unary embeddings.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ads come request by request (batch b has ads batch_offsets[b] … [b + 1]), and within
 * a request table by table; reordered they are table by table, over all ads:
 *
 *     segment s of the result       table t = s / ads, ad a = s % ads, of batch b
 *     comes from the input's        tables * begin[b] + t * count[b] + (a - begin[b])
 *     or, one for all ads of b,     tables * b + t
 *
 * With a max_batch_size each table has so many segments, empty ones behind its ads'.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include <math.h>

/* ---- reordering ---- */

typedef struct reorder {
    ig_fb fb;
    ig_value *edges; /* i64 [batches + 1] */
    ig_dim ads, tables;
    ig_dim row;     /* segments of a table in the result: ads, or more, empty ones */
    bool is_shared; /* one segment for all ads of a request */
} reorder;

/* max_batch_size: 0, or the segments that each table has in the result. */
static ig_status read_row(reorder *r, uint32_t index) {
    ig_ts_call *call = r->fb.call;
    r->row = r->ads;
    if (index >= call->arg_count) {
        return IG_OK;
    }
    ig_dim most;
    IG_TRY(ig_ts_dim(call, index, &most));
    if (ig_dim_equal(call->module, most, ig_dim_of(0)) == IG_YES) {
        return IG_OK;
    }
    if (r->is_shared) {
        return ig_ts_fail(call, IG_INVALID, "max_batch_size with shared segments");
    }
    r->row = most;
    return ig_ts_guard_less(call, r->ads, most, "max_batch_size holds all ads");
}

/* Segments of the input for segments of the result. */
static ig_value *sources(reorder *r, ig_value *segments) {
    ig_fb *fb = &r->fb;
    ig_value *row = ig_fb_dim(fb, r->row), *tables = ig_fb_dim(fb, r->tables);
    ig_value *table = ig_fb_2(fb, IG_OP_div, segments, row);
    ig_value *ad = ig_fb_2(fb, IG_OP_sub, segments, ig_fb_2(fb, IG_OP_mul, table, row));
    ig_value *last = ig_fb_dim(fb, ig_dim_sub(fb->call->module, r->ads, ig_dim_of(1)));
    ad = ig_fb_2(fb, IG_OP_min, ad, last); /* of an empty segment: any */
    ig_value *batch = ig_fb_segment_of(fb, r->edges, ad);
    if (r->is_shared) {
        return ig_fb_2(fb, IG_OP_add, ig_fb_2(fb, IG_OP_mul, batch, tables), table);
    }
    ig_value *begin = ig_fb_gather(fb, r->edges, batch, 0);
    ig_value *count = ig_fb_gather(fb, ig_fb_lengths(fb, r->edges), batch, 0);
    ig_value *from = ig_fb_2(fb, IG_OP_mul, begin, tables);
    from = ig_fb_2(fb, IG_OP_add, from, ig_fb_2(fb, IG_OP_mul, table, count));
    return ig_fb_2(fb, IG_OP_add, from, ig_fb_2(fb, IG_OP_sub, ad, begin));
}

/* Lengths of the result, 0 for a table's segments behind those of its ads. */
static ig_value *empty_beyond(reorder *r, ig_value *segments, ig_value *lengths) {
    ig_fb *fb = &r->fb;
    ig_value *ad = ig_fb_2(fb, IG_OP_mod, segments, ig_fb_dim(fb, r->row));
    ig_value *is_ad = ig_fb_2(fb, IG_OP_lt, ad, ig_fb_dim(fb, r->ads));
    ig_value *none = ig_fb_like(fb, ig_fb_int(fb, 0), lengths);
    return ig_fb_where(fb, is_ad, lengths, none);
}

ig_status ig_ts_op_fb_reorder_lengths(ig_ts_call *call) {
    enum { LENGTHS, EDGES, ADS, SHARED, MOST };
    reorder r = { .fb = ig_fb_open(call) };
    ig_value *lengths = ig_fb_tensor(&r.fb, LENGTHS);
    r.edges = ig_fb_arg(&r.fb, EDGES, IG_DT_i64);
    IG_TRY(ig_ts_dim(call, ADS, &r.ads));
    IG_TRY(ig_ts_bool(call, SHARED, &r.is_shared));
    IG_TRY(read_row(&r, MOST));
    ig_dim batches = ig_dim_sub(call->module, ig_fb_extent(&r.fb, r.edges, 0),
                                ig_dim_of(1));
    ig_dim extent = ig_fb_extent(&r.fb, lengths, 0);
    r.tables = ig_dim_exact_div(call->module, extent, r.is_shared ? batches : r.ads);
    ig_dim count = ig_dim_mul(call->module, r.tables, r.row);
    ig_value *segments = ig_fb_range_dim(&r.fb, count);
    ig_value *out = ig_fb_gather(&r.fb, lengths, sources(&r, segments), 0);
    if (!ig_dim_same(r.row, r.ads)) {
        out = empty_beyond(&r, segments, out);
    }
    return ig_fb_give(&r.fb, 0, out);
}

/* Items of the result: those of the segments, one behind the other. */
static ig_value *reorder_items(reorder *r, ig_value *items, ig_value *begins,
                               ig_value *offsets, ig_value *count) {
    ig_fb *fb = &r->fb;
    ig_dim segments = ig_dim_sub(fb->call->module, ig_fb_extent(fb, offsets, 0),
                                 ig_dim_of(1));
    r->tables = ig_dim_exact_div(fb->call->module, segments, r->row);
    ig_value *at = ig_fb_range(fb, count);
    ig_value *segment = ig_fb_segment_of(fb, offsets, at);
    ig_value *from = ig_fb_gather(fb, begins, sources(r, segment), 0);
    from = ig_fb_2(fb, IG_OP_add, from, at);
    from = ig_fb_2(fb, IG_OP_sub, from, ig_fb_gather(fb, offsets, segment, 0));
    return ig_fb_gather(fb, items, from, 0);
}

/* Variant 1: a list of indices, and their number behind the flag; 2: rows of
 * embeddings, without flags. */
ig_status ig_ts_op_fb_reorder_indices(ig_ts_call *call) {
    enum { BEGINS, ITEMS, OFFSETS, EDGES, ADS, SHARED, COUNT, PINNED, MOST };
    reorder r = { .fb = ig_fb_open(call) };
    ig_value *begins = ig_fb_arg(&r.fb, BEGINS, IG_DT_i64), *items = NULL,
             **list = NULL;
    ig_value *offsets = ig_fb_arg(&r.fb, OFFSETS, IG_DT_i64);
    uint32_t count = 0;
    r.edges = ig_fb_arg(&r.fb, EDGES, IG_DT_i64);
    IG_TRY(ig_ts_dim(call, ADS, &r.ads));
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_tensors(call, ITEMS, &list, &count));
        items = ig_fb_concat(&r.fb, list, count, 0);
    } else {
        items = ig_fb_tensor(&r.fb, ITEMS);
    }
    if (call->row->variant != 2) {
        IG_TRY(ig_ts_bool(call, SHARED, &r.is_shared));
    }
    IG_TRY(read_row(&r, MOST));
    ig_value *total = r.is_shared ? ig_fb_last(&r.fb, offsets)
                                  : ig_fb_dim(&r.fb, ig_fb_extent(&r.fb, items, 0));
    return ig_fb_give(&r.fb, 0, reorder_items(&r, items, begins, offsets, total));
}

/* ---- calibration by bins ---- */

typedef struct bins {
    ig_value *logit, *examples, *positives; /* f64 */
    double weight, low, high, ctr_weight;
    int64_t in_use_after;
} bins;

/* sigmoid(logit + log weight), in f64. */
static ig_value *uncalibrated(ig_fb *fb, const bins *c) {
    ig_value *x = ig_fb_cast(fb, c->logit, IG_DT_f64);
    ig_value *shift = ig_fb_number(fb, IG_DT_f64, log(c->weight));
    return ig_fb_1(fb, IG_OP_sigmoid, ig_fb_2(fb, IG_OP_add, x, shift));
}

/* Bins of equal width, counted by their upper ends. */
static ig_value *bin_by_width(ig_fb *fb, const bins *c, ig_value *x, ig_dim count) {
    ig_value *width = ig_fb_number(fb, IG_DT_f64, c->high - c->low);
    ig_value *step = ig_fb_2(fb, IG_OP_div, width,
                             ig_fb_cast(fb, ig_fb_dim(fb, count), IG_DT_f64));
    ig_value *upper = ig_fb_1(fb, IG_OP_ceil, ig_fb_2(fb, IG_OP_div, x, step));
    return ig_fb_with(fb, IG_OP_sub, ig_fb_cast(fb, upper, IG_DT_i64), 1);
}

/* Bins that saw enough examples pull the prediction to their own rate. */
static ig_status give_calibrated(ig_fb *fb, const bins *c, ig_value *x, ig_value *bin) {
    ig_value *seen = ig_fb_gather(fb, ig_fb_cast(fb, c->examples, IG_DT_f64), bin, 0);
    ig_value *hits = ig_fb_gather(fb, ig_fb_cast(fb, c->positives, IG_DT_f64), bin, 0);
    ig_value *rate = ig_fb_2(fb, IG_OP_div, hits, seen);
    rate = ig_fb_2(fb, IG_OP_mul, rate, ig_fb_number(fb, IG_DT_f64, c->ctr_weight));
    ig_value *own = ig_fb_2(fb, IG_OP_mul, x,
                            ig_fb_number(fb, IG_DT_f64, 1 - c->ctr_weight));
    ig_value *bound = ig_fb_number(fb, IG_DT_f64, (double)c->in_use_after);
    ig_value *is_used = ig_fb_2(fb, IG_OP_gt, seen, bound);
    ig_value *y = ig_fb_where(fb, is_used, ig_fb_2(fb, IG_OP_add, rate, own), x);
    IG_TRY(ig_fb_give(fb, 0, ig_fb_like(fb, y, c->logit)));
    return ig_fb_give(fb, 1, bin);
}

/* The four numbers from argument `first` on; without ends they are two. */
static ig_status read_bins(ig_ts_call *call, bins *c, uint32_t first, bool has_ends) {
    IG_TRY(ig_ts_float(call, first++, &c->weight));
    if (has_ends) {
        IG_TRY(ig_ts_float(call, first++, &c->low));
        IG_TRY(ig_ts_float(call, first++, &c->high));
    }
    IG_TRY(ig_ts_int(call, first++, &c->in_use_after));
    return ig_ts_float(call, first, &c->ctr_weight);
}

ig_status ig_ts_op_fb_calibrate(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    bins c = { .logit = ig_fb_tensor(&fb, 0),
               .examples = ig_fb_tensor(&fb, 1),
               .positives = ig_fb_tensor(&fb, 2) };
    IG_TRY(read_bins(call, &c, 3, true));
    ig_value *x = uncalibrated(&fb, &c);
    ig_dim count = ig_fb_extent(&fb, c.examples, 0);
    return give_calibrated(&fb, &c, x, bin_by_width(&fb, &c, x, count));
}

/* The first bin of each logit's segment: a logit with one value is of segment value +
 * 1, all others, and segments beyond the last, are of 0. */
static ig_value *first_bins(ig_fb *fb, ig_dim bins_each) {
    enum { VALUES = 1, LENGTHS, SEGMENTS };
    ig_value *values = ig_fb_arg(fb, VALUES, IG_DT_i64);
    ig_value *lengths = ig_fb_arg(fb, LENGTHS, IG_DT_i64);
    ig_value *segments = ig_fb_size(fb, SEGMENTS), *zero = ig_fb_int(fb, 0);
    ig_value *at = ig_fb_cumsum(fb, lengths, IG_FB_EXCLUSIVE);
    ig_value *is_one = ig_fb_with(fb, IG_OP_eq, lengths, 1);
    ig_value *padded[] = { values, ig_fb_ints(fb, (int64_t[]){ -1 }, 1) };
    at = ig_fb_where(fb, is_one, at, ig_fb_dim(fb, ig_fb_extent(fb, values, 0)));
    ig_value *segment = ig_fb_gather(fb, ig_fb_concat(fb, padded, 2, 0), at, 0);
    segment = ig_fb_with(fb, IG_OP_add, segment, 1);
    ig_value *is_beyond = ig_fb_2(fb, IG_OP_gt, segment, segments);
    segment = ig_fb_where(fb, is_beyond, zero, ig_fb_with(fb, IG_OP_max, segment, 0));
    return ig_fb_2(fb, IG_OP_mul, segment, ig_fb_dim(fb, bins_each));
}

/* Variant 1: bins between given boundaries. */
ig_status ig_ts_op_fb_calibrate_by_feature(ig_ts_call *call) {
    enum { LOGIT, EXAMPLES = 4, POSITIVES, BINS, WEIGHT };
    ig_fb fb = ig_fb_open(call);
    bool has_edges = call->row->variant == 1;
    ig_dim count = ig_dim_of(0);
    ig_value *bin = NULL;
    bins c = { .logit = ig_fb_tensor(&fb, LOGIT),
               .examples = ig_fb_tensor(&fb, EXAMPLES),
               .positives = ig_fb_tensor(&fb, POSITIVES) };
    IG_TRY(read_bins(call, &c, WEIGHT, !has_edges));
    ig_value *x = uncalibrated(&fb, &c);
    if (has_edges) {
        ig_value *operands[] = { x, ig_fb_arg(&fb, BINS, IG_DT_f64) };
        IG_TRY(fb.status);
        IG_TRY(ig_ts_build(call, IG_OP_bucketize, 2, operands, NULL, &bin));
        count = ig_dim_add(call->module, operands[1]->type->dims[0], ig_dim_of(1));
    } else {
        IG_TRY(ig_ts_dim(call, BINS, &count));
        bin = bin_by_width(&fb, &c, x, count);
    }
    return give_calibrated(&fb, &c, x,
                           ig_fb_2(&fb, IG_OP_add, bin, first_bins(&fb, count)));
}

/* ---- unary embeddings ---- */

/* weight [tasks, rows, 1] over tables [T + 1] of rows; bags of ids as of a look-up,
 * table by table: [tasks, batch, T]. */
ig_status ig_ts_op_fb_unary(ig_ts_call *call) {
    enum { WEIGHT, TABLES, OFFSETS, IDS };
    ig_fb fb = ig_fb_open(call);
    ig_module *module = call->module;
    const int64_t swap[] = { 1, 0 }, turn[] = { 2, 1, 0 };
    ig_value *weight = ig_fb_tensor(&fb, WEIGHT), *ids = ig_fb_arg(&fb, IDS, IG_DT_i64);
    ig_value *begins = ig_fb_arg(&fb, TABLES, IG_DT_i64);
    ig_value *offsets = ig_fb_arg(&fb, OFFSETS, IG_DT_i64);
    ig_dim tables = ig_dim_sub(module, ig_fb_extent(&fb, begins, 0), ig_dim_of(1));
    ig_dim bags = ig_dim_sub(module, ig_fb_extent(&fb, offsets, 0), ig_dim_of(1));
    ig_dim batch = ig_dim_exact_div(module, bags, tables);
    ig_dim tasks = ig_fb_extent(&fb, weight, 0), rows = ig_fb_extent(&fb, weight, 1);
    ig_value *bag = ig_fb_segment_of(&fb, offsets,
                                     ig_fb_range_dim(&fb, ig_fb_extent(&fb, ids, 0)));
    ig_value *table = ig_fb_2(&fb, IG_OP_div, bag, ig_fb_dim(&fb, batch));
    ig_value *row = ig_fb_2(&fb, IG_OP_add, ids, ig_fb_gather(&fb, begins, table, 0));
    weight = ig_fb_reshape(&fb, weight, 2, (ig_dim[]){ tasks, rows });
    ig_value *picked = ig_fb_gather(&fb, ig_fb_transpose(&fb, weight, swap), row, 0);
    /* ids behind the last bag go to a row that is cut off */
    ig_value *sums = ig_fb_add_at(&fb, picked, bag,
                                  ig_dim_add(module, bags, ig_dim_of(1)));
    sums = ig_fb_slice(&fb, sums, 0, ig_dim_of(0), bags);
    sums = ig_fb_reshape(&fb, sums, 3, (ig_dim[]){ tables, batch, tasks });
    return ig_fb_give(&fb, 0, ig_fb_transpose(&fb, sums, turn));
}
