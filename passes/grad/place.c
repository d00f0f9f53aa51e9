/* Rules of ops that take elements by indices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What took an element from a place adds to its gradient there, as often as it was
 * taken. */
#include "passes/grad/rule.h"

/* For any op that only moves elements of its first operand: moved in their place are
 * the elements' own numbers, and dy is added where they say. */
void ig_grad_by_places(ig_grad *g) {
    ig_expr *e = g->e;
    const ig_type *type = ig_grad_x(g, 0)->type;
    ig_dim count = ig_type_count(e->module, type);
    ig_value *operands[5] = { ig_expr_iota(e, IG_DT_i64, count) };
    operands[0] = ig_expr_reshape(e, operands[0], type->rank, type->dims);
    for (uint32_t i = 1; i < g->op->operand_count; i++) {
        operands[i] = ig_grad_x(g, i);
    }
    ig_value *places = ig_expr_make(e, (ig_opcode)g->op->code, operands,
                                    g->op->operand_count, g->op->attrs);
    places = ig_expr_flatten(e, places);
    ig_value *zeros = ig_expr_fill(e, (ig_dtype)type->dtype, 1, &count, 0);
    ig_scatter_elements_attrs add = { .axis = 0, .reduce = IG_SCATTER_add };
    ig_value *d = ig_expr_flatten(e, g->dy);
    d = ig_build_scatter_elements(e, zeros, places, d, add);
    ig_grad_give(g, 0, ig_expr_reshape(e, d, type->rank, type->dims));
}
