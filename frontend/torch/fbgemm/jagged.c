/* FBGEMM's jagged tensors: to dense ones and back, and arithmetic between the two.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A jagged tensor is values [n, …] and one array of offsets for each of its jagged
 * axes, each over the segments of the one before.  It is seen as a dense one by
 * indices: for a place (i, j1, j2 …) of the dense tensor
 *
 *     row = i;  for each axis:  row = offsets[row] + j, if below offsets[row + 1]
 *
 * and the other way, an element of the values has its place by searching the offsets
 * from the innermost to the outermost.
 */
#include "frontend/torch/eval/control.h"
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <math.h>

enum { AXES = 8 };

typedef struct jagged {
    ig_ts_call *call;
    ig_value *values;        /* [n, …] */
    ig_value *offsets[AXES]; /* i64 */
    ig_value **given;        /* as they came */
    uint32_t axes;
    bool is_strict; /* an element without a place in the dense tensor is an error */
} jagged;

static jagged open_jagged(ig_ts_call *call, uint32_t values, uint32_t offsets) {
    jagged j = { .call = call };
    j.values = ig_aten_tensor(j.call, values);
    if (!ig_expr_note(call->e, ig_ts_tensors(call, offsets, &j.given, &j.axes))) {
        return j;
    }
    if (j.axes == 0 || j.axes > AXES) {
        ig_expr_note(call->e,
                     ig_ts_fail(call, IG_UNSUPPORTED,
                                "offsets has %u tensors, expected 1 to %d jagged axes",
                                j.axes, AXES));
        return j;
    }
    for (uint32_t i = 0; i < j.axes; i++) {
        j.offsets[i] = ig_expr_cast(call->e, j.given[i], IG_DT_i64);
    }
    return j;
}

static jagged open_one(ig_ts_call *call, uint32_t values, uint32_t offsets) {
    jagged j = { .call = call, .axes = 1 };
    j.values = ig_aten_tensor(j.call, values);
    j.offsets[0] = ig_fb_arg(j.call, offsets, IG_DT_i64);
    return j;
}

/* ---- to dense ---- */

/* For every place of the dense tensor: the row of the values (0 where there is none),
 * and whether there is one; both [batch, max…]. */
static ig_value *rows_of_positions(jagged *j, const ig_dim *max,
                                   ig_value **out_is_there) {
    assert(j->axes > 0 && j->axes <= AXES && "opening has bounded the jagged axes");
    ig_ts_call *call = j->call;
    ig_expr *e = call->e;
    ig_module *module = call->module;
    ig_dim batch = ig_fb_segments(e, j->offsets[0]);
    ig_value *row = ig_expr_iota(e, IG_DT_i64, batch), *is_there = NULL;
    for (uint32_t i = 0; i < j->axes; i++) {
        ig_value *begin = ig_fb_column(e, ig_compose_take_rows(e, j->offsets[i], row));
        ig_dim edges = ig_fb_extent(e, j->offsets[i], 0);
        ig_value *last = ig_expr_dim(e, ig_dim_sub(module, edges, ig_dim_of(1)),
                                     IG_DT_i64);
        ig_value *next = ig_expr_with_integer(e, IG_OP_add, row, 1);
        next = ig_build_min(e, next, last); /* there may be no row at all */
        ig_value *end = ig_fb_column(e, ig_compose_take_rows(e, j->offsets[i], next));
        ig_value *at = ig_build_add(e, begin, ig_expr_iota(e, IG_DT_i64, max[i]));
        ig_value *is_in = ig_build_lt(e, at, end);
        is_there = i ? ig_build_and(e, is_in, ig_fb_column(e, is_there)) : is_in;
        row = ig_build_where(e, is_there, at, ig_expr_integer(e, IG_DT_i64, 0));
    }
    *out_is_there = is_there;
    return row;
}

