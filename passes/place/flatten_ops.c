/* flatten_sequences, op by op: each by its effect on elements and extents.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     seq_at %s, %i            the row of extents at i, bound to symbols; the elements
 *                              from as many on as the items before have
 *     seq_insert, seq_erase    both parts up to the position, and from it on
 *     seq_concat               along the first axis the elements as they are; else they
 *                              are looked up, place by place
 *     split_to_seq             the other way round, by scattering
 *     opt_none, opt_make       no item or one; of a sequence its parts, and the third
 *
 * Positions and extents are data, so guards check the run's values.
 */
#include "passes/place/flatten.h"

#include <assert.h>

static const char from_data[] = "a number that a sequence holds";

/* ---- small things ---- */

static ig_value *scalar_of(ig_expr *e, ig_dim dim) {
    return ig_expr_dim(e, dim, IG_DT_i64);
}

static ig_dim count_of(const ig_parts *s) {
    return s->extents->type->dims[0];
}

static uint32_t rank_of(const ig_parts *s) {
    return (uint32_t)ig_dim_value(s->extents->type->dims[1]);
}

/* Are the items of any rank? */
static bool is_any(const ig_parts *s) {
    return rank_of(s) == IG_FLATTEN_ANY;
}

/* The first number of x, which has one. */
static ig_value *only_number(ig_expr *e, ig_value *x) {
    x = ig_expr_flatten(e, ig_expr_cast(e, x, IG_DT_i64));
    x = ig_expr_slice(e, x, 0, ig_dim_of(0), ig_dim_of(1), 1);
    return ig_expr_reshape(e, x, 0, NULL);
}

static bool has_no_number(ig_flatten *f, const ig_value *x) {
    return ig_dim_equal(f->module, ig_type_count(f->module, x->type), ig_dim_of(1)) ==
           IG_NO;
}

static ig_status report_refusal(ig_flatten *f, const ig_op *op, ig_status status,
                                const char *what) {
    return ig_error(&f->module->context->diag, status, ig_op_location(op), "%s: %s",
                    ig_ops[op->code].name, what);
}

/* A vector's numbers as the extents of a result; those that the result's type knows
 * already must be equal. */
static void bind_result(ig_flatten *f, ig_expr *e, ig_value *vector, ig_value *result) {
    ig_dim found[IG_TENSOR_RANK];
    uint32_t rank = result->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        ig_dim dim = result->type->dims[d];
        const ig_symbol *symbol = ig_dim_as_symbol(f->module, dim);
        uint32_t id = symbol ? ig_symbol_index(f->module, dim) : 0;
        bool is_free = symbol && !ig_symbol_is_defined(symbol) &&
                       !ig_map_get_id(&f->known, id);
        if (is_free) {
            ig_map_set_id(&f->known, id, f);
        }
        found[d] = is_free ? dim : ig_expr_symbol(e, "n", from_data);
    }
    if (rank == 0) {
        return;
    }
    (void)ig_build_bind(e, vector, (ig_bind_attrs){ .symbols = { found, rank } });
    for (uint32_t d = 0; d < rank; d++) {
        ig_expr_guard_equal(e, found[d], result->type->dims[d],
                            "an item of a sequence has other extents");
    }
}

/* As many elements of a list as the result takes, which it becomes. */
static void give_elements(ig_expr *e, ig_value *list, ig_dim start, ig_value *result) {
    const ig_type *type = result->type;
    ig_dim count = ig_type_count(e->module, type);
    ig_value *part = ig_expr_slice(e, list, 0, start, count, 1);
    ig_value_replace(result, ig_expr_reshape(e, part, type->rank, type->dims));
}

/* ---- positions ---- */

/* Position `x` among `count`, from the end when negative, which is `last` at most;
 * NULL: `last`. */
