/* Winograd's F(2 x 2, 3 x 3): four results of a 3 x 3 convolution from 16 products.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     Y = A [(G w G') * (B d B')] A'
 *
 * d is 4 x 4 elements of an image, w the 3 x 3 taps, * by element, ' the transpose, and
 * Y the 2 x 2 results.  Over several channels the products in brackets are summed up.
 * The matrices are those of Lavin and Gray, Fast Algorithms for Convolutional Neural
 * Networks (2015), equation 8, there as B^T, G and A^T.
 */
#ifndef IG_IR_SEMANTICS_WINOGRAD_H
#define IG_IR_SEMANTICS_WINOGRAD_H

#include <stdint.h>

enum {
    IG_WINOGRAD_TAPS = 3,
    IG_WINOGRAD_OUT = 2,
    IG_WINOGRAD_IN = 4,
    IG_WINOGRAD_PRODUCTS = IG_WINOGRAD_IN * IG_WINOGRAD_IN,
};

static const int8_t ig_winograd_input[IG_WINOGRAD_IN][IG_WINOGRAD_IN] = {
    { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 }
};
/* In halves. */
static const int8_t ig_winograd_weights[IG_WINOGRAD_IN][IG_WINOGRAD_TAPS] = {
    { 2, 0, 0 }, { 1, 1, 1 }, { 1, -1, 1 }, { 0, 0, 2 }
};
static const int8_t ig_winograd_output[IG_WINOGRAD_OUT][IG_WINOGRAD_IN] = {
    { 1, 1, 1, 0 }, { 0, 1, -1, -1 }
};

#endif
