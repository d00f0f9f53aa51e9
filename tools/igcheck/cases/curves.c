/* Verifying learning curves: training on planted data against torch's losses in double.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json     kind, data, batch, steps, tables, runs, tolerance
 *     CASE/model.pt, model.onnx, model_dynamo.onnx     those that there are
 *     CASE/model_f64.ig                                the same in double precision
 *     CASE/RUN.npz       at, loss_f64, window_mean_f64 (of 50 steps)
 *
 * Each run trains each model; INGOT_FULL=0, or no INGOT_FULL, takes its first 100 steps
 * alone.  The AUC over samples held back is held against the stored one.
 */
#include "tools/igcheck/cases/fields.h"
#include "tools/igcheck/cases/kinds.h"
#include "tools/igcheck/cases/planted.h"
#include "tools/ingot/model/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CURVE_OPTIMIZERS = 64, WINDOW = 50, FEW_STEPS = 100 };

typedef struct curve_case {
    verification *v;
    json_t *json;
    const json_t *run;
    const char *file; /* of the model */
    bool is_wide;     /* it computes in double precision */
    planted data;
    char *optimizers[CURVE_OPTIMIZERS];
    size_t optimizer_count;
    int64_t steps;
    double *losses;
    ig_arguments *wanted;
    trainer t;
    size_t runs;
} curve_case;

bool is_curve_case(const char *folder) {
    json_t *json = case_load(folder);
    bool is = json_is_array(json_object_get(json, "runs")) &&
              json_object_get(json, "data_generator");
    json_decref(json);
    return is;
}

static bool fail_run(const curve_case *c, const char *what) {
    char *about = text_of("%s of %s", text_in(c->run, "name"), c->file);
    verify_fail(c->v, about, what);
    free(about);
    return false;
}

/* ---- optimizers ---- */

static void write_setting(FILE *to, const char *key, const json_t *value) {
    if (strcmp(key, "betas") == 0) {
        fprintf(to, ",beta1=%.17g,beta2=%.17g",
                json_number_value(json_array_get(value, 0)),
                json_number_value(json_array_get(value, 1)));
    } else if (json_is_boolean(value)) {
        fprintf(to, ",%s=%d", key, json_is_true(value));
    } else if (json_is_number(value)) {
        fprintf(to, ",%s=%.17g", key, json_number_value(value));
    }
}

static void add_optimizer(curve_case *c, const char *pattern, json_t *how,
                          bool is_dense) {
    char *text = NULL;
    size_t size = 0;
    const char *key;
    json_t *value;
    FILE *to = need(open_memstream(&text, &size));
    fprintf(to, "%s=%s(dense=%d", pattern, optimizer_rule(text_in(how, "name")),
            is_dense);
    json_object_foreach(how, key, value) {
        write_setting(to, key, value);
    }
    fprintf(to, ")");
    fclose(to);
    if (c->optimizer_count < CURVE_OPTIMIZERS) {
        c->optimizers[c->optimizer_count++] = need(text);
    } else {
        free(text);
    }
}

/* Of each table by its name, then of all else. */
static void list_optimizers(curve_case *c) {
    json_t *tables = json_object_get(c->run, "tables");
    const char *name;
    json_t *table;
    size_t i;
    c->optimizer_count = 0;
    if (json_is_object(tables)) {
        json_array_foreach(json_object_get(c->json, "tables"), i, table) {
            name = json_is_string(table) ? json_string_value(table)
                                         : text_in(table, "name");
            add_optimizer(c, name, tables, false);
        }
    }
    add_optimizer(c, "*", json_object_get(c->run, "dense"), !json_is_object(tables));
}

static void free_optimizers(curve_case *c) {
    for (size_t i = 0; i < c->optimizer_count; i++) {
        free(c->optimizers[i]);
    }
}

/* ---- one call ---- */

/* Memory of a call's inputs. */
typedef struct batch_inputs {
    planted_batch drawn;
    int64_t *made[PLANTED_FIELDS]; /* rectangles */
    double *wide[2];               /* dense features, labels */
    size_t made_count;
    int64_t dims[4 * PLANTED_FIELDS][2];
    size_t dims_count;
} batch_inputs;

