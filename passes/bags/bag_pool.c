/* What pooling the rows of one trip gives: sums, means, maxima, and what ifs make of
 * them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One exporter writes a plain reduction.  Another wraps it in up to three ifs:
 *
 *     if begin = end          zeros
 *     else if last trip       if len - begin > 0: sum / (len - begin), else sum
 *     else                    mean
 *
 * Each if is read on its own, from the inside: what both branches say is joined into
 * one description, or there is none.
 */
#include "passes/bags/bag_rows.h"

enum { DEPTH_MAX = 48 };

typedef bool (*row_fn)(const ig_trips *t, const ig_op *op, uint32_t depth,
                       ig_bag_row *out);

static bool read_row(const ig_trips *t, ig_value *value, uint32_t depth,
                     ig_bag_row *out);

/* ---- reductions ---- */

static bool is_along(const ig_op *reduce, uint32_t axis) {
    const ig_attr *axes = &reduce->attrs[IG_reduce_axes];
    int64_t rank = reduce->operands[0].value->type->rank, given = rank;
    ig_dims_value known;
    if (axes->kind == IG_ATTR_INTS && axes->count == 1) {
        given = axes->as.ints[0];
    } else if (reduce->operand_count > 1 &&
               ig_value_dims(reduce->operands[1].value, &known) && known.count == 1 &&
               !ig_dim_constant(ig_op_module(reduce), known.dims[0], &given)) {
        given = rank;
    }
    return given == (int64_t)axis || given == (int64_t)axis - rank;
}

bool ig_pool_of_reduce(const ig_op *reduce, uint32_t axis, ig_pool *out) {
    static const struct {
        ig_reduce from;
        ig_pool to;
    } pools[] = { { IG_REDUCE_sum, IG_POOL_sum },
                  { IG_REDUCE_mean, IG_POOL_mean },
                  { IG_REDUCE_max, IG_POOL_max } };
    int64_t kind = ig_attr_int(reduce, IG_reduce_op, IG_REDUCE_sum);
    for (size_t i = 0; i < IG_COUNT_OF(pools); i++) {
        if (kind == (int64_t)pools[i].from) {
            *out = pools[i].to;
            return is_along(reduce, axis);
        }
    }
    return false;
}

static bool row_of_reduce(const ig_trips *t, const ig_op *op, uint32_t depth,
                          ig_bag_row *out) {
    (void)depth;
    *out = (ig_bag_row){ .reduces_to_zero = ig_attr_int(op, IG_reduce_empty_zero, 0) !=
                                            0 };
    return op->operands[0].value->type->rank == 2 &&
           ig_pool_of_reduce(op, 0, &out->pool) &&
           ig_bag_rows_read(t, op->operands[0].value, &out->rows) &&
           out->rows.at.is_cut;
}

/* Views of the same D elements. */
static bool row_of_view(const ig_trips *t, const ig_op *op, uint32_t depth,
                        ig_bag_row *out) {
    ig_dim from = ig_type_count(t->module, op->operands[0].value->type);
    ig_dim to = ig_type_count(t->module, op->results[0].type);
    return ig_dim_equal(t->module, from, to) == IG_YES &&
           op->operands[0].value->type->dtype == op->results[0].type->dtype &&
           read_row(t, op->operands[0].value, depth + 1, out);
}

/* ---- sums divided by a count ---- */

/* The count x - y under casts to float and views. */
static const ig_op *find_difference(ig_value *value) {
    for (uint32_t i = 0; value->def && i < DEPTH_MAX; i++) {
        const ig_op *op = value->def;
        bool is_passed = op->code == IG_OP_cast || op->code == IG_OP_reshape ||
                         op->code == IG_OP_expand;
        if (!is_passed) {
            break;
        }
        value = op->operands[0].value;
    }
    return ig_def(value, IG_OP_sub);
}

