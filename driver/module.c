/* Questions about a module, and passes on it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "driver/targets.h"
#include "ir/text/text.h"
#include "passes/engine/pass.h"

#include <string.h>

/* ---- signature ---- */

size_t ig_module_input_count(const ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    return graph ? graph->body.arg_count - graph->state_count : 0;
}

size_t ig_module_output_count(const ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    return graph && graph->body.last
               ? graph->body.last->operand_count - graph->state_count
               : 0;
}

size_t ig_module_state_count(const ig_module *module) {
    const ig_graph *graph = ig_entry_of(module);
    return graph ? graph->state_count : 0;
}

/* Ports without a name have their position as one, in artifacts too. */
static const char *port_name(ig_module *module, const char *const *names,
                             const char *kind, size_t index) {
    return names && names[index]
               ? names[index]
               : ig_arena_printf(&module->arena, "%s_%zu", kind, index);
}

const char *ig_module_input_name(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool is_there = graph && index < graph->body.arg_count;
    return is_there ? port_name(module, graph->arg_names, "input", index) : "";
}

const char *ig_module_output_name(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool is_there = graph && index < ig_module_output_count(module);
    return is_there ? port_name(module, graph->result_names, "output", index) : "";
}

static const char *type_text(ig_module *module, const ig_type *type) {
    ig_writer text;
    ig_writer_init(&text, &module->arena);
    ig_print_type(module, type, &text);
    return ig_writer_str(&text).data;
}

const char *ig_module_input_type(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool is_there = graph && index < graph->body.arg_count;
    return is_there ? type_text(module, graph->body.args[index]->type) : "";
}

const char *ig_module_output_type(ig_module *module, size_t index) {
    const ig_graph *graph = ig_entry_of(module);
    bool is_there = graph && index < ig_module_output_count(module);
    return is_there ? type_text(module, graph->body.last->operands[index].value->type)
                    : "";
}

/* ---- passes ---- */

typedef struct run_call_arguments {
    ig_module *module;
    const char *pipeline, *target;
} run_call_arguments;

static ig_status run_pipeline(void *arguments) {
    run_call_arguments *call = arguments;
    ig_pass_options options = { 0 };
    if (call->target) {
        ig_target_list list;
        IG_TRY(ig_targets_parse(call->module->context, call->target, &list));
        options.target = list.targets[0];
    }
    return ig_passes_run(call->module, &options, call->pipeline);
}

ig_status ig_module_run(ig_module *module, const char *pipeline, const char *target) {
    run_call_arguments call = { module, pipeline, target };
    ig_status status = ig_driver_guard(module->context, run_pipeline, &call);
    return ig_driver_settle(module->context, status);
}
