/* Checks of bounds go into the bags that they were made for.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %i, %o, %n = bounds %ids, %offsets, rows {range = first}
 *     %o1 = slice %o {starts = [B], sizes = [B + 1]}
 *     %y = bag @t1, %i, %o1 {last = [offset], negative = skip}
 *   becomes
 *     %r = cumulate max %offsets
 *     %o1 = slice %r …
 *     %y = bag @t1, %ids, %o1 {last = [offset], negative = skip, range = first,
 *                              offsets = clamp}
 *
 * where table t1 has rows[1] rows.  The running maximum stays because offsets that fall
 * are mended in order (ir/fold/bounds.c); where the offsets are themselves a running
 * sum, that is one op.  The bags that end with the last offset end with the ids.
 *
 * A check that something else needs too becomes arithmetic:
 *
 *     o    = min(max(running max(offsets), 0), ids), the last one: ids
 *     row  = rows[bag of position / bags a table]
 *     id   = 0 where it is in a bag, and neither -1 nor below row
 */
#include "ir/expr.h"
#include "ir/bag.h"
#include "ir/build.h"
#include "passes/bags/recognise.h"

enum { IDS, OFFSETS, ROWS };

typedef struct check {
    ig_recogniser *r;
    ig_op *op;
    ig_module *module;
    ig_dim tables, bags, ids;
    int64_t count;       /* of tables; -1: not known */
    const int64_t *rows; /* NULL: not known */
} check;

static ig_value *operand(const check *c, uint32_t index) {
    return c->op->operands[index].value;
}

static const int64_t *known_rows(const check *c) {
    const ig_data *data = ig_constant_of(operand(c, ROWS));
    bool is_i64 = data && data->type->dtype == IG_DT_i64 && data->bytes;
    return is_i64 && !data->is_splat && c->count > 0 ? data->bytes : NULL;
}

static check open_check(ig_recogniser *r, ig_op *op) {
    check c = { .r = r, .op = op, .module = r->module, .count = -1 };
    c.tables = operand(&c, ROWS)->type->dims[0];
    c.ids = operand(&c, IDS)->type->dims[0];
    ig_dim all = ig_dim_sub(c.module, operand(&c, OFFSETS)->type->dims[0],
                            ig_dim_of(1));
    c.bags = ig_dim_exact_div(c.module, all, c.tables);
    if (!ig_dim_constant(c.module, c.tables, &c.count)) {
        c.count = -1;
    }
    c.rows = known_rows(&c);
    return c;
}

/* ---- are all uses bags of the check's tables? ---- */

/* The number of the table whose bags this slice of the offsets has; -1: of none. */
static int64_t table_of(const check *c, const ig_op *slice) {
    const ig_attr *starts = &slice->attrs[IG_slice_starts];
    const ig_attr *sizes = &slice->attrs[IG_slice_sizes];
    const ig_attr *steps = &slice->attrs[IG_slice_steps];
    if (starts->kind != IG_ATTR_DIMS || sizes->kind != IG_ATTR_DIMS ||
        (steps->kind == IG_ATTR_INTS && steps->as.ints[0] != 1) ||
        ig_dim_equal(c->module, sizes->as.dims[0],
                     ig_dim_add(c->module, c->bags, ig_dim_of(1))) != IG_YES) {
        return -1;
    }
    for (int64_t t = 0; t < c->count; t++) {
        ig_dim start = ig_dim_mul(c->module, c->bags, ig_dim_of(t));
        if (ig_dim_equal(c->module, starts->as.dims[0], start) == IG_YES) {
            return t;
        }
    }
    return -1;
}

static bool is_whole(const check *c, const ig_value *begins) {
    return c->count == 1 && begins == &c->op->results[1];
}