/* The values with a row after them that absent positions read. */
static ig_value *with_padding(ig_expr *e, ig_value *values, ig_value *padding) {
    ig_dim dims[IG_TENSOR_RANK];
    ig_value *row = NULL;
    if (!values || e->status != IG_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < values->type->rank; i++) {
        dims[i] = i ? ig_expr_extent(e, values, i) : ig_dim_of(1);
    }
    if (!(row = ig_expr_expand(e, padding, values->type->rank, dims))) {
        return NULL;
    }
    return ig_expr_concat(e, 0, (ig_value *[]){ values, row }, 2);
}

static ig_value *to_dense(jagged *j, const ig_dim *max, ig_value *padding) {
    ig_expr *e = j->call->e;
    ig_value *is_there = NULL, *row = rows_of_positions(j, max, &is_there);
    ig_value *absent = ig_expr_dim(e, ig_fb_extent(e, j->values, 0), IG_DT_i64);
    row = ig_build_where(e, is_there, row, absent);
    return ig_compose_take_rows(e, with_padding(e, j->values, padding), row);
}

static ig_value *padding_of(jagged *j, double value) {
    return j->values
               ? ig_expr_number(j->call->e, (ig_dtype)j->values->type->dtype, value)
               : NULL;
}

ig_status ig_ts_op_fb_to_dense(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    const ig_dim *max;
    uint32_t count;
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_dims(call, 2, j.axes, &max, &count));
    double padding = ig_aten_float(call, 3);
    return ig_aten_give(call, to_dense(&j, max, padding_of(&j, padding)));
}

/* Variant: the rank of the values. */
ig_status ig_ts_op_fb_one_to_dense(ig_ts_call *call) {
    jagged j = open_one(call, 0, 1);
    int64_t padding = 0;
    ig_dim max = ig_aten_dim(call, 2);
    if (call->row->variant == 1) {
        padding = ig_aten_int(call, 3);
    }
    return ig_aten_give(call, to_dense(&j, &max, padding_of(&j, (double)padding)));
}

/* ---- from dense ---- */

/* Indices [n, 1 + axes] of the places of `count` elements in a dense tensor with these
 * extents after the batch; an element beyond them, or after all segments, gets a
 * position within, and `out_is_in` is false. */
static ig_value *positions_of_rows(jagged *j, ig_value *count, const ig_dim *extents,
                                   ig_value **out_is_in) {
    assert(j->axes > 0 && j->axes <= AXES && "opening has bounded the jagged axes");
    ig_ts_call *call = j->call;
    ig_expr *e = call->e;
    ig_value *row = ig_fb_range(e, count), *columns[AXES + 1], *is_in = NULL;
    for (uint32_t i = j->axes; i-- > 0;) {
        ig_value *segment = ig_compose_segment_of(e, j->offsets[i], row);
        ig_value *position =
            ig_build_sub(e, row, ig_compose_take_rows(e, j->offsets[i], segment));
        ig_value *extent = ig_expr_dim(e, extents[i], IG_DT_i64);
        ig_value *fits = ig_build_lt(e, position, extent);
        is_in = is_in ? ig_build_and(e, is_in, fits) : fits;
        position = ig_build_where(e, fits, position, ig_expr_integer(e, IG_DT_i64, 0));
        columns[i + 1] = ig_fb_column(e, position);
        row = segment;
    }
    ig_dim edges = ig_fb_extent(e, j->offsets[0], 0);
    ig_value *batch = ig_expr_dim(e, ig_dim_sub(call->module, edges, ig_dim_of(1)),
                                  IG_DT_i64);
    ig_value *is_here = ig_build_lt(e, row, batch);
    is_in = ig_build_and(e, is_in, is_here);
    columns[0] = ig_fb_column(
        e, ig_build_where(e, is_here, row, ig_expr_integer(e, IG_DT_i64, 0)));
    *out_is_in = is_in;
    return ig_expr_concat(e, 1, columns, j->axes + 1);
}

