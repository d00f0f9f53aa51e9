/* cumulate and cumulate_index: products, extremes and logsumexp so far.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

/* The running value along a line. */
typedef struct running {
    double f;
    int64_t i, at;
    bool is_empty;
} running;

static double log_add_exp(double a, double b) {
    double max = a > b || isnan(a) ? a : b, rest = a > b || isnan(a) ? b : a;
    return isinf(max) && max == rest ? max : max + log1p(exp(rest - max));
}

/* Is x at least as extreme as the value before it?  NaN stays. */
static bool is_replaced(const ig_tensor *x, const running *next, const running *old,
                        bool is_max) {
    if (old->is_empty) {
        return true;
    }
    if (ig_dtype_is_float(x->dtype)) {
        bool is_beyond = is_max ? next->f >= old->f : next->f <= old->f;
        return isnan(next->f) || (!isnan(old->f) && is_beyond);
    }
    if (ig_dtypes[x->dtype].class == IG_UINT) {
        return is_max ? (uint64_t)next->i >= (uint64_t)old->i
                      : (uint64_t)next->i <= (uint64_t)old->i;
    }
    return is_max ? next->i >= old->i : next->i <= old->i;
}

static running join_elements(const ig_tensor *x, ig_cumulate kind, running old,
                             running next) {
    if (kind == IG_CUMULATE_max || kind == IG_CUMULATE_min) {
        return is_replaced(x, &next, &old, kind == IG_CUMULATE_max) ? next : old;
    }
    if (kind == IG_CUMULATE_logsumexp) {
        next.f = old.is_empty ? next.f : log_add_exp(old.f, next.f);
    } else {
        next.f = old.is_empty ? next.f : old.f * next.f;
        next.i = old.is_empty ? next.i : (int64_t)((uint64_t)old.i * (uint64_t)next.i);
    }
    return next;
}

static running read_running(const ig_tensor *x, int64_t at, int64_t position) {
    running r = { .at = position };
    if (ig_dtype_is_float(x->dtype)) {
        r.f = ig_tensor_get_f64(x, at);
    } else {
        r.i = ig_tensor_get_i64(x, at);
    }
    return r;
}

typedef struct line {
    ig_cumulate kind;
    bool is_exclusive, is_reverse, wants_index;
    ig_around around;
} line;

static void write_running(const line *l, ig_tensor *out, int64_t at, const running *r) {
    if (l->wants_index) {
        ig_tensor_set_i64(out, at, r->at);
    } else if (ig_dtype_is_float(out->dtype)) {
        ig_tensor_set_f64(out, at, r->is_empty ? 1 : r->f);
    } else {
        ig_tensor_set_i64(out, at, r->is_empty ? 1 : r->i);
    }
}

static void cumulate_line(const line *l, const ig_tensor *x, int64_t start,
                          ig_tensor *out) {
    running total = { .is_empty = true };
    for (int64_t i = 0; i < l->around.extent; i++) {
        int64_t step = l->is_reverse ? l->around.extent - 1 - i : i;
        int64_t at = start + step * l->around.inner;
        if (l->is_exclusive) {
            write_running(l, out, at, &total);
        }
        total = join_elements(x, l->kind, total, read_running(x, at, step));
        if (!l->is_exclusive) {
            write_running(l, out, at, &total);
        }
    }
}

static ig_status fold_lines(ig_eval *eval, const ig_op *op, const ig_tensor *x, line *l,
                            ig_tensor *out) {
    int64_t wanted = l->wants_index ? ig_attr_int(op, IG_cumulate_index_axis, 0)
                                    : ig_attr_int(op, IG_cumulate_axis, 0);
    ig_dtype dtype = l->wants_index ? IG_DT_i64 : x->dtype;
    IG_TRY(ig_eval_alloc(eval, op, dtype, x->rank, x->dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    l->around = ig_around_axis(x, ig_axis_of(wanted, x->rank));
    for (int64_t i = 0; i < l->around.outer * l->around.inner; i++) {
        int64_t block = i / l->around.inner * l->around.extent * l->around.inner;
        cumulate_line(l, x, block + i % l->around.inner, out);
    }
    return IG_OK;
}

ig_status ig_fold_cumulate(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    line l = { .kind = (ig_cumulate)ig_attr_int(op, IG_cumulate_op, 0),
               .is_exclusive = ig_attr_int(op, IG_cumulate_exclusive, 0) != 0,
               .is_reverse = ig_attr_int(op, IG_cumulate_reverse, 0) != 0 };
    return fold_lines(eval, op, in[0], &l, out);
}

ig_status ig_fold_cumulate_index(ig_eval *eval, const ig_op *op,
                                 const ig_tensor *const *in, ig_tensor *out) {
    bool is_min = ig_attr_int(op, IG_cumulate_index_op, 0) == IG_EXTREME_min;
    line l = { .kind = is_min ? IG_CUMULATE_min : IG_CUMULATE_max,
               .wants_index = true };
    return fold_lines(eval, op, in[0], &l, out);
}
