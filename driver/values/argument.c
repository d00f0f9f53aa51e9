/* Values of calls: files, owners, and the way to and from the tensors of ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/values/argument.h"

#include "frontend/onnx/read/onnx_tensor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- owners ---- */

ig_arguments *ig_arguments_create(ig_context *context) {
    ig_arguments *arguments = calloc(1, sizeof *arguments);
    if (arguments) {
        arguments->context = context;
        ig_arena_init(&arguments->arena, &context->budget);
    }
    return arguments;
}

void ig_arguments_close(ig_arguments *arguments) {
    if (arguments) {
        ig_arena_fini(&arguments->arena);
        free(arguments);
    }
}

void ig_arguments_add(ig_arguments *arguments, const char *name,
                      const ig_tensor *tensor) {
    assert(arguments->items.count == arguments->names.count &&
           "every value has a name");
    ig_argument value;
    ig_argument_of_tensor(&arguments->arena, tensor, &value);
    IG_PUSH(&arguments->arena, &arguments->items, value);
    IG_PUSH(&arguments->arena, &arguments->names,
            ig_arena_strdup(&arguments->arena, name));
}

size_t ig_arguments_count(const ig_arguments *arguments) {
    return arguments->items.count;
}

const ig_argument *ig_arguments_at(const ig_arguments *arguments, size_t index) {
    return index < arguments->items.count ? &arguments->items.items[index] : NULL;
}

const char *ig_arguments_name(const ig_arguments *arguments, size_t index) {
    return index < arguments->names.count ? arguments->names.items[index] : "";
}

/* The texts too: who made them may be gone before they are read. */
static const char **copy_texts(ig_arena *arena, const ig_tensor *from) {
    const char *const *texts = from->data;
    const char **copies = IG_NEW_ARRAY(arena, const char *, (size_t)from->count);
    for (int64_t i = 0; i < from->count; i++) {
        copies[i] = ig_arena_strdup(arena, texts[i] ? texts[i] : "");
    }
    return copies;
}

/* ---- to and from tensors ---- */

static const struct {
    ig_argument_kind outside;
    ig_kind inside;
} kinds[] = {
    { IG_ARGUMENT_TENSOR, IG_TENSOR },
    { IG_ARGUMENT_LIST, IG_SEQUENCE },
    { IG_ARGUMENT_OPTIONAL, IG_OPTIONAL },
};

static ig_status list_to_tensor(ig_context *context, ig_arena *arena,
                                const ig_argument *from, ig_tensor *out) {
    assert(kinds[from->kind].outside == from->kind &&
           "the table has the order of the public kinds");
    *out = (ig_tensor){ .kind = kinds[from->kind].inside,
                        .count = (int64_t)from->item_count };
    out->items = IG_NEW_ARRAY(arena, ig_tensor, from->item_count);
    for (size_t i = 0; i < from->item_count; i++) {
        bool is_nested = from->items[i].kind != IG_ARGUMENT_TENSOR;
        if (is_nested && (from->kind != IG_ARGUMENT_OPTIONAL ||
                          from->items[i].kind != IG_ARGUMENT_LIST)) {
            return ig_error(&context->diag, IG_UNSUPPORTED, NULL,
                            "lists of lists are not supported yet");
        }
        IG_TRY(ig_argument_to_tensor(context, arena, &from->items[i], &out->items[i]));
    }
    return IG_OK;
}

