/* Numbers and names of the schema of torch.export, and their equivalents in
 * TorchScript.
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

static const ig_pt2_form forms[] = {
    { "_operator.add", "aten::add", 2, 0 },
    { "_operator.sub", "aten::sub", 2, 0 },
    { "_operator.mul", "aten::mul", 2, 0 },
    { "_operator.floordiv", "aten::floordiv", 2, 0 },
    { "_operator.truediv", "aten::div", 2, 0 },
    { "_operator.mod", "aten::remainder", 2, 0 },
    { "_operator.pow", "aten::pow.int_to_int", 2, 0 },
    { "_operator.neg", "aten::neg", 1, 0 },
    { "_operator.pos", NULL, 1, IG_PT2_AS_IT_IS },
    { "_operator.eq", "aten::eq", 2, 0 },
    { "_operator.ne", "aten::ne", 2, 0 },
    { "_operator.lt", "aten::lt", 2, 0 },
    { "_operator.le", "aten::le", 2, 0 },
    { "_operator.gt", "aten::gt", 2, 0 },
    { "_operator.ge", "aten::ge", 2, 0 },
    { "_operator.and_", "aten::__and__", 2, 0 },
    { "_operator.or_", "aten::__or__", 2, 0 },
    { "_operator.not_", "aten::__not__", 1, 0 },
    { "_operator.lshift", "aten::__lshift__", 2, 0 },
    { "_operator.rshift", "aten::__rshift__", 2, 0 },
    { "math.trunc", NULL, 1, IG_PT2_TO_INT },
    { "math.ceil", "aten::ceil", 1, 0 },
    { "math.floor", "aten::floor", 1, 0 },
    { "torch.sym_int", NULL, 1, IG_PT2_TO_INT },
    { "torch.sym_float", NULL, 1, IG_PT2_TO_FLOAT },
    { "torch.sym_not", "aten::__not__", 1, 0 },
    { "torch.sym_max", "prim::max", 2, 0 },
    { "torch.sym_min", "prim::min", 2, 0 },
    { "torch._sym_sqrt", "aten::sqrt", 1, 0 },
    { "torch.ops.aten.sym_size.int", "aten::size", 2, 0 },
    { "torch.ops.aten.sym_size.default", "aten::size", 1, 0 },
    { "torch.ops.aten.sym_numel.default", "aten::numel", 1, 0 },
    { "torch.ops.aten.sym_stride.int", "aten::stride", 2, 0 },
    { "torch.ops.aten.sym_stride.default", "aten::stride", 1, 0 },
    { "torch.ops.aten.sym_storage_offset.default", "aten::storage_offset", 1, 0 },
    /* Facts found or asked for when the graph was made. */
    { "torch.ops.aten.sym_constrain_range.default", NULL, 0, 0 },
    { "torch.ops.aten.sym_constrain_range_for_size.default", NULL, 0, 0 },
    { "torch.ops.aten._assert_tensor_metadata.default", NULL, 0, 0 },
    { "torch.ops.aten._functional_assert_tensor_metadata.default", NULL, 0, 0 },
    { "torch._check", NULL, 0, 0 },
    { "torch._functorch.predispatch.lazy_load_decompositions", NULL, 0, 0 },
};

const ig_pt2_form *ig_pt2_form_of(const char *target) {
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        if (strcmp(forms[i].target, target) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}
