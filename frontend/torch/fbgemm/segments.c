/* FBGEMM's running sums, permutations of segments, and selections.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elements of picked segments, one segment behind the other (take):
 *
 *     offsets'  running sum of the picked segments' lengths
 *     at        0 … the last of them
 *     k         the segment of offsets' in which `at` lies
 *     from      begins[k] + at - offsets'[k]
 */
#include "frontend/torch/fbgemm/fbgemm.h"

/* ---- sums ---- */

ig_status ig_ts_op_fb_cumsum(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    return ig_fb_give(
        &fb, 0, ig_fb_cumsum(&fb, ig_fb_tensor(&fb, 0), (ig_fb_sum)call->row->variant));
}

/* Where each element stands in its segment. */
static ig_value *place_in_segment(ig_fb *fb, ig_value *offsets, ig_value *at) {
    ig_value *segment = ig_fb_segment_of(fb, offsets, at);
    return ig_fb_2(fb, IG_OP_sub, at, ig_fb_gather(fb, offsets, segment, 0));
}

ig_status ig_ts_op_fb_lengths_range(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *lengths = ig_fb_tensor(&fb, 0);
    ig_value *wide = ig_fb_flat(&fb, ig_fb_cast(&fb, lengths, IG_DT_i64));
    ig_value *offsets = ig_fb_cumsum(&fb, wide, IG_FB_COMPLETE);
    ig_value *at = ig_fb_range(&fb, ig_fb_last(&fb, offsets));
    ig_value *place = place_in_segment(&fb, offsets, at);
    return ig_fb_give(&fb, 0, ig_fb_like(&fb, place, lengths));
}

/* Begins of segments, without the last end. */
ig_status ig_ts_op_fb_offsets_range(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *begins = ig_fb_tensor(&fb, 0), *size = ig_fb_size(&fb, 1);
    ig_dim one = ig_dim_of(1);
    ig_value *end = ig_fb_reshape(&fb, size, 1, &one);
    ig_value *both[] = { ig_fb_cast(&fb, begins, IG_DT_i64), end };
    ig_value *offsets = ig_fb_concat(&fb, both, 2, 0);
    ig_value *at = ig_fb_range(&fb, size);
    return ig_fb_give(&fb, 0,
                      ig_fb_like(&fb, place_in_segment(&fb, offsets, at), begins));
}

ig_status ig_ts_op_fb_segment_sum_csr(ig_ts_call *call) {
    enum { BATCH, SEGMENTS, VALUES };
    ig_fb fb = ig_fb_open(call);
    ig_dim batch = ig_dim_of(1);
    IG_TRY(ig_ts_dim(call, BATCH, &batch));
    ig_value *edges = ig_fb_arg(&fb, SEGMENTS, IG_DT_i64);
    ig_value *values = ig_fb_flat(&fb, ig_fb_tensor(&fb, VALUES));
    edges = ig_fb_2(&fb, IG_OP_mul, edges, ig_fb_dim(&fb, batch));
    ig_dim count = ig_dim_sub(call->module, ig_fb_extent(&fb, edges, 0), ig_dim_of(1));
    ig_value *at = ig_fb_range_dim(&fb, ig_fb_extent(&fb, values, 0));
    ig_value *segment = ig_fb_segment_of(&fb, edges, at);
    /* values before the first segment or behind the last go to a row that is cut off */
    ig_value *first = ig_fb_slice(&fb, edges, 0, ig_dim_of(0), ig_dim_of(1));
    segment = ig_fb_where(&fb, ig_fb_2(&fb, IG_OP_ge, at, first), segment,
                          ig_fb_dim(&fb, count));
    ig_value *sums = ig_fb_add_at(&fb, values, segment,
                                  ig_dim_add(call->module, count, ig_dim_of(1)));
    return ig_fb_give(&fb, 0, ig_fb_slice(&fb, sums, 0, ig_dim_of(0), count));
}

/* ---- permutations ---- */

ig_status ig_ts_op_fb_invert_permute(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *permute = ig_fb_tensor(&fb, 0);
    ig_dim count = ig_fb_extent(&fb, permute, 0);
    ig_value *at = ig_fb_like(&fb, ig_fb_range_dim(&fb, count), permute);
    ig_value *zero = permute ? ig_ts_scalar_int(call, (ig_dtype)permute->type->dtype, 0)
                             : NULL;
    ig_value *target = ig_fb_cast(&fb, permute, IG_DT_i64);
    return ig_fb_give(&fb, 0, ig_fb_put_at(&fb, at, target, count, zero));
}

