/* Rows of tables as integers, by FBGEMM's rounding.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As FloatOrHalfToFusedNBitRowwiseQuantizedSBHalf, which TorchRec quantises tables of
 * 8, 4 and 2 bits with:
 *
 *     bias  = f16(min of the row)
 *     scale = f16((max - bias) / (2^bits - 1)), 1 where that is 0
 *     code  = clamp(rint((x - bias) * (1 / scale)), 0, 2^bits - 1)
 *
 * Scale and bias come before the codes, as in the table-batched look-ups.
 */
#include "passes/quantise/quantise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static float round_to_f16(float x) {
    uint16_t bits = 0;
    ig_tensor one = {
        .kind = IG_TENSOR, .dtype = IG_DT_f16, .count = 1, .data = &bits
    };
    ig_tensor_set_f64(&one, 0, (double)x);
    return (float)ig_tensor_get_f64(&one, 0);
}

static void put_f16(float x, uint8_t *out) {
    uint16_t bits = 0;
    ig_tensor one = {
        .kind = IG_TENSOR, .dtype = IG_DT_f16, .count = 1, .data = &bits
    };
    ig_tensor_set_f64(&one, 0, (double)x);
    memcpy(out, &bits, sizeof bits);
}

typedef struct row_factors {
    float scale, inverse, bias;
} row_factors;

/* False where f16 does not hold them, or the row is not finite. */
static bool choose_factors(const float *row, int64_t dim, int bits, row_factors *out) {
    float low = row[0], high = row[0];
    for (int64_t i = 0; i < dim; i++) {
        if (!isfinite(row[i])) {
            return false;
        }
        low = fminf(low, row[i]);
        high = fmaxf(high, row[i]);
    }
    out->bias = round_to_f16(low);
    float range = high - out->bias;
    float steps = (float)((1 << bits) - 1);
    out->scale = round_to_f16(range == 0 ? 1 : range / steps);
    out->scale = out->scale == 0 ? 1 : out->scale;
    out->inverse = 1 / out->scale;
    if (isinf(out->inverse)) {
        out->scale = out->inverse = 1;
    }
    return isfinite(out->bias) && isfinite(out->scale);
}

bool ig_quant_row(const float *row, int64_t dim, int bits, uint8_t *out) {
    enum { FACTORS = 4 };
    row_factors by;
    assert((bits == 8 || bits == 4 || bits == 2) && "codes fill bytes");
    if (!choose_factors(row, dim, bits, &by)) {
        return false;
    }
    float max = (float)((1 << bits) - 1);
    int per = 8 / bits;
    put_f16(by.scale, out);
    put_f16(by.bias, out + 2);
    memset(out + FACTORS, 0, (size_t)((dim + per - 1) / per));
    for (int64_t i = 0; i < dim; i++) {
        float code = nearbyintf((row[i] - by.bias) * by.inverse);
        unsigned whole = (unsigned)fminf(fmaxf(code, 0), max);
        out[FACTORS + i / per] |= (uint8_t)(whole << (i % per * bits));
    }
    return true;
}

void ig_quant_row_back(const uint8_t *row, int64_t dim, int bits, float *out) {
    enum { FACTORS = 4 };
    uint16_t bits16[2];
    int per = 8 / bits;
    memcpy(bits16, row, sizeof bits16);
    ig_tensor two = {
        .kind = IG_TENSOR, .dtype = IG_DT_f16, .count = 2, .data = bits16
    };
    float scale = (float)ig_tensor_get_f64(&two, 0);
    float bias = (float)ig_tensor_get_f64(&two, 1);
    for (int64_t i = 0; i < dim; i++) {
        int code = row[FACTORS + i / per] >> (i % per * bits) & ((1 << bits) - 1);
        out[i] = (float)code * scale + bias;
    }
}
