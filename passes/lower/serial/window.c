/* What schedules of sliding windows share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/serial/window.h"

#include <assert.h>
#include <math.h>

ig_value *ig_lower_lowest(ig_builder *b, ig_dtype dtype, uint32_t lanes) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    assert(lanes > 0 && "a vector has a lane");
    if (info->class == IG_FLOAT) {
        return k_const_vector(b, dtype, lanes, -(double)INFINITY);
    }
    int64_t max = info->class == IG_SINT ? (int64_t)(UINT64_MAX >> (65 - info->bits))
                                         : -1;
    return k_splat(b, k_cast(b, k_i64(b, -max - 1), dtype), lanes);
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
