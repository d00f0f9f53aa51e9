/* Quantising a model: the public functions, and the order of the steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/quantise/quantise.h"

#include "driver/compile/compile.h"
#include "frontend/onnx/edit/edit.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

_Static_assert((int)IG_QUANTIZE_MIN_MAX == (int)IG_QUANT_MIN_MAX &&
                   (int)IG_QUANTIZE_PERCENTILE == (int)IG_QUANT_PERCENTILE &&
                   (int)IG_QUANTIZE_MSE == (int)IG_QUANT_MSE &&
                   (int)IG_QUANTIZE_ENTROPY == (int)IG_QUANT_ENTROPY,
               "the same methods");

/* ---- requests ---- */

static ig_status refuse_option(const ig_quantized *q, const char *what) {
    return ig_error(&q->context->diag, IG_INVALID, NULL, "quantize: %s", what);
}

static ig_status take_options(ig_quantized *q) {
    const ig_quantize_options *from = &q->options;
    ig_quant_options *to = &q->plan.options;
    *to = (ig_quant_options){
        .method = (ig_quant_method)from->method,
        .percentile = from->percentile > 0 ? from->percentile : 99.99,
        .is_bf16 = from->to_bf16 != 0,
        .is_dynamic = from->is_dynamic != 0 || from->to_bf16 != 0, /* has no ranges */
        .has_signed_values = from->signed_values != 0,
        .has_one_scale = from->per_tensor != 0,
        .has_unsigned_weights = from->unsigned_weights != 0,
        .weight_bits = from->weight_bits ? from->weight_bits : 8,
        .smoothing = from->smoothing,
    };
    ig_options_take(q->context, &q->compile, sizeof q->compile, from->compile);
    IG_TRY(ig_options_check(q->context));
    if ((int)from->method < 0 || from->method > IG_QUANTIZE_ENTROPY) {
        return refuse_option(q, "there is no such method");
    }
    if (!(to->percentile <= 100)) {
        return refuse_option(q, "a percentile is at most 100");
    }
    if (to->weight_bits != 7 && to->weight_bits != 8) {
        return refuse_option(q, "weights have 7 or 8 bits");
    }
    if (!(to->smoothing >= 0 && to->smoothing <= 1)) {
        return refuse_option(q, "smoothing is a number between 0 and 1");
    }
    bool has_scales = from->is_dynamic || to->has_signed_values || to->has_one_scale ||
                      to->has_unsigned_weights || from->weight_bits ||
                      to->smoothing > 0;
    if (to->is_bf16 && (has_scales || from->only_onnx)) {
        return refuse_option(
            q, from->only_onnx ? "a model rounded to bf16 cannot be written as ONNX"
                               : "bf16 has neither scales nor ranges to choose");
    }
    bool needs_data = !to->is_dynamic || to->smoothing > 0 || from->max_error > 0;
    return needs_data && q->batch_count == 0
               ? refuse_option(q, "there is no calibration data")
               : IG_OK;
}

/* ---- layers ---- */

