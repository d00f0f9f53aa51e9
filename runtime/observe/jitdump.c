/* jit-PID.dump, which `perf inject --jit` makes ELF files of, with names and lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     header │ debug info, unwinding, load of kernel 0 │ debug info of kernel 1 …
 *
 * perf finds the file because the process maps a page of it as code, which `perf
 * record -k mono` notes; times are CLOCK_MONOTONIC's, as perf's are then.
 * Format: tools/perf/Documentation/jitdump-specification.txt of Linux, version 1.
 */
#include "runtime/observe/observe.h"

#include "base/platform/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { JIT_MAGIC = 0x4A695444, JIT_VERSION = 1 };
enum { JIT_CODE_LOAD = 0, JIT_CODE_DEBUG_INFO = 2, JIT_CODE_UNWINDING_INFO = 4 };

typedef struct jit_header {
    uint32_t magic, version, total_size, machine, pad, process;
    uint64_t time, flags;
} jit_header;

typedef struct jit_record {
    uint32_t id, total_size;
    uint64_t time;
} jit_record;

typedef struct jit_load {
    jit_record record;
    uint32_t process, thread;
    uint64_t address, code_address, code_size, id;
} jit_load;

typedef struct jit_debug {
    jit_record record;
    uint64_t code_address, count;
} jit_debug;

/* Followed by .eh_frame and .eh_frame_hdr, which the next load is of. */
typedef struct jit_unwinding {
    jit_record record;
    uint64_t size, header_size, mapped_size;
} jit_unwinding;

/* Followed by the file's name.  The specification has a short form for the name of the
 * line before, which perf does not read (6.1). */
typedef struct jit_line {
    uint64_t address;
    uint32_t line, discriminator;
} jit_line;

_Static_assert(sizeof(jit_header) == 40 && sizeof(jit_load) == 56 &&
                   sizeof(jit_debug) == 32 && sizeof(jit_line) == 16 &&
                   sizeof(jit_unwinding) == 40,
               "jitdump");

/* One a process, as perf knows it by the process: open as long as that lives. */
static pthread_mutex_t dump_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    FILE *file;
    pid_t process;
    uint64_t loads;
    char path[IG_OBSERVE_PATH_BYTES + 32];
} dump;

static ig_status report_dump(const ig_message *message) {
    return ig_message_set(message, IG_IO, "%s: cannot write: %s", dump.path,
                          strerror(errno));
}

/* The mark by which perf finds the file: a page of it, mapped as code. */
static bool map_mark(int file) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED;
}

static ig_status open_dump(const ig_observe_folder *folder, const ig_message *message) {
    pid_t process = getpid();
    if (dump.file && dump.process == process) {
        return IG_OK;
    }
    (void)snprintf(dump.path, sizeof dump.path, "%s/jit-%ld.dump", folder->path,
                   (long)process);
    int file = open(dump.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    0600);
    jit_header header = { .magic = JIT_MAGIC,
                          .version = JIT_VERSION,
                          .total_size = sizeof header,
                          .machine = EM_X86_64,
                          .process = (uint32_t)process,
                          .time = (uint64_t)ig_clock_ns() };
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (!stream || fwrite(&header, sizeof header, 1, stream) != 1 ||
        fflush(stream) != 0 || !map_mark(file)) {
        return report_dump(message); /* a file that was opened stays open, unused */
    }
    dump.file = stream;
    dump.process = process;
    dump.loads = 0;
    return IG_OK;
}

ig_status ig_jitdump_open(const ig_observe_folder *folder, const ig_message *message) {
    pthread_mutex_lock(&dump_lock);
    ig_status status = open_dump(folder, message);
    pthread_mutex_unlock(&dump_lock);
    return status;
}

/* ---- records ---- */

static void put_lines(const ig_observed *kernel) {
    size_t path = strlen(kernel->path) + 1;
    size_t size = sizeof(jit_debug) + kernel->line_count * (sizeof(jit_line) + path);
    jit_debug debug = { .record = { JIT_CODE_DEBUG_INFO, (uint32_t)size,
                                    (uint64_t)ig_clock_ns() },
                        .code_address = (uintptr_t)kernel->code,
                        .count = kernel->line_count };
    (void)fwrite(&debug, sizeof debug, 1, dump.file);
    for (size_t i = 0; i < kernel->line_count; i++) {
        jit_line line = { .address = debug.code_address + kernel->lines[i].offset,
                          .line = kernel->lines[i].line };
        (void)fwrite(&line, sizeof line, 1, dump.file);
        (void)fwrite(kernel->path, path, 1, dump.file);
    }
}

static void put_unwinding(const ig_unwind *unwind) {
    size_t size = sizeof(jit_unwinding) + unwind->size;
    jit_unwinding info = { .record = { JIT_CODE_UNWINDING_INFO, (uint32_t)size,
                                       (uint64_t)ig_clock_ns() },
                           .size = unwind->size,
                           .header_size = unwind->header_size };
    (void)fwrite(&info, sizeof info, 1, dump.file);
    (void)fwrite(unwind->bytes, unwind->size, 1, dump.file);
}

static void put_load(const ig_observed *kernel) {
    size_t name = strlen(kernel->label) + 1;
    jit_load load = { .record = { JIT_CODE_LOAD,
                                  (uint32_t)(sizeof load + name + kernel->size),
                                  (uint64_t)ig_clock_ns() },
                      .process = (uint32_t)dump.process,
                      .thread = (uint32_t)syscall(SYS_gettid),
                      .address = (uintptr_t)kernel->code,
                      .code_address = (uintptr_t)kernel->code,
                      .code_size = kernel->size,
                      .id = dump.loads++ };
    (void)fwrite(&load, sizeof load, 1, dump.file);
    (void)fwrite(kernel->label, name, 1, dump.file);
    (void)fwrite(kernel->code, kernel->size, 1, dump.file);
}

ig_status ig_jitdump_add(const ig_observed *kernel, const ig_message *message) {
    ig_unwind unwind;
    if (!ig_unwind_info(kernel, &unwind)) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    pthread_mutex_lock(&dump_lock);
    if (kernel->line_count) {
        put_lines(kernel);
    }
    if (unwind.size) {
        put_unwinding(&unwind);
    }
    put_load(kernel);
    bool is_whole = fflush(dump.file) == 0 && !ferror(dump.file);
    ig_status status = is_whole ? IG_OK : report_dump(message);
    pthread_mutex_unlock(&dump_lock);
    free(unwind.bytes);
    return status;
}
