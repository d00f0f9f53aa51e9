/* Numbers of few bits: bytes taken apart, and MatMulBnb4 of com.microsoft, whose
 * weights are places in a table of 16 floats.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md, and QLoRA (arXiv 2305.14314) for
 * the table of NF4. */
#include "frontend/onnx/ops/microsoft/bits.h"

#include "frontend/onnx/ops/hooks.h"

/* Part i of each byte is `shifts[i]` bits up: a new last axis of `count` parts, which
 * joins the one before it. */
static ig_value *take_parts(ig_expr *e, ig_value *x, int64_t bits,
                            const int32_t *shifts, int64_t count) {
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    x = ig_expr_unsqueeze(e, ig_expr_cast(e, x, IG_DT_i32), rank);
    ig_value *at = ig_expr_constant(e, "shifts", IG_DT_i32, 1, &count, shifts);
    x = ig_build_shr(e, x, at);
    x = ig_expr_with_integer(e, IG_OP_and, x, (1 << bits) - 1);
    return rank ? ig_expr_merge_axes(e, x, rank - 1, rank) : x;
}

ig_value *ig_onnx_unpack_bits(ig_expr *e, ig_value *x, int64_t bits) {
    static const int32_t pairs[] = { 0, 4 }, quads[] = { 0, 2, 4, 6 };
    if (bits == 8) {
        return ig_expr_cast(e, x, IG_DT_i32);
    }
    return take_parts(e, x, bits, bits == 4 ? pairs : quads, 8 / bits);
}

/* ---- MatMulBnb4 ---- */

enum { A, B, ABSMAX };
enum { NUMBERS = 16 };

/* The meaning of each number of 4 bits: FP4 (a sign, then two bits of exponent and one
 * of mantissa), and NF4 (quantiles of the normal distribution). */
static const float meanings[2][NUMBERS] = {
    { 0.0F, 5.208333333e-03F, 0.66666667F, 1.0F, 0.33333333F, 0.5F, 0.16666667F, 0.25F,
      -0.0F, -5.208333333e-03F, -0.66666667F, -1.0F, -0.33333333F, -0.5F, -0.16666667F,
      -0.25F },
    { -1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F,
      -0.28444138169288635F, -0.18477343022823334F, -0.09105003625154495F, 0.0F,
      0.07958029955625534F, 0.16093020141124725F, 0.24611230194568634F,
      0.33791524171829224F, 0.44070982933044434F, 0.5626170039176941F,
      0.7229568362236023F, 1.0F },
};

/* B [N, K] as real numbers: of each byte the upper bits come first, and each block of
 * numbers, counted through all rows, has a factor. */
static ig_value *read_table_weights(const ig_onnx_node *node, int64_t n, int64_t k,
                                    int64_t block, int64_t kind) {
    static const int32_t shifts[] = { 4, 0 };
    const int64_t count = NUMBERS;
    ig_expr *e = node->e;
    ig_dim all = ig_dim_of(n * k), zero = ig_dim_of(0);
    int64_t bytes = (n * k + 1) / 2, blocks = (n * k + block - 1) / block;
    ig_value *b = ig_onnx_list_input(node, B, ig_dim_of(bytes),
                                     "B must have a byte for each two weights");
    ig_value *max = ig_onnx_list_input(node, ABSMAX, ig_dim_of(blocks),
                                       "absmax must have an entry for each block");
    ig_value *table = ig_expr_constant(e, "meanings", IG_DT_f32, 1, &count,
                                       meanings[kind]);
    b = ig_expr_gather(e, table, take_parts(e, b, 4, shifts, 2), 0, IG_NEGATIVE_error);
    int64_t rest = blocks * block - 2 * bytes; /* the last block may end early */
    if (rest) {
        ig_dim after = ig_dim_of(rest);
        b = ig_expr_pad(e, b, &zero, &after, IG_PAD_constant, 0);
    }
    b = ig_expr_reshape(e, b, 2, (ig_dim[]){ ig_dim_of(blocks), ig_dim_of(block) });
    max = ig_expr_cast(e, max, IG_DT_f32);
    b = ig_build_mul(e, b, ig_expr_unsqueeze(e, max, 1));
    b = ig_expr_slice(e, ig_expr_flatten(e, b), 0, zero, all, 1);
    return ig_expr_reshape(e, b, 2, (ig_dim[]){ ig_dim_of(n), ig_dim_of(k) });
}

/* a [..., K] times the transpose of B, or with transB = 0 a [..., N] times B. */
ig_status ig_onnx_import_matmul_table(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *a = ig_onnx_float_input(node, A);
    int64_t k = ig_onnx_attr_between(node, "K", 0, 1, INT32_MAX);
    int64_t n = ig_onnx_attr_between(node, "N", 0, 1, INT32_MAX);
    int64_t block = ig_onnx_attr_between(node, "block_size", 0, 1, INT32_MAX);
    int64_t kind = ig_onnx_attr_between(node, "quant_type", 0, 0, 1);
    bool is_transposed = ig_onnx_attr_bool(node, "transB", true);
    IG_TRY(e->status);
    if (node->inputs[B]->type->dtype != IG_DT_u8 || block % 2) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "B has elements of type %s in blocks of %lld, expected u8 "
                            "and an even number",
                            ig_dtypes[node->inputs[B]->type->dtype].name,
                            (long long)block);
    }
    a = ig_expr_cast(e, a, IG_DT_f32);
    ig_value *b = read_table_weights(node, n, k, block, kind);
    IG_TRY(e->status);
    ig_value *y = is_transposed ? ig_expr_matmul_transposed(e, a, b)
                                : ig_expr_matmul(e, a, b);
    return ig_onnx_give(node, ig_expr_like(e, y, node->inputs[A]));
}
