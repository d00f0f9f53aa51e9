/* The emitted CUDA text itself, compiled and run by the stand-ins for NVRTC and the
 * driver through runtime/cuda: each launch against the interpreter of kernel form, and
 * all of them against that of the tensor graph.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_gpu.h"

static void check(const char *text, const int64_t *extents, int64_t bound) {
    cuda_case_check(&(cuda_text){ text, extents, bound, NULL, false },
                    cuda_run_checked);
}

/* ---- templates ---- */

TEST(gemm) {
    if (cuda_open_stand_ins()) {
        cuda_check_gemm(cuda_run_checked, (int64_t[]){ 70, 35, 67 }, "relu %1");
        cuda_check_gemm(cuda_run_checked, (int64_t[]){ 1, 16, 130 }, "mul %1, %r");
    }
}
END_TEST

TEST(gemm_with_a_long_epilogue) {
    if (cuda_open_stand_ins()) {
        cuda_check_gemm(cuda_run_checked, (int64_t[]){ 17, 9, 24 }, "sigmoid %1");
    }
}
END_TEST

TEST(no_rows) {
    if (cuda_open_stand_ins()) {
        cuda_check_gemm(cuda_run_checked, (int64_t[]){ 0, 9, 24 }, "relu %1");
    }
}
END_TEST

TEST(fragments) {
    static const char *const dtypes[] = { "bf16", "f16", "f32" };
    for (size_t i = 0; i < IG_COUNT_OF(dtypes) && cuda_open_stand_ins(); i++) {
        cuda_check_fragments(cuda_run_checked, (int64_t[]){ 70, 75, 67 }, dtypes[i]);
        cuda_check_fragments(cuda_run_checked, (int64_t[]){ 1, 16, 8 }, dtypes[i]);
    }
}
END_TEST

TEST(dot) {
    if (cuda_open_stand_ins()) {
        check("module @t {\n"
              "  graph @main(%x: f32[B, 37], %w: f32[3, 37]) -> (f32[B, 3] \"y\") {\n"
              "    %0 = matmul %x, %w {transpose_b} : f32[B, 3]\n"
              "    %1 = tanh %0 : f32[B, 3]\n    ret %1\n  }\n}\n",
              (int64_t[]){ 9 }, 10);
    }
}
END_TEST

TEST(bags) {
    if (cuda_open_stand_ins()) {
        cuda_check_bag(cuda_run_checked,
                       (cuda_bag){ 11, 64, 40, 19, "operands = [1], pool = [sum]" });
        cuda_check_bag(
            cuda_run_checked,
            (cuda_bag){
                5, 3, 40, 9,
                "operands = [1], pool = [mean], padding = [3], empty = [nan]" });
    }
}
END_TEST

TEST(tables_of_every_format) {
    if (cuda_open_stand_ins()) {
        cuda_check_tables(cuda_run_checked);
    }
}
END_TEST

TEST(interaction) {
    if (cuda_open_stand_ins()) {
        cuda_check_interaction(cuda_run_checked, 3, 27, 64);
    }
}
END_TEST

/* Rows begin at 16 bytes; between them; a team's line. */
TEST(gathers_and_lines) {
    if (cuda_open_stand_ins()) {
        check(
            "module @t {\n"
            "  graph @main(%x: f32[7, 8], %z: f32[7, 6], %i: i64[B]) -> (f32[B, 8], f32[B, 4], f32[B]) {\n"
            "    %0 = gather %x, %i {axis = 0} : f32[B, 8]\n"
            "    %1 = slice %z {starts = [0, 1], sizes = [7, 4], steps = [1, 1]} : f32[7, 4]\n"
            "    %2 = gather %1, %i {axis = 0} : f32[B, 4]\n"
            "    %3 = concat %0, %0, %0 {axis = 1} : f32[B, 24]\n"
            "    %4 = reduce %3 {op = sum, axes = [1]} : f32[B]\n"
            "    ret %0, %2, %4\n  }\n}\n",
            (int64_t[]){ 37 }, 7);
    }
}
END_TEST

TEST(elementwise) {
    if (cuda_open_stand_ins()) {
        check(
            "module @t {\n"
            "  graph @main(%x: f32[B, 7], %y: f32[7], %z: f32[B, 1]) -> (f32[B, 7] \"y\", f32[7, B] \"t\") {\n"
            "    %0 = mul %x, %y : f32[B, 7]\n    %1 = sub %0, %z : f32[B, 7]\n"
            "    %2 = exp %1 : f32[B, 7]\n    %3 = erf %2 : f32[B, 7]\n"
            "    %4 = transpose %x {perm = [1, 0]} : f32[7, B]\n"
            "    ret %3, %4\n  }\n}\n",
            (int64_t[]){ 300 }, 10);
    }
}
END_TEST

