/* Rows of linear algebra (compose/math/linalg.h).
 * SPDX-License-Identifier: Apache-2.0
 *
 * torch raises an exception for a matrix that has no inverse or no root; here a guard
 * counts them.  The forms with _ex tell of them in `info` instead.
 */
#include "compose/math/linalg.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <string.h>

/* Axes in front of the matrices, and the dtype of the operand. */
typedef struct batch {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank;
    ig_dtype dtype;
} batch;

static bool is_matrix(ig_ts_call *call, const ig_value *x) {
    if (x && (x->type->rank < 2 || !ig_expr_is_float(x))) {
        ig_expr_fail(call->e, IG_INVALID, "takes matrices of floats, got rank %u of %s",
                     x->type->rank, ig_dtypes[x->type->dtype].name);
    }
    return call->e->status == IG_OK;
}

/* Adds the axes of x in front of its last two. */
static void join_batch(ig_ts_call *call, const ig_value *x, batch *b) {
    const ig_type *type = x->type;
    b->dtype = (ig_dtype)type->dtype;
    type = ig_type_with_dims(call->module, type, type->rank - 2u, type->dims);
    (void)ig_expr_broadcast_dims(call->e, type, b->dims, &b->rank);
}

/* [B, m, n] in f64 */
static ig_value *flatten_batch(ig_ts_call *call, ig_value *x, const batch *b) {
    ig_expr *e = call->e;
    if (e->status != IG_OK || b->rank + 2 > IG_TENSOR_RANK) {
        return ig_expr_fail(e, IG_LIMIT, "matrices of too many axes");
    }
    ig_dim dims[IG_TENSOR_RANK];
    const ig_dim *own = x->type->dims + x->type->rank - 2;
    memcpy(dims, b->dims, b->rank * sizeof *dims);
    memcpy(dims + b->rank, own, 2 * sizeof *dims);
    ig_dim flat[] = { ig_dim_product(call->module, b->dims, b->rank), own[0], own[1] };
    x = ig_expr_expand(e, ig_expr_cast(e, x, IG_DT_f64), b->rank + 2, dims);
    return ig_expr_reshape(e, x, 3, flat);
}

/* [B, …] as [batch…, …] in the batch's dtype, or in another. */
static ig_value *restore_as(ig_ts_call *call, ig_value *x, const batch *b,
                            ig_dtype dtype) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!x) {
        return NULL;
    }
    memcpy(dims, b->dims, b->rank * sizeof *dims);
    memcpy(dims + b->rank, x->type->dims + 1, (x->type->rank - 1u) * sizeof *dims);
    x = ig_expr_reshape(call->e, x, b->rank + x->type->rank - 1u, dims);
    return ig_aten_cast(call, x, dtype);
}

static ig_value *restore_batch(ig_ts_call *call, ig_value *x, const batch *b) {
    return restore_as(call, x, b, b->dtype);
}

/* Square matrices of argument `index`, [B, n, n]. */
static ig_value *read_squares(ig_ts_call *call, uint32_t index, batch *out) {
    ig_value *x = ig_aten_tensor(call, index);
    *out = (batch){ 0 };
    if (!x || !is_matrix(call, x)) {
        return NULL;
    }
    const ig_dim *own = x->type->dims + x->type->rank - 2;
    ig_expr_guard_equal(call->e, own[0], own[1], "the matrices must be square");
    join_batch(call, x, out);
    return flatten_batch(call, x, out);
}

/* The run fails where one of the conditions holds. */
static void require_none(ig_ts_call *call, ig_value *is_bad, const char *what) {
    ig_expr *e = call->e;
    ig_dim count = ig_dim_of(0), one = ig_dim_of(1);
    ig_value *sum = is_bad ? ig_expr_reduce(e, IG_REDUCE_sum,
                                            ig_expr_cast(e, is_bad, IG_DT_i64), NULL, 0,
                                            false)
                           : NULL;
    sum = ig_expr_reshape(e, sum, 1, &one);
    if (sum) {
        ig_expr_bind_dims(e, sum, 1, "how many matrices are singular", &count);
        ig_expr_guard_equal(e, count, ig_dim_of(0), what);
    }
}

