/* Ops that move or choose dequantised bytes move or choose the bytes instead.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = dequantize %x, 0.5, 128              one scale, one zero point
 *     %1 = pool %0 {op = max, …}                or reshape, transpose, slice
 *     %2 = quantize %1, 0.5, 128
 *   becomes
 *     %0 = pool %x {op = max, …}
 *     %1 = dequantize %0, 0.5, 128
 *     %2 = %0
 *
 * A positive scale keeps the order of bytes, and a byte times the scale rounds to
 * itself when it is divided by the scale, or multiplied by a factor that was tried on
 * each byte (torch's programs have the scale's inverse).  Bytes of several scales,
 * concatenated and quantised anew, are quantised anew each for itself, where they are
 * made:
 *
 *     quantize (concat (dequantize %x, …), (dequantize %y, …)), %s, %z
 *   becomes
 *     concat (quantize (dequantize %x, …), %s, %z), (quantize (dequantize %y, …) …)
 */
#include "passes/recognise/integer.h"

#include "ir/dim/handle.h"

#include <float.h>
#include <math.h>

enum { PARTS_MAX = 64, BYTES_MAX = 255 };

/* ---- scales ---- */

/* Is it a number whose products with bytes are normal, and in their order? */
static bool is_plain_scale(const ig_value *scale) {
    double value = 0;
    return scale->type->rank == 0 && scale->type->dtype == IG_DT_f32 &&
           ig_constant_f64(scale, &value) && value >= (double)FLT_MIN &&
           value <= (double)FLT_MAX / 256;
}

/* Dequantised bytes of one such scale and one known zero point, or NULL. */
static const ig_op *find_plain(const ig_value *value) {
    const ig_op *op = ig_match_bytes(value);
    double zero = 0;
    bool has_zero = op && op->operand_count > 2;
    return op && is_plain_scale(ig_op_operand(op, 1)) &&
                   (!has_zero || (ig_op_operand(op, 2)->type->rank == 0 &&
                                  ig_constant_f64(ig_op_operand(op, 2), &zero)))
               ? op
               : NULL;
}

static double zero_of(const ig_op *op) {
    double zero = 0;
    return op->operand_count > 2 && ig_constant_f64(ig_op_operand(op, 2), &zero) ? zero
                                                                                 : 0;
}

static ig_value *dequantize_as(ig_expr *e, const ig_op *op, ig_value *bytes) {
    ig_value *zero = op->operand_count > 2 ? ig_op_operand(op, 2) : NULL;
    return ig_build_dequantize(e, bytes, ig_op_operand(op, 1), zero,
                               (ig_dequantize_attrs){ 0 });
}

/* ---- views and pools ---- */

/* `op`, whose only operand is that of a dequantize, on the bytes. */
ig_value *ig_match_bytes_moved(ig_builder *b, ig_op *op) {
    const ig_op *from = op->operand_count == 1 ? find_plain(ig_op_operand(op, 0))
                                               : NULL;
    if (!from) {
        return NULL;
    }
    ig_expr e = ig_expr_of(b);
    ig_value *bytes = ig_op_operand(from, 0);
    bytes = ig_expr_make(&e, (ig_opcode)op->code, &bytes, 1, op->attrs);
    return dequantize_as(&e, from, bytes);
}

/* Does every window see an element of x along this axis of space?  Where the number of
 * windows is rounded up, the last one begins before x ends all the same. */
static bool sees_elements(const ig_op *op, uint32_t d, const ig_type *x) {
    static const uint32_t slots[] = { IG_pool_before, IG_pool_after };
    int64_t kernel = op->attrs[IG_pool_kernel].as.ints[d], min = 0, max = 0;
    const ig_module *module = ig_op_module(op);
    bool sees = !ig_attr_is_set(op, IG_pool_dilations) ||
                op->attrs[IG_pool_dilations].as.ints[d] == 1;
    for (uint32_t i = 0; i < IG_COUNT_OF(slots); i++) {
        int64_t around = 0;
        bool is_set = ig_attr_is_set(op, slots[i]);
        sees = sees &&
               (!is_set ||
                (ig_dim_constant(module, op->attrs[slots[i]].as.dims[d], &around) &&
                 around < kernel));
    }
    ig_dim_range(module, x->dims[d + 2], &min, &max);
    return sees && min >= 1;
}

