/* ingot reshard: artifacts of ranks by another plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The artifacts are put together again, beside the new ones; each new rank's program is
 * compiled from that.  What is newer than all that it was made of is not made again, so
 * that a run that was ended goes on where it was.
 */
#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/model/model.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/values/declare.h"

#include <ingot/shard.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const option_row options[] = {
    TEXT("plan", 0, plan, "NEW.json", "who is to have what (ingot shard)"),
    TEXT("model", 0, model_file, "MODEL", "of a checkpoint: whose weights it has"),
    LIST("input", inputs, "NAME=TYPE", "of that model: an input's type"),
    ROW_ENTRY,
    TEXT("output", 'o', output, "FILE",
         "the new artifacts, with %r for a rank's number; or MODEL.ig: the whole model"),
    ROWS_COMPILE,
    ROW_LIMIT,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

/* ---- names ---- */

/* The pattern with "%r" replaced: allocated. */
static char *name_of_rank(const char *pattern, const char *rank) {
    const char *at = strstr(pattern, "%r");
    return at ? text_of("%.*s%s%s", (int)(at - pattern), pattern, rank, at + 2)
              : text_of("%s", pattern);
}

static char *name_of_number(const char *pattern, int64_t rank) {
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)rank);
    return name_of_rank(pattern, number);
}

static bool ends_in(const char *path, const char *ending) {
    size_t size = strlen(path), tail = strlen(ending);
    return size >= tail && strcmp(path + size - tail, ending) == 0;
}

typedef struct file_names {
    char **items;
    size_t count;
} file_names;

/* Artifacts of ranks 0, 1 … as far as there are any. */
static file_names list_parts(const char *pattern) {
    file_names names = { need(calloc(MAX_RANKS, sizeof *names.items)), 0 };
    bool has_number = strstr(pattern, "%r") != NULL;
    while (names.count < MAX_RANKS && (has_number || names.count == 0)) {
        char *name = name_of_number(pattern, (int64_t)names.count);
        if (names.count > 0 && access(name, F_OK) != 0) {
            free(name);
            break;
        }
        names.items[names.count++] = name;
    }
    return names;
}

static void free_names(file_names *names) {
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i]);
    }
    free(names->items);
}

/* ---- what is there already ---- */

