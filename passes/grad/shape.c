/* Rules of ops that move elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/grad/rule.h"

void ig_grad_reshape(ig_grad *g) {
    const ig_type *type = ig_grad_x(g, 0)->type;
    ig_grad_give(g, 0, ig_expr_reshape(g->e, g->dy, type->rank, type->dims));
}

void ig_grad_transpose(ig_grad *g) {
    const ig_attr *perm = &g->op->attrs[IG_transpose_perm];
    int64_t back[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < perm->count; i++) {
        back[perm->as.ints[i]] = i;
    }
    ig_grad_give(g, 0, ig_expr_transpose(g->e, g->dy, back));
}

/* The axes are summed over as those of any broadcast. */
void ig_grad_expand(ig_grad *g) {
    ig_grad_give(g, 0, g->dy);
}

/* Parts of the operand that were not taken have gradient 0. */
void ig_grad_slice(ig_grad *g) {
    const ig_attr *starts = &g->op->attrs[IG_slice_starts];
    const ig_attr *steps = &g->op->attrs[IG_slice_steps];
    if (!ig_attr_is_set(g->op, IG_slice_starts)) {
        ig_grad_by_places(g);
        return;
    }
    ig_insert_attrs attrs = { .starts = { starts->as.dims, starts->count } };
    if (ig_attr_is_set(g->op, IG_slice_steps)) {
        attrs.steps = (ig_ints){ steps->as.ints, steps->count };
    }
    ig_value *zeros = ig_grad_zeros(g->e, ig_grad_x(g, 0)->type);
    ig_grad_give(g, 0, ig_build_insert(g->e, zeros, g->dy, attrs));
}

void ig_grad_insert(ig_grad *g) {
    ig_insert_attrs attrs = ig_insert_attrs_of(g->op);
    const ig_type *part = ig_grad_x(g, 1)->type;
    if (ig_grad_wants(g, 0)) {
        ig_value *zeros = ig_grad_zeros(g->e, part);
        ig_grad_give(g, 0, ig_build_insert(g->e, g->dy, zeros, attrs));
    }
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1,
                     ig_expr_slices(g->e, g->dy, attrs.starts.items, part->dims,
                                    attrs.steps.items));
    }
}

void ig_grad_concat(ig_grad *g) {
    uint32_t axis = ig_grad_axis(ig_grad_y(g), ig_attr_int(g->op, IG_concat_axis, 0));
    ig_dim start = ig_dim_of(0);
    for (uint32_t i = 0; i < g->op->operand_count; i++) {
        ig_dim size = ig_grad_x(g, i)->type->dims[axis];
        if (ig_grad_wants(g, i)) {
            ig_grad_give(g, i, ig_expr_slice(g->e, g->dy, axis, start, size, 1));
        }
        start = ig_dim_add(g->e->module, start, size);
    }
}

/* A constant pad is undone by the opposite one; the surroundings went to the value. */
static void grad_pad_constant(ig_grad *g) {
    ig_expr *e = g->e;
    ig_pad_attrs attrs = ig_pad_attrs_of(g->op);
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < attrs.before.count; i++) {
        before[i] = ig_dim_sub(e->module, ig_dim_of(0), attrs.before.items[i]);
        after[i] = ig_dim_sub(e->module, ig_dim_of(0), attrs.after.items[i]);
    }
    ig_value *inside = ig_expr_pad(e, g->dy, before, after, IG_PAD_constant, 0);
    ig_grad_give(g, 0, inside);
    if (ig_grad_wants(g, 1)) {
        ig_value *all = ig_expr_reduce(e, IG_REDUCE_sum, g->dy, NULL, 0, false);
        ig_value *kept = ig_expr_reduce(e, IG_REDUCE_sum, inside, NULL, 0, false);
        ig_grad_give(g, 1, ig_build_sub(e, all, kept));
    }
}

void ig_grad_pad(ig_grad *g) {
    bool is_known = ig_attr_is_set(g->op, IG_pad_before);
    bool is_constant = ig_attr_int(g->op, IG_pad_mode, 0) == IG_PAD_constant;
    if (is_known && is_constant) {
        grad_pad_constant(g);
    } else if (!is_constant) {
        ig_grad_by_places(g);
    } else {
        ig_grad_pad_computed(g);
    }
}
