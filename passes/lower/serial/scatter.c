/* scatter_elements, on CPUs; scatter_nd is next door.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   out = x;  out[i… with i[axis] replaced by ids[i…]] = updates[i…], in order of i
 *
 * Two updates meet only on one line along the axis, so lines are independent: each is
 * copied, then its updates are written in order and the last one wins, or they are
 * combined with the old values.  Lines that the ids do not reach are copied only.  Ids
 * are checked; one out of range is reported.  Where x is in the result's memory nothing
 * is copied, and only the ids' lines are left to do.
 *
 *   grid       lines, LINES a tile
 */
#include "passes/lower/serial/scatter.h"

#include <assert.h>

enum { LINES = 8, IDS = 1 };

typedef struct scatter {
    ig_lower *lower;
    const ig_lower_operand *x, *ids, *updates, *out;
    uint32_t axis, lanes; /* lanes: of copies */
    ig_scatter kind;
    bool wraps, is_fresh, resets, is_in_place, is_checked;
} scatter;

/* Elements of a line from number `i` on; those from `count` on (NULL: none) are not
 * touched. */
static void copy_vector(const scatter *s, ig_builder *b, ig_value **index, ig_value *i,
                        ig_value *count) {
    index[s->axis] = i;
    ig_value *x_at = ig_lower_at(s->lower, b, s->x, index);
    ig_value *out_at = ig_lower_at(s->lower, b, s->out, index);
    ig_value *x = k_load_count(b, s->x->buffer, x_at, s->lanes, count);
    k_store_count(b, x, s->out->buffer, out_at, count);
}

static void copy_line(const scatter *s, ig_builder *b, ig_value **index) {
    ig_value *extent = ig_lower_dim(s->lower, s->x->type->dims[s->axis]);
    ig_value *by = k_i64(b, s->lanes);
    ig_value *whole = k_mul(b, k_div(b, extent, by), by);
    k_loop loop = k_loop_open(b, k_i64(b, 0), whole, by, NULL, 0);
    copy_vector(s, &loop.b, index, loop.index, NULL);
    k_loop_close(&loop, NULL, 0);
    if (s->lanes > 1) {
        k_if rest = k_if_open(b, k_compare(b, IG_OP_lt, whole, extent), NULL, 0);
        copy_vector(s, &rest.then, index, whole, k_sub(&rest.then, extent, whole));
        k_if_close(&rest, NULL, NULL);
    }
}

/* Do ids reach this line? */
static ig_value *is_reached(const scatter *s, ig_builder *b, ig_value *const *index) {
    ig_value *all = k_compare(b, IG_OP_eq, k_i64(b, 0), k_i64(b, 0));
    for (uint32_t d = 0; d < s->x->type->rank; d++) {
        if (d != s->axis) {
            ig_value *extent = ig_lower_dim(s->lower, s->ids->type->dims[d]);
            ig_value *is_inside = k_compare(b, IG_OP_lt, index[d], extent);
            all = k_binary(b, IG_OP_and, all, is_inside);
        }
    }
    return all;
}

static void update_element(const scatter *s, ig_builder *b, ig_value *const *index,
                           ig_value *from) {
    ig_value *to = ig_lower_at(s->lower, b, s->out, index);
    ig_value *value = s->resets ? ig_scatter_identity(b, s->kind, s->out)
                                : k_load(b, s->updates->buffer, from, 1);
    ig_scatter_put(b, s->resets ? IG_SCATTER_none : s->kind, s->out, to, value);
}

/* The updates of one line: each read id's element is combined with its update, or,
 * with `resets`, set to what leaves the first update as it is. */
static void update_along(const scatter *s, ig_builder *b, ig_value **index,
                         ig_value *i) {
    assert(s->axis < s->out->type->rank && "an axis of x");
    index[s->axis] = i;
    ig_value *ids_at = ig_lower_at(s->lower, b, s->ids, index);
    ig_value *from = ig_lower_at(s->lower, b, s->updates, index);
    ig_value *id = k_cast(b, k_load(b, s->ids->buffer, ids_at, 1), IG_DT_i64);
    if (s->is_checked) {
        index[s->axis] = id;
        update_element(s, b, index, from);
        return;
    }
    ig_value *extent = ig_lower_dim(s->lower, s->x->type->dims[s->axis]), *is_good;
    index[s->axis] = ig_lower_row(b, id, extent, s->wraps, &is_good);
    k_if check = k_if_open(b, is_good, NULL, 0);
    update_element(s, &check.then, index, from);
    k_report(&check.other, k_i64(&check.other, IDS), ids_at, id);
    k_if_close(&check, NULL, NULL);
}

