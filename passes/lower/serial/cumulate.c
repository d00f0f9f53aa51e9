/* cumulate and cumulate_index, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Along the axis in order, lines side by side where they are neighbours (lines.c); the
 * loop carries the value so far and its position.  Floats are carried in f64 where
 * they are combined (the product is rounded once where it is written), and as they are
 * where they are chosen.
 */
#include "passes/lower/serial/lines.h"
#include "passes/lower/serial/serial.h"

#include "passes/lower/math/math.h"

#include <assert.h>
#include <math.h>

enum { LINES = 8 };

typedef struct cumulation {
    ig_lines lines;
    ig_lower *lower;
    const ig_lower_operand *x, *out;
    uint32_t axis;
    ig_cumulate kind;
    bool is_exclusive, is_reverse, wants_index;
    ig_dtype wide;
} cumulation;

/* log(exp(a) + exp(b)); two equal infinities are unchanged. */
static ig_value *log_add_exp(ig_builder *b, ig_value *x, ig_value *y) {
    ig_value *max = k_max(b, x, y), *size = ig_math_abs(b, max);
    ig_value *gap = ig_math_neg(b, ig_math_abs(b, k_sub(b, x, y)));
    ig_value *sum = k_add(b, max, ig_math_log1p(b, ig_math_decay(b, gap)));
    ig_value *is_finite = ig_math_is(b, IG_OP_lt, size, (double)INFINITY);
    return k_where(b, is_finite, sum, max);
}

/* Does x replace the value chosen so far?  NaN stays. */
static ig_value *is_replaced(const cumulation *c, ig_builder *b, ig_value *x,
                             ig_value *old) {
    ig_opcode code = c->kind == IG_CUMULATE_max ? IG_OP_ge : IG_OP_le;
    ig_value *is_beyond = k_compare(b, code, x, old);
    return ig_dtype_is_float(c->wide)
               ? k_binary(b, IG_OP_or, is_beyond, ig_lower_is_nan(b, x))
               : is_beyond;
}

/* carried: the value and its position; `next` likewise, of which this makes the new. */
static void join_step(const cumulation *c, ig_builder *b, ig_value *is_first,
                      ig_value *const *carried, ig_value **next) {
    ig_value *old = carried[0], *x = next[0];
    if (c->kind == IG_CUMULATE_prod) {
        next[0] = k_mul(b, old, x);
    } else if (c->kind == IG_CUMULATE_logsumexp) {
        next[0] = k_where(b, is_first, x, log_add_exp(b, old, x));
    } else {
        ig_value *is_new = k_binary(b, IG_OP_or, is_first, is_replaced(c, b, x, old));
        next[0] = k_where(b, is_new, x, old);
        next[1] = k_where(b, is_new, next[1], carried[1]);
    }
}

/* carried: a value and its position of each vector in turn. */
static void emit_lines(void *user, ig_builder *b, ig_value **index, uint32_t vectors,
                       ig_value *count) {
    const cumulation *c = user;
    uint32_t lanes = c->lines.lanes;
    ig_value *extent = ig_lower_dim(c->lower, c->x->type->dims[c->axis]);
    ig_value *one = k_const_vector(b, c->wide, lanes, 1.0), *next[2 * IG_LINE_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) {
        next[2 * v] = one;
        next[2 * v + 1] = k_splat(b, k_i64(b, 0), lanes);
    }
    k_loop loop = k_loop_open(b, k_i64(b, 0), extent, k_i64(b, 1), next, 2 * vectors);
    ig_builder *in = &loop.b;
    ig_value *last = k_sub(in, extent, k_i64(in, 1));
    ig_value *i = c->is_reverse ? k_sub(in, last, loop.index) : loop.index;
    index[c->axis] = i;
    ig_value *x_at = ig_lower_at(c->lower, in, c->x, index);
    ig_value *out_at = ig_lower_at(c->lower, in, c->out, index);
    ig_value *is_first = k_compare(in, IG_OP_eq, loop.index, k_i64(in, 0));
    is_first = k_splat(in, is_first, lanes);
    for (uint32_t v = 0; v < vectors; v++) {
        ig_value *away = k_i64(in, (int64_t)v * lanes), **own = next + 2 * v;
        ig_value *const *old = loop.carried + 2 * v;
        ig_value *x = k_load_count(in, c->x->buffer, k_add(in, x_at, away), lanes,
                                   count);
        own[0] = k_cast(in, x, c->wide);
        own[1] = k_splat(in, i, lanes);
        join_step(c, in, is_first, old, own);
        ig_value *value = c->wants_index ? own[1] : c->is_exclusive ? old[0] : own[0];
        value = k_cast(in, value, (ig_dtype)c->out->type->dtype);
        k_store_count(in, value, c->out->buffer, k_add(in, out_at, away), count);
    }
    k_loop_close(&loop, next, 2 * vectors);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const cumulation *c = user;
    ig_lower_emit_lines(&c->lines, b, tile);
}

static int64_t read_form(cumulation *c, const ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_cumulate);
    if (op) {
        c->kind = (ig_cumulate)ig_attr_int(op, IG_cumulate_op, 0);
        c->is_exclusive = ig_attr_int(op, IG_cumulate_exclusive, 0) != 0;
        c->is_reverse = ig_attr_int(op, IG_cumulate_reverse, 0) != 0;
        return ig_attr_int(op, IG_cumulate_axis, 0);
    }
    op = ig_lower_anchor(lower, IG_OP_cumulate_index);
    assert(op && "the family's body has its anchor");
    bool is_min = ig_attr_int(op, IG_cumulate_index_op, 0) == IG_EXTREME_min;
    c->kind = is_min ? IG_CUMULATE_min : IG_CUMULATE_max;
    c->wants_index = true;
    return ig_attr_int(op, IG_cumulate_index_axis, 0);
}

ig_status ig_lower_serial_cumulate(ig_lower *lower) {
    cumulation c = { .lower = lower, .x = &lower->ins[0], .out = &lower->outs[0] };
    int64_t axis = read_form(&c, lower);
    ig_dtype dtype = (ig_dtype)c.x->type->dtype;
    bool chooses = c.kind == IG_CUMULATE_max || c.kind == IG_CUMULATE_min;
    bool is_sum = ig_dtype_is_float(dtype) && !chooses;
    c.axis = (uint32_t)(axis < 0 ? axis + c.x->type->rank : axis);
    c.wide = is_sum ? IG_DT_f64 : ig_lower_wide(dtype);
    lower->name = "cumulate";
    c.lines =
        (ig_lines){ .lower = lower,
                    .type = c.x->type,
                    .axis = c.axis,
                    .lanes = ig_lower_line_lanes(lower, c.x, c.out, c.axis, IG_DT_i64),
                    .each = ig_lower_tile(lower, LINES),
                    .emit = emit_lines,
                    .user = &c };
    lower->grid = ig_lower_line_grid(&c.lines);
    lower->cost = ig_lower_mul(lower, ig_type_count(lower->module, c.x->type),
                               ig_dim_of(4));
    ig_lower_each_tile(lower, emit_tile, &c);
    return IG_OK;
}
