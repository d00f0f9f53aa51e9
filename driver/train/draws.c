/* Random numbers of a training: those of a step are drawn by its number, so that they
 * are the same wherever training goes on; where the model is tried nothing is dropped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/dropout.h"
#include "driver/train/training.h"

static void drop_nothing(ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        ig_dropout_undo(op);
        for (uint32_t i = 0; i < op->body_count; i++) {
            drop_nothing(op->bodies[i]);
        }
    }
}

void ig_train_drop_nothing(ig_training *t) {
    drop_nothing(&t->graph->body);
}

static void replace_numbers(ig_block *block, ig_value *number) {
    for (ig_op *op = block->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->body_count; i++) {
            replace_numbers(op->bodies[i], number);
        }
        if (op->code == IG_OP_run_number) {
            ig_value_replace(op->results, number);
            ig_op_erase(op);
        }
    }
}

void ig_train_index_draws(ig_training *t) {
    ig_builder builder = ig_builder_before(t->graph->body.first);
    ig_expr e = ig_expr_of(&builder);
    ig_value *number = t->graph->body.args[t->step];
    int64_t world = ig_train_world(t);
    if (world > 1) { /* no two ranks draw alike */
        number = ig_expr_with_integer(&e, IG_OP_mul, number, world);
        number = ig_expr_with_integer(&e, IG_OP_add, number, (int64_t)t->options.rank);
    }
    replace_numbers(&t->graph->body, number);
}
