/* Words on stderr, exit statuses, Ctrl-C.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/console.h"

#include "tools/ingot/cli/json_output.h"
#include "tools/ingot/cli/streams.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The variables of the program.  What Ctrl-C cancels: a signal handler has nothing else
 * to reach it by. */
static _Atomic(ig_context *) interrupted_context;
static _Atomic(ig_session *) interrupted_session;
static _Atomic(ig_lookahead *) interrupted_ahead;
static atomic_int interrupts;

static bool is_wrong_usage;
static ig_log hook; /* of contexts: outlives them */

ig_status wrong_usage(void) {
    is_wrong_usage = true;
    return IG_INVALID;
}

int exit_of(ig_status status) {
    static const struct {
        ig_status status;
        int exit_status;
    } rows[] = {
#define ROW(name, value, exit_status, meaning) { IG_##name, exit_status },
        IG_STATUS_LIST(ROW)
#undef ROW
    };
    if (status == IG_INVALID && is_wrong_usage) {
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].status == status) {
            return rows[i].exit_status;
        }
    }
    return 70;
}

/* ---- words ---- */

void progress_clear(void) {
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

void put_plain(FILE *to, const char *text) {
    json_t *string = json_string(text); /* NULL: not UTF-8 */
    for (const char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        bool is_c1 = byte == 0xc2 && ((unsigned char)at[1] & 0xe0) == 0x80;
        if (byte < 0x20 || byte == 0x7f || is_c1 || (!string && byte >= 0x80)) {
            fprintf(to, "\\x%02x", byte);
        } else {
            fputc(byte, to);
        }
        if (is_c1 && string) {
            fprintf(to, "\\x%02x", (unsigned char)*++at);
        }
    }
    json_decref(string);
}

void put_json_text(FILE *to, const char *text) {
    json_t *string = json_string(text);
    if (!string) { /* not UTF-8 */
        char *plain = NULL;
        size_t size = 0;
        FILE *copy = need(open_memstream(&plain, &size));
        put_plain(copy, text);
        fclose(copy);
        string = json_string(plain);
        free(plain);
    }
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "null", to);
    free(quoted);
    json_decref(string);
}

void put_port(FILE *to, const char *what, const char *name, const char *type) {
    fprintf(to, "  %s", what);
    put_plain(to, name);
    fprintf(to, ": %s\n", type);
}

typedef void log_sink(void *user, const ig_log_record *record);

/* What INGOT_LOG asks for; NULL: words for people. */
static log_sink *sink_of_log(void) {
    const char *form = getenv("INGOT_LOG");
    bool is_text = form && strcmp(form, "text") == 0;
    bool is_json = form && strcmp(form, "json") == 0;
    return is_text ? ig_log_text : is_json ? ig_log_json : NULL;
}

/* The stable code of an error by the exit status that it leads to. */
static const char *code_of(int exit_status) {
    for (int i = IG_INVALID; i <= (int)IG_INTERNAL; i++) {
        if (exit_of((ig_status)i) == exit_status) {
            return ig_status_text((ig_status)i);
        }
    }
    return exit_status == EXIT_USAGE ? "USAGE" : "FAILED";
}

/* Words on stderr, of `code` in a log; NULL: the context's hook has logged them. */
static void say(ig_log_level level, const char *code, const char *text) {
    log_sink *sink = sink_of_log();
    progress_clear();
    if (!sink) {
        fprintf(stderr, "%s%s\n", level == IG_LOG_ERROR ? "error: " : "", text);
    } else if (code) {
        ig_log_record record = { .size = sizeof record,
                                 .level = level,
                                 .component = "ingot",
                                 .code = code,
                                 .words = text };
        sink(NULL, &record);
    }
}

/* Prints an error, without secrets, and keeps it for --json. */
static void show_error(const char *code, char *text) {
    ig_text_hide_secrets(text);
    json_output_error(text);
    say(IG_LOG_ERROR, code, text);
}

int complain(int exit_status, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) {
        text = NULL;
    }
    va_end(args);
    char none[] = "memory ran out";
    show_error(code_of(exit_status), text ? text : none);
    free(text);
    return exit_status;
}

void note(const settings *given, const char *format, ...) {
    if (given->quiet) {
        return;
    }
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length >= 0) {
        ig_text_hide_secrets(text);
        say(IG_LOG_INFO, "NOTE", text);
        free(text);
    }
}

void *need(void *memory) {
    if (!memory) {
        complain(0, "memory ran out");
        json_output_cut(exit_of(IG_LIMIT), "memory ran out");
        exit(exit_of(IG_LIMIT));
    }
    return memory;
}

void need_memory(void) {
    if (errno == ENOMEM) {
        need(NULL);
    }
}

char *text_of(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return need(length < 0 ? NULL : text);
}

void mix_bytes(uint64_t *hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        *hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
}

int report(ig_status status, const message *why) {
    return why->text[0] ? complain(exit_of(status), "%s", why->text) : exit_of(status);
}

/* ---- contexts ---- */

/* Work that does not stop by itself (LLVM in one function, a launch without an end) is
 * left: files get their names when they are whole, so nothing remains of it. */
static void on_patience_lost(int signo) {
    static const char text[] = "error: interrupted\n";
    (void)signo;
    streams_remove_temporary();
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    json_output_cut(130, "interrupted");
    _exit(130);
}

/* A file of the user's own that was mapped became shorter than it was. */
static void on_cut_file(int signo) {
    static const char text[] =
        "error: a file was cut short while it was read; replace files by renaming\n";
    (void)signo;
    streams_remove_temporary();
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    json_output_cut(6, "a file was cut short while it was read");
    _exit(6);
}

