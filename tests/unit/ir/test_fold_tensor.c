/* Concrete tensors: conversions of every bit pattern, packed elements, limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/tensor/span.h"
#include "ir/tensor/tensor_float.h"

#include "tests/unit/unit.h"

#include <math.h>

/* ---- narrow floats, all of them ---- */

typedef struct format {
    ig_dtype dtype;
    int bits, mantissa_bits, bias;
    uint32_t largest; /* code of the largest finite value */
    bool has_infinity;
} format;

static const format formats[] = {
    { IG_DT_f16, 16, 10, 15, 0x7bff, true },
    { IG_DT_bf16, 16, 7, 127, 0x7f7f, true },
    { IG_DT_f8e4m3fn, 8, 3, 7, 0x7e, false },
    { IG_DT_f8e5m2, 8, 2, 15, 0x7b, true },
    { IG_DT_f8e4m3fnuz, 8, 3, 8, 0x7f, false },
    { IG_DT_f8e5m2fnuz, 8, 2, 16, 0x7f, false },
};

/* The value by the definition of the format, for finite codes. */
static double define(const format *f, uint32_t magnitude) {
    uint32_t exponent = magnitude >> f->mantissa_bits;
    double mantissa = magnitude & ((1u << f->mantissa_bits) - 1);
    double unit = ldexp(1, 1 - f->bias - f->mantissa_bits);
    if (exponent == 0) {
        return mantissa * unit;
    }
    return (mantissa + (1 << f->mantissa_bits)) * ldexp(unit, (int)exponent - 1);
}

static uint32_t narrow(const format *f, double value, bool saturate) {
    return ig_float_narrow(f->dtype, ig_float_parts_of(value), saturate);
}

TEST(every_code_decodes_as_defined_and_comes_back) {
    for (size_t k = 0; k < IG_COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        uint32_t sign = 1u << (f->bits - 1);
        for (uint32_t code = 0; code < 2 * sign; code++) {
            double value = (double)ig_float_widen(f->dtype, code);
            if (isnan(value)) {
                CHECK(isnan((double)ig_float_widen(f->dtype, narrow(f, value, false))));
                continue;
            }
            double expected = define(f, code & (sign - 1));
            if ((code & (sign - 1)) > f->largest) {
                expected = INFINITY;
            }
            CHECK(fabs(value) == expected && !signbit(value) == !(code & sign));
            CHECK_INT(narrow(f, value, false), code);
        }
    }
}

TEST(every_gap_rounds_to_nearest_even) {
    for (size_t k = 0; k < IG_COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        for (uint32_t code = 0; code < f->largest; code++) {
            double low = define(f, code), high = define(f, code + 1);
            double half = low + (high - low) / 2; /* exact in double */
            CHECK_INT(narrow(f, half, false), code + (code & 1));
            CHECK_INT(narrow(f, nextafter(half, 0), false), code);
            CHECK_INT(narrow(f, nextafter(half, INFINITY), false), code + 1);
            CHECK(narrow(f, -half, false) ==
                  ((code + (code & 1)) ? (code + (code & 1)) | 1u << (f->bits - 1)
                                       : narrow(f, -0.0, false)));
        }
    }
}

TEST(overflow_saturates_or_leaves_the_range) {
    for (size_t k = 0; k < IG_COUNT_OF(formats); k++) {
        const format *f = &formats[k];
        double max = define(f, f->largest);
        double step = max - define(f, f->largest - 1);
        double edge = max + step / 2; /* a tie: the even neighbour takes it */
        double beyond[] = { nextafter(edge, INFINITY), 2 * max, 1e300, INFINITY };
        CHECK((narrow(f, edge, false) == f->largest) == (f->largest % 2 == 0));
        CHECK_INT(narrow(f, nextafter(edge, 0), false), f->largest);
        for (size_t i = 0; i < IG_COUNT_OF(beyond); i++) {
            double value = (double)ig_float_widen(f->dtype,
                                                  narrow(f, beyond[i], false));
            CHECK(f->has_infinity ? isinf(value) : isnan(value));
            CHECK_INT(narrow(f, beyond[i], true), f->largest);
        }
        CHECK_INT(narrow(f, 1e-300, false), 0);
        CHECK_INT(narrow(f, 0x1p-1074, false), 0);
    }
}

