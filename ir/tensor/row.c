/* Rows of embedding tables: the offsets of a row's codes, scale and bias.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/tensor/row.h"

#include "base/checked.h"
#include "ir/tensor/dtype.h"

#include <math.h>

const ig_row_info ig_rows_formats[IG_ROW_COUNT] = {
#define ROW(name, text, side, dtype) \
    [IG_ROW_##name] = { text, IG_ROW_##side, IG_DT_##dtype },
#include "ir/tensor/row.def"
#undef ROW
};

bool ig_rows_equal(ig_rows a, ig_rows b) {
    return a.format == b.format && a.exponent_bits == b.exponent_bits &&
           a.exponent_bias == b.exponent_bias && a.stride == b.stride;
}

bool ig_rows_is_plain(ig_rows rows) {
    return rows.format == IG_ROW_PLAIN && !rows.exponent_bits && !rows.stride;
}

bool ig_row_layout_of(ig_rows rows, unsigned bits, int64_t dim, ig_row_layout *out) {
    enum { SIGN_AND_MORE = 7, MAX_BIAS = 126 };
    const ig_row_info *info = &ig_rows_formats[rows.format];
    int64_t factors = info->side ? 2 * (ig_dtypes[info->dtype].bits / 8) : 0, sum;
    bool is_float = rows.exponent_bits > 0;
    if (is_float && (bits != 8 || rows.exponent_bits > SIGN_AND_MORE ||
                     rows.exponent_bias > MAX_BIAS || info->side)) {
        return false;
    }
    if (dim < 0 || !ig_mul_i64(dim, (int64_t)bits, &sum) || !ig_add_i64(sum, 7, &sum)) {
        return false;
    }
    int64_t codes = sum / 8;
    if (!ig_add_i64(codes, factors, &out->bytes)) {
        return false;
    }
    out->codes = info->side == IG_ROW_FRONT ? factors : 0;
    out->factors = info->side == IG_ROW_AFTER ? codes : 0;
    out->stride = rows.stride ? (int64_t)rows.stride : out->bytes;
    return out->stride >= out->bytes;
}

double ig_row_small_float(ig_rows rows, uint8_t code) {
    int mantissa_bits = 7 - rows.exponent_bits;
    int exponent = (code & 0x7f) >> mantissa_bits;
    int mantissa = code & ((1 << mantissa_bits) - 1);
    int min = 1 - rows.exponent_bias; /* exponent of subnormals */
    double value = exponent ? ldexp((1 << mantissa_bits) + mantissa,
                                    exponent - rows.exponent_bias - mantissa_bits)
                            : ldexp(mantissa, min - mantissa_bits);
    return code & 0x80 ? -value : value;
}
