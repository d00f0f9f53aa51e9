/* libzip's judgement of an archive, and inflating.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An entry is inflated as a zip of its own: our header, the borrowed data, our
 * directory, given to libzip as three pieces.  So nothing has to stay open, and it
 * inflates the very bytes that our walk has found.
 *
 * Where libzip gets no memory it may say that an archive is damaged; errno, which we
 * clear before, tells the two apart.
 */
#include "frontend/torch/archive/zip_library.h"

#include "base/zip_format.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zip.h>

static ig_status refuse_memory(const ig_archive *archive, const ig_location *where) {
    return ig_error(&archive->context->diag, IG_LIMIT, where,
                    "no memory for the library that reads zip archives");
}

/* One reason, as status and words. */
static ig_status report_zip_error(const ig_archive *archive, const char *what,
                                  zip_error_t *error) {
    ig_location where = { .file = archive->file };
    ig_status status =
        errno == ENOMEM ? refuse_memory(archive, &where)
                        : ig_error_hint(&archive->context->diag, IG_INVALID, &where,
                                        "the file is damaged: fetch or save it again",
                                        "%s: %s", what, zip_error_strerror(error));
    zip_error_fini(error);
    return status;
}

/* ---- the whole file ---- */

static bool is_same_entry(zip_t *zip, zip_uint64_t index, const ig_zip_entry *entry) {
    zip_stat_t facts;
    const char *name = zip_get_name(zip, index, ZIP_FL_ENC_RAW);
    if (!name || zip_stat_index(zip, index, 0, &facts) != 0) {
        return false;
    }
    return strlen(name) == entry->name.size &&
           memcmp(name, entry->name.data, entry->name.size) == 0 &&
           facts.size == entry->size && facts.comp_size == entry->packed &&
           facts.comp_method == entry->method && facts.crc == entry->crc;
}

static ig_status compare_entries(const ig_archive *archive, zip_t *zip,
                                 const ig_zip_entry *entries, uint64_t count) {
    ig_location where = { .file = archive->file };
    zip_int64_t found = zip_get_num_entries(zip, 0);
    if (found < 0 || (uint64_t)found != count) {
        return ig_error(
            &archive->context->diag, IG_INVALID, &where,
            "its zip directory can be read in two ways: %lld or %llu entries",
            (long long)found, (unsigned long long)count);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!is_same_entry(zip, i, &entries[i])) {
            if (errno == ENOMEM) {
                return refuse_memory(archive, &where);
            }
            return ig_error(
                &archive->context->diag, IG_INVALID, &where,
                "its zip directory can be read in two ways: entry '%.*s' is not the same in both",
                IG_STR_ARG(entries[i].name));
        }
    }
    return IG_OK;
}

ig_status ig_zip_confirm(ig_archive *archive, const ig_zip_entry *entries,
                         uint64_t count) {
    zip_error_t error;
    errno = 0;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(archive->bytes.data,
                                                    archive->bytes.size, 0, &error);
    int flags = ZIP_RDONLY | ZIP_CHECKCONS;
    zip_t *zip = source ? zip_open_from_source(source, flags, &error) : NULL;
    if (!zip) {
        zip_source_free(source);
        return report_zip_error(archive, "its zip directory is inconsistent", &error);
    }
    ig_status status = compare_entries(archive, zip, entries, count);
    zip_discard(zip);
    zip_error_fini(&error);
    return status;
}

/* ---- one entry ---- */

/* Headers with a name of one byte. */
enum {
    LOCAL_SIZE = IG_ZIP_LOCAL_BYTES + 1,
    RECORD_SIZE = IG_ZIP_RECORD_BYTES + 1,
    TAIL_SIZE = RECORD_SIZE + IG_ZIP_END_BYTES,
    VERSION = 20,
};

static void put_u16(char *at, uint32_t value) {
    at[0] = (char)(value & 255);
    at[1] = (char)(value >> 8 & 255);
}

static void put_u32(char *at, uint32_t value) {
    put_u16(at, value & 0xffff);
    put_u16(at + 2, value >> 16);
}

