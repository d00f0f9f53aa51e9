/* Symbols that ops define: extents known only at run time.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = reshape %x, %s : f32[n]       defines n: no operand's type mentions it
 *     %1 = relu %0 : f32[n]              does not
 *
 * Two things follow.  An op whose result nobody reads is still needed while something
 * mentions a symbol that it defines.  And when a pass learns the value of such an
 * extent, by giving a result a more precise type, all mentions of the symbol must
 * change too: the op that defined it may be gone.
 *
 * A symbol that a graph's argument has as an extent is bound by it and never defined by
 * an op.  A body's argument binds one within the body, where the initial value has
 * another extent; after it the op's result defines the symbol.
 */
#ifndef IG_PASSES_ENGINE_SYMBOLS_H
#define IG_PASSES_ENGINE_SYMBOLS_H

#include "passes/engine/pass.h"

typedef struct ig_lesson {
    uint32_t symbol;
    ig_dim dim;
} ig_lesson;

typedef struct ig_symbols {
    ig_module *module;
    ig_arena *scratch;
    uint32_t count; /* symbols there were at first; later ones are not bound */
    bool *is_bound; /* by an argument of the graph */
    bool has_free;  /* some symbol is not bound */
    IG_VEC(ig_lesson) lessons;
} ig_symbols;

void ig_symbols_init(ig_symbols *symbols, const ig_graph *graph, ig_arena *scratch);
/* Is extent `dim` of one of the op's results a symbol that this op defines? */
bool ig_symbols_defines(const ig_symbols *symbols, const ig_op *op, ig_dim dim);
/* Does the op define any symbol at all? */
bool ig_symbols_is_definer(const ig_symbols *symbols, const ig_op *op);
/* Do the op's bodies know an extent of `type`, a result's, as another number in each
 * trip?  Then it is not learnt: the symbol stays, and so must the op and the type. */
bool ig_symbols_changes(const ig_symbols *symbols, const ig_op *op,
                        const ig_type *type);
/* A result of `op` was of type `old` and is of type `fresh`: symbols that the op
 * defined in the old type are now known. */
void ig_symbols_learn(ig_symbols *symbols, const ig_op *op, const ig_type *old,
                      const ig_type *fresh);
/* Substitutes it everywhere in the graph.  INVALID where a guard never holds then, or
 * where an op's operands do not fit then. */
ig_status ig_symbols_apply(ig_symbols *symbols, ig_pass_run *run, ig_graph *graph);

#endif
