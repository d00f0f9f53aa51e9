/* Windows in the forms that kernels have: no padding, nothing transposed, no averages.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A transposed convolution is one over x with stride - 1 zeros behind each element,
 * with its weights mirrored and their channels exchanged.
 *
 * An average is a sum divided by the number of elements, which is a constant where no
 * window reaches beyond x, else the same sum of windows over ones.
 */
#include "compose/compose.h"

#include <math.h>
#include <string.h>

/* ---- padding ---- */

static ig_dim dim_at(const ig_op *op, uint32_t slot, uint32_t axis) {
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.dims[axis] : ig_dim_of(0);
}

static int64_t int_at(const ig_op *op, uint32_t slot, uint32_t axis) {
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.ints[axis] : 1;
}

/* Pads the axes from 2 on with `value` (NULL: 0); x itself where that is nothing. */
static ig_value *pad_space(ig_builder *b, ig_value *x, const ig_dim *before,
                           const ig_dim *after, ig_value *value) {
    ig_dim wide[2][IG_TENSOR_RANK] = { { 0 } };
    uint32_t rank = x->type->rank;
    ig_module *module = b->graph->module;
    bool is_none = true;
    for (uint32_t d = 2; d < rank; d++) {
        wide[0][d] = before[d - 2];
        wide[1][d] = after[d - 2];
        is_none = is_none && ig_dim_is(before[d - 2], 0) && ig_dim_is(after[d - 2], 0);
    }
    if (is_none) {
        return x;
    }
    ig_value *operands[] = { x, value };
    ig_attr attrs[IG_pad_attr_count] = { { 0 } };
    attrs[IG_pad_before] = ig_attr_of_dims(module, wide[0], rank);
    attrs[IG_pad_after] = ig_attr_of_dims(module, wide[1], rank);
    return ig_make(b, IG_OP_pad, value ? 2 : 1, operands, attrs);
}

/* ---- conv ---- */

static ig_value *plain_conv(ig_builder *b, const ig_op *op, ig_value *x, ig_value *w,
                            bool has_strides) {
    ig_value *operands[] = { x, w, ig_op_operand(op, 2) };
    ig_attr attrs[IG_conv_attr_count];
    memcpy(attrs, op->attrs, sizeof attrs);
    attrs[IG_conv_before] = attrs[IG_conv_after] = (ig_attr){ 0 };
    attrs[IG_conv_transposed] = (ig_attr){ 0 };
    if (!has_strides) {
        attrs[IG_conv_strides] = (ig_attr){ 0 };
    }
    return ig_make(b, IG_OP_conv, op->operand_count, operands, attrs);
}

/* stride - 1 zeros behind each element. */
static ig_value *spread(ig_builder *b, const ig_op *op, ig_value *x) {
    ig_module *module = b->graph->module;
    ig_dim after[IG_TENSOR_RANK] = { 0 }, before[IG_TENSOR_RANK] = { 0 };
    ig_dim dims[IG_TENSOR_RANK], wide[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank, space = rank - 2;
    bool is_dense = true;
    memcpy(dims, x->type->dims, rank * sizeof *dims);
    wide[0] = dims[0];
    wide[1] = dims[1];
    for (uint32_t d = 0; d < space; d++) {
        int64_t stride = int_at(op, IG_conv_strides, d);
        wide[2 + 2 * d] = dims[2 + d];
        wide[3 + 2 * d] = ig_dim_of(1);
        after[1 + 2 * d] = ig_dim_of(stride - 1);
        dims[2 + d] = ig_dim_mul(module, dims[2 + d], ig_dim_of(stride));
        is_dense = is_dense && stride == 1;
    }
    if (is_dense) {
        return x;
    }
    x = ig_make_reshape(b, x, 2 + 2 * space, wide);
    x = pad_space(b, x, before, after, NULL);
    return ig_make_reshape(b, x, rank, dims);
}

/* [C, O / group, k…] to [O, C / group, k… mirrored]. */
static ig_value *mirror(ig_builder *b, const ig_op *op, ig_value *w) {
    ig_module *module = b->graph->module;
    uint32_t rank = w->type->rank;
    ig_dim group = ig_dim_const(module, ig_attr_int(op, IG_conv_group, 1));
    ig_dim dims[IG_TENSOR_RANK], starts[IG_TENSOR_RANK] = { 0 };
    int64_t perm[IG_TENSOR_RANK], steps[IG_TENSOR_RANK];
    ig_dim ins = ig_dim_exact_div(module, w->type->dims[0], group);
    dims[0] = group;
    dims[1] = ins;
    memcpy(dims + 2, w->type->dims + 1, (rank - 1) * sizeof *dims);
    for (uint32_t d = 0; d <= rank; d++) {
        perm[d] = d == 1 ? 2 : d == 2 ? 1 : d;
    }
    w = ig_make_reshape(b, w, rank + 1, dims);
    w = ig_expand_transpose(b, w, perm);
    dims[0] = ig_dim_mul(module, group, dims[2]);
    dims[1] = ins;
    memmove(dims + 2, dims + 3, (rank - 2) * sizeof *dims);
    w = ig_make_reshape(b, w, rank, dims);
    for (uint32_t d = 0; d < rank; d++) {
        starts[d] = d < 2 ? ig_dim_of(0) : ig_dim_sub(module, dims[d], ig_dim_of(1));
        steps[d] = d < 2 ? 1 : -1;
    }
    ig_attr attrs[IG_slice_attr_count] = { { 0 } };
    attrs[IG_slice_starts] = ig_attr_of_dims(module, starts, rank);
    attrs[IG_slice_sizes] = ig_attr_of_dims(module, dims, rank);
    attrs[IG_slice_steps] = ig_attr_of_ints(module, steps, rank);
    return ig_make(b, IG_OP_slice, 1, &w, attrs);
}

static ig_value *untranspose(ig_builder *b, ig_op *op) {
    ig_module *module = b->graph->module;
    ig_value *x = op->operands[0].value, *w = op->operands[1].value;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        ig_dim steps = ig_dim_sub(module, w->type->dims[2 + d], ig_dim_of(1));
        ig_dim dilation = ig_dim_of(int_at(op, IG_conv_dilations, d));
        ig_dim reach = ig_dim_mul(module, steps, dilation);
        ig_dim behind = ig_dim_const(module, int_at(op, IG_conv_strides, d) - 1);
        before[d] = ig_dim_sub(module, reach, dim_at(op, IG_conv_before, d));
        after[d] = ig_dim_sub(module, reach, dim_at(op, IG_conv_after, d));
        after[d] = ig_dim_sub(module, after[d], behind);
    }
    x = pad_space(b, spread(b, op, x), before, after, NULL);
    return plain_conv(b, op, x, mirror(b, op, w), false);
}

