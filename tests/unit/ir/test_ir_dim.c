/* Dims: normal forms, ranges, translation, and random expressions against plain
 * arithmetic.  SPDX-License-Identifier: Apache-2.0 */
#include "ir/dim/table.h"
#include "ir/graph.h"

#include "tests/unit/unit.h"

static ig_context context;
static ig_module *module;

static void start(void) {
    context = (ig_context){ .limits = ig_limits_default };
    module = ig_module_create(&context, "test");
}

static void finish(void) {
    ig_module_destroy(module);
}

static const char *text(ig_dim dim) {
    ig_writer writer;
    ig_writer_init(&writer, &module->arena);
    ig_dim_print(module, dim, &writer);
    return writer.data;
}

static ig_dim sym(const char *name) {
    return ig_dim_named(module, ig_str_of(name));
}

static ig_symbol *symbol(const char *name) {
    return ig_dim_as_symbol(module, sym(name));
}

#define ADD(a, b) ig_dim_add(module, (a), (b))
#define SUB(a, b) ig_dim_sub(module, (a), (b))
#define MUL(a, b) ig_dim_mul(module, (a), (b))
#define MIN(a, b) ig_dim_min(module, (a), (b))
#define MAX(a, b) ig_dim_max(module, (a), (b))
#define FLOOR(a, b) ig_dim_floor_div(module, (a), (b))
#define CEIL(a, b) ig_dim_ceil_div(module, (a), (b))
#define EXACT(a, b) ig_dim_exact_div(module, (a), (b))
#define BCAST(a, b) ig_dim_bcast(module, (a), (b))
#define CONST(a) ig_dim_const(module, (a))
#define CHECK_DIM(got, expected)                                           \
    CHECK_MSG(ig_dim_same((got), (expected)), "got %s, not %s", text(got), \
              text(expected))

/* ---- normal forms ---- */

TEST(constants_are_plain_numbers) {
    start();
    CHECK_DIM(ADD(CONST(2), CONST(3)), CONST(5));
    CHECK_DIM(MUL(CONST(4), CONST(6)), CONST(24));
    int64_t value;
    CHECK(ig_dim_constant(module, SUB(CONST(2), CONST(5)), &value));
    CHECK_INT(value, -3);
    CHECK(!ig_dim_is_static(SUB(CONST(2), CONST(5))));
    CHECK_DIM(ADD(SUB(CONST(2), CONST(5)), CONST(3)), CONST(0));
    CHECK_TEXT(text(CONST(-7)), "-7");
    CHECK_TEXT(text(CONST(0)), "0");
    value = 7;
    CHECK(!ig_dim_constant(module, sym("B"), &value));
    CHECK(!ig_dim_constant(module, SUB(CONST(3), sym("B")), &value));
    CHECK_INT(value, 7);
    finish();
}

TEST(divisors_are_of_all_terms) {
    start();
    ig_dim b = sym("B"), n = sym("N");
    symbol("N")->multiple = 8;
    CHECK_INT(ig_dim_divisor(module, CONST(0)), 0);
    CHECK_INT(ig_dim_divisor(module, CONST(12)), 12);
    CHECK_INT(ig_dim_divisor(module, CONST(-12)), 12);
    CHECK_INT(ig_dim_divisor(module, b), 1);
    CHECK_INT(ig_dim_divisor(module, MUL(CONST(49), b)), 49);
    CHECK_INT(ig_dim_divisor(module, MUL(n, b)), 8);
    CHECK_INT(ig_dim_divisor(module, ADD(MUL(CONST(6), n), MUL(CONST(36), b))), 12);
    CHECK_INT(ig_dim_divisor(module, ADD(MUL(CONST(6), b), CONST(1))), 1);
    CHECK_INT(ig_dim_divisor(module, MUL(CONST(3), FLOOR(b, CONST(2)))), 3);
    CHECK_INT(ig_dim_divisor(module, CONST(INT64_MIN)), 1);
    finish();
}
END_TEST

