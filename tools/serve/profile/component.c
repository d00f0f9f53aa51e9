/* Components.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/component.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void name_component(const components *in, const uint8_t *hash,
                           char path[PATH_BYTES]) {
    int at = snprintf(path, PATH_BYTES, "%.3900s/", in->folder);
    for (int i = 0; i < HASH_BYTES; i++) {
        at += snprintf(path + at, (size_t)(PATH_BYTES - at), "%02x", hash[i]);
    }
}

static bool make_folders(const char *path) {
    char part[PATH_BYTES];
    for (const char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return false;
        }
    }
    return true;
}

bool component_link(const components *in, const uint8_t hash[HASH_BYTES],
                    const char *path) {
    char from[PATH_BYTES];
    name_component(in, hash, from);
    /* Its time says when it was used last. */
    if (utimensat(AT_FDCWD, from, NULL, 0) != 0 || !make_folders(path)) {
        return false;
    }
    unlink(path); /* a client may send a file of the same name again */
    return link(from, path) == 0;
}

/* ---- uploads ---- */

upload *upload_begin(const components *to) {
    upload *made = calloc(1, sizeof *made);
    gnutls_hash_hd_t hash = NULL;
    if (!made) {
        return NULL;
    }
    made->to = to;
    snprintf(made->path, PATH_BYTES, "%.3900s/new-XXXXXX", to->folder);
    made->file = mkostemp(made->path, O_CLOEXEC);
    if (made->file < 0 || gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) {
        upload_end(made, NULL);
        return NULL;
    }
    made->hash = hash;
    return made;
}

bool upload_put(upload *to, const uint8_t *data, size_t size) {
    if (size > to->to->limit - to->size) {
        errno = EFBIG;
        return false;
    }
    to->size += size;
    while (size) {
        ssize_t written = write(to->file, data, size);
        if (written < 0) {
            return false;
        }
        gnutls_hash(to->hash, data, (size_t)written);
        data += written;
        size -= (size_t)written;
    }
    return true;
}

/* ---- room ---- */

/* Bytes of all components, and the name of the one that was used least lately. */
static uint64_t measure_all(const components *in, char oldest[PATH_BYTES]) {
    DIR *folder = opendir(in->folder);
    struct timespec min = { 0 };
    uint64_t all = 0;
    *oldest = '\0';
    for (struct dirent *each; folder && (each = readdir(folder));) {
        struct stat facts;
        if (strlen(each->d_name) != 2 * HASH_BYTES ||
            fstatat(dirfd(folder), each->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        all += (uint64_t)facts.st_size;
        bool is_older = facts.st_mtim.tv_sec < min.tv_sec ||
                        (facts.st_mtim.tv_sec == min.tv_sec &&
                         facts.st_mtim.tv_nsec < min.tv_nsec);
        if (!*oldest || is_older) {
            min = facts.st_mtim;
            snprintf(oldest, PATH_BYTES, "%.3900s/%.*s", in->folder, 2 * HASH_BYTES,
                     each->d_name);
        }
    }
    if (folder) {
        closedir(folder);
    }
    return all;
}

static void make_room(const components *in) {
    char oldest[PATH_BYTES];
    while (measure_all(in, oldest) > in->limit && *oldest && unlink(oldest) == 0) {
    }
}

bool upload_end(upload *of, const char *path) {
    uint8_t hash[HASH_BYTES];
    char kept[PATH_BYTES];
    if (of->hash) {
        gnutls_hash_deinit(of->hash, hash);
    }
    bool is_good = path && of->file >= 0;
    if (of->file >= 0) {
        is_good = close(of->file) == 0 && is_good;
    }
    if (is_good) {
        name_component(of->to, hash, kept);
        is_good = rename(of->path, kept) == 0 && component_link(of->to, hash, path);
        make_room(of->to);
    } else {
        unlink(of->path);
    }
    free(of);
    return is_good;
}
