/* Opening archives and reading their entries.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open: walk the directory (zip_walk.c) into an array, have libzip confirm it
 * (zip_library.c), check names, headers and overlaps, strip the root folder, then read
 * the two small entries that say how the others are to be read.
 */
#include "frontend/torch/archive/archive.h"

#include "base/crc32.h"
#include "base/zip_format.h"
#include "frontend/torch/archive/format.h"
#include "frontend/torch/archive/zip_library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* More stored bytes than this are not summed again: it would cost more than it
 * finds. */
#define MAX_CHECKED (1ull << 30)

enum { MAX_DEFLATE_RATIO = 1032, OLDEST_VERSION = 1, NEWEST_VERSION = 10 };

/* Weights hardly shrink; what grows more than so is made to grow. */
enum { PLAIN_DEFLATE_RATIO = 16, PLAIN_INFLATED = 256 << 20 };

static const char damaged[] = "the file is damaged: fetch or save it again";

ig_location ig_archive_where(const ig_archive *archive, const ig_archive_entry *entry) {
    return (ig_location){ .file = archive->file,
                          .graph = entry ? entry->name.data : NULL };
}

static ig_status report_damage(const ig_archive *archive, const ig_archive_entry *entry,
                               const char *what) {
    ig_location where = ig_archive_where(archive, entry);
    return ig_error_hint(&archive->context->diag, IG_INVALID, &where, damaged, "%s",
                         what);
}

/* ---- the directory ---- */

static ig_status fail_walk(const ig_archive *archive, const ig_zip_walk *walk,
                           const ig_zip_entry *entry) {
    ig_location where = { .file = archive->file };
    ig_status status = walk->is_foreign ? IG_UNSUPPORTED : IG_INVALID;
    const char *hint = walk->is_foreign ? "unpack it and pack it again, uncompressed"
                                        : damaged;
    ig_diag *diag = &archive->context->diag;
    if (!entry) {
        return ig_error_hint(diag, status, &where, hint, "the file %s", walk->wrong);
    }
    return ig_error_hint(diag, status, &where, hint, "entry '%.*s' %s",
                         IG_STR_ARG(entry->name), walk->wrong);
}

static ig_status read_directory(ig_archive *archive, ig_zip_walk *walk,
                                ig_zip_entry **out_entries) {
    if (!ig_zip_walk_begin(walk, archive->bytes)) {
        return fail_walk(archive, walk, NULL);
    }
    if (walk->count > (uint64_t)archive->context->limits.archive_entries) {
        ig_location where = { .file = archive->file };
        return ig_error_limit(&archive->context->diag, &where,
                              &archive->context->limits, IG_LIMIT_archive_entries,
                              "the number of entries, %llu,",
                              (unsigned long long)walk->count);
    }
    *out_entries = IG_NEW_ARRAY(archive->arena, ig_zip_entry, walk->count + 1);
    for (uint64_t i = 0; i < walk->count; i++) {
        if (!ig_zip_walk_next(walk, &(*out_entries)[i])) {
            return fail_walk(archive, walk, NULL);
        }
    }
    return walk->at == walk->end
               ? IG_OK
               : report_damage(archive, NULL,
                               "the zip directory is longer than its entries");
}

/* ---- names ---- */

static bool is_part_good(ig_str part) {
    return part.size > 0 && !ig_str_is(part, ".") && !ig_str_is(part, "..");
}

/* A relative path that stays where it is: no ".", "..", empty part or '\\', and no
 * control characters. */
static bool is_name_good(ig_str name) {
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (c < 0x20 || c == 0x7f || c == '\\') {
            return false;
        }
    }
    size_t begin = 0;
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == '/') {
            if (!is_part_good((ig_str){ name.data + begin, i - begin })) {
                return false;
            }
            begin = i + 1;
        }
    }
    return begin == name.size ||
           is_part_good((ig_str){ name.data + begin, name.size - begin });
}

static bool is_folder(ig_str name) {
    return name.size > 0 && name.data[name.size - 1] == '/';
}

