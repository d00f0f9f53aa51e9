/* Runs a command where something is forbidden: "forbid WHAT… -- COMMAND…".
 * SPDX-License-Identifier: Apache-2.0
 *
 *     gain     memory that becomes executable (PR_SET_MDWE)
 *     memfd    files in memory
 *     sockets  sockets of the Internet, of links and of the kernel: the process is
 *              killed; pairs that no address reaches are left
 *
 * Ends with 77 where the kernel cannot forbid it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SET_MDWE = 65, REFUSE_GAIN = 1, CANNOT = 77 };

static int install(struct sock_filter *filter, size_t count) {
    struct sock_fprog program = { (unsigned short)count, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

static int forbid(const char *what) {
    struct sock_filter memfd[] = {
        LOAD(nr),
        UNLESS(SYS_memfd_create, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_filter sockets[] = {
        LOAD(nr),
        UNLESS(SYS_connect, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        UNLESS(SYS_bind, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        UNLESS(SYS_socket, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        RETURN(SECCOMP_RET_ALLOW),
    };
    if (strcmp(what, "gain") == 0) {
        return prctl(SET_MDWE, REFUSE_GAIN, 0, 0, 0);
    }
    if (strcmp(what, "memfd") == 0) {
        return install(memfd, sizeof memfd / sizeof *memfd);
    }
    return install(sockets, sizeof sockets / sizeof *sockets);
}

int main(int count, char **words) {
    int at = 1;
    for (; at < count && strcmp(words[at], "--") != 0; at++) {
        if (forbid(words[at])) {
            fprintf(stderr, "this system cannot forbid %s\n", words[at]);
            return CANNOT;
        }
    }
    if (at + 1 >= count) {
        return 2;
    }
    execvp(words[at + 1], words + at + 1);
    return CANNOT;
}