static bool fits_feature(const check *c, const ig_op *bag, uint32_t number) {
    ig_bag_feature f = ig_bag_feature_at(bag, number);
    const ig_value *table = bag->operands[f.table].value;
    int64_t at = 0;
    if (bag->operands[f.ids].value != &c->op->results[0] || f.ends || f.tables > 1) {
        return false;
    }
    if (f.begins) {
        const ig_value *begins = bag->operands[f.begins].value;
        const ig_op *slice = ig_def(begins, IG_OP_slice);
        bool is_ours = slice && slice->operand_count == 1 &&
                       slice->operands[0].value == &c->op->results[1];
        at = is_ours ? table_of(c, slice) : is_whole(c, begins) ? 0 : -1;
        is_ours = is_ours || is_whole(c, begins);
        if (!is_ours || at < 0 || f.last != IG_LAST_offset) {
            return false;
        }
    } else if (f.pool != IG_POOL_none || c->count != 1) {
        return false;
    }
    return ig_dim_is(table->type->dims[0], c->rows[at]) && c->rows[at] > 0;
}

static bool fits_bag(const check *c, const ig_op *bag) {
    if (bag->code != IG_OP_bag ||
        ig_attr_int(bag, IG_bag_negative, 0) != IG_NEGATIVE_skip ||
        ig_attr_int(bag, IG_bag_range, 0) != IG_RANGE_error ||
        ig_attr_int(bag, IG_bag_offsets, 0) != IG_OFFSETS_error) {
        return false;
    }
    for (uint32_t i = 0; i < ig_bag_feature_count(bag); i++) {
        if (!fits_feature(c, bag, i)) {
            return false;
        }
    }
    return true;
}

static bool all_uses_fit(const check *c) {
    const ig_value *ids = &c->op->results[0], *offsets = &c->op->results[1];
    if (!c->rows || c->op->results[2].uses) {
        return false;
    }
    for (const ig_use *use = ids->uses; use; use = use->next) {
        if (!fits_bag(c, use->user)) {
            return false;
        }
    }
    for (const ig_use *use = offsets->uses; use; use = use->next) {
        const ig_op *user = use->user;
        bool is_slice = user->code == IG_OP_slice && table_of(c, user) >= 0;
        const ig_use *inner = is_slice ? user->results[0].uses : NULL;
        for (; inner; inner = inner->next) {
            if (!fits_bag(c, inner->user)) {
                return false;
            }
        }
        if (!is_slice && !(is_whole(c, offsets) && fits_bag(c, user))) {
            return false;
        }
    }
    return true;
}

/* ---- into the bags ---- */

static ig_value *rising(const check *c, ig_builder *b) {
    ig_value *offsets = operand(c, OFFSETS);
    ig_op *sum = ig_def(offsets, IG_OP_cumsum);
    if (sum && ig_attr_int(sum, IG_cumsum_complete, 0)) {
        ig_attr attrs[IG_cumsum_attr_count];
        for (uint32_t i = 0; i < IG_cumsum_attr_count; i++) {
            attrs[i] = sum->attrs[i];
        }
        attrs[IG_cumsum_rising] = ig_attr_of_bool(true);
        return ig_make(b, IG_OP_cumsum, 1, &sum->operands[0].value, attrs);
    }
    ig_expr e = ig_expr_of(b);
    ig_cumulate_attrs attrs = { .axis = 0, .op = IG_CUMULATE_max };
    return ig_build_cumulate(&e, offsets, attrs);
}

/* The bags of the last table end with the ids, so their last offset goes. */
static void end_with_ids(const check *c, ig_op *bag, ig_value *offsets) {
    uint32_t count = ig_bag_feature_count(bag);
    int64_t *last = IG_NEW_ARRAY(c->r->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++) {
        ig_bag_feature f = ig_bag_feature_at(bag, i);
        last[i] = f.last;
        if (!f.begins) {
            continue;
        }
        ig_op *slice = ig_def(bag->operands[f.begins].value, IG_OP_slice);
        int64_t at = slice ? table_of(c, slice) : 0;
        if (at == c->count - 1) {
            ig_builder b = ig_builder_before(bag);
            ig_dim start = ig_dim_mul(c->module, c->bags, ig_dim_of(at));
            ig_expr e = ig_expr_of(&b);
            ig_value *begins = ig_expr_slice(&e, offsets, 0, start, c->bags, 1);
            ig_use_set(&bag->operands[f.begins], begins);
            last[i] = IG_LAST_ids;
        }
    }
    ig_attr_set(bag, IG_bag_last, ig_attr_of_ints(c->module, last, count));
}

