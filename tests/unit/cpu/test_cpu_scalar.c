/* Every elementwise op that kernels have, in every dtype and several widths, against
 * the interpreter; compiled only where this machine cannot run the level.  Each
 * test is a process of its own: LLVM aborts where it has no code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/emit.h"
#include "ir/semantics/scalar.h"
#include "tests/unit/cpu/cpu_case.h"

#include <math.h>

enum { COUNT = 512, WIDEST = 64 };

static const ig_dtype dtypes[] = { IG_DT_bool, IG_DT_i8,  IG_DT_u8,  IG_DT_i16,
                                   IG_DT_u16,  IG_DT_i32, IG_DT_u32, IG_DT_i64,
                                   IG_DT_u64,  IG_DT_f32, IG_DT_f64 };
static const ig_dtype narrow[] = { IG_DT_f16,        IG_DT_bf16,   IG_DT_f8e4m3fn,
                                   IG_DT_f8e4m3fnuz, IG_DT_f8e5m2, IG_DT_f8e5m2fnuz,
                                   IG_DT_f8e8m0 };
static const uint32_t widths[] = { 1, 4, 16, WIDEST };

/* ---- inputs ---- */

static uint64_t next_random(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const double interesting[] = {
    0,
    -0.0,
    1,
    -1,
    2,
    3,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32767.5,
    65504,
    65519.9,
    65520,
    -65536,
    448,
    464,
    465,
    57344,
    61440,
    0x1p-24,
    0x1.8p-25,
    0x1p-25,
    0x1p-133,
    0x1.8p-134,
    0x1p-149,
    2147483647,
    2147483648.,
    -2147483648.,
    4294967295.,
    4294967296.,
    0x1p62,
    0x1p63,
    -0x1p63,
    0x1p64,
    0x1.fffffep63,
    1e30,
    -1e30,
    1e300,
    0x1.002p0,
    0x1.00200001p0,
    0x1.006p0,
    0x1.005fffffffp0,
    240,
    248,
    0x1p-10,
    0x1.8p-10,
};

/* Halves of the elements are random bits, small integers, and interesting values. */
static void fill(ig_tensor *t, uint64_t seed, bool without_zero) {
    uint64_t state = seed;
    for (int64_t i = 0; i < t->count; i++) {
        uint64_t bits = next_random(&state);
        if (t->dtype == IG_DT_bool) {
            ig_tensor_set_i64(t, i, (int64_t)(bits & 1));
        } else if (i % 4 < 2) {
            uint32_t size = ig_dtypes[t->dtype].bits / 8u;
            memcpy((char *)t->data + (size_t)i * size, &bits, size);
        } else if (i % 4 == 2) {
            ig_tensor_set_f64(t, i, (double)(bits % 9) - 4);
        } else {
            double value = interesting[(bits >> 8) % IG_COUNT_OF(interesting)];
            ig_tensor_set_f64(t, i, value);
        }
        if (without_zero && ig_dtype_is_int(t->dtype) && ig_tensor_get_i64(t, i) == 0) {
            ig_tensor_set_i64(t, i, 3);
        }
    }
    if (ig_dtype_is_float(t->dtype)) {
        ig_tensor_set_f64(t, 0, (double)NAN);
        ig_tensor_set_f64(t, 1, (double)INFINITY);
        ig_tensor_set_f64(t, 5, -(double)INFINITY);
    }
}

static ig_tensor make_tensor(cpu_case *c, ig_dtype dtype) {
    int64_t dims[] = { COUNT };
    ig_tensor t;
    CHECK_OK(ig_tensor_alloc(&c->arena, &c->context, dtype, 1, dims, &t));
    return t;
}

/* ---- one op on arrays ---- */

typedef struct subject {
    ig_opcode code;
    ig_dtype in[3], out;
    uint32_t arity;
    ig_attr attr; /* slot 0, and for casts slot 1 is `saturate` */
    bool has_attr, saturate;
} subject;

static ig_graph *build_kernel(cpu_case *c, const subject *s, uint32_t lanes) {
    ig_dtype buffers[4] = { s->in[0], s->in[1], s->in[2], s->out };
    buffers[s->arity] = s->out;
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, ig_ops[s->code].name, buffers, s->arity + 1,
                                       1, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[s->arity + 1], k_i64(&b, lanes),
                              NULL, 0);
    ig_value *x[3];
    for (uint32_t i = 0; i < s->arity; i++) {
        x[i] = k_load(&loop.b, args[i], loop.index, lanes);
    }
    const ig_type *type = ig_type_vector(c->module, s->out, lanes);
    ig_attr attrs[2] = { s->attr, { 0 } };
    if (s->saturate) {
        attrs[1] = ig_attr_of_bool(true);
    }
    ig_op_spec spec = { .operands = x,
                        .operand_count = s->arity,
                        .result_types = &type,
                        .result_count = 1,
                        .attrs = s->has_attr ? attrs : NULL };
    ig_op *op = ig_make_op(&loop.b, s->code, &spec);
    k_store(&loop.b, &op->results[0], args[s->arity], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void expect(const subject *s, const ig_tensor *in, ig_tensor *out) {
    ig_scalar_call call = { .code = s->code,
                            .arity = s->arity,
                            .out = out,
                            .count = COUNT,
                            .saturate = s->saturate,
                            .flags = { s->has_attr && s->attr.as.i, false } };
    for (uint32_t i = 0; i < s->arity; i++) {
        call.operands[i] = ig_span_of(&in[i], 0, 1);
    }
    CHECK_INT(ig_scalar_apply(&call), -1);
}

/* Level v2 rounds a product before it is added. */
static void expect_two_roundings(const ig_tensor *in, ig_tensor *out) {
    for (int64_t i = 0; i < COUNT; i++) {
        if (out->dtype == IG_DT_f32) {
            const float *x = in[0].data, *y = in[1].data, *z = in[2].data;
            volatile float product = x[i] * y[i];
            ((float *)out->data)[i] = product + z[i];
        } else if (out->dtype == IG_DT_f64) {
            const double *x = in[0].data, *y = in[1].data, *z = in[2].data;
            volatile double product = x[i] * y[i];
            ((double *)out->data)[i] = product + z[i];
        }
    }
}

static bool same_element(const subject *s, const ig_tensor *got, const ig_tensor *want,
                         int64_t i) {
    if (!ig_dtype_is_float(want->dtype)) {
        return ig_tensor_get_i64(got, i) == ig_tensor_get_i64(want, i);
    }
    double x = ig_tensor_get_f64(got, i), y = ig_tensor_get_f64(want, i);
    if (isnan(x) || isnan(y)) {
        return isnan(x) && isnan(y);
    }
    if (s->code == IG_OP_rsqrt) { /* rounded twice */
        return x == y || fabs(x - y) <= fabs(y) * 0x1p-22;
    }
    return x == y;
}

static void compare(const subject *s, const char *level, uint32_t lanes,
                    const ig_tensor *in, const ig_tensor *got, const ig_tensor *want) {
    for (int64_t i = 0; i < COUNT; i++) {
        if (same_element(s, got, want, i)) {
            continue;
        }
        double x[3] = { 0 };
        for (uint32_t k = 0; k < s->arity; k++) {
            x[k] = ig_tensor_get_f64(&in[k], i);
        }
        ck_abort_msg("%s of %s to %s, %u lanes, %s: (%a, %a, %a) gives %a, not %a",
                     ig_ops[s->code].name, ig_dtypes[s->in[0]].name,
                     ig_dtypes[s->out].name, lanes, level, x[0], x[1], x[2],
                     ig_tensor_get_f64(got, i), ig_tensor_get_f64(want, i));
    }
}

/* Half of the widths, others for the next subject and at the next level; with
 * INGOT_FULL=1 all. */
static bool is_width_due(const cpu_case *c, size_t width) {
    static size_t calls;
    size_t subject_index = calls++ / IG_COUNT_OF(widths);
    size_t turn = subject_index + cpu_level_index(c->target.level);
    return unit_is_full() || width % 2 == turn % 2;
}

static void check_subject(cpu_case *c, const subject *s) {
    ig_tensor in[3], got = make_tensor(c, s->out), want = make_tensor(c, s->out);
    void *buffers[4];
    int64_t params[] = { COUNT };
    for (uint32_t i = 0; i < s->arity; i++) {
        in[i] = make_tensor(c, s->in[i]);
        bool divides = s->code == IG_OP_div || s->code == IG_OP_mod;
        fill(&in[i], 11 + i, divides && i == 1);
        buffers[i] = in[i].data;
    }
    buffers[s->arity] = got.data;
    expect(s, in, &want);
    if (s->code == IG_OP_muladd && strcmp(c->target.level, "v2") == 0) {
        expect_two_roundings(in, &want);
    }
    for (size_t w = 0; w < IG_COUNT_OF(widths); w++) {
        if (!is_width_due(c, w)) {
            continue;
        }
        memset(got.data, 0xee, (size_t)ig_tensor_bytes(&got));
        cpu_case_run(c, build_kernel(c, s, widths[w]), buffers, params, 1);
        compare(s, c->target.level, widths[w], in, &got, &want);
    }
}

/* ---- which ops, which dtypes ---- */

static bool gives_bool(ig_opcode code) {
    return (code >= IG_OP_eq && code <= IG_OP_ge) || code == IG_OP_isnan;
}

static void check_op(cpu_case *c, ig_opcode code, ig_dtype dtype) {
    subject s = { .code = code,
                  .arity = ig_ops[code].operand_min,
                  .in = { dtype, dtype, dtype },
                  .out = gives_bool(code) ? IG_DT_bool : dtype };
    if (code == IG_OP_where) {
        s.in[0] = IG_DT_bool;
    }
    if (!ig_scalar_supports(code, ig_dtypes[dtype].class) ||
        (code == IG_OP_mod && ig_dtype_is_float(dtype))) {
        return;
    }
    check_subject(c, &s);
    if (code == IG_OP_mod) {
        s.has_attr = true;
        s.attr = ig_attr_of_bool(true);
        check_subject(c, &s);
    }
}

static void check_ops(const char *level) {
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        bool is_kernel = ig_ops[code].stages & IG_STAGE_KERNEL;
        if (!is_kernel || !ig_scalar_is_row((ig_opcode)code) ||
            !ig_cpu_rows[code].emit || code == IG_OP_cast || code == IG_OP_mul_exp2) {
            continue;
        }
        cpu_case c;
        cpu_case_open(&c, level);
        for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
            check_op(&c, (ig_opcode)code, dtypes[i]);
        }
        cpu_case_close(&c);
    }
}

