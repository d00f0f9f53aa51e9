/* GroupQueryAttention of com.microsoft: few heads of keys and values for many of
 * queries, a cache that each call extends, rotated heads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/norm.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/group.h"

#include <math.h>

enum {
    G_LENGTHS = IG_ONNX_G_PAST_VALUE + 1,
    G_TOTAL,
    G_COS,
    G_SIN,
    G_POSITIONS,
    G_BIAS,
    G_SINK,
    G_SCALE_K,
    G_SCALE_V,
    G_NORM_Q,
    G_NORM_K
};

typedef ig_onnx_group group;

bool ig_onnx_read_group(ig_onnx_group *g) {
    ig_onnx_node *node = g->h.node;
    ig_expr *e = g->h.e;
    (void)ig_onnx_float_input(node, IG_ONNX_G_QUERY);
    (void)ig_onnx_ranked_input(node, IG_ONNX_G_QUERY, 3);
    g->h.count = ig_onnx_attr_between(node, "num_heads", 0, 1, INT32_MAX);
    g->h.keys = ig_onnx_attr_between(node, "kv_num_heads", 0, 1, INT32_MAX);
    if (ig_onnx_has_failed(node)) {
        return false;
    }
    ig_value *q = node->inputs[IG_ONNX_G_QUERY], *k = ig_onnx_in(node, IG_ONNX_G_KEY),
             *v = ig_onnx_in(node, IG_ONNX_G_VALUE);
    if (!k) {
        ig_dim parts = ig_dim_of(g->h.count + 2 * g->h.keys);
        ig_dim each = ig_dim_exact_div(e->module, ig_onnx_extent(e, q, 2), parts);
        ig_dim few = ig_dim_mul(e->module, each, ig_dim_of(g->h.keys));
        ig_dim sizes[] = { ig_dim_mul(e->module, each, ig_dim_of(g->h.count)), few,
                           few };
        ig_value *all = q;
        q = ig_onnx_take_part(e, all, 2, sizes, 0);
        k = ig_onnx_take_part(e, all, 2, sizes, 1);
        v = ig_onnx_take_part(e, all, 2, sizes, 2);
    }
    g->h.q = ig_compose_split_heads(e, q, g->h.count);
    g->h.k = ig_compose_split_heads(e, k, g->h.keys);
    g->h.v = v ? ig_compose_split_heads(e, v, g->h.keys) : NULL;
    if (ig_onnx_has_failed(node) || !g->h.v) {
        ig_expr_fail(e, IG_INVALID, "keys are given without values");
        return false;
    }
    g->rows = ig_onnx_extent(e, g->h.q, 2);
    return true;
}

/* A total less this call's rows; none where the call holds all (a prompt, whose shorter
 * rows end early). */
void ig_onnx_find_past(ig_onnx_group *g, ig_value *lengths, ig_value *max) {
    ig_expr *e = g->h.e;
    ig_value *old = ig_onnx_in(g->h.node, IG_ONNX_G_PAST_KEY);
    ig_value *rows = ig_expr_dim(e, g->rows, IG_DT_i64);
    g->total = lengths;
    ig_value *is_prompt = ig_build_eq(e, max, rows);
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    g->past = ig_build_where(e, is_prompt, zero, ig_build_sub(e, lengths, rows));
    g->past = ig_expr_with_integer(e, IG_OP_max, g->past, 0);
    ig_value *held = old ? ig_expr_dim(e, ig_onnx_extent(e, old, 2), IG_DT_i64) : zero;
    ig_expr_bind_dims(e, ig_build_max(e, held, max), 1, "rows of the cache", &g->all);
}

