/* The rule of each row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/grad/rule.h"

#include <assert.h>

#define ig_grad_none NULL

ig_grad_rule ig_grad_rule_of(uint32_t code) {
    static const ig_grad_rule rules[IG_OP_COUNT] = {
#define OP(op, min, max, outs, bodies, stages, traits, infer, fold, dims, expand, \
           grad, lower, attrs)                                                    \
    [IG_OP_##op] = ig_grad_##grad,
#include "ir/ops.def"
#undef OP
    };
    assert(code < IG_OP_COUNT && "an op that is in the graph");
    return rules[code];
}
