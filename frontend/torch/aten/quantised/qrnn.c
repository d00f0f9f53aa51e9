/* Recurrent layers whose weights are quantised, step by step.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A gate's operand is quantised when it is known: the inputs of a layer all at
 * once, the state at each step.  So the steps are written out, or are a loop where the
 * run knows their number. */
#include "frontend/torch/aten/quantised/packed.h"

#include "frontend/torch/eval/eval.h"
#include "ir/build/extent.h"

enum { STEPS_MAX = 4096 };

typedef struct layers {
    bool is_lstm;
    ig_value *x;             /* [T, B, I] */
    ig_value *h, *c;         /* [layers * directions, B, H] */
    const ig_ts_list *cells; /* a CellParamsBase each layer and direction */
    uint32_t layer_count, directions;
    int64_t steps; /* 0: the run knows them */
} layers;

/* Weights of one layer and direction, as packed linear layers with bias. */
typedef struct cell {
    const ig_ts_value *input, *state;
    bool reduce_range, is_backward;
} cell;

/* (type, [tensors], [doubles], [longs], [packed]) */
static bool read_cell(ig_ts_call *call, const ig_ts_value *object, cell *out) {
    const ig_ts_list *state = NULL;
    if (object->kind == IG_TS_OBJECT) {
        state = ig_ts_items_of(ig_ts_object_get(object->as.object, "state"), 5);
    }
    const ig_ts_list *packed = state ? ig_ts_items_of(&state->items[4], 2) : NULL;
    const ig_ts_list *longs = state ? ig_ts_items_of(&state->items[3], 1) : NULL;
    if (!packed) {
        ig_expr_fail(call->e, IG_UNSUPPORTED,
                     "a recurrent cell without packed weights");
        return false;
    }
    out->input = &packed->items[0];
    out->state = &packed->items[1];
    out->reduce_range = longs && longs->items[0].kind == IG_TS_INT &&
                        longs->items[0].as.i != 0;
    return true;
}

static ig_value *slice_gate(ig_ts_call *call, ig_value *gates, uint32_t which,
                            ig_dim size) {
    ig_dim start = ig_dim_mul(call->module, size, ig_dim_of(which));
    return ig_expr_slice(call->e, gates, 1, start, size, 1);
}

static ig_value *add_gates(ig_ts_call *call, ig_value *x, ig_value *y) {
    return ig_build_add(call->e, x, y);
}

static ig_value *multiply_gates(ig_ts_call *call, ig_value *x, ig_value *y) {
    return ig_build_mul(call->e, x, y);
}

static void lstm_step(ig_ts_call *call, ig_value *x, ig_value *from_state, ig_dim size,
                      ig_value **h, ig_value **c) {
    ig_value *gates = add_gates(call, x, from_state), *parts[4];
    for (uint32_t i = 0; i < 4; i++) {
        parts[i] = ig_expr_map1(call->e, i == 2 ? IG_OP_tanh : IG_OP_sigmoid,
                                slice_gate(call, gates, i, size));
    }
    *c = add_gates(call, multiply_gates(call, parts[1], *c),
                   multiply_gates(call, parts[0], parts[2]));
    *h = multiply_gates(call, parts[3], ig_build_tanh(call->e, *c));
}

static void gru_step(ig_ts_call *call, ig_value *x, ig_value *from_state, ig_dim size,
                     ig_value **h) {
    ig_value *parts[2];
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *both = add_gates(call, slice_gate(call, x, i, size),
                                   slice_gate(call, from_state, i, size));
        parts[i] = ig_build_sigmoid(call->e, both);
    }
    ig_value *fresh = multiply_gates(call, slice_gate(call, from_state, 2, size),
                                     parts[0]);
    fresh = ig_build_tanh(call->e,
                          add_gates(call, slice_gate(call, x, 2, size), fresh));
    ig_value *gap = ig_build_sub(call->e, *h, fresh);
    *h = add_gates(call, multiply_gates(call, gap, parts[1]), fresh);
}

/* The state after a step over `x` [B, gates]. */
static void step_once(ig_ts_call *call, const layers *l, const cell *weights,
                      ig_value *x, ig_value **h, ig_value **c) {
    ig_value *state = ig_aten_packed_linear(call, *h, weights->state,
                                            weights->reduce_range);
    ig_dim size = ig_expr_extent(call->e, *h, 1);
    if (l->is_lstm) {
        lstm_step(call, x, state, size, h, c);
    } else {
        gru_step(call, x, state, size, h);
    }
}

static ig_value *write_steps(ig_ts_call *call, const layers *l, const cell *weights,
                             ig_value *x, ig_value **h, ig_value **c) {
    ig_value **rows = IG_NEW_ARRAY(call->arena, ig_value *, (size_t)l->steps + 1);
    for (int64_t i = 0; i < l->steps && call->e->status == IG_OK; i++) {
        int64_t t = weights->is_backward ? l->steps - 1 - i : i;
        step_once(call, l, weights, ig_expr_select(call->e, x, 0, ig_dim_of(t)), h, c);
        rows[t] = *h ? ig_expr_unsqueeze(call->e, *h, 0) : NULL;
    }
    return call->e->status == IG_OK
               ? ig_expr_concat(call->e, 0, rows, (uint32_t)l->steps)
               : NULL;
}

