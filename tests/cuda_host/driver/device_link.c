/* The device's process, and memory that it shares with this one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

static struct {
    pid_t owner; /* the process that started it: others have no device */
    int socket, device_file, pinned_file;
    char *device; /* where this process sees it */
} link_state;

bool is_started(void) {
    return link_state.owner == getpid();
}

/* ---- memory ---- */

static int make_file(const char *name, uint64_t size) {
    int file = memfd_create(name, MFD_CLOEXEC);
    return file >= 0 && ftruncate(file, (off_t)size) == 0 ? file : -1;
}

static bool map_memory(void) {
    int flags = MAP_SHARED | MAP_NORESERVE, none = MAP_PRIVATE | MAP_ANONYMOUS;
    void *reserved = mmap((void *)(uintptr_t)DEVICE_BASE, DEVICE_BYTES, PROT_NONE,
                          none | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    void *pinned = mmap((void *)(uintptr_t)PINNED_BASE, PINNED_BYTES, PROT_NONE,
                        flags | MAP_FIXED_NOREPLACE, link_state.pinned_file, 0);
    void *seen = mmap(NULL, DEVICE_BYTES, PROT_READ | PROT_WRITE, flags,
                      link_state.device_file, 0);
    link_state.device = seen;
    return reserved != MAP_FAILED && pinned != MAP_FAILED && seen != MAP_FAILED;
}

char *see_device(uint64_t address) {
    return link_state.device + (address - DEVICE_BASE);
}

bool is_device_address(uint64_t address) {
    return address - DEVICE_BASE < DEVICE_BYTES;
}

bool is_pinned_address(uint64_t address) {
    return address - PINNED_BASE < PINNED_BYTES;
}

static void ask_for_pages(request_kind kind, uint64_t address, size_t size) {
    request r = { .kind = kind, .address = address, .size = size };
    send_request(&r, offsetof(request, as), NULL);
}

bool open_pages(uint64_t address, size_t size) {
    bool is_pinned = is_pinned_address(address);
    if (is_pinned &&
        mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE)) {
        return false;
    }
    ask_for_pages(REQUEST_OPEN, address, size);
    memset(is_pinned ? (char *)(uintptr_t)address : see_device(address), 0x7f, size);
    return true;
}

void close_pages(uint64_t address, size_t size) {
    bool is_pinned = is_pinned_address(address);
    ask_for_pages(REQUEST_CLOSE, address, size);
    if (is_pinned) {
        mprotect((void *)(uintptr_t)address, size, PROT_NONE);
    }
    fallocate(is_pinned ? link_state.pinned_file : link_state.device_file,
              FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)(address - (is_pinned ? PINNED_BASE : DEVICE_BASE)), (off_t)size);
}

/* ---- the process ---- */

static int open_files(int *out_child) {
    int pair[2];
    link_state.device_file = make_file("device", DEVICE_BYTES);
    link_state.pinned_file = make_file("pinned", PINNED_BYTES);
    if (link_state.device_file < 0 || link_state.pinned_file < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    link_state.socket = pair[0];
    *out_child = pair[1];
    return 0;
}

/* The program lies beside this library. */
static void name_program(char *path, size_t size) {
    Dl_info here;
    dladdr(&link_state, &here);
    snprintf(path, size, "%s", here.dli_fname);
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, size - (size_t)(slash ? slash + 1 - path : 0),
             "cuda-device");
}

/* Files go by numbers above those that they get, so that none overwrites another. */
static int spawn_device(int child) {
    char path[4096];
    pid_t pid;
    int high[] = { fcntl(child, F_DUPFD_CLOEXEC, 10),
                   fcntl(link_state.device_file, F_DUPFD_CLOEXEC, 10),
                   fcntl(link_state.pinned_file, F_DUPFD_CLOEXEC, 10) };
    posix_spawn_file_actions_t files;
    name_program(path, sizeof path);
    char *arguments[] = { path, NULL };
    posix_spawn_file_actions_init(&files);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_adddup2(&files, high[i], REQUEST_FILE + i);
    }
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP); /* not of Ctrl-C */
    int error = posix_spawn(&pid, path, &files, &how, arguments, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    for (int i = 0; i < 3; i++) {
        close(high[i]);
    }
    return error;
}

/* A process has one device, as long as it runs. */
int start_device(void) {
    int child = -1;
    if (is_started()) {
        return SUCCESS;
    }
    if (link_state.owner) {
        return NOT_INITIALISED; /* after a fork */
    }
    int error = open_files(&child);
    error = error ? error : map_memory() ? spawn_device(child) : errno;
    if (child >= 0) {
        close(child);
    }
    if (error) {
        say("the device does not start: %s", strerror(error));
        return UNKNOWN;
    }
    link_state.owner = getpid();
    return SUCCESS;
}

void send_request(const request *r, size_t size, reply *out) {
    bool is_sent = send(link_state.socket, r, size, MSG_NOSIGNAL) == (ssize_t)size;
    ssize_t got = (ssize_t)sizeof *out;
    if (is_sent && out) {
        do {
            got = recv(link_state.socket, out, sizeof *out, 0);
        } while (got < 0 && errno == EINTR);
    }
    if (!is_sent || got != (ssize_t)sizeof *out) {
        say("the device's process has ended");
        abort();
    }
}
