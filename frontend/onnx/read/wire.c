/* The wire walk: frames on an explicit stack, one per open message.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A message's length comes before its content, and the skeleton's differs from the
 * file's.  Each length is therefore written as a five-byte varint (padded, which
 * readers must accept) and set when the message closes:
 *
 *     file       3a 8f 12 ...graph...          length of the original
 *     skeleton   3a xx xx xx xx xx ...graph... set by close_message
 */
#include "frontend/onnx/read/wire.h"

#include "base/writer.h"
#include "frontend/onnx/read/onnx.pb-c.h"

#include <assert.h>
#include <string.h>

enum { MAX_FIELDS = 24, LENGTH_BYTES = 5, MESSAGES_PER_GRAPH = 4 };
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_32 };

typedef struct frame {
    const ProtobufCMessageDescriptor *type;
    const uint8_t *end; /* of the message in the file */
    const uint8_t *start;
    size_t content;            /* where the content begins in the skeleton */
    uint32_t field;            /* index in type->fields of the child being read */
    uint32_t seen[MAX_FIELDS]; /* occurrences by field index */
} frame;

typedef struct walk {
    ig_context *context;
    ig_arena *arena;
    const char *file;
    const uint8_t *begin;
    ig_onnx_wire *wire;
    ig_writer out;
    frame *frames;
    uint32_t depth, depth_limit, graph_depth;
} walk;

/* One field as the file holds it. */
typedef struct item {
    const uint8_t *start;   /* its tag */
    const uint8_t *payload; /* after tag and length */
    const uint8_t *end;
    uint32_t id, wire_type;
    const ProtobufCFieldDescriptor *field; /* NULL: not in our schema */
} item;

const uint8_t *ig_onnx_varint(const uint8_t *at, const uint8_t *end,
                              uint64_t *out_value) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            return NULL;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out_value = value;
            return at;
        }
    }
    return NULL;
}

/* "graph.node[3].attribute[0].t" of the frames that are open. */
static const char *path_of(walk *w) {
    ig_writer text;
    ig_writer_init(&text, w->arena);
    for (uint32_t d = 0; d < w->depth; d++) {
        const frame *f = &w->frames[d];
        if (f->field >= f->type->n_fields) {
            break;
        }
        const ProtobufCFieldDescriptor *field = &f->type->fields[f->field];
        ig_put(&text, text.size ? ".%s" : "%s", field->name);
        if (field->label == PROTOBUF_C_LABEL_REPEATED && f->seen[f->field]) {
            ig_put(&text, "[%u]", f->seen[f->field] - 1);
        }
        if (text.size > 400) {
            ig_put(&text, "...");
            break;
        }
    }
    return text.size ? text.data : "the top of the file";
}

static ig_status report_broken(walk *w, const uint8_t *at, ig_status status,
                               const char *what) {
    ig_location where = { .file = w->file };
    return ig_error(&w->context->diag, status, &where, "byte %zu, in %s: %s",
                    (size_t)(at - w->begin), path_of(w), what);
}

static ig_status report_limit(walk *w, const uint8_t *at, ig_limit_id id,
                              const char *what) {
    ig_location where = { .file = w->file };
    return ig_error_limit(&w->context->diag, &where, &w->context->limits, id,
                          "byte %zu, in %s: %s", (size_t)(at - w->begin), path_of(w),
                          what);
}

static ig_status read_tag(walk *w, const uint8_t *at, const uint8_t *end, item *out) {
    uint64_t tag = 0;
    const uint8_t *next = ig_onnx_varint(at, end, &tag);
    if (!next) {
        return report_broken(w, at, IG_INVALID,
                             "a field tag is cut short or malformed");
    }
    if (tag >> 32 || tag >> 3 == 0) {
        return report_broken(
            w, at, IG_INVALID,
            "a field has an impossible number; this is not an ONNX file, or it is damaged");
    }
    out->start = at;
    out->payload = next;
    out->id = (uint32_t)(tag >> 3);
    out->wire_type = (uint32_t)(tag & 7);
    return IG_OK;
}

