/* Spans of elements: bits of every width, interpreted by class.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An element is first taken as bits (width 2 to 64), then interpreted by the class of
 * its dtype.  The two dtypes that most elements have get loops of their own.
 */
#include "ir/tensor/span.h"

#include "ir/tensor/tensor_float.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- bits: little-endian, packed with low bits first below a byte ---- */

uint64_t ig_bits_load(const void *data, unsigned width, int64_t index) {
    assert(width && width <= 64 && index >= 0 && "an element has 1 to 64 bits");
    const unsigned char *bytes = data;
    if (width < 8) {
        uint64_t at = (uint64_t)index * width;
        return (uint64_t)bytes[at / 8] >> at % 8 & ((1u << width) - 1);
    }
    uint64_t bits = 0;
    memcpy(&bits, bytes + (uint64_t)index * (width / 8), width / 8);
    return bits;
}

void ig_bits_store(void *data, unsigned width, int64_t index, uint64_t bits) {
    assert(width && width <= 64 && index >= 0 && "an element has 1 to 64 bits");
    unsigned char *bytes = data;
    if (width >= 8) {
        memcpy(bytes + (uint64_t)index * (width / 8), &bits, width / 8);
        return;
    }
    uint64_t at = (uint64_t)index * width;
    unsigned mask = ((1u << width) - 1) << at % 8;
    unsigned kept = bytes[at / 8] & ~mask;
    bytes[at / 8] = (unsigned char)(kept | ((unsigned)bits << at % 8 & mask));
}

/* ---- what bits mean ---- */

static double float_of_bits(ig_dtype dtype, uint64_t bits) {
    if (dtype == IG_DT_f64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (dtype == IG_DT_f32) {
        uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof value);
        return (double)value;
    }
    return (double)ig_float_widen(dtype, (uint32_t)bits);
}

static int64_t int_of_bits(const ig_dtype_info *info, uint64_t bits) {
    if (info->class != IG_SINT) {
        return (int64_t)bits;
    }
    unsigned unused = 64u - info->bits;
    return (int64_t)(bits << unused) >> unused;
}

double ig_bits_to_f64(ig_dtype dtype, uint64_t bits) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_FLOAT) {
        return float_of_bits(dtype, bits);
    }
    return info->class == IG_SINT ? (double)int_of_bits(info, bits) : (double)bits;
}

static int64_t bits_to_i64(ig_dtype dtype, uint64_t bits) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_FLOAT) {
        return ig_f64_to_i64(float_of_bits(dtype, bits), 64);
    }
    return int_of_bits(info, bits);
}

/* ---- bits of a value: the rules of a cast ---- */

int64_t ig_f64_to_i64(double value, unsigned bits) {
    assert(bits >= 1 && bits <= 64 && "an integer has 1 to 64 bits");
    int64_t max = (int64_t)(UINT64_MAX >> (65 - bits));
    double edge = ldexp(1.0, (int)bits - 1);
    if (isnan(value)) {
        return 0;
    }
    return value >= edge ? max : value < -edge ? -max - 1 : (int64_t)value;
}

uint64_t ig_f64_to_u64(double value, unsigned bits) {
    assert(bits >= 1 && bits <= 64 && "an integer has 1 to 64 bits");
    if (!(value > 0)) {
        return 0;
    }
    return value >= ldexp(1.0, (int)bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)value;
}

static uint64_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t ig_bits_of_f64(ig_dtype dtype, double value, bool saturate) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    const ig_dtype_info *info = &ig_dtypes[dtype];
    switch (info->class) {
    case IG_BOOL:
        return value != 0; /* NaN is true */
    case IG_SINT:
        return (uint64_t)ig_f64_to_i64(value, info->bits);
    case IG_UINT:
        return ig_f64_to_u64(value, info->bits);
    case IG_FLOAT:
        break;
    case IG_STRING:
        break;
    }
    if (dtype == IG_DT_f64) {
        return bits_of_double(value);
    }
    if (dtype == IG_DT_f32) {
        return bits_of_float((float)value);
    }
    return ig_float_narrow(dtype, ig_float_parts_of(value), saturate);
}

static uint64_t int_to_bits(ig_dtype dtype, int64_t value, bool is_signed) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class != IG_FLOAT) {
        return info->class == IG_BOOL ? value != 0 : (uint64_t)value;
    }
    if (dtype == IG_DT_f64) {
        return bits_of_double(is_signed ? (double)value : (double)(uint64_t)value);
    }
    if (dtype == IG_DT_f32) {
        return bits_of_float(is_signed ? (float)value : (float)(uint64_t)value);
    }
    bool is_negative = is_signed && value < 0;
    uint64_t magnitude = is_negative ? 0 - (uint64_t)value : (uint64_t)value;
    return ig_float_narrow(dtype, ig_float_parts_of_int(magnitude, is_negative), false);
}

