/* Memory that interpreters share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Takes the file over, also when it fails. */
static ig_status map_file(int file, size_t size, int access, ig_shared **out_shared) {
    ig_shared *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *data = made == MAP_FAILED || size == 0
                     ? NULL
                     : mmap(NULL, size, access, MAP_SHARED, file, 0);
    if (made == MAP_FAILED || data == MAP_FAILED) {
        int why = errno;
        if (made != MAP_FAILED) {
            (void)munmap(made, sizeof *made);
        }
        (void)close(file);
        errno = why;
        return IG_IO;
    }
    made->data = data;
    made->size = size;
    made->file = file;
    atomic_init(&made->holders, 1);
    *out_shared = made;
    return IG_OK;
}

ig_status ig_shared_open(int file, ig_shared **out_shared) {
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) {
        return IG_IO;
    }
    if (!S_ISREG(facts.st_mode)) {
        (void)close(file);
        errno = EISDIR;
        return IG_IO;
    }
    return map_file(file, (size_t)facts.st_size, PROT_READ, out_shared);
}

ig_status ig_shared_map(const char *path, ig_shared **out_shared) {
    return ig_shared_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out_shared);
}

ig_status ig_shared_create(size_t size, ig_shared **out_shared) {
    int file = (int)syscall(SYS_memfd_create, "ingot-interp",
                            MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) {
        return IG_IO;
    }
    if (ftruncate(file, (off_t)size) != 0) {
        (void)close(file);
        return IG_IO;
    }
    return map_file(file, size, PROT_READ | PROT_WRITE, out_shared);
}

ig_status ig_shared_seal(ig_shared *shared) {
    if (shared->size == 0) {
        return IG_OK;
    }
    void *read_only = mmap(NULL, shared->size, PROT_READ, MAP_SHARED, shared->file, 0);
    if (read_only == MAP_FAILED) {
        return IG_IO;
    }
    (void)munmap(shared->data, shared->size);
    shared->data = read_only;
    (void)fcntl(shared->file, F_ADD_SEALS,
                F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return IG_OK;
}

void ig_shared_hold(ig_shared *shared) {
    atomic_fetch_add(&shared->holders, 1);
}

void ig_shared_drop(ig_shared *shared) {
    if (!shared || atomic_fetch_sub(&shared->holders, 1) != 1) {
        return;
    }
    if (shared->size > 0) {
        (void)munmap(shared->data, shared->size);
    }
    (void)close(shared->file);
    (void)munmap(shared, sizeof *shared);
}
