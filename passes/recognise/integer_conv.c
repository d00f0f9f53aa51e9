/* Convolutions of dequantised bytes become convolutions of the bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = dequantize %x, 0.5, 128              x: u8 or i8, one scale, one zero point
 *     %1 = dequantize @w, @s {axis = 0}         w: 8 bits, one or one for each output
 *     %2 = conv %0, %1, @bias
 *   becomes
 *     %0 = conv_integer %x, @w, 128
 *     %1 = dequantize %0, (mul 0.5, @s) {axis = 1}
 *     %2 = add %1, @bias
 *
 * What integer.c says of rounding and of what stays holds here too.
 */
#include "passes/recognise/integer.h"

#include "passes/engine/rewrite.h"

/* Is it one number, or one for each output channel (axis 0 of the weights)? */
static bool is_by_output(const ig_op *dequantize, const ig_value *param) {
    const ig_type *type = param->type;
    const ig_type *weights = ig_op_operand(dequantize, 0)->type;
    if (ig_match_is_number(dequantize, param)) {
        return true;
    }
    if (type->rank == 1) {
        return ig_attr_int(dequantize, IG_dequantize_axis, -1) == 0;
    }
    ig_dim count = ig_type_count(ig_op_module(dequantize), type);
    return type->rank == weights->rank && ig_dim_same(type->dims[0], count);
}

/* The zero points as conv_integer takes them: against the weights. */
static ig_value *align_zero(ig_expr *e, const ig_op *op, ig_value *zero,
                            uint32_t rank) {
    zero = ig_match_flatten(e, op, zero);
    return zero && zero->type->rank == 1 ? ig_expr_along(e, zero, 0, rank) : zero;
}

static bool has_integers(const ig_op *op, const ig_op *x, const ig_op *w) {
    ig_module *module = ig_op_module(op);
    const ig_value *zero = x->operand_count > 2 ? ig_op_operand(x, 2) : NULL;
    const ig_value *weights = ig_op_operand(w, 0), *scale = ig_op_operand(w, 1);
    const ig_value *zeros = w->operand_count > 2 ? ig_op_operand(w, 2) : NULL;
    const ig_type *type = weights->type;
    return ig_constant_of(weights) && is_by_output(w, scale) &&
           (!zeros || (ig_constant_of(zeros) && is_by_output(w, zeros))) &&
           ig_match_is_number(x, ig_op_operand(x, 1)) &&
           (!zero || ig_match_is_number(x, zero)) &&
           ig_match_fits_sum(op,
                             ig_dim_product(module, type->dims + 1, type->rank - 1u)) &&
           ig_match_normal_products(ig_op_operand(x, 1), scale);
}

ig_value *ig_match_windows(ig_builder *b, ig_op *op) {
    const ig_op *x = ig_match_bytes(ig_op_operand(op, 0));
    const ig_op *w = ig_match_bytes(ig_op_operand(op, 1));
    if (!x || !w || ig_attr_int(op, IG_conv_transposed, 0) || !has_integers(op, x, w)) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    ig_value *bytes = ig_op_operand(x, 0), *weights = ig_op_operand(w, 0);
    uint32_t rank = weights->type->rank;
    ig_value *zero = x->operand_count > 2 ? ig_op_operand(x, 2) : NULL;
    ig_value *zeros = w->operand_count > 2 ? ig_op_operand(w, 2) : NULL;
    zero = zero ? ig_expr_reshape(&e, zero, 0, NULL)
                : ig_expr_integer(&e, (ig_dtype)bytes->type->dtype, 0);
    ig_value *operands[] = { bytes, weights, zero, align_zero(&e, w, zeros, rank) };
    ig_value *sum = ig_expr_make(&e, IG_OP_conv_integer, operands, zeros ? 4 : 3,
                                 op->attrs);
    ig_value *scale = ig_build_mul(&e, ig_match_flatten(&e, x, ig_op_operand(x, 1)),
                                   ig_match_flatten(&e, w, ig_op_operand(w, 1)));
    ig_dequantize_attrs attrs = { 0 };
    if (scale->type->rank > 0) {
        attrs.axis = (ig_maybe_int)IG_SET(1);
    }
    ig_value *result = ig_build_dequantize(&e, sum, scale, NULL, attrs);
    if (op->operand_count > 2) {
        ig_value *bias = ig_expr_along(&e, ig_op_operand(op, 2), 1, rank);
        result = ig_build_add(&e, result, bias);
    }
    return result;
}
