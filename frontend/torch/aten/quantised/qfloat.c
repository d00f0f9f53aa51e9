/* Quantised operators that are computed on real numbers: an aten operator between two
 * steps of quantisation; and arithmetic with numbers, which moves the parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/eval/eval.h"

#include <math.h>
#include <string.h>

/* Where an argument of the aten operator comes from, when it is not one of ours. */
enum { NONE_ARG = -1, TRUE_ARG = -2, FALSE_ARG = -3, ZERO_ARG = -4, END = -5 };

typedef struct through {
    const char *name;
    int scale; /* the argument with the result's scale, the zero point next */
    int args[9];
    bool has_relu;
} through;

/* By the rows' variants. */
static const through ways[] = {
    { "aten::hardswish", 1, { 0, END }, false },
    { "aten::sigmoid", 1, { 0, END }, false },
    { "aten::softmax", 2, { 0, 1, END }, false },
    { "aten::leaky_relu", 3, { 0, 1, END }, false },
    { "aten::elu", 1, { 0, 3, 4, 5, END }, false },
    { "aten::celu", 1, { 0, 3, END }, false },
    { "aten::layer_norm", 5, { 0, 1, 2, 3, 4, END }, false },
    { "aten::group_norm", 5, { 0, 1, 2, 3, 4, END }, false },
    { "aten::instance_norm",
      4,
      { 0, 1, 2, NONE_ARG, NONE_ARG, TRUE_ARG, ZERO_ARG, 3, FALSE_ARG },
      false },
    { "aten::batch_norm",
      6,
      { 0, 1, 2, 3, 4, FALSE_ARG, ZERO_ARG, 5, FALSE_ARG },
      false },
    { "aten::batch_norm",
      6,
      { 0, 1, 2, 3, 4, FALSE_ARG, ZERO_ARG, 5, FALSE_ARG },
      true },
    { "aten::prelu", 2, { 0, 1, END }, false },
};

/* An argument that is quantised, prelu's weight, as real numbers. */
static ig_ts_value real_argument(ig_ts_call *call, uint32_t index) {
    ig_aten_quantised q;
    if (!ig_aten_is_quantised(call, index) || !ig_aten_quantised_arg(call, index, &q)) {
        return call->args[index];
    }
    ig_value *x = ig_aten_dequantise(call, &q);
    return x ? ig_ts_tensor_value(call, x) : ig_ts_none();
}

static ig_ts_value argument_of(ig_ts_call *call, int from) {
    switch (from) {
    case NONE_ARG:
        return ig_ts_none();
    case TRUE_ARG:
    case FALSE_ARG:
        return ig_ts_of_bool(from == TRUE_ARG);
    case ZERO_ARG:
        return ig_ts_of_float(0);
    default:
        return real_argument(call, (uint32_t)from);
    }
}

ig_status ig_ts_op_q_through(ig_ts_call *call) {
    const through *way = &ways[call->row->variant];
    ig_aten_quantised q;
    ig_ts_value args[9], result;
    uint32_t count = 0;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    while (count < IG_COUNT_OF(args) && way->args[count] != END) {
        args[count] = argument_of(call, way->args[count]);
        count++;
    }
    double scale = ig_aten_float(call, (uint32_t)way->scale);
    int64_t zero = ig_aten_int(call, (uint32_t)way->scale + 1);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_invoke(call, way->name, args, count, &result, 1));
    ig_value *x = ig_ts_read(call, &result);
    x = way->has_relu ? ig_build_relu(call->e, x) : x;
    return ig_aten_give_quantised(call, x, q.dtype,
                                  ig_aten_quant_of(call, scale, zero));
}

/* ---- with a number ---- */

typedef struct params {
    double scale, low, high;
    int64_t zero;
} params;

static bool number_of(ig_ts_call *call, ig_ts_kind kind, ig_value *value,
                      ig_ts_value *out) {
    ig_status status = ig_ts_number_of(call->eval, kind, value, out);
    call->e->status = call->e->status == IG_OK ? status : call->e->status;
    return status == IG_OK;
}

/* Scale and zero point, where they are known at import. */
static bool read_params(ig_ts_call *call, const ig_aten_quantised *q, params *out) {
    ig_ts_value scale, zero;
    bool is_signed = q->dtype->ir == IG_DT_i8;
    if (!ig_dtypes[q->dtype->ir].bits || ig_dtypes[q->dtype->ir].bits != 8 ||
        q->quant->scale->type->rank || q->quant->zero_point->type->rank) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "a number with %s quantised in this way",
                     q->dtype->name);
        return false;
    }
    if (!number_of(call, IG_TS_FLOAT, q->quant->scale, &scale) ||
        !number_of(call, IG_TS_INT, q->quant->zero_point, &zero)) {
        return false;
    }
    if (scale.kind != IG_TS_FLOAT || zero.kind != IG_TS_INT) {
        ig_expr_fail(call->e, IG_UNSUPPORTED,
                     "a number with a tensor that is quantised at run time");
        return false;
    }
    *out = (params){ .scale = scale.as.f,
                     .zero = zero.as.i,
                     .low = is_signed ? -128 : 0,
                     .high = is_signed ? 127 : 255 };
    return true;
}

