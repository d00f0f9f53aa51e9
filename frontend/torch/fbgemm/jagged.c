/* FBGEMM's jagged tensors: to dense ones and back, and arithmetic between the two.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A jagged tensor is values [n, …] and one array of offsets for each of its jagged
 * axes, each over the segments of the one before.  Those of one axis are converted by
 * ops of their own, the others by compose/rows/jagged.c.
 */
#include "compose/rows/jagged.h"
#include "frontend/torch/eval/control.h"
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

typedef struct jagged {
    ig_ts_call *call;
    ig_value *values; /* [n, …] */
    ig_jagged_parts parts;
    ig_value *edges;  /* offsets of the only axis, perhaps i32 */
    ig_value **given; /* offsets as they came */
    bool is_strict;   /* an element without a place in the dense tensor is an error */
} jagged;

static void set_only_offsets(jagged *j, ig_value *offsets) {
    bool is_index = offsets && (offsets->type->dtype == IG_DT_i32 ||
                                offsets->type->dtype == IG_DT_i64);
    j->parts.axes = 1;
    j->parts.offsets[0] = ig_expr_cast(j->call->e, offsets, IG_DT_i64);
    j->edges = is_index ? offsets : j->parts.offsets[0];
}

static jagged open_jagged(ig_ts_call *call, uint32_t values, uint32_t offsets) {
    jagged j = { .call = call };
    uint32_t axes = 0;
    j.values = ig_aten_tensor(j.call, values);
    if (!ig_expr_note(call->e, ig_ts_tensors(call, offsets, &j.given, &axes))) {
        return j;
    }
    if (axes == 0 || axes > IG_JAGGED_AXES) {
        ig_expr_note(call->e,
                     ig_ts_fail(call, IG_UNSUPPORTED,
                                "offsets has %u tensors, expected 1 to %d jagged axes",
                                axes, IG_JAGGED_AXES));
        return j;
    }
    set_only_offsets(&j, j.given[0]);
    j.parts.axes = axes;
    for (uint32_t i = 1; i < axes; i++) {
        j.parts.offsets[i] = ig_expr_cast(call->e, j.given[i], IG_DT_i64);
    }
    return j;
}

static jagged open_one(ig_ts_call *call, uint32_t values, uint32_t offsets) {
    jagged j = { .call = call };
    j.values = ig_aten_tensor(j.call, values);
    set_only_offsets(&j, ig_aten_tensor(call, offsets));
    return j;
}

/* ---- to dense ---- */

static ig_value *to_dense(jagged *j, const ig_dim *max, double padding) {
    ig_expr *e = j->call->e;
    if (!j->values) {
        return NULL;
    }
    if (j->parts.axes == 1) {
        ig_jagged_to_padded_attrs attrs = { .length = max[0] };
        if (padding != 0 || signbit(padding)) {
            attrs.padding = (ig_maybe_float)IG_SET(padding);
        }
        return ig_build_jagged_to_padded(e, j->values, j->edges, attrs);
    }
    ig_value *number = ig_expr_number(e, (ig_dtype)j->values->type->dtype, padding);
    return ig_compose_jagged_to_padded(e, &j->parts, j->values, max, number);
}

ig_status ig_ts_op_fb_to_dense(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    const ig_dim *max;
    uint32_t count;
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_dims(call, 2, j.parts.axes, &max, &count));
    double padding = ig_aten_float(call, 3);
    return ig_aten_give(call, to_dense(&j, max, padding));
}

/* Variant: the rank of the values. */
ig_status ig_ts_op_fb_one_to_dense(ig_ts_call *call) {
    jagged j = open_one(call, 0, 1);
    int64_t padding = 0;
    ig_dim max = ig_aten_dim(call, 2);
    if (call->row->variant == 1) {
        padding = ig_aten_int(call, 3);
    }
    return ig_aten_give(call, to_dense(&j, &max, (double)padding));
}

/* ---- from dense ---- */

/* How many elements there are: a dim, or a value where it depends on data. */
typedef struct element_count {
    ig_dim dim;
    ig_value *value; /* NULL: the dim */
} element_count;