static bool has_root(ig_str name, ig_str root) {
    return name.size >= root.size && memcmp(name.data, root.data, root.size) == 0;
}

/* The first folder of the first entry, when all entries are below it or it holds a
 * version (then the others are strangers, such as an archiver's own). */
static ig_str find_root(const ig_zip_entry *entries, uint64_t count) {
    const char *slash = count ? memchr(entries[0].name.data, '/', entries[0].name.size)
                              : NULL;
    if (!slash) {
        return IG_STR("");
    }
    ig_str root = { entries[0].name.data, (size_t)(slash - entries[0].name.data) + 1 };
    bool has_all = true, has_version = false;
    for (uint64_t i = 0; i < count; i++) {
        ig_str name = entries[i].name;
        if (!has_root(name, root)) {
            has_all = false;
            continue;
        }
        ig_str rest = { name.data + root.size, name.size - root.size };
        has_version = has_version || ig_str_is(rest, "version") ||
                      ig_str_is(rest, ".data/version");
    }
    return has_all || has_version ? root : IG_STR("");
}

/* ---- entries ---- */

static ig_status add_entry(ig_archive *archive, ig_zip_walk *walk,
                           ig_zip_entry *found) {
    assert(archive->entry_count < walk->count &&
           "there is room for each entry of the directory");
    if (!is_name_good(found->name)) {
        walk->wrong = "has a name that is not a plain path inside the archive";
        return fail_walk(archive, walk, found);
    }
    if (!ig_zip_walk_local(walk, found)) {
        return fail_walk(archive, walk, found);
    }
    if (is_folder(found->name) || !has_root(found->name, archive->root)) {
        return IG_OK;
    }
    size_t root = archive->root.size;
    ig_archive_entry *entry = &archive->entries[archive->entry_count++];
    size_t size = found->name.size - root;
    const char *name = ig_arena_copy(archive->arena, found->name.data + root, size);
    *entry = (ig_archive_entry){ .name = { name, size },
                                 .size = found->size,
                                 .packed = found->packed,
                                 .offset = found->data,
                                 .crc = found->crc,
                                 .method = found->method };
    if (ig_map_get(&archive->names, entry->name)) {
        return report_damage(archive, entry, "two entries have this name");
    }
    ig_map_set(&archive->names, entry->name, entry);
    return IG_OK;
}

static int compare_offsets(const void *a, const void *b) {
    const ig_zip_entry *x = a, *y = b;
    return (x->header > y->header) - (x->header < y->header);
}

/* Sorts the entries by offset: each must end before the next one begins. */
static ig_status check_overlaps(ig_archive *archive, ig_zip_entry *entries,
                                uint64_t count) {
    qsort(entries, count, sizeof(*entries), compare_offsets);
    for (uint64_t i = 0; i + 1 < count; i++) {
        if (entries[i].data + entries[i].packed > entries[i + 1].header) {
            ig_zip_walk walk = { .wrong = "overlaps another one" };
            return fail_walk(archive, &walk, &entries[i]);
        }
    }
    return IG_OK;
}

/* ---- what says how to read the others ---- */

static ig_str trim_end(ig_str text) {
    while (text.size > 0 && strchr(" \t\r\n", text.data[text.size - 1])) {
        text.size--;
    }
    return text;
}