TEST(ops_equal_the_interpreter_on_v2) {
    check_ops("v2");
}

TEST(ops_equal_the_interpreter_on_v3) {
    check_ops("v3");
}

TEST(ops_equal_the_interpreter_on_v4) {
    check_ops("v4");
}

TEST(ops_equal_the_interpreter_on_v4_vnni) {
    check_ops("v4-vnni");
}

/* ---- mul_exp2, on what it is defined for ---- */

/* All exponents and more, from where every result is 0 to where every one is infinite:
 * numbers of both signs, ones that round to even, NaN with any bits. */
static void fill_mul_exp2(ig_tensor *x, ig_tensor *y) {
    bool is_single = x->dtype == IG_DT_f32;
    double round = is_single ? 0x1.8p23 : 0x1.8p52;
    int64_t low = is_single ? -150 : -1076, high = is_single ? 128 : 1024;
    uint64_t state = 3;
    for (int64_t i = 0; i < COUNT; i++) {
        uint64_t bits = next_random(&state);
        double size = ldexp(1 + (double)(bits >> 12) * 0x1p-52, (int)(bits % 5) - 2);
        size = i % 3 == 0 ? 1 + (double)(bits % 4) * 0.25 : size;
        ig_tensor_set_f64(x, i, i % 2 ? -size : size);
        int64_t n = low + (int64_t)(next_random(&state) % (uint64_t)(high - low + 1));
        n = i % 8 == 1 ? low + i / 8 % 26 : i % 8 == 2 ? high - i / 8 % 4 : n;
        ig_tensor_set_f64(y, i, round + (double)n);
        if (i % 64 == 63 && is_single) {
            ((uint32_t *)x->data)[i] = 0x7fc00000u | (uint32_t)(bits & 0x803fffffu);
            ((uint32_t *)y->data)[i] = ((uint32_t *)x->data)[i];
        }
    }
}

