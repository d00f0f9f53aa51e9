/* The positions of a bag's ids that are not the padding id, collected by an inner loop.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %p, %kept = loop %endless, %begin < %end, %begin, %none (%t, %c, %at, %list) {
 *       %id = gather %ids, %at {axis = 0}
 *       %row = if %id < 0 { yield %id + rows } else { yield %id }
 *       %list2 = if %row != padding { yield concat(%list, [%at]) } else { yield %list }
 *       yield %at + 1 < %end, %at + 1, %list2
 *     }
 *     %rows = gather %all_rows, %kept
 *
 * This is how torch's newer exporter writes nn.EmbeddingBag with a padding_idx.  Read
 * as a list, %kept is simply: the positions from begin to end, less those of the
 * padding row.  It is read from inside of the outer loop, whose trips know begin and
 * end.
 */
#include "passes/bags/bag_rows.h"

#include <assert.h>

typedef struct inner_loop {
    const ig_op *op;
    ig_value *at, *list; /* arguments of the body */
    uint32_t at_index, list_index;
} inner_loop;

static ig_value *yielded_value(const inner_loop *loop, uint32_t index) {
    assert(index + 1u < loop->op->bodies[0]->last->operand_count &&
           "a value that the body carries");
    return loop->op->bodies[0]->last->operands[1 + index].value;
}

static bool is_known(const ig_value *value, ig_dim dim) {
    ig_dims_value known;
    return ig_value_dims(value, &known) && known.count == 1 &&
           ig_dim_same(known.dims[0], dim);
}

/* `value` is `x` + 1. */
static bool is_next(ig_value *value, const ig_value *x) {
    const ig_op *add = ig_def(ig_value_before_views(value), IG_OP_add);
    for (uint32_t i = 0; add && i < 2; i++) {
        if (ig_value_before_views(add->operands[i].value) == x &&
            is_known(add->operands[1 - i].value, ig_dim_of(1))) {
            return true;
        }
    }
    return false;
}

/* ---- the shape of the loop ---- */

/* One carried value is a list, another one rises by one. */
static bool find_parts(const ig_value *value, inner_loop *out) {
    const ig_op *op = ig_def(value, IG_OP_loop);
    if (!op || op->result_count != 2 || op->operand_count != 4) {
        return false;
    }
    *out = (inner_loop){ .op = op, .list_index = value->index };
    out->at_index = 1 - value->index;
    out->list = op->bodies[0]->args[2 + out->list_index];
    out->at = op->bodies[0]->args[2 + out->at_index];
    return out->list->type->kind == IG_TENSOR && out->list->type->rank == 1 &&
           out->at->type->kind == IG_TENSOR && out->at->type->rank == 0 &&
           is_next(yielded_value(out, out->at_index), out->at);
}

static bool is_endless(const ig_op *loop) {
    int64_t trips;
    return ig_constant_i64(loop->operands[0].value, &trips) &&
           (trips < 0 || trips == INT64_MAX);
}

/* begin < end at the start and at + 1 < end after each trip, of one and the same
 * end. */
static bool read_ends(const ig_trips *t, const inner_loop *loop, ig_positions *out) {
    ig_less start, proceed;
    ig_number begin, compared, end, same_end;
    ig_value *first = loop->op->operands[2 + loop->at_index].value;
    if (!is_endless(loop->op) || !ig_value_less(loop->op->operands[1].value, &start) ||
        !ig_value_less(loop->op->bodies[0]->last->operands[0].value, &proceed) ||
        start.or_equal || proceed.or_equal || !is_next(proceed.a, loop->at)) {
        return false;
    }
    bool is_read = ig_trips_number(t, first, &begin) &&
                   ig_trips_number(t, start.a, &compared) &&
                   ig_trips_number(t, start.b, &end) &&
                   ig_trips_number(t, proceed.b, &same_end);
    return is_read && ig_number_equal(t->module, &begin, &compared) &&
           ig_number_equal(t->module, &end, &same_end) &&
           ig_trips_bound(t, &begin, &out->begin) && ig_trips_bound(t, &end, &out->end);
}

/* ---- kept positions ---- */

static bool is_empty_list(const ig_value *value) {
    return value->type->kind == IG_TENSOR && value->type->rank == 1 &&
           ig_dim_is(value->type->dims[0], 0);
}

