/* Convolutions and pools: windows that slide over the spatial axes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * auto_pad makes of a result of ceil(in / stride) the padding that it needs:
 *
 *     need  = (ceil(in / stride) - 1) * stride + dilation * (kernel - 1) + 1
 *     total = max(need - in, 0)
 *
 * half before and half after, an odd one on the named side; before where none is named,
 * as output_shape alone says a total.
 */
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/nn/window.h"

enum { SPACE = IG_TENSOR_RANK };

typedef struct sliding {
    const ig_onnx_node *node;
    ig_module *module;
    const ig_type *x;
    uint32_t rank; /* spatial axes */
    ig_dim kernel[SPACE], before[SPACE], after[SPACE];
    int64_t strides[SPACE], dilations[SPACE];
    uint32_t auto_pad;
} sliding;

enum { NOTSET, SAME_UPPER, SAME_LOWER, VALID };

/* ---- attributes ---- */

/* One entry per spatial axis, 1 when absent. */
static void read_list(sliding *s, const char *name, int64_t min, int64_t *out) {
    ig_ints list = ig_onnx_attr_list_of(s->node, name, s->rank);
    for (uint32_t i = 0; i < s->rank; i++) {
        out[i] = list.items ? list.items[i] : 1;
        if (list.items && (out[i] < min || out[i] > INT32_MAX)) {
            ig_onnx_fail(s->node, IG_INVALID,
                         "entry %u of %s is %lld, expected %lld to %d", i, name,
                         (long long)out[i], (long long)min, INT32_MAX);
        }
    }
}

static void read_pads(sliding *s) {
    ig_ints list = ig_onnx_attr_list_of(s->node, "pads", 2 * s->rank);
    for (uint32_t i = 0; i < 2 * s->rank; i++) {
        int64_t pad = list.items ? list.items[i] : 0;
        if (pad < -INT32_MAX || pad > INT32_MAX) {
            ig_onnx_fail(s->node, IG_INVALID,
                         "entry %u of pads is %lld, expected %d to %d", i,
                         (long long)pad, -INT32_MAX, INT32_MAX);
            pad = 0;
        }
        *(i < s->rank ? &s->before[i]
                      : &s->after[i - s->rank]) = ig_dim_const(s->module, pad);
    }
}

static void split_total(sliding *s, uint32_t axis, ig_dim total) {
    bool has_odd_before = s->auto_pad != SAME_UPPER;
    ig_dim small = ig_dim_floor_div(s->module, total, ig_dim_of(2));
    ig_dim large = ig_dim_sub(s->module, total, small);
    s->before[axis] = has_odd_before ? large : small;
    s->after[axis] = has_odd_before ? small : large;
}

static ig_dim reach_of(const sliding *s, uint32_t axis) {
    ig_dim steps = ig_dim_sub(s->module, s->kernel[axis], ig_dim_of(1));
    return ig_dim_mul(s->module, steps, ig_dim_of(s->dilations[axis]));
}

static bool is_same(const sliding *s) {
    return s->auto_pad == SAME_UPPER || s->auto_pad == SAME_LOWER;
}

static void pad_same(sliding *s) {
    ig_module *m = s->module;
    ig_dim one = ig_dim_of(1);
    for (uint32_t i = 0; i < s->rank && is_same(s); i++) {
        ig_dim in = s->x->dims[2 + i], stride = ig_dim_of(s->strides[i]);
        ig_dim last = ig_dim_sub(m, ig_dim_ceil_div(m, in, stride), one);
        ig_dim need = ig_dim_add(m, ig_dim_mul(m, last, stride), reach_of(s, i));
        ig_dim total = ig_dim_sub(m, ig_dim_add(m, need, one), in);
        split_total(s, i, ig_dim_max(m, total, ig_dim_of(0)));
    }
}

/* Everything but the kernel; false when the node has failed. */
static bool read_geometry(const ig_onnx_node *node, sliding *s) {
    *s = (sliding){ .node = node,
                    .module = node->import->module,
                    .x = node->inputs[0]->type };
    if (s->x->rank < 3) {
        ig_onnx_fail(node, IG_INVALID, "input 0 has rank %u, expected 3 or more",
                     s->x->rank);
        return false;
    }
    s->rank = s->x->rank - 2;
    read_list(s, "strides", 1, s->strides);
    for (uint32_t i = 0; i < s->rank; i++) {
        s->dilations[i] = 1;
    }
    if (ig_onnx_row_has_attr(node->row, "dilations")) {
        read_list(s, "dilations", 1, s->dilations);
    }
    read_pads(s);
    s->auto_pad = ig_onnx_attr_choice(node, "auto_pad",
                                      "NOTSET SAME_UPPER SAME_LOWER VALID");
    return !ig_onnx_has_failed(node);
}

/* ---- convolutions ---- */

