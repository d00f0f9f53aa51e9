/* Verifying what optimizers make of weights by given gradients.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json     optimiser, hyper, learning_rates, clip_norm, tolerance; of
 *                        rows also tables, pooling, weighted, batch
 *     CASE/before.npz    weights_tT or weights_pP
 *     CASE/steps.npz     of step I: indices_I, offsets_I, grad_output_I and
 *                        per_sample_weights_I; or grad_I_pP
 *     CASE/after.npz     weights_I_tT, v_I_tT, m_I_tT …, for some I
 *
 * or, as TorchRec's cases are stored, with optimizer and hyper_parameters,
 *
 *     CASE/weights_before_tT.npy, stepI_indices.npy …, weights_afterI_tT.npy,
 *     momentumK_afterI_tT.npy
 *
 * Each becomes a module whose loss has just these gradients, the sum of output times
 * gradient, and goes the way of any model's training.
 */
#include "tools/igcheck/cases/bags.h"
#include "tools/igcheck/cases/kinds.h"
#include "tools/ingot/model/trainer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct update_case {
    verification *v;
    json_t *json;
    case_arrays before, steps, after;
    bool is_rows;
    size_t count;      /* tables or weights */
    char *text;        /* the module */
    char **optimizers; /* of each, by its name */
    trainer t;
} update_case;

static bool is_torchrec(const json_t *json) {
    return json_object_get(json, "hyper_parameters") &&
           json_object_get(json, "optimizer");
}

bool is_update_case(const char *folder) {
    json_t *json = case_load(folder);
    const char *sort = text_in(json, "sort");
    bool is = is_torchrec(json) ||
              ((strcmp(sort, "rows") == 0 || strcmp(sort, "dense") == 0) &&
               json_object_get(json, "optimiser"));
    json_decref(json);
    return is;
}

/* ---- the case's words ---- */

static const char *const fbgemm_rules[][2] = {
    { "EXACT_SGD", "sgd" },
    { "EXACT_ADAGRAD", "adagrad" },
    { "EXACT_ROWWISE_ADAGRAD", "rowwise_adagrad" },
    { "ADAM", "adam" },
    { "PARTIAL_ROWWISE_ADAM", "partial_rowwise_adam" },
    { "LAMB", "lamb" },
    { "PARTIAL_ROWWISE_LAMB", "partial_rowwise_lamb" },
    { "LARS_SGD", "lars" },
};

/* TorchRec's words as those of the other cases. */
static void translate_words(json_t *json) {
    json_t *hyper = json_object_get(json, "hyper_parameters");
    const char *pooling = text_in(json, "pooling");
    for (size_t i = 0; i < sizeof fbgemm_rules / sizeof *fbgemm_rules; i++) {
        if (strcmp(text_in(json, "optimizer"), fbgemm_rules[i][0]) == 0) {
            json_object_set_new(json, "optimiser", json_string(fbgemm_rules[i][1]));
        }
    }
    const char *mode = text_in(hyper, "weight_decay_mode");
    json_object_set_new(hyper, "decay",
                        json_string(strcmp(mode, "L2") == 0 ? "l2" : ""));
    json_object_set(hyper, "lr", json_object_get(hyper, "learning_rate"));
    json_object_set(json, "hyper", hyper);
    json_object_set_new(json, "sort", json_string("rows"));
    json_object_set_new(json, "pooling",
                        json_string(strcmp(pooling, "MEAN") == 0 ? "mean" : "sum"));
}

/* ---- the module ---- */

/* Bags of all tables side by side, times the gradient. */
static void write_rows(const update_case *c, FILE *to) {
    long long batch = (long long)integer_in(c->json, "batch");
    long long columns = (long long)bags_columns(c->json);
    fputs("module @m {\n  graph @main(", to);
    bags_write_inputs(c->json, to);
    fprintf(to, ", %%grad: f32[%lld, %lld]", batch, columns);
    bags_write_tables(c->json, to);
    fprintf(to, ") -> (f32[%lld, %lld] \"y\") {\n", batch, columns);
    bags_write_body(c->json, to);
    fprintf(to, "    %%z = mul %%bags, %%grad : f32[%lld, %lld]\n", batch, columns);
    fputs("    ret %z\n  }\n}\n", to);
}

