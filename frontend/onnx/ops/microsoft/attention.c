/* Attention of com.microsoft: packed projections, caches, rotated heads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/quantise.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/heads.h"

#include <math.h>

typedef ig_onnx_heads heads;

ig_attention ig_onnx_open_attention(ig_onnx_heads *h) {
    ig_attention a = { .q = h->q };
    a.k = ig_compose_repeat_heads(h->e, h->k, h->q);
    a.v = ig_compose_repeat_heads(h->e, h->v, h->q);
    a.mask = h->bias;
    double scale = ig_onnx_attr_float(h->node, "scale", 0);
    a.attrs.scale = scale != 0 ? scale : ig_compose_attention_scale(h->e, &a.q);
    return a;
}

ig_status ig_onnx_give_attention(ig_onnx_heads *h, ig_attention *a) {
    ig_value *y = ig_compose_attention(h->e, a);
    return ig_onnx_give(h->node, ig_compose_join_heads(h->e, y));
}

ig_value *ig_onnx_take_part(ig_expr *e, ig_value *x, uint32_t axis, const ig_dim *sizes,
                            uint32_t index) {
    ig_dim start = ig_dim_of(0);
    for (uint32_t i = 0; i < index; i++) {
        start = ig_dim_add(e->module, start, sizes[i]);
    }
    return ig_expr_slice(e, x, axis, start, sizes[index], 1);
}

/* 0 where `counts` (bool), else a large negative number: floats to add. */
static ig_value *as_bias(const heads *h, ig_value *counts) {
    double filter = ig_onnx_attr_float(h->node, "mask_filter_value", -10000);
    ig_dtype dtype = (ig_dtype)h->q->type->dtype;
    return ig_build_where(h->e, counts, ig_expr_number(h->e, dtype, 0),
                          ig_expr_number(h->e, dtype, filter));
}

static void add_to_bias(heads *h, ig_value *more) {
    h->bias = h->bias ? ig_build_add(h->e, h->bias, more) : more;
}

/* Entries first … first + B - 1 of a list, at least one of which is there, as [B]. */
static ig_value *take_entries(const heads *h, ig_value *list, ig_dim first) {
    ig_expr *e = h->e;
    ig_dim batch = ig_onnx_extent(e, h->q, 0);
    ig_value *at = ig_build_add(e, ig_expr_iota(e, IG_DT_i64, batch),
                                ig_expr_dim(e, first, IG_DT_i64));
    ig_dim last = ig_dim_sub(e->module, ig_onnx_extent(e, list, 0), ig_dim_of(1));
    at = ig_build_min(e, at, ig_expr_dim(e, last, IG_DT_i64));
    return ig_expr_gather(e, ig_expr_cast(e, list, IG_DT_i64), at, 0,
                          IG_NEGATIVE_error);
}

/* Which keys count by a list: the ends [B], ends and beginnings [2 B], or the ends with
 * two more lists [3 B + 2], which only packed rows need. */
static ig_value *count_between(const heads *h, ig_value *list) {
    ig_expr *e = h->e;
    ig_module *m = e->module;
    ig_dim batch = ig_onnx_extent(e, h->q, 0), count = ig_onnx_extent(e, list, 0);
    ig_dim twice = ig_dim_mul(m, batch, ig_dim_of(2));
    ig_dim thrice = ig_dim_add(m, ig_dim_add(m, twice, batch), ig_dim_of(2));
    ig_dim rest = ig_dim_mul(m, ig_dim_sub(m, count, batch),
                             ig_dim_sub(m, count, twice));
    rest = ig_dim_mul(m, rest, ig_dim_sub(m, count, thrice));
    ig_expr_guard_equal(
        e, rest, ig_dim_of(0),
        "the mask must have 1, 2 or 3 entries for each row of the batch");
    ig_value *at = ig_expr_axis_iota(e, 4, 3, ig_onnx_extent(e, h->k, 2));
    ig_value *ends = take_entries(h, list, ig_dim_of(0));
    ig_value *counts = ig_build_lt(e, at, ig_expr_unsqueeze_to(e, ends, 4));
    ig_truth has_starts = ig_dim_equal(m, count, twice);
    if (has_starts == IG_NO || ig_dim_equal(m, count, batch) == IG_YES) {
        return counts;
    }
    ig_value *starts = take_entries(h, list, batch);
    if (has_starts == IG_MAYBE) {
        ig_value *is_twice = ig_build_eq(e, ig_expr_dim(e, count, IG_DT_i64),
                                         ig_expr_dim(e, twice, IG_DT_i64));
        starts = ig_build_where(e, is_twice, starts, ig_expr_integer(e, IG_DT_i64, 0));
    }
    return ig_build_and(e, counts,
                        ig_build_ge(e, at, ig_expr_unsqueeze_to(e, starts, 4)));
}

