/* Where values live: a buffer, and how to walk it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * bufferise.c decides; this header and place.c hold the arithmetic of strided places.
 */
#ifndef IG_PASSES_PLACE_PLACE_H
#define IG_PASSES_PLACE_PLACE_H

#include "ir/build/build.h"

typedef struct ig_place {
    ig_value *root; /* alloc, argument or weight; or, while destinations are being
                          assigned, the tensor value that will own the alloc */
    ig_dim offset;  /* in elements of root */
    uint32_t rank;
    ig_dim *dims, *strides;
    bool is_new; /* of an argument after its result was written: a later view */
} ig_place;

/* All of `root`, row-major. */
ig_place *ig_place_whole(ig_arena *arena, ig_module *module, ig_value *root);
/* Is this place all of its root, row-major? */
bool ig_place_is_whole(ig_module *module, const ig_place *place);
/* The same elements at the same addresses? */
bool ig_place_equal(ig_module *module, const ig_place *a, const ig_place *b);
bool ig_place_is_row_major(ig_module *module, const ig_place *place);

/* The same elements seen through a view op; NULL when strides cannot express it. */
ig_place *ig_place_transpose(ig_arena *arena, const ig_place *place,
                             const int64_t *perm);
ig_place *ig_place_slice(ig_arena *arena, ig_module *module, const ig_place *place,
                         const ig_dim *starts, const ig_dim *sizes,
                         const int64_t *steps);
ig_place *ig_place_expand(ig_arena *arena, ig_module *module, const ig_place *place,
                          uint32_t rank, const ig_dim *dims);
ig_place *ig_place_reshape(ig_arena *arena, ig_module *module, const ig_place *place,
                           uint32_t rank, const ig_dim *dims);

/* The same elements seen through `view`, whose operand is at `from`; NULL as above. */
ig_place *ig_place_view(ig_arena *arena, ig_module *module, const ig_op *view,
                        const ig_place *from);
/* Where the operand of a reshape or transpose is, whose result is at `place`; NULL as
 * above. */
ig_place *ig_place_under(ig_arena *arena, ig_module *module, const ig_op *view,
                         const ig_place *place);

/* The plan value for a place: root itself, or a view op. */
ig_value *ig_place_value(ig_builder *b, const ig_place *place);

#endif
