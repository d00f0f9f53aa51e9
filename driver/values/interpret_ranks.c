/* The reference interpreter for the programs of all ranks, for callers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/values/argument.h"
#include "ingot/shard.h"
#include "ir/interpret/interpret.h"
#include "ir/shard.h"

typedef struct ranks_call {
    ig_module *const *modules; /* by rank; the first owns the results */
    size_t world;
    const ig_argument *const *inputs;
    size_t input_count, output_count;
    ig_arena *arena;
    const ig_argument **outputs;
} ranks_call;

#define RANKS_ERROR(call, status, ...) \
    ig_error(&(call)->modules[0]->context->diag, status, NULL, __VA_ARGS__)

static ig_status check_module(const ranks_call *call, size_t rank) {
    const ig_graph *graph = ig_entry_of(call->modules[rank]);
    if (!graph) {
        return RANKS_ERROR(call, IG_INVALID,
                           "the module of rank %zu has no entry graph", rank);
    }
    if (graph->state_count > 0) {
        return RANKS_ERROR(call, IG_UNSUPPORTED,
                           "the program of rank %zu has state, which ranks side by "
                           "side do not keep",
                           rank);
    }
    size_t outputs = ig_entry_of(call->modules[0])->body.last->operand_count;
    if (call->input_count != graph->body.arg_count ||
        outputs != graph->body.last->operand_count) {
        return RANKS_ERROR(call, IG_INVALID,
                           "%zu inputs given; the program of rank %zu takes %u and "
                           "gives %u, that of rank 0 %zu",
                           call->input_count, rank, graph->body.arg_count,
                           graph->body.last->operand_count, outputs);
    }
    return IG_OK;
}

static ig_status interpret_ranks(void *arguments) {
    ranks_call *call = arguments;
    ig_arena *arena = call->arena;
    if (call->world < 1 || call->world > IG_SHARD_WORLD_MAX) {
        return RANKS_ERROR(call, IG_INVALID, "%zu ranks are not possible", call->world);
    }
    const ig_graph **graphs = IG_NEW_ARRAY(arena, const ig_graph *, call->world);
    const ig_tensor **in = IG_NEW_ARRAY(arena, const ig_tensor *, call->world);
    ig_tensor **out = IG_NEW_ARRAY(arena, ig_tensor *, call->world);
    for (size_t r = 0; r < call->world; r++) {
        IG_TRY(check_module(call, r));
        graphs[r] = ig_entry_of(call->modules[r]);
        ig_tensor *own = IG_NEW_ARRAY(arena, ig_tensor, call->input_count);
        for (size_t i = 0; i < call->input_count; i++) {
            IG_TRY(ig_argument_to_tensor(call->modules[r]->context, arena,
                                         &call->inputs[r][i], &own[i]));
        }
        in[r] = own;
        out[r] = IG_NEW_ARRAY(arena, ig_tensor, graphs[r]->body.last->operand_count);
    }
    IG_TRY(ig_interpret_ranks(graphs, (uint32_t)call->world, in, arena, out));
    call->output_count = graphs[0]->body.last->operand_count;
    call->outputs = IG_NEW_ARRAY(arena, const ig_argument *, call->world);
    for (size_t r = 0; r < call->world; r++) {
        ig_argument *values = IG_NEW_ARRAY(arena, ig_argument, call->output_count);
        for (size_t i = 0; i < call->output_count; i++) {
            ig_argument_of_tensor(arena, &out[r][i], &values[i]);
        }
        call->outputs[r] = values;
    }
    return IG_OK;
}

ig_status ig_interpret_world(ig_module *const *modules, size_t world,
                             const ig_argument *const *inputs, size_t input_count,
                             const ig_argument *const **out_outputs,
                             size_t *out_output_count) {
    ranks_call call = { .modules = modules,
                        .world = world,
                        .inputs = inputs,
                        .input_count = input_count,
                        .arena = ig_driver_results(modules[0]) };
    ig_status status = ig_driver_guard(modules[0]->context, interpret_ranks, &call);
    *out_outputs = call.outputs;
    *out_output_count = call.output_count;
    return ig_driver_settle(modules[0]->context, status);
}
