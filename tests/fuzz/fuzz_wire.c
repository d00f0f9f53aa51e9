/* Fuzzes what a process of an interpreter sends: values, which a reader does not trust.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first byte says whether what is read outlives the message.  What is read can be
 * written and read again.
 */
#include "runtime/interp/wire/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room);

static void expect(bool claim) {
    if (!claim) {
        abort();
    }
}

static ig_interp_object *find_object(void *user, int64_t id) {
    static ig_interp_object object;
    (void)user;
    return id == 3 ? &object : NULL;
}

static ig_shared *find_shared(void *user, int64_t index) {
    (void)user;
    (void)index;
    return NULL;
}

static int64_t object_id(void *user, const ig_interp_object *object) {
    (void)user;
    (void)object;
    return 3;
}

/* Touches all that it says it has. */
static size_t walk_value(const ig_interp_value *value) {
    size_t sum = (size_t)value->kind;
    if (value->kind == IG_INTERP_TEXT || value->kind == IG_INTERP_BYTES) {
        for (size_t i = 0; i <= value->as.text.size; i++) { /* ends with a zero */
            sum += (unsigned char)value->as.text.data[i];
        }
    }
    if (value->kind == IG_INTERP_TENSOR) {
        const unsigned char *data = value->as.tensor.data;
        for (size_t i = 0; i < value->as.tensor.capacity; i++) {
            sum += data[i];
        }
    }
    bool is_nested = value->kind == IG_INTERP_LIST || value->kind == IG_INTERP_TUPLE ||
                     value->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_nested && i < value->as.list.count; i++) {
        sum += walk_value(&value->as.list.items[i]);
    }
    return sum;
}

static void write_again(ig_wire *wire, const ig_interp_value *value, size_t sum) {
    ig_wire_names names = { .id_of = object_id };
    ig_wire_finder finder = { .object = find_object, .shared = find_shared };
    ig_interp_value again;
    ig_wire_begin(wire);
    expect(ig_wire_put_value(wire, value, &names) && !wire->has_failed);
    ig_wire_reader reader = { .data = wire->data, .size = wire->size };
    expect(ig_wire_get_value(&reader, &finder, &again));
    expect(walk_value(&again) == sum);
    ig_wire_free(reader.memory);
}

static void read_message(const char *message, size_t size, bool copies) {
    ig_wire wire = { .file = ig_wire_open() };
    ig_wire_reader reader = { .data = message, .size = size };
    ig_wire_finder finder = { .object = find_object,
                              .shared = find_shared,
                              .copies = copies };
    ig_interp_value value;
    expect(wire.file >= 0);
    while (!reader.has_failed && reader.at < size) {
        size_t before = reader.at;
        if (!ig_wire_get_value(&reader, &finder, &value)) {
            break;
        }
        expect(reader.at > before && reader.at <= size);
        write_again(&wire, &value, walk_value(&value));
    }
    (void)ig_wire_get_text(&reader);
    ig_wire_free(reader.memory);
    ig_wire_close(&wire);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t length = size > 0 ? size - 1 : 0;
    char *message = aligned_alloc(64, (length / 64 + 1) * 64);
    expect(message != NULL);
    if (length > 0) {
        memcpy(message, data + 1, length);
    }
    read_message(message, length, size > 0 && data[0] & 1);
    free(message);
    return 0;
}

/* One value of each kind; the second time to be copied. */
size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room) {
    float data[3] = { 1, 2, 3 };
    ig_interp_object object = { .interp = NULL };
    ig_interp_value items[] = {
        { .kind = IG_INTERP_NONE },
        { .kind = IG_INTERP_TRUTH, .as.truth = 1 },
        { .kind = IG_INTERP_INTEGER, .as.integer = -5 },
        { .kind = IG_INTERP_REAL, .as.real = 0.5 },
        { .kind = IG_INTERP_TEXT, .as.text = { "text", 4 } },
        { .kind = IG_INTERP_BYTES, .as.text = { "\0\1", 2 } },
        { .kind = IG_INTERP_TENSOR },
        { .kind = IG_INTERP_OBJECT, .as.object = &object },
    };
    size_t count = sizeof items / sizeof items[0];
    items[6].as.tensor = (ig_view){ .data = data,
                                    .capacity = sizeof data,
                                    .dtype = IG_F32,
                                    .rank = 2,
                                    .dims = { 1, 3 } };
    const ig_interp_kind nests[] = { IG_INTERP_LIST, IG_INTERP_TUPLE, IG_INTERP_DICT };
    if (i >= 6) {
        return 0;
    }
    ig_wire wire = { .file = ig_wire_open() };
    ig_wire_names names = { .id_of = object_id };
    ig_interp_value all = { .kind = nests[i % 3], .as.list = { items, count } };
    expect(wire.file >= 0);
    ig_wire_begin(&wire);
    expect(ig_wire_put_value(&wire, &all, &names) && wire.size < room);
    bytes[0] = i >= 3;
    memcpy(bytes + 1, wire.data, wire.size);
    size_t size = wire.size + 1;
    ig_wire_close(&wire);
    return size;
}
