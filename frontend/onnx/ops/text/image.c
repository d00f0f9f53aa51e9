/* Operators on encoded images.  SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/hooks.h"

ig_status ig_onnx_import_image_decoder(ig_onnx_node *node) {
    ig_image_decode_attrs attrs = { .order = (int)ig_onnx_attr_choice(
                                        node, "pixel_format", "RGB BGR Grayscale") };
    return ig_onnx_give(node, ig_build_image_decode(node->e, node->inputs[0], attrs));
}
