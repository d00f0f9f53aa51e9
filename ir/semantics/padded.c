/* Where rows of parts are in what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/semantics/padded.h"

static bool has_dim(ig_module *module, const ig_type *type, uint32_t d, ig_dim extent) {
    return d < type->rank && ig_dim_equal(module, type->dims[d], extent) == IG_YES;
}

uint32_t ig_padded_row_axis(ig_module *module, const ig_type *padded,
                            const ig_type *split) {
    uint32_t axis = 1;
    if (padded->rank != 3 || !has_dim(module, split, 0, padded->dims[0])) {
        return 0;
    }
    while (axis < split->rank && ig_dim_is(split->dims[axis], 1) &&
           !has_dim(module, split, axis, padded->dims[1])) {
        axis++;
    }
    /* What is after it is C, since all elements are there. */
    return has_dim(module, split, axis, padded->dims[1]) ? axis : 0;
}
