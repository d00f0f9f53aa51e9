/* recognise_gelu: activations written out become gelu ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = div %x, 1.4142135
 *     %2 = erf %1
 *     %3 = add %2, 1.0
 *     %4 = mul %x, %3
 *     %5 = mul %4, 0.5
 *   becomes
 *     %0 = gelu %x
 *
 * with the factors in any order and grouping, constants multiplied or divided by, and
 * likewise for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), which is
 * gelu {tanh}.  The gate and the ops that compute it have no other use.
 *
 * Keeps: values but for rounding; an x so large that a product written out overflows is
 * its own gelu afterwards.
 */
#include "ir/build/expr.h"
#include "passes/engine/rewrite.h"
#include "passes/recognise/match.h"

static const double sqrt_half = 0.70710678118654752440;
static const double sqrt_two_over_pi = 0.79788456080286535588;

static bool is_scale(const ig_value *x, double number, double expected) {
    return ig_match_is_near((ig_dtype)x->type->dtype, number, expected);
}

/* x / sqrt 2? */
static bool is_erf_argument(const ig_value *value, const ig_value *x) {
    double factor;
    return ig_value_has_one_use(value) &&
           ig_match_scaled((ig_value *)(uintptr_t)value, &factor) == x &&
           is_scale(x, factor, sqrt_half);
}

/* 0.044715 * x^power? */
static bool is_power(const ig_value *value, const ig_value *x, uint32_t power) {
    ig_product p;
    if (!value->def || !ig_value_has_one_use(value) ||
        !ig_match_product(value->def, &p) || p.count != power) {
        return false;
    }
    for (uint32_t i = 0; i < power; i++) {
        if (p.factors[i] != x) {
            return false;
        }
    }
    return is_scale(x, p.number, 0.044715);
}

/* x + 0.044715 * x^3? */
static bool is_cubic(const ig_value *value, const ig_value *x) {
    const ig_op *sum = ig_match_inner(value, IG_OP_add);
    for (uint32_t i = 0; sum && i < 2; i++) {
        if (ig_op_operand(sum, i) == x && is_power(ig_op_operand(sum, 1 - i), x, 3)) {
            return true;
        }
    }
    return false;
}

/* 1 + 0.044715 * x^2? */
static bool is_square_plus_one(const ig_value *value, const ig_value *x) {
    double one;
    const ig_op *sum = ig_match_inner(value, IG_OP_add);
    const ig_value *power = sum ? ig_match_with_number(sum, &one) : NULL;
    return power && one == 1 && is_power(power, x, 2);
}

/* sqrt(2 / pi) * (x + 0.044715 * x^3), or with x as a factor? */
static bool is_tanh_argument(const ig_value *value, const ig_value *x) {
    ig_product p;
    if (!value->def || !ig_value_has_one_use(value) ||
        !ig_match_product(value->def, &p) || !is_scale(x, p.number, sqrt_two_over_pi)) {
        return false;
    }
    if (p.count == 1) {
        return is_cubic(p.factors[0], x);
    }
    uint32_t other = p.factors[0] == x;
    return p.count == 2 && p.factors[1 - other] == x &&
           is_square_plus_one(p.factors[other], x);
}

/* 1 + erf(x / sqrt 2), or its approximation by tanh? */
static bool is_gate(const ig_value *value, const ig_value *x, bool *out_by_tanh) {
    double one;
    const ig_op *sum = ig_match_inner(value, IG_OP_add);
    const ig_value *inner = sum ? ig_match_with_number(sum, &one) : NULL;
    if (!inner || one != 1) {
        return false;
    }
    const ig_op *erf = ig_match_inner(inner, IG_OP_erf);
    const ig_op *tanh = ig_match_inner(inner, IG_OP_tanh);
    *out_by_tanh = tanh != NULL;
    return erf ? is_erf_argument(ig_op_operand(erf, 0), x)
               : tanh && is_tanh_argument(ig_op_operand(tanh, 0), x);
}

static ig_value *match_gelu(ig_builder *b, ig_op *op) {
    ig_product p;
    if (!ig_match_is_wide(op) || !ig_match_product(op, &p) || p.count != 2 ||
        p.number != 0.5) {
        return NULL;
    }
    for (uint32_t i = 0; i < 2; i++) {
        bool by_tanh;
        ig_value *x = p.factors[i];
        if (x->type == ig_op_result(op, 0)->type &&
            is_gate(p.factors[1 - i], x, &by_tanh)) {
            ig_expr e = ig_expr_of(b);
            return ig_build_gelu(&e, x, (ig_gelu_attrs){ .tanh = by_tanh });
        }
    }
    return NULL;
}

ig_status ig_pass_recognise_gelu(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = {
        { "gelu_of_product", IG_OP_mul, match_gelu },
        { "gelu_of_quotient", IG_OP_div, match_gelu },
    };
    return ig_rewrite(run, graph, rules, IG_COUNT_OF(rules));
}
