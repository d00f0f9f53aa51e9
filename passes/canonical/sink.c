/* sink: elementwise ops after the reshape of a product go in front of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = matmul_panels %x, @w {columns = 8} : f32[L*B, 8]
 *     %1 = reshape %0 {to = [B, L, 8]} : f32[B, L, 8]
 *     %2 = add %1, @bias : f32[B, L, 8]
 *   becomes
 *     %0 = matmul_panels %x, @w {columns = 8} : f32[L*B, 8]
 *     %1 = add %0, @bias : f32[L*B, 8]
 *     %2 = reshape %1 {to = [B, L, 8]} : f32[B, L, 8]
 *
 * so that they can be fused with the product.  A product here is a matmul, a layer norm
 * or what elementwise ops make of one, in its shape.  The other operands must have as
 * many elements, one element, be a row that is repeated along the last axis, which the
 * reshape must leave alone, or have numbers along leading axes alone that it leaves;
 * elementwise ops that compute them go along.  A value that is a view of other strides
 * stays, since its reshape would be a copy.
 *
 * Needs pack; shapes in attribute form.  Keeps the results.
 */
#include "ir/build/expr.h"
#include "passes/engine/rewrite.h"

#include <assert.h>
#include <string.h>

enum { MAX_OPERANDS = 4 }; /* of an op that sinks */

enum {
    DEPTH = 6,       /* of other operands, which go along */
    VISITS_MAX = 64, /* of ops, in search of the product */
};

static bool has_dims(ig_module *module, const ig_type *a, const ig_type *b) {
    bool is_same = a->rank == b->rank;
    for (uint32_t d = 0; is_same && d < a->rank; d++) {
        is_same = ig_dim_equal(module, a->dims[d], b->dims[d]) == IG_YES;
    }
    return is_same;
}

static bool is_map(const ig_op *op) {
    return op && (ig_ops[op->code].traits & IG_MAP) && op->result_count == 1;
}

/* A matmul or norm, or elementwise ops on one in the same shape, within *left
 * visits. */
static bool find_product(const ig_value *value, uint32_t *left) {
    const ig_op *op = value->def;
    if (!is_map(op)) {
        return op && (op->code == IG_OP_matmul_panels || op->code == IG_OP_matmul ||
                      op->code == IG_OP_matmul_quads ||
                      op->code == IG_OP_matmul_integer || op->code == IG_OP_layer_norm);
    }
    for (uint32_t i = 0; *left > 0 && i < op->operand_count; i++) {
        const ig_value *x = op->operands[i].value;
        --*left;
        if (has_dims(ig_op_module(op), x->type, value->type) && find_product(x, left)) {
            return true;
        }
    }
    return false;
}

static bool is_product(const ig_value *value) {
    uint32_t left = VISITS_MAX;
    return find_product(value, &left);
}

/* From which shape of the product to which one. */
typedef struct shapes {
    ig_module *module;
    const ig_type *from, *to;
} shapes;

static bool is_one_element(const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_is(type->dims[d], 1)) {
            return false;
        }
    }
    return true;
}

/* [N], [1, N] …, where both shapes end in N. */
static bool is_row(const shapes *s, const ig_type *type) {
    if (type->rank == 0 || s->from->rank == 0 || s->to->rank == 0) {
        return false;
    }
    ig_dim last = type->dims[type->rank - 1];
    bool is_row = true;
    for (uint32_t d = 0; d + 1 < type->rank; d++) {
        is_row = is_row && ig_dim_is(type->dims[d], 1);
    }
    ig_dim before = s->from->dims[s->from->rank - 1];
    ig_dim after = s->to->dims[s->to->rank - 1];
    return is_row && ig_dim_equal(s->module, last, before) == IG_YES &&
           ig_dim_equal(s->module, last, after) == IG_YES;
}

/* Leading axes that the reshape leaves alone. */
static uint32_t count_equal_axes(const shapes *s) {
    uint32_t d = 0;
    while (d < s->from->rank && d < s->to->rank &&
           ig_dim_equal(s->module, s->from->dims[d], s->to->dims[d]) == IG_YES) {
        d++;
    }
    return d;
}

/* [C, 1, 1], with extents along axes alone that the reshape leaves. */
static bool is_column(const shapes *s, const ig_type *type) {
    uint32_t own = s->to->rank - count_equal_axes(s);
    bool is_column = type->rank > own && type->rank <= s->to->rank;
    for (uint32_t d = 0; is_column && d < own; d++) {
        is_column = ig_dim_is(type->dims[type->rank - 1 - d], 1);
    }
    return is_column;
}

static bool is_shape_free(const shapes *s, const ig_value *value) {
    return is_one_element(value->type) || is_row(s, value->type) ||
           is_column(s, value->type);
}

/* [C, 1, 1] as the product's shape has it. */
static ig_value *turn_column(const shapes *s, ig_expr *e, ig_value *value) {
    uint32_t equal = count_equal_axes(s), rank = value->type->rank;
    uint32_t kept = rank - (s->to->rank - equal), own = s->from->rank - equal;
    ig_dim dims[2 * IG_TENSOR_RANK];
    memcpy(dims, value->type->dims, kept * sizeof *dims);
    for (uint32_t d = 0; d < own; d++) {
        dims[kept + d] = ig_dim_of(1);
    }
    return ig_expr_reshape(e, value, kept + own, dims);
}

