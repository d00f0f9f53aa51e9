/* Normalisations: rows where there are rows, else formulas.
 * SPDX-License-Identifier: Apache-2.0
 *
 * f16 and bf16 are computed in f32, scale and bias too, and rounded once; the result
 * has x's dtype.
 */
#ifndef IG_COMPOSE_NORM_H
#define IG_COMPOSE_NORM_H

#include "ir/build/expr.h"

typedef struct ig_norm {
    ig_value *scale, *bias; /* NULL: 1, 0 */
    double epsilon;
} ig_norm;

/* Over the axes from `axis` on, which scale and bias have too. */
ig_value *ig_compose_layer_norm(ig_expr *e, ig_value *x, uint32_t axis,
                                const ig_norm *norm);
/* The same by the root mean square; no bias. */
ig_value *ig_compose_rms_norm(ig_expr *e, ig_value *x, uint32_t axis,
                              const ig_norm *norm);
/* x [N, C, …]; scale and bias [C]. */
ig_value *ig_compose_group_norm(ig_expr *e, ig_value *x, int64_t groups,
                                const ig_norm *norm);
/* A group per channel; the run may learn how many. */
ig_value *ig_compose_instance_norm(ig_expr *e, ig_value *x, const ig_norm *norm);
/* By the given mean and variance [C]. */
ig_value *ig_compose_batch_norm(ig_expr *e, ig_value *x, const ig_norm *norm,
                                ig_value *mean, ig_value *variance);

/* Mean and (biased) variance over all axes but the channels', [C]. */
void ig_compose_batch_moments(ig_expr *e, ig_value *x, ig_value **out_mean,
                              ig_value **out_variance);
/* Running statistics after a batch: kept * (1 - share) + fresh * share. */
ig_value *ig_compose_blend(ig_expr *e, ig_value *kept, ig_value *fresh, double share);
/* Mean and 1 / sqrt(variance + epsilon) over the axes from `axis` on, kept as 1. */
void ig_compose_moments(ig_expr *e, ig_value *x, uint32_t axis, double epsilon,
                        ig_value **out_mean, ig_value **out_scale);

/* (x - mean) / (deviation + 1e-9) */
ig_value *ig_compose_mean_variance_norm(ig_expr *e, ig_value *x, ig_ints axes);
/* x by its p-norm (1 or 2) along an axis; 0 where that is 0. */
ig_value *ig_compose_lp_norm(ig_expr *e, ig_value *x, uint32_t axis, int64_t p);
/* x / (bias + alpha * the sum of squares of `size` near channels) ^ beta */
typedef struct ig_lrn {
    int64_t size;
    double alpha, beta, bias;
} ig_lrn;
ig_value *ig_compose_lrn(ig_expr *e, ig_value *x, const ig_lrn *lrn);

#endif
