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
 * With a max_batch_size each table has as many segments, empty ones after its ads'.
 */
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <math.h>

/* ---- reordering ---- */

typedef struct reorder {
    ig_ts_call *call;
    ig_value *edges; /* i64 [batches + 1] */
    ig_dim ads, tables;
    ig_dim row;     /* segments of a table in the result: ads, or more, empty ones */
    bool is_shared; /* one segment for all ads of a request */
} reorder;

/* max_batch_size: 0, or the segments that each table has in the result. */
static ig_status read_row(reorder *r, uint32_t index) {
    ig_ts_call *call = r->call;
    r->row = r->ads;
    if (index >= call->arg_count) {
        return IG_OK;
    }
    ig_dim max = ig_aten_dim(call, index);
    if (ig_dim_equal(call->module, max, ig_dim_of(0)) == IG_YES) {
        return IG_OK;
    }
    if (r->is_shared) {
        return ig_ts_fail(call, IG_INVALID, "max_batch_size with shared segments");
    }
    r->row = max;
    ig_expr_guard_less_equal(call->e, r->ads, max, "max_batch_size holds all ads");
    return call->e->status;
}

/* Segments of the input for segments of the result. */
static ig_value *find_sources(reorder *r, ig_value *segments) {
    ig_expr *e = r->call->e;
    ig_value *row = ig_expr_dim(e, r->row, IG_DT_i64),
             *tables = ig_expr_dim(e, r->tables, IG_DT_i64);
    ig_value *table = ig_build_div(e, segments, row);
    ig_value *ad = ig_build_sub(e, segments, ig_build_mul(e, table, row));
    ig_value *last = ig_expr_dim(e, ig_dim_sub(e->module, r->ads, ig_dim_of(1)),
                                 IG_DT_i64);
    ad = ig_build_min(e, ad, last); /* of an empty segment: any */
    ig_value *batch = ig_compose_segment_of(e, r->edges, ad);
    if (r->is_shared) {
        return ig_build_add(e, ig_build_mul(e, batch, tables), table);
    }
    ig_value *begin = ig_compose_take_rows(e, r->edges, batch);
    ig_value *count = ig_compose_take_rows(e, ig_compose_segment_lengths(e, r->edges),
                                           batch);
    ig_value *from = ig_build_mul(e, begin, tables);
    from = ig_build_add(e, from, ig_build_mul(e, table, count));
    return ig_build_add(e, from, ig_build_sub(e, ad, begin));
}

/* Lengths of the result, 0 for a table's segments after those of its ads. */
static ig_value *empty_beyond(reorder *r, ig_value *segments, ig_value *lengths) {
    ig_expr *e = r->call->e;
    ig_value *ad = ig_expr_map2(e, IG_OP_mod, segments,
                                ig_expr_dim(e, r->row, IG_DT_i64));
    ig_value *is_ad = ig_build_lt(e, ad, ig_expr_dim(e, r->ads, IG_DT_i64));
    ig_value *none = ig_expr_like(e, ig_expr_integer(e, IG_DT_i64, 0), lengths);
    return ig_build_where(e, is_ad, lengths, none);
}

ig_status ig_ts_op_fb_reorder_lengths(ig_ts_call *call) {
    enum { LENGTHS, EDGES, ADS, SHARED, MAX };
    reorder r = { .call = call };
    ig_value *lengths = ig_aten_tensor(call, LENGTHS);
    r.edges = ig_fb_arg(call, EDGES, IG_DT_i64);
    r.ads = ig_aten_dim(call, ADS);
    r.is_shared = ig_aten_bool(call, SHARED);
    IG_TRY(read_row(&r, MAX));
    ig_dim batches = ig_fb_segments(call->e, r.edges);
    ig_dim extent = ig_fb_extent(call->e, lengths, 0);
    r.tables = ig_dim_exact_div(call->module, extent, r.is_shared ? batches : r.ads);
    ig_dim count = ig_dim_mul(call->module, r.tables, r.row);
    ig_value *segments = ig_expr_iota(call->e, IG_DT_i64, count);
    ig_value *out = ig_compose_take_rows(call->e, lengths, find_sources(&r, segments));
    if (!ig_dim_same(r.row, r.ads)) {
        out = empty_beyond(&r, segments, out);
    }
    return ig_aten_give(call, out);
}

/* Items of the result: those of the segments, one after the other. */
static ig_value *reorder_items(reorder *r, ig_value *items, ig_value *begins,
                               ig_value *offsets, ig_value *count) {
    ig_expr *e = r->call->e;
    ig_dim segments = ig_fb_segments(e, offsets);
    r->tables = ig_dim_exact_div(e->module, segments, r->row);
    ig_value *at = ig_fb_range(e, count);
    ig_value *segment = ig_compose_segment_of(e, offsets, at);
    ig_value *from = ig_compose_take_rows(e, begins, find_sources(r, segment));
    from = ig_build_add(e, from, at);
    from = ig_build_sub(e, from, ig_compose_take_rows(e, offsets, segment));
    return ig_compose_take_rows(e, items, from);
}

