/* Rules of look-ups in embedding tables, in gradients of whole tables, and of interact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All forms of a feature become one list of ids: which row each is, whether it counts,
 * and which bag it is in.  A row's gradient is the sum of those of its bags. */
#include "ir/bag.h"
#include "passes/grad/rule.h"

#include <string.h>

typedef struct feature {
    ig_grad *g;
    ig_expr *e;
    uint32_t number;
    ig_bag_feature at;
    ig_value *table, *dy, *y; /* dy, y: [bags, dim] */
    ig_dim bags, ids, count;  /* count: ids in the list */
    ig_value *place;          /* i64 [count]: which of the ids each is; NULL: itself */
    ig_value *id;             /* i64 [count]: rows */
    ig_value *is_row; /* bool [count]: an id of a row, in a bag; NULL: all are */
    ig_value *counts; /* the same, and what a mean counts besides */
    ig_value *bag;    /* i64 [count]: its bag's number; NULL: its own */
    ig_value *first;  /* i64 [count]: where that bag begins */
    ig_value *begins; /* i64 [bags], among the ids; NULL: not asked for */
} feature;

static ig_value *and_also(ig_expr *e, ig_value *a, ig_value *b) {
    return a && b ? ig_build_and(e, a, b) : a ? a : b;
}

/* What the ids in the list have of x, of all ids. */
static ig_value *of_place(const feature *f, ig_value *x) {
    return f->place ? ig_expr_gather(f->e, x, f->place, 0, IG_NEGATIVE_error) : x;
}

/* ---- ids ---- */

/* As fold has it: padding is left out before anything else, -1 may count; then ids out
 * of range are moved. */
