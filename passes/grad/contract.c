/* Rules of products, reductions, softmax and norms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/grad/rule.h"

#include <string.h>

/* ---- matmul ---- */

/* op(a) op(b) with the flags as attributes. */
static ig_value *product_of(ig_expr *e, ig_value *a, bool ta, ig_value *b, bool tb) {
    return ig_build_matmul(e, a, b,
                           (ig_matmul_attrs){ .transpose_a = ta, .transpose_b = tb });
}

/* dA = dY B', dB = A' dY, where A and B are the operands after their transpositions. */
static ig_value *left_gradient(ig_expr *e, ig_value *dy, bool ta, ig_value *b,
                               bool tb) {
    return ta ? product_of(e, b, tb, dy, true) : product_of(e, dy, false, b, !tb);
}

static ig_value *right_gradient(ig_expr *e, ig_value *a, bool ta, ig_value *dy,
                                bool tb) {
    return tb ? product_of(e, dy, true, a, ta) : product_of(e, a, !ta, dy, false);
}

/* Leading axes as rows of one matrix. */
static ig_value *as_rows(ig_expr *e, ig_value *x) {
    return x && x->type->rank > 2 ? ig_expr_merge_axes(e, x, 0, x->type->rank - 2) : x;
}

/* A vector on the left is a row, on the right a column; and dy has those axes too. */
static void give_left(ig_grad *g, ig_value *dy, bool ta, ig_value *b, bool tb) {
    bool is_row = ig_grad_x(g, 0)->type->rank == 1;
    if (ig_grad_wants(g, 0)) {
        ig_value *d = left_gradient(g->e, dy, ta, b, tb);
        ig_grad_give(g, 0, is_row ? ig_expr_squeeze(g->e, d, d->type->rank - 2) : d);
    }
}

static void give_right(ig_grad *g, ig_value *a, bool ta, ig_value *dy, bool tb) {
    const ig_type *b = ig_grad_x(g, 1)->type;
    bool is_one = b->rank <= 2 && !ta; /* one matrix for all rows of a */
    if (ig_grad_wants(g, 1)) {
        a = is_one ? as_rows(g->e, a) : a;
        dy = is_one ? as_rows(g->e, dy) : dy;
        ig_value *d = right_gradient(g->e, a, ta, dy, tb);
        d = b->rank == 1 ? ig_expr_squeeze(g->e, d, d->type->rank - 1) : d;
        ig_grad_give(g, 1, d);
    }
}

void ig_grad_matmul(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *a = ig_grad_x(g, 0), *b = ig_grad_x(g, 1), *dy = g->dy;
    bool is_row = a->type->rank == 1, is_column = b->type->rank == 1;
    bool ta = ig_attr_int(g->op, IG_matmul_transpose_a, 0) && !is_row;
    bool tb = ig_attr_int(g->op, IG_matmul_transpose_b, 0) && !is_column;
    a = is_row ? ig_expr_unsqueeze(e, a, 0) : a;
    b = is_column ? ig_expr_unsqueeze(e, b, 1) : b;
    dy = is_column ? ig_expr_unsqueeze(e, dy, dy->type->rank) : dy;
    dy = is_row ? ig_expr_unsqueeze(e, dy, dy->type->rank - 1) : dy;
    give_left(g, dy, ta, b, tb);
    give_right(g, a, ta, dy, tb);
}

/* ---- reduce ---- */

typedef struct reduction {
    ig_expr *e;
    ig_value *x;
    ig_value *computed; /* the axes, where the run learns them; else NULL */
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count;
    ig_value *y, *dy; /* with the axes that were reduced, of extent 1 */
} reduction;

static ig_value *sum_of(reduction *r, ig_value *v) {
    if (r->computed) {
        ig_reduce_attrs sum = { .op = IG_REDUCE_sum, .keep = true };
        return ig_build_reduce(r->e, v, r->computed, sum);
    }
    return ig_expr_reduce(r->e, IG_REDUCE_sum, v, r->axes, r->count, true);
}

static ig_value *reduce_sum(reduction *r) {
    return r->dy;
}

/* Over the number of elements: x has so many times as many as y. */
static ig_value *reduce_mean(reduction *r) {
    ig_expr *e = r->e;
    ig_dtype dtype = (ig_dtype)r->x->type->dtype;
    ig_dim count = ig_dim_of(1);
    if (r->computed) {
        ig_value *left = ig_expr_dim(e, ig_type_count(e->module, r->y->type), dtype);
        ig_value *all = ig_expr_dim(e, ig_type_count(e->module, r->x->type), dtype);
        return ig_build_mul(e, r->dy, ig_build_div(e, left, all));
    }
    for (uint32_t i = 0; i < r->count; i++) {
        count = ig_dim_mul(e->module, count, r->x->type->dims[r->axes[i]]);
    }
    return ig_build_div(e, r->dy, ig_expr_dim(e, count, dtype));
}