TEST(equal_expressions_are_the_same_dim) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_DIM(ADD(b, l), ADD(l, b));
    CHECK_DIM(MUL(ADD(b, CONST(1)), ADD(b, CONST(1))),
              ADD(ADD(MUL(b, b), MUL(CONST(2), b)), CONST(1)));
    CHECK_DIM(SUB(ADD(b, l), l), b);
    CHECK_DIM(MUL(MUL(b, l), CONST(3)), MUL(l, MUL(CONST(3), b)));
    CHECK_DIM(ig_dim_product(module, (ig_dim[]){ CONST(2), b, CONST(3), l }, 4),
              MUL(CONST(6), MUL(b, l)));
    finish();
}

TEST(text_puts_high_degree_first_and_constants_last) {
    start();
    ig_dim b = sym("B"), l = sym("L"), n = sym("N");
    ig_dim dim = ADD(SUB(CEIL(n, CONST(16)), CONST(1)), MUL(CONST(2), MUL(l, b)));
    CHECK_TEXT(text(dim), "2*B*L + ceil(N / 16) - 1");
    CHECK_TEXT(text(SUB(CONST(2), b)), "-B + 2");
    CHECK_TEXT(text(FLOOR(ADD(n, CONST(1)), ADD(b, l))), "floor((N + 1) / (B + L))");
    CHECK_TEXT(text(EXACT(b, MUL(CONST(2), l))), "exact(B / (2*L))");
    CHECK_TEXT(text(MIN(ADD(l, CONST(1)), b)), "min(B, L + 1)");
    finish();
}

/* Text does not depend on which symbol was made first. */
TEST(order_is_by_name) {
    start();
    ig_dim z = sym("Z"), a = sym("A");
    CHECK_TEXT(text(ADD(z, a)), "A + Z");
    finish();
}

TEST(products_cancel_in_exact_quotients) {
    start();
    ig_dim b = sym("B"), s = sym("S"), n = sym("N");
    CHECK_DIM(EXACT(MUL(CONST(4), MUL(b, s)), MUL(CONST(2), b)), MUL(CONST(2), s));
    CHECK_DIM(EXACT(MUL(b, n), MUL(b, s)), EXACT(n, s));
    CHECK_DIM(EXACT(SUB(MUL(b, b), CONST(1)), ADD(b, CONST(1))), SUB(b, CONST(1)));
    CHECK_DIM(EXACT(CONST(0), b), CONST(0));
    CHECK_DIM(MUL(CONST(16), EXACT(n, CONST(16))), n);
    CHECK_DIM(MUL(MUL(b, CONST(2)), EXACT(n, MUL(CONST(2), b))), n);
    CHECK_DIM(MUL(ADD(b, CONST(1)), EXACT(n, ADD(b, CONST(1)))), n);
    CHECK_DIM(ADD(EXACT(n, CONST(2)), EXACT(n, CONST(2))), n);
    CHECK_DIM(EXACT(EXACT(n, CONST(3)), CONST(5)), EXACT(n, CONST(15)));
    CHECK_DIM(EXACT(n, CONST(-4)), EXACT(SUB(CONST(0), n), CONST(4)));
    CHECK_TEXT(text(EXACT(MUL(b, CONST(6)), CONST(4))), "exact(3*B / 2)");
    finish();
}

TEST(what_a_quotient_is_of_counts_in_it) {
    start();
    ig_dim b = sym("B"), n = sym("N"), of, sum = ADD(n, CONST(1));
    int64_t multiple;
    CHECK_DIM(SUB(n, EXACT(n, CONST(2))), EXACT(n, CONST(2)));
    CHECK_DIM(SUB(n, EXACT(n, CONST(16))), MUL(CONST(15), EXACT(n, CONST(16))));
    CHECK_DIM(SUB(MUL(b, n), MUL(b, EXACT(n, CONST(2)))), MUL(b, EXACT(n, CONST(2))));
    CHECK_DIM(SUB(MUL(CONST(3), sum), EXACT(sum, CONST(4))),
              MUL(CONST(11), EXACT(sum, CONST(4))));
    CHECK_TEXT(text(SUB(ADD(n, CONST(5)), EXACT(sum, CONST(4)))),
               "N - exact((N + 1) / 4) + 5");
    CHECK_INT(ig_dim_less_equal(module, EXACT(n, CONST(2)), n), IG_YES);
    CHECK(ig_dim_as_rounded(module, MUL(CONST(3), FLOOR(n, CONST(3))), &of, &multiple));
    CHECK_DIM(of, n);
    CHECK_INT(multiple, 3);
    CHECK(
        !ig_dim_as_rounded(module, MUL(CONST(2), FLOOR(n, CONST(3))), &of, &multiple));
    CHECK(!ig_dim_as_rounded(module, n, &of, &multiple));
    finish();
}

