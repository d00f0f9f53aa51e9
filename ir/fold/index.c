/* gather, gather_nd, gather_elements.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Indices count from the end when they are negative.  One that is out of range is an
 * error that names the position among the indices and the value found there.
 */
#include "ir/fold/index.h"

#include "ir/hooks.h"

#include <string.h>

static ig_status out_of_range(ig_eval *eval, const ig_op *op, int64_t position,
                              int64_t value, int64_t extent) {
    return FOLD_ERROR(
        eval, op,
        "%s: index %lld at position %lld is out of range: the axis has %lld elements",
        ig_ops[op->code].name, (long long)value, (long long)position,
        (long long)extent);
}

ig_status ig_index_read(ig_eval *eval, const ig_op *op, const ig_indices *indices,
                        int64_t position, int64_t extent, int64_t *out_index) {
    int64_t value = ig_tensor_get_i64(indices->tensor, position);
    bool is_huge = indices->tensor->dtype == IG_DT_u64 && value < 0;
    bool is_skipped = value < 0 && indices->negative == IG_NEGATIVE_skip;
    if (is_skipped && !is_huge) {
        *out_index = -1;
        return IG_OK;
    }
    int64_t lowest = indices->negative == IG_NEGATIVE_wrap ? -extent : 0;
    if (is_huge || value < lowest || value >= extent) {
        return out_of_range(eval, op, position, value, extent);
    }
    *out_index = value < 0 ? value + extent : value;
    return IG_OK;
}

/* ---- gather ---- */

static void gather_extents(const ig_tensor *x, const ig_tensor *indices, uint32_t axis,
                           uint32_t *rank, int64_t *dims) {
    *rank = 0;
    for (uint32_t i = 0; i < axis; i++) {
        dims[(*rank)++] = x->dims[i];
    }
    for (uint32_t i = 0; i < indices->rank; i++) {
        dims[(*rank)++] = indices->dims[i];
    }
    for (uint32_t i = axis + 1; i < x->rank; i++) {
        dims[(*rank)++] = x->dims[i];
    }
}

ig_status ig_fold_gather(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0], *indices = in[1];
    int64_t rule = ig_attr_int(op, IG_gather_negative, IG_NEGATIVE_wrap);
    ig_indices rows = { indices, (ig_negative)rule };
    int64_t dims[2 * IG_TENSOR_RANK], row;
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_gather_axis, 0), x->rank), rank;
    gather_extents(x, indices, axis, &rank, dims);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, rank, dims, out));
    for (int64_t k = 0; k < indices->count; k++) { /* also where the result is empty */
        IG_TRY(ig_index_read(eval, op, &rows, k, x->dims[axis], &row));
    }
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, axis);
    for (int64_t o = 0; o < around.outer; o++) {
        for (int64_t k = 0; k < indices->count; k++) {
            IG_TRY(ig_index_read(eval, op, &rows, k, around.extent, &row));
            int64_t to = (o * indices->count + k) * around.inner;
            if (row >= 0) {
                int64_t from = (o * around.extent + row) * around.inner;
                ig_span_copy(out, to, x, from, around.inner);
            }
        }
    }
    return IG_OK;
}

/* ---- gather_nd ---- */

typedef struct nd {
    ig_indices indices;
    uint32_t batch, depth;
    int64_t batch_count; /* product of the batch extents */
    int64_t tuples;      /* index tuples of one batch */
    int64_t inner;       /* elements that one tuple selects */
    int64_t block;       /* elements of x in one batch */
    uint32_t rank;       /* of the result */
    int64_t dims[2 * IG_TENSOR_RANK];
} nd;

static ig_status nd_extents(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                            const ig_tensor *indices, nd *n) {
    int64_t *to = n->dims;
    n->batch_count = n->tuples = n->inner = 1;
    for (uint32_t i = 0; i < n->batch; i++) {
        if (x->dims[i] != indices->dims[i]) {
            return FOLD_ERROR(
                eval, op,
                "gather_nd: batch axis %u has %lld elements in operand 0 and %lld in operand 1",
                i, (long long)x->dims[i], (long long)indices->dims[i]);
        }
        n->batch_count *= *to++ = x->dims[i];
    }
    for (uint32_t i = n->batch; i + 1 < indices->rank; i++) {
        n->tuples *= *to++ = indices->dims[i];
    }
    for (uint32_t i = n->batch + n->depth; i < x->rank; i++) {
        n->inner *= *to++ = x->dims[i];
    }
    n->block = n->batch_count ? x->count / n->batch_count : 0;
    n->rank = (uint32_t)(to - n->dims);
    return IG_OK;
}

