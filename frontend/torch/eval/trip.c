/* The values that a trip of a loop changes, which the loop carries.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slot that trips bind to other lists of as many items has a list of the loop's own
 * at the start of each trip, whose items are carried.  Whoever holds the list that was
 * bound before may not look at it again: it may be the same list, or another.  A slot
 * bound to anything else that cannot be carried is unknown at the start of a trip, and
 * after the loop, which is well as long as nobody looks at it there.
 */
#include "frontend/torch/eval/trip.h"
#include "frontend/torch/eval/choice.h"
#include "frontend/torch/eval/stacked.h"

#include <assert.h>
#include <string.h>

enum { CARRIED_MAX = 4096 };

/* ---- slots ---- */

void ig_ts_trip_put(ig_ts_eval *eval, const ig_ts_trip_slot *slot, ig_ts_value value,
                    ig_value *content) {
    ig_ts_content now = ig_ts_content_of(slot->kind, slot->holder);
    if (slot->kind == IG_TS_HOLD_STORAGE) {
        now.value = content;
        now.version = ++eval->clock;
        now.is_written = true;
        ig_ts_set_content(eval, slot->kind, slot->holder, &now);
        return;
    }
    ig_ts_value *values = IG_NEW_ARRAY(eval->arena, ig_ts_value, now.count + 1);
    memcpy(values, now.values, now.count * sizeof(*values));
    values[slot->index] = value;
    now.values = values;
    ig_ts_set_content(eval, slot->kind, slot->holder, &now);
}

static ig_ts_trip_slot *find_slot(ig_ts_trial *b, const void *holder, size_t index) {
    for (size_t i = 0; i < b->slots.count; i++) {
        if (b->slots.items[i].holder == holder && b->slots.items[i].index == index) {
            return &b->slots.items[i];
        }
    }
    return NULL;
}

/* Why the slot cannot be carried, after "uses a value that": a trip leaves `after`. */
static const char *change_words(ig_ts_trial *b, const ig_ts_trip_slot *slot,
                                const ig_ts_value *after) {
    ig_ts_content now = ig_ts_content_of(slot->kind, slot->holder);
    const char *before = ig_ts_kind_name(&slot->start);
    const char *name = now.names ? ig_arena_printf(b->eval->arena, "as '%s' ",
                                                   now.names[slot->index])
                                 : "";
    if (slot->start.kind == after->kind) {
        return ig_arena_printf(
            b->eval->arena,
            "%sis bound to another %s in a loop that a run-time condition ends, expected a number, a tensor that keeps its dtype and rank, or a list of as many of them",
            name, before);
    }
    return ig_arena_printf(
        b->eval->arena,
        "%schanges from %s to %s in a loop that a run-time condition ends, expected values of one kind",
        name, before, ig_ts_kind_name(after));
}

/* Before a first trip that does not look at it: zeros of what later trips hold. */
static ig_status define_start(ig_ts_trial *b, ig_ts_trip_slot *slot,
                              const ig_ts_value *after) {
    ig_ts_eval *eval = b->eval;
    if (after->kind != IG_TS_TENSOR) {
        slot->start = after->kind == IG_TS_BOOL  ? ig_ts_of_bool(false)
                      : after->kind == IG_TS_INT ? ig_ts_of_int(0)
                                                 : ig_ts_of_float(0);
        return IG_OK;
    }
    ig_value *value = ig_ts_make_zeros(&eval->builder, after->as.tensor->type,
                                       b->first_symbol);
    ig_ts_tensor *tensor = ig_ts_tensor_create(eval, value, after->as.tensor->dtype);
    tensor->quant = after->as.tensor->quant;
    slot->start = ig_ts_of_tensor(tensor);
    return IG_OK;
}

