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
 *   grid       elements of the result (across: vectors of them), 64 a tile
 */
#include "passes/lower/serial/serial.h"

#include "passes/lower/math/math.h"
#include "passes/lower/team.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 64, SUMS = 4, VECTORS = 4 };

typedef struct reduce {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *out;
    ig_reduce kind;
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
static ig_value *start_value(const reduce *r, ig_builder *b) {
    bool is_max = r->kind == IG_REDUCE_max;
    if (is_extreme(r->kind) && !ig_dtype_is_float(r->wide)) {
        ig_value *bits = k_i64(b, extreme_of(r->wide, is_max));
        return k_splat(b, k_cast(b, bits, r->wide), r->lanes);
    }
    double infinite = is_max ? -(double)INFINITY : (double)INFINITY;
    double value = is_extreme(r->kind)         ? infinite
                   : r->kind == IG_REDUCE_prod ? 1.0
                                               : 0.0;
    return k_const_vector(b, r->wide, r->lanes, value);
}

/* e to the x, after the largest x was taken out so that nothing overflows. */
static ig_value *shifted_exp(const reduce *r, ig_builder *b, ig_value *x) {
    return ig_lower_math(b, IG_OP_exp, k_sub(b, x, r->shift));
}

/* Of max and min the element comes first: the look for a NaN there waits for no sum. */
static ig_value *combine_values(const reduce *r, ig_builder *b, ig_value *sum,
                                ig_value *x) {
    switch (r->kind) {
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
static ig_reduce lane_kind(const reduce *r) {
    bool is_own = is_extreme(r->kind) || r->kind == IG_REDUCE_prod;
    return is_own ? r->kind : IG_REDUCE_sum;
}

static ig_value *finish_value(const reduce *r, ig_builder *b, ig_value *sum) {
    if (r->kind == IG_REDUCE_mean) {
        ig_dim count = ig_dim_of(1);
        for (uint32_t i = 0; i < r->gone_count; i++) {
            count = ig_lower_mul(r->lower, count, r->dims[r->gone[i]]);
        }
        ig_value *n = ig_lower_dim(r->lower, count);
        if (ig_attr_int(r->op, IG_reduce_empty_zero, 0)) {
            n = k_max(b, n, k_const(b, (ig_dtype)n->type->dtype, 1)); /* 0 / 1 is 0 */
        }
        n = k_cast(b, n, r->wide);
        return k_binary(b, IG_OP_div, sum, k_splat(b, n, sum->type->lanes));
    }
    if (r->kind == IG_REDUCE_l2) {
        return k_unary(b, IG_OP_sqrt, sum);
    }
    if (r->kind == IG_REDUCE_logsumexp) {
        ig_value *shift = r->is_along ? k_extract(b, r->shift, 0) : r->shift;
        return k_add(b, ig_lower_math(b, IG_OP_log, sum), shift);
    }
    return r->kind == IG_REDUCE_logsum ? ig_lower_math(b, IG_OP_log, sum) : sum;
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

/* Two accumulators as one. */
static ig_value *join_sums(const reduce *r, ig_builder *b, ig_value *x, ig_value *y) {
    reduce joining = *r;
    joining.kind = lane_kind(r);
    return combine_values(&joining, b, x, y);
}

/* The part of a line that is whole groups of vectors, each with an accumulator of its
 * own, so that none waits for the one before it; *done: how much that is. */
static ig_value *emit_groups(const reduce *r, ig_builder *b, ig_value *at,
                             ig_value *extent, ig_value *sum, ig_value **done) {
    ig_value *sums[SUMS], *next[SUMS], *step = k_i64(b, (int64_t)r->lanes * SUMS);
    *done = k_mul(b, k_div(b, extent, step), step);
    for (uint32_t i = 0; i < SUMS; i++) {
        sums[i] = i == 0 ? sum : start_value(r, b);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), *done, step, sums, SUMS);
    ig_builder *in = &loop.b;
    for (uint32_t i = 0; i < SUMS; i++) {
        ig_value *own = k_add(in, loop.index, k_i64(in, (int64_t)i * r->lanes));
        ig_value *x = load_input(r, in, k_add(in, at, own), NULL);
        next[i] = combine_values(r, in, loop.carried[i], x);
    }
    k_loop_close(&loop, next, SUMS);
    for (uint32_t width = SUMS / 2; width > 0; width /= 2) {
        for (uint32_t i = 0; i < width; i++) {
            ig_value *other = loop.results[i + width];
            loop.results[i] = join_sums(r, b, loop.results[i], other);
        }
    }
    return loop.results[0];
}

/* A line along which lanes run. */
static ig_value *emit_along(const reduce *r, ig_builder *b, ig_value *at,
                            ig_value *extent, ig_value *sum) {
    int64_t known = 0;
    ig_value *from = k_i64(b, 0);
    bool is_short = ig_constant_i64(extent, &known) && known < (int64_t)r->lanes * SUMS;
    if (r->lanes > 1 && !is_short) {
        sum = emit_groups(r, b, at, extent, sum, &from);
    }
    k_loop loop = k_loop_open(b, from, extent, k_i64(b, r->lanes), &sum, 1);
    ig_builder *in = &loop.b;
    ig_value *left = r->lanes > 1 ? k_sub(in, extent, loop.index) : NULL;
    ig_value *x = load_input(r, in, k_add(in, at, loop.index), left);
    ig_value *more = combine_values(r, in, loop.carried[0], x);
    more = mask_lanes(r, in, more, loop.carried[0], left);
    k_loop_close(&loop, &more, 1);
    return loop.results[0];
}

/* The loop over gone[level …]; `at` is the element so far. */
static ig_value *emit_gone(const reduce *r, ig_builder *b, uint32_t level, ig_value *at,
                           ig_value *sum, ig_value *count) {
    if (level == r->gone_count) {
        return combine_values(r, b, sum, load_input(r, b, at, count));
    }
    uint32_t axis = r->gone[level];
    ig_value *extent = ig_lower_dim(r->lower, r->dims[axis]);
    if (r->is_along && level + 1 == r->gone_count && r->lanes > 1) {
        return emit_along(r, b, at, extent, sum);
    }
    bool is_shared = r->team.size && level + 1 == r->gone_count;
    ig_value *begin = is_shared ? r->team.thread : k_i64(b, 0);
    ig_value *step = k_i64(b, is_shared ? r->team.size : 1);
    k_loop loop = k_loop_open(b, begin, extent, step, &sum, 1);
    ig_builder *in = &loop.b;
    ig_value *next = k_add(in, at, k_mul(in, loop.index, axis_stride(r, r->x, axis)));
    ig_value *more = emit_gone(r, in, level + 1, next, loop.carried[0], count);
    k_loop_close(&loop, &more, 1);
    return loop.results[0];
}

static ig_value *reduce_at(const reduce *r, ig_builder *b, ig_value *at,
                           ig_value *count) {
    ig_value *sum = emit_gone(r, b, 0, at, start_value(r, b), count);
    sum = r->is_along ? k_hreduce(b, lane_kind(r), sum) : sum;
    return ig_team_combine(&r->team, b, lane_kind(r), sum);
}

/* What logsumexp takes out: the largest element, but for infinities nothing. */
static ig_value *shift_at(const reduce *r, ig_builder *b, ig_value *at,
                          ig_value *count) {
    reduce largest = *r;
    largest.kind = IG_REDUCE_max;
    ig_value *max = reduce_at(&largest, b, at, count);
    ig_value *size = k_unary(b, IG_OP_abs, max);
    uint32_t lanes = max->type->lanes;
    ig_value *infinite = k_const_vector(b, r->wide, lanes, (double)INFINITY);
    ig_value *is_infinite = k_compare(b, IG_OP_eq, size, infinite);
    ig_value *zero = k_const_vector(b, r->wide, lanes, 0.0);
    ig_value *shift = k_where(b, is_infinite, zero, max);
    return r->is_along ? k_splat(b, shift, r->lanes) : shift;
}

/* Where result number `number` is, and the first element that it takes from. */
static void find_result(const reduce *r, ig_builder *b, ig_value *number,
                        ig_value **out_x, ig_value **out_at) {
    ig_value *x_at = k_i64(b, 0), *at = x_at, *rest = number;
    for (uint32_t i = r->kept_count; i-- > 0;) {
        uint32_t axis = r->kept[i];
        ig_value *extent = ig_lower_dim(r->lower, r->x->type->dims[axis]);
        ig_value *index = i == 0 ? rest : k_mod(b, rest, extent);
        rest = i == 0 ? rest : k_div(b, rest, extent);
        bool keeps = r->out->type->rank == r->x->type->rank;
        x_at = k_add(b, x_at, k_mul(b, index, axis_stride(r, r->x, axis)));
        ig_value *step = axis_stride(r, r->out, keeps ? axis : i);
        at = k_add(b, at, k_mul(b, index, step));
    }
    *out_x = x_at;
    *out_at = at;
}

/* Result number `number` (across: and its neighbours). */
static void emit_result(const reduce *r, ig_builder *b, ig_value *number,
                        ig_value *lane_count) {
    ig_value *x_at, *out_at;
    find_result(r, b, number, &x_at, &out_at);
    reduce here = *r;
    if (r->kind == IG_REDUCE_logsumexp) {
        here.shift = shift_at(r, b, x_at, lane_count);
    }
    ig_value *sum = reduce_at(&here, b, x_at, lane_count);
    ig_dtype dtype = (ig_dtype)r->out->type->dtype;
    ig_value *result = k_cast(b, finish_value(&here, b, sum), dtype);
    if (r->team.size) {
        ig_team_store(&r->team, b, result, r->out->buffer, out_at);
        return;
    }
    k_store_count(b, result, r->out->buffer, out_at,
                  r->is_along || r->lanes == 1 ? NULL : lane_count);
}

/* Adds what r->vectors neighbouring vectors take from gone[level …] to their sums. */
static void add_vectors(const reduce *r, ig_builder *b, uint32_t level, ig_value *at,
                        ig_value **sums) {
    ig_value *next[VECTORS];
    if (level == r->gone_count) {
        for (uint32_t v = 0; v < r->vectors; v++) {
            ig_value *own = k_add(b, at, k_i64(b, (int64_t)v * r->lanes));
            sums[v] = combine_values(r, b, sums[v], load_input(r, b, own, NULL));
        }
        return;
    }
    uint32_t axis = r->gone[level];
    ig_value *extent = ig_lower_dim(r->lower, r->dims[axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), sums, r->vectors);
    ig_builder *in = &loop.b;
    memcpy(next, loop.carried, r->vectors * sizeof *next);
    at = k_add(in, at, k_mul(in, loop.index, axis_stride(r, r->x, axis)));
    add_vectors(r, in, level + 1, at, next);
    k_loop_close(&loop, next, r->vectors);
    memcpy(sums, loop.results, r->vectors * sizeof *sums);
}

/* Vectors of results from number `number` on. */
static void emit_vectors(const reduce *r, ig_builder *b, ig_value *number) {
    ig_value *x_at, *out_at, *sums[VECTORS];
    ig_dtype dtype = (ig_dtype)r->out->type->dtype;
    find_result(r, b, number, &x_at, &out_at);
    for (uint32_t v = 0; v < r->vectors; v++) {
        sums[v] = start_value(r, b);
    }
    add_vectors(r, b, 0, x_at, sums);
    for (uint32_t v = 0; v < r->vectors; v++) {
        ig_value *at = k_add(b, out_at, k_i64(b, (int64_t)v * r->lanes));
        k_store(b, k_cast(b, finish_value(r, b, sums[v]), dtype), r->out->buffer, at);
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
    const ig_attr *axes = &r->op->attrs[IG_reduce_axes];
    bool has_axes = axes->kind == IG_ATTR_INTS && axes->count > 0;
    bool is_noop = !has_axes && ig_attr_int(r->op, IG_reduce_noop_if_empty, 0);
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

static void choose_lanes(reduce *r) {
    uint32_t rank = r->x->type->rank;
    r->is_along = rank > 0 && r->is_reduced[rank - 1];
    bool is_unit = rank > 0 && ig_dim_is(r->x->strides[rank - 1], 1);
    bool writes_unit = r->out->type->rank > 0 &&
                       ig_dim_is(r->out->strides[r->out->type->rank - 1], 1);
    bool has_lanes = is_unit && (r->is_along || writes_unit);
    r->lanes = has_lanes ? ig_lower_lanes(r->lower, r->wide) : 1;
    if (r->is_along && is_unit) {
        r->team = ig_team_open(r->lower, r->wide, r->dims[r->gone[r->gone_count - 1]]);
    }
}

/* Vectors of results that go through the rows together. */
static void choose_vectors(reduce *r) {
    int64_t inner = INT64_MAX;
    bool has_lanes = !r->is_along && r->lanes > 1 && r->gone_count > 0;
    r->vectors = has_lanes && r->kind != IG_REDUCE_logsumexp ? VECTORS : 1;
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

ig_status ig_lower_serial_reduce(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_reduce);
    assert(op && "the family's body has its anchor");
    reduce r = { .lower = lower,
                 .op = op,
                 .x = ig_lower_input(lower, op, 0),
                 .out = &lower->outs[0],
                 .kind = (ig_reduce)ig_attr_int(op, IG_reduce_op, 0) };
    bool has_operand_axes = op->operand_count > 1;
    ig_dtype dtype = (ig_dtype)r.x->type->dtype;
    if (has_operand_axes) {
        return ig_lower_unsupported(lower,
                                    "a reduction of axes known only at run time");
    }
    r.wide = accumulator_of(dtype, r.kind);
    sort_axes(&r);
    choose_lanes(&r);
    choose_vectors(&r);
    lower->grid = grid_of(&r);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, r.x->type), 4);
    ig_lower_each_tile(lower, emit_tile, &r);
    return IG_OK;
}
