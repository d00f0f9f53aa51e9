/* A verb run with the words of a command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/verb.h"

#include "tools/ingot/cli/console.h"
#include "tools/ingot/cli/json_output.h"
#include "tools/ingot/cli/streams.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Also where reading the options is what failed. */
static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return true;
        }
    }
    return false;
}

static int check_json(const verb *which, const settings *given) {
    bool writes_json = strcmp(which->name, "dump") == 0 ||
                       strcmp(which->name, "opt") == 0 ||
                       strcmp(which->name, "shard") == 0;
    const char *clash = given->json ? json_output_clash(given, writes_json) : NULL;
    return clash ? complain(EXIT_USAGE,
                            "--json and %s would both write to standard output", clash)
                 : 0;
}

/* Becomes the program of a verb that is one. */
static int run_program(const verb *which, char **argv) {
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 64);
    path[size < 0 ? 0 : size] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 64, "%s", which->program);
    execv(path, argv);
    return complain(exit_of(IG_UNSUPPORTED), "%s: %s; this build has none", path,
                    strerror(errno));
}

int verb_invoke(const verb *which, int argc, char **argv) {
    settings given;
    if (which->program) {
        return run_program(which, argv);
    }
    int status = options_read(which, argc, argv, &given);
    if (status == 0 && given.json) {
        json_output_begin(); /* however it was abbreviated */
    }
    if (status == 0 && given.help) {
        options_print_help(which, stdout);
    } else if (status == 0) {
        status = check_json(which, &given);
        status = status ? status : streams_take_input(&given);
        status = status ? status : which->run(&given);
    }
    if (status == exit_of(IG_CANCELLED)) {
        complain(status, "interrupted");
    }
    json_output_end(status, given.output ? given.output : given.outputs_to);
    options_free(&given);
    return status;
}

int verb_check_output(int status) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return status ? status : complain(exit_of(IG_IO), "cannot write the output");
    }
    return status;
}

void verb_begin_json(int argc, char **argv) {
    if (wants_json(argc, argv)) {
        json_output_begin();
    }
}
