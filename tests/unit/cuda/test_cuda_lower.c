/* The GPU's schedules, run by the interpreter of kernel form with all threads of a
 * block in lockstep and races checked, against the interpreter of the tensor graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_case.h"

#include <math.h>

/* ---- gemm ---- */

static void check_gemm(int64_t m, int64_t k, int64_t n, const char *epilogue) {
    cuda_check_gemm(cuda_run_interpreter, (int64_t[]){ m, k, n }, epilogue);
}

TEST(gemm_of_odd_rows) {
    static const int64_t rows[] = { 0, 1, 15, 17, 63, 64, 65 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check_gemm(rows[i], 5, 24, "relu %1");
    }
}
END_TEST

TEST(gemm_of_odd_columns) {
    static const int64_t columns[] = { 8, 16, 17, 63, 64, 65, 130 };
    for (size_t i = 0; i < IG_COUNT_OF(columns); i++) {
        check_gemm(3, 7, columns[i], "mul %1, %r");
    }
}
END_TEST

TEST(gemm_of_odd_depths) {
    static const int64_t depths[] = { 1, 15, 16, 17, 33 };
    for (size_t i = 0; i < IG_COUNT_OF(depths); i++) {
        check_gemm(5, depths[i], 20, "relu %1");
    }
}
END_TEST

TEST(gemm_of_several_tiles) {
    check_gemm(130, 9, 70, "relu %1");
}
END_TEST

TEST(gemm_with_a_long_epilogue) {
    check_gemm(17, 9, 24, "sigmoid %1");
    check_gemm(3, 9, 32, "tanh %1");
}
END_TEST

/* ---- fragments ---- */

TEST(fragments_of_odd_sizes) {
    static const char *const dtypes[] = { "bf16", "f16", "f32" };
    static const int64_t sizes[][3] = {
        { 0, 5, 24 },   { 1, 1, 8 },    { 3, 7, 17 },    { 15, 16, 63 },
        { 64, 32, 64 }, { 65, 33, 65 }, { 17, 70, 130 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        for (size_t k = 0; k < IG_COUNT_OF(sizes); k++) {
            cuda_check_fragments(cuda_run_interpreter, sizes[k], dtypes[i]);
        }
    }
}
END_TEST

/* The launch's kernel, lowered for `target`. */
static const ig_graph *lower_product(cuda_case *c, const char *target, bool tf32,
                                     const char *text) {
    cuda_case_open(c, target, text, (int64_t[]){ 3 }, 10);
    c->tf32 = tf32;
    cuda_case_lower(c);
    return c->launches[c->launch_count - 1].kernel;
}

static bool has_mma(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        bool is_inside = op->code == IG_OP_mma;
        for (uint32_t i = 0; i < op->body_count; i++) {
            is_inside |= has_mma(op->bodies[i]);
        }
        if (is_inside) {
            return true;
        }
    }
    return false;
}

#define PRODUCT(x, w)                                                           \
    "module @t {\n  weight @w : " w "[4, 8] = splat(0.5)\n  graph @main(%x: " x \
    "[B, 4]) -> (f32[B, 8] \"y\") {\n    %0 = cast %x {to = f32}\n"             \
    "    %1 = cast @w {to = f32}\n    %2 = matmul %0, %1\n    ret %2\n  }\n}\n"

/* f32 stays exact unless the caller says otherwise, and factors of two types too. */
TEST(who_gets_fragments) {
    static const struct {
        const char *target, *text;
        bool tf32, is_wanted;
    } cases[] = {
        { "cuda:sm_80", PRODUCT("bf16", "bf16"), false, true },
        { "cuda:sm_90a", PRODUCT("f16", "f16"), false, true },
        { "cuda:sm_75", PRODUCT("bf16", "bf16"), false, false },
        { "cuda:sm_80", PRODUCT("bf16", "f16"), false, false },
        { "cuda:sm_80", PRODUCT("f32", "bf16"), true, false },
        { "cuda:sm_80", PRODUCT("f32", "f32"), false, false },
        { "cuda:sm_80", PRODUCT("f32", "f32"), true, true },
        { "cuda:sm_75", PRODUCT("f32", "f32"), true, false },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        cuda_case c;
        const ig_graph *kernel = lower_product(&c, cases[i].target, cases[i].tf32,
                                               cases[i].text);
        CHECK_MSG(has_mma(&kernel->body) == cases[i].is_wanted, "case %zu", i);
        cuda_case_run(&c, cuda_run_interpreter);
        cuda_case_compare(&c, 1e-3);
        cuda_case_close(&c);
    }
}
END_TEST