/* Heads turned by the angles of their rows, which count on from the past. */
static ig_value *rotate_heads(const group *g, ig_value *x, ig_value *cos,
                              ig_value *sin) {
    ig_expr *e = g->h.e;
    bool is_interleaved = ig_onnx_attr_bool(g->h.node, "rotary_interleaved", false);
    ig_value *at = g->positions;
    if (!at) {
        at = ig_build_add(e, ig_expr_unsqueeze(e, g->past, 1),
                          ig_expr_axis_iota(e, 2, 1, g->rows));
    }
    ig_dim last = ig_dim_sub(e->module, ig_onnx_extent(e, cos, 0), ig_dim_of(1));
    at = ig_build_min(e, at, ig_expr_dim(e, last, IG_DT_i64));
    cos = ig_expr_unsqueeze(e, ig_expr_gather(e, cos, at, 0, IG_NEGATIVE_error), 1);
    sin = ig_expr_unsqueeze(e, ig_expr_gather(e, sin, at, 0, IG_NEGATIVE_error), 1);
    if (!cos || !sin) {
        return NULL;
    }
    ig_dim turned = ig_dim_mul(e->module, ig_onnx_extent(e, cos, 3), ig_dim_of(2));
    return ig_compose_rotate(e, x, ig_expr_widen(e, cos), ig_expr_widen(e, sin), turned,
                             is_interleaved);
}

void ig_onnx_rotate_group(ig_onnx_group *g, uint32_t cos, uint32_t sin) {
    ig_onnx_node *node = g->h.node;
    if (!ig_onnx_in(node, cos) || !ig_onnx_in(node, sin)) {
        ig_expr_fail(g->h.e, IG_INVALID, "do_rotary needs both caches of angles");
        return;
    }
    ig_value *cosines = ig_onnx_ranked_input(node, cos, 2);
    ig_value *sines = ig_onnx_ranked_input(node, sin, 2);
    if (!ig_onnx_has_failed(node)) {
        g->h.q = rotate_heads(g, g->h.q, cosines, sines);
        g->h.k = rotate_heads(g, g->h.k, cosines, sines);
    }
}

/* The cache with this call's rows in place: [B, heads, all, E]. */
static ig_value *extend_cache(group *g, ig_value *x, uint32_t past, uint32_t result) {
    ig_expr *e = g->h.e;
    ig_value *old = ig_onnx_in(g->h.node, past);
    if (!x) {
        return NULL;
    }
    ig_dim dims[] = { ig_onnx_extent(e, x, 0), ig_onnx_extent(e, x, 1), g->all,
                      ig_onnx_extent(e, x, 3) };
    ig_value *from = ig_build_sub(e, ig_expr_axis_iota(e, 4, 2, g->all),
                                  ig_expr_unsqueeze_to(e, g->past, 4));
    ig_value *is_new =
        ig_build_and(e, ig_expr_with_integer(e, IG_OP_ge, from, 0),
                     ig_build_lt(e, from, ig_expr_dim(e, g->rows, IG_DT_i64)));
    from = ig_build_where(e, is_new, from, ig_expr_integer(e, IG_DT_i64, 0));
    from = ig_expr_expand(e, from, 4, dims);
    x = ig_build_gather_elements(e, x, from, (ig_gather_elements_attrs){ .axis = 2 });
    ig_value *rest = ig_expr_number(e, (ig_dtype)g->h.q->type->dtype, 0);
    if (old) {
        ig_dim none[4] = { ig_dim_of(0), ig_dim_of(0), ig_dim_of(0), ig_dim_of(0) };
        ig_dim more[4] = { ig_dim_of(0), ig_dim_of(0),
                           ig_dim_sub(e->module, g->all, ig_onnx_extent(e, old, 2)),
                           ig_dim_of(0) };
        rest = ig_expr_pad(e, old, none, more, IG_PAD_constant, 0);
    }
    x = ig_build_where(e, is_new, x, rest);
    if (result < g->h.node->output_count) {
        g->h.node->outputs[result] = x;
    }
    return x;
}

void ig_onnx_extend_caches(ig_onnx_group *g) {
    for (uint32_t i = IG_ONNX_G_PAST_KEY; i <= IG_ONNX_G_PAST_VALUE; i++) {
        if (ig_onnx_in(g->h.node, i)) {
            (void)ig_onnx_ranked_input(g->h.node, i, 4);
        }
    }
    if (!ig_onnx_has_failed(g->h.node)) {
        g->h.k = extend_cache(g, g->h.k, IG_ONNX_G_PAST_KEY, 1);
        g->h.v = extend_cache(g, g->h.v, IG_ONNX_G_PAST_VALUE, 2);
    }
}

