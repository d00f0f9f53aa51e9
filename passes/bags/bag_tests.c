/* Conditions of an if about a trip: is it empty, is it the last one?
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/bags/bag_rows.h"

static ig_trip_test known_test(bool truth) {
    return (ig_trip_test){ .kind = IG_TRIP_TEST_NONE, .is_not = !truth };
}

/* The list, made in the trip, whose extent is this symbol. */
static ig_value *list_of_extent(const ig_trips *t, ig_dim extent) {
    if (!t->body || !ig_dim_as_symbol(t->module, extent)) {
        return NULL;
    }
    for (ig_op *op = t->body->first; op; op = op->next) {
        for (uint32_t i = 0; op->code == IG_OP_loop && i < op->result_count; i++) {
            const ig_type *type = op->results[i].type;
            if (type->rank == 1 && ig_dim_same(type->dims[0], extent)) {
                return &op->results[i];
            }
        }
    }
    return NULL;
}

/* The list whose length a value is, by its op or by its symbol. */
static ig_value *list_of_length(const ig_trips *t, ig_value *value) {
    value = ig_value_before_views(value);
    const ig_op *op = value->def;
    ig_dims_value known;
    bool is_length = op && (op->code == IG_OP_size || op->code == IG_OP_shape) &&
                     op->operands[0].value->type->rank == 1;
    if (is_length) {
        return op->operands[0].value;
    }
    return ig_value_dims(value, &known) && known.count == 1
               ? list_of_extent(t, known.dims[0])
               : NULL;
}

static bool is_zero(ig_value *value) {
    ig_dims_value known;
    return ig_value_dims(value, &known) && known.count == 1 &&
           ig_dim_is(known.dims[0], 0);
}

/* length of the kept positions = 0 */
static bool ask_kept(const ig_trips *t, const ig_op *eq, ig_trip_test *out) {
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *list = list_of_length(t, eq->operands[i].value);
        ig_kept kept;
        if (list && is_zero(eq->operands[1 - i].value) &&
            ig_kept_positions(t, list, &kept)) {
            out->kind = IG_TRIP_TEST_EMPTY;
            out->at = kept.at;
            return true;
        }
    }
    return false;
}

/* a - b is i - (count - 1), or the other way round. */
static bool ask_last(const ig_trips *t, const ig_number *a, const ig_number *b) {
    if (a->vector || b->vector) {
        return false;
    }
    ig_dim step = ig_dim_sub(t->module, a->step, b->step);
    ig_dim base = ig_dim_sub(t->module, a->base, b->base);
    ig_dim last = ig_dim_sub(t->module, t->count, ig_dim_of(1));
    if (ig_dim_is(step, 1)) {
        base = ig_dim_sub(t->module, ig_dim_of(0), base);
    }
    bool moves = ig_dim_is(step, 1) || ig_dim_same(step, ig_dim_const(t->module, -1));
    return moves && ig_dim_equal(t->module, base, last) == IG_YES;
}

static bool ask_positions(const ig_trips *t, const ig_number *begin,
                          const ig_number *end, ig_trip_test *out) {
    out->kind = IG_TRIP_TEST_EMPTY;
    out->at = (ig_positions){ .is_cut = true, .padding = IG_NO_PADDING };
    return ig_trips_bound(t, begin, &out->at.begin) &&
           ig_trips_bound(t, end, &out->at.end);
}

static bool read_eq(const ig_trips *t, const ig_op *eq, ig_trip_test *out) {
    ig_number a, b;
    if (ask_kept(t, eq, out)) {
        return true;
    }
    if (!ig_trips_number(t, eq->operands[0].value, &a) ||
        !ig_trips_number(t, eq->operands[1].value, &b)) {
        return false;
    }
    if (ask_last(t, &a, &b)) {
        out->kind = IG_TRIP_TEST_LAST;
        return true;
    }
    return ask_positions(t, &a, &b, out);
}

/* x - y where that is compared with 0. */
static void split_difference(ig_value **x, ig_value **y) {
    ig_value *value = is_zero(*x) ? *y : *x;
    const ig_op *sub = ig_def(ig_value_before_views(value), IG_OP_sub);
    if (sub && (is_zero(*x) || is_zero(*y))) {
        bool is_right = value == *y;
        *x = sub->operands[is_right ? 1 : 0].value;
        *y = sub->operands[is_right ? 0 : 1].value;
    }
}

/* begin < end: not empty; end <= begin: empty, as bags do not run backwards. */
static bool read_less(const ig_trips *t, const ig_less *less, ig_trip_test *out) {
    ig_value *x = less->a, *y = less->b;
    ig_number a, b;
    split_difference(&x, &y);
    if (!ig_trips_number(t, x, &a) || !ig_trips_number(t, y, &b)) {
        return false;
    }
    out->is_not = !less->or_equal;
    return less->or_equal ? ask_positions(t, &b, &a, out)
                          : ask_positions(t, &a, &b, out);
}

ig_trip_test ig_trip_test_read(const ig_trips *t, ig_value *condition) {
    ig_trip_test test = { .kind = IG_TRIP_TEST_OTHER };
    bool is_not = false, truth;
    ig_less less;
    if (ig_value_truth(condition, &truth)) {
        return known_test(truth);
    }
    ig_value *value = ig_value_before_views(condition);
    if (ig_value_less(value, &less)) {
        bool is_read = read_less(t, &less, &test);
        return is_read ? test : (ig_trip_test){ .kind = IG_TRIP_TEST_OTHER };
    }
    while (ig_def(value, IG_OP_not)) {
        is_not = !is_not;
        value = ig_value_before_views(value->def->operands[0].value);
    }
    const ig_op *eq = ig_def(value, IG_OP_eq), *ne = ig_def(value, IG_OP_ne);
    if ((!eq && !ne) || !read_eq(t, eq ? eq : ne, &test)) {
        return (ig_trip_test){ .kind = IG_TRIP_TEST_OTHER };
    }
    test.is_not = is_not != (ne != NULL);
    return test;
}

void ig_trip_test_branches(const ig_trip_test *test, const ig_op *op, uint32_t index,
                           ig_value **out_yes, ig_value **out_no) {
    ig_value *then = op->bodies[0]->last->operands[index].value;
    ig_value *other = op->bodies[1]->last->operands[index].value;
    *out_yes = test->is_not ? other : then;
    *out_no = test->is_not ? then : other;
}
