/* recognise_attention: softmax(scale * q k' + mask) v becomes an attention op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = matmul %q, %k {transpose_b}
 *     %2 = div %1, 8.0
 *     %3 = add %2, %mask
 *     %4 = softmax %3 {axis = 3}
 *     %5 = matmul %4, %v
 *   becomes
 *     %0 = attention %q, %k, %v, %mask {scale = 0.125, empty_nan}
 *
 * Between q k' and softmax there may be, in any order: factors and divisors, a mask
 * that is added, a bool one that chooses between scores and a number, and below the
 * masks a soft cap, c * tanh(scores / c).  A factor above a mask goes to both.  Two
 * masks become one where the number is -inf.  Factors of q or of k stay where they are,
 * since moving them could overflow.  Without transpose_b, k is the right operand
 * transposed.  Nothing else uses the scores or the weights.
 *
 * Keeps: values but for rounding, NaN in rows without any key among them.
 */
#include "ir/build/expr.h"
#include "passes/canonical/canonicalise.h"
#include "passes/recognise/match.h"

#include <math.h>

typedef struct attention {
    ig_value *q, *k, *v;
    const ig_op *product; /* q times k' */
    double scale;         /* of the part below: masks, a cap, the product */
    double softcap;       /* 0: none */
    ig_value *added;      /* masks, or NULL, and their numbers */
    double factor;
    ig_value *choice;
    double masked;
    bool is_inverted; /* `choice` says which scores are left out */
} attention;

static bool match_scores(attention *a, ig_value *value, uint32_t depth);

static bool match_product(attention *a, const ig_op *product) {
    a->product = product;
    a->q = ig_op_operand(product, 0);
    a->k = ig_op_operand(product, 1);
    a->scale *= a->softcap > 0 ? a->softcap : 1;
    return !ig_attr_int(product, IG_matmul_transpose_a, 0) && isfinite(a->scale) &&
           a->q->type->rank >= 2 && a->k->type->rank >= 2;
}

/* where(mask, scores, number), or the other way round. */
static bool match_choice(attention *a, const ig_op *choice, uint32_t depth) {
    double number;
    a->choice = ig_op_operand(choice, 0);
    for (uint32_t i = 1; i <= 2; i++) {
        a->is_inverted = i == 1;
        if (ig_constant_f64(ig_op_operand(choice, i), &number) && !isnan(number)) {
            bool is_f32 = ig_op_result(choice, 0)->type->dtype == IG_DT_f32;
            a->masked = number * a->scale;
            a->masked = is_f32 ? (double)(float)a->masked : a->masked;
            return match_scores(a, ig_op_operand(choice, 3 - i), depth);
        }
    }
    return false;
}

static bool match_sum(attention *a, const ig_op *sum, uint32_t depth) {
    for (uint32_t i = 0; i < 2; i++) {
        attention with = *a;
        with.added = ig_op_operand(sum, 1 - i);
        with.factor = a->scale;
        if (match_scores(&with, ig_op_operand(sum, i), depth)) {
            *a = with;
            return true;
        }
    }
    return false;
}

static bool match_cap(attention *a, const ig_op *tanh, uint32_t depth) {
    a->softcap = a->scale;
    a->scale = 1;
    return match_scores(a, ig_op_operand(tanh, 0), depth);
}

/* Reads the scores, from softmax's operand down to the product.  Recursion is as deep
 * as `depth` allows. */
static bool match_scores(attention *a, ig_value *value, uint32_t depth) {
    enum { DEPTH_MAX = 8 };
    double factor;
    const ig_op *op = value->def;
    if (!op || !ig_value_has_one_use(value) || depth == DEPTH_MAX) {
        return false;
    }
    if (op->code == IG_OP_matmul) {
        return match_product(a, op);
    }
    ig_value *inner = ig_match_scaled(value, &factor);
    if (inner != value) {
        a->scale *= factor;
        return match_scores(a, inner, depth + 1);
    }
    if (a->softcap > 0 || !(a->scale > 0)) {
        return false;
    }
    if (op->code == IG_OP_where && !a->choice) {
        return match_choice(a, op, depth + 1);
    }
    if (op->code == IG_OP_add && !a->added) {
        return match_sum(a, op, depth + 1);
    }
    return op->code == IG_OP_tanh && match_cap(a, op, depth + 1);
}

static bool match_attention(attention *a, const ig_op *op) {
    const ig_op *softmax = ig_match_inner(ig_op_operand(op, 0), IG_OP_softmax);
    if (!softmax || !ig_match_is_wide(op) ||
        ig_attr_int(op, IG_matmul_transpose_a, 0) ||
        ig_attr_int(op, IG_matmul_transpose_b, 0)) {
        return false;
    }
    ig_value *scores = ig_op_operand(softmax, 0);
    int64_t rank = scores->type->rank, axis = ig_attr_int(softmax, IG_softmax_axis, 0);
    a->v = ig_op_operand(op, 1);
    return axis + (axis < 0 ? rank : 0) == rank - 1 && a->v->type->rank >= 2 &&
           !ig_attr_int(softmax, IG_softmax_log, 0) &&
           !ig_attr_int(softmax, IG_softmax_empty_zero, 0) &&
           match_scores(a, scores, 0);
}

/* The masks as one; false: that takes more. */
static bool build_mask(ig_expr *e, const attention *a, ig_attention_attrs *attrs,
                       ig_value **out_mask) {
    bool is_inverted = a->choice && a->is_inverted;
    ig_value *kept = is_inverted ? ig_build_not(e, a->choice) : a->choice;
    ig_value *added = a->added;
    if (added && a->factor != 1) {
        added = ig_expr_with(e, IG_OP_mul, added, a->factor);
    }
    *out_mask = kept ? kept : added;
    if (kept && added) {
        ig_dtype dtype = (ig_dtype)added->type->dtype;
        ig_value *none = ig_expr_number(e, dtype, -(double)INFINITY);
        *out_mask = ig_build_where(e, kept, added, none);
        return a->masked == -(double)INFINITY;
    }
    if (kept && a->masked != -(double)INFINITY) {
        attrs->masked = (ig_maybe_float)IG_SET(a->masked);
    }
    return true;
}

/* Dims that are not provably equal fail as a whole: the checks of the ops written out
 * say more than the op could. */
static ig_value *attention_of_products(ig_builder *b, ig_op *op) {
    attention a = { .scale = 1 };
    if (!match_attention(&a, op)) {
        return NULL;
    }
    uint32_t op_count = b->graph->op_count;
    ig_expr e = ig_expr_trying(b);
    ig_value *k = a.k, *mask;
    ig_attention_attrs attrs = { .scale = a.scale, .empty_nan = true };
    if (!ig_attr_int(a.product, IG_matmul_transpose_b, 0)) {
        k = ig_expr_swap(&e, k, k->type->rank - 2, k->type->rank - 1);
    }
    if (a.softcap > 0) {
        attrs.softcap = (ig_maybe_float)IG_SET(a.softcap);
    }
    bool fits = build_mask(&e, &a, &attrs, &mask);
    ig_value *result = fits ? ig_build_attention(&e, a.q, k, a.v, mask, attrs) : NULL;
    if (result && ig_same_type(op, result)) {
        return result;
    }
    ig_match_undo(op, op_count);
    return NULL;
}

ig_status ig_pass_recognise_attention(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = {
        RULE(matmul, attention_of_products),
    };
    return ig_rewrite(run, graph, rules, IG_COUNT_OF(rules));
}
