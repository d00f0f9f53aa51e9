/* Attention: heads, a cache of past keys, masks, and what it shows of its scores.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     scores = (q sqrt(s)) (k sqrt(s))'     cap tanh(scores / cap)     + mask
 *     softmax(scores) v
 *
 * Column c takes part for row r where c <= r + offset (causal): the offset is the
 * length of the past, or what the cache holds beyond this call's rows.  A row in which
 * nothing takes part gives 0.  Narrow floats are computed in f32.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

#include <math.h>
#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };
enum { Y, PRESENT_K, PRESENT_V, SCORES };
enum { RAW, CAPPED, MASKED, WEIGHTS };

typedef struct attend {
    ig_onnx_node *node;
    ig_dtype dtype, wide;
    bool is_flat;      /* three axes: heads lie side by side */
    ig_value *in[3];   /* [B, heads, length, width] */
    ig_value *allowed; /* bool, or NULL */
    ig_dim past;       /* columns that were there before */
} attend;

/* ---- pieces ---- */

static ig_status transpose(const attend *a, ig_value *x, ig_value **out_value) {
    static const int64_t perm[] = { 0, 2, 1, 3 };
    ig_attr attrs[IG_transpose_attr_count] = { { 0 } };
    attrs[IG_transpose_perm] = ig_attr_of_ints(a->node->import->module, perm, 4);
    return ig_onnx_build(a->node, IG_OP_transpose, 1, &x, attrs, out_value);
}

static ig_status matmul(const attend *a, ig_value *x, ig_value *y, bool transposes_y,
                        ig_value **out_value) {
    ig_attr attrs[IG_matmul_attr_count] = { { 0 } };
    if (transposes_y) {
        attrs[IG_matmul_transpose_b] = ig_attr_of_bool(true);
    }
    return ig_onnx_build(a->node, IG_OP_matmul, 2, (ig_value *[]){ x, y }, attrs,
                         out_value);
}

/* i64 0 … extent - 1, along the last axis but `behind`. */
static ig_status count_up(const attend *a, ig_dim extent, uint32_t behind,
                          ig_value **out_value) {
    ig_builder *b = a->node->builder;
    ig_dim dims[2] = { extent, ig_dim_of(1) };
    ig_attr attrs[IG_dims_attr_count] = { { 0 } };
    attrs[IG_dims_values] = ig_attr_of_dims(a->node->import->module, &extent, 1);
    attrs[IG_dims_scalar] = ig_attr_of_bool(true);
    ig_value *limit, *x;
    IG_TRY(ig_onnx_build(a->node, IG_OP_dims, 0, NULL, attrs, &limit));
    ig_value *operands[] = { ig_make_i64(b, 0), limit, ig_make_i64(b, 1) };
    IG_TRY(ig_onnx_build(a->node, IG_OP_range, 3, operands, NULL, &x));
    return ig_onnx_reshape(a->node, x, 1 + behind, dims, out_value);
}

/* ---- operands ---- */

/* [B, L, heads * width] to [B, heads, L, width]. */
static ig_status split_heads(const attend *a, const char *attr, ig_value **x) {
    ig_module *module = a->node->import->module;
    const ig_type *type = (*x)->type;
    int64_t heads = ig_onnx_attr_int(a->node, attr, 0);
    if (heads < 1 || heads > INT32_MAX) {
        return ig_onnx_fail(a->node, IG_INVALID,
                            "%s is %lld, and the inputs have three axes", attr,
                            (long long)heads);
    }
    ig_dim width = ig_dim_exact_div(module, type->dims[2], ig_dim_const(module, heads));
    ig_dim dims[] = { type->dims[0], type->dims[1], ig_dim_of(heads), width };
    IG_TRY(ig_onnx_reshape(a->node, *x, 4, dims, x));
    return transpose(a, *x, x);
}

