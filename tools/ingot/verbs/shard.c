/* ingot shard: where embedding tables go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/verbs/shard_report.h"

#include <ingot/shard.h>

#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    TEXT("topology", 0, topology, "T.json",
         "ranks, their memory and latency, in place of the tables' own"),
    TEXT("constraints", 0, constraints, "C.json",
         "what tables may have, in place of the tables' own"),
    TEXT("compat", 0, compat, "none|torchrec", "choose as TorchRec's planner does"),
    TEXT("plan", 0, plan, "P.json", "check and rate this plan instead of choosing one"),
    TEXT("output", 'o', output, "PLAN.json", "also write the plan (- is stdout)"),
    TEXT("svg", 0, svg, "FILE", "also draw memory and time of the ranks"),
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "TABLES.json has {\"tables\": [{\"name\", \"rows\", \"dim\"}], \"batch_size\", …}; "
    "a topology has {\"world_size\", \"local_world_size\", \"compute_device\", "
    "\"hbm_cap\", \"ddr_cap\", \"latency_us\"}; constraints have {TABLE: "
    "{\"sharding_types\", \"compute_kernels\", \"min_partition\", "
    "\"pooling_factors\"}}: docs/sharding.md.";

/* ---- input ---- */

/* NULL after a message; *out_exit says why. */
static json_t *read_object(const char *path, int *out_exit) {
    json_error_t why;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (json && json_is_object(json)) {
        return json;
    }
    bool is_unreadable = !json && json_error_code(&why) == json_error_cannot_open_file;
    *out_exit = is_unreadable ? complain(exit_of(IG_IO), "%s: cannot be read", path)
                : json        ? complain(exit_of(IG_INVALID),
                                         "%s: a JSON object {…} is wanted here", path)
                              : complain(exit_of(IG_INVALID), "%s: line %d: %s", path,
                                         why.line, why.text);
    json_decref(json);
    return NULL;
}

/* Puts the object of a file into the input under `key`.  0, or the exit status. */
static int take_file(json_t *input, const char *key, const char *path) {
    int exit_status = 0;
    json_t *json = path ? read_object(path, &exit_status) : NULL;
    if (json && json_object_set_new(input, key, json) != 0) {
        need(NULL);
    }
    return exit_status;
}

/* The text for the planner: allocated.  NULL after a message. */
static char *read_input(const settings *given, int *out_exit) {
    json_t *input = read_object(given->arguments.items[0], out_exit);
    if (!input) {
        return NULL;
    }
    *out_exit = take_file(input, "topology", given->topology);
    if (*out_exit == 0) {
        *out_exit = take_file(input, "constraints", given->constraints);
    }
    if (*out_exit == 0) {
        *out_exit = take_file(input, "plan", given->plan);
    }
    char *text = *out_exit == 0 ? need(json_dumps(input, JSON_REAL_PRECISION(17)))
                                : NULL;
    json_decref(input);
    return text;
}

/* The files that the planner's messages are about: allocated. */
static char *name_input(const settings *given) {
    const char *files[] = { given->topology, given->constraints, given->plan };
    char *name = text_of("%s", given->arguments.items[0]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i]) {
            char *longer = text_of("%s with %s", name, files[i]);
            free(name);
            name = longer;
        }
    }
    return name;
}

/* ---- output ---- */

static ig_status write_drawing(const settings *given, const json_t *plan) {
    size_t size = 0;
    char *text = NULL;
    FILE *to = need(open_memstream(&text, &size));
    shard_draw_ranks(to, plan);
    fclose(to);
    ig_status status = write_output(given->svg, need(text), size);
    free(text);
    return status;
}

static ig_status show_plan(const settings *given, const char *text) {
    json_t *plan = need(json_loads(text, 0, NULL));
    ig_status status = given->output ? write_output(given->output, text, strlen(text))
                                     : IG_OK;
    if (status == IG_OK && given->svg) {
        status = write_drawing(given, plan);
    }
    bool is_shown = given->output && is_stream(given->output);
    if (status == IG_OK && given->json && !is_shown) {
        fputs(text, stdout);
    } else if (status == IG_OK && !given->quiet && !is_shown) {
        shard_print_plan(plan);
    }
    json_decref(plan);
    return status;
}

static int run_shard(const settings *given) {
    int exit_status;
    char *text = read_input(given, &exit_status);
    ig_context *context = text ? context_open(given, NULL, &exit_status) : NULL;
    if (!context) {
        free(text);
        return exit_status;
    }
    bool is_torchrec = given->compat && strcmp(given->compat, "torchrec") == 0;
    char *name = name_input(given);
    const char *plan = NULL;
    ig_status status =
        ig_shard_plan(context, name, text,
                      is_torchrec ? IG_SHARD_TORCHREC : IG_SHARD_CRITICAL_PATH, &plan);
    if (status == IG_OK) {
        status = show_plan(given, plan);
    }
    context_close(context);
    free(name);
    free(text);
    return exit_of(status);
}

const verb verb_shard = {
    .name = "shard",
    .arguments = "TABLES.json [-o PLAN.json]",
    .help = "chooses where embedding tables go",
    .details = details,
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_shard,
};
