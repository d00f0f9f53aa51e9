/* slice, pad and range.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"
#include "ir/infer/slice.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- slice ---- */

typedef struct cut {
    int64_t start[IG_TENSOR_RANK], size[IG_TENSOR_RANK], step[IG_TENSOR_RANK];
} cut;

static ig_status cut_by_operands(ig_eval *eval, const ig_op *op,
                                 const ig_tensor *const *in, cut *c) {
    const ig_tensor *x = in[0];
    uint64_t seen = 0;
    for (uint32_t i = 2; i < op->operand_count; i++) {
        if (in[i]->count != in[1]->count) {
            return FOLD_ERROR(eval, op,
                              "slice: operand %u has %lld entries, operand 1 has %lld",
                              i, (long long)in[i]->count, (long long)in[1]->count);
        }
    }
    for (int64_t i = 0; i < in[1]->count; i++) {
        int64_t axis = op->operand_count > 3 ? ig_tensor_get_i64(in[3], i) : i;
        int64_t step = op->operand_count > 4 ? ig_tensor_get_i64(in[4], i) : 1;
        axis += axis < 0 ? x->rank : 0;
        if (axis < 0 || axis >= x->rank || seen >> axis & 1 || step == 0) {
            return FOLD_ERROR(
                eval, op,
                "slice: axis %lld with step %lld does not fit a tensor of rank %u or was given before",
                (long long)axis, (long long)step, x->rank);
        }
        seen |= (uint64_t)1 << axis;
        c->step[axis] = step;
        ig_slice_numbers(ig_tensor_get_i64(in[1], i), ig_tensor_get_i64(in[2], i), step,
                         x->dims[axis], &c->start[axis], &c->size[axis]);
    }
    return IG_OK;
}

/* Is `start + i * step` an element for all i < size? */
static bool slice_fits(int64_t start, int64_t size, int64_t step, int64_t extent) {
    int64_t span, last;
    if (size == 0) {
        return true;
    }
    return ig_mul_i64(size - 1, step, &span) && ig_add_i64(start, span, &last) &&
           start >= 0 && start < extent && last >= 0 && last < extent;
}

static ig_status cut_by_sizes(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                              cut *c) {
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    for (uint32_t i = 0; i < x->rank; i++) {
        ig_dim start = op->attrs[IG_slice_starts].as.dims[i];
        ig_dim size = op->attrs[IG_slice_sizes].as.dims[i];
        IG_TRY(ig_eval_dim(eval, op, start, &c->start[i]));
        IG_TRY(ig_eval_extent(eval, op, size, &c->size[i]));
        c->step[i] = ig_attr_is_set(op, IG_slice_steps) ? steps->as.ints[i] : 1;
        if (!slice_fits(c->start[i], c->size[i], c->step[i], x->dims[i])) {
            return FOLD_ERROR(
                eval, op,
                "slice: %lld elements from %lld by %lld leave axis %u, whose extent is %lld",
                (long long)c->size[i], (long long)c->start[i], (long long)c->step[i], i,
                (long long)x->dims[i]);
        }
    }
    return IG_OK;
}

ig_status ig_fold_slice(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                        ig_tensor *out) {
    const ig_tensor *x = in[0];
    cut c = { 0 };
    int64_t strides[IG_TENSOR_RANK], start = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        c.size[i] = x->dims[i];
        c.step[i] = 1;
    }
    IG_TRY(ig_attr_is_set(op, IG_slice_sizes) ? cut_by_sizes(eval, op, x, &c)
                                              : cut_by_operands(eval, op, in, &c));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, c.size, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_strides_of(x->rank, x->dims, strides);
    for (uint32_t i = 0; i < x->rank; i++) {
        start += c.start[i] * strides[i];
        strides[i] *= c.size[i] > 1 ? c.step[i] : 1; /* a lone element takes no step */
    }
    ig_walk_copy(out, x, x->rank, c.size, start, strides);
    return IG_OK;
}

/* ---- insert ---- */

ig_status ig_fold_insert(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0], *y = in[1];
    const ig_attr *steps = &op->attrs[IG_insert_steps];
    int64_t strides[IG_TENSOR_RANK], first = 0, from = 0;
    ig_strides_of(x->rank, x->dims, strides);
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t start,
            step = ig_attr_is_set(op, IG_insert_steps) ? steps->as.ints[i] : 1;
        IG_TRY(ig_eval_dim(eval, op, op->attrs[IG_insert_starts].as.dims[i], &start));
        if (!slice_fits(start, y->dims[i], step, x->dims[i])) {
            return FOLD_ERROR(
                eval, op,
                "insert: %lld elements from %lld by %lld leave axis %u, whose extent is %lld",
                (long long)y->dims[i], (long long)start, (long long)step, i,
                (long long)x->dims[i]);
        }
        first += y->count ? start * strides[i] : 0;
        strides[i] *= y->dims[i] > 1 ? step : 1;
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    ig_span_copy(out, 0, x, 0, out->count);
    ig_walk walk = { .operand_count = 1, .strides = { strides }, .at = { first } };
    for (ig_walk_start(&walk, y->rank, y->dims); walk.is_inside; ig_walk_next(&walk)) {
        ig_span_copy(out, walk.at[0], y, from++, 1);
    }
    return IG_OK;
}

/* ---- pad ---- */

#define PAD_MAX ((int64_t)1 << 62) /* keeps positions in range */

typedef struct padding {
    int64_t before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
} padding;

