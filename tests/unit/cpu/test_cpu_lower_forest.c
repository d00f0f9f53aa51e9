/* Tree ensembles: drawn ones against a walk through their nodes as model files have
 * them, by the interpreter and by kernels of every level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/forest/forest.h"
#include "ir/build/expr.h"
#include "tests/unit/cpu/lower_case.h"

enum { NODES = 400, TREES = 11, FEATURES = 3, SET = 4 };

static const double values[] = {
    -(double)INFINITY, (double)INFINITY, -1, -0.0, 0, 0x1p-149, 1, 2, 3, (double)NAN
};

/* What a test may draw. */
typedef struct kinds {
    uint8_t first_mode, modes; /* from the first on, so many */
    bool tracks;
    uint32_t targets, leaf_targets; /* how many a leaf has weights for */
    ig_forest_aggregate aggregate;
} kinds;

typedef struct drawn {
    ig_forest forest;
    int32_t features[NODES], yes[NODES], no[NODES], roots[TREES];
    double values[NODES], members[NODES][SET];
    uint8_t modes[NODES];
    bool missing[NODES];
    ig_forest_set sets[NODES];
    ig_forest_weight weights[2 * NODES];
    uint64_t state;
} drawn;

static uint32_t draw(drawn *d, uint32_t below) {
    return (uint32_t)(lower_random(&d->state) % below);
}

static void draw_leaf(drawn *d, const kinds *k, uint32_t node, uint32_t tree) {
    ig_forest *f = &d->forest;
    d->yes[node] = d->no[node] = (int32_t)node;
    for (uint32_t i = 0; i < k->leaf_targets; i++) {
        uint32_t target = (tree + i) % k->targets;
        double weight = (double)draw(d, 64) / 8 - 4;
        d->weights[f->weight_count++] = (ig_forest_weight){ node, target, weight };
    }
}

/* A node and all below it, by number from the last to the first, so that children are
 * there before; some share a child. */
static uint32_t draw_node(drawn *d, const kinds *k, uint32_t tree, uint32_t depth) {
    bool is_leaf = depth == 0 || draw(d, 5) == 0;
    uint32_t no = is_leaf ? 0 : draw_node(d, k, tree, depth - 1);
    bool shares = !is_leaf && draw(d, 6) == 0;
    uint32_t yes = is_leaf ? 0 : shares ? no : draw_node(d, k, tree, depth - 1);
    uint32_t node = d->forest.node_count++;
    CHECK(node < NODES);
    d->features[node] = (int32_t)draw(d, FEATURES);
    d->modes[node] = (uint8_t)(k->first_mode + draw(d, k->modes));
    d->values[node] = values[draw(d, IG_COUNT_OF(values))];
    d->missing[node] = k->tracks && draw(d, 2);
    d->sets[node] = (ig_forest_set){ d->members[node], draw(d, SET + 1) };
    for (uint32_t i = 0; i < SET; i++) {
        d->members[node][i] = values[draw(d, IG_COUNT_OF(values) - 1)];
    }
    d->yes[node] = (int32_t)yes;
    d->no[node] = (int32_t)no;
    if (is_leaf) {
        draw_leaf(d, k, node, tree);
    }
    return node;
}

static void draw_forest(drawn *d, const kinds *k, uint32_t trees, ig_arena *arena) {
    d->forest = (ig_forest){ .features = d->features,
                             .yes = d->yes,
                             .no = d->no,
                             .values = d->values,
                             .modes = d->modes,
                             .sets = d->sets,
                             .missing = d->missing,
                             .weights = d->weights,
                             .roots = d->roots,
                             .tree_count = trees,
                             .target_count = k->targets,
                             .aggregate = k->aggregate };
    for (uint32_t t = 0; t < trees; t++) {
        d->roots[t] = (int32_t)draw_node(d, k, t, t % 5);
    }
    CHECK(ig_forest_measure(&d->forest, arena, 8));
}

/* ---- what should come out ---- */

static bool is_member(const ig_forest_set *set, double x) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i] == x) {
            return true;
        }
    }
    return false;
}

