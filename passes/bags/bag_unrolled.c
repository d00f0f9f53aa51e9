/* bag_unrolled: pooled rows side by side, one for each bag, become a bag op.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %offsets = concat %off, %len {axis = 0} : i64[3]
 *     %3 = slice %ids, [%offsets[0]], [%offsets[1]], [0] : i64[n]
 *     %4 = gather @table, %3 {axis = 0} : f32[n, 64]
 *     %5 = reduce %4 {op = sum, axes = [0], keep} : f32[1, 64]
 *     …                                     # and %9 for offsets[1] and offsets[2]
 *     %10 = concat %5, %9 {axis = 0} : f32[2, 64]
 *   becomes
 *     %10 = bag @table, %ids, %off {operands = [1], pool = [sum]} : f32[2, 64]
 *
 * This is what torch's older exporter wrote at opset 10, which has no loop that it
 * could use: the number of bags is fixed, and the last offset may be INT64_MAX.  Each
 * row is read as the only trip of a loop; neighbours whose offsets follow each other
 * are then seen as the trips of one loop.  A single reduction is one bag.
 *
 * Needs canonicalise and fold.  Keeps the results, like bag_loop.
 */
#include "ir/build/expr.h"
#include "passes/bags/bag_make.h"

typedef struct unrolled {
    ig_recogniser *r;
    ig_block *block;
    ig_bag_row *rows; /* one an operand of the concat */
    bool *is_read;
} unrolled;

/* ---- neighbours ---- */

static ig_dim add_integer(const unrolled *u, ig_dim a, int64_t b) {
    return ig_dim_add(u->r->module, a, ig_dim_const(u->r->module, b));
}

static bool is_equal(const unrolled *u, ig_dim a, ig_dim b) {
    return ig_dim_equal(u->r->module, a, b) == IG_YES;
}

/* The same in every respect but where it begins and ends. */
static bool is_alike(const ig_bag_row *a, const ig_bag_row *b) {
    return a->pool == b->pool && ig_bag_rows_share(&a->rows, &b->rows) &&
           a->rows.at.padding == b->rows.at.padding &&
           a->is_zero_if_empty == b->is_zero_if_empty && !a->is_last_over_rest &&
           !b->is_last_over_rest && !a->has_own_end && !b->has_own_end;
}

/* Element or number `n` trips after `a`, which rises by `step`. */
static bool is_after(const unrolled *u, const ig_number *a, ig_dim step, uint32_t n,
                     const ig_number *b) {
    ig_dim walked = ig_dim_mul(u->r->module, step, ig_dim_of(n));
    return a->vector == b->vector &&
           is_equal(u, ig_dim_add(u->r->module, a->base, walked), b->base);
}

/* By how much a begin rises: an index by one, a number as the first two say. */
static ig_dim step_of(const unrolled *u, const ig_bag_row *first, uint32_t count) {
    const ig_number *a = &first[0].rows.at.begin.usual;
    bool is_number = !a->vector && count > 1;
    return is_number
               ? ig_dim_sub(u->r->module, first[1].rows.at.begin.usual.base, a->base)
               : ig_dim_of(1);
}

/* Rows first … first + count are trips of one loop, as far as begins say. */
static bool begins_rise(const unrolled *u, const ig_bag_row *first, uint32_t count) {
    ig_dim step = step_of(u, first, count);
    const ig_number *begin = &first->rows.at.begin.usual;
    return is_alike(first, &first[count - 1]) &&
           is_after(u, begin, step, count - 1, &first[count - 1].rows.at.begin.usual);
}

/* And the end of each but the last is where the next begins. */
static bool ends_meet(const unrolled *u, const ig_bag_row *first, uint32_t count) {
    return count < 2 || is_after(u, &first[count - 2].rows.at.end.usual, ig_dim_of(0),
                                 0, &first[count - 1].rows.at.begin.usual);
}

/* ---- one loop ---- */

static ig_number with_step(ig_number first, ig_dim step) {
    first.step = step;
    return first;
}

/* Rows as one row of a loop of `count` trips. */
static ig_bag_row join_rows(const unrolled *u, const ig_bag_row *first,
                            uint32_t count) {
    ig_bag_row joined = *first;
    ig_positions *at = &joined.rows.at;
    ig_dim step = step_of(u, first, count);
    ig_number last = first[count - 1].rows.at.end.usual;
    at->begin.usual = with_step(at->begin.usual, step);
    at->end.usual = at->begin.usual;
    at->end.usual.base = at->begin.usual.vector
                             ? add_integer(u, at->begin.usual.base, 1)
                             : ig_dim_add(u->r->module, at->begin.usual.base, step);
    if (!is_after(u, &at->end.usual, step, count - 1, &last)) {
        at->end.has_last = true;
        at->end.last = last;
    }
    bool is_given = count == 1 && at->begin.given.vector && at->end.given.vector;
    at->begin.given = is_given ? with_step(at->begin.given, ig_dim_of(1))
                               : (ig_number){ 0 };
    at->end.given = is_given ? with_step(at->end.given, ig_dim_of(1))
                             : (ig_number){ 0 };
    return joined;
}