/* Elements of `dense` [batch, max…, …] at the places of the values; 0 beyond it. */
static ig_value *from_dense(jagged *j, ig_value *dense, ig_value *count) {
    ig_ts_call *call = j->call;
    ig_expr *e = call->e;
    ig_value *is_in = NULL, *out = NULL;
    if (!dense || dense->type->rank < j->axes + 1) {
        ig_expr_note(e, ig_ts_fail(call, IG_INVALID,
                                   "the dense tensor has rank %u, expected %u or more",
                                   dense ? dense->type->rank : 0, j->axes + 1));
        return NULL;
    }
    ig_value *positions = positions_of_rows(j, count, dense->type->dims + 1, &is_in);
    ig_value *operands[] = { dense, positions };
    if (!positions || !(out = ig_expr_make(e, IG_OP_gather_nd, operands, 2, NULL))) {
        return NULL;
    }
    if (j->is_strict) {
        ig_value *all = ig_expr_reduce(
            e, IG_REDUCE_min, ig_expr_cast(e, is_in, IG_DT_i8), NULL, 0, false);
        ig_ts_guard_truth(call->eval, ig_expr_cast(e, all, IG_DT_bool), true,
                          "a segment is longer than the dense tensor");
    }
    ig_value *zero = ig_expr_number(e, (ig_dtype)dense->type->dtype, 0);
    return ig_build_where(e, ig_expr_unsqueeze_to(e, is_in, out->type->rank), out,
                          zero);
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
    return ig_ts_give_list(j->call, result, IG_TS_NO_ARG, j->given, j->axes);
}

/* Variant 1: torch's own, which has no zeros for elements that the dense tensor
 * lacks. */