/* `value` may share memory with all that the slot may share memory with. */
static void note_memory(ig_ts_trial *b, ig_ts_trip_slot *slot,
                        const ig_ts_value *value) {
    const ig_ts_alias *known = slot->alias;
    if (slot->kind == IG_TS_HOLD_STORAGE || value->kind != IG_TS_TENSOR) {
        return;
    }
    ig_ts_alias *more = ig_ts_alias_of(
        b->eval, (const ig_ts_tensor *[]){ value->as.tensor }, 1, b->level.start);
    if (ig_ts_alias_covers(known, more)) {
        return;
    }
    ig_ts_alias **end = &slot->alias;
    while (*end) {
        end = &(*end)->outer;
    }
    *end = more;
    b->has_grown = true;
}

/* A slot that was seen to change is carried from the next try on. */
static ig_status add_slot(ig_ts_trial *b, ig_ts_trip_slot slot,
                          const ig_ts_value *after) {
    ig_ts_eval *eval = b->eval;
    bool is_storage = slot.kind == IG_TS_HOLD_STORAGE;
    if (!is_storage && slot.start.kind == IG_TS_UNDEFINED &&
        (ig_ts_is_number(after) || after->kind == IG_TS_TENSOR)) {
        IG_TRY(define_start(b, &slot, after));
    }
    assert((is_storage || slot.start.kind == after->kind) && "a slot keeps its kind");
    if (b->slots.count >= CARRIED_MAX) {
        return ig_ts_error(eval, IG_LIMIT, "a loop carries more than %d values",
                           CARRIED_MAX);
    }
    if (is_storage) {
        slot.initial = slot.start.as.value;
    } else if (slot.start.kind == IG_TS_TENSOR) {
        IG_TRY(ig_ts_tensor_read(eval, slot.start.as.tensor, &slot.initial));
    } else {
        IG_TRY(ig_ts_number_read(eval, &slot.start, &slot.initial));
    }
    slot.type = slot.initial->type;
    note_memory(b, &slot, &slot.start);
    IG_PUSH(eval->arena, &b->slots, slot);
    b->has_grown = true;
    return IG_OK;
}

static bool is_unknown(const ig_ts_trial *b, const void *holder, size_t index) {
    for (size_t i = 0; i < b->poisoned.count; i++) {
        const ig_ts_trip_slot *slot = &b->poisoned.items[i];
        if (slot->holder == holder && slot->index == index) {
            return true;
        }
    }
    return false;
}

static void add_poison(ig_ts_trial *b, const ig_ts_change *change, size_t index) {
    if (is_unknown(b, change->holder, index)) {
        return;
    }
    ig_ts_trip_slot found = { .kind = change->kind,
                              .holder = change->holder,
                              .index = index,
                              .inside = change->after.values[index] };
    IG_PUSH(b->eval->arena, &b->poisoned, found);
    b->has_grown = true;
}

/* The slot cannot be carried: nobody may look at it before a trip has bound it. */
static void make_unknown(ig_ts_trial *b, ig_ts_trip_slot slot,
                         const ig_ts_value *after) {
    ig_ts_poison *poison = IG_NEW(b->eval->arena, ig_ts_poison);
    poison->what = change_words(b, &slot, after);
    poison->where = ig_ts_where(b->eval);
    slot.inside = (ig_ts_value){ .kind = IG_TS_POISON, .as.poison = poison };
    IG_PUSH(b->eval->arena, &b->poisoned, slot);
    b->has_grown = true;
}

static bool can_carry(const ig_ts_value *before, const ig_ts_value *after) {
    return (before->kind == after->kind || before->kind == IG_TS_UNDEFINED) &&
           (ig_ts_is_number(after) || after->kind == IG_TS_TENSOR);
}

/* ---- lists that a trip binds to a slot ---- */

static bool items_fit(const ig_ts_value *a, const ig_ts_value *b) {
    if (ig_ts_is_same(a, b)) {
        return true;
    }
    if (a->kind != IG_TS_TENSOR || b->kind != IG_TS_TENSOR) {
        return a->kind == b->kind && ig_ts_is_number(a);
    }
    const ig_type *x = a->as.tensor->type, *y = b->as.tensor->type;
    return x->rank == y->rank && x->dtype == y->dtype && !a->as.tensor->quant &&
           !b->as.tensor->quant;
}

