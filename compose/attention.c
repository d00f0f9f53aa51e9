/* Attention: the row, its intermediate values, and heads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/attention.h"

#include "compose/decompose.h"

#include <math.h>
#include <string.h>

/* ---- the row ---- */

/* The mask's rows and columns are those of the scores, or 1. */
static void guard_mask(ig_expr *e, const ig_attention *a) {
    const ig_type *mask = a->mask->type, *of[] = { a->k->type, a->q->type };
    for (uint32_t i = 0; i < 2 && i < mask->rank; i++) {
        ig_dim own = mask->dims[mask->rank - 1 - i],
               scores = of[i]->dims[of[i]->rank - 2];
        ig_expr_guard_equal(
            e, ig_dim_bcast(e->module, own, scores), scores,
            i ? "a mask must have a row for each query, or one for all"
              : "a mask must have a column for each key, or one for all");
    }
}

static void guard_shapes(ig_expr *e, const ig_attention *a) {
    const ig_type *q = a->q->type, *k = a->k->type, *v = a->v->type;
    if (q->rank < 2 || k->rank < 2 || v->rank < 2) {
        ig_expr_fail(e, IG_INVALID, "attention of vectors");
        return;
    }
    ig_expr_guard_equal(e, q->dims[q->rank - 1], k->dims[k->rank - 1],
                        "queries and keys must have one width");
    ig_expr_guard_equal(e, k->dims[k->rank - 2], v->dims[v->rank - 2],
                        "there must be a value for each key");
    const ig_type *types[] = { q, k, v, a->mask ? a->mask->type : NULL };
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < IG_COUNT_OF(types) && types[i]; i++) {
        const ig_type *t = types[i];
        t = ig_type_with_dims(e->module, t, t->rank > 2 ? t->rank - 2u : 0, t->dims);
        (void)ig_expr_broadcast_dims(e, t, dims, &rank);
    }
    if (a->mask && a->mask->type->rank) {
        guard_mask(e, a);
    }
}

ig_value *ig_compose_attention(ig_expr *e, const ig_attention *a) {
    if (!a->q || !a->k || !a->v) {
        return NULL;
    }
    guard_shapes(e, a);
    bool is_cast = a->mask && a->mask->type->dtype != IG_DT_bool;
    ig_value *mask = is_cast ? ig_expr_like(e, a->mask, a->q) : a->mask;
    return ig_build_attention(e, a->q, a->k, a->v, mask, a->attrs);
}

double ig_compose_attention_scale(ig_expr *e, ig_value **q) {
    int64_t width;
    ig_dim extent = (*q)->type->dims[(*q)->type->rank - 1];
    if (ig_dim_constant(e->module, extent, &width)) {
        return width ? 1 / sqrt((double)width) : 1;
    }
    ig_value *factor = ig_build_rsqrt(e, ig_expr_dim(e, extent, IG_DT_f64));
    *q = ig_build_mul(e, *q, ig_expr_like(e, factor, *q));
    return 1;
}

/* ---- scores ---- */

static ig_value *put_number(ig_expr *e, ig_value *keeps, ig_value *x, double number) {
    return ig_build_where(e, keeps, x,
                          ig_expr_number(e, (ig_dtype)x->type->dtype, number));
}

static ig_value *mask_future(ig_expr *e, ig_value *scores, ig_maybe_dim past) {
    const ig_dim *dims = scores->type->dims + scores->type->rank - 2;
    ig_value *row = ig_expr_axis_iota(e, 2, 0, dims[0]);
    ig_value *column = ig_expr_axis_iota(e, 2, 1, dims[1]);
    if (past.is_set) {
        row = ig_build_add(e, row, ig_expr_dim(e, past.value, IG_DT_i64));
    }
    return put_number(e, ig_build_ge(e, row, column), scores, -(double)INFINITY);
}

static ig_value *mask_scores(ig_expr *e, const ig_attention *a, ig_value *x) {
    ig_maybe_float masked = a->attrs.masked;
    if (a->mask && a->mask->type->dtype == IG_DT_bool) {
        x = put_number(e, a->mask, x, masked.is_set ? masked.value : -(double)INFINITY);
    } else if (a->mask) {
        x = ig_build_add(e, x, ig_expr_like(e, a->mask, x));
    }
    return x && a->attrs.causal ? mask_future(e, x, a->attrs.past) : x;
}

static ig_value *cap_scores(ig_expr *e, ig_value *x, ig_maybe_float cap) {
    if (!cap.is_set || cap.value <= 0) {
        return x;
    }
    x = ig_build_tanh(e, ig_expr_with(e, IG_OP_div, x, cap.value));
    return ig_expr_with(e, IG_OP_mul, x, cap.value);
}

