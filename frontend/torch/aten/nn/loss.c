/* Losses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each computes a value an element and hands it to `give_reduced`, which reads the
 * reduction: 0 none, 1 mean, 2 sum. */
#include "compose/loss.h"

#include "frontend/torch/aten/aten.h"
#include "ir/build/extent.h"

#include <math.h>

static ig_status give_reduced(ig_ts_call *call, ig_value *x, uint32_t reduction) {
    ig_loss_total total = (ig_loss_total)ig_aten_int(call, reduction);
    return ig_aten_give(call, ig_compose_reduce_loss(call->e, x, total));
}

typedef struct pair {
    ig_value *x, *y;
} pair;

static pair read_operands(ig_ts_call *call) {
    ig_dtype dtype = ig_aten_result_type(call, 0, 2);
    return (pair){ ig_aten_operand(call, 0, dtype), ig_aten_operand(call, 1, dtype) };
}

static ig_value *gap_of(ig_ts_call *call) {
    pair p = read_operands(call);
    return ig_build_sub(call->e, p.x, p.y);
}

ig_status ig_ts_op_mse_loss(ig_ts_call *call) {
    pair p = read_operands(call);
    return give_reduced(call, ig_compose_squared_error(call->e, p.x, p.y), 2);
}

ig_status ig_ts_op_l1_loss(ig_ts_call *call) {
    return give_reduced(call, ig_build_abs(call->e, gap_of(call)), 2);
}

/* |gap| < delta: gap^2 / 2, else delta (|gap| - delta / 2); smooth_l1 (variant 1)
 * divides by beta */
ig_status ig_ts_op_huber_loss(ig_ts_call *call) {
    double delta = ig_aten_float(call, 3);
    ig_value *gap = ig_build_abs(call->e, gap_of(call));
    ig_value *square = ig_expr_with(call->e, IG_OP_mul, ig_build_mul(call->e, gap, gap),
                                    0.5);
    ig_value *line = ig_expr_with(call->e, IG_OP_sub, gap, 0.5 * delta);
    if (call->row->variant && delta == 0) {
        return give_reduced(call, gap, 2);
    }
    if (call->row->variant) {
        square = ig_expr_with(call->e, IG_OP_div, square, delta);
    } else {
        line = ig_expr_with(call->e, IG_OP_mul, line, delta);
    }
    ig_value *is_near = ig_expr_with(call->e, call->row->variant ? IG_OP_lt : IG_OP_le,
                                     gap, delta);
    return give_reduced(call, ig_build_where(call->e, is_near, square, line), 2);
}

static ig_value *multiply_factor(ig_ts_call *call, ig_value *x, ig_value *factor) {
    return factor ? ig_build_mul(call->e, x, factor) : x;
}

/* binary_cross_entropy(self, target, weight, reduction) */
ig_status ig_ts_op_bce(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    ig_value *loss = ig_compose_bce(call->e, x, y);
    return give_reduced(call, multiply_factor(call, loss, ig_aten_optional(call, 2)),
                        3);
}

/* binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction) */
ig_status ig_ts_op_bce_logits(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    ig_value *loss = ig_compose_bce_logits(call->e, x, y, ig_aten_optional(call, 3));
    return give_reduced(call, multiply_factor(call, loss, ig_aten_optional(call, 2)),
                        4);
}

/* kl_div(self, target, reduction, *, log_target) */
ig_status ig_ts_op_kl_div(ig_ts_call *call) {
    pair p = read_operands(call);
    ig_value *loss;
    if (ig_aten_bool(call, 3)) {
        loss = ig_build_mul(call->e, ig_build_exp(call->e, p.y),
                            ig_build_sub(call->e, p.y, p.x));
    } else {
        ig_value *log = ig_build_mul(call->e, p.y, ig_build_log(call->e, p.y));
        ig_value *zero = p.y ? ig_expr_number(call->e, (ig_dtype)p.y->type->dtype, 0)
                             : NULL;
        ig_value *is_zero = ig_expr_with(call->e, IG_OP_eq, p.y, 0);
        log = ig_build_where(call->e, is_zero, zero, log);
        loss = ig_build_sub(call->e, log, ig_build_mul(call->e, p.y, p.x));
    }
    return give_reduced(call, loss, 2);
}