static ig_dim position_of(ig_expr *e, ig_dim count, ig_value *x, ig_dim last) {
    ig_dim position = last;
    if (x) {
        ig_value *given = only_number(e, x);
        ig_value *is_back = ig_expr_with_integer(e, IG_OP_lt, given, 0);
        ig_value *back = ig_build_add(e, given, scalar_of(e, count));
        ig_expr_bind_dims(e, ig_build_where(e, is_back, back, given), 1, from_data,
                          &position);
    }
    ig_expr_guard_less_equal(e, position, last,
                             "a position is outside of its sequence");
    return position;
}

/* How many elements each item has. */
static ig_value *sizes_of(ig_expr *e, const ig_parts *s) {
    ig_dim count = count_of(s);
    ig_value *rows = is_any(s) ? ig_expr_slice(e, s->extents, 1, ig_dim_of(1),
                                               ig_dim_of(IG_TENSOR_RANK), 1)
                               : s->extents;
    return rank_of(s) ? ig_expr_reduce_axis(e, IG_REDUCE_prod, rows, 1, false)
                      : ig_expr_fill(e, IG_DT_i64, 1, &count, 1);
}

static ig_value *as_vector(ig_expr *e, ig_value *scalar) {
    ig_dim one = ig_dim_of(1);
    return ig_expr_reshape(e, scalar, 1, &one);
}

/* How many elements the items before a position have. */
static ig_value *elements_before(ig_expr *e, ig_value *sizes, ig_dim position) {
    ig_value *before = ig_expr_slice(e, sizes, 0, ig_dim_of(0), position, 1);
    return as_vector(e, ig_expr_reduce_axis(e, IG_REDUCE_sum, before, 0, false));
}

/* x up to `until`, `middle` (or nothing), and x from `from` on. */
static ig_value *splice_parts(ig_expr *e, ig_value *x, ig_dim until, ig_value *middle,
                              ig_dim from) {
    ig_dim rest = ig_dim_sub(e->module, x->type->dims[0], from);
    ig_value *head = ig_expr_slice(e, x, 0, ig_dim_of(0), until, 1);
    ig_value *tail = ig_expr_slice(e, x, 0, from, rest, 1);
    ig_value *pieces[] = { head, middle ? middle : tail, tail };
    return ig_expr_concat(e, 0, pieces, middle ? 3 : 2);
}

/* ---- one item in or out ---- */

uint32_t ig_flatten_width(const ig_type *item) {
    return item->kind == IG_ANY ? IG_FLATTEN_ANY : item->rank;
}

/* Rows for items of any rank, of rows for items of one. */
static ig_value *widen_rows(ig_expr *e, ig_value *rows) {
    uint32_t rank = (uint32_t)ig_dim_value(rows->type->dims[1]);
    ig_dim first[] = { rows->type->dims[0], ig_dim_of(1) };
    ig_dim rest[] = { first[0], ig_dim_of(IG_TENSOR_RANK - rank) };
    ig_value *pieces[] = { ig_expr_fill(e, IG_DT_i64, 2, first, rank), rows,
                           ig_expr_fill(e, IG_DT_i64, 2, rest, 1) };
    return ig_expr_concat(e, 1, pieces, 3);
}

ig_parts ig_flatten_widen(ig_expr *e, ig_parts parts, const ig_type *type) {
    while (type->element) {
        type = type->element;
    }
    if (type->kind == IG_ANY && !is_any(&parts)) {
        parts.extents = widen_rows(e, parts.extents);
    }
    return parts;
}

/* The item's row of extents, in a sequence or an optional of `type`, or as that. */
static ig_value *row_of(ig_expr *e, const ig_value *item, const ig_type *type) {
    ig_dim dims[] = { ig_dim_of(1), ig_dim_of(item->type->rank) };
    ig_value *row = ig_expr_dims(e, item->type->dims, item->type->rank);
    row = ig_expr_reshape(e, row, 2, dims);
    type = type->element ? type->element : type;
    return type->kind == IG_ANY ? widen_rows(e, row) : row;
}

