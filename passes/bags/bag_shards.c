/* bag_shards: the bags over the shards of a table, added, become one bag.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %i0 = where (eq %shard, 0), %row, -1
 *     %i1 = where (eq %shard, 1), %row, -1
 *     %0 = bag @s0, %i0, %off {pool = [sum], negative = skip, range = first}
 *     %1 = bag @s1, %i1, %off {pool = [sum], negative = skip, range = first}
 *     %2 = add %0, %1
 *   becomes
 *     %all = where (%row is -1 or %shard no shard), -1, (add %row, (shl %shard, 40))
 *     %2 = bag @s0, @s1, %all, %off {pool = [sum], tables = [2], negative = skip, …}
 *
 * bag_whole leaves this form of a table that is sharded by rows.  Each id is in one
 * shard at most, so the sums of the shards are sums of different rows of the same bag,
 * and one walk over the ids adds them all: in the order of ids now, not shard after
 * shard, which moves the last bits of a sum.  Ids name table and row, so each shard
 * treats ids without a row of its own as before (`range`), and the ids of
 * all tables that were bucketized together are one list.  Which shard has an id is not
 * asked: any partition will do.
 *
 * The rows of a mean are divided by the ids of the whole bag in each shard already
 * (bag_whole), so means are added like sums.
 *
 * A shard looks up several tables, and their pooled rows are side by side:
 *
 *     %4 = add (concat %0, %2), (concat %1, %3)   →   %4 = concat (bag …), (bag …)
 *
 * Keeps: every result up to the order of additions.
 */
#include "ir/build/expr.h"
#include "ir/bag.h"
#include "ir/build/build.h"
#include "passes/bags/bag_rows.h"
#include "passes/bags/shards.h"

#include <assert.h>
#include <string.h>

enum { TERMS_MAX = 64, COLUMNS_MAX = 4096, NESTED_MAX = 8 };

/* One table's part of the sum. */
typedef struct shard {
    const ig_op *bag;
    ig_bag_feature feature;
    uint32_t result;          /* of the feature */
    ig_value *shard_of, *row; /* of each id */
    int64_t index;            /* of this shard */
    int64_t rows;
} shard;

typedef IG_VEC(ig_value *) value_list;

typedef struct sum {
    ig_recogniser *r;
    ig_op *root;
    value_list terms;
    value_list *columns; /* of each term: values side by side in it */
} sum;

static bool is_used_once(const ig_value *value) {
    return value->uses && !value->uses->next;
}

/* ---- added bags ---- */

static bool is_part_of_sum(const ig_op *op) {
    const ig_value *y = &op->results[0];
    const ig_op *user = is_used_once(y) ? y->uses->user : NULL;
    return user && user->code == IG_OP_add && user->results[0].type == y->type;
}

