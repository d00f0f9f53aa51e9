/* ingot reshard: artifacts of ranks by another plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The artifacts are put together again, beside the new ones; each new rank's program is
 * compiled from that.  Artifacts that say that they are made of the same, by the same
 * plan and options, are not made again, so that a run that was ended goes on where it
 * was.
 */
#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/model/model.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/values/declare.h"

#include <ingot/shard.h>

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const option_row options[] = {
    TEXT("plan", 0, plan, "NEW.json", "who is to have what (ingot shard)"),
    TEXT("model", 0, model_file, "MODEL", "of a checkpoint: whose weights it has"),
    LIST("input", inputs, "NAME=TYPE", "of that model: an input's type"),
    ROW_ENTRY,
    TEXT(
        "output", 'o', output, "FILE",
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

static char *name_of_index(const char *pattern, int64_t rank) {
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
        char *name = name_of_index(pattern, (int64_t)names.count);
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

/* ---- existing artifacts ---- */

/* The sources of an artifact, so that one of another plan, target or source is made
 * again: a hash of all that decides. */
static void mix_text(uint64_t *hash, const char *text) {
    mix_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Whoever writes a file changes its ctime, which nobody can set. */
static void mix_file(uint64_t *hash, const char *path) {
    struct stat facts = { 0 };
    (void)stat(path, &facts);
    uint64_t numbers[] = { (uint64_t)facts.st_dev, (uint64_t)facts.st_ino,
                           (uint64_t)facts.st_size, (uint64_t)facts.st_ctim.tv_sec,
                           (uint64_t)facts.st_ctim.tv_nsec };
    mix_bytes(hash, numbers, sizeof numbers);
}

/* The files of a checkpoint, in no order. */
static void mix_folder(uint64_t *hash, const char *path) {
    DIR *opened = opendir(path);
    uint64_t sum = 0;
    for (struct dirent *item; opened && (item = readdir(opened));) {
        uint64_t one = 0;
        char *inner = text_of("%s/%s", path, item->d_name);
        mix_file(&one, inner);
        sum += item->d_name[0] == '.' && strcmp(item->d_name, ".metadata") != 0 ? 0
                                                                                : one;
        free(inner);
    }
    if (opened) {
        closedir(opened);
    }
    mix_bytes(hash, &sum, sizeof sum);
}

static void mix_options(uint64_t *hash, const settings *given) {
    ig_compile_options how = compile_options(given);
    int flags[] = { how.torch_empty, how.clamp_ids, how.sanitize, how.debug };
    mix_text(hash, ig_compiler_version());
    mix_text(hash, how.target);
    mix_bytes(hash, flags, sizeof flags);
    mix_text(hash, given->entry);
    for (size_t i = 0; i < given->inputs.count; i++) {
        mix_text(hash, given->inputs.items[i]);
    }
}

/* Of the old artifacts, or the model and its checkpoint: allocated. */
static char *describe_origin(const settings *given, const file_names *parts) {
    int status = 0;
    uint64_t hash = HASH_BEGIN;
    char *plan = read_json_text(given->plan, &status);
    mix_text(&hash, plan);
    mix_options(&hash, given);
    for (size_t i = 0; i < parts->count; i++) {
        mix_file(&hash, parts->items[i]);
    }
    if (given->model_file) {
        mix_file(&hash, given->model_file);
        mix_folder(&hash, given->arguments.items[0]);
    }
    free(plan);
    return text_of("%016llx", (unsigned long long)hash);
}

static void ignore_message(void *user, int severity, const char *text) {
    (void)user, (void)severity, (void)text;
}

/* Does the artifact say that it is of this rank and made of the same? */
static bool is_made_of(const char *path, int64_t rank, const char *origin) {
    ig_context_options quiet = { .size = sizeof quiet, .message = ignore_message };
    ig_context *context = access(path, F_OK) == 0 ? ig_context_create(&quiet) : NULL;
    const char *text = NULL;
    bool is_same = false;
    if (context && ig_artifact_shards(context, path, &text) == IG_OK) {
        json_t *record = json_loads(text, 0, NULL);
        const char *said = json_string_value(json_object_get(record, "made_of"));
        json_t *of = json_object_get(record, "rank");
        is_same = said && strcmp(said, origin) == 0 && json_integer_value(of) == rank;
        json_decref(record);
    }
    ig_context_destroy(context);
    return is_same;
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

static bool are_there(const settings *given, int64_t world) {
    bool is_there = true;
    for (int64_t r = 0; r < world && is_there; r++) {
        char *path = name_of_index(given->output, r);
        is_there = is_made_of(path, r, given->made_of);
        free(path);
    }
    return is_there;
}

static int make_ranks(const settings *given, const char *whole, int64_t world) {
    int status = 0;
    for (int64_t r = 0; r < world && status == 0; r++) {
        char *path = name_of_index(given->output, r);
        if (is_made_of(path, r, given->made_of)) {
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
        *out_status =
            complain(exit_of(IG_INVALID),
                     "%s: \"ranks\" must list the ranks, or \"world_size\" say "
                     "how many there are (1 to %d)",
                     given->plan, MAX_RANKS);
        world = 0;
    }
    return plan ? world : 0;
}

/* The text and its constants: NAME.HASH.weights. */
static void remove_whole(const char *text) {
    static const char end[] = ".weights";
    const char *slash = strrchr(text, '/'), *own = slash ? slash + 1 : text;
    char *folder = text_of("%s", text);
    folder[own - text] = 0;
    DIR *stream = opendir(slash ? folder : ".");
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        size_t size = strlen(entry->d_name), head = strlen(own);
        if (strncmp(entry->d_name, own, head) == 0 && size == head + 17 + strlen(end) &&
            strcmp(entry->d_name + size - strlen(end), end) == 0) {
            (void)unlinkat(dirfd(stream), entry->d_name, 0);
        }
    }
    if (stream) {
        closedir(stream);
    }
    free(folder);
    (void)unlink(text);
}

/* The ranks' artifacts, by way of the whole model. */
static int make_from_parts(const settings *given, const file_names *parts,
                           int64_t world) {
    char *whole = name_of_rank(given->output, "-whole");
    char *text = text_of("%s.ig", whole);
    int status = are_there(given, world) ? 0 : make_whole(given, parts, text);
    status = status ? status : make_ranks(given, text, world);
    if (status == 0) {
        remove_whole(text);
    }
    free(whole);
    free(text);
    return status;
}

static int reshard_by_plan(const settings *given, const file_names *parts) {
    int status = 0;
    settings own = *given;
    int64_t world = world_of_plan(given, &status);
    if (!world) {
        return status;
    }
    if (world > 1 && !strstr(given->output, "%r")) {
        return complain(EXIT_USAGE,
                        "-o of %lld ranks needs %%r for a rank's number: "
                        "-o 'new%%r.ingot'",
                        (long long)world);
    }
    char *origin = describe_origin(given, parts);
    own.made_of = origin;
    /* Of a checkpoint: each rank's part straight from the model. */
    status = given->model_file ? make_ranks(&own, given->model_file, world)
                               : make_from_parts(&own, parts, world);
    free(origin);
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
    .details =
        "CHECKPOINT is a folder of torch.distributed.checkpoint, whose tensors "
        "become the weights of --model MODEL. OLD%r.ingot are the artifacts of all ranks, as ingot compile --plan "
        "writes them; the model's file is not needed. For a while a copy of the "
        "whole model lies beside the new ones. New ones that were made of the "
        "same, by the same plan and options, are not made again.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_reshard,
};
