/* The inner loops of two kernels as they would be written by hand, for gcc to compile
 * (throughput.py).  SPDX-License-Identifier: Apache-2.0 */
#include <arm_neon.h>
#include <stdint.h>

enum { ROWS = 2, VECTORS = 8, ROW_VECTORS = 16, LANES = 4 };

/* A tile of 2 by 32 of c = a x b, with b packed by 32 columns. */
void gemm(const float *restrict a, const float *restrict b, float *restrict c,
          int64_t depth) {
    float32x4_t sum[ROWS][VECTORS] = { 0 };
    for (int64_t k = 0; k < depth; k++) {
        for (int row = 0; row < ROWS; row++) {
            for (int v = 0; v < VECTORS; v++) {
                float32x4_t of_b = vld1q_f32(b + (k * VECTORS + v) * LANES);
                sum[row][v] = vfmaq_n_f32(sum[row][v], of_b, a[row * depth + k]);
            }
        }
    }
    for (int row = 0; row < ROWS; row++) {
        for (int v = 0; v < VECTORS; v++) {
            vst1q_f32(c + (row * VECTORS + v) * LANES, sum[row][v]);
        }
    }
}

/* The sum of the rows of 64 floats that the ids name; ids out of range end it. */
int64_t bag(const float *restrict table, int64_t rows, const int64_t *restrict ids,
            int64_t count, float *restrict out) {
    float32x4_t sum[ROW_VECTORS] = { 0 };
    int64_t i = 0;
    for (; i < count && (uint64_t)ids[i] < (uint64_t)rows; i++) {
        const float *row = table + ids[i] * ROW_VECTORS * LANES;
        for (int v = 0; v < ROW_VECTORS; v++) {
            sum[v] = vaddq_f32(sum[v], vld1q_f32(row + v * LANES));
        }
    }
    for (int v = 0; v < ROW_VECTORS; v++) {
        vst1q_f32(out + v * LANES, sum[v]);
    }
    return i;
}
