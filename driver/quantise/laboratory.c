/* Which layers are quantised, by the effect of each on the model's answers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One module holds every layer twice, and an input says which of the two counts:
 *
 *     %real  = matmul %x, @w
 *     %whole = (the same, quantised)
 *     %y     = where %flag_3, %whole, %real
 *
 * With no flag set, the two results of a layer tell its own error; with one, the
 * model's outputs show the layer's effect on them; with any set of flags, what that set
 * does.  So one compilation serves for all questions.
 */
#include "driver/outputs.h"
#include "driver/quantise/quantise.h"

#include <assert.h>
#include <math.h>

enum { TRIAL_BATCHES = 16 }; /* for questions about sets of layers */

typedef struct laboratory {
    ig_quantized *q;
    quant_runner *runner;
    ig_module *module;
    uint8_t *flags;
    uint32_t *layers; /* those that are on, by number of the flag */
    size_t count;
    quant_error *sums; /* of layers, or of outputs */
    double *harm;      /* by flag; NULL: not asked */
} laboratory;

/* ---- the module ---- */

static ig_value *add_flag(ig_graph *graph, const char **names, const char *name) {
    const ig_type *type = ig_type_tensor(graph->module, IG_DT_bool, 0, NULL);
    ig_value *flag = ig_block_add_arg(&graph->body, type, name);
    names[flag->index] = name;
    return flag;
}

/* Both results of a layer, the quantised one first; its users take the chosen one. */
static void double_layer(ig_quant_inserter *in, uint32_t index, ig_op *op,
                         ig_value *flag, ig_value *out[2]) {
    ig_value *whole = ig_quant_build_layer(in, index, op);
    ig_value *real = op->results;
    if (whole->type != real->type) {
        ig_value_retype(whole, real->type);
    }
    ig_builder b = ig_builder_before(op->next);
    ig_expr e = ig_expr_of(&b);
    ig_op *stand_in = ig_build_where(&e, flag, whole, real)->def;
    ig_value *chosen = stand_in->results;
    if (chosen->type != real->type) {
        ig_value_retype(chosen, real->type);
    }
    ig_value_replace(real, chosen);
    ig_use_set(&stand_in->operands[2], real);
    out[0] = whole;
    out[1] = real;
}

static ig_status build_laboratory(void *arguments) {
    laboratory *lab = arguments;
    const ig_quant_plan *plan = &lab->q->plan;
    lab->module = ig_module_clone(lab->q->base);
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(lab->module);
    ig_arena *arena = &lab->module->arena;
    size_t inputs = graph->body.arg_count;
    const char **arg_names = IG_NEW_ARRAY(arena, const char *, inputs + lab->count);
    for (size_t i = 0; i < inputs; i++) {
        arg_names[i] = ig_module_input_name(lab->module, i);
    }
    ig_op **ops = IG_NEW_ARRAY(arena, ig_op *, lab->count);
    for (size_t i = 0; i < lab->count; i++) {
        ops[i] = ig_quant_op(graph, plan->layers.items[lab->layers[i]].position);
    }
    ig_quant_inserter in = ig_quant_inserter_of(plan, graph, arena);
    ig_value **values = IG_NEW_ARRAY(arena, ig_value *, 2 * lab->count);
    const char **names = IG_NEW_ARRAY(arena, const char *, 2 * lab->count);
    for (size_t i = 0; i < lab->count; i++) {
        const char *name = ig_arena_printf(arena, "layer %zu", i);
        ig_value *flag = add_flag(graph, arg_names, name);
        double_layer(&in, lab->layers[i], ops[i], flag, &values[2 * i]);
        names[2 * i] = ig_arena_printf(arena, "%s quantised", name);
        names[2 * i + 1] = name;
    }
    graph->arg_names = arg_names;
    return ig_graph_return_more(graph, values, names, 2 * lab->count);
}

static ig_status list_layers(void *arguments) {
    laboratory *lab = arguments;
    ig_quantized *q = lab->q;
    size_t all = q->plan.layers.count;
    lab->layers = IG_NEW_ARRAY(&q->arena, uint32_t, all);
    for (uint32_t i = 0; i < all; i++) {
        if (q->plan.layers.items[i].is_on) {
            lab->layers[lab->count++] = i;
        }
    }
    size_t sums = all + q->output_count;
    lab->flags = IG_NEW_ARRAY(&q->arena, uint8_t, all);
    lab->harm = IG_NEW_ARRAY(&q->arena, double, all);
    lab->sums = IG_NEW_ARRAY(&q->arena, quant_error, sums);
    return IG_OK;
}

/* ---- measures ---- */

