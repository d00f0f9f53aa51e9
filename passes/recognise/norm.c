/* recognise_norm: normalisations written out become layer_norm ops.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = reduce %x {op = mean, axes = [2], keep}
 *     %2 = sub %x, %1
 *     %3 = mul %2, %2
 *     %4 = reduce %3 {op = mean, axes = [2], keep}
 *     %5 = add %4, 1e-05
 *     %6 = sqrt %5
 *     %7 = div %2, %6
 *     %8 = mul %7, @scale
 *     %9 = add %8, @bias
 *   becomes
 *     %0 = layer_norm %x, @scale, @bias {axis = 2, epsilon = 1e-05}
 *
 * over any number of last axes, with rsqrt or a reciprocal, and without the mean as
 * layer_norm {rms}.  The ops that compute the quotient have no other use.
 *
 * Keeps: values but for rounding; where squares written out overflow the op may not.
 */
#include "ir/build/expr.h"
#include "ir/dim/handle.h"
#include "passes/engine/rewrite.h"
#include "passes/recognise/match.h"

/* ---- the quotient ---- */

/* The argument of 1 / sqrt(…), where `value` is that and only the quotient uses it. */
static ig_value *match_reciprocal_root(const ig_value *value) {
    const ig_op *root = ig_match_inner(value, IG_OP_rsqrt);
    if (root) {
        return ig_op_operand(root, 0);
    }
    double one = 1;
    const ig_op *inverse = ig_match_inner(value, IG_OP_recip);
    if (!inverse) {
        inverse = ig_match_inner(value, IG_OP_div);
        if (!inverse || !ig_constant_f64(ig_op_operand(inverse, 0), &one)) {
            return NULL;
        }
    }
    const ig_value *below = ig_op_operand(inverse, inverse->code == IG_OP_div);
    root = ig_match_inner(below, IG_OP_sqrt);
    return root && one == 1 ? ig_op_operand(root, 0) : NULL;
}

/* The dividend, and the radicand of the root; NULL: not such a quotient. */
static ig_value *match_quotient(const ig_op *op, ig_value **out_radicand) {
    ig_value *left = ig_op_operand(op, 0), *right = ig_op_operand(op, 1);
    if (op->code == IG_OP_div) {
        const ig_op *root = ig_match_inner(right, IG_OP_sqrt);
        *out_radicand = root ? ig_op_operand(root, 0) : NULL;
        return root ? left : NULL;
    }
    *out_radicand = match_reciprocal_root(right);
    if (*out_radicand) {
        return left;
    }
    *out_radicand = match_reciprocal_root(left);
    return *out_radicand ? right : NULL;
}

/* ---- means ---- */

/* The mean over the last axes, kept: the first of them in *out_axis. */
static bool is_mean(const ig_op *op, uint32_t *out_axis) {
    if (!op || op->operand_count != 1 || !ig_attr_int(op, IG_reduce_keep, 0) ||
        ig_attr_int(op, IG_reduce_op, 0) != IG_REDUCE_mean) {
        return false;
    }
    const ig_attr *axes = &op->attrs[IG_reduce_axes];
    uint32_t rank = ig_op_operand(op, 0)->type->rank, mask = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        int64_t axis = axes->as.ints[i] + (axes->as.ints[i] < 0 ? rank : 0);
        mask |= 1u << axis;
    }
    uint32_t first = rank - axes->count;
    *out_axis = first;
    return axes->count > 0 && mask == (1u << rank) - (1u << first);
}

/* `value` is x * x, of which this is the only use: x. */
static ig_value *match_square(const ig_value *value) {
    double power;
    const ig_op *op = ig_match_inner(value, IG_OP_mul);
    if (op) {
        ig_value *x = ig_op_operand(op, 0);
        return x == ig_op_operand(op, 1) ? x : NULL;
    }
    op = ig_match_inner(value, IG_OP_pow);
    bool is_square = op && ig_constant_f64(ig_op_operand(op, 1), &power) && power == 2;
    return is_square ? ig_op_operand(op, 0) : NULL;
}

/* `radicand` is mean(x * x) + epsilon: x. */
static ig_value *match_mean_square(const ig_value *radicand, uint32_t *out_axis,
                                   double *out_epsilon) {
    const ig_op *sum = ig_match_inner(radicand, IG_OP_add);
    ig_value *mean = sum ? ig_match_with_number(sum, out_epsilon) : NULL;
    const ig_op *reduce = mean ? ig_match_inner(mean, IG_OP_reduce) : NULL;
    bool is_fit = is_mean(reduce, out_axis) && *out_epsilon >= 0;
    return is_fit ? match_square(ig_op_operand(reduce, 0)) : NULL;
}

