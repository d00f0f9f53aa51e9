/* Tree ensembles: every row of x walks every tree, a level at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The node that a row stands at in each tree is a matrix [N, trees].  A step gathers
 * what the nodes say, compares, and gathers the children; after as many steps as the
 * deepest tree has levels every entry is a leaf, as leaves are their own children.
 */
#include "compose/forest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- depth ---- */

/* Puts a child a level below its node; true when it was not that deep. */
static bool sink_child(uint32_t *level, uint32_t node, uint32_t child) {
    if (child == node || level[child] > level[node]) {
        return false;
    }
    level[child] = level[node] + 1;
    return true;
}

bool ig_forest_measure(ig_forest *forest, ig_arena *scratch, uint32_t limit) {
    uint32_t *level = IG_NEW_ARRAY(scratch, uint32_t, forest->node_count);
    bool changes = true;
    memset(level, 0, forest->node_count * sizeof *level);
    for (uint32_t t = 0; t < forest->tree_count; t++) {
        level[forest->roots[t]] = 1;
    }
    forest->depth = 0;
    while (changes && forest->depth <= limit) {
        changes = false;
        for (uint32_t i = 0; i < forest->node_count; i++) {
            if (level[i] == 0) {
                continue;
            }
            changes |= sink_child(level, i, (uint32_t)forest->yes[i]);
            changes |= sink_child(level, i, (uint32_t)forest->no[i]);
            forest->depth = level[i] - 1 > forest->depth ? level[i] - 1 : forest->depth;
        }
    }
    forest->reached = 0;
    for (uint32_t i = 0; i < forest->node_count; i++) {
        forest->reached += level[i] > 0;
    }
    return forest->depth <= limit;
}

/* ---- what nodes say ---- */

typedef struct walk {
    ig_expr *e;
    const ig_forest *forest;
    ig_value *x, *at; /* [N, F]; i32 [N, trees] */
} walk;

static ig_value *make_list(ig_expr *e, ig_dtype dtype, uint32_t count,
                           const void *bytes) {
    int64_t extent = count;
    return ig_expr_constant(e, "forest", dtype, 1, &extent, bytes);
}

static ig_value *look_up(const walk *w, ig_dtype dtype, const void *bytes) {
    ig_value *list = make_list(w->e, dtype, w->forest->node_count, bytes);
    return ig_expr_gather(w->e, list, w->at, 0, IG_NEGATIVE_error);
}

static ig_value *look_up_values(const walk *w) {
    ig_value *list = make_list(w->e, IG_DT_f64, w->forest->node_count,
                               w->forest->values);
    list = ig_expr_like(w->e, list, w->x);
    return ig_expr_gather(w->e, list, w->at, 0, IG_NEGATIVE_error);
}

static const ig_opcode comparisons[IG_FOREST_MODES] = {
    [IG_FOREST_LEQ] = IG_OP_le, [IG_FOREST_LT] = IG_OP_lt, [IG_FOREST_GTE] = IG_OP_ge,
    [IG_FOREST_GT] = IG_OP_gt,  [IG_FOREST_EQ] = IG_OP_eq, [IG_FOREST_NEQ] = IG_OP_ne,
};

/* Each mode that some inner node has, where the node has it. */
static ig_value *compare_features(const walk *w, ig_value *feature, ig_value *value) {
    const ig_forest *f = w->forest;
    ig_value *result = NULL, *modes = NULL;
    bool is_used[IG_FOREST_MODES] = { false };
    for (uint32_t i = 0; i < f->node_count; i++) {
        is_used[f->modes[i]] |= f->yes[i] != (int32_t)i;
    }
    for (uint32_t mode = 0; mode < IG_FOREST_MODES; mode++) {
        if (!is_used[mode]) {
            continue;
        }
        ig_value *holds = ig_expr_map2(w->e, comparisons[mode], feature, value);
        if (result) {
            modes = modes ? modes : look_up(w, IG_DT_u8, f->modes);
            ig_value *is_it = ig_expr_with(w->e, IG_OP_eq, modes, mode);
            holds = ig_build_where(w->e, is_it, holds, result);
        }
        result = holds;
    }
    return result;
}

