/* The bag and interaction schedules against the interpreter, at every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cpu/lower_case.h"

#include "tests/conform/conform.h"

/* ---- inputs ---- */

/* Input `index` becomes offsets of `bags` bags over `ids` ids, some of them empty. */
static void set_offsets(lower_case *c, uint32_t index, int64_t ids) {
    ig_tensor *offsets = &c->inputs[index];
    for (int64_t b = 0; b < offsets->count; b++) {
        int64_t at = b * ids / offsets->count;
        ig_tensor_set_i64(offsets, b,
                          b % 3 == 2 ? ig_tensor_get_i64(offsets, b - 1) : at);
    }
    if (offsets->count) {
        ig_tensor_set_i64(offsets, 0, 0);
    }
}

/* Inputs in pairs: ids, offsets. */
static void set_all_offsets(lower_case *c) {
    for (uint32_t i = 0; i + 1 < c->graph->body.arg_count; i += 2) {
        set_offsets(c, i + 1, c->inputs[i].count);
    }
}

static void put_table(ig_writer *text, const char *name, int64_t rows,
                      int64_t columns) {
    ig_put(text, "  weight @%s : f32[%lld, %lld] = [", name, (long long)rows,
           (long long)columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        ig_put(text, "%s%g", i ? ", " : "", (double)(i * 37 % 101 - 50) / 64.0);
    }
    ig_put(text, "]\n");
}

typedef struct bag_text {
    int64_t rows, dim, ids, bags;
    const char *attributes; /* of the one-table bag */
} bag_text;

static void check_bag(bag_text t) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t", t.rows, t.dim);
    ig_put(&text,
           "  graph @main(%%ids: i64[N], %%off: i64[B]) -> (f32[B, %lld] \"y\") {\n"
           "    %%0 = bag @t, %%ids, %%off {%s} : f32[B, %lld]\n    ret %%0\n  }\n}\n",
           (long long)t.dim, t.attributes, (long long)t.dim);
    int64_t extents[] = { t.ids, t.bags };
    lower_check_with(text.data, extents, t.rows, set_all_offsets);
    ig_arena_fini(&arena);
}

/* ---- one table ---- */

TEST(sums_of_every_dim) {
    static const int64_t dims[] = { 1, 3, 8, 16, 17, 64, 100, 128, 200, 300 };
    for (size_t i = 0; i < IG_COUNT_OF(dims); i++) {
        check_bag((bag_text){ 11, dims[i], 40, 9, "operands = [1], pool = [sum]" });
    }
}

TEST(no_bags_one_bag_empty_bags) {
    check_bag((bag_text){ 11, 24, 0, 0, "operands = [1], pool = [sum]" });
    check_bag((bag_text){ 11, 24, 5, 1, "operands = [1], pool = [sum]" });
    check_bag((bag_text){ 11, 24, 0, 7, "operands = [1], pool = [sum]" });
}

/* All ids of the first bags are pruned, and some of the others. */
static void prune_ids(lower_case *c) {
    set_all_offsets(c);
    for (int64_t i = 0; i < c->inputs[0].count; i++) {
        if (i < 12 || i % 3 == 0) {
            ig_tensor_set_i64(&c->inputs[0], i, -1);
        }
    }
}

TEST(bags_of_pruned_ids_have_no_maximum) {
    static const char *const rules[] = {
        "pool = [max]", "pool = [max], empty = [nan]",
        "pool = [max], empty = [neg_inf], padding = [2]", "pool = [mean], padding = [2]"
    };
    for (size_t i = 0; i < IG_COUNT_OF(rules); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "module @t {\n  weight @t : f32[3, 2] = [1, -2, 3, -4, -5, 6]\n"
                 "  graph @main(%%ids: i64[N], %%off: i64[B]) -> (f32[B, 2]) {\n"
                 "    %%0 = bag @t, %%ids, %%off {operands = [1], %s, negative = skip}"
                 " : f32[B, 2]\n    ret %%0\n  }\n}\n",
                 rules[i]);
        lower_check_with(text, (int64_t[]){ 40, 9 }, 3, prune_ids);
    }
}