/* The five numbers that local and central header share, then the name's length. */
static void put_facts(char *at, const ig_archive_entry *entry) {
    assert(entry->packed <= UINT32_MAX && entry->size <= UINT32_MAX &&
           "headers of 32 bits hold what check_inflation lets pass");
    put_u16(at, entry->method);
    put_u32(at + 2, 0x21 << 16); /* 1 January 1980 */
    put_u32(at + 6, entry->crc);
    put_u32(at + 10, (uint32_t)entry->packed);
    put_u32(at + 14, (uint32_t)entry->size);
    put_u16(at + 18, 1);
}

static void put_headers(char *local, char *tail, const ig_archive_entry *entry) {
    memset(local, 0, LOCAL_SIZE);
    put_u32(local, IG_ZIP_LOCAL);
    put_u16(local + 4, VERSION);
    put_facts(local + 8, entry);
    local[LOCAL_SIZE - 1] = 'x';
    memset(tail, 0, TAIL_SIZE);
    put_u32(tail, IG_ZIP_RECORD);
    put_u16(tail + 4, VERSION);
    put_u16(tail + 6, VERSION);
    put_facts(tail + 10, entry);
    tail[RECORD_SIZE - 1] = 'x';
    char *end = tail + RECORD_SIZE;
    put_u32(end, IG_ZIP_END);
    put_u16(end + 8, 1);
    put_u16(end + 10, 1);
    put_u32(end + 12, RECORD_SIZE);
    put_u32(end + 16, (uint32_t)(LOCAL_SIZE + entry->packed));
}

static bool read_all(zip_file_t *file, char *buffer, uint64_t size) {
    for (uint64_t done = 0; done < size;) {
        zip_int64_t got = zip_fread(file, buffer + done, size - done);
        if (got <= 0) {
            return false;
        }
        done += (uint64_t)got;
    }
    char more;
    return zip_fread(file, &more, 1) <= 0;
}

/* True when the data inflate to exactly the stated size (and checksum, where one is
 * recorded: it is compared at the end of the data). */
static bool inflate_entry(zip_t *zip, const ig_archive_entry *entry, char *buffer) {
    zip_file_t *file = zip_fopen_index(zip, 0, 0);
    if (!file) {
        return false;
    }
    bool is_read = read_all(file, buffer, entry->size);
    int code = zip_error_code_zip(zip_file_get_error(file));
    bool is_good = code == ZIP_ER_OK || (code == ZIP_ER_CRC && entry->crc == 0);
    zip_fclose(file);
    return is_read && is_good;
}

ig_status ig_zip_inflate(ig_archive *archive, const ig_archive_entry *entry,
                         char *buffer) {
    assert(entry->method == IG_ZIP_DEFLATED &&
           "stored entries are borrowed, not inflated");
    assert(entry->offset + entry->packed <= archive->bytes.size &&
           "the walk found the data in the file");
    char local[LOCAL_SIZE], tail[TAIL_SIZE];
    put_headers(local, tail, entry);
    char *data = (char *)(uintptr_t)(archive->bytes.data + entry->offset);
    zip_buffer_fragment_t pieces[] = { { (zip_uint8_t *)local, LOCAL_SIZE },
                                       { (zip_uint8_t *)data, entry->packed },
                                       { (zip_uint8_t *)tail, TAIL_SIZE } };
    zip_error_t error;
    errno = 0;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_fragment_create(pieces, 3, 0, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!zip) {
        zip_source_free(source);
        return report_zip_error(archive, entry->name.data, &error);
    }
    bool is_good = inflate_entry(zip, entry, buffer);
    bool is_memory = !is_good && errno == ENOMEM;
    zip_discard(zip);
    zip_error_fini(&error);
    if (is_good) {
        return IG_OK;
    }
    ig_location where = ig_archive_where(archive, entry);
    if (is_memory) {
        return refuse_memory(archive, &where);
    }
    return ig_error_hint(
        &archive->context->diag, IG_INVALID, &where,
        "the file is damaged: fetch or save it again",
        "the deflated data do not give %llu bytes with the recorded checksum",
        (unsigned long long)entry->size);
}
