/* Padding in its four modes, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out[i…] = x[source_index(i - before)…]
 *
 * A row of the result (its last axis) has three parts: padding before x's own
 * elements, those, copied as vectors where they are contiguous, and padding after them.
 * Positions outside show the element that the mode says, or the value.  A last axis
 * that is not padded (channels, mostly) and the one before it are one axis, where x and
 * the result go through both as one and padding is a value.
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
    const ig_lower_operand *x, *value, *out;
    const ig_dim *before; /* by axis */
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
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    ig_value *i = k_sub(b, at, ig_lower_dim(p->lower, p->before[axis]));
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

/* `lanes` of x's own elements, at position `at` of the result; of them `count` (NULL:
 * all). */
static void copy_elements(const pad *p, ig_builder *b, const row *r, ig_value *at,
                          ig_value *count) {
    ig_value *i = k_sub(b, at, ig_lower_dim(p->lower, p->before[p->last]));
    ig_value *step = ig_lower_dim(p->lower, p->x->strides[p->last]);
    ig_value *stride = ig_lower_dim(p->lower, p->out->strides[p->last]);
    ig_value *from = k_add(b, r->x_at, k_mul(b, i, step));
    ig_value *to = k_add(b, r->out_at, k_mul(b, at, stride));
    ig_value *x = k_load_count(b, p->x->buffer, from, p->lanes, count);
    k_store_count(b, x, p->out->buffer, to, count);
}

/* x's own elements: positions `first` to `end` of the result, in whole vectors and the
 * rest. */
static void emit_inside(const pad *p, ig_builder *b, const row *r, ig_value *first,
                        ig_value *end) {
    ig_value *lanes = k_i64(b, p->lanes);
    ig_value *whole = k_mul(b, k_div(b, k_sub(b, end, first), lanes), lanes);
    ig_value *middle = k_add(b, first, whole);
    k_loop loop = k_loop_open(b, first, middle, lanes, NULL, 0);
    copy_elements(p, &loop.b, r, loop.index, NULL);
    k_loop_close(&loop, NULL, 0);
    if (p->lanes == 1) {
        return;
    }
    k_if tail = k_if_open(b, k_compare(b, IG_OP_lt, middle, end), NULL, 0);
    copy_elements(p, &tail.then, r, middle, k_sub(&tail.then, end, middle));
    k_if_close(&tail, NULL, NULL);
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
    ig_value *extent = ig_lower_dim(p->lower, p->x->type->dims[p->last]);
    ig_value *size = ig_lower_dim(p->lower, p->out->type->dims[p->last]);
    ig_value *before = ig_lower_dim(p->lower, p->before[p->last]);
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

/* ---- the schedule ---- */

/* Is axis `d` of x followed by the next as in a row-major tensor? */
static bool is_row_major(const pad *p, const ig_lower_operand *x, uint32_t d) {
    ig_dim step = ig_lower_mul(p->lower, x->type->dims[d + 1], x->strides[d + 1]);
    return ig_dim_equal(p->lower->module, x->strides[d], step) == IG_YES;
}

/* The operand with its last two axes as one. */
static const ig_lower_operand *join_last(ig_lower *lower, const ig_lower_operand *x) {
    uint32_t rank = x->type->rank - 1;
    ig_dim *strides = IG_NEW_ARRAY(lower->arena, ig_dim, rank);
    ig_dim *dims = IG_NEW_ARRAY(lower->arena, ig_dim, rank);
    for (uint32_t d = 0; d < rank; d++) {
        strides[d] = x->strides[d];
        dims[d] = x->type->dims[d];
    }
    strides[rank - 1] = x->strides[rank];
    dims[rank - 1] = ig_lower_mul(lower, dims[rank - 1], x->type->dims[rank]);
    ig_lower_operand *joined = IG_NEW(lower->arena, ig_lower_operand);
    *joined = *x;
    joined->strides = strides;
    joined->type = ig_type_with_dims(lower->module, x->type, rank, dims);
    return joined;
}

/* Joins the last axis to the one before it, where that changes nothing. */
static void merge_last(pad *p) {
    bool has_after = ig_attr_is_set(p->op, IG_pad_after);
    const ig_dim *after = has_after ? p->op->attrs[IG_pad_after].as.dims : NULL;
    if (p->mode != IG_PAD_constant || p->last == 0 || !after ||
        !ig_dim_is(p->before[p->last], 0) || !ig_dim_is(after[p->last], 0) ||
        !is_row_major(p, p->x, p->last - 1) || !is_row_major(p, p->out, p->last - 1)) {
        return;
    }
    ig_dim *before = IG_NEW_ARRAY(p->lower->arena, ig_dim, p->last);
    for (uint32_t d = 0; d < p->last; d++) {
        before[d] = p->before[d];
    }
    before[p->last - 1] = ig_lower_mul(p->lower, before[p->last - 1],
                                       p->x->type->dims[p->last]);
    p->before = before;
    p->x = join_last(p->lower, p->x);
    p->out = join_last(p->lower, p->out);
    p->last--;
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
    p.before = op->attrs[IG_pad_before].as.dims;
    merge_last(&p);
    bool has_lanes = ig_dim_is(p.x->strides[p.last], 1) &&
                     ig_dim_is(p.out->strides[p.last], 1);
    p.lanes = has_lanes ? ig_lower_lanes(lower, (ig_dtype)p.x->type->dtype) : 1;
    int64_t length = 0;
    bool is_known = ig_dim_constant(lower->module, p.out->type->dims[p.last], &length);
    p.rows = is_known && length > 0 ? ig_lower_tile(lower, CHUNK) / length : 8;
    p.rows = p.rows < 1 ? 1 : p.rows;
    ig_dim rows = ig_lower_lines(lower, p.out->type, p.last);
    lower->name = "pad";
    lower->grid = ig_lower_ceil_div(lower, rows, p.rows);
    lower->cost = ig_lower_ceil_div(lower, ig_type_count(lower->module, p.out->type),
                                    2);
    ig_lower_each_tile(lower, emit_tile, &p);
    return IG_OK;
}