/* Variant 1: a list of indices, and their count after the flag; 2: rows of
 * embeddings, without flags. */
ig_status ig_ts_op_fb_reorder_indices(ig_ts_call *call) {
    enum { BEGINS, ITEMS, OFFSETS, EDGES, ADS, SHARED, COUNT, PINNED, MAX };
    reorder r = { .call = call };
    ig_value *begins = ig_fb_arg(call, BEGINS, IG_DT_i64), *items = NULL, **list = NULL;
    ig_value *offsets = ig_fb_arg(call, OFFSETS, IG_DT_i64);
    uint32_t count = 0;
    r.edges = ig_fb_arg(call, EDGES, IG_DT_i64);
    r.ads = ig_aten_dim(call, ADS);
    if (call->row->variant == 1) {
        IG_TRY(ig_ts_tensors(call, ITEMS, &list, &count));
        if (count == 0) {
            return ig_ts_fail(call, IG_INVALID,
                              "reorders 0 tensors of indices, expected 1 or more");
        }
        items = ig_expr_concat(call->e, 0, list, count);
    } else {
        items = ig_aten_tensor(call, ITEMS);
    }
    if (call->row->variant != 2) {
        r.is_shared = ig_aten_bool(call, SHARED);
    }
    IG_TRY(read_row(&r, MAX));
    ig_value *total =
        r.is_shared ? ig_compose_last(call->e, offsets)
                    : ig_expr_dim(call->e, ig_fb_extent(call->e, items, 0), IG_DT_i64);
    return ig_aten_give(call, reorder_items(&r, items, begins, offsets, total));
}

/* ---- calibration by bins ---- */

typedef struct bins {
    ig_value *logit, *examples, *positives; /* f64 */
    double weight, low, high, ctr_weight;
    int64_t in_use_after;
} bins;

/* sigmoid(logit + log weight), in f64. */
static ig_value *predict_uncalibrated(ig_expr *e, const bins *c) {
    ig_value *x = ig_expr_cast(e, c->logit, IG_DT_f64);
    ig_value *shift = ig_expr_number(e, IG_DT_f64, log(c->weight));
    return ig_build_sigmoid(e, ig_build_add(e, x, shift));
}

/* Bins of equal width, counted by their upper ends. */
static ig_value *bin_by_width(ig_expr *e, const bins *c, ig_value *x, ig_dim count) {
    ig_value *width = ig_expr_number(e, IG_DT_f64, c->high - c->low);
    ig_value *step = ig_build_div(
        e, width, ig_expr_cast(e, ig_expr_dim(e, count, IG_DT_i64), IG_DT_f64));
    ig_value *upper = ig_build_ceil(e, ig_build_div(e, x, step));
    return ig_expr_with_integer(e, IG_OP_sub, ig_expr_cast(e, upper, IG_DT_i64), 1);
}

/* Bins that saw enough examples pull the prediction to their own rate. */
static ig_status give_calibrated(ig_ts_call *call, const bins *c, ig_value *x,
                                 ig_value *bin) {
    ig_expr *e = call->e;
    ig_value *seen = ig_compose_take_rows(e, ig_expr_cast(e, c->examples, IG_DT_f64),
                                          bin);
    ig_value *hits = ig_compose_take_rows(e, ig_expr_cast(e, c->positives, IG_DT_f64),
                                          bin);
    ig_value *rate = ig_build_div(e, hits, seen);
    rate = ig_build_mul(e, rate, ig_expr_number(e, IG_DT_f64, c->ctr_weight));
    ig_value *own = ig_build_mul(e, x, ig_expr_number(e, IG_DT_f64, 1 - c->ctr_weight));
    ig_value *bound = ig_expr_number(e, IG_DT_f64, (double)c->in_use_after);
    ig_value *is_used = ig_build_gt(e, seen, bound);
    ig_value *y = ig_build_where(e, is_used, ig_build_add(e, rate, own), x);
    return ig_aten_give2(call, ig_expr_like(e, y, c->logit), bin);
}

/* The four numbers from argument `first` on; without ends they are two. */
static ig_status read_bins(ig_ts_call *call, bins *c, uint32_t first, bool has_ends) {
    c->weight = ig_aten_float(call, first++);
    if (has_ends) {
        c->low = ig_aten_float(call, first++);
        c->high = ig_aten_float(call, first++);
    }
    c->in_use_after = ig_aten_int(call, first++);
    return ig_ts_float(call, first, &c->ctr_weight);
}

ig_status ig_ts_op_fb_calibrate(ig_ts_call *call) {
    bins c = { .logit = ig_aten_tensor(call, 0),
               .examples = ig_aten_tensor(call, 1),
               .positives = ig_aten_tensor(call, 2) };
    IG_TRY(read_bins(call, &c, 3, true));
    ig_value *x = predict_uncalibrated(call->e, &c);
    ig_dim count = ig_fb_extent(call->e, c.examples, 0);
    return give_calibrated(call, &c, x, bin_by_width(call->e, &c, x, count));
}