static void check_mul_exp2(const char *level) {
    static const ig_dtype reals[] = { IG_DT_f32, IG_DT_f64 };
    cpu_case c;
    cpu_case_open(&c, level);
    for (size_t i = 0; i < IG_COUNT_OF(reals); i++) {
        ig_dtype dtype = reals[i];
        subject s = {
            .code = IG_OP_mul_exp2, .arity = 2, .in = { dtype, dtype }, .out = dtype
        };
        ig_tensor in[2] = { make_tensor(&c, dtype), make_tensor(&c, dtype) };
        ig_tensor got = make_tensor(&c, dtype), want = make_tensor(&c, dtype);
        fill_mul_exp2(&in[0], &in[1]);
        expect(&s, in, &want);
        void *buffers[] = { in[0].data, in[1].data, got.data };
        int64_t params[] = { COUNT };
        for (uint32_t lanes = 1; lanes <= 32; lanes *= 2) {
            cpu_case_run(&c, build_kernel(&c, &s, lanes), buffers, params, 1);
            compare(&s, level, lanes, in, &got, &want);
        }
    }
    cpu_case_close(&c);
}

TEST(mul_exp2_rounds_once_at_every_level) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    for (size_t i = 0; i < IG_COUNT_OF(levels); i++) {
        check_mul_exp2(levels[i]);
    }
}

