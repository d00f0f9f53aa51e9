/* Activations in elementwise ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/activation.h"

/* ---- gates ---- */

ig_value *ig_compose_clip(ig_expr *e, ig_value *x, double low, double high) {
    x = ig_expr_with(e, IG_OP_max, x, low);
    return ig_expr_with(e, IG_OP_min, x, high);
}

ig_value *ig_compose_swish(ig_expr *e, ig_value *x, double alpha) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *gate = alpha == 1 ? wide : ig_expr_with(e, IG_OP_mul, wide, alpha);
    return ig_expr_like(e, ig_build_mul(e, wide, ig_build_sigmoid(e, gate)), x);
}

ig_value *ig_compose_mish(ig_expr *e, ig_value *x) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *gate = ig_build_tanh(e, ig_build_softplus(e, wide));
    return ig_expr_like(e, ig_build_mul(e, wide, gate), x);
}

ig_value *ig_compose_glu(ig_expr *e, ig_value *x, uint32_t axis) {
    ig_value *wide = ig_expr_widen(e, x);
    if (!wide || axis >= wide->type->rank) {
        return ig_expr_fail(e, IG_INVALID, "axis %u is outside of the tensor", axis);
    }
    ig_dim half = ig_dim_floor_div(e->module, wide->type->dims[axis], ig_dim_of(2));
    ig_value *gate = ig_expr_slice(e, wide, axis, half, half, 1);
    wide = ig_expr_slice(e, wide, axis, ig_dim_of(0), half, 1);
    return ig_expr_like(e, ig_build_mul(e, wide, ig_build_sigmoid(e, gate)), x);
}

/* clip(x + 3, 0, 6) */
static ig_value *build_hard_gate(ig_expr *e, ig_value *x) {
    return ig_compose_clip(e, ig_expr_with(e, IG_OP_add, x, 3), 0, 6);
}

ig_value *ig_compose_hard_sigmoid(ig_expr *e, ig_value *x, double alpha, double beta) {
    ig_value *y = ig_expr_widen(e, x);
    if ((float)alpha == 1.0f / 6 && beta == 0.5) {
        y = ig_expr_with(e, IG_OP_div, build_hard_gate(e, y), 6);
    } else {
        y = ig_expr_with(e, IG_OP_mul, y, alpha);
        y = ig_compose_clip(e, ig_expr_with(e, IG_OP_add, y, beta), 0, 1);
    }
    return ig_expr_like(e, y, x);
}

ig_value *ig_compose_hard_swish(ig_expr *e, ig_value *x) {
    ig_value *y = ig_expr_widen(e, x);
    y = ig_build_mul(e, y, build_hard_gate(e, y));
    return ig_expr_like(e, ig_expr_with(e, IG_OP_div, y, 6), x);
}

ig_value *ig_compose_log_sigmoid(ig_expr *e, ig_value *x) {
    ig_value *y = ig_build_neg(e, ig_expr_widen(e, x));
    return ig_expr_like(e, ig_build_neg(e, ig_build_softplus(e, y)), x);
}

/* From here on softplus(x) rounds to x in f32. */
static const double softplus_is_x = 16;

ig_value *ig_compose_softplus(ig_expr *e, ig_value *x, double beta, double threshold) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *scaled = beta == 1 ? wide : ig_expr_with(e, IG_OP_mul, wide, beta);
    ig_value *y = ig_build_softplus(e, scaled);
    if (!y) {
        return NULL;
    }
    if (beta != 1) {
        y = ig_expr_with(e, IG_OP_div, y, beta);
    }
    bool is_linear_anyway = beta == 1 && threshold >= softplus_is_x &&
                            y->type->dtype == IG_DT_f32;
    if (!is_linear_anyway) {
        ig_value *is_linear = ig_expr_with(e, IG_OP_gt, scaled, threshold);
        y = ig_build_where(e, is_linear, wide, y);
    }
    return ig_expr_like(e, y, x);
}

ig_value *ig_compose_softsign(ig_expr *e, ig_value *x) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *size = ig_expr_with(e, IG_OP_add, ig_build_abs(e, wide), 1);
    return ig_expr_like(e, ig_build_div(e, wide, size), x);
}

/* ---- other slopes below zero ---- */

static ig_value *choose_above_zero(ig_expr *e, ig_value *x, ig_value *below) {
    ig_value *is_above = ig_expr_with(e, IG_OP_gt, x, 0);
    return ig_build_where(e, is_above, x, below);
}

ig_value *ig_compose_leaky_relu(ig_expr *e, ig_value *x, double slope) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *below = ig_expr_with(e, IG_OP_mul, wide, slope);
    return ig_expr_like(e, choose_above_zero(e, wide, below), x);
}

ig_value *ig_compose_prelu(ig_expr *e, ig_value *x, ig_value *slope, bool keeps_zero) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *below = ig_build_mul(e, wide, ig_expr_widen(e, slope));
    if (!keeps_zero) {
        return ig_expr_like(e, choose_above_zero(e, wide, below), x);
    }
    ig_value *is_below = ig_expr_with(e, IG_OP_lt, wide, 0);
    return ig_expr_like(e, ig_build_where(e, is_below, below, wide), x);
}

