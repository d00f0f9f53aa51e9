/* ingot shard: where embedding tables go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/model.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/shard/shard_measure.h"
#include "tools/ingot/shard/shard_report.h"
#include "tools/ingot/shard/shard_sample.h"
#include "tools/ingot/values/declare.h"

#include <ingot/shard.h>

#include <stdlib.h>
#include <string.h>

static const option_row options[] = {
    TEXT("topology", 0, topology, "T.json",
         "ranks, their memory and latency, in place of the tables' own"),
    TEXT("constraints", 0, constraints, "C.json",
         "what tables may have, in place of the tables' own"),
    TEXT("sample", 0, sample, "IDS.npz",
         "ids of calls by table: how often which rows are looked up"),
    TEXT("compat", 0, compat, "none|torchrec", "choose as TorchRec's planner does"),
    TEXT("plan", 0, plan, "P.json", "check and rate this plan instead of choosing one"),
    COUNT("batch-size", 'b', batch_size, 1, 0, "samples of a rank's batch (512)"),
    FLAG("measure", measure, "write this machine's topology, for --ranks or mpirun"),
    COUNT("ranks", 0, ranks, 1, MAX_RANKS, "of --measure: so many processes"),
    COUNT("timeout", 0, timeout, 1, 1 << 20, "of --measure: seconds to wait (60)"),
    TEXT("output", 'o', output, "PLAN.json", "also write the plan (- is stdout)"),
    TEXT("svg", 0, svg, "FILE", "also draw memory and time of the ranks"),
    LIST("input", inputs, "NAME=TYPE", "fix an input's type"),
    LIST("dim", dims, "NAME=N",
         "fix an extent by its name, in every input that has it"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_CHECKPOINT,
    ROW_TORCH_EMPTY,
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "The tables are those that MODEL looks up, or what TABLES.json (any *.json) lists: "
    "it has {\"tables\": [{\"name\", \"rows\", \"dim\", \"row_bytes\"}], "
    "\"batch_size\", …}; "
    "a topology has {\"world_size\", \"local_world_size\", \"compute_device\", "
    "\"hbm_cap\", \"ddr_cap\", \"latency_us\"}, which --measure writes; constraints have {TABLE: "
    "{\"sharding_types\", \"compute_kernels\", \"min_partition\", "
    "\"pooling_factors\", \"row_shares\"}}: docs/sharding.md.";

/* ---- input ---- */

/* Puts the object of a file into the input under `key`.  0, or the exit status. */
static int take_file(json_t *input, const char *key, const char *path) {
    int exit_status = 0;
    json_t *json = path ? read_json_object(path, &exit_status) : NULL;
    if (json && json_object_set_new(input, key, json) != 0) {
        need(NULL);
    }
    return exit_status;
}

/* Constraints of the file; other facts of a table stay. */
static int take_constraints(json_t *input, const char *path) {
    json_t *before = json_incref(json_object_get(input, "constraints"));
    int exit_status = take_file(input, "constraints", path);
    json_t *all = json_object_get(input, "constraints");
    const char *table;
    json_t *own;
    json_object_foreach(before, table, own) {
        json_t *given = json_object_get(all, table);
        int is_kept = given ? json_object_update_missing(given, own)
                            : json_object_set(all, table, own);
        if (exit_status == 0 && is_kept != 0) {
            need(NULL);
        }
    }
    json_decref(before);
    return exit_status;
}

/* The tables of a model, as TABLES.json has them. */
static json_t *read_model(const settings *given, ig_context *context, int *out_exit) {
    ig_module *module = NULL;
    const char *text = NULL;
    ig_compile_options how = compile_options(given);
    ig_status status = declared_import(given, context, given->arguments.items[0],
                                       &module);
    if (status == IG_OK) {
        status = ig_module_tables(module, &how, &text);
    }
    json_t *tables = status == IG_OK ? need(json_loads(text, 0, NULL)) : NULL;
    *out_exit = exit_of(status);
    ig_module_close(module);
    return tables;
}

/* The text for the planner: allocated.  NULL after a message. */
static char *read_input(const settings *given, ig_context *context, int *out_exit) {
    const char *path = given->arguments.items[0], *ending = strrchr(path, '.');
    bool is_json = ending && strcmp(ending, ".json") == 0;
    json_t *input = is_json ? read_json_object(path, out_exit)
                            : read_model(given, context, out_exit);
    if (!input) {
        return NULL;
    }
    *out_exit = take_file(input, "topology", given->topology);
    if (*out_exit == 0) {
        *out_exit = take_constraints(input, given->constraints);
    }
    if (*out_exit == 0 && given->sample) {
        *out_exit = shard_take_sample(context, given->sample, input);
    }
    if (*out_exit == 0) {
        *out_exit = take_file(input, "plan", given->plan);
    }
    if (given->batch_size &&
        json_object_set_new(input, "batch_size", json_integer(given->batch_size)) !=
            0) {
        need(NULL);
    }
    char *text = *out_exit == 0 ? need(json_dumps(input, JSON_REAL_PRECISION(17)))
                                : NULL;
    json_decref(input);
    return text;
}

/* The files that the planner's messages are about: allocated. */
static char *name_input(const settings *given) {
    const char *files[] = { given->topology, given->constraints, given->sample,
                            given->plan };
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

static bool is_torchrec(const settings *given) {
    return given->compat && strcmp(given->compat, "torchrec") == 0;
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
        shard_print_plan(plan, is_torchrec(given));
    }
    json_decref(plan);
    return status;
}

static ig_status plan_tables(const settings *given, ig_context *context,
                             const char *text) {
    char *name = name_input(given);
    const char *plan = NULL;
    ig_status status = ig_shard_plan(
        context, name, text,
        is_torchrec(given) ? IG_SHARD_TORCHREC : IG_SHARD_CRITICAL_PATH, &plan);
    free(name);
    return status == IG_OK ? show_plan(given, plan) : status;
}

static int run_shard(const settings *given) {
    int exit_status = 0;
    if (given->measure) {
        return shard_measure(given);
    }
    if (given->arguments.count != 1 || given->ranks || given->timeout) {
        return complain(EXIT_USAGE, given->arguments.count != 1
                                        ? "shard: name one MODEL or TABLES.json"
                                        : "--ranks and --timeout go with --measure");
    }
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    char *text = read_input(given, context, &exit_status);
    if (text) {
        exit_status = exit_of(plan_tables(given, context, text));
    }
    context_close(context);
    free(text);
    return exit_status;
}

const verb verb_shard = {
    .name = "shard",
    .arguments = "MODEL|TABLES.json [-o PLAN.json] | --measure [--ranks N]",
    .help = "chooses where embedding tables go",
    .details = details,
    .options = options,
    .min_arguments = 0,
    .max_arguments = 1,
    .run = run_shard,
};
