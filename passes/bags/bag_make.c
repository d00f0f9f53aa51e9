/* Making a bag op of one feature from the recognised parts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the positions of trip i begin and end decides the form:
 *
 *     offsets[i] to offsets[i + 1], the last to the end of ids    begins
 *     the same, the last to offsets[count]                        begins, and `last`
 *     begins[i] to ends[i]                                        begins and ends
 *     first + L * i to first + L * (i + 1)                        ids as [count, L]
 *
 * First it is decided, and nothing made; then everything is made, so that a form that
 * is not one of these leaves no trace.
 */
#include "passes/bags/bag_make.h"

#include "ir/build/expr.h"
#include "passes/canonical/canonicalise.h"

#include <assert.h>

/* ---- one feature ---- */

static ig_empty empty_rule(const ig_recogniser *r, const ig_bag_spec *spec) {
    static const ig_empty reduced[] = { [IG_POOL_sum] = IG_EMPTY_zero,
                                        [IG_POOL_mean] = IG_EMPTY_nan,
                                        [IG_POOL_max] = IG_EMPTY_neg_inf,
                                        [IG_POOL_none] = IG_EMPTY_zero };
    bool is_zero = spec->is_zero_if_empty || r->run->options->torch_empty;
    return is_zero ? IG_EMPTY_zero : reduced[spec->pool];
}

/* A list of one entry; NULL when the entry is the default. */
static ig_ints make_entry(const int64_t *value, int64_t absent) {
    return (ig_ints){ *value == absent ? NULL : value, 1 };
}

ig_value *ig_make_bag(const ig_recogniser *r, ig_builder *b, const ig_bag_spec *spec) {
    assert(spec->table && spec->ids && "a bag looks ids up in a table");
    assert((!spec->ends || spec->begins) && "ends come with begins");
    ig_value *operands[5] = { spec->table, spec->ids };
    uint32_t count = 2;
    int64_t mask = 0, pool = spec->pool, last = spec->last, empty = empty_rule(r, spec);
    ig_value *const extra[] = { spec->begins, spec->ends, spec->weights };
    static const int64_t bits[] = { IG_BAG_BEGINS, IG_BAG_ENDS, IG_BAG_WEIGHTS };
    for (uint32_t i = 0; i < 3; i++) {
        if (extra[i]) {
            operands[count++] = extra[i];
            mask |= bits[i];
        }
    }
    ig_bag_attrs attrs = {
        .operands = { &mask, 1 },
        .pool = { &pool, 1 },
        .padding = make_entry(&spec->padding, IG_NO_PADDING),
        .last = make_entry(&last, IG_LAST_ids),
        .empty = make_entry(&empty, IG_EMPTY_zero),
        .negative = (int)spec->negative,
        .range = r->run->options->clamp_ids ? IG_RANGE_clamp : IG_RANGE_error,
    };
    if (spec->begins) { /* a recognised lookup took its ids by slices */
        attrs.offsets = IG_OFFSETS_slice;
    }
    ig_expr e = ig_expr_of(b);
    return ig_build_bag(&e, operands, count, attrs);
}

/* ---- deciding ---- */

/* vector[base : base + size] */
typedef struct piece {
    ig_value *vector;
    ig_dim base, size;
} piece;

typedef struct decision {
    const ig_trips *t;
    const ig_bag_row *row;
    ig_bag_spec spec;
    piece begins, ends;
    bool is_fixed;
    ig_dim length; /* of each bag, when fixed */
    piece fixed;   /* the ids of all bags, when fixed */
    bool to_end;   /* that goes to the end of the ids */
} decision;

static bool is_equal(const decision *d, ig_dim a, ig_dim b) {
    return ig_dim_equal(d->t->module, a, b) == IG_YES;
}

static ig_dim id_count(const decision *d) {
    return d->row->rows.ids->type->dims[0];
}

/* Not provably different: a likely equality gets a guard. */
static bool may_equal(const decision *d, ig_dim a, ig_dim b) {
    return ig_dim_equal(d->t->module, a, b) != IG_NO;
}

/* To the end of the ids, or so far that it is cut there. */
static bool is_end_of_ids(const decision *d, const ig_number *n) {
    int64_t known;
    bool is_far = ig_dim_constant(d->t->module, n->base, &known) && known == INT64_MAX;
    return !n->vector && ig_dim_is(n->step, 0) &&
           (is_far || is_equal(d, n->base, id_count(d)));
}

/* A number in every trip: one of its own, or an element of an outside vector. */
static bool is_plain(const ig_bound *bound) {
    return !bound->has_last;
}

static bool is_next(const decision *d, const ig_number *a, const ig_number *b) {
    return a->vector == b->vector &&
           is_equal(d, ig_dim_add(d->t->module, a->base, ig_dim_of(1)), b->base);
}

/* begins = vector[base : base + count], or one more. */
static void take_begins(decision *d, const ig_number *n, ig_bag_last last) {
    ig_dim size = ig_dim_add(d->t->module, d->t->count, ig_dim_of(last != IG_LAST_ids));
    d->begins = (piece){ n->vector, n->base, size };
    d->spec.last = last;
}