static element_count count_of(jagged *j, const ig_value *values) {
    return (element_count){ .dim = ig_fb_extent(j->call->e, values, 0) };
}

static ig_value *one_from_dense(jagged *j, ig_value *dense, element_count count) {
    ig_expr *e = j->call->e;
    ig_padded_to_jagged_attrs attrs = { 0 };
    if (!count.value) {
        attrs.rows = (ig_maybe_dim)IG_SET(count.dim);
    }
    ig_expr_guard_equal(e, ig_fb_extent(e, dense, 0), ig_fb_segments(e, j->edges),
                        "the dense tensor must have a row for each segment");
    return ig_build_padded_to_jagged(e, dense, j->edges, count.value, attrs);
}

/* Elements of `dense` [batch, max…, …] at the places of the values; 0 beyond it. */
static ig_value *from_dense(jagged *j, ig_value *dense, element_count count) {
    ig_ts_call *call = j->call;
    ig_expr *e = call->e;
    ig_value *is_in = NULL, *out = NULL;
    uint32_t axes = j->parts.axes;
    if (!dense || dense->type->rank < axes + 1) {
        ig_expr_note(e, ig_ts_fail(call, IG_INVALID,
                                   "the dense tensor has rank %u, expected %u or more",
                                   dense ? dense->type->rank : 0, axes + 1));
        return NULL;
    }
    if (axes == 1 && !j->is_strict) {
        return one_from_dense(j, dense, count);
    }
    ig_value *all = count.value ? count.value : ig_expr_dim(e, count.dim, IG_DT_i64);
    out = ig_compose_padded_to_jagged(e, &j->parts, dense, all, &is_in);
    if (out && j->is_strict) {
        ig_value *fits = ig_expr_reduce(
            e, IG_REDUCE_min, ig_expr_cast(e, is_in, IG_DT_i8), NULL, 0, false);
        ig_ts_guard_truth(call->eval, ig_expr_cast(e, fits, IG_DT_bool), true,
                          "a segment is longer than the dense tensor");
        out = axes == 1 ? one_from_dense(j, dense, count) : out;
    }
    return out;
}

/* The rows named …_forward give the values alone. */
static bool gives_offsets(const jagged *j) {
    return j->call->result_count > 1;
}

static ig_status give_offsets(jagged *j, uint32_t result) {
    IG_TRY(j->call->e->status);
    if (!gives_offsets(j)) {
        return IG_OK;
    }
    return ig_ts_give_list(j->call, result, IG_TS_NO_ARG, j->given, j->parts.axes);
}

/* Variant 1: torch's own, which has no zeros for elements that the dense tensor
 * lacks. */
ig_status ig_ts_op_fb_to_jagged(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    ig_value *dense = j.values;
    IG_TRY(call->e->status);
    j.is_strict = call->row->variant != 0;
    element_count count = { 0 };
    if (ig_ts_is_none(call, 2)) {
        count.value = ig_compose_last(call->e, j.parts.offsets[j.parts.axes - 1]);
    } else {
        count.dim = ig_aten_dim(call, 2);
    }
    IG_TRY(ig_ts_give(call, 0, from_dense(&j, dense, count)));
    return give_offsets(&j, 1);
}

/* Jagged arithmetic with dense tensors; variant: how many are added, 0: multiplied. */
ig_status ig_ts_op_fb_jagged_dense(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    uint32_t added = (uint32_t)call->row->variant;
    IG_TRY(call->e->status);
    ig_value *x = j.values;
    element_count count = count_of(&j, x);
    for (uint32_t i = 0; i < (added ? added : 1); i++) {
        ig_value *y = from_dense(&j, ig_aten_tensor(call, 2 + i), count);
        IG_TRY(call->e->status);
        ig_expr_guard_equal(call->e, ig_expr_extent(call->e, y, 0), count.dim,
                            "there must be one element for each row");
        IG_TRY(call->e->status);
        x = ig_expr_map2(call->e, added ? IG_OP_add : IG_OP_mul, x, y);
    }
    IG_TRY(ig_ts_give(call, 0, x));
    return give_offsets(&j, 1);
}

