/* The tensor interpreter: inputs and their symbols, guards, control flow, memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ir/fold_case.h"

#define MAX_INPUTS 4

static ig_tensor tensor_of(fold_case *c, ig_dtype dtype, uint32_t rank,
                           const int64_t *dims) {
    ig_tensor tensor;
    CHECK_OK(ig_tensor_alloc(&c->arena, NULL, dtype, rank, dims, &tensor));
    for (int64_t i = 0; i < tensor.count; i++) {
        ig_tensor_set_i64(&tensor, i, i + 1);
    }
    return tensor;
}

static ig_tensor scalar_of(fold_case *c, ig_dtype dtype, int64_t value) {
    ig_tensor tensor;
    CHECK_OK(ig_tensor_alloc(&c->arena, NULL, dtype, 0, NULL, &tensor));
    ig_tensor_set_i64(&tensor, 0, value);
    return tensor;
}

static void start(fold_case *c, const char *args, const char *statements) {
    bool is_read = case_start(c, "", args, statements);
    CHECK_MSG(is_read, "%s", c->message);
}

static void expect(fold_case *c, const ig_tensor *inputs, const char *expected) {
    c->message[0] = 0;
    CHECK_TEXT(case_run(c, inputs), expected);
}

/* ---- inputs ---- */

TEST(symbols_take_the_extents_of_inputs) {
    fold_case c;
    start(&c, "%x: f32[B, 2], %y: f32[B, C]",
          "%0 = dims {values = [B, C, B*C + 1]}\nret %0");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 2, (int64_t[]){ 3, 2 }),
                       tensor_of(&c, IG_DT_f32, 2, (int64_t[]){ 3, 5 }) };
    expect(&c, in, "i64[3] [3, 5, 16]");
    in[1] = tensor_of(&c, IG_DT_f32, 2, (int64_t[]){ 4, 5 });
    expect(&c, in,
           "INVALID: input 'y': extent 0 is 4, expected B, which is 3 by input 'x'");
    in[1] = in[0];
    in[0] = tensor_of(&c, IG_DT_f32, 2, (int64_t[]){ 3, 3 });
    expect(&c, in, "INVALID: input 'x': extent 1 is 3, expected 2");
    case_finish(&c);
}

TEST(expressions_of_inputs_are_checked) {
    fold_case c;
    start(&c, "%x: f32[2*B], %y: f32[B]", "ret %y");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 6 }),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 3 }) };
    expect(&c, in, "f32[3] [1, 2, 3]");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 7 });
    expect(
        &c, in,
        "INVALID: input 'x': extent 0 is 7, expected 2*B, which is 6 by the inputs before it");
    case_finish(&c);
}

TEST(inputs_of_another_kind_are_named) {
    fold_case c;
    start(&c, "%x \"the ids\": i64[B]", "ret %x");
    ig_tensor in[] = { tensor_of(&c, IG_DT_i32, 1, (int64_t[]){ 6 }) };
    expect(&c, in, "INVALID: input 'the ids' is i32[6], expected i64 of rank 1");
    in[0] = tensor_of(&c, IG_DT_i64, 2, (int64_t[]){ 6, 1 });
    expect(&c, in, "INVALID: input 'the ids' is i64[6, 1], expected i64 of rank 1");
    case_finish(&c);
}

TEST(sequences_are_what_their_items_are) {
    fold_case c;
    start(&c, "%s: seq<f32[K]>", "%0 = seq_length %s\nret %0");
    ig_tensor item = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 });
    ig_tensor in[] = { { .kind = IG_SEQUENCE } };
    expect(&c, in, "i64[] [0]");
    in[0].items = &item;
    in[0].count = 1;
    expect(&c, in, "i64[] [1]");
    item = tensor_of(&c, IG_DT_f16, 1, (int64_t[]){ 2 });
    expect(
        &c, in,
        "INVALID: input 's' is a sequence of 1 items, first f16[2], expected a sequence of f32 of rank 1");
    item = tensor_of(&c, IG_DT_f32, 0, NULL);
    expect(
        &c, in,
        "INVALID: input 's' is a sequence of 1 items, first f32[], expected a sequence of f32 of rank 1");
    case_finish(&c);
}

