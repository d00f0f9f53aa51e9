/* Embedding bags of all tables of a model in one launch, on CPUs: the loops.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Features (table, ids, offsets …) that neighbour each other and are alike - same
 * dtypes, dim, pooling, operands - form a class.  One loop nest serves a class; table,
 * ids and destination are taken from the arrays of buffer arguments by the feature's
 * index:
 *
 *   for feature in class
 *     for bag of the feature in this call's part of the grid
 *         accumulators in registers; for id in bag: look ahead, check, add the row
 *         finish (mean, empty bag), store straight into the consumer's buffer
 *
 * Looking ahead crosses the borders of bags and tables (ahead.c).  Rows of
 * quantised tables add q * scale; the sum of the biases is kept apart and added once.
 * The additions of one element are in order of ids, so the bits do not depend on tiles.
 */
#include "passes/lower/bag/bag.h"

#include <assert.h>

enum { BAGS = 8 };

/* ---- classes ---- */

/* Code for bags that may end with the ids serves those that end at an offset too. */
static bool is_last_alike(const bag_feature *a, const bag_feature *b) {
    return a->last == b->last ||
           (a->last <= IG_LAST_offset && b->last <= IG_LAST_offset);
}

static bool is_alike(const bag_class *c, const bag_feature *f) {
    assert(c->count > 0 && "a class has a feature");
    const bag_feature *first = &c->features[0];
    return f->mask == first->mask && f->pool == first->pool &&
           f->has_padding == first->has_padding && is_last_alike(f, first) &&
           f->empty == first->empty && f->dim == first->dim &&
           f->tables == first->tables &&
           f->table->type->dtype == first->table->type->dtype &&
           bag_is_table(f) == bag_is_table(first) &&
           ig_rows_equal(f->table->type->rows, first->table->type->rows) &&
           f->ids->type->dtype == first->ids->type->dtype &&
           f->out->type->dtype == first->out->type->dtype &&
           (!f->begins || f->begins->type->dtype == first->begins->type->dtype) &&
           (!f->ends || f->ends->type->dtype == first->ends->type->dtype) &&
           (!f->weights || f->weights->type->dtype == first->weights->type->dtype);
}

/* ---- fields of a feature ---- */

/* As a constant, one param, or an array of params. */
static ig_value *make_field(const bag_class *c, const ig_dim *dims, uint32_t count,
                            bool *out_is_array) {
    *out_is_array = false;
    for (uint32_t i = 1; i < count; i++) {
        *out_is_array = *out_is_array || !ig_dim_same(dims[i], dims[0]);
    }
    return *out_is_array ? ig_lower_param_array(c->lower, dims, count)
                         : ig_lower_dim(c->lower, dims[0]);
}

/* The field of feature `number`; its param is made once. */
static ig_value *feature_value(const bag_class *c, ig_builder *b, ig_value *number,
                               bag_field which) {
    ig_value **known = &c->fields[which];
    assert(which < BAG_FIELDS && "a field of a feature");
    if (!*known) {
        ig_dim *dims = IG_NEW_ARRAY(c->lower->arena, ig_dim, c->count);
        for (uint32_t i = 0; i < c->count; i++) {
            dims[i] = c->features[i].fields[which];
        }
        *known = make_field(c, dims, c->count, &c->is_array[which]);
    }
    return c->is_array[which] ? k_param_at(b, *known, number) : *known;
}

/* Rows of all tables of all features. */
static void make_rows(bag_class *c) {
    assert(c->features[0].tables > 1 && "ids of one table need no table of rows");
    uint32_t tables = c->features[0].tables;
    ig_dim *rows = IG_NEW_ARRAY(c->lower->arena, ig_dim, (size_t)tables * c->count);
    for (uint32_t i = 0; i < tables * c->count; i++) {
        rows[i] = c->features[i / tables].rows[i % tables];
    }
    c->all_rows = make_field(c, rows, tables * c->count, &c->rows_differ);
}

/* ---- loaded once per feature ---- */

void bag_open_strides(const bag_class *c, ig_builder *b, ig_value *number,
                      bag_cursor *at) {
    at->id_stride = feature_value(c, b, number, BAG_id_stride);
    if (!c->features[0].begins) {
        at->length = feature_value(c, b, number, BAG_length);
        at->bag_stride = feature_value(c, b, number, BAG_bag_stride);
    }
}

