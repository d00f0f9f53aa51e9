/* Ordering, finding and counting elements; masks made of positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

#include <math.h>

/* ---- extremes and order ---- */

ig_status ig_onnx_import_arg_reduce(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    ig_expr *e = node->e;
    ig_arg_reduce_attrs attrs = {
        .op = node->row->variant,
        .axis = ig_onnx_axis_attr(node, "axis", 0, x->type->rank),
        .keep = ig_onnx_attr_bool(node, "keepdims", true),
        .last = ig_onnx_attr_bool(node, "select_last_index", false),
    };
    IG_TRY(e->status);
    ig_dim lines = ig_dim_of(1); /* for each of which there must be an element */
    for (uint32_t d = 0; d < x->type->rank; d++) {
        lines = d == attrs.axis ? lines
                                : ig_dim_mul(e->module, lines, x->type->dims[d]);
    }
    ig_expr_guard_less_equal(e, ig_dim_min(e->module, ig_dim_of(1), lines),
                             ig_onnx_extent(e, x, (uint32_t)attrs.axis),
                             "zero elements have no largest or smallest");
    return ig_onnx_give(node, ig_build_arg_reduce(e, x, attrs));
}

ig_status ig_onnx_import_top_k(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *count = ig_onnx_in(node, 1);
    ig_topk_attrs attrs = {
        .axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank),
        .smallest = !ig_onnx_attr_bool(node, "largest", true),
    };
    if (!count) {
        int64_t k = ig_onnx_attr_between(node, "k", 0, 0, INT64_MAX);
        attrs.k = (ig_maybe_dim)IG_SET(ig_dim_of(k));
    }
    return ig_onnx_give_results(node, ig_build_topk(node->e, x, count, attrs));
}

/* Of texts: of the places of these among all in order, whose first ones are looked
 * up. */
static ig_status give_unique_texts(ig_onnx_node *node, ig_value *x,
                                   ig_unique_attrs attrs) {
    ig_expr *e = node->e;
    ig_value *parts = attrs.axis.is_set ? x : ig_expr_flatten(e, x);
    uint32_t axis = attrs.axis.is_set ? (uint32_t)attrs.axis.value : 0;
    ig_value *positions = ig_build_unique(e, ig_build_text_order(e, parts), attrs);
    IG_TRY(ig_onnx_give_results(node, positions));
    node->outputs[0] = ig_expr_gather(e, parts, ig_op_result(positions->def, 1), axis,
                                      IG_NEGATIVE_error);
    return e->status;
}

ig_status ig_onnx_import_unique(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    bool is_sorted = ig_onnx_attr_bool(node, "sorted", true);
    ig_unique_attrs attrs = { .order = is_sorted ? IG_UNIQUE_sorted : IG_UNIQUE_first };
    if (ig_onnx_attr(node, "axis", NULL)) {
        uint32_t axis = ig_onnx_axis_attr(node, "axis", 0, x->type->rank);
        attrs.axis = (ig_maybe_int)IG_SET(axis);
    }
    if (x->type->dtype == IG_DT_str) {
        return give_unique_texts(node, x, attrs);
    }
    return ig_onnx_give_results(node, ig_build_unique(node->e, x, attrs));
}

/* ---- positions of elements ---- */

ig_status ig_onnx_import_nonzero(ig_onnx_node *node) {
    ig_value *rows = ig_build_nonzero(node->e, node->inputs[0]);
    return ig_onnx_give(node, ig_expr_swap(node->e, rows, 0, 1));
}

/* The elements along an axis (or of all of x) whose condition holds. */
ig_status ig_onnx_import_compress(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *condition = ig_onnx_ranked_input(node, 1, 1);
    uint32_t axis = 0;
    if (ig_onnx_attr(node, "axis", NULL)) {
        axis = ig_onnx_axis_attr(node, "axis", 0, x->type->rank);
    } else {
        x = ig_expr_flatten(node->e, x);
    }
    if (x && condition) { /* it may be shorter */
        ig_expr_guard_less_equal(
            node->e, ig_onnx_extent(node->e, condition, 0),
            ig_onnx_extent(node->e, x, axis),
            "the condition must have no more entries than there are elements");
    }
    ig_value *rows = ig_expr_flatten(node->e, ig_build_nonzero(node->e, condition));
    return ig_onnx_give(node,
                        ig_expr_gather(node->e, x, rows, axis, IG_NEGATIVE_error));
}

/* ---- masks of positions ---- */

/* Column minus row number of the last two axes of input 0. */
static ig_value *index_diagonals(const ig_onnx_node *node) {
    const ig_type *type = node->inputs[0]->type;
    if (type->rank < 2) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "input 0 has rank %u, expected 2 or more", type->rank);
    }
    ig_value *rows = ig_expr_axis_iota(node->e, 2, 0, type->dims[type->rank - 2]);
    ig_value *columns = ig_expr_axis_iota(node->e, 2, 1, type->dims[type->rank - 1]);
    return ig_build_sub(node->e, columns, rows);
}

