/* Children of the profiler.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/profile/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENVIRONMENT = 6, SETTING_BYTES = 4200 };

/* ---- starting ---- */

/* A child sees nothing of the server's environment: no token, no library path. */
static void fill_environment(char texts[ENVIRONMENT][SETTING_BYTES], char **to,
                             const char *folder) {
    const char *const forms[ENVIRONMENT - 1] = {
        "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=%.4000s", "TMPDIR=%.4000s",
        "INGOT_CACHE_DIR=%.4000s",           "LANG=C.UTF-8",
    };
    for (int i = 0; i < ENVIRONMENT - 1; i++) {
        const char *mark = strchr(forms[i], '%');
        snprintf(texts[i], SETTING_BYTES, "%.*s%s",
                 mark ? (int)(mark - forms[i]) : (int)strlen(forms[i]), forms[i],
                 mark ? folder : "");
        to[i] = texts[i];
    }
    to[ENVIRONMENT - 1] = NULL;
}

static int spawn_backend(child *of, int socket, const char *backend,
                         const child_options *options) {
    char memory[24], texts[ENVIRONMENT][SETTING_BYTES], *environment[ENVIRONMENT];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    fill_environment(texts, environment, options->folder);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)options->memory_bytes);
    char *argv[] = { "ingot-serve",           "backend", (char *)backend, memory,
                     (char *)options->python, NULL };
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, socket, CHILD_SOCKET);
    posix_spawn_file_actions_addclosefrom_np(&files, CHILD_SOCKET + 1);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    /* A group of its own: the processes that it starts end with it. */
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                       POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawn(&of->id, "/proc/self/exe", &files, &how, argv,
                             environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return failed;
}

bool child_start(child *of, const char *backend, const child_options *options,
                 char words[WORDS]) {
    int pair[2], failed = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        failed = errno;
    } else {
        fcntl(pair[0], F_SETFL, O_NONBLOCK);
        /* Away from the number that it gets in the child. */
        int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_SOCKET + 1);
        close(pair[1]);
        failed = theirs < 0 ? errno : spawn_backend(of, theirs, backend, options);
        close(theirs);
        if (failed) {
            close(pair[0]);
        }
    }
    if (failed) {
        snprintf(words, WORDS, "the backend's process did not start: %s",
                 strerror(failed));
        return false;
    }
    of->socket = pair[0];
    of->poll = options->poll;
    of->max_bytes = options->max_bytes;
    of->generation++;
    return true;
}

static int reap(child *of) {
    int status = 0;
    kill(-of->id, SIGKILL); /* and its own children */
    kill(of->id, SIGKILL);
    while (waitpid(of->id, &status, 0) < 0 && errno == EINTR) {
    }
    /* To close it is not enough: a process that is being started may have it, too. */
    epoll_ctl(of->poll, EPOLL_CTL_DEL, of->socket, NULL);
    close(of->socket);
    of->socket = -1;
    bytes_free(&of->in);
    bytes_free(&of->out);
    of->out_at = 0;
    return status;
}

void child_end(child *of) {
    if (of->socket >= 0) {
        reap(of);
    }
}

/* How it ended by itself: before it is killed, so that the status is its own. */
static child_state tell_end(child *of, char words[WORDS]) {
    siginfo_t how = { 0 };
    const struct timespec pause = { 0, 1000000 };
    for (int i = 0; i < 100 && how.si_pid == 0;
         i++) { /* a socket closes a bit before */
        waitid(P_PID, (id_t)of->id, &how, WEXITED | WNOHANG | WNOWAIT);
        nanosleep(&pause, NULL);
    }
    int status = reap(of);
    if (WIFSIGNALED(status)) {
        snprintf(words, WORDS, "the backend's process was ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(words, WORDS, "the backend's process ended with exit status %d",
                 WEXITSTATUS(status));
    }
    return CHILD_ENDED;
}

/* ---- messages ---- */

size_t frame_size(size_t size) {
    return (size + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

static bool put_filled(bytes *to, const void *data, size_t size, int filler) {
    size_t more = frame_size(size) - size;
    if (!bytes_put(to, data, size) || !bytes_reserve(to, more)) {
        return false;
    }
    memset(to->data + to->size, filler, more);
    to->size += more;
    return true;
}

bool child_begin(child *to, const bytes *text, size_t data_bytes) {
    frame_head head = { frame_size(text->size), data_bytes };
    bytes_clear(&to->in);
    return !text->has_failed && bytes_put(&to->out, &head, sizeof head) &&
           put_filled(&to->out, text->data, text->size, ' ');
}

bool child_put(child *to, const void *data, size_t size) {
    return put_filled(&to->out, data, size, 0);
}

bool child_wants_out(const child *of) {
    return of->out_at < of->out.size;
}

/* False: it has ended. */
static bool send_some(child *of) {
    while (child_wants_out(of)) {
        ssize_t sent = send(of->socket, of->out.data + of->out_at,
                            of->out.size - of->out_at, MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        of->out_at += (size_t)sent;
    }
    bytes_free(&of->out);
    of->out_at = 0;
    return true;
}

/* Bytes of the message that is coming; before its head is there, of the head. */
static size_t wanted_bytes(const child *of) {
    frame_head head;
    if (of->in.size < sizeof head) {
        return sizeof head;
    }
    memcpy(&head, of->in.data, sizeof head);
    bool is_small = head.text_bytes <= of->max_bytes &&
                    head.data_bytes <= of->max_bytes;
    return is_small ? sizeof head + (size_t)(head.text_bytes + head.data_bytes)
                    : SIZE_MAX;
}

child_state child_turn(child *of, char words[WORDS]) {
    if (!send_some(of)) {
        return tell_end(of, words);
    }
    for (;;) {
        size_t wanted = wanted_bytes(of);
        if (wanted == of->in.size && wanted > sizeof(frame_head)) {
            return CHILD_ANSWERED;
        }
        size_t more = wanted - of->in.size;
        if (wanted == SIZE_MAX || !bytes_reserve(&of->in, more)) {
            child_end(of);
            snprintf(words, WORDS, "the results are too large for this worker");
            return CHILD_ENDED;
        }
        ssize_t got = recv(of->socket, of->in.data + of->in.size, more, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return CHILD_WAITS;
        }
        if (got <= 0) {
            return tell_end(of, words);
        }
        of->in.size += (size_t)got;
    }
}
