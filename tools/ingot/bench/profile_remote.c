/* The commands for a worker on another machine.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/bench/profile_remote.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static json_t *describe_input(const char *name, const ig_view *view) {
    json_t *shape = json_array();
    for (uint32_t i = 0; i < view->rank; i++) {
        json_array_append_new(shape, json_integer(view->dims[i]));
    }
    return json_pack("{s:s, s:i, s:o, s:I}", "name", name, "dtype", view->dtype,
                     "shape", shape, "size", (json_int_t)ig_view_bytes(view));
}

static char *describe_call(const settings *given, const model *m, const ig_view *views,
                           size_t count) {
    json_t *inputs = json_array(), *backends = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(
            inputs, describe_input(ig_program_input(m->program, i).name, &views[i]));
    }
    for (size_t i = 0; i < given->backends.count; i++) {
        json_array_append_new(backends, json_string(given->backends.items[i]));
    }
    double seconds = given->has_seconds ? given->seconds : 2;
    json_t *all = json_pack("{s:I, s:b, s:o, s:o}", "milliseconds",
                            (json_int_t)(seconds * 1000), "json", given->json, "inputs",
                            inputs, "backends", backends);
    if (given->ca) {
        json_object_set_new(all, "ca", json_string(given->ca));
    }
    if (given->token_file) {
        json_object_set_new(all, "token_file", json_string(given->token_file));
    }
    char *text = need(json_dumps(all, 0));
    json_decref(all);
    return text;
}

/* A file in memory with the call: a head of two sizes, the text, the inputs' bytes. */
static int write_call(const char *text, const ig_view *views, size_t count) {
    uint64_t head[2] = { strlen(text), 0 };
    int file = memfd_create("call", MFD_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        head[1] += (uint64_t)ig_view_bytes(&views[i]);
    }
    FILE *to = file >= 0 ? fdopen(dup(file), "w") : NULL;
    if (!to) {
        return -1;
    }
    fwrite(head, sizeof head, 1, to);
    fwrite(text, 1, strlen(text), to);
    for (size_t i = 0; i < count; i++) {
        fwrite(views[i].data, 1, (size_t)ig_view_bytes(&views[i]), to);
    }
    return fclose(to) == 0 ? file : -1;
}

/* `ingot-serve` is beside this program.  Its exit status; -1: it did not start. */
static int run_client(const settings *given, const model *m, int call_file) {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 16);
    path[size < 0 ? 0 : size] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "ingot-serve");
    char *argv[] = { "ingot-serve", "remote", (char *)given->remote, (char *)m->path,
                     NULL };
    posix_spawn_file_actions_t files;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, call_file, STDIN_FILENO);
    int failed = posix_spawn(&child, path, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    while (!failed && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return !failed && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

ig_status profile_remotely(const settings *given, const model *m, const call *with,
                           message *why) {
    ig_view *views = need(calloc(with->count + 1, sizeof *views));
    ig_status status = call_views(m, with, views, why);
    char *text = status == IG_OK ? describe_call(given, m, views, with->count) : NULL;
    int file = text ? write_call(text, views, with->count) : -1;
    int exit_status = file >= 0 ? run_client(given, m, file) : -1;
    if (status == IG_OK && exit_status != 0) {
        snprintf(why->text, sizeof why->text,
                 exit_status < 0
                     ? "%s: ingot-serve did not start; this build may have none"
                     : "%s was not timed on every backend",
                 m->path);
        status = exit_status < 0 ? IG_UNSUPPORTED : IG_INVALID;
    }
    if (file >= 0) {
        close(file);
    }
    free(text);
    free(views);
    return status;
}
