/* Writing files so that nobody ever sees half of one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The content goes into a file without a name (O_TMPFILE), which gets the target's when
 * it is whole: a process that is killed leaves nothing.  Where the target exists, it
 * first gets the name `.name.ingot-<pid>-<n>` in the same folder and is renamed over
 * the target; where the file system has no nameless files, it has that name all along.
 * The writer holds a lock on it; the lock dies with the process.  So a temporary whose
 * process is gone and whose lock is free is stale, also where processes do not see each
 * other's ids (containers that share a folder).
 *
 * The content is not synced to disk: after a power cut the target is the old file or
 * the new one or, on some file systems, an empty one, which every reader refuses.
 */
#include "base/platform/platform.h"

#include "base/platform/platform_errno.h"
#include "base/platform/platform_open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".ingot-"
/* Of a target's name, so that the temporary's name fits NAME_MAX. */
enum { NAME_PART = 200, TRIES = 10000, WRITE_CHUNK = 1 << 30, RESERVED = 1 << 20 };

typedef struct temporary {
    char path[PATH_MAX]; /* "": it has no name */
    int fd;
} temporary;

/* The content of a file: parts in memory, or as they are made, or another file. */
typedef struct content {
    const ig_file_part *parts;
    size_t count;
    int from; /* open, or -1 */
    mode_t mode;
    ig_file_next *next; /* or NULL */
    void *user;
} content;

static int fail_with(int reason) {
    errno = reason;
    return -1;
}

/* Bytes of the folder in `path`, with its slash. */
static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The n-th name for a temporary beside `path`; -1 and errno when it is too long. */
static int name_temporary(const char *path, int n, char out[PATH_MAX]) {
    size_t size = folder_size(path);
    if (size >= PATH_MAX) {
        return fail_with(ENAMETOOLONG);
    }
    int length = snprintf(out, PATH_MAX, "%.*s.%.*s" MARK "%ld-%d", (int)size, path,
                          NAME_PART, path + size, (long)getpid(), n);
    return length < 0 || length >= PATH_MAX ? fail_with(ENAMETOOLONG) : 0;
}

