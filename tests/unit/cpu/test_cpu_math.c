/* The mathematical functions against libm in higher precision, at every level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * f32 over all special values and 2^18 random bit patterns (INGOT_TEST_ALL=1: all
 * 2^32), f64 over random patterns; the greatest error in units of the last place is
 * printed and held below the bound that passes/lower/math*.c states.
 */
#include "ir/semantics/scalar_special.h"
#include "passes/lower/math/more.h"
#include "tests/unit/cpu/cpu_case.h"

#include <math.h>

typedef ig_value *(*math_fn)(ig_builder *b, ig_value *x);

/* One f32 function, its truth, its bound; v2's muladd rounds twice. */
typedef struct function {
    const char *name;
    math_fn build;
    double (*truth)(double);
    long double (*truth_long)(long double);
    double bound, bound_v2, bound_f64;
} function;

static double sigmoid(double x) {
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}
static long double sigmoid_long(long double x) {
    return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}
static double softplus(double x) {
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static long double softplus_long(long double x) {
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}
static double rsqrt(double x) {
    return 1 / sqrt(x);
}
static long double rsqrt_long(long double x) {
    return 1 / sqrtl(x);
}

/* Functions that are computed in f64. */
#define IN_DOUBLE(name)                                         \
    static ig_value *build_##name(ig_builder *b, ig_value *x) { \
        return ig_math_in_double(b, IG_OP_##name, &x);          \
    }
IN_DOUBLE(tan)
IN_DOUBLE(asin)
IN_DOUBLE(acos)
IN_DOUBLE(atan)
IN_DOUBLE(sinh)
IN_DOUBLE(cosh)
IN_DOUBLE(asinh)
IN_DOUBLE(acosh)
IN_DOUBLE(atanh)
IN_DOUBLE(log2)
IN_DOUBLE(log10)
IN_DOUBLE(erfc)
IN_DOUBLE(lgamma)
IN_DOUBLE(erfinv)
IN_DOUBLE(digamma)

static const function functions[] = {
    { "exp", ig_math_exp, exp, expl, 1.1, 1.5, 1.1 },
    { "expm1", ig_math_expm1, expm1, expm1l, 2.0, 2.5, 2.0 },
    { "exp2", ig_math_exp2, exp2, exp2l, 1.1, 1.5, 1.1 },
    { "log", ig_math_log, log, logl, 1.0, 1.0, 1.0 },
    { "log1p", ig_math_log1p, log1p, log1pl, 1.5, 1.5, 1.5 },
    { "sin", ig_math_sin, sin, sinl, 0.51, 0.51, 1.5 },
    { "cos", ig_math_cos, cos, cosl, 0.51, 0.51, 1.5 },
    { "tanh", ig_math_tanh, tanh, tanhl, 2.2, 2.5, 2.4 },
    { "erf", ig_math_erf, erf, erfl, 1.1, 1.5, 1.1 },
    { "sigmoid", ig_math_sigmoid, sigmoid, sigmoid_long, 2.0, 2.5, 2.0 },
    { "softplus", ig_math_softplus, softplus, softplus_long, 2.0, 2.5, 2.0 },
    { "rsqrt", ig_math_rsqrt, rsqrt, rsqrt_long, 1.5, 1.5, 1.5 },
    { "tan", build_tan, tan, tanl, 0.6, 0.6, 4 },
    { "asin", build_asin, asin, asinl, 0.6, 0.6, 4 },
    { "acos", build_acos, acos, acosl, 0.6, 0.6, 4 },
    { "atan", build_atan, atan, atanl, 0.6, 0.6, 4 },
    { "sinh", build_sinh, sinh, sinhl, 0.6, 0.6, 4 },
    { "cosh", build_cosh, cosh, coshl, 0.6, 0.6, 4 },
    { "asinh", build_asinh, asinh, asinhl, 0.6, 0.6, 4 },
    { "acosh", build_acosh, acosh, acoshl, 0.6, 0.6, 4 },
    { "atanh", build_atanh, atanh, atanhl, 0.6, 0.6, 4 },
    { "log2", build_log2, log2, log2l, 0.6, 0.6, 4 },
    { "log10", build_log10, log10, log10l, 0.6, 0.6, 4 },
    { "erfc", build_erfc, erfc, erfcl, 0.6, 0.6, 5 },
    { "erfinv", build_erfinv, ig_real_erfinv, NULL, 0.6, 0.6, 0 },
    { "digamma", build_digamma, ig_real_digamma, NULL, 0.6, 0.6, 0 },
};

/* ---- kernels: y[i] = f(x[i]) for i < n ---- */

typedef struct array_kernel {
    cpu_case c;
    cpu_code code;
} array_kernel;

static void open_array_kernel(array_kernel *k, const char *level, ig_dtype dtype,
                              uint32_t lanes, math_fn build) {
    cpu_case_open(&k->c, level);
    const ig_dtype buffers[] = { dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&k->c, "math", buffers, 2, 1, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[2], k_i64(&b, lanes), NULL, 0);
    ig_value *x = k_load(&loop.b, args[0], loop.index, lanes);
    k_store(&loop.b, build(&loop.b, x), args[1], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    k->code = cpu_case_compile(&k->c, kernel);
}

static void run_array_kernel(array_kernel *k, void *x, void *y, int64_t count) {
    void *const buffers[] = { x, y };
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = {
        .buffers = buffers, .params = &count, .tile_end = 1, .report = &report
    };
    cpu_code_call(&k->code, &call);
}

static void close_array_kernel(array_kernel *k) {
    cpu_code_unmap(&k->code);
    cpu_case_close(&k->c);
}

/* ---- errors in units of the last place ---- */

enum { BLOCK = 1 << 18 };

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* |got - truth| in last places of the truth; infinite when one is special and the other
 * is something else. */
static double error_f32(float got, double truth) {
    float near = (float)truth;
    if (isnan(truth) || isnan(got)) {
        return isnan(truth) && isnan(got) ? 0 : (double)INFINITY;
    }
    if (isinf(near) || isinf(got)) {
        bool is_near = fabs(truth) > 0x1.fffffcp127 && fabsf(got) > 0x1.fffffcp127f;
        return near == got || (is_near && signbit(near) == signbit(got))
                   ? 0
                   : (double)INFINITY;
    }
    int exponent = truth == 0 ? -126 : ilogb(truth);
    return fabs((double)got - truth) /
           ldexp(1, (exponent < -126 ? -126 : exponent) - 23);
}

static double error_f64(double got, long double truth) {
    double near = (double)truth;
    if (isnan(truth) || isnan(got)) {
        return isnan(truth) && isnan(got) ? 0 : (double)INFINITY;
    }
    if (isinf(near) || isinf(got)) {
        return near == got ? 0 : (double)INFINITY;
    }
    int exponent = truth == 0 ? -1022 : ilogbl(truth);
    int position = (exponent < -1022 ? -1022 : exponent) - 52;
    return (double)(fabsl((long double)got - truth) / ldexpl(1, position));
}

static const float specials[] = {
    0.0f,
    -0.0f,
    INFINITY,
    -INFINITY,
    NAN,
    1.0f,
    -1.0f,
    0x1p-149f,
    -0x1p-149f,
    0x1p-126f,
    -0x1p-126f,
    0x1.fffffep127f,
    -0x1.fffffep127f,
    88.7f,
    88.73f,
    -87.3f,
    -103.9f,
    -104.0f,
    0.625f,
    0.92f,
    4.0f,
    0x1p-24f,
    -0x1p-24f,
    16777216.0f,
    0.5f,
    2.0f,
    0.70710677f,
    1.4142135f,
    3.1415927f,
    1.5707964f,
    9.0f,
    -9.0f,
    1e10f,
    -1e10f,
    1e38f,
    -1e38f,
    -0.5f,
    -1.5f,
    -2.0f,
    -3.0f,
    -2.5f,
    171.0f,
    0x1.fffffep-1f,
    -0x1.fffffep-1f,
    0x1.000002p0f,
    0x1p30f,
    0x1.000002p30f,
    -0x1p31f,
    40.0f,
    -40.0f,
    26.0f,
    28.0f,
    -1e4f,
    -8388608.5f,
    0x1p-70f,
};

/* Block `number` of the inputs: the specials first, then random or consecutive bits. */
static void fill_f32(float *x, uint32_t index, bool all) {
    uint64_t state = index;
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t bits = all ? index * BLOCK + i : (uint32_t)next_random(&state);
        memcpy(&x[i], &bits, sizeof(bits));
    }
    if (!all) {
        memcpy(x, specials, sizeof(specials));
    }
}

static void check_f32(const function *f, const char *level, uint32_t lanes) {
    static float x[BLOCK], y[BLOCK];
    bool all = getenv("INGOT_TEST_ALL") != NULL;
    uint32_t blocks = all ? (uint32_t)(UINT64_C(0x100000000) / BLOCK) : 1;
    double worst = 0;
    float worst_at = 0;
    array_kernel k;
    open_array_kernel(&k, level, IG_DT_f32, lanes, f->build);
    for (uint32_t block = 0; block < blocks; block++) {
        fill_f32(x, block, all);
        run_array_kernel(&k, x, y, BLOCK);
        for (uint32_t i = 0; i < BLOCK; i++) {
            double error = error_f32(y[i], f->truth((double)x[i]));
            if (error > worst) {
                worst = error;
                worst_at = x[i];
            }
        }
    }
    close_array_kernel(&k);
    double bound = strcmp(level, "v2") == 0 ? f->bound_v2 : f->bound;
    printf("%-8s f32<%u> %-7s %.3f ulp at %a\n", f->name, lanes, level, worst,
           (double)worst_at);
    CHECK_MSG(worst <= bound, "%s at %s: %g ulp at %a", f->name, level, worst,
              (double)worst_at);
}

static void check_f64(const function *f, const char *level, uint32_t lanes) {
    enum { COUNT = 1 << 15 };
    static double x[COUNT], y[COUNT];
    uint64_t state = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t bits = next_random(&state);
        memcpy(&x[i], &bits, sizeof(bits));
        if (i % 2) { /* of middling size */
            x[i] = ldexp((double)(int64_t)bits, -63 + (int)(i / 2 % 24) - 12);
        }
        if (i < IG_COUNT_OF(specials)) {
            x[i] = (double)specials[i];
        }
    }
    array_kernel k;
    open_array_kernel(&k, level, IG_DT_f64, lanes, f->build);
    run_array_kernel(&k, x, y, COUNT);
    close_array_kernel(&k);
    double worst = 0, worst_at = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        double error = error_f64(y[i], f->truth_long((long double)x[i]));
        worst_at = error > worst ? x[i] : worst_at;
        worst = error > worst ? error : worst;
    }
    printf("%-8s f64<%u> %-7s %.3f ulp at %a\n", f->name, lanes, level, worst,
           worst_at);
    CHECK_MSG(worst <= f->bound_f64 + (strcmp(level, "v2") == 0 ? 0.5 : 0),
              "%s in f64 at %s: %g ulp at %a", f->name, level, worst, worst_at);
}

