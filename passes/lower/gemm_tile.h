/* Register tiles of the GEMM schedule, and which of them a shape gets.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The choice is a closed form over the level's registers, so it costs nothing when
 * compiling; `ingot info --kernels` measures it against the other tiles.
 */
#ifndef IG_PASSES_LOWER_GEMM_TILE_H
#define IG_PASSES_LOWER_GEMM_TILE_H

#include "ir/semantics/panels.h"
#include "ir/target.h"

#include <stdbool.h>

enum {
    IG_GEMM_TILE_COLUMNS = 128,
    IG_GEMM_MAX_ROWS = 14,
    IG_GEMM_MAX_TILE_ROWS = 8 * IG_GEMM_MAX_ROWS,
    IG_GEMM_K_BLOCK = IG_PANEL_PASS
};

/* The register tile of a level. */
typedef struct ig_gemm_shape {
    uint32_t lanes;   /* of a vector */
    uint32_t vectors; /* a panel */
    uint32_t rows;    /* at most, of a block */
    uint32_t panels;  /* of a micro-panel */
} ig_gemm_shape;

ig_gemm_shape ig_gemm_shape_of(const ig_target *target);
/* Of 8-bit integers: where they are widened first, factors take twice the registers. */
ig_gemm_shape ig_gemm_quad_shape_of(const ig_target *target);
/* Of those summed in chains of 16 bits: each sum takes two registers. */
ig_gemm_shape ig_gemm_chain_shape_of(const ig_target *target);
/* Does a block of `rows` x `panels` panels stay in registers? */
bool ig_gemm_fits(const ig_target *target, uint32_t rows, uint32_t panels);
/* Slivers for few rows: a block of the usual width would wait for its own additions, or
 * load as much as it multiplies.  Whole ones of the usual width, so that they leave no
 * panel over that the usual ones do not. */
uint32_t ig_gemm_wide_panels(const ig_target *target, uint32_t rows);
/* Blocks of up to so many rows take wider micro-panels. */
uint32_t ig_gemm_few_rows(const ig_target *target);
/* Is K so small that the panels of a tile stay in L1, and stores decide?  Then tiles
 * are one block high, so that results are written row by row. */
bool ig_gemm_is_shallow(const ig_target *target, int64_t k);
/* Of `rows` rows so far apart, in bytes, as many as L1 can hold a line of at once:
 * lines whose addresses differ by multiples of a way share a set.  One line of it is
 * left to what else the loop loads. */
uint32_t ig_gemm_rows_in_l1(const ig_target *target, int64_t distance, uint32_t rows);
/* Is a tile's part of A copied, for [m, k] x [k, n] with rows so far apart, in bytes?
 * Where more rows than L1 has ways for share a set, and there are columns enough to pay
 * for it. */
bool ig_gemm_copies_rows(const ig_target *target, int64_t distance, int64_t n);
/* Floats between copied rows of k: no two of a block share a set. */
int64_t ig_gemm_copy_stride(int64_t k);
/* Most rows of a grid's tile, for blocks of `rows` and the K of the product (0: not
 * known). */
int64_t ig_gemm_row_limit(const ig_target *target, int64_t k, uint32_t rows);

typedef struct ig_gemm_tile {
    uint32_t rows, panels;
    uint32_t block_rows; /* what `rows` comes to in this shape */
    bool is_pick;
} ig_gemm_tile;

enum { IG_GEMM_MAX_TILES = 128 };

/* Tiles that a product [m, k] x [k, n] can be made of; returns their number.  Exactly
 * one of them is the pick.  Blocks much lower than registers allow are left out. */
uint32_t ig_gemm_tiles(const ig_target *target, const int64_t shape[3],
                       ig_gemm_tile out[IG_GEMM_MAX_TILES]);

#endif