/* log(1 + exp(-y x)) */
ig_status ig_ts_op_soft_margin_loss(ig_ts_call *call) {
    pair p = read_operands(call);
    ig_value *x = ig_build_neg(call->e, ig_build_mul(call->e, p.x, p.y));
    return give_reduced(call, ig_build_softplus(call->e, x), 2);
}

/* margin_ranking_loss(input1, input2, target, margin, reduction) */
ig_status ig_ts_op_margin_ranking(ig_ts_call *call) {
    ig_value *gap = ig_build_sub(call->e, ig_aten_tensor(call, 0),
                                 ig_aten_tensor(call, 1));
    gap = ig_build_mul(call->e, ig_build_neg(call->e, gap), ig_aten_tensor(call, 2));
    gap = ig_expr_with(call->e, IG_OP_add, ig_expr_to_float(call->e, gap),
                       ig_aten_float(call, 3));
    return give_reduced(call, ig_expr_with(call->e, IG_OP_max, gap, 0), 4);
}

/* poisson_nll_loss(input, target, log_input, full, eps, reduction) */
ig_status ig_ts_op_poisson_nll(ig_ts_call *call) {
    ig_value *x = ig_expr_to_float(call->e, ig_aten_tensor(call, 0)), *loss;
    ig_value *y = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    y = ig_aten_cast(call, y, dtype);
    if (ig_aten_bool(call, 2)) {
        loss = ig_build_sub(call->e, ig_build_exp(call->e, x),
                            ig_build_mul(call->e, y, x));
    } else {
        ig_value *log = ig_expr_with(call->e, IG_OP_add, x, ig_aten_float(call, 4));
        log = ig_build_log(call->e, log);
        loss = ig_build_sub(call->e, x, ig_build_mul(call->e, y, log));
    }
    if (ig_aten_bool(call, 3)) { /* Stirling's: y log y - y + log(2 pi y) / 2, y > 1 */
        ig_value *log = ig_build_log(call->e, y);
        ig_value *more = ig_build_mul(call->e, y, log);
        more = ig_build_sub(call->e, more, y);
        log = ig_expr_with(call->e, IG_OP_mul, y, 6.283185307179586);
        log = ig_expr_with(call->e, IG_OP_mul, ig_build_log(call->e, log), 0.5);
        more = ig_build_add(call->e, more, log);
        more = ig_build_where(call->e, ig_expr_with(call->e, IG_OP_le, y, 1),
                              ig_expr_number(call->e, dtype, 0), more);
        loss = ig_build_add(call->e, loss, more);
    }
    return give_reduced(call, loss, 5);
}

/* ---- classes ---- */

/* Arguments target, weight, reduction and ignore_index of losses of classes. */
static ig_class_loss read_classes(ig_ts_call *call, ig_value *log) {
    return (ig_class_loss){ .log = log,
                            .target = ig_aten_tensor(call, 1),
                            .weight = ig_aten_optional(call, 2),
                            .ignored = IG_SET(ig_aten_int(call, 4)),
                            .total = (ig_loss_total)ig_aten_int(call, 3) };
}

/* nll_loss, nll_loss2d, nll_loss_nd(self, target, weight, reduction, ignore_index);
 * variant 1, the _forward forms: total weight too */
ig_status ig_ts_op_nll_loss(ig_ts_call *call) {
    ig_class_loss l = read_classes(call, ig_aten_tensor(call, 0));
    ig_value *weight = NULL;
    IG_TRY(call->e->status);
    ig_value *loss = ig_compose_class_loss(call->e, &l, &weight);
    return call->row->variant ? ig_aten_give2(call, loss, weight)
                              : ig_aten_give(call, loss);
}

/* Targets that are probabilities. */
static ig_status soft_targets(ig_ts_call *call, ig_value *log, ig_value *target,
                              uint32_t axis) {
    double smoothing = ig_aten_float(call, 5);
    ig_value *weight = ig_aten_optional(call, 2);
    if (smoothing > 0) {
        ig_value *count = ig_expr_dim(call->e, ig_expr_extent(call->e, log, axis),
                                      (ig_dtype)log->type->dtype);
        ig_value *part = ig_expr_number_with(call->e, IG_OP_div, smoothing, count);
        target = ig_expr_with(call->e, IG_OP_mul, target, 1 - smoothing);
        target = ig_build_add(call->e, target, part);
    }
    weight = weight ? ig_expr_along(call->e, weight, axis, log->type->rank) : NULL;
    ig_value *loss = multiply_factor(call, ig_build_mul(call->e, log, target), weight);
    loss = ig_build_neg(call->e,
                        ig_expr_reduce_axis(call->e, IG_REDUCE_sum, loss, axis, false));
    return give_reduced(call, loss, 3);
}

/* cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing) */
ig_status ig_ts_op_cross_entropy(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *target = ig_aten_tensor(call, 1);
    IG_TRY(call->e->status);
    if (x->type->rank == 0) {
        return ig_ts_fail(call, IG_INVALID,
                          "the scores are one number, without classes");
    }
    uint32_t axis = x->type->rank > 1 ? 1 : 0;
    ig_softmax_attrs along = { .axis = axis, .log = true };
    ig_value *log = ig_build_softmax(call->e, x, along);
    IG_TRY(call->e->status);
    if (ig_expr_is_float(target)) {
        return soft_targets(call, log, target, axis);
    }
    if (ig_aten_float(call, 5) > 0) {
        return ig_ts_op_composite(call);
    }
    ig_class_loss l = read_classes(call, log);
    return ig_aten_give(call, ig_compose_class_loss(call->e, &l, NULL));
}

/* ---- losses of distances ---- */

/* `value` where y is (IG_OP_eq) or is not (IG_OP_ne) that number, else 0. */
static ig_value *value_where(ig_expr *e, ig_opcode test, ig_value *y, double number,
                             ig_value *value) {
    ig_value *zero = value ? ig_expr_number(e, (ig_dtype)value->type->dtype, 0) : NULL;
    return ig_build_where(e, ig_expr_with(e, test, y, number), value, zero);
}

/* hinge_embedding_loss(self, target, margin, reduction): of targets 1 and -1 */
ig_status ig_ts_op_hinge_embedding_loss(ig_ts_call *call) {
    ig_expr *e = call->e;
    pair p = read_operands(call);
    double margin = ig_aten_float(call, 2);
    ig_value *apart = ig_expr_number_with(e, IG_OP_sub, margin, p.x);
    apart = ig_expr_with(e, IG_OP_max, apart, 0);
    ig_value *loss = ig_build_add(e, value_where(e, IG_OP_ne, p.y, 1, apart),
                                  value_where(e, IG_OP_ne, p.y, -1, p.x));
    return give_reduced(call, loss, 3);
}

/* Sum of x y along an axis. */
static ig_value *dot_along(ig_expr *e, ig_value *x, ig_value *y, uint32_t axis) {
    return ig_expr_reduce_axis(e, IG_REDUCE_sum, ig_build_mul(e, x, y), axis, false);
}

/* cosine_embedding_loss(input1, input2, target, margin, reduction) */
ig_status ig_ts_op_cosine_embedding_loss(ig_ts_call *call) {
    static const double epsilon = 1e-12;
    ig_expr *e = call->e;
    pair p = read_operands(call);
    ig_value *y = ig_aten_tensor(call, 2);
    double margin = ig_aten_float(call, 3);
    p.x = ig_expr_to_float(e, p.x);
    p.y = ig_expr_to_float(e, p.y);
    IG_TRY(e->status);
    uint32_t axis = y->type->rank;
    if (p.x->type->rank <= axis || p.y->type->rank <= axis) {
        return ig_ts_fail(call, IG_INVALID,
                          "the inputs must have an axis more than the target");
    }
    ig_value *a = ig_expr_with(e, IG_OP_add, dot_along(e, p.x, p.x, axis), epsilon);
    ig_value *b = ig_expr_with(e, IG_OP_add, dot_along(e, p.y, p.y, axis), epsilon);
    ig_value *cosine = ig_build_div(e, dot_along(e, p.x, p.y, axis),
                                    ig_build_sqrt(e, ig_build_mul(e, a, b)));
    ig_value *apart = ig_expr_with(e, IG_OP_max,
                                   ig_expr_with(e, IG_OP_sub, cosine, margin), 0);
    ig_value *close = ig_expr_number_with(e, IG_OP_sub, 1, cosine);
    ig_value *loss = ig_build_add(e, value_where(e, IG_OP_eq, y, 1, close),
                                  value_where(e, IG_OP_eq, y, -1, apart));
    return give_reduced(call, loss, 4);
}

