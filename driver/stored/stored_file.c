/* A model whose tables are in stores, as one artifact: two programs, and the places of
 * the tables.  SPDX-License-Identifier: Apache-2.0 */
#include "ingot/stored.h"

#include "driver/compile/nested.h"
#include "ingot/runtime.h"
#include "runtime/stored_format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)IG_STORED_WRAP == (int)IG_STORED_NEGATIVE_WRAP &&
                   (int)IG_STORED_WRONG == (int)IG_STORED_NEGATIVE_WRONG &&
                   (int)IG_STORED_SKIP == (int)IG_STORED_NEGATIVE_SKIP,
               "the artifact's numbers");
_Static_assert((int)IG_STORED_ERROR == (int)IG_STORED_RANGE_ERROR &&
                   (int)IG_STORED_CLAMP == (int)IG_STORED_RANGE_CLAMP &&
                   (int)IG_STORED_FIRST == (int)IG_STORED_RANGE_FIRST,
               "the artifact's numbers");

typedef struct stored_file {
    ig_context *context;
    ig_compilation ids, rows;
    const ig_stored *stored;
    const ig_stored_place *places;
    const char *path;
} stored_file;

/* ---- the list of stores ---- */

static uint32_t put_text(ig_writer *texts, const char *text) {
    uint32_t at = (uint32_t)texts->size;
    ig_put_bytes(texts, text, strlen(text) + 1);
    return at;
}

static uint32_t dtype_code(const char *name) {
    ig_dtype dtype;
    bool is_known = ig_dtype_parse(ig_str_of(name), &dtype);
    assert(is_known && "the name is of ig_dtypes");
    return is_known ? (uint32_t)ig_dtypes[dtype].onnx : 0;
}

static void put_tables(const stored_file *file, ig_writer *out, ig_writer *texts) {
    const ig_stored *stored = file->stored;
    for (size_t i = 0; i < stored->table_count; i++) {
        const ig_stored_table *table = &stored->tables[i];
        ig_stored_table_record record = {
            .rows = table->rows,
            .dim = table->dim,
            .dtype = dtype_code(table->dtype),
            .name = put_text(texts, table->name),
            .url = put_text(texts, file->places[table->named_by].url)
        };
        ig_put_bytes(out, &record, sizeof record);
    }
    for (size_t i = 0; i < stored->lookup_count; i++) {
        const ig_stored_lookup *lookup = &stored->lookups[i];
        ig_stored_lookup_record record = { .padding = lookup->padding,
                                           .table = (uint32_t)lookup->table,
                                           .negative = (uint16_t)lookup->negative,
                                           .range = (uint16_t)lookup->range };
        ig_put_bytes(out, &record, sizeof record);
    }
}

static ig_str make_list(const stored_file *file, ig_arena *arena) {
    ig_writer out, texts;
    ig_stored_header header = { .magic = IG_STORED_MAGIC,
                                .version = IG_FORMAT_VERSION,
                                .input_count = (uint32_t)file->stored->input_count,
                                .table_count = (uint32_t)file->stored->table_count,
                                .lookup_count = (uint32_t)file->stored->lookup_count };
    ig_writer_init(&out, arena);
    ig_writer_init(&texts, arena);
    ig_put_bytes(&out, &header, sizeof header);
    put_tables(file, &out, &texts);
    ig_put_bytes(&out, texts.data, texts.size);
    header.text_bytes = (uint32_t)texts.size;
    memcpy(out.data, &header, sizeof header);
    size_t hashed = offsetof(ig_stored_header, input_count);
    header.hash = ig_artifact_hash(out.data + hashed, out.size - hashed);
    memcpy(out.data, &header, sizeof header);
    return ig_writer_str(&out);
}

/* ---- the artifact ---- */

static ig_status write_stored(void *arguments) {
    stored_file *file = arguments;
    static const char *const names[] = { IG_ENTRY_IDS };
    ig_artifact_entry list = { .name = ig_str_of(IG_ENTRY_STORED),
                               .data = make_list(file, &file->rows.arena) };
    ig_nested nested = { .what = "a model whose tables are in stores",
                         .path = file->path,
                         .outer = &file->rows,
                         .inner = &file->ids,
                         .names = names,
                         .inner_count = 1,
                         .more = &list,
                         .more_count = 1 };
    return ig_nested_write(&nested);
}

static ig_status compile_both(stored_file *file, ig_module *module, ig_module *ids,
                              const ig_compile_options *options) {
    ig_compilation_init(&file->ids, ids, options);
    ig_compilation_init(&file->rows, module, options);
    file->ids.options.weights = IG_WEIGHTS_EMBED;
    ig_status status = ig_driver_guard(module->context, write_stored, file);
    ig_compilation_fini(&file->ids);
    ig_compilation_fini(&file->rows);
    return ig_driver_settle(module->context, status);
}

static ig_status check_url(void *arguments) {
    const stored_file *file = arguments;
    const char *url = file->places->url;
    const char *rest = url ? strstr(url, "://") : NULL;
    return rest && rest != url
               ? IG_OK
               : ig_error_hint(
                     &file->context->diag, IG_INVALID, NULL, "lmdb:///var/lib/rows.mdb",
                     "table '%s' cannot be in a store: a store's URL is TYPE://…",
                     file->places->table);
}

ig_status ig_compile_stored(ig_module *module, const ig_stored_place *places,
                            size_t count, const char *path,
                            const ig_compile_options *options) {
    ig_status status = IG_OK;
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        stored_file one = { .context = module->context, .places = &places[i] };
        status = ig_driver_guard(module->context, check_url, &one);
    }
    if (status != IG_OK) {
        return ig_driver_settle(module->context, status);
    }
    const char **names = calloc(count + 1, sizeof *names);
    if (!names) {
        return IG_LIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = places[i].table;
    }
    stored_file file = { .context = module->context, .places = places, .path = path };
    ig_module *ids = NULL;
    status = ig_module_store(module, names, count, options, &ids, &file.stored);
    if (status == IG_OK) {
        status = compile_both(&file, module, ids, options);
    }
    ig_module_close(ids);
    free(names);
    return status;
}
