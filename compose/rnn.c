/* rnn rows, and rnn as a loop over its steps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The products with x are one product for all steps, outside of the loop:
 *
 *     from_x = x w' + bw                         [T, B, G * H]
 *     h, c, y… = loop T (step, h, c) {
 *         t = step, or T - 1 - step
 *         gates = from_x[t] + h r' + br
 *         …  yield h', c', y
 *     }
 *
 * A row whose length is passed keeps its state and gives 0.  Going backwards it starts
 * with steps that are beyond its end, which leave the first state alone: so it begins
 * at its own last step.
 */
#include "compose/rnn.h"

#include "compose/decompose.h"

#include <assert.h>
#include <string.h>

/* ---- the row ---- */

static ig_value *bias_or_zeros(ig_expr *e, ig_value *bias, const ig_value *weights) {
    bool is_zero = !bias && weights && weights->type->rank > 0;
    return is_zero ? ig_expr_fill(e, (ig_dtype)weights->type->dtype, 1,
                                  weights->type->dims, 0)
                   : bias;
}

/* A first state of the extents that all later ones have.  The caller's value may have
 * other names for them. */
static ig_value *fit_state(ig_expr *e, ig_value *state, ig_dim batch, ig_dim width) {
    if (e->status != IG_OK || !state || state->type->rank != 2) {
        return state; /* the row's check reports the fault */
    }
    ig_expr_guard_equal(e, state->type->dims[0], batch,
                        "a layer's first state must have the batch of its input");
    ig_expr_guard_equal(e, state->type->dims[1], width,
                        "a layer's first state must be as wide as its weights say");
    ig_dim dims[] = { batch, width };
    return ig_build_reshape(e, state, NULL, (ig_reshape_attrs){ .to = { dims, 2 } });
}

/* h and, of an lstm, c. */
static uint32_t fit_states(ig_expr *e, const ig_rnn *l, ig_value **out) {
    bool is_lstm = l->cell == IG_CELL_lstm;
    const ig_value *wide = l->projection ? l->projection : l->r;
    if (e->status != IG_OK || l->x->type->rank != 3 || wide->type->rank != 2) {
        out[0] = l->h, out[1] = l->c;
    } else {
        const ig_dim *dims = wide->type->dims;
        ig_dim batch = l->x->type->dims[1];
        out[0] = fit_state(e, l->h, batch, dims[l->projection ? 0 : 1]);
        out[1] = fit_state(e, l->c, batch, dims[1]);
    }
    return is_lstm ? 2 : 1;
}

static ig_op *make_rnn(ig_expr *e, const ig_rnn *l) {
    bool is_lstm = l->cell == IG_CELL_lstm;
    ig_value *optional[] = { l->lengths, l->peepholes, l->projection };
    ig_value *operands[11] = { l->x };
    uint32_t count = 1;
    int64_t given = 0;
    count += fit_states(e, l, operands + 1);
    operands[count++] = l->w;
    operands[count++] = l->r;
    operands[count++] = bias_or_zeros(e, l->bw, l->w);
    operands[count++] = bias_or_zeros(e, l->br, l->r);
    for (uint32_t i = 0; i < IG_COUNT_OF(optional); i++) {
        given |= optional[i] ? 1 << i : 0;
        operands[count] = optional[i];
        count += optional[i] != NULL;
    }
    ig_rnn_attrs attrs = { .cell = (int)l->cell,
                           .reverse = l->is_reverse,
                           .reset_first = l->is_reset_first,
                           .couple = l->is_coupled,
                           .clip = { l->clip > 0, l->clip },
                           .given = { given != 0, given } };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = is_lstm ? 3 : 2 };
    return ig_build_rnn_op(e, &spec, attrs);
}

/* ---- the loop ---- */

typedef struct cell {
    const ig_op *op;
    ig_expr *e; /* in the loop's body */
    ig_rnn_cell kind;
    ig_dtype wide;
    ig_dim time, batch, hidden;
    ig_value *from_x, *lengths, *peepholes, *projection, *r, *br;
    ig_value *h, *c;                      /* of this step, then of the next */
    const ig_rnn_activation *activations; /* NULL: the usual ones */
} cell;

