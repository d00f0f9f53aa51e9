/* Numbers and names of the schema of torch.export, and what they are in TorchScript.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/pt2/codes.h"

#include "base/str.h"
#include "frontend/torch/pickle/dtypes.h"

#include <string.h>

int64_t ig_pt2_dtype_code(int64_t code) {
    static const int8_t codes[] = {
        [1] = IG_TORCH_uint8 + 1,
        [2] = IG_TORCH_int8 + 1,
        [3] = IG_TORCH_int16 + 1,
        [4] = IG_TORCH_int32 + 1,
        [5] = IG_TORCH_int64 + 1,
        [6] = IG_TORCH_float16 + 1,
        [7] = IG_TORCH_float32 + 1,
        [8] = IG_TORCH_float64 + 1,
        [9] = IG_TORCH_complex32 + 1,
        [10] = IG_TORCH_complex64 + 1,
        [11] = IG_TORCH_complex128 + 1,
        [12] = IG_TORCH_bool + 1,
        [13] = IG_TORCH_bfloat16 + 1,
        [28] = IG_TORCH_uint16 + 1,
        [29] = IG_TORCH_float8_e4m3fn + 1,
        [30] = IG_TORCH_float8_e5m2 + 1,
        [31] = IG_TORCH_float8_e4m3fnuz + 1,
        [32] = IG_TORCH_float8_e5m2fnuz + 1,
        [33] = IG_TORCH_float8_e8m0fnu + 1,
        [34] = IG_TORCH_uint32 + 1,
        [35] = IG_TORCH_uint64 + 1,
    };
    return code > 0 && code < (int64_t)IG_COUNT_OF(codes) ? codes[code] - 1 : -1;
}

/* Strided ones only. */
int64_t ig_pt2_layout_code(int64_t code) {
    return code == 7 ? 0 : -1;
}

const char *ig_pt2_layout_name(int64_t code) {
    static const char *const names[] = { NULL,         "sparse_coo", "sparse_csr",
                                         "sparse_csc", "sparse_bsr", "sparse_bsc" };
    return code > 0 && code < (int64_t)IG_COUNT_OF(names) ? names[code] : NULL;
}

int64_t ig_pt2_memory_format_code(int64_t code) {
    static const int8_t codes[] = { -1, 0, 2, 3, 1 };
    return code > 0 && code < (int64_t)IG_COUNT_OF(codes) ? codes[code] : -1;
}

static const struct form_row {
    const char *target, *form;
} form_rows[] = {
    { "_operator.add", "torch.add($0, $1)" },
    { "_operator.sub", "torch.sub($0, $1)" },
    { "_operator.mul", "torch.mul($0, $1)" },
    { "_operator.floordiv", "torch.floordiv($0, $1)" },
    { "_operator.truediv", "torch.div($0, $1)" },
    { "_operator.mod", "torch.remainder($0, $1)" },
    { "_operator.pow", "ops.aten.pow.int_to_int($0, $1)" },
    { "_operator.neg", "torch.neg($0)" },
    { "_operator.pos", "$0" },
    { "_operator.eq", "torch.eq($0, $1)" },
    { "_operator.ne", "torch.ne($0, $1)" },
    { "_operator.lt", "torch.lt($0, $1)" },
    { "_operator.le", "torch.le($0, $1)" },
    { "_operator.gt", "torch.gt($0, $1)" },
    { "_operator.ge", "torch.ge($0, $1)" },
    { "_operator.and_", "torch.__and__($0, $1)" },
    { "_operator.or_", "torch.__or__($0, $1)" },
    { "_operator.not_", "torch.__not__($0)" },
    { "_operator.lshift", "torch.__lshift__($0, $1)" },
    { "_operator.rshift", "torch.__rshift__($0, $1)" },
    { "math.trunc", "int($0)" },
    { "math.ceil", "torch.ceil($0)" },
    { "math.floor", "torch.floor($0)" },
    { "torch.sym_int", "int($0)" },
    { "torch.sym_float", "float($0)" },
    { "torch.sym_not", "torch.__not__($0)" },
    { "torch.sym_max", "ops.prim.max($0, $1)" },
    { "torch.sym_min", "ops.prim.min($0, $1)" },
    { "torch.sym_ite", "$1 if $0 else $2" },
    { "torch._sym_sqrt", "torch.sqrt($0)" },
    { "torch.ops.aten.sym_size.int", "torch.size($0, $1)" },
    { "torch.ops.aten.sym_size.default", "torch.size($0)" },
    { "torch.ops.aten.sym_numel.default", "torch.numel($0)" },
    { "torch.ops.aten.sym_stride.int", "torch.stride($0, $1)" },
    { "torch.ops.aten.sym_stride.default", "torch.stride($0)" },
    { "torch.ops.aten.sym_storage_offset.default", "torch.storage_offset($0)" },
    /* What has been found or asked for when the graph was made. */
    { "torch.ops.aten.sym_constrain_range.default", "" },
    { "torch.ops.aten.sym_constrain_range_for_size.default", "" },
    { "torch.ops.aten._assert_tensor_metadata.default", "" },
    { "torch.ops.aten._functional_assert_tensor_metadata.default", "" },
    { "torch.ops.aten._assert_scalar.default", "" },
    { "torch.ops.aten._assert_async.msg", "" },
    { "torch.ops.aten._assert_async.default", "" },
    { "torch._check", "" },
};

const char *ig_pt2_form_of(const char *target) {
    for (size_t i = 0; i < IG_COUNT_OF(form_rows); i++) {
        if (strcmp(form_rows[i].target, target) == 0) {
            return form_rows[i].form;
        }
    }
    return NULL;
}
