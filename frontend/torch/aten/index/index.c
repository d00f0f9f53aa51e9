/* Indexing by tensors: x[i, :, mask] and its assignment.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A mask means the columns of its nonzero.  The index tensors are broadcast and stacked
 * as tuples, the axes that they index are moved to the front, and gather_nd or
 * scatter_nd does the rest.  The broadcast axes of the result replace the indexed ones
 * when those are neighbours, else come first:
 *
 *     x [A, B, C, D], indices [-, i, j, -], i and j broadcast to S…
 *     x' [B, C, A, D]  gather_nd (i, j)  ->  [S…, A, D]  ->  [A, S…, D] */
#include "frontend/torch/aten/quant.h"
#include "frontend/torch/aten/view.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

typedef struct indexing {
    ig_value *x;
    ig_value *index[IG_TENSOR_RANK]; /* by axis; NULL: all of it */
    uint32_t used;                   /* axes that have one */
    uint32_t first;                  /* the first of them */
    bool is_together;                /* they are neighbours */
    ig_dim dims[IG_TENSOR_RANK];     /* of the broadcast index tensors */
    uint32_t rank;
} indexing;

/* The columns of a mask's nonzero, one an axis that it covers. */
static bool add_mask(ig_ts_call *call, indexing *ix, uint32_t *axis, ig_value *mask) {
    ig_expr *e = call->e;
    assert(*axis < ix->x->type->rank && "the caller has checked that an axis is left");
    mask = ig_aten_cast(call, mask, IG_DT_bool);
    if (!mask || mask->type->rank == 0 ||
        *axis + mask->type->rank > ix->x->type->rank) {
        ig_expr_fail(e, mask && mask->type->rank == 0 ? IG_UNSUPPORTED : IG_INVALID,
                     "a mask that covers %u axes from axis %u on",
                     mask ? mask->type->rank : 0, *axis);
        return false;
    }
    for (uint32_t i = 0; i < mask->type->rank; i++) {
        if (e->status == IG_OK) {
            ig_expr_guard_equal(e, ig_expr_extent(e, mask, i),
                                ig_expr_extent(e, ix->x, *axis + i),
                                "a mask's extents must be the tensor's");
        }
    }
    uint32_t covered = mask->type->rank;
    ig_value *rows = ig_expr_make(e, IG_OP_nonzero, &mask, 1, NULL);
    for (uint32_t i = 0; i < covered; i++) {
        ix->index[(*axis)++] = ig_expr_select(e, rows, 1, ig_dim_of(i));
    }
    return e->status == IG_OK;
}

static bool is_mask(const ig_value *x) {
    return x->type->dtype == IG_DT_bool || x->type->dtype == IG_DT_u8;
}

static bool join_shapes(ig_expr *e, indexing *ix) {
    for (uint32_t axis = 0, last = 0; axis < ix->x->type->rank; axis++) {
        const ig_value *index = ix->index[axis];
        if (!index) {
            continue;
        }
        ix->is_together = ix->used == 0 || (ix->is_together && last + 1 == axis);
        ix->first = ix->used++ == 0 ? axis : ix->first;
        last = axis;
        if (!ig_expr_broadcast_dims(e, index->type, ix->dims, &ix->rank)) {
            return false;
        }
    }
    return true;
}

/* Argument 0 indexed by the list in argument 1. */
static bool open_indexing(ig_ts_call *call, indexing *ix) {
    uint32_t count, axis = 0;
    memset(ix, 0, sizeof *ix);
    ix->x = ig_aten_tensor(call, 0);
    ig_value **given = ig_aten_tensors(call, 1, &count);
    if (!ix->x || call->e->status != IG_OK) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (axis >= ix->x->type->rank) {
            ig_expr_fail(call->e, IG_INVALID,
                         "too many indices for a tensor of rank %u", ix->x->type->rank);
            return false;
        }
        if (given[i] && is_mask(given[i])) {
            if (!add_mask(call, ix, &axis, given[i])) {
                return false;
            }
        } else {
            ix->index[axis++] = ig_aten_cast(call, given[i], IG_DT_i64);
        }
    }
    return join_shapes(call->e, ix) && call->e->status == IG_OK;
}

/* Indices as tuples [S…, used]. */
static ig_value *stack_indices(ig_expr *e, const indexing *ix) {
    assert(ix->used > 0 && "something is indexed");
    ig_value *columns[IG_TENSOR_RANK];
    uint32_t count = 0;
    for (uint32_t axis = 0; axis < ix->x->type->rank; axis++) {
        if (ix->index[axis]) {
            ig_value *wide = ig_expr_expand(e, ix->index[axis], ix->rank, ix->dims);
            columns[count++] = ig_expr_unsqueeze(e, wide, ix->rank);
        }
    }
    return ig_expr_concat(e, ix->rank, columns, count);
}

/* Indexed axes first. */
static void order_of(const indexing *ix, int64_t *perm) {
    uint32_t next = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t axis = 0; axis < ix->x->type->rank; axis++) {
            if ((ix->index[axis] != NULL) == (pass == 0)) {
                perm[next++] = axis;
            }
        }
    }
}

