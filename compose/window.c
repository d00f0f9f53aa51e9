/* Windows in the forms that kernels have: no padding, nothing transposed, no averages.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An average is a sum divided by the number of elements, which is a constant where no
 * window reaches beyond x, else the same sum of windows over ones.
 */
#include "compose/window.h"

#include "compose/decompose.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- padding ---- */

ig_dim ig_spatial_dim(const ig_op *op, uint32_t slot, uint32_t axis) {
    assert(slot < ig_ops[op->code].attr_count && "a slot of the op's row");
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.dims[axis] : ig_dim_of(0);
}

int64_t ig_spatial_int(const ig_op *op, uint32_t slot, uint32_t axis) {
    assert(slot < ig_ops[op->code].attr_count && "a slot of the op's row");
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.ints[axis] : 1;
}

ig_value *ig_compose_pad_space(ig_expr *e, ig_value *x, const ig_dim *before,
                               const ig_dim *after, double value) {
    ig_dim wide[2][IG_TENSOR_RANK];
    bool is_none = true;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        wide[0][d] = d < 2 ? ig_dim_of(0) : before[d - 2];
        wide[1][d] = d < 2 ? ig_dim_of(0) : after[d - 2];
        is_none = is_none && ig_dim_is(wide[0][d], 0) && ig_dim_is(wide[1][d], 0);
    }
    if (is_none || value != 0) {
        return is_none ? x
                       : ig_expr_pad(e, x, wide[0], wide[1], IG_PAD_constant, value);
    }
    ig_pad_attrs zeros = { .before = { wide[0], x->type->rank },
                           .after = { wide[1], x->type->rank } };
    return ig_build_pad(e, x, NULL, NULL, NULL, zeros);
}

/* ---- conv ---- */

ig_value *ig_compose_plain_conv(ig_expr *e, const ig_op *op, ig_value *x, ig_value *w,
                                bool has_strides) {
    ig_conv_attrs attrs = ig_conv_attrs_of(op);
    attrs.before = attrs.after = (ig_dims){ 0 };
    attrs.transposed = false;
    if (!has_strides) {
        attrs.strides = (ig_ints){ 0 };
    }
    ig_value *bias = op->operand_count > 2 ? op->operands[2].value : NULL;
    return ig_build_conv(e, x, w, bias, attrs);
}

bool ig_decompose_conv_form(ig_expr *e, const ig_op *op, ig_value **out_results) {
    ig_value *x = op->operands[0].value;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    if (ig_attr_int(op, IG_conv_transposed, 0)) {
        *out_results = ig_compose_untransposed_conv(e, op);
        return *out_results != NULL;
    }
    if (!ig_attr_is_set(op, IG_conv_before) && !ig_attr_is_set(op, IG_conv_after)) {
        return false;
    }
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        before[d] = ig_spatial_dim(op, IG_conv_before, d);
        after[d] = ig_spatial_dim(op, IG_conv_after, d);
    }
    x = ig_compose_pad_space(e, x, before, after, 0);
    *out_results = ig_compose_plain_conv(e, op, x, op->operands[1].value, true);
    return true;
}

/* ---- pool ---- */

typedef struct pool_pads {
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK]; /* as the op says */
    ig_dim reach[IG_TENSOR_RANK]; /* after x, so that the last window fits */
} pool_pads;

static void read_pads(ig_module *module, const ig_op *op, pool_pads *p) {
    const ig_type *in = op->operands[0].value->type, *out = op->results[0].type;
    for (uint32_t d = 0; d + 2 < in->rank; d++) {
        int64_t size = op->attrs[IG_pool_kernel].as.ints[d];
        ig_dim step = ig_dim_of(ig_spatial_int(op, IG_pool_strides, d));
        int64_t wide = ig_spatial_int(op, IG_pool_dilations, d) * (size - 1) + 1;
        ig_dim last = ig_dim_sub(module, out->dims[2 + d], ig_dim_of(1));
        p->before[d] = ig_spatial_dim(op, IG_pool_before, d);
        p->after[d] = ig_spatial_dim(op, IG_pool_after, d);
        p->reach[d] = p->after[d];
        if (ig_attr_int(op, IG_pool_ceil_mode, 0)) {
            ig_dim end = ig_dim_mul(module, last, step);
            end = ig_dim_add(module, end, ig_dim_of(wide));
            if (ig_dim_is(out->dims[2 + d], 0)) { /* no last window */
                end = ig_dim_max(module, end, ig_dim_of(0));
            }
            ig_dim own = ig_dim_add(module, in->dims[2 + d], p->before[d]);
            p->reach[d] = ig_dim_sub(module, end, own);
        }
    }
}

