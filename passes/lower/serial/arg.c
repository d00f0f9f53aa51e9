/* arg_reduce and bucketize, on CPUs: positions that comparisons find.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   arg_reduce   one line along the axis after the other, element by element
 *   bucketize    a binary search for each element, as many steps as the row has bits
 *
 *   grid         lines (elements), LINES a tile
 */
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include <assert.h>

enum { LINES = 64 };

/* ---- arg_reduce ---- */

typedef struct arg {
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    uint32_t axis;
    bool is_min, is_last;
    ig_dtype wide;
} arg;

/* Does x take the place of the best so far?  NaN does, from any number. */
static ig_value *beats_best(const arg *a, ig_builder *b, ig_value *x, ig_value *best) {
    ig_opcode code = a->is_min    ? a->is_last ? IG_OP_le : IG_OP_lt
                     : a->is_last ? IG_OP_ge
                                  : IG_OP_gt;
    ig_value *is_better = k_compare(b, code, x, best);
    if (!ig_dtype_is_float(a->wide)) {
        return is_better;
    }
    ig_value *is_nan = ig_lower_is_nan(b, x);
    if (!a->is_last) {
        ig_value *was_number = k_compare(b, IG_OP_eq, best, best);
        is_nan = k_binary(b, IG_OP_and, is_nan, was_number);
    }
    return k_binary(b, IG_OP_or, is_better, is_nan);
}

static void emit_arg(const arg *a, ig_builder *b, ig_value *line) {
    ig_value *index[IG_TENSOR_RANK], *out_index[IG_TENSOR_RANK];
    ig_lower_split(a->lower, b, a->x->type, a->axis, line, index);
    ig_value *extent = ig_lower_dim(a->lower, a->x->type->dims[a->axis]);
    ig_value *stride = ig_lower_dim(a->lower, a->x->strides[a->axis]);
    index[a->axis] = k_i64(b, 0);
    ig_value *start = ig_lower_at(a->lower, b, a->x, index);
    ig_value *first = k_load_count(b, a->x->buffer, start, 1, extent);
    ig_value *inits[] = { k_cast(b, first, a->wide), k_i64(b, 0) };
    k_loop loop = k_loop_open(b, k_i64(b, 1), extent, k_i64(b, 1), inits, 2);
    ig_builder *in = &loop.b;
    ig_value *at = k_add(in, start, k_mul(in, loop.index, stride));
    ig_value *x = k_cast(in, k_load(in, a->x->buffer, at, 1), a->wide);
    ig_value *is_better = beats_best(a, in, x, loop.carried[0]);
    ig_value *next[] = { k_where(in, is_better, x, loop.carried[0]),
                         k_where(in, is_better, loop.index, loop.carried[1]) };
    k_loop_close(&loop, next, 2);
    uint32_t rank = 0;
    for (uint32_t d = 0; d < a->x->type->rank; d++) {
        if (d != a->axis || a->out->type->rank == a->x->type->rank) {
            out_index[rank++] = index[d];
        }
    }
    k_store(b, loop.results[1], a->out->buffer,
            ig_lower_at(a->lower, b, a->out, out_index));
}

static void emit_arg_tile(void *user, ig_builder *b, ig_value *tile) {
    const arg *a = user;
    ig_dim lines = ig_lower_lines(a->lower, a->x->type, a->axis);
    k_loop loop = ig_lower_open_lines(b, tile, ig_lower_dim(a->lower, lines),
                                      ig_lower_tile(a->lower, LINES));
    emit_arg(a, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
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
    lower->name = "arg_reduce";
    lower->grid = ig_lower_ceil_div(lower, ig_lower_lines(lower, a.x->type, a.axis),
                                    ig_lower_tile(lower, LINES));
    lower->cost = ig_type_count(lower->module, a.x->type);
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

static void emit_search(const search *s, ig_builder *b, ig_value *number) {
    ig_value *index[IG_TENSOR_RANK], *row = k_i64(b, 0);
    ig_lower_split(s->lower, b, s->x->type, s->x->type->rank, number, index);
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