static ig_status give_raw(ig_ts_call *call, ig_value *raw, const ig_aten_quantised *q,
                          double scale, int64_t zero) {
    if (call->row->variant & 1) { /* relu: nothing below the zero point */
        raw = ig_build_max(call->e, raw, ig_expr_integer(call->e, q->dtype->ir, zero));
    }
    const ig_ts_quant *quant = ig_aten_quant_of(call, scale, zero);
    IG_TRY(call->e->status);
    return ig_ts_give_quantised(call, 0, raw, q->dtype, quant);
}

/* The elements of another scale and zero point. */
static ig_status give_requantised(ig_ts_call *call, const ig_aten_quantised *q,
                                  ig_value *real, double scale, int64_t zero) {
    const ig_ts_quant *quant = ig_aten_quant_of(call, scale, zero);
    return give_raw(call, ig_aten_quantise(call, real, q->dtype, quant), q, scale,
                    zero);
}

/* Argument 0 becomes the tensor, of rows that have the number first (variant 2). */
static void put_tensor_first(ig_ts_call *call) {
    if (call->row->variant & 2) {
        ig_ts_value number = call->args[0];
        call->args[0] = call->args[1];
        call->args[1] = number;
    }
}

/* add_scalar(qa, b): the zero point moves by b in steps of the scale; where it would
 * leave the range, it stays at the end and the scale grows.  Variant 1: relu */
ig_status ig_ts_op_q_add_number(ig_ts_call *call) {
    ig_aten_quantised q;
    params p;
    put_tensor_first(call);
    double number = ig_aten_float(call, 1);
    if (!ig_aten_quantised_arg(call, 0, &q) || !read_params(call, &q, &p)) {
        return call->e->status;
    }
    double zero = (double)p.zero - nearbyint(number / p.scale);
    if (zero >= p.low && zero <= p.high) {
        return give_raw(call, q.raw, &q, p.scale, (int64_t)zero);
    }
    ig_value *real = ig_expr_with(call->e, IG_OP_add, ig_aten_dequantise(call, &q),
                                  number);
    bool is_below = zero < p.low;
    double reach = is_below ? p.high - zero : zero - p.low;
    return give_requantised(call, &q, real, reach / (p.high - p.low) * p.scale,
                            (int64_t)(is_below ? p.low : p.high));
}

/* mul_scalar(qa, b): the scale is multiplied; a negative b turns the range around. */
ig_status ig_ts_op_q_mul_number(ig_ts_call *call) {
    ig_aten_quantised q;
    params p;
    put_tensor_first(call);
    double number = ig_aten_float(call, 1);
    if (!ig_aten_quantised_arg(call, 0, &q) || !read_params(call, &q, &p)) {
        return call->e->status;
    }
    if (number > 0) {
        return give_raw(call, q.raw, &q, p.scale * number, p.zero);
    }
    ig_value *turned = ig_aten_cast(call, q.raw, IG_DT_i32);
    ig_value *ends = ig_expr_integer(call->e, IG_DT_i32, (int64_t)(p.low + p.high));
    turned = number == 0 ? ig_build_sub(call->e, turned, turned)
                         : ig_build_sub(call->e, ends, turned);
    turned = ig_aten_cast(call, turned, q.dtype->ir);
    return number == 0 ? give_raw(call, turned, &q, 1, 0)
                       : give_raw(call, turned, &q, p.scale * -number,
                                  (int64_t)(p.high - ((double)p.zero - p.low)));
}

/* quantized::clamp(qx, min, max), relu6(qx, inplace) (variant 1): the parameters
 * stay */
ig_status ig_ts_op_q_clamp(ig_ts_call *call) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    bool is_relu6 = call->row->variant == 1;
    ig_value *x = ig_aten_dequantise(call, &q);
    double low = is_relu6 ? 0 : ig_aten_float_or(call, 1, -(double)INFINITY);
    double high = is_relu6 ? 6 : ig_aten_float_or(call, 2, (double)INFINITY);
    x = ig_expr_with(call->e, IG_OP_max, x, low);
    x = ig_expr_with(call->e, IG_OP_min, x, high);
    return ig_aten_give_quantised(call, x, q.dtype, q.quant);
}

/* quantized::threshold(qx, threshold, value): value where x is not above it */
ig_status ig_ts_op_q_threshold(ig_ts_call *call) {
    ig_aten_quantised q;
    if (!ig_aten_quantised_arg(call, 0, &q)) {
        return call->e->status;
    }
    ig_value *x = ig_aten_dequantise(call, &q);
    double limit = ig_aten_float(call, 1), value = ig_aten_float(call, 2);
    ig_value *above = ig_expr_with(call->e, IG_OP_gt, x, limit);
    ig_value *other = ig_expr_number(call->e, IG_DT_f32, value);
    return ig_aten_give_quantised(call, ig_build_where(call->e, above, x, other),
                                  q.dtype, q.quant);
}

ig_status ig_ts_op_q_dropout(ig_ts_call *call) {
    return ig_aten_bool(call, 4)
               ? ig_ts_fail(call, IG_UNSUPPORTED, "training mode is not supported yet")
               : ig_ts_give_arg(call, 0, 0);
}
