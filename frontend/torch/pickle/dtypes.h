/* torch's element types and their counterparts in our IR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_TORCH_PICKLE_DTYPES_H
#define IG_FRONTEND_TORCH_PICKLE_DTYPES_H

#include "ir/type.h"

typedef enum ig_torch_dtype {
#define TORCH_DTYPE(code, name, alias, storage, bits, ir, flags) IG_TORCH_##name = code,
#include "frontend/torch/pickle/dtypes.def"
#undef TORCH_DTYPE
} ig_torch_dtype;

typedef struct ig_torch_dtype_info {
    ig_torch_dtype code;
    const char *name, *alias; /* torch.float32, torch.float */
    const char *storage;      /* "FloatStorage" */
    uint8_t bits;
    ig_dtype ir; /* IG_DT_COUNT: none; see dtypes.def */
    bool is_complex, is_quantised;
} ig_torch_dtype_info;

/* NULL where torch has no such code, name or storage class. */
const ig_torch_dtype_info *ig_torch_dtype_of_code(int64_t code);
const ig_torch_dtype_info *ig_torch_dtype_of_name(ig_str name); /* no "torch." */
const ig_torch_dtype_info *ig_torch_dtype_of_storage(ig_str class_name);
/* The one whose tensors have a storage class, of real numbers that are not
 * quantised. */
const ig_torch_dtype_info *ig_torch_dtype_of_ir(ig_dtype dtype);
/* Bytes of `count` elements (4- and 2-bit ones are packed); false on overflow. */
bool ig_torch_dtype_bytes(const ig_torch_dtype_info *dtype, int64_t count,
                          int64_t *out_bytes);

#endif
