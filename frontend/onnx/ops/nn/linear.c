/* Determinants, inverses, and attention that is linear in the length: a state updated
 * step by step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

#include "compose/attention.h"
#include "compose/math/linalg.h"

#include <math.h>

/* ---- Det, and Inverse of com.microsoft ---- */

/* The square matrices of input 0 in f64, [B, n, n]; NULL when something failed. */
static ig_value *read_squares(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    uint32_t rank = x->type->rank;
    if (rank < 2) {
        ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 2 or more", rank);
        return NULL;
    }
    const ig_dim *dims = x->type->dims;
    ig_expr_guard_equal(e, dims[rank - 2], dims[rank - 1],
                        "the matrices must be square");
    ig_dim flat[] = { ig_dim_product(e->module, dims, rank - 2), dims[rank - 1],
                      dims[rank - 1] };
    return ig_expr_reshape(e, ig_expr_cast(e, x, IG_DT_f64), 3, flat);
}

ig_status ig_onnx_import_det(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *wide = read_squares(node), *x = node->inputs[0];
    if (!wide) {
        return e->status;
    }
    const ig_dim *dims = x->type->dims;
    uint32_t rank = x->type->rank;
    if (ig_dim_is(dims[rank - 1], 0)) { /* no column has a pivot */
        ig_dtype dtype = (ig_dtype)x->type->dtype;
        return ig_onnx_give(node, ig_expr_fill(e, dtype, rank - 2, dims, 1));
    }
    ig_lu lu = ig_compose_lu(e, wide);
    ig_value *y = ig_expr_reshape(e, ig_compose_det(e, &lu), rank - 2, dims);
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}

/* Infinite or NaN where there is none. */
ig_status ig_onnx_import_inverse(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *wide = read_squares(node), *x = node->inputs[0];
    if (!wide) {
        return e->status;
    }
    ig_value *y = ig_compose_solve(e, wide, ig_compose_identity(e, wide));
    y = ig_expr_reshape(e, y, x->type->rank, x->type->dims);
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}

/* ---- LinearAttention ---- */

enum { QUERY, KEY, VALUE, STATE, DECAY, BETA };
enum { LINEAR, GATED, DELTA, GATED_DELTA };

typedef struct recurrence {
    ig_onnx_node *node;
    ig_expr *e;
    uint32_t rule;
    int64_t heads, queries;             /* heads of keys, and of queries */
    ig_value *q, *k, *v, *decay, *beta; /* [B, heads, T, E] in f32 or f64 */
    ig_dtype wide;
} recurrence;

/* [B, T, heads * E] as [B, heads, T, E].  Where `each` is not 0 that is E, of
 * which the file may have 1. */
static ig_value *read_heads(const recurrence *r, uint32_t index, int64_t heads,
                            ig_dim each) {
    ig_expr *e = r->e;
    ig_value *x = ig_onnx_float_input(r->node, index);
    x = ig_onnx_ranked_input(r->node, index, 3);
    if (ig_onnx_has_failed(r->node)) {
        return NULL;
    }
    ig_onnx_guard_extents(r->node, QUERY, 0, index, 0);
    ig_onnx_guard_extents(r->node, QUERY, 1, index, 1);
    const ig_dim *of = r->node->inputs[QUERY]->type->dims;
    ig_dim count = ig_dim_of(heads);
    ig_dim dims[] = { of[0], of[1], count,
                      ig_dim_exact_div(e->module, ig_onnx_extent(e, x, 2), count) };
    x = ig_expr_reshape(e, ig_expr_cast(e, x, r->wide), 4, dims);
    if (!ig_dim_is(each, 0)) {
        dims[3] = each;
        x = ig_expr_expand(e, x, 4, dims);
        x = ig_expr_reshape(e, x, 4, dims); /* not more than that */
    }
    return ig_expr_swap(e, x, 1, 2);
}

/* beta: [B, T, heads], or one for all heads. */
static ig_value *read_beta(const recurrence *r) {
    ig_expr *e = r->e;
    ig_value *x = ig_onnx_float_input(r->node, BETA);
    x = ig_onnx_ranked_input(r->node, BETA, 3);
    if (ig_onnx_has_failed(r->node)) {
        return NULL;
    }
    const ig_dim *of = r->node->inputs[QUERY]->type->dims;
    ig_dim dims[] = { of[0], of[1], ig_dim_of(r->heads), ig_dim_of(1) };
    ig_onnx_guard_extents(r->node, QUERY, 0, BETA, 0);
    ig_onnx_guard_extents(r->node, QUERY, 1, BETA, 1);
    x = ig_expr_expand(e, ig_expr_cast(e, x, r->wide), 3, dims);
    return ig_expr_swap(e, ig_expr_reshape(e, x, 4, dims), 1, 2);
}

