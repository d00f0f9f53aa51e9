/* Results that are lists of dicts (ZipMap): a matrix, and the keys of its columns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The graph computes the matrix.  What it stands for is in the tree of the call, as a
 * record of the keys, which are known, and of the matrix:
 *
 *     (f32[N, 2] "p") -> (ai.onnx.ml.ZipMap(keys=["no", "yes"], values=tensor))
 */
#include "frontend/onnx/import/keys.h"

void ig_onnx_set_keys(ig_onnx_node *node, uint32_t index, const ig_onnx_keys *keys) {
    if (!keys || index >= node->output_count) {
        return;
    }
    if (!node->keys) {
        node->keys = IG_NEW_ARRAY(node->import->arena, const ig_onnx_keys *,
                                  node->output_count);
    }
    node->keys[index] = keys;
}

static void add_node(ig_signature *to, ig_arena *arena, ig_node_kind kind,
                     const char *name, uint32_t count) {
    bool is_record = kind == IG_NODE_RECORD;
    ig_node_add(arena, &to->nodes,
                (ig_node){ .kind = kind,
                           .is_leaf = kind == IG_NODE_TENSOR,
                           .count = count,
                           .name = ig_str_of(name),
                           .text = ig_str_of(is_record ? IG_NODE_ZIP_MAP : "") });
}

static void add_maps(ig_signature *to, ig_arena *arena, const char *name,
                     const ig_onnx_keys *keys) {
    add_node(to, arena, IG_NODE_RECORD, name, 2);
    add_node(to, arena, IG_NODE_LIST, "keys", keys->count);
    for (uint32_t i = 0; i < keys->count; i++) {
        ig_node key = { .kind = keys->numbers ? IG_NODE_INT : IG_NODE_STR };
        key.i = keys->numbers ? keys->numbers[i] : 0;
        key.text = ig_str_of(keys->numbers ? "" : keys->texts[i]);
        ig_node_add(arena, &to->nodes, key);
    }
    add_node(to, arena, IG_NODE_TENSOR, "values", 0);
}

/* Sequences are several ports each, of which trees know nothing. */
static bool has_tree(const ig_graph *graph, const ig_onnx_keys *const *keys,
                     size_t count) {
    bool is_any = false, are_tensors = true;
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        are_tensors = are_tensors && graph->body.args[i]->type->kind == IG_TENSOR;
    }
    for (size_t i = 0; i < count; i++) {
        const ig_value *result = graph->body.last->operands[i].value;
        are_tensors = are_tensors && result->type->kind == IG_TENSOR;
        is_any = is_any || keys[i];
    }
    return is_any && are_tensors;
}

const ig_signature *ig_onnx_signature(const ig_onnx_import *import,
                                      const ig_onnx_keys *const *keys,
                                      const char *const *names, size_t count) {
    const ig_graph *graph = import->graph;
    ig_signature *made = IG_NEW(import->arena, ig_signature);
    if (!has_tree(graph, keys, count)) {
        return NULL;
    }
    made->entry = ""; /* inputs by name or in order, and a tuple of outputs */
    made->arg_count = graph->body.arg_count - graph->state_count;
    for (uint32_t i = 0; i < made->arg_count; i++) {
        add_node(made, import->arena, IG_NODE_TENSOR, graph->arg_names[i], 0);
    }
    add_node(made, import->arena, IG_NODE_TUPLE, "", (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i]) {
            add_maps(made, import->arena, names[i], keys[i]);
        } else {
            add_node(made, import->arena, IG_NODE_TENSOR, names[i], 0);
        }
    }
    return ig_signature_copy(made, &import->module->arena);
}
