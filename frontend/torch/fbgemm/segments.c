/* FBGEMM's running sums, permutations of segments, and selections.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements of picked segments, one segment after the other (take):
 *
 *     offsets'  running sum of the picked segments' lengths
 *     at        0 … the last of them
 *     k         the segment of offsets' that holds `at`
 *     from      begins[k] + at - offsets'[k]
 */
#include "frontend/torch/fbgemm/fbgemm.h"
#include "ir/build/extent.h"

#include <assert.h>

/* ---- sums ---- */

ig_status ig_ts_op_fb_cumsum(ig_ts_call *call) {
    return ig_aten_give(call, ig_compose_running_sum(call->e, ig_aten_tensor(call, 0),
                                                     (ig_running)call->row->variant));
}

/* The position of each element in its segment. */
static ig_value *place_in_segment(ig_expr *e, ig_value *offsets, ig_value *at) {
    ig_value *segment = ig_compose_segment_of(e, offsets, at);
    return ig_build_sub(e, at, ig_compose_take_rows(e, offsets, segment));
}

ig_status ig_ts_op_fb_lengths_range(ig_ts_call *call) {
    ig_value *lengths = ig_aten_tensor(call, 0);
    ig_value *wide = ig_expr_flatten(call->e,
                                     ig_expr_cast(call->e, lengths, IG_DT_i64));
    ig_value *offsets = ig_compose_running_sum(call->e, wide, IG_RUNNING_complete);
    ig_value *at = ig_fb_range(call->e, ig_compose_last(call->e, offsets));
    ig_value *position = place_in_segment(call->e, offsets, at);
    return ig_aten_give(call, ig_expr_like(call->e, position, lengths));
}

/* Begins of segments, without the last end. */
ig_status ig_ts_op_fb_offsets_range(ig_ts_call *call) {
    ig_value *begins = ig_aten_tensor(call, 0), *size = ig_fb_size(call, 1);
    ig_dim one = ig_dim_of(1);
    ig_value *end = ig_expr_reshape(call->e, size, 1, &one);
    ig_value *both[] = { ig_expr_cast(call->e, begins, IG_DT_i64), end };
    ig_value *offsets = ig_expr_concat(call->e, 0, both, 2);
    ig_value *at = ig_fb_range(call->e, size);
    return ig_ts_give(
        call, 0, ig_expr_like(call->e, place_in_segment(call->e, offsets, at), begins));
}

ig_status ig_ts_op_fb_segment_sum_csr(ig_ts_call *call) {
    enum { BATCH, SEGMENTS, VALUES };
    ig_dim batch = ig_aten_dim(call, BATCH);
    ig_value *edges = ig_fb_arg(call, SEGMENTS, IG_DT_i64);
    ig_value *values = ig_expr_flatten(call->e, ig_aten_tensor(call, VALUES));
    edges = ig_build_mul(call->e, edges, ig_expr_dim(call->e, batch, IG_DT_i64));
    ig_dim count = ig_fb_segments(call->e, edges);
    ig_value *at = ig_fb_positions(call->e, values);
    ig_value *segment = ig_compose_segment_of(call->e, edges, at);
    /* values before the first segment or after the last go to a row that is cut off */
    ig_value *first = ig_expr_slice(call->e, edges, 0, ig_dim_of(0), ig_dim_of(1), 1);
    segment = ig_build_where(call->e, ig_build_ge(call->e, at, first), segment,
                             ig_expr_dim(call->e, count, IG_DT_i64));
    ig_value *sums = ig_compose_add_rows(call->e, values, segment,
                                         ig_dim_add(call->module, count, ig_dim_of(1)));
    return ig_aten_give(call, ig_expr_slice(call->e, sums, 0, ig_dim_of(0), count, 1));
}

/* ---- permutations ---- */

ig_status ig_ts_op_fb_invert_permute(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *permute = ig_aten_tensor(call, 0);
    ig_dim count = ig_fb_extent(e, permute, 0);
    ig_value *at = ig_expr_like(e, ig_expr_iota(e, IG_DT_i64, count), permute);
    ig_value *zero = permute ? ig_expr_integer(e, (ig_dtype)permute->type->dtype, 0)
                             : NULL;
    ig_value *target = ig_expr_cast(e, permute, IG_DT_i64);
    return ig_aten_give(call, ig_compose_put_rows(e, at, target, count, zero));
}