static void mark_bag(const check *c, ig_op *bag) {
    bool may_move = ig_attr_int(c->op, IG_bounds_range, 0) == IG_RANGE_first;
    if (may_move) {
        ig_attr_set(bag, IG_bag_range, ig_attr_of_enum(IG_RANGE_first));
        ig_attr_set(bag, IG_bag_offsets, ig_attr_of_enum(IG_OFFSETS_clamp));
    }
}

static void fuse(check *c) {
    bool may_move = ig_attr_int(c->op, IG_bounds_range, 0) == IG_RANGE_first;
    ig_builder b = ig_builder_before(c->op);
    bool has_offsets = c->op->results[1].uses != NULL;
    ig_value *offsets = may_move && has_offsets ? rising(c, &b) : operand(c, OFFSETS);
    while (c->op->results[0].uses) {
        ig_op *bag = c->op->results[0].uses->user;
        if (may_move && has_offsets) {
            end_with_ids(c, bag, offsets);
        }
        mark_bag(c, bag);
        for (uint32_t i = 0; i < bag->operand_count; i++) {
            if (bag->operands[i].value == &c->op->results[0]) {
                ig_use_set(&bag->operands[i], operand(c, IDS));
            }
        }
    }
    ig_value_replace(&c->op->results[1], offsets);
    ig_op_erase(c->op);
    c->r->run->changed = true;
}

/* ---- as arithmetic ---- */

typedef struct writer {
    const check *c;
    ig_builder b;
} writer;

static ig_value *i64_of(writer *w, ig_value *x) {
    return ig_make_cast(&w->b, x, IG_DT_i64);
}

static ig_value *number(writer *w, int64_t value) {
    return ig_make_i64(&w->b, value);
}

static ig_value *dim_value(writer *w, ig_dim dim) {
    ig_expr e = ig_expr_of(&w->b);
    return ig_expr_dim(&e, dim, IG_DT_i64);
}

static ig_value *part(writer *w, ig_value *x, ig_dim start, ig_dim size) {
    ig_expr e = ig_expr_of(&w->b);
    return ig_expr_slice(&e, x, 0, start, size, 1);
}

/* The offsets with the number of ids as the last one. */
static ig_value *with_last(writer *w, ig_value *offsets, ig_dim all) {
    ig_dim one = ig_dim_of(1);
    ig_value *last = ig_make_reshape(&w->b, dim_value(w, w->c->ids), 1, &one);
    ig_value *both[] = { part(w, offsets, ig_dim_of(0), all), last };
    ig_expr e = ig_expr_of(&w->b);
    return ig_expr_concat(&e, 0, both, 2);
}

static ig_value *running_max(writer *w, ig_value *x) {
    ig_expr e = ig_expr_of(&w->b);
    return ig_build_cumulate(&e, x, (ig_cumulate_attrs){ .op = IG_CUMULATE_max });
}

static ig_value *gather(writer *w, ig_value *x, ig_value *index) {
    ig_expr e = ig_expr_of(&w->b);
    return ig_build_gather(&e, x, index, (ig_gather_attrs){ .axis = 0 });
}

/* Which positions lie in bags, and the number of rows that each one's table has. */
static ig_value *rows_of_positions(writer *w, ig_value *offsets, ig_dim all,
                                   ig_value **out_is_in) {
    ig_builder *b = &w->b;
    ig_value *zero = number(w, 0), *one = number(w, 1);
    ig_value *at = ig_make3(b, IG_OP_range, zero, dim_value(w, w->c->ids), one);
    ig_value *ends = part(w, offsets, ig_dim_of(1), all);
    ig_expr e = ig_expr_of(b);
    ig_value *bag = ig_build_bucketize(&e, at, ends,
                                       (ig_bucketize_attrs){ .right = true });
    ig_dim bags = w->c->bags;
    ig_value *per = ig_make2(b, IG_OP_max, dim_value(w, bags), one);
    ig_value *last = ig_make2(b, IG_OP_sub, dim_value(w, w->c->tables), one);
    ig_value *table = ig_make2(b, IG_OP_min, ig_make2(b, IG_OP_div, bag, per), last);
    *out_is_in = ig_make2(b, IG_OP_ge, at,
                          part(w, offsets, ig_dim_of(0), ig_dim_of(1)));
    return gather(w, i64_of(w, operand(w->c, ROWS)), table);
}