static ig_status read_operands(attend *a) {
    static const char *const heads[] = { "q_num_heads", "kv_num_heads",
                                         "kv_num_heads" };
    for (uint32_t i = Q; i <= V; i++) {
        IG_TRY(ig_onnx_float_tensor(a->node, i));
        a->in[i] = a->node->inputs[i];
        uint32_t rank = a->in[i]->type->rank;
        if (rank != 3 && rank != 4) {
            return ig_onnx_fail(a->node, IG_INVALID,
                                "input %u has rank %u, expected 3 or 4", i, rank);
        }
        a->is_flat = a->is_flat || rank == 3;
        if (rank == 3) {
            IG_TRY(split_heads(a, heads[i], &a->in[i]));
        }
    }
    a->dtype = (ig_dtype)a->in[Q]->type->dtype;
    a->wide = ig_dtypes[a->dtype].bits < 32 ? IG_DT_f32 : a->dtype;
    return IG_OK;
}

/* What was there before comes first; both together are results. */
static ig_status join_past(attend *a) {
    for (uint32_t i = K; i <= V; i++) {
        ig_value *past = ig_onnx_in(a->node, i - K + PAST_K);
        if (past) {
            IG_TRY(ig_onnx_tensor(a->node, i - K + PAST_K));
            if (past->type->rank != 4) {
                return ig_onnx_fail(a->node, IG_INVALID,
                                    "the past has rank %u, expected 4",
                                    past->type->rank);
            }
            a->past = past->type->dims[2];
            ig_attr attrs[IG_concat_attr_count] = { { 0 } };
            ig_value *both[] = { past, a->in[i] };
            attrs[IG_concat_axis] = ig_attr_of_int(2);
            IG_TRY(ig_onnx_build(a->node, IG_OP_concat, 2, both, attrs, &a->in[i]));
        }
        uint32_t result = i - K + PRESENT_K;
        if (result < a->node->output_count) {
            a->node->outputs[result] = a->in[i];
        }
    }
    return IG_OK;
}

/* Each head of keys and values serves several of queries. */
static ig_status repeat_heads(attend *a, uint32_t which) {
    ig_module *module = a->node->import->module;
    const ig_type *type = a->in[which]->type;
    ig_dim all = a->in[Q]->type->dims[1], own = type->dims[1];
    if (ig_dim_equal(module, all, own) == IG_YES || ig_dim_is(own, 0)) {
        return IG_OK;
    }
    ig_dim times = ig_dim_exact_div(module, all, own);
    ig_dim apart[] = { type->dims[0], own, ig_dim_of(1), type->dims[2], type->dims[3] };
    ig_dim wide[] = { type->dims[0], own, times, type->dims[2], type->dims[3] };
    ig_dim dims[] = { type->dims[0], all, type->dims[2], type->dims[3] };
    ig_attr attrs[IG_expand_attr_count] = { { 0 } };
    attrs[IG_expand_to] = ig_attr_of_dims(module, wide, 5);
    ig_value *x;
    IG_TRY(ig_onnx_reshape(a->node, a->in[which], 5, apart, &x));
    IG_TRY(ig_onnx_build(a->node, IG_OP_expand, 1, &x, attrs, &x));
    return ig_onnx_reshape(a->node, x, 4, dims, &a->in[which]);
}

/* ---- masks ---- */

static ig_status allow(attend *a, ig_value *which) {
    if (!a->allowed) {
        a->allowed = which;
        return IG_OK;
    }
    return ig_onnx_build2(a->node, IG_OP_and, a->allowed, which, &a->allowed);
}

/* lengths [B] as [B, 1, 1, 1] */
static ig_status read_lengths(const attend *a, ig_value **out_value) {
    ig_value *x = ig_onnx_in(a->node, LENGTHS);
    *out_value = NULL;
    if (!x) {
        return IG_OK;
    }
    IG_TRY(ig_onnx_tensor(a->node, LENGTHS));
    if (x->type->rank != 1) {
        return ig_onnx_fail(a->node, IG_INVALID, "input %d has rank %u, expected 1",
                            LENGTHS, x->type->rank);
    }
    ig_dim dims[] = { x->type->dims[0], ig_dim_of(1), ig_dim_of(1), ig_dim_of(1) };
    x = ig_make_cast(a->node->builder, x, IG_DT_i64);
    return ig_onnx_reshape(a->node, x, 4, dims, out_value);
}

