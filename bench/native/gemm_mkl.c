/* MKL: weights packed once (cblas_sgemm_pack), then cblas_sgemm_compute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/native/gemm_peer.h"

#include <stdlib.h>

/* mkl_rt's C interface with 32-bit integers, from its reference manual. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, PACKED = 151, B_MATRIX = 162 };
size_t cblas_sgemm_pack_get_size(int identifier, int m, int n, int k);
void cblas_sgemm_pack(int layout, int identifier, int trans, int m, int n, int k,
                      float alpha, const float *source, int stride, float *target);
void cblas_sgemm_compute(int layout, int trans_a, int trans_b, int m, int n, int k,
                         const float *a, int lda, const float *b, int ldb, float beta,
                         float *c, int ldc);
void MKL_Set_Num_Threads(int threads);
void MKL_Get_Version_String(char *text, int size);

typedef struct gemm {
    gemm_shape shape;
    const float *bias;
    float *packed;
} gemm;

void *gemm_open(const gemm_shape *shape, const float *w, const float *bias) {
    int m = (int)shape->m, n = (int)shape->n, k = (int)shape->k;
    MKL_Set_Num_Threads(shape->threads);
    gemm *g = malloc(sizeof *g);
    *g = (gemm){ *shape, bias, NULL };
    size_t bytes = (cblas_sgemm_pack_get_size(B_MATRIX, m, n, k) + 63) / 64 * 64;
    g->packed = aligned_alloc(64, bytes);
    cblas_sgemm_pack(ROW_MAJOR, B_MATRIX, NO_TRANS, m, n, k, 1, w, n, g->packed);
    return g;
}

void gemm_run(void *gemm_, const float *x, float *y) {
    gemm *g = gemm_;
    int m = (int)g->shape.m, n = (int)g->shape.n, k = (int)g->shape.k;
    cblas_sgemm_compute(ROW_MAJOR, NO_TRANS, PACKED, m, n, k, x, k, g->packed, n, 0, y,
                        n);
    gemm_bias_relu(&g->shape, g->bias, y);
}

void gemm_close(void *gemm_) {
    gemm *g = gemm_;
    free(g->packed);
    free(g);
}

const char *gemm_version(void) {
    static char text[200];
    MKL_Get_Version_String(text, sizeof text - 1); /* does not end the text */
    return text;
}
