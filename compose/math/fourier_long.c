/* Fourier transforms of many elements, as products with the matrices of few.
 * SPDX-License-Identifier: Apache-2.0
 *
 * n = p q (Cooley and Tukey).  With t = q t1 + t2 and k = k1 + p k2,
 *
 *     X[k1 + p k2] = sum over t2 of w_q^(t2 k2) w_n^(t2 k1) y[k1, t2],
 *     y[k1, t2] = sum over t1 of w_p^(t1 k1) x[t]
 *
 * which is a transform of p elements, a product with the waves w_n, and a transform of
 * q, which may be taken apart in turn.  p is the largest divisor that makes a small
 * matrix.
 *
 * n a large prime (Bluestein).  t k = (t^2 + k^2 - (k - t)^2) / 2, so with the chirp
 * c[t] = exp(-pi i t^2 / n)
 *
 *     X[k] = c[k] sum over t of (x[t] c[t]) conj(c[k - t])
 *
 * which is a convolution, computed as a product of transforms of a power of two.
 */
#include "compose/math/fourier_inside.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>

enum { SHORT = 128, FACTOR = 64, PRIME = 256 };

static const double half_turn = 3.14159265358979323846264338327950;

/* ---- parts ---- */

static ig_complex multiply_complex(ig_expr *e, ig_complex x, ig_complex w) {
    ig_complex y = { ig_build_mul(e, x.re, w.re), ig_build_mul(e, x.re, w.im) };
    if (x.im) {
        y.re = ig_build_sub(e, y.re, ig_build_mul(e, x.im, w.im));
        y.im = ig_build_add(e, y.im, ig_build_mul(e, x.im, w.re));
    }
    return y;
}

static ig_value *swap_last(ig_expr *e, ig_value *x) {
    uint32_t rank = x ? x->type->rank : 0;
    return x ? ig_expr_swap(e, x, rank - 2, rank - 1) : NULL;
}

static ig_complex swap_axes(ig_expr *e, ig_complex x) {
    return (ig_complex){ swap_last(e, x.re), swap_last(e, x.im) };
}

/* The last axis as two, of p and q elements. */
static ig_value *part_axis(ig_expr *e, ig_value *x, int64_t p, int64_t q) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = x ? x->type->rank : 0;
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = x->type->dims[d];
    }
    if (!x || rank == IG_TENSOR_RANK) {
        return NULL;
    }
    dims[rank - 1] = ig_dim_const(e->module, p);
    dims[rank] = ig_dim_const(e->module, q);
    return ig_expr_reshape(e, x, rank + 1, dims);
}

/* The last two axes as one. */
static ig_value *join_axes(ig_expr *e, ig_value *x) {
    uint32_t rank = x ? x->type->rank : 0;
    return x ? ig_expr_merge_axes(e, x, rank - 2, rank - 1) : NULL;
}

/* ---- factors ---- */

/* The largest divisor that is no larger than FACTOR and the other one; else a prime
 * that is a matrix of its own; 0: there is none. */
static int64_t find_factor(int64_t n) {
    for (int64_t p = FACTOR; p > 1; p--) {
        if (n % p == 0 && p <= n / p) {
            return p;
        }
    }
    for (int64_t p = FACTOR + 1; p <= PRIME && p < n; p++) {
        if (n % p == 0) {
            return p;
        }
    }
    return 0;
}

static ig_complex transform_factors(ig_expr *e, ig_complex x, int64_t n, int64_t p,
                                    bool inverse) {
    int64_t q = n / p, extents[] = { q, p };
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    assert(n % p == 0 && p > 1 && q > 1 && "two factors");
    x = (ig_complex){ part_axis(e, x.re, p, q), part_axis(e, x.im, p, q) };
    if (!x.re) {
        return x;
    }
    x = fourier_long(e, swap_axes(e, x), p, inverse);
    x = multiply_complex(e, x, fourier_waves(e, extents, n, inverse, dtype));
    x = fourier_long(e, swap_axes(e, x), q, inverse);
    x = swap_axes(e, x);
    return (ig_complex){ join_axes(e, x.re), join_axes(e, x.im) };
}

/* ---- primes ---- */

/* X of `count` elements, a power of two, `step` apart in x: by halves.  For
 * constants. */
static void transform_here(const double *x, int64_t count, int64_t step, double *out) {
    if (count == 1) {
        out[0] = x[0];
        out[1] = x[1];
        return;
    }
    int64_t half = count / 2;
    transform_here(x, half, 2 * step, out);
    transform_here(x + 2 * step, half, 2 * step, out + 2 * half);
    for (int64_t k = 0; k < half; k++) {
        double angle = -2 * half_turn * (double)k / (double)count;
        double *even = out + 2 * k, *odd = out + 2 * (half + k);
        double re = cos(angle) * odd[0] - sin(angle) * odd[1];
        double im = cos(angle) * odd[1] + sin(angle) * odd[0];
        odd[0] = even[0] - re;
        odd[1] = even[1] - im;
        even[0] += re;
        even[1] += im;
    }
}

