/* Verifying a step of training of which the losses before and after it are known: that
 * of TorchRec's tutorial, whose loss is the sum of 1 less what bags give.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     CASE/case.json                       losses_here, tolerance
 *     CASE/indices.npy, offsets.npy        of all tables, tables outermost
 *     CASE/rows_tT.npy                     rows of table T that are stored
 *     CASE/weights_before_rows_tT.npy      these rows before the step
 *     CASE/weights_after1_rows_tT.npy, momentum1_after1_rows_tT.npy      and after it
 *
 * Rows that are not stored are NaN: no loss and no stored row may depend on them, and
 * they are to stay as they are.
 */
#include "tools/igcheck/cases/bags.h"
#include "tools/igcheck/cases/kinds.h"
#include "tools/ingot/model/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_ROWS = 4096 };

static const char rule[] = "rowwise_adagrad(lr=0.02,eps=0.002)";

typedef struct tutorial_case {
    verification *v;
    json_t *json, *bags; /* of the case; and as bags.h takes it */
    case_arrays stored;
    size_t table_count;
    trainer t;
} tutorial_case;

bool is_tutorial_case(const char *folder) {
    json_t *json = case_load(folder);
    bool is = json_array_size(json_object_get(json, "losses_here")) == 2;
    json_decref(json);
    return is;
}

/* ---- the files ---- */

static int64_t row_at(const ig_argument *rows, size_t index) {
    return (int64_t)ig_argument_number(rows, index);
}

static const ig_argument *stored(const tutorial_case *c, const char *kind,
                                 size_t table) {
    char *name = text_of("%s_t%zu", kind, table);
    const ig_argument *value = arrays_find(&c->stored, name);
    free(name);
    return value;
}

static bool add_array(tutorial_case *c, const char *name) {
    return arrays_add(c->v, &c->stored, text_of("%s/%s.npy", c->v->test.folder, name),
                      text_of("%s", name));
}

static bool add_table(tutorial_case *c) {
    static const char *const kinds[] = { "rows", "weights_before_rows",
                                         "weights_after1_rows",
                                         "momentum1_after1_rows" };
    size_t table = c->table_count++;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *name = text_of("%s_t%zu", kinds[i], table);
        bool is_good = add_array(c, name);
        free(name);
        if (!is_good) {
            return false;
        }
    }
    const ig_argument *rows = stored(c, kinds[0], table);
    for (size_t i = 0; i < element_count(rows); i++) {
        if (row_at(rows, i) >= TABLE_ROWS || row_at(rows, i) < 0) {
            return verify_fail(c->v, "rows", "a row is not in the table");
        }
    }
    return stored(c, kinds[1], table)->rank == 2 ||
           verify_fail(c->v, kinds[1], "it is not a matrix");
}

static bool has_table(const tutorial_case *c, size_t table) {
    char *path = text_of("%s/rows_t%zu.npy", c->v->test.folder, table);
    bool has = access(path, F_OK) == 0;
    free(path);
    return has;
}

static bool open_files(tutorial_case *c) {
    bool is_good = add_array(c, "indices") && add_array(c, "offsets");
    while (is_good && has_table(c, c->table_count)) {
        is_good = add_table(c);
    }
    return is_good && (c->table_count > 0 ||
                       verify_fail(c->v, "the case", "there is no table in it"));
}

/* ---- the module ---- */

static void describe_bags(tutorial_case *c) {
    const ig_argument *offsets = arrays_find(&c->stored, "offsets");
    size_t batch = (element_count(offsets) - 1) / c->table_count;
    json_t *tables = json_array();
    for (size_t i = 0; i < c->table_count; i++) {
        json_int_t dim = stored(c, "weights_before_rows", i)->dims[1];
        json_array_append_new(tables,
                              json_pack("{si,sI}", "rows", TABLE_ROWS, "dim", dim));
    }
    c->bags = json_pack("{sI,ss,so}", "batch", (json_int_t)batch, "pooling", "sum",
                        "tables", tables);
}

