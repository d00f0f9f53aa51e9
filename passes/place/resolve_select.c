/* resolve_shapes, ops whose results are as long as the data says: topk, nonzero,
 * unique.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = nonzero %x : i64[n, 2]
 *   becomes
 *     %r = cumsum of (x is not zero), flattened; bind its last element to n
 *     %p = each position where x is not zero, at its number in %r    (a scatter)
 *     %1 = quotients and rests of %p by the extents of x, side by side
 *
 * unique sorts, finds where runs begin as nonzero does, and counts runs for the
 * inverse; everything else is gathered from there.  Along an axis it is rows that are
 * sorted: by each column, from the last to the first, each sort keeping the order of
 * equal elements.
 */
#include "passes/place/resolve.h"

#include <assert.h>

/* ---- vocabulary of this file ---- */

static ig_value *scalar_of(ig_resolver *m, ig_dim dim) {
    int64_t known;
    if (ig_dim_constant(m->module, dim, &known)) {
        return ig_expr_integer(&m->e, IG_DT_i64, known);
    }
    return ig_expr_reshape(&m->e, ig_expr_dims(&m->e, &dim, 1), 0, NULL);
}

static ig_value *add_integer(ig_resolver *m, ig_value *x, int64_t y) {
    return ig_expr_with_integer(&m->e, IG_OP_add, x, y);
}

/* 0, 1 … count - 1 */
static ig_value *make_iota(ig_resolver *m, ig_dim count) {
    ig_value *zero = ig_expr_integer(&m->e, IG_DT_i64, 0);
    ig_value *one = ig_expr_integer(&m->e, IG_DT_i64, 1);
    ig_value *range = ig_build_range(&m->e, zero, scalar_of(m, count), one);
    return ig_expr_reshape(&m->e, range, 1, &count);
}

static ig_value *take_rows(ig_resolver *m, ig_value *x, ig_value *ids) {
    return ig_expr_gather(&m->e, x, ids, 0, IG_NEGATIVE_error);
}

static ig_value *count_running(ig_resolver *m, ig_value *mask) {
    ig_value *ones = ig_expr_cast(&m->e, mask, IG_DT_i64);
    return ig_build_cumsum(&m->e, ones, (ig_cumsum_attrs){ .axis = 0 });
}

/* How many are true, as i64[1]; none of none. */
static ig_value *count_all(ig_resolver *m, ig_value *mask) {
    ig_value *ones = ig_expr_cast(&m->e, mask, IG_DT_i64);
    return ig_expr_reduce(&m->e, IG_REDUCE_sum, ones, NULL, 0, true);
}

/* The `count` positions at which a vector of bools is true, from its running count:
 * every position is written to its number, the others after all of them. */
static ig_value *find_true(ig_resolver *m, ig_value *mask, ig_value *running,
                           ig_dim count) {
    ig_dim room = ig_dim_add(m->module, count, ig_dim_of(1));
    ig_value *last = scalar_of(m, count), *rank = add_integer(m, running, -1);
    ig_value *number = ig_build_where(&m->e, mask, rank, last);
    ig_value *positions = make_iota(m, mask->type->dims[0]);
    ig_value *zeros = ig_expr_fill(&m->e, IG_DT_i64, 1, &room, 0);
    ig_value *all = ig_build_scatter_elements(
        &m->e, zeros, number, positions,
        (ig_scatter_elements_attrs){ .axis = 0, .is_checked = true });
    return ig_expr_slice(&m->e, all, 0, ig_dim_of(0), count, 1);
}

/* Values and positions of a vector, sorted. */
static ig_op *make_sort(ig_resolver *m, ig_value *x) {
    assert(x->type->rank == 1 && "a vector is sorted");
    ig_op_spec spec = { .operands = &x, .operand_count = 1, .result_count = 2 };
    return ig_build_sort_op(&m->e, &spec, (ig_sort_attrs){ .axis = 0 });
}

/* ---- topk ---- */

