/* SPDX-License-Identifier: Apache-2.0
 *
 * A model is a tree of messages; protobuf-c's descriptors say which fields are
 * messages.  A mutation draws a field anywhere in the tree and removes, doubles or
 * changes it, or puts a field of the same number from elsewhere in its place; the
 * lengths of all messages around it are written anew.  Byte by byte, nearly every
 * mutation would break a length.
 */
#include "tests/fuzz/case/onnx_case.h"

#include "frontend/onnx/import/table.h"
#include "passes/grad/grad.h"
#include "frontend/onnx/read/onnx.pb-c.h"
#include "tests/fuzz/reach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

typedef ProtobufCMessageDescriptor message_kind;

enum { MAX_FIELDS = 4096, MAX_DEPTH = 24, MAX_NUMBER = 10, MAX_ROOM = 1 << 18 };
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

typedef struct field {
    uint32_t id, wire;
    uint32_t parent; /* a field of the tree; itself: of the model */
    size_t begin, payload, end;
    const message_kind *inside; /* the message that holds it */
    const message_kind *kind;   /* what its payload is, or NULL */
} field;

typedef struct tree {
    const uint8_t *data;
    field fields[MAX_FIELDS]; /* a message before its fields */
    size_t count;
} tree;

/* ---- reading ---- */

static bool read_number(const uint8_t *data, size_t end, size_t *at, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = data[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return true;
        }
    }
    return false;
}

static const message_kind *kind_of(const message_kind *inside, uint32_t id,
                                   uint32_t wire) {
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field(inside,
                                                                                id);
    bool is_message = f && f->type == PROTOBUF_C_TYPE_MESSAGE && wire == WIRE_BYTES;
    return is_message ? f->descriptor : NULL;
}

static bool read_payload(const uint8_t *data, size_t end, size_t *at, field *out) {
    uint64_t size = 0;
    if (out->wire == WIRE_VARINT) {
        out->payload = *at;
        return read_number(data, end, at, &size);
    }
    size = out->wire == WIRE_64 ? 8 : 4;
    bool is_known = out->wire == WIRE_64 || out->wire == WIRE_32 ||
                    (out->wire == WIRE_BYTES && read_number(data, end, at, &size));
    out->payload = *at;
    if (!is_known || size > end - *at) {
        return false;
    }
    *at += size;
    return true;
}

/* Appends the fields of one message; as far as they can be read. */
static void read_fields(tree *t, size_t begin, size_t end, uint32_t parent,
                        const message_kind *inside, unsigned depth) {
    for (size_t at = begin; at < end && t->count < MAX_FIELDS;) {
        uint64_t tag;
        field f = { .begin = at, .inside = inside };
        if (!read_number(t->data, end, &at, &tag)) {
            return;
        }
        f.id = (uint32_t)(tag >> 3);
        f.wire = tag & 7;
        if (!read_payload(t->data, end, &at, &f)) {
            return;
        }
        uint32_t index = (uint32_t)t->count++;
        f.parent = parent == UINT32_MAX ? index : parent;
        f.end = at;
        f.kind = kind_of(inside, f.id, f.wire);
        t->fields[index] = f;
        if (f.kind && depth < MAX_DEPTH) {
            read_fields(t, f.payload, f.end, index, f.kind, depth + 1);
        }
    }
}

static void read_tree(tree *t, const uint8_t *data, size_t size) {
    t->data = data;
    t->count = 0;
    read_fields(t, 0, size, UINT32_MAX, &onnx__model_proto__descriptor, 0);
}

static ig_str text_of(const tree *t, const field *f) {
    return (ig_str){ (const char *)t->data + f->payload, f->end - f->payload };
}

/* The field of that number directly in message `parent`. */
static const field *field_in(const tree *t, const field *parent, uint32_t id) {
    uint32_t at = (uint32_t)(parent - t->fields);
    for (size_t i = at + 1; i < t->count; i++) {
        if (t->fields[i].parent == at && t->fields[i].id == id) {
            return &t->fields[i];
        }
    }
    return NULL;
}

/* ---- what a model reaches ---- */

enum { NODE_OP = 4, NODE_DOMAIN = 7 };

/* Messages of the format, in the order in which the model's fields lead to them. */
static const message_kind *kinds[64];
static size_t kind_count;

static size_t index_of_kind(const message_kind *kind) {
    size_t i = 0;
    while (i < kind_count && kinds[i] != kind) {
        i++;
    }
    return i;
}

