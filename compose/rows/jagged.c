/* Jagged tensors, made dense and back.  SPDX-License-Identifier: Apache-2.0
 *
 * A jagged tensor is seen as a dense one by indices: for a position (i, j1, j2 …) of
 * the dense tensor
 *
 *     row = i;  for each axis:  row = offsets[row] + j, if below offsets[row + 1]
 *
 * and the other way, an element of the values has its position by searching the offsets
 * from the innermost to the outermost.
 */
#include "compose/rows/jagged.h"

#include "compose/rows/segments.h"
#include "ir/build/extent.h"

#include <assert.h>

static ig_value *column_of(ig_expr *e, ig_value *x) {
    return x ? ig_expr_unsqueeze(e, x, x->type->rank) : NULL;
}

static ig_dim segments_of(ig_expr *e, const ig_value *offsets) {
    return ig_dim_sub(e->module, ig_expr_extent(e, offsets, 0), ig_dim_of(1));
}

/* ---- to dense ---- */

/* For every position of the dense tensor: the row of the values (0 where there is
 * none), and whether there is one; both [batch, max…]. */
static ig_value *rows_of_positions(ig_expr *e, const ig_jagged_parts *j,
                                   const ig_dim *max, ig_value **out_is_there) {
    assert(j->axes > 0 && j->axes <= IG_JAGGED_AXES && "there are jagged axes");
    ig_dim batch = segments_of(e, j->offsets[0]);
    ig_value *row = ig_expr_iota(e, IG_DT_i64, batch), *is_there = NULL;
    for (uint32_t i = 0; i < j->axes; i++) {
        ig_value *begin = column_of(e, ig_compose_take_rows(e, j->offsets[i], row));
        ig_value *last = ig_expr_dim(e, segments_of(e, j->offsets[i]), IG_DT_i64);
        ig_value *next = ig_expr_with_integer(e, IG_OP_add, row, 1);
        next = ig_build_min(e, next, last); /* there may be no row at all */
        ig_value *end = column_of(e, ig_compose_take_rows(e, j->offsets[i], next));
        ig_value *at = ig_build_add(e, begin, ig_expr_iota(e, IG_DT_i64, max[i]));
        ig_value *is_in = ig_build_lt(e, at, end);
        is_there = i ? ig_build_and(e, is_in, column_of(e, is_there)) : is_in;
        row = ig_build_where(e, is_there, at, ig_expr_integer(e, IG_DT_i64, 0));
    }
    *out_is_there = is_there;
    return row;
}

/* The values with a row after them that absent positions read. */
static ig_value *with_padding(ig_expr *e, ig_value *values, ig_value *padding) {
    ig_dim dims[IG_TENSOR_RANK];
    ig_value *row = NULL;
    if (!values || e->status != IG_OK) {
        return NULL;
    }
    for (uint32_t i = 0; i < values->type->rank; i++) {
        dims[i] = i ? ig_expr_extent(e, values, i) : ig_dim_of(1);
    }
    if (!(row = ig_expr_expand(e, padding, values->type->rank, dims))) {
        return NULL;
    }
    return ig_expr_concat(e, 0, (ig_value *[]){ values, row }, 2);
}

ig_value *ig_compose_jagged_to_padded(ig_expr *e, const ig_jagged_parts *j,
                                      ig_value *values, const ig_dim *max,
                                      ig_value *padding) {
    if (!values || !j->offsets[0] || e->status != IG_OK) {
        return NULL;
    }
    ig_value *is_there = NULL, *row = rows_of_positions(e, j, max, &is_there);
    ig_value *absent = ig_expr_dim(e, ig_expr_extent(e, values, 0), IG_DT_i64);
    row = ig_build_where(e, is_there, row, absent);
    return ig_compose_take_rows(e, with_padding(e, values, padding), row);
}

/* ---- from dense ---- */

/* Indices [n, 1 + axes] of the positions of `count` elements in a dense tensor with
 * these extents after the batch; an element beyond them, or in no segment, gets -1, and
 * `out_is_in` is false. */
static ig_value *positions_of_rows(ig_expr *e, const ig_jagged_parts *j,
                                   ig_value *count, const ig_dim *extents,
                                   ig_value **out_is_in) {
    assert(j->axes > 0 && j->axes <= IG_JAGGED_AXES && "there are jagged axes");
    ig_value *zero = ig_expr_integer(e, IG_DT_i64, 0), *is_in = NULL;
    ig_value *none = ig_expr_integer(e, IG_DT_i64, -1);
    ig_value *row = ig_build_range(e, zero, count, ig_expr_integer(e, IG_DT_i64, 1));
    ig_value *columns[IG_JAGGED_AXES + 1];
    for (uint32_t i = j->axes; i-- > 0;) {
        ig_value *segment = ig_compose_segment_of(e, j->offsets[i], row);
        ig_value *position =
            ig_build_sub(e, row, ig_compose_take_rows(e, j->offsets[i], segment));
        ig_value *extent = ig_expr_dim(e, extents[i], IG_DT_i64);
        ig_value *fits = ig_build_lt(e, position, extent);
        fits = ig_build_and(e, fits, ig_build_ge(e, position, zero));
        is_in = is_in ? ig_build_and(e, is_in, fits) : fits;
        columns[i + 1] = column_of(e, ig_build_where(e, fits, position, none));
        row = segment;
    }
    ig_value *batch = ig_expr_dim(e, segments_of(e, j->offsets[0]), IG_DT_i64);
    ig_value *is_here = ig_build_lt(e, row, batch);
    is_in = ig_build_and(e, is_in, is_here);
    columns[0] = column_of(e, ig_build_where(e, is_here, row, none));
    *out_is_in = is_in;
    return ig_expr_concat(e, 1, columns, j->axes + 1);
}

ig_value *ig_compose_padded_to_jagged(ig_expr *e, const ig_jagged_parts *j, ig_value *x,
                                      ig_value *count, ig_value **out_is_in) {
    ig_value *is_in = NULL, *out = NULL;
    if (!x || !j->offsets[0] || e->status != IG_OK) {
        return NULL;
    }
    assert(x->type->rank > j->axes && "the dense tensor has the jagged axes");
    ig_value *positions = positions_of_rows(e, j, count, x->type->dims + 1, &is_in);
    ig_gather_nd_attrs attrs = { .negative = IG_NEGATIVE_skip };
    if (!positions || !(out = ig_build_gather_nd(e, x, positions, attrs))) {
        return NULL;
    }
    *out_is_in = is_in;
    ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
    return ig_build_where(e, ig_expr_unsqueeze_to(e, is_in, out->type->rank), out,
                          zero);
}