static bool is_count_of_ids(const ig_trips *t, const ig_bag_rows *rows,
                            const ig_number *n) {
    return !n->vector && ig_dim_is(n->step, 0) &&
           ig_dim_equal(t->module, n->base, rows->ids->type->dims[0]) == IG_YES;
}

static bool bound_of(const ig_trips *t, ig_value *value, ig_bound *out) {
    ig_number number;
    return ig_trips_number(t, value, &number) && ig_trips_bound(t, &number, out);
}

/* sum / (end - begin) is the mean; sum / (len - begin) is not quite. */
static bool row_of_div(const ig_trips *t, const ig_op *op, uint32_t depth,
                       ig_bag_row *out) {
    const ig_op *sub = find_difference(op->operands[1].value);
    ig_bound end, begin;
    if (!sub || !read_row(t, op->operands[0].value, depth + 1, out) ||
        out->pool != IG_POOL_sum || out->is_zero_if_empty || out->is_over_rest ||
        out->rows.at.padding != IG_NO_PADDING ||
        !bound_of(t, sub->operands[0].value, &end) ||
        !bound_of(t, sub->operands[1].value, &begin) ||
        !ig_bound_equal(t, &begin, &out->rows.at.begin)) {
        return false;
    }
    if (ig_bound_equal(t, &end, &out->rows.at.end)) {
        out->pool = IG_POOL_mean;
        return true;
    }
    out->is_over_rest = true;
    return !end.has_last && is_count_of_ids(t, &out->rows, &end.usual);
}

/* ---- ifs ---- */

static bool is_same_source(const ig_bag_rows *a, const ig_bag_rows *b) {
    return ig_bag_rows_share(a, b) && a->at.padding == b->at.padding;
}

static bool is_plain(const ig_bag_row *row) {
    return !row->is_zero_if_empty && !row->is_over_rest && !row->is_last_over_rest &&
           !row->has_own_end;
}

/* Do begin and end agree, or do they in all but the last trip, which by the row goes on
 * to the end of the ids? */
static bool is_empty_test_of(const ig_trips *t, const ig_positions *tested,
                             ig_bag_row *row) {
    const ig_positions *at = &row->rows.at;
    if (tested->padding != at->padding ||
        !ig_bound_equal(t, &tested->begin, &at->begin)) {
        return false;
    }
    if (ig_bound_equal(t, &tested->end, &at->end)) {
        return true;
    }
    ig_number end = ig_bound_at_last(t, &at->end);
    row->has_own_end = !tested->end.has_last && at->end.has_last &&
                       ig_number_equal(t->module, &tested->end.usual, &at->end.usual) &&
                       is_count_of_ids(t, &row->rows, &end);
    return row->has_own_end;
}

/* Asked as begin = end, or as end = begin. */
static bool matches_empty_test(const ig_trips *t, const ig_positions *tested,
                               ig_bag_row *row) {
    ig_positions swapped = *tested;
    swapped.begin = tested->end;
    swapped.end = tested->begin;
    return is_empty_test_of(t, tested, row) || is_empty_test_of(t, &swapped, row);
}

/* Is `tested` the divisor of a row: end - begin, or len - begin? */
static bool is_divisor_test(const ig_trips *t, const ig_positions *tested,
                            const ig_bag_row *row) {
    if (!ig_bound_equal(t, &tested->begin, &row->rows.at.begin)) {
        return false;
    }
    return row->is_over_rest ? !tested->end.has_last &&
                                   is_count_of_ids(t, &row->rows, &tested->end.usual)
                             : row->pool == IG_POOL_mean &&
                                   ig_bound_equal(t, &tested->end, &row->rows.at.end);
}

/* divisor > 0: sum / divisor, else the sum, where that equals the result of a trip with
 * positions. */
static bool join_rest(const ig_trips *t, const ig_positions *tested, ig_value *yes,
                      uint32_t depth, ig_bag_row *row) {
    ig_bag_row sum;
    row->is_only_full = true;
    return is_divisor_test(t, tested, row) && read_row(t, yes, depth + 1, &sum) &&
           sum.pool == IG_POOL_sum && is_plain(&sum) &&
           is_same_source(&sum.rows, &row->rows) &&
           ig_positions_equal(t, &sum.rows.at, &row->rows.at);
}

