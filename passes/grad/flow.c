/* Rules of if and loop.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %y = if %c { … } else { … }         %d = if %c { … again, and gradients }
 *                                           else { the same of the other side }
 *
 *     %y = loop %n, true (%i, _, %x) {…}  %y, %before = loop …, which stacks what %x
 *                                         was before each trip
 *                                         %d = loop %n, true (%k, _, %dy, sums) {
 *                                           %i = n - 1 - k; the body again, of
 *                                           %before[i]; gradients }
 *
 * Values inside of a body are computed again where its gradients are; from trip to trip
 * a loop keeps its carried values, and no more.  A loop has a gradient where it goes
 * round as often as an extent says, and its carried values keep their shapes. */
#include "passes/grad/reverse.h"

#include "ir/ops.h"
#include "ir/semantics/constant.h"

#include <assert.h>
#include <string.h>

/* ---- values from outside ---- */

typedef struct captures {
    ig_value **items;
    uint32_t count;
} captures;

static void find_captures(const ig_grad *g, const ig_op *op, captures *out) {
    ig_reverse *r = g->walk;
    for (uint32_t i = 0; op != g->op && i < op->operand_count; i++) {
        ig_value *value = op->operands[i].value;
        bool is_known = value->id >= r->count || !r->is_active[value->id];
        for (uint32_t k = 0; k < out->count; k++) {
            is_known |= out->items[k] == value;
        }
        if (!is_known) {
            out->items[out->count++] = value;
        }
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            find_captures(g, in, out);
        }
    }
}

/* Active values of outside that the op's bodies read. */
static captures captures_of(const ig_grad *g) {
    captures found = { IG_NEW_ARRAY(g->walk->arena, ig_value *, g->walk->count), 0 };
    find_captures(g, g->op, &found);
    return found;
}

/* ---- if ---- */

/* The side again, then gradients by its captures. */
static void fill_side(ig_grad *g, const ig_block *from, ig_block *to,
                      const captures *outside) {
    ig_expr *e = g->e;
    uint32_t count = g->op->result_count;
    ig_value **ys = IG_NEW_ARRAY(g->walk->arena, ig_value *, count);
    ig_value **seeds = IG_NEW_ARRAY(g->walk->arena, ig_value *, count);
    ig_value **out = IG_NEW_ARRAY(g->walk->arena, ig_value *, outside->count);
    ig_builder after = *e->builder;
    ig_block_inline(from, to, NULL, NULL, ys);
    for (uint32_t i = 0; i < count; i++) {
        seeds[i] = ig_grad_of_result(g, i);
    }
    *e->builder = ig_builder_at_end(to);
    e->builder->loc = after.loc;
    e->builder->origins = after.origins;
    ig_reverse_call call = { .block = to,
                             .last = to->last,
                             .ys = ys,
                             .seeds = seeds,
                             .y_count = count,
                             .wanted = outside->items,
                             .wanted_count = outside->count };
    ig_status status = ig_reverse_run(e, g->walk->arena, &call, out);
    for (uint32_t i = 0; status == IG_OK && i < outside->count; i++) {
        out[i] = out[i] ? out[i] : ig_grad_zeros(e, outside->items[i]->type);
    }
    if (status == IG_OK) {
        ig_make_yield(e->builder, out, outside->count);
    }
    g->walk->status = g->walk->status == IG_OK ? status : g->walk->status;
    *e->builder = after;
}

