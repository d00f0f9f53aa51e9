/* Calibration: the values that layers read, and the model's answers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A copy of the model gives what layers read as further outputs.  A first run over the
 * batches finds their ends (and those of each channel, which smoothing asks for), a
 * second one counts them between these ends, where the method looks at how they are
 * spread.
 */
#include "driver/outputs.h"
#include "driver/quantise/quantise.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct calibration {
    ig_quantized *q;
    quant_runner *runner;
    ig_module *module;
    size_t batch;
    bool is_counting; /* the second run */
} calibration;

static bool is_needed(const ig_quantized *q, size_t activation) {
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        const ig_quant_layer *layer = &q->plan.layers.items[i];
        if (layer->is_on && layer->activation == activation) {
            return true;
        }
    }
    return false;
}

/* ---- the copy ---- */

static ig_status expose_activations(void *arguments) {
    calibration *c = arguments;
    size_t count = c->q->plan.activations.count;
    c->module = ig_module_clone(c->q->base);
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(c->module);
    ig_arena *arena = &c->module->arena;
    ig_value **values = IG_NEW_ARRAY(arena, ig_value *, count);
    const char **names = IG_NEW_ARRAY(arena, const char *, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = ig_quant_value(graph, &c->q->plan.activations.items[i]);
        names[i] = ig_arena_printf(arena, "activation %zu", i);
    }
    return ig_graph_return_more(graph, values, names, count);
}

/* ---- inputs ---- */

static bool is_float(const ig_argument *x) {
    return x->kind == IG_ARGUMENT_TENSOR && x->dtype &&
           (x->dtype[0] == 'f' || strcmp(x->dtype, "bf16") == 0);
}

static ig_status check_input(const calibration *c, const ig_quantize_batch *batch,
                             size_t input) {
    const ig_argument *x = &batch->inputs[input];
    ig_location where = { .file = batch->name ? batch->name : "calibration data" };
    size_t count = is_float(x) ? quant_count(x) : 0;
    for (size_t i = 0; i < count; i++) {
        double value = quant_number(x, i);
        if (!isfinite(value)) {
            return ig_error_hint(&c->q->context->diag, IG_INVALID, &where,
                                 "give samples as the model will meet them",
                                 "input '%s' holds %s at element %zu: no range can be "
                                 "chosen from that",
                                 ig_module_input_name(c->q->base, input),
                                 isnan(value) ? "NaN" : "an infinity", i);
        }
    }
    return IG_OK;
}

static ig_status check_inputs(void *arguments) {
    calibration *c = arguments;
    for (size_t b = 0; b < c->q->batch_count; b++) {
        for (size_t i = 0; i < c->q->batches[b].input_count; i++) {
            IG_TRY(check_input(c, &c->q->batches[b], i));
        }
    }
    return IG_OK;
}

/* ---- observed values ---- */

static const float *reals_of(const ig_argument *x) {
    assert(strcmp(x->dtype, "f32") == 0 && "layers read f32");
    return x->data;
}