TEST(means_and_maxima) {
    check_bag(
        (bag_text){ 11, 24, 40, 9, "operands = [1], pool = [mean], empty = [nan]" });
    check_bag(
        (bag_text){ 11, 24, 40, 9, "operands = [1], pool = [mean], empty = [zero]" });
    check_bag(
        (bag_text){ 11, 24, 40, 9, "operands = [1], pool = [max], empty = [neg_inf]" });
    check_bag(
        (bag_text){ 11, 24, 40, 9, "operands = [1], pool = [max], empty = [zero]" });
}

TEST(padding_is_left_out) {
    check_bag(
        (bag_text){ 5, 24, 40, 9, "operands = [1], pool = [sum], padding = [3]" });
    check_bag((bag_text){
        5, 24, 40, 9, "operands = [1], pool = [mean], padding = [3], empty = [zero]" });
}

/* ---- ids and offsets of any kind ---- */

/* A bag of @t (5 rows of 3) with further operands of the graph. */
static void check_ids(const char *signature, const char *body, const int64_t *extents,
                      void (*prepare)(lower_case *c)) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t", 5, 3);
    ig_put(&text, "  graph @main(%s {\n%s\n    ret %%0\n  }\n}\n", signature, body);
    lower_check_with(text.data, extents, 5, prepare);
    ig_arena_fini(&arena);
}

static void set_negative_ids(lower_case *c) {
    set_all_offsets(c);
    for (int64_t i = 0; i < c->inputs[0].count; i++) {
        ig_tensor_set_i64(&c->inputs[0], i, i % 2 ? -1 - i % 5 : i % 5);
    }
}

TEST(negative_ids_count_from_the_end_before_padding_is_left_out) {
    check_ids(
        "%ids: i64[N], %off: i64[B]) -> (f32[B, 3] \"y\")",
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [mean], padding = [3],"
        " empty = [zero]} : f32[B, 3]",
        (int64_t[]){ 40, 9 }, set_negative_ids);
}

/* The weights lie side by side, the ids in a column of two. */
static void set_pair_offsets(lower_case *c) {
    set_offsets(c, 1, c->inputs[2].count);
}

TEST(weights_have_a_stride_of_their_own) {
    check_ids(
        "%ids: i64[N, 2], %off: i64[B], %w: f32[N]) -> (f32[B, 3] \"y\")",
        "    %1 = slice %ids {starts = [0, 1], sizes = [N, 1]} : i64[N, 1]\n"
        "    %2 = reshape %1 {to = [N]} : i64[N]\n"
        "    %0 = bag @t, %2, %off, %w {operands = [5], pool = [sum]} : f32[B, 3]",
        (int64_t[]){ 40, 9 }, set_pair_offsets);
}

/* Ids after the last offset go to the last bag, unless that is empty. */
static void set_empty_last(lower_case *c) {
    static const int64_t offsets[] = { 0, 3, 5, 5 };
    for (int64_t i = 0; i < 4; i++) {
        ig_tensor_set_i64(&c->inputs[1], i, offsets[i]);
    }
}

static void set_full_last(lower_case *c) {
    set_empty_last(c);
    ig_tensor_set_i64(&c->inputs[1], 2, 4);
}

TEST(the_last_bag_takes_the_rest_unless_it_is_empty) {
    const char *signature = "%ids: i64[N], %off: i64[4]) -> (f32[3, 3] \"y\")";
    const char *body = "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum],"
                       " last = [rest]} : f32[3, 3]";
    check_ids(signature, body, (int64_t[]){ 9 }, set_empty_last);
    check_ids(signature, body, (int64_t[]){ 9 }, set_full_last);
}

TEST(large_tables_are_prefetched) {
    check_bag((bag_text){ 9000, 16, 400, 90, "operands = [1], pool = [sum]" });
}

/* Of a row of `dim` numbers; tables begin at a line unless the caller has them. */
static int prefetches_of(const char *table, int64_t dim, int64_t rows) {
    char text[512], own[128] = "", weight[128] = "";
    if (table[0] == '%') {
        snprintf(own, sizeof own, "%s: f32[%lld, %lld], ", table, (long long)rows,
                 (long long)dim);
    } else {
        snprintf(weight, sizeof weight, "weight @t : f32[%lld, %lld] = splat(0)",
                 (long long)rows, (long long)dim);
    }
    snprintf(
        text, sizeof text,
        "module @t {\n  %s\n  graph @main(%s%%ids: i64[N, 3]) -> (f32[N, %lld]) {\n"
        "    %%0 = bag %s, %%ids {operands = [0], pool = [sum]} : f32[N, %lld]\n"
        "    ret %%0\n  }\n}\n",
        weight, own, (long long)dim, table, (long long)dim);
    return lower_count_of(text, (int64_t[]){ 5 }, IG_OP_prefetch);
}

