/* rnn: one layer of lstm, gru or plain cells in one direction.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Gates are computed in double, the state between steps is rounded to the dtype, as a
 * loop over the steps rounds it.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

enum { X, H0, C0 };

typedef struct layer {
    ig_rnn_cell cell;
    int64_t batch, ins, hidden, outs, gates; /* gates: rows of the weights */
    double *w, *r, *bw, *br, *peepholes, *projection;
    double clip;
    bool is_reset_first, is_coupled;
    /* of the row being computed */
    double *x, *h, *c, *from_x, *from_h, *reset, *next;
} layer;

static double apply_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double clip_gate(const layer *l, double x) {
    if (l->clip <= 0) {
        return x;
    }
    return x > l->clip ? l->clip : x < -l->clip ? -l->clip : x;
}

/* out[g] = bias[g] + sum over k of rows[g][k] * x[k] */
static void multiply_rows(const double *rows, const double *bias, const double *x,
                          int64_t count, int64_t width, double *out) {
    for (int64_t g = 0; g < count; g++) {
        double sum = bias ? bias[g] : 0;
        for (int64_t k = 0; k < width; k++) {
            sum += rows[g * width + k] * x[k];
        }
        out[g] = sum;
    }
}

/* ---- cells: from_x and from_h hold W x + bw and R h + br ---- */

static void step_lstm(layer *l) {
    int64_t n = l->hidden;
    const double *p = l->peepholes;
    for (int64_t j = 0; j < n; j++) {
        double gate[4];
        for (int64_t g = 0; g < 4; g++) {
            gate[g] = l->from_x[g * n + j] + l->from_h[g * n + j];
        }
        gate[0] += p ? p[j] * l->c[j] : 0;
        gate[1] += p ? p[n + j] * l->c[j] : 0;
        double i = apply_sigmoid(clip_gate(l, gate[0]));
        double f = l->is_coupled ? 1 - i : apply_sigmoid(clip_gate(l, gate[1]));
        l->c[j] = f * l->c[j] + i * tanh(clip_gate(l, gate[2]));
        gate[3] += p ? p[2 * n + j] * l->c[j] : 0;
        l->next[j] = apply_sigmoid(clip_gate(l, gate[3])) * tanh(l->c[j]);
    }
}

static void step_gru(layer *l) {
    int64_t n = l->hidden;
    for (int64_t j = 0; j < n; j++) {
        double gate = l->from_x[j] + l->from_h[j];
        l->reset[j] = apply_sigmoid(clip_gate(l, gate));
    }
    if (l->is_reset_first) {
        for (int64_t j = 0; j < n; j++) {
            l->next[j] = l->reset[j] * l->h[j];
        }
        multiply_rows(l->r + 2 * n * n, l->br + 2 * n, l->next, n, n,
                      l->from_h + 2 * n);
    }
    for (int64_t j = 0; j < n; j++) {
        double z = apply_sigmoid(clip_gate(l, l->from_x[n + j] + l->from_h[n + j]));
        double r = l->is_reset_first ? 1 : l->reset[j];
        double from_h = r * l->from_h[2 * n + j];
        double fresh = tanh(clip_gate(l, l->from_x[2 * n + j] + from_h));
        l->next[j] = (1 - z) * fresh + z * l->h[j];
    }
}

static void step_plain(layer *l) {
    for (int64_t j = 0; j < l->hidden; j++) {
        double sum = clip_gate(l, l->from_x[j] + l->from_h[j]);
        double above = sum > 0 || isnan(sum) ? sum : 0;
        l->next[j] = l->cell == IG_CELL_tanh ? tanh(sum) : above;
    }
}

static void step_layer(layer *l) {
    multiply_rows(l->w, l->bw, l->x, l->gates, l->ins, l->from_x);
    multiply_rows(l->r, l->br, l->h, l->gates, l->outs, l->from_h);
    if (l->cell == IG_CELL_lstm) {
        step_lstm(l);
    } else if (l->cell == IG_CELL_gru) {
        step_gru(l);
    } else {
        step_plain(l);
    }
    if (l->projection) {
        multiply_rows(l->projection, NULL, l->next, l->outs, l->hidden, l->h);
        return;
    }
    for (int64_t j = 0; j < l->hidden; j++) {
        l->h[j] = l->next[j];
    }
}

/* ---- reading ---- */

static ig_status read_operand(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                              int64_t count, double **out) {
    if (from->count != count) {
        return FOLD_ERROR(eval, op, "rnn: an operand has %lld elements, expected %lld",
                          (long long)from->count, (long long)count);
    }
    IG_TRY(ig_eval_scratch(eval, op, count, sizeof **out, out));
    ig_span_read_f64(ig_span_of(from, 0, 1), count, *out);
    return IG_OK;
}

static ig_status take_rows(ig_eval *eval, const ig_op *op, layer *l) {
    IG_TRY(ig_eval_scratch(eval, op, l->ins, sizeof(double), &l->x));
    IG_TRY(ig_eval_scratch(eval, op, l->outs, sizeof(double), &l->h));
    IG_TRY(ig_eval_scratch(eval, op, l->hidden, sizeof(double), &l->c));
    IG_TRY(ig_eval_scratch(eval, op, l->gates, sizeof(double), &l->from_x));
    IG_TRY(ig_eval_scratch(eval, op, l->gates, sizeof(double), &l->from_h));
    IG_TRY(ig_eval_scratch(eval, op, l->hidden, sizeof(double), &l->reset));
    return ig_eval_scratch(eval, op, l->hidden, sizeof(double), &l->next);
}

