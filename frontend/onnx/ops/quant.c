/* Quantised operators: what they mean in real numbers and in whole ones.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   quantise     y = saturate(round(x / scale) + zero point), ties to even
 *   dequantise   x = (y - zero point) * scale
 *
 * A scale is one number, one for each place of an axis, or one for each block of that
 * axis (ONNX: QuantizeLinear).  Products of integers are sums of at most `depth`
 * products of two bytes: where all of those are whole numbers of f32 the product is
 * computed in f32, whose kernels are fastest, else in a wider type.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/import/import.h"

enum { MOST_PRODUCT = 255 * 255, EXACT_F32 = 1 << 24 };

/* ---- scales and zero points along an axis ---- */

/* Each entry of axis `axis` for `block` places, cut to the extent of x. */
static ig_status spread_blocks(const ig_onnx_node *node, const ig_type *x,
                               uint32_t axis, int64_t block, ig_value **value) {
    ig_module *module = node->import->module;
    const ig_type *type = (*value)->type;
    ig_dim dims[IG_TENSOR_RANK];
    if (type->rank != x->rank || x->rank + 1 > IG_TENSOR_RANK) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "has blocks, but a scale of rank %u for an input of rank %u", type->rank,
            x->rank);
    }
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d + (d > axis)] = type->dims[d];
    }
    dims[axis + 1] = ig_dim_of(1);
    IG_TRY(ig_onnx_reshape(node, *value, type->rank + 1, dims, value));
    dims[axis + 1] = ig_dim_const(module, block);
    ig_attr attrs[IG_expand_attr_count] = {
        [IG_expand_to] = ig_attr_of_dims(module, dims, type->rank + 1),
    };
    IG_TRY(ig_onnx_build(node, IG_OP_expand, 1, value, attrs, value));
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = type->dims[d];
    }
    dims[axis] = ig_dim_mul(module, dims[axis], ig_dim_const(module, block));
    IG_TRY(ig_onnx_reshape(node, *value, type->rank, dims, value));
    return ig_onnx_slice(node, *value, axis, ig_dim_of(0), x->dims[axis], value);
}

/* `value`, a scale or zero point, so that it broadcasts with an input of type `x`. */
static ig_status spread(const ig_onnx_node *node, const ig_type *x, ig_value **value) {
    const ig_type *type = (*value)->type;
    ig_module *module = node->import->module;
    int64_t block = ig_onnx_attr_int(node, "block_size", 0);
    uint32_t axis;
    ig_dim dims[IG_TENSOR_RANK];
    bool is_one = ig_dim_equal(module, ig_type_count(module, type), ig_dim_of(1)) ==
                  IG_YES;
    if (block < 0) {
        return ig_onnx_fail(node, IG_INVALID, "block_size is %lld", (long long)block);
    }
    int64_t given = ig_onnx_attr_int(node, "axis", 1);
    bool has_axis = given >= -(int64_t)x->rank && given < (int64_t)x->rank;
    if (!block && (is_one || !has_axis)) { /* without an axis it must be one number */
        return ig_onnx_reshape(node, *value, 0, NULL, value);
    }
    IG_TRY(ig_onnx_axis(node, given, x->rank, &axis));
    if (block) {
        return spread_blocks(node, x, axis, block, value);
    }
    if (type->rank != 1) {
        return ig_onnx_fail(node, IG_INVALID, "has a scale or zero point of rank %u",
                            type->rank);
    }
    for (uint32_t d = 0; d < x->rank; d++) {
        dims[d] = d == axis ? type->dims[0] : ig_dim_of(1);
    }
    return ig_onnx_reshape(node, *value, x->rank, dims, value);
}

/* ---- to whole numbers and back ---- */

/* Integers saturate; narrow floats do so by their cast. */
static ig_status saturate(const ig_onnx_node *node, ig_value *x, ig_value *zero_point,
                          ig_dtype to, ig_value **out_value) {
    if (ig_dtype_is_float(to)) {
        bool saturates = ig_onnx_attr_int(node, "saturate", 1) != 0;
        ig_attr attrs[IG_cast_attr_count] = {
            [IG_cast_to] = ig_attr_of_dtype(to),
            [IG_cast_saturate] = ig_attr_of_bool(saturates),
        };
        return ig_onnx_build(node, IG_OP_cast, 1, &x, attrs, out_value);
    }
    uint32_t bits = ig_dtypes[to].bits;
    bool is_signed = ig_dtypes[to].class == IG_SINT;
    double most = (double)(((int64_t)1 << (bits - is_signed)) - 1);
    IG_TRY(ig_onnx_build1(node, IG_OP_round, x, &x));
    if (zero_point) {
        IG_TRY(ig_onnx_build2(node, IG_OP_add, x, zero_point, &x));
    }
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_max, x, is_signed ? -most - 1 : 0, &x));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_min, x, most, &x));
    *out_value = ig_make_cast(node->builder, x, to);
    return IG_OK;
}