static void on_interrupt(int signo) {
    static const struct itimerval patience = { .it_value = { .tv_usec = 400000 } };
    ig_context *context = atomic_load(&interrupted_context);
    if (atomic_fetch_add(&interrupts, 1) > 0) {
        on_patience_lost(signo);
    }
    setitimer(ITIMER_REAL, &patience, NULL);
    if (context) { /* else the work is done, and the process about to end */
        ig_context_cancel(context);
    }
    ig_session *session = atomic_load(&interrupted_session);
    if (session) {
        ig_session_cancel(session);
    }
    ig_lookahead *ahead = atomic_load(&interrupted_ahead);
    if (ahead) {
        ig_lookahead_cancel(ahead);
    }
}

void keep_patience(void) {
    static const struct itimerval none;
    setitimer(ITIMER_REAL, &none, NULL);
}

void interrupt_also(ig_session *session) {
    atomic_store(&interrupted_session, session);
}

void interrupt_lookahead(ig_lookahead *ahead) {
    atomic_store(&interrupted_ahead, ahead);
}

bool was_interrupted(void) {
    return atomic_load(&interrupts) > 0;
}

/* Notes are for who makes a file. */
static bool shows_notes(const settings *given) {
    return !given->quiet && given->output;
}

/* The text of a warning says that it is one. */
static void show_message(void *user, int severity, const char *text) {
    const settings *given = user;
    char *plain = text_of("%s", text);
    if (severity >= 2) {
        show_error(NULL, plain);
    } else if (severity == 1) {
        say(IG_LOG_WARNING, NULL, plain);
    } else {
        ig_text_hide_secrets(plain);
        json_output_note(plain);
        if (shows_notes(given)) {
            say(IG_LOG_INFO, NULL, plain);
        }
    }
    free(plain);
}

/* The same messages with their parts, for a log. */
static void log_message(void *user, const ig_log_record *record) {
    log_sink *sink = sink_of_log();
    if (sink && (record->level > IG_LOG_INFO || shows_notes(user))) {
        progress_clear();
        sink(NULL, record);
    }
}

static void keep_error(void *user, int severity, const char *text) {
    message *errors = user;
    size_t used = strlen(errors->text);
    if (severity >= 2) {
        snprintf(errors->text + used, sizeof errors->text - used, "%s%s",
                 used ? "\n" : "", text);
    }
}

static void show_progress(void *user, const char *stage, uint64_t done,
                          uint64_t total) {
    (void)user;
    if (total) {
        fprintf(stderr, "\r\033[K%s %llu of %llu", stage, (unsigned long long)done,
                (unsigned long long)total);
    } else {
        fprintf(stderr, "\r\033[K%s", stage);
    }
}

static int check_log(void) {
    const char *form = getenv("INGOT_LOG");
    return !form || !*form || sink_of_log()
               ? 0
               : complain(exit_of(IG_INVALID), "INGOT_LOG is text or json, not '%s'",
                          form);
}

static int set_limits(ig_context *context, const settings *given) {
    for (size_t i = 0; i < given->limits.count; i++) {
        const char *text = given->limits.items[i];
        const char *equals = strchr(text, '=');
        char *end = NULL;
        errno = 0;
        long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
        if (!equals || end == equals + 1 || *end || value < 0 || errno) {
            return complain(EXIT_USAGE, "--limit takes NAME=N, not '%s'", text);
        }
        char *name = text_of("%.*s", (int)(equals - text), text);
        ig_status status = ig_context_set_limit(context, name, value);
        free(name);
        if (status != IG_OK) {
            return EXIT_USAGE;
        }
    }
    return 0;
}

/* Names of targets and passes are usage: they are looked up before any model is. */
static int check_names(ig_context *context, const settings *given) {
    ig_compile_options options = { .size = sizeof options,
                                   .target = given->target,
                                   .passes = given->passes,
                                   .stop_after = given->after };
    return ig_compile_options_check(context, &options) == IG_OK ? 0 : EXIT_USAGE;
}

ig_context *context_open(const settings *given, message *errors, int *out_exit) {
    bool is_shown = isatty(STDERR_FILENO) && !given->quiet && !errors;
    hook = (ig_log){ log_message, (void *)(uintptr_t)given };
    ig_context_options options = {
        .size = sizeof options,
        .log = errors ? NULL : &hook,
        .message = errors ? keep_error : show_message,
        .message_user = errors ? (void *)errors : (void *)(uintptr_t)given,
        .progress = is_shown ? show_progress : NULL,
    };
    ig_context *context = need(ig_context_create(&options));
    *out_exit = check_log();
    *out_exit = *out_exit ? *out_exit : set_limits(context, given);
    if (*out_exit) {
        ig_context_destroy(context);
        return NULL;
    }
    if (check_names(context, given) != 0) {
        *out_exit = errors ? complain(EXIT_USAGE, "%s", errors->text) : EXIT_USAGE;
        ig_context_destroy(context);
        return NULL;
    }
    atomic_store(&interrupted_context, context);
    struct sigaction action = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction leave = { .sa_handler = on_patience_lost };
    sigaction(SIGALRM, &leave, NULL);
    struct sigaction cut = { .sa_handler = on_cut_file };
    sigaction(SIGBUS, &cut, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file too large is an error of writing */
    return context;
}

void context_close(ig_context *context) {
    progress_clear();
    keep_patience();
    atomic_store(&interrupted_context, NULL);
    ig_context_destroy(context);
}
