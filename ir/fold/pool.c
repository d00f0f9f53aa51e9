/* pool, adaptive_pool and the places of their maxima.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each place of the result the elements of its window are listed once, then each
 * plane (image and channel) reads them.  Averages are summed in double and rounded
 * once.  A NaN is the maximum of its window.
 */
#include "ir/hooks.h"
#include "ir/semantics/window.h"

#include <math.h>

typedef struct pool pool;
struct pool {
    ig_window window;
    const ig_tensor *x;
    ig_tensor *out;
    ig_pool_op op;
    double divisor; /* of the present window */
    ig_tap *taps;
    int64_t tap_count;
    bool is_whole, is_column_major;
    void (*write)(const pool *p, int64_t plane, int64_t to);
};

/* ---- one window ---- */

/* Is element `a` a better maximum than element `b`, which comes before it? */
static bool is_larger(const ig_tensor *x, int64_t a, int64_t b) {
    if (ig_dtype_is_float(x->dtype)) {
        double value = ig_tensor_get_f64(x, a), best = ig_tensor_get_f64(x, b);
        return value > best || (isnan(value) && !isnan(best));
    }
    int64_t value = ig_tensor_get_i64(x, a), best = ig_tensor_get_i64(x, b);
    bool is_unsigned = ig_dtypes[x->dtype].class == IG_UINT;
    return is_unsigned ? (uint64_t)value > (uint64_t)best : value > best;
}

/* The tap of the first maximum; there is at least one. */
static int64_t find_largest(const pool *p, int64_t start) {
    int64_t best = 0;
    for (int64_t t = 1; t < p->tap_count; t++) {
        if (is_larger(p->x, start + p->taps[t].x, start + p->taps[best].x)) {
            best = t;
        }
    }
    return best;
}

/* The maximum of no elements: the minimum of the dtype. */
static void write_min(ig_tensor *out, int64_t to) {
    const ig_dtype_info *info = &ig_dtypes[out->dtype];
    if (info->class == IG_FLOAT) {
        ig_tensor_set_f64(out, to, -INFINITY);
    } else if (info->class == IG_SINT) {
        ig_tensor_set_i64(out, to, -(int64_t)(UINT64_MAX >> (65 - info->bits)) - 1);
    } else {
        ig_tensor_set_i64(out, to, 0);
    }
}

static void write_max(const pool *p, int64_t plane, int64_t to) {
    int64_t start = plane * p->window.in_count;
    if (p->tap_count == 0) {
        write_min(p->out, to);
        return;
    }
    ig_span_copy(p->out, to, p->x, start + p->taps[find_largest(p, start)].x, 1);
}

static void write_sum(const pool *p, int64_t plane, int64_t to) {
    int64_t start = plane * p->window.in_count;
    if (ig_dtype_is_float(p->x->dtype)) {
        double sum = 0;
        for (int64_t t = 0; t < p->tap_count; t++) {
            sum += ig_tensor_get_f64(p->x, start + p->taps[t].x);
        }
        ig_tensor_set_f64(p->out, to, sum / p->divisor);
        return;
    }
    uint64_t sum = 0;
    for (int64_t t = 0; t < p->tap_count; t++) {
        sum += (uint64_t)ig_tensor_get_i64(p->x, start + p->taps[t].x);
    }
    ig_tensor_set_i64(p->out, to, (int64_t)sum);
}

/* The number of an element when the plane's first axis runs fastest. */
static int64_t by_columns(const ig_window *w, int64_t element) {
    int64_t at = 0, index[IG_WINDOW_RANK];
    for (uint32_t d = w->rank; d-- > 0;) {
        index[d] = element % w->in[d];
        element /= w->in[d];
    }
    for (uint32_t d = w->rank; d-- > 0;) {
        at = at * w->in[d] + index[d];
    }
    return at;
}

