/* Names and sizes of element types.  SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "ingot/runtime.h"
#include "runtime/plan/plan.h"

typedef struct dtype_row {
    char name[11]; /* here, not elsewhere: no address to relocate */
    uint8_t bits;
} dtype_row;

static const dtype_row rows[] = {
    [IG_F32] = { "f32", 32 },
    [IG_U8] = { "u8", 8 },
    [IG_I8] = { "i8", 8 },
    [IG_U16] = { "u16", 16 },
    [IG_I16] = { "i16", 16 },
    [IG_I32] = { "i32", 32 },
    [IG_I64] = { "i64", 64 },
    [IG_STR8] = { "str", 64 },
    [IG_BOOL8] = { "bool", 8 },
    [IG_F16] = { "f16", 16 },
    [IG_F64] = { "f64", 64 },
    [IG_U32] = { "u32", 32 },
    [IG_U64] = { "u64", 64 },
    [IG_BF16] = { "bf16", 16 },
    [IG_F8E4M3FN] = { "f8e4m3fn", 8 },
    [IG_F8E4M3FNUZ] = { "f8e4m3fnuz", 8 },
    [IG_F8E5M2] = { "f8e5m2", 8 },
    [IG_F8E5M2FNUZ] = { "f8e5m2fnuz", 8 },
    [IG_F4E2M1] = { "f4e2m1", 4 },
    [IG_F8E8M0] = { "f8e8m0", 8 },
    [IG_U4] = { "u4", 4 },
    [IG_I4] = { "i4", 4 },
    [IG_U2] = { "u2", 2 },
    [IG_I2] = { "i2", 2 },
};

uint32_t ig_dtype_code_bits(uint32_t dtype) {
    return dtype < IG_COUNT_OF(rows) ? rows[dtype].bits : 0;
}

bool ig_dtype_code_bytes(uint32_t dtype, uint32_t rank, const int64_t *dims,
                         int64_t *out_bytes) {
    int64_t count = 1;
    bool is_empty = false;
    uint32_t bits = ig_dtype_code_bits(dtype);
    for (uint32_t i = 0; i < rank; i++) {
        is_empty |= dims[i] == 0;
        if (dims[i] < 0 || (dims[i] > 0 && !ig_mul_i64(count, dims[i], &count))) {
            return false;
        }
    }
    *out_bytes = 0;
    if (is_empty || bits == 0) {
        return bits != 0;
    }
    if (bits < 8) {
        *out_bytes = ig_ceil_div(count, 8 / bits);
        return true;
    }
    return ig_mul_i64(count, bits / 8, out_bytes);
}

int64_t ig_view_bytes(const ig_view *view) {
    int64_t bytes;
    bool is_good = view->rank <= IG_MAX_RANK &&
                   ig_dtype_code_bytes((uint32_t)view->dtype, view->rank, view->dims,
                                       &bytes);
    return is_good ? bytes : -1;
}

const char *ig_dtype_code_name(uint32_t dtype) {
    const char *name = dtype < IG_COUNT_OF(rows) ? rows[dtype].name : "";
    return name[0] ? name : "?";
}
