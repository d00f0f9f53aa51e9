/* The reference interpreter, for callers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/argument.h"
#include "ir/interpret.h"

typedef struct interpret_call {
    ig_module         *module;
    const ig_argument *inputs;
    size_t             input_count;
    ig_arena          *arena;
    ig_argument       *outputs;
    size_t             output_count;
} interpret_call;

static ig_status interpret(void *arguments) {
    interpret_call *call = arguments;
    ig_diag        *diag = &call->module->context->diag;
    const ig_graph *graph = ig_entry_of(call->module);
    if (!graph) {
        return ig_error(diag, IG_INVALID, NULL, "the module has no entry graph");
    }
    if (call->input_count != graph->body.arg_count) {
        return ig_error(diag, IG_INVALID, NULL, "%zu inputs given, the model takes %u",
                        call->input_count, graph->body.arg_count);
    }
    ig_tensor *inputs = IG_NEW_ARRAY(call->arena, ig_tensor, call->input_count);
    for (size_t i = 0; i < call->input_count; i++) {
        IG_TRY(ig_argument_to_tensor(call->module->context, call->arena,
                                     &call->inputs[i], &inputs[i]));
    }
    size_t     count = graph->body.last->operand_count;
    ig_tensor *outputs = IG_NEW_ARRAY(call->arena, ig_tensor, count);
    IG_TRY(ig_interpret(graph, inputs, call->arena, outputs));
    call->outputs = IG_NEW_ARRAY(call->arena, ig_argument, count);
    call->output_count = count;
    for (size_t i = 0; i < count; i++) {
        ig_argument_of_tensor(call->arena, &outputs[i], &call->outputs[i]);
    }
    return IG_OK;
}

ig_status ig_interpret_run(ig_module *module, const ig_argument *inputs,
                           size_t input_count, const ig_argument **out_outputs,
                           size_t *out_output_count) {
    interpret_call call = { .module = module,
                            .inputs = inputs,
                            .input_count = input_count,
                            .arena = ig_host_results(module) };
    ig_status      status = ig_host_guard(module->context, interpret, &call);
    *out_outputs = call.outputs;
    *out_output_count = call.output_count;
    return ig_host_settle(module->context, status);
}
