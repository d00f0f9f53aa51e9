/* arg_reduce and bucketize, on CPUs: positions that comparisons find.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   arg_reduce   lanes are neighbouring lines where those are contiguous (lines.c), or
 *                run along the axis, and are compared halves with halves at the end
 *   bucketize    a binary search for each element, as many steps as the row has bits
 *
 *   grid         arg_reduce: lines.c; bucketize: elements, LINES a tile
 */
#include "passes/lower/serial/lines.h"
#include "passes/lower/serial/serial.h"

#include <assert.h>

enum { LINES = 64 };

/* ---- arg_reduce ---- */

typedef struct arg {
    ig_lines lines;
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    uint32_t axis;
    bool is_min, is_last;
    ig_dtype wide, index_type; /* of elements, and of their positions */
} arg;

/* An extreme value in each lane, and where it is. */
typedef struct best {
    ig_value *x, *at;
} best;

/* Is x more extreme than y?  NaN is, than any number. */
static ig_value *is_beyond(const arg *a, ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *is_more = k_compare(b, a->is_min ? IG_OP_lt : IG_OP_gt, x, y);
    if (!ig_dtype_is_float(a->wide)) {
        return is_more;
    }
    ig_value *is_number = k_compare(b, IG_OP_eq, y, y);
    ig_value *is_nan = k_binary(b, IG_OP_and, ig_lower_is_nan(b, x), is_number);
    return k_binary(b, IG_OP_or, is_more, is_nan);
}

/* Does x, which comes later, replace the best so far? */
static ig_value *beats_best(const arg *a, ig_builder *b, ig_value *x, ig_value *old) {
    return a->is_last ? k_unary(b, IG_OP_not, is_beyond(a, b, old, x))
                      : is_beyond(a, b, x, old);
}

/* The better one of two in each lane, whichever comes first. */
static best choose_best(const arg *a, ig_builder *b, best x, best y) {
    ig_value *is_after = k_compare(b, a->is_last ? IG_OP_gt : IG_OP_lt, y.at, x.at);
    ig_value *is_worse = is_beyond(a, b, x.x, y.x);
    ig_value *is_equal = k_unary(b, IG_OP_not, is_worse);
    ig_value *wins = k_binary(b, IG_OP_or, is_beyond(a, b, y.x, x.x),
                              k_binary(b, IG_OP_and, is_equal, is_after));
    return (best){ k_where(b, wins, y.x, x.x), k_where(b, wins, y.at, x.at) };
}

static void store_positions(const arg *a, ig_builder *b, ig_value *const *index,
                            ig_value *const *positions, uint32_t vectors,
                            ig_value *count) {
    ig_value *out_index[IG_TENSOR_RANK];
    uint32_t rank = 0, lanes = positions[0]->type->lanes;
    for (uint32_t d = 0; d < a->x->type->rank; d++) {
        if (d != a->axis || a->out->type->rank == a->x->type->rank) {
            out_index[rank++] = d == a->axis ? k_i64(b, 0) : index[d];
        }
    }
    ig_value *at = ig_lower_at(a->lower, b, a->out, out_index);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *own = k_add(b, at, k_i64(b, (int64_t)v * lanes));
        k_store_count(b, k_cast(b, positions[v], IG_DT_i64), a->out->buffer, own,
                      count);
    }
}

static ig_value *load_wide(const arg *a, ig_builder *b, ig_value *at, uint32_t lanes,
                           ig_value *count) {
    ig_value *x = k_load_count(b, a->x->buffer, at, lanes, count);
    return k_cast(b, x, a->wide);
}

/* ---- across: lines side by side; carried: value and place of each vector ---- */

