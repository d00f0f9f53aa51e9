/* einsum: subscripts to batched products of matrices.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_EINSUM_H
#define IG_FRONTEND_EINSUM_H

#include "ir/build.h"

/* What an equation makes of its operands, tensors of one dtype, goes to `out_value`.  An
 * equation that does not fit them is INVALID; `out_why` says what is wrong then. */
ig_status ig_einsum(ig_builder *builder, ig_arena *scratch, ig_str equation,
                    ig_value *const *operands, uint32_t operand_count,
                    ig_value **out_value, const char **out_why);

#endif
