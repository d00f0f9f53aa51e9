/* Embedding bags on CPUs: looking ahead.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of a large table is far away, so it is prefetched some look-ups before it is
 * added.  The look-ups of a call are one stream: bag after bag, and feature after
 * feature of a class.  A second cursor walks the same stream in front of the first:
 *
 *      feature 0        feature 1    feature 2
 *      [a b c][d e]     [f][g]       [h i j k]
 *           ▲                          ▲
 *       add this row             ask for this row          distance: ids
 *
 * Before the first bag the cursor runs ahead by the distance, in loops of a few
 * instructions an id: a small call is all look-ahead, and the sooner its rows are asked
 * for, the sooner it ends.  From then on it goes one step for each id, and one for each
 * feature that the first cursor opens; its own steps are the same, an id or a feature,
 * so the distance stays, and small calls, whose features have an id or two each, are
 * served as large ones are.  It only asks: ids are not checked here.
 */
#include "passes/lower/bag/bag.h"

#include "base/checked.h"

/* Lines that are prefetched, and the minimum and maximum of ids for them: more
 * than memory has under way at once, less than half of a small first cache. */
enum { LINES = 192, MIN = 8, MAX = 64 };

static int64_t distance_of(const bag_class *c) {
    int64_t line = c->lower->target->line_bytes;
    int64_t lines = 1 + (c->layout.bytes + line - 2) / line;
    int64_t distance = LINES / lines;
    return distance < MIN ? MIN : distance > MAX ? MAX : distance;
}

/* Do the ids of a bag follow those of the bag before, in every feature? */
static bool is_flat(const bag_class *c) {
    ig_module *module = c->lower->module;
    for (uint32_t i = 0; i < c->count; i++) {
        const ig_lower_operand *ids = c->features[i].ids;
        bool is_matrix = !c->features[i].begins && c->features[i].pool != IG_POOL_none;
        if (!is_matrix) {
            continue;
        }
        ig_dim step = ig_dim_mul(module, ids->strides[1], ids->type->dims[1]);
        if (ig_dim_equal(module, ids->strides[0], step) != IG_YES) {
            return false;
        }
    }
    return true;
}

/* Does a feature before feature `index` have its table? */
static bool is_repeated(const bag_class *c, uint32_t index) {
    const ig_lower_operand *table = c->features[index].table;
    const ig_value *value = ig_lower_operand_value(c->lower, table);
    for (uint32_t i = 0; i < index; i++) {
        if (ig_lower_operand_value(c->lower, c->features[i].table) == value) {
            return true;
        }
    }
    return false;
}

/* Tables of so many rows in all are more than half of the second cache, and their rows
 * more than three quarters of its lines: of fewer, wide rows the processor has enough
 * under way by itself, and so it has of rows of one line, which are few
 * instructions. */
static bool are_large_together(const bag_class *c, int64_t rows) {
    const ig_target *target = c->lower->target;
    int64_t lines = target->l2_bytes / target->line_bytes / 4 * 3, bytes;
    bool is_wide = c->layout.bytes > (int64_t)target->line_bytes;
    return is_wide && rows > lines &&
           (!ig_mul_i64(rows, c->layout.bytes, &bytes) ||
            bytes > (int64_t)target->l2_bytes / 2);
}

static bool has_large(const bag_class *c) {
    int64_t all = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const bag_feature *f = &c->features[i];
        int64_t rows = 0;
        bool is_known = ig_dim_constant(c->lower->module, f->all_rows, &rows);
        rows = is_repeated(c, i) ? 0 : rows;
        if (!is_known || f->is_large || !ig_add_i64(all, rows, &all)) {
            return true;
        }
    }
    return are_large_together(c, all);
}

/* ---- carried values ---- */

uint32_t bag_ahead_pack(const bag_ahead *ahead, ig_value **out_values) {
    if (!ahead) {
        return 0;
    }
    uint32_t count = 0;
    out_values[count++] = ahead->position;
    out_values[count++] = ahead->left;
    if (ahead->has_many) {
        out_values[count++] = ahead->feature;
    }
    if (ahead->has_gaps) {
        out_values[count++] = ahead->in_bag;
    }
    return count;
}