TEST(facts_of_symbols_hold_for_inputs) {
    fold_case c;
    start(&c, "%x: f32[B]", "ret %x");
    ig_symbol *symbol = ig_dim_as_symbol(c.module, ig_dim_named(c.module, IG_STR("B")));
    symbol->max = 4;
    symbol->multiple = 2;
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 3 }) };
    expect(&c, in,
           "INVALID: input 'x': extent 0 is 3, expected 0 to 4 and a multiple of 2");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 6 });
    expect(&c, in,
           "INVALID: input 'x': extent 0 is 6, expected 0 to 4 and a multiple of 2");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 });
    expect(&c, in, "f32[2] [1, 2]");
    case_finish(&c);
}

TEST(guards_say_what_disagrees) {
    fold_case c;
    start(&c, "%x: f32[B], %y: f32[C]",
          "guard eq(B, C) \"x and y disagree on the batch\"\nguard le(B, 3)\nret %x");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }) };
    expect(&c, in, "f32[2] [1, 2]");
    in[1] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 3 });
    expect(&c, in, "INVALID: x and y disagree on the batch: B is 2, C is 3");
    in[0] = in[1] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 4 });
    expect(&c, in, "INVALID: extents disagree: B is 4, 3 is 3");
    case_finish(&c);
}

/* ---- outputs ---- */

TEST(outputs_may_be_inputs_constants_and_the_same_twice) {
    fold_case c;
    start(&c, "%x: f32[2]", "%0 = const {value = i64[1] [7]}\nret %x, %0, %x");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }) };
    ig_tensor out[3];
    CHECK_OK(ig_interpret(c.graph, in, &c.arena, out));
    CHECK(out[0].data != in[0].data && out[0].data != out[2].data);
    expect(&c, in, "f32[2] [1, 2]; i64[1] [7]; f32[2] [1, 2]");
    case_finish(&c);
}

TEST(extents_that_the_run_learns_are_bound) {
    fold_case c;
    start(&c, "%s: i64[1], %x: f32[N]",
          "%z = const {value = i64[1] [0]}\n%y = slice %x, %z, %s, %z : f32[K]\n"
          "%r = dims {values = [2*K]}\n%w = add %y, %y\nret %w, %r");
    ig_tensor in[] = { tensor_of(&c, IG_DT_i64, 1, (int64_t[]){ 1 }),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 4 }) };
    ig_tensor_set_i64(&in[0], 0, 3);
    expect(&c, in, "f32[3] [2, 4, 6]; i64[1] [6]");
    ig_tensor_set_i64(&in[0], 0, -1);
    expect(&c, in, "f32[3] [2, 4, 6]; i64[1] [6]");
    case_finish(&c);
}

TEST(symbols_that_stand_for_long_expressions_get_their_value) {
    static const char text[] =
        "module @t {\ngraph @main(%x: f32[A], %y: f32[B], %z: f32[C]) {\n"
        "%0 = concat %x, %y, %z, %z, %z {axis = 0}\n%1 = shape %0\n"
        "%2 = const {value = f32[] [1]}\n%3 = expand %2, %1\nret %1, %3\n}\n}\n";
    fold_case c;
    memset(&c, 0, sizeof c);
    c.context.limits = ig_limits_default;
    c.context.limits.dim_terms = 2;
    c.context.diag = (ig_diag){ .sink = keep_first_error, .user = &c };
    ig_arena_init(&c.arena, NULL);
    CHECK_OK(ig_parse_module(&c.context, "case", ig_str_of(text), &c.module));
    c.graph = ig_module_graph(c.module, "main");
    bool is_defined = false;
    for (uint32_t i = 0; i < ig_symbol_count(c.module); i++) {
        is_defined |= ig_symbol_is_defined(ig_symbol_at(c.module, i));
    }
    CHECK(is_defined);
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 0 }),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 1 }) };
    expect(&c, in, "i64[1] [5]; f32[5] [1, 1, 1, 1, 1]");
    case_finish(&c);
}

