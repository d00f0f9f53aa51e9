/* The second factor of a matmul, as `pack` understands it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_PASSES_PLACE_PACK_H
#define IG_PASSES_PLACE_PACK_H

#include "passes/engine/pass.h"

typedef struct ig_pack_matrix {
    ig_weight *weight;
    ig_value *computed; /* in @weights, in place of a weight as stored */
    const char *name;   /* of that value, or NULL: the weight's */
    bool is_transposed; /* stored [N, K] */
    bool is_narrow;     /* f16 or bf16 */
    bool is_widened;    /* by the recipe already */
    int64_t k, n;
    /* Of 8-bit integers: (weight - zeros) * row_scale * scale; each may be NULL. */
    ig_value *row_scale, *scale; /* K numbers; N or one */
    const uint8_t *zeros;        /* as the weight's dtype, whole panels of columns */
} ig_pack_matrix;

/* Sets weight, n and k from the op that reads a matrix; false when it has no elements,
 * or is no matrix of known extents.  is_transposed is known by then. */
bool ig_pack_take_weight(const ig_op *def, ig_pack_matrix *out);
/* A 2-D transpose. */
bool ig_pack_swaps_two(const ig_op *op);
/* Is `value`, a matrix of f32, a weight of 8-bit integers less zero points, times
 * scales?  Turns is_transposed, and sets all but is_narrow and is_widened. */
bool ig_pack_read_quantised(const ig_pass_run *run, ig_value *value,
                            ig_pack_matrix *out);

#endif
