/* Archives of numpy arrays, through libzip.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libzip stays on malloc and knows no arena: nothing here may unwind while an archive
 * is open, so its memory is checked (ig_arena_try_alloc) and its arrays are parsed
 * after it is closed.
 */
#include "driver/values/argument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

enum { MOST_ENTRIES = 65535 };

static ig_status report_failure(ig_context *context, const char *path, ig_status status,
                                const char *what, const char *why) {
    ig_location where = { .file = path };
    return ig_error(&context->diag, status, &where, "%s%s%s", what, why ? ": " : "",
                    why ? why : "");
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
        return report_failure(to->context, path, IG_LIMIT, "no memory for an entry",
                              facts.name);
    }
    zip_file_t *file = zip_fopen_index(archive, index, 0);
    zip_int64_t got = file ? zip_fread(file, data, facts.size) : -1;
    bool is_whole = file && zip_fclose(file) == 0 && got == (zip_int64_t)facts.size;
    out->bytes = (ig_str){ data, (size_t)facts.size };
    return is_whole ? IG_OK
                    : report_failure(to->context, path, IG_INVALID,
                                     "an entry cannot be read", facts.name);
}

static ig_status read_entries(ig_arguments *to, const char *path, zip_t *archive,
                              entry_bytes **out, size_t *out_count) {
    zip_int64_t count = zip_get_num_entries(archive, 0);
    if (count < 0 || count > MOST_ENTRIES) {
        return report_failure(to->context, path, IG_LIMIT, "too many arrays", NULL);
    }
    *out = ig_arena_try_alloc(&to->arena, ((size_t)count + 1) * sizeof **out);
    if (!*out) {
        return report_failure(to->context, path, IG_LIMIT, "no memory for its arrays",
                              NULL);
    }
    for (zip_int64_t i = 0; i < count; i++) {
        IG_TRY(read_entry(to, path, archive, (zip_uint64_t)i, &(*out)[i]));
        ++*out_count;
    }
    return IG_OK;
}

ig_status ig_npz_read(ig_arguments *arguments, const char *path) {
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, &code);
    if (!archive) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        bool is_io = code == ZIP_ER_NOENT || code == ZIP_ER_OPEN || code == ZIP_ER_READ;
        ig_status status = report_failure(arguments->context, path,
                                          is_io ? IG_IO : IG_INVALID, "cannot read",
                                          zip_error_strerror(&error));
        zip_error_fini(&error);
        return status;
    }
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
    char name[512];
    int length = snprintf(name, sizeof name, "%s.npy", entry->name);
    if (length < 0 || (size_t)length >= sizeof name) {
        return false;
    }
    zip_source_t *source = zip_source_buffer(archive, entry->bytes.data,
                                             entry->bytes.size, 0);
    zip_int64_t index = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8)
                               : -1;
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

/* libzip itself writes to a temporary beside `path` and renames it. */
ig_status ig_npz_write(ig_context *context, const char *path,
                       const ig_npz_entry *entries, size_t count) {
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    bool is_good = archive != NULL;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = add_entry(archive, &entries[i]);
    }
    if (is_good && zip_close(archive) == 0) {
        return IG_OK;
    }
    char why[256] = "the file cannot be opened";
    if (archive) {
        snprintf(why, sizeof why, "%s", zip_strerror(archive));
        zip_discard(archive);
    }
    return report_failure(context, path, IG_IO, "cannot write", why);
}