/* ---- control flow ---- */

TEST(branches_run_one_body) {
    fold_case c;
    start(&c, "%c: bool[], %x: i64[2]",
          "%r = if %c : i64[2] {\n%0 = add %x, %x\nyield %0\n} else {\n"
          "%1 = const {value = i64[2] [0, 0]}\n%2 = div %x, %1\nyield %2\n}\nret %r");
    ig_tensor in[] = { scalar_of(&c, IG_DT_bool, 1),
                       tensor_of(&c, IG_DT_i64, 1, (int64_t[]){ 2 }) };
    expect(&c, in, "i64[2] [2, 4]");
    in[0] = scalar_of(&c, IG_DT_bool, 0);
    expect(&c, in, "INVALID: div: an integer is divided by zero at element 0");
    case_finish(&c);
}

TEST(branches_may_give_different_extents) {
    fold_case c;
    start(
        &c, "%c: bool[], %x: f32[N]",
        "%r = if %c : f32[K] {\n%0 = concat %x, %x {axis = 0}\nyield %0\n} else {\nyield %x\n}\n"
        "%k = shape %r\nret %k");
    ig_tensor in[] = { scalar_of(&c, IG_DT_bool, 1),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }) };
    expect(&c, in, "i64[1] [4]");
    in[0] = scalar_of(&c, IG_DT_bool, 0);
    expect(&c, in, "i64[1] [2]");
    case_finish(&c);
}

/* Sums and stacks 0 … n-1; stops early when the sum reaches 6. */
#define COUNTING                                                                 \
    "%zero = const {value = i64[] [0]}\n%true = const {value = bool[] [true]}\n" \
    "%six = const {value = i64[] [6]}\n"                                         \
    "%sum, %all = loop %n, %true, %zero {scans = 1} : i64[], i64[T] "            \
    "(%i: i64[], %k: bool[], %s: i64[]) {\n"                                     \
    "%t = add %s, %i\n%m = lt %t, %six\nyield %m, %t, %t\n}\nret %sum, %all"

TEST(loops_carry_and_scan) {
    fold_case c;
    start(&c, "%n: i64[]", COUNTING);
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 3) };
    expect(&c, in, "i64[] [3]; i64[3] [0, 1, 3]");
    in[0] = scalar_of(&c, IG_DT_i64, 0);
    expect(&c, in, "i64[] [0]; i64[0] []");
    in[0] = scalar_of(&c, IG_DT_i64, -1); /* no bound: the condition ends it */
    expect(&c, in, "i64[] [6]; i64[4] [0, 1, 3, 6]");
    case_finish(&c);
}

TEST(a_loop_without_end_meets_its_limit) {
    fold_case c;
    start(
        &c, "%n: i64[]",
        "%true = const {value = bool[] [true]}\nloop %n, %true (%i: i64[], %k: bool[]) {\n"
        "yield %k\n}\nret");
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, -1) };
    c.context.limits.loop_trips = 1000;
    expect(&c, in, "LIMIT: loop: the number of trips exceeds limit loop_trips (1000)");
    case_finish(&c);
}

TEST(each_trip_may_have_its_own_extents) {
    fold_case c;
    start(
        &c, "%n: i64[], %x: f32[1]",
        "%true = const {value = bool[] [true]}\n"
        "%r, %all = loop %n, %true, %x {scans = 1} : f32[K], i64[T, 1] (%i: i64[], %k: bool[], %s: f32[L]) {\n"
        "%t = concat %s, %s {axis = 0}\n%d = dims {values = [2*L]}\nyield %k, %t, %d\n}\n"
        "%e = size %r\nret %e, %all");
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 3),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 1 }) };
    expect(&c, in, "i64[] [8]; i64[3, 1] [2, 4, 8]");
    case_finish(&c);
}

