/* Archives of numpy arrays, through libzip.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libzip stays on malloc and knows no arena: nothing here may unwind while an archive
 * is open, so its memory is checked (ig_arena_try_alloc) and its arrays are parsed
 * after it is closed.  It sees no file either, only memory: files are read and written
 * here as all others are.  Where it gets no memory it may say that an archive is
 * damaged; errno, which we clear before, tells the two apart.
 */
#include "driver/values/argument.h"

#include "base/zip_format.h"

#include <errno.h>
#include <string.h>
#include <zip.h>

enum { MAX_ENTRIES = 65535 };

static ig_status report_failure(ig_context *context, const char *path, ig_status status,
                                const char *what, const char *why) {
    ig_location where = { .file = path };
    return ig_error(&context->diag, status, &where, "%s%s%s", what, why ? ": " : "",
                    why ? why : "");
}

static ig_status report_memory(ig_context *context, const char *path) {
    return report_failure(context, path, IG_LIMIT, "no memory for its arrays", NULL);
}

/* What libzip says: it has no memory, or `usual`. */
static ig_status report_zip(ig_context *context, const char *path, ig_status usual,
                            const char *what, zip_error_t *error) {
    return errno == ENOMEM
               ? report_memory(context, path)
               : report_failure(context, path, usual, what, zip_error_strerror(error));
}

/* ---- reading ---- */

typedef struct entry_bytes {
    const char *name;
    ig_str bytes;
} entry_bytes;

static const char *plain_name(ig_arena *arena, const char *name) {
    size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".npy") == 0) {
        length -= 4;
    }
    char *copy = ig_arena_try_alloc(arena, length + 1);
    if (copy) {
        memcpy(copy, name, length);
        copy[length] = '\0';
    }
    return copy;
}

static ig_status read_entry(ig_arguments *to, const char *path, zip_t *archive,
                            zip_uint64_t index, entry_bytes *out) {
    zip_stat_t facts;
    if (zip_stat_index(archive, index, 0, &facts) != 0 ||
        !(facts.valid & ZIP_STAT_SIZE) || !(facts.valid & ZIP_STAT_NAME)) {
        return report_failure(to->context, path, IG_INVALID, "an entry is damaged",
                              NULL);
    }
    if (facts.size > (uint64_t)to->context->limits.interpret_bytes) {
        return report_failure(to->context, path, IG_LIMIT, "an entry is too large",
                              facts.name);
    }
    char *data = ig_arena_try_alloc(&to->arena, (size_t)facts.size);
    out->name = plain_name(&to->arena, facts.name);
    if (!data || !out->name) {
        return report_memory(to->context, path);
    }
    zip_file_t *file = zip_fopen_index(archive, index, 0);
    zip_int64_t got = file ? zip_fread(file, data, facts.size) : -1;
    bool is_whole = file && zip_fclose(file) == 0 && got == (zip_int64_t)facts.size;
    out->bytes = (ig_str){ data, (size_t)facts.size };
    if (is_whole) {
        return IG_OK;
    }
    return errno == ENOMEM ? report_memory(to->context, path)
                           : report_failure(to->context, path, IG_INVALID,
                                            "an entry cannot be read", facts.name);
}

static ig_status read_entries(ig_arguments *to, const char *path, zip_t *archive,
                              entry_bytes **out, size_t *out_count) {
    zip_int64_t count = zip_get_num_entries(archive, 0);
    if (count < 0 || count > MAX_ENTRIES) {
        return report_failure(to->context, path, IG_LIMIT, "too many arrays", NULL);
    }
    *out = ig_arena_try_alloc(&to->arena, ((size_t)count + 1) * sizeof **out);
    if (!*out) {
        return report_memory(to->context, path);
    }
    for (zip_int64_t i = 0; i < count; i++) {
        IG_TRY(read_entry(to, path, archive, (zip_uint64_t)i, &(*out)[i]));
        ++*out_count;
    }
    return IG_OK;
}

