/* Losses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/loss.h"

#include <assert.h>

ig_value *ig_compose_reduce_loss(ig_expr *e, ig_value *x, ig_loss_total total) {
    ig_reduce kind = total == IG_LOSS_mean ? IG_REDUCE_mean : IG_REDUCE_sum;
    return total == IG_LOSS_none ? x : ig_expr_reduce(e, kind, x, NULL, 0, false);
}

ig_value *ig_compose_squared_error(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *gap = ig_build_sub(e, x, y);
    return ig_build_mul(e, gap, gap);
}

ig_value *ig_compose_bce(ig_expr *e, ig_value *x, ig_value *y) {
    ig_value *log = ig_expr_with(e, IG_OP_max, ig_build_log(e, x), -100);
    ig_value *rest = ig_expr_number_with(e, IG_OP_sub, 1, x);
    ig_value *other = ig_expr_with(e, IG_OP_max, ig_build_log(e, rest), -100);
    ig_value *loss = ig_build_mul(e, ig_expr_with(e, IG_OP_sub, y, 1), other);
    return ig_build_sub(e, loss, ig_build_mul(e, y, log));
}

ig_value *ig_compose_bce_logits(ig_expr *e, ig_value *x, ig_value *y,
                                ig_value *positive) {
    ig_value *log = ig_build_softplus(e, ig_build_neg(e, x));
    if (positive) {
        ig_value *factor = ig_expr_with(e, IG_OP_sub, positive, 1);
        factor = ig_build_mul(e, factor, y);
        log = ig_build_mul(e, ig_expr_with(e, IG_OP_add, factor, 1), log);
    }
    ig_value *rest = ig_expr_number_with(e, IG_OP_sub, 1, y);
    return ig_build_add(e, ig_build_mul(e, rest, x), log);
}

/* log[…, target, …] */
static ig_value *pick_targets(ig_expr *e, ig_value *log, ig_value *target) {
    uint32_t axis = log->type->rank > 1 ? 1 : 0;
    ig_gather_elements_attrs along = { .axis = axis };
    ig_value *index = ig_expr_unsqueeze(e, target, axis);
    return ig_expr_squeeze(e, ig_build_gather_elements(e, log, index, along), axis);
}

/* The cost of each target, and its weight (NULL: 1), of which both are 0 where it is
 * ignored. */
static ig_value *weigh_targets(ig_expr *e, const ig_class_loss *l,
                               ig_value **out_weight) {
    ig_dtype dtype = (ig_dtype)l->log->type->dtype;
    ig_value *target = ig_expr_cast(e, l->target, IG_DT_i64), *kept = NULL, *weight;
    if (l->ignored.is_set) {
        kept = ig_expr_with_integer(e, IG_OP_ne, target, l->ignored.value);
        target = ig_build_where(e, kept, target, ig_expr_integer(e, IG_DT_i64, 0));
    }
    ig_value *loss = ig_build_neg(e, pick_targets(e, l->log, target));
    weight = l->weight ? ig_expr_gather(e, l->weight, target, 0, IG_NEGATIVE_error)
                       : NULL;
    loss = l->weight ? ig_build_mul(e, loss, weight) : loss;
    if (kept) {
        ig_value *zero = ig_expr_number(e, dtype, 0);
        weight = l->weight ? weight : ig_expr_number(e, dtype, 1);
        weight = ig_build_where(e, kept, weight, zero);
        loss = ig_build_where(e, kept, loss, zero);
    }
    *out_weight = weight;
    return loss;
}

ig_value *ig_compose_class_loss(ig_expr *e, const ig_class_loss *l,
                                ig_value **out_weight) {
    ig_value *weight;
    if (!l->log || !l->target) {
        return NULL;
    }
    ig_value *loss = weigh_targets(e, l, &weight);
    bool is_weighted = l->weight || l->ignored.is_set;
    assert((is_weighted || !out_weight) && "weights have a sum when there are weights");
    weight = is_weighted ? ig_expr_reduce(e, IG_REDUCE_sum, weight, NULL, 0, false)
                         : NULL;
    if (out_weight) {
        *out_weight = weight;
    }
    if (!is_weighted || l->total != IG_LOSS_mean) {
        return ig_compose_reduce_loss(e, loss, l->total);
    }
    return ig_build_div(e, ig_compose_reduce_loss(e, loss, IG_LOSS_sum), weight);
}
