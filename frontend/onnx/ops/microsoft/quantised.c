/* Quantised operators of com.microsoft: weights in blocks of few bits, and operators on
 * integers with scales, which are dequantised, computed and quantised.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: ONNX Runtime's docs/ContribOperators.md. */
#include "compose/activation.h"
#include "compose/norm.h"
#include "compose/quantise.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/microsoft/bits.h"
#include "frontend/onnx/ops/microsoft/masks.h"

/* ---- weights in blocks ---- */

enum { A, B, SCALES, ZEROS, ORDER, BIAS };

typedef struct blocks {
    ig_onnx_node *node;
    ig_expr *e;
    int64_t k, n, bits, size, count; /* count: blocks of a row */
    ig_dtype wide;
} blocks;

/* The amount subtracted from the numbers of each block: [N, blocks, 1] */
static ig_value *read_zeros(const blocks *w) {
    ig_expr *e = w->e;
    ig_value *zeros = ig_onnx_in(w->node, ZEROS);
    ig_dim dims[] = { ig_dim_of(w->n), ig_dim_of(w->count), ig_dim_of(1) };
    if (!zeros) {
        return ig_expr_number(e, w->wide, (double)(1 << (w->bits - 1)));
    }
    if (zeros->type->dtype == IG_DT_u8) {
        int64_t bytes = (w->count * w->bits + 7) / 8;
        ig_dim packed[] = { dims[0], ig_dim_of(bytes) };
        zeros = ig_onnx_unpack_bits(e, ig_expr_reshape(e, zeros, 2, packed), w->bits);
        zeros = ig_expr_slice(e, zeros, 1, ig_dim_of(0), dims[1], 1);
    }
    return ig_expr_reshape(e, ig_expr_cast(e, zeros, w->wide), 3, dims);
}

/* B as real numbers [N, K]. */
static ig_value *widen_blocks(const blocks *w) {
    ig_expr *e = w->e;
    ig_dim dims[] = { ig_dim_of(w->n), ig_dim_of(w->count),
                      ig_dim_of(w->size * w->bits / 8) };
    ig_value *b = ig_expr_reshape(e, w->node->inputs[B], 3, dims);
    b = ig_expr_cast(e, ig_onnx_unpack_bits(e, b, w->bits), w->wide);
    dims[2] = ig_dim_of(1);
    ig_value *scales = ig_expr_reshape(e, w->node->inputs[SCALES], 3, dims);
    b = ig_build_mul(e, ig_build_sub(e, b, read_zeros(w)),
                     ig_expr_cast(e, scales, w->wide));
    b = b ? ig_expr_merge_axes(e, b, 1, 2) : NULL;
    return b ? ig_expr_slice(e, b, 1, ig_dim_of(0), ig_dim_of(w->k), 1) : NULL;
}

/* a times the transpose of B, whose rows are in blocks of few bits. */
ig_status ig_onnx_import_matmul_nbits(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *a = ig_onnx_float_input(node, A);
    blocks w = { .node = node, .e = e, .wide = IG_DT_f32 };
    w.k = ig_onnx_attr_between(node, "K", 0, 1, INT32_MAX);
    w.n = ig_onnx_attr_between(node, "N", 0, 1, INT32_MAX);
    w.bits = ig_onnx_attr_between(node, "bits", 4, 1, 8);
    w.size = ig_onnx_attr_between(node, "block_size", 0, 1, INT32_MAX);
    IG_TRY(e->status);
    if (w.bits & (w.bits - 1) || w.bits == 1 || w.size * w.bits % 8) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "bits is %lld of blocks of %lld, expected 2, 4 or 8",
                            (long long)w.bits, (long long)w.size);
    }
    if (ig_onnx_in(node, ORDER)) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "g_idx is not supported");
    }
    w.wide = a->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    w.count = (w.k + w.size - 1) / w.size;
    ig_value *y = ig_expr_matmul_transposed(e, ig_expr_cast(e, a, w.wide),
                                            widen_blocks(&w));
    if (ig_onnx_in(node, BIAS)) {
        y = ig_build_add(e, y, ig_expr_cast(e, node->inputs[BIAS], w.wide));
    }
    return ig_onnx_give(node, ig_expr_like(e, y, a));
}

