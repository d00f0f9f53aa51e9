/* Jagged data: which lengths come before a position in a list of ids.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ids of many bags are in one list, and a list of lengths says how many are each
 * bag's.  Programs cut such lists in parts and put the parts in other orders; where a
 * part begins is a sum of lengths that are known at run time only, bound to a symbol:
 *
 *     %s = reduce %lengths as [F, B] {op = sum, axes = [1]}
 *     bind %s[0 : 1] {symbols = [n]}
 *     %part = slice %ids {starts = [min(N, n)], …}
 *
 * Here such a sum is a list of spans: which elements of which values are added up.
 * Lengths that were moved by slices, reshapes, and gathers of constant rows are
 * followed to where they come from.  Lengths are taken to be non-negative.
 */
#ifndef IG_PASSES_BAGS_JAGGED_H
#define IG_PASSES_BAGS_JAGGED_H

#include "passes/engine/pass.h"

/* Elements at, at + 1, … of a value, counted row by row. */
typedef struct ig_jagged_span {
    ig_value *list;
    ig_dim at, size;
} ig_jagged_span;

typedef IG_VEC(ig_jagged_span) ig_jagged_spans;

typedef struct ig_bound_symbol {
    ig_dim symbol;
    ig_value *value; /* i64[1] */
    bool is_sum;     /* of `spans` */
    ig_jagged_spans spans;
} ig_bound_symbol;

typedef struct ig_jagged {
    ig_module *module;
    ig_arena *arena;
    IG_VEC(ig_bound_symbol) bound;
} ig_jagged;

void ig_jagged_open(ig_jagged *j, const ig_graph *graph, ig_arena *arena);

/* The same elements in the list that they come from, as far back as they are
 * contiguous there. */
ig_jagged_span ig_jagged_span_origin(const ig_jagged *j, ig_jagged_span span);
/* One step of the way; false: none. */
bool ig_jagged_span_step(const ig_jagged *j, ig_jagged_span *span);
/* The same elements of the same value? */
bool ig_jagged_span_equal(const ig_jagged *j, const ig_jagged_span *a,
                          const ig_jagged_span *b);

/* Adds the elements of a span, from where they come; false: too many parts. */
bool ig_spans_add(const ig_jagged *j, ig_jagged_spans *spans, ig_jagged_span span);
bool ig_spans_equal(const ig_jagged *j, const ig_jagged_spans *a,
                    const ig_jagged_spans *b);
/* Does b contain a? */
bool ig_spans_begin_with(const ig_jagged *j, const ig_jagged_spans *b,
                         const ig_jagged_spans *a);

/* The sum that place `at` of a list of `count` elements is, when it is one. */
bool ig_jagged_position(const ig_jagged *j, ig_dim at, ig_dim count,
                        ig_jagged_spans *out);
/* The sum that the end of a slice from `at` on of `size` elements is. */
bool ig_jagged_end(const ig_jagged *j, ig_dim at, ig_dim size, ig_dim count,
                   ig_jagged_spans *out);

#endif
