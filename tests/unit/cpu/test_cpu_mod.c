/* The remainder of floats against libm's fmod: not one bit may differ.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/math/more.h"
#include "tests/unit/cpu/cpu_case.h"

#include <math.h>

static const double specials[] = {
    0,
    -0.0,
    1,
    -1,
    3,
    -3,
    0.1,
    -0.1,
    2.5,
    -2.5,
    7,
    0x1p24,
    1e10,
    -1e10,
    1e30,
    -1e30,
    0x1p-126,
    0x1p-149,
    -0x1p-149,
    0x1.8p-140,
    1e300,
    0x1p-1022,
    0x1p-1074,
    -0x1p-1060,
    0x1p53,
    0x1p63,
    0.5,
    0x1p-24,
    1e-30,
    -1e-30,
    6,
    1e38,
    (double)INFINITY,
    -(double)INFINITY,
    (double)NAN,
    0x1.fffffep127,
    0x1.fffffffffffffp1023,
};
enum { SPECIALS = IG_COUNT_OF(specials), COUNT = 1 << 15 };

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* All pairs of special values, then random bits: quotients of any size. */
static void fill(ig_dtype dtype, void *x, void *y) {
    uint64_t state = 3;
    for (uint32_t i = 0; i < COUNT; i++) {
        double a = specials[i / SPECIALS % SPECIALS], b = specials[i % SPECIALS];
        uint64_t p = next_random(&state), q = next_random(&state);
        bool is_random = i >= SPECIALS * SPECIALS;
        if (dtype == IG_DT_f64) {
            memcpy((double *)x + i, is_random ? (void *)&p : (void *)&a, sizeof a);
            memcpy((double *)y + i, is_random ? (void *)&q : (void *)&b, sizeof b);
        } else {
            float c = (float)a, d = (float)b;
            memcpy((float *)x + i, is_random ? (void *)&p : (void *)&c, sizeof c);
            memcpy((float *)y + i, is_random ? (void *)&q : (void *)&d, sizeof d);
        }
    }
}

static double at(ig_dtype dtype, const void *x, uint32_t i) {
    return dtype == IG_DT_f64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

/* Python's rule on top of fmod, as torch has it. */
static double truth_of(ig_dtype dtype, double x, double y, bool truncates) {
    double r = fmod(x, y);
    bool moves = !truncates && r != 0 && (r < 0) != (y < 0);
    double moved = dtype == IG_DT_f64 ? r + y : (double)((float)r + (float)y);
    return moves ? moved : r;
}

static void run_mod(const char *level, ig_dtype dtype, uint32_t lanes, bool truncates,
                    void *const *buffers) {
    cpu_case c;
    cpu_case_open(&c, level);
    const ig_dtype dtypes[] = { dtype, dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "mod", dtypes, 3, 1, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[3], k_i64(&b, lanes), NULL, 0);
    ig_value *x = k_load(&loop.b, args[0], loop.index, lanes);
    ig_value *y = k_load(&loop.b, args[1], loop.index, lanes);
    k_store(&loop.b, ig_math_mod(&loop.b, x, y, truncates), args[2], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    int64_t params[] = { COUNT };
    cpu_case_run(&c, kernel, buffers, params, 1);
    cpu_case_close(&c);
}

static void check_mod(const char *level, ig_dtype dtype, uint32_t lanes,
                      bool truncates) {
    static double x[COUNT], y[COUNT], z[COUNT];
    void *const buffers[] = { x, y, z };
    fill(dtype, x, y);
    run_mod(level, dtype, lanes, truncates, buffers);
    for (uint32_t i = 0; i < COUNT; i++) {
        double a = at(dtype, x, i), b = at(dtype, y, i), got = at(dtype, z, i);
        double want = truth_of(dtype, a, b, truncates);
        bool is_same = isnan(want) ? isnan(got)
                                   : got == want && signbit(got) == signbit(want);
        CHECK_MSG(is_same, "mod(%a, %a) of %s at %s%s is %a, not %a", a, b,
                  ig_dtypes[dtype].name, level, truncates ? ", truncated," : "", got,
                  want);
    }
}

static void check_level(const char *level, uint32_t lanes) {
    if (!cpu_level_runs(level)) {
        unit_skip("this machine cannot run %s", level);
        return;
    }
    for (int truncates = 0; truncates < 2; truncates++) {
        check_mod(level, IG_DT_f32, lanes, truncates);
        check_mod(level, IG_DT_f32, 1, truncates);
        check_mod(level, IG_DT_f64, lanes / 2, truncates);
        check_mod(level, IG_DT_f64, 1, truncates);
    }
}

TEST(remainders_are_exact_on_v2) {
    check_level("v2", 4);
}

TEST(remainders_are_exact_on_v3) {
    check_level("v3", 8);
}

TEST(remainders_are_exact_on_v4) {
    check_level("v4", 16);
}

UNIT_SUITE(cpu_mod, remainders_are_exact_on_v2, remainders_are_exact_on_v3,
           remainders_are_exact_on_v4)
