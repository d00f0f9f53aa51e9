/* ingot info: this build and machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/info/info_kernels.h"

#include <jansson.h>

static const option_row options[] = {
    TEXT("kernels", 0, kernels, "M,K,N",
         "measure the register tiles that a product of these extents can be made of"),
    REAL("seconds", seconds, has_seconds, "S", "time of a tile (0.1)"),
    ROW_TARGET,
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* ---- the build ---- */

static void print_rows(const json_t *rows, const char *title) {
    size_t index;
    json_t *row;
    printf("\n%s\n", title);
    json_array_foreach(rows, index, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *help = json_string_value(json_object_get(row, "help"));
        const char *meaning = json_string_value(json_object_get(row, "meaning"));
        json_t *value = json_object_get(row, "value");
        json_t *found = json_object_get(row, "is_found");
        if (value) {
            printf("  %-16s %-12lld %s\n", name, (long long)json_integer_value(value),
                   meaning ? meaning : "");
        } else if (found) {
            printf("  %-20s %s\n", name, json_is_true(found) ? "found" : "absent");
        } else {
            printf("  %-20s %s\n", name, help ? help : "");
        }
    }
}

static int print_build(const settings *given, ig_context *context) {
    const char *text = ig_compiler_info(context);
    if (given->json) {
        fputs(text, stdout);
        return 0;
    }
    json_t *json = need(json_loads(text, 0, NULL));
    printf("ingot %s (build %s)\n", json_string_value(json_object_get(json, "version")),
           json_string_value(json_object_get(json, "build")));
    const char *level = json_string_value(json_object_get(json, "level"));
    printf("this machine: level %s, %lld CPUs\n", level && *level ? level : "none",
           (long long)json_integer_value(json_object_get(json, "cpus")));
    fputs("targets:", stdout);
    size_t index;
    json_t *name;
    json_array_foreach(json_object_get(json, "targets"), index, name) {
        printf(" %s", json_string_value(name));
    }
    puts(" interpret");
    print_rows(json_object_get(json, "passes"), "passes");
    print_rows(json_object_get(json, "limits"), "limits (--limit NAME=N)");
    print_rows(json_object_get(json, "knobs"), "environment");
    print_rows(json_object_get(json, "libraries"), "libraries opened when needed");
    json_decref(json);
    return 0;
}

static int run_info(const settings *given) {
    int exit_status;
    if (given->arguments.count && given->kernels) {
        return complain(EXIT_USAGE, "--kernels takes no model");
    }
    if (given->arguments.count) {
        return complain(EXIT_USAGE, "ingot inspect %s lists the contents of a model",
                        given->arguments.items[0]);
    }
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    exit_status = given->kernels ? info_kernels(given, context)
                                 : print_build(given, context);
    context_close(context);
    return exit_status;
}

const verb verb_info = {
    .name = "info",
    .arguments = "",
    .help = "shows facts of this build and machine",
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_info,
};