static void add_outputs(const ig_quantized *q, const quant_runner *runner, size_t batch,
                        quant_error *sums) {
    for (size_t o = 0; o < q->output_count; o++) {
        const quant_values *wanted = &q->wanted[batch * q->output_count + o];
        const ig_argument *got = &runner->outputs[o];
        size_t count = q->is_real[o] ? wanted->count : 0;
        assert((!count || quant_count(got) == count) && "a batch has one shape");
        for (size_t i = 0; i < count; i++) {
            quant_error_add(&sums[o], (double)wanted->items[i], quant_number(got, i));
        }
    }
}

static double largest_rms(const ig_quantized *q, const quant_error *sums) {
    double largest = 0;
    for (size_t o = 0; o < q->output_count; o++) {
        double rms = q->is_real[o] ? quant_error_of(&sums[o]).rms : 0;
        largest = rms > largest || isnan(rms) ? rms : largest;
    }
    return isnan(largest) ? (double)INFINITY : largest;
}

/* Of the model's outputs with the flags as they are. */
static ig_status measure_flags(laboratory *lab, double *out_rms) {
    ig_quantized *q = lab->q;
    size_t batches = q->batch_count < TRIAL_BATCHES ? q->batch_count : TRIAL_BATCHES;
    for (size_t o = 0; o < q->output_count; o++) {
        lab->sums[o] = (quant_error){ 0 };
    }
    for (size_t b = 0; b < batches; b++) {
        IG_TRY(quant_run(lab->runner, b, lab->flags, lab->count));
        add_outputs(q, lab->runner, b, lab->sums);
    }
    *out_rms = largest_rms(q, lab->sums);
    return IG_OK;
}

static void add_layer(const laboratory *lab, size_t i) {
    const ig_argument *pair = &lab->runner->outputs[lab->q->output_count + 2 * i];
    size_t count = quant_count(&pair[1]);
    for (size_t k = 0; k < count; k++) {
        quant_error_add(&lab->sums[i], quant_number(&pair[1], k),
                        quant_number(&pair[0], k));
    }
}

/* Each layer's own error, with real inputs. */
static ig_status measure_layers(laboratory *lab) {
    ig_quantized *q = lab->q;
    for (size_t b = 0; b < q->batch_count; b++) {
        ig_context_progress(q->context, "measure layers", b, q->batch_count);
        IG_TRY(quant_run(lab->runner, b, lab->flags, lab->count));
        for (size_t i = 0; i < lab->count; i++) {
            add_layer(lab, i);
        }
    }
    for (size_t i = 0; i < lab->count; i++) {
        q->layers[lab->layers[i]].error = quant_error_of(&lab->sums[i]);
    }
    return IG_OK;
}

static ig_status measure_harm(laboratory *lab) {
    ig_quantized *q = lab->q;
    for (size_t i = 0; i < lab->count; i++) {
        ig_context_progress(q->context, "measure outputs", i, lab->count);
        lab->flags[i] = 1;
        IG_TRY(measure_flags(lab, &lab->harm[i]));
        lab->flags[i] = 0;
        q->layers[lab->layers[i]].output_rms = lab->harm[i];
    }
    return IG_OK;
}

/* ---- the choice ---- */

static void turn_off(ig_quantized *q, uint32_t index) {
    q->plan.layers.items[index].is_on = false;
    q->plan.layers.items[index].why = "it makes the error of an output too large";
}

bool quant_drop_worst(ig_quantized *q) {
    uint32_t worst = UINT32_MAX;
    for (uint32_t i = 0; i < q->plan.layers.count; i++) {
        bool is_worse = worst == UINT32_MAX ||
                        q->layers[i].output_rms > q->layers[worst].output_rms;
        if (q->plan.layers.items[i].is_on && is_worse) {
            worst = i;
        }
    }
    if (worst != UINT32_MAX) {
        turn_off(q, worst);
    }
    return worst != UINT32_MAX;
}

/* Flags of all but the `dropped` that hurt most alone. */
static void flag_all_but(laboratory *lab, size_t dropped) {
    for (size_t i = 0; i < lab->count; i++) {
        size_t worse = 0;
        for (size_t k = 0; k < lab->count; k++) {
            worse += lab->harm[k] > lab->harm[i] ||
                     (lab->harm[k] == lab->harm[i] && k < i);
        }
        lab->flags[i] = worse >= dropped;
    }
}

/* The fewest layers to drop, as errors fall with the number of them. */
static ig_status choose_layers(laboratory *lab) {
    ig_quantized *q = lab->q;
    size_t min = 0, max = lab->count;
    while (min < max) {
        size_t middle = min + (max - min) / 2;
        double rms;
        ig_context_progress(q->context, "choose layers", 0, 0);
        flag_all_but(lab, middle);
        IG_TRY(measure_flags(lab, &rms));
        min = rms <= q->options.max_error ? min : middle + 1;
        max = rms <= q->options.max_error ? middle : max;
    }
    flag_all_but(lab, min);
    for (size_t i = 0; i < lab->count; i++) {
        if (!lab->flags[i]) {
            turn_off(q, lab->layers[i]);
        }
    }
    return IG_OK;
}