/* Of arguments `a` and `b` by the norm p (argument 4) with eps (argument 5). */
static ig_value *distance_of(ig_ts_call *call, uint32_t a, uint32_t b) {
    ig_ts_value result,
        args[] = { call->args[a], call->args[b], call->args[4], call->args[5] };
    return ig_expr_note(call->e, ig_ts_invoke(call, "aten::pairwise_distance", args, 4,
                                              &result, 1))
               ? ig_ts_read(call, &result)
               : NULL;
}

/* triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction) */
ig_status ig_ts_op_triplet_margin_loss(ig_ts_call *call) {
    ig_expr *e = call->e;
    double margin = ig_aten_float(call, 3);
    bool swaps = ig_aten_bool(call, 6);
    ig_value *close = distance_of(call, 0, 1), *apart = distance_of(call, 0, 2);
    if (swaps) {
        apart = ig_build_min(e, apart, distance_of(call, 1, 2));
    }
    ig_value *loss = ig_expr_with(e, IG_OP_add, ig_build_sub(e, close, apart), margin);
    return give_reduced(call, ig_expr_with(e, IG_OP_max, loss, 0), 7);
}

/* multi_margin_loss(self, target, p, margin, weight, reduction): how far the scores of
 * other classes reach above the class' own less the margin, to the power of p, over the
 * number of classes */
ig_status ig_ts_op_multi_margin_loss(ig_ts_call *call) {
    ig_expr *e = call->e;
    ig_value *x = ig_aten_vector(e, ig_aten_tensor(call, 0));
    ig_value *weight = ig_aten_optional(call, 4);
    ig_value *target = ig_expr_flatten(e, ig_aten_tensor(call, 1));
    double p = ig_aten_float(call, 2), margin = ig_aten_float(call, 3);
    IG_TRY(e->status);
    if (!ig_expr_is_float(x) || (p != 1 && p != 2)) {
        return ig_ts_fail(call, IG_INVALID, "scores of %s, to the power of %g",
                          ig_dtypes[x->type->dtype].name, p);
    }
    bool is_one = x->type->rank == 1;
    ig_dim one = ig_dim_of(1), classes = ig_expr_extent(e, x, is_one ? 0 : 1);
    ig_dim rows = is_one ? one : ig_expr_extent(e, x, 0);
    ig_expr_guard_equal(e, ig_expr_extent(e, target, 0), rows,
                        "there must be one class for each row of scores");
    x = ig_expr_reshape(e, x, 2, (ig_dim[]){ rows, classes });
    ig_value *own = ig_expr_reshape(e, target, 2, (ig_dim[]){ rows, one });
    IG_TRY(e->status);
    ig_ts_value given[] = { ig_ts_tensor_value(call, x), ig_ts_of_int(1),
                            ig_ts_tensor_value(call, own) };
    ig_ts_value score;
    IG_TRY(ig_ts_invoke(call, "aten::gather", given, 3, &score, 1));
    ig_value *gap = ig_build_sub(e, x, ig_ts_read(call, &score));
    gap = ig_expr_with(e, IG_OP_max, ig_expr_with(e, IG_OP_add, gap, margin), 0);
    gap = p == 2 ? ig_build_mul(e, gap, gap) : gap;
    if (weight) {
        weight = ig_expr_gather(e, weight, target, 0, IG_NEGATIVE_error);
        gap = ig_build_mul(e, gap, ig_expr_along(e, weight, 0, 2));
    }
    ig_value *index = ig_expr_axis_iota(e, 2, 1, classes);
    ig_value *is_other = ig_build_ne(e, index, ig_aten_cast(call, own, IG_DT_i64));
    ig_value *zero = ig_expr_number(e, (ig_dtype)x->type->dtype, 0);
    gap = ig_build_where(e, is_other, gap, zero);
    ig_value *loss = ig_expr_reduce_axis(e, IG_REDUCE_sum, gap, 1, false);
    IG_TRY(e->status);
    loss = ig_build_div(e, loss, ig_expr_dim(e, classes, (ig_dtype)loss->type->dtype));
    return give_reduced(call, is_one ? ig_expr_reshape(e, loss, 0, NULL) : loss, 5);
}