/* Rows of quantised data, made real. */
ig_status ig_onnx_import_gather_blocks(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *data = node->inputs[0], *ids = node->inputs[1], *scales = node->inputs[2];
    uint32_t rank = data->type->rank;
    uint32_t axis = ig_onnx_axis_attr(node, "gather_axis", 0, rank);
    uint32_t along = ig_onnx_axis_attr(node, "quantize_axis", 1, rank);
    int64_t size = ig_onnx_attr_between(node, "block_size", 128, 16, INT32_MAX);
    int64_t bits = ig_onnx_attr_between(node, "bits", 4, 2, 8);
    bool is_packed = data->type->dtype == IG_DT_u8 && bits < 8;
    (void)ig_onnx_ranked_input(node, 2, rank);
    if (ig_onnx_in(node, 3)) {
        (void)ig_onnx_ranked_input(node, 3, rank);
    }
    IG_TRY(e->status);
    if (axis == along || (is_packed && (along + 1 != rank || 8 % bits))) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "gather_axis %u and quantize_axis %u of %lld bits", axis,
                            along, (long long)bits);
    }
    ig_value *zeros = ig_onnx_in(node, 3);
    bool is_byte = data->type->dtype == IG_DT_u8;
    ig_value *x = ig_expr_gather(e, data, ids, axis, IG_NEGATIVE_wrap);
    ig_value *scale = ig_expr_gather(e, scales, ids, axis, IG_NEGATIVE_wrap);
    zeros = zeros ? ig_expr_gather(e, zeros, ids, axis, IG_NEGATIVE_wrap) : NULL;
    x = is_packed ? ig_onnx_unpack_bits(e, x, bits) : x;
    zeros = is_packed && zeros ? ig_onnx_unpack_bits(e, zeros, bits) : zeros;
    IG_TRY(e->status);
    if (axis < along) {
        along = along + ids->type->rank - 1;
    }
    ig_dim extent = ig_onnx_extent(e, scale, along);
    if (zeros && is_packed) { /* the last byte may hold one too many */
        zeros = ig_expr_slice(e, zeros, along, ig_dim_of(0), extent, 1);
    }
    ig_value *real = ig_expr_cast(e, x, IG_DT_f32);
    IG_TRY(e->status);
    ig_value *block = ig_expr_axis_iota(e, 1, 0, ig_onnx_extent(e, real, along));
    block = ig_expr_with_integer(e, IG_OP_div, block, size);
    scale = ig_expr_gather(e, ig_expr_cast(e, scale, IG_DT_f32), block, along,
                           IG_NEGATIVE_error);
    ig_value *zero = ig_expr_number(e, IG_DT_f32,
                                    is_byte ? (double)(1 << (bits - 1)) : 0);
    if (zeros) {
        zero = ig_expr_gather(e, ig_expr_cast(e, zeros, IG_DT_f32), block, along,
                              IG_NEGATIVE_error);
    }
    real = ig_build_mul(e, ig_build_sub(e, real, zero), scale);
    return ig_onnx_give(node, ig_expr_like(e, real, scales));
}

/* ---- operators between integers with scales ---- */

/* Inputs first (integers), first + 1 (scale), first + 2 (zero point) as f32. */
static ig_value *read_real(const ig_onnx_node *node, uint32_t first) {
    if (!ig_onnx_needs_input(node, first) || !ig_onnx_needs_input(node, first + 1)) {
        return NULL;
    }
    ig_quant_params q = { .scale = ig_onnx_scalar_input(node, first + 1), .axis = -1 };
    if (ig_onnx_in(node, first + 2)) {
        q.zero_point = ig_onnx_scalar_input(node, first + 2);
    }
    return ig_compose_dequantize(node->e, node->inputs[first], &q, IG_DT_f32);
}

