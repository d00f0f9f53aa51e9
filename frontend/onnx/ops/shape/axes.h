/* Squeeze and Unsqueeze whose axes the run computes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_SHAPE_AXES_H
#define IG_FRONTEND_ONNX_OPS_SHAPE_AXES_H

#include "frontend/onnx/import/args.h"

/* Input 0 with axes of extent 1 where input 1, a list of known length, says. */
ig_status ig_onnx_unsqueeze_at_run(ig_onnx_node *node);
/* Input 0 without the axes that input 1 names. */
ig_status ig_onnx_squeeze_at_run(ig_onnx_node *node);

#endif