TEST(rounded_quotients_have_one_form) {
    start();
    ig_dim m = sym("M"), n = sym("N");
    CHECK_DIM(FLOOR(MUL(CONST(16), n), CONST(16)), n);
    CHECK_DIM(FLOOR(ADD(MUL(CONST(16), n), CONST(5)), CONST(16)), n);
    CHECK_DIM(CEIL(MUL(CONST(16), n), CONST(16)), n);
    CHECK_DIM(FLOOR(ADD(n, CONST(15)), CONST(16)), CEIL(n, CONST(16)));
    CHECK_DIM(CEIL(SUB(n, CONST(15)), CONST(16)), FLOOR(n, CONST(16)));
    CHECK_DIM(FLOOR(ADD(m, CONST(35)), CONST(16)),
              ADD(FLOOR(ADD(m, CONST(3)), CONST(16)), CONST(2)));
    CHECK_DIM(FLOOR(FLOOR(m, CONST(4)), CONST(5)), FLOOR(m, CONST(20)));
    CHECK_DIM(CEIL(CEIL(m, CONST(4)), CONST(5)), CEIL(m, CONST(20)));
    CHECK_DIM(FLOOR(ADD(MUL(CONST(4), m), CONST(3)), CONST(16)), FLOOR(m, CONST(4)));
    CHECK_DIM(FLOOR(SUB(CONST(0), m), CONST(4)), SUB(CONST(0), CEIL(m, CONST(4))));
    CHECK_DIM(FLOOR(MUL(n, m), n), m);
    CHECK_DIM(FLOOR(CONST(7), CONST(2)), CONST(3));
    CHECK_DIM(CEIL(CONST(7), CONST(2)), CONST(4));
    CHECK_DIM(FLOOR(CONST(-7), CONST(2)), CONST(-4));
    finish();
}

TEST(ranges_and_multiples_simplify) {
    start();
    ig_dim m = sym("M"), n = sym("N");
    symbol("M")->max = 15;
    CHECK_DIM(FLOOR(m, CONST(16)), CONST(0));
    CHECK_DIM(MIN(m, CONST(20)), m);
    CHECK_DIM(MAX(m, CONST(20)), CONST(20));
    symbol("N")->multiple = 8;
    CHECK_DIM(MUL(CONST(8), FLOOR(n, CONST(8))), n);
    CHECK_DIM(MUL(CONST(4), CEIL(n, CONST(4))), n);
    CHECK_DIM(CEIL(n, CONST(8)), FLOOR(n, CONST(8)));
    finish();
}

TEST(extremes_keep_the_smaller_and_the_larger) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_DIM(MIN(b, ADD(b, CONST(1))), b);
    CHECK_DIM(MAX(b, ADD(b, l)), ADD(b, l));
    CHECK_DIM(MIN(b, b), b);
    CHECK_DIM(MIN(b, l), MIN(l, b));
    CHECK_DIM(MIN(MIN(b, CONST(5)), CONST(3)), MIN(b, CONST(3)));
    CHECK_DIM(MIN(MIN(b, CONST(3)), CONST(5)), MIN(b, CONST(3)));
    CHECK_DIM(MAX(CONST(0), b), b);
    CHECK_DIM(MIN(MIN(b, l), b), MIN(b, l));
    finish();
}

TEST(extremes_meet_what_they_are_made_of) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_DIM(SUB(b, MIN(b, CONST(1))), MAX(SUB(b, CONST(1)), CONST(0)));
    CHECK_DIM(SUB(MAX(b, l), b), MAX(SUB(l, b), CONST(0)));
    CHECK_DIM(ADD(MIN(b, CONST(1)), MAX(SUB(b, CONST(1)), CONST(0))), b);
    CHECK_DIM(SUB(ADD(MUL(CONST(2), MIN(b, l)), CONST(3)), MUL(CONST(2), b)),
              SUB(CONST(3), MUL(CONST(2), MAX(SUB(b, l), CONST(0)))));
    finish();
}