/* lgamma is 0 at 1 and 2, where places of the result mean little. */
static void check_lgamma(const char *level, uint32_t lanes) {
    static float x[BLOCK], y[BLOCK];
    fill_f32(x, 0, false);
    array_kernel k;
    open_array_kernel(&k, level, IG_DT_f32, lanes, build_lgamma);
    run_array_kernel(&k, x, y, BLOCK);
    close_array_kernel(&k);
    for (uint32_t i = 0; i < BLOCK; i++) {
        double truth = lgamma((double)x[i]), off = fabs((double)y[i] - truth);
        CHECK_MSG(off <= 1e-14 || error_f32(y[i], truth) <= 0.6,
                  "lgamma(%a) is %a, not %a", (double)x[i], (double)y[i], truth);
    }
}

static ig_value *build_gelu(ig_builder *b, ig_value *x) {
    return ig_math_gelu(b, x, false);
}

/* gelu is tiny far below 0, where its bound is one of what it is beside 1. */
static void check_gelu(const char *level, uint32_t lanes) {
    static float x[BLOCK], y[BLOCK];
    fill_f32(x, 0, false);
    for (uint32_t i = IG_COUNT_OF(specials); i < BLOCK; i += 2) {
        x[i] = 16.0f * (float)i / BLOCK - 8;
    }
    array_kernel k;
    open_array_kernel(&k, level, IG_DT_f32, lanes, build_gelu);
    run_array_kernel(&k, x, y, BLOCK);
    close_array_kernel(&k);
    for (uint32_t i = 0; i < BLOCK; i++) {
        double of = (double)x[i], truth = of * erfc(-of * 0.70710678118654752440) / 2;
        truth = of == (double)INFINITY ? of : truth;
        double error = error_f32(y[i], truth), off = fabs((double)y[i] - truth);
        CHECK_MSG(error <= 3 || (of < -1 && off <= 2e-5 * fabs(truth)) ||
                      (of < -6 && off <= 1e-12),
                  "gelu(%a) is %a, not %a (%g ulp)", of, (double)y[i], truth, error);
    }
}

