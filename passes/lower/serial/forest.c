/* Tree ensembles: all trees of a block of rows in one launch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One walk is a chain: record, feature, comparison, next record.  Its branches cannot
 * be guessed, so there are none (the comparison is added to the next record's number),
 * and WALKS chains run side by side, which hides how long each takes.  Gathers would do
 * the same loads and wait for all lanes.
 *
 *     for tree t                          its records stay in the nearest cache
 *         for WALKS rows of the tile      side by side, as many steps as the tree has
 *     for row left over
 *         for WALKS trees                 side by side, as many steps as the deepest
 *         for tree left over
 *
 * Either way a row's sum takes the trees in order, in f64, so bits do not depend on how
 * many rows there are.  Nothing is checked at run time: that no record leads elsewhere
 * is seen here, in the constants.
 *
 *   grid    rows, ROWS a tile, fewer where they have so many targets that their sums
 *           would fill a cache
 */
#include "ir/semantics/forest.h"
#include "passes/lower/serial/serial.h"
#include "passes/lower/team.h"
#include "passes/lower/walk.h"

#include <assert.h>
#include <math.h>

enum { WALKS = 8, ROWS = 32, SUMS = 4096, STEP_NS = 2 };

typedef struct forest {
    ig_lower *lower;
    const ig_lower_operand *in[IG_FOREST_OPERANDS], *out;
    ig_forest_facts facts;
    int64_t targets, width, rows; /* rows of a tile */
    uint32_t walks;
    ig_reduce kind;
    ig_own_array sums; /* f64 [rows, targets] */
    ig_value *trees;
} forest;

typedef struct stand { /* of rows in trees, side by side */
    uint32_t count;
    ig_value *at[WALKS];       /* records */
    ig_value *features[WALKS]; /* where in x the row begins */
} stand;

/* ---- walks ---- */

static ig_value *load_entry(const forest *f, ig_builder *b, ig_forest_operand operand,
                            ig_value *at) {
    return k_load(b, f->in[operand]->buffer, at, 1);
}

/* The record that follows `at`. */
static ig_value *take_step(const forest *f, ig_builder *b, ig_value *at,
                           ig_value *features) {
    ig_value *word = load_entry(f, b, IG_FOREST_NODES, at);
    ig_value *test = load_entry(f, b, IG_FOREST_TESTS, at);
    ig_value *feature = k_binary(b, IG_OP_and, word, k_i64(b, INT32_MAX));
    ig_value *stride = ig_lower_dim(f->lower, f->in[IG_FOREST_X]->strides[1]);
    feature = k_add(b, features, k_mul(b, feature, stride));
    ig_value *x = load_entry(f, b, IG_FOREST_X, feature);
    ig_value *is_low = k_compare(b, IG_OP_le, x, test);
    if (f->facts.tracks) {
        ig_value *mark = k_binary(b, IG_OP_and, word, k_i64(b, (int64_t)1 << 31));
        ig_value *tracks = k_compare(b, IG_OP_ne, mark, k_i64(b, 0));
        tracks = k_binary(b, IG_OP_and, tracks, ig_lower_is_nan(b, x));
        is_low = k_binary(b, IG_OP_or, is_low, tracks);
    }
    ig_value *next = k_binary(b, IG_OP_shr, word, k_i64(b, 32));
    ig_value *is_high = k_unary(b, IG_OP_not, is_low);
    return k_add(b, next, k_cast(b, is_high, IG_DT_i64));
}

static void take_steps(const forest *f, ig_builder *b, ig_value *steps, stand *s) {
    ig_value *next[WALKS];
    k_loop loop = k_loop_open(b, k_i64(b, 0), steps, k_i64(b, 1), s->at, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        next[i] = take_step(f, &loop.b, loop.carried[i], s->features[i]);
    }
    k_loop_close(&loop, next, s->count);
    for (uint32_t i = 0; i < s->count; i++) {
        s->at[i] = loop.results[i];
    }
}

/* ---- sums ---- */

