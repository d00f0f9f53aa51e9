/* Rules of elementwise ops of two and three operands.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Extents that operands were broadcast along are summed over by ig_grad_give.  Where
 * max and min tie, each operand gets a half; against a constant, as a bound is, nothing
 * (both as torch).  pow of 0: 0 for the exponent, and for the base where that is 0. */
#include "passes/grad/rule.h"

static ig_value *square_of(ig_expr *e, ig_value *a) {
    return ig_build_mul(e, a, a);
}

void ig_grad_add(ig_grad *g) {
    ig_grad_give(g, 0, g->dy);
    ig_grad_give(g, 1, g->dy);
}

void ig_grad_sub(ig_grad *g) {
    ig_grad_give(g, 0, g->dy);
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1, ig_build_neg(g->e, g->dy));
    }
}

void ig_grad_mul(ig_grad *g) {
    for (uint32_t i = 0; i < 2; i++) {
        if (ig_grad_wants(g, i)) {
            ig_grad_give(g, i, ig_build_mul(g->e, g->dy, ig_grad_x(g, 1 - i)));
        }
    }
}

void ig_grad_div(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *over = ig_build_div(e, g->dy, ig_grad_x(g, 1));
    ig_grad_give(g, 0, over);
    if (ig_grad_wants(g, 1)) {
        ig_value *back = ig_build_mul(e, over, ig_grad_y(g));
        ig_grad_give(g, 1, ig_build_neg(e, back));
    }
}

/* x - y * q, q the whole quotient: its steps are flat. */
void ig_grad_mod(ig_grad *g) {
    ig_expr *e = g->e;
    bool truncates = ig_attr_int(g->op, IG_mod_truncate, 0) != 0;
    ig_grad_give(g, 0, g->dy);
    if (ig_grad_wants(g, 1)) {
        ig_value *q = ig_build_div(e, ig_grad_x(g, 0), ig_grad_x(g, 1));
        q = truncates ? ig_build_trunc(e, q) : ig_build_floor(e, q);
        ig_grad_give(g, 1, ig_build_neg(e, ig_build_mul(e, g->dy, q)));
    }
}

/* p x^(p - 1), 0 where p is 0; x^p log x, 0 where x is 0 and p no less. */
void ig_grad_pow(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0), *p = ig_grad_x(g, 1);
    if (ig_grad_wants(g, 0)) {
        ig_value *flat = ig_expr_with(e, IG_OP_eq, p, 0);
        ig_value *less = ig_build_pow(e, x, ig_expr_with(e, IG_OP_sub, p, 1));
        ig_value *slope = ig_build_mul(e, ig_expr_like(e, p, x), less);
        slope = ig_build_mul(e, g->dy, slope);
        ig_grad_give(g, 0, ig_grad_unless(e, flat, slope));
    }
    if (ig_grad_wants(g, 1)) {
        ig_value *is_zero = ig_expr_with(e, IG_OP_eq, x, 0);
        ig_value *is_flat = ig_expr_with(e, IG_OP_ge, p, 0);
        is_flat = ig_build_and(e, is_zero, is_flat);
        ig_value *slope = ig_build_mul(e, ig_grad_y(g), ig_build_log(e, x));
        slope = ig_grad_unless(e, is_flat, ig_build_mul(e, g->dy, slope));
        ig_grad_give(g, 1, ig_expr_like(e, slope, p));
    }
}

/* All of dy where the operand is chosen, which NaN is. */
static void give_extreme(ig_grad *g, uint32_t operand, ig_opcode is_worse) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, operand), *other = ig_grad_x(g, 1 - operand);
    if (!ig_grad_wants(g, operand)) {
        return;
    }
    ig_value *worse = ig_expr_map2(e, is_worse, x, other);
    ig_value *tie = ig_build_eq(e, x, other);
    if (ig_def(other, IG_OP_const)) {
        ig_grad_give(g, operand, ig_grad_unless(e, ig_build_or(e, worse, tie), g->dy));
        return;
    }
    ig_value *half = ig_expr_with(e, IG_OP_mul, g->dy, 0.5);
    ig_value *share = ig_build_where(e, tie, half, g->dy);
    ig_grad_give(g, operand, ig_grad_unless(e, worse, share));
}

void ig_grad_max(ig_grad *g) {
    give_extreme(g, 0, IG_OP_lt);
    give_extreme(g, 1, IG_OP_lt);
}

void ig_grad_min(ig_grad *g) {
    give_extreme(g, 0, IG_OP_gt);
    give_extreme(g, 1, IG_OP_gt);
}

/* Of the angle of y, x: x dy / (x^2 + y^2) and -y dx / (x^2 + y^2). */
void ig_grad_atan2(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *y = ig_grad_x(g, 0), *x = ig_grad_x(g, 1);
    ig_value *yy = square_of(e, y);
    ig_value *sum = ig_build_add(e, yy, square_of(e, x));
    ig_value *over = ig_build_div(e, g->dy, sum);
    if (ig_grad_wants(g, 0)) {
        ig_grad_give(g, 0, ig_build_mul(e, over, x));
    }
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1, ig_build_neg(e, ig_build_mul(e, over, y)));
    }
}

void ig_grad_hypot(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *over = ig_build_div(e, g->dy, ig_grad_y(g));
    for (uint32_t i = 0; i < 2; i++) {
        if (ig_grad_wants(g, i)) {
            ig_grad_give(g, i, ig_build_mul(e, over, ig_grad_x(g, i)));
        }
    }
}

/* |x| with a sign: that of x times that of the result, 0 at 0. */
void ig_grad_copysign(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *sign = ig_build_sign(e, ig_grad_x(g, 0));
    sign = ig_build_mul(e, sign, ig_build_sign(e, ig_grad_y(g)));
    ig_grad_give(g, 0, ig_build_mul(e, g->dy, sign));
}

/* The neighbour of x goes where x does. */
void ig_grad_nextafter(ig_grad *g) {
    ig_grad_give(g, 0, g->dy);
}

void ig_grad_where(ig_grad *g) {
    ig_value *condition = ig_grad_x(g, 0);
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1, ig_grad_when(g->e, condition, g->dy));
    }
    if (ig_grad_wants(g, 2)) {
        ig_grad_give(g, 2, ig_grad_unless(g->e, condition, g->dy));
    }
}
