/* What language models do beside attention: rotated embeddings, gated activations, and
 * convolutions that carry their state from call to call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/activation.h"
#include "compose/attention.h"
#include "frontend/onnx/ops/hooks.h"

/* ---- RotaryEmbedding ---- */

enum { X, COS, SIN, POSITIONS };

/* A cache as [B, 1, L, half]: the rows at the positions, or the rows given. */
static ig_value *read_cache(const ig_onnx_node *node, uint32_t index) {
    ig_value *cache = ig_onnx_float_input(node, index);
    if (ig_onnx_in(node, POSITIONS)) {
        ig_value *positions = ig_onnx_ranked_input(node, POSITIONS, 2);
        cache = ig_onnx_ranked_input(node, index, 2);
        cache = ig_onnx_has_failed(node)
                    ? NULL
                    : ig_expr_gather(node->e, cache, positions, 0, IG_NEGATIVE_wrap);
    } else {
        cache = ig_onnx_ranked_input(node, index, 3);
    }
    return ig_onnx_has_failed(node)
               ? NULL
               : ig_expr_unsqueeze(node->e, ig_expr_widen(node->e, cache), 1);
}

/* How many elements of a head are turned: the attribute, or all. */
static ig_dim read_turned(const ig_onnx_node *node, ig_dim size) {
    int64_t given = ig_onnx_attr_between(node, "rotary_embedding_dim", 0, 0, INT32_MAX);
    if (given == 0) {
        return size;
    }
    ig_expr_guard_less_equal(node->e, ig_dim_of(given), size,
                             "rotary_embedding_dim must fit into a head");
    return ig_dim_of(given);
}

static ig_value *read_heads(const ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, X);
    if (x->type->rank == 3) {
        int64_t heads = ig_onnx_attr_between(node, "num_heads", 0, 1, INT32_MAX);
        x = ig_onnx_has_failed(node) ? NULL : ig_compose_split_heads(node->e, x, heads);
    } else {
        x = ig_onnx_ranked_input(node, X, 4);
    }
    return ig_onnx_has_failed(node) ? NULL : x;
}

ig_status ig_onnx_import_rotary_embedding(ig_onnx_node *node) {
    ig_expr *e = node->e;
    bool is_interleaved = ig_onnx_attr_bool(node, "interleaved", false);
    ig_value *x = read_heads(node), *cos = read_cache(node, COS),
             *sin = read_cache(node, SIN);
    if (!x || !cos || !sin) {
        return e->status;
    }
    ig_dim size = ig_onnx_extent(e, x, 3), turned = read_turned(node, size);
    ig_dim half = ig_dim_floor_div(e->module, turned, ig_dim_of(2));
    const char *what = "the caches must hold half of the rotated elements";
    ig_expr_guard_equal(e, ig_onnx_extent(e, cos, 3), half, what);
    ig_expr_guard_equal(e, ig_onnx_extent(e, sin, 3), half, what);
    ig_expr_guard_equal(e, ig_dim_mul(e->module, half, ig_dim_of(2)), turned,
                        "the number of rotated elements must be even");
    ig_value *y = ig_compose_rotate(e, x, cos, sin, turned, is_interleaved);
    bool is_joined = node->inputs[X]->type->rank == 3;
    return ig_onnx_give(node, is_joined ? ig_compose_join_heads(e, y) : y);
}

/* ---- SwiGLU ---- */

ig_status ig_onnx_import_swiglu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    ig_value *gate = ig_onnx_float_input(node, 0);
    ig_value *x = ig_onnx_ranked_input(node, 1, gate->type->rank);
    for (uint32_t i = 0; i < gate->type->rank && !ig_onnx_has_failed(node); i++) {
        ig_onnx_guard_extents(node, 0, i, 1, i);
    }
    return ig_onnx_has_failed(node)
               ? node->e->status
               : ig_onnx_give(
                     node,
                     ig_build_mul(node->e, ig_compose_swish(node->e, gate, alpha), x));
}