/* [B, n]: the diagonal of [B, n, n]. */
static ig_value *read_diagonal(ig_expr *e, ig_value *x) {
    ig_value *on = ig_build_mul(e, x, ig_compose_identity(e, x));
    return on ? ig_expr_reduce_axis(e, IG_REDUCE_sum, on, 2, false) : NULL;
}

/* i32 [B]: 0, or the number from 1 on of the first element that is bad. */
static ig_value *first_bad(ig_expr *e, ig_value *is_bad) {
    ig_dim zero = ig_dim_of(0);
    if (!is_bad || ig_dim_same(ig_expr_extent(e, is_bad, 1), zero)) {
        return is_bad ? ig_expr_fill(e, IG_DT_i32, 1, is_bad->type->dims, 0) : NULL;
    }
    ig_value *bad = ig_expr_cast(e, is_bad, IG_DT_i32);
    ig_value *at = ig_build_arg_reduce(e, bad, (ig_arg_reduce_attrs){ .axis = 1 });
    at = ig_expr_cast(e, ig_expr_with(e, IG_OP_add, at, 1), IG_DT_i32);
    return ig_build_mul(e, at, ig_expr_reduce_axis(e, IG_REDUCE_max, bad, 1, false));
}

static ig_value *is_singular(ig_expr *e, const ig_lu *lu) {
    return ig_expr_with(e, IG_OP_eq, read_diagonal(e, lu->factors), 0);
}

static ig_status give_lu(ig_ts_call *call, const ig_lu *lu, const batch *b,
                         uint32_t at) {
    ig_value *pivots = ig_expr_with(call->e, IG_OP_add, lu->pivots, 1);
    IG_TRY(ig_ts_give(call, at, restore_batch(call, lu->factors, b)));
    return ig_ts_give(call, at + 1, restore_as(call, pivots, b, IG_DT_i32));
}

static ig_status give_info(ig_ts_call *call, ig_value *info, const batch *b,
                           uint32_t at) {
    return ig_ts_give(call, at, restore_as(call, info, b, IG_DT_i32));
}

/* ---- equations ---- */

/* Is the right side one vector for each matrix?  Where the extents are known at run
 * time only, a right side of fewer axes counts as vectors, and the run checks it. */
static bool is_vector(ig_ts_call *call, const ig_value *a, const ig_value *b) {
    bool is_same = a->type->rank == b->type->rank + 1u;
    for (uint32_t i = 0; is_same && i < b->type->rank; i++) {
        is_same = ig_dim_equal(call->module, ig_expr_extent(call->e, a, i),
                               ig_expr_extent(call->e, b, i)) != IG_NO;
    }
    for (uint32_t i = 0; is_same && i < b->type->rank; i++) {
        ig_expr_guard_equal(call->e, ig_expr_extent(call->e, a, i),
                            ig_expr_extent(call->e, b, i),
                            "the right side must have a vector for each matrix");
    }
    return b->type->rank == 1 || is_same;
}

/* linalg_solve(A, B, left); variants: 0: singular matrices are refused; 1: info; 2: LU,
 * pivots, info */
ig_status ig_ts_op_linalg_solve(ig_ts_call *call) {
    static const char singular[] = "linalg.solve: a matrix is singular";
    ig_expr *e = call->e;
    ig_value *a = ig_aten_tensor(call, 0), *right = ig_aten_tensor(call, 1);
    bool is_left = ig_aten_bool(call, 2);
    batch b = { 0 };
    if (!a || !right || !is_matrix(call, a)) {
        return e->status;
    }
    bool has_vector = is_vector(call, a, right);
    right = has_vector ? ig_expr_unsqueeze(e, right, right->type->rank) : right;
    if (!right || !is_matrix(call, right)) {
        return e->status;
    }
    join_batch(call, right, &b);
    join_batch(call, a, &b);
    a = flatten_batch(call, a, &b);
    right = flatten_batch(call, right, &b);
    IG_TRY(e->status);
    ig_lu lu = ig_compose_lu(e, a);
    if (!is_left && !has_vector) { /* X A = B */
        a = ig_expr_swap(e, a, 1, 2);
        right = ig_expr_swap(e, right, 1, 2);
    }
    ig_expr_guard_equal(e, ig_expr_extent(e, a, 1), ig_expr_extent(e, a, 2),
                        "A is square");
    ig_expr_guard_equal(e, ig_expr_extent(e, a, 2), ig_expr_extent(e, right, 1),
                        "A and B must have equal numbers of rows");
    ig_value *x = ig_compose_solve(e, a, right);
    x = !is_left && !has_vector && x ? ig_expr_swap(e, x, 1, 2) : x;
    x = has_vector && x ? ig_expr_squeeze(e, x, 2) : x;
    IG_TRY(ig_aten_give(call, restore_batch(call, x, &b)));
    if (call->row->variant == 0) {
        require_none(call, is_singular(e, &lu), singular);
        return e->status;
    }
    if (call->row->variant == 2) {
        IG_TRY(give_lu(call, &lu, &b, 1));
    }
    uint32_t last = call->row->variant == 2 ? 3 : 1;
    return give_info(call, first_bad(e, is_singular(e, &lu)), &b, last);
}

