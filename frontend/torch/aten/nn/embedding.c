/* Embeddings and bags of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/rows/segments.h"
#include "frontend/torch/aten/aten.h"

#include "ir/bag.h"
#include "ir/build/extent.h"

#include <math.h>

/* embedding(weight, indices, …): ids out of range, negative ones too, are errors */
ig_status ig_ts_op_embedding(ig_ts_call *call) {
    ig_value *weight = ig_aten_tensor(call, 0), *ids = ig_aten_tensor(call, 1);
    return ig_aten_give(call,
                        ig_expr_gather(call->e, weight, ids, 0, IG_NEGATIVE_error));
}

/* Lengths of the rows of x, [n, 1]: the root of a sum of powers, or the largest. */
static ig_value *row_lengths(ig_expr *e, ig_value *x, double power) {
    ig_value *size = ig_build_abs(e, ig_expr_widen(e, x));
    if (!size || isinf(power)) {
        return size ? ig_expr_reduce_axes(e, IG_REDUCE_max, size, 1, 1) : NULL;
    }
    ig_value *sum = power == 1   ? size
                    : power == 2 ? ig_build_mul(e, size, size)
                                 : ig_expr_with(e, IG_OP_pow, size, power);
    sum = ig_expr_reduce_axes(e, IG_REDUCE_sum, sum, 1, 1);
    return power == 1   ? sum
           : power == 2 ? ig_build_sqrt(e, sum)
                        : ig_expr_with(e, IG_OP_pow, sum, 1 / power);
}

/* embedding_renorm(self, indices, max_norm, norm_type): the rows that are named and are
 * longer are shortened to that length */
ig_status ig_ts_op_embedding_renorm(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_tensor(call, 0), *ids = ig_aten_tensor(call, 1);
    double max = ig_aten_float(call, 2), power = ig_aten_float(call, 3);
    IG_TRY(e->status);
    if (x->type->rank != 2) {
        return ig_ts_fail(call, IG_INVALID, "a table of rank %u", x->type->rank);
    }
    ids = ig_expr_flatten(e, ig_aten_cast(call, ids, IG_DT_i64));
    IG_TRY(e->status);
    ig_value *named = ig_expr_fill(e, IG_DT_i64, 1, ids->type->dims, 1);
    named = ig_compose_reduce_rows(e, named, ids, ig_expr_extent(e, x, 0), 0,
                                   IG_SCATTER_max);
    ig_value *length = row_lengths(e, x, power);
    ig_value *is_long = ig_expr_with(e, IG_OP_gt, length, max);
    named = ig_expr_with(e, IG_OP_gt, ig_expr_unsqueeze(e, named, 1), 0);
    ig_value *scale = ig_expr_with(e, IG_OP_add, length, 1e-7);
    scale = ig_expr_number_with(e, IG_OP_div, max, scale);
    ig_value *y = ig_build_mul(e, ig_expr_widen(e, x), scale);
    y = ig_build_where(e, ig_build_and(e, named, is_long), ig_expr_like(e, y, x), x);
    return ig_aten_give(call, y);
}

/* one_hot(self, num_classes): -1 takes the largest id + 1 */
ig_status ig_ts_op_one_hot(ig_ts_call *call) {
    ig_value *ids = ig_aten_tensor(call, 0);
    int64_t classes = ig_aten_distance(call, 1);
    if (!ids) {
        return call->e->status;
    }
    ig_value *indices;
    ids = ig_aten_cast(call, ids, IG_DT_i64);
    if (classes >= 0) {
        indices = ig_expr_iota(call->e, IG_DT_i64, ig_dim_of(classes));
    } else {
        ig_value *max = ig_expr_reduce(call->e, IG_REDUCE_max, ids, NULL, 0, false);
        ig_value *range[] = { ig_expr_integer(call->e, IG_DT_i64, 0),
                              ig_expr_with(call->e, IG_OP_add, max, 1),
                              ig_expr_integer(call->e, IG_DT_i64, 1) };
        indices = ig_expr_make(call->e, IG_OP_range, range, 3, NULL);
    }
    ids = ig_expr_gather(call->e, indices, ids, 0, IG_NEGATIVE_error); /* checks them */
    ig_value *column = ids ? ig_expr_unsqueeze(call->e, ids, ids->type->rank) : NULL;
    ig_value *hot = ig_build_eq(call->e, column, indices);
    return ig_aten_give(call, ig_aten_cast(call, hot, IG_DT_i64));
}

/* ---- bags ---- */

