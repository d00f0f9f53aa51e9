/* The reference interpreter, for callers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/values/argument.h"
#include "ir/data.h"
#include "ir/fold/fold.h"
#include "ir/interpret/interpret.h"

#include <assert.h>

/* ---- state ---- */

/* The initial states, borrowed from the module. */
static ig_status begin_states(ig_module *module, const ig_graph *graph, ig_arena *arena,
                              ig_tensor *out) {
    for (uint32_t i = 0; i < graph->state_count; i++) {
        const ig_weight *weight = ig_module_weight(module, graph->states[i]);
        assert(weight && !weight->is_recipe && "verified");
        IG_TRY(ig_tensor_of_data(&weight->data, arena, module->context, &out[i]));
    }
    return IG_OK;
}

static ig_status take_states(ig_module *module, const ig_graph *graph, ig_arena *arena,
                             ig_tensor *out) {
    const ig_module_results *results = ig_driver_module(module);
    if (!results->states) {
        return begin_states(module, graph, arena, out);
    }
    for (uint32_t i = 0; i < graph->state_count; i++) {
        out[i] = results->states[i];
    }
    return IG_OK;
}

/* The run was good: its new state is kept. */
static void commit_states(ig_module *module, const ig_graph *graph,
                          const ig_tensor *states) {
    ig_module_results *results = ig_driver_module(module);
    int next = 1 - results->state_arena;
    assert((next == 0 || next == 1) && "there are two arenas in turn");
    ig_arena *arena = &results->state_arenas[next];
    ig_arena_fini(arena);
    ig_arena_init(arena, &module->context->budget);
    ig_tensor *kept = IG_NEW_ARRAY(arena, ig_tensor, graph->state_count);
    for (uint32_t i = 0; i < graph->state_count; i++) {
        kept[i] = states[i];
        kept[i].data = ig_arena_copy(arena, states[i].data,
                                     (size_t)ig_tensor_bytes(&states[i]));
    }
    results->states = kept;
    results->state_arena = next;
}

void ig_interpret_reset(ig_module *module) {
    ig_driver_module(module)->states = NULL;
}

/* ---- runs ---- */

typedef struct interpret_call {
    ig_module *module;
    const ig_argument *inputs;
    size_t input_count;
    ig_arena *arena;
    ig_argument *outputs;
    size_t output_count;
} interpret_call;

static ig_status run_interpreter(void *arguments) {
    interpret_call *call = arguments;
    ig_diag *diag = &call->module->context->diag;
    const ig_graph *graph = ig_entry_of(call->module);
    if (!graph) {
        return ig_error(diag, IG_INVALID, NULL, "the module has no entry graph");
    }
    uint32_t wanted = graph->body.arg_count - graph->state_count;
    if (call->input_count != wanted) {
        return ig_error(diag, IG_INVALID, NULL, "%zu inputs given, the model takes %u",
                        call->input_count, wanted);
    }
    ig_tensor *inputs = IG_NEW_ARRAY(call->arena, ig_tensor, graph->body.arg_count);
    for (size_t i = 0; i < call->input_count; i++) {
        IG_TRY(ig_argument_to_tensor(call->module->context, call->arena,
                                     &call->inputs[i], &inputs[i]));
    }
    IG_TRY(take_states(call->module, graph, call->arena, inputs + wanted));
    size_t count = graph->body.last->operand_count;
    assert(count >= graph->state_count && "verified: states come last");
    ig_tensor *outputs = IG_NEW_ARRAY(call->arena, ig_tensor, count);
    IG_TRY(ig_interpret(graph, inputs, call->arena, outputs));
    ig_fold_count_run(call->module);
    count -= graph->state_count;
    if (graph->state_count > 0) {
        commit_states(call->module, graph, outputs + count);
    }
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
                            .arena = ig_driver_results(module) };
    ig_status status = ig_driver_guard(module->context, run_interpreter, &call);
    *out_outputs = call.outputs;
    *out_output_count = call.output_count;
    return ig_driver_settle(module->context, status);
}
