/* Tree ensembles as records.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The op `forest` knows one test, x <= value, and two consecutive records that it leads
 * to.  Every test of a model file is that one:
 *
 *     x <  v     x <= the float before v
 *     x >= v     the same with its children exchanged; so is x > v
 *     x in S     a search tree over the members and the floats before them, whose
 *                intervals are in S or beside it in turn; x = v is a set of one
 *
 * Where NaN goes is a mark of the record: to the first child, or else, as no comparison
 * with NaN holds, to the second.  A node that several share is copied to each: a record
 * is no more than where it leads.
 */
#include "compose/forest/forest.h"

#include "ir/semantics/forest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct record {
    double test;
    int64_t next;
    bool tracks;
} record;

typedef struct maker {
    ig_expr *e;
    const ig_forest *forest;
    ig_dtype dtype;
    record *records; /* those of the roots come first */
    int32_t *leaves; /* by record */
    int64_t *features;
    size_t used;
    record *of_node;  /* inner nodes as records */
    uint32_t *steps;  /* by node, to its farthest leaf */
    int32_t *leaf_of; /* by node; -1: no leaf that rows may come to */
    int32_t leaf_count;
} maker;

static bool is_leaf(const ig_forest *f, uint32_t node) {
    return f->yes[node] == (int32_t)node;
}

/* A number of the file as what x is. */
static double narrow_number(const maker *m, double value) {
    return m->dtype == IG_DT_f32 ? (double)(float)value : value;
}

/* The number before; NaN, which nothing is below or equal to, before the least. */
static double find_previous(const maker *m, double value) {
    if (value == -(double)INFINITY) {
        return (double)NAN;
    }
    return m->dtype == IG_DT_f32 ? (double)nextafterf((float)value, -INFINITY)
                                 : nextafter(value, -(double)INFINITY);
}

/* Makes record `r` that of `node`, whose children have theirs. */
static void copy_node(maker *m, size_t r, int32_t node) {
    bool is_end = is_leaf(m->forest, (uint32_t)node);
    m->leaves[r] = is_end ? m->leaf_of[node] : 0;
    m->features[r] = is_end ? 0 : m->forest->features[node];
    m->records[r] = is_end ? (record){ (double)NAN, (int64_t)r - 1, false }
                           : m->of_node[node];
}

static record make_pair(maker *m, double test, int32_t low, int32_t high) {
    record made = { test, (int64_t)m->used, false };
    m->used += 2;
    copy_node(m, (size_t)made.next, low);
    copy_node(m, (size_t)made.next + 1, high);
    return made;
}

/* ---- the four comparisons ---- */

static void make_comparison(maker *m, uint32_t node) {
    static const bool is_strict[] = { [IG_FOREST_LT] = true, [IG_FOREST_GTE] = true };
    const ig_forest *f = m->forest;
    uint8_t mode = f->modes[node];
    double value = narrow_number(m, f->values[node]);
    bool never = isnan(value);
    bool swaps = !never && (mode == IG_FOREST_GTE || mode == IG_FOREST_GT);
    bool steps_down = !never && mode <= IG_FOREST_GTE && is_strict[mode];
    double test = steps_down ? find_previous(m, value) : value;
    int32_t yes = f->yes[node], no = f->no[node];
    m->of_node[node] = make_pair(m, test, swaps ? no : yes, swaps ? yes : no);
    m->of_node[node].tracks = f->missing[node] != swaps;
    m->steps[node] = 1;
}

/* ---- sets ---- */

typedef struct cut { /* ends an interval of which all is in the set, or nothing */
    double last;
    bool is_in;
} cut;

