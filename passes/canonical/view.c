/* canonicalise: rules for ops that only move or rename elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "passes/canonical/canonicalise.h"

/* The op that makes operand 0 when it is a `code` with its shape in attributes. */
static ig_op *inner_by_attributes(const ig_op *op, ig_opcode code) {
    ig_op *inner = ig_def(ig_op_operand(op, 0), code);
    return inner && inner->operand_count == 1 && op->operand_count == 1 ? inner : NULL;
}

/* ---- reshape ---- */

/* A reshape to the shape that x has is x. */
static ig_value *reshape_to_same(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_same_type(op, ig_op_operand(op, 0));
}

/* Of two reshapes the last decides. */
static ig_value *reshape_of_reshape(ig_builder *b, ig_op *op) {
    ig_op *inner = inner_by_attributes(op, IG_OP_reshape);
    const ig_attr *to = &op->attrs[IG_reshape_to];
    ig_expr e = ig_expr_trying(b);
    return inner ? ig_expr_reshape(&e, ig_op_operand(inner, 0), to->count, to->as.dims)
                 : NULL;
}

/* ---- transpose ---- */

/* A transpose that leaves every axis where it is is x. */
static ig_value *transpose_to_same(ig_builder *b, ig_op *op) {
    (void)b;
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    for (uint32_t i = 0; i < perm->count; i++) {
        if (perm->as.ints[i] != i) {
            return NULL;
        }
    }
    return ig_op_operand(op, 0);
}

/* Two transposes are one. */
static ig_value *transpose_of_transpose(ig_builder *b, ig_op *op) {
    ig_op *inner = ig_def(ig_op_operand(op, 0), IG_OP_transpose);
    if (!inner) {
        return NULL;
    }
    const ig_attr *outer_perm = &op->attrs[IG_transpose_perm];
    const ig_attr *inner_perm = &inner->attrs[IG_transpose_perm];
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < outer_perm->count; i++) {
        perm[i] = inner_perm->as.ints[outer_perm->as.ints[i]];
    }
    ig_expr e = ig_expr_of(b);
    return ig_expr_transpose(&e, ig_op_operand(inner, 0), perm);
}