static bool is_skipped(const ig_quantized *q, const char *name) {
    for (size_t i = 0; i < q->options.skip_count; i++) {
        if (fnmatch(q->options.skip[i], name, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Can Q and DQ surround the node that a layer was made of? */
static bool is_onnx_node(const ig_location *where) {
    static const char *const ops[] = { "MatMul", "Gemm", "Conv" };
    for (size_t i = 0; i < IG_COUNT_OF(ops) && where->op && !where->graph; i++) {
        if (strcmp(where->op, ops[i]) == 0) {
            return where->node_id > 0;
        }
    }
    return false;
}

static void turn_layer_off(ig_quant_layer *layer, const char *why) {
    layer->is_on = false;
    layer->why = why;
}

/* Patterns that fit nothing were mistyped. */
static ig_status check_skips(const ig_quantized *q) {
    for (size_t s = 0; s < q->options.skip_count; s++) {
        bool is_used = false;
        for (size_t i = 0; i < q->plan.layers.count && !is_used; i++) {
            is_used = fnmatch(q->options.skip[s], q->plan.layers.items[i].name, 0) == 0;
        }
        if (!is_used) {
            return ig_error(&q->context->diag, IG_INVALID, NULL,
                            "no layer is called '%s', which was to be skipped",
                            q->options.skip[s]);
        }
    }
    return IG_OK;
}

static ig_status choose_layers(ig_quantized *q) {
    size_t on = 0;
    IG_TRY(check_skips(q));
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        ig_quant_layer *layer = &q->plan.layers.items[i];
        if (layer->is_on && is_skipped(q, layer->name)) {
            turn_layer_off(layer, "it was to be skipped");
        }
        const ig_location *where = &q->base->locations.items[layer->loc];
        if (layer->is_on && q->options.only_onnx && !is_onnx_node(where)) {
            turn_layer_off(layer, "its node cannot be quantised in ONNX");
        }
        on += layer->is_on;
    }
    ig_location where = { .file = q->base->path };
    return on ? IG_OK
              : ig_error(
                    &q->context->diag, IG_UNSUPPORTED, &where,
                    "there is nothing to quantise: none of %zu products and convolutions with constant weights can be quantised",
                    q->plan.layers.count);
}

/* ---- the report ---- */

static void describe_layer(const ig_quantized *q, size_t i) {
    const ig_quant_layer *from = &q->plan.layers.items[i];
    const ig_location *where = &q->base->locations.items[from->loc];
    ig_quantize_layer *to = &q->layers[i];
    double none = (double)NAN;
    *to = (ig_quantize_layer){ .name = from->name,
                               .op = where->op       ? where->op
                                     : from->is_conv ? "conv"
                                                     : "matmul",
                               .error = { none, none, none },
                               .output_rms = none,
                               .low = none,
                               .high = none,
                               .scale = none,
                               .weights = from->weight.count };
}

static void describe_outputs(ig_quantized *q) {
    const ig_op *ret = ig_entry_of(q->base)->body.last;
    double none = (double)NAN;
    q->is_real = IG_NEW_ARRAY(&q->arena, bool, q->output_count);
    q->outputs = IG_NEW_ARRAY(&q->arena, ig_quantize_output, q->output_count);
    for (size_t o = 0; o < q->output_count; o++) {
        const ig_type *type = ret->operands[o].value->type;
        q->is_real[o] = type->kind == IG_TENSOR &&
                        ig_dtype_is_float((ig_dtype)type->dtype);
        if (q->is_real[o]) {
            q->outputs[q->report.output_count++] = (ig_quantize_output){
                .name = ig_module_output_name(q->base, o), .error = { none, none, none }
            };
        }
    }
}

static void settle_report(ig_quantized *q) {
    q->report.quantized_count = 0;
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        const ig_quant_layer *from = &q->plan.layers.items[i];
        ig_quantize_layer *to = &q->layers[i];
        to->is_quantized = from->is_on;
        to->why = from->why ? from->why : "";
        q->report.quantized_count += from->is_on;
        if (from->codes && !q->plan.options.is_dynamic) {
            const ig_quant_activation *x = &q->plan.activations.items[from->activation];
            to->low = x->low;
            to->high = x->high;
            to->scale = (double)x->grid.scale;
            to->zero = x->grid.zero;
        }
    }
    q->report.layers = q->layers;
    q->report.layer_count = q->plan.layers.count;
    q->report.outputs = q->outputs;
    q->report.batch_count = q->batch_count;
    q->report.format = q->plan.options.is_bf16 ? "bf16" : "int8";
}

/* ---- steps ---- */

static ig_status check_labels(const ig_quantized *q) {
    for (size_t b = 0; b < q->batch_count; b++) {
        const ig_argument *labels = q->batches[b].labels;
        if (labels && (labels->kind != IG_ARGUMENT_TENSOR || !q->output_count ||
                       !q->is_real[0])) {
            return refuse_option(q, "labels need a first output of real numbers");
        }
    }
    return IG_OK;
}

static ig_status find_work(void *arguments) {
    ig_quantized *q = arguments;
    const ig_graph *entry = ig_entry_of(q->source);
    if (!entry || !entry->body.last || entry->state_count > 0) {
        ig_location where = { .file = q->source->path };
        return ig_error(&q->context->diag, IG_UNSUPPORTED, &where,
                        "models without a graph, or with state, cannot be quantised");
    }
    IG_TRY(take_options(q));
    q->base = ig_module_clone(q->source);
    ig_pass_options options = { .torch_empty = q->compile.torch_empty,
                                .clamp_ids = q->compile.clamp_ids };
    IG_TRY(ig_passes_run(q->base, &options, ig_pipeline_clean));
    ig_quant_find_layers(ig_entry_of(q->base), &q->arena, &q->plan);
    IG_TRY(choose_layers(q));
    q->output_count = ig_module_output_count(q->base);
    describe_outputs(q);
    q->layers = IG_NEW_ARRAY(&q->arena, ig_quantize_layer, q->plan.layers.count);
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        describe_layer(q, i);
    }
    q->report.auc = q->report.quantized_auc = (double)NAN;
    return check_labels(q);
}

static ig_status make_integers(void *arguments) {
    ig_quantized *q = arguments;
    for (size_t i = 0; i < q->plan.activations.count; i++) {
        ig_quant_activation *x = &q->plan.activations.items[i];
        ig_quant_choose_range(&q->plan.options, x->counts, &x->low, &x->high);
        x->grid = ig_quant_grid_of_values(&q->plan.options, x->low, x->high);
    }
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        ig_context_progress(q->context, "quantise weights", i, q->plan.layers.count);
        IG_TRY(ig_context_poll(q->context));
        if (q->plan.layers.items[i].is_on) {
            ig_quant_weights(&q->plan, &q->plan.layers.items[i], &q->arena);
        }
    }
    return IG_OK;
}