void ig_grad_if(ig_grad *g) {
    captures outside = captures_of(g);
    const ig_type **types = IG_NEW_ARRAY(g->walk->arena, const ig_type *,
                                         outside.count);
    for (uint32_t i = 0; i < outside.count; i++) {
        types[i] = outside.items[i]->type;
    }
    ig_value *condition = ig_grad_x(g, 0);
    ig_op_spec spec = { .operands = &condition,
                        .operand_count = 1,
                        .result_types = types,
                        .result_count = outside.count,
                        .body_count = 2,
                        .loc = g->op->loc,
                        .origins = g->op->origins };
    ig_op *back = ig_expr_op(g->e, IG_OP_if, &spec);
    for (uint32_t side = 0; side < 2 && g->walk->status == IG_OK; side++) {
        fill_side(g, g->op->bodies[side], back->bodies[side], &outside);
    }
    for (uint32_t i = 0; g->walk->status == IG_OK && i < outside.count; i++) {
        ig_grad_give_value(g, outside.items[i], ig_op_result(back, i));
    }
}

/* ---- loop: which ones ---- */

typedef struct round_trip {
    ig_grad *g;
    ig_expr *e;
    ig_arena *arena;
    ig_op *loop; /* of the forward part */
    ig_block *body;
    ig_dim trips;
    uint32_t carried, scans;
    ig_value **before; /* by carried value: its old values, stacked; NULL: not read */
    captures outside;
    uint32_t *floats; /* numbers of carried values that have gradients */
    uint32_t float_count;
} round_trip;

/* Does the loop never end by its condition? */
static bool never_breaks(const ig_op *loop);

/* Known to be true, or the condition of a loop that never ends by it. */
static bool is_true(const ig_value *value) {
    ig_dims_value known;
    const ig_op *around = value->def ? NULL : value->block->parent;
    if (around && around->code == IG_OP_loop && value->index == 1) {
        return never_breaks(around);
    }
    return ig_value_dims(value, &known) && known.count == 1 &&
           ig_dim_is(known.dims[0], 1);
}

static bool never_breaks(const ig_op *loop) {
    const ig_block *body = loop->bodies[0];
    const ig_value *again = body->last->operands[0].value;
    return is_true(loop->operands[1].value) &&
           (again == body->args[1] || is_true(again));
}

/* Why the loop has no gradient; NULL: it has. */
static const char *find_fault(round_trip *t) {
    ig_dims_value trips;
    if (!never_breaks(t->loop)) {
        return "its number of trips depends on data";
    }
    if (!ig_value_dims(t->loop->operands[0].value, &trips) || trips.count != 1 ||
        ig_dim_less_equal(t->e->module, ig_dim_of(0), trips.dims[0]) != IG_YES) {
        return "its number of trips is not an extent";
    }
    t->trips = trips.dims[0];
    for (uint32_t i = 0; i < t->carried; i++) {
        const ig_type *type = t->loop->operands[2 + i].value->type;
        bool is_same = type == t->body->args[2 + i]->type &&
                       type == t->loop->results[i].type && type->kind == IG_TENSOR;
        if (!is_same) {
            return "a value that it carries changes its shape, or is not a tensor";
        }
    }
    return NULL;
}

/* ---- loop: forward again, with its carried values ---- */

/* Values yielded, then the carried values that the body reads, as they were before. */
static uint32_t yield_with_states(round_trip *t, ig_block *body, ig_value **yields) {
    uint32_t count = 1 + t->carried + t->scans;
    ig_block_inline(t->body, body, NULL, body->args, yields);
    for (uint32_t i = 0; i < t->carried; i++) {
        if (t->body->args[2 + i]->uses) {
            yields[count++] = body->args[2 + i];
        }
    }
    return count;
}

