/* One element of a constant as text, exact in both directions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Integers are decimal, booleans are words, floats are the shortest decimal that reads
 * back as the same bits; `inf`, `-inf` and `nan` (the quiet NaN without payload) are
 * words.  Anything else - a NaN with a payload, a boolean that is neither 0 nor 1 - is
 * written as the element's bits, 0x7fc00001.  Strings are not elements of this kind.
 */
#ifndef IG_IR_TENSOR_ELEMENT_H
#define IG_IR_TENSOR_ELEMENT_H

#include "base/writer.h"
#include "ir/tensor/dtype.h"

/* Element number `index` of `bytes`, sub-byte dtypes packed with low bits first. */
void ig_element_print(ig_dtype dtype, const void *bytes, int64_t index,
                      ig_writer *writer);
/* Reads the whole of `text` (an optional sign first) into element `index`; NULL, or its
 * error. */
const char *ig_element_parse(ig_dtype dtype, ig_str text, void *bytes, int64_t index);

#endif
