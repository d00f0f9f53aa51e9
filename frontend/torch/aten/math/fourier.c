/* Rows of Fourier transforms (compose/math/fourier.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/complex.h"
#include "ir/build/extent.h"

#include <math.h>

/* torch's fft_norm_mode: the divisor of the sums. */
enum { BY_NOTHING, BY_ROOT, BY_COUNT };

typedef struct transform {
    ig_complex x;
    const int64_t *axes;
    uint32_t axis_count;
    int64_t mode;
    double count; /* of elements that each sum has */
} transform;

/* (self, dim, normalization, …) */
static ig_status read_transform(ig_ts_call *call, transform *out) {
    const ig_ts_tensor *self = ig_ts_peek(call, 0);
    IG_TRY(call->e->status);
    if (!self) {
        return ig_ts_fail(call, IG_INVALID, "self is not a tensor");
    }
    bool is_complex = self->dtype->is_complex;
    ig_dtype part = (ig_dtype)self->type->dtype;
    *out = (transform){ .mode = ig_aten_int(call, 2), .count = 1 };
    if (is_complex) {
        out->x = ig_aten_complex_parts(call, 0, part);
    } else {
        out->x.re = ig_expr_to_float(call->e, ig_aten_tensor(call, 0));
    }
    IG_TRY(call->e->status);
    if (out->x.re->type->rank == 0) {
        return ig_ts_fail(call, IG_INVALID, "self is one number, without an axis");
    }
    out->axes = ig_aten_axes(call, 1, out->x.re->type->rank, false, &out->axis_count);
    return call->e->status;
}

static ig_value *divide_sums(ig_ts_call *call, const transform *t, ig_value *x) {
    if (t->mode == BY_NOTHING) {
        return x;
    }
    double by = t->mode == BY_ROOT ? sqrt(t->count) : t->count;
    return ig_expr_with(call->e, IG_OP_mul, x, 1 / by);
}

static ig_status give_divided(ig_ts_call *call, const transform *t) {
    ig_complex y = { divide_sums(call, t, t->x.re), divide_sums(call, t, t->x.im) };
    IG_TRY(call->e->status);
    return ig_aten_give_complex(call, y);
}

/* Along one axis; `count` frequencies of it (0: all). */
static void apply_axis(ig_ts_call *call, transform *t, uint32_t axis, bool is_half,
                       bool inverse) {
    int64_t n = 0;
    if (call->e->status != IG_OK) {
        return;
    }
    (void)ig_dim_constant(call->module, ig_expr_extent(call->e, t->x.re, axis), &n);
    t->x = ig_compose_dft(call->e, t->x, axis, is_half ? n / 2 + 1 : 0, inverse);
    t->count *= (double)n;
}

/* _fft_c2c(self, dim, normalization, forward) */
ig_status ig_ts_op_fft_c2c(ig_ts_call *call) {
    transform t;
    bool inverse = !ig_aten_bool(call, 3);
    IG_TRY(read_transform(call, &t));
    if (!t.x.im) {
        return ig_ts_fail(call, IG_INVALID, "takes a complex tensor");
    }
    for (uint32_t i = 0; i < t.axis_count; i++) {
        apply_axis(call, &t, (uint32_t)t.axes[i], false, inverse);
    }
    IG_TRY(call->e->status);
    return give_divided(call, &t);
}

/* _fft_r2c(self, dim, normalization, onesided): half of the last axis */
ig_status ig_ts_op_fft_r2c(ig_ts_call *call) {
    transform t;
    bool is_half = ig_aten_bool(call, 3);
    IG_TRY(read_transform(call, &t));
    if (t.axis_count == 0 || t.x.im) {
        return ig_ts_fail(call, IG_INVALID, "takes a real tensor and one axis or more");
    }
    for (uint32_t i = t.axis_count; i > 0; i--) {
        apply_axis(call, &t, (uint32_t)t.axes[i - 1], is_half && i == t.axis_count,
                   false);
    }
    IG_TRY(call->e->status);
    return give_divided(call, &t);
}

/* _fft_c2r(self, dim, normalization, last_dim_size) */
ig_status ig_ts_op_fft_c2r(ig_ts_call *call) {
    transform t;
    int64_t n = ig_aten_int(call, 3);
    IG_TRY(read_transform(call, &t));
    if (t.axis_count == 0 || !t.x.im) {
        return ig_ts_fail(call, IG_INVALID,
                          "takes a complex tensor and one axis or more");
    }
    for (uint32_t i = 0; i + 1 < t.axis_count; i++) {
        apply_axis(call, &t, (uint32_t)t.axes[i], false, true);
    }
    uint32_t last = (uint32_t)t.axes[t.axis_count - 1];
    ig_value *y = ig_compose_dft_to_real(call->e, t.x, last, n);
    t.count *= (double)n;
    return ig_aten_give(call, divide_sums(call, &t, y));
}