typedef struct search {
    maker *maker;
    uint32_t node, count;
    int32_t in, out; /* where members go, and the others */
    cut *cuts;
} search;

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The intervals of a set, in rising order; values after the last are outside. */
static void make_cuts(search *s, const ig_forest_set *set) {
    maker *m = s->maker;
    ig_arena *arena = &m->e->module->arena;
    double *sorted = IG_NEW_ARRAY(arena, double, set->count + 1u);
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!isnan(set->items[i])) {
            sorted[count++] = narrow_number(m, set->items[i]);
        }
    }
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    s->cuts = IG_NEW_ARRAY(arena, cut, 2u * count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        double before = find_previous(m, sorted[i]);
        double reached = s->count ? s->cuts[s->count - 1].last : -(double)INFINITY;
        if (s->count && sorted[i] == reached) {
            continue;
        }
        if (!isnan(before) && !(s->count && before == reached)) {
            s->cuts[s->count++] = (cut){ before, false };
        }
        s->cuts[s->count++] = (cut){ sorted[i], true };
    }
}

/* Record `r` as the search among cuts `low` to `high` - 1; how many steps it takes.
 * Each half is half as long, so that this goes 32 calls deep at most. */
static uint32_t make_search(const search *s, size_t r, uint32_t low, uint32_t high,
                            uint32_t middle) {
    maker *m = s->maker;
    if (low == high) {
        bool is_in = low < s->count && s->cuts[low].is_in;
        copy_node(m, r, is_in ? s->in : s->out);
        return 0;
    }
    record made = { s->cuts[middle].last, (int64_t)m->used, false };
    m->used += 2;
    m->features[r] = m->forest->features[s->node];
    m->leaves[r] = 0;
    m->records[r] = made;
    size_t next = (size_t)made.next;
    uint32_t after = middle + 1;
    uint32_t first = make_search(s, next, low, middle, low + (middle - low) / 2);
    uint32_t second = make_search(s, next + 1, after, high, after + (high - after) / 2);
    return 1 + (first > second ? first : second);
}

/* NaN is no member, unless it tracks `yes`: then it goes to the first child of the
 * first test and always to the second from there, to the interval before that test's
 * number, which is therefore a member. */
static void make_set(maker *m, uint32_t node) {
    const ig_forest *f = m->forest;
    bool is_member = f->modes[node] == IG_FOREST_MEMBER;
    bool is_negated = f->modes[node] == IG_FOREST_NEQ;
    search s = { .maker = m, .node = node };
    s.in = is_negated ? f->no[node] : f->yes[node];
    s.out = is_negated ? f->yes[node] : f->no[node];
    ig_forest_set one = { &f->values[node], 1 };
    make_cuts(&s, is_member ? &f->sets[node] : &one);
    bool tracks = f->missing[node] && !is_negated;
    if (s.count == 0) {
        m->of_node[node] = make_pair(m, (double)NAN, s.in, s.out);
        m->steps[node] = 1;
    } else {
        size_t r = m->used++;
        uint32_t middle = s.count / 2;
        middle += !s.cuts[middle].is_in;
        assert(middle < s.count && "the last cut ends with a member");
        m->steps[node] = make_search(&s, r, 0, s.count, middle);
        m->of_node[node] = m->records[r];
    }
    m->of_node[node].tracks = tracks;
}

/* ---- all nodes ---- */

static void make_node(maker *m, uint32_t node) {
    const ig_forest *f = m->forest;
    if (is_leaf(f, node)) {
        m->leaf_of[node] = m->leaf_count++;
        m->steps[node] = 0;
        return;
    }
    if (f->modes[node] < IG_FOREST_EQ) {
        make_comparison(m, node);
    } else {
        make_set(m, node);
    }
    uint32_t yes = m->steps[f->yes[node]], no = m->steps[f->no[node]];
    m->steps[node] += yes > no ? yes : no;
}

/* Two records a test, and a test for each cut of a set. */
static size_t count_records(const ig_forest *f) {
    size_t count = f->tree_count;
    for (uint32_t i = 0; i < f->reached; i++) {
        uint32_t node = f->order[i];
        bool is_member = f->modes[node] == IG_FOREST_MEMBER && !is_leaf(f, node);
        size_t members = is_member ? f->sets[node].count : 1;
        count += 4 * members + 3;
    }
    return count;
}

