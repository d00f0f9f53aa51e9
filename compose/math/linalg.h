/* Linear algebra of small matrices in batches: loops over columns.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Matrices are [batch, rows, columns] in f64, in which callers compute for narrower
 * dtypes too.  A matrix that has no such result gives infinities or NaN.
 */
#ifndef IG_COMPOSE_MATH_LINALG_H
#define IG_COMPOSE_MATH_LINALG_H

#include "ir/build/expr.h"

/* P A = L U with the largest pivot of each column: L below the diagonal, which is 1,
 * and U above it, [B, n, n]; the row that each was exchanged with, i64 [B, n]. */
typedef struct ig_lu {
    ig_value *factors, *pivots;
} ig_lu;
ig_lu ig_compose_lu(ig_expr *e, ig_value *a);
/* [B]: the determinant; its sign; the logarithm of its size. */
ig_value *ig_compose_det(ig_expr *e, const ig_lu *lu);
ig_value *ig_compose_det_sign(ig_expr *e, const ig_lu *lu);
ig_value *ig_compose_log_det(ig_expr *e, const ig_lu *lu);

/* X of A X = B, [B, n, n] and [B, n, m]. */
ig_value *ig_compose_solve(ig_expr *e, ig_value *a, ig_value *b);
/* 1 on the diagonal of each of the matrices like a, else 0. */
ig_value *ig_compose_identity(ig_expr *e, const ig_value *a);

/* X of A X = B, where A is triangular; the other side is not read. */
typedef struct ig_triangle {
    bool is_upper, is_unit; /* unit: the diagonal is 1, and not read either */
} ig_triangle;
ig_value *ig_compose_solve_triangular(ig_expr *e, ig_value *a, ig_value *b,
                                      ig_triangle form);

/* The lower L with L L' = A, whose lower triangle is read. */
ig_value *ig_compose_cholesky(ig_expr *e, ig_value *a);

/* A [B, m, n] = Q R by Householder's reflections: Q [B, m, m], R [B, m, n]. */
typedef struct ig_qr {
    ig_value *q, *r;
} ig_qr;
ig_qr ig_compose_qr(ig_expr *e, ig_value *a);

#endif
