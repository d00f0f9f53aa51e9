/* softmax and log-softmax along one axis.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   m = max(x)    e = exp(x - m)    s = sum(e)    e / s, or x - m - log(s)
 *
 * With empty_zero an m of -inf counts as 0, and the sum of 0 that it gives as 1.
 *
 * Three walks over a line of elements in one kernel.  The first one goes by GROUP
 * vectors, since nothing but the maximum so far would keep it waiting.  The second one
 * leaves e at its destination where that dtype holds it exactly, and the third divides
 * it there; narrow floats are computed in f32 and e is computed twice.
 *
 *   blocks     lines of few elements, or whose elements are near one another
 *              (softmax_block.c)
 *   along      the axis is the last one and contiguous: lanes run along it; lanes of
 *              the last one are combined halves with halves; on GPUs a team (team.h)
 *   across     another axis is the contiguous last one: lanes are neighbouring lines
 *   neither    one line, one element at a time, by strides
 *
 * Axes of extent 1 count for nothing here.
 *
 *   grid       lines (across: vectors of them) of about 4096 elements together
 */
#include "passes/lower/serial/serial.h"
#include "passes/lower/serial/softmax.h"

#include "passes/lower/math/math.h"

#include <assert.h>
#include <math.h>

enum { CHUNK = 4096, LINES = 64, GROUP = 4 };

typedef ig_value *(*step_fn)(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                             ig_value *total, ig_value *count);
typedef ig_value *(*join_fn)(ig_builder *b, ig_value *x, ig_value *y);

/* ---- one step of each walk ---- */

static ig_value *element_index(ig_lower *lower, ig_builder *b,
                               const ig_lower_operand *x, ig_value *at, ig_value *i,
                               uint32_t axis) {
    assert(axis < x->type->rank && "an axis of x");
    return k_add(b, at, k_mul(b, i, ig_lower_dim(lower, x->strides[axis])));
}

static ig_value *load_x(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                        ig_value *count) {
    const ig_softmax *s = l->s;
    ig_value *at = element_index(s->lower, b, s->x, l->x_at, i, s->axis);
    return k_cast(b, k_load_count(b, s->x->buffer, at, s->lanes, count), s->wide);
}

static void store_value(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                        ig_value *value, ig_value *count) {
    const ig_softmax *s = l->s;
    ig_value *at = element_index(s->lower, b, s->out, l->out_at, i, s->axis);
    value = k_cast(b, value, (ig_dtype)s->out->type->dtype);
    k_store_count(b, value, s->out->buffer, at, count);
}

ig_value *ig_softmax_mask(const ig_softmax *s, ig_builder *b, ig_value *x,
                          ig_value *count, double value) {
    if (!count || !s->is_along) {
        return x;
    }
    ig_value *is_there = k_compare(b, IG_OP_lt, k_iota(b, s->lanes),
                                   k_splat(b, count, s->lanes));
    return k_where(b, is_there, x, k_const_vector(b, s->wide, s->lanes, value));
}

ig_value *ig_softmax_larger(ig_builder *b, ig_value *x, ig_value *max) {
    return k_where(b, k_compare(b, IG_OP_gt, x, max), x, max);
}

static ig_value *step_max(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                          ig_value *total, ig_value *count) {
    ig_value *x = load_x(l, b, i, count);
    x = ig_softmax_mask(l->s, b, x, count, -(double)INFINITY);
    return ig_softmax_larger(b, x, total);
}

static ig_value *shifted_exp(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                             ig_value *count) {
    return ig_math_decay(b, k_sub(b, load_x(l, b, i, count), l->max));
}

static ig_value *step_sum(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                          ig_value *total, ig_value *count) {
    ig_value *e = shifted_exp(l, b, i, count);
    if (l->s->keeps_exp) {
        store_value(l, b, i, e, count);
    }
    return k_add(b, total, ig_softmax_mask(l->s, b, e, count, 0.0));
}