void bag_open_tables(const bag_class *c, ig_builder *b, ig_value *number,
                     ig_value *operand, bag_cursor *at) {
    at->index = number;
    at->operand = operand;
    if (c->features[0].tables == 1) {
        at->table = k_buffer_at(b, c->features[0].table->buffer, operand);
    }
}

void bag_open_feature(const bag_class *c, ig_builder *b, ig_value *number,
                      bag_cursor *at) {
    const bag_feature *f = &c->features[0];
    ig_value *operand = k_mul(b, number, k_i64(b, c->stride));
    at->ids_operand = k_add(b, operand, k_i64(b, f->ids_operand));
    at->begins_operand = k_add(b, operand, k_i64(b, f->begins_operand));
    bag_open_tables(c, b, number, operand, at);
    at->ids = k_buffer_at(b, f->ids->buffer, operand);
    at->out = k_buffer_at(b, f->out->buffer, number);
    at->begins = f->begins ? k_buffer_at(b, f->begins->buffer, operand) : NULL;
    at->ends = f->ends ? k_buffer_at(b, f->ends->buffer, operand) : NULL;
    at->weights = f->weights ? k_buffer_at(b, f->weights->buffer, operand) : NULL;
    at->rows = f->tables == 1 ? feature_value(c, b, number, BAG_rows) : NULL;
    bag_open_strides(c, b, number, at);
    at->id_count = feature_value(c, b, number, BAG_id_count);
    at->out_stride = feature_value(c, b, number, BAG_out_stride);
    at->bags = feature_value(c, b, number, BAG_bags);
    at->padding = f->has_padding ? feature_value(c, b, number, BAG_padding) : NULL;
    at->weight_stride = f->weights ? feature_value(c, b, number, BAG_weight_stride)
                                   : NULL;
    if (f->begins) {
        at->begin_stride = feature_value(c, b, number, BAG_begin_stride);
        at->begin_count = feature_value(c, b, number, BAG_begin_count);
        at->end_stride = f->ends ? feature_value(c, b, number, BAG_end_stride) : NULL;
        return; /* a window is opened when all of these are known: bag_open_tiles */
    }
    at->weight_bag_stride = f->weights
                                ? feature_value(c, b, number, BAG_weight_bag_stride)
                                : NULL;
}

/* ---- the ids of one bag ---- */

ig_value *bag_load_offset(ig_builder *b, ig_value *buffer, ig_value *index,
                          ig_value *stride) {
    return k_cast(b, k_load(b, buffer, k_mul(b, index, stride), 1), IG_DT_i64);
}

static ig_value *load_end(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *bag) {
    if (at->ends) {
        return bag_load_offset(b, at->ends, bag, at->end_stride);
    }
    ig_value *next = k_add(b, bag, k_i64(b, 1));
    if (c->last != IG_LAST_ids) {
        return bag_load_offset(b, at->begins, next, at->begin_stride);
    }
    ig_value *last = k_sub(b, at->begin_count, k_i64(b, 1));
    ig_value *end = bag_load_offset(b, at->begins, k_min(b, next, last),
                                    at->begin_stride);
    return k_where(b, k_compare(b, IG_OP_lt, next, at->begin_count), end, at->id_count);
}

void bag_load_offsets(const bag_class *c, ig_builder *b, const bag_cursor *at,
                      ig_value *first, ig_value *last, ig_value *out_ends[2]) {
    out_ends[0] = bag_load_offset(b, at->begins, first, at->begin_stride);
    out_ends[1] = load_end(c, b, at, last);
}

/* The two ways of exporters with ids after the last offset (ig_bag_last). */
static void open_last(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag,
                      ig_value *begin, ig_value **end) {
    ig_bag_last last = c->last;
    if (last != IG_LAST_mean && last != IG_LAST_rest) {
        return;
    }
    ig_value *is_last = k_compare(b, IG_OP_eq, bag, k_sub(b, at->bags, k_i64(b, 1)));
    if (last == IG_LAST_mean) {
        ig_value *rest = k_sub(b, at->id_count, begin);
        at->divisor = k_where(b, is_last, rest, k_sub(b, *end, begin));
        return;
    }
    ig_value *goes_on = k_binary(b, IG_OP_and, is_last,
                                 k_compare(b, IG_OP_ne, begin, *end));
    *end = k_where(b, goes_on, at->id_count, *end);
}

