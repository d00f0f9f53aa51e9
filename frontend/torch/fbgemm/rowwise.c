/* FBGEMM's formats of rows and of narrow floats, as operators.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     8 bits     [q…] [scale f32] [bias f32], q = rint((x - min) * 255 / (range + e))
 *     n bits     [packed q…] [scale f16] [bias f16], or the last two in front
 *     hfp8       sign, exponent, mantissa in one byte; no scale
 *
 * n bits: the bias is the minimum rounded to f16 first, the scale range / (2^n - 1),
 * f16 too; element k of a byte is in bits k * n and up.
 *
 * hfp8: an exponent e of at least 1 - bias and a whole number r of 2^(e - mbits) with
 * x = r * 2^(e - mbits), rounded to even.  The byte is ((e + bias - 1) << mbits) + r:
 * a normal r has its leading bit at mbits and so counts one exponent more, and an r
 * that is rounded up to the next power carries by itself.
 */
#include "frontend/torch/aten/aten.h"
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>

/* SparseType's codes, and the result for each. */
static ig_dtype output_dtype(ig_expr *e, int64_t code) {
    if (code == 0 || code == 1 || code == 5) {
        return code == 0 ? IG_DT_f32 : code == 1 ? IG_DT_f16 : IG_DT_bf16;
    }
    ig_expr_fail(e, IG_UNSUPPORTED, "output dtype %lld", (long long)code);
    return IG_DT_f32;
}

static uint32_t last_axis(const ig_value *x) {
    return x && x->type->rank ? x->type->rank - 1u : 0u;
}

static ig_value *rows_of(ig_ts_call *call, uint32_t index) {
    ig_value *x = ig_aten_tensor(call, index);
    return x && x->type->rank == 0
               ? ig_expr_fail(call->e, IG_INVALID, "rows of a tensor of rank 0")
               : x;
}

static ig_value *slice_row(ig_expr *e, ig_value *x, ig_dim start, ig_dim size) {
    return ig_expr_slice(e, x, last_axis(x), start, size, 1);
}

static ig_value *reduce_row(ig_expr *e, ig_value *x, ig_reduce kind) {
    return ig_expr_reduce_axis(e, kind, x, last_axis(x), true);
}

static ig_value *fused_rows(ig_ts_call *call, ig_value *q, ig_value *scale,
                            ig_value *bias) {
    ig_value *parts[] = { q, ig_aten_view_bits(call, scale, IG_DT_u8),
                          ig_aten_view_bits(call, bias, IG_DT_u8) };
    return q && parts[1] && parts[2] ? ig_expr_concat(call->e, last_axis(q), parts, 3)
                                     : NULL;
}

static ig_value *clamp_between(ig_expr *e, ig_value *x, double low, double high) {
    x = ig_expr_with(e, IG_OP_max, x, low);
    return ig_expr_with(e, IG_OP_min, x, high);
}

/* ---- 8 bits ---- */

ig_status ig_ts_op_fb_to_rows8(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, rows_of(call, 0), IG_DT_f32);
    ig_value *low = reduce_row(call->e, x, IG_REDUCE_min);
    ig_value *range = ig_build_sub(call->e, reduce_row(call->e, x, IG_REDUCE_max), low);
    ig_value *inverse =
        ig_expr_number_with(call->e, IG_OP_div, 255,
                            ig_expr_with(call->e, IG_OP_add, range, (double)1e-8f));
    ig_value *q = ig_build_mul(call->e, ig_build_sub(call->e, x, low), inverse);
    q = ig_aten_cast(call, ig_build_round(call->e, q), IG_DT_u8);
    ig_value *scale = ig_expr_with(call->e, IG_OP_div, range, 255);
    return ig_aten_give(call, fused_rows(call, q, scale, low));
}

/* scale * q + bias of rows with `qbits` of each q and the two numbers at one end. */
typedef struct rows {
    ig_value *x; /* u8 */
    uint32_t qbits;
    ig_dtype numbers;
    bool is_last;
    ig_dtype to;
} rows;

static ig_value *values_of(ig_ts_call *call, const rows *r) {
    assert((r->qbits == 2 || r->qbits == 4 || r->qbits == 8) &&
           "bit_rate has checked the width");
    assert((r->numbers == IG_DT_f16 || r->numbers == IG_DT_f32) &&
           "scale and bias are floats");
    uint32_t width = ig_dtypes[r->numbers].bits / 8, per_byte = 8 / r->qbits;
    if (!r->x || call->e->status != IG_OK) {
        return NULL;
    }
    ig_dim bytes = ig_expr_extent(call->e, r->x, last_axis(r->x));
    ig_dim zero = ig_dim_of(0), range_bytes = ig_dim_of(2 * (int64_t)width);
    ig_dim count = ig_dim_sub(call->module, bytes, range_bytes);
    ig_value *both = slice_row(call->e, r->x, r->is_last ? count : zero, range_bytes);
    both = ig_aten_view_bits(call, both, r->numbers);
    both = ig_aten_cast(call, both, IG_DT_f32);
    ig_value *q = slice_row(call->e, r->x, r->is_last ? zero : range_bytes, count);
    if (per_byte > 1) {
        q = ig_aten_split_bits(call, q, per_byte, r->qbits, IG_DT_u8);
        ig_value *mask = ig_expr_integer(call->e, IG_DT_u8, (1 << r->qbits) - 1);
        q = ig_build_and(call->e, q, mask);
    }
    q = ig_build_mul(call->e, ig_aten_cast(call, q, IG_DT_f32),
                     slice_row(call->e, both, ig_dim_of(0), ig_dim_of(1)));
    q = ig_build_add(call->e, q, slice_row(call->e, both, ig_dim_of(1), ig_dim_of(1)));
    return ig_aten_cast(call, q, r->to);
}

