/* bufferise: the op after which a symbol has a value, and extents that must be equal.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The symbols of the inputs have their values before anything runs, others from the op
 * on whose results are the first to mention them.  Values computed earlier cannot be
 * written into a buffer of such an extent.
 */
#include "passes/place/bufferise.h"

typedef struct since_walk {
    ig_buffers *s;
    uintptr_t order; /* of the current op: ops count from 1, after their bodies */
} since_walk;

static void note_since(void *user, uint32_t symbol) {
    since_walk *w = user;
    if (!ig_map_get_id(&w->s->since, symbol)) {
        ig_map_set_id(&w->s->since, symbol, (void *)w->order);
    }
}

static void note_types(since_walk *w, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        for (uint32_t d = 0; d < type->rank; d++) {
            ig_dim_visit_symbols(w->s->module, type->dims[d], note_since, w);
        }
    }
}

/* In order of execution: the first op with a symbol in its results gives it a value. */
static void note_order(since_walk *w, const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            note_order(w, op->bodies[i]);
        }
        w->order++;
        ig_map_set_id(&w->s->orders, IG_MAP_PTR(op), (void *)w->order);
        note_types(w, op);
    }
}

typedef struct known_walk {
    ig_buffers *s;
    uintptr_t before;
    bool is_known;
} known_walk;

static void check_known(void *user, uint32_t symbol) {
    known_walk *w = user;
    uintptr_t since = (uintptr_t)ig_map_get_id(&w->s->since, symbol);
    bool is_bound = ig_map_get_id(&w->s->bound, symbol) != NULL;
    w->is_known &= is_bound || (since > 0 && since < w->before);
}

void ig_buffers_note_order(ig_buffers *s) {
    ig_map_init(&s->since, s->arena);
    ig_map_init(&s->orders, s->arena);
    since_walk walk = { .s = s };
    note_order(&walk, &s->graph->body);
}

bool ig_buffers_is_known_at(ig_buffers *s, const ig_op *op, const ig_place *place) {
    uintptr_t index = (uintptr_t)ig_map_get_id(&s->orders, IG_MAP_PTR(op));
    known_walk w = { s, index, true };
    const ig_type *type = place->root->type;
    for (uint32_t d = 0; d < type->rank; d++) {
        ig_dim_visit_symbols(s->module, type->dims[d], check_known, &w);
    }
    ig_dim_visit_symbols(s->module, place->offset, check_known, &w);
    return w.is_known;
}

bool ig_buffers_is_bound(ig_buffers *s, ig_dim dim) {
    known_walk w = { .s = s, .is_known = true }; /* known before op 0 */
    ig_dim_visit_symbols(s->module, dim, check_known, &w);
    return w.is_known;
}

bool ig_buffers_must_agree(ig_buffers *s, const ig_block *block, ig_dim a, ig_dim b) {
    if (ig_dim_equal(s->module, a, b) == IG_YES) {
        return true;
    }
    known_walk w = { .s = s, .is_known = block == &s->graph->body };
    ig_dim_visit_symbols(s->module, a, check_known, &w); /* known before op 0 */
    ig_dim_visit_symbols(s->module, b, check_known, &w);
    return w.is_known;
}

static bool is_view(const ig_op *op) {
    return (ig_ops[op->code].traits & IG_VIEW) != 0;
}

/* Is the op after commit, also where the text has it before? */
static bool is_moved_after(ig_buffers *s, const ig_op *op) {
    bool is_after = ig_map_get_id(&s->after, IG_MAP_PTR(op)) != NULL;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_place *to = ig_map_get_id(&s->wanted, IG_MAP_PTR(&op->results[i]));
        is_after = is_after || (to && !to->root->def); /* an argument is written */
    }
    return is_after;
}

/* Do all reads of the value, `allowed` ones by `last` among them, come before number
 * `number`?  Views are followed to who reads them; recursion is as deep as views of
 * views are. */
static bool reads_end(ig_buffers *s, const ig_value *value, uintptr_t index,
                      const ig_op *last, uint32_t allowed) {
    uint32_t reads = 0;
    for (const ig_use *use = value->uses; use; use = use->next) {
        const ig_op *user = use->user;
        uintptr_t at = (uintptr_t)ig_map_get_id(&s->orders, IG_MAP_PTR(user));
        bool is_exchange = (ig_ops[user->code].traits & IG_COLLECTIVE) != 0;
        if (user == last) {
            reads++;
        } else if (at == 0 || at > index || is_exchange || /* that goes on reading */
                   is_moved_after(s, user)) {
            return false;
        } else if (is_view(user) && !reads_end(s, user->results, index, last, 0)) {
            return false;
        }
    }
    return reads <= allowed;
}

bool ig_buffers_dies_at(ig_buffers *s, const ig_value *value, const ig_op *op) {
    uintptr_t index = (uintptr_t)ig_map_get_id(&s->orders, IG_MAP_PTR(op));
    const ig_block *block = value->def ? value->def->block : value->block;
    return block == op->block && reads_end(s, value, index, op, 1);
}