/* linalg_inv(A); variant 1: info too */
ig_status ig_ts_op_linalg_inv(ig_ts_call *call) {
    ig_expr *e = call->e;
    batch b;
    ig_value *a = read_squares(call, 0, &b);
    ig_value *x = ig_compose_solve(e, a, ig_compose_identity(e, a));
    IG_TRY(ig_aten_give(call, restore_batch(call, x, &b)));
    ig_lu lu = ig_compose_lu(e, a);
    if (call->row->variant == 0) {
        require_none(call, is_singular(e, &lu), "linalg.inv: a matrix is singular");
        return e->status;
    }
    return give_info(call, first_bad(e, is_singular(e, &lu)), &b, 1);
}

/* Factors of [B, m, n], by those of the square matrix that zeros make of it: they are
 * never chosen as pivots before another element. */
static ig_lu factor_rectangles(ig_ts_call *call, ig_value *a) {
    ig_expr *e = call->e;
    ig_dim zero = ig_dim_of(0), rows = ig_expr_extent(e, a, 1),
           columns = ig_expr_extent(e, a, 2);
    ig_dim more = ig_dim_max(e->module, rows, columns),
           less = ig_dim_min(e->module, rows, columns);
    ig_dim before[] = { zero, zero, zero };
    ig_dim after[] = { zero, ig_dim_sub(e->module, more, rows),
                       ig_dim_sub(e->module, more, columns) };
    ig_lu lu = ig_compose_lu(e, ig_expr_pad(e, a, before, after, IG_PAD_constant, 0));
    lu.factors = ig_expr_slice(e, lu.factors, 1, zero, rows, 1);
    lu.factors = ig_expr_slice(e, lu.factors, 2, zero, columns, 1);
    lu.pivots = ig_expr_slice(e, lu.pivots, 1, zero, less, 1);
    return lu;
}

/* linalg_lu_factor(A, pivot); variant 1: info too */
ig_status ig_ts_op_linalg_lu_factor(ig_ts_call *call) {
    ig_expr *e = call->e;
    batch b = { 0 };
    ig_value *a = ig_aten_tensor(call, 0);
    if (!a || !is_matrix(call, a)) {
        return e->status;
    }
    if (!ig_aten_bool(call, 1)) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "factors without pivots");
    }
    join_batch(call, a, &b);
    a = flatten_batch(call, a, &b);
    IG_TRY(e->status);
    ig_lu lu = factor_rectangles(call, a);
    IG_TRY(e->status);
    IG_TRY(give_lu(call, &lu, &b, 0));
    if (call->row->variant == 0) {
        return IG_OK;
    }
    ig_dim less = ig_expr_extent(e, lu.pivots, 1);
    lu.factors = ig_expr_slice(e, lu.factors, 1, ig_dim_of(0), less, 1);
    lu.factors = ig_expr_slice(e, lu.factors, 2, ig_dim_of(0), less, 1);
    return give_info(call, first_bad(e, is_singular(e, &lu)), &b, 2);
}

/* ---- determinants ---- */

/* Factors of argument 0; where they are given (variant 1) of its transpose, as torch
 * takes them of a contiguous matrix. */
static ig_lu factor_squares(ig_ts_call *call, batch *b) {
    ig_value *a = read_squares(call, 0, b);
    a = a && call->row->variant == 1 ? ig_expr_swap(call->e, a, 1, 2) : a;
    return ig_compose_lu(call->e, a);
}

