/* Integers that the trips of a loop compute.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers are read by walking up from a value; an unknown form gives no answer, never a
 * wrong one.  An element counts as read only when its index is proved to be inside of
 * the vector in every trip, since a slice beyond the end is empty where a gather is an
 * error.
 */
#include "passes/bags/trips.h"

#include <assert.h>

enum { DEPTH_MAX = 48, VISITS_MAX = 1 << 16 };

/* ---- values of one element ---- */

static bool is_int(const ig_value *value) {
    return value->type->kind == IG_TENSOR &&
           ig_dtype_is_int((ig_dtype)value->type->dtype);
}

/* Does a cast keep every number? */
static bool is_widening(const ig_op *cast) {
    const ig_value *x = cast->operands[0].value;
    const ig_value *y = &cast->results[0];
    return is_int(x) && is_int(y) &&
           ig_dtypes[y->type->dtype].bits >= ig_dtypes[x->type->dtype].bits;
}

ig_value *ig_value_before_views(ig_value *value) {
    for (const ig_op *op = value->def; op; op = value->def) {
        bool is_view = op->code == IG_OP_reshape || op->code == IG_OP_expand ||
                       (op->code == IG_OP_cast && is_widening(op));
        if (!is_view) {
            break;
        }
        value = op->operands[0].value;
    }
    return value;
}

bool ig_value_truth(const ig_value *value, bool *out_truth) {
    ig_dims_value known;
    int64_t number;
    if (!ig_value_dims(value, &known) || known.count != 1 ||
        !ig_dim_constant(value->def->block->graph->module, known.dims[0], &number)) {
        return false;
    }
    *out_truth = number != 0;
    return true;
}

bool ig_value_less(ig_value *value, ig_less *out) {
    bool is_not = false;
    value = ig_value_before_views(value);
    while (ig_def(value, IG_OP_not)) {
        is_not = !is_not;
        value = ig_value_before_views(value->def->operands[0].value);
    }
    bool is_lt = ig_def(value, IG_OP_lt), is_le = ig_def(value, IG_OP_le);
    bool is_gt = ig_def(value, IG_OP_gt), is_ge = ig_def(value, IG_OP_ge);
    if (!is_lt && !is_le && !is_gt && !is_ge) {
        return false;
    }
    ig_value *x = value->def->operands[0].value, *y = value->def->operands[1].value;
    bool is_swapped = (is_gt || is_ge) != is_not;
    out->a = is_swapped ? y : x;
    out->b = is_swapped ? x : y;
    out->or_equal = (is_le || is_ge) != is_not;
    return true;
}

/* ---- numbers ---- */

bool ig_trips_visit(const ig_trips *t) {
    if (*t->visits == 0) {
        return false;
    }
    --*t->visits;
    return true;
}

bool ig_trips_is_outside(const ig_trips *t, const ig_value *value) {
    const ig_block *home = value->def ? value->def->block : value->block;
    while (home && home != t->body) {
        home = home->parent ? home->parent->block : NULL;
    }
    return !t->body || !home;
}

bool ig_number_equal(const ig_module *module, const ig_number *a, const ig_number *b) {
    return a->vector == b->vector && ig_dim_equal(module, a->base, b->base) == IG_YES &&
           ig_dim_equal(module, a->step, b->step) == IG_YES;
}

/* base + step * (count - 1) */
static ig_dim at_last(const ig_trips *t, ig_dim base, ig_dim step) {
    ig_dim trips = ig_dim_sub(t->module, t->count, ig_dim_of(1));
    return ig_dim_add(t->module, base, ig_dim_mul(t->module, step, trips));
}

static bool is_not_below(const ig_module *module, ig_dim min, ig_dim dim) {
    return ig_dim_less_equal(module, min, dim) == IG_YES;
}

/* Is the index within [0, extent) in every trip? */
static bool is_inside(const ig_trips *t, const ig_number *index, ig_dim extent) {
    ig_dim past = ig_dim_add(t->module, at_last(t, index->base, index->step),
                             ig_dim_of(1));
    return !index->vector && is_not_below(t->module, ig_dim_of(0), index->base) &&
           is_not_below(t->module, ig_dim_of(0), index->step) &&
           is_not_below(t->module, past, extent);
}

typedef bool (*read_fn)(const ig_trips *t, const ig_op *op, uint32_t depth,
                        ig_number *out);

static bool read_number(const ig_trips *t, ig_value *value, uint32_t depth,
                        ig_number *out);

static bool read_operand(const ig_trips *t, const ig_op *op, uint32_t operand,
                         uint32_t depth, ig_number *out) {
    return operand < op->operand_count &&
           read_number(t, op->operands[operand].value, depth + 1, out);
}

static bool read_view(const ig_trips *t, const ig_op *op, uint32_t depth,
                      ig_number *out) {
    return read_operand(t, op, 0, depth, out);
}

/* Narrowing leaves numbers made of extents as they are (see ir/infer/fold_arith.c), but
 * not elements of vectors. */
static bool read_cast(const ig_trips *t, const ig_op *op, uint32_t depth,
                      ig_number *out) {
    return is_int(&op->results[0]) && read_operand(t, op, 0, depth, out) &&
           (!out->vector || is_widening(op));
}