static ig_value *from_either_end(ig_builder *b, ig_value *at, ig_value *count) {
    ig_value *is_negative = k_compare(b, IG_OP_lt, at, k_i64(b, 0));
    return k_where(b, is_negative, k_add(b, at, count), at);
}

static bool moves_offsets(const bag_class *c) {
    return c->offsets == IG_OFFSETS_clamp || c->offsets == IG_OFFSETS_slice;
}

/* Where all offsets begin at 0: does the first? */
static ig_value *begins_well(const bag_class *c, ig_builder *b, ig_value *bag,
                             ig_value *begin) {
    ig_value *zero = k_i64(b, 0);
    if (c->offsets != IG_OFFSETS_first) {
        return k_compare(b, IG_OP_ge, begin, zero);
    }
    ig_value *is_later = k_binary(b, IG_OP_and, k_compare(b, IG_OP_ne, bag, zero),
                                  k_compare(b, IG_OP_ge, begin, zero));
    return k_binary(b, IG_OP_or, is_later, k_compare(b, IG_OP_eq, begin, zero));
}

/* Reports an error in a bag's offsets: its begin, where that is outside of the
 * ids or should be 0, else its end, outside of them or smaller than the begin. */
static void report_offset(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *bag, ig_value *const ends[2]) {
    ig_value *one = k_i64(b, 1), *is_begin = begins_well(c, b, bag, ends[0]);
    is_begin = k_binary(b, IG_OP_and, is_begin,
                        k_compare(b, IG_OP_le, ends[0], at->id_count));
    ig_value *next = at->ends ? bag : k_add(b, bag, one);
    ig_value *operand = at->ends ? k_add(b, at->begins_operand, one)
                                 : at->begins_operand;
    k_report(b, k_where(b, is_begin, operand, at->begins_operand),
             k_where(b, is_begin, next, bag), k_where(b, is_begin, ends[1], ends[0]));
}

/* Offsets must rise within the ids, or are made to; a bag whose do not is reported and
 * gets no ids. */
static void check_offsets(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *bag, ig_value **begin, ig_value **end) {
    ig_value *zero = k_i64(b, 0);
    if (c->offsets == IG_OFFSETS_slice) {
        *begin = from_either_end(b, *begin, at->id_count);
        *end = from_either_end(b, *end, at->id_count);
    }
    if (moves_offsets(c)) {
        *begin = k_max(b, k_min(b, *begin, at->id_count), zero);
        *end = k_max(b, k_min(b, *end, at->id_count), *begin);
        return;
    }
    ig_value *rises = k_binary(b, IG_OP_and, begins_well(c, b, bag, *begin),
                               k_compare(b, IG_OP_le, *begin, *end));
    ig_value *is_inside = k_compare(b, IG_OP_le, *end, at->id_count);
    ig_value *is_good = k_binary(b, IG_OP_and, rises, is_inside);
    k_if check = k_if_open(b, is_good, NULL, 0);
    report_offset(c, &check.other, at, bag, (ig_value *[]){ *begin, *end });
    k_if_close(&check, NULL, NULL);
    *begin = k_where(b, is_good, *begin, zero);
    *end = k_where(b, is_good, *end, zero);
}

static void open_offsets(const bag_class *c, ig_builder *b, bag_cursor *at,
                         ig_value *bag) {
    assert(at->begins && "a feature with offsets");
    ig_value *begin = bag_load_offset(b, at->begins, bag, at->begin_stride);
    ig_value *end = load_end(c, b, at, bag);
    check_offsets(c, b, at, bag, &begin, &end);
    open_last(c, b, at, bag, begin, &end);
    at->count = k_sub(b, end, begin);
    at->first = begin;
    at->id_at = k_mul(b, at->first, at->id_stride);
    at->weight_at = at->weights ? k_mul(b, at->first, at->weight_stride) : NULL;
}

