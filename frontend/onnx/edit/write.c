/* A variant of a model as a file.  SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/edit/editor.h"

#include <stdlib.h>
#include <string.h>

/* The parts of a variant's graph; messages and arrays are the arena's. */
typedef struct variant_graph {
    ig_onnx_editor *editor;
    const ig_onnx_variant *variant;
    ig_arena *arena;
    const Onnx__GraphProto *from;
    ig_map made, read; /* names that nodes give, and that are read */
    ig_map passed;   /* result of a node that is passed by -> the value read instead */
    ig_map declared; /* inputs and constants so far */
    IG_VEC(Onnx__NodeProto *) nodes;
    IG_VEC(Onnx__TensorProto *) constants;
    IG_VEC(Onnx__ValueInfoProto *) inputs, outputs;
    IG_VEC(ig_tensor) values; /* of the inputs */
    bool is_unknown;          /* some value's type is not known */
} variant_graph;

static bool has_name(const ig_map *map, const char *name) {
    return ig_map_get(map, ig_str_of(name)) != NULL;
}

static void add_name(ig_map *map, const char *name) {
    ig_map_set(map, ig_str_of(name), map);
}

/* ---- names ---- */

static const ig_onnx_known *find_known(const ig_onnx_editor *editor, const char *name) {
    return ig_map_get(&editor->known, ig_str_of(name));
}

static const ig_tensor *find_type(const ig_onnx_editor *editor, const char *name) {
    const ig_onnx_known *known = find_known(editor, name);
    return known ? &known->type : NULL;
}

static void read_graph_names(ig_map *read, const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < graph->n_node; i++) {
        ig_onnx_read_names(read, graph->node[i]);
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        add_name(read, graph->output[i]->name);
    }
}

void ig_onnx_read_names(ig_map *read, const Onnx__NodeProto *node) {
    for (size_t i = 0; i < node->n_input; i++) {
        add_name(read, node->input[i]);
    }
    for (size_t a = 0; a < node->n_attribute; a++) {
        const Onnx__AttributeProto *attr = node->attribute[a];
        if (attr->g) {
            read_graph_names(read, attr->g);
        }
        for (size_t i = 0; i < attr->n_graphs; i++) {
            read_graph_names(read, attr->graphs[i]);
        }
    }
}

/* ---- nodes ---- */

static bool is_of_type(const variant_graph *g, const char *name, const ig_tensor *as) {
    const ig_tensor *what = find_type(g->editor, name);
    return what && what->dtype == as->dtype && what->rank == as->rank &&
           memcmp(what->dims, as->dims, as->rank * sizeof *as->dims) == 0;
}

static void pass_node(variant_graph *g, const Onnx__NodeProto *node) {
    const char *result = node->n_output ? node->output[0] : "";
    const ig_tensor *type = find_type(g->editor, result);
    for (size_t i = 0; type && i < node->n_input; i++) {
        if (is_of_type(g, node->input[i], type)) {
            ig_map_set(&g->passed, ig_str_of(result), node->input[i]);
            return;
        }
    }
    g->is_unknown = true;
}

/* The name that is read for `name`.  A node reads earlier results, so a chain ends; one
 * of a file whose names go round is not followed far. */
static char *read_for(const variant_graph *g, char *name) {
    char *found;
    for (size_t i = 0; (found = ig_map_get(&g->passed, ig_str_of(name))); i++) {
        if (i > g->passed.count) {
            return name;
        }
        name = found;
    }
    return name;
}

/* The node, or a copy of it that reads past those that are passed by.  Graphs inside of
 * it read the same names as before. */
static Onnx__NodeProto *keep_node(variant_graph *g, Onnx__NodeProto *node) {
    if (!g->passed.count) {
        return node;
    }
    Onnx__NodeProto *kept = IG_NEW(g->arena, Onnx__NodeProto);
    *kept = *node;
    kept->input = IG_NEW_ARRAY(g->arena, char *, node->n_input);
    for (size_t i = 0; i < node->n_input; i++) {
        kept->input[i] = read_for(g, node->input[i]);
    }
    return kept;
}