static char *module_text(const tutorial_case *c) {
    char *text = NULL;
    size_t size;
    long long batch = (long long)integer_in(c->bags, "batch");
    long long columns = (long long)bags_columns(c->bags);
    FILE *to = need(open_memstream(&text, &size));
    fputs("module @m {\n  weight @one : f32[] = splat(1.0)\n  graph @main(", to);
    bags_write_inputs(c->bags, to);
    bags_write_tables(c->bags, to);
    fprintf(to, ") -> (f32[%lld, %lld] \"y\") {\n", batch, columns);
    bags_write_body(c->bags, to);
    fprintf(to, "    %%y = sub @one, %%bags : f32[%lld, %lld]\n    ret %%y\n  }\n}\n",
            batch, columns);
    fclose(to);
    return need(text);
}

static bool open_step(tutorial_case *c) {
    ig_module *module = NULL;
    char *text = module_text(c);
    char **optimizers = need(calloc(c->table_count, sizeof *optimizers));
    for (size_t i = 0; i < c->table_count; i++) {
        optimizers[i] = text_of("t%zu=%s", i, rule);
    }
    ig_train_options how = { .size = sizeof how,
                             .loss = "sum:y",
                             .optimizers = (const char *const *)optimizers,
                             .optimizer_count = c->table_count };
    bool is_good = ig_import_memory(c->v->context, text, strlen(text), NULL, NULL,
                                    &module) == IG_OK &&
                   trainer_open(&c->t, c->v->given, c->v->context, module, &how, NULL);
    for (size_t i = 0; i < c->table_count; i++) {
        free(optimizers[i]);
    }
    free(optimizers);
    free(text);
    c->v->compiled += c->t.m.program != NULL;
    return is_good ||
           verify_fail(c->v, "the step", c->t.why.text[0] ? c->t.why.text : NULL);
}

/* Stored rows in a table of NaN. */
static bool set_table(tutorial_case *c, size_t table) {
    const ig_argument *rows = stored(c, "rows", table);
    const ig_argument *values = stored(c, "weights_before_rows", table);
    size_t dim = (size_t)values->dims[1], count = (size_t)TABLE_ROWS * dim;
    float *all = need(malloc((count + 1) * sizeof *all));
    for (size_t i = 0; i < count; i++) {
        all[i] = NAN;
    }
    for (size_t i = 0; i < element_count(rows); i++) {
        float *row = all + (size_t)row_at(rows, i) * dim;
        for (size_t k = 0; k < dim; k++) {
            row[k] = (float)ig_argument_number(values, i * dim + k);
        }
    }
    int64_t dims[2] = { TABLE_ROWS, (int64_t)dim };
    ig_argument whole = { .dtype = "f32",
                          .rank = 2,
                          .dims = dims,
                          .data = all,
                          .size = count * sizeof *all };
    char *name = text_of("t%zu", table);
    bool is_good = trainer_set(&c->t, name, &whole);
    free(name);
    free(all);
    return is_good || verify_fail(c->v, "a table", c->t.why.text);
}

static bool set_inputs(tutorial_case *c) {
    for (size_t i = 0; i < c->table_count; i++) {
        if (!set_table(c, i)) {
            return false;
        }
    }
    *trainer_find(&c->t, "ids") = *arrays_find(&c->stored, "indices");
    *trainer_find(&c->t, "offsets") = *arrays_find(&c->stored, "offsets");
    return true;
}

/* ---- compared values ---- */

static bool is_stored_row(const ig_argument *rows, size_t row) {
    for (size_t i = 0; i < element_count(rows); i++) {
        if (row_at(rows, i) == (int64_t)row) {
            return true;
        }
    }
    return false;
}

/* Rows of the input `name`, of `width` numbers each, against those stored; the others
 * are unchanged. */
