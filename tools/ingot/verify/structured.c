/* ingot verify: data sets that form arguments and results (values.json).
 * SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a call give the types for the import: kinds, element types,
 * ranks, and (but for the form `dynamic`) extents; numbers, strings and None are known.
 * The result of the call is compared as a tree.
 */
#include "tools/ingot/verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- one call ---- */

void verify_call_close(structured_call *which) {
    structured_free(&which->arguments);
    structured_free(&which->result);
    json_decref(which->json);
}

static bool fail_set(verification *v, const structured_call *set, const message *why) {
    return verify_fail(v, set->name, why->text);
}

static bool read_arguments(verification *v, structured_call *set) {
    structured_files files = { v->context, set->folder, "input" };
    message why = { "" };
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(set->json, "args"), index, item) {
        structured *to = structured_add(&set->arguments, IG_TREE_NONE, NULL);
        if (!structured_of_json(item, &files, to, &why)) {
            return fail_set(v, set, &why);
        }
    }
    json_array_foreach(json_object_get(set->json, "kwargs"), index, item) {
        const char *name = json_string_value(json_array_get(item, 0));
        structured *to = structured_add(&set->arguments, IG_TREE_NONE,
                                        name ? name : "");
        if (!structured_of_json(json_array_get(item, 1), &files, to, &why)) {
            return fail_set(v, set, &why);
        }
    }
    return true;
}

bool verify_call_open(verification *v, const char *folder, structured_call *out) {
    const char *slash = strrchr(folder, '/');
    char *path = text_of("%s/values.json", folder);
    json_error_t error;
    *out = (structured_call){ .folder = folder, .name = slash ? slash + 1 : folder };
    out->arguments.kind = IG_TREE_TUPLE;
    errno = 0;
    out->json = json_load_file(path, JSON_ALLOW_NUL, &error);
    free(path);
    if (!out->json) {
        need_memory();
        return verify_fail(v, out->name, error.text);
    }
    structured_files files = { v->context, folder, "output" };
    message why = { "" };
    return read_arguments(v, out) &&
           (structured_of_json(json_object_get(out->json, "result"), &files,
                               &out->result, &why) ||
            fail_set(v, out, &why));
}

/* ---- signatures ---- */

static bool takes_statements(const verification *v, const char *path) {
    const char *format = ig_model_format(path);
    return !verify_is_program(v) && strcmp(format, "ir") != 0;
}

static void put_statement(signature *out, char *statement) {
    char *key = text_of("%s%s\n", out->key, statement);
    free(out->key);
    out->key = key;
    names_add(&out->inputs, statement);
}

static void signature_of(const verification *v, const structured_call *set,
                         signature *out) {
    const char *symbols = verify_is_form(v, "dynamic") || v->is_opened ? "x" : NULL;
    const char *method = json_string_value(json_object_get(set->json, "method"));
    size_t index = 0;
    bool folds = verify_is_form(v, "constant");
    *out = (signature){ .entry = method,
                        .key = text_of("%s %s\n", method ? method : "",
                                       folds ? set->folder : "") };
    size_t count = takes_statements(v, v->test.model) ? set->arguments.count : 0;
    for (size_t i = 0; i < count; i++) {
        const structured *item = &set->arguments.items[i];
        char *tree = structured_statement(item, symbols, &index);
        put_statement(out, item->name ? text_of("%s=%s", item->name, tree)
                                      : text_of("%zu=%s", i, tree));
        free(tree);
    }
    for (size_t i = 0; i < index && folds; i++) {
        char *file = data_file(set->folder, "input", i);
        names_add(&out->constants, text_of("%zu", i));
        names_add(&out->files, file ? file : text_of("input_%zu", i));
    }
}

static void signature_free(signature *s) {
    names_free(&s->inputs);
    names_free(&s->constants);
    names_free(&s->files);
    free(s->key);
}

static variant *variant_for(verification *v, const structured_call *set) {
    signature s;
    signature_of(v, set, &s);
    variant *found = verify_variant(v, &s);
    signature_free(&s);
    return found;
}

/* Calls in order are calls of one session: have they other extents than the first? */
static bool is_growing(verification *v) {
    signature first = { 0 };
    bool differs = false;
    for (size_t i = 0; v->test.is_stateful && i < v->test.sets.count; i++) {
        structured_call set;
        signature own = { 0 };
        if (verify_call_open(v, v->test.sets.items[i], &set)) {
            signature_of(v, &set, i ? &own : &first);
            differs = differs ||
                      (own.key && first.key && strcmp(own.key, first.key) != 0);
        }
        signature_free(&own);
        verify_call_close(&set);
    }
    signature_free(&first);
    return differs;
}

/* ---- running ---- */

/* A call that ran: its variant, what went in and what came out. */
typedef struct finished_call {
    const model *m;
    const call *inputs;
    const results *outputs;
} finished_call;