static bool collect_terms(sum *s, const ig_op *add, uint32_t depth) {
    for (uint32_t i = 0; i < 2; i++) {
        ig_value *term = ig_op_operand(add, i);
        ig_op *inner = is_used_once(term) ? ig_def(term, IG_OP_add) : NULL;
        if (term->type != s->root->results[0].type || s->terms.count >= TERMS_MAX ||
            depth > TERMS_MAX) {
            return false;
        }
        if (!inner) {
            IG_PUSH(s->r->arena, &s->terms, term);
        } else if (!collect_terms(s, inner, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool collect_columns(sum *s, value_list *columns, ig_value *value,
                            uint32_t depth) {
    const ig_op *concat = ig_def(value, IG_OP_concat);
    bool is_wide = concat && ig_attr_int(concat, IG_concat_axis, 0) == 1;
    if (!is_used_once(value) || depth > NESTED_MAX || columns->count >= COLUMNS_MAX) {
        return false;
    }
    for (uint32_t i = 0; is_wide && i < concat->operand_count; i++) {
        if (!collect_columns(s, columns, ig_op_operand(concat, i), depth + 1)) {
            return false;
        }
    }
    if (!is_wide) {
        IG_PUSH(s->r->arena, columns, value);
    }
    return true;
}

static bool open_sum(sum *s) {
    if (s->root->results[0].type->rank != 2 || is_part_of_sum(s->root) ||
        !collect_terms(s, s->root, 0)) {
        return false;
    }
    s->columns = IG_NEW_ARRAY(s->r->arena, value_list, s->terms.count);
    for (size_t i = 0; i < s->terms.count; i++) {
        if (!collect_columns(s, &s->columns[i], s->terms.items[i], 0) ||
            s->columns[i].count != s->columns[0].count) {
            return false;
        }
    }
    return true;
}

/* ---- is a term a shard? ---- */

/* where (eq shard_of, index), row, -1 */
static bool read_ids(shard *x) {
    const ig_op *where = ig_def(ig_op_operand(x->bag, x->feature.ids), IG_OP_where);
    const ig_op *eq = where ? ig_def(ig_op_operand(where, 0), IG_OP_eq) : NULL;
    int64_t none;
    if (!eq || !ig_constant_i64(ig_op_operand(where, 2), &none) || none != -1 ||
        !ig_constant_i64(ig_op_operand(eq, 1), &x->index)) {
        return false;
    }
    x->shard_of = ig_op_operand(eq, 0);
    x->row = ig_op_operand(where, 1);
    return x->shard_of->type->rank == 1 && x->row->type->rank == 1;
}

static bool read_shard(const sum *s, const ig_value *value, shard *x) {
    const ig_op *bag = ig_def(value, IG_OP_bag);
    if (!bag) {
        return false;
    }
    *x = (shard){ .bag = bag,
                  .result = value->index,
                  .feature = ig_bag_feature_at(bag, value->index) };
    const ig_bag_feature *f = &x->feature;
    bool is_summed = f->pool == IG_POOL_sum || f->pool == IG_POOL_mean;
    return is_summed && f->tables == 1 && f->padding == INT64_MIN && f->begins &&
           f->empty == IG_EMPTY_zero && !ig_attr_is_set(bag, IG_bag_whole) &&
           ig_attr_int(bag, IG_bag_negative, 0) == IG_NEGATIVE_skip &&
           ig_dim_constant(s->r->module, ig_op_operand(bag, f->table)->type->dims[0],
                           &x->rows) &&
           x->rows > 0 && x->rows < (int64_t)1 << IG_BAG_ROW_BITS && read_ids(x);
}

static bool has_same_rows(const ig_type *a, const ig_type *b) {
    return a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
           ig_rows_equal(a->rows, b->rows) && ig_dim_same(a->dims[1], b->dims[1]);
}

static const ig_value *optional_operand(const shard *x, uint32_t index) {
    return index ? ig_op_operand(x->bag, index) : NULL;
}

/* Do the two differ in nothing but the shard? */
static bool is_alike(const shard *a, const shard *b) {
    const ig_bag_feature *f = &a->feature, *g = &b->feature;
    static const uint32_t rules[] = { IG_bag_range, IG_bag_offsets };
    bool is_same = f->pool == g->pool && f->last == g->last &&
                   a->bag->results[a->result].type->dtype ==
                       b->bag->results[b->result].type->dtype;
    for (size_t i = 0; i < IG_COUNT_OF(rules); i++) {
        is_same = is_same &&
                  ig_attr_int(a->bag, rules[i], 0) == ig_attr_int(b->bag, rules[i], 0);
    }
    return is_same && a->shard_of == b->shard_of && a->row == b->row &&
           optional_operand(a, f->begins) == optional_operand(b, g->begins) &&
           optional_operand(a, f->ends) == optional_operand(b, g->ends) &&
           optional_operand(a, f->weights) == optional_operand(b, g->weights) &&
           has_same_rows(ig_op_operand(a->bag, f->table)->type,
                         ig_op_operand(b->bag, g->table)->type);
}

/* The shards 0, 1 … of one table, in that order: `shards` has one for each term. */
static bool read_column(const sum *s, size_t column, shard *shards) {
    size_t count = s->terms.count;
    for (size_t i = 0; i < count; i++) {
        shards[i].bag = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        shard x;
        if (!read_shard(s, s->columns[i].items[column], &x) || x.index < 0 ||
            x.index >= (int64_t)count || shards[x.index].bag) {
            return false;
        }
        shards[x.index] = x;
    }
    for (size_t i = 1; i < count; i++) {
        if (!is_alike(&shards[0], &shards[i])) {
            return false;
        }
    }
    return true;
}

/* ---- one bag ---- */

/* 0 <= x < y */
static ig_value *is_below(ig_builder *b, ig_value *x, int64_t y) {
    assert(y > 0 && "a bound that something is below");
    ig_expr e = ig_expr_of(b);
    ig_value *end = ig_expr_cast(&e, ig_expr_integer(&e, IG_DT_i64, y), IG_DT_u64);
    return ig_build_lt(&e, ig_expr_cast(&e, x, IG_DT_u64), end);
}

/* A row that no table can have stays one that this shard's has not. */
static ig_value *bounded_row(ig_builder *b, const ig_op *bag, ig_value *row) {
    int64_t max = ((int64_t)1 << IG_BAG_ROW_BITS) - 1;
    ig_expr e = ig_expr_of(b);
    ig_value *last = ig_expr_integer(&e, IG_DT_i64, max);
    if (ig_attr_int(bag, IG_bag_range, 0) == IG_RANGE_clamp) {
        row = ig_expr_with_integer(&e, IG_OP_max, row, 0);
    }
    return ig_build_where(&e, is_below(b, row, max), row, last);
}

/* shard * 2^40 + row, or -1 for no row. */
static ig_value *index_rows(ig_builder *b, const ig_shards *x) {
    ig_expr e = ig_expr_of(b);
    ig_value *none = ig_expr_integer(&e, IG_DT_i64, -1);
    ig_value *shard_of = ig_expr_cast(&e, x->shard_of, IG_DT_i64);
    ig_value *row = ig_expr_cast(&e, x->row, IG_DT_i64);
    ig_value *table = ig_expr_with_integer(&e, IG_OP_shl, shard_of, IG_BAG_ROW_BITS);
    ig_value *index = ig_build_add(&e, bounded_row(b, x->bags[0], row), table);
    ig_value *is_shard = is_below(b, shard_of, x->count);
    ig_value *is_row = ig_build_and(&e, ig_build_ne(&e, row, none), is_shard);
    return ig_build_where(&e, is_row, index, none);
}

static ig_ints take_entry(ig_ints all, uint32_t index) {
    assert((!all.items || index < all.count) && "an entry per feature");
    return (ig_ints){ all.items ? all.items + index : NULL, 1 };
}

/* Attributes of a bag of feature `number` alone. */
static ig_bag_attrs attrs_of_feature(const ig_op *bag, uint32_t index) {
    ig_bag_attrs attrs = ig_bag_attrs_of(bag);
    attrs.operands = take_entry(attrs.operands, index);
    attrs.pool = take_entry(attrs.pool, index);
    attrs.padding = take_entry(attrs.padding, index);
    attrs.last = take_entry(attrs.last, index);
    attrs.empty = take_entry(attrs.empty, index);
    attrs.tables = take_entry(attrs.tables, index);
    return attrs;
}

ig_value *ig_shards_bag(ig_recogniser *r, ig_builder *b, const ig_shards *x) {
    assert(x->count > 0 && "a table has shards");
    assert(x->shard_of && x->row && "each id has a shard and a row there");
    const ig_op *bag = x->bags[0];
    ig_bag_feature f = ig_bag_feature_at(bag, x->indices[0]);
    ig_value **operands = IG_NEW_ARRAY(r->arena, ig_value *, x->count + f.operands);
    int64_t tables = x->count, last = IG_LAST_offset;
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        ig_bag_feature own = ig_bag_feature_at(x->bags[i], x->indices[i]);
        operands[count++] = ig_op_operand(x->bags[i], own.table);
    }
    operands[count++] = index_rows(b, x);
    for (uint32_t i = f.ids + 1; i < f.table + f.operands; i++) {
        bool is_new = i == f.begins && x->offsets;
        operands[count++] = is_new ? x->offsets : ig_op_operand(bag, i);
    }
    ig_bag_attrs attrs = attrs_of_feature(bag, x->indices[0]);
    attrs.tables = (ig_ints){ &tables, 1 };
    if (x->offsets) {
        attrs.last = (ig_ints){ &last, 1 };
    }
    ig_expr e = ig_expr_of(b);
    return ig_build_bag(&e, operands, count, attrs);
}

static ig_value *make_bag(const sum *s, ig_builder *b, const shard *shards) {
    uint32_t count = (uint32_t)s->terms.count;
    const ig_op **bags = IG_NEW_ARRAY(s->r->arena, const ig_op *, count);
    uint32_t *indices = IG_NEW_ARRAY(s->r->arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        bags[i] = shards[i].bag;
        indices[i] = shards[i].result;
    }
    ig_shards all = { .bags = bags,
                      .indices = indices,
                      .count = count,
                      .shard_of = shards[0].shard_of,
                      .row = shards[0].row };
    return ig_shards_bag(s->r, b, &all);
}

static void match_sum(ig_recogniser *r, ig_op *op) {
    sum s = { .r = r, .root = op };
    if (!open_sum(&s)) {
        return;
    }
    size_t columns = s.columns[0].count, count = s.terms.count;
    shard **shards = IG_NEW_ARRAY(r->arena, shard *, columns);
    for (size_t i = 0; i < columns; i++) {
        shards[i] = IG_NEW_ARRAY(r->arena, shard, count);
        if (!read_column(&s, i, shards[i])) {
            return;
        }
    }
    ig_builder b = ig_builder_before(op);
    ig_value **bags = IG_NEW_ARRAY(r->arena, ig_value *, columns);
    for (size_t i = 0; i < columns; i++) {
        bags[i] = make_bag(&s, &b, shards[i]);
    }
    ig_expr e = ig_expr_of(&b);
    ig_value *all = ig_expr_concat(&e, 1, bags, (uint32_t)columns);
    ig_recogniser_replace(r, &op->results[0], all);
    ig_recogniser_sweep(r, op);
    r->run->changed = true;
}

ig_status ig_pass_bag_shards(ig_pass_run *run, ig_graph *graph) {
    return ig_recognise(run, graph, IG_OP_add, match_sum);
}
