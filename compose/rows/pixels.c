/* Sums of picked pixels.  SPDX-License-Identifier: Apache-2.0 */
#include "compose/rows/pixels.h"
#include "compose/rows/segments.h"
#include "ir/bag.h"
#include "ir/build/extent.h"

ig_value *ig_compose_pixel_rows(ig_expr *e, ig_value *x) {
    uint32_t rank = x ? x->type->rank : 0;
    x = rank > 2 ? ig_expr_merge_axes(e, x, 2, rank - 1) : NULL;
    x = ig_expr_swap(e, x, 1, 2);
    return ig_expr_merge_axes(e, x, 0, 1);
}

/* Channels whose number is not known are gathered and added. */
static ig_value *sum_gathered(ig_expr *e, ig_value *table, ig_value *ids,
                              ig_value *weights) {
    ig_value *is_none = ig_expr_with_integer(e, IG_OP_lt, ids, 0);
    ids = ig_expr_with_integer(e, IG_OP_max, ids, 0);
    ig_value *x = ig_compose_take_rows(e, table, ids);
    ig_value *zero = ig_expr_number(e, (ig_dtype)table->type->dtype, 0);
    x = ig_build_mul(e, x, ig_expr_unsqueeze(e, weights, 2));
    x = ig_build_where(e, ig_expr_unsqueeze(e, is_none, 2), zero, x);
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, x, 1, false);
}

ig_value *ig_compose_sum_rows(ig_expr *e, ig_value *table, ig_value *ids,
                              ig_value *weights) {
    int64_t given = 4, pool = IG_POOL_sum, known;
    if (!table || !ids || !weights || e->status != IG_OK) {
        return NULL;
    }
    if (!ig_dim_constant(e->module, ig_expr_extent(e, table, 1), &known)) {
        return sum_gathered(e, table, ids, weights);
    }
    ig_bag_attrs attrs = { .operands = { &given, 1 },
                           .pool = { &pool, 1 },
                           .negative = IG_NEGATIVE_skip };
    return ig_build_bag(e, (ig_value *[]){ table, ids, weights }, 3, attrs);
}