/* Positions of the elements of picked segments. */
static ig_value *take(ig_fb *fb, ig_value *begins, ig_value *offsets) {
    ig_value *at = ig_fb_range(fb, ig_fb_last(fb, offsets));
    ig_value *segment = ig_fb_segment_of(fb, offsets, at);
    ig_value *shift =
        ig_fb_2(fb, IG_OP_sub, begins,
                ig_fb_slice(fb, offsets, 0, ig_dim_of(0), ig_fb_extent(fb, begins, 0)));
    return ig_fb_2(fb, IG_OP_add, at, ig_fb_gather(fb, shift, segment, 0));
}

static ig_value *begins_of(ig_fb *fb, ig_value *lengths) {
    ig_value *wide = ig_fb_cast(fb, lengths, IG_DT_i64);
    return ig_fb_cumsum(fb, wide, IG_FB_EXCLUSIVE);
}

/* A permutation that changes nothing, known now. */
static bool is_identity(ig_fb *fb, const ig_value *permute, ig_dim count) {
    uint32_t known;
    const int64_t *values = ig_fb_maybe_known(fb, permute, &known);
    bool is_all = values &&
                  ig_dim_equal(fb->call->module, count, ig_dim_of(known)) == IG_YES;
    for (uint32_t i = 0; is_all && i < known; i++) {
        is_all = values[i] == i;
    }
    return is_all;
}

typedef struct sparse {
    ig_value *permute, *lengths, *values, *weights; /* lengths [segments…, batch] */
} sparse;

/* Lengths, values and weights (NULL: none) of the permuted segments.  Segments are of
 * elements: values of higher rank are taken one behind the other, as FBGEMM takes
 * them. */
static void permute_sparse(ig_fb *fb, sparse *s) {
    bool is_flat = s->values && s->values->type->rank == 1;
    if (fb->status != IG_OK) {
        return;
    }
    if (is_flat && is_identity(fb, s->permute, s->lengths->type->dims[0])) {
        return;
    }
    s->values = ig_fb_flat(fb, s->values);
    s->weights = ig_fb_flat(fb, s->weights);
    ig_value *picks = ig_fb_cast(fb, s->permute, IG_DT_i64);
    ig_value *lengths = ig_fb_gather(fb, s->lengths, picks, 0);
    ig_value *begins = begins_of(fb, ig_fb_flat(fb, s->lengths));
    if (begins && s->lengths->type->rank == 2) {
        begins = ig_fb_reshape(fb, begins, 2, s->lengths->type->dims);
    }
    begins = ig_fb_flat(fb, ig_fb_gather(fb, begins, picks, 0));
    ig_value *wide = ig_fb_cast(fb, ig_fb_flat(fb, lengths), IG_DT_i64);
    ig_value *from = take(fb, begins, ig_fb_cumsum(fb, wide, IG_FB_COMPLETE));
    s->lengths = lengths;
    s->values = ig_fb_gather(fb, s->values, from, 0);
    s->weights = s->weights ? ig_fb_gather(fb, s->weights, from, 0) : NULL;
}

static ig_status give_sparse(ig_fb *fb, const sparse *s) {
    IG_TRY(ig_fb_give(fb, 0, s->lengths));
    IG_TRY(ig_fb_give(fb, 1, s->values));
    return s->weights ? ig_fb_give(fb, 2, s->weights) : ig_fb_give_none(fb, 2);
}

ig_status ig_ts_op_fb_permute_sparse(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    sparse s = { ig_fb_tensor(&fb, 0), ig_fb_tensor(&fb, 1), ig_fb_tensor(&fb, 2),
                 ig_fb_optional(&fb, 3) };
    IG_TRY(fb.status);
    if (s.lengths->type->rank != (uint32_t)call->row->variant) {
        return ig_ts_fail(call, IG_INVALID, "lengths have rank %u, expected %d",
                          s.lengths->type->rank, call->row->variant);
    }
    permute_sparse(&fb, &s);
    return give_sparse(&fb, &s);
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
    ig_fb fb = ig_fb_open(call);
    ig_dim stride = ig_dim_of(1);
    IG_TRY(ig_ts_dim(call, STRIDE, &stride));
    sparse s = { ig_fb_tensor(&fb, 0), ig_fb_flat(&fb, ig_fb_tensor(&fb, 1)),
                 ig_fb_tensor(&fb, 2), ig_fb_optional(&fb, WEIGHTS) };
    ig_dim count = ig_fb_extent(&fb, s.lengths, 0);
    ig_dim dims[] = { ig_dim_exact_div(call->module, count, stride), stride };
    s.lengths = ig_fb_reshape(&fb, s.lengths, 2, dims);
    permute_sparse(&fb, &s);
    s.lengths = ig_fb_flat(&fb, s.lengths);
    return give_sparse(&fb, &s);
}