static ig_value *join_weight(const forest *f, ig_builder *b, ig_value *sum,
                             ig_value *weight) {
    return f->kind == IG_REDUCE_sum   ? k_add(b, sum, weight)
           : f->kind == IG_REDUCE_min ? k_min(b, sum, weight)
                                      : k_max(b, sum, weight);
}

/* The weights of a leaf, `lanes` at a time, to the sums from `to` on. */
static void add_wide(const forest *f, ig_builder *b, ig_value *leaf, ig_value *to) {
    uint32_t lanes = ig_lower_lanes(f->lower, IG_DT_f64);
    ig_value *width = k_i64(b, f->width);
    k_loop loop = k_loop_open(b, k_i64(b, 0), width, k_i64(b, lanes), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *left = k_sub(in, width, loop.index);
    ig_value *at = k_add(in, leaf, loop.index), *sum_at = k_add(in, to, loop.index);
    ig_value *weight = k_load_count(in, f->in[IG_FOREST_WEIGHTS]->buffer, at, lanes,
                                    left);
    ig_value *sum = k_load_count(in, f->sums.buffer, sum_at, lanes, left);
    sum = join_weight(f, in, sum, k_cast(in, weight, IG_DT_f64));
    k_store_count(in, sum, f->sums.buffer, sum_at, left);
    k_loop_close(&loop, NULL, 0);
}

/* Tree `t`'s value for row `row` of the tile, which is at record `at`. */
static void add_leaf(const forest *f, ig_builder *b, ig_value *row, ig_value *t,
                     ig_value *at) {
    ig_value *leaf = k_cast(b, load_entry(f, b, IG_FOREST_LEAVES, at), IG_DT_i64);
    leaf = k_mul(b, leaf, k_i64(b, f->width));
    ig_value *to = k_add(b, f->sums.start, k_mul(b, row, k_i64(b, f->targets)));
    if (f->width < f->targets) {
        ig_value *entry = k_mul(b, t, k_i64(b, 2));
        entry = k_add(b, entry, k_i64(b, 1));
        to = k_add(b, to, load_entry(f, b, IG_FOREST_TREES, entry));
    }
    if (f->width > 1) {
        add_wide(f, b, leaf, to);
        return;
    }
    ig_value *weight = load_entry(f, b, IG_FOREST_WEIGHTS, leaf);
    ig_value *sum = k_load(b, f->sums.buffer, to, 1);
    sum = join_weight(f, b, sum, k_cast(b, weight, IG_DT_f64));
    k_store(b, sum, f->sums.buffer, to);
}

static void clear_sums(const forest *f, ig_builder *b, ig_value *rows) {
    double start = f->kind == IG_REDUCE_sum   ? 0
                   : f->kind == IG_REDUCE_min ? (double)INFINITY
                                              : -(double)INFINITY;
    ig_value *count = k_mul(b, rows, k_i64(b, f->targets));
    k_loop loop = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), NULL, 0);
    ig_value *at = k_add(&loop.b, f->sums.start, loop.index);
    k_store(&loop.b, k_const(&loop.b, IG_DT_f64, start), f->sums.buffer, at);
    k_loop_close(&loop, NULL, 0);
}

static void write_sums(const forest *f, ig_builder *b, ig_value *first,
                       ig_value *rows) {
    ig_value *one = k_i64(b, 1), *targets = k_i64(b, f->targets);
    k_loop row = k_loop_open(b, k_i64(b, 0), rows, one, NULL, 0);
    k_loop target = k_loop_open(&row.b, k_i64(&row.b, 0), targets, one, NULL, 0);
    ig_builder *in = &target.b;
    ig_value *from = k_add(in, k_mul(in, row.index, targets), target.index);
    from = k_add(in, f->sums.start, from);
    ig_value *sum = k_load(in, f->sums.buffer, from, 1);
    ig_value *index[] = { k_add(in, first, row.index), target.index };
    k_store(in, k_cast(in, sum, (ig_dtype)f->out->type->dtype), f->out->buffer,
            ig_lower_at(f->lower, in, f->out, index));
    k_loop_close(&target, NULL, 0);
    k_loop_close(&row, NULL, 0);
}

