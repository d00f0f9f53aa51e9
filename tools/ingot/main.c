/* ingot: the command line.  One verb a file; this one finds the verb.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/console.h"
#include "tools/ingot/cli/json_output.h"
#include "tools/ingot/cli/verb.h"
#include "tools/ingot/verbs/verbs.h"

#include <string.h>

static const char about[] =
    "Ingot compiles trained models into small, fast programs.\n\n"
    "usage: ingot VERB ...     (ingot VERB --help says more)\n\n";

static const char ending[] =
    "\nMODEL is a .onnx, .pt (TorchScript or torch.package), .pt2 (torch.export) or .ig\n"
    "file, or an artifact (.ingot); - is standard input, and standard output as a file\n"
    "to write.  With --json standard output is one JSON value.\n"
    "Exit status: 0 good, 1 a comparison or check failed, 2 wrong usage, 3 invalid\n"
    "input, 4 not supported, 5 a limit or memory, 6 cannot read or write a file,\n"
    "130 interrupted, 70 a defect of Ingot.\n";

static void print_verbs(FILE *to) {
    fputs(about, to);
    for (size_t i = 0; verbs[i]; i++) {
        const verb *v = verbs[i];
        int length = (int)strcspn(v->help, ".\n");
        fprintf(to, "  ingot %-8s %.*s\n", v->name, length, v->help);
    }
    fputs(ending, to);
}

static int print_version(const char *argument) {
    bool is_json = argument && strcmp(argument, "--json") == 0;
    printf(is_json ? "{\"version\": \"%s\"}\n" : "ingot %s\n", ig_compiler_version());
    return 0;
}

static int print_help(const char *argument) {
    (void)argument;
    print_verbs(stdout);
    return 0;
}

static int print_man(const char *argument) {
    (void)argument;
    options_print_man(verbs, ending + 1, stdout);
    return 0;
}

static int print_completion(const char *shell) {
    return options_print_completion(verbs, shell ? shell : "bash", stdout)
               ? 0
               : complain(EXIT_USAGE, "--completion takes bash, zsh or fish, not '%s'",
                          shell);
}

static const struct {
    const char *name;
    int (*run)(const char *argument); /* NULL: none */
} other_words[] = {
    { "--help", print_help }, { "-h", print_help },
    { "help", print_help },   { "--version", print_version },
    { "--man", print_man },   { "--completion", print_completion },
};

/* A verb, or another first word, with its arguments. */
static int run_word(int argc, char **argv) {
    for (size_t i = 0; verbs[i]; i++) {
        if (strcmp(verbs[i]->name, argv[1]) == 0) {
            if (!verbs[i]->program) { /* which prints for itself */
                verb_begin_json(argc, argv);
            }
            return verb_invoke(verbs[i], argc - 1, argv + 1);
        }
    }
    verb_begin_json(argc, argv);
    int status = EXIT_USAGE;
    size_t i = 0, count = sizeof other_words / sizeof *other_words;
    while (i < count && strcmp(other_words[i].name, argv[1]) != 0) {
        i++;
    }
    if (i < count) {
        status = other_words[i].run(argc > 2 ? argv[2] : NULL);
    } else {
        complain(status, "there is no verb '%s'\n  try: ingot --help", argv[1]);
    }
    json_output_end(status, NULL);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_verbs(stderr);
        return EXIT_USAGE;
    }
    return verb_check_output(run_word(argc, argv)); /* main stays on the stack */
}