static void emit_across(void *user, ig_builder *b, ig_value **index, uint32_t vectors,
                        ig_value *count) {
    const arg *a = user;
    uint32_t lanes = a->lines.lanes;
    ig_value *extent = ig_lower_dim(a->lower, a->x->type->dims[a->axis]);
    ig_value *stride = ig_lower_dim(a->lower, a->x->strides[a->axis]);
    ig_value *next[2 * IG_LINE_VECTORS], *positions[IG_LINE_VECTORS];
    index[a->axis] = k_i64(b, 0);
    ig_value *start = ig_lower_at(a->lower, b, a->x, index);
    ig_value *there = ig_lower_line_count(&a->lines, b, count);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *at = k_add(b, start, k_i64(b, (int64_t)v * lanes));
        next[2 * v] = load_wide(a, b, at, lanes, there);
        next[2 * v + 1] = k_const_vector(b, a->index_type, lanes, 0);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 1), extent, k_i64(b, 1), next, 2 * vectors);
    ig_builder *in = &loop.b;
    ig_value *row = k_add(in, start, k_mul(in, loop.index, stride));
    ig_value *index_type = k_splat(in, k_cast(in, loop.index, a->index_type), lanes);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *const *old = loop.carried + 2 * v;
        ig_value *at = k_add(in, row, k_i64(in, (int64_t)v * lanes));
        ig_value *x = load_wide(a, in, at, lanes, count);
        ig_value *is_better = beats_best(a, in, x, old[0]);
        next[2 * v] = k_where(in, is_better, x, old[0]);
        next[2 * v + 1] = k_where(in, is_better, index_type, old[1]);
    }
    k_loop_close(&loop, next, 2 * vectors);
    for (uint32_t v = 0; v < vectors; v++) {
        positions[v] = loop.results[2 * v + 1];
    }
    store_positions(a, b, index, positions, vectors, count);
}

/* ---- along: the axis is contiguous, and lanes run along it ---- */

/* One more vector of the line; lanes from `left` on (NULL: none) do not count. */
static void step_along(const arg *a, ig_builder *b, ig_value *at, ig_value *const *old,
                       ig_value *left, ig_value **next) {
    uint32_t lanes = old[0]->type->lanes;
    ig_value *x = load_wide(a, b, at, lanes, left);
    ig_value *is_better = beats_best(a, b, x, old[0]);
    if (left) {
        ig_value *is_there = k_compare(b, IG_OP_lt, k_iota(b, lanes),
                                       k_splat(b, left, lanes));
        is_better = k_binary(b, IG_OP_and, is_better, is_there);
    }
    next[0] = k_where(b, is_better, x, old[0]);
    next[1] = k_where(b, is_better, old[2], old[1]);
    next[2] = k_binary(b, IG_OP_add, old[2],
                       k_const_vector(b, a->index_type, lanes, lanes));
}

/* The best of all lanes, in each of them: halves against halves. */
static best join_lanes(const arg *a, ig_builder *b, best all) {
    int64_t swapped[64];
    uint32_t lanes = all.x->type->lanes;
    assert(lanes <= IG_COUNT_OF(swapped) && "as many as bytes in a vector");
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < lanes; i++) {
            swapped[i] = i ^ half;
        }
        best other = { k_shuffle(b, all.x, all.x, swapped, lanes),
                       k_shuffle(b, all.at, all.at, swapped, lanes) };
        all = choose_best(a, b, all, other);
    }
    return all;
}

/* carried: values, their places, and the places that come next. */
static void emit_along(const arg *a, ig_builder *b, ig_value **index, uint32_t lanes) {
    ig_value *extent = ig_lower_dim(a->lower, a->x->type->dims[a->axis]);
    ig_value *step = k_i64(b, lanes), *next[3];
    ig_value *whole = k_mul(b, k_div(b, extent, step), step);
    index[a->axis] = k_i64(b, 0);
    ig_value *start = ig_lower_at(a->lower, b, a->x, index);
    ig_value *first = k_load_count(b, a->x->buffer, start, 1, extent);
    next[0] = k_splat(b, k_cast(b, first, a->wide), lanes);
    next[1] = k_const_vector(b, a->index_type, lanes, 0);
    next[2] = k_cast(b, k_iota(b, lanes), a->index_type);
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, step, next, 3);
    step_along(a, &loop.b, k_add(&loop.b, start, loop.index), loop.carried, NULL, next);
    k_loop_close(&loop, next, 3);
    k_loop tail = k_loop_open(b, whole, extent, step, loop.results, 3);
    ig_value *left = k_sub(&tail.b, extent, tail.index);
    step_along(a, &tail.b, k_add(&tail.b, start, tail.index), tail.carried, left, next);
    k_loop_close(&tail, next, 3);
    best all = join_lanes(a, b, (best){ tail.results[0], tail.results[1] });
    ig_value *position = k_extract(b, all.at, 0);
    store_positions(a, b, index, &position, 1, NULL);
}

