/* Room in a cache's folder: what was used longest ago goes; few entries look for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/cache_folder.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 1 << 20, SMALL = 1000, LARGE = LIMIT / 4, COUNT = 4096 };

typedef struct folder_case {
    char folder[64], kind[80];
} folder_case;

static void open_case(folder_case *c) {
    snprintf(c->folder, sizeof c->folder, "/tmp/ingot-cache-XXXXXX");
    CHECK(mkdtemp(c->folder) != NULL);
    snprintf(c->kind, sizeof c->kind, "%s/models", c->folder);
    CHECK(mkdir(c->kind, 0700) == 0);
    setenv("INGOT_CACHE_BYTES", "1048576", 1);
}

static void close_case(folder_case *c) {
    CHECK(ig_cache_empty(c->folder, "models").count == 0);
    CHECK(rmdir(c->kind) == 0 && rmdir(c->folder) == 0);
    unsetenv("INGOT_CACHE_BYTES");
}

/* Entry `i`'s name: its first digits are spread as a hash's are. */
static void name_entry(char name[17], uint64_t i) {
    snprintf(name, 17, "%016llx", (unsigned long long)(i * 0x9e3779b97f4a7c15));
}

static void path_of(const folder_case *c, uint64_t i, char path[128]) {
    char name[17];
    name_entry(name, i);
    snprintf(path, 128, "%s/%s", c->kind, name);
}

/* Stores entry `i`, which was used `i` seconds after the first.  False: it is too large
 * to be kept. */
static bool store(const folder_case *c, uint64_t i, uint64_t bytes) {
    char name[17], path[128];
    name_entry(name, i);
    path_of(c, i, path);
    if (!ig_cache_make_room(c->folder, name, bytes)) {
        return false;
    }
    struct timespec at[2] = { { .tv_sec = (time_t)(1000 + i) },
                              { .tv_sec = (time_t)(1000 + i) } };
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    CHECK(futimens(file, at) == 0 && close(file) == 0);
    return true;
}

static bool is_kept(const folder_case *c, uint64_t i) {
    char path[128];
    path_of(c, i, path);
    return access(path, F_OK) == 0;
}

TEST(small_entries_never_grow_past_the_limit_and_a_quarter) {
    folder_case c;
    open_case(&c);
    uint64_t max = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        CHECK(store(&c, i, SMALL));
        if (i % 64 == 63) {
            uint64_t bytes = ig_cache_measure(c.folder, "models").bytes;
            max = bytes > max ? bytes : max;
        }
    }
    CHECK_MSG(max <= LIMIT + LIMIT / 4, "%llu bytes", (unsigned long long)max);
    CHECK_MSG(max > LIMIT / 2, "%llu bytes", (unsigned long long)max);
    CHECK(is_kept(&c, COUNT - 1) && !is_kept(&c, 0));
    close_case(&c);
}
END_TEST

TEST(a_large_entry_makes_its_room_at_once) {
    folder_case c;
    open_case(&c);
    for (uint64_t i = 0; i < 16; i++) {
        CHECK(store(&c, i, LARGE));
        CHECK(ig_cache_measure(c.folder, "models").bytes <= LIMIT);
        CHECK(is_kept(&c, i) && (i < 4 || !is_kept(&c, i - 4)));
    }
    close_case(&c);
}
END_TEST

TEST(more_than_half_of_the_limit_is_not_kept) {
    folder_case c;
    open_case(&c);
    CHECK(store(&c, 0, SMALL));
    CHECK(!store(&c, 1, LIMIT / 2 + 1));
    CHECK(is_kept(&c, 0));
    CHECK(store(&c, 2, LIMIT / 2));
    close_case(&c);
}
END_TEST

UNIT_SUITE(cache_folder, small_entries_never_grow_past_the_limit_and_a_quarter,
           a_large_entry_makes_its_room_at_once,
           more_than_half_of_the_limit_is_not_kept)