static ig_argument array_of(batch_inputs *b, const char *dtype, const void *data,
                            size_t rows, size_t columns) {
    int64_t *dims = b->dims[b->dims_count++];
    dims[0] = (int64_t)rows;
    dims[1] = (int64_t)columns;
    size_t element = strcmp(dtype, "f32") == 0 ? 4 : 8;
    return (ig_argument){ .dtype = dtype,
                          .rank = columns ? 2 : 1,
                          .dims = dims,
                          .data = data,
                          .size = element * rows * (columns ? columns : 1) };
}

/* Floats of the model's precision; `which` of them. */
static ig_argument floats_of(const curve_case *c, batch_inputs *b, size_t which,
                             const float *data, size_t rows, size_t columns) {
    size_t count = rows * (columns ? columns : 1);
    if (!c->is_wide) {
        return array_of(b, "f32", data, rows, columns);
    }
    b->wide[which] = need(calloc(count + 1, sizeof(double)));
    for (size_t i = 0; i < count; i++) {
        b->wide[which][i] = (double)data[i];
    }
    return array_of(b, "f64", b->wide[which], rows, columns);
}

/* One id of each field side by side. */
static ig_argument stack_ids(const curve_case *c, batch_inputs *b) {
    size_t fields = c->data.field_count, count = b->drawn.count;
    int64_t *ids = b->made[b->made_count++] = need(calloc(count * fields + 1, 8));
    for (size_t i = 0; i < count * fields; i++) {
        ids[i] = b->drawn.ids[i % fields][i / fields];
    }
    return array_of(b, "i64", ids, count, fields);
}

/* A field's ids from 1 on, padded with 0. */
static ig_argument pad_ids(const curve_case *c, batch_inputs *b, size_t field) {
    size_t width = (size_t)c->data.fields[field].max_length, count = b->drawn.count;
    int64_t *ids = b->made[b->made_count++] = need(calloc(count * width + 1, 8));
    const int64_t *offsets = b->drawn.offsets[field];
    for (size_t i = 0; i < count; i++) {
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) {
            ids[i * width + (size_t)(k - offsets[i])] = b->drawn.ids[field][k] + 1;
        }
    }
    return array_of(b, "i64", ids, count, width);
}

static ig_argument shifted_ids(batch_inputs *b, size_t field, int64_t shift) {
    size_t count = b->drawn.count;
    int64_t *ids = b->made[b->made_count++] = need(calloc(count + 1, 8));
    for (size_t i = 0; i < count; i++) {
        ids[i] = b->drawn.ids[field][i] + shift;
    }
    return array_of(b, "i64", ids, count, 0);
}

/* By the input's name in the case. */
static bool make_input(const curve_case *c, batch_inputs *b, const char *name,
                       ig_argument *out) {
    unsigned field = 0;
    const planted_batch *d = &b->drawn;
    if (strcmp(name, "dense") == 0) {
        *out = floats_of(c, b, 0, d->dense, d->count, c->data.dense);
    } else if (strcmp(name, "ids") == 0) {
        *out = stack_ids(c, b);
    } else if (strcmp(name, "history") == 0) {
        *out = pad_ids(c, b, 0);
    } else if (strcmp(name, "target") == 0) {
        *out = shifted_ids(b, 1, 1);
    } else if (strcmp(name, "user") == 0) {
        *out = shifted_ids(b, 2, 0);
    } else if (sscanf(name, "ids_%u", &field) == 1 && field < c->data.field_count) {
        size_t count = (size_t)d->offsets[field][d->count];
        *out = array_of(b, "i64", d->ids[field], count, 0);
    } else if (sscanf(name, "offsets_%u", &field) == 1 && field < c->data.field_count) {
        *out = array_of(b, "i64", d->offsets[field], d->count + 1, 0);
    } else {
        return false;
    }
    return true;
}