static bool tracks_missing(const ig_forest *f) {
    for (uint32_t i = 0; i < f->node_count; i++) {
        if (f->missing[i]) {
            return true;
        }
    }
    return false;
}

static void step_down(walk *w, bool has_missing) {
    const ig_forest *f = w->forest;
    ig_expr *e = w->e;
    ig_value *columns = look_up(w, IG_DT_i32, f->features);
    ig_value *feature = ig_build_gather_elements(
        e, w->x, columns, (ig_gather_elements_attrs){ .axis = 1 });
    ig_value *holds = compare_features(w, feature, look_up_values(w));
    if (has_missing) {
        ig_value *is_tracked = look_up(w, IG_DT_bool, f->missing);
        is_tracked = ig_build_and(e, is_tracked, ig_build_isnan(e, feature));
        holds = ig_build_or(e, holds, is_tracked);
    }
    ig_value *yes = look_up(w, IG_DT_i32, f->yes), *no = look_up(w, IG_DT_i32, f->no);
    w->at = ig_build_where(e, holds, yes, no);
}

/* ---- what leaves give ---- */

/* Does each leaf have one weight at most, and each tree one target?  The targets by
 * tree then go to `targets`. */
static bool has_own_targets(const walk *w, int64_t *targets) {
    const ig_forest *f = w->forest;
    ig_arena *arena = &w->e->module->arena;
    uint32_t *tree_of = IG_NEW_ARRAY(arena, uint32_t, f->node_count); /* from 1 on */
    bool *is_taken = IG_NEW_ARRAY(arena, bool, f->node_count);
    uint32_t *stack = IG_NEW_ARRAY(arena, uint32_t, 2u * f->node_count + 1);
    memset(is_taken, 0, f->node_count * sizeof *is_taken);
    memset(tree_of, 0, f->node_count * sizeof *tree_of);
    for (uint32_t t = 0; t < f->tree_count; t++) {
        uint32_t used = 0;
        stack[used++] = (uint32_t)f->roots[t];
        targets[t] = -1;
        while (used > 0) {
            uint32_t node = stack[--used];
            if (tree_of[node] == t + 1) {
                continue;
            }
            if (tree_of[node]) {
                return false; /* two trees share it */
            }
            tree_of[node] = t + 1;
            stack[used++] = (uint32_t)f->yes[node];
            stack[used++] = (uint32_t)f->no[node];
        }
    }
    for (uint32_t i = 0; i < f->weight_count; i++) {
        const ig_forest_weight *weight = &f->weights[i];
        uint32_t tree = tree_of[weight->node];
        if (tree == 0) {
            continue; /* no row comes there */
        }
        int64_t *target = &targets[tree - 1];
        if (is_taken[weight->node] || (*target >= 0 && *target != weight->target)) {
            return false;
        }
        is_taken[weight->node] = true;
        *target = weight->target;
    }
    return true;
}

/* One weight a leaf: [N, trees], brought to the trees' targets by a product. */
static ig_value *sum_by_tree(const walk *w, const int64_t *targets) {
    const ig_forest *f = w->forest;
    ig_expr *e = w->e;
    ig_arena *arena = &e->module->arena;
    double *each = IG_NEW_ARRAY(arena, double, f->node_count);
    memset(each, 0, f->node_count * sizeof *each);
    for (uint32_t i = 0; i < f->weight_count; i++) {
        each[f->weights[i].node] = f->weights[i].weight;
    }
    ig_value *list = make_list(e, IG_DT_f64, f->node_count, each);
    list = ig_expr_like(e, list, w->x);
    ig_value *given = ig_expr_gather(e, list, w->at, 0, IG_NEGATIVE_error);
    if (f->target_count == 1) {
        return ig_expr_reduce_axis(e, IG_REDUCE_sum, given, 1, true);
    }
    size_t count = (size_t)f->tree_count * f->target_count;
    double *is_its = IG_NEW_ARRAY(arena, double, count);
    memset(is_its, 0, count * sizeof *is_its);
    for (uint32_t t = 0; t < f->tree_count; t++) {
        if (targets[t] >= 0) {
            is_its[t * f->target_count + (uint32_t)targets[t]] = 1;
        }
    }
    int64_t extents[] = { f->tree_count, f->target_count };
    ig_value *by_tree = ig_expr_constant(e, "targets", IG_DT_f64, 2, extents, is_its);
    return ig_expr_matmul(e, given, ig_expr_like(e, by_tree, w->x));
}