static bool holds(const ig_forest *f, uint32_t node, double x) {
    double v = f->values[node];
    const bool results[] = { x <= v, x<v, x >= v, x> v, x == v, x != v,
                             is_member(&f->sets[node], x) };
    return results[f->modes[node]] || (f->missing[node] && isnan(x));
}

static double join_weights(ig_forest_aggregate kind, double a, double b) {
    return kind == IG_FOREST_MIN   ? fmin(a, b)
           : kind == IG_FOREST_MAX ? fmax(a, b)
                                   : a + b;
}

static double expect_target(const ig_forest *f, const ig_tensor *x, int64_t row,
                            uint32_t target) {
    double sum = 0;
    bool has_any = false;
    for (uint32_t t = 0; t < f->tree_count; t++) {
        uint32_t node = (uint32_t)f->roots[t];
        while (f->yes[node] != (int32_t)node) {
            double seen = ig_tensor_get_f64(x, row * FEATURES + f->features[node]);
            node = (uint32_t)(holds(f, node, seen) ? f->yes[node] : f->no[node]);
        }
        for (uint32_t i = 0; i < f->weight_count; i++) {
            const ig_forest_weight *own = &f->weights[i];
            if (own->node == node && own->target == target) {
                sum = has_any ? join_weights(f->aggregate, sum, own->weight)
                              : own->weight;
                has_any = true;
            }
        }
    }
    return f->aggregate == IG_FOREST_AVERAGE ? sum / f->tree_count : sum;
}

static void expect_all(lower_case *c, const ig_forest *f) {
    for (int64_t i = 0; i < c->expected[0].count; i++) {
        int64_t row = i / f->target_count;
        double got = ig_tensor_get_f64(&c->expected[0], i);
        double want = expect_target(f, &c->inputs[0], row,
                                    (uint32_t)(i % f->target_count));
        CHECK_MSG(fabs(got - want) < 1e-5, "row %lld: %g, expected %g", (long long)row,
                  got, want);
    }
}

/* ---- cases ---- */

/* x is of values that nodes are held against; y, of the result's type, gives way to
 * the ensemble. */
static void check(const char *dtype, const kinds *k, uint32_t trees, int64_t rows) {
    static drawn d;
    char text[256];
    snprintf(text, sizeof text,
             "module @t {\n  graph @main(%%x: %s[B, %d], %%y: %s[B, %u]) -> (%s[B, %u] "
             "\"o\") {\n  ret %%y\n  }\n}\n",
             dtype, FEATURES, dtype, k->targets, dtype, k->targets);
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        lower_case c;
        lower_open(&c, cpu_levels[i], text, &rows, 0);
        d.state = trees + (uint64_t)rows;
        draw_forest(&d, k, trees, &c.cpu.arena);
        for (int64_t n = 0; n < c.inputs[0].count; n++) {
            ig_tensor_set_f64(&c.inputs[0], n, values[draw(&d, IG_COUNT_OF(values))]);
        }
        ig_graph *graph = ig_module_graph(c.module, "main");
        ig_builder b = ig_builder_before(graph->body.last);
        ig_expr e = ig_expr_of(&b);
        ig_value *y = ig_compose_forest(&e, graph->body.args[0], &d.forest);
        CHECK(y != NULL);
        ig_use_set(&graph->body.last->operands[0], y);
        CHECK_OK(ig_verify_module(c.module));
        uint32_t outputs = lower_run(&c);
        expect_all(&c, &d.forest);
        lower_match_each(&c, outputs, 0);
        lower_close(&c);
    }
}

static const int64_t row_counts[] = { 0, 1, 7, 8, 45 };

TEST(forests_of_one_comparison) {
    for (uint8_t mode = 0; mode < IG_FOREST_MODES; mode++) {
        kinds k = { mode, 1, mode % 2, 1, 1, IG_FOREST_SUM };
        check("f32", &k, TREES, 45);
        k.tracks = !k.tracks;
        check("f64", &k, TREES, 9);
    }
}

TEST(forests_of_all_comparisons) {
    kinds k = { 0, IG_FOREST_MODES, true, 1, 1, IG_FOREST_AVERAGE };
    for (size_t i = 0; i < IG_COUNT_OF(row_counts); i++) {
        check("f32", &k, TREES, row_counts[i]);
        check("f64", &k, 8, row_counts[i]);
        check("f32", &k, 1, row_counts[i]);
    }
}