ig_parts ig_flatten_item(ig_expr *e, ig_value *item, const ig_type *type) {
    assert(item->type->kind == IG_TENSOR && "one of any rank has parts");
    return (ig_parts){ .elements = ig_expr_flatten(e, item),
                       .extents = row_of(e, item, type) };
}

/* The same of an item that may be one of any rank. */
static ig_parts parts_of(const ig_flatten *f, ig_expr *e, ig_value *item,
                         const ig_type *type) {
    return item->type->kind == IG_ANY ? *ig_flatten_parts(f, item)
                                      : ig_flatten_item(e, item, type);
}

/* The sequence that is there. */
static void take_sequence(ig_flatten *f, ig_expr *e, ig_op *op, const ig_parts *s) {
    ig_dim count;
    ig_expr_bind_dims(e, ig_expr_cast(e, s->there, IG_DT_i64), 1, from_data, &count);
    ig_dim last = ig_dim_sub(f->module, count, ig_dim_of(1));
    (void)position_of(e, count, op->operands[1].value, last);
    ig_flatten_set(f, op->results, (ig_parts){ s->elements, s->extents, NULL });
}

/* The item at a position, as a tensor of any rank. */
static void keep_item(ig_flatten *f, ig_expr *e, ig_op *op, const ig_parts *s,
                      ig_dim at, ig_dim start) {
    ig_dim one = ig_dim_of(1), count;
    ig_value *size = ig_expr_slice(e, sizes_of(e, s), 0, at, one, 1);
    ig_expr_bind_dims(e, size, 1, from_data, &count);
    ig_value *elements = ig_expr_slice(e, s->elements, 0, start, count, 1);
    ig_value *extents = ig_expr_slice(e, s->extents, 0, at, one, 1);
    ig_flatten_set(f, op->results, (ig_parts){ elements, extents, NULL });
}

static ig_status flatten_at(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_parts *s = ig_flatten_parts(f, op->operands[0].value);
    ig_dim last = ig_dim_sub(f->module, count_of(s), ig_dim_of(1)), start;
    if (has_no_number(f, op->operands[1].value)) {
        return report_refusal(f, op, IG_INVALID, "a position is one number");
    }
    if (s->there) {
        take_sequence(f, e, op, s);
        return IG_OK;
    }
    if (ig_dim_is(count_of(s), 0)) {
        return report_refusal(f, op, IG_UNSUPPORTED, "the list has no items");
    }
    ig_dim at = position_of(e, count_of(s), op->operands[1].value, last);
    ig_value *before = elements_before(e, sizes_of(e, s), at);
    ig_expr_bind_dims(e, before, 1, from_data, &start);
    if (is_any(s)) {
        keep_item(f, e, op, s, at, start);
        return IG_OK;
    }
    if (rank_of(s)) {
        bind_result(f, e, ig_expr_select(e, s->extents, 0, at), op->results);
    }
    give_elements(e, s->elements, start, op->results);
    return IG_OK;
}

static ig_status flatten_insert(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_type *type = op->results->type;
    ig_parts parts = *ig_flatten_parts(f, op->operands[0].value);
    const ig_parts *s = &parts;
    parts = ig_flatten_widen(e, parts, type);
    ig_value *item = op->operands[1].value, *given = ig_op_operand(op, 2);
    ig_dim count = count_of(s), start = s->elements->type->dims[0];
    if (given && has_no_number(f, given)) {
        return report_refusal(f, op, IG_INVALID, "a position is one number");
    }
    ig_dim at = position_of(e, count, given, count);
    if (given) {
        ig_value *before = elements_before(e, sizes_of(e, s), at);
        ig_expr_bind_dims(e, before, 1, from_data, &start);
    }
    ig_parts own = parts_of(f, e, item, type);
    ig_value *elements = splice_parts(e, s->elements, start, own.elements, start);
    ig_value *extents = splice_parts(e, s->extents, at, own.extents, at);
    ig_flatten_set(f, op->results, (ig_parts){ elements, extents, NULL });
    return IG_OK;
}

