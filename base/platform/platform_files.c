/* Mapping files: any that the user names, and those that a model names.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A name from a model file is hostile.  It is walked one component at a time from the
 * model's folder: each component is opened without following a link, "..", an absolute
 * path and an embedded zero are refused before anything is opened, and a file with a
 * second name is refused because that name may be outside.  Without ".." and links no
 * step can leave the folder, whatever is renamed meanwhile.  Where the folder itself
 * holds links, as caches of downloads and mounted volumes do, the real path that they
 * lead to is walked in the same way, from one of three folders that must contain it.
 */
#include "base/platform/platform.h"

#include "base/platform/platform_errno.h"
#include "base/platform/platform_open.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* May somebody else cut the file short while it is mapped?  Root and we are trusted. */
static bool others_may_write(const struct stat *facts) {
    bool is_foreign = facts->st_uid != geteuid() && facts->st_uid != 0;
    bool is_group_s = (facts->st_mode & S_IWGRP) && facts->st_gid != getegid();
    return is_foreign || is_group_s || (facts->st_mode & S_IWOTH);
}

/* Reads `size` bytes from the begin; 0, or the reason (-1: there are fewer). */
static int read_whole(int file, char *to, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file, to + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? errno : -1;
        }
        done += (size_t)got;
    }
    return 0;
}

static ig_status refuse_map(int reason, ig_file_map *out_map, char *why) {
    ig_file_map_close(out_map);
    if (reason < 0) {
        ig_why_set(why, "it was cut short while it was read");
    } else {
        ig_errno_explain(reason, why);
    }
    return reason == ENOMEM ? IG_LIMIT : IG_IO;
}

/* A file that others may cut short is copied: to read a mapping beyond its end
 * kills the process. */
static ig_status map_file(int file, const struct stat *facts, ig_file_map *out_map,
                          char *why) {
    bool is_copied = others_may_write(facts);
    *out_map = (ig_file_map){
        .data = "",
        .size = (size_t)facts->st_size,
        .is_copy = is_copied,
        .device = facts->st_dev,
        .inode = facts->st_ino,
        /* Of the last change: the time of modification is what anybody sets it to. */
        .mtime_ns = (uint64_t)facts->st_ctim.tv_sec * 1000000000u +
                    (uint64_t)facts->st_ctim.tv_nsec,
    };
    if (out_map->size == 0) {
        return IG_OK; /* nothing to map */
    }
    void *base =
        mmap(NULL, out_map->size, is_copied ? PROT_READ | PROT_WRITE : PROT_READ,
             MAP_PRIVATE | (is_copied ? MAP_ANONYMOUS : 0), is_copied ? -1 : file, 0);
    if (base == MAP_FAILED) {
        return refuse_map(errno, out_map, why);
    }
    out_map->base = base;
    out_map->base_size = out_map->size;
    out_map->data = base;
    int reason = is_copied ? read_whole(file, base, out_map->size) : 0;
    return reason ? refuse_map(reason, out_map, why) : IG_OK;
}

/* A plain phrase when the open file may not be read, else NULL. */
static const char *refuse_file(const struct stat *facts, bool by_model) {
    if (!S_ISREG(facts->st_mode)) {
        return S_ISDIR(facts->st_mode) ? "is a folder" : "not a regular file";
    }
    return by_model && facts->st_nlink > 1 ? "has hard links" : NULL;
}

/* Keeps `file` open when it is a regular one, and closes it otherwise. */
static ig_status keep_regular(int file, bool by_model, int *out_file, char *why) {
    struct stat facts;
    bool is_known = fstat(file, &facts) == 0;
    const char *refusal = is_known ? refuse_file(&facts, by_model) : NULL;
    if (is_known && !refusal) {
        *out_file = file;
        return IG_OK;
    }
    if (refusal) {
        ig_why_set(why, refusal);
    } else {
        ig_errno_explain(errno, why);
    }
    close(file);
    return refusal && by_model ? IG_INVALID : IG_IO;
}

