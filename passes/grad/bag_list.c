/* Ids of bags, and what their rows get: see bag_list.h; the rules of ids and offsets
 * are
 * those of ir/fold/bag.c.  SPDX-License-Identifier: Apache-2.0
 *
 * All forms of a feature become one list of ids: which row each is, whether it counts,
 * and which bag it is in. */
#include "passes/grad/bag_list.h"

#include "passes/grad/rule.h"

#include <assert.h>

static ig_value *result_of(const ig_bag_list *f) {
    return ig_op_result(f->op, f->index);
}

static ig_value *operand_of(const ig_bag_list *f, uint32_t index) {
    return f->op->operands[index].value;
}

static ig_value *and_also(ig_expr *e, ig_value *a, ig_value *b) {
    return a && b ? ig_build_and(e, a, b) : a ? a : b;
}

static ig_value *number_of(const ig_bag_list *f, ig_dim dim) {
    return ig_expr_dim(f->e, dim, IG_DT_i64);
}

/* The part of x, of all ids, for the ids in the list. */
static ig_value *of_position(const ig_bag_list *f, ig_value *x) {
    return f->position ? ig_expr_gather(f->e, x, f->position, 0, IG_NEGATIVE_error) : x;
}

/* ---- ids ---- */

/* As fold has it: padding is left out before anything else, -1 may count; then ids out
 * of range are moved. */
static void read_ids(ig_bag_list *f) {
    ig_expr *e = f->e;
    ig_bag_attrs attrs = ig_bag_attrs_of(f->op);
    ig_value *raw = ig_expr_flatten(e, operand_of(f, f->at.ids));
    raw = of_position(f, ig_expr_cast(e, raw, IG_DT_i64));
    ig_value *rows = number_of(f, f->table->type->dims[0]);
    f->id = raw;
    if (attrs.negative == IG_NEGATIVE_wrap) {
        ig_value *is_negative = ig_expr_with(e, IG_OP_lt, raw, 0);
        f->id = ig_build_where(e, is_negative, ig_build_add(e, raw, rows), raw);
    }
    if (f->at.padding != INT64_MIN) {
        f->counts = ig_expr_with_integer(e, IG_OP_ne, f->id, f->at.padding);
    }
    f->is_row = f->counts;
    if (attrs.negative == IG_NEGATIVE_skip) {
        f->is_row = and_also(e, f->counts, ig_expr_with(e, IG_OP_ne, raw, -1));
    }
    if (attrs.range != IG_RANGE_error) {
        ig_value *last = ig_expr_with(e, IG_OP_sub, rows, 1);
        ig_value *near = ig_build_max(e, f->id, ig_expr_integer(e, IG_DT_i64, 0));
        near = ig_build_min(e, near, last);
        ig_value *is_moved = ig_build_ne(e, near, f->id);
        bool is_first = attrs.range == IG_RANGE_first;
        f->id = is_first ? ig_grad_unless(e, is_moved, f->id) : near;
    }
}

/* ---- bags ---- */

/* Ids side by side: each bag has as many. */
static void read_rectangle(ig_bag_list *f) {
    ig_expr *e = f->e;
    const ig_type *ids = operand_of(f, f->at.ids)->type;
    ig_value *number = ig_expr_axis_iota(e, 2, 0, ids->dims[0]);
    ig_value *length = ig_expr_dim(e, ids->dims[1], IG_DT_i64);
    ig_value *first = ig_build_mul(e, number, length);
    f->bag = ig_expr_flatten(e, ig_expr_expand(e, number, 2, ids->dims));
    f->first = ig_expr_flatten(e, ig_expr_expand(e, first, 2, ids->dims));
}

/* Are the bags one after the other, unchanged? */
static bool has_plain_offsets(const ig_bag_list *f) {
    ig_offsets_rule rule = (ig_offsets_rule)ig_bag_attrs_of(f->op).offsets;
    bool is_ordered = rule == IG_OFFSETS_error || rule == IG_OFFSETS_first;
    bool is_plain = f->at.last == IG_LAST_ids || f->at.last == IG_LAST_offset;
    return is_ordered && is_plain && !f->at.ends;
}

