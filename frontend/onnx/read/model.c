/* From bytes to messages, and from TensorProtos to constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/read/model.h"

#include "base/checked.h"

#include <string.h>

ig_status ig_onnx_model_parse(ig_onnx_model *model) {
    const ProtobufCMessageDescriptor *root = &onnx__model_proto__descriptor;
    ig_map_init(&model->external, model->arena);
    IG_TRY(ig_onnx_wire_walk(model->context, model->arena, model->file, model->bytes,
                             root, &model->wire));
    ProtobufCMessage *message = NULL;
    IG_TRY(ig_onnx_wire_unpack(model->context, model->arena, model->file, &model->wire,
                               root, &message));
    model->proto = (const Onnx__ModelProto *)message;
    return IG_OK;
}

ig_status ig_onnx_tensor_data(ig_onnx_model *model, const Onnx__TensorProto *tensor,
                              const char *what, const ig_location *where,
                              ig_data *out_data) {
    ig_onnx_about about = { model->context, where, what };
    ig_onnx_form form;
    memset(out_data, 0, sizeof(*out_data));
    IG_TRY(ig_onnx_tensor_form(&about, tensor, &form));
    IG_TRY(ig_onnx_payload_bytes(&about, model->arena, &model->wire, tensor, &form,
                                 &out_data->bytes));
    out_data->size = form.bytes;
    out_data->type = ig_type_of_extents(model->module, form.dtype,
                                        (uint32_t)tensor->n_dims, tensor->dims);
    if (ig_onnx_is_external(tensor) && form.dtype == IG_DT_str) {
        return ig_onnx_complain(&about, IG_INVALID,
                                "holds strings outside of the file");
    }
    if (ig_onnx_is_external(tensor)) {
        return ig_onnx_external_bytes(model, &about, tensor, form.bytes, out_data);
    }
    const char *at = out_data->bytes;
    bool is_in_file = at >= model->bytes.data && form.bytes > 0 &&
                      at < model->bytes.data + model->bytes.size;
    if (is_in_file && model->path) {
        out_data->file = model->path;
        out_data->offset = at - model->bytes.data;
    }
    return IG_OK;
}

/* ---- sparse tensors ---- */

/* Dense sizes that a small file may ask for. */
enum { DENSE_FREE = 16 << 20, DENSE_GROWTH = 64 };

/* Row-major position of entry `i`; false when it is outside. */
static bool position_of(const Onnx__SparseTensorProto *sparse, const int64_t *indices,
                        bool is_linear, int64_t i, int64_t count, int64_t *out_at) {
    size_t rank = sparse->n_dims;
    int64_t at = is_linear ? indices[i] : 0;
    for (size_t d = 0; !is_linear && d < rank; d++) {
        int64_t index = indices[i * (int64_t)rank + (int64_t)d];
        if (index < 0 || index >= sparse->dims[d]) {
            return false;
        }
        at = at * sparse->dims[d] + index; /* < count, which was checked */
    }
    *out_at = at;
    return at >= 0 && at < count;
}

static ig_status spread_values(const ig_onnx_about *about,
                               const Onnx__SparseTensorProto *sparse,
                               const ig_data *values, const ig_data *indices,
                               int64_t count, char *dense) {
    bool is_linear = indices->type->rank == 1;
    size_t width = ig_dtypes[values->type->dtype].bits / 8;
    for (int64_t i = 0; i < ig_dim_value(values->type->dims[0]); i++) {
        int64_t at;
        if (!position_of(sparse, indices->bytes, is_linear, i, count, &at)) {
            return ig_onnx_complain(about, IG_INVALID,
                                    "has a sparse index outside its dimensions");
        }
        memcpy(dense + (size_t)at * width,
               (const char *)values->bytes + (size_t)i * width, width);
    }
    return IG_OK;
}

static bool are_indices_right(const Onnx__SparseTensorProto *sparse,
                              const ig_data *values, const ig_data *indices) {
    const ig_type *type = indices->type;
    if (values->type->rank != 1 || type->dtype != IG_DT_i64 || type->rank < 1 ||
        type->rank > 2 || !ig_dim_same(type->dims[0], values->type->dims[0])) {
        return false;
    }
    return type->rank == 1 || ig_dim_is(type->dims[1], (int64_t)sparse->n_dims);
}

ig_status ig_onnx_sparse_data(ig_onnx_model *model,
                              const Onnx__SparseTensorProto *sparse, const char *what,
                              const ig_location *where, ig_data *out_data) {
    ig_onnx_about about = { model->context, where, what };
    if (!sparse->values || !sparse->indices) {
        return ig_onnx_complain(&about, IG_INVALID,
                                "is sparse, but lacks values or indices");
    }
    ig_data values, indices;
    IG_TRY(ig_onnx_tensor_data(model, sparse->values, what, where, &values));
    IG_TRY(ig_onnx_tensor_data(model, sparse->indices, what, where, &indices));
    Onnx__TensorProto dense_proto = *sparse->values;
    dense_proto.dims = sparse->dims;
    dense_proto.n_dims = sparse->n_dims;
    ig_onnx_form form;
    IG_TRY(ig_onnx_tensor_form(&about, &dense_proto, &form));
    if (!are_indices_right(sparse, &values, &indices)) {
        return ig_onnx_complain(
            &about, IG_INVALID,
            "has sparse values and indices that do not fit together");
    }
    if (ig_dtypes[form.dtype].bits < 8) {
        return ig_onnx_complain(
            &about, IG_UNSUPPORTED,
            "is sparse, which is not supported yet for elements narrower than a byte");
    }
    if (form.bytes > DENSE_FREE + DENSE_GROWTH * values.size) {
        return ig_onnx_complain(&about, IG_LIMIT, "is sparse and would take %lld bytes",
                                (long long)form.bytes);
    }
    char *dense = ig_arena_zalloc(model->arena, (size_t)form.bytes);
    indices.bytes = ig_arena_copy(model->arena, indices.bytes, (size_t)indices.size);
    IG_TRY(spread_values(&about, sparse, &values, &indices, form.count, dense));
    *out_data = (ig_data){ .type = ig_type_of_extents(model->module, form.dtype,
                                                      (uint32_t)sparse->n_dims,
                                                      sparse->dims),
                           .bytes = dense,
                           .size = form.bytes };
    return IG_OK;
}
