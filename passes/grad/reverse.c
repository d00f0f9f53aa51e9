/* The walk of reverse mode: which values take part, and their gradients.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     forward    marks values that depend on wanted ones: active values
 *     backward   from the last op up: an op with a gradient of a result, and active
 *                operands, is handed to its rule; others are passed by
 *
 * Side tables are by value id.  Values that the rules make have higher ids: they are
 * nobody's operand in the forward part.
 */
#include "passes/grad/reverse.h"

#include "compose/decompose.h"
#include "ir/shard.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- values that take part ---- */

static bool is_float_tensor(const ig_value *value) {
    return value->type->kind == IG_TENSOR && ig_expr_is_float(value);
}

static bool is_marked(const ig_reverse *r, const bool *marks, const ig_value *value) {
    return value->id < r->count && marks[value->id];
}

static bool reads_active(const ig_reverse *r, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (is_marked(r, r->is_active, op->operands[i].value)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            if (reads_active(r, in)) {
                return true;
            }
        }
    }
    return false;
}

/* Rows that come from other ranks may depend on values wanted there; then those ranks
 * wait for their gradients, whatever this one wants. */
static bool is_of_others(const ig_op *op) {
    return op->code == IG_OP_reduce_scatter ||
           (op->code == IG_OP_all_to_all && ig_list_stride(op) == 3);
}

/* Lists that go there, of which some are active: on a rank that does not read what
 * came, others wait for gradients all the same. */
static bool is_for_others(const ig_reverse *r, const ig_op *op) {
    return op->code == IG_OP_all_to_all && reads_active(r, op);
}

static bool takes_part(const ig_reverse *r, const ig_op *op) {
    return is_of_others(op) || reads_active(r, op);
}

static void mark_active(ig_reverse *r) {
    const ig_op *end = r->last ? r->last->next : r->block->first;
    for (const ig_op *op = r->block->first; op != end; op = op->next) {
        bool is_active = takes_part(r, op);
        for (uint32_t i = 0; is_active && i < op->result_count; i++) {
            r->is_active[op->results[i].id] |= is_float_tensor(&op->results[i]);
        }
    }
}

static bool is_needed(const ig_reverse *r, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (is_marked(r, r->is_needed, &op->results[i])) {
            return true;
        }
    }
    return false;
}

static void need_operands(ig_reverse *r, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        r->is_needed[op->operands[i].value->id] = true;
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            need_operands(r, in);
        }
    }
}

static void mark_all(ig_reverse *r, const ig_reverse_call *call) {
    r->count = r->block->graph->value_count;
    r->last = call->last;
    r->is_active = IG_NEW_ARRAY(r->arena, bool, r->count);
    r->is_needed = IG_NEW_ARRAY(r->arena, bool, r->count);
    for (uint32_t i = 0; i < call->wanted_count; i++) {
        r->is_active[call->wanted[i]->id] = true;
    }
    for (uint32_t i = 0; i < call->y_count; i++) {
        r->is_needed[call->ys[i]->id] = true;
    }
    mark_active(r);
    for (const ig_op *op = r->last; op; op = op->prev) {
        if (is_needed(r, op)) {
            need_operands(r, op);
        }
    }
}

/* ---- composites ---- */

static ig_decompose_fn decomposition_of(const ig_op *op) {
    return ig_grad_rule_of(op->code) ? NULL : ig_decomposition_of((ig_opcode)op->code);
}

/* Replaces the op by its decomposition; false: this form cannot be taken apart. */
static bool take_apart(ig_reverse_call *call, ig_op *op) {
    ig_builder builder = ig_builder_before(op);
    ig_expr e = ig_expr_of(&builder);
    ig_value *results[IG_DECOMPOSE_RESULTS];
    if (!decomposition_of(op)(&e, op, results)) {
        return false;
    }
    for (uint32_t i = 0; i < call->y_count; i++) {
        bool is_y = call->ys[i]->def == op;
        call->ys[i] = is_y ? results[call->ys[i]->index] : call->ys[i];
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value_retype(&op->results[i], results[i]->type);
        ig_value_replace(&op->results[i], results[i]);
    }
    call->last = call->last == op ? op->prev : call->last;
    ig_op_erase(op);
    return true;
}

/* Those that take part; true when there were any: its parts may be composite too. */
static bool take_all_apart(ig_reverse *r, ig_reverse_call *call) {
    bool has_any = false;
    for (ig_op *op = call->last, *previous; op; op = previous) {
        previous = op->prev;
        if (decomposition_of(op) && is_needed(r, op) && reads_active(r, op)) {
            has_any |= take_apart(call, op);
        }
    }
    return has_any;
}

/* ---- gradients ---- */