/* Variant: the result, as SparseType's code; -1: as arguments say. */
ig_status ig_ts_op_fb_from_rows8(ig_ts_call *call) {
    rows r = {
        .x = rows_of(call, 0), .qbits = 8, .numbers = IG_DT_f32, .is_last = true
    };
    int64_t code = call->row->variant;
    if (code < 0) {
        code = ig_aten_int(call, 1);
        r.is_last = ig_aten_bool(call, 2);
        r.numbers = ig_aten_bool(call, 3) ? IG_DT_f32 : IG_DT_f16;
    }
    r.to = output_dtype(call->e, code);
    if (r.is_last && r.numbers == IG_DT_f16) {
        return ig_ts_fail(call, IG_INVALID,
                          "scale and bias of 2 bytes before the row are not supported");
    }
    return ig_aten_give(call, values_of(call, &r));
}

/* ---- 8, 4 and 2 bits with numbers in f16 ---- */

/* Argument 1, or the row's variant from 2 on. */
static uint32_t bit_rate(ig_ts_call *call) {
    int variant = call->row->variant;
    int64_t bits = variant >= 2 ? variant : ig_aten_int(call, 1);
    if (bits != 2 && bits != 4 && bits != 8) {
        ig_expr_fail(call->e, IG_INVALID, "bit rate %lld", (long long)bits);
        return 8;
    }
    return (uint32_t)bits;
}

typedef struct range {
    ig_value *low, *high; /* f32 [rows, 1] */
} range;

/* Variant 1: the extremes of rows are given. */
static range range_of(ig_ts_call *call, ig_value *x) {
    if (call->row->variant != 1) {
        return (range){ reduce_row(call->e, x, IG_REDUCE_min),
                        reduce_row(call->e, x, IG_REDUCE_max) };
    }
    ig_value *both = ig_aten_cast(call, rows_of(call, 2), IG_DT_f32);
    return (range){ slice_row(call->e, both, ig_dim_of(0), ig_dim_of(1)),
                    slice_row(call->e, both, ig_dim_of(1), ig_dim_of(1)) };
}

/* Where `test` holds of x and a number: that one, else x. */
static ig_value *one_where(ig_expr *e, ig_value *test, ig_value *x) {
    return ig_build_where(e, test, ig_expr_number(e, IG_DT_f32, 1), x);
}

ig_status ig_ts_op_fb_to_rows_half(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, rows_of(call, 0), IG_DT_f32);
    uint32_t bits = bit_rate(call), per_byte = 8 / bits;
    double max = (1 << bits) - 1;
    range r = range_of(call, x);
    ig_value *bias = ig_aten_cast(call, r.low, IG_DT_f16);
    ig_value *low = ig_aten_cast(call, bias, IG_DT_f32);
    ig_value *width = ig_build_sub(call->e, r.high, low);
    ig_value *scale = ig_expr_with(call->e, IG_OP_div, width, max);
    scale = one_where(call->e, ig_expr_with(call->e, IG_OP_eq, width, 0), scale);
    scale = ig_aten_cast(call, ig_aten_cast(call, scale, IG_DT_f16), IG_DT_f32);
    scale = one_where(call->e, ig_expr_with(call->e, IG_OP_eq, scale, 0), scale);
    ig_value *inverse = ig_expr_number_with(call->e, IG_OP_div, 1, scale);
    ig_value *is_inf = ig_expr_map1(call->e, IG_OP_isinf, inverse);
    scale = one_where(call->e, is_inf, scale);
    inverse = one_where(call->e, is_inf, inverse);
    ig_value *q = ig_build_mul(call->e, ig_build_sub(call->e, x, low), inverse);
    q = clamp_between(call->e, ig_build_round(call->e, q), 0, max);
    q = ig_aten_cast(call, q, IG_DT_u8);
    q = per_byte > 1 ? ig_aten_join_bits(call, q, per_byte, bits, IG_DT_u8) : q;
    return ig_aten_give(
        call, fused_rows(call, q, ig_aten_cast(call, scale, IG_DT_f16), bias));
}

/* Variant: the result, as SparseType's code; -1: as arguments say; -2: the same,
 * with the numbers in front. */
