/* Forms of com.microsoft of operators that ai.onnx has too, or that tools for training
 * and signals write.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/activation.h"
#include "compose/math/fourier.h"
#include "frontend/onnx/ops/hooks.h"

#include <math.h>
#include <string.h>

/* ---- other inputs than ai.onnx's ---- */

/* Pads may be [1, 2 * rank]. */
ig_status ig_onnx_import_pad_of_rows(ig_onnx_node *node) {
    ig_onnx_node inner = *node;
    ig_value *in[] = { node->inputs[0], node->inputs[1], ig_onnx_in(node, 2) };
    in[1] = ig_expr_flatten(node->e, in[1]);
    IG_TRY(node->e->status);
    inner.inputs = in;
    inner.input_count = in[2] ? 3 : 2;
    return ig_onnx_import_pad(&inner);
}

/* Of a vector: its values in order of appearance, where each element has its own, and
 * how often each is there. */
ig_status ig_onnx_import_unique_of_vector(ig_onnx_node *node) {
    ig_value *found[4], *x = ig_onnx_ranked_input(node, 0, 1);
    IG_TRY(node->e->status);
    ig_unique_attrs attrs = { .order = IG_UNIQUE_first };
    if (!ig_expr_results(ig_build_unique(node->e, x, attrs), found)) {
        return node->e->status;
    }
    for (uint32_t i = 1; i < node->output_count; i++) {
        node->outputs[i] = found[i + 1];
    }
    return ig_onnx_give(node, found[0]);
}

/* The product of integers of 16 bits, in i32 or, of both without a sign, u32. */
ig_status ig_onnx_import_matmul_16(ig_onnx_node *node) {
    ig_expr *e = node->e;
    bool has_sign = false;
    for (uint32_t i = 0; i < 2; i++) {
        ig_dtype dtype = (ig_dtype)node->inputs[i]->type->dtype;
        if (dtype != IG_DT_i16 && dtype != IG_DT_u16) {
            return ig_onnx_fail(node, IG_INVALID,
                                "input %u has elements of type %s, expected i16 or u16",
                                i, ig_dtypes[dtype].name);
        }
        has_sign = has_sign || dtype == IG_DT_i16;
    }
    ig_dtype wide = has_sign ? IG_DT_i32 : IG_DT_u32;
    return ig_onnx_give(node, ig_expr_matmul(e, ig_expr_cast(e, node->inputs[0], wide),
                                             ig_expr_cast(e, node->inputs[1], wide)));
}

/* QLinearConv, where channels may be last. */
ig_status ig_onnx_import_qlinear_conv_of_last(ig_onnx_node *node) {
    enum { MAX = 9 };
    ig_expr *e = node->e;
    ig_value *in[MAX], *y = NULL;
    uint32_t rank = node->inputs[0]->type->rank;
    if (!ig_onnx_attr_bool(node, "channels_last", false)) {
        return ig_onnx_import_qlinear_conv(node);
    }
    if (rank < 3) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3 or more",
                            rank);
    }
    memcpy(in, node->inputs, node->input_count * sizeof *in);
    in[0] = ig_expr_move_axis(e, in[0], rank - 1, 1);
    IG_TRY(e->status);
    ig_onnx_node inner = *node;
    inner.inputs = in;
    inner.outputs = &y;
    IG_TRY(ig_onnx_import_qlinear_conv(&inner));
    return ig_onnx_give(node, ig_expr_move_axis(e, y, 1, rank - 1));
}

/* Windows of an axis, as a new last axis. */
ig_status ig_onnx_import_unfold_tensor(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0];
    uint32_t rank = x->type->rank;
    int64_t size = ig_onnx_attr_between(node, "size", 0, 1, INT32_MAX);
    int64_t step = ig_onnx_attr_between(node, "step", 1, 1, INT32_MAX);
    uint32_t axis = ig_onnx_axis_attr(node, "dim", -1, rank);
    IG_TRY(e->status);
    ig_dim width = ig_dim_of(size);
    ig_expr_guard_less_equal(e, width, ig_onnx_extent(e, x, axis),
                             "a window must fit into its axis");
    ig_dim rest = ig_dim_sub(e->module, ig_onnx_extent(e, x, axis), width);
    ig_dim count = ig_dim_add(
        e->module, ig_dim_floor_div(e->module, rest, ig_dim_of(step)), ig_dim_of(1));
    ig_value *first = ig_expr_with_integer(e, IG_OP_mul,
                                           ig_expr_axis_iota(e, 2, 0, count), step);
    ig_value *at = ig_build_add(e, first, ig_expr_axis_iota(e, 2, 1, width));
    ig_value *y = ig_expr_gather(e, x, at, axis, IG_NEGATIVE_error);
    return ig_onnx_give(node, ig_expr_move_axis(e, y, axis + 1, rank));
}

/* ---- sums and gates ---- */