ig_value *ig_expand_conv_form(ig_builder *b, ig_op *op) {
    if (ig_attr_int(op, IG_conv_transposed, 0)) {
        return untranspose(b, op);
    }
    if (!ig_attr_is_set(op, IG_conv_before) && !ig_attr_is_set(op, IG_conv_after)) {
        return NULL;
    }
    ig_value *x = op->operands[0].value;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        before[d] = dim_at(op, IG_conv_before, d);
        after[d] = dim_at(op, IG_conv_after, d);
    }
    x = pad_space(b, x, before, after, NULL);
    return plain_conv(b, op, x, op->operands[1].value, true);
}

/* ---- pool ---- */

typedef struct pool_pads {
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK]; /* as the op says */
    ig_dim reach[IG_TENSOR_RANK]; /* behind x, so that the last window fits */
} pool_pads;

static pool_pads pads_of(ig_module *module, const ig_op *op) {
    const ig_type *in = op->operands[0].value->type, *out = op->results[0].type;
    pool_pads p = { .before = { 0 } };
    for (uint32_t d = 0; d + 2 < in->rank; d++) {
        int64_t size = op->attrs[IG_pool_kernel].as.ints[d];
        int64_t step = int_at(op, IG_pool_strides, d);
        int64_t wide = int_at(op, IG_pool_dilations, d) * (size - 1) + 1;
        ig_dim last = ig_dim_sub(module, out->dims[2 + d], ig_dim_of(1));
        p.before[d] = dim_at(op, IG_pool_before, d);
        p.after[d] = dim_at(op, IG_pool_after, d);
        p.reach[d] = p.after[d];
        if (ig_attr_int(op, IG_pool_ceil_mode, 0)) {
            ig_dim end = ig_dim_add(module, ig_dim_mul(module, last, ig_dim_of(step)),
                                    ig_dim_of(wide));
            ig_dim own = ig_dim_add(module, in->dims[2 + d], p.before[d]);
            p.reach[d] = ig_dim_sub(module, end, own);
        }
    }
    return p;
}

static ig_value *plain_pool(ig_builder *b, const ig_op *op, ig_value *x,
                            ig_pool_op kind) {
    ig_attr attrs[IG_pool_attr_count] = { { 0 } };
    attrs[IG_pool_op] = ig_attr_of_enum(kind);
    attrs[IG_pool_kernel] = op->attrs[IG_pool_kernel];
    attrs[IG_pool_strides] = op->attrs[IG_pool_strides];
    attrs[IG_pool_dilations] = op->attrs[IG_pool_dilations];
    return ig_make(b, IG_OP_pool, 1, &x, attrs);
}

