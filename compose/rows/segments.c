/* Segments of one array, told by offsets.  SPDX-License-Identifier: Apache-2.0 */
#include "compose/rows/segments.h"

#include <string.h>

/* The extent of a vector; another rank is reported. */
static bool read_extent(ig_expr *e, const ig_value *x, ig_dim *out_extent) {
    if (x && x->type->rank == 0) {
        ig_expr_fail(e, IG_INVALID, "expected a vector, got a tensor of rank 0");
    }
    if (!x || x->type->rank == 0) {
        return false;
    }
    *out_extent = x->type->dims[0];
    return true;
}

ig_value *ig_compose_running_sum(ig_expr *e, ig_value *x, ig_running kind) {
    if (!x || x->type->rank == 0) {
        return x;
    }
    ig_cumsum_attrs attrs = { .axis = x->type->rank - 1,
                              .exclusive = kind == IG_RUNNING_exclusive,
                              .complete = kind == IG_RUNNING_complete };
    return ig_build_cumsum(e, x, attrs);
}

ig_value *ig_compose_last(ig_expr *e, ig_value *x) {
    ig_dim extent, one = ig_dim_of(1);
    if (!read_extent(e, x, &extent)) {
        return NULL;
    }
    ig_value *whole = ig_expr_cast(e, x, IG_DT_i64);
    return ig_expr_select(e, whole, 0, ig_dim_sub(e->module, extent, one));
}

ig_value *ig_compose_segment_of(ig_expr *e, ig_value *offsets, ig_value *positions) {
    ig_dim extent, one = ig_dim_of(1);
    if (!read_extent(e, offsets, &extent)) {
        return NULL;
    }
    ig_dim segments = ig_dim_sub(e->module, extent, one);
    ig_value *ends = ig_expr_slice(e, offsets, 0, one, segments, 1);
    return ig_build_bucketize(e, ig_expr_like(e, positions, ends), ends,
                              (ig_bucketize_attrs){ .right = true });
}

ig_value *ig_compose_segment_lengths(ig_expr *e, ig_value *offsets) {
    ig_dim extent, zero = ig_dim_of(0), one = ig_dim_of(1);
    if (!read_extent(e, offsets, &extent)) {
        return NULL;
    }
    ig_dim segments = ig_dim_sub(e->module, extent, one);
    return ig_build_sub(e, ig_expr_slice(e, offsets, 0, one, segments, 1),
                        ig_expr_slice(e, offsets, 0, zero, segments, 1));
}

ig_value *ig_compose_take_rows(ig_expr *e, ig_value *x, ig_value *rows) {
    return ig_expr_gather(e, x, rows, 0, IG_NEGATIVE_error);
}

/* Rows of x at the rows `target` of [count, …] full of `fill`. */
static ig_value *scatter_rows(ig_expr *e, ig_value *x, ig_value *target, ig_dim count,
                              ig_value *fill, ig_scatter reduce) {
    ig_dim dims[IG_TENSOR_RANK], rows;
    if (!target || !read_extent(e, x, &rows)) {
        return NULL;
    }
    memcpy(dims, x->type->dims, x->type->rank * sizeof(*dims));
    dims[0] = count;
    ig_value *full = ig_expr_expand(e, fill, x->type->rank, dims);
    ig_value *column = ig_expr_unsqueeze(e, target, target->type->rank);
    return ig_build_scatter_nd(e, full, column, x,
                               (ig_scatter_nd_attrs){ .reduce = (int)reduce });
}

ig_value *ig_compose_reduce_rows(ig_expr *e, ig_value *x, ig_value *target,
                                 ig_dim count, double initial, ig_scatter reduce) {
    ig_value *fill = x ? ig_expr_number(e, (ig_dtype)x->type->dtype, initial) : NULL;
    return scatter_rows(e, x, target, count, fill, reduce);
}

ig_value *ig_compose_add_rows(ig_expr *e, ig_value *x, ig_value *target, ig_dim count) {
    return ig_compose_reduce_rows(e, x, target, count, 0, IG_SCATTER_add);
}

ig_value *ig_compose_put_rows(ig_expr *e, ig_value *x, ig_value *target, ig_dim count,
                              ig_value *fill) {
    return scatter_rows(e, x, target, count, fill, IG_SCATTER_none);
}
