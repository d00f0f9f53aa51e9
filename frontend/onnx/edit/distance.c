/* The distance of nodes from one that needs them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/edit/editor.h"

static void reach_givers(const ig_map *givers, const Onnx__NodeProto *node,
                         uint32_t distance, uint32_t *distances) {
    ig_map read;
    ig_map_init(&read, givers->arena);
    ig_onnx_read_names(&read, node);
    for (size_t i = 0; i < read.count; i++) {
        uintptr_t giver = (uintptr_t)ig_map_get(givers, read.entries[i].key);
        if (giver && distances[giver - 1] > distance) {
            distances[giver - 1] = distance;
        }
    }
}

/* Nodes follow those whose results they read, so one walk back is enough. */
void ig_onnx_edit_distances(const ig_onnx_editor *editor, size_t node, ig_arena *arena,
                            uint32_t *out_distances) {
    const Onnx__GraphProto *graph = editor->model.proto->graph;
    ig_map givers; /* name -> 1 + the node's number */
    ig_map_init(&givers, arena);
    for (size_t i = 0; i < graph->n_node; i++) {
        out_distances[i] = UINT32_MAX;
        for (size_t k = 0; k < graph->node[i]->n_output && i < node; k++) {
            const char *name = graph->node[i]->output[k];
            if (name[0]) {
                ig_map_set(&givers, ig_str_of(name), (void *)(uintptr_t)(i + 1));
            }
        }
    }
    out_distances[node] = 0;
    for (size_t i = node + 1; i-- > 0;) {
        if (out_distances[i] != UINT32_MAX) {
            reach_givers(&givers, graph->node[i], out_distances[i] + 1, out_distances);
        }
    }
}
