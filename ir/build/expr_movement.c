/* The vocabulary that builds ops: movement of elements, reductions, products.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"

#include <assert.h>
#include <string.h>

/* ---- views ---- */

static bool has_dims(const ig_value *x, uint32_t rank, const ig_dim *dims) {
    return x->type->rank == rank && ig_dims_same(x->type->dims, dims, rank);
}

/* Is `axis` one of x's axes, or of `more` beyond them?  Importers take axes of ranks
 * that a file chose. */
static bool has_axis(ig_expr *e, const ig_value *x, uint32_t axis, uint32_t more) {
    if (x && axis >= x->type->rank + more) {
        ig_expr_fail(e, IG_INVALID, "axis %u is outside of a tensor of rank %u", axis,
                     x->type->rank);
        return false;
    }
    return x != NULL;
}

/* Is an extent an exact quotient of numbers that is none? */
static bool has_remainder(const ig_module *module, uint32_t rank, const ig_dim *dims) {
    int64_t extent;
    for (uint32_t i = 0; i < rank; i++) {
        if (!ig_dim_constant(module, dims[i], &extent) &&
            !ig_dim_mentions_since(module, dims[i], 0)) {
            return true;
        }
    }
    return false;
}

ig_value *ig_expr_reshape(ig_expr *e, ig_value *x, uint32_t rank, const ig_dim *dims) {
    assert(rank <= IG_TENSOR_RANK && "dims of a tensor");
    if (!x || has_dims(x, rank, dims)) {
        return x;
    }
    if (e->policy == IG_EXPR_REPORT && has_remainder(e->module, rank, dims)) {
        ig_expr_fail(
            e, IG_INVALID,
            "the tensor does not have as many elements as its new shape: an extent "
            "would be a quotient that leaves a remainder");
        return NULL;
    }
    ig_dim before = ig_type_count(e->module, x->type);
    ig_dim after = ig_dim_product(e->module, dims, rank);
    if (e->policy == IG_EXPR_REPORT &&
        ig_dim_equal(e->module, before, after) == IG_MAYBE) {
        ig_expr_guard_equal(
            e, before, after,
            "the tensor does not have as many elements as its new shape");
    }
    ig_dim none[1];
    ig_dims to = { rank ? dims : none, rank };
    return ig_build_reshape(e, x, NULL, (ig_reshape_attrs){ .to = to });
}

ig_value *ig_expr_flatten(ig_expr *e, ig_value *x) {
    if (!x) {
        return NULL;
    }
    ig_dim count = ig_type_count(e->module, x->type);
    return ig_expr_reshape(e, x, 1, &count);
}

ig_value *ig_expr_merge_axes(ig_expr *e, ig_value *x, uint32_t first, uint32_t last) {
    ig_dim dims[IG_TENSOR_RANK];
    assert(first <= last && "axes first … last");
    if (!has_axis(e, x, last, 0)) {
        return NULL;
    }
    uint32_t rank = x->type->rank, merged = last - first;
    memcpy(dims, x->type->dims, first * sizeof(*dims));
    dims[first] = ig_dim_product(e->module, x->type->dims + first, merged + 1);
    memcpy(dims + first + 1, x->type->dims + last + 1,
           (rank - last - 1) * sizeof(*dims));
    return ig_expr_reshape(e, x, rank - merged, dims);
}

ig_value *ig_expr_unsqueeze(ig_expr *e, ig_value *x, uint32_t axis) {
    ig_dim dims[IG_TENSOR_RANK + 1];
    if (!has_axis(e, x, axis, 1)) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    if (rank == IG_TENSOR_RANK) {
        return ig_expr_fail(e, IG_LIMIT, "a tensor of rank %u gets a further axis",
                            rank);
    }
    memcpy(dims, x->type->dims, axis * sizeof(*dims));
    dims[axis] = ig_dim_of(1);
    memcpy(dims + axis + 1, x->type->dims + axis, (rank - axis) * sizeof(*dims));
    return ig_expr_reshape(e, x, rank + 1, dims);
}

ig_value *ig_expr_squeeze(ig_expr *e, ig_value *x, uint32_t axis) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!has_axis(e, x, axis, 0)) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    memcpy(dims, x->type->dims, axis * sizeof(*dims));
    memcpy(dims + axis, x->type->dims + axis + 1, (rank - axis - 1) * sizeof(*dims));
    return ig_expr_reshape(e, x, rank - 1, dims);
}

