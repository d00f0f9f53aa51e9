/* OpenBLAS: cblas_sgemm, which packs its operands on every call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/native/gemm_peer.h"

#include <stdlib.h>

/* The package's names carry a prefix, and a suffix for 64-bit integers. */
enum { ROW_MAJOR = 101, NO_TRANS = 111 };
void scipy_cblas_sgemm64_(int layout, int trans_a, int trans_b, int64_t m, int64_t n,
                          int64_t k, float alpha, const float *a, int64_t lda,
                          const float *b, int64_t ldb, float beta, float *c,
                          int64_t ldc);
void scipy_openblas_set_num_threads64_(int threads);
char *scipy_openblas_get_config64_(void);

typedef struct gemm {
    gemm_shape shape;
    const float *w, *bias;
} gemm;

void *gemm_open(const gemm_shape *shape, const float *w, const float *bias) {
    scipy_openblas_set_num_threads64_(shape->threads);
    gemm *g = malloc(sizeof *g);
    *g = (gemm){ *shape, w, bias };
    return g;
}

void gemm_run(void *gemm_, const float *x, float *y) {
    gemm *g = gemm_;
    int64_t m = g->shape.m, n = g->shape.n, k = g->shape.k;
    scipy_cblas_sgemm64_(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, k, 1, x, k, g->w, n, 0, y,
                         n);
    gemm_bias_relu(&g->shape, g->bias, y);
}

void gemm_close(void *gemm_) {
    free(gemm_);
}

const char *gemm_version(void) {
    return scipy_openblas_get_config64_();
}
