/* Constants as tensors that borrow their bytes, and shapes as tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"
#include "ir/interpret/interpret.h"

#include <string.h>

static ig_status fail_read(ig_context *context, ig_status status, const char *what) {
    return context ? ig_error(&context->diag, status, NULL, "%s", what) : status;
}

/* Extents of a constant are numbers. */
static ig_status read_type(const ig_type *type, ig_context *context, ig_tensor *out) {
    memset(out, 0, sizeof *out);
    if (type->kind != IG_TENSOR && type->kind != IG_TABLE && type->kind != IG_VECTOR) {
        return fail_read(context, IG_UNSUPPORTED,
                         "a constant is neither a tensor nor a table");
    }
    if (type->rank > IG_TENSOR_RANK || !ig_type_is_static(type)) {
        return fail_read(context, IG_INVALID,
                         "a constant's extents are not known numbers");
    }
    out->kind = type->kind == IG_TABLE ? IG_TABLE : IG_TENSOR;
    out->dtype = (ig_dtype)type->dtype;
    out->rows = type->rows;
    out->rank = type->rank;
    out->count = 1;
    if (type->kind == IG_VECTOR && type->lanes > 1) { /* lanes are one axis */
        out->rank = 1;
        out->count = out->dims[0] = type->lanes;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        out->dims[i] = ig_dim_value(type->dims[i]);
        if (__builtin_mul_overflow(out->count, out->dims[i], &out->count)) {
            return fail_read(context, IG_LIMIT, "a constant has too many elements");
        }
    }
    return IG_OK;
}

/* Every element is that at bytes[0..]; of a table, every row. */
static ig_status write_splat(const ig_data *data, ig_arena *arena, ig_context *context,
                             ig_tensor *out) {
    ig_tensor one = *out, all;
    one.data = (void *)(uintptr_t)data->bytes; /* only read */
    if (out->kind == IG_TABLE) {
        return fail_read(context, IG_UNSUPPORTED,
                         "a table whose rows are all the same");
    }
    IG_TRY(ig_tensor_alloc(arena, context, out->dtype, out->rank, out->dims, &all));
    for (int64_t i = 0; i < all.count; i++) {
        ig_span_copy(&all, i, &one, 0, 1);
    }
    *out = all;
    return IG_OK;
}

ig_status ig_tensor_of_data(const ig_data *data, ig_arena *arena, ig_context *context,
                            ig_tensor *out_tensor) {
    IG_TRY(read_type(data->type, context, out_tensor));
    if (out_tensor->dtype == IG_DT_str) {
        return fail_read(context, IG_UNSUPPORTED,
                         "tensors of strings are not supported");
    }
    if (out_tensor->count == 0) {
        out_tensor->data = ig_arena_try_alloc(arena, 1);
        return out_tensor->data ? IG_OK : fail_read(context, IG_LIMIT, "no memory");
    }
    if (!data->bytes) {
        return fail_read(context, IG_UNSUPPORTED,
                         "the content of a constant is not in memory");
    }
    if (data->is_splat) {
        return write_splat(data, arena, context, out_tensor);
    }
    if (data->size < ig_tensor_bytes(out_tensor)) {
        return fail_read(context, IG_INVALID,
                         "a constant has fewer bytes than its type needs");
    }
    out_tensor->data = (void *)(uintptr_t)data->bytes; /* borrowed, never written */
    return IG_OK;
}

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
