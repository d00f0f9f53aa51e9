/* Rules of convolutions and pools.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A convolution takes x at s * stride + k * dilation - before for place s and tap k.
 * So a transposed one of dy is the gradient of x, and a convolution of x
 * with dy as its weights, stride and dilation exchanged, is that of the weights. */
#include "compose/window.h"
#include "passes/grad/rule.h"

#include <string.h>

/* One spatial axis: `wide` is the extent that windows cover, `count` their number. */
typedef struct span {
    int64_t stride, dilation;
    ig_dim before, wide, count, taps;
} span;

/* Where the last window ends, less `before` and `wide`: how far beyond. */
static ig_dim reach_of(ig_module *m, const span *s) {
    ig_dim one = ig_dim_of(1);
    ig_dim last = ig_dim_mul(m, ig_dim_sub(m, s->count, one), ig_dim_of(s->stride));
    ig_dim tap = ig_dim_mul(m, ig_dim_sub(m, s->taps, one), ig_dim_of(s->dilation));
    ig_dim end = ig_dim_add(m, ig_dim_add(m, last, tap), one);
    return ig_dim_sub(m, ig_dim_sub(m, end, s->before), s->wide);
}

typedef struct conv {
    ig_grad *g;
    ig_value *wide, *narrow; /* x and dy; the other way of a transposed one */
    ig_value *w;
    ig_conv_attrs attrs;
    ig_dim before[IG_TENSOR_RANK], reach[IG_TENSOR_RANK];
} conv;

static conv conv_of(ig_grad *g) {
    ig_value *x = ig_grad_x(g, 0);
    conv c = { .g = g, .w = ig_grad_x(g, 1), .attrs = ig_conv_attrs_of(g->op) };
    c.wide = c.attrs.transposed ? g->dy : x;
    c.narrow = c.attrs.transposed ? x : g->dy;
    for (uint32_t d = 0; d + 2 < x->type->rank; d++) {
        span s = { .stride = ig_spatial_int(g->op, IG_conv_strides, d),
                   .dilation = ig_spatial_int(g->op, IG_conv_dilations, d),
                   .before = ig_spatial_dim(g->op, IG_conv_before, d),
                   .wide = c.wide->type->dims[2 + d],
                   .count = c.narrow->type->dims[2 + d],
                   .taps = c.w->type->dims[2 + d] };
        c.before[d] = s.before;
        c.reach[d] = reach_of(g->e->module, &s);
    }
    return c;
}

/* From the narrow side to the wide one. */
static ig_value *spread_out(const conv *c, ig_value *narrow) {
    uint32_t space = narrow->type->rank - 2;
    ig_conv_attrs attrs = c->attrs;
    attrs.transposed = true;
    attrs.before = (ig_dims){ c->before, space };
    attrs.after = (ig_dims){ c->reach, space };
    return ig_build_conv(c->g->e, narrow, c->w, NULL, attrs);
}

/* From the wide side to the narrow one. */
static ig_value *gather_in(const conv *c, ig_value *wide) {
    ig_conv_attrs attrs = c->attrs;
    attrs.transposed = false;
    attrs.before = attrs.after = (ig_dims){ 0 };
    wide = ig_compose_pad_space(c->g->e, wide, c->before, c->reach, 0);
    return ig_build_conv(c->g->e, wide, c->w, NULL, attrs);
}

/* Channels of a group as the batch, groups of images as channels. */
static ig_value *channels_as_batch(ig_expr *e, ig_value *x, int64_t group) {
    ig_dim dims[IG_TENSOR_RANK] = { x->type->dims[0], ig_dim_of(group) };
    int64_t perm[IG_TENSOR_RANK] = { 2, 1, 0 };
    uint32_t rank = x->type->rank;
    dims[2] = ig_dim_exact_div(e->module, x->type->dims[1], dims[1]);
    memcpy(dims + 3, x->type->dims + 2, (rank - 2) * sizeof *dims);
    for (uint32_t i = 3; i <= rank; i++) {
        perm[i] = i;
    }
    x = ig_expr_transpose(e, ig_expr_reshape(e, x, rank + 1, dims), perm);
    return ig_expr_merge_axes(e, x, 1, 2);
}

static ig_value *weight_gradient(const conv *c) {
    ig_expr *e = c->g->e;
    int64_t group = c->attrs.group.is_set ? c->attrs.group.value : 1;
    ig_value *wide = ig_compose_pad_space(e, c->wide, c->before, c->reach, 0);
    wide = channels_as_batch(e, wide, group);
    ig_value *kernel = ig_expr_swap(e, c->narrow, 0, 1);
    ig_conv_attrs attrs = { .strides = c->attrs.dilations,
                            .dilations = c->attrs.strides,
                            .group = IG_SET(group) };
    return ig_expr_swap(e, ig_build_conv(e, wide, kernel, NULL, attrs), 0, 1);
}

/* Is there no window, or nothing in one?  Then all gradients are 0. */
static bool is_of_nothing(const conv *c) {
    ig_module *m = c->g->e->module;
    return ig_dim_is(ig_type_count(m, c->narrow->type), 0) ||
           ig_dim_is(ig_type_count(m, c->wide->type), 0);
}