/* Finds where the field ends. */
static ig_status read_extent(walk *w, const uint8_t *end, item *out) {
    size_t left = (size_t)(end - out->payload);
    size_t fixed = out->wire_type == WIRE_64 ? 8 : 4;
    uint64_t value = 0;
    const uint8_t *next;
    switch (out->wire_type) {
    case WIRE_VARINT:
        next = ig_onnx_varint(out->payload, end, &value);
        if (!next) {
            return report_broken(w, out->payload, IG_INVALID, "a number is cut short");
        }
        out->end = next;
        return IG_OK;
    case WIRE_64:
    case WIRE_32:
        if (left < fixed) {
            return report_broken(w, out->payload, IG_INVALID, "a number is cut short");
        }
        out->end = out->payload + fixed;
        return IG_OK;
    case WIRE_BYTES:
        next = ig_onnx_varint(out->payload, end, &value);
        if (!next) {
            return report_broken(w, out->payload, IG_INVALID, "a length is cut short");
        }
        if (value > (uint64_t)(end - next)) {
            const char *what = ig_arena_printf(
                w->arena,
                "a field of %llu bytes runs past the end: %zu bytes are left; the file is cut short or damaged",
                (unsigned long long)value, (size_t)(end - next));
            return report_broken(w, out->start, IG_INVALID, what);
        }
        out->payload = next;
        out->end = next + value;
        return IG_OK;
    default:
        return report_broken(
            w, out->start, IG_INVALID,
            "a field has a wire type that ONNX does not use; this is not an ONNX file, or it is damaged");
    }
}

/* ---- fields that are kept ---- */

/* Fields that are checked for their extent only, and left out of the skeleton. */
static const struct {
    const ProtobufCMessageDescriptor *type;
    uint32_t id;
} skipped[] = {
    { &onnx__model_proto__descriptor, 6 },         /* doc_string */
    { &onnx__model_proto__descriptor, 14 },        /* metadata_props */
    { &onnx__training_info_proto__descriptor, 1 }, /* initialization */
    { &onnx__training_info_proto__descriptor, 2 }, /* algorithm */
    { &onnx__training_info_proto__descriptor, 3 }, /* initialization_binding */
    { &onnx__graph_proto__descriptor, 10 },        /* doc_string */
    { &onnx__graph_proto__descriptor, 13 },        /* value_info: stale in real files */
    { &onnx__graph_proto__descriptor, 14 },        /* quantization_annotation */
    { &onnx__graph_proto__descriptor, 16 },        /* metadata_props */
    { &onnx__node_proto__descriptor, 6 },          /* doc_string */
    { &onnx__attribute_proto__descriptor, 13 },    /* doc_string */
    { &onnx__value_info_proto__descriptor, 3 },    /* doc_string */
    { &onnx__value_info_proto__descriptor, 4 },    /* metadata_props */
    { &onnx__function_proto__descriptor, 8 },      /* doc_string */
    { &onnx__function_proto__descriptor, 12 },     /* value_info */
    { &onnx__function_proto__descriptor, 14 },     /* metadata_props */
    { &onnx__tensor_proto__descriptor, 12 },       /* doc_string */
    { &onnx__tensor_proto__descriptor, 16 },       /* metadata_props */
};

static bool is_skipped(const ProtobufCMessageDescriptor *type, uint32_t id) {
    for (size_t i = 0; i < IG_COUNT_OF(skipped); i++) {
        if (skipped[i].type == type && skipped[i].id == id) {
            return true;
        }
    }
    return false;
}

static bool is_payload(const ProtobufCMessageDescriptor *type, uint32_t id) {
    return type == &onnx__tensor_proto__descriptor &&
           ((id >= 4 && id <= 7) || (id >= 9 && id <= 11));
}

static bool is_wire_type_right(const item *it) {
    switch (it->field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return it->wire_type == WIRE_BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return it->wire_type == WIRE_32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return it->wire_type == WIRE_64;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_BOOL:
    case PROTOBUF_C_TYPE_ENUM:
        return it->wire_type == WIRE_VARINT;
    }
    return false;
}

/* A run of values in one length-delimited field. */
static bool is_packed_run(const item *it) {
    return it->field->label == PROTOBUF_C_LABEL_REPEATED &&
           it->wire_type == WIRE_BYTES && it->field->type != PROTOBUF_C_TYPE_STRING &&
           it->field->type != PROTOBUF_C_TYPE_BYTES &&
           it->field->type != PROTOBUF_C_TYPE_MESSAGE;
}