/* ---- casts: every pair ---- */

static ig_dtype cast_dtype(size_t index) {
    return index < IG_COUNT_OF(dtypes) ? dtypes[index]
                                       : narrow[index - IG_COUNT_OF(dtypes)];
}

static void check_casts(const char *level) {
    enum { TYPES = IG_COUNT_OF(dtypes) + IG_COUNT_OF(narrow) };
    for (size_t from = 0; from < TYPES; from++) {
        cpu_case c;
        cpu_case_open(&c, level);
        for (size_t to = 0; to < TYPES; to++) {
            subject s = { .code = IG_OP_cast,
                          .arity = 1,
                          .in = { cast_dtype(from) },
                          .out = cast_dtype(to),
                          .has_attr = true };
            s.attr = ig_attr_of_dtype(s.out);
            check_subject(&c, &s);
            s.saturate = true;
            if (from != to && ig_dtype_is_float(s.in[0]) &&
                ig_dtypes[s.out].bits == 8) {
                check_subject(&c, &s);
            }
        }
        cpu_case_close(&c);
    }
}

TEST(casts_equal_the_interpreter_on_v2) {
    check_casts("v2");
}

TEST(casts_equal_the_interpreter_on_v3) {
    check_casts("v3");
}

TEST(casts_equal_the_interpreter_on_v4) {
    check_casts("v4");
}

/* ---- what the interpreter refuses ---- */

TEST(integers_divided_by_zero_give_zero_and_do_not_trap) {
    static const char *const levels[] = { "v2", "v3", "v4" };
    for (size_t i = 0; i < IG_COUNT_OF(levels); i++) {
        cpu_case c;
        if (!cpu_level_runs(levels[i])) {
            unit_skip_part("code for %s cannot run here", levels[i]);
            continue;
        }
        cpu_case_open(&c, levels[i]);
        for (int code = 0; code < 2; code++) {
            subject s = { .code = code ? IG_OP_mod : IG_OP_div,
                          .arity = 2,
                          .in = { IG_DT_i64, IG_DT_i64 },
                          .out = IG_DT_i64 };
            static int64_t x[4] = { 5, INT64_MIN, -7, INT64_MIN };
            static int64_t y[4] = { 0, -1, 0, 0 }, z[4];
            void *buffers[] = { x, y, z };
            int64_t params[] = { 4 };
            cpu_case_run(&c, build_kernel(&c, &s, 4), buffers, params, 1);
            CHECK(z[0] == 0 && z[2] == 0 && z[3] == 0);
            CHECK(z[1] == (code ? 0 : INT64_MIN));
        }
        cpu_case_close(&c);
    }
}

UNIT_SUITE(cpu_scalar, ops_equal_the_interpreter_on_v2, ops_equal_the_interpreter_on_v3,
           ops_equal_the_interpreter_on_v4, ops_equal_the_interpreter_on_v4_vnni,
           casts_equal_the_interpreter_on_v2, casts_equal_the_interpreter_on_v3,
           casts_equal_the_interpreter_on_v4, mul_exp2_rounds_once_at_every_level,
           integers_divided_by_zero_give_zero_and_do_not_trap)
