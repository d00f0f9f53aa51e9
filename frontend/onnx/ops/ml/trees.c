/* ai.onnx.ml's tree ensembles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * TreeEnsembleRegressor and TreeEnsembleClassifier name nodes by (tree, node) and give
 * leaves in lists of their own; TreeEnsemble (version 5) numbers inner nodes and
 * leaves.  Both become an ig_forest.  Open points of the standard follow ONNX Runtime
 * (ml/tree_ensemble_aggregator.h): a classifier of two classes with weights for one,
 * which exporters make the first.
 */
#include "compose/forest/forest.h"
#include "frontend/onnx/import/args.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/ml/ml.h"
#include "ir/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 4096, NODES_MAX = 1 << 22, TARGETS_MAX = 1 << 16 };

typedef struct ensemble {
    ig_onnx_node *node;
    ig_arena *arena;
    ig_forest forest;
    bool has_only_one, is_all_positive; /* one class of weights, and none below 0 */
} ensemble;

/* ---- attributes ---- */

/* A list of numbers, f64; `count` is its required length, or 0 for any. */
typedef struct numbers {
    double *items;
    uint32_t count;
} numbers;

static void refuse_length(const ensemble *s, const char *name, size_t count,
                          uint32_t expected) {
    ig_onnx_fail(s->node, IG_INVALID, "%s has %zu entries, expected %u", name, count,
                 expected);
}

static const int64_t *read_ints(const ensemble *s, const char *name, uint32_t count) {
    uint32_t found = 0;
    const int64_t *items = ig_onnx_attr_ints(s->node, name, &found);
    if (found != count) {
        refuse_length(s, name, found, count);
        return NULL;
    }
    return items;
}

static numbers read_tensor(const ensemble *s, const Onnx__AttributeProto *attr) {
    ig_data data;
    numbers out = { NULL, 0 };
    const char *what = ig_arena_printf(s->arena, "attribute '%s'", attr->name);
    if (!ig_expr_note(s->node->e, ig_onnx_tensor_data(s->node->import->model, attr->t,
                                                      what, &s->node->where, &data))) {
        return out;
    }
    int64_t count = 1;
    for (uint32_t d = 0; d < data.type->rank; d++) {
        count *= ig_dim_value(data.type->dims[d]); /* which its bytes bound */
    }
    if (count > NODES_MAX || data.type->dtype == IG_DT_str) {
        ig_onnx_fail(s->node, IG_INVALID, "%s does not hold numbers of nodes",
                     attr->name);
        return out;
    }
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = (ig_dtype)data.type->dtype };
    tensor.data = (void *)(uintptr_t)data.bytes;
    tensor.count = count;
    out.count = (uint32_t)count;
    out.items = IG_NEW_ARRAY(s->arena, double, out.count + 1u);
    for (uint32_t i = 0; i < out.count; i++) {
        out.items[i] = ig_tensor_get_f64(&tensor, data.is_splat ? 0 : i);
    }
    return out;
}

/* Floats of an attribute, or of the tensor that other versions have in its place. */
static numbers read_numbers(const ensemble *s, const char *name,
                            const char *as_tensor) {
    numbers out = { NULL, 0 };
    const Onnx__AttributeProto *attr = ig_onnx_attr(s->node, as_tensor, NULL);
    if (attr && attr->t) {
        return read_tensor(s, attr);
    }
    attr = name ? ig_onnx_attr(s->node, name, NULL) : NULL;
    if (!attr || attr->n_floats > NODES_MAX) {
        return out;
    }
    out.count = (uint32_t)attr->n_floats;
    out.items = IG_NEW_ARRAY(s->arena, double, out.count + 1u);
    for (uint32_t i = 0; i < out.count; i++) {
        out.items[i] = (double)attr->floats[i];
    }
    return out;
}

/* ---- nodes by (tree, node) ---- */

typedef struct node_name {
    int64_t tree, node;
    uint32_t index;
} node_name;

