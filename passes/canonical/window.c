/* canonicalise: rules for windows and weights of convolutions and products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "compose/window.h"
#include "passes/canonical/canonicalise.h"

#include <math.h>
#include <string.h>

/* Along one axis: the taps that see some element, and the zeros before and after that
 * are left then. */
typedef struct taps {
    int64_t from, to, before, after;
} taps;

static int64_t clamp_tap(int64_t tap, int64_t min, int64_t max) {
    return tap < min ? min : tap > max ? max : tap;
}

/* False where extents are not known, or no tap is needed. */
static bool find_taps(const ig_op *op, uint32_t axis, taps *out) {
    const ig_type *x = ig_op_operand(op, 0)->type, *w = ig_op_operand(op, 1)->type;
    int64_t extent, kernel, steps, before, after;
    if (!ig_dim_known(x->dims[2 + axis], &extent) ||
        !ig_dim_known(w->dims[2 + axis], &kernel) ||
        !ig_dim_known(op->results[0].type->dims[2 + axis], &steps) ||
        !ig_dim_known(ig_spatial_dim(op, IG_conv_before, axis), &before) ||
        !ig_dim_known(ig_spatial_dim(op, IG_conv_after, axis), &after)) {
        return false;
    }
    int64_t step = ig_spatial_int(op, IG_conv_dilations, axis), last, end;
    if (steps <= 0 ||
        !ig_mul_i64(steps - 1, ig_spatial_int(op, IG_conv_strides, axis), &last) ||
        !ig_sub_i64(before, last, &last) || !ig_add_i64(extent, before, &end)) {
        return false;
    }
    int64_t from = clamp_tap(ig_ceil_div(last, step), 0, kernel);
    int64_t to = clamp_tap(ig_ceil_div(end, step), from, kernel);
    *out = (taps){ from, to, before - from * step, 0 };
    return to > from && ig_mul_i64(kernel - to, step, &end) &&
           ig_sub_i64(after, end, &out->after) && out->before >= 0 && out->after >= 0;
}

/* A tap that sees zeros beyond the image at every place, as those of wide dilations
 * over small images do, adds nothing. */
static ig_value *conv_without_lost_taps(ig_builder *b, ig_op *op) {
    ig_value *w = ig_op_operand(op, 1);
    ig_dim starts[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK];
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    ig_conv_attrs attrs = ig_conv_attrs_of(op);
    bool is_less = false;
    for (uint32_t d = 0; d < w->type->rank && !attrs.transposed; d++) {
        taps t;
        starts[d] = ig_dim_of(0);
        sizes[d] = w->type->dims[d];
        if (d < 2) {
            continue;
        }
        if (!find_taps(op, d - 2, &t)) {
            return NULL;
        }
        is_less = is_less || t.to - t.from < ig_dim_value(sizes[d]);
        starts[d] = ig_dim_of(t.from);
        sizes[d] = ig_dim_of(t.to - t.from);
        before[d - 2] = ig_dim_of(t.before);
        after[d - 2] = ig_dim_of(t.after);
    }
    if (!is_less) {
        return NULL;
    }
    attrs.before = (ig_dims){ before, w->type->rank - 2u };
    attrs.after = (ig_dims){ after, w->type->rank - 2u };
    ig_expr e = ig_expr_trying(b);
    w = ig_expr_slices(&e, w, starts, sizes, NULL);
    ig_value *bias = op->operand_count > 2 ? ig_op_operand(op, 2) : NULL;
    return ig_build_conv(&e, ig_op_operand(op, 0), w, bias, attrs);
}

/* ---- weights that are the same for all outputs ---- */

/* What `w` repeats along `axis`, with one element there; NULL where it does not. */
static ig_value *repeated_along(ig_expr *e, ig_value *w, uint32_t axis) {
    const ig_op *expand = ig_def(w, IG_OP_expand);
    ig_value *x = expand && expand->operand_count == 1 ? ig_op_operand(expand, 0)
                                                       : NULL;
    if (!x || ig_dim_is(w->type->dims[axis], 1)) {
        return NULL;
    }
    uint32_t missing = w->type->rank - x->type->rank;
    ig_dim dims[IG_TENSOR_RANK];
    if (axis >= missing && !ig_dim_is(x->type->dims[axis - missing], 1)) {
        return NULL;
    }
    memcpy(dims, w->type->dims, w->type->rank * sizeof *dims);
    dims[axis] = ig_dim_of(1);
    return ig_expr_expand(e, x, w->type->rank, dims);
}

/* Is a vector one number throughout? */
static bool is_one_number(const ig_value *x) {
    int64_t count;
    double first, other;
    const ig_op *expand = ig_def(x, IG_OP_expand);
    if (expand) {
        const ig_type *inner = ig_op_operand(expand, 0)->type;
        return inner->rank == 0 || ig_dim_is(inner->dims[inner->rank - 1u], 1);
    }
    const ig_data *data = ig_constant_of(x);
    if (data && data->is_splat) {
        return true;
    }
    if (!ig_dim_known(x->type->dims[0], &count) || !ig_constant_entry(x, 0, &first)) {
        return false;
    }
    for (int64_t i = 1; i < count; i++) {
        if (!ig_constant_entry(x, i, &other) || other != first ||
            signbit(other) != signbit(first)) {
            return false;
        }
    }
    return true;
}