/* A transpose that only moves axes of extent 1 is a reshape. */
static ig_value *transpose_is_reshape(ig_builder *b, ig_op *op) {
    const ig_type *type = ig_op_operand(op, 0)->type, *result = op->results[0].type;
    const ig_attr *perm = &op->attrs[IG_transpose_perm];
    int64_t last = -1;
    for (uint32_t i = 0; i < perm->count; i++) {
        int64_t axis = perm->as.ints[i];
        if (ig_dim_is(type->dims[axis], 1)) {
            continue;
        }
        if (axis < last) {
            return NULL;
        }
        last = axis;
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_reshape(&e, ig_op_operand(op, 0), result->rank, result->dims);
}

/* The last two axes exchanged, all others in place? */
static bool swaps_last_two(const ig_op *transpose) {
    const ig_attr *perm = &transpose->attrs[IG_transpose_perm];
    if (perm->count < 2) {
        return false;
    }
    for (uint32_t i = 0; i + 2 < perm->count; i++) {
        if (perm->as.ints[i] != i) {
            return false;
        }
    }
    return perm->as.ints[perm->count - 1] == perm->count - 2;
}

/* matmul reads its operands transposed as well. */
static ig_value *matmul_of_transpose(ig_builder *b, ig_op *op) {
    static const uint32_t slots[2] = { IG_matmul_transpose_a, IG_matmul_transpose_b };
    ig_value *operands[2] = { ig_op_operand(op, 0), ig_op_operand(op, 1) };
    bool is_set[2], is_changed = false;
    for (int i = 0; i < 2; i++) {
        ig_op *transpose = ig_def(operands[i], IG_OP_transpose);
        is_set[i] = ig_attr_int(op, slots[i], 0) != 0;
        if (transpose && swaps_last_two(transpose)) {
            operands[i] = ig_op_operand(transpose, 0);
            is_set[i] = !is_set[i];
            is_changed = true;
        }
    }
    ig_expr e = ig_expr_trying(b);
    ig_matmul_attrs attrs = { .transpose_a = is_set[0], .transpose_b = is_set[1] };
    return is_changed ? ig_build_matmul(&e, operands[0], operands[1], attrs) : NULL;
}

/* ---- expand ---- */

/* An expand to the shape that x has is x. */
static ig_value *expand_to_same(ig_builder *b, ig_op *op) {
    (void)b;
    return op->operand_count == 1 ? ig_same_type(op, ig_op_operand(op, 0)) : NULL;
}

/* Two expands are one. */
static ig_value *expand_of_expand(ig_builder *b, ig_op *op) {
    ig_op *inner = inner_by_attributes(op, IG_OP_expand);
    if (!inner) {
        return NULL;
    }
    const ig_type *type = op->results[0].type;
    ig_expr e = ig_expr_trying(b);
    ig_value *made = ig_expr_expand(&e, ig_op_operand(inner, 0), type->rank,
                                    type->dims);
    return made && made->type == type ? made : NULL;
}

/* ---- slice ---- */

static int64_t step_of(const ig_op *slice, uint32_t axis) {
    const ig_attr *steps = &slice->attrs[IG_slice_steps];
    return steps->kind == IG_ATTR_NONE ? 1 : steps->as.ints[axis];
}

/* A slice of everything is x. */
static ig_value *slice_of_all(ig_builder *b, ig_op *op) {
    (void)b;
    for (uint32_t i = 0; i < op->results[0].type->rank; i++) {
        if (op->operand_count > 1 || step_of(op, i) != 1) {
            return NULL;
        }
    }
    return op->operand_count == 1 ? ig_same_type(op, ig_op_operand(op, 0)) : NULL;
}

/* Two slices are one. */
static ig_value *slice_of_slice(ig_builder *b, ig_op *op) {
    ig_op *inner = inner_by_attributes(op, IG_OP_slice);
    if (!inner) {
        return NULL;
    }
    ig_module *module = ig_op_module(op);
    ig_dim starts[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < op->results[0].type->rank; i++) {
        int64_t by = step_of(inner, i);
        ig_dim start = op->attrs[IG_slice_starts].as.dims[i];
        if (!ig_mul_i64(by, step_of(op, i), &steps[i])) {
            return NULL;
        }
        start = ig_dim_mul(module, start, ig_dim_const(module, by));
        starts[i] = ig_dim_add(module, inner->attrs[IG_slice_starts].as.dims[i], start);
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_slices(&e, ig_op_operand(inner, 0), starts,
                          op->attrs[IG_slice_sizes].as.dims, steps);
}

/* ---- cast ---- */

/* A cast to the dtype that x has is x. */
static ig_value *cast_to_same(ig_builder *b, ig_op *op) {
    (void)b;
    return ig_same_type(op, ig_op_operand(op, 0));
}

/* Does `to` hold every value of `from`? */
static bool is_widening(ig_dtype from, ig_dtype to) {
    const ig_dtype_info *f = &ig_dtypes[from], *t = &ig_dtypes[to];
    if (f->bits < 8 || t->bits < 8 || from == to) {
        return from == to;
    }
    switch (f->class) {
    case IG_BOOL:
        return t->class != IG_STRING;
    case IG_UINT:
        return (t->class == IG_UINT || t->class == IG_SINT) && t->bits > f->bits;
    case IG_SINT:
        return t->class == IG_SINT && t->bits > f->bits;
    case IG_FLOAT:
        return (to == IG_DT_f32 || to == IG_DT_f64) && t->bits > f->bits;
    case IG_STRING:
        break;
    }
    return false;
}

/* A cast to a dtype that holds every value changes nothing for the cast after it. */
static ig_value *cast_of_widening_cast(ig_builder *b, ig_op *op) {
    ig_op *inner = ig_def(ig_op_operand(op, 0), IG_OP_cast);
    if (!inner) {
        return NULL;
    }
    ig_value *x = ig_op_operand(inner, 0);
    ig_dtype between = (ig_dtype)ig_op_operand(op, 0)->type->dtype;
    if (!is_widening((ig_dtype)x->type->dtype, between)) {
        return NULL;
    }
    ig_expr e = ig_expr_trying(b);
    return ig_expr_make(&e, IG_OP_cast, &x, 1, op->attrs);
}

static const ig_rule rules[] = {
    RULE(reshape, reshape_to_same),
    RULE(reshape, reshape_of_reshape),
    RULE(transpose, transpose_to_same),
    RULE(transpose, transpose_of_transpose),
    RULE(transpose, transpose_is_reshape),
    RULE(matmul, matmul_of_transpose),
    RULE(expand, expand_to_same),
    RULE(expand, expand_of_expand),
    RULE(slice, slice_of_all),
    RULE(slice, slice_of_slice),
    RULE(cast, cast_to_same),
    RULE(cast, cast_of_widening_cast),
};

const ig_rules ig_rules_view = { rules, IG_COUNT_OF(rules) };