/* Inputs that are scales and zero points must be tensors, and x too. */
static ig_status check_tensors(const ig_onnx_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (ig_onnx_in(node, i)) {
            IG_TRY(ig_onnx_tensor(node, i));
        }
    }
    return IG_OK;
}

static ig_status output_dtype(const ig_onnx_node *node, ig_dtype absent,
                              ig_dtype *out_dtype) {
    int64_t code = ig_onnx_attr_int(node, "output_dtype", 0);
    *out_dtype = absent;
    return code == 0 || ig_dtype_from_onnx((int32_t)code, out_dtype)
               ? IG_OK
               : ig_onnx_fail(node, IG_UNSUPPORTED, "output_dtype %lld is not known",
                              (long long)code);
}

/* QuantizeLinear(x, scale, zero_point?) */
ig_status ig_onnx_import_quantize(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    ig_value *x = ig_make_cast(node->builder, node->inputs[0], IG_DT_f32);
    ig_value *scale = ig_make_cast(node->builder, node->inputs[1], IG_DT_f32);
    ig_value *zero_point = ig_onnx_in(node, 2);
    ig_dtype to;
    IG_TRY(output_dtype(node, zero_point ? (ig_dtype)zero_point->type->dtype : IG_DT_u8,
                        &to));
    IG_TRY(spread(node, x->type, &scale));
    if (zero_point) {
        zero_point = ig_make_cast(node->builder, zero_point, IG_DT_f32);
        IG_TRY(spread(node, x->type, &zero_point));
    }
    IG_TRY(ig_onnx_build2(node, IG_OP_div, x, scale, &x));
    return saturate(node, x, zero_point, to, &node->outputs[0]);
}

/* x - zero point, in the first type that holds it exactly; wide integers may wrap. */
static ig_status centre(const ig_onnx_node *node, ig_value *x, ig_value *zero_point,
                        ig_dtype dtype, ig_value **out_value) {
    *out_value = ig_make_cast(node->builder, x, dtype);
    if (!zero_point) {
        return IG_OK;
    }
    zero_point = ig_make_cast(node->builder, zero_point, dtype);
    return ig_onnx_build2(node, IG_OP_sub, *out_value, zero_point, out_value);
}

/* DequantizeLinear(x, scale, zero_point?) */
ig_status ig_onnx_import_dequantize(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    ig_value *x = node->inputs[0], *scale = node->inputs[1];
    ig_value *zero_point = ig_onnx_in(node, 2);
    ig_dtype to, narrow = (ig_dtype)scale->type->dtype;
    IG_TRY(output_dtype(node, narrow, &to));
    IG_TRY(spread(node, x->type, &scale));
    if (zero_point) {
        IG_TRY(spread(node, x->type, &zero_point));
    }
    bool is_wide = x->type->dtype == IG_DT_i32;
    IG_TRY(centre(node, x, zero_point, is_wide ? IG_DT_i32 : IG_DT_f32, &x));
    x = ig_make_cast(node->builder, x, IG_DT_f32);
    scale = ig_make_cast(node->builder, scale, IG_DT_f32);
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, x, scale, &x));
    node->outputs[0] = ig_make_cast(node->builder, x, to);
    return IG_OK;
}

static ig_status extreme(const ig_onnx_node *node, ig_reduce op, ig_opcode with_zero,
                         ig_value **out_value) {
    int64_t axes[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < node->inputs[0]->type->rank; d++) {
        axes[d] = d;
    }
    uint32_t rank = node->inputs[0]->type->rank;
    ig_attr attrs[IG_reduce_attr_count] = {
        [IG_reduce_op] = ig_attr_of_enum(op),
        [IG_reduce_axes] = ig_attr_of_ints(node->import->module, axes, rank),
    };
    IG_TRY(ig_onnx_build(node, IG_OP_reduce, 1, node->inputs, attrs, out_value));
    return ig_onnx_build_scalar(node, with_zero, *out_value, 0, out_value);
}

