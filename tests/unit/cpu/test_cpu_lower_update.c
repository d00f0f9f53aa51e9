/* The schedules of bag_group and bag_update against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

/* Some ids are no rows, and one row has most of the places. */
static void set_ids(lower_case *c) {
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        const char *name = c->graph->arg_names[i];
        ig_tensor *ids = &c->inputs[i];
        for (int64_t k = 0; name[0] == 'i' && k < ids->count; k++) {
            int64_t id = ig_tensor_get_i64(ids, k);
            id = k % 7 == 3 ? -1 : k % 4 == 1 ? 2 : id;
            ig_tensor_set_i64(ids, k, ids->count == 1 ? 0 : id);
        }
    }
}

/* ---- bag_group ---- */

static const char groups[] =
    "module @t { graph @main(%i: i64[N], %i2: i64[M], %i3: i64[K])\n"
    "    -> (i64[N], i64[N], i64[M], i64[M], i64[K], i64[K]) {\n"
    "  %0, %1, %2, %3, %4, %5 = bag_group %i, %i2, %i3 {rows = [7, 5000, 3000000]}\n"
    "    : i64[N], i64[N], i64[M], i64[M], i64[K], i64[K]\n"
    "  ret %0, %1, %2, %3, %4, %5\n} }\n";

TEST(ids_come_in_the_order_of_rows) {
    lower_check_with(groups, (int64_t[]){ 40, 0, 3 }, 7, set_ids);
    lower_check_with(groups, (int64_t[]){ 1, 200, 7 }, 7, set_ids);
}

static void spread_ids(lower_case *c) {
    static const int64_t rows[] = { 7, 5000, 3000000 };
    for (uint32_t i = 0; i < 3; i++) {
        for (int64_t k = 0; k < c->inputs[i].count; k++) {
            int64_t id = (k * k * 7919 + 13 * k) % rows[i];
            ig_tensor_set_i64(&c->inputs[i], k, k == 5 ? rows[i] - 1 : id);
        }
    }
}

TEST(rows_of_several_digits_are_in_order) {
    lower_check_with(groups, (int64_t[]){ 50, 700, 900 }, 7, spread_ids);
}

/* Runs every launch, and keeps the last report. */
static void run_launches(lower_case *c) {
    lower_passes(c);
    ig_map_init(&c->memory, &c->cpu.arena);
    c->report.operand = -1;
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_launch) {
            lower_launch(c, op);
        }
    }
}

TEST(ids_out_of_range_are_reported) {
    lower_case c;
    lower_open(&c, "v2", groups, (int64_t[]){ 5, 2, 3 }, 7);
    ig_tensor_set_i64(&c.inputs[1], 1, 5000);
    ig_tensor_set_i64(&c.inputs[2], 0, -2);
    run_launches(&c);
    CHECK_INT(c.report.operand, 1);
    CHECK_INT(c.report.position, 1);
    CHECK_INT(c.report.value, 5000);
    lower_close(&c);
}

/* ---- bag_update ---- */

typedef struct update_text {
    const char *dtype;
    int64_t dim;
    bool has_row_state, has_bags, has_factors;
} update_text;

/* One number a row: row-wise Adagrad.  Else momentum, by a step of the row's norm. */
static void put_body(ig_writer *text, const update_text *t, const char *row,
                     const char *state) {
    const char *d = t->dtype;
    ig_put(text, "(%%w: %s, %%g: %s, %%s: %s, %%by: %s[]) {\n", row, row, state, d);
    if (t->has_row_state) {
        ig_put(
            text,
            "%%20 = mul %%g, %%g\n%%21 = reduce %%20 {op = mean, axes = [1], keep}\n"
            "%%22 = add %%s, %%21\n%%23 = sqrt %%22\n%%30 = const {value = %s[] 0.5}\n"
            "%%24 = add %%23, %%30\n%%25 = div %%by, %%24\n%%26 = mul %%25, %%g\n"
            "%%27 = sub %%w, %%26\nyield %%27, %%22\n",
            d);
        return;
    }
    ig_put(text,
           "%%20 = mul %%s, %%by\n%%21 = add %%20, %%g\n"
           "%%22 = reduce %%w {op = l2, axes = [1], keep}\n"
           "%%23 = reduce %%21 {op = max, axes = [1], keep}\n"
           "%%24 = add %%22, %%23\n%%25 = mul %%21, %%24\n"
           "%%26 = reduce %%25 {op = min, axes = [-1], keep}\n%%27 = mul %%26, %%by\n"
           "%%28 = add %%25, %%27\n%%29 = sub %%w, %%28\nyield %%29, %%21\n");
}