TEST(broadcast_extents) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_DIM(BCAST(b, CONST(1)), b);
    CHECK_DIM(BCAST(CONST(1), b), b);
    CHECK_DIM(BCAST(b, b), b);
    CHECK_DIM(BCAST(CONST(7), b), CONST(7));
    CHECK_DIM(BCAST(CONST(0), b), CONST(0));
    CHECK_DIM(BCAST(BCAST(b, l), l), BCAST(b, l));
    CHECK_DIM(BCAST(b, BCAST(l, b)), BCAST(b, l));
    symbol("B")->min = 2;
    CHECK_DIM(BCAST(b, l), b);
    finish();
}

/* ---- truth ---- */

TEST(equality_is_three_valued) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_INT(ig_dim_equal(module, b, b), IG_YES);
    CHECK_INT(ig_dim_equal(module, b, l), IG_MAYBE);
    CHECK_INT(ig_dim_equal(module, CONST(3), CONST(4)), IG_NO);
    CHECK_INT(ig_dim_equal(module, b, ADD(b, CONST(1))), IG_NO);
    CHECK_INT(ig_dim_equal(module, b, CONST(-1)), IG_NO);
    CHECK_INT(ig_dim_equal(module, MUL(CONST(2), b), ADD(MUL(CONST(2), l), CONST(1))),
              IG_NO);
    CHECK_INT(ig_dim_equal(module, b, CONST(0)), IG_MAYBE);
    symbol("L")->min = 1;
    CHECK_INT(ig_dim_equal(module, ADD(b, l), b), IG_NO);
    finish();
}

TEST(order_is_three_valued) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    CHECK_INT(ig_dim_less_equal(module, CONST(0), b), IG_YES);
    CHECK_INT(ig_dim_less_equal(module, ADD(b, CONST(1)), b), IG_NO);
    CHECK_INT(ig_dim_less_equal(module, b, l), IG_MAYBE);
    CHECK_INT(ig_dim_less_equal(module, MIN(b, l), b), IG_YES);
    CHECK_INT(ig_dim_less_equal(module, b, MAX(b, l)), IG_YES);
    CHECK_INT(ig_dim_less_equal(module, FLOOR(b, CONST(2)), b), IG_YES);
    CHECK_INT(
        ig_dim_less_equal(module, ig_dim_mul(module, CONST(2), FLOOR(b, CONST(2))), b),
        IG_YES);
    CHECK_INT(
        ig_dim_less_equal(module, ig_dim_mul(module, CONST(3), FLOOR(b, CONST(2))), b),
        IG_MAYBE);
    CHECK_INT(ig_dim_less_equal(module, FLOOR(ADD(b, CONST(4)), CONST(2)), b),
              IG_MAYBE);
    CHECK_INT(ig_dim_less_equal(module, ADD(FLOOR(b, CONST(2)), FLOOR(l, CONST(3))),
                                ADD(b, l)),
              IG_YES);
    finish();
}

TEST(bounds_that_overflow_are_lost_not_wrong) {
    start();
    ig_dim b = sym("B");
    int64_t low, high;
    ig_dim_range(module, SUB(MUL(b, CONST(2)), CONST(5)), &low, &high);
    CHECK_INT(low, -5);
    CHECK_INT(high, INT64_MAX);
    symbol("B")->max = INT64_MAX / 2 + 1;
    ig_dim_range(module, SUB(MUL(b, CONST(2)), CONST(5)), &low, &high);
    CHECK_INT(high, INT64_MAX);
    finish();
}

/* ---- limits ---- */

TEST(overflow_becomes_a_fresh_symbol) {
    start();
    ig_dim huge = MUL(CONST(INT64_MAX), CONST(2));
    ig_symbol *fresh = ig_dim_as_symbol(module, huge);
    CHECK(fresh && ig_symbol_is_defined(fresh));
    CHECK_DIM(MUL(CONST(INT64_MAX), CONST(2)), huge);
    int64_t value, symbols[4] = { 0 };
    CHECK(!ig_dim_evaluate(module, fresh->defined, symbols, &value));
    finish();
}

