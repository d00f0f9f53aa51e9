/* Fourier transforms: along which axis, and as products with their matrices where they
 * are short (fourier_long.c has the others) or their extent is open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/math/fourier_inside.h"

#include "base/arena.h"

#include <assert.h>
#include <math.h>

enum { LONGEST = 1 << 22 };

static const double full_turn = 6.283185307179586476925286766559;

typedef enum wave { WAVE_COS, WAVE_SIN } wave;

/* [rows, columns]: sign * cos or sin of 2 pi r c / n, times the weight of the row. */
typedef struct wave_matrix {
    int64_t rows, columns, n;
    wave kind;
    double sign;
    double (*weight)(int64_t row, int64_t n);
} wave_matrix;

/* r c is taken modulo n, so that the angle is exact however large both are. */
static double wave_at(const wave_matrix *m, int64_t row, int64_t column) {
    double angle = full_turn * (double)(row * column % m->n) / (double)m->n;
    double value = m->kind == WAVE_COS ? cos(angle) : sin(angle);
    return m->sign * value * (m->weight ? m->weight(row, m->n) : 1);
}

static ig_value *build_matrix(ig_expr *e, const wave_matrix *m, ig_dtype dtype) {
    assert(m->rows > 0 && m->columns > 0 && m->n > 0 && "the extents were checked");
    size_t count = (size_t)(m->rows * m->columns);
    double *values = IG_NEW_ARRAY(&e->module->arena, double, count);
    for (int64_t r = 0; r < m->rows; r++) {
        for (int64_t c = 0; c < m->columns; c++) {
            values[r * m->columns + c] = wave_at(m, r, c);
        }
    }
    int64_t extents[] = { m->rows, m->columns };
    ig_value *wide = ig_expr_constant(e, "waves", IG_DT_f64, 2, extents, values);
    return ig_expr_cast(e, wide, dtype);
}

/* ---- along the last axis ---- */

ig_complex fourier_waves(ig_expr *e, const int64_t extents[2], int64_t n, bool inverse,
                         ig_dtype dtype) {
    wave_matrix m = { .rows = extents[0], .columns = extents[1], .n = n, .sign = 1 };
    ig_complex w = { build_matrix(e, &m, dtype), NULL };
    m.kind = WAVE_SIN;
    m.sign = inverse ? 1 : -1;
    w.im = build_matrix(e, &m, dtype);
    return w;
}

ig_complex fourier_product(ig_expr *e, ig_complex x, int64_t n, int64_t count,
                           bool inverse) {
    int64_t extents[] = { n, count };
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    ig_complex w = fourier_waves(e, extents, n, inverse, dtype);
    ig_complex y = { ig_expr_matmul(e, x.re, w.re), ig_expr_matmul(e, x.re, w.im) };
    if (x.im) {
        y.re = ig_build_sub(e, y.re, ig_expr_matmul(e, x.im, w.im));
        y.im = ig_build_add(e, y.im, ig_expr_matmul(e, x.im, w.re));
    }
    return y;
}

static ig_value *cut_last(ig_expr *e, ig_value *x, int64_t from, int64_t count) {
    return x ? ig_expr_slice(e, x, x->type->rank - 1, ig_dim_const(e->module, from),
                             ig_dim_const(e->module, count), 1)
             : NULL;
}

static ig_complex transform_last(ig_expr *e, ig_complex x, int64_t n, int64_t count,
                                 bool inverse) {
    if (fourier_is_short(n)) {
        return fourier_product(e, x, n, count, inverse);
    }
    ig_complex y = fourier_long(e, x, n, inverse);
    return count == n ? y
                      : (ig_complex){ cut_last(e, y.re, 0, count),
                                      cut_last(e, y.im, 0, count) };
}

/* A frequency represents its mirror image too, except the first and the middle one. */
static double count_images(int64_t row, int64_t n) {
    return row == 0 || 2 * row == n ? 1 : 2;
}

/* The first half of a spectrum and its mirror image, whose parts are `sign` times those
 * of the half. */
static ig_value *mirror_half(ig_expr *e, ig_value *x, int64_t n, double sign) {
    int64_t count = n - (n / 2 + 1);
    ig_value *image = cut_last(e, x, 1, count);
    image = image ? ig_expr_flip(e, image, image->type->rank - 1) : NULL;
    image = sign < 0 && image ? ig_build_neg(e, image) : image;
    ig_value *parts[] = { x, image };
    return image ? ig_expr_concat(e, x->type->rank - 1, parts, 2) : NULL;
}

static ig_value *real_of_last(ig_expr *e, ig_complex x, int64_t n) {
    if (!fourier_is_short(n)) {
        x = (ig_complex){ mirror_half(e, x.re, n, 1), mirror_half(e, x.im, n, -1) };
        return x.re ? fourier_long(e, x, n, true).re : NULL;
    }
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    wave_matrix m = {
        .rows = n / 2 + 1, .columns = n, .n = n, .sign = 1, .weight = count_images
    };
    ig_value *y = ig_expr_matmul(e, x.re, build_matrix(e, &m, dtype));
    m.kind = WAVE_SIN;
    m.sign = -1;
    return ig_build_add(e, y, ig_expr_matmul(e, x.im, build_matrix(e, &m, dtype)));
}

/* ---- matrices of extents known at run time only, or too large to store ---- */

