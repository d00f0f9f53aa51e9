/* ingot reduce: the smallest model that a command still fails on.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The command is run by sh in a process group of its own, with the model's path for {}
 * (or behind it).  A model fails as the first one did where the command ends with the
 * same status. */
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/values/bound_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <ingot/defect.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const option_row options[] = {
    TEXT("check", 0, check_command, "COMMAND",
         "a command that fails on the model, whose path is {} in it (or comes last)"),
    TEXT("output", 'o', output, "FILE", "the smaller model (MODEL.reduced.onnx)"),
    REAL("seconds", seconds, has_seconds, "S", "at most as long as this (60)"),
    COUNT("batch", 'b', batch_size, 1, INT32_MAX, "batch size (1)"),
    LIST("dim", dims, "NAME=N", "an extent other than the batch, as for ingot bench"),
    LIST("input", inputs, "NAME=VALUE", "values, as for ingot bench"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz", "inputs from files"),
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

enum { LOST = -1, TRIAL_BYTES = 4096 };

typedef struct reducing {
    const settings *given;
    char folder[TRIAL_BYTES];
    char *trial, *output; /* paths */
    int status;           /* of the command on the whole model */
    double end, slowest;  /* by the clock; seconds of the slowest check so far */
    size_t checks, nodes, all_nodes;
    bool has_ended, has_smaller, has_failed; /* failed: the output was not written */
} reducing;

/* ---- the command ---- */

/* The command with `path` in single quotes for each {}; free() it. */
static char *command_for(const char *command, const char *path) {
    char *quoted = text_of("'"), *out = text_of("%s", "");
    for (const char *at = path; *at; at++) {
        char *longer = *at == '\'' ? text_of("%s'\\''", quoted)
                                   : text_of("%s%c", quoted, *at);
        free(quoted);
        quoted = longer;
    }
    bool has_place = strstr(command, "{}") != NULL;
    for (const char *place; (place = strstr(command, "{}")); command = place + 2) {
        char *longer = text_of("%s%.*s%s'", out, (int)(place - command), command,
                               quoted);
        free(out);
        out = longer;
    }
    char *whole = has_place ? text_of("%s%s", out, command)
                            : text_of("%s %s'", command, quoted);
    free(out);
    free(quoted);
    return whole;
}

static pid_t start(const char *command) {
    char *const words[] = { "/bin/sh", "-c", (char *)(uintptr_t)command, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t child = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    int error = posix_spawn(&child, "/bin/sh", &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error ? -1 : child;
}

/* Exit status, or 128 + signal; LOST where it was ended here. */
static int wait_for(pid_t child, double end) {
    const struct timespec pause = { 0, 1000000 };
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (was_interrupted() || clock_seconds() > end) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return LOST;
        }
        nanosleep(&pause, NULL);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_check(const reducing *r, const char *path, double end) {
    char *command = command_for(r->given->check_command, path);
    pid_t child = start(command);
    free(command);
    return child < 0 ? LOST : wait_for(child, end);
}

/* ---- trials ---- */

static bool write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    bool is_good = file && fwrite(bytes, 1, size, file) == size;
    return (!file || fclose(file) == 0) && is_good;
}

/* A file beside the output that gets its name when it is whole. */
static void keep_smaller(reducing *r, const void *bytes, size_t size) {
    char *part = text_of("%s.part", r->output);
    if (!write_file(part, bytes, size) || rename(part, r->output) != 0) {
        complain(0, "%s: cannot write: %s", r->output, strerror(errno));
        (void)unlink(part);
        r->has_failed = true;
    }
    free(part);
    r->has_smaller = !r->has_failed;
}

/* One that hangs has not failed as the first one did. */
static int check_model(void *user, const void *bytes, size_t size) {
    reducing *r = user;
    double begin = clock_seconds(), limit = begin + 1 + 10 * r->slowest;
    if (was_interrupted() || begin > r->end || r->has_failed) {
        r->has_ended = true;
        return -1;
    }
    if (!write_file(r->trial, bytes, size)) {
        complain(0, "%s: cannot write: %s", r->trial, strerror(errno));
        r->has_failed = true;
        return -1;
    }
    r->checks++;
    int status = run_check(r, r->trial, limit < r->end ? limit : r->end);
    if (status != r->status) {
        return 0;
    }
    double taken = clock_seconds() - begin;
    r->slowest = taken > r->slowest ? taken : r->slowest;
    keep_smaller(r, bytes, size);
    return r->has_failed ? -1 : 1;
}

static void note_smaller(void *user, size_t nodes, size_t all_nodes) {
    reducing *r = user;
    r->nodes = nodes;
    r->all_nodes = all_nodes;
    if (!r->given->quiet && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%zu of %zu nodes, %zu checks \033[K", nodes, all_nodes,
                r->checks);
    }
}

/* ---- the whole ---- */

static void print_result(const reducing *r) {
    progress_clear();
    if (r->given->json) {
        json_begin();
        printf("{\"nodes\": %zu, \"of\": %zu, \"checks\": %zu, \"status\": %d, "
               "\"ended_early\": %s, \"output\": ",
               r->nodes, r->all_nodes, r->checks, r->status,
               r->has_ended ? "true" : "false");
        put_json_text(stdout, r->output);
        puts("}");
        return;
    }
    printf("%zu of %zu nodes, %zu checks%s: ", r->nodes, r->all_nodes, r->checks,
           r->has_ended ? ", not done" : "");
    put_plain(stdout, r->output);
    puts("");
}

static ig_status reduce_to(reducing *r, const model *m, const call *with) {
    ig_reduction how = {
        .size = sizeof how, .check = check_model, .smaller = note_smaller, .user = r
    };
    double begin = clock_seconds();
    r->status = run_check(r, m->path, begin + 3600);
    r->slowest = clock_seconds() - begin;
    if (r->status == LOST) {
        return IG_CANCELLED;
    }
    if (r->status == 0) {
        complain(0, "the command does not fail on %s: there is nothing to look for",
                 m->path);
        return IG_INVALID;
    }
    r->end = begin + (r->given->has_seconds ? r->given->seconds : 60);
    ig_status status = ig_module_reduce(m->module, m->path, with->inputs, with->count,
                                        &how);
    bool is_done = status == IG_OK || (status == IG_CANCELLED && r->has_smaller);
    if (is_done && r->has_smaller) {
        print_result(r);
    }
    return r->has_failed                          ? IG_IO
           : status == IG_OK && was_interrupted() ? IG_CANCELLED
                                                  : status;
}

static ig_status reduce_in_folder(const settings *given, const model *m,
                                  const call *with) {
    reducing r = { .given = given };
    const char *root = getenv("TMPDIR");
    snprintf(r.folder, sizeof r.folder, "%s/ingot-reduce-XXXXXX",
             root && root[0] ? root : "/tmp");
    if (!mkdtemp(r.folder)) {
        complain(0, "%s: cannot create: %s", r.folder, strerror(errno));
        return IG_IO;
    }
    r.trial = text_of("%s/model.onnx", r.folder);
    r.output = given->output ? text_of("%s", given->output)
                             : text_of("%s.reduced.onnx", m->path);
    ig_status status = reduce_to(&r, m, with);
    (void)unlink(r.trial);
    (void)rmdir(r.folder);
    free(r.trial);
    free(r.output);
    return status;
}

static ig_status reduce_model(const settings *given, const model *m,
                              bound_inputs *values, message *why) {
    extents sizes;
    (void)why;
    int64_t batch = given->batch_size ? given->batch_size : -1;
    if (!m->module) {
        complain(0, "%s: only ONNX models are made smaller", m->path);
        return IG_UNSUPPORTED;
    }
    ig_status status = extents_init(&sizes, m, batch, given->dims) ? IG_OK : IG_INVALID;
    if (status == IG_OK) {
        status = bind_inputs(given, m, &sizes, values);
    }
    if (status == IG_OK) {
        status = reduce_in_folder(given, m, &values->with);
    }
    extents_fini(&sizes);
    return status;
}

static int run_reduce(const settings *given) {
    settings how = *given;
    how.target = "interpret"; /* whatever fails is the command's */
    int wrong = output_check(given);
    return !given->check_command
               ? complain(EXIT_USAGE, "--check COMMAND says what fails")
           : wrong ? wrong
                   : work_on_model(&how, reduce_model);
}

const verb verb_reduce = {
    .name = "reduce",
    .arguments = "MODEL.onnx --check COMMAND [-o FILE]",
    .help = "finds the smallest model that a command still fails on",
    .details =
        "The command is run by sh; a model fails where it ends with the status that it ends with on MODEL. Values that the nodes left need of others become inputs, whole numbers constants, as they are for the inputs given (those of ingot bench). Ctrl-C keeps the smallest so far.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_reduce,
};