/* dropout(x + bias) + residual */
ig_status ig_onnx_import_bias_dropout(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *in[] = { ig_build_add(e, node->inputs[0], node->inputs[1]),
                       ig_onnx_in(node, 3), ig_onnx_in(node, 4) };
    ig_value *residual = ig_onnx_in(node, 2);
    IG_TRY(e->status);
    ig_onnx_node inner = *node;
    inner.inputs = in;
    inner.input_count = IG_COUNT_OF(in);
    IG_TRY(ig_onnx_import_dropout(&inner));
    ig_value *y = inner.outputs[0];
    return ig_onnx_give(node, residual ? ig_build_add(e, y, residual) : y);
}

/* x + y * gate, the product rounded as one of its own */
ig_status ig_onnx_import_gated_add(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *y = ig_build_mul(e, ig_onnx_float_input(node, 1), node->inputs[2]);
    return ig_onnx_give(node, ig_build_add(e, ig_onnx_float_input(node, 0), y));
}

/* z * sigmoid(z), z = x * scale, each rounded as one of its own */
ig_status ig_onnx_import_scaled_silu(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_value *scale = ig_onnx_in(node, 1)
                          ? ig_onnx_scalar_input(node, 1)
                          : ig_expr_number(e, IG_DT_f32,
                                           ig_onnx_attr_float(node, "alpha", 1));
    ig_value *z = ig_build_mul(e, ig_expr_cast(e, x, IG_DT_f32),
                               ig_expr_cast(e, scale, IG_DT_f32));
    z = ig_expr_like(e, z, x);
    return ig_onnx_give(node, ig_build_mul(e, z, ig_build_sigmoid(e, z)));
}

/* gelu by tanh of x times w, plus a bias */
ig_status ig_onnx_import_gemm_gelu(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *y = ig_expr_matmul(e, ig_onnx_float_input(node, 0), node->inputs[1]);
    if (ig_onnx_in(node, 2)) {
        y = ig_build_add(e, y, node->inputs[2]);
    }
    return ig_onnx_give(node, ig_build_gelu(e, y, (ig_gelu_attrs){ .tanh = true }));
}

/* (a - a_zero) * (b - b_zero) of bytes, in i32 */
ig_status ig_onnx_import_mul_integers(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *part[2];
    if (!ig_onnx_needs_input(node, 2)) {
        return e->status;
    }
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = node->inputs[2 * i], *zero = ig_onnx_in(node, 2 * i + 1);
        ig_dtype dtype = (ig_dtype)x->type->dtype;
        if (dtype != IG_DT_i8 && dtype != IG_DT_u8) {
            return ig_onnx_fail(node, IG_INVALID,
                                "input %u has elements of type %s, expected i8 or u8",
                                2 * i, ig_dtypes[dtype].name);
        }
        part[i] = ig_expr_cast(e, x, IG_DT_i32);
        if (zero) {
            zero = ig_onnx_scalar_input(node, 2 * i + 1);
            part[i] = ig_build_sub(e, part[i], ig_expr_cast(e, zero, IG_DT_i32));
        }
    }
    return ig_onnx_give(node, ig_build_mul(e, part[0], part[1]));
}

/* ---- complex numbers: pairs along the last axis ---- */

static ig_value *take_half(ig_expr *e, ig_value *x, int64_t index) {
    return ig_expr_select(e, x, x->type->rank - 1u, ig_dim_of(index));
}

static ig_value *join_halves(ig_expr *e, ig_value *re, ig_value *im) {
    uint32_t rank = re ? re->type->rank : 0;
    ig_value *both[] = { ig_expr_unsqueeze(e, re, rank),
                         ig_expr_unsqueeze(e, im, rank) };
    return ig_expr_concat(e, rank, both, 2);
}

/* Input `index`, whose last axis must be 2. */
static ig_value *read_pairs(const ig_onnx_node *node, uint32_t index) {
    ig_value *x = ig_onnx_float_input(node, index);
    uint32_t rank = x->type->rank;
    if (rank < 1) {
        return ig_expr_fail(node->e, IG_INVALID, "input %u has rank 0, expected more",
                            index);
    }
    ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, x, rank - 1), ig_dim_of(2),
                        "the last axis of complex numbers must be 2");
    return x;
}

/* The row's variant: times the conjugate of b. */
ig_status ig_onnx_import_complex_mul(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = read_pairs(node, 0), *y = read_pairs(node, 1);
    IG_TRY(e->status);
    ig_value *a = take_half(e, x, 0), *b = take_half(e, x, 1), *c = take_half(e, y, 0);
    ig_value *d = take_half(e, y, 1);
    d = node->row->variant ? ig_build_neg(e, d) : d;
    ig_value *re = ig_build_sub(e, ig_build_mul(e, a, c), ig_build_mul(e, b, d));
    ig_value *im = ig_build_add(e, ig_build_mul(e, a, d), ig_build_mul(e, b, c));
    return ig_onnx_give(node, join_halves(e, re, im));
}