ig_status ig_ts_op_fb_from_rows_half(ig_ts_call *call) {
    rows r = { .x = rows_of(call, 0), .qbits = bit_rate(call), .numbers = IG_DT_f16 };
    int64_t code = call->row->variant;
    r.is_last = code == -1 ? ig_aten_bool(call, 3) : code >= 0;
    r.to = output_dtype(call->e, code < 0 ? ig_aten_int(call, 2) : code);
    return ig_aten_give(call, values_of(call, &r));
}

/* ---- narrow floats ---- */

static ig_value *int_of(ig_expr *e, int64_t value) {
    return ig_expr_integer(e, IG_DT_i32, value);
}

static ig_value *map_with(ig_expr *e, ig_opcode code, ig_value *x, int64_t value) {
    return ig_expr_map2(e, code, x, int_of(e, value));
}

/* Exponent bits and bias of arguments 1 and 2. */
static bool read_format(ig_ts_call *call, int64_t *out_bits, int64_t *out_bias) {
    *out_bits = ig_aten_int(call, 1);
    *out_bias = ig_aten_int(call, 2);
    if (*out_bits < 1 || *out_bits > 7 || *out_bias < -100 || *out_bias > 120) {
        ig_expr_fail(call->e, IG_INVALID, "%lld exponent bits with bias %lld",
                     (long long)*out_bits, (long long)*out_bias);
    }
    return call->e->status == IG_OK;
}

ig_status ig_ts_op_fb_to_hfp8(ig_ts_call *call) {
    ig_expr *e = call->e;
    int64_t exponent, bias;
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_f32);
    if (!read_format(call, &exponent, &bias)) {
        return e->status;
    }
    int64_t mantissa = 7 - exponent;
    ig_value *max = ig_expr_number(e, IG_DT_f32, ig_aten_float(call, 3));
    ig_value *sign =
        map_with(e, IG_OP_and,
                 map_with(e, IG_OP_shr, ig_aten_bitcast(call, x, IG_DT_i32), 24), 128);
    ig_value *size = ig_build_abs(e, x);
    size = ig_build_where(e, ig_build_lt(e, size, max), size, max);
    ig_value *bits = ig_aten_bitcast(call, size, IG_DT_i32);
    ig_value *field = map_with(e, IG_OP_max, map_with(e, IG_OP_shr, bits, 23),
                               128 - bias);
    ig_value *unit = ig_build_sub(e, int_of(e, 254 + mantissa), field);
    unit = ig_aten_bitcast(call, map_with(e, IG_OP_shl, unit, 23), IG_DT_f32);
    ig_value *r = ig_build_round(e, ig_build_mul(e, size, unit));
    ig_value *code = map_with(e, IG_OP_shl, map_with(e, IG_OP_sub, field, 128 - bias),
                              mantissa);
    code = ig_build_add(e, code, ig_aten_cast(call, r, IG_DT_i32));
    code = ig_build_or(e, code, sign);
    return ig_aten_give(call, ig_aten_cast(call, code, IG_DT_u8));
}

ig_status ig_ts_op_fb_from_hfp8(ig_ts_call *call) {
    ig_expr *e = call->e;
    int64_t exponent, bias;
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_i32);
    if (!read_format(call, &exponent, &bias)) {
        return e->status;
    }
    ig_value *size = map_with(e, IG_OP_shl, map_with(e, IG_OP_and, x, 127),
                              16 + exponent);
    ig_value *scale = ig_aten_bitcast(call, int_of(e, (254 - bias) << 23), IG_DT_f32);
    size = ig_build_mul(e, ig_aten_bitcast(call, size, IG_DT_f32), scale);
    ig_value *sign = map_with(e, IG_OP_shl, map_with(e, IG_OP_and, x, 128), 24);
    ig_value *bits = ig_build_or(e, ig_aten_bitcast(call, size, IG_DT_i32), sign);
    return ig_aten_give(call, ig_aten_bitcast(call, bits, IG_DT_f32));
}

/* Halves are rounded up, to even or not. */
ig_status ig_ts_op_fb_to_bf16(ig_ts_call *call) {
    ig_value *x = ig_aten_cast(call, ig_aten_tensor(call, 0), IG_DT_f32);
    ig_value *bits = ig_aten_bitcast(call, x, IG_DT_u32);
    bits = ig_build_add(call->e, bits, ig_expr_integer(call->e, IG_DT_u32, 1 << 15));
    bits = ig_build_shr(call->e, bits, ig_expr_integer(call->e, IG_DT_u32, 16));
    return ig_aten_give(
        call, ig_aten_bitcast(call, ig_aten_cast(call, bits, IG_DT_u16), IG_DT_bf16));
}

/* bf16, or f16 and others that hold its bits. */
ig_status ig_ts_op_fb_from_bf16(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (x && ig_dtypes[x->type->dtype].bits != 16) {
        return ig_ts_fail(call, IG_INVALID, "elements are not of 16 bits");
    }
    x = ig_aten_bitcast(call, x, IG_DT_bf16);
    return ig_aten_give(call, ig_aten_cast(call, x, IG_DT_f32));
}