enum { OF_GATES, OF_NEW, OF_STATE }; /* activations */

/* ---- pieces ---- */

static ig_value *widen_operand(ig_expr *e, const cell *k, uint32_t index) {
    assert(index < k->op->operand_count && "`given` says which operands there are");
    return ig_expr_widen(e, k->op->operands[index].value);
}

/* Gates `from` … `from + count` of an axis that holds all gates side by side. */
static ig_value *slice_gates(const cell *k, ig_value *x, uint32_t axis, uint32_t from,
                             uint32_t count) {
    ig_module *module = k->e->module;
    ig_dim start = ig_dim_mul(module, k->hidden, ig_dim_of(from));
    ig_dim size = ig_dim_mul(module, k->hidden, ig_dim_of(count));
    return ig_expr_slice(k->e, x, axis, start, size, 1);
}

static ig_value *build_activation(const cell *k, uint32_t which, ig_value *x) {
    if (k->activations) {
        const ig_rnn_activation *own = &k->activations[which];
        return own->build(k->e, x, own->alpha, own->beta);
    }
    ig_opcode usual = k->kind == IG_CELL_relu ? IG_OP_relu
                      : which == OF_GATES     ? IG_OP_sigmoid
                                              : IG_OP_tanh;
    return ig_expr_map1(k->e, usual, x);
}

static ig_value *build_clipped(const cell *k, uint32_t which, ig_value *x) {
    double clip = ig_attr_float(k->op, IG_rnn_clip, 0);
    if (clip > 0) {
        x = ig_expr_with(k->e, IG_OP_min, x, clip);
        x = ig_expr_with(k->e, IG_OP_max, x, -clip);
    }
    return build_activation(k, which, x);
}

/* ---- cells ---- */

static ig_value *add_peephole(const cell *k, ig_value *gate, uint32_t which,
                              ig_value *c) {
    if (!k->peepholes) {
        return gate;
    }
    ig_value *own = ig_build_mul(k->e, slice_gates(k, k->peepholes, 0, which, 1), c);
    return ig_build_add(k->e, gate, own);
}

static void step_lstm(cell *k, ig_value *x) {
    ig_expr *e = k->e;
    ig_value *gates = ig_build_add(e, x, ig_expr_matmul_transposed(e, k->h, k->r));
    ig_value *gate[4];
    gates = ig_build_add(e, gates, k->br);
    for (uint32_t g = 0; g < 4; g++) {
        gate[g] = slice_gates(k, gates, 1, g, 1);
    }
    ig_value *i = build_clipped(k, OF_GATES, add_peephole(k, gate[0], 0, k->c));
    bool is_coupled = ig_attr_int(k->op, IG_rnn_couple, 0) != 0;
    ig_value *f = is_coupled
                      ? ig_expr_number_with(e, IG_OP_sub, 1, i)
                      : build_clipped(k, OF_GATES, add_peephole(k, gate[1], 1, k->c));
    ig_value *fresh = ig_build_mul(e, i, build_clipped(k, OF_NEW, gate[2]));
    k->c = ig_build_add(e, ig_build_mul(e, f, k->c), fresh);
    ig_value *o = build_clipped(k, OF_GATES, add_peephole(k, gate[3], 2, k->c));
    k->h = ig_build_mul(e, o, build_activation(k, OF_STATE, k->c));
}

/* The new gate's share of the state: r * (R h + b), or R (r * h) + b. */
static ig_value *reset_state(cell *k, ig_value *reset, ig_value *from_h) {
    ig_expr *e = k->e;
    if (!ig_attr_int(k->op, IG_rnn_reset_first, 0)) {
        return ig_build_mul(e, reset, slice_gates(k, from_h, 1, 2, 1));
    }
    ig_value *state = ig_build_mul(e, reset, k->h);
    ig_value *r = slice_gates(k, k->r, 0, 2, 1), *part;
    part = ig_expr_matmul_transposed(e, state, r);
    return ig_build_add(e, part, slice_gates(k, k->br, 0, 2, 1));
}

