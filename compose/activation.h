/* Activations that are not rows of their own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * f16 and bf16 are computed in f32 and rounded once; the result has x's dtype.  NaN
 * stays NaN where nothing else is said.  relu, sigmoid, softplus, gelu and softmax are
 * rows of ops.def: see ig_build_<op>.
 */
#ifndef IG_COMPOSE_ACTIVATION_H
#define IG_COMPOSE_ACTIVATION_H

#include "ir/build/expr.h"

/* min(max(x, low), high) */
ig_value *ig_compose_clip(ig_expr *e, ig_value *x, double low, double high);

/* x * sigmoid(alpha * x) */
ig_value *ig_compose_swish(ig_expr *e, ig_value *x, double alpha);
/* x * tanh(softplus(x)) */
ig_value *ig_compose_mish(ig_expr *e, ig_value *x);
/* The first half of an axis times the sigmoid of its second. */
ig_value *ig_compose_glu(ig_expr *e, ig_value *x, uint32_t axis);
/* clip(alpha * x + beta, 0, 1); 1/6 and 1/2, the usual ones, are clip(x + 3, 0, 6) / 6,
 * which rounds once less. */
ig_value *ig_compose_hard_sigmoid(ig_expr *e, ig_value *x, double alpha, double beta);
/* x * clip(x + 3, 0, 6) / 6 */
ig_value *ig_compose_hard_swish(ig_expr *e, ig_value *x);
/* -softplus(-x) */
ig_value *ig_compose_log_sigmoid(ig_expr *e, ig_value *x);
/* softplus(beta * x) / beta; x where beta * x > threshold. */
ig_value *ig_compose_softplus(ig_expr *e, ig_value *x, double beta, double threshold);
/* x / (|x| + 1) */
ig_value *ig_compose_softsign(ig_expr *e, ig_value *x);

/* x where x > 0, else x * slope. */
ig_value *ig_compose_leaky_relu(ig_expr *e, ig_value *x, double slope);
/* With `keeps_zero`, x where x is 0 too: 0 times an infinite slope is NaN. */
ig_value *ig_compose_prelu(ig_expr *e, ig_value *x, ig_value *slope, bool keeps_zero);
/* scale * (x where x > 0, else alpha * (exp(rate * x) - 1)): elu, selu and celu. */
ig_value *ig_compose_elu(ig_expr *e, ig_value *x, double alpha, double scale,
                         double rate);

/* x where x > threshold, else value. */
ig_value *ig_compose_threshold(ig_expr *e, ig_value *x, double threshold, double value);
/* x + bias where x < -lambda, x - bias where x > lambda, else (NaN too) 0. */
ig_value *ig_compose_shrink(ig_expr *e, ig_value *x, double lambda, double bias);
/* 0 from -lambda to lambda. */
ig_value *ig_compose_hard_shrink(ig_expr *e, ig_value *x, double lambda);
/* x - clip(x, -lambda, lambda) */
ig_value *ig_compose_soft_shrink(ig_expr *e, ig_value *x, double lambda);
/* log(x / (1 - x)), x clipped to eps … 1 - eps first; eps < 0: it is not. */
ig_value *ig_compose_logit(ig_expr *e, ig_value *x, double eps);

/* Floor division, as Python has it, of integers of one dtype; right at the ends of
 * their range too. */
ig_value *ig_compose_floor_divide(ig_expr *e, ig_value *x, ig_value *y);
/* The same of floats; each step is rounded to their dtype, as torch's kernels do. */
ig_value *ig_compose_floor_divide_floats(ig_expr *e, ig_value *x, ig_value *y);

#endif
