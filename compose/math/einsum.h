/* einsum: subscripts to batched products of matrices.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_COMPOSE_MATH_EINSUM_H
#define IG_COMPOSE_MATH_EINSUM_H

#include "ir/build/expr.h"

typedef struct ig_einsum_spec {
    ig_str equation;
    ig_value *const *operands; /* tensors of one dtype */
    uint32_t operand_count;
    bool widens_sums; /* an integer operand that is summed alone becomes i64 (torch) */
} ig_einsum_spec;

/* The equation's result goes to `out_value`.  An equation that does
 * not fit them is INVALID; `out_why` names the error then. */
ig_status ig_einsum(ig_builder *builder, ig_arena *scratch, const ig_einsum_spec *spec,
                    ig_value **out_value, const char **out_why);

#endif
