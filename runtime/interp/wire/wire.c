/* Messages: numbers, texts and values, in memory that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/wire/wire.h"

#include <linux/memfd.h>
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 16, TENSOR_ALIGN = 64, NUMBER_ALIGN = 8, DEPTH_MAX = 256 };

/* ---- memory ---- */

/* The message is in the mapped memory; the room is that of the mapping. */
static void check_wire(const ig_wire *wire) {
    assert((wire->data != NULL) == (wire->room > 0) && "room is mapped");
    assert(wire->size <= wire->room && "the message is in its room");
    (void)wire;
}

int ig_wire_open(void) {
    int file = (int)syscall(SYS_memfd_create, "ingot-interp-wire",
                            MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0) {
        (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
    }
    return file;
}

void ig_wire_close(ig_wire *wire) {
    if (wire->data) {
        (void)munmap(wire->data, wire->room);
    }
    if (wire->file >= 0) {
        (void)close(wire->file);
    }
    *wire = (ig_wire){ .file = -1 };
}

static bool map_room(ig_wire *wire, size_t room) {
    void *data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, wire->file, 0);
    if (data == MAP_FAILED) {
        return false;
    }
    if (wire->data) {
        (void)munmap(wire->data, wire->room);
    }
    wire->data = data;
    wire->room = room;
    return true;
}

bool ig_wire_view(ig_wire *wire, size_t size) {
    struct stat facts;
    if (size <= wire->room) {
        return true;
    }
    return fstat(wire->file, &facts) == 0 && (size_t)facts.st_size >= size &&
           map_room(wire, (size_t)facts.st_size);
}

static char *grow_message(ig_wire *wire, size_t bytes) {
    size_t wanted = wire->size + bytes, room = wire->room ? wire->room : FIRST_ROOM;
    while (room < wanted) {
        room *= 2;
    }
    if (room > wire->room &&
        (ftruncate(wire->file, (off_t)room) != 0 || !map_room(wire, room))) {
        wire->has_failed = true;
    }
    if (wire->has_failed) {
        return NULL;
    }
    char *at = wire->data + wire->size;
    wire->size = wanted;
    check_wire(wire);
    return at;
}

static void align_to(ig_wire *wire, size_t alignment) {
    (void)grow_message(wire, (alignment - wire->size % alignment) % alignment);
}

/* ---- writing ---- */

void ig_wire_begin(ig_wire *wire) {
    wire->size = 0;
    wire->has_failed = false;
    check_wire(wire);
}

static void put_bytes(ig_wire *wire, const void *bytes, size_t size) {
    char *at = grow_message(wire, size);
    if (at && size > 0) {
        memcpy(at, bytes, size);
    }
}

void ig_wire_put_number(ig_wire *wire, int64_t number) {
    align_to(wire, NUMBER_ALIGN);
    put_bytes(wire, &number, sizeof number);
}

/* With a final zero that the length does not count. */
static void put_sized(ig_wire *wire, const char *data, size_t size) {
    ig_wire_put_number(wire, (int64_t)size);
    put_bytes(wire, data, size);
    put_bytes(wire, "", 1);
}

void ig_wire_put_text(ig_wire *wire, const char *text) {
    if (!text) {
        ig_wire_put_number(wire, -1);
        return;
    }
    put_sized(wire, text, strlen(text));
}

static bool put_tensor(ig_wire *wire, const ig_view *tensor) {
    int64_t size = tensor->rank <= IG_MAX_RANK ? ig_view_bytes(tensor) : -1;
    if (size < 0 || (size > 0 && !tensor->data)) {
        return false;
    }
    ig_wire_put_number(wire, tensor->dtype);
    ig_wire_put_number(wire, tensor->rank);
    for (uint32_t d = 0; d < tensor->rank; d++) {
        ig_wire_put_number(wire, tensor->dims[d]);
    }
    align_to(wire, TENSOR_ALIGN);
    put_bytes(wire, tensor->data, (size_t)size);
    return true;
}

static bool put_shared(ig_wire *wire, const ig_interp_value *value,
                       ig_wire_names *names) {
    const ig_shared *shared = (const ig_shared *)(const void *)value->as.text.data;
    if (!names->files || names->file_count == IG_WIRE_FILES_MAX) {
        return false;
    }
    ig_wire_put_number(wire, (int64_t)names->file_count);
    names->files[names->file_count++] = shared->file;
    return true;
}

static bool put_any(ig_wire *wire, const ig_interp_value *value, ig_wire_names *names,
                    int depth);

