/* An ONNX file while it is read: its messages, its payloads, its external data.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_READ_MODEL_H
#define IG_FRONTEND_ONNX_READ_MODEL_H

#include "frontend/onnx/read/onnx.pb-c.h"
#include "frontend/onnx/read/wire.h"
#include "ir/graph.h"

typedef struct ig_onnx_model {
    ig_context *context;
    ig_module *module;  /* owns everything that is made, and the mapped files */
    ig_arena *arena;    /* the module's */
    const char *file;   /* for messages */
    const char *path;   /* of the file, or NULL: in memory only */
    const char *beside; /* external data is in this file's folder; NULL: none */
    ig_str bytes;
    ig_onnx_wire wire;
    const Onnx__ModelProto *proto;
    ig_map external; /* location -> opened file, or name of a tensor -> its bytes */
} ig_onnx_model;

/* Walks and unpacks model->bytes, none of whose external data is known yet. */
ig_status ig_onnx_model_parse(ig_onnx_model *model);

/* The content of a tensor, checked: bytes are the mapped file's where they can be, else
 * the arena's.  `what` begins messages: "initializer 'w'". */
ig_status ig_onnx_tensor_data(ig_onnx_model *model, const Onnx__TensorProto *tensor,
                              const char *what, const ig_location *where,
                              ig_data *out_data);
/* The same of a sparse tensor, written out. */
ig_status ig_onnx_sparse_data(ig_onnx_model *model,
                              const Onnx__SparseTensorProto *sparse, const char *what,
                              const ig_location *where, ig_data *out_data);

/* ---- shared by the two readers of tensors ---- */

/* Where messages about one tensor go. */
typedef struct ig_onnx_about {
    ig_context *context;
    const ig_location *where;
    const char *what;
} ig_onnx_about;

ig_status ig_onnx_complain(const ig_onnx_about *about, ig_status status,
                           const char *format, ...) IG_PRINTF(3, 4);
/* The format's name of an element type, "FLOAT4E2M1"; NULL: there is none. */
const char *ig_onnx_dtype_name(int64_t code);
/* The form of a tensor, each field checked. */
typedef struct ig_onnx_form {
    ig_dtype dtype;
    int64_t count, bytes;
} ig_onnx_form;

ig_status ig_onnx_tensor_form(const ig_onnx_about *about,
                              const Onnx__TensorProto *tensor, ig_onnx_form *out_form);
/* The payload as little-endian bytes in the IR's packing: borrowed from the chunks
 * where they hold it as it is, else decoded into `arena`. */
ig_status ig_onnx_payload_bytes(const ig_onnx_about *about, ig_arena *arena,
                                const ig_onnx_wire *wire,
                                const Onnx__TensorProto *tensor,
                                const ig_onnx_form *form, const void **out_bytes);
/* External data that is in memory: a file by its location, or a tensor by its name. */
void ig_onnx_external_give(ig_onnx_model *model, const char *name, ig_str bytes);
/* The file and bytes of external data. */
ig_status ig_onnx_external_bytes(ig_onnx_model *model, const ig_onnx_about *about,
                                 const Onnx__TensorProto *tensor, int64_t bytes,
                                 ig_data *out_data);

static inline bool ig_onnx_is_external(const Onnx__TensorProto *tensor) {
    return tensor->has_data_location &&
           tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

#endif