static ig_value *count_true(writer *w, ig_value *x) {
    ig_expr e = ig_expr_of(&w->b);
    return ig_build_reduce(&e, i64_of(w, x), NULL,
                           (ig_reduce_attrs){ .op = IG_REDUCE_sum });
}

/* Bags whose offsets were moved, and the last offset where it was. */
static ig_value *count_wrong(writer *w, ig_value *raw, ig_value *mended, ig_dim all) {
    ig_builder *b = &w->b;
    ig_value *ids = dim_value(w, w->c->ids), *zero = number(w, 0);
    ig_value *ends = part(w, raw, ig_dim_of(1), all);
    ig_value *falls = ig_make2(b, IG_OP_gt, part(w, mended, ig_dim_of(0), all), ends);
    ig_value *is_far = ig_make2(b, IG_OP_gt, ends, ids);
    ig_value *is_low = ig_make2(b, IG_OP_lt, part(w, raw, ig_dim_of(0), all), zero);
    ig_value *at = ig_make3(b, IG_OP_range, zero, dim_value(w, all), number(w, 1));
    ig_value *is_first = ig_make2(b, IG_OP_eq, at, zero);
    ig_value *is_high = ig_make2(b, IG_OP_gt, part(w, raw, ig_dim_of(0), all), ends);
    ig_value *spoilt = ig_make2(b, IG_OP_or, is_low, is_high);
    spoilt = ig_make2(b, IG_OP_and, is_first, spoilt);
    spoilt = ig_make2(b, IG_OP_or, spoilt, ig_make2(b, IG_OP_or, falls, is_far));
    ig_value *given = part(w, i64_of(w, operand(w->c, OFFSETS)), all, ig_dim_of(1));
    ig_value *moved = count_true(w, ig_make2(b, IG_OP_ne, given, ids));
    return ig_make2(b, IG_OP_add, moved, count_true(w, spoilt));
}

static void replace(check *c, uint32_t result, ig_builder *b, ig_value *value) {
    ig_value *old = &c->op->results[result];
    if (old->uses) {
        value = ig_make_cast(b, value, (ig_dtype)old->type->dtype);
        ig_recogniser_replace(c->r, old, value);
    }
}

static void expand(check *c) {
    writer w = { .c = c, .b = ig_builder_before(c->op) };
    ig_builder *b = &w.b;
    ig_dim all = ig_dim_sub(c->module, operand(c, OFFSETS)->type->dims[0],
                            ig_dim_of(1));
    ig_value *raw = with_last(&w, i64_of(&w, operand(c, OFFSETS)), all);
    ig_value *offsets = ig_make2(b, IG_OP_max, running_max(&w, raw), number(&w, 0));
    offsets = ig_make2(b, IG_OP_min, offsets, dim_value(&w, c->ids));
    ig_value *is_in;
    ig_value *rows = rows_of_positions(&w, offsets, all, &is_in);
    ig_value *ids = i64_of(&w, operand(c, IDS));
    ig_value *is_low = ig_make2(b, IG_OP_lt, ids, number(&w, -1));
    ig_value *is_bad = ig_make2(b, IG_OP_or, is_low, ig_make2(b, IG_OP_ge, ids, rows));
    is_bad = ig_make2(b, IG_OP_and, is_bad, is_in);
    ig_value *wrong = ig_make2(b, IG_OP_add, count_true(&w, is_bad),
                               count_wrong(&w, raw, offsets, all));
    ig_dim one = ig_dim_of(1);
    replace(c, 0, b, ig_make3(b, IG_OP_where, is_bad, number(&w, 0), ids));
    replace(c, 1, b, offsets);
    replace(c, 2, b, ig_make_reshape(b, wrong, 1, &one));
    ig_op_erase(c->op);
    c->r->run->changed = true;
}

static void look(ig_recogniser *r, ig_op *op) {
    check c = open_check(r, op);
    bool is_used = op->results[0].uses || op->results[1].uses || op->results[2].uses;
    if (!is_used) {
        return;
    }
    if (all_uses_fit(&c)) {
        fuse(&c);
    } else if (ig_attr_int(op, IG_bounds_range, 0) == IG_RANGE_first) {
        expand(&c);
    }
}

ig_status ig_pass_bounds(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_bounds, look);
}