/* Is all padding known, and none of it a crop? */
static bool is_padding_known(ig_expr *e, const pool_pads *p, uint32_t space) {
    int64_t known[2] = { 0, 0 };
    for (uint32_t d = 0; d < space; d++) {
        if (!ig_dim_constant(e->module, p->before[d], &known[0]) || known[0] < 0 ||
            !ig_dim_constant(e->module, p->reach[d], &known[1]) || known[1] < 0) {
            return false;
        }
    }
    return true;
}

/* Without padding, unless `kept` (NULL: none) says which stays. */
static ig_value *build_plain_pool(ig_expr *e, const ig_op *op, ig_value *x,
                                  ig_pool_op kind, const pool_pads *kept) {
    ig_pool_attrs own = ig_pool_attrs_of(op);
    ig_pool_attrs attrs = { .op = (int)kind,
                            .kernel = own.kernel,
                            .strides = own.strides,
                            .dilations = own.dilations };
    if (kept) {
        attrs.before = (ig_dims){ kept->before, x->type->rank - 2 };
        attrs.after = (ig_dims){ kept->reach, x->type->rank - 2 };
    }
    return ig_build_pool(e, x, attrs);
}

/* -inf, or the smallest integer. */
static double find_lowest(ig_dtype dtype) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_FLOAT) {
        return -(double)INFINITY;
    }
    return info->class == IG_SINT ? -ldexp(1, (int)info->bits - 1) : 0;
}

/* How many elements each window has, as [1, 1, …]. */
static ig_value *count_elements(ig_expr *e, const ig_op *op, ig_dtype dtype,
                                const pool_pads *p) {
    const ig_type *in = op->operands[0].value->type;
    ig_dim dims[IG_TENSOR_RANK], before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    bool counts_pad = ig_attr_int(op, IG_pool_count_pad, 0) != 0;
    dims[0] = dims[1] = ig_dim_of(1);
    for (uint32_t d = 0; d + 2 < in->rank; d++) {
        ig_dim padded = ig_dim_add(e->module, in->dims[2 + d], p->before[d]);
        padded = ig_dim_add(e->module, padded, p->after[d]);
        dims[2 + d] = counts_pad ? padded : in->dims[2 + d];
        before[d] = counts_pad ? ig_dim_of(0) : p->before[d];
        after[d] = counts_pad ? ig_dim_sub(e->module, p->reach[d], p->after[d])
                              : p->reach[d];
    }
    ig_value *ones = ig_expr_fill(e, dtype, in->rank, dims, 1);
    ones = ig_compose_pad_space(e, ones, before, after, 0);
    ig_value *count = build_plain_pool(e, op, ones, IG_WINDOW_sum, NULL);
    return ig_expr_with(e, IG_OP_max, count, 1);
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

static ig_value *build_average(ig_expr *e, const ig_op *op, const pool_pads *p,
                               bool keeps_pads) {
    ig_value *x = ig_expr_widen(e, op->operands[0].value);
    double taps = 1;
    bool is_padded = reaches_out(p, x->type->rank);
    ig_value *sum = keeps_pads ? x : ig_compose_pad_space(e, x, p->before, p->reach, 0);
    sum = build_plain_pool(e, op, sum, IG_WINDOW_sum,
                           keeps_pads && is_padded ? p : NULL);
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        taps *= (double)op->attrs[IG_pool_kernel].as.ints[d];
    }
    if (ig_attr_is_set(op, IG_pool_divisor)) {
        taps = (double)ig_attr_int(op, IG_pool_divisor, 1);
    } else if (is_padded) {
        ig_dtype wide = (ig_dtype)x->type->dtype;
        return ig_build_div(e, sum, count_elements(e, op, wide, p));
    }
    return ig_expr_with(e, IG_OP_div, sum, taps);
}

bool ig_decompose_pool_form(ig_expr *e, const ig_op *op, bool keeps_pads,
                            ig_value **out_results) {
    ig_pool_op kind = (ig_pool_op)ig_attr_int(op, IG_pool_op, 0);
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    bool is_padded = ig_attr_is_set(op, IG_pool_before) ||
                     ig_attr_is_set(op, IG_pool_after) ||
                     ig_attr_int(op, IG_pool_ceil_mode, 0);
    if (kind != IG_WINDOW_average && !is_padded) {
        return false;
    }
    pool_pads p;
    read_pads(e->module, op, &p);
    keeps_pads = keeps_pads && is_padding_known(e, &p, x->type->rank - 2);
    if (kind == IG_WINDOW_average) {
        *out_results = ig_expr_cast(e, build_average(e, op, &p, keeps_pads), dtype);
        return true;
    }
    if (keeps_pads && !ig_attr_int(op, IG_pool_ceil_mode, 0)) {
        return false;
    }
    if (keeps_pads) {
        *out_results = build_plain_pool(e, op, x, kind, &p);
        return true;
    }
    double outside = kind == IG_WINDOW_max ? find_lowest(dtype) : 0;
    x = ig_compose_pad_space(e, x, p.before, p.reach, outside);
    *out_results = build_plain_pool(e, op, x, kind, NULL);
    return true;
}