static ig_status flatten_erase(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_parts *s = ig_flatten_parts(f, op->operands[0].value);
    ig_value *given = ig_op_operand(op, 1);
    ig_dim one = ig_dim_of(1), last = ig_dim_sub(f->module, count_of(s), one);
    if (given && has_no_number(f, given)) {
        return report_refusal(f, op, IG_INVALID, "a position is one number");
    }
    if (ig_dim_is(count_of(s), 0)) {
        return report_refusal(f, op, IG_UNSUPPORTED, "the list has no items");
    }
    ig_expr_guard_less_equal(e, one, count_of(s), "the sequence is empty");
    ig_dim at = position_of(e, count_of(s), given, last);
    ig_value *sizes = sizes_of(e, s);
    ig_value *before = elements_before(e, sizes, at);
    ig_value *ends[] = { before, ig_expr_slice(e, sizes, 0, at, one, 1) };
    ig_dim found[2];
    ig_expr_bind_dims(e, ig_expr_concat(e, 0, ends, 2), 2, from_data, found);
    ig_dim until = found[0], from = ig_dim_add(f->module, found[0], found[1]);
    ig_value *elements = splice_parts(e, s->elements, until, NULL, from);
    ig_value *extents = splice_parts(e, s->extents, at, NULL,
                                     ig_dim_add(f->module, at, one));
    ig_flatten_set(f, op->results, (ig_parts){ elements, extents, NULL });
    return IG_OK;
}

/* ---- sequences made at once ---- */

static ig_parts no_parts(ig_expr *e, const ig_type *item) {
    ig_dim none = ig_dim_of(0), rows[] = { none, ig_dim_of(ig_flatten_width(item)) };
    return (ig_parts){ .elements = ig_expr_fill(e, (ig_dtype)item->dtype, 1, &none, 0),
                       .extents = ig_expr_fill(e, IG_DT_i64, 2, rows, 0) };
}

static ig_status flatten_empty(ig_flatten *f, ig_expr *e, ig_op *op) {
    ig_flatten_set(f, op->results, no_parts(e, op->results->type->element));
    return IG_OK;
}

static ig_status flatten_none(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_type *held = op->results->type->element;
    ig_parts parts = no_parts(e, held->kind == IG_SEQUENCE ? held->element : held);
    if (held->kind == IG_SEQUENCE) {
        parts.there = ig_expr_number(e, IG_DT_bool, 0);
    }
    ig_flatten_set(f, op->results, parts);
    return IG_OK;
}

static ig_status flatten_make(ig_flatten *f, ig_expr *e, ig_op *op) {
    uint32_t count = op->operand_count;
    ig_value **elements = IG_NEW_ARRAY(f->run->scratch, ig_value *, count);
    ig_value **extents = IG_NEW_ARRAY(f->run->scratch, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_parts own = parts_of(f, e, op->operands[i].value, op->results->type);
        elements[i] = own.elements;
        extents[i] = own.extents;
    }
    ig_value *all = ig_expr_concat(e, 0, elements, count);
    ig_value *rows = ig_expr_concat(e, 0, extents, count);
    ig_flatten_set(f, op->results, (ig_parts){ all, rows, NULL });
    return IG_OK;
}

/* An optional of a tensor, which is made as a sequence of one, or of a sequence. */
static ig_status flatten_optional(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_value *held = op->operands[0].value;
    if (held->type->kind == IG_TENSOR) {
        return flatten_make(f, e, op);
    }
    ig_parts parts = *ig_flatten_parts(f, held);
    parts.there = ig_expr_number(e, IG_DT_bool, 1);
    ig_flatten_set(f, op->results, parts);
    return IG_OK;
}

