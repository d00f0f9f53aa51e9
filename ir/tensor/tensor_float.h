/* Narrow floating-point formats: decoding, and encoding with one rounding.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TENSOR_TENSOR_FLOAT_H
#define IG_IR_TENSOR_TENSOR_FLOAT_H

#include "ir/tensor/tensor.h"

/* (-1)^is_negative * magnitude * 2^exponent, or one of the special values. */
typedef struct ig_float_parts {
    uint64_t magnitude;
    int exponent;
    bool is_negative, is_infinite, is_nan;
} ig_float_parts;

float ig_float_widen(ig_dtype dtype, uint32_t code);
uint32_t ig_float_narrow(ig_dtype dtype, ig_float_parts parts, bool saturate);
ig_float_parts ig_float_parts_of(double value);
ig_float_parts ig_float_parts_of_int(uint64_t magnitude, bool is_negative);

#endif
