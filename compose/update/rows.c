/* Updates of the rows of a table that a batch reads: see update.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/update/update.h"

#include "compose/rows/segments.h"

#include <assert.h>

/* `values` put at the rows `ids` of `table`; equal ones where an id stands twice. */
static ig_value *put_rows(ig_expr *e, ig_value *table, ig_value *ids,
                          ig_value *values) {
    ig_scatter_nd_attrs attrs = { .reduce = IG_SCATTER_none };
    return ig_build_scatter_nd(e, table, ig_expr_unsqueeze(e, ids, 1), values, attrs);
}

/* Ids that do not count become one that does, with gradients of 0: its update is made
 * once more, and is the same.  Row 0 where none counts. */
static ig_value *settle_ids(ig_expr *e, ig_value *ids, ig_value *counts,
                            ig_value **out_has_any) {
    *out_has_any = NULL;
    if (!counts) {
        return ids;
    }
    ig_value *none = ig_expr_integer(e, IG_DT_i64, -1);
    ig_value *known = ig_build_where(e, counts, ids, none);
    ig_value *largest = ig_expr_reduce(e, IG_REDUCE_max, known, NULL, 0, false);
    *out_has_any = ig_expr_with_integer(e, IG_OP_ge, largest, 0);
    return ig_build_where(e, counts, ids,
                          ig_expr_with_integer(e, IG_OP_max, largest, 0));
}

/* The sums of gradients [n, dim] over all places with the id of each place. */
static ig_value *sum_by_id(ig_expr *e, ig_value *ids, ig_value *gradients) {
    ig_value *sorted[2]; /* ids; where each stood, equal ones in order */
    if (!ig_expr_results(ig_build_sort(e, ids, (ig_sort_attrs){ .axis = 0 }), sorted)) {
        return NULL;
    }
    ig_bucketize_attrs attrs = { .right = false };
    ig_value *first = ig_build_bucketize(e, ids, sorted[0], attrs);
    ig_value *sums = ig_compose_add_rows(e, gradients, first, ids->type->dims[0]);
    return ig_compose_take_rows(e, sums, first);
}

/* One step of the row at each place.  Places of one id give the same row. */
static void step_rows(ig_expr *e, const ig_optimizer *how, ig_value *has_any,
                      ig_update *rows) {
    ig_update before = *rows;
    ig_compose_update(e, how, rows);
    if (!has_any || e->status != IG_OK) {
        return;
    }
    rows->weight = ig_build_where(e, has_any, rows->weight, before.weight);
    for (uint32_t i = 0; i < IG_UPDATE_STATES; i++) {
        rows->states[i] = before.states[i] ? ig_build_where(e, has_any, rows->states[i],
                                                            before.states[i])
                                           : NULL;
    }
}

void ig_compose_update_rows(ig_expr *e, const ig_optimizer *how, ig_value *ids,
                            ig_value *counts, ig_update *u) {
    ig_value *has_any;
    ids = settle_ids(e, ids, counts, &has_any);
    if (!ids || !u->weight || !u->gradient) {
        return;
    }
    assert(u->weight->type->rank == 2 && u->gradient->type->rank == 2 && "rows");
    ig_update own = *u;
    own.is_table = true;
    own.gradient = sum_by_id(e, ids, u->gradient);
    own.weight = ig_compose_take_rows(e, u->weight, ids);
    for (uint32_t i = 0; i < IG_UPDATE_STATES; i++) {
        own.states[i] = u->states[i] ? ig_compose_take_rows(e, u->states[i], ids)
                                     : NULL;
    }
    step_rows(e, how, has_any, &own);
    u->weight = put_rows(e, u->weight, ids, own.weight);
    for (uint32_t i = 0; i < IG_UPDATE_STATES; i++) {
        u->states[i] = u->states[i] ? put_rows(e, u->states[i], ids, own.states[i])
                                    : NULL;
    }
}