TEST(what_overflows_is_known_to_have_no_value) {
    start();
    ig_dim huge = MUL(CONST(INT64_MAX), CONST(2)), n = sym("N"), large = n;
    CHECK(ig_dim_overflows(module, huge));
    CHECK(ig_dim_overflows(module, ADD(MUL(huge, n), CONST(1))));
    CHECK(ig_dim_overflows(module, BCAST(n, MUL(huge, huge))));
    CHECK(!ig_dim_overflows(module, CONST(INT64_MAX)));
    for (int i = 0; i < 7; i++) {
        large = MUL(large, large);
    }
    CHECK(ig_symbol_is_defined(
        ig_dim_as_symbol(module, large))); /* large, but N may be 1 */
    CHECK(!ig_dim_overflows(module, large));
    finish();
}

TEST(levels_count_definitions_after_definitions) {
    start();
    ig_dim large = sym("N");
    CHECK_INT(ig_dim_level(module, ADD(large, CONST(1))), 0);
    for (int level = 1; level <= 3; level++) {
        for (int i = 0; i < 7; i++) {
            large = MUL(large, large);
        }
        CHECK_INT(ig_dim_level(module, large), level);
        CHECK_INT(ig_dim_level(module, MIN(ADD(large, CONST(1)), sym("M"))), level);
    }
    finish();
}

TEST(too_many_terms_become_a_fresh_symbol) {
    start();
    ig_dim sum = CONST(0);
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        sum = ADD(sum, sym(name));
    }
    CHECK(ig_symbol_count(module) > 100);
    int64_t symbols[128], value;
    for (uint32_t i = 0; i < ig_symbol_count(module); i++) {
        const ig_symbol *s = ig_symbol_at(module, i);
        symbols[i] = i + 1;
        CHECK(!ig_symbol_is_defined(s) ||
              ig_dim_evaluate(module, s->defined, symbols, &symbols[i]));
    }
    CHECK(ig_dim_evaluate(module, sum, symbols, &value));
    int64_t expected = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        expected += symbols[ig_symbol_index(module, sym(name))];
    }
    CHECK_INT(value, expected);
    finish();
}

TEST(depth_is_bounded) {
    start();
    ig_dim b = sym("B"), dim = b;
    for (int i = 0; i < 5000; i++) {
        dim = i % 2 ? MIN(ADD(dim, CONST(1)), MUL(CONST(2), b))
                    : FLOOR(MUL(CONST(3), dim), ADD(b, CONST(2)));
    }
    CHECK(strlen(text(dim)) < 20000);
    int64_t *symbols = IG_NEW_ARRAY(&module->arena, int64_t, ig_symbol_count(module));
    symbols[0] = 10;
    bool all = true;
    for (uint32_t i = 1; i < ig_symbol_count(module); i++) {
        all = all && ig_dim_evaluate(module, ig_symbol_at(module, i)->defined, symbols,
                                     &symbols[i]);
    }
    int64_t value, expected = 10;
    for (int64_t i = 0; i < 5000; i++) {
        int64_t limit = expected + 1 < 20 ? expected + 1 : 20;
        expected = i % 2 ? limit : 3 * expected / 12;
    }
    CHECK(all && ig_dim_evaluate(module, dim, symbols, &value));
    CHECK_INT(value, expected);
    finish();
}

/* Each step doubles the expression when written out. */
TEST(size_is_bounded) {
    start();
    ig_dim dim = sym("B"), l = sym("L");
    for (int i = 0; i < 200; i++) {
        dim = ADD(MIN(dim, l), MAX(MUL(dim, CONST(3)), ADD(l, CONST(7))));
    }
    CHECK(strlen(text(dim)) < 40000);
    finish();
}

/* ---- symbols ---- */

TEST(names_are_made_unique_and_plain) {
    start();
    CHECK_TEXT(text(ig_dim_symbol(module, "B")), "B");
    CHECK_TEXT(text(ig_dim_symbol(module, "B")), "B2");
    CHECK_TEXT(text(ig_dim_symbol(module, "B")), "B3");
    CHECK_TEXT(text(ig_dim_symbol(module, "B2")), "B2_2");
    CHECK_TEXT(text(ig_dim_symbol(module, "past + 1")), "past___1");
    CHECK_TEXT(text(ig_dim_symbol(module, "4")), "d_4");
    CHECK_TEXT(text(ig_dim_symbol(module, "min")), "d_min");
    CHECK_TEXT(text(ig_dim_symbol(module, "")), "d_");
    CHECK_DIM(sym("B"), ig_dim_named(module, IG_STR("B")));
    finish();
}