/* Rounding to tf32 is to the nearest; what is no number stays none. */
TEST(factors_that_tf32_lacks) {
    static const struct {
        uint32_t x, factor;
    } cases[] = {
        { 0x3f800fff, 0x3f800000 }, { 0x3f801000, 0x3f802000 },
        { 0xbf803000, 0xbf804000 }, { 0x7f7fffff, 0x7f800000 },
        { 0x7f800000, 0x7f800000 }, { 0xff800000, 0xff800000 },
        { 0x00000001, 0x00000000 }, { 0x7fffffff, 0x7fffffff },
        { 0x7f800001, 0x7fc00001 }, { 0x80000000, 0x00000000 },
    };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        cuda_case c;
        const char *text = "module @t {\n  weight @w : f32[1, 8] = splat(1)\n"
                           "  graph @main(%x: f32[B, 1]) -> (f32[B, 8] \"y\") {\n"
                           "    %0 = matmul %x, @w\n    ret %0\n  }\n}\n";
        cuda_case_open(&c, "cuda:sm_80", text, (int64_t[]){ 1 }, 10);
        c.tf32 = true;
        memcpy(c.inputs[0].data, &cases[i].x, sizeof(float));
        cuda_case_lower(&c);
        cuda_case_run(&c, cuda_run_interpreter);
        float want, is;
        memcpy(&want, &cases[i].factor, sizeof want);
        memcpy(&is, c.got[0].data, sizeof is);
        bool is_same = want == is || (isnan(want) && isnan(is));
        CHECK_MSG(is_same, "case %zu: %.9g, not %.9g", i, (double)is, (double)want);
        cuda_case_close(&c);
    }
}
END_TEST

/* ---- one text a case ---- */

static void check(const char *text, const int64_t *extents, int64_t bound) {
    cuda_case_check(&(cuda_text){ text, extents, bound, NULL, false },
                    cuda_run_interpreter);
}

TEST(dot_of_odd_sizes) {
    static const int64_t rows[] = { 0, 1, 7, 9 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check("module @t {\n"
              "  graph @main(%x: f32[B, 37], %w: f32[3, 37]) -> (f32[B, 3] \"y\") {\n"
              "    %0 = matmul %x, %w {transpose_b} : f32[B, 3]\n"
              "    %1 = sigmoid %0 : f32[B, 3]\n    ret %1\n  }\n}\n",
              &rows[i], 10);
    }
}
END_TEST

TEST(dot_of_batches_and_dtypes) {
    int64_t extents[] = { 2, 5 };
    check(
        "module @t {\n"
        "  graph @main(%x: f32[B, 3, 4, M], %w: f32[3, M, 5]) -> (f32[B, 3, 4, 5] \"y\") {\n"
        "    %0 = matmul %x, %w : f32[B, 3, 4, 5]\n    ret %0\n  }\n}\n",
        extents, 10);
    check("module @t {\n"
          "  graph @main(%x: i32[B, M], %w: i32[M, 6]) -> (i32[B, 6] \"y\") {\n"
          "    %0 = matmul %x, %w : i32[B, 6]\n    ret %0\n  }\n}\n",
          extents, 1000000);
    check("module @t {\n"
          "  graph @main(%x: f64[M, B], %w: f64[M, 6]) -> (f64[B, 6] \"y\") {\n"
          "    %0 = matmul %x, %w {transpose_a} : f64[B, 6]\n    ret %0\n  }\n}\n",
          (int64_t[]){ 40, 3 }, 10);
}
END_TEST