static ig_status needs_integers(const ig_onnx_node *node, ig_dtype to) {
    return ig_dtype_is_int(to)
               ? IG_OK
               : ig_onnx_fail(node, IG_INVALID,
                              "gives elements of type %s, expected integers",
                              ig_dtypes[to].name);
}

/* y as integers of scale and zero point `first`, `first` + 1. */
static ig_status give_integers(ig_onnx_node *node, ig_value *y, uint32_t first,
                               ig_dtype absent) {
    IG_TRY(ig_onnx_needs_input(node, first) ? IG_OK : node->e->status);
    ig_quant_params q = { .scale = ig_onnx_scalar_input(node, first), .axis = -1 };
    ig_dtype to = absent;
    if (ig_onnx_in(node, first + 1)) {
        q.zero_point = ig_onnx_scalar_input(node, first + 1);
        to = (ig_dtype)node->inputs[first + 1]->type->dtype;
    }
    IG_TRY(node->e->status);
    IG_TRY(needs_integers(node, to));
    return ig_onnx_give(node,
                        ig_compose_quantize(node->e, y, &q, to, IG_ROUNDING_divide));
}

static ig_dtype dtype_in(const ig_onnx_node *node, uint32_t index) {
    return (ig_dtype)node->inputs[index]->type->dtype;
}

ig_status ig_onnx_import_qlinear_mul(ig_onnx_node *node) {
    ig_value *y = ig_build_mul(node->e, read_real(node, 0), read_real(node, 3));
    return give_integers(node, y, 6, dtype_in(node, 0));
}

/* What operand `first` of a sum adds to it in steps of `scale`: its part that every
 * element shares in *out_fixed. */
static ig_value *scale_operand(const ig_onnx_node *node, uint32_t first,
                               ig_value *scale, ig_value **out_fixed) {
    ig_expr *e = node->e;
    if (!ig_onnx_needs_input(node, first) || !ig_onnx_needs_input(node, first + 1)) {
        return NULL;
    }
    ig_value *ratio = ig_build_div(e, ig_onnx_scalar_input(node, first + 1), scale);
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0);
    if (ig_onnx_in(node, first + 2)) {
        zero = ig_expr_cast(e, ig_onnx_scalar_input(node, first + 2), IG_DT_f32);
    }
    *out_fixed = ig_build_mul(e, ratio, zero);
    return ig_build_mul(e, ig_expr_cast(e, node->inputs[first], IG_DT_f32), ratio);
}

/* Both operands are scaled by the quotients of scales, in f32: exact ties, which equal
 * steps have often, stay ties.  The sum with its zero point is rounded, as a whole. */
ig_status ig_onnx_import_qlinear_add(ig_onnx_node *node) {
    ig_expr *e = node->e;
    IG_TRY(ig_onnx_needs_input(node, 6) ? IG_OK : e->status);
    ig_value *scale = ig_onnx_scalar_input(node, 6), *a_fixed = NULL, *b_fixed = NULL;
    ig_value *zero = ig_expr_number(e, IG_DT_f32, 0);
    ig_dtype to = dtype_in(node, 0);
    if (ig_onnx_in(node, 7)) {
        to = dtype_in(node, 7);
        zero = ig_expr_cast(e, ig_onnx_scalar_input(node, 7), IG_DT_f32);
    }
    ig_value *a = scale_operand(node, 0, scale, &a_fixed);
    ig_value *b = scale_operand(node, 3, scale, &b_fixed);
    ig_value *fixed = ig_build_sub(e, zero, ig_build_add(e, a_fixed, b_fixed));
    ig_value *y = ig_build_add(e, ig_build_add(e, fixed, a), b);
    ig_quant_params whole = { .scale = ig_expr_number(e, IG_DT_f32, 1), .axis = -1 };
    IG_TRY(e->status);
    IG_TRY(needs_integers(node, to));
    return ig_onnx_give(node,
                        ig_compose_quantize(e, y, &whole, to, IG_ROUNDING_divide));
}

