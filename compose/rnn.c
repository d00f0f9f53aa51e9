/* rnn as a loop over its steps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What comes from x is one product for all steps, outside of the loop:
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
#include "compose/compose.h"

#include <string.h>

typedef struct cell {
    ig_op *op;
    ig_rnn_cell kind;
    ig_builder b; /* in the loop's body */
    ig_dtype wide;
    uint32_t gates;
    ig_dim time, batch, hidden;
    ig_value *from_x, *lengths, *peepholes, *projection, *r, *br;
    ig_value *h, *c; /* of this step, then of the next */
} cell;

/* ---- pieces ---- */

static ig_value *operand(const cell *k, uint32_t index) {
    return k->op->operands[index].value;
}

/* Columns `from` … `from + count` hiddens of the last axis (or of the first: rows). */
static ig_value *cut(ig_builder *b, const cell *k, ig_value *x, uint32_t axis,
                     uint32_t from, uint32_t count) {
    ig_module *module = b->graph->module;
    uint32_t rank = x->type->rank;
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    memcpy(sizes, x->type->dims, rank * sizeof *sizes);
    starts[axis] = ig_dim_mul(module, k->hidden, ig_dim_of(from));
    sizes[axis] = ig_dim_mul(module, k->hidden, ig_dim_of(count));
    ig_attr attrs[IG_slice_attr_count] = { { 0 } };
    attrs[IG_slice_starts] = ig_attr_of_dims(module, starts, rank);
    attrs[IG_slice_sizes] = ig_attr_of_dims(module, sizes, rank);
    return ig_make(b, IG_OP_slice, 1, &x, attrs);
}

static ig_value *activate(cell *k, ig_opcode code, ig_value *x) {
    double clip = ig_attr_float(k->op, IG_rnn_clip, 0);
    if (clip > 0) {
        x = ig_expand_with(&k->b, IG_OP_min, x, clip);
        x = ig_expand_with(&k->b, IG_OP_max, x, -clip);
    }
    return ig_make1(&k->b, code, x);
}

static ig_value *add(cell *k, ig_value *x, ig_value *y) {
    return ig_make2(&k->b, IG_OP_add, x, y);
}

static ig_value *mul(cell *k, ig_value *x, ig_value *y) {
    return ig_make2(&k->b, IG_OP_mul, x, y);
}

/* 1 - x */
static ig_value *rest_of(cell *k, ig_value *x) {
    return ig_make2(&k->b, IG_OP_sub, ig_make_float(&k->b, k->wide, 1), x);
}

/* ---- cells ---- */

static ig_value *peep(cell *k, ig_value *gate, uint32_t which, ig_value *c) {
    if (!k->peepholes) {
        return gate;
    }
    return add(k, gate, mul(k, cut(&k->b, k, k->peepholes, 0, which, 1), c));
}

static void step_lstm(cell *k, ig_value *x) {
    ig_value *gates = add(k, x, ig_expand_matmul(&k->b, k->h, k->r, true)), *gate[4];
    gates = add(k, gates, k->br);
    for (uint32_t g = 0; g < 4; g++) {
        gate[g] = cut(&k->b, k, gates, 1, g, 1);
    }
    ig_value *i = activate(k, IG_OP_sigmoid, peep(k, gate[0], 0, k->c));
    bool is_coupled = ig_attr_int(k->op, IG_rnn_couple, 0) != 0;
    ig_value *f = is_coupled ? rest_of(k, i)
                             : activate(k, IG_OP_sigmoid, peep(k, gate[1], 1, k->c));
    ig_value *fresh = mul(k, i, activate(k, IG_OP_tanh, gate[2]));
    k->c = add(k, mul(k, f, k->c), fresh);
    ig_value *o = activate(k, IG_OP_sigmoid, peep(k, gate[3], 2, k->c));
    k->h = mul(k, o, ig_make1(&k->b, IG_OP_tanh, k->c));
}

