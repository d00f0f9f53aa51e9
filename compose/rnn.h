/* Recurrent layers: one direction of one layer as an `rnn` row.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_RNN_H
#define IG_COMPOSE_RNN_H

#include "ir/build/expr.h"

/* An activation of a cell and its numbers. */
typedef struct ig_rnn_activation {
    ig_value *(*build)(ig_expr *e, ig_value *x, double alpha, double beta);
    double alpha, beta;
} ig_rnn_activation;

/* Gates (G of them, each H rows) are in the row's order. */
typedef struct ig_rnn {
    ig_rnn_cell cell;
    bool is_reverse;
    bool is_reset_first;  /* gru: R (r * h) + b, not r * (R h + b) */
    bool is_coupled;      /* lstm: f = 1 - i */
    double clip;          /* of the arguments of activations; 0: none */
    ig_value *x;          /* [T, B, I] */
    ig_value *h, *c;      /* [B, H]; c: of an lstm */
    ig_value *w, *r;      /* [G * H, I], [G * H, H] */
    ig_value *bw, *br;    /* [G * H]; NULL: zeros */
    ig_value *lengths;    /* i64 [B]; NULL: all T */
    ig_value *peepholes;  /* [3 * H]; NULL: none */
    ig_value *projection; /* [P, H]; NULL: none */
    /* Of the gates, of the new content, and of the state of an lstm; NULL: the usual
     * ones.  The row has those: with others the layer is a loop at once. */
    const ig_rnn_activation *activations;
} ig_rnn;

enum { IG_RNN_RESULTS = 3 };

/* y [T, B, H], h and, of an lstm, c [B, H]; the others are NULL, and all are after a
 * failure. */
void ig_compose_rnn(ig_expr *e, const ig_rnn *layer,
                    ig_value *out_results[IG_RNN_RESULTS]);

#endif
