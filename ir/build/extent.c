/* The extents of an operand, which may have fewer axes than its reader expects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/extent.h"

ig_dim ig_expr_extent_of(ig_expr *e, const ig_type *type, uint32_t axis) {
    if (axis < type->rank) {
        return type->dims[axis];
    }
    if (e->status == IG_OK) {
        ig_expr_fail(e, IG_INVALID, "an operand has rank %u, expected %llu or more",
                     type->rank, (unsigned long long)axis + 1);
    }
    return ig_dim_of(1);
}

ig_dim ig_expr_extent(ig_expr *e, const ig_value *x, uint32_t axis) {
    return x ? ig_expr_extent_of(e, x->type, axis) : ig_dim_of(1);
}
