/* Kernels of rows and support vectors, which SVMRegressor and SVMClassifier share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_ML_SUPPORT_H
#define IG_FRONTEND_ONNX_OPS_ML_SUPPORT_H

#include "frontend/onnx/ops/ml/ml.h"

enum { IG_ONNX_KERNEL_LINEAR, IG_ONNX_KERNEL_POLY, IG_ONNX_KERNEL_RBF };

typedef struct ig_onnx_support {
    ig_onnx_node *node;
    ig_expr *e;
    uint32_t kind; /* as above; SIGMOID after them */
    double gamma, bias, degree;
    ig_value *vectors; /* f32 [V, F] */
} ig_onnx_support;

/* kernel_type and kernel_params; false after an error. */
bool ig_onnx_read_kernel(ig_onnx_support *s);
/* An attribute of floats as rows [count, …]. */
ig_value *ig_onnx_support_rows(ig_onnx_support *s, const char *name, int64_t count);
/* Each row of x [N, F] with each vector: [N, V]. */
ig_value *ig_onnx_apply_kernel(const ig_onnx_support *s, ig_value *x);

#endif
