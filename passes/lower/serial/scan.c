/* Running sums, and ranges, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   cumsum     along the axis in order (floats in f64, as the sum is rounded once where
 *              it is written), lines side by side where they are neighbours (lines.c)
 *   range      start + i * step, for each i on its own
 *
 *   grid       cumsum: lines.c; range: elements, CHUNK a tile
 */
#include "passes/lower/serial/lines.h"
#include "passes/lower/serial/serial.h"

#include <assert.h>

enum { LINES = 8, CHUNK = 4096 };

/* ---- cumsum ---- */

typedef struct scan {
    ig_lines lines;
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    uint32_t axis;
    bool is_exclusive, is_reverse, is_complete, is_rising;
    ig_dtype wide;
} scan;

/* Stores vector number `v` after element `at` of the result. */
static void store_sum(const scan *s, ig_builder *b, ig_value *at, uint32_t v,
                      ig_value *value, ig_value *count) {
    uint32_t lanes = s->lines.lanes;
    ig_value *own = k_add(b, at, k_i64(b, (int64_t)v * lanes));
    value = k_cast(b, value, (ig_dtype)s->out->type->dtype);
    k_store_count(b, value, s->out->buffer, own, lanes == 1 ? NULL : count);
}

/* carried: the sums, then the shown part of them where that only rises.  Each vector is
 * stored before the next is read, or the sums of all would leave their registers. */
static void emit_scan(void *user, ig_builder *b, ig_value **index, uint32_t vectors,
                      ig_value *count) {
    const scan *s = user;
    uint32_t lanes = s->lines.lanes, carried = s->is_rising ? 2 * vectors : vectors;
    ig_value *extent = ig_lower_dim(s->lower, s->x->type->dims[s->axis]);
    ig_value *zero = k_const_vector(b, s->wide, lanes, 0.0), *one = k_i64(b, 1);
    ig_value *values[IG_LINE_MANY_VECTORS];
    _Static_assert(2 * IG_LINE_VECTORS <= IG_LINE_MANY_VECTORS, "room for either");
    for (uint32_t v = 0; v < carried; v++) {
        values[v] = zero;
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, one, values, carried);
    ig_builder *in = &loop.b;
    ig_value *last = k_sub(in, extent, one);
    index[s->axis] = s->is_reverse ? k_sub(in, last, loop.index) : loop.index;
    ig_value *x_at = ig_lower_at(s->lower, in, s->x, index);
    ig_value *out_at = ig_lower_at(s->lower, in, s->out, index);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *at = k_add(in, x_at, k_i64(in, (int64_t)v * lanes));
        ig_value *x = k_load_count(in, s->x->buffer, at, lanes, count);
        ig_value *before = loop.carried[carried - vectors + v];
        values[v] = k_add(in, loop.carried[v], k_cast(in, x, s->wide));
        if (s->is_rising) {
            values[vectors + v] = k_max(in, before, values[v]);
        }
        ig_value *shown = s->is_exclusive ? before : values[carried - vectors + v];
        store_sum(s, in, out_at, v, shown, count);
    }
    k_loop_close(&loop, values, carried);
    if (s->is_complete) {
        index[s->axis] = extent;
        ig_value *end = ig_lower_at(s->lower, b, s->out, index);
        for (uint32_t v = 0; v < vectors; v++) {
            store_sum(s, b, end, v, loop.results[carried - vectors + v], count);
        }
    }
}

static void emit_scan_tile(void *user, ig_builder *b, ig_value *tile) {
    const scan *s = user;
    ig_lower_emit_lines(&s->lines, b, tile);
}

