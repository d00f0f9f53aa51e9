/* The records of a zip file.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     local header, data, [descriptor]   …   one per entry
 *     central header                     …   one per entry: the directory
 *     [zip64 end record, zip64 locator]
 *     end record, comment                    found from the end of the file
 *
 * Numbers are little-endian.  Where a 16- or 32-bit field is all ones, a zip64 record
 * or extra field holds the number.  Every offset is checked before it is followed.
 */
#include "frontend/torch/archive/zip_walk.h"

#include "base/zip_format.h"

#include <assert.h>
#include <string.h>

enum {
    MAX_COMMENT = 0xffff,
    FLAG_ENCRYPTED = 1,
    FLAG_DESCRIPTOR = 8,
};
#define ALL_ONES 0xffffffffu

static uint16_t u16_at(ig_str bytes, uint64_t at) {
    assert(at <= bytes.size && bytes.size - at >= 2 &&
           "the caller checked that the field is in the bytes");
    const unsigned char *b = (const unsigned char *)bytes.data + at;
    return (uint16_t)(b[0] | b[1] << 8);
}

static uint32_t u32_at(ig_str bytes, uint64_t at) {
    return u16_at(bytes, at) | (uint32_t)u16_at(bytes, at + 2) << 16;
}

static uint64_t u64_at(ig_str bytes, uint64_t at) {
    return u32_at(bytes, at) | (uint64_t)u32_at(bytes, at + 4) << 32;
}

static bool is_record(ig_str bytes, uint64_t at, uint32_t signature) {
    return u32_at(bytes, at) == signature;
}

/* Does [at, at + size) are before `end`? */
static bool fits_before(uint64_t at, uint64_t size, uint64_t end) {
    return at <= end && size <= end - at;
}

static bool set_wrong(ig_zip_walk *walk, const char *wrong) {
    walk->wrong = wrong;
    return false;
}

static bool set_foreign(ig_zip_walk *walk, const char *wrong) {
    walk->is_foreign = true;
    return set_wrong(walk, wrong);
}

/* ---- the end of the file ---- */

static bool find_end(ig_str bytes, uint64_t *out_at) {
    if (bytes.size < IG_ZIP_END_BYTES) {
        return false;
    }
    uint64_t last = bytes.size - IG_ZIP_END_BYTES;
    uint64_t first = last > MAX_COMMENT ? last - MAX_COMMENT : 0;
    for (uint64_t at = last + 1; at-- > first;) {
        if (is_record(bytes, at, IG_ZIP_END) &&
            u16_at(bytes, at + 20) == bytes.size - at - IG_ZIP_END_BYTES) {
            *out_at = at;
            return true;
        }
    }
    return false;
}

/* Reads the zip64 end record where there is one; `end` is the offset of the ordinary
 * one and becomes the offset at which the directory must have ended. */
static bool read_end64(ig_zip_walk *walk, uint64_t *end, uint64_t *size) {
    ig_str bytes = walk->bytes;
    if (*end < IG_ZIP_LOCATOR_BYTES ||
        !is_record(bytes, *end - IG_ZIP_LOCATOR_BYTES, IG_ZIP_LOCATOR)) {
        return true;
    }
    uint64_t locator = *end - IG_ZIP_LOCATOR_BYTES, at = u64_at(bytes, locator + 8);
    if (u32_at(bytes, locator + 4) != 0 || u32_at(bytes, locator + 16) > 1) {
        return set_foreign(walk, "is one part of an archive in several");
    }
    if (!fits_before(at, IG_ZIP_END64_BYTES, locator) ||
        !is_record(bytes, at, IG_ZIP_END64)) {
        return set_wrong(walk, "has no zip64 end record where its locator points");
    }
    if (u32_at(bytes, at + 16) != 0 || u32_at(bytes, at + 20) != 0) {
        return set_foreign(walk, "is one part of an archive in several");
    }
    uint64_t count = u64_at(bytes, at + 32), begin = u64_at(bytes, at + 48);
    uint64_t size64 = u64_at(bytes, at + 40);
    if ((walk->count != 0xffff && walk->count != count) ||
        (walk->begin != ALL_ONES && walk->begin != begin) ||
        (*size != ALL_ONES && *size != size64)) {
        return set_wrong(walk, "has two end records that disagree");
    }
    walk->count = count;
    walk->begin = begin;
    *size = size64;
    *end = at;
    return true;
}

bool ig_zip_walk_begin(ig_zip_walk *walk, ig_str bytes) {
    *walk = (ig_zip_walk){ .bytes = bytes };
    uint64_t end;
    if (!find_end(bytes, &end)) {
        return set_wrong(walk, "has no zip directory at its end: it is cut or damaged");
    }
    if (u16_at(bytes, end + 4) != 0 || u16_at(bytes, end + 6) != 0) {
        return set_foreign(walk, "is one part of an archive in several");
    }
    walk->count = u16_at(bytes, end + 10);
    walk->begin = u32_at(bytes, end + 16);
    uint64_t size = u32_at(bytes, end + 12);
    if (!read_end64(walk, &end, &size)) {
        return false;
    }
    if (!fits_before(walk->begin, size, end)) {
        return set_wrong(walk, "has its zip directory after its end");
    }
    if (walk->count > size / IG_ZIP_RECORD_BYTES) {
        return set_wrong(walk, "has more entries than its zip directory can hold");
    }
    walk->end = walk->begin + size;
    walk->at = walk->begin;
    return true;
}

/* ---- one entry ---- */

