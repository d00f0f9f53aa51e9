/* The reference interpreter, for callers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "ir/interpret.h"

#include <string.h>

typedef struct interpret_call {
    ig_module                  *module;
    const ig_interpret_tensor  *inputs;
    size_t                      input_count;
    ig_arena                   *arena;
    ig_interpret_tensor        *outputs;
    size_t                      output_count;
} interpret_call;

static const ig_graph *entry_of(const ig_module *module) {
    for (size_t i = 0; i < module->graphs.count; i++) {
        if (module->graphs.items[i]->is_entry) {
            return module->graphs.items[i];
        }
    }
    return NULL;
}

static ig_status take_input(interpret_call *call, const ig_interpret_tensor *from,
                            ig_tensor *out) {
    ig_diag *diag = &call->module->context->diag;
    ig_dtype dtype;
    if (!ig_dtype_parse(ig_str_of(from->dtype), &dtype)) {
        return ig_error(diag, IG_INVALID, NULL, "there is no dtype '%s'", from->dtype);
    }
    if (from->rank > IG_TENSOR_RANK) {
        return ig_error(diag, IG_LIMIT, NULL, "rank %u is above %d", from->rank,
                        IG_TENSOR_RANK);
    }
    *out = (ig_tensor){ .kind = IG_TENSOR, .dtype = dtype, .rank = from->rank, .count = 1,
                        .data = (void *)(uintptr_t)from->data };
    for (uint32_t d = 0; d < from->rank; d++) {
        out->dims[d] = from->dims[d];
        out->count *= from->dims[d];
    }
    return IG_OK;
}

static void give_output(interpret_call *call, const ig_tensor *from,
                        ig_interpret_tensor *out) {
    int64_t *dims = IG_NEW_ARRAY(call->arena, int64_t, from->rank);
    memcpy(dims, from->dims, from->rank * sizeof *dims);
    *out = (ig_interpret_tensor){ .dtype = ig_dtypes[from->dtype].name,
                                  .rank = from->rank, .dims = dims, .data = from->data };
}

static ig_status interpret(void *arguments) {
    interpret_call *call = arguments;
    ig_diag *diag = &call->module->context->diag;
    const ig_graph *graph = entry_of(call->module);
    if (!graph) {
        return ig_error(diag, IG_INVALID, NULL, "the module has no entry graph");
    }
    if (call->input_count != graph->body.arg_count) {
        return ig_error(diag, IG_INVALID, NULL, "%zu inputs given, the model takes %u",
                        call->input_count, graph->body.arg_count);
    }
    ig_tensor *inputs = IG_NEW_ARRAY(call->arena, ig_tensor, call->input_count);
    for (size_t i = 0; i < call->input_count; i++) {
        IG_TRY(take_input(call, &call->inputs[i], &inputs[i]));
    }
    size_t count = graph->body.last->operand_count;
    ig_tensor *outputs = IG_NEW_ARRAY(call->arena, ig_tensor, count);
    IG_TRY(ig_interpret(graph, inputs, call->arena, outputs));
    call->outputs = IG_NEW_ARRAY(call->arena, ig_interpret_tensor, count);
    call->output_count = count;
    for (size_t i = 0; i < count; i++) {
        give_output(call, &outputs[i], &call->outputs[i]);
    }
    return IG_OK;
}

ig_status ig_interpret_run(ig_module *module, const ig_interpret_tensor *inputs,
                           size_t input_count, const ig_interpret_tensor **out_outputs,
                           size_t *out_output_count) {
    interpret_call call = { .module = module, .inputs = inputs,
                            .input_count = input_count, .arena = ig_host_results(module) };
    ig_status status = ig_host_guard(module->context, interpret, &call);
    *out_outputs = call.outputs;
    *out_output_count = call.output_count;
    return status;
}