static void add_gradient(ig_expr *e, ig_reverse *r, const ig_value *value,
                         ig_value *d) {
    ig_value **sum = &r->gradients[value->id];
    assert(value->id < r->count && "a value of the forward part");
    if (d) {
        assert(d->type->dtype == value->type->dtype && "a gradient is like its value");
        *sum = *sum ? ig_build_add(e, *sum, d) : d;
    }
}

ig_value *ig_grad_of_result(const ig_grad *g, uint32_t index) {
    return g->walk->gradients[ig_op_result(g->op, index)->id];
}

bool ig_grad_wants(const ig_grad *g, uint32_t index) {
    return index < g->op->operand_count &&
           is_marked(g->walk, g->walk->is_active, g->op->operands[index].value);
}

void ig_grad_refuse(ig_grad *g, const char *why) {
    if (g->walk->status == IG_OK) {
        g->walk->status = ig_error(&g->e->module->context->diag, IG_UNSUPPORTED,
                                   ig_op_location(g->op), "no gradient of '%s': %s",
                                   ig_ops[g->op->code].name, why);
    }
}

static const char *name_of(const ig_value *value, char room[16]) {
    snprintf(room, 16, "%%%u", value->id);
    return value->name ? value->name : room;
}

/* Is the extent one of those that inputs have, and not learnt by the run? */
static bool is_given(const ig_reverse *r, ig_dim extent) {
    const ig_graph *graph = r->block->graph;
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        const ig_type *type = graph->body.args[i]->type;
        for (uint32_t d = 0; d < type->rank; d++) {
            if (ig_dim_same(type->dims[d], extent)) {
                return true;
            }
        }
    }
    return ig_dim_is_static(extent);
}

/* The operand that x is joined with along an axis, counted from the end, where that
 * makes its extent unsure; NULL: none. */
static const ig_value *find_partner(const ig_grad *g, const ig_value *x,
                                    uint32_t from_end) {
    ig_dim own = x->type->dims[x->type->rank - from_end];
    for (uint32_t i = 0; i < g->op->operand_count; i++) {
        const ig_value *other = g->op->operands[i].value;
        if (other == x || other->type->rank < from_end) {
            continue;
        }
        ig_dim extent = other->type->dims[other->type->rank - from_end];
        if (!ig_dim_is(extent, 1) &&
            ig_dim_equal(g->e->module, own, extent) != IG_YES) {
            return other;
        }
    }
    return NULL;
}

/* Extents of inputs that were broadcast are to be equal, which a guard in front of the
 * op sees to: a sum along an extent that may be 1 would cost all others their speed. */
static void guard_extent(ig_grad *g, const ig_value *x, const ig_value *other,
                         uint32_t from_end) {
    ig_module *module = g->e->module;
    ig_builder forward = ig_builder_before(g->op);
    char rooms[2][16];
    const char *own = name_of(x, rooms[0]);
    const char *text = ig_arena_printf(
        &module->arena,
        "for gradients '%s' and '%s' must have equal extents along axis %u of '%s', "
        "and not be broadcast",
        own, name_of(other, rooms[1]), x->type->rank - from_end, own);
    ig_make_guard_equal(&forward, x->type->dims[x->type->rank - from_end],
                        other->type->dims[other->type->rank - from_end], text);
}

/* Along an axis whose extent is known at run time only, 1 or d's: all places after the
 * last go to that. */
static ig_value *sum_learnt(ig_expr *e, ig_value *d, uint32_t axis, ig_dim extent) {
    ig_value *moved = ig_expr_move_axis(e, d, axis, 0);
    ig_dim dims[IG_TENSOR_RANK], all = moved->type->dims[0];
    memcpy(dims, moved->type->dims, moved->type->rank * sizeof *dims);
    dims[0] = extent;
    const ig_type *type = ig_type_with_dims(e->module, d->type, d->type->rank, dims);
    ig_dim last = ig_dim_sub(e->module, extent, ig_dim_of(1));
    ig_value *index = ig_expr_iota(e, IG_DT_i64, all);
    index = ig_build_min(e, index, ig_expr_dim(e, last, IG_DT_i64));
    moved = ig_grad_add_rows(e, type, index, NULL, moved);
    return ig_expr_move_axis(e, moved, 0, axis);
}

/* An extent of x that may be 1 where d's is not. */
static ig_value *sum_unsure(ig_grad *g, const ig_value *x, uint32_t from_end,
                            ig_value *d) {
    const ig_value *other = find_partner(g, x, from_end);
    ig_dim own = x->type->dims[x->type->rank - from_end];
    bool is_of_inputs = other && is_given(g->walk, own) &&
                        is_given(g->walk,
                                 other->type->dims[other->type->rank - from_end]);
    if (!is_of_inputs) {
        return sum_learnt(g->e, d, d->type->rank - from_end, own);
    }
    guard_extent(g, x, other, from_end);
    return d;
}

