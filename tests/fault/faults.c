/* libc with faults: see faults.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/faults.h"

#ifndef FAULTS_ARE_OFF

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define IN_PLACE_OF_LIBC __attribute__((visibility("default")))

typedef struct plan {
    atomic_int kind; /* of what fails; FAULT_NONE: nobody counts */
    atomic_long at, calls, live;
    char where[32];
    char path[256]; /* of the library that lacked memory */
} plan;

static plan *shared;
/* Of this process alone: a parent that waits does not count. */
static atomic_bool is_counting;

void faults_share(void) {
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        abort();
    }
    shared = memory;
}

void faults_begin(fault_kind kind, long at) {
    atomic_store(&shared->kind, kind);
    atomic_store(&shared->at, at);
    atomic_store(&shared->calls, 0);
    atomic_store(&shared->live, 0);
    shared->where[0] = '\0';
    shared->path[0] = '\0';
    atomic_store(&is_counting, true);
}

bool faults_was_reached(void) {
    return shared->where[0] != '\0';
}

bool faults_end(void) {
    atomic_store(&is_counting, false);
    return faults_was_reached();
}

const char *faults_where(void) {
    return shared->where;
}

bool faults_are_in(const char *library) {
    return strstr(shared->path, library) != NULL;
}

long faults_live(void) {
    return atomic_load(&shared->live);
}

const char *fault_kind_name(fault_kind kind) {
    static const char *const names[] = { "none", "memory", "error", "interrupt",
                                         "short" };
    return names[kind];
}

/* Is this the call that fails? */
static bool strike(fault_kind kind, const char *where) {
    if (!shared || !atomic_load(&is_counting) ||
        atomic_load(&shared->kind) != (int)kind ||
        atomic_fetch_add(&shared->calls, 1) + 1 != atomic_load(&shared->at)) {
        return false;
    }
    strncpy(shared->where, where, sizeof shared->where - 1);
    if (getenv("INGOT_FAULT")) {
        void *frames[32];
        atomic_store(&is_counting, false);
        backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
        atomic_store(&is_counting, true);
    }
    return true;
}

static void count_live(long by) {
    if (shared && atomic_load(&is_counting)) {
        atomic_fetch_add(&shared->live, by);
    }
}

static void *next_of(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(type, name)                 \
    static type *next;                   \
    if (!next) {                         \
        *(void **)&next = next_of(name); \
    }

/* ---- memory ---- */

static bool lacks_memory_of(const char *where, void *caller) {
    Dl_info library;
    bool is_struck = strike(FAULT_MEMORY, where);
    if (is_struck) {
        bool is_known = dladdr(caller, &library) && library.dli_fname;
        snprintf(shared->path, sizeof shared->path, "%s",
                 is_known ? library.dli_fname : "");
        errno = ENOMEM;
    }
    return is_struck;
}

#define lacks_memory(where) lacks_memory_of((where), __builtin_return_address(0))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static void *counted(void *block) {
    count_live(block != NULL);
    return block;
}

IN_PLACE_OF_LIBC void *malloc(size_t size) {
    return lacks_memory("malloc") ? NULL : counted(__libc_malloc(size));
}

IN_PLACE_OF_LIBC void *calloc(size_t count, size_t size) {
    return lacks_memory("calloc") ? NULL : counted(__libc_calloc(count, size));
}

IN_PLACE_OF_LIBC void *realloc(void *block, size_t size) {
    if (lacks_memory("realloc")) {
        return NULL;
    }
    void *moved = __libc_realloc(block, size);
    return block ? moved : counted(moved);
}

IN_PLACE_OF_LIBC int posix_memalign(void **out, size_t alignment, size_t size) {
    *out = lacks_memory("posix_memalign") ? NULL
                                          : counted(__libc_memalign(alignment, size));
    return *out ? 0 : ENOMEM;
}

IN_PLACE_OF_LIBC void *aligned_alloc(size_t alignment, size_t size) {
    return lacks_memory("aligned_alloc") ? NULL
                                         : counted(__libc_memalign(alignment, size));
}

IN_PLACE_OF_LIBC void free(void *block) {
    count_live(-(long)(block != NULL));
    int reason = errno;
    __libc_free(block);
    errno = reason;
}