/* Columns behind a row's length, and with `causal` those of the future. */
static ig_status allow_columns(attend *a, ig_dim rows, ig_dim columns) {
    ig_builder *b = a->node->builder;
    ig_value *row, *column, *lengths, *is_in;
    IG_TRY(read_lengths(a, &lengths));
    IG_TRY(count_up(a, columns, 0, &column));
    if (lengths) {
        IG_TRY(ig_onnx_build2(a->node, IG_OP_lt, column, lengths, &is_in));
        IG_TRY(allow(a, is_in));
    }
    if (!ig_onnx_attr_int(a->node, "is_causal", 0)) {
        return IG_OK;
    }
    IG_TRY(count_up(a, rows, 1, &row));
    ig_value *offset = ig_make_dims(b, &a->past, 1), *count = ig_make_dims(b, &rows, 1);
    if (lengths) {
        IG_TRY(ig_onnx_build2(a->node, IG_OP_sub, lengths, count, &offset));
    }
    IG_TRY(ig_onnx_build2(a->node, IG_OP_add, row, offset, &row));
    IG_TRY(ig_onnx_build2(a->node, IG_OP_le, column, row, &is_in));
    return allow(a, is_in);
}

/* A mask that ends early lets nothing behind its end take part. */
static ig_status widen_mask(const attend *a, ig_dim columns, ig_value **mask) {
    ig_module *module = a->node->import->module;
    const ig_type *type = (*mask)->type;
    uint32_t last = type->rank - 1;
    bool is_whole = ig_dim_is(type->dims[last], 1) ||
                    ig_dim_equal(module, type->dims[last], columns) != IG_NO;
    if (is_whole) {
        return IG_OK;
    }
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    after[last] = ig_dim_sub(module, columns, type->dims[last]);
    double none = type->dtype == IG_DT_bool ? 0 : -(double)INFINITY;
    ig_value *operands[] = { *mask,
                             ig_onnx_scalar(a->node, (ig_dtype)type->dtype, none) };
    ig_attr attrs[IG_pad_attr_count] = { { 0 } };
    attrs[IG_pad_before] = ig_attr_of_dims(module, before, type->rank);
    attrs[IG_pad_after] = ig_attr_of_dims(module, after, type->rank);
    return ig_onnx_build(a->node, IG_OP_pad, 2, operands, attrs, mask);
}

static ig_status mask_scores(attend *a, ig_value **scores) {
    ig_value *mask = ig_onnx_in(a->node, MASK);
    ig_dim rows = (*scores)->type->dims[2], columns = (*scores)->type->dims[3];
    if (mask) {
        IG_TRY(ig_onnx_tensor(a->node, MASK));
        if (mask->type->rank < 1 || mask->type->rank > 4) {
            return ig_onnx_fail(a->node, IG_INVALID, "the mask has rank %u",
                                mask->type->rank);
        }
        IG_TRY(widen_mask(a, columns, &mask));
        if (mask->type->dtype == IG_DT_bool) {
            IG_TRY(allow(a, mask));
        } else {
            mask = ig_make_cast(a->node->builder, mask, a->wide);
            IG_TRY(ig_onnx_build2(a->node, IG_OP_add, *scores, mask, scores));
        }
    }
    IG_TRY(allow_columns(a, rows, columns));
    if (!a->allowed) {
        return IG_OK;
    }
    ig_value *none = ig_onnx_scalar(a->node, a->wide, -(double)INFINITY);
    return ig_onnx_build(a->node, IG_OP_where, 3,
                         (ig_value *[]){ a->allowed, *scores, none }, NULL, scores);
}

/* ---- scores ---- */

static ig_status score(attend *a, ig_value **out_scores) {
    ig_module *module = a->node->import->module;
    ig_builder *b = a->node->builder;
    int64_t width;
    ig_value *q = ig_make_cast(b, a->in[Q], a->wide);
    ig_value *k = ig_make_cast(b, a->in[K], a->wide);
    double scale = ig_onnx_attr_float(a->node, "scale", 0);
    if (scale == 0) {
        if (!ig_dim_constant(module, a->in[Q]->type->dims[3], &width) || width == 0) {
            return ig_onnx_fail(a->node, IG_UNSUPPORTED,
                                "the width of heads is only known when it runs");
        }
        scale = 1 / sqrt((double)width);
    }
    IG_TRY(ig_onnx_build_scalar(a->node, IG_OP_mul, q, sqrt(scale), &q));
    IG_TRY(ig_onnx_build_scalar(a->node, IG_OP_mul, k, sqrt(scale), &k));
    return matmul(a, q, k, true, out_scores);
}

