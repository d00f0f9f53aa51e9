/* The system calls of confined processes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which numbers a machine has differs: tables for older machines have more.  A call in
 * no list kills the process.
 */
#ifndef IG_DRIVER_COMPILE_SECCOMP_SHIM_H
#define IG_DRIVER_COMPILE_SECCOMP_SHIM_H

#include "base/platform/platform_asan.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define IG_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define IG_AUDIT_ARCH AUDIT_ARCH_AARCH64
#else
#define IG_AUDIT_ARCH 0 /* no filter is known for this machine */
#endif

/* Sanitizers map terabytes and look for files when they report: not with a filter. */
#if defined(IG_HAS_ASAN) || defined(__SANITIZE_THREAD__)
#define IG_IS_SANITIZED 1
#else
#define IG_IS_SANITIZED 0
#endif

/* clang-format off */
/* Allowed whatever the arguments are. */
#define IG_CALLS_ALLOWED(CALL)                                                        \
    CALL(read)                                                                        \
    CALL(pread64)                                                                     \
    CALL(readv)                                                                       \
    CALL(write) CALL(pwrite64) CALL(writev) CALL(lseek) CALL(close) CALL(fstat)       \
        CALL(newfstatat) CALL(sendmsg) CALL(recvmsg) CALL(munmap) CALL(mremap)        \
            CALL(madvise) CALL(brk) CALL(futex) CALL(exit) CALL(exit_group)           \
                CALL(set_robust_list) CALL(rseq) CALL(sched_yield)                    \
                    CALL(sched_getaffinity) CALL(clock_gettime) CALL(clock_getres)    \
                        CALL(clock_nanosleep) CALL(nanosleep) CALL(gettimeofday)      \
                            CALL(getpid) CALL(gettid) CALL(geteuid) CALL(getuid)      \
                                CALL(getegid) CALL(getgid) CALL(rt_sigaction)         \
                                    CALL(rt_sigprocmask) CALL(rt_sigreturn)           \
                                        CALL(sigaltstack) CALL(getrandom)             \
                                            CALL(getrusage) CALL(sysinfo) CALL(uname) \
                                                CALL(restart_syscall)

/* Fail with EACCES, as if nothing were there: libraries look for files and go on. */
#define IG_CALLS_REFUSED(CALL)                                                         \
    CALL(openat)                                                                       \
    CALL(faccessat)                                                                    \
    CALL(faccessat2)                                                                   \
    CALL(readlinkat) CALL(statx) CALL(getcwd) CALL(getdents64) CALL(ioctl) CALL(fcntl) \
        CALL(unlinkat) CALL(mkdirat) CALL(renameat2)

#if defined(__x86_64__)
#define IG_CALLS_ALLOWED_HERE(CALL) CALL(arch_prctl)
#define IG_CALLS_REFUSED_OLD(CALL) \
    CALL(open)                     \
    CALL(access)                   \
    CALL(stat) CALL(lstat) CALL(readlink) CALL(unlink) CALL(mkdir) CALL(rename)
#else
#define IG_CALLS_ALLOWED_HERE(CALL)
#define IG_CALLS_REFUSED_OLD(CALL)
#endif

/* Refused to guests: they look into other processes, or change the system. */
#define IG_CALLS_DENIED(CALL)                                                          \
    CALL(socket) CALL(ptrace) CALL(process_vm_readv) CALL(process_vm_writev)           \
        CALL(pidfd_getfd) CALL(pidfd_send_signal) CALL(tkill) CALL(bpf)                \
        CALL(perf_event_open) CALL(userfaultfd) CALL(io_uring_setup) CALL(keyctl)      \
        CALL(add_key) CALL(request_key) CALL(mount) CALL(umount2) CALL(pivot_root)     \
        CALL(chroot) CALL(setns) CALL(unshare) CALL(open_by_handle_at) CALL(mknodat)   \
        CALL(kexec_load) CALL(init_module) CALL(finit_module) CALL(delete_module)      \
        CALL(reboot) CALL(swapon) CALL(swapoff) CALL(acct) CALL(settimeofday)          \
        CALL(clock_settime) CALL(clock_adjtime) CALL(adjtimex) CALL(sethostname)       \
        CALL(setdomainname) CALL(quotactl) CALL(syslog) CALL(vhangup)

/* Refused to readers: they begin programs, or change files by name. */
#define IG_CALLS_CHANGING(CALL)                                                        \
    CALL(execve) CALL(execveat) CALL(unlinkat) CALL(renameat2) CALL(mkdirat)           \
        CALL(linkat) CALL(symlinkat) CALL(fchmodat) CALL(fchownat) CALL(fchmod)        \
        CALL(fchown) CALL(utimensat) CALL(truncate) CALL(setxattr) CALL(lsetxattr)     \
        CALL(fsetxattr) CALL(removexattr) CALL(lremovexattr) CALL(fremovexattr)

#if defined(__x86_64__)
#define IG_CALLS_CHANGING_OLD(CALL)                                                    \
    CALL(unlink) CALL(rename) CALL(renameat) CALL(rmdir) CALL(mkdir) CALL(link)        \
        CALL(symlink) CALL(chmod) CALL(chown) CALL(lchown) CALL(creat) CALL(utime)     \
        CALL(utimes) CALL(futimesat) CALL(mknod)
#define IG_CALLS_OPENING(CALL) CALL(openat, 2) CALL(open, 1)
#else
#define IG_CALLS_CHANGING_OLD(CALL) CALL(renameat)
#define IG_CALLS_OPENING(CALL) CALL(openat, 2)
#endif

/* clang-format on */

/* Numbers from here on are those of x32, whose calls the lists do not name. */
#define IG_CALLS_OTHERWISE 0x40000000u

#endif
