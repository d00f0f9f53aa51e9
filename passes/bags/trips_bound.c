/* Where elements of vectors come from: slices, joins and ranges taken apart.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     V = concat(offsets, [len])          offsets: n elements, i from 0 to n - 1
 *     V[i]        is offsets[i] in every trip
 *     V[i + 1]    is offsets[i + 1], but in the last trip len
 *     range(0, n * L, L)[i]               is L * i
 *
 * The index is known to be inside of the vector (trips.c), hence inside of the part
 * that is looked at.
 */
#include "base/checked.h"
#include "passes/bags/trips.h"

enum { TRACE_MAX = 64 };

static bool is_int_vector(const ig_value *value) {
    return value->type->kind == IG_TENSOR && value->type->rank == 1 &&
           ig_dtype_is_int((ig_dtype)value->type->dtype);
}

static bool is_not_above(const ig_trips *t, ig_dim a, ig_dim b) {
    return ig_dim_less_equal(t->module, a, b) == IG_YES;
}

static ig_dim index_at(const ig_trips *t, const ig_number *n, ig_dim trip) {
    return ig_dim_add(t->module, n->base, ig_dim_mul(t->module, n->step, trip));
}

static ig_dim last_index(const ig_trips *t, const ig_number *n) {
    return index_at(t, n, ig_dim_sub(t->module, t->count, ig_dim_of(1)));
}

/* One step towards the origin; false where there is none to take.  `out->usual` is
 * stepped; a last trip that goes elsewhere is put into `out->last`. */
typedef bool (*trace_fn)(const ig_trips *t, const ig_op *op, ig_bound *out);

static bool trace_view(const ig_trips *t, const ig_op *op, ig_bound *out) {
    (void)t;
    out->usual.vector = op->operands[0].value;
    return is_int_vector(out->usual.vector);
}

static bool trace_cast(const ig_trips *t, const ig_op *op, ig_bound *out) {
    const ig_value *x = op->operands[0].value;
    bool is_kept = is_int_vector(x) && ig_dtypes[op->results[0].type->dtype].bits >=
                                           ig_dtypes[x->type->dtype].bits;
    return is_kept && trace_view(t, op, out);
}

/* A start min(extent, k), as slices by clamped positions have it, is k here: the slice
 * has elements, so the extent is larger. */
static bool trace_slice(const ig_trips *t, const ig_op *op, ig_bound *out) {
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    if (!ig_attr_is_set(op, IG_slice_starts) ||
        (steps->kind == IG_ATTR_INTS && steps->as.ints[0] != 1)) {
        return false;
    }
    ig_value *x = op->operands[0].value;
    ig_dim start = op->attrs[IG_slice_starts].as.dims[0];
    int64_t min, max;
    ig_dim_range(t->module, start, &min, &max);
    ig_dim bound = ig_dim_const(t->module, max);
    if (max < INT64_MAX &&
        ig_dim_same(ig_dim_min(t->module, bound, x->type->dims[0]), start)) {
        start = bound;
    }
    out->usual.vector = x;
    out->usual.base = ig_dim_add(t->module, out->usual.base, start);
    return ig_recogniser_sees(t->r, t->scope, start);
}

/* The part that contains every index, or all but the last one, which is the first of
 * the next part. */
static bool trace_concat(const ig_trips *t, const ig_op *op, ig_bound *out) {
    ig_number *n = &out->usual;
    ig_dim first = ig_dim_of(0), last = last_index(t, n);
    ig_dim but_last = index_at(t, n, ig_dim_sub(t->module, t->count, ig_dim_of(2)));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_value *part = op->operands[i].value;
        ig_dim past = ig_dim_add(t->module, first, part->type->dims[0]);
        ig_dim base = ig_dim_sub(t->module, n->base, first);
        if (is_not_above(t, first, n->base) &&
            is_not_above(t, ig_dim_add(t->module, last, ig_dim_of(1)), past)) {
            *n = (ig_number){ part, base, n->step };
            return true;
        }
        bool is_split = !out->has_last && i + 1 < op->operand_count &&
                        is_not_above(t, first, n->base) &&
                        is_not_above(t, ig_dim_add(t->module, but_last, ig_dim_of(1)),
                                     past) &&
                        ig_dim_equal(t->module, last, past) == IG_YES;
        if (is_split) {
            out->has_last = true;
            out->last = (ig_number){ op->operands[i + 1].value, ig_dim_of(0),
                                     ig_dim_of(0) };
            *n = (ig_number){ part, base, n->step };
            return true;
        }
        first = past;
    }
    return false;
}

static bool dim_of(const ig_trips *t, const ig_value *value, ig_dim *out) {
    ig_dims_value known;
    if (!ig_value_dims(value, &known) || known.count != 1) {
        return false;
    }
    *out = known.dims[0];
    return ig_recogniser_sees(t->r, t->scope, *out);
}

static bool trace_range(const ig_trips *t, const ig_op *op, ig_bound *out) {
    ig_dim start, delta;
    if (!dim_of(t, op->operands[0].value, &start) ||
        !dim_of(t, op->operands[2].value, &delta)) {
        return false;
    }
    ig_dim walked = ig_dim_mul(t->module, out->usual.base, delta);
    out->usual = (ig_number){ .base = ig_dim_add(t->module, start, walked),
                              .step = ig_dim_mul(t->module, out->usual.step, delta) };
    return true;
}