/* The list with the position appended. */
static bool is_longer_list(const inner_loop *loop, ig_value *value) {
    const ig_op *concat = ig_def(value, IG_OP_concat);
    return concat && concat->operand_count == 2 &&
           concat->operands[0].value == loop->list &&
           ig_value_before_views(concat->operands[1].value) == loop->at;
}

/* Condition and values of `if` or `where`. */
static bool read_choice(ig_value *value, ig_value **condition, ig_value **yes,
                        ig_value **no) {
    const ig_op *branch = ig_def(value, IG_OP_if), *where = ig_def(value, IG_OP_where);
    if (branch && branch->result_count == 1) {
        *condition = branch->operands[0].value;
        *yes = branch->bodies[0]->last->operands[0].value;
        *no = branch->bodies[1]->last->operands[0].value;
    } else if (where) {
        *condition = where->operands[0].value;
        *yes = where->operands[1].value;
        *no = where->operands[2].value;
    }
    return where || (branch && branch->result_count == 1);
}

static bool is_id_at(ig_value *value, const inner_loop *loop, ig_value **out_ids) {
    const ig_op *gather = ig_def(value, IG_OP_gather);
    if (!gather || ig_attr_int(gather, IG_gather_axis, 0) != 0 ||
        ig_value_before_views(gather->operands[1].value) != loop->at) {
        return false;
    }
    *out_ids = ig_vector_origin(gather->operands[0].value);
    return (*out_ids)->type->rank == 1;
}

/* `value` is id + a number that is known. */
static bool is_wrapped(ig_value *value, const ig_value *id, ig_dim *out_rows) {
    const ig_op *add = ig_def(ig_value_before_views(value), IG_OP_add);
    ig_dims_value known;
    for (uint32_t i = 0; add && i < 2; i++) {
        if (ig_value_before_views(add->operands[i].value) == id &&
            ig_value_dims(add->operands[1 - i].value, &known) && known.count == 1) {
            *out_rows = known.dims[0];
            return true;
        }
    }
    return false;
}

/* The row of the id at this position: id + rows where id < 0, else id. */
static bool is_row_at(ig_value *value, const inner_loop *loop, ig_kept *out) {
    ig_value *condition, *yes, *no;
    ig_less less;
    if (!read_choice(ig_value_before_views(value), &condition, &yes, &no) ||
        !ig_value_less(condition, &less) || less.or_equal ||
        !is_known(less.b, ig_dim_of(0))) {
        return false;
    }
    ig_value *id = ig_value_before_views(no);
    return ig_value_before_views(less.a) == id && is_id_at(id, loop, &out->ids) &&
           is_wrapped(yes, id, &out->rows);
}

/* Is this position kept?  Its row is not the padding row. */
static bool is_kept_test(ig_value *condition, const inner_loop *loop, ig_kept *out,
                         bool *out_is_not) {
    ig_value *value = ig_value_before_views(condition);
    *out_is_not = true; /* of row = padding */
    while (ig_def(value, IG_OP_not)) {
        *out_is_not = !*out_is_not;
        value = ig_value_before_views(value->def->operands[0].value);
    }
    const ig_op *eq = ig_def(value, IG_OP_eq), *ne = ig_def(value, IG_OP_ne);
    const ig_op *test = eq ? eq : ne;
    *out_is_not = *out_is_not != (ne != NULL);
    for (uint32_t i = 0; test && i < 2; i++) {
        if (ig_constant_i64(test->operands[1 - i].value, &out->at.padding) &&
            is_row_at(test->operands[i].value, loop, out)) {
            return true;
        }
    }
    return false;
}

/* The list, longer by the position where that is kept. */
static bool read_growth(const inner_loop *loop, ig_kept *out) {
    ig_value *condition, *yes, *no;
    bool is_not;
    if (!read_choice(yielded_value(loop, loop->list_index), &condition, &yes, &no) ||
        !is_kept_test(condition, loop, out, &is_not)) {
        return false;
    }
    ig_value *longer = is_not ? no : yes, *same = is_not ? yes : no;
    return same == loop->list && is_longer_list(loop, longer);
}

bool ig_kept_positions(const ig_trips *t, ig_value *value, ig_kept *out) {
    inner_loop loop;
    int64_t rows;
    *out = (ig_kept){ .at = { .is_cut = true } };
    return find_parts(value, &loop) &&
           is_empty_list(loop.op->operands[2 + loop.list_index].value) &&
           read_growth(&loop, out) && read_ends(t, &loop, &out->at) &&
           ig_dim_constant(t->module, out->rows, &rows) && out->at.padding >= 0 &&
           out->at.padding < rows;
}