ig_status ig_ts_op_fb_permute_sequence(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    sparse s = { ig_fb_tensor(&fb, 0), ig_fb_tensor(&fb, 1), ig_fb_tensor(&fb, 2),
                 NULL };
    permute_sparse(&fb, &s);
    IG_TRY(ig_fb_give(&fb, 0, s.lengths));
    return ig_fb_give(&fb, 1, s.values);
}

/* Positions in the input of the elements of permuted segments. */
ig_status ig_ts_op_fb_expand_permute(ig_ts_call *call) {
    enum { PERMUTE, IN, OUT, SIZE };
    ig_fb fb = ig_fb_open(call);
    ig_value *size = ig_fb_size(&fb, SIZE);
    ig_value *permute = ig_fb_tensor(&fb, PERMUTE);
    ig_value *picks = ig_fb_cast(&fb, permute, IG_DT_i64);
    ig_value *begins = ig_fb_gather(&fb, ig_fb_arg(&fb, IN, IG_DT_i64), picks, 0);
    ig_value *offsets = ig_fb_arg(&fb, OUT, IG_DT_i64);
    ig_value *at = ig_fb_range(&fb, size);
    ig_value *segment = ig_fb_segment_of(&fb, offsets, at);
    ig_value *shift = ig_fb_2(
        &fb, IG_OP_sub, begins,
        ig_fb_slice(&fb, offsets, 0, ig_dim_of(0), ig_fb_extent(&fb, begins, 0)));
    ig_value *from = ig_fb_2(&fb, IG_OP_add, at, ig_fb_gather(&fb, shift, segment, 0));
    return ig_fb_give(&fb, 0, ig_fb_like(&fb, from, permute));
}

/* ---- selections ---- */

ig_status ig_ts_op_fb_jagged_index_select(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *lengths = ig_fb_tensor(&fb, 1);
    ig_value *picks = ig_fb_arg(&fb, 2, IG_DT_i64);
    ig_value *chosen = ig_fb_gather(&fb, lengths, picks, 0);
    ig_value *begins = ig_fb_gather(&fb, begins_of(&fb, lengths), picks, 0);
    ig_value *wide = ig_fb_cast(&fb, chosen, IG_DT_i64);
    ig_value *from = take(&fb, begins, ig_fb_cumsum(&fb, wide, IG_FB_COMPLETE));
    ig_value *results[] = { ig_fb_gather(&fb, ig_fb_tensor(&fb, 0), from, 0), chosen };
    IG_TRY(fb.status);
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, 2);
}

/* Offsets from 0 on, of ends alone. */
static ig_value *offsets_of_ends(ig_fb *fb, ig_value *ends) {
    return ig_fb_concat(fb, (ig_value *[]){ ig_fb_ints(fb, (int64_t[]){ 0 }, 1), ends },
                        2, 0);
}

/* Picked segments by the ends of all and of the picked ones. */
ig_status ig_ts_op_fb_select_by_ends(ig_ts_call *call) {
    enum { VALUES, INDICES, ENDS, PICKED_ENDS };
    ig_fb fb = ig_fb_open(call);
    ig_value *picks = ig_fb_arg(&fb, INDICES, IG_DT_i64);
    ig_value *begins = offsets_of_ends(&fb, ig_fb_arg(&fb, ENDS, IG_DT_i64));
    ig_value *offsets = offsets_of_ends(&fb, ig_fb_arg(&fb, PICKED_ENDS, IG_DT_i64));
    ig_value *from = take(&fb, ig_fb_gather(&fb, begins, picks, 0), offsets);
    return ig_fb_give(&fb, 0, ig_fb_gather(&fb, ig_fb_tensor(&fb, VALUES), from, 0));
}