/* ---- spans ---- */

static void read_f32(ig_span from, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, (const char *)from.data + (from.index + i * from.stride) * 4, 4);
        out[i] = (double)value;
    }
}

static void read_i64(ig_span from, int64_t count, int64_t *out) {
    for (int64_t i = 0; i < count; i++) {
        memcpy(&out[i], (const char *)from.data + (from.index + i * from.stride) * 8,
               8);
    }
}

void ig_span_read_f64(ig_span from, int64_t count, double *out) {
    assert(from.index >= 0 && (int)from.dtype < IG_DT_COUNT && "elements of a tensor");
    if (from.dtype == IG_DT_f32) {
        read_f32(from, count, out);
        return;
    }
    unsigned width = ig_dtypes[from.dtype].bits;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = ig_bits_load(from.data, width, from.index + i * from.stride);
        out[i] = ig_bits_to_f64(from.dtype, bits);
    }
}

void ig_span_read_i64(ig_span from, int64_t count, int64_t *out) {
    assert(from.index >= 0 && (int)from.dtype < IG_DT_COUNT && "elements of a tensor");
    if (from.dtype == IG_DT_i64) {
        read_i64(from, count, out);
        return;
    }
    unsigned width = ig_dtypes[from.dtype].bits;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = ig_bits_load(from.data, width, from.index + i * from.stride);
        out[i] = bits_to_i64(from.dtype, bits);
    }
}

void ig_span_write_f64(ig_tensor *to, int64_t index, int64_t count,
                       const double *values, bool saturate) {
    assert(index >= 0 && count <= to->count - index && "elements of the tensor");
    unsigned width = ig_dtypes[to->dtype].bits;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = ig_bits_of_f64(to->dtype, values[i], saturate);
        ig_bits_store(to->data, width, index + i, bits);
    }
}

void ig_span_write_i64(ig_tensor *to, int64_t index, int64_t count,
                       const int64_t *values) {
    assert(index >= 0 && count <= to->count - index && "elements of the tensor");
    unsigned width = ig_dtypes[to->dtype].bits;
    for (int64_t i = 0; i < count; i++) {
        ig_bits_store(to->data, width, index + i,
                      int_to_bits(to->dtype, values[i], true));
    }
}

void ig_span_write_u64(ig_tensor *to, int64_t index, int64_t count,
                       const int64_t *values) {
    assert(index >= 0 && count <= to->count - index && "elements of the tensor");
    unsigned width = ig_dtypes[to->dtype].bits;
    for (int64_t i = 0; i < count; i++) {
        ig_bits_store(to->data, width, index + i,
                      int_to_bits(to->dtype, values[i], false));
    }
}

void ig_span_copy(ig_tensor *to, int64_t to_index, const ig_tensor *from,
                  int64_t from_index, int64_t count) {
    assert(to->dtype == from->dtype && "a copy does not convert");
    unsigned width = ig_dtypes[to->dtype].bits;
    if (width >= 8 && count > 0) {
        int64_t bytes = width / 8;
        memcpy((char *)to->data + to_index * bytes,
               (const char *)from->data + from_index * bytes, (size_t)(count * bytes));
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = ig_bits_load(from->data, width, from_index + i);
        ig_bits_store(to->data, width, to_index + i, bits);
    }
}

static inline void gather_elements(char *to, const char *from, int64_t step,
                                   int64_t count, size_t bytes) {
    for (int64_t i = 0; i < count; i++) {
        memcpy(to, from, bytes);
        to += bytes;
        from += step;
    }
}

void ig_span_gather(ig_tensor *to, int64_t to_index, const ig_tensor *from,
                    int64_t from_index, int64_t stride, int64_t count) {
    assert(to->dtype == from->dtype && "a copy does not convert");
    int64_t bytes = ig_dtypes[to->dtype].bits / 8;
    if (bytes != 2 && bytes != 4) {
        for (int64_t i = 0; i < count; i++) {
            ig_span_copy(to, to_index + i, from, from_index + i * stride, 1);
        }
        return;
    }
    char *out = (char *)to->data + to_index * bytes;
    const char *in = (const char *)from->data + from_index * bytes;
    if (bytes == 2) {
        gather_elements(out, in, stride * bytes, count, 2);
    } else {
        gather_elements(out, in, stride * bytes, count, 4);
    }
}
