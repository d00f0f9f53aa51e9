/* Windows that slide over the spatial axes of x.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/window.h"

#include "base/checked.h"
#include "ir/semantics/check.h"

/* ---- attributes ---- */

static bool is_set(const ig_op *op, uint32_t slot) {
    return slot != IG_WINDOW_NO_SLOT && ig_attr_is_set(op, slot);
}

static int64_t int_at(const ig_op *op, uint32_t slot, uint32_t axis) {
    return is_set(op, slot) ? op->attrs[slot].as.ints[axis] : 1;
}

static ig_dim dim_at(const ig_op *op, uint32_t slot, uint32_t axis) {
    return is_set(op, slot) ? op->attrs[slot].as.dims[axis] : ig_dim_of(0);
}

static ig_status check_positive(const ig_op *op, uint32_t slot, uint32_t rank) {
    if (!is_set(op, slot)) {
        return IG_OK;
    }
    const char *name = ig_ops[op->code].attrs[slot].name;
    if (op->attrs[slot].count != rank) {
        return INFER_ERROR(op, "%s has %u entries, expected %u, one a spatial axis",
                           name, op->attrs[slot].count, rank);
    }
    for (uint32_t i = 0; i < rank; i++) {
        int64_t value = op->attrs[slot].as.ints[i];
        if (value < 1 || value > INT32_MAX) {
            return INFER_ERROR(op, "entry %u of %s is %lld", i, name, (long long)value);
        }
    }
    return IG_OK;
}

static ig_status check_pads(const ig_op *op, uint32_t slot, uint32_t rank) {
    if (is_set(op, slot) && op->attrs[slot].count != rank) {
        return INFER_ERROR(op, "%s has %u entries, expected %u, one a spatial axis",
                           ig_ops[op->code].attrs[slot].name, op->attrs[slot].count,
                           rank);
    }
    return IG_OK;
}

ig_status ig_window_check(const ig_op *op, const ig_window_slots *slots,
                          uint32_t rank) {
    if (rank > IG_WINDOW_RANK) {
        return INFER_FAIL(op, IG_LIMIT, "%u spatial axes are more than %d", rank,
                          IG_WINDOW_RANK);
    }
    IG_TRY(check_positive(op, slots->strides, rank));
    IG_TRY(check_positive(op, slots->dilations, rank));
    IG_TRY(check_pads(op, slots->before, rank));
    return check_pads(op, slots->after, rank);
}

/* ---- in dim expressions ---- */

ig_window_axis ig_window_axis_of(const ig_op *op, const ig_window_slots *slots,
                                 uint32_t axis, ig_dim in, ig_dim kernel) {
    return (ig_window_axis){ .in = in,
                             .kernel = kernel,
                             .before = dim_at(op, slots->before, axis),
                             .after = dim_at(op, slots->after, axis),
                             .stride = int_at(op, slots->strides, axis),
                             .dilation = int_at(op, slots->dilations, axis) };
}

/* From a window's first position to its last: dilation * (kernel - 1). */
static ig_dim reach_of(ig_module *module, const ig_window_axis *axis) {
    ig_dim steps = ig_dim_sub(module, axis->kernel, ig_dim_of(1));
    return ig_dim_mul(module, ig_dim_const(module, axis->dilation), steps);
}

ig_dim ig_window_count(ig_module *module, const ig_window_axis *axis, bool ceil_mode) {
    ig_dim stride = ig_dim_const(module, axis->stride);
    ig_dim padded = ig_dim_add(module, axis->in, axis->before);
    ig_dim whole = ig_dim_add(module, padded, axis->after);
    ig_dim last = ig_dim_sub(module, ig_dim_sub(module, whole, ig_dim_of(1)),
                             reach_of(module, axis));
    if (!ceil_mode) {
        return ig_dim_add(module, ig_dim_floor_div(module, last, stride), ig_dim_of(1));
    }
    ig_dim count = ig_dim_add(module, ig_dim_ceil_div(module, last, stride),
                              ig_dim_of(1));
    return ig_dim_min(module, count, ig_dim_ceil_div(module, padded, stride));
}

ig_status ig_window_dims(const ig_op *op, const ig_window_slots *slots,
                         const ig_dim *kernel, ig_dim *dims) {
    ig_module *module = ig_op_module(op);
    const ig_type *x = ig_operand_type(op, 0);
    dims[0] = x->dims[0];
    for (uint32_t d = 0; d + 2 < x->rank; d++) {
        int64_t min, max;
        ig_window_axis axis = ig_window_axis_of(op, slots, d, x->dims[d + 1],
                                                kernel[d]);
        dims[d + 1] = ig_window_count(module, &axis, false);
        ig_dim_range(module, dims[d + 1], &min, &max);
        if (max < 0) {
            return INFER_ERROR(op,
                               "operand 0 is %s: the windows do not fit its axis %u",
                               ig_operand_text(op, 0), d + 1);
        }
    }
    return IG_OK;
}

