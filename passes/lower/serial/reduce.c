/* Reductions over any axes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two schedules, by the position of the reduced axes:
 *
 *   along rows     the last axis is reduced (and others perhaps): lanes run along it;
 *                  SUMS vector accumulators, halves added to halves at the end; on
 *                  GPUs a team (team.h)
 *   across rows    the last axis is kept: lanes are neighbours of the result, each sums
 *                  its own column; lanes is 1 where that axis is not contiguous.  Some
 *                  vectors side by side go through the rows together: lines are read
 *                  whole, and no vector's sum waits for another's
 *
 * Either way the order of one element's additions depends on the shape alone.  sum and
 * mean of f16/bf16 accumulate in f32.
 *
 * Several reductions of one tensor (min and max) have a total each beside one another
 * and share its loads.
 *
 *   grid       elements of the result (across: vectors of them), 64 a tile
 */
#include "passes/lower/serial/serial.h"

#include "passes/lower/math/math.h"
#include "passes/lower/team.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 64, SUMS = 4, VECTORS = 4 };

enum { PARTS = IG_REDUCE_TOGETHER };

/* What a result is. */
typedef struct part {
    const ig_op *op;
    ig_reduce kind;
} part;

typedef struct reduce {
    ig_lower *lower;
    const ig_lower_operand *x, *out; /* out: of each part, of strides of its own */
    part parts[PARTS];
    uint32_t count; /* of parts */
    bool is_reduced[IG_TENSOR_RANK];
    ig_dim
        dims[IG_TENSOR_RANK]; /* x's, where reduced ones that walk as one are merged */
    uint32_t kept[IG_TENSOR_RANK], kept_count;
    uint32_t gone[IG_TENSOR_RANK], gone_count;
    uint32_t lanes;
    uint32_t vectors; /* across: so many side by side, where there are so many */
    bool is_along;    /* lanes run along the last, reduced axis */
    ig_dtype wide;    /* accumulator */
    ig_value *shift;  /* logsumexp: the part used of every element */
    ig_team team;     /* along */
} reduce;

/* ---- one step ---- */

/* The lowest or the largest integer of a dtype, in the low bits of an i64. */
static int64_t extreme_of(ig_dtype dtype, bool is_min) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    if (info->class == IG_UINT) {
        return is_min ? 0 : -1;
    }
    int64_t max = (int64_t)(UINT64_MAX >> (65 - info->bits));
    return is_min ? -max - 1 : max;
}

static bool is_extreme(ig_reduce kind) {
    return kind == IG_REDUCE_max || kind == IG_REDUCE_min;
}

/* An accumulator's start: combining it with x gives x. */
static ig_value *start_value(const reduce *r, ig_builder *b, ig_reduce kind) {
    bool is_max = kind == IG_REDUCE_max;
    if (is_extreme(kind) && !ig_dtype_is_float(r->wide)) {
        ig_value *bits = k_i64(b, extreme_of(r->wide, is_max));
        return k_splat(b, k_cast(b, bits, r->wide), r->lanes);
    }
    double infinite = is_max ? -(double)INFINITY : (double)INFINITY;
    double value = is_extreme(kind) ? infinite : kind == IG_REDUCE_prod ? 1.0 : 0.0;
    return k_const_vector(b, r->wide, r->lanes, value);
}

static void start_totals(const reduce *r, ig_builder *b, ig_value **totals) {
    for (uint32_t p = 0; p < r->count; p++) {
        totals[p] = start_value(r, b, r->parts[p].kind);
    }
}

/* e to the x, after the largest x was taken out so that nothing overflows. */
static ig_value *shifted_exp(const reduce *r, ig_builder *b, ig_value *x) {
    return ig_lower_math(b, IG_OP_exp, k_sub(b, x, r->shift));
}

/* Of max and min the element comes first: the look for a NaN there waits for no sum. */
static ig_value *combine_values(const reduce *r, ig_builder *b, ig_reduce kind,
                                ig_value *sum, ig_value *x) {
    switch (kind) {
    case IG_REDUCE_max:
        return k_max(b, x, sum);
    case IG_REDUCE_min:
        return k_min(b, x, sum);
    case IG_REDUCE_prod:
        return k_mul(b, sum, x);
    case IG_REDUCE_sumsq:
    case IG_REDUCE_l2:
        return k_add(b, sum, k_mul(b, x, x));
    case IG_REDUCE_l1:
        return k_add(b, sum, k_unary(b, IG_OP_abs, x));
    case IG_REDUCE_logsumexp:
        return k_add(b, sum, shifted_exp(r, b, x));
    case IG_REDUCE_sum:
    case IG_REDUCE_mean:
    case IG_REDUCE_logsum:
        break;
    }
    return k_add(b, sum, x);
}

