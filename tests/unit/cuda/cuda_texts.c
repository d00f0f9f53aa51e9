/* Texts of cases; see cuda_case.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_case.h"

static void put_weight_of(ig_writer *text, const char *name, const char *dtype,
                          int64_t rows, int64_t columns) {
    ig_put(text, "  weight @%s : %s[%lld, %lld] = [", name, dtype, (long long)rows,
           (long long)columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        ig_put(text, "%s%g", i ? ", " : "", (double)(i * 37 % 101 - 50) / 64.0);
    }
    ig_put(text, "]\n");
}

static void put_weight(ig_writer *text, const char *name, int64_t rows,
                       int64_t columns) {
    put_weight_of(text, name, "f32", rows, columns);
}

void cuda_check_gemm(cuda_run *run, const int64_t sizes[3], const char *epilogue) {
    long long k = sizes[1], n = sizes[2];
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_weight(&text, "w", k, n);
    ig_put(
        &text,
        "  graph @main(%%x: f32[B, %lld], %%b: f32[%lld], %%r: f32[B, %lld]) -> (f32[B, %lld] \"y\") {\n    %%0 = matmul %%x, @w : f32[B, %lld]\n",
        k, n, n, n, n);
    ig_put(&text,
           "    %%1 = add %%0, %%b : f32[B, %lld]\n    %%2 = %s : f32[B, %lld]\n"
           "    ret %%2\n  }\n}\n",
           n, epilogue, n);
    cuda_case_check(&(cuda_text){ text.data, sizes, 10, NULL, false }, run);
    ig_arena_fini(&arena);
}

void cuda_check_fragments(cuda_run *run, const int64_t sizes[3], const char *dtype) {
    long long k = sizes[1], n = sizes[2];
    bool is_tf32 = strcmp(dtype, "f32") == 0;
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_weight_of(&text, "w", dtype, k, n);
    ig_put(
        &text,
        "  graph @main(%%x: f32[B, %lld], %%b: f32[%lld]) -> (f32[B, %lld] \"y\") {\n",
        k, n, n);
    ig_put(&text,
           "    %%0 = cast %%x {to = %s}\n    %%1 = cast %%0 {to = f32}\n"
           "    %%2 = cast @w {to = f32}\n    %%3 = matmul %%1, %%2\n",
           dtype);
    ig_put(&text, "    %%4 = add %%3, %%b\n    %%5 = relu %%4\n    ret %%5\n  }\n}\n");
    cuda_case_check(&(cuda_text){ text.data, sizes, 10, NULL, is_tf32 }, run);
    ig_arena_fini(&arena);
}

/* Offsets of bags over `ids` ids; every third bag is empty. */
static void set_offsets(ig_tensor *offsets, int64_t ids) {
    for (int64_t b = 0; b < offsets->count; b++) {
        int64_t at = b % 3 == 2 ? ig_tensor_get_i64(offsets, b - 1)
                                : b * ids / offsets->count;
        ig_tensor_set_i64(offsets, b, at);
    }
}

void cuda_set_offsets(cuda_case *c) {
    for (uint32_t i = 0; i + 1 < c->graph->body.arg_count; i += 2) {
        set_offsets(&c->inputs[i + 1], c->inputs[i].count);
    }
}

void cuda_check_bag(cuda_run *run, cuda_bag bag) {
    int64_t extents[] = { bag.ids, bag.bags };
    long long dim = bag.dim;
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_weight(&text, "t", bag.rows, dim);
    ig_put(&text,
           "  graph @main(%%ids: i64[N], %%off: i64[B]) -> (f32[B, %lld] \"y\") {\n"
           "    %%0 = bag @t, %%ids, %%off {%s} : f32[B, %lld]\n    ret %%0\n  }\n}\n",
           dim, bag.attributes, dim);
    cuda_case_check(
        &(cuda_text){ text.data, extents, bag.rows, cuda_set_offsets, false }, run);
    ig_arena_fini(&arena);
}

static void check_table(cuda_run *run, const char *table, const char *out) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "module @t {\n  table @t : %s\n"
        "  graph @main(%%i: i64[B, 3], %%w: f32[B, 3]) -> (%s, %s) {\n"
        "    %%0, %%1 = bag @t, %%i, %%w, @t, %%i {operands = [4, 0], pool = [sum, max], empty = [zero, neg_inf]} : %s, %s\n    ret %%0, %%1\n  }\n}\n",
        table, out, out, out, out);
    cuda_case_check(&(cuda_text){ text, (int64_t[]){ 21 }, 2, NULL, false }, run);
}

void cuda_check_tables(cuda_run *run) {
    check_table(run, "f16<rowwise>[2, 2] = [1, 2, 3, 4]", "f16[B, 2]");
    check_table(run, "bf16<rowwise>[2, 1] = [1, 256]", "bf16[B, 1]");
    check_table(run, "u8<rowwise f16>[2, 2] = inline(0x0038003c00010038003c04ff)",
                "f32[B, 2]");
    check_table(
        run,
        "i8<rowwise f32>[2, 2] = inline(0x00010000003f0000803f04ff0000003f0000803f)",
        "f32[B, 2]");
}

void cuda_check_interaction(cuda_run *run, int64_t samples, int64_t rows,
                            int64_t depth) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text, pairs;
    ig_writer_init(&text, &arena);
    ig_writer_init(&pairs, &arena);
    long long count = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < i; j++) {
            ig_put(&pairs, "%s%lld", count++ ? ", " : "", (long long)(i * rows + j));
        }
    }
    ig_put(
        &text,
        "module @t {\n  graph @main(%%x: f32[B, %lld, %lld]) -> (f32[B, %lld] \"y\") {\n    %%0 = interact %%x {pairs = [%s]} : f32[B, %lld]\n"
        "    ret %%0\n  }\n}\n",
        (long long)rows, (long long)depth, count, pairs.data, count);
    cuda_case_check(&(cuda_text){ text.data, &samples, 2, NULL, false }, run);
    ig_arena_fini(&arena);
}
