/* Rows of embedding tables: the offsets of codes, scale and bias in a row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row is the codes of its elements, packed, with scale and bias before or after them,
 * and perhaps a gap up to the next row.  A code is a number of the table's
 * dtype - unsigned where there is a scale - or a small float given by the width of its
 * exponent:
 *
 *     sign | exponent | the rest of 8 bits: mantissa      no infinity, no NaN
 */
#ifndef IG_IR_TENSOR_ROW_H
#define IG_IR_TENSOR_ROW_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ig_row_format {
#define ROW(name, text, side, dtype) IG_ROW_##name,
#include "ir/tensor/row.def"
#undef ROW
    IG_ROW_COUNT
} ig_row_format;

typedef enum ig_row_side { IG_ROW_NOWHERE, IG_ROW_FRONT, IG_ROW_AFTER } ig_row_side;

typedef struct ig_row_info {
    const char *text;
    ig_row_side side;
    uint8_t dtype; /* ig_dtype of scale and bias */
} ig_row_info;

extern const ig_row_info ig_rows_formats[IG_ROW_COUNT];

/* How the rows of a table are stored; part of its type. */
typedef struct ig_rows {
    uint8_t format;        /* ig_row_format */
    uint8_t exponent_bits; /* of small floats; 0: codes are of the table's dtype */
    uint8_t exponent_bias;
    uint32_t stride; /* bytes from row to row; 0: no gap */
} ig_rows;

typedef struct ig_row_layout {
    int64_t codes;   /* byte at which the codes start */
    int64_t factors; /* byte of the scale; the bias follows */
    int64_t bytes;   /* of a row without gap */
    int64_t stride;  /* to the next row */
} ig_row_layout;

bool ig_rows_equal(ig_rows a, ig_rows b);
bool ig_rows_is_plain(ig_rows rows); /* the elements one after the other, no gap */
/* The layout of rows of `dim` codes of `bits` bits.  False: too large, or the stride is
 * shorter than a row, or the small float does not exist. */
bool ig_row_layout_of(ig_rows rows, unsigned bits, int64_t dim, ig_row_layout *out);
/* The value of a small float's code. */
double ig_row_small_float(ig_rows rows, uint8_t code);

#endif
