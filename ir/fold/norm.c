/* softmax, layer_norm and cumsum: along one axis, or over the last ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>
#include <string.h>

/* ---- softmax ---- */

static void softmax_row(const ig_op *op, const ig_tensor *x, ig_tensor *out, int64_t at,
                        const ig_around *around) {
    bool is_log = ig_attr_int(op, IG_softmax_log, 0) != 0;
    double largest = -INFINITY, sum = 0;
    int64_t end = at + around->extent * around->inner;
    for (int64_t i = at; i < end; i += around->inner) {
        double value = ig_tensor_get_f64(x, i);
        largest = value > largest ? value : largest;
    }
    bool is_zero = largest == -INFINITY && ig_attr_int(op, IG_softmax_empty_zero, 0);
    largest = is_zero ? 0 : largest;
    for (int64_t i = at; i < end; i += around->inner) {
        sum += exp(ig_tensor_get_f64(x, i) - largest);
    }
    sum = is_zero && sum == 0 ? 1 : sum; /* or NaN */
    for (int64_t i = at; i < end; i += around->inner) {
        double shifted = ig_tensor_get_f64(x, i) - largest;
        double value = is_log ? shifted - log(sum) : exp(shifted) / sum;
        ig_tensor_set_f64(out, i, value);
    }
}

ig_status ig_fold_softmax(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    const ig_tensor *x = in[0];
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_softmax_axis, 0), x->rank);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, axis);
    for (int64_t o = 0; o < around.outer; o++) {
        for (int64_t i = 0; i < around.inner; i++) {
            int64_t at = o * around.extent * around.inner + i;
            softmax_row(op, x, out, at, &around);
        }
    }
    return IG_OK;
}

/* ---- layer_norm ---- */

/* Scale or bias for each of the `count` normalised elements; absent: `value`. */
static ig_status spread_factor(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, uint32_t operand,
                               double value, double *out) {
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_layer_norm_axis, 0), in[0]->rank);
    uint32_t rank = in[0]->rank - axis;
    int64_t strides[IG_TENSOR_RANK], to = 0;
    const int64_t *dims = in[0]->dims + axis;
    const ig_tensor *factor = operand < op->operand_count ? in[operand] : NULL;
    for (uint32_t i = 0; factor && i < factor->rank; i++) {
        int64_t extent = factor->dims[factor->rank - 1 - i];
        if (i >= rank || (extent != 1 && extent != dims[rank - 1 - i])) {
            return FOLD_ERROR(
                eval, op,
                "layer_norm: operand %u does not broadcast to the normalised axes",
                operand);
        }
    }
    if (factor) {
        ig_strides_broadcast(factor, rank, strides);
    }
    ig_walk walk = { .operand_count = factor ? 1 : 0, .strides = { strides } };
    for (ig_walk_start(&walk, rank, dims); walk.is_inside; ig_walk_next(&walk)) {
        out[to++] = factor ? ig_tensor_get_f64(factor, walk.at[0]) : value;
    }
    return IG_OK;
}

/* The parameters shared by all rows. */
typedef struct norm {
    int64_t count; /* elements of a row */
    bool is_rms;
    double epsilon, *scale, *bias;
} norm;

static void normalise_row(const ig_tensor *x, ig_tensor *out, int64_t at,
                          const norm *n) {
    double sum = 0, squares = 0;
    int64_t count = n->count;
    for (int64_t i = 0; i < count; i++) {
        sum += ig_tensor_get_f64(x, at + i);
    }
    double mean = n->is_rms ? 0 : ig_fold_sum(x->dtype, sum) / (double)count;
    for (int64_t i = 0; i < count; i++) {
        double centred = ig_tensor_get_f64(x, at + i) - mean;
        squares += centred * centred;
    }
    squares = ig_fold_sum(x->dtype, squares);
    double deviation = sqrt(squares / (double)count + n->epsilon);
    for (int64_t i = 0; i < count; i++) {
        double value = (ig_tensor_get_f64(x, at + i) - mean) / deviation;
        ig_tensor_set_f64(out, at + i, value * n->scale[i] + n->bias[i]);
    }
}

ig_status ig_fold_layer_norm(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0];
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_layer_norm_axis, 0), x->rank);
    norm n = { .epsilon = ig_attr_float(op, IG_layer_norm_epsilon, 0),
               .is_rms = ig_attr_int(op, IG_layer_norm_rms, 0) != 0 };
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, axis);
    n.count = around.extent * around.inner;
    IG_TRY(ig_eval_scratch(eval, op, n.count, sizeof *n.scale, &n.scale));
    IG_TRY(ig_eval_scratch(eval, op, n.count, sizeof *n.bias, &n.bias));
    IG_TRY(spread_factor(eval, op, in, 1, 1, n.scale));
    IG_TRY(spread_factor(eval, op, in, 2, 0, n.bias));
    for (int64_t o = 0; o < around.outer; o++) {
        normalise_row(x, out, o * n.count, &n);
    }
    return IG_OK;
}

/* ---- cumsum ---- */

/* The running sum before (exclusive) or after element `at` is added. */
typedef struct running {
    double f;
    uint64_t i;
} running;

static void write_running(ig_tensor *out, int64_t at, const running *total) {
    if (ig_dtype_is_float(out->dtype)) {
        ig_tensor_set_f64(out, at, total->f);
    } else {
        ig_tensor_set_i64(out, at, (int64_t)total->i);
    }
}

static void add_running(const ig_tensor *x, int64_t at, running *total) {
    if (ig_dtype_is_float(x->dtype)) {
        total->f += ig_tensor_get_f64(x, at);
    } else {
        total->i += (uint64_t)ig_tensor_get_i64(x, at);
    }
}

static running larger_of(const running *a, const running *b) {
    return (running){ .f = a->f > b->f ? a->f : b->f,
                      .i = (int64_t)a->i > (int64_t)b->i ? a->i : b->i };
}

ig_status ig_fold_cumsum(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0];
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_cumsum_axis, 0), x->rank);
    bool is_exclusive = ig_attr_int(op, IG_cumsum_exclusive, 0);
    bool is_reverse = ig_attr_int(op, IG_cumsum_reverse, 0);
    bool is_complete = ig_attr_int(op, IG_cumsum_complete, 0);
    bool is_rising = ig_attr_int(op, IG_cumsum_rising, 0);
    int64_t dims[IG_TENSOR_RANK];
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] += is_complete;
    is_exclusive = is_exclusive || is_complete;
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, out));
    ig_around around = out->count ? ig_around_axis(x, axis) : (ig_around){ 0 };
    for (int64_t lane = 0; lane < around.outer * around.inner; lane++) {
        int64_t block = lane / around.inner * around.extent * around.inner;
        int64_t start = block + lane % around.inner;
        /* a complete line is longer by one element */
        int64_t more = is_complete ? lane / around.inner * around.inner : 0;
        running total = { 0 }, shown = { 0 };
        for (int64_t i = 0; i < around.extent; i++) {
            int64_t step = is_reverse ? around.extent - 1 - i : i;
            int64_t at = start + step * around.inner;
            if (is_exclusive) {
                write_running(out, at + more, &shown);
            }
            add_running(x, at, &total);
            shown = is_rising ? larger_of(&shown, &total) : total;
            if (!is_exclusive) {
                write_running(out, at, &shown);
            }
        }
        if (is_complete) {
            write_running(out, start + around.extent * around.inner + more, &shown);
        }
    }
    return IG_OK;
}
