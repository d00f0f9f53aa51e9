/* Embedding bags of all tables of a model in one launch, on CPUs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Features, classes, checks and the sum of a bag are those of every target
 * (bag/bag.c).  Here lanes run along the columns of a row, and rows are prefetched
 * across the borders of bags and features (bag/ahead.c).
 */
#include "passes/lower/bag/bag.h"
#include "passes/lower/bag/update.h"
#include "passes/lower/cpu/cpu.h"

/* Vectors of sums that fit into the registers, beside the row's. */
static uint32_t max_vectors(const bag_class *c) {
    uint32_t registers = c->lower->target->vector_registers;
    uint32_t max = c->parts > 1 ? registers / 2 : registers - 4;
    return (max > BAG_VECTORS ? BAG_VECTORS : max) / c->parts * c->parts;
}

/* A row that needs more registers than there are is summed in column chunks, as equal
 * as may be; rows are asked for with the first. */
static void emit_bag(const bag_class *c, ig_builder *b, bag_cursor *at, ig_value *bag) {
    bag_open(c, b, at, bag);
    int64_t group = (int64_t)c->lanes * c->parts;
    uint32_t groups = (uint32_t)((c->features[0].dim + group - 1) / group);
    uint32_t max = max_vectors(c) / c->parts, chunks = (groups + max - 1) / max;
    uint32_t done = 0;
    for (uint32_t i = 0; i < chunks; i++) {
        uint32_t end = groups * (i + 1) / chunks;
        at->column = (int64_t)done * group;
        bag_emit_columns(c, b, at, bag, (end - done) * c->parts);
        at->ahead = NULL;
        done = end;
    }
}

static void emit_feature(const bag_class *c, ig_builder *b, ig_value *number,
                         ig_value *const range[2], bag_ahead *ahead) {
    bag_cursor at = { 0 };
    ig_value *bounds[2], *state[BAG_AHEAD];
    bag_ahead_step(c, b, ahead);
    bag_open_feature(c, b, number, &at);
    bag_open_tiles(c, b, number, &at, range, bounds);
    uint32_t count = bag_ahead_pack(ahead, state);
    k_loop bags = k_loop_open(b, bounds[0], bounds[1], k_i64(b, 1), state, count);
    bag_ahead_unpack(ahead, bags.carried);
    at.ahead = ahead;
    emit_bag(c, &bags.b, &at, bags.index);
    bag_ahead_pack(ahead, state);
    k_loop_close(&bags, state, count);
    bag_ahead_unpack(ahead, bags.results);
}

ig_status ig_lower_cpu_bag(ig_lower *lower) {
    return bag_lower(lower, emit_feature);
}

ig_status ig_lower_cpu_bag_group(ig_lower *lower) {
    return update_lower_group(lower);
}

ig_status ig_lower_cpu_bag_update(ig_lower *lower) {
    return update_lower_tables(lower);
}