/* The kernel is that of the weights, which kernel_shape repeats. */
static bool read_weights(const ig_onnx_node *node, sliding *s) {
    ig_ints list = ig_onnx_attr_list_of(node, "kernel_shape", s->rank);
    const ig_type *w = ig_onnx_ranked_input(node, 1, s->x->rank)->type;
    for (uint32_t i = 0; i < s->rank && !ig_onnx_has_failed(node); i++) {
        s->kernel[i] = w->dims[2 + i];
        if (list.items) {
            ig_expr_guard_equal(node->e, ig_dim_const(s->module, list.items[i]),
                                s->kernel[i],
                                "kernel_shape must be that of the weights");
        }
    }
    return !ig_onnx_has_failed(node);
}

static void guard_channels(const ig_onnx_node *node, ig_dim groups,
                           bool is_transposed) {
    ig_module *m = node->import->module;
    const ig_type *x = node->inputs[0]->type, *w = node->inputs[1]->type;
    ig_dim grouped = ig_dim_mul(m, w->dims[1], groups);
    ig_expr_guard_equal(node->e, x->dims[1], is_transposed ? w->dims[0] : grouped,
                        "the channels of input and weights differ");
    const ig_value *bias = ig_onnx_in(node, 2);
    if (bias && bias->type->rank == 1) {
        ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, bias, 0),
                            is_transposed ? grouped : w->dims[0],
                            "the bias must have one entry per channel");
    }
}

static ig_status build_conv(ig_onnx_node *node, const sliding *s, bool is_transposed) {
    int64_t group = ig_onnx_attr_between(node, "group", 1, 1, INT32_MAX);
    guard_channels(node, ig_dim_of(group), is_transposed);
    ig_conv_attrs attrs = { .strides = { s->strides, s->rank },
                            .dilations = { s->dilations, s->rank },
                            .before = { s->before, s->rank },
                            .after = { s->after, s->rank },
                            .group = IG_SET(group),
                            .transposed = is_transposed };
    return ig_onnx_give(node, ig_build_conv(node->e, node->inputs[0], node->inputs[1],
                                            ig_onnx_in(node, 2), attrs));
}

static bool read_conv(const ig_onnx_node *node, sliding *s) {
    if (!read_geometry(node, s) || !read_weights(node, s)) {
        return false;
    }
    pad_same(s);
    return true;
}

ig_status ig_onnx_import_conv(ig_onnx_node *node) {
    sliding s;
    return read_conv(node, &s) ? build_conv(node, &s, false) : node->e->status;
}

ig_value *ig_onnx_conv_integer(const ig_onnx_node *node, ig_integers x, ig_integers w) {
    ig_onnx_node conv = *node;
    ig_value *inputs[] = { x.value, w.value };
    sliding s;
    conv.inputs = inputs;
    conv.input_count = 2;
    if (!read_conv(&conv, &s)) {
        return NULL;
    }
    int64_t group = ig_onnx_attr_between(node, "group", 1, 1, INT32_MAX);
    guard_channels(&conv, ig_dim_of(group), false);
    ig_conv_integer_attrs attrs = { .strides = { s.strides, s.rank },
                                    .dilations = { s.dilations, s.rank },
                                    .before = { s.before, s.rank },
                                    .after = { s.after, s.rank },
                                    .group = IG_SET(group) };
    return ig_compose_conv_integer(node->e, x, w, attrs);
}

/* The result is to have `wanted` elements: the surplus is split between its ends. */
static void crop_to(sliding *s, uint32_t axis, ig_dim wanted, ig_dim extra) {
    ig_module *m = s->module;
    ig_dim zero = ig_dim_of(0), one = ig_dim_of(1);
    ig_dim steps = ig_dim_sub(m, s->x->dims[2 + axis], one);
    ig_dim full = ig_dim_mul(m, steps, ig_dim_of(s->strides[axis]));
    full = ig_dim_add(m, full, ig_dim_add(m, reach_of(s, axis), one));
    full = ig_dim_add(m, full, extra);
    ig_dim lacking = ig_dim_max(m, ig_dim_sub(m, wanted, full), zero);
    split_total(s, axis, ig_dim_max(m, ig_dim_sub(m, full, wanted), zero));
    s->after[axis] = ig_dim_sub(m, s->after[axis], lacking);
}

ig_status ig_onnx_import_conv_transpose(ig_onnx_node *node) {
    sliding s;
    if (!read_geometry(node, &s) || !read_weights(node, &s)) {
        return node->e->status;
    }
    int64_t extra[SPACE];
    read_list(&s, "output_padding", 0, extra);
    bool has_extra = ig_onnx_attr_list(node, "output_padding").items != NULL;
    ig_ints shape = ig_onnx_attr_list_of(node, "output_shape", s.rank);
    for (uint32_t i = 0; i < s.rank && !ig_onnx_has_failed(node); i++) {
        ig_dim more = ig_dim_of(has_extra ? extra[i] : 0);
        ig_dim stride = ig_dim_of(s.strides[i]);
        if (shape.items) {
            crop_to(&s, i, ig_dim_const(s.module, shape.items[i]), more);
        } else if (is_same(&s)) {
            crop_to(&s, i, ig_dim_mul(s.module, s.x->dims[2 + i], stride), more);
        }
        s.after[i] = ig_dim_sub(s.module, s.after[i], more);
    }
    return build_conv(node, &s, true);
}