/* The result is measured on all the data; layers go until the bound holds there. */
static ig_status measure_result(ig_quantized *q) {
    double rms = 0;
    do {
        IG_TRY(quant_measure(q, &rms));
    } while (q->options.max_error > 0 && rms > q->options.max_error &&
             quant_drop_worst(q));
    return IG_OK;
}

static ig_status run_steps(ig_quantized *q) {
    IG_TRY(ig_driver_guard(q->context, find_work, q));
    if (q->batch_count) {
        IG_TRY(quant_calibrate(q));
    }
    IG_TRY(ig_driver_guard(q->context, make_integers, q));
    if (q->batch_count) {
        IG_TRY(quant_try_layers(q));
        IG_TRY(measure_result(q));
    }
    settle_report(q);
    q->batches = NULL;
    return IG_OK;
}

/* ---- the public functions ---- */

ig_status ig_quantize(ig_module *module, const ig_quantize_batch *batches,
                      size_t batch_count, const ig_quantize_options *options,
                      ig_quantized **out_made) {
    *out_made = NULL;
    ig_arena arena;
    ig_arena_init(&arena, &module->context->budget);
    ig_quantized *q = ig_arena_try_alloc(&arena, sizeof *q);
    if (!q) {
        return IG_LIMIT;
    }
    *q = (ig_quantized){ .context = module->context,
                         .source = module,
                         .arena = arena,
                         .batches = batches,
                         .batch_count = batch_count };
    ig_options_take(q->context, &q->options, sizeof q->options, options);
    ig_status status = run_steps(q);
    if (status == IG_OK) {
        *out_made = q;
    } else {
        ig_quantized_close(q);
    }
    return ig_driver_settle(module->context, status);
}

void ig_quantized_get_report(const ig_quantized *made, ig_quantize_report *out_report) {
    size_t size = out_report->size;
    ig_quantize_report all = made->report;
    all.size = size;
    memcpy(out_report, &all, size < sizeof all ? size : sizeof all);
}

typedef struct module_call {
    ig_quantized *q;
    ig_module *module;
} module_call;

static ig_status build_module(void *arguments) {
    module_call *call = arguments;
    call->module = ig_module_clone(call->q->base);
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(call->module);
    ig_quant_replace_layers(&call->q->plan, graph, &call->module->arena);
    return ig_passes_run(call->module, &(ig_pass_options){ 0 }, "dce");
}

ig_status ig_quantized_module(ig_quantized *made, ig_module **out_module) {
    module_call call = { .q = made };
    ig_status status = ig_driver_guard(made->context, build_module, &call);
    if (status != IG_OK) {
        ig_module_close(call.module);
    }
    *out_module = status == IG_OK ? call.module : NULL;
    return ig_driver_settle(made->context, status);
}

void ig_quantized_close(ig_quantized *made) {
    if (!made) {
        return;
    }
    ig_module_destroy(made->file);
    ig_module_close(made->base);
    ig_arena arena = made->arena;
    ig_arena_fini(&arena);
}