ig_value *ig_match_maxima(ig_builder *b, ig_op *op) {
    const ig_type *x = ig_op_operand(op, 0)->type;
    bool is_max = ig_attr_int(op, IG_pool_op, 0) == IG_WINDOW_max;
    bool sees = is_max;
    for (uint32_t d = 0; sees && d + 2 < x->rank; d++) {
        sees = sees_elements(op, d, x);
    }
    return sees ? ig_match_bytes_moved(b, op) : NULL;
}

/* ---- quantised anew ---- */

static bool is_same_number(const ig_value *a, const ig_value *b) {
    double x = 0, y = 0;
    return ig_constant_f64(a, &x) && ig_constant_f64(b, &y) && x == y;
}

/* Is each difference of bytes the same again, after times the scale and times the
 * factor, as f32 rounds? */
static bool factor_undoes(const ig_value *scale, const ig_value *factor) {
    double s = 0, f = 0;
    bool undoes = ig_constant_f64(scale, &s) && ig_constant_f64(factor, &f);
    for (int difference = -BYTES_MAX; undoes && difference <= BYTES_MAX; difference++) {
        float real = (float)difference * (float)s;
        undoes = rintf(real * (float)f) == (float)difference;
    }
    return undoes;
}

static bool undoes_scale(const ig_op *quantize, const ig_op *dequantize) {
    const ig_value *scale = ig_op_operand(dequantize, 1);
    const ig_value *by = ig_op_operand(quantize, 1);
    int64_t rounding = ig_attr_int(quantize, IG_quantize_rounding, 0);
    return (rounding == IG_ROUNDING_divide && is_same_number(scale, by)) ||
           (rounding == IG_ROUNDING_factor && factor_undoes(scale, by));
}

/* The bytes that are quantised as they were before. */
static ig_value *bytes_again(const ig_op *op) {
    const ig_op *from = find_plain(ig_op_operand(op, 0));
    bool is_plain = from && is_plain_scale(ig_op_operand(op, 1)) &&
                    !ig_attr_is_set(op, IG_quantize_block) &&
                    (op->operand_count < 3 || ig_op_operand(op, 2)->type->rank == 0);
    return is_plain && ig_op_operand(from, 0)->type == ig_op_result(op, 0)->type &&
                   undoes_scale(op, from) &&
                   (op->operand_count < 3 || ig_constant_of(ig_op_operand(op, 2))) &&
                   zero_of(from) == zero_of(op)
               ? ig_op_operand(from, 0)
               : NULL;
}

/* Parts of several scales, each by itself. */
static ig_value *quantize_parts(ig_builder *b, ig_op *op) {
    const ig_op *concat = ig_def(ig_op_operand(op, 0), IG_OP_concat);
    bool has_numbers = ig_op_operand(op, 1)->type->rank == 0 &&
                       (op->operand_count < 3 || ig_op_operand(op, 2)->type->rank == 0);
    if (!concat || !has_numbers || concat->operand_count > PARTS_MAX ||
        !ig_value_has_one_use(ig_op_operand(op, 0))) {
        return NULL;
    }
    for (uint32_t i = 0; i < concat->operand_count; i++) {
        if (!find_plain(ig_op_operand(concat, i))) {
            return NULL;
        }
    }
    ig_expr e = ig_expr_of(b);
    ig_value *parts[PARTS_MAX];
    for (uint32_t i = 0; i < concat->operand_count; i++) {
        ig_value *operands[] = { ig_op_operand(concat, i), ig_op_operand(op, 1),
                                 op->operand_count > 2 ? ig_op_operand(op, 2) : NULL };
        parts[i] = ig_expr_make(&e, IG_OP_quantize, operands, op->operand_count,
                                op->attrs);
    }
    return ig_expr_concat(&e, (uint32_t)ig_attr_int(concat, IG_concat_axis, 0), parts,
                          concat->operand_count);
}

ig_value *ig_match_quantised_anew(ig_builder *b, ig_op *op) {
    ig_value *bytes = bytes_again(op);
    return bytes ? bytes : quantize_parts(b, op);
}