ig_status ig_onnx_import_qlinear_leaky_relu(ig_onnx_node *node) {
    double alpha = ig_onnx_attr_float(node, "alpha", 0.01F);
    ig_value *x = read_real(node, 0);
    ig_value *below = ig_expr_with(node->e, IG_OP_mul, x, alpha);
    x = ig_build_where(node->e, ig_expr_with(node->e, IG_OP_ge, x, 0), x, below);
    return give_integers(node, x, 3, dtype_in(node, 0));
}

ig_status ig_onnx_import_qlinear_sigmoid(ig_onnx_node *node) {
    ig_value *y = ig_build_sigmoid(node->e, read_real(node, 0));
    return give_integers(node, y, 3, dtype_in(node, 0));
}

ig_status ig_onnx_import_qlinear_softmax(ig_onnx_node *node) {
    const ig_type *type = node->inputs[0]->type;
    int64_t opset = ig_onnx_attr_int(node, "opset", 13);
    uint32_t axis = ig_onnx_axis_attr(node, "axis", opset < 13 ? 1 : -1, type->rank);
    ig_value *x = read_real(node, 0);
    IG_TRY(node->e->status);
    if (opset < 13 && type->rank) {
        x = ig_expr_merge_axes(node->e, x, axis, type->rank - 1);
    }
    x = ig_build_softmax(node->e, x, (ig_softmax_attrs){ .axis = axis });
    x = ig_expr_reshape(node->e, x, type->rank, type->dims);
    return give_integers(node, x, 3, dtype_in(node, 0));
}

/* Pools of the real numbers, by the pools' own import functions, which read the node's
 * row and attributes. */
static ig_value *pool_real(ig_onnx_node *node, ig_onnx_import_hook pool, ig_value *x) {
    ig_onnx_node real = *node;
    ig_value *outputs[] = { NULL };
    real.inputs = &x;
    real.input_count = 1;
    real.outputs = outputs;
    if (ig_onnx_attr_bool(node, "channels_last", false)) {
        return ig_expr_fail(node->e, IG_UNSUPPORTED, "channels_last is not supported");
    }
    return x && pool(&real) == IG_OK ? outputs[0] : NULL;
}

ig_status ig_onnx_import_qlinear_average_pool(ig_onnx_node *node) {
    ig_value *y = pool_real(node, ig_onnx_import_average_pool, read_real(node, 0));
    return give_integers(node, y, 3, dtype_in(node, 0));
}

ig_status ig_onnx_import_qlinear_global_pool(ig_onnx_node *node) {
    ig_value *y = pool_real(node, ig_onnx_import_global_pool, read_real(node, 0));
    return give_integers(node, y, 3, dtype_in(node, 0));
}

ig_status ig_onnx_import_qlinear_reduce_mean(ig_onnx_node *node) {
    uint32_t rank = node->inputs[0]->type->rank, count = 0;
    ig_ints axes = ig_onnx_attr_list(node, "axes");
    bool keep = ig_onnx_attr_bool(node, "keepdims", true);
    int64_t all[IG_TENSOR_RANK];
    for (; axes.items && count < axes.count && count < rank; count++) {
        all[count] = ig_onnx_axis_of(node, axes.items[count], rank);
    }
    ig_value *y = ig_expr_reduce(node->e, IG_REDUCE_mean, read_real(node, 0),
                                 axes.items ? all : NULL, count, keep);
    return give_integers(node, y, 3, dtype_in(node, 0));
}