static maker make_records(ig_expr *e, ig_dtype dtype, const ig_forest *f) {
    ig_arena *arena = &e->module->arena;
    size_t max = count_records(f);
    maker m = { .e = e, .forest = f, .dtype = dtype, .used = f->tree_count };
    m.records = IG_NEW_ARRAY(arena, record, max);
    m.leaves = IG_NEW_ARRAY(arena, int32_t, max);
    m.features = IG_NEW_ARRAY(arena, int64_t, max);
    m.of_node = IG_NEW_ARRAY(arena, record, f->node_count);
    m.steps = IG_NEW_ARRAY(arena, uint32_t, f->node_count);
    m.leaf_of = IG_NEW_ARRAY(arena, int32_t, f->node_count);
    memset(m.leaf_of, 0xff, f->node_count * sizeof *m.leaf_of);
    for (uint32_t i = 0; i < f->reached; i++) {
        make_node(&m, f->order[i]);
    }
    for (uint32_t t = 0; t < f->tree_count; t++) {
        copy_node(&m, t, f->roots[t]);
    }
    assert(m.used <= max && "records are counted right");
    return m;
}

/* ---- weights ---- */

/* Has each leaf one weight at most, and each tree one target?  The targets then go to
 * `targets`, by tree. */
static bool has_own_targets(const maker *m, int64_t *targets) {
    const ig_forest *f = m->forest;
    bool *is_taken = IG_NEW_ARRAY(&m->e->module->arena, bool, f->node_count);
    memset(is_taken, 0, f->node_count * sizeof *is_taken);
    for (uint32_t t = 0; t < f->tree_count; t++) {
        targets[t] = -1;
    }
    for (uint32_t i = 0; i < f->weight_count; i++) {
        const ig_forest_weight *weight = &f->weights[i];
        if (m->leaf_of[weight->node] < 0) {
            continue; /* no row comes there */
        }
        int64_t *target = &targets[f->tree_of[weight->node]];
        if (is_taken[weight->node] || (*target >= 0 && *target != weight->target)) {
            return false;
        }
        is_taken[weight->node] = true;
        *target = weight->target;
    }
    return !f->shares;
}

/* Floats of x's dtype. */
static ig_value *make_floats(const maker *m, uint32_t rank, const int64_t *extents,
                             const double *values) {
    int64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        count *= extents[i];
    }
    if (m->dtype == IG_DT_f64) {
        return ig_expr_constant(m->e, "forest", IG_DT_f64, rank, extents, values);
    }
    float *narrowed = IG_NEW_ARRAY(&m->e->module->arena, float, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        narrowed[i] = (float)values[i];
    }
    return ig_expr_constant(m->e, "forest", IG_DT_f32, rank, extents, narrowed);
}

/* [leaves, width]; targets missing in a leaf are `absent`. */
static ig_value *make_weights(const maker *m, uint32_t width, double absent) {
    const ig_forest *f = m->forest;
    size_t count = (size_t)m->leaf_count * width;
    double *all = IG_NEW_ARRAY(&m->e->module->arena, double, count + 1);
    for (size_t i = 0; i < count; i++) {
        all[i] = absent;
    }
    for (uint32_t i = 0; i < f->weight_count; i++) {
        const ig_forest_weight *own = &f->weights[i];
        int32_t leaf = m->leaf_of[own->node];
        if (leaf < 0) {
            continue;
        }
        double *entry = &all[(size_t)leaf * width + (width > 1 ? own->target : 0)];
        *entry = *entry == absent ? own->weight : *entry + own->weight;
    }
    int64_t extents[] = { m->leaf_count, width };
    return make_floats(m, 2, extents, all);
}

/* ---- the op ---- */

