/* The interpreter of kernel form: lanes, memory, loops, threads and barriers, and what
 * it must not let pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/interpret/kernel.h"

#include "tests/unit/ir/fold_case.h"

typedef struct kernel_case {
    fold_case c;
    ig_kernel_buffer buffers[4];
    int64_t params[4];
    ig_kernel_call call;
    ig_graph *kernel;
} kernel_case;

static void start(kernel_case *k, const char *args, const char *statements) {
    memset(k, 0, sizeof *k);
    k->c.context.limits = ig_limits_default;
    k->c.context.diag = (ig_diag){ .sink = keep_first_error, .user = &k->c };
    ig_arena_init(&k->c.arena, NULL);
    const char *text = ig_arena_printf(
        &k->c.arena, "module @t {\nkernel @k(%s) {\n%s\nret\n}\n}\n", args, statements);
    ig_status status = ig_parse_module(&k->c.context, "case", ig_str_of(text),
                                       &k->c.module);
    CHECK_MSG(status == IG_OK, "%s", k->c.message);
    k->kernel = ig_module_graph(k->c.module, "k");
    k->call = (ig_kernel_call){
        .buffers = k->buffers, .params = k->params, .tile_end = 1, .threads = 1
    };
}

static void buffer(kernel_case *k, uint32_t index, void *data, size_t bytes) {
    k->buffers[index] = (ig_kernel_buffer){ data, (int64_t)bytes, 0 };
}

static void finish(kernel_case *k) {
    ig_module_destroy(k->c.module);
    ig_arena_fini(&k->c.arena);
}

static void run_well(kernel_case *k) {
    ig_status status = ig_interpret_kernel(k->kernel, &k->call);
    CHECK_MSG(status == IG_OK, "%s", k->c.message);
}

static void run_badly(kernel_case *k, const char *message) {
    CHECK(ig_interpret_kernel(k->kernel, &k->call) != IG_OK);
    CHECK_MSG(strstr(k->c.message, message), "got '%s'", k->c.message);
}

#define ZERO_ONE "%zero = const {value = i64 0}\n%one = const {value = i64 1}\n"

/* ---- loops and lanes ---- */

TEST(a_loop_carries_values) {
    float x[] = { 1, 2, 3, 4, 5 }, y[1] = { 0 };
    kernel_case k;
    start(&k, "%x: &f32, %y: &f32, %n: i64",
          ZERO_ONE "%s = const {value = f32 0}\n"
                   "%r = for %zero, %n, %one, %s : f32 (%i: i64, %t: f32) {\n"
                   "%v = load %x, %i : f32\n%u = add %t, %v\nyield %u\n}\n"
                   "store %r, %y, %zero");
    buffer(&k, 0, x, sizeof x);
    buffer(&k, 1, y, sizeof y);
    k.params[0] = 5;
    run_well(&k);
    CHECK(y[0] == 15);
    k.params[0] = 0;
    run_well(&k);
    CHECK(y[0] == 0);
    finish(&k);
}

TEST(yields_may_be_the_arguments_they_replace) {
    int64_t y[2] = { 0 };
    kernel_case k;
    start(
        &k, "%y: &i64, %n: i64",
        ZERO_ONE
        "%a, %b = for %zero, %n, %one, %zero, %one : i64, i64 (%i: i64, %p: i64, %q: i64) {\n"
        "yield %q, %p\n}\nstore %a, %y, %zero\nstore %b, %y, %one");
    buffer(&k, 0, y, sizeof y);
    k.params[0] = 3;
    run_well(&k);
    CHECK_INT(y[0], 1);
    CHECK_INT(y[1], 0);
    finish(&k);
}

TEST(branches_give_values) {
    int64_t y[1] = { 0 };
    kernel_case k;
    start(&k, "%y: &i64, %n: i64",
          ZERO_ONE
          "%c = lt %n, %one\n%r = if %c : i64 {\n%a = neg %n\nyield %a\n} else {\n"
          "%b = add %n, %n\nyield %b\n}\nstore %r, %y, %zero");
    buffer(&k, 0, y, sizeof y);
    k.params[0] = -4;
    run_well(&k);
    CHECK_INT(y[0], 4);
    k.params[0] = 21;
    run_well(&k);
    CHECK_INT(y[0], 42);
    finish(&k);
}

