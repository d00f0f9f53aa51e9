/* Reductions and running sums.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Axes are an attribute in old versions and an input in newer ones; ig_onnx_axes reads
 * either, and where an input is computed from data the op takes it as an operand.
 */
#include "frontend/onnx/ops/hooks.h"

/* Pools rows that were looked up, or is in a body: a bag, as torch's exporter
 * writes it, whose mean of nothing is 0.  ONNX leaves it open; elsewhere it is NaN. */
static bool is_bag(const ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    const ig_op *weighted = ig_def(x, IG_OP_mul);
    x = weighted ? weighted->operands[0].value : x;
    return node->builder->block->parent || ig_def(x, IG_OP_gather);
}

static bool is_reduced(const ig_type *x, const ig_ints *axes, uint32_t axis) {
    bool is_one = axes->count == 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        is_one |= axes->items[i] == axis || axes->items[i] + x->rank == axis;
    }
    return is_one;
}

static bool may_be_empty(const ig_onnx_node *node, const ig_ints *axes) {
    const ig_type *x = node->inputs[0]->type;
    for (uint32_t d = 0; d < x->rank; d++) {
        int64_t min, max;
        ig_dim_range(node->e->module, x->dims[d], &min, &max);
        if (is_reduced(x, axes, d) && min < 1) {
            return true;
        }
    }
    return false;
}

/* The mean of no integers is no integer, where the result has elements. */
static void guard_mean(const ig_onnx_node *node, const ig_ints *axes) {
    const ig_type *x = node->inputs[0]->type;
    ig_module *module = node->e->module;
    ig_dim count = ig_dim_of(1), lines = ig_dim_of(1);
    for (uint32_t d = 0; d < x->rank; d++) {
        ig_dim *of = is_reduced(x, axes, d) ? &count : &lines;
        *of = ig_dim_mul(module, *of, x->dims[d]);
    }
    ig_expr_guard_less_equal(node->e, ig_dim_min(module, ig_dim_of(1), lines), count,
                             "the mean of zero integers is not defined");
}

ig_status ig_onnx_import_reduce(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *axes = ig_onnx_in(node, 1);
    ig_reduce_attrs attrs = {
        .op = node->row->variant,
        .keep = ig_onnx_attr_bool(node, "keepdims", true),
        .noop_if_empty = ig_onnx_attr_bool(node, "noop_with_empty_axes", false),
    };
    bool is_mean = attrs.op == IG_REDUCE_mean && is_bag(node);
    if (axes && !ig_onnx_is_known(node, 1)) {
        attrs.empty_zero = is_mean;
        return ig_onnx_give(node, ig_build_reduce(node->e, x, axes, attrs));
    }
    attrs.axes = ig_onnx_axes(node, "axes", 1, x->type->rank);
    attrs.axes.items = attrs.axes.count ? attrs.axes.items : NULL; /* none: all */
    bool is_noop = attrs.noop_if_empty && !attrs.axes.count;
    bool may_be_none = attrs.op == IG_REDUCE_mean && !is_noop &&
                       may_be_empty(node, &attrs.axes);
    attrs.empty_zero = is_mean && may_be_none;
    if (may_be_none && !is_mean && ig_dtypes[x->type->dtype].class != IG_FLOAT) {
        guard_mean(node, &attrs.axes);
    }
    return ig_onnx_give(node, ig_build_reduce(node->e, x, NULL, attrs));
}

/* ---- running sums and products ---- */

static ig_value *build_running(const ig_onnx_node *node, uint32_t axis) {
    bool is_exclusive = ig_onnx_attr_bool(node, "exclusive", false);
    bool is_reverse = ig_onnx_attr_bool(node, "reverse", false);
    if (node->row->variant == IG_OP_cumsum) {
        ig_cumsum_attrs attrs = { .axis = axis,
                                  .exclusive = is_exclusive,
                                  .reverse = is_reverse };
        return ig_build_cumsum(node->e, node->inputs[0], attrs);
    }
    ig_cumulate_attrs attrs = { .op = IG_CUMULATE_prod,
                                .axis = axis,
                                .exclusive = is_exclusive,
                                .reverse = is_reverse };
    return ig_build_cumulate(node->e, node->inputs[0], attrs);
}

/* Only the run knows the axis: all of them are computed, one is chosen.  One that is
 * out of range is refused by the gather that reads it. */
static ig_value *choose_running(const ig_onnx_node *node) {
    ig_expr *e = node->e;
    uint32_t rank = node->inputs[0]->type->rank;
    ig_value *all = ig_expr_iota(e, IG_DT_i64, ig_dim_of(rank));
    ig_value *axis = ig_expr_gather(e, all, ig_onnx_count_input(node, 1), 0,
                                    IG_NEGATIVE_wrap);
    ig_value *chosen = build_running(node, rank - 1);
    for (uint32_t d = rank - 1; d-- > 0;) {
        ig_value *is_this = ig_expr_with(e, IG_OP_eq, axis, d);
        chosen = ig_build_where(e, is_this, build_running(node, d), chosen);
    }
    return chosen;
}

ig_status ig_onnx_import_running(ig_onnx_node *node) {
    uint32_t rank = node->inputs[0]->type->rank;
    if (!ig_onnx_is_known(node, 1)) {
        return ig_onnx_give(node,
                            rank > 1 ? choose_running(node) : build_running(node, 0));
    }
    ig_ints axes = ig_onnx_list(node, "axis", 1);
    if (axes.count != 1) {
        return ig_onnx_fail(node, IG_INVALID,
                            "input 1, axis, has %u entries, expected 1", axes.count);
    }
    return ig_onnx_give(
        node, build_running(node, ig_onnx_axis_of(node, axes.items[0], rank)));
}