/* How lanes are brought together: squares are sums by then. */
static ig_reduce lane_kind(ig_reduce kind) {
    return is_extreme(kind) || kind == IG_REDUCE_prod ? kind : IG_REDUCE_sum;
}

/* The number of elements of a result, in every lane. */
static ig_value *element_count(const reduce *r, ig_builder *b, const part *p,
                               uint32_t lanes) {
    ig_dim count = ig_dim_of(1);
    for (uint32_t i = 0; i < r->gone_count; i++) {
        count = ig_lower_mul(r->lower, count, r->dims[r->gone[i]]);
    }
    ig_value *n = ig_lower_dim(r->lower, count);
    if (ig_attr_int(p->op, IG_reduce_empty_zero, 0)) {
        n = k_max(b, n, k_const(b, (ig_dtype)n->type->dtype, 1)); /* 0 / 1 is 0 */
    }
    return k_splat(b, k_cast(b, n, r->wide), lanes);
}

static ig_value *finish_value(const reduce *r, ig_builder *b, const part *p,
                              ig_value *sum) {
    if (p->kind == IG_REDUCE_mean) {
        ig_value *n = element_count(r, b, p, sum->type->lanes);
        return k_binary(b, IG_OP_div, sum, n);
    }
    if (p->kind == IG_REDUCE_l2) {
        return k_unary(b, IG_OP_sqrt, sum);
    }
    if (p->kind == IG_REDUCE_logsumexp) {
        ig_value *shift = r->is_along ? k_extract(b, r->shift, 0) : r->shift;
        return k_add(b, ig_lower_math(b, IG_OP_log, sum), shift);
    }
    return p->kind == IG_REDUCE_logsum ? ig_lower_math(b, IG_OP_log, sum) : sum;
}

/* ---- loops ---- */

static ig_value *axis_stride(const reduce *r, const ig_lower_operand *x,
                             uint32_t axis) {
    return ig_lower_dim(r->lower, x->strides[axis]);
}

static ig_value *load_input(const reduce *r, ig_builder *b, ig_value *at,
                            ig_value *count) {
    ig_value *x = k_load_count(b, r->x->buffer, at, r->lanes, count);
    return k_cast(b, x, r->wide);
}

/* The accumulator takes nothing from lanes that do not count. */
static ig_value *mask_lanes(const reduce *r, ig_builder *b, ig_value *next,
                            ig_value *sum, ig_value *count) {
    if (!count || r->lanes == 1) {
        return next;
    }
    ig_value *is_there = k_compare(b, IG_OP_lt, k_iota(b, r->lanes),
                                   k_splat(b, count, r->lanes));
    return k_where(b, is_there, next, sum);
}

/* Every total takes its kind's part of x; lanes from `count` on take nothing. */
static void combine_totals(const reduce *r, ig_builder *b, ig_value **totals,
                           ig_value *x, ig_value *count) {
    for (uint32_t p = 0; p < r->count; p++) {
        ig_value *next = combine_values(r, b, r->parts[p].kind, totals[p], x);
        totals[p] = mask_lanes(r, b, next, totals[p], count);
    }
}

/* SUMS accumulators of each part, part by part in `from`, as one. */
static void join_sums(const reduce *r, ig_builder *b, ig_value **from,
                      ig_value **totals) {
    for (uint32_t p = 0; p < r->count; p++, from += SUMS) {
        ig_reduce kind = lane_kind(r->parts[p].kind);
        for (uint32_t width = SUMS / 2; width > 0; width /= 2) {
            for (uint32_t i = 0; i < width; i++) {
                from[i] = combine_values(r, b, kind, from[i], from[i + width]);
            }
        }
        totals[p] = from[0];
    }
}

/* The part of a line that is whole groups of vectors, each with an accumulator of its
 * own, so that none waits for the one before it; *done: how much that is. */