/* Which keys count: by a list, or a mask [B, S] or [B, L, S] that is not 0. */
static void read_padding(heads *h, uint32_t index) {
    ig_expr *e = h->e;
    ig_value *mask = ig_onnx_in(h->node, index), *counts;
    if (!mask || !h->k) {
        return;
    }
    uint32_t rank = mask->type->rank;
    if (rank < 1 || rank > 3) {
        ig_onnx_fail(h->node, IG_UNSUPPORTED, "a mask of rank %u, expected 1 to 3",
                     rank);
        return;
    }
    if (rank == 1) {
        counts = count_between(h, mask);
    } else {
        counts = ig_expr_unsqueeze(e, ig_expr_with(e, IG_OP_ne, mask, 0), 1);
        counts = rank == 2 ? ig_expr_unsqueeze(e, counts, 1) : counts;
    }
    add_to_bias(h, as_bias(h, counts));
}

/* Keys or values after those of the past, which are a result. */
static ig_value *join_past(heads *h, ig_value *x, ig_value *past, uint32_t result) {
    if (past) {
        x = ig_expr_concat(h->e, 2, (ig_value *[]){ past, x }, 2);
    }
    if (result < h->node->output_count) {
        h->node->outputs[result] = x;
    }
    return x;
}

/* ---- MultiHeadAttention ---- */

enum { QUERY, KEY, VALUE, BIAS, PADDING, ADDED, PAST_KEY, PAST_VALUE };

/* Q, K or V [B, L, heads * E] with its part of the bias, as heads. */
static ig_value *split_biased(heads *h, ig_value *x, const ig_dim *sizes,
                              uint32_t index) {
    ig_value *bias = ig_onnx_in(h->node, BIAS);
    if (!x || x->type->rank != 3) {
        return x;
    }
    if (bias) {
        x = ig_build_add(h->e, x, ig_onnx_take_part(h->e, bias, 0, sizes, index));
    }
    return ig_compose_split_heads(h->e, x, h->count);
}

/* [B, L, heads * E], or [B, heads, L, E]. */
static bool is_split_or_whole(const ig_value *x) {
    return x->type->rank == 3 || x->type->rank == 4;
}

static void read_multi_head(heads *h) {
    ig_onnx_node *node = h->node;
    ig_expr *e = h->e;
    ig_value *in[] = { node->inputs[QUERY], ig_onnx_in(node, KEY),
                       ig_onnx_in(node, VALUE) };
    if (in[0]->type->rank == 5) { /* [B, L, heads, 3, E] */
        ig_value *all = ig_expr_transpose(e, in[0], (int64_t[]){ 3, 0, 2, 1, 4 });
        h->q = ig_expr_select(e, all, 0, ig_dim_of(0));
        h->k = ig_expr_select(e, all, 0, ig_dim_of(1));
        h->v = ig_expr_select(e, all, 0, ig_dim_of(2));
        return;
    }
    if (in[1] && in[1]->type->rank == 5) { /* [B, L, heads, 2, E] */
        ig_value *all = ig_expr_transpose(e, in[1], (int64_t[]){ 3, 0, 2, 1, 4 });
        in[1] = ig_expr_select(e, all, 0, ig_dim_of(0));
        in[2] = ig_expr_select(e, all, 0, ig_dim_of(1));
    }
    if (!in[1] || !in[2] || in[0]->type->rank != 3 || !is_split_or_whole(in[1]) ||
        !is_split_or_whole(in[2])) {
        ig_onnx_fail(node, IG_INVALID,
                     "needs queries of rank 3, and keys and values of rank 3 or 4");
        return;
    }
    ig_dim width = ig_onnx_extent(e, in[0], 2);
    ig_dim last = in[2]->type->rank == 3
                      ? ig_onnx_extent(e, in[2], 2)
                      : ig_dim_mul(e->module, ig_onnx_extent(e, in[2], 3),
                                   ig_dim_of(h->count));
    ig_dim sizes[] = { width, width, last };
    h->q = split_biased(h, in[0], sizes, 0);
    h->k = split_biased(h, in[1], sizes, 1);
    h->v = split_biased(h, in[2], sizes, 2);
}

