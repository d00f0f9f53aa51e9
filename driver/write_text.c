/* A module as a text file, with its constants beside it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two files cannot be replaced at once.  The text holds a hash of each constant that
 * lies in a file, so that a text of one writing does not run with the constants of
 * another. */
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
    int64_t size; /* of these */
} text_file;

/* Constants that the text can refer to where they are: in a file of its folder. */
static bool stays_there(const text_file *file, const ig_data *data) {
    const char *folder = file->copy->folder;
    return data->file && strncmp(data->file, folder, strlen(folder)) == 0 &&
           strncmp(file->path, folder, strlen(folder)) == 0 &&
           !strchr(file->path + strlen(folder), '/') &&
           strcmp(data->file, file->weights) != 0;
}

static void move_constant(text_file *file, ig_data *data) {
    static const char gap[ALIGNMENT];
    ig_arena *arena = &file->copy->arena;
    int64_t space = -file->size & (ALIGNMENT - 1);
    IG_PUSH(arena, &file->parts, (ig_file_part){ gap, (size_t)space });
    IG_PUSH(arena, &file->parts, (ig_file_part){ data->bytes, (size_t)data->size });
    data->file = file->weights;
    data->offset = file->size + space;
    file->size = data->offset + data->size;
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
    file->weights = ig_arena_printf(arena, "%s.weights", file->path);
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
    return status == IG_OK ? IG_OK : report_write(file, status, why);
}

ig_status ig_module_write(ig_module *module, const char *path) {
    text_file file = { .module = module, .path = path };
    ig_status status = ig_host_guard(module->context, write_files, &file);
    ig_module_close(file.copy);
    return ig_host_settle(module->context, status);
}
