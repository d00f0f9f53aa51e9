/* The interface between the two halves of the GEMM schedule: gemm.c splits a product
 * into register tiles and plans the prefetches, gemm_block.c computes one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_GEMM_H
#define IG_PASSES_LOWER_CPU_GEMM_H

#include "passes/lower/cpu/cpu.h"
#include "ir/semantics/chains.h"
#include "passes/lower/gemm_tile.h"

enum { GEMM_CURSORS = 3, GEMM_BLOCK_ROWS = 16, GEMM_BLOCK_PANELS = 4 };

/* Zeros around x that are not in memory; a run is all channels of one tap.  Per spatial
 * axis, in positions: x's extent, the zeros before it, and from one window or tap to
 * the next. */
typedef struct gemm_padding {
    ig_value **extents, **before, **strides, **dilations;
    const int64_t *kernel; /* its taps along each: 64 in all at most */
    ig_value *lead;        /* elements from the first zero of an image to x's first */
    ig_value *zeros;       /* a run of them */
    /* Of each row of a tile, in locals: elements of x to where its window's first tap
     * would be, and the taps that are in x, tap number i as bit i. */
    ig_value *starts, *taps;
} gemm_padding;

/* A is windows of x, channels last: row r of it is a window, whose K elements are
 * `runs` runs of `run` neighbours each.  Extents and steps are params. */
typedef struct gemm_window {
    uint32_t space; /* axes of the result but the channels: image, places */
    ig_value **extents, **steps; /* of the result's axes; in x from one to the next */
    ig_value *run;               /* words */
    int64_t run_words;           /* the same, or 0 where it is not known */
    int64_t step; /* from one place of a line to the next, or 0 where it is not known */
    uint32_t run_axes;          /* of the kernel's, those that runs are counted along */
    ig_value **kernel, **apart; /* extents of these; in x from one to the next */
    const gemm_padding *padding; /* NULL: x has all that windows see */
} gemm_window;

typedef struct gemm {
    ig_lower *lower;
    ig_gemm_shape shape;
    uint32_t asked_panels;  /* of a micro-panel, as an attribute asks, or 0 */
    const ig_value *anchor; /* the body's product */
    bool is_quads;          /* a word is four 8-bit integers, else an f32 */
    ig_dtype sum;           /* of words' products: f32 or i32 */
    uint32_t unit;          /* elements of A in a word */
    const ig_lower_operand *a, *panels, *zeros; /* zeros: NULL where panels have none */
    int64_t chain;                   /* quads summed in 16 bits first, or 0 */
    int64_t extra;                   /* quads after each panel */
    const ig_lower_operand *targets; /* of these: [panels, 1 + extra], or NULL */
    const ig_dim *dims;              /* [M, N] */
    const ig_type *space;            /* of the epilogue: [M, N], or [M…, N] */
    const gemm_window *window;       /* NULL: A is a matrix */
    int64_t groups;                  /* products side by side, of N columns each */
    ig_value *first_column;          /* of this group; NULL where there is one */
    ig_dim depth;                    /* words of K */
    ig_value *words;                 /* the panels as such */
    ig_value *m, *n, *lda /* in elements */;
    ig_value *k;  /* words */
    int64_t line; /* rows that are a block: M has whole lines; 1 where rows are alike */
    int64_t span; /* rows of each tile, windows evenly apart in x; 0: no such tiles */
    int64_t low_rows, high_rows; /* a tile of the grid has at least, at most so many */
    int64_t tile_panels[2];      /* panels of the first and the last one; 0: unknown */
    bool is_ragged;              /* N does not divide by 16 */
    bool is_odd;                 /* micro-panels may leave one panel over */
    bool is_narrow;              /* one micro-panel has all columns */
    bool is_deep;                /* K may be larger than K_BLOCK */
    bool is_shallow;             /* K is so small that storing takes longer */
    bool is_heavy;               /* the epilogue is too long to be repeated a vector */
    ig_value *stage;             /* local copy of a register tile, when heavy */
    ig_value *partial;           /* sums of a tile between passes, when deep */
    ig_value *copy;              /* of a tile's rows of A, or NULL: read as stored */
    int64_t copy_stride;         /* in words */
    bool has_blocks; /* rows are summed up in blocks by dot4_block, but for few */
    ig_value *sums;  /* of such a block, where it is not kept between passes */
} gemm;

