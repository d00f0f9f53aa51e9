/* Constants as tensors that borrow their bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/data.h"

#include "ir/tensor/span.h"

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
                         "the extents of a constant are not known");
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