static void write_extents(const json_t *shape, FILE *to) {
    size_t i;
    json_t *extent;
    fputs("f32[", to);
    json_array_foreach(shape, i, extent) {
        fprintf(to, "%s%lld", i ? ", " : "", (long long)json_integer_value(extent));
    }
    fputs("]", to);
}

/* The sum over all weights of the sum of weight times gradient. */
static void write_dense(const update_case *c, FILE *to) {
    const json_t *shapes = json_object_get(c->json, "shapes");
    fputs("module @m {\n  graph @main(", to);
    for (size_t i = 0; i < 2 * c->count; i++) {
        fprintf(to, "%s%%%s%zu: ", i ? ", " : "", i < c->count ? "g" : "p",
                i % c->count);
        write_extents(json_array_get(shapes, i % c->count), to);
    }
    fputs(") -> (f32[] \"y\") {\n", to);
    for (size_t i = 0; i < c->count; i++) {
        size_t rank = json_array_size(json_array_get(shapes, i));
        fprintf(to, "    %%m%zu = mul %%p%zu, %%g%zu : ", i, i, i);
        write_extents(json_array_get(shapes, i), to);
        fprintf(to, "\n    %%s%zu = reduce %%m%zu {op = sum, axes = [", i, i);
        for (size_t k = 0; k < rank; k++) {
            fprintf(to, "%s%zu", k ? ", " : "", k);
        }
        fputs("]} : f32[]\n", to);
        if (i > 0) {
            fprintf(to, "    %%a%zu = add %%%s%zu, %%s%zu : f32[]\n", i,
                    i == 1 ? "s" : "a", i - 1, i);
        }
    }
    fprintf(to, "    ret %%%s%zu\n  }\n}\n", c->count > 1 ? "a" : "s", c->count - 1);
}

/* ---- the optimizer ---- */

static const char *decay_of(const update_case *c, const json_t *hyper) {
    const char *given = text_in(hyper, "decay");
    const char *rule = text_in(c->json, "optimiser");
    bool is_adam = strcmp(rule, "adam") == 0; /* of tables: apart from the gradient */
    return strcmp(given, "l2") == 0 ? ",decay=l2"
           : strcmp(given, "decouple") == 0 || (is_adam && c->is_rows)
               ? ",decay=decoupled"
               : "";
}

static char *optimizer_of(const update_case *c, size_t index) {
    static const char *const keys[] = { "lr",           "eps",         "beta1",
                                        "beta2",        "momentum",    "eta",
                                        "weight_decay", "max_gradient" };
    const json_t *hyper = json_object_get(c->json, "hyper");
    const char *rule = optimizer_rule(text_in(c->json, "optimiser"));
    bool is_plain = c->is_rows && strcmp(rule, "sgd") == 0;
    char *text = text_of("%s%zu=%s(lr=%.17g", c->is_rows ? "t" : "p", index, rule,
                         number_in(hyper, "lr", 0.01));
    for (size_t i = 1; i < sizeof keys / sizeof *keys; i++) {
        double number = number_in(hyper, keys[i], -1);
        bool is_own = !(is_plain && strcmp(keys[i], "momentum") == 0);
        if (number >= 0 && is_own) {
            char *longer = text_of("%s,%s=%.17g", text, keys[i], number);
            free(text);
            text = longer;
        }
    }
    bool is_nesterov = json_is_true(json_object_get(hyper, "nesterov"));
    char *whole = text_of("%s%s%s)", text, is_nesterov ? ",nesterov=1" : "",
                          decay_of(c, hyper));
    free(text);
    return whole;
}

/* ---- arrays ---- */

static bool open_archive(const update_case *c, const char *file, case_arrays *to) {
    return arrays_add(c->v, to, text_of("%s/%s.npz", c->v->test.folder, file), NULL);
}