/* (trip, cond, h, c) to (cond, h, c, h): the row of this trip is read, and stacked. */
static void fill_steps(ig_ts_call *call, const layers *l, const cell *weights,
                       ig_value *x, const ig_block *body) {
    ig_value *h = body->args[2], *c = l->is_lstm ? body->args[3] : NULL;
    step_once(call, l, weights,
              ig_expr_gather(call->e, x, body->args[0], 0, IG_NEGATIVE_error), &h, &c);
    if (call->e->status == IG_OK) {
        ig_value *yields[4] = { body->args[1], h, l->is_lstm ? c : h, h };
        ig_make_yield(call->e->builder, yields, l->is_lstm ? 4 : 3);
    }
}

static ig_value *loop_steps(ig_ts_call *call, const layers *l, const cell *weights,
                            ig_value *x, ig_value **h, ig_value **c) {
    ig_expr *e = call->e;
    x = weights->is_backward ? ig_expr_flip(e, x, 0) : x;
    ig_dim steps = ig_expr_extent(e, x, 0), batch = ig_expr_extent(e, x, 1);
    ig_dim dims[] = { steps, batch, ig_expr_extent(e, *h, 1) };
    ig_value *operands[4] = { ig_expr_dim(e, steps, IG_DT_i64),
                              ig_expr_number(e, IG_DT_bool, 1),
                              ig_expr_expand(e, *h, 2, dims + 1),
                              l->is_lstm ? ig_expr_expand(e, *c, 2, dims + 1) : NULL };
    /* what the packed weights hold is loaded before the loop */
    (void)ig_aten_packed_linear(call, operands[2], weights->state,
                                weights->reduce_range);
    if (e->status != IG_OK) {
        return NULL;
    }
    uint32_t states = l->is_lstm ? 2 : 1;
    const ig_type *types[3] = { operands[2]->type, operands[2]->type };
    types[states] = ig_type_tensor(e->module, (ig_dtype)types[0]->dtype, 3, dims);
    ig_builder outer = *e->builder;
    ig_op *op = ig_expr_open_loops(e, operands, 2 + states, types, 1);
    if (op) {
        fill_steps(call, l, weights, x, op->bodies[0]);
    }
    *e->builder = outer;
    if (!op || e->status != IG_OK) {
        return NULL;
    }
    *h = ig_op_result(op, 0);
    *c = l->is_lstm ? ig_op_result(op, 1) : NULL;
    ig_value *rows = ig_op_result(op, states);
    return weights->is_backward ? ig_expr_flip(e, rows, 0) : rows;
}

/* One layer in one direction; gives [T, B, H] and leaves the last state in h, c. */
static ig_value *run_part(ig_ts_call *call, const layers *l, ig_value *x, uint32_t part,
                          ig_value **h, ig_value **c) {
    cell weights;
    if (!read_cell(call, &l->cells->items[part], &weights)) {
        return NULL;
    }
    x = ig_aten_packed_linear(call, x, weights.input, weights.reduce_range);
    *h = ig_expr_select(call->e, l->h, 0, ig_dim_of(part));
    *c = l->is_lstm ? ig_expr_select(call->e, l->c, 0, ig_dim_of(part)) : NULL;
    if (call->e->status != IG_OK) {
        return NULL;
    }
    weights.is_backward = part % l->directions != 0;
    return l->steps ? write_steps(call, l, &weights, x, h, c)
                    : loop_steps(call, l, &weights, x, h, c);
}

static ig_status run_layers(ig_ts_call *call, const layers *l, bool batch_first) {
    uint32_t parts = l->layer_count * l->directions;
    ig_value *x = l->x, *sides[2] = { NULL, NULL }, *h = NULL, *c = NULL;
    ig_value **hs = IG_NEW_ARRAY(call->arena, ig_value *, parts + 1);
    ig_value **cs = IG_NEW_ARRAY(call->arena, ig_value *, parts + 1);
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t side = part % l->directions;
        sides[side] = run_part(call, l, x, part, &h, &c);
        IG_TRY(call->e->status);
        hs[part] = ig_expr_unsqueeze(call->e, h, 0);
        cs[part] = l->is_lstm ? ig_expr_unsqueeze(call->e, c, 0) : NULL;
        if (side + 1 == l->directions) {
            x = ig_expr_concat(call->e, 2, sides, l->directions);
        }
    }
    x = x && batch_first ? ig_expr_swap(call->e, x, 0, 1) : x;
    IG_TRY(ig_aten_give2(call, x, ig_expr_concat(call->e, 0, hs, parts)));
    if (!l->is_lstm) {
        return IG_OK;
    }
    ig_value *last = ig_expr_concat(call->e, 0, cs, parts);
    return last ? ig_ts_give(call, 2, last) : call->e->status;
}

