/* A module as a text file, with its constants beside it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two files cannot be replaced at once.  That of the constants is named by its content
 * and written first; then the text, which names it, is renamed into place; then older
 * ones go.  So a text is always beside its constants.  It also holds a hash of each, so
 * that it runs with no others. */
#include "driver/host.h"
#include "ir/semantics/used.h"
#include "ir/text/text.h"

#include <string.h>

enum { SHORT_CONSTANT = 256, ALIGNMENT = 64 };

typedef struct text_file {
    ig_module *module; /* the caller's */
    const char *path;
    ig_module *copy;
    const char *weights; /* path of the constants' file */
    IG_VEC(ig_file_part) parts;
    IG_VEC(ig_data *) moved; /* constants that these are, each after a gap */
    int64_t size;            /* of these */
} text_file;

#define WEIGHTS ".weights"

/* Constants that the text can refer to where they are: in a file of its folder. */
static bool stays_there(const text_file *file, const ig_data *data) {
    const char *folder = file->copy->folder;
    return data->file && strncmp(data->file, folder, strlen(folder)) == 0 &&
           strncmp(file->path, folder, strlen(folder)) == 0 &&
           !strchr(file->path + strlen(folder), '/') &&
           !ig_file_is_part(file->path, WEIGHTS, data->file + strlen(folder));
}

static void move_constant(text_file *file, ig_data *data) {
    static const char gap[ALIGNMENT];
    ig_arena *arena = &file->copy->arena;
    int64_t space = -file->size & (ALIGNMENT - 1);
    IG_PUSH(arena, &file->parts, (ig_file_part){ gap, (size_t)space });
    IG_PUSH(arena, &file->parts, (ig_file_part){ data->bytes, (size_t)data->size });
    IG_PUSH(arena, &file->moved, data);
    data->offset = file->size + space;
    file->size = data->offset + data->size;
}

/* Names the constants' file by their bytes and positions. */
static void name_weights(text_file *file) {
    uint64_t hash = 0;
    for (size_t i = 0; i < file->parts.count; i++) {
        ig_file_part part = file->parts.items[i];
        hash = ig_hash_bytes(part.data, part.size, hash);
    }
    file->weights = ig_arena_printf(&file->copy->arena, "%s.%016llx" WEIGHTS,
                                    file->path, (unsigned long long)hash);
    for (size_t i = 0; i < file->moved.count; i++) {
        file->moved.items[i]->file = file->weights;
    }
}

/* The copy is only printed. */
static void drop_unused(text_file *file) {
    ig_module *copy = file->copy;
    ig_map used;
    size_t kept = 0;
    ig_used_list(copy, &copy->arena, &used);
    for (size_t i = 0; i < copy->weights.count; i++) {
        ig_weight *weight = copy->weights.items[i];
        if (ig_map_get_id(&used, IG_MAP_PTR(weight))) {
            copy->weights.items[kept++] = weight;
        }
    }
    copy->weights.count = kept;
}

static ig_status report_write(const text_file *file, ig_status status,
                              const char *why) {
    ig_location where = { .file = file->path };
    return ig_error(&file->module->context->diag, status, &where,
                    "cannot be written: %s", why);
}

static ig_status write_files(void *arguments) {
    text_file *file = arguments;
    char why[256] = "";
    ig_module *copy = file->copy = ig_module_clone(file->module);
    ig_arena *arena = &copy->arena;
    const char *slash = strrchr(file->path, '/');
    size_t folder = slash ? (size_t)(slash - file->path) + 1 : 0;
    copy->folder = ig_arena_copy(arena, file->path, folder);
    drop_unused(file);
    for (size_t i = 0; i < copy->weights.count; i++) {
        ig_weight *weight = copy->weights.items[i];
        bool is_long = !weight->is_recipe && !weight->data.is_splat &&
                       weight->data.bytes && weight->data.size >= SHORT_CONSTANT;
        if (is_long && !stays_there(file, &weight->data)) {
            move_constant(file, &weight->data);
        } else if (!is_long) {
            weight->data.file = NULL;
        }
    }
    name_weights(file);
    ig_writer text;
    ig_writer_init(&text, arena);
    ig_print_options options = { .file_hashes = true };
    ig_print_module_with(copy, &options, &text);
    if (file->parts.count) {
        ig_status status = ig_file_publish(file->weights, file->parts.items,
                                           file->parts.count, why);
        if (status != IG_OK) {
            return report_write(file, status, why);
        }
    }
    ig_str all = ig_writer_str(&text);
    ig_file_part part = { all.data, all.size };
    ig_status status = ig_file_publish(file->path, &part, 1, why);
    if (status != IG_OK) {
        return report_write(file, status, why);
    }
    ig_file_remove_parts(file->path, WEIGHTS, file->weights);
    return IG_OK;
}

ig_status ig_module_write(ig_module *module, const char *path) {
    text_file file = { .module = module, .path = path };
    ig_status status = ig_driver_guard(module->context, write_files, &file);
    ig_module_close(file.copy);
    return ig_driver_settle(module->context, status);
}
