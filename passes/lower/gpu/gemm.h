/* Products with panels on GPUs: what their two schedules share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_GPU_GEMM_H
#define IG_PASSES_LOWER_GPU_GEMM_H

#include "passes/lower/gpu/gpu.h"

enum { GEMM_TILE = 64, GEMM_PANEL = 16 }; /* rows and columns of a block's tile of C */

typedef struct gpu_product {
    ig_lower *lower;
    const ig_value *anchor; /* the body's matmul */
    const ig_lower_operand *a, *panels;
    const ig_dim *dims; /* [M, N] */
    ig_value *m, *n, *k, *lda, *panel_count, *across_tiles;
} gpu_product;

/* The tile in force: its first row, column and panel. */
typedef struct gpu_position {
    ig_value *row, *column, *panel;
} gpu_position;

/* Sets the grid, the params and the values computed from them. */
void ig_gemm_open(gpu_product *g);
gpu_position ig_gemm_position(const gpu_product *g, ig_builder *b, ig_value *tile);
/* Element (row, k) of A, and element (k, `across`) of a panel; zero beyond M, N and
 * K. */
ig_value *ig_gemm_load_a(const gpu_product *g, ig_builder *b, ig_value *row,
                         ig_value *k);
ig_value *ig_gemm_load_b(const gpu_product *g, ig_builder *b, ig_value *panel,
                         ig_value *k, ig_value *across);
/* Stores the epilogue of `sum` at [row, column], where C has it. */
void ig_gemm_store(const gpu_product *g, ig_builder *b, ig_value *const index[2],
                   ig_value *sum);

/* Does mma.c take it, and its schedule. */
bool ig_gemm_has_fragments(const gpu_product *g);
void ig_gemm_lower_fragments(gpu_product *g);

#endif
