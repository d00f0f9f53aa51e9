/* Tensors of ONNX test data: files with one TensorProto, SequenceProto or
 * OptionalProto.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which message a file holds is not written in it; the caller knows from the model.
 */
#include "frontend/onnx/read/onnx_tensor.h"

#include "frontend/onnx/read/model.h"

#include <string.h>

/* ---- reading ---- */

typedef struct reader {
    ig_context *context;
    ig_arena *arena;
    ig_onnx_wire wire;
    ig_location where;
} reader;

static ig_status read_tensor(reader *r, const Onnx__TensorProto *proto,
                             ig_tensor *out) {
    ig_onnx_about about = { r->context, &r->where, "the tensor" };
    ig_onnx_form form;
    const void *data;
    if (!proto) {
        return ig_onnx_complain(&about, IG_INVALID, "is missing");
    }
    IG_TRY(ig_onnx_tensor_form(&about, proto, &form));
    if (ig_onnx_is_external(proto)) {
        return ig_onnx_complain(&about, IG_INVALID,
                                "is external, expected data in the file");
    }
    IG_TRY(ig_onnx_payload_bytes(&about, r->arena, &r->wire, proto, &form, &data));
    memset(out, 0, sizeof(*out));
    out->kind = IG_TENSOR;
    out->dtype = form.dtype;
    out->rank = (uint32_t)proto->n_dims;
    out->count = form.count;
    if (proto->n_dims) {
        memcpy(out->dims, proto->dims, proto->n_dims * sizeof(*out->dims));
    }
    out->data = ig_arena_copy(r->arena, data, (size_t)form.bytes);
    return IG_OK;
}

static ig_status read_sequence(reader *r, const Onnx__SequenceProto *proto,
                               ig_tensor *out) {
    ig_onnx_about about = { r->context, &r->where, "the sequence" };
    if (proto->n_sequence_values || proto->n_map_values || proto->n_optional_values ||
        proto->n_sparse_tensor_values) {
        return ig_onnx_complain(
            &about, IG_UNSUPPORTED,
            "holds items that are not tensors, which is not supported yet");
    }
    memset(out, 0, sizeof(*out));
    out->kind = IG_SEQUENCE;
    out->count = (int64_t)proto->n_tensor_values;
    out->items = IG_NEW_ARRAY(r->arena, ig_tensor, proto->n_tensor_values);
    for (size_t i = 0; i < proto->n_tensor_values; i++) {
        IG_TRY(read_tensor(r, proto->tensor_values[i], &out->items[i]));
        out->dtype = out->items[0].dtype;
    }
    return IG_OK;
}

static ig_status read_optional(reader *r, const Onnx__OptionalProto *proto,
                               ig_tensor *out) {
    ig_onnx_about about = { r->context, &r->where, "the optional value" };
    memset(out, 0, sizeof(*out));
    out->kind = IG_OPTIONAL;
    if (proto->map_value || proto->optional_value || proto->sparse_tensor_value) {
        return ig_onnx_complain(&about, IG_UNSUPPORTED,
                                "is neither a tensor nor a sequence");
    }
    out->items = IG_NEW_ARRAY(r->arena, ig_tensor, 1);
    out->count = proto->tensor_value || proto->sequence_value;
    if (proto->tensor_value) {
        return read_tensor(r, proto->tensor_value, out->items);
    }
    return proto->sequence_value ? read_sequence(r, proto->sequence_value, out->items)
                                 : IG_OK;
}