/* -inf, or the least integer. */
static ig_value *least(ig_builder *b, ig_dtype dtype) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_FLOAT) {
        return ig_make_float(b, dtype, -(double)INFINITY);
    }
    int64_t most = info->class == IG_SINT ? (int64_t)(UINT64_MAX >> (65 - info->bits))
                                          : -1;
    return ig_make_cast(b, ig_make_i64(b, -most - 1), dtype);
}

/* How many elements each window has, as [1, 1, …]. */
static ig_value *count_elements(ig_builder *b, const ig_op *op, ig_dtype dtype,
                                const pool_pads *p) {
    static const ig_dim none[IG_TENSOR_RANK];
    ig_module *module = b->graph->module;
    const ig_type *in = op->operands[0].value->type;
    ig_dim dims[IG_TENSOR_RANK], rest[IG_TENSOR_RANK];
    bool counts_pad = ig_attr_int(op, IG_pool_count_pad, 0) != 0;
    dims[0] = dims[1] = ig_dim_of(1);
    for (uint32_t d = 0; d + 2 < in->rank; d++) {
        ig_dim padded = ig_dim_add(module, in->dims[2 + d], p->before[d]);
        padded = ig_dim_add(module, padded, p->after[d]);
        dims[2 + d] = counts_pad ? padded : in->dims[2 + d];
        rest[d] = counts_pad ? ig_dim_sub(module, p->reach[d], p->after[d])
                             : p->reach[d];
    }
    ig_value *one = ig_make_float(b, dtype, 1);
    ig_value *ones = ig_expand_broadcast(b, one, in->rank, dims);
    ones = pad_space(b, ones, counts_pad ? none : p->before, rest, NULL);
    ig_value *count = plain_pool(b, op, ones, IG_WINDOW_sum);
    return ig_make2(b, IG_OP_max, count, one);
}

static bool reaches_out(const pool_pads *p, uint32_t rank) {
    for (uint32_t d = 0; d + 2 < rank; d++) {
        if (!ig_dim_is(p->before[d], 0) || !ig_dim_is(p->after[d], 0) ||
            !ig_dim_is(p->reach[d], 0)) {
            return true;
        }
    }
    return false;
}

static ig_value *average(ig_builder *b, const ig_op *op, const pool_pads *p) {
    ig_value *x = ig_expand_widen(b, op->operands[0].value);
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    ig_dtype wide = (ig_dtype)x->type->dtype;
    double taps = 1;
    ig_value *sum = plain_pool(b, op, pad_space(b, x, p->before, p->reach, NULL),
                               IG_WINDOW_sum);
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        taps *= (double)op->attrs[IG_pool_kernel].as.ints[d];
    }
    if (ig_attr_is_set(op, IG_pool_divisor)) {
        taps = (double)ig_attr_int(op, IG_pool_divisor, 1);
    } else if (reaches_out(p, x->type->rank)) {
        ig_value *count = count_elements(b, op, wide, p);
        return ig_make_cast(b, ig_make2(b, IG_OP_div, sum, count), dtype);
    }
    return ig_make_cast(b, ig_expand_with(b, IG_OP_div, sum, taps), dtype);
}

ig_value *ig_expand_pool_form(ig_builder *b, ig_op *op) {
    ig_pool_op kind = (ig_pool_op)ig_attr_int(op, IG_pool_op, 0);
    bool is_padded = ig_attr_is_set(op, IG_pool_before) ||
                     ig_attr_is_set(op, IG_pool_after) ||
                     ig_attr_int(op, IG_pool_ceil_mode, 0);
    if (kind != IG_WINDOW_average && !is_padded) {
        return NULL;
    }
    pool_pads p = pads_of(b->graph->module, op);
    if (kind == IG_WINDOW_average) {
        return average(b, op, &p);
    }
    ig_value *x = op->operands[0].value;
    ig_value *value = kind == IG_WINDOW_max ? least(b, (ig_dtype)x->type->dtype) : NULL;
    return plain_pool(b, op, pad_space(b, x, p.before, p.reach, value), kind);
}

/* ---- adaptive pools ---- */

/* Over everything, or windows of one size. */
static ig_value *as_pool(ig_builder *b, const ig_op *op, ig_value *x) {
    ig_module *module = b->graph->module;
    const ig_attr *sizes = &op->attrs[IG_adaptive_pool_sizes];
    int64_t kernel[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < sizes->count; d++) {
        int64_t in, out;
        if (!ig_dim_constant(module, x->type->dims[2 + d], &in) ||
            !ig_dim_constant(module, sizes->as.dims[d], &out) || out < 1 ||
            in % out != 0 || in == 0) {
            return NULL;
        }
        kernel[d] = in / out;
    }
    bool is_max = ig_attr_int(op, IG_adaptive_pool_op, 0) == IG_ADAPTIVE_max;
    ig_attr attrs[IG_pool_attr_count] = { { 0 } };
    attrs[IG_pool_op] = ig_attr_of_enum(is_max ? IG_WINDOW_max : IG_WINDOW_average);
    attrs[IG_pool_kernel] = ig_attr_of_ints(module, kernel, sizes->count);
    attrs[IG_pool_strides] = attrs[IG_pool_kernel];
    return ig_make(b, IG_OP_pool, 1, &x, attrs);
}