static void keep_nodes(variant_graph *g) {
    for (size_t i = 0; i < g->from->n_node; i++) {
        if (g->variant->fates[i] == IG_ONNX_PASSED) {
            pass_node(g, g->from->node[i]);
        }
    }
    for (size_t i = 0; i < g->from->n_node; i++) {
        if (g->variant->fates[i] != IG_ONNX_KEPT) {
            continue;
        }
        Onnx__NodeProto *node = keep_node(g, g->from->node[i]);
        IG_PUSH(g->arena, &g->nodes, node);
        ig_onnx_read_names(&g->read, node);
        for (size_t k = 0; k < node->n_output; k++) {
            if (node->output[k][0]) {
                add_name(&g->made, node->output[k]);
            }
        }
    }
}

/* ---- constants ---- */

/* Only the last of equal names counts, so each is added once. */
static void keep_constants(variant_graph *g) {
    for (size_t i = 0; i < g->from->n_initializer; i++) {
        const Onnx__TensorProto *tensor = g->from->initializer[i];
        if (has_name(&g->read, tensor->name) && !has_name(&g->declared, tensor->name)) {
            add_name(&g->declared, tensor->name);
            IG_PUSH(g->arena, &g->constants,
                    ig_onnx_cut_constant(g->variant, tensor, g->arena));
        }
    }
    for (size_t i = 0; i < g->from->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sparse = g->from->sparse_initializer[i];
        if (sparse->values && sparse->values->name) {
            add_name(&g->declared, sparse->values->name);
        }
    }
}

/* ---- inputs and outputs ---- */

