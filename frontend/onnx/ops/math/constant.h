/* Attributes as constants.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_MATH_CONSTANT_H
#define IG_FRONTEND_ONNX_OPS_MATH_CONSTANT_H

#include "frontend/onnx/import/args.h"

/* The values of an attribute of numbers, or of a tensor; NULL where it is absent. */
ig_value *ig_onnx_attr_value(ig_onnx_node *node, const char *name);

#endif
