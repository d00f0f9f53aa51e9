/* Composites compute what their decompositions do: each is interpreted as it is and
 * taken apart, on random and special values, and without any rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/decompose.h"

#include "ir/interpret/interpret.h"
#include "ir/parse/read.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INPUTS_MAX = 9, RESULTS_MAX = 3 };

typedef struct composite {
    ig_opcode code;
    const char *text; /* arguments, results and op; B rows */
} composite;

static const composite composites[] = {
    { IG_OP_softmax, "(%x: f32[B, 5]) -> (f32[B, 5]) {\n"
                     "%0 = softmax %x {axis = 1} : f32[B, 5]\nret %0\n}" },
    { IG_OP_softmax, "(%x: f64[4, B]) -> (f64[4, B]) {\n"
                     "%0 = softmax %x {axis = 0, log} : f64[4, B]\nret %0\n}" },
    { IG_OP_softmax, "(%x: f32[B, 7]) -> (f32[B, 7]) {\n" /* a column is all special */
                     "%0 = softmax %x {axis = 0, empty_zero} : f32[B, 7]\nret %0\n}" },
    { IG_OP_batch_norm,
      "(%x: f32[B, 3, 4], %s: f32[3], %b: f32[3], %m: f32[3], %v: f32[3]) -> (f32[B, 3, 4]) {\n"
      "%0 = batch_norm %x, %s, %b, %m, %v {epsilon = 0.5} : f32[B, 3, 4]\nret %0\n}" },
    { IG_OP_group_norm,
      "(%x: f32[B, 4, 3], %s: f32[4], %b: f32[4]) -> (f32[B, 4, 3]) {\n"
      "%0 = group_norm %x, %s, %b {groups = 2, epsilon = 0.5} : f32[B, 4, 3]\nret %0\n}" },
    { IG_OP_group_norm,
      "(%x: f16[B, 4, 3]) -> (f16[B, 4, 3]) {\n"
      "%0 = group_norm %x {groups = 1, epsilon = 0.5} : f16[B, 4, 3]\n"
      "ret %0\n}" },
    { IG_OP_group_norm_last,
      "(%x: f32[B, 3, 2, 6]) -> (f32[B, 3, 2, 6]) {\n"
      "%0 = group_norm_last %x {groups = 3, epsilon = 0.5} : f32[B, 3, 2, 6]\nret %0\n}" },
    { IG_OP_attention,
      "(%q: f32[B, 3, 4], %k: f32[B, 5, 4], %v: f32[B, 5, 2]) -> (f32[B, 3, 2]) {\n"
      "%0 = attention %q, %k, %v {scale = 0.5} : f32[B, 3, 2]\nret %0\n}" },
    { IG_OP_attention,
      "(%q: f32[B, 3, 4], %k: f32[B, 5, 4], %v: f32[B, 5, 2], %m: f32[3, 5]) -> (f32[B, 3, 2]) {\n"
      "%0 = attention %q, %k, %v, %m {scale = 0.25, causal} : f32[B, 3, 2]\nret %0\n}" },
    { IG_OP_attention,
      "(%q: f32[B, 3, 4], %k: f32[B, 5, 4], %v: f32[B, 5, 2], %m: bool[3, 5]) -> (f32[B, 3, 2]) {\n"
      "%0 = attention %q, %k, %v, %m {scale = 0.25, softcap = 2, masked = -100, causal, past = B} : f32[B, 3, 2]\nret %0\n}" },
    { IG_OP_attention,
      "(%q: f16[B, 3, 4], %k: f16[B, 5, 4], %v: f16[B, 5, 2]) -> (f16[B, 3, 2]) {\n"
      "%0 = attention %q, %k, %v {scale = 0.25, softcap = 2, causal, past = 1} : f16[B, 3, 2]\nret %0\n}" },
    { IG_OP_attention,
      "(%q: f32[B, 3, 4], %k: f32[B, 5, 4], %v: f32[B, 5, 2], %m: bool[3, 5]) -> (f32[B, 3, 2]) {\n"
      "%0 = attention %q, %k, %v, %m {scale = 1, empty_nan} : f32[B, 3, 2]\nret %0\n}" },
    { IG_OP_jagged_to_padded,
      "(%x: f16[B, 2]) -> (f16[4, 2, 2]) {\n"
      "%o = const {value = [0, 2, 2, 3, 3]} : i64[5]\n"
      "%0 = jagged_to_padded %x, %o {length = 2, padding = -0.5} : f16[4, 2, 2]\nret %0\n}" },
    { IG_OP_jagged_to_padded,
      "(%x: bool[B], %o: i32[3]) -> (bool[2, 2]) {\n" /* parts begin at -4 */
      "%0 = jagged_to_padded %x, %o {length = 2} : bool[2, 2]\nret %0\n}" },
    { IG_OP_padded_to_jagged,
      "(%x: f32[4, B, 2]) -> (f32[7, 2]) {\n"
      "%o = const {value = [1, 3, 3, 4, 6]} : i32[5]\n"
      "%0 = padded_to_jagged %x, %o {rows = 7} : f32[7, 2]\nret %0\n}" },
    { IG_OP_padded_to_jagged,
      "(%x: f32[1, B]) -> (f32[6]) {\n"
      "%o = const {value = [-1, 4]} : i64[2]\n%n = const {value = 6} : i64[]\n"
      "%0 = padded_to_jagged %x, %o, %n : f32[6]\nret %0\n}" },
    { IG_OP_rnn,
      "(%x: f32[3, B, 2], %h: f32[B, 2], %c: f32[B, 2], %w: f32[8, 2], %r: f32[8, 2], %b: f32[8]) -> (f32[3, B, 2], f32[B, 2], f32[B, 2]) {\n"
      "%0, %1, %2 = rnn %x, %h, %c, %w, %r, %b, %b : f32[3, B, 2], f32[B, 2], f32[B, 2]\n"
      "ret %0, %1, %2\n}" },
    { IG_OP_rnn,
      "(%x: f32[3, B, 2], %h: f32[B, 2], %w: f32[6, 2], %r: f32[6, 2], %b: f32[6]) -> (f32[3, B, 2], f32[B, 2]) {\n"
      "%0, %1 = rnn %x, %h, %w, %r, %b, %b {cell = gru, reverse, reset_first} : f32[3, B, 2], f32[B, 2]\n"
      "ret %0, %1\n}" },
    { IG_OP_windows,
      "(%x: f32[B, 5, 4, 3]) -> (f32[B, 4, 2, 12]) {\n"
      "%0 = windows %x {kernel = [2, 2], strides = [1, 2]} : f32[B, 4, 2, 12]\nret %0\n}" },
    { IG_OP_windows,
      "(%x: u8[B, 7, 1]) -> (u8[B, 2, 3]) {\n"
      "%0 = windows %x {kernel = [3], strides = [2], dilations = [2]} : u8[B, 2, 3]\n"
      "ret %0\n}" },
    { IG_OP_matmul_panels,
      "(%a: f32[B, 4], %b: f32[2, 4, 16]) -> (f32[B, 17]) {\n"
      "%0 = matmul_panels %a, %b {columns = 17} : f32[B, 17]\nret %0\n}" },
    { IG_OP_matmul_panels,
      "(%a: f32[B, 4], %b: i8[2, 4, 16], %z: i8[2, 16]) -> (f32[B, 32]) {\n"
      "%0 = matmul_panels %a, %b, %z {columns = 32} : f32[B, 32]\nret %0\n}" },
    { IG_OP_matmul_panels,
      "(%a: f16[B, 4], %b: f16[1, 4, 16]) -> (f32[B, 1]) {\n"
      "%0 = matmul_panels %a, %b {columns = 1, wide} : f32[B, 1]\nret %0\n}" },
    { IG_OP_conv_panels,
      "(%x: f32[B, 5, 4, 4], %w: f32[2, 8, 16]) -> (f32[B, 2, 2, 6]) {\n"
      "%0 = conv_panels %x, %w {kernel = [2, 2], columns = 3, group = 2, strides = [2, 1], dilations = [1, 2]} : f32[B, 2, 2, 6]\nret %0\n}" },
    { IG_OP_conv_panels,
      "(%x: f32[B, 5, 4, 4], %w: f32[2, 8, 16]) -> (f32[B, 5, 3, 6]) {\n"
      "%0 = conv_panels %x, %w {kernel = [2, 2], columns = 3, group = 2, strides = [1, 2], before = [0, 2], after = [1, 1]} : f32[B, 5, 3, 6]\nret %0\n}" },
    { IG_OP_conv_channels,
      "(%x: f32[B, 5, 4, 3], %w: f32[2, 2, 3]) -> (f32[B, 3, 4, 3]) {\n"
      "%0 = conv_channels %x, %w {strides = [2, 1], before = [1, 0], after = [0, 1]} : f32[B, 3, 4, 3]\nret %0\n}" },
    { IG_OP_conv_channels,
      "(%x: u8[B, 5, 3], %w: f32[2, 3], %z: u8[]) -> (f32[B, 6, 3]) {\n"
      "%0 = conv_channels %x, %w, %z {before = [1], after = [1]} : f32[B, 6, 3]\nret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[B, 2, 3, 4]) -> (f32[B, 2, 6, 5]) {\n"
      "%0 = resize %x {sizes = [B, 2, 6, 5], mode = linear, coordinates = align_corners} : f32[B, 2, 6, 5]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[B, 2, 3, 4]) -> (f32[B, 2, 6, 8]) {\n"
      "%0 = resize %x {sizes = [B, 2, 6, 8]} : f32[B, 2, 6, 8]\nret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[B, 2, 5]) -> (f32[B, 2, 2]) {\n"
      "%0 = resize %x {sizes = [B, 2, 2], mode = linear, antialias, exclude_outside} : f32[B, 2, 2]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[B, 2, 5]) -> (f32[B, 2, 15]) {\n"
      "%0 = resize %x {sizes = [B, 2, 15], mode = cubic, exclude_outside} : f32[B, 2, 15]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[2, 2, B]) -> (f32[2, 2, 3]) {\n"
      "%0 = resize %x {sizes = [2, 2, 3], mode = linear, antialias} : f32[2, 2, 3]\n"
      "ret %0\n}" },
    { IG_OP_resize, /* lines long enough for a bag: along both axes, and along one */
      "(%x: f32[B, 2, 13, 11]) -> (f32[B, 2, 4, 3]) {\n"
      "%0 = resize %x {sizes = [B, 2, 4, 3], mode = linear, antialias} : f32[B, 2, 4, 3]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f64[2, 17, B, 8]) -> (f64[2, 5, B, 8]) {\n"
      "%0 = resize %x {sizes = [2, 5, B, 8], mode = cubic, antialias, exclude_outside} : f64[2, 5, B, 8]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[1, 2, 9], %l: f32[B]) -> (f32[1, 2, B]) {\n"
      "%0 = resize %x {sizes = [1, 2, B], mode = cubic, antialias, exclude_outside} : f32[1, 2, B]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[2, 2, B], %s: f32[3]) -> (f32[2, 2, 5]) {\n"
      "%0 = resize %x, %s {sizes = [2, 2, 5], mode = linear, coordinates = half_pixel_symmetric} : f32[2, 2, 5]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[B, 2, 3, 4], %s: f32[4]) -> (f32[B, 2, 5, 4]) {\n"
      "%0 = resize %x, %s {sizes = [B, 2, 5, 4], mode = cubic, antialias, coordinates = align_corners} : f32[B, 2, 5, 4]\n"
      "ret %0\n}" },
    { IG_OP_resize,
      "(%x: f32[2, B, 3], %s: f32[3], %r: f32[6]) -> (f32[2, B, 4]) {\n"
      "%0 = resize %x, %s, %r {sizes = [2, B, 4], coordinates = crop, outside = 7} : f32[2, B, 4]\n"
      "ret %0\n}" },
    { IG_OP_grid_sample,
      "(%x: f32[B, 2, 3, 4], %g: f32[B, 5, 2, 2]) -> (f32[B, 2, 5, 2]) {\n"
      "%0 = grid_sample %x, %g {mode = linear, align_corners} : f32[B, 2, 5, 2]\n"
      "ret %0\n}" },
    { IG_OP_grid_sample,
      "(%x: f32[B, 2, 3, 4], %g: f32[B, 5, 2, 2]) -> (f32[B, 2, 5, 2]) {\n"
      "%0 = grid_sample %x, %g {mode = cubic, outside = border} : f32[B, 2, 5, 2]\n"
      "ret %0\n}" },
    { IG_OP_grid_sample,
      "(%x: f32[1, 2, 3, 4, 2], %g: f32[1, B, 2, 2, 3]) -> (f32[1, 2, B, 2, 2]) {\n"
      "%0 = grid_sample %x, %g {mode = linear, outside = reflection} : f32[1, 2, B, 2, 2]\n"
      "ret %0\n}" },
    { IG_OP_grid_sample,
      "(%x: i32[2, 1, 6], %g: f64[2, B, 1]) -> (i32[2, 1, B]) {\n"
      "%0 = grid_sample %x, %g {outside = reflection, align_corners} : i32[2, 1, B]\n"
      "ret %0\n}" },
    { IG_OP_quantize,
      "(%x: f32[B, 4], %s: f32[4]) -> (i8[B, 4]) {\n"
      "%0 = quantize %x, %s {to = i8, axis = 1} : i8[B, 4]\nret %0\n}" },
    { IG_OP_dequantize, "(%x: i8[B, 4], %s: f32[4]) -> (f32[B, 4]) {\n"
                        "%0 = dequantize %x, %s {axis = 1} : f32[B, 4]\nret %0\n}" },
    { IG_OP_adaptive_pool,
      "(%x: f32[B, 2, 5]) -> (f32[B, 2, 3]) {\n"
      "%0 = adaptive_pool %x {sizes = [3]} : f32[B, 2, 3]\nret %0\n}" },
    { IG_OP_matmul_integer, "(%x: i8[B, 4], %y: i8[4, 3]) -> (i32[B, 3]) {\n"
                            "%0 = matmul_integer %x, %y : i32[B, 3]\nret %0\n}" },
    { IG_OP_matmul_bits,
      "(%x: f32[B, 24], %w: u8[3, 6], %s: f32[3, 2], %z: f32[3, 2]) -> (f32[B, 3]) {\n"
      "%0 = matmul_bits %x, %w, %s, %z {bits = 2} : f32[B, 3]\nret %0\n}" },
    { IG_OP_matmul_bits,
      "(%x: f32[B, 6], %w: u8[3, 3], %s: f32[3, 1]) -> (f32[B, 3]) {\n"
      "%0 = matmul_bits %x, %w, %s {bits = 4} : f32[B, 3]\nret %0\n}" },
    { IG_OP_matmul_bits,
      "(%x: f32[4, 6], %w: u8[B, 6], %s: f32[B, 3]) -> (f32[4, B]) {\n"
      "%0 = matmul_bits %x, %w, %s {bits = 8} : f32[4, B]\nret %0\n}" },
    { IG_OP_matmul_bits,
      "(%x: f32[B, 0], %w: u8[3, 0], %s: f32[3, 0]) -> (f32[B, 3]) {\n"
      "%0 = matmul_bits %x, %w, %s {bits = 4} : f32[B, 3]\nret %0\n}" },
};