/* What ml_dtypes 0.5 gives, where 1000 and NaN are no values of the format. */
TEST(floats_of_four_bits) {
    static const struct {
        double value;
        uint32_t code;
    } rows[] = { { 0, 0 },         { -0.0, 8 },      { 0.25, 0 }, { 0.26, 1 },
                 { 0.75, 2 },      { 1.25, 2 },      { 1.75, 4 }, { 2.5, 4 },
                 { 2.5000002, 5 }, { 3.5, 6 },       { 5, 6 },    { 5.0000005, 7 },
                 { -5, 14 },       { 7, 7 },         { 1000, 7 }, { -1e300, 15 },
                 { INFINITY, 7 },  { -INFINITY, 15 } };
    static const double values[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        CHECK_INT(ig_bits_of_f64(IG_DT_f4e2m1, rows[i].value, i % 2), rows[i].code);
    }
    for (uint32_t code = 0; code < 8; code++) {
        CHECK(ig_bits_to_f64(IG_DT_f4e2m1, code) == values[code]);
        CHECK(ig_bits_to_f64(IG_DT_f4e2m1, code | 8) == -values[code]);
        CHECK(signbit(ig_bits_to_f64(IG_DT_f4e2m1, code | 8)));
    }
    CHECK_INT(ig_bits_of_f64(IG_DT_f4e2m1, (double)NAN, false), 8);
}

/* As onnx 1.23's to_float8e8m0, round_mode nearest, and torch's float8_e8m0fnu. */
TEST(powers_of_two_without_sign) {
    static const struct {
        double value;
        uint32_t code, saturated;
    } rows[] = { { 0, 0, 0 },
                 { 0x1p-149, 0, 0 },
                 { 0x1p-127, 0, 0 },
                 { 0x1.02p-127, 1, 1 },
                 { 0x1p-126, 1, 1 },
                 { 1, 127, 127 },
                 { -1, 127, 127 },
                 { 1.4, 127, 127 },
                 { 1.5, 128, 128 },
                 { 0x1.7fffffffffffp0, 127, 127 },
                 { 3, 129, 129 },
                 { -0x1p127, 254, 254 },
                 { 0x1.7ffp127, 254, 254 },
                 { 0x1.8p127, 255, 254 },
                 { 1e300, 255, 254 },
                 { INFINITY, 255, 255 },
                 { -INFINITY, 255, 255 } };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        CHECK_INT(ig_bits_of_f64(IG_DT_f8e8m0, rows[i].value, false), rows[i].code);
        CHECK_INT(ig_bits_of_f64(IG_DT_f8e8m0, rows[i].value, true), rows[i].saturated);
    }
    for (int code = 0; code < 255; code++) {
        CHECK(ig_bits_to_f64(IG_DT_f8e8m0, (uint64_t)code) == ldexp(1, code - 127));
    }
    CHECK(isnan(ig_bits_to_f64(IG_DT_f8e8m0, 255)));
    CHECK_INT(ig_bits_of_f64(IG_DT_f8e8m0, (double)NAN, true), 255);
}

TEST(known_codes) {
    CHECK_INT(ig_bits_of_f64(IG_DT_f16, 1.0, false), 0x3c00);
    CHECK_INT(ig_bits_of_f64(IG_DT_f16, -2.0, false), 0xc000);
    CHECK_INT(ig_bits_of_f64(IG_DT_f16, 65519.996, false), 0x7bff);
    CHECK_INT(ig_bits_of_f64(IG_DT_f16, 65520.0, false), 0x7c00);
    CHECK_INT(ig_bits_of_f64(IG_DT_bf16, 1.00390625, false), 0x3f80); /* to even */
    CHECK_INT(ig_bits_of_f64(IG_DT_bf16, 1.01171875, false), 0x3f82);
    CHECK_INT(ig_bits_of_f64(IG_DT_f8e5m2, 57344.0, false), 0x7b);
    CHECK(ig_bits_to_f64(IG_DT_f16, 0x0001) == 0x1p-24);
    CHECK(ig_bits_to_f64(IG_DT_bf16, 0x0001) == 0x1p-133);
    CHECK(ig_bits_to_f64(IG_DT_f8e4m3fn, 0x7e) == 448.0);
    CHECK(ig_bits_to_f64(IG_DT_f8e4m3fnuz, 0x7f) == 240.0);
}

