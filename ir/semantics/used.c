/* Constants that some graph reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/used.h"

#include "ir/ops.h"

/* Bodies nest at most limits.graph_depth deep. */
static void note_used(const ig_module *module, const ig_block *block, ig_map *used) {
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_weight || op->code == IG_OP_table) {
            ig_weight *weight = ig_module_weight(module,
                                                 ig_attr_str(op, IG_weight_name));
            ig_map_set_id(used, IG_MAP_PTR(weight), weight);
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            note_used(module, op->bodies[i], used);
        }
    }
}

void ig_used_list(const ig_module *module, ig_arena *arena, ig_map *used) {
    ig_map_init(used, arena);
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        note_used(module, &graph->body, used);
        for (uint32_t k = 0; k < graph->state_count; k++) {
            ig_weight *weight = ig_module_weight(module, graph->states[k]);
            ig_map_set_id(used, IG_MAP_PTR(weight), weight);
        }
    }
    for (size_t i = 0; i < module->weights.count; i++) {
        ig_weight *weight = module->weights.items[i];
        if (weight->is_recipe) {
            ig_map_set_id(used, IG_MAP_PTR(weight), weight);
        }
    }
}