/* A file without a name in the folder of `path`; -1 where there is no such thing. */
static int create_nameless(const char *path, mode_t mode) {
    char folder[PATH_MAX];
    size_t size = folder_size(path);
    if (size >= sizeof folder) {
        return fail_with(ENAMETOOLONG);
    }
    snprintf(folder, sizeof folder, "%.*s", size ? (int)size : 1, size ? path : ".");
    return ig_open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

/* Creates and locks a temporary beside `path`; -1 and errno on failure. */
static int create_temporary(const char *path, mode_t mode, temporary *out) {
    out->path[0] = '\0';
    out->fd = create_nameless(path, mode);
    for (int n = 0; out->fd < 0 && n < TRIES; n++) {
        if (name_temporary(path, n, out->path) != 0) {
            return -1;
        }
        out->fd = ig_open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (out->fd < 0 && errno != EEXIST) {
            return -1;
        }
    }
    if (out->fd >= 0) {
        /* Where the file system has no locks, the process id decides alone. */
        flock(out->fd, LOCK_EX | LOCK_NB);
    }
    return out->fd < 0 ? -1 : 0;
}

/* Names a nameless file: `path` itself where nothing is there yet, else a temporary's
 * name, in temp->path. */
static int give_name(temporary *temp, const char *path) {
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", temp->fd);
    if (linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    for (int n = 0; errno == EEXIST && n < TRIES; n++) {
        if (name_temporary(path, n, temp->path) != 0) {
            break;
        }
        if (linkat(AT_FDCWD, from, AT_FDCWD, temp->path, AT_SYMLINK_FOLLOW) == 0) {
            return 0;
        }
    }
    temp->path[0] = '\0';
    return -1;
}

static int write_all(int fd, const ig_file_part *part) {
    const char *data = part->data;
    size_t left = part->size;
    while (left) {
        ssize_t written = write(fd, data, left < WRITE_CHUNK ? left : WRITE_CHUNK);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written ? -1 : fail_with(ENOSPC);
        }
        data += written;
        left -= (size_t)written;
    }
    return 0;
}

/* Blocks that are all asked for at once are filled in two thirds of the time on ext4.
 * Where that cannot be, writing asks for them, or says why not. */
static void reserve_space(int fd, size_t size) {
    if (size >= RESERVED && size <= LLONG_MAX) {
        (void)!fallocate(fd, 0, 0, (off_t)size);
    }
}

static int write_parts(int fd, const ig_file_part *parts, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += parts[i].size;
    }
    reserve_space(fd, size);
    for (size_t i = 0; i < count; i++) {
        if (write_all(fd, &parts[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int write_stream(int fd, const content *with) {
    for (;;) {
        ig_file_part part = with->next(with->user);
        if (part.size == 0) {
            return 0;
        }
        if (write_all(fd, &part) != 0) {
            return -1;
        }
    }
}

/* Never a link: nobody who writes into one file may change the other. */
static int copy_all(int fd, int from) {
    struct stat facts;
    if (ioctl(fd, FICLONE, from) == 0) {
        return 0;
    }
    if (fstat(from, &facts) != 0) {
        return -1;
    }
    reserve_space(fd, (size_t)facts.st_size);
    for (off_t left = facts.st_size; left > 0;) {
        size_t chunk = left < WRITE_CHUNK ? (size_t)left : WRITE_CHUNK;
        ssize_t copied = copy_file_range(from, NULL, fd, NULL, chunk, 0);
        if (copied < 0 && errno == EINTR) {
            continue;
        }
        if (copied <= 0) {
            return copied ? -1 : fail_with(EIO);
        }
        left -= copied;
    }
    return 0;
}

/* Only a regular file is replaced: a rename must never put one in a device's place. */
static int check_target(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return errno == ENOENT || errno == ELOOP ? 0 : -1;
    }
    if (S_ISDIR(facts.st_mode)) {
        return fail_with(EISDIR);
    }
    return S_ISREG(facts.st_mode) ? 0 : fail_with(ENXIO);
}

/* Closing may be where a full disk is told.  The lock goes last, with the rename
 * done. */
static int fill_and_rename(temporary *temp, const char *path, const content *with) {
    int result = with->next        ? write_stream(temp->fd, with)
                 : with->from >= 0 ? copy_all(temp->fd, with->from)
                                   : write_parts(temp->fd, with->parts, with->count);
    int second = result == 0 ? dup(temp->fd) : -1;
    if (second < 0) {
        return -1;
    }
    int fd = temp->fd;
    temp->fd = second;
    if (ig_close(fd) != 0 || (!temp->path[0] && give_name(temp, path) != 0)) {
        return -1;
    }
    return temp->path[0] ? rename(temp->path, path) : 0;
}

static ig_status publish_content(const char *path, const content *with, char *why) {
    temporary temp;
    if (check_target(path) != 0 || create_temporary(path, with->mode, &temp) != 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    int result = fill_and_rename(&temp, path, with);
    int reason = errno;
    if (result != 0 && temp.path[0]) {
        unlink(temp.path);
    }
    close(temp.fd);
    if (result != 0) {
        ig_errno_explain(reason, why);
        return IG_IO;
    }
    return IG_OK;
}

ig_status ig_file_publish(const char *path, const ig_file_part *parts, size_t count,
                          char *why) {
    content all = { .parts = parts, .count = count, .from = -1, .mode = 0666 };
    return publish_content(path, &all, why);
}

ig_status ig_file_publish_private(const char *path, const ig_file_part *parts,
                                  size_t count, char *why) {
    content all = {
        .parts = parts, .count = count, .from = -1, .mode = S_IRUSR | S_IWUSR
    };
    return publish_content(path, &all, why);
}

ig_status ig_file_publish_stream(const char *path, ig_file_next *next, void *user,
                                 char *why) {
    content all = { .from = -1, .mode = 0666, .next = next, .user = user };
    return publish_content(path, &all, why);
}

ig_status ig_file_publish_copy(const char *path, const char *from, char *why) {
    int fd = ig_open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    ig_status status = publish_content(path, &(content){ .from = fd, .mode = 0666 },
                                       why);
    close(fd);
    return status;
}

/* ---- what dead processes left ---- */

/* The process id in `.name.ingot-<pid>-<n>`, or 0 where the name is none of ours. */
static pid_t owner_of(const char *name) {
    if (name[0] != '.') {
        return 0;
    }
    const char *mark = NULL;
    for (const char *at = name; (at = strstr(at, MARK)); at++) {
        mark = at;
    }
    if (!mark) {
        return 0;
    }
    const char *digits = mark + strlen(MARK);
    const char *dash = strchr(digits, '-');
    int64_t pid, number;
    if (!dash || !ig_str_to_i64((ig_str){ digits, (size_t)(dash - digits) }, &pid) ||
        !ig_str_to_i64(ig_str_of(dash + 1), &number) || pid <= 0 || pid > INT_MAX) {
        return 0;
    }
    return (pid_t)pid;
}

static void remove_if_stale(int folder, const char *name) {
    pid_t owner = owner_of(name);
    if (!owner || kill(owner, 0) == 0 || errno != ESRCH) {
        return;
    }
    int fd = ig_open_at(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                        0);
    if (fd < 0) {
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        unlinkat(folder, name, 0);
    }
    close(fd);
}

/* The folder of `path`, opened; NULL: it cannot be. */
static DIR *open_folder_of(const char *path) {
    char folder[PATH_MAX];
    size_t slash = folder_size(path);
    int size = snprintf(folder, sizeof(folder), "%.*s", slash ? (int)slash : 1,
                        slash ? path : ".");
    return size < 0 || (size_t)size >= sizeof(folder) ? NULL : opendir(folder);
}

void ig_file_remove_stale(const char *path) {
    DIR *stream = open_folder_of(path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        remove_if_stale(dirfd(stream), entry->d_name);
    }
    if (stream) {
        closedir(stream);
    }
}

bool ig_file_is_part(const char *path, const char *end, const char *name) {
    const char *own = path + folder_size(path);
    size_t size = strlen(own);
    return strncmp(name, own, size) == 0 && name[size] == '.' &&
           strspn(name + size + 1, "0123456789abcdef") == 16 &&
           strcmp(name + size + 17, end) == 0;
}

void ig_file_remove_parts(const char *path, const char *end, const char *kept) {
    const char *own = kept ? kept + folder_size(kept) : "";
    DIR *stream = open_folder_of(path);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (ig_file_is_part(path, end, entry->d_name) &&
            strcmp(entry->d_name, own) != 0) {
            unlinkat(dirfd(stream), entry->d_name, 0);
        }
    }
    if (stream) {
        closedir(stream);
    }
}

/* ---- folders ---- */

bool ig_file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

static int create_one(const char *path) {
    struct stat facts;
    if (mkdir(path, 0755) == 0) {
        return 0;
    }
    int reason = errno;
    if (stat(path, &facts) != 0) {
        return fail_with(reason);
    }
    return S_ISDIR(facts.st_mode) ? 0 : fail_with(ENOTDIR);
}

ig_status ig_folder_create(const char *path, char *why) {
    char part[PATH_MAX];
    size_t size = strlen(path);
    int result = size ? 0 : fail_with(ENOENT);
    if (size >= sizeof(part)) {
        result = fail_with(ENAMETOOLONG);
    }
    for (size_t i = 1; result == 0 && i <= size; i++) {
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            result = create_one(part);
        }
    }
    if (result != 0) {
        ig_errno_explain(errno, why);
        return IG_IO;
    }
    return IG_OK;
}
