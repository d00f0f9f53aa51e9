/* Two ways to run a model, value by value.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The outputs come first, of the model as it is.  Then values between are made outputs,
 * a portion at a time, so that neither side holds all of them at once.  Values that are
 * outputs are fused less: where a difference goes with that, each value is tried as the
 * only one, in a binary search for the first that differs. */
#include "tools/ingot/compare/compare.h"

#include <stdlib.h>
#include <string.h>

enum { PORTION = 256 };

/* Values `first` … `first + count - 1` as outputs after the model's own. */
typedef struct portion {
    size_t first, count;
    const char **names;
    const ig_argument **want;
    finished_run run;
} portion;

static void portion_close(portion *p) {
    finished_run_close(&p->run);
    free(p->names);
    free(p->want);
}

/* ---- one value ---- */

/* Number `index` of the portion's results: an output, or a value. */
static const ig_inner_value *value_of(const comparison *c, const portion *p,
                                      size_t index) {
    return index < c->own ? NULL : &c->values[p->first + index - c->own];
}

static void tell_difference(comparison *c, const ig_inner_value *value,
                            const char *name, const difference *how,
                            const ig_argument *got, const ig_argument *want) {
    json_t *facts = difference_json(how, got, want);
    json_object_set_new(facts, value ? "value" : "output", json_string(name));
    json_object_set_new(facts, "alone", json_boolean(c->lone != SIZE_MAX));
    if (value) {
        json_object_set_new(facts, "op", json_string(value->op));
        json_object_set_new(facts, "type", json_string(value->type));
        json_object_set_new(facts, "source", json_string(value->source));
    }
    json_array_append_new(c->found, facts);
}

/* ---- a portion ---- */

static ig_status run_portion(comparison *c, portion *p, message *why) {
    size_t total = c->own + p->count;
    size_t *indices = need(calloc(p->count + 1, sizeof *indices));
    ig_module *exposed = NULL;
    p->names = need(calloc(total + 1, sizeof *p->names));
    p->want = need(calloc(total + 1, sizeof(const ig_argument *)));
    for (size_t i = 0; i < c->own; i++) {
        p->names[i] = model_output_name(c->m, i);
    }
    for (size_t i = 0; i < p->count; i++) {
        indices[i] = p->first + i;
        p->names[c->own + i] = c->values[p->first + i].name;
    }
    ig_status status = ig_module_expose(c->m->module, indices, p->count, &exposed);
    free(indices);
    if (status != IG_OK) {
        return status;
    }
    request what = { exposed, p->names, total, c->own };
    status = reference_values(c->against, &what, p->want, why);
    if (status != IG_OK) {
        ig_module_close(exposed);
        return status;
    }
    run_order order = { exposed, c->with, false };
    return run_module(c->given, c->m->context, &order, &p->run, why);
}

/* An artifact has only its outputs. */
static ig_status run_artifact(comparison *c, portion *p, message *why) {
    p->names = need(calloc(c->own + 1, sizeof *p->names));
    p->want = need(calloc(c->own + 1, sizeof(const ig_argument *)));
    for (size_t i = 0; i < c->own; i++) {
        p->names[i] = model_output_name(c->m, i);
    }
    request what = { NULL, p->names, c->own, c->own };
    ig_status status = reference_values(c->against, &what, p->want, why);
    p->run.m.context = c->m->context;
    if (status == IG_OK) {
        status = session_open(c->given, c->m, &p->run.session, why);
    }
    return status == IG_OK ? call_run(c->m, p->run.session, c->with, &p->run.got, why)
                           : status;
}

/* Results from `from` on; returns how many differ. */
static size_t judge_portion(comparison *c, const portion *p, size_t from,
                            size_t *missing) {
    size_t different = 0;
    for (size_t i = from; i < p->run.got.count && i < c->own + p->count; i++) {
        difference how;
        if (!p->want[i]) {
            ++*missing;
        } else if (!tensors_equal(c->given, &p->run.got.items[i], p->want[i], &how)) {
            different++;
            tell_difference(c, value_of(c, p, i), p->names[i], &how,
                            &p->run.got.items[i], p->want[i]);
        }
    }
    return different;
}

/* ---- the whole ---- */

static ig_status compare_portion(comparison *c, size_t first, size_t count,
                                 message *why) {
    portion p = { .first = first, .count = count };
    ig_status status = run_portion(c, &p, why);
    if (status == IG_OK) {
        size_t missing = 0;
        c->different += judge_portion(c, &p, c->own, &missing);
        c->missing += missing;
        c->compared += count - missing;
    }
    portion_close(&p);
    return status;
}

/* Does value `index` differ, as the only one that is exposed? */
static ig_status differs_alone(comparison *c, size_t index, bool *out, message *why) {
    portion p = { .first = index, .count = 1 };
    difference how;
    ig_status status = run_portion(c, &p, why);
    const ig_argument *want = status == IG_OK ? p.want[c->own] : NULL;
    *out = want && !tensors_equal(c->given, &p.run.got.items[c->own], want, &how);
    portion_close(&p);
    return status;
}

/* The outputs differ, and no value did among many: the first that does alone. */
static ig_status search_alone(comparison *c, message *why) {
    size_t low = 0, high = c->value_count;
    ig_status status = IG_OK;
    while (low < high && status == IG_OK) {
        size_t middle = low + (high - low) / 2;
        bool is_different = false;
        status = differs_alone(c, middle, &is_different, why);
        high = is_different ? middle : high;
        low = is_different ? low : middle + 1;
    }
    if (status == IG_OK && low < c->value_count) {
        c->lone = low;
        status = compare_portion(c, low, 1, why);
    }
    return status;
}

static ig_status compare_own(comparison *c, message *why) {
    portion p = { 0 };
    ig_status status = c->m->module ? run_portion(c, &p, why)
                                    : run_artifact(c, &p, why);
    if (status == IG_OK) {
        c->outputs_different = judge_portion(c, &p, 0, &c->outputs_missing);
    }
    portion_close(&p);
    return status;
}

ig_status compare_values(comparison *c, message *why) {
    json_t *values = c->found, *outputs = need(json_array());
    c->found = outputs; /* told after their sources */
    ig_status status = compare_own(c, why);
    c->found = values;
    for (size_t i = 0; i < c->value_count && !c->different && status == IG_OK;
         i += PORTION) {
        size_t rest = c->value_count - i;
        status = compare_portion(c, i, rest < PORTION ? rest : PORTION, why);
    }
    if (status == IG_OK && c->outputs_different && !c->different && c->value_count) {
        status = search_alone(c, why);
    }
    json_array_extend(c->found, outputs);
    json_decref(outputs);
    return status;
}

int compare_outputs(const comparison *c, const ig_argument *outputs, size_t count) {
    const char **names = need(calloc(c->own + 1, sizeof *names));
    const ig_argument **want = need(calloc(c->own + 1, sizeof(const ig_argument *)));
    ig_module *exposed = NULL;
    message why = { "" };
    for (size_t i = 0; i < c->own; i++) {
        names[i] = model_output_name(c->m, i);
    }
    ig_status status = ig_module_expose(c->m->module, NULL, 0, &exposed);
    request what = { exposed, names, c->own, c->own };
    if (status == IG_OK) {
        status = reference_values(c->against, &what, want, &why);
    }
    bool is_good = count >= c->own;
    for (size_t i = 0; i < c->own && is_good && status == IG_OK; i++) {
        difference how;
        is_good = !want[i] || tensors_equal(c->given, &outputs[i], want[i], &how);
    }
    ig_module_close(exposed);
    free(names);
    free(want);
    return status == IG_OK ? is_good : -1;
}
