/* Quantised layers in an ONNX model.  SPDX-License-Identifier: Apache-2.0
 *
 *   x ─ (Mul) ─ QuantizeLinear ─ DequantizeLinear ─┐
 *                       codes ─ DequantizeLinear ─ MatMul, Gemm, Conv ─ y
 *
 *   x ─ (Mul) ─ DynamicQuantizeLinear ─┐           ┌ scale of x · scales
 *                               codes ─ MatMulInteger ─ Cast ─ Mul ─ (Add) ─ y
 */
#include "frontend/onnx/edit/editor.h"

#include <string.h>

enum { OPSET = 13, F32 = 1 /* in messages */, NAMES = 4 };

typedef struct writer {
    ig_onnx_editor *editor;
    const ig_onnx_quantising *how;
    ig_arena *arena;
    ig_map names; /* all that there are */
    IG_VEC(Onnx__NodeProto *) nodes;
    IG_VEC(Onnx__TensorProto *) constants;
    char *(*rounded)[3]; /* by rounding: real again; or integers, scale, zero point */
} writer;

/* ---- names and constants ---- */

static char *new_name(writer *w, const char *near, const char *what) {
    char *name = ig_arena_printf(w->arena, "%s_%s", near, what);
    for (int i = 2; ig_map_get(&w->names, ig_str_of(name)); i++) {
        name = ig_arena_printf(w->arena, "%s_%s_%d", near, what, i);
    }
    ig_map_set(&w->names, ig_str_of(name), w);
    return name;
}

static char *add_constant(writer *w, char *name, const ig_tensor *what) {
    Onnx__TensorProto *tensor = IG_NEW(w->arena, Onnx__TensorProto);
    onnx__tensor_proto__init(tensor);
    tensor->name = name;
    tensor->has_data_type = true;
    tensor->data_type = ig_dtypes[what->dtype].onnx;
    tensor->n_dims = what->rank;
    tensor->dims = IG_NEW_ARRAY(w->arena, int64_t, what->rank);
    memcpy(tensor->dims, what->dims, what->rank * sizeof *what->dims);
    tensor->has_raw_data = true;
    tensor->raw_data.data = what->data;
    tensor->raw_data.len = (size_t)ig_tensor_bytes(what);
    IG_PUSH(w->arena, &w->constants, tensor);
    return name;
}

/* One number, or a vector with axes of extent 1 after it. */
static char *add_vector(writer *w, char *name, ig_dtype dtype, const void *elements,
                        int64_t count, uint32_t axes_after) {
    ig_tensor what = { .kind = IG_TENSOR, .dtype = dtype, .count = count };
    size_t bytes = (size_t)count * ig_dtypes[dtype].bits / 8;
    what.data = ig_arena_copy(w->arena, elements, bytes);
    what.rank = count == 1 && !axes_after ? 0 : 1 + axes_after;
    for (uint32_t d = 0; d < what.rank; d++) {
        what.dims[d] = d ? 1 : count;
    }
    return add_constant(w, name, &what);
}

/* ---- nodes ---- */

static Onnx__NodeProto *add_node(writer *w, const char *op, char *output) {
    Onnx__NodeProto *node = IG_NEW(w->arena, Onnx__NodeProto);
    onnx__node_proto__init(node);
    node->op_type = (char *)(uintptr_t)op;
    node->name = output;
    node->output = IG_NEW_ARRAY(w->arena, char *, NAMES);
    node->input = IG_NEW_ARRAY(w->arena, char *, NAMES);
    node->output[node->n_output++] = output;
    IG_PUSH(w->arena, &w->nodes, node);
    return node;
}

static void add_input(Onnx__NodeProto *node, char *name) {
    if (name) {
        node->input[node->n_input++] = name;
    }
}

static void add_integer(writer *w, Onnx__NodeProto *node, const char *name,
                        int64_t value) {
    Onnx__AttributeProto *attr = IG_NEW(w->arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attr);
    attr->name = (char *)(uintptr_t)name;
    attr->has_type = true;
    attr->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    attr->has_i = true;
    attr->i = value;
    node->attribute = IG_NEW_ARRAY(w->arena, Onnx__AttributeProto *, 1);
    node->attribute[node->n_attribute++] = attr;
}

static char *add_binary(writer *w, const char *op, char *a, char *b, char *output) {
    Onnx__NodeProto *node = add_node(w, op, output);
    add_input(node, a);
    add_input(node, b);
    return output;
}

static const Onnx__AttributeProto *find_attribute(const Onnx__NodeProto *node,
                                                  const char *name) {
    for (size_t a = 0; a < node->n_attribute; a++) {
        if (node->attribute[a]->name && strcmp(node->attribute[a]->name, name) == 0) {
            return node->attribute[a];
        }
    }
    return NULL;
}

