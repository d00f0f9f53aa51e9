/* Exceptions on paths that the run chooses: guards.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where only one side of a branch raises, the model computes the other, and the run
 * fails unless its condition holds.  A claim about extents becomes a guard of theirs,
 * which `guards` may prove and a bind checks; anything else is computed, and read
 * before the run goes on:
 *
 *     %c = cast %condition : i64[1]
 *     bind %c {symbols = [holds]}
 *     guard eq(holds, 1) "the model raises …"
 */
#include "frontend/torch/eval/control.h"

/* The test a `b` that holds when `condition` is `wanted`, over dims. */
typedef struct claim {
    ig_dim left, right;
    bool is_equal; /* else left <= right */
} claim;

static bool dim_of(const ig_value *value, ig_dim *out_dim) {
    ig_dims_value dims;
    bool is_known = ig_value_dims(value, &dims) && dims.count == 1;
    if (is_known) {
        *out_dim = dims.dims[0];
    }
    return is_known;
}

static bool claim_of(ig_module *m, const ig_value *condition, bool wanted, claim *out) {
    static const struct {
        ig_opcode code, opposite;
    } pairs[] = {
        { IG_OP_eq, IG_OP_ne }, { IG_OP_ne, IG_OP_eq }, { IG_OP_lt, IG_OP_ge },
        { IG_OP_ge, IG_OP_lt }, { IG_OP_le, IG_OP_gt }, { IG_OP_gt, IG_OP_le },
    };
    while (condition->def && condition->def->code == IG_OP_not) {
        condition = condition->def->operands[0].value;
        wanted = !wanted;
    }
    const ig_op *op = condition->def;
    ig_opcode code = op ? (ig_opcode)op->code : IG_OP_COUNT;
    ig_dim a = ig_dim_of(0), b = ig_dim_of(0);
    for (size_t i = 0; !wanted && op && i < IG_COUNT_OF(pairs); i++) {
        if (pairs[i].code == (ig_opcode)op->code) {
            code = pairs[i].opposite;
        }
    }
    bool is_test = code == IG_OP_eq || code == IG_OP_lt || code == IG_OP_le ||
                   code == IG_OP_gt || code == IG_OP_ge;
    if (!is_test || !dim_of(op->operands[0].value, &a) ||
        !dim_of(op->operands[1].value, &b)) {
        return false;
    }
    bool is_strict = code == IG_OP_lt || code == IG_OP_gt;
    bool is_swapped = code == IG_OP_gt || code == IG_OP_ge;
    out->is_equal = code == IG_OP_eq;
    out->left = is_swapped ? b : a;
    out->right = is_swapped ? a : b;
    out->left = is_strict ? ig_dim_add(m, out->left, ig_dim_of(1)) : out->left;
    return true;
}

/* A symbol that is 1 when `condition` is `wanted`. */
static ig_dim bind_truth(ig_ts_eval *eval, ig_value *condition, bool wanted) {
    ig_module *module = eval->module;
    ig_expr e = ig_expr_of(&eval->builder);
    ig_dim one = ig_dim_of(1), holds = ig_dim_symbol(module, "holds");
    ig_dim_as_symbol(module, holds)->origin = "a condition that depends on the data";
    ig_value *value = wanted ? condition : ig_build_not(&e, condition);
    value = ig_expr_reshape(&e, ig_expr_cast(&e, value, IG_DT_i64), 1, &one);
    (void)ig_build_bind(&e, value, (ig_bind_attrs){ .symbols = { &holds, 1 } });
    return holds;
}

void ig_ts_guard_truth(ig_ts_eval *eval, ig_value *condition, bool wanted,
                       const char *text) {
    claim c;
    if (!condition) {
        return;
    }
    if (!claim_of(eval->module, condition, wanted, &c)) {
        c = (claim){ bind_truth(eval, condition, wanted), ig_dim_of(1), true };
    }
    ig_guard_attrs attrs = { .left = c.left,
                             .right = c.right,
                             .test = c.is_equal ? IG_GUARD_eq : IG_GUARD_le,
                             .message = text ? text : "the model raises an exception" };
    ig_expr e = ig_expr_of(&eval->builder);
    (void)ig_build_guard(&e, attrs);
}