/* QLinearConcat(y_scale, y_zero, then x, x_scale, x_zero of each part) */
ig_status ig_onnx_import_qlinear_concat(ig_onnx_node *node) {
    uint32_t given = node->input_count - 2, count = given / 3;
    ig_value **parts = IG_NEW_ARRAY(node->import->arena, ig_value *, count + 1u);
    if (given % 3 || count == 0 || !node->inputs[2]) {
        return ig_onnx_fail(node, IG_INVALID,
                            "has %u inputs, expected 2 and 3 for each part",
                            node->input_count);
    }
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 0, node->inputs[2]->type->rank);
    for (uint32_t i = 0; i < count; i++) {
        if (!node->inputs[2 + 3 * i] || !node->inputs[3 + 3 * i]) {
            return ig_onnx_fail(node, IG_INVALID, "lacks part %u or its scale", i);
        }
        parts[i] = read_real(node, 2 + 3 * i);
    }
    IG_TRY(node->e->status);
    ig_value *y = ig_expr_concat(node->e, axis, parts, count);
    return give_integers(node, y, 0, dtype_in(node, 2));
}

/* QLinearWhere(condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero) */
ig_status ig_onnx_import_qlinear_where(ig_onnx_node *node) {
    ig_value *x = read_real(node, 1), *y = read_real(node, 4);
    y = ig_build_where(node->e, node->inputs[0], x, y);
    return give_integers(node, y, 7, dtype_in(node, 1));
}

/* ---- integer products with real results ---- */

static ig_integers read_bytes(const ig_onnx_node *node, uint32_t value, uint32_t zero) {
    ig_integers x = { node->inputs[value], ig_onnx_in(node, zero) };
    ig_dtype dtype = dtype_in(node, value);
    if (dtype != IG_DT_i8 && dtype != IG_DT_u8) {
        ig_onnx_fail(node, IG_INVALID,
                     "input %u has elements of type %s, expected i8 or u8", value,
                     ig_dtypes[dtype].name);
    }
    if (x.zero_point && x.zero_point->type->rank == 1 &&
        ig_dim_is(ig_onnx_extent(node->e, x.zero_point, 0), 1)) {
        x.zero_point = ig_expr_reshape(node->e, x.zero_point, 0, NULL);
    }
    return x;
}

/* sum * a's scale * b's + bias; scales of columns are along the last axis. */
static ig_status give_products(ig_onnx_node *node, ig_value *sum, ig_value *a_scale,
                               ig_value *b_scale, ig_value *bias) {
    ig_expr *e = node->e;
    ig_value *scale = ig_build_mul(e, ig_expr_cast(e, a_scale, IG_DT_f32),
                                   ig_expr_cast(e, b_scale, IG_DT_f32));
    ig_value *y = ig_build_mul(e, ig_expr_cast(e, sum, IG_DT_f32), scale);
    y = bias ? ig_build_add(e, y, bias) : y;
    return ig_onnx_give(node, y);
}

/* MatMulIntegerToFloat(a, b, a_scale, b_scale, a_zero?, b_zero?, bias?) */
ig_status ig_onnx_import_matmul_to_float(ig_onnx_node *node) {
    ig_integers a = read_bytes(node, 0, 4), b = read_bytes(node, 1, 5);
    ig_value *sum = ig_compose_matmul_integer(node->e, a, b);
    return give_products(node, sum, node->inputs[2], node->inputs[3],
                         ig_onnx_in(node, 6));
}

/* DynamicQuantizeMatMul(a, b, b_scale, b_zero?, bias?) */
ig_status ig_onnx_import_dynamic_matmul(ig_onnx_node *node) {
    ig_value *x = ig_onnx_float_input(node, 0);
    ig_integers b = read_bytes(node, 1, 3);
    IG_TRY(node->e->status);
    ig_quant_params q = ig_compose_choose_quant(node->e, x);
    ig_integers a = { ig_compose_quantize(node->e, x, &q, IG_DT_u8, IG_ROUNDING_divide),
                      q.zero_point };
    ig_value *sum = ig_compose_matmul_integer(node->e, a, b);
    return give_products(node, sum, q.scale, node->inputs[2], ig_onnx_in(node, 4));
}

static ig_value *swap_factor(const ig_onnx_node *node, ig_value *x, const char *attr) {
    return ig_onnx_attr_bool(node, attr, false) ? ig_expr_swap(node->e, x, 0, 1) : x;
}