ig_value *ig_onnx_own_rows(const ig_onnx_group *g) {
    ig_expr *e = g->h.e;
    return ig_build_add(e, ig_expr_axis_iota(e, 4, 2, g->rows),
                        ig_expr_unsqueeze_to(e, g->past, 4));
}

/* ---- which keys a query sees ---- */

/* bool [B, 1, rows, all]: the rows up to a query's own, or the window's last of them;
 * without order all that are filled. */
static ig_value *find_visible(const group *g) {
    ig_expr *e = g->h.e;
    int64_t window = ig_onnx_attr_int(g->h.node, "local_window_size", -1);
    ig_value *column = ig_expr_axis_iota(e, 4, 3, g->all);
    if (!ig_onnx_attr_bool(g->h.node, "causal", true)) {
        return ig_build_lt(e, column, ig_expr_unsqueeze_to(e, g->total, 4));
    }
    ig_value *own = ig_onnx_own_rows(g);
    ig_value *is_seen = ig_build_le(e, column, own);
    if (window >= 0) {
        ig_value *first = ig_expr_with_integer(e, IG_OP_sub, own, window);
        is_seen = ig_build_and(e, is_seen, ig_build_gt(e, column, first));
    }
    return is_seen;
}

/* The floats that are added to scores, which may end before the cache does. */
static ig_value *read_bias(const group *g) {
    ig_expr *e = g->h.e;
    ig_value *bias = ig_onnx_ranked_input(g->h.node, G_BIAS, 4);
    if (ig_onnx_has_failed(g->h.node)) {
        return NULL;
    }
    ig_dim none = ig_dim_of(0), before[] = { none, none, none, none };
    ig_dim after[] = { none, none, none,
                       ig_dim_sub(e->module, g->all, ig_onnx_extent(e, bias, 3)) };
    ig_expr_guard_less_equal(e, ig_onnx_extent(e, bias, 3), g->all,
                             "attention_bias must have a column for each row of keys");
    return ig_expr_pad(e, bias, before, after, IG_PAD_constant, 0);
}

/* A key that all queries of a head see with the same score, and whose value is 0: it
 * takes a share of the softmax and gives nothing. */
static void add_sink(const group *g, ig_attention *a, ig_value *sink) {
    ig_expr *e = g->h.e;
    ig_dim none = ig_dim_of(0), one = ig_dim_of(1);
    ig_dim before[] = { none, none, none, none }, after[] = { none, none, one, none };
    a->k = ig_expr_pad(e, a->k, before, after, IG_PAD_constant, 0);
    a->v = ig_expr_pad(e, a->v, before, after, IG_PAD_constant, 0);
    const ig_type *q = a->q->type;
    ig_dim dims[] = { ig_onnx_extent_of(e, q, 0), ig_onnx_extent_of(e, q, 1), g->rows,
                      g->all };
    ig_value *both[] = { ig_expr_expand(e, a->mask, 4, dims), NULL };
    dims[3] = one;
    both[1] = ig_expr_expand(e, ig_expr_like(e, sink, a->q), 4, dims);
    a->mask = ig_expr_concat(e, 3, both, 2);
}

/* Masks of the attention: bool, or floats where more than that is asked. */
static void read_masks(const group *g, ig_attention *a) {
    ig_expr *e = g->h.e;
    ig_onnx_node *node = g->h.node;
    bool is_smooth = ig_onnx_attr_int(node, "smooth_softmax", 0) > 0;
    ig_value *sink = ig_onnx_in(node, G_SINK);
    ig_dtype dtype = (ig_dtype)a->q->type->dtype;
    a->mask = find_visible(g);
    if (!ig_onnx_in(node, G_BIAS) && !sink && !is_smooth) {
        return;
    }
    ig_value *bias = ig_onnx_in(node, G_BIAS) ? ig_expr_like(e, read_bias(g), a->q)
                                              : ig_expr_number(e, dtype, 0);
    a->mask = ig_build_where(e, a->mask, bias,
                             ig_expr_number(e, dtype, -(double)INFINITY));
    if (sink) {
        sink = ig_onnx_list_input(node, G_SINK, ig_onnx_extent(e, a->q, 1),
                                  "head_sink must have an entry for each head");
        add_sink(g, a, ig_expr_along(e, sink, 1, 4));
    } else if (is_smooth) {
        add_sink(g, a, ig_expr_number(e, dtype, 0));
    }
}