/* ---- elements ---- */

typedef struct store {
    ig_arena arena;
    ig_tensor tensor;
} store;

static void start(store *s, ig_dtype dtype, int64_t count) {
    ig_arena_init(&s->arena, NULL);
    CHECK_OK(ig_tensor_alloc(&s->arena, NULL, dtype, 1, &count, &s->tensor));
}

TEST(packed_elements_do_not_touch_their_neighbours) {
    static const ig_dtype packed[] = { IG_DT_i4, IG_DT_u4, IG_DT_i2, IG_DT_u2 };
    for (size_t k = 0; k < IG_COUNT_OF(packed); k++) {
        store s;
        unsigned bits = ig_dtypes[packed[k]].bits;
        bool is_signed = ig_dtypes[packed[k]].class == IG_SINT;
        start(&s, packed[k], 11);
        CHECK_INT(ig_tensor_bytes(&s.tensor), (11 * bits + 7) / 8);
        for (int64_t value = 0; value < 1 << bits; value++) {
            for (int64_t i = 0; i < 11; i++) {
                ig_tensor_set_i64(&s.tensor, i, i + value);
            }
            for (int64_t i = 0; i < 11; i++) {
                int64_t low = (i + value) & ((1 << bits) - 1);
                bool is_negative = is_signed && low >> (bits - 1);
                CHECK_INT(ig_tensor_get_i64(&s.tensor, i),
                          low - (is_negative ? 1 << bits : 0));
            }
        }
        ig_arena_fini(&s.arena);
    }
}

TEST(low_bits_come_first) {
    store s;
    start(&s, IG_DT_u4, 3);
    for (int64_t i = 0; i < 3; i++) {
        ig_tensor_set_i64(&s.tensor, i, i + 1);
    }
    CHECK_INT(((unsigned char *)s.tensor.data)[0], 0x21);
    CHECK_INT(((unsigned char *)s.tensor.data)[1], 0x03);
    ig_arena_fini(&s.arena);
}

TEST(integers_saturate_from_floats_and_wrap_from_integers) {
    for (int d = IG_DT_i8; d <= IG_DT_u64; d++) {
        store s;
        const ig_dtype_info *info = &ig_dtypes[d];
        bool is_signed = info->class == IG_SINT;
        start(&s, (ig_dtype)d, 1);
        ig_tensor_set_f64(&s.tensor, 0, 1e30);
        uint64_t max = UINT64_MAX >> (64 - info->bits + (is_signed ? 1 : 0));
        CHECK((uint64_t)ig_tensor_get_i64(&s.tensor, 0) == max);
        ig_tensor_set_f64(&s.tensor, 0, -1e30);
        int64_t min = is_signed ? -(int64_t)max - 1 : 0;
        CHECK(ig_tensor_get_i64(&s.tensor, 0) == min);
        ig_tensor_set_f64(&s.tensor, 0, NAN);
        CHECK_INT(ig_tensor_get_i64(&s.tensor, 0), 0);
        ig_tensor_set_f64(&s.tensor, 0,
                          ldexp(1, (int)info->bits - (is_signed ? 1 : 0)));
        CHECK((uint64_t)ig_tensor_get_i64(&s.tensor, 0) == max);
        ig_tensor_set_i64(&s.tensor, 0, -1);
        CHECK(ig_tensor_get_i64(&s.tensor, 0) == (is_signed ? -1 : (int64_t)max));
        ig_arena_fini(&s.arena);
    }
}

TEST(large_integers_become_floats_in_one_rounding) {
    store s;
    start(&s, IG_DT_bf16, 1);
    /* Just above the middle of two bf16: over double this would be a tie, to even. */
    ig_tensor_set_i64(&s.tensor, 0, ((int64_t)0x101 << 54) + 1);
    CHECK(ig_tensor_get_f64(&s.tensor, 0) == ldexp(0x102, 54));
    ig_tensor_set_i64(&s.tensor, 0, INT64_MIN);
    CHECK(ig_tensor_get_f64(&s.tensor, 0) == -0x1p63);
    ig_arena_fini(&s.arena);
}

