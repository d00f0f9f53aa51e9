/* Ops that move elements without computing: shape, size, reshape, transpose, expand,
 * concat, tile.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include "base/checked.h"

#include <string.h>

/* ---- extents as values ---- */

ig_status ig_fold_shape(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                        ig_tensor *out) {
    int64_t rank = in[0]->rank;
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &rank, out));
    for (int64_t i = 0; i < rank; i++) {
        ig_tensor_set_i64(out, i, in[0]->dims[i]);
    }
    return IG_OK;
}

ig_status ig_fold_size(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 0, NULL, out));
    ig_tensor_set_i64(out, 0, in[0]->count);
    return IG_OK;
}

/* ---- reshape ---- */

/* A -1 among the extents becomes `count` divided by the others. */
static ig_status resolve_rest(ig_eval *eval, const ig_op *op, int64_t count,
                              uint32_t rank, int64_t *dims) {
    int64_t others = 1, rest = -1;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == -1 && rest < 0) {
            rest = i;
        } else if (dims[i] < 0 || !ig_mul_i64(others, dims[i], &others)) {
            return FOLD_ERROR(eval, op, "reshape: extent %u of the shape is %lld", i,
                              (long long)dims[i]);
        }
    }
    if (rest >= 0 && others == 0) {
        return FOLD_ERROR(eval, op,
                          "reshape: -1 beside an extent of 0 could be anything");
    }
    if (rest >= 0) {
        dims[rest] = count / others;
        others *= dims[rest];
    }
    if (others != count) {
        return FOLD_ERROR(eval, op,
                          "reshape: %lld elements do not fill the shape asked for",
                          (long long)count);
    }
    return IG_OK;
}

ig_status ig_fold_reshape_view(ig_eval *eval, const ig_op *op,
                               const ig_tensor *const *in, ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK];
    uint32_t rank;
    const ig_tensor *shape = op->operand_count > 1 ? in[1] : NULL;
    IG_TRY(ig_eval_shape(eval, op, IG_reshape_to, shape, &rank, dims));
    IG_TRY(resolve_rest(eval, op, in[0]->count, rank, dims));
    *out = *in[0];
    out->rank = rank;
    memset(out->dims, 0, sizeof out->dims);
    memcpy(out->dims, dims, rank * sizeof *dims);
    return IG_OK;
}

ig_status ig_fold_reshape(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    ig_tensor view;
    IG_TRY(ig_fold_reshape_view(eval, op, in, &view));
    IG_TRY(ig_eval_alloc(eval, op, view.dtype, view.rank, view.dims, out));
    ig_span_copy(out, 0, &view, 0, out->count);
    return IG_OK;
}

/* ---- strided copies ---- */

ig_status ig_fold_transpose(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    const int64_t *perm = op->attrs[IG_transpose_perm].as.ints;
    int64_t dims[IG_TENSOR_RANK], own[IG_TENSOR_RANK], strides[IG_TENSOR_RANK];
    ig_strides_of(in[0]->rank, in[0]->dims, own);
    for (uint32_t i = 0; i < in[0]->rank; i++) {
        dims[i] = in[0]->dims[perm[i]];
        strides[i] = own[perm[i]];
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[0]->rank, dims, out));
    ig_walk_copy(out, in[0], in[0]->rank, dims, 0, strides);
    return IG_OK;
}

ig_status ig_fold_expand(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK], strides[IG_TENSOR_RANK];
    uint32_t rank;
    const ig_tensor *shape = op->operand_count > 1 ? in[1] : NULL;
    IG_TRY(ig_eval_shape(eval, op, IG_expand_to, shape, &rank, dims));
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0) {
            return FOLD_ERROR(eval, op, "expand: extent %u of the shape is %lld", i,
                              (long long)dims[i]);
        }
    }
    if (!ig_walk_broadcast(in[0], &rank, dims)) {
        return FOLD_ERROR(eval, op,
                          "expand: operand 0 does not broadcast with the shape");
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, rank, dims, out));
    ig_strides_broadcast(in[0], rank, strides);
    ig_walk_copy(out, in[0], rank, dims, 0, strides);
    return IG_OK;
}

/* Axis d of x becomes two, [repeats[d], dims[d]], the first without a stride. */
ig_status ig_fold_tile(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t own[IG_TENSOR_RANK], dims[IG_TENSOR_RANK];
    int64_t split[IG_WALK_RANK], strides[IG_WALK_RANK];
    if (in[1]->count != x->rank) {
        return FOLD_ERROR(eval, op, "tile: %lld repeats for %u axes",
                          (long long)in[1]->count, x->rank);
    }
    ig_strides_of(x->rank, x->dims, own);
    for (uint32_t i = 0; i < x->rank; i++) {
        int64_t repeats = ig_tensor_get_i64(in[1], i);
        if (repeats < 0 || !ig_mul_i64(x->dims[i], repeats, &dims[i])) {
            return FOLD_ERROR(eval, op, "tile: axis %u is repeated %lld times", i,
                              (long long)repeats);
        }
        split[2 * i] = repeats;
        split[2 * i + 1] = x->dims[i];
        strides[2 * i] = 0;
        strides[2 * i + 1] = own[i];
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, out));
    ig_walk_copy(out, x, 2 * x->rank, split, 0, strides);
    return IG_OK;
}

/* ---- concat ---- */

/* Extents but that of the axis must agree; gives the sum along it. */
static ig_status join_extents(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, uint32_t axis,
                              int64_t *dims) {
    memcpy(dims, in[0]->dims, in[0]->rank * sizeof *dims);
    for (uint32_t i = 1; i < op->operand_count; i++) {
        for (uint32_t d = 0; d < in[0]->rank; d++) {
            if (d != axis && in[i]->dims[d] != dims[d]) {
                return FOLD_ERROR(
                    eval, op,
                    "concat: extent %u of operand %u is %lld, expected %lld as in operand 0",
                    d, i, (long long)in[i]->dims[d], (long long)dims[d]);
            }
        }
        if (!ig_add_i64(dims[axis], in[i]->dims[axis], &dims[axis])) {
            return FOLD_FAIL(eval, op, IG_LIMIT, "concat: the result is too large");
        }
    }
    return IG_OK;
}

ig_status ig_fold_concat(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                         ig_tensor *out) {
    int64_t dims[IG_TENSOR_RANK], to = 0;
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_concat_axis, 0), in[0]->rank);
    IG_TRY(join_extents(eval, op, in, axis, dims));
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[0]->rank, dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    int64_t outer = ig_around_axis(out, axis).outer;
    for (int64_t o = 0; o < outer; o++) {
        for (uint32_t i = 0; i < op->operand_count; i++) {
            int64_t run = in[i]->count / outer;
            ig_span_copy(out, to, in[i], o * run, run);
            to += run;
        }
    }
    return IG_OK;
}
