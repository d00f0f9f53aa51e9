/* conv: sums over windows and channels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each place of the result the elements under its window are listed once; then each
 * image and channel is one sum over its group's channels and that list.  Floats are
 * summed in double and rounded once, integers wrap.
 */
#include "ir/hooks.h"
#include "ir/semantics/window.h"

typedef struct conv {
    ig_window window;
    int64_t images, channels, outs, group;
    double *x_f, *w_f, *bias_f;
    int64_t *x_i, *w_i, *bias_i;
    ig_tap *taps;
    int64_t tap_count; /* of the present window */
} conv;

static ig_status read_floats(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                             double **out) {
    IG_TRY(ig_eval_scratch(eval, op, from->count, sizeof **out, out));
    ig_span_read_f64(ig_span_of(from, 0, 1), from->count, *out);
    return IG_OK;
}

static ig_status read_ints(ig_eval *eval, const ig_op *op, const ig_tensor *from,
                           int64_t **out) {
    IG_TRY(ig_eval_scratch(eval, op, from->count, sizeof **out, out));
    ig_span_read_i64(ig_span_of(from, 0, 1), from->count, *out);
    return IG_OK;
}

static bool has_bias(const ig_op *op) {
    return op->code == IG_OP_conv && op->operand_count > 2;
}

static ig_status read_operands(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, conv *c) {
    if (ig_dtype_is_float(in[0]->dtype)) {
        IG_TRY(read_floats(eval, op, in[0], &c->x_f));
        IG_TRY(read_floats(eval, op, in[1], &c->w_f));
        return has_bias(op) ? read_floats(eval, op, in[2], &c->bias_f) : IG_OK;
    }
    IG_TRY(read_ints(eval, op, in[0], &c->x_i));
    IG_TRY(read_ints(eval, op, in[1], &c->w_i));
    return has_bias(op) ? read_ints(eval, op, in[2], &c->bias_i) : IG_OK;
}

/* Where the weights of (input channel `i` of the group, result channel `o`) begin. */
static int64_t weights_at(const conv *c, int64_t o, int64_t i) {
    int64_t ins = c->channels / c->group, outs = c->outs / c->group;
    int64_t row = o * ins + i;
    if (c->window.is_transposed) {
        row = (o / outs * ins + i) * outs + o % outs;
    }
    return row * c->window.tap_count;
}

static double sum_floats(const conv *c, int64_t n, int64_t o) {
    int64_t ins = c->channels / c->group, first = o / (c->outs / c->group) * ins;
    double sum = c->bias_f ? c->bias_f[o] : 0;
    for (int64_t i = 0; i < ins; i++) {
        const double *x = c->x_f + (n * c->channels + first + i) * c->window.in_count;
        const double *w = c->w_f + weights_at(c, o, i);
        for (int64_t t = 0; t < c->tap_count; t++) {
            sum += x[c->taps[t].x] * w[c->taps[t].tap];
        }
    }
    return sum;
}

static int64_t sum_ints(const conv *c, int64_t n, int64_t o) {
    int64_t ins = c->channels / c->group, first = o / (c->outs / c->group) * ins;
    uint64_t sum = c->bias_i ? (uint64_t)c->bias_i[o] : 0;
    for (int64_t i = 0; i < ins; i++) {
        const int64_t *x = c->x_i + (n * c->channels + first + i) * c->window.in_count;
        const int64_t *w = c->w_i + weights_at(c, o, i);
        for (int64_t t = 0; t < c->tap_count; t++) {
            sum += (uint64_t)x[c->taps[t].x] * (uint64_t)w[c->taps[t].tap];
        }
    }
    return (int64_t)sum;
}

static void write_position(const conv *c, ig_tensor *out, int64_t position) {
    for (int64_t n = 0; n < c->images; n++) {
        for (int64_t o = 0; o < c->outs; o++) {
            int64_t to = (n * c->outs + o) * c->window.out_count + position;
            if (c->x_f) {
                ig_tensor_set_f64(out, to, sum_floats(c, n, o));
            } else {
                ig_tensor_set_i64(out, to, sum_ints(c, n, o));
            }
        }
    }
}

static ig_status check_shapes(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, conv *c) {
    int64_t first = in[1]->dims[0], second = in[1]->dims[1];
    bool is_transposed = c->window.is_transposed;
    c->group = ig_attr_int(op, IG_conv_group, 1);
    c->images = in[0]->dims[0];
    c->channels = in[0]->dims[1];
    c->outs = is_transposed ? second * c->group : first;
    int64_t own = is_transposed ? first : second * c->group;
    if (own != c->channels || first % c->group != 0 ||
        (has_bias(op) && in[2]->dims[0] != c->outs)) {
        return FOLD_ERROR(
            eval, op,
            "%s: %lld channels in %lld groups do not fit the weights, [%lld, %lld …], or the bias",
            ig_ops[op->code].name, (long long)c->channels, (long long)c->group,
            (long long)first, (long long)second);
    }
    return IG_OK;
}

ig_status ig_fold_conv(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    static const ig_window_slots slots = { IG_conv_strides, IG_conv_dilations,
                                           IG_conv_before, IG_conv_after };
    ig_window_source from = {
        .slots = &slots,
        .in = in[0]->dims + 2,
        .kernel = in[1]->dims + 2,
        .rank = in[0]->rank - 2,
        .is_transposed = ig_attr_int(op, IG_conv_transposed, 0) != 0,
    };
    conv c = { .images = 0 };
    int64_t dims[IG_WINDOW_RANK + 2], position = 0;
    IG_TRY(ig_window_eval(eval, op, &from, &c.window));
    IG_TRY(check_shapes(eval, op, in, &c));
    dims[0] = c.images;
    dims[1] = c.outs;
    for (uint32_t d = 0; d < from.rank; d++) {
        dims[2 + d] = c.window.out[d];
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[0]->rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    IG_TRY(read_operands(eval, op, in, &c));
    int64_t max = c.window.tap_count < c.window.in_count ? c.window.tap_count
                                                         : c.window.in_count;
    IG_TRY(ig_eval_scratch(eval, op, max, sizeof *c.taps, &c.taps));
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, c.window.rank, c.window.out); walk.is_inside;
         ig_walk_next(&walk)) {
        c.tap_count = ig_window_taps(&c.window, walk.index, c.taps);
        write_position(&c, out, position++);
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}