IN_PLACE_OF_LIBC void *mmap(void *address, size_t size, int access, int flags, int file,
                            off_t offset) {
    if (lacks_memory("mmap")) {
        return MAP_FAILED;
    }
    long result = syscall(SYS_mmap, address, size, access, flags, file, offset);
    void *memory = (void *)result;
    count_live(memory != MAP_FAILED);
    return memory;
}

IN_PLACE_OF_LIBC int munmap(void *address, size_t size) {
    count_live(-1);
    return (int)syscall(SYS_munmap, address, size);
}

IN_PLACE_OF_LIBC int mprotect(void *address, size_t size, int access) {
    return lacks_memory("mprotect") ? -1
                                    : (int)syscall(SYS_mprotect, address, size, access);
}

/* Files in memory: that these cannot grow is no matter of files. */
enum { MAX_FILES = 256 };

static bool is_in_memory[MAX_FILES];

static bool lies_in_memory(int file) {
    return file >= 0 && file < MAX_FILES && is_in_memory[file];
}

IN_PLACE_OF_LIBC int memfd_create(const char *name, unsigned flags) {
    int file = lacks_memory("memfd_create")
                   ? -1
                   : (int)syscall(SYS_memfd_create, name, flags);
    if (file >= 0 && file < MAX_FILES) {
        is_in_memory[file] = true;
    }
    return file;
}

/* What time zones are to libc is kept by it. */
typedef time_t mktime_fn(struct tm *when);

IN_PLACE_OF_LIBC time_t mktime(struct tm *when) {
    NEXT(mktime_fn, "mktime")
    bool was_counting = shared && atomic_exchange(&is_counting, false);
    time_t result = next(when);
    if (was_counting) {
        atomic_store(&is_counting, true);
    }
    return result;
}

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*start)(void *), void *argument);

IN_PLACE_OF_LIBC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                    void *(*start)(void *), void *argument) {
    NEXT(create_fn, "pthread_create")
    return lacks_memory("pthread_create") ? EAGAIN
                                          : next(thread, attributes, start, argument);
}

/* ---- files ---- */

/* True, with errno, when the call fails. */
static bool fails(const char *where, int reason) {
    bool is_struck = strike(FAULT_ERROR, where);
    if (is_struck) {
        errno = reason;
    }
    return is_struck;
}

/* The same for what may wait: signals interrupt it. */
static bool fails_or_waits(const char *where, int reason) {
    if (strike(FAULT_INTERRUPT, where)) {
        errno = EINTR;
        return true;
    }
    return fails(where, reason);
}

static size_t shortened(const char *where, size_t size) {
    return size > 1 && strike(FAULT_SHORT, where) ? 1 : size;
}

static mode_t mode_of(int flags, va_list list) {
    bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return creates ? va_arg(list, mode_t) : 0;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    return fails_or_waits(writes ? "open to write" : "open", writes ? ENOSPC : EIO)
               ? -1
               : (int)syscall(SYS_openat, folder, path, flags, mode);
}

IN_PLACE_OF_LIBC int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(AT_FDCWD, path, flags, mode);
}

IN_PLACE_OF_LIBC int openat(int folder, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_at(folder, path, flags, mode);
}

/* Linux has closed the file, whatever close returns. */
IN_PLACE_OF_LIBC int close(int file) {
    bool has_failed = fails_or_waits("close", EIO);
    int reason = errno;
    int result = (int)syscall(SYS_close, file);
    if (lies_in_memory(file)) {
        is_in_memory[file] = false;
    }
    errno = has_failed ? reason : errno;
    return has_failed ? -1 : result;
}

IN_PLACE_OF_LIBC ssize_t read(int file, void *to, size_t size) {
    return fails_or_waits("read", EIO)
               ? -1
               : (ssize_t)syscall(SYS_read, file, to, shortened("read", size));
}

IN_PLACE_OF_LIBC ssize_t pread(int file, void *to, size_t size, off_t at) {
    return fails_or_waits("pread", EIO)
               ? -1
               : (ssize_t)syscall(SYS_pread64, file, to, shortened("pread", size), at);
}

IN_PLACE_OF_LIBC ssize_t write(int file, const void *from, size_t size) {
    if (lies_in_memory(file) && lacks_memory("write")) {
        errno = ENOSPC;
        return -1;
    }
    if (lies_in_memory(file)) {
        return (ssize_t)syscall(SYS_write, file, from, size);
    }
    return fails_or_waits("write", ENOSPC)
               ? -1
               : (ssize_t)syscall(SYS_write, file, from, shortened("write", size));
}

