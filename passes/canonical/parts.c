/* canonicalise: sums of parts, each of which is 0 where the others are not.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %2 = where [[true], [false]], %0, 0      %0, %1: f32[1, N]
 *     %3 = where [[false], [true]], %1, 0
 *     %4 = add %2, %3
 *   becomes
 *     %4 = concat (add %0, 0), (add %1, 0) {axis = 0}
 *
 * Gradients of a tensor that is taken apart are such sums.  A sum with 0 has no -0.
 */
#include "ir/build/expr.h"
#include "passes/canonical/canonicalise.h"

#include <assert.h>

enum { PARTS = 16, EXTENT_MAX = 64 };

typedef struct parts {
    const ig_type *whole;
    uint32_t axis, count, sums; /* count: of `made` */
    int64_t extent;             /* of the axis */
    const ig_op *made[PARTS];
    uint8_t owner[EXTENT_MAX]; /* of each index along the axis: 1 + its part, or 0 */
} parts;

/* The operands of nested sums, which nobody else reads; false: they are too many. */
static bool collect_parts(parts *p, const ig_op *sum) {
    if (++p->sums >= PARTS) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        const ig_value *value = ig_op_operand(sum, i);
        const ig_op *op = value->def;
        if (!op || !ig_value_has_one_use(value) || p->count == PARTS ||
            !ig_canonical_same_type(ig_op_module(sum), value->type, p->whole)) {
            return false;
        }
        if (op->code == IG_OP_where) {
            p->made[p->count++] = op;
        } else if (op->code != IG_OP_add || !collect_parts(p, op)) {
            return false;
        }
    }
    return true;
}

/* The constant mask of a part, where it goes along one axis of the whole. */
static const ig_data *find_mask(const parts *p, const ig_op *part, uint32_t *out_axis) {
    const ig_data *mask = ig_constant_of(ig_op_operand(part, 0));
    uint32_t found = 0, rank = p->whole->rank;
    if (!mask || !mask->bytes || mask->is_splat || mask->type->rank > rank) {
        return NULL;
    }
    for (uint32_t d = 0; d < mask->type->rank; d++) {
        uint32_t axis = rank - mask->type->rank + d;
        if (!ig_dim_is(mask->type->dims[d], 1)) {
            found += ig_dim_same(mask->type->dims[d], p->whole->dims[axis]) ? 1 : 2;
            *out_axis = axis;
        }
    }
    return found == 1 ? mask : NULL;
}

/* Takes the indices at which the mask is true; false: another part has one of them. */
static bool own_indices(parts *p, const ig_data *mask, uint32_t part) {
    const uint8_t *is_its = mask->bytes;
    for (int64_t i = 0; i < p->extent; i++) {
        if (is_its[i] && p->owner[i]) {
            return false;
        }
        p->owner[i] = is_its[i] ? (uint8_t)(part + 1) : p->owner[i];
    }
    return true;
}

static bool read_part(parts *p, uint32_t part) {
    uint32_t axis = 0;
    const ig_data *mask = find_mask(p, p->made[part], &axis);
    if (!mask || (part > 0 && axis != p->axis) ||
        !ig_canonical_is_filled(ig_op_operand(p->made[part], 2), 0)) {
        return false;
    }
    p->axis = axis;
    return ig_dim_known(p->whole->dims[axis], &p->extent) && p->extent <= EXTENT_MAX &&
           own_indices(p, mask, part);
}

/* Indices `from` to `to` of the axis, which are all of one part. */
static ig_value *take_range(const parts *p, ig_expr *e, int64_t from, int64_t to) {
    ig_dim dims[IG_TENSOR_RANK];
    ig_value *x = ig_op_operand(p->made[p->owner[from] - 1], 1);
    uint32_t missing = p->whole->rank - x->type->rank;
    bool is_long = p->axis >= missing &&
                   !ig_dim_is(x->type->dims[p->axis - missing], 1);
    for (uint32_t d = 0; d < p->whole->rank; d++) {
        dims[d] = p->whole->dims[d];
    }
    dims[p->axis] = ig_dim_of(to - from);
    if (is_long) {
        x = ig_expr_slice(e, x, p->axis - missing, ig_dim_of(from), dims[p->axis], 1);
    }
    x = ig_expr_expand(e, x, p->whole->rank, dims);
    bool has_sign = x && ig_dtype_is_float((ig_dtype)x->type->dtype);
    return has_sign ? ig_expr_with(e, IG_OP_add, x, 0) : x;
}

static ig_value *join_parts(const parts *p, ig_builder *b) {
    ig_value *ranges[EXTENT_MAX];
    uint32_t count = 0;
    ig_expr e = ig_expr_trying(b);
    for (int64_t from = 0, to = 0; from < p->extent; from = to) {
        to = from + 1;
        while (to < p->extent && p->owner[to] == p->owner[from]) {
            to++;
        }
        ranges[count++] = take_range(p, &e, from, to);
    }
    assert(count > 1 && "two parts are two ranges");
    return ig_expr_concat(&e, p->axis, ranges, count);
}

/* A sum of parts that have all indices of an axis among them is their concat. */
static ig_value *add_of_parts(ig_builder *b, ig_op *op) {
    parts p = { .whole = op->results->type };
    if (p.whole->rank == 0 || !collect_parts(&p, op)) {
        return NULL;
    }
    for (uint32_t i = 0; i < p.count; i++) {
        if (!read_part(&p, i)) {
            return NULL;
        }
    }
    for (int64_t i = 0; i < p.extent; i++) {
        if (!p.owner[i]) {
            return NULL;
        }
    }
    return join_parts(&p, b);
}

static const ig_rule rules[] = { RULE(add, add_of_parts) };

const ig_rules ig_rules_parts = { rules, IG_COUNT_OF(rules) };