static int compare_names(const void *a, const void *b) {
    const node_name *x = a, *y = b;
    if (x->tree != y->tree) {
        return x->tree < y->tree ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

typedef struct name_table {
    node_name *items;
    uint32_t count;
} name_table;

static bool find_node(const name_table *table, int64_t tree, int64_t node,
                      uint32_t *out_index) {
    node_name key = { tree, node, 0 };
    const node_name *found = bsearch(&key, table->items, table->count,
                                     sizeof *table->items, compare_names);
    *out_index = found ? found->index : 0;
    return found != NULL;
}

static name_table make_names(const ensemble *s, const int64_t *trees,
                             const int64_t *nodes) {
    uint32_t count = s->forest.node_count;
    name_table table = { IG_NEW_ARRAY(s->arena, node_name, count), count };
    for (uint32_t i = 0; i < count; i++) {
        table.items[i] = (node_name){ trees[i], nodes[i], i };
    }
    qsort(table.items, count, sizeof *table.items, compare_names);
    for (uint32_t i = 1; i < count; i++) {
        if (compare_names(&table.items[i - 1], &table.items[i]) == 0) {
            ig_onnx_fail(s->node, IG_INVALID, "tree %lld has node %lld twice",
                         (long long)table.items[i].tree,
                         (long long)table.items[i].node);
        }
    }
    return table;
}

/* ---- the forest ---- */

static void alloc_nodes(ensemble *s, uint32_t count) {
    ig_forest *f = &s->forest;
    f->node_count = count;
    f->features = IG_NEW_ARRAY(s->arena, int32_t, count);
    f->yes = IG_NEW_ARRAY(s->arena, int32_t, count);
    f->no = IG_NEW_ARRAY(s->arena, int32_t, count);
    f->roots = IG_NEW_ARRAY(s->arena, int32_t, count);
    f->values = IG_NEW_ARRAY(s->arena, double, count);
    f->modes = IG_NEW_ARRAY(s->arena, uint8_t, count);
    f->missing = IG_NEW_ARRAY(s->arena, bool, count);
    memset(f->missing, 0, count * sizeof *f->missing);
}

static bool set_feature(ensemble *s, uint32_t node, int64_t feature) {
    s->forest.features[node] = (int32_t)feature;
    if (feature < 0 || feature > INT32_MAX) {
        ig_onnx_fail(s->node, IG_INVALID,
                     "a node looks at feature %lld, expected 0 or more",
                     (long long)feature);
        return false;
    }
    return true;
}

enum { LEAF = IG_FOREST_MEMBER }; /* whose name replaces that mode's */

/* A mode's name; LEAF for a leaf, -1 for none of them. */
static int read_mode(const ProtobufCBinaryData *text) {
    static const char *const names[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ",
                                         "LEAF" };
    for (int i = 0; i <= LEAF; i++) {
        if (text->len == strlen(names[i]) &&
            memcmp(text->data, names[i], text->len) == 0) {
            return i;
        }
    }
    return -1;
}

/* Children of the named nodes; a leaf is its own. */
static bool link_nodes(ensemble *s, const name_table *names, const int64_t *trees) {
    ig_forest *f = &s->forest;
    const int64_t *features = read_ints(s, "nodes_featureids", f->node_count);
    const int64_t *yes = read_ints(s, "nodes_truenodeids", f->node_count);
    const int64_t *no = read_ints(s, "nodes_falsenodeids", f->node_count);
    const Onnx__AttributeProto *modes = ig_onnx_attr(s->node, "nodes_modes", NULL);
    numbers values = read_numbers(s, "nodes_values", "nodes_values_as_tensor");
    if (ig_onnx_has_failed(s->node)) {
        return false;
    }
    if (!modes || modes->n_strings != f->node_count || values.count != f->node_count) {
        refuse_length(s, "nodes_modes or nodes_values", modes ? modes->n_strings : 0,
                      f->node_count);
        return false;
    }
    for (uint32_t i = 0; i < f->node_count; i++) {
        int mode = read_mode(&modes->strings[i]);
        bool is_leaf = mode == LEAF;
        uint32_t next[] = { i, i };
        if (mode < 0) {
            ig_onnx_fail(s->node, IG_INVALID, "mode '%.*s' of node %u is unknown",
                         (int)modes->strings[i].len,
                         (const char *)modes->strings[i].data, i);
            return false;
        }
        if (!is_leaf && (!find_node(names, trees[i], yes[i], &next[0]) ||
                         !find_node(names, trees[i], no[i], &next[1]))) {
            ig_onnx_fail(s->node, IG_INVALID,
                         "tree %lld has no node %lld or no node %lld",
                         (long long)trees[i], (long long)yes[i], (long long)no[i]);
            return false;
        }
        f->modes[i] = is_leaf ? 0 : (uint8_t)mode;
        f->values[i] = is_leaf ? 0 : values.items[i];
        f->yes[i] = (int32_t)next[0];
        f->no[i] = (int32_t)next[1];
        if (!set_feature(s, i, is_leaf ? 0 : features[i])) {
            return false;
        }
    }
    return true;
}

/* Nodes that are nobody's child, one a tree. */
static bool find_roots(ensemble *s, const int64_t *trees) {
    ig_forest *f = &s->forest;
    bool *is_child = IG_NEW_ARRAY(s->arena, bool, f->node_count);
    memset(is_child, 0, f->node_count * sizeof *is_child);
    for (uint32_t i = 0; i < f->node_count; i++) {
        is_child[f->yes[i]] |= f->yes[i] != (int32_t)i;
        is_child[f->no[i]] |= f->no[i] != (int32_t)i;
    }
    for (uint32_t i = 0; i < f->node_count; i++) {
        if (!is_child[i]) {
            f->roots[f->tree_count++] = (int32_t)i;
        }
    }
    for (uint32_t t = 1; t < f->tree_count; t++) {
        if (trees[f->roots[t]] == trees[f->roots[t - 1]]) {
            ig_onnx_fail(s->node, IG_INVALID, "tree %lld has two roots",
                         (long long)trees[f->roots[t]]);
            return false;
        }
    }
    return true;
}

static bool measure_trees(ensemble *s) {
    ig_forest *f = &s->forest;
    if (f->tree_count == 0 || !ig_forest_measure(f, s->arena, DEPTH_MAX)) {
        ig_onnx_fail(s->node, f->tree_count ? IG_LIMIT : IG_INVALID,
                     "its nodes form a circle, or are deeper than %d levels",
                     DEPTH_MAX);
        return false;
    }
    return true;
}

/* A circle has no root, so nobody comes there. */
static bool reaches_all(const ensemble *s) {
    uint32_t lost = s->forest.node_count - s->forest.reached;
    if (lost) {
        ig_onnx_fail(s->node, IG_INVALID,
                     "%u nodes are reached from no root: they form a circle", lost);
    }
    return lost == 0;
}

static void read_missing(ensemble *s) {
    uint32_t count = 0;
    const int64_t *flags = ig_onnx_attr_ints(s->node, "nodes_missing_value_tracks_true",
                                             &count);
    if (flags && count && count != s->forest.node_count) {
        refuse_length(s, "nodes_missing_value_tracks_true", count,
                      s->forest.node_count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->forest.missing[i] = flags[i] != 0;
    }
}

/* The leaves' weights, in the lists whose names begin with `kind`: target or class. */
static bool read_weights(ensemble *s, const name_table *names, const char *kind) {
    static const char *const parts[] = { "treeids", "nodeids", "ids" };
    ig_forest *f = &s->forest;
    const int64_t *lists[3];
    numbers weights =
        read_numbers(s, ig_arena_printf(s->arena, "%s_weights", kind),
                     ig_arena_printf(s->arena, "%s_weights_as_tensor", kind));
    for (uint32_t i = 0; i < 3; i++) {
        const char *name = ig_arena_printf(s->arena, "%s_%s", kind, parts[i]);
        lists[i] = read_ints(s, name, weights.count);
    }
    if (ig_onnx_has_failed(s->node)) {
        return false;
    }
    f->weight_count = weights.count;
    f->weights = IG_NEW_ARRAY(s->arena, ig_forest_weight, weights.count + 1u);
    s->has_only_one = s->is_all_positive = true;
    for (uint32_t i = 0; i < weights.count; i++) {
        uint32_t leaf;
        if (!find_node(names, lists[0][i], lists[1][i], &leaf) ||
            f->yes[leaf] != (int32_t)leaf || lists[2][i] < 0 ||
            lists[2][i] >= f->target_count) {
            ig_onnx_fail(s->node, IG_INVALID,
                         "a weight is for node %lld of tree %lld and target %lld, "
                         "expected a leaf and less than %u",
                         (long long)lists[1][i], (long long)lists[0][i],
                         (long long)lists[2][i], f->target_count);
            return false;
        }
        f->weights[i] = (ig_forest_weight){ leaf, (uint32_t)lists[2][i],
                                            weights.items[i] };
        s->has_only_one = s->has_only_one && lists[2][i] == lists[2][0];
        s->is_all_positive = s->is_all_positive && weights.items[i] >= 0;
    }
    return true;
}

/* ---- rows ---- */

/* Input 0 as floats [N, F], with all the features that nodes look at. */
static ig_value *take_features(const ensemble *s) {
    ig_expr *e = s->node->e;
    ig_value *x = ig_expr_to_float(e, s->node->inputs[0]);
    if (x && x->type->rank == 1) {
        x = ig_expr_unsqueeze(e, x, 0);
    }
    if (!x || x->type->rank != 2) {
        return ig_expr_fail(e, IG_INVALID, "input 0 has rank %u, expected 1 or 2",
                            s->node->inputs[0]->type->rank);
    }
    int64_t max = -1;
    for (uint32_t i = 0; i < s->forest.node_count; i++) {
        bool is_inner = s->forest.yes[i] != (int32_t)i;
        max = is_inner && s->forest.features[i] > max ? s->forest.features[i] : max;
    }
    ig_expr_guard_less_equal(e, ig_dim_of(max + 1), ig_onnx_extent(e, x, 1),
                             "nodes look at more features than rows have");
    return ig_expr_widen(e, x);
}

/* base_values, which each target has or none; one alone is that of the only class that
 * has weights. */
static ig_value *add_base(const ensemble *s, ig_value *scores) {
    numbers base = read_numbers(s, "base_values", "base_values_as_tensor");
    if (!base.count || !scores) {
        return scores;
    }
    bool is_only = s->has_only_one && base.count == 1;
    if (!is_only && base.count != s->forest.target_count) {
        refuse_length(s, "base_values", base.count, s->forest.target_count);
        return NULL;
    }
    int64_t extent = base.count;
    ig_value *list = ig_expr_constant(s->node->e, "base", IG_DT_f64, 1, &extent,
                                      base.items);
    return ig_build_add(s->node->e, scores, ig_expr_like(s->node->e, list, scores));
}

/* Nodes, children and leaves of versions 1 and 3. */
static bool read_named(ensemble *s, const char *kind) {
    uint32_t count = 0;
    const int64_t *trees = ig_onnx_attr_ints(s->node, "nodes_treeids", &count);
    if (!trees || count == 0 || count > NODES_MAX) {
        ig_onnx_fail(s->node, IG_INVALID,
                     "nodes_treeids has %u entries, expected 1 to %d", count,
                     NODES_MAX);
        return false;
    }
    const int64_t *nodes = read_ints(s, "nodes_nodeids", count);
    if (!nodes) {
        return false;
    }
    alloc_nodes(s, count);
    name_table names = make_names(s, trees, nodes);
    read_missing(s);
    return !ig_onnx_has_failed(s->node) && link_nodes(s, &names, trees) &&
           find_roots(s, trees) && measure_trees(s) && reaches_all(s) &&
           read_weights(s, &names, kind);
}

static ensemble start_ensemble(ig_onnx_node *node, int64_t targets) {
    ensemble s = { .node = node, .arena = node->import->arena };
    if (targets < 1 || targets > TARGETS_MAX) {
        ig_onnx_fail(node, IG_INVALID, "has %lld targets, expected 1 to %d",
                     (long long)targets, TARGETS_MAX);
    }
    s.forest.target_count = (uint32_t)targets;
    s.forest.aggregate = IG_FOREST_SUM;
    return s;
}

ig_status ig_onnx_import_tree_regressor(ig_onnx_node *node) {
    static const ig_forest_aggregate kinds[] = { IG_FOREST_SUM, IG_FOREST_AVERAGE,
                                                 IG_FOREST_MIN, IG_FOREST_MAX };
    ensemble s = start_ensemble(node, ig_onnx_attr_int(node, "n_targets", 1));
    s.forest.aggregate =
        kinds[ig_onnx_attr_choice(node, "aggregate_function", "SUM AVERAGE MIN MAX")];
    uint32_t transform = ig_onnx_attr_choice(node, "post_transform",
                                             IG_ONNX_TRANSFORMS);
    if (ig_onnx_has_failed(node) || !read_named(&s, "target")) {
        return node->e->status;
    }
    ig_value *y = ig_compose_forest(node->e, take_features(&s), &s.forest);
    y = ig_onnx_transform_scores(node->e, add_base(&s, y), transform);
    return ig_onnx_give(node, y ? ig_expr_cast(node->e, y, IG_DT_f32) : NULL);
}

/* Weights for one of two classes: the label is that of the sign, or where no weight is
 * negative of one half. */
static ig_value *complete_scores(const ensemble *s, ig_value *scores,
                                 uint32_t transform, ig_value **out_label) {
    ig_expr *e = s->node->e;
    uint32_t given = s->forest.weight_count ? s->forest.weights[0].target : 1;
    ig_value *own = ig_expr_slice(e, scores, 1, ig_dim_of(given), ig_dim_of(1), 1);
    ig_value *is_second = ig_expr_with(e, IG_OP_gt, own, s->is_all_positive ? 0.5 : 0);
    *out_label = ig_expr_flatten(e, ig_expr_cast(e, is_second, IG_DT_i64));
    return ig_onnx_pair_scores(e, own, s->is_all_positive, transform);
}

ig_status ig_onnx_import_tree_classifier(ig_onnx_node *node) {
    ig_onnx_labels labels = ig_onnx_read_labels(node, "classlabels_int64s",
                                                "classlabels_strings");
    ensemble s = start_ensemble(node, labels.count);
    uint32_t transform = ig_onnx_attr_choice(node, "post_transform",
                                             IG_ONNX_TRANSFORMS);
    if (ig_onnx_has_failed(node) || !read_named(&s, "class")) {
        return node->e->status;
    }
    ig_value *label, *scores = ig_compose_forest(node->e, take_features(&s), &s.forest);
    scores = add_base(&s, scores);
    if (s.has_only_one && labels.count == 2) {
        scores = complete_scores(&s, scores, transform, &label);
    } else {
        label = ig_onnx_best_class(node->e, scores);
        scores = ig_onnx_transform_scores(node->e, scores, transform);
    }
    return ig_onnx_give_classes(node, &labels, label, scores);
}

/* ---- version 5: inner nodes and leaves by number ---- */

typedef struct numbered {
    ensemble s;
    uint32_t inner; /* nodes of the file; after them two leaves each */
    const int64_t *next[2], *is_leaf[2]; /* true, false */
    const int64_t *leaf_targets;
    numbers leaf_weights, members;
    uint32_t member; /* the next of `members` */
} numbered;

/* The child of a node on one side; a leaf gets a node of its own, with its weight. */
static bool link_child(numbered *n, uint32_t node, uint32_t side, int32_t *out_child) {
    ig_forest *f = &n->s.forest;
    int64_t next = n->next[side][node];
    bool is_leaf = n->is_leaf[side][node] != 0;
    if (next < 0 || next >= (is_leaf ? n->leaf_weights.count : n->inner)) {
        ig_onnx_fail(n->s.node, IG_INVALID,
                     "node %u leads to %s %lld, which is not there", node,
                     is_leaf ? "leaf" : "node", (long long)next);
        return false;
    }
    *out_child = (int32_t)next;
    if (!is_leaf) {
        return true;
    }
    uint32_t leaf = n->inner + 2 * node + side;
    int64_t target = n->leaf_targets[next];
    if (target < 0 || target >= f->target_count) {
        ig_onnx_fail(n->s.node, IG_INVALID, "leaf %lld has target %lld, expected %u",
                     (long long)next, (long long)target, f->target_count);
        return false;
    }
    f->weights[f->weight_count++] = (ig_forest_weight){ leaf, (uint32_t)target,
                                                        n->leaf_weights.items[next] };
    *out_child = (int32_t)leaf;
    return true;
}

/* The next members of the file's list, which NaN ends. */
static void take_members(numbered *n, uint32_t node) {
    ig_forest_set *set = &n->s.forest.sets[node];
    if (n->member < n->members.count) {
        set->items = n->members.items + n->member;
    }
    while (n->member < n->members.count) {
        if (isnan(n->members.items[n->member++])) {
            break;
        }
        set->count++;
    }
}

static void add_leaves(numbered *n) {
    ig_forest *f = &n->s.forest;
    for (uint32_t i = n->inner; i < f->node_count; i++) {
        f->yes[i] = f->no[i] = (int32_t)i;
        f->features[i] = 0;
        f->modes[i] = 0;
        f->values[i] = 0;
    }
}

static bool link_numbered(numbered *n, const int64_t *features, const double *modes,
                          const double *splits) {
    ig_forest *f = &n->s.forest;
    add_leaves(n);
    for (uint32_t i = 0; i < n->inner; i++) {
        if (!(modes[i] >= 0 && modes[i] <= IG_FOREST_MEMBER)) {
            ig_onnx_fail(n->s.node, IG_INVALID, "node %u has mode %g, expected 0 to 6",
                         i, modes[i]);
            return false;
        }
        f->modes[i] = (uint8_t)modes[i];
        f->values[i] = splits[i];
        if (!link_child(n, i, 0, &f->yes[i]) || !link_child(n, i, 1, &f->no[i]) ||
            !set_feature(&n->s, i, features[i])) {
            return false;
        }
        if (f->modes[i] == IG_FOREST_MEMBER) {
            take_members(n, i);
        }
    }
    return true;
}

static bool read_numbered_roots(numbered *n) {
    ig_forest *f = &n->s.forest;
    const int64_t *roots = ig_onnx_attr_ints(n->s.node, "tree_roots", &f->tree_count);
    f->roots = IG_NEW_ARRAY(n->s.arena, int32_t, f->tree_count + 1u);
    for (uint32_t t = 0; t < f->tree_count; t++) {
        if (roots[t] < 0 || roots[t] >= n->inner) {
            ig_onnx_fail(n->s.node, IG_INVALID, "a tree begins at node %lld of %u",
                         (long long)roots[t], n->inner);
            return false;
        }
        f->roots[t] = (int32_t)roots[t];
    }
    return measure_trees(&n->s);
}

static bool read_numbered(numbered *n) {
    const ensemble *s = &n->s;
    numbers splits = read_numbers(s, NULL, "nodes_splits");
    numbers modes = read_numbers(s, NULL, "nodes_modes");
    n->leaf_weights = read_numbers(s, NULL, "leaf_weights");
    n->members = read_numbers(s, NULL, "membership_values");
    n->inner = splits.count;
    if (modes.count != n->inner || n->inner == 0) {
        refuse_length(s, "nodes_modes", modes.count, n->inner ? n->inner : 1);
        return false;
    }
    const int64_t *features = read_ints(s, "nodes_featureids", n->inner);
    n->next[0] = read_ints(s, "nodes_truenodeids", n->inner);
    n->next[1] = read_ints(s, "nodes_falsenodeids", n->inner);
    n->is_leaf[0] = read_ints(s, "nodes_trueleafs", n->inner);
    n->is_leaf[1] = read_ints(s, "nodes_falseleafs", n->inner);
    n->leaf_targets = read_ints(s, "leaf_targetids", n->leaf_weights.count);
    if (ig_onnx_has_failed(s->node)) {
        return false;
    }
    alloc_nodes(&n->s, 3 * n->inner);
    n->s.forest.sets = IG_NEW_ARRAY(s->arena, ig_forest_set, n->inner);
    memset(n->s.forest.sets, 0, n->inner * sizeof *n->s.forest.sets);
    n->s.forest.weights = IG_NEW_ARRAY(s->arena, ig_forest_weight, 2u * n->inner);
    n->s.forest.node_count = n->inner; /* as many flags as the file has nodes */
    read_missing(&n->s);
    n->s.forest.node_count = 3 * n->inner;
    return !ig_onnx_has_failed(s->node) &&
           link_numbered(n, features, modes.items, splits.items) &&
           read_numbered_roots(n);
}

ig_status ig_onnx_import_tree_ensemble(ig_onnx_node *node) {
    numbered n = { .s = start_ensemble(node, ig_onnx_attr_int(node, "n_targets", 1)) };
    n.s.forest.aggregate = (ig_forest_aggregate)ig_onnx_attr_between(
        node, "aggregate_function", IG_FOREST_SUM, 0, IG_FOREST_MAX);
    uint32_t transform = (uint32_t)ig_onnx_attr_between(
        node, "post_transform", IG_ONNX_TRANSFORM_NONE, 0, IG_ONNX_TRANSFORM_PROBIT);
    if (ig_onnx_has_failed(node) || !read_numbered(&n)) {
        return node->e->status;
    }
    ig_value *y = ig_compose_forest(node->e, take_features(&n.s), &n.s.forest);
    y = ig_onnx_transform_scores(node->e, y, transform);
    return ig_onnx_give(node, ig_expr_like(node->e, y, node->inputs[0]));
}