/* The step's row of x: [B, heads, 1, E], or its transpose. */
static ig_value *row_of(const recurrence *r, ig_value *x, ig_value *step,
                        bool is_column) {
    x = ig_expr_gather(r->e, x, step, 2, IG_NEGATIVE_error);
    return ig_expr_unsqueeze(r->e, x, is_column ? 3 : 2);
}

/* The state after a step, and the queries' view of it [B, queries, 1, d_v]. */
static void take_step(const recurrence *r, ig_value *step, ig_value *state,
                      ig_value *out[2]) {
    ig_expr *e = r->e;
    ig_value *k = row_of(r, r->k, step, true), *v = row_of(r, r->v, step, false);
    if (r->decay) {
        ig_value *g = ig_build_exp(e, row_of(r, r->decay, step, true));
        state = ig_build_mul(e, state, g);
    }
    if (r->beta) {
        ig_value *seen = ig_build_mul(e, state, k);
        seen = ig_expr_reduce_axis(e, IG_REDUCE_sum, seen, 2, true);
        v = ig_build_sub(e, v, seen);
        v = ig_build_mul(e, v, row_of(r, r->beta, step, false));
    }
    state = ig_build_add(e, state, ig_build_mul(e, k, v));
    out[0] = state;
    ig_value *q = row_of(r, r->q, step, false);
    ig_value *all = q ? ig_compose_repeat_heads(e, state, q) : NULL;
    out[1] = ig_expr_matmul(e, q, all);
}

/* Results: the last state, and the views [T, B, queries, 1, d_v]. */
static ig_op *build_steps(recurrence *r, ig_value *state) {
    ig_expr *e = r->e;
    ig_dim steps = ig_onnx_extent(e, r->k, 2);
    ig_value *operands[] = { ig_expr_dim(e, steps, IG_DT_i64),
                             ig_expr_number(e, IG_DT_bool, 1), state };
    ig_dim dims[] = { steps, ig_onnx_extent(e, r->q, 0), ig_onnx_extent(e, r->q, 1),
                      ig_dim_of(1), ig_onnx_extent(e, r->v, 3) };
    const ig_type *types[] = { state->type,
                               ig_type_tensor(e->module, r->wide, 5, dims) };
    ig_builder outside = *e->builder;
    ig_op *op = ig_expr_open_loops(e, operands, 3, types, 1);
    if (!op) {
        return NULL;
    }
    ig_value *next[2] = { NULL, NULL };
    take_step(r, op->bodies[0]->args[0], op->bodies[0]->args[2], next);
    if (e->status == IG_OK) {
        ig_value *yields[] = { op->bodies[0]->args[1], next[0], next[1] };
        ig_make_yield(e->builder, yields, 3);
    }
    *e->builder = outside;
    return e->status == IG_OK ? op : NULL;
}

/* The decay of each key's element, or of each head; beta of each head, or of all. */
static void read_gates(recurrence *r) {
    bool has_decay = r->rule == GATED || r->rule == GATED_DELTA;
    bool has_beta = r->rule == DELTA || r->rule == GATED_DELTA;
    for (uint32_t i = DECAY; i <= BETA; i++) {
        bool is_used = i == DECAY ? has_decay : has_beta;
        if ((ig_onnx_in(r->node, i) != NULL) != is_used) {
            ig_onnx_fail(r->node, IG_INVALID, "input %u, %s, %s this update_rule", i,
                         i == DECAY ? "decay" : "beta",
                         is_used ? "is needed by" : "is not for");
            return;
        }
    }
    if (r->k) {
        r->decay = has_decay
                       ? read_heads(r, DECAY, r->heads, ig_onnx_extent(r->e, r->k, 3))
                       : NULL;
    }
    r->beta = has_beta ? read_beta(r) : NULL;
}