/* Parts of pairs, as constants. */
static ig_complex make_constants(ig_expr *e, const double *pairs, int64_t count,
                                 ig_dtype dtype) {
    ig_value *parts[2];
    for (int64_t part = 0; part < 2; part++) {
        double *values = IG_NEW_ARRAY(&e->module->arena, double, (size_t)count);
        for (int64_t i = 0; i < count; i++) {
            values[i] = pairs[2 * i + part];
        }
        parts[part] = ig_expr_constant(e, "waves", IG_DT_f64, 1, &count, values);
        parts[part] = ig_expr_cast(e, parts[part], dtype);
    }
    return (ig_complex){ parts[0], parts[1] };
}

/* The chirp of n elements; t^2 is taken modulo 2 n, so that the angle is exact. */
static double *make_chirp(ig_expr *e, int64_t n, bool inverse) {
    double *pairs = IG_NEW_ARRAY(&e->module->arena, double, 2 * (size_t)n);
    for (int64_t t = 0; t < n; t++) {
        double angle = half_turn * (double)(t * t % (2 * n)) / (double)n;
        pairs[2 * t] = cos(angle);
        pairs[2 * t + 1] = inverse ? sin(angle) : -sin(angle);
    }
    return pairs;
}

/* The transform of the chirp's conjugate, around a circle of `size`. */
static double *transform_chirp(ig_expr *e, const double *chirp, int64_t n,
                               int64_t size) {
    double *around = IG_NEW_ARRAY(&e->module->arena, double, 2 * (size_t)size);
    double *out = IG_NEW_ARRAY(&e->module->arena, double, 2 * (size_t)size);
    for (int64_t t = 0; t < n; t++) {
        int64_t back = t ? size - t : 0;
        around[2 * t] = around[2 * back] = chirp[2 * t];
        around[2 * t + 1] = around[2 * back + 1] = -chirp[2 * t + 1];
    }
    transform_here(around, size, 1, out);
    return out;
}

/* Zeros after the last axis, up to `count` elements. */
static ig_value *fill_axis(ig_expr *e, ig_value *x, int64_t n, int64_t count) {
    ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
    if (!x) {
        return NULL;
    }
    for (uint32_t d = 0; d < x->type->rank; d++) {
        before[d] = after[d] = ig_dim_of(0);
    }
    after[x->type->rank - 1] = ig_dim_const(e->module, count - n);
    return ig_expr_pad(e, x, before, after, IG_PAD_constant, 0);
}

static ig_value *cut_axis(ig_expr *e, ig_value *x, int64_t n) {
    return x ? ig_expr_slice(e, x, x->type->rank - 1, ig_dim_of(0),
                             ig_dim_const(e->module, n), 1)
             : NULL;
}

static ig_complex transform_prime(ig_expr *e, ig_complex x, int64_t n, bool inverse) {
    int64_t size = 1;
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    while (size < 2 * n - 1) {
        size *= 2;
    }
    double *pairs = make_chirp(e, n, inverse);
    ig_complex chirp = make_constants(e, pairs, n, dtype);
    double *around = transform_chirp(e, pairs, n, size);
    for (int64_t i = 0; i < 2 * size; i++) {
        around[i] /= (double)size; /* which the way back does not divide by */
    }
    x = multiply_complex(e, x, chirp);
    x = (ig_complex){ fill_axis(e, x.re, n, size), fill_axis(e, x.im, n, size) };
    x = x.re ? fourier_long(e, x, size, false) : x;
    x = multiply_complex(e, x, make_constants(e, around, size, dtype));
    x = x.re ? fourier_long(e, x, size, true) : x;
    x = (ig_complex){ cut_axis(e, x.re, n), cut_axis(e, x.im, n) };
    return multiply_complex(e, x, chirp);
}

/* ---- any ---- */

bool fourier_is_short(int64_t n) {
    assert(n > 0 && "the extent was checked");
    return n <= SHORT || (n <= PRIME && find_factor(n) == 0);
}

ig_complex fourier_long(ig_expr *e, ig_complex x, int64_t n, bool inverse) {
    if (!x.re || e->status != IG_OK) {
        return (ig_complex){ NULL, NULL };
    }
    if (fourier_is_short(n)) {
        return fourier_product(e, x, n, n, inverse);
    }
    int64_t p = find_factor(n);
    return p ? transform_factors(e, x, n, p, inverse)
             : transform_prime(e, x, n, inverse);
}
