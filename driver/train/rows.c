/* Rows of tables in training: which ids bags read, and the gradients of their rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ids        of all bags that read the table, in the order of the graph
 *     gradients  of these bags' results; each id takes that of its bag, by its index,
 *                times its weight
 */
#include "driver/train/training.h"
#include "passes/grad/bag_list.h"

typedef ig_train_weight trained;
typedef ig_training training;
typedef ig_train_values value_list;

/* The feature of a bag of the entry's block whose table that is, when its rows are
 * enough to know. */
static bool find_feature(const training *t, const ig_use *use, uint32_t *out_feature) {
    const ig_op *op = use->user;
    if (op->code != IG_OP_bag || op->block != &t->graph->body) {
        return false;
    }
    for (uint32_t f = 0; f < ig_bag_feature_count(op); f++) {
        ig_bag_feature feature = ig_bag_feature_at(op, f);
        if (&op->operands[feature.table] == use) {
            *out_feature = f;
            return !ig_bag_list_fault(op, f) && ig_bag_list_may_be_known(op, f);
        }
    }
    return false;
}

static bool is_read_by_rows(const training *t, const ig_value *table) {
    uint32_t feature;
    for (const ig_use *use = table->uses; use; use = use->next) {
        if (!find_feature(t, use, &feature)) {
            return false;
        }
    }
    return table->uses && table->type->rank == 2;
}

/* Of tables that every rank has all of, ranks exchange gradients of all rows. */
bool ig_train_has_rows(const training *t, const trained *w) {
    bool is_shared = ig_train_world(t) > 1 && !w->whole;
    return !is_shared && !t->groups[w->group].is_dense &&
           is_read_by_rows(t, t->graph->body.args[w->argument]);
}

static bool is_before(const ig_use *a, const ig_use *b) {
    return a->user == b->user ? a < b : ig_op_is_before(a->user, b->user);
}

typedef IG_VEC(ig_use *) use_list;

/* Bags that read the table, in the order of the graph: so are gradients of a row added,
 * whatever the order of the chain is. */
static use_list list_bags(const training *t, const trained *w) {
    use_list list = { 0 };
    for (ig_use *use = t->graph->body.args[w->argument]->uses; use; use = use->next) {
        if (use->user->code != IG_OP_bag) {
            continue; /* a gradient reads it too: of weights, of maxima */
        }
        IG_PUSH(t->arena, &list, use);
        for (size_t i = list.count - 1; i > 0 && is_before(use, list.items[i - 1]);
             i--) {
            list.items[i] = list.items[i - 1];
            list.items[i - 1] = use;
        }
    }
    return list;
}

ig_value *ig_train_clamp(training *t, const trained *w, ig_value *g) {
    double limit = t->groups[w->group].how.max_gradient;
    if (limit <= 0) {
        return g;
    }
    return ig_expr_with(&t->e, IG_OP_min, ig_expr_with(&t->e, IG_OP_max, g, -limit),
                        limit);
}

static ig_value *join_parts(ig_expr *e, const value_list *parts) {
    return parts->count == 1
               ? parts->items[0]
               : ig_expr_concat(e, 0, parts->items, (uint32_t)parts->count);
}

/* The lists of several features that read one table, one after the other. */
typedef struct joined {
    value_list ids, gradients, bags, factors;
    bool has_bags, has_factors;
    ig_dim count; /* of gradients so far */
} joined;

/* The rows of a feature's ids, -1 where an id is none. */
static ig_value *rows_of(ig_expr *e, const ig_bag_list *ids) {
    ig_value *none = ig_expr_integer(e, IG_DT_i64, -1);
    return ids->is_row ? ig_build_where(e, ids->is_row, ids->id, none) : ids->id;
}

/* Each id takes one of all gradients, times its weight. */
static void add_lists(training *t, const trained *w, const ig_bag_list *ids,
                      ig_value *bag, joined *to) {
    ig_expr *e = &t->e;
    ig_dtype dtype = (ig_dtype)w->type->dtype;
    ig_value *weights = ig_bag_list_weights(ids);
    ig_value *before = ig_expr_dim(e, to->count, IG_DT_i64);
    to->has_bags |= bag != NULL;
    to->has_factors |= weights != NULL;
    bag = bag ? bag : ig_expr_iota(e, IG_DT_i64, ids->count);
    bag = to->ids.count > 1 ? ig_build_add(e, bag, before) : bag;
    weights = weights ? ig_expr_cast(e, ig_expr_flatten(e, weights), dtype)
                      : ig_expr_fill(e, dtype, 1, &ids->count, 1);
    IG_PUSH(t->arena, &to->bags, bag);
    IG_PUSH(t->arena, &to->factors, weights);
}

static void add_feature(training *t, const trained *w, const ig_bag_list *ids,
                        ig_value *dy, joined *to) {
    ig_expr *e = &t->e;
    ig_value *bag, *d = ig_bag_list_gradients(ids, ig_train_clamp(t, w, dy), &bag);
    d = ig_expr_cast(e, d, (ig_dtype)w->type->dtype);
    IG_PUSH(t->arena, &to->ids, rows_of(e, ids));
    add_lists(t, w, ids, bag, to);
    IG_PUSH(t->arena, &to->gradients, d);
    to->count = d ? ig_dim_add(t->module, to->count, d->type->dims[0]) : to->count;
}

/* Ids and gradients of all features that read the table, one after the other; `next`
 * points at their bags' gradients. */
void ig_train_join_rows(training *t, trained *w, ig_value **next) {
    ig_expr *e = &t->e;
    joined all = { .count = ig_dim_of(0) };
    uint32_t feature = 0;
    use_list bags = list_bags(t, w);
    for (size_t i = 0; i < bags.count; i++) {
        ig_bag_list own;
        (void)find_feature(t, bags.items[i], &feature);
        ig_bag_list_open(e, bags.items[i]->user, feature, true, &own);
        add_feature(t, w, &own, *next++, &all);
    }
    bool has_bags = all.has_bags || all.ids.count > 1;
    w->rows.ids = join_parts(e, &all.ids);
    w->rows.gradients = join_parts(e, &all.gradients);
    w->rows.bags = has_bags ? join_parts(e, &all.bags) : NULL;
    w->rows.factors = all.has_factors ? join_parts(e, &all.factors) : NULL;
}

uint32_t ig_train_list_rows(const training *t, const trained *w, value_list *to) {
    uint32_t feature = 0;
    use_list bags = list_bags(t, w);
    for (size_t k = 0; k < bags.count; k++) {
        (void)find_feature(t, bags.items[k], &feature);
        IG_PUSH(t->arena, to, &bags.items[k]->user->results[feature]);
    }
    return (uint32_t)bags.count;
}
