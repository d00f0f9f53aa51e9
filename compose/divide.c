/* Floor division, as Python has it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/divide.h"

/* The truncated quotient, less 1 where the rest is not 0 and its sign is not the
 * divisor's.  (x - rest) / y with the divisor's rest would leave the range near its
 * ends; here x - quotient * y lies between 0 and x. */
ig_value *ig_compose_floor_divide(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *quotient = ig_build_div(e, x, y);
    if (!quotient || ig_dtypes[x->type->dtype].class != IG_SINT) {
        return quotient;
    }
    ig_value *rest = ig_build_sub(e, x, ig_build_mul(e, quotient, y));
    ig_value *differs = ig_build_xor(e, ig_expr_with(e, IG_OP_lt, y, 0),
                                     ig_expr_with(e, IG_OP_lt, rest, 0));
    differs = ig_build_and(e, differs, ig_expr_with(e, IG_OP_ne, rest, 0));
    return ig_build_where(e, differs, ig_expr_with(e, IG_OP_sub, quotient, 1),
                          quotient);
}

/* A quotient rounded up to the next integer would be wrong. */
ig_value *ig_compose_floor_divide_floats(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *rest = ig_build_mod(e, x, y, (ig_mod_attrs){ .truncate = true });
    ig_value *exact = ig_build_div(e, x, y);
    ig_value *whole = ig_build_div(e, ig_build_sub(e, x, rest), y);
    ig_value *below = ig_build_xor(e, ig_expr_with(e, IG_OP_lt, y, 0),
                                   ig_expr_with(e, IG_OP_lt, rest, 0));
    below = ig_build_and(e, below, ig_expr_with(e, IG_OP_ne, rest, 0));
    whole = ig_build_where(e, below, ig_expr_with(e, IG_OP_sub, whole, 1), whole);
    ig_value *down = ig_build_floor(e, whole);
    ig_value *gap = ig_build_sub(e, whole, down);
    ig_value *up = ig_expr_with(e, IG_OP_add, down, 1);
    down = ig_build_where(e, ig_expr_with(e, IG_OP_gt, gap, 0.5), up, down);
    ig_value *zero = ig_expr_with(e, IG_OP_mul, exact, 0); /* of the quotient's sign */
    down = ig_build_where(e, ig_expr_with(e, IG_OP_eq, down, 0), zero, down);
    return ig_build_where(e, ig_expr_with(e, IG_OP_eq, y, 0), exact, down);
}
