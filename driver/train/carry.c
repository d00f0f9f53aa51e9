/* States of a model in training: running statistics, counters.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     graph @main(%x, %m = @running_mean, %label …) -> (%y, %next)
 *   becomes
 *     graph @main(%x, %label …, %m) -> (%y, %next)
 *
 * A step gives %next in the memory of %m, as it does with weights.  Where the model is
 * tried, batch norms apply %m.
 */
#include "driver/outputs.h"
#include "driver/train/train.h"
#include "ingot/ingot.h"
#include "ir/build/expr.h"

static void name_results(ig_graph *graph, uint32_t first, const ig_train_carried *all) {
    uint32_t count = graph->body.last->operand_count;
    const char **names = IG_NEW_ARRAY(&graph->module->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = i < first ? ig_module_output_name(graph->module, i)
                             : all[i - first].name;
    }
    graph->result_names = names;
}

void ig_train_carry_states(ig_graph *graph, uint32_t first, ig_train_carried *out) {
    uint32_t count = graph->state_count;
    uint32_t result = graph->body.last->operand_count - count;
    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        ig_value *state = graph->body.args[first + i];
        out[i] = (ig_train_carried){ .name = graph->states[i], .result = result + i };
        uint32_t at = ig_graph_add_input(graph, out[i].name, state->type);
        ig_value_replace(graph->body.args[first + i], graph->body.args[at]);
        out[i].argument = at - count;
    }
    name_results(graph, result, out);
    ig_graph_remove_inputs(graph, first, count);
    graph->states = NULL;
    graph->state_count = 0;
}

enum { FORMULA_DEPTH = 8 };

/* Does the value come from `from` by arithmetic with constants only, as an unbiased
 * variance does? */
static bool comes_from(const ig_value *value, const ig_value *from, int depth) {
    const ig_op *op = value->def;
    if (value == from) {
        return true;
    }
    bool is_step = op && depth < FORMULA_DEPTH &&
                   (op->code == IG_OP_mul || op->code == IG_OP_div ||
                    op->code == IG_OP_reshape || op->code == IG_OP_cast);
    return is_step && comes_from(op->operands[0].value, from, depth + 1);
}

/* next = share * state + share * new, where `new` comes from the batch's statistics. */
static bool is_blend(const ig_value *next, const ig_value *state,
                     const ig_value *statistics) {
    const ig_op *sum = next->def;
    bool has_state = false, has_new = false;
    for (uint32_t i = 0; sum && sum->code == IG_OP_add && i < 2; i++) {
        const ig_value *term = sum->operands[i].value;
        has_state |= comes_from(term, state, 0);
        has_new |= comes_from(term, statistics, 0);
    }
    return has_state && has_new;
}

static void apply_running(ig_graph *graph, ig_op *norm, uint32_t operand,
                          const ig_train_carried *carried, uint32_t count) {
    const ig_op *ret = graph->body.last;
    for (uint32_t i = 0; i < count; i++) {
        ig_value *state = graph->body.args[carried[i].argument];
        const ig_value *next = ret->operands[carried[i].result].value;
        const ig_value *own = norm->operands[operand].value;
        if (state->type == own->type && is_blend(next, state, own)) {
            ig_use_set(&norm->operands[operand], state);
            return;
        }
    }
}

void ig_train_apply_states(ig_graph *graph, const ig_train_carried *carried,
                           uint32_t count) {
    for (ig_op *op = graph->body.first; op && count > 0; op = op->next) {
        if (op->code == IG_OP_batch_norm) {
            apply_running(graph, op, 3, carried, count);
            apply_running(graph, op, 4, carried, count);
        }
    }
    if (count == 0) {
        return;
    }
    uint32_t own = graph->body.last->operand_count - count;
    ig_value **values = IG_NEW_ARRAY(&graph->module->arena, ig_value *, own);
    for (uint32_t i = 0; i < own; i++) {
        values[i] = graph->body.last->operands[i].value;
    }
    ig_graph_return(graph, values, graph->result_names, own);
}