/* `centred` is x - mean(x) over the same axes, which the norm alone uses: x. */
static ig_value *match_centred(const ig_value *centred, uint32_t axis) {
    enum { USES = 3 }; /* both factors of the square, and the quotient */
    uint32_t own = 0;
    const ig_op *op = ig_def(centred, IG_OP_sub);
    if (!op || ig_match_use_count(centred) > USES) {
        return NULL;
    }
    ig_value *x = ig_op_operand(op, 0);
    const ig_op *mean = ig_match_inner(ig_op_operand(op, 1), IG_OP_reduce);
    bool is_fit = is_mean(mean, &own) && own == axis && ig_op_operand(mean, 0) == x;
    return is_fit ? x : NULL;
}

static ig_value *match_norm(ig_builder *b, ig_op *op) {
    ig_value *radicand;
    uint32_t axis;
    double epsilon;
    ig_value *x = ig_match_is_wide(op) ? match_quotient(op, &radicand) : NULL;
    if (!x || match_mean_square(radicand, &axis, &epsilon) != x) {
        return NULL;
    }
    ig_value *whole = match_centred(x, axis);
    ig_layer_norm_attrs attrs = { .axis = axis, .epsilon = epsilon, .rms = !whole };
    x = whole ? whole : x;
    ig_expr e = ig_expr_of(b);
    bool is_same = x->type == ig_op_result(op, 0)->type;
    return is_same ? ig_build_layer_norm(&e, x, NULL, NULL, attrs) : NULL;
}

/* ---- scale and bias ---- */

/* `factor` with as many axes as are normalised; NULL where it has more, or others. */
static ig_value *fit_factor(ig_expr *e, ig_value *factor, const ig_type *x,
                            uint32_t axis) {
    const ig_type *type = factor->type;
    uint32_t rank = x->rank - axis;
    uint32_t extra = type->rank > rank ? type->rank - rank : 0;
    for (uint32_t d = 0; d < type->rank; d++) {
        uint32_t at = x->rank - type->rank + d;
        bool is_fit = type->rank <= x->rank &&
                      (ig_dim_is(type->dims[d], 1) ||
                       (d >= extra && ig_dim_same(type->dims[d], x->dims[at])));
        if (!is_fit) {
            return NULL;
        }
    }
    return ig_expr_reshape(e, factor, type->rank - extra, type->dims + extra);
}

/* `op` of a norm that has `count` operands so far, and of a factor: one more. */
static ig_value *add_operand(ig_builder *b, ig_op *op, uint32_t count) {
    for (uint32_t i = 0; i < 2; i++) {
        const ig_op *norm = ig_match_inner(ig_op_operand(op, i), IG_OP_layer_norm);
        ig_value *factor = ig_op_operand(op, 1 - i);
        if (!norm || norm->operand_count != count || factor->type->rank == 0) {
            continue;
        }
        ig_expr e = ig_expr_of(b);
        const ig_type *type = ig_op_result(norm, 0)->type;
        int64_t given = ig_attr_int(norm, IG_layer_norm_axis, 0);
        uint32_t axis = (uint32_t)(given < 0 ? given + type->rank : given);
        factor = fit_factor(&e, factor, type, axis);
        if (!factor || type != ig_op_result(op, 0)->type) {
            continue;
        }
        ig_value *operands[3] = { ig_op_operand(norm, 0) };
        operands[count] = factor;
        operands[1] = count == 2 ? ig_op_operand(norm, 1) : factor;
        return ig_expr_make(&e, IG_OP_layer_norm, operands, count + 1, norm->attrs);
    }
    return NULL;
}

static ig_value *scale_of_norm(ig_builder *b, ig_op *op) {
    return add_operand(b, op, 1);
}

static ig_value *bias_of_norm(ig_builder *b, ig_op *op) {
    return add_operand(b, op, 2);
}

ig_status ig_pass_recognise_norm(ig_pass_run *run, ig_graph *graph) {
    static const ig_rule rules[] = {
        { "norm_by_root", IG_OP_div, match_norm },
        { "norm_by_reciprocal", IG_OP_mul, match_norm },
        RULE(mul, scale_of_norm),
        RULE(add, bias_of_norm),
    };
    return ig_rewrite(run, graph, rules, IG_COUNT_OF(rules));
}