static ig_value *step_write(const ig_softmax_line *l, ig_builder *b, ig_value *i,
                            ig_value *total, ig_value *count) {
    const ig_softmax *s = l->s;
    ig_value *value;
    if (s->is_log) {
        value = k_sub(b, k_sub(b, load_x(l, b, i, count), l->max), l->log_sum);
    } else {
        ig_value *at = element_index(s->lower, b, s->out, l->out_at, i, s->axis);
        value = s->keeps_exp ? k_load_count(b, s->out->buffer, at, s->lanes, count)
                             : shifted_exp(l, b, i, count);
        value = k_binary(b, IG_OP_div, value, l->sum);
    }
    store_value(l, b, i, value, count);
    return total;
}

/* ---- a walk: whole vectors, then one with a count ---- */

typedef struct walk {
    step_fn step;
    join_fn join; /* NULL: totals wait for one another */
    int64_t lanes;
    ig_value *extent;
} walk;

/* This thread's part of the line. */
static ig_value *walk_by_team(const ig_softmax_line *l, ig_builder *b, ig_value *total,
                              step_fn step) {
    const ig_team *team = &l->s->team;
    ig_value *extent = ig_lower_dim(l->s->lower, l->s->x->type->dims[l->s->axis]);
    k_loop loop = k_loop_open(b, team->thread, extent, k_i64(b, team->size), &total, 1);
    ig_value *next = step(l, &loop.b, loop.index, loop.carried[0], NULL);
    k_loop_close(&loop, &next, 1);
    return loop.results[0];
}

/* The whole groups of vectors before element *end, each vector with a total of its
 * own, so that none waits for the one before it. */
static ig_value *walk_groups(const ig_softmax_line *l, ig_builder *b, ig_value *total,
                             const walk *w, ig_value **end) {
    ig_value *totals[GROUP], *next[GROUP], *by = k_i64(b, (int64_t)w->lanes * GROUP);
    *end = k_mul(b, k_div(b, w->extent, by), by);
    for (uint32_t v = 0; v < GROUP; v++) {
        totals[v] = total;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), *end, by, totals, GROUP);
    for (uint32_t v = 0; v < GROUP; v++) {
        ig_value *i = k_add(&loop.b, loop.index, k_i64(&loop.b, v * w->lanes));
        next[v] = w->step(l, &loop.b, i, loop.carried[v], l->count);
    }
    k_loop_close(&loop, next, GROUP);
    for (uint32_t half = GROUP / 2; half > 0; half /= 2) {
        for (uint32_t v = 0; v < half; v++) {
            loop.results[v] = w->join(b, loop.results[v], loop.results[v + half]);
        }
    }
    return loop.results[0];
}

static ig_value *walk_axis(const ig_softmax_line *l, ig_builder *b, ig_value *total,
                           step_fn step, join_fn join) {
    const ig_softmax *s = l->s;
    if (s->team.size) {
        return walk_by_team(l, b, total, step);
    }
    walk w = { step, join, s->is_along ? s->lanes : 1,
               ig_lower_dim(s->lower, s->x->type->dims[s->axis]) };
    ig_value *by = k_i64(b, w.lanes), *from = k_i64(b, 0);
    total = join ? walk_groups(l, b, total, &w, &from) : total;
    ig_value *whole = k_mul(b, k_div(b, w.extent, by), by);
    k_loop loop = k_loop_open(b, from, whole, by, &total, 1);
    ig_value *next = step(l, &loop.b, loop.index, loop.carried[0], l->count);
    k_loop_close(&loop, &next, 1);
    total = loop.results[0];
    if (w.lanes > 1) {
        k_loop tail = k_loop_open(b, whole, w.extent, by, &total, 1);
        ig_value *left = k_sub(&tail.b, w.extent, tail.index);
        next = step(l, &tail.b, tail.index, tail.carried[0], left);
        k_loop_close(&tail, &next, 1);
        total = tail.results[0];
    }
    return total;
}