static ig_status read_version(ig_archive *archive) {
    if (archive->format == IG_ARCHIVE_pt2) {
        return IG_OK; /* of its schema, which the program itself says */
    }
    ig_archive_entry *entry = ig_archive_find(archive, IG_STR(".data/version"));
    if (!entry) {
        entry = ig_archive_find(archive, IG_STR("version"));
    }
    bool is_script = archive->format == IG_ARCHIVE_torchscript;
    if (!entry) {
        return is_script
                   ? report_damage(archive, NULL, "the archive has no entry 'version'")
                   : IG_OK;
    }
    ig_str text;
    IG_TRY(ig_archive_read_text(archive, entry, &text));
    text = trim_end(text);
    ig_location where = ig_archive_where(archive, entry);
    if (!ig_str_to_i64(text, &archive->version) || archive->version < 0) {
        return ig_error(&archive->context->diag, IG_INVALID, &where,
                        "'%.*s' is not the number of a version",
                        (int)(text.size < 40 ? text.size : 40), text.data);
    }
    bool is_known = archive->version >= OLDEST_VERSION &&
                    archive->version <= NEWEST_VERSION;
    if (is_script && !is_known) {
        return ig_error_hint(
            &archive->context->diag, IG_UNSUPPORTED, &where,
            "save the model with torch 1.4 to 2.x",
            "version %lld of the archive format is not known: %d to %d are",
            (long long)archive->version, OLDEST_VERSION, NEWEST_VERSION);
    }
    return IG_OK;
}

static ig_status read_byte_order(ig_archive *archive) {
    ig_archive_entry *entry = ig_archive_find(archive, IG_STR("byteorder"));
    if (!entry) {
        return IG_OK;
    }
    ig_str text;
    IG_TRY(ig_archive_read_text(archive, entry, &text));
    text = trim_end(text);
    archive->is_big_endian = ig_str_is(text, "big");
    if (archive->is_big_endian || ig_str_is(text, "little")) {
        return IG_OK;
    }
    ig_location where = ig_archive_where(archive, entry);
    return ig_error(&archive->context->diag, IG_INVALID, &where,
                    "the byte order is '%.*s', neither 'little' nor 'big'",
                    (int)(text.size < 40 ? text.size : 40), text.data);
}

ig_status ig_archive_open(ig_archive *archive, ig_context *context, ig_arena *arena,
                          const char *file, ig_str bytes) {
    *archive = (ig_archive){
        .context = context, .arena = arena, .file = file, .bytes = bytes
    };
    ig_archive_format format = ig_archive_sniff(bytes);
    bool is_zip = ig_str_starts(bytes, IG_ZIP_LOCAL_TEXT) ||
                  ig_str_starts(bytes, IG_ZIP_END_TEXT);
    if (!is_zip) {
        return ig_archive_refuse(context, file, format);
    }
    ig_crc32 *crc32 = IG_NEW(arena, ig_crc32);
    ig_crc32_init(crc32);
    archive->crc32 = crc32;
    ig_map_init(&archive->names, arena);
    ig_zip_walk walk = { 0 };
    ig_zip_entry *found = NULL;
    IG_TRY(read_directory(archive, &walk, &found));
    archive->root = find_root(found, walk.count);
    archive->entries = IG_NEW_ARRAY(arena, ig_archive_entry, walk.count + 1);
    uint32_t marks = 0;
    for (uint64_t i = 0; i < walk.count; i++) {
        IG_TRY(add_entry(archive, &walk, &found[i]));
    }
    for (size_t i = 0; i < archive->entry_count; i++) {
        ig_archive_mark(archive->entries[i].name, &marks);
    }
    archive->format = ig_archive_format_of(marks);
    IG_TRY(ig_zip_confirm(archive, found, walk.count));
    IG_TRY(check_overlaps(archive, found, walk.count));
    IG_TRY(read_version(archive));
    return read_byte_order(archive);
}

/* ---- reading ---- */

ig_archive_entry *ig_archive_find(const ig_archive *archive, ig_str name) {
    return ig_map_get(&archive->names, name);
}

ig_status ig_archive_need(ig_archive *archive, ig_str name,
                          ig_archive_entry **out_entry) {
    *out_entry = ig_archive_find(archive, name);
    if (*out_entry) {
        return IG_OK;
    }
    ig_location where = { .file = archive->file };
    return ig_error_hint(&archive->context->diag, IG_INVALID, &where,
                         "the file is incomplete: fetch or save it again",
                         "the archive has no entry '%.*s'", IG_STR_ARG(name));
}