void bag_ahead_unpack(bag_ahead *ahead, ig_value *const *values) {
    if (!ahead) {
        return;
    }
    ahead->position = *values++;
    ahead->left = *values++;
    if (ahead->has_many) {
        ahead->feature = *values++;
    }
    if (ahead->has_gaps) {
        ahead->in_bag = *values++;
    }
}

static void open_feature(const bag_class *c, ig_builder *b, ig_value *number,
                         bag_ahead *ahead) {
    bag_planned_ids(c, b, number, &ahead->position, &ahead->left);
    if (ahead->has_gaps) {
        bag_cursor at = { 0 };
        bag_open_strides(c, b, number, &at);
        ahead->in_bag = at.length;
    }
}

/* ---- one step ---- */

/* Table and ids of the feature; of a class's only one they are loaded once. */
static bag_cursor open_buffers(const bag_class *c, ig_builder *b,
                               const bag_ahead *ahead) {
    if (ahead->only.ids) {
        return ahead->only;
    }
    bag_cursor at = { 0 };
    ig_value *operand = k_mul(b, ahead->feature, k_i64(b, c->stride));
    bag_open_tables(c, b, ahead->feature, operand, &at);
    at.ids = k_buffer_at(b, c->features[0].ids->buffer, operand);
    return at;
}

static void prefetch_row(const bag_class *c, ig_builder *b, const bag_cursor *feature,
                         ig_value *position) {
    bag_cursor at = *feature;
    ig_value *id = k_cast(b, k_load(b, at.ids, position, 1), IG_DT_i64);
    ig_value *row = bag_open_id(c, b, &at, id);
    bag_prefetch_row(c, b, &at, row);
}

static void go_on(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    ig_value *one = k_i64(b, 1), *number = ahead->feature;
    bag_cursor at = { 0 };
    bag_open_strides(c, b, number, &at);
    ahead->left = k_sub(b, ahead->left, one);
    if (!ahead->has_gaps) {
        ahead->position = k_add(b, ahead->position, at.id_stride);
        return;
    }
    ig_value *within = k_mul(b, k_sub(b, at.length, one), at.id_stride);
    ig_value *rest = k_sub(b, ahead->in_bag, one);
    ig_value *is_last = k_compare(b, IG_OP_le, rest, k_i64(b, 0));
    ig_value *over = k_sub(b, at.bag_stride, within);
    ahead->position = k_add(b, ahead->position,
                            k_where(b, is_last, over, at.id_stride));
    ahead->in_bag = k_where(b, is_last, at.length, rest);
}

/* Past a feature's last id: the next feature, if there is one. */
static void open_next(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    if (!ahead->has_many) {
        return;
    }
    ig_value *state[BAG_AHEAD], *before[BAG_AHEAD];
    const ig_type *types[BAG_AHEAD];
    uint32_t count = bag_ahead_pack(ahead, before);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = before[i]->type;
    }
    ig_value *next = k_add(b, ahead->feature, k_i64(b, 1));
    ig_value *is_there = k_compare(b, IG_OP_lt, next, k_i64(b, c->count));
    k_if more = k_if_open(b, is_there, types, count);
    ahead->feature = next;
    open_feature(c, &more.then, next, ahead);
    bag_ahead_pack(ahead, state);
    k_if_close(&more, state, before);
    bag_ahead_unpack(ahead, more.results);
}

void bag_ahead_step(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    if (!ahead) {
        return;
    }
    ig_value *state[BAG_AHEAD], *other[BAG_AHEAD];
    const ig_type *types[BAG_AHEAD];
    uint32_t count = bag_ahead_pack(ahead, state);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = state[i]->type;
    }
    bag_ahead past = *ahead;
    ig_value *has_id = k_compare(b, IG_OP_gt, ahead->left, k_i64(b, 0));
    k_if id = k_if_open(b, has_id, types, count);
    bag_cursor at = open_buffers(c, &id.then, ahead);
    prefetch_row(c, &id.then, &at, ahead->position);
    go_on(c, &id.then, ahead);
    bag_ahead_pack(ahead, state);
    open_next(c, &id.other, &past);
    bag_ahead_pack(&past, other);
    k_if_close(&id, state, other);
    bag_ahead_unpack(ahead, id.results);
}