static bool check_after(verification *v, const structured_call *set,
                        const finished_call *done, size_t index) {
    const char *name = model_input_name(done->m, index);
    int output = ig_call_changed(done->inputs->tree, index);
    const ig_argument *after = output >= 0 ? &done->outputs->items[output] : NULL;
    ig_argument given = done->inputs->inputs[index];
    char *path = data_file(set->folder, "after_input", index);
    ig_arguments *want = NULL;
    message why = { "" };
    char *what = text_of("%s: input '%s' after the call", set->name, name);
    bool is_good = true;
    if (path) {
        is_good = verify_read(v, path, given.dtype, &want);
        given = want ? *ig_arguments_at(want, 0) : given;
    }
    if (is_good && path && !after) {
        is_good = verify_fail(v, what,
                              "it should change, but the model does not change it");
    }
    tolerance within = verify_tolerance(v, NULL);
    if (is_good && after && !values_agree(after, &given, &within, &why)) {
        is_good = verify_fail(v, what, why.text);
    }
    ig_arguments_close(want);
    free(what);
    free(path);
    return is_good;
}

static bool check_call(verification *v, const structured_call *set,
                       const finished_call *done) {
    tolerance within = verify_tolerance(v, NULL);
    message why = { "" };
    if (!structured_agrees(done->inputs->tree, done->outputs, &set->result, &within,
                           &why)) {
        return fail_set(v, set, &why);
    }
    /* Folded inputs have no names left that their later values could be told by. */
    size_t count = verify_is_form(v, "constant") ? 0 : done->inputs->count;
    for (size_t i = 0; i < count; i++) {
        if (!check_after(v, set, done, i)) {
            return false;
        }
    }
    return true;
}

static bool open_session(verification *v, variant *with, ig_session **out) {
    message why = { "" };
    *out = with->session;
    if (!*out && !with->m.program && !v->test.is_stateful) {
        ig_interpret_reset(with->m.module);
    }
    return *out || session_open(v->given, &with->m, out, &why) == IG_OK ||
           verify_fail(v, "session", why.text);
}

static bool run_variant(verification *v, const structured_call *set, variant *with,
                        const call *inputs) {
    ig_session *session = NULL;
    results got = { 0 };
    message why = { "" };
    if (!open_session(v, with, &session)) {
        return false;
    }
    ig_status status = call_run(&with->m, session, inputs, &got, &why);
    finished_call done = { &with->m, inputs, &got };
    bool is_good = status == IG_OK ? check_call(v, set, &done) : fail_set(v, set, &why);
    is_good = is_good && verify_arena(v, set->name, session);
    results_fini(&got);
    with->session = v->test.is_stateful ? session : NULL;
    if (!v->test.is_stateful) {
        ig_session_destroy(session);
    }
    return is_good;
}

/* Folded arguments are in the model. */
static bool bind_call(verification *v, const structured_call *set, const variant *with,
                      call *out) {
    message why = { "" };
    ig_status status = verify_is_form(v, "constant")
                           ? model_call_create(&with->m, &out->tree, &why)
                           : tree_bind(&with->m, &set->arguments, out, &why);
    return status == IG_OK || fail_set(v, set, &why);
}

static bool run_set(verification *v, const char *folder) {
    structured_call set;
    call inputs = { 0 };
    bool is_good = verify_call_open(v, folder, &set);
    if (is_good) {
        variant *with = variant_for(v, &set);
        is_good = with && bind_call(v, &set, with, &inputs) &&
                  run_variant(v, &set, with, &inputs);
    }
    if (!is_good && strncmp(v->why.text, set.name, strlen(set.name)) != 0) {
        char *why = text_of("%s: %s", set.name, v->why.text);
        snprintf(v->why.text, sizeof v->why.text, "%s", why);
        free(why);
    }
    call_fini(&inputs);
    verify_call_close(&set);
    return is_good;
}

/* ---- cases ---- */

bool verify_is_structured(const verification *v, const char *model_path) {
    if (!v->test.sets.count || strcmp(ig_model_format(model_path), "onnx") == 0) {
        return false;
    }
    char *path = text_of("%s/values.json", v->test.sets.items[0]);
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

outcome verify_structured_sets(verification *v) {
    message why = { "" };
    if (verify_is_form(v, "constant") && !takes_statements(v, v->test.model)) {
        verify_fail(v, "", "inputs of IR text and artifacts are not folded");
        return SKIPPED;
    }
    if (is_artifact(v->test.model) &&
        model_open(v->given, v->context, v->test.model, &v->declared, &why) != IG_OK) {
        verify_fail(v, "open", why.text);
        return FAILED;
    }
    /* Where inputs are folded each set has a model of its own, which begins anew. */
    bool is_anew = verify_is_form(v, "constant") && v->test.is_stateful;
    size_t count = is_anew ? 1 : v->test.sets.count;
    bool is_good = true;
    v->is_opened = verify_is_form(v, "static") && is_growing(v);
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = run_set(v, v->test.sets.items[i]);
    }
    verify_close_variants(v);
    model_close(&v->declared);
    return is_good ? PASSED : FAILED;
}