static bool put_items(ig_wire *wire, const ig_interp_value *value, ig_wire_names *names,
                      int depth) {
    ig_wire_put_number(wire, (int64_t)value->as.list.count);
    for (size_t i = 0; i < value->as.list.count; i++) {
        if (depth == DEPTH_MAX ||
            !put_any(wire, &value->as.list.items[i], names, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool put_object(ig_wire *wire, const ig_interp_value *value,
                       const ig_wire_names *names) {
    int64_t id = names->id_of(names->user, value->as.object);
    ig_wire_put_number(wire, id);
    return id >= 0;
}

static bool put_any(ig_wire *wire, const ig_interp_value *value, ig_wire_names *names,
                    int depth) {
    ig_wire_put_number(wire, value->kind);
    if ((int)value->kind == IG_ENGINE_SHARED) {
        return put_shared(wire, value, names);
    }
    switch (value->kind) {
    case IG_INTERP_NONE:
        return true;
    case IG_INTERP_TRUTH:
        ig_wire_put_number(wire, value->as.truth);
        return true;
    case IG_INTERP_INTEGER:
        ig_wire_put_number(wire, value->as.integer);
        return true;
    case IG_INTERP_REAL:
        align_to(wire, NUMBER_ALIGN);
        put_bytes(wire, &value->as.real, sizeof value->as.real);
        return true;
    case IG_INTERP_TEXT:
    case IG_INTERP_BYTES:
        put_sized(wire, value->as.text.data, value->as.text.size);
        return true;
    case IG_INTERP_LIST:
    case IG_INTERP_TUPLE:
    case IG_INTERP_DICT:
        return put_items(wire, value, names, depth);
    case IG_INTERP_TENSOR:
        return put_tensor(wire, &value->as.tensor);
    case IG_INTERP_OBJECT:
        return put_object(wire, value, names);
    }
    return false;
}

bool ig_wire_put_value(ig_wire *wire, const ig_interp_value *value,
                       ig_wire_names *names) {
    return put_any(wire, value, names, 0);
}

/* ---- reading ---- */

struct ig_wire_memory {
    ig_wire_memory *next;
    _Alignas(64) char bytes[];
};

void *ig_wire_keep(ig_wire_memory **memory, size_t size) {
    size_t whole = (sizeof(ig_wire_memory) + size + 63) / 64 * 64;
    ig_wire_memory *made = size < SIZE_MAX / 2 ? aligned_alloc(64, whole) : NULL;
    if (!made) {
        return NULL;
    }
    made->next = *memory;
    *memory = made;
    return made->bytes;
}

void ig_wire_free(ig_wire_memory *memory) {
    while (memory) {
        ig_wire_memory *gone = memory;
        memory = gone->next;
        free(gone);
    }
}

/* NULL: the message is shorter. */
static const char *take_bytes(ig_wire_reader *reader, size_t size, size_t alignment) {
    size_t start = (reader->at + alignment - 1) / alignment * alignment;
    if (reader->has_failed || start > reader->size || size > reader->size - start) {
        reader->has_failed = true;
        return NULL;
    }
    reader->at = start + size;
    return reader->data + start;
}

int64_t ig_wire_get_number(ig_wire_reader *reader) {
    int64_t number = 0;
    const char *at = take_bytes(reader, sizeof number, NUMBER_ALIGN);
    if (at) {
        memcpy(&number, at, sizeof number);
    }
    return number;
}

static const char *get_sized(ig_wire_reader *reader, size_t *out_size) {
    int64_t size = ig_wire_get_number(reader);
    *out_size = 0;
    if (size < 0 || size == INT64_MAX) {
        return NULL;
    }
    const char *at = take_bytes(reader, (size_t)size + 1, 1);
    *out_size = at ? (size_t)size : 0;
    reader->has_failed = reader->has_failed || at[size] != 0;
    return at;
}

const char *ig_wire_get_text(ig_wire_reader *reader) {
    size_t size;
    return get_sized(reader, &size);
}

/* The same bytes, or a copy of them. */
static const void *settle_bytes(ig_wire_reader *reader, const ig_wire_finder *finder,
                                const void *at, size_t size) {
    if (!finder->copies || !at) {
        return at;
    }
    void *copy = ig_wire_keep(&reader->memory, size);
    reader->has_failed = reader->has_failed || !copy;
    return copy ? memcpy(copy, at, size) : NULL;
}

static bool get_bytes(ig_wire_reader *reader, const ig_wire_finder *finder,
                      ig_interp_value *out) {
    size_t size;
    const char *at = get_sized(reader, &size);
    if (!at) {
        return false;
    }
    out->as.text.data = settle_bytes(reader, finder, at, size + 1);
    out->as.text.size = size;
    return out->as.text.data != NULL;
}

static bool get_tensor(ig_wire_reader *reader, const ig_wire_finder *finder,
                       ig_view *out) {
    *out = (ig_view){ .dtype = (int32_t)ig_wire_get_number(reader) };
    int64_t rank = ig_wire_get_number(reader);
    if (rank < 0 || rank > IG_MAX_RANK) {
        return false;
    }
    out->rank = (uint32_t)rank;
    for (uint32_t d = 0; d < out->rank; d++) {
        out->dims[d] = ig_wire_get_number(reader);
    }
    int64_t size = ig_view_bytes(out);
    const char *at = size < 0 ? NULL : take_bytes(reader, (size_t)size, TENSOR_ALIGN);
    out->capacity = at ? (size_t)size : 0;
    out->data = (void *)(uintptr_t)settle_bytes(reader, finder, at, out->capacity);
    return out->data != NULL;
}

static bool get_any(ig_wire_reader *reader, const ig_wire_finder *finder,
                    ig_interp_value *out, int depth);

static bool get_items(ig_wire_reader *reader, const ig_wire_finder *finder,
                      ig_interp_value *out, int depth) {
    int64_t count = ig_wire_get_number(reader);
    size_t left = reader->size - reader->at; /* each item has eight bytes at least */
    if (count < 0 || (size_t)count > left / NUMBER_ALIGN || depth == DEPTH_MAX) {
        return false;
    }
    out->as.list.count = (size_t)count;
    out->as.list.items = ig_wire_keep(&reader->memory,
                                      (size_t)count * sizeof *out->as.list.items);
    for (size_t i = 0; out->as.list.items && i < (size_t)count; i++) {
        if (!get_any(reader, finder, &out->as.list.items[i], depth + 1)) {
            return false;
        }
    }
    return out->as.list.items != NULL;
}

static bool get_reference(ig_wire_reader *reader, const ig_wire_finder *finder,
                          ig_interp_value *out) {
    int64_t id = ig_wire_get_number(reader);
    if (out->kind == IG_INTERP_OBJECT) {
        out->as.object = finder->object(finder->user, id);
        return out->as.object != NULL;
    }
    const ig_shared *shared = finder->shared ? finder->shared(finder->user, id) : NULL;
    out->as.text.data = (const char *)shared;
    return shared != NULL;
}

static bool get_leaf(ig_wire_reader *reader, ig_interp_value *out) {
    int64_t number = out->kind == IG_INTERP_NONE ? 0 : ig_wire_get_number(reader);
    if (out->kind == IG_INTERP_REAL) {
        memcpy(&out->as.real, &number, sizeof number);
    } else if (out->kind == IG_INTERP_TRUTH) {
        out->as.truth = number != 0;
    } else {
        out->as.integer = number;
    }
    return !reader->has_failed;
}

static bool get_any(ig_wire_reader *reader, const ig_wire_finder *finder,
                    ig_interp_value *out, int depth) {
    memset(out, 0, sizeof *out);
    int64_t kind = ig_wire_get_number(reader);
    out->kind = (ig_interp_kind)kind;
    bool is_good = false;
    if (kind == IG_ENGINE_SHARED || kind == IG_INTERP_OBJECT) {
        is_good = get_reference(reader, finder, out);
    } else if (kind == IG_INTERP_TEXT || kind == IG_INTERP_BYTES) {
        is_good = get_bytes(reader, finder, out);
    } else if (kind == IG_INTERP_TENSOR) {
        is_good = get_tensor(reader, finder, &out->as.tensor);
    } else if (kind == IG_INTERP_LIST || kind == IG_INTERP_TUPLE ||
               kind == IG_INTERP_DICT) {
        is_good = get_items(reader, finder, out, depth);
    } else if (kind >= IG_INTERP_NONE && kind <= IG_INTERP_REAL) {
        is_good = get_leaf(reader, out);
    }
    return is_good && !reader->has_failed;
}

bool ig_wire_get_value(ig_wire_reader *reader, const ig_wire_finder *finder,
                       ig_interp_value *out_value) {
    bool is_good = get_any(reader, finder, out_value, 0);
    if (!is_good) {
        memset(out_value, 0, sizeof *out_value);
    }
    return is_good;
}
