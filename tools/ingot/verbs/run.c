/* ingot run: a model on values from the command line or from files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/model/ranks.h"
#include "tools/ingot/values/script.h"
#include "tools/ingot/values/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const option_row options[] = {
    LIST("input", inputs, "NAME=VALUE", "an input's value; may be repeated"),
    TEXT(
        "inputs", 'i', inputs_from, "DIR|x.npz",
        "inputs from files: NAME.npy, NAME.pb, input_0.npy, input_0.pb …, or arrays of an archive"),
    TEXT(
        "outputs", 'o', outputs_to, "DIR|y.npz|y.npy",
        "write outputs to NAME.npy in a folder, to an archive, or one to a file, in place of printing them"),
    TEXT("script", 0, script, "FILE.lua",
         "Lua before and after the call: function pre(inputs), post(outputs) or both; "
         "tables of tensors by name (docs/interpreters.md)"),
    COUNT("threads", 0, threads, 0, MAX_THREADS, "threads of the session (1)"),
    ROWS_RANKS,
    ROWS_STORED,
    ROW_ENTRY,
    ROW_TRUST_CODE,
    ROW_DEVICE_MEMORY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROW_CHECKPOINT,
    ROW_OPEN_WEIGHTS,
    ROWS_COMPILE,
    ROW_ISOLATE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "VALUE is @FILE.npy, @FILE.pb, f32[2,3]=1,2,3,4,5,6, i64[4]=0 (one number fills), "
    "f32[8,13]=random, i64[8]=random:0:100, i64[8]=iota:4 (0, 4, 8 …), "
    "i64[9]=offsets:40 (begins, lengths: of bags with 40 items) or JSON "
    "([[1, 2], [3, 4]]). Of ONNX an input that has an initializer may be left out. "
    "For TorchScript also numbers, true, false, none, \"text\", "
    "kjt:keys=a,b;lengths=1,2;values=5,6,7 (kt and jt alike), and trees in JSON or "
    "@FILE.json; NAME may be the position of an argument, and --inputs may hold a "
    "values.json.";

/* ---- outputs ---- */

static bool is_taken(char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Names that files can have: no two are equal, and none leaves its folder. */
static char **name_files(const char *const *names, size_t count) {
    char **files = need(calloc(count + 1, sizeof *files));
    for (size_t i = 0; i < count; i++) {
        char *file = text_of("%s", names[i]);
        for (char *at = file; *at; at++) {
            *at = *at == '/' || (at == file && *at == '.') ? '_' : *at;
        }
        if (is_taken(files, i, file)) {
            free(file);
            file = text_of("output_%zu", i);
        }
        files[i] = file;
    }
    return files;
}

static ig_status write_folder(const model *m, const results *got, char *const *files,
                              const char *folder) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        complain(0, "%s: cannot create: %s", folder, strerror(errno));
        return IG_IO;
    }
    ig_status status = IG_OK;
    for (size_t i = 0; i < got->count && status == IG_OK; i++) {
        bool is_tensor = got->items[i].kind == IG_ARGUMENT_TENSOR;
        const char *name = files[i];
        char *path = text_of("%s/%s.%s", folder, name, is_tensor ? "npy" : "pb");
        status = ig_arguments_write(m->context, path, &got->items[i], &name, 1);
        free(path);
    }
    return status;
}

static ig_status write_archive(const model *m, const results *got, char *const *files,
                               const char *path) {
    return ig_arguments_write(m->context, path, got->items, (const char *const *)files,
                              got->count);
}

static ig_status write_stream(const model *m, const results *got, char *const *files) {
    char *path = stream_begin(".npz");
    ig_status status = path ? write_archive(m, got, files, path) : IG_IO;
    return path && stream_send(path, status == IG_OK) != 0 ? IG_IO : status;
}

/* A name with an ending is a file's, unless a folder of that name is there. */
static bool is_folder_name(const char *path) {
    struct stat facts;
    const char *slash = strrchr(path, '/');
    bool has_ending = strchr(slash ? slash + 1 : path, '.') != NULL;
    bool is_plain = !has_ending || text_ends(path, ".") || text_ends(path, "/");
    return is_plain || (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

static ig_status write_files(const model *m, const results *got,
                             const char *const *names, const char *path) {
    char **files = name_files(names, got->count);
    ig_status status = IG_INVALID;
    if (is_stream(path)) {
        status = write_stream(m, got, files);
    } else if (text_ends(path, ".npz")) {
        status = write_archive(m, got, files, path);
    } else if (is_folder_name(path)) {
        status = write_folder(m, got, files, path);
    } else if (got->count == 1 && (text_ends(path, ".npy") || text_ends(path, ".pb"))) {
        status = write_archive(m, got, files, path);
    } else {
        complain(
            0,
            "--outputs %s: write to a folder, an archive (x.npz), - (an archive on "
            "standard output) or, for one output, x.npy or x.pb",
            path);
        status = wrong_usage();
    }
    for (size_t i = 0; i < got->count; i++) {
        free(files[i]);
    }
    free(files);
    return status;
}

/* Does the tree say more of the result than its one tensor's own line? */
static bool has_tree_line(const settings *given, const model *m) {
    return !given->outputs_to && !given->json && tree_is_structured(m) &&
           model_node(m, tree_result(m)).leaf < 0;
}

static ig_status write_results(const settings *given, const model *m,
                               const results *got, bound_inputs *values) {
    (void)values;
    if (ranks_are_silent(given)) {
        return IG_OK;
    }
    const char **names = need(calloc(got->count + 1, sizeof *names));
    for (size_t i = 0; i < got->count; i++) {
        names[i] = got->names ? got->names[i] : model_output_name(m, i);
    }
    ig_status status = IG_OK;
    progress_clear();
    if (!got->names && has_tree_line(given, m)) {
        char *text = tree_text(m, tree_result(m));
        printf("result: %s\n", text);
        free(text);
    }
    if (given->outputs_to) {
        status = write_files(m, got, names, given->outputs_to);
    } else if (given->json) {
        show_values_json(got->items, names, got->count);
    } else {
        show_values(got->items, names, got->count);
    }
    free(names);
    return status;
}

/* ---- the verb ---- */

static ig_status run_model(const settings *given, const model *m, bound_inputs *values,
                           message *why) {
    return given->script ? run_scripted(given, m, values, write_results, why)
                         : run_once(given, m, values, write_results, why);
}

static int run_named_model(const settings *given) {
    return work_on_model(given, run_model);
}

static int run_ranks(const settings *given) {
    return ranks_work(given, run_named_model);
}

const verb verb_run = {
    .name = "run",
    .arguments = "MODEL [--input NAME=VALUE]…",
    .help = "runs a model and prints or writes its outputs",
    .details = details,
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_ranks,
};
