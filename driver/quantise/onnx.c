/* The quantised model as ONNX.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/quantise/quantise.h"

#include "frontend/onnx/edit/edit.h"

#include <stdlib.h>
#include <string.h>

typedef struct onnx_call {
    ig_quantized *q;
    const char *path;
    ig_onnx_layer *layers;
    size_t count;
    ig_str text;
} onnx_call;

static int compare_nodes(const void *a, const void *b) {
    size_t x = ((const ig_onnx_layer *)a)->node, y = ((const ig_onnx_layer *)b)->node;
    return (x > y) - (x < y);
}

static ig_onnx_layer layer_of(const ig_quantized *q, const ig_quant_layer *from) {
    const ig_location *where = &q->base->locations.items[from->loc];
    ig_onnx_layer layer = { .node = where->node_id - 1u,
                            .rounding = from->activation,
                            .codes = from->weight,
                            .is_turned = !from->is_conv && from->out_axis == 0,
                            .scales = from->scales,
                            .zeros = from->zeros,
                            .count = from->scale_count };
    layer.codes.dtype = from->zeros ? IG_DT_u8 : IG_DT_i8;
    layer.codes.data = from->codes;
    return layer;
}

static ig_onnx_rounding rounding_of(const ig_quantized *q, size_t index) {
    const ig_quant_activation *from = &q->plan.activations.items[index];
    const ig_value *value = ig_quant_value(ig_entry_of(q->base), from);
    return (ig_onnx_rounding){ .scale = from->grid.scale,
                               .zero = from->grid.zero,
                               .is_signed = from->grid.min < 0,
                               .factors = from->factors,
                               .channels = from->channels,
                               .axes_after = value->type->rank - 1u - from->axis };
}

/* Nodes of one op (equal ones) are quantised once. */
static void list_layers(onnx_call *call) {
    const ig_quant_plan *plan = &call->q->plan;
    call->layers = IG_NEW_ARRAY(&call->q->arena, ig_onnx_layer, plan->layers.count);
    for (size_t i = 0; i < plan->layers.count; i++) {
        if (plan->layers.items[i].is_on) {
            call->layers[call->count++] = layer_of(call->q, &plan->layers.items[i]);
        }
    }
    if (call->count) {
        qsort(call->layers, call->count, sizeof *call->layers, compare_nodes);
    }
}

static ig_status write_model(void *arguments) {
    onnx_call *call = arguments;
    ig_quantized *q = call->q;
    size_t count = q->plan.activations.count;
    ig_location where = { .file = call->path };
    if (!q->options.only_onnx || strcmp(ig_model_format(call->path), "onnx") != 0) {
        return ig_error(&q->context->diag, IG_UNSUPPORTED, &where,
                        "the quantised model cannot be written as ONNX (only_onnx)");
    }
    ig_onnx_rounding *roundings = IG_NEW_ARRAY(&q->arena, ig_onnx_rounding, count);
    for (size_t i = 0; i < count; i++) {
        roundings[i] = rounding_of(q, i);
    }
    list_layers(call);
    ig_onnx_quantising how = { .layers = call->layers,
                               .layer_count = call->count,
                               .roundings = roundings,
                               .rounding_count = count,
                               .is_dynamic = q->plan.options.is_dynamic };
    ig_module_destroy(q->file);
    q->file = NULL;
    return ig_onnx_quantise(q->context, call->path, &how, &q->file, &call->text);
}

ig_status ig_quantized_onnx(ig_quantized *made, const char *path,
                            const void **out_bytes, size_t *out_size) {
    onnx_call call = { .q = made, .path = path };
    ig_status status = ig_driver_guard(made->context, write_model, &call);
    *out_bytes = status == IG_OK ? call.text.data : NULL;
    *out_size = status == IG_OK ? call.text.size : 0;
    return ig_driver_settle(made->context, status);
}
