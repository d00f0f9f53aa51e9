/* Attention: heads, a cache of past keys, masks, and the scores it gives.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rows of queries continue the past, or the cache's rows before this call's: column
 * c is of row r's past (is_causal) where c <= r + that length.
 */
#include "compose/attention.h"

#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };
enum { Y, PRESENT_K, PRESENT_V, SCORES };

/* An input as [B, heads, L, E]; files give [B, L, heads * E] too. */
static ig_value *read_heads(const ig_onnx_node *node, uint32_t index,
                            const char *attr) {
    ig_value *x = ig_onnx_float_input(node, index);
    if (x->type->rank == 3) {
        int64_t heads = ig_onnx_attr_between(node, attr, 0, 1, INT32_MAX);
        return ig_compose_split_heads(node->e, x, heads);
    }
    return ig_onnx_ranked_input(node, index, 4);
}

/* Keys or values: earlier rows come first, and both together are a result. */
static ig_value *join_past(ig_onnx_node *node, ig_value *x, uint32_t past,
                           uint32_t result) {
    if (ig_onnx_in(node, past)) {
        ig_value *both[] = { ig_onnx_ranked_input(node, past, 4), x };
        x = ig_onnx_has_failed(node) ? NULL : ig_expr_concat(node->e, 2, both, 2);
    }
    if (result < node->output_count) {
        node->outputs[result] = x;
    }
    return x;
}

/* A mask that ends early lets nothing after its end take part; one of extent 1 is that
 * for all. */
static ig_value *read_mask(const ig_onnx_node *node, ig_dim columns) {
    ig_value *mask = ig_onnx_in(node, MASK);
    if (!mask) {
        return NULL;
    }
    const ig_type *type = mask->type;
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    uint32_t last = type->rank - 1u;
    if (type->rank < 1 || type->rank > 4) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "the mask has rank %u, expected 1 to 4", type->rank);
    }
    ig_module *module = node->e->module;
    ig_dim covered = ig_dim_bcast(module, type->dims[last], columns);
    if (ig_dim_is(type->dims[last], 1) ||
        ig_dim_equal(module, covered, columns) == IG_YES) {
        return mask;
    }
    ig_expr_guard_less_equal(node->e, covered, columns,
                             "the mask must not have more columns than there are keys");
    after[last] = ig_dim_sub(module, columns, covered);
    double none = type->dtype == IG_DT_bool ? 0 : -(double)INFINITY;
    return ig_expr_pad(node->e, mask, before, after, IG_PAD_constant, none);
}

/* The lengths of a cache, [B, 1, 1, 1]. */
static ig_value *read_lengths(const ig_onnx_node *node) {
    ig_value *lengths = ig_onnx_ranked_input(node, LENGTHS, 1);
    return ig_expr_unsqueeze_to(node->e, ig_expr_cast(node->e, lengths, IG_DT_i64), 4);
}

/* The column of each row's own place, [B or 1, 1, L, 1]: rows continue the past. */
static ig_value *find_positions(const ig_onnx_node *node, ig_dim rows) {
    ig_expr *e = node->e;
    ig_value *row = ig_expr_axis_iota(e, 4, 2, rows), *before = NULL;
    if (ig_onnx_in(node, LENGTHS)) {
        ig_value *count = ig_expr_dim(e, rows, IG_DT_i64);
        before = ig_build_sub(e, read_lengths(node), count);
    } else if (ig_onnx_in(node, PAST_K)) {
        before = ig_expr_dim(e, ig_onnx_extent(e, node->inputs[PAST_K], 2), IG_DT_i64);
    }
    return before ? ig_build_add(e, row, before) : row;
}

/* Which columns are within the lengths of a cache: [B, 1, 1, S], causal [B, 1, L,
 * S]. */
static ig_value *find_filled(const ig_onnx_node *node, ig_dim rows, ig_dim columns,
                             bool is_causal) {
    ig_expr *e = node->e;
    ig_value *column = ig_expr_axis_iota(e, 4, 3, columns);
    ig_value *filled = ig_build_lt(e, column, read_lengths(node));
    return is_causal ? ig_build_and(e, filled,
                                    ig_build_le(e, column, find_positions(node, rows)))
                     : filled;
}

/* Which columns are in the window around each row's place, [B or 1, 1, L, S]; NULL: no
 * side is bounded.  The distance is compared, which no bound makes wrap. */
static ig_value *find_window(const ig_onnx_node *node, ig_dim rows, ig_dim columns) {
    ig_expr *e = node->e;
    int64_t left = ig_onnx_attr_between(node, "left_window_size", -1, -1, INT64_MAX);
    int64_t right = ig_onnx_attr_between(node, "right_window_size", -1, -1, INT64_MAX);
    if (ig_onnx_has_failed(node) || (left < 0 && right < 0)) {
        return NULL;
    }
    ig_value *column = ig_expr_axis_iota(e, 4, 3, columns);
    ig_value *ahead = ig_build_sub(e, column, find_positions(node, rows));
    ig_value *within = NULL;
    if (left >= 0) {
        within = ig_build_ge(e, ahead, ig_expr_integer(e, IG_DT_i64, -left));
    }
    if (right >= 0) {
        ig_value *before = ig_build_le(e, ahead, ig_expr_integer(e, IG_DT_i64, right));
        within = within ? ig_build_and(e, within, before) : before;
    }
    return within;
}