static ig_bag_last last_of(const ig_bag_row *row) {
    return row->is_last_over_rest ? IG_LAST_mean
           : row->has_own_end     ? IG_LAST_rest
                                  : IG_LAST_offset;
}

static bool is_inside(const decision *d, const piece *p) {
    ig_dim past = ig_dim_add(d->t->module, p->base, p->size);
    return ig_dim_less_equal(d->t->module, past, p->vector->type->dims[0]) == IG_YES;
}

/* Elements of one vector after the other. */
static bool decide_offsets(decision *d, const ig_number *begin, const ig_bound *end) {
    ig_bag_last last = last_of(d->row);
    if (!is_next(d, begin, &end->usual) || !ig_dim_is(begin->step, 1) ||
        !ig_dim_is(end->usual.step, 1)) {
        return false;
    }
    if (end->has_last) {
        last = d->row->has_own_end ? IG_LAST_rest : IG_LAST_ids;
        take_begins(d, begin, last);
        return is_end_of_ids(d, &end->last) && !d->row->is_last_over_rest &&
               is_inside(d, &d->begins);
    }
    take_begins(d, begin, last);
    return is_inside(d, &d->begins);
}

/* Elements of two vectors. */
static bool decide_ends(decision *d, const ig_bound *begin, const ig_bound *end) {
    if (!begin->given.vector || !end->given.vector ||
        !ig_dim_is(begin->given.step, 1) || !ig_dim_is(end->given.step, 1) ||
        last_of(d->row) != IG_LAST_offset) {
        return false;
    }
    d->spec.last = IG_LAST_ids;
    d->begins = (piece){ begin->given.vector, begin->given.base, d->t->count };
    d->ends = (piece){ end->given.vector, end->given.base, d->t->count };
    return is_inside(d, &d->begins) && is_inside(d, &d->ends);
}

/* Ids from `first` on, `length` for each bag, and none left over where the last bag
 * goes to the end of the ids.  Bags that are there in any case are only made when the
 * ids are known to be there too; those of a loop ask for them by a guard, but a last
 * bag to the end only where all ids are in bags, as in a matrix of them. */
static bool decide_lengths(decision *d, ig_dim first, ig_dim length, bool to_end) {
    ig_module *module = d->t->module;
    ig_dim total = ig_dim_mul(module, d->t->count, length);
    ig_dim past = ig_dim_add(module, first, total);
    ig_truth is_good = to_end ? ig_dim_equal(module, past, id_count(d))
                              : ig_dim_less_equal(module, past, id_count(d));
    d->is_fixed = true;
    d->length = length;
    d->fixed = (piece){ d->spec.ids, first, total };
    d->to_end = to_end;
    bool may_ask = d->t->body && (!to_end || ig_dim_is(first, 0));
    return is_good == IG_YES || (is_good == IG_MAYBE && may_ask);
}

static bool is_not_negative(const decision *d, ig_dim dim) {
    return ig_dim_less_equal(d->t->module, ig_dim_of(0), dim) == IG_YES;
}

/* One bag, from one number to another one. */
static bool decide_single(decision *d, const ig_number *begin, const ig_bound *end) {
    ig_number last = ig_bound_at_last(d->t, end);
    ig_dim past = is_end_of_ids(d, &last) ? id_count(d) : last.base;
    ig_dim length = ig_dim_sub(d->t->module, past, begin->base);
    return !last.vector && is_not_negative(d, length) &&
           decide_lengths(d, begin->base, length, false);
}

/* Bag i from first + L * i to first + L * (i + 1); the last to a given end, which must
 * be the same. */
static bool decide_fixed(decision *d, const ig_number *begin, const ig_bound *end) {
    ig_module *module = d->t->module;
    ig_dim length = ig_dim_sub(module, end->usual.base, begin->base);
    if (last_of(d->row) != IG_LAST_offset || !is_not_negative(d, begin->base)) {
        return false;
    }
    if (is_equal(d, d->t->count, ig_dim_of(1))) {
        return decide_single(d, begin, end);
    }
    if (end->usual.vector || !is_equal(d, begin->step, length) ||
        !is_equal(d, end->usual.step, length) || !is_not_negative(d, length) ||
        (end->has_last && end->last.vector)) {
        return false;
    }
    ig_number as_usual = {
        .base = ig_dim_add(module, begin->base, ig_dim_mul(module, d->t->count, length))
    };
    bool to_end = end->has_last && is_end_of_ids(d, &end->last);
    bool is_same = !end->has_last || to_end ||
                   ig_number_equal(module, &end->last, &as_usual);
    return is_same && decide_lengths(d, begin->base, length, to_end);
}