static ig_value *first_state(const recurrence *r) {
    ig_dim dims[] = { ig_onnx_extent(r->e, r->k, 0), ig_onnx_extent(r->e, r->k, 1),
                      ig_onnx_extent(r->e, r->k, 3), ig_onnx_extent(r->e, r->v, 3) };
    if (ig_onnx_in(r->node, STATE)) {
        ig_value *state = ig_onnx_ranked_input(r->node, STATE, 4);
        for (uint32_t i = 0; i < 4 && !ig_onnx_has_failed(r->node); i++) {
            ig_expr_guard_equal(
                r->e, ig_onnx_extent(r->e, state, i), dims[i],
                "past_state has another shape than keys and values say");
        }
        state = ig_expr_cast(r->e, state, r->wide);
        return ig_expr_reshape(r->e, state, 4, dims);
    }
    return ig_expr_fill(r->e, r->wide, 4, dims, 0);
}

/* Some heads go with several of the others. */
static ig_status check_heads(const recurrence *r) {
    bool may_be_fewer = ig_onnx_row_has_attr(r->node->row, "state_window");
    if (may_be_fewer && ig_onnx_attr_int(r->node, "state_window", 0) != 0) {
        return ig_onnx_fail(
            r->node, IG_UNSUPPORTED,
            "state_window is %lld: only the state after the last token (0) is supported",
            (long long)ig_onnx_attr_int(r->node, "state_window", 0));
    }
    if (r->queries % r->heads && !(may_be_fewer && r->heads % r->queries == 0)) {
        return ig_onnx_fail(r->node, IG_INVALID,
                            "q_num_heads is not a multiple of kv_num_heads");
    }
    return IG_OK;
}

/* com.microsoft has a form with fewer heads of keys than of values: theirs are as wide
 * as those of queries. */
static int64_t count_keys(const recurrence *r) {
    int64_t width, all;
    ig_module *module = r->e->module;
    bool is_known =
        r->node->inputs[KEY]->type->rank == 3 &&
        ig_dim_constant(module, ig_onnx_extent(r->e, r->node->inputs[QUERY], 2),
                        &width) &&
        ig_dim_constant(module, ig_onnx_extent(r->e, r->node->inputs[KEY], 2), &all);
    int64_t count = is_known && width >= r->queries ? all / (width / r->queries) : 0;
    return count > 0 && r->heads % count == 0 ? count : r->heads;
}

ig_status ig_onnx_import_linear_attention(ig_onnx_node *node) {
    ig_expr *e = node->e;
    recurrence r = { .node = node, .e = e };
    r.rule = ig_onnx_attr_choice(node, "update_rule", "gated_delta linear gated delta");
    r.rule = r.rule == 0 ? GATED_DELTA : r.rule - 1;
    r.queries = ig_onnx_attr_between(node, "q_num_heads", 0, 1, INT32_MAX);
    r.heads = ig_onnx_attr_between(node, "kv_num_heads", 0, 1, INT32_MAX);
    ig_value *query = ig_onnx_float_input(node, QUERY);
    query = ig_onnx_ranked_input(node, QUERY, 3);
    IG_TRY(e->status);
    r.wide = query->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    IG_TRY(check_heads(&r));
    ig_dim any = ig_dim_of(0);
    r.k = read_heads(&r, KEY, count_keys(&r), any);
    r.v = read_heads(&r, VALUE, r.heads, any);
    r.q = read_heads(&r, QUERY, r.queries, any);
    r.k = ig_compose_repeat_heads(e, r.k, r.v);
    if (r.queries < r.heads) {
        r.q = ig_compose_repeat_heads(e, r.q, r.v);
    }
    IG_TRY(e->status);
    ig_expr_guard_equal(e, ig_onnx_extent(e, r.q, 3), ig_onnx_extent(e, r.k, 3),
                        "heads of queries and keys must have one size");
    read_gates(&r);
    IG_TRY(e->status);
    double scale = ig_onnx_attr_float(node, "scale", 0);
    if (scale == 0) {
        scale = ig_compose_attention_scale(e, &r.q);
    }
    r.q = ig_expr_with(e, IG_OP_mul, r.q, scale);
    ig_value *state = first_state(&r);
    IG_TRY(e->status);
    ig_op *op = build_steps(&r, state);
    if (!op) {
        return e->status;
    }
    ig_value *y = ig_expr_squeeze(e, ig_op_result(op, 1), 3);
    y = ig_expr_move_axis(e, y, 0, 2);
    const ig_value *model = ig_onnx_in(node, STATE) ? node->inputs[STATE] : query;
    if (node->output_count > 1) {
        node->outputs[1] = ig_expr_like(e, ig_op_result(op, 0), model);
    }
    return ig_onnx_give(node, ig_expr_like(e, ig_compose_join_heads(e, y), query));
}
