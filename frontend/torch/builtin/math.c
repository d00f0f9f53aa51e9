/* Python's math module on numbers: run at import.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/eval/op.h"

#include <math.h>

static double to_degrees(double x) {
    return x * (180.0 / 3.14159265358979323846);
}

static double to_radians(double x) {
    return x * (3.14159265358979323846 / 180.0);
}

/* In the order of the variants of math.def. */
static double (*const functions1[])(double) = {
    sin,    cos,   tan,   asin,  acos,       atan,       sinh,  cosh,
    tanh,   asinh, acosh, atanh, log1p,      log10,      expm1, lgamma,
    tgamma, erf,   erfc,  fabs,  to_degrees, to_radians,
};

static double (*const functions2[])(double, double) = { fmod, atan2, copysign,
                                                        remainder };

#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/builtin/math.def"
#undef OP

ig_status ig_ts_op_math1(ig_ts_call *call) {
    double x = 0;
    IG_TRY(ig_ts_float(call, 0, &x));
    return ig_ts_give_float(call, 0, functions1[call->row->variant](x));
}

ig_status ig_ts_op_math2(ig_ts_call *call) {
    double x = 0, y = 0;
    IG_TRY(ig_ts_float(call, 0, &x));
    IG_TRY(ig_ts_float(call, 1, &y));
    return ig_ts_give_float(call, 0, functions2[call->row->variant](x, y));
}

/* variant 0: gcd(a, b); 1: factorial(n) */
ig_status ig_ts_op_math_int(ig_ts_call *call) {
    int64_t a = 0, b = 0;
    IG_TRY(ig_ts_int(call, 0, &a));
    if (call->row->variant == 1) {
        int64_t product = 1;
        if (a < 0 || a > 20) {
            return ig_ts_fail(call, IG_INVALID, "the factorial of %lld", (long long)a);
        }
        for (int64_t i = 2; i <= a; i++) {
            product *= i;
        }
        return ig_ts_give_int(call, 0, product);
    }
    IG_TRY(ig_ts_int(call, 1, &b));
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return ig_ts_give_int(call, 0, (int64_t)x);
}

/* isnan, isinf, isfinite */
ig_status ig_ts_op_math_test(ig_ts_call *call) {
    double x = 0;
    IG_TRY(ig_ts_float(call, 0, &x));
    bool is[] = { isnan(x), isinf(x), isfinite(x) };
    return ig_ts_give_bool(call, 0, is[call->row->variant]);
}
