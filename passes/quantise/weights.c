/* Weights as integers, and activations smoothed into them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A channel of an activation that is large now and then takes the steps of all others.
 * Smoothing divides it by s, and multiplies the weights that meet it by s (G. Xiao et
 * al., "SmoothQuant", ICML 2023, equation 4):
 *
 *     s = max |x| ^ smoothing / max |w| ^ (1 - smoothing)      of that channel
 *
 * All layers that read an activation share its factors.
 */
#include "passes/quantise/quantise.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- channels of a weight ---- */

/* Elements from one index of the axis to the next. */
static int64_t axis_stride(const ig_tensor *x, uint32_t axis) {
    int64_t stride = 1;
    for (uint32_t d = axis + 1; d < x->rank; d++) {
        stride *= x->dims[d];
    }
    return stride;
}

static int64_t index_on(const ig_tensor *x, uint32_t axis, int64_t stride, int64_t i) {
    assert(axis < x->rank && "an axis of the tensor");
    return i / stride % x->dims[axis];
}

static bool is_grouped(const ig_quant_plan *plan, const ig_quant_layer *layer) {
    return plan->activations.items[layer->activation].channels !=
           layer->weight.dims[layer->in_axis];
}

/* ---- smoothing ---- */

/* Largest |w| of each channel that layers read, over all layers of an activation; false
 * where one of them reads its channels in groups, or none is there. */
static bool find_largest(const ig_quant_plan *plan, size_t index, double *largest) {
    bool is_read = false;
    for (size_t i = 0; i < plan->layers.count; i++) {
        const ig_quant_layer *layer = &plan->layers.items[i];
        if (!layer->is_on || layer->activation != index) {
            continue;
        }
        if (is_grouped(plan, layer)) {
            return false;
        }
        is_read = true;
        const float *w = layer->weight.data;
        int64_t stride = axis_stride(&layer->weight, layer->in_axis);
        for (int64_t k = 0; k < layer->weight.count; k++) {
            int64_t c = index_on(&layer->weight, layer->in_axis, stride, k);
            largest[c] = fmax(largest[c], fabs((double)w[k]));
        }
    }
    return is_read;
}

static float choose_factor(double smoothing, double x, double w) {
    double by = x > 0 && w > 0 ? pow(w, 1 - smoothing) / pow(x, smoothing) : 1;
    return (float)fmin(fmax(by, 1e-4), 1e4);
}

static void smooth_activation(ig_quant_plan *plan, size_t index, ig_arena *arena) {
    ig_quant_activation *x = &plan->activations.items[index];
    size_t channels = (size_t)x->channels;
    double *largest = IG_NEW_ARRAY(arena, double, channels), low = 0, high = 0;
    if (!find_largest(plan, index, largest)) {
        return;
    }
    x->factors = IG_NEW_ARRAY(arena, float, channels);
    for (size_t c = 0; c < channels; c++) {
        double max = fmax(fabs((double)x->lows[c]), fabs((double)x->highs[c]));
        x->factors[c] = choose_factor(plan->options.smoothing, max, largest[c]);
        low = fmin(low, (double)x->lows[c] * (double)x->factors[c]);
        high = fmax(high, (double)x->highs[c] * (double)x->factors[c]);
    }
    x->low = low;
    x->high = high;
}

void ig_quant_smooth(ig_quant_plan *plan, ig_arena *arena) {
    for (size_t i = 0; i < plan->activations.count; i++) {
        if (plan->activations.items[i].lows && plan->activations.items[i].is_seen) {
            smooth_activation(plan, i, arena);
        }
    }
}

/* ---- codes ---- */

/* The weight's element, times the divisor of the activation's channel. */
static double weight_at(const ig_quant_layer *layer, const float *factors,
                        int64_t in_stride, int64_t i) {
    double w = (double)((const float *)layer->weight.data)[i];
    return factors
               ? w / (double)
                         factors[index_on(&layer->weight, layer->in_axis, in_stride, i)]
               : w;
}

static ig_quant_grid weight_grid(const ig_quant_options *options, double low,
                                 double high) {
    int32_t max = options->weight_bits == 7 ? 63 : INT8_MAX;
    return options->has_unsigned_weights
               ? ig_quant_grid_of(low, high, 0, 2 * max + 1, false)
               : ig_quant_grid_of(low, high, -max, max, true);
}

static void round_weights(ig_quant_layer *layer, ig_arena *arena) {
    const ig_tensor *weight = &layer->weight;
    ig_tensor rounded = *weight;
    layer->codes = ig_arena_alloc(arena, (size_t)weight->count * sizeof(uint16_t));
    rounded.dtype = IG_DT_bf16;
    rounded.data = layer->codes;
    for (int64_t i = 0; i < weight->count; i++) {
        ig_tensor_set_f64(&rounded, i, ig_tensor_get_f64(weight, i));
    }
}

void ig_quant_weights(const ig_quant_plan *plan, ig_quant_layer *layer,
                      ig_arena *arena) {
    if (plan->options.is_bf16) {
        round_weights(layer, arena);
        return;
    }
    const ig_quant_options *options = &plan->options;
    const float *factors = plan->activations.items[layer->activation].factors;
    const ig_tensor *weight = &layer->weight;
    int64_t in_stride = axis_stride(weight, layer->in_axis);
    int64_t out_stride = axis_stride(weight, layer->out_axis);
    size_t count = options->has_one_scale ? 1 : (size_t)layer->channels;
    double *lows = IG_NEW_ARRAY(arena, double, count);
    double *highs = IG_NEW_ARRAY(arena, double, count);
    ig_quant_grid *grids = IG_NEW_ARRAY(arena, ig_quant_grid, count);
    for (int64_t i = 0; i < weight->count; i++) {
        int64_t c = index_on(weight, layer->out_axis, out_stride, i) % (int64_t)count;
        double w = weight_at(layer, factors, in_stride, i);
        lows[c] = fmin(lows[c], w);
        highs[c] = fmax(highs[c], w);
    }
    layer->scale_count = (uint32_t)count;
    layer->scales = IG_NEW_ARRAY(arena, float, count);
    layer->zeros = options->has_unsigned_weights ? IG_NEW_ARRAY(arena, uint8_t, count)
                                                 : NULL;
    layer->codes = IG_NEW_ARRAY(arena, uint8_t, (size_t)weight->count);
    for (size_t c = 0; c < count; c++) {
        grids[c] = weight_grid(options, lows[c], highs[c]);
        layer->scales[c] = grids[c].scale;
        if (layer->zeros) {
            layer->zeros[c] = (uint8_t)grids[c].zero;
        }
    }
    for (int64_t i = 0; i < weight->count; i++) {
        int64_t c = index_on(weight, layer->out_axis, out_stride, i) % (int64_t)count;
        double w = weight_at(layer, factors, in_stride, i);
        layer->codes[i] = (uint8_t)ig_quant_code(&grids[c], w);
    }
}
