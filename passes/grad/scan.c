/* Rules of running sums, products and extremes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sum goes to all that comes after it, so its gradient is the sum from the other
 * end. */
#include "passes/grad/rule.h"

void ig_grad_cumsum(ig_grad *g) {
    ig_cumsum_attrs attrs = ig_cumsum_attrs_of(g->op);
    ig_value *x = ig_grad_x(g, 0);
    uint32_t axis = ig_grad_axis(x, attrs.axis);
    if (attrs.rising) {
        ig_grad_refuse(g, "it takes the largest so far");
        return;
    }
    attrs.reverse = !attrs.reverse;
    attrs.exclusive |= attrs.complete;
    attrs.complete = false;
    ig_value *d = ig_build_cumsum(g->e, g->dy, attrs);
    ig_grad_give(g, 0,
                 ig_expr_slice(g->e, d, axis, ig_dim_of(0), x->type->dims[axis], 1));
}

/* How y of place k changes with x of place i: the product up to k with x_i taken for 1,
 * where i takes part in it; a matrix [i, k] along two axes in place of one.  Nothing is
 * divided, so that zeros are no harm. */
static ig_value *product_slopes(ig_grad *g, const ig_cumulate_attrs *own) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0);
    uint32_t axis = ig_grad_axis(x, own->axis), rank = x->type->rank + 1;
    ig_dim extent = x->type->dims[axis];
    ig_value *i = ig_expr_axis_iota(e, rank, axis, extent);
    ig_value *k = ig_expr_axis_iota(e, rank, axis + 1, extent);
    ig_value *one = ig_expr_number(e, (ig_dtype)x->type->dtype, 1);
    ig_value *wide = ig_expr_unsqueeze(e, x, axis);
    wide = ig_build_where(e, ig_build_eq(e, i, k), one, wide);
    ig_cumulate_attrs attrs = *own;
    attrs.axis = axis + 1;
    ig_value *products = ig_build_cumulate(e, wide, attrs);
    ig_value *low = own->reverse ? k : i, *high = own->reverse ? i : k;
    ig_value *takes_part = own->exclusive ? ig_build_lt(e, low, high)
                                          : ig_build_le(e, low, high);
    return ig_grad_when(e, takes_part, products);
}

static void cumulate_prod(ig_grad *g, const ig_cumulate_attrs *attrs) {
    uint32_t axis = ig_grad_axis(ig_grad_x(g, 0), attrs->axis);
    ig_value *slopes = product_slopes(g, attrs);
    ig_value *d = ig_expr_unsqueeze(g->e, g->dy, axis);
    d = ig_build_mul(g->e, slopes, d);
    ig_grad_give(g, 0, ig_expr_reduce_axis(g->e, IG_REDUCE_sum, d, axis + 1, false));
}

/* To where the extreme so far stood: counted from the end when it goes back. */
static void cumulate_extreme(ig_grad *g, const ig_cumulate_attrs *attrs) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0), *d = g->dy;
    uint32_t axis = ig_grad_axis(x, attrs->axis);
    bool is_max = attrs->op == IG_CUMULATE_max;
    ig_cumulate_index_attrs index = { .op = is_max ? IG_EXTREME_max : IG_EXTREME_min,
                                      .axis = axis };
    ig_scatter_elements_attrs add = { .axis = axis, .reduce = IG_SCATTER_add };
    x = attrs->reverse ? ig_expr_flip(e, x, axis) : x;
    d = attrs->reverse ? ig_expr_flip(e, d, axis) : d;
    ig_value *positions = ig_build_cumulate_index(e, x, index);
    ig_value *zeros = ig_grad_zeros(e, x->type);
    d = ig_build_scatter_elements(e, zeros, positions, d, add);
    ig_grad_give(g, 0, attrs->reverse ? ig_expr_flip(e, d, axis) : d);
}

/* x shares in y_k by exp(x - y_k); the sum over k is taken of logarithms, of positive
 * and of negative dy apart, so that nothing overflows. */
static ig_value *log_share(ig_grad *g, const ig_cumulate_attrs *own, ig_value *part) {
    ig_expr *e = g->e;
    ig_cumulate_attrs attrs = *own;
    attrs.reverse = !attrs.reverse;
    ig_value *logs = ig_build_sub(e, ig_build_log(e, part), ig_grad_y(g));
    logs = ig_build_cumulate(e, logs, attrs);
    return ig_build_exp(e, ig_build_add(e, logs, ig_grad_x(g, 0)));
}

static void cumulate_logs(ig_grad *g, const ig_cumulate_attrs *attrs) {
    ig_expr *e = g->e;
    ig_value *positive = log_share(g, attrs, ig_build_relu(e, g->dy));
    ig_value *negative = ig_build_relu(e, ig_build_neg(e, g->dy));
    negative = log_share(g, attrs, negative);
    ig_grad_give(g, 0, ig_build_sub(e, positive, negative));
}

void ig_grad_cumulate(ig_grad *g) {
    ig_cumulate_attrs attrs = ig_cumulate_attrs_of(g->op);
    if (attrs.op == IG_CUMULATE_prod) {
        cumulate_prod(g, &attrs);
    } else if (attrs.op == IG_CUMULATE_logsumexp) {
        cumulate_logs(g, &attrs);
    } else {
        cumulate_extreme(g, &attrs);
    }
}

/* start + i step; the limit decides only how many. */
void ig_grad_range(ig_grad *g) {
    ig_expr *e = g->e;
    ig_grad_give(g, 0, g->dy);
    if (ig_grad_wants(g, 2)) {
        ig_dim count = g->dy->type->dims[0];
        ig_value *i = ig_expr_iota(e, (ig_dtype)g->dy->type->dtype, count);
        ig_grad_give(g, 2, ig_build_mul(e, g->dy, i));
    }
}