/* ---- pools ---- */

/* Geometry and kernel of a pool; false when the node has failed. */
static bool read_pool(const ig_onnx_node *node, sliding *s, int64_t *kernel,
                      ig_pool_attrs *attrs) {
    if (!read_geometry(node, s)) {
        return false;
    }
    read_list(s, "kernel_shape", 1, kernel);
    for (uint32_t i = 0; i < s->rank && !ig_onnx_has_failed(node); i++) {
        s->kernel[i] = ig_dim_of(kernel[i]);
    }
    if (ig_onnx_has_failed(node)) {
        return false;
    }
    pad_same(s);
    *attrs = (ig_pool_attrs){ .op = node->row->variant,
                              .kernel = { kernel, s->rank },
                              .strides = { s->strides, s->rank },
                              .dilations = { s->dilations, s->rank },
                              .before = { s->before, s->rank },
                              .after = { s->after, s->rank } };
    attrs->ceil_mode = ig_onnx_attr_bool(node, "ceil_mode", false);
    return true;
}

/* AveragePool. */
ig_status ig_onnx_import_average_pool(ig_onnx_node *node) {
    sliding s;
    int64_t kernel[SPACE];
    ig_pool_attrs attrs;
    if (!read_pool(node, &s, kernel, &attrs)) {
        return node->e->status;
    }
    attrs.count_pad = ig_onnx_attr_bool(node, "count_include_pad", false);
    return ig_onnx_give(node, ig_build_pool(node->e, node->inputs[0], attrs));
}

ig_status ig_onnx_import_max_pool(ig_onnx_node *node) {
    sliding s;
    int64_t kernel[SPACE];
    ig_pool_attrs attrs;
    if (!read_pool(node, &s, kernel, &attrs)) {
        return node->e->status;
    }
    if (node->output_count > 1) {
        ig_pool_indices_attrs indices = {
            .kernel = attrs.kernel,
            .strides = attrs.strides,
            .dilations = attrs.dilations,
            .before = attrs.before,
            .after = attrs.after,
            .ceil_mode = attrs.ceil_mode,
            .whole = true,
            .column_major = ig_onnx_attr_bool(node, "storage_order", false),
        };
        node->outputs[1] = ig_build_pool_indices(node->e, node->inputs[0], indices);
    }
    return ig_onnx_give(node, ig_build_pool(node->e, node->inputs[0], attrs));
}

/* ---- p-norms ---- */

static ig_value *raise_to(ig_expr *e, ig_value *x, double power) {
    return power == 1 ? x : ig_expr_with(e, IG_OP_pow, x, power);
}

/* |x|^p of a float input: of a narrow one in f32, since powers soon leave its range. */
static ig_value *read_powers(const ig_onnx_node *node, double *out_p) {
    ig_value *x = ig_expr_widen(node->e, ig_onnx_float_input(node, 0));
    *out_p = (double)ig_onnx_attr_between(node, "p", 2, 1, INT32_MAX);
    return raise_to(node->e, ig_build_abs(node->e, x), *out_p);
}

static ig_status give_roots(ig_onnx_node *node, ig_value *sums, double p) {
    ig_value *roots = raise_to(node->e, sums, 1 / p);
    return ig_onnx_give(node, ig_expr_like(node->e, roots, node->inputs[0]));
}

ig_status ig_onnx_import_lp_pool(ig_onnx_node *node) {
    sliding s;
    int64_t kernel[SPACE];
    ig_pool_attrs attrs;
    double p;
    ig_value *powers = read_powers(node, &p);
    if (!read_pool(node, &s, kernel, &attrs)) {
        return node->e->status;
    }
    return give_roots(node, ig_build_pool(node->e, powers, attrs), p);
}

/* ---- over all of space ---- */

static ig_value *reduce_space(const ig_onnx_node *node, ig_reduce kind, ig_value *x) {
    uint32_t rank = node->inputs[0]->type->rank;
    return rank < 3 ? ig_expr_fail(node->e, IG_INVALID,
                                   "input 0 has rank %u, expected 3 or more", rank)
                    : ig_expr_reduce_axes(node->e, kind, x, 2, rank - 1);
}

ig_status ig_onnx_import_global_pool(ig_onnx_node *node) {
    return ig_onnx_give(node, reduce_space(node, (ig_reduce)node->row->variant,
                                           ig_onnx_float_input(node, 0)));
}

ig_status ig_onnx_import_global_lp_pool(ig_onnx_node *node) {
    double p;
    ig_value *sums = reduce_space(node, IG_REDUCE_sum, read_powers(node, &p));
    return give_roots(node, sums, p);
}