static ig_value *make_nodes(const maker *m) {
    int64_t *words = IG_NEW_ARRAY(&m->e->module->arena, int64_t, m->used);
    for (size_t r = 0; r < m->used; r++) {
        const record *own = &m->records[r];
        words[r] = ig_forest_word(own->next, own->tracks, m->features[r]);
    }
    int64_t extent = (int64_t)m->used;
    return ig_expr_constant(m->e, "forest", IG_DT_i64, 1, &extent, words);
}

static ig_value *make_tests(const maker *m) {
    double *tests = IG_NEW_ARRAY(&m->e->module->arena, double, m->used);
    for (size_t r = 0; r < m->used; r++) {
        tests[r] = m->records[r].test;
    }
    int64_t extent = (int64_t)m->used;
    return make_floats(m, 1, &extent, tests);
}

/* Steps and target of each tree. */
static ig_value *make_trees(const maker *m, const int64_t *targets) {
    const ig_forest *f = m->forest;
    int64_t *trees = IG_NEW_ARRAY(&m->e->module->arena, int64_t, 2u * f->tree_count);
    for (uint32_t t = 0; t < f->tree_count; t++) {
        trees[2 * t] = m->steps[f->roots[t]];
        trees[2 * t + 1] = targets && targets[t] > 0 ? targets[t] : 0;
    }
    int64_t extents[] = { f->tree_count, 2 };
    return ig_expr_constant(m->e, "forest", IG_DT_i64, 2, extents, trees);
}

/* A target that no tree has is 0. */
static ig_value *clear_absent(ig_expr *e, ig_value *found, double absent) {
    ig_value *zero = ig_expr_like(e, ig_expr_number(e, IG_DT_f64, 0), found);
    ig_value *is_absent = ig_expr_with(e, IG_OP_eq, found, absent);
    return ig_build_where(e, is_absent, zero, found);
}

ig_value *ig_compose_forest(ig_expr *e, ig_value *x, const ig_forest *forest) {
    static const struct {
        int op;
        double absent;
    } kinds[] = { [IG_FOREST_AVERAGE] = { IG_REDUCE_sum, 0 },
                  [IG_FOREST_SUM] = { IG_REDUCE_sum, 0 },
                  [IG_FOREST_MIN] = { IG_REDUCE_min, (double)INFINITY },
                  [IG_FOREST_MAX] = { IG_REDUCE_max, -(double)INFINITY } };
    assert(forest->tree_count > 0 && forest->target_count > 0 && "the reader checks");
    if (!x) {
        return NULL;
    }
    maker m = make_records(e, (ig_dtype)x->type->dtype, forest);
    int64_t *targets = IG_NEW_ARRAY(&e->module->arena, int64_t, forest->tree_count);
    bool is_own = has_own_targets(&m, targets);
    double absent = kinds[forest->aggregate].absent;
    int64_t count = (int64_t)m.used;
    ig_value *operands[IG_FOREST_OPERANDS] = { x };
    operands[IG_FOREST_TESTS] = make_tests(&m);
    operands[IG_FOREST_NODES] = make_nodes(&m);
    operands[IG_FOREST_TREES] = make_trees(&m, is_own ? targets : NULL);
    operands[IG_FOREST_LEAVES] = ig_expr_constant(e, "forest", IG_DT_i32, 1, &count,
                                                  m.leaves);
    operands[IG_FOREST_WEIGHTS] = make_weights(&m, is_own ? 1 : forest->target_count,
                                               absent);
    ig_forest_attrs attrs = { .targets = forest->target_count,
                              .op = kinds[forest->aggregate].op };
    ig_value *found = ig_build_forest(e, operands, IG_FOREST_OPERANDS, attrs);
    if (forest->aggregate == IG_FOREST_AVERAGE) {
        return ig_expr_with(e, IG_OP_div, found, forest->tree_count);
    }
    return kinds[forest->aggregate].op == IG_REDUCE_sum
               ? found
               : clear_absent(e, found, absent);
}
