/* canonicalise: rules for elementwise arithmetic.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"
#include "passes/canonical/canonicalise.h"
#include "base/silence.h"

#include <math.h>

/* ---- constants that are one number all over ---- */

/* Elements stored of a constant that may be read here; 0: it may not. */
static int64_t readable_count(const ig_data *data) {
    enum { COUNT_MAX = 1 << 14 };
    int64_t count = 1;
    if (!data || !data->bytes || data->type->kind != IG_TENSOR ||
        data->type->dtype == IG_DT_str) {
        return 0;
    }
    for (uint32_t i = 0; i < data->type->rank && !data->is_splat; i++) {
        int64_t extent = ig_dim_value(data->type->dims[i]);
        if (extent == 0 || extent > COUNT_MAX || (count *= extent) > COUNT_MAX) {
            return 0;
        }
    }
    return count;
}

/* What moves or repeats elements keeps them all equal. */
static const ig_value *look_through_views(const ig_value *value) {
    enum { DEPTH = 8 };
    for (int i = 0; i < DEPTH && value->def; i++) {
        if (!(ig_ops[value->def->code].traits & IG_VIEW)) {
            break;
        }
        value = ig_op_operand(value->def, 0);
    }
    return value;
}

bool ig_canonical_is_filled(const ig_value *value, double number) {
    const ig_data *data = ig_constant_of(look_through_views(value));
    int64_t count = readable_count(data);
    if (!count) {
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count };
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    for (int64_t i = 0; i < count; i++) {
        double got = ig_tensor_get_f64(&tensor, i);
        if (got != number || !signbit(got) != !signbit(number)) {
            return false;
        }
    }
    return true;
}

static bool is_float(const ig_value *value) {
    return ig_dtype_is_float((ig_dtype)value->type->dtype);
}

/* ---- neutral elements ---- */

/* x + 0 is x; of floats only x + -0 is. */
static ig_value *add_of_zero(ig_builder *b, ig_op *op) {
    (void)b;
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = ig_op_operand(op, 1 - i), *zero = ig_op_operand(op, i);
        if (ig_canonical_is_filled(zero, is_float(zero) ? -0.0 : 0.0) &&
            ig_same_type(op, x)) {
            return x;
        }
    }
    return NULL;
}

/* x - 0 is x. */
static ig_value *sub_of_zero(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_canonical_is_filled(ig_op_operand(op, 1), 0)
               ? ig_same_type(op, ig_op_operand(op, 0))
               : NULL;
}

/* x * 1 is x. */
static ig_value *mul_by_one(ig_builder *b, ig_op *op) {
    (void)b;
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = ig_op_operand(op, 1 - i);
        if (ig_canonical_is_filled(ig_op_operand(op, i), 1) && ig_same_type(op, x)) {
            return x;
        }
    }
    return NULL;
}

/* x / 1 is x. */
static ig_value *div_by_one(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_canonical_is_filled(ig_op_operand(op, 1), 1)
               ? ig_same_type(op, ig_op_operand(op, 0))
               : NULL;
}

/* An integer to the power of a float is taken as a double, which holds no more than 53
 * bits of it: such a power is no product of integers. */
static bool is_power_of(const ig_op *op, double exponent) {
    return (is_float(ig_op_operand(op, 0)) || !is_float(ig_op_operand(op, 1))) &&
           ig_canonical_is_filled(ig_op_operand(op, 1), exponent);
}

/* x to the power of 1 is x. */
static ig_value *pow_of_one(ig_builder *b, ig_op *op) {
    (void)b;
    return is_power_of(op, 1) ? ig_same_type(op, ig_op_operand(op, 0)) : NULL;
}

/* x to the power of 2 is x * x. */
static ig_value *pow_of_two(ig_builder *b, ig_op *op) {
    ig_value *x = ig_op_operand(op, 0);
    ig_expr e = ig_expr_of(b);
    bool is_square = is_power_of(op, 2) && ig_same_type(op, x);
    return is_square ? ig_build_mul(&e, x, x) : NULL;
}

/* ---- products of one term ---- */

/* [M, 1] @ [1, N] is x * y; of floats x * y + 0: sums begin with 0, so none is -0. */
static ig_value *matmul_of_one_term(ig_builder *b, ig_op *op) {
    ig_value *x = ig_op_operand(op, 0), *y = ig_op_operand(op, 1);
    const ig_type *left = x->type, *right = y->type;
    bool is_plain = !ig_attr_int(op, IG_matmul_transpose_a, 0) &&
                    !ig_attr_int(op, IG_matmul_transpose_b, 0);
    if (!is_plain || left->rank < 2 || right->rank < 2 ||
        !ig_dim_is(left->dims[left->rank - 1], 1) ||
        !ig_dim_is(right->dims[right->rank - 2], 1)) {
        return NULL;
    }
    ig_expr e = ig_expr_trying(b);
    ig_value *sum = ig_build_mul(&e, x, y);
    if (sum && is_float(sum)) {
        sum = ig_expr_with(&e, IG_OP_add, sum, 0);
    }
    return sum && ig_same_type(op, sum) ? sum : NULL;
}

/* ---- ops on themselves ---- */

/* neg(neg(x)) is x. */
static ig_value *neg_of_neg(ig_builder *b, ig_op *op) {
    (void)b;
    ig_op *inner = ig_def(ig_op_operand(op, 0), IG_OP_neg);
    return inner ? ig_op_operand(inner, 0) : NULL;
}

