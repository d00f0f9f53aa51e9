/* Attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/aten.h"

#include <math.h>
#include <string.h>

/* k or v with as many heads as q: each repeated (enable_gqa). */
static ig_value *repeat_heads(ig_ts_call *call, ig_value *x, const ig_value *q) {
    uint32_t rank = x->type->rank, axis = rank - 3;
    ig_dim dims[IG_TENSOR_RANK + 1];
    if (rank < 3 || q->type->rank < 3) {
        return x;
    }
    ig_dim all = q->type->dims[q->type->rank - 3];
    if (ig_dim_same(x->type->dims[axis], all)) {
        return x;
    }
    ig_dim times = ig_dim_exact_div(call->module, all, x->type->dims[axis]);
    x = ig_expr_unsqueeze(call->e, x, axis + 1);
    memcpy(dims, x->type->dims, (rank + 1) * sizeof *dims);
    dims[axis + 1] = times;
    x = ig_expr_expand(call->e, x, rank + 1, dims);
    dims[axis] = all;
    memmove(dims + axis + 1, dims + axis + 2, 2 * sizeof *dims);
    return ig_expr_reshape(call->e, x, rank, dims);
}

/* Query, key, value; a mask of floats is added in the query's dtype. */
static ig_value *attend(ig_ts_call *call, ig_value *const *qkv, ig_value *mask,
                        double scale, bool causal) {
    ig_attr attrs[IG_attention_attr_count] = { [IG_attention_scale] =
                                                   ig_attr_of_float(scale) };
    if (causal) {
        attrs[IG_attention_causal] = ig_attr_of_bool(true);
    }
    if (mask && mask->type->dtype != IG_DT_bool && qkv[0]) {
        mask = ig_aten_cast(call, mask, (ig_dtype)qkv[0]->type->dtype);
    }
    ig_value *operands[] = { qkv[0], qkv[1], qkv[2], mask };
    return ig_expr_make(call->e, IG_OP_attention, operands, mask ? 4 : 3, attrs);
}

/* 1 / sqrt(the last extent).  Where that is not known the query is scaled, and 1 is
 * left. */
static double default_scale(ig_ts_call *call, ig_value **q) {
    int64_t width;
    ig_dim extent = (*q)->type->dims[(*q)->type->rank - 1];
    if (ig_dim_constant(call->module, extent, &width)) {
        return width ? 1 / sqrt((double)width) : 1;
    }
    ig_dtype dtype = (ig_dtype)(*q)->type->dtype;
    ig_value *factor = ig_build_rsqrt(call->e, ig_expr_dim(call->e, extent, IG_DT_f64));
    *q = ig_build_mul(call->e, *q, ig_aten_cast(call, factor, dtype));
    return 1;
}

/* scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *,
 * scale, enable_gqa) */
ig_status ig_ts_op_sdpa(ig_ts_call *call) {
    ig_value *q = ig_aten_tensor(call, 0), *k = ig_aten_tensor(call, 1);
    ig_value *v = ig_aten_tensor(call, 2), *mask = ig_aten_optional(call, 3);
    IG_TRY(call->e->status);
    if (ig_aten_float(call, 4) > 0) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "attention with dropout");
    }
    if (q->type->rank < 2 || k->type->rank < 2 || v->type->rank < 2) {
        return ig_ts_fail(call, IG_INVALID, "attention of vectors");
    }
    double scale = ig_ts_is_none(call, 6) ? default_scale(call, &q)
                                          : ig_aten_float(call, 6);
    if (call->arg_count > 7 && ig_aten_bool(call, 7)) {
        k = repeat_heads(call, k, q);
        v = repeat_heads(call, v, q);
    }
    IG_TRY(call->e->status);
    return ig_aten_give(call, attend(call, (ig_value *[]){ q, k, v }, mask, scale,
                                     ig_aten_bool(call, 5)));
}

/* ---- the fast path of nn.MultiheadAttention and nn.TransformerEncoderLayer ---- */

static ig_value *linear(ig_ts_call *call, ig_value *x, ig_value *weight,
                        ig_value *bias) {
    x = ig_expr_matmul(call->e, x, weight ? ig_expr_swap(call->e, weight, 0, 1) : NULL);
    return bias ? ig_build_add(call->e, x, bias) : x;
}