TEST(scanned_values_must_keep_their_extents) {
    fold_case c;
    start(
        &c, "%n: i64[], %x: f32[1]",
        "%true = const {value = bool[] [true]}\n"
        "%r, %all = loop %n, %true, %x {scans = 1} : f32[K], f32[T, M] (%i: i64[], %k: bool[], %s: f32[L]) {\n"
        "%t = concat %s, %s {axis = 0}\nyield %k, %t, %t\n}\nret %all");
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 2),
                       tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 1 }) };
    expect(&c, in,
           "INVALID: loop: a scanned value changes its extents from trip to trip");
    case_finish(&c);
}

TEST(loops_nest_and_carry_sequences) {
    fold_case c;
    start(
        &c, "%n: i64[]",
        "%true = const {value = bool[] [true]}\n%e = seq_empty {of = i64} : seq<i64[q]>\n"
        "%s = loop %n, %true, %e : seq<i64[q]> (%i: i64[], %k: bool[], %a: seq<i64[q]>) {\n"
        "%b = loop %i, %k, %a : seq<i64[q]> (%j: i64[], %l: bool[], %c: seq<i64[q]>) {\n"
        "%v = mul %i, %j\n%w = reshape %v {to = [1]}\n%d = seq_insert %c, %w\nyield %l, %d\n}\n"
        "yield %k, %b\n}\n%r = seq_concat %s {axis = 0}\nret %r");
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 4) };
    expect(&c, in, "i64[6] [0, 0, 2, 0, 3, 6]");
    case_finish(&c);
}

TEST(regions_are_run_in_place) {
    CHECK_VALUE("%x = const {value = f32[2] [1, -2]}\n"
                "%0 = fused %x {family = \"map\"} : f32[2] (%a: f32[2]) {\n"
                "%1 = neg %a\n%2 = relu %1\nyield %2\n}\nret %0",
                "f32[2] [0, 2]");
}

/* ---- rows of tables ---- */

TEST(ids_are_grouped_by_row) {
    CHECK_VALUE("%i = const {value = i64[7] [3, -1, 0, 3, 2, 0, -1]}\n"
                "%0, %1 = bag_group %i {rows = [4]}\nret %0, %1",
                "i64[7] [0, 0, 2, 3, 3, -1, -1]; i64[7] [2, 5, 4, 0, 3, -1, -1]");
    CHECK_VALUE("%i = const {value = i64[0] []}\n%j = const {value = i64[1] [-1]}\n"
                "%0, %1, %2, %3 = bag_group %i, %j {rows = [0, 0]}\nret %0, %1, %2, %3",
                "i64[0] []; i64[0] []; i64[1] [-1]; i64[1] [-1]");
    CHECK_VALUE("%i = const {value = i64[2] [1, 4]}\n"
                "%0, %1 = bag_group %i {rows = [4]}\nret %0",
                "INVALID: table 0: id 4 at position 1, expected -1 <= id < 4");
    CHECK_VALUE("%i = const {value = i64[1] [-2]}\n"
                "%0, %1 = bag_group %i {rows = [4]}\nret %0",
                "INVALID: table 0: id -2 at position 0, expected -1 <= id < 4");
}

/* 2^24 + 1 is no f32: gradients are added one after the other. */
#define UPDATE(rows, positions, operands, flags)                                     \
    "%w = const {value = f32[3, 2] [1, 2, 3, 4, 5, 6]}\n"                            \
    "%s = const {value = f32[3, 1] [10, 20, 30]}\n"                                  \
    "%d = const {value = f32[3, 2] [16777216, 1, 1, 2, 1, -0.5]}\n"                  \
    "%b = const {value = i64[3] [0, 1, 2]}\n%f = const {value = f32[3] [1, 2, 3]}\n" \
    "%r = const {value = i64[3] " rows "}\n%p = const {value = i64[3] " positions    \
    "}\n"                                                                            \
    "%k = const {value = f32[] 100}\n"                                               \
    "%0, %1 = bag_update %w, %s, %r, %p, %d" operands                                \
    ", %k {tables = 1, states = 1" flags                                             \
    "} (%2: f32[1, 2], %3: f32[1, 2], %4: f32[1, 1], %5: f32[]) {\n"                 \
    "%6 = reduce %3 {op = max, axes = [1], keep}\n%7 = add %4, %6\n"                 \
    "%8 = add %3, %5\nyield %8, %7\n} : f32[3, 2], f32[3, 1]\nret %0, %1"