/* ---- the tile ---- */

static ig_value *steps_of(const forest *f, ig_builder *b, ig_value *t) {
    return load_entry(f, b, IG_FOREST_TREES, k_mul(b, t, k_i64(b, 2)));
}

static ig_value *row_of_x(const forest *f, ig_builder *b, ig_value *row) {
    return k_mul(b, row, ig_lower_dim(f->lower, f->in[IG_FOREST_X]->strides[0]));
}

/* Rows 0 … of the tile, `walks` at a time, in each tree; `first` is the tile's. */
static void walk_row_groups(const forest *f, ig_builder *b, ig_value *first,
                            ig_value *groups) {
    ig_value *one = k_i64(b, 1), *zero = k_i64(b, 0);
    k_loop tree = k_loop_open(b, zero, f->trees, one, NULL, 0);
    ig_value *steps = steps_of(f, &tree.b, tree.index);
    k_loop group = k_loop_open(&tree.b, zero, groups, one, NULL, 0);
    ig_builder *in = &group.b;
    stand s = { .count = f->walks };
    ig_value *row = k_mul(in, group.index, k_i64(in, f->walks)), *rows[WALKS];
    for (uint32_t i = 0; i < s.count; i++) {
        rows[i] = k_add(in, row, k_i64(in, i));
        s.at[i] = tree.index;
        s.features[i] = row_of_x(f, in, k_add(in, first, rows[i]));
    }
    take_steps(f, in, steps, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        add_leaf(f, in, rows[i], tree.index, s.at[i]);
    }
    k_loop_close(&group, NULL, 0);
    k_loop_close(&tree, NULL, 0);
}

/* One row in trees from `from` up to `to`, `count` at a time. */
static void walk_tree_groups(const forest *f, ig_builder *b, ig_value *row,
                             ig_value *features, ig_value *const range[2],
                             uint32_t count) {
    k_loop group = k_loop_open(b, range[0], range[1], k_i64(b, count), NULL, 0);
    ig_builder *in = &group.b;
    stand s = { .count = count };
    ig_value *steps = NULL;
    for (uint32_t i = 0; i < count; i++) {
        s.at[i] = k_add(in, group.index, k_i64(in, i));
        s.features[i] = features;
        ig_value *own = steps_of(f, in, s.at[i]);
        steps = steps ? k_max(in, steps, own) : own;
    }
    take_steps(f, in, steps, &s);
    for (uint32_t i = 0; i < count; i++) {
        add_leaf(f, in, row, k_add(in, group.index, k_i64(in, i)), s.at[i]);
    }
    k_loop_close(&group, NULL, 0);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const forest *f = user;
    ig_value *total = ig_lower_dim(f->lower, f->out->type->dims[0]);
    ig_value *max = k_i64(b, f->rows), *walks = k_i64(b, f->walks);
    ig_value *first = k_mul(b, tile, max);
    ig_value *rows = k_min(b, max, k_sub(b, total, first));
    ig_value *groups = f->walks > 1 ? k_div(b, rows, walks) : k_i64(b, 0);
    clear_sums(f, b, rows);
    if (f->walks > 1) {
        walk_row_groups(f, b, first, groups);
    }
    ig_value *done = k_mul(b, groups, walks);
    ig_value *even = k_mul(b, k_div(b, f->trees, walks), walks);
    ig_value *whole[] = { k_i64(b, 0), even }, *left[] = { even, f->trees };
    k_loop rest = k_loop_open(b, done, rows, k_i64(b, 1), NULL, 0);
    ig_value *features = row_of_x(f, &rest.b, k_add(&rest.b, first, rest.index));
    walk_tree_groups(f, &rest.b, rest.index, features, whole, f->walks);
    walk_tree_groups(f, &rest.b, rest.index, features, left, 1);
    k_loop_close(&rest, NULL, 0);
    write_sums(f, b, first, rows);
}