/* The parts of one step of TorchRec's cases. */
static bool open_step(update_case *c, int step) {
    static const char *const inputs[] = { "indices", "offsets", "grad_output",
                                          "per_sample_weights" };
    static const char *const made[] = { "weights", "momentum1", "momentum2" };
    const char *folder = c->v->test.folder;
    bool is_good = true;
    for (size_t i = 0; i < 4 && is_good; i++) {
        char *path = text_of("%s/step%d_%s.npy", folder, step, inputs[i]);
        if (access(path, F_OK) != 0) {
            free(path);
        } else {
            is_good = arrays_add(c->v, &c->steps, path,
                                 text_of("%s_%d", inputs[i], step));
        }
    }
    for (size_t i = 0; i < 3 * c->count && is_good; i++) {
        const char *result = made[i % 3];
        char *path = text_of("%s/%s_after%d_t%zu.npy", folder, result, step, i / 3);
        if (access(path, F_OK) != 0) {
            free(path);
        } else {
            is_good = arrays_add(c->v, &c->after, path,
                                 text_of("%s_%d_t%zu", result, step, i / 3));
        }
    }
    return is_good;
}

static bool open_all(update_case *c) {
    if (!is_torchrec(c->json)) {
        return open_archive(c, "before", &c->before) &&
               open_archive(c, "steps", &c->steps) &&
               open_archive(c, "after", &c->after);
    }
    bool is_good = true;
    for (size_t i = 0; i < c->count && is_good; i++) {
        is_good =
            arrays_add(c->v, &c->before,
                       text_of("%s/weights_before_t%zu.npy", c->v->test.folder, i),
                       text_of("weights_t%zu", i));
    }
    for (int step = 1; step <= integer_in(c->json, "steps") && is_good; step++) {
        is_good = open_step(c, step);
    }
    return is_good;
}

/* `to` gets the array of that name; false after a message. */
static bool give(update_case *c, ig_argument *to, char *name) {
    const ig_argument *value = arrays_find(&c->steps, name);
    if (value && to) {
        *to = *value;
    }
    bool is_good = (value && to) || verify_fail(c->v, name, "it is not in steps.npz");
    free(name);
    return is_good;
}

/* ---- steps ---- */

static bool set_weights(update_case *c) {
    for (size_t i = 0; i < c->count; i++) {
        char *from = text_of("weights_%s%zu", c->is_rows ? "t" : "p", i);
        char *to = text_of("%s%zu", c->is_rows ? "t" : "p", i);
        const ig_argument *value = arrays_find(&c->before, from);
        bool is_good = value && trainer_set(&c->t, to, value);
        free(from);
        free(to);
        if (!is_good) {
            return verify_fail(c->v, "before.npz", "a weight is not there");
        }
    }
    return true;
}

static bool set_inputs(update_case *c, int step) {
    bool is_weighted = json_is_true(json_object_get(c->json, "weighted"));
    const json_t *rate = json_array_get(json_object_get(c->json, "learning_rates"),
                                        (size_t)step - 1);
    for (size_t i = 0; i < c->count && rate; i++) {
        c->t.rates[i] = json_number_value(rate);
    }
    for (size_t i = 0; i < c->count && !c->is_rows; i++) {
        char *name = text_of("g%zu", i);
        ig_argument *to = trainer_find(&c->t, name);
        free(name);
        if (!give(c, to, text_of("grad_%d_p%zu", step, i))) {
            return false;
        }
    }
    return !c->is_rows ||
           (give(c, trainer_find(&c->t, "ids"), text_of("indices_%d", step)) &&
            give(c, trainer_find(&c->t, "offsets"), text_of("offsets_%d", step)) &&
            give(c, trainer_find(&c->t, "grad"), text_of("grad_output_%d", step)) &&
            (!is_weighted || give(c, trainer_find(&c->t, "psw"),
                                  text_of("per_sample_weights_%d", step))));
}

/* The state's number by the case's name for it; 0: a weight, -1: nobody's. */
static int state_of(const update_case *c, const char *name) {
    static const char *const first[] = { "m", "momentum_buffer", "sum", "exp_avg",
                                         "momentum1" };
    static const char *const second[] = { "exp_avg_sq", "momentum2" };
    if (strcmp(name, "weights") == 0) {
        return 0;
    }
    if (strcmp(name, "v") == 0) { /* the first one of rules without an m */
        return strstr(text_in(c->json, "optimiser"), "adagrad") ? 1 : 2;
    }
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        if (strcmp(name, first[i]) == 0) {
            return 1;
        }
    }
    bool is_second = strcmp(name, second[0]) == 0 || strcmp(name, second[1]) == 0;
    return is_second ? 2 : -1;
}

