/* The host's side of an isolated compilation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/isolate.h"

#include "base/vec.h"
#include "codegen/null/null.h"
#include "driver/compile/request.h"
#include "driver/compile/wire.h"
#include "driver/import/operators.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKER "ingot-worker"

extern char **environ;

enum { POLL_MS = 50, HIGH_FILE = 10, PATH_BYTES = 4096, FIRST_OTHER_FILE = 5 };

typedef struct child {
    ig_context *context;
    const ig_isolated_work *work;
    ig_module *files;
    pid_t pid;
    int socket, memory;
    double deadline;
    bool is_late;
    int status; /* that the worker gave; -1: none yet */
} child;

/* ---- starting ---- */

static bool is_for_worker(const char *variable) {
    static const char *const kept[] = { "INGOT_",        "LD_LIBRARY_PATH=",
                                        "ASAN_OPTIONS=", "UBSAN_OPTIONS=",
                                        "TSAN_OPTIONS=", "LSAN_OPTIONS=" };
    for (size_t i = 0; i < IG_COUNT_OF(kept); i++) {
        if (ig_str_starts(ig_str_of(variable), kept[i])) {
            return true;
        }
    }
    return false;
}

static char **choose_environment(ig_arena *arena) {
    IG_VEC(char *) chosen = { 0 };
    for (char **at = environ; at && *at; at++) {
        if (is_for_worker(*at)) {
            IG_PUSH(arena, &chosen, *at);
        }
    }
    IG_PUSH(arena, &chosen, NULL);
    return chosen.items;
}

/* Beside this library, then in INGOT_PROVIDER_DIR, as the provider of LLVM. */
static bool find_worker(char *path, size_t size) {
    Dl_info here;
    const char *folder = secure_getenv("INGOT_PROVIDER_DIR");
    if (dladdr((const void *)&ig_backend_null, &here) && here.dli_fname) {
        const char *slash = strrchr(here.dli_fname, '/');
        int length = slash ? (int)(slash - here.dli_fname) : 1;
        snprintf(path, size, "%.*s/" WORKER, length, slash ? here.dli_fname : ".");
        if (access(path, X_OK) == 0) {
            return true;
        }
    }
    snprintf(path, size, "%s/" WORKER, folder ? folder : ".");
    return folder && access(path, X_OK) == 0;
}

static int spawn_worker(const char *path, int socket, int memory, char **environment,
                        pid_t *out_pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    char *arguments[] = { WORKER, NULL };
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    for (int file = 0; file < IG_WORKER_SOCKET; file++) {
        posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
    }
    posix_spawn_file_actions_adddup2(&files, socket, IG_WORKER_SOCKET);
    posix_spawn_file_actions_adddup2(&files, memory, IG_WORKER_MEMORY);
    posix_spawn_file_actions_addclosefrom_np(&files, FIRST_OTHER_FILE);
    /* A group of its own: Ctrl-C is for the host, which decides and kills. */
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                       POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    int reason = posix_spawn(out_pid, path, &files, &how, arguments, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return reason;
}

/* The same file under a number that none of the worker's is. */
static int raise_file(int file) {
    int high = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, HIGH_FILE);
    if (file >= 0) {
        close(file);
    }
    return high;
}

static ig_status report_errno(ig_context *context, const char *what, int reason) {
    return ig_error(&context->diag, IG_LIMIT, NULL, "%s: %s", what, strerror(reason));
}

static ig_status start_worker(child *c, ig_arena *arena) {
    char path[PATH_BYTES];
    if (!find_worker(path, sizeof path)) {
        return ig_error_hint(&c->context->diag, IG_UNSUPPORTED, NULL,
                             "install it beside libingot.so, or set INGOT_PROVIDER_DIR",
                             "cannot isolate: there is no " WORKER);
    }
    ig_str request = ig_request_write(arena, c->context, c->work);
    int ends[2] = { -1, -1 };
    bool is_made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    int theirs = raise_file(ends[1]);
    c->socket = ends[0];
    c->memory = raise_file(memfd_create("ingot-isolated", MFD_CLOEXEC));
    if (!is_made || theirs < 0 || c->memory < 0 ||
        !ig_write_all(c->memory, request.data, request.size)) {
        int reason = errno;
        close(theirs);
        return report_errno(c->context, "cannot reach an isolated process", reason);
    }
    int reason = spawn_worker(path, theirs, c->memory, choose_environment(arena),
                              &c->pid);
    close(theirs);
    return reason ? report_errno(c->context, "cannot start " WORKER, reason) : IG_OK;
}

/* ---- questions and messages ---- */

static bool was_named(const child *c, const char *path) {
    bool is_named = strcmp(path, c->work->model) == 0;
    for (size_t i = 0; i < c->work->import->constant_count; i++) {
        is_named |= strcmp(path, c->work->import->constant_files[i]) == 0;
    }
    return is_named;
}

/* Remembers the files it reads, so that the result does not replace one. */
static void note_file(child *c, int file) {
    struct stat facts;
    if (fstat(file, &facts) == 0) {
        IG_PUSH(
            &c->files->arena, &c->files->files,
            (ig_file_map){ .data = "", .device = facts.st_dev, .inode = facts.st_ino });
    }
}

static void answer_open(child *c, ig_packet *packet) {
    char why[128] = "";
    int file = -1;
    ig_status status = IG_INVALID;
    ig_str text = { packet->text, packet->size };
    if (packet->kind == IG_PACKET_beneath) {
        status = ig_file_open_beneath(c->work->model, text, &file, why);
    } else if (was_named(c, packet->text)) {
        status = ig_file_open(packet->text, &file, why);
    } else {
        snprintf(why, sizeof why, "no command named this file");
    }
    *packet = (ig_packet){ .kind = IG_PACKET_opened, .code = (int32_t)status };
    ig_packet_set_text(packet, ig_str_of(why));
    ig_packet_send(c->socket, packet, file);
    if (file >= 0) {
        note_file(c, file);
        close(file);
    }
}