ig_status ig_onnx_import_trilu(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0];
    ig_opcode code = ig_onnx_attr_bool(node, "upper", true) ? IG_OP_ge : IG_OP_le;
    ig_value *k = ig_onnx_in(node, 1) ? ig_onnx_count_input(node, 1)
                                      : ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
    ig_value *is_kept = ig_expr_map2(e, code, index_diagonals(node), k);
    return ig_onnx_give(node, ig_build_where(e, is_kept, x, zero));
}

ig_status ig_onnx_import_eye_like(ig_onnx_node *node) {
    ig_dtype own = (ig_dtype)node->inputs[0]->type->dtype;
    ig_dtype dtype = ig_onnx_attr_dtype(node, "dtype", own);
    ig_value *k = ig_expr_integer(node->e, IG_DT_i64, ig_onnx_attr_int(node, "k", 0));
    ig_value *is_one = ig_build_eq(node->e, index_diagonals(node), k);
    return ig_onnx_give(node, ig_expr_cast(node->e, is_one, dtype));
}

static bool may_be_empty(const ig_expr *e, ig_dim extent) {
    int64_t min, max;
    ig_dim_range(e->module, extent, &min, &max);
    return min < 1;
}

/* 1 at the first extreme of each line along `axis`, 0 elsewhere. */
static ig_value *make_hardmax(ig_expr *e, ig_value *x, uint32_t axis) {
    ig_arg_reduce_attrs attrs = { .axis = axis, .keep = true };
    ig_dim extent = ig_onnx_extent(e, x, axis);
    ig_value *line = x;
    if (x && may_be_empty(e, extent)) { /* of nothing no place is the largest's */
        ig_dim before[IG_TENSOR_RANK] = { 0 }, after[IG_TENSOR_RANK] = { 0 };
        after[axis] = ig_dim_of(1);
        line = ig_expr_pad(e, x, before, after, IG_PAD_constant, -INFINITY);
    }
    ig_value *index = ig_build_arg_reduce(e, line, attrs);
    if (!index) {
        return NULL;
    }
    ig_value *all = ig_expr_axis_iota(e, x->type->rank, axis, extent);
    return ig_expr_like(e, ig_build_eq(e, index, all), x);
}

ig_status ig_onnx_import_hardmax(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    uint32_t axis = ig_onnx_axis_attr(node, "axis", -1, x->type->rank);
    return ig_onnx_give(node, make_hardmax(node->e, x, axis));
}

/* Before opset 13: over all axes from `axis` on. */
ig_status ig_onnx_import_hardmax_flat(ig_onnx_node *node) {
    const ig_type *type = node->inputs[0]->type;
    uint32_t axis = ig_onnx_axis_attr(node, "axis", 1, type->rank);
    if (ig_onnx_has_failed(node)) {
        return node->e->status;
    }
    ig_value *x = ig_expr_merge_axes(node->e, node->inputs[0], axis, type->rank - 1);
    x = make_hardmax(node->e, x, axis);
    return ig_onnx_give(node, ig_expr_reshape(node->e, x, type->rank, type->dims));
}

/* Line k of the batch is turned around up to its length. */
ig_status ig_onnx_import_reverse_sequence(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0], *lengths = ig_onnx_ranked_input(node, 1, 1);
    uint32_t rank = x->type->rank;
    int64_t time = ig_onnx_attr_between(node, "time_axis", 0, 0, 1);
    int64_t batch = ig_onnx_attr_between(node, "batch_axis", 1, 0, 1);
    IG_TRY(e->status); /* lengths of another rank */
    if (time == batch || rank < 2) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "time_axis and batch_axis are %lld and %lld of an input of rank %u, expected 0 and 1, or 1 and 0, of rank 2 or more",
            (long long)time, (long long)batch, rank);
    }
    ig_onnx_guard_extents(node, 0, (uint32_t)batch, 1, 0);
    ig_dim steps = ig_onnx_extent(e, x, (uint32_t)time);
    lengths = ig_onnx_index_among(node, lengths,
                                  ig_dim_add(e->module, steps, ig_dim_of(1)));
    lengths = ig_expr_along(e, lengths, (uint32_t)batch, rank);
    ig_value *at = ig_expr_axis_iota(e, rank, (uint32_t)time, steps);
    ig_value *turned = ig_build_sub(e, ig_expr_with(e, IG_OP_sub, lengths, 1), at);
    ig_value *from = ig_build_where(e, ig_build_lt(e, at, lengths), turned, at);
    from = ig_expr_expand(e, from, rank, x->type->dims);
    ig_gather_elements_attrs attrs = { .axis = time };
    return ig_onnx_give(node, ig_build_gather_elements(e, x, from, attrs));
}
