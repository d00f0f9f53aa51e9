/* Parts of a plan's buffers: the meaning of the operands of computes and launches.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %0 = alloc : &f32[B, 24]                                    a whole buffer
 *     %1 = view %0 {offset = 16, strides = [24, 1]} : &f32[B, 8]  a part of it
 */
#ifndef IG_PASSES_PLACE_PART_H
#define IG_PASSES_PLACE_PART_H

#include "ir/ops.h"

typedef struct ig_part {
    const ig_value *root; /* alloc, argument or weight */
    const ig_type *type;  /* of the part; NULL: everything from offset to end */
    ig_dim offset, end;   /* in elements; `end` is after the last one */
    ig_dim strides[IG_TENSOR_RANK];
} ig_part;

typedef IG_VEC(ig_part) ig_part_list;

/* The buffer that `value` is, or is a part of. */
ig_value *ig_part_root(ig_value *value);
/* How many of a compute's operands it reads: those in front of its destinations. */
uint32_t ig_part_in_count(const ig_op *compute);
ig_part ig_part_of(ig_module *module, const ig_value *value);

/* True when no element of the one is an element of the other, whatever the symbols are.
 * Operands of different buffers are disjoint; parts of one do when they are stacked
 * along an axis, as those of a concat. */
bool ig_parts_lie_apart(ig_module *module, const ig_part *a, const ig_part *b);

/* Adds a part.  One that begins where the part before it ends makes that one longer, so
 * that a concat of many, written in order, is one entry. */
void ig_part_list_add(ig_arena *arena, ig_part_list *parts, const ig_part *part);

/* More than so many parts are not held against each other: they count as meeting. */
enum { IG_PARTS_COMPARED = 256 };

/* Is `to` disjoint from all of them? */
bool ig_part_lies_apart(ig_module *module, const ig_part_list *parts,
                        const ig_value *to);

#endif
