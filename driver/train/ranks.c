/* Training on ranks: parts of tables, and sums over all ranks.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     tables      the plan's parts, each changed by its rank; gradients of their bags
 *                 come by the exchanges' way back (passes/grad/ranks.c)
 *     the rest    alike on all ranks: one all_reduce of gradients, of the loss and of
 *                 running statistics, in the order of ranks
 */
#include "driver/outputs.h"
#include "driver/train/training.h"

#include <string.h>

int64_t ig_train_world(const ig_training *t) {
    return t->held.world > 1 ? t->held.world : 1;
}

static bool is_mean(const ig_training *t) {
    return t->options.division == IG_DIVIDE_ALL ||
           t->options.division == IG_DIVIDE_DENSE ||
           (t->options.division == IG_DIVIDE_AS_LOSS &&
            t->loss.kind != IG_LOSS_KIND_total);
}

double ig_train_share(const ig_training *t) {
    bool is_for_tables = is_mean(t) && t->options.division != IG_DIVIDE_DENSE;
    return is_for_tables ? 1 / (double)ig_train_world(t) : 1;
}

/* ---- parts of tables ---- */

static ig_train_weight *find_weight(const ig_training *t, const char *name) {
    for (size_t i = 0; i < t->trained.count; i++) {
        ig_train_weight *w = &t->trained.items[i];
        if (w->is_weight && strcmp(w->name, name) == 0) {
            return w;
        }
    }
    return NULL;
}

/* The argument of a table whose parts are arguments now. */
static void remove_argument(ig_training *t, const char *name) {
    ig_block *body = &t->graph->body;
    uint32_t i = body->arg_count - t->graph->opened_count;
    for (; i < body->arg_count; i++) {
        if (strcmp(body->args[i]->name, name) == 0 && !body->args[i]->uses) {
            ig_graph_remove_inputs(t->graph, i, 1);
            t->graph->opened_count--;
            return;
        }
    }
}

/* Its entry becomes that of the first part; further ones come after all. */
static ig_status divide_table(ig_training *t, ig_held_table *table) {
    ig_train_weight *found = find_weight(t, table->name);
    if (!found || table->divided.count == 0) {
        return IG_OK;
    }
    ig_train_weight whole = *found;
    table->is_trained = true;
    table->group = whole.group;
    size_t at = (size_t)(found - t->trained.items);
    memmove(found, found + 1, (t->trained.count - at - 1) * sizeof *found);
    t->trained.count--;
    remove_argument(t, table->name);
    for (uint32_t k = 0; k < table->divided.count; k++) {
        ig_train_weight part = whole;
        part.name = ig_held_name(table, t->arena, k);
        part.whole = whole.name;
        if (!part.name) {
            continue;
        }
        const ig_weight *weight = ig_module_weight(t->module, part.name);
        if (!weight) {
            return ig_error(
                &t->module->context->diag, IG_UNSUPPORTED, NULL,
                "a weight of the model has the name '%s', which is that of a "
                "part of '%s'",
                part.name, whole.name);
        }
        part.type = weight->type;
        IG_PUSH(t->arena, &t->trained, part);
    }
    return IG_OK;
}

ig_status ig_train_divide(ig_training *t) {
    ig_opened_plan plan = { .name = t->options.plan_name,
                            .text = t->options.plan,
                            .rank = t->options.rank };
    IG_TRY(ig_opened_divide(t->module, &plan, t->arena, &t->held));
    for (size_t i = 0; i < t->held.count; i++) {
        IG_TRY(divide_table(t, &t->held.tables[i]));
    }
    return IG_OK;
}

/* ---- sums over all ranks ---- */

typedef struct sums {
    IG_VEC(ig_value *) values;
    IG_VEC(ig_value **) targets; /* where each goes, added up */
    IG_VEC(bool) divides;
} sums;

static void add_term(ig_training *t, sums *s, ig_value **position, bool divides) {
    IG_PUSH(t->arena, &s->values, *position);
    IG_PUSH(t->arena, &s->targets, position);
    IG_PUSH(t->arena, &s->divides, divides);
}

static void list_terms(ig_training *t, sums *s) {
    bool is_left = is_mean(t) && ig_train_share(t) == 1; /* to be divided */
    add_term(t, s, &t->total, is_mean(t));
    for (size_t i = 0; t->part == IG_TRAIN_STEP && i < t->trained.count; i++) {
        ig_train_weight *w = &t->trained.items[i];
        if (!w->whole && w->gradient) {
            add_term(t, s, &w->gradient, is_left);
        }
    }
    const ig_op *ret = t->graph->body.last;
    t->carried_next = IG_NEW_ARRAY(t->arena, ig_value *, t->carried_count);
    for (size_t i = 0; t->part == IG_TRAIN_STEP && i < t->carried_count; i++) {
        t->carried_next[i] = ret->operands[t->carried[i].result].value;
        if (ig_type_has_floats(t->carried_next[i]->type)) {
            add_term(t, s, &t->carried_next[i], true);
        }
    }
}

void ig_train_reduce(ig_training *t) {
    int64_t world = ig_train_world(t);
    sums s = { { 0 }, { 0 }, { 0 } };
    if (world == 1) {
        return;
    }
    list_terms(t, &s);
    uint32_t count = (uint32_t)s.values.count;
    ig_op_spec spec = { .operands = s.values.items,
                        .operand_count = count,
                        .result_count = count };
    ig_all_reduce_attrs attrs = { .world = world };
    ig_op *all = ig_build_all_reduce_op(&t->e, &spec, attrs);
    for (uint32_t i = 0; all && i < count; i++) {
        ig_value *sum = ig_op_result(all, i);
        *s.targets.items[i] = s.divides.items[i] ? ig_expr_with(&t->e, IG_OP_mul, sum,
                                                                1 / (double)world)
                                                 : sum;
    }
}
