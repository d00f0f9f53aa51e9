/* Rows that a thread of a GPU reads some lanes at a time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A load of several lanes is at a multiple of its size.  Weights are at multiples of
 * 256 bytes, other buffers of the session and ports in the GPU's memory at multiples of
 * 16.
 */
#include "passes/lower/bag/bag.h"

enum { LOAD_BYTES = 16, MAX_LANES = 8 };

static const ig_value *value_of(const ig_lower *lower,
                                const ig_lower_operand *operand) {
    bool is_out = operand >= lower->outs && operand < lower->outs + lower->out_count;
    size_t index = is_out ? lower->in_count + (size_t)(operand - lower->outs)
                          : (size_t)(operand - lower->ins);
    return lower->compute->operands[index].value;
}

static bool is_multiple(ig_dim dim, uint32_t of) {
    return ig_dim_is_static(dim) && ig_dim_value(dim) % of == 0;
}

/* Do all its rows begin at a multiple of the lanes? */
static bool has_even_rows(const ig_lower *lower, const ig_lower_operand *x,
                          uint32_t lanes) {
    const ig_op *view = ig_def(value_of(lower, x), IG_OP_view);
    uint32_t last = x->type->rank - 1;
    bool is_even = ig_dim_is(x->strides[last], 1) &&
                   (!view || is_multiple(view->attrs[IG_view_offset].as.dim, lanes));
    for (uint32_t d = 0; d < last; d++) {
        is_even &= is_multiple(x->strides[d], lanes);
    }
    return is_even;
}

static bool is_even_feature(const bag_class *c, const bag_feature *f, uint32_t lanes) {
    const ig_lower *lower = c->lower;
    bool is_even = f->dim % lanes == 0 && has_even_rows(lower, f->out, lanes);
    for (uint32_t i = 0; i < f->tables; i++) {
        is_even = is_even && ig_def(value_of(lower, f->table + i), IG_OP_weight) &&
                  has_even_rows(lower, f->table + i, lanes);
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