static void count_symbol(void *user, uint32_t index) {
    ((int *)user)[index]++;
}

TEST(visiting_reaches_definitions_once) {
    start();
    ig_dim b = sym("B"), l = sym("L");
    ig_dim fresh = MUL(MUL(b, CONST(INT64_MAX)), CONST(3));
    int seen[8] = { 0 };
    ig_dim_visit_symbols(module, ADD(MUL(fresh, l), MIN(l, fresh)), count_symbol, seen);
    for (uint32_t i = 0; i < ig_symbol_count(module); i++) {
        CHECK_INT(seen[i], 1);
    }
    finish();
}

TEST(translation_goes_by_name) {
    start();
    ig_dim b = sym("B"), n = sym("N");
    symbol("B")->min = 3;
    ig_dim fresh = MUL(MUL(b, CONST(INT64_MAX)), CONST(3));
    ig_dim dim = ADD(MUL(fresh, b), CEIL(ADD(MIN(n, b), CONST(1)), CONST(4)));
    const char *before = text(dim);
    ig_module *from = module;
    ig_module *to = ig_module_create(&context, "other");
    (void)ig_dim_named(to, IG_STR("N"));
    ig_dim copy = ig_dim_translate(from, dim, to);
    module = to;
    CHECK_TEXT(text(copy), before);
    CHECK_INT(symbol("B")->min, 3);
    CHECK(ig_symbol_is_defined(ig_dim_as_symbol(to, ig_dim_named(to, IG_STR("d")))));
    CHECK_DIM(ig_dim_translate(from, dim, to), copy);
    ig_module_destroy(to);
    module = from;
    finish();
}

/* ---- random expressions against plain arithmetic ---- */

enum { SYMBOLS = 4, NODES = 24 };

typedef struct node {
    ig_dim_opcode kind;
    int64_t value; /* CONST, SYMBOL */
    int a, b;
} node;

static uint64_t seed = 12345;

static uint32_t draw(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void draw_nodes(node *nodes, int count) {
    for (int i = 0; i < count; i++) {
        node *n = &nodes[i];
        uint32_t kind = i < 3 ? draw(2) : draw(11);
        n->kind = kind < 2 ? (ig_dim_opcode)kind : (ig_dim_opcode)(kind - 1);
        if (n->kind == IG_DIM_CONST) {
            n->value = (int64_t)draw(12) - 2;
        } else if (n->kind == IG_DIM_SYMBOL) {
            n->value = draw(SYMBOLS);
        } else {
            n->a = (int)draw((uint32_t)i);
            n->b = (int)draw((uint32_t)i);
        }
    }
}

/* The greatest quotient whose product does not pass a, by its definition. */
static bool plain_divide(ig_dim_opcode kind, int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || a == INT64_MIN) {
        return false;
    }
    int64_t top = b < 0 ? -a : a, bottom = b < 0 ? -b : b;
    int64_t down = top / bottom;
    if (down * bottom > top) {
        down--;
    }
    bool is_whole = down * bottom == top;
    *out = kind == IG_DIM_CEIL && !is_whole ? down + 1 : down;
    return kind != IG_DIM_EXACT || is_whole;
}

static bool plain_apply(ig_dim_opcode kind, int64_t a, int64_t b, int64_t *out) {
    switch (kind) {
    case IG_DIM_ADD:
        return !__builtin_add_overflow(a, b, out);
    case IG_DIM_MUL:
        return !__builtin_mul_overflow(a, b, out);
    case IG_DIM_MIN:
        *out = a < b ? a : b;
        return true;
    case IG_DIM_MAX:
        *out = a > b ? a : b;
        return true;
    case IG_DIM_BCAST:
        *out = a == 1 ? b : a;
        return true;
    case IG_DIM_FLOOR:
    case IG_DIM_CEIL:
    case IG_DIM_EXACT:
        return plain_divide(kind, a, b, out);
    case IG_DIM_CONST:
    case IG_DIM_SYMBOL:
        break;
    }
    return false;
}