ig_status ig_argument_to_tensor(ig_context *context, ig_arena *arena,
                                const ig_argument *from, ig_tensor *out) {
    if ((size_t)from->kind >= IG_COUNT_OF(kinds)) {
        return ig_error(&context->diag, IG_INVALID, NULL, "a value of an unknown kind");
    }
    if (from->kind != IG_ARGUMENT_TENSOR) {
        return list_to_tensor(context, arena, from, out);
    }
    ig_dtype dtype;
    if (!ig_dtype_parse(ig_str_of(from->dtype), &dtype)) {
        return ig_error(&context->diag, IG_INVALID, NULL, "there is no dtype '%s'",
                        from->dtype ? from->dtype : "");
    }
    if (from->rank > IG_TENSOR_RANK) {
        return ig_error(&context->diag, IG_LIMIT, NULL, "rank %u is above %d",
                        from->rank, IG_TENSOR_RANK);
    }
    *out = (ig_tensor){ .kind = IG_TENSOR,
                        .dtype = dtype,
                        .rank = from->rank,
                        .count = 1,
                        .data = (void *)(uintptr_t)from->data };
    for (uint32_t d = 0; d < from->rank; d++) {
        out->dims[d] = from->dims[d];
        out->count *= from->dims[d];
    }
    return IG_OK;
}

void ig_argument_of_tensor(ig_arena *arena, const ig_tensor *from, ig_argument *out) {
    *out = (ig_argument){ .kind = IG_ARGUMENT_TENSOR };
    if (from->kind == IG_SEQUENCE || from->kind == IG_OPTIONAL) {
        out->kind = from->kind == IG_SEQUENCE ? IG_ARGUMENT_LIST : IG_ARGUMENT_OPTIONAL;
        out->item_count = (size_t)from->count;
        ig_argument *items = IG_NEW_ARRAY(arena, ig_argument, out->item_count);
        for (size_t i = 0; i < out->item_count; i++) {
            ig_argument_of_tensor(arena, &from->items[i], &items[i]);
        }
        out->items = items;
        return;
    }
    assert(from->rank <= IG_TENSOR_RANK && "tensors have no more dims");
    int64_t *dims = IG_NEW_ARRAY(arena, int64_t, from->rank);
    memcpy(dims, from->dims, from->rank * sizeof *dims);
    out->dtype = ig_dtypes[from->dtype].name;
    out->rank = from->rank;
    out->dims = dims;
    out->data = from->dtype == IG_DT_str ? (const void *)copy_texts(arena, from)
                                         : from->data;
    out->size = (size_t)ig_tensor_bytes(from);
}

double ig_argument_number(const ig_argument *tensor, size_t index) {
    ig_tensor view = { .kind = IG_TENSOR,
                       .rank = 1,
                       .count = INT64_MAX,
                       .data = (void *)(uintptr_t)tensor->data };
    if (!ig_dtype_parse(ig_str_of(tensor->dtype), &view.dtype)) {
        return 0;
    }
    return ig_tensor_get_f64(&view, (int64_t)index);
}

const char *ig_dtype_text(int32_t code) {
    ig_dtype dtype;
    return ig_dtype_from_onnx(code, &dtype) ? ig_dtypes[dtype].name : NULL;
}

int32_t ig_dtype_number(const char *text) {
    ig_dtype dtype;
    return ig_dtype_parse(ig_str_of(text), &dtype) ? ig_dtypes[dtype].onnx : 0;
}

bool ig_declared_type(const char *type, ig_kind *out_kind, ig_dtype *out_dtype) {
    ig_str rest = ig_str_of(type);
    *out_kind = ig_str_starts(rest, "seq<")   ? IG_SEQUENCE
                : ig_str_starts(rest, "opt<") ? IG_OPTIONAL
                                              : IG_TENSOR;
    while (ig_str_starts(rest, "seq<") || ig_str_starts(rest, "opt<")) {
        rest = (ig_str){ rest.data + 4, rest.size - 4 };
    }
    size_t length = 0;
    while (length < rest.size && !strchr("[<>", rest.data[length])) {
        length++;
    }
    return ig_dtype_parse((ig_str){ rest.data, length }, out_dtype);
}

/* ---- reading ---- */

typedef struct argument_call {
    ig_context *context;
    const char *text, *type; /* text: a value, or a path */
    ig_arguments *arguments;
    ig_file_map map;
    const ig_argument *values; /* to be written */
    const char *const *names;
    size_t count;
    ig_arena arena;
} argument_call;

