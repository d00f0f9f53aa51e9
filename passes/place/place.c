/* The arithmetic of strided places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"
#include "passes/place/place.h"

#include <assert.h>
#include <string.h>

static ig_place *new_place(ig_arena *arena, const ig_place *from, uint32_t rank) {
    assert(rank <= IG_TENSOR_RANK && "a tensor's rank");
    ig_place *place = IG_NEW(arena, ig_place);
    place->root = from->root;
    place->offset = from->offset;
    place->rank = rank;
    place->dims = IG_NEW_ARRAY(arena, ig_dim, rank);
    place->strides = IG_NEW_ARRAY(arena, ig_dim, rank);
    return place;
}

static void set_row_major(ig_module *module, ig_place *place) {
    ig_dim step = ig_dim_of(1);
    for (uint32_t d = place->rank; d-- > 0;) {
        place->strides[d] = step;
        step = ig_dim_mul(module, step, place->dims[d]);
    }
}

ig_place *ig_place_whole(ig_arena *arena, ig_module *module, ig_value *root) {
    ig_place start = { .root = root };
    ig_place *place = new_place(arena, &start, root->type->rank);
    memcpy(place->dims, root->type->dims, place->rank * sizeof *place->dims);
    set_row_major(module, place);
    return place;
}

bool ig_place_is_row_major(ig_module *module, const ig_place *place) {
    ig_dim step = ig_dim_of(1);
    for (uint32_t d = place->rank; d-- > 0;) {
        bool is_step = ig_dim_is(place->dims[d], 1) ||
                       ig_dim_equal(module, place->strides[d], step) == IG_YES;
        if (!is_step) {
            return false;
        }
        step = ig_dim_mul(module, step, place->dims[d]);
    }
    return true;
}

bool ig_place_is_whole(ig_module *module, const ig_place *place) {
    const ig_type *type = place->root->type;
    if (!ig_dim_is(place->offset, 0) || place->rank != type->rank) {
        return false;
    }
    for (uint32_t d = 0; d < place->rank; d++) {
        if (ig_dim_equal(module, place->dims[d], type->dims[d]) != IG_YES) {
            return false;
        }
    }
    return ig_place_is_row_major(module, place);
}

bool ig_place_equal(ig_module *module, const ig_place *a, const ig_place *b) {
    bool is_same = a->root == b->root && a->rank == b->rank &&
                   ig_dim_same(a->offset, b->offset);
    for (uint32_t d = 0; is_same && d < a->rank; d++) {
        is_same = ig_dim_equal(module, a->dims[d], b->dims[d]) == IG_YES &&
                  (ig_dim_is(a->dims[d], 1) ||
                   ig_dim_same(a->strides[d], b->strides[d]));
    }
    return is_same;
}

ig_place *ig_place_transpose(ig_arena *arena, const ig_place *place,
                             const int64_t *perm) {
    ig_place *out = new_place(arena, place, place->rank);
    for (uint32_t d = 0; d < place->rank; d++) {
        assert(perm[d] >= 0 && perm[d] < place->rank && "a permutation of the axes");
        out->dims[d] = place->dims[perm[d]];
        out->strides[d] = place->strides[perm[d]];
    }
    return out;
}

/* Where a slice begins along an axis.  One of no elements may begin after the last, or
 * backwards before the first, which becomes 0; of several such axes only the first
 * (`ends`) begins after the last, or the offset would leave the buffer. */
static ig_dim place_start(ig_module *module, ig_dim start, ig_dim size, bool *ends) {
    int64_t min, max;
    ig_dim_range(module, size, &min, &max);
    if (ig_dim_is(start, 0) || min > 0) {
        return start;
    }
    ig_dim_range(module, start, &min, &max);
    if (min < 0) {
        start = ig_dim_max(module, start, ig_dim_of(0));
    }
    bool is_second = *ends;
    *ends = true;
    return is_second ? ig_dim_mul(module, start, ig_dim_min(module, size, ig_dim_of(1)))
                     : start;
}