static void put_update(ig_writer *text, const update_text *t) {
    const char *d = t->dtype;
    long long dim = (long long)t->dim, own = t->has_row_state ? 1 : dim;
    ig_put(text, "module @t { graph @main(%%k: %s[]", d);
    for (int i = 0; i < 2; i++) {
        ig_put(text,
               ", %%w%d: %s[R%d, %lld], %%s%d: %s[R%d, %lld], %%ids%d: i64[N%d],"
               " %%d%d: %s[M%d, %lld], %%b%d: i64[N%d], %%f%d: %s[N%d]",
               i, d, i, dim, i, d, i, own, i, i, i, d, i, dim, i, i, i, d, i);
    }
    ig_put(text, ") -> (%s[R0, %lld], %s[R0, %lld], %s[R1, %lld], %s[R1, %lld]) {\n", d,
           dim, d, own, d, dim, d, own);
    ig_put(text, "%%0, %%1, %%2, %%3 = bag_group %%ids0, %%ids1 {rows = [R0, R1]}\n"
                 "%%4, %%5, %%6, %%7 = bag_update ");
    for (int i = 0; i < 2; i++) {
        ig_put(text, "%%w%d, %%s%d, %%%d, %%%d, %%d%d", i, i, 2 * i, 2 * i + 1, i);
        if (t->has_bags) {
            ig_put(text, ", %%b%d", i);
        }
        if (t->has_factors) {
            ig_put(text, ", %%f%d", i);
        }
        ig_put(text, ", ");
    }
    ig_put(text, "%%k {tables = 2, states = 1%s%s} ", t->has_bags ? ", bags" : "",
           t->has_factors ? ", factors" : "");
    char row[64], state[64];
    snprintf(row, sizeof row, "%s[1, %lld]", d, dim);
    snprintf(state, sizeof state, "%s[1, %lld]", d, own);
    put_body(text, t, row, state);
    ig_put(text,
           "} : %s[R0, %lld], %s[R0, %lld], %s[R1, %lld], %s[R1, %lld]\n"
           "ret %%4, %%5, %%6, %%7\n} }\n",
           d, dim, d, own, d, dim, d, own);
}

/* R0 N0 M0 R1 N1 M1 */
static void check_update(update_text t, const int64_t *extents, int64_t bound) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_update(&text, &t);
    lower_check_with(ig_writer_str(&text).data, extents, bound, set_ids);
    ig_arena_fini(&arena);
}

TEST(rows_of_every_dim_change) {
    static const int64_t dims[] = { 1, 3, 16, 17, 64, 100, 200, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(dims); i++) {
        int64_t extents[] = { 9, 150, 150, 5, 70, 70 };
        check_update((update_text){ "f32", dims[i], true, false, false }, extents, 5);
        check_update((update_text){ "f32", dims[i], false, true, true }, extents, 5);
    }
}

TEST(gradients_are_those_of_bags_times_factors) {
    int64_t extents[] = { 9, 300, 8, 6, 1, 6 };
    check_update((update_text){ "f32", 24, true, true, false }, extents, 6);
    check_update((update_text){ "f64", 24, true, true, true }, extents, 6);
    check_update((update_text){ "f64", 11, false, true, true }, extents, 6);
}

TEST(tables_without_ids_stay) {
    check_update((update_text){ "f32", 8, true, true, true },
                 (int64_t[]){ 4, 0, 3, 4, 0, 0 }, 3);
    check_update((update_text){ "f32", 8, true, false, true },
                 (int64_t[]){ 3, 64, 64, 4, 0, 0 }, 3);
    check_update((update_text){ "f32", 8, false, true, false },
                 (int64_t[]){ 3, 129, 4, 3, 128, 4 }, 3);
}

/* ---- prefetches ---- */

/* Of a word's row, states and gradient. */
static int prefetches_of(update_text t) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    put_update(&text, &t);
    int count = lower_count_of(ig_writer_str(&text).data,
                               (int64_t[]){ 9, 5, 5, 5, 7, 7 }, IG_OP_prefetch);
    ig_arena_fini(&arena);
    return count;
}

/* Rows begin anywhere in a line: 256 bytes are in five, and one number is in one. */
TEST(every_line_of_a_row_is_prefetched) {
    CHECK_INT(prefetches_of((update_text){ "f32", 64, true, true, false }), 5 + 1 + 5);
    CHECK_INT(prefetches_of((update_text){ "f64", 64, false, true, true }), 9 + 9 + 9);
    CHECK_INT(prefetches_of((update_text){ "f32", 17, false, false, false }),
              2 + 2 + 2);
    CHECK_INT(prefetches_of((update_text){ "f32", 1, true, false, false }), 1 + 1 + 1);
}

UNIT_SUITE(cpu_lower_update, ids_come_in_the_order_of_rows,
           rows_of_several_digits_are_in_order, ids_out_of_range_are_reported,
           rows_of_every_dim_change, gradients_are_those_of_bags_times_factors,
           tables_without_ids_stay, every_line_of_a_row_is_prefetched)
