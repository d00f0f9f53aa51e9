/* The interface between the files of bufferise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_BUFFERISE_H
#define IG_PASSES_PLACE_BUFFERISE_H

#include "passes/engine/pass.h"
#include "passes/place/place.h"

typedef struct ig_buffers {
    ig_pass_run *run;
    ig_arena *arena;
    ig_module *module;
    ig_graph *graph;
    ig_map wanted;  /* tensor value -> place in the buffer of a tensor value */
    ig_map owned;   /* tensor value -> alloc it owns */
    ig_map places;  /* tensor value -> place in plan values */
    ig_map bound;   /* symbols that inputs bind: nothing else sets them */
    ig_map since;   /* other symbols -> number of the op that gives the value */
    ig_map orders;  /* op -> its number in order of execution */
    ig_map steps;   /* branches and loops that this pass has made */
    ig_map renewed; /* results in place that others read -> the argument */
    ig_map after;   /* ops that need one of these: they come after commit */
} ig_buffers;

/* ---- bufferise.c ---- */

/* Gives the ops of a block destinations and rewrites them; the terminator stays. */
ig_status ig_bufferise_block(ig_buffers *s, ig_block *block);
ig_place *ig_buffers_place(ig_buffers *s, ig_value *value);
void ig_buffers_set_place(ig_buffers *s, ig_value *value, ig_place *place);
/* A new buffer of `dims`. */
ig_place *ig_buffers_alloc(ig_buffers *s, ig_builder *b, ig_dtype dtype, uint32_t rank,
                           const ig_dim *dims);
void ig_buffers_copy(ig_buffers *s, ig_builder *b, const ig_place *from,
                     const ig_place *to);
/* The same elements in a buffer of their own. */
ig_place *ig_buffers_copy_new(ig_buffers *s, ig_builder *b, const ig_place *from);
/* The same elements, row-major in one buffer from its start; `from` when they are. */
ig_value *ig_buffers_whole(ig_buffers *s, ig_builder *b, ig_place *from);
ig_status ig_buffers_unsupported(const ig_op *op, const char *why);

ig_op *ig_buffers_compute(ig_builder *b, ig_kernel_family family,
                          ig_value *const *operands, uint32_t count, uint32_t outs);

/* ---- bufferise_symbols.c ---- */

/* Fills since and numbers, once `bound` is known. */
void ig_buffers_note_order(ig_buffers *s);
/* Could the buffer of `place` be made when `op` runs? */
bool ig_buffers_is_known_at(ig_buffers *s, const ig_op *op, const ig_place *place);
/* Are two extents the same whenever something is written with them in `block`?  Equal
 * ones are; others were asked to agree by a guard, and guards on the extents of inputs
 * are checked before anything runs. */
bool ig_buffers_must_agree(ig_buffers *s, const ig_block *block, ig_dim a, ig_dim b);

/* Is `op` the last that reads the value, and reads it once?  Both are in one block. */
bool ig_buffers_dies_at(ig_buffers *s, const ig_value *value, const ig_op *op);

/* Does the dim have its value before anything runs? */
bool ig_buffers_is_bound(ig_buffers *s, ig_dim dim);

/* ---- bufferise_in_place.c ---- */

/* Results that may be written straight to their argument get it as their place. */
void ig_bufferise_offer_in_place(ig_buffers *s, const ig_op *ret);
/* The operand that a region's scatter changes; NULL where the region is no scatter,
 * or reads that operand elsewhere too. */
ig_value *ig_bufferise_scattered(const ig_op *fused);
/* Of a region of a scatter whose places are known: x is not copied where it is in the
 * result's place; in an argument's nothing is reported, so indices are checked before.
 * `operands` are those of its compute. */
void ig_bufferise_scatter(ig_buffers *s, ig_builder *b, const ig_op *fused,
                          ig_value **operands);
/* Of a region of a bag_update whose places are known: its changed operands are in the
 * results' places, by a copy where they are not yet. */
void ig_bufferise_update(ig_buffers *s, ig_builder *b, const ig_op *fused,
                         ig_value **operands);
/* Puts commit before the ops that write arguments, and copies other results after
 * it. */
ig_status ig_bufferise_in_place(ig_buffers *s, ig_op *ret);

/* ---- bufferise_flow.c: rewrites ---- */

ig_status ig_bufferise_if(ig_buffers *s, ig_op *op);
ig_status ig_bufferise_loop(ig_buffers *s, ig_op *op);

/* bufferise_host.c */
ig_status ig_bufferise_host(ig_buffers *s, ig_op *op);
/* Operators of the user's own, whose functions are told all types. */
ig_status ig_bufferise_custom(ig_buffers *s, ig_op *op);

/* bufferise_ranks.c: ops of sharded graphs */
ig_status ig_bufferise_ranks(ig_buffers *s, ig_op *op);

/* ---- ops of the plan that the runtime does itself ---- */

void ig_bufferise_let(ig_builder *b, ig_dim symbol, ig_dim value);
void ig_bufferise_bind(ig_builder *b, ig_value *vector, const ig_dim *symbols,
                       uint32_t count);
void ig_bufferise_store_dims(ig_builder *b, ig_value *buffer, const ig_dim *dims,
                             uint32_t count);

#endif