/* Ids and weights were cut at the same positions, so the cuts are as long, and the
 * guards that compare them hold. */
static void learn_extents(const unrolled *u, const ig_bag_row *row) {
    ig_value *cut = row->rows.at.cut, *other = row->rows.weights_cut;
    if (cut && other) {
        const ig_type *fresh = ig_type_with_dims(u->r->module, other->type, 1,
                                                 cut->type->dims);
        ig_symbols_learn(&u->r->symbols, other->def, other->type, fresh);
    }
}

static ig_value *make_bags(const unrolled *u, ig_builder *b, const ig_bag_row *first,
                           uint32_t count) {
    ig_trips t = ig_trips_of_one(u->r, u->block);
    t.count = ig_dim_of(count);
    ig_bag_row joined = join_rows(u, first, count);
    ig_value *bags = ig_make_bag_of_trips(&t, b, &joined);
    for (uint32_t i = 0; bags && i < count; i++) {
        learn_extents(u, &first[i]);
    }
    return bags;
}

/* ---- rows of a concat ---- */

static bool read_row(const unrolled *u, ig_value *value, ig_bag_row *out) {
    ig_trips t = ig_trips_of_one(u->r, u->block);
    return ig_bag_row_read(&t, value, out) && !out->rows.at.begin.has_last &&
           !out->rows.at.end.has_last;
}

static uint32_t run_length(const unrolled *u, uint32_t first, uint32_t count) {
    uint32_t length = 1;
    while (first + length < count && u->is_read[first + length] &&
           begins_rise(u, &u->rows[first], length + 1) &&
           ends_meet(u, &u->rows[first], length + 1)) {
        length++;
    }
    return length;
}

static bool read_operands(unrolled *u, const ig_op *concat) {
    bool is_some = false;
    u->rows = IG_NEW_ARRAY(u->r->arena, ig_bag_row, concat->operand_count);
    u->is_read = IG_NEW_ARRAY(u->r->arena, bool, concat->operand_count);
    for (uint32_t i = 0; i < concat->operand_count; i++) {
        ig_value *value = concat->operands[i].value;
        u->is_read[i] = ig_dim_is(value->type->dims[0], 1) &&
                        read_row(u, value, &u->rows[i]);
        is_some = is_some || u->is_read[i];
    }
    return is_some;
}

/* Puts one bag op in the place of each run of rows. */
static uint32_t replace_runs(unrolled *u, ig_builder *b, const ig_op *concat,
                             ig_value **parts) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < concat->operand_count;) {
        uint32_t length = u->is_read[i] ? run_length(u, i, concat->operand_count) : 1;
        ig_value *bags = length > 1 ? make_bags(u, b, &u->rows[i], length) : NULL;
        for (uint32_t k = 0; !bags && k < length; k++) {
            parts[count++] = concat->operands[i + k].value;
        }
        if (bags) {
            parts[count++] = bags;
        }
        i += length;
    }
    return count;
}

static void match_concat(ig_recogniser *r, ig_op *concat) {
    unrolled u = { .r = r, .block = concat->block };
    bool is_rows = concat->results->type->rank == 2 &&
                   ig_attr_int(concat, IG_concat_axis, 0) == 0;
    if (!is_rows || !read_operands(&u, concat)) {
        return;
    }
    ig_builder b = ig_builder_before(concat);
    ig_value **parts = IG_NEW_ARRAY(r->arena, ig_value *, concat->operand_count);
    uint32_t count = replace_runs(&u, &b, concat, parts);
    if (count == concat->operand_count) {
        return; /* a single row is read as such */
    }
    ig_expr e = ig_expr_of(&b);
    ig_value *joined = ig_expr_concat(&e, 0, parts, count);
    ig_recogniser_replace(r, concat->results, joined);
    ig_recogniser_sweep(r, concat);
}

static void match_reduce(ig_recogniser *r, ig_op *reduce) {
    unrolled u = { .r = r, .block = reduce->block };
    ig_bag_row row;
    ig_value *result = reduce->results;
    if (!result->uses || !read_row(&u, result, &row)) {
        return;
    }
    ig_builder b = ig_builder_before(reduce);
    ig_value *bags = make_bags(&u, &b, &row, 1);
    if (bags) {
        ig_expr e = ig_expr_of(&b);
        bags = ig_expr_reshape(&e, bags, result->type->rank, result->type->dims);
        ig_recogniser_replace(r, result, bags);
        ig_recogniser_sweep(r, reduce);
    }
}

ig_status ig_pass_bag_unrolled(ig_pass_run *run, ig_graph *graph) {
    IG_TRY(ig_recognise(run, graph, IG_OP_concat, match_concat));
    return ig_recognise(run, graph, IG_OP_reduce, match_reduce);
}
