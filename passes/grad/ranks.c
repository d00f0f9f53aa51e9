/* Rules of what ranks exchange.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loss is the sum over all ranks of theirs. */
#include "passes/grad/rule.h"

/* All have the sum of all, so each one's part goes into all. */
void ig_grad_all_reduce(ig_grad *g) {
    uint32_t count = g->op->operand_count;
    ig_value **dys = IG_NEW_ARRAY(&g->e->module->arena, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *dy = ig_grad_of_result(g, i);
        dys[i] = dy ? dy : ig_grad_zeros(g->e, ig_grad_x(g, i)->type);
    }
    ig_op_spec spec = { .operands = dys,
                        .operand_count = count,
                        .result_count = count };
    ig_op *sums = ig_build_all_reduce_op(g->e, &spec, ig_all_reduce_attrs_of(g->op));
    for (uint32_t i = 0; i < count; i++) {
        ig_grad_give(g, i, ig_op_result(sums, i));
    }
}
