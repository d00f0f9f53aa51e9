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
#include "ir/build/expr.h"
#include "ir/bag.h"
#include "ir/build/build.h"
#include "passes/bags/recognise.h"

#include <assert.h>

enum { IDS, OFFSETS, ROWS };

typedef struct check {
    ig_recogniser *r;
    ig_op *op;
    ig_module *module;
    ig_dim tables, bags, ids;
    int64_t count;       /* of tables; -1: not known */
    const int64_t *rows; /* NULL: not known */
} check;

static ig_value *operand_at(const check *c, uint32_t index) {
    return c->op->operands[index].value;
}

static const int64_t *known_rows(const check *c) {
    const ig_data *data = ig_constant_of(operand_at(c, ROWS));
    bool is_i64 = data && data->type->dtype == IG_DT_i64 && data->bytes;
    return is_i64 && !data->is_splat && c->count > 0 ? data->bytes : NULL;
}

static check open_check(ig_recogniser *r, ig_op *op) {
    check c = { .r = r, .op = op, .module = r->module, .count = -1 };
    c.tables = operand_at(&c, ROWS)->type->dims[0];
    c.ids = operand_at(&c, IDS)->type->dims[0];
    ig_dim all = ig_dim_sub(c.module, operand_at(&c, OFFSETS)->type->dims[0],
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

static bool fits_feature(const check *c, const ig_op *bag, uint32_t index) {
    ig_bag_feature f = ig_bag_feature_at(bag, index);
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

static ig_value *make_rising(const check *c, ig_builder *b) {
    ig_value *offsets = operand_at(c, OFFSETS);
    const ig_op *sum = ig_def(offsets, IG_OP_cumsum);
    ig_expr e = ig_expr_of(b);
    if (sum && ig_attr_int(sum, IG_cumsum_complete, 0)) {
        ig_cumsum_attrs rising = ig_cumsum_attrs_of(sum);
        rising.rising = true;
        return ig_build_cumsum(&e, ig_op_operand(sum, 0), rising);
    }
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

static void move_into_bags(check *c) {
    bool may_move = ig_attr_int(c->op, IG_bounds_range, 0) == IG_RANGE_first;
    ig_builder b = ig_builder_before(c->op);
    bool has_offsets = c->op->results[1].uses != NULL;
    ig_value *offsets = may_move && has_offsets ? make_rising(c, &b)
                                                : operand_at(c, OFFSETS);
    while (c->op->results[0].uses) {
        ig_op *bag = c->op->results[0].uses->user;
        if (may_move && has_offsets) {
            end_with_ids(c, bag, offsets);
        }
        mark_bag(c, bag);
        for (uint32_t i = 0; i < bag->operand_count; i++) {
            if (bag->operands[i].value == &c->op->results[0]) {
                ig_use_set(&bag->operands[i], operand_at(c, IDS));
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
    ig_expr e; /* over `b` */
} writer;

static ig_value *read_i64(writer *w, uint32_t index) {
    return ig_expr_cast(&w->e, operand_at(w->c, index), IG_DT_i64);
}

static ig_value *make_dim(writer *w, ig_dim dim) {
    return ig_expr_dim(&w->e, dim, IG_DT_i64);
}

static ig_value *take_part(writer *w, ig_value *x, ig_dim start, ig_dim size) {
    assert(x->type->rank == 1 && "offsets are a vector");
    return ig_expr_slice(&w->e, x, 0, start, size, 1);
}

/* The offsets with the number of ids as the last one. */
static ig_value *append_last(writer *w, ig_value *offsets, ig_dim all) {
    ig_value *last = ig_expr_reshape(&w->e, make_dim(w, w->c->ids), 1,
                                     (ig_dim[]){ ig_dim_of(1) });
    ig_value *both[] = { take_part(w, offsets, ig_dim_of(0), all), last };
    return ig_expr_concat(&w->e, 0, both, 2);
}

/* Which positions are in bags, and the row count of each one's table. */
static ig_value *rows_of_positions(writer *w, ig_value *offsets, ig_dim all,
                                   ig_value **out_is_in) {
    ig_expr *e = &w->e;
    ig_value *at = ig_expr_iota(e, IG_DT_i64, w->c->ids);
    ig_value *ends = take_part(w, offsets, ig_dim_of(1), all);
    ig_value *bag = ig_build_bucketize(e, at, ends,
                                       (ig_bucketize_attrs){ .right = true });
    ig_value *per = ig_expr_with_integer(e, IG_OP_max, make_dim(w, w->c->bags), 1);
    ig_value *last = ig_expr_with_integer(e, IG_OP_sub, make_dim(w, w->c->tables), 1);
    ig_value *table = ig_build_min(e, ig_build_div(e, bag, per), last);
    ig_value *first = take_part(w, offsets, ig_dim_of(0), ig_dim_of(1));
    *out_is_in = ig_build_ge(e, at, first);
    return ig_expr_gather(e, read_i64(w, ROWS), table, 0, IG_NEGATIVE_wrap);
}

static ig_value *count_true(writer *w, ig_value *x) {
    ig_value *ones = ig_expr_cast(&w->e, x, IG_DT_i64);
    return ig_expr_reduce(&w->e, IG_REDUCE_sum, ones, NULL, 0, false);
}

/* Bags whose offsets were moved, and the last offset where it was. */
static ig_value *count_wrong(writer *w, ig_value *raw, ig_value *mended, ig_dim all) {
    ig_expr *e = &w->e;
    ig_dim none = ig_dim_of(0), one = ig_dim_of(1);
    ig_value *ids = make_dim(w, w->c->ids), *zero = ig_expr_integer(e, IG_DT_i64, 0);
    ig_value *begins = take_part(w, raw, none, all);
    ig_value *ends = take_part(w, raw, one, all);
    ig_value *falls = ig_build_gt(e, take_part(w, mended, none, all), ends);
    ig_value *is_far = ig_build_gt(e, ends, ids);
    ig_value *is_low = ig_build_lt(e, begins, zero);
    ig_value *is_first = ig_build_eq(e, ig_expr_iota(e, IG_DT_i64, all), zero);
    ig_value *is_high = ig_build_gt(e, begins, ends);
    ig_value *moved = ig_build_and(e, is_first, ig_build_or(e, is_low, is_high));
    moved = ig_build_or(e, moved, ig_build_or(e, falls, is_far));
    ig_value *last = take_part(w, read_i64(w, OFFSETS), all, one);
    ig_value *is_other = ig_build_ne(e, last, ids);
    return ig_build_add(e, count_true(w, is_other), count_true(w, moved));
}

static void replace_result(writer *w, uint32_t result, ig_value *value) {
    ig_value *old = &w->c->op->results[result];
    if (old->uses) {
        ig_recogniser_replace(w->c->r, old, ig_expr_like(&w->e, value, old));
    }
}

static void write_arithmetic(check *c) {
    writer w = { .c = c, .b = ig_builder_before(c->op) };
    ig_expr *e = &w.e;
    w.e = ig_expr_of(&w.b);
    ig_dim all = ig_dim_sub(c->module, operand_at(c, OFFSETS)->type->dims[0],
                            ig_dim_of(1));
    ig_value *raw = append_last(&w, read_i64(&w, OFFSETS), all);
    ig_value *rising = ig_build_cumulate(e, raw,
                                         (ig_cumulate_attrs){ .op = IG_CUMULATE_max });
    ig_value *offsets = ig_expr_with_integer(e, IG_OP_max, rising, 0);
    offsets = ig_build_min(e, offsets, make_dim(&w, c->ids));
    ig_value *is_in;
    ig_value *rows = rows_of_positions(&w, offsets, all, &is_in);
    ig_value *ids = read_i64(&w, IDS);
    ig_value *is_low = ig_expr_with_integer(e, IG_OP_lt, ids, -1);
    ig_value *is_bad = ig_build_or(e, is_low, ig_build_ge(e, ids, rows));
    is_bad = ig_build_and(e, is_bad, is_in);
    ig_value *bad_ids = count_true(&w, is_bad);
    ig_value *wrong = ig_build_add(e, bad_ids, count_wrong(&w, raw, offsets, all));
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0);
    replace_result(&w, 0, ig_build_where(e, is_bad, zero, ids));
    replace_result(&w, 1, offsets);
    replace_result(&w, 2, ig_expr_reshape(e, wrong, 1, (ig_dim[]){ ig_dim_of(1) }));
    ig_op_erase(c->op);
    c->r->run->changed = true;
}

static void match_bounds(ig_recogniser *r, ig_op *op) {
    check c = open_check(r, op);
    bool is_used = op->results[0].uses || op->results[1].uses || op->results[2].uses;
    if (!is_used) {
        return;
    }
    if (all_uses_fit(&c)) {
        move_into_bags(&c);
    } else if (ig_attr_int(op, IG_bounds_range, 0) == IG_RANGE_first) {
        write_arithmetic(&c);
    }
}

ig_status ig_pass_bounds(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_bounds, match_bounds);
}
