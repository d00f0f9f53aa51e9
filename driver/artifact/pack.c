/* Packing an artifact: the code entries and the zip around everything.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A container is a list of parts, so that weights go from where they are to the file
 * and are never gathered.  Each local header is padded by an extra field until the data
 * after it is aligned; zip64 fields appear where 32 bits do not hold a number.
 */
#include "driver/artifact/write.h"

#include "base/checked.h"
#include "base/crc32.h"
#include "base/zip_format.h"
#include "runtime/stored_format.h"
#include "runtime/train_format.h"

#include <assert.h>
#include <string.h>

enum {
    EXTRA_PADDING = 0xd935, /* as used for aligned Android packages */
    VERSION_ZIP64 = 45,
    NAME_BYTES = 128,
};

/* ---- parts and entries ---- */

typedef struct entry {
    ig_str name;
    size_t first, count;   /* parts */
    uint64_t size, offset; /* of the data; of the local header */
    uint32_t crc;
    size_t align;
} entry;

typedef IG_VEC(ig_file_part) part_list;

typedef struct packer {
    ig_arena *arena;
    ig_crc32 crc32;
    part_list data, parts; /* of entries; of the file */
    IG_VEC(entry) entries;
    uint64_t bytes; /* of the file so far */
} packer;

static const char zeros[IG_WEIGHTS_ALIGN];

