/* Verifying gradients against those of torch.autograd.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json      inputs (name, whether there is a gradient), tolerance, files
 *     CASE/data.npz       in_NAME, up_OUTPUT, and grad_NAME: that of sum(up * output)
 *     CASE/model.onnx, model_f64.onnx, model.pt     those that there are
 */
#include "tools/igcheck/cases/fields.h"
#include "tools/igcheck/cases/kinds.h"

#include <ingot/grad.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRAD_INPUTS = 16 };

typedef struct grad_case {
    verification *v;
    const char *folder;
    json_t *json;
    ig_arguments *data;
    size_t count;   /* inputs of the model */
    bool is_double; /* the model at hand */
    model m;
} grad_case;

/* ---- the files of a case ---- */

static bool has_gradient(const json_t *input) {
    return json_is_true(json_object_get(input, "gradient"));
}

bool is_gradient_case(const char *folder) {
    json_t *json = case_load(folder);
    const json_t *first = json_array_get(json_object_get(json, "inputs"), 0);
    bool is = json_is_boolean(json_object_get(first, "gradient"));
    json_decref(json);
    return is;
}

static const json_t *input_at(const grad_case *c, size_t index) {
    return json_array_get(json_object_get(c->json, "inputs"), index);
}

static const char *input_name(const grad_case *c, size_t index) {
    return text_in(input_at(c, index), "name");
}

/* An array of the data, by "in_" and the like and a name; NULL: there is none. */
static const ig_argument *array_of(const grad_case *c, const char *kind,
                                   const char *name) {
    for (size_t i = 0; i < ig_arguments_count(c->data); i++) {
        const char *have = ig_arguments_name(c->data, i);
        if (strncmp(have, kind, strlen(kind)) == 0 &&
            strcmp(have + strlen(kind), name) == 0) {
            return ig_arguments_at(c->data, i);
        }
    }
    return NULL;
}

/* The output that has a gradient. */
static const char *output_of(const grad_case *c) {
    size_t i;
    json_t *output;
    json_array_foreach(json_object_get(c->json, "outputs"), i, output) {
        if (array_of(c, "up_", text_in(output, "name"))) {
            return text_in(output, "name");
        }
    }
    return "";
}

/* ---- values ---- */

/* A copy of floats in another dtype; its data are to be freed. */
static ig_argument as_floats(const ig_argument *from, bool is_double) {
    size_t count = element_count(from), size = is_double ? 8 : 4;
    char *data = need(calloc(count + 1, size));
    for (size_t i = 0; i < count; i++) {
        double number = ig_argument_number(from, i);
        float single = (float)number;
        memcpy(data + i * size, is_double ? (void *)&number : (void *)&single, size);
    }
    ig_argument to = *from;
    to.dtype = is_double ? "f64" : "f32";
    to.data = data;
    to.size = count * size;
    return to;
}

static tolerance tolerance_of(const grad_case *c) {
    const json_t *all = json_object_get(c->json, "tolerance");
    const json_t *own = json_object_get(all, c->is_double ? "f64" : "f32");
    return (tolerance){ .rtol = json_number_value(json_object_get(own, "rtol")),
                        .atol = json_number_value(json_object_get(own, "atol")) };
}

static bool check_result(grad_case *c, const char *name, const ig_argument *got) {
    const ig_argument *want = array_of(c, "grad_", name);
    tolerance within = tolerance_of(c);
    if (!want) {
        return verify_fail(c->v, name, "there is no such gradient in data.npz");
    }
    ig_argument a = as_floats(got, true), b = as_floats(want, true);
    message why = { "" };
    bool is_good = values_agree(&a, &b, &within, &why);
    if (!is_good) {
        char *what = text_of("gradient by %s in %s", name,
                             c->is_double ? "f64" : "f32");
        verify_fail(c->v, what, why.text);
        free(what);
    }
    free((void *)a.data);
    free((void *)b.data);
    return is_good;
}

static bool check_results(grad_case *c, const results *got) {
    size_t at = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (has_gradient(input_at(c, i)) &&
            (at == got->count ||
             !check_result(c, input_name(c, i), &got->items[at++]))) {
            return false;
        }
    }
    return true;
}

/* ---- one model ---- */

static char *statement_of(const grad_case *c, size_t index, const char *name) {
    const ig_argument *value = array_of(c, "in_", input_name(c, index));
    char *text = text_of("%s=%s[", name, value->dtype);
    for (uint32_t i = 0; i < value->rank; i++) {
        char *longer = text_of("%s%s%lld", text, i ? "," : "",
                               (long long)value->dims[i]);
        free(text);
        text = longer;
    }
    char *whole = text_of("%s]", text);
    free(text);
    return whole;
}