/* Outputs with the same weights are one.  A bias that tells them apart would be added
 * after the sum is rounded. */
static ig_value *conv_of_repeated_weights(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_trying(b);
    ig_conv_attrs attrs = ig_conv_attrs_of(op);
    const ig_type *y = op->results[0].type;
    ig_value *bias = op->operand_count > 2 ? ig_op_operand(op, 2) : NULL;
    bool is_plain = !attrs.transposed && ig_attr_int(op, IG_conv_group, 1) == 1 &&
                    (!bias || is_one_number(bias));
    ig_value *w = is_plain ? repeated_along(&e, ig_op_operand(op, 1), 0) : NULL;
    if (!w) {
        return NULL;
    }
    bias = bias ? ig_expr_slice(&e, bias, 0, ig_dim_of(0), ig_dim_of(1), 1) : NULL;
    ig_value *one = ig_build_conv(&e, ig_op_operand(op, 0), w, bias, attrs);
    return ig_expr_expand(&e, one, y->rank, y->dims);
}

/* Columns that are all the same are one. */
static ig_value *matmul_of_repeated_columns(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_trying(b);
    ig_matmul_attrs attrs = ig_matmul_attrs_of(op);
    ig_value *w = ig_op_operand(op, 1);
    const ig_type *y = op->results[0].type;
    if (w->type->rank != 2 || ig_op_operand(op, 0)->type->rank < 2) {
        return NULL;
    }
    w = repeated_along(&e, w, attrs.transpose_b ? 0 : 1);
    return w ? ig_expr_expand(&e, ig_build_matmul(&e, ig_op_operand(op, 0), w, attrs),
                              y->rank, y->dims)
             : NULL;
}

/* x [..., h, 1, S, E] of which y [..., h * g, S, E] has each block g times, or NULL. */
static ig_value *find_repeated_blocks(const ig_value *y, ig_dim *out_times) {
    const ig_op *reshape = ig_def(y, IG_OP_reshape);
    const ig_op *expand = reshape && reshape->operand_count == 1
                              ? ig_def(ig_op_operand(reshape, 0), IG_OP_expand)
                              : NULL;
    if (!expand || expand->operand_count != 1) {
        return NULL;
    }
    ig_module *module = ig_op_module(expand);
    ig_value *x = ig_op_operand(expand, 0);
    const ig_type *wide = expand->results[0].type;
    uint32_t rank = wide->rank;
    if (rank < 4 || x->type->rank != rank || y->type->rank + 1u != rank ||
        !ig_dim_is(x->type->dims[rank - 3], 1)) {
        return NULL;
    }
    *out_times = wide->dims[rank - 3];
    for (uint32_t d = 0; d < rank - 1; d++) {
        ig_dim own = x->type->dims[d < rank - 3 ? d : d + 1];
        ig_dim given = d + 4 == rank ? ig_dim_mul(module, own, *out_times) : own;
        if (ig_dim_equal(module, given, y->type->dims[d]) != IG_YES) {
            return NULL;
        }
    }
    return ig_dim_is(*out_times, 1) ? NULL : x;
}

/* Heads of queries that share one head of keys are rows of one product. */
static ig_value *matmul_of_repeated_heads(ig_builder *b, ig_op *op) {
    ig_expr e = ig_expr_trying(b);
    ig_matmul_attrs attrs = ig_matmul_attrs_of(op);
    ig_value *a = ig_op_operand(op, 0), *w = ig_op_operand(op, 1);
    ig_dim times, dims[IG_TENSOR_RANK];
    ig_value *x = find_repeated_blocks(w, &times);
    uint32_t rank = a->type->rank;
    if (!x || attrs.transpose_a || rank != w->type->rank) {
        return NULL;
    }
    for (uint32_t d = 0; d + 2 < rank; d++) {
        if (ig_dim_equal(e.module, a->type->dims[d], w->type->dims[d]) != IG_YES) {
            return NULL;
        }
    }
    memcpy(dims, a->type->dims, rank * sizeof *dims);
    dims[rank - 3] = x->type->dims[rank - 3];
    dims[rank - 2] = ig_dim_mul(e.module, times, dims[rank - 2]);
    a = ig_expr_reshape(&e, a, rank, dims);
    ig_value *y = ig_build_matmul(&e, a, ig_expr_squeeze(&e, x, rank - 2), attrs);
    return ig_expr_reshape(&e, y, rank, op->results[0].type->dims);
}

static const ig_rule rules[] = {
    RULE(matmul, matmul_of_repeated_heads),
    RULE(conv, conv_of_repeated_weights),
    RULE(matmul, matmul_of_repeated_columns),
    RULE(conv, conv_without_lost_taps),
};

const ig_rules ig_rules_window = { rules, IG_COUNT_OF(rules) };