/* The total of all lanes in each of them: halves against halves. */
static ig_value *join_lanes(ig_builder *b, ig_value *x, join_fn join) {
    int64_t swapped[64];
    uint32_t lanes = x->type->lanes;
    assert(lanes <= IG_COUNT_OF(swapped) && "as many as bytes in a vector");
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        for (uint32_t i = 0; i < lanes; i++) {
            swapped[i] = i ^ half;
        }
        x = join(b, x, k_shuffle(b, x, x, swapped, lanes));
    }
    return x;
}

/* The result of a walk in every lane. */
static ig_value *spread_lanes(const ig_softmax *s, ig_builder *b, ig_reduce how,
                              ig_value *x, join_fn join) {
    if (s->team.size) {
        return ig_team_combine(&s->team, b, how, x);
    }
    return s->is_along ? join_lanes(b, x, join) : x;
}

/* x where it is not `what`, there `instead`. */
static ig_value *replace_number(ig_builder *b, ig_value *x, ig_value *what,
                                ig_value *instead) {
    return k_where(b, k_compare(b, IG_OP_eq, x, what), instead, x);
}

ig_value *ig_softmax_finish_max(const ig_softmax *s, ig_builder *b, ig_value *max) {
    ig_value *none = k_const_vector(b, s->wide, s->lanes, -(double)INFINITY);
    ig_value *zero = k_const_vector(b, s->wide, s->lanes, 0.0);
    return s->is_empty_zero ? replace_number(b, max, none, zero) : max;
}

ig_value *ig_softmax_finish_sum(const ig_softmax *s, ig_builder *b, ig_value *sum) {
    ig_value *zero = k_const_vector(b, s->wide, s->lanes, 0.0);
    ig_value *one = k_const_vector(b, s->wide, s->lanes, 1.0);
    return s->is_empty_zero ? replace_number(b, sum, zero, one) : sum;
}

static void emit_line(ig_softmax_line *l, ig_builder *b) {
    const ig_softmax *s = l->s;
    ig_value *start = k_const_vector(b, s->wide, s->lanes, -(double)INFINITY);
    ig_value *zero = k_const_vector(b, s->wide, s->lanes, 0.0);
    l->max = walk_axis(l, b, start, step_max, ig_softmax_larger);
    l->max = spread_lanes(s, b, IG_REDUCE_max, l->max, ig_softmax_larger);
    l->max = ig_softmax_finish_max(s, b, l->max);
    l->sum = walk_axis(l, b, zero, step_sum, NULL);
    l->sum = spread_lanes(s, b, IG_REDUCE_sum, l->sum, k_add);
    l->sum = ig_softmax_finish_sum(s, b, l->sum);
    if (s->is_log) {
        l->log_sum = ig_lower_math(b, IG_OP_log, l->sum);
    }
    walk_axis(l, b, zero, step_write, NULL);
}

/* ---- the grid ---- */

static ig_dim inner_extent(const ig_softmax *s) {
    return s->kept_count ? s->x->type->dims[s->kept[s->kept_count - 1]] : ig_dim_of(1);
}

static ig_dim row_count(const ig_softmax *s) {
    ig_dim rows = ig_dim_of(1);
    for (uint32_t i = 0; i + 1 < s->kept_count; i++) {
        rows = ig_lower_mul(s->lower, rows, s->x->type->dims[s->kept[i]]);
    }
    return rows;
}