/* Without pooling, the offsets of all bags together say which ids are looked up. */
static void open_window(const bag_class *c, ig_builder *b, ig_value *number,
                        bag_cursor *at) {
    assert(c->features[0].pool == IG_POOL_none &&
           "windows are of look-ups without pooling");
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1);
    ig_value *bags = feature_value(c, b, number, BAG_window_bags);
    const ig_type *types[] = { zero->type, zero->type };
    k_if is_some = k_if_open(b, k_compare(b, IG_OP_gt, bags, zero), types, 2);
    ig_builder *then = &is_some.then;
    ig_value *begin = bag_load_offset(then, at->begins, zero, at->begin_stride);
    ig_value *end = load_end(c, then, at, k_sub(then, bags, one));
    check_offsets(c, then, at, zero, &begin, &end);
    k_if_close(&is_some, (ig_value *[]){ begin, end }, (ig_value *[]){ zero, zero });
    at->window[0] = is_some.results[0];
    at->window[1] = is_some.results[1];
}

static void open_in_window(ig_builder *b, bag_cursor *at, ig_value *bag) {
    ig_value *is_in = k_binary(b, IG_OP_and, k_compare(b, IG_OP_ge, bag, at->window[0]),
                               k_compare(b, IG_OP_lt, bag, at->window[1]));
    at->count = k_where(b, is_in, k_i64(b, 1), k_i64(b, 0));
    at->first = bag;
    at->id_at = k_mul(b, bag, at->id_stride);
    at->weight_at = at->weights ? k_mul(b, bag, at->weight_stride) : NULL;
}

void bag_open(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag) {
    if (at->window[0]) {
        open_in_window(b, at, bag);
        return;
    }
    if (at->begins) {
        open_offsets(c, b, at, bag);
        return;
    }
    at->count = at->length;
    at->first = k_mul(b, bag, at->length);
    at->id_at = k_mul(b, bag, at->bag_stride);
    at->weight_at = at->weights ? k_mul(b, bag, at->weight_bag_stride) : NULL;
}

/* ---- one id ---- */

/* Negative ids may count from the end. */
static ig_value *wrapped_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             ig_value *id) {
    assert(id->type->dtype == IG_DT_i64 && "ids are handled as i64");
    if (c->negative != IG_NEGATIVE_wrap) {
        return id;
    }
    ig_value *is_negative = k_compare(b, IG_OP_lt, id, k_i64(b, 0));
    return k_where(b, is_negative, k_add(b, id, at->rows), id);
}

/* A table without rows has none to go to. */
static bool has_rows(const bag_class *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (ig_dim_is(c->features[i].rows[0], 0)) {
            return false;
        }
    }
    return true;
}

/* The row of an id; reports one that is out of range and takes row 0 for it. */
static ig_value *checked_row(const bag_class *c, ig_builder *b, const bag_cursor *at,
                             ig_value *id, ig_value *position) {
    ig_value *zero = k_i64(b, 0);
    ig_value *row = wrapped_row(c, b, at, id);
    ig_value *is_good = k_compare(b, IG_OP_lt, k_cast(b, row, IG_DT_u64),
                                  k_cast(b, at->rows, IG_DT_u64));
    bool moves = has_rows(c) && c->negative != IG_NEGATIVE_error;
    if (c->range == IG_RANGE_clamp && moves) {
        ig_value *last = k_sub(b, at->rows, k_i64(b, 1));
        return k_min(b, k_max(b, row, zero), last);
    }
    if (c->range == IG_RANGE_first && moves) {
        return k_where(b, is_good, row, zero);
    }
    if (c->range != IG_RANGE_error && has_rows(c)) { /* negative ids are errors */
        ig_value *last = c->range == IG_RANGE_clamp ? k_sub(b, at->rows, k_i64(b, 1))
                                                    : zero;
        ig_value *is_high = k_compare(b, IG_OP_ge, row, at->rows);
        row = k_where(b, is_high, last, row);
        is_good = k_compare(b, IG_OP_ge, row, zero);
    }
    k_if check = k_if_open(b, is_good, NULL, 0);
    k_report(&check.other, at->ids_operand, position, id);
    k_if_close(&check, NULL, NULL);
    return k_where(b, is_good, row, zero);
}

static void count_taken(ig_builder *b, ig_value *is_taken, bag_sums *sums) {
    ig_value *one = k_where(b, is_taken, k_i64(b, 1), k_i64(b, 0));
    sums->taken = k_add(b, sums->taken, one);
}