/* ---- CausalConvWithState ---- */

enum { W = 1, BIAS, PAST };

/* Does the file have channels after positions, [B, L, channels...]? */
static bool is_channels_last(const ig_onnx_node *node) {
    return ig_onnx_row_has_attr(node->row, "channels_last") &&
           ig_onnx_attr_bool(node, "channels_last", false);
}

/* An input as [B, C, L]. */
static ig_value *put_channels_first(const ig_onnx_node *node, uint32_t index) {
    if (!is_channels_last(node)) {
        return ig_onnx_ranked_input(node, index, 3);
    }
    ig_value *x = ig_onnx_in(node, index);
    uint32_t rank = x->type->rank;
    if (rank < 3) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "input %u has rank %u, expected 3 or more", index, rank);
    }
    return ig_expr_swap(node->e, ig_expr_merge_axes(node->e, x, 2, rank - 1u), 1, 2);
}

/* [B, C, L] as the file has it: with the channels' axes of input 0. */
static ig_value *put_channels_back(const ig_onnx_node *node, ig_value *x) {
    ig_dim dims[IG_TENSOR_RANK];
    const ig_type *of = node->inputs[0]->type;
    if (!is_channels_last(node) || !x) {
        return x;
    }
    for (uint32_t i = 0; i < of->rank; i++) {
        dims[i] = i == 1 ? ig_onnx_extent(node->e, x, 2) : of->dims[i];
    }
    return ig_expr_reshape(node->e, ig_expr_swap(node->e, x, 1, 2), of->rank, dims);
}

/* How far apart the kernel's taps are; unsupported forms are errors. */
static int64_t read_dilation(const ig_onnx_node *node) {
    if (!ig_onnx_row_has_attr(node->row, "dilation")) {
        return 1;
    }
    if (ig_onnx_attr_int(node, "ndim", 1) != 1 ||
        ig_onnx_attr_int(node, "state_window", 0) != 0) {
        ig_onnx_fail(
            node, IG_UNSUPPORTED,
            "ndim is %lld and state_window %lld: only one spatial axis and the state after the last position (1, 0) are supported",
            (long long)ig_onnx_attr_int(node, "ndim", 1),
            (long long)ig_onnx_attr_int(node, "state_window", 0));
    }
    return ig_onnx_attr_between(node, "dilation", 1, 1, INT32_MAX);
}

/* x [B, C, L] after the positions before it: the state, or zeros. */
static ig_value *prepend_state(const ig_onnx_node *node, ig_value *x, ig_dim count) {
    ig_expr *e = node->e;
    if (!ig_onnx_in(node, PAST)) {
        ig_dim zero = ig_dim_of(0);
        ig_dim before[] = { zero, zero, count }, after[] = { zero, zero, zero };
        return ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
    }
    ig_value *both[] = { put_channels_first(node, PAST), x };
    if (ig_onnx_has_failed(node)) {
        return NULL;
    }
    for (uint32_t i = 0; i < 2; i++) {
        ig_expr_guard_equal(e, ig_onnx_extent(e, both[0], i), ig_onnx_extent(e, x, i),
                            "the state must have the batch and channels of the input");
    }
    ig_expr_guard_equal(node->e, ig_onnx_extent(e, both[0], 2), count,
                        "the state must have the positions that the kernel looks back");
    return ig_expr_concat(node->e, 2, both, 2);
}

/* The convolution where only the run knows how many channels, and so groups, there are:
 * each element is the sum of a window times its channel's weights. */