static void write_index(const pool *p, int64_t plane, int64_t to) {
    int64_t start = plane * p->window.in_count;
    int64_t at = p->tap_count ? p->taps[find_largest(p, start)].x : 0;
    at = p->is_column_major ? by_columns(&p->window, at) : at;
    ig_tensor_set_i64(p->out, to, at + (p->is_whole ? start : 0));
}

/* ---- all windows ---- */

/* Counts the window's taps that hit x or its padding. */
static double padded_count(const ig_window *w, const int64_t *index) {
    double count = 1;
    for (uint32_t d = 0; d < w->rank; d++) {
        int64_t end = w->in[d] + w->after[d];
        int64_t left = end - (index[d] * w->stride[d] - w->before[d]);
        int64_t own = left > 0 ? (left - 1) / w->dilation[d] + 1 : 0;
        count *= (double)(own < w->kernel[d] ? own : w->kernel[d]);
    }
    return count;
}

static double divisor_of(const pool *p, const ig_op *op, const int64_t *index) {
    if (p->op != IG_WINDOW_average) {
        return 1;
    }
    if (ig_attr_is_set(op, IG_pool_divisor)) {
        return (double)ig_attr_int(op, IG_pool_divisor, 1);
    }
    bool counts_pad = ig_attr_int(op, IG_pool_count_pad, 0) != 0;
    double count = counts_pad ? padded_count(&p->window, index) : (double)p->tap_count;
    return count > 0 ? count : 1;
}

static ig_status take_taps(ig_eval *eval, const ig_op *op, pool *p) {
    const ig_window *w = &p->window;
    int64_t max = w->tap_count < w->in_count ? w->tap_count : w->in_count;
    return ig_eval_scratch(eval, op, max, sizeof *p->taps, &p->taps);
}

static ig_status alloc_result(ig_eval *eval, const ig_op *op, pool *p, ig_dtype dtype) {
    int64_t dims[IG_WINDOW_RANK + 2] = { p->x->dims[0], p->x->dims[1] };
    for (uint32_t d = 0; d < p->window.rank; d++) {
        dims[2 + d] = p->window.out[d];
    }
    return ig_eval_alloc(eval, op, dtype, p->x->rank, dims, p->out);
}

static void write_planes(const pool *p, int64_t position) {
    int64_t planes = p->out->count / p->window.out_count;
    for (int64_t plane = 0; plane < planes; plane++) {
        p->write(p, plane, plane * p->window.out_count + position);
    }
}