TEST(elementwise_with_broadcast) {
    static const int64_t rows[] = { 0, 1, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        check(
            "module @t {\n"
            "  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[B, 1]) -> (f32[B, 7] \"y\") {\n"
            "    %0 = mul %x, %y : f32[B, 7]\n    %1 = sub %0, %z : f32[B, 7]\n"
            "    %2 = exp %1 : f32[B, 7]\n    ret %2\n  }\n}\n",
            &rows[i], 10);
    }
}
END_TEST

TEST(elementwise_on_other_dtypes) {
    int64_t extents[] = { 33 };
    check("module @t {\n"
          "  graph @main(%x: i64[B], %y: i64[B]) -> (bool[B] \"a\", i64[B] \"b\") {\n"
          "    %0 = lt %x, %y : bool[B]\n    %1 = where %0, %x, %y : i64[B]\n"
          "    %2 = mul %1, %y : i64[B]\n    ret %0, %2\n  }\n}\n",
          extents, 100);
    check("module @t {\n"
          "  graph @main(%x: f32[B]) -> (i32[B] \"a\", f16[B] \"b\") {\n"
          "    %0 = cast %x {to = f16} : f16[B]\n    %1 = add %0, %0 : f16[B]\n"
          "    %2 = cast %x {to = i32} : i32[B]\n    ret %2, %1\n  }\n}\n",
          extents, 100);
}
END_TEST

TEST(copies_of_strided_windows) {
    int64_t extents[] = { 5 };
    check(
        "module @t {\n"
        "  graph @main(%x: f32[B, 3, 4]) -> (f32[4, B, 3] \"y\", f32[2, 3, 4] \"z\") {\n"
        "    %0 = transpose %x {perm = [2, 0, 1]} : f32[4, B, 3]\n"
        "    %1 = slice %x {starts = [1, 0, 0], sizes = [2, 3, 4], steps = [2, 1, 1]} : f32[2, 3, 4]\n    ret %0, %1\n  }\n}\n",
        extents, 10);
}
END_TEST

/* Rows of 16 bytes and of others, whole ones and parts of longer ones, of one
 * element. */
static const char *const gather_texts[] = {
    "module @t {\n  graph @main(%x: f32[7, 8], %i: i64[B, 2]) -> (f32[B, 2, 8]) {\n"
    "    %0 = gather %x, %i {axis = 0} : f32[B, 2, 8]\n    ret %0\n  }\n}\n",
    "module @t {\n  graph @main(%x: f32[7, 6], %i: i64[B]) -> (f32[B, 4]) {\n"
    "    %0 = slice %x {starts = [0, 1], sizes = [7, 4], steps = [1, 1]} : f32[7, 4]\n"
    "    %1 = gather %0, %i {axis = 0} : f32[B, 4]\n    ret %1\n  }\n}\n",
    "module @t {\n  graph @main(%x: f16[3, 7, 5, 8], %i: i64[B]) -> (f16[3, B, 5, 8]) {\n"
    "    %0 = gather %x, %i {axis = 1} : f16[3, B, 5, 8]\n    ret %0\n  }\n}\n",
    "module @t {\n  graph @main(%x: f64[2, 7], %i: i64[2, B]) -> (f64[2, B]) {\n"
    "    %0 = gather_elements %x, %i {axis = 1} : f64[2, B]\n    ret %0\n  }\n}\n",
    "module @t {\n  graph @main(%x: bool[7, 7, 4], %i: i64[B, 2]) -> (bool[B, 4]) {\n"
    "    %0 = gather_nd %x, %i : bool[B, 4]\n    ret %0\n  }\n}\n",
    "module @t {\n  graph @main(%x: f32[4, 7], %i: i64[B]) -> (f32[B, 4]) {\n"
    "    %0 = transpose %x {perm = [1, 0]} : f32[7, 4]\n"
    "    %1 = gather %0, %i {axis = 0} : f32[B, 4]\n    ret %1\n  }\n}\n",
};