/* Where tuple `tuple` (of all batches) points to, relative to its batch. */
static ig_status nd_offset(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           const nd *n, int64_t tuple, int64_t *out_offset) {
    *out_offset = 0;
    for (uint32_t i = 0; i < n->depth; i++) {
        int64_t extent = in[0]->dims[n->batch + i], index;
        IG_TRY(
            ig_index_read(eval, op, &n->indices, tuple * n->depth + i, extent, &index));
        if (index < 0) {
            *out_offset = -1;
            return IG_OK;
        }
        *out_offset = *out_offset * extent + index;
    }
    return IG_OK;
}

ig_status ig_fold_gather_nd(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    const ig_tensor *x = in[0], *indices = in[1];
    int64_t rule = ig_attr_int(op, IG_gather_nd_negative, IG_NEGATIVE_wrap);
    nd n = { .indices = { indices, (ig_negative)rule },
             .batch = (uint32_t)ig_attr_int(op, IG_gather_nd_batch, 0) };
    n.depth = (uint32_t)indices->dims[indices->rank - 1];
    IG_TRY(nd_extents(eval, op, x, indices, &n));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, n.rank, n.dims, out));
    if (n.depth == 0 ? out->count == 0 : indices->count == 0) {
        return IG_OK;
    }
    for (int64_t b = 0; b < n.batch_count; b++) {
        for (int64_t t = b * n.tuples; t < (b + 1) * n.tuples; t++) {
            int64_t offset;
            IG_TRY(nd_offset(eval, op, in, &n, t, &offset));
            if (offset >= 0) {
                int64_t from = b * n.block + offset * n.inner;
                ig_span_copy(out, t * n.inner, x, from, n.inner);
            }
        }
    }
    return IG_OK;
}

/* ---- elements ---- */

ig_status ig_elements_start(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                            const ig_indices *indices, int64_t axis, ig_elements *out) {
    const int64_t *dims = indices->tensor->dims;
    memset(out, 0, sizeof *out);
    out->indices = *indices;
    out->axis = ig_axis_of(axis, x->rank);
    out->extent = x->dims[out->axis];
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != out->axis && dims[i] > x->dims[i]) {
            return FOLD_ERROR(
                eval, op,
                "%s: extent %u of the indices is %lld, that of operand 0 only %lld",
                ig_ops[op->code].name, i, (long long)dims[i], (long long)x->dims[i]);
        }
    }
    ig_strides_of(x->rank, x->dims, out->strides);
    out->walk.operand_count = 1;
    out->walk.strides[0] = out->strides;
    ig_walk_start(&out->walk, x->rank, dims);
    return IG_OK;
}

ig_status ig_elements_next(ig_eval *eval, const ig_op *op, ig_elements *e,
                           int64_t *out_at) {
    int64_t index;
    IG_TRY(ig_index_read(eval, op, &e->indices, e->position++, e->extent, &index));
    int64_t moved = (index - e->walk.index[e->axis]) * e->strides[e->axis];
    *out_at = index < 0 ? -1 : e->walk.at[0] + moved;
    ig_walk_next(&e->walk);
    return IG_OK;
}

ig_status ig_fold_gather_elements(ig_eval *eval, const ig_op *op,
                                  const ig_tensor *const *in, ig_tensor *out) {
    int64_t axis = ig_attr_int(op, IG_gather_elements_axis, 0), at;
    ig_indices indices = { in[1], IG_NEGATIVE_wrap };
    ig_elements e;
    IG_TRY(ig_elements_start(eval, op, in[0], &indices, axis, &e));
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[1]->rank, in[1]->dims, out));
    while (e.walk.is_inside) {
        int64_t to = e.position;
        IG_TRY(ig_elements_next(eval, op, &e, &at));
        ig_span_copy(out, to, in[0], at, 1);
    }
    return IG_OK;
}