/* Extents of outputs stay open: those of inputs decide. */
static Onnx__TensorShapeProto *shape_of(const variant_graph *g, const char *name,
                                        const ig_tensor *what, bool is_input) {
    Onnx__TensorShapeProto *shape = IG_NEW(g->arena, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(shape);
    shape->n_dim = what->rank;
    shape->dim = IG_NEW_ARRAY(g->arena, Onnx__TensorShapeProto__Dimension *,
                              what->rank);
    for (uint32_t d = 0; d < what->rank; d++) {
        Onnx__TensorShapeProto__Dimension *dim =
            IG_NEW(g->arena, Onnx__TensorShapeProto__Dimension);
        onnx__tensor_shape_proto__dimension__init(dim);
        bool is_known = is_input && what->dims[d] >= 0;
        dim->value_case = is_known
                              ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
                              : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        if (is_known) {
            dim->dim_value = ig_onnx_cut_extent(g->variant, what->dims[d]);
        } else {
            dim->dim_param = ig_arena_printf(g->arena, "%s_%u", name, d);
        }
        shape->dim[d] = dim;
    }
    return shape;
}

static Onnx__ValueInfoProto *port_of(const variant_graph *g, const char *name,
                                     const ig_tensor *what, bool is_input) {
    Onnx__ValueInfoProto *port = IG_NEW(g->arena, Onnx__ValueInfoProto);
    Onnx__TypeProto *type = IG_NEW(g->arena, Onnx__TypeProto);
    Onnx__TypeProto__Tensor *tensor = IG_NEW(g->arena, Onnx__TypeProto__Tensor);
    onnx__value_info_proto__init(port);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    port->name = (char *)(uintptr_t)name;
    port->type = type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = ig_dtypes[what->dtype].onnx;
    tensor->shape = shape_of(g, name, what, is_input);
    return port;
}

static void add_constant(variant_graph *g, const char *name, const ig_tensor *what) {
    Onnx__TensorProto from;
    onnx__tensor_proto__init(&from);
    from.name = (char *)(uintptr_t)name;
    from.has_data_type = true;
    from.data_type = ig_dtypes[what->dtype].onnx;
    from.n_dims = what->rank;
    from.dims = IG_NEW_ARRAY(g->arena, int64_t, what->rank);
    for (uint32_t d = 0; d < what->rank; d++) {
        from.dims[d] = what->dims[d];
    }
    from.has_raw_data = true;
    from.raw_data.data = what->data;
    from.raw_data.len = (size_t)ig_tensor_bytes(what);
    IG_PUSH(g->arena, &g->constants, ig_onnx_cut_constant(g->variant, &from, g->arena));
}

static void add_input(variant_graph *g, Onnx__ValueInfoProto *input,
                      const ig_onnx_known *known) {
    ig_tensor value = known ? known->value : (ig_tensor){ 0 };
    ig_onnx_cut_value(g->variant, &value, g->arena);
    add_name(&g->declared, input->name);
    IG_PUSH(g->arena, &g->inputs, input);
    IG_PUSH(g->arena, &g->values, value);
}

/* A name that a kept node reads and nothing gives. */
static void add_cut(variant_graph *g, const char *name) {
    const ig_onnx_known *known = find_known(g->editor, name);
    const ig_tensor *what = known ? &known->type : NULL;
    if (!what || what->dtype >= IG_DT_COUNT || ig_dtypes[what->dtype].onnx <= 0) {
        g->is_unknown = true;
        return;
    }
    if (what->data) {
        add_name(&g->declared, name);
        add_constant(g, name, what);
    } else {
        add_input(g, port_of(g, name, what, true), known);
    }
}

/* Inputs of the whole model that are still read stay as they are declared, unless more
 * is known of them. */
static void keep_inputs(variant_graph *g) {
    for (size_t i = 0; i < g->from->n_input; i++) {
        Onnx__ValueInfoProto *input = g->from->input[i];
        if (!has_name(&g->read, input->name) || has_name(&g->declared, input->name)) {
            continue;
        }
        if (find_known(g->editor, input->name)) {
            add_cut(g, input->name);
        } else {
            add_input(g, input, NULL);
        }
    }
}

/* Names that only graphs inside of nodes define are not known from outside. */
static void add_cuts(variant_graph *g) {
    for (size_t n = 0; n < g->nodes.count; n++) {
        const Onnx__NodeProto *node = g->nodes.items[n];
        for (size_t i = 0; i < node->n_input; i++) {
            const char *name = node->input[i];
            if (name[0] && !has_name(&g->made, name) && !has_name(&g->declared, name)) {
                add_cut(g, name);
            }
        }
    }
    for (size_t i = 0; i < g->read.count; i++) { /* what graphs inside read */
        const char *name = g->read.entries[i].key.data;
        if (name[0] && !has_name(&g->made, name) && !has_name(&g->declared, name) &&
            ig_map_get(&g->editor->known, ig_str_of(name))) {
            add_cut(g, name);
        }
    }
}

/* The model's own outputs are given as they were declared; what nobody reads, too. */
static void add_outputs(variant_graph *g) {
    ig_map given;
    ig_map_init(&given, g->arena);
    for (size_t i = 0; i < g->from->n_output; i++) {
        Onnx__ValueInfoProto *output = g->from->output[i];
        if (has_name(&g->made, output->name)) {
            const ig_tensor *what = find_type(g->editor, output->name);
            add_name(&given, output->name);
            IG_PUSH(g->arena, &g->outputs,
                    what ? port_of(g, output->name, what, false) : output);
        }
    }
    for (size_t n = 0; n < g->nodes.count; n++) {
        const Onnx__NodeProto *node = g->nodes.items[n];
        for (size_t i = 0; i < node->n_output; i++) {
            const char *name = node->output[i];
            const ig_tensor *what = find_type(g->editor, name);
            if (name[0] && what && !has_name(&g->read, name) &&
                !has_name(&given, name)) {
                IG_PUSH(g->arena, &g->outputs, port_of(g, name, what, false));
            }
        }
    }
}

static bool make_graph(variant_graph *g) {
    ig_map_init(&g->made, g->arena);
    ig_map_init(&g->read, g->arena);
    ig_map_init(&g->passed, g->arena);
    ig_map_init(&g->declared, g->arena);
    keep_nodes(g);
    keep_constants(g);
    keep_inputs(g);
    add_cuts(g);
    add_outputs(g);
    return !g->is_unknown && g->nodes.count > 0 && g->outputs.count > 0;
}

/* ---- the file ---- */

/* Functions that a kept node calls, or a function that is kept for it. */
static bool is_called(const Onnx__FunctionProto *function,
                      Onnx__NodeProto *const *nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *domain = nodes[i]->domain ? nodes[i]->domain : "";
        if (function->name && nodes[i]->op_type &&
            strcmp(nodes[i]->op_type, function->name) == 0 &&
            strcmp(domain, function->domain ? function->domain : "") == 0) {
            return true;
        }
    }
    return false;
}

