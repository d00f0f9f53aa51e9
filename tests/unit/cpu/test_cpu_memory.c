/* Loads, stores, tails, stack and scratch memory, argument arrays, reports.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/cpu_case.h"

#include <unistd.h>

static const char *const levels[] = { "v2", "v3", "v4", "v4-vnni" };
#define LEVELS IG_COUNT_OF(levels)

/* ---- tails: nothing beyond `count` is touched ---- */

/* Two pages of which the second cannot be touched. */
typedef struct guarded {
    char *page, *end;
    size_t size;
} guarded;

static guarded guarded_open(void) {
    guarded g = { .size = (size_t)sysconf(_SC_PAGESIZE) };
    g.page = mmap(NULL, 2 * g.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                  -1, 0);
    CHECK(g.page != MAP_FAILED);
    g.end = g.page + g.size;
    CHECK_INT(mprotect(g.end, g.size, PROT_NONE), 0);
    return g;
}

static void guarded_close(guarded *g) {
    munmap(g->page, 2 * g->size);
}

/* out[0 .. lanes) = in[0 .. count); then tail[0 .. count) = in[0 .. count). */
static ig_graph *build_tail(cpu_case *c, ig_dtype dtype, uint32_t lanes) {
    const ig_dtype buffers[] = { dtype, dtype, dtype };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(c, "tail", buffers, 3, 1, &b);
    ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
    ig_value *x = k_load_count(&b, args[0], zero, lanes, args[3]);
    k_store(&b, x, args[1], zero);
    k_store_count(&b, x, args[2], zero, args[3]);
    ig_make_ret(&b, NULL, 0);
    return kernel;
}

static void check_tail(cpu_case *c, ig_dtype dtype, uint32_t lanes, guarded *in,
                       guarded *out) {
    size_t size = ig_dtypes[dtype].bits / 8u;
    char whole[64 * 8], expected[64 * 8];
    cpu_code code = cpu_case_compile(c, build_tail(c, dtype, lanes));
    for (int64_t count = -1; count <= (int64_t)lanes + 1; count++) {
        size_t held = (size_t)(count < 0 ? 0 : count > lanes ? lanes : count);
        memset(in->page, 1, in->size);
        memset(out->page, 0xee, out->size);
        memset(whole, 0xee, sizeof(whole));
        memset(expected, 0, sizeof(expected));
        memset(expected, 1, held * size);
        void *const buffers[] = { in->end - held * size, whole,
                                  out->end - held * size };
        ig_kernel_report_v0 report = { .operand = -1 };
        ig_kernel_call_v0 call = {
            .buffers = buffers, .params = &count, .tile_end = 1, .report = &report
        };
        cpu_code_call(&code, &call);
        CHECK_INT(memcmp(whole, expected, lanes * size), 0);
        CHECK_INT(memcmp(out->end - held * size, expected, held * size), 0);
        CHECK(out->end[-1 - (ptrdiff_t)(held * size)] == (char)0xee);
    }
    cpu_code_unmap(&code);
}

TEST(tails_touch_nothing_beyond_their_count) {
    static const ig_dtype dtypes[] = { IG_DT_bool, IG_DT_i8,   IG_DT_i16,
                                       IG_DT_f16,  IG_DT_bf16, IG_DT_i32,
                                       IG_DT_f32,  IG_DT_i64,  IG_DT_f64 };
    static const uint32_t widths[] = { 1, 4, 8, 16, 64 };
    guarded in = guarded_open(), out = guarded_open();
    for (size_t i = 0; i < LEVELS; i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        for (size_t d = 0; d < IG_COUNT_OF(dtypes); d++) {
            for (size_t w = 0; w < IG_COUNT_OF(widths); w++) {
                check_tail(&c, dtypes[d], widths[w], &in, &out);
            }
        }
        cpu_case_close(&c);
    }
    guarded_close(&in);
    guarded_close(&out);
}

/* ---- stack and scratch ---- */

