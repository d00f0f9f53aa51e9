/* Rules of ops that take elements by indices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What took an element from a place adds to its gradient there, as often as it was
 * taken. */
#include "passes/grad/rule.h"

#include <string.h>

/* ---- rows ---- */

ig_value *ig_grad_add_rows(ig_expr *e, const ig_type *type, ig_value *index,
                           ig_value *is_live, ig_value *d) {
    ig_scatter_nd_attrs add = { .reduce = IG_SCATTER_add };
    index = ig_expr_cast(e, index, IG_DT_i64);
    if (is_live) {
        index = ig_build_where(e, is_live, index, ig_expr_integer(e, IG_DT_i64, -1));
        add.negative = IG_NEGATIVE_skip;
    }
    ig_value *zeros = ig_expr_fill(e, (ig_dtype)type->dtype, type->rank, type->dims, 0);
    ig_value *tuples = index ? ig_expr_unsqueeze(e, index, index->type->rank) : NULL;
    return ig_build_scatter_nd(e, zeros, tuples, d, add);
}

/* Axes of the indices first, which replace `axis` of x. */
static ig_value *indices_first(ig_expr *e, ig_value *d, uint32_t axis, uint32_t count) {
    int64_t perm[IG_TENSOR_RANK] = { 0 };
    for (uint32_t i = 0; i < d->type->rank; i++) {
        perm[i] = i < count ? axis + i : i < count + axis ? i - count : i;
    }
    return ig_expr_transpose(e, d, perm);
}

/* dx where rows of x along `axis` were taken by `index`. */
static void give_rows(ig_grad *g, uint32_t axis, ig_value *index, ig_value *is_live) {
    ig_expr *e = g->e;
    const ig_type *type = ig_grad_x(g, 0)->type;
    ig_dim dims[IG_TENSOR_RANK] = { type->dims[axis] };
    for (uint32_t i = 0, to = 1; i < type->rank; i++) {
        if (i != axis) {
            dims[to++] = type->dims[i];
        }
    }
    const ig_type *first = ig_type_with_dims(e->module, type, type->rank, dims);
    ig_value *d = indices_first(e, g->dy, axis, index->type->rank);
    d = ig_grad_add_rows(e, first, index, is_live, d);
    ig_grad_give(g, 0, ig_expr_move_axis(e, d, 0, axis));
}

void ig_grad_gather(ig_grad *g) {
    uint32_t axis = ig_grad_axis(ig_grad_x(g, 0),
                                 ig_attr_int(g->op, IG_gather_axis, 0));
    ig_value *index = ig_grad_x(g, 1);
    bool skips = ig_attr_int(g->op, IG_gather_negative, 0) == IG_NEGATIVE_skip;
    give_rows(g, axis, index, skips ? ig_expr_with(g->e, IG_OP_ge, index, 0) : NULL);
}

/* Each different value is that of the place where it stood first. */
void ig_grad_unique(ig_grad *g) {
    ig_value *x = ig_grad_x(g, 0), *first = ig_op_result(g->op, 1);
    if (ig_attr_is_set(g->op, IG_unique_axis)) {
        int64_t axis = ig_attr_int(g->op, IG_unique_axis, 0);
        give_rows(g, ig_grad_axis(x, axis), first, NULL);
        return;
    }
    ig_dim count = ig_type_count(g->e->module, x->type);
    const ig_type *line = ig_type_with_dims(g->e->module, x->type, 1, &count);
    ig_value *d = ig_grad_add_rows(g->e, line, first, NULL, g->dy);
    ig_grad_give(g, 0, ig_expr_reshape(g->e, d, x->type->rank, x->type->dims));
}

/* For any op that only moves elements of its first operand: the elements' own numbers
 * are moved in their place, and dy is added where they say.  Numbers past the last are
 * of nothing. */
static void give_by_indices(ig_grad *g, ig_value *const *operands) {
    ig_expr *e = g->e;
    const ig_type *type = ig_grad_x(g, 0)->type;
    ig_dim count = ig_type_count(e->module, type);
    ig_value *indices = ig_expr_make(e, (ig_opcode)g->op->code, operands,
                                     g->op->operand_count, g->op->attrs);
    const ig_type *line = ig_type_with_dims(e->module, type, 1, &count);
    ig_value *is_live = NULL;
    indices = ig_expr_flatten(e, indices);
    if (g->op->code == IG_OP_pad) {
        is_live = ig_build_lt(e, indices, ig_expr_dim(e, count, IG_DT_i64));
    }
    ig_value *d = ig_expr_flatten(e, g->dy);
    d = ig_grad_add_rows(e, line, indices, is_live, d);
    ig_grad_give(g, 0, ig_expr_reshape(e, d, type->rank, type->dims));
}