ig_status ig_ts_op_fb_jagged_dense_add(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    ig_value *y = ig_aten_tensor(call, 2);
    IG_TRY(call->e->status);
    if (y->type->rank < j.parts.axes + 1) {
        return ig_ts_fail(call, IG_INVALID,
                          "the dense tensor has rank %u, expected %u or more",
                          y->type->rank, j.parts.axes + 1);
    }
    ig_value *x = to_dense(&j, y->type->dims + 1, 0);
    return ig_aten_give(call, ig_build_add(call->e, x, y));
}

/* ---- products and softmax: through dense tensors of max_L rows ---- */

static ig_value *dense_of(jagged *j, ig_value *values, int64_t max) {
    assert(j->parts.axes == 1 && "products have one jagged axis");
    jagged one = *j;
    ig_dim extent = ig_dim_const(j->call->module, max);
    one.values = values;
    ig_value *dense = to_dense(&one, &extent, 0);
    j->call->e->status = one.call->e->status;
    return dense;
}

static ig_value *multiply_batches(ig_expr *e, ig_value *a, ig_value *b,
                                  bool transpose_a) {
    return ig_build_matmul(e, a, b, (ig_matmul_attrs){ .transpose_a = transpose_a });
}

/* Rows of the values, which a dense tensor holds [batch, max, …]. */
static ig_value *rows_from(jagged *j, ig_value *dense) {
    return from_dense(j, dense, count_of(j, j->values));
}

ig_status ig_ts_op_fb_jagged_jagged_bmm(ig_ts_call *call) {
    jagged j = open_one(call, 0, 2);
    int64_t max = ig_aten_int(call, 3);
    ig_value *x = dense_of(&j, j.values, max);
    ig_value *y = dense_of(&j, ig_aten_tensor(call, 1), max);
    return ig_aten_give(call, multiply_batches(call->e, x, y, true));
}

ig_status ig_ts_op_fb_jagged_dense_bmm(ig_ts_call *call) {
    jagged j = open_one(call, 0, 1);
    int64_t max = ig_aten_int(call, 3);
    ig_value *x = dense_of(&j, j.values, max);
    ig_value *z = multiply_batches(call->e, x, ig_aten_tensor(call, 2), false);
    IG_TRY(ig_ts_give(call, 0, rows_from(&j, z)));
    return gives_offsets(&j) ? ig_ts_give_arg(call, 1, 1) : IG_OK;
}

ig_status ig_ts_op_fb_jagged_softmax(ig_ts_call *call) {
    jagged j = open_one(call, 0, 1);
    ig_dim extent = ig_aten_dim(call, 2);
    double lowest = -(double)INFINITY;
    ig_value *dense = to_dense(&j, &extent, lowest);
    ig_value *y = ig_build_softmax(call->e, dense, (ig_softmax_attrs){ .axis = 1 });
    IG_TRY(ig_ts_give(call, 0, rows_from(&j, y)));
    return gives_offsets(&j) ? ig_ts_give_arg(call, 1, 1) : IG_OK;
}

/* How many rows of v a segment has; 1 where there are no segments. */
static ig_dim heads_of(ig_module *module, ig_dim rows, ig_dim batch) {
    ig_dim one = ig_dim_of(1), heads = ig_dim_exact_div(module, rows, batch);
    if (ig_dim_is_static(heads)) {
        return heads;
    }
    heads = ig_dim_exact_div(module, rows, ig_dim_max(module, batch, one));
    return ig_dim_max(module, heads, one);
}

/* v [B * H, N] as [B, H, 1, N], 0 after the ends of the segments, where it may be
 * NaN. */
