/* The interface between the parts of the attention schedule.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile is rows of one matrix of queries; it goes over blocks of keys.  What is here
 * of a block is in scratch memory of the worker.
 */
#ifndef IG_PASSES_LOWER_CPU_ATTENTION_H
#define IG_PASSES_LOWER_CPU_ATTENTION_H

#include "passes/lower/cpu/dot.h"
#include "passes/lower/parts.h"

enum {
    ATTENTION_ROWS = 64,          /* of a tile, at most */
    ATTENTION_KEYS = DOT_K_BLOCK, /* of a block, at most */
};

/* Where the mask is 0, or with is_inverted where it is not, a key has no weight. */
typedef struct attention_mask {
    const ig_lower_operand *operand; /* NULL: there is none */
    bool is_inverted;
} attention_mask;

typedef struct attention {
    ig_lower *lower;
    dot scores, product;    /* of queries and keys; of weights and values */
    const ig_op *softmax;   /* or NULL */
    const ig_value *mapped; /* what softmax reads, or the weights */
    const ig_value *result; /* of the epilogue, that is stored */
    attention_mask mask;
    ig_lower_parts parts; /* of jagged rows; without offsets: there are none */
    uint32_t lanes, rank;
    ig_dim row_tiles, tiles; /* of a matrix, of all */
    ig_value *keys;          /* how many */
    ig_value *present; /* of jagged keys, that softmax counts: those that are not 0 */
    int64_t pitch;     /* from a row of `results` to the next */
    bool is_long;      /* there may be more keys than a block has */
    bool is_ragged;    /* the last vector of keys may have some that are not there */
    bool is_empty_zero;
    bool may_have_few; /* rows, whose scores need no copies of keys */
    ig_value *weights; /* [ATTENTION_ROWS, ATTENTION_KEYS]: scores, then weights */
    ig_value *results; /* [ATTENTION_ROWS, pitch] */
    /* Of softmax: [ATTENTION_ROWS]; and a vector of each row. */
    ig_value *max, *origins, *factors, *sums, *totals;
} attention;

/* index[…] has its matrix; rows[0] … rows[1]. */
typedef struct attention_tile {
    ig_value **index;
    ig_value *rows[2], *count;
    ig_value *begin; /* of jagged rows: that of its part */
} attention_tile;

/* Some keys of a block: first … end. */
typedef struct attention_keys {
    ig_value *first, *end;
} attention_keys;

typedef ig_value *(*attention_join)(ig_builder *b, ig_value *x, ig_value *y);

/* Of as many vectors as lanes, which it changes, each one's lanes joined to one. */
ig_value *attention_join_lanes(const attention *a, ig_builder *b, ig_value **vectors,
                               attention_join join);

/* attention_few.c: may there be so few rows that keys are not copied?  Then scores of
 * keys; and results by weights of keys, which are there. */
bool attention_may_have_few(const attention *a);
void attention_emit_scores(const attention *a, ig_builder *b, const dot_range *range);
void attention_add_values(const attention *a, ig_builder *b, const attention_tile *t,
                          const attention_keys *keys);

/* attention_weights.c: what there is before the first block; then scores of a block
 * become weights.  Returns a bool: is any of them not 0?  Else they are not there. */
void attention_open_rows(const attention *a, ig_builder *b, const attention_tile *t);
ig_value *attention_emit_weights(const attention *a, ig_builder *b,
                                 const attention_tile *t, const attention_keys *keys);

/* attention_mask.c: finds the mask of a body. */
void attention_find_mask(attention *a);
/* The keys without those at both ends that the mask leaves out for all rows; none may
 * be left.  They begin at multiples of a micro-panel from the first one. */
attention_keys attention_trim(const attention *a, ig_builder *b,
                              const attention_tile *t, attention_keys keys);

/* attention_jagged.c: factor `index` of a product; notes a->parts where it is one of
 * jagged rows.  Then the result of the body, as a padded tensor. */
const ig_lower_operand *attention_read_factor(attention *a, const ig_op *product,
                                              uint32_t index);
void attention_read_result(attention *a);
/* Of tile 0: reports offsets that are wrong, and clears rows that no tile writes. */
void attention_check_parts(const attention *a, ig_builder *b);
/* Rows and keys of the tile's part, which moves to its beginning in the factors.  There
 * may be none. */
void attention_open_part(attention *a, ig_builder *b, attention_tile *t);
/* Scores of keys from `end` on are 0. */
void attention_clear_scores(const attention *a, ig_builder *b, const attention_tile *t,
                            const attention_keys *keys, ig_value *end);
/* The element of the result at a row of all, in the tile's heads' first column. */
ig_value *attention_jagged_start(const attention *a, ig_builder *b,
                                 const attention_tile *t, ig_value *row);

#endif