/* DynamicQuantizeLinear(x): u8, with the scale and zero point that hold x and 0; the
 * scale is 1 where x is nothing but 0. */
ig_status ig_onnx_import_quantize_dynamic(ig_onnx_node *node) {
    IG_TRY(ig_onnx_float_tensor(node, 0));
    ig_value *low, *high, *scale, *zero_point, *is_none, *x = node->inputs[0];
    IG_TRY(extreme(node, IG_REDUCE_min, IG_OP_min, &low));
    IG_TRY(extreme(node, IG_REDUCE_max, IG_OP_max, &high));
    IG_TRY(ig_onnx_build2(node, IG_OP_sub, high, low, &scale));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_div, scale, 255, &scale));
    IG_TRY(ig_onnx_build_scalar(node, IG_OP_eq, scale, 0, &is_none));
    ig_value *choice[] = { is_none, ig_onnx_scalar(node, IG_DT_f32, 1), scale };
    IG_TRY(ig_onnx_build(node, IG_OP_where, 3, choice, NULL, &scale));
    IG_TRY(ig_onnx_build1(node, IG_OP_neg, low, &zero_point));
    IG_TRY(ig_onnx_build2(node, IG_OP_div, zero_point, scale, &zero_point));
    IG_TRY(saturate(node, zero_point, NULL, IG_DT_u8, &zero_point));
    IG_TRY(ig_onnx_build2(node, IG_OP_div, x, scale, &x));
    IG_TRY(saturate(node, x, ig_make_cast(node->builder, zero_point, IG_DT_f32),
                    IG_DT_u8, &node->outputs[0]));
    node->outputs[1] = scale;
    node->outputs[2] = zero_point;
    return IG_OK;
}

/* ---- products ---- */

/* The type in which sums of `depth` products of bytes are exact and fast. */
static ig_dtype exact_type(const ig_onnx_node *node, ig_dim depth, ig_dtype wide) {
    int64_t count;
    bool is_known = ig_dim_constant(node->import->module, depth, &count);
    return is_known && count <= EXACT_F32 / MOST_PRODUCT ? IG_DT_f32 : wide;
}

/* Zero points of rows stand along the last axis but one. */
static ig_status as_rows(const ig_onnx_node *node, ig_value **zero_point) {
    const ig_type *type = *zero_point ? (*zero_point)->type : NULL;
    if (!type || type->rank != 1) {
        return IG_OK;
    }
    ig_dim dims[] = { type->dims[0], ig_dim_of(1) };
    return ig_onnx_reshape(node, *zero_point, 2, dims, zero_point);
}

/* A tensor of whole numbers and what they stand for; zero points may be absent. */
typedef struct quantised {
    ig_value *value, *scale, *zero_point;
} quantised;

/* The product of a - a's zero point and b - b's, as whole numbers in f32 or i32. */
static ig_status whole_matmul(const ig_onnx_node *node, quantised a, quantised b,
                              ig_value **out_value) {
    const ig_type *type = a.value->type;
    if (type->rank == 0) {
        return ig_onnx_fail(node, IG_INVALID, "multiplies a scalar");
    }
    ig_dtype wide = exact_type(node, type->dims[type->rank - 1], IG_DT_i32);
    ig_value *inputs[2];
    ig_onnx_node product = *node;
    IG_TRY(as_rows(node, &a.zero_point));
    IG_TRY(centre(node, a.value, a.zero_point, wide, &inputs[0]));
    IG_TRY(centre(node, b.value, b.zero_point, wide, &inputs[1]));
    product.inputs = inputs;
    product.input_count = 2;
    product.outputs = out_value;
    return ig_onnx_import_matmul(&product);
}

/* MatMulInteger(a, b, a_zero_point?, b_zero_point?) */
ig_status ig_onnx_import_matmul_integer(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    quantised a = { node->inputs[0], NULL, ig_onnx_in(node, 2) };
    quantised b = { node->inputs[1], NULL, ig_onnx_in(node, 3) };
    ig_value *sum;
    IG_TRY(whole_matmul(node, a, b, &sum));
    node->outputs[0] = ig_make_cast(node->builder, sum, IG_DT_i32);
    return IG_OK;
}

