/* Convolutions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An input without batch gets one of 1, which goes again. */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <string.h>

enum { SPACE_MAX = 3 };

/* A list of one number is for all spatial axes. */
static bool read_list(ig_ts_call *call, uint32_t index, uint32_t space, int64_t *out) {
    uint32_t count;
    const int64_t *given = ig_aten_ints(call, index, 0, &count);
    if (call->e->status == IG_OK && count != 1 && count != space) {
        ig_expr_fail(call->e, IG_INVALID, "%u numbers for %u spatial axes", count,
                     space);
    }
    for (uint32_t i = 0; call->e->status == IG_OK && i < space; i++) {
        out[i] = given[count == 1 ? 0 : i];
    }
    return call->e->status == IG_OK;
}

typedef struct window {
    uint32_t space;
    int64_t kernel[SPACE_MAX], stride[SPACE_MAX], pad[SPACE_MAX], dilation[SPACE_MAX],
        more[SPACE_MAX];
} window;

static bool check_space(ig_ts_call *call, uint32_t space) {
    if (space == 0 || space > SPACE_MAX) {
        ig_expr_fail(call->e, IG_INVALID, "%u spatial axes", space);
        return false;
    }
    return true;
}

/* ---- convolution ---- */

typedef struct convolution {
    ig_value *x, *weight, *bias;
    window w;
    ig_dim before[SPACE_MAX], after[SPACE_MAX];
    int64_t group;
    bool is_transposed, had_batch;
} convolution;

static bool open_convolution(ig_ts_call *call, convolution *c) {
    memset(c, 0, sizeof *c);
    c->x = ig_aten_tensor(call, 0);
    c->weight = ig_aten_tensor(call, 1);
    c->bias = ig_aten_optional(call, 2);
    if (!c->x || !c->weight || call->e->status != IG_OK) {
        return false;
    }
    c->w.space = c->weight->type->rank - 2;
    c->had_batch = c->x->type->rank == c->weight->type->rank;
    if (!check_space(call, c->w.space)) {
        return false;
    }
    if (!c->had_batch && c->x->type->rank + 1 != c->weight->type->rank) {
        ig_expr_fail(call->e, IG_INVALID, "an input of rank %u, a weight of rank %u",
                     c->x->type->rank, c->weight->type->rank);
        return false;
    }
    c->x = c->had_batch ? c->x : ig_expr_unsqueeze(call->e, c->x, 0);
    return c->x != NULL;
}

static ig_status give_convolution(ig_ts_call *call, convolution *c) {
    uint32_t space = c->w.space;
    IG_TRY(call->e->status);
    ig_conv_attrs attrs = { .strides = { c->w.stride, space },
                            .dilations = { c->w.dilation, space },
                            .before = { c->before, space },
                            .after = { c->after, space },
                            .group = IG_SET(c->group),
                            .transposed = c->is_transposed };
    ig_value *value = ig_build_conv(call->e, c->x, c->weight, c->bias, attrs);
    return ig_aten_give(call,
                        c->had_batch ? value : ig_expr_squeeze(call->e, value, 0));
}

static void set_pads(ig_ts_call *call, convolution *c) {
    for (uint32_t i = 0; i < c->w.space; i++) {
        int64_t more = c->is_transposed ? c->w.more[i] : 0;
        c->before[i] = ig_dim_const(call->module, c->w.pad[i]);
        c->after[i] = ig_dim_sub(call->module, c->before[i],
                                 ig_dim_const(call->module, more));
    }
}

/* _convolution(input, weight, bias, stride, padding, dilation, transposed,
 * output_padding, groups, …) and convolution, which ends there. */
ig_status ig_ts_op_convolution(ig_ts_call *call) {
    convolution c;
    if (!open_convolution(call, &c) || !read_list(call, 3, c.w.space, c.w.stride) ||
        !read_list(call, 4, c.w.space, c.w.pad) ||
        !read_list(call, 5, c.w.space, c.w.dilation) ||
        !read_list(call, 7, c.w.space, c.w.more)) {
        return call->e->status;
    }
    c.is_transposed = ig_aten_bool(call, 6);
    c.group = ig_aten_int(call, 8);
    set_pads(call, &c);
    return give_convolution(call, &c);
}

/* "same": (kernel - 1) * dilation in all, the odd one after; "valid": none. */
static bool named_pads(ig_ts_call *call, convolution *c, uint32_t index) {
    ig_str name = ig_aten_str(call, index);
    bool is_same = ig_str_is(name, "same");
    if (!is_same && !ig_str_is(name, "valid")) {
        ig_expr_fail(call->e, IG_INVALID, "padding is '%.*s'", IG_STR_ARG(name));
    }
    for (uint32_t i = 0; i < c->w.space; i++) {
        ig_dim all = ig_dim_sub(call->module, ig_expr_extent(call->e, c->weight, 2 + i),
                                ig_dim_of(1));
        all = is_same ? ig_dim_mul(call->module, all,
                                   ig_dim_const(call->module, c->w.dilation[i]))
                      : ig_dim_of(0);
        c->before[i] = ig_dim_floor_div(call->module, all, ig_dim_of(2));
        c->after[i] = ig_dim_sub(call->module, all, c->before[i]);
    }
    return call->e->status == IG_OK;
}

/* convNd(input, weight, bias, stride, padding, dilation, groups); padding is a list or
 * a name. */
ig_status ig_ts_op_conv(ig_ts_call *call) {
    convolution c;
    if (!open_convolution(call, &c) || !read_list(call, 3, c.w.space, c.w.stride) ||
        !read_list(call, 5, c.w.space, c.w.dilation)) {
        return call->e->status;
    }
    c.group = ig_aten_int(call, 6);
    if (call->args[4].kind == IG_TS_STR) {
        return named_pads(call, &c, 4) ? give_convolution(call, &c) : call->e->status;
    }
    if (!read_list(call, 4, c.w.space, c.w.pad)) {
        return call->e->status;
    }
    set_pads(call, &c);
    return give_convolution(call, &c);
}

/* conv_transposeNd(input, weight, bias, stride, padding, output_padding, groups,
 * dilation) */
ig_status ig_ts_op_conv_transpose(ig_ts_call *call) {
    convolution c;
    if (!open_convolution(call, &c) || !read_list(call, 3, c.w.space, c.w.stride) ||
        !read_list(call, 4, c.w.space, c.w.pad) ||
        !read_list(call, 5, c.w.space, c.w.more) ||
        !read_list(call, 7, c.w.space, c.w.dilation)) {
        return call->e->status;
    }
    c.is_transposed = true;
    c.group = ig_aten_int(call, 6);
    set_pads(call, &c);
    return give_convolution(call, &c);
}

/* conv_tbc(self [T, B, C], weight [K, C, O], bias, pad) */
ig_status ig_ts_op_conv_tbc(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *weight = ig_aten_tensor(call, 1);
    ig_value *bias = ig_aten_tensor(call, 2);
    ig_dim pad = ig_aten_dim(call, 3);
    x = ig_expr_transpose(call->e, x, (int64_t[]){ 1, 2, 0 });
    weight = ig_expr_transpose(call->e, weight, (int64_t[]){ 2, 1, 0 });
    ig_conv_attrs attrs = { .before = { &pad, 1 }, .after = { &pad, 1 } };
    x = ig_build_conv(call->e, x, weight, bias, attrs);
    return ig_aten_give(call, ig_expr_transpose(call->e, x, (int64_t[]){ 2, 0, 1 }));
}
