/* torch.special: Bessel functions and tails of the normal distribution.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Computed in f64, whatever the elements' type.
 */
#include "frontend/torch/aten/aten.h"

#include <math.h>

/* ---- modified Bessel functions of the first kind ----
 *
 * e^-|x| I0(x) and e^-|x| I1(x) / x up to 8, from there on sqrt(x) e^-x I(x), as
 * Chebyshev series in x / 4 - 1 and 16 / x - 1 (DLMF 10.25 and 10.40; the coefficients
 * were computed with 40 digits). */

static const double i0_near[] = {
    3.38397637204738042e-1,   -3.04682672343198399e-1,  1.71620901522208775e-1,
    -9.49010970480476444e-2,  4.93052842396707085e-2,   -2.37374148058994688e-2,
    1.05464603945949983e-2,   -4.32430999505057594e-3,  1.6394756169413358e-3,
    -5.76375574538582366e-4,  1.88502885095841656e-4,   -5.7541950100821037e-5,
    1.64484480707288971e-5,   -4.41673835845875056e-6,  1.11738753912010372e-6,
    -2.67079385394061173e-7,  6.04699502254191895e-8,   -1.30002500998624804e-8,
    2.65982372468238665e-9,   -5.18979560163526291e-10, 9.67580903537323691e-11,
    -1.72682629144155571e-11, 2.95505266312963983e-12,  -4.85644678311192946e-13,
    7.67618549860493562e-14,  -1.16853328779934517e-14, 1.71539128555513303e-15,
    -2.43127984654795469e-16, 3.3307945188222381e-17,   -4.41534164647933938e-18,
};
static const double i0_far[] = {
    4.02245205507054416e-1,   3.36911647825569409e-3,   6.88975834691682398e-5,
    2.89137052083475648e-6,   2.04891858946906374e-7,   2.26666899049817806e-8,
    3.39623202570838635e-9,   4.94060238822496959e-10,  1.18891471078464383e-11,
    -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13,  3.8527783827421427e-13,   1.54008621752140983e-14,
    -4.15056934728722209e-14, -9.55484669882830765e-15, 3.81168066935262242e-15,
    1.77256013305652638e-15,  -3.42548561967721913e-16, -2.82762398051658348e-16,
    3.46122286769746109e-17,  4.46562142029676e-17,     -4.83050448594418207e-18,
    -7.23318048787475395e-18, 9.9214754121736986e-19,   1.19365089084598209e-18,
};
static const double i1_near[] = {
    1.26293593221816827e-1,   -1.76416518357834055e-1,  1.02643658689847095e-1,
    -5.29459812080949914e-2,  2.47264490306265168e-2,   -1.05640848946261982e-2,
    4.15642294431288816e-3,   -1.51357245063125315e-3,  5.12285956168575773e-4,
    -1.61760815825896746e-4,  4.78156510755005423e-5,   -1.32731636560394358e-5,
    3.47025130813767848e-6,   -8.56872026469545474e-7,  2.00329475355213526e-7,
    -4.44505912879632808e-8,  9.38153738649577178e-9,   -1.88724975172282929e-9,
    3.62559028155211704e-10,  -6.66348972350202774e-11, 1.17361862988909016e-11,
    -1.98397439776494372e-12, 3.22379336594557471e-13,  -5.04218550472791169e-14,
    7.60068429473540693e-15,  -1.10559694773538631e-15, 1.55363195773620047e-16,
    -2.11142121435816608e-17, 2.77791411276104637e-18,
};
static const double i1_far[] = {
    3.8928811750914006e-1,    -9.76109749136146841e-3,  -1.10588938762623716e-4,
    -3.88256480887769039e-6,  -2.51223623787020893e-7,  -2.63146884688951951e-8,
    -3.83538038596423702e-9,  -5.58974346219658381e-10, -1.89749581235054123e-11,
    3.25260358301548824e-11,  1.41258074366137813e-11,  2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14,
    4.27244001671195135e-14,  1.04202769841288028e-14,  -3.8144030724370078e-15,
    -1.88035477551078245e-15, 3.30820231092092828e-16,  2.96262899764595014e-16,
    -3.20952592199342396e-17, -4.65030536848935833e-17, 4.41434832307170795e-18,
    7.51729631084210481e-18,  -9.31417886732688338e-19, -1.24219327519489096e-18,
};

/* The series at t by Clenshaw's recurrence. */
static ig_value *sum_series(ig_expr *e, ig_value *t, const double *coefficients,
                            size_t count) {
    ig_value *twice = ig_expr_with(e, IG_OP_mul, t, 2);
    ig_value *b1 = ig_expr_number(e, IG_DT_f64, 0), *b2 = b1;
    for (size_t k = count; k-- > 1;) {
        ig_value *b = ig_build_sub(e, ig_build_mul(e, twice, b1), b2);
        b2 = b1;
        b1 = ig_expr_with(e, IG_OP_add, b, coefficients[k]);
    }
    ig_value *sum = ig_build_sub(e, ig_build_mul(e, t, b1), b2);
    return ig_expr_with(e, IG_OP_add, sum, coefficients[0]);
}