/* Without the leading axes of extent 1 that the product's shape has no room for. */
static ig_value *drop_axes(const shapes *s, ig_builder *b, ig_value *value) {
    const ig_type *type = value->type;
    ig_expr e = ig_expr_of(b);
    if (!is_one_element(type) && is_column(s, type)) {
        return turn_column(s, &e, value);
    }
    return type->rank <= s->from->rank
               ? value
               : ig_expr_reshape(&e, value, 1, &type->dims[type->rank - 1]);
}

/* The operand of a reshape that leads to the value from the product's shape. */
static ig_value *before_reshape(const shapes *s, const ig_value *value) {
    const ig_op *reshape = ig_def(value, IG_OP_reshape);
    ig_value *x = reshape ? reshape->operands[0].value : NULL;
    return x && has_dims(s->module, x->type, s->from) ? x : NULL;
}

static bool goes_along(const ig_value *value, uint32_t depth) {
    return depth > 0 && is_map(value->def) && ig_value_has_one_use(value);
}

/* Can the value be had in the product's shape without moving elements? */
static bool can_turn(const shapes *s, const ig_value *value, uint32_t depth) {
    const ig_op *op = value->def;
    if (is_shape_free(s, value) || before_reshape(s, value)) {
        return true;
    }
    if (!has_dims(s->module, value->type, s->to)) {
        return false;
    }
    bool can_all = goes_along(value, depth);
    for (uint32_t i = 0; can_all && i < op->operand_count; i++) {
        can_all = can_turn(s, op->operands[i].value, depth - 1);
    }
    bool is_view = op && (ig_ops[op->code].traits & IG_VIEW) == IG_VIEW;
    return can_all || !is_view;
}

static ig_value *turn_value(const shapes *s, ig_builder *b, ig_value *value,
                            uint32_t depth);

static ig_value *turn_op(const shapes *s, ig_builder *b, const ig_op *op,
                         uint32_t depth) {
    assert(op->operand_count <= MAX_OPERANDS && "room for the operands of a map");
    ig_value *operands[MAX_OPERANDS];
    for (uint32_t i = 0; i < op->operand_count; i++) {
        operands[i] = turn_value(s, b, op->operands[i].value, depth);
    }
    ig_expr e = ig_expr_of(b);
    return ig_expr_make(&e, (ig_opcode)op->code, operands, op->operand_count,
                        op->attrs);
}

static ig_value *turn_value(const shapes *s, ig_builder *b, ig_value *value,
                            uint32_t depth) {
    ig_value *before = before_reshape(s, value);
    if (is_shape_free(s, value) || before) {
        return before ? before : drop_axes(s, b, value);
    }
    bool can_all = goes_along(value, depth) &&
                   value->def->operand_count <= MAX_OPERANDS;
    for (uint32_t i = 0; can_all && i < value->def->operand_count; i++) {
        can_all = can_turn(s, value->def->operands[i].value, depth - 1);
    }
    ig_expr e = ig_expr_of(b);
    return can_all ? turn_op(s, b, value->def, depth - 1)
                   : ig_expr_reshape(&e, value, s->from->rank, s->from->dims);
}

/* A norm that others use too is in memory anyway: what is added to it is a residual. */
static bool is_residual(const ig_value *value) {
    return ig_def(value, IG_OP_layer_norm) && !ig_value_has_one_use(value);
}

/* The reshape of a product among the operands; NULL where one is a product as it is. */
static const ig_op *find_reshape(const ig_op *op) {
    const ig_op *found = NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_value *x = op->operands[i].value;
        const ig_op *reshape = ig_def(x, IG_OP_reshape);
        if (is_product(x) && !is_residual(x)) {
            return NULL;
        }
        if (!found && reshape && is_product(reshape->operands[0].value)) {
            found = reshape;
        }
    }
    return found;
}

static ig_value *map_of_reshape(ig_builder *b, ig_op *op) {
    const ig_op *reshape = is_map(op) ? find_reshape(op) : NULL;
    if (!reshape || op->operand_count > MAX_OPERANDS) {
        return NULL;
    }
    shapes s = { .module = ig_op_module(op),
                 .from = reshape->operands[0].value->type,
                 .to = reshape->results->type };
    if (s.from->rank == 0 || !has_dims(s.module, op->results->type, s.to)) {
        return NULL;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!can_turn(&s, op->operands[i].value, DEPTH)) {
            return NULL;
        }
    }
    ig_value *value = turn_op(&s, b, op, DEPTH);
    ig_expr e = ig_expr_of(b);
    return ig_expr_reshape(&e, value, s.to->rank, s.to->dims);
}

static const ig_rule rules[] = { RULE_OF_ANY(map_of_reshape) };

ig_status ig_pass_sink(ig_pass_run *run, ig_graph *graph) {
    return ig_rewrite(run, graph, rules, IG_COUNT_OF(rules));
}