/* One of the two is not an element, and for an element the other is 0. */
static bool add_numbers(const ig_trips *t, const ig_number *a, const ig_number *b,
                        ig_number *out) {
    const ig_number *element = a->vector ? a : b, *other = a->vector ? b : a;
    if (element->vector) {
        *out = *element;
        return !other->vector && ig_dim_is(other->base, 0) && ig_dim_is(other->step, 0);
    }
    out->vector = NULL;
    out->base = ig_dim_add(t->module, a->base, b->base);
    out->step = ig_dim_add(t->module, a->step, b->step);
    return true;
}

static bool read_add(const ig_trips *t, const ig_op *op, uint32_t depth,
                     ig_number *out) {
    ig_number a, b;
    return read_operand(t, op, 0, depth, &a) && read_operand(t, op, 1, depth, &b) &&
           add_numbers(t, &a, &b, out);
}

static bool read_sub(const ig_trips *t, const ig_op *op, uint32_t depth,
                     ig_number *out) {
    ig_number a, b;
    if (!read_operand(t, op, 0, depth, &a) || !read_operand(t, op, 1, depth, &b) ||
        b.vector) {
        return false;
    }
    b.base = ig_dim_sub(t->module, ig_dim_of(0), b.base);
    b.step = ig_dim_sub(t->module, ig_dim_of(0), b.step);
    return add_numbers(t, &a, &b, out);
}

static bool read_mul(const ig_trips *t, const ig_op *op, uint32_t depth,
                     ig_number *out) {
    ig_number a, b;
    if (!read_operand(t, op, 0, depth, &a) || !read_operand(t, op, 1, depth, &b) ||
        a.vector || b.vector || (!ig_dim_is(a.step, 0) && !ig_dim_is(b.step, 0))) {
        return false;
    }
    ig_dim left = ig_dim_mul(t->module, a.base, b.step);
    ig_dim right = ig_dim_mul(t->module, b.base, a.step);
    out->vector = NULL;
    out->base = ig_dim_mul(t->module, a.base, b.base);
    out->step = ig_dim_add(t->module, left, right);
    return true;
}

static bool read_gather(const ig_trips *t, const ig_op *op, uint32_t depth,
                        ig_number *out) {
    ig_value *x = op->operands[0].value;
    int64_t known;
    if (x->type->rank != 1 || !is_int(x) || !read_operand(t, op, 1, depth, out) ||
        out->vector) {
        return false;
    }
    ig_dim extent = x->type->dims[0];
    bool is_from_end = ig_dim_is(out->step, 0) &&
                       ig_dim_constant(t->module, out->base, &known) && known < 0;
    if (is_from_end) {
        out->base = ig_dim_add(t->module, out->base, extent);
    }
    bool is_good = is_inside(t, out, extent);
    out->vector = x;
    return is_good;
}

/* An operand that must be this number where it is given. */
static bool is_number_or_absent(const ig_op *op, uint32_t operand, int64_t number,
                                int64_t or_number) {
    ig_dims_value known;
    int64_t value;
    if (operand >= op->operand_count) {
        return true;
    }
    return ig_value_dims(op->operands[operand].value, &known) && known.count == 1 &&
           ig_dim_constant(ig_op_module(op), known.dims[0], &value) &&
           (value == number || value == or_number);
}

/* x[a : a + 1] */
static bool read_slice(const ig_trips *t, const ig_op *op, uint32_t depth,
                       ig_number *out) {
    ig_value *x = op->operands[0].value;
    ig_number past;
    if (x->type->rank != 1 || !is_int(x)) {
        return false;
    }
    if (ig_attr_is_set(op, IG_slice_sizes)) {
        *out = (ig_number){ .base = op->attrs[IG_slice_starts].as.dims[0] };
        bool is_one = ig_dim_is(op->attrs[IG_slice_sizes].as.dims[0], 1) &&
                      ig_recogniser_sees(t->r, t->scope, out->base);
        out->vector = x;
        return is_one; /* the verifier's slices are inside */
    }
    if (!is_number_or_absent(op, 3, 0, -1) || !is_number_or_absent(op, 4, 1, 1) ||
        !read_operand(t, op, 1, depth, out) || !read_operand(t, op, 2, depth, &past)) {
        return false;
    }
    bool is_one = !past.vector && ig_dim_same(past.step, out->step) &&
                  ig_dim_is(ig_dim_sub(t->module, past.base, out->base), 1) &&
                  is_inside(t, out, x->type->dims[0]);
    out->vector = x;
    return is_one;
}

static const read_fn readers[IG_OP_COUNT] = {
    [IG_OP_reshape] = read_view,  [IG_OP_expand] = read_view, [IG_OP_cast] = read_cast,
    [IG_OP_add] = read_add,       [IG_OP_sub] = read_sub,     [IG_OP_mul] = read_mul,
    [IG_OP_gather] = read_gather, [IG_OP_slice] = read_slice,
};