ig_status ig_resolve_topk(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    ig_topk_attrs attrs = ig_topk_attrs_of(op);
    uint32_t axis = (uint32_t)(attrs.axis < 0 ? attrs.axis + x->type->rank
                                              : attrs.axis);
    ig_dim one = ig_dim_of(1), k = op->results[0].type->dims[axis];
    if (ig_dim_as_symbol(m->module, k)) {
        ig_value *number = ig_expr_reshape(&m->e, op->operands[1].value, 1, &one);
        ig_dim bound = ig_resolver_extent(m, 0, axis);
        ig_resolver_bind(m, number, &bound, 1);
    }
    ig_guard_attrs check = { .left = k,
                             .right = x->type->dims[axis],
                             .test = IG_GUARD_le,
                             .message =
                                 "topk is asked for more elements than there are" };
    ig_build_guard(&m->e, check);
    attrs.k = (ig_maybe_dim)IG_SET(k);
    ig_op_spec spec = { .operands = &x, .operand_count = 1, .result_count = 2 };
    ig_op *known = ig_build_topk_op(&m->e, &spec, attrs);
    ig_resolver_replace(m, 0, &known->results[0]);
    ig_resolver_replace(m, 1, &known->results[1]);
    ig_op_erase(op);
    return IG_OK;
}

/* ---- nonzero ---- */

/* Coordinates of flat positions, one column per axis of `type`. */
static ig_value *make_coordinates(ig_resolver *m, ig_value *positions,
                                  const ig_type *type) {
    assert(type->rank > 0 && "a scalar has no coordinates");
    ig_dim column[] = { positions->type->dims[0], ig_dim_of(1) };
    ig_value *columns[IG_TENSOR_RANK];
    for (uint32_t d = type->rank; d-- > 0;) {
        ig_value *extent = scalar_of(m, type->dims[d]), *at = positions;
        if (d > 0) {
            at = ig_build_mod(&m->e, positions, extent, (ig_mod_attrs){ 0 });
            positions = ig_build_div(&m->e, positions, extent);
        }
        columns[d] = ig_expr_reshape(&m->e, at, 2, column);
    }
    return ig_expr_concat(&m->e, 1, columns, type->rank);
}

ig_status ig_resolve_nonzero(ig_resolver *m) {
    ig_value *x = m->op->operands[0].value;
    const ig_type *type = x->type;
    ig_value *mask = ig_expr_cast(&m->e, ig_expr_flatten(&m->e, x), IG_DT_bool);
    ig_dim count = ig_resolver_extent(m, 0, 0);
    ig_resolver_bind(m, count_all(m, mask), &count, 1);
    if (type->rank == 0) {
        ig_dim zero = ig_dim_of(0), none[] = { count, zero };
        ig_value *empty = ig_expr_slice(&m->e, make_iota(m, count), 0, zero, zero, 1);
        ig_resolver_replace(m, 0, ig_expr_reshape(&m->e, empty, 2, none));
    } else {
        ig_value *positions = find_true(m, mask, count_running(m, mask), count);
        ig_resolver_replace(m, 0, make_coordinates(m, positions, type));
    }
    ig_op_erase(m->op);
    return IG_OK;
}

/* ---- unique ---- */

/* Elements, or rows, in an order in which equal ones are neighbours, and each one's
 * position before. */
typedef struct ordered {
    ig_value *values, *at;
    ig_dim count;
} ordered;

/* Positions of rows in their order: a loop over the columns. */
static ig_value *sort_rows(ig_resolver *m, ig_value *rows) {
    ig_value *columns = scalar_of(m, rows->type->dims[1]);
    ig_value *begins = ig_expr_number(&m->e, IG_DT_bool, 1);
    ig_value *operands[] = { columns, begins, make_iota(m, rows->type->dims[0]) };
    ig_op *loop = ig_expr_open_loop(&m->e, operands);
    ig_value **args = loop->bodies[0]->args;
    ig_value *last = add_integer(m, columns, -1);
    ig_value *column = ig_build_sub(&m->e, last, args[0]);
    ig_value *keys = ig_expr_gather(&m->e, rows, column, 1, IG_NEGATIVE_error);
    ig_op *sort = make_sort(m, take_rows(m, keys, args[2]));
    ig_value *yields[] = { args[1], take_rows(m, args[2], &sort->results[1]) };
    ig_make_yield(&m->b, yields, 2);
    m->b = ig_builder_before(m->op);
    return loop->results;
}

