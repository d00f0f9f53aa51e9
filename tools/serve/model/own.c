/* Own copies: reflink, copy, or compile in a child.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NICE = 10, MAX_ARGUMENTS = 256 };

/* The server ends: children that compile do, too. */
static atomic_bool is_stopping;

IG_PRINTF(2, 3)
static bool refuse_file(char *words, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(words, WORDS, format, args);
    va_end(args);
    return false;
}

/* ---- copying ---- */

static bool copy_all(int from, int to, uint64_t left) {
    while (left) {
        ssize_t moved = copy_file_range(from, NULL, to, NULL,
                                        left < 1 << 30 ? left : 1 << 30, 0);
        if (moved == 0) {
            errno = EIO; /* the file was cut while it was read */
        }
        if (moved <= 0) {
            return false;
        }
        left -= (uint64_t)moved;
    }
    return true;
}

static bool copy_artifact(const own_options *options, const char *from, const char *to,
                          char *words) {
    struct stat facts;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    bool is_good = false;
    if (in < 0 || fstat(in, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        refuse_file(words, "%s: %s", from,
                    in < 0 ? strerror(errno) : "not a plain file");
    } else if ((out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0) {
        refuse_file(words, "%s: %s", to, strerror(errno));
    } else if (ioctl(out, FICLONE, in) == 0) {
        is_good = true;
    } else if ((uint64_t)facts.st_size > options->copy_limit) {
        refuse_file(words,
                    "%s has %lld bytes, and its file system shares none: more than "
                    "--copy-limit",
                    from, (long long)facts.st_size);
    } else {
        is_good = copy_all(in, out, (uint64_t)facts.st_size) ||
                  refuse_file(words, "copying %s: %s", from, strerror(errno));
    }
    if (in >= 0) {
        close(in);
    }
    if (out >= 0) {
        close(out);
    }
    if (out >= 0 && !is_good) {
        unlink(to);
    }
    return is_good;
}

/* ---- compiling ---- */

/* Reads the message that the child left, without its line ends. */
static void read_words(int from, char *words) {
    ssize_t size = pread(from, words, WORDS - 1, 0);
    words[size < 0 ? 0 : size] = '\0';
    for (char *at = words; *at; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    size_t end = strlen(words);
    while (end && words[end - 1] == ' ') {
        words[--end] = '\0';
    }
}

/* Waits for a child, `seconds` at the most.  Its wait status. */
static int await_child(pid_t child, int seconds) {
    int status = -1;
    const struct timespec pause = { 0, 20 * 1000 * 1000 };
    for (int64_t turns = (int64_t)seconds * 50; waitpid(child, &status, WNOHANG) == 0;
         turns--) {
        if (turns == 0 || atomic_load(&is_stopping)) {
            kill(child, SIGKILL);
        }
        nanosleep(&pause, NULL);
    }
    return status;
}

static bool run_compiler(const own_options *options, char **argv, int errors,
                         char *words) {
    extern char **environ;
    posix_spawn_file_actions_t files;
    pid_t child = 0;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, errors, 1);
    posix_spawn_file_actions_adddup2(&files, errors, 2);
    posix_spawnattr_t how; /* the server blocks signals that end the child */
    sigset_t none, broken_pipe;
    sigemptyset(&none);
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &broken_pipe);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(&child, options->compiler, &files, &how, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (failed) {
        return refuse_file(words, "%s: %s", options->compiler, strerror(failed));
    }
    setpriority(PRIO_PROCESS, (id_t)child, NICE);
    int status = await_child(child, options->seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    if (WIFSIGNALED(status)) {
        return refuse_file(words, "the compiler was ended by signal %d",
                           WTERMSIG(status));
    }
    read_words(errors, words);
    return false;
}

static bool compile_model(const own_options *options, const char *from,
                          const model_config *config, const char *to, char *words) {
    char *argv[MAX_ARGUMENTS] = { "ingot", "compile",  "--quiet", "--weights",
                                  "embed", "--output", (char *)to };
    size_t count = 7;
    for (size_t i = 0; i < config->statement_count && count + 5 < MAX_ARGUMENTS; i++) {
        argv[count++] = "--input";
        argv[count++] = (char *)config->statements[i];
    }
    if (config->entry) {
        argv[count++] = "--entry";
        argv[count++] = (char *)config->entry;
    }
    argv[count++] = "--";
    argv[count++] = (char *)from;
    char path[4096];
    snprintf(path, sizeof path, "%s.words", to);
    int errors = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (errors < 0) {
        return refuse_file(words, "%s: %s", path, strerror(errno));
    }
    unlink(path);
    bool is_good = run_compiler(options, argv, errors, words);
    close(errors);
    return is_good;
}

bool own_artifact(const own_options *options, const char *from,
                  const model_config *config, const char *to, char words[WORDS]) {
    const char *suffix = strrchr(from, '.');
    return suffix && strcmp(suffix, ".ingot") == 0
               ? copy_artifact(options, from, to, words)
               : compile_model(options, from, config, to, words);
}

void own_find_compiler(char out[4096]) {
    ssize_t size = readlink("/proc/self/exe", out, 4000);
    out[size < 0 ? 0 : size] = '\0';
    char *slash = strrchr(out, '/');
    strcpy(slash ? slash + 1 : out, "ingot");
}

void own_stop(void) {
    atomic_store(&is_stopping, true);
}
