/* The pickle machine under libFuzzer: a pickle is refused with words, or gives a value
 * that can be printed and whose tensors can be read.  The first byte chooses the
 * dialect
 * and which names may stand in it.  SPDX-License-Identifier: Apache-2.0
 *
 *     scripts/fuzz --seconds 60 fuzz_pickle
 */
#include "frontend/torch/pickle/pickle.h"

#include "base/writer.h"
#include "tests/fuzz/reach.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- which opcodes a pickle has ---- */

typedef enum argument_form {
    FORM_none,
    FORM_number,
    FORM_signed,
    FORM_real,
    FORM_bytes,
    FORM_line
} argument_form;

static const struct opcode {
    const char *name;
    argument_form form;
    unsigned size;
} opcodes[256] = {
#define OPCODE(byte, name, argument, size, run, value) \
    [byte] = { #name, FORM_##argument, size },
#include "frontend/torch/pickle/opcodes.def"
#undef OPCODE
};

static const char *name_of_opcode(size_t i) {
    return opcodes[i].name;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    ig_fuzz_reach_begin(IG_COUNT_OF(opcodes), name_of_opcode);
    return 0;
}

/* How many bytes follow the opcode that was read. */
static size_t argument_bytes(const struct opcode *row, ig_str rest) {
    uint64_t count = 0;
    if (row->form == FORM_line) {
        const char *end = rest.size ? memchr(rest.data, '\n', rest.size) : NULL;
        return end ? (size_t)(end - rest.data) + 1 : rest.size;
    }
    if (row->form == FORM_bytes && row->size <= rest.size) {
        memcpy(&count, rest.data, row->size);
    }
    return row->size + count;
}

/* Of a pickle that was read to its end. */
static void reach_opcodes(ig_str pickle) {
    for (size_t at = 0; at < pickle.size;) {
        uint8_t byte = (uint8_t)pickle.data[at++];
        ig_fuzz_reach(byte);
        if (byte == '.') {
            return;
        }
        at += argument_bytes(&opcodes[byte],
                             (ig_str){ pickle.data + at, pickle.size - at });
    }
}

static bool allow_all(void *user, ig_str module, ig_str name) {
    (void)user;
    (void)module;
    (void)name;
    return true;
}

/* An archive that holds one storage, "data/0". */
static void make_archive(ig_archive *archive, ig_context *context, ig_arena *arena) {
    static const char storage[64] = "0123456789abcdef";
    *archive = (ig_archive){ .context = context, .arena = arena, .file = "f.pt" };
    archive->bytes = (ig_str){ storage, sizeof(storage) };
    archive->entries = IG_NEW(arena, ig_archive_entry);
    archive->entry_count = 1;
    archive->entries[0] = (ig_archive_entry){ .name = IG_STR("data/0"),
                                              .size = sizeof(storage),
                                              .packed = sizeof(storage) };
    ig_map_init(&archive->names, arena);
    ig_map_set(&archive->names, IG_STR("data/0"), &archive->entries[0]);
}

/* Small ones only: a stride of 0 makes large tensors of small storages. */
static void read_tensor(ig_context *context, ig_arena *arena, const ig_py *value) {
    const ig_py_tensor *tensor = value->as.tensor;
    ig_archive_span span;
    ig_location where = { .file = "f.pt" };
    if (tensor->count < 1 << 16 &&
        ig_py_tensor_bytes(context, arena, tensor, &where, &span) == IG_OK) {
        (void)ig_hash_bytes(span.bytes.data, span.bytes.size, 0);
    }
}

static void use(ig_context *context, ig_arena *arena, const ig_py *value) {
    ig_writer out;
    ig_writer_init(&out, arena);
    ig_py_print(&out, value, 10);
    (void)ig_py_get(value, "weight");
    if (value->kind == IG_PY_TENSOR) {
        read_tensor(context, arena, value);
    }
    for (size_t i = 0; value->kind == IG_PY_LIST && i < value->as.list.count; i++) {
        if (value->as.list.items[i]->kind == IG_PY_TENSOR) {
            read_tensor(context, arena, value->as.list.items[i]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ig_context context;
    if (size == 0) {
        return 0;
    }
    memset(&context, 0, sizeof(context));
    context.limits = ig_limits_default;
    context.limits.pickle_values = 20000;
    ig_arena arena;
    ig_arena_init(&arena, &context.budget);
    ig_archive archive;
    make_archive(&archive, &context, &arena);
    archive.is_big_endian = data[0] & 4;
    ig_pickle_set set;
    ig_pickle_options options = { .file = "f.pt",
                                  .name = "data.pkl",
                                  .storage_prefix = "data/",
                                  .storage_suffix = "",
                                  .is_torchscript = data[0] & 1,
                                  .storages_may_be_empty = data[0] & 8,
                                  .is_allowed = data[0] & 2 ? allow_all : NULL };
    ig_py *value;
    ig_str text = { (const char *)data + 1, size - 1 };
    ig_pickle_set_init(&set, &archive);
    ig_status status = ig_pickle_read(&set, text, &options, &value);
    if (status == IG_INTERNAL || (status == IG_OK) != (value != NULL) ||
        (status != IG_OK && !context.diag.error_count)) {
        abort();
    }
    if (value) {
        reach_opcodes(text);
        use(&context, &arena, value);
    }
    ig_arena_fini(&arena);
    return 0;
}