TEST(forests_of_several_targets) {
    for (int kind = IG_FOREST_AVERAGE; kind <= IG_FOREST_MAX; kind++) {
        kinds k = { 0, 4, kind % 2, 5, 1, (ig_forest_aggregate)kind };
        check("f32", &k, TREES, 45);
        k.leaf_targets = 2;
        check("f64", &k, TREES, 9);
        k.targets = 1; /* which a leaf has two weights for */
        k.aggregate = IG_FOREST_SUM;
        check("f32", &k, 3, 3);
    }
}

/* Their sums are many, so tiles are short. */
TEST(forests_of_many_targets) {
    kinds k = { 0, 2, false, 1500, 1, IG_FOREST_SUM };
    check("f32", &k, TREES, 5);
    k.leaf_targets = 2;
    check("f32", &k, TREES, 5);
}

/* Trees without steps look at no feature. */
TEST(forests_of_leaves) {
    kinds k = { 0, 1, false, 2, 1, IG_FOREST_SUM };
    check("f32", &k, 1, 3);
}

/* ---- hostile ones ---- */

/* One tree: x0 <= 1 ? 5 : 7, but for what is given. */
static void expect_refusal(const char *nodes, const char *trees, const char *leaves,
                           const char *words) {
    char text[1024];
    lower_case c;
    int64_t rows = 2;
    snprintf(text, sizeof text,
             "module @t {\n"
             "  weight @t : f32[3] = [1, nan, nan]\n  weight @n : i64[3] = [%s]\n"
             "  weight @s : i64[1, 2] = [%s]\n  weight @l : i32[3] = [%s]\n"
             "  weight @w : f32[2, 1] = [5, 7]\n"
             "  graph @main(%%x: f32[B, 1]) -> (f32[B, 1] \"o\") {\n"
             "    %%0 = forest %%x, @t, @n, @s, @l, @w {targets = 1} : f32[B, 1]\n"
             "    ret %%0\n  }\n}\n",
             nodes, trees, leaves);
    lower_open(&c, "v3", text, &rows, 4);
    ig_tensor out;
    CHECK(ig_interpret(c.graph, c.inputs, &c.cpu.arena, &out) == IG_INVALID);
    CHECK_MSG(strstr(c.cpu.last, words), "'%s' lacks '%s'", c.cpu.last, words);
    ig_pass_options options = { .target = &c.cpu.target };
    ig_pass_run run = { .options = &options, .scratch = &c.cpu.arena };
    ig_graph *graph = ig_module_graph(c.module, "main");
    c.cpu.last[0] = 0;
    CHECK_OK(ig_pass_fuse(&run, graph));
    CHECK_OK(ig_pass_bufferise(&run, graph));
    CHECK(ig_pass_lower(&run, graph) == IG_INVALID);
    CHECK_MSG(strstr(c.cpu.last, words), "'%s' lacks '%s'", c.cpu.last, words);
    lower_close(&c);
}

TEST(records_that_lead_elsewhere_are_refused) {
    const char *none = "leads to none", *leaf = "has no weights";
    expect_refusal("8589934592, 0, 4294967296", "1, 0", "0, 0, 1", none);
    expect_refusal("-4294967296, 0, 4294967296", "1, 0", "0, 0, 1", none);
    expect_refusal("4294967296, -2147483648, 4294967296", "1, 0", "0, 0, 1", none);
    expect_refusal("4294967296, 0, 4294967296", "1, 0", "0, 0, 2", leaf);
    expect_refusal("4294967296, 0, 4294967296", "1, 0", "0, -1, 1", leaf);
    expect_refusal("4294967296, 0, 4294967296", "-1, 0", "0, 0, 1",
                   "a negative number of steps");
    expect_refusal("4294967296, 0, 4294967296", "1, 1", "0, 0, 1", "no target");
}

UNIT_SUITE(cpu_lower_forest, forests_of_one_comparison, forests_of_all_comparisons,
           forests_of_several_targets, forests_of_many_targets, forests_of_leaves,
           records_that_lead_elsewhere_are_refused)
