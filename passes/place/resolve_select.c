/* resolve_shapes, ops whose results are as long as the data says: topk, nonzero,
 * unique.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1 = nonzero %x : i64[n, 2]
 *   becomes
 *     %r = cumsum of (x is not zero), flattened; bind its last element to n
 *     %p = the first place of 1, 2 … n in %r           (bucketize)
 *     %1 = quotients and rests of %p by the extents of x, side by side
 *
 * A flat unique sorts, finds where runs begin as nonzero does, and counts runs for the
 * inverse; everything else is gathered from there.
 */
#include "ir/expr.h"
#include "passes/place/resolve.h"

/* ---- small words ---- */

static ig_value *make(ig_resolver *m, ig_opcode code, uint32_t count,
                      ig_value **operands, uint32_t slot, ig_attr attr) {
    ig_attr attrs[16] = { 0 };
    attrs[slot] = attr;
    return ig_make(&m->b, code, count, operands, attrs);
}

static ig_value *scalar(ig_resolver *m, ig_dim dim) {
    return ig_make_reshape(&m->b, ig_make_dims(&m->b, &dim, 1), 0, NULL);
}

/* 0, 1 … count - 1 */
static ig_value *iota(ig_resolver *m, ig_dim count) {
    ig_value *zero = ig_make_i64(&m->b, 0), *one = ig_make_i64(&m->b, 1);
    ig_value *range = ig_make3(&m->b, IG_OP_range, zero, scalar(m, count), one);
    return ig_make_reshape(&m->b, range, 1, &count);
}

static ig_value *add(ig_resolver *m, ig_value *x, int64_t y) {
    return ig_make2(&m->b, IG_OP_add, x, ig_make_i64(&m->b, y));
}

static ig_value *gather(ig_resolver *m, ig_value *x, ig_value *ids) {
    ig_expr e = ig_expr_of(&m->b);
    return ig_expr_gather(&e, x, ids, 0, IG_NEGATIVE_error);
}

/* x[start : start + size] of a vector. */
static ig_value *cut(ig_resolver *m, ig_value *x, ig_dim start, ig_dim size) {
    ig_expr e = ig_expr_of(&m->b);
    return ig_expr_slice(&e, x, 0, start, size, 1);
}

static ig_value *flat(ig_resolver *m, ig_value *x) {
    ig_dim count = ig_type_count(m->module, x->type);
    return x->type->rank == 1 ? x : ig_make_reshape(&m->b, x, 1, &count);
}

static ig_value *running_count(ig_resolver *m, ig_value *mask) {
    ig_value *ones = ig_make_cast(&m->b, mask, IG_DT_i64);
    return make(m, IG_OP_cumsum, 1, &ones, IG_cumsum_axis, ig_attr_of_int(0));
}

/* How many are true, as i64[1]; none of none. */
static ig_value *total_count(ig_resolver *m, ig_value *mask) {
    ig_value *ones = ig_make_cast(&m->b, mask, IG_DT_i64);
    return make(m, IG_OP_reduce, 1, &ones, IG_reduce_keep, ig_attr_of_bool(true));
}

/* Where a vector of bools is true, `count` times, from its running count. */
static ig_value *places_of(ig_resolver *m, ig_value *running, ig_dim count) {
    ig_value *operands[] = { add(m, iota(m, count), 1), running };
    return ig_make(&m->b, IG_OP_bucketize, 2, operands, NULL);
}

/* ---- topk ---- */

