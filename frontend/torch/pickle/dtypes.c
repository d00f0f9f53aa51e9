/* The table of torch's element types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/pickle/dtypes.h"

#include "base/checked.h"

#include <assert.h>
#include <string.h>

enum { FLAG_COMPLEX = 1, FLAG_QUANTISED = 2 };

static const ig_torch_dtype_info dtypes[] = {
#define COMPLEX FLAG_COMPLEX
#define QUANTISED FLAG_QUANTISED
#define TORCH_DTYPE(number, word, short_word, class, size, dtype, flags) \
    { .code = IG_TORCH_##word,                                           \
      .name = #word,                                                     \
      .alias = #short_word,                                              \
      .storage = class,                                                  \
      .bits = size,                                                      \
      .ir = IG_DT_##dtype,                                               \
      .is_complex = ((flags)&FLAG_COMPLEX) != 0,                         \
      .is_quantised = ((flags)&FLAG_QUANTISED) != 0 },
#include "frontend/torch/pickle/dtypes.def"
#undef TORCH_DTYPE
#undef QUANTISED
#undef COMPLEX
};

const ig_torch_dtype_info *ig_torch_dtype_of_code(int64_t code) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        if ((int64_t)dtypes[i].code == code) {
            return &dtypes[i];
        }
    }
    return NULL;
}

const ig_torch_dtype_info *ig_torch_dtype_of_name(ig_str name) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        if (ig_str_is(name, dtypes[i].name) || ig_str_is(name, dtypes[i].alias)) {
            return &dtypes[i];
        }
    }
    return NULL;
}

const ig_torch_dtype_info *ig_torch_dtype_of_storage(ig_str class_name) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        if (ig_str_is(class_name, dtypes[i].storage)) {
            return &dtypes[i];
        }
    }
    return NULL;
}

const ig_torch_dtype_info *ig_torch_dtype_of_ir(ig_dtype dtype) {
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        bool is_plain = !dtypes[i].is_complex && !dtypes[i].is_quantised &&
                        dtypes[i].code <= IG_TORCH_bfloat16;
        if (is_plain && dtypes[i].ir == dtype) {
            return &dtypes[i];
        }
    }
    return NULL;
}

bool ig_torch_dtype_bytes(const ig_torch_dtype_info *dtype, int64_t count,
                          int64_t *out_bytes) {
    assert(dtype->bits > 0 && "every row of dtypes.def has a width");
    int64_t bits;
    if (count < 0 || !ig_mul_i64(count, dtype->bits, &bits) ||
        !ig_add_i64(bits, 7, &bits)) {
        return false;
    }
    *out_bytes = bits / 8;
    return true;
}