static ig_status flatten_length(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_parts *s = ig_flatten_parts(f, op->operands[0].value);
    ig_value_replace(op->results, s->there ? ig_expr_cast(e, s->there, IG_DT_i64)
                                           : scalar_of(e, count_of(s)));
    return IG_OK;
}

/* ---- pieces of an axis ---- */

/* A tensor [outer, extent, inner] whose axis in the middle is made of pieces. */
typedef struct pieces {
    ig_value *lengths; /* i64[n]: of the pieces */
    ig_value *starts;  /* i64[n]: where their elements begin in the list */
    ig_dim outer, extent, inner;
} pieces;

static ig_value *spread_axis(ig_expr *e, ig_value *vector) {
    return ig_expr_along(e, vector, 1, 3);
}

/* The position in the list of each element of the tensor: i64[outer, extent, inner].
 * The piece that index j of the axis is in is as many as end at j or before. */
static ig_value *positions_of(ig_expr *e, const pieces *p) {
    ig_value *ends = ig_build_cumsum(e, p->lengths, (ig_cumsum_attrs){ .axis = 0 });
    ig_value *index = ig_expr_iota(e, IG_DT_i64, p->extent);
    ig_value *is_past = ig_build_le(e, ig_expr_unsqueeze(e, ends, 0),
                                    ig_expr_unsqueeze(e, index, 1));
    ig_value *piece = ig_expr_cast(e, is_past, IG_DT_i64);
    piece = ig_expr_reduce_axis(e, IG_REDUCE_sum, piece, 1, false);
    ig_value *length = ig_expr_gather(e, p->lengths, piece, 0, IG_NEGATIVE_error);
    ig_value *start = ig_expr_gather(e, p->starts, piece, 0, IG_NEGATIVE_error);
    ig_value *end = ig_expr_gather(e, ends, piece, 0, IG_NEGATIVE_error);
    ig_value *begin = ig_build_sub(e, end, length), *inner = scalar_of(e, p->inner);
    ig_value *within = ig_build_mul(e, ig_build_sub(e, index, begin), inner);
    ig_value *base = ig_build_add(e, start, within);
    ig_value *stride = ig_build_mul(e, length, inner);
    ig_value *outer = ig_expr_axis_iota(e, 3, 0, p->outer);
    ig_value *row = ig_build_mul(e, outer, spread_axis(e, stride));
    ig_value *position = ig_build_add(e, row, spread_axis(e, base));
    return ig_build_add(e, position, ig_expr_axis_iota(e, 3, 2, p->inner));
}

/* The sums of all numbers before each. */
static ig_value *sums_before(ig_expr *e, ig_value *numbers) {
    return ig_build_cumsum(e, numbers,
                           (ig_cumsum_attrs){ .axis = 0, .exclusive = true });
}

/* ---- joining ---- */