TEST(unaligned_memory_may_be_read) {
    char bytes[17];
    double value = 2.5, got;
    memcpy(bytes + 1, &value, sizeof value);
    ig_span_read_f64((ig_span){ IG_DT_f64, bytes + 1, 0, 1 }, 1, &got);
    CHECK(got == 2.5);
}

/* ---- limits ---- */

TEST(sizes_are_checked_before_memory_is_asked_for) {
    ig_arena arena;
    ig_tensor tensor;
    ig_arena_init(&arena, NULL);
    int64_t huge[] = { INT64_MAX, INT64_MAX }, zero[] = { INT64_MAX, 0, 2 },
            big[] = { 1 << 30, 64 };
    CHECK_STATUS(ig_tensor_alloc(&arena, NULL, IG_DT_i8, 2, huge, &tensor), IG_LIMIT);
    CHECK_STATUS(ig_tensor_alloc(&arena, NULL, IG_DT_i8, 3, zero, &tensor), IG_LIMIT);
    CHECK_STATUS(ig_tensor_alloc(&arena, NULL, IG_DT_f32, 2, big, &tensor), IG_LIMIT);
    CHECK_OK(ig_tensor_alloc(&arena, NULL, IG_DT_str, 0, NULL, &tensor));
    CHECK_INT(ig_tensor_bytes(&tensor), sizeof(char *));
    int64_t empty[] = { 5, 0, 7 };
    CHECK_OK(ig_tensor_alloc(&arena, NULL, IG_DT_f64, 3, empty, &tensor));
    CHECK_INT(tensor.count, 0);
    ig_arena_fini(&arena);
}

static int64_t row_bytes(ig_rows rows, unsigned bits, int64_t dim) {
    ig_row_layout layout;
    return ig_row_layout_of(rows, bits, dim, &layout) ? layout.stride : -1;
}

/* By torch.ops.fbgemm.HFP8QuantizedToFloat(codes, ebits, bias). */
TEST(small_floats_have_neither_infinity_nor_nan) {
    ig_rows four = { .exponent_bits = 4, .exponent_bias = 7 };
    ig_rows five = { .exponent_bits = 5, .exponent_bias = 15 };
    CHECK(ig_row_small_float(four, 0x00) == 0.0);
    CHECK(ig_row_small_float(four, 0x01) == 0.001953125);
    CHECK(ig_row_small_float(four, 0x38) == 1.0);
    CHECK(ig_row_small_float(four, 0x7f) == 480.0);
    CHECK(ig_row_small_float(four, 0xb8) == -1.0);
    CHECK(ig_row_small_float(five, 0x7f) == 114688.0);
    CHECK(ig_row_small_float(five, 0x03) == 4.57763671875e-05);
}

TEST(rows_of_tables_know_their_bytes) {
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_PLAIN }, 32, 3), 12);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_F16 }, 8, 64), 68);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_F16, .stride = 80 }, 8, 64), 80);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_F16, .stride = 67 }, 8, 64), -1);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_F32 }, 8, 64), 72);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_F16 }, 4, 5), 7);
    CHECK_INT(row_bytes((ig_rows){ .format = IG_ROW_PLAIN }, 32, INT64_MAX), -1);
    CHECK_INT(row_bytes((ig_rows){ .exponent_bits = 4, .exponent_bias = 7 }, 8, 9), 9);
    CHECK_INT(row_bytes((ig_rows){ .exponent_bits = 8 }, 8, 9), -1);
}

UNIT_SUITE(fold_tensor, every_code_decodes_as_defined_and_comes_back,
           every_gap_rounds_to_nearest_even, overflow_saturates_or_leaves_the_range,
           floats_of_four_bits, powers_of_two_without_sign, known_codes,
           packed_elements_do_not_touch_their_neighbours, low_bits_come_first,
           integers_saturate_from_floats_and_wrap_from_integers,
           large_integers_become_floats_in_one_rounding, unaligned_memory_may_be_read,
           sizes_are_checked_before_memory_is_asked_for,
           rows_of_tables_know_their_bytes, small_floats_have_neither_infinity_nor_nan)