ig_dim ig_window_spread(ig_module *module, const ig_window_axis *axis) {
    ig_dim steps = ig_dim_sub(module, axis->in, ig_dim_of(1));
    ig_dim span = ig_dim_mul(module, steps, ig_dim_const(module, axis->stride));
    span = ig_dim_add(module, ig_dim_add(module, span, ig_dim_of(1)),
                      reach_of(module, axis));
    span = ig_dim_sub(module, span, axis->before);
    return ig_dim_sub(module, span, axis->after);
}

/* ---- in numbers ---- */

enum { PAD_MAX = 1 << 30 };

static bool is_modest(int64_t pad) {
    return pad >= -PAD_MAX && pad <= PAD_MAX;
}

/* The extent of result axis `d`; false on overflow. */
static bool find_extent(ig_window *w, uint32_t d, bool ceil_mode) {
    int64_t reach, whole, spread;
    if (!ig_mul_i64(w->dilation[d], w->kernel[d] - 1, &reach) ||
        !ig_add_i64(w->in[d], w->before[d], &whole) ||
        !ig_add_i64(whole, w->after[d], &whole) ||
        !ig_mul_i64(w->in[d] - 1, w->stride[d], &spread) ||
        !ig_add_i64(spread, reach, &spread) || spread > INT64_MAX / 4 ||
        !is_modest(w->before[d]) || !is_modest(w->after[d])) {
        return false;
    }
    int64_t stride = w->stride[d], last = whole - 1 - reach;
    if (w->is_transposed) {
        w->out[d] = spread + 1 - w->before[d] - w->after[d];
    } else if (!ceil_mode) {
        w->out[d] = ig_floor_div(last, stride) + 1;
    } else {
        int64_t count = ig_ceil_div(last, stride) + 1;
        int64_t max = ig_ceil_div(w->in[d] + w->before[d], stride);
        w->out[d] = count < max ? count : max;
    }
    return true;
}

ig_status ig_window_eval(ig_eval *eval, const ig_op *op, const ig_window_source *from,
                         ig_window *out) {
    const ig_window_slots *slots = from->slots;
    *out = (ig_window){ .rank = from->rank,
                        .is_transposed = from->is_transposed,
                        .in_count = 1,
                        .out_count = 1,
                        .tap_count = 1 };
    for (uint32_t d = 0; d < from->rank; d++) {
        out->in[d] = from->in[d];
        out->kernel[d] = from->kernel[d];
        out->stride[d] = int_at(op, slots->strides, d);
        out->dilation[d] = int_at(op, slots->dilations, d);
        IG_TRY(ig_eval_dim(eval, op, dim_at(op, slots->before, d), &out->before[d]));
        IG_TRY(ig_eval_dim(eval, op, dim_at(op, slots->after, d), &out->after[d]));
        if (!find_extent(out, d, from->ceil_mode) || out->out[d] < 0) {
            return FOLD_ERROR(
                eval, op,
                "%s: windows of %lld positions do not fit spatial axis %u, whose extent is %lld",
                ig_ops[op->code].name, (long long)out->kernel[d], d,
                (long long)out->in[d]);
        }
        if (!ig_mul_i64(out->in_count, out->in[d], &out->in_count) ||
            !ig_mul_i64(out->out_count, out->out[d], &out->out_count) ||
            !ig_mul_i64(out->tap_count, out->kernel[d], &out->tap_count)) {
            return FOLD_FAIL(eval, op, IG_LIMIT, "%s: the extents are too large",
                             ig_ops[op->code].name);
        }
    }
    return IG_OK;
}

/* The element that tap `j` of window `o` meets along axis `d`, or -1. */
static int64_t element_of(const ig_window *w, uint32_t d, int64_t o, int64_t j) {
    int64_t at = o * w->stride[d] + j * w->dilation[d] - w->before[d];
    if (w->is_transposed) {
        at = o + w->before[d] - j * w->dilation[d];
        if (at % w->stride[d] != 0) {
            return -1;
        }
        at /= w->stride[d];
    }
    return at >= 0 && at < w->in[d] ? at : -1;
}

int64_t ig_window_taps(const ig_window *window, const int64_t *index, ig_tap *out) {
    int64_t count = 0, tap = 0;
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, window->rank, window->kernel); walk.is_inside;
         ig_walk_next(&walk)) {
        int64_t x = 0;
        for (uint32_t d = 0; d < window->rank && x >= 0; d++) {
            int64_t at = element_of(window, d, index[d], walk.index[d]);
            x = at < 0 ? -1 : x * window->in[d] + at;
        }
        if (x >= 0) {
            out[count++] = (ig_tap){ x, tap };
        }
        tap++;
    }
    return count;
}