ig_place *ig_place_slice(ig_arena *arena, ig_module *module, const ig_place *place,
                         const ig_dim *starts, const ig_dim *sizes,
                         const int64_t *steps) {
    assert(starts && sizes && "a start and a size per axis");
    ig_place *out = new_place(arena, place, place->rank);
    bool ends = false;
    for (uint32_t d = 0; d < place->rank; d++) {
        ig_dim start = place_start(module, starts[d], sizes[d], &ends);
        ig_dim skipped = ig_dim_mul(module, start, place->strides[d]);
        ig_dim step = ig_dim_const(module, steps ? steps[d] : 1);
        out->offset = ig_dim_add(module, out->offset, skipped);
        out->dims[d] = sizes[d];
        out->strides[d] = ig_dim_mul(module, step, place->strides[d]);
    }
    return out;
}

/* The stride of a dim that is broadcast when its extent turns out to be 1. */
static ig_dim broadcast_stride(ig_module *module, ig_dim extent, ig_dim to,
                               ig_dim stride) {
    if (ig_dim_is(extent, 1) && !ig_dim_is(to, 1)) {
        return ig_dim_of(0);
    }
    bool is_kept = ig_dim_equal(module, extent, to) == IG_YES ||
                   ig_dim_equal(module, extent, ig_dim_of(1)) == IG_NO;
    if (is_kept) {
        return stride;
    }
    ig_dim below = ig_dim_sub(module, extent, ig_dim_of(1));
    return ig_dim_mul(
        module, stride,
        ig_dim_max(module, ig_dim_min(module, below, ig_dim_of(1)), ig_dim_of(0)));
}

ig_place *ig_place_expand(ig_arena *arena, ig_module *module, const ig_place *place,
                          uint32_t rank, const ig_dim *dims) {
    assert(place->rank <= rank && "expanding adds axes");
    ig_place *out = new_place(arena, place, rank);
    uint32_t missing = rank - place->rank;
    for (uint32_t d = 0; d < rank; d++) {
        out->dims[d] = dims[d];
        out->strides[d] = d < missing
                              ? ig_dim_of(0)
                              : broadcast_stride(module, place->dims[d - missing],
                                                 dims[d], place->strides[d - missing]);
    }
    return out;
}

/* ---- reshape ---- */

/* Do dims first … first + count walk through memory as one dim?  Its stride is that of
 * the innermost of them; those of extent 1 are never walked. */
static bool walks_as_one(ig_module *module, const ig_place *place, uint32_t first,
                         uint32_t count, ig_dim *out_stride) {
    assert(first + count <= place->rank && "dims that the position has");
    bool is_first = true;
    ig_dim next = ig_dim_of(0);
    *out_stride = ig_dim_of(1);
    for (uint32_t d = first + count; d-- > first;) {
        if (ig_dim_is(place->dims[d], 1)) {
            continue;
        }
        if (!is_first && ig_dim_equal(module, place->strides[d], next) != IG_YES) {
            return false;
        }
        *out_stride = is_first ? place->strides[d] : *out_stride;
        next = ig_dim_mul(module, place->strides[d], place->dims[d]);
        is_first = false;
    }
    return true;
}

/* Strides of new dims first … first + count that cut one dim of stride `step`. */
static void cut_strides(ig_module *module, ig_place *out, uint32_t first,
                        uint32_t count, ig_dim step) {
    assert(first + count <= out->rank && "dims that the position has");
    for (uint32_t d = first + count; d-- > first;) {
        out->strides[d] = step;
        step = ig_dim_mul(module, step, out->dims[d]);
    }
}

/* Old and new dims are matched in groups of equal product; a group keeps its memory
 * when its old dims walk as one.  Extents of 1 belong to any group. */