static const double specials[] = { 0.25,      -0.0,  (double)NAN, INFINITY,
                                   -INFINITY, 1e-40, 1e4 };

static uint64_t random_state;

static double random_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 40) / (1 << 22) - 2;
}

static ig_tensor make_input(const ig_type *type, int64_t rows, double special,
                            ig_arena *arena) {
    int64_t dims[IG_TENSOR_RANK];
    ig_tensor tensor;
    for (uint32_t d = 0; d < type->rank; d++) {
        if (!ig_dim_known(type->dims[d], &dims[d])) {
            dims[d] = rows;
        }
    }
    CHECK_OK(
        ig_tensor_alloc(arena, NULL, (ig_dtype)type->dtype, type->rank, dims, &tensor));
    for (int64_t i = 0; i < tensor.count; i++) {
        double value = i % 7 == 3 ? special : random_number();
        if (ig_dtype_is_float((ig_dtype)type->dtype)) {
            ig_tensor_set_f64(&tensor, i, value);
        } else {
            ig_tensor_set_i64(&tensor, i,
                              type->dtype == IG_DT_bool ? i % 3 != 1 : i - 4);
        }
    }
    return tensor;
}

/* The one composite of the graph in terms of simpler ops. */
static void take_apart(ig_graph *graph, ig_opcode code) {
    ig_value *results[IG_DECOMPOSE_RESULTS];
    ig_op *op = graph->body.first;
    while (op->code != code) {
        op = op->next;
    }
    ig_builder b = ig_builder_before(op);
    ig_expr e = ig_expr_of(&b);
    CHECK(ig_decomposition_of(code)(&e, op, results));
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value_retype(&op->results[i], results[i]->type);
        ig_value_replace(&op->results[i], results[i]);
    }
    ig_op_erase(op);
}

