/* Element types, and the kinds of values that are made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_TENSOR_DTYPE_H
#define IG_IR_TENSOR_DTYPE_H

#include "base/context.h"
#include "base/str.h"

typedef enum ig_dtype {
#define DTYPE(name, bits, class, onnx, what) IG_DT_##name,
#include "ir/tensor/dtype.def"
#undef DTYPE
    IG_DT_COUNT
} ig_dtype;

typedef enum ig_dtype_class {
    IG_BOOL,
    IG_SINT,
    IG_UINT,
    IG_FLOAT,
    IG_STRING
} ig_dtype_class;

typedef struct ig_dtype_info {
    const char *name;
    uint8_t bits;
    ig_dtype_class class;
    uint8_t onnx;
    const char *what;
} ig_dtype_info;

extern const ig_dtype_info ig_dtypes[IG_DT_COUNT];

bool ig_dtype_parse(ig_str name, ig_dtype *out_dtype);
bool ig_dtype_from_onnx(int64_t code, ig_dtype *out_dtype);
bool ig_dtype_is_float(ig_dtype dtype);
bool ig_dtype_is_int(ig_dtype dtype); /* signed or unsigned, not bool */
/* Bytes of `count` elements, packed when the dtype is narrower than a byte; false on
 * overflow or for strings. */
bool ig_dtype_bytes(ig_dtype dtype, int64_t count, int64_t *out_bytes);

typedef enum ig_kind {
    IG_TENSOR,
    IG_TABLE,
    IG_BUFFER,
    IG_VECTOR, /* scalar when lanes is 1 */
    IG_SEQUENCE,
    IG_OPTIONAL,
    IG_ANY, /* a tensor of any rank: an item type of sequences, of no value */
} ig_kind;

#endif
