/* Recurrent layers, and packed sequences.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Packed data hold, for each step, the rows of the sequences that still go on; they are
 * spread to [T, B, I] with a length for each sequence, and packed again afterwards.
 * With `first[t]` the sum of batch_sizes before t, row first[t] + b is step t of
 * sequence b. */
#include "compose/rnn.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <string.h>

typedef struct layers {
    ig_rnn_cell cell;
    ig_value *x;       /* [T, B, I] */
    ig_value *lengths; /* i64 [B], or NULL */
    ig_value *h, *c;   /* [layers * directions, B, H]; c of lstm */
    ig_value **params;
    uint32_t param_count, layer_count, directions;
    bool has_bias;
} layers;

/* Parameters of one layer and direction: w_ih, w_hh, two biases, the projection. */
static uint32_t params_each(const layers *l) {
    uint32_t parts = l->layer_count * l->directions;
    return parts ? l->param_count / parts : 0;
}

static bool check_params(ig_ts_call *call, const layers *l) {
    uint32_t each = params_each(l), min = l->has_bias ? 4 : 2;
    bool fits = l->layer_count > 0 &&
                each * l->layer_count * l->directions == l->param_count &&
                (each == min || (each == min + 1 && l->cell == IG_CELL_lstm));
    if (call->e->status == IG_OK && !fits) {
        ig_expr_fail(call->e, IG_INVALID, "%u parameters for %u layers", l->param_count,
                     l->layer_count);
    }
    return call->e->status == IG_OK;
}

/* One layer in one direction; out: y, h, c. */
static void run_part(ig_ts_call *call, const layers *l, ig_value *x, uint32_t part,
                     ig_value **out) {
    ig_value **p = l->params + part * params_each(l);
    bool is_projected = params_each(l) == (l->has_bias ? 5u : 3u);
    bool is_lstm = l->cell == IG_CELL_lstm;
    ig_dim index = ig_dim_of(part);
    ig_rnn layer = { .cell = l->cell,
                     .is_reverse = part % l->directions != 0,
                     .x = x,
                     .h = ig_expr_select(call->e, l->h, 0, index),
                     .c = is_lstm ? ig_expr_select(call->e, l->c, 0, index) : NULL,
                     .w = p[0],
                     .r = p[1],
                     .bw = l->has_bias ? p[2] : NULL,
                     .br = l->has_bias ? p[3] : NULL,
                     .lengths = l->lengths,
                     .projection = is_projected ? p[l->has_bias ? 4 : 2] : NULL };
    ig_compose_rnn(call->e, &layer, out);
}

/* All layers; out: y, h_n, c_n. */
static bool run_layers(ig_ts_call *call, const layers *l, ig_value **out) {
    uint32_t parts = l->layer_count * l->directions;
    ig_value *x = l->x, *sides[2], *found[3];
    ig_value **h = IG_NEW_ARRAY(call->arena, ig_value *, parts);
    ig_value **c = IG_NEW_ARRAY(call->arena, ig_value *, parts);
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t side = part % l->directions;
        run_part(call, l, x, part, found);
        sides[side] = found[0];
        h[part] = ig_expr_unsqueeze(call->e, found[1], 0);
        c[part] = ig_expr_unsqueeze(call->e, found[2], 0);
        if (side + 1 == l->directions) {
            x = ig_expr_concat(call->e, 2, sides, l->directions);
        }
    }
    out[0] = x;
    out[1] = ig_expr_concat(call->e, 0, h, parts);
    out[2] = l->cell == IG_CELL_lstm ? ig_expr_concat(call->e, 0, c, parts) : NULL;
    return call->e->status == IG_OK;
}

/* hx: a list of two for lstm, a tensor for the others. */
static void read_state(ig_ts_call *call, layers *l, uint32_t index) {
    if (l->cell != IG_CELL_lstm) {
        l->h = ig_aten_tensor(call, index);
        return;
    }
    uint32_t count;
    ig_value **states = ig_aten_tensors(call, index, &count);
    if (call->e->status == IG_OK && count != 2) {
        ig_expr_fail(call->e, IG_INVALID, "an lstm has two states, not %u", count);
    }
    l->h = call->e->status == IG_OK ? states[0] : NULL;
    l->c = call->e->status == IG_OK ? states[1] : NULL;
}

/* params, has_biases, num_layers, dropout, train, bidirectional from `index` on. */
static void read_rest(ig_ts_call *call, layers *l, uint32_t index) {
    l->params = ig_aten_tensors(call, index, &l->param_count);
    l->has_bias = ig_aten_bool(call, index + 1);
    l->layer_count = (uint32_t)ig_aten_int(call, index + 2);
    l->directions = ig_aten_bool(call, index + 5) ? 2 : 1;
    if (ig_aten_bool(call, index + 4) && ig_aten_float(call, index + 3) > 0) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "dropout in training mode");
    }
}