static void check_level(const char *level, uint32_t bytes) {
    if (!cpu_level_runs(level)) {
        unit_skip("this machine cannot run %s", level);
        return;
    }
    for (size_t i = 0; i < IG_COUNT_OF(functions); i++) {
        check_f32(&functions[i], level, bytes / 4);
        if (functions[i].truth_long) {
            check_f64(&functions[i], level, bytes / 8);
        }
    }
    check_lgamma(level, bytes / 4);
    check_gelu(level, bytes / 4);
}

/* ---- pow ---- */

static const double pow_specials[] = {
    0,         -0.0,  1,         -1,        2,    -2,      3,     0.5,
    -0.5,      1.5,   -3,        1e30,      -7,   0x1p53,  1e-30, 0x1.8p1,
    -0x1p-149, 1e300, 1.0000001, 0.9999999, 1023, -1074.5, 127.5, -149.5,
};
enum { POW_SPECIALS = IG_COUNT_OF(pow_specials), POW_COUNT = 1 << 15 };

/* Pairs: all of the special ones (and infinities, NaN) with each other, then random
 * ones whose power is mostly in range. */
static void fill_pow(double *x, double *y) {
    double all[POW_SPECIALS + 3];
    memcpy(all, pow_specials, sizeof(pow_specials));
    all[POW_SPECIALS] = (double)INFINITY;
    all[POW_SPECIALS + 1] = -(double)INFINITY;
    all[POW_SPECIALS + 2] = (double)NAN;
    uint64_t state = 5;
    for (uint32_t i = 0; i < POW_COUNT; i++) {
        uint32_t a = i / IG_COUNT_OF(all), b = i % IG_COUNT_OF(all);
        if (a < IG_COUNT_OF(all)) {
            x[i] = all[a];
            y[i] = all[b];
            continue;
        }
        int max = (int)(next_random(&state) % 20) + 1;
        double unit = (double)(int64_t)next_random(&state) * 0x1p-63;
        x[i] = exp(unit * max);
        unit = (double)(int64_t)next_random(&state) * 0x1p-63;
        y[i] = unit * (i % 2 ? 700 : 90) / max;
    }
}