ig_status ig_npz_read(ig_arguments *arguments, const char *path, ig_str bytes) {
    zip_error_t error;
    errno = 0;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes.data, bytes.size, 0, &error);
    int flags = ZIP_RDONLY | ZIP_CHECKCONS;
    zip_t *archive = source ? zip_open_from_source(source, flags, &error) : NULL;
    if (!archive) {
        zip_source_free(source);
        ig_status status = report_zip(arguments->context, path, IG_INVALID,
                                      "cannot read", &error);
        zip_error_fini(&error);
        return status;
    }
    zip_error_fini(&error);
    entry_bytes *entries = NULL;
    size_t count = 0;
    ig_status status = read_entries(arguments, path, archive, &entries, &count);
    zip_discard(archive);
    for (size_t i = 0; i < count && status == IG_OK; i++) {
        ig_tensor tensor;
        status = ig_npy_read(arguments->context, &arguments->arena, path,
                             entries[i].bytes, IG_DT_COUNT, &tensor);
        if (status == IG_OK) {
            ig_arguments_add(arguments, entries[i].name, &tensor);
        }
    }
    return status;
}

/* ---- writing ---- */

static bool add_entry(zip_t *archive, const ig_npz_entry *entry) {
    zip_source_t *source = zip_source_buffer(archive, entry->bytes.data,
                                             entry->bytes.size, 0);
    zip_int64_t index =
        source ? zip_file_add(archive, entry->file, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    /* The same arrays make the same file: every entry is of 1980-01-01, as numpy's
     * are. */
    enum { FIRST_DAY = 1 << 5 | 1 };
    return zip_file_set_dostime(archive, (zip_uint64_t)index, 0, FIRST_DAY, 0) == 0 &&
           zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0;
}

static bool add_entries(zip_t *archive, const ig_npz_entry *entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!add_entry(archive, &entries[i])) {
            return false;
        }
    }
    return true;
}

/* The bytes written into the source; NULL: no memory. */
static const char *take_bytes(zip_source_t *source, ig_arena *arena, size_t *out_size) {
    zip_stat_t facts;
    char *bytes = NULL;
    if (zip_source_stat(source, &facts) != 0 || zip_source_open(source) != 0) {
        return NULL;
    }
    *out_size = (size_t)facts.size;
    bytes = ig_arena_try_alloc(arena, *out_size);
    if (bytes && zip_source_read(source, bytes, facts.size) != (zip_int64_t)*out_size) {
        bytes = NULL;
    }
    zip_source_close(source);
    return bytes;
}

/* An archive of nothing: libzip makes no file of it. */
static const char no_entries[IG_ZIP_END_BYTES] = "PK\5\6";

ig_status ig_npz_write(ig_context *context, ig_arena *arena, const char *path,
                       const ig_npz_entry *entries, size_t count, ig_str *out) {
    zip_error_t error;
    errno = 0;
    zip_error_init(&error);
    *out = (ig_str){ no_entries, sizeof no_entries };
    if (count == 0) {
        return IG_OK;
    }
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_TRUNCATE, &error) : NULL;
    if (!archive) {
        zip_source_free(source);
        ig_status status = report_zip(context, path, IG_INTERNAL, "cannot write",
                                      &error);
        zip_error_fini(&error);
        return status;
    }
    zip_error_fini(&error);
    zip_source_keep(source); /* beyond the archive: the bytes are in it */
    if (!add_entries(archive, entries, count) || zip_close(archive) != 0) {
        ig_status status = report_zip(context, path, IG_INTERNAL, "cannot write",
                                      zip_get_error(archive));
        zip_discard(archive);
        zip_source_free(source);
        return status;
    }
    out->data = take_bytes(source, arena, &out->size);
    zip_source_free(source);
    return out->data ? IG_OK : report_memory(context, path);
}
