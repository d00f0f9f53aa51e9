/* The ground of the recognising passes: walking, replacing, facts about symbols.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recogniser finds that a group of ops computes what one op says, makes that op, and
 * puts its result in the old one's place.  The new type may say more: where the old one
 * had a symbol that only the run would have learnt (the length of a sequence), the new
 * one has an expression over inputs.  Such facts are noted and written down everywhere
 * in the graph at the end.
 */
#ifndef IG_PASSES_BAGS_RECOGNISE_H
#define IG_PASSES_BAGS_RECOGNISE_H

#include "passes/engine/pass.h"
#include "passes/engine/symbols.h"

typedef struct ig_recogniser {
    ig_pass_run *run;
    ig_graph *graph;
    ig_module *module;
    ig_arena *arena;    /* emptied after the pass */
    ig_symbols symbols; /* private: facts learnt about them */
    /* Private: the symbols that values of `scope` and around it mention. */
    const ig_block *scope;
    bool *visible;
    uint32_t visible_count;
} ig_recogniser;

/* Looks at one op; may insert and erase any. */
typedef void (*ig_recognise_fn)(ig_recogniser *r, ig_op *op);
/* Calls `match` on every `code` op of the graph, an outer one before those inside. */
ig_status ig_recognise(ig_pass_run *run, ig_graph *graph, ig_opcode code,
                       ig_recognise_fn match);

/* Every use of `old` becomes a use of `value`, which has the same elements, in the same
 * shape as far as that is known. */
void ig_recogniser_replace(ig_recogniser *r, ig_value *old, ig_value *value);
/* Erases `op`, which lost its uses, and the ops that only it needed, except those that
 * define extents. */
void ig_recogniser_sweep(ig_recogniser *r, ig_op *op);
/* Erases a loop whose results have no uses.  Guards on per-iteration extents are
 * dropped, since the replacement does not depend on them.  Guards on loop-invariant
 * extents are hoisted in front of the loop. */
void ig_recogniser_drop(ig_recogniser *r, ig_op *loop);
/* Is `dim` known in `block`, outside of the bodies of its ops? */
bool ig_recogniser_sees(ig_recogniser *r, const ig_block *block, ig_dim dim);

#endif