static bool begins_with(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* An artifact in the artifact may hold weights and code too. */
static bool is_artifact(const char *name) {
    static const char *const names[] = { IG_ENTRY_IDS, IG_ENTRY_EVALUATE,
                                         IG_ENTRY_PREDICT, IG_ENTRY_INITIAL };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static size_t align_of(const char *name) {
    bool is_paged = begins_with(name, IG_ENTRY_WEIGHTS) ||
                    begins_with(name, IG_ENTRY_CODE) || is_artifact(name);
    return is_paged ? IG_WEIGHTS_ALIGN : IG_ENTRY_ALIGN;
}

static void open_entry(packer *p, const char *name, size_t align) {
    entry e = { .name = ig_str_of(ig_arena_strdup(p->arena, name)),
                .first = p->data.count,
                .align = align };
    IG_PUSH(p->arena, &p->entries, e);
}

static void add_data(packer *p, const void *data, uint64_t size) {
    assert(p->entries.count > 0 && "data belong to an open entry");
    entry *e = &IG_LAST(&p->entries);
    if (size > 0) {
        IG_PUSH(p->arena, &p->data, (ig_file_part){ data, size });
        e->crc = ig_crc32_add(&p->crc32, e->crc, data, size);
        e->size += size;
        e->count++;
    }
}

static void add_zeros(packer *p, uint64_t size) {
    for (; size > sizeof zeros; size -= sizeof zeros) {
        add_data(p, zeros, sizeof zeros);
    }
    add_data(p, zeros, size);
}

/* ---- code ---- */

static ig_str pack_code(ig_arena *arena, const ig_artifact_kernel *kernels,
                        size_t count) {
    ig_writer code;
    ig_code_header header = { .magic = IG_CODE_MAGIC,
                              .version = IG_FORMAT_VERSION,
                              .kernel_count = (uint32_t)count,
                              .header_bytes = sizeof header,
                              .record_bytes = sizeof(ig_code_kernel) };
    ig_code_kernel *table = IG_NEW_ARRAY(arena, ig_code_kernel, count);
    const ig_artifact_kernel *last = NULL;
    ig_writer_init(&code, arena);
    ig_put_bytes(&code, &header, sizeof header);
    ig_put_bytes(&code, table, count * sizeof *table);
    ig_put_align(&code, IG_CODE_ALIGN);
    header.image_offset = code.size;
    for (size_t i = 0; i < count; i++) {
        table[i] = (ig_code_kernel){ UINT64_MAX, 0 };
        if (last && kernels[i].bytes == last->bytes &&
            kernels[i].entry == last->entry) {
            table[i] = table[last - kernels]; /* of one module */
            continue;
        }
        ig_put_align(&code, IG_ENTRY_ALIGN);
        if (kernels[i].bytes) {
            assert(kernels[i].entry < kernels[i].size && "the function is in its code");
            table[i].entry = code.size - header.image_offset + kernels[i].entry;
            table[i].bytes = kernels[i].size;
            ig_put_bytes(&code, kernels[i].bytes, kernels[i].size);
            last = &kernels[i];
        }
    }
    header.image_bytes = code.size - header.image_offset;
    header.code_bytes = code.size;
    memcpy(code.data, &header, sizeof header);
    memcpy(code.data + sizeof header, table, count * sizeof *table);
    size_t hashed = offsetof(ig_code_header, image_offset);
    header.hash = ig_artifact_hash(code.data + hashed, code.size - hashed);
    memcpy(code.data, &header, sizeof header);
    return ig_writer_str(&code);
}

static ig_debug_span put_span(ig_writer *to, const void *bytes, size_t size) {
    ig_put_align(to, 8);
    ig_debug_span span = { to->size, size };
    ig_put_bytes(to, bytes, size);
    return span;
}

static ig_debug_kernel put_debug(ig_writer *to, const ig_artifact_kernel *kernel,
                                 const ig_code_kernel *placed) {
    const ig_artifact_debug *debug = kernel->debug;
    return (ig_debug_kernel){
        .code = placed->entry - kernel->entry,
        .file = put_span(to, debug->file.data, debug->file.size),
        .text = put_span(to, debug->text.data, debug->text.size),
        .object = put_span(to, debug->object.data, debug->object.size),
        .folder = debug->folder,
        .lines = put_span(to, debug->lines, debug->line_count * sizeof *debug->lines),
    };
}

/* Facts about the kernels of the entry `code`; empty for nothing. */
static ig_str pack_debug(ig_arena *arena, const ig_artifact_kernel *kernels,
                         size_t count, ig_str code) {
    ig_writer out;
    const ig_code_header *coded = (const void *)code.data;
    const ig_code_kernel *placed = (const void *)(coded + 1);
    ig_debug_header header = { .magic = IG_DEBUG_MAGIC,
                               .version = IG_FORMAT_VERSION,
                               .kernel_count = (uint32_t)count,
                               .code = coded->hash };
    ig_debug_kernel *table = IG_NEW_ARRAY(arena, ig_debug_kernel, count);
    bool has_any = false;
    ig_writer_init(&out, arena);
    ig_put_bytes(&out, &header, sizeof header);
    ig_put_bytes(&out, table, count * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        if (kernels[i].bytes && kernels[i].debug) {
            table[i] = put_debug(&out, &kernels[i], &placed[i]);
            has_any = true;
        }
    }
    if (!has_any) {
        return (ig_str){ NULL, 0 };
    }
    size_t hashed = offsetof(ig_debug_header, hash) + sizeof header.hash;
    header.bytes = out.size;
    memcpy(out.data + sizeof header, table, count * sizeof *table);
    header.hash = ig_artifact_hash(out.data + hashed, out.size - hashed);
    memcpy(out.data, &header, sizeof header);
    return ig_writer_str(&out);
}

static void add_level_entry(packer *p, const char *prefix, const char *family,
                            const char *level, ig_str data) {
    const char *name = ig_arena_printf(p->arena, "%s%s-%s", prefix, family, level);
    open_entry(p, name, align_of(name));
    add_data(p, data.data, data.size);
}

static void add_levels(packer *p, const ig_artifact_writer *writer,
                       const ig_artifact_level *levels) {
    size_t count = writer->kernels.count;
    for (size_t i = 0; i < writer->levels.count; i++) {
        const char *name = writer->strings.data + writer->levels.items[i].offset;
        ig_str code = pack_code(p->arena, levels[i].kernels, count);
        ig_str debug = pack_debug(p->arena, levels[i].kernels, count, code);
        add_level_entry(p, IG_ENTRY_CODE, writer->family, name, code);
        if (debug.size) {
            add_level_entry(p, IG_ENTRY_DEBUG, writer->family, name, debug);
        }
    }
}

static void add_weights(packer *p, const ig_artifact_weights *weights) {
    uint64_t at = 0;
    for (size_t i = 0; i < weights->spans.count; i++) {
        const ig_artifact_span *span = &weights->spans.items[i];
        assert(span->offset >= at && "constants follow one another");
        add_zeros(p, span->offset - at);
        add_data(p, span->data, span->size);
        at = span->offset + span->size;
    }
}

/* ---- zip ---- */

static void put_number(ig_writer *w, uint64_t value, int bytes) {
    assert((bytes <= 0 || bytes >= 8 || value >> (8 * bytes) == 0) &&
           "the field holds the number");
    for (int i = 0; i < bytes; i++) {
        ig_put_char(w, (char)(value >> (8 * i) & 255));
    }
}

static uint64_t in_32_bits(uint64_t value) {
    return value < UINT32_MAX ? value : UINT32_MAX;
}

/* The fields that the local header and the directory record share. */
static void put_common(ig_writer *w, const entry *e, bool is_large) {
    put_number(w, is_large ? VERSION_ZIP64 : 20, 2);
    put_number(w, 0, 2);          /* flags */
    put_number(w, 0, 2);          /* stored */
    put_number(w, 0, 2);          /* time: 1980-01-01, so that equal */
    put_number(w, 1 << 5 | 1, 2); /* inputs give equal files */
    put_number(w, e->crc, 4);
    put_number(w, is_large ? UINT32_MAX : e->size, 4);
    put_number(w, is_large ? UINT32_MAX : e->size, 4);
    put_number(w, e->name.size, 2);
}

/* Bytes of the padding field (at least its own four) that align the data. */
static uint64_t padding_of(const packer *p, const entry *e, uint64_t head) {
    uint64_t at = p->bytes + head + 4;
    return 4 + (ig_align_up(at, e->align) - at);
}

static void put_local(packer *p, entry *e) {
    bool is_large = e->size >= UINT32_MAX;
    uint64_t large = is_large ? 20 : 0;
    uint64_t padding = padding_of(p, e, IG_ZIP_LOCAL_BYTES + e->name.size + large);
    ig_writer w;
    ig_writer_init(&w, p->arena);
    put_number(&w, IG_ZIP_LOCAL, 4);
    put_common(&w, e, is_large);
    put_number(&w, large + padding, 2);
    ig_put_str(&w, e->name);
    if (is_large) {
        put_number(&w, IG_ZIP_EXTRA64, 2);
        put_number(&w, 16, 2);
        put_number(&w, e->size, 8);
        put_number(&w, e->size, 8);
    }
    put_number(&w, EXTRA_PADDING, 2);
    put_number(&w, padding - 4, 2);
    assert(padding - 4 <= sizeof zeros && "no entry is aligned further than weights");
    ig_put_bytes(&w, zeros, padding - 4);
    e->offset = p->bytes;
    IG_PUSH(p->arena, &p->parts, (ig_file_part){ w.data, w.size });
    assert((p->bytes + w.size) % e->align == 0 && "data are aligned in the file");
    p->bytes += w.size + e->size;
    for (size_t i = 0; i < e->count; i++) {
        IG_PUSH(p->arena, &p->parts, p->data.items[e->first + i]);
    }
}

static void put_record(ig_writer *w, const entry *e) {
    bool is_large = e->size >= UINT32_MAX, is_far = e->offset >= UINT32_MAX;
    uint64_t extra = (is_large ? 16u : 0u) + (is_far ? 8u : 0u);
    put_number(w, IG_ZIP_RECORD, 4);
    put_number(w, 3 << 8 | VERSION_ZIP64, 2); /* made on Unix */
    put_common(w, e, is_large);
    put_number(w, extra ? extra + 4 : 0, 2);
    put_number(w, 0, 2 + 2 + 2);      /* comment, disk, kind of content */
    put_number(w, 0100644u << 16, 4); /* mode of the file */
    put_number(w, in_32_bits(e->offset), 4);
    ig_put_str(w, e->name);
    if (extra) {
        put_number(w, IG_ZIP_EXTRA64, 2);
        put_number(w, extra, 2);
        put_number(w, e->size, is_large ? 8 : 0);
        put_number(w, e->size, is_large ? 8 : 0);
        put_number(w, e->offset, is_far ? 8 : 0);
    }
}

static void put_end(ig_writer *w, uint64_t start, uint64_t count) {
    uint64_t size = w->size;
    if (start >= UINT32_MAX || size >= UINT32_MAX) {
        put_number(w, IG_ZIP_END64, 4);
        put_number(w, IG_ZIP_END64_BYTES - 12, 8);
        put_number(w, VERSION_ZIP64, 2);
        put_number(w, VERSION_ZIP64, 2);
        put_number(w, 0, 8); /* disks */
        put_number(w, count, 8);
        put_number(w, count, 8);
        put_number(w, size, 8);
        put_number(w, start, 8);
        put_number(w, IG_ZIP_LOCATOR, 4);
        put_number(w, 0, 4);
        put_number(w, start + size, 8);
        put_number(w, 1, 4);
    }
    put_number(w, IG_ZIP_END, 4);
    put_number(w, 0, 4); /* disks */
    put_number(w, count, 2);
    put_number(w, count, 2);
    put_number(w, in_32_bits(size), 4);
    put_number(w, in_32_bits(start), 4);
    put_number(w, 0, 2); /* comment */
}

static void put_container(packer *p) {
    ig_writer directory;
    ig_writer_init(&directory, p->arena);
    for (size_t i = 0; i < p->entries.count; i++) {
        entry *e = &p->entries.items[i];
        put_local(p, e);
        put_record(&directory, e);
    }
    put_end(&directory, p->bytes, p->entries.count);
    IG_PUSH(p->arena, &p->parts, (ig_file_part){ directory.data, directory.size });
}

/* ---- all of it ---- */

static void add_entries(packer *p, const ig_artifact_entry *entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ig_str from = entries[i].name;
        const char *name = ig_arena_copy(p->arena, from.data, from.size);
        open_entry(p, name, align_of(name));
        add_data(p, entries[i].data.data, entries[i].data.size);
        for (size_t k = 0; k < entries[i].part_count; k++) {
            add_data(p, entries[i].parts[k].data, entries[i].parts[k].size);
        }
    }
}

static void add_plan(packer *p, ig_artifact_writer *writer) {
    bool is_cpu = strcmp(writer->family, IG_FAMILY_NAME_CPU) == 0;
    ig_str plan = ig_artifact_plan(writer);
    open_entry(p,
               is_cpu ? IG_ENTRY_PLAN
                      : ig_arena_printf(p->arena, IG_ENTRY_PLAN "-%s", writer->family),
               IG_ENTRY_ALIGN);
    add_data(p, plan.data, plan.size);
}

void ig_artifact_pack(ig_artifact_writer *writer, const ig_artifact_contents *contents,
                      ig_file_part **out_parts, size_t *out_count) {
    packer *p = IG_NEW(writer->arena, packer);
    p->arena = writer->arena;
    ig_crc32_init(&p->crc32);
    open_entry(p, IG_ENTRY_MANIFEST, IG_ENTRY_ALIGN);
    add_data(p, contents->manifest.data, contents->manifest.size);
    add_plan(p, writer);
    for (size_t i = 0; i < contents->other_count; i++) {
        add_plan(p, contents->others[i].writer);
    }
    if (contents->sources.size > 0) {
        open_entry(p, IG_ENTRY_SOURCES, IG_ENTRY_ALIGN);
        add_data(p, contents->sources.data, contents->sources.size);
    }
    add_levels(p, writer, contents->levels);
    for (size_t i = 0; i < contents->other_count; i++) {
        add_levels(p, contents->others[i].writer, contents->others[i].levels);
    }
    if (writer->weights->spans.count > 0) {
        open_entry(p, IG_ENTRY_WEIGHTS, IG_WEIGHTS_ALIGN);
        add_weights(p, writer->weights);
    }
    add_entries(p, contents->extra, contents->extra_count);
    put_container(p);
    *out_parts = p->parts.items;
    *out_count = p->parts.count;
}

void ig_artifact_repack(ig_arena *arena, const ig_artifact_entry *entries, size_t count,
                        ig_file_part **out_parts, size_t *out_count) {
    packer *p = IG_NEW(arena, packer);
    p->arena = arena;
    ig_crc32_init(&p->crc32);
    add_entries(p, entries, count);
    put_container(p);
    *out_parts = p->parts.items;
    *out_count = p->parts.count;
}
