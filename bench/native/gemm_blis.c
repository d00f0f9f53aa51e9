/* BLIS: bli_sgemm with its unpacked path for small shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/native/gemm_peer.h"

#include <stdlib.h>

/* BLIS's typed interface, from its documentation; the package has no threads. */
enum { NO_TRANSPOSE = 0 };
void bli_sgemm(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, float *alpha,
               float *a, int64_t rs_a, int64_t cs_a, float *b, int64_t rs_b,
               int64_t cs_b, float *beta, float *c, int64_t rs_c, int64_t cs_c);
const char *bli_info_get_version_str(void);

typedef struct gemm {
    gemm_shape shape;
    const float *w, *bias;
} gemm;

void *gemm_open(const gemm_shape *shape, const float *w, const float *bias) {
    if (shape->threads != 1) {
        return NULL;
    }
    gemm *g = malloc(sizeof *g);
    *g = (gemm){ *shape, w, bias };
    return g;
}

void gemm_run(void *gemm_, const float *x, float *y) {
    gemm *g = gemm_;
    int64_t m = g->shape.m, n = g->shape.n, k = g->shape.k;
    float one = 1, zero = 0;
    bli_sgemm(NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, &one, (float *)x, k, 1,
              (float *)g->w, n, 1, &zero, y, n, 1);
    gemm_bias_relu(&g->shape, g->bias, y);
}

void gemm_close(void *gemm_) {
    free(gemm_);
}

const char *gemm_version(void) {
    return bli_info_get_version_str();
}
