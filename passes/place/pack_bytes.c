/* Products of two computed matrices of 8-bit integers, for `pack`.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = matmul_integer %a, %b, %za, %zb       both computed; one zero point each
 *
 * is unchanged: the dot schedule turns signs over and takes zero points away itself
 * (passes/lower/cpu/dot_quads.c), in integers.  Zero points become numbers, known zeros
 * go, and where all matrices of a meet the same second factor, they become one.
 *
 * Rows of a that are not along k have no such schedule.
 */
#include "passes/place/pack.h"

#include "compose/quantise.h"
#include "ir/build/expr.h"

static bool is_byte(const ig_value *x) {
    return x->type->dtype == IG_DT_i8 || x->type->dtype == IG_DT_u8;
}

/* Does a transposition put another axis last? */
static bool is_turned(const ig_value *a) {
    const ig_op *op = a->def;
    while (op && op->code == IG_OP_slice) {
        op = op->operands[0].value->def;
    }
    uint32_t last = op ? op->results->type->rank - 1u : 0;
    return op && op->code == IG_OP_transpose &&
           op->attrs[IG_transpose_perm].as.ints[last] != last;
}

static bool has_number(const ig_op *op, uint32_t operand) {
    return operand >= op->operand_count ||
           ig_dim_is(ig_type_count(ig_op_module(op), op->operands[operand].value->type),
                     1);
}

/* The zero point of a factor as a number, or NULL where it is known to be 0. */
static ig_value *take_zero(ig_expr *e, const ig_op *op, uint32_t factor) {
    int64_t known = 0;
    if (factor + 2 >= op->operand_count) {
        return NULL;
    }
    ig_value *zero = op->operands[factor + 2].value;
    bool is_zero = ig_constant_i64(zero, &known) && known == 0;
    return is_zero ? NULL : ig_expr_reshape(e, zero, 0, NULL);
}

/* Does every matrix of a meet the same second factor, and can rows be merged? */
static bool can_merge(const ig_op *op) {
    const ig_value *a = op->operands[0].value;
    bool is_view = a->def && a->def->code != IG_OP_reshape &&
                   (ig_ops[a->def->code].traits & IG_VIEW);
    return a->type->rank > 2 && op->operands[1].value->type->rank == 2 && !is_view;
}

bool ig_pack_bytes(ig_pass_run *run, ig_op *op) {
    ig_value *a = op->operands[0].value, *w = op->operands[1].value;
    if (!run->options->target->has_packed_products || !is_byte(a) || !is_byte(w) ||
        a->type->rank < 2 || w->type->rank < 2 || is_turned(a) || !has_number(op, 2) ||
        !has_number(op, 3)) {
        return false;
    }
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    ig_integers left = { .value = a, .zero_point = take_zero(&e, op, 0) };
    ig_integers right = { .value = w, .zero_point = take_zero(&e, op, 1) };
    left.value = can_merge(op) ? ig_pack_merge_rows(&b, a) : a;
    if (right.zero_point && !left.zero_point) {
        left.zero_point = ig_expr_integer(&e, (ig_dtype)a->type->dtype, 0);
    }
    ig_value *product = ig_build_matmul_integer(&e, left.value, right.value,
                                                left.zero_point, right.zero_point,
                                                ig_matmul_integer_attrs_of(op));
    ig_pack_replace_product(op, &b, product);
    run->changed = true;
    return true;
}
