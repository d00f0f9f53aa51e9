/* Padding in its four modes, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[i…] = x[source_index(i - before)…]
 *
 * A row of the result (its last axis) has three parts: padding before x's own
 * elements, those, copied as vectors where they are contiguous, and padding after them.
 * Positions outside show the element that the mode says, or the value.
 *
 *   grid       rows of the result, in blocks of about 4096 elements
 */
#include "passes/lower/serial/serial.h"
#include "passes/lower/walk.h"

#include <assert.h>

enum { CHUNK = 4096 };

typedef struct pad {
    ig_lower *lower;
    const ig_op *op;
    const ig_operand *x, *value, *out;
    ig_pad_mode mode;
    uint32_t last, lanes;
    int64_t rows;
} pad;

/* Where an axis of x is read for a position of the result; *valid is and-ed with its
 * being an element. */
static ig_value *source_index(const pad *p, ig_builder *b, uint32_t axis, ig_value *at,
                              ig_value **valid) {
    assert(axis < p->x->type->rank && "an axis of x");
    ig_value *extent = ig_lower_dim(p->lower, p->x->type->dims[axis]);
    ig_dim before = p->op->attrs[IG_pad_before].as.dims[axis];
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    ig_value *i = k_sub(b, at, ig_lower_dim(p->lower, before));
    if (p->mode == IG_PAD_constant) {
        ig_value *is_inside = k_compare(b, IG_OP_lt, k_cast(b, i, IG_DT_u64),
                                        k_cast(b, extent, IG_DT_u64));
        *valid = k_binary(b, IG_OP_and, *valid, is_inside);
        return k_where(b, is_inside, i, zero);
    }
    *valid = k_binary(b, IG_OP_and, *valid, k_compare(b, IG_OP_lt, zero, extent));
    ig_value *max = k_max(b, k_sub(b, extent, one), zero);
    if (p->mode == IG_PAD_edge) {
        return k_min(b, k_max(b, i, zero), max);
    }
    ig_value *period = k_max(b, extent, one);
    if (p->mode == IG_PAD_reflect) {
        period = k_max(b, k_add(b, max, max), one);
    }
    ig_value *phase = k_binary(b, IG_OP_mod, i, period); /* the sign of the divisor */
    ig_value *is_direct = k_compare(b, IG_OP_le, phase, max);
    return k_where(b, is_direct, phase, k_sub(b, period, phase));
}

static ig_value *pad_value(const pad *p, ig_builder *b) {
    return p->value ? k_load(b, p->value->buffer, k_i64(b, 0), 1)
                    : k_const(b, (ig_dtype)p->out->type->dtype, 0.0);
}

typedef struct row {
    ig_value *x_at, *out_at, *valid;
} row;

