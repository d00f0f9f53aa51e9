/* Graphs as bodies: initializers, nodes, outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/import.h"

#include <string.h>

/* ---- which initializers training changes ---- */

typedef struct trained {
    ig_map updated;    /* named by the model's training information */
    ig_map statistics; /* of batch normalization */
} trained;

static void note_name(ig_map *names, const char *name) {
    if (name && name[0]) {
        ig_map_set(names, ig_str_of(name), names);
    }
}

static trained list_trained(const ig_onnx_import *import,
                            const Onnx__GraphProto *graph) {
    trained t;
    const Onnx__ModelProto *model = import->model->proto;
    ig_map_init(&t.updated, import->arena);
    ig_map_init(&t.statistics, import->arena);
    for (size_t i = 0; i < model->n_training_info; i++) {
        const Onnx__TrainingInfoProto *info = model->training_info[i];
        for (size_t k = 0; k < info->n_update_binding; k++) {
            note_name(&t.updated, info->update_binding[k]->key);
        }
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        bool is_norm = node->op_type &&
                       strcmp(node->op_type, "BatchNormalization") == 0;
        for (size_t k = 3; is_norm && k < node->n_input && k < 5; k++) {
            note_name(&t.statistics, node->input[k]);
        }
    }
    return t;
}

/* Without training information: all floats but running statistics. */
static bool is_parameter(const trained *t, const ig_weight *weight, const char *name) {
    if (!ig_dtype_is_float((ig_dtype)weight->type->dtype)) {
        return false;
    }
    return t->updated.count ? ig_map_get(&t->updated, ig_str_of(name)) != NULL
                            : !ig_map_get(&t->statistics, ig_str_of(name));
}

/* ---- bodies ---- */

/* Few elements become a constant, unless training may change them. */
static ig_value *make_initializer(const ig_onnx_scope *scope, const char *name,
                                  const ig_data *data) {
    ig_module *module = scope->import->module;
    bool is_kept = scope->import->options && scope->import->options->keeps_weights &&
                   data->type->rank > 0 &&
                   ig_dtype_is_float((ig_dtype)data->type->dtype);
    return is_kept ? ig_make_weight(scope->builder,
                                    ig_module_add_weight(module, name, data))
                   : ig_make_data(scope->builder, name, data);
}

static void import_initializer(ig_onnx_scope *scope, const Onnx__TensorProto *tensor,
                               const trained *t) {
    ig_onnx_import *import = scope->import;
    ig_location where = { .file = import->model->file, .graph = scope->label };
    if (!tensor->name || !tensor->name[0]) {
        ig_onnx_note(import, ig_error(&import->context->diag, IG_INVALID, &where,
                                      "an initializer has no name"));
        return;
    }
    if (!scope->outer && ig_map_get(&import->given, ig_str_of(tensor->name))) {
        return;
    }
    const char *what = ig_arena_printf(import->arena, "initializer '%s'", tensor->name);
    ig_value *value = NULL;
    ig_weight *known = ig_map_get_id(&import->weights, IG_MAP_PTR(tensor));
    if (known) {
        value = ig_make_weight(scope->builder, known);
    } else {
        ig_data data;
        ig_status status = ig_onnx_tensor_data(import->model, tensor, what, &where,
                                               &data);
        ig_onnx_note(import, status);
        if (status == IG_OK) {
            value = make_initializer(scope, tensor->name, &data);
        }
        if (value && value->def->code == IG_OP_weight) {
            ig_weight *weight = IG_LAST(&import->module->weights);
            weight->is_parameter = is_parameter(t, weight, tensor->name);
            ig_map_set_id(&import->weights, IG_MAP_PTR(tensor), weight);
        }
    }
    ig_onnx_define_value(scope, tensor->name, value, what);
}

static void import_sparse(ig_onnx_scope *scope, const Onnx__SparseTensorProto *sparse) {
    ig_onnx_import *import = scope->import;
    ig_location where = { .file = import->model->file, .graph = scope->label };
    const char *name = sparse->values ? sparse->values->name : NULL;
    if (!name || !name[0]) {
        ig_onnx_note(import, ig_error(&import->context->diag, IG_INVALID, &where,
                                      "a sparse initializer has no name"));
        return;
    }
    const char *what = ig_arena_printf(import->arena, "sparse initializer '%s'", name);
    ig_data data;
    ig_status status = ig_onnx_sparse_data(import->model, sparse, what, &where, &data);
    ig_onnx_note(import, status);
    ig_value *value = status == IG_OK ? ig_make_data(scope->builder, name, &data)
                                      : NULL;
    ig_onnx_define_value(scope, name, value, what);
}

ig_status ig_onnx_import_initializers(ig_onnx_scope *scope,
                                      const Onnx__GraphProto *graph) {
    trained t = list_trained(scope->import, graph);
    for (size_t i = 0; i < graph->n_initializer; i++) {
        import_initializer(scope, graph->initializer[i], &t);
        if (i % 1024 == 1023) {
            IG_TRY(ig_context_poll(scope->import->context));
        }
    }
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        import_sparse(scope, graph->sparse_initializer[i]);
    }
    return IG_OK;
}

ig_status ig_onnx_import_body(ig_onnx_scope *scope, const Onnx__GraphProto *graph,
                              ig_value **out_outputs) {
    ig_onnx_import *import = scope->import;
    IG_TRY(ig_onnx_import_initializers(scope, graph));
    for (size_t i = 0; i < graph->n_output; i++) {
        ig_onnx_scope_gives(scope, graph->output[i]->name);
    }
    IG_TRY(ig_onnx_import_nodes(scope, (ig_onnx_nodes){ graph->node, graph->n_node }));
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        out_outputs[i] = NULL;
        if (!ig_onnx_scope_output(scope, name, &out_outputs[i])) {
            ig_location where = { .file = import->model->file, .graph = scope->label };
            ig_onnx_note(import,
                         ig_error(&import->context->diag, IG_INVALID, &where,
                                  "output %zu, '%s', is never produced", i, name));
        }
    }
    return IG_OK;
}