/* linalg_det(A); variant 1: LU and pivots too */
ig_status ig_ts_op_linalg_det(ig_ts_call *call) {
    batch b;
    ig_lu lu = factor_squares(call, &b);
    IG_TRY(ig_aten_give(call, restore_batch(call, ig_compose_det(call->e, &lu), &b)));
    return call->row->variant == 1 ? give_lu(call, &lu, &b, 1) : IG_OK;
}

/* linalg_slogdet(A); variant 1: LU and pivots too */
ig_status ig_ts_op_linalg_slogdet(ig_ts_call *call) {
    batch b;
    ig_lu lu = factor_squares(call, &b);
    ig_value *sign = ig_compose_det_sign(call->e, &lu);
    IG_TRY(ig_aten_give2(call, restore_batch(call, sign, &b),
                         restore_batch(call, ig_compose_log_det(call->e, &lu), &b)));
    return call->row->variant == 1 ? give_lu(call, &lu, &b, 2) : IG_OK;
}

/* The logarithm of a determinant; NaN where that is negative. */
ig_status ig_ts_op_logdet(ig_ts_call *call) {
    ig_expr *e = call->e;
    batch b;
    ig_lu lu = ig_compose_lu(e, read_squares(call, 0, &b));
    ig_value *sign = ig_compose_det_sign(e, &lu), *x = ig_compose_log_det(e, &lu);
    x = ig_build_where(e, ig_expr_with(e, IG_OP_lt, sign, 0), ig_build_log(e, sign), x);
    return ig_aten_give(call, restore_batch(call, x, &b));
}

/* ---- roots ---- */

/* linalg_cholesky(self, upper); variant 1: info too */
ig_status ig_ts_op_linalg_cholesky(ig_ts_call *call) {
    static const char what[] = "linalg.cholesky: a matrix is not positive-definite";
    ig_expr *e = call->e;
    batch b;
    ig_value *x = ig_compose_cholesky(e, read_squares(call, 0, &b));
    ig_value *own = read_diagonal(e, x);
    ig_value *is_bad = ig_build_not(e, ig_expr_with(e, IG_OP_gt, own, 0));
    x = x && ig_aten_bool(call, 1) ? ig_expr_swap(e, x, 1, 2) : x;
    IG_TRY(ig_aten_give(call, restore_batch(call, x, &b)));
    if (call->row->variant == 0) {
        require_none(call, is_bad, what);
        return e->status;
    }
    return give_info(call, first_bad(e, is_bad), &b, 1);
}

/* X of L L' X = B, where L is upper' if `is_upper`. */
static ig_value *solve_rooted(ig_expr *e, ig_value *root, ig_value *b, bool is_upper) {
    ig_value *turned = root ? ig_expr_swap(e, root, 1, 2) : NULL;
    ig_value *low = is_upper ? turned : root, *high = is_upper ? root : turned;
    b = ig_compose_solve_triangular(e, low, b, (ig_triangle){ false, false });
    return ig_compose_solve_triangular(e, high, b, (ig_triangle){ true, false });
}

/* cholesky_solve(self, input2, upper): of right sides and roots */
ig_status ig_ts_op_cholesky_solve(ig_ts_call *call) {
    ig_value *right = ig_aten_tensor(call, 0), *root = ig_aten_tensor(call, 1);
    batch b = { 0 };
    if (!right || !root || !is_matrix(call, right) || !is_matrix(call, root)) {
        return call->e->status;
    }
    join_batch(call, right, &b);
    join_batch(call, root, &b);
    right = flatten_batch(call, right, &b);
    root = flatten_batch(call, root, &b);
    IG_TRY(call->e->status);
    ig_expr_guard_equal(call->e, ig_expr_extent(call->e, root, 1),
                        ig_expr_extent(call->e, right, 1),
                        "the root and the right side must have equal numbers of rows");
    right = solve_rooted(call->e, root, right, ig_aten_bool(call, 2));
    return ig_aten_give(call, restore_batch(call, right, &b));
}

ig_status ig_ts_op_cholesky_inverse(ig_ts_call *call) {
    batch b;
    ig_value *root = read_squares(call, 0, &b);
    ig_value *x = solve_rooted(call->e, root, ig_compose_identity(call->e, root),
                               ig_aten_bool(call, 1));
    return ig_aten_give(call, restore_batch(call, x, &b));
}