static bool is_after(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec
               ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
               : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* Is `path` newer than all of `from`? */
static bool is_fresh(const char *path, const file_names *from, const char *plan) {
    struct stat made, used;
    bool fresh = stat(path, &made) == 0;
    for (size_t i = 0; i < from->count && fresh; i++) {
        fresh = stat(from->items[i], &used) == 0 && is_after(&made, &used);
    }
    return fresh && (!plan || (stat(plan, &used) == 0 && is_after(&made, &used)));
}

/* ---- making ---- */

static void say(const settings *given, const char *path, const char *what) {
    if (!given->quiet && !given->json) {
        printf("%s: %s\n", path, what);
    }
}

static int make_rank(const settings *given, const char *whole, int64_t rank,
                     const char *path) {
    int status = 0;
    settings own = *given;
    ig_module *module = NULL;
    own.rank = rank;
    own.checkpoint = given->model_file ? given->arguments.items[0] : NULL;
    ig_context *context = context_open(&own, NULL, &status);
    if (!context) {
        return status;
    }
    ig_compile_options how = compile_options(&own);
    ig_status made = declared_import(&own, context, whole, &module);
    made = made == IG_OK ? ranks_shard_by_plan(&own, module) : made;
    made = made == IG_OK ? ig_compile_file(module, path, &how) : made;
    ig_module_close(module);
    context_close(context);
    return exit_of(made);
}

static bool are_fresh(const settings *given, const file_names *parts, int64_t world) {
    bool fresh = true;
    for (int64_t r = 0; r < world && fresh; r++) {
        char *path = name_of_number(given->output, r);
        fresh = is_fresh(path, parts, given->plan);
        free(path);
    }
    return fresh;
}

static int make_ranks(const settings *given, const file_names *parts,
                      const char *whole, int64_t world) {
    int status = 0;
    for (int64_t r = 0; r < world && status == 0; r++) {
        char *path = name_of_number(given->output, r);
        if (is_fresh(path, parts, given->plan)) {
            say(given, path, "is there already");
        } else {
            status = make_rank(given, whole, r, path);
            if (status == 0) {
                say(given, path, "written");
            }
        }
        free(path);
    }
    return status;
}

static int make_whole(const settings *given, const file_names *parts,
                      const char *whole) {
    int status = 0;
    if (is_fresh(whole, parts, NULL)) {
        return 0;
    }
    ig_context *context = context_open(given, NULL, &status);
    if (!context) {
        return status;
    }
    status = exit_of(ig_artifacts_join(context, (const char *const *)parts->items,
                                       parts->count, whole));
    context_close(context);
    return status;
}

/* How many ranks the plan is for; 0 after a message. */
static int64_t world_of_plan(const settings *given, int *out_status) {
    json_t *plan = read_json_object(given->plan, out_status);
    json_t *ranks = json_object_get(plan, "ranks");
    int64_t world = json_is_array(ranks)
                        ? (int64_t)json_array_size(ranks)
                        : json_integer_value(json_object_get(plan, "world_size"));
    json_decref(plan);
    if (plan && (world < 1 || world > MAX_RANKS)) {
        *out_status = complain(exit_of(IG_INVALID),
                               "%s: \"ranks\" must list the ranks, or \"world_size\" say "
                               "how many there are (1 to %d)",
                               given->plan, MAX_RANKS);
        world = 0;
    }
    return plan ? world : 0;
}

/* Each rank's part straight from the model and the checkpoint. */
static int reshard_checkpoint(const settings *given, int64_t world) {
    char *metadata = text_of("%s/.metadata", given->arguments.items[0]);
    char *whole = text_of("%s", given->model_file);
    char *sources[] = { metadata, whole };
    file_names from = { sources, 2 };
    int status = make_ranks(given, &from, given->model_file, world);
    free(metadata);
    free(whole);
    return status;
}

static int reshard_by_plan(const settings *given, const file_names *parts) {
    int status = 0;
    int64_t world = world_of_plan(given, &status);
    if (!world) {
        return status;
    }
    if (world > 1 && !strstr(given->output, "%r")) {
        return complain(EXIT_USAGE, "-o of %lld ranks wants %%r for a rank's number: "
                                    "-o 'new%%r.ingot'",
                        (long long)world);
    }
    if (given->model_file) {
        return reshard_checkpoint(given, world);
    }
    char *whole = name_of_rank(given->output, "-whole");
    char *text = text_of("%s.ig", whole);
    char *weights = text_of("%s.weights", text);
    bool has_all = are_fresh(given, parts, world);
    status = has_all ? 0 : make_whole(given, parts, text);
    status = status ? status : make_ranks(given, parts, text, world);
    if (status == 0) {
        (void)unlink(text);
        (void)unlink(weights);
    }
    free(whole);
    free(text);
    free(weights);
    return status;
}

static int run_reshard(const settings *given) {
    const char *pattern = given->arguments.items[0];
    bool is_text = given->output && ends_in(given->output, ".ig");
    if (!given->output || !ends_in(given->output, is_text ? ".ig" : ".ingot")) {
        return complain(EXIT_USAGE, "reshard needs -o 'NEW%%r.ingot', or -o MODEL.ig");
    }
    if (is_text == (given->plan != NULL)) {
        return complain(EXIT_USAGE, is_text ? "--plan goes with -o 'NEW%%r.ingot'"
                                            : "--plan NEW.json says who gets what");
    }
    if (given->model_file && is_text) {
        return complain(EXIT_USAGE,
                        "--model of a checkpoint goes with --plan; 'ingot dump MODEL "
                        "--checkpoint DIR -o X.ig' writes the whole model");
    }
    if (given->model_file) {
        file_names none = { NULL, 0 };
        return reshard_by_plan(given, &none);
    }
    if (!ends_in(pattern, ".ingot") || strcmp(pattern, given->output) == 0) {
        return complain(EXIT_USAGE, "reshard takes artifacts of ranks, 'OLD%%r.ingot', "
                                    "or a checkpoint and its --model");
    }
    file_names parts = list_parts(pattern);
    int status = is_text ? make_whole(given, &parts, given->output)
                         : reshard_by_plan(given, &parts);
    free_names(&parts);
    return status;
}

const verb verb_reshard = {
    .name = "reshard",
    .arguments = "'OLD%r.ingot'|CHECKPOINT --plan NEW.json -o 'NEW%r.ingot'",
    .help = "moves tables of ranks' artifacts or a checkpoint to another plan",
    .details = "CHECKPOINT is a folder of torch.distributed.checkpoint, whose tensors "
               "become the weights of --model MODEL. OLD%r.ingot are the artifacts of all ranks, as ingot compile --plan "
               "writes them; the model's file is not needed. For a while a copy of the "
               "whole model lies beside the new ones. What is newer than the old "
               "artifacts and the plan is not made again.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_reshard,
};