/* Positions of the elements of picked segments. */
static ig_value *take_segments(ig_ts_call *call, ig_value *begins, ig_value *offsets) {
    ig_value *at = ig_fb_range(call->e, ig_compose_last(call->e, offsets));
    ig_value *segment = ig_compose_segment_of(call->e, offsets, at);
    ig_value *shift = ig_build_sub(call->e, begins,
                                   ig_expr_slice(call->e, offsets, 0, ig_dim_of(0),
                                                 ig_fb_extent(call->e, begins, 0), 1));
    return ig_build_add(call->e, at, ig_compose_take_rows(call->e, shift, segment));
}

static ig_value *begins_of(ig_expr *e, ig_value *lengths) {
    ig_value *wide = ig_expr_cast(e, lengths, IG_DT_i64);
    return ig_compose_running_sum(e, wide, IG_RUNNING_exclusive);
}

/* A permutation that changes nothing, known now. */
static bool is_identity(ig_ts_call *call, const ig_value *permute, ig_dim count) {
    uint32_t known;
    const int64_t *values = ig_fb_maybe_known(call, permute, &known);
    bool is_all = values &&
                  ig_dim_equal(call->module, count, ig_dim_of(known)) == IG_YES;
    for (uint32_t i = 0; is_all && i < known; i++) {
        is_all = values[i] == i;
    }
    return is_all;
}

typedef struct sparse {
    ig_value *permute, *lengths, *values, *weights; /* lengths [segments…, batch] */
} sparse;

/* Lengths, values and weights (NULL: none) of the permuted segments.  Segments are of
 * elements: values of higher rank are taken one after the other, as FBGEMM takes
 * them. */
static void permute_sparse(ig_ts_call *call, sparse *s) {
    bool is_flat = s->values && s->values->type->rank == 1;
    if (call->e->status != IG_OK) {
        return;
    }
    if (is_flat &&
        is_identity(call, s->permute, ig_expr_extent(call->e, s->lengths, 0))) {
        return;
    }
    s->values = ig_expr_flatten(call->e, s->values);
    s->weights = ig_expr_flatten(call->e, s->weights);
    ig_value *picks = ig_expr_cast(call->e, s->permute, IG_DT_i64);
    ig_value *lengths = ig_compose_take_rows(call->e, s->lengths, picks);
    ig_value *begins = begins_of(call->e, ig_expr_flatten(call->e, s->lengths));
    if (begins && s->lengths->type->rank == 2) {
        begins = ig_expr_reshape(call->e, begins, 2, s->lengths->type->dims);
    }
    begins = ig_expr_flatten(call->e, ig_compose_take_rows(call->e, begins, picks));
    ig_value *wide = ig_expr_cast(call->e, ig_expr_flatten(call->e, lengths),
                                  IG_DT_i64);
    ig_value *from = take_segments(
        call, begins, ig_compose_running_sum(call->e, wide, IG_RUNNING_complete));
    s->lengths = lengths;
    s->values = ig_compose_take_rows(call->e, s->values, from);
    s->weights = s->weights ? ig_compose_take_rows(call->e, s->weights, from) : NULL;
}

static ig_status give_sparse(ig_ts_call *call, const sparse *s) {
    assert(call->result_count > 2 && "lengths, values and weights");
    IG_TRY(ig_ts_give(call, 0, s->lengths));
    IG_TRY(ig_ts_give(call, 1, s->values));
    return s->weights ? ig_ts_give(call, 2, s->weights) : ig_fb_give_none(call, 2);
}

ig_status ig_ts_op_fb_permute_sparse(ig_ts_call *call) {
    sparse s = { ig_aten_tensor(call, 0), ig_aten_tensor(call, 1),
                 ig_aten_tensor(call, 2), ig_aten_optional(call, 3) };
    IG_TRY(call->e->status);
    if (s.lengths->type->rank != (uint32_t)call->row->variant) {
        return ig_ts_fail(call, IG_INVALID, "lengths have rank %u, expected %d",
                          s.lengths->type->rank, call->row->variant);
    }
    permute_sparse(call, &s);
    return give_sparse(call, &s);
}

/* Into the caller's buffers: without those the same. */
ig_status ig_ts_op_fb_permute_into(ig_ts_call *call) {
    enum { FIRST_BUFFER = 5 };
    for (uint32_t i = FIRST_BUFFER; i < call->arg_count; i++) {
        if (!ig_ts_is_none(call, i)) {
            return ig_ts_fail(call, IG_UNSUPPORTED,
                              "results in given tensors: leave them out");
        }
    }
    return ig_ts_op_fb_permute_sparse(call);
}

