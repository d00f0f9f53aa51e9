/* The interface between the forms of the dot schedule.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_DOT_H
#define IG_PASSES_LOWER_CPU_DOT_H

#include "ir/semantics/bits.h"
#include "ir/semantics/panels.h"
#include "passes/lower/cpu/cpu.h"

enum {
    DOT_ROW_TILE = 256,    /* of the grid, for products that may take panels */
    DOT_COLUMN_TILE = 128, /* a multiple of every micro-panel */
    DOT_K_BLOCK = 128,     /* words of k in a panel */
};

/* Register tiles over panels that the kernel makes of B (dot_panels.c). */
typedef struct dot_panels {
    uint32_t lanes;       /* of a vector along n; 0: this product takes no panels */
    uint32_t rows;        /* at most, of a block */
    int64_t row_tile;     /* rows of a tile of the grid, at most */
    int64_t min_m, min_n; /* smaller products are better off without */
    bool is_choice;       /* the run knows whether this one is */
    ig_dtype wide;        /* the factors to multiply and add up */
    ig_dtype sum;         /* of blocks of k, added up */
    bool is_deep;         /* K may be larger than a panel */
    bool is_staged;       /* sums go through the local array */
    bool has_fewer_rows, has_fewer_columns; /* in ranges than the type says */
    bool is_direct;                         /* but those of the last k, which go to C */
    uint32_t store_lanes;                   /* of the epilogue */
    ig_value *panel;     /* local: K_BLOCK rows of k of a micro-panel of B */
    ig_value *stage;     /* local: a tile's sums of a micro-panel, if is_staged */
    int64_t direct_rows; /* tiles of fewer rows need no copy of B: its columns are
                           * neighbours, and whole vectors; 0: none do */
    int64_t stage_step;  /* 0; or the stage has all columns of a range, rows so far
                           * apart, and the sums stay there */
} dot_panels;

/* A product of bytes: four of k are one word (dot_quads.c). */
typedef struct dot_quads {
    const ig_lower_operand *zeros[2]; /* of A and of B: a number, or NULL for 0 */
    bool flips[2];                    /* A is i8, or B is u8: 128 more, or less */
    bool is_whole;                    /* K is known to be whole words */
    ig_value *row_sums;    /* local: of a tile's rows of A, times B's zero point */
    ig_value *column_sums; /* local: of a micro-panel of B, times A's zero point */
} dot_quads;

/* B is rows of numbers of few bits (dot_bits.c). */
typedef struct dot_bits {
    const ig_lower_operand *scales, *zeros; /* zeros: NULL for half of the numbers */
    ig_bits form;
    uint32_t lanes; /* bytes that are loaded at once; 0: B is no such matrix */
} dot_bits;

/* Row n of it: a column of the product. */
typedef struct dot_bits_row {
    ig_value *bytes, *scales, *zeros;
} dot_bits_row;

typedef struct dot {
    ig_lower *lower;
    const ig_op *anchor;
    const ig_lower_operand *a, *b; /* matrices: a vector is one row, or one column */
    const ig_type *type; /* of the product, with an extent of 1 for each vector */
    bool a_is_vector, b_is_vector;
    uint32_t rank;
    bool transpose_a, transpose_b;
    uint32_t unit; /* of k in a word: 1, or 4 bytes that panels have */
    dot_quads quads;
    dot_bits bits;
    uint32_t lanes;
    bool has_groups;         /* COLUMNS columns at a time */
    uint32_t block, vectors; /* by columns: the register tile */
    dot_panels panels;
    ig_value *k, *n, *words;                /* of k: how many words */
    ig_dim row_tiles, column_tiles, height; /* of the grid: rows of a tile, at least */
} dot;

/* Rows and columns of C, first and one past the last; index[…] has the batch. */
typedef struct dot_range {
    ig_value *rows[2], *columns[2];
    ig_value **index;
    ig_value *a;        /* its matrix of this batch; NULL: panels are not there yet */
    ig_value *const *k; /* the words of one pass, at most DOT_K_BLOCK; NULL: all */
} dot_range;

/* Columns of one panel, for all rows of a tile. */
typedef struct dot_micro_panel {
    uint32_t vectors;
    ig_value *column;   /* first */
    ig_value *left;     /* columns from there on, or NULL: enough */
    ig_value *is_whole; /* are there enough?  The run knows; NULL: what `left` says */
    const dot_range *range;
    ig_value *panel, *pitch; /* those that are multiplied; from a word of k on */
} dot_micro_panel;

/* What is emitted for columns of a micro-panel; more: its own arguments. */
typedef void (*dot_part)(const dot *d, ig_builder *b, const dot_micro_panel *s,
                         const void *more);

/* B's matrix of this batch, and its strides as numbers of the kernel. */
typedef struct dot_matrix {
    ig_value *start, *along_k, *along_n;
} dot_matrix;