/* From [S…, rest] to where S belongs: perm of the result. */
static uint32_t position_of(const indexing *ix, int64_t *perm) {
    assert(ix->used <= ix->x->type->rank && "each axis is indexed once");
    uint32_t rest = ix->x->type->rank - ix->used, next = 0;
    uint32_t before = ix->is_together ? ix->first : 0;
    for (uint32_t i = 0; i < before; i++) {
        perm[next++] = ix->rank + i;
    }
    for (uint32_t i = 0; i < ix->rank; i++) {
        perm[next++] = i;
    }
    for (uint32_t i = before; i < rest; i++) {
        perm[next++] = ix->rank + i;
    }
    return next;
}

/* index(self, indices) */
ig_status ig_ts_op_index(ig_ts_call *call) {
    if (ig_aten_is_quantised(call, 0)) {
        return ig_aten_through_raw(call, ig_ts_op_index);
    }
    indexing ix;
    int64_t perm[2 * IG_TENSOR_RANK];
    if (!open_indexing(call, &ix)) {
        return call->e->status;
    }
    if (ix.used == 0) {
        return ig_aten_give(call, ix.x);
    }
    if (ix.used == 1) {
        ig_value *index = ix.index[ix.first];
        return ig_aten_give(
            call, ig_expr_gather(call->e, ix.x, index, ix.first, IG_NEGATIVE_wrap));
    }
    order_of(&ix, perm);
    ig_value *operands[] = { ig_expr_transpose(call->e, ix.x, perm),
                             stack_indices(call->e, &ix) };
    ig_value *value = ig_expr_make(call->e, IG_OP_gather_nd, operands, 2, NULL);
    position_of(&ix, perm);
    return ig_aten_give(call, ig_expr_transpose(call->e, value, perm));
}

/* A mask alone with values that do not go along it: no need to know where it is
 * true. */
static ig_value *put_by_mask(ig_ts_call *call, ig_value *x, ig_value *mask,
                             ig_value *values) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t trailing = x->type->rank - mask->type->rank, rank = values->type->rank;
    bool is_one = rank <= trailing ||
                  (rank == trailing + 1 &&
                   ig_dim_is(ig_expr_extent(call->e, values, 0), 1));
    if (!is_one || mask->type->rank == 0 || mask->type->rank > x->type->rank) {
        return NULL;
    }
    if (rank == trailing + 1) {
        values = ig_expr_squeeze(call->e, values, 0);
    }
    for (uint32_t i = 0; i < x->type->rank; i++) {
        dims[i] = i < mask->type->rank ? ig_expr_extent(call->e, mask, i)
                                       : ig_dim_of(1);
    }
    mask = ig_expr_reshape(call->e, ig_aten_cast(call, mask, IG_DT_bool), x->type->rank,
                           dims);
    return ig_build_where(call->e, mask, values, x);
}

static ig_value *put_by_tuples(ig_expr *e, const indexing *ix, ig_value *values,
                               bool adds) {
    assert(ix->used > 0 && "the caller handles plain assignment");
    int64_t order[IG_TENSOR_RANK], positions[2 * IG_TENSOR_RANK], back[IG_TENSOR_RANK];
    int64_t inverse[2 * IG_TENSOR_RANK];
    ig_dim dims[2 * IG_TENSOR_RANK], shaped[2 * IG_TENSOR_RANK];
    uint32_t rank = position_of(ix, positions), k = 0;
    order_of(ix, order);
    for (uint32_t i = 0; i < ix->rank; i++) {
        dims[k++] = ix->dims[i];
    }
    for (uint32_t i = ix->used; i < ix->x->type->rank; i++) {
        dims[k++] = ig_expr_extent(e, ix->x, (uint32_t)order[i]);
    }
    for (uint32_t i = 0; i < rank; i++) {
        shaped[i] = dims[positions[i]];
        inverse[positions[i]] = i;
    }
    for (uint32_t i = 0; i < ix->x->type->rank; i++) {
        back[order[i]] = i;
    }
    values = ig_expr_expand(e, values, rank, shaped);
    ig_scatter_nd_attrs attrs = { .reduce = adds ? IG_SCATTER_add : IG_SCATTER_none };
    ig_value *value = ig_build_scatter_nd(e, ig_expr_transpose(e, ix->x, order),
                                          stack_indices(e, ix),
                                          ig_expr_transpose(e, values, inverse), attrs);
    return ig_expr_transpose(e, value, back);
}

