/* Element types: names, classes, sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/tensor/dtype.h"

#include "base/checked.h"

#include <assert.h>

const ig_dtype_info ig_dtypes[IG_DT_COUNT] = {
#define DTYPE(name, bits, class, onnx, what) \
    [IG_DT_##name] = { #name, bits, IG_##class, onnx, what },
#include "ir/tensor/dtype.def"
#undef DTYPE
};

bool ig_dtype_parse(ig_str name, ig_dtype *out_dtype) {
    for (int i = 0; i < IG_DT_COUNT; i++) {
        if (ig_str_is(name, ig_dtypes[i].name)) {
            *out_dtype = (ig_dtype)i;
            return true;
        }
    }
    return false;
}

bool ig_dtype_from_onnx(int64_t code, ig_dtype *out_dtype) {
    for (int i = 0; i < IG_DT_COUNT; i++) {
        if (ig_dtypes[i].onnx == code) {
            *out_dtype = (ig_dtype)i;
            return true;
        }
    }
    return false;
}

bool ig_dtype_is_float(ig_dtype dtype) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    return ig_dtypes[dtype].class == IG_FLOAT;
}

bool ig_dtype_is_int(ig_dtype dtype) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    return ig_dtypes[dtype].class == IG_SINT || ig_dtypes[dtype].class == IG_UINT;
}

bool ig_dtype_bytes(ig_dtype dtype, int64_t count, int64_t *out_bytes) {
    assert((int)dtype < IG_DT_COUNT && "no such element type");
    int64_t bits = ig_dtypes[dtype].bits;
    if (bits == 0 || count < 0) {
        return false;
    }
    if (bits >= 8) {
        return ig_mul_i64(count, bits / 8, out_bytes);
    }
    int64_t per_byte = 8 / bits;
    *out_bytes = count / per_byte + (count % per_byte > 0);
    return true;
}