ig_value *ig_compose_scores(ig_expr *e, const ig_attention *a, ig_scores until) {
    if (!a->q || !a->k) {
        return NULL;
    }
    ig_value *x = ig_expr_matmul_transposed(e, ig_expr_widen(e, a->q),
                                            ig_expr_widen(e, a->k));
    x = ig_expr_with(e, IG_OP_mul, x, a->attrs.scale);
    x = until >= IG_SCORES_capped ? cap_scores(e, x, a->attrs.softcap) : x;
    x = x && until >= IG_SCORES_masked ? mask_scores(e, a, x) : x;
    if (!x || until < IG_SCORES_weights) {
        return x;
    }
    ig_softmax_attrs along = { .axis = x->type->rank - 1,
                               .empty_zero = !a->attrs.empty_nan };
    return ig_build_softmax(e, x, along);
}

static ig_maybe_float read_float(const ig_op *op, uint32_t slot) {
    return (ig_maybe_float){ ig_attr_is_set(op, slot), ig_attr_float(op, slot, 0) };
}

/* ---- shapes that the run knows ---- */

/* Is `own` 1 or `other`, as only the run will know? */
static bool is_open(const ig_expr *e, ig_dim own, ig_dim other) {
    return !ig_dim_is(own, 1) && ig_dim_equal(e->module, own, other) == IG_MAYBE;
}

/* Queries with the mask's extents before the last two, so that scores have the shape
 * that they have with the mask, which can then be added where they are computed. */
static ig_value *spread_queries(ig_expr *e, ig_value *q, const ig_type *mask) {
    ig_dim dims[IG_TENSOR_RANK];
    bool is_spread = false;
    uint32_t rank = q->type->rank;
    for (uint32_t i = 1; i <= rank; i++) {
        bool has_both = i > 2 && i <= mask->rank;
        ig_dim extent = has_both ? mask->dims[mask->rank - i] : ig_dim_of(1);
        ig_dim own = q->type->dims[rank - i];
        bool is_kept = !is_open(e, extent, own);
        dims[rank - i] = is_kept ? ig_dim_of(1) : ig_dim_bcast(e->module, own, extent);
        is_spread |= !is_kept;
    }
    return is_spread ? ig_expr_expand(e, q, rank, dims) : q;
}

/* The mask with the scores' rows and columns. */
static ig_value *spread_mask(ig_expr *e, ig_value *mask, const ig_dim scores[2]) {
    const ig_type *type = mask->type;
    ig_dim dims[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK], starts[IG_TENSOR_RANK];
    bool is_spread = false;
    for (uint32_t d = 0; d < type->rank; d++) {
        bool is_last = d + 2 >= type->rank;
        ig_dim extent = is_last ? scores[d + 2 - type->rank] : type->dims[d];
        bool is_kept = !is_open(e, type->dims[d], extent);
        dims[d] = is_kept ? ig_dim_of(1) : extent;
        sizes[d] = is_kept ? type->dims[d] : extent;
        starts[d] = ig_dim_of(0);
        is_spread |= !is_kept;
    }
    ig_value *wide = is_spread ? ig_expr_expand(e, mask, type->rank, dims) : mask;
    return is_spread ? ig_expr_slices(e, wide, starts, sizes, NULL) : mask;
}

static void spread_operands(ig_expr *e, ig_attention *a) {
    const ig_type *q = a->q->type, *k = a->k->type;
    ig_dim scores[2] = { q->dims[q->rank - 2], k->dims[k->rank - 2] };
    a->q = spread_queries(e, a->q, a->mask->type);
    a->mask = spread_mask(e, a->mask, scores);
}

bool ig_decompose_attention(ig_expr *e, const ig_op *op, ig_value **out_results) {
    bool has_past = ig_attr_is_set(op, IG_attention_past);
    ig_attention a = {
        .q = op->operands[0].value,
        .k = op->operands[1].value,
        .mask = ig_op_operand(op, 3),
        .attrs = { .scale = ig_attr_float(op, IG_attention_scale, 1),
                   .softcap = read_float(op, IG_attention_softcap),
                   .masked = read_float(op, IG_attention_masked),
                   .causal = ig_attr_int(op, IG_attention_causal, 0) != 0,
                   .empty_nan = ig_attr_int(op, IG_attention_empty_nan, 0) != 0 },
    };
    if (has_past) {
        a.attrs.past = (ig_maybe_dim)IG_SET(op->attrs[IG_attention_past].as.dim);
    }
    if (a.mask) {
        spread_operands(e, &a);
    }
    ig_value *weights = ig_compose_scores(e, &a, IG_SCORES_weights);
    ig_value *y = ig_expr_matmul(e, weights, ig_expr_widen(e, op->operands[2].value));
    *out_results = ig_expr_cast(e, y, (ig_dtype)op->results[0].type->dtype);
    return true;
}

