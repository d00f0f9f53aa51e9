/* The code in a container that is about to be written.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A container is parts, or one part that a cache holds.  Its local headers are walked
 * from the first one on: a header is whole in one part, so does an entry of code, and
 * other data may take many parts.
 */
#include "driver/artifact/emit.h"

#include "base/zip_format.h"
#include "runtime/format.h"

#include <assert.h>
#include <string.h>

typedef struct walk {
    const ig_file_part *parts;
    size_t count, part;
    uint64_t at; /* in that part */
} walk;

static void skip_bytes(walk *w, uint64_t bytes) {
    w->at += bytes;
    while (w->part < w->count && w->at >= w->parts[w->part].size) {
        w->at -= w->parts[w->part++].size;
    }
}

/* A 64-bit size is the first thing of a zip64 field, which is the first field. */
static uint64_t size_of_entry(const char *header, ig_str name) {
    uint64_t size = ig_zip_number(header + 22, 4);
    return size == UINT32_MAX ? ig_zip_number(name.data + name.size + 4, 8) : size;
}

/* False after the last entry.  The data are whole at `out_data` where they are code. */
static bool next_entry(walk *w, ig_str *out_name, ig_str *out_data) {
    if (w->part >= w->count || w->parts[w->part].size - w->at < IG_ZIP_LOCAL_BYTES) {
        return false;
    }
    const char *header = (const char *)w->parts[w->part].data + w->at;
    if (ig_zip_number(header, 4) != IG_ZIP_LOCAL) {
        return false;
    }
    *out_name = (ig_str){ header + IG_ZIP_LOCAL_BYTES, ig_zip_number(header + 26, 2) };
    out_data->size = size_of_entry(header, *out_name);
    skip_bytes(w, IG_ZIP_LOCAL_BYTES + out_name->size + ig_zip_number(header + 28, 2));
    assert(w->part < w->count && "a directory follows the entries");
    out_data->data = (const char *)w->parts[w->part].data + w->at;
    skip_bytes(w, out_data->size);
    return true;
}

void ig_emit_find_code(ig_arena *arena, const ig_file_part *parts, size_t count,
                       ig_part_list *out_code) {
    walk w = { .parts = parts, .count = count };
    ig_str name, data;
    while (next_entry(&w, &name, &data)) {
        if (ig_str_starts(name, IG_ENTRY_CODE "cpu-")) {
            IG_PUSH(arena, out_code, (ig_file_part){ data.data, data.size });
        }
    }
}