static void emit_groups(const reduce *r, ig_builder *b, ig_value *at, ig_value *extent,
                        ig_value **totals, ig_value **done) {
    ig_value *sums[PARTS * SUMS], *step = k_i64(b, (int64_t)r->lanes * SUMS);
    *done = k_mul(b, k_div(b, extent, step), step);
    for (uint32_t i = 0; i < r->count * SUMS; i++) {
        ig_reduce kind = r->parts[i / SUMS].kind;
        sums[i] = i % SUMS == 0 ? totals[i / SUMS] : start_value(r, b, kind);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), *done, step, sums, r->count * SUMS);
    ig_builder *in = &loop.b;
    for (uint32_t i = 0; i < SUMS; i++) {
        ig_value *own = k_add(in, loop.index, k_i64(in, (int64_t)i * r->lanes));
        ig_value *x = load_input(r, in, k_add(in, at, own), NULL);
        for (uint32_t p = 0; p < r->count; p++) {
            ig_value *sum = loop.carried[p * SUMS + i];
            sums[p * SUMS + i] = combine_values(r, in, r->parts[p].kind, sum, x);
        }
    }
    k_loop_close(&loop, sums, r->count * SUMS);
    join_sums(r, b, loop.results, totals);
}

/* A line along which lanes run. */
static void emit_along(const reduce *r, ig_builder *b, ig_value *at, ig_value *extent,
                       ig_value **totals) {
    int64_t known = 0;
    ig_value *from = k_i64(b, 0);
    bool is_short = ig_constant_i64(extent, &known) && known < (int64_t)r->lanes * SUMS;
    if (r->lanes > 1 && !is_short) {
        emit_groups(r, b, at, extent, totals, &from);
    }
    k_loop loop = k_loop_open(b, from, extent, k_i64(b, r->lanes), totals, r->count);
    ig_builder *in = &loop.b;
    ig_value *left = r->lanes > 1 ? k_sub(in, extent, loop.index) : NULL;
    ig_value *x = load_input(r, in, k_add(in, at, loop.index), left);
    memcpy(totals, loop.carried, r->count * sizeof *totals);
    combine_totals(r, in, totals, x, left);
    k_loop_close(&loop, totals, r->count);
    memcpy(totals, loop.results, r->count * sizeof *totals);
}

/* The loop over gone[level …]; `at` is the element so far. */
static void emit_gone(const reduce *r, ig_builder *b, uint32_t level, ig_value *at,
                      ig_value **totals, ig_value *count) {
    if (level == r->gone_count) {
        combine_totals(r, b, totals, load_input(r, b, at, count), NULL);
        return;
    }
    uint32_t axis = r->gone[level];
    ig_value *extent = ig_lower_dim(r->lower, r->dims[axis]);
    if (r->is_along && level + 1 == r->gone_count && r->lanes > 1) {
        emit_along(r, b, at, extent, totals);
        return;
    }
    bool is_shared = r->team.size && level + 1 == r->gone_count;
    ig_value *begin = is_shared ? r->team.thread : k_i64(b, 0);
    ig_value *step = k_i64(b, is_shared ? r->team.size : 1);
    k_loop loop = k_loop_open(b, begin, extent, step, totals, r->count);
    ig_builder *in = &loop.b;
    ig_value *next = k_add(in, at, k_mul(in, loop.index, axis_stride(r, r->x, axis)));
    memcpy(totals, loop.carried, r->count * sizeof *totals);
    emit_gone(r, in, level + 1, next, totals, count);
    k_loop_close(&loop, totals, r->count);
    memcpy(totals, loop.results, r->count * sizeof *totals);
}

static void reduce_at(const reduce *r, ig_builder *b, ig_value *at, ig_value *count,
                      ig_value **totals) {
    start_totals(r, b, totals);
    emit_gone(r, b, 0, at, totals, count);
    for (uint32_t p = 0; p < r->count; p++) {
        ig_reduce kind = lane_kind(r->parts[p].kind);
        totals[p] = r->is_along ? k_hreduce(b, kind, totals[p]) : totals[p];
        totals[p] = ig_team_combine(&r->team, b, kind, totals[p]);
    }
}