static void step_gru(cell *k, ig_value *x) {
    bool is_reset_first = ig_attr_int(k->op, IG_rnn_reset_first, 0) != 0;
    uint32_t direct = is_reset_first ? 2 : 3;
    ig_value *r = cut(&k->b, k, k->r, 0, 0, direct);
    ig_value *br = cut(&k->b, k, k->br, 0, 0, direct);
    ig_value *from_h = add(k, ig_expand_matmul(&k->b, k->h, r, true), br);
    ig_value *gate[2];
    for (uint32_t g = 0; g < 2; g++) {
        ig_value *sum = add(k, cut(&k->b, k, x, 1, g, 1),
                            cut(&k->b, k, from_h, 1, g, 1));
        gate[g] = activate(k, IG_OP_sigmoid, sum);
    }
    ig_value *part;
    if (is_reset_first) {
        ig_value *state = mul(k, gate[0], k->h);
        part = ig_expand_matmul(&k->b, state, cut(&k->b, k, k->r, 0, 2, 1), true);
        part = add(k, part, cut(&k->b, k, k->br, 0, 2, 1));
    } else {
        part = mul(k, gate[0], cut(&k->b, k, from_h, 1, 2, 1));
    }
    ig_value *n = activate(k, IG_OP_tanh, add(k, cut(&k->b, k, x, 1, 2, 1), part));
    ig_value *fresh = mul(k, rest_of(k, gate[1]), n);
    k->h = add(k, fresh, mul(k, gate[1], k->h));
}

static void step_plain(cell *k, ig_value *x) {
    ig_value *sum = add(k, x, ig_expand_matmul(&k->b, k->h, k->r, true));
    ig_opcode code = k->kind == IG_CELL_relu ? IG_OP_relu : IG_OP_tanh;
    k->h = activate(k, code, add(k, sum, k->br));
}

/* ---- the loop ---- */

/* The number of this trip's step. */
static ig_value *step_number(cell *k, ig_value *trip) {
    if (!ig_attr_int(k->op, IG_rnn_reverse, 0)) {
        return trip;
    }
    ig_dim last = ig_dim_sub(k->b.graph->module, k->time, ig_dim_of(1));
    ig_attr attrs[IG_dims_attr_count] = { { 0 } };
    attrs[IG_dims_values] = ig_attr_of_dims(k->b.graph->module, &last, 1);
    attrs[IG_dims_scalar] = ig_attr_of_bool(true);
    ig_value *from = ig_make(&k->b, IG_OP_dims, 0, NULL, attrs);
    return ig_make2(&k->b, IG_OP_sub, from, trip);
}

/* Fills the body: (trip, cond, h, c) to (cond, h, c, y). */
static void fill_body(cell *k, ig_block *body) {
    bool is_lstm = k->kind == IG_CELL_lstm;
    ig_value *old_h = body->args[2], *old_c = is_lstm ? body->args[3] : NULL;
    ig_value *t = step_number(k, body->args[0]);
    ig_value *x = ig_expand_gather(&k->b, k->from_x, t, 0);
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
        k->h = ig_expand_matmul(&k->b, k->h, k->projection, true);
    }
    ig_value *y = k->h;
    if (k->lengths) {
        ig_value *is_there = ig_make2(&k->b, IG_OP_lt, t, k->lengths);
        ig_value *zero = ig_make_float(&k->b, k->wide, 0);
        is_there = ig_expand_along(&k->b, is_there, 0, 2);
        y = ig_make3(&k->b, IG_OP_where, is_there, k->h, zero);
        k->h = ig_make3(&k->b, IG_OP_where, is_there, k->h, old_h);
        k->c = is_lstm ? ig_make3(&k->b, IG_OP_where, is_there, k->c, old_c) : NULL;
    }
    ig_value *yields[4] = { body->args[1], k->h, is_lstm ? k->c : y, y };
    ig_make_yield(&k->b, yields, is_lstm ? 4 : 3);
}

static ig_op *make_loop(ig_builder *b, cell *k) {
    ig_module *module = b->graph->module;
    bool is_lstm = k->kind == IG_CELL_lstm;
    uint32_t states = is_lstm ? 2 : 1;
    uint8_t yes = 1;
    ig_value *operands[4], *h0 = ig_expand_widen(b, operand(k, 1));
    const ig_type *types[3], *flag = ig_type_tensor(module, IG_DT_bool, 0, NULL);
    ig_dim dims[3] = { k->time, k->batch, h0->type->dims[1] };
    ig_attr attrs[IG_dims_attr_count] = { { 0 } };
    attrs[IG_dims_values] = ig_attr_of_dims(module, &k->time, 1);
    attrs[IG_dims_scalar] = ig_attr_of_bool(true);
    operands[0] = ig_make(b, IG_OP_dims, 0, NULL, attrs);
    operands[1] = ig_make_const(b, flag, &yes);
    operands[2] = h0;
    operands[3] = is_lstm ? ig_expand_widen(b, operand(k, 2)) : NULL;
    for (uint32_t i = 0; i < states; i++) {
        types[i] = operands[2 + i]->type;
    }
    types[states] = ig_type_tensor(module, k->wide, 3, dims);
    ig_attr loop[IG_loop_attr_count] = { [IG_loop_scans] = ig_attr_of_int(1) };
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 2 + states,
                        .result_types = types,
                        .result_count = states + 1,
                        .attrs = loop,
                        .body_count = 1,
                        .loc = b->loc };
    ig_op *op = ig_make_op(b, IG_OP_loop, &spec);
    ig_block *body = op->bodies[0];
    ig_block_add_arg(body, operands[0]->type, NULL);
    ig_block_add_arg(body, flag, NULL);
    for (uint32_t i = 0; i < states; i++) {
        ig_block_add_arg(body, types[i], NULL);
    }
    k->b = ig_builder_at_end(body);
    k->b.loc = b->loc;
    fill_body(k, body);
    return op;
}

