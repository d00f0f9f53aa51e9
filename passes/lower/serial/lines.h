/* Lines along one axis, a vector of neighbouring ones at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SERIAL_LINES_H
#define IG_PASSES_LOWER_SERIAL_LINES_H

#include "passes/lower/walk.h"

/* Vectors that go down their axis together, at most; and where each carries one value
 * and there are registers for more. */
enum { IG_LINE_VECTORS = 8, IG_LINE_MANY_VECTORS = 32 };

/* Code for `vectors` vectors of lines side by side, of which index[last] is the first;
 * index[axis] is the code's to set.  count (NULL: all) says how many lanes of a single
 * vector count. */
typedef void (*ig_lines_fn)(void *user, ig_builder *b, ig_value **index,
                            uint32_t vectors, ig_value *count);

typedef struct ig_lines {
    ig_lower *lower;
    const ig_type *type; /* of the tensor whose lines these are */
    uint32_t axis;
    uint32_t lanes; /* 1: one line after the other */
    int64_t each;   /* lines a tile where lanes is 1 */
    bool has_many;  /* IG_LINE_MANY_VECTORS where there are registers */
    ig_lines_fn emit;
    void *user;
} ig_lines;

/* Lanes are neighbours along the last axis where that is another one than `axis` and
 * both operands are contiguous there; as many as `wide` has. */
uint32_t ig_lower_line_lanes(ig_lower *lower, const ig_lower_operand *x,
                             const ig_lower_operand *out, uint32_t axis, ig_dtype wide);
ig_dim ig_lower_line_grid(const ig_lines *lines);
void ig_lower_emit_lines(const ig_lines *lines, ig_builder *b, ig_value *tile);

/* `count`, but nothing along an axis of no extent. */
ig_value *ig_lower_line_count(const ig_lines *lines, ig_builder *b, ig_value *count);

#endif