/* [B, L, heads * d] -> [B, heads, L, d] */
static ig_value *split_heads(ig_ts_call *call, ig_value *x, int64_t heads) {
    if (!x) {
        return NULL;
    }
    const ig_dim *d = x->type->dims;
    ig_dim dims[] = { d[0], d[1], ig_dim_of(heads),
                      ig_dim_exact_div(call->module, d[2], ig_dim_of(heads)) };
    return ig_expr_swap(call->e, ig_expr_reshape(call->e, x, 4, dims), 1, 2);
}

/* What is masked out as [B or 1, heads or 1, L or 1, S], true where it takes part; a
 * float mask is added. */
static ig_value *shape_mask(ig_ts_call *call, ig_value *mask, int64_t type) {
    ig_dim dims[4] = { ig_dim_of(1), ig_dim_of(1), ig_dim_of(1), ig_dim_of(1) };
    uint32_t rank = mask->type->rank;
    if (type == 1) { /* key padding [B, S] */
        dims[0] = mask->type->dims[0];
        dims[3] = mask->type->dims[1];
    } else {
        for (uint32_t i = 0; i < rank && i < 4; i++) {
            dims[4 - rank + i] = mask->type->dims[i];
        }
    }
    mask = ig_expr_reshape(call->e, mask, 4, dims);
    return mask && mask->type->dtype == IG_DT_bool ? ig_build_not(call->e, mask) : mask;
}

typedef struct self_attention {
    ig_value *x[3]; /* query, key, value */
    ig_value *weight, *bias, *out_weight, *out_bias, *mask;
    int64_t heads, width, mask_type;
} self_attention;

/* How much of each key goes into each query's row: [B, heads, L, S], or its mean over
 * heads. */
static ig_value *weigh(ig_ts_call *call, ig_value *const *qkv, ig_value *mask,
                       double scale, bool is_mean) {
    ig_value *x = ig_expr_with(call->e, IG_OP_mul, qkv[0], scale);
    x = ig_expr_matmul(call->e, x, qkv[1] ? ig_expr_swap(call->e, qkv[1], 2, 3) : NULL);
    if (x && mask && mask->type->dtype == IG_DT_bool) {
        ig_value *never = ig_expr_number(call->e, (ig_dtype)x->type->dtype, -INFINITY);
        x = ig_build_where(call->e, mask, x, never);
    } else if (x && mask) {
        x = ig_build_add(call->e, x, mask);
    }
    ig_attr axis[IG_softmax_attr_count] = { [IG_softmax_axis] = ig_attr_of_int(3) };
    x = ig_expr_make(call->e, IG_OP_softmax, &x, 1, axis);
    return is_mean ? ig_expr_reduce_axis(call->e, IG_REDUCE_mean, x, 1, false) : x;
}

/* The weights go to `out_weights` where it is not NULL. */
static ig_value *attend_heads(ig_ts_call *call, const self_attention *a, bool is_mean,
                              ig_value **out_weights) {
    ig_value *parts[3];
    for (uint32_t i = 0; i < 3; i++) {
        int64_t start = (int64_t)i * a->width;
        ig_value *w = ig_expr_slice(call->e, a->weight, 0, ig_dim_of(start),
                                    ig_dim_of(a->width), 1);
        ig_value *b = ig_expr_slice(call->e, a->bias, 0, ig_dim_of(start),
                                    ig_dim_of(a->width), 1);
        parts[i] = split_heads(call, linear(call, a->x[i], w, b), a->heads);
    }
    double scale = 1 / sqrt((double)a->width / (double)a->heads);
    ig_value *mask = a->mask ? shape_mask(call, a->mask, a->mask_type) : NULL;
    ig_value *y = attend(call, parts, mask, scale, false);
    if (out_weights) {
        *out_weights = weigh(call, parts, mask, scale, is_mean);
    }
    y = y ? ig_expr_swap(call->e, y, 1, 2) : NULL;
    if (y) {
        ig_dim dims[] = { y->type->dims[0], y->type->dims[1], ig_dim_of(a->width) };
        y = ig_expr_reshape(call->e, y, 3, dims);
    }
    return linear(call, y, a->out_weight, a->out_bias);
}