static ig_status check_transform(const ig_onnx_node *node) {
    int64_t axes = ig_onnx_attr_int(node, "signal_ndim", 1);
    if (axes != 1 || ig_onnx_attr_int(node, "normalized", 0) != 0 ||
        ig_onnx_attr_int(node, "onesided", 1) != 1) {
        return ig_onnx_fail(
            node, IG_UNSUPPORTED,
            "a transform along %lld axes, normalized or not onesided; supported is one along the last axis, onesided and not normalized",
            (long long)axes);
    }
    return node->e->status;
}

/* n real numbers as the first n / 2 + 1 frequencies. */
ig_status ig_onnx_import_rfft(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_float_input(node, 0);
    uint32_t rank = x->type->rank;
    IG_TRY(check_transform(node));
    if (rank == 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank 0, expected more");
    }
    ig_dim half = ig_dim_floor_div(e->module, ig_onnx_extent(e, x, rank - 1),
                                   ig_dim_of(2));
    ig_complex real = { ig_expr_widen(e, x), NULL };
    ig_complex y =
        ig_compose_dft_open(e, real, ig_dim_add(e->module, half, ig_dim_of(1)), false);
    return ig_onnx_give(node, ig_expr_like(e, join_halves(e, y.re, y.im), x));
}

/* And back: an even number of real numbers, divided by how many they are. */
ig_status ig_onnx_import_irfft(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = read_pairs(node, 0);
    IG_TRY(check_transform(node));
    if (x->type->rank < 2) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 2 or more",
                            x->type->rank);
    }
    ig_dim count = ig_dim_sub(e->module, ig_onnx_extent(e, x, x->type->rank - 2),
                              ig_dim_of(1));
    ig_dim n = ig_dim_mul(e->module, count, ig_dim_of(2));
    ig_value *wide = ig_expr_widen(e, x);
    ig_complex parts = { take_half(e, wide, 0), take_half(e, wide, 1) };
    ig_value *y = ig_compose_dft_to_real_open(e, parts, n);
    y = ig_build_div(e, y, ig_expr_like(e, ig_expr_dim(e, n, IG_DT_f64), wide));
    return ig_onnx_give(node, ig_expr_like(e, y, x));
}

/* ---- NGramRepeatBlock ---- */

/* -inf for each token that would end a run of ngram_size tokens that was there. */
ig_status ig_onnx_import_block_repeats(ig_onnx_node *node) {
    ig_expr *e = node->e;
    int64_t size = ig_onnx_attr_between(node, "ngram_size", 0, 1, INT16_MAX);
    ig_value *ids = ig_onnx_ranked_input(node, 0, 2);
    ig_value *scores = ig_onnx_ranked_input(node, 1, 2);
    IG_TRY(e->status);
    ig_onnx_guard_extents(node, 0, 0, 1, 0);
    ids = ig_expr_cast(e, ids, IG_DT_i64);
    ig_dim zero = ig_dim_of(0), length = ig_onnx_extent(e, ids, 1),
           back = ig_dim_of(size - 1);
    ig_dim count = ig_dim_max(e->module, ig_dim_sub(e->module, length, back), zero);
    /* Too few tokens are preceded by some that are none. */
    ig_dim room = ig_dim_max(e->module, ig_dim_sub(e->module, back, length), zero);
    ig_dim before[] = { zero, room }, after[] = { zero, zero };
    ids = ig_expr_pad(e, ids, before, after, IG_PAD_constant, -1);
    ig_dim first = ig_dim_sub(e->module, ig_dim_add(e->module, room, length), back);
    ig_value *is_run = ig_expr_number(e, IG_DT_bool, 1);
    for (int64_t i = 0; i + 1 < size; i++) {
        ig_dim at = ig_dim_add(e->module, first, ig_dim_of(i));
        ig_value *last = ig_expr_slice(e, ids, 1, at, ig_dim_of(1), 1);
        ig_value *own = ig_expr_slice(e, ids, 1, ig_dim_of(i), count, 1);
        is_run = ig_build_and(e, is_run, ig_build_eq(e, own, last));
    }
    ig_value *ends = ig_expr_slice(e, ids, 1, back, count, 1);
    ig_dim words = ig_onnx_extent(e, scores, 1), none[] = { zero, zero };
    ig_dim extra[] = { zero, ig_dim_of(1) };
    ends = ig_build_where(e, is_run, ends, ig_expr_dim(e, words, IG_DT_i64));
    ig_dim dims[] = { ig_onnx_extent(e, ends, 0), ig_onnx_extent(e, ends, 1) };
    ig_value *gone = ig_expr_fill(e, (ig_dtype)scores->type->dtype, 2, dims,
                                  -(double)INFINITY);
    ig_value *y = ig_expr_pad(e, scores, none, extra, IG_PAD_constant, 0);
    y = ig_build_scatter_elements(e, y, ends, gone,
                                  (ig_scatter_elements_attrs){ .axis = 1 });
    return ig_onnx_give(node, y ? ig_expr_slice(e, y, 1, zero, words, 1) : NULL);
}