TEST(gathers_by_pieces) {
    static const int64_t rows[] = { 0, 1, 130 };
    for (size_t i = 0; i < IG_COUNT_OF(gather_texts); i++) {
        for (size_t k = 0; k < IG_COUNT_OF(rows); k++) {
            check(gather_texts[i], &rows[k], 7);
        }
    }
}
END_TEST

TEST(gathers_and_reductions) {
    int64_t extents[] = { 9 };
    check(
        "module @t {\n"
        "  graph @main(%x: f32[B, 6], %i: i64[4]) -> (f32[4, 6] \"y\", f32[B] \"z\") {\n"
        "    %0 = gather %x, %i {axis = 0} : f32[4, 6]\n"
        "    %1 = reduce %x {op = sum, axes = [1]} : f32[B]\n"
        "    ret %0, %1\n  }\n}\n",
        extents, 9);
}
END_TEST

TEST(softmax_and_norm) {
    int64_t extents[] = { 3 };
    check(
        "module @t {\n"
        "  graph @main(%x: f32[B, 19], %s: f32[19]) -> (f32[B, 19], f32[B, 19], f32[B, 19]) {\n"
        "    %0 = softmax %x {axis = 1} : f32[B, 19]\n"
        "    %1 = softmax %x {axis = 1, log} : f32[B, 19]\n"
        "    %2 = layer_norm %x, %s {axis = 1, epsilon = 1e-5} : f32[B, 19]\n"
        "    ret %0, %1, %2\n  }\n}\n",
        extents, 9);
}
END_TEST

/* A team of threads goes over lines of 16 elements and more: of fewer than it has
 * threads, of as many, of one more. */
TEST(lines_of_every_length) {
    static const int lengths[] = { 0, 1, 15, 16, 31, 32, 33, 100, 256, 257, 600 };
    static const char text[] =
        "module @t {\n"
        "  graph @main(%%x: f32[B, %d], %%s: f32[%d]) -> (f32[B, %d], f32[B, %d], f32[B, %d], f32[B], f32[B], f32[B], f32[B, 1], f16[B]) {\n"
        "    %%0 = softmax %%x {axis = 1} : f32[B, %d]\n"
        "    %%1 = softmax %%x {axis = 1, log, empty_zero} : f32[B, %d]\n"
        "    %%2 = layer_norm %%x, %%s {axis = 1, epsilon = 1e-5} : f32[B, %d]\n"
        "    %%3 = reduce %%x {op = logsumexp, axes = [1]} : f32[B]\n"
        "    %%4 = reduce %%x {op = max, axes = [1]} : f32[B]\n"
        "    %%5 = reduce %%x {op = mean, axes = [1]} : f32[B]\n"
        "    %%6 = reduce %%x {op = l2, axes = [1], keep} : f32[B, 1]\n"
        "    %%7 = cast %%x {to = f16} : f16[B, %d]\n"
        "    %%8 = reduce %%7 {op = sum, axes = [1]} : f16[B]\n"
        "    %%9 = add %%2, %%x : f32[B, %d]\n"
        "    ret %%0, %%1, %%9, %%3, %%4, %%5, %%6, %%8\n  }\n}\n";
    for (size_t i = 0; i < IG_COUNT_OF(lengths); i++) {
        char model[2048];
        int n = lengths[i];
        snprintf(model, sizeof model, text, n, n, n, n, n, n, n, n, n, n);
        check(model, (int64_t[]){ 3 }, 9);
        check(model, (int64_t[]){ 0 }, 9);
    }
}
END_TEST

/* Lengths that only the run knows, and several axes. */
TEST(lines_of_unknown_length) {
    for (int64_t n = 0; n < 150; n += 37) {
        check(
            "module @t {\n"
            "  graph @main(%x: f32[B, 3, N], %i: i32[B, N]) -> (f32[B, 3, N], f32[B], f32[3], i32[B], f32[B, 3, N]) {\n"
            "    %0 = softmax %x {axis = -1} : f32[B, 3, N]\n"
            "    %1 = reduce %x {op = sum, axes = [1, 2]} : f32[B]\n"
            "    %2 = reduce %x {op = sum, axes = [0, 2]} : f32[3]\n"
            "    %3 = reduce %i {op = min, axes = [1]} : i32[B]\n"
            "    %4 = layer_norm %x {axis = 1, epsilon = 1e-5, rms} : f32[B, 3, N]\n"
            "    ret %0, %1, %2, %3, %4\n  }\n}\n",
            (int64_t[]){ 2, n }, 9);
    }
}
END_TEST