/* Has the value `rank` axes?  `what` names it when it has not. */
static bool has_rank(ig_ts_call *call, const ig_value *x, uint32_t rank,
                     const char *what) {
    if (x && x->type->rank != rank) {
        ig_expr_fail(call->e, IG_INVALID, "%s has rank %u, expected %u", what,
                     x->type->rank, rank);
        return false;
    }
    return x != NULL;
}

static bool read_state(ig_ts_call *call, layers *l) {
    uint32_t count;
    if (!l->is_lstm) {
        l->h = ig_aten_tensor(call, 1);
        return l->h != NULL;
    }
    ig_value **states = ig_aten_tensors(call, 1, &count);
    if (call->e->status == IG_OK && count != 2) {
        ig_expr_fail(call->e, IG_INVALID, "an lstm has two states, not %u", count);
    }
    l->h = call->e->status == IG_OK ? states[0] : NULL;
    l->c = call->e->status == IG_OK ? states[1] : NULL;
    return call->e->status == IG_OK;
}

/* quantized_lstm, quantized_gru(input, hx, params, has_biases, num_layers, dropout,
 * train, bidirectional, batch_first, …); variant 1: lstm */
ig_status ig_ts_op_q_rnn(ig_ts_call *call) {
    layers l = { .is_lstm = call->row->variant == 1,
                 .x = ig_aten_tensor(call, 0),
                 .cells = ig_ts_items_of(&call->args[2], 1),
                 .layer_count = (uint32_t)ig_aten_int(call, 4),
                 .directions = ig_aten_bool(call, 7) ? 2 : 1 };
    bool batch_first = ig_aten_bool(call, 8);
    if (!read_state(call, &l) || !has_rank(call, l.x, 3, "the input") ||
        !has_rank(call, l.h, 3, "the state") ||
        (l.is_lstm && !has_rank(call, l.c, 3, "the cell state"))) {
        return call->e->status;
    }
    l.x = batch_first ? ig_expr_swap(call->e, l.x, 0, 1) : l.x;
    if (!l.cells || l.cells->count != l.layer_count * l.directions) {
        return ig_ts_fail(call, IG_INVALID, "cells do not fit %u layers",
                          l.layer_count);
    }
    IG_TRY(call->e->status);
    ig_dim steps = ig_expr_extent(call->e, l.x, 0);
    ig_expr_guard_less_equal(call->e, ig_dim_of(1), steps,
                             "a recurrent layer needs one step or more");
    bool is_short = ig_dim_constant(call->module, steps, &l.steps) &&
                    l.steps <= STEPS_MAX;
    l.steps = is_short ? l.steps : 0;
    IG_TRY(call->e->status);
    return run_layers(call, &l, batch_first);
}

/* ---- one step ---- */

enum { LSTM_CELL, GRU_CELL, RELU_CELL };

static ig_status give_lstm_cell(ig_ts_call *call, ig_value *x) {
    uint32_t count;
    ig_value **states = ig_aten_tensors(call, 1, &count);
    if (call->e->status == IG_OK && count != 2) {
        return ig_ts_fail(call, IG_INVALID, "an lstm has two states, not %u", count);
    }
    IG_TRY(call->e->status);
    ig_value *h = states[0], *c = states[1];
    if (!has_rank(call, h, 2, "the state") || !has_rank(call, c, 2, "the cell state")) {
        return call->e->status;
    }
    ig_value *state = ig_aten_packed_linear(call, h, &call->args[3], true);
    IG_TRY(call->e->status);
    lstm_step(call, x, state, ig_expr_extent(call->e, h, 1), &h, &c);
    return ig_aten_give2(call, h, c);
}

/* quantized_…_cell_dynamic(input, hx, w_ih, w_hh, b_ih, b_hh): biases are packed with
 * the weights */
ig_status ig_ts_op_q_cell(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!has_rank(call, x, 2, "the input")) {
        return call->e->status;
    }
    x = ig_aten_packed_linear(call, x, &call->args[2], true);
    IG_TRY(call->e->status);
    if (call->row->variant == LSTM_CELL) {
        return give_lstm_cell(call, x);
    }
    ig_value *h = ig_aten_tensor(call, 1);
    if (!has_rank(call, h, 2, "the state")) {
        return call->e->status;
    }
    ig_value *state = ig_aten_packed_linear(call, h, &call->args[3], true);
    IG_TRY(call->e->status);
    if (call->row->variant == GRU_CELL) {
        gru_step(call, x, state, ig_expr_extent(call->e, h, 1), &h);
        return ig_aten_give(call, h);
    }
    x = add_gates(call, x, state);
    return ig_aten_give(
        call,
        ig_expr_map1(call->e, call->row->variant == RELU_CELL ? IG_OP_relu : IG_OP_tanh,
                     x));
}
