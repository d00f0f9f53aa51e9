/* ingot run: a model on values from the command line or from files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/bound_inputs.h"
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
        "outputs", 'o', outputs_to, "DIR|y.npz",
        "write outputs to NAME.npy in a folder, or to an archive, in place of printing them"),
    COUNT("threads", 0, threads, 0, MAX_THREADS, "threads of the session (1)"),
    ROW_ENTRY,
    ROW_TRUST_CODE,
    ROW_RESOURCE,
    ROW_FIX,
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "VALUE is @FILE.npy, @FILE.pb, f32[2,3]=1,2,3,4,5,6, i64[4]=0 (one number fills), "
    "f32[8,13]=random, i64[8]=random:0:100, i64[8]=iota:4 (0, 4, 8 …) or JSON "
    "([[1, 2], [3, 4]]). For TorchScript also numbers, true, false, none, \"text\", "
    "kjt:keys=a,b;lengths=1,2;values=5,6,7 (kt and jt alike), and trees in JSON or "
    "@FILE.json; NAME may be the position of an argument, and --inputs may hold a "
    "values.json.";

/* ---- outputs ---- */

/* A file's name for an output: characters that could leave the folder are replaced. */
static char *file_name(const char *name, size_t index) {
    char *copy = name[0] ? text_of("%s", name) : text_of("output_%zu", index);
    for (char *at = copy; *at; at++) {
        if (*at == '/' || (at == copy && *at == '.')) {
            *at = '_';
        }
    }
    return copy;
}

static ig_status write_folder(const model *m, const results *got, const char *folder) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        complain(0, "%s: cannot create: %s", folder, strerror(errno));
        return IG_IO;
    }
    ig_status status = IG_OK;
    for (size_t i = 0; i < got->count && status == IG_OK; i++) {
        bool is_tensor = got->items[i].kind == IG_ARGUMENT_TENSOR;
        const char *name = model_output_name(m, i);
        char *file = file_name(name, i);
        char *path = text_of("%s/%s.%s", folder, file, is_tensor ? "npy" : "pb");
        status = ig_arguments_write(m->context, path, &got->items[i], &name, 1);
        free(path);
        free(file);
    }
    return status;
}

/* Does the tree say more of the result than its one tensor's own line? */
static bool has_tree_line(const settings *given, const model *m) {
    return !given->outputs_to && !given->json && tree_is_structured(m) &&
           model_node(m, tree_result(m)).leaf < 0;
}

static ig_status write_results(const settings *given, const model *m,
                               const results *got) {
    const char **names = need(calloc(got->count + 1, sizeof *names));
    for (size_t i = 0; i < got->count; i++) {
        names[i] = model_output_name(m, i);
    }
    ig_status status = IG_OK;
    progress_clear();
    if (has_tree_line(given, m)) {
        char *text = tree_text(m, tree_result(m));
        printf("result: %s\n", text);
        free(text);
    }
    if (given->outputs_to && text_ends(given->outputs_to, ".npz")) {
        status = ig_arguments_write(m->context, given->outputs_to, got->items, names,
                                    got->count);
    } else if (given->outputs_to) {
        status = write_folder(m, got, given->outputs_to);
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
    results got = { 0 };
    ig_session *session = NULL;
    ig_status status = bind_inputs(given, m, NULL, values);
    if (status == IG_OK) {
        status = session_open(given, m, &session, why);
    }
    if (status == IG_OK) {
        status = call_run(m, session, &values->with, &got, why);
    }
    if (status == IG_OK) {
        status = write_results(given, m, &got);
    }
    results_fini(&got);
    ig_session_destroy(session);
    return status;
}

static int run_named_model(const settings *given) {
    return work_on_model(given, run_model);
}

const verb verb_run = {
    .name = "run",
    .arguments = "MODEL [--input NAME=VALUE]…",
    .help = "runs a model and prints or writes its outputs",
    .details = details,
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_named_model,
};
