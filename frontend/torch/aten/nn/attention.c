/* Attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/attention.h"
#include "compose/norm.h"

#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <math.h>

/* The positions of the arguments after query, key and value. */
typedef struct sdpa_positions {
    uint32_t mask, dropout, causal, scale;
} sdpa_positions;

static ig_status read_sdpa(ig_ts_call *call, const sdpa_positions *at,
                           ig_attention *out) {
    *out = (ig_attention){ .q = ig_aten_tensor(call, 0),
                           .k = ig_aten_tensor(call, 1),
                           .v = ig_aten_tensor(call, 2),
                           .mask = ig_aten_optional(call, at->mask),
                           .attrs.causal = ig_aten_bool(call, at->causal) };
    IG_TRY(call->e->status);
    if (ig_aten_float(call, at->dropout) > 0) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "attention with dropout");
    }
    if (out->q->type->rank < 1) {
        return ig_ts_fail(call, IG_INVALID, "attention of scalars");
    }
    out->attrs.scale = ig_ts_is_none(call, at->scale)
                           ? ig_compose_attention_scale(call->e, &out->q)
                           : ig_aten_float(call, at->scale);
    return call->e->status;
}

/* scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, *,
 * scale, enable_gqa) */
ig_status ig_ts_op_sdpa(ig_ts_call *call) {
    ig_attention a;
    sdpa_positions at = { .mask = 3, .dropout = 4, .causal = 5, .scale = 6 };
    IG_TRY(read_sdpa(call, &at, &a));
    if (call->arg_count > 7 && ig_aten_bool(call, 7)) {
        a.k = ig_compose_repeat_heads(call->e, a.k, a.q);
        a.v = ig_compose_repeat_heads(call->e, a.v, a.q);
    }
    return ig_aten_give(call, ig_compose_attention(call->e, &a));
}

/* _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal,
 * *, attn_mask, scale): the logarithm of each row's sum too, which gradients read */
ig_status ig_ts_op_sdpa_flash(ig_ts_call *call) {
    ig_attention a;
    sdpa_positions at = { .dropout = 3, .causal = 4, .mask = 5, .scale = 6 };
    IG_TRY(read_sdpa(call, &at, &a));
    a.k = ig_compose_repeat_heads(call->e, a.k, a.q);
    a.v = ig_compose_repeat_heads(call->e, a.v, a.q);
    ig_value *y = ig_compose_attention(call->e, &a);
    ig_value *scores = ig_compose_scores(call->e, &a, IG_SCORES_masked);
    IG_TRY(call->e->status);
    return ig_aten_give2(call, y,
                         ig_expr_reduce_axis(call->e, IG_REDUCE_logsumexp, scores,
                                             scores->type->rank - 1, false));
}

/* ---- the fast path of nn.MultiheadAttention and nn.TransformerEncoderLayer ---- */

static ig_value *build_linear(ig_ts_call *call, ig_value *x, ig_value *weight,
                              ig_value *bias) {
    x = ig_expr_matmul(call->e, x, weight ? ig_expr_swap(call->e, weight, 0, 1) : NULL);
    return bias ? ig_build_add(call->e, x, bias) : x;
}

/* The mask as [B or 1, heads or 1, L or 1, S], true where a key takes part; a
 * float mask is added. */