static void see_ends(ig_quant_activation *a, const float *x, size_t count) {
    double low = a->low, high = a->high;
    bool is_finite = true;
    for (size_t i = 0; i < count; i++) {
        double value = (double)x[i];
        is_finite = is_finite && isfinite(value);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    a->low = low;
    a->high = high;
    a->is_seen = a->is_seen && is_finite;
}

/* Elements of one channel are `stride` apart from the next channel's. */
static size_t channel_stride(const ig_quant_activation *a, const ig_argument *x) {
    size_t stride = 1;
    for (uint32_t d = a->axis + 1; d < x->rank; d++) {
        stride *= (size_t)x->dims[d];
    }
    return stride;
}

static void see_channels(ig_quant_activation *a, const ig_argument *from,
                         const float *x, size_t count) {
    size_t stride = channel_stride(a, from), channels = (size_t)a->channels;
    for (size_t i = 0; i < count; i++) {
        size_t c = i / stride % channels;
        a->lows[c] = fminf(a->lows[c], x[i]);
        a->highs[c] = fmaxf(a->highs[c], x[i]);
    }
}

static void count_values(ig_quant_activation *a, const ig_argument *from,
                         const float *x, size_t count) {
    ig_histogram *h = a->counts;
    size_t stride = channel_stride(a, from), channels = (size_t)a->channels;
    double by = IG_QUANT_BINS / (h->high - h->low);
    for (size_t i = 0; i < count; i++) {
        double value = (double)x[i];
        if (a->factors) {
            value *= (double)a->factors[i / stride % channels];
        }
        double bin = (value - h->low) * by;
        h->bins[(int)fmin(fmax(bin, 0), IG_QUANT_BINS - 1)]++;
    }
}

static void see_activation(const calibration *c, size_t index) {
    ig_quant_activation *a = &c->q->plan.activations.items[index];
    const ig_argument *from = &c->runner->outputs[c->q->output_count + index];
    size_t count = quant_count(from);
    const float *x = reals_of(from);
    if (c->is_counting) {
        if (a->counts) {
            count_values(a, from, x, count);
        }
        return;
    }
    see_ends(a, x, count);
    if (a->lows) {
        see_channels(a, from, x, count);
    }
}

/* ---- the model's answers ---- */

static void keep_answers(const calibration *c) {
    ig_quantized *q = c->q;
    for (size_t o = 0; o < q->output_count; o++) {
        const ig_argument *from = &c->runner->outputs[o];
        quant_values *to = &q->wanted[c->batch * q->output_count + o];
        if (!q->is_real[o]) {
            continue;
        }
        to->count = quant_count(from);
        to->items = ig_arena_array(&q->arena, to->count, sizeof *to->items);
        for (size_t i = 0; i < to->count; i++) {
            to->items[i] = (float)quant_number(from, i);
        }
    }
}

static ig_status see_batch(void *arguments) {
    calibration *c = arguments;
    if (!c->is_counting) {
        keep_answers(c);
    }
    for (size_t i = 0; i < c->q->plan.activations.count; i++) {
        see_activation(c, i);
    }
    return IG_OK;
}

static ig_status see_batches(calibration *c) {
    ig_quantized *q = c->q;
    for (c->batch = 0; c->batch < q->batch_count; c->batch++) {
        ig_context_progress(q->context, c->is_counting ? "count values" : "find ranges",
                            c->batch, q->batch_count);
        IG_TRY(quant_run(c->runner, c->batch, NULL, 0));
        IG_TRY(ig_driver_guard(q->context, see_batch, c));
    }
    return IG_OK;
}

/* ---- conclusions ---- */

static ig_status begin_activations(void *arguments) {
    calibration *c = arguments;
    ig_quantized *q = c->q;
    q->wanted = IG_NEW_ARRAY(&q->arena, quant_values, q->batch_count * q->output_count);
    for (size_t i = 0; i < q->plan.activations.count; i++) {
        ig_quant_activation *a = &q->plan.activations.items[i];
        a->is_seen = true;
        if (q->plan.options.smoothing > 0) {
            a->lows = IG_NEW_ARRAY(&q->arena, float, (size_t)a->channels);
            a->highs = IG_NEW_ARRAY(&q->arena, float, (size_t)a->channels);
        }
    }
    return IG_OK;
}

/* Layers whose values are not finite stay as they are; then smoothing. */
static ig_status settle_ends(void *arguments) {
    calibration *c = arguments;
    ig_quantized *q = c->q;
    for (size_t i = 0; i < q->plan.layers.count; i++) {
        ig_quant_layer *layer = &q->plan.layers.items[i];
        if (layer->is_on && !q->plan.activations.items[layer->activation].is_seen) {
            layer->is_on = false;
            layer->why = "its input is NaN or infinite for some of the data";
        }
    }
    if (q->plan.options.smoothing > 0) {
        ig_quant_smooth(&q->plan, &q->arena);
    }
    bool has_counts = q->plan.options.method != IG_QUANT_MIN_MAX &&
                      !q->plan.options.is_dynamic;
    for (size_t i = 0; i < q->plan.activations.count && has_counts; i++) {
        ig_quant_activation *a = &q->plan.activations.items[i];
        if (a->is_seen && a->high - a->low > DBL_MIN && is_needed(q, i)) {
            a->counts = IG_NEW(&q->arena, ig_histogram);
            a->counts->low = a->low;
            a->counts->high = a->high;
            c->is_counting = true;
        }
    }
    return IG_OK;
}

static ig_status run_all(calibration *c) {
    ig_context *context = c->q->context;
    IG_TRY(ig_driver_guard(context, expose_activations, c));
    IG_TRY(quant_open(c->runner, c->q, c->module));
    IG_TRY(see_batches(c));
    IG_TRY(ig_driver_guard(context, settle_ends, c));
    return c->is_counting ? see_batches(c) : IG_OK;
}

ig_status quant_calibrate(ig_quantized *q) {
    quant_runner runner = { 0 };
    calibration c = { .q = q, .runner = &runner };
    IG_TRY(ig_driver_guard(q->context, check_inputs, &c));
    IG_TRY(ig_driver_guard(q->context, begin_activations, &c));
    ig_status status = run_all(&c);
    if (c.module && !runner.module) {
        ig_module_close(c.module);
    }
    quant_close(&runner);
    return status;
}
