/* recognise_attention: softmax(q k' * scale + mask) v becomes an attention op.
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
 * Scores may be scaled by a factor or a divisor; factors of q or of k stay where they
 * are, since moving them could overflow.  Without transpose_b, k is the right operand
 * transposed.  The mask is added, or a bool one chooses between scores and -inf.  One
 * that chooses a large negative number instead stays: a row without any key has other
 * weights then.  Nothing else uses the scores or the weights.
 *
 * Keeps: values but for rounding, NaN in rows without any key among them.
 */
#include "ir/expr.h"
#include "passes/canonical/canonicalise.h"
#include "passes/recognise/match.h"

#include <math.h>

typedef struct attention {
    ig_value *q, *k, *v, *mask; /* mask: or NULL */
    const ig_op *product;       /* q times k' */
    double scale;
    bool is_inverted; /* the mask says which keys take no part */
} attention;

/* The product of q and k' that makes `scores`, perhaps scaled. */
static bool match_scores(attention *a, ig_value *scores) {
    ig_value *product = ig_match_scaled(scores, &a->scale);
    bool is_sole = ig_value_has_one_use(scores) && ig_value_has_one_use(product);
    a->product = is_sole ? ig_def(product, IG_OP_matmul) : NULL;
    if (!a->product || ig_attr_int(a->product, IG_matmul_transpose_a, 0) ||
        !isfinite(a->scale)) {
        return false;
    }
    a->q = ig_op_operand(a->product, 0);
    a->k = ig_op_operand(a->product, 1);
    return a->q->type->rank >= 2 && a->k->type->rank >= 2;
}

/* where(mask, scores, -inf), or the other way round. */
static bool match_choice(attention *a, const ig_op *choice) {
    double none;
    a->mask = ig_op_operand(choice, 0);
    for (uint32_t i = 1; i <= 2; i++) {
        a->is_inverted = i == 1;
        if (ig_constant_f64(ig_op_operand(choice, i), &none) && none == -INFINITY) {
            return match_scores(a, ig_op_operand(choice, 3 - i));
        }
    }
    return false;
}

static bool match_sum(attention *a, const ig_op *sum) {
    for (uint32_t i = 0; i < 2; i++) {
        if (match_scores(a, ig_op_operand(sum, i))) {
            a->mask = ig_op_operand(sum, 1 - i);
            return a->mask->type->dtype == a->q->type->dtype;
        }
    }
    return false;
}

/* What goes into softmax. */
static bool match_masked(attention *a, ig_value *value) {
    const ig_op *choice = ig_match_inner(value, IG_OP_where);
    const ig_op *sum = ig_match_inner(value, IG_OP_add);
    if (choice) {
        return match_choice(a, choice);
    }
    return sum ? match_sum(a, sum) : match_scores(a, value);
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
           !ig_attr_int(softmax, IG_softmax_log, 0) && match_masked(a, scores);
}

/* Dims that are not provably equal fail as a whole: the checks of the ops written out
 * say more than the op could. */
static ig_value *attention_of_products(ig_builder *b, ig_op *op) {
    attention a = { 0 };
    if (!match_attention(&a, op)) {
        return NULL;
    }
    uint32_t op_count = b->graph->op_count;
    ig_expr e = ig_expr_trying(b);
    ig_value *k = a.k, *mask = a.mask;
    if (!ig_attr_int(a.product, IG_matmul_transpose_b, 0)) {
        k = ig_expr_swap(&e, k, k->type->rank - 2, k->type->rank - 1);
    }
    if (a.is_inverted) {
        mask = ig_expr_map1(&e, IG_OP_not, mask);
    }
    ig_attention_attrs attrs = { .scale = a.scale, .empty_nan = mask != NULL };
    ig_value *result = ig_build_attention(&e, a.q, k, a.v, mask, attrs);
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