/* May `value` be carried where `own` was: a list of as many items of its kinds? */
static bool stands_for(const ig_ts_trial *b, const ig_ts_list *own,
                       const ig_ts_value *value) {
    if (value->kind != IG_TS_LIST || value->as.list->is_set || own->is_set) {
        return false;
    }
    ig_ts_content x = ig_ts_content_of(IG_TS_HOLD_LIST, own);
    ig_ts_content y = ig_ts_side_content(&b->side, IG_TS_HOLD_LIST, value->as.list);
    bool fits = !x.poison && !y.poison && x.count == y.count;
    for (size_t i = 0; fits && i < x.count; i++) {
        fits = items_fit(&x.values[i], &y.values[i]);
    }
    return fits;
}

static ig_status look_at_items(ig_ts_trial *b, const ig_ts_list *own,
                               const ig_ts_list *after) {
    ig_ts_content before = ig_ts_content_of(IG_TS_HOLD_LIST, own);
    ig_ts_content now = ig_ts_side_content(&b->side, IG_TS_HOLD_LIST, after);
    for (size_t i = 0; i < before.count; i++) {
        ig_ts_trip_slot *item = find_slot(b, own, i);
        if (ig_ts_is_same(&now.values[i], item ? &item->inside : &before.values[i])) {
            continue;
        }
        if (item) {
            note_memory(b, item, &now.values[i]);
            continue;
        }
        ig_ts_trip_slot found = { .kind = IG_TS_HOLD_LIST,
                                  .holder = (void *)(uintptr_t)own,
                                  .index = i,
                                  .start = before.values[i] };
        IG_TRY(add_slot(b, found, &now.values[i]));
    }
    return IG_OK;
}

static ig_ts_rebound *find_rebound(ig_ts_trial *b, const void *holder, size_t index) {
    for (size_t i = 0; i < b->rebound.count; i++) {
        const ig_ts_trip_slot *slot = &b->rebound.items[i].slot;
        if (slot->holder == holder && slot->index == index) {
            return &b->rebound.items[i];
        }
    }
    return NULL;
}

/* The slot was seen to be bound to another list, `after`. */
static ig_status add_rebound(ig_ts_trial *b, ig_ts_trip_slot slot,
                             const ig_ts_value *after) {
    const ig_ts_list *start = slot.start.as.list;
    ig_ts_list *own = ig_ts_list_create(b->eval, start->count);
    own->type = start->type;
    own->is_set = start->is_set;
    own->poison = start->poison;
    for (size_t i = 0; i < start->count; i++) {
        ig_ts_list_add(b->eval, own, start->items[i]);
    }
    if (!stands_for(b, own, after)) {
        make_unknown(b, slot, after);
        return IG_OK;
    }
    slot.inside = slot.start;
    slot.inside.as.list = own;
    ig_ts_rebound found = { .slot = slot, .own = own };
    IG_PUSH(b->eval->arena, &b->rebound, found);
    b->has_grown = true;
    return look_at_items(b, own, after->as.list);
}

static ig_status look_at_rebound(ig_ts_trial *b, ig_ts_rebound *r,
                                 const ig_ts_value *after) {
    if (!stands_for(b, r->own, after)) {
        make_unknown(b, r->slot, after);
        return IG_OK;
    }
    return look_at_items(b, r->own, after->as.list);
}

/* The loop's own list, and nobody may look at the one that was bound before. */
void ig_ts_trial_bind(ig_ts_eval *eval, const ig_ts_rebound *r) {
    static const ig_ts_poison hidden = {
        .what = "was bound to a name that a loop of the run binds to other lists"
    };
    ig_ts_content content = ig_ts_content_of(IG_TS_HOLD_LIST, r->slot.start.as.list);
    content.poison = &hidden;
    ig_ts_set_content(eval, IG_TS_HOLD_LIST, r->slot.start.as.list, &content);
    ig_ts_trip_put(eval, &r->slot, r->slot.inside, NULL);
}

