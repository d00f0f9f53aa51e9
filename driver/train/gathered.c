/* Gradients of several calls, gathered for one update.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     sum     = gradients so far + gradient
 *     is due  = the call's index is a multiple of `accumulate`
 *     weight  = is due ? update(weight, sum) : weight      states alike
 *     next    = is due ? 0 : sum
 *
 * Calls are counted by "step", from 1 on; updates are as many times fewer.
 */
#include "driver/train/training.h"

double ig_train_call_share(const ig_training *t) {
    bool is_mean = t->loss.kind != IG_LOSS_KIND_total;
    return t->options.accumulate > 1 && is_mean ? 1 / (double)t->options.accumulate : 1;
}

void ig_train_gather(ig_training *t) {
    ig_expr *e = &t->e;
    int64_t count = t->options.accumulate;
    ig_value *const *args = t->graph->body.args;
    t->update = args[t->step];
    if (count <= 1) {
        return;
    }
    ig_value *call = ig_expr_with_integer(e, IG_OP_add, args[t->step], count - 1);
    t->update = ig_expr_with_integer(e, IG_OP_div, call, count);
    ig_value *last = ig_expr_with_integer(e, IG_OP_mul, t->update, count);
    t->is_due = ig_build_eq(e, last, args[t->step]);
    for (size_t i = 0; i < t->trained.count; i++) {
        ig_train_weight *w = &t->trained.items[i];
        if (w->sum) {
            w->gradient = ig_build_add(e, args[w->sum], w->gradient);
            ig_value *none = ig_expr_number(e, (ig_dtype)w->type->dtype, 0);
            w->next_sum = ig_build_where(e, t->is_due, none, w->gradient);
        }
    }
}

void ig_train_keep(ig_training *t, ig_train_weight *w) {
    ig_value *const *args = t->graph->body.args;
    if (!t->is_due) {
        return;
    }
    w->next = ig_build_where(&t->e, t->is_due, w->next, args[w->argument]);
    for (uint32_t s = 0; s < IG_UPDATE_STATES; s++) {
        if (w->states[s]) {
            w->next_states[s] = ig_build_where(&t->e, t->is_due, w->next_states[s],
                                               args[w->states[s]]);
        }
    }
}