static bool is_global(const ig_op *op) {
    const ig_attr *sizes = &op->attrs[IG_adaptive_pool_sizes];
    for (uint32_t d = 0; d < sizes->count; d++) {
        if (!ig_dim_is(sizes->as.dims[d], 1)) {
            return false;
        }
    }
    return true;
}

/* Elements start … end - 1 of each window as [out, most], later ones again the last. */
typedef struct spans {
    ig_value *ids, *is_there, *count;
} spans;

static spans spans_of(ig_builder *b, ig_dim in, ig_dim out) {
    ig_module *module = b->graph->module;
    ig_dim most = ig_dim_add(module, ig_dim_ceil_div(module, in, out), ig_dim_of(1));
    ig_value *i = ig_expand_along(b, ig_expand_range(b, out), 0, 2);
    ig_value *t = ig_expand_along(b, ig_expand_range(b, most), 1, 2);
    ig_dim both[2] = { in, out };
    ig_value *dims = ig_make_dims(b, both, 2), *extents[2];
    for (uint32_t k = 0; k < 2; k++) {
        extents[k] = ig_expand_gather(b, dims, ig_make_i64(b, k), 0);
    }
    ig_value *first = ig_make2(b, IG_OP_mul, i, extents[0]);
    ig_value *past = ig_make2(b, IG_OP_add, first, extents[0]);
    past = ig_expand_with(b, IG_OP_sub, ig_make2(b, IG_OP_add, past, extents[1]), 1);
    ig_value *start = ig_make2(b, IG_OP_div, first, extents[1]);
    ig_value *end = ig_make2(b, IG_OP_div, past, extents[1]);
    ig_value *at = ig_make2(b, IG_OP_add, start, t);
    ig_value *last = ig_expand_with(b, IG_OP_sub, end, 1);
    return (spans){ ig_make2(b, IG_OP_min, at, last), ig_make2(b, IG_OP_lt, at, end),
                    ig_make2(b, IG_OP_sub, end, start) };
}

/* One axis: the elements of each window side by side, and those reduced. */
static ig_value *adapt_axis(ig_builder *b, ig_value *x, uint32_t axis, ig_dim out,
                            bool is_max) {
    uint32_t rank = x->type->rank + 1, kept = 0;
    ig_dim dims[IG_TENSOR_RANK];
    spans s = spans_of(b, x->type->dims[axis], out);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *parts = ig_expand_gather(b, x, s.ids, axis);
    if (!is_max) {
        for (uint32_t d = 0; d < rank; d++) {
            bool is_own = d == axis || d == axis + 1;
            dims[d] = is_own ? s.ids->type->dims[d - axis] : ig_dim_of(1);
        }
        ig_value *there = ig_make_reshape(b, s.is_there, rank, dims);
        ig_value *zero = ig_make_float(b, dtype, 0);
        parts = ig_make3(b, IG_OP_where, there, parts, zero);
    }
    parts = ig_expand_reduce(b, is_max ? IG_REDUCE_max : IG_REDUCE_sum, parts, axis + 1,
                             axis + 1);
    for (uint32_t d = 0; d < rank; d++) {
        dims[kept] = parts->type->dims[d];
        kept += d != axis + 1;
    }
    parts = ig_make_reshape(b, parts, kept, dims);
    if (is_max) {
        return parts;
    }
    for (uint32_t d = 0; d < kept; d++) {
        dims[d] = d == axis ? out : ig_dim_of(1);
    }
    ig_value *count = ig_make_reshape(b, ig_make_cast(b, s.count, dtype), kept, dims);
    return ig_make2(b, IG_OP_div, parts, count);
}

ig_value *ig_expand_adaptive_pool(ig_builder *b, ig_op *op) {
    bool is_max = ig_attr_int(op, IG_adaptive_pool_op, 0) == IG_ADAPTIVE_max;
    ig_value *x = op->operands[0].value;
    uint32_t last = x->type->rank - 1;
    if (is_global(op)) {
        return ig_expand_reduce(b, is_max ? IG_REDUCE_max : IG_REDUCE_mean, x, 2, last);
    }
    ig_value *pooled = as_pool(b, op, x);
    if (pooled) {
        return pooled;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    x = is_max ? x : ig_expand_widen(b, x);
    for (uint32_t d = 2; d <= last; d++) {
        ig_dim out = op->attrs[IG_adaptive_pool_sizes].as.dims[d - 2];
        x = adapt_axis(b, x, d, out, is_max);
    }
    return ig_make_cast(b, x, dtype);
}