/* QGemm(a, a_scale, a_zero, b, b_scale, b_zero, c?, y_scale?, y_zero?): real without
 * y_scale. */
ig_status ig_onnx_import_qgemm(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_integers a = read_bytes(node, 0, 2), b = read_bytes(node, 3, 5);
    (void)ig_onnx_ranked_input(node, 0, 2);
    (void)ig_onnx_ranked_input(node, 3, 2);
    IG_TRY(e->status);
    double alpha = ig_onnx_attr_float(node, "alpha", 1);
    a.value = swap_factor(node, a.value, "transA");
    b.value = swap_factor(node, b.value, "transB");
    ig_value *sum = ig_compose_matmul_integer(e, a, b);
    if (ig_onnx_in(node, 6)) {
        sum = ig_build_add(e, sum, node->inputs[6]);
    }
    ig_value *scale = ig_build_mul(e, node->inputs[1], node->inputs[4]);
    scale = ig_expr_with(e, IG_OP_mul, scale, alpha);
    ig_value *y = ig_build_mul(e, ig_expr_cast(e, sum, IG_DT_f32), scale);
    return ig_onnx_in(node, 7) ? give_integers(node, y, 7, dtype_in(node, 0))
                               : ig_onnx_give(node, y);
}

/* ---- QEmbedLayerNormalization ---- */

enum {
    E_WORDS,
    E_SEGMENTS,
    E_WORD_ROWS,
    E_POSITION_ROWS,
    E_SEGMENT_ROWS,
    E_GAMMA,
    E_BETA,
    E_MASK,
    E_SCALES,              /* one for each of the five before the mask */
    E_ZEROS = E_SCALES + 5 /* and zero points */
};

/* Input `index`, or its rows at `ids` (NULL: all), as real numbers. */
static ig_value *read_rows(const ig_onnx_node *node, uint32_t index, ig_value *ids) {
    ig_expr *e = node->e;
    uint32_t at = index - E_WORD_ROWS;
    if (!ig_onnx_needs_input(node, index) ||
        !ig_onnx_needs_input(node, E_SCALES + at) ||
        !ig_onnx_needs_input(node, E_ZEROS + at)) {
        return NULL;
    }
    ig_quant_params q = { .scale = ig_onnx_scalar_input(node, E_SCALES + at),
                          .axis = -1 };
    q.zero_point = ig_onnx_scalar_input(node, E_ZEROS + at);
    ig_value *x = node->inputs[index];
    x = ids ? ig_expr_gather(e, x, ids, 0, IG_NEGATIVE_error) : x;
    return ig_compose_dequantize(e, x, &q, IG_DT_f32);
}

/* The norm of word + position + segment rows; the mask's counts */
ig_status ig_onnx_import_quantised_embed_norm(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *words = ig_onnx_ranked_input(node, E_WORDS, 2);
    IG_TRY(e->status);
    ig_value *at = ig_expr_iota(e, IG_DT_i64, ig_onnx_extent(e, words, 1));
    ig_value *sum = read_rows(node, E_WORD_ROWS, words);
    sum = ig_build_add(e, sum,
                       ig_expr_unsqueeze(e, read_rows(node, E_POSITION_ROWS, at), 0));
    if (ig_onnx_in(node, E_SEGMENTS) && ig_onnx_in(node, E_SEGMENT_ROWS)) {
        ig_value *segments = node->inputs[E_SEGMENTS];
        sum = ig_build_add(e, sum, read_rows(node, E_SEGMENT_ROWS, segments));
    }
    ig_norm norm = { .scale = read_rows(node, E_GAMMA, NULL),
                     .bias = read_rows(node, E_BETA, NULL),
                     .epsilon = ig_onnx_attr_float(node, "epsilon", 1e-12F) };
    IG_TRY(e->status);
    if (node->output_count > 1) {
        node->outputs[1] = ig_onnx_count_masked(node, words, E_MASK);
    }
    return ig_onnx_give(node, ig_compose_layer_norm(e, sum, 2, &norm));
}
