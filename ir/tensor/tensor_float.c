/* Narrow floating-point formats, by integer arithmetic.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A format is a few numbers; decoding and encoding are written once over them.  A code
 * is  sign | exponent | mantissa,  and codes of one sign grow with their value, so that
 * a carry out of the mantissa moves into the exponent by itself and overflow is one
 * comparison with the code of the largest finite value.
 *
 * Encoding rounds  magnitude * 2^exponent  once, to nearest even, whatever it came
 * from: a double or an integer goes to float8 without a stop at f32 in between.
 */
#include "ir/tensor/tensor_float.h"

#include <assert.h>
#include <string.h>

typedef struct narrow_format {
    uint8_t exponent_bits, mantissa_bits;
    int16_t bias;
    uint32_t largest;  /* code of the largest finite value */
    uint32_t infinity; /* code of infinity; nan where the format has none */
    uint32_t nan;
    bool is_unsigned_zero; /* -0 does not exist; its code is the one NaN */
    uint8_t bits;
    bool is_power; /* no sign and no mantissa: see below */
} narrow_format;

static const narrow_format formats[IG_DT_COUNT] = {
    [IG_DT_f16] = { 5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false, 16, false },
    [IG_DT_bf16] = { 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false, 16, false },
    [IG_DT_f8e4m3fn] = { 4, 3, 7, 0x7e, 0x7f, 0x7f, false, 8, false },
    [IG_DT_f8e4m3fnuz] = { 4, 3, 8, 0x7f, 0x80, 0x80, true, 8, false },
    [IG_DT_f8e5m2] = { 5, 2, 15, 0x7b, 0x7c, 0x7e, false, 8, false },
    [IG_DT_f8e5m2fnuz] = { 5, 2, 16, 0x7f, 0x80, 0x80, true, 8, false },
    [IG_DT_f8e8m0] = { 8, 0, 127, 0xfe, 0xff, 0xff, false, 8, true },
    /* Larger values become 6, and NaN becomes -0, as in ml_dtypes. */
    [IG_DT_f4e2m1] = { 2, 1, 1, 7, 7, 8, false, 4, false },
};

static const narrow_format *format_of(ig_dtype dtype) {
    assert(formats[dtype].bits && "not a narrow float");
    return &formats[dtype];
}

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- powers of two: the code is the exponent ---- */

enum { POWER_BIAS = 127 };

static float widen_power(const narrow_format *format, uint32_t code) {
    uint32_t min = 0x00400000; /* f32's subnormal 2^-127 */
    return float_of_bits(code == format->nan ? 0x7fc00000 : code ? code << 23 : min);
}

/* To the nearest, ties upwards, whatever the sign; between the least two the larger
 * one, as torch and ONNX. */
static uint32_t narrow_power(const narrow_format *format, ig_float_parts parts,
                             bool saturate) {
    if (parts.is_nan || parts.is_infinite) {
        return format->nan;
    }
    if (parts.magnitude == 0) {
        return 0;
    }
    int zeros = __builtin_clzll(parts.magnitude);
    int code = parts.exponent - zeros + 63 + POWER_BIAS;
    uint64_t rest = parts.magnitude << zeros << 1;
    if (code < 1) {
        return code == 0 && rest != 0;
    }
    code += (int)(rest >> 63);
    return code <= (int)format->largest ? (uint32_t)code
           : saturate                   ? format->largest
                                        : format->nan;
}

/* ---- to f32: exact ---- */

static bool code_is_nan(const narrow_format *format, uint32_t code,
                        uint32_t magnitude) {
    if (format->is_unsigned_zero) {
        return code == format->nan;
    }
    return magnitude > format->infinity || magnitude == format->nan;
}

/* The f32 bits of mantissa * 2^(1 - bias - mantissa_bits), a subnormal of the format.
 * */
static uint32_t widen_subnormal(const narrow_format *format, uint32_t mantissa) {
    if (format->bias == 127) { /* bf16: subnormal in f32 too */
        return mantissa << (23 - format->mantissa_bits);
    }
    int exponent = 1 - format->bias - format->mantissa_bits + 127 + 23;
    while (!(mantissa & 1u << 23)) {
        mantissa <<= 1;
        exponent--;
    }
    return (uint32_t)exponent << 23 | (mantissa & 0x7fffff);
}