static bool are_offsets_moved(const ig_op *op) {
    ig_offsets_rule rule = (ig_offsets_rule)ig_bag_attrs_of(op).offsets;
    return rule == IG_OFFSETS_clamp || rule == IG_OFFSETS_slice;
}

/* The offsets, of which the run reports that they fall, as an index out of range. */
static ig_value *check_order(const ig_bag_list *f, ig_value *offsets) {
    ig_expr *e = f->e;
    ig_value *next = ig_expr_slice(e, offsets, 0, ig_dim_of(1), f->bags, 1);
    ig_value *before = ig_expr_slice(e, offsets, 0, ig_dim_of(0), f->bags, 1);
    ig_value *falls = ig_expr_cast(e, ig_build_lt(e, next, before), IG_DT_i64);
    ig_value *any = ig_expr_reduce(e, IG_REDUCE_max, falls, NULL, 0, false);
    any = ig_expr_with_integer(e, IG_OP_max, any, 0); /* where there is no bag */
    ig_value *zero = ig_expr_ints(e, (int64_t[]){ 0 }, 1);
    return ig_build_add(e, offsets, ig_expr_gather(e, zero, any, 0, IG_NEGATIVE_error));
}

/* Offsets that the bag would move into the ids: moved, and reported where they fall,
 * since an id would be in two bags. */
static ig_value *settle_offsets(const ig_bag_list *f, ig_value *offsets) {
    ig_expr *e = f->e;
    if (!are_offsets_moved(f->op)) {
        return offsets;
    }
    if (ig_bag_attrs_of(f->op).offsets == IG_OFFSETS_slice) {
        ig_value *is_after = ig_expr_with_integer(e, IG_OP_lt, offsets, 0);
        ig_value *moved = ig_build_add(e, offsets, number_of(f, f->count));
        offsets = ig_build_where(e, is_after, moved, offsets);
    }
    offsets = ig_build_max(e, offsets, ig_expr_integer(e, IG_DT_i64, 0));
    offsets = ig_build_min(e, offsets, number_of(f, f->count));
    return check_order(f, offsets);
}

/* The end of the last bag, after the begins; the end of the ids is given. */
static ig_value *close_offsets(const ig_bag_list *f) {
    ig_expr *e = f->e;
    ig_value *offsets = ig_expr_cast(e, operand_of(f, f->at.begins), IG_DT_i64);
    if (f->at.last != IG_LAST_ids) {
        return offsets;
    }
    ig_value *end = ig_expr_unsqueeze(e, number_of(f, f->count), 0);
    return ig_expr_concat(e, 0, (ig_value *[]){ offsets, end }, 2);
}

/* The end of the last bag; for `rest` the end of the ids, where its offset is not its
 * begin. */
static ig_value *last_end(const ig_bag_list *f, ig_value *offsets) {
    ig_expr *e = f->e;
    ig_value *end = ig_expr_select(e, offsets, 0, f->bags);
    if (f->at.last != IG_LAST_rest) {
        return end;
    }
    ig_dim before = ig_dim_sub(e->module, f->bags, ig_dim_of(1));
    ig_value *is_empty = ig_build_eq(e, ig_expr_select(e, offsets, 0, before), end);
    return ig_build_where(e, is_empty, end, number_of(f, f->count));
}

/* How many of the offsets are at each place or before: marks at each, added up. */
static ig_value *count_offsets(const ig_bag_list *f, ig_value *offsets) {
    ig_expr *e = f->e;
    ig_dim positions = ig_dim_add(e->module, f->count, ig_dim_of(1));
    const ig_type *line = ig_type_tensor(e->module, IG_DT_i64, 1, &positions);
    ig_value *near = ig_build_max(e, offsets, ig_expr_integer(e, IG_DT_i64, 0));
    near = ig_build_min(e, near, number_of(f, f->count)); /* others are reported */
    ig_value *ones = near ? ig_expr_fill(e, IG_DT_i64, 1, near->type->dims, 1) : NULL;
    ig_value *marks = ig_grad_add_rows(e, line, near, NULL, ones);
    ig_value *sums = ig_build_cumsum(e, marks, (ig_cumsum_attrs){ .axis = 0 });
    return ig_expr_slice(e, sums, 0, ig_dim_of(0), f->count, 1);
}

