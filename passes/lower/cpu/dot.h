/* The interface between the forms of the dot schedule.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_DOT_H
#define IG_PASSES_LOWER_CPU_DOT_H

#include "passes/lower/cpu/cpu.h"

enum {
    DOT_ROW_TILE = 128,    /* of the grid, for products that may take panels */
    DOT_COLUMN_TILE = 256, /* a multiple of every micro-panel */
};

/* Register tiles over panels that the kernel makes of B (dot_panels.c). */
typedef struct dot_panels {
    uint32_t lanes;           /* of a vector along n; 0: this product takes no panels */
    uint32_t rows;            /* at most, of a block */
    int64_t least_m, least_n; /* smaller products are better off without */
    bool is_choice;           /* the run knows whether this one is */
    ig_dtype wide;            /* what is multiplied and added up */
    bool is_deep;             /* K may be larger than a panel */
    bool is_staged;
    uint32_t store_lanes; /* of the epilogue */
    ig_value *panel;      /* local: K_BLOCK rows of k of a micro-panel of B */
    ig_value *stage;      /* local: a tile's sums of a micro-panel, if is_staged */
} dot_panels;

typedef struct dot {
    ig_lower *lower;
    const ig_op *anchor;
    const ig_operand *a, *b; /* matrices: a vector is one row, or one column */
    const ig_type *type;     /* of the product, with an extent of 1 for each vector */
    bool a_is_vector, b_is_vector;
    uint32_t rank;
    bool transpose_a, transpose_b;
    uint32_t lanes;
    bool has_groups;         /* COLUMNS columns at a time */
    uint32_t block, vectors; /* by columns: the register tile */
    dot_panels panels;
    ig_value *k, *n;
    ig_dim row_tiles, column_tiles, height; /* of the grid */
} dot;

/* Rows and columns of C, first and one past the last; index[…] has the batch. */
typedef struct dot_range {
    ig_value *rows[2], *columns[2];
    ig_value **index;
} dot_range;

ig_dim dot_depth(const dot *d); /* the extent of k */
/* Stride of an operand along its rows (m or n), or along k. */
ig_dim dot_stride(const ig_operand *x, bool is_k, bool k_is_last);
/* Start of the operand's matrix for this batch, then of its row. */
ig_value *dot_row_start(const dot *d, ig_builder *b, const ig_operand *x,
                        bool k_is_last, ig_value *const *index, ig_value *row);
/* Indices of the product: those of the space without the extents of vectors. */
uint32_t dot_own_index(const dot *d, ig_value *const *index, ig_value **out_own);

/* dot_columns.c: lanes along n, B as stored. */
bool dot_has_columns(const dot *d);
void dot_choose_columns(dot *d);
void dot_emit_columns(const dot *d, ig_builder *b, const dot_range *range);
/* Can the epilogue be computed and stored a vector at a time? */
bool dot_has_column_epilogue(const dot *d);

/* dot_panels.c: lanes along n, B copied. */
void dot_choose_panels(dot *d);
void dot_emit_panels(const dot *d, ig_builder *b, const dot_range *range);

#endif