static bool read_number(const ig_trips *t, ig_value *value, uint32_t depth,
                        ig_number *out) {
    ig_dims_value known;
    if (depth > DEPTH_MAX || !is_int(value) || !ig_trips_visit(t)) {
        return false;
    }
    for (uint32_t i = 0; i < t->counter_count; i++) {
        if (t->counted[i] == value) {
            *out = t->counters[i];
            return true;
        }
    }
    if (ig_value_dims(value, &known)) {
        *out = (ig_number){ .base = known.count == 1 ? known.dims[0] : ig_dim_of(0) };
        return known.count == 1 && ig_recogniser_sees(t->r, t->scope, out->base);
    }
    const ig_op *op = value->def;
    if (op && readers[op->code] && readers[op->code](t, op, depth, out)) {
        return true;
    }
    *out = (ig_number){ .vector = value }; /* its only element */
    return value->type->rank == 1 && ig_dim_is(value->type->dims[0], 1);
}

bool ig_trips_number(const ig_trips *t, ig_value *value, ig_number *out) {
    return read_number(t, value, 0, out);
}

/* ---- loops ---- */

static const ig_op *yield_of(const ig_op *loop) {
    return loop->bodies[0]->last;
}

/* Carried values that grow by the same number in every trip: for an argument i the body
 * yields i + step. */
static void find_counters(ig_trips *t, const ig_op *loop) {
    const ig_op *yield = yield_of(loop);
    t->counted[0] = t->body->args[0];
    t->counters[0] = (ig_number){ .base = ig_dim_of(0), .step = ig_dim_of(1) };
    t->counter_count = 1;
    for (uint32_t i = 2; i < loop->operand_count; i++) {
        ig_trips probe = *t;
        ig_number first, next;
        bool has_room = t->counter_count < IG_TRIP_COUNTERS;
        probe.counted[0] = t->body->args[i];
        probe.counter_count = 1;
        if (has_room && is_int(t->body->args[i]) &&
            read_number(t, loop->operands[i].value, 0, &first) && !first.vector &&
            read_number(&probe, yield->operands[i - 1].value, 0, &next) &&
            !next.vector && ig_dim_is(next.step, 1)) {
            t->counted[t->counter_count] = t->body->args[i];
            t->counters[t->counter_count++] = (ig_number){ .base = first.base,
                                                           .step = next.base };
        }
    }
}

/* first < bound at the start, and next < bound after each trip, with next one step
 * on. */
static bool count_until(ig_trips *t, const ig_op *loop) {
    ig_less less;
    ig_number next, bound, first;
    bool is_true;
    ig_value *start = loop->operands[1].value,
             *proceed = yield_of(loop)->operands[0].value;
    if (!ig_value_less(proceed, &less) || less.or_equal ||
        !read_number(t, less.a, 0, &next) || !read_number(t, less.b, 0, &bound) ||
        next.vector || bound.vector || !ig_dim_is(next.step, 1) ||
        !ig_dim_is(bound.step, 0)) {
        return false;
    }
    ig_dim from = ig_dim_sub(t->module, next.base, ig_dim_of(1));
    t->count = ig_dim_sub(t->module, bound.base, from);
    if (ig_value_truth(start, &is_true)) {
        return is_true ? is_not_below(t->module, ig_dim_of(1), t->count)
                       : is_not_below(t->module, t->count, ig_dim_of(0));
    }
    ig_number start_bound;
    return ig_value_less(start, &less) && !less.or_equal &&
           read_number(t, less.a, 0, &first) && !first.vector &&
           ig_dim_is(first.step, 0) && read_number(t, less.b, 0, &start_bound) &&
           !start_bound.vector && ig_dim_equal(t->module, first.base, from) == IG_YES &&
           ig_number_equal(t->module, &bound, &start_bound);
}

ig_trips ig_trips_of_one(ig_recogniser *r, ig_block *block) {
    ig_trips t = { .r = r, .module = r->module, .scope = block, .count = ig_dim_of(1) };
    t.visits = IG_NEW(r->arena, uint32_t);
    *t.visits = VISITS_MAX;
    return t;
}

bool ig_trips_of_loop(ig_recogniser *r, ig_op *loop, ig_trips *out) {
    assert(loop->code == IG_OP_loop && "trips are those of a loop");
    ig_trips t = ig_trips_of_one(r, loop->block);
    t.body = loop->bodies[0];
    const ig_value *proceed = yield_of(loop)->operands[0].value;
    ig_number trips;
    bool goes_on, starts;
    find_counters(&t, loop);
    if (!read_number(&t, loop->operands[0].value, 0, &trips) || trips.vector) {
        return false;
    }
    goes_on = proceed == t.body->args[1] ||
              (ig_value_truth(proceed, &goes_on) && goes_on);
    starts = ig_value_truth(loop->operands[1].value, &starts) && starts;
    int64_t known, min, max;
    bool is_endless = ig_dim_constant(r->module, trips.base, &known) &&
                      (known < 0 || known == INT64_MAX);
    ig_dim_range(r->module, trips.base, &min, &max);
    t.count = trips.base;
    bool is_counted = goes_on && starts && !is_endless && min >= 0;
    bool is_good = is_counted || (is_endless && count_until(&t, loop));
    *out = t;
    return is_good;
}
