/* Pools, element by element.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Maxima and sums (of GPUs; for CPUs see lower/cpu/pool.c) are of windows without
 * padding: compose/window.c pads, and makes averages of sums.  Places of maxima are
 * found over the elements of each window: along each axis a first position, a count,
 * and the distance between neighbours.
 *
 *   grid       rows of the result, ROWS a tile
 */
#include "passes/lower/serial/window.h"

#include <assert.h>
#include <math.h>

enum { ROWS = 8 };

typedef struct pool {
    ig_lower *lower;
    const ig_op *op;
    const ig_lower_operand *x, *out;
    uint32_t last;
    ig_dtype wide;
    bool is_max;
} pool;

static ig_value *extent_of(const pool *p, const ig_lower_operand *x, uint32_t axis) {
    return ig_lower_dim(p->lower, x->type->dims[axis]);
}

static ig_value *stride_of(const pool *p, const ig_lower_operand *x, uint32_t axis) {
    return ig_lower_dim(p->lower, x->strides[axis]);
}

/* What the body makes of the pool's value there. */
static void store_element(const pool *p, ig_builder *b, ig_value **index,
                          ig_value *value) {
    ig_site site = { .b = b,
                     .lanes = 1,
                     .rank = p->last + 1,
                     .dims = p->out->type->dims,
                     .index = index };
    ig_lower_store_anchor(p->lower, site, p->op, value);
}

/* ---- values ---- */

static ig_value *reduce_axis(const pool *p, ig_builder *b, uint32_t axis, ig_value *at,
                             ig_value *total) {
    if (axis > p->last) {
        ig_value *x = k_cast(b, k_load(b, p->x->buffer, at, 1), p->wide);
        return p->is_max ? k_max(b, total, x) : k_add(b, total, x);
    }
    int64_t size = p->op->attrs[IG_pool_kernel].as.ints[axis - 2];
    int64_t apart = ig_lower_entry(p->op, IG_pool_dilations, axis - 2);
    k_loop loop = k_loop_open(b, k_i64(b, 0), k_i64(b, size), k_i64(b, 1), &total, 1);
    ig_builder *in = &loop.b;
    ig_value *step = k_mul(in, stride_of(p, p->x, axis), k_i64(in, apart));
    at = k_add(in, at, k_mul(in, loop.index, step));
    ig_value *next = reduce_axis(p, in, axis + 1, at, loop.carried[0]);
    k_loop_close(&loop, &next, 1);
    return loop.results[0];
}

static void emit_window(const pool *p, ig_builder *b, ig_value **index) {
    ig_value *at = k_i64(b, 0);
    for (uint32_t d = 0; d <= p->last; d++) {
        int64_t apart = d < 2 ? 1 : ig_lower_entry(p->op, IG_pool_strides, d - 2);
        ig_value *step = k_mul(b, stride_of(p, p->x, d), k_i64(b, apart));
        at = k_add(b, at, k_mul(b, index[d], step));
    }
    ig_value *start = p->is_max ? ig_lower_lowest(b, p->wide, 1)
                                : k_const(b, p->wide, 0.0);
    ig_value *total = reduce_axis(p, b, 2, at, start);
    store_element(p, b, index, total);
}

/* ---- places of maxima ---- */

/* The elements of a window along one axis: first + i * step for i < count. */
typedef struct run {
    ig_value *first, *count;
    int64_t step;
} run;

