/* Keeping the caches small: the oldest entries go first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Called when an artifact is about to be added, though a folder is not looked through
 * for each.  Several processes may do it at once: removing a file that is gone already
 * does no harm, and a reader that had opened an entry keeps it.
 */
#include "driver/cache/cache_folder.h"

#include "base/platform/platform.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t default_limit = (uint64_t)4 << 30;

/* Scans per limit of stored bytes, and the smallest size of a file. */
enum { SCANS_PER_LIMIT = 1024, BLOCK = 4096 };

typedef struct entry {
    char *name;
    uint64_t bytes;
    struct timespec used;
} entry;

typedef struct listing {
    int folder;
    entry *items;
    size_t count, capacity;
    uint64_t bytes;
} listing;

static struct timespec max_time(struct timespec a, struct timespec b) {
    bool is_a = a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
    return is_a ? a : b;
}

static void add_entry(listing *to, const char *name) {
    struct stat facts;
    if (name[0] == '.' || fstatat(to->folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode)) {
        return;
    }
    if (to->count == to->capacity) {
        size_t capacity = to->capacity ? 2 * to->capacity : 64;
        entry *items = realloc(to->items, capacity * sizeof *items);
        if (!items) {
            return;
        }
        to->items = items;
        to->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy) {
        entry one = { copy, (uint64_t)facts.st_size,
                      max_time(facts.st_atim, facts.st_mtim) };
        assert(to->count < to->capacity && "the array was grown for one more");
        to->items[to->count++] = one;
        to->bytes += (uint64_t)facts.st_size;
    }
}

static int by_age(const void *a, const void *b) {
    const struct timespec *x = &((const entry *)a)->used,
                          *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec) {
        return x->tv_sec < y->tv_sec ? -1 : 1;
    }
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Another process may have removed it. */
static bool is_gone(int folder, const char *name) {
    return unlinkat(folder, name, 0) == 0 || errno == ENOENT;
}

/* Leaves at most `limit` bytes in one folder, and counts the rest. */
static void trim_kind(const char *folder, const char *kind, uint64_t limit,
                      ig_cache_usage *out) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, kind);
    DIR *opened = length > 0 && (size_t)length < sizeof path ? opendir(path) : NULL;
    if (!opened) {
        return;
    }
    listing all = { .folder = dirfd(opened) };
    for (struct dirent *item; (item = readdir(opened));) {
        add_entry(&all, item->d_name);
    }
    if (all.bytes > limit) {
        qsort(all.items, all.count, sizeof *all.items, by_age);
    }
    out->count = all.count;
    for (size_t i = 0; i < all.count; i++) {
        bool is_excess = limit == 0 || all.bytes > limit;
        if (is_excess && is_gone(all.folder, all.items[i].name)) {
            all.bytes -= all.items[i].bytes;
            out->count--;
        }
        free(all.items[i].name);
    }
    out->bytes = all.bytes;
    free(all.items);
    closedir(opened);
}

/* The same, without what processes that were killed left half written. */
static void trim_folder(const char *folder, const char *kind, uint64_t limit) {
    char inside[4096];
    ig_cache_usage found = { 0 };
    int length = snprintf(inside, sizeof inside, "%s/%s/", folder, kind);
    if (length > 0 && (size_t)length < sizeof inside) {
        ig_file_remove_stale(inside);
    }
    trim_kind(folder, kind, limit, &found);
}

ig_cache_usage ig_cache_measure(const char *folder, const char *kind) {
    ig_cache_usage found = { 0 };
    trim_kind(folder, kind, UINT64_MAX, &found);
    return found;
}

ig_cache_usage ig_cache_empty(const char *folder, const char *kind) {
    ig_cache_usage found = { 0 };
    trim_kind(folder, kind, 0, &found);
    return found;
}

bool ig_cache_read_limit(uint64_t *out_limit) {
    const char *text = secure_getenv("INGOT_CACHE_BYTES");
    char *end = NULL;
    bool is_set = text && *text;
    errno = 0;
    uint64_t given = is_set ? strtoull(text, &end, 10) : 0;
    bool is_good = !is_set || (text[strspn(text, "0123456789")] == '\0' && !errno);
    *out_limit = is_set && is_good ? given : default_limit;
    return is_good;
}

uint64_t ig_cache_limit(void) {
    uint64_t limit;
    (void)ig_cache_read_limit(&limit);
    return limit;
}

/* Looking through a folder costs a system call an entry, so that not each that is
 * added pays for it, but one for so many bytes: its name, which is a hash, draws.  An
 * artifact holds its kernels, so their folder is not forgotten. */
static bool is_scan_due(const char *name, uint64_t bytes, uint64_t limit) {
    enum { DIGITS = 16 };
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%s", name);
    assert(strspn(digits, "0123456789abcdef") == DIGITS && "names are hashes");
    return strtoull(digits, NULL, 16) % (limit / SCANS_PER_LIMIT + 1) < bytes + BLOCK;
}

bool ig_cache_make_room(const char *folder, const char *name, uint64_t bytes) {
    uint64_t limit = ig_cache_limit();
    bool fits = bytes <= limit / 2;
    if (fits && !is_scan_due(name, bytes, limit)) {
        return true;
    }
    trim_folder(folder, "models", fits ? limit - bytes : limit);
    trim_folder(folder, "kernels", limit / 16);
    trim_folder(folder, "files", limit / 64);
    return fits;
}