/* e^-|x| I(x) of order 0 or 1. */
static ig_value *scaled_bessel(ig_expr *e, ig_value *x, bool is_one) {
    ig_value *size = ig_build_abs(e, x);
    ig_value *low = ig_expr_with(e, IG_OP_min, size, 8);
    ig_value *high = ig_expr_with(e, IG_OP_max, size, 8);
    ig_value *t = ig_expr_with(e, IG_OP_sub, ig_expr_with(e, IG_OP_mul, low, 0.25), 1);
    ig_value *near = is_one
                         ? sum_series(e, t, i1_near, sizeof i1_near / sizeof *i1_near)
                         : sum_series(e, t, i0_near, sizeof i0_near / sizeof *i0_near);
    near = is_one ? ig_build_mul(e, near, low) : near;
    t = ig_expr_with(e, IG_OP_sub, ig_expr_number_with(e, IG_OP_div, 16, high), 1);
    ig_value *far = is_one ? sum_series(e, t, i1_far, sizeof i1_far / sizeof *i1_far)
                           : sum_series(e, t, i0_far, sizeof i0_far / sizeof *i0_far);
    far = ig_build_div(e, far, ig_build_sqrt(e, high));
    ig_value *y = ig_build_where(e, ig_expr_with(e, IG_OP_le, size, 8), near, far);
    return is_one ? ig_build_mul(e, y, ig_build_sign(e, x)) : y;
}

/* ---- the normal distribution ---- */

/* e^(x^2) erfc(x); far out 1 / (x sqrt(pi)) of the asymptotic series (DLMF 7.12.1). */
static ig_value *scaled_erfc(ig_expr *e, ig_value *x) {
    ig_value *low = ig_expr_with(e, IG_OP_min, x, 20);
    ig_value *near = ig_build_mul(e, ig_build_exp(e, ig_build_mul(e, low, low)),
                                  ig_build_erfc(e, low));
    ig_value *high = ig_expr_with(e, IG_OP_max, x, 20);
    ig_value *u = ig_expr_number_with(e, IG_OP_div, 0.5, ig_build_mul(e, high, high));
    ig_value *sum = ig_expr_number(e, IG_DT_f64, 1);
    for (int k = 13; k > 0; k -= 2) { /* 1 - u (1 - 3 u (1 - 5 u … */
        ig_value *term = ig_expr_with(e, IG_OP_mul, ig_build_mul(e, u, sum), k);
        sum = ig_expr_number_with(e, IG_OP_sub, 1, term);
    }
    ig_value *far = ig_build_div(e, sum,
                                 ig_expr_with(e, IG_OP_mul, high, sqrt(acos(-1))));
    return ig_build_where(e, ig_expr_with(e, IG_OP_gt, x, 20), far, near);
}

static ig_value *normal_tail(ig_expr *e, ig_value *x) {
    ig_value *y = ig_build_erfc(e, ig_expr_with(e, IG_OP_mul, x, -sqrt(0.5)));
    return ig_expr_with(e, IG_OP_mul, y, 0.5);
}

/* log(ndtr(x)): below -1 by the scaled function, which does not run out of range. */
static ig_value *log_normal_tail(ig_expr *e, ig_value *x) {
    ig_value *low = ig_expr_with(e, IG_OP_min, x, -1);
    ig_value *high = ig_expr_with(e, IG_OP_max, x, -1);
    ig_value *t = ig_expr_with(e, IG_OP_mul, low, -sqrt(0.5));
    ig_value *half = ig_expr_with(e, IG_OP_mul, scaled_erfc(e, t), 0.5);
    ig_value *near = ig_build_sub(e, ig_build_log(e, half), ig_build_mul(e, t, t));
    ig_value *rest = ig_build_erfc(e, ig_expr_with(e, IG_OP_mul, high, sqrt(0.5)));
    ig_value *far = ig_build_log1p(e, ig_expr_with(e, IG_OP_mul, rest, -0.5));
    return ig_build_where(e, ig_expr_with(e, IG_OP_lt, x, -1), near, far);
}

/* sin(x) / x; its series near 0, where the quotient is none. */
static ig_value *spherical_bessel(ig_expr *e, ig_value *x) {
    ig_value *square = ig_build_mul(e, x, x);
    ig_value *series = ig_expr_number_with(e, IG_OP_sub, 1,
                                           ig_expr_with(e, IG_OP_mul, square, 1.0 / 6));
    ig_value *y = ig_build_div(e, ig_build_sin(e, x), x);
    y = ig_build_where(e, ig_expr_with(e, IG_OP_lt, square, 1e-10), series, y);
    ig_value *is_far = ig_build_isinf(e, x, (ig_isinf_attrs){ 0 });
    return ig_build_where(e, is_far, ig_expr_number(e, IG_DT_f64, 0), y);
}

/* variant: which of them */
ig_status ig_ts_op_special(ig_ts_call *call) {
    enum { I0, I0E, I1, I1E, ERFCX, NDTR, LOG_NDTR, SPHERICAL };
    ig_expr *e = call->e;
    ig_value *own = ig_expr_to_float(e, ig_aten_tensor(call, 0));
    IG_TRY(e->status);
    int which = call->row->variant;
    ig_value *x = ig_expr_cast(e, own, IG_DT_f64), *y;
    if (which <= I1E) {
        y = scaled_bessel(e, x, which >= I1);
        y = which == I0 || which == I1
                ? ig_build_mul(e, y, ig_build_exp(e, ig_build_abs(e, x)))
                : y;
    } else {
        y = which == ERFCX      ? scaled_erfc(e, x)
            : which == NDTR     ? normal_tail(e, x)
            : which == LOG_NDTR ? log_normal_tail(e, x)
                                : spherical_bessel(e, x);
    }
    return ig_aten_give(call, ig_aten_cast(call, y, (ig_dtype)own->type->dtype));
}
