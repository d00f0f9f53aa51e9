/* A library that multiplies matrices, behind one signature; one shared object a peer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * y[m, n] = relu(x[m, k] * w[k, n] + bias[n]), all row-major f32.  Weights are packed
 * beforehand and bias and ReLU are fused where the library can; where it cannot they
 * are one vectorised pass behind the product.
 */
#ifndef IG_BENCH_NATIVE_GEMM_PEER_H
#define IG_BENCH_NATIVE_GEMM_PEER_H

#include <stdint.h>

typedef struct gemm_shape {
    int64_t m, k, n;
    int32_t threads;
} gemm_shape;

/* NULL when the library cannot.  `w` and `bias` stay the caller's and alive. */
void *gemm_open(const gemm_shape *shape, const float *w, const float *bias);
void gemm_run(void *gemm, const float *x, float *y);
void gemm_close(void *gemm);
const char *gemm_version(void);

/* What a library without fused epilogues leaves to its user. */
static inline void gemm_bias_relu(const gemm_shape *shape, const float *bias,
                                  float *y) {
    for (int64_t i = 0; i < shape->m; i++) {
        for (int64_t j = 0; j < shape->n; j++) {
            float sum = y[i * shape->n + j] + bias[j];
            y[i * shape->n + j] = sum > 0 ? sum : 0;
        }
    }
}

#endif