enum { BAG_SUM, BAG_MEAN, BAG_MAX };
enum { WEIGHT, IDS, OFFSETS, SCALE_GRAD, MODE, SPARSE, SAMPLE_WEIGHTS, LAST, PADDING };

/* The row that is left out, INT64_MIN for none.  embedding_bag.padding_idx counts a
 * negative one from the end; in the other forms it means none. */
static int64_t padding_of(ig_ts_call *call, const ig_value *weight) {
    int64_t row, rows;
    if (call->arg_count <= PADDING || ig_ts_is_none(call, PADDING)) {
        return INT64_MIN;
    }
    row = ig_aten_int(call, PADDING);
    if (row >= 0) {
        return row;
    }
    if (call->row->variant == 0) {
        return INT64_MIN;
    }
    if (!ig_dim_constant(call->module, ig_expr_extent(call->e, weight, 0), &rows)) {
        ig_expr_fail(call->e, IG_UNSUPPORTED, "padding_idx of a table of unknown size");
        return INT64_MIN;
    }
    return row + rows;
}

static ig_value *build_bag(ig_ts_call *call, ig_value *weight, ig_value *ids,
                           ig_value *offsets) {
    static const ig_pool pools[] = { IG_POOL_sum, IG_POOL_mean, IG_POOL_max };
    ig_value *factors = ig_aten_optional(call, SAMPLE_WEIGHTS);
    int64_t mode = ig_aten_int(call, MODE);
    if (mode < 0 || mode >= (int64_t)IG_COUNT_OF(pools)) {
        return ig_expr_fail(call->e, IG_INVALID, "mode is %lld", (long long)mode);
    }
    int64_t operands = offsets ? 1 : 0, last = 0;
    ig_dtype precision = weight->type->dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    if (factors) {
        operands |= 4;
        factors = ig_aten_cast(call, factors, precision);
    }
    if (offsets && ig_aten_bool(call, LAST)) {
        last = IG_LAST_offset;
    }
    int64_t pool = pools[mode], padding = padding_of(call, weight);
    int64_t empty = IG_EMPTY_zero;
    ig_bag_attrs attrs = { .operands = { &operands, 1 },
                           .pool = { &pool, 1 },
                           .padding = { &padding, 1 },
                           .last = { &last, 1 },
                           .empty = { &empty, 1 },
                           .negative = IG_NEGATIVE_error,
                           .offsets = IG_OFFSETS_first };
    ig_value *all[4] = { weight, ids };
    uint32_t count = 2;
    if (offsets) {
        all[count++] = offsets;
    }
    if (factors) {
        all[count++] = factors;
    }
    return ig_build_bag(call->e, all, count, attrs);
}

/* The sources of embedding_bag's other results. */
typedef struct bag_results {
    ig_value *weight, *ids, *offsets; /* integers as i64 */
    ig_value *value;                  /* the first result */
    ig_value *begins;                 /* i64 [bags] */
    ig_value *bag; /* i64 [ids]: the bag of each; before the first: -1 */
    int64_t padding;
    bool has_last;
} bag_results;

/* bool [ids]: is it not the row that is left out? */
static ig_value *counts_of(ig_expr *e, const bag_results *r) {
    return ig_expr_with_integer(e, IG_OP_ne, r->ids, r->padding);
}

/* i64 [bags]: how many ids count. */
static ig_value *size_bags(ig_expr *e, const bag_results *r) {
    ig_module *m = e->module;
    ig_dim bags = ig_expr_extent(e, r->begins, 0), zero = ig_dim_of(0),
           one = ig_dim_of(1);
    ig_value *count = ig_expr_dim(e, ig_expr_extent(e, r->ids, 0), IG_DT_i64);
    ig_value *ends = r->offsets;
    if (!r->has_last) {
        ig_value *parts[] = { ends, ig_expr_reshape(e, count, 1, &one) };
        ends = ig_expr_concat(e, 0, parts, 2);
    }
    if (r->padding != INT64_MIN) {
        ig_value *before = ig_expr_cast(e, counts_of(e, r), IG_DT_i64);
        before = ig_compose_running_sum(e, before, IG_RUNNING_complete);
        ends = ig_compose_take_rows(e, before, ends);
    }
    ig_dim all = ends ? ig_expr_extent(e, ends, 0) : one;
    return ig_build_sub(e, ig_expr_slice(e, ends, 0, ig_dim_sub(m, all, bags), bags, 1),
                        ig_expr_slice(e, ends, 0, zero, bags, 1));
}