static ig_dim make(ig_dim_opcode kind, ig_dim a, ig_dim b) {
    switch (kind) {
    case IG_DIM_ADD:
        return ADD(a, b);
    case IG_DIM_MUL:
        return MUL(a, b);
    case IG_DIM_MIN:
        return MIN(a, b);
    case IG_DIM_MAX:
        return MAX(a, b);
    case IG_DIM_BCAST:
        return BCAST(a, b);
    case IG_DIM_FLOOR:
        return FLOOR(a, b);
    case IG_DIM_CEIL:
        return CEIL(a, b);
    case IG_DIM_EXACT:
        return EXACT(a, b);
    case IG_DIM_CONST:
    case IG_DIM_SYMBOL:
        break;
    }
    return CONST(0);
}

static void build_nodes(const node *nodes, int count, ig_dim *out) {
    static const char *const names[SYMBOLS] = { "B", "A", "D", "C" };
    for (int i = 0; i < count; i++) {
        const node *n = &nodes[i];
        out[i] = n->kind == IG_DIM_CONST    ? CONST(n->value)
                 : n->kind == IG_DIM_SYMBOL ? sym(names[n->value])
                                            : make(n->kind, out[n->a], out[n->b]);
    }
}

/* values[i] of each node; known[i] false where it has no value or is too large for the
 * plain arithmetic here to be trusted. */
static void plain_values(const node *nodes, int count, const int64_t *symbols,
                         int64_t *values, bool *known) {
    for (int i = 0; i < count; i++) {
        const node *n = &nodes[i];
        values[i] = n->kind == IG_DIM_CONST ? n->value : 0;
        known[i] = true;
        if (n->kind == IG_DIM_SYMBOL) {
            values[i] = symbols[n->value];
        } else if (n->kind != IG_DIM_CONST) {
            known[i] = known[n->a] && known[n->b] &&
                       plain_apply(n->kind, values[n->a], values[n->b], &values[i]) &&
                       values[i] < 1000000 && values[i] > -1000000;
        }
    }
}

static bool run_code(const ig_dim_code *code, uint32_t count, const int64_t *symbols,
                     int64_t *out) {
    int64_t stack[256];
    uint32_t top = 0;
    for (uint32_t i = 0; i < count; i++) {
        ig_dim_opcode opcode = (ig_dim_opcode)code[i].opcode;
        CHECK(top < 256);
        if (opcode == IG_DIM_CONST || opcode == IG_DIM_SYMBOL) {
            stack[top++] = opcode == IG_DIM_CONST ? code[i].value
                                                  : symbols[code[i].value];
            continue;
        }
        CHECK(top >= 2);
        top--;
        if (!plain_apply(opcode, stack[top - 1], stack[top], &stack[top - 1])) {
            return false;
        }
    }
    CHECK_INT(top, 1);
    *out = stack[0];
    return true;
}

/* Values of all symbols, fresh ones from their definitions; false when one has none. */
static bool all_symbols(const int64_t *drawn, int64_t *symbols) {
    static const char *const names[SYMBOLS] = { "B", "A", "D", "C" };
    for (int i = 0; i < SYMBOLS; i++) {
        symbols[ig_symbol_index(module, sym(names[i]))] = drawn[i];
    }
    for (uint32_t i = SYMBOLS; i < ig_symbol_count(module); i++) {
        if (!ig_dim_evaluate(module, ig_symbol_at(module, i)->defined, symbols,
                             &symbols[i])) {
            return false;
        }
    }
    return true;
}

static void check_value(ig_dim dim, int64_t expected, const int64_t *symbols) {
    int64_t value = 0, low, high;
    CHECK_MSG(ig_dim_evaluate(module, dim, symbols, &value) && value == expected,
              "%s is %lld, not %lld", text(dim), (long long)value, (long long)expected);
    ig_dim_range(module, dim, &low, &high);
    CHECK_MSG(low <= value && value <= high, "%s out of its range", text(dim));
    ig_dim_code *code;
    uint32_t length = ig_dim_encode(module, dim, &module->arena, &code);
    CHECK(run_code(code, length, symbols, &value));
    CHECK_INT(value, expected);
}