/* [rows, columns]: cos and sin of 2 pi r c / n, in `dtype`. */
static ig_complex build_waves(ig_expr *e, ig_dim rows, ig_dim columns, ig_dim n,
                              ig_dtype dtype) {
    ig_value *product = ig_build_mul(e, ig_expr_axis_iota(e, 2, 0, rows),
                                     ig_expr_axis_iota(e, 2, 1, columns));
    ig_value *some = ig_expr_with_integer(e, IG_OP_max, ig_expr_dim(e, n, IG_DT_i64),
                                          1);
    product = ig_build_mod(e, product, some, (ig_mod_attrs){ 0 });
    ig_value *angle = ig_build_div(e, ig_expr_cast(e, product, IG_DT_f64),
                                   ig_expr_cast(e, some, IG_DT_f64));
    angle = ig_expr_with(e, IG_OP_mul, angle, full_turn);
    return (ig_complex){ ig_expr_cast(e, ig_build_cos(e, angle), dtype),
                         ig_expr_cast(e, ig_build_sin(e, angle), dtype) };
}

ig_complex ig_compose_dft_open(ig_expr *e, ig_complex x, ig_dim count, bool inverse) {
    ig_complex none = { NULL, NULL };
    if (!x.re || e->status != IG_OK) {
        return none;
    }
    ig_dim n = x.re->type->dims[x.re->type->rank - 1];
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    int64_t known = 0, wanted = 0;
    if (ig_dim_constant(e->module, n, &known) && known > 0 && known <= LONGEST &&
        ig_dim_constant(e->module, count, &wanted) && wanted > 0 && wanted <= known) {
        return transform_last(e, x, known, wanted, inverse);
    }
    ig_complex w = build_waves(e, n, count, n, dtype);
    ig_value *sin = inverse ? w.im : ig_build_neg(e, w.im);
    ig_complex y = { ig_expr_matmul(e, x.re, w.re), ig_expr_matmul(e, x.re, sin) };
    if (x.im) {
        y.re = ig_build_sub(e, y.re, ig_expr_matmul(e, x.im, sin));
        y.im = ig_build_add(e, y.im, ig_expr_matmul(e, x.im, w.re));
    }
    return y;
}

ig_value *ig_compose_dft_to_real_open(ig_expr *e, ig_complex x, ig_dim n) {
    if (!x.re || !x.im || e->status != IG_OK) {
        return NULL;
    }
    uint32_t rank = x.re->type->rank;
    ig_dim bins = x.re->type->dims[rank - 1];
    int64_t known = 0;
    if (ig_dim_constant(e->module, n, &known) && known > 0 && known <= LONGEST &&
        ig_dim_is(bins, known / 2 + 1)) {
        return real_of_last(e, x, known);
    }
    ig_dtype dtype = (ig_dtype)x.re->type->dtype;
    ig_complex w = build_waves(e, bins, n, n, dtype);
    ig_value *row = ig_expr_axis_iota(e, 2, 0, bins);
    ig_value *twice = ig_expr_with_integer(e, IG_OP_mul, row, 2);
    ig_value *is_once =
        ig_build_or(e, ig_expr_with_integer(e, IG_OP_eq, row, 0),
                    ig_build_eq(e, twice, ig_expr_dim(e, n, IG_DT_i64)));
    ig_value *images = ig_build_where(e, is_once, ig_expr_number(e, dtype, 1),
                                      ig_expr_number(e, dtype, 2));
    ig_value *re = ig_expr_matmul(e, x.re, ig_build_mul(e, images, w.re));
    ig_value *im = ig_expr_matmul(e, x.im, ig_build_mul(e, images, w.im));
    return ig_build_sub(e, re, im);
}

/* ---- along any ---- */

static ig_value *to_last(ig_expr *e, ig_value *x, uint32_t axis) {
    return x ? ig_expr_move_axis(e, x, axis, x->type->rank - 1) : NULL;
}

static ig_value *from_last(ig_expr *e, ig_value *x, uint32_t axis) {
    return x ? ig_expr_move_axis(e, x, x->type->rank - 1, axis) : NULL;
}

static bool check_length(ig_expr *e, int64_t n) {
    if (n < 1 || n > LONGEST) {
        ig_expr_fail(e, n < 1 ? IG_INVALID : IG_UNSUPPORTED,
                     "a Fourier transform of %lld elements, expected 1 to %d",
                     (long long)n, LONGEST);
    }
    return e->status == IG_OK;
}

ig_complex ig_compose_dft(ig_expr *e, ig_complex x, uint32_t axis, int64_t count,
                          bool inverse) {
    ig_complex none = { NULL, NULL };
    int64_t n;
    if (!x.re || e->status != IG_OK) {
        return none;
    }
    if (!ig_dim_constant(e->module, x.re->type->dims[axis], &n)) {
        ig_expr_fail(e, IG_UNSUPPORTED,
                     "a Fourier transform along an extent that is not known when the "
                     "model is compiled");
        return none;
    }
    if (!check_length(e, n)) {
        return none;
    }
    x = (ig_complex){ to_last(e, x.re, axis), to_last(e, x.im, axis) };
    if (e->status != IG_OK) {
        return none;
    }
    ig_complex y = transform_last(e, x, n, count ? count : n, inverse);
    return (ig_complex){ from_last(e, y.re, axis), from_last(e, y.im, axis) };
}

ig_value *ig_compose_dft_to_real(ig_expr *e, ig_complex x, uint32_t axis, int64_t n) {
    if (!x.re || !x.im || !check_length(e, n)) {
        return NULL;
    }
    ig_dim first = ig_dim_of(0), count = ig_dim_of(n / 2 + 1);
    ig_expr_guard_less_equal(e, count, x.re->type->dims[axis],
                             "a spectrum must have half of the frequencies plus one");
    x = (ig_complex){ ig_expr_slice(e, x.re, axis, first, count, 1),
                      ig_expr_slice(e, x.im, axis, first, count, 1) };
    x = (ig_complex){ to_last(e, x.re, axis), to_last(e, x.im, axis) };
    return e->status == IG_OK ? from_last(e, real_of_last(e, x, n), axis) : NULL;
}
