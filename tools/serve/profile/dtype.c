/* Element types.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/dtype.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The index is the protocol's number. */
static const ig_dtype_code codes[] = { 0,      IG_F16, IG_F32,  IG_F64, IG_I8,
                                       IG_I16, IG_I32, IG_I64,  IG_U8,  IG_U16,
                                       IG_U32, IG_U64, IG_BOOL8 };
enum { COUNT = sizeof codes / sizeof *codes };

ig_dtype_code dtype_of_number(int code) {
    return code > 0 && code < COUNT ? codes[code] : (ig_dtype_code)0;
}

int dtype_code(ig_dtype_code dtype) {
    int code = COUNT - 1;
    while (code > 0 && codes[code] != dtype) {
        code--;
    }
    return code;
}

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

#define READ(type)                                                               \
    {                                                                            \
        type value;                                                              \
        memcpy(&value, (const char *)data + index * sizeof value, sizeof value); \
        return (double)value;                                                    \
    }

double dtype_element(int code, const void *data, size_t index) {
    uint16_t half;
    switch ((int)dtype_of_number(code)) {
    case IG_F16:
        memcpy(&half, (const char *)data + index * sizeof half, sizeof half);
        return half_value(half);
    case IG_F32:
        READ(float)
    case IG_F64:
        READ(double)
    case IG_I8:
        READ(int8_t)
    case IG_I16:
        READ(int16_t)
    case IG_I32:
        READ(int32_t)
    case IG_I64:
        READ(int64_t)
    case IG_U16:
        READ(uint16_t)
    case IG_U32:
        READ(uint32_t)
    case IG_U64:
        READ(uint64_t)
    default:
        READ(uint8_t)
    }
}
