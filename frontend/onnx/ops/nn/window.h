/* What quantised convolutions take from plain ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_NN_WINDOW_H
#define IG_FRONTEND_ONNX_OPS_NN_WINDOW_H

#include "compose/quantise.h"
#include "frontend/onnx/import/import.h"

/* The convolution that the node's attributes describe (window.c); NULL: reported. */
ig_value *ig_onnx_conv_integer(const ig_onnx_node *node, ig_integers x, ig_integers w);

#endif