TEST(pads_and_running_sums) {
    int64_t extents[] = { 5 };
    check("module @t {\n"
          "  graph @main(%x: f32[B, 4]) -> (f32[B, 7], f32[B, 4]) {\n"
          "    %0 = pad %x {before = [0, 1], after = [0, 2]} : f32[B, 7]\n"
          "    %1 = cumsum %x {axis = 1} : f32[B, 4]\n"
          "    ret %0, %1\n  }\n}\n",
          extents, 5);
}
END_TEST

/* Two trees of one step, whose leaves go to the first and the last target. */
static void check_forest(int64_t rows, int64_t targets) {
    int64_t extents[] = { rows };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    const char *text = ig_arena_printf(
        &arena,
        "module @t {\n"
        "  weight @t : f32[6] = [0.5, -0.25, 0, 0, 0, 0]\n"
        "  weight @n : i64[6] = [8589934592, 17179869185, 0, 0, 0, 0]\n"
        "  weight @s : i64[2, 2] = [1, 0, 1, %lld]\n"
        "  weight @l : i32[6] = [0, 0, 0, 1, 2, 3]\n"
        "  weight @w : f32[4, 1] = [1, 2, 4, 0.5]\n"
        "  graph @main(%%x: f32[B, 2]) -> (f32[B, %lld]) {\n"
        "    %%0 = forest %%x, @t, @n, @s, @l, @w {targets = %lld} : f32[B, %lld]\n"
        "    ret %%0\n  }\n}\n",
        (long long)targets - 1, (long long)targets, (long long)targets,
        (long long)targets);
    check(text, extents, 5);
    ig_arena_fini(&arena);
}

/* Sums are in shared memory, as far as that suffices for the threads of a block. */
TEST(forests_of_few_and_many_targets) {
    check_forest(70, 1);
    check_forest(70, 3);
    check_forest(0, 3);
    check_forest(5, 96);
    check_forest(5, 97);
}
END_TEST

TEST(pools_with_epilogues) {
    int64_t extents[] = { 2 };
    check(
        "module @t {\n"
        "  graph @main(%x: f32[B, 3, 9], %c: f32[3, 1]) -> (f32[B, 3, 4], i32[B, 3, 4]) "
        "{\n"
        "    %0 = pool %x {kernel = [2], strides = [2], op = sum} : f32[B, 3, 4]\n"
        "    %1 = mul %0, %c : f32[B, 3, 4]\n"
        "    %2 = pool_indices %x {kernel = [2], strides = [2]} : i64[B, 3, 4]\n"
        "    %3 = cast %2 {to = i32} : i32[B, 3, 4]\n"
        "    ret %1, %3\n  }\n}\n",
        extents, 5);
}
END_TEST

/* ---- bags ---- */

static void check_bag(cuda_bag bag) {
    cuda_check_bag(cuda_run_interpreter, bag);
}

TEST(bags_of_every_dim) {
    static const int64_t dims[] = { 1, 3, 64, 100, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(dims); i++) {
        check_bag((cuda_bag){ 11, dims[i], 40, 9, "operands = [1], pool = [sum]" });
    }
}
END_TEST

TEST(no_bags_one_bag_empty_bags) {
    check_bag((cuda_bag){ 11, 24, 0, 0, "operands = [1], pool = [sum]" });
    check_bag((cuda_bag){ 11, 24, 5, 1, "operands = [1], pool = [sum]" });
    check_bag((cuda_bag){ 11, 24, 0, 7, "operands = [1], pool = [sum]" });
}
END_TEST