TEST(vectors_shuffle_splat_count_and_reduce) {
    float x[4] = { 1, 2, 3, 4 }, y[16] = { 0 };
    kernel_case k;
    start(
        &k, "%x: &f32, %y: &f32",
        ZERO_ONE
        "%four = const {value = i64 4}\n%eight = const {value = i64 8}\n"
        "%twelve = const {value = i64 12}\n"
        "%v = load %x, %zero : f32<4>\n%s = splat %one : i64<4>\n%i = iota : i64<4>\n"
        "%r = shuffle %v, %v {lanes = [3, 2, 1, 4]} : f32<4>\nstore %r, %y, %zero\n"
        "%j = mul %i, %i\n%k = add %j, %s\n%f = cast %k {to = f32}\nstore %f, %y, %four\n"
        "%h = hreduce %v {op = sum} : f32\nstore %h, %y, %eight\n"
        "%m = muladd %v, %v, %f : f32<4>\nstore %m, %y, %twelve\n"
        "%e = extract %v, %one : f32\n%nine = add %eight, %one\nstore %e, %y, %nine");
    buffer(&k, 0, x, sizeof x);
    buffer(&k, 1, y, sizeof y);
    run_well(&k);
    static const float expected[16] = { 4,  3, 2, 1, 1, 2, 5,  10,
                                        10, 2, 0, 0, 2, 6, 14, 26 };
    for (int i = 0; i < 16; i++) {
        CHECK_MSG(y[i] == expected[i], "%d: %g", i, (double)y[i]);
    }
    finish(&k);
}

TEST(single_precision_is_rounded_at_every_step) {
    float x[2] = { 16777216, 1 }, y[2] = { 0 };
    kernel_case k;
    start(&k, "%x: &f32, %y: &f32",
          ZERO_ONE
          "%a = load %x, %zero : f32\n%b = load %x, %one : f32\n%c = add %a, %b\n"
          "%d = add %c, %b\nstore %d, %y, %zero\n"
          "%v = const {value = f32<4> [16777216, 1, 1, 0]}\n"
          "%h = hreduce %v {op = sum} : f32\nstore %h, %y, %one");
    buffer(&k, 0, x, sizeof x);
    buffer(&k, 1, y, sizeof y);
    run_well(&k);
    CHECK(y[0] == 16777216);
    CHECK(y[1] == 16777216); /* (16777216 + 1) + (1 + 0), each rounded */
    finish(&k);
}

/* ---- memory ---- */

TEST(counts_keep_lanes_from_being_touched) {
    float x[3] = { 1, 2, 3 }, y[4] = { 9, 9, 9, 9 };
    kernel_case k;
    start(&k, "%x: &f32, %y: &f32, %n: i64",
          ZERO_ONE
          "%v = load %x, %zero, %n : f32<8>\n%h = hreduce %v {op = sum} : f32\n"
          "store %v, %y, %one, %n\nstore %h, %y, %zero");
    buffer(&k, 0, x, sizeof x);
    buffer(&k, 1, y, sizeof y);
    k.params[0] = 3;
    run_well(&k);
    CHECK(y[0] == 6 && y[1] == 1 && y[2] == 2 && y[3] == 3);
    k.params[0] = -1;
    run_well(&k);
    CHECK(y[0] == 0 && y[1] == 1);
    k.params[0] = 4;
    run_badly(&k, "4 elements from 0 on, at byte 0, leave buffer 0 of 12 bytes");
    finish(&k);
}