/* The first bin of each logit's segment: a logit with one value is of segment value +
 * 1, all others, and segments beyond the last, are of 0. */
static ig_value *first_bins(ig_ts_call *call, ig_dim bins_each) {
    enum { VALUES = 1, LENGTHS, SEGMENTS };
    ig_expr *e = call->e;
    ig_value *values = ig_fb_arg(call, VALUES, IG_DT_i64);
    ig_value *lengths = ig_fb_arg(call, LENGTHS, IG_DT_i64);
    ig_value *segments = ig_fb_size(call, SEGMENTS),
             *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *at = ig_compose_running_sum(e, lengths, IG_RUNNING_exclusive);
    ig_value *is_one = ig_expr_with_integer(e, IG_OP_eq, lengths, 1);
    ig_value *padded[] = { values, ig_expr_ints(e, (int64_t[]){ -1 }, 1) };
    at = ig_build_where(e, is_one, at,
                        ig_expr_dim(e, ig_fb_extent(e, values, 0), IG_DT_i64));
    ig_value *segment = ig_compose_take_rows(e, ig_expr_concat(e, 0, padded, 2), at);
    segment = ig_expr_with_integer(e, IG_OP_add, segment, 1);
    ig_value *is_beyond = ig_build_gt(e, segment, segments);
    segment = ig_build_where(e, is_beyond, zero,
                             ig_expr_with_integer(e, IG_OP_max, segment, 0));
    return ig_build_mul(e, segment, ig_expr_dim(e, bins_each, IG_DT_i64));
}

/* Variant 1: bins between given boundaries. */
ig_status ig_ts_op_fb_calibrate_by_feature(ig_ts_call *call) {
    enum { LOGIT, EXAMPLES = 4, POSITIVES, BINS, WEIGHT };
    bool has_edges = call->row->variant == 1;
    ig_dim count = ig_dim_of(0);
    ig_value *bin = NULL;
    bins c = { .logit = ig_aten_tensor(call, LOGIT),
               .examples = ig_aten_tensor(call, EXAMPLES),
               .positives = ig_aten_tensor(call, POSITIVES) };
    IG_TRY(read_bins(call, &c, WEIGHT, !has_edges));
    ig_value *x = predict_uncalibrated(call->e, &c);
    if (has_edges) {
        ig_value *operands[] = { x, ig_fb_arg(call, BINS, IG_DT_f64) };
        bin = ig_expr_make(call->e, IG_OP_bucketize, operands, 2, NULL);
        IG_TRY(call->e->status);
        count = ig_dim_add(call->module, ig_expr_extent(call->e, operands[1], 0),
                           ig_dim_of(1));
    } else {
        count = ig_aten_dim(call, BINS);
        bin = bin_by_width(call->e, &c, x, count);
    }
    return give_calibrated(call, &c, x,
                           ig_build_add(call->e, bin, first_bins(call, count)));
}

/* ---- unary embeddings ---- */

/* weight [tasks, rows, 1] over tables [T + 1] of rows; bags of ids as of a look-up,
 * table by table: [tasks, batch, T]. */
ig_status ig_ts_op_fb_unary(ig_ts_call *call) {
    enum { WEIGHT, TABLES, OFFSETS, IDS };
    ig_expr *e = call->e;
    ig_module *module = call->module;
    const int64_t swap[] = { 1, 0 }, turn[] = { 2, 1, 0 };
    ig_value *weight = ig_aten_tensor(call, WEIGHT),
             *ids = ig_fb_arg(call, IDS, IG_DT_i64);
    ig_value *begins = ig_fb_arg(call, TABLES, IG_DT_i64);
    ig_value *offsets = ig_fb_arg(call, OFFSETS, IG_DT_i64);
    ig_dim tables = ig_fb_segments(e, begins);
    ig_dim bags = ig_fb_segments(e, offsets);
    ig_dim batch = ig_dim_exact_div(module, bags, tables);
    ig_dim tasks = ig_fb_extent(e, weight, 0), rows = ig_fb_extent(e, weight, 1);
    ig_value *bag = ig_compose_segment_of(e, offsets, ig_fb_positions(e, ids));
    ig_value *table = ig_build_div(e, bag, ig_expr_dim(e, batch, IG_DT_i64));
    ig_value *row = ig_build_add(e, ids, ig_compose_take_rows(e, begins, table));
    weight = ig_expr_reshape(e, weight, 2, (ig_dim[]){ tasks, rows });
    ig_value *picked = ig_compose_take_rows(e, ig_expr_transpose(e, weight, swap), row);
    /* ids after the last bag go to a row that is cut off */
    ig_value *sums = ig_compose_add_rows(e, picked, bag,
                                         ig_dim_add(module, bags, ig_dim_of(1)));
    sums = ig_expr_slice(e, sums, 0, ig_dim_of(0), bags, 1);
    sums = ig_expr_reshape(e, sums, 3, (ig_dim[]){ tables, batch, tasks });
    return ig_aten_give(call, ig_expr_transpose(e, sums, turn));
}