static ig_status check_text(walk *w, const item *it) {
    ig_str text = { (const char *)it->payload, (size_t)(it->end - it->payload) };
    if (text.size > (uint64_t)w->context->limits.string_bytes) {
        return report_limit(w, it->start, IG_LIMIT_string_bytes,
                            "the length of a name");
    }
    if (memchr(text.data, 0, text.size)) {
        return report_broken(w, it->start, IG_INVALID, "a name holds a zero byte");
    }
    if (!ig_utf8_is_valid(text)) {
        return report_broken(w, it->start, IG_INVALID, "a name is not valid UTF-8");
    }
    return IG_OK;
}

/* ---- memory that unpacking will take ---- */

static void count_memory(walk *w, const item *it) {
    size_t bytes = (size_t)(it->end - it->payload);
    size_t more = 16; /* slot and alignment */
    if (it->field->type == PROTOBUF_C_TYPE_MESSAGE) {
        const ProtobufCMessageDescriptor *type = it->field->descriptor;
        more += type->sizeof_message;
    } else if (is_packed_run(it)) {
        more += bytes * 8;
    } else if (it->wire_type == WIRE_BYTES) {
        more += bytes + 32;
    }
    w->wire->memory += more;
}

/* ---- messages ---- */

static void put_length(ig_writer *out, size_t at, size_t value) {
    for (unsigned i = 0; i < LENGTH_BYTES; i++) {
        unsigned more = i + 1 < LENGTH_BYTES ? 0x80 : 0;
        out->data[at + i] = (char)(((value >> (7 * i)) & 0x7f) | more);
    }
}

/* Frames are as deep as allowed; each message ends in the one around it, in the file,
 * and its content begins after that one's in the skeleton. */
static void check_walk(const walk *w) {
    assert(w->depth > 0 && w->depth <= w->depth_limit && "frames are in their array");
    const frame *f = &w->frames[w->depth - 1], *outer = w->depth > 1 ? f - 1 : f;
    assert(f->start <= f->end && f->end <= outer->end &&
           "a message is in its outer one");
    assert(f->content >= outer->content && f->content <= w->out.size &&
           "a message's content is in the skeleton");
    assert(w->graph_depth <= w->depth && "a graph is a message");
    (void)f;
    (void)outer;
}

static ig_status open_message(walk *w, const ProtobufCMessageDescriptor *type,
                              const item *it) {
    if (type == &onnx__graph_proto__descriptor &&
        ++w->graph_depth > w->context->limits.graph_depth) {
        return report_limit(w, it->start, IG_LIMIT_graph_depth,
                            "the nesting of graphs");
    }
    if (w->depth == w->depth_limit) {
        return report_limit(w, it->start, IG_LIMIT_graph_depth,
                            "the nesting of messages");
    }
    frame *f = &w->frames[w->depth++];
    memset(f, 0, sizeof(*f));
    f->type = type;
    f->start = it->payload;
    f->end = it->end;
    f->field = type->n_fields;
    f->content = w->out.size;
    check_walk(w);
    if (type == &onnx__tensor_proto__descriptor) {
        ig_onnx_payload record = { .first = w->wire->chunks.count,
                                   .offset = (size_t)(it->payload - w->begin) };
        IG_PUSH(w->arena, &w->wire->payloads, record);
    }
    if (type == &onnx__node_proto__descriptor &&
        ++w->wire->node_count > (uint64_t)w->context->limits.node_count) {
        return report_limit(w, it->start, IG_LIMIT_node_count, "the number of nodes");
    }
    return IG_OK;
}

/* The record number of a tensor's payload. */
static void put_record(walk *w) {
    ig_onnx_payload *record = &IG_LAST(&w->wire->payloads);
    record->count = w->wire->chunks.count - record->first;
    uint32_t index = (uint32_t)(w->wire->payloads.count - 1);
    ig_put_char(&w->out, (9 << 3) | WIRE_BYTES);
    ig_put_char(&w->out, sizeof(index));
    ig_put_bytes(&w->out, &index, sizeof(index));
}

static ig_status close_message(walk *w) {
    frame *f = &w->frames[w->depth - 1];
    check_walk(w);
    if (f->type == &onnx__tensor_proto__descriptor) {
        put_record(w);
    }
    size_t size = w->out.size - f->content;
    if (w->out.size > INT32_MAX / 2) {
        return report_broken(w, f->start, IG_LIMIT,
                             "the graph without its weights is larger than 1 GiB");
    }
    if (w->depth > 1) {
        put_length(&w->out, f->content - LENGTH_BYTES, size);
    }
    w->graph_depth -= f->type == &onnx__graph_proto__descriptor;
    w->depth--;
    return IG_OK;
}