ig_status ig_resolve_topk(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    int64_t wanted = ig_attr_int(op, IG_topk_axis, 0);
    uint32_t axis = (uint32_t)(wanted < 0 ? wanted + x->type->rank : wanted);
    ig_dim one = ig_dim_of(1), k = op->results[0].type->dims[axis];
    if (ig_dim_as_symbol(m->module, k)) {
        ig_value *number = ig_make_reshape(&m->b, op->operands[1].value, 1, &one);
        ig_dim bound = ig_resolver_extent(m, 0, axis);
        ig_resolver_bind(m, number, &bound, 1);
    }
    ig_expr e = ig_expr_of(&m->b);
    ig_guard_attrs check = { .left = k,
                             .right = x->type->dims[axis],
                             .test = IG_GUARD_le,
                             .message =
                                 "topk is asked for more elements than there are" };
    ig_build_guard(&e, check);
    ig_attr attrs[IG_topk_attr_count] = { [IG_topk_axis] = op->attrs[IG_topk_axis],
                                          [IG_topk_smallest] =
                                              op->attrs[IG_topk_smallest],
                                          [IG_topk_k] = ig_attr_of_dim(k) };
    ig_op_spec spec = { .operands = &x,
                        .operand_count = 1,
                        .result_count = 2,
                        .attrs = attrs,
                        .loc = op->loc };
    ig_op *known = ig_make_op(&m->b, IG_OP_topk, &spec);
    ig_resolver_replace(m, 0, &known->results[0]);
    ig_resolver_replace(m, 1, &known->results[1]);
    ig_op_erase(op);
    return IG_OK;
}

/* ---- nonzero ---- */

/* Coordinates of flat positions, one column an axis of `type`. */
static ig_value *coordinates(ig_resolver *m, ig_value *places, const ig_type *type) {
    ig_dim column[] = { places->type->dims[0], ig_dim_of(1) };
    ig_value *columns[IG_TENSOR_RANK];
    for (uint32_t d = type->rank; d-- > 0;) {
        ig_value *extent = scalar(m, type->dims[d]), *at = places;
        if (d > 0) {
            at = ig_make2(&m->b, IG_OP_mod, places, extent);
            places = ig_make2(&m->b, IG_OP_div, places, extent);
        }
        columns[d] = ig_make_reshape(&m->b, at, 2, column);
    }
    return type->rank == 1 ? columns[0]
                           : make(m, IG_OP_concat, type->rank, columns, IG_concat_axis,
                                  ig_attr_of_int(1));
}

ig_status ig_resolve_nonzero(ig_resolver *m) {
    ig_value *x = m->op->operands[0].value;
    const ig_type *type = x->type;
    ig_value *mask = ig_make_cast(&m->b, flat(m, x), IG_DT_bool);
    ig_dim count = ig_resolver_extent(m, 0, 0);
    ig_resolver_bind(m, total_count(m, mask), &count, 1);
    if (type->rank == 0) {
        ig_dim none[] = { count, ig_dim_of(0) };
        ig_resolver_replace(
            m, 0,
            ig_make_reshape(&m->b, cut(m, iota(m, count), ig_dim_of(0), ig_dim_of(0)),
                            2, none));
    } else {
        ig_value *places = places_of(m, running_count(m, mask), count);
        ig_resolver_replace(m, 0, coordinates(m, places, type));
    }
    ig_op_erase(m->op);
    return IG_OK;
}

/* ---- unique ---- */

/* Elements in an order in which equal ones are neighbours, and where each stood. */
typedef struct ordered {
    ig_value *values, *at;
    ig_dim count;
} ordered;

static ordered put_in_order(ig_resolver *m, ig_value *x) {
    ordered o = { x, NULL, x->type->dims[0] };
    if (ig_attr_int(m->op, IG_unique_order, 0) == IG_UNIQUE_runs) {
        o.at = iota(m, o.count);
        return o;
    }
    ig_attr attrs[IG_sort_attr_count] = { [IG_sort_axis] = ig_attr_of_int(0) };
    ig_op_spec spec = { .operands = &x,
                        .operand_count = 1,
                        .result_count = 2,
                        .attrs = attrs,
                        .loc = m->op->loc };
    ig_op *sort = ig_make_op(&m->b, IG_OP_sort, &spec);
    o.values = &sort->results[0];
    o.at = &sort->results[1];
    return o;
}

