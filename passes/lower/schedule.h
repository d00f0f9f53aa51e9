/* What schedules of all targets share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_LOWER_SCHEDULE_H
#define IG_PASSES_LOWER_SCHEDULE_H

#include "passes/lower/lower.h"

/* The one op of the body with this code, or NULL. */
ig_op *ig_lower_anchor(const ig_lower *lower, ig_opcode code);
/* The launch's input that operand `index` of a body op is, or NULL when it is
 * computed. */
const ig_lower_operand *ig_lower_input(const ig_lower *lower, const ig_op *op,
                                       uint32_t index);
/* The launch's inputs that nothing but the body's op `anchor` reads, a bit each; an
 * epilogue may read the others too, whose strides and types it goes by. */
uint64_t ig_lower_only_of(const ig_lower *lower, const ig_op *anchor);
/* The same launch without these inputs. */
ig_lower ig_lower_without(const ig_lower *lower, uint64_t inputs);
/* Does the body hold an op that expands to many (exp, tanh, integer division …)? */
bool ig_lower_is_heavy(const ig_block *body);
/* "gemm_add_relu": the family and the body's elementwise ops, for people. */
const char *ig_lower_name(ig_lower *lower, const char *family);

/* Loop over this call's tiles around `emit`; `tile` is the tile's number. */
void ig_lower_each_tile(ig_lower *lower,
                        void (*emit)(void *user, ig_builder *b, ig_value *tile),
                        void *user);

#endif