static ig_value *rows_within(jagged *j, ig_value *v, ig_dim heads) {
    ig_expr *e = j->call->e;
    ig_dim batch = ig_fb_segments(e, j->edges), max = ig_fb_extent(e, v, 1);
    ig_dim split[] = { batch, heads, ig_dim_of(1), max };
    ig_value *offsets = j->parts.offsets[0];
    ig_value *start = ig_expr_slice(e, offsets, 0, ig_dim_of(0), batch, 1);
    ig_value *end = ig_expr_slice(e, offsets, 0, ig_dim_of(1), batch, 1);
    ig_value *lengths = ig_expr_along(e, ig_build_sub(e, end, start), 0, 4);
    ig_value *is_there = ig_build_lt(e, ig_expr_axis_iota(e, 4, 3, max), lengths);
    ig_value *zero = ig_expr_number(e, (ig_dtype)v->type->dtype, 0);
    return ig_build_where(e, is_there, ig_expr_reshape(e, v, 4, split), zero);
}

/* v [B * H, N], a [n, H * D] -> [B * H, D]: v's rows times the segments' columns. */
ig_status ig_ts_op_fb_vec_jagged_mul(ig_ts_call *call) {
    jagged j = open_one(call, 1, 2);
    ig_module *module = call->module;
    ig_value *v = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    ig_dim batch = ig_fb_segments(call->e, j.edges);
    ig_dim rows = ig_fb_extent(call->e, v, 0), max = ig_fb_extent(call->e, v, 1);
    ig_dim heads = heads_of(module, rows, batch);
    ig_dim width = ig_dim_exact_div(module, ig_fb_extent(call->e, j.values, 1), heads);
    ig_value *a = to_dense(&j, &max, 0);
    ig_dim split[] = { batch, max, heads, width };
    a = ig_expr_transpose(call->e, ig_expr_reshape(call->e, a, 4, split),
                          (int64_t[]){ 0, 2, 1, 3 });
    ig_value *out = multiply_batches(call->e, rows_within(&j, v, heads), a, false);
    ig_dim flat[] = { rows, width };
    return ig_aten_give(call, ig_expr_reshape(call->e, out, 2, flat));
}

/* ---- parts of segments ---- */

/* Positions of the elements that segments of these lengths have from `start` on. */
static ig_value *take_from(ig_expr *e, ig_value *lengths, ig_value *start,
                           ig_value *chosen) {
    ig_value *begins = ig_compose_running_sum(e, lengths, IG_RUNNING_exclusive);
    begins = start ? ig_build_add(e, begins, start) : begins;
    ig_value *offsets = ig_compose_running_sum(e, chosen, IG_RUNNING_complete);
    ig_value *at = ig_fb_range(e, ig_compose_last(e, offsets));
    ig_value *segment = ig_compose_segment_of(e, offsets, at);
    ig_value *shift = ig_build_sub(e, ig_compose_take_rows(e, begins, segment),
                                   ig_compose_take_rows(e, offsets, segment));
    return ig_build_add(e, at, shift);
}

ig_status ig_ts_op_fb_truncated(ig_ts_call *call) {
    ig_value *lengths = ig_fb_arg(call, 1, IG_DT_i64);
    int64_t max = ig_aten_int(call, 2);
    ig_value *chosen = ig_expr_with_integer(call->e, IG_OP_min, lengths, max);
    ig_value *from = take_from(call->e, lengths, NULL, chosen);
    return ig_ts_give(call, 0,
                      ig_compose_take_rows(call->e, ig_aten_tensor(call, 0), from));
}

ig_status ig_ts_op_fb_jagged_slice(ig_ts_call *call) {
    ig_value *given = ig_aten_tensor(call, 1);
    ig_value *lengths = ig_expr_cast(call->e, given, IG_DT_i64);
    ig_value *start = ig_fb_arg(call, 2, IG_DT_i64);
    int64_t max = ig_aten_int(call, 3);
    ig_value *left = ig_build_sub(call->e, lengths, start);
    ig_value *chosen = ig_expr_with_integer(call->e, IG_OP_min, left, max);
    chosen = ig_expr_with_integer(call->e, IG_OP_max, chosen, 0);
    ig_value *from = take_from(call->e, lengths, start, chosen);
    ig_value *values = ig_compose_take_rows(call->e, ig_aten_tensor(call, 0), from);
    return ig_aten_give2(call, values, ig_expr_like(call->e, chosen, given));
}