ig_status ig_ts_op_fb_permute_sparse_1d(ig_ts_call *call) {
    enum { STRIDE = 3, WEIGHTS };
    ig_dim stride = ig_aten_dim(call, STRIDE);
    sparse s = { ig_aten_tensor(call, 0),
                 ig_expr_flatten(call->e, ig_aten_tensor(call, 1)),
                 ig_aten_tensor(call, 2), ig_aten_optional(call, WEIGHTS) };
    ig_dim count = ig_fb_extent(call->e, s.lengths, 0);
    ig_dim dims[] = { ig_dim_exact_div(call->module, count, stride), stride };
    s.lengths = ig_expr_reshape(call->e, s.lengths, 2, dims);
    permute_sparse(call, &s);
    s.lengths = ig_expr_flatten(call->e, s.lengths);
    return give_sparse(call, &s);
}

ig_status ig_ts_op_fb_permute_sequence(ig_ts_call *call) {
    sparse s = { ig_aten_tensor(call, 0), ig_aten_tensor(call, 1),
                 ig_aten_tensor(call, 2), NULL };
    permute_sparse(call, &s);
    return ig_aten_give2(call, s.lengths, s.values);
}

/* Positions in the input of the elements of permuted segments. */
ig_status ig_ts_op_fb_expand_permute(ig_ts_call *call) {
    enum { PERMUTE, IN, OUT, SIZE };
    ig_expr *e = call->e;
    ig_value *size = ig_fb_size(call, SIZE);
    ig_value *permute = ig_aten_tensor(call, PERMUTE);
    ig_value *picks = ig_expr_cast(e, permute, IG_DT_i64);
    ig_value *begins = ig_compose_take_rows(e, ig_fb_arg(call, IN, IG_DT_i64), picks);
    ig_value *offsets = ig_fb_arg(call, OUT, IG_DT_i64);
    ig_value *at = ig_fb_range(e, size);
    ig_value *segment = ig_compose_segment_of(e, offsets, at);
    ig_value *shift = ig_build_sub(
        e, begins,
        ig_expr_slice(e, offsets, 0, ig_dim_of(0), ig_fb_extent(e, begins, 0), 1));
    ig_value *from = ig_build_add(e, at, ig_compose_take_rows(e, shift, segment));
    return ig_aten_give(call, ig_expr_like(e, from, permute));
}

/* ---- selections ---- */

ig_status ig_ts_op_fb_jagged_index_select(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *lengths = ig_aten_tensor(call, 1);
    ig_value *picks = ig_fb_arg(call, 2, IG_DT_i64);
    ig_value *chosen = ig_compose_take_rows(e, lengths, picks);
    ig_value *begins = ig_compose_take_rows(e, begins_of(e, lengths), picks);
    ig_value *wide = ig_expr_cast(e, chosen, IG_DT_i64);
    ig_value *from = take_segments(
        call, begins, ig_compose_running_sum(e, wide, IG_RUNNING_complete));
    ig_value *results[] = { ig_compose_take_rows(e, ig_aten_tensor(call, 0), from),
                            chosen };
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, 2);
}

/* Offsets from 0 on, of ends alone. */
static ig_value *offsets_of_ends(ig_expr *e, ig_value *ends) {
    return ig_expr_concat(
        e, 0, (ig_value *[]){ ig_expr_ints(e, (int64_t[]){ 0 }, 1), ends }, 2);
}

/* Picked segments by the ends of all and of the picked ones. */
ig_status ig_ts_op_fb_select_by_ends(ig_ts_call *call) {
    enum { VALUES, INDICES, ENDS, PICKED_ENDS };
    ig_value *picks = ig_fb_arg(call, INDICES, IG_DT_i64);
    ig_value *begins = offsets_of_ends(call->e, ig_fb_arg(call, ENDS, IG_DT_i64));
    ig_value *offsets = offsets_of_ends(call->e,
                                        ig_fb_arg(call, PICKED_ENDS, IG_DT_i64));
    ig_value *from = take_segments(call, ig_compose_take_rows(call->e, begins, picks),
                                   offsets);
    return ig_aten_give(
        call, ig_compose_take_rows(call->e, ig_aten_tensor(call, VALUES), from));
}