/* "NAME_STEP_tT" of after.npz. */
static bool check_array(update_case *c, int step, const char *name,
                        const ig_argument *want) {
    char kind[64], suffix[32];
    const char *end = strrchr(name, '_');
    int at = 0, consumed = 0;
    size_t length = end ? (size_t)(end - name) : 0;
    while (length > 0 && name[length - 1] != '_') {
        length--;
    }
    snprintf(kind, sizeof kind, "%.*s", (int)(length ? length - 1 : 0), name);
    if (sscanf(name + length, "%d_%31s%n", &at, suffix, &consumed) != 2 || at != step ||
        state_of(c, kind) < 0) {
        return true;
    }
    int state = state_of(c, kind);
    char *input = state ? text_of("%s.momentum%d", suffix, state)
                        : text_of("%s", suffix);
    const ig_argument *got = trainer_find(&c->t, input);
    tolerance within = case_tolerance(c->json);
    bool is_good = got ? check_elements(c->v, name, got, want, &within)
                       : verify_fail(c->v, name, "no input of the step is that");
    free(input);
    return is_good;
}

static bool check_file(update_case *c, int step, size_t file) {
    const ig_arguments *all = c->after.files[file];
    for (size_t i = 0; i < ig_arguments_count(all); i++) {
        const char *own = c->after.names[file];
        const char *name = own ? own : ig_arguments_name(all, i);
        if (!strstr(name, "_f32") &&
            !check_array(c, step, name, ig_arguments_at(all, i))) {
            return false;
        }
    }
    return true;
}

static bool check_step(update_case *c, int step) {
    size_t i = 0;
    while (i < c->after.count && check_file(c, step, i)) {
        i++;
    }
    return i == c->after.count;
}

static bool run_steps(update_case *c) {
    int count = (int)integer_in(c->json, "steps");
    for (int step = 1; step <= count; step++) {
        if (!set_inputs(c, step)) {
            return false;
        }
        if (!trainer_step(&c->t)) {
            return verify_fail(c->v, "a step", c->t.why.text);
        }
        if (!check_step(c, step)) {
            return false;
        }
    }
    return true;
}

/* ---- the case ---- */

static void make_text(update_case *c) {
    size_t size;
    FILE *to = need(open_memstream(&c->text, &size));
    if (c->is_rows) {
        write_rows(c, to);
    } else {
        write_dense(c, to);
    }
    fclose(to);
    c->text = need(c->text);
}

static bool open_trainer(update_case *c) {
    ig_module *module = NULL;
    ig_train_options how = { .size = sizeof how,
                             .loss = "sum:y",
                             .optimizers = (const char *const *)c->optimizers,
                             .optimizer_count = c->count,
                             .clip_norm = number_in(c->json, "clip_norm", 0) };
    if (ig_import_memory(c->v->context, c->text, strlen(c->text), NULL, NULL,
                         &module) != IG_OK) {
        return verify_fail(c->v, "the module", NULL);
    }
    bool is_good = trainer_open(&c->t, c->v->given, c->v->context, module, &how, NULL);
    c->v->compiled += c->t.m.program != NULL;
    return is_good ||
           verify_fail(c->v, "the step", c->t.why.text[0] ? c->t.why.text : NULL);
}

outcome check_update_case(verification *v, const char *folder) {
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    update_case c = { .v = v, .json = case_load(folder) };
    if (is_torchrec(c.json)) {
        translate_words(c.json);
    }
    c.is_rows = strcmp(text_in(c.json, "sort"), "rows") == 0;
    c.count = json_array_size(json_object_get(c.json, c.is_rows ? "tables" : "shapes"));
    bool is_good = open_all(&c);
    make_text(&c);
    c.optimizers = need(calloc(c.count + 1, sizeof *c.optimizers));
    for (size_t i = 0; i < c.count; i++) {
        c.optimizers[i] = optimizer_of(&c, i);
    }
    is_good = is_good && open_trainer(&c) && set_weights(&c) && run_steps(&c);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%lld steps, %zu compiled", (long long)c.t.step,
                 v->compiled);
    }
    trainer_close(&c.t);
    arrays_close(&c.before);
    arrays_close(&c.steps);
    arrays_close(&c.after);
    free(c.text);
    for (size_t i = 0; i < c.count; i++) {
        free(c.optimizers[i]);
    }
    free(c.optimizers);
    json_decref(c.json);
    return is_good ? PASSED : FAILED;
}
