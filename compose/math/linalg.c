/* Linear algebra of small matrices in batches: loops over columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/math/linalg.h"

#include <assert.h>

enum { CARRIED = 3 };

/* A loop that carries some tensors: its step sees the trip's number `at` (i64[]) and
 * their present values, and puts the new ones in the same places. */
typedef struct columns {
    ig_expr *e;
    ig_value *at;
    ig_value *x[CARRIED];
    ig_value *a;           /* unchanged values */
    ig_value *row, *other; /* numbers of rows [1, m, 1] and columns [1, 1, n] */
    ig_triangle form;
} columns;

typedef void (*column_step)(columns *c);

static void run_columns(columns *c, ig_dim trips, uint32_t count, column_step step) {
    ig_expr *e = c->e;
    ig_value *operands[2 + CARRIED] = { ig_expr_dim(e, trips, IG_DT_i64),
                                        ig_expr_number(e, IG_DT_bool, 1) };
    const ig_type *types[CARRIED];
    assert(count > 0 && count <= CARRIED && "tensors that the loop carries");
    for (uint32_t i = 0; e->status == IG_OK && i < count; i++) {
        operands[2 + i] = c->x[i];
        types[i] = c->x[i]->type;
    }
    ig_builder outside = *e->builder;
    ig_op *op = e->status == IG_OK
                    ? ig_expr_open_loops(e, operands, 2 + count, types, 0)
                    : NULL;
    if (!op) {
        return;
    }
    ig_block *body = op->bodies[0];
    c->at = body->args[0];
    for (uint32_t i = 0; i < count; i++) {
        c->x[i] = body->args[2 + i];
    }
    step(c);
    if (e->status == IG_OK) {
        ig_value *yields[1 + CARRIED] = { body->args[1] };
        for (uint32_t i = 0; i < count; i++) {
            yields[1 + i] = c->x[i];
        }
        ig_make_yield(e->builder, yields, 1 + count);
    }
    *e->builder = outside;
    for (uint32_t i = 0; e->status == IG_OK && i < count; i++) {
        c->x[i] = ig_op_result(op, i);
    }
}

static columns open_columns(ig_expr *e, const ig_value *a) {
    columns c = { .e = e };
    if (a) {
        c.row = ig_expr_axis_iota(e, 3, 1, a->type->dims[1]);
        c.other = ig_expr_axis_iota(e, 3, 2, a->type->dims[2]);
    }
    return c;
}

/* b with as many rows as a, of which it is known that they are; so that carried values
 * keep their extents. */
static ig_value *with_rows_of(ig_expr *e, ig_value *b, const ig_value *a) {
    ig_dim dims[] = { a->type->dims[0], a->type->dims[1], b->type->dims[2] };
    return ig_expr_reshape(e, b, 3, dims);
}

/* The same of square matrices. */
static ig_value *as_squares(ig_expr *e, ig_value *a) {
    ig_dim dims[] = { a->type->dims[0], a->type->dims[1], a->type->dims[1] };
    return ig_expr_reshape(e, a, 3, dims);
}

/* Row and column `at` of x, [B, 1, n] and [B, m, 1]. */
static ig_value *row_at(ig_expr *e, ig_value *x, ig_value *at) {
    return ig_expr_unsqueeze(e, ig_expr_gather(e, x, at, 1, IG_NEGATIVE_error), 1);
}

static ig_value *column_at(ig_expr *e, ig_value *x, ig_value *at) {
    return ig_expr_unsqueeze(e, ig_expr_gather(e, x, at, 2, IG_NEGATIVE_error), 2);
}

static ig_value *or_zero(ig_expr *e, ig_value *keeps, ig_value *x) {
    return ig_build_where(e, keeps, x, ig_expr_number(e, IG_DT_f64, 0));
}

/* ---- elimination ---- */

/* Rows `at` and `pivot` of x exchanged; pivot is i64 [B, 1, 1]. */
static ig_value *exchange_rows(const columns *c, ig_value *x, ig_value *pivot) {
    ig_expr *e = c->e;
    ig_value *from = ig_build_where(e, ig_build_eq(e, c->row, pivot), c->at, c->row);
    from = ig_build_where(e, ig_build_eq(e, c->row, c->at), pivot, from);
    from = ig_expr_expand(e, from, 3, x->type->dims);
    return ig_build_gather_elements(e, x, from,
                                    (ig_gather_elements_attrs){ .axis = 1 });
}