/* Words of a process that may be anybody's by now do not control a terminal. */
static void answer_message(child *c, ig_packet *packet) {
    for (uint32_t i = 0; i < packet->size; i++) {
        unsigned char byte = (unsigned char)packet->text[i];
        bool is_control = byte < ' ' || byte == 0x7f;
        packet->text[i] = is_control && byte != '\n' ? '?' : packet->text[i];
    }
    bool is_known = packet->code >= IG_NOTE && packet->code <= IG_ERROR;
    ig_driver_message(c->context, is_known ? packet->code : IG_ERROR,
                      packet->done <= IG_INTERNAL ? (ig_status)packet->done
                                                  : IG_INTERNAL,
                      packet->text);
}

static void answer_progress(child *c, ig_packet *packet) {
    ig_context_progress(c->context, packet->text, packet->done, packet->total);
}

static void answer_end(child *c, ig_packet *packet) {
    bool is_status = packet->code >= IG_OK && packet->code <= IG_INTERNAL;
    c->status = is_status ? packet->code : IG_INTERNAL;
}

static void (*const answers[])(child *c, ig_packet *packet) = {
    [IG_PACKET_message] = answer_message, [IG_PACKET_progress] = answer_progress,
    [IG_PACKET_open] = answer_open,       [IG_PACKET_beneath] = answer_open,
    [IG_PACKET_end] = answer_end,
};

/* Until the worker is done or gone; false when it is to be killed. */
static bool listen_to(child *c) {
    struct pollfd ready = { .fd = c->socket, .events = POLLIN };
    ig_packet packet;
    int file = -1;
    while (c->status < 0) {
        c->is_late = ig_time_now() > c->deadline;
        if (c->is_late || atomic_load(&c->context->cancelled)) {
            return false;
        }
        if (poll(&ready, 1, POLL_MS) <= 0) {
            continue;
        }
        if (!ig_packet_receive(c->socket, &packet, &file)) {
            return true;
        }
        if (file >= 0) {
            close(file); /* nobody asked for one */
        }
        bool is_known = packet.kind >= 0 && (size_t)packet.kind < IG_COUNT_OF(answers);
        if (is_known && answers[packet.kind]) {
            answers[packet.kind](c, &packet);
        }
    }
    return true;
}

/* ---- its end ---- */

ig_status ig_isolate_explain(ig_context *context, int wait_status) {
    ig_diag *diag = &context->diag;
    int signo = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (signo == SIGBUS) {
        return ig_error_hint(diag, IG_IO, NULL, "replace files by renaming",
                             "a file was cut short while the isolated process read it");
    }
    if (signo == SIGSYS) {
        return ig_error_hint(diag, IG_INTERNAL, NULL,
                             "do not trust this model; please report it",
                             "the isolated process was stopped by the filter of system "
                             "calls");
    }
    if (signo) {
        return ig_error_hint(diag, IG_INTERNAL, NULL, "please report the model",
                             "the isolated process died of signal %d (%s)", signo,
                             strsignal(signo));
    }
    return ig_error_hint(diag, IG_INTERNAL, NULL, "please report the model",
                         "the isolated process ended with status %d and no result",
                         WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
}

static ig_status report_late(const child *c) {
    return ig_error_limit(&c->context->diag, &(ig_location){ .file = c->work->model },
                          &c->context->limits, IG_LIMIT_isolate_seconds,
                          "the isolated compilation");
}

/* A limit without words is that of the process. */
static ig_status report_own(const child *c) {
    bool is_given = c->context->diag.error_count > 0;
    if (c->status == IG_LIMIT && !is_given) {
        return ig_error_limit(
            &c->context->diag, &(ig_location){ .file = c->work->model },
            &c->context->limits, IG_LIMIT_isolate_bytes, "the isolated compilation");
    }
    return (ig_status)c->status;
}

static ig_status wait_for(child *c) {
    int result = 0;
    if (!listen_to(c)) {
        kill(c->pid, SIGKILL);
    }
    while (waitpid(c->pid, &result, 0) < 0 && errno == EINTR) {
    }
    if (atomic_load(&c->context->cancelled)) {
        return IG_CANCELLED;
    }
    if (c->is_late) {
        return report_late(c);
    }
    return c->status >= 0 ? report_own(c) : ig_isolate_explain(c->context, result);
}

static ig_status map_result(const child *c, ig_file_map *out_file) {
    char why[128];
    ig_status status = ig_file_map_of(fcntl(c->memory, F_DUPFD_CLOEXEC, 0), out_file,
                                      why);
    return status == IG_OK ? IG_OK
                           : ig_error(&c->context->diag, status, NULL,
                                      "the compiled program: %s", why);
}

ig_status ig_isolate(ig_context *context, const ig_isolated_work *work,
                     ig_module *files, ig_file_map *out_file) {
    *out_file = (ig_file_map){ 0 };
    assert(work->model && work->import && work->compile && "the work is described");
    ig_import_options import = *work->import;
    ig_isolated_work whole = *work;
    whole.import = &import;
    IG_TRY(ig_import_operators_as_text(context, &files->arena, &import));
    child c = { .context = context,
                .work = &whole,
                .files = files,
                .socket = -1,
                .memory = -1,
                .deadline = ig_time_now() + (double)context->limits.isolate_seconds,
                .status = -1 };
    ig_status status = start_worker(&c, &files->arena);
    status = status == IG_OK ? wait_for(&c) : status;
    if (status == IG_OK) {
        status = map_result(&c, out_file);
    }
    close(c.socket);
    close(c.memory);
    return status;
}