static void emit_line(void *user, ig_builder *b, ig_value **index, uint32_t vectors,
                      ig_value *count) {
    const arg *a = user;
    uint32_t lanes = ig_lower_lanes(a->lower, a->wide);
    uint32_t own = ig_lower_lanes(a->lower, a->index_type);
    lanes = own < lanes ? own : lanes;
    if (lanes > 1 && ig_dim_is(a->x->strides[a->axis], 1)) {
        emit_along(a, b, index, lanes);
    } else {
        emit_across(user, b, index, vectors, count);
    }
}

static void emit_arg_tile(void *user, ig_builder *b, ig_value *tile) {
    const arg *a = user;
    ig_lower_emit_lines(&a->lines, b, tile);
}

ig_status ig_lower_serial_arg(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_arg_reduce);
    assert(op && "the family's body has its anchor");
    arg a = { .lower = lower,
              .x = ig_lower_input(lower, op, 0),
              .out = &lower->outs[0],
              .is_min = ig_attr_int(op, IG_arg_reduce_op, 0) == IG_EXTREME_min,
              .is_last = ig_attr_int(op, IG_arg_reduce_last, 0) != 0 };
    int64_t axis = ig_attr_int(op, IG_arg_reduce_axis, 0);
    a.axis = (uint32_t)(axis < 0 ? axis + a.x->type->rank : axis);
    a.wide = ig_lower_wide((ig_dtype)a.x->type->dtype);
    int64_t extent = 0;
    bool is_short = ig_dim_constant(lower->module, a.x->type->dims[a.axis], &extent) &&
                    extent <= INT32_MAX;
    a.index_type = is_short ? IG_DT_i32 : IG_DT_i64;
    a.lines = (ig_lines){ .lower = lower,
                          .type = a.x->type,
                          .axis = a.axis,
                          .each = ig_lower_tile(lower, LINES),
                          .user = &a };
    uint32_t lanes = ig_lower_line_lanes(lower, a.x, a.out, a.axis, a.index_type);
    a.lines.lanes = lanes > 1 ? ig_lower_line_lanes(lower, a.x, a.out, a.axis, a.wide)
                              : 1;
    a.lines.lanes = lanes < a.lines.lanes ? lanes : a.lines.lanes;
    a.lines.emit = a.lines.lanes > 1 ? emit_across : emit_line;
    lower->name = "arg_reduce";
    lower->grid = ig_lower_line_grid(&a.lines);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, a.x->type), 4);
    ig_lower_each_tile(lower, emit_arg_tile, &a);
    return IG_OK;
}

/* ---- bucketize ---- */

typedef struct search {
    ig_lower *lower;
    const ig_lower_operand *x, *rows, *out;
    bool is_right;
    ig_dtype wide;
    ig_value *steps; /* that a search takes */
} search;

/* x < y, where NaN is the largest. */
static ig_value *is_before(const search *s, ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *is_less = k_compare(b, IG_OP_lt, x, y);
    if (!ig_dtype_is_float(s->wide)) {
        return is_less;
    }
    ig_value *ends = k_binary(b, IG_OP_and, ig_lower_is_nan(b, y),
                              k_compare(b, IG_OP_eq, x, x));
    return k_binary(b, IG_OP_or, is_less, ends);
}

