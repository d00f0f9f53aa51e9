/* Transposed convolutions as plain ones.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Element i of x counts for places s * i + k of the result, s the stride.  Places with
 * the same rest r when divided by s, a phase, see the weights k = r, r + s … alone: a
 * convolution of stride 1 with a kernel of k / s.  The phases are the channels of one
 * convolution, or where s does not divide k those of one for each phase (a NaN of x
 * would show in the products with zeros that fill the weights up), and are dealt out:
 *
 *     x [B, C, S]  conv  [B, s * O, S + k / s - 1]  as  [B, s, O, M]
 *     transpose [B, O, M, s]  as  [B, O, M * s]  slice: the cut at both ends
 *
 * Kernels smaller than the stride, and groups where s does not divide k, are
 * convolutions over x with s - 1 zeros after each element, with weights mirrored and
 * their channels exchanged.
 */
#include "compose/window.h"

#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

enum { MAX_PHASES = 9 };

/* ---- by phases ---- */

typedef struct phases {
    ig_expr *e;
    const ig_op *op;
    uint32_t space;
    ig_dim group, ins, outs; /* channels of a group */
    int64_t count;           /* of phases: the product of strides */
    bool is_even;            /* all see as many weights */
    int64_t strides[IG_TENSOR_RANK], extents[IG_TENSOR_RANK];
    int64_t taps[IG_TENSOR_RANK];  /* of the phase with most */
    int64_t gains[IG_TENSOR_RANK]; /* places beyond the last tap, of zeros */
} phases;

static bool read_phases(ig_expr *e, const ig_op *op, phases *out) {
    const ig_type *w = op->operands[1].value->type;
    *out = (phases){
        .e = e, .op = op, .space = w->rank - 2u, .count = 1, .is_even = true
    };
    out->group = ig_dim_of(ig_attr_int(op, IG_conv_group, 1));
    out->ins = ig_dim_exact_div(e->module, w->dims[0], out->group);
    out->outs = w->dims[1];
    if (3 + 2 * out->space > IG_TENSOR_RANK) {
        return false;
    }
    for (uint32_t d = 0; d < out->space; d++) {
        int64_t stride = ig_spatial_int(op, IG_conv_strides, d), extent, first, lost;
        ig_dim before = ig_spatial_dim(op, IG_conv_before, d);
        ig_dim after = ig_spatial_dim(op, IG_conv_after, d);
        if (!ig_dim_constant(e->module, w->dims[2 + d], &extent) || extent < stride ||
            ig_spatial_int(op, IG_conv_dilations, d) != 1 ||
            !ig_dim_constant(e->module, before, &first) || first < 0 ||
            !ig_dim_constant(e->module, after, &lost)) {
            return false;
        }
        out->strides[d] = stride;
        out->extents[d] = extent;
        out->taps[d] = (extent + stride - 1) / stride;
        out->gains[d] = lost < 0 ? -lost : 0;
        out->count *= stride;
        out->is_even = out->is_even && extent % stride == 0;
    }
    bool has_each = ig_dim_is(out->group, 1) && out->count <= MAX_PHASES;
    return out->count > 1 && (out->is_even || has_each);
}

/* [C, O, k…] as [group, C / group, O, k / s, s, …], with zeros where s does not divide
 * k. */
static ig_value *split_weights(const phases *p) {
    uint32_t n = p->space, rank = 3 + 2 * n;
    ig_dim dims[IG_TENSOR_RANK] = { p->group, p->ins, p->outs };
    ig_dim none[IG_TENSOR_RANK], more[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < n; d++) {
        dims[3 + 2 * d] = ig_dim_of(p->taps[d]);
        dims[4 + 2 * d] = ig_dim_of(p->strides[d]);
        none[d] = ig_dim_of(0);
        more[d] = ig_dim_of(p->taps[d] * p->strides[d] - p->extents[d]);
    }
    ig_value *w = ig_compose_pad_space(p->e, p->op->operands[1].value, none, more, 0);
    return ig_expr_reshape(p->e, w, rank, dims);
}

/* [C, O, k…] of each group to [group * phases * O, C, k / s… mirrored]. */
static ig_value *phase_weights(const phases *p) {
    ig_expr *e = p->e;
    uint32_t n = p->space;
    int64_t perm[IG_TENSOR_RANK] = { 0 };
    for (uint32_t d = 0; d < n; d++) {
        perm[1 + d] = 4 + 2 * d;
        perm[3 + n + d] = 3 + 2 * d;
    }
    perm[1 + n] = 2;
    perm[2 + n] = 1;
    ig_value *w = ig_expr_transpose(e, split_weights(p), perm);
    w = ig_expr_merge_axes(e, w, 0, 1 + n);
    for (uint32_t d = 0; d < n; d++) {
        w = ig_expr_flip(e, w, 2 + d);
    }
    return w;
}

