/* The zip around an artifact: finds stored entries in a mapped file.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     local header, name, padding, data      once an entry
 *     directory record, name                 once an entry
 *     [zip64 end, its locator]               when 16 or 32 bits do not hold a number
 *     end                                    the last 22 bytes of the file
 *
 * We start at the end, and believe nothing: every record must be inside the file, and
 * the two headers of an entry must agree.
 */
#include "runtime/container.h"

#include "base/zip_format.h"

#include <string.h>

enum { FLAG_UTF8 = 0x800 };

static uint64_t read_u16(const char *at) {
    return ig_zip_number(at, 2);
}

static uint64_t read_u32(const char *at) {
    return ig_zip_number(at, 4);
}

static uint64_t read_u64(const char *at) {
    return ig_zip_number(at, 8);
}

/* Bytes offset … offset + size - 1 of the file, or NULL. */
static const char *at_bytes(ig_str file, uint64_t offset, uint64_t size) {
    if (offset > file.size || size > file.size - offset) {
        return NULL;
    }
    return file.data + offset;
}

static ig_status report_damage(const ig_message *message, const char *what) {
    return ig_message_set(message, IG_INVALID, "not an artifact, or damaged: %s", what);
}

typedef struct directory {
    uint64_t offset, size, count;
} directory;

/* The zip64 end record, when its locator precedes the end record at `end`. */
static const char *read_end64(ig_str file, uint64_t end, directory *dir) {
    const char *locator = end < IG_ZIP_LOCATOR_BYTES
                              ? NULL
                              : at_bytes(file, end - IG_ZIP_LOCATOR_BYTES,
                                         IG_ZIP_LOCATOR_BYTES);
    if (!locator || read_u32(locator) != IG_ZIP_LOCATOR) {
        return NULL;
    }
    const char *at = at_bytes(file, read_u64(locator + 8), IG_ZIP_END64_BYTES);
    if (!at || read_u32(at) != IG_ZIP_END64) {
        return "the zip64 end record is missing";
    }
    *dir = (directory){ .offset = read_u64(at + 48),
                        .size = read_u64(at + 40),
                        .count = read_u64(at + 32) };
    return NULL;
}

static const char *read_end(ig_str file, directory *dir) {
    const char *at = file.size < IG_ZIP_END_BYTES
                         ? NULL
                         : at_bytes(file, file.size - IG_ZIP_END_BYTES,
                                    IG_ZIP_END_BYTES);
    if (!at || read_u32(at) != IG_ZIP_END || read_u16(at + 20) != 0) {
        return "the file does not end as a zip does (cut short?)";
    }
    *dir = (directory){ .offset = read_u32(at + 16),
                        .size = read_u32(at + 12),
                        .count = read_u16(at + 10) };
    const char *why = read_end64(file, file.size - IG_ZIP_END_BYTES, dir);
    if (why) {
        return why;
    }
    if (dir->count > IG_CONTAINER_ENTRIES) {
        return "too many entries";
    }
    return at_bytes(file, dir->offset, dir->size) ? NULL : "the directory is outside";
}

typedef struct record {
    uint64_t flags, method, packed, size, name_size, extra_size, local;
    ig_str name;
    uint64_t bytes; /* of the whole record */
} record;

/* Replaces values too large for the 32-bit fields by those of the zip64 extra field. */
static bool read_extra64(const char *extra, uint64_t size, record *r) {
    uint64_t *const fields[] = { &r->size, &r->packed, &r->local };
    while (size >= 4) {
        uint64_t id = read_u16(extra), length = read_u16(extra + 2);
        if (length > size - 4) {
            return false;
        }
        if (id == IG_ZIP_EXTRA64) {
            uint64_t at = 0;
            for (size_t i = 0; i < IG_COUNT_OF(fields); i++) {
                if (*fields[i] != UINT32_MAX) {
                    continue;
                }
                if (length - at < 8) {
                    return false;
                }
                *fields[i] = read_u64(extra + 4 + at);
                at += 8;
            }
            return true;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static const char *read_record(ig_str file, uint64_t offset, uint64_t left, record *r) {
    const char *at = left < IG_ZIP_RECORD_BYTES
                         ? NULL
                         : at_bytes(file, offset, IG_ZIP_RECORD_BYTES);
    if (!at || read_u32(at) != IG_ZIP_RECORD) {
        return "a directory record is missing";
    }
    *r = (record){ .flags = read_u16(at + 8),
                   .method = read_u16(at + 10),
                   .packed = read_u32(at + 20),
                   .size = read_u32(at + 24),
                   .name_size = read_u16(at + 28),
                   .extra_size = read_u16(at + 30),
                   .local = read_u32(at + 42) };
    r->bytes = IG_ZIP_RECORD_BYTES + r->name_size + r->extra_size + read_u16(at + 32);
    if (r->bytes > left) {
        return "a directory record is cut short";
    }
    r->name = (ig_str){ at + IG_ZIP_RECORD_BYTES, r->name_size };
    if (!read_extra64(at + IG_ZIP_RECORD_BYTES + r->name_size, r->extra_size, r)) {
        return "an extra field is cut short";
    }
    if (r->method != 0 || r->packed != r->size || (r->flags & ~(uint64_t)FLAG_UTF8)) {
        return "an entry is compressed or encrypted";
    }
    return NULL;
}

static const char *read_local(ig_str file, const record *r, ig_str *out_data) {
    const char *at = at_bytes(file, r->local, IG_ZIP_LOCAL_BYTES);
    if (!at || read_u32(at) != IG_ZIP_LOCAL) {
        return "a local header is missing";
    }
    uint64_t name_size = read_u16(at + 26),
             head = IG_ZIP_LOCAL_BYTES + name_size + read_u16(at + 28);
    const char *name = at_bytes(file, r->local, head);
    if (!name || name_size != r->name_size || read_u16(at + 6) != r->flags ||
        read_u16(at + 8) != r->method ||
        memcmp(name + IG_ZIP_LOCAL_BYTES, r->name.data, name_size) != 0) {
        return "the two headers of an entry differ";
    }
    uint64_t size = read_u32(at + 22);
    if (size != r->size && size != UINT32_MAX) {
        return "the two sizes of an entry differ";
    }
    const char *data = at_bytes(file, r->local + head, r->size);
    if (!data) {
        return "an entry reaches past the end of the file";
    }
    *out_data = (ig_str){ data, r->size };
    return NULL;
}

ig_status ig_container_open(ig_str file, ig_container *out_container,
                            const ig_message *message) {
    directory dir;
    const char *why = read_end(file, &dir);
    if (why) {
        return report_damage(message, why);
    }
    out_container->file = file;
    out_container->count = (uint32_t)dir.count;
    for (uint32_t i = 0; i < out_container->count; i++) {
        record r;
        why = read_record(file, dir.offset, dir.size, &r);
        if (!why) {
            why = read_local(file, &r, &out_container->entries[i].data);
        }
        if (why) {
            return report_damage(message, why);
        }
        out_container->entries[i].name = r.name;
        dir.offset += r.bytes;
        dir.size -= r.bytes;
    }
    return dir.size == 0 ? IG_OK : report_damage(message, "bytes after the directory");
}

bool ig_container_find(const ig_container *container, const char *name,
                       ig_str *out_data) {
    for (uint32_t i = 0; i < container->count; i++) {
        if (ig_str_is(container->entries[i].name, name)) {
            *out_data = container->entries[i].data;
            return true;
        }
    }
    return false;
}