static void read_ids(feature *f) {
    ig_expr *e = f->e;
    ig_bag_attrs attrs = ig_bag_attrs_of(f->g->op);
    ig_value *raw = ig_expr_flatten(e, ig_grad_x(f->g, f->at.ids));
    raw = of_place(f, ig_expr_cast(e, raw, IG_DT_i64));
    ig_value *rows = ig_expr_dim(e, f->table->type->dims[0], IG_DT_i64);
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
static void read_rectangle(feature *f) {
    ig_expr *e = f->e;
    const ig_type *ids = ig_grad_x(f->g, f->at.ids)->type;
    ig_value *number = ig_expr_axis_iota(e, 2, 0, ids->dims[0]);
    ig_value *length = ig_expr_dim(e, ids->dims[1], IG_DT_i64);
    ig_value *first = ig_build_mul(e, number, length);
    f->bag = ig_expr_flatten(e, ig_expr_expand(e, number, 2, ids->dims));
    f->first = ig_expr_flatten(e, ig_expr_expand(e, first, 2, ids->dims));
}

/* Are the bags one behind the other, as they stand? */
static bool has_plain_offsets(const feature *f) {
    ig_offsets_rule rule = (ig_offsets_rule)ig_bag_attrs_of(f->g->op).offsets;
    bool is_ordered = rule == IG_OFFSETS_error || rule == IG_OFFSETS_first;
    bool is_plain = f->at.last == IG_LAST_ids || f->at.last == IG_LAST_offset;
    return is_ordered && is_plain && !f->at.ends;
}

/* An id is in the last bag that begins at it or before; behind the last end, and before
 * the first begin, in none. */
static void read_offsets(feature *f) {
    ig_expr *e = f->e;
    ig_value *offsets = ig_expr_cast(e, ig_grad_x(f->g, f->at.begins), IG_DT_i64);
    ig_value *begins = ig_expr_slice(e, offsets, 0, ig_dim_of(0), f->bags, 1);
    ig_value *place = ig_expr_iota(e, IG_DT_i64, f->count);
    ig_value *bag = ig_build_bucketize(e, place, begins,
                                       (ig_bucketize_attrs){ .right = true });
    bag = ig_expr_with(e, IG_OP_sub, bag, 1);
    ig_value *is_in = ig_expr_with(e, IG_OP_ge, bag, 0);
    if (f->at.last != IG_LAST_ids) {
        ig_value *end = ig_expr_select(e, offsets, 0, f->bags);
        is_in = ig_build_and(e, is_in, ig_build_lt(e, place, end));
    }
    f->bag = ig_build_max(e, bag, ig_expr_integer(e, IG_DT_i64, 0));
    f->first = ig_expr_gather(e, begins, f->bag, 0, IG_NEGATIVE_error);
    f->is_row = and_also(e, f->is_row, is_in);
    f->counts = and_also(e, f->counts, is_in);
}

/* ---- bags that may overlap, or lie anywhere ---- */

/* Negative ones count from the end, where they are read as those of slices. */
static ig_value *count_from_end(const feature *f, ig_value *offset, ig_value *ids) {
    ig_expr *e = f->e;
    if (ig_bag_attrs_of(f->g->op).offsets != IG_OFFSETS_slice) {
        return offset;
    }
    ig_value *is_negative = ig_expr_with(e, IG_OP_lt, offset, 0);
    return ig_build_where(e, is_negative, ig_build_add(e, offset, ids), offset);
}

/* Where the bags of a feature that has begins alone end: with the next one's begin, and
 * the last with the ids, at the offset behind, or as `last` says. */
static ig_value *ends_of_begins(feature *f, ig_value *offsets, ig_value *begins,
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
static void read_spans(feature *f) {
    ig_expr *e = f->e;
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *ids = ig_expr_dim(e, f->ids, IG_DT_i64);
    ig_value *offsets = ig_expr_cast(e, ig_grad_x(f->g, f->at.begins), IG_DT_i64);
    ig_value *begins = ig_expr_slice(e, offsets, 0, ig_dim_of(0), f->bags, 1);
    ig_value *ends = f->at.ends
                         ? ig_expr_cast(e, ig_grad_x(f->g, f->at.ends), IG_DT_i64)
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
    f->place = ig_expr_gather(e, begins, f->bag, 0, IG_NEGATIVE_error);
    number = ig_build_sub(e, number, f->first);
    f->place = ig_build_add(e, f->place, number);
    f->begins = begins;
}

/* ---- a feature ---- */

/* Why a form has no gradient here; NULL: it has. */
static const char *find_fault(const feature *f) {
    if (f->at.tables > 1) {
        return "an id names one of several tables";
    }
    bool is_none = f->at.pool == IG_POOL_none && f->at.begins;
    return is_none && !has_plain_offsets(f)
               ? "rows without pooling are of offsets that are moved"
               : NULL;
}

static void count_bags(feature *f) {
    ig_module *m = f->e->module;
    f->ids = ig_type_count(m, ig_grad_x(f->g, f->at.ids)->type);
    f->count = f->ids;
    f->bags = f->y->type->dims[0];
    if (f->at.pool == IG_POOL_none && f->at.begins) {
        ig_dim offsets = ig_grad_x(f->g, f->at.begins)->type->dims[0];
        f->bags = ig_dim_sub(m, offsets, ig_dim_of(f->at.last != IG_LAST_ids));
    }
}

static void open_feature(feature *f) {
    f->y = ig_op_result(f->g->op, f->number);
    f->dy = ig_grad_of_result(f->g, f->number);
    count_bags(f);
    if (f->at.begins && !has_plain_offsets(f)) {
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
        uint32_t last = f->y->type->rank - 1;
        f->bag = NULL;
        f->dy = last > 1 ? ig_expr_merge_axes(f->e, f->dy, 0, last - 1) : f->dy;
    }
}

/* ---- what each id gets of its bag ---- */

static ig_value *of_bag(feature *f, ig_value *x) {
    return f->bag ? ig_expr_gather(f->e, x, f->bag, 0, IG_NEGATIVE_error) : x;
}

static ig_value *divide_by_count(feature *f, ig_value *d) {
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
    return ig_build_div(e, d, ig_expr_unsqueeze(e, of_bag(f, counts), 1));
}

static ig_value *rows_of(feature *f) {
    ig_value *id = f->is_row ? ig_grad_when(f->e, f->is_row, f->id) : f->id;
    ig_value *rows = ig_expr_gather(f->e, f->table, id, 0, IG_NEGATIVE_error);
    return ig_expr_like(f->e, rows, f->y);
}

/* d where the id's row, weighted, is the first in its bag to be the maximum: none
 * before it, as a running count from the begin of the bag says. */
static ig_value *keep_first_maximum(feature *f, ig_value *rows, ig_value *d) {
    ig_expr *e = f->e;
    ig_value *is_it = ig_build_eq(e, rows, of_bag(f, f->y));
    if (f->is_row) {
        is_it = ig_build_and(e, is_it, ig_expr_unsqueeze(e, f->is_row, 1));
    }
    ig_cumsum_attrs before = { .axis = 0, .exclusive = true };
    ig_value *count = ig_build_cumsum(e, ig_expr_cast(e, is_it, IG_DT_i64), before);
    ig_value *earlier = ig_expr_gather(e, count, f->first, 0, IG_NEGATIVE_error);
    ig_value *is_first = ig_build_eq(e, count, earlier);
    return ig_grad_when(e, ig_build_and(e, is_it, is_first), d);
}

static ig_value *weights_of(const feature *f) {
    ig_value *weights = ig_expr_flatten(f->e, ig_grad_x(f->g, f->at.weights));
    weights = of_place(f, weights);
    return ig_expr_like(f->e, ig_expr_unsqueeze(f->e, weights, 1), f->y);
}

static void give_weights(feature *f, ig_value *rows, ig_value *d) {
    ig_expr *e = f->e;
    ig_value *weights = ig_grad_x(f->g, f->at.weights);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, ig_build_mul(e, rows, d), 1,
                                        false);
    sum = f->is_row ? ig_grad_when(e, f->is_row, sum) : sum;
    if (f->place) {
        const ig_type *line = ig_type_with_dims(e->module, sum->type, 1, &f->ids);
        sum = ig_grad_add_rows(e, line, f->place, NULL, sum);
    }
    sum = ig_expr_reshape(e, sum, weights->type->rank, weights->type->dims);
    ig_grad_give(f->g, f->at.weights, ig_expr_like(e, sum, weights));
}

static void give_feature(feature *f) {
    ig_expr *e = f->e;
    bool has_weights = f->at.weights != 0, is_max = f->at.pool == IG_POOL_max;
    bool wants_weights = has_weights && ig_grad_wants(f->g, f->at.weights);
    ig_value *weights = has_weights ? weights_of(f) : NULL;
    ig_value *rows = wants_weights || is_max ? rows_of(f) : NULL;
    ig_value *d = of_bag(f, f->dy);
    d = f->at.pool == IG_POOL_mean ? divide_by_count(f, d) : d;
    if (is_max) {
        ig_value *own = has_weights ? ig_build_mul(e, rows, weights) : rows;
        d = keep_first_maximum(f, own, d);
    }
    if (wants_weights) {
        give_weights(f, rows, d);
    }
    if (ig_grad_wants(f->g, f->at.table)) {
        d = ig_expr_like(e, has_weights ? ig_build_mul(e, d, weights) : d, f->table);
        const ig_type *type = f->table->type;
        ig_grad_give(f->g, f->at.table, ig_grad_add_rows(e, type, f->id, f->is_row, d));
    }
}

void ig_grad_bag(ig_grad *g) {
    for (uint32_t i = 0; i < ig_bag_feature_count(g->op); i++) {
        feature f = {
            .g = g, .e = g->e, .number = i, .at = ig_bag_feature_at(g->op, i)
        };
        f.table = ig_grad_x(g, f.at.table);
        bool is_wanted = ig_grad_wants(g, f.at.table) ||
                         (f.at.weights && ig_grad_wants(g, f.at.weights));
        if (!is_wanted || !ig_grad_of_result(g, i)) {
            continue;
        }
        const char *fault = find_fault(&f);
        if (fault) {
            ig_grad_refuse(g, fault);
            return;
        }
        if (!ig_dim_is(ig_type_count(g->e->module, ig_grad_x(g, f.at.ids)->type), 0)) {
            open_feature(&f);
            give_feature(&f);
        }
    }
}

/* ---- interact ---- */

/* Where pair number k is of rows p and q, dy_k stands at [p, q] and at [q, p] of a
 * matrix S, added where several pairs are of the same rows; dx = S x. */
void ig_grad_interact(ig_grad *g) {
    ig_expr *e = g->e;
    const ig_attr *pairs = &g->op->attrs[IG_interact_pairs];
    ig_value *x = ig_grad_x(g, 0);
    const ig_type *type = x->type;
    int64_t rows;
    if (!ig_dim_constant(e->module, type->dims[1], &rows) || pairs->count == 0) {
        ig_grad_refuse(g, "how many rows there are is computed, or no pair");
        return;
    }
    int64_t *places = IG_NEW_ARRAY(&e->module->arena, int64_t, 2 * pairs->count);
    for (uint32_t k = 0; k < pairs->count; k++) {
        int64_t pair = pairs->as.ints[k];
        places[k] = pair;
        places[pairs->count + k] = pair % rows * rows + pair / rows;
    }
    ig_value *index = ig_expr_ints(e, places, 2 * pairs->count);
    ig_value *both = ig_expr_concat(e, 1, (ig_value *[]){ g->dy, g->dy }, 2);
    ig_dim dims[] = { ig_dim_of(rows * rows), type->dims[0] };
    const ig_type *flat = ig_type_with_dims(e->module, type, 2, dims);
    ig_value *sums = ig_grad_add_rows(e, flat, index, NULL,
                                      ig_expr_swap(e, both, 0, 1));
    ig_dim square[] = { type->dims[0], type->dims[1], type->dims[1] };
    sums = ig_expr_reshape(e, ig_expr_swap(e, sums, 0, 1), 3, square);
    ig_grad_give(g, 0, ig_expr_matmul(e, sums, x));
}

/* ---- forest ---- */

/* Steps of x. */
void ig_grad_forest(ig_grad *g) {
    for (uint32_t i = 1; i < g->op->operand_count; i++) {
        if (ig_grad_wants(g, i)) {
            ig_grad_refuse(g, "trees are not trained so");
        }
    }
}