IN_PLACE_OF_LIBC ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    return fails_or_waits("pwrite", ENOSPC)
               ? -1
               : (ssize_t)syscall(SYS_pwrite64, file, from, shortened("pwrite", size),
                                  at);
}

IN_PLACE_OF_LIBC ssize_t copy_file_range(int from, off64_t *from_at, int to,
                                         off64_t *to_at, size_t size, unsigned flags) {
    return fails_or_waits("copy_file_range", ENOSPC)
               ? -1
               : (ssize_t)syscall(SYS_copy_file_range, from, from_at, to, to_at,
                                  shortened("copy_file_range", size), flags);
}

IN_PLACE_OF_LIBC int fsync(int file) {
    return fails_or_waits("fsync", EIO) ? -1 : (int)syscall(SYS_fsync, file);
}

IN_PLACE_OF_LIBC int fallocate(int file, int mode, off_t at, off_t size) {
    return fails_or_waits("fallocate", ENOSPC)
               ? -1
               : (int)syscall(SYS_fallocate, file, mode, at, size);
}

IN_PLACE_OF_LIBC int ftruncate(int file, off_t size) {
    return fails_or_waits("ftruncate", EIO) ? -1
                                            : (int)syscall(SYS_ftruncate, file, size);
}

IN_PLACE_OF_LIBC int flock(int file, int how) {
    return fails_or_waits("flock", ENOLCK) ? -1 : (int)syscall(SYS_flock, file, how);
}

IN_PLACE_OF_LIBC int dup(int file) {
    return fails("dup", EMFILE) ? -1 : (int)syscall(SYS_dup, file);
}

IN_PLACE_OF_LIBC int fstat(int file, struct stat *out) {
    return fails("fstat", EIO) ? -1 : (int)syscall(SYS_fstat, file, out);
}

IN_PLACE_OF_LIBC int stat(const char *path, struct stat *out) {
    return fails("stat", EIO) ? -1 : (int)syscall(SYS_stat, path, out);
}

IN_PLACE_OF_LIBC int fstatat(int folder, const char *path, struct stat *out,
                             int flags) {
    return fails("fstatat", EIO)
               ? -1
               : (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

IN_PLACE_OF_LIBC int access(const char *path, int how) {
    return fails("access", EIO) ? -1 : (int)syscall(SYS_access, path, how);
}

IN_PLACE_OF_LIBC int rename(const char *from, const char *to) {
    return fails("rename", ENOSPC) ? -1 : (int)syscall(SYS_rename, from, to);
}

IN_PLACE_OF_LIBC int renameat(int from_in, const char *from, int to_in,
                              const char *to) {
    return fails("renameat", ENOSPC)
               ? -1
               : (int)syscall(SYS_renameat, from_in, from, to_in, to);
}

IN_PLACE_OF_LIBC int linkat(int from_in, const char *from, int to_in, const char *to,
                            int flags) {
    return fails("linkat", ENOSPC)
               ? -1
               : (int)syscall(SYS_linkat, from_in, from, to_in, to, flags);
}

IN_PLACE_OF_LIBC int mkdir(const char *path, mode_t mode) {
    return fails("mkdir", ENOSPC) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

typedef FILE *fopen_fn(const char *path, const char *how);

IN_PLACE_OF_LIBC FILE *fopen(const char *path, const char *how) {
    NEXT(fopen_fn, "fopen")
    return fails("fopen", EIO) ? NULL : next(path, how);
}

typedef DIR *opendir_fn(const char *path);

IN_PLACE_OF_LIBC DIR *opendir(const char *path) {
    NEXT(opendir_fn, "opendir")
    return fails("opendir", EIO) ? NULL : next(path);
}

/* ---- code generation ---- */

typedef void *dlopen_fn(const char *path, int flags);

/* LLVM aborts where memory ends: a provider that only returns stands for it. */
IN_PLACE_OF_LIBC void *dlopen(const char *path, int flags) {
    NEXT(dlopen_fn, "dlopen")
    bool is_provider = path && strstr(path, "libingot-llvm.so");
    return next(is_provider ? INGOT_STUB_PROVIDER : path, flags);
}

#endif