/* ---- before the first bag ---- */

/* Ids of the open feature, as many as there are and `steps` allow; the result is the
 * steps that are left. */
static ig_value *prefetch_some(const bag_class *c, ig_builder *b, bag_ahead *ahead,
                               ig_value *steps) {
    bag_cursor strides = { 0 }, at = open_buffers(c, b, ahead);
    bag_open_strides(c, b, ahead->feature, &strides);
    ig_value *count = k_min(b, ahead->left, steps);
    k_loop loop = k_loop_open(b, k_i64(b, 0), count, k_i64(b, 1), NULL, 0);
    ig_value *along = k_mul(&loop.b, loop.index, strides.id_stride);
    prefetch_row(c, &loop.b, &at, k_add(&loop.b, ahead->position, along));
    k_loop_close(&loop, NULL, 0);
    ahead->position = k_add(b, ahead->position, k_mul(b, count, strides.id_stride));
    ahead->left = k_sub(b, ahead->left, count);
    return k_sub(b, steps, count);
}

/* The next feature when this one is through: a step. */
static ig_value *open_after(const bag_class *c, ig_builder *b, bag_ahead *ahead,
                            ig_value *steps) {
    ig_value *zero = k_i64(b, 0), *before[BAG_AHEAD + 1], *after[BAG_AHEAD + 1];
    const ig_type *types[BAG_AHEAD + 1];
    uint32_t count = bag_ahead_pack(ahead, before);
    before[count] = steps;
    for (uint32_t i = 0; i <= count; i++) {
        types[i] = before[i]->type;
    }
    ig_value *is_through = k_binary(b, IG_OP_and,
                                    k_compare(b, IG_OP_le, ahead->left, zero),
                                    k_compare(b, IG_OP_gt, steps, zero));
    k_if through = k_if_open(b, is_through, types, count + 1);
    open_next(c, &through.then, ahead);
    (void)bag_ahead_pack(ahead, after);
    after[count] = k_sub(&through.then, steps, k_i64(&through.then, 1));
    k_if_close(&through, after, before);
    bag_ahead_unpack(ahead, through.results);
    return through.results[count];
}

/* Runs ahead over features whose ids are contiguous. */
static void run_ahead(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    ig_value *steps = k_i64(b, distance_of(c)), *state[BAG_AHEAD + 1];
    if (!ahead->has_many) {
        (void)prefetch_some(c, b, ahead, steps);
        return;
    }
    uint32_t count = bag_ahead_pack(ahead, state);
    state[count] = steps;
    k_loop features = k_loop_open(b, k_i64(b, 0), k_i64(b, c->count), k_i64(b, 1),
                                  state, count + 1);
    bag_ahead_unpack(ahead, features.carried);
    steps = prefetch_some(c, &features.b, ahead, features.carried[count]);
    steps = open_after(c, &features.b, ahead, steps);
    (void)bag_ahead_pack(ahead, state);
    state[count] = steps;
    k_loop_close(&features, state, count + 1);
    bag_ahead_unpack(ahead, features.results);
}

static void step_ahead(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    ig_value *state[BAG_AHEAD], *distance = k_i64(b, distance_of(c));
    uint32_t count = bag_ahead_pack(ahead, state);
    k_loop loop = k_loop_open(b, k_i64(b, 0), distance, k_i64(b, 1), state, count);
    bag_ahead_unpack(ahead, loop.carried);
    bag_ahead_step(c, &loop.b, ahead);
    bag_ahead_pack(ahead, state);
    k_loop_close(&loop, state, count);
    bag_ahead_unpack(ahead, loop.results);
}

bool bag_ahead_start(const bag_class *c, ig_builder *b, bag_ahead *ahead) {
    if (!c->plan || !has_large(c)) {
        return false;
    }
    *ahead = (bag_ahead){ .has_many = c->count > 1,
                          .has_gaps = !is_flat(c),
                          .feature = k_i64(b, 0) };
    open_feature(c, b, ahead->feature, ahead);
    if (!ahead->has_many) {
        ahead->only = open_buffers(c, b, ahead);
    }
    if (ahead->has_gaps) {
        step_ahead(c, b, ahead);
    } else {
        run_ahead(c, b, ahead);
    }
    return true;
}