ig_status ig_onnx_import_multi_head(ig_onnx_node *node) {
    heads h = { .node = node, .e = node->e };
    (void)ig_onnx_float_input(node, QUERY);
    h.count = ig_onnx_attr_between(node, "num_heads", 0, 1, INT32_MAX);
    IG_TRY(node->e->status);
    read_multi_head(&h);
    IG_TRY(node->e->status);
    h.k = join_past(&h, h.k, ig_onnx_in(node, PAST_KEY), 1);
    h.v = join_past(&h, h.v, ig_onnx_in(node, PAST_VALUE), 2);
    IG_TRY(node->e->status);
    read_padding(&h, PADDING);
    if (ig_onnx_in(node, ADDED)) {
        add_to_bias(&h, node->inputs[ADDED]);
    }
    ig_attention a = ig_onnx_open_attention(&h);
    IG_TRY(node->e->status);
    if (ig_onnx_attr_bool(node, "unidirectional", false)) {
        a.attrs.causal = true;
        ig_dim past = ig_dim_sub(node->e->module, ig_onnx_extent(node->e, h.k, 2),
                                 ig_onnx_extent(node->e, h.q, 2));
        a.attrs.past = (ig_maybe_dim)IG_SET(past);
    }
    return ig_onnx_give_attention(&h, &a);
}

/* ---- Attention: x times packed weights ---- */

enum { X, WEIGHTS, PROJECTION_BIAS, MASK, PAST, SCORES };

/* Where the inputs are that Attention and QAttention share; NO_INPUT: one has none. */
enum { NO_INPUT = INT32_MAX };
typedef struct packed_inputs {
    uint32_t mask, past, scores;
} packed_inputs;

/* How much of the projections [B, L, …] is queries, keys and values. */
static bool read_sizes(heads *h, const ig_type *weights, ig_dim sizes[3]) {
    ig_onnx_node *node = h->node;
    bool may_differ = ig_onnx_row_has_attr(node->row, "qkv_hidden_sizes");
    ig_ints given = { 0 };
    if (may_differ) {
        given = ig_onnx_attr_list_of(node, "qkv_hidden_sizes", 3);
    }
    if (ig_onnx_attr_bool(node, "do_rotary", false)) {
        ig_onnx_fail(node, IG_UNSUPPORTED, "do_rotary is not supported");
    }
    ig_dim third = ig_dim_exact_div(h->e->module, ig_onnx_extent_of(h->e, weights, 1),
                                    ig_dim_of(3));
    for (uint32_t i = 0; i < 3; i++) {
        if (given.items && (given.items[i] < 1 || given.items[i] > INT32_MAX)) {
            ig_onnx_fail(node, IG_INVALID, "qkv_hidden_sizes has an entry %lld",
                         (long long)given.items[i]);
        }
        sizes[i] = given.items ? ig_dim_of(given.items[i]) : third;
    }
    return !ig_onnx_has_failed(node);
}

/* Keys and values after those of the past [2, B, heads, P, E]; both are a result. */
static void join_packed_past(heads *h, uint32_t index) {
    ig_expr *e = h->e;
    ig_onnx_node *node = h->node;
    if (ig_onnx_in(node, index)) {
        ig_value *past = ig_onnx_ranked_input(node, index, 5);
        h->k = join_past(h, h->k, ig_expr_select(e, past, 0, ig_dim_of(0)), UINT32_MAX);
        h->v = join_past(h, h->v, ig_expr_select(e, past, 0, ig_dim_of(1)), UINT32_MAX);
    }
    if (node->output_count > 1) {
        ig_value *both[] = { ig_expr_unsqueeze(e, h->k, 0),
                             ig_expr_unsqueeze(e, h->v, 0) };
        node->outputs[1] = ig_expr_concat(e, 0, both, 2);
    }
}