TEST(every_line_of_a_row_is_prefetched) {
    int sites = prefetches_of("@t", 1, 900000); /* in the code, of one line each */
    CHECK(sites > 0);
    CHECK_INT(prefetches_of("@t", 64, 90000), 4 * sites);
    CHECK_INT(prefetches_of("%t", 64, 90000), 5 * sites);
    CHECK_INT(prefetches_of("@t", 20, 90000), 2 * sites); /* at multiples of 16 */
    CHECK_INT(prefetches_of("%t", 20, 90000), 3 * sites);
    CHECK_INT(prefetches_of("%t", 1, 900000), sites);
    CHECK_INT(prefetches_of("@t", 64, 9), 0);
}

/* Of three features, whose tables are the first `count`. */
static int prefetches_of_three(uint32_t count, int64_t rows, int64_t dim) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    long long wide = (long long)dim;
    ig_put(&text, "module @t {\n");
    for (uint32_t i = 0; i < count; i++) {
        ig_put(&text, "  weight @t%u : f32[%lld, %lld] = splat(0)\n", i,
               (long long)rows, wide);
    }
    ig_put(&text,
           "  graph @main(%%x: i64[N, 3]) -> (f32[N, %lld], f32[N, %lld], "
           "f32[N, %lld]) {\n    %%0, %%1, %%2 = bag",
           wide, wide, wide);
    for (uint32_t i = 0; i < 3; i++) {
        ig_put(&text, "%s @t%u, %%x", i ? "," : "", i % count);
    }
    ig_put(&text,
           " {operands = [0, 0, 0], pool = [sum, sum, sum]} : f32[N, %lld], "
           "f32[N, %lld], f32[N, %lld]\n    ret %%0, %%1, %%2\n  }\n}\n",
           wide, wide, wide);
    int found = lower_count_of(text.data, (int64_t[]){ 5 }, IG_OP_prefetch);
    ig_arena_fini(&arena);
    return found;
}

/* v2's second cache has 8192 lines. */
TEST(tables_that_are_large_together_are_prefetched) {
    CHECK(prefetches_of_three(3, 3000, 20) > 0);
    CHECK_INT(prefetches_of_three(2, 3000, 20), 0);
    CHECK_INT(prefetches_of_three(1, 3000, 20), 0); /* one table, thrice */
    CHECK_INT(prefetches_of_three(3, 3000, 16), 0); /* of rows of one line */
    CHECK_INT(prefetches_of_three(3, 500, 64), 0);  /* of few rows */
}

/* Ids name one of three tables and a row, and the last of each list none at all. */
static void set_tables(lower_case *c) {
    set_all_offsets(c);
    for (uint32_t i = 0; i + 1 < c->graph->body.arg_count; i += 2) {
        ig_tensor *ids = &c->inputs[i];
        for (int64_t k = 0; k < ids->count; k++) {
            int64_t id = ig_tensor_get_i64(ids, k), table = k % 4 - 1;
            ig_tensor_set_i64(ids, k, table < 0 ? table : (table << 40) + id);
        }
        if (ids->count) {
            ig_tensor_set_i64(ids, ids->count - 1, INT64_MAX);
        }
    }
}