static ig_status cap(const attend *a, ig_value **scores) {
    double limit = ig_onnx_attr_float(a->node, "softcap", 0);
    if (limit <= 0) {
        return IG_OK;
    }
    IG_TRY(ig_onnx_build_scalar(a->node, IG_OP_div, *scores, limit, scores));
    IG_TRY(ig_onnx_build1(a->node, IG_OP_tanh, *scores, scores));
    return ig_onnx_build_scalar(a->node, IG_OP_mul, *scores, limit, scores);
}

static ig_status weigh(const attend *a, ig_value *scores, ig_value **out_weights) {
    ig_attr attrs[IG_softmax_attr_count] = { { 0 } };
    ig_attr along[IG_reduce_attr_count] = { { 0 } };
    int64_t axis = 3;
    ig_value *most, *is_none;
    attrs[IG_softmax_axis] = ig_attr_of_int(axis);
    along[IG_reduce_op] = ig_attr_of_enum(IG_REDUCE_max);
    along[IG_reduce_axes] = ig_attr_of_ints(a->node->import->module, &axis, 1);
    along[IG_reduce_keep] = ig_attr_of_bool(true);
    IG_TRY(ig_onnx_build(a->node, IG_OP_softmax, 1, &scores, attrs, out_weights));
    IG_TRY(ig_onnx_build(a->node, IG_OP_reduce, 1, &scores, along, &most));
    IG_TRY(ig_onnx_build_scalar(a->node, IG_OP_eq, most, -(double)INFINITY, &is_none));
    ig_value *zero = ig_onnx_scalar(a->node, a->wide, 0);
    return ig_onnx_build(a->node, IG_OP_where, 3,
                         (ig_value *[]){ is_none, zero, *out_weights }, NULL,
                         out_weights);
}

static void show(const attend *a, int64_t stage, ig_value *scores) {
    int64_t wanted = ig_onnx_attr_int(a->node, "qk_matmul_output_mode", 0);
    if (a->node->output_count > SCORES && wanted == stage) {
        a->node->outputs[SCORES] = ig_make_cast(a->node->builder, scores, a->dtype);
    }
}

static ig_status join_heads(const attend *a, ig_value *y) {
    ig_module *module = a->node->import->module;
    y = ig_make_cast(a->node->builder, y, a->dtype);
    if (a->is_flat) {
        IG_TRY(transpose(a, y, &y));
        ig_dim width = ig_dim_mul(module, y->type->dims[2], y->type->dims[3]);
        ig_dim dims[] = { y->type->dims[0], y->type->dims[1], width };
        IG_TRY(ig_onnx_reshape(a->node, y, 3, dims, &y));
    }
    a->node->outputs[Y] = y;
    return IG_OK;
}

ig_status ig_onnx_import_attention(ig_onnx_node *node) {
    attend a = { .node = node };
    ig_value *scores, *weights, *y;
    int64_t mode = ig_onnx_attr_int(node, "qk_matmul_output_mode", 0);
    if (mode < RAW || mode > WEIGHTS) {
        return ig_onnx_fail(node, IG_INVALID, "qk_matmul_output_mode is %lld",
                            (long long)mode);
    }
    IG_TRY(read_operands(&a));
    IG_TRY(join_past(&a));
    IG_TRY(repeat_heads(&a, K));
    IG_TRY(repeat_heads(&a, V));
    IG_TRY(score(&a, &scores));
    show(&a, RAW, scores);
    IG_TRY(cap(&a, &scores));
    show(&a, CAPPED, scores);
    IG_TRY(mask_scores(&a, &scores));
    show(&a, MASKED, scores);
    IG_TRY(weigh(&a, scores, &weights));
    show(&a, WEIGHTS, weights);
    ig_value *v = ig_make_cast(node->builder, a.in[V], a.wide);
    IG_TRY(matmul(&a, weights, v, false, &y));
    return join_heads(&a, y);
}
