/* Neighbouring dims of an iteration space as one, where every operand walks through
 * both as one: row-major over both, or a broadcast over both.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/lower/serial/serial.h"

static bool walks_as_one(ig_lower *lower, const ig_lower_operand *x,
                         const ig_type *space, uint32_t d) {
    ig_module *module = lower->module;
    uint32_t missing = space->rank - x->type->rank;
    if (d + 1 < missing) {
        return true;
    }
    if (d < missing) {
        return ig_dim_is(x->type->dims[d + 1 - missing], 1);
    }
    const ig_dim *dims = &x->type->dims[d - missing];
    if (ig_dim_is(dims[0], 1) && ig_dim_is(dims[1], 1)) {
        return true;
    }
    const ig_dim *strides = &x->strides[d - missing];
    bool is_whole = ig_dim_equal(module, dims[0], space->dims[d]) == IG_YES &&
                    ig_dim_equal(module, dims[1], space->dims[d + 1]) == IG_YES;
    ig_dim step = ig_dim_mul(module, strides[1], dims[1]);
    return is_whole && ig_dim_equal(module, strides[0], step) == IG_YES;
}

static bool is_apart(uint64_t apart, uint32_t input) {
    return input < 64 && (apart >> input & 1);
}

static bool can_merge(ig_lower *lower, const ig_type *space, uint32_t d,
                      uint64_t apart) {
    for (uint32_t i = 0; i < lower->in_count; i++) {
        if (!is_apart(apart, i) && !walks_as_one(lower, &lower->ins[i], space, d)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < lower->out_count; i++) {
        if (!walks_as_one(lower, &lower->outs[i], space, d)) {
            return false;
        }
    }
    return true;
}

/* Removes dim `d` of an operand by merging it into d + 1. */
static void merge_operand(ig_lower *lower, ig_lower_operand *x, uint32_t space_rank,
                          uint32_t d) {
    uint32_t missing = space_rank - x->type->rank;
    if (d < missing) {
        return;
    }
    uint32_t at = d - missing, rank = x->type->rank;
    ig_dim *dims = IG_NEW_ARRAY(lower->arena, ig_dim, rank);
    ig_dim *strides = IG_NEW_ARRAY(lower->arena, ig_dim, rank);
    for (uint32_t i = 0, o = 0; i < rank; i++) {
        if (i == at) {
            continue;
        }
        dims[o] = x->type->dims[i];
        strides[o++] = x->strides[i];
    }
    dims[at] = ig_dim_mul(lower->module, x->type->dims[at], x->type->dims[at + 1]);
    x->type = ig_type_with_dims(lower->module, x->type, rank - 1, dims);
    x->strides = strides;
}

const ig_type *ig_lower_merge_dims(ig_lower *lower, const ig_type *space,
                                   uint32_t first, uint32_t end, uint64_t apart) {
    for (uint32_t d = end; d-- > first + 1;) {
        if (!can_merge(lower, space, d - 1, apart)) {
            continue;
        }
        ig_dim dims[IG_TENSOR_RANK];
        uint32_t count = 0;
        for (uint32_t i = 0; i < space->rank; i++) {
            if (i != d - 1) {
                dims[count++] = space->dims[i];
            }
        }
        dims[d - 1] = ig_dim_mul(lower->module, space->dims[d - 1], space->dims[d]);
        for (uint32_t i = 0; i < lower->in_count; i++) {
            if (!is_apart(apart, i)) {
                merge_operand(lower, &lower->ins[i], space->rank, d - 1);
            }
        }
        for (uint32_t i = 0; i < lower->out_count; i++) {
            merge_operand(lower, &lower->outs[i], space->rank, d - 1);
        }
        space = ig_type_with_dims(lower->module, space, count, dims);
    }
    return space;
}
