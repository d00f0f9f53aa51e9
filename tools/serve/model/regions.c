/* Shared memory of the system.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_REGIONS = 1024, NAME = 256 };

typedef struct entry {
    char name[NAME], key[NAME];
    uint64_t offset, size;
    int memory;
} entry;

struct regions {
    pthread_mutex_t lock; /* held while bytes are copied, so that none goes away */
    entry *all;
    size_t count;
};

regions *regions_create(void) {
    regions *made = calloc(1, sizeof *made);
    if (made) {
        made->all = calloc(MAX_REGIONS, sizeof *made->all);
        pthread_mutex_init(&made->lock, NULL);
    }
    if (made && !made->all) {
        free(made);
        made = NULL;
    }
    return made;
}

static size_t find_entry(const regions *in, const char *name) {
    size_t i = 0;
    while (i < in->count && strcmp(in->all[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void remove_entry(regions *of, size_t i) {
    close(of->all[i].memory);
    of->all[i] = of->all[--of->count];
}

void regions_destroy(regions *of) {
    while (of && of->count) {
        remove_entry(of, 0);
    }
    if (of) {
        pthread_mutex_destroy(&of->lock);
        free(of->all);
        free(of);
    }
}

call_status regions_add(regions *of, const region *what, char words[WORDS]) {
    const char *key = what->key + (*what->key == '/');
    uint64_t end;
    entry made = { .offset = what->offset, .size = what->size };
    if (!*key || strchr(key, '/') || *key == '.' || strlen(key) >= NAME - 1 ||
        !*what->name || strlen(what->name) >= NAME || what->size == 0 ||
        __builtin_add_overflow(what->offset, what->size, &end) || end > INT64_MAX) {
        snprintf(words, WORDS,
                 "a region needs a name, a key without slashes and a size");
        return CALL_INVALID;
    }
    snprintf(made.name, NAME, "%s", what->name);
    snprintf(made.key, NAME, "/%s", key);
    made.memory = shm_open(made.key, O_RDWR | O_CLOEXEC, 0);
    if (made.memory < 0) {
        snprintf(words, WORDS, "shared memory '%.200s': %s", key, strerror(errno));
        return CALL_INVALID;
    }
    pthread_mutex_lock(&of->lock);
    call_status status = CALL_OK;
    if (find_entry(of, made.name) < of->count) {
        status = CALL_EXISTS;
        snprintf(words, WORDS, "region '%.200s' is registered already", made.name);
    } else if (of->count == MAX_REGIONS) {
        status = CALL_FULL;
        snprintf(words, WORDS, "%d regions are registered", MAX_REGIONS);
    } else {
        of->all[of->count++] = made;
    }
    pthread_mutex_unlock(&of->lock);
    if (status != CALL_OK) {
        close(made.memory);
    }
    return status;
}

void regions_remove(regions *of, const char *name) {
    pthread_mutex_lock(&of->lock);
    for (size_t i = of->count; i-- > 0;) {
        if (!*name || strcmp(of->all[i].name, name) == 0) {
            remove_entry(of, i);
        }
    }
    pthread_mutex_unlock(&of->lock);
}

call_status regions_visit(regions *of, const char *name,
                          void (*take)(void *user, const region *each), void *user) {
    call_status status = *name ? CALL_NOT_FOUND : CALL_OK;
    pthread_mutex_lock(&of->lock);
    for (size_t i = 0; i < of->count; i++) {
        const entry *each = &of->all[i];
        if (!*name || strcmp(each->name, name) == 0) {
            take(user, &(region){ each->name, each->key, each->offset, each->size });
            status = CALL_OK;
        }
    }
    pthread_mutex_unlock(&of->lock);
    return status;
}

/* One of the two directions. */
typedef struct copying {
    uint8_t *to;
    const uint8_t *from; /* NULL: reading */
} copying;

static bool copy_part(const entry *of, const region *part, copying how) {
    uint64_t done = 0;
    while (done < part->size) {
        off_t at = (off_t)(of->offset + part->offset + done);
        size_t left = (size_t)(part->size - done);
        ssize_t moved = how.from ? pwrite(of->memory, how.from + done, left, at)
                                 : pread(of->memory, how.to + done, left, at);
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            errno = moved < 0 ? errno : ENODATA;
            return false;
        }
        done += (uint64_t)moved;
    }
    return true;
}

static call_status copy_region(regions *of, const region *part, copying how,
                               char words[WORDS]) {
    call_status status = CALL_OK;
    pthread_mutex_lock(&of->lock);
    size_t i = find_entry(of, part->name);
    const entry *found = i < of->count ? &of->all[i] : NULL;
    if (!found) {
        status = CALL_NOT_FOUND;
        snprintf(words, WORDS, "no region '%.200s' is registered", part->name);
    } else if (part->offset > found->size || part->size > found->size - part->offset) {
        status = CALL_INVALID;
        snprintf(words, WORDS, "region '%.200s' has %llu bytes, not %llu from %llu on",
                 part->name, (unsigned long long)found->size,
                 (unsigned long long)part->size, (unsigned long long)part->offset);
    } else if (!copy_part(found, part, how)) {
        status = CALL_INVALID;
        snprintf(words, WORDS, "region '%.200s': %s", part->name,
                 errno == ENODATA ? "its memory is shorter than was registered"
                                  : strerror(errno));
    }
    pthread_mutex_unlock(&of->lock);
    return status;
}

call_status regions_read(regions *of, const region *part, void *to, char words[WORDS]) {
    return copy_region(of, part, (copying){ .to = to }, words);
}

call_status regions_write(regions *of, const region *part, const void *from,
                          char words[WORDS]) {
    static const uint8_t nothing[1];
    return copy_region(of, part, (copying){ .from = from ? from : nothing }, words);
}