/* y = saturate(round(sum * (a's scale * b's / y's)) + y's zero point) */
static ig_status requantise(const ig_onnx_node *node, ig_value *sum, quantised a,
                            quantised b, quantised y) {
    ig_builder *at = node->builder;
    ig_value *factor, *y_scale = ig_make_cast(at, y.scale, IG_DT_f32);
    ig_value *a_scale = ig_make_cast(at, a.scale, IG_DT_f32);
    ig_value *b_scale = ig_make_cast(at, b.scale, IG_DT_f32);
    ig_value *zero_point = ig_make_cast(at, y.zero_point, IG_DT_f32);
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, a_scale, b_scale, &factor));
    IG_TRY(ig_onnx_build2(node, IG_OP_div, factor, y_scale, &factor));
    sum = ig_make_cast(at, sum, IG_DT_f32);
    IG_TRY(ig_onnx_build2(node, IG_OP_mul, sum, factor, &sum));
    return saturate(node, sum, zero_point, (ig_dtype)y.zero_point->type->dtype,
                    &node->outputs[0]);
}

/* QLinearMatMul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) */
ig_status ig_onnx_import_qlinear_matmul(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    ig_value *sum, **in = node->inputs;
    quantised a = { in[0], in[1], in[2] }, b = { in[3], in[4], in[5] };
    quantised y = { NULL, in[6], in[7] };
    IG_TRY(whole_matmul(node, a, b, &sum));
    IG_TRY(as_rows(node, &a.scale));
    return requantise(node, sum, a, b, y);
}

/* [M] as [M, 1, 1 …] of rank `rank`; what is one number stays so. */
static ig_status over_channels(const ig_onnx_node *node, uint32_t rank,
                               ig_value **value) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!*value || (*value)->type->rank != 1) {
        return IG_OK;
    }
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d == 0 ? (*value)->type->dims[0] : ig_dim_of(1);
    }
    return ig_onnx_reshape(node, *value, rank, dims, value);
}

/* As whole_matmul, in i32; a bias of i32 is added to the sums. */
static ig_status whole_conv(const ig_onnx_node *node, quantised x, quantised w,
                            ig_value *bias, ig_value **out_value) {
    const ig_type *weights = w.value->type;
    uint32_t rank = weights->rank;
    if (rank < 3 || x.value->type->rank != rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "needs an input and weights of one rank, 3 or more");
    }
    ig_dim depth = ig_dim_product(node->import->module, weights->dims + 1, rank - 1);
    ig_dtype wide = exact_type(node, depth, IG_DT_f64);
    ig_value *inputs[2];
    ig_onnx_node conv = *node;
    IG_TRY(over_channels(node, rank, &w.zero_point));
    if (x.zero_point) {
        IG_TRY(ig_onnx_reshape(node, x.zero_point, 0, NULL, &x.zero_point));
    }
    IG_TRY(centre(node, x.value, x.zero_point, wide, &inputs[0]));
    IG_TRY(centre(node, w.value, w.zero_point, wide, &inputs[1]));
    conv.inputs = inputs;
    conv.input_count = 2;
    conv.outputs = out_value;
    IG_TRY(ig_onnx_import_conv(&conv));
    *out_value = ig_make_cast(node->builder, *out_value, IG_DT_i32);
    IG_TRY(over_channels(node, rank - 1, &bias));
    return bias ? ig_onnx_build2(node, IG_OP_add, *out_value, bias, out_value) : IG_OK;
}

/* ConvInteger(x, w, x_zero_point?, w_zero_point?) */
ig_status ig_onnx_import_conv_integer(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    quantised x = { node->inputs[0], NULL, ig_onnx_in(node, 2) };
    quantised w = { node->inputs[1], NULL, ig_onnx_in(node, 3) };
    return whole_conv(node, x, w, NULL, &node->outputs[0]);
}

/* QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?) */
ig_status ig_onnx_import_qlinear_conv(ig_onnx_node *node) {
    IG_TRY(check_tensors(node));
    ig_value *sum, **in = node->inputs;
    quantised x = { in[0], in[1], in[2] }, w = { in[3], in[4], in[5] };
    quantised y = { NULL, in[6], in[7] };
    IG_TRY(whole_conv(node, x, w, ig_onnx_in(node, 8), &sum));
    IG_TRY(over_channels(node, sum->type->rank - 1, &w.scale));
    return requantise(node, sum, x, w, y);
}
