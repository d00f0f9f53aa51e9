/* Values of a model's main graph as outputs.  SPDX-License-Identifier: Apache-2.0
 *
 * Two messages of protocol buffers, one after the other, are read as one in which
 * lists are joined (protobuf.dev, "Last one wins"): so the file stays as it is, and a
 * model with a graph of nothing but outputs is appended.
 */
#include "frontend/onnx/edit/editor.h"

#include <string.h>

/* Names of the main graph. */
typedef struct graph_names {
    ig_map values, outputs;
} graph_names;

static void add_name(ig_map *map, const char *name) {
    ig_map_set(map, ig_str_of(name), map);
}

static bool has_name(const ig_map *map, const char *name) {
    return name[0] && ig_map_get(map, ig_str_of(name));
}

static void list_names(const ig_onnx_model *model, graph_names *out) {
    const Onnx__GraphProto *graph = model->proto->graph;
    ig_map_init(&out->values, model->arena);
    ig_map_init(&out->outputs, model->arena);
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t k = 0; k < graph->node[i]->n_output; k++) {
            add_name(&out->values, graph->node[i]->output[k]);
        }
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        add_name(&out->outputs, graph->output[i]->name);
    }
}

static ig_str pack_outputs(const ig_onnx_model *model, const char **names,
                           size_t count) {
    Onnx__ValueInfoProto *outputs = IG_NEW_ARRAY(model->arena, Onnx__ValueInfoProto,
                                                 count);
    Onnx__ValueInfoProto **list = IG_NEW_ARRAY(model->arena, Onnx__ValueInfoProto *,
                                               count);
    for (size_t i = 0; i < count; i++) {
        onnx__value_info_proto__init(&outputs[i]);
        outputs[i].name = (char *)(uintptr_t)names[i];
        list[i] = &outputs[i];
    }
    Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
    Onnx__ModelProto more = ONNX__MODEL_PROTO__INIT;
    graph.output = list;
    graph.n_output = count;
    more.graph = &graph;
    size_t size = onnx__model_proto__get_packed_size(&more);
    uint8_t *bytes = ig_arena_alloc(model->arena, model->bytes.size + size);
    memcpy(bytes, model->bytes.data, model->bytes.size);
    onnx__model_proto__pack(&more, bytes + model->bytes.size);
    return (ig_str){ (char *)bytes, model->bytes.size + size };
}

ig_status ig_onnx_expose(ig_context *context, const char *path,
                         const ig_onnx_wanted *wanted, ig_module **out_module,
                         ig_str *out_text) {
    ig_onnx_model model;
    graph_names known;
    IG_TRY(ig_onnx_edit_read(context, path, out_module, &model));
    const char **added = IG_NEW_ARRAY(model.arena, const char *, wanted->count);
    size_t added_count = 0;
    list_names(&model, &known);
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->names[i];
        bool is_output = has_name(&known.outputs, name);
        wanted->has[i] = is_output || has_name(&known.values, name);
        if (wanted->has[i] && !is_output) {
            added[added_count++] = name;
        }
    }
    *out_text = pack_outputs(&model, added, added_count);
    return IG_OK;
}