static ig_value *shape_mask(ig_ts_call *call, ig_value *mask, int64_t type) {
    ig_dim dims[4] = { ig_dim_of(1), ig_dim_of(1), ig_dim_of(1), ig_dim_of(1) };
    uint32_t rank = mask->type->rank;
    if (type == 1) { /* key padding [B, S] */
        dims[0] = ig_expr_extent(call->e, mask, 0);
        dims[3] = ig_expr_extent(call->e, mask, 1);
    } else {
        for (uint32_t i = 0; i < rank && i < 4; i++) {
            dims[4 - rank + i] = ig_expr_extent(call->e, mask, i);
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
static ig_value *weigh_keys(ig_ts_call *call, ig_attention a, bool is_mean) {
    ig_value *x = ig_compose_scores(call->e, &a, IG_SCORES_weights);
    x = ig_expr_like(call->e, x, a.q);
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
        parts[i] = ig_compose_split_heads(call->e, build_linear(call, a->x[i], w, b),
                                          a->heads);
    }
    ig_attention inner = { .q = parts[0], .k = parts[1], .v = parts[2] };
    inner.mask = a->mask ? shape_mask(call, a->mask, a->mask_type) : NULL;
    inner.attrs.empty_nan = true; /* rows whose keys are all padding */
    inner.attrs.scale = 1 / sqrt((double)a->width / (double)a->heads);
    ig_value *y = ig_compose_attention(call->e, &inner);
    if (out_weights) {
        *out_weights = weigh_keys(call, inner, is_mean);
    }
    y = ig_compose_join_heads(call->e, y);
    return build_linear(call, y, a->out_weight, a->out_bias);
}

/* Of a nested tensor: its padding is left out as keys. */
static void mask_padding(ig_ts_call *call, self_attention *a,
                         const ig_ts_nested *nested) {
    if (nested && a->mask) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "of a nested tensor and a mask");
    } else if (nested) {
        a->mask = ig_build_not(call->e, nested->keep);
        a->mask_type = 1;
    }
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
    ig_ts_nested *nested = ig_ts_nested_of(call, a.x[0]);
    mask_padding(call, &a, nested);
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
    return ig_aten_give2(call, ig_ts_mark_nested(call, y, nested), weights);
}

typedef struct encoder {
    double eps;
    ig_value *weights[2], *biases[2]; /* of the norms */
} encoder;

static ig_value *build_norm(ig_ts_call *call, const encoder *e, int which,
                            ig_value *x) {
    ig_norm norm = { e->weights[which], e->biases[which], e->eps };
    return ig_compose_layer_norm(call->e, x, 2, &norm);
}

/* Arguments 14 … 17: two linear layers, gelu (argument 7) or relu between them. */
static ig_value *feed_forward(ig_ts_call *call, ig_value *x) {
    x = build_linear(call, x, ig_aten_tensor(call, 14), ig_aten_tensor(call, 15));
    x = ig_aten_bool(call, 7) ? ig_build_gelu(call->e, x, (ig_gelu_attrs){ 0 })
                              : ig_build_relu(call->e, x);
    return build_linear(call, x, ig_aten_tensor(call, 16), ig_aten_tensor(call, 17));
}

/* _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias,
 * proj_weight, proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1,
 * norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask,
 * mask_type) */
ig_status ig_ts_op_encoder_layer(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_ts_nested *nested = ig_ts_nested_of(call, x);
    self_attention a = { .width = ig_aten_distance(call, 1),
                         .heads = ig_aten_int(call, 2),
                         .weight = ig_aten_tensor(call, 3),
                         .bias = ig_aten_tensor(call, 4),
                         .out_weight = ig_aten_tensor(call, 5),
                         .out_bias = ig_aten_tensor(call, 6),
                         .mask = ig_aten_optional(call, 18),
                         .mask_type = ig_aten_int_or(call, 19, 0) };
    encoder e = { .eps = ig_aten_float(call, 9) };
    mask_padding(call, &a, nested);
    bool is_first = ig_aten_bool(call, 8);
    for (uint32_t i = 0; i < 2; i++) {
        e.weights[i] = ig_aten_tensor(call, 10 + 2 * i);
        e.biases[i] = ig_aten_tensor(call, 11 + 2 * i);
    }
    if (!check_heads(call, &a)) {
        return call->e->status;
    }
    ig_value *inner = is_first ? build_norm(call, &e, 0, x) : x;
    a.x[0] = a.x[1] = a.x[2] = inner;
    x = ig_build_add(call->e, x, attend_heads(call, &a, false, NULL));
    x = is_first ? x : build_norm(call, &e, 0, x);
    inner = is_first ? build_norm(call, &e, 1, x) : x;
    x = ig_build_add(call->e, x, feed_forward(call, inner));
    x = is_first ? x : build_norm(call, &e, 1, x);
    return ig_aten_give(call, ig_ts_mark_nested(call, x, nested));
}