TEST(means_maxima_and_padding) {
    check_bag(
        (cuda_bag){ 11, 24, 40, 9, "operands = [1], pool = [mean], empty = [nan]" });
    check_bag(
        (cuda_bag){ 11, 24, 40, 9, "operands = [1], pool = [max], empty = [neg_inf]" });
    check_bag(
        (cuda_bag){ 5, 24, 40, 9, "operands = [1], pool = [mean], padding = [3]" });
}
END_TEST

TEST(tables_of_every_format) {
    cuda_check_tables(cuda_run_interpreter);
}
END_TEST

TEST(tables_of_different_dims_in_one_launch) {
    cuda_case_check(
        &(cuda_text){
            "module @t {\n  weight @t0 : f32[7, 16] = splat(0.5)\n"
            "  weight @t1 : f32[9, 16] = splat(0.25)\n"
            "  weight @t2 : f32[5, 40] = splat(2)\n"
            "  graph @main(%a: i64[N], %ao: i64[B], %b: i64[M], %bo: i64[B], %c: i64[K], %co: i64[B]) -> (f32[B, 72] \"y\") {\n"
            "    %0, %1, %2 = bag @t0, %a, %ao, @t1, %b, %bo, @t2, %c, %co {operands = [1, 1, 1], pool = [sum, sum, mean]} : f32[B, 16], f32[B, 16], f32[B, 40]\n"
            "    %3 = concat %1, %0, %2 {axis = 1} : f32[B, 72]\n"
            "    ret %3\n  }\n}\n",
            (int64_t[]){ 33, 11, 50, 2 }, 5, cuda_set_offsets, false },
        cuda_run_interpreter);
}
END_TEST

TEST(an_id_out_of_range_is_reported) {
    cuda_case c;
    int64_t extents[] = { 6, 2 };
    cuda_case_open(
        &c, "cuda:sm_90a",
        "module @t {\n  weight @t : f32[4, 2] = splat(1)\n"
        "  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2] \"y\") {\n"
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum], negative = error} : f32[B, 2]\n    ret %0\n  }\n}\n",
        extents, 4);
    cuda_set_offsets(&c);
    cuda_case_lower(&c);
    ig_tensor_set_i64(&c.inputs[0], 4, 9);
    ig_tensor_set_i64(&c.inputs[0], 5, -1);
    cuda_case_run(&c, cuda_run_interpreter);
    CHECK_INT(c.report.operand, 1);
    CHECK_INT(c.report.position, 4);
    CHECK_INT(c.report.value, 9);
    cuda_case_close(&c);
}
END_TEST

/* ---- interaction ---- */

TEST(interactions) {
    cuda_check_interaction(cuda_run_interpreter, 3, 27, 16);
    cuda_check_interaction(cuda_run_interpreter, 2, 4, 5);
    cuda_check_interaction(cuda_run_interpreter, 1, 2, 1);
    cuda_check_interaction(cuda_run_interpreter, 0, 9, 16);
}
END_TEST

/* More than the shared memory of a block. */
TEST(an_interaction_of_large_samples) {
    cuda_check_interaction(cuda_run_interpreter, 2, 13, 1000);
}
END_TEST

UNIT_SUITE(cuda_lower, gemm_of_odd_rows, gemm_of_odd_columns, gemm_of_odd_depths,
           gemm_of_several_tiles, gemm_with_a_long_epilogue, fragments_of_odd_sizes,
           who_gets_fragments, factors_that_tf32_lacks, dot_of_odd_sizes,
           dot_of_batches_and_dtypes, elementwise_with_broadcast,
           elementwise_on_other_dtypes, copies_of_strided_windows, gathers_by_pieces,
           gathers_and_reductions, softmax_and_norm, lines_of_every_length,
           lines_of_unknown_length, pads_and_running_sums, pools_with_epilogues,
           forests_of_few_and_many_targets, bags_of_every_dim,
           no_bags_one_bag_empty_bags, means_maxima_and_padding, tables_of_every_format,
           tables_of_different_dims_in_one_launch, an_id_out_of_range_is_reported,
           interactions, an_interaction_of_large_samples)