ig_value *ig_expr_unsqueeze_to(ig_expr *e, ig_value *x, uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK];
    assert(rank <= IG_TENSOR_RANK && "the rank of a tensor");
    if (!x || x->type->rank >= rank) {
        return x;
    }
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = i < x->type->rank ? x->type->dims[i] : ig_dim_of(1);
    }
    return ig_expr_reshape(e, x, rank, dims);
}

ig_value *ig_expr_along(ig_expr *e, ig_value *x, uint32_t axis, uint32_t rank) {
    ig_dim dims[IG_TENSOR_RANK];
    if (!has_axis(e, x, 0, 0)) {
        return NULL;
    }
    if (axis >= rank || rank > IG_TENSOR_RANK) {
        return ig_expr_fail(e, IG_INVALID,
                            "axis %u is outside of rank %u, or the rank is above %d",
                            axis, rank, IG_TENSOR_RANK);
    }
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = d == axis ? x->type->dims[0] : ig_dim_of(1);
    }
    return ig_expr_reshape(e, x, rank, dims);
}

ig_value *ig_expr_transpose(ig_expr *e, ig_value *x, const int64_t *perm) {
    if (!x) {
        return NULL;
    }
    bool is_same = true;
    for (uint32_t i = 0; i < x->type->rank; i++) {
        is_same = is_same && perm[i] == i;
    }
    ig_transpose_attrs attrs = { .perm = { perm, x->type->rank } };
    return is_same ? x : ig_build_transpose(e, x, attrs);
}

ig_value *ig_expr_swap(ig_expr *e, ig_value *x, uint32_t a, uint32_t b) {
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0; x && i < x->type->rank; i++) {
        perm[i] = i == a ? b : i == b ? a : i;
    }
    return ig_expr_transpose(e, x, perm);
}

ig_value *ig_expr_move_axis(ig_expr *e, ig_value *x, uint32_t from, uint32_t to) {
    int64_t perm[IG_TENSOR_RANK];
    for (uint32_t i = 0, next = 0; x && i < x->type->rank; i++) {
        if (i == to) {
            perm[i] = from;
        } else {
            next += next == from;
            perm[i] = next++;
        }
    }
    return ig_expr_transpose(e, x, perm);
}

ig_value *ig_expr_expand(ig_expr *e, ig_value *x, uint32_t rank, const ig_dim *dims) {
    assert(rank <= IG_TENSOR_RANK && "dims of a tensor");
    if (!x || has_dims(x, rank, dims)) {
        return x;
    }
    return ig_build_expand(e, x, NULL, (ig_expand_attrs){ .to = { dims, rank } });
}

/* ---- parts and joins ---- */

ig_value *ig_expr_slices(ig_expr *e, ig_value *x, const ig_dim *starts,
                         const ig_dim *sizes, const int64_t *steps) {
    if (!x) {
        return NULL;
    }
    uint32_t rank = x->type->rank;
    bool has_steps = false;
    for (uint32_t i = 0; steps && i < rank; i++) {
        has_steps = has_steps || steps[i] != 1;
    }
    ig_slice_attrs attrs = { .starts = { starts, rank },
                             .sizes = { sizes, rank },
                             .steps = { has_steps ? steps : NULL, rank } };
    return ig_build_slice(e, x, NULL, NULL, NULL, NULL, attrs);
}

ig_value *ig_expr_slice(ig_expr *e, ig_value *x, uint32_t axis, ig_dim start,
                        ig_dim size, int64_t step) {
    ig_dim starts[IG_TENSOR_RANK], sizes[IG_TENSOR_RANK];
    int64_t steps[IG_TENSOR_RANK];
    if (!has_axis(e, x, axis, 0)) {
        return NULL;
    }
    if (ig_dim_is(start, 0) && step == 1 && ig_dim_same(size, x->type->dims[axis])) {
        return x;
    }
    for (uint32_t i = 0; i < x->type->rank; i++) {
        starts[i] = i == axis ? start : ig_dim_of(0);
        sizes[i] = i == axis ? size : x->type->dims[i];
        steps[i] = i == axis ? step : 1;
    }
    return ig_expr_slices(e, x, starts, sizes, steps);
}

ig_value *ig_expr_select(ig_expr *e, ig_value *x, uint32_t axis, ig_dim index) {
    ig_value *one = ig_expr_slice(e, x, axis, index, ig_dim_of(1), 1);
    return ig_expr_squeeze(e, one, axis);
}

ig_value *ig_expr_flip(ig_expr *e, ig_value *x, uint32_t axis) {
    if (!has_axis(e, x, axis, 0)) {
        return NULL;
    }
    ig_dim extent = x->type->dims[axis];
    ig_dim last = ig_dim_sub(e->module, extent, ig_dim_of(1));
    return ig_expr_slice(e, x, axis, last, extent, -1);
}