static bool decide_offsets_or_length(decision *d) {
    const ig_positions *at = &d->row->rows.at;
    if (!at->is_cut || !is_plain(&at->begin)) {
        return false;
    }
    const ig_number *begin = &at->begin.usual;
    d->spec = (ig_bag_spec){ .table = d->row->rows.table,
                             .ids = d->row->rows.ids,
                             .weights = d->row->rows.weights,
                             .pool = d->row->pool,
                             .padding = at->padding,
                             .is_zero_if_empty = d->row->is_zero_if_empty };
    if (!begin->vector) {
        return decide_fixed(d, begin, &at->end);
    }
    return decide_offsets(d, begin, &at->end) || decide_ends(d, &at->begin, &at->end);
}

/* ---- making ---- */

static ig_value *make_piece(const decision *d, ig_builder *b, const piece *p) {
    if (!p->vector ||
        (ig_dim_is(p->base, 0) && is_equal(d, p->size, p->vector->type->dims[0]))) {
        return p->vector;
    }
    ig_expr e = ig_expr_of(b);
    return ig_expr_slice(&e, p->vector, 0, p->base, p->size, 1);
}

static void make_guards(const decision *d, ig_builder *b) {
    ig_module *module = d->t->module;
    ig_expr e = ig_expr_of(b);
    ig_expr_guard_less_equal(&e, ig_dim_of(0), d->t->count,
                             "the offsets must hold the last bag's end");
    if (!d->is_fixed) {
        return;
    }
    ig_dim past = ig_dim_add(module, d->fixed.base, d->fixed.size);
    if (d->to_end) {
        ig_expr_guard_equal(&e, past, id_count(d),
                            "there must be as many ids as bags times ids per bag");
    } else {
        ig_expr_guard_less_equal(&e, past, id_count(d),
                                 "there must be ids for all bags");
    }
}

/* The matrix [bags, length] whose rows, laid end to end, a vector is; or NULL. */
static ig_value *matrix_of(const decision *d, const ig_value *vector) {
    const ig_op *reshape = ig_def(vector, IG_OP_reshape);
    ig_value *matrix = reshape ? reshape->operands[0].value : NULL;
    bool fits = matrix && matrix->type->rank == 2 && ig_dim_is(d->fixed.base, 0) &&
                is_equal(d, matrix->type->dims[1], d->length) &&
                may_equal(d, matrix->type->dims[0], d->t->count);
    return fits && (d->to_end || is_equal(d, d->fixed.size, id_count(d))) ? matrix
                                                                          : NULL;
}

/* Ids or weights, one per id, as [bags, length]. */
static ig_value *make_matrix(const decision *d, ig_builder *b, ig_value *list) {
    ig_dim dims[] = { d->t->count, d->length };
    piece p = d->fixed;
    p.vector = list;
    ig_expr e = ig_expr_of(b);
    return ig_expr_reshape(&e, make_piece(d, b, &p), 2, dims);
}

static void make_fixed(decision *d, ig_builder *b) {
    ig_bag_spec *spec = &d->spec;
    ig_value *matrix = matrix_of(d, spec->ids);
    ig_expr e = ig_expr_of(b);
    if (matrix) {
        ig_expr_guard_equal(&e, d->t->count, matrix->type->dims[0],
                            "there must be as many rows of ids as bags");
    } else {
        make_guards(d, b);
    }
    spec->ids = matrix ? matrix : make_matrix(d, b, spec->ids);
    bool is_like_ids =
        spec->weights && spec->weights->type->rank == 2 &&
        is_equal(d, spec->weights->type->dims[0], spec->ids->type->dims[0]) &&
        is_equal(d, spec->weights->type->dims[1], spec->ids->type->dims[1]);
    if (spec->weights && !is_like_ids) {
        ig_dim count = d->row->rows.ids->type->dims[0];
        spec->weights = ig_expr_reshape(&e, spec->weights, 1, &count);
        spec->weights = make_matrix(d, b, spec->weights);
    }
}

static ig_value *make_feature(decision *d, ig_builder *b) {
    ig_bag_spec *spec = &d->spec;
    const ig_type *ids = spec->ids->type;
    ig_expr e = ig_expr_of(b);
    if (spec->weights) {
        ig_expr_guard_equal(&e, ig_type_count(d->t->module, spec->weights->type),
                            ids->dims[0], "there must be one weight an id");
    }
    if (d->is_fixed) {
        make_fixed(d, b);
        return ig_make_bag(d->t->r, b, spec);
    }
    make_guards(d, b);
    spec->begins = make_piece(d, b, &d->begins);
    spec->ends = make_piece(d, b, &d->ends);
    if (spec->weights && spec->weights->type->rank != 1) {
        spec->weights = ig_expr_reshape(&e, spec->weights, 1, ids->dims);
    }
    return ig_make_bag(d->t->r, b, spec);
}

/* Is there one weight per id, or may there be? */
static bool has_weights(const decision *d) {
    const ig_value *weights = d->row->rows.weights;
    return !weights ||
           may_equal(d, ig_type_count(d->t->module, weights->type), id_count(d));
}

ig_value *ig_make_bag_of_trips(const ig_trips *t, ig_builder *b,
                               const ig_bag_row *row) {
    decision d = { .t = t, .row = row };
    return decide_offsets_or_length(&d) && has_weights(&d) ? make_feature(&d, b) : NULL;
}