ig_value *ig_compose_elu(ig_expr *e, ig_value *x, double alpha, double scale,
                         double rate) {
    ig_value *wide = ig_expr_widen(e, x);
    ig_value *below = rate == 1 ? wide : ig_expr_with(e, IG_OP_mul, wide, rate);
    below = ig_build_expm1(e, below);
    below = alpha == 1 ? below : ig_expr_with(e, IG_OP_mul, below, alpha);
    ig_value *y = choose_above_zero(e, wide, below);
    return ig_expr_like(e, scale == 1 ? y : ig_expr_with(e, IG_OP_mul, y, scale), x);
}

/* ---- thresholds ---- */

static ig_value *number_like(ig_expr *e, const ig_value *x, double number) {
    return x ? ig_expr_number(e, (ig_dtype)x->type->dtype, number) : NULL;
}

ig_value *ig_compose_threshold(ig_expr *e, ig_value *x, double threshold,
                               double value) {
    ig_value *is_below = ig_expr_with(e, IG_OP_le, x, threshold);
    return ig_build_where(e, is_below, number_like(e, x, value), x);
}

ig_value *ig_compose_shrink(ig_expr *e, ig_value *x, double lambda, double bias) {
    ig_value *above = ig_expr_with(e, IG_OP_sub, x, bias);
    ig_value *is_above = ig_expr_with(e, IG_OP_gt, x, lambda);
    ig_value *y = ig_build_where(e, is_above, above, number_like(e, x, 0));
    ig_value *below = ig_expr_with(e, IG_OP_add, x, bias);
    return ig_build_where(e, ig_expr_with(e, IG_OP_lt, x, -lambda), below, y);
}

ig_value *ig_compose_hard_shrink(ig_expr *e, ig_value *x, double lambda) {
    ig_value *is_low = ig_expr_with(e, IG_OP_ge, x, -lambda);
    ig_value *is_high = ig_expr_with(e, IG_OP_le, x, lambda);
    ig_value *is_between = ig_build_and(e, is_low, is_high);
    return ig_build_where(e, is_between, number_like(e, x, 0), x);
}

ig_value *ig_compose_soft_shrink(ig_expr *e, ig_value *x, double lambda) {
    return ig_build_sub(e, x, ig_compose_clip(e, x, -lambda, lambda));
}

ig_value *ig_compose_logit(ig_expr *e, ig_value *x, double eps) {
    ig_value *y = ig_expr_widen(e, x);
    if (eps >= 0) {
        ig_value *is_low = ig_expr_with(e, IG_OP_lt, y, eps);
        ig_value *low = number_like(e, y, eps);
        y = ig_build_where(e, is_low, low, ig_expr_with(e, IG_OP_min, y, 1 - eps));
    }
    y = ig_build_div(e, y, ig_expr_number_with(e, IG_OP_sub, 1, y));
    return ig_expr_like(e, ig_build_log(e, y), x);
}

/* ---- floor division ---- */

/* The truncated quotient, less 1 where the rest is not 0 and its sign is not the
 * divisor's.  (x - rest) / y with the divisor's rest would leave the range near its
 * ends; here x - quotient * y is between 0 and x. */
ig_value *ig_compose_floor_divide(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *quotient = ig_build_div(e, x, y);
    if (!quotient || ig_dtypes[x->type->dtype].class != IG_SINT) {
        return quotient;
    }
    ig_value *rest = ig_build_sub(e, x, ig_build_mul(e, quotient, y));
    ig_value *differs = ig_build_xor(e, ig_expr_with(e, IG_OP_lt, y, 0),
                                     ig_expr_with(e, IG_OP_lt, rest, 0));
    differs = ig_build_and(e, differs, ig_expr_with(e, IG_OP_ne, rest, 0));
    return ig_build_where(e, differs, ig_expr_with(e, IG_OP_sub, quotient, 1),
                          quotient);
}

/* A quotient rounded up to the next integer would be wrong. */
ig_value *ig_compose_floor_divide_floats(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *rest = ig_build_mod(e, x, y, (ig_mod_attrs){ .truncate = true });
    ig_value *exact = ig_build_div(e, x, y);
    ig_value *whole = ig_build_div(e, ig_build_sub(e, x, rest), y);
    ig_value *below = ig_build_xor(e, ig_expr_with(e, IG_OP_lt, y, 0),
                                   ig_expr_with(e, IG_OP_lt, rest, 0));
    below = ig_build_and(e, below, ig_expr_with(e, IG_OP_ne, rest, 0));
    whole = ig_build_where(e, below, ig_expr_with(e, IG_OP_sub, whole, 1), whole);
    ig_value *down = ig_build_floor(e, whole);
    ig_value *gap = ig_build_sub(e, whole, down);
    ig_value *up = ig_expr_with(e, IG_OP_add, down, 1);
    down = ig_build_where(e, ig_expr_with(e, IG_OP_gt, gap, 0.5), up, down);
    ig_value *zero = ig_expr_with(e, IG_OP_mul, exact, 0); /* of the quotient's sign */
    down = ig_build_where(e, ig_expr_with(e, IG_OP_eq, down, 0), zero, down);
    return ig_build_where(e, ig_expr_with(e, IG_OP_eq, y, 0), exact, down);
}