/* Equal ones share alike. */
static ig_value *reduce_extreme(reduction *r) {
    ig_value *is_it = ig_expr_like(r->e, ig_build_eq(r->e, r->x, r->y), r->x);
    ig_value *share = ig_build_div(r->e, r->dy, sum_of(r, is_it));
    return ig_build_mul(r->e, is_it, share);
}

/* The axes that stay, then those that are reduced. */
static void order_axes(const reduction *r, int64_t *perm) {
    uint64_t reduced = 0;
    uint32_t at = 0, rank = r->x->type->rank;
    for (uint32_t i = 0; i < r->count; i++) {
        reduced |= (uint64_t)1 << r->axes[i];
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < rank; i++) {
            if ((reduced >> i & 1) == pass) {
                perm[at++] = i;
            }
        }
    }
}

/* The product of the others: of those before it, and of those after it, where the axes
 * that are reduced are one, the last. */
static ig_value *reduce_prod(reduction *r) {
    ig_expr *e = r->e;
    int64_t perm[IG_TENSOR_RANK] = { 0 }, back[IG_TENSOR_RANK] = { 0 };
    uint32_t rank = r->x->type->rank, kept = rank - r->count;
    order_axes(r, perm);
    for (uint32_t i = 0; i < rank; i++) {
        back[perm[i]] = i;
    }
    ig_value *moved = ig_expr_transpose(e, r->x, perm);
    ig_value *line = ig_expr_merge_axes(e, moved, kept, rank - 1);
    ig_cumulate_attrs before = { .op = IG_CUMULATE_prod,
                                 .axis = kept,
                                 .exclusive = true };
    ig_cumulate_attrs after = before;
    after.reverse = true;
    ig_value *others = ig_build_cumulate(e, line, before);
    others = ig_build_mul(e, others, ig_build_cumulate(e, line, after));
    others = ig_expr_reshape(e, others, rank, moved->type->dims);
    return ig_build_mul(e, ig_expr_transpose(e, others, back), r->dy);
}

static ig_value *reduce_sumsq(reduction *r) {
    ig_value *twice = ig_expr_with(r->e, IG_OP_mul, r->x, 2);
    return ig_build_mul(r->e, twice, r->dy);
}

static ig_value *reduce_l1(reduction *r) {
    return ig_build_mul(r->e, ig_build_sign(r->e, r->x), r->dy);
}

/* x / y, 0 where all of x is. */
static ig_value *reduce_l2(reduction *r) {
    ig_value *is_zero = ig_expr_with(r->e, IG_OP_eq, r->y, 0);
    ig_value *over = ig_build_div(r->e, r->dy, r->y);
    return ig_build_mul(r->e, r->x, ig_grad_unless(r->e, is_zero, over));
}

static ig_value *reduce_logsum(reduction *r) {
    return ig_build_div(r->e, r->dy, sum_of(r, r->x));
}

static ig_value *reduce_logsumexp(reduction *r) {
    ig_value *share = ig_build_exp(r->e, ig_build_sub(r->e, r->x, r->y));
    return ig_build_mul(r->e, share, r->dy);
}

static ig_value *(*const reductions[])(reduction *r) = {
    [IG_REDUCE_sum] = reduce_sum,       [IG_REDUCE_mean] = reduce_mean,
    [IG_REDUCE_max] = reduce_extreme,   [IG_REDUCE_min] = reduce_extreme,
    [IG_REDUCE_prod] = reduce_prod,     [IG_REDUCE_sumsq] = reduce_sumsq,
    [IG_REDUCE_l1] = reduce_l1,         [IG_REDUCE_l2] = reduce_l2,
    [IG_REDUCE_logsum] = reduce_logsum, [IG_REDUCE_logsumexp] = reduce_logsumexp,
};

/* Which axes, and y and dy as if they were kept.  No axis: all, or with
 * noop_if_empty none. */
static void find_axes(ig_grad *g, reduction *r) {
    const ig_attr *axes = &g->op->attrs[IG_reduce_axes];
    uint32_t rank = r->x->type->rank;
    ig_dim dims[IG_TENSOR_RANK];
    bool is_all = axes->count == 0 && !ig_attr_int(g->op, IG_reduce_noop_if_empty, 0);
    r->count = is_all ? rank : axes->count;
    memcpy(dims, r->x->type->dims, rank * sizeof *dims);
    for (uint32_t i = 0; i < r->count; i++) {
        r->axes[i] = is_all ? i : ig_grad_axis(r->x, axes->as.ints[i]);
        dims[r->axes[i]] = ig_dim_of(1);
    }
    r->y = ig_expr_reshape(r->e, ig_grad_y(g), rank, dims);
    r->dy = ig_expr_reshape(r->e, g->dy, rank, dims);
}

