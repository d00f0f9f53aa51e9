/* Heaps of keys in memory, as code of kernels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A key is one i64: a 32-bit value ordered as its meaning is, above the index of its
 * element; so no two are equal.  The greatest key is the root.  A parent has four
 * children: sinking waits for one comparison after the other, and has half as many
 * levels so.
 */
#ifndef IG_PASSES_LOWER_SERIAL_HEAP_H
#define IG_PASSES_LOWER_SERIAL_HEAP_H

#include "passes/lower/lower.h"

typedef struct ig_heap {
    ig_value *buffer; /* &i64 */
    ig_value *root;   /* element of it */
    ig_value *step;   /* elements from one place to the next, which may be below */
    ig_value *levels; /* that a key may sink, from ig_heap_levels */
} ig_heap;

/* Of heaps of `size` keys or fewer. */
ig_value *ig_heap_levels(ig_builder *b, ig_value *size);
ig_value *ig_heap_load(const ig_heap *h, ig_builder *b, ig_value *at);
void ig_heap_store(const ig_heap *h, ig_builder *b, ig_value *key, ig_value *at);
/* Puts `key` at place `at` of a heap of `size`, or as far below as it belongs.  The
 * place of the root must be memory, also where the size is 0. */
void ig_heap_sink(const ig_heap *h, ig_builder *b, ig_value *at, ig_value *size,
                  ig_value *key);
/* Makes one of `size` keys in any order. */
void ig_heap_build(const ig_heap *h, ig_builder *b, ig_value *size);

/* The value, i32, of a number of at most 32 bits (narrow floats as f32): NaN is above
 * all, and both zeros are one.  Lanes as they are. */
ig_value *ig_heap_value(ig_builder *b, ig_value *x);
ig_value *ig_heap_key(ig_builder *b, ig_value *value, ig_value *number);
ig_value *ig_heap_number(ig_builder *b, ig_value *key);

#endif