void ig_grad_conv(ig_grad *g) {
    conv c = conv_of(g);
    if (is_of_nothing(&c)) {
        return;
    }
    if (ig_grad_wants(g, 0)) {
        ig_grad_give(g, 0,
                     c.attrs.transposed ? gather_in(&c, g->dy) : spread_out(&c, g->dy));
    }
    if (ig_grad_wants(g, 1)) {
        ig_grad_give(g, 1, weight_gradient(&c));
    }
    if (ig_grad_wants(g, 2)) {
        uint32_t last = g->dy->type->rank - 1;
        ig_value *sum = ig_expr_reduce_axes(g->e, IG_REDUCE_sum, g->dy, 2, last);
        sum = ig_expr_reduce_axis(g->e, IG_REDUCE_sum, sum, 0, true);
        ig_grad_give(g, 2, ig_expr_reshape(g->e, sum, 1, ig_grad_x(g, 2)->type->dims));
    }
}

/* ---- pools ---- */

/* To the first maximum of each window. */
static void pool_max(ig_grad *g, const ig_pool_attrs *own) {
    ig_expr *e = g->e;
    ig_value *x = ig_grad_x(g, 0);
    ig_pool_indices_attrs attrs = { .kernel = own->kernel,
                                    .strides = own->strides,
                                    .dilations = own->dilations,
                                    .before = own->before,
                                    .after = own->after,
                                    .ceil_mode = own->ceil_mode,
                                    .whole = true };
    ig_value *positions = ig_expr_flatten(e, ig_build_pool_indices(e, x, attrs));
    ig_dim count = ig_type_count(e->module, x->type);
    const ig_type *line = ig_type_with_dims(e->module, x->type, 1, &count);
    ig_value *d = ig_expr_flatten(e, g->dy);
    d = ig_grad_add_rows(e, line, positions, NULL, d);
    ig_grad_give(g, 0, ig_expr_reshape(e, d, x->type->rank, x->type->dims));
}

/* dy over each window's divisor: the average of ones is their sum over that. */
static ig_value *divide_windows(ig_grad *g, const ig_pool_attrs *own) {
    ig_expr *e = g->e;
    const ig_type *x = ig_grad_x(g, 0)->type;
    ig_dim dims[IG_TENSOR_RANK] = { ig_dim_of(1), ig_dim_of(1) };
    memcpy(dims + 2, x->dims + 2, (x->rank - 2) * sizeof *dims);
    ig_value *ones = ig_expr_fill(e, (ig_dtype)x->dtype, x->rank, dims, 1);
    ig_pool_attrs sum = *own;
    sum.op = IG_WINDOW_sum;
    sum.count_pad = false;
    sum.divisor = (ig_maybe_int){ 0 };
    ig_value *share = ig_build_pool(e, ones, *own);
    ig_value *count = ig_expr_with(e, IG_OP_max, ig_build_pool(e, ones, sum), 1);
    return ig_build_mul(e, g->dy, ig_build_div(e, share, count));
}

/* A transposed convolution, channel by channel, with weights of ones. */
static void pool_sum(ig_grad *g, const ig_pool_attrs *own, ig_value *dy) {
    ig_expr *e = g->e;
    const ig_type *x = ig_grad_x(g, 0)->type;
    uint32_t space = x->rank - 2;
    ig_dim dims[IG_TENSOR_RANK] = { ig_dim_of(1), ig_dim_of(1) };
    ig_dim before[IG_TENSOR_RANK], reach[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < space; d++) {
        dims[2 + d] = ig_dim_of(own->kernel.items[d]);
        span s = { .stride = ig_spatial_int(g->op, IG_pool_strides, d),
                   .dilation = ig_spatial_int(g->op, IG_pool_dilations, d),
                   .before = ig_spatial_dim(g->op, IG_pool_before, d),
                   .wide = x->dims[2 + d],
                   .count = dy->type->dims[2 + d],
                   .taps = dims[2 + d] };
        before[d] = s.before;
        reach[d] = reach_of(e->module, &s);
    }
    ig_conv_attrs attrs = { .strides = own->strides,
                            .dilations = own->dilations,
                            .before = { before, space },
                            .after = { reach, space },
                            .transposed = true };
    ig_value *ones = ig_expr_fill(e, (ig_dtype)x->dtype, x->rank, dims, 1);
    ig_value *images = ig_expr_unsqueeze(e, ig_expr_merge_axes(e, dy, 0, 1), 1);
    ig_value *d = ig_build_conv(e, images, ones, NULL, attrs);
    ig_grad_give(g, 0, ig_expr_reshape(e, d, x->rank, x->dims));
}

void ig_grad_pool(ig_grad *g) {
    ig_pool_attrs attrs = ig_pool_attrs_of(g->op);
    if (ig_dim_is(ig_type_count(g->e->module, g->dy->type), 0)) {
        return;
    }
    if (attrs.op == IG_WINDOW_max) {
        pool_max(g, &attrs);
    } else {
        bool divides = attrs.op == IG_WINDOW_average;
        pool_sum(g, &attrs, divides ? divide_windows(g, &attrs) : g->dy);
    }
}
