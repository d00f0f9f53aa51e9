/* A command of the shell.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/reduce/command.h"

#include "tools/ingot/cli/console.h"
#include "tools/ingot/measure/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char inputs_placeholder[] = "{inputs}", model_placeholder[] = "{}";

bool command_has_inputs(const char *command) {
    return strstr(command, inputs_placeholder) != NULL;
}

/* `text` in single quotes; free() it. */
static char *quote(const char *text) {
    char *quoted = text_of("'");
    for (; *text; text++) {
        char *longer = *text == '\'' ? text_of("%s'\\''", quoted)
                                     : text_of("%s%c", quoted, *text);
        free(quoted);
        quoted = longer;
    }
    char *whole = text_of("%s'", quoted);
    free(quoted);
    return whole;
}

/* `text` with `quoted` for each `place`; free() it. */
static char *fill(const char *text, const char *placeholder, const char *quoted) {
    char *out = text_of("%s", "");
    for (const char *at; (at = strstr(text, placeholder));
         text = at + strlen(placeholder)) {
        char *longer = text_of("%s%.*s%s", out, (int)(at - text), text, quoted);
        free(out);
        out = longer;
    }
    char *whole = text_of("%s%s", out, text);
    free(out);
    return whole;
}

char *command_for(const char *command, const char *model, const char *inputs) {
    char *quoted = quote(model), *quoted_inputs = quote(inputs);
    char *with_model = strstr(command, model_placeholder)
                           ? fill(command, model_placeholder, quoted)
                           : text_of("%s %s", command, quoted);
    char *whole = fill(with_model, inputs_placeholder, quoted_inputs);
    free(quoted);
    free(quoted_inputs);
    free(with_model);
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

static int wait_for(pid_t child, double end) {
    const struct timespec pause = { 0, 1000000 };
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (was_interrupted() || clock_seconds() > end) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return COMMAND_LOST;
        }
        nanosleep(&pause, NULL);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_run(const char *command, double end) {
    pid_t child = start(command);
    return child < 0 ? COMMAND_LOST : wait_for(child, end);
}
