/* Rows that a thread of a GPU reads some lanes at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A load of several lanes is at a multiple of its size (ig_lower_has_even_rows).
 */
#include "passes/lower/bag/bag.h"

enum { LOAD_BYTES = 16, MAX_LANES = 8 };

static bool is_even_feature(const bag_class *c, const bag_feature *f, uint32_t lanes) {
    const ig_lower *lower = c->lower;
    bool is_even = f->dim % lanes == 0 && ig_lower_has_even_rows(lower, f->out, lanes);
    for (uint32_t i = 0; i < f->tables; i++) {
        is_even = is_even &&
                  ig_def(ig_lower_operand_value(lower, f->table + i), IG_OP_weight) &&
                  ig_lower_has_even_rows(lower, f->table + i, lanes);
    }
    return is_even;
}

static uint32_t bytes_of(const ig_lower_operand *x) {
    return ig_dtypes[x->type->dtype].bits / 8;
}

uint32_t bag_thread_lanes(const bag_class *c) {
    const bag_feature *first = &c->features[0];
    bool is_plain = !bag_is_table(first) &&
                    ig_dtype_is_float((ig_dtype)first->table->type->dtype);
    uint32_t wider = is_plain ? bytes_of(first->table) : LOAD_BYTES;
    wider = bytes_of(first->out) > wider ? bytes_of(first->out) : wider;
    uint32_t lanes = wider ? LOAD_BYTES / wider : 1;
    lanes = lanes > MAX_LANES ? MAX_LANES : lanes;
    for (uint32_t i = 0; i < c->count && lanes > 1; i++) {
        lanes = is_even_feature(c, &c->features[i], lanes) ? lanes : 1;
    }
    return lanes < 1 ? 1 : lanes;
}