/* Reads the weights and the optional operands; *out_lengths is NULL when absent. */
static ig_status read_layer(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            layer *l, const ig_tensor **out_lengths) {
    bool is_lstm = l->cell == IG_CELL_lstm;
    int64_t given = ig_attr_int(op, IG_rnn_given, 0);
    const ig_tensor *const *weights = in + (is_lstm ? 3 : 2), *const *more = weights +
                                                                             4;
    l->batch = in[X]->dims[1];
    l->ins = in[X]->dims[2];
    l->outs = in[H0]->dims[1];
    l->hidden = is_lstm ? in[C0]->dims[1] : l->outs;
    l->gates = l->hidden * (is_lstm ? 4 : l->cell == IG_CELL_gru ? 3 : 1);
    IG_TRY(read_operand(eval, op, weights[0], l->gates * l->ins, &l->w));
    IG_TRY(read_operand(eval, op, weights[1], l->gates * l->outs, &l->r));
    IG_TRY(read_operand(eval, op, weights[2], l->gates, &l->bw));
    IG_TRY(read_operand(eval, op, weights[3], l->gates, &l->br));
    *out_lengths = given & IG_RNN_lengths ? *more++ : NULL;
    if (given & IG_RNN_peepholes) {
        IG_TRY(read_operand(eval, op, *more++, 3 * l->hidden, &l->peepholes));
    }
    if (given & IG_RNN_projection) {
        IG_TRY(read_operand(eval, op, *more, l->outs * l->hidden, &l->projection));
    }
    bool fits = in[H0]->dims[0] == l->batch &&
                (!is_lstm || in[C0]->dims[0] == l->batch) &&
                (!*out_lengths || (*out_lengths)->count == l->batch) &&
                (is_lstm || l->outs == l->hidden);
    if (!fits) {
        return FOLD_ERROR(eval, op, "rnn: the states do not fit %lld rows",
                          (long long)l->batch);
    }
    return take_rows(eval, op, l);
}

/* ---- the op ---- */

/* Rounds the state as its tensor does. */
static void keep_state(ig_tensor *to, int64_t row, double *state, int64_t count) {
    ig_span_write_f64(to, row * count, count, state, false);
    ig_span_read_f64(ig_span_of(to, row * count, 1), count, state);
}

static void run_row(layer *l, const ig_op *op, const ig_tensor *const *in, int64_t row,
                    int64_t length, ig_tensor *out) {
    bool is_lstm = l->cell == IG_CELL_lstm;
    bool is_reverse = ig_attr_int(op, IG_rnn_reverse, 0) != 0;
    ig_span_read_f64(ig_span_of(in[H0], row * l->outs, 1), l->outs, l->h);
    ig_span_write_f64(&out[1], row * l->outs, l->outs, l->h, false);
    if (is_lstm) {
        ig_span_read_f64(ig_span_of(in[C0], row * l->hidden, 1), l->hidden, l->c);
        ig_span_write_f64(&out[2], row * l->hidden, l->hidden, l->c, false);
    }
    for (int64_t i = 0; i < length; i++) {
        int64_t t = is_reverse ? length - 1 - i : i;
        int64_t position = t * l->batch + row;
        ig_span_read_f64(ig_span_of(in[X], position * l->ins, 1), l->ins, l->x);
        step_layer(l);
        keep_state(&out[1], row, l->h, l->outs);
        if (is_lstm) {
            keep_state(&out[2], row, l->c, l->hidden);
        }
        ig_span_write_f64(&out[0], position * l->outs, l->outs, l->h, false);
    }
}

ig_status ig_fold_rnn(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                      ig_tensor *out) {
    const ig_tensor *x = in[X], *lengths;
    layer l = { .cell = (ig_rnn_cell)ig_attr_int(op, IG_rnn_cell, 0),
                .clip = ig_attr_float(op, IG_rnn_clip, 0),
                .is_reset_first = ig_attr_int(op, IG_rnn_reset_first, 0),
                .is_coupled = ig_attr_int(op, IG_rnn_couple, 0) != 0 };
    IG_TRY(read_layer(eval, op, in, &l, &lengths));
    int64_t dims[] = { x->dims[0], l.batch, l.outs }, cells[] = { l.batch, l.hidden };
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, 3, dims, &out[0]));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, 2, dims + 1, &out[1]));
    if (l.cell == IG_CELL_lstm) {
        IG_TRY(ig_eval_alloc(eval, op, x->dtype, 2, cells, &out[2]));
    }
    for (int64_t row = 0; row < l.batch; row++) {
        int64_t length = lengths ? ig_tensor_get_i64(lengths, row) : x->dims[0];
        if (length < 0 || length > x->dims[0]) {
            return FOLD_ERROR(eval, op,
                              "rnn: length %lld of row %lld is outside of %lld steps",
                              (long long)length, (long long)row, (long long)x->dims[0]);
        }
        run_row(&l, op, in, row, length, out);
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}