/* Those taps that meet elements. */
static run run_of_pool(const pool *p, ig_builder *b, uint32_t axis, ig_value *at) {
    int64_t apart = ig_lower_entry(p->op, IG_pool_indices_strides, axis - 2);
    int64_t step = ig_lower_entry(p->op, IG_pool_indices_dilations, axis - 2);
    int64_t size = p->op->attrs[IG_pool_indices_kernel].as.ints[axis - 2];
    ig_value *zero = k_i64(b, 0), *extent = extent_of(p, p->x, axis);
    ig_value *start = k_mul(b, at, k_i64(b, apart));
    if (ig_attr_is_set(p->op, IG_pool_indices_before)) {
        ig_dim before = p->op->attrs[IG_pool_indices_before].as.dims[axis - 2];
        start = k_sub(b, start, ig_lower_dim(p->lower, before));
    }
    ig_value *lacking = k_max(b, k_sub(b, zero, start), zero);
    ig_value *skipped = k_ceil_div(b, lacking, step);
    ig_value *left = k_max(b, k_sub(b, extent, start), zero);
    ig_value *end = k_min(b, k_ceil_div(b, left, step), k_i64(b, size));
    ig_value *first = k_add(b, start, k_mul(b, skipped, k_i64(b, step)));
    return (run){ first, k_max(b, k_sub(b, end, skipped), zero), step };
}

static run run_of_adaptive(const pool *p, ig_builder *b, uint32_t axis, ig_value *at) {
    ig_value *in = extent_of(p, p->x, axis), *out = extent_of(p, p->out, axis);
    ig_value *one = k_i64(b, 1);
    ig_value *first = k_div(b, k_mul(b, at, in), out);
    ig_value *past = k_mul(b, k_add(b, at, one), in);
    ig_value *end = k_div(b, k_sub(b, k_add(b, past, out), one), out);
    return (run){ first, k_sub(b, end, first), 1 };
}

/* How far neighbours along an axis are from each other as places are numbered. */
static ig_value *numbered_apart(const pool *p, ig_builder *b, uint32_t axis) {
    bool is_columns = p->op->code == IG_OP_pool_indices &&
                      ig_attr_int(p->op, IG_pool_indices_column_major, 0) != 0;
    ig_value *apart = k_i64(b, 1);
    for (uint32_t d = 2; d <= p->last; d++) {
        bool is_inner = is_columns ? d < axis : d > axis;
        apart = is_inner ? k_mul(b, apart, extent_of(p, p->x, d)) : apart;
    }
    return apart;
}

/* best[0]: the largest value so far, best[1]: where it is. */
static void visit_axis(const pool *p, ig_builder *b, const run *runs, uint32_t axis,
                       ig_value *const at[2], ig_value **best) {
    if (axis > p->last) {
        ig_value *x = k_cast(b, k_load(b, p->x->buffer, at[0], 1), p->wide);
        ig_value *is_more = k_compare(b, IG_OP_gt, x, best[0]);
        if (ig_dtype_is_float(p->wide)) {
            ig_value *is_nan = k_compare(b, IG_OP_ne, x, x);
            ig_value *was_number = k_compare(b, IG_OP_eq, best[0], best[0]);
            ig_value *is_first = k_binary(b, IG_OP_and, is_nan, was_number);
            is_more = k_binary(b, IG_OP_or, is_more, is_first);
        }
        best[0] = k_where(b, is_more, x, best[0]);
        best[1] = k_where(b, is_more, at[1], best[1]);
        return;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), runs[axis].count, k_i64(b, 1), best, 2);
    ig_builder *in = &loop.b;
    ig_value *steps = k_mul(in, loop.index, k_i64(in, runs[axis].step));
    ig_value *position = k_add(in, runs[axis].first, steps);
    ig_value *next[2];
    next[0] = k_add(in, at[0], k_mul(in, position, stride_of(p, p->x, axis)));
    next[1] = k_add(in, at[1], k_mul(in, position, numbered_apart(p, in, axis)));
    ig_value *inner[2] = { loop.carried[0], loop.carried[1] };
    visit_axis(p, in, runs, axis + 1, next, inner);
    k_loop_close(&loop, inner, 2);
    best[0] = loop.results[0];
    best[1] = loop.results[1];
}