static bool is_close(double got, double expected, ig_dtype dtype) {
    double relative = dtype == IG_DT_f16 ? 1e-2 : 1e-5;
    if (isnan(expected) || isinf(expected)) {
        return isnan(expected) ? isnan(got) : got == expected;
    }
    return fabs(got - expected) <= relative * (1 + fabs(expected));
}

static void compare(const ig_graph *whole, const ig_graph *apart, int64_t rows,
                    double special) {
    ig_tensor inputs[INPUTS_MAX], expected[RESULTS_MAX], got[RESULTS_MAX];
    const ig_op *ret = whole->body.last;
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    random_state = 7;
    for (uint32_t i = 0; i < whole->body.arg_count; i++) {
        inputs[i] = make_input(whole->body.args[i]->type, rows, special, &arena);
    }
    bool is_right = ig_interpret(whole, inputs, &arena, expected) == IG_OK;
    CHECK((ig_interpret(apart, inputs, &arena, got) == IG_OK) == is_right);
    for (uint32_t r = 0; is_right && r < ret->operand_count; r++) {
        CHECK_INT(got[r].count, expected[r].count);
        for (int64_t i = 0; i < got[r].count; i++) {
            double a = ig_tensor_get_f64(&got[r], i);
            double b = ig_tensor_get_f64(&expected[r], i);
            CHECK_MSG(is_close(a, b, (ig_dtype)expected[r].dtype),
                      "%s with %g, result %u, element %lld: %g, expected %g",
                      ig_ops[whole->body.first->code].name, special, r, (long long)i, a,
                      b);
        }
    }
    ig_arena_fini(&arena);
}

