/* Folders and files that nobody else can have written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/cache/private_files.h"

#include "base/platform/platform.h"
#include "base/platform/platform_open.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH, OTHERS = S_IRWXG | S_IRWXO };

static int refuse_file(int file, char *why, const char *reason) {
    if (why) {
        snprintf(why, 128, "%s", reason);
    }
    if (file >= 0) {
        close(file);
    }
    return -1;
}

bool ig_private_folder_create(const char *path) {
    char above[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (mkdir(path, S_IRWXU) == 0 || errno == EEXIST) {
        return true;
    }
    if (errno != ENOENT || length == 0 || length >= sizeof above) {
        return false;
    }
    memcpy(above, path, length);
    above[length] = '\0';
    return ig_folder_create(above, NULL) == IG_OK &&
           (mkdir(path, S_IRWXU) == 0 || errno == EEXIST);
}

int ig_private_folder_open(const char *path, char *why) {
    struct stat facts;
    int folder = ig_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0 || fstat(folder, &facts) != 0) {
        return refuse_file(folder, why, strerror(errno));
    }
    if (facts.st_uid != geteuid()) {
        return refuse_file(folder, why, "it is another user's");
    }
    if (facts.st_mode & OTHERS_WRITE) {
        return refuse_file(folder, why, "other users may write to it");
    }
    if (facts.st_mode & OTHERS) {
        (void)!fchmod(folder, S_IRWXU); /* on a read-only file system it stays */
    }
    return folder;
}

int ig_private_file_open(int folder, const char *name) {
    assert(folder >= 0 && !strchr(name, '/') && "an entry is in an open folder");
    struct stat facts;
    int file = ig_open_at(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                          0);
    bool is_private = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                      facts.st_uid == geteuid() && !(facts.st_mode & OTHERS_WRITE);
    return is_private ? file : refuse_file(file, NULL, "");
}

void ig_open_file_path(int file, char path[IG_OPEN_PATH_BYTES]) {
    assert(file >= 0 && "the file is open");
    snprintf(path, IG_OPEN_PATH_BYTES, "/proc/self/fd/%d", file);
}