ig_status ig_file_open(const char *path, int *out_file, char *why) {
    *out_file = -1;
    int file = ig_open(path, OPEN_FLAGS, 0);
    if (file < 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    return keep_regular(file, false, out_file, why);
}

ig_status ig_file_map_kept(int file, ig_file_map *out_map, char *why) {
    struct stat facts;
    *out_map = (ig_file_map){ .data = "" };
    if (fstat(file, &facts) != 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    return map_file(file, &facts, out_map, why);
}

ig_status ig_file_map_of(int file, ig_file_map *out_map, char *why) {
    ig_status status = ig_file_map_kept(file, out_map, why);
    close(file);
    return status;
}

ig_status ig_file_map_open(const char *path, ig_file_map *out_map, char *why) {
    int file;
    *out_map = (ig_file_map){ .data = "" };
    IG_TRY(ig_file_open(path, &file, why));
    return ig_file_map_of(file, out_map, why);
}

void ig_file_map_close(ig_file_map *map) {
    if (map->base) {
        munmap(map->base, map->base_size);
    }
    *map = (ig_file_map){ .data = "" };
}

/* ---- names from a model ---- */

/* A plain phrase when `name` may not be used, else NULL. */
static const char *refuse_name(ig_str name) {
    if (name.size == 0) {
        return "the name is empty";
    }
    if (memchr(name.data, '\0', name.size)) {
        return "the name holds a zero byte";
    }
    if (name.data[0] == '/') {
        return "absolute paths are not followed";
    }
    for (size_t i = 0; i < name.size;) {
        const char *slash = memchr(name.data + i, '/', name.size - i);
        size_t end = slash ? (size_t)(slash - name.data) : name.size;
        if (ig_str_is((ig_str){ name.data + i, end - i }, "..")) {
            return "\"..\" is not followed";
        }
        i = end + 1;
    }
    return name.data[name.size - 1] == '/' ? "is a folder" : NULL;
}

/* Opens the folder that holds `path`. */
static int open_folder_of(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;
    if (size >= sizeof(folder)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, slash ? path : "./", slash ? size : 2);
    folder[slash ? size : 2] = '\0';
    return ig_open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
}

/* Opens one component below `folder`; a link fails with ELOOP whatever it points to. */
static int open_component(int folder, const char *component, bool is_last) {
    struct stat facts;
    if (fstatat(folder, component, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(facts.st_mode)) {
        errno = ELOOP;
        return -1;
    }
    int flags = is_last ? OPEN_FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC;
    return ig_open_at(folder, component, flags | O_NOFOLLOW, 0);
}

/* Walks `name` from `folder`, which it closes; -1 and errno on failure. */
static int open_beneath(int folder, ig_str name) {
    char component[NAME_MAX + 1];
    size_t begin = 0;
    while (folder >= 0 && begin < name.size) {
        const char *slash = memchr(name.data + begin, '/', name.size - begin);
        size_t end = slash ? (size_t)(slash - name.data) : name.size;
        size_t size = end - begin;
        if (size == 0) { /* "a//b" */
            begin = end + 1;
            continue;
        }
        int next = -1;
        if (size > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(component, name.data + begin, size);
            component[size] = '\0';
            next = open_component(folder, component, !slash);
        }
        int reason = errno;
        close(folder);
        errno = reason;
        folder = next;
        begin = end + 1;
    }
    return folder;
}

/* ---- targets of symbolic links ---- */

/* Writes the folder that holds `path` to `out`, of PATH_MAX bytes. */
static bool name_folder_of(const char *path, char *out) {
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 1;
    if (size >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(out, slash ? path : ".", size);
    memcpy(out + size, size ? "" : "/", size ? 1 : 2);
    return true;
}

/* The hub keeps a snapshot's files as links to blobs: HUB/snapshots/REVISION/… to
 * HUB/blobs.  Turns the first into the second; false: the folder is no snapshot. */
static bool name_blobs_of(char *folder) {
    static const char below[] = "/snapshots/", blobs[] = "/blobs";
    char *last = NULL;
    for (char *at = strstr(folder, below); at; at = strstr(at + 1, below)) {
        last = at;
    }
    if (last) {
        memcpy(last, blobs, sizeof blobs);
    }
    return last != NULL;
}

/* Opens `path`, which is real, if it is below `folder`; -1 and ELOOP if not. */
static int open_real_beneath(const char *folder, const char *path) {
    size_t size = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    errno = ELOOP;
    if (strncmp(path, folder, size) != 0 || path[size] != '/') {
        return -1;
    }
    int root = ig_open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    return open_beneath(root, ig_str_of(path + size + 1));
}

/* A file that links lead to: their target is below the model's real folder, below the
 * folder that was named, or among the hub's blobs beside that.  The real path is walked
 * without following any link. */
static int open_linked(const char *beside, ig_str name) {
    char asked[PATH_MAX], folder[PATH_MAX], real[PATH_MAX], model[PATH_MAX];
    if (!name_folder_of(beside, asked) || !realpath(asked, folder)) {
        return -1;
    }
    int size = snprintf(asked, sizeof asked, "%s/%.*s", folder, IG_STR_ARG(name));
    if (size < 0 || (size_t)size >= sizeof asked) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!realpath(asked, real)) {
        return -1;
    }
    int file = open_real_beneath(folder, real), reason = errno;
    if (file < 0 && reason == ELOOP && name_blobs_of(folder)) {
        file = open_real_beneath(folder, real);
        reason = errno;
    }
    if (file < 0 && reason == ELOOP && realpath(beside, model) &&
        name_folder_of(model, asked)) {
        file = open_real_beneath(asked, real);
        reason = errno;
    }
    errno = reason;
    return file;
}

/* A file that the model names and that is missing or elsewhere is the model's fault. */
static ig_status status_of_errno(int reason) {
    bool is_model_s = reason == ENOENT || reason == ENOTDIR || reason == ELOOP ||
                      reason == ENAMETOOLONG || reason == ENXIO;
    return is_model_s ? IG_INVALID : IG_IO;
}

ig_status ig_file_open_beneath(const char *beside, ig_str name, int *out_file,
                               char *why) {
    *out_file = -1;
    const char *refusal = refuse_name(name);
    if (refusal) {
        ig_why_set(why, refusal);
        return IG_INVALID;
    }
    int file = open_folder_of(beside);
    if (file < 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    file = open_beneath(file, name);
    if (file < 0 && errno == ELOOP) {
        file = open_linked(beside, name);
    }
    if (file < 0) {
        int reason = errno;
        ig_status status = status_of_errno(reason);
        ig_errno_explain(reason, why);
        if (reason == ELOOP) {
            ig_why_set(why, "a symbolic link leads out of the model's folder, where "
                            "nothing is read: copy the file that it names there");
        }
        return status;
    }
    return keep_regular(file, true, out_file, why);
}

ig_status ig_file_map_beneath(const char *beside, ig_str name, ig_file_map *out_map,
                              char *why) {
    int file;
    *out_map = (ig_file_map){ .data = "" };
    IG_TRY(ig_file_open_beneath(beside, name, &file, why));
    return ig_file_map_of(file, out_map, why);
}