ig_value *ig_expr_concat(ig_expr *e, uint32_t axis, ig_value *const *values,
                         uint32_t count) {
    assert(count > 0 && "something to join");
    return count == 1
               ? values[0]
               : ig_build_concat(e, values, count, (ig_concat_attrs){ .axis = axis });
}

ig_value *ig_expr_pad(ig_expr *e, ig_value *x, const ig_dim *before,
                      const ig_dim *after, ig_pad_mode mode, double value) {
    if (!x) {
        return NULL;
    }
    bool has_value = mode == IG_PAD_constant;
    ig_value *fill = has_value ? ig_expr_number(e, (ig_dtype)x->type->dtype, value)
                               : NULL;
    ig_pad_attrs attrs = { .before = { before, x->type->rank },
                           .after = { after, x->type->rank },
                           .mode = (int)mode };
    return ig_build_pad(e, x, fill, NULL, NULL, attrs);
}

/* ---- reductions, products, look-ups ---- */

ig_value *ig_expr_reduce(ig_expr *e, ig_reduce kind, ig_value *x, const int64_t *axes,
                         uint32_t count, bool keep) {
    if (!x || (axes && count == 0 && x->type->rank > 0)) {
        return x;
    }
    ig_reduce_attrs attrs = { .op = (int)kind, .keep = keep };
    if (axes && x->type->rank > 0) {
        attrs.axes = (ig_ints){ axes, count };
    }
    return ig_build_reduce(e, x, NULL, attrs);
}

ig_value *ig_expr_reduce_axis(ig_expr *e, ig_reduce kind, ig_value *x, uint32_t axis,
                              bool keep) {
    return ig_expr_reduce(e, kind, x, (int64_t[]){ axis }, 1, keep);
}

ig_value *ig_expr_reduce_axes(ig_expr *e, ig_reduce kind, ig_value *x, uint32_t first,
                              uint32_t last) {
    int64_t axes[IG_TENSOR_RANK];
    assert(first <= last && last < IG_TENSOR_RANK && "axes first … last");
    for (uint32_t d = first; d <= last; d++) {
        axes[d - first] = d;
    }
    return ig_expr_reduce(e, kind, x, axes, last - first + 1, true);
}

/* Inner extents are equal, and those of batches broadcast. */
static void guard_inner(ig_expr *e, const ig_value *x, const ig_value *y,
                        uint32_t inner_axis) {
    const ig_type *a = x->type, *b = y->type;
    if (e->policy != IG_EXPR_REPORT || a->rank == 0 || b->rank == 0) {
        return;
    }
    ig_dim inner = b->dims[b->rank == 1 ? 0 : b->rank - inner_axis];
    ig_expr_guard_equal(e, a->dims[a->rank - 1], inner,
                        "the inner extents of the product differ");
    for (uint32_t i = 3; i <= a->rank && i <= b->rank; i++) {
        ig_dim p = a->dims[a->rank - i], q = b->dims[b->rank - i];
        if (!ig_dim_is(p, 1) && !ig_dim_is(q, 1) &&
            ig_dim_equal(e->module, p, q) == IG_MAYBE) {
            ig_expr_guard_equal(e, ig_dim_bcast(e->module, p, q),
                                ig_dim_bcast(e->module, q, p),
                                "the batches of the product do not broadcast");
        }
    }
}

void ig_expr_guard_product(ig_expr *e, const ig_value *x, const ig_value *y) {
    if (x && y) {
        guard_inner(e, x, y, 2);
    }
}

ig_value *ig_expr_matmul(ig_expr *e, ig_value *x, ig_value *y) {
    if (!x || !y) {
        return NULL;
    }
    ig_expr_guard_product(e, x, y);
    return ig_build_matmul(e, x, y, (ig_matmul_attrs){ 0 });
}

ig_value *ig_expr_matmul_transposed(ig_expr *e, ig_value *x, ig_value *y) {
    if (!x || !y) {
        return NULL;
    }
    guard_inner(e, x, y, 1);
    return ig_build_matmul(e, x, y, (ig_matmul_attrs){ .transpose_b = true });
}

ig_value *ig_expr_gather(ig_expr *e, ig_value *x, ig_value *indices, uint32_t axis,
                         ig_negative negative) {
    ig_gather_attrs attrs = { .axis = axis, .negative = (int)negative };
    return ig_build_gather(e, x, indices, attrs);
}