/* i64 [bags, dim]: the id whose row has the first maximum; 0 of an empty bag. */
static ig_value *find_maxima(ig_expr *e, const bag_results *r) {
    ig_dim count = ig_expr_extent(e, r->ids, 0), one = ig_dim_of(1);
    ig_value *rows = ig_compose_take_rows(e, r->weight, r->ids);
    ig_value *max = ig_compose_take_rows(e, r->value, r->bag);
    ig_value *is_it = ig_build_eq(e, rows, max);
    if (r->padding != INT64_MIN) {
        is_it = ig_build_and(e, is_it, ig_expr_unsqueeze(e, counts_of(e, r), 1));
    }
    ig_value *at = ig_expr_unsqueeze(e, ig_expr_iota(e, IG_DT_i64, count), 1);
    ig_value *none = ig_expr_dim(e, count, IG_DT_i64);
    at = ig_build_where(e, is_it, at, none);
    ig_dim bags = ig_expr_extent(e, r->begins, 0);
    ig_value *first = ig_compose_reduce_rows(e, at, r->bag, bags, (double)INT64_MAX,
                                             IG_SCATTER_min);
    first = ig_build_min(e, first, none);
    ig_value *ids[] = { r->ids, ig_expr_fill(e, IG_DT_i64, 1, &one, 0) };
    return ig_compose_take_rows(e, ig_expr_concat(e, 0, ids, 2), first);
}

/* Where torch adds rows up as it reads them, it does not say whose bag each is. */
static bool skips_bags(int64_t mode, const bag_results *r) {
    return mode == BAG_SUM && r->padding == INT64_MIN &&
           r->weight->type->dtype != IG_DT_f64;
}

/* offset2bag, bag_size (of sums 0), max_indices (of sums and means bag_size), in the
 * wider dtype of ids and offsets. */
static ig_status give_bag_results(ig_ts_call *call, bag_results *r) {
    ig_expr *e = call->e;
    int64_t mode = ig_aten_int(call, MODE);
    ig_dtype dtype = ig_ts_promote((ig_dtype)r->ids->type->dtype,
                                   (ig_dtype)r->offsets->type->dtype);
    ig_dim zero = ig_dim_of(0), all = ig_expr_extent(e, r->offsets, 0),
           one = ig_dim_of(1);
    r->padding = padding_of(call, r->weight);
    r->has_last = ig_aten_bool(call, LAST);
    r->ids = ig_aten_cast(call, r->ids, IG_DT_i64);
    r->offsets = ig_aten_cast(call, r->offsets, IG_DT_i64);
    ig_dim bags = r->has_last ? ig_dim_sub(e->module, all, one) : all;
    r->begins = ig_expr_slice(e, r->offsets, 0, zero, bags, 1);
    IG_TRY(e->status);
    ig_value *size = mode == BAG_SUM ? ig_expr_fill(e, IG_DT_i64, 1, &bags, 0)
                                     : size_bags(e, r);
    ig_value *positions = ig_expr_iota(e, IG_DT_i64, ig_expr_extent(e, r->ids, 0));
    r->bag = ig_build_bucketize(e, positions, r->begins,
                                (ig_bucketize_attrs){ .right = true });
    r->bag = ig_expr_with(e, IG_OP_sub, r->bag, 1);
    ig_value *max = mode == BAG_MAX ? find_maxima(e, r) : size;
    ig_value *bag = skips_bags(mode, r) ? ig_expr_fill(e, IG_DT_i64, 1, &zero, 0)
                                        : r->bag;
    IG_TRY(ig_ts_give(call, 1, ig_aten_cast(call, bag, dtype)));
    IG_TRY(ig_ts_give(call, 2, ig_aten_cast(call, size, dtype)));
    return ig_ts_give(call, 3, ig_aten_cast(call, max, dtype));
}

/* embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
 * per_sample_weights, include_last_offset[, padding_idx]); variant 1: padding_idx may
 * be negative.  Four results: the bags, and those of bag_results. */
ig_status ig_ts_op_embedding_bag(ig_ts_call *call) {
    ig_value *weight = ig_aten_tensor(call, WEIGHT), *ids = ig_aten_tensor(call, IDS);
    ig_value *offsets = ig_aten_tensor(call, OFFSETS);
    IG_TRY(call->e->status);
    if (ids->type->rank != 1) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "ids of rank %u", ids->type->rank);
    }
    ig_value *value = build_bag(call, weight, ids, offsets);
    if (value && weight->type->dtype == IG_DT_f64) {
        value = ig_aten_cast(call, value, IG_DT_f64);
    }
    IG_TRY(ig_aten_give(call, value));
    bag_results r = {
        .weight = weight, .ids = ids, .offsets = offsets, .value = value
    };
    return give_bag_results(call, &r);
}
