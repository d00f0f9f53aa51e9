/* The part of a training that gives its first values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/outputs.h"
#include "driver/train/train.h"
#include "ir/build/expr.h"

static bool holds_weight(const ig_op *op) {
    return op->code == IG_OP_weight || op->code == IG_OP_table;
}

/* Computations go, checks too, and then the arguments. */
static void erase_model(ig_graph *graph) {
    for (ig_op *op = graph->body.last, *before; op; op = before) {
        before = op->prev;
        if (!holds_weight(op)) {
            ig_op_erase(op);
        }
    }
    while (graph->body.arg_count > 0) {
        ig_block_remove_arg(&graph->body, graph->body.arg_count - 1);
    }
    graph->arg_names = NULL;
    graph->opened_count = 0;
    graph->signature = NULL;
    graph->states = NULL;
    graph->state_count = 0;
}

static ig_value *number_of_each(ig_expr *e, const ig_train_initial *what,
                                const char *name, bool is_rate) {
    double *numbers = IG_NEW_ARRAY(&e->module->arena, double, what->group_count);
    int64_t count = (int64_t)what->group_count;
    for (size_t i = 0; i < what->group_count; i++) {
        numbers[i] = is_rate ? what->groups[i].rate : what->groups[i].decay;
    }
    return ig_expr_constant(e, name, IG_DT_f64, 1, &count, numbers);
}

ig_status ig_train_keep_initial(ig_module *module, ig_graph *graph,
                                const ig_train_initial *what) {
    size_t count = what->weight_count + 2;
    ig_value **values = IG_NEW_ARRAY(&module->arena, ig_value *, count);
    const char **names = IG_NEW_ARRAY(&module->arena, const char *, count);
    erase_model(graph);
    ig_builder builder = ig_builder_at_end(&graph->body);
    ig_expr e = ig_expr_of(&builder);
    values[0] = number_of_each(&e, what, names[0] = "rates", true);
    values[1] = number_of_each(&e, what, names[1] = "decays", false);
    for (size_t i = 0; i < what->weight_count; i++) {
        names[i + 2] = what->weights[i];
        values[i + 2] = ig_graph_weight(graph,
                                        ig_module_weight(module, what->weights[i]));
    }
    ig_make_ret(&builder, values, 0);
    ig_graph_return(graph, values, names, count);
    return e.status;
}
