/* Random kernels, compiled at every level and interpreted: the results must be equal.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel loads a few vectors of each dtype and in a loop makes random ops on random
 * values made so far; each trip stores them all and carries some to the next.
 * Left out are ops whose result may differ in the sign of a zero or in rounding between
 * levels (muladd, rsqrt), and whatever would show such a sign (division, bits).
 */
#include "ir/interpret/kernel.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tests/unit/cpu/cpu_case.h"

#include <math.h>

enum { DTYPES = 11, POOL = 96, OPS = 50, WIDEST = 64, TRIPS = 3 };

static const ig_dtype dtypes[DTYPES] = { IG_DT_bool, IG_DT_i8,  IG_DT_u8,  IG_DT_i16,
                                         IG_DT_u16,  IG_DT_i32, IG_DT_u32, IG_DT_i64,
                                         IG_DT_u64,  IG_DT_f32, IG_DT_f64 };

typedef struct maker {
    uint64_t state;
    ig_builder *b;
    ig_value *pool[POOL];
    uint32_t count;
} maker;

static uint32_t pick(maker *m, uint32_t below) {
    m->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = m->state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % below);
}

static ig_value *pick_value(maker *m, const ig_type *type) {
    for (uint32_t tries = 0; tries < 200; tries++) {
        ig_value *value = m->pool[pick(m, m->count)];
        if (!type || value->type == type) {
            return value;
        }
    }
    return NULL;
}

/* ---- ops by class ---- */

static const ig_opcode int_ops[] = { IG_OP_add, IG_OP_sub, IG_OP_mul, IG_OP_min,
                                     IG_OP_max, IG_OP_and, IG_OP_or,  IG_OP_xor,
                                     IG_OP_shl, IG_OP_shr };
static const ig_opcode real_ops[] = { IG_OP_add, IG_OP_sub, IG_OP_mul, IG_OP_min,
                                      IG_OP_max };
static const ig_opcode bool_ops[] = { IG_OP_and, IG_OP_or, IG_OP_xor };
static const ig_opcode int_unary[] = { IG_OP_neg, IG_OP_abs, IG_OP_not, IG_OP_sign,
                                       IG_OP_relu };
static const ig_opcode real_unary[] = { IG_OP_neg,   IG_OP_abs,  IG_OP_sqrt,
                                        IG_OP_floor, IG_OP_ceil, IG_OP_round,
                                        IG_OP_trunc, IG_OP_relu };
static const ig_opcode compares[] = { IG_OP_eq, IG_OP_ne, IG_OP_lt,
                                      IG_OP_le, IG_OP_gt, IG_OP_ge };

#define PICK(m, array) ((array)[pick((m), IG_COUNT_OF(array))])

static ig_opcode pick_binary(maker *m, ig_dtype dtype) {
    if (dtype == IG_DT_bool) {
        return PICK(m, bool_ops);
    }
    return ig_dtype_is_float(dtype) ? PICK(m, real_ops) : PICK(m, int_ops);
}

static ig_value *make_unary(maker *m, ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    if (dtype == IG_DT_bool) {
        return k_unary(m->b, IG_OP_not, x);
    }
    return k_unary(
        m->b, ig_dtype_is_float(dtype) ? PICK(m, real_unary) : PICK(m, int_unary), x);
}

static ig_value *make_where(maker *m, ig_value *x, ig_value *y) {
    ig_module *module = m->b->graph->module;
    ig_value *cond = pick_value(m, ig_type_vector(module, IG_DT_bool, x->type->lanes));
    return cond ? k_where(m->b, cond, x, y) : NULL;
}

static ig_value *make_shuffle(maker *m, ig_value *x, ig_value *y) {
    int64_t lanes[64];
    uint32_t count = x->type->lanes;
    for (uint32_t i = 0; i < count; i++) {
        lanes[i] = pick(m, 2 * count);
    }
    return k_shuffle(m->b, x, y, lanes, count);
}