/* [N, trees, targets], of which a leaf that lacks a target has `absent`. */
static ig_value *aggregate_leaves(const walk *w, ig_reduce kind, double absent) {
    const ig_forest *f = w->forest;
    ig_expr *e = w->e;
    size_t count = (size_t)f->node_count * f->target_count;
    double *all = IG_NEW_ARRAY(&e->module->arena, double, count);
    for (size_t i = 0; i < count; i++) {
        all[i] = absent;
    }
    for (uint32_t i = 0; i < f->weight_count; i++) {
        const ig_forest_weight *own = &f->weights[i];
        double *entry = &all[own->node * f->target_count + own->target];
        *entry = *entry == absent ? own->weight : *entry + own->weight;
    }
    int64_t extents[] = { f->node_count, f->target_count };
    ig_value *table = ig_expr_constant(e, "leaves", IG_DT_f64, 2, extents, all);
    table = ig_expr_like(e, table, w->x);
    ig_value *given = ig_expr_gather(e, table, w->at, 0, IG_NEGATIVE_error);
    return ig_expr_reduce_axis(e, kind, given, 1, false);
}

/* The least or greatest; a target that no tree has is 0. */
static ig_value *find_extremes(const walk *w, ig_reduce kind, double absent) {
    ig_value *found = aggregate_leaves(w, kind, absent);
    ig_value *zero = ig_expr_like(w->e, ig_expr_number(w->e, IG_DT_f64, 0), w->x);
    ig_value *is_absent = ig_expr_with(w->e, IG_OP_eq, found, absent);
    return ig_build_where(w->e, is_absent, zero, found);
}

static ig_value *aggregate_trees(const walk *w) {
    const ig_forest *f = w->forest;
    if (f->aggregate == IG_FOREST_MIN) {
        return find_extremes(w, IG_REDUCE_min, (double)INFINITY);
    }
    if (f->aggregate == IG_FOREST_MAX) {
        return find_extremes(w, IG_REDUCE_max, -(double)INFINITY);
    }
    int64_t *targets = IG_NEW_ARRAY(&w->e->module->arena, int64_t, f->tree_count);
    ig_value *sum = has_own_targets(w, targets) ? sum_by_tree(w, targets)
                                                : aggregate_leaves(w, IG_REDUCE_sum, 0);
    return f->aggregate == IG_FOREST_AVERAGE
               ? ig_expr_with(w->e, IG_OP_div, sum, f->tree_count)
               : sum;
}

ig_value *ig_compose_forest(ig_expr *e, ig_value *x, const ig_forest *forest) {
    assert(forest->tree_count > 0 && forest->target_count > 0 && "the reader checks");
    if (!x) {
        return NULL;
    }
    walk w = { .e = e, .forest = forest, .x = x };
    ig_dim dims[] = { x->type->dims[0], ig_dim_of(forest->tree_count) };
    w.at = make_list(e, IG_DT_i32, forest->tree_count, forest->roots);
    w.at = ig_expr_expand(e, w.at, 2, dims);
    bool has_missing = tracks_missing(forest);
    for (uint32_t i = 0; i < forest->depth; i++) {
        step_down(&w, has_missing);
    }
    return aggregate_trees(&w);
}