/* A change of a list that a slot is, or was, bound to.  *out_is: it is one. */
static ig_status look_at_bound(ig_ts_trial *b, const ig_ts_change *change,
                               bool *out_is) {
    *out_is = false;
    for (size_t i = 0; i < b->rebound.count; i++) {
        const ig_ts_rebound *r = &b->rebound.items[i];
        *out_is = *out_is || change->holder == r->own ||
                  change->holder == r->slot.start.as.list;
        bool is_own = change->holder == r->own;
        bool is_kept = change->before.count == change->after.count;
        for (size_t k = 0; is_own && is_kept && k < change->after.count; k++) {
            const ig_ts_trip_slot *item = find_slot(b, r->own, k);
            is_kept = ig_ts_is_same(&change->after.values[k],
                                    item ? &item->inside : &change->before.values[k]);
        }
        if (is_own && !is_kept) {
            return ig_ts_error(
                b->eval, IG_UNSUPPORTED,
                "changes a list in place, and binds a name to other lists, in a loop that a run-time condition ends, expected one of the two");
        }
    }
    return IG_OK;
}

/* The holder of the slot at the body's end: of a loop's own list, the list that a
 * trip has bound in its place. */
ig_ts_content ig_ts_trial_content(const ig_ts_trial *b, const ig_ts_trip_slot *slot) {
    for (size_t i = 0; i < b->rebound.count; i++) {
        const ig_ts_rebound *r = &b->rebound.items[i];
        ig_ts_content names = ig_ts_side_content(&b->side, r->slot.kind,
                                                 r->slot.holder);
        const ig_ts_value *bound = &names.values[r->slot.index];
        if (slot->holder == r->own && stands_for(b, r->own, bound)) {
            return ig_ts_side_content(&b->side, IG_TS_HOLD_LIST, bound->as.list);
        }
    }
    return ig_ts_side_content(&b->side, slot->kind, slot->holder);
}

/* ---- values ---- */

static ig_status look_at_value(ig_ts_trial *b, const ig_ts_change *change,
                               size_t index) {
    const ig_ts_value *after = &change->after.values[index];
    const ig_ts_value *before = index < change->before.count
                                    ? &change->before.values[index]
                                    : NULL;
    ig_ts_trip_slot *slot = find_slot(b, change->holder, index);
    bool is_own = !before || before->kind == IG_TS_UNSET ||
                  after->kind == IG_TS_UNSET ||
                  (before->kind == IG_TS_POISON && after->kind != IG_TS_POISON &&
                   change->kind == IG_TS_HOLD_FRAME);
    if (is_own) {
        return IG_OK; /* a name of the body's own: nobody can look at it before */
    }
    if (after->kind == IG_TS_UNDEFINED) {
        return IG_OK; /* nobody reads its content before it is set again */
    }
    if (after->kind == IG_TS_POISON) {
        add_poison(b, change, index);
        return IG_OK;
    }
    if (is_unknown(b, change->holder, index)) {
        return IG_OK;
    }
    ig_ts_rebound *known = find_rebound(b, change->holder, index);
    if (known) {
        return look_at_rebound(b, known, after);
    }
    if (ig_ts_is_same(after, slot ? &slot->inside : before)) {
        return IG_OK;
    }
    bool is_target = change->kind == IG_TS_HOLD_FRAME && b->loop->target &&
                     strcmp(change->after.names[index], b->loop->target->as.name) == 0;
    if (is_target) {
        return IG_OK;
    }
    ig_ts_trip_slot found = {
        .kind = change->kind, .holder = change->holder, .index = index, .start = *before
    };
    if (slot && after->kind == slot->start.kind) {
        note_memory(b, slot, after);
    } else if (!slot && before->kind == IG_TS_LIST && after->kind == IG_TS_LIST) {
        return add_rebound(b, found, after);
    } else if (!slot && can_carry(before, after)) {
        return add_slot(b, found, after);
    } else {
        make_unknown(b, found, after);
    }
    return IG_OK;
}

