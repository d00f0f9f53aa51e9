/* Which ops of a graph can be quantised.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/quantise/quantise.h"

#include "ir/dim/handle.h"
#include "passes/engine/known.h"

#include <math.h>
#include <string.h>

/* Sums of products of two bytes that 32 bits hold. */
enum { DEPTH_MAX = INT32_MAX / (255 * 255) };

typedef struct layer_walk {
    const ig_graph *graph;
    ig_arena *arena;
    ig_quant_plan *plan;
    ig_map activations; /* value -> 1 + number of the first for it */
    ig_map positions;   /* op -> 1 + its place */
    ig_map names;
} layer_walk;

/* ---- one op ---- */

static bool is_product(const ig_op *op) {
    return op->code == IG_OP_matmul || op->code == IG_OP_conv;
}

static bool is_real(const ig_value *x) {
    return x->type->kind == IG_TENSOR && x->type->dtype == IG_DT_f32;
}

static bool is_finite(const ig_tensor *weight) {
    const float *x = weight->data;
    for (int64_t i = 0; i < weight->count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

/* Constants are borrowed from files, where they may be at any byte. */
static void align_weight(ig_tensor *weight, ig_arena *arena) {
    if ((uintptr_t)weight->data % sizeof(float)) {
        weight->data = ig_arena_copy(arena, weight->data,
                                     (size_t)ig_tensor_bytes(weight));
    }
}

static void know_product(const ig_op *op, ig_quant_layer *layer) {
    bool is_turned = ig_attr_int(op, IG_matmul_transpose_b, 0) != 0;
    layer->out_axis = is_turned ? 0 : 1;
    layer->in_axis = 1 - layer->out_axis;
    layer->depth = layer->weight.dims[layer->in_axis];
}

static void know_convolution(ig_quant_layer *layer) {
    layer->is_conv = true;
    layer->out_axis = 0;
    layer->in_axis = 1;
    layer->depth = layer->weight.count / layer->weight.dims[0];
}

/* Why the op is no layer that can be quantised; NULL: it is one. */
static const char *refuse_layer(const ig_op *op, const ig_quant_layer *layer) {
    const ig_tensor *weight = &layer->weight;
    bool is_conv = op->code == IG_OP_conv;
    if (weight->count == 0) {
        return "its weight is empty";
    }
    if (is_conv ? weight->rank < 3 : weight->rank != 2) {
        return "its weight is not one matrix";
    }
    if (is_conv ? ig_attr_int(op, IG_conv_transposed, 0)
                : ig_attr_int(op, IG_matmul_transpose_a, 0)) {
        return "it is transposed";
    }
    return is_finite(weight) ? NULL : "its weight holds NaN or infinities";
}

/* ---- activations ---- */

/* Channels of x that a layer sums over: the last axis, or axis 1 of a convolution. */
static void know_channels(const ig_op *op, const ig_quant_layer *layer,
                          ig_quant_activation *out) {
    bool is_conv = op->code == IG_OP_conv;
    int64_t groups = is_conv ? ig_attr_int(op, IG_conv_group, 1) : 1;
    out->axis = is_conv ? 1 : ig_op_operand(op, 0)->type->rank - 1u;
    out->channels = layer->weight.dims[layer->in_axis] * groups;
}

static uint32_t activation_of(layer_walk *w, const ig_op *op,
                              const ig_quant_layer *layer) {
    const ig_value *x = ig_op_operand(op, 0);
    ig_quant_activation what = { .position = IG_QUANT_ARGUMENT, .index = x->index };
    know_channels(op, layer, &what);
    uintptr_t first = (uintptr_t)ig_map_get_id(&w->activations, IG_MAP_PTR(x));
    for (size_t i = first ? first - 1 : w->plan->activations.count;
         i < w->plan->activations.count; i++) {
        const ig_quant_activation *other = &w->plan->activations.items[i];
        uint32_t position = x->def ? (uint32_t)(uintptr_t)ig_map_get_id(
                                         &w->positions, IG_MAP_PTR(x->def)) -
                                         1
                                   : IG_QUANT_ARGUMENT;
        if (other->position == position && other->index == x->index &&
            other->axis == what.axis && other->channels == what.channels) {
            return (uint32_t)i;
        }
    }
    if (x->def) {
        what.position =
            (uint32_t)(uintptr_t)ig_map_get_id(&w->positions, IG_MAP_PTR(x->def)) - 1;
    }
    IG_PUSH(w->arena, &w->plan->activations, what);
    uintptr_t index = w->plan->activations.count;
    if (!first) {
        ig_map_set_id(&w->activations, IG_MAP_PTR(x), (void *)index);
    }
    return (uint32_t)index - 1;
}

/* ---- names ---- */

static const char *name_layer(layer_walk *w, const ig_op *op) {
    const ig_location *where = ig_op_location(op);
    const char *own = where->node && where->node[0] ? where->node
                      : op->results->name           ? op->results->name
                                                    : ig_ops[op->code].name;
    const char *name = own;
    for (int i = 2; ig_map_get(&w->names, ig_str_of(name)); i++) {
        name = ig_arena_printf(w->arena, "%s#%d", own, i);
    }
    ig_map_set(&w->names, ig_str_of(name), w);
    return name;
}

/* ---- the graph ---- */

static void note_layer(layer_walk *w, const ig_op *op, uint32_t position) {
    ig_quant_layer layer = { .position = position, .loc = op->loc };
    const ig_value *x = ig_op_operand(op, 0), *weight = ig_op_operand(op, 1);
    if (!is_real(x) || !is_real(weight) || x->type->rank == 0 ||
        !ig_read_constant(weight, w->arena, &layer.weight)) {
        return;
    }
    align_weight(&layer.weight, w->arena);
    layer.name = name_layer(w, op);
    layer.why = refuse_layer(op, &layer);
    if (!layer.why && op->code == IG_OP_conv) {
        know_convolution(&layer);
    } else if (!layer.why) {
        know_product(op, &layer);
    }
    if (!layer.why && layer.depth > DEPTH_MAX && !w->plan->options.is_bf16) {
        layer.why = "its sums do not fit 32 bits";
    }
    layer.is_on = !layer.why;
    if (layer.is_on) {
        layer.channels = layer.weight.dims[layer.out_axis];
        layer.activation = activation_of(w, op, &layer);
    }
    IG_PUSH(w->arena, &w->plan->layers, layer);
}

void ig_quant_find_layers(const ig_graph *graph, ig_arena *arena, ig_quant_plan *plan) {
    layer_walk w = { .graph = graph, .arena = arena, .plan = plan };
    ig_map_init(&w.activations, arena);
    ig_map_init(&w.positions, arena);
    ig_map_init(&w.names, arena);
    uint32_t position = 0;
    for (ig_op *op = graph->body.first; op; op = op->next, position++) {
        ig_map_set_id(&w.positions, IG_MAP_PTR(op), (void *)((uintptr_t)position + 1));
        if (is_product(op)) {
            note_layer(&w, op, position);
        }
    }
}

ig_op *ig_quant_op(const ig_graph *graph, uint32_t position) {
    ig_op *op = graph->body.first;
    for (; op && position > 0; position--) {
        op = op->next;
    }
    return op;
}

ig_value *ig_quant_value(const ig_graph *graph, const ig_quant_activation *activation) {
    return activation->position == IG_QUANT_ARGUMENT
               ? graph->body.args[activation->index]
               : &ig_quant_op(graph, activation->position)->results[activation->index];
}