/* ---- the constants ---- */

/* The value of an operand of the launch, when it is known now. */
static bool read_constant(const forest *f, uint32_t operand, ig_tensor *out) {
    uint32_t index = (uint32_t)(f->in[operand] - f->lower->ins);
    const ig_data *data = ig_constant_of(f->lower->compute->operands[index].value);
    if (!data || !data->bytes || data->is_splat) {
        return false;
    }
    const ig_type *type = data->type;
    *out = (ig_tensor){ .kind = IG_TENSOR, .dtype = (ig_dtype)type->dtype, .count = 1 };
    out->rank = type->rank;
    out->data = (void *)(uintptr_t)data->bytes; /* only read */
    for (uint32_t d = 0; d < type->rank; d++) {
        out->dims[d] = ig_dim_value(type->dims[d]);
        out->count *= out->dims[d];
    }
    return true;
}

static ig_status read_facts(forest *f) {
    ig_tensor tensors[IG_FOREST_OPERANDS];
    const ig_tensor *arrays[IG_FOREST_OPERANDS] = { NULL };
    for (uint32_t i = IG_FOREST_TESTS; i < IG_FOREST_OPERANDS; i++) {
        if (!f->in[i] || !read_constant(f, i, &tensors[i])) {
            return ig_lower_unsupported(f->lower, "a forest that is computed");
        }
        arrays[i] = &tensors[i];
    }
    f->facts = ig_forest_facts_read(arrays, f->targets);
    f->width = tensors[IG_FOREST_WEIGHTS].dims[1];
    if (f->facts.fault) {
        return ig_error(&f->lower->module->context->diag, IG_INVALID,
                        ig_op_location(f->lower->compute), "forest: %s",
                        f->facts.fault);
    }
    return IG_OK;
}

/* Rows that are too short for the trees would be a broken guard; then no tree takes a
 * step. */
static ig_value *usable_trees(const forest *f, ig_builder *b) {
    ig_value *trees = ig_lower_dim(f->lower, f->in[IG_FOREST_TREES]->type->dims[0]);
    ig_dim width = f->in[IG_FOREST_X]->type->dims[1];
    if (ig_dim_less_equal(f->lower->module, ig_dim_of(f->facts.features), width) ==
        IG_YES) {
        return trees;
    }
    ig_value *features = ig_lower_dim(f->lower, width);
    ig_value *suffices = k_compare(b, IG_OP_ge, features, k_i64(b, f->facts.features));
    return k_mul(b, trees, k_cast(b, suffices, IG_DT_i64));
}

ig_status ig_lower_serial_forest(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_forest);
    assert(op && "the family's body has its anchor");
    forest f = { .lower = lower, .out = &lower->outs[0] };
    for (uint32_t i = 0; i < IG_FOREST_OPERANDS; i++) {
        f.in[i] = ig_lower_input(lower, op, i);
    }
    f.targets = ig_attr_int(op, IG_forest_targets, 0);
    f.kind = (ig_reduce)ig_attr_int(op, IG_forest_op, 0);
    IG_TRY(read_facts(&f));
    bool is_one_row = lower->target->has_threads;
    f.walks = is_one_row ? 1 : WALKS;
    f.rows = is_one_row ? 1 : SUMS / f.targets;
    f.rows = f.rows < 1 ? 1 : f.rows > ROWS ? ROWS : f.rows;
    f.sums = ig_own_array_open(lower, IG_DT_f64, f.rows * f.targets);
    f.trees = usable_trees(&f, &lower->b);
    ig_dim rows = f.out->type->dims[0];
    lower->name = "forest";
    lower->grid = ig_lower_ceil_div(lower, rows, f.rows);
    lower->cost = ig_lower_mul(lower, rows, ig_dim_of(STEP_NS * f.facts.steps));
    ig_lower_each_tile(lower, emit_tile, &f);
    return IG_OK;
}