static void find_kinds(void) {
    kinds[0] = &onnx__model_proto__descriptor;
    kind_count = 1;
    for (size_t i = 0; i < kind_count; i++) {
        for (unsigned f = 0; f < kinds[i]->n_fields; f++) {
            const ProtobufCFieldDescriptor *known = &kinds[i]->fields[f];
            bool is_new = known->type == PROTOBUF_C_TYPE_MESSAGE &&
                          index_of_kind(known->descriptor) == kind_count;
            if (is_new && kind_count < IG_COUNT_OF(kinds)) {
                kinds[kind_count++] = known->descriptor;
            }
        }
    }
}

/* Things: the rows of the import table, then 64 fields a message. */
enum { FIELDS_MAX = 64 };

/* One name for all versions, of the rows that are imported. */
static const char *name_of_row(const ig_onnx_row *row) {
    bool is_first = ig_onnx_row_first(ig_str_of(row->domain), ig_str_of(row->name)) ==
                    row;
    return is_first && row->import ? row->name : NULL;
}

static const char *name_of_thing(size_t i) {
    static char name[128];
    if (i < ig_onnx_row_count) {
        return name_of_row(&ig_onnx_rows[i]);
    }
    const message_kind *kind = kinds[(i - ig_onnx_row_count) / FIELDS_MAX];
    unsigned index = (unsigned)((i - ig_onnx_row_count) % FIELDS_MAX);
    const ProtobufCFieldDescriptor *known =
        protobuf_c_message_descriptor_get_field(kind, index);
    snprintf(name, sizeof name, "%s.%s", kind->short_name, known ? known->name : "");
    return known ? name : NULL;
}

void ig_fuzz_onnx_begin(void) {
    find_kinds();
    ig_fuzz_reach_begin(ig_onnx_row_count + kind_count * FIELDS_MAX, name_of_thing);
}

static void reach_field(const field *f) {
    if (protobuf_c_message_descriptor_get_field(f->inside, f->id)) {
        ig_fuzz_reach(ig_onnx_row_count + index_of_kind(f->inside) * FIELDS_MAX +
                      f->id);
    }
}

static void reach_operator(const tree *t, const field *node) {
    const field *op = field_in(t, node, NODE_OP);
    const field *domain = field_in(t, node, NODE_DOMAIN);
    ig_str none = { "", 0 }, where = domain ? text_of(t, domain) : none;
    const ig_onnx_row *row = op ? ig_onnx_row_first(ig_str_is(where, "ai.onnx") ? none
                                                                                : where,
                                                    text_of(t, op))
                                : NULL;
    if (row) {
        ig_fuzz_reach((size_t)(row - ig_onnx_rows));
    }
}

void ig_fuzz_onnx_reach(ig_str bytes, bool is_whole) {
    static tree t;
    read_tree(&t, (const uint8_t *)bytes.data, bytes.size);
    for (size_t i = 0; i < t.count; i++) {
        reach_field(&t.fields[i]);
        if (is_whole && t.fields[i].kind == &onnx__node_proto__descriptor) {
            reach_operator(&t, &t.fields[i]);
        }
    }
}

/* ---- mutations ---- */

static uint32_t draw(uint32_t *state, size_t below) {
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % (uint32_t)below : 0;
}

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static void put_bytes(bytes *out, const void *data, size_t size) {
    if (out->size + size <= MAX_ROOM) {
        memcpy(out->data + out->size, data, size);
        out->size += size;
    }
}