/* Elements outside of x, from `first` to `end`. */
static void emit_outside(const pad *p, ig_builder *b, const row *r, ig_value *first,
                         ig_value *end) {
    k_loop loop = k_loop_open(b, first, end, k_i64(b, 1), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *valid = r->valid;
    ig_value *i = source_index(p, in, p->last, loop.index, &valid);
    ig_value *stride = ig_lower_dim(p->lower, p->out->strides[p->last]);
    ig_value *to = k_add(in, r->out_at, k_mul(in, loop.index, stride));
    const ig_type *type = ig_type_vector(p->lower->module,
                                         (ig_dtype)p->out->type->dtype, 1);
    k_if choice = k_if_open(in, valid, &type, 1);
    ig_value *step = ig_lower_dim(p->lower, p->x->strides[p->last]);
    ig_value *from = k_add(&choice.then, r->x_at, k_mul(&choice.then, i, step));
    ig_value *x = k_load(&choice.then, p->x->buffer, from, 1);
    ig_value *other = pad_value(p, &choice.other);
    k_if_close(&choice, &x, &other);
    k_store(in, choice.results[0], p->out->buffer, to);
    k_loop_close(&loop, NULL, 0);
}

/* x's own elements: positions `first` to `end` of the result. */
static void emit_inside(const pad *p, ig_builder *b, const row *r, ig_value *first,
                        ig_value *end) {
    ig_dim before = p->op->attrs[IG_pad_before].as.dims[p->last];
    k_loop loop = k_loop_open(b, first, end, k_i64(b, p->lanes), NULL, 0);
    ig_builder *in = &loop.b;
    ig_value *i = k_sub(in, loop.index, ig_lower_dim(p->lower, before));
    ig_value *step = ig_lower_dim(p->lower, p->x->strides[p->last]);
    ig_value *stride = ig_lower_dim(p->lower, p->out->strides[p->last]);
    ig_value *count = p->lanes > 1 ? k_sub(in, end, loop.index) : NULL;
    ig_value *from = k_add(in, r->x_at, k_mul(in, i, step));
    ig_value *to = k_add(in, r->out_at, k_mul(in, loop.index, stride));
    ig_value *x = k_load_count(in, p->x->buffer, from, p->lanes, count);
    k_store_count(in, x, p->out->buffer, to, count);
    k_loop_close(&loop, NULL, 0);
}

static void emit_row(const pad *p, ig_builder *b, ig_value *number) {
    ig_value *index[IG_TENSOR_RANK], *from[IG_TENSOR_RANK];
    ig_value *zero = k_i64(b, 0);
    row r = { .valid = k_compare(b, IG_OP_eq, zero, zero) };
    ig_lower_split(p->lower, b, p->out->type, p->last, number, index);
    for (uint32_t d = 0; d < p->last; d++) {
        from[d] = source_index(p, b, d, index[d], &r.valid);
    }
    index[p->last] = from[p->last] = zero;
    r.x_at = ig_lower_at(p->lower, b, p->x, from);
    r.out_at = ig_lower_at(p->lower, b, p->out, index);
    ig_dim padding = p->op->attrs[IG_pad_before].as.dims[p->last];
    ig_value *extent = ig_lower_dim(p->lower, p->x->type->dims[p->last]);
    ig_value *size = ig_lower_dim(p->lower, p->out->type->dims[p->last]);
    ig_value *before = ig_lower_dim(p->lower, padding);
    ig_value *first = k_min(b, k_max(b, before, zero), size);
    ig_value *end = k_min(b, k_max(b, k_add(b, before, extent), first), size);
    first = k_where(b, r.valid, first, size);
    end = k_where(b, r.valid, end, size);
    emit_outside(p, b, &r, zero, first);
    emit_inside(p, b, &r, first, end);
    emit_outside(p, b, &r, end, size);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const pad *p = user;
    ig_dim rows = ig_lower_lines(p->lower, p->out->type, p->last);
    ig_value *count = ig_lower_dim(p->lower, rows);
    k_loop loop = ig_lower_open_lines(b, tile, count, p->rows);
    emit_row(p, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_pad(ig_lower *lower) {
    const ig_op *op = ig_lower_anchor(lower, IG_OP_pad);
    assert(op && "the family's body has its anchor");
    pad p = { .lower = lower,
              .op = op,
              .x = ig_lower_input(lower, op, 0),
              .value = op->operand_count > 1 ? ig_lower_input(lower, op, 1) : NULL,
              .out = &lower->outs[0],
              .mode = (ig_pad_mode)ig_attr_int(op, IG_pad_mode, IG_PAD_constant) };
    if (!ig_attr_is_set(op, IG_pad_before) || p.x->type->rank == 0) {
        return ig_lower_unsupported(lower, "padding of this kind");
    }
    p.last = p.x->type->rank - 1;
    bool has_lanes = ig_dim_is(p.x->strides[p.last], 1) &&
                     ig_dim_is(p.out->strides[p.last], 1);
    p.lanes = has_lanes ? ig_lower_lanes(lower, (ig_dtype)p.x->type->dtype) : 1;
    int64_t length = 0;
    bool is_known = ig_dim_constant(lower->module, p.out->type->dims[p.last], &length);
    p.rows = is_known && length > 0 ? CHUNK / length : 8;
    p.rows = p.rows < 1 ? 1 : p.rows;
    ig_dim rows = ig_lower_lines(lower, p.out->type, p.last);
    lower->name = "pad";
    lower->grid = ig_lower_ceil_div(lower, rows, p.rows);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, p.out->type),
                                    2);
    ig_lower_each_tile(lower, emit_tile, &p);
    return IG_OK;
}