/* Is the row of this id added, or is it padding or pruned? NULL: always.  Padding does
 * not count in the mean, a pruned row does; a maximum is of the rows that are added. */
static ig_value *is_added(const bag_class *c, ig_builder *b, const bag_cursor *at,
                          ig_value *id, bag_sums *sums) {
    bool skips = c->negative == IG_NEGATIVE_skip;
    ig_value *is_there = skips ? k_compare(b, IG_OP_ne, id, k_i64(b, -1)) : NULL;
    bool is_max = c->features[0].pool == IG_POOL_max;
    if (!at->padding) {
        if (is_there && is_max) {
            count_taken(b, is_there, sums);
        }
        return is_there;
    }
    ig_value *counts = k_compare(b, IG_OP_ne, wrapped_row(c, b, at, id), at->padding);
    ig_value *is_row = is_there ? k_binary(b, IG_OP_and, is_there, counts) : counts;
    count_taken(b, is_max ? is_row : counts, sums);
    return is_row;
}

/* The table of an id becomes the cursor's; the result is the row there.  Any id gives
 * a table: rows are prefetched before ids are checked. */
ig_value *bag_open_id(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *id) {
    const bag_feature *f = &c->features[0];
    if (f->tables == 1) {
        return id;
    }
    ig_value *bits = k_i64(b, IG_BAG_ROW_BITS), *last = k_i64(b, f->tables - 1);
    ig_value *table = k_min(b, k_binary(b, IG_OP_shr, id, bits), last);
    table = k_max(b, table, k_i64(b, 0));
    at->table = k_buffer_at(b, f->table->buffer, k_add(b, at->operand, table));
    at->rows = c->all_rows;
    if (c->rows_differ) {
        ig_value *before = k_mul(b, at->index, k_i64(b, f->tables));
        at->rows = k_param_at(b, c->all_rows, k_add(b, before, table));
    }
    return k_sub(b, id, k_binary(b, IG_OP_shl, table, bits));
}

/* Id number j of the bag, and its position among all; its weight becomes the
 * cursor's. */
static ig_value *load_id(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *j,
                         ig_value **out_position) {
    ig_value *position = k_add(b, at->id_at, k_mul(b, j, at->id_stride));
    *out_position = k_add(b, at->first, j);
    ig_value *id = k_cast(b, k_load(b, at->ids, position, 1), IG_DT_i64);
    if (at->weights) {
        ig_value *w = k_add(b, at->weight_at, k_mul(b, j, at->weight_stride));
        ig_dtype to = bag_sum_dtype(c) == IG_DT_f64 ? IG_DT_f64 : IG_DT_f32;
        at->weight = k_cast(b, k_load(b, at->weights, w, 1), to);
    }
    return id;
}

static void emit_id(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *j,
                    bag_sums *sums) {
    ig_value *position, *id = load_id(c, b, at, j, &position);
    ig_value *is_taken = is_added(c, b, at, id, sums);
    id = bag_open_id(c, b, at, id);
    if (!is_taken) {
        bag_add_row(c, b, at, checked_row(c, b, at, id, position), sums);
        return;
    }
    ig_value *before[K_CARRIED], *after[K_CARRIED];
    const ig_type *types[K_CARRIED];
    uint32_t count = bag_sums_pack(sums, before);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = before[i]->type;
    }
    k_if taken = k_if_open(b, is_taken, types, count);
    ig_value *row = checked_row(c, &taken.then, at, id, position);
    bag_add_row(c, &taken.then, at, row, sums);
    bag_sums_pack(sums, after);
    k_if_close(&taken, after, before);
    bag_sums_unpack(sums, taken.results);
}

/* ---- bags, tiles, features ---- */

/* Are all ids of a bag rows of one table, none of which is left out? */
static bool adds_all(const bag_class *c, const bag_cursor *at) {
    return c->features[0].tables == 1 && !at->padding &&
           c->negative != IG_NEGATIVE_skip;
}

/* Adds ids j … j + BAG_ROWS - 1: all are loaded, then all checked, so that nothing is
 * between the loads of ids, nor between those of their rows. */