/* A tree over the lanes, in every lane; for bools there is none. */
static ig_value *make_reduced(maker *m, ig_value *x) {
    static const ig_reduce ops[] = { IG_REDUCE_sum, IG_REDUCE_max, IG_REDUCE_min,
                                     IG_REDUCE_prod };
    if (x->type->dtype == IG_DT_bool) {
        return NULL;
    }
    return k_splat(m->b, k_hreduce(m->b, PICK(m, ops), x), x->type->lanes);
}

/* Every second op is on floats. */
static ig_value *make_one(maker *m) {
    ig_dtype dtype = dtypes[pick(m, 2) ? DTYPES - 1 - pick(m, 2) : pick(m, DTYPES)];
    uint32_t lanes = m->pool[0]->type->lanes;
    const ig_type *type = ig_type_vector(m->b->graph->module, dtype, lanes);
    ig_value *x = pick_value(m, type), *y = pick_value(m, type);
    if (!x || !y) {
        return NULL;
    }
    switch (pick(m, 8)) {
    case 0:
        return make_unary(m, x);
    case 1:
        return dtype == IG_DT_bool ? NULL : k_compare(m->b, PICK(m, compares), x, y);
    case 2:
        return make_where(m, x, y);
    case 3:
        return k_cast(m->b, x, dtypes[pick(m, DTYPES)]);
    case 4:
        return make_shuffle(m, x, y);
    case 5:
        return make_reduced(m, x);
    default:
        return k_binary(m->b, pick_binary(m, dtype), x, y);
    }
}

/* ---- a kernel ---- */

/* Stores every value behind those of its dtype, and carries the last of each dtype. */
static void finish_trip(maker *m, k_loop *loop, ig_value **outs) {
    ig_value *next[DTYPES];
    for (uint32_t i = 0; i < DTYPES; i++) {
        int64_t at = 0;
        next[i] = loop->carried[i];
        for (uint32_t k = 0; k < m->count; k++) {
            if (m->pool[k]->type != loop->carried[i]->type) {
                continue;
            }
            k_store(m->b, m->pool[k], outs[i], k_i64(m->b, at));
            at += m->pool[k]->type->lanes;
            next[i] = m->pool[k];
        }
    }
    k_loop_close(loop, next, DTYPES);
}

/* Buffers 0 … 10 are inputs, 11 … 21 outputs, one of each dtype; a load's count is
 * param 0. */
static ig_graph *make_kernel(cpu_case *c, uint64_t seed, uint32_t lanes) {
    ig_dtype buffers[2 * DTYPES];
    memcpy(buffers, dtypes, sizeof(dtypes));
    memcpy(buffers + DTYPES, dtypes, sizeof(dtypes));
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "random", buffers, 2 * DTYPES, 1, &b);
    ig_value **args = kernel->body.args, *inits[DTYPES];
    for (uint32_t i = 0; i < DTYPES; i++) {
        inits[i] = k_load(&b, args[i], k_i64(&b, 0), lanes);
    }
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), k_i64(&b, TRIPS), k_i64(&b, 1), inits,
                              DTYPES);
    maker m = { .state = seed * 977 + 1, .b = &loop.b };
    for (uint32_t i = 0; i < DTYPES; i++) {
        m.pool[m.count++] = loop.carried[i];
        ig_value *at = k_mul(&loop.b, loop.index, k_i64(&loop.b, 5));
        m.pool[m.count++] = k_load_count(&loop.b, args[i], at, lanes, args[2 * DTYPES]);
    }
    for (uint32_t i = 0; i < OPS; i++) {
        ig_value *made = make_one(&m);
        if (made) {
            m.pool[m.count++] = made;
        }
    }
    finish_trip(&m, &loop, args + DTYPES);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

/* ---- running both ---- */

static const double specials[] = {
    (double)NAN,
    (double)INFINITY,
    -(double)INFINITY,
    0,
    -0.0,
    1,
    -1,
    1e30,
    -1e30,
    0.5,
    -2.5,
    2147483648.,
    -2147483648.,
    0x1p63,
    -0x1p63,
    1e-40,
    0x1p-149,
    4294967296.,
};

