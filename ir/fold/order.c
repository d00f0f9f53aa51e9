/* arg_reduce, sort and topk, and the order they share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sorting is a merge sort of indices: stable, and the same for every dtype.  It
 * compares blocks: one element (sort), or all elements that share an index along the
 * axis (unique), in row-major order.
 */
#include "ir/fold/order.h"

#include "ir/hooks.h"

#include <math.h>
#include <string.h>

/* ---- the order ---- */

static int compare_floats(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return (isnan(a) != 0) - (isnan(b) != 0);
    }
    return (a > b) - (a < b);
}

int ig_element_compare(const ig_tensor *x, int64_t i, const ig_tensor *y, int64_t k) {
    if (ig_dtype_is_float(x->dtype)) {
        return compare_floats(ig_tensor_get_f64(x, i), ig_tensor_get_f64(y, k));
    }
    int64_t a = ig_tensor_get_i64(x, i), b = ig_tensor_get_i64(y, k);
    if (ig_dtypes[x->dtype].class == IG_UINT) {
        return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
    }
    return (a > b) - (a < b);
}

int ig_blocks_compare(const ig_block_of *blocks, int64_t start, int64_t i, int64_t k) {
    for (int64_t o = 0; o < blocks->outer; o++) {
        for (int64_t n = 0; n < blocks->inner; n++) {
            int64_t at = start + o * blocks->outer_step + n;
            int64_t a = at + i * blocks->element_step;
            int64_t b = at + k * blocks->element_step;
            int order = ig_element_compare(blocks->x, a, blocks->x, b);
            if (order) {
                return blocks->is_descending ? -order : order;
            }
        }
    }
    return 0;
}

/* Merges two neighbouring runs of `from` into `to`. */
static void merge_runs(const ig_block_of *blocks, int64_t start, const int64_t *from,
                       const int64_t *bounds, int64_t *to) {
    int64_t a = bounds[0], b = bounds[1];
    for (int64_t i = bounds[0]; i < bounds[2]; i++) {
        bool takes_b = a == bounds[1] ||
                       (b < bounds[2] &&
                        ig_blocks_compare(blocks, start, from[b], from[a]) < 0);
        to[i] = takes_b ? from[b++] : from[a++];
    }
}

static int64_t min_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void ig_blocks_sort(const ig_block_of *blocks, int64_t start, int64_t count,
                    int64_t *indices, int64_t *room) {
    int64_t *from = indices, *to = room;
    for (int64_t i = 0; i < count; i++) {
        indices[i] = i;
    }
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t i = 0; i < count; i += 2 * width) {
            int64_t bounds[] = { i, min_of(i + width, count),
                                 min_of(i + 2 * width, count) };
            merge_runs(blocks, start, from, bounds, to);
        }
        int64_t *other = from;
        from = to;
        to = other;
    }
    if (from != indices) {
        memcpy(indices, from, (size_t)count * sizeof *indices);
    }
}

/* ---- arg_reduce ---- */

/* Does an element take the place of the best so far? */
static bool beats_best(const ig_op *op, const ig_tensor *x, int64_t at, int64_t best) {
    bool is_last = ig_attr_int(op, IG_arg_reduce_last, 0) != 0;
    bool is_min = ig_attr_int(op, IG_arg_reduce_op, 0) == IG_EXTREME_min;
    int order = ig_element_compare(x, at, x, best);
    if (is_min && ig_dtype_is_float(x->dtype)) {
        bool is_nan = isnan(ig_tensor_get_f64(x, at));
        bool was_nan = isnan(ig_tensor_get_f64(x, best));
        order = is_nan || was_nan ? is_nan - was_nan : -order;
    } else if (is_min) {
        order = -order;
    }
    return order > 0 || (is_last && order == 0);
}

ig_status ig_fold_arg_reduce(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0];
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_arg_reduce_axis, 0), x->rank),
             rank = 0;
    bool keep = ig_attr_int(op, IG_arg_reduce_keep, 0) != 0;
    int64_t dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < x->rank; d++) {
        if (d != axis || keep) {
            dims[rank++] = d == axis ? 1 : x->dims[d];
        }
    }
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, rank, dims, out));
    if (x->dims[axis] == 0 && out->count > 0) {
        return FOLD_ERROR(eval, op,
                          "arg_reduce: zero elements have no largest or smallest");
    }
    ig_around around = out->count ? ig_around_axis(x, axis) : (ig_around){ 0 };
    for (int64_t line = 0; line < around.outer * around.inner; line++) {
        int64_t block = line / around.inner * around.extent * around.inner;
        int64_t start = block + line % around.inner, best = 0;
        for (int64_t i = 1; i < around.extent; i++) {
            bool is_better = beats_best(op, x, start + i * around.inner,
                                        start + best * around.inner);
            best = is_better ? i : best;
        }
        ig_tensor_set_i64(out, line, best);
    }
    return IG_OK;
}

/* ---- sort and topk ---- */

/* The first `count` of each sorted line: values to out[0], positions to out[1]. */
static ig_status sort_lines(ig_eval *eval, const ig_op *op, uint32_t axis,
                            int64_t count, ig_block_of *line, ig_tensor *out) {
    const ig_tensor *x = line->x;
    int64_t dims[IG_TENSOR_RANK], *indices, *room;
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = count;
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, dims, &out[0]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, x->rank, dims, &out[1]));
    IG_TRY(ig_eval_scratch(eval, op, x->dims[axis], sizeof *indices, &indices));
    IG_TRY(ig_eval_scratch(eval, op, x->dims[axis], sizeof *room, &room));
    ig_around around = out->count ? ig_around_axis(x, axis) : (ig_around){ 0 };
    line->outer = line->inner = 1;
    line->element_step = around.inner;
    for (int64_t i = 0; i < around.outer * around.inner; i++) {
        int64_t outer = i / around.inner, inner = i % around.inner;
        int64_t start = outer * around.extent * around.inner + inner;
        ig_blocks_sort(line, start, around.extent, indices, room);
        for (int64_t k = 0; k < count; k++) {
            int64_t to = (outer * count + k) * around.inner + inner;
            ig_span_copy(&out[0], to, x, start + indices[k] * around.inner, 1);
            ig_tensor_set_i64(&out[1], to, indices[k]);
        }
    }
    return IG_OK;
}

ig_status ig_fold_sort(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    ig_block_of line = { .x = in[0],
                         .is_descending = ig_attr_int(op, IG_sort_descending, 0) != 0 };
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_sort_axis, 0), in[0]->rank);
    return sort_lines(eval, op, axis, in[0]->dims[axis], &line, out);
}

ig_status ig_fold_topk(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                       ig_tensor *out) {
    ig_block_of line = { .x = in[0],
                         .is_descending = ig_attr_int(op, IG_topk_smallest, 0) == 0 };
    uint32_t axis = ig_axis_of(ig_attr_int(op, IG_topk_axis, 0), in[0]->rank);
    int64_t count = 0;
    if (op->operand_count > 1 && in[1]->count != 1) {
        return FOLD_ERROR(eval, op, "topk: k is one number, not %lld",
                          (long long)in[1]->count);
    }
    if (op->operand_count > 1) {
        count = ig_tensor_get_i64(in[1], 0);
    } else {
        IG_TRY(ig_eval_dim(eval, op, op->attrs[IG_topk_k].as.dim, &count));
    }
    if (count < 0 || count > in[0]->dims[axis]) {
        return FOLD_ERROR(eval, op, "topk: %lld of %lld elements along axis %u",
                          (long long)count, (long long)in[0]->dims[axis], axis);
    }
    return sort_lines(eval, op, axis, count, &line, out);
}
