/* A model opened for editing: every constant's bytes in its message.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/edit/editor.h"

#include "base/platform/context_map.h"

#include <string.h>

typedef struct filling {
    ig_onnx_model *model;
    ig_location where;
} filling;

static void give_texts(filling *f, Onnx__TensorProto *tensor, const ig_data *data) {
    const char *const *texts = data->bytes;
    size_t count = (size_t)data->size / sizeof *texts;
    tensor->has_raw_data = false;
    tensor->raw_data = (ProtobufCBinaryData){ 0 };
    tensor->n_string_data = count;
    tensor->string_data = IG_NEW_ARRAY(f->model->arena, ProtobufCBinaryData, count);
    for (size_t i = 0; i < count; i++) {
        tensor->string_data[i].data = (uint8_t *)(uintptr_t)texts[i];
        tensor->string_data[i].len = strlen(texts[i]);
    }
}

static ig_status fill_tensor(filling *f, Onnx__TensorProto *tensor, const char *what) {
    ig_data data;
    if (!tensor) {
        return IG_OK;
    }
    IG_TRY(ig_onnx_tensor_data(f->model, tensor, what, &f->where, &data));
    tensor->has_data_location = false;
    tensor->n_external_data = 0;
    if (data.type->dtype == IG_DT_str) {
        give_texts(f, tensor, &data);
        return IG_OK;
    }
    tensor->has_raw_data = true;
    tensor->raw_data.data = (uint8_t *)(uintptr_t)data.bytes;
    tensor->raw_data.len = (size_t)data.size;
    return IG_OK;
}

static ig_status fill_sparse(filling *f, Onnx__SparseTensorProto *sparse) {
    if (!sparse) {
        return IG_OK;
    }
    IG_TRY(fill_tensor(f, sparse->values, "the values of a sparse tensor"));
    return fill_tensor(f, sparse->indices, "the indices of a sparse tensor");
}

static ig_status fill_graph(filling *f, const Onnx__GraphProto *graph);

static ig_status fill_attribute(filling *f, const Onnx__AttributeProto *attr) {
    IG_TRY(fill_tensor(f, attr->t, attr->name));
    IG_TRY(fill_sparse(f, attr->sparse_tensor));
    for (size_t i = 0; i < attr->n_tensors; i++) {
        IG_TRY(fill_tensor(f, attr->tensors[i], attr->name));
    }
    for (size_t i = 0; i < attr->n_sparse_tensors; i++) {
        IG_TRY(fill_sparse(f, attr->sparse_tensors[i]));
    }
    for (size_t i = 0; i < attr->n_graphs; i++) {
        IG_TRY(fill_graph(f, attr->graphs[i]));
    }
    return attr->g ? fill_graph(f, attr->g) : IG_OK;
}

static ig_status fill_nodes(filling *f, Onnx__NodeProto *const *nodes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        f->where.node = nodes[i]->name;
        f->where.op = nodes[i]->op_type;
        for (size_t a = 0; a < nodes[i]->n_attribute; a++) {
            IG_TRY(fill_attribute(f, nodes[i]->attribute[a]));
        }
    }
    return IG_OK;
}

/* Recursion is as deep as the wire walk let graphs nest. */
static ig_status fill_graph(filling *f, const Onnx__GraphProto *graph) {
    for (size_t i = 0; i < graph->n_initializer; i++) {
        IG_TRY(fill_tensor(f, graph->initializer[i], graph->initializer[i]->name));
    }
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        IG_TRY(fill_sparse(f, graph->sparse_initializer[i]));
    }
    return fill_nodes(f, graph->node, graph->n_node);
}

static ig_status fill_model(ig_onnx_model *model) {
    filling f = { .model = model, .where = { .file = model->file } };
    const Onnx__ModelProto *proto = model->proto;
    for (size_t i = 0; i < proto->n_functions; i++) {
        IG_TRY(fill_nodes(&f, proto->functions[i]->node, proto->functions[i]->n_node));
    }
    return fill_graph(&f, proto->graph);
}

ig_status ig_onnx_edit_read(ig_context *context, const char *path,
                            ig_module **out_module, ig_onnx_model *model) {
    ig_module *module = *out_module = ig_module_create_for(context, path);
    const char *name = ig_module_string(module, ig_str_of(path));
    *model = (ig_onnx_model){ .context = context,
                              .module = module,
                              .arena = &module->arena,
                              .file = name,
                              .path = name,
                              .beside = name };
    char why[256] = "";
    ig_location where = { .file = path };
    ig_file_map *map = ig_module_add_map(module);
    ig_status status = ig_context_map(context, path, map, why);
    if (status != IG_OK) {
        return ig_error(&context->diag, status, &where, "cannot be read: %s", why);
    }
    model->bytes = (ig_str){ map->data, map->size };
    IG_TRY(ig_onnx_model_parse(model));
    if (!model->proto->graph) {
        return ig_error(&context->diag, IG_INVALID, &where, "the model has no graph");
    }
    return IG_OK;
}

ig_status ig_onnx_edit_open(ig_context *context, const char *path,
                            ig_module **out_module, ig_onnx_editor **out_editor) {
    ig_onnx_model model;
    IG_TRY(ig_onnx_edit_read(context, path, out_module, &model));
    ig_onnx_editor *editor = *out_editor = IG_NEW(model.arena, ig_onnx_editor);
    editor->model = model;
    ig_map_init(&editor->known, model.arena);
    return fill_model(&editor->model);
}

size_t ig_onnx_edit_node_count(const ig_onnx_editor *editor) {
    return editor->model.proto->graph->n_node;
}

void ig_onnx_edit_know(ig_onnx_editor *editor, const char *name,
                       const ig_onnx_known *what) {
    ig_module *module = editor->model.module;
    ig_onnx_known *known = IG_NEW(&module->arena, ig_onnx_known);
    *known = *what;
    ig_map_set(&editor->known, ig_str_of(ig_module_string(module, ig_str_of(name))),
               known);
}
