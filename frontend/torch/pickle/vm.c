/* Runs a pickle: reads opcodes and their arguments.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pickle pushes and combines values on a stack; MARK notes a height, PUT and GET keep
 * values by number.  An opcode is a row of opcodes.def: how to read its operand, and
 * its function.  Every step consumes at least one byte and makes at most one value (or
 * takes several together), so time and memory are bounded by the size of the pickle.
 */
#include "frontend/torch/pickle/vm.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ig_status ig_pickle_fail(const ig_pickle_vm *vm, ig_status status, const char *format,
                         ...) {
    char message[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    ig_location where = { .file = vm->options->file, .graph = vm->options->name };
    const char *hint = status == IG_INVALID
                           ? "the file is damaged, hostile or not made by PyTorch"
                           : NULL;
    return ig_error_hint(&vm->set->context->diag, status, &where, hint,
                         "byte %zu (%s): %s", vm->begin, vm->opcode, message);
}

ig_status ig_pickle_error_limit(const ig_pickle_vm *vm, ig_limit_id id,
                                const char *subject) {
    ig_context *context = vm->set->context;
    ig_location where = { .file = vm->options->file, .graph = vm->options->name };
    return ig_error_limit(&context->diag, &where, &context->limits, id,
                          "byte %zu (%s): %s", vm->begin, vm->opcode, subject);
}

/* ---- values under construction ---- */

ig_status ig_pickle_new(ig_pickle_vm *vm, ig_py_kind kind, ig_py **out_value) {
    assert(kind < IG_PY_KIND_COUNT && "values have one of our kinds");
    int64_t max = vm->set->context->limits.pickle_values;
    if (vm->set->value_count >= (uint64_t)max) {
        return ig_pickle_error_limit(vm, IG_LIMIT_pickle_values, "the count of values");
    }
    ig_py *value = IG_NEW(vm->arena, ig_py);
    value->kind = kind;
    value->id = vm->set->value_count++;
    value->offset = vm->begin;
    *out_value = value;
    return IG_OK;
}

enum { FIRST_CAPACITY = 4 };

/* `items` with room for one more after `count`. */
static ig_py **make_room(ig_pickle_vm *vm, ig_py **items, size_t count) {
    bool is_full = count == 0 || (count >= FIRST_CAPACITY && !(count & (count - 1)));
    if (!is_full) {
        return items;
    }
    size_t capacity = count ? 2 * count : FIRST_CAPACITY;
    ig_py **more = IG_NEW_ARRAY(vm->arena, ig_py *, capacity);
    if (count) {
        memcpy(more, items, count * sizeof(*items));
    }
    return more;
}

void ig_pickle_append(ig_pickle_vm *vm, ig_py *list, ig_py *item) {
    assert((list->kind == IG_PY_LIST || list->kind == IG_PY_TUPLE ||
            list->kind == IG_PY_SET) &&
           "only lists, tuples and sets hold items");
    assert(item && "items are values, None too");
    list->as.list.items = make_room(vm, list->as.list.items, list->as.list.count);
    list->as.list.items[list->as.list.count++] = item;
}

/* The last of equal keys wins in Python; readers look from the end. */
void ig_pickle_insert(ig_pickle_vm *vm, ig_py *dict, ig_py *key, ig_py *value) {
    assert(dict->kind == IG_PY_DICT && "only dicts hold keys");
    assert(key && value && "keys and values are values, None too");
    size_t count = dict->as.dict.count;
    dict->as.dict.keys = make_room(vm, dict->as.dict.keys, count);
    dict->as.dict.values = make_room(vm, dict->as.dict.values, count);
    dict->as.dict.keys[count] = key;
    dict->as.dict.values[count] = value;
    dict->as.dict.count = count + 1;
}

/* ---- arguments ---- */

static ig_status fail_end(const ig_pickle_vm *vm) {
    return ig_pickle_fail(vm, IG_INVALID, "the pickle ends inside its argument");
}

static ig_status take_bytes(ig_pickle_vm *vm, uint64_t size,
                            const unsigned char **out) {
    assert(vm->at <= vm->bytes.size && "the cursor stays in the pickle");
    *out = (const unsigned char *)vm->bytes.data;
    if (size > vm->bytes.size - vm->at) {
        return fail_end(vm);
    }
    *out = (const unsigned char *)vm->bytes.data + vm->at;
    vm->at += size;
    return IG_OK;
}

static ig_status read_unsigned(ig_pickle_vm *vm, unsigned size, uint64_t *out) {
    assert(size <= sizeof(*out) && "a number of an opcode has at most 8 bytes");
    const unsigned char *bytes;
    IG_TRY(take_bytes(vm, size, &bytes));
    *out = 0;
    for (unsigned i = 0; i < size; i++) {
        *out |= (uint64_t)bytes[i] << (8 * i);
    }
    return IG_OK;
}

static ig_status read_none(ig_pickle_vm *vm, unsigned size) {
    (void)vm;
    (void)size;
    return IG_OK;
}

static ig_status read_number(ig_pickle_vm *vm, unsigned size) {
    uint64_t number;
    IG_TRY(read_unsigned(vm, size, &number));
    vm->number = (int64_t)number;
    return IG_OK;
}

static ig_status read_signed(ig_pickle_vm *vm, unsigned size) {
    assert(size == 4 && "only BININT is signed");
    IG_TRY(read_number(vm, size));
    vm->number = (int32_t)(uint32_t)vm->number;
    return IG_OK;
}

/* Eight bytes, the highest first: pickle's one big-endian number. */
static ig_status read_real(ig_pickle_vm *vm, unsigned size) {
    const unsigned char *bytes;
    uint64_t bits = 0;
    IG_TRY(take_bytes(vm, size, &bytes));
    for (unsigned i = 0; i < size; i++) {
        bits = bits << 8 | bytes[i];
    }
    memcpy(&vm->real, &bits, sizeof(bits));
    return IG_OK;
}

static ig_status read_bytes(ig_pickle_vm *vm, unsigned size) {
    uint64_t count;
    const unsigned char *bytes;
    IG_TRY(read_unsigned(vm, size, &count));
    IG_TRY(take_bytes(vm, count, &bytes));
    vm->text = (ig_str){ (const char *)bytes, (size_t)count };
    return IG_OK;
}

ig_status ig_pickle_line(ig_pickle_vm *vm, ig_str *out_line) {
    assert(vm->at <= vm->bytes.size && "the cursor stays in the pickle");
    const char *begin = vm->bytes.data + vm->at;
    size_t rest = vm->bytes.size - vm->at;
    const char *end = rest ? memchr(begin, '\n', rest) : NULL;
    if (!end) {
        return fail_end(vm);
    }
    *out_line = (ig_str){ begin, (size_t)(end - begin) };
    vm->at += out_line->size + 1;
    return IG_OK;
}

static ig_status read_line(ig_pickle_vm *vm, unsigned size) {
    (void)size;
    return ig_pickle_line(vm, &vm->text);
}

/* ---- the loop ---- */

static const ig_pickle_opcode opcodes[256] = {
#define OPCODE(byte, name, argument, size, run, value) \
    [byte] = { #name, read_##argument, size, ig_pickle_run_##run, value },
#include "frontend/torch/pickle/opcodes.def"
#undef OPCODE
};

static ig_status run_opcodes(ig_pickle_vm *vm) {
    while (!vm->is_done) {
        vm->begin = vm->at;
        vm->opcode = "end";
        if (vm->at >= vm->bytes.size) {
            return ig_pickle_fail(vm, IG_INVALID, "the pickle has no STOP");
        }
        unsigned char byte = (unsigned char)vm->bytes.data[vm->at++];
        const ig_pickle_opcode *row = &opcodes[byte];
        vm->opcode = row->name ? row->name : "?";
        if (!row->name) {
            return ig_pickle_fail(vm, IG_INVALID, "byte 0x%02x is not an opcode", byte);
        }
        if ((vm->at & 1023) == 0) {
            IG_TRY(ig_context_poll(vm->set->context));
        }
        vm->value = row->value;
        IG_TRY(row->read(vm, row->size));
        IG_TRY(row->run(vm));
    }
    return IG_OK;
}

void ig_pickle_set_init_bare(ig_pickle_set *set, ig_context *context, ig_arena *arena) {
    *set = (ig_pickle_set){ .context = context, .arena = arena };
    ig_map_init(&set->storages, arena);
    ig_map_init(&set->reduced, arena);
}

void ig_pickle_set_init(ig_pickle_set *set, ig_archive *archive) {
    ig_pickle_set_init_bare(set, archive->context, archive->arena);
    set->archive = archive;
}

static ig_status read_all(ig_pickle_vm *vm, ig_py **out_value) {
    ig_map_init(&vm->memo, vm->arena);
    IG_PUSH(vm->arena, &vm->stack, NULL); /* so that there are items to point at */
    vm->stack.count = 0;
    IG_TRY(run_opcodes(vm));
    assert(vm->stack.count > 0 && vm->marks.count == 0 && "STOP checked the stack");
    IG_TRY(ig_pickle_check(vm, IG_LAST(&vm->stack)));
    *out_value = IG_LAST(&vm->stack);
    return IG_OK;
}

ig_status ig_pickle_read(ig_pickle_set *set, ig_str bytes,
                         const ig_pickle_options *options, ig_py **out_value) {
    ig_pickle_vm vm = {
        .set = set, .options = options, .arena = set->arena, .bytes = bytes
    };
    *out_value = NULL;
    return read_all(&vm, out_value);
}

ig_status ig_pickle_read_torchscript(ig_pickle_set *set, const char *folder,
                                     const char *name, ig_py **out_value) {
    assert(set->archive && "the set was made for an archive");
    assert(ig_str_ends(ig_str_of(name), ".pkl") &&
           "the stem of the name is the folder of its storages");
    ig_arena *arena = set->arena;
    const char *path = ig_arena_printf(arena, "%s%s", folder, name);
    ig_archive_entry *entry;
    ig_str bytes;
    *out_value = NULL;
    IG_TRY(ig_archive_need(set->archive, ig_str_of(path), &entry));
    IG_TRY(ig_archive_read_text(set->archive, entry, &bytes));
    size_t stem = strlen(name) - strlen(".pkl");
    bool is_packaged = folder[0] != '\0';
    ig_pickle_options options = {
        .file = set->archive->file,
        .name = path,
        .storage_prefix =
            is_packaged ? ".data/" : ig_arena_printf(arena, "%.*s/", (int)stem, name),
        .storage_suffix = "",
        .is_torchscript = true,
        .storages_may_be_empty = strcmp(name, "traced_inputs.pkl") == 0,
    };
    return ig_pickle_read(set, bytes, &options, out_value);
}