/* What logsumexp takes out: the largest element, but for infinities nothing. */
static ig_value *shift_at(const reduce *r, ig_builder *b, ig_value *at,
                          ig_value *count) {
    reduce largest = *r;
    largest.parts[0].kind = IG_REDUCE_max;
    ig_value *max;
    assert(r->count == 1 && "a logsumexp shares no reads");
    reduce_at(&largest, b, at, count, &max);
    ig_value *size = k_unary(b, IG_OP_abs, max);
    uint32_t lanes = max->type->lanes;
    ig_value *infinite = k_const_vector(b, r->wide, lanes, (double)INFINITY);
    ig_value *is_infinite = k_compare(b, IG_OP_eq, size, infinite);
    ig_value *zero = k_const_vector(b, r->wide, lanes, 0.0);
    ig_value *shift = k_where(b, is_infinite, zero, max);
    return r->is_along ? k_splat(b, shift, r->lanes) : shift;
}

/* Where result number `number` of each part is, and the first element that they take
 * from. */
static void find_result(const reduce *r, ig_builder *b, ig_value *number,
                        ig_value **out_x, ig_value **out_at) {
    ig_value *x_at = k_i64(b, 0), *rest = number;
    for (uint32_t p = 0; p < r->count; p++) {
        out_at[p] = k_i64(b, 0);
    }
    for (uint32_t i = r->kept_count; i-- > 0;) {
        uint32_t axis = r->kept[i];
        ig_value *extent = ig_lower_dim(r->lower, r->x->type->dims[axis]);
        ig_value *index = i == 0 ? rest : k_mod(b, rest, extent);
        rest = i == 0 ? rest : k_div(b, rest, extent);
        x_at = k_add(b, x_at, k_mul(b, index, axis_stride(r, r->x, axis)));
        for (uint32_t p = 0; p < r->count; p++) {
            bool keeps = r->out[p].type->rank == r->x->type->rank;
            ig_value *step = axis_stride(r, &r->out[p], keeps ? axis : i);
            out_at[p] = k_add(b, out_at[p], k_mul(b, index, step));
        }
    }
    *out_x = x_at;
}

static ig_value *result_of(const reduce *r, ig_builder *b, uint32_t p,
                           ig_value *total) {
    ig_dtype dtype = (ig_dtype)r->out[p].type->dtype;
    return k_cast(b, finish_value(r, b, &r->parts[p], total), dtype);
}

/* Result number `number` (across: and its neighbours) of each part. */
static void emit_result(const reduce *r, ig_builder *b, ig_value *number,
                        ig_value *lane_count) {
    ig_value *x_at, *out_at[PARTS], *totals[PARTS];
    find_result(r, b, number, &x_at, out_at);
    reduce here = *r;
    if (r->parts[0].kind == IG_REDUCE_logsumexp) {
        here.shift = shift_at(r, b, x_at, lane_count);
    }
    reduce_at(&here, b, x_at, lane_count, totals);
    for (uint32_t p = 0; p < r->count; p++) {
        ig_value *result = result_of(&here, b, p, totals[p]);
        if (r->team.size) {
            ig_team_store(&r->team, b, result, r->out[p].buffer, out_at[p]);
        } else {
            k_store_count(b, result, r->out[p].buffer, out_at[p],
                          r->is_along || r->lanes == 1 ? NULL : lane_count);
        }
    }
}

/* Adds what r->vectors neighbouring vectors take from gone[level …] to their totals:
 * those of the first vector, of the second … */
static void add_vectors(const reduce *r, ig_builder *b, uint32_t level, ig_value *at,
                        ig_value **totals) {
    uint32_t count = r->vectors * r->count;
    if (level == r->gone_count) {
        for (uint32_t v = 0; v < r->vectors; v++) {
            ig_value *own = k_add(b, at, k_i64(b, (int64_t)v * r->lanes));
            ig_value *x = load_input(r, b, own, NULL);
            combine_totals(r, b, totals + v * r->count, x, NULL);
        }
        return;
    }
    uint32_t axis = r->gone[level];
    ig_value *extent = ig_lower_dim(r->lower, r->dims[axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), totals, count);
    ig_builder *in = &loop.b;
    memcpy(totals, loop.carried, count * sizeof *totals);
    at = k_add(in, at, k_mul(in, loop.index, axis_stride(r, r->x, axis)));
    add_vectors(r, in, level + 1, at, totals);
    k_loop_close(&loop, totals, count);
    memcpy(totals, loop.results, count * sizeof *totals);
}