typedef struct memory {
    ig_tensor tensors[2 * DTYPES];
    void *pointers[2 * DTYPES];
    ig_kernel_buffer buffers[2 * DTYPES];
} memory;

static void make_memory(cpu_case *c, uint64_t seed, memory *out) {
    maker m = { .state = seed };
    int64_t dims[] = { POOL * WIDEST };
    for (uint32_t i = 0; i < 2 * DTYPES; i++) {
        ig_tensor *t = &out->tensors[i];
        CHECK_OK(ig_tensor_alloc(&c->arena, NULL, dtypes[i % DTYPES], 1, dims, t));
        for (int64_t k = 0; k < t->count && i < DTYPES; k++) {
            bool is_special = pick(&m, 5) == 0;
            double plain = (double)pick(&m, 4001) / 8 - 250;
            ig_tensor_set_f64(t, k, is_special ? PICK(&m, specials) : plain);
        }
        out->pointers[i] = t->data;
        out->buffers[i] = (ig_kernel_buffer){ t->data, ig_tensor_bytes(t), 0 };
    }
}

static bool is_equal(const ig_tensor *x, const ig_tensor *y, int64_t i) {
    if (!ig_dtype_is_float(x->dtype)) {
        return ig_tensor_get_i64(x, i) == ig_tensor_get_i64(y, i);
    }
    double a = ig_tensor_get_f64(x, i), b = ig_tensor_get_f64(y, i);
    return a == b || (isnan(a) && isnan(b));
}

static void check_kernel(cpu_case *c, uint64_t seed, uint32_t lanes) {
    ig_graph *kernel = make_kernel(c, seed, lanes);
    ig_status verified = ig_verify(kernel, IG_STAGE_KERNEL);
    CHECK_MSG(verified == IG_OK, "seed %d: %s", (int)seed, c->last);
    int64_t params[] = { (int64_t)(seed % (lanes + 2)) };
    memory compiled, interpreted;
    make_memory(c, seed, &compiled);
    make_memory(c, seed, &interpreted);
    ig_kernel_call call = {
        .buffers = interpreted.buffers, .params = params, .tile_end = 1, .threads = 1
    };
    ig_status status = ig_interpret_kernel(kernel, &call);
    CHECK_MSG(status == IG_OK, "seed %d: %s", (int)seed, c->last);
    cpu_case_run(c, kernel, compiled.pointers, params, 1);
    for (uint32_t i = DTYPES; i < 2 * DTYPES; i++) {
        for (int64_t k = 0; k < POOL * WIDEST; k++) {
            const ig_tensor *got = &compiled.tensors[i],
                            *want = &interpreted.tensors[i];
            CHECK_MSG(is_equal(got, want, k),
                      "seed %d, %u lanes, %s: %s[%d] is %a, not %a", (int)seed, lanes,
                      c->target.level, ig_dtypes[got->dtype].name, (int)k,
                      ig_tensor_get_f64(got, k), ig_tensor_get_f64(want, k));
        }
    }
}

static void check_level(const char *level) {
    static const uint32_t widths[] = { 1, 4, 8, 16, 64 };
    const char *more = getenv("INGOT_TEST_SEEDS");
    uint64_t seeds = more ? strtoull(more, NULL, 10) : 12;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        cpu_case c;
        cpu_case_open(&c, level);
        check_kernel(&c, seed, widths[seed % IG_COUNT_OF(widths)]);
        cpu_case_close(&c);
    }
}

TEST(random_kernels_equal_the_interpreter_on_v2) {
    check_level("v2");
}

TEST(random_kernels_equal_the_interpreter_on_v3) {
    check_level("v3");
}

TEST(random_kernels_equal_the_interpreter_on_v4) {
    check_level("v4");
}

UNIT_SUITE(cpu_random, random_kernels_equal_the_interpreter_on_v2,
           random_kernels_equal_the_interpreter_on_v3,
           random_kernels_equal_the_interpreter_on_v4)