/* One element overwritten: another one in the last trip, or never met. */
static bool trace_scatter(const ig_trips *t, const ig_op *op, ig_bound *out) {
    ig_value *x = op->operands[0].value, *update = op->operands[2].value;
    ig_dim at, extent = x->type->dims[0];
    int64_t known;
    if (x->type->rank != 1 || !ig_dim_is(update->type->dims[0], 1) ||
        !dim_of(t, op->operands[1].value, &at)) {
        return false;
    }
    if (ig_dim_constant(t->module, at, &known) && known < 0) {
        at = ig_dim_add(t->module, at, extent);
    }
    ig_dim last = last_index(t, &out->usual);
    bool is_met = ig_dim_equal(t->module, last, at) == IG_YES;
    bool is_before = is_not_above(t, ig_dim_add(t->module, last, ig_dim_of(1)), at);
    bool moves = is_not_above(t, ig_dim_of(1), out->usual.step);
    if ((!is_met && !is_before) || (is_met && (out->has_last || !moves))) {
        return false;
    }
    if (is_met) {
        out->has_last = true;
        out->last = (ig_number){ update, ig_dim_of(0), ig_dim_of(0) };
    }
    out->usual.vector = x;
    return true;
}

static const trace_fn tracers[IG_OP_COUNT] = {
    [IG_OP_reshape] = trace_view, [IG_OP_cast] = trace_cast,
    [IG_OP_slice] = trace_slice,  [IG_OP_concat] = trace_concat,
    [IG_OP_range] = trace_range,  [IG_OP_scatter_elements] = trace_scatter,
};

/* ---- known elements ---- */

static bool constant_at(const ig_data *data, int64_t index, int64_t *out) {
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = ig_dim_value(data->type->dims[0]),
                         .data = (void *)(uintptr_t)data->bytes }; /* only read */
    if (!data->bytes || index < 0 || index >= tensor.count) {
        return false;
    }
    *out = ig_tensor_get_i64(&tensor, data->is_splat ? 0 : index);
    return true;
}

/* Constant elements that rise by the same step from trip to trip. */
static bool read_progression(const ig_trips *t, ig_number *n) {
    const ig_data *data = ig_constant_of(n->vector);
    int64_t count, base, step, first, before, value, rise = 0, difference;
    if (!data || !ig_dim_constant(t->module, t->count, &count) || count < 1 ||
        !ig_dim_constant(t->module, n->base, &base) ||
        !ig_dim_constant(t->module, n->step, &step) ||
        !constant_at(data, base, &first)) {
        return false;
    }
    before = first;
    for (int64_t i = 1; i < count; i++) {
        if (!constant_at(data, base + i * step, &value) ||
            !ig_sub_i64(value, before, &difference) || (i > 1 && difference != rise)) {
            return false;
        }
        rise = difference;
        before = value;
    }
    *n = (ig_number){ .base = ig_dim_const(t->module, first),
                      .step = ig_dim_const(t->module, rise) };
    return true;
}

static void read_known(const ig_trips *t, ig_number *n) {
    ig_dims_value known;
    int64_t index;
    if (read_progression(t, n) || !ig_dim_is(n->step, 0) ||
        !ig_dim_constant(t->module, n->base, &index) ||
        !ig_value_dims(n->vector, &known) || index >= known.count ||
        !ig_recogniser_sees(t->r, t->scope, known.dims[index])) {
        return;
    }
    *n = (ig_number){ .base = known.dims[index] };
}

/* ---- the whole ---- */

/* As far as steps go; at an outside vector, or at a number. */
static bool trace_steps(const ig_trips *t, ig_bound *out) {
    for (uint32_t i = 0; out->usual.vector && i < TRACE_MAX; i++) {
        read_known(t, &out->usual);
        const ig_op *op = out->usual.vector ? out->usual.vector->def : NULL;
        ig_bound before = *out;
        if (!op || !tracers[op->code] || !tracers[op->code](t, op, out)) {
            *out = before;
            break;
        }
    }
    return !out->usual.vector || ig_trips_is_outside(t, out->usual.vector);
}

bool ig_trips_bound(const ig_trips *t, const ig_number *number, ig_bound *out) {
    *out = (ig_bound){ .usual = *number };
    if (number->vector && ig_trips_is_outside(t, number->vector)) {
        out->given = *number;
    }
    bool is_good = trace_steps(t, out);
    if (is_good && out->has_last) {
        ig_bound last = { .usual = out->last };
        is_good = trace_steps(t, &last) && !last.has_last;
        out->last = last.usual;
    }
    return is_good;
}

ig_number ig_bound_at_last(const ig_trips *t, const ig_bound *bound) {
    ig_number n = bound->has_last ? bound->last : bound->usual;
    return (ig_number){ .vector = n.vector, .base = last_index(t, &n) };
}

bool ig_bound_equal(const ig_trips *t, const ig_bound *a, const ig_bound *b) {
    ig_number last_a = ig_bound_at_last(t, a), last_b = ig_bound_at_last(t, b);
    return ig_number_equal(t->module, &a->usual, &b->usual) &&
           ig_number_equal(t->module, &last_a, &last_b);
}