static uint32_t axis_of(const ig_op *op, uint32_t slot, uint32_t rank) {
    int64_t axis = ig_attr_int(op, slot, 0);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* The extents that all items share; the extent of `axis` (rank: no axis) is their
 * sum. */
static void common_extents(ig_expr *e, const ig_parts *s, uint32_t axis,
                           ig_dim *out_dims) {
    uint32_t rank = rank_of(s);
    ig_dim found[2 * IG_TENSOR_RANK];
    if (rank == 0) {
        return;
    }
    ig_value *ends[] = { ig_expr_reduce_axis(e, IG_REDUCE_min, s->extents, 0, false),
                         NULL };
    ends[1] = ig_expr_reduce_axis(e, IG_REDUCE_max, s->extents, 0, false);
    ig_expr_bind_dims(e, ig_expr_concat(e, 0, ends, 2), 2 * rank, from_data, found);
    for (uint32_t d = 0; d < rank; d++) {
        out_dims[d] = found[d];
        if (d != axis) {
            ig_expr_guard_equal(e, found[d], found[rank + d],
                                "the extents of the items of a sequence differ");
        }
    }
    if (axis < rank) {
        ig_value *along = ig_expr_select(e, s->extents, 1, ig_dim_of(axis));
        along = ig_expr_reduce_axis(e, IG_REDUCE_sum, along, 0, false);
        ig_expr_bind_dims(e, along, 1, from_data, &out_dims[axis]);
    }
}

/* Items that differ along `axis` alone, which is not the first. */
static ig_value *join_items(ig_expr *e, const ig_parts *s, const ig_type *type,
                            uint32_t axis) {
    ig_module *m = e->module;
    pieces p = { .outer = ig_dim_product(m, type->dims, axis),
                 .extent = type->dims[axis],
                 .inner = ig_dim_product(m, type->dims + axis + 1,
                                         type->rank - axis - 1) };
    p.lengths = ig_expr_select(e, s->extents, 1, ig_dim_of(axis));
    p.starts = sums_before(e, sizes_of(e, s));
    return ig_expr_gather(e, s->elements, positions_of(e, &p), 0, IG_NEGATIVE_error);
}

static ig_status flatten_concat(ig_flatten *f, ig_expr *e, ig_op *op) {
    const ig_parts *s = ig_flatten_parts(f, op->operands[0].value);
    ig_value *result = op->results;
    const ig_type *type = result->type;
    bool is_stack = ig_attr_int(op, IG_seq_concat_stack, 0) != 0;
    uint32_t axis = axis_of(op, IG_seq_concat_axis, type->rank), to = 0;
    ig_dim items[IG_TENSOR_RANK], dims[IG_TENSOR_RANK];
    ig_expr_guard_less_equal(e, ig_dim_of(1), count_of(s),
                             "an empty sequence has no shape to join");
    common_extents(e, s, is_stack ? rank_of(s) : axis, items);
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = is_stack && d == axis ? count_of(s) : items[to++];
    }
    bind_result(f, e, ig_expr_dims(e, dims, type->rank), result);
    if (axis == 0) {
        give_elements(e, s->elements, ig_dim_of(0), result);
        return IG_OK;
    }
    ig_value *y;
    if (is_stack) {
        ig_dim rows[IG_TENSOR_RANK] = { type->dims[axis] };
        for (uint32_t d = 0, at = 1; d < type->rank; d++) {
            if (d != axis) {
                rows[at++] = type->dims[d];
            }
        }
        ig_dim count = ig_type_count(f->module, type);
        y = ig_expr_slice(e, s->elements, 0, ig_dim_of(0), count, 1);
        y = ig_expr_reshape(e, y, type->rank, rows);
        y = ig_expr_move_axis(e, y, 0, axis);
    } else {
        y = join_items(e, s, type, axis);
    }
    ig_value_replace(result, ig_expr_reshape(e, y, type->rank, type->dims));
    return IG_OK;
}

/* ---- splitting ---- */

/* Lengths of pieces: 1 each, those of a list, or of one number, the last shorter. */
static ig_value *lengths_of(ig_expr *e, ig_dim extent, ig_value *sizes) {
    ig_dim one = ig_dim_of(1), found[2];
    if (!sizes) {
        return ig_expr_fill(e, IG_DT_i64, 1, &extent, 1);
    }
    sizes = ig_expr_cast(e, sizes, IG_DT_i64);
    if (sizes->type->rank == 1) {
        ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, sizes, 0, false);
        ig_value *min = ig_expr_reduce_axis(e, IG_REDUCE_min, sizes, 0, false);
        ig_value *ends[] = { as_vector(e, sum), as_vector(e, min) };
        ig_expr_bind_dims(e, ig_expr_concat(e, 0, ends, 2), 2, from_data, found);
        ig_expr_guard_equal(e, found[0], extent,
                            "the sizes of pieces do not add up to the extent");
        return sizes;
    }
    ig_expr_bind_dims(e, sizes, 1, from_data, found);
    ig_expr_guard_less_equal(e, one, found[0], "a piece has no elements");
    ig_dim count = ig_dim_ceil_div(e->module, extent, found[0]);
    ig_value *begin = ig_build_mul(e, ig_expr_iota(e, IG_DT_i64, count), sizes);
    ig_value *rest = ig_build_sub(e, scalar_of(e, extent), begin);
    return ig_build_min(e, rest, sizes);
}

