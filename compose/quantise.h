/* Quantisation: the rows that importers build, and scales chosen at run time.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     quantize     x -> saturate(round(x / scale) + zero point)     (ops.def: rounding)
 *     dequantize   x -> (x - zero point) * scale
 *
 * Scales and zero points are values: constants, or computed by the run.
 */
#ifndef IG_COMPOSE_QUANTISE_H
#define IG_COMPOSE_QUANTISE_H

#include "ir/build/expr.h"

typedef struct ig_quant_params {
    ig_value *scale;
    ig_value *zero_point; /* NULL: 0 */
    int64_t axis;         /* of vectors; -1: none */
    int64_t block;        /* indices of the axis for each element; 0: one */
} ig_quant_params;

/* x as integers, or small floats, `to`. */
ig_value *ig_compose_quantize(ig_expr *e, ig_value *x, const ig_quant_params *q,
                              ig_dtype to, ig_rounding rounding);
/* The same for small floats, which saturate or become infinite. */
ig_value *ig_compose_quantize_float(ig_expr *e, ig_value *x, const ig_quant_params *q,
                                    ig_dtype to, bool saturate);
/* x as real numbers `to`. */
ig_value *ig_compose_dequantize(ig_expr *e, ig_value *x, const ig_quant_params *q,
                                ig_dtype to);

/* How a number becomes a power of two (f8e8m0), whatever its sign. */
typedef enum ig_power_rounding {
    IG_POWER_UP, /* and 0 to the least */
    IG_POWER_DOWN,
    IG_POWER_NEAREST /* as cast does: ties upwards */
} ig_power_rounding;

/* x as f8e8m0, by way of f32; larger values are NaN unless it saturates. */
ig_value *ig_compose_round_to_power(ig_expr *e, ig_value *x, ig_power_rounding rounding,
                                    bool saturate);

/* A tensor of 8-bit integers less its zero point, which broadcasts to it, or is
 * NULL. */
typedef struct ig_integers {
    ig_value *value, *zero_point;
} ig_integers;

/* i8 as u8, with 128 more, which flips the sign bit; u8 as it is. */
ig_value *ig_compose_as_unsigned(ig_expr *e, ig_value *x);
/* Of an i32 that is cast from a convolution of bytes in f32, whose sums are whole and
 * exact: those sums.  Else NULL. */
ig_value *ig_exact_sum(const ig_expr *e, const ig_value *x);
/* numpy's product, i32. */
ig_value *ig_compose_matmul_integer(ig_expr *e, ig_integers a, ig_integers b);
/* A convolution without bias, i32. */
ig_value *ig_compose_conv_integer(ig_expr *e, ig_integers x, ig_integers w,
                                  ig_conv_integer_attrs attrs);
/* A convolution of bytes in groups, some neighbours of which make whole quads together:
 * `groups` products of `merged` * ins channels with as many times outs outputs.  Its
 * weights, constants, less `zero` fit i8, and that is their zero point. */
typedef struct ig_byte_groups {
    int64_t groups, merged, outs, ins, taps, zero;
} ig_byte_groups;

/* false: this conv_integer is none of those. */
bool ig_byte_groups_of(const ig_op *op, ig_byte_groups *out);
/* Its x as u8, with zero points around, and the zero point, a number. */
ig_integers ig_compose_padded_bytes(ig_expr *e, const ig_op *op);
/* Sums of such products, whose factors have scales `a` and `b`, as `to` of scale and
 * zero point `y`: round(sum * (a * b / y's scale)) + y's zero point.  Scales are
 * numbers, vectors along y's axis, or broadcast to the sums (axis -1). */
ig_value *ig_compose_requantize(ig_expr *e, ig_value *sum, ig_value *a, ig_value *b,
                                const ig_quant_params *y, ig_dtype to);

/* Scale and zero point (u8) that hold x and 0, as ONNX's DynamicQuantizeLinear chooses
 * them: f32, scale (max - min) / 255, or 1 where x is 0 everywhere. */
ig_quant_params ig_compose_choose_quant(ig_expr *e, ig_value *x);
/* As torch chooses them for 0 … steps (u8): in f64, and the end of the range that is
 * hit with the smaller error decides on the zero point. */
ig_quant_params ig_compose_choose_quant_torch(ig_expr *e, ig_value *x, double steps);

#endif