/* Adds the offsets of kept axes other than the last; `row` counts through them. */
static void place_row(const ig_softmax *s, ig_builder *b, ig_value *row,
                      ig_softmax_line *l) {
    for (uint32_t k = s->kept_count > 0 ? s->kept_count - 1 : 0; k-- > 0;) {
        uint32_t axis = s->kept[k];
        ig_value *extent = ig_lower_dim(s->lower, s->x->type->dims[axis]);
        ig_value *i = k == 0 ? row : k_mod(b, row, extent);
        row = k == 0 ? row : k_div(b, row, extent);
        l->x_at = element_index(s->lower, b, s->x, l->x_at, i, axis);
        l->out_at = element_index(s->lower, b, s->out, l->out_at, i, axis);
    }
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const ig_softmax *s = user;
    ig_dim inner = inner_extent(s);
    ig_value *extent = ig_lower_dim(s->lower, inner);
    ig_value *step = k_i64(b, s->lines * s->width);
    ig_value *blocks =
        ig_lower_dim(s->lower, ig_lower_ceil_div(s->lower, inner, s->lines * s->width));
    ig_value *first = k_mul(b, k_mod(b, tile, blocks), step);
    ig_value *last = k_min(b, extent, k_add(b, first, step));
    k_loop loop = k_loop_open(b, first, last, k_i64(b, s->width), NULL, 0);
    ig_softmax_line l = { .s = s,
                          .x_at = k_i64(&loop.b, 0),
                          .out_at = k_i64(&loop.b, 0) };
    place_row(s, &loop.b, k_div(&loop.b, tile, blocks), &l);
    if (s->kept_count) {
        uint32_t axis = s->kept[s->kept_count - 1];
        l.x_at = element_index(s->lower, &loop.b, s->x, l.x_at, loop.index, axis);
        l.out_at = element_index(s->lower, &loop.b, s->out, l.out_at, loop.index, axis);
    }
    l.count = s->width > 1 ? k_sub(&loop.b, extent, loop.index) : NULL;
    if (s->period) {
        ig_softmax_emit_block(&l, &loop.b);
    } else {
        emit_line(&l, &loop.b);
    }
    k_loop_close(&loop, NULL, 0);
}

/* ---- the schedule ---- */

static void choose_lanes(ig_softmax *s) {
    uint32_t last = s->kept_count ? s->kept[s->kept_count - 1] : 0;
    last = last > s->axis ? last : s->axis;
    bool is_unit = ig_dim_is(s->x->strides[last], 1) &&
                   ig_dim_is(s->out->strides[last], 1);
    s->is_along = is_unit && s->axis == last;
    s->lanes = is_unit ? ig_lower_lanes(s->lower, s->wide) : 1;
    s->elements = s->x->type->dims[s->axis];
}

/* How a tile's lines are walked, and how many they are. */
static void choose_tile(ig_softmax *s) {
    if (ig_softmax_choose_block(s)) {
        s->is_along = true;
    } else {
        choose_lanes(s);
    }
    s->width = s->is_along ? 1 : s->lanes;
    int64_t length = 0;
    bool is_known = ig_dim_constant(s->lower->module, s->elements, &length);
    s->lines = is_known && length > 0
                   ? ig_lower_tile(s->lower, CHUNK) / s->width / length
                   : 8;
    s->lines = s->lines < 1 ? 1 : s->lines > LINES ? LINES : s->lines;
    if (s->is_along) {
        s->team = ig_team_open(s->lower, s->wide, s->x->type->dims[s->axis]);
    }
    s->lines = s->team.size ? 1 : s->lines;
}

ig_status ig_lower_serial_softmax(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_softmax);
    if (!op) {
        return ig_lower_serial_norm(lower);
    }
    ig_softmax s = { .lower = lower,
                     .x = ig_lower_input(lower, op, 0),
                     .out = &lower->outs[0],
                     .is_log = ig_attr_int(op, IG_softmax_log, 0) != 0,
                     .is_empty_zero = ig_attr_int(op, IG_softmax_empty_zero, 0) != 0 };
    ig_dtype dtype = (ig_dtype)s.x->type->dtype;
    int64_t axis = ig_attr_int(op, IG_softmax_axis, 0);
    s.axis = (uint32_t)(axis < 0 ? axis + s.x->type->rank : axis);
    s.wide = dtype == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
    s.keeps_exp = !s.is_log && s.wide == dtype;
    for (uint32_t d = 0; d < s.x->type->rank; d++) {
        if (d != s.axis && !ig_dim_is(s.x->type->dims[d], 1)) {
            s.kept[s.kept_count++] = d;
        }
    }
    choose_tile(&s);
    lower->name = s.is_log ? "log_softmax" : "softmax";
    lower->grid =
        ig_lower_mul(lower, row_count(&s),
                     ig_lower_ceil_div(lower, inner_extent(&s), s.lines * s.width));
    lower->cost = ig_type_count(lower->module, s.x->type);
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