ig_status ig_ts_op_fb_masked_select(ig_ts_call *call) {
    ig_value *values = ig_aten_tensor(call, 0), *lengths = ig_aten_tensor(call, 1);
    ig_value *mask = ig_aten_tensor(call, 2);
    ig_value *wide = ig_expr_cast(call->e, lengths, IG_DT_i64);
    ig_value *offsets = ig_compose_running_sum(call->e, wide, IG_RUNNING_complete);
    ig_value *before = ig_compose_running_sum(
        call->e, ig_expr_cast(call->e, mask, IG_DT_i64), IG_RUNNING_complete);
    ig_value *edges = ig_compose_take_rows(call->e, before, offsets);
    ig_value *found = ig_expr_flatten(call->e, ig_build_nonzero(call->e, mask));
    IG_TRY(ig_ts_give(call, 0, ig_compose_take_rows(call->e, values, found)));
    return ig_ts_give(
        call, 1,
        ig_expr_like(call->e, ig_compose_segment_lengths(call->e, edges), lengths));
}

/* Keys one after the other: lengths [keys, batch]; variant: the rank of the values. */
ig_status ig_ts_op_fb_stacked_to_dense(ig_ts_call *call) {
    const ig_dim *edges;
    const int64_t *max;
    uint32_t edge_count, count;
    ig_value *values = ig_aten_tensor(call, 0), *lengths = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_dims(call, 2, 0, &edges, &edge_count));
    IG_TRY(ig_ts_ints(call, 3, 0, &max, &count));
    int64_t padding = ig_aten_int(call, 4);
    ig_value **results = IG_NEW_ARRAY(call->arena, ig_value *, (size_t)count + 1);
    if (edge_count != count + 1 || lengths->type->rank != 2) {
        return ig_ts_fail(
            call, IG_INVALID,
            "offset_per_key has %u items for %u keys and lengths have rank %u, expected one item more than keys and rank 2",
            edge_count, count, lengths->type->rank);
    }
    for (uint32_t i = 0; i < count; i++) {
        jagged j = { .call = call };
        ig_value *own = ig_expr_flatten(
            call->e, ig_expr_slice(call->e, lengths, 0, ig_dim_of(i), ig_dim_of(1), 1));
        ig_value *wide = ig_expr_cast(call->e, own, IG_DT_i64);
        set_only_offsets(&j,
                         ig_compose_running_sum(call->e, wide, IG_RUNNING_complete));
        ig_dim size = ig_dim_sub(call->module, edges[i + 1], edges[i]);
        ig_dim width = ig_dim_const(call->module, max[i]);
        j.values = ig_expr_slice(call->e, values, 0, edges[i], size, 1);
        results[i] = to_dense(&j, &width, (double)padding);
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, count);
}

/* Variant 2 may pad with -inf, and may tell which places are filled. */
ig_status ig_ts_op_fb_pack_segments(ig_ts_call *call) {
    jagged j = { .call = call };
    bool has_infinity = false, wants_mask = false;
    ig_dim max = ig_aten_dim(call, 2);
    if (call->row->variant == 2) {
        has_infinity = ig_aten_bool(call, 3);
        wants_mask = ig_aten_bool(call, 4);
    }
    j.values = ig_aten_tensor(call, 0);
    ig_value *lengths = ig_fb_arg(call, 1, IG_DT_i64), *mask = NULL;
    set_only_offsets(&j, ig_compose_running_sum(call->e, lengths, IG_RUNNING_complete));
    double padding = has_infinity ? -(double)INFINITY : 0;
    IG_TRY(ig_ts_give(call, 0, to_dense(&j, &max, padding)));
    if (call->row->variant != 2) {
        return IG_OK;
    }
    mask = ig_build_lt(call->e, ig_expr_iota(call->e, IG_DT_i64, max),
                       ig_fb_column(call->e, lengths));
    return wants_mask ? ig_ts_give(call, 1, mask) : ig_fb_give_none(call, 1);
}