static bool is_op(const Onnx__NodeProto *node, const char *op) {
    return node->op_type && strcmp(node->op_type, op) == 0;
}

/* ---- values ---- */

static char *add_smoothing(writer *w, const ig_onnx_rounding *r, char *x) {
    if (!r->factors) {
        return x;
    }
    char *by = add_vector(w, new_name(w, x, "smoothing"), IG_DT_f32, r->factors,
                          r->channels, r->axes_after);
    return add_binary(w, "Mul", x, by, new_name(w, x, "smooth"));
}

static void add_rounding(writer *w, size_t index, char *x) {
    const ig_onnx_rounding *r = &w->how->roundings[index];
    char **out = w->rounded[index];
    char *from = add_smoothing(w, r, x);
    if (w->how->is_dynamic) {
        out[0] = new_name(w, x, "int8");
        Onnx__NodeProto *node = add_node(w, "DynamicQuantizeLinear", out[0]);
        add_input(node, from);
        out[1] = node->output[node->n_output++] = new_name(w, x, "scale");
        out[2] = node->output[node->n_output++] = new_name(w, x, "zero");
        return;
    }
    uint8_t zero = (uint8_t)r->zero;
    ig_dtype dtype = r->is_signed ? IG_DT_i8 : IG_DT_u8;
    out[1] = add_vector(w, new_name(w, x, "scale"), IG_DT_f32, &r->scale, 1, 0);
    out[2] = add_vector(w, new_name(w, x, "zero"), dtype, &zero, 1, 0);
    Onnx__NodeProto *down = add_node(w, "QuantizeLinear", new_name(w, x, "int8"));
    add_input(down, from);
    add_input(down, out[1]);
    add_input(down, out[2]);
    out[0] = new_name(w, x, "rounded");
    Onnx__NodeProto *up = add_node(w, "DequantizeLinear", out[0]);
    add_input(up, down->output[0]);
    add_input(up, out[1]);
    add_input(up, out[2]);
}

static char **round_input(writer *w, const ig_onnx_layer *layer, char *x) {
    if (!w->rounded[layer->rounding][0]) {
        add_rounding(w, layer->rounding, x);
    }
    return w->rounded[layer->rounding];
}

/* ---- weights ---- */

typedef struct weight_names {
    char *codes, *zeros; /* zeros: NULL for none */
    bool is_turned;      /* [N, K] */
} weight_names;

static void turn_codes(const writer *w, const ig_tensor *from, ig_tensor *out) {
    int64_t rows = from->dims[0], columns = from->dims[1];
    const uint8_t *codes = from->data;
    uint8_t *turned = ig_arena_array(w->arena, (size_t)from->count, 1);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < columns; k++) {
            turned[k * rows + i] = codes[i * columns + k];
        }
    }
    *out = *from;
    out->dims[0] = columns;
    out->dims[1] = rows;
    out->data = turned;
}

/* Products need [K, N], except a Gemm with transB. */
static weight_names add_codes(writer *w, const ig_onnx_layer *layer,
                              const Onnx__NodeProto *node) {
    const Onnx__AttributeProto *turns = find_attribute(node, "transB");
    weight_names names = { .is_turned = layer->is_turned };
    ig_tensor codes = layer->codes;
    bool is_wanted = turns && turns->i && !w->how->is_dynamic;
    const char *near = node->input[1];
    if (!is_op(node, "Conv") && is_wanted != layer->is_turned) {
        turn_codes(w, &layer->codes, &codes);
        names.is_turned = is_wanted;
    }
    names.codes = add_constant(w, new_name(w, near, "int8"), &codes);
    if (layer->zeros) {
        names.zeros = add_vector(w, new_name(w, near, "zero"), codes.dtype,
                                 layer->zeros, layer->count, 0);
    }
    return names;
}

static Onnx__NodeProto *copy_node(writer *w, const Onnx__NodeProto *from) {
    Onnx__NodeProto *node = IG_NEW(w->arena, Onnx__NodeProto);
    *node = *from;
    node->input = IG_NEW_ARRAY(w->arena, char *, from->n_input + NAMES);
    memcpy(node->input, from->input, from->n_input * sizeof *from->input);
    return node;
}

/* ---- layers whose scales are known ---- */