static ordered put_in_order(ig_resolver *m, ig_value *x) {
    ordered o = { x, NULL, x->type->dims[0] };
    if (ig_attr_int(m->op, IG_unique_order, 0) == IG_UNIQUE_runs) {
        o.at = make_iota(m, o.count);
        return o;
    }
    if (x->type->rank > 1) {
        o.at = sort_rows(m, x);
        o.values = take_rows(m, x, o.at);
        return o;
    }
    ig_op *sort = make_sort(m, x);
    o.values = &sort->results[0];
    o.at = &sort->results[1];
    return o;
}

/* Does any column of a row? */
static ig_value *join_columns(ig_resolver *m, ig_value *differs) {
    if (differs->type->rank == 1) {
        return differs;
    }
    ig_value *ones = ig_expr_cast(&m->e, differs, IG_DT_i64);
    ig_value *count = ig_expr_reduce_axis(&m->e, IG_REDUCE_sum, ones, 1, false);
    return ig_expr_with_integer(&m->e, IG_OP_ne, count, 0);
}

/* Does each element, or row, differ from the one before it?  Clamping compares the
 * first with itself, so its position decides. */
static ig_value *find_begins(ig_resolver *m, const ordered *o) {
    ig_value *at = make_iota(m, o->count), *zero = ig_expr_integer(&m->e, IG_DT_i64, 0);
    ig_value *before = ig_build_max(&m->e, add_integer(m, at, -1), zero);
    ig_value *differs = ig_build_ne(&m->e, o->values, take_rows(m, o->values, before));
    if (ig_expr_is_float(o->values)) {
        ig_value *is_nan = ig_build_isnan(&m->e, o->values);
        ig_value *was_nan = take_rows(m, is_nan, before);
        ig_value *both = ig_build_and(&m->e, is_nan, was_nan);
        differs = ig_build_and(&m->e, differs, ig_build_not(&m->e, both));
    }
    ig_value *is_first = ig_build_eq(&m->e, at, zero);
    return ig_build_or(&m->e, join_columns(m, differs), is_first);
}

/* y with y[at[i]] = x[i], for a permutation `at`. */
static ig_value *put_back(ig_resolver *m, ig_value *at, ig_value *x) {
    return ig_build_scatter_elements(&m->e, at, at, x,
                                     (ig_scatter_elements_attrs){ .axis = 0 });
}

/* The four results by classes that are numbered in order. */
typedef struct classes {
    ig_value *values, *first, *inverse, *copies;
} classes;

/* Numbers classes by the position of their first element. */
static void order_by_first(ig_resolver *m, classes *c) {
    ig_op *sort = make_sort(m, c->first);
    ig_value *order = &sort->results[1];
    ig_value *number = put_back(m, order, make_iota(m, order->type->dims[0]));
    c->values = take_rows(m, c->values, order);
    c->copies = take_rows(m, c->copies, order);
    c->inverse = take_rows(m, number, c->inverse);
    c->first = &sort->results[0];
}

/* The axis that is looked along; of a tensor seen as one list, or that is one, 0. */
static uint32_t axis_of_unique(const ig_op *op) {
    int64_t axis = ig_attr_int(op, IG_unique_axis, 0);
    return (uint32_t)(axis < 0 ? axis + op->operands[0].value->type->rank : axis);
}

static bool has_rows(const ig_op *op) {
    return ig_attr_is_set(op, IG_unique_axis) && op->operands[0].value->type->rank > 1;
}