/* The lowest value is no maximum unless it occurs: then the first position counts. */
static void emit_position(const pool *p, ig_builder *b, ig_value **index) {
    run runs[IG_TENSOR_RANK];
    ig_value *at[2] = { k_i64(b, 0), k_i64(b, 0) };
    for (uint32_t d = 0; d < 2; d++) {
        at[0] = k_add(b, at[0], k_mul(b, index[d], stride_of(p, p->x, d)));
    }
    if (p->op->code == IG_OP_pool_indices &&
        ig_attr_int(p->op, IG_pool_indices_whole, 0)) {
        ig_value *plane = k_mul(b, index[0], extent_of(p, p->x, 1));
        at[1] = k_add(b, plane, index[1]);
        for (uint32_t d = 2; d <= p->last; d++) {
            at[1] = k_mul(b, at[1], extent_of(p, p->x, d));
        }
    }
    for (uint32_t d = 2; d <= p->last; d++) {
        runs[d] = p->op->code == IG_OP_pool_indices
                      ? run_of_pool(p, b, d, index[d])
                      : run_of_adaptive(p, b, d, index[d]);
    }
    ig_value *best[2] = { ig_lower_lowest(b, p->wide, 1), at[1] };
    for (uint32_t d = 2; d <= p->last; d++) {
        ig_value *apart = numbered_apart(p, b, d);
        best[1] = k_add(b, best[1], k_mul(b, runs[d].first, apart));
    }
    visit_axis(p, b, runs, 2, at, best);
    store_element(p, b, index, best[1]);
}

/* ---- the schedule ---- */

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const pool *p = user;
    ig_value *rows = ig_lower_dim(p->lower,
                                  ig_lower_row_count(p->lower, p->out->type, 0));
    k_loop loop = ig_lower_open_lines(b, tile, rows, ig_lower_tile(p->lower, ROWS));
    ig_value *index[IG_TENSOR_RANK];
    ig_lower_split_rows(p->lower, &loop.b, p->out->type, 0, loop.index, index);
    ig_value *width = extent_of(p, p->out, p->last);
    k_loop row = k_loop_open(&loop.b, k_i64(&loop.b, 0), width, k_i64(&loop.b, 1), NULL,
                             0);
    index[p->last] = row.index;
    if (p->op->code == IG_OP_pool) {
        emit_window(p, &row.b, index);
    } else {
        emit_position(p, &row.b, index);
    }
    k_loop_close(&row, NULL, 0);
    k_loop_close(&loop, NULL, 0);
}

/* No padding, and a maximum or a sum. */
static bool is_plain(const ig_op *op) {
    return op->code != IG_OP_pool ||
           (!ig_attr_is_set(op, IG_pool_before) && !ig_attr_is_set(op, IG_pool_after) &&
            !ig_attr_int(op, IG_pool_ceil_mode, 0) &&
            ig_attr_int(op, IG_pool_op, 0) != IG_WINDOW_average);
}

ig_status ig_lower_serial_pool(ig_lower *lower) {
    const ig_op *op = lower->body->first;
    pool p = { .lower = lower,
               .op = op,
               .x = ig_lower_input(lower, op, 0),
               .out = &lower->outs[0] };
    if (!p.x || !is_plain(op)) {
        return ig_lower_unsupported(lower, "a pool of this form");
    }
    ig_dtype dtype = (ig_dtype)p.x->type->dtype;
    bool is_narrow = ig_dtype_is_float(dtype) && ig_dtypes[dtype].bits < 32;
    p.wide = is_narrow ? IG_DT_f32 : dtype;
    p.last = p.x->type->rank - 1;
    p.is_max = op->code != IG_OP_pool ||
               ig_attr_int(op, IG_pool_op, 0) == IG_WINDOW_max;
    lower->name = ig_lower_name(lower,
                                op->code == IG_OP_pool ? "pool" : "pool_indices");
    ig_dim rows = ig_lower_row_count(lower, p.out->type, 0);
    lower->grid = ig_lower_ceil_div(lower, rows, ig_lower_tile(lower, ROWS));
    lower->cost = ig_lower_mul(lower, ig_type_count(lower->module, p.out->type),
                               ig_dim_of(2));
    ig_lower_each_tile(lower, emit_tile, &p);
    return IG_OK;
}
