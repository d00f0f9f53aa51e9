/* The operating system, wrapped in functions that name each need.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_PLATFORM_PLATFORM_H
#define IG_BASE_PLATFORM_PLATFORM_H

#include "base/str.h"

/* A read-only mapping of a file (or of a part of it). */
typedef struct ig_file_map {
    const void *data;
    size_t size;
    uint64_t device, inode, mtime_ns; /* identity, for caches */
    void *base;                       /* private: page-aligned mapping */
    size_t base_size;
    bool is_copy; /* the bytes are a copy in memory */
} ig_file_map;

/* Maps all of a regular file.  On failure returns IG_IO (IG_LIMIT: no address space)
 * and puts one plain phrase such as "no such file" into `why` (at least 128 bytes, or
 * NULL).  A file that another user may write is copied into memory instead: a mapping
 * of a file that is cut short kills whoever reads it (SIGBUS). */
ig_status ig_file_map_open(const char *path, ig_file_map *out_map, char *why);
/* Maps `name` relative to the folder of `beside` and nowhere else: absolute paths,
 * "..", hard links, anything but a regular file and a missing file are IG_INVALID, and
 * symbolic links that lead out of that folder, of the real folder of `beside` and of
 * the hub's blobs (HUB/snapshots/REVISION/… to HUB/blobs). */
ig_status ig_file_map_beneath(const char *beside, ig_str name, ig_file_map *out_map,
                              char *why);
void ig_file_map_close(ig_file_map *map);
/* The halves of it: opens a regular file, which the caller closes or maps; and maps an
 * open one, which is closed whatever happens. */
ig_status ig_file_open(const char *path, int *out_file, char *why);
ig_status ig_file_open_beneath(const char *beside, ig_str name, int *out_file,
                               char *why);
ig_status ig_file_map_of(int file, ig_file_map *out_map, char *why);
/* The same, but the file stays open. */
ig_status ig_file_map_kept(int file, ig_file_map *out_map, char *why);

/* Writes a whole file: a temporary beside `path`, then rename.  Nothing remains on
 * failure.  Parts are written one after the other.  A file that exists at `path` must
 * be a regular one. */
typedef struct ig_file_part {
    const void *data;
    size_t size;
} ig_file_part;
ig_status ig_file_publish(const char *path, const ig_file_part *parts, size_t count,
                          char *why);
/* The same where parts are made one after the other: `next` gives each, good until it
 * is called again, and one of no bytes at the end. */
typedef ig_file_part ig_file_next(void *user);
ig_status ig_file_publish_stream(const char *path, ig_file_next *next, void *user,
                                 char *why);
/* The same for a file that nobody else may read: mode 0600. */
ig_status ig_file_publish_private(const char *path, const ig_file_part *parts,
                                  size_t count, char *why);
/* The same with the content of the file `from`, whose blocks the two share where the
 * file system can. */
ig_status ig_file_publish_copy(const char *path, const char *from, char *why);
/* A file that another refers to, and that is replaced together with it, is called
 * PATH.<16 hexadecimal digits>END after its content: the old pair stays whole until the
 * one at PATH is renamed.  Is `name`, without a folder, such a name beside `path`? */
bool ig_file_is_part(const char *path, const char *end, const char *name);
/* Removes such files but `kept` (a path, or NULL: all), once PATH refers to that. */
void ig_file_remove_parts(const char *path, const char *end, const char *kept);
/* Removes temporaries of dead processes beside `path`. */
void ig_file_remove_stale(const char *path);
bool ig_file_exists(const char *path);
ig_status ig_folder_create(const char *path, char *why); /* with parents */

double ig_time_now(void); /* seconds, monotonic */
int ig_cpu_count(void);   /* usable by this process: affinity and cgroup quota */
/* CPUs that control groups allow (quota / period, rounded up), or 0 for no limit.  The
 * arguments are /proc/self/cgroup and /sys/fs/cgroup, but for tests. */
int ig_cpu_quota(const char *groups_file, const char *mount);

#endif