/* Rows row … row + count of C, words k[0] … k[1] of the sums. */
typedef struct dot_rows {
    ig_value *row, *start; /* the first one; its elements in A */
    uint32_t count;
    ig_value *const *k;
} dot_rows;

ig_dim dot_depth(const dot *d); /* the extent of k */
/* Stride of an operand along its rows (m or n), or along k. */
ig_dim dot_stride(const ig_lower_operand *x, bool is_k, bool k_is_last);
/* Start of the operand's matrix for this batch, then of its row. */
ig_value *dot_row_start(const dot *d, ig_builder *b, const ig_lower_operand *x,
                        bool k_is_last, ig_value *const *index, ig_value *row);
/* The factors of a matmul, as far as they are inputs of the launch. */
dot dot_read_matmul(ig_lower *lower, const ig_op *matmul);
/* Rank and type of the product with an extent of 1 for each vector. */
void dot_find_matrices(dot *d);
/* Indices of the product: those of the space without the extents of vectors. */
uint32_t dot_own_index(const dot *d, ig_value *const *index, ig_value **out_own);

/* dot_columns.c: lanes along n, B as stored. */
bool dot_has_columns(const dot *d);
void dot_choose_columns(dot *d);
void dot_emit_columns(const dot *d, ig_builder *b, const dot_range *range);
/* Can the epilogue be computed and stored a vector at a time? */
bool dot_has_column_epilogue(const dot *d);

/* dot_pack.c: words k[0] … k[1] of a micro-panel of B become the local panel. */
void dot_pack_panel(const dot *d, ig_builder *b, const dot_micro_panel *s,
                    ig_value *const k[2]);
int64_t dot_width(const dot *d, const dot_micro_panel *s);
/* The part by `left`; where the run knows whether columns are enough, also without. */
void dot_emit_ends(const dot *d, ig_builder *b, const dot_micro_panel *s, dot_part part,
                   const void *more);
ig_value *dot_valid_lanes(ig_builder *b, const dot_micro_panel *s, ig_value *column);
bool dot_is_along_k(const ig_lower_operand *x, bool k_is_last);
dot_matrix dot_matrix_of(const dot *d, ig_builder *b, const dot_micro_panel *s);
/* One vector of B's row at[0], from column at[1] of the micro-panel on. */
ig_value *dot_load_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_matrix *m, ig_value *const at[2]);

/* dot_quads.c: what bytes do otherwise.  Does the product of bytes take panels? */
bool dot_takes_quads(const dot *d);
void dot_open_quads(dot *d, int64_t width);
/* Words as the panel has them: some neighbours of a column, one of each column. */
ig_value *dot_quad_line(const dot *d, ig_builder *b, ig_value *column, ig_value *k,
                        ig_value *count);
ig_value *dot_quad_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                           const dot_matrix *m, ig_value *const at[2]);
/* Sums of a block of rows with the panel. */
void dot_sum_quads(const dot *d, ig_builder *b, const dot_micro_panel *s,
                   const dot_rows *r, ig_value **out_sums);
/* The zero points' part: sums of a tile's rows, of a panel's columns; and the value of
 * a vector of sums at a row and a column of the micro-panel without it. */
void dot_sum_rows(const dot *d, ig_builder *b, const dot_range *range);
void dot_open_columns(const dot *d, ig_builder *b, const dot_micro_panel *s);
void dot_sum_columns(const dot *d, ig_builder *b, const dot_micro_panel *s,
                     ig_value *const k[2]);
ig_value *dot_centre(const dot *d, ig_builder *b, const dot_micro_panel *s,
                     ig_value *const at[2], ig_value *sum);
/* A factor's zero point as an element of the product, or NULL for 0. */
ig_value *dot_zero(const dot *d, ig_builder *b, uint32_t factor);

/* dot_bits.c: takes the operands of a matmul_bits; false where the kernel does not. */
bool dot_open_bits(dot *d);
bool dot_is_bits(const dot *d);
dot_bits_row dot_open_bits_row(const dot *d, ig_builder *b, ig_value *n);
/* A vector of a row's numbers as floats, from k on. */
ig_value *dot_bits_line(const dot *d, ig_builder *b, const dot_bits_row *row,
                        ig_value *k);
/* Few rows: lanes along k. */
void dot_emit_bits(const dot *d, ig_builder *b, const dot_range *range);

/* dot_panels.c: lanes along n, B copied. */
void dot_choose_panels(dot *d);
void dot_emit_panels(const dot *d, ig_builder *b, const dot_range *range);
/* The same of a range whose `a` is set. */
void dot_emit_micro_panels(const dot *d, ig_builder *b, const dot_range *range);
uint32_t dot_panel_rows(const ig_target *target); /* of a block, at most */
int64_t dot_panel_width(uint32_t lanes);          /* of a micro-panel, at most */
/* The epilogue of the sums in the stage: rows and columns of a micro-panel. */
void dot_store_stage(const dot *d, ig_builder *b, const dot_micro_panel *s);

#endif