static void update_line(const scatter *s, ig_builder *b, ig_value **index) {
    ig_value *count = ig_lower_dim(s->lower, s->ids->type->dims[s->axis]);
    k_loop loop = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), NULL, 0);
    update_along(s, &loop.b, index, loop.index);
    k_loop_close(&loop, NULL, 0);
}

static void update_reached(const scatter *s, ig_builder *b, ig_value **index) {
    if (s->is_fresh && s->kind != IG_SCATTER_none) {
        scatter first = *s;
        first.resets = true;
        update_line(&first, b, index);
    }
    update_line(s, b, index);
}

/* The tensor whose lines are gone through. */
static const ig_type *lines_of(const scatter *s) {
    return s->is_in_place ? s->ids->type : s->x->type;
}

static void emit_line(const scatter *s, ig_builder *b, ig_value *line) {
    ig_value *index[IG_TENSOR_RANK];
    ig_lower_split(s->lower, b, lines_of(s), s->axis, line, index);
    if (s->is_in_place) {
        update_reached(s, b, index);
        return;
    }
    copy_line(s, b, index);
    k_if reached = k_if_open(b, is_reached(s, b, index), NULL, 0);
    update_reached(s, &reached.then, index);
    k_if_close(&reached, NULL, NULL);
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const scatter *s = user;
    ig_dim lines = ig_lower_lines(s->lower, lines_of(s), s->axis);
    ig_value *count = ig_lower_dim(s->lower, lines);
    k_loop loop = ig_lower_open_lines(b, tile, count, ig_lower_tile(s->lower, LINES));
    emit_line(s, &loop.b, loop.index);
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_scatter(ig_lower *lower) {
    if (ig_lower_anchor(lower, IG_OP_scatter_nd)) {
        return ig_lower_serial_scatter_nd(lower);
    }
    const ig_op *op = ig_lower_anchor(lower, IG_OP_check_index);
    if (op) {
        return ig_lower_serial_check_index(lower, op);
    }
    op = ig_lower_anchor(lower, IG_OP_scatter_elements);
    assert(op && "the family's body has its anchor");
    int64_t rule = ig_attr_int(op, IG_scatter_elements_negative, 0);
    if (rule == IG_NEGATIVE_skip) {
        return ig_lower_unsupported(lower, "scatter_elements that skips indices");
    }
    scatter s = { .lower = lower,
                  .x = ig_lower_input(lower, op, 0),
                  .ids = ig_lower_input(lower, op, 1),
                  .updates = ig_lower_input(lower, op, 2),
                  .out = &lower->outs[0],
                  .kind = (ig_scatter)ig_attr_int(op, IG_scatter_elements_reduce, 0),
                  .wraps = rule == IG_NEGATIVE_wrap,
                  .is_fresh = ig_attr_int(op, IG_scatter_elements_fresh, 0) != 0,
                  .is_in_place = ig_attr_int(op, IG_scatter_elements_in_place, 0) != 0,
                  .is_checked = ig_attr_int(op, IG_scatter_elements_is_checked, 0) !=
                                0 };
    int64_t axis = ig_attr_int(op, IG_scatter_elements_axis, 0);
    s.axis = (uint32_t)(axis < 0 ? axis + s.x->type->rank : axis);
    ig_dim extent = s.x->type->dims[s.axis];
    bool has_lanes = ig_dim_is(s.x->strides[s.axis], 1) &&
                     ig_dim_is(s.out->strides[s.axis], 1);
    s.lanes = has_lanes ? ig_lower_lanes(lower, (ig_dtype)s.x->type->dtype) : 1;
    if (!s.is_checked) {
        ig_lower_range(lower, IDS, extent, s.wraps);
    }
    lower->name = "scatter_elements";
    lower->grid = ig_lower_ceil_div(lower, ig_lower_lines(lower, lines_of(&s), s.axis),
                                    ig_lower_tile(lower, LINES));
    lower->cost = ig_type_count(lower->module, lines_of(&s));
    ig_lower_each_tile(lower, emit_tile, &s);
    return IG_OK;
}