/* The run learns the axes: y is made again, with all axes, and tells the extents. */
static void find_computed_axes(ig_grad *g, reduction *r) {
    ig_reduce_attrs attrs = ig_reduce_attrs_of(g->op);
    attrs.keep = true;
    r->computed = ig_grad_x(g, 1);
    r->count = 1;
    r->y = ig_build_reduce(r->e, r->x, r->computed, attrs);
    r->dy = ig_expr_reshape(r->e, g->dy, r->y->type->rank, r->y->type->dims);
}

void ig_grad_reduce(ig_grad *g) {
    reduction r = { .e = g->e, .x = ig_grad_x(g, 0) };
    ig_reduce kind = (ig_reduce)ig_attr_int(g->op, IG_reduce_op, IG_REDUCE_sum);
    bool is_computed = g->op->operand_count > 1;
    if (is_computed && kind == IG_REDUCE_prod) {
        ig_grad_refuse(g, "it is a product, and its axes are computed");
        return;
    }
    (is_computed ? find_computed_axes : find_axes)(g, &r);
    ig_value *d = r.count ? reductions[kind](&r) : g->dy;
    const ig_type *type = r.x->type;
    ig_grad_give(g, 0, ig_expr_expand(g->e, d, type->rank, type->dims));
}

/* ---- softmax and norms ---- */

/* y (dy - sum(y dy)); of the logarithm: dy - exp(y) sum(dy). */
void ig_grad_softmax(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *y = ig_grad_y(g), *dy = g->dy;
    uint32_t axis = ig_grad_axis(y, ig_attr_int(g->op, IG_softmax_axis, 0));
    if (ig_attr_int(g->op, IG_softmax_log, 0)) {
        ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, dy, axis, true);
        ig_value *share = ig_build_mul(e, ig_build_exp(e, y), sum);
        ig_grad_give(g, 0, ig_build_sub(e, dy, share));
        return;
    }
    ig_value *product = ig_build_mul(e, y, dy);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, product, axis, true);
    ig_grad_give(g, 0, ig_build_mul(e, y, ig_build_sub(e, dy, sum)));
}

/* x̂ = (x - mean) / deviation; dx = (d - mean(d) - x̂ mean(x̂ d)) / deviation, where d
 * is dy times the scale; without a mean (rms) it takes none away. */
typedef struct norm {
    ig_value *centred, *inverse; /* of the deviation */
    uint32_t first, last;        /* axes */
    bool is_rms;
} norm;

static ig_value *mean_of(ig_expr *e, const norm *n, ig_value *v) {
    return ig_expr_reduce_axes(e, IG_REDUCE_mean, v, n->first, n->last);
}

static norm norm_of(ig_grad *g) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0);
    norm n = { .first = ig_grad_axis(x, ig_attr_int(g->op, IG_layer_norm_axis, 0)),
               .last = x->type->rank - 1,
               .is_rms = ig_attr_int(g->op, IG_layer_norm_rms, 0) != 0 };
    n.centred = n.is_rms ? x : ig_build_sub(e, x, mean_of(e, &n, x));
    ig_value *square = ig_build_mul(e, n.centred, n.centred);
    double epsilon = ig_attr_float(g->op, IG_layer_norm_epsilon, 0);
    ig_value *variance = ig_expr_with(e, IG_OP_add, mean_of(e, &n, square), epsilon);
    n.inverse = ig_build_rsqrt(e, variance);
    return n;
}

void ig_grad_layer_norm(ig_grad *g) {
    ig_expr *e = g->e;
    norm n = norm_of(g);
    ig_value *scale = ig_grad_x(g, 1);
    ig_value *normal = ig_build_mul(e, n.centred, n.inverse);
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1, ig_build_mul(e, g->dy, normal));
    }
    ig_grad_give(g, 2, g->dy);
    if (ig_grad_wants(g, 0)) {
        ig_value *d = scale ? ig_build_mul(e, g->dy, scale) : g->dy;
        ig_value *along = mean_of(e, &n, ig_build_mul(e, normal, d));
        ig_value *rest = n.is_rms ? d : ig_build_sub(e, d, mean_of(e, &n, d));
        rest = ig_build_sub(e, rest, ig_build_mul(e, normal, along));
        ig_grad_give(g, 0, ig_build_mul(e, rest, n.inverse));
    }
}