/* ---- triangles ---- */

typedef struct triangle_call {
    ig_value *a, *b;
    bool is_upper, is_unit, is_transposed, is_right; /* right: X A = B */
} triangle_call;

static ig_status give_triangular(ig_ts_call *call, const triangle_call *t) {
    ig_expr *e = call->e;
    batch b = { 0 };
    if (!t->a || !t->b || !is_matrix(call, t->a) || !is_matrix(call, t->b)) {
        return e->status;
    }
    join_batch(call, t->b, &b);
    join_batch(call, t->a, &b);
    ig_value *a = flatten_batch(call, t->a, &b), *x = flatten_batch(call, t->b, &b);
    IG_TRY(e->status);
    bool turns = t->is_transposed != t->is_right;
    a = turns ? ig_expr_swap(e, a, 1, 2) : a;
    x = t->is_right ? ig_expr_swap(e, x, 1, 2) : x;
    IG_TRY(e->status);
    ig_expr_guard_equal(e, ig_expr_extent(e, a, 1), ig_expr_extent(e, a, 2),
                        "A is square");
    ig_expr_guard_equal(e, ig_expr_extent(e, a, 2), ig_expr_extent(e, x, 1),
                        "A and B must have equal numbers of rows");
    ig_triangle form = { turns != t->is_upper, t->is_unit };
    x = ig_compose_solve_triangular(e, a, x, form);
    x = t->is_right && x ? ig_expr_swap(e, x, 1, 2) : x;
    return ig_aten_give(call, restore_batch(call, x, &b));
}

/* linalg_solve_triangular(self, B, upper, left, unitriangular) */
ig_status ig_ts_op_linalg_solve_triangular(ig_ts_call *call) {
    triangle_call t = { .a = ig_aten_tensor(call, 0),
                        .b = ig_aten_tensor(call, 1),
                        .is_upper = ig_aten_bool(call, 2),
                        .is_right = !ig_aten_bool(call, 3),
                        .is_unit = ig_aten_bool(call, 4) };
    return give_triangular(call, &t);
}

/* triangular_solve(self, A, upper, transpose, unitriangular): A itself too */
ig_status ig_ts_op_triangular_solve(ig_ts_call *call) {
    triangle_call t = { .a = ig_aten_tensor(call, 1),
                        .b = ig_aten_tensor(call, 0),
                        .is_upper = ig_aten_bool(call, 2),
                        .is_transposed = ig_aten_bool(call, 3),
                        .is_unit = ig_aten_bool(call, 4) };
    IG_TRY(give_triangular(call, &t));
    return ig_ts_give(call, 1, t.a);
}

/* ---- reflections ---- */

/* linalg_qr(A, mode) */
ig_status ig_ts_op_linalg_qr(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *a = ig_aten_tensor(call, 0);
    ig_str mode = ig_aten_str(call, 1);
    batch b = { 0 };
    if (!a || !is_matrix(call, a)) {
        return e->status;
    }
    bool is_whole = ig_str_is(mode, "complete"), is_half = ig_str_is(mode, "r");
    if (!is_whole && !is_half && !ig_str_is(mode, "reduced")) {
        return ig_ts_fail(call, IG_INVALID, "mode is '%.*s'", IG_STR_ARG(mode));
    }
    join_batch(call, a, &b);
    a = flatten_batch(call, a, &b);
    ig_qr qr = ig_compose_qr(e, a);
    IG_TRY(e->status);
    ig_dim zero = ig_dim_of(0), rows = ig_expr_extent(e, a, 1),
           columns = ig_expr_extent(e, a, 2);
    ig_dim less = ig_dim_min(e->module, rows, columns);
    if (!is_whole) {
        qr.q = ig_expr_slice(e, qr.q, 2, zero, less, 1);
        qr.r = ig_expr_slice(e, qr.r, 1, zero, less, 1);
    }
    ig_value *q = is_half ? ig_expr_fill(e, b.dtype, 1, &zero, 0)
                          : restore_batch(call, qr.q, &b);
    return ig_aten_give2(call, q, restore_batch(call, qr.r, &b));
}