/* A mask within which only `filled` columns count. */
static ig_value *restrict_mask(ig_expr *e, ig_value *mask, ig_value *filled) {
    if (!mask || mask->type->dtype == IG_DT_bool) {
        return mask ? ig_build_and(e, mask, filled) : filled;
    }
    ig_value *none = ig_expr_number(e, (ig_dtype)mask->type->dtype, -(double)INFINITY);
    return ig_build_where(e, filled, mask, none);
}

/* The mask, and which columns are of each row's past. */
static void read_masks(const ig_onnx_node *node, ig_attention *a) {
    ig_dim rows = ig_onnx_extent(node->e, a->q, 2),
           columns = ig_onnx_extent(node->e, a->k, 2);
    bool is_causal = ig_onnx_attr_bool(node, "is_causal", false);
    a->mask = read_mask(node, columns);
    ig_value *window = find_window(node, rows, columns);
    a->mask = window ? restrict_mask(node->e, a->mask, window) : a->mask;
    if (ig_onnx_in(node, LENGTHS)) {
        ig_value *filled = find_filled(node, rows, columns, is_causal);
        a->mask = restrict_mask(node->e, a->mask, filled);
        return;
    }
    a->attrs.causal = is_causal;
    if (is_causal && ig_onnx_in(node, PAST_K)) {
        a->attrs.past =
            (ig_maybe_dim)IG_SET(ig_onnx_extent(node->e, node->inputs[PAST_K], 2));
    }
}

static void read_scores(const ig_onnx_node *node, ig_attention *a) {
    bool has_cap = ig_onnx_row_has_attr(node->row, "softcap");
    double softcap = has_cap ? ig_onnx_attr_float(node, "softcap", 0) : 0;
    if (softcap > 0) {
        a->attrs.softcap = (ig_maybe_float)IG_SET(softcap);
    }
    a->attrs.scale = ig_onnx_attr(node, "scale", NULL)
                         ? ig_onnx_attr_float(node, "scale", 0)
                         : ig_compose_attention_scale(node->e, &a->q);
}

ig_status ig_onnx_import_attention(ig_onnx_node *node) {
    ig_attention a = { .q = read_heads(node, Q, "q_num_heads"),
                       .k = read_heads(node, K, "kv_num_heads"),
                       .v = read_heads(node, V, "kv_num_heads") };
    int64_t shown = ig_onnx_attr_between(node, "qk_matmul_output_mode", 0,
                                         IG_SCORES_scaled, IG_SCORES_weights);
    a.k = join_past(node, a.k, PAST_K, PRESENT_K);
    a.v = join_past(node, a.v, PAST_V, PRESENT_V);
    a.k = ig_compose_repeat_heads(node->e, a.k, a.q);
    a.v = ig_compose_repeat_heads(node->e, a.v, a.q);
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    read_masks(node, &a);
    read_scores(node, &a);
    if (node->output_count > SCORES) {
        ig_value *scores = ig_compose_scores(node->e, &a, (ig_scores)shown);
        node->outputs[SCORES] = ig_expr_like(node->e, scores, a.q);
    }
    ig_value *y = ig_compose_attention(node->e, &a);
    bool is_flat = node->inputs[Q]->type->rank == 3;
    return ig_onnx_give(node, is_flat ? ig_compose_join_heads(node->e, y) : y);
}

/* ---- FlexAttention: scores and weights through graphs of the model ---- */

/* The graph of an attribute, called with one tensor; `x` where there is none. */
static ig_value *modify_scores(ig_onnx_node *node, const char *name, ig_value *x) {
    ig_onnx_scope *outer = NULL, scope;
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, &outer);
    ig_value *result = NULL;
    if (!attr || !x) {
        return x;
    }
    const Onnx__GraphProto *graph = attr->g;
    if (!graph || graph->n_input != 1 || graph->n_output != 1) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "%s must be a graph of one input and one output", name);
    }
    ig_onnx_scope_init(&scope, node->import, outer, name);
    scope.builder = node->builder;
    ig_onnx_define_value(&scope, graph->input[0]->name, x, name);
    ig_status status = ig_onnx_import_body(&scope, graph, &result);
    if (status != IG_OK || !result) { /* reported where it is flawed */
        ig_expr_note(node->e, status != IG_OK ? status : node->import->worst);
        return NULL;
    }
    return result;
}

ig_status ig_onnx_import_flex_attention(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *in[3];
    for (uint32_t i = Q; i <= V; i++) {
        in[i] = ig_onnx_float_input(node, i);
        in[i] = ig_onnx_ranked_input(node, i, 4);
    }
    IG_TRY(e->status);
    bool is_double = in[Q]->type->dtype == IG_DT_f64;
    ig_dtype wide = ig_onnx_attr_dtype(node, "softmax_precision",
                                       is_double ? IG_DT_f64 : IG_DT_f32);
    ig_value *k = ig_compose_repeat_heads(e, in[K], in[Q]);
    ig_value *v = ig_compose_repeat_heads(e, in[V], in[Q]);
    ig_attention a = { .q = in[Q], .k = k, .v = v };
    IG_TRY(e->status);
    read_scores(node, &a);
    ig_value *scores = ig_expr_cast(e, ig_compose_scores(e, &a, IG_SCORES_scaled),
                                    wide);
    scores = modify_scores(node, "score_mod", scores);
    ig_value *weights = ig_build_softmax(e, scores, (ig_softmax_attrs){ .axis = 3 });
    weights = modify_scores(node, "prob_mod", weights);
    ig_value *y = ig_expr_matmul(e, weights, ig_expr_cast(e, v, wide));
    return ig_onnx_give(node, ig_expr_like(e, y, in[Q]));
}