static ig_status give_layers(ig_ts_call *call, ig_value *y, ig_value *const *found) {
    IG_TRY(ig_aten_give2(call, y, found[1]));
    return found[2] ? ig_ts_give(call, 2, found[2]) : IG_OK;
}

/* lstm.input, gru.input, rnn_*.input(input, hx, params, has_biases, num_layers,
 * dropout, train, bidirectional, batch_first); variant: an ig_rnn_cell */
ig_status ig_ts_op_rnn(ig_ts_call *call) {
    layers l = { .cell = (ig_rnn_cell)call->row->variant };
    ig_value *found[3];
    bool batch_first = ig_aten_bool(call, 8);
    l.x = ig_aten_tensor(call, 0);
    read_state(call, &l, 1);
    read_rest(call, &l, 2);
    if (!check_params(call, &l)) {
        return call->e->status;
    }
    l.x = batch_first ? ig_expr_swap(call->e, l.x, 0, 1) : l.x;
    if (!run_layers(call, &l, found)) {
        return call->e->status;
    }
    return give_layers(
        call, batch_first ? ig_expr_swap(call->e, found[0], 0, 1) : found[0], found);
}

/* lstm_cell …(input, hx, w_ih, w_hh, b_ih, b_hh): one step */
ig_status ig_ts_op_rnn_cell(ig_ts_call *call) {
    layers l = { .cell = (ig_rnn_cell)call->row->variant,
                 .layer_count = 1,
                 .directions = 1,
                 .param_count = 4 };
    ig_value *params[4], *found[3];
    l.x = ig_aten_tensor(call, 0);
    read_state(call, &l, 1);
    for (uint32_t i = 0; i < 4; i++) {
        params[i] = ig_aten_optional(call, 2 + i);
    }
    IG_TRY(call->e->status);
    bool has_batch = l.x->type->rank == 2;
    for (int raised = has_batch ? 1 : 0; raised < 2; raised++) {
        l.x = ig_expr_unsqueeze(call->e, l.x, 0);
        l.h = ig_expr_unsqueeze(call->e, l.h, 0);
        l.c = l.c ? ig_expr_unsqueeze(call->e, l.c, 0) : NULL;
    }
    l.params = params;
    l.has_bias = params[2] && params[3];
    l.param_count = l.has_bias ? 4 : 2;
    if (!check_params(call, &l) || !run_layers(call, &l, found)) {
        return call->e->status;
    }
    for (uint32_t i = 1; i < 3; i++) {
        found[i] = found[i] ? ig_expr_squeeze(call->e, found[i], 0) : NULL;
        if (found[i] && !has_batch) {
            found[i] = ig_expr_squeeze(call->e, found[i], 0);
        }
    }
    return found[2] ? ig_aten_give2(call, found[1], found[2])
                    : ig_aten_give(call, found[1]);
}

/* ---- packed sequences ---- */

static ig_value *running_sum(ig_ts_call *call, ig_value *x, bool exclusive) {
    return ig_build_cumsum(call->e, x,
                           (ig_cumsum_attrs){ .axis = 0, .exclusive = exclusive });
}

static ig_value *as_column(ig_ts_call *call, ig_value *x) {
    return x ? ig_expr_unsqueeze(call->e, x, 1) : NULL;
}

/* [T, B]: sequence b goes on at step t.  `numbers` is 0 … B - 1. */
static ig_value *goes_on(ig_ts_call *call, ig_value *batch_sizes, ig_value *indices) {
    return ig_build_gt(call->e, as_column(call, batch_sizes), indices);
}

static ig_value *lengths_of(ig_ts_call *call, ig_value *mask) {
    return ig_expr_reduce_axis(call->e, IG_REDUCE_sum,
                               ig_aten_cast(call, mask, IG_DT_i64), 0, false);
}

/* Rows of `data` as [T, B, …]; where a sequence has ended, row 0 is used. */
static ig_value *spread_steps(ig_ts_call *call, ig_value *data, ig_value *batch_sizes,
                              ig_value *indices, ig_value *mask) {
    ig_value *first = as_column(call, running_sum(call, batch_sizes, true));
    ig_value *row = ig_build_add(call->e, first, indices);
    ig_value *zero = ig_expr_integer(call->e, IG_DT_i64, 0);
    return ig_expr_gather(call->e, data, ig_build_where(call->e, mask, row, zero), 0,
                          IG_NEGATIVE_wrap);
}