/* The row at or below `at` with the largest element of that column, i64 [B, 1, 1]. */
static ig_value *find_pivot(const columns *c, ig_value *x) {
    ig_expr *e = c->e;
    ig_value *size = ig_build_abs(e, column_at(e, x, c->at));
    ig_value *none = ig_expr_number(e, IG_DT_f64, -1);
    size = ig_build_where(e, ig_build_ge(e, c->row, c->at), size, none);
    ig_arg_reduce_attrs attrs = { .axis = 1, .keep = true };
    return ig_build_arg_reduce(e, size, attrs);
}

static void factor_column(columns *c) {
    ig_expr *e = c->e;
    ig_value *pivot = find_pivot(c, c->x[0]);
    ig_value *x = exchange_rows(c, c->x[0], pivot);
    ig_value *own = row_at(e, x, c->at), *column = column_at(e, x, c->at);
    ig_value *value = column_at(e, own, c->at);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    value = ig_build_where(e, ig_expr_with(e, IG_OP_eq, value, 0), one, value);
    ig_value *is_below = ig_build_gt(e, c->row, c->at);
    ig_value *factor = or_zero(e, is_below, ig_build_div(e, column, value));
    ig_value *rest = ig_build_sub(e, x, ig_build_mul(e, factor, own));
    ig_value *is_right = ig_build_gt(e, c->other, c->at);
    ig_value *is_column = ig_build_and(e, is_below, ig_build_eq(e, c->other, c->at));
    x = ig_build_where(e, ig_build_and(e, is_below, is_right), rest, x);
    c->x[0] = ig_build_where(e, is_column, factor, x);
    ig_value *is_at = ig_build_eq(e, ig_expr_squeeze(e, c->other, 1), c->at);
    c->x[1] = ig_build_where(e, is_at, ig_expr_squeeze(e, pivot, 2), c->x[1]);
}

ig_lu ig_compose_lu(ig_expr *e, ig_value *a) {
    if (!a || ig_dim_is(a->type->dims[1], 0)) { /* no column has a pivot */
        return (ig_lu){ a, a ? ig_expr_fill(e, IG_DT_i64, 2, a->type->dims, 0) : NULL };
    }
    columns c = open_columns(e, a = as_squares(e, a));
    c.x[0] = a;
    c.x[1] = a ? ig_expr_fill(e, IG_DT_i64, 2, a->type->dims, 0) : NULL;
    run_columns(&c, a ? a->type->dims[1] : ig_dim_of(0), 2, factor_column);
    return (ig_lu){ c.x[0], c.x[1] };
}

/* [B, n] */
static ig_value *diagonal_of(ig_expr *e, ig_value *x) {
    if (!x) {
        return NULL;
    }
    columns c = open_columns(e, x);
    ig_value *on = or_zero(e, ig_build_eq(e, c.row, c.other), x);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, on, 2, false);
}

/* 1 or -1 of each matrix, [B]: an odd count of exchanges turns the sign. */
static ig_value *parity_of(ig_expr *e, ig_value *pivots) {
    if (!pivots) {
        return NULL;
    }
    ig_value *own = ig_expr_axis_iota(e, 2, 1, pivots->type->dims[1]);
    ig_value *signs = ig_build_where(e, ig_build_eq(e, pivots, own),
                                     ig_expr_number(e, IG_DT_f64, 1),
                                     ig_expr_number(e, IG_DT_f64, -1));
    return ig_expr_reduce_axis(e, IG_REDUCE_prod, signs, 1, false);
}

ig_value *ig_compose_det(ig_expr *e, const ig_lu *lu) {
    ig_value *x = diagonal_of(e, lu->factors);
    x = x ? ig_expr_reduce_axis(e, IG_REDUCE_prod, x, 1, false) : NULL;
    return ig_build_mul(e, x, parity_of(e, lu->pivots));
}

