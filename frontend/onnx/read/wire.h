/* The wire walk: checks a protobuf file before anything else reads it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * protobuf-c alone overflows the stack on deep nesting, copies every weight and stops
 * at 2 GiB.  So the file is walked first, by our own loop with an explicit stack,
 * driven by the descriptors that protoc-c wrote.  The walk checks every length, depth,
 * count and name; records the offset of each tensor's payload; and writes a skeleton,
 * the same messages without payloads, unknown fields and fields nobody reads.  In the
 * skeleton the raw_data of every TensorProto is its record number (u32, native order).
 */
#ifndef IG_FRONTEND_ONNX_READ_WIRE_H
#define IG_FRONTEND_ONNX_READ_WIRE_H

#include "base/context.h"
#include "base/vec.h"

#include <protobuf-c/protobuf-c.h>

/* One occurrence of a payload field in the file. */
typedef struct ig_onnx_chunk {
    const uint8_t *data;
    size_t size;
    uint16_t field; /* number in TensorProto */
    bool is_packed; /* packed run, or bytes; else one bare element */
} ig_onnx_chunk;

/* The payload of one TensorProto: its chunks, in file order. */
typedef struct ig_onnx_payload {
    size_t first, count; /* in wire.chunks */
    size_t offset;       /* of the TensorProto in the file */
} ig_onnx_payload;

typedef struct ig_onnx_wire {
    ig_str skeleton;
    size_t size; /* of the file */
    IG_VEC(ig_onnx_chunk) chunks;
    IG_VEC(ig_onnx_payload) payloads; /* by record number */
    size_t node_count;                /* NodeProtos of the whole file */
    size_t memory;                    /* bytes that unpacking the skeleton may take */
} ig_onnx_wire;

/* Walks `bytes` as one `root` message.  `file` is for messages only.  Everything in
 * `out_wire` is in `arena` or points into `bytes`. */
ig_status ig_onnx_wire_walk(ig_context *context, ig_arena *arena, const char *file,
                            ig_str bytes, const ProtobufCMessageDescriptor *root,
                            ig_onnx_wire *out_wire);

/* Unpacks the skeleton with protobuf-c, into `arena`. */
ig_status ig_onnx_wire_unpack(ig_context *context, ig_arena *arena, const char *file,
                              const ig_onnx_wire *wire,
                              const ProtobufCMessageDescriptor *root,
                              ProtobufCMessage **out_message);

/* One varint; returns the byte after it, or NULL when it is cut or over 10 bytes. */
const uint8_t *ig_onnx_varint(const uint8_t *at, const uint8_t *end,
                              uint64_t *out_value);

#endif
