/* What the inputs of a test hold: plain numbers, or those that break things.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_CPU_LOWER_FILL_H
#define IG_TESTS_UNIT_CPU_LOWER_FILL_H

#include "base/status.h"
#include "ir/tensor/tensor.h"

#include <math.h>

static inline uint64_t lower_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* What inputs hold: floats in [-1, 1) and integers below the bound, or what breaks
 * things. */
typedef enum lower_values { LOWER_PLAIN, LOWER_SPECIAL } lower_values;

static const double lower_specials[] = {
    (double)NAN,
    (double)INFINITY,
    -(double)INFINITY,
    0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    3,
    -3,
    127,
    128,
    -129,
    255.5,
    65504,
    -65520,
    1e10,
    -1e10,
    3e38,
    -3e38,
    1e-38,
    -1e-38,
    0x1p-149,
    -0x1p-149,
    0x1p-24,
    0x1p-133,
    0x1p-14,
};

/* The ends of an integer dtype, what lies beside them, and small ones of both signs. */
static inline int64_t lower_special_integer(ig_dtype dtype, uint64_t index) {
    bool is_signed = ig_dtypes[dtype].class == IG_SINT;
    int64_t max = (int64_t)(UINT64_MAX >> (64 - ig_dtypes[dtype].bits + is_signed));
    int64_t min = is_signed ? -max - 1 : 0;
    const int64_t values[] = { 0,
                               1,
                               2,
                               3,
                               7,
                               8,
                               63,
                               64,
                               max,
                               max - 1,
                               max / 2,
                               min,
                               min + 1,
                               is_signed ? -1 : max / 2 + 1,
                               is_signed ? -2 : 31,
                               is_signed ? -7 : 32 };
    return values[index % IG_COUNT_OF(values)];
}

/* All special values come in turn; a second input meets them in another order. */
static inline void lower_fill_special(ig_tensor *tensor, uint64_t *state) {
    uint64_t first = lower_random(state);
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t index = first + (uint64_t)i * (first % 2 ? 1 : 7);
        if (ig_dtype_is_float(tensor->dtype)) {
            double value = lower_specials[index % IG_COUNT_OF(lower_specials)];
            ig_tensor_set_f64(tensor, i, value);
        } else if (tensor->dtype == IG_DT_bool) {
            ig_tensor_set_i64(tensor, i, index % 2);
        } else {
            ig_tensor_set_i64(tensor, i, lower_special_integer(tensor->dtype, index));
        }
    }
}

/* Floats in [-1, 1), integers below `bound`. */
static inline void lower_fill(ig_tensor *tensor, int64_t bound, uint64_t *state) {
    for (int64_t i = 0; i < tensor->count; i++) {
        if (ig_dtype_is_float(tensor->dtype)) {
            double unit = (double)(lower_random(state) % 65536) / 32768.0 - 1.0;
            ig_tensor_set_f64(tensor, i, unit);
        } else {
            ig_tensor_set_i64(tensor, i,
                              (int64_t)(lower_random(state) % (uint64_t)bound));
        }
    }
}

#endif