/* An id is in the last bag that begins at it or before; after the last end, and before
 * the first begin, in none.  The last offset, where it is an end, begins no bag. */
static void read_offsets(ig_bag_list *f) {
    ig_expr *e = f->e;
    ig_value *offsets = settle_offsets(f, close_offsets(f));
    ig_value *begins = ig_expr_slice(e, offsets, 0, ig_dim_of(0), f->bags, 1);
    bool is_rest = f->at.last == IG_LAST_rest;
    ig_value *bag = count_offsets(f, is_rest ? begins : offsets);
    bag = ig_expr_with(e, IG_OP_sub, bag, 1);
    ig_value *is_in = ig_expr_with(e, IG_OP_ge, bag, 0);
    if (is_rest) {
        ig_value *position = ig_expr_iota(e, IG_DT_i64, f->count);
        is_in = ig_build_and(e, is_in, ig_build_lt(e, position, last_end(f, offsets)));
    } else if (f->at.last != IG_LAST_ids) {
        is_in = ig_build_and(e, is_in, ig_build_lt(e, bag, number_of(f, f->bags)));
    }
    ig_value *last = ig_expr_with(e, IG_OP_sub, number_of(f, f->bags), 1);
    bag = ig_build_min(e, bag, last);
    f->bag = ig_build_max(e, bag, ig_expr_integer(e, IG_DT_i64, 0));
    f->first = ig_expr_gather(e, begins, f->bag, 0, IG_NEGATIVE_error);
    f->is_row = and_also(e, f->is_row, is_in);
    f->counts = and_also(e, f->counts, is_in);
}

/* ---- bags that may overlap, or be anywhere ---- */

/* Negative ones count from the end, where they are read as those of slices. */
static ig_value *count_from_end(const ig_bag_list *f, ig_value *offset, ig_value *ids) {
    ig_expr *e = f->e;
    if (ig_bag_attrs_of(f->op).offsets != IG_OFFSETS_slice) {
        return offset;
    }
    ig_value *is_negative = ig_expr_with(e, IG_OP_lt, offset, 0);
    return ig_build_where(e, is_negative, ig_build_add(e, offset, ids), offset);
}

/* Where the bags of a feature that has begins alone end: with the next one's begin, and
 * the last with the ids, at the next offset, or as `last` says. */
static ig_value *ends_of_begins(ig_bag_list *f, ig_value *offsets, ig_value *begins,
                                ig_value *ids) {
    ig_expr *e = f->e;
    ig_dim one = ig_dim_of(1), others = ig_dim_sub(e->module, f->bags, one);
    if (f->at.last == IG_LAST_ids) {
        ig_value *next = ig_expr_slice(e, offsets, 0, one, others, 1);
        return ig_expr_concat(e, 0,
                              (ig_value *[]){ next, ig_expr_unsqueeze(e, ids, 0) }, 2);
    }
    ig_value *ends = ig_expr_slice(e, offsets, 0, one, f->bags, 1);
    if (f->at.last == IG_LAST_rest) {
        ig_value *number = ig_expr_iota(e, IG_DT_i64, f->bags);
        ig_value *last = ig_expr_dim(e, others, IG_DT_i64);
        ig_value *goes_on = ig_build_ne(e, begins, ends);
        goes_on = ig_build_and(e, ig_build_eq(e, number, last), goes_on);
        ends = ig_build_where(e, goes_on, ids, ends);
    }
    return ends;
}

/* Begins and ends as the rules leave them, and bag by bag the places from one to the
 * other, in a list whose length the run learns. */