/* Vectors of results from number `number` on. */
static void emit_vectors(const reduce *r, ig_builder *b, ig_value *number) {
    ig_value *x_at, *out_at[PARTS], *totals[VECTORS * PARTS];
    find_result(r, b, number, &x_at, out_at);
    for (uint32_t v = 0; v < r->vectors; v++) {
        start_totals(r, b, totals + v * r->count);
    }
    add_vectors(r, b, 0, x_at, totals);
    for (uint32_t i = 0; i < r->vectors * r->count; i++) {
        uint32_t v = i / r->count, p = i % r->count;
        ig_value *at = k_add(b, out_at[p], k_i64(b, (int64_t)v * r->lanes));
        k_store(b, result_of(r, b, p, totals[i]), r->out[p].buffer, at);
    }
}

/* ---- the grid ---- */

static ig_dim product_of(const reduce *r, const uint32_t *axes, uint32_t count) {
    ig_dim product = ig_dim_of(1);
    for (uint32_t i = 0; i < count; i++) {
        product = ig_lower_mul(r->lower, product, r->x->type->dims[axes[i]]);
    }
    return product;
}

/* Along: a tile is BLOCK results.  Across: BLOCK vectors of one row of results. */
static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const reduce *r = user;
    bool has_lanes = !r->is_along && r->lanes > 1;
    int64_t step = has_lanes ? r->lanes : 1, block = ig_lower_tile(r->lower, BLOCK);
    ig_dim inner = has_lanes ? r->x->type->dims[r->kept[r->kept_count - 1]]
                             : product_of(r, r->kept, r->kept_count);
    ig_value *extent = ig_lower_dim(r->lower, inner);
    ig_dim block_count = ig_lower_ceil_div(r->lower, inner, block * step);
    ig_value *blocks = ig_lower_dim(r->lower, block_count);
    ig_value *row = k_mul(b, k_div(b, tile, blocks), extent);
    ig_value *first = k_mul(b, k_mod(b, tile, blocks), k_i64(b, block * step));
    ig_value *last = k_min(b, extent, k_add(b, first, k_i64(b, block * step)));
    if (r->vectors > 1) {
        ig_value *width = k_i64(b, r->vectors * step);
        ig_value *whole = k_div(b, k_sub(b, last, first), width);
        ig_value *end = k_add(b, first, k_mul(b, whole, width));
        k_loop wide = k_loop_open(b, first, end, width, NULL, 0);
        emit_vectors(r, &wide.b, k_add(&wide.b, row, wide.index));
        k_loop_close(&wide, NULL, 0);
        first = end;
    }
    k_loop loop = k_loop_open(b, first, last, k_i64(b, step), NULL, 0);
    ig_value *count = has_lanes ? k_sub(&loop.b, extent, loop.index) : NULL;
    emit_result(r, &loop.b, k_add(&loop.b, row, loop.index), count);
    k_loop_close(&loop, NULL, 0);
}

static ig_dim grid_of(const reduce *r) {
    bool has_lanes = !r->is_along && r->lanes > 1;
    if (!has_lanes) {
        return ig_lower_ceil_div(r->lower, product_of(r, r->kept, r->kept_count),
                                 ig_lower_tile(r->lower, BLOCK));
    }
    ig_dim rows = product_of(r, r->kept, r->kept_count - 1);
    ig_dim inner = r->x->type->dims[r->kept[r->kept_count - 1]];
    ig_dim blocks = ig_lower_ceil_div(r->lower, inner,
                                      ig_lower_tile(r->lower, BLOCK) * r->lanes);
    return ig_lower_mul(r->lower, rows, blocks);
}

/* ---- the schedule ---- */

/* Is axis d reduced too, and one walk with the next? */
static bool merges_with(const reduce *r, uint32_t d) {
    ig_dim step = ig_lower_mul(r->lower, r->x->strides[d + 1], r->x->type->dims[d + 1]);
    return r->is_reduced[d] &&
           ig_dim_equal(r->lower->module, r->x->strides[d], step) == IG_YES;
}

