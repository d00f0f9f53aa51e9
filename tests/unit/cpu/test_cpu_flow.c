/* Loops, branches and tiles; and what knows of lanes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/emit.h"
#include "tests/unit/cpu/cpu_case.h"

#include <pthread.h>

UNIT_WITH_LLVM

static const char *const levels[] = { "v2", "v3", "v4", "v4-vnni" };
#define LEVELS IG_COUNT_OF(levels)

/* ---- loops ---- */

/* out = { sum of i, sum of i * i, last i + step } for i in lo … hi by step (params). */
static ig_graph *build_sums(cpu_case *c, int64_t unroll) {
    static const ig_dtype buffers[] = { IG_DT_i64 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "sums", buffers, 1, 3, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
    ig_value *inits[] = { zero, zero };
    k_loop loop = k_loop_open(&b, args[1], args[2], args[3], inits, 2);
    loop.op->attrs[IG_for_unroll] = ig_attr_of_int(unroll);
    ig_builder *body = &loop.b;
    ig_value *next[] = {
        k_add(body, loop.carried[0], loop.index),
        k_add(body, loop.carried[1], k_mul(body, loop.index, loop.index)),
    };
    k_loop_close(&loop, next, 2);
    k_store(&b, loop.results[0], args[0], zero);
    k_store(&b, loop.results[1], args[0], k_i64(&b, 1));
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void check_sums(const cpu_code *code, int64_t lo, int64_t hi, int64_t step) {
    int64_t out[2] = { -1, -1 }, params[] = { lo, hi, step }, sum = 0, squares = 0;
    void *const buffers[] = { out };
    ig_kernel_call_v0 call = { .buffers = buffers, .params = params };
    cpu_code_call(code, &call);
    for (int64_t i = lo; i < hi; i += step) {
        sum += i;
        squares += i * i;
    }
    CHECK(out[0] == sum && out[1] == squares);
}

TEST(loops_carry_values_whatever_the_unrolling) {
    static const int64_t unrolls[] = { 1, 2, 3, 4, 8 };
    for (size_t u = 0; u < IG_COUNT_OF(unrolls); u++) {
        cpu_case c;
        cpu_case_open(&c, "v2");
        cpu_code code = cpu_case_compile(&c, build_sums(&c, unrolls[u]));
        for (int64_t lo = -2; lo <= 1; lo++) {
            for (int64_t k = 0; k < 34 * 3; k++) {
                check_sums(&code, lo, k / 3 - 4, k % 3 + 1);
            }
        }
        cpu_code_unmap(&code);
        cpu_case_close(&c);
    }
}

/* Tiles t write t times the number of bits of t that are set, found by nested loops and
 * branches. */
TEST(tiles_loops_and_branches_nest) {
    cpu_case c;
    cpu_case_open(&c, "v2");
    static const ig_dtype buffers[] = { IG_DT_i64 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "nest", buffers, 1, 0, &b);
    ig_value **args = kernel->body.args, *begin = NULL, *end = NULL;
    k_tiles(&b, &begin, &end);
    k_loop tiles = k_loop_open(&b, begin, end, k_i64(&b, 1), NULL, 0);
    ig_builder *outer = &tiles.b;
    ig_value *zero = k_i64(outer, 0), *one = k_i64(outer, 1);
    k_loop bits = k_loop_open(outer, zero, k_i64(outer, 20), one, &zero, 1);
    ig_value *shifted = k_binary(&bits.b, IG_OP_shr, tiles.index, bits.index);
    ig_value *bit = k_binary(&bits.b, IG_OP_and, shifted, k_i64(&bits.b, 1));
    ig_value *is_set = k_compare(&bits.b, IG_OP_eq, bit, k_i64(&bits.b, 1));
    k_if branch = k_if_open(&bits.b, is_set, &zero->type, 1);
    ig_value *then = k_add(&branch.then, bits.carried[0], k_i64(&branch.then, 1));
    k_if_close(&branch, &then, bits.carried);
    k_loop_close(&bits, branch.results, 1);
    k_store(outer, k_mul(outer, bits.results[0], tiles.index), args[0], tiles.index);
    k_loop_close(&tiles, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    int64_t out[100] = { 0 };
    void *const pointers[] = { out };
    cpu_case_run(&c, kernel, pointers, NULL, 100);
    for (int64_t t = 0; t < 100; t++) {
        CHECK(out[t] == t * __builtin_popcountll((unsigned long long)t));
    }
    cpu_case_close(&c);
}

/* ---- lanes ---- */

typedef struct reduction {
    ig_reduce op;
    ig_opcode combine;
} reduction;

static const reduction reductions[] = {
    { IG_REDUCE_sum, IG_OP_add },
    { IG_REDUCE_max, IG_OP_max },
    { IG_REDUCE_min, IG_OP_min },
    { IG_REDUCE_prod, IG_OP_mul },
};

static float combine(ig_opcode code, float x, float y) {
    if (code == IG_OP_add || code == IG_OP_mul) {
        return code == IG_OP_add ? x + y : x * y;
    }
    bool x_wins = code == IG_OP_max ? x > y : x < y;
    return x_wins || x != x ? x : y;
}

static void check_reduction(cpu_case *c, const reduction *r, uint32_t lanes) {
    static const ig_dtype buffers[] = { IG_DT_f32, IG_DT_f32 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "reduce", buffers, 2, 0, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
    ig_value *x = k_load(&b, args[0], zero, lanes);
    k_store(&b, k_hreduce(&b, r->op, x), args[1], zero);
    ig_make_ret(&b, NULL, 0);
    float in[64], got[1] = { 0 }, halves[64];
    for (uint32_t i = 0; i < lanes; i++) {
        in[i] = halves[i] = (float)((i * 2654435761u % 1000u) + 1) * 0.37f;
    }
    void *const pointers[] = { in, got };
    cpu_case_run(c, kernel, pointers, NULL, 1);
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            halves[i] = combine(r->combine, halves[i], halves[i + half]);
        }
    }
    CHECK(got[0] == halves[0]);
}

TEST(lanes_are_reduced_by_halves) {
    for (size_t i = 0; i < LEVELS; i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        for (size_t r = 0; r < IG_COUNT_OF(reductions); r++) {
            for (uint32_t lanes = 1; lanes <= 64; lanes *= 2) {
                check_reduction(&c, &reductions[r], lanes);
            }
        }
        cpu_case_close(&c);
    }
}

/* Is any lane above 0.5? */
static void check_any(cpu_case *c, uint32_t lanes) {
    static const ig_dtype buffers[] = { IG_DT_f32, IG_DT_bool };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "any", buffers, 2, 0, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
    ig_value *x = k_load(&b, args[0], zero, lanes);
    ig_value *half = k_const_vector(&b, IG_DT_f32, lanes, 0.5);
    k_store(&b, k_any(&b, k_compare(&b, IG_OP_gt, x, half)), args[1], zero);
    ig_make_ret(&b, NULL, 0);
    for (uint32_t set = 0; set <= lanes; set++) {
        float in[64] = { 0 };
        uint8_t got = 7;
        if (set < lanes) {
            in[set] = 1;
        }
        void *const pointers[] = { in, &got };
        cpu_case_run(c, kernel, pointers, NULL, 1);
        CHECK_INT(got, set < lanes);
    }
}

TEST(any_of_some_lanes) {
    for (size_t i = 0; i < LEVELS; i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        for (uint32_t lanes = 1; lanes <= 64; lanes *= 2) {
            check_any(&c, lanes);
        }
        cpu_case_close(&c);
    }
}

/* out[k] = in[7 - k] by load_at of reversed indices; then in[4], by a run-time lane;
 * then the even elements, by shuffle. */
static ig_graph *build_lanes(cpu_case *c, ig_dtype dtype) {
    const ig_dtype buffers[] = { dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "lanes", buffers, 2, 1, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
    ig_value *seven = k_splat(&b, k_i64(&b, 7), 8);
    ig_value *reversed = k_sub(&b, seven, k_iota(&b, 8));
    ig_value *operands[] = { args[0], reversed };
    const ig_type *types[] = { ig_type_vector(c->module, dtype, 8),
                               ig_type_vector(c->module, dtype, 1) };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 2,
                        .result_types = types,
                        .result_count = 1 };
    ig_value *gathered = &ig_make_op(&b, IG_OP_load_at, &spec)->results[0];
    k_store(&b, gathered, args[1], zero);
    ig_value *lane[] = { k_load(&b, args[0], zero, 8), args[2] };
    ig_op_spec extract = { .operands = lane,
                           .operand_count = 2,
                           .result_types = &types[1],
                           .result_count = 1 };
    ig_value *one = &ig_make_op(&b, IG_OP_extract, &extract)->results[0];
    k_store(&b, one, args[1], k_i64(&b, 8));
    static const int64_t even[] = { 0, 2, 4, 6, 8, 10, 12, 14 };
    ig_value *upper = k_load(&b, args[0], k_i64(&b, 8), 8);
    k_store(&b, k_shuffle(&b, lane[0], upper, even, 8), args[1], k_i64(&b, 9));
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

TEST(lanes_are_gathered_extracted_and_shuffled) {
    static const ig_dtype dtypes[] = { IG_DT_bool, IG_DT_i8,  IG_DT_u16, IG_DT_f16,
                                       IG_DT_i32,  IG_DT_f32, IG_DT_i64, IG_DT_f64 };
    for (size_t i = 0; i < LEVELS * IG_COUNT_OF(dtypes); i++) {
        cpu_case c;
        ig_dtype dtype = dtypes[i % IG_COUNT_OF(dtypes)];
        cpu_case_open(&c, levels[i / IG_COUNT_OF(dtypes)]);
        int64_t dims[] = { 17 }, params[] = { 4 };
        ig_tensor in, out;
        CHECK_OK(ig_tensor_alloc(&c.arena, &c.context, dtype, 1, dims, &in));
        CHECK_OK(ig_tensor_alloc(&c.arena, &c.context, dtype, 1, dims, &out));
        for (int64_t k = 0; k < 16; k++) {
            ig_tensor_set_i64(&in, k, dtype == IG_DT_bool ? k % 3 == 0 : k);
        }
        void *const pointers[] = { in.data, out.data };
        cpu_case_run(&c, build_lanes(&c, dtype), pointers, params, 1);
        for (int64_t k = 0; k < 17; k++) {
            int64_t from = k < 8 ? 7 - k : k == 8 ? 4 : 2 * (k - 9);
            CHECK_INT(ig_tensor_get_i64(&out, k), ig_tensor_get_i64(&in, from));
        }
        cpu_case_close(&c);
    }
}

TEST(bits_are_seen_as_other_types) {
    for (size_t i = 0; i < LEVELS; i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        static const ig_dtype buffers[] = { IG_DT_i8, IG_DT_f32 };
        ig_builder b;
        ig_graph *kernel = cpu_case_kernel(&c, "bits", buffers, 2, 0, &b);
        ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
        ig_value *floats = k_reinterpret(&b, args[0], IG_DT_f32);
        ig_value *x = k_load(&b, floats, k_i64(&b, 1), 4);
        ig_value *bits = k_reinterpret(&b, x, IG_DT_i32);
        ig_value *sign = k_const_vector(&b, IG_DT_i32, 4, (double)INT32_MIN);
        ig_value *turned = k_binary(&b, IG_OP_xor, bits, sign);
        k_store(&b, k_reinterpret(&b, turned, IG_DT_f32), args[1], zero);
        ig_make_ret(&b, NULL, 0);
        float in[5] = { 9, 1, -2, 3, -4 }, out[4] = { 0 };
        void *const pointers[] = { in, out };
        cpu_case_run(&c, kernel, pointers, NULL, 1);
        for (int k = 0; k < 4; k++) {
            CHECK(out[k] == -in[k + 1]);
        }
        cpu_case_close(&c);
    }
}

/* ---- the table ---- */

/* On purpose without an emitter: GPU ops, and what passes/lower/math/ replaces. */
static const ig_opcode absent[] = { IG_OP_thread, IG_OP_barrier, IG_OP_shared,
                                    IG_OP_mma,    IG_OP_swap,    IG_OP_exp,
                                    IG_OP_log,    IG_OP_sin,     IG_OP_cos,
                                    IG_OP_tanh,   IG_OP_erf,     IG_OP_sigmoid,
                                    IG_OP_yield,  IG_OP_ret };

TEST(every_kernel_op_has_an_emitter) {
    for (uint32_t code = 0; code < IG_OP_COUNT; code++) {
        bool is_absent = false;
        for (size_t i = 0; i < IG_COUNT_OF(absent); i++) {
            is_absent |= absent[i] == code;
        }
        bool is_wanted = (ig_ops[code].stages & IG_STAGE_KERNEL) && !is_absent;
        CHECK_MSG(is_wanted == (ig_cpu_rows[code].emit != NULL), "%s",
                  ig_ops[code].name);
    }
}

TEST(an_op_without_an_emitter_is_named) {
    cpu_case c;
    cpu_case_open(&c, "v2");
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "stray", NULL, 0, 0, &b);
    ig_op_spec spec = { 0 };
    ig_make_op(&b, IG_OP_barrier, &spec);
    ig_make_ret(&b, NULL, 0);
    ig_compiled_kernel compiled = { 0 };
    CHECK_STATUS(c.backend->compile(c.state, kernel, false, &c.arena, &compiled),
                 IG_INTERNAL);
    CHECK(strstr(c.last, "kernel 'stray': barrier:") != NULL);
    c.context.limits.kernel_ops = 1;
    CHECK_STATUS(c.backend->compile(c.state, kernel, false, &c.arena, &compiled),
                 IG_LIMIT);
    CHECK(strstr(c.last, "'stray' of 2 ops exceeds limit kernel_ops (1)") != NULL);
    cpu_case_close(&c);
    CHECK(ig_provider_llvm("another build") == NULL);
}

/* A thread's own context, module and backend; the bytes of one kernel, made many
 * times. */
static void *compile_often(void *unused) {
    (void)unused;
    cpu_case c;
    ig_compiled_kernel compiled = { 0 };
    uint64_t hash = 0;
    for (int i = 0; i < 10; i++) {
        cpu_case_open(&c, levels[i % 4]);
        ig_graph *kernel = build_lanes(&c, IG_DT_f32);
        if (c.backend->compile(c.state, kernel, false, &c.arena, &compiled) == IG_OK) {
            hash = ig_hash_bytes(compiled.bytes, compiled.size, hash);
        }
        cpu_case_close(&c);
    }
    uint64_t *out = malloc(sizeof(*out));
    *out = hash;
    return out;
}

TEST(threads_compile_at_once_and_alike) {
    pthread_t threads[3];
    uint64_t first = 0;
    for (size_t i = 0; i < IG_COUNT_OF(threads); i++) {
        CHECK_INT(pthread_create(&threads[i], NULL, compile_often, NULL), 0);
    }
    for (size_t i = 0; i < IG_COUNT_OF(threads); i++) {
        void *result = NULL;
        CHECK_INT(pthread_join(threads[i], &result), 0);
        uint64_t hash = *(uint64_t *)result;
        free(result);
        first = i == 0 ? hash : first;
        CHECK(hash != 0 && hash == first);
    }
}

/* Wherever the budget ends, the backend unwinds, can be used again and closes without a
 * leak (found by the sanitizers). */
TEST(memory_that_runs_out_unwinds) {
    cpu_case c;
    cpu_case_open(&c, "v2");
    ig_graph *kernel = build_sums(&c, 4);
    ig_compiled_kernel compiled = { 0 };
    ig_budget *budget = &c.context.budget;
    size_t used = budget->used;
    volatile int unwound = 0;
    for (volatile size_t more = 1; more < 400000; more += 9001) {
        jmp_buf recovery;
        budget->recovery = &recovery;
        budget->limit = used + more;
        if (setjmp(recovery) == 0) {
            CHECK_OK(c.backend->compile(c.state, kernel, false, &c.arena, &compiled));
        } else {
            unwound = unwound + 1;
        }
        budget->limit = 0;
    }
    CHECK(unwound > 0);
    budget->recovery = NULL;
    CHECK_OK(c.backend->compile(c.state, kernel, false, &c.arena, &compiled));
    cpu_case_close(&c);
}

UNIT_SUITE(cpu_flow, threads_compile_at_once_and_alike,
           loops_carry_values_whatever_the_unrolling, tiles_loops_and_branches_nest,
           lanes_are_reduced_by_halves, any_of_some_lanes,
           lanes_are_gathered_extracted_and_shuffled, bits_are_seen_as_other_types,
           every_kernel_op_has_an_emitter, memory_that_runs_out_unwinds,
           an_op_without_an_emitter_is_named)