/* Three tables for each of two features. */
static void check_tables(const int64_t *rows, int64_t ids, int64_t bags,
                         const char *range) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    const char *const names[] = { "a0", "a1", "a2", "b0", "b1", "b2" };
    int64_t max = 0;
    for (uint32_t i = 0; i < IG_COUNT_OF(names); i++) {
        put_table(&text, names[i], i < 3 ? rows[i] : rows[5 - i], 16);
        max = i < 3 && rows[i] > max ? rows[i] : max;
    }
    ig_put(
        &text,
        "  graph @main(%%a: i64[N], %%ao: i64[B], %%b: i64[M], %%bo: i64[B]) -> (f32[B, 16] \"y\", f32[B, 16] \"z\") {\n"
        "    %%0, %%1 = bag @a0, @a1, @a2, %%a, %%ao, @b0, @b1, @b2, %%b, %%bo {operands = [1, 1], pool = [sum, sum], tables = [3, 3], negative = skip, range = %s}\n"
        "    ret %%0, %%1\n  }\n}\n",
        range);
    int64_t extents[] = { ids, bags, ids / 2 };
    lower_check_with(text.data, extents, max, set_tables);
    ig_arena_fini(&arena);
}

TEST(rows_lie_in_several_tables) {
    check_tables((int64_t[]){ 3, 1, 7 }, 60, 9, "first");
    check_tables((int64_t[]){ 4, 4, 4 }, 60, 9, "clamp");
    check_tables((int64_t[]){ 2000, 3000, 4000 }, 400, 90, "first");
    check_tables((int64_t[]){ 5, 9000, 5 }, 400, 90, "clamp");
}

/* ---- shares of a launch ---- */

/* Half of the ids are in one bag in the middle; many bags are empty. */
static void set_uneven_offsets(lower_case *c) {
    for (uint32_t i = 0; i + 1 < c->graph->body.arg_count; i += 2) {
        ig_tensor *offsets = &c->inputs[i + 1];
        int64_t ids = c->inputs[i].count, half = offsets->count / 2;
        for (int64_t b = 0; b < offsets->count; b++) {
            int64_t before = b / 3 < ids / 4 ? b / 3 : ids / 4;
            ig_tensor_set_i64(offsets, b, b < half ? before : before + ids / 2);
        }
    }
}

TEST(work_is_shared_by_ids_and_not_by_bags) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t0", 9, 16);
    put_table(&text, "t1", 9000, 16);
    put_table(&text, "t2", 5, 16);
    ig_put(
        &text,
        "  graph @main(%%a: i64[N], %%ao: i64[B], %%b: i64[M], %%bo: i64[B], %%c: i64[K], %%co: i64[B]) -> (f32[B, 48] \"y\") {\n"
        "    %%0, %%1, %%2 = bag @t0, %%a, %%ao, @t1, %%b, %%bo, @t2, %%c, %%co {operands = [1, 1, 1], pool = [sum, sum, mean]} : f32[B, 16], f32[B, 16], f32[B, 16]\n"
        "    %%3 = concat %%1, %%0, %%2 {axis = 1} : f32[B, 48]\n"
        "    ret %%3\n  }\n}\n");
    static const int64_t extents[][4] = {
        { 33, 61, 500, 2 }, { 400, 1, 0, 90 }, { 0, 17, 0, 0 }, { 7, 120, 70, 70 }
    };
    for (size_t i = 0; i < IG_COUNT_OF(extents); i++) {
        lower_check_with(text.data, extents[i], 5, set_uneven_offsets);
    }
    ig_arena_fini(&arena);
}

/* Ids of each table lie apart: columns of one tensor. */
TEST(bags_that_lie_apart_are_prefetched) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t0", 9000, 16);
    put_table(&text, "t1", 9000, 16);
    ig_put(
        &text,
        "  graph @main(%%ids: i64[B, 2, 5]) -> (f32[B, 32] \"y\") {\n"
        "    %%0 = slice %%ids {starts = [0, 0, 0], sizes = [B, 1, 5]} : i64[B, 1, 5]\n"
        "    %%1 = slice %%ids {starts = [0, 1, 0], sizes = [B, 1, 5]} : i64[B, 1, 5]\n"
        "    %%2 = reshape %%0 {to = [B, 5]} : i64[B, 5]\n"
        "    %%3 = reshape %%1 {to = [B, 5]} : i64[B, 5]\n"
        "    %%4, %%5 = bag @t0, %%2, @t1, %%3 {operands = [0, 0], pool = [sum, sum]} : f32[B, 16], f32[B, 16]\n"
        "    %%6 = concat %%4, %%5 {axis = 1} : f32[B, 32]\n"
        "    ret %%6\n  }\n}\n");
    static const int64_t batches[] = { 0, 1, 50 };
    for (size_t i = 0; i < IG_COUNT_OF(batches); i++) {
        lower_check(text.data, &batches[i], 9000);
    }
    ig_arena_fini(&arena);
}

