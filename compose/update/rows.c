/* Updates of the rows of tables that a batch reads: see update.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/update/update.h"

#include <assert.h>

typedef IG_VEC(ig_value *) value_list;

typedef struct form {
    uint32_t states;
    bool has_bags, has_factors;
} form;

static form form_of(const ig_optimizer *how, const ig_update_table *table) {
    form f = { .has_bags = table->bags != NULL, .has_factors = table->factors != NULL };
    while (f.states < IG_UPDATE_STATES &&
           ig_optimizer_state(how, f.states) != IG_STATE_none) {
        f.states++;
    }
    return f;
}

/* The rows and places of each table's ids, in turn. */
static bool group_ids(ig_expr *e, const ig_update_table *tables, uint32_t count,
                      ig_value **out) {
    ig_arena *arena = &e->module->arena;
    ig_value **ids = IG_NEW_ARRAY(arena, ig_value *, count);
    ig_dim *rows = IG_NEW_ARRAY(arena, ig_dim, count);
    const ig_type **types = IG_NEW_ARRAY(arena, const ig_type *, 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = tables[i].ids;
        rows[i] = tables[i].weight->type->dims[0];
        types[2 * (size_t)i] = types[2 * (size_t)i + 1] = ids[i]->type;
        ig_expr_guard_less_equal(e, ids[i]->type->dims[0],
                                 ig_dim_const(e->module, UINT32_MAX),
                                 "a table must have fewer than 2^32 ids");
    }
    ig_op_spec spec = { .operands = ids,
                        .operand_count = count,
                        .result_types = types,
                        .result_count = 2 * count };
    ig_bag_group_attrs attrs = { .rows = { rows, count } };
    ig_op *op = ig_build_bag_group_op(e, &spec, attrs);
    for (uint32_t i = 0; op && i < 2 * count; i++) {
        out[i] = &op->results[i];
    }
    return op != NULL;
}

/* `rows`: of its ids, and their places. */
static void list_table(ig_arena *arena, const form *f, const ig_update_table *t,
                       ig_value *const *rows, value_list *list) {
    IG_PUSH(arena, list, t->weight);
    for (uint32_t s = 0; s < f->states; s++) {
        IG_PUSH(arena, list, t->states[s]);
    }
    IG_PUSH(arena, list, rows[0]);
    IG_PUSH(arena, list, rows[1]);
    IG_PUSH(arena, list, t->gradients);
    if (f->has_bags) {
        IG_PUSH(arena, list, t->bags);
    }
    if (f->has_factors) {
        IG_PUSH(arena, list, t->factors);
    }
}

/* ---- the body ---- */

static ig_value *add_row(ig_block *body, const ig_value *matrix) {
    ig_dim dims[] = { ig_dim_of(1), matrix->type->dims[1] };
    const ig_type *type = ig_type_with_dims(body->graph->module, matrix->type, 2, dims);
    return ig_block_add_arg(body, type, NULL);
}

static ig_status build_body(ig_op *op, const ig_optimizer *how, const form *f,
                            const ig_update_table *t) {
    ig_block *body = op->bodies[0];
    ig_builder b = ig_builder_at_end(body);
    ig_expr e = ig_expr_of(&b);
    uint32_t scalars = op->operand_count - 3;
    ig_update u = { .is_table = true };
    u.weight = add_row(body, t->weight);
    u.gradient = add_row(body, t->weight);
    for (uint32_t s = 0; s < f->states; s++) {
        u.states[s] = add_row(body, t->states[s]);
    }
    u.rate = ig_block_add_arg(body, op->operands[scalars].value->type, NULL);
    u.step = ig_block_add_arg(body, op->operands[scalars + 1].value->type, NULL);
    u.decay = ig_block_add_arg(body, op->operands[scalars + 2].value->type, NULL);
    ig_compose_update(&e, how, &u);
    ig_value *yields[1 + IG_UPDATE_STATES] = { u.weight, u.states[0], u.states[1] };
    IG_TRY(e.status);
    ig_make_yield(&b, yields, 1 + f->states);
    return IG_OK;
}

static ig_op *open_update(ig_expr *e, const form *f, const value_list *operands,
                          uint32_t count) {
    uint32_t own = 1 + f->states, results = count * own;
    uint32_t each = 4 + f->states + f->has_bags + f->has_factors;
    const ig_type **types = IG_NEW_ARRAY(&e->module->arena, const ig_type *, results);
    for (uint32_t i = 0; i < results; i++) {
        types[i] = operands->items[i / own * each + i % own]->type;
    }
    ig_op_spec spec = { .operands = operands->items,
                        .operand_count = (uint32_t)operands->count,
                        .result_types = types,
                        .result_count = results,
                        .body_count = 1 };
    ig_bag_update_attrs attrs = { .tables = count,
                                  .states = { f->states > 0, f->states },
                                  .bags = f->has_bags,
                                  .factors = f->has_factors };
    return ig_build_bag_update_op(e, &spec, attrs);
}

void ig_compose_update_tables(ig_expr *e, const ig_optimizer *how,
                              const ig_update_numbers *numbers, ig_update_table *tables,
                              uint32_t count) {
    assert(count > 0 && "there is a table");
    form f = form_of(how, tables);
    ig_arena *arena = &e->module->arena;
    ig_value **rows = IG_NEW_ARRAY(arena, ig_value *, 2 * (size_t)count);
    value_list operands = { 0 };
    if (e->status != IG_OK || !group_ids(e, tables, count, rows)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        list_table(arena, &f, &tables[i], &rows[2 * (size_t)i], &operands);
    }
    ig_value *last[] = { numbers->rate, numbers->step, numbers->decay };
    for (uint32_t i = 0; i < IG_COUNT_OF(last); i++) {
        IG_PUSH(arena, &operands, last[i]);
    }
    ig_op *op = open_update(e, &f, &operands, count);
    if (!op || !ig_expr_note(e, build_body(op, how, &f, &tables[0]))) {
        return;
    }
    const ig_value *result = op->results;
    for (uint32_t i = 0; i < count; i++) {
        tables[i].weight = (ig_value *)(uintptr_t)result++;
        for (uint32_t s = 0; s < f.states; s++) {
            tables[i].states[s] = (ig_value *)(uintptr_t)result++;
        }
    }
}