static ig_value *index_elements(ig_expr *e, const ig_type *type) {
    ig_dim count = ig_type_count(e->module, type);
    ig_value *indices = ig_expr_iota(e, IG_DT_i64, count);
    return ig_expr_reshape(e, indices, type->rank, type->dims);
}

void ig_grad_by_places(ig_grad *g) {
    ig_value *operands[5] = { index_elements(g->e, ig_grad_x(g, 0)->type) };
    for (uint32_t i = 1; i < g->op->operand_count; i++) {
        operands[i] = ig_grad_x(g, i);
    }
    give_by_indices(g, operands);
}

/* The padding is computed: operands are x, amounts, value and perhaps axes. */
void ig_grad_pad_computed(ig_grad *g) {
    const ig_type *type = ig_grad_x(g, 0)->type;
    ig_value *operands[4] = { index_elements(g->e, type) };
    for (uint32_t i = 1; i < g->op->operand_count; i++) {
        operands[i] = ig_grad_x(g, i);
    }
    if (ig_grad_wants(g, 2)) {
        ig_grad_refuse(
            g, "the widths of the padding are computed, and its value is trained");
        return;
    }
    if (g->op->operand_count < 3) {
        ig_grad_refuse(
            g, "the widths of the padding are computed, and its value is not given");
        return;
    }
    ig_dim count = ig_type_count(g->e->module, type);
    operands[2] = ig_expr_dim(g->e, count, IG_DT_i64);
    give_by_indices(g, operands);
}

/* ---- rows of parts ---- */

/* Offsets past the rows that were made: elements after them have no gradient. */
static ig_value *offsets_within(ig_grad *g, ig_dim rows) {
    ig_value *offsets = ig_grad_x(g, 1);
    ig_value *last = ig_expr_dim(g->e, rows, IG_DT_i64);
    return ig_build_min(g->e, ig_expr_cast(g->e, offsets, IG_DT_i64), last);
}

void ig_grad_jagged_to_padded(ig_grad *g) {
    ig_dim rows = ig_grad_x(g, 0)->type->dims[0];
    ig_padded_to_jagged_attrs attrs = { .rows = (ig_maybe_dim)IG_SET(rows) };
    ig_value *offsets = ig_grad_x(g, 1);
    ig_grad_give(g, 0, ig_build_padded_to_jagged(g->e, g->dy, offsets, NULL, attrs));
}

void ig_grad_padded_to_jagged(ig_grad *g) {
    ig_jagged_to_padded_attrs attrs = { .length = ig_grad_x(g, 0)->type->dims[1] };
    ig_value *offsets = offsets_within(g, g->dy->type->dims[0]);
    ig_grad_give(g, 0, ig_build_jagged_to_padded(g->e, g->dy, offsets, attrs));
}

/* ---- elements ---- */

static ig_value *add_elements(ig_grad *g, ig_value *index, int64_t axis, ig_value *d) {
    ig_scatter_elements_attrs add = { .axis = axis, .reduce = IG_SCATTER_add };
    ig_value *zeros = ig_grad_zeros(g->e, ig_grad_x(g, 0)->type);
    return ig_build_scatter_elements(g->e, zeros, index, d, add);
}

void ig_grad_gather_elements(ig_grad *g) {
    int64_t axis = ig_attr_int(g->op, IG_gather_elements_axis, 0);
    ig_grad_give(g, 0, add_elements(g, ig_grad_x(g, 1), axis, g->dy));
}

/* Values in order: each is that of the place where it stood. */
void ig_grad_sort(ig_grad *g) {
    int64_t axis = ig_attr_int(g->op, IG_sort_axis, 0);
    ig_grad_give(g, 0, add_elements(g, ig_op_result(g->op, 1), axis, g->dy));
}

void ig_grad_topk(ig_grad *g) {
    int64_t axis = ig_attr_int(g->op, IG_topk_axis, 0);
    ig_grad_give(g, 0, add_elements(g, ig_op_result(g->op, 1), axis, g->dy));
}

/* ---- scatters ---- */

