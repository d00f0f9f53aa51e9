/* Fourier transforms.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_MATH_FOURIER_H
#define IG_COMPOSE_MATH_FOURIER_H

#include "ir/build/expr.h"

/* A complex tensor by its parts. */
typedef struct ig_complex {
    ig_value *re, *im; /* im NULL: real; one shape, one float dtype */
} ig_complex;

/* X[k] = sum over t of x[t] exp(-2 pi i k t / n) along `axis`, of known extent n;
 * `inverse`: with +.  Not divided by anything.  The result has the first `count`
 * frequencies (0: n).  By n log n operations where n is large; n is at most 2^22.  The
 * parts are NULL when that fails. */
ig_complex ig_compose_dft(ig_expr *e, ig_complex x, uint32_t axis, int64_t count,
                          bool inverse);

/* The real x of `n` elements whose transform begins with the n / 2 + 1 frequencies
 * along `axis`; later ones are not read.  Not divided by anything. */
ig_value *ig_compose_dft_to_real(ig_expr *e, ig_complex x, uint32_t axis, int64_t n);

/* The same along the last axis, of any extent and with `count` frequencies: the matrix
 * is computed by the run. */
ig_complex ig_compose_dft_open(ig_expr *e, ig_complex x, ig_dim count, bool inverse);
/* The real x of `n` elements whose transform's first n / 2 + 1 frequencies are x, along
 * the last axis. */
ig_value *ig_compose_dft_to_real_open(ig_expr *e, ig_complex x, ig_dim n);

#endif