/* A bias for each phase; NULL: none. */
static ig_value *phase_bias(const phases *p) {
    ig_dim dims[] = { p->group, ig_dim_of(1), p->outs };
    if (p->op->operand_count < 3) {
        return NULL;
    }
    ig_value *bias = ig_expr_reshape(p->e, p->op->operands[2].value, 3, dims);
    dims[1] = ig_dim_of(p->count);
    return ig_expr_flatten(p->e, ig_expr_expand(p->e, bias, 3, dims));
}

/* [B, group * phases * O, M…] to [B, group * O, M * s…]. */
static ig_value *deal_phases(const phases *p, ig_value *y) {
    uint32_t n = p->space, rank = 3 + 2 * n;
    ig_dim dims[IG_TENSOR_RANK] = { y->type->dims[0], p->group };
    int64_t perm[IG_TENSOR_RANK] = { 0, 1, 2 + n };
    dims[2 + n] = p->outs;
    for (uint32_t d = 0; d < n; d++) {
        dims[2 + d] = ig_dim_of(p->strides[d]);
        dims[3 + n + d] = y->type->dims[2 + d];
        perm[3 + 2 * d] = 3 + n + d;
        perm[4 + 2 * d] = 2 + d;
    }
    y = ig_expr_transpose(p->e, ig_expr_reshape(p->e, y, rank, dims), perm);
    y = y ? ig_expr_merge_axes(p->e, y, 1, 2) : NULL;
    for (uint32_t d = 0; y && d < n; d++) {
        y = ig_expr_merge_axes(p->e, y, 2 + d, 3 + d);
    }
    return y;
}

/* ---- phase by phase ---- */

/* What phase `rest` has of x, padded for the phase with most taps, and of the weights
 * [1, C, O, k / s, s, …]. */
static ig_value *convolve_phase(const phases *p, ig_value *x, ig_value *w,
                                const int64_t *rest) {
    ig_expr *e = p->e;
    ig_value *bias = p->op->operand_count > 2 ? p->op->operands[2].value : NULL;
    ig_conv_attrs plain = { 0 };
    for (uint32_t d = p->space; d-- > 0;) {
        int64_t taps = (p->extents[d] - rest[d] + p->strides[d] - 1) / p->strides[d];
        ig_dim lost = ig_dim_of(p->taps[d] - taps);
        ig_dim left = ig_dim_sub(e->module, ig_expr_extent(e, x, 2 + d), lost);
        w = ig_expr_select(e, w, 4 + 2 * d, ig_dim_of(rest[d]));
        w = ig_expr_slice(e, w, 3 + 2 * d, ig_dim_of(0), ig_dim_of(taps), 1);
        x = ig_expr_slice(e, x, 2 + d, lost, left, 1);
    }
    w = ig_expr_swap(e, ig_expr_squeeze(e, w, 0), 0, 1);
    for (uint32_t d = 0; d < p->space; d++) {
        w = ig_expr_flip(e, w, 2 + d);
    }
    return ig_build_conv(e, x, w, bias, plain);
}

/* [B, phases * O, M…] */
static ig_value *convolve_each(const phases *p, ig_value *x) {
    ig_value *parts[MAX_PHASES], *w = split_weights(p);
    assert(p->count <= MAX_PHASES && "more have zeros between elements");
    for (int64_t i = 0; i < p->count; i++) {
        int64_t rest[IG_TENSOR_RANK], number = i;
        for (uint32_t d = p->space; d-- > 0;) {
            rest[d] = number % p->strides[d];
            number /= p->strides[d];
        }
        parts[i] = convolve_phase(p, x, w, rest);
    }
    return ig_expr_concat(p->e, 1, parts, (uint32_t)p->count);
}