/* The unit of a worker: a tile of the grid, in passes over K. */
typedef struct gemm_range {
    ig_value *row, *rows; /* first, count */
    ig_value *column, *column_end;
    ig_value *k, *k_end; /* of this pass */
    ig_value *window;    /* where that of the first row begins, of tiles with a span */
    ig_value *is_new;    /* are its rows to be copied? NULL: they are read as stored */
} gemm_range;

/* Lines to prefetch while summing up, one for each k: first, first + step … up
 * to last, if it has one.  A cursor with nothing to fetch goes along with the loads of
 * the multiplication, which are in L1: other lines would be asked for again each time.
 */
typedef struct gemm_cursor {
    ig_value *buffer, *first, *step, *last;
    ig_value *across; /* or NULL: goes over 16 rows, so far apart, again and again */
    int64_t level;    /* of the cache */
} gemm_cursor;

/* Rows row … row + rows, columns from `column` on, as the K loop left them. */
typedef struct gemm_block {
    const gemm_range *range;
    uint32_t rows, panels, cursor_count;
    ig_value *row, *column;
    ig_value **sums; /* [rows][panels * vectors] */
    gemm_cursor cursors[GEMM_CURSORS];
} gemm_block;

/* One register tile of rows x panels: one pass over K, then the epilogue or, when there
 * are more passes to come, the sums into scratch memory. */
void gemm_emit_block(const gemm *g, ig_builder *b, gemm_block tile);

/* Where panel number `panel` begins in the words. */
ig_value *gemm_panel_start(const gemm *g, ig_builder *b, ig_value *panel);

/* Takes the chains of a product of quads whose operands and depth are set; false when
 * there are none that the schedule can make. */
bool gemm_take_chains(gemm *g, const ig_op *anchor);

/* ---- gemm_tiles.c ---- */

/* The rows that blocks of a tile may have. */
typedef struct gemm_block_rows {
    uint32_t low, high;
    bool is_single; /* the tile is one block */
} gemm_block_rows;

/* Heights of blocks, `count` of them, in order. */
typedef struct gemm_heights {
    uint32_t rows[IG_GEMM_MAX_ROWS], count;
} gemm_heights;

/* How micro-panels of so many panels may end: with N, or with whole panels. */
typedef struct gemm_ends {
    bool may_be_tail, may_be_whole;
} gemm_ends;

gemm_ends gemm_ends_of(const gemm *g, uint32_t panels);

/* Decides which tiles of at most `limit` rows the extents can ask for. */
void gemm_classify_tiles(gemm *g, int64_t limit);
/* May a tile of the grid have from `low` to `high` rows? */
bool gemm_has_tile_rows(const gemm *g, int64_t low, int64_t high);
/* Has some tile at least so many panels? */
bool gemm_has_tile_panels(const gemm *g, uint32_t panels);
gemm_heights gemm_heights_of(const gemm *g, gemm_block_rows allowed);

/* gemm_rows.c: the same by dot4_block, for as many rows as `rows` says, 1 … 16. */
void gemm_emit_rows(const gemm *g, ig_builder *b, gemm_block tile, ig_value *rows);
/* The epilogue's place at a row and a column; count: NULL, or the lanes that count. */
ig_site gemm_site_at(const gemm *g, ig_builder *b, ig_value *row, ig_value *column,
                     ig_value *count);

/* gemm.c, for a product with its operands, dims, space and depth set: what its rows ask
 * for by their distance, then the schedule. */
void gemm_spread_rows(gemm *g);
ig_status gemm_lower(gemm *g);

/* conv_panels.c: where the rows of a block begin in x; and, in K, from where on run
 * number `run` is shifted against them. */
void gemm_window_rows(const gemm *g, ig_builder *b, const gemm_block *tile,
                      ig_value **out_rows);
ig_value *gemm_window_shift(const gemm *g, ig_builder *b, ig_value *run);
/* Where the window of a row begins. */
ig_value *gemm_window_start(const gemm *g, ig_builder *b, ig_value *row);
/* With padding: notes the windows of a tile; the taps that some row of a block has; and
 * the elements of each row in run number `run`, where some row has that tap. */
void gemm_open_positions(const gemm *g, ig_builder *b, const gemm_range *range);
ig_value *gemm_taps_of(const gemm *g, ig_builder *b, const gemm_block *tile);
ig_value *gemm_enter_run(const gemm *g, ig_builder *b, const gemm_block *tile,
                         ig_value *taps, ig_value *run, ig_value **out_rows);
/* Copies the windows of `count` rows from the tile's first on, all of K. */
void gemm_copy_windows(const gemm *g, ig_builder *b, const gemm_block *tile,
                       ig_value *count);

#endif
