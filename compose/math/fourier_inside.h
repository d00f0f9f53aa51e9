/* Declarations shared by the files of Fourier transforms.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_MATH_FOURIER_INSIDE_H
#define IG_COMPOSE_MATH_FOURIER_INSIDE_H

#include "compose/math/fourier.h"

/* exp(-+2 pi i r c / n), r and c the row and the column, as constants of `dtype`. */
ig_complex fourier_waves(ig_expr *e, const int64_t extents[2], int64_t n, bool inverse,
                         ig_dtype dtype);
/* The first `count` frequencies along the last axis, of extent n: a product with the
 * transform's matrix. */
ig_complex fourier_product(ig_expr *e, ig_complex x, int64_t n, int64_t count,
                           bool inverse);
/* All frequencies along the last axis, by n log n operations; a product where n is
 * small. */
ig_complex fourier_long(ig_expr *e, ig_complex x, int64_t n, bool inverse);
/* Is a product better? */
bool fourier_is_short(int64_t n);

#endif
