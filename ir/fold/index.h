/* Reading indices, and walking over them beside the tensor that they point into.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_IR_FOLD_INDEX_H
#define IG_IR_FOLD_INDEX_H

#include "ir/fold/fold.h"

/* An index tensor, and what negative ones mean. */
typedef struct ig_indices {
    const ig_tensor *tensor;
    ig_negative negative;
} ig_indices;
/* Index number `position`, made non-negative; -1 where it is to be skipped. */
ig_status ig_index_read(ig_eval *eval, const ig_op *op, const ig_indices *indices,
                        int64_t position, int64_t extent, int64_t *out_index);

/* Visits every element of the indices; `walk.at` runs over x beside them. */
typedef struct ig_elements {
    ig_walk walk;
    ig_indices indices;
    uint32_t axis;
    int64_t extent;   /* of x along the axis */
    int64_t position; /* of the index that is read next */
    int64_t strides[IG_TENSOR_RANK];
} ig_elements;
ig_status ig_elements_start(ig_eval *eval, const ig_op *op, const ig_tensor *x,
                            const ig_indices *indices, int64_t axis, ig_elements *out);
/* The element of x that the next index points to. */
ig_status ig_elements_next(ig_eval *eval, const ig_op *op, ig_elements *elements,
                           int64_t *out_at);

#endif