static void check_truth(ig_dim a, ig_dim b, int64_t value_a, int64_t value_b) {
    ig_truth equal = ig_dim_equal(module, a, b);
    ig_truth ordered = ig_dim_less_equal(module, a, b);
    CHECK_MSG(equal == IG_MAYBE || (equal == IG_YES) == (value_a == value_b),
              "%s and %s", text(a), text(b));
    CHECK_MSG(ordered == IG_MAYBE || (ordered == IG_YES) == (value_a <= value_b),
              "%s and %s", text(a), text(b));
}

static void check_translated(ig_dim dim) {
    ig_module *to = ig_module_create(&context, "to"), *from = module;
    const char *before = text(dim);
    ig_dim_copy_symbols(from, to);
    ig_dim copy = ig_dim_translate(from, dim, to);
    module = to;
    CHECK_TEXT(text(copy), before);
    module = from;
    CHECK(ig_dim_hash(from, dim) == ig_dim_hash(to, copy));
    ig_module_destroy(to);
}

/* One random set of expressions over several bindings; counts what was compared. */
static int check_round(int64_t terms) {
    node nodes[NODES];
    ig_dim dims[NODES], again[NODES];
    int64_t values[NODES], symbols[256];
    bool known[NODES];
    int compared = 0;
    start();
    context.limits.dim_terms = terms;
    static const char *const names[SYMBOLS] = { "B", "A", "D", "C" };
    for (int i = 0; i < SYMBOLS; i++) {
        (void)sym(names[i]);
    }
    draw_nodes(nodes, NODES);
    build_nodes(nodes, NODES, dims);
    build_nodes(nodes, NODES, again);
    CHECK(ig_dims_same(dims, again, NODES));
    CHECK(ig_symbol_count(module) <= 256);
    for (int round = 0; round < 8; round++) {
        int64_t drawn[SYMBOLS];
        for (int i = 0; i < SYMBOLS; i++) {
            drawn[i] = draw(round < 2 ? 3 : 40);
        }
        plain_values(nodes, NODES, drawn, values, known);
        if (!all_symbols(drawn, symbols)) {
            continue;
        }
        for (int i = 0; i < NODES; i++) {
            if (known[i]) {
                check_value(dims[i], values[i], symbols);
                compared++;
            }
            if (i > 0 && known[i] && known[i - 1]) {
                check_truth(dims[i], dims[i - 1], values[i], values[i - 1]);
            }
        }
    }
    check_translated(dims[NODES - 1]);
    finish();
    return compared;
}

TEST(normal_forms_keep_values) {
    int compared = 0;
    for (int i = 0; i < 3000; i++) {
        compared += check_round(64);
    }
    CHECK_MSG(compared > 200000, "only %d compared", compared);
}

TEST(normal_forms_keep_values_when_terms_are_few) {
    int compared = 0;
    for (int i = 0; i < 1000; i++) {
        compared += check_round(2);
    }
    CHECK_MSG(compared > 20000, "only %d compared", compared);
}

UNIT_SUITE(ir_dim, constants_are_plain_numbers, divisors_are_of_all_terms,
           equal_expressions_are_the_same_dim,
           text_puts_high_degree_first_and_constants_last, order_is_by_name,
           products_cancel_in_exact_quotients, what_a_quotient_is_of_counts_in_it,
           rounded_quotients_have_one_form, ranges_and_multiples_simplify,
           extremes_keep_the_smaller_and_the_larger,
           extremes_meet_what_they_are_made_of, broadcast_extents,
           equality_is_three_valued, order_is_three_valued,
           bounds_that_overflow_are_lost_not_wrong, overflow_becomes_a_fresh_symbol,
           what_overflows_is_known_to_have_no_value,
           levels_count_definitions_after_definitions,
           too_many_terms_become_a_fresh_symbol, depth_is_bounded, size_is_bounded,
           names_are_made_unique_and_plain, visiting_reaches_definitions_once,
           translation_goes_by_name, normal_forms_keep_values,
           normal_forms_keep_values_when_terms_are_few)