TEST(every_access_is_checked) {
    float x[4] = { 0 };
    kernel_case k;
    start(&k, "%x: &f32, %n: i64",
          ZERO_ONE "%o = offset %x, %n : &f32\n%v = load %o, %one : f32\n"
                   "store %v, %o, %zero");
    buffer(&k, 0, x, sizeof x);
    k.params[0] = 2;
    run_well(&k);
    k.params[0] = 3;
    run_badly(&k, "leave buffer 0 of 16 bytes");
    k.c.message[0] = 0;
    k.params[0] = -1;
    run_badly(&k, "leave buffer 0 of 16 bytes");
    k.c.message[0] = 0;
    k.params[0] = INT64_MAX / 2;
    run_badly(&k, "the offset overflows");
    finish(&k);
}

TEST(gathers_offsets_and_other_views_of_memory) {
    uint16_t x[4] = { 0x3c00, 0x4000, 0x4200, 0x4400 }; /* 1 2 3 4 in f16 */
    float y[4] = { 0 };
    kernel_case k;
    start(
        &k, "%x: &f16, %y: &f32",
        ZERO_ONE
        "%i = const {value = i64<2> [3, 0]}\n%v = load_at %x, %i : f16<2>\n"
        "%f = cast %v {to = f32}\nstore %f, %y, %zero\n%two = add %one, %one\n"
        "%o = offset %x, %one : &f16\n%b = reinterpret %o : &i16\n"
        "%w = load %b, %zero : i16\n%h = reinterpret %w : f16\n%g = cast %h {to = f32}\n"
        "store %g, %y, %two\n%bits = reinterpret %g : i32\n%three = add %two, %one\n"
        "%z = reinterpret %y : &i32\nstore %bits, %z, %three");
    buffer(&k, 0, x, sizeof x);
    buffer(&k, 1, y, sizeof y);
    run_well(&k);
    CHECK(y[0] == 4 && y[1] == 1 && y[2] == 2 && y[3] == 2);
    finish(&k);
}

TEST(local_memory_starts_undefined_and_scratch_has_a_size) {
    float y[2] = { 0 };
    kernel_case k;
    start(&k, "%y: &f32",
          ZERO_ONE
          "%l = local {count = 2} : &f32\n%s = scratch {offset = 4} : &f32\n"
          "%v = load %l, %one : f32\nstore %v, %y, %zero\nstore %v, %s, %zero\n"
          "%w = load %s, %zero : f32\nstore %w, %y, %one");
    buffer(&k, 0, y, sizeof y);
    k.call.scratch_bytes = 8;
    run_well(&k);
    CHECK(isnan((double)y[0]) && isnan((double)y[1]));
    k.call.scratch_bytes = 7;
    run_badly(&k, "leave the scratch memory of 7 bytes");
    finish(&k);
}

TEST(arrays_of_arguments) {
    float a[1] = { 5 }, b[1] = { 7 }, y[2] = { 0 };
    kernel_case k;
    start(&k, "%y: &f32, %a: &f32, %b: &f32, %n: i64, %m: i64",
          ZERO_ONE "%p = param_at %n, %one : i64\n%x = buffer_at %a, %p : &f32\n"
                   "%v = load %x, %zero : f32\nstore %v, %y, %zero");
    buffer(&k, 0, y, sizeof y);
    buffer(&k, 1, a, sizeof a);
    buffer(&k, 2, b, sizeof b);
    k.params[1] = 1;
    run_well(&k);
    CHECK(y[0] == 7);
    k.params[1] = 2;
    run_badly(&k, "index 2 leaves the arguments of its kind");
    finish(&k);
}

TEST(the_min_report_stays) {
    kernel_case k;
    start(&k, "%n: i64",
          ZERO_ONE
          "%two = add %one, %one\nreport %two, %one, %n\n"
          "report %one, %two, %n\nreport %one, %one, %n\nreport %two, %zero, %zero");
    k.params[0] = 99;
    run_well(&k);
    CHECK(k.call.reported);
    CHECK_INT(k.call.report_operand, 1);
    CHECK_INT(k.call.report_position, 1);
    CHECK_INT(k.call.report_value, 99);
    finish(&k);
}

TEST(integers_divide_by_zero_aloud) {
    kernel_case k;
    start(&k, "%n: i64", ZERO_ONE "%a = div %one, %n");
    run_badly(&k, "an integer is divided by zero in lane 0");
    finish(&k);
}