static ig_value *sum_windows(const ig_onnx_node *node, ig_value *all, ig_value *w,
                             ig_value *bias, int64_t dilation, ig_dim count) {
    ig_expr *e = node->e;
    ig_dtype wide = w->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    ig_value *first = ig_expr_axis_iota(e, 2, 0, count);
    ig_value *at = ig_expr_axis_iota(e, 2, 1, ig_onnx_extent(e, w, 2));
    at = ig_build_add(e, first, ig_expr_with_integer(e, IG_OP_mul, at, dilation));
    ig_value *windows = ig_expr_gather(e, ig_expr_cast(e, all, wide), at, 2,
                                       IG_NEGATIVE_error);
    ig_value *y = ig_build_mul(e, windows, ig_expr_cast(e, w, wide));
    y = ig_expr_reduce_axis(e, IG_REDUCE_sum, y, 3, false);
    if (bias) {
        ig_value *added = ig_expr_along(e, ig_expr_cast(e, bias, wide), 1, 3);
        y = ig_build_add(e, y, added);
    }
    return ig_expr_like(e, y, node->inputs[0]);
}

ig_status ig_onnx_import_causal_conv(ig_onnx_node *node) {
    ig_expr *e = node->e;
    static const int64_t ones[] = { 1 };
    int64_t channels = 1, dilation = read_dilation(node);
    bool is_silu = ig_onnx_attr_choice(node, "activation", "none silu swish") > 0;
    ig_onnx_float_input(node, 0);
    ig_value *x = put_channels_first(node, 0), *w = ig_onnx_ranked_input(node, W, 3);
    if (ig_onnx_has_failed(node)) {
        return e->status;
    }
    ig_expr_guard_equal(e, ig_onnx_extent(e, x, 1), ig_onnx_extent(e, w, 0),
                        "the weights must have as many channels as the input");
    ig_expr_guard_equal(e, ig_onnx_extent(e, w, 1), ig_dim_of(1),
                        "the weights must have an extent of 1 at axis 1");
    ig_value *bias = ig_onnx_in(node, BIAS)
                         ? ig_onnx_list_input(node, BIAS, ig_onnx_extent(e, w, 0),
                                              "bias must have an entry per channel")
                         : NULL;
    ig_dim count = ig_dim_mul(
        e->module, ig_dim_sub(e->module, ig_onnx_extent(e, w, 2), ig_dim_of(1)),
        ig_dim_of(dilation));
    ig_value *all = prepend_state(node, x, count);
    ig_dim none[] = { ig_dim_of(0) };
    ig_conv_attrs attrs = { .strides = { ones, 1 },
                            .dilations = { &dilation, 1 },
                            .before = { none, 1 },
                            .after = { none, 1 } };
    bool is_known = ig_dim_constant(e->module, ig_onnx_extent(e, w, 0), &channels);
    attrs.group = (ig_maybe_int)IG_SET(channels);
    ig_value *y = is_known ? ig_build_conv(e, all, w, bias, attrs)
                           : sum_windows(node, all, w, bias, dilation,
                                         ig_onnx_extent(e, x, 2));
    if (node->output_count > 1 && all) {
        ig_value *last = ig_expr_slice(e, all, 2, ig_onnx_extent(e, x, 2), count, 1);
        node->outputs[1] = put_channels_back(node, last);
    }
    y = is_silu && y ? ig_compose_swish(e, y, 1) : y;
    return ig_onnx_give(node, put_channels_back(node, y));
}

/* ---- BitCast ---- */

ig_status ig_onnx_import_bit_cast(ig_onnx_node *node) {
    ig_dtype to = ig_onnx_attr_dtype(node, "to", IG_DT_COUNT);
    ig_value *x = node->inputs[0];
    if (x->type->dtype == to) {
        return ig_onnx_give(node, x);
    }
    if (to == IG_DT_bool) {
        return ig_onnx_fail(
            node, IG_UNSUPPORTED,
            "to is BOOL: bytes that are neither 0 nor 1 are not a bool");
    }
    if (x->type->dtype == IG_DT_bool) {
        x = ig_expr_cast(node->e, x, IG_DT_u8);
    }
    bool is_done = x && x->type->dtype == to;
    return ig_onnx_give(
        node,
        is_done ? x : ig_build_bitcast(node->e, x, (ig_bitcast_attrs){ .to = to }));
}