/* ---- several tables, other operands ---- */

TEST(tables_of_different_dims_in_one_launch) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t0", 7, 16);
    put_table(&text, "t1", 9, 16);
    put_table(&text, "t2", 5, 40);
    ig_put(
        &text,
        "  graph @main(%%a: i64[N], %%ao: i64[B], %%b: i64[M], %%bo: i64[B], %%c: i64[K], %%co: i64[B]) -> (f32[B, 72] \"y\") {\n"
        "    %%0, %%1, %%2 = bag @t0, %%a, %%ao, @t1, %%b, %%bo, @t2, %%c, %%co {operands = [1, 1, 1], pool = [sum, sum, mean], empty = [zero, zero, zero]} : f32[B, 16], f32[B, 16], f32[B, 40]\n"
        "    %%3 = concat %%1, %%0, %%2 {axis = 1} : f32[B, 72]\n"
        "    ret %%3\n  }\n}\n");
    int64_t extents[] = { 33, 11, 50, 2 };
    lower_check_with(text.data, extents, 5, set_all_offsets);
    ig_arena_fini(&arena);
}

TEST(one_id_a_row_and_fixed_lengths) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(&text, "module @t {\n");
    put_table(&text, "t0", 7, 16);
    put_table(&text, "t1", 9, 16);
    ig_put(
        &text,
        "  graph @main(%%a: i64[B], %%b: i64[B, 3], %%w: f32[B, 3]) -> (f32[B, 16] \"y\", f32[B, 16] \"z\") {\n"
        "    %%0, %%1 = bag @t0, %%a, @t1, %%b, %%w {operands = [0, 4], pool = [none, sum]} : f32[B, 16], f32[B, 16]\n"
        "    ret %%0, %%1\n  }\n}\n");
    int64_t extents[] = { 21 };
    lower_check(text.data, extents, 7);
    ig_arena_fini(&arena);
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

TEST(an_id_out_of_range_is_reported) {
    lower_case c;
    int64_t extents[] = { 6, 2 };
    lower_open(
        &c, "v2",
        "module @t {\n  weight @t : f32[4, 2] = splat(1)\n"
        "  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2] \"y\") {\n"
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum], negative = error} : f32[B, 2]\n    ret %0\n  }\n}\n",
        extents, 4);
    set_all_offsets(&c);
    ig_tensor_set_i64(&c.inputs[0], 4, 9);
    ig_tensor_set_i64(&c.inputs[0], 5, -1);
    run_launches(&c);
    CHECK_INT(c.report.operand, 1);
    CHECK_INT(c.report.position, 4);
    CHECK_INT(c.report.value, 9);
    lower_close(&c);
}

/* Offsets of 4 ids a bag but for one, which lies past all ids. */
TEST(offsets_past_the_ids_are_reported) {
    lower_case c;
    int64_t extents[] = { 8, 3 };
    lower_open(
        &c, "v2",
        "module @t {\n  weight @t : f32[4, 2] = splat(1)\n"
        "  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2] \"y\") {\n"
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 2]\n"
        "    ret %0\n  }\n}\n",
        extents, 4);
    for (int64_t b = 0; b < 3; b++) {
        ig_tensor_set_i64(&c.inputs[1], b, b == 2 ? 8 : b * 4);
    }
    c.inputs[0].dims[0] = c.inputs[0].count = c.symbols[0] = 6; /* two ids are gone */
    run_launches(&c);
    CHECK_INT(c.report.operand, 2);
    CHECK_INT(c.report.position, 2);
    CHECK_INT(c.report.value, 8);
    lower_close(&c);
}