static void step_gru(cell *k, ig_value *x) {
    ig_expr *e = k->e;
    bool is_reset_first = ig_attr_int(k->op, IG_rnn_reset_first, 0) != 0;
    uint32_t direct = is_reset_first ? 2 : 3;
    ig_value *r = slice_gates(k, k->r, 0, 0, direct);
    ig_value *br = slice_gates(k, k->br, 0, 0, direct), *gate[2];
    ig_value *from_h = ig_build_add(e, ig_expr_matmul_transposed(e, k->h, r), br);
    for (uint32_t g = 0; g < 2; g++) {
        ig_value *own = slice_gates(k, x, 1, g, 1);
        ig_value *sum = ig_build_add(e, own, slice_gates(k, from_h, 1, g, 1));
        gate[g] = build_clipped(k, OF_GATES, sum);
    }
    ig_value *part = reset_state(k, gate[0], from_h);
    ig_value *sum = ig_build_add(e, slice_gates(k, x, 1, 2, 1), part);
    ig_value *n = build_clipped(k, OF_NEW, sum);
    ig_value *rest = ig_expr_number_with(e, IG_OP_sub, 1, gate[1]);
    ig_value *fresh = ig_build_mul(e, rest, n);
    k->h = ig_build_add(e, fresh, ig_build_mul(e, gate[1], k->h));
}

static void step_plain(cell *k, ig_value *x) {
    ig_value *sum = ig_expr_matmul_transposed(k->e, k->h, k->r);
    sum = ig_build_add(k->e, ig_build_add(k->e, x, sum), k->br);
    k->h = build_clipped(k, OF_NEW, sum);
}

/* ---- steps ---- */

/* The number of this trip's step. */
static ig_value *number_step(const cell *k, ig_value *trip) {
    if (!ig_attr_int(k->op, IG_rnn_reverse, 0)) {
        return trip;
    }
    ig_dim last = ig_dim_sub(k->e->module, k->time, ig_dim_of(1));
    return ig_build_sub(k->e, ig_expr_dim(k->e, last, IG_DT_i64), trip);
}

/* Fills the body: (trip, cond, h, c) to (cond, h, c, y). */
static void fill_body(cell *k, const ig_block *body) {
    ig_expr *e = k->e;
    bool is_lstm = k->kind == IG_CELL_lstm;
    ig_value *old_h = body->args[2], *old_c = is_lstm ? body->args[3] : NULL;
    ig_value *t = number_step(k, body->args[0]);
    ig_value *x = ig_expr_gather(e, k->from_x, t, 0, IG_NEGATIVE_wrap);
    k->h = old_h;
    k->c = old_c;
    if (is_lstm) {
        step_lstm(k, x);
    } else if (k->kind == IG_CELL_gru) {
        step_gru(k, x);
    } else {
        step_plain(k, x);
    }
    if (k->projection) {
        k->h = ig_expr_matmul_transposed(e, k->h, k->projection);
    }
    ig_value *y = k->h;
    if (k->lengths) {
        ig_value *goes_on = ig_expr_along(e, ig_build_lt(e, t, k->lengths), 0, 2);
        y = ig_build_where(e, goes_on, k->h, ig_expr_number(e, k->wide, 0));
        k->h = ig_build_where(e, goes_on, k->h, old_h);
        k->c = is_lstm ? ig_build_where(e, goes_on, k->c, old_c) : NULL;
    }
    ig_value *yields[4] = { body->args[1], k->h, is_lstm ? k->c : y, y };
    ig_make_yield(e->builder, yields, is_lstm ? 4 : 3);
}

