/* Children that run interpreters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/process/process.h"

#include "base/platform/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    GRACE_MS = 1000, /* that code has to end after its deadline */
    START_MS = 60000
};

/* ---- facts ---- */

static void free_fact(process_fact *fact) {
    free(fact->source);
    free(fact->name);
    free(fact->module);
    free(fact);
}

static bool copy_text(const char *from, char **out) {
    *out = from ? strdup(from) : NULL;
    return !from || *out;
}

bool process_note(process *p, ig_wire_work work, const ig_engine_job *job) {
    process_fact *made = calloc(1, sizeof *made), **end = &p->facts;
    if (!made) {
        return false;
    }
    made->work = work;
    if (!copy_text(job->source, &made->source) || !copy_text(job->name, &made->name) ||
        !copy_text(job->module, &made->module)) {
        free_fact(made);
        return false;
    }
    while (*end) {
        end = &(*end)->next;
    }
    *end = made;
    return true;
}

/* ---- life cycle ---- */

process *process_make(void) {
    process *made = calloc(1, sizeof *made);
    if (made) {
        made->watch = made->socket = made->request.file = made->response.file = -1;
    }
    return made;
}

static void close_file(int *file) {
    if (*file >= 0) {
        (void)close(*file);
        *file = -1;
    }
}

static void close_all(process *p) {
    close_file(&p->socket);
    close_file(&p->watch);
    ig_wire_close(&p->request);
    ig_wire_close(&p->response);
    p->is_up = false;
}

void process_end(process *p) {
    if (p->is_up) {
        (void)kill(p->id, SIGKILL);
        while (waitpid(p->id, NULL, 0) < 0 && errno == EINTR) {
        }
        close_all(p);
    }
}

void process_free(process *p) {
    process_end(p);
    while (p->facts) {
        process_fact *gone = p->facts;
        p->facts = gone->next;
        free_fact(gone);
    }
    free(p);
}

/* The child's program is beside this library. */
static bool find_program(char path[PATH_BYTES]) {
    Dl_info info;
    static const char here;
    if (dladdr(&here, &info) == 0 || !info.dli_fname) {
        return false;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    int written = snprintf(path, PATH_BYTES, "%.*s/ingot-interp-child",
                           slash ? (int)(slash - info.dli_fname) : 1,
                           slash ? info.dli_fname : ".");
    return written > 0 && written < PATH_BYTES && access(path, X_OK) == 0;
}

/* All that a confined child sees of an environment. */
static char *const clean_environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
                                           "HOME=/", "LANG=C.UTF-8",
                                           "PYTHONDONTWRITEBYTECODE=1", NULL };

/* The environment with one OpenMP thread a child, unless the user said otherwise: as
 * many as there are CPUs in each of several children wait for each other's turns.  The
 * list is the caller's, its texts are not; NULL: no memory. */
static char **child_environment(bool is_clean) {
    static const char one_thread[] = "OMP_NUM_THREADS=1";
    char *const *from = is_clean ? clean_environment : environ;
    bool has_threads = !is_clean && getenv("OMP_NUM_THREADS");
    size_t count = 0;
    while (from[count]) {
        count++;
    }
    char **all = calloc(count + 2, sizeof *all);
    if (all) {
        memcpy(all, from, count * sizeof *all);
        /* posix_spawn reads the texts only. */
        all[count] = has_threads ? NULL : (char *)(uintptr_t)one_thread;
    }
    return all;
}

/* The descriptors become those of wire.h; each is moved out of their way first. */
static int spawn_program(process *p, const char *path, const int from[3]) {
    char memory[24];
    char *arguments[] = { (char *)(uintptr_t)path, "--serve",
                          p->is_confined ? memory : NULL, NULL };
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)p->memory);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, ordinary;
    char **environment = child_environment(p->is_confined);
    int failed = environment ? posix_spawn_file_actions_init(&files) : ENOMEM;
    if (failed) {
        free(environment);
        return failed;
    }
    failed = posix_spawnattr_init(&how);
    for (int i = 0; i < 3 && !failed; i++) {
        failed = posix_spawn_file_actions_adddup2(&files, from[i], IG_WIRE_SOCKET + i);
    }
    (void)sigemptyset(&none);
    (void)sigemptyset(&ordinary);
    (void)sigaddset(&ordinary, SIGPIPE);
    (void)sigaddset(&ordinary, SIGCHLD);
    if (!failed) {
        (void)posix_spawn_file_actions_addclosefrom_np(&files, IG_WIRE_OTHERS);
        (void)posix_spawnattr_setsigmask(&how, &none);
        (void)posix_spawnattr_setsigdefault(&how, &ordinary);
        (void)posix_spawnattr_setflags(&how,
                                       POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        failed = posix_spawn(&p->id, path, &files, &how, arguments, environment);
        (void)posix_spawnattr_destroy(&how);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    free(environment);
    return failed;
}

/* A copy at a number that is none of the child's. */
static int move_away(int file) {
    int moved = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 16) : -1;
    close_file(&file);
    return moved;
}