static bool give_batch(curve_case *c, uint64_t first, size_t count, batch_inputs *b) {
    *b = (batch_inputs){ 0 };
    planted_draw(&c->data, first, count, &b->drawn);
    json_t *input;
    size_t i;
    json_array_foreach(json_object_get(c->json, "inputs"), i, input) {
        if (i >= c->t.data_count ||
            !make_input(c, b, text_in(input, "name"), &c->t.with.inputs[i])) {
            return fail_run(c, "an input of the case is not known");
        }
    }
    c->t.with.inputs[c->t.data_count - 1] = floats_of(c, b, 1, b->drawn.labels, count,
                                                      0);
    return true;
}

static void free_batch(batch_inputs *b) {
    for (size_t i = 0; i < b->made_count; i++) {
        free(b->made[i]);
    }
    free(b->wide[0]);
    free(b->wide[1]);
    planted_batch_free(&b->drawn);
}

static bool step_once(curve_case *c, uint64_t first, size_t count) {
    batch_inputs b;
    bool is_good = give_batch(c, first, count, &b) &&
                   (trainer_step(&c->t) || fail_run(c, c->t.why.text));
    free_batch(&b);
    return is_good;
}

/* ---- compared values ---- */

static const ig_argument *stored_array(const curve_case *c, const char *name) {
    for (size_t i = 0; i < ig_arguments_count(c->wanted); i++) {
        if (strcmp(ig_arguments_name(c->wanted, i), name) == 0) {
            return ig_arguments_at(c->wanted, i);
        }
    }
    return NULL;
}

static bool check_loss(const curve_case *c, const char *what, int64_t at, double got,
                       double want, double room) {
    if (fabs(got - want) <= room * fabs(want)) {
        return true;
    }
    char *why = text_of("%s %lld is %.9g, not %.9g", what, (long long)at, got, want);
    fail_run(c, why);
    free(why);
    return false;
}

/* Single steps in double precision or where the activation is smooth, else means of
 * 50. */
static bool check_losses(const curve_case *c) {
    const json_t *within = json_object_get(c->json, "tolerance");
    const json_t *each = json_object_get(within,
                                         c->is_wide ? "loss_rel_f64" : "loss_rel_f32");
    const ig_argument *at = stored_array(c, "at"), *want = stored_array(c, "loss_f64");
    const ig_argument *means = stored_array(c, "window_mean_f64");
    if (!at || !want || !means) {
        return fail_run(c, "its file has no losses");
    }
    for (size_t i = 0; each && i < element_count(at); i++) {
        int64_t step = (int64_t)ig_argument_number(at, i);
        if (step < c->steps &&
            !check_loss(c, "the loss of step", step, c->losses[step],
                        ig_argument_number(want, i), json_number_value(each))) {
            return false;
        }
    }
    for (int64_t i = 0; !each && (i + 1) * WINDOW <= c->steps; i++) {
        double sum = 0;
        for (int64_t k = 0; k < WINDOW; k++) {
            sum += c->losses[i * WINDOW + k];
        }
        if (!check_loss(c, "the mean of window", i, sum / WINDOW,
                        ig_argument_number(means, (size_t)i),
                        json_number_value(json_object_get(within, "window_rel_f32")))) {
            return false;
        }
    }
    return true;
}

/* Of the samples held back. */
static bool check_auc(curve_case *c) {
    const json_t *held = json_object_get(c->json, "held_back");
    size_t count = (size_t)json_integer_value(json_object_get(held, "count"));
    uint64_t first =
        (uint64_t)json_integer_value(json_object_get(held, "first_sample"));
    double room = json_number_value(
        json_object_get(json_object_get(c->json, "tolerance"), "auc_abs"));
    double want = json_number_value(json_object_get(c->run, "auc_f64"));
    batch_inputs b;
    bool is_good = give_batch(c, first, count, &b) &&
                   (trainer_try(&c->t) || fail_run(c, c->t.why.text));
    double *scores = need(calloc(2 * count + 1, sizeof *scores));
    size_t *order = need(calloc(count + 1, sizeof *order));
    for (size_t i = 0; is_good && i < count; i++) {
        scores[i] = ig_argument_number(&c->t.out.items[1], i);
        scores[count + i] = (double)b.drawn.labels[i];
    }
    double got = is_good ? ig_metric_auc(scores, scores + count, order, count) : 0;
    if (is_good && !(fabs(got - want) <= room)) {
        char *why = text_of("the AUC is %.6f, not %.6f", got, want);
        is_good = fail_run(c, why);
        free(why);
    }
    free(scores);
    free(order);
    free_batch(&b);
    return is_good;
}