static void read_spans(ig_bag_list *f) {
    ig_expr *e = f->e;
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *ids = ig_expr_dim(e, f->ids, IG_DT_i64);
    ig_value *offsets = ig_expr_cast(e, operand_of(f, f->at.begins), IG_DT_i64);
    ig_value *begins = ig_expr_slice(e, offsets, 0, ig_dim_of(0), f->bags, 1);
    ig_value *ends = f->at.ends ? ig_expr_cast(e, operand_of(f, f->at.ends), IG_DT_i64)
                                : ends_of_begins(f, offsets, begins, ids);
    begins = count_from_end(f, begins, ids);
    begins = ig_build_min(e, ig_build_max(e, begins, zero), ids);
    ends = ig_build_min(e, count_from_end(f, ends, ids), ids);
    ends = ig_build_max(e, ends, begins);
    ig_cumsum_attrs all = { .axis = 0, .complete = true };
    ig_value *starts = ig_build_cumsum(e, ig_build_sub(e, ends, begins), all);
    ig_value *total = ig_expr_slice(e, starts, 0, f->bags, ig_dim_of(1), 1);
    ig_expr_bind_dims(e, total, 1, "ids in the bags of a look-up", &f->count);
    ig_value *number = ig_expr_iota(e, IG_DT_i64, f->count);
    ig_value *past = ig_expr_slice(e, starts, 0, ig_dim_of(1), f->bags, 1);
    ig_bucketize_attrs right = { .right = true };
    f->bag = ig_build_bucketize(e, number, past, right);
    f->first = ig_expr_gather(e, starts, f->bag, 0, IG_NEGATIVE_error);
    f->position = ig_expr_gather(e, begins, f->bag, 0, IG_NEGATIVE_error);
    number = ig_build_sub(e, number, f->first);
    f->position = ig_build_add(e, f->position, number);
    f->begins = begins;
}

/* ---- a feature ---- */

bool ig_bag_list_may_be_known(const ig_op *bag, uint32_t index) {
    ig_bag_feature at = ig_bag_feature_at(bag, index);
    return !at.ends && at.last != IG_LAST_mean;
}

const char *ig_bag_list_fault(const ig_op *bag, uint32_t index) {
    ig_bag_list f = { .op = bag, .at = ig_bag_feature_at(bag, index) };
    if (f.at.tables > 1) {
        return "an id names one of several tables";
    }
    bool is_none = f.at.pool == IG_POOL_none && f.at.begins;
    return is_none && !has_plain_offsets(&f)
               ? "rows without pooling are of offsets that are moved"
               : NULL;
}

static void count_bags(ig_bag_list *f) {
    ig_module *m = f->e->module;
    f->ids = ig_type_count(m, operand_of(f, f->at.ids)->type);
    f->count = f->ids;
    f->bags = result_of(f)->type->dims[0];
    if (f->at.pool == IG_POOL_none && f->at.begins) {
        ig_dim offsets = operand_of(f, f->at.begins)->type->dims[0];
        f->bags = ig_dim_sub(m, offsets, ig_dim_of(f->at.last != IG_LAST_ids));
    }
}

void ig_bag_list_open(ig_expr *e, const ig_op *bag, uint32_t index, bool is_known,
                      ig_bag_list *out) {
    ig_bag_list *f = out;
    *f = (ig_bag_list){
        .e = e, .op = bag, .index = index, .at = ig_bag_feature_at(bag, index)
    };
    assert((!is_known || ig_bag_list_may_be_known(bag, index)) && "the caller asked");
    f->table = operand_of(f, f->at.table);
    count_bags(f);
    if (f->at.begins && !is_known && !has_plain_offsets(f)) {
        read_spans(f);
        read_ids(f);
    } else {
        read_ids(f);
        if (f->at.begins) {
            read_offsets(f);
        } else if (f->at.pool != IG_POOL_none) {
            read_rectangle(f);
        }
    }
    if (f->at.pool == IG_POOL_none) { /* each id is a bag */
        f->bag = NULL;
    }
}

/* ---- each id's part of its bag ---- */

ig_value *ig_bag_list_of_bag(const ig_bag_list *f, ig_value *x) {
    return f->bag ? ig_expr_gather(f->e, x, f->bag, 0, IG_NEGATIVE_error) : x;
}