/* Columns of a batch, for every key: lengths [keys * batch]. */
ig_status ig_ts_op_fb_keyed_select(ig_ts_call *call) {
    enum { VALUES, LENGTHS, OFFSETS, INDICES, BATCH, WEIGHTS };
    ig_fb fb = ig_fb_open(call);
    ig_dim batch = ig_dim_of(1);
    IG_TRY(ig_ts_dim(call, BATCH, &batch));
    ig_value *lengths = ig_fb_tensor(&fb, LENGTHS);
    ig_value *picks = ig_fb_arg(&fb, INDICES, IG_DT_i64);
    ig_value *weights = ig_fb_optional(&fb, WEIGHTS);
    ig_dim count = ig_fb_extent(&fb, lengths, 0);
    ig_dim dims[] = { ig_dim_exact_div(call->module, count, batch), batch };
    ig_value *begins = ig_fb_reshape(&fb, begins_of(&fb, lengths), 2, dims);
    begins = ig_fb_flat(&fb, ig_fb_gather(&fb, begins, picks, 1));
    ig_value *table = ig_fb_reshape(&fb, lengths, 2, dims);
    ig_value *chosen = ig_fb_flat(&fb, ig_fb_gather(&fb, table, picks, 1));
    ig_value *wide = ig_fb_cast(&fb, chosen, IG_DT_i64);
    ig_value *from = take(&fb, begins, ig_fb_cumsum(&fb, wide, IG_FB_COMPLETE));
    ig_value *results[] = { ig_fb_gather(&fb, ig_fb_tensor(&fb, VALUES), from, 0),
                            chosen,
                            weights ? ig_fb_gather(&fb, weights, from, 0) : NULL };
    IG_TRY(fb.status);
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, weights ? 3 : 2);
}

ig_status ig_ts_op_fb_index_select(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *x = ig_fb_tensor(&fb, 0);
    return ig_fb_give(&fb, 0, ig_fb_gather(&fb, x, ig_fb_arg(&fb, 1, IG_DT_i64), 0));
}

ig_status ig_ts_op_fb_group_index_select(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value **inputs, **indices;
    uint32_t count, others;
    IG_TRY(ig_ts_tensors(call, 0, &inputs, &count));
    IG_TRY(ig_ts_tensors(call, 1, &indices, &others));
    if (count != others) {
        return ig_ts_fail(call, IG_INVALID, "%u inputs and %u indices", count, others);
    }
    ig_value **results = IG_NEW_ARRAY(call->arena, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *index = ig_fb_cast(&fb, indices[i], IG_DT_i64);
        results[i] = ig_fb_gather(&fb, inputs[i], index, 0);
    }
    IG_TRY(fb.status);
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, count);
}

/* Per row: as many true as there are sources, then as many false as targets; false
 * behind all rows. */
ig_status ig_ts_op_fb_source_mask(ig_ts_call *call) {
    ig_fb fb = ig_fb_open(call);
    ig_value *size = ig_fb_size(&fb, 2);
    ig_value *sources = ig_fb_arg(&fb, 0, IG_DT_i64);
    ig_value *targets = ig_fb_arg(&fb, 1, IG_DT_i64);
    ig_value *lengths = ig_fb_2(&fb, IG_OP_add, sources, targets);
    ig_value *offsets = ig_fb_cumsum(&fb, lengths, IG_FB_COMPLETE);
    ig_value *at = ig_fb_range(&fb, size);
    ig_value *row = ig_fb_segment_of(&fb, offsets, at);
    ig_value *place = ig_fb_2(&fb, IG_OP_sub, at, ig_fb_gather(&fb, offsets, row, 0));
    ig_value *padded[] = { sources, ig_fb_ints(&fb, (int64_t[]){ 0 }, 1) };
    sources = ig_fb_concat(&fb, padded, 2, 0);
    return ig_fb_give(
        &fb, 0, ig_fb_2(&fb, IG_OP_lt, place, ig_fb_gather(&fb, sources, row, 0)));
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
    ig_fb fb = ig_fb_open(call);
    ig_value *ids = ig_fb_tensor(&fb, (uint32_t)call->row->variant), *misses = NULL;
    IG_TRY(fb.status);
    ig_value *miss = ig_ts_scalar_int(call, IG_DT_i32, -1);
    IG_TRY(ig_ts_full(call, miss, ids->type->rank, ids->type->dims, &misses));
    return ig_fb_give(&fb, 0, misses);
}

ig_status ig_ts_op_fb_nothing(ig_ts_call *call) {
    (void)call;
    return IG_OK;
}
