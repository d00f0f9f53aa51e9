/* quantize, dequantize and products of 8-bit integers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each step is rounded to f32, as the ops that compose/quantise.c makes of these are:
 * scales and zero points decide bits, so nothing is computed in double.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <assert.h>
#include <math.h>

/* ---- scales and zero points ---- */

/* A scale or zero point as seen from the elements of x. */
typedef struct param {
    const ig_tensor *tensor; /* NULL: absent */
    int64_t strides[IG_TENSOR_RANK];
    uint32_t axis;
    int64_t block; /* indices of the axis for each element; 1: all have their own */
} param;

typedef struct param_slots {
    uint32_t axis, block;
} param_slots;

static bool broadcasts_to(const ig_tensor *tensor, const ig_tensor *x) {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank = x->rank;
    bool fits = tensor->rank <= rank;
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = x->dims[d];
    }
    fits = fits && ig_walk_broadcast(tensor, &rank, dims);
    for (uint32_t d = 0; fits && d < rank; d++) {
        fits = dims[d] == x->dims[d];
    }
    return fits;
}

static bool has_blocks_of(const ig_tensor *tensor, const ig_tensor *x, const param *p) {
    bool fits = tensor->rank == x->rank;
    for (uint32_t d = 0; fits && d < x->rank; d++) {
        int64_t count = x->dims[d];
        if (d == p->axis) {
            count = count / p->block + (count % p->block != 0);
        }
        fits = tensor->dims[d] == count;
    }
    return fits;
}

static bool place_param(param *p, const ig_tensor *x, bool has_axis, bool has_block) {
    const ig_tensor *tensor = p->tensor;
    if (has_block) {
        ig_strides_of(tensor->rank, tensor->dims, p->strides);
        return has_blocks_of(tensor, x, p);
    }
    if (has_axis && tensor->rank > 0) {
        p->strides[p->axis] = 1;
        return tensor->rank == 1 && tensor->dims[0] == x->dims[p->axis];
    }
    if (!broadcasts_to(tensor, x)) {
        return false;
    }
    ig_strides_broadcast(tensor, x->rank, p->strides);
    return true;
}

static ig_status open_param(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            uint32_t operand, param_slots slots, param *out) {
    const ig_tensor *x = in[0];
    bool has_axis = ig_attr_is_set(op, slots.axis);
    *out = (param){ .block = ig_attr_int(op, slots.block, 1) };
    if (operand >= op->operand_count) {
        return IG_OK;
    }
    if (has_axis) {
        out->axis = ig_axis_of(ig_attr_int(op, slots.axis, 0), x->rank);
    }
    out->tensor = in[operand];
    if (!place_param(out, x, has_axis, ig_attr_is_set(op, slots.block))) {
        return FOLD_ERROR(eval, op,
                          "%s: the extents of operand %u do not fit operand 0",
                          ig_ops[op->code].name, operand);
    }
    return IG_OK;
}

/* Position of the element that goes with index tuple `index` of x. */
static int64_t position_of(const param *p, const int64_t *index, uint32_t rank) {
    int64_t at = 0;
    for (uint32_t d = 0; d < rank; d++) {
        at += (d == p->axis ? index[d] / p->block : index[d]) * p->strides[d];
    }
    return at;
}

static float value_at(const param *p, const int64_t *index, uint32_t rank) {
    return p->tensor ? (float)ig_tensor_get_f64(p->tensor, position_of(p, index, rank))
                     : 0;
}

/* ---- quantize ---- */

static float scale_value(ig_rounding rounding, float x, float scale) {
    if (rounding == IG_ROUNDING_divide) {
        return x / scale;
    }
    float factor = rounding == IG_ROUNDING_factor ? scale : 1 / scale;
    return x * factor;
}

/* The integer that x is nearest to; NaN stays. */
static float round_scaled(ig_rounding rounding, float x, float scale, float zero) {
    x = scale_value(rounding, x, scale);
    return rounding == IG_ROUNDING_offset ? rintf(x + zero) : rintf(x) + zero;
}

static float clamp_to(ig_dtype to, float x) {
    bool is_signed = ig_dtypes[to].class == IG_SINT;
    double steps = ldexp(1, (int)ig_dtypes[to].bits - is_signed);
    float low = is_signed ? (float)-steps : 0, high = (float)(steps - 1);
    x = x < low ? low : x;
    return x > high ? high : x;
}

ig_status ig_fold_quantize(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    static const param_slots slots = { IG_quantize_axis, IG_quantize_block };
    const ig_tensor *x = in[0];
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_quantize_to, 0);
    ig_rounding rounding = (ig_rounding)ig_attr_int(op, IG_quantize_rounding, 0);
    bool saturates = ig_attr_int(op, IG_quantize_saturate, 0) != 0;
    param scale, zero;
    int64_t at = 0;
    IG_TRY(open_param(eval, op, in, 1, slots, &scale));
    IG_TRY(open_param(eval, op, in, 2, slots, &zero));
    IG_TRY(ig_eval_alloc(eval, op, to, x->rank, x->dims, out));
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, x->rank, x->dims); walk.is_inside; ig_walk_next(&walk)) {
        float given = (float)ig_tensor_get_f64(x, at);
        float by = value_at(&scale, walk.index, x->rank);
        float offset = value_at(&zero, walk.index, x->rank);
        double value = ig_dtype_is_float(to)
                           ? scale_value(rounding, given, by)
                           : clamp_to(to, round_scaled(rounding, given, by, offset));
        ig_span_write_f64(out, at++, 1, &value, saturates);
    }
    return IG_OK;
}