ig_status ig_onnx_tensor_read(ig_context *context, ig_arena *arena, const char *file,
                              ig_str bytes, ig_kind kind, ig_tensor *out_tensor) {
    const ProtobufCMessageDescriptor *root = kind == IG_SEQUENCE
                                                 ? &onnx__sequence_proto__descriptor
                                             : kind == IG_OPTIONAL
                                                 ? &onnx__optional_proto__descriptor
                                                 : &onnx__tensor_proto__descriptor;
    reader r = { .context = context, .arena = arena, .where = { .file = file } };
    ProtobufCMessage *message = NULL;
    IG_TRY(ig_onnx_wire_walk(context, arena, file, bytes, root, &r.wire));
    IG_TRY(ig_onnx_wire_unpack(context, arena, file, &r.wire, root, &message));
    if (kind == IG_SEQUENCE) {
        return read_sequence(&r, (const Onnx__SequenceProto *)message, out_tensor);
    }
    if (kind == IG_OPTIONAL) {
        return read_optional(&r, (const Onnx__OptionalProto *)message, out_tensor);
    }
    return read_tensor(&r, (const Onnx__TensorProto *)message, out_tensor);
}

/* ---- writing ---- */

enum { VARINT = 0, BYTES = 2 };

static void put_varint(ig_writer *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        ig_put_char(out, (char)(value | 0x80));
    }
    ig_put_char(out, (char)value);
}

static void put_number(ig_writer *out, unsigned field, uint64_t value) {
    put_varint(out, (uint64_t)field << 3 | VARINT);
    put_varint(out, value);
}

static void put_content(ig_writer *out, unsigned field, const void *bytes,
                        size_t size) {
    put_varint(out, (uint64_t)field << 3 | BYTES);
    put_varint(out, size);
    ig_put_bytes(out, bytes, size);
}

static void put_tensor(ig_writer *out, const ig_tensor *tensor, const char *name) {
    for (uint32_t i = 0; i < tensor->rank; i++) {
        put_number(out, 1, (uint64_t)tensor->dims[i]);
    }
    put_number(out, 2, ig_dtypes[tensor->dtype].onnx);
    if (name) {
        put_content(out, 8, name, strlen(name));
    }
    if (tensor->dtype != IG_DT_str) {
        put_content(out, 9, tensor->data, (size_t)ig_tensor_bytes(tensor));
        return;
    }
    const char *const *texts = tensor->data;
    for (int64_t i = 0; i < tensor->count; i++) {
        const char *text = texts[i] ? texts[i] : "";
        put_content(out, 6, text, strlen(text));
    }
}

/* A sequence or an optional value: the kind of its items, and the items.  The fields
 * and the kinds of both messages are numbered alike.  Two deep at most. */
static void put_items(ig_writer *out, const ig_tensor *tensor, const char *name) {
    bool holds_sequence = tensor->count && tensor->items->kind == IG_SEQUENCE;
    if (name) {
        put_content(out, 1, name, strlen(name));
    }
    put_number(out, 2,
               holds_sequence ? ONNX__OPTIONAL_PROTO__DATA_TYPE__SEQUENCE
                              : ONNX__SEQUENCE_PROTO__DATA_TYPE__TENSOR);
    for (int64_t i = 0; i < tensor->count; i++) {
        ig_writer item;
        ig_writer_init(&item, out->arena);
        if (holds_sequence) {
            put_items(&item, &tensor->items[i], NULL);
        } else {
            put_tensor(&item, &tensor->items[i], NULL);
        }
        put_content(out, holds_sequence ? 5 : 3, item.data, item.size);
    }
}

/* Tensors, sequences of tensors, and optionals of either. */
static bool can_be_written(const ig_tensor *tensor) {
    for (int64_t i = 0; tensor->kind != IG_TENSOR && i < tensor->count; i++) {
        const ig_tensor *item = &tensor->items[i];
        bool is_list = tensor->kind == IG_OPTIONAL && item->kind == IG_SEQUENCE;
        if (item->kind != IG_TENSOR && !(is_list && can_be_written(item))) {
            return false;
        }
    }
    return true;
}

ig_status ig_onnx_tensor_write(ig_context *context, const ig_tensor *tensor,
                               const char *name, ig_writer *out) {
    if (!can_be_written(tensor)) {
        return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                        "nested sequences cannot be written");
    }
    if (tensor->kind == IG_TENSOR) {
        put_tensor(out, tensor, name);
    } else {
        put_items(out, tensor, name);
    }
    return IG_OK;
}