/* Finds the zip64 extra field; its size is 0 when there is none. */
static bool find_zip64(ig_zip_walk *walk, ig_str extra, ig_str *out_field) {
    *out_field = (ig_str){ extra.data, 0 };
    for (uint64_t at = 0; fits_before(at, 4, extra.size);) {
        uint16_t id = u16_at(extra, at), size = u16_at(extra, at + 2);
        if (!fits_before(at + 4, size, extra.size)) {
            return set_wrong(walk, "has an extra field that runs past its header");
        }
        if (id == IG_ZIP_EXTRA64) {
            *out_field = (ig_str){ extra.data + at + 4, size };
            return true;
        }
        at += 4u + size;
    }
    return true;
}

/* Replaces `*number`, where it is all ones, by the next of the zip64 field. */
static bool widen_field(ig_zip_walk *walk, ig_str *field, uint64_t *number) {
    assert((field->data || !field->size) && "find_zip64 sets the field");
    if (*number != ALL_ONES) {
        return true;
    }
    if (field->size < 8) {
        return set_wrong(walk, "lacks a zip64 number that its header announces");
    }
    *number = u64_at(*field, 0);
    field->data += 8;
    field->size -= 8;
    return true;
}

bool ig_zip_walk_next(ig_zip_walk *walk, ig_zip_entry *out) {
    assert(walk->begin <= walk->at && walk->at <= walk->end &&
           "the walk stays in its directory");
    ig_str bytes = walk->bytes;
    uint64_t at = walk->at;
    if (!fits_before(at, IG_ZIP_RECORD_BYTES, walk->end) ||
        !is_record(bytes, at, IG_ZIP_RECORD)) {
        return set_wrong(walk, "has a damaged zip directory");
    }
    uint32_t name = u16_at(bytes, at + 28), extra = u16_at(bytes, at + 30);
    uint32_t comment = u16_at(bytes, at + 32);
    uint64_t after = at + IG_ZIP_RECORD_BYTES;
    if (!fits_before(after, (uint64_t)name + extra + comment, walk->end)) {
        return set_wrong(walk,
                         "has a zip directory entry that runs past the directory");
    }
    *out = (ig_zip_entry){ .name = { bytes.data + after, name },
                           .flags = u16_at(bytes, at + 8),
                           .method = u16_at(bytes, at + 10),
                           .crc = u32_at(bytes, at + 16),
                           .packed = u32_at(bytes, at + 20),
                           .size = u32_at(bytes, at + 24),
                           .header = u32_at(bytes, at + 42) };
    ig_str field, all = { bytes.data + after + name, extra };
    if (!find_zip64(walk, all, &field) || !widen_field(walk, &field, &out->size) ||
        !widen_field(walk, &field, &out->packed) ||
        !widen_field(walk, &field, &out->header)) {
        return false;
    }
    walk->at = after + name + extra + comment;
    return true;
}

/* Sizes and checksum of a local header, unless a descriptor after the data
 * holds them; then they are zero or right. */
static bool check_local_sizes(ig_zip_walk *walk, const ig_zip_entry *entry,
                              ig_str extra) {
    uint64_t at = entry->header;
    uint64_t packed = u32_at(walk->bytes, at + 18), size = u32_at(walk->bytes, at + 22);
    uint32_t crc = u32_at(walk->bytes, at + 14);
    bool has_descriptor = (entry->flags & FLAG_DESCRIPTOR) != 0;
    if (has_descriptor && packed == 0 && size == 0 && crc == 0) {
        return true;
    }
    ig_str field;
    if (!find_zip64(walk, extra, &field) || !widen_field(walk, &field, &size) ||
        !widen_field(walk, &field, &packed)) {
        return false;
    }
    bool is_same = packed == entry->packed && size == entry->size && crc == entry->crc;
    bool is_blank = has_descriptor && packed == 0 && size == 0;
    return is_same || is_blank
               ? true
               : set_wrong(
                     walk,
                     "has sizes or a checksum that differ between its header and the zip directory");
}

bool ig_zip_walk_local(ig_zip_walk *walk, ig_zip_entry *entry) {
    ig_str bytes = walk->bytes;
    uint64_t at = entry->header;
    if (!fits_before(at, IG_ZIP_LOCAL_BYTES, walk->begin) ||
        !is_record(bytes, at, IG_ZIP_LOCAL)) {
        return set_wrong(walk, "has no header where the zip directory says");
    }
    uint32_t name = u16_at(bytes, at + 26), extra = u16_at(bytes, at + 28);
    uint64_t data = at + IG_ZIP_LOCAL_BYTES + name + extra;
    if (!fits_before(data, entry->packed, walk->begin)) {
        return set_wrong(walk, "has data that run past the end of the file's data");
    }
    ig_str local = { bytes.data + at + IG_ZIP_LOCAL_BYTES, name };
    if (!ig_str_equal(local, entry->name)) {
        return set_wrong(walk,
                         "has another name in its header than in the zip directory");
    }
    if (u16_at(bytes, at + 8) != entry->method ||
        ((u16_at(bytes, at + 6) ^ entry->flags) & (FLAG_ENCRYPTED | FLAG_DESCRIPTOR))) {
        return set_wrong(walk, "is packed in another way than the zip directory says");
    }
    if (entry->flags & FLAG_ENCRYPTED) {
        return set_foreign(walk, "is encrypted");
    }
    if (entry->method != IG_ZIP_STORED && entry->method != IG_ZIP_DEFLATED) {
        return set_foreign(walk, "is compressed in a way other than deflate");
    }
    if (entry->method == IG_ZIP_STORED && entry->packed != entry->size) {
        return set_wrong(walk, "is stored, but has two sizes");
    }
    entry->data = data;
    ig_str fields = { bytes.data + at + IG_ZIP_LOCAL_BYTES + name, extra };
    return check_local_sizes(walk, entry, fields);
}