TEST(rows_that_occur_change_alone) {
    CHECK_VALUE(UPDATE("[0, 2, 2]", "[1, 0, 2]", "", ""),
                "f32[3, 2] [101, 102, 3, 4, 16777316, 100.5]; "
                "f32[3, 1] [12, 20, 16777246]");
    CHECK_VALUE(UPDATE("[1, -1, -1]", "[2, -1, -1]", ", %b, %f", ", bags, factors"),
                "f32[3, 2] [1, 2, 103, 98.5, 5, 6]; f32[3, 1] [10, 23, 30]");
    CHECK_VALUE(UPDATE("[-1, -1, -1]", "[-1, -1, -1]", "", ""),
                "f32[3, 2] [1, 2, 3, 4, 5, 6]; f32[3, 1] [10, 20, 30]");
    CHECK_VALUE(UPDATE("[3, -1, -1]", "[2, -1, -1]", "", ""),
                "INVALID: bag_update: a row beyond the table's");
    CHECK_VALUE(UPDATE("[2, -1, -1]", "[3, -1, -1]", ", %b", ", bags"),
                "INVALID: bag_update: a position without a gradient");
}

/* ---- weights ---- */

TEST(weights_are_lists_splats_and_recipes) {
    CHECK_VALUE_OF("weight @w : f32[2] = [1, 2]\nweight @s : f32[3] = splat(4)\n"
                   "weight @r : f32[2] = recipe(0)\n"
                   "private graph @weights() -> (f32[2]) {\n%0 = neg @w\nret %0\n}",
                   "%0 = reduce @s\n%1 = add @w, @r\nret %0, %1, @r",
                   "f32[] [12]; f32[2] [0, 0]; f32[2] [-1, -2]");
}

/* ---- memory ---- */

TEST(dead_values_give_their_memory_back) {
    fold_case c;
    start(
        &c, "%n: i64[]",
        "%true = const {value = bool[] [true]}\n%x = const {value = f32[1000] splat(1)}\n"
        "%r = loop %n, %true, %x : f32[1000] (%i: i64[], %k: bool[], %a: f32[1000]) {\n"
        "%b = add %a, %a\n%c = mul %b, %x\n%d = sub %c, %a\nyield %k, %d\n}\nret %r");
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 1000) };
    c.context.limits.interpret_bytes = 40 << 10; /* a few of them, not thousands */
    CHECK(strncmp(case_run(&c, in), "f32[1000] [1, 1", 15) == 0);
    c.context.limits.interpret_bytes = 9000;
    expect(
        &c, in,
        "LIMIT: the memory of the values that are alive here exceeds limit interpret_bytes (9000)");
    size_t held = c.context.budget.used;
    case_run(&c, in);
    CHECK(c.context.budget.used == held);
    c.context.limits.interpret_bytes = 40 << 10;
    c.context.limits.interpret_total = 1000 << 10; /* a hundred trips, not a thousand */
    expect(&c, in,
           "LIMIT: the work up to here exceeds limit interpret_total (1024000)");
    case_finish(&c);
}

