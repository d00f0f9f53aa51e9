/* One element of a constant as text: bits in, bits out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The printer does not trust its decimals: it reads each back with the parser's own
 * function, and writes the bits where they differ.  So the text is exact whatever the
 * conversions in between do.  Memory is little-endian, as in every format we read.
 */
#include "ir/tensor/element.h"

#include "base/checked.h"
#include "ir/tensor/span.h"

#include <assert.h>
#include <math.h>

/* ---- reading ---- */

static const char out_of_range[] = "is out of range for this element type";

/* Digits of `base` without sign, all of `text`; false on overflow or another
 * character. */
static bool read_magnitude(ig_str text, unsigned base, uint64_t *out_value) {
    uint64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *out_value = value;
    return text.size > 0;
}

static const char *parse_int(const ig_dtype_info *info, ig_str text,
                             uint64_t *out_bits) {
    bool is_negative = ig_str_starts(text, "-");
    ig_str digits = { text.data + is_negative, text.size - is_negative };
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return "is not an integer";
        }
    }
    uint64_t magnitude;
    if (!read_magnitude(digits, 10, &magnitude)) {
        return digits.size ? out_of_range : "is not an integer";
    }
    uint64_t max = UINT64_MAX >> (64 - info->bits); /* of an unsigned type */
    if (info->class == IG_SINT) {
        max = (max >> 1) + is_negative;
    } else if (is_negative) {
        max = 0;
    }
    uint64_t mask = UINT64_MAX >> (64 - info->bits);
    *out_bits = (is_negative ? 0 - magnitude : magnitude) & mask;
    return magnitude <= max ? NULL : out_of_range;
}

static const char *parse_float(ig_dtype dtype, ig_str text, uint64_t *out_bits) {
    bool is_negative = ig_str_starts(text, "-");
    ig_str word = { text.data + is_negative, text.size - is_negative };
    double value = INFINITY;
    if (ig_str_is(word, "nan")) {
        *out_bits = ig_bits_of_f64(dtype, is_negative ? -(double)NAN : (double)NAN,
                                   false);
        return NULL;
    }
    bool is_finite = !ig_str_is(word, "inf");
    if (is_finite && !ig_str_to_f64(word, &value)) {
        return "is not a number";
    }
    *out_bits = ig_bits_of_f64(dtype, is_negative ? -value : value, false);
    double stored = ig_bits_to_f64(dtype, *out_bits);
    bool is_kept = is_finite ? isfinite(value) && isfinite(stored) : isinf(stored);
    return is_kept ? NULL : out_of_range;
}

static const char *parse_bits(ig_dtype dtype, ig_str text, uint64_t *out_bits) {
    ig_dtype_class class = ig_dtypes[dtype].class;
    if (ig_str_starts(text, "0x")) {
        ig_str digits = { text.data + 2, text.size - 2 };
        unsigned width = ig_dtypes[dtype].bits;
        bool is_read = read_magnitude(digits, 16, out_bits);
        return is_read && *out_bits <= UINT64_MAX >> (64 - width) ? NULL : out_of_range;
    }
    if (class == IG_BOOL) {
        *out_bits = ig_str_is(text, "true");
        return *out_bits || ig_str_is(text, "false") ? NULL
                                                     : "is neither true nor false";
    }
    if (class == IG_FLOAT) {
        return parse_float(dtype, text, out_bits);
    }
    return parse_int(&ig_dtypes[dtype], text, out_bits);
}

const char *ig_element_parse(ig_dtype dtype, ig_str text, void *bytes, int64_t index) {
    assert(index >= 0 && "no such element");
    if (ig_dtypes[dtype].class == IG_STRING) {
        return "is not a string";
    }
    uint64_t bits = 0;
    const char *problem = parse_bits(dtype, text, &bits);
    if (!problem) {
        ig_bits_store(bytes, ig_dtypes[dtype].bits, index, bits);
    }
    return problem;
}

/* ---- writing ---- */

static void put_float(ig_dtype dtype, uint64_t bits, ig_writer *writer) {
    double value = ig_bits_to_f64(dtype, bits);
    if (isnan(value)) {
        ig_put(writer, "nan");
    } else if (isinf(value)) {
        ig_put(writer, value < 0 ? "-inf" : "inf");
    } else if (value == 0) {
        ig_put(writer, signbit(value) ? "-0" : "0");
    } else if (dtype == IG_DT_f64) {
        ig_put_f64(writer, value);
    } else {
        ig_put_f32(writer, (float)value);
    }
}

static void put_plain(ig_dtype dtype, uint64_t bits, ig_writer *writer) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_BOOL) {
        ig_put(writer, bits ? "true" : "false");
    } else if (info->class == IG_FLOAT) {
        put_float(dtype, bits, writer);
    } else if (info->class == IG_SINT) {
        unsigned unused = 64u - info->bits;
        ig_put(writer, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    } else {
        ig_put(writer, "%llu", (unsigned long long)bits);
    }
}

void ig_element_print(ig_dtype dtype, const void *bytes, int64_t index,
                      ig_writer *writer) {
    assert(index >= 0 && (int)dtype < IG_DT_COUNT && "no such element");
    if (ig_dtypes[dtype].class == IG_STRING) {
        ig_put(writer, "0");
        return;
    }
    uint64_t bits = ig_bits_load(bytes, ig_dtypes[dtype].bits, index), again = 0;
    size_t start = writer->size;
    put_plain(dtype, bits, writer);
    ig_str text = { writer->data + start, writer->size - start };
    if (parse_bits(dtype, text, &again) || again != bits) {
        writer->size = start;
        ig_put(writer, "0x%llx", (unsigned long long)bits);
    }
}
