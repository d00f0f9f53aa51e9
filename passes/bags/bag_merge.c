/* bag_merge: all bag ops of a block become one.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = bag @t0, %ids0, %off0 {operands = [1], pool = [sum]} : f32[B, 64]
 *     %1 = relu %0 : f32[B, 64]
 *     %2 = bag @t1, %ids1 {operands = [0], pool = [none]} : f32[B, 64]
 *   becomes
 *     %0, %2 = bag @t0, %ids0, %off0, @t1, %ids1
 *         {operands = [1, 0], pool = [sum, none]} : …
 *     %1 = relu %0 : f32[B, 64]
 *
 * One launch for all tables of a model: its many small look-ups share the threads, and
 * memory latency is hidden across tables.  Features that are alike are next to each
 * other, since a kernel has one loop nest for each kind.
 *
 * The merged op replaces the last of its parts; ops between the parts that
 * need a result move after it.  A bag that needs another's result is of a higher
 * level: bags of one level and of equal rules for ids are merged, up to a number of
 * levels that keeps the work linear.
 *
 * Keeps: every result.  Ops that are ordered by effects end a group: bags between two
 * of them become one.
 */
#include "ir/build/expr.h"
#include "ir/bag.h"
#include "passes/engine/levels.h"
#include "passes/engine/pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES_MAX = 8192, LEVELS_MAX = 64 };

typedef struct merger {
    ig_pass_run *run;
    ig_module *module;
    ig_arena *arena;
    ig_levels levels;
    ig_map stretch_of; /* bag op -> ops with effects in front of it, and 1 */
} merger;

enum { KEY = 17 };

/* One feature: number `index` of a bag op. */
typedef struct feature {
    int64_t key[KEY]; /* by which features are ordered */
    ig_op *op;
    uint32_t index;
} feature;

typedef struct group {
    ig_op_list ops; /* in the order of the block */
    feature *features;
    uint32_t count;
} group;

/* ---- order of features ---- */

static int64_t dtype_of(const ig_op *op, uint32_t operand) {
    return operand ? op->operands[operand].value->type->dtype : -1;
}

/* Kinds of kernels first, then large tables before small ones, then as they were. */
static void set_key(feature *f, uint32_t index) {
    ig_bag_feature x = ig_bag_feature_at(f->op, f->index);
    const ig_type *table = f->op->operands[x.table].value->type;
    const int64_t key[KEY] = {
        x.pool,
        x.tables,
        (x.begins > 0) | (x.ends > 0) << 1 | (x.weights > 0) << 2,
        x.last,
        x.empty,
        x.padding != INT64_MIN,
        table->dtype,
        table->rows.format,
        table->rows.exponent_bits << 8 | table->rows.exponent_bias,
        table->rows.stride,
        (int64_t)ig_dim_key(table->dims[1]),
        dtype_of(f->op, x.ids),
        dtype_of(f->op, x.begins),
        dtype_of(f->op, x.ends),
        dtype_of(f->op, x.weights),
        -(int64_t)ig_dim_key(table->dims[0]),
        index
    };
    memcpy(f->key, key, sizeof key);
}

static int compare_features(const void *a, const void *b) {
    const feature *x = a, *y = b;
    for (uint32_t i = 0; i < KEY; i++) {
        if (x->key[i] != y->key[i]) {
            return x->key[i] < y->key[i] ? -1 : 1;
        }
    }
    return 0;
}

static void order_features(const merger *m, group *g) {
    for (size_t i = 0; i < g->ops.count; i++) {
        g->count += g->ops.items[i]->result_count;
    }
    g->features = IG_NEW_ARRAY(m->arena, feature, g->count);
    uint32_t index = 0;
    for (size_t i = 0; i < g->ops.count; i++) {
        for (uint32_t k = 0; k < g->ops.items[i]->result_count; k++, index++) {
            feature *f = &g->features[index];
            *f = (feature){ .op = g->ops.items[i], .index = k };
            set_key(f, index);
        }
    }
    qsort(g->features, g->count, sizeof *g->features, compare_features);
}

/* ---- making one op ---- */

/* One entry per feature; no list when all of them are `absent`. */
static ig_ints merge_entries(const merger *m, const group *g, uint32_t slot,
                             int64_t absent) {
    assert(slot < IG_bag_attr_count && "an attribute of bags");
    int64_t *entries = IG_NEW_ARRAY(m->arena, int64_t, g->count);
    bool is_some = false;
    for (uint32_t i = 0; i < g->count; i++) {
        const feature *f = &g->features[i];
        const ig_attr *attr = &f->op->attrs[slot];
        entries[i] = attr->kind == IG_ATTR_INTS ? attr->as.ints[f->index] : absent;
        is_some = is_some || entries[i] != absent;
    }
    return (ig_ints){ is_some ? entries : NULL, g->count };
}

static uint32_t merge_operands(const group *g, ig_value **operands) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const feature *f = &g->features[i];
        ig_bag_feature x = ig_bag_feature_at(f->op, f->index);
        for (uint32_t k = 0; k < x.operands; k++) {
            operands[count++] = f->op->operands[x.table + k].value;
        }
    }
    return count;
}

