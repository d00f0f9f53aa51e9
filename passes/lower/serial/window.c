/* What schedules of sliding windows share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/serial/window.h"

ig_value *ig_lower_load_apart(ig_builder *b, const ig_lower_operand *x, ig_value *at,
                              ig_value *stride, uint32_t lanes, ig_value *count) {
    int64_t known = 0;
    bool is_dense = ig_constant_i64(stride, &known) && known == 1;
    if (lanes == 1 || is_dense) {
        return k_load_count(b, x->buffer, at, lanes, lanes == 1 ? NULL : count);
    }
    ig_value *lane = k_iota(b, lanes);
    if (count) {
        ig_value *last = k_sub(b, count, k_i64(b, 1));
        lane = k_min(b, lane, k_splat(b, last, lanes));
    }
    ig_value *steps = k_binary(b, IG_OP_mul, lane, k_splat(b, stride, lanes));
    return k_load_at(b, x->buffer,
                     k_binary(b, IG_OP_add, steps, k_splat(b, at, lanes)));
}

void ig_lower_split_rows(ig_lower *lower, ig_builder *b, const ig_type *type,
                         uint32_t first, ig_value *number, ig_value **index) {
    for (uint32_t d = type->rank - 1; d-- > first;) {
        ig_value *extent = ig_lower_dim(lower, type->dims[d]);
        index[d] = d == first ? number : k_mod(b, number, extent);
        number = d == first ? number : k_div(b, number, extent);
    }
}

ig_dim ig_lower_row_count(ig_lower *lower, const ig_type *type, uint32_t first) {
    ig_dim count = ig_dim_of(1);
    for (uint32_t d = first; d + 1 < type->rank; d++) {
        count = ig_lower_mul(lower, count, type->dims[d]);
    }
    return count;
}

int64_t ig_lower_entry(const ig_op *op, uint32_t slot, uint32_t axis) {
    return ig_attr_is_set(op, slot) ? op->attrs[slot].as.ints[axis] : 1;
}