float ig_float_widen(ig_dtype dtype, uint32_t code) {
    const narrow_format *format = format_of(dtype);
    if (format->is_power) {
        return widen_power(format, code);
    }
    uint32_t magnitude = code & ((1u << (format->bits - 1)) - 1);
    uint32_t sign = (code >> (format->bits - 1) & 1) << 31;
    uint32_t shift = 23u - format->mantissa_bits;
    if (code_is_nan(format, code, magnitude)) {
        uint32_t payload = magnitude << shift & 0x3fffff;
        return float_of_bits(sign | 0x7fc00000 | payload);
    }
    if (magnitude > format->largest) {
        return float_of_bits(sign | 0x7f800000);
    }
    if (magnitude == 0) {
        return float_of_bits(sign);
    }
    uint32_t exponent = magnitude >> format->mantissa_bits;
    if (exponent == 0) {
        return float_of_bits(sign | widen_subnormal(format, magnitude));
    }
    uint32_t rebias = (uint32_t)(127 - format->bias) << 23;
    return float_of_bits(sign | ((magnitude << shift) + rebias));
}

/* ---- from anything: one rounding ---- */

static uint32_t with_sign(const narrow_format *format, uint32_t code,
                          bool is_negative) {
    if (format->is_unsigned_zero && (code == 0 || code == format->nan)) {
        return code;
    }
    return code | (uint32_t)is_negative << (format->bits - 1);
}

static uint32_t overflow_bits(const narrow_format *format, bool is_negative,
                              bool saturate) {
    return with_sign(format, saturate ? format->largest : format->infinity,
                     is_negative);
}

/* value >> shift, rounded to nearest even. */
static uint64_t shift_round(uint64_t value, int shift) {
    if (shift <= 0) {
        return value << -shift;
    }
    if (shift > 64) {
        return 0;
    }
    uint64_t half = (uint64_t)1 << (shift - 1);
    uint64_t kept = shift == 64 ? 0 : value >> shift;
    uint64_t rest = value & (half | (half - 1));
    return kept + (rest > half || (rest == half && (kept & 1)));
}

uint32_t ig_float_narrow(ig_dtype dtype, ig_float_parts parts, bool saturate) {
    const narrow_format *format = format_of(dtype);
    if (format->is_power) {
        return narrow_power(format, parts, saturate);
    }
    if (parts.is_nan) {
        return with_sign(format, format->nan, parts.is_negative);
    }
    if (parts.is_infinite) {
        return overflow_bits(format, parts.is_negative, saturate);
    }
    if (parts.magnitude == 0) {
        return with_sign(format, 0, parts.is_negative);
    }
    int zeros = __builtin_clzll(parts.magnitude);
    uint64_t magnitude = parts.magnitude << zeros;
    int exponent = parts.exponent - zeros + 63 + format->bias; /* of the leading bit */
    int shift = 63 - format->mantissa_bits;
    if (exponent >= 1 << format->exponent_bits) {
        return overflow_bits(format, parts.is_negative, saturate);
    }
    uint64_t code;
    if (exponent >= 1) {
        code = ((uint64_t)(exponent - 1) << format->mantissa_bits) +
               shift_round(magnitude, shift);
    } else {
        code = shift_round(magnitude, exponent < -64 ? 65 : shift + 1 - exponent);
    }
    if (code > format->largest) {
        return overflow_bits(format, parts.is_negative, saturate);
    }
    return with_sign(format, (uint32_t)code, parts.is_negative);
}

ig_float_parts ig_float_parts_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    ig_float_parts parts = { .is_negative = bits >> 63 };
    if (exponent == 0x7ff) {
        parts.is_nan = mantissa != 0;
        parts.is_infinite = mantissa == 0;
        return parts;
    }
    parts.magnitude = exponent ? mantissa | (uint64_t)1 << 52 : mantissa;
    parts.exponent = (exponent ? exponent : 1) - 1023 - 52;
    return parts;
}

ig_float_parts ig_float_parts_of_int(uint64_t magnitude, bool is_negative) {
    return (ig_float_parts){ .magnitude = magnitude, .is_negative = is_negative };
}