static void add_static(writer *w, const ig_onnx_layer *layer,
                       const Onnx__NodeProto *from) {
    char **x = round_input(w, layer, from->input[0]);
    weight_names weight = add_codes(w, layer, from);
    char *near = from->input[1];
    char *scales = add_vector(w, new_name(w, near, "scale"), IG_DT_f32, layer->scales,
                              layer->count, 0);
    Onnx__NodeProto *up = add_node(w, "DequantizeLinear", new_name(w, near, "rounded"));
    add_input(up, weight.codes);
    add_input(up, scales);
    add_input(up, weight.zeros);
    bool is_first = is_op(from, "Conv") || weight.is_turned;
    if (layer->count > 1) {
        add_integer(w, up, "axis", is_first ? 0 : 1);
    }
    Onnx__NodeProto *node = copy_node(w, from);
    node->input[0] = x[0];
    node->input[1] = up->output[0];
    IG_PUSH(w->arena, &w->nodes, node);
}

/* ---- layers whose scales the run finds ---- */

/* The third input, for sums of this rank, times Gemm's beta. */
static char *add_bias(writer *w, const ig_onnx_layer *layer,
                      const Onnx__NodeProto *from) {
    char *bias = from->n_input > 2 && from->input[2][0] ? from->input[2] : NULL;
    const Onnx__AttributeProto *beta = find_attribute(from, "beta");
    if (bias && beta && beta->f != 1) {
        char *by = add_vector(w, new_name(w, bias, "beta"), IG_DT_f32, &beta->f, 1, 0);
        bias = add_binary(w, "Mul", bias, by, new_name(w, bias, "times_beta"));
    }
    if (bias && is_op(from, "Conv")) {
        int64_t shape[IG_TENSOR_RANK];
        for (uint32_t d = 0; d + 1 < layer->codes.rank; d++) {
            shape[d] = d ? 1 : -1;
        }
        char *name = add_vector(w, new_name(w, bias, "shape"), IG_DT_i64, shape,
                                layer->codes.rank - 1, 0);
        bias = add_binary(w, "Reshape", bias, name, new_name(w, bias, "by_channel"));
    }
    return bias;
}

/* Scales of the weight, times Gemm's alpha. */
static char *add_scales(writer *w, const ig_onnx_layer *layer,
                        const Onnx__NodeProto *from) {
    const Onnx__AttributeProto *alpha = find_attribute(from, "alpha");
    float *scales = IG_NEW_ARRAY(w->arena, float, layer->count);
    uint32_t after = is_op(from, "Conv") && layer->count > 1 ? layer->codes.rank - 2
                                                             : 0;
    for (uint32_t i = 0; i < layer->count; i++) {
        scales[i] = layer->scales[i] * (alpha ? alpha->f : 1);
    }
    return add_vector(w, new_name(w, from->input[1], "scale"), IG_DT_f32, scales,
                      layer->count, after);
}

static Onnx__NodeProto *add_integers(writer *w, const Onnx__NodeProto *from,
                                     char *output) {
    bool is_conv = is_op(from, "Conv");
    Onnx__NodeProto *node = add_node(w, is_conv ? "ConvInteger" : "MatMulInteger",
                                     output);
    if (is_conv) {
        node->attribute = from->attribute;
        node->n_attribute = from->n_attribute;
    }
    return node;
}

static void add_dynamic(writer *w, const ig_onnx_layer *layer,
                        const Onnx__NodeProto *from) {
    char *y = from->output[0];
    char **x = round_input(w, layer, from->input[0]);
    weight_names weight = add_codes(w, layer, from);
    char *bias = add_bias(w, layer, from);
    Onnx__NodeProto *sum = add_integers(w, from, new_name(w, y, "sum"));
    add_input(sum, x[0]);
    add_input(sum, weight.codes);
    add_input(sum, x[2]);
    add_input(sum, weight.zeros);
    Onnx__NodeProto *real = add_node(w, "Cast", new_name(w, y, "real"));
    add_input(real, sum->output[0]);
    add_integer(w, real, "to", F32);
    char *scales = add_scales(w, layer, from);
    char *scale = add_binary(w, "Mul", x[1], scales, new_name(w, y, "scale"));
    char *scaled = bias ? new_name(w, y, "scaled") : y;
    add_binary(w, "Mul", real->output[0], scale, scaled);
    if (bias) {
        add_binary(w, "Add", scaled, bias, y);
    }
}

/* ---- the graph ---- */

static void know_names(writer *w, const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < graph->n_node; i++) {
        ig_onnx_read_names(&w->names, graph->node[i]);
        for (size_t k = 0; k < graph->node[i]->n_output; k++) {
            ig_map_set(&w->names, ig_str_of(graph->node[i]->output[k]), w);
        }
    }
    for (size_t i = 0; i < graph->n_initializer; i++) {
        ig_map_set(&w->names, ig_str_of(graph->initializer[i]->name), w);
    }
    for (size_t i = 0; i < graph->n_input; i++) {
        ig_map_set(&w->names, ig_str_of(graph->input[i]->name), w);
    }
}