static void sort_axes(reduce *r) {
    const ig_op *op = r->parts[0].op;
    const ig_attr *axes = &op->attrs[IG_reduce_axes];
    bool has_axes = axes->kind == IG_ATTR_INTS && axes->count > 0;
    bool is_noop = !has_axes && ig_attr_int(op, IG_reduce_noop_if_empty, 0);
    uint32_t rank = r->x->type->rank;
    for (uint32_t i = 0; has_axes && i < axes->count; i++) {
        int64_t axis = axes->as.ints[i];
        r->is_reduced[axis < 0 ? axis + rank : axis] = true;
    }
    for (uint32_t d = 0; d < rank; d++) {
        r->is_reduced[d] = has_axes ? r->is_reduced[d] : !is_noop;
        r->dims[d] = r->x->type->dims[d];
        if (!r->is_reduced[d]) {
            r->kept[r->kept_count++] = d;
        } else if (d > 0 && merges_with(r, d - 1)) {
            r->dims[d] = ig_lower_mul(r->lower, r->dims[d - 1], r->dims[d]);
            r->gone[r->gone_count - 1] = d;
        } else {
            r->gone[r->gone_count++] = d;
        }
    }
}

/* Are neighbours of each result neighbours in memory? */
static bool writes_vectors(const reduce *r) {
    bool is_unit = true;
    for (uint32_t p = 0; p < r->count; p++) {
        uint32_t rank = r->out[p].type->rank;
        is_unit = is_unit && rank > 0 && ig_dim_is(r->out[p].strides[rank - 1], 1);
    }
    return is_unit;
}

static void choose_lanes(reduce *r) {
    uint32_t rank = r->x->type->rank;
    r->is_along = rank > 0 && r->is_reduced[rank - 1];
    bool is_unit = rank > 0 && ig_dim_is(r->x->strides[rank - 1], 1);
    bool has_lanes = is_unit && (r->is_along || writes_vectors(r));
    r->lanes = has_lanes ? ig_lower_lanes(r->lower, r->wide) : 1;
    if (r->is_along && is_unit) {
        r->team = ig_team_open(r->lower, r->wide, r->dims[r->gone[r->gone_count - 1]]);
    }
}

/* Vectors of results that go through the rows together. */
static void choose_vectors(reduce *r) {
    int64_t inner = INT64_MAX;
    bool has_lanes = !r->is_along && r->lanes > 1 && r->gone_count > 0;
    r->vectors = has_lanes && r->parts[0].kind != IG_REDUCE_logsumexp ? VECTORS : 1;
    if (has_lanes) {
        ig_dim last = r->x->type->dims[r->kept[r->kept_count - 1]];
        (void)ig_dim_constant(r->lower->module, last, &inner);
    }
    while (r->vectors > 1 && inner < (int64_t)r->vectors * r->lanes) {
        r->vectors /= 2;
    }
}

/* Means, roots and logarithms of integers are computed in f64; bools as bytes. */
static ig_dtype accumulator_of(ig_dtype dtype, ig_reduce kind) {
    if (ig_dtype_is_float(dtype)) {
        return ig_dtypes[dtype].bits < 32 ? IG_DT_f32 : dtype;
    }
    bool is_real = kind == IG_REDUCE_mean || kind == IG_REDUCE_l2 ||
                   kind == IG_REDUCE_logsum || kind == IG_REDUCE_logsumexp;
    return is_real ? IG_DT_f64 : dtype == IG_DT_bool ? IG_DT_u8 : dtype;
}

/* The body's reductions, in the order of its results. */
static void collect_parts(reduce *r) {
    for (const ig_op *op = r->lower->body->first; op; op = op->next) {
        if (op->code == IG_OP_reduce) {
            assert(r->count < PARTS && "no more than fuse joins");
            ig_reduce kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, 0);
            r->parts[r->count++] = (part){ op, kind };
        }
    }
}

ig_status ig_lower_serial_reduce(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_reduce);
    assert(op && "the family's body has its anchor");
    reduce r = { .lower = lower,
                 .x = ig_lower_input(lower, op, 0),
                 .out = lower->outs };
    if (op->operand_count > 1) {
        return ig_lower_unsupported(lower,
                                    "a reduction of axes known only at run time");
    }
    collect_parts(&r);
    assert(r.count == lower->out_count && "a result of each");
    r.wide = accumulator_of((ig_dtype)r.x->type->dtype, r.parts[0].kind);
    sort_axes(&r);
    choose_lanes(&r);
    choose_vectors(&r);
    lower->grid = grid_of(&r);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, r.x->type), 4);
    ig_lower_each_tile(lower, emit_tile, &r);
    return IG_OK;
}
