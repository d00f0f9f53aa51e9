/* Helpers of the rules of canonicalise, and their tables, one per file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_CANONICAL_CANONICALISE_H
#define IG_PASSES_CANONICAL_CANONICALISE_H

#include "ir/build/expr.h"
#include "passes/engine/rewrite.h"

typedef struct ig_rules {
    const ig_rule *items;
    size_t count;
} ig_rules;

extern const ig_rules ig_rules_map;     /* elementwise arithmetic */
extern const ig_rules ig_rules_view;    /* reshape, transpose, expand, slice, cast */
extern const ig_rules ig_rules_index;   /* gather, concat, tile */
extern const ig_rules ig_rules_runtime; /* shapes and positions that came as operands */
extern const ig_rules ig_rules_window;  /* conv, matmul */
extern const ig_rules ig_rules_flow;    /* if, loop */
extern const ig_rules ig_rules_parts;   /* sums of parts */

/* Equal, all extents provably so. */
bool ig_canonical_same_type(const ig_module *module, const ig_type *a,
                            const ig_type *b);
/* Is every element this number?  -0 is not 0. */
bool ig_canonical_is_filled(const ig_value *value, double number);
/* `x` when it has the type of the op's result, else NULL: for rules that drop an op. */
ig_value *ig_same_type(const ig_op *op, ig_value *x);
#endif
