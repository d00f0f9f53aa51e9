/* Matching, for the recognisers of composites.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/recognise/match.h"

#include "ir/dim/handle.h"

#include <assert.h>
#include <float.h>
#include <math.h>

bool ig_match_is_wide(const ig_op *op) {
    const ig_type *type = ig_op_result(op, 0)->type;
    return type->kind == IG_TENSOR &&
           (type->dtype == IG_DT_f32 || type->dtype == IG_DT_f64);
}

ig_value *ig_match_with_number(const ig_op *op, double *out_number) {
    assert(op->operand_count == 2 && "a constant beside one operand");
    const ig_value *result = ig_op_result(op, 0);
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *x = ig_op_operand(op, 1 - i);
        if (ig_constant_f64(ig_op_operand(op, i), out_number) &&
            x->type->rank == result->type->rank &&
            x->type->dtype == result->type->dtype) {
            return x;
        }
    }
    return NULL;
}

bool ig_match_is_near(ig_dtype dtype, double number, double expected) {
    double epsilon = dtype == IG_DT_f64 ? DBL_EPSILON : FLT_EPSILON;
    return fabs(number - expected) <= epsilon * fabs(expected);
}

ig_op *ig_match_inner(const ig_value *value, ig_opcode code) {
    return ig_value_has_one_use(value) ? ig_def(value, code) : NULL;
}

uint32_t ig_match_use_count(const ig_value *value) {
    uint32_t count = 0;
    for (const ig_use *use = value->uses; use; use = use->next) {
        count++;
    }
    return count;
}

void ig_match_undo(ig_op *op, uint32_t op_count) {
    while (op->prev && op->prev->id >= op_count) {
        ig_op_erase(op->prev);
    }
}

/* ---- products ---- */

static bool add_factor(ig_product *p, ig_value *value, uint32_t power) {
    for (; power > 0 && p->count < IG_PRODUCT_FACTORS; power--) {
        p->factors[p->count++] = value;
    }
    return power == 0;
}

static bool take_operands(ig_product *p, const ig_op *op, uint32_t depth);

/* An operand of a product: a constant, a product of its own, or a factor. */
static bool take_value(ig_product *p, ig_value *value, uint32_t depth) {
    enum { DEPTH_MAX = 4 };
    double number;
    if (ig_constant_f64(value, &number)) {
        p->number *= number;
        return true;
    }
    const ig_op *op = value->def;
    bool is_product = op && depth < DEPTH_MAX && ig_value_has_one_use(value) &&
                      (op->code == IG_OP_mul || op->code == IG_OP_div ||
                       op->code == IG_OP_pow);
    ig_product before = *p;
    if (is_product && take_operands(p, op, depth + 1)) {
        return true;
    }
    *p = before;
    return add_factor(p, value, 1);
}

/* Recursion is as deep as take_value allows. */
static bool take_operands(ig_product *p, const ig_op *op, uint32_t depth) {
    ig_value *left = ig_op_operand(op, 0), *right = ig_op_operand(op, 1);
    double number;
    if (op->code == IG_OP_mul) {
        return take_value(p, left, depth) && take_value(p, right, depth);
    }
    if (!ig_constant_f64(right, &number)) {
        return false;
    }
    if (op->code == IG_OP_pow) {
        bool is_small = number == 2 || number == 3;
        return is_small && add_factor(p, left, (uint32_t)number);
    }
    p->number /= number;
    return op->code == IG_OP_div && take_value(p, left, depth);
}

bool ig_match_product(const ig_op *root, ig_product *out) {
    *out = (ig_product){ .number = 1 };
    return (root->code == IG_OP_mul || root->code == IG_OP_div ||
            root->code == IG_OP_pow) &&
           take_operands(out, root, 0);
}

ig_value *ig_match_scaled(ig_value *value, double *out_factor) {
    const ig_op *op = value->def;
    double number;
    *out_factor = 1;
    if (!op || (op->code != IG_OP_mul && op->code != IG_OP_div)) {
        return value;
    }
    ig_value *x = ig_match_with_number(op, &number);
    bool is_fit = x && (op->code == IG_OP_mul || x == ig_op_operand(op, 0));
    if (!is_fit) {
        return value;
    }
    *out_factor = op->code == IG_OP_mul ? number : 1 / number;
    return x;
}