/* d [bags, dim], each row divided by what its bag's mean counts. */
static ig_value *divide_by_count(const ig_bag_list *f, ig_value *d) {
    ig_expr *e = f->e;
    ig_dtype dtype = (ig_dtype)d->type->dtype;
    const ig_type *line = ig_type_tensor(e->module, dtype, 1, &f->bags);
    ig_value *ones = ig_expr_fill(e, dtype, 1, &f->count, 1);
    ig_value *counts = ig_grad_add_rows(e, line, f->bag, f->counts, ones);
    if (f->at.last == IG_LAST_mean) { /* of the last bag: of all ids from its begin */
        ig_dim last = ig_dim_sub(e->module, f->bags, ig_dim_of(1));
        ig_value *number = ig_expr_iota(e, IG_DT_i64, f->bags);
        ig_value *is_last = ig_build_eq(e, number, ig_expr_dim(e, last, IG_DT_i64));
        ig_value *all = ig_expr_dim(e, f->ids, IG_DT_i64);
        all = ig_expr_cast(e, ig_build_sub(e, all, f->begins), dtype);
        counts = ig_build_where(e, is_last, all, counts);
    }
    counts = ig_expr_with(e, IG_OP_max, counts, 1);
    return ig_build_div(e, d, ig_expr_unsqueeze(e, counts, 1));
}

ig_value *ig_bag_list_rows(const ig_bag_list *f) {
    ig_value *id = f->is_row ? ig_grad_when(f->e, f->is_row, f->id) : f->id;
    ig_value *rows = ig_expr_gather(f->e, f->table, id, 0, IG_NEGATIVE_error);
    return ig_expr_like(f->e, rows, result_of(f));
}

ig_value *ig_bag_list_weights(const ig_bag_list *f) {
    if (!f->at.weights) {
        return NULL;
    }
    ig_value *weights = ig_expr_flatten(f->e, operand_of(f, f->at.weights));
    weights = of_position(f, weights);
    return ig_expr_like(f->e, ig_expr_unsqueeze(f->e, weights, 1), result_of(f));
}

/* d where the id's row, weighted, is the first in its bag to be the maximum: none
 * before it, as a running count from the begin of the bag says. */
static ig_value *keep_first_maximum(const ig_bag_list *f, ig_value *d) {
    ig_expr *e = f->e;
    ig_value *weights = ig_bag_list_weights(f), *rows = ig_bag_list_rows(f);
    rows = weights ? ig_build_mul(e, rows, weights) : rows;
    ig_value *is_it = ig_build_eq(e, rows, ig_bag_list_of_bag(f, result_of(f)));
    if (f->is_row) {
        is_it = ig_build_and(e, is_it, ig_expr_unsqueeze(e, f->is_row, 1));
    }
    ig_cumsum_attrs before = { .axis = 0, .exclusive = true };
    ig_value *count = ig_build_cumsum(e, ig_expr_cast(e, is_it, IG_DT_i64), before);
    ig_value *earlier = ig_expr_gather(e, count, f->first, 0, IG_NEGATIVE_error);
    ig_value *is_first = ig_build_eq(e, count, earlier);
    return ig_grad_when(e, ig_build_and(e, is_it, is_first), d);
}

ig_value *ig_bag_list_gradients(const ig_bag_list *f, ig_value *dy,
                                ig_value **out_bag) {
    uint32_t rank = dy ? dy->type->rank : 0;
    ig_value *d = rank > 2 ? ig_expr_merge_axes(f->e, dy, 0, rank - 2) : dy;
    d = f->at.pool == IG_POOL_mean ? divide_by_count(f, d) : d;
    *out_bag = f->at.pool == IG_POOL_max ? NULL : f->bag;
    return f->at.pool == IG_POOL_max ? keep_first_maximum(f, ig_bag_list_of_bag(f, d))
                                     : d;
}

ig_value *ig_bag_list_spread(const ig_bag_list *f, ig_value *dy) {
    ig_value *bag, *d = ig_bag_list_gradients(f, dy, &bag);
    return bag ? ig_bag_list_of_bag(f, d) : d;
}
