/* What rules share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/grad/rule.h"

ig_value *ig_grad_x(const ig_grad *g, uint32_t index) {
    return ig_op_operand(g->op, index);
}

ig_value *ig_grad_y(const ig_grad *g) {
    return ig_op_result(g->op, 0);
}

ig_value *ig_grad_zeros(ig_expr *e, const ig_type *type) {
    return ig_expr_fill(e, (ig_dtype)type->dtype, type->rank, type->dims, 0);
}

ig_value *ig_grad_when(ig_expr *e, ig_value *condition, ig_value *d) {
    ig_value *zero = d ? ig_expr_number(e, (ig_dtype)d->type->dtype, 0) : NULL;
    return ig_build_where(e, condition, d, zero);
}

ig_value *ig_grad_unless(ig_expr *e, ig_value *condition, ig_value *d) {
    ig_value *zero = d ? ig_expr_number(e, (ig_dtype)d->type->dtype, 0) : NULL;
    return ig_build_where(e, condition, zero, d);
}

uint32_t ig_grad_axis(const ig_value *x, int64_t axis) {
    return (uint32_t)(axis < 0 ? axis + x->type->rank : axis);
}
