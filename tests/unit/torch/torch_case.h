/* What the tests of PyTorch's files share: a context that keeps messages, the folder of
 * the cases, and zip files made by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_TORCH_TORCH_CASE_H
#define IG_TESTS_UNIT_TORCH_TORCH_CASE_H

#include "base/platform/platform.h"
#include "base/writer.h"
#include "frontend/torch/pickle/pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct torch_case {
    ig_context context;
    ig_arena arena;
    ig_file_map map;
    char why[2000]; /* the messages so far */
} torch_case;

static inline void torch_case_sink(void *user, const ig_diagnostic *diagnostic) {
    torch_case *c = user;
    size_t used = strlen(c->why);
    if (used + 2 < sizeof(c->why)) {
        ig_diagnostic_format(diagnostic, c->why + used, sizeof(c->why) - used - 2);
        strcat(c->why, "\n");
    }
}

static inline void torch_case_init(torch_case *c) {
    memset(c, 0, sizeof(*c));
    c->context.limits = ig_limits_default;
    c->context.diag.sink = torch_case_sink;
    c->context.diag.user = c;
    ig_arena_init(&c->arena, &c->context.budget);
}

/* Forgets the messages, so that more of them are kept. */
static inline void torch_case_clear(torch_case *c) {
    c->context.diag.error_count = 0;
    c->why[0] = '\0';
}

static inline void torch_case_fini(torch_case *c) {
    if (c->map.base) {
        ig_file_map_close(&c->map);
    }
    ig_arena_fini(&c->arena);
}

/* "FOLDER/models/torch" below INGOT_CASES or ../shared. */
static inline void torch_case_folder(char *folder, size_t size) {
    const char *cases = getenv("INGOT_CASES");
    if (cases) {
        snprintf(folder, size, "%s/models/torch", cases);
    } else {
        snprintf(folder, size, "%s/../shared/models/torch", INGOT_SOURCE_DIR);
    }
}

/* Maps FOLDER/name; false when it is not there. */
static inline bool torch_case_map(torch_case *c, const char *name, ig_str *out) {
    char folder[400];
    torch_case_folder(folder, sizeof(folder));
    const char *path = ig_arena_printf(&c->arena, "%s/%s", folder, name);
    if (ig_file_map_open(path, &c->map, NULL) != IG_OK) {
        return false;
    }
    *out = (ig_str){ c->map.data, c->map.size };
    return true;
}

/* ---- zip files of stored entries ---- */

typedef struct torch_entry {
    const char *name;
    ig_str bytes;
} torch_entry;

static inline void torch_put(ig_writer *out, uint64_t number, int size) {
    for (int i = 0; i < size; i++) {
        ig_put_char(out, (char)(i < 8 ? number >> (8 * i) & 255 : 0));
    }
}

/* Version to size: what both headers share.  No checksum is recorded. */
static inline void torch_put_facts(ig_writer *out, const torch_entry *entry) {
    torch_put(out, 20, 2);
    torch_put(out, 0, 4);
    torch_put(out, 0x21 << 16, 4);
    torch_put(out, 0, 4);
    torch_put(out, entry->bytes.size, 4);
    torch_put(out, entry->bytes.size, 4);
    torch_put(out, strlen(entry->name), 2);
}

static inline ig_str torch_zip(ig_arena *arena, const torch_entry *entries,
                               size_t count) {
    ig_writer out, directory;
    ig_writer_init(&out, arena);
    ig_writer_init(&directory, arena);
    for (size_t i = 0; i < count; i++) {
        torch_put(&directory, 0x02014b50, 4);
        torch_put(&directory, 20, 2);
        torch_put_facts(&directory, &entries[i]);
        torch_put(&directory, 0, 12);
        torch_put(&directory, out.size, 4);
        ig_put_str(&directory, ig_str_of(entries[i].name));
        torch_put(&out, 0x04034b50, 4);
        torch_put_facts(&out, &entries[i]);
        torch_put(&out, 0, 2);
        ig_put_str(&out, ig_str_of(entries[i].name));
        ig_put_str(&out, entries[i].bytes);
    }
    uint64_t begin = out.size;
    ig_put_str(&out, ig_writer_str(&directory));
    torch_put(&out, 0x06054b50, 4);
    torch_put(&out, 0, 4);
    torch_put(&out, count, 2);
    torch_put(&out, count, 2);
    torch_put(&out, directory.size, 4);
    torch_put(&out, begin, 4);
    torch_put(&out, 0, 2);
    return ig_writer_str(&out);
}

#endif
