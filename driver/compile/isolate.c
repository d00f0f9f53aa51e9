/* Compiling in a child process: the host survives what LLVM does not.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The child is a fork: it has the module, and what it makes goes into anonymous memory
 * that both see, so nothing is left on disk whatever happens.  Messages come through a
 * pipe; its end tells the parent that the child is done.
 */
#include "driver/compile/isolate.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 50, TEXT_BYTES = 4096, EXIT_BASE = 64 };

typedef struct message_head {
    int32_t severity;
    uint32_t size;
} message_head;

/* ---- the child ---- */

static bool write_all(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += written;
        size -= (size_t)written;
    }
    return true;
}

static void send_message(void *user, int severity, const char *text) {
    const int *pipe_end = user;
    size_t size = strnlen(text, TEXT_BYTES - 1);
    message_head head = { severity, (uint32_t)size };
    if (write_all(*pipe_end, &head, sizeof head)) {
        write_all(*pipe_end, text, size);
    }
}

typedef struct child_call {
    ig_isolated_fn *make;
    void *user;
    ig_file_part *parts;
    size_t count;
} child_call;

static ig_status call_make(void *arguments) {
    child_call *call = arguments;
    return call->make(call->user, &call->parts, &call->count);
}

/* Never returns, and has a recovery point of its own: the parent's is in frames that
 * this process must not go on with.  Statuses are exit statuses above those of LLVM,
 * which calls exit(1) when it gives up. */
static void run_child(ig_context *context, child_call *call, int memory, int messages) {
    ig_host *host = ig_host_of(context);
    host->options.message = send_message;
    host->options.message_user = &messages;
    context->progress = NULL;
    signal(SIGINT, SIG_IGN); /* the parent decides, and kills */
    ig_status status = ig_host_guard(context, call_make, call);
    for (size_t i = 0; i < call->count && status == IG_OK; i++) {
        if (!write_all(memory, call->parts[i].data, call->parts[i].size)) {
            status = ig_error(&context->diag, IG_LIMIT, NULL,
                              "no memory for the result: %s", strerror(errno));
        }
    }
    _exit(EXIT_BASE + (int)status);
}

/* ---- the parent ---- */

typedef struct child {
    ig_context *context;
    pid_t pid;
    int messages; /* our end of the pipe */
    char buffer[2 * TEXT_BYTES];
    size_t filled;
} child;

/* Hands over the whole messages that have come. */
static void take_messages(child *c) {
    message_head head;
    while (c->filled >= sizeof head) {
        memcpy(&head, c->buffer, sizeof head);
        size_t whole = sizeof head + head.size;
        if (head.size >= TEXT_BYTES || c->filled < whole) {
            return;
        }
        char text[TEXT_BYTES];
        memcpy(text, c->buffer + sizeof head, head.size);
        text[head.size] = '\0';
        ig_host_message(c->context, head.severity, text);
        assert(whole <= c->filled && "whole messages only are taken");
        memmove(c->buffer, c->buffer + whole, c->filled - whole);
        c->filled -= whole;
    }
}

/* Until the pipe ends; false when the context was cancelled. */
static bool listen_to(child *c) {
    struct pollfd ready = { .fd = c->messages, .events = POLLIN };
    for (;;) {
        if (atomic_load(&c->context->cancelled)) {
            return false;
        }
        if (poll(&ready, 1, POLL_MS) <= 0) {
            continue;
        }
        ssize_t got = read(c->messages, c->buffer + c->filled,
                           sizeof c->buffer - c->filled);
        if (got <= 0) {
            return true;
        }
        c->filled += (size_t)got;
        take_messages(c);
    }
}

static ig_status wait_for(child *c) {
    if (!listen_to(c)) {
        kill(c->pid, SIGKILL);
    }
    int result = 0;
    while (waitpid(c->pid, &result, 0) < 0 && errno == EINTR) {
    }
    if (atomic_load(&c->context->cancelled)) {
        return IG_CANCELLED;
    }
    if (WIFSIGNALED(result)) {
        return ig_error_hint(&c->context->diag, IG_INTERNAL, NULL,
                             "please report the model",
                             "the compiling process died of signal %d (%s)",
                             WTERMSIG(result), strsignal(WTERMSIG(result)));
    }
    int status = WEXITSTATUS(result) - EXIT_BASE;
    if (status < 0 || status > (int)IG_INTERNAL) {
        return ig_error_hint(
            &c->context->diag, IG_INTERNAL, NULL, "please report the model",
            "the compiling process ended with status %d", WEXITSTATUS(result));
    }
    return (ig_status)status;
}

static ig_status report_errno(ig_context *context, const char *what) {
    return ig_error(&context->diag, IG_LIMIT, NULL, "%s: %s", what, strerror(errno));
}

static ig_status run_isolated(ig_context *context, child_call *call, int memory) {
    int ends[2];
    if (pipe(ends) != 0) {
        return report_errno(context, "cannot make a pipe");
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(context, call, memory, ends[1]);
    }
    close(ends[1]);
    child c = { .context = context, .pid = pid, .messages = ends[0] };
    ig_status status = pid < 0 ? report_errno(context, "cannot start a process")
                               : wait_for(&c);
    close(ends[0]);
    return status;
}

ig_status ig_isolate(ig_context *context, ig_isolated_fn *make, void *user,
                     ig_file_map *out_file) {
    *out_file = (ig_file_map){ 0 };
    int memory = memfd_create("ingot-isolated", MFD_CLOEXEC);
    if (memory < 0) {
        return report_errno(context, "cannot make memory for the result");
    }
    child_call call = { .make = make, .user = user };
    ig_status status = run_isolated(context, &call, memory);
    if (status == IG_OK) {
        char path[64], why[128];
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
        status = ig_file_map_open(path, out_file, why);
        if (status != IG_OK) {
            ig_error(&context->diag, status, NULL, "the compiled program: %s", why);
        }
    }
    close(memory);
    return status;
}