static ig_status import_model(grad_case *c, const char *path, bool is_script) {
    char *statements[GRAD_INPUTS];
    ig_import_options how = { .size = sizeof how };
    for (size_t i = 0; is_script && i < c->count; i++) {
        char *index = text_of("%zu", i); /* tracing has made names of its own */
        statements[how.input_count++] = statement_of(c, i, index);
        free(index);
    }
    how.inputs = (const char *const *)statements;
    ig_status status = ig_import(c->v->context, path, &how, &c->m.module);
    for (size_t i = 0; i < how.input_count; i++) {
        free(statements[i]);
    }
    return status;
}

/* The names of the model's inputs by which there are gradients. */
static char *wanted_of(const grad_case *c) {
    char *list = text_of("%s", "");
    for (size_t i = 0; i < c->count; i++) {
        if (has_gradient(input_at(c, i))) {
            const char *name = ig_module_input_name(c->m.module, i);
            char *longer = text_of("%s%s%s", list, *list ? "," : "", name);
            free(list);
            list = longer;
        }
    }
    return list;
}

static ig_status open_model(grad_case *c, const char *path, bool is_script) {
    c->m.context = c->v->context;
    ig_compile_options how = compile_options(c->v->given);
    ig_status status = import_model(c, path, is_script);
    if (status == IG_OK && ig_module_input_count(c->m.module) != c->count) {
        return IG_INTERNAL;
    }
    if (status == IG_OK) {
        char *wanted = wanted_of(c);
        ig_grad_options options = { .size = sizeof options,
                                    .output = is_script ? NULL : output_of(c),
                                    .wanted = wanted,
                                    .has_seed = 1 };
        status = ig_module_grad(c->m.module, &options, &how);
        free(wanted);
    }
    if (status == IG_OK && !is_interpret(c->v->given->target)) {
        status = ig_compile(c->m.module, &how, &c->m.program);
        c->v->compiled += status == IG_OK;
    }
    return status;
}

static bool run_model(grad_case *c) {
    call with;
    results out = { 0 };
    ig_session *session = NULL;
    bool is_good = false;
    call_init(&with, c->count + 1);
    for (size_t i = 0; i <= c->count; i++) {
        const ig_argument *value = i == c->count ? array_of(c, "up_", output_of(c))
                                                 : array_of(c, "in_", input_name(c, i));
        bool is_float = value && value->dtype[0] == 'f';
        with.inputs[i] = is_float ? as_floats(value, c->is_double) : *value;
    }
    ig_status status = session_open(c->v->given, &c->m, &session, &c->v->why);
    if (status == IG_OK) {
        status = call_run(&c->m, session, &with, &out, &c->v->why);
    }
    is_good = status == IG_OK ? check_results(c, &out)
                              : verify_fail(c->v, "running", c->v->why.text);
    results_fini(&out);
    ig_session_destroy(session);
    for (size_t i = 0; i <= c->count; i++) {
        bool is_copy = with.inputs[i].dtype[0] == 'f';
        free(is_copy ? (void *)with.inputs[i].data : NULL);
    }
    call_fini(&with);
    return is_good;
}

/* True where there is no such file. */
static bool check_model(grad_case *c, const char *name) {
    char *path = text_of("%s/%s", c->folder, name);
    bool is_there = access(path, F_OK) == 0, is_script = strstr(name, ".pt") != NULL;
    bool is_good = true;
    c->is_double = strstr(name, "f64") != NULL;
    if (is_there) {
        is_good = open_model(c, path, is_script) == IG_OK
                      ? run_model(c)
                      : verify_fail(c->v, name, NULL);
        ig_program_close(c->m.program);
        ig_module_close(c->m.module);
        c->m = (model){ 0 };
    }
    free(path);
    return is_good;
}

static bool open_data(grad_case *c) {
    char *path = text_of("%s/data.npz", c->folder);
    bool is_good = ig_arguments_open(c->v->context, path, &c->data) == IG_OK ||
                   verify_fail(c->v, path, NULL);
    free(path);
    if (is_good && (c->count > GRAD_INPUTS || !array_of(c, "up_", output_of(c)))) {
        is_good = verify_fail(c->v, "data.npz", "the gradient of no output is there");
    }
    for (size_t i = 0; is_good && i < c->count; i++) {
        is_good = array_of(c, "in_", input_name(c, i)) ||
                  verify_fail(c->v, input_name(c, i), "it is not in data.npz");
    }
    return is_good;
}

outcome check_gradient_case(verification *v, const char *folder) {
    static const char *const files[] = { "model.onnx", "model_f64.onnx", "model.pt" };
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    grad_case c = { .v = v, .folder = v->test.folder, .json = case_load(folder) };
    c.count = json_array_size(json_object_get(c.json, "inputs"));
    bool is_good = open_data(&c);
    for (size_t i = 0; is_good && i < sizeof files / sizeof *files; i++) {
        is_good = check_model(&c, files[i]);
    }
    if (is_good) {
        snprintf(v->did, sizeof v->did, "gradients, %zu compiled", v->compiled);
    }
    ig_arguments_close(c.data);
    json_decref(c.json);
    return is_good ? PASSED : FAILED;
}