TEST(local_and_scratch_memory_hold_what_was_stored) {
    for (size_t i = 0; i < LEVELS; i++) {
        cpu_case c;
        cpu_case_open(&c, levels[i]);
        static const ig_dtype buffers[] = { IG_DT_i32 };
        ig_builder b;
        ig_graph *kernel = cpu_case_kernel(&c, "memory", buffers, 1, 0, &b);
        ig_value **args = kernel->body.args, *zero = k_i64(&b, 0);
        ig_value *local = k_local(kernel, IG_DT_i32, 64);
        const ig_type *type = ig_type_buffer(c.module, IG_DT_i32, 0, NULL);
        ig_attr attrs[] = { ig_attr_of_int(128) };
        ig_op_spec spec = { .result_types = &type, .result_count = 1, .attrs = attrs };
        ig_value *scratch = &ig_make_op(&b, IG_OP_scratch, &spec)->results[0];
        k_loop loop = k_loop_open(&b, zero, k_i64(&b, 64), k_i64(&b, 1), NULL, 0);
        ig_value *number = k_cast(&loop.b, loop.index, IG_DT_i32);
        k_store(&loop.b, number, local, loop.index);
        k_store(&loop.b, k_mul(&loop.b, number, number), scratch, loop.index);
        k_loop_close(&loop, NULL, 0);
        ig_value *x = k_load(&b, local, k_i64(&b, 48), 16);
        ig_value *y = k_load(&b, scratch, zero, 16);
        k_store(&b, k_add(&b, x, y), args[0], zero);
        ig_make_ret(&b, NULL, 0);
        int32_t out[16] = { 0 };
        void *const pointers[] = { out };
        cpu_case_run(&c, kernel, pointers, NULL, 1);
        for (int32_t k = 0; k < 16; k++) {
            CHECK_INT(out[k], 48 + k + k * k);
        }
        cpu_case_close(&c);
    }
}

/* ---- arrays of arguments, addresses, prefetch ---- */

/* For k < 3: buffer 3 [k] = buffer k [param k], seen from the second param on. */
TEST(arguments_can_be_indexed) {
    cpu_case c;
    cpu_case_open(&c, "v2");
    static const ig_dtype buffers[] = { IG_DT_i64, IG_DT_i64, IG_DT_i64, IG_DT_i64 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "arrays", buffers, 4, 4, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), k_i64(&b, 3), args[4], NULL, 0);
    ig_value *buffer = k_buffer_at(&loop.b, args[0], loop.index);
    ig_value *at = k_param_at(&loop.b, args[5], loop.index);
    k_prefetch(&loop.b, buffer, k_i64(&loop.b, INT64_C(1) << 50), 1);
    ig_value *moved = k_offset(&loop.b, buffer, at);
    ig_value *x = k_load(&loop.b, moved, k_i64(&loop.b, 0), 1);
    k_store(&loop.b, x, args[3], loop.index);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    int64_t data[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
    int64_t out[3] = { 0 };
    void *const pointers[] = { data[0], data[1], data[2], out };
    int64_t params[] = { 1, 3, 0, 2 };
    cpu_case_run(&c, kernel, pointers, params, 1);
    CHECK(out[0] == 4 && out[1] == 5 && out[2] == 11);
    cpu_case_close(&c);
}

/* ---- reports ---- */

/* Reports (operand, position, value) for each of `count` rows of three numbers. */
static ig_kernel_report_v0 run_reports(const int64_t (*rows)[3], int64_t count) {
    cpu_case c;
    cpu_case_open(&c, "v2");
    static const ig_dtype buffers[] = { IG_DT_i64 };
    ig_builder b;
    ig_graph *kernel = cpu_case_kernel(&c, "report", buffers, 1, 1, &b);
    ig_value **args = kernel->body.args;
    k_loop loop = k_loop_open(&b, k_i64(&b, 0), args[1], k_i64(&b, 1), NULL, 0);
    ig_value *x[3], *start = k_mul(&loop.b, loop.index, k_i64(&loop.b, 3));
    for (int k = 0; k < 3; k++) {
        x[k] = k_load(&loop.b, args[0], k_add(&loop.b, start, k_i64(&loop.b, k)), 1);
    }
    ig_op_spec spec = { .operands = x, .operand_count = 3 };
    ig_make_op(&loop.b, IG_OP_report, &spec);
    k_loop_close(&loop, NULL, 0);
    ig_make_ret(&b, NULL, 0);
    int64_t copy[16][3];
    memcpy(copy, rows, (size_t)count * sizeof(copy[0]));
    void *const pointers[] = { copy };
    ig_kernel_report_v0 report = cpu_case_run(&c, kernel, pointers, &count, 1);
    cpu_case_close(&c);
    return report;
}

TEST(the_min_report_is_kept) {
    static const int64_t rows[][3] = { { 3, 9, 1 },  { 1, 50, 2 }, { 2, 0, 3 },
                                       { 1, 40, 4 }, { 1, 40, 5 }, { 1, 41, 6 } };
    ig_kernel_report_v0 none = run_reports(rows, 0);
    CHECK_INT(none.operand, -1);
    ig_kernel_report_v0 report = run_reports(rows, 6);
    CHECK(report.operand == 1 && report.position == 40 && report.value == 4);
    report = run_reports(rows, 1);
    CHECK(report.operand == 3 && report.position == 9 && report.value == 1);
}

UNIT_SUITE(cpu_memory, tails_touch_nothing_beyond_their_count,
           local_and_scratch_memory_hold_what_was_stored, arguments_can_be_indexed,
           the_min_report_is_kept)