/* ---- dequantize ---- */

/* x less its zero point; 32-bit integers wrap. */
static float subtract_zero(const ig_tensor *x, int64_t at, const param *zero,
                           int64_t from) {
    bool is_wide = !ig_dtype_is_float(x->dtype) && ig_dtypes[x->dtype].bits == 32;
    if (!zero->tensor) {
        return (float)ig_tensor_get_f64(x, at);
    }
    if (is_wide && !ig_dtype_is_float(zero->tensor->dtype)) {
        int64_t wide = ig_tensor_get_i64(x, at) - ig_tensor_get_i64(zero->tensor, from);
        return x->dtype == IG_DT_i32 ? (float)(int32_t)wide : (float)(uint32_t)wide;
    }
    return (float)ig_tensor_get_f64(x, at) -
           (float)ig_tensor_get_f64(zero->tensor, from);
}

ig_status ig_fold_dequantize(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    static const param_slots slots = { IG_dequantize_axis, IG_dequantize_block };
    const ig_tensor *x = in[0];
    ig_dtype to = (ig_dtype)ig_attr_int(op, IG_dequantize_to, in[1]->dtype);
    param scale, zero;
    int64_t at = 0;
    IG_TRY(open_param(eval, op, in, 1, slots, &scale));
    IG_TRY(open_param(eval, op, in, 2, slots, &zero));
    IG_TRY(ig_eval_alloc(eval, op, to, x->rank, x->dims, out));
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, x->rank, x->dims); walk.is_inside; ig_walk_next(&walk)) {
        int64_t from = position_of(&zero, walk.index, x->rank);
        float value = subtract_zero(x, at, &zero, from) *
                      value_at(&scale, walk.index, x->rank);
        ig_tensor_set_f64(out, at++, value);
    }
    return IG_OK;
}

/* ---- products ---- */

/* Factor `operand` less its zero point, as out->dtype. */
static ig_status open_factor(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             uint32_t operand, ig_tensor *out) {
    const ig_tensor *x = in[operand];
    const ig_tensor *zero = operand + 2 < op->operand_count ? in[operand + 2] : NULL;
    int64_t strides[IG_TENSOR_RANK], to = 0;
    IG_TRY(ig_tensor_alloc(eval->scratch, eval->context, out->dtype, x->rank, x->dims,
                           out));
    if (zero && !broadcasts_to(zero, x)) {
        return FOLD_ERROR(eval, op,
                          "%s: the extents of operand %u do not fit operand %u",
                          ig_ops[op->code].name, operand + 2, operand);
    }
    if (zero) {
        ig_strides_broadcast(zero, x->rank, strides);
    }
    ig_walk walk = { .operand_count = zero ? 1 : 0, .strides = { strides } };
    for (ig_walk_start(&walk, x->rank, x->dims); walk.is_inside; ig_walk_next(&walk)) {
        int64_t offset = zero ? ig_tensor_get_i64(zero, walk.at[0]) : 0;
        ig_tensor_set_i64(out, to, ig_tensor_get_i64(x, to) - offset);
        to++;
    }
    return IG_OK;
}

ig_status ig_fold_matmul_integer(ig_eval *eval, const ig_op *op,
                                 const ig_tensor *const *in, ig_tensor *out) {
    bool is_wide = ig_attr_int(op, IG_matmul_integer_wide, 0) != 0;
    ig_tensor a = { .dtype = is_wide ? IG_DT_i64 : IG_DT_i32 }, b = a;
    IG_TRY(open_factor(eval, op, in, 0, &a));
    IG_TRY(open_factor(eval, op, in, 1, &b));
    ig_product_of factors = { .a = &a, .b = &b };
    return ig_eval_product(eval, op, factors, out);
}

static_assert(IG_conv_integer_strides == (int)IG_conv_strides &&
                  IG_conv_integer_dilations == (int)IG_conv_dilations &&
                  IG_conv_integer_before == (int)IG_conv_before &&
                  IG_conv_integer_after == (int)IG_conv_after &&
                  IG_conv_integer_group == (int)IG_conv_group &&
                  IG_conv_integer_transposed == (int)IG_conv_transposed,
              "conv's hooks read the attributes of conv_integer");

ig_status ig_fold_conv_integer(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    ig_tensor factors[2];
    for (uint32_t i = 0; i < 2; i++) {
        factors[i].dtype = IG_DT_i32;
        IG_TRY(open_factor(eval, op, in, i, &factors[i]));
    }
    return ig_fold_conv(eval, op, (const ig_tensor *[]){ &factors[0], &factors[1] },
                        out);
}