/* Attention of the projections `all`, which hold parts of these sizes. */
static ig_status attend_packed(heads *h, ig_value *all, const ig_dim sizes[3],
                               packed_inputs in) {
    ig_expr *e = h->e;
    ig_onnx_node *node = h->node;
    ig_value *parts[3];
    for (uint32_t i = 0; i < 3; i++) {
        parts[i] = ig_compose_split_heads(e, ig_onnx_take_part(e, all, 2, sizes, i),
                                          h->count);
    }
    h->q = parts[0];
    h->k = parts[1];
    h->v = parts[2];
    IG_TRY(e->status);
    ig_dim fresh = ig_onnx_extent(e, h->k, 2);
    join_packed_past(h, in.past);
    read_padding(h, in.mask);
    if (in.scores != NO_INPUT && ig_onnx_in(node, in.scores)) {
        add_to_bias(h, node->inputs[in.scores]);
    }
    ig_attention a = ig_onnx_open_attention(h);
    IG_TRY(e->status);
    if (ig_onnx_attr_bool(node, "unidirectional", false)) {
        a.attrs.causal = true;
        a.attrs.past = (ig_maybe_dim)IG_SET(
            ig_dim_sub(e->module, ig_onnx_extent(e, h->k, 2), fresh));
    }
    return ig_onnx_give_attention(h, &a);
}

ig_status ig_onnx_import_packed_attention(ig_onnx_node *node) {
    ig_expr *e = node->e;
    heads h = { .node = node, .e = e };
    ig_dim sizes[3];
    ig_value *x = ig_onnx_float_input(node, X);
    ig_value *w = ig_onnx_ranked_input(node, WEIGHTS, 2);
    (void)ig_onnx_ranked_input(node, X, 3);
    h.count = ig_onnx_attr_between(node, "num_heads", 0, 1, INT32_MAX);
    IG_TRY(e->status);
    if (!read_sizes(&h, w->type, sizes)) {
        return e->status;
    }
    ig_value *all = ig_expr_matmul(e, x, w);
    if (ig_onnx_in(node, PROJECTION_BIAS)) {
        all = ig_build_add(e, all, node->inputs[PROJECTION_BIAS]);
    }
    return attend_packed(&h, all, sizes, (packed_inputs){ MASK, PAST, SCORES });
}

/* ---- QAttention: the same, with 8-bit integers as factors ---- */

enum { Q_SCALE_X = 3, Q_SCALE_W, Q_MASK, Q_ZERO_X, Q_ZERO_W, Q_PAST };

/* x times w, of bytes with scales and zero points, as real numbers. */
static ig_value *project_bytes(const heads *h) {
    ig_expr *e = h->e;
    ig_onnx_node *node = h->node;
    ig_integers x = { node->inputs[X], NULL }, w = { node->inputs[WEIGHTS], NULL };
    if (ig_onnx_in(node, Q_ZERO_X)) {
        x.zero_point = ig_onnx_scalar_input(node, Q_ZERO_X);
    }
    w.zero_point = ig_onnx_in(node, Q_ZERO_W);
    ig_value *sum = ig_expr_cast(e, ig_compose_matmul_integer(e, x, w), IG_DT_f32);
    ig_value *scale = ig_build_mul(e, ig_onnx_scalar_input(node, Q_SCALE_X),
                                   node->inputs[Q_SCALE_W]);
    return ig_build_add(e, ig_build_mul(e, sum, scale), node->inputs[PROJECTION_BIAS]);
}

static void check_bytes(const ig_onnx_node *node, uint32_t index) {
    ig_dtype dtype = (ig_dtype)node->inputs[index]->type->dtype;
    if (dtype != IG_DT_i8 && dtype != IG_DT_u8) {
        ig_onnx_fail(node, IG_INVALID,
                     "input %u has elements of type %s, expected i8 or u8", index,
                     ig_dtypes[dtype].name);
    }
}

ig_status ig_onnx_import_quantised_attention(ig_onnx_node *node) {
    heads h = { .node = node, .e = node->e };
    ig_dim sizes[3];
    check_bytes(node, X);
    check_bytes(node, WEIGHTS);
    (void)ig_onnx_ranked_input(node, X, 3);
    const ig_type *w = ig_onnx_ranked_input(node, WEIGHTS, 2)->type;
    h.count = ig_onnx_attr_between(node, "num_heads", 0, 1, INT32_MAX);
    IG_TRY(node->e->status);
    if (!read_sizes(&h, w, sizes)) {
        return node->e->status;
    }
    return attend_packed(&h, project_bytes(&h), sizes,
                         (packed_inputs){ Q_MASK, Q_PAST, NO_INPUT });
}
