/* The decomposition of each row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compose/decompose.h"

#include <assert.h>

#define ig_decompose_none NULL

ig_decompose_fn ig_decomposition_of(ig_opcode code) {
    static const ig_decompose_fn decompositions[IG_OP_COUNT] = {
#define OP(op, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                    \
    [IG_OP_##op] = ig_decompose_##expand,
#include "ir/ops.def"
#undef OP
    };
    assert(code < IG_OP_COUNT && "an op that is in the graph");
    return decompositions[code];
}
