/* What the rules of canonicalise share, and their tables, one a file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_CANONICAL_CANONICALISE_H
#define IG_PASSES_CANONICAL_CANONICALISE_H

#include "passes/engine/rewrite.h"

typedef struct ig_rules {
    const ig_rule *items;
    size_t count;
} ig_rules;

extern const ig_rules ig_rules_map;     /* elementwise arithmetic */
extern const ig_rules ig_rules_view;    /* reshape, transpose, expand, slice, cast */
extern const ig_rules ig_rules_index;   /* gather, concat, tile */
extern const ig_rules ig_rules_runtime; /* shapes and positions that came as operands */
extern const ig_rules ig_rules_flow;    /* if, loop */

/* Equal, all extents provably so. */
bool ig_types_equal(const ig_module *module, const ig_type *a, const ig_type *b);
/* `x` when it has the type of the op's result, else NULL: for rules that drop an op. */
ig_value *ig_same_type(const ig_op *op, ig_value *x);
/* Makes an op, or nothing and NULL when its operands do not fit: what is only known to
 * be possible, such as counts that depend on the run, may turn out not to be. */
ig_value *ig_try_make(ig_builder *b, ig_opcode code, uint32_t operand_count,
                      ig_value *const *operands, const ig_attr *attrs);
ig_value *ig_try_reshape(ig_builder *b, ig_value *x, uint32_t rank, const ig_dim *dims);
/* A slice of all axes; `steps` NULL: all 1. */
ig_value *ig_try_slice(ig_builder *b, ig_value *x, const ig_dim *starts,
                       const ig_dim *sizes, const int64_t *steps);
/* A guard that `left` <= `right`; nothing when it is proved. */
void ig_make_guard_least(ig_builder *b, ig_dim left, ig_dim right, const char *message);

#endif