/* Steps were stacked as they were taken. */
static ig_value *turn_round(ig_builder *b, const cell *k, ig_value *y) {
    ig_module *module = b->graph->module;
    ig_dim starts[3] = { ig_dim_sub(module, k->time, ig_dim_of(1)), ig_dim_of(0),
                         ig_dim_of(0) };
    int64_t steps[3] = { -1, 1, 1 };
    ig_attr attrs[IG_slice_attr_count] = { { 0 } };
    attrs[IG_slice_starts] = ig_attr_of_dims(module, starts, 3);
    attrs[IG_slice_sizes] = ig_attr_of_dims(module, y->type->dims, 3);
    attrs[IG_slice_steps] = ig_attr_of_ints(module, steps, 3);
    return ig_make(b, IG_OP_slice, 1, &y, attrs);
}

/* The product with x for all steps. */
static void read_operands(ig_builder *b, cell *k) {
    ig_module *module = b->graph->module;
    uint32_t weights = k->kind == IG_CELL_lstm ? 3 : 2, next = weights + 4;
    int64_t given = ig_attr_int(k->op, IG_rnn_given, 0);
    ig_value *x = ig_expand_widen(b, operand(k, 0));
    ig_value *w = ig_expand_widen(b, operand(k, weights));
    ig_dim rows = ig_dim_mul(module, k->time, k->batch);
    ig_dim flat[2] = { rows, x->type->dims[2] };
    ig_dim wide[3] = { k->time, k->batch, w->type->dims[0] };
    k->wide = (ig_dtype)x->type->dtype;
    k->r = ig_expand_widen(b, operand(k, weights + 1));
    k->br = ig_expand_widen(b, operand(k, weights + 3));
    x = ig_expand_matmul(b, ig_make_reshape(b, x, 2, flat), w, true);
    x = ig_make2(b, IG_OP_add, x, ig_expand_widen(b, operand(k, weights + 2)));
    k->from_x = ig_make_reshape(b, x, 3, wide);
    k->lengths = given & IG_RNN_lengths ? operand(k, next++) : NULL;
    k->peepholes = given & IG_RNN_peepholes ? ig_expand_widen(b, operand(k, next++))
                                            : NULL;
    k->projection = given & IG_RNN_projection ? ig_expand_widen(b, operand(k, next))
                                              : NULL;
}

ig_value *ig_expand_rnn(ig_builder *b, ig_op *op) {
    const ig_type *x = op->operands[0].value->type;
    cell k = { .op = op,
               .kind = (ig_rnn_cell)ig_attr_int(op, IG_rnn_cell, 0),
               .time = x->dims[0],
               .batch = x->dims[1] };
    bool is_lstm = k.kind == IG_CELL_lstm;
    k.hidden = op->results[is_lstm ? 2 : 1].type->dims[1];
    read_operands(b, &k);
    ig_op *loop = make_loop(b, &k);
    ig_value *y = &loop->results[is_lstm ? 2 : 1];
    if (ig_attr_int(op, IG_rnn_reverse, 0)) {
        y = turn_round(b, &k, y);
    }
    ig_value *results[3] = { y, &loop->results[0], is_lstm ? &loop->results[1] : NULL };
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_dtype dtype = (ig_dtype)op->results[i].type->dtype;
        ig_value *made = ig_make_cast(b, results[i], dtype);
        ig_value_retype(&op->results[i], made->type);
        ig_value_replace(&op->results[i], made);
    }
    return ig_rule_done(op);
}
