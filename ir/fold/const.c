/* Constants, and shapes, as tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/data.h"
#include "ir/hooks.h"

#include <string.h>

ig_status ig_fold_const(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                        ig_tensor *out) {
    (void)in;
    const ig_data *data = op->attrs[IG_const_value].as.data;
    return ig_tensor_of_data(data, eval->arena, eval->context, out);
}

ig_status ig_fold_weight(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    (void)in;
    const char *name = ig_attr_str(op, IG_weight_name);
    const ig_weight *weight = ig_module_weight(ig_op_module(op), name);
    if (!weight || weight->is_recipe) {
        return FOLD_FAIL(eval, op, IG_UNSUPPORTED, "weight '%s' has no content here%s",
                         name, weight ? ": it is computed by graph @weights" : "");
    }
    return ig_tensor_of_data(&weight->data, eval->arena, eval->context, out);
}

ig_status ig_fold_dims(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    (void)in;
    const ig_attr *values = &op->attrs[IG_dims_values];
    int64_t count = values->count;
    uint32_t rank = ig_attr_int(op, IG_dims_scalar, 0) ? 0 : 1;
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, rank, &count, out));
    for (uint32_t i = 0; i < values->count; i++) {
        int64_t value;
        IG_TRY(ig_eval_dim(eval, op, values->as.dims[i], &value));
        ig_tensor_set_i64(out, i, value);
    }
    return IG_OK;
}