/* A limit that was set counts unchanged. */
static uint64_t max_inflated(const ig_archive *archive) {
    int64_t limit = archive->context->limits.inflate_bytes;
    uint64_t plain = PLAIN_INFLATED + archive->bytes.size * PLAIN_DEFLATE_RATIO;
    bool is_set = limit != ig_limits_default.inflate_bytes;
    return is_set || (uint64_t)limit < plain ? (uint64_t)limit : plain;
}

/* Inflated bytes do not count as the program's memory. */
static void make_room(ig_budget *budget, size_t size) {
    if (budget->limit_name) {
        budget->limit += size;
    }
}

/* A deflated entry may not be larger than deflate can make of its data, nor all of them
 * together than the limit. */
static ig_status check_inflation(ig_archive *archive, const ig_archive_entry *entry) {
    assert(!entry->inflated && "an entry is inflated once, and counted once");
    if (entry->packed > UINT32_MAX / 2 ||
        entry->size / MAX_DEFLATE_RATIO > entry->packed) {
        return report_damage(
            archive, entry,
            "the entry says it is larger than its deflated data can be");
    }
    uint64_t max = max_inflated(archive);
    ig_location where = ig_archive_where(archive, entry);
    if (archive->inflated > max || entry->size > max - archive->inflated ||
        entry->size > UINT32_MAX - 1) {
        return ig_error_hint(
            &archive->context->diag, IG_LIMIT, &where,
            "store the archive uncompressed (zip -0), or raise the limit with --limit inflate_bytes=N",
            "the deflated entries take more than %llu bytes", (unsigned long long)max);
    }
    archive->inflated += entry->size;
    make_room(&archive->context->budget, entry->size);
    return IG_OK;
}

static ig_status check_sum(ig_archive *archive, ig_archive_entry *entry) {
    assert(entry->offset + entry->size <= archive->bytes.size &&
           "the walk found the data in the file");
    if (entry->is_checked || entry->crc == 0) {
        return IG_OK;
    }
    if (archive->checked + entry->size > MAX_CHECKED) {
        return IG_OK;
    }
    archive->checked += entry->size;
    const char *data = archive->bytes.data + entry->offset;
    if (ig_crc32_add(archive->crc32, 0, data, entry->size) != entry->crc) {
        return report_damage(archive, entry,
                             "the data do not have the recorded checksum");
    }
    entry->is_checked = true;
    return IG_OK;
}

ig_status ig_archive_read(ig_archive *archive, ig_archive_entry *entry,
                          ig_archive_span *out_span) {
    assert(entry >= archive->entries &&
           entry < archive->entries + archive->entry_count &&
           "the entry is this archive's");
    if (entry->method == IG_ZIP_STORED) {
        IG_TRY(check_sum(archive, entry));
        *out_span = (ig_archive_span){
            .bytes = { archive->bytes.data + entry->offset, entry->size },
            .offset = archive->base < 0 ? -1 : archive->base + (int64_t)entry->offset
        };
        return IG_OK;
    }
    if (!entry->inflated) {
        IG_TRY(check_inflation(archive, entry));
        char *buffer = ig_arena_alloc(archive->arena, entry->size);
        IG_TRY(ig_zip_inflate(archive, entry, buffer));
        entry->inflated = buffer;
    }
    *out_span = (ig_archive_span){ .bytes = { entry->inflated, entry->size },
                                   .offset = -1 };
    return IG_OK;
}

ig_status ig_archive_read_text(ig_archive *archive, ig_archive_entry *entry,
                               ig_str *out_text) {
    if (entry->size > (uint64_t)archive->context->limits.source_bytes) {
        ig_location where = ig_archive_where(archive, entry);
        return ig_error_limit(&archive->context->diag, &where,
                              &archive->context->limits, IG_LIMIT_source_bytes,
                              "the size of the entry, %llu bytes,",
                              (unsigned long long)entry->size);
    }
    ig_archive_span span;
    IG_TRY(ig_archive_read(archive, entry, &span));
    *out_text = span.bytes;
    return IG_OK;
}
