/* Hashes of constants.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A table may be larger than memory.  It is read piece by piece, each populated at once
 * (a page fault for every 4 KiB takes longer than hashing) and let go again.
 */
#include "driver/cache/payload.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PIECE = 16 << 20 };

/* Whole pages inside of a piece; its ends are left alone. */
static void advise_pages(const char *begin, size_t size, int advice) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)begin + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)begin + size) / page * page;
    if (to > from) {
        (void)!madvise((void *)from, to - from, advice); /* only to be quick */
    }
}

static ig_hash128 hash_in_pieces(const char *bytes, size_t size) {
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (size_t done = 0; done < size;) {
        size_t piece = size - done < PIECE ? size - done : PIECE;
        advise_pages(bytes + done, piece, MADV_POPULATE_READ);
        XXH3_128bits_update(&state, bytes + done, piece);
        advise_pages(bytes + done, piece, MADV_DONTNEED);
        done += piece;
    }
    XXH128_canonical_t canonical;
    ig_hash128 hash;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
    memcpy(hash.bytes, canonical.digest, sizeof hash.bytes);
    return hash;
}

/* Which of the module's files holds these bytes; -1: none. */
static ptrdiff_t file_with(const ig_module *module, const void *bytes) {
    const char *at = bytes;
    for (size_t i = 0; i < module->files.count; i++) {
        const ig_file_map *file = &module->files.items[i];
        const char *begin = file->data;
        if (begin && at >= begin && at < begin + file->size) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* ---- are they still there? ---- */

static bool is_same_file(const ig_file_map *file, const char *path) {
    ig_file_map now;
    if (ig_file_map_open(path, &now, NULL) != IG_OK) {
        return false;
    }
    bool is_same = now.device == file->device && now.inode == file->inode &&
                   now.size == file->size && now.mtime_ns == file->mtime_ns;
    ig_file_map_close(&now);
    return is_same;
}

uint64_t ig_payloads_on_disk(const ig_module *module) {
    uint64_t total = 0;
    ptrdiff_t checked = -1;
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        const ig_data *data = &weight->data;
        if (weight->is_recipe || !data->file || data->is_splat || data->size == 0) {
            continue;
        }
        ptrdiff_t file = file_with(module, data->bytes);
        if (file < 0 || (file != checked &&
                         !is_same_file(&module->files.items[file], data->file))) {
            return 0;
        }
        checked = file;
        total += (uint64_t)data->size;
    }
    return total;
}

/* ---- hashes ---- */

static void load_hashes(ig_payloads *p) {
    size_t count = p->module->files.count;
    p->files = IG_NEW_ARRAY(p->arena, ig_payload_hashes, count);
    for (size_t i = 0; i < count && p->folder; i++) {
        ig_cache_get_hashes(p->folder, &p->module->files.items[i], p->arena,
                            &p->files[i]);
    }
}

static ig_hash128 hash_in_file(ig_payloads *p, size_t index, const void *bytes,
                               size_t size) {
    assert(index < p->module->files.count && p->files &&
           "hashes are loaded, one list for each file");
    const char *begin = p->module->files.items[index].data;
    uint64_t offset = (uint64_t)((const char *)bytes - begin);
    assert(offset + size <= p->module->files.items[index].size &&
           "importers check that constants are in their file");
    ig_payload_hashes *known = &p->files[index];
    for (size_t i = 0; i < known->items.count; i++) {
        const ig_payload_hash *item = &known->items.items[i];
        if (item->offset == offset && item->size == size) {
            return item->hash;
        }
    }
    ig_hash128 hash = size > PIECE ? hash_in_pieces(bytes, size)
                                   : ig_artifact_hash(bytes, size);
    IG_PUSH(p->arena, &known->items, (ig_payload_hash){ offset, size, hash });
    known->is_changed = true;
    return hash;
}

ig_hash128 ig_payload_hash_of(ig_payloads *payloads, const void *bytes, size_t size) {
    assert((bytes || size == 0) && "constants have their bytes");
    if (!payloads->files) {
        load_hashes(payloads);
    }
    ptrdiff_t file = size ? file_with(payloads->module, bytes) : -1;
    return file >= 0 ? hash_in_file(payloads, (size_t)file, bytes, size)
                     : ig_artifact_hash(bytes, size);
}

void ig_payloads_keep(ig_payloads *payloads) {
    for (size_t i = 0;
         payloads->files && payloads->folder && i < payloads->module->files.count;
         i++) {
        ig_cache_put_hashes(payloads->folder, &payloads->module->files.items[i],
                            &payloads->files[i]);
        payloads->files[i].is_changed = false;
    }
}