static ig_status run_pool(ig_eval *eval, const ig_op *op, pool *p) {
    int64_t position = 0;
    ig_walk walk = { 0 };
    IG_TRY(take_taps(eval, op, p));
    if (p->out->count == 0) {
        return IG_OK;
    }
    for (ig_walk_start(&walk, p->window.rank, p->window.out); walk.is_inside;
         ig_walk_next(&walk)) {
        p->tap_count = ig_window_taps(&p->window, walk.index, p->taps);
        p->divisor = divisor_of(p, op, walk.index);
        write_planes(p, position++);
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}

ig_status ig_fold_pool(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    static const ig_window_slots slots = { IG_pool_strides, IG_pool_dilations,
                                           IG_pool_before, IG_pool_after };
    ig_window_source from = {
        .slots = &slots,
        .in = in[0]->dims + 2,
        .kernel = op->attrs[IG_pool_kernel].as.ints,
        .rank = in[0]->rank - 2,
        .ceil_mode = ig_attr_int(op, IG_pool_ceil_mode, 0) != 0,
    };
    pool p = { .x = in[0], .out = out };
    p.op = (ig_pool_op)ig_attr_int(op, IG_pool_op, IG_WINDOW_max);
    p.write = p.op == IG_WINDOW_max ? write_max : write_sum;
    IG_TRY(ig_window_eval(eval, op, &from, &p.window));
    IG_TRY(alloc_result(eval, op, &p, in[0]->dtype));
    return run_pool(eval, op, &p);
}

ig_status ig_fold_pool_indices(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    static const ig_window_slots slots = { IG_pool_indices_strides,
                                           IG_pool_indices_dilations,
                                           IG_pool_indices_before,
                                           IG_pool_indices_after };
    ig_window_source from = {
        .slots = &slots,
        .in = in[0]->dims + 2,
        .kernel = op->attrs[IG_pool_indices_kernel].as.ints,
        .rank = in[0]->rank - 2,
        .ceil_mode = ig_attr_int(op, IG_pool_indices_ceil_mode, 0) != 0,
    };
    pool p = { .x = in[0], .out = out, .write = write_index };
    p.is_whole = ig_attr_int(op, IG_pool_indices_whole, 0) != 0;
    p.is_column_major = ig_attr_int(op, IG_pool_indices_column_major, 0) != 0;
    IG_TRY(ig_window_eval(eval, op, &from, &p.window));
    IG_TRY(alloc_result(eval, op, &p, IG_DT_i64));
    return run_pool(eval, op, &p);
}

/* ---- adaptive ---- */

/* The elements of adaptive window `index`. */
static int64_t adaptive_taps(const ig_window *w, const int64_t *index, ig_tap *out) {
    int64_t first[IG_WINDOW_RANK], size[IG_WINDOW_RANK], count = 0;
    for (uint32_t d = 0; d < w->rank; d++) {
        first[d] = index[d] * w->in[d] / w->out[d];
        int64_t end = ((index[d] + 1) * w->in[d] + w->out[d] - 1) / w->out[d];
        size[d] = end - first[d];
    }
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, w->rank, size); walk.is_inside; ig_walk_next(&walk)) {
        int64_t x = 0;
        for (uint32_t d = 0; d < w->rank; d++) {
            x = x * w->in[d] + first[d] + walk.index[d];
        }
        out[count++] = (ig_tap){ .x = x };
    }
    return count;
}

static ig_status run_adaptive(ig_eval *eval, const ig_op *op, uint32_t slot, pool *p,
                              ig_dtype dtype) {
    ig_window *w = &p->window;
    *w = (ig_window){ .rank = p->x->rank - 2, .in_count = 1, .out_count = 1 };
    for (uint32_t d = 0; d < w->rank; d++) {
        IG_TRY(ig_eval_extent(eval, op, op->attrs[slot].as.dims[d], &w->out[d]));
        w->in[d] = p->x->dims[2 + d];
        w->in_count *= w->in[d];
        w->out_count *= w->out[d];
        if (w->in[d] == 0 && w->out[d] > 0) {
            return FOLD_ERROR(eval, op, "%s: axis %u has no element",
                              ig_ops[op->code].name, 2 + d);
        }
    }
    w->tap_count = w->in_count;
    IG_TRY(alloc_result(eval, op, p, dtype));
    IG_TRY(take_taps(eval, op, p));
    int64_t position = 0;
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, w->rank, w->out); walk.is_inside && p->out->count > 0;
         ig_walk_next(&walk)) {
        p->tap_count = adaptive_taps(w, walk.index, p->taps);
        p->divisor = (double)p->tap_count;
        write_planes(p, position++);
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}

ig_status ig_fold_adaptive_pool(ig_eval *eval, const ig_op *op,
                                const ig_tensor *const *in, ig_tensor *out) {
    bool is_max = ig_attr_int(op, IG_adaptive_pool_op, 0) == IG_ADAPTIVE_max;
    pool p = { .x = in[0], .out = out, .write = is_max ? write_max : write_sum };
    return run_adaptive(eval, op, IG_adaptive_pool_sizes, &p, in[0]->dtype);
}

ig_status ig_fold_adaptive_pool_indices(ig_eval *eval, const ig_op *op,
                                        const ig_tensor *const *in, ig_tensor *out) {
    pool p = { .x = in[0], .out = out, .write = write_index };
    return run_adaptive(eval, op, IG_adaptive_pool_indices_sizes, &p, IG_DT_i64);
}