static ig_status look_at_storage(ig_ts_trial *b, const ig_ts_change *change) {
    bool is_same = change->after.value == change->before.value &&
                   change->after.unknown == change->before.unknown;
    if (is_same || find_slot(b, change->holder, 0)) {
        return IG_OK;
    }
    if (change->after.unknown) {
        return ig_ts_error(b->eval, IG_UNSUPPORTED, "a loop changes a tensor that %s",
                           change->after.unknown);
    }
    ig_ts_trip_slot found = { .kind = IG_TS_HOLD_STORAGE,
                              .holder = change->holder,
                              .start.as.value = change->before.value };
    return add_slot(b, found, NULL);
}

bool ig_ts_trip_extent(ig_value *trips, ig_dim *out_dim) {
    ig_dims_value value;
    bool is_dim = ig_value_dims(trips, &value) && value.count == 1;
    *out_dim = is_dim ? value.dims[0] : ig_dim_of(0);
    return is_dim;
}

bool ig_ts_is_trip(const ig_value *value, ig_dim *out_trips) {
    const ig_op *loop = value->def ? NULL : value->block->parent;
    return loop && loop->code == IG_OP_loop && value->index == 0 &&
           ig_ts_trip_extent(loop->operands[0].value, out_trips);
}

static ig_status refuse_growth(const ig_ts_trial *b) {
    ig_dim trips;
    if (!b->loop->trips || !ig_ts_trip_extent(b->loop->trips, &trips)) {
        return ig_ts_error(
            b->eval, IG_UNSUPPORTED,
            "a container changes its length in a loop that a run-time condition ends");
    }
    return ig_ts_error(
        b->eval, IG_UNSUPPORTED,
        "a container changes its length in a loop of as many trips as an extent says, %s",
        ig_ts_open_dim(b->eval->module, b->eval->arena, trips));
}

static ig_ts_grown *find_grown(ig_ts_trial *b, const void *list) {
    for (size_t i = 0; i < b->grown.count; i++) {
        if (b->grown.items[i].list == list) {
            return &b->grown.items[i];
        }
    }
    return NULL;
}

/* A list that changes its length grows from the next try on, or is refused. */
static ig_status add_grown(ig_ts_trial *b, const ig_ts_change *change) {
    bool is_list = change->kind == IG_TS_HOLD_LIST;
    if (!is_list || change->before.count || change->before.poison ||
        change->after.poison || change->after.values[0].kind != IG_TS_TENSOR) {
        return refuse_growth(b);
    }
    ig_ts_grown found = { .list = change->holder };
    IG_PUSH(b->eval->arena, &b->grown, found);
    b->has_grown = true;
    return IG_OK;
}

static ig_status look_at_grown(ig_ts_trial *b, const ig_ts_change *change) {
    const ig_ts_content *after = &change->after;
    bool is_one = after->poison == &ig_ts_grows && after->count == 1 &&
                  after->values[0].kind == IG_TS_TENSOR &&
                  !after->values[0].as.tensor->quant;
    return is_one ? IG_OK : refuse_growth(b);
}

ig_status ig_ts_trial_look(ig_ts_trial *b) {
    for (size_t i = 0; i < b->level.changes.count; i++) {
        const ig_ts_change *change = &b->level.changes.items[i];
        bool is_bound;
        IG_TRY(look_at_bound(b, change, &is_bound));
        if (is_bound) {
            continue;
        }
        if (find_grown(b, change->holder)) {
            IG_TRY(look_at_grown(b, change));
            continue;
        }
        if (change->kind == IG_TS_HOLD_STORAGE) {
            IG_TRY(look_at_storage(b, change));
            continue;
        }
        bool is_fixed = change->kind == IG_TS_HOLD_FRAME ||
                        change->before.count == change->after.count;
        if (!is_fixed) {
            IG_TRY(add_grown(b, change));
            continue;
        }
        for (size_t k = 0; k < change->after.count; k++) {
            IG_TRY(look_at_value(b, change, k));
        }
    }
    return IG_OK;
}