static void emit_rows(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *j,
                      bag_sums *sums) {
    ig_value *ids[BAG_ROWS], *positions[BAG_ROWS];
    ig_value *rows[BAG_ROWS], *weights[BAG_ROWS];
    bag_row loaded[BAG_ROWS];
    for (int64_t i = 0; i < BAG_ROWS; i++) {
        ig_value *number = k_add(b, j, k_i64(b, i));
        ids[i] = load_id(c, b, at, number, &positions[i]);
        weights[i] = at->weight;
    }
    for (int64_t i = 0; i < BAG_ROWS; i++) {
        rows[i] = checked_row(c, b, at, ids[i], positions[i]);
    }
    for (int64_t i = BAG_ROWS - 1; i >= 0; i--) { /* the first to be added last */
        at->weight = weights[i];
        bag_load_row(c, b, at, rows[i], sums, &loaded[i]);
    }
    for (int64_t i = 0; i < BAG_ROWS; i++) {
        at->weight = weights[i];
        bag_add_loaded(c, b, at, &loaded[i], sums);
    }
}

/* GPU: as many ids as are a multiple of BAG_ROWS; the number of those. */
static ig_value *emit_many(const bag_class *c, ig_builder *b, bag_cursor *at,
                           bag_sums *sums) {
    ig_value *state[K_CARRIED], *step = k_i64(b, BAG_ROWS);
    ig_value *many = k_sub(b, at->count, k_mod(b, at->count, step));
    uint32_t count = bag_sums_pack(sums, state);
    k_loop loop = k_loop_open(b, k_i64(b, 0), many, step, state, count);
    bag_sums_unpack(sums, loop.carried);
    emit_rows(c, &loop.b, at, loop.index, sums);
    bag_sums_pack(sums, state);
    k_loop_close(&loop, state, count);
    bag_sums_unpack(sums, loop.results);
    return many;
}

/* Columns column … column + vectors * lanes of one bag. */
void bag_emit_columns(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag,
                      uint32_t vectors) {
    assert(at->count && "the bag is open");
    bag_sums sums = bag_sums_start(c, b, vectors);
    bool has_many = c->lower->target->has_threads && adds_all(c, at);
    ig_value *begin = has_many ? emit_many(c, b, at, &sums) : NULL;
    ig_value *state[K_CARRIED];
    uint32_t own = bag_sums_pack(&sums, state);
    uint32_t count = own + bag_ahead_pack(at->ahead, state + own);
    k_loop loop = k_loop_open(b, begin ? begin : k_i64(b, 0), at->count, k_i64(b, 1),
                              state, count);
    bag_sums_unpack(&sums, loop.carried);
    bag_ahead_unpack(at->ahead, loop.carried + own);
    bag_ahead_step(c, &loop.b, at->ahead);
    emit_id(c, &loop.b, at, loop.index, &sums);
    bag_sums_pack(&sums, state);
    bag_ahead_pack(at->ahead, state + own);
    k_loop_close(&loop, state, count);
    bag_sums_unpack(&sums, loop.results);
    bag_ahead_unpack(at->ahead, loop.results + own);
    bag_store(c, b, at, bag, &sums);
}

static void find_tiles(const bag_class *c, ig_builder *b, ig_value *number,
                       const bag_cursor *at, ig_value *const range[2],
                       ig_value *out_bags[2]) {
    ig_value *first = feature_value(c, b, number, BAG_first_tile);
    ig_value *tiles = k_ceil_div(b, at->bags, BAGS);
    ig_value *zero = k_i64(b, 0);
    ig_value *low = k_max(b, k_sub(b, range[0], first), zero);
    ig_value *high = k_min(b, k_sub(b, range[1], first), tiles);
    out_bags[0] = k_mul(b, low, k_i64(b, BAGS));
    out_bags[1] = k_min(b, k_mul(b, high, k_i64(b, BAGS)), at->bags);
}

void bag_open_tiles(const bag_class *c, ig_builder *b, ig_value *number, bag_cursor *at,
                    ig_value *const range[2], ig_value *out_bags[2]) {
    if (at->begins && c->features[0].pool == IG_POOL_none) {
        open_window(c, b, number, at);
    }
    if (c->plan) {
        bag_planned_bags(c, b, number, out_bags);
    } else {
        find_tiles(c, b, number, at, range, out_bags);
    }
}