static ig_status map_file(argument_call *call, const char *path) {
    char why[128];
    ig_status status = ig_file_map_open(path, &call->map, why);
    if (status == IG_OK) {
        return IG_OK;
    }
    ig_location where = { .file = path };
    return ig_error(&call->context->diag, status, &where, "cannot read: %s", why);
}

ig_status ig_argument_read(ig_context *context, ig_arena *arena, const char *file,
                           ig_str bytes, ig_value_want want, ig_tensor *out) {
    bool is_npy = ig_str_starts(bytes, "\x93NUMPY") ||
                  ig_str_ends(ig_str_of(file), ".npy");
    return is_npy ? ig_npy_read(context, arena, file, bytes, want.dtype, out)
                  : ig_onnx_tensor_read(context, arena, file, bytes, want.kind, out);
}

static ig_status parse_items(argument_call *call, ig_kind kind, const char *type,
                             ig_tensor *out);

/* The type of the items of a list, or of an optional's value. */
static const char *item_type(ig_arena *arena, const char *type, ig_dtype dtype) {
    bool is_list = ig_str_starts(ig_str_of(type), "opt<seq<");
    return ig_arena_printf(arena, "%s%s[]%s", is_list ? "seq<" : "",
                           ig_dtypes[dtype].name, is_list ? ">" : "");
}

/* Lists hold no lists, and optionals lists at most, so this goes three deep. */
static ig_status parse_text(argument_call *call, const char *text, const char *type,
                            ig_tensor *out) {
    ig_kind kind = IG_TENSOR;
    ig_dtype dtype = IG_DT_COUNT;
    if (!ig_declared_type(type, &kind, &dtype)) {
        kind = IG_TENSOR;
        dtype = IG_DT_COUNT;
    }
    if (text[0] == '@' && !text[1]) {
        return ig_error_hint(&call->context->diag, IG_INVALID, NULL,
                             "a value of a file is @FILE.npy or @FILE.pb",
                             "'@' names no file");
    }
    if (text[0] == '@') {
        ig_file_map_close(&call->map);
        IG_TRY(map_file(call, text + 1));
        ig_str bytes = { call->map.data, call->map.size };
        return ig_argument_read(call->context, &call->arguments->arena, text + 1, bytes,
                                (ig_value_want){ kind, dtype }, out);
    }
    bool is_list = kind != IG_TENSOR && (text[0] == '[' || strcmp(text, "null") == 0);
    ig_arena *arena = &call->arguments->arena;
    if (!is_list) {
        return ig_argument_parse(call->context, arena, text, type, out);
    }
    call->text = text;
    return parse_items(call, kind, item_type(arena, type, dtype), out);
}

static ig_status parse_items(argument_call *call, ig_kind kind, const char *type,
                             ig_tensor *out) {
    ig_arena *arena = &call->arguments->arena;
    const char *const *items = NULL;
    size_t count = 0;
    IG_TRY(ig_argument_split(call->context, arena, call->text, &items, &count));
    *out = (ig_tensor){ .kind = kind,
                        .count = (int64_t)count,
                        .items = IG_NEW_ARRAY(arena, ig_tensor, count) };
    for (size_t i = 0; i < count; i++) {
        IG_TRY(parse_text(call, items[i], type, &out->items[i]));
    }
    return IG_OK;
}

static ig_status parse_value(void *arguments) {
    argument_call *call = arguments;
    ig_tensor value;
    IG_TRY(parse_text(call, call->text, call->type, &value));
    ig_arguments_add(call->arguments, "", &value);
    return IG_OK;
}

static ig_status read_archive(void *arguments) {
    argument_call *call = arguments;
    IG_TRY(map_file(call, call->text));
    return ig_npz_read(call->arguments, call->text,
                       (ig_str){ call->map.data, call->map.size });
}