/* Is each element another than the one before it?  The first is compared with what
 * stands there by clamping, so it is put right by its position. */
static ig_value *begins(ig_resolver *m, const ordered *o) {
    ig_value *at = iota(m, o->count), *zero = ig_make_i64(&m->b, 0);
    ig_value *before = ig_make2(&m->b, IG_OP_max, add(m, at, -1), zero);
    ig_value *differs = ig_make2(&m->b, IG_OP_ne, o->values,
                                 gather(m, o->values, before));
    if (ig_dtype_is_float((ig_dtype)o->values->type->dtype)) {
        ig_value *is_nan = ig_make1(&m->b, IG_OP_isnan, o->values);
        ig_value *was_nan = gather(m, is_nan, before);
        ig_value *both = ig_make2(&m->b, IG_OP_and, is_nan, was_nan);
        differs = ig_make2(&m->b, IG_OP_and, differs, ig_make1(&m->b, IG_OP_not, both));
    }
    ig_value *is_first = ig_make2(&m->b, IG_OP_eq, at, zero);
    return ig_make2(&m->b, IG_OP_or, differs, is_first);
}

/* y with y[at[i]] = x[i], for a permutation `at`. */
static ig_value *put_back(ig_resolver *m, ig_value *at, ig_value *x) {
    ig_value *operands[] = { at, at, x };
    return make(m, IG_OP_scatter_elements, 3, operands, IG_scatter_elements_axis,
                ig_attr_of_int(0));
}

/* The four results by classes that are numbered as they lie in order. */
typedef struct classes {
    ig_value *values, *first, *inverse, *copies;
} classes;

/* Numbers classes by where they stood first. */
static void order_by_first(ig_resolver *m, classes *c) {
    ig_attr attrs[IG_sort_attr_count] = { [IG_sort_axis] = ig_attr_of_int(0) };
    ig_op_spec spec = { .operands = &c->first,
                        .operand_count = 1,
                        .result_count = 2,
                        .attrs = attrs,
                        .loc = m->op->loc };
    ig_op *sort = ig_make_op(&m->b, IG_OP_sort, &spec);
    ig_value *order = &sort->results[1];
    ig_value *number = put_back(m, order, iota(m, order->type->dims[0]));
    c->values = gather(m, c->values, order);
    c->copies = gather(m, c->copies, order);
    c->inverse = gather(m, number, c->inverse);
    c->first = &sort->results[0];
}

ig_status ig_resolve_unique(ig_resolver *m) {
    ig_op *op = m->op;
    ig_value *x = op->operands[0].value;
    if (ig_attr_is_set(op, IG_unique_axis) && x->type->rank != 1) {
        return IG_OK; /* resolve_shapes refuses it later */
    }
    ordered o = put_in_order(m, flat(m, x));
    ig_value *mask = begins(m, &o), *running = running_count(m, mask);
    ig_dim count = ig_resolver_extent(m, 1, 0);
    ig_resolver_bind(m, total_count(m, mask), &count, 1);
    ig_value *starts = places_of(m, running, count);
    ig_value *last = ig_make_dims(&m->b, &o.count, 1);
    ig_value *parts[] = { starts, last };
    ig_value *ends = make(m, IG_OP_concat, 2, parts, IG_concat_axis, ig_attr_of_int(0));
    classes c = { gather(m, o.values, starts), gather(m, o.at, starts),
                  put_back(m, o.at, add(m, running, -1)),
                  ig_make2(&m->b, IG_OP_sub, cut(m, ends, ig_dim_of(1), count),
                           starts) };
    if (ig_attr_int(op, IG_unique_order, 0) == IG_UNIQUE_first) {
        order_by_first(m, &c);
    }
    ig_resolver_replace(m, 0, c.values);
    ig_resolver_replace(m, 1, c.first);
    ig_resolver_replace(m, 2, c.inverse);
    ig_resolver_replace(m, 3, c.copies);
    ig_op_erase(op);
    return IG_OK;
}
