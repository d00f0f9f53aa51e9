/* ingot run: a model on values from the command line or from files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const option_row options[] = {
    LIST("input", inputs, "NAME=VALUE", "an input's value; may be repeated"),
    TEXT("inputs", 'i', inputs_from, "DIR|x.npz",
         "inputs from files: NAME.npy, NAME.pb, "
         "input_0.npy, input_0.pb …, or arrays of an archive"),
    TEXT("outputs", 'o', outputs_to, "DIR|y.npz",
         "write outputs to NAME.npy in a folder, "
         "or to an archive, in place of printing them"),
    COUNT("threads", threads, "N", "threads of the session (1)"),
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static const char details[] =
    "VALUE is @FILE.npy, @FILE.pb, f32[2,3]=1,2,3,4,5,6, i64[4]=0 (one number fills), "
    "f32[8,13]=random, i64[8]=random:0:100, i64[8]=iota:4 (0, 4, 8 …) or JSON "
    "([[1, 2], [3, 4]]).";

/* ---- inputs ---- */

static bool is_given(const ig_argument *value) {
    return value->kind != IG_ARGUMENT_TENSOR || value->dtype;
}

/* Lists the inputs when some have no value. */
static ig_status complain_of_missing(const model *m, const call *with) {
    size_t missing = 0;
    for (size_t i = 0; i < with->count; i++) {
        missing += !is_given(&with->inputs[i]);
    }
    if (!missing) {
        return IG_OK;
    }
    complain(0, "%zu of %zu inputs have no value; the model takes:", missing,
             with->count);
    for (size_t i = 0; i < with->count; i++) {
        fprintf(stderr, "  %-7s %s: %s\n", is_given(&with->inputs[i]) ? "" : "missing",
                model_input_name(m, i), model_input_type(m, i));
    }
    return IG_INVALID;
}

static ig_status give(const model *m, call *with, size_t index, const char *text) {
    ig_arguments *value = NULL;
    ig_status status = ig_arguments_parse(m->context, text, model_input_type(m, index),
                                          &value);
    if (status == IG_OK) {
        ig_arguments_close(with->owners[index]);
        with->owners[index] = value;
        with->inputs[index] = *ig_arguments_at(value, 0);
    }
    return status;
}

/* "NAME=VALUE": names may hold '=' themselves, so each input's is tried. */
static ig_status take_option(const model *m, call *with, const char *text) {
    for (size_t i = 0; i < with->count; i++) {
        const char *name = model_input_name(m, i);
        size_t      length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return give(m, with, i, text + length + 1);
        }
    }
    complain(0, "--input %s: the model has no such input; it takes:", text);
    for (size_t i = 0; i < with->count; i++) {
        fprintf(stderr, "  %s: %s\n", model_input_name(m, i), model_input_type(m, i));
    }
    return IG_INVALID;
}

static bool take_file(const model *m, call *with, size_t index, const char *folder,
                      const char *name, ig_status *status) {
    static const char *const endings[] = { "npy", "pb" };
    for (size_t e = 0; e < 2 && *status == IG_OK; e++) {
        char *text = text_of("@%s/%s.%s", folder, name, endings[e]);
        bool  is_there = access(text + 1, F_OK) == 0;
        if (is_there) {
            *status = give(m, with, index, text);
        }
        free(text);
        if (is_there) {
            return true;
        }
    }
    return false;
}

static ig_status take_folder(const model *m, call *with, const char *folder) {
    ig_status status = IG_OK;
    for (size_t i = 0; i < with->count && status == IG_OK; i++) {
        char *place = text_of("input_%zu", i);
        if (!take_file(m, with, i, folder, model_input_name(m, i), &status)) {
            take_file(m, with, i, folder, place, &status);
        }
        free(place);
    }
    return status;
}

/* Arrays by name, else by place. */
static ig_status take_archive(const model *m, call *with, const char *path,
                              ig_arguments **out_archive) {
    ig_status status = ig_arguments_open(m->context, path, out_archive);
    if (status != IG_OK) {
        return status;
    }
    for (size_t i = 0; i < with->count; i++) {
        char place[2][32];
        snprintf(place[0], sizeof place[0], "input_%zu", i);
        snprintf(place[1], sizeof place[1], "arr_%zu", i);
        for (size_t k = 0; k < ig_arguments_count(*out_archive); k++) {
            const char *name = ig_arguments_name(*out_archive, k);
            if (strcmp(name, model_input_name(m, i)) == 0 ||
                strcmp(name, place[0]) == 0 || strcmp(name, place[1]) == 0) {
                with->inputs[i] = *ig_arguments_at(*out_archive, k);
            }
        }
    }
    return IG_OK;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static ig_status take_inputs(const settings *given, const model *m, call *with,
                             ig_arguments **out_archive) {
    ig_status status = IG_OK;
    if (given->inputs_from && ends_with(given->inputs_from, ".npz")) {
        status = take_archive(m, with, given->inputs_from, out_archive);
    } else if (given->inputs_from) {
        status = take_folder(m, with, given->inputs_from);
    }
    for (size_t i = 0; i < given->inputs.count && status == IG_OK; i++) {
        status = take_option(m, with, given->inputs.items[i]);
    }
    return status == IG_OK ? complain_of_missing(m, with) : status;
}

/* ---- outputs ---- */

/* A file's name for an output: what could leave the folder is replaced. */
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
        bool        is_tensor = got->items[i].kind == IG_ARGUMENT_TENSOR;
        const char *name = model_output_name(m, i);
        char       *file = file_name(name, i);
        char       *path = text_of("%s/%s.%s", folder, file, is_tensor ? "npy" : "pb");
        status = ig_arguments_write(m->context, path, &got->items[i], &name, 1);
        free(path);
        free(file);
    }
    return status;
}

static ig_status show(const settings *given, const model *m, const results *got) {
    const char **names = need(calloc(got->count + 1, sizeof *names));
    for (size_t i = 0; i < got->count; i++) {
        names[i] = model_output_name(m, i);
    }
    ig_status status = IG_OK;
    progress_clear();
    if (given->outputs_to && ends_with(given->outputs_to, ".npz")) {
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

static ig_status run_model(const settings *given, const model *m, words *why) {
    call          with;
    results       got = { 0 };
    ig_arguments *archive = NULL;
    ig_session   *session = NULL;
    call_init(&with, model_input_count(m));
    ig_status status = take_inputs(given, m, &with, &archive);
    if (status == IG_OK) {
        status = session_open(given, m, &session, why);
    }
    if (status == IG_OK) {
        status = call_run(m, session, &with, &got, why);
    }
    if (status == IG_OK) {
        status = show(given, m, &got);
    }
    results_fini(&got);
    ig_session_destroy(session);
    call_fini(&with);
    ig_arguments_close(archive);
    return status;
}

static int run(const settings *given) {
    int         exit_status;
    ig_context *context = context_open(given, false, &exit_status);
    if (!context) {
        return exit_status;
    }
    model     m;
    words     why;
    ig_status status = model_open(given, context, given->arguments.items[0], &m, &why);
    if (status == IG_OK) {
        status = run_model(given, &m, &why);
        model_close(&m);
    }
    exit_status = report(status, &why);
    context_close(context);
    return exit_status;
}

const verb verb_run = {
    .name = "run",
    .arguments = "MODEL [--input NAME=VALUE]…",
    .help = "runs a model and prints or writes its outputs",
    .details = details,
    .options = options,
    .least = 1,
    .most = 1,
    .run = run,
};