/* The first boundary that x does not exceed. */
static ig_value *find_boundary(const search *s, ig_builder *b, ig_value *x,
                               ig_value *row) {
    uint32_t last = s->rows->type->rank - 1;
    ig_value *count = ig_lower_dim(s->lower, s->rows->type->dims[last]);
    ig_value *stride = ig_lower_dim(s->lower, s->rows->strides[last]);
    ig_value *inits[] = { k_i64(b, 0), count };
    k_loop loop = k_loop_open(b, k_i64(b, 0), s->steps, k_i64(b, 1), inits, 2);
    ig_builder *in = &loop.b;
    ig_value *low = loop.carried[0], *high = loop.carried[1];
    ig_value *is_open = k_compare(in, IG_OP_lt, low, high);
    ig_value *middle = k_binary(in, IG_OP_shr, k_add(in, low, high), k_i64(in, 1));
    ig_value *at = k_add(in, row, k_mul(in, middle, stride));
    ig_value *left = k_sub(in, count, middle);
    ig_value *edge = k_load_count(in, s->rows->buffer, at, 1, left);
    edge = k_cast(in, edge, s->wide);
    ig_value *exceeds = s->is_right ? k_unary(in, IG_OP_not, is_before(s, in, x, edge))
                                    : is_before(s, in, edge, x);
    ig_value *goes_up = k_binary(in, IG_OP_and, is_open, exceeds);
    ig_value *above = k_add(in, middle, k_i64(in, 1));
    ig_value *next[] = {
        k_where(in, goes_up, above, low),
        k_where(in, k_binary(in, IG_OP_and, is_open, k_unary(in, IG_OP_not, exceeds)),
                middle, high)
    };
    k_loop_close(&loop, next, 2);
    return loop.results[0];
}

static void emit_search(const search *s, ig_builder *b, ig_value *index_type) {
    ig_value *index[IG_TENSOR_RANK], *row = k_i64(b, 0);
    ig_lower_split(s->lower, b, s->x->type, s->x->type->rank, index_type, index);
    for (uint32_t d = 0; s->rows->type->rank > 1 && d + 1 < s->rows->type->rank; d++) {
        ig_value *stride = ig_lower_dim(s->lower, s->rows->strides[d]);
        row = k_add(b, row, k_mul(b, index[d], stride));
    }
    ig_value *x_at = ig_lower_at(s->lower, b, s->x, index);
    ig_value *x = k_cast(b, k_load(b, s->x->buffer, x_at, 1), s->wide);
    k_store(b, find_boundary(s, b, x, row), s->out->buffer,
            ig_lower_at(s->lower, b, s->out, index));
}

static void emit_search_tile(void *user, ig_builder *b, ig_value *tile) {
    search *s = user;
    uint32_t last = s->rows->type->rank - 1;
    ig_value *count = ig_lower_dim(s->lower, s->rows->type->dims[last]);
    ig_value *elements = ig_lower_dim(s->lower,
                                      ig_type_count(s->lower->module, s->x->type));
    s->steps = ig_lower_count_bits(b, count);
    k_loop loop = ig_lower_open_lines(b, tile, elements,
                                      ig_lower_tile(s->lower, LINES));
    emit_search(s, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_search(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_bucketize);
    assert(op && "the family's body has its anchor");
    search s = { .lower = lower,
                 .x = ig_lower_input(lower, op, 0),
                 .rows = ig_lower_input(lower, op, 1),
                 .out = &lower->outs[0],
                 .is_right = ig_attr_int(op, IG_bucketize_right, 0) != 0 };
    ig_dim count = ig_type_count(lower->module, s.x->type);
    s.wide = ig_lower_wide((ig_dtype)s.x->type->dtype);
    lower->name = "bucketize";
    lower->grid = ig_lower_ceil_div(lower, count, ig_lower_tile(lower, LINES));
    lower->cost = ig_lower_mul(lower, count, ig_dim_of(30));
    ig_lower_each_tile(lower, emit_search_tile, &s);
    return IG_OK;
}
