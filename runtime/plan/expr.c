/* Expressions: postfix code over a small stack, with checked arithmetic.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "runtime/plan/plan.h"

#include <assert.h>

/* As ig_dim_evaluate of ir/ has it. */
static bool divide_values(int64_t a, int64_t b, ig_code_op op, int64_t *out) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        return false;
    }
    int64_t quotient = a / b, rest = a % b;
    bool is_negative = (rest < 0) != (b < 0);
    if (op == IG_CODE_FLOOR) {
        quotient -= rest != 0 && is_negative;
    } else if (op == IG_CODE_CEIL) {
        quotient += rest != 0 && !is_negative;
    } else if (rest != 0) {
        return false;
    }
    *out = quotient;
    return true;
}

static bool apply_opcode(ig_code_op op, int64_t a, int64_t b, int64_t *out) {
    switch (op) {
    case IG_CODE_ADD:
        return ig_add_i64(a, b, out);
    case IG_CODE_MUL:
        return ig_mul_i64(a, b, out);
    case IG_CODE_MIN:
        *out = a < b ? a : b;
        return true;
    case IG_CODE_MAX:
        *out = a > b ? a : b;
        return true;
    case IG_CODE_FLOOR:
    case IG_CODE_CEIL:
    case IG_CODE_EXACT:
        return divide_values(a, b, op, out);
    case IG_CODE_BCAST:
        *out = a == 1 ? b : a;
        return true;
    case IG_CODE_CONST:
    case IG_CODE_SYMBOL:
    case IG_CODE_COUNT:
        break;
    }
    assert(false && "not an opcode of two operands");
    return false;
}

bool ig_plan_evaluate(const ig_plan *plan, uint32_t expr, const int64_t *symbols,
                      int64_t *out_value) {
    assert(expr < plan->exprs_count && "no such expression");
    const ig_plan_range range = plan->exprs[expr];
    int64_t stack[IG_EXPR_DEPTH];
    size_t depth = 0;
    for (uint32_t i = 0; i < range.count; i++) {
        const ig_plan_code *code = &plan->codes[range.first + i];
        assert(depth < IG_EXPR_DEPTH && "the checks accepted a deeper expression");
        if (code->opcode == IG_CODE_CONST) {
            stack[depth++] = code->value;
        } else if (code->opcode == IG_CODE_SYMBOL) {
            if (symbols[code->value] == IG_NO_VALUE) {
                return false;
            }
            stack[depth++] = symbols[code->value];
        } else {
            depth--;
            assert(depth > 0 && "an operator lacks an operand");
            if (!apply_opcode((ig_code_op)code->opcode, stack[depth - 1], stack[depth],
                              &stack[depth - 1])) {
                return false;
            }
        }
    }
    assert(depth == 1 && "an expression has one result");
    *out_value = stack[0];
    return true;
}

bool ig_plan_evaluate_or(const ig_plan *plan, uint32_t expr, const int64_t *symbols,
                         int64_t absent, int64_t *out_value) {
    if (expr == IG_NONE) {
        *out_value = absent;
        return true;
    }
    return ig_plan_evaluate(plan, expr, symbols, out_value);
}

bool ig_plan_expr_is_constant(const ig_plan *plan, uint32_t expr, int64_t *out_value) {
    const ig_plan_range range = plan->exprs[expr];
    for (uint32_t i = 0; i < range.count; i++) {
        if (plan->codes[range.first + i].opcode == IG_CODE_SYMBOL) {
            return false;
        }
    }
    return ig_plan_evaluate(plan, expr, NULL, out_value);
}