static ig_status work_in(laboratory *lab) {
    ig_context *context = lab->q->context;
    IG_TRY(ig_driver_guard(context, list_layers, lab));
    IG_TRY(ig_driver_guard(context, build_laboratory, lab));
    IG_TRY(quant_open(lab->runner, lab->q, lab->module));
    IG_TRY(measure_layers(lab));
    if (lab->q->options.max_error <= 0) {
        return IG_OK;
    }
    IG_TRY(measure_harm(lab));
    return choose_layers(lab);
}

ig_status quant_try_layers(ig_quantized *q) {
    quant_runner runner = { 0 };
    laboratory lab = { .q = q, .runner = &runner };
    ig_status status = work_in(&lab);
    if (lab.module && !runner.module) {
        ig_module_close(lab.module);
    }
    quant_close(&runner);
    return status;
}

/* ---- the result ---- */

typedef struct measure_call {
    ig_quantized *q;
    quant_error *sums;
    double *scores, *wanted, *labels;
    size_t *order, count;
} measure_call;

static ig_status make_sums(void *arguments) {
    measure_call *call = arguments;
    ig_quantized *q = call->q;
    size_t labels = 0;
    call->sums = IG_NEW_ARRAY(&q->arena, quant_error, q->output_count);
    for (size_t b = 0; b < q->batch_count; b++) {
        const ig_argument *of = q->batches[b].labels;
        labels += of ? quant_count(of) : 0;
    }
    call->scores = IG_NEW_ARRAY(&q->arena, double, labels);
    call->wanted = IG_NEW_ARRAY(&q->arena, double, labels);
    call->labels = IG_NEW_ARRAY(&q->arena, double, labels);
    call->order = IG_NEW_ARRAY(&q->arena, size_t, labels);
    return IG_OK;
}

/* The last of each row of the first output is the score: "not, yes", or "yes". */
static void add_scores(measure_call *call, const quant_runner *runner, size_t batch) {
    const ig_quantized *q = call->q;
    const ig_argument *labels = q->batches[batch].labels;
    size_t count = labels ? quant_count(labels) : 0;
    const quant_values *wanted = &q->wanted[batch * q->output_count];
    size_t per = count ? wanted->count / count : 0;
    for (size_t i = 0; i < count && per; i++, call->count++) {
        size_t at = i * per + per - 1;
        call->labels[call->count] = quant_number(labels, i);
        call->wanted[call->count] = (double)wanted->items[at];
        call->scores[call->count] = quant_number(&runner->outputs[0], at);
    }
}

static ig_status build_result(void *arguments) {
    laboratory *lab = arguments;
    lab->module = ig_module_clone(lab->q->base);
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(lab->module);
    ig_quant_replace_layers(&lab->q->plan, graph, &lab->module->arena);
    return IG_OK;
}

static ig_status run_result(measure_call *call, quant_runner *runner) {
    ig_quantized *q = call->q;
    for (size_t b = 0; b < q->batch_count; b++) {
        ig_context_progress(q->context, "measure the result", b, q->batch_count);
        IG_TRY(quant_run(runner, b, NULL, 0));
        add_outputs(q, runner, b, call->sums);
        add_scores(call, runner, b);
    }
    return IG_OK;
}

static void note_result(const measure_call *call, double *out_rms) {
    ig_quantized *q = call->q;
    size_t at = 0;
    for (size_t o = 0; o < q->output_count; o++) {
        if (q->is_real[o]) {
            q->outputs[at++].error = quant_error_of(&call->sums[o]);
        }
    }
    q->report.auc = ig_metric_auc(call->wanted, call->labels, call->order, call->count);
    q->report.quantized_auc = ig_metric_auc(call->scores, call->labels, call->order,
                                            call->count);
    *out_rms = largest_rms(q, call->sums);
}

ig_status quant_measure(ig_quantized *q, double *out_rms) {
    quant_runner runner = { 0 };
    laboratory lab = { .q = q };
    measure_call call = { .q = q };
    IG_TRY(ig_driver_guard(q->context, make_sums, &call));
    ig_status status = ig_driver_guard(q->context, build_result, &lab);
    if (status != IG_OK) {
        ig_module_close(lab.module);
        return status;
    }
    status = quant_open(&runner, q, lab.module);
    status = status == IG_OK ? run_result(&call, &runner) : status;
    quant_close(&runner);
    if (status == IG_OK) {
        note_result(&call, out_rms);
    }
    return status;
}
