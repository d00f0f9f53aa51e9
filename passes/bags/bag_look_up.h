/* Look-ups in embedding tables outside of loops: rows of a table at ids of any rank,
 * times a weight each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_BAGS_BAG_LOOK_UP_H
#define IG_PASSES_BAGS_BAG_LOOK_UP_H

#include "passes/bags/bag_rows.h"

typedef struct ig_look_up {
    ig_value *table, *ids;
    ig_value *weights;   /* [..., 1], or NULL */
    const ig_type *rows; /* [..., D], before they were weighted */
    ig_negative negative;
} ig_look_up;

/* Reads a value of shape [..., D]. */
bool ig_look_up_read(ig_value *value, ig_look_up *out);
/* Ids, and weights (or NULL), in this shape, which has as many elements as there are
 * rows.  Weights are asked to be as many as rows. */
ig_value *ig_look_up_ids(const ig_look_up *look_up, ig_builder *b, uint32_t rank,
                         const ig_dim *dims);
ig_value *ig_look_up_weights(const ig_look_up *look_up, ig_builder *b, uint32_t rank,
                             const ig_dim *dims);

#endif