static ig_status enter_child(walk *w, frame *f, const item *it) {
    bool is_single = it->field->label != PROTOBUF_C_LABEL_REPEATED;
    if (is_single && f->seen[f->field] > 1) {
        return report_broken(w, it->start, IG_UNSUPPORTED,
                             "a message that may be given once is given twice");
    }
    count_memory(w, it);
    uint64_t tag = (uint64_t)it->id << 3 | WIRE_BYTES;
    for (; tag >= 0x80; tag >>= 7) {
        ig_put_char(&w->out, (char)(tag | 0x80));
    }
    ig_put_char(&w->out, (char)tag);
    static const char blank[LENGTH_BYTES] = { 0 };
    ig_put_bytes(&w->out, blank, sizeof(blank));
    return open_message(w, it->field->descriptor, it);
}

static void note_payload(walk *w, const item *it) {
    ig_onnx_chunk chunk = { .data = it->payload,
                            .size = (size_t)(it->end - it->payload),
                            .field = (uint16_t)it->id,
                            .is_packed = it->wire_type == WIRE_BYTES };
    IG_PUSH(w->arena, &w->wire->chunks, chunk);
}

static ig_status take_field(walk *w, frame *f, item *it) {
    const ProtobufCFieldDescriptor *field = it->field;
    f->field = (uint32_t)(field - f->type->fields);
    f->seen[f->field]++;
    if (!is_wire_type_right(it) && !is_packed_run(it)) {
        return report_broken(w, it->start, IG_INVALID,
                             "the field has the wrong wire type");
    }
    if (is_payload(f->type, it->id)) {
        note_payload(w, it);
    } else if (is_skipped(f->type, it->id)) {
        return IG_OK;
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return enter_child(w, f, it);
    } else {
        if (field->type == PROTOBUF_C_TYPE_STRING) {
            IG_TRY(check_text(w, it));
        }
        count_memory(w, it);
        ig_put_bytes(&w->out, it->start, (size_t)(it->end - it->start));
    }
    return IG_OK;
}

/* One step: closes the innermost message when it is at its end, else takes its next
 * field.  `at` moves along. */
static ig_status walk_field(walk *w, const uint8_t **at) {
    frame *f = &w->frames[w->depth - 1];
    if (*at == f->end) {
        return close_message(w);
    }
    f->field = f->type->n_fields;
    item it = { 0 };
    IG_TRY(read_tag(w, *at, f->end, &it));
    it.field = protobuf_c_message_descriptor_get_field(f->type, it.id);
    if (it.field) {
        f->field = (uint32_t)(it.field - f->type->fields);
    }
    IG_TRY(read_extent(w, f->end, &it));
    uint32_t depth = w->depth;
    if (it.field) {
        IG_TRY(take_field(w, f, &it));
    }
    *at = w->depth > depth ? it.payload : it.end;
    return IG_OK;
}

ig_status ig_onnx_wire_walk(ig_context *context, ig_arena *arena, const char *file,
                            ig_str bytes, const ProtobufCMessageDescriptor *root,
                            ig_onnx_wire *out_wire) {
    memset(out_wire, 0, sizeof(*out_wire));
    out_wire->size = bytes.size;
    int64_t depth_limit = context->limits.graph_depth;
    depth_limit = depth_limit < 1 ? 1 : depth_limit > 4096 ? 4096 : depth_limit;
    walk w = { .context = context,
               .arena = arena,
               .file = file,
               .wire = out_wire,
               .begin = (const uint8_t *)bytes.data,
               .depth_limit = (uint32_t)depth_limit * MESSAGES_PER_GRAPH };
    w.frames = IG_NEW_ARRAY(arena, frame, w.depth_limit);
    ig_writer_init(&w.out, arena);
    item whole = { .start = w.begin, .payload = w.begin, .end = w.begin + bytes.size };
    IG_TRY(open_message(&w, root, &whole));
    const uint8_t *at = w.begin;
    for (size_t fields = 0; w.depth > 0; fields++) {
        if (fields % 4096 == 4095) {
            IG_TRY(ig_context_poll(context));
        }
        IG_TRY(walk_field(&w, &at));
    }
    out_wire->skeleton = ig_writer_str(&w.out);
    return IG_OK;
}
