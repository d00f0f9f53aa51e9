/* The parts of map.c's schedule.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_CPU_MAP_H
#define IG_PASSES_LOWER_CPU_MAP_H

#include "passes/lower/cpu/cpu.h"

typedef struct map_space {
    ig_lower *lower;
    uint32_t rank;
    const ig_dim *dims;
    uint32_t lanes;
    bool is_long;    /* its code is: it is emitted once */
    bool is_square;  /* turned operands are read in squares */
    int64_t narrow;  /* extent of the last dim but one, all of a site's; 0: none */
    int64_t chunk;   /* elements of the last dim a tile */
    int64_t rows;    /* rows a tile */
    uint32_t turned; /* a dim that rows have all of, or part of; last: none */
    ig_dim row_count, chunk_count, turned_count;
} map_space;

/* `lanes` neighbours along the last dim at `index`, or those that `count` says. */
void map_emit_position(const map_space *s, ig_builder *b, ig_value **index,
                       uint32_t lanes, ig_value *count);

/* map_turned.c: operands that are contiguous along the dim `turned`.  Sets is_square
 * and the lanes of a square. */
bool map_has_squares(map_space *s);
/* The rectangle from `first` to `last` of that dim and `from` to `to` of the last. */
void map_emit_squares(const map_space *s, ig_builder *b, ig_value **index,
                      ig_value *const range[4]);

/* map_narrow.c: a last dim of few elements.  Makes it the last dim but one. */
bool map_narrow_space(map_space *s);
void map_emit_narrow(const map_space *s, ig_builder *b, ig_value **index,
                     ig_value *count);

#endif