static bool join_empty(const ig_trips *t, const ig_trip_test *test, ig_value *yes,
                       ig_value *no, uint32_t depth, ig_bag_row *out) {
    if (!read_row(t, no, depth + 1, out) || out->is_zero_if_empty) {
        return false;
    }
    if (!ig_value_is_filled(yes, 0)) {
        return join_rest(t, &test->at, yes, depth, out);
    }
    out->is_zero_if_empty = true;
    return matches_empty_test(t, &test->at, out);
}

/* A mean whose last trip divides by the rest of the ids: the same where its positions
 * go to their end. */
static bool join_last_mean(const ig_trips *t, const ig_bag_row *last, ig_bag_row *out) {
    ig_number end = ig_bound_at_last(t, &out->rows.at.end);
    ig_number end_of_last = ig_bound_at_last(t, &last->rows.at.end);
    bool is_mean = out->pool == IG_POOL_mean && is_plain(out);
    out->is_last_over_rest = !is_count_of_ids(t, &out->rows, &end);
    out->is_only_full = true;
    return is_mean && ig_number_equal(t->module, &end, &end_of_last);
}

static bool join_last(const ig_trips *t, ig_value *yes, ig_value *no, uint32_t depth,
                      ig_bag_row *out) {
    ig_bag_row last;
    if (!read_row(t, yes, depth + 1, &last) || !read_row(t, no, depth + 1, out) ||
        !is_same_source(&last.rows, &out->rows) ||
        !ig_bound_equal(t, &last.rows.at.begin, &out->rows.at.begin)) {
        return false;
    }
    if (last.is_over_rest) {
        return join_last_mean(t, &last, out);
    }
    out->rows.at.end.last = ig_bound_at_last(t, &last.rows.at.end);
    out->rows.at.end.has_last = true;
    out->rows.at.end.given = (ig_number){ 0 };
    return last.pool == out->pool && is_plain(&last) && is_plain(out);
}

static bool row_of_if(const ig_trips *t, const ig_op *op, uint32_t depth,
                      ig_bag_row *out) {
    ig_trip_test test = ig_trip_test_read(t, op->operands[0].value);
    ig_value *yes, *no;
    if (op->result_count != 1) {
        return false;
    }
    ig_trip_test_branches(&test, op, 0, &yes, &no);
    if (test.kind == IG_TRIP_TEST_NONE) {
        return read_row(t, yes, depth + 1, out);
    }
    if (test.kind == IG_TRIP_TEST_EMPTY) {
        return join_empty(t, &test, yes, no, depth, out);
    }
    return test.kind == IG_TRIP_TEST_LAST && join_last(t, yes, no, depth, out);
}

/* ---- the whole ---- */

static const row_fn readers[IG_OP_COUNT] = {
    [IG_OP_reduce] = row_of_reduce, [IG_OP_reshape] = row_of_view,
    [IG_OP_cast] = row_of_view,     [IG_OP_expand] = row_of_view,
    [IG_OP_div] = row_of_div,       [IG_OP_if] = row_of_if,
};

static bool read_row(const ig_trips *t, ig_value *value, uint32_t depth,
                     ig_bag_row *out) {
    const ig_op *op = value->def;
    return op && depth < DEPTH_MAX && ig_trips_visit(t) && readers[op->code] &&
           readers[op->code](t, op, depth, out);
}

/* The sum over the rest makes sense only as the last trip of a mean. */
bool ig_bag_row_read(const ig_trips *t, ig_value *value, ig_bag_row *out) {
    bool is_read = read_row(t, value, 0, out) && !out->is_over_rest &&
                   (out->is_zero_if_empty || !out->is_only_full);
    if (is_read) {
        out->is_zero_if_empty |= out->reduces_to_zero;
    }
    return is_read;
}
