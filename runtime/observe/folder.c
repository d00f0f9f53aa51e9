/* Files that debuggers and profilers read.  SPDX-License-Identifier: Apache-2.0
 *
 * A folder that nobody named has a name that nobody can guess, and no file is written
 * through a link or over another. */
#include "runtime/observe/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(IG_OBSERVE_PATH_BYTES >= PATH_MAX, "realpath's room");

static ig_status refuse_path(const ig_message *message, const char *path) {
    return ig_message_set(message, IG_IO, "%s: cannot write: %s", path,
                          strerror(errno));
}

ig_status ig_observe_folder_open(const char *wanted, ig_observe_folder *out,
                                 const ig_message *message) {
    const char *given = wanted ? wanted : secure_getenv("INGOT_OBSERVE_DIR");
    const char *base = secure_getenv("TMPDIR");
    char path[IG_OBSERVE_PATH_BYTES];
    out->is_new = !given || !given[0];
    int size = out->is_new ? snprintf(path, sizeof path, "%s/ingot-%ld-XXXXXX",
                                      base && base[0] ? base : "/tmp", (long)getpid())
                           : snprintf(path, sizeof path, "%s", given);
    if (size >= (int)sizeof path) {
        return ig_message_set(message, IG_IO, "%.60s…: too long a path", path);
    }
    bool is_there = out->is_new ? mkdtemp(path) != NULL
                                : mkdir(path, 0700) == 0 || errno == EEXIST;
    return is_there && realpath(path, out->path) ? IG_OK : refuse_path(message, path);
}

static void clean_name(char *name) {
    for (char *c = name; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                        (*c >= '0' && *c <= '9') || *c == '_';
        *c = is_plain ? *c : '_';
    }
}

ig_status ig_observe_folder_enter(const ig_observe_folder *folder, const char *model,
                                  char path[IG_OBSERVE_PATH_BYTES],
                                  const ig_message *message) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s", model[0] ? model : "model");
    clean_name(name);
    errno = EEXIST;
    for (int i = 0; i < INT_MAX && errno == EEXIST; i++) {
        int size = snprintf(path, IG_OBSERVE_PATH_BYTES, "%s/%s-%ld-%d", folder->path,
                            name, (long)getpid(), i);
        if (size >= IG_OBSERVE_PATH_BYTES) {
            errno = ENAMETOOLONG;
        } else if (mkdir(path, 0700) == 0) {
            return IG_OK;
        }
    }
    return refuse_path(message, path);
}

static bool write_all(int file, ig_str text) {
    while (text.size) {
        ssize_t written = write(file, text.data, text.size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text = (ig_str){ text.data + written, text.size - (size_t)written };
    }
    return true;
}

ig_status ig_observe_write(const char *path, ig_str text, const ig_message *message) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = file >= 0 && write_all(file, text);
    if (file >= 0 && close(file) != 0) {
        is_written = false;
    }
    return is_written ? IG_OK : refuse_path(message, path);
}