/* The op's scatter of other values, and the values at its positions. */
static ig_value *scatter_so(ig_grad *g, ig_value *x, ig_value *updates, int kind) {
    ig_value *index = ig_grad_x(g, 1);
    if (g->op->code == IG_OP_scatter_nd) {
        ig_scatter_nd_attrs attrs = ig_scatter_nd_attrs_of(g->op);
        attrs.reduce = kind;
        return ig_build_scatter_nd(g->e, x, index, updates, attrs);
    }
    ig_scatter_elements_attrs attrs = ig_scatter_elements_attrs_of(g->op);
    attrs.reduce = kind;
    return ig_build_scatter_elements(g->e, x, index, updates, attrs);
}

static ig_value *gather_so(ig_grad *g, ig_value *x) {
    ig_value *index = ig_grad_x(g, 1);
    if (g->op->code == IG_OP_scatter_nd) {
        int negative = ig_scatter_nd_attrs_of(g->op).negative;
        return ig_build_gather_nd(g->e, x, index,
                                  (ig_gather_nd_attrs){ .negative = negative });
    }
    int64_t axis = ig_attr_int(g->op, IG_scatter_elements_axis, 0);
    return ig_build_gather_elements(g->e, x, index,
                                    (ig_gather_elements_attrs){ .axis = axis });
}

/* Of several updates of an element the last one wins: the one whose number does. */
static ig_value *find_standing(ig_grad *g) {
    ig_expr *e = g->e;
    const ig_type *x = ig_grad_x(g, 0)->type, *updates = ig_grad_x(g, 2)->type;
    ig_value *indices = index_elements(e, updates);
    ig_value *positions = ig_expr_fill(e, IG_DT_i64, x->rank, x->dims, 0);
    positions = scatter_so(g, positions, indices, IG_SCATTER_none);
    return ig_build_eq(e, gather_so(g, positions), indices);
}

static void scatter_none(ig_grad *g) {
    ig_expr *e = g->e;
    if (ig_grad_wants(g, 0)) {
        ig_value *zeros = ig_grad_zeros(e, ig_grad_x(g, 2)->type);
        ig_grad_give(g, 0, scatter_so(g, g->dy, zeros, IG_SCATTER_none));
    }
    if (ig_grad_wants(g, 2)) {
        ig_value *stands = find_standing(g);
        ig_grad_give(g, 2, ig_grad_when(e, stands, gather_so(g, g->dy)));
    }
}

/* The gradient of a maximum or minimum is divided equally among the elements equal to
 * it. */
static void scatter_extreme(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0), *updates = ig_grad_x(g, 2), *y = ig_grad_y(g);
    ig_value *own = ig_expr_like(e, ig_build_eq(e, x, y), x);
    ig_value *theirs = ig_expr_like(e, ig_build_eq(e, updates, gather_so(g, y)), x);
    ig_value *count = scatter_so(g, own, theirs, IG_SCATTER_add);
    ig_value *share = ig_build_div(e, g->dy, count);
    ig_grad_give(g, 0, ig_build_mul(e, share, own));
    if (ig_grad_wants(g, 2)) {
        ig_grad_give(g, 2, ig_build_mul(e, gather_so(g, share), theirs));
    }
}

static void give_scatter(ig_grad *g, int kind, int negative) {
    if (negative == IG_NEGATIVE_skip || kind == IG_SCATTER_mul) {
        ig_grad_refuse(g, kind == IG_SCATTER_mul ? "products are scattered"
                                                 : "negative indices are skipped");
    } else if (kind == IG_SCATTER_none) {
        scatter_none(g);
    } else if (kind == IG_SCATTER_add) {
        ig_grad_give(g, 0, g->dy);
        ig_grad_give(g, 2, ig_grad_wants(g, 2) ? gather_so(g, g->dy) : NULL);
    } else {
        scatter_extreme(g);
    }
}

void ig_grad_scatter_elements(ig_grad *g) {
    ig_scatter_elements_attrs attrs = ig_scatter_elements_attrs_of(g->op);
    if (attrs.fresh) {
        ig_grad_refuse(g, "first updates replace, later ones are combined");
        return;
    }
    give_scatter(g, attrs.reduce, attrs.negative);
}

void ig_grad_scatter_nd(ig_grad *g) {
    ig_scatter_nd_attrs attrs = ig_scatter_nd_attrs_of(g->op);
    give_scatter(g, attrs.reduce, attrs.negative);
}
