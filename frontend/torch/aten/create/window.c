/* Windows of signal processing: hann, hamming, blackman, bartlett, kaiser.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A window of a known length is a constant, any other is computed from its places;
 * kaiser's length is known.  A periodic one is the window of one more element without
 * its last; that of one element is 1.
 */
#include "frontend/torch/aten/aten.h"

#include <math.h>

enum { LENGTH_MAX = 1 << 20 };

/* Rows' variants: the window, + 16 for each argument before dtype. */
typedef enum window_kind { HAMMING, HANN, BLACKMAN, BARTLETT, KAISER } window_kind;
enum { ARGUMENT = 16 };

typedef struct window {
    window_kind kind;
    double first, second; /* alpha and beta of hamming, beta of kaiser */
    double last;          /* index of the last element of the whole window */
} window;

/* The modified Bessel function of the first kind, order 0, by its power series. */
static double bessel_i0(double x) {
    double term = 1, sum = 1;
    for (int k = 1; term > sum * 1e-17 && k < 10000; k++) {
        term *= x / (2 * k) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double kaiser_at(const window *w, double i) {
    double x = 2 * i / w->last - 1, inside = 1 - x * x;
    double beta = w->first;
    return bessel_i0(beta * sqrt(inside > 0 ? inside : 0)) / bessel_i0(beta);
}

static double window_at(const window *w, double i) {
    double turn = 2 * M_PI * i / w->last;
    switch (w->kind) {
    case BLACKMAN:
        return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
    case BARTLETT:
        return 1 - fabs(2 * i / w->last - 1);
    case KAISER:
        return kaiser_at(w, i);
    case HANN:
    case HAMMING:
        break;
    }
    return w->first - w->second * cos(turn);
}

/* `before` arguments precede dtype: the length, periodic, then numbers. */
static window read_window(ig_ts_call *call, uint32_t before) {
    window w = { .kind = (window_kind)(call->row->variant % ARGUMENT) };
    bool is_hann = w.kind == HANN;
    w.first = w.kind == KAISER ? 12 : is_hann ? 0.5 : 0.54;
    w.second = is_hann ? 0.5 : 0.46;
    w.first = before > 2 ? ig_aten_float(call, 2) : w.first;
    w.second = before > 3 ? ig_aten_float(call, 3) : w.second;
    return w;
}

/* numbers[0] + numbers[1] cos(turn) + numbers[2] cos(2 turn) */
static ig_value *add_turns(ig_expr *e, ig_value *turn, const double numbers[3]) {
    ig_value *one = ig_expr_with(e, IG_OP_mul, ig_build_cos(e, turn), numbers[1]);
    one = ig_expr_with(e, IG_OP_add, one, numbers[0]);
    if (numbers[2] == 0) {
        return one;
    }
    ig_value *two = ig_build_cos(e, ig_expr_with(e, IG_OP_mul, turn, 2));
    return ig_build_add(e, one, ig_expr_with(e, IG_OP_mul, two, numbers[2]));
}

/* f64 [count] of a count that the import does not know; not of kaiser. */
static ig_value *open_window(ig_expr *e, const window *w, ig_dim count,
                             bool is_periodic) {
    ig_dim last = is_periodic ? count : ig_dim_sub(e->module, count, ig_dim_of(1));
    ig_value *part = ig_build_div(e, ig_expr_iota(e, IG_DT_f64, count),
                                  ig_expr_dim(e, last, IG_DT_f64));
    ig_value *turn = ig_expr_with(e, IG_OP_mul, part, 2 * M_PI), *value;
    if (w->kind == BARTLETT) {
        value = ig_expr_with(e, IG_OP_add, ig_expr_with(e, IG_OP_mul, part, 2), -1);
        value = ig_expr_number_with(e, IG_OP_sub, 1, ig_expr_map1(e, IG_OP_abs, value));
    } else {
        const double blackman[] = { 0.42, -0.5, 0.08 };
        const double cosine[] = { w->first, -w->second, 0 };
        value = add_turns(e, turn, w->kind == BLACKMAN ? blackman : cosine);
    }
    ig_value *is_one = ig_expr_with_integer(e, IG_OP_eq,
                                            ig_expr_dim(e, count, IG_DT_i64), 1);
    return ig_build_where(e, is_one, ig_expr_number(e, IG_DT_f64, 1), value);
}

/* hann_window(window_length, periodic, …, dtype, layout, device, pin_memory) */
ig_status ig_ts_op_window(ig_ts_call *call) {
    uint32_t before = (uint32_t)call->row->variant / ARGUMENT;
    window w = read_window(call, before);
    bool is_periodic = before < 2 || ig_aten_bool(call, 1);
    ig_dtype dtype = ig_aten_dtype(call, before, IG_DT_f32);
    if (!ig_ts_is_known(&call->args[0]) && w.kind != KAISER &&
        ig_dtype_is_float(dtype)) {
        ig_value *open = open_window(call->e, &w, ig_aten_dim(call, 0), is_periodic);
        return ig_aten_give(call, ig_aten_cast(call, open, dtype));
    }
    int64_t count = ig_aten_int(call, 0);
    IG_TRY(call->e->status);
    if (count < 0 || !ig_dtype_is_float(dtype)) {
        return ig_ts_fail(call, IG_INVALID, "a window of %lld elements of %s",
                          (long long)count, ig_dtypes[dtype].name);
    }
    if (count > LENGTH_MAX || fabs(w.first) > 700) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "a window of %lld elements",
                          (long long)count);
    }
    double *values = IG_NEW_ARRAY(call->arena, double, (size_t)count + 1);
    w.last = (double)(is_periodic ? count : count - 1);
    for (int64_t i = 0; i < count; i++) {
        values[i] = count == 1 ? 1 : window_at(&w, (double)i);
    }
    ig_value *value = ig_expr_constant(call->e, "window", IG_DT_f64, 1, &count, values);
    return ig_aten_give(call, ig_aten_cast(call, value, dtype));
}