/* ---- threads ---- */

/* Each thread stores its number; after the barrier reads its neighbour's. */
#define NEIGHBOUR \
    ZERO_ONE "%s = shared {count = 4} : &i64\n%t = thread : i64\nstore %t, %s, %t\n"

TEST(threads_meet_at_barriers) {
    int64_t y[4] = { 0 };
    kernel_case k;
    start(&k, "%y: &i64, %n: i64",
          NEIGHBOUR
          "barrier\n%u = add %t, %one\n%m = mod %u, %n\n%v = load %s, %m : i64\n"
          "store %v, %y, %t");
    buffer(&k, 0, y, sizeof y);
    k.params[0] = 4;
    k.call.threads = 4;
    k.call.check_races = true;
    run_well(&k);
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 0);
    finish(&k);
}

TEST(barriers_may_stand_in_loops) {
    int64_t y[4] = { 0 };
    kernel_case k;
    start(
        &k, "%y: &i64, %n: i64",
        NEIGHBOUR
        "for %zero, %n, %one (%i: i64) {\nbarrier\n%u = add %t, %one\n"
        "%four = const {value = i64 4}\n%m = mod %u, %four\n%v = load %s, %m : i64\n"
        "barrier\nstore %v, %s, %t\nyield\n}\n%r = load %s, %t : i64\nstore %r, %y, %t");
    buffer(&k, 0, y, sizeof y);
    k.params[0] = 2;
    k.call.threads = 4;
    k.call.check_races = true;
    run_well(&k);
    CHECK(y[0] == 2 && y[1] == 3 && y[2] == 0 && y[3] == 1);
    finish(&k);
}

TEST(races_are_found) {
    int64_t y[4] = { 0 };
    kernel_case k;
    start(&k, "%y: &i64, %n: i64",
          NEIGHBOUR "%u = add %t, %one\n%m = mod %u, %n\n%v = load %s, %m : i64\n"
                    "store %v, %y, %t");
    buffer(&k, 0, y, sizeof y);
    k.params[0] = 4;
    k.call.threads = 4;
    k.call.check_races = true;
    run_badly(&k, "was touched by another thread since the last barrier");
    k.call.check_races = false;
    run_well(&k);
    finish(&k);
    start(&k, "%y: &i64", ZERO_ONE "store %one, %y, %zero");
    buffer(&k, 0, y, sizeof y);
    k.call.threads = 2;
    k.call.check_races = true;
    run_badly(&k, "was touched by another thread since the last barrier");
    finish(&k);
    start(&k, "%y: &i64",
          ZERO_ONE
          "%v = load %y, %zero : i64\n%t = thread : i64\n"
          "%c = eq %t, %one\nif %c {\nstore %v, %y, %zero\nyield\n} else {\nyield\n}");
    buffer(&k, 0, y, sizeof y);
    k.call.threads = 3;
    k.call.check_races = true;
    run_badly(&k, "was touched by another thread since the last barrier");
    finish(&k);
}

TEST(threads_that_part_ways_are_found) {
    kernel_case k;
    start(&k, "%n: i64",
          ZERO_ONE "%t = thread : i64\n%c = eq %t, %zero\n"
                   "if %c {\nbarrier\nyield\n} else {\nyield\n}");
    k.call.threads = 2;
    run_badly(&k, "not all of them reach this barrier");
    finish(&k);
}

UNIT_SUITE(interpret_kernel, a_loop_carries_values,
           yields_may_be_the_arguments_they_replace, branches_give_values,
           vectors_shuffle_splat_count_and_reduce,
           single_precision_is_rounded_at_every_step,
           counts_keep_lanes_from_being_touched, every_access_is_checked,
           gathers_offsets_and_other_views_of_memory,
           local_memory_starts_undefined_and_scratch_has_a_size, arrays_of_arguments,
           the_min_report_stays, integers_divide_by_zero_aloud,
           threads_meet_at_barriers, barriers_may_stand_in_loops, races_are_found,
           threads_that_part_ways_are_found)