/* [T, B, …] packed again: `count` rows. */
static ig_value *pack_rows(ig_ts_call *call, ig_value *y, ig_value *batch_sizes,
                           ig_dim count) {
    ig_value *rows = ig_expr_iota(call->e, IG_DT_i64, count);
    ig_value *ends = running_sum(call, batch_sizes, false);
    ig_value *step = ig_build_bucketize(call->e, rows, ends,
                                        (ig_bucketize_attrs){ .right = true });
    ig_value *first = running_sum(call, batch_sizes, true);
    first = ig_expr_gather(call->e, first, step, 0, IG_NEGATIVE_wrap);
    ig_value *sequence = ig_build_sub(call->e, rows, first);
    ig_value *pair[] = { as_column(call, step), as_column(call, sequence) };
    return ig_build_gather_nd(call->e, y, ig_expr_concat(call->e, 1, pair, 2),
                              (ig_gather_nd_attrs){ 0 });
}

/* lstm.data …(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train,
 * bidirectional) */
ig_status ig_ts_op_rnn_packed(ig_ts_call *call) {
    layers l = { .cell = (ig_rnn_cell)call->row->variant };
    ig_value *data = ig_aten_tensor(call, 0), *found[3];
    ig_value *batch_sizes = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    read_state(call, &l, 2);
    read_rest(call, &l, 3);
    if (!check_params(call, &l)) {
        return call->e->status;
    }
    ig_value *indices = ig_expr_iota(call->e, IG_DT_i64,
                                     ig_expr_extent(call->e, l.h, 1));
    ig_value *mask = goes_on(call, batch_sizes, indices);
    l.lengths = lengths_of(call, mask);
    l.x = spread_steps(call, data, batch_sizes, indices, mask);
    if (call->e->status != IG_OK || !run_layers(call, &l, found)) {
        return call->e->status;
    }
    ig_value *y = pack_rows(call, found[0], batch_sizes,
                            ig_expr_extent(call->e, data, 0));
    return give_layers(call, y, found);
}

/* 0 … n - 1 with n computed by the run. */
static ig_value *count_up(ig_ts_call *call, ig_value *n) {
    ig_value *zero = ig_expr_integer(call->e, IG_DT_i64, 0);
    return ig_build_range(call->e, zero, n, ig_expr_integer(call->e, IG_DT_i64, 1));
}

/* _pack_padded_sequence(input, lengths, batch_first) -> data, batch_sizes */
ig_status ig_ts_op_pack_padded(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *lengths = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    x = ig_aten_bool(call, 2) ? ig_expr_swap(call->e, x, 0, 1) : x;
    ig_value *longest = ig_expr_reduce(call->e, IG_REDUCE_max, lengths, NULL, 0, false);
    ig_value *steps = as_column(call, count_up(call, longest));
    ig_value *mask = ig_build_lt(call->e, steps, lengths);
    ig_value *sizes = ig_aten_cast(call, mask, IG_DT_i64);
    sizes = ig_expr_reduce_axis(call->e, IG_REDUCE_sum, sizes, 1, false);
    ig_value *rows = ig_build_gather_nd(call->e, x, ig_build_nonzero(call->e, mask),
                                        (ig_gather_nd_attrs){ 0 });
    return ig_aten_give2(call, rows, sizes);
}

/* _pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length)
 * -> padded, lengths */
ig_status ig_ts_op_pad_packed(ig_ts_call *call) {
    ig_value *data = ig_aten_tensor(call, 0);
    ig_value *sizes = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_i64);
    ig_dim total = ig_aten_dim(call, 4); /* not above 0: as long as the longest */
    IG_TRY(call->e->status);
    ig_value *value = ig_aten_operand(call, 3, (ig_dtype)data->type->dtype);
    ig_value *indices = count_up(call, ig_expr_select(call->e, sizes, 0, ig_dim_of(0)));
    ig_value *mask = goes_on(call, sizes, indices);
    ig_value *lengths = lengths_of(call, mask);
    ig_value *padded = spread_steps(call, data, sizes, indices, mask);
    for (uint32_t i = 2; padded && mask && i < padded->type->rank; i++) {
        mask = ig_expr_unsqueeze(call->e, mask, i);
    }
    padded = ig_build_where(call->e, mask, padded, value);
    int64_t number = 1;
    ig_module *module = call->module;
    bool is_given = !ig_dim_constant(module, total, &number) || number > 0;
    if (is_given && padded &&
        ig_dim_equal(module, total, ig_expr_extent(call->e, padded, 0)) != IG_YES) {
        ig_dim after[IG_TENSOR_RANK] = { 0 }, before[IG_TENSOR_RANK] = { 0 };
        after[0] = ig_dim_sub(module, total, ig_expr_extent(call->e, padded, 0));
        padded = ig_expr_pad(call->e, padded, before, after, IG_PAD_constant,
                             ig_aten_float(call, 3));
    }
    padded = padded && ig_aten_bool(call, 2) ? ig_expr_swap(call->e, padded, 0, 1)
                                             : padded;
    return ig_aten_give2(call, padded, lengths);
}