/* ---- the operator ---- */

/* Forms that files may ask for and that are not supported. */
static ig_status check_form(const ig_onnx_node *node) {
    static const char *const types[] = { "k_quant_type", "v_quant_type" };
    for (uint32_t i = 0; i < IG_COUNT_OF(types); i++) {
        if (ig_onnx_attr_choice(node, types[i], "NONE PER_TENSOR PER_CHANNEL")) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "%s: a cache of integers is not supported; export it "
                                "as floats (NONE)",
                                types[i]);
        }
    }
    if (ig_onnx_attr_bool(node, "sliding_window_cache", false)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "sliding_window_cache is not supported; export a cache of "
                            "all rows (0)");
    }
    if (ig_onnx_in(node, G_SCALE_K) || ig_onnx_in(node, G_SCALE_V)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "scales of a cache of integers are not supported");
    }
    if ((ig_onnx_in(node, G_NORM_Q) != NULL) != (ig_onnx_in(node, G_NORM_K) != NULL)) {
        return ig_onnx_fail(node, IG_INVALID,
                            "q_norm_weight and k_norm_weight go together");
    }
    return node->e->status;
}

/* Heads by their root mean square, where the node has weights for that. */
static ig_value *norm_heads(const group *g, ig_value *x, uint32_t weight) {
    if (!ig_onnx_in(g->h.node, weight)) {
        return x;
    }
    ig_norm norm = { .scale = ig_onnx_ranked_input(g->h.node, weight, 1),
                     .epsilon = ig_onnx_attr_float(g->h.node, "qk_norm_epsilon",
                                                   1e-6F) };
    return ig_onnx_has_failed(g->h.node) ? NULL
                                         : ig_compose_rms_norm(g->h.e, x, 3, &norm);
}

ig_status ig_onnx_import_group_query(ig_onnx_node *node) {
    ig_expr *e = node->e;
    group g = { .h = { .node = node, .e = e } };
    if (!ig_onnx_needs_input(node, G_LENGTHS) || !ig_onnx_needs_input(node, G_TOTAL)) {
        return e->status;
    }
    IG_TRY(check_form(node));
    if (!ig_onnx_read_group(&g)) {
        return e->status;
    }
    g.h.q = norm_heads(&g, g.h.q, G_NORM_Q);
    g.h.k = norm_heads(&g, g.h.k, G_NORM_K);
    ig_value *lengths = ig_expr_flatten(e, node->inputs[G_LENGTHS]); /* less 1 */
    lengths = ig_expr_with_integer(e, IG_OP_add, ig_expr_cast(e, lengths, IG_DT_i64),
                                   1);
    ig_onnx_find_past(&g, lengths, ig_onnx_count_input(node, G_TOTAL));
    if (ig_onnx_in(node, G_POSITIONS)) {
        ig_value *at = ig_onnx_ranked_input(node, G_POSITIONS, 2);
        g.positions = ig_expr_cast(e, at, IG_DT_i64);
    }
    IG_TRY(e->status);
    if (ig_onnx_attr_bool(node, "do_rotary", false)) {
        ig_onnx_rotate_group(&g, G_COS, G_SIN);
    }
    IG_TRY(e->status);
    ig_onnx_extend_caches(&g);
    IG_TRY(e->status);
    ig_attention a = ig_onnx_open_attention(&g.h);
    IG_TRY(e->status);
    read_masks(&g, &a);
    double softcap = ig_onnx_attr_float(node, "softcap", 0);
    if (softcap > 0) {
        a.attrs.softcap = (ig_maybe_float)IG_SET(softcap);
    }
    IG_TRY(e->status);
    return ig_onnx_give_attention(&g.h, &a);
}