/* Columns of a batch, for every key: lengths [keys * batch]. */
ig_status ig_ts_op_fb_keyed_select(ig_ts_call *call) {
    enum { VALUES, LENGTHS, OFFSETS, INDICES, BATCH, WEIGHTS };
    ig_expr *e = call->e;
    ig_dim batch = ig_aten_dim(call, BATCH);
    ig_value *lengths = ig_aten_tensor(call, LENGTHS);
    ig_value *picks = ig_fb_arg(call, INDICES, IG_DT_i64);
    ig_value *weights = ig_aten_optional(call, WEIGHTS);
    ig_dim count = ig_fb_extent(e, lengths, 0);
    ig_dim dims[] = { ig_dim_exact_div(call->module, count, batch), batch };
    ig_value *begins = ig_expr_reshape(e, begins_of(e, lengths), 2, dims);
    begins = ig_expr_flatten(e, ig_expr_gather(e, begins, picks, 1, IG_NEGATIVE_error));
    ig_value *table = ig_expr_reshape(e, lengths, 2, dims);
    ig_value *chosen =
        ig_expr_flatten(e, ig_expr_gather(e, table, picks, 1, IG_NEGATIVE_error));
    ig_value *wide = ig_expr_cast(e, chosen, IG_DT_i64);
    ig_value *from = take_segments(
        call, begins, ig_compose_running_sum(e, wide, IG_RUNNING_complete));
    ig_value *results[] = { ig_compose_take_rows(e, ig_aten_tensor(call, VALUES), from),
                            chosen,
                            weights ? ig_compose_take_rows(e, weights, from) : NULL };
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, weights ? 3 : 2);
}

ig_status ig_ts_op_fb_index_select(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(
        call, ig_compose_take_rows(call->e, x, ig_fb_arg(call, 1, IG_DT_i64)));
}

ig_status ig_ts_op_fb_group_index_select(ig_ts_call *call) {
    ig_value **inputs, **indices;
    uint32_t count, others;
    IG_TRY(ig_ts_tensors(call, 0, &inputs, &count));
    IG_TRY(ig_ts_tensors(call, 1, &indices, &others));
    if (count != others) {
        return ig_ts_fail(call, IG_INVALID,
                          "%u inputs and %u indices are given, expected as many", count,
                          others);
    }
    ig_value **results = IG_NEW_ARRAY(call->arena, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *index = ig_expr_cast(call->e, indices[i], IG_DT_i64);
        results[i] = ig_compose_take_rows(call->e, inputs[i], index);
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, count);
}

/* Per row: as many true as there are sources, then as many false as targets; false
 * after all rows. */
ig_status ig_ts_op_fb_source_mask(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *size = ig_fb_size(call, 2);
    ig_value *sources = ig_fb_arg(call, 0, IG_DT_i64);
    ig_value *targets = ig_fb_arg(call, 1, IG_DT_i64);
    ig_value *lengths = ig_build_add(e, sources, targets);
    ig_value *offsets = ig_compose_running_sum(e, lengths, IG_RUNNING_complete);
    ig_value *at = ig_fb_range(e, size);
    ig_value *row = ig_compose_segment_of(e, offsets, at);
    ig_value *position = ig_build_sub(e, at, ig_compose_take_rows(e, offsets, row));
    ig_value *padded[] = { sources, ig_expr_ints(e, (int64_t[]){ 0 }, 1) };
    sources = ig_expr_concat(e, 0, padded, 2);
    return ig_ts_give(call, 0,
                      ig_build_lt(e, position, ig_compose_take_rows(e, sources, row)));
}

/* ---- caches ---- */

/* Is a tensor in managed memory?  All are in the machine's. */
ig_status ig_ts_op_fb_is_uvm(ig_ts_call *call) {
    return ig_ts_give_bool(call, 0, false);
}

ig_status ig_ts_op_fb_to_cpu(ig_ts_call *call) {
    return ig_ts_give_arg(call, 0, 0);
}

/* Every id misses the cache, and is looked up in the table. */
ig_status ig_ts_op_fb_no_cache(ig_ts_call *call) {
    ig_value *ids = ig_aten_tensor(call, (uint32_t)call->row->variant), *misses = NULL;
    IG_TRY(call->e->status);
    ig_value *miss = ig_expr_integer(call->e, IG_DT_i32, -1);
    misses = ig_expr_expand(call->e, miss, ids->type->rank, ids->type->dims);
    return ig_aten_give(call, misses);
}

ig_status ig_ts_op_fb_nothing(ig_ts_call *call) {
    (void)call;
    return IG_OK;
}
