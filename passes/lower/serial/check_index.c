/* check_index: indices as rows counted from 0, those out of range reported.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   grid       indices, INDICES a tile
 */
#include "passes/lower/serial/scatter.h"

enum { INDICES = 256, IDS = 0 };

typedef struct check {
    ig_lower *lower;
    const ig_lower_operand *ids, *out;
    const ig_attr *extents;
    bool wraps;
} check;

/* One index, whose place in its tuple is known; a bad one is reported, and row 0. */
static void check_one(const check *c, ig_builder *b, ig_value **index, ig_dim extent) {
    ig_value *from = ig_lower_at(c->lower, b, c->ids, index), *is_good;
    ig_value *id = k_cast(b, k_load(b, c->ids->buffer, from, 1), IG_DT_i64);
    ig_value *rows = ig_lower_dim(c->lower, extent);
    ig_value *row = ig_lower_row(b, id, rows, c->wraps, &is_good);
    k_if test = k_if_open(b, is_good, NULL, 0);
    k_report(&test.other, k_i64(&test.other, IDS), from, id);
    k_if_close(&test, NULL, NULL);
    row = k_where(b, is_good, row, k_i64(b, 0));
    k_store(b, row, c->out->buffer, ig_lower_at(c->lower, b, c->out, index));
}

static void emit_tile(void *user, ig_builder *b, ig_value *tile) {
    const check *c = user;
    const ig_type *type = c->ids->type;
    bool is_tuple = c->extents->count > 1;
    uint32_t axis = is_tuple ? type->rank - 1 : type->rank;
    ig_value *index[IG_TENSOR_RANK];
    ig_value *count = ig_lower_dim(c->lower, ig_lower_lines(c->lower, type, axis));
    k_loop loop = ig_lower_open_lines(b, tile, count, ig_lower_tile(c->lower, INDICES));
    ig_lower_split(c->lower, &loop.b, type, axis, loop.index, index);
    for (uint32_t i = 0; i < c->extents->count; i++) {
        if (is_tuple) {
            index[axis] = k_i64(&loop.b, i);
        }
        check_one(c, &loop.b, index, c->extents->as.dims[i]);
    }
    k_loop_close(&loop, NULL, 0);
}

ig_status ig_lower_serial_check_index(ig_lower *lower, const ig_op *op) {
    int64_t rule = ig_attr_int(op, IG_check_index_negative, 0);
    if (rule == IG_NEGATIVE_skip) {
        return ig_lower_unsupported(lower, "check_index that skips indices");
    }
    check c = { .lower = lower,
                .ids = ig_lower_input(lower, op, 0),
                .out = &lower->outs[0],
                .extents = &op->attrs[IG_check_index_extents],
                .wraps = rule == IG_NEGATIVE_wrap };
    const ig_type *type = c.ids->type;
    uint32_t axis = c.extents->count > 1 ? type->rank - 1 : type->rank;
    ig_lower_range(lower, IDS, c.extents->as.dims[0], c.wraps);
    lower->name = "check_index";
    lower->grid = ig_lower_ceil_div(lower, ig_lower_lines(lower, type, axis),
                                    ig_lower_tile(lower, INDICES));
    lower->cost = ig_type_count(lower->module, type);
    ig_lower_each_tile(lower, emit_tile, &c);
    return IG_OK;
}