/* ---- a run ---- */

static bool open_run(curve_case *c) {
    char *path = text_of("%s/%s", c->v->test.folder, c->file);
    bool is_onnx = strstr(c->file, ".onnx") != NULL;
    ig_import_options import = { .size = sizeof import, .keeps_weights = 1 };
    ig_module *module = NULL;
    ig_train_options how = { .size = sizeof how,
                             .loss = is_onnx ? "bce_logits:logit=label"
                                             : "bce_logits:=label",
                             .optimizers = (const char *const *)c->optimizers,
                             .optimizer_count = c->optimizer_count };
    bool is_good = ig_import(c->v->context, path, &import, &module) == IG_OK &&
                   trainer_open(&c->t, c->v->given, c->v->context, module, &how, NULL);
    free(path);
    c->v->compiled += c->t.m.program != NULL;
    return is_good || fail_run(c, c->t.why.text[0] ? c->t.why.text : NULL);
}

static bool train_run(curve_case *c) {
    size_t batch = (size_t)json_integer_value(json_object_get(c->json, "batch"));
    for (int64_t i = 0; i < c->steps; i++) {
        if (!step_once(c, (uint64_t)i * batch, batch)) {
            return false;
        }
        c->losses[i] = trainer_loss(&c->t);
    }
    return true;
}

static bool check_run(curve_case *c) {
    bool is_whole = c->steps == json_integer_value(json_object_get(c->json, "steps"));
    char *path = text_of("%s/%s", c->v->test.folder, text_in(c->run, "file"));
    bool is_good = ig_arguments_open(c->v->context, path, &c->wanted) == IG_OK ||
                   fail_run(c, NULL);
    free(path);
    list_optimizers(c);
    c->t = (trainer){ 0 };
    is_good = is_good && open_run(c) && train_run(c) && check_losses(c) &&
              (!is_whole || check_auc(c));
    c->runs += is_good;
    trainer_close(&c->t);
    ig_arguments_close(c->wanted);
    c->wanted = NULL;
    free_optimizers(c);
    return is_good;
}

static bool check_runs(curve_case *c) {
    static const char *const files[] = { "model.pt", "model.onnx", "model_dynamo.onnx",
                                         "model_f64.ig" };
    json_t *run;
    size_t i;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char *path = text_of("%s/%s", c->v->test.folder, files[f]);
        bool is_there = access(path, F_OK) == 0;
        free(path);
        c->file = files[f];
        c->is_wide = strstr(files[f], "f64") != NULL;
        json_array_foreach(json_object_get(c->json, "runs"), i, run) {
            c->run = run;
            if (is_there && !check_run(c)) {
                return false;
            }
        }
    }
    return true;
}

outcome check_curve_case(verification *v, const char *folder) {
    const char *full = getenv("INGOT_FULL");
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    curve_case c = { .v = v, .json = case_load(folder) };
    c.steps = json_integer_value(json_object_get(c.json, "steps"));
    c.steps = (full && full[0] == '1') || c.steps < FEW_STEPS ? c.steps : FEW_STEPS;
    c.losses = need(calloc((size_t)c.steps + 1, sizeof *c.losses));
    planted_open(&c.data, json_object_get(c.json, "data"));
    bool is_good = check_runs(&c);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "%zu runs of %lld steps, %zu compiled", c.runs,
                 (long long)c.steps, v->compiled);
    }
    planted_close(&c.data);
    free(c.losses);
    json_decref(c.json);
    return is_good ? PASSED : FAILED;
}
