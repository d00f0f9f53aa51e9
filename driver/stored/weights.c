/* Weights as inputs for a while: see weights.h.  SPDX-License-Identifier: Apache-2.0 */
#include "driver/stored/weights.h"

#include "driver/compile/compile.h"
#include "driver/outputs.h"
#include "ingot/ingot.h"
#include "ir/build/build.h"
#include "ir/text/text.h"

/* The weights that training may change, as open_weights takes them. */
static const char *list_weights(const ig_module *module, ig_arena *arena) {
    ig_writer list;
    bool knows = ig_module_knows_parameters(module);
    ig_writer_init(&list, arena);
    for (size_t i = 0; i < module->weights.count; i++) {
        const ig_weight *weight = module->weights.items[i];
        bool is_wanted = !weight->is_recipe && (weight->is_parameter || !knows) &&
                         (weight->type->dtype == IG_DT_f32 ||
                          weight->type->dtype == IG_DT_f64);
        if (is_wanted) {
            ig_put(&list, "%s%s", list.size ? "," : "", weight->name);
        }
    }
    return list.size ? ig_writer_str(&list).data : NULL;
}

ig_status ig_stored_open_weights(ig_module *module, bool *out_is_open) {
    const ig_graph *graph = ig_entry_of(module);
    *out_is_open = false;
    if (!graph || graph->opened_count > 0 || graph->state_count > 0) {
        return IG_OK;
    }
    ig_pass_options options = { .open_weights = list_weights(module, &module->arena) };
    *out_is_open = options.open_weights != NULL;
    return *out_is_open ? ig_passes_run(module, &options, "open_weights") : IG_OK;
}

void ig_stored_close_weights(ig_module *module) {
    ig_graph *graph = (ig_graph *)(uintptr_t)ig_entry_of(module);
    uint32_t count = graph->opened_count, first = graph->body.arg_count - count;
    ig_builder b = ig_builder_before(graph->body.first);
    for (uint32_t i = first; i < first + count; i++) {
        ig_value *arg = graph->body.args[i];
        ig_weight *weight = ig_module_weight(module, ig_module_input_name(module, i));
        if (arg->uses) {
            ig_value_replace(arg, ig_make_weight(&b, weight));
        }
    }
    ig_graph_remove_inputs(graph, first, count);
    graph->opened_count = 0;
}