/* ---- adaptive pools ---- */

static bool is_max_pool(const ig_op *op) {
    return ig_attr_int(op, IG_adaptive_pool_op, 0) == IG_ADAPTIVE_max;
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

/* Windows of one size are a pool; else NULL. */
static ig_value *build_even_pool(ig_expr *e, const ig_op *op, ig_value *x) {
    const ig_attr *sizes = &op->attrs[IG_adaptive_pool_sizes];
    int64_t kernel[IG_TENSOR_RANK], in, out;
    for (uint32_t d = 0; d < sizes->count; d++) {
        if (!ig_dim_constant(e->module, x->type->dims[2 + d], &in) ||
            !ig_dim_constant(e->module, sizes->as.dims[d], &out) || out < 1 ||
            in % out != 0 || in == 0) {
            return NULL;
        }
        kernel[d] = in / out;
    }
    ig_pool_attrs attrs = { .op = is_max_pool(op) ? IG_WINDOW_max : IG_WINDOW_average,
                            .kernel = { kernel, sizes->count },
                            .strides = { kernel, sizes->count } };
    return ig_build_pool(e, x, attrs);
}

/* Elements start … end - 1 of each window as [out, max count], later ones again the
 * last. */
typedef struct spans {
    ig_value *ids, *is_inside, *count;
} spans;

static spans find_spans(ig_expr *e, ig_dim in, ig_dim out) {
    ig_dim max = ig_dim_ceil_div(e->module, in, out);
    max = ig_dim_add(e->module, max, ig_dim_of(1));
    ig_value *i = ig_expr_axis_iota(e, 2, 0, out), *t = ig_expr_axis_iota(e, 2, 1, max);
    ig_value *ins = ig_expr_dim(e, in, IG_DT_i64);
    ig_value *outs = ig_expr_dim(e, out, IG_DT_i64);
    ig_value *first = ig_build_mul(e, i, ins);
    ig_value *past = ig_build_add(e, ig_build_add(e, first, ins), outs);
    past = ig_expr_with(e, IG_OP_sub, past, 1);
    ig_value *start = ig_build_div(e, first, outs);
    ig_value *end = ig_build_div(e, past, outs);
    ig_value *id = ig_build_add(e, start, t);
    ig_value *last = ig_expr_with(e, IG_OP_sub, end, 1);
    ig_value *inside = ig_build_lt(e, id, end);
    id = ig_build_min(e, id, last);
    return (spans){ id, inside, ig_build_sub(e, end, start) };
}

/* One axis: the elements of each window side by side, and those reduced. */
static ig_value *pool_axis(ig_expr *e, ig_value *x, uint32_t axis, ig_dim out,
                           bool is_max) {
    spans s = find_spans(e, x->type->dims[axis], out);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_value *parts = ig_expr_gather(e, x, s.ids, axis, IG_NEGATIVE_wrap);
    if (is_max) {
        return ig_expr_reduce_axis(e, IG_REDUCE_max, parts, axis + 1, false);
    }
    uint32_t rest = x->type->rank - 1 - axis;
    ig_value *inside = ig_expr_unsqueeze_to(e, s.is_inside, 2 + rest);
    parts = ig_build_where(e, inside, parts, ig_expr_number(e, dtype, 0));
    parts = ig_expr_reduce_axis(e, IG_REDUCE_sum, parts, axis + 1, false);
    ig_value *count = ig_expr_squeeze(e, ig_expr_cast(e, s.count, dtype), 1);
    return ig_build_div(e, parts, ig_expr_unsqueeze_to(e, count, 1 + rest));
}

bool ig_decompose_adaptive_pool(ig_expr *e, const ig_op *op, ig_value **out_results) {
    bool is_max = is_max_pool(op);
    ig_value *x = op->operands[0].value;
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    uint32_t rank = x->type->rank;
    if (is_global(op)) {
        ig_reduce kind = is_max ? IG_REDUCE_max : IG_REDUCE_mean;
        *out_results = ig_expr_reduce_axes(e, kind, x, 2, rank - 1);
        return true;
    }
    *out_results = build_even_pool(e, op, x);
    if (*out_results) {
        return true;
    }
    x = is_max ? x : ig_expr_widen(e, x);
    for (uint32_t d = 2; d < rank; d++) {
        ig_dim out = op->attrs[IG_adaptive_pool_sizes].as.dims[d - 2];
        x = pool_axis(e, x, d, out, is_max);
    }
    *out_results = ig_expr_cast(e, x, dtype);
    return true;
}