/* index_put(self, indices, values, accumulate) */
ig_status ig_ts_op_index_put(ig_ts_call *call) {
    indexing ix;
    uint32_t count;
    ig_value *x = ig_aten_tensor(call, 0), *values = ig_aten_tensor(call, 2);
    bool adds = ig_aten_bool(call, 3);
    ig_value **given = ig_aten_tensors(call, 1, &count);
    IG_TRY(call->e->status);
    values = ig_aten_cast(call, values, (ig_dtype)x->type->dtype);
    if (count == 1 && given[0] && is_mask(given[0]) && !adds && values) {
        ig_value *put = put_by_mask(call, x, given[0], values);
        if (put || call->e->status != IG_OK) {
            return ig_aten_give(call, put);
        }
    }
    if (!open_indexing(call, &ix)) {
        return call->e->status;
    }
    if (ix.used == 0) {
        values = ig_expr_expand(call->e, values, x->type->rank, x->type->dims);
        return ig_aten_give(call, adds ? ig_build_add(call->e, x, values) : values);
    }
    uint32_t rank = ix.rank + x->type->rank - ix.used;
    if (rank > IG_TENSOR_RANK) {
        return ig_ts_fail(call, IG_LIMIT,
                          "the indices select a tensor of rank %u, expected at most %d",
                          rank, IG_TENSOR_RANK);
    }
    return ig_aten_give(call, put_by_tuples(call->e, &ix, values, adds));
}

/* ---- masks ---- */

/* Both operands broadcast to one shape. */
static bool level_ranks(ig_expr *e, ig_value **x, ig_value **y) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    if (!*x || !*y || !ig_expr_broadcast_dims(e, (*x)->type, dims, &rank) ||
        !ig_expr_broadcast_dims(e, (*y)->type, dims, &rank)) {
        return false;
    }
    *x = ig_expr_expand(e, *x, rank, dims);
    *y = ig_expr_expand(e, *y, rank, dims);
    return *x && *y;
}

ig_status ig_ts_op_masked_select(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *mask = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_bool);
    if (!level_ranks(call->e, &x, &mask)) {
        return call->e->status;
    }
    x = ig_expr_flatten(call->e, x);
    mask = ig_expr_flatten(call->e, mask);
    ig_value *rows = ig_expr_make(call->e, IG_OP_nonzero, &mask, 1, NULL);
    rows = ig_expr_select(call->e, rows, 1, ig_dim_of(0));
    return ig_aten_give(call, ig_expr_gather(call->e, x, rows, 0, IG_NEGATIVE_wrap));
}

/* masked_scatter(self, mask, source): the k-th true element gets source's k-th. */
ig_status ig_ts_op_masked_scatter(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    ig_value *mask = ig_aten_cast(call, ig_aten_tensor(call, 1), IG_DT_bool);
    ig_value *source = ig_aten_tensor(call, 2);
    if (!level_ranks(call->e, &x, &mask)) {
        return call->e->status;
    }
    const ig_type *type = x->type;

    ig_value *flat = ig_aten_cast(call, ig_expr_flatten(call->e, mask), IG_DT_i64);
    ig_value *number = ig_build_cumsum(call->e, flat, (ig_cumsum_attrs){ .axis = 0 });
    number = ig_build_mul(call->e, number, flat); /* 0 where false */
    number = ig_expr_with(call->e, IG_OP_sub, number, 1);
    number = ig_expr_with(call->e, IG_OP_max, number, 0);
    source = ig_expr_flatten(call->e, source);
    ig_value *none = ig_expr_number(call->e, (ig_dtype)type->dtype, 0);
    none = ig_expr_reshape(call->e, none, 1,
                           (ig_dim[]){ ig_dim_of(1) }); /* source may be empty */
    source = ig_expr_concat(call->e, 0, (ig_value *[]){ source, none }, 2);
    source = ig_expr_gather(call->e, source, number, 0, IG_NEGATIVE_wrap);
    source = ig_expr_reshape(call->e, source, type->rank, type->dims);
    return ig_aten_give(call, ig_build_where(call->e, mask, source, x));
}

ig_status ig_ts_op_nonzero(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    return ig_aten_give(call, ig_build_nonzero(call->e, x));
}

/* nonzero_static(self, *, size, fill_value): the first `size` rows, or filled up */
ig_status ig_ts_op_nonzero_static(ig_ts_call *call) {
    ig_value *rows = ig_build_nonzero(call->e, ig_aten_tensor(call, 0));
    ig_dim size = ig_aten_dim(call, 1);
    double fill = (double)ig_aten_int(call, 2);
    IG_TRY(call->e->status);
    ig_dim dims[] = { size, ig_expr_extent(call->e, rows, 1) };
    ig_value *more = ig_expr_fill(call->e, IG_DT_i64, 2, dims, fill);
    rows = ig_expr_concat(call->e, 0, (ig_value *[]){ rows, more }, 2);
    return ig_aten_give(call, ig_expr_slice(call->e, rows, 0, ig_dim_of(0), size, 1));
}

/* where(condition), nonzero_numpy: the columns of nonzero, a list */
ig_status ig_ts_op_nonzero_list(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *columns[IG_TENSOR_RANK];
    if (x && x->type->rank == 0) {
        x = ig_expr_reshape(call->e, x, 1, (ig_dim[]){ ig_dim_of(1) });
    }
    uint32_t rank = x ? x->type->rank : 0;
    ig_value *rows = ig_expr_make(call->e, IG_OP_nonzero, &x, 1, NULL);
    for (uint32_t i = 0; i < rank; i++) {
        columns[i] = ig_expr_select(call->e, rows, 1, ig_dim_of(i));
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, columns, rank);
}
