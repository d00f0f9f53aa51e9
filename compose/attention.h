/* Attention: the row, its intermediate values, and heads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_ATTENTION_H
#define IG_COMPOSE_ATTENTION_H

#include "ir/build/expr.h"

typedef struct ig_attention {
    ig_value *q, *k, *v; /* […, L, E], […, S, E], […, S, V] */
    ig_value *mask;      /* over […, L, S]; NULL: none */
    ig_attention_attrs attrs;
} ig_attention;

/* The row, […, L, V].  Extents that must be equal are guarded; a mask that is not bool
 * counts in q's dtype. */
ig_value *ig_compose_attention(ig_expr *e, const ig_attention *a);

/* How far scores are computed. */
typedef enum ig_scores {
    IG_SCORES_scaled,
    IG_SCORES_capped,
    IG_SCORES_masked,
    IG_SCORES_weights, /* their softmax */
} ig_scores;

/* […, L, S]; f32 for narrow floats. */
ig_value *ig_compose_scores(ig_expr *e, const ig_attention *a, ig_scores until);

/* The usual scale, 1 / sqrt(E).  Where E is known at run time only, *q is scaled and 1
 * left. */
double ig_compose_attention_scale(ig_expr *e, ig_value **q);

/* Repeats each head of x (the third axis from the end) so that x has as many heads as
 * q. */
ig_value *ig_compose_repeat_heads(ig_expr *e, ig_value *x, const ig_value *q);
/* [B, L, heads * E] to [B, heads, L, E], and back. */
ig_value *ig_compose_split_heads(ig_expr *e, ig_value *x, int64_t heads);
ig_value *ig_compose_join_heads(ig_expr *e, ig_value *x);
/* The first `turned` elements of each head of x [B, heads, L, E] as pairs that are
 * turned by an angle, whose cosines and sines are [B, 1, L, turned / 2]: a, b become
 * a cos - b sin, a sin + b cos.  Pairs are neighbours, or the halves' equal places. */
ig_value *ig_compose_rotate(ig_expr *e, ig_value *x, ig_value *cos, ig_value *sin,
                            ig_dim turned, bool is_interleaved);

#endif