/* not(not(x)) is x. */
static ig_value *not_of_not(ig_builder *b, ig_op *op) {
    (void)b;
    ig_op *inner = ig_def(ig_op_operand(op, 0), IG_OP_not);
    return inner ? ig_op_operand(inner, 0) : NULL;
}

/* relu(relu(x)) is relu(x). */
static ig_value *relu_of_relu(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_def(ig_op_operand(op, 0), IG_OP_relu) ? ig_op_operand(op, 0) : NULL;
}

/* abs(abs(x)) is abs(x). */
static ig_value *abs_of_abs(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_def(ig_op_operand(op, 0), IG_OP_abs) ? ig_op_operand(op, 0) : NULL;
}

/* abs(neg(x)) is abs(x). */
static ig_value *abs_of_neg(ig_builder *b, ig_op *op) {
    ig_op *inner = ig_def(ig_op_operand(op, 0), IG_OP_neg);
    ig_expr e = ig_expr_of(b);
    return inner ? ig_build_abs(&e, ig_op_operand(inner, 0)) : NULL;
}

/* min, max, and, or of x and x are x. */
static ig_value *same_twice(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_op_operand(op, 0) == ig_op_operand(op, 1) ? ig_op_operand(op, 0) : NULL;
}

/* where(c, x, x) is x. */
static ig_value *where_of_same(ig_builder *b, ig_op *op) {
    (void)b;
    ig_value *x = ig_op_operand(op, 1);
    return x == ig_op_operand(op, 2) ? ig_same_type(op, x) : NULL;
}

/* where(true, x, y) is x, where(false, x, y) is y. */
static ig_value *where_with_known_condition(ig_builder *b, ig_op *op) {
    (void)b;
    bool is_true = ig_canonical_is_filled(ig_op_operand(op, 0), 1);
    if (!is_true && !ig_canonical_is_filled(ig_op_operand(op, 0), 0)) {
        return NULL;
    }
    return ig_same_type(op, ig_op_operand(op, is_true ? 1 : 2));
}

/* ---- broadcasting ---- */

/* An elementwise op broadcasts by itself: an expand of its operand is redundant if the
 * result's extents stay the same. */
static ig_value *expand_into_elementwise(ig_builder *b, ig_op *op) {
    if (!(ig_ops[op->code].traits & IG_MAP) || !ig_ops[op->code].infer) {
        return NULL;
    }
    bool is_changed = false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_op *expand = ig_def(ig_op_operand(op, i), IG_OP_expand);
        if (!expand) {
            continue;
        }
        ig_use_set(&op->operands[i], ig_op_operand(expand, 0));
        const ig_type *type = NULL;
        ig_silence silence = ig_silence_begin(b->graph->module->context);
        ig_status status = ig_ops[op->code].infer(op, &type);
        ig_silence_end(&silence);
        if (status == IG_OK && type == op->results[0].type) {
            is_changed = true;
        } else {
            ig_use_set(&op->operands[i], &expand->results[0]);
        }
    }
    return is_changed ? ig_rule_done(op) : NULL;
}

static bool has_one_element(const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_is(type->dims[d], 1)) {
            return false;
        }
    }
    return type->kind == IG_TENSOR;
}

/* A value that is the same for every element is computed once, then expanded. */
static ig_value *expand_after_elementwise(ig_builder *b, ig_op *op) {
    enum { OPERANDS_MAX = 3 };
    ig_value *operands[OPERANDS_MAX];
    uint32_t traits = ig_ops[op->code].traits, expanded = 0;
    bool is_fit = (traits & IG_MAP) && !(traits & IG_MAY_TRAP) &&
                  op->result_count == 1 && op->operand_count <= OPERANDS_MAX;
    for (uint32_t i = 0; is_fit && i < op->operand_count; i++) {
        const ig_op *expand = ig_def(ig_op_operand(op, i), IG_OP_expand);
        operands[i] = expand ? ig_op_operand(expand, 0) : ig_op_operand(op, i);
        expanded += expand != NULL;
        is_fit = has_one_element(operands[i]->type);
    }
    if (!is_fit || !expanded || has_one_element(op->results[0].type)) {
        return NULL;
    }
    const ig_type *type = op->results[0].type;
    ig_expr e = ig_expr_trying(b);
    ig_value *one = ig_expr_make(&e, (ig_opcode)op->code, operands, op->operand_count,
                                 op->attrs);
    return ig_expr_expand(&e, one, type->rank, type->dims);
}

static const ig_rule rules[] = {
    RULE(add, add_of_zero),
    RULE(sub, sub_of_zero),
    RULE(mul, mul_by_one),
    RULE(div, div_by_one),
    RULE(pow, pow_of_one),
    RULE(pow, pow_of_two),
    RULE(matmul, matmul_of_one_term),
    RULE(neg, neg_of_neg),
    RULE(not, not_of_not),
    RULE(relu, relu_of_relu),
    RULE(abs, abs_of_abs),
    RULE(abs, abs_of_neg),
    RULE(min, same_twice),
    RULE(max, same_twice),
    RULE(and, same_twice),
    RULE(or, same_twice),
    RULE(where, where_of_same),
    RULE(where, where_with_known_condition),
    RULE_OF_ANY(expand_after_elementwise),
    RULE_OF_ANY(expand_into_elementwise),
};

const ig_rules ig_rules_map = { rules, IG_COUNT_OF(rules) };