static ig_module *parse(ig_context *context, const composite *c) {
    char text[1024];
    ig_module *module = NULL;
    int size = snprintf(text, sizeof(text), "module @m {\ngraph @main%s\n}\n", c->text);
    CHECK_OK(
        ig_parse_module(context, "case.ig", (ig_str){ text, (size_t)size }, &module));
    return module;
}

static void print_message(void *user, const ig_diagnostic *diagnostic) {
    char text[500];
    (void)user;
    ig_diagnostic_format(diagnostic, text, sizeof(text));
    puts(text);
}

START_TEST(a_composite_is_its_decomposition) {
    const composite *c = &composites[_i];
    ig_context context = { .limits = ig_limits_default, .diag.sink = print_message };
    ig_module *whole = parse(&context, c), *apart = parse(&context, c);
    take_apart((ig_graph *)(uintptr_t)ig_module_graph(apart, "main"), c->code);
    for (size_t i = 0; i < IG_COUNT_OF(specials); i++) {
        compare(ig_module_graph(whole, "main"), ig_module_graph(apart, "main"), 3,
                specials[i]);
    }
    compare(ig_module_graph(whole, "main"), ig_module_graph(apart, "main"), 0, 0);
    ig_module_destroy(whole);
    ig_module_destroy(apart);
}
END_TEST

static void add_composites(TCase *tests) {
    tcase_add_loop_test(tests, a_composite_is_its_decomposition, 0,
                        IG_COUNT_OF(composites));
}

TEST(every_composite_is_held_against_its_decomposition) {
    for (int code = 0; code < IG_OP_COUNT; code++) {
        bool is_held = !ig_decomposition_of((ig_opcode)code) ||
                       code == IG_OP_conv_integer; /* held by its golden file */
        for (size_t i = 0; !is_held && i < IG_COUNT_OF(composites); i++) {
            is_held = (int)composites[i].code == code;
        }
        CHECK_MSG(is_held, "%s has no case", ig_ops[code].name);
    }
}
END_TEST

UNIT_SUITE_WITH(compose_decompose, add_composites,
                every_composite_is_held_against_its_decomposition)