TEST(results_move_to_the_caller) {
    enum { COUNT = 100000, BYTES = 4 * COUNT };
    fold_case c;
    start(&c, "%x: f32[N]", "%0 = neg %x\nret %0");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ COUNT }) };
    ig_tensor out[3];
    c.context.budget.peak = c.context.budget.used;
    size_t before = c.context.budget.used;
    CHECK_OK(ig_interpret(c.graph, in, &c.arena, out));
    CHECK(c.context.budget.peak < before + BYTES + BYTES / 2);
    CHECK(ig_tensor_get_f64(&out[0], COUNT - 1) == -COUNT);
    case_finish(&c);
    start(&c, "%x: f32[2]",
          "%0 = neg %x\n%1 = reshape %0 {to = [1, 2]}\nret %0, %0, %1");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 });
    CHECK_OK(ig_interpret(c.graph, in, &c.arena, out));
    CHECK(out[0].data != out[1].data && out[0].data != out[2].data);
    expect(&c, in, "f32[2] [-1, -2]; f32[2] [-1, -2]; f32[1, 2] [-1, -2]");
    case_finish(&c);
}

TEST(reshapes_show_memory_that_stays) {
    fold_case c;
    start(&c, "%x: f32[M]",
          "%0 = neg %x\n%1 = reshape %0 {to = [M, 1]}\n%2 = reshape %1 {to = [1, M]}\n"
          "%3 = reshape %2 {to = [M]}\n%4 = reshape %x {to = [1, M]}\n"
          "%5 = add %3, %3\nret %2, %4, %5");
    ig_tensor in[] = { tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }) }, out[3];
    expect(&c, in, "f32[1, 2] [-1, -2]; f32[1, 2] [1, 2]; f32[2] [-2, -4]");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 0 });
    expect(&c, in, "f32[1, 0] []; f32[1, 0] []; f32[0] []");
    in[0] = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 1000 });
    c.context.limits.interpret_bytes = 13000; /* %0, the copy %4 and %5 */
    CHECK_OK(ig_interpret(c.graph, in, &c.arena, out));
    CHECK(out[1].data != in[0].data && ig_tensor_get_f64(&out[2], 999) == -2000);
    case_finish(&c);
}

TEST(a_cancelled_context_stops_the_run) {
    fold_case c;
    start(&c, "%n: i64[]", COUNTING);
    ig_tensor in[] = { scalar_of(&c, IG_DT_i64, 3) };
    ig_tensor out[2];
    atomic_store(&c.context.cancelled, true);
    CHECK_STATUS(ig_interpret(c.graph, in, &c.arena, out), IG_CANCELLED);
    case_finish(&c);
}

TEST(one_op_is_evaluated_alone) {
    fold_case c;
    start(&c, "%x: f32[2]", "%0 = relu %x\nret %0");
    ig_tensor in = tensor_of(&c, IG_DT_f32, 1, (int64_t[]){ 2 }), out;
    const ig_tensor *list[] = { &in };
    ig_tensor_set_f64(&in, 0, -3);
    CHECK_OK(ig_evaluate_op(c.graph->body.first, list, &c.arena, &out));
    CHECK(ig_tensor_get_f64(&out, 0) == 0 && ig_tensor_get_f64(&out, 1) == 2);
    CHECK_STATUS(ig_evaluate_op(c.graph->body.last, list, &c.arena, &out), IG_INTERNAL);
    case_finish(&c);
}

UNIT_SUITE(interpret, sequences_are_what_their_items_are,
           symbols_that_stand_for_long_expressions_get_their_value,
           symbols_take_the_extents_of_inputs, expressions_of_inputs_are_checked,
           inputs_of_another_kind_are_named, facts_of_symbols_hold_for_inputs,
           guards_say_what_disagrees,
           outputs_may_be_inputs_constants_and_the_same_twice,
           extents_that_the_run_learns_are_bound, branches_run_one_body,
           branches_may_give_different_extents, loops_carry_and_scan,
           a_loop_without_end_meets_its_limit, each_trip_may_have_its_own_extents,
           scanned_values_must_keep_their_extents, loops_nest_and_carry_sequences,
           regions_are_run_in_place, ids_are_grouped_by_row,
           rows_that_occur_change_alone, weights_are_lists_splats_and_recipes,
           dead_values_give_their_memory_back, results_move_to_the_caller,
           reshapes_show_memory_that_stays, a_cancelled_context_stops_the_run,
           one_op_is_evaluated_alone)