ig_value *ig_compose_det_sign(ig_expr *e, const ig_lu *lu) {
    ig_value *x = diagonal_of(e, lu->factors);
    x = x ? ig_expr_reduce_axis(e, IG_REDUCE_prod, ig_build_sign(e, x), 1, false)
          : NULL;
    return ig_build_mul(e, x, parity_of(e, lu->pivots));
}

ig_value *ig_compose_log_det(ig_expr *e, const ig_lu *lu) {
    ig_value *x = diagonal_of(e, lu->factors);
    x = ig_build_log(e, ig_build_abs(e, x));
    return x ? ig_expr_reduce_axis(e, IG_REDUCE_sum, x, 1, false) : NULL;
}

/* One column of [A, B]: 1 in the pivot's row, 0 in the others. */
static void clear_column(columns *c) {
    ig_expr *e = c->e;
    ig_value *x = exchange_rows(c, c->x[0], find_pivot(c, c->x[0]));
    ig_value *own = row_at(e, x, c->at);
    own = ig_build_div(e, own, column_at(e, own, c->at));
    ig_value *others = ig_build_mul(e, column_at(e, x, c->at), own);
    others = ig_build_sub(e, x, others);
    c->x[0] = ig_build_where(e, ig_build_eq(e, c->row, c->at), own, others);
}

ig_value *ig_compose_solve(ig_expr *e, ig_value *a, ig_value *b) {
    if (!a || !b || ig_dim_is(a->type->dims[1], 0)) {
        return b;
    }
    ig_dim n = a->type->dims[1], width = b->type->dims[2];
    columns c = open_columns(e, a);
    ig_value *both[] = { as_squares(e, a), with_rows_of(e, b, a) };
    c.x[0] = ig_expr_concat(e, 2, both, 2);
    run_columns(&c, n, 1, clear_column);
    return ig_expr_slice(e, c.x[0], 2, n, width, 1);
}

ig_value *ig_compose_identity(ig_expr *e, const ig_value *a) {
    if (!a) {
        return NULL;
    }
    columns c = open_columns(e, a);
    ig_value *one = ig_expr_cast(e, ig_build_eq(e, c.row, c.other), IG_DT_f64);
    return ig_expr_expand(e, one, 3, a->type->dims);
}

/* ---- triangles ---- */

static void substitute_row(columns *c) {
    ig_expr *e = c->e;
    bool is_upper = c->form.is_upper;
    ig_value *at = c->at;
    if (is_upper) {
        ig_value *last = ig_expr_dim(e, c->a->type->dims[1], IG_DT_i64);
        at = ig_build_sub(e, ig_expr_with(e, IG_OP_sub, last, 1), at);
    }
    ig_value *column = column_at(e, c->a, at), *own = row_at(e, c->x[0], at);
    own = c->form.is_unit ? own : ig_build_div(e, own, row_at(e, column, at));
    ig_value *is_left = is_upper ? ig_build_lt(e, c->row, at)
                                 : ig_build_gt(e, c->row, at);
    ig_value *rest = ig_build_mul(e, or_zero(e, is_left, column), own);
    rest = ig_build_sub(e, c->x[0], rest);
    ig_value *is_own = ig_build_eq(e, c->row, at);
    rest = ig_build_where(e, is_left, rest, c->x[0]);
    c->x[0] = ig_build_where(e, is_own, own, rest);
}

ig_value *ig_compose_solve_triangular(ig_expr *e, ig_value *a, ig_value *b,
                                      ig_triangle form) {
    if (!a || !b || ig_dim_is(a->type->dims[1], 0)) {
        return b;
    }
    columns c = open_columns(e, a);
    c.form = form;
    c.a = as_squares(e, a);
    c.x[0] = with_rows_of(e, b, a);
    run_columns(&c, a->type->dims[1], 1, substitute_row);
    return c.x[0];
}