static void run_pow(const char *level, ig_dtype dtype, uint32_t lanes, void *x, void *y,
                    void *z) {
    cpu_case c;
    cpu_case_open(&c, level);
    const ig_dtype buffers[] = { dtype, dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "pow", buffers, 3, 1, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[3], k_i64(&b, lanes), NULL, 0);
    ig_value *base = k_load(&loop.b, args[0], loop.index, lanes);
    ig_value *by = k_load(&loop.b, args[1], loop.index, lanes);
    k_store(&loop.b, ig_math_pow(&loop.b, base, by), args[2], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    void *const pointers[] = { x, y, z };
    int64_t params[] = { POW_COUNT };
    cpu_case_run(&c, kernel, pointers, params, 1);
    cpu_case_close(&c);
}

static void check_pow_f64(const char *level, uint32_t lanes) {
    static double x[POW_COUNT], y[POW_COUNT], z[POW_COUNT];
    fill_pow(x, y);
    run_pow(level, IG_DT_f64, lanes, x, y, z);
    double worst = 0;
    for (uint32_t i = 0; i < POW_COUNT; i++) {
        double error = error_f64(z[i], powl((long double)x[i], (long double)y[i]));
        worst = error > worst ? error : worst;
        CHECK_MSG(error <= 1.5, "pow(%a, %a) is %a, not %a (%g ulp)", x[i], y[i], z[i],
                  pow(x[i], y[i]), error);
    }
    printf("pow      f64<%u> %-7s %.3f ulp\n", lanes, level, worst);
}

static void check_pow_f32(const char *level, uint32_t lanes) {
    static double x[POW_COUNT], y[POW_COUNT];
    static float fx[POW_COUNT], fy[POW_COUNT], fz[POW_COUNT];
    fill_pow(x, y);
    for (uint32_t i = 0; i < POW_COUNT; i++) {
        fx[i] = (float)x[i];
        fy[i] = (float)y[i];
    }
    run_pow(level, IG_DT_f32, lanes, fx, fy, fz);
    double worst = 0;
    for (uint32_t i = 0; i < POW_COUNT; i++) {
        double truth = pow((double)fx[i], (double)fy[i]);
        double error = error_f32(fz[i], truth);
        worst = error > worst ? error : worst;
        CHECK_MSG(error <= 0.51, "pow(%a, %a) is %a, not %a (%g ulp)", (double)fx[i],
                  (double)fy[i], (double)fz[i], truth, error);
    }
    printf("pow      f32<%u> %-7s %.3f ulp\n", lanes, level, worst);
}

TEST(pow_keeps_its_bound_and_special_values) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    for (uint32_t i = 0; i < 3; i++) {
        check_pow_f32(levels[i], 4u << i);
        check_pow_f64(levels[i], 2u << i);
    }
}

TEST(functions_keep_their_bounds_on_v2) {
    check_level("v2", 16);
}

TEST(functions_keep_their_bounds_on_v3) {
    check_level("v3", 32);
}

TEST(functions_keep_their_bounds_on_v4) {
    check_level("v4", 64);
}

UNIT_SUITE(cpu_math, pow_keeps_its_bound_and_special_values,
           functions_keep_their_bounds_on_v2, functions_keep_their_bounds_on_v3,
           functions_keep_their_bounds_on_v4)