/* x as a list, or as rows of the elements at each index of the axis. */
static ig_value *take_items(ig_resolver *m, ig_value *x) {
    if (!has_rows(m->op)) {
        return ig_expr_flatten(&m->e, x);
    }
    x = ig_expr_move_axis(&m->e, x, axis_of_unique(m->op), 0);
    return ig_expr_merge_axes(&m->e, x, 1, x->type->rank - 1);
}

/* The other way, with the extents of the result. */
static ig_value *give_items(ig_resolver *m, ig_value *values) {
    const ig_type *type = m->op->operands[0].value->type;
    ig_dim dims[IG_TENSOR_RANK] = { values->type->dims[0] };
    if (!has_rows(m->op)) {
        return values;
    }
    uint32_t axis = axis_of_unique(m->op);
    for (uint32_t d = 0, to = 1; d < type->rank; d++) {
        if (d != axis) {
            dims[to++] = type->dims[d];
        }
    }
    values = ig_expr_reshape(&m->e, values, type->rank, dims);
    return ig_expr_move_axis(&m->e, values, 0, axis);
}

ig_status ig_resolve_unique(ig_resolver *m) {
    ig_op *op = m->op;
    ordered o = put_in_order(m, take_items(m, op->operands[0].value));
    ig_value *mask = find_begins(m, &o), *running = count_running(m, mask);
    ig_dim count = ig_resolver_extent(m, 1, 0);
    ig_resolver_bind(m, count_all(m, mask), &count, 1);
    ig_value *starts = find_true(m, mask, running, count);
    ig_value *both[] = { starts, ig_expr_dims(&m->e, &o.count, 1) };
    ig_value *bounds = ig_expr_concat(&m->e, 0, both, 2);
    ig_value *ends = ig_expr_slice(&m->e, bounds, 0, ig_dim_of(1), count, 1);
    classes c = { .values = take_rows(m, o.values, starts),
                  .first = take_rows(m, o.at, starts),
                  .inverse = put_back(m, o.at, add_integer(m, running, -1)),
                  .copies = ig_build_sub(&m->e, ends, starts) };
    if (ig_attr_int(op, IG_unique_order, 0) == IG_UNIQUE_first) {
        order_by_first(m, &c);
    }
    ig_resolver_replace(m, 0, give_items(m, c.values));
    ig_resolver_replace(m, 1, c.first);
    ig_resolver_replace(m, 2, c.inverse);
    ig_resolver_replace(m, 3, c.copies);
    ig_op_erase(op);
    return IG_OK;
}

/* ---- operators of the user's own ---- */

/* The library finds the extents; the op itself stays. */
ig_status ig_resolve_custom(ig_resolver *m) {
    const ig_attr *own = &m->op->attrs[IG_custom_own];
    uint32_t operands = m->op->operand_count, count = own->count / 2;
    ig_custom_attrs attrs = ig_custom_attrs_of(m->op);
    if (count == 0 || attrs.extents) {
        return IG_OK;
    }
    ig_value **taken = IG_NEW_ARRAY(m->run->scratch, ig_value *, operands + 1);
    ig_dim *symbols = IG_NEW_ARRAY(m->run->scratch, ig_dim, count);
    for (uint32_t i = 0; i < operands; i++) {
        taken[i] = m->op->operands[i].value;
    }
    for (uint32_t i = 0; i < count; i++) {
        symbols[i] = ig_resolver_extent(m, (uint32_t)own->as.ints[2 * i],
                                        (uint32_t)own->as.ints[2 * i + 1]);
    }
    ig_dim found = ig_dim_of(count);
    const ig_type *type = ig_type_tensor(m->module, IG_DT_i64, 1, &found);
    ig_op_spec spec = { .operands = taken,
                        .operand_count = operands,
                        .result_types = &type,
                        .result_count = 1 };
    attrs.extents = true;
    attrs.own = (ig_ints){ 0 };
    m->run->changed = true;
    ig_resolver_bind(m, ig_build_custom_op(&m->e, &spec, attrs)->results, symbols,
                     count);
    return IG_OK;
}