ig_status ig_lower_serial_scan(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_cumsum);
    if (!op) {
        return ig_lower_serial_cumulate(lower);
    }
    scan s = { .lower = lower,
               .x = ig_lower_input(lower, op, 0),
               .out = &lower->outs[0],
               .is_exclusive = ig_attr_int(op, IG_cumsum_exclusive, 0) != 0,
               .is_reverse = ig_attr_int(op, IG_cumsum_reverse, 0) != 0 };
    s.is_complete = ig_attr_int(op, IG_cumsum_complete, 0) != 0;
    s.is_exclusive = s.is_exclusive || s.is_complete;
    s.is_rising = ig_attr_int(op, IG_cumsum_rising, 0) != 0;
    int64_t axis = ig_attr_int(op, IG_cumsum_axis, 0);
    ig_dtype dtype = (ig_dtype)s.x->type->dtype;
    s.axis = (uint32_t)(axis < 0 ? axis + s.x->type->rank : axis);
    s.wide = ig_dtype_is_float(dtype) ? IG_DT_f64 : dtype;
    s.lines =
        (ig_lines){ .lower = lower,
                    .type = s.x->type,
                    .axis = s.axis,
                    .lanes = ig_lower_line_lanes(lower, s.x, s.out, s.axis, s.wide),
                    .each = ig_lower_tile(lower, LINES),
                    .has_many = !s.is_rising,
                    .emit = emit_scan,
                    .user = &s };
    lower->name = "cumsum";
    lower->grid = ig_lower_line_grid(&s.lines);
    lower->cost = ig_type_count(lower->module, s.x->type);
    ig_lower_each_tile(lower, emit_scan_tile, &s);
    return IG_OK;
}

/* ---- range ---- */

typedef struct range {
    ig_lower *lower;
    const ig_lower_operand *start, *step, *out;
} range;

static ig_value *first_element(ig_builder *b, const ig_lower_operand *x,
                               ig_dtype wide) {
    return k_cast(b, k_load(b, x->buffer, k_i64(b, 0), 1), wide);
}

/* `lanes` elements from i on, or those that `count` (NULL: all) says. */
static void emit_elements(const range *r, ig_builder *b, ig_value *i, uint32_t lanes,
                          ig_value *count) {
    ig_dtype dtype = (ig_dtype)r->out->type->dtype;
    ig_dtype wide = ig_dtype_is_float(dtype) ? IG_DT_f64 : IG_DT_i64;
    ig_value *start = k_splat(b, first_element(b, r->start, wide), lanes);
    ig_value *step = k_splat(b, first_element(b, r->step, wide), lanes);
    ig_value *number = k_splat(b, i, lanes);
    number = lanes > 1 ? k_binary(b, IG_OP_add, number, k_iota(b, lanes)) : number;
    ig_value *value = k_binary(b, IG_OP_mul, k_cast(b, number, wide), step);
    value = k_cast(b, k_binary(b, IG_OP_add, start, value), dtype);
    ig_value *stride = ig_lower_dim(r->lower, r->out->strides[0]);
    k_store_count(b, value, r->out->buffer, k_mul(b, i, stride), count);
}

static void emit_range_tile(void *user, ig_builder *b, ig_value *tile) {
    const range *r = user;
    ig_value *count = ig_lower_dim(r->lower, r->out->type->dims[0]);
    int64_t chunk = ig_lower_tile(r->lower, CHUNK);
    uint32_t lanes = ig_dim_is(r->out->strides[0], 1)
                         ? ig_lower_lanes(r->lower, IG_DT_i64)
                         : 1;
    ig_value *first = k_mul(b, tile, k_i64(b, chunk)), *step = k_i64(b, lanes);
    ig_value *last = k_min(b, count, k_add(b, first, k_i64(b, chunk)));
    ig_value *vectors = k_div(b, k_sub(b, last, first), step);
    ig_value *whole = k_add(b, first, k_mul(b, vectors, step));
    k_loop loop = k_loop_open(b, first, whole, step, NULL, 0);
    emit_elements(r, &loop.b, loop.index, lanes, NULL);
    k_loop_close(&loop, NULL, 0);
    loop = k_loop_open(b, whole, last, step, NULL, 0);
    emit_elements(r, &loop.b, loop.index, lanes, k_sub(&loop.b, last, loop.index));
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_range(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_range);
    assert(op && "the family's body has its anchor");
    range r = { .lower = lower,
                .start = ig_lower_input(lower, op, 0),
                .step = ig_lower_input(lower, op, 2),
                .out = &lower->outs[0] };
    ig_dim count = r.out->type->dims[0];
    lower->name = "range";
    lower->grid = ig_lower_ceil_div(lower, count, ig_lower_tile(lower, CHUNK));
    lower->cost = count;
    ig_lower_each_tile(lower, emit_range_tile, &r);
    return IG_OK;
}
