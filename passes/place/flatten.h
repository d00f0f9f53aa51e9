/* The interface between the files of flatten_sequences.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_FLATTEN_H
#define IG_PASSES_PLACE_FLATTEN_H

#include "ir/build/expr.h"
#include "passes/engine/pass.h"

/* A sequence of n items of rank r, or an optional of one: as many parts as the type
 * has. */
typedef struct ig_parts {
    ig_value *elements; /* [m]: of all items, one item after the other */
    ig_value *extents;  /* i64[n, r]: a row of extents for each item; of items of any
                         * rank i64[n, IG_FLATTEN_ANY]: rank, extents, and ones */
    ig_value *there; /* bool[]: is the sequence there?  Optionals of sequences only */
} ig_parts;

enum { IG_FLATTEN_ANY = 1 + IG_TENSOR_RANK };

typedef struct ig_flatten {
    ig_pass_run *run;
    ig_module *module;
    ig_map parts; /* sequence value -> ig_parts */
    ig_map known; /* symbols that have a value at this point of the walk */
    IG_VEC(ig_op *) dead;
} ig_flatten;

/* One function per op: its replacement comes before it, and is in `parts`, or replaces
 * its result.  IG_UNSUPPORTED: reported. */
typedef ig_status (*ig_flatten_fn)(ig_flatten *f, ig_expr *e, ig_op *op);

extern const ig_flatten_fn ig_flatten_fns[IG_OP_COUNT]; /* flatten_ops.c */

ig_parts *ig_flatten_parts(const ig_flatten *f, const ig_value *sequence);
void ig_flatten_set(ig_flatten *f, const ig_value *sequence, ig_parts parts);
/* How long a row of extents is, for items of that type. */
uint32_t ig_flatten_width(const ig_type *item);
/* A tensor as the only item of a sequence of `type`, or as one of any rank. */
ig_parts ig_flatten_item(ig_expr *e, ig_value *item, const ig_type *type);
/* The parts as those of a sequence or an optional of `type`, which may be one of items
 * of any rank where they are of one. */
ig_parts ig_flatten_widen(ig_expr *e, ig_parts parts, const ig_type *type);

#endif