static int spawn_child(process *p, const char *path) {
    int pair[2] = { -1, -1 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return errno;
    }
    p->socket = pair[0];
    p->request.file = move_away(ig_wire_open());
    p->response.file = move_away(ig_wire_open());
    int from[3] = { move_away(pair[1]), p->request.file, p->response.file };
    int failed = from[0] < 0 || from[1] < 0 || from[2] < 0
                     ? errno
                     : spawn_program(p, path, from);
    close_file(&from[0]);
    if (!failed) {
        p->is_up = true;
        p->generation++;
        p->watch = (int)syscall(SYS_pidfd_open, p->id, 0);
    }
    return failed;
}

/* ---- waiting ---- */

static int64_t now_ms(void) {
    return ig_clock_ns() / 1000000;
}

/* 1: there is a packet; 0: the time is over; -1: the child ended. */
static int wait_packet(const process *p, int64_t until_ms) {
    struct pollfd both[] = { { .fd = p->socket, .events = POLLIN },
                             { .fd = p->watch, .events = POLLIN } };
    for (;;) {
        int64_t left = until_ms ? until_ms - now_ms() : -1;
        if (until_ms && left <= 0) {
            return 0;
        }
        int wait = left > 1000000 ? 1000000 : (int)left;
        int got = poll(both, p->watch >= 0 ? 2 : 1, wait);
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        if (got > 0) {
            return both[0].revents & POLLIN ? 1 : -1;
        }
    }
}

/* Waits for the child that is ending, and tells how it did. */
static ig_status tell_end(process *p, char *why, size_t size) {
    int status = 0;
    pid_t got;
    (void)shutdown(p->socket, SHUT_RDWR); /* it ends, if it has not */
    do {
        got = waitpid(p->id, &status, 0);
    } while (got < 0 && errno == EINTR);
    close_all(p);
    if (got > 0 && WIFSIGNALED(status)) {
        (void)snprintf(why, size,
                       "the interpreter's process was ended by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        (void)snprintf(why, size, "the interpreter's process ended with exit status %d",
                       got > 0 ? WEXITSTATUS(status) : -1);
    }
    return IG_INVALID;
}

static ig_status receive_answer(process *p, int64_t until_ms, char *why, size_t size) {
    int got = wait_packet(p, until_ms);
    if (got == 0) {
        process_end(p);
        (void)snprintf(why, size,
                       "the call did not end in time: its process was ended");
        return IG_LIMIT;
    }
    if (got < 0 || !ig_wire_receive(p->socket, &p->response.size, NULL, NULL) ||
        !ig_wire_view(&p->response, p->response.size)) {
        return tell_end(p, why, size);
    }
    return IG_OK;
}

ig_status process_ask(process *p, int64_t deadline_ns, const ig_wire_names *names,
                      char *why, size_t size) {
    if (!ig_wire_send(p->socket, p->request.size, names ? names->files : NULL,
                      names ? names->file_count : 0)) {
        return tell_end(p, why, size);
    }
    return receive_answer(p, deadline_ns ? deadline_ns / 1000000 + GRACE_MS : 0, why,
                          size);
}

/* ---- beginning ---- */

ig_status process_begin(process *p, char *why, size_t size) {
    char path[PATH_BYTES];
    if (!find_program(path)) {
        (void)snprintf(why, size, "ingot-interp-child is not beside the library");
        return IG_UNSUPPORTED;
    }
    int failed = spawn_child(p, path);
    if (failed) {
        close_all(p);
        (void)snprintf(why, size, "%s: %s", path, strerror(failed));
        return IG_LIMIT;
    }
    IG_TRY(receive_answer(p, now_ms() + START_MS, why, size));
    ig_wire_reader reader = { .data = p->response.data, .size = p->response.size };
    int64_t status = ig_wire_get_number(&reader);
    const char *said = ig_wire_get_text(&reader);
    if (!reader.has_failed && status == IG_OK) {
        return IG_OK;
    }
    (void)snprintf(why, size, "%s", said ? said : "no interpreter");
    process_end(p);
    return IG_UNSUPPORTED;
}
