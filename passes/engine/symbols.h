/* Symbols that ops define: extents that only the run learns.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = reshape %x, %s : f32[n]       defines n: no operand's type mentions it
 *     %1 = relu %0 : f32[n]              does not
 *
 * Two things follow.  An op whose result nobody reads is still needed while something
 * mentions a symbol that it defines.  And when a pass learns what such an extent is, by
 * giving the value a more precise type, all that mentions the symbol must learn it too:
 * the op that defined it may be gone.
 *
 * A symbol that a graph's argument has as an extent is bound by it and never defined by
 * an op.  A body's argument binds one within the body, where what the body's op begins
 * with has another extent; after it the op's result defines the symbol.
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
/* A result of `op` was of type `old` and is of type `fresh`: what the op defined in the
 * old type is now known. */
void ig_symbols_learn(ig_symbols *symbols, const ig_op *op, const ig_type *old,
                      const ig_type *fresh);
/* Says it everywhere in the graph.  INVALID where a guard never holds then, or where an
 * op does not fit what was learnt. */
ig_status ig_symbols_apply(ig_symbols *symbols, ig_pass_run *run, ig_graph *graph);

#endif