/* Shares are cut by offsets, also by wrong ones: every bag is done, once. */
TEST(offsets_that_fall_are_reported_and_spoil_no_other_bag) {
    enum { BAGS = 64, BAD = 40 };
    lower_case c;
    int64_t extents[] = { 256, BAGS };
    lower_open(
        &c, "v2",
        "module @t {\n  weight @t : f32[4, 2] = splat(1)\n"
        "  graph @main(%ids: i64[N], %off: i64[B]) -> (f32[B, 2] \"y\") {\n"
        "    %0 = bag @t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 2]\n"
        "    ret %0\n  }\n}\n",
        extents, 4);
    for (int64_t b = 0; b < BAGS; b++) {
        ig_tensor_set_i64(&c.inputs[1], b, b == BAD ? 3 : b * 4);
    }
    run_launches(&c);
    CHECK_INT(c.report.operand, 2);
    CHECK_INT(c.report.position, BAD);
    CHECK_INT(c.report.value, 3);
    const ig_value *out = c.graph->body.last->operands[0].value;
    const float *sums = (const void *)lower_operand(&c, out).data;
    for (int64_t b = 0; b < BAGS; b++) {
        float want = b == BAD - 1 ? 0 : b == BAD ? (BAD + 1) * 4 - 3 : 4;
        CHECK(sums[2 * b] == want);
    }
    lower_close(&c);
}

/* ---- interaction ---- */

typedef void (*check_fn)(const char *text, int64_t samples);

static void check_bounded(const char *text, int64_t samples) {
    lower_check(text, &samples, 2);
}

static void check_special(const char *text, int64_t samples) {
    lower_check_special(text, &samples, 1e-5, NULL);
}

static void check_pairs_by(check_fn check, int64_t samples, int64_t rows, int64_t depth,
                           const char *pairs, int64_t count) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer text;
    ig_writer_init(&text, &arena);
    ig_put(
        &text,
        "module @t {\n  graph @main(%%x: f32[B, %lld, %lld]) -> (f32[B, %lld] \"y\") {\n"
        "    %%0 = interact %%x {pairs = [%s]} : f32[B, %lld]\n    ret %%0\n  }\n}\n",
        (long long)rows, (long long)depth, (long long)count, pairs, (long long)count);
    check(text.data, samples);
    ig_arena_fini(&arena);
}

static void check_pairs(int64_t samples, int64_t rows, int64_t depth, const char *pairs,
                        int64_t count) {
    check_pairs_by(check_bounded, samples, rows, depth, pairs, count);
}

/* The lower triangle, or the upper one. */
static void check_triangle(check_fn check, int64_t samples, int64_t rows, int64_t depth,
                           bool is_upper) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    ig_writer pairs;
    ig_writer_init(&pairs, &arena);
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = is_upper ? i + 1 : 0; j < (is_upper ? rows : i); j++) {
            ig_put(&pairs, "%s%lld", count++ ? ", " : "", (long long)(i * rows + j));
        }
    }
    check_pairs_by(check, samples, rows, depth, pairs.data, count);
    ig_arena_fini(&arena);
}

static void check_interaction(int64_t samples, int64_t rows, int64_t depth) {
    check_triangle(check_bounded, samples, rows, depth, false);
}

TEST(lower_triangles) {
    check_interaction(5, 27, 64);
    check_interaction(3, 4, 5);
    check_interaction(1, 2, 1);
    check_interaction(0, 9, 16);
    check_interaction(9, 33, 20);
    check_interaction(16, 9, 64);
    check_interaction(41, 27, 24); /* whole blocks of every vector, and some left */
    check_interaction(33, 6, 150); /* several parts of the depth, the last a thin one */
}

/* Lanes along the depth: a depth of whole vectors or not, rows of whole blocks or not,
 * blocks that are a loop of one, two or more. */
TEST(lower_deep_triangles) {
    check_interaction(1, 2, 32);
    check_interaction(0, 9, 64);
    check_interaction(3, 13, 70);
    check_interaction(17, 20, 33);
    check_interaction(2, 41, 128);
    for (int64_t rows = 3; rows < 26; rows += 11) {
        check_triangle(check_bounded, 2, rows, 47, true);
        check_triangle(check_special, 2, rows, 47, true);
        check_triangle(check_special, 2, rows, 64, false);
    }
}

/* More rows, runs or pairs than the other ways take: few pairs of them, or all. */
TEST(lower_large_interactions) {
    check_pairs(2, 400, 3, "399, 159999, 0, 401, 400", 5);
    check_interaction(2, 130, 5);
}