/* NULL: an error came before. */
static ig_op *make_loop(ig_expr *e, cell *k) {
    uint32_t states = k->kind == IG_CELL_lstm ? 2 : 1;
    ig_value *operands[4] = { ig_expr_dim(e, k->time, IG_DT_i64) };
    const ig_type *types[3];
    operands[1] = ig_expr_number(e, IG_DT_bool, 1);
    for (uint32_t i = 0; i < states; i++) {
        operands[2 + i] = widen_operand(e, k, 1 + i);
        types[i] = operands[2 + i] ? operands[2 + i]->type : NULL;
    }
    if (e->status != IG_OK) {
        return NULL;
    }
    ig_dim dims[3] = { k->time, k->batch, types[0]->dims[1] };
    types[states] = ig_type_tensor(e->module, k->wide, 3, dims);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 2 + states,
                        .result_types = types,
                        .result_count = states + 1,
                        .body_count = 1,
                        .loc = e->builder->loc,
                        .origins = e->builder->origins };
    ig_op *op = ig_build_loop_op(e, &spec, (ig_loop_attrs){ .scans = IG_SET(1) });
    for (uint32_t i = 0; i < spec.operand_count; i++) {
        ig_block_add_arg(op->bodies[0], operands[i]->type, NULL);
    }
    ig_builder inside = ig_builder_at_end(op->bodies[0]);
    inside.loc = e->builder->loc;
    inside.origins = e->builder->origins;
    ig_expr body = ig_expr_of(&inside);
    k->e = &body;
    fill_body(k, op->bodies[0]);
    k->e = e;
    return op;
}

/* Reads the operands; the product with x is of all steps.  After an error some are
 * absent. */
static void read_operands(ig_expr *e, cell *k) {
    uint32_t weights = k->kind == IG_CELL_lstm ? 3 : 2, next = weights + 4;
    int64_t given = ig_attr_int(k->op, IG_rnn_given, 0);
    ig_value *x = widen_operand(e, k, 0), *w = widen_operand(e, k, weights);
    if (!w) {
        return;
    }
    ig_dim wide[3] = { k->time, k->batch, w->type->dims[0] };
    k->wide = (ig_dtype)x->type->dtype;
    k->r = widen_operand(e, k, weights + 1);
    k->br = widen_operand(e, k, weights + 3);
    x = ig_expr_matmul_transposed(e, ig_expr_merge_axes(e, x, 0, 1), w);
    x = ig_build_add(e, x, widen_operand(e, k, weights + 2));
    k->from_x = ig_expr_reshape(e, x, 3, wide);
    if (given & IG_RNN_lengths) {
        k->lengths = k->op->operands[next++].value;
    }
    if (given & IG_RNN_peepholes) {
        k->peepholes = widen_operand(e, k, next++);
    }
    if (given & IG_RNN_projection) {
        k->projection = widen_operand(e, k, next);
    }
}

static bool expand_row(ig_expr *e, const ig_op *op,
                       const ig_rnn_activation *activations, ig_value **out_results) {
    const ig_type *x = op->operands[0].value->type;
    cell k = { .op = op,
               .e = e,
               .kind = (ig_rnn_cell)ig_attr_int(op, IG_rnn_cell, 0),
               .time = x->dims[0],
               .batch = x->dims[1],
               .activations = activations };
    bool is_lstm = k.kind == IG_CELL_lstm;
    k.hidden = op->results[is_lstm ? 2 : 1].type->dims[1];
    read_operands(e, &k);
    ig_op *loop = make_loop(e, &k);
    if (!loop) {
        return false;
    }
    ig_value *y = &loop->results[is_lstm ? 2 : 1];
    if (ig_attr_int(op, IG_rnn_reverse, 0)) {
        y = ig_expr_flip(e, y, 0); /* steps were stacked as they were taken */
    }
    ig_value *results[] = { y, &loop->results[0], is_lstm ? &loop->results[1] : NULL };
    for (uint32_t i = 0; i < op->result_count; i++) {
        out_results[i] = ig_expr_cast(e, results[i],
                                      (ig_dtype)op->results[i].type->dtype);
    }
    return true;
}

bool ig_decompose_rnn(ig_expr *e, const ig_op *op, ig_value **out_results) {
    return expand_row(e, op, NULL, out_results);
}

void ig_compose_rnn(ig_expr *e, const ig_rnn *layer,
                    ig_value *out_results[IG_RNN_RESULTS]) {
    ig_op *op = make_rnn(e, layer);
    for (uint32_t i = 0; i < IG_RNN_RESULTS; i++) {
        out_results[i] = op && i < op->result_count ? ig_op_result(op, i) : NULL;
    }
    if (op && layer->activations) {
        (void)expand_row(e, op, layer->activations, out_results);
        ig_op_erase(op);
    }
}
