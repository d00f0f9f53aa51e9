/* Limits and the filters of system calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/confine/confine.h"

#include "base/confine/seccomp_shim.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WRITING = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND };
enum {
    STATM_FILE = 5, /* /proc/self/statm, open since before the filter */
    DATA_FIELD = 5, /* in it, counted from 0: pages that are written */
    FULL_PERCENT = 80
};

/* ---- memory ---- */

static bool limit_memory(uint64_t bytes) {
    struct rlimit data = { bytes, bytes }, core = { 0, 0 };
    return setrlimit(RLIMIT_CORE, &core) == 0 &&
           (bytes == 0 || (setrlimit(RLIMIT_DATA, &data) == 0 &&
                           setrlimit(RLIMIT_FSIZE, &data) == 0));
}

/* What ig_confine_is_full reads is open from now on. */
static void watch_memory(void) {
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && file != STATM_FILE) {
        dup2(file, STATM_FILE);
        close(file);
    }
    /* The result is written to memory, too; more than the bound fails with EFBIG. */
    signal(SIGXFSZ, SIG_IGN);
}

bool ig_confine_is_full(void) {
    char text[256] = "", *at = text;
    struct rlimit data;
    ssize_t size = pread(STATM_FILE, text, sizeof text - 1, 0);
    if (size <= 0 || getrlimit(RLIMIT_DATA, &data) != 0) {
        return false;
    }
    for (int i = 0; i < DATA_FIELD; i++) {
        strtoull(at, &at, 10);
    }
    uint64_t used = strtoull(at, &at, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    bool is_bounded = data.rlim_cur != RLIM_INFINITY;
    return is_bounded && used / FULL_PERCENT >= data.rlim_cur / 100;
}

/* ---- the filter ----
 *
 * Argument i of a call is two words; the low one comes first on our machines. */

#define LOW(i) (offsetof(struct seccomp_data, args) + 8 * (i))
#define HIGH(i) (LOW(i) + 4)
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define HAS(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))
#define REFUSE(reason) GIVE(SECCOMP_RET_ERRNO | (reason))
#define ALLOW GIVE(SECCOMP_RET_ALLOW)
#define KILL GIVE(SECCOMP_RET_KILL_PROCESS)

#define ALLOW_CALL(name) IS(SYS_##name, 0, 1), ALLOW,
#define REFUSE_CALL(name) IS(SYS_##name, 0, 1), REFUSE(EACCES),
#define DENY_CALL(name) IS(SYS_##name, 0, 1), REFUSE(EPERM),
/* Opening with flags, which are an argument, that are not those of reading. */
#define READ_CALL(name, flags) \
    IS(SYS_##name, 0, 4), LOAD(LOW(flags)), HAS(WRITING, 0, 1), REFUSE(EACCES), ALLOW,

static bool install_rows(const struct sock_filter *rows, size_t count) {
    struct sock_fprog program = { (unsigned short)count,
                                  (struct sock_filter *)(uintptr_t)rows };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The program of the filter; `self` is the process, which may signal itself alone. */
static bool install_filter(uint32_t self) {
    const struct sock_filter rows[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        IS(IG_AUDIT_ARCH, 1, 0),
        KILL,
        LOAD(offsetof(struct seccomp_data, nr)),
        IG_CALLS_ALLOWED(ALLOW_CALL) IG_CALLS_ALLOWED_HERE(ALLOW_CALL)
            IG_CALLS_REFUSED(REFUSE_CALL) IG_CALLS_REFUSED_OLD(REFUSE_CALL)
        /* Threads come by clone, whose flags can be looked at, and share all. */
        IS(SYS_clone3, 0, 1),
        REFUSE(ENOSYS),
        IS(SYS_clone, 0, 4),
        LOAD(LOW(0)),
        HAS(CLONE_THREAD, 0, 1),
        ALLOW,
        KILL,
        /* Memory is data, and our own. */
        IS(SYS_mprotect, 0, 4),
        LOAD(LOW(2)),
        HAS(PROT_EXEC, 0, 1),
        KILL,
        ALLOW,
        IS(SYS_mmap, 0, 6),
        LOAD(LOW(2)),
        HAS(PROT_EXEC, 2, 0),
        LOAD(LOW(3)),
        HAS(MAP_SHARED, 0, 1),
        KILL,
        ALLOW,
        IS(SYS_tgkill, 0, 4),
        LOAD(LOW(0)),
        IS(self, 0, 1),
        ALLOW,
        KILL,
        /* Limits are asked for, and not set. */
        IS(SYS_prlimit64, 0, 6),
        LOAD(LOW(2)),
        IS(0, 0, 3),
        LOAD(HIGH(2)),
        IS(0, 0, 1),
        ALLOW,
        KILL,
        KILL,
    };
    return install_rows(rows, IG_COUNT_OF(rows));
}

/* The program of a guest's filter. */
static bool install_guest_filter(uint32_t self) {
    const struct sock_filter rows[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        IS(IG_AUDIT_ARCH, 1, 0),
        KILL,
        LOAD(offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, IG_CALLS_OTHERWISE, 0, 1),
        KILL,
        IG_CALLS_DENIED(DENY_CALL)
        /* Signals to itself alone: of `kill`, 0 is its own group. */
        IS(SYS_kill, 0, 5),
        LOAD(LOW(0)),
        IS(self, 2, 0),
        IS(0, 1, 0),
        REFUSE(EPERM),
        ALLOW,
        IS(SYS_tgkill, 0, 4),
        LOAD(LOW(0)),
        IS(self, 1, 0),
        REFUSE(EPERM),
        ALLOW,
        ALLOW,
    };
    return install_rows(rows, IG_COUNT_OF(rows));
}

/* The program of a reader's second filter: of two the stricter holds. */
static bool install_reader_filter(uint32_t self) {
    const struct sock_filter rows[] = {
        LOAD(offsetof(struct seccomp_data, arch)),
        IS(IG_AUDIT_ARCH, 1, 0),
        KILL,
        LOAD(offsetof(struct seccomp_data, nr)),
        IG_CALLS_CHANGING(REFUSE_CALL) IG_CALLS_CHANGING_OLD(REFUSE_CALL)
        /* Its flags are in memory, which a filter does not see. */
        IS(SYS_openat2, 0, 1),
        REFUSE(ENOSYS),
        IG_CALLS_OPENING(READ_CALL) ALLOW,
    };
    return install_guest_filter(self) && install_rows(rows, IG_COUNT_OF(rows));
}

static bool confine_with(bool (*install)(uint32_t self), uint64_t memory_bytes,
                         char *why) {
    if (!limit_memory(memory_bytes)) {
        snprintf(why, 128, "cannot limit its memory: %s", strerror(errno));
        return false;
    }
    if (!IG_AUDIT_ARCH || !install((uint32_t)getpid())) {
        snprintf(why, 128, "cannot filter its system calls: %s",
                 IG_AUDIT_ARCH ? strerror(errno) : "not on this machine");
        return false;
    }
    return true;
}

bool ig_confine(uint64_t memory_bytes, char *why) {
    if (IG_IS_SANITIZED) {
        return true;
    }
    watch_memory();
    return confine_with(install_filter, memory_bytes, why);
}

bool ig_confine_guest(uint64_t memory_bytes, char *why) {
    return IG_IS_SANITIZED || confine_with(install_guest_filter, memory_bytes, why);
}

bool ig_confine_reader(uint64_t memory_bytes, char *why) {
    return IG_IS_SANITIZED || confine_with(install_reader_filter, memory_bytes, why);
}