/* Carried: the rest of A, and L. */
static void root_column(columns *c) {
    ig_expr *e = c->e;
    ig_value *column = column_at(e, c->x[0], c->at);
    ig_value *root = ig_build_sqrt(e, row_at(e, column, c->at));
    ig_value *is_below = ig_build_ge(e, c->row, c->at);
    column = or_zero(e, is_below, ig_build_div(e, column, root));
    ig_value *is_at = ig_build_eq(e, c->other, c->at);
    c->x[1] = ig_build_where(e, is_at, column, c->x[1]);
    ig_value *product = ig_build_mul(e, column, ig_expr_swap(e, column, 1, 2));
    c->x[0] = ig_build_sub(e, c->x[0], product);
}

ig_value *ig_compose_cholesky(ig_expr *e, ig_value *a) {
    if (!a || ig_dim_is(a->type->dims[1], 0)) {
        return a;
    }
    ig_dim n = a->type->dims[1];
    columns c = open_columns(e, a = as_squares(e, a));
    c.x[0] = a;
    c.x[1] = a ? ig_expr_fill(e, IG_DT_f64, 3, a->type->dims, 0) : NULL;
    run_columns(&c, n, 2, root_column);
    return c.x[1];
}

/* ---- reflections ---- */

/* x less tau v (v' x), and the same from the right. */
static ig_value *reflect_rows(ig_expr *e, ig_value *x, ig_value *v, ig_value *tau) {
    ig_value *along = ig_expr_matmul(e, ig_expr_swap(e, v, 1, 2), x);
    along = ig_build_mul(e, ig_build_mul(e, tau, v), along);
    return ig_build_sub(e, x, along);
}

/* As LAPACK chooses them: the diagonal's sign turns, and a column that has nothing
 * below the diagonal stays. */
static void reflect_column(columns *c) {
    ig_expr *e = c->e;
    ig_value *column = column_at(e, c->x[0], c->at);
    ig_value *own = row_at(e, column, c->at);
    ig_value *below = or_zero(e, ig_build_gt(e, c->row, c->at), column);
    ig_value *squares = ig_expr_reduce_axis(e, IG_REDUCE_sum,
                                            ig_build_mul(e, below, below), 1, true);
    ig_value *is_none = ig_expr_with(e, IG_OP_eq, squares, 0);
    ig_value *one = ig_expr_number(e, IG_DT_f64, 1);
    ig_value *size = ig_build_add(e, squares, ig_build_mul(e, own, own));
    ig_value *beta = ig_build_copysign(e, ig_build_sqrt(e, size), own);
    beta = ig_build_neg(e, beta);
    beta = ig_build_where(e, is_none, one, beta);
    ig_value *tau = ig_build_div(e, ig_build_sub(e, beta, own), beta);
    tau = or_zero(e, ig_build_not(e, is_none), tau);
    ig_value *scale = ig_build_where(e, is_none, one, ig_build_sub(e, own, beta));
    ig_value *v = ig_build_div(e, below, scale);
    v = ig_build_where(e, ig_build_eq(e, c->row, c->at), one, v);
    c->x[0] = reflect_rows(e, c->x[0], v, tau);
    ig_value *q = ig_expr_matmul(e, c->x[1], v); /* [B, m, 1] */
    q = ig_build_mul(e, ig_build_mul(e, tau, q), ig_expr_swap(e, v, 1, 2));
    c->x[1] = ig_build_sub(e, c->x[1], q);
}

ig_qr ig_compose_qr(ig_expr *e, ig_value *a) {
    if (!a) {
        return (ig_qr){ NULL, NULL };
    }
    const ig_dim *dims = a->type->dims;
    ig_dim square[] = { dims[0], dims[1], dims[1] };
    ig_value *row = ig_expr_axis_iota(e, 3, 1, dims[1]);
    ig_value *one = ig_build_eq(e, row, ig_expr_axis_iota(e, 3, 2, dims[1]));
    columns c = open_columns(e, a);
    c.x[0] = a;
    c.x[1] = ig_expr_expand(e, ig_expr_cast(e, one, IG_DT_f64), 3, square);
    if (!ig_dim_is(dims[1], 0) && !ig_dim_is(dims[2], 0)) {
        run_columns(&c, ig_dim_min(e->module, dims[1], dims[2]), 2, reflect_column);
    }
    ig_value *is_upper = ig_build_le(e, c.row, c.other);
    return (ig_qr){ c.x[1], or_zero(e, is_upper, c.x[0]) };
}
