/* Groups of rows by matrices: see grouped.h.  SPDX-License-Identifier: Apache-2.0
 *
 * Each group is a slice whose extent the run learns, so that it is a product like any
 * other, with packed weights where they are constant, and writes into its rows of the
 * result.
 */
#include "compose/rows/grouped.h"

#include <assert.h>

enum { MAX_SLICES = 1024 }; /* launches of one product */

/* Where groups begin, and the end of the last: count + 1 extents. */
static ig_dim *bind_bounds(ig_expr *e, ig_value *ends, ig_dim rows, uint32_t count) {
    ig_dim *bounds = IG_NEW_ARRAY(&e->module->arena, ig_dim, count + 1u);
    bounds[0] = ig_dim_of(0);
    ends = ig_expr_cast(e, ends, IG_DT_i64);
    ig_expr_bind_dims(e, ends, count, "the end of a group", bounds + 1);
    for (uint32_t g = 0; g < count && e->status == IG_OK; g++) {
        ig_expr_guard_less_equal(e, bounds[g], bounds[g + 1],
                                 "a group must not end before it begins");
    }
    if (e->status == IG_OK) {
        ig_expr_guard_less_equal(e, bounds[count], rows,
                                 "groups must not end after the rows of x");
    }
    return bounds;
}

static ig_value *multiply_slices(ig_expr *e, ig_value *x, ig_value *weights,
                                 ig_value *ends, uint32_t count) {
    ig_dim rows = x->type->dims[0], *bounds = bind_bounds(e, ends, rows, count);
    ig_value **parts = IG_NEW_ARRAY(&e->module->arena, ig_value *, count + 1u);
    for (uint32_t g = 0; g < count && e->status == IG_OK; g++) {
        ig_dim size = ig_dim_sub(e->module, bounds[g + 1], bounds[g]);
        ig_value *part = ig_expr_slice(e, x, 0, bounds[g], size, 1);
        parts[g] = ig_expr_matmul(e, part, ig_expr_select(e, weights, 0, ig_dim_of(g)));
    }
    ig_dim rest[] = { ig_dim_sub(e->module, rows, bounds[count]),
                      weights->type->dims[2] };
    parts[count] = ig_expr_fill(e, (ig_dtype)x->type->dtype, 2, rest, 0);
    return ig_expr_concat(e, 0, parts, count + 1);
}

/* For a number of groups that is known at run time only: each row by a copy of its
 * matrix. */
static ig_value *multiply_rows(ig_expr *e, ig_value *x, ig_value *weights,
                               ig_value *ends) {
    ig_dim count = weights->type->dims[0];
    ig_bucketize_attrs at = { .right = true };
    ig_value *row = ig_expr_iota(e, IG_DT_i64, x->type->dims[0]);
    ig_value *group = ig_build_bucketize(e, row, ig_expr_cast(e, ends, IG_DT_i64), at);
    ig_value *last = ig_expr_dim(e, ig_dim_sub(e->module, count, ig_dim_of(1)),
                                 IG_DT_i64);
    ig_value *own = ig_expr_gather(e, weights, ig_build_min(e, group, last), 0,
                                   IG_NEGATIVE_error);
    ig_value *y = ig_expr_matmul(e, ig_expr_unsqueeze(e, x, 1), own);
    ig_value *is_own = ig_build_le(e, ig_expr_unsqueeze(e, group, 1), last);
    return ig_build_where(e, is_own, ig_expr_squeeze(e, y, 1),
                          ig_expr_number(e, (ig_dtype)x->type->dtype, 0));
}

ig_value *ig_compose_grouped_matmul(ig_expr *e, ig_value *x, ig_value *weights,
                                    ig_value *ends) {
    int64_t count;
    if (e->status != IG_OK || !x || !weights || !ends) {
        return NULL;
    }
    assert(x->type->rank == 2 && weights->type->rank == 3 && "the caller looked");
    if (ends->type->rank != 1) {
        return ig_expr_fail(e, IG_INVALID, "the groups' ends have %u axes, expected 1",
                            ends->type->rank);
    }
    ig_expr_guard_equal(e, ends->type->dims[0], weights->type->dims[0],
                        "each group must have a matrix and an end");
    if (e->status != IG_OK) {
        return NULL;
    }
    bool is_known = ig_dim_constant(e->module, weights->type->dims[0], &count);
    return is_known && count <= MAX_SLICES
               ? multiply_slices(e, x, weights, ends, (uint32_t)count)
               : multiply_rows(e, x, weights, ends);
}

bool ig_compose_group_rows(ig_expr *e, ig_value *groups, ig_dim count,
                           ig_grouping *out) {
    ig_value *sorted[2];
    ig_sort_attrs attrs = { .axis = 0 };
    if (!groups || !ig_expr_results(ig_build_sort(e, groups, attrs), sorted)) {
        return false;
    }
    assert(groups->type->rank == 1 && groups->type->dtype == IG_DT_i64 && "as asked");
    *out = (ig_grouping){ .groups = sorted[0], .order = sorted[1] };
    ig_bucketize_attrs at = { .right = true };
    out->ends = ig_build_bucketize(e, ig_expr_iota(e, IG_DT_i64, count), sorted[0], at);
    return e->status == IG_OK;
}