static void add_nodes(writer *w, const Onnx__GraphProto *graph) {
    size_t next = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        const ig_onnx_layer *layer = next < w->how->layer_count ? &w->how->layers[next]
                                                                : NULL;
        if (!layer || layer->node != i) {
            IG_PUSH(w->arena, &w->nodes, graph->node[i]);
            continue;
        }
        next++;
        if (w->how->is_dynamic) {
            add_dynamic(w, layer, graph->node[i]);
        } else {
            add_static(w, layer, graph->node[i]);
        }
    }
}

/* Constants that layers read before, and nothing reads now, go. */
static void drop_unread(writer *w, Onnx__GraphProto *graph) {
    ig_map read;
    ig_map_init(&read, w->arena);
    for (size_t i = 0; i < w->nodes.count; i++) {
        ig_onnx_read_names(&read, w->nodes.items[i]);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        ig_map_set(&read, ig_str_of(graph->output[i]->name), w);
    }
    size_t kept = 0;
    for (size_t i = 0; i < w->nodes.count; i++) {
        Onnx__NodeProto *node = w->nodes.items[i];
        bool is_read = !is_op(node, "Constant") || node->n_output == 0 ||
                       ig_map_get(&read, ig_str_of(node->output[0]));
        w->nodes.items[kept] = node;
        kept += is_read;
    }
    w->nodes.count = kept;
    ig_map dropped;
    ig_map_init(&dropped, w->arena);
    for (size_t i = 0; i < graph->n_initializer; i++) {
        Onnx__TensorProto *tensor = graph->initializer[i];
        if (ig_map_get(&read, ig_str_of(tensor->name))) {
            IG_PUSH(w->arena, &w->constants, tensor);
        } else {
            ig_map_set(&dropped, ig_str_of(tensor->name), w);
        }
    }
    Onnx__ValueInfoProto **inputs = IG_NEW_ARRAY(w->arena, Onnx__ValueInfoProto *,
                                                 graph->n_input);
    size_t input_count = 0;
    for (size_t i = 0; i < graph->n_input; i++) {
        if (!ig_map_get(&dropped, ig_str_of(graph->input[i]->name))) {
            inputs[input_count++] = graph->input[i];
        }
    }
    graph->input = inputs;
    graph->n_input = input_count;
}

static ig_status check_opset(const writer *w) {
    const Onnx__ModelProto *proto = w->editor->model.proto;
    int64_t version = 0;
    for (size_t i = 0; i < proto->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *set = proto->opset_import[i];
        if (!set->domain || !set->domain[0] || strcmp(set->domain, "ai.onnx") == 0) {
            version = set->version;
        }
    }
    ig_location where = { .file = w->editor->model.file };
    return version >= OPSET
               ? IG_OK
               : ig_error_hint(&w->editor->model.context->diag, IG_UNSUPPORTED, &where,
                               "convert the model to opset 13 or later, or write .ig",
                               "a model of opset %lld has no scales by channel",
                               (long long)version);
}

static ig_status pack_model(writer *w, ig_str *out) {
    Onnx__ModelProto model = *w->editor->model.proto;
    Onnx__GraphProto graph = *model.graph;
    add_nodes(w, model.graph);
    drop_unread(w, &graph);
    graph.node = w->nodes.items;
    graph.n_node = w->nodes.count;
    graph.initializer = w->constants.items;
    graph.n_initializer = w->constants.count;
    model.graph = &graph;
    size_t size = onnx__model_proto__get_packed_size(&model);
    if (size > INT32_MAX) {
        ig_location where = { .file = w->editor->model.file };
        return ig_error_hint(&w->editor->model.context->diag, IG_LIMIT, &where,
                             "write .ig or .ingot",
                             "%zu bytes with all constants are more than one ONNX file "
                             "can hold",
                             size);
    }
    uint8_t *bytes = ig_arena_alloc(w->arena, size);
    onnx__model_proto__pack(&model, bytes);
    *out = (ig_str){ (const char *)bytes, size };
    return IG_OK;
}

ig_status ig_onnx_quantise(ig_context *context, const char *path,
                           const ig_onnx_quantising *how, ig_module **out_module,
                           ig_str *out_text) {
    writer w = { .how = how };
    IG_TRY(ig_onnx_edit_open(context, path, out_module, &w.editor));
    w.arena = w.editor->model.arena;
    w.rounded = ig_arena_array(w.arena, how->rounding_count, sizeof *w.rounded);
    ig_map_init(&w.names, w.arena);
    IG_TRY(check_opset(&w));
    know_names(&w, w.editor->model.proto->graph);
    return pack_model(&w, out_text);
}