/* A row for each piece: x's extents, and its own length along the axis, if that
 * stays. */
static ig_value *rows_of(ig_expr *e, const ig_value *x, uint32_t axis, bool keep,
                         ig_value *lengths) {
    ig_dim dims[IG_TENSOR_RANK], rows[2] = { lengths->type->dims[0] };
    uint32_t rank = 0;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        if (keep || d != axis) {
            dims[rank++] = x->type->dims[d];
        }
    }
    rows[1] = ig_dim_of(rank);
    ig_value *all = ig_expr_expand(e, ig_expr_dims(e, dims, rank), 2, rows);
    if (!keep) {
        return all;
    }
    ig_value *is_axis = ig_expr_with_integer(e, IG_OP_eq,
                                             ig_expr_axis_iota(e, 2, 1, rows[1]), axis);
    return ig_build_where(e, is_axis, ig_expr_unsqueeze(e, lengths, 1), all);
}

static ig_value *cut_pieces(ig_expr *e, ig_value *x, uint32_t axis, ig_value *lengths) {
    ig_module *m = e->module;
    const ig_type *type = x->type;
    ig_dim count = ig_type_count(m, type);
    pieces p = { .lengths = lengths,
                 .outer = ig_dim_product(m, type->dims, axis),
                 .extent = type->dims[axis],
                 .inner = ig_dim_product(m, type->dims + axis + 1,
                                         type->rank - axis - 1) };
    ig_value *around = scalar_of(e, ig_dim_mul(m, p.outer, p.inner));
    p.starts = ig_build_mul(e, sums_before(e, lengths), around);
    ig_value *positions = ig_expr_flatten(e, positions_of(e, &p));
    ig_value *base = ig_expr_fill(e, (ig_dtype)type->dtype, 1, &count, 0);
    return ig_build_scatter_elements(e, base, positions, ig_expr_flatten(e, x),
                                     (ig_scatter_elements_attrs){ .axis = 0 });
}

static ig_status flatten_split(ig_flatten *f, ig_expr *e, ig_op *op) {
    ig_value *x = op->operands[0].value, *sizes = ig_op_operand(op, 1);
    uint32_t axis = axis_of(op, IG_split_to_seq_axis, x->type->rank);
    bool keep = sizes || ig_attr_int(op, IG_split_to_seq_keep, 0) != 0;
    if (x->type->dtype == IG_DT_str && axis > 0 && sizes) {
        return report_refusal(f, op, IG_UNSUPPORTED,
                              "compiled code cuts texts along their first axis only");
    }
    ig_value *lengths = lengths_of(e, x->type->dims[axis], sizes);
    ig_value *extents = rows_of(e, x, axis, keep, lengths);
    ig_value *elements = axis == 0 ? x
                         : sizes   ? cut_pieces(e, x, axis, lengths)
                                   : ig_expr_move_axis(e, x, axis, 0);
    ig_flatten_set(f, op->results,
                   (ig_parts){ ig_expr_flatten(e, elements), extents, NULL });
    return IG_OK;
}

const ig_flatten_fn ig_flatten_fns[IG_OP_COUNT] = {
    [IG_OP_seq_empty] = flatten_empty,   [IG_OP_seq_make] = flatten_make,
    [IG_OP_seq_insert] = flatten_insert, [IG_OP_seq_erase] = flatten_erase,
    [IG_OP_seq_at] = flatten_at,         [IG_OP_seq_length] = flatten_length,
    [IG_OP_seq_concat] = flatten_concat, [IG_OP_split_to_seq] = flatten_split,
    [IG_OP_opt_none] = flatten_none,     [IG_OP_opt_make] = flatten_optional,
};
