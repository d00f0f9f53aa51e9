/* gather, gather_nd, gather_elements, scatter_elements.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Indices count from the end when they are negative.  One that is out of range is an
 * error that names the position among the indices and the value found there.
 */
#include "ir/fold.h"
#include "ir/hooks.h"

#include <string.h>

static ig_status out_of_range(ig_eval *eval, const ig_op *op, int64_t position,
                              int64_t value, int64_t extent) {
    return FOLD_ERROR(eval, op,
                      "%s: index %lld at position %lld is out of range: the axis "
                      "has %lld elements",
                      ig_ops[op->code].name, (long long)value, (long long)position,
                      (long long)extent);
}

/* Index number `position`, made non-negative. */
static ig_status read_index(ig_eval *eval, const ig_op *op, const ig_tensor *indices,
                            int64_t position, int64_t extent, int64_t *out_index) {
    int64_t value = ig_tensor_get_i64(indices, position);
    bool    is_huge = indices->dtype == IG_DT_u64 && value < 0;
    if (is_huge || value < -extent || value >= extent) {
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

/* By the row's rule for negatives; -1 stands for a row of zeros (skip). */
static ig_status read_row(ig_eval *eval, const ig_op *op, const ig_tensor *indices,
                          int64_t position, int64_t extent, int64_t *out_row) {
    int64_t rule = ig_attr_int(op, IG_gather_negative, IG_NEGATIVE_wrap);
    int64_t value = ig_tensor_get_i64(indices, position);
    if (value >= 0 || rule == IG_NEGATIVE_wrap || indices->dtype == IG_DT_u64) {
        return read_index(eval, op, indices, position, extent, out_row);
    }
    *out_row = -1;
    return rule == IG_NEGATIVE_skip ? IG_OK
                                    : out_of_range(eval, op, position, value, extent);
}

ig_status ig_fold_gather(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    const ig_tensor *x = in[0], *indices = in[1];
    int64_t          dims[2 * IG_TENSOR_RANK], row;
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_gather_axis, 0), x->rank), rank;
    gather_extents(x, indices, axis, &rank, dims);
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, rank, dims, out));
    for (int64_t k = 0; k < indices->count; k++) { /* also where the result is empty */
        IG_TRY(read_row(eval, op, indices, k, x->dims[axis], &row));
    }
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, axis);
    for (int64_t o = 0; o < around.outer; o++) {
        for (int64_t k = 0; k < indices->count; k++) {
            IG_TRY(read_row(eval, op, indices, k, around.extent, &row));
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
    uint32_t batch, depth;
    int64_t  batch_count; /* product of the batch extents */
    int64_t  tuples;      /* index tuples of one batch */
    int64_t  inner;       /* elements that one tuple selects */
    int64_t  block;       /* elements of x in one batch */
    uint32_t rank;        /* of the result */
    int64_t  dims[2 * IG_TENSOR_RANK];
} nd;

static ig_status nd_extents(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                            const ig_tensor *indices, nd *n) {
    int64_t *to = n->dims;
    n->batch_count = n->tuples = n->inner = 1;
    for (uint32_t i = 0; i < n->batch; i++) {
        if (x->dims[i] != indices->dims[i]) {
            return FOLD_ERROR(eval, op,
                              "gather_nd: batch axis %u has %lld elements in "
                              "operand 0 and %lld in operand 1",
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
        IG_TRY(read_index(eval, op, in[1], tuple * n->depth + i, extent, &index));
        *out_offset = *out_offset * extent + index;
    }
    return IG_OK;
}

ig_status ig_fold_gather_nd(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    const ig_tensor *x = in[0], *indices = in[1];
    nd               n = { .batch = (uint32_t)ig_attr_int(op, IG_gather_nd_batch, 0) };
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
            ig_span_copy(out, t * n.inner, x, b * n.block + offset * n.inner, n.inner);
        }
    }
    return IG_OK;
}

/* ---- elements ---- */

/* Visits every element of the indices; `walk.at` runs over x beside them. */
typedef struct elements {
    ig_walk  walk;
    uint32_t axis;
    int64_t  position; /* of the index that is read next */
    int64_t  strides[IG_TENSOR_RANK];
} elements;

static ig_status start_elements(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                                const ig_tensor *indices, int64_t axis, elements *e) {
    memset(e, 0, sizeof *e);
    e->axis = ig_axis_of(axis, x->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i != e->axis && indices->dims[i] > x->dims[i]) {
            return FOLD_ERROR(eval, op,
                              "%s: extent %u of the indices is %lld, that of "
                              "operand 0 only %lld",
                              ig_ops[op->code].name, i, (long long)indices->dims[i],
                              (long long)x->dims[i]);
        }
    }
    ig_strides_of(x->rank, x->dims, e->strides);
    e->walk.operand_count = 1;
    e->walk.strides[0] = e->strides;
    ig_walk_start(&e->walk, x->rank, indices->dims);
    return IG_OK;
}

/* The element of x that the next index points to. */
static ig_status next_element(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, elements *e,
                              int64_t *out_at) {
    int64_t index, extent = in[0]->dims[e->axis];
    IG_TRY(read_index(eval, op, in[1], e->position++, extent, &index));
    *out_at = e->walk.at[0] + (index - e->walk.index[e->axis]) * e->strides[e->axis];
    ig_walk_next(&e->walk);
    return IG_OK;
}

ig_status ig_fold_gather_elements(ig_eval *eval, const ig_op *op,
                                  const ig_tensor *const *in, ig_tensor *out) {
    int64_t  axis = ig_attr_int(op, IG_gather_elements_axis, 0), at;
    elements e;
    IG_TRY(start_elements(eval, op, in[0], in[1], axis, &e));
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[1]->rank, in[1]->dims, out));
    while (e.walk.is_inside) {
        int64_t to = e.position;
        IG_TRY(next_element(eval, op, in, &e, &at));
        ig_span_copy(out, to, in[0], at, 1);
    }
    return IG_OK;
}

ig_status ig_fold_scatter_elements(ig_eval *eval, const ig_op *op,
                                   const ig_tensor *const *in, ig_tensor *out) {
    int64_t  axis = ig_attr_int(op, IG_scatter_elements_axis, 0), at;
    elements e;
    IG_TRY(start_elements(eval, op, in[0], in[1], axis, &e));
    if (in[2]->count != in[1]->count) {
        return FOLD_ERROR(eval, op, "scatter_elements: %lld updates for %lld indices",
                          (long long)in[2]->count, (long long)in[1]->count);
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[0]->rank, in[0]->dims, out));
    ig_span_copy(out, 0, in[0], 0, out->count);
    while (e.walk.is_inside) {
        int64_t from = e.position;
        IG_TRY(next_element(eval, op, in, &e, &at));
        ig_span_copy(out, at, in[2], from, 1);
    }
    return IG_OK;
}