static void emit_class(const bag_class *c, ig_value *const range[2],
                       bag_emit_feature emit) {
    ig_builder *b = &c->lower->b;
    bag_ahead cursor, *ahead = bag_ahead_start(c, b, &cursor) ? &cursor : NULL;
    ig_value *zero = k_i64(b, 0), *one = k_i64(b, 1), *state[BAG_AHEAD];
    uint32_t count = bag_ahead_pack(ahead, state);
    if (c->count == 1) {
        emit(c, b, zero, range, ahead);
        return;
    }
    k_loop features = k_loop_open(b, zero, k_i64(b, c->count), one, state, count);
    bag_ahead_unpack(ahead, features.carried);
    emit(c, &features.b, features.index, range, ahead);
    bag_ahead_pack(ahead, state);
    k_loop_close(&features, state, count);
}

/* ---- the schedule ---- */

static ig_status emit_classes(ig_lower *lower, const bag_class *shared,
                              bag_feature *features, uint32_t count,
                              bag_emit_feature emit) {
    ig_value *range[2];
    k_tiles(&lower->b, &range[0], &range[1]);
    for (uint32_t i = 0; i < count;) {
        bag_class c = *shared;
        c.features = &features[i];
        c.count = 1;
        c.fields = IG_NEW_ARRAY(lower->arena, ig_value *, BAG_FIELDS);
        c.is_array = IG_NEW_ARRAY(lower->arena, bool, BAG_FIELDS);
        c.stride = features[i].operand_count;
        c.last = features[i].last;
        while (i + c.count < count && is_alike(&c, &features[i + c.count])) {
            bool may_end = features[i + c.count].last == IG_LAST_ids;
            c.last = may_end ? IG_LAST_ids : c.last;
            c.count++;
        }
        IG_TRY(bag_choose_lanes(&c));
        if (c.features[0].tables > 1) {
            make_rows(&c);
        }
        if (!lower->target->has_threads) {
            bag_plan(&c, &lower->b, range);
        }
        emit_class(&c, range, emit);
        i += c.count;
    }
    return IG_OK;
}

/* The ranges of ids and offsets, for the message of an error. */
static void set_ranges(ig_lower *lower, const ig_op *anchor,
                       const bag_feature *features) {
    ig_module *module = lower->module;
    bool wraps = ig_attr_int(anchor, IG_bag_negative, 0) == IG_NEGATIVE_wrap;
    for (uint32_t i = 0; i < anchor->result_count; i++) {
        const bag_feature *f = &features[i];
        ig_lower_range(lower, f->ids_operand, f->rows[0], wraps);
        if (f->begins) {
            ig_dim ids = f->fields[BAG_id_count];
            ig_lower_offsets(lower, f->begins_operand,
                             ig_dim_add(module, ids, ig_dim_of(1)));
        }
    }
}

ig_status bag_lower(ig_lower *lower, bag_emit_feature emit) {
    ig_op *anchor = ig_lower_anchor(lower, IG_OP_bag);
    assert(anchor && "the family's body has its anchor");
    uint32_t count = anchor->result_count;
    bag_feature *features = IG_NEW_ARRAY(lower->arena, bag_feature, count);
    IG_TRY(bag_read_features(lower, anchor, features));
    ig_dim tiles = ig_dim_of(0);
    lower->cost = ig_dim_of(0);
    for (uint32_t i = 0; i < count; i++) {
        ig_dim *fields = features[i].fields;
        fields[BAG_first_tile] = tiles;
        ig_dim own = ig_lower_ceil_div(lower, fields[BAG_bags], BAGS);
        tiles = ig_dim_add(lower->module, tiles, own);
        ig_dim work = ig_lower_mul(lower, fields[BAG_id_count], ig_dim_of(20));
        lower->cost = ig_dim_add(lower->module, lower->cost, work);
    }
    set_ranges(lower, anchor, features);
    lower->grid = tiles;
    lower->name = "bag";
    bag_class shared = {
        .lower = lower,
        .negative = (ig_negative)ig_attr_int(anchor, IG_bag_negative, 0),
        .range = (ig_range_rule)ig_attr_int(anchor, IG_bag_range, 0),
        .offsets = (ig_offsets_rule)ig_attr_int(anchor, IG_bag_offsets, 0),
    };
    return emit_classes(lower, &shared, features, count, emit);
}