static void put_number(bytes *out, uint64_t value) {
    uint8_t text[MAX_NUMBER];
    size_t size = 0;
    do {
        text[size++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    put_bytes(out, text, size);
}

/* An operator's or an attribute's name, of the import table. */
static const char *draw_name(const field *f, uint32_t *state) {
    const ig_onnx_row *row = &ig_onnx_rows[draw(state, ig_onnx_row_count)];
    bool is_op = f->inside == &onnx__node_proto__descriptor && f->id == NODE_OP;
    bool is_attribute = f->inside == &onnx__attribute_proto__descriptor && f->id == 1;
    if (is_attribute && row->attrs && row->attrs->name) {
        return row->attrs->name;
    }
    return is_op ? row->name : NULL;
}

static uint64_t draw_value(uint32_t *state) {
    static const int64_t values[] = {
        0,         1,         2,         -1,        3,          4,
        -2,        7,         8,         64,        1023,       65536,
        INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 4294967296, 1099511627776
    };
    return draw(state, 3) ? draw(state, 28)
                          : (uint64_t)values[draw(state, IG_COUNT_OF(values))];
}

/* Writes the field with another payload. */
static void put_changed(bytes *out, const tree *t, const field *f, uint32_t *state) {
    static uint8_t payload[MAX_ROOM];
    size_t size = f->end - f->payload;
    const char *name = draw_name(f, state);
    put_number(out, (uint64_t)f->id << 3 | f->wire);
    if (f->wire == WIRE_VARINT) {
        put_number(out, draw_value(state));
        return;
    }
    if (size > MAX_ROOM / 4) {
        size = MAX_ROOM / 4;
    }
    memcpy(payload, t->data + f->payload, size);
    if (f->wire != WIRE_BYTES) {
        LLVMFuzzerMutate(payload, size, size);
        put_bytes(out, payload, size);
        return;
    }
    if (name && draw(state, 4)) {
        size = strlen(name);
        memcpy(payload, name, size);
    } else {
        size = LLVMFuzzerMutate(payload, size, size + 32);
    }
    put_number(out, size);
    put_bytes(out, payload, size);
}

/* Another field of the same message and number, or `f` when there is none. */
static const field *draw_like(const tree *t, const field *f, uint32_t *state) {
    size_t from = draw(state, t->count);
    for (size_t i = 0; i < t->count; i++) {
        const field *other = &t->fields[(from + i) % t->count];
        if (other != f && other->inside == f->inside && other->id == f->id) {
            return other;
        }
    }
    return f;
}

static void put_field(bytes *out, const tree *t, const field *f) {
    put_bytes(out, t->data + f->begin, f->end - f->begin);
}

static void put_mutated(bytes *out, const tree *t, const field *f, uint32_t *state) {
    uint32_t way = draw(state, 8);
    if (way == 0) {
        return; /* removed */
    }
    if (way == 1) {
        put_field(out, t, f);
        put_field(out, t, draw_like(t, f, state));
    } else if (way < 5) {
        put_field(out, t, draw_like(t, f, state));
    } else {
        put_changed(out, t, f, state);
    }
}

/* Writes `data` with the field `f` mutated, and the messages around it with their new
 * lengths: from the inside to the outside. */
static size_t rewrite(const tree *t, size_t size, const field *f, uint8_t *to,
                      uint32_t *state) {
    static uint8_t rooms[2][MAX_ROOM];
    bytes inner = { rooms[0], 0 };
    put_mutated(&inner, t, f, state);
    size_t begin = f->begin, end = f->end;
    for (unsigned turn = 1; f->parent != (uint32_t)(f - t->fields); turn++) {
        const field *parent = &t->fields[f->parent];
        bytes outer = { rooms[turn & 1], 0 };
        put_number(&outer, (uint64_t)parent->id << 3 | WIRE_BYTES);
        put_number(&outer, begin - parent->payload + inner.size + parent->end - end);
        put_bytes(&outer, t->data + parent->payload, begin - parent->payload);
        put_bytes(&outer, inner.data, inner.size);
        put_bytes(&outer, t->data + end, parent->end - end);
        inner = outer;
        begin = parent->begin, end = parent->end;
        f = parent;
    }
    bytes all = { to, 0 };
    put_bytes(&all, t->data, begin);
    put_bytes(&all, inner.data, inner.size);
    put_bytes(&all, t->data + end, size - end);
    return all.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    static tree t;
    static uint8_t made[MAX_ROOM];
    uint32_t state = seed;
    if (size > MAX_ROOM / 4 || draw(&state, 16) == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    for (uint32_t turns = 1 + draw(&state, 3); turns > 0; turns--) {
        read_tree(&t, data, size);
        if (!t.count) {
            return LLVMFuzzerMutate(data, size, max_size);
        }
        const field *f = &t.fields[draw(&state, t.count)];
        size_t made_size = rewrite(&t, size, f, made, &state);
        if (made_size <= max_size && made_size <= MAX_ROOM / 4) {
            memcpy(data, made, made_size);
            size = made_size;
        }
    }
    return size;
}

/* ---- the import ---- */

ig_status ig_fuzz_onnx_import(ig_context *context, ig_str file,
                              ig_module **out_module) {
    ig_onnx_options options = { .gradients = ig_gradients_at };
    return ig_import_onnx_memory(context, file, NULL, &options, out_module);
}