/* ---- heads ---- */

ig_value *ig_compose_repeat_heads(ig_expr *e, ig_value *x, const ig_value *q) {
    if (!x || !q || x->type->rank < 3 || q->type->rank < 3) {
        return x;
    }
    uint32_t rank = x->type->rank, axis = rank - 3;
    ig_dim dims[IG_TENSOR_RANK + 1], own = x->type->dims[axis];
    ig_dim all = q->type->dims[q->type->rank - 3];
    int64_t many, few;
    if (ig_dim_equal(e->module, own, all) == IG_YES || ig_dim_is(own, 0)) {
        return x;
    }
    if (ig_dim_known(all, &many) && ig_dim_known(own, &few) && many % few != 0) {
        return ig_expr_fail(e, IG_INVALID, "%lld heads of keys cannot serve %lld",
                            (long long)few, (long long)many);
    }
    x = ig_expr_unsqueeze(e, x, axis + 1);
    if (!x) {
        return NULL;
    }
    memcpy(dims, x->type->dims, (rank + 1) * sizeof(*dims));
    dims[axis + 1] = ig_dim_exact_div(e->module, all, own);
    x = ig_expr_expand(e, x, rank + 1, dims);
    dims[axis] = all;
    memmove(dims + axis + 1, dims + axis + 2, 2 * sizeof(*dims));
    return ig_expr_reshape(e, x, rank, dims);
}

ig_value *ig_compose_split_heads(ig_expr *e, ig_value *x, int64_t heads) {
    if (!x || x->type->rank != 3) {
        return x ? ig_expr_fail(e, IG_INVALID,
                                "heads of a tensor of rank %u, expected 3",
                                x->type->rank)
                 : NULL;
    }
    const ig_dim *d = x->type->dims;
    ig_dim dims[] = { d[0], d[1], ig_dim_of(heads),
                      ig_dim_exact_div(e->module, d[2], ig_dim_of(heads)) };
    return ig_expr_swap(e, ig_expr_reshape(e, x, 4, dims), 1, 2);
}

ig_value *ig_compose_join_heads(ig_expr *e, ig_value *x) {
    x = ig_expr_swap(e, x, 1, 2);
    return ig_expr_merge_axes(e, x, 2, 3);
}

ig_value *ig_compose_rotate(ig_expr *e, ig_value *x, ig_value *cos, ig_value *sin,
                            ig_dim turned, bool is_interleaved) {
    if (!x || !cos || !sin) {
        return NULL;
    }
    ig_module *m = e->module;
    ig_dim zero = ig_dim_of(0), half = ig_dim_floor_div(m, turned, ig_dim_of(2));
    ig_dim rest = ig_dim_sub(m, x->type->dims[3], turned);
    int64_t step = is_interleaved ? 2 : 1;
    ig_dim second = is_interleaved ? ig_dim_of(1) : half;
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *a = ig_expr_slice(e, wide, 3, zero, half, step);
    ig_value *b = ig_expr_slice(e, wide, 3, second, half, step);
    ig_value *parts[] = {
        ig_build_sub(e, ig_expr_map2(e, IG_OP_mul, cos, a),
                     ig_expr_map2(e, IG_OP_mul, sin, b)),
        ig_build_add(e, ig_expr_map2(e, IG_OP_mul, sin, a),
                     ig_expr_map2(e, IG_OP_mul, cos, b)),
    };
    ig_value *y;
    if (is_interleaved) {
        ig_value *pairs[] = { ig_expr_unsqueeze(e, parts[0], 4),
                              ig_expr_unsqueeze(e, parts[1], 4) };
        y = ig_expr_merge_axes(e, ig_expr_concat(e, 4, pairs, 2), 3, 4);
    } else {
        y = ig_expr_concat(e, 3, parts, 2);
    }
    y = y ? ig_expr_like(e, y, x) : NULL;
    if (ig_dim_is(rest, 0)) {
        return y;
    }
    ig_value *both[] = { y, ig_expr_slice(e, x, 3, turned, rest, 1) };
    return ig_expr_concat(e, 3, both, 2);
}