/* Puts a loop in the place of the op that stacks its states, too. */
static void keep_states(round_trip *t) {
    ig_builder builder = ig_builder_before(t->loop);
    ig_expr e = ig_expr_of(&builder);
    uint32_t own = t->carried + t->scans, count = own;
    const ig_type **types = IG_NEW_ARRAY(t->arena, const ig_type *, own + t->carried);
    ig_value **operands = IG_NEW_ARRAY(t->arena, ig_value *, 2 + t->carried);
    ig_value **yields = IG_NEW_ARRAY(t->arena, ig_value *, 1 + own + t->carried);
    for (uint32_t i = 0; i < own; i++) {
        types[i] = t->loop->results[i].type;
    }
    for (uint32_t i = 0; i < t->carried; i++) {
        const ig_type *type = types[i];
        ig_dim dims[IG_TENSOR_RANK + 1] = { t->trips };
        memcpy(dims + 1, type->dims, type->rank * sizeof *dims);
        if (t->body->args[2 + i]->uses) {
            types[count++] = ig_type_with_dims(e.module, type, type->rank + 1, dims);
        }
    }
    for (uint32_t i = 0; i < 2 + t->carried; i++) {
        operands[i] = t->loop->operands[i].value;
    }
    ig_op *fresh = ig_expr_open_loops(&e, operands, 2 + t->carried, types,
                                      count - t->carried);
    ig_make_yield(&builder, yields, yield_with_states(t, fresh->bodies[0], yields));
    for (uint32_t i = 0, at = own; i < t->carried; i++) {
        t->before[i] = t->body->args[2 + i]->uses ? ig_op_result(fresh, at++) : NULL;
    }
    for (uint32_t i = 0; i < own; i++) {
        ig_value_replace(&t->loop->results[i], ig_op_result(fresh, i));
    }
}

/* ---- loop: back ---- */

static ig_value *at_trip(ig_expr *e, ig_value *stack, ig_value *trip) {
    return stack ? ig_expr_gather(e, stack, trip, 0, IG_NEGATIVE_error) : NULL;
}

/* In the body of the loop that goes back: the body of trip `trip` again.  `ys` are the
 * values that it yields but for the condition. */
static void repeat_body(round_trip *t, ig_value *trip, ig_value **args, ig_value **ys) {
    ig_block *to = t->e->builder->block;
    ig_value **yields = IG_NEW_ARRAY(t->arena, ig_value *, 1 + t->carried + t->scans);
    args[0] = trip;
    args[1] = ig_expr_integer(t->e, IG_DT_bool, 1);
    for (uint32_t i = 0; i < t->carried; i++) { /* unread values may be anything */
        args[2 + i] = t->before[i] ? at_trip(t->e, t->before[i], trip)
                                   : t->loop->operands[2 + i].value;
    }
    ig_block_inline(t->body, to, NULL, args, yields);
    memcpy(ys, yields + 1, (t->carried + t->scans) * sizeof *ys);
}

/* Gradients of what trip `trip` yields: carried on, or of the stacked results. */
static void seed_trip(round_trip *t, ig_value *trip, ig_value *const *dys,
                      ig_value **seeds) {
    const ig_block *to = t->e->builder->block;
    for (uint32_t k = 0; k < t->float_count; k++) {
        seeds[t->floats[k]] = to->args[2 + k];
    }
    for (uint32_t i = 0; i < t->scans; i++) {
        seeds[t->carried + i] = at_trip(t->e, dys[t->carried + i], trip);
    }
}

static void yield_trip(round_trip *t, ig_value *const *out) {
    ig_expr *e = t->e;
    const ig_block *to = e->builder->block;
    uint32_t count = t->float_count + t->outside.count;
    ig_value **yields = IG_NEW_ARRAY(t->arena, ig_value *, 1 + count);
    yields[0] = to->args[1];
    for (uint32_t k = 0; k < t->float_count; k++) {
        const ig_type *type = to->args[2 + k]->type;
        yields[1 + k] = out[k] ? out[k] : ig_grad_zeros(e, type);
    }
    for (uint32_t k = 0; k < t->outside.count; k++) {
        ig_value *sum = to->args[2 + t->float_count + k], *d = out[t->float_count + k];
        yields[1 + t->float_count + k] = d ? ig_build_add(e, sum, d) : sum;
    }
    ig_make_yield(e->builder, yields, 1 + count);
}

