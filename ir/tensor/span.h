/* Spans of elements, read and written in the two wide types: where every dtype of a
 * concrete tensor is known, and the only place.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Floats are read as double (exact for all), integers as int64_t; u64 keeps its bits
 * and is told apart by its class.  Writing converts by the rules of a cast
 * (ir/semantics/scalar.def). Memory need not be aligned: it may be a part of a mapped
 * file.
 */
#ifndef IG_IR_TENSOR_SPAN_H
#define IG_IR_TENSOR_SPAN_H

#include "ir/tensor/tensor.h"

#include <assert.h>

/* One element's bits: little-endian, packed with low bits first below a byte. */
uint64_t ig_bits_load(const void *data, unsigned width, int64_t index);
void ig_bits_store(void *data, unsigned width, int64_t index, uint64_t bits);

/* What bits mean, and the bits of a value; `saturate` matters for float8 only. */
double ig_bits_to_f64(ig_dtype dtype, uint64_t bits);
uint64_t ig_bits_of_f64(ig_dtype dtype, double value, bool saturate);

/* `stride` is in elements; 0 repeats one element. */
typedef struct ig_span {
    ig_dtype dtype;
    const void *data;
    int64_t index, stride;
} ig_span;

static inline ig_span ig_span_of(const ig_tensor *tensor, int64_t index,
                                 int64_t stride) {
    assert(index >= 0 && "no such element");
    return (ig_span){ tensor->dtype, tensor->data, index, stride };
}

void ig_span_read_f64(ig_span from, int64_t count, double *out);
void ig_span_read_i64(ig_span from, int64_t count, int64_t *out);

/* Consecutive elements; `saturate` matters for float8 only. */
void ig_span_write_f64(ig_tensor *to, int64_t index, int64_t count,
                       const double *values, bool saturate);
/* Of signed values. */
void ig_span_write_i64(ig_tensor *to, int64_t index, int64_t count,
                       const int64_t *values);
/* The same bits seen as unsigned values. */
void ig_span_write_u64(ig_tensor *to, int64_t index, int64_t count,
                       const int64_t *values);
/* Copies elements of equal dtype without conversion. */
void ig_span_copy(ig_tensor *to, int64_t to_index, const ig_tensor *from,
                  int64_t from_index, int64_t count);
/* The same for elements that are `stride` apart. */
void ig_span_gather(ig_tensor *to, int64_t to_index, const ig_tensor *from,
                    int64_t from_index, int64_t stride, int64_t count);

/* float → integer: truncates, saturates, NaN is 0. */
int64_t ig_f64_to_i64(double value, unsigned bits);
uint64_t ig_f64_to_u64(double value, unsigned bits);

#endif