static bool check_heads(ig_ts_call *call, const self_attention *a) {
    if (call->e->status == IG_OK &&
        (a->heads <= 0 || a->width < 0 || a->width % a->heads)) {
        ig_expr_fail(call->e, IG_INVALID, "%lld heads of width %lld",
                     (long long)a->heads, (long long)a->width);
    }
    return call->e->status == IG_OK;
}

/* _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight,
 * qkv_bias, proj_weight, proj_bias, mask, need_weights, average_attn_weights,
 * mask_type) */
ig_status ig_ts_op_native_mha(ig_ts_call *call) {
    self_attention a = { .mask_type = ig_aten_int_or(call, 12, 0) };
    for (uint32_t i = 0; i < 3; i++) {
        a.x[i] = ig_aten_tensor(call, i);
    }
    a.width = ig_aten_int(call, 3);
    a.heads = ig_aten_int(call, 4);
    a.weight = ig_aten_tensor(call, 5);
    a.bias = ig_aten_tensor(call, 6);
    a.out_weight = ig_aten_tensor(call, 7);
    a.out_bias = ig_aten_tensor(call, 8);
    a.mask = ig_aten_optional(call, 9);
    if (!check_heads(call, &a)) {
        return call->e->status;
    }
    ig_dim zero = ig_dim_of(0);
    ig_value *weights = NULL;
    bool has_weights = ig_aten_bool(call, 10);
    ig_value *y = attend_heads(call, &a, ig_aten_bool(call, 11),
                               has_weights ? &weights : NULL);
    if (!has_weights) {
        weights = ig_expr_fill(call->e, (ig_dtype)a.x[0]->type->dtype, 1, &zero, 0);
    }
    return ig_aten_give2(call, y, weights);
}

typedef struct encoder {
    double eps;
    ig_value *weights[2], *biases[2]; /* of the norms */
} encoder;

static ig_value *norm(ig_ts_call *call, const encoder *e, int which, ig_value *x) {
    ig_attr attrs[IG_layer_norm_attr_count] = {
        [IG_layer_norm_axis] = ig_attr_of_int(2),
        [IG_layer_norm_epsilon] = ig_attr_of_float(e->eps),
    };
    ig_value *operands[] = { x, e->weights[which], e->biases[which] };
    return ig_expr_make(call->e, IG_OP_layer_norm, operands, 3, attrs);
}

/* Arguments 14 … 17: two linear layers, gelu (argument 7) or relu between them. */
static ig_value *feed_forward(ig_ts_call *call, ig_value *x) {
    x = linear(call, x, ig_aten_tensor(call, 14), ig_aten_tensor(call, 15));
    x = ig_expr_map1(call->e, ig_aten_bool(call, 7) ? IG_OP_gelu : IG_OP_relu, x);
    return linear(call, x, ig_aten_tensor(call, 16), ig_aten_tensor(call, 17));
}

/* _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias,
 * proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1,
 * norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask,
 * mask_type) */
ig_status ig_ts_op_encoder_layer(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    self_attention a = { .width = ig_aten_distance(call, 1),
                         .heads = ig_aten_int(call, 2),
                         .weight = ig_aten_tensor(call, 3),
                         .bias = ig_aten_tensor(call, 4),
                         .out_weight = ig_aten_tensor(call, 5),
                         .out_bias = ig_aten_tensor(call, 6),
                         .mask = ig_aten_optional(call, 18),
                         .mask_type = ig_aten_int_or(call, 19, 0) };
    encoder e = { .eps = ig_aten_float(call, 9) };
    bool is_first = ig_aten_bool(call, 8);
    for (uint32_t i = 0; i < 2; i++) {
        e.weights[i] = ig_aten_tensor(call, 10 + 2 * i);
        e.biases[i] = ig_aten_tensor(call, 11 + 2 * i);
    }
    if (!check_heads(call, &a)) {
        return call->e->status;
    }
    ig_value *inner = is_first ? norm(call, &e, 0, x) : x;
    a.x[0] = a.x[1] = a.x[2] = inner;
    x = ig_build_add(call->e, x, attend_heads(call, &a, false, NULL));
    x = is_first ? x : norm(call, &e, 0, x);
    inner = is_first ? norm(call, &e, 1, x) : x;
    x = ig_build_add(call->e, x, feed_forward(call, inner));
    return ig_aten_give(call, is_first ? x : norm(call, &e, 1, x));
}
