/* What the tests of sharding share: a context, and files of cases.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_API_SHARD_CASE_H
#define IG_TESTS_UNIT_API_SHARD_CASE_H

#include "frontend/pt2/json.h"
#include "ingot/shard.h"
#include "tests/unit/unit.h"

#include <glob.h>

typedef struct fixture {
    ig_context *context;
    ig_arena arena;
    ig_location where;
} fixture;

static inline void setup(fixture *f, const char *name) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    f->context = ig_context_create(&options);
    f->where = (ig_location){ .file = name };
    ig_arena_init(&f->arena, NULL);
}

static inline void teardown(fixture *f) {
    ig_arena_fini(&f->arena);
    ig_context_destroy(f->context);
}

static inline char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK_MSG(file, "%s", path);
    size_t room = (size_t)8 << 20;
    char *text = malloc(room);
    CHECK(text);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    return text;
}

/* The member "input" as text: from its brace to the one that closes it. */
static inline char *cut_input(const char *text) {
    const char *begin = strstr(text, "\"input\":");
    CHECK(begin);
    begin = strchr(begin, '{');
    int depth = 0;
    const char *end = begin;
    do {
        depth += (*end == '{') - (*end == '}');
        end++;
    } while (depth > 0 && *end);
    return strndup(begin, (size_t)(end - begin));
}

/* How many files fit the pattern; each is checked. */
static inline size_t each_file(const char *pattern, void (*check)(const char *path)) {
    glob_t found = { 0 };
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    for (size_t i = 0; i < count; i++) {
        check(found.gl_pathv[i]);
    }
    globfree(&found);
    return count;
}

#endif