static ig_status run_reading(argument_call *call, ig_status (*work)(void *),
                             ig_arguments **out_arguments) {
    *out_arguments = NULL;
    call->arguments = ig_arguments_create(call->context);
    if (!call->arguments) {
        return ig_error(&call->context->diag, IG_LIMIT, NULL, "memory ran out");
    }
    ig_status status = ig_driver_guard(call->context, work, call);
    ig_file_map_close(&call->map);
    if (status != IG_OK) {
        ig_arguments_close(call->arguments);
        return ig_driver_settle(call->context, status);
    }
    *out_arguments = call->arguments;
    return IG_OK;
}

ig_status ig_arguments_parse(ig_context *context, const char *text, const char *type,
                             ig_arguments **out_arguments) {
    argument_call call = { .context = context, .text = text, .type = type };
    return run_reading(&call, parse_value, out_arguments);
}

ig_status ig_arguments_open(ig_context *context, const char *path,
                            ig_arguments **out_arguments) {
    argument_call call = { .context = context, .text = path };
    return run_reading(&call, read_archive, out_arguments);
}

/* ---- writing ---- */

static ig_status publish_file(argument_call *call, ig_str bytes) {
    char why[128];
    ig_file_part part = { bytes.data, bytes.size };
    ig_status status = ig_file_publish(call->text, &part, 1, why);
    if (status == IG_OK) {
        return IG_OK;
    }
    ig_location where = { .file = call->text };
    return ig_error(&call->context->diag, status, &where, "cannot write: %s", why);
}

static ig_status write_archive(argument_call *call) {
    ig_npz_entry *entries = IG_NEW_ARRAY(&call->arena, ig_npz_entry, call->count);
    for (size_t i = 0; i < call->count; i++) {
        ig_tensor tensor;
        ig_writer out;
        ig_writer_init(&out, &call->arena);
        IG_TRY(ig_argument_to_tensor(call->context, &call->arena, &call->values[i],
                                     &tensor));
        IG_TRY(ig_npy_write(call->context, call->text, &tensor, &out));
        entries[i] = (ig_npz_entry){
            ig_arena_printf(&call->arena, "%s.npy", call->names[i]), ig_writer_str(&out)
        };
    }
    ig_str bytes;
    IG_TRY(ig_npz_write(call->context, &call->arena, call->text, entries, call->count,
                        &bytes));
    return publish_file(call, bytes);
}

static ig_status write_values(void *arguments) {
    argument_call *call = arguments;
    ig_str path = ig_str_of(call->text);
    ig_location where = { .file = call->text };
    if (ig_str_ends(path, ".npz")) {
        return write_archive(call);
    }
    bool is_npy = ig_str_ends(path, ".npy");
    if ((!is_npy && !ig_str_ends(path, ".pb")) || call->count != 1) {
        return ig_error_hint(
            &call->context->diag, IG_UNSUPPORTED, &where,
            "one value goes into a .npy or .pb file, several into .npz",
            "%zu values cannot be written to this file", call->count);
    }
    ig_tensor tensor;
    ig_writer out;
    ig_writer_init(&out, &call->arena);
    IG_TRY(ig_argument_to_tensor(call->context, &call->arena, call->values, &tensor));
    const char *name = call->names ? call->names[0] : "";
    IG_TRY(is_npy ? ig_npy_write(call->context, call->text, &tensor, &out)
                  : ig_onnx_tensor_write(call->context, &tensor, name, &out));
    return publish_file(call, ig_writer_str(&out));
}

ig_status ig_arguments_write(ig_context *context, const char *path,
                             const ig_argument *arguments, const char *const *names,
                             size_t count) {
    argument_call call = { .context = context,
                           .text = path,
                           .values = arguments,
                           .names = names,
                           .count = count };
    ig_arena_init(&call.arena, &context->budget);
    ig_status status = ig_driver_guard(context, write_values, &call);
    ig_arena_fini(&call.arena);
    return ig_driver_settle(context, status);
}