ig_place *ig_place_reshape(ig_arena *arena, ig_module *module, const ig_place *place,
                           uint32_t rank, const ig_dim *dims) {
    ig_place *out = new_place(arena, place, rank);
    memcpy(out->dims, dims, rank * sizeof *dims);
    if (ig_place_is_row_major(module, place)) {
        set_row_major(module, out);
        return out;
    }
    uint32_t o = 0, n = 0;
    while (o < place->rank && n < rank) {
        uint32_t old_first = o, new_first = n;
        ig_dim old_product = place->dims[o++], new_product = dims[n++];
        while (ig_dim_equal(module, old_product, new_product) != IG_YES) {
            bool takes_old = ig_dim_less_equal(module, old_product, new_product) ==
                             IG_YES;
            if (takes_old && o < place->rank) {
                old_product = ig_dim_mul(module, old_product, place->dims[o++]);
            } else if (!takes_old && n < rank) {
                new_product = ig_dim_mul(module, new_product, dims[n++]);
            } else {
                return NULL;
            }
        }
        ig_dim step;
        if (!walks_as_one(module, place, old_first, o - old_first, &step)) {
            return NULL;
        }
        cut_strides(module, out, new_first, n - new_first, step);
    }
    for (; o < place->rank; o++) {
        if (!ig_dim_is(place->dims[o], 1)) {
            return NULL;
        }
    }
    for (; n < rank; n++) {
        out->strides[n] = ig_dim_of(1);
        if (!ig_dim_is(dims[n], 1)) {
            return NULL;
        }
    }
    return out;
}

/* ---- plan values ---- */

/* ---- view ops ---- */

typedef ig_place *(*view_fn)(ig_arena *arena, ig_module *module, const ig_op *op,
                             const ig_place *from);

static ig_place *view_reshape(ig_arena *arena, ig_module *module, const ig_op *op,
                              const ig_place *from) {
    const ig_type *type = op->results->type;
    return ig_place_reshape(arena, module, from, type->rank, type->dims);
}

static ig_place *view_expand(ig_arena *arena, ig_module *module, const ig_op *op,
                             const ig_place *from) {
    const ig_type *type = op->results->type;
    return ig_place_expand(arena, module, from, type->rank, type->dims);
}

static ig_place *view_transpose(ig_arena *arena, ig_module *module, const ig_op *op,
                                const ig_place *from) {
    (void)module;
    return ig_place_transpose(arena, from, op->attrs[IG_transpose_perm].as.ints);
}

static ig_place *view_slice(ig_arena *arena, ig_module *module, const ig_op *op,
                            const ig_place *from) {
    const ig_attr *steps = &op->attrs[IG_slice_steps];
    return ig_place_slice(arena, module, from, op->attrs[IG_slice_starts].as.dims,
                          op->attrs[IG_slice_sizes].as.dims,
                          steps->kind == IG_ATTR_INTS ? steps->as.ints : NULL);
}

static const view_fn views[IG_OP_COUNT] = {
    [IG_OP_reshape] = view_reshape,
    [IG_OP_expand] = view_expand,
    [IG_OP_transpose] = view_transpose,
    [IG_OP_slice] = view_slice,
};

ig_place *ig_place_view(ig_arena *arena, ig_module *module, const ig_op *view,
                        const ig_place *from) {
    assert(views[view->code] && "a view op");
    return views[view->code](arena, module, view, from);
}

ig_place *ig_place_under(ig_arena *arena, ig_module *module, const ig_op *view,
                         const ig_place *place) {
    if (view->code == IG_OP_reshape) {
        const ig_type *type = view->operands[0].value->type;
        return ig_place_reshape(arena, module, place, type->rank, type->dims);
    }
    assert(view->code == IG_OP_transpose && "the two that lose no element");
    int64_t inverse[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < place->rank; d++) {
        inverse[view->attrs[IG_transpose_perm].as.ints[d]] = d;
    }
    return ig_place_transpose(arena, place, inverse);
}

ig_value *ig_place_value(ig_builder *b, const ig_place *place) {
    assert(place->root && "a place is in a buffer");
    ig_module *module = b->graph->module;
    if (!place->is_new && ig_place_is_whole(module, place)) {
        return place->root;
    }
    const ig_type *type = ig_type_buffer(module, (ig_dtype)place->root->type->dtype,
                                         place->rank, place->dims);
    ig_view_attrs attrs = { .offset = place->offset,
                            .strides = { place->strides, place->rank } };
    ig_op_spec spec = { .operands = (ig_value *[]){ place->root },
                        .operand_count = 1,
                        .result_types = &type,
                        .result_count = 1 };
    ig_expr e = ig_expr_of(b);
    return ig_build_view_op(&e, &spec, attrs)->results;
}