/* Casts of `x`, computed by `statements`, to every dtype: values that saturate, wrap
 * and round. */
static void check_casts(const char *arguments, const char *statements) {
    static const char *const dtypes[] = { "bool", "i8",  "i16", "i32",  "i64", "u8",
                                          "u16",  "u32", "u64", "bf16", "f16", "f32" };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer body, types, values;
    ig_writer_init(&body, &arena);
    ig_writer_init(&types, &arena);
    ig_writer_init(&values, &arena);
    for (size_t i = 0; i < IG_COUNT_OF(dtypes); i++) {
        ig_put(&body, "    %%c%zu = cast %%x {to = %s} : %s[B]\n", i, dtypes[i],
               dtypes[i]);
        ig_put(&types, "%s%s[B]", i ? ", " : "", dtypes[i]);
        ig_put(&values, "%s%%c%zu", i ? ", " : "", i);
    }
    check(ig_arena_printf(
              &arena,
              "module @t {\n  graph @main(%s) -> (%s) {\n%s%s    ret %s\n  }\n}\n",
              arguments, types.data, statements, body.data, values.data),
          (int64_t[]){ 700 }, 1 << 30);
    ig_arena_fini(&arena);
}

TEST(casts_of_floats) {
    if (cuda_open_stand_ins()) {
        check_casts("%y: f32[B], %z: f32[B]", "    %a = mul %y, %y : f32[B]\n"
                                              "    %x = div %z, %a : f32[B]\n");
        check_casts("%y: f64[B], %z: f64[B]", "    %a = mul %y, %y : f64[B]\n"
                                              "    %x = div %z, %a : f64[B]\n");
    }
}
END_TEST

TEST(casts_of_integers) {
    if (cuda_open_stand_ins()) {
        check_casts("%y: i64[B], %z: i64[B]", "    %a = mul %y, %z : i64[B]\n"
                                              "    %x = sub %z, %a : i64[B]\n");
        check_casts("%y: i16[B], %z: i16[B]", "    %x = mul %z, %y : i16[B]\n");
        check_casts("%x: u8[B]", "");
    }
}
END_TEST

TEST(integers) {
    if (cuda_open_stand_ins()) {
        check(
            "module @t {\n"
            "  graph @main(%x: i32[B], %y: i32[B]) -> (i32[B], i32[B], i32[B], i32[B], i32[B], i32[B]) {\n"
            "    %m = mul %x, %y : i32[B]\n    %a = sub %m, %x : i32[B]\n"
            "    %d = div %a, %y : i32[B]\n    %r = mod %a, %y : i32[B]\n"
            "    %l = shl %a, %y : i32[B]\n    %n = abs %a : i32[B]\n"
            "    ret %m, %d, %r, %l, %n, %a\n  }\n}\n",
            (int64_t[]){ 100 }, 1000000000);
    }
}
END_TEST

/* All templates together, on one plan. */
TEST(a_whole_dlrm) {
    if (cuda_open_stand_ins()) {
        cuda_check_model(cuda_run_gpu, "dlrm_onehot", 5);
    }
}
END_TEST

TEST(an_id_out_of_range_is_reported) {
    if (!cuda_open_stand_ins()) {
        return;
    }
    cuda_case c;
    int64_t extents[] = { 60, 20 };
    cuda_case_open(
        &c, "cuda:sm_90a",
        "module @t {\n  weight @t : f32[4, 32] = splat(1)\n"
        "  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 32]) {\n"
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum], negative = error} : f32[B, 32]\n    ret %0\n  }\n}\n",
        extents, 4);
    cuda_set_offsets(&c);
    cuda_case_lower(&c);
    ig_tensor_set_i64(&c.inputs[0], 7, 9);
    ig_tensor_set_i64(&c.inputs[0], 40, -1);
    cuda_case_run(&c, cuda_run_checked);
    CHECK_INT(c.report.operand, 1);
    CHECK_INT(c.report.position, 7);
    CHECK_INT(c.report.value, 9);
    cuda_case_close(&c);
}
END_TEST

UNIT_SUITE(cuda_host, gemm, gemm_with_a_long_epilogue, no_rows, fragments, dot, bags,
           tables_of_every_format, interaction, gathers_and_lines, a_whole_dlrm,
           elementwise, casts_of_floats, casts_of_integers, integers,
           an_id_out_of_range_is_reported)