static ig_op *make_merged(const merger *m, const group *g) {
    assert(g->ops.count > 0 && "a group has bags");
    ig_op *last = IG_LAST(&g->ops);
    ig_builder b = ig_builder_before(last);
    uint32_t max = 0;
    for (size_t i = 0; i < g->ops.count; i++) {
        max += g->ops.items[i]->operand_count;
    }
    ig_value **operands = IG_NEW_ARRAY(m->arena, ig_value *, max);
    ig_bag_attrs attrs = ig_bag_attrs_of(last);
    attrs.operands = merge_entries(m, g, IG_bag_operands, -1);
    attrs.pool = merge_entries(m, g, IG_bag_pool, -1);
    attrs.padding = merge_entries(m, g, IG_bag_padding, INT64_MIN);
    attrs.last = merge_entries(m, g, IG_bag_last, IG_LAST_ids);
    attrs.empty = merge_entries(m, g, IG_bag_empty, IG_EMPTY_zero);
    attrs.tables = merge_entries(m, g, IG_bag_tables, 1);
    attrs.whole = false;
    ig_op_spec spec = { .operands = operands,
                        .operand_count = merge_operands(g, operands),
                        .result_count = g->count };
    assert(spec.operand_count <= max && "each operand is one of a merged bag");
    ig_expr e = ig_expr_of(&b);
    return ig_build_bag_op(&e, &spec, attrs);
}

/* ---- groups ---- */

static void merge_group(merger *m, group *g, uint32_t level) {
    if (g->ops.count < 2 || !ig_levels_make_way(&m->levels, &g->ops, level)) {
        return;
    }
    order_features(m, g);
    ig_op *merged = make_merged(m, g);
    for (uint32_t i = 0; i < g->count; i++) {
        ig_value *old = &g->features[i].op->results[g->features[i].index];
        merged->results[i].name = old->name;
        ig_value_retype(&merged->results[i], old->type);
        ig_value_replace(old, &merged->results[i]);
    }
    for (size_t i = 0; i < g->ops.count; i++) {
        ig_op_erase(g->ops.items[i]);
    }
    ig_level_set(&m->levels, merged, level);
    m->run->changed = true;
}

static bool has_same_rules(const ig_op *a, const ig_op *b) {
    return ig_attr_int(a, IG_bag_negative, 0) == ig_attr_int(b, IG_bag_negative, 0) &&
           ig_attr_int(a, IG_bag_range, 0) == ig_attr_int(b, IG_bag_range, 0) &&
           ig_attr_int(a, IG_bag_offsets, 0) == ig_attr_int(b, IG_bag_offsets, 0) &&
           ig_attr_int(a, IG_bag_to, -1) == ig_attr_int(b, IG_bag_to, -1);
}

/* Is there no op with effects between them? */
static bool are_together(const merger *m, const ig_op *a, const ig_op *b) {
    return ig_map_get_id(&m->stretch_of, IG_MAP_PTR(a)) ==
           ig_map_get_id(&m->stretch_of, IG_MAP_PTR(b));
}

/* Takes the first bag that is left and those that go with it. */
static group take_group(const merger *m, ig_op_list *left) {
    group g = { 0 };
    uint32_t features = 0;
    ig_op_list others = { 0 };
    for (size_t i = 0; i < left->count; i++) {
        ig_op *op = left->items[i];
        bool fits = !g.ops.count || (features + op->result_count <= FEATURES_MAX &&
                                     are_together(m, g.ops.items[0], op) &&
                                     has_same_rules(g.ops.items[0], op));
        if (fits) {
            IG_PUSH(m->arena, &g.ops, op);
            features += op->result_count;
        } else {
            IG_PUSH(m->arena, &others, op);
        }
    }
    *left = others;
    return g;
}

static void merge_block(merger *m, ig_block *block) {
    ig_op_list by_level[LEVELS_MAX] = { 0 };
    ig_levels_find(&m->levels, m->arena, block, IG_OP_bag);
    uintptr_t stretch = 1;
    ig_map_init(&m->stretch_of, m->arena);
    for (ig_op *op = block->first; op; op = op->next) {
        uint32_t level = ig_level_of(&m->levels, op);
        stretch += (ig_ops[op->code].traits & IG_STATE) != 0;
        ig_map_set_id(&m->stretch_of, IG_MAP_PTR(op), (void *)stretch);
        if (op->code == IG_OP_bag && level < LEVELS_MAX) {
            IG_PUSH(m->arena, &by_level[level], op);
        }
    }
    for (uint32_t level = 0; level < LEVELS_MAX; level++) {
        while (by_level[level].count) {
            group g = take_group(m, &by_level[level]);
            merge_group(m, &g, level);
        }
    }
    for (ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            merge_block(m, op->bodies[i]);
        }
    }
}

ig_status ig_pass_bag_merge(ig_pass_run *run, ig_graph *graph) {
    merger m = { .run = run, .module = graph->module, .arena = run->scratch };
    merge_block(&m, &graph->body);
    return ig_context_poll(graph->module->context);
}