static void fill_trip(round_trip *t, ig_value *const *dys) {
    ig_expr *e = t->e;
    uint32_t ys = t->carried + t->scans, wanted = t->float_count + t->outside.count;
    ig_value **args = IG_NEW_ARRAY(t->arena, ig_value *, 2 + t->carried);
    ig_value **values = IG_NEW_ARRAY(t->arena, ig_value *, 2 * ys + 2 * wanted);
    ig_value **seeds = values + ys, **by = seeds + ys, **out = by + wanted;
    ig_block *to = e->builder->block;
    ig_dim last = ig_dim_sub(e->module, t->trips, ig_dim_of(1));
    ig_value *end = ig_expr_dim(e, last, IG_DT_i64);
    ig_value *trip = ig_build_sub(e, end, to->args[0]);
    seed_trip(t, trip, dys, seeds);
    repeat_body(t, trip, args, values);
    for (uint32_t k = 0; k < wanted; k++) {
        by[k] = k < t->float_count ? args[2 + t->floats[k]]
                                   : t->outside.items[k - t->float_count];
    }
    ig_reverse_call call = { .block = to,
                             .last = to->last,
                             .ys = values,
                             .seeds = seeds,
                             .y_count = ys,
                             .wanted = by,
                             .wanted_count = wanted };
    ig_status status = ig_reverse_run(e, t->arena, &call, out);
    t->g->walk->status = status;
    if (status == IG_OK) {
        yield_trip(t, out);
    }
}

/* The loop that goes back: its results are gradients of the other's start values, then
 * of its captures. */
static ig_op *go_back(round_trip *t, ig_value *const *dys) {
    ig_expr *e = t->e;
    uint32_t count = t->float_count + t->outside.count;
    ig_value **operands = IG_NEW_ARRAY(t->arena, ig_value *, 2 + count);
    const ig_type **types = IG_NEW_ARRAY(t->arena, const ig_type *, count);
    operands[0] = t->loop->operands[0].value;
    operands[1] = t->loop->operands[1].value;
    for (uint32_t k = 0; k < count; k++) {
        bool is_sum = k >= t->float_count;
        uint32_t index = is_sum ? 0 : t->floats[k];
        types[k] = is_sum ? t->outside.items[k - t->float_count]->type
                          : t->loop->operands[2 + index].value->type;
        operands[2 + k] = is_sum || !dys[index] ? ig_grad_zeros(e, types[k])
                                                : dys[index];
    }
    ig_builder after = *e->builder;
    ig_op *back = ig_expr_open_loops(e, operands, 2 + count, types, 0);
    fill_trip(t, dys);
    *e->builder = after;
    return back;
}

void ig_grad_loop(ig_grad *g) {
    round_trip t = { .g = g, .e = g->e, .arena = g->walk->arena, .loop = g->op };
    t.body = g->op->bodies[0];
    t.carried = g->op->operand_count - 2u;
    t.scans = g->op->result_count - t.carried;
    const char *fault = find_fault(&t);
    if (fault) {
        ig_grad_refuse(g, fault);
        return;
    }
    t.before = IG_NEW_ARRAY(t.arena, ig_value *, t.carried);
    t.floats = IG_NEW_ARRAY(t.arena, uint32_t, t.carried);
    ig_value **dys = IG_NEW_ARRAY(t.arena, ig_value *, t.carried + t.scans);
    for (uint32_t i = 0; i < t.carried + t.scans; i++) {
        dys[i] = ig_grad_of_result(g, i);
        if (i < t.carried && ig_expr_is_float(ig_grad_x(g, 2 + i))) {
            t.floats[t.float_count++] = i;
        }
    }
    t.outside = captures_of(g);
    keep_states(&t);
    ig_op *back = go_back(&t, dys);
    for (uint32_t k = 0; g->walk->status == IG_OK && k < t.float_count; k++) {
        ig_grad_give(g, 2 + t.floats[k], ig_op_result(back, k));
    }
    for (uint32_t k = 0; g->walk->status == IG_OK && k < t.outside.count; k++) {
        ig_grad_give_value(g, t.outside.items[k],
                           ig_op_result(back, t.float_count + k));
    }
}