static bool check_rows(tutorial_case *c, const char *name, size_t table,
                       const char *kind, bool is_state) {
    const ig_argument *rows = stored(c, "rows", table), *want = stored(c, kind, table);
    const ig_argument *got = trainer_find(&c->t, name);
    size_t width = got ? element_count(got) / TABLE_ROWS : 0;
    tolerance within = case_tolerance(c->json);
    for (size_t i = 0; i < element_count(rows); i++) {
        ig_argument one = *want, own = got ? *got : *want;
        size_t row = (size_t)row_at(rows, i);
        int64_t dims[1] = { (int64_t)width };
        one.rank = own.rank = 1;
        one.dims = own.dims = dims;
        one.size = own.size = width * sizeof(float);
        one.data = (const float *)want->data + i * width;
        own.data = got ? (const float *)got->data + row * width : one.data;
        if (!got || element_count(want) != element_count(rows) * width ||
            !check_elements(c->v, name, &own, &one, &within)) {
            return got && c->v->why.text[0]
                       ? false
                       : verify_fail(c->v, name, "it has other extents");
        }
    }
    for (size_t i = 0; i < width * TABLE_ROWS; i++) {
        double number = ig_argument_number(got, i);
        bool is_kept = is_state ? number == 0 : isnan(number);
        if (!is_kept && !is_stored_row(rows, i / width)) {
            return verify_fail(c->v, name, "a row that no bag reads has changed");
        }
    }
    return true;
}

static bool check_tables(tutorial_case *c) {
    for (size_t i = 0; i < c->table_count; i++) {
        char *weight = text_of("t%zu", i), *state = text_of("t%zu.momentum1", i);
        bool is_good = check_rows(c, weight, i, "weights_after1_rows", false) &&
                       check_rows(c, state, i, "momentum1_after1_rows", true);
        free(weight);
        free(state);
        if (!is_good) {
            return false;
        }
    }
    return true;
}

static bool check_number(tutorial_case *c, const char *what, double got, double want,
                         double room) {
    if (fabs(got - want) <= room) {
        return true;
    }
    char *why = text_of("it is %.9g, not %.9g", got, want);
    verify_fail(c->v, what, why);
    free(why);
    return false;
}

/* Losses to 1e-5, their difference to 1e-4: a step of f32 at 256 is 1.5e-5. */
static bool check_losses(tutorial_case *c, const double *losses) {
    const json_t *want = json_object_get(c->json, "losses_here");
    double before = json_number_value(json_array_get(want, 0));
    double after = json_number_value(json_array_get(want, 1));
    return check_number(c, "the first loss", losses[0], before, 1e-5 * before) &&
           check_number(c, "the second loss", losses[1], after, 1e-5 * after) &&
           check_number(c, "the drop", losses[0] - losses[1],
                        number_in(c->json, "drop_here", before - after), 1e-4);
}

static bool train_twice(tutorial_case *c) {
    double losses[2];
    for (size_t i = 0; i < 2; i++) {
        if (!trainer_step(&c->t)) {
            return verify_fail(c->v, "a step", c->t.why.text);
        }
        losses[i] = trainer_loss(&c->t);
        if (i == 0 && !check_tables(c)) {
            return false;
        }
    }
    return check_losses(c, losses);
}

outcome check_tutorial_case(verification *v, const char *folder) {
    if (!test_case_open(&v->test, folder, &v->why)) {
        return FAILED;
    }
    tutorial_case c = { .v = v, .json = case_load(folder) };
    bool is_good = open_files(&c);
    if (is_good) {
        describe_bags(&c);
    }
    is_good = is_good && open_step(&c) && set_inputs(&c) && train_twice(&c);
    if (is_good) {
        snprintf(v->did, sizeof v->did, "2 losses, %zu compiled", v->compiled);
    }
    trainer_close(&c.t);
    arrays_close(&c.stored);
    json_decref(c.bags);
    json_decref(c.json);
    return is_good ? PASSED : FAILED;
}
