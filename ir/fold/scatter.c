/* scatter_elements and scatter_nd: x with elements replaced by, or combined with,
 * others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Updates are taken in row-major order of their indices, and every step is rounded to
 * the dtype, as memory would.
 */
#include "ir/fold/index.h"
#include "ir/hooks.h"

#include <math.h>

/* ---- one update ---- */

static double combine_floats(ig_scatter kind, double old, double update) {
    bool takes = kind == IG_SCATTER_max ? update > old : update < old;
    switch (kind) {
    case IG_SCATTER_add:
        return old + update;
    case IG_SCATTER_mul:
        return old * update;
    case IG_SCATTER_min:
    case IG_SCATTER_max:
        return takes || isnan(update) ? update : old;
    case IG_SCATTER_none:
        break;
    }
    return update;
}

static int64_t combine_ints(ig_dtype_class class, ig_scatter kind, int64_t old,
                            int64_t update) {
    bool is_less = class == IG_SINT ? update < old : (uint64_t)update < (uint64_t)old;
    switch (kind) {
    case IG_SCATTER_add:
        return class == IG_BOOL ? old | update
                                : (int64_t)((uint64_t)old + (uint64_t)update);
    case IG_SCATTER_mul:
        return (int64_t)((uint64_t)old * (uint64_t)update);
    case IG_SCATTER_min:
        return is_less ? update : old;
    case IG_SCATTER_max:
        return is_less ? old : update;
    case IG_SCATTER_none:
        break;
    }
    return update;
}

static void put_element(ig_tensor *out, int64_t to, const ig_tensor *from, int64_t at,
                        ig_scatter kind) {
    ig_dtype_class class = ig_dtypes[out->dtype].class;
    if (kind == IG_SCATTER_none || class == IG_STRING) {
        ig_span_copy(out, to, from, at, 1);
    } else if (class == IG_FLOAT) {
        double old = ig_tensor_get_f64(out, to), update = ig_tensor_get_f64(from, at);
        ig_tensor_set_f64(out, to, combine_floats(kind, old, update));
    } else {
        int64_t old = ig_tensor_get_i64(out, to), update = ig_tensor_get_i64(from, at);
        ig_tensor_set_i64(out, to, combine_ints(class, kind, old, update));
    }
}

/* ---- elements ---- */

ig_status ig_fold_scatter_elements(ig_eval *eval, const ig_op *op,
                                   const ig_tensor *const *in, ig_tensor *out) {
    int64_t axis = ig_attr_int(op, IG_scatter_elements_axis, 0), at;
    int64_t rule = ig_attr_int(op, IG_scatter_elements_negative, 0);
    ig_scatter kind = (ig_scatter)ig_attr_int(op, IG_scatter_elements_reduce, 0);
    bool is_fresh = ig_attr_int(op, IG_scatter_elements_fresh, 0) != 0;
    ig_indices indices = { in[1], (ig_negative)rule };
    ig_elements e;
    char *is_touched;
    IG_TRY(ig_elements_start(eval, op, in[0], &indices, axis, &e));
    if (in[2]->count != in[1]->count) {
        return FOLD_ERROR(eval, op, "scatter_elements: %lld updates for %lld indices",
                          (long long)in[2]->count, (long long)in[1]->count);
    }
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, in[0]->rank, in[0]->dims, out));
    IG_TRY(ig_eval_scratch(eval, op, out->count, 1, &is_touched));
    ig_span_copy(out, 0, in[0], 0, out->count);
    while (e.walk.is_inside) {
        int64_t from = e.position;
        IG_TRY(ig_elements_next(eval, op, &e, &at));
        if (at >= 0) {
            bool replaces = is_fresh && !is_touched[at];
            is_touched[at] = 1;
            put_element(out, at, in[2], from, replaces ? IG_SCATTER_none : kind);
        }
    }
    return IG_OK;
}

/* ---- blocks ---- */

/* Where a tuple of indices points to, in elements of x; -1: nowhere. */
static ig_status read_tuple(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                            const ig_indices *indices, int64_t tuple, int64_t *out_at) {
    const ig_tensor *tensor = indices->tensor;
    int64_t depth = tensor->dims[tensor->rank - 1];
    *out_at = 0;
    for (int64_t i = 0; i < depth; i++) {
        int64_t index;
        IG_TRY(ig_index_read(eval, op, indices, tuple * depth + i, x->dims[i], &index));
        if (index < 0) {
            *out_at = -1;
            return IG_OK;
        }
        *out_at = *out_at * x->dims[i] + index;
    }
    return IG_OK;
}

ig_status ig_fold_scatter_nd(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0], *updates = in[2];
    int64_t rule = ig_attr_int(op, IG_scatter_nd_negative, 0);
    ig_scatter kind = (ig_scatter)ig_attr_int(op, IG_scatter_nd_reduce, 0);
    ig_indices indices = { in[1], (ig_negative)rule };
    int64_t block = 1, tuples = 1, at;
    for (uint32_t i = 0; i + 1 < in[1]->rank; i++) {
        tuples *= in[1]->dims[i];
    }
    for (int64_t i = in[1]->dims[in[1]->rank - 1]; i < x->rank; i++) {
        block *= x->dims[i];
    }
    if (updates->count != tuples * block) {
        return FOLD_ERROR(eval, op, "scatter_nd: %lld elements for %lld blocks of %lld",
                          (long long)updates->count, (long long)tuples,
                          (long long)block);
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    ig_span_copy(out, 0, x, 0, out->count);
    for (int64_t t = 0; t < tuples; t++) {
        IG_TRY(read_tuple(eval, op, x, &indices, t, &at));
        for (int64_t i = 0; at >= 0 && i < block; i++) {
            put_element(out, at * block + i, updates, t * block + i, kind);
        }
    }
    return IG_OK;
}

/* ---- rows ---- */

ig_status ig_fold_check_index(ig_eval *eval, const ig_op *op,
                              const ig_tensor *const *in, ig_tensor *out) {
    const ig_attr *extents = &op->attrs[IG_check_index_extents];
    ig_negative rule = (ig_negative)ig_attr_int(op, IG_check_index_negative, 0);
    ig_indices indices = { in[0], rule };
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, in[0]->rank, in[0]->dims, out));
    for (int64_t i = 0; i < out->count; i++) {
        int64_t extent = 0, row = 0;
        IG_TRY(ig_eval_dim(eval, op, extents->as.dims[i % extents->count], &extent));
        IG_TRY(ig_index_read(eval, op, &indices, i, extent, &row));
        ig_tensor_set_i64(out, i, row);
    }
    return IG_OK;
}