static ig_status read_padding(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, padding *pad) {
    uint32_t rank = in[0]->rank;
    if (ig_attr_is_set(op, IG_pad_before)) {
        for (uint32_t i = 0; i < rank; i++) {
            ig_dim before = op->attrs[IG_pad_before].as.dims[i];
            ig_dim after = op->attrs[IG_pad_after].as.dims[i];
            IG_TRY(ig_eval_dim(eval, op, before, &pad->before[i]));
            IG_TRY(ig_eval_dim(eval, op, after, &pad->after[i]));
        }
        return IG_OK;
    }
    const ig_tensor *axes = op->operand_count > 3 ? in[3] : NULL;
    int64_t count = axes ? axes->count : rank;
    if (in[1]->count != 2 * count) {
        return FOLD_ERROR(eval, op, "pad: %lld pads for %lld axes",
                          (long long)in[1]->count, (long long)count);
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = axes ? ig_tensor_get_i64(axes, i) : i;
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= rank) {
            return FOLD_ERROR(eval, op,
                              "pad: axis %lld is outside of a tensor of rank %u",
                              (long long)axis, rank);
        }
        pad->before[axis] = ig_tensor_get_i64(in[1], i);
        pad->after[axis] = ig_tensor_get_i64(in[1], i + count);
    }
    return IG_OK;
}

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

/* The element of an axis that position `at` shows, or -1 for the padding value. */
static int64_t source_of(ig_pad_mode mode, int64_t at, int64_t extent) {
    if (at >= 0 && at < extent) {
        return at;
    }
    switch (mode) {
    case IG_PAD_constant:
        return -1;
    case IG_PAD_edge:
        return at < 0 ? 0 : extent - 1;
    case IG_PAD_wrap:
        return floor_mod(at, extent);
    case IG_PAD_reflect:
        break;
    }
    if (extent == 1) {
        return 0;
    }
    int64_t period = 2 * (extent - 1), phase = floor_mod(at, period);
    return phase < extent ? phase : period - phase;
}

static ig_status pad_extents(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                             const padding *pad, int64_t *dims) {
    bool is_constant = ig_attr_int(op, IG_pad_mode, 0) == IG_PAD_constant;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (pad->before[i] < -PAD_MAX ||
            !ig_add_i64(x->dims[i], pad->before[i], &dims[i]) ||
            !ig_add_i64(dims[i], pad->after[i], &dims[i]) || dims[i] < 0) {
            return FOLD_ERROR(
                eval, op, "pad: %lld and %lld do not fit axis %u, whose extent is %lld",
                (long long)pad->before[i], (long long)pad->after[i], i,
                (long long)x->dims[i]);
        }
        if (!is_constant && x->dims[i] == 0 && dims[i] > 0) {
            return FOLD_ERROR(eval, op, "pad: axis %u has no element to repeat", i);
        }
    }
    return IG_OK;
}

ig_status ig_fold_pad(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                      ig_tensor *out) {
    const ig_tensor *x = in[0];
    ig_pad_mode mode = (ig_pad_mode)ig_attr_int(op, IG_pad_mode, IG_PAD_constant);
    uint32_t value = ig_attr_is_set(op, IG_pad_before) ? 1 : 2;
    padding pad = { 0 };
    int64_t dims[IG_TENSOR_RANK], strides[IG_TENSOR_RANK], to = 0;
    IG_TRY(read_padding(eval, op, in, &pad));
    IG_TRY(pad_extents(eval, op, x, &pad, dims));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, out));
    ig_strides_of(x->rank, x->dims, strides);
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, x->rank, dims); walk.is_inside; ig_walk_next(&walk)) {
        int64_t from = 0;
        for (uint32_t d = 0; d < x->rank && from >= 0; d++) {
            int64_t at = source_of(mode, walk.index[d] - pad.before[d], x->dims[d]);
            from = at < 0 ? -1 : from + at * strides[d];
        }
        if (from >= 0) {
            ig_span_copy(out, to, x, from, 1);
        } else if (op->operand_count > value) {
            ig_span_copy(out, to, in[value], 0, 1);
        }
        to++;
    }
    return IG_OK;
}

/* ---- range ---- */

static ig_status range_of_ints(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    int64_t start = ig_tensor_get_i64(in[0], 0), limit = ig_tensor_get_i64(in[1], 0);
    int64_t step = ig_tensor_get_i64(in[2], 0);
    if (step == 0) {
        return FOLD_ERROR(eval, op, "range: the step is 0");
    }
    int64_t extent = ig_range_count_ints(start, limit, step);
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, 1, &extent, out));
    for (int64_t i = 0; i < extent; i++) {
        ig_tensor_set_i64(out, i,
                          (int64_t)((uint64_t)start + (uint64_t)i * (uint64_t)step));
    }
    return IG_OK;
}

ig_status ig_fold_range(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                        ig_tensor *out) {
    for (uint32_t i = 0; i < 3; i++) {
        if (in[i]->count != 1) {
            return FOLD_ERROR(eval, op, "range: operand %u is not one number", i);
        }
    }
    if (!ig_dtype_is_float(in[0]->dtype)) {
        return range_of_ints(eval, op, in, out);
    }
    double start = ig_tensor_get_f64(in[0], 0), limit = ig_tensor_get_f64(in[1], 0);
    double step = ig_tensor_get_f64(in[2], 0);
    int64_t count;
    if (!ig_range_count(start, limit, step, &count)) {
        return FOLD_ERROR(eval, op,
                          "range: from %g to %g by %g has no number of elements", start,
                          limit, step);
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, 1, &count, out));
    for (int64_t i = 0; i < count; i++) {
        ig_tensor_set_f64(out, i, start + (double)i * step);
    }
    return IG_OK;
}