static ig_value *convolve_phases(const phases *p) {
    ig_expr *e = p->e;
    const ig_type *type = p->op->results->type;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK], starts[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < p->space; d++) {
        int64_t more = (p->gains[d] + p->strides[d] - 1) / p->strides[d];
        before[d] = ig_dim_of(p->taps[d] - 1);
        after[d] = ig_dim_of(p->taps[d] - 1 + more);
    }
    for (uint32_t d = 0; d < type->rank; d++) {
        starts[d] = d < 2 ? ig_dim_of(0) : ig_spatial_dim(p->op, IG_conv_before, d - 2);
    }
    ig_value *x = ig_compose_pad_space(e, p->op->operands[0].value, before, after, 0);
    ig_conv_attrs attrs = { .group = ig_conv_attrs_of(p->op).group };
    ig_value *y = p->is_even
                      ? ig_build_conv(e, x, phase_weights(p), phase_bias(p), attrs)
                      : convolve_each(p, x);
    y = deal_phases(p, y);
    return ig_expr_slices(e, y, starts, type->dims, NULL);
}

/* ---- with zeros between elements ---- */

/* stride - 1 zeros after each element. */
static ig_value *spread_elements(ig_expr *e, const ig_op *op, ig_value *x) {
    ig_dim after[IG_TENSOR_RANK], before[IG_TENSOR_RANK];
    ig_dim dims[IG_TENSOR_RANK], wide[IG_TENSOR_RANK];
    uint32_t rank = x->type->rank, space = rank - 2;
    bool is_dense = true;
    memcpy(dims, x->type->dims, rank * sizeof *dims);
    memcpy(wide, x->type->dims, 2 * sizeof *wide);
    for (uint32_t d = 0; d < space; d++) {
        int64_t stride = ig_spatial_int(op, IG_conv_strides, d);
        wide[2 + 2 * d] = dims[2 + d];
        wide[3 + 2 * d] = ig_dim_of(1);
        before[2 * d] = before[2 * d + 1] = after[2 * d] = ig_dim_of(0);
        after[2 * d + 1] = ig_dim_of(stride - 1);
        dims[2 + d] = ig_dim_mul(e->module, dims[2 + d], ig_dim_of(stride));
        is_dense = is_dense && stride == 1;
    }
    if (is_dense) {
        return x;
    }
    ig_value *spread = ig_expr_reshape(e, x, 2 + 2 * space, wide);
    spread = ig_compose_pad_space(e, spread, before, after, 0);
    return ig_expr_reshape(e, spread, rank, dims);
}
/* [C, O / group, k…] to [O, C / group, k… mirrored]. */
static ig_value *mirror_weights(ig_expr *e, const ig_op *op, ig_value *w) {
    uint32_t rank = w->type->rank;
    ig_dim group = ig_dim_of(ig_attr_int(op, IG_conv_group, 1)), dims[IG_TENSOR_RANK];
    dims[0] = group;
    dims[1] = ig_dim_exact_div(e->module, w->type->dims[0], group);
    memcpy(dims + 2, w->type->dims + 1, (rank - 1) * sizeof *dims);
    w = ig_expr_swap(e, ig_expr_reshape(e, w, rank + 1, dims), 1, 2);
    w = ig_expr_merge_axes(e, w, 0, 1);
    for (uint32_t d = 2; d < rank; d++) {
        w = ig_expr_flip(e, w, d);
    }
    return w;
}

static ig_value *convolve_spread(ig_expr *e, const ig_op *op) {
    ig_module *module = e->module;
    ig_value *x = op->operands[0].value, *w = op->operands[1].value;
    ig_dim before[IG_TENSOR_RANK], after[IG_TENSOR_RANK];
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        ig_dim steps = ig_dim_sub(module, w->type->dims[2 + d], ig_dim_of(1));
        ig_dim dilation = ig_dim_of(ig_spatial_int(op, IG_conv_dilations, d));
        ig_dim reach = ig_dim_mul(module, steps, dilation);
        ig_dim spread = ig_dim_of(ig_spatial_int(op, IG_conv_strides, d) - 1);
        before[d] = ig_dim_sub(module, reach, ig_spatial_dim(op, IG_conv_before, d));
        after[d] = ig_dim_sub(module, reach, ig_spatial_dim(op, IG_conv_after, d));
        after[d] = ig_dim_sub(module, after[d], spread);
    }
    x = ig_compose_pad_space(e, spread_elements(e, op, x), before, after, 0);
    return ig_compose_plain_conv(e, op, x, mirror_weights(e, op, w), false);
}

ig_value *ig_compose_untransposed_conv(ig_expr *e, const ig_op *op) {
    phases p;
    if (2 * op->operands[0].value->type->rank - 2 > IG_TENSOR_RANK) {
        return NULL;
    }
    return read_phases(e, op, &p) ? convolve_phases(&p) : convolve_spread(e, op);
}