ig_status ig_ts_op_fb_to_jagged(ig_ts_call *call) {
    jagged j = open_jagged(call, 0, 1);
    ig_value *dense = j.values;
    IG_TRY(call->e->status);
    j.is_strict = call->row->variant != 0;
    ig_value *count = ig_compose_last(call->e, j.offsets[j.axes - 1]);
    if (!ig_ts_is_none(call, 2)) {
        ig_dim total;
        total = ig_aten_dim(call, 2);
        count = ig_expr_dim(call->e, total, IG_DT_i64);
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
    ig_value *count = ig_expr_dim(call->e, ig_fb_extent(call->e, x, 0), IG_DT_i64);
    ig_dim n = ig_fb_extent(call->e, x, 0);
    for (uint32_t i = 0; i < (added ? added : 1); i++) {
        ig_value *y = from_dense(&j, ig_aten_tensor(call, 2 + i), count);
        IG_TRY(call->e->status);
        ig_expr_guard_equal(call->e, ig_expr_extent(call->e, y, 0), n,
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
    if (y->type->rank < j.axes + 1) {
        return ig_ts_fail(call, IG_INVALID,
                          "the dense tensor has rank %u, expected %u or more",
                          y->type->rank, j.axes + 1);
    }
    ig_value *x = to_dense(&j, y->type->dims + 1, padding_of(&j, 0));
    return ig_aten_give(call, ig_build_add(call->e, x, y));
}

/* ---- products and softmax: through dense tensors of max_L rows ---- */

static ig_value *dense_of(jagged *j, ig_value *values, int64_t max) {
    assert(j->axes == 1 && "products have one jagged axis");
    jagged one = *j;
    ig_dim extent = ig_dim_const(j->call->module, max);
    one.values = values;
    ig_value *dense = to_dense(&one, &extent, padding_of(&one, 0));
    j->call->e->status = one.call->e->status;
    return dense;
}

static ig_value *multiply_batches(ig_expr *e, ig_value *a, ig_value *b,
                                  bool transpose_a) {
    return ig_build_matmul(e, a, b, (ig_matmul_attrs){ .transpose_a = transpose_a });
}

/* Rows of the values, which a dense tensor holds [batch, max, …]. */
static ig_value *rows_from(jagged *j, ig_value *dense) {
    return from_dense(
        j, dense,
        ig_expr_dim(j->call->e, ig_fb_extent(j->call->e, j->values, 0), IG_DT_i64));
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
    ig_value *lowest = padding_of(&j, -(double)INFINITY);
    ig_value *dense = to_dense(&j, &extent, lowest);
    ig_value *y = ig_build_softmax(call->e, dense, (ig_softmax_attrs){ .axis = 1 });
    IG_TRY(ig_ts_give(call, 0, rows_from(&j, y)));
    return gives_offsets(&j) ? ig_ts_give_arg(call, 1, 1) : IG_OK;
}

/* v [B * H, N], a [n, H * D] -> [B * H, D]: v's rows times the segments' columns. */
ig_status ig_ts_op_fb_vec_jagged_mul(ig_ts_call *call) {
    jagged j = open_one(call, 1, 2);
    ig_module *module = call->module;
    ig_value *v = ig_aten_tensor(call, 0);
    IG_TRY(call->e->status);
    ig_dim batch = ig_fb_segments(call->e, j.offsets[0]);
    ig_dim rows = ig_fb_extent(call->e, v, 0), max = ig_fb_extent(call->e, v, 1);
    ig_dim heads = ig_dim_exact_div(module, rows, batch);
    ig_dim width = ig_dim_exact_div(module, ig_fb_extent(call->e, j.values, 1), heads);
    ig_value *a = to_dense(&j, &max, padding_of(&j, 0));
    ig_dim split[] = { batch, max, heads, width },
           left[] = { batch, heads, ig_dim_of(1), max };
    a = ig_expr_transpose(call->e, ig_expr_reshape(call->e, a, 4, split),
                          (int64_t[]){ 0, 2, 1, 3 });
    ig_value *out = multiply_batches(call->e, ig_expr_reshape(call->e, v, 4, left), a,
                                     false);
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
        jagged j = { .call = call, .axes = 1 };
        ig_value *own = ig_expr_flatten(
            call->e, ig_expr_slice(call->e, lengths, 0, ig_dim_of(i), ig_dim_of(1), 1));
        ig_value *wide = ig_expr_cast(call->e, own, IG_DT_i64);
        j.offsets[0] = ig_compose_running_sum(call->e, wide, IG_RUNNING_complete);
        ig_dim size = ig_dim_sub(call->module, edges[i + 1], edges[i]);
        ig_dim width = ig_dim_const(call->module, max[i]);
        j.values = ig_expr_slice(call->e, values, 0, edges[i], size, 1);
        results[i] = to_dense(&j, &width, padding_of(&j, (double)padding));
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, count);
}

/* Variant 2 may pad with -inf, and may tell which places are filled. */
ig_status ig_ts_op_fb_pack_segments(ig_ts_call *call) {
    jagged j = { .call = call, .axes = 1 };
    bool has_infinity = false, wants_mask = false;
    ig_dim max = ig_aten_dim(call, 2);
    if (call->row->variant == 2) {
        has_infinity = ig_aten_bool(call, 3);
        wants_mask = ig_aten_bool(call, 4);
    }
    j.values = ig_aten_tensor(call, 0);
    ig_value *lengths = ig_fb_arg(call, 1, IG_DT_i64), *mask = NULL;
    j.offsets[0] = ig_compose_running_sum(call->e, lengths, IG_RUNNING_complete);
    ig_value *padding = padding_of(&j, has_infinity ? -(double)INFINITY : 0);
    IG_TRY(ig_ts_give(call, 0, to_dense(&j, &max, padding)));
    if (call->row->variant != 2) {
        return IG_OK;
    }
    rows_of_positions(&j, &max, &mask);
    return wants_mask ? ig_ts_give(call, 1, mask) : ig_fb_give_none(call, 1);
}
