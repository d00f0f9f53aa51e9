/* Result types of quantize, dequantize and products of 8-bit integers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/hooks.h"
#include "ir/infer/infer.h"

/* ---- scales and zero points ---- */

typedef struct quant_slots {
    uint32_t axis, block;
} quant_slots;

static bool is_integer(ig_dtype dtype) {
    return ig_dtype_is_int(dtype) && ig_dtypes[dtype].bits <= 32;
}

static bool is_small_float(ig_dtype dtype) {
    return ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits <= 8;
}

/* Operand `operand` broadcasts to the shape of operand `to`. */
static ig_status check_shape(const ig_op *op, uint32_t operand, uint32_t to) {
    const ig_type *type = ig_operand_type(op, to);
    uint32_t rank = type->rank;
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = type->dims[d];
    }
    IG_TRY(ig_check_broadcast(op, operand, dims, &rank));
    bool fits = rank == type->rank;
    for (uint32_t d = 0; fits && d < rank; d++) {
        fits = ig_claim_equal(ig_op_module(op), dims[d], type->dims[d]);
    }
    if (!fits) {
        return INFER_ERROR(op, "operand %u is %s, expected one that broadcasts to %s",
                           operand, ig_operand_text(op, operand),
                           ig_operand_text(op, to));
    }
    return IG_OK;
}

/* One element for each `block` indices of the axis, and x's extents elsewhere. */
static ig_status check_blocks(const ig_op *op, uint32_t operand, uint32_t axis,
                              int64_t block) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    if (block < 1) {
        return INFER_ERROR(op, "block is %lld, expected 1 or more", (long long)block);
    }
    IG_TRY(ig_check_rank(op, operand, x->rank));
    for (uint32_t d = 0; d < x->rank; d++) {
        ig_dim count = x->dims[d];
        if (d == axis) {
            count = ig_dim_ceil_div(module, count, ig_dim_of(block));
        }
        IG_TRY(ig_check_extent(op, operand, d, count,
                               d == axis ? "the number of blocks" : "operand 0", NULL));
    }
    return IG_OK;
}

/* Operand `operand` against x. */
static ig_status check_param(const ig_op *op, uint32_t operand, quant_slots slots) {
    const ig_type *x = ig_operand_type(op, 0), *type = ig_operand_type(op, operand);
    bool has_axis = ig_attr_is_set(op, slots.axis);
    uint32_t axis = 0;
    if (!has_axis && ig_attr_is_set(op, slots.block)) {
        return INFER_ERROR(op, "block is given without the axis that has the blocks");
    }
    if (has_axis) {
        IG_TRY(ig_check_axis(op, ig_attr_int(op, slots.axis, 0), x->rank, &axis));
    }
    if (ig_attr_is_set(op, slots.block)) {
        return check_blocks(op, operand, axis, ig_attr_int(op, slots.block, 0));
    }
    if (has_axis && type->rank > 0) {
        IG_TRY(ig_check_rank(op, operand, 1));
        return ig_check_extent(op, operand, 0, x->dims[axis], "operand 0 on the axis",
                               NULL);
    }
    return check_shape(op, operand, 0);
}

/* The zero point, if any: elements of `dtype`, or f32. */
static ig_status check_params(const ig_op *op, ig_dtype dtype, quant_slots slots) {
    IG_TRY(ig_check_float(op, 1));
    IG_TRY(check_param(op, 1, slots));
    if (op->operand_count < 3) {
        return IG_OK;
    }
    ig_dtype zero = (ig_dtype)ig_operand_type(op, 2)->dtype;
    if (zero != dtype && zero != IG_DT_f32) {
        return INFER_ERROR(op, "the zero point is %s, expected elements of type %s",
                           ig_operand_text(op, 2), ig_dtypes[dtype].name);
    }
    return check_param(op, 2, slots);
}

/* ---- quantize and dequantize ---- */

ig_status ig_infer_quantize(ig_op *op, const ig_type **out_types) {
    static const quant_slots slots = { IG_quantize_axis, IG_quantize_block };
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_quantize_to, 0);
    if (x->dtype == IG_DT_bool || x->dtype == IG_DT_str) {
        return INFER_ERROR(op, "operand 0 is %s, expected numbers",
                           ig_operand_text(op, 0));
    }
    if (!is_integer(to) && !is_small_float(to)) {
        return INFER_ERROR(
            op, "to is %s, expected integers of 32 bits or less, or floats of 8",
            ig_dtypes[to].name);
    }
    IG_TRY(check_params(op, to, slots));
    out_types[0] = ig_type_with_dtype(ig_op_module(op), x, to);
    return IG_OK;
}

ig_status ig_infer_dequantize(ig_op *op, const ig_type **out_types) {
    static const quant_slots slots = { IG_dequantize_axis, IG_dequantize_block };
    IG_TRY(ig_check_tensors(op));
    const ig_type *x = ig_operand_type(op, 0);
    ig_dtype from = (ig_dtype)x->dtype;
    if (!is_integer(from) && !is_small_float(from)) {
        return INFER_ERROR(
            op, "operand 0 is %s, expected integers of 32 bits or less, or floats of 8",
            ig_operand_text(op, 0));
    }
    IG_TRY(check_params(op, from, slots));
    ig_dtype scale = (ig_dtype)ig_operand_type(op, 1)->dtype;
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_dequantize_to, scale);
    if (!ig_dtype_is_float(to)) {
        return INFER_ERROR(op, "to is %s, expected floating-point elements",
                           ig_dtypes[to].name);
    }
    out_types[0] = ig_type_with_dtype(ig_op_module(op), x, to);
    return IG_OK;
}

/* ---- products ---- */

static bool is_byte(const ig_type *type) {
    return type->dtype == IG_DT_i8 || type->dtype == IG_DT_u8;
}

/* The factor, and its zero point if there is one. */
static ig_status check_factor(const ig_op *op, uint32_t factor) {
    const ig_type *type = ig_operand_type(op, factor);
    uint32_t zero = factor + 2;
    if (!is_byte(type)) {
        return INFER_ERROR(op, "operand %u is %s, expected integers of 8 bits", factor,
                           ig_operand_text(op, factor));
    }
    if (zero >= op->operand_count) {
        return IG_OK;
    }
    IG_TRY(ig_check_dtype(op, zero, (ig_dtype)type->dtype));
    return check_shape(op, zero, factor);
}

ig_status ig_infer_matmul_integer(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(check_factor(op, 0));
    IG_TRY(check_factor(op, 1));
    bool is_wide = ig_attr_int(op, IG_matmul_integer_wide, 0) != 0;
    IG_TRY(ig_check_product(op, false, false, out_types));
    out_types[0] = ig_type_with_dtype(ig_op_module(op), out_types[0],
                                      is_wide ? IG_DT_i64 : IG_DT_i32);
    return IG_OK;
}

ig_status ig_infer_conv_integer(ig_op *op, const ig_type **out_types) {
    IG_TRY(ig_check_tensors(op));
    IG_TRY(check_factor(op, 0));
    IG_TRY(check_factor(op, 1));
    const ig_type *x = ig_operand_type(op, 0);
    if (x->rank < 3) {
        return INFER_ERROR(op, "operand 0 is %s, expected rank 3 or more",
                           ig_operand_text(op, 0));
    }
    IG_TRY(ig_check_rank(op, 1, x->rank));
    IG_TRY(ig_check_conv(op, out_types));
    out_types[0] = ig_type_with_dtype(ig_op_module(op), out_types[0], IG_DT_i32);
    return IG_OK;
}