/* The sum of d over the axes that x was broadcast along. */
static ig_value *sum_to(ig_grad *g, const ig_value *x, ig_value *d) {
    const ig_type *to = x->type;
    int64_t axes[IG_TENSOR_RANK];
    uint32_t count = 0, lead = d->type->rank - to->rank;
    assert(d->type->rank >= to->rank && "a gradient has at least its value's axes");
    for (uint32_t i = 0; i < d->type->rank; i++) {
        ig_dim extent = d->type->dims[i];
        if (i < lead || (ig_dim_is(to->dims[i - lead], 1) && !ig_dim_is(extent, 1))) {
            axes[count++] = i;
        } else if (ig_dim_equal(g->e->module, to->dims[i - lead], extent) != IG_YES) {
            d = sum_unsure(g, x, d->type->rank - i, d);
        }
    }
    bool keeps = count > lead; /* axes of extent 1 are summed over, too */
    d = count ? ig_expr_reduce(g->e, IG_REDUCE_sum, d, axes, count, keeps) : d;
    return ig_expr_reshape(g->e, d, to->rank, to->dims);
}

void ig_grad_give(ig_grad *g, uint32_t index, ig_value *d) {
    const ig_value *x = ig_op_operand(g->op, index);
    if (d && ig_grad_wants(g, index)) {
        add_gradient(g->e, g->walk, x, sum_to(g, x, d));
    }
}

void ig_grad_give_value(ig_grad *g, const ig_value *value, ig_value *d) {
    if (is_marked(g->walk, g->walk->is_active, value)) {
        add_gradient(g->e, g->walk, value, d);
    }
}

/* ---- the walk ---- */

static bool has_gradient(const ig_reverse *r, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_value *result = &op->results[i];
        if (result->id < r->count && r->gradients[result->id]) {
            return true;
        }
    }
    return false;
}

static void apply_rule(ig_expr *e, ig_reverse *r, ig_op *op) {
    ig_grad g = { .e = e, .op = op, .walk = r };
    ig_grad_rule rule = ig_grad_rule_of(op->code);
    e->builder->loc = op->loc;
    e->builder->origins = op->origins;
    if (!rule) {
        ig_grad_refuse(&g, "this operator has none");
        return;
    }
    g.dy = ig_grad_of_result(&g, 0);
    rule(&g);
    if (e->status != IG_OK && r->status == IG_OK) {
        r->status = ig_error(&e->module->context->diag, e->status, ig_op_location(op),
                             "no gradient of '%s' can be built", ig_ops[op->code].name);
    }
}

static ig_status walk_back(ig_expr *e, ig_reverse *r) {
    for (ig_op *op = r->last, *previous; op && r->status == IG_OK; op = previous) {
        previous = op->prev; /* a rule may put an op in front of its own */
        bool is_met = has_gradient(r, op) || is_for_others(r, op);
        if (is_met && takes_part(r, op)) {
            apply_rule(e, r, op);
        }
    }
    return r->status;
}

ig_status ig_reverse_run(ig_expr *e, ig_arena *arena, ig_reverse_call *call,
                         ig_value **out) {
    ig_reverse r = { .arena = arena, .block = call->block, .status = IG_OK };
    do {
        mark_all(&r, call);
    } while (take_all_apart(&r, call));
    r.gradients = IG_NEW_ARRAY(arena, ig_value *, r.count);
    for (uint32_t i = 0; i < call->y_count; i++) {
        add_gradient(e, &r, call->ys[i], call->seeds[i]);
    }
    IG_TRY(walk_back(e, &r));
    for (uint32_t i = 0; i < call->wanted_count; i++) {
        out[i] = r.gradients[call->wanted[i]->id];
    }
    return IG_OK;
}

/* ---- from outside ---- */

ig_status ig_gradients(ig_builder *builder, const ig_gradient_of *what,
                       ig_value **out) {
    ig_expr e = ig_expr_of(builder);
    ig_arena arena;
    ig_value *y = what->y, *seed = what->seed;
    assert(is_float_tensor(y) && "floats have gradients");
    if (!seed) {
        seed = ig_expr_fill(&e, (ig_dtype)y->type->dtype, y->type->rank, y->type->dims,
                            1);
    }
    ig_reverse_call call = { .block = builder->block,
                             .last = y->def,
                             .ys = &y,
                             .seeds = &seed,
                             .y_count = 1,
                             .wanted = what->wanted,
                             .wanted_count = what->wanted_count };
    ig_arena_init(&arena, &e.module->context->budget);
    ig_status status = ig_reverse_run(&e, &arena, &call, out);
    ig_arena_fini(&arena);
    for (uint32_t i = 0; status == IG_OK && i < what->wanted_count; i++) {
        out[i] = out[i] ? out[i] : ig_grad_zeros(&e, what->wanted[i]->type);
    }
    return status;
}