TEST(lower_any_deep_pairs) {
    /* A block that is full of one pair; lanes that are stored by 8, 4, 2 and 1. */
    check_pairs(3, 2, 40,
                "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1",
                23);
    check_pairs(5, 4, 65, "0, 1, 4, 5, 10, 15, 3, 12, 15, 15, 15, 0, 7, 13, 2", 15);
    check_pairs(5, 8, 64, "0, 63", 2);
    /* Blocks side by side whose results are not. */
    check_pairs(
        2, 8, 64,
        "32, 33, 34, 35, 40, 41, 42, 43, 48, 49, 50, 51, 56, 57, 58, 59, 0, 36, "
        "37, 38, 39, 44, 45, 46, 47, 52, 53, 54, 55, 60, 61, 62, 63",
        33);
}

TEST(lower_any_pairs) {
    /* Squares, both orders, and one pair more often than a block has sums. */
    check_pairs(35, 4, 17, "0, 1, 4, 5, 10, 15, 3, 12", 8);
    check_pairs(16, 2, 3,
                "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1",
                23);
}

/* ---- FBGEMM's results ---- */

static ig_status run_case(conform *self, const char *text, const ig_tensor *inputs,
                          ig_arena *arena, ig_tensor *out_outputs) {
    lower_case c;
    lower_open(&c, self->user, text, NULL, 1);
    for (uint32_t i = 0; i < c.graph->body.arg_count; i++) {
        c.inputs[i] = inputs[i];
    }
    uint32_t outputs = lower_run(&c);
    CHECK_INT(c.report.operand, -1);
    for (uint32_t i = 0; i < outputs; i++) {
        out_outputs[i] = c.got[i];
        out_outputs[i].data = ig_arena_copy(arena, c.got[i].data,
                                            (size_t)ig_tensor_bytes(&c.got[i]));
    }
    lower_close(&c);
    return IG_OK;
}

static void run_cases(const char *level) {
    char name[16];
    conform self = { .run = run_case, .user = strcpy(name, level) };
    conform_file(&self, INGOT_SOURCE_DIR "/tests/conform/cases/fbgemm.txt");
    CHECK_INT(self.totals.failed, 0);
    CHECK(self.totals.passed >= 36);
}

TEST(quantised_tables_without_vectors_of_avx) {
    run_cases("v2");
}

TEST(quantised_tables_with_avx2) {
    run_cases("v3");
}

TEST(quantised_tables_with_avx512) {
    run_cases("v4");
    run_cases("v4-vnni");
}

/* Scale and bias in f32, weighted one by one. */
TEST(quantised_rows_are_weighted) {
    static const int64_t extents[] = { 23, 6 };
    lower_check_with(
        "module @t {\n  table @t : i8<rowwise f32>[3, 4] = inline("
        "0x010203040000003f0000803e0a000b050000803f000000bfff10207f0000003e00004040)\n"
        "  graph @main(%ids: i64[N], %off: i64[B], %w: f32[N]) -> (f32[B, 4] \"y\") {\n"
        "    %0 = bag @t, %ids, %off, %w {operands = [5], pool = [sum], to = f32} : "
        "f32[B, 4]\n    ret %0\n  }\n}\n",
        extents, 3, set_all_offsets);
}

UNIT_SUITE(cpu_lower_bag, quantised_rows_are_weighted,
           quantised_tables_without_vectors_of_avx, quantised_tables_with_avx2,
           quantised_tables_with_avx512, sums_of_every_dim, no_bags_one_bag_empty_bags,
           means_and_maxima, bags_of_pruned_ids_have_no_maximum, padding_is_left_out,
           large_tables_are_prefetched, every_line_of_a_row_is_prefetched,
           tables_that_are_large_together_are_prefetched, rows_lie_in_several_tables,
           work_is_shared_by_ids_and_not_by_bags, offsets_past_the_ids_are_reported,
           negative_ids_count_from_the_end_before_padding_is_left_out,
           weights_have_a_stride_of_their_own,
           the_last_bag_takes_the_rest_unless_it_is_empty,
           bags_that_lie_apart_are_prefetched,
           offsets_that_fall_are_reported_and_spoil_no_other_bag,
           tables_of_different_dims_in_one_launch, one_id_a_row_and_fixed_lengths,
           an_id_out_of_range_is_reported, lower_triangles, lower_deep_triangles,
           lower_large_interactions, lower_any_deep_pairs, lower_any_pairs)