static bool is_needed(const variant_graph *g, const Onnx__ModelProto *model,
                      const Onnx__FunctionProto *function) {
    bool is_so = is_called(function, g->nodes.items, g->nodes.count);
    for (size_t i = 0; i < model->n_functions; i++) {
        is_so = is_so || is_called(function, model->functions[i]->node,
                                   model->functions[i]->n_node);
    }
    return is_so;
}

static ig_str pack_model(const variant_graph *g) {
    const Onnx__ModelProto *from = g->editor->model.proto;
    Onnx__ModelProto model = *from;
    Onnx__GraphProto graph = *g->from;
    graph.node = g->nodes.items;
    graph.n_node = g->nodes.count;
    graph.initializer = g->constants.items;
    graph.n_initializer = g->constants.count;
    graph.input = g->inputs.items;
    graph.n_input = g->inputs.count;
    graph.output = g->outputs.items;
    graph.n_output = g->outputs.count;
    graph.n_value_info = 0;
    model.graph = &graph;
    model.n_training_info = 0;
    model.functions = IG_NEW_ARRAY(g->arena, Onnx__FunctionProto *, from->n_functions);
    model.n_functions = 0;
    for (size_t i = 0; i < from->n_functions; i++) {
        if (is_needed(g, from, from->functions[i])) {
            model.functions[model.n_functions++] = from->functions[i];
        }
    }
    size_t size = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = ig_arena_alloc(g->arena, size);
    onnx__model_proto__pack(&model, bytes);
    return (ig_str){ (const char *)bytes, size };
}

static variant_graph graph_of(ig_onnx_editor *editor, const ig_onnx_variant *variant,
                              ig_arena *arena) {
    return (variant_graph){ .editor = editor,
                            .variant = variant,
                            .arena = arena,
                            .from = editor->model.proto->graph };
}

bool ig_onnx_edit_write(ig_onnx_editor *editor, const ig_onnx_variant *variant,
                        ig_arena *arena, ig_onnx_written *out) {
    variant_graph g = graph_of(editor, variant, arena);
    if (!make_graph(&g)) {
        return false;
    }
    const char **names = IG_NEW_ARRAY(arena, const char *, g.inputs.count);
    for (size_t i = 0; i < g.inputs.count; i++) {
        names[i] = g.inputs.items[i]->name;
    }
    *out = (ig_onnx_written){ .text = pack_model(&g),
                              .names = names,
                              .values = g.values.items,
                              .input_count = g.inputs.count };
    return true;
}

/* ---- extents ---- */

static int compare_falling(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

size_t ig_onnx_edit_extents(ig_onnx_editor *editor, const ig_onnx_variant *variant,
                            ig_arena *arena, int64_t **out_extents) {
    ig_onnx_variant uncut = { .fates = variant->fates };
    variant_graph g = graph_of(editor, &uncut, arena);
    IG_VEC(int64_t) all = { 0 };
    (void)make_graph(&g);
    for (size_t i = 0; i < g.constants.count; i++) {
        for (size_t d = 0; d < g.constants.items[i]->n_dims; d++) {
            IG_PUSH(arena, &all, g.constants.items[i]->dims[d]);
        }
    }
    for (size_t i = 0; i < g.inputs.count; i++) {
        const ig_onnx_known *known = find_known(editor, g.inputs.items[i]->name);
        for (uint32_t d = 0; known && d < known->type.rank; d++) {
            bool is_open = known->type.dims[d] < 0 && known->value.data;
            IG_PUSH(arena, &all, (is_open ? &known->value : &known->type)->dims[d]);
        }
    }
    if (all.count) {
        qsort(all.items, all.count, sizeof *all.items, compare_falling);
    }
    size_t count = 0;
    for (size_t i = 0; i < all.count && all.items[i] > 1; i++) {
        if (!count || all.items[count - 1] != all.items[i]) {
            all.items[count++] = all.items[i];
        }
    }
    *out_extents = all.items;
    return count;
}
